"""Whatever an address or a file says, a reader gives a state that is allowed, or one sentence.

Thousands of examples for every reader; hypothesis finds and shrinks the example of a failure.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsco_app.front import links
from dpsco_app.front.second import pinned
from dpsco_app.pages import private_mean
from dpsco_app.pages.bounds import state as theory_state
from dpsco_app.pages.check import state as check_state
from dpsco_app.pages.explore import state as explore_state
from dpsco_app.pages.geometry import state as geometry_state
from dpsco_app.pages.learn import state as learn_state
from dpsco_app.pages.lower_bounds import state as lower_state
from dpsco_app.pages.methods import errata
from dpsco_app.pages.methods import state as algorithm_state
from dpsco_app.pages.one_run import state as anatomy_state
from dpsco_app.pages.privacy import state as privacy_state
from dpsco_app.pages.users import state as users_state
from dpsco_app.pages.who_wins import state as regime_state
from dpsco_app.shell import teaching
from dpsco_app.shell.page_state import PageState
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.base.limits import DASHBOARD, LIBRARY, Limits
from dpsco_core.catalogue import METHOD_SLUGS, make_method, method_card
from dpsco_core.cli.study import read_scenario
from dpsco_core.runs.cost import too_large
from dpsco_core.runs.memory import bytes_held
from dpsco_core.runs.study import method_setting
from dpsco_core.scenario import DELTA_MIN, Scenario
from tests.attack.nasty import (
    ANY_TEXT,
    BROKEN_FILES,
    LIKELY,
    NASTY,
    is_one_sentence,
    objects,
    picked,
    queries,
)
from tests.folded import one_in

FEW_EXAMPLES, MANY_EXAMPLES = 40, 10_000
QUIET = list(HealthCheck)
# Largest number of characters of a warning on a page, which may name many parameters.
LONGEST_SHOWN = 800
# Bytes of the largest sample on the dashboard: ten million items, and a solver's copies.
DASHBOARD_BYTES = 450e6
STATES: dict[str, tuple[PageState[Any], ModuleType]] = {
    "errata": (errata.STATE, errata),
    "one-run": (anatomy_state.STATE, anatomy_state),
    "explore": (explore_state.STATE, explore_state),
    "who-wins": (regime_state.STATE, regime_state),
    "bounds": (theory_state.STATE, theory_state),
    "check": (check_state.STATE, check_state),
    "methods": (algorithm_state.STATE, algorithm_state),
    "geometry": (geometry_state.STATE, geometry_state),
    "learn": (learn_state.STATE, learn_state),
    "lower-bounds": (lower_state.STATE, lower_state),
    "privacy": (privacy_state.STATE, privacy_state),
    "private-mean": (private_mean.STATE, private_mean),
    "users": (users_state.STATE, users_state),
}
PINS = ("problem=mean&n=1000", "epsilon=1&p=3", "axis=n&grid=10,20", "seed=fresh", "n=1&n=2")
EXTRAS = {
    "show": st.just("rates,upper bounds,lower bounds"),
    "against": picked(["box", "l1", "simplex", "none"]),
    "pin": picked(PINS) | queries(LIKELY).map(lambda q: "&".join(f"{k}={v}" for k, v in q.items())),
    "side": picked(["yes", "no"]),
    "radius": picked(["0.001", "1", "1000", "1e308"]),
    "claim": picked(["d/n", "1/0", "(" * 50, "n^n^n^n", "log(-n)", "0.05", "kappa*width"]),
    "hypotheses": picked(["n >= 10*d", "n > ", ";;", "n >= d; p > 2", "rho < rho < rho"]),
    "plane": picked(["n-epsilon", "d-epsilon", "n-p"]),
}


def few_and_many(test: Callable[..., None]) -> Callable[..., None]:
    """Run a property on a few examples in every run of the suite, and on ten thousand in `slow`."""
    return pytest.mark.parametrize(
        "count", [pytest.param(FEW_EXAMPLES), pytest.param(MANY_EXAMPLES, marks=pytest.mark.slow)]
    )(test)


def hunt(count: int, strategy: st.SearchStrategy[Any], check: Callable[[Any], None]) -> None:
    """Let hypothesis run a check on `count` examples of a strategy."""
    quiet = settings(max_examples=count, deadline=None, database=None, suppress_health_check=QUIET)
    quiet(given(strategy)(check))()


def read(make: Callable[[], Scenario]) -> Scenario | None:
    """Return the scenario that `make` reads, or None if it refuses; assert that a refusal is one
    sentence.
    """
    try:
        return make()
    except InvalidInput as problem:
        sentence = str(problem)
    assert is_one_sentence(sentence), sentence
    return None


def assert_within(scenario: Scenario, limits: Limits, *, sampling: bool = True) -> None:
    """Check that a scenario that was read is allowed, survives its texts, and stays small."""
    assert scenario.validate(limits, sampling=sampling) is scenario
    assert Scenario.from_json(scenario.to_json()) == scenario
    assert Scenario.from_query(scenario.to_query()) == scenario
    if limits is DASHBOARD and sampling:
        assert bytes_held(scenario) < DASHBOARD_BYTES
        assert scenario.cells <= DASHBOARD.cells


@few_and_many
def test_a_scenario_of_any_query_is_allowed_or_refused_in_a_sentence(count: int) -> None:
    def check(query: dict[str, str]) -> None:
        """Assert that a query is refused, or is a scenario within the limits."""
        scenario = read(lambda: Scenario.from_query(query).validate(DASHBOARD))
        if scenario is not None:
            assert_within(scenario, DASHBOARD)

    hunt(count, queries(LIKELY), check)


@few_and_many
def test_a_scenario_of_any_object_is_allowed_or_refused_in_a_sentence(count: int) -> None:
    def check(values: dict[str, Any]) -> None:
        """Assert that an object is refused, or is a scenario within the limits."""
        scenario = read(lambda: Scenario.from_dict(values))
        if scenario is not None:
            assert_within(scenario, LIBRARY, sampling=False)

    hunt(count, objects(), check)


@few_and_many
def test_a_scenario_of_any_json_is_allowed_or_refused_in_a_sentence(count: int) -> None:
    def check(text: str) -> None:
        """Assert that a text is refused, or is a scenario within the limits."""
        scenario = read(lambda: Scenario.from_json(text))
        if scenario is not None:
            assert_within(scenario, LIBRARY, sampling=False)

    hunt(count, BROKEN_FILES, check)


def toml_of(values: dict[str, Any]) -> str:
    """Return values as TOML, in which JSON's texts, numbers and lists are valid but null is not."""
    lines = []
    for name, value in values.items():
        if value is not None and not isinstance(value, dict):
            text = json.dumps(value, default=str).replace("NaN", "nan").replace("Infinity", "inf")
            lines.append(f"{json.dumps(str(name))} = {text}")
    return "\n".join(lines)


