"""One scenario everywhere: it keeps every field on the way, and refuses in one sentence."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_core import ZCDP, ApproxDP, PureDP, extend, frame, slopes, study, summary
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD, LIBRARY, Limits
from dpsco_core.base.parsing import describe_choices
from dpsco_core.catalogue import (
    DISTRIBUTION_SLUGS,
    METHOD_SLUGS,
    PROBLEM_SLUGS,
    default_methods,
    distributions_for,
    law_can_decay,
    method_card,
    methods_for,
)
from dpsco_core.data.scales import DECAY_MAX
from dpsco_core.geometry import GEOMETRIES
from dpsco_core.scenario import AXES, DEFAULT_GRIDS, REAL, Scenario

ROOT = Path(__file__).resolve().parents[1]
FIELDS = tuple(f.name for f in fields(Scenario))
MEAN_METHODS = methods_for("mean")


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    """Return a strategy for real and whole numbers between two ends."""
    return st.floats(low, high) | st.integers(math.ceil(low), math.floor(high)).map(float)


BUDGETS = (
    st.fixed_dictionaries(
        {
            "epsilon": numbers(1e-6, 1e6),
            "delta": st.just(0.0) | st.floats(1e-100, 1, exclude_max=True),
        }
    ),
    numbers(1e-12, 1e12)
    .filter(lambda rho: rho >= 1e-12)
    .map(lambda rho: {"epsilon": None, "delta": None, "rho": rho}),
)
GRIDS: dict[str, st.SearchStrategy[float]] = {
    "n": st.integers(1, 10**9),
    "d": st.integers(2, 100_000),
    "m": st.integers(1, 10_000_000),
    "epsilon": numbers(1e-6, 1e6),
    "p": numbers(2, 50),
    "q": numbers(1, 1e6),
    "diameter": numbers(1e-6, 1e6).filter(lambda x: x >= 1e-6),
    "decay": numbers(0, DECAY_MAX),
}


def protects_users(slug: str) -> bool:
    """Return whether a method is private for users, or not private at all."""
    card = method_card(slug)
    return card.level == "user" or card.privacy == "none"


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Draw any scenario that the library allows for bounds."""
    budget: dict[str, Any] = draw(st.one_of(*BUDGETS))
    axis = draw(
        st.sampled_from((None, *AXES)).filter(lambda a: a != "epsilon" or "rho" not in budget)
    )
    geometry = "lq" if axis == "q" else draw(st.sampled_from(GEOMETRIES))
    exponents = numbers(1, 1e6) | st.just(math.inf)
    size = 5 if geometry == "group-l1" else 1
    grid = () if axis is None else draw(st.sets(GRIDS[axis], min_size=1, max_size=5).map(sorted))
    if axis == "d":
        grid = [size * x for x in grid if size * x <= 100_000] or [size * 2]
    diameter = draw(numbers(1e-6, 1e6).filter(lambda x: x >= 1e-6))
    problems = [p for p in PROBLEM_SLUGS if p != "mean"] if axis == "m" else PROBLEM_SLUGS
    problem = draw(st.sampled_from(problems))
    items = 1 if problem == "mean" else draw(st.just(1) | st.integers(1, 10_000_000))
    has_user_methods = items > 1 or axis == "m"
    laws = distributions_for(problem)
    if axis == "decay":
        # These sets contain the mean of the instance.
        problem = "mean" if problem == "geometric-median" else problem
        laws = tuple(law for law in laws if law_can_decay(law, problem))
    fitting = st.sampled_from(
        [m for m in methods_for(problem) if not has_user_methods or protects_users(m)]
    )
    return Scenario(
        problem=problem,
        distribution=(law := draw(st.sampled_from(laws))),
        decay=draw(numbers(0, DECAY_MAX))
        if problem != "geometric-median" and law_can_decay(law, problem)
        else 0.0,
        methods=tuple(draw(st.lists(fitting, unique=True, max_size=4))),
        n=draw(st.integers(1, 10**9)),
        d=size * draw(st.integers(2, 100_000 // size)),
        m=items,
        geometry=geometry,
        q=draw(exponents) if geometry == "lq" else None,
        p=draw(numbers(2, 50)),
        margin=draw(numbers(1e-6, 100).filter(lambda x: x >= 1e-6)),
        diameter=diameter,
        offset=draw(st.floats(0, min(diameter, *(grid if axis == "diameter" else ()), 1e6) / 2)),
        axis=axis,
        grid=tuple(grid),
        trials=draw(st.integers(1, 1000)),
        seed=draw(st.integers(0, 2**63 - 1)),
        calibration=draw(st.sampled_from(("tight", "paper"))),
        tuning=draw(st.sampled_from(("practical", "theory"))),
        **budget,
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
LIKELY = st.sampled_from(
    [
        *("0", "1", "2", "-1", "nan", "inf", "1e400", "1e9", "١٠", "none", "", "1,2", "2,1"),
        *(
            "n",
            "d",
            "p",
            "epsilon",
            "q",
            "mean",
            "spike",
            "logistic",
            "mean.clipped",
            "sco.clipped",
            "mean.sample,mean.sample",
        ),
        "\n",
    ]
) | st.text(max_size=60)


def is_one_sentence(text: str) -> bool:
    """Return whether a message is one short printable sentence on what must be."""
    return " must be " in text and text.endswith(".") and text.isprintable() and len(text) < 400


def read(make: Callable[[], Scenario]) -> Scenario | None:
    """Return what `make` makes, or None if it is refused, which must be in one sentence."""
    try:
        return make()
    except InvalidInput as problem:
        sentence = str(problem)
    assert is_one_sentence(sentence)
    return None


@settings(deadline=None)
@given(scenario=scenarios())
def test_a_scenario_survives_json(scenario: Scenario) -> None:
    assert Scenario.from_json(scenario.to_json()) == scenario


@settings(deadline=None)
@given(scenario=scenarios())
def test_a_scenario_survives_a_query(scenario: Scenario) -> None:
    query = scenario.to_query()
    assert all(isinstance(value, str) for value in query.values())
    assert Scenario.from_query(query) == scenario


@settings(deadline=None)
@given(scenario=scenarios(), base=scenarios())
def test_a_scenario_survives_a_query_against_another_base(
    scenario: Scenario, base: Scenario
) -> None:
    assert Scenario.from_query(scenario.to_query(base), base) == scenario


@settings(max_examples=50, deadline=None)
@given(scenario=scenarios())
def test_equal_scenarios_are_written_in_the_same_way(scenario: Scenario) -> None:
    """Whole numbers are written as integers, a grid as floats, and zeros without a sign; `==` sees
    none of that.
    """
    changes = {}
    for name in REAL:
        value = getattr(scenario, name)
        if value is not None and math.isfinite(value) and value == int(value):
            changes[name] = int(value) if value else -0.0
    equal = replace(scenario, grid=tuple(float(x) for x in scenario.grid), **changes)
    assert equal == scenario and hash(equal) == hash(scenario)
    assert equal.validate(sampling=False).to_json() == scenario.to_json()
    assert (equal.to_query(), equal.to_code()) == (scenario.to_query(), scenario.to_code())
    assert Scenario.from_json(equal.to_json()).to_json() == scenario.to_json()


def test_a_grid_that_another_axis_also_has_survives_a_query_against_it() -> None:
    base = Scenario(axis="n", grid=(2, 3, 4))
    scenario = Scenario(axis="p", grid=(2, 3, 4))
    assert Scenario.from_query(scenario.to_query(base), base) == scenario


@settings(max_examples=30, deadline=None)
@given(scenario=scenarios())
def test_a_scenario_survives_python(scenario: Scenario) -> None:
    script = scenario.to_python()
    statement = script[script.index("scenario = ") : script.index(".validate()")]
    names: dict[str, Any] = {"Scenario": Scenario}
    exec(statement, names)
    assert names["scenario"] == scenario


@pytest.mark.parametrize(
    ("axis", "problem", "methods"),
    [
        ("n", "mean", ("mean.clipped", "mean.sample")),
        (None, "logistic", ("sco.clipped", "sco.erm")),
    ],
)
def test_the_script_prints_the_numbers_of_the_library(
    axis: Any, problem: str, methods: tuple[str, ...]
) -> None:
    grid = () if axis is None else tuple(np.geomspace(50, 200, 3).round())
    scenario = Scenario(
        problem=problem, d=3, n=100, trials=3, seed=7, axis=axis, grid=grid, methods=methods
    )
    if problem == "mean":  # Mean estimation has an exact error on hard instances.
        scenario = replace(scenario, distribution="hypercube")
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", scenario.to_python()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    cells = frame(study(scenario))
    expected = summary(cells, scenario)
    assert expected["exact"].any() == (problem == "mean")
    printed = child.stdout.splitlines()
    for line, error in zip(printed[1:], expected["mean_error"], strict=False):
        assert f"{error:.6f}" in line
    if axis:
        assert printed[-3:] == slopes(scenario, cells).to_string(index=False).splitlines()
    else:
        assert len(printed) == 1 + len(expected)


def test_json_has_every_field_and_plain_values() -> None:
    scenario = Scenario(rho=0.5, epsilon=None, delta=None, axis="p", grid=(2, np.float64(2.5)))
    values = json.loads(scenario.to_json())
    assert tuple(values) == FIELDS
    assert values["epsilon"] is values["delta"] is values["q"] is None
    assert values["methods"] == list(scenario.methods)
    assert values["grid"] == [2, 2.5]


def test_a_query_holds_only_what_differs_from_the_default() -> None:
    assert Scenario().to_query() == {}
    assert Scenario(n=500, delta=0.0).to_query() == {"n": "500", "delta": "0"}
    zcdp = Scenario(epsilon=None, delta=None, rho=0.1)
    assert zcdp.to_query() == {"rho": "0.1"}


def test_other_parameters_of_an_address_are_ignored() -> None:
    assert Scenario.from_query({"n": "500", "utm_source": "x"}) == Scenario(n=500)


def test_an_axis_without_a_grid_has_a_default_grid_that_is_allowed() -> None:
    assert set(DEFAULT_GRIDS) == set(AXES)
    for axis, grid in DEFAULT_GRIDS.items():
        users = {"problem": "quadratic", "methods": "sco.erm", "n": "1000"}
        scenario = Scenario.from_query({"axis": axis} | (users if axis == "m" else {}))
        assert scenario.grid == grid
        assert scenario.validate(DASHBOARD).axis == axis


def test_a_budget_of_one_notion_replaces_that_of_the_other() -> None:
    assert Scenario.from_dict({"rho": 0.5}).budget == ZCDP(rho=0.5)
    assert Scenario.from_dict({"rho": 0.5, "epsilon": None}).budget == ZCDP(rho=0.5)
    base = Scenario(epsilon=None, delta=None, rho=0.5)
    assert Scenario.from_dict({}, base) == base
    assert Scenario.from_dict({"epsilon": 2}, base).budget == ApproxDP(epsilon=2.0, delta=1e-6)
    assert Scenario.from_dict({"epsilon": 2, "delta": 0}, base).budget == PureDP(epsilon=2.0)
    assert Scenario.from_dict({"epsilon": 2, "rho": None}, base).rho is None


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_a_problem_without_methods_has_methods_that_are_made_for_it(problem: str) -> None:
    scenario = Scenario.from_dict({"problem": problem})
    chosen = default_methods(problem)
    assert scenario.methods == chosen
    assert len(chosen) >= 3
    assert set(chosen) <= set(methods_for(problem))
    assert Scenario.from_query({"problem": problem}) == scenario
    assert Scenario.from_dict({"problem": problem, "methods": []}).methods == ()


def test_methods_that_fit_another_problem_too_are_kept() -> None:
    base = Scenario(problem="huber", methods=("sco.sgd", "sco.cwme"))
    assert Scenario.from_dict({"problem": "linear"}, base).methods == base.methods
    assert Scenario.from_dict({"problem": "mean"}, base).methods == default_methods("mean")
    without_methods = replace(base, methods=())
    assert Scenario.from_dict({"problem": "mean"}, without_methods).methods == ()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"n": 0}, "n must be an integer between 1 and 1,000,000,000, got n=0."),
    ({"n": -5}, "n must be an integer between 1 and 1,000,000,000, got n=-5."),
    ({"n": 10**10}, "n must be an integer between 1 and 1,000,000,000, got n=10000000000."),
    ({"d": 100_001}, "d must be an integer between 1 and 100,000, got d=100001."),
    ({"d": "x"}, "d must be an integer, got d=x."),
    ({"m": 0}, "m must be an integer between 1 and 10,000,000, got m=0."),
    ({"epsilon": -1}, "epsilon must be at least 1e-06 and at most 1e+06, got epsilon=-1."),
    ({"epsilon": "nan"}, "epsilon must be at least 1e-06 and at most 1e+06, got epsilon=nan."),
    ({"epsilon": "1e400"}, "epsilon must be at least 1e-06 and at most 1e+06, got epsilon=inf."),
    ({"epsilon": None}, "epsilon must be given, or rho, got epsilon=none."),
    ({"delta": 1}, "delta must be at least 0 and below 1, got delta=1."),
    ({"delta": None}, "delta must be at least 0 and below 1, got delta=none."),
    ({"rho": 0}, "rho must be at least 1e-12 and at most 1e+12, got rho=0."),
    (
        {"rho": 1, "epsilon": 1},
        "epsilon and delta must be left out beside rho, got epsilon=1, delta=none.",
    ),
    ({"p": 1.05}, "p must be at least 1.1 and at most 50, got p=1.05."),
    ({"margin": 0}, "margin must be at least 1e-06 and at most 100, got margin=0."),
    ({"offset": 2.5}, "offset must be at least 0 and at most 2, got offset=2.5."),
    ({"diameter": 1}, "offset must be at least 0 and at most 0.5, got offset=1."),
    ({"diameter": 0}, "diameter must be at least 1e-06 and at most 1e+06, got diameter=0."),
    (
        {"problem": "median"},
        f"problem must be one of {', '.join(PROBLEM_SLUGS)} (did you mean mean?), "
        "got problem=median.",
    ),
    (
        {"problem": "huber", "methods": ["sco.erm", "mean.clipped"]},
        f"method must be {describe_choices(methods_for('huber'), 'mean.clipped')} "
        "for the problem huber, got method=mean.clipped.",
    ),
    (
        {"methods": ["sco.erm"]},
        f"method must be {describe_choices(MEAN_METHODS, 'sco.erm')} for the problem mean, "
        "got method=sco.erm.",
    ),
    ({"geometry": "l3"}, f"geometry must be one of {', '.join(GEOMETRIES)}, got geometry=l3."),
    ({"q": 2}, "q must be left out for the geometry l2, got q=2.0."),
    ({"geometry": "l1", "q": 2}, "q must be left out for the geometry l1, got q=2.0."),
    ({"geometry": "lq", "q": 0.5}, "q must be at least 1 for the geometry lq, got q=0.5."),
    ({"geometry": "lq", "q": "nan"}, "q must be at least 1 for the geometry lq, got q=nan."),
    ({"geometry": "l1", "axis": "q"}, "geometry must be lq for the axis q, got geometry=l1."),
    (
        {"geometry": "group-l1", "d": 7},
        "d must be a multiple of 5 for the geometry group-l1, got d=7.",
    ),
    ({"calibration": "no"}, "calibration must be one of tight, paper, got calibration=no."),
    ({"tuning": "no"}, "tuning must be one of practical, theory, got tuning=no."),
    (
        {"methods": ["mean.sample", "mean.sample"]},
        "methods must be distinct, got methods=mean.sample,mean.sample.",
    ),
    (
        {"methods": "mean.none"},
        f"method must be {describe_choices(METHOD_SLUGS, 'mean.none')}, got method=mean.none.",
    ),
    (
        {"distribution": "cauchy"},
        f"distribution must be one of {', '.join(DISTRIBUTION_SLUGS)}, got distribution=cauchy.",
    ),
    (
        {"distribution": "spike", "d": 1},
        "d must be at least 2 for the distribution spike, got d=1.",
    ),
    ({"trials": 0}, "trials must be an integer between 1 and 100,000, got trials=0."),
    ({"seed": -1}, f"seed must be an integer between 0 and {2**63 - 1:,}, got seed=-1."),
    ({"axis": "x"}, "axis must be one of n, d, m, epsilon, p, q, diameter, decay, got axis=x."),
    ({"grid": [1]}, "grid must be left out without an axis, got grid=1."),
    (
        {"axis": "n", "grid": []},
        "grid must be a list of 1 to 1,000 values for the library, got grid=0 values.",
    ),
    ({"axis": "n", "grid": [2, 1]}, "grid must be increasing, got grid=2,1."),
    ({"axis": "n", "grid": [1, 1]}, "grid must be increasing, got grid=1,1."),
    ({"axis": "p", "grid": "2,nan"}, "grid must be a list of finite numbers, got grid=nan."),
    (
        {"axis": "n", "grid": [1, 2.5]},
        "grid must be a list of integers for the axis n, got grid=2.5.",
    ),
    (
        {"axis": "n", "grid": [0, 1]},
        "n must be an integer between 1 and 1,000,000,000, got n=0.",
    ),
    (
        {"axis": "epsilon", "grid": [0, 1]},
        "epsilon must be at least 1e-06 and at most 1e+06, got epsilon=0.",
    ),
    (
        {"axis": "epsilon", "grid": [1, 2], "rho": 1},
        "rho must be left out for the axis epsilon, got rho=1.",
    ),
    ({"tail": 3}, f"field must be one of {', '.join(FIELDS)}, got field=tail."),
]


