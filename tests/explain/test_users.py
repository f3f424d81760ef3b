"""Drawings of the page Users: the crossover, the maps, the frontier and the counts."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.bounds.user.conditions import setting_of
from dpsco_core.bounds.user.explicit import FULL_BATCH, MODE_A, ONE_CHAIN, PHASED_SGD
from dpsco_core.bounds.user.rates import GROUP_PRIVACY, LINEAR_TIME, OPTIMAL
from dpsco_core.catalogue import make_method
from dpsco_core.explain.contest import TRIALS
from dpsco_core.explain.users.crossing import (
    FILTERED,
    PLAIN,
    crossing_scenario,
    errors_of,
    quick_items,
)
from dpsco_core.explain.users.frontier import (
    EPSILONS,
    NEEDS,
    batch_shortfall,
    frontier,
    most_users,
    printed_accelerated_run,
)
from dpsco_core.explain.users.regions import (
    BOUNDED,
    GROUP,
    GROUPS,
    MEASURED,
    MEASURED_ITEMS,
    MEASURED_USERS,
    NON_SMOOTH,
    PROVEN_ITEMS,
    PROVEN_USERS,
    RATE_ITEMS,
    RATE_USERS,
    STRONG,
    bounds_map,
    measured_cells,
    measured_through,
    unit_setting,
)
from dpsco_core.explain.users.regions import FILTERED as ACCELERATED
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.results.slopes import line_slope
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

LEVEL = UserLevel(n=10_000, m=100, d=10, epsilon=1.0, delta=1e-6, smoothness=1.0)


def test_errors_need_every_cell_and_skip_methods_that_cannot_run() -> None:
    scenario = crossing_scenario(n=2000, d=2, trials=2)
    outcomes = list(study(replace(scenario, grid=(1.0, 10.0))))
    errors = errors_of(outcomes, PLAIN)
    assert errors.risks.shape == (2, 2)
    assert errors.mean[1] == np.mean([o.error for o in outcomes if o.method == PLAIN and o.x == 10])
    assert errors.distance == pytest.approx(np.sqrt(2 * errors.mean))
    with pytest.raises(InvalidInput, match="every m and trial"):
        errors_of(outcomes[:-1], PLAIN)


def test_the_grid_leaves_out_points_that_would_take_too_long() -> None:
    for n in (500, 1000, 10_000, 100_000):
        grid = quick_items(n, 10)
        assert grid[0] == 1 and grid[-1] == 1_000_000 and len(grid) >= 5
    assert 100 not in quick_items(10_000, 10) and 100 in quick_items(1000, 10)


@pytest.mark.slow
def test_a_filter_pays_from_some_number_of_items_on() -> None:
    """The crossover is that at n = 10,000 and epsilon = 1, with one law at every m and the
    quadratic loss.
    """
    scenario = crossing_scenario()
    assert (scenario.n, scenario.epsilon, scenario.problem) == (10_000, 1.0, "quadratic")
    outcomes = list(study(scenario))
    falling, flat = (errors_of(outcomes, method) for method in (FILTERED, PLAIN))
    # In theory/lowy-liu-asi.md, 2.7 the crossover is near 1,800 at its constants, and a few times
    # less at the sharper ones.
    is_below = falling.mean < flat.mean
    assert not is_below[falling.items <= 300].any() and is_below[falling.items >= 3000].all()
    # With the filter, the distance of the answer from the minimiser falls as 1/sqrt(m); without it,
    # the distance does not depend on m.
    is_many = falling.items >= 500
    for errors, slope in ((falling, -0.5), (flat, 0)):
        fitted = line_slope(errors.items[is_many], np.sqrt(2 * errors.mean[is_many]))
        assert fitted == pytest.approx(slope, abs=0.1)


def test_the_map_of_rates_has_the_rates_and_where_they_hold() -> None:
    (contest,) = bounds_map("rates", "smooth", 10, 1.0, 1e-6, 1.0)
    assert contest.values.shape == (3, len(RATE_USERS), len(RATE_ITEMS))
    i, j = RATE_USERS.index(1_000_000), RATE_ITEMS.index(1000)
    level = UserLevel(n=1_000_000, m=1000, d=10, epsilon=1.0, delta=1e-6)
    for method, rate in ((GROUP, GROUP_PRIVACY), (GROUPS, LINEAR_TIME), (ACCELERATED, OPTIMAL)):
        k = contest.methods.index(method)
        assert contest.values[k, i, j] == pytest.approx(sum(rate(setting_of(level)).values()))
    accelerated = contest.methods.index(ACCELERATED)
    # The condition delta < 1/(nm) fails at n m = 10^9, and the printed constants need 180,000
    # users.
    assert not contest.holds[accelerated, i, j]
    assert contest.holds[accelerated, RATE_USERS.index(215_443), RATE_ITEMS.index(2)]
    assert not contest.holds[accelerated, RATE_USERS.index(100_000), RATE_ITEMS.index(2)]
    best = contest.smallest
    assert best[RATE_USERS.index(10_000), 0] == contest.methods.index(GROUP)
    assert best[RATE_USERS.index(215_443), RATE_ITEMS.index(2)] == accelerated
    # The private term of Algorithm 1 is below that of group privacy for m > n.
    groups = contest.methods.index(GROUPS)
    assert set(np.argwhere(best == groups)[:, 0]) <= {
        i for i, n in enumerate(RATE_USERS) if n < RATE_ITEMS[-1]
    }


def test_the_maps_of_other_losses_have_their_own_methods() -> None:
    (strong,) = bounds_map("rates", "strong", 10, 1.0, 1e-12, 1.0)
    assert STRONG in strong.methods
    assert (strong.smallest == strong.methods.index(STRONG)).any()
    (any_loss,) = bounds_map("rates", "any", 10, 1.0, 1e-12, 1.0)
    assert any_loss.methods == (NON_SMOOTH,)
    assert (any_loss.smallest == 0).any() and (any_loss.smallest == -1).any()
    with pytest.raises(InvalidInput, match="loss must be one of"):
        unit_setting(10, 1, 2, 1.0, 1e-6, 1.0, "kinked")  # type: ignore[arg-type]


def test_the_map_of_proven_bounds_is_filled_point_by_point() -> None:
    made_maps = bounds_map("proven", "smooth", 10, 1.0, 1e-6, 1.0)
    contest = next(made_maps)
    assert contest.methods == BOUNDED
    assert (~np.isnan(contest.values)).any(axis=0).sum() == 1
    assert contest.values.shape[1:] == (len(PROVEN_USERS), len(PROVEN_ITEMS))
    level = UserLevel(n=1000, m=1, d=10, epsilon=1.0, delta=1e-6, smoothness=1.0)
    explicit = [risk(level).value for risk in (ONE_CHAIN, FULL_BATCH, PHASED_SGD, MODE_A)]
    # A bound under a Gaussian budget may be evaluated at the equivalent one.
    assert contest.values[:, 0, 0] == pytest.approx(explicit, rel=1e-6)
    assert contest.smallest[0, 0] == int(np.argmin(explicit))
    assert (contest.smallest[1:] == -1).all()


def test_the_measured_map_runs_every_method_on_the_same_data_at_its_point() -> None:
    cells = measured_cells(3000, 1000, 2, 2.5, 1.0, 1e-6, 7)
    assert len(cells) == TRIALS * len(MEASURED) and len(set(cells)) == len(cells)
    assert {(c.point.n, c.point.m, c.point.p) for c in cells} == {(3000, 1000, 2.5)}
    assert {c.trial for c in cells} == set(range(TRIALS)) and cells[0].point.seed == 7
    # The plane contains the chosen point exactly once, in order.
    plane = measured_through(5000, 1000)
    assert plane.y.tolist() == sorted({*MEASURED_USERS, 5000})
    assert plane.x.tolist() == sorted(MEASURED_ITEMS) and 1000 in MEASURED_ITEMS
    assert set(MEASURED) == set(BOUNDED) - {GROUP}


def test_the_frontier_is_the_least_number_of_users_that_works() -> None:
    needs = {need.slug: need.least_users(LEVEL) for need in NEEDS}
    assert needs["theorem-c1"] > needs["theorem-b1"] > needs["groups-printed"] > 10_000
    assert needs["step-calibrated"] < needs["recommended-c1"] < 10_000
    # At the least n the calibrated methods run, and with one user fewer they do not.
    for slug, method in (("step-calibrated", ACCELERATED), ("groups-calibrated", GROUPS)):
        users_needed = int(needs[slug])
        point = Scenario(problem="quadratic", distribution="hypercube", methods=(method,), m=100)
        optimiser = make_method(method, "tight", "practical")
        optimiser.plan(replace(point, n=users_needed).setting)
        with pytest.raises(NotApplicable):
            optimiser.plan(replace(point, n=users_needed - 1).setting)


def test_the_printed_algorithm_1_runs_from_its_frontier_upwards() -> None:
    need = next(n for n in NEEDS if n.slug == "groups-printed")
    point = Scenario(
        problem="quadratic", distribution="hypercube", methods=(GROUPS,), m=100, epsilon=10.0, d=10
    )
    users_needed = int(need.least_users(replace(LEVEL, epsilon=10.0)))
    optimiser = make_method(GROUPS, "paper", "theory")
    optimiser.plan(replace(point, n=users_needed).setting)
    with pytest.raises(NotApplicable):
        optimiser.plan(replace(point, n=users_needed - 1).setting)


def test_the_frontier_falls_with_epsilon() -> None:
    curves = frontier(LEVEL)
    assert set(curves) == {need.slug for need in NEEDS}
    for users in curves.values():
        assert len(users) == len(EPSILONS)
        assert all(a > b for a, b in pairwise(users))


def test_the_printed_algorithm_3_has_a_window_of_users() -> None:
    assert most_users(LEVEL) == pytest.approx(1e4)
    # Algorithm 3 as printed needs n >= 180,000 and n < 10,000.
    assert printed_accelerated_run(LEVEL) == math.inf
    small = replace(LEVEL, delta=1e-12)
    assert 180_000 < printed_accelerated_run(small) < most_users(small)
    assert batch_shortfall(LEVEL) > 100