TOML_FILES = (
    objects().map(lambda values: toml_of({k: v for k, v in values.items() if is_writable(v)}))
    | BROKEN_FILES
    | picked([3, 100, 5000]).map(lambda k: "a = " + "[" * k + "]" * k)
    | picked([3, 100, 5000]).map(lambda k: "a" + ".a" * k + " = 1")
    | picked(["n = 5\nn = 6", "[n]\nx=1", 'n = """\n5"""', "n = 1979-05-27", "n = 0xffffffff"])
)


def is_writable(value: Any) -> bool:
    """Whether a value is free of tables and of integers that Python refuses to write as text."""
    if isinstance(value, list):
        return all(is_writable(v) for v in value)
    return not (isinstance(value, int) and value.bit_length() > 10_000) and not isinstance(
        value, dict
    )


@few_and_many
def test_any_toml_file_is_a_scenario_or_refused_in_a_sentence(count: int, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"

    def check(text: str) -> None:
        """Assert that a file is refused, or is a scenario within the limits."""
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        scenario = read(lambda: read_scenario(path, {}))
        if scenario is not None:
            assert_within(scenario, LIBRARY, sampling=False)

    hunt(count, TOML_FILES, check)


def test_much_of_the_toml_that_is_tried_is_read() -> None:
    """The examples are not all refused for the same reason."""
    counts = {"read": 0, "refused": 0, "no TOML": 0}

    def check(text: str) -> None:
        """Count a text as read, as refused or as no TOML."""
        try:
            values = tomllib.loads(text)
        except (ValueError, RecursionError):
            counts["no TOML"] += 1
            return
        counts["refused" if read(lambda: Scenario.from_dict(values)) is None else "read"] += 1

    hunt(40, TOML_FILES, check)
    assert all(counts.values()), counts


@few_and_many
@pytest.mark.parametrize("sampling", [True, False])
def test_the_scenario_of_any_address_is_one_that_a_page_shows(count: int, sampling: bool) -> None:
    def check(query: dict[str, str]) -> None:
        """Assert that every page can show what it reads from a query."""
        scenario, sentences = links.read(query, sampling=sampling)
        assert_within(scenario, DASHBOARD, sampling=sampling)
        assert len(sentences) <= len(query) + 1
        assert all(is_sentence(sentence) for sentence in sentences), sentences
        for state, _ in STATES.values():
            if state.use is not None:
                assert_within(state.use.fit(scenario), LIBRARY, sampling=False)
                assert state.use.fit(state.use.fit(scenario)) == state.use.fit(scenario)

    hunt(count, queries(LIKELY), check)


def is_sentence(text: str) -> bool:
    """Whether a sentence that a page shows is short and on one line."""
    return " must be " in text and text.endswith(".") and text.isprintable() and len(text) < 560


@lru_cache
def texts_for(name: str) -> dict[str, st.SearchStrategy[str]]:
    """Return a strategy of texts for a page's parameter: what the page offers, and values at its
    limits.
    """
    state, module = STATES[name]
    offered: list[Any] = []
    for value in (v for k, v in vars(module).items() if k.isupper()):
        if isinstance(value, tuple | dict):
            offered += [x for x in value if isinstance(x, str | int | float)]
    texts = {}
    for field in state.names:
        if field in EXTRAS:
            texts[field] = EXTRAS[field] | ANY_TEXT
            continue
        default = getattr(state.default, field)
        if isinstance(default, bool):
            texts[field] = picked(["yes", "no"])
            continue
        kind = str if isinstance(default, str) else int | float
        edges = [-1, 0, 1, 2, 3, 1e-13, 0.5, 999, 10**9, 2**53 + 1, 2**63 - 1]
        fitting = [x for x in offered if isinstance(x, kind)] + ([] if kind is str else edges)
        texts[field] = picked([str(x) for x in (*fitting, default)])
    return texts


@few_and_many
@pytest.mark.parametrize("name", STATES)
def test_a_page_with_a_view_opens_at_any_address(name: str, count: int) -> None:
    state = STATES[name][0]

    def check(query: dict[str, str]) -> None:
        """Assert that a view is valid, and that it is read again as it was written."""
        view, sentences = state.from_query(query)
        assert view.validate() == view
        assert state.from_query(state.to_query(view)) == (view, [])
        assert len(sentences) <= len(query)
        assert all(is_sentence(sentence) for sentence in sentences), sentences
        if name == "privacy":
            read(lambda: view.audit().point)
        pinned_scenario = pinned(view.pin) if name == "explore" else None
        if pinned_scenario is not None:
            assert_within(pinned_scenario, DASHBOARD)

    hunt(count, queries(texts_for(name)), check)


def test_a_seed_in_an_address_keeps_all_of_its_digits() -> None:
    largest = geometry_state.LARGEST_SEED
    view, sentences = geometry_state.STATE.from_query({"seed": str(largest)})
    assert (view.seed, sentences) == (largest, [])


@few_and_many
def test_what_a_teacher_hides_may_be_any_text(count: int) -> None:
    names = [*teaching.PARTS, "n", "none", "</style><script>"]
    hide = st.lists(picked(names) | ANY_TEXT, max_size=5).map(",".join)

    def check(query: dict[str, str]) -> None:
        """Assert that what is hidden cannot break the style sheet."""
        hidden, sentences = teaching.ADDRESS.from_query(query)
        assert all(is_sentence(sentence) for sentence in sentences), sentences
        style = teaching.style(hidden)
        assert "<" not in style and len(style) < 100_000

    hunt(count, queries({"hide": hide, "type": picked(["large", "normal", "x"])}), check)


@pytest.mark.parametrize("count", [5, pytest.param(500, marks=pytest.mark.slow)])
def test_no_work_above_the_caps_is_let_through(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every scenario that the dashboard lets through also stays within its seconds by the exact
    estimate of cost.
    """
    from dpsco_core.runs import cost as costing

    monkeypatch.setattr(costing, "machine_speed", lambda: 1.0)

    def check(query: dict[str, str]) -> None:
        """Assert that exactly the scenarios that take too long are refused."""
        scenario = links.read(query)[0]
        sentences = too_large(scenario, DASHBOARD)
        seconds = costing.cost(scenario, exact=True).seconds
        assert bool(sentences) == (seconds > DASHBOARD.seconds)
        assert not sentences or (sentences.isprintable() and len(sentences) < 300)

    hunt(count, queries(LIKELY), check)


@pytest.mark.parametrize("slug", one_in(3, METHOD_SLUGS))
def test_every_method_plans_or_refuses_at_the_edges_of_the_budget(slug: str) -> None:
    """Neither an exponential of the largest epsilon nor a part of the smallest delta ends in a
    traceback.
    """
    card = method_card(slug)
    exponent = 1.5 if card.geometry == "lq" else None
    edges = itertools.product((1e-6, 1e6), (0.0, DELTA_MIN, 0.999999), (1, 1000))
    for epsilon, delta, n in edges:
        scenario = Scenario(
            problem=card.problems[0],
            methods=(slug,),
            n=n,
            d=5,
            m=10 if card.level == "user" else 1,
            epsilon=epsilon,
            delta=delta,
            geometry="lq" if exponent else "l2",
            q=exponent,
        ).validate()
        try:
            make_method(slug, scenario.calibration, scenario.tuning).plan(
                method_setting(scenario, slug)
            )
        except NotApplicable as refused:
            reason = refused.reason
        else:
            reason = "It runs."
        assert reason.endswith(".") and reason.isprintable()


def test_a_hostile_text_is_quoted_in_one_line_in_every_message() -> None:
    for name in ("n", "epsilon", "grid", "methods", "problem", "axis", "seed"):
        for text in NASTY:
            scenario = read(lambda name=name, text=text: Scenario.from_query({name: text}))
            if scenario is not None:
                assert_within(scenario, LIBRARY, sampling=False)