@pytest.mark.parametrize(("values", "sentence"), WRONG)
def test_a_value_that_is_not_allowed_is_named_with_what_is(
    values: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInput) as problem:
        Scenario.from_dict(values)
    assert str(problem.value) == sentence
    assert is_one_sentence(sentence) or "field must be" in sentence


@pytest.mark.parametrize(
    ("changes", "start"),
    [
        ({"methods": ["mean.sample"]}, "methods must be a tuple, got "),
        ({"grid": [1.0]}, "grid must be a tuple, got "),
        ({"epsilon": True}, "epsilon must be at least"),
        ({"n": 10.0}, "n must be an integer"),
        ({"n": "10"}, "n must be an integer"),
        ({"seed": True}, "seed must be an integer"),
        ({"offset": "1"}, "offset must be at least"),
        ({"problem": ["mean"]}, "problem must be one of mean, "),
        ({"problem": "logistic"}, "method must be one of .* for the problem logistic, got "),
        (
            {"n": 0, "axis": "n", "grid": (10, 20)},
            "n must be an integer between 1 ",
        ),  # The message is about the chosen point.
        ({"p": 1.05, "axis": "p", "grid": (2, 3)}, "p must be at least 1.1 "),
    ],
)
def test_a_scenario_made_in_python_is_checked_as_strictly(changes: Any, start: str) -> None:
    with pytest.raises(InvalidInput, match=start):
        replace(Scenario(), **changes).validate()


