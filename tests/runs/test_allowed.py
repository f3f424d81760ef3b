"""A scenario that exceeds the limits comes with the nearest change that they allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import methods_for
from dpsco_core.methods.user import USER_OPTIMISERS
from dpsco_core.runs import cost as costing
from dpsco_core.runs.allowed import nearest_allowed, refusal
from dpsco_core.runs.cost import cost, release_seconds
from dpsco_core.scenario import Scenario

SWEEP = Scenario(axis="n", grid=(1000, 10_000, 50_000))
SLOW_TO_PLAN = [method for method in USER_OPTIMISERS if method.cost.rough_steps is not None]


@pytest.fixture(autouse=True)
def reference_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Price every run as on the machine on which the prices were measured."""
    monkeypatch.setattr(costing, "machine_speed", lambda: 1.0)


HEAVY = replace(
    SWEEP, grid=(80_000, 90_000, 100_000), methods=("mean.iterative", "mean.smoothed"), trials=200
)
REFUSED: dict[str, tuple[Scenario, str, Any]] = {
    "too many records": (Scenario(n=1_000_000), "n", 100_000),
    "records above the cap": (Scenario(n=5_000_000, d=1), "n", 1_000_000),
    "too many dimensions": (Scenario(d=2000, n=100), "d", 1000),
    "a point of the grid too large": (
        replace(SWEEP, grid=(1000, 10_000, 50_000, 500_000)),
        "grid",
        (1000, 10_000, 50_000),
    ),
    "too many points": (
        replace(SWEEP, grid=tuple(range(100, 1400, 100))),
        "grid",
        tuple(range(100, 1300, 100)),
    ),
    "too many trials": (replace(SWEEP, trials=500), "trials", 200),
    "an offset out of the set": (Scenario(offset=3.0), "offset", 2.0),
    "p below its range": (Scenario(p=1.05), "p", 1.1),
    "p below 2 where gradients need a variance": (
        Scenario(problem="logistic", methods=("sco.erm",), p=1.5),
        "p",
        2,
    ),
    "a margin too small below 2": (Scenario(p=1.5, margin=0.01), "margin", 0.05),
    "a variance of 1 below 2": (Scenario(p=1.5, scale="variance"), "scale", "moment"),
    "p is no number": (Scenario(p=float("nan")), "p", 1.1),
    "a budget of nothing": (Scenario(epsilon=0.0), "epsilon", 1e-6),
    "a spike in one dimension": (Scenario(distribution="spike", d=1), "d", 2),
    "groups that are not whole": (
        Scenario(problem="quadratic", methods=("sco.erm",), geometry="group-l1", d=13),
        "d",
        15,
    ),
    "methods of another problem": (
        Scenario(problem="quadratic", methods=("mean.clipped", "sco.erm")),
        "methods",
        ("sco.erm",),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_nearest_change_is_allowed_and_the_scenario_was_not(name: str) -> None:
    scenario, field, value = REFUSED[name]
    assert refusal(scenario, DASHBOARD)
    assert nearest_allowed(scenario, DASHBOARD) == (field, value)
    assert refusal(replace(scenario, **{field: value}), DASHBOARD) == ""


def test_a_run_that_is_too_long_gets_the_most_trials_that_fit() -> None:
    limits = replace(DASHBOARD, seconds=cost(HEAVY).seconds / 2)
    assert "and the dashboard allows" in refusal(HEAVY, limits)
    assert nearest_allowed(HEAVY, limits) == ("trials", 100)
    assert refusal(replace(HEAVY, trials=100), limits) == ""
    assert refusal(replace(HEAVY, trials=101), limits)


def test_a_size_shrinks_where_five_trials_are_too_many() -> None:
    huge = replace(HEAVY, axis=None, grid=(), n=100_000, trials=5)
    limits = replace(DASHBOARD, seconds=cost(replace(huge, n=20_000)).seconds)
    assert nearest_allowed(huge, limits) == ("n", 20_000)


def test_an_allowed_scenario_needs_no_change() -> None:
    assert refusal(SWEEP, DASHBOARD) == "" and nearest_allowed(SWEEP, DASHBOARD) is None


def test_a_scenario_that_no_single_change_mends_has_none() -> None:
    assert nearest_allowed(Scenario(p=1.0, offset=9.0), DASHBOARD) is None


def test_the_scenario_of_the_other_panel_counts_towards_the_limits() -> None:
    limits = replace(DASHBOARD, seconds=1.5 * cost(HEAVY).seconds)
    assert refusal(HEAVY, limits) == ""
    sentence = refusal(HEAVY, limits, lambda _: (HEAVY,))
    assert sentence.startswith("This run and the one beside it would take about")
    assert nearest_allowed(HEAVY, limits, lambda _: (HEAVY,)) == ("trials", 100)
    large = replace(SWEEP, trials=200, grid=tuple(range(100, 500, 100)))
    sentence_for_two = refusal(large, replace(DASHBOARD, cells=4000), lambda _: (large,))
    assert sentence_for_two == (
        f"This study and the one beside it have {2 * large.cells:,} runs, and the dashboard allows "
        "4,000: use fewer trials."
    )


def test_a_scenario_of_the_other_panel_is_recomputed_for_every_candidate() -> None:
    swept = Scenario(problem="quadratic", methods=("sco.erm",), axis="d", grid=(5, 12, 20))

    def on_groups(s: Scenario) -> tuple[Scenario, ...]:
        """Return the scenario on a ball of groups."""
        return (replace(s, geometry="group-l1"),)

    assert nearest_allowed(swept, DASHBOARD, on_groups) == ("grid", (5, 20))


def test_trials_that_have_run_cost_nothing() -> None:
    whole = cost(SWEEP)
    assert cost(SWEEP, finished=lambda *_: 0) == whole
    no_work = cost(SWEEP, finished=lambda *_: SWEEP.trials)
    assert (no_work.cells, no_work.seconds, no_work.largest_cell) == (0, 0, 0)
    half = cost(SWEEP, finished=lambda *_: SWEEP.trials // 2)
    assert half.cells == whole.cells / 2
    assert half.seconds == pytest.approx(whole.seconds / 2)
    queried: set[Any] = set()
    cost(SWEEP, finished=lambda point, slug, x: queried.add((point, slug, x)) or 0)  # type: ignore[func-returns-value]
    assert {x for _, _, x in queried} == set(SWEEP.grid) and len(queried) == 3 * len(SWEEP.methods)


def test_the_quick_estimate_of_the_cost_is_an_upper_bound_and_makes_no_slow_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    users = Scenario(
        problem="quadratic",
        methods=methods_for("quadratic", "user"),
        n=1000,
        m=10,
        axis="epsilon",
        grid=(0.313, 3.3),  # No other test uses these points, so nothing of them is cached.
    )
    with monkeypatch.context() as patch:
        for method in SLOW_TO_PLAN:
            patch.setattr(method, "plan", None)
        upper = cost(users, exact=False)
    assert cost(users).seconds <= upper.seconds * (1 + 1e-12)
    point = replace(users, axis=None, grid=())
    assert release_seconds(point, "user.clipped-means", exact=False) > 0
