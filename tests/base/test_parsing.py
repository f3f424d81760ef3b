"""Text to values and back: exact, and one sentence for what cannot be read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import is_real, one_of, real, shorten, to_plain, to_text, whole
from dpsco_core.catalogue import method_card
from dpsco_core.explain.errata import erratum
from dpsco_core.fields import NAMES, TABLE, parse
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.scenario import Scenario

OPTIONAL = tuple(name for name, known in TABLE.items() if known.optional)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=100),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


def message_of(problem: pytest.ExceptionInfo[InvalidInput]) -> str:
    """Return the message of an error that was caught."""
    return str(problem.value)


@settings(deadline=None)
@given(value=FINITE)
def test_a_number_survives_the_way_to_text_and_back(value: float) -> None:
    assert parse("epsilon", to_text(value)) == value


@settings(deadline=None)
@given(value=st.integers(-(10**38), 10**38))
def test_an_integer_of_any_size_survives_the_way_to_text_and_back(value: int) -> None:
    parsed = parse("seed", to_text(value))
    assert parsed == value
    assert type(parsed) is int


@settings(deadline=None)
@given(grid=st.lists(FINITE | st.integers(-(10**30), 10**30), max_size=8))
def test_a_grid_survives_the_way_to_text_and_back(grid: list[float]) -> None:
    assert parse("grid", to_text(tuple(grid))) == tuple(grid)


@pytest.mark.parametrize("name", OPTIONAL)
def test_none_survives_the_way_to_text_and_back(name: str) -> None:
    assert parse(name, to_text(None)) is None


@pytest.mark.parametrize("name", ["n", "epsilon", "seed", "grid"])
@pytest.mark.parametrize("text", ["1_0", "1_0.5", "1e1_0", "\u0661\u0662"])
def test_a_number_with_signs_that_only_python_reads_is_refused(name: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{name} must be .*, got {name}="):
        parse(name, text)


def test_a_number_just_below_1_is_not_written_as_1() -> None:
    with pytest.raises(InvalidInput, match=r"^c must be at least 0.5 and below 1, got c=1\.$"):
        real("c", 1.0, 0.5, 1 - 1e-12)


@settings(deadline=None)
@given(name=st.sampled_from(NAMES), value=JSON)
def test_any_input_is_read_or_refused_in_one_line(name: str, value: Any) -> None:
    try:
        parse(name, value)
    except InvalidInput as problem:
        text = str(problem)
        assert text.startswith(f"{name} must be ")
        assert text.endswith(".")
        assert text.isprintable()
        assert len(text) < 200


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("n", "1e4", 10_000),
        ("n", 1e4, 10_000),
        ("n", " 12 ", 12),
        ("seed", str(2**63 - 1), 2**63 - 1),
        ("epsilon", "1", 1.0),
        ("epsilon", 1, 1.0),
        ("methods", "mean.sample, mean.clipped", ("mean.sample", "mean.clipped")),
        ("methods", ["mean.sample"], ("mean.sample",)),
        ("methods", "", ()),
        ("grid", "1,2.5,1e3", (1, 2.5, 1000)),
        ("grid", [1, 2.5], (1, 2.5)),
        ("grid", None, ()),
        ("problem", "mean", "mean"),
    ],
)
def test_texts_numbers_and_lists_are_read(name: str, text: Any, value: Any) -> None:
    parsed = parse(name, text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n", "ten", "n must be an integer, got n=ten."),
        ("n", "1.5", "n must be an integer, got n=1.5."),
        ("n", "nan", "n must be an integer, got n=nan."),
        ("n", "inf", "n must be an integer, got n=inf."),
        ("n", "1e400", "n must be an integer, got n=1e400."),
        ("n", "²", "n must be an integer, got n=²."),
        ("n", True, "n must be an integer, got n=True."),
        ("n", [1], "n must be an integer, got n=[1]."),
        ("n", "", "n must be given, got n=none."),
        ("n", None, "n must be given, got n=none."),
        ("n", "9" * 5000, f"n must be an integer, got n={'9' * 57}...."),
        pytest.param("n", 10**5000, f"n must be an integer, got n=1{'0' * 56}....", id="huge"),
        ("p", "3\n4", "p must be a number, got p=3 4."),
        ("p", False, "p must be a number, got p=False."),
        ("p", {"a": 1}, "p must be a number, got p={'a': 1}."),
        ("p", "none", "p must be given, got p=none."),
        ("grid", "1,two", "grid must be a list of numbers, got grid=two."),
        ("grid", "1,,2", "grid must be a list of numbers, got grid=1,,2."),
        ("grid", "1,", "grid must be a list of numbers, got grid=1,."),
        ("grid", 3, "grid must be a list of numbers, got grid=3."),
        ("grid", [[1]], "grid must be a list of numbers, got grid=[1]."),
        ("grid", [True], "grid must be a list of numbers, got grid=True."),
        ("methods", 3, "methods must be a list of slugs, got methods=3."),
        ("methods", {"a": 1}, "methods must be a list of slugs, got methods={'a': 1}."),
        ("problem", 3, "problem must be text, got problem=3."),
        ("problem", ["mean"], "problem must be text, got problem=['mean']."),
        ("problem", None, "problem must be given, got problem=none."),
    ],
)
def test_the_refusal_of_a_value_says_what_is_allowed(name: str, value: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        parse(name, value)
    assert message_of(problem) == message


def test_nan_and_infinity_reach_the_check_of_the_range() -> None:
    assert math.isnan(parse("epsilon", "nan"))
    assert parse("epsilon", "1e400") == math.inf


def test_numpys_numbers_are_written_like_pythons() -> None:
    assert to_text(np.float64(0.1)) == "0.1"
    assert to_plain((np.float64(0.1), 2)) == [0.1, 2]
    assert type(to_plain(np.float64(0.1))) is float


@settings(deadline=None)
@given(text=st.text(max_size=200))
def test_a_shown_value_is_one_short_line(text: str) -> None:
    assert shorten(text).isprintable()
    assert len(shorten(text)) <= 60
    if len(text) <= 60 and text.isprintable():
        assert shorten(text) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "1", None, [1]])
def test_only_finite_numbers_are_real(value: object) -> None:
    assert not is_real(value)


@pytest.mark.parametrize("value", [0, -1.5, 10**400, np.float64(2)], ids=lambda v: str(v)[:9])
def test_finite_numbers_of_any_size_are_real(value: object) -> None:
    assert is_real(value)


def test_ranges_include_their_ends() -> None:
    for value in (2, 100, 2.0):
        real("p", value, 2, 100)
    for value in (1, 10):
        whole("n", value, 1, 10)
    one_of("tuning", "theory", ("practical", "theory"))


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: real("p", 1.5, 2, 100), "p must be at least 2 and at most 100, got p=1.5."),
        (lambda: real("p", math.nan, 2, 100), "p must be at least 2 and at most 100, got p=nan."),
        (lambda: real("p", True, 0, 100), "p must be at least 0 and at most 100, got p=True."),
        (lambda: whole("n", 0, 1, 1000), "n must be an integer between 1 and 1,000, got n=0."),
        (lambda: whole("n", 2.0, 1, 9), "n must be an integer between 1 and 9, got n=2.0."),
        (lambda: whole("n", True, 1, 9), "n must be an integer between 1 and 9, got n=True."),
        (lambda: whole("m", 2, 1, 1), "m must be 1, got m=2."),
        (lambda: one_of("axis", "q", ("n", "d")), "axis must be one of n, d, got axis=q."),
        (lambda: one_of("geometry", "l1", ("l2",)), "geometry must be l2, got geometry=l1."),
    ],
)
def test_a_range_is_named_with_its_value(check: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        check()
    assert message_of(problem) == message


@pytest.mark.parametrize("text", ["1e15", "1e50", "1.7e308", "-1e50", "inf", "nan", "12.5", "7.0"])
def test_large_numbers_of_a_grid_survive_the_way_to_text_and_back(text: str) -> None:
    read = parse("grid", text)
    parsed = parse("grid", json.loads(json.dumps(to_plain(read))))
    assert repr(parsed) == repr(read)
    assert repr(parse("grid", to_text(read))) == repr(read)
    assert all(len(part) <= 24 for part in to_text(read).split(","))


@pytest.mark.parametrize(
    ("value", "field", "question"),
    [
        ("lognormal", "distribution", "(did you mean log-normal?)"),
        ("Quadratics", "problem", "(did you mean quadratic?)"),
        ("L2", "geometry", "(did you mean l2?)"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest_one(
    value: str, field: str, question: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        one_of(field, value, TABLE[field].choices)
    assert question in message_of(refusal)
    assert message_of(refusal).endswith(f", got {field}={value}.")


def test_a_wrong_slug_of_a_long_list_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(InvalidInput, match=r"\(did you mean mean\.clipped"):
        method_card("mean.clippd")
    with pytest.raises(InvalidInput) as refusal:
        method_card("zzzq")
    assert "did you mean" not in message_of(refusal)
    assert "slugs such as" in message_of(refusal)


@pytest.mark.parametrize(
    "refuse",
    [
        lambda: Geometry(kind="simplx"),
        lambda: Scenario.from_dict({"epsilo": 1}),
        lambda: erratum("kamath.whole-block"),
    ],
)
def test_every_refused_name_has_the_same_question(refuse: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput, match="did you mean"):
        refuse()