def test_a_scenario_is_validated_once_unless_a_type_differs_or_a_plugin_was_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    questions: list[Scenario] = []
    validate = Scenario._validate

    def note(scenario: Scenario, limits: Limits, *, sampling: bool) -> None:
        """Record a scenario, and validate it."""
        questions.append(scenario)
        validate(scenario, limits, sampling=sampling)

    monkeypatch.setattr(Scenario, "_validate", note)
    scenario = Scenario(n=1234, trials=1, seed=20_261_128, axis="n", grid=(1, 2))
    for same in (scenario, scenario, replace(scenario)):
        assert same.validate() is same
    assert len(questions) == 1
    for equal in (replace(scenario, trials=True), replace(scenario, grid=(True, 2))):
        assert equal == scenario
        with pytest.raises(InvalidInput):
            equal.validate()
    for _ in range(2):
        with pytest.raises(InvalidInput, match="n must be"):
            replace(scenario, n=0).validate()
    scenario.validate(DASHBOARD)
    scenario.validate(sampling=False)
    assert len(questions) == 7
    monkeypatch.setattr(extend, "is_added", lambda slug: slug == scenario.distribution)
    scenario.validate()
    scenario.validate()
    assert len(questions) == 9


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "null", '"mean"', "[" * 100_000, '{"n": ' + "1" * 5000 + "}", '{"n": \n'],
    ids=lambda text: text[:8],
)
def test_json_that_is_no_object_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        Scenario.from_json(text)
    assert is_one_sentence(str(problem.value))
    assert str(problem.value).startswith("scenario must be a JSON object, got scenario=")


