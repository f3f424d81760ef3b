"""Every user-level method on every problem: it runs where it applies, or gives its reason."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import (
    PROBLEM_SLUGS,
    USER_OPTIMISERS,
    default_methods,
    method_card,
    methods_for,
)
from dpsco_core.cli.main import main
from dpsco_core.problems.samples import users
from dpsco_core.results.tables import frame
from dpsco_core.runs.study import Outcome, cells, run_cell, study
from dpsco_core.scenario import Scenario
from tests.folded import crossed, one_in

METHODS = tuple(m.card.slug for m in USER_OPTIMISERS)
PROBLEMS = tuple(p for p in PROBLEM_SLUGS if p != "mean")
SMALL: dict[str, Any] = {"n": 6000, "d": 3, "m": 4, "trials": 1, "diameter": 2.0, "offset": 0.5}


def outcome(point: Scenario) -> Outcome:
    """Return the outcome of the first cell of a point."""
    return run_cell(next(cells(point)))


# Each problem is run on one law in the quick suite, and on the other in `make test-slow`.
@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("method", "problem"),
    [
        # A method that serves many problems is quick on every other one.
        pytest.param(
            m,
            p,
            marks=[pytest.mark.slow] * ((i + j) % 2 and len(method_card(m).problems) > 3),
        )
        for i, m in enumerate(METHODS)
        for j, p in enumerate(PROBLEMS)
    ],
)
def test_a_method_runs_or_refuses_with_a_reason(method: str, problem: str, turn: int) -> None:
    turn += METHODS.index(method) + PROBLEMS.index(problem)
    distribution = ("student-t", "hypercube")[turn % 2]
    if problem not in next(m for m in USER_OPTIMISERS if m.card.slug == method).card.problems:
        with pytest.raises(InvalidInput, match="method must be one of"):
            Scenario(problem=problem, methods=(method,), **SMALL).validate()
        return
    point = Scenario(problem=problem, methods=(method,), distribution=distribution, **SMALL)
    result = outcome(point.validate())
    if result.not_applicable is None:
        assert math.isfinite(result.error) and result.error >= -1e-12
        assert result.spent == point.budget
    else:
        assert result.not_applicable.endswith(".")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "budget", [{"epsilon": None, "delta": None, "rho": 0.5}, {"delta": 0.0}], ids=["zcdp", "pure"]
)
def test_other_budgets_are_spent_or_refused(method: str, budget: dict[str, Any]) -> None:
    point = Scenario(problem="quadratic", methods=(method,), **(SMALL | budget)).validate()
    result = outcome(point)
    if result.not_applicable is None:
        assert budget.get("rho") and result.spent == point.budget
    else:
        assert result.changes


def test_too_few_users_are_refused_with_the_number_that_is_enough() -> None:
    point = Scenario(problem="quadratic", methods=("user.accelerated",), **SMALL | {"n": 50})
    result = outcome(point.validate())
    assert result.not_applicable is not None
    fewest_users = dict(result.changes).get("n")
    assert isinstance(fewest_users, int | float) and fewest_users > 50
    assert outcome(replace(point, n=int(fewest_users)).validate()).not_applicable is None


def test_item_level_methods_are_refused_where_users_have_several_items() -> None:
    with pytest.raises(InvalidInput, match="method must be one at user level, or without privacy"):
        Scenario(problem="quadratic", methods=("sco.clipped",), m=2).validate()
    with pytest.raises(InvalidInput, match="method must be .* got method=mean.clipped"):
        Scenario(problem="mean", m=2).validate()
    assert Scenario.from_dict({"problem": "quadratic", "m": 5}).methods == default_methods(
        "quadratic", "user"
    )
    assert set(methods_for("quadratic", "user")) == {*METHODS, "sco.erm", "sco.sgd"}


def test_a_sweep_over_m_shows_that_more_items_help_the_filter_and_not_the_clipped_means() -> None:
    """For half the squared distance at n = 10,000, the filter's noise falls with m, while that of
    the clipped means does not.

    From m = 10^3 to 10^6 the filtered mean's excess falls a hundredfold and more; both are means of
    five trials.
    """
    swept = Scenario(
        problem="quadratic",
        distribution="gaussian",
        methods=("user.accelerated", "user.clipped-means"),
        n=10_000,
        d=5,
        axis="m",
        grid=(1000, 1_000_000),
        trials=5,
        diameter=2.0,
        offset=0.5,
    )
    means = frame(study(swept)).groupby(["method", "x"])["error"].mean()
    assert means["user.accelerated", 1e6] < means["user.accelerated", 1e3] / 100
    assert means["user.clipped-means", 1e6] > means["user.clipped-means", 1e3] / 10
    assert means["user.accelerated", 1e6] < means["user.clipped-means", 1e6]


def test_every_result_states_what_a_neighbour_replaces(capsys: pytest.CaptureFixture[str]) -> None:
    flags = "--problem quadratic --n 200 --d 2 --trials 1 --method sco.erm"
    for options, unit in (("--m 3", "user"), ("", "record")):
        assert main(["run", *flags.split(), *options.split(), "--json"]) == 0
        (printed,) = json.loads(capsys.readouterr().out)["results"]
        assert printed["neighbours"] == f"replace one {unit}"
        assert main(["run", *flags.split(), *options.split()]) == 0
        heading = capsys.readouterr().out.splitlines()[0]
        assert heading.endswith("replace-one-user" if unit == "user" else "replace-one")


def test_one_item_per_user_is_item_level() -> None:
    item_level = Scenario(problem="quadratic", methods=("sco.clipped",), n=500)
    assert item_level.level == "item"
    user_level = replace(item_level, methods=("sco.clipped", "user.clipped-means")).validate()
    assert user_level.level == "user"
    by_method = {o.method: o for o in study(replace(user_level, trials=1))}
    assert by_method["user.clipped-means"].not_applicable is None


def runs_at_the_limit(
    monkeypatch: pytest.MonkeyPatch, problem: str, law: str, methods: tuple[str, ...], trials: int
) -> tuple[list[Outcome], list[Outcome]]:
    """Return the outcomes of equal runs in which all items just fit into memory, and in which the
    means alone are drawn.

    With more than one trial, the records of the last one are kept for the next run.
    """
    scenario = Scenario(
        problem=problem,
        distribution=law,
        methods=methods,
        n=2000,
        d=5,
        m=20,
        p=4.0,
        epsilon=4.0,
        delta=1e-5,
        diameter=4.0,
        offset=1.0,
        trials=trials,
    ).validate()
    runs = []
    for limit in (200_000, 199_999):
        monkeypatch.setattr(users, "MOST_ELEMENTS", limit)
        runs.append(list(study(scenario)))
    return runs[0], runs[1]


@pytest.mark.parametrize(
    ("problem", "method"),
    crossed(2, ["quadratic", "linear"], ["user.clipped-means", "user.accelerated"]),
)
def test_errors_have_one_law_on_both_sides_of_the_size_at_which_items_are_held(
    problem: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the quadratic loss, items that were shrunk one by one had 10 to 100 times the error.

    The mean of 40 errors of 5 coordinates varies by a tenth; the two means differ by at most five
    of their standard deviations of 14 % or less.
    """
    items, means = runs_at_the_limit(monkeypatch, problem, "gaussian", (method,), 40)
    assert not any(one.notes for one in (*items, *means))
    assert items[0].diagnostics["feature_bound"] == means[0].diagnostics["feature_bound"]
    assert fmean(o.error for o in items) == pytest.approx(
        fmean(o.error for o in means), rel=5 * 0.14
    )


@pytest.mark.parametrize("problem", one_in(2, ["linear", "quadratic"]))
def test_a_chain_says_that_it_steps_on_shrunk_means_where_items_do_not_fit(
    problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items of hard laws are bounded, so that nothing is shrunk."""
    methods = ("user.group-privacy",)
    items, means = runs_at_the_limit(monkeypatch, problem, "gaussian", methods, 2)
    assert not items[0].notes
    (note,) = means[0].notes
    assert "only the users' means are drawn" in note
    assert f"shrunk to norm {means[0].diagnostics['feature_bound']:.3g};" in note
    items, means = runs_at_the_limit(monkeypatch, problem, "hypercube", methods, 2)
    assert not any(one.notes for one in (*items, *means))