@settings(deadline=None)
@given(query=st.dictionaries(st.sampled_from(FIELDS), LIKELY, max_size=6))
def test_any_query_gives_a_scenario_or_one_sentence(query: dict[str, str]) -> None:
    scenario = read(lambda: Scenario.from_query(query))
    assert scenario is None or Scenario.from_query(scenario.to_query()) == scenario


@settings(deadline=None)
@given(values=st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=90), JSON, max_size=4))
def test_any_json_gives_a_scenario_or_one_sentence(values: dict[str, Any]) -> None:
    scenario = read(lambda: Scenario.from_json(json.dumps(values)))
    assert scenario is None or Scenario.from_json(scenario.to_json()) == scenario


@settings(deadline=None)
@given(text=st.text(max_size=80))
def test_any_text_as_json_gives_a_scenario_or_one_sentence(text: str) -> None:
    read(lambda: Scenario.from_json(text))


def test_a_sample_that_is_too_large_is_refused_but_its_bounds_are_not() -> None:
    scenario = Scenario(n=10**9, d=100_000)
    assert scenario.validate(sampling=False) is scenario
    with pytest.raises(InvalidInput, match=r"^n times d must be at most 100,000,000,000 for the"):
        scenario.validate()


def test_every_place_has_its_own_limits() -> None:
    scenario = Scenario(trials=201)
    scenario.validate()
    with pytest.raises(InvalidInput, match="trials must be an integer between 1 and 200"):
        scenario.validate(DASHBOARD)
    tiny = Limits(
        n=10, d=10, elements=50, trials=9, grid=2, cells=20, seconds=1.0, where="a small place"
    )
    small = Scenario(n=5, d=10, trials=2, methods=MEAN_METHODS[:7])
    assert small.cells == 14
    small.validate(tiny)
    with pytest.raises(InvalidInput, match="at most 20 for a small place"):
        replace(small, trials=3).validate(tiny)
    with pytest.raises(InvalidInput, match="n times d must be at most 50 for a small place"):
        replace(small, n=6).validate(tiny)
    with pytest.raises(InvalidInput, match="grid must be a list of 1 to 2 values for a small"):
        replace(small, trials=1, methods=(), axis="n", grid=(1, 2, 3)).validate(tiny)
    assert LIBRARY.cells > DASHBOARD.cells


def test_every_point_of_a_grid_is_held_to_the_limits() -> None:
    with pytest.raises(InvalidInput, match="n must be an integer between 1 and 1,000,000, got"):
        Scenario(axis="n", grid=(10, 2_000_000)).validate(DASHBOARD)


def test_points_are_single_points_with_the_value_of_the_axis() -> None:
    scenario = Scenario(axis="d", grid=(2, 3.0), n=7)
    (x, first_point), (_, second_point) = scenario.points()
    assert (x, first_point) == (2, Scenario(d=2, n=7))
    assert type(second_point.d) is int
    assert scenario.cells == len(default_methods("mean")) * 2 * 20


def test_no_axis_is_one_point() -> None:
    scenario = Scenario()
    assert scenario.points() == ((None, scenario),)
    assert scenario.at(5) is scenario


@pytest.mark.parametrize(
    ("scenario", "budget"),
    [
        (Scenario(), ApproxDP(epsilon=1.0, delta=1e-6)),
        (Scenario(delta=0.0), PureDP(epsilon=1.0)),
        (Scenario(epsilon=None, delta=None, rho=0.2), ZCDP(rho=0.2)),
    ],
)
def test_the_budget_follows_from_delta_and_rho(scenario: Scenario, budget: object) -> None:
    assert scenario.budget == budget
    assert scenario.setting.budget == budget


@pytest.mark.parametrize("problem", [p for p in PROBLEM_SLUGS if p != "mean"])
def test_the_diameter_is_that_of_the_constraint_set(problem: str) -> None:
    scenario = Scenario(problem=problem, methods=(), d=5, diameter=3.0, distribution="gaussian")
    problem_drawn = scenario.instance.problem
    assert problem_drawn.card.slug == problem
    assert problem_drawn.constraint.radius == 1.5
    assert scenario.setting.constants.diameter == 3.0
    assert np.linalg.norm(problem_drawn.minimiser) <= 1.5 * (1 + 1e-9)
    assert (scenario.setting.n, scenario.setting.d) == (scenario.n, 5)


def test_the_setting_says_only_what_is_public() -> None:
    centred, shifted = Scenario(offset=0.0).setting, Scenario(offset=2.0).setting
    assert centred.constants.mean_gradient_bound == shifted.constants.mean_gradient_bound == 2.0
    assert centred == shifted
    assert centred.spike_probability is None
    hard = Scenario(distribution="hypercube").setting
    assert hard.spike_probability is not None
    assert 0 < hard.spike_probability <= 1


@pytest.mark.parametrize("distribution", ["spike", "hypercube"])
def test_the_mean_of_a_hard_instance_is_within_the_public_bound(distribution: str) -> None:
    scenario = Scenario(distribution=distribution, n=20, d=50, diameter=0.5, offset=0.0)
    sampled_problem = scenario.instance.problem.draw(np.random.default_rng(0))
    assert np.linalg.norm(sampled_problem.distribution.mean) <= 0.25 * (1 + 1e-9)


def test_equal_scenarios_are_equal_keys() -> None:
    assert hash(Scenario(p=3, grid=())) == hash(Scenario(p=3.0))
    assert len({Scenario(n=5), Scenario(n=5), Scenario(n=6)}) == 2


def test_a_slug_is_text_and_an_endless_number_is_refused_in_a_sentence() -> None:
    for values in ([10**5000], [None], [1.0]):
        with pytest.raises(InvalidInput, match="methods must be a list of slugs, got"):
            Scenario.from_dict({"methods": values})
