"""What the page Users draws: the crossover, the maps, the frontier and the counts."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.bounds.user.complexity import COMPARISON
from dpsco_core.bounds.user.explicit import FULL_BATCH, MODE_A, ONE_CHAIN, PHASED_SGD
from dpsco_core.bounds.user.rates import group_privacy, linear_time, optimal
from dpsco_core.catalogue import make_method
from dpsco_core.cli import main as cli
from dpsco_core.explain.contest import TRIALS
from dpsco_core.explain.users.crossing import (
    FILTERED,
    PLAIN,
    Errors,
    command,
    crossing,
    crossing_scenario,
    errors_of,
    fitted_slope,
    quick_items,
)
from dpsco_core.explain.users.frontier import (
    EPSILONS,
    NEEDS,
    batch_shortfall,
    complexity_curves,
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
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

AT = UserLevel(n=10_000, m=100, d=10, epsilon=1.0, delta=1e-6, smoothness=1.0)


def made(method: str, items: list[float], means: list[float]) -> Errors:
    """Return errors whose trials all are `means`."""
    risks = np.repeat(np.array(means)[:, None], 4, axis=1)
    return Errors(method=method, items=np.array(items), risks=risks)


# -- the crossover ------------------------------------------------------------------------------


def test_lines_that_cross_are_found_where_they_cross() -> None:
    items = [1.0, 10.0, 100.0, 1000.0]
    falling = made(FILTERED, items, [20 / m for m in items])  # 20/m = 1/2 at m = 40
    flat = made(PLAIN, items, [0.5] * 4)
    crossed = crossing(falling, flat)
    assert crossed is not None
    assert crossed.items == pytest.approx(40)
    assert (crossed.low, crossed.high, crossed.reversals) == (10, 100, 0)
    assert crossed.interval == pytest.approx((40, 40))
    assert crossing(flat, falling) is None
    assert crossing(made(FILTERED, items, [0.1] * 4), flat) is None  # below from the start


def test_the_last_of_several_crossings_counts_and_the_others_are_said() -> None:
    items = [1.0, 10.0, 100.0, 1000.0]
    crossed = crossing(
        made(FILTERED, items, [2.0, 0.5, 2.0, 0.5]), made(PLAIN, items, [1.0, 1.0, 1.0, 1.0])
    )
    assert crossed is not None and crossed.reversals == 2
    assert crossed.items == pytest.approx(math.sqrt(100 * 1000))


def test_the_interval_is_as_wide_as_the_trials_scatter() -> None:
    items = np.array([1.0, 10.0, 100.0])
    rng = np.random.default_rng(5)
    flat = Errors(method=PLAIN, items=items, risks=np.ones((3, 30)))
    widths = []
    for spread in (0.05, 0.5):
        risks = 10 / items[:, None] * np.exp(spread * rng.standard_normal((3, 30)))
        crossed = crossing(Errors(method=FILTERED, items=items, risks=risks), flat)
        assert crossed is not None
        low, high = crossed.interval
        assert low <= crossed.items <= high
        widths.append(math.log(high / low))
    assert widths[1] > 4 * widths[0]


def test_errors_need_every_cell_and_skip_what_cannot_run() -> None:
    scenario = crossing_scenario(n=2000, d=2, trials=2)
    outcomes = list(study(replace(scenario, grid=(1.0, 10.0))))
    errors = errors_of(outcomes, PLAIN)
    assert errors.risks.shape == (2, 2)
    assert errors.mean[1] == np.mean([o.error for o in outcomes if o.method == PLAIN and o.x == 10])
    assert errors.distance == pytest.approx(np.sqrt(2 * errors.mean))
    with pytest.raises(InvalidInput, match="every m and trial"):
        errors_of(outcomes[:-1], PLAIN)
    broken = Errors(method=FILTERED, items=errors.items, risks=np.full((2, 2), np.nan))
    assert crossing(broken, errors) is None


def test_the_grid_leaves_out_what_would_take_long() -> None:
    for n in (500, 1000, 10_000, 100_000):
        grid = quick_items(n, 10)
        assert grid[0] == 1 and grid[-1] == 1_000_000 and len(grid) >= 5
    assert 100 not in quick_items(10_000, 10) and 100 in quick_items(1000, 10)


def test_the_slope_of_the_distance_has_an_interval_over_the_trials() -> None:
    rng = np.random.default_rng(0)
    items = np.array([1.0, 500.0, 1000.0, 5000.0])
    covered = 0
    for _ in range(300):
        risks = 1 / items[:, None] * rng.gamma(2, 0.5, (4, 20))
        slopes = fitted_slope(Errors(method=FILTERED, items=items, risks=risks), 500)
        covered += slopes.low <= -0.5 <= slopes.high
    # Binomial(300, 0.92): below with probability 1e-6.
    assert 250 <= covered < 300 and slopes.points == 3
    alone = fitted_slope(Errors(method=FILTERED, items=items, risks=risks[:, :1]))
    assert not alone.known
    two = fitted_slope(Errors(method=FILTERED, items=items, risks=risks), 1000)
    assert two.points == 2 and not two.known
    with pytest.raises(InvalidInput, match="below two points"):
        fitted_slope(Errors(method=FILTERED, items=items, risks=risks), 5000)


@pytest.mark.slow
def test_the_command_gives_the_same_crossover_as_the_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The issue's crossover: n = 10,000, epsilon = 1, hypercube data, quadratic loss."""
    scenario = crossing_scenario()
    assert (scenario.n, scenario.epsilon, scenario.problem) == (10_000, 1.0, "quadratic")
    outcomes = list(study(scenario))
    falling, flat = (errors_of(outcomes, method) for method in (FILTERED, PLAIN))
    crossed = crossing(falling, flat)
    assert crossed is not None and crossed.reversals == 0
    # theory/lowy-liu-asi.md, 2.7: near 1,800 at its constants, a few times less at the sharper.
    assert 300 < crossed.items < 3000
    assert crossed.interval[0] < crossed.items < crossed.interval[1]
    # The law: the distance of the filtered mean falls as 1/sqrt(m), that of the other not at all.
    assert fitted_slope(falling, 500).fitted == pytest.approx(-0.5, abs=0.1)
    assert fitted_slope(flat, 500).fitted == pytest.approx(0, abs=0.1)

    words = shlex.split(command(scenario))
    assert words[:2] == ["dpsco", "run"]
    assert cli.main([*words[1:], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert Scenario.from_dict(printed["scenario"]) == scenario
    rows = {(r["method"], r["x"]): r["mean_error"] for r in printed["results"]}
    again = [
        made(m, list(scenario.grid), [rows[m, x] for x in scenario.grid]) for m in (FILTERED, PLAIN)
    ]
    repeated = crossing(again[0], again[1])
    assert repeated is not None and repeated.items == pytest.approx(crossed.items, rel=1e-9)


def test_the_command_names_every_field_that_is_not_a_default() -> None:
    scenario = crossing_scenario(n=3000, d=5, epsilon=2.0, delta=1e-8, trials=3, seed=7)
    words = shlex.split(command(scenario))
    parsed = cli._scenario(cli._build_parser().parse_args(words[1:]), sampling=True)
    assert parsed == scenario


# -- the maps -----------------------------------------------------------------------------------


def test_the_map_of_rates_holds_the_rates_and_where_they_hold() -> None:
    (contest,) = bounds_map("rates", "smooth", 10, 1.0, 1e-6, 1.0)
    assert contest.values.shape == (3, len(RATE_USERS), len(RATE_ITEMS))
    i, j = RATE_USERS.index(1_000_000), RATE_ITEMS.index(1000)
    at = UserLevel(n=1_000_000, m=1000, d=10, epsilon=1.0, delta=1e-6)
    for method, rate in ((GROUP, group_privacy), (GROUPS, linear_time), (ACCELERATED, optimal)):
        k = contest.methods.index(method)
        assert contest.values[k, i, j] == pytest.approx(sum(rate(at)))
    accelerated = contest.methods.index(ACCELERATED)
    # delta < 1/(nm) fails at n m = 10^9; the printed constants need 180,000 users.
    assert not contest.holds[accelerated, i, j]
    assert contest.holds[accelerated, RATE_USERS.index(215_443), RATE_ITEMS.index(2)]
    assert not contest.holds[accelerated, RATE_USERS.index(100_000), RATE_ITEMS.index(2)]
    best = contest.smallest
    assert best[RATE_USERS.index(10_000), 0] == contest.methods.index(GROUP)
    assert best[RATE_USERS.index(215_443), RATE_ITEMS.index(2)] == accelerated
    # Algorithm 1's private term is below that of group privacy from m > n on.
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


def test_the_map_of_proven_bounds_fills_point_by_point() -> None:
    made_maps = bounds_map("proven", "smooth", 10, 1.0, 1e-6, 1.0)
    contest = next(made_maps)
    assert contest.methods == BOUNDED
    assert (~np.isnan(contest.values)).any(axis=0).sum() == 1
    assert contest.values.shape[1:] == (len(PROVEN_USERS), len(PROVEN_ITEMS))
    at = UserLevel(n=1000, m=1, d=10, epsilon=1.0, delta=1e-6, smoothness=1.0)
    explicit = [risk(at).value for risk in (ONE_CHAIN, FULL_BATCH, PHASED_SGD, MODE_A)]
    # A bound under a Gaussian budget may be evaluated at the equivalent one.
    assert contest.values[:, 0, 0] == pytest.approx(explicit, rel=1e-6)
    assert contest.smallest[0, 0] == int(np.argmin(explicit))
    assert (contest.smallest[1:] == -1).all()


def test_the_measured_map_runs_every_method_on_the_same_data_at_its_point() -> None:
    cells = measured_cells(3000, 1000, 2, 1.0, 1e-6, 7)
    assert len(cells) == TRIALS * len(MEASURED) and len(set(cells)) == len(cells)
    assert {(c.point.n, c.point.m) for c in cells} == {(3000, 1000)}
    assert {c.trial for c in cells} == set(range(TRIALS)) and cells[0].point.seed == 7
    # The plane has the chosen point, once, and is in order.
    plane = measured_through(5000, 1000)
    assert plane.y.tolist() == sorted({*MEASURED_USERS, 5000})
    assert plane.x.tolist() == sorted(MEASURED_ITEMS) and 1000 in MEASURED_ITEMS
    assert set(MEASURED) == set(BOUNDED) - {GROUP}


# -- the frontier -------------------------------------------------------------------------------


def test_the_frontier_is_the_least_n_that_works() -> None:
    needs = {need.slug: need.least(AT) for need in NEEDS}
    assert needs["theorem-c1"] > needs["theorem-b1"] > needs["groups-printed"] > 10_000
    assert needs["step-calibrated"] < needs["recommended-c1"] < 10_000
    # At the least n the calibrated methods run, and with one user fewer they do not.
    for slug, method in (("step-calibrated", ACCELERATED), ("groups-calibrated", GROUPS)):
        least = int(needs[slug])
        point = Scenario(problem="quadratic", distribution="hypercube", methods=(method,), m=100)
        optimiser = make_method(method, "tight", "practical")
        optimiser.plan(replace(point, n=least).setting)
        with pytest.raises(NotApplicable):
            optimiser.plan(replace(point, n=least - 1).setting)


def test_the_printed_algorithm_1_runs_from_its_frontier_on() -> None:
    need = next(n for n in NEEDS if n.slug == "groups-printed")
    point = Scenario(
        problem="quadratic", distribution="hypercube", methods=(GROUPS,), m=100, epsilon=10.0, d=10
    )
    least = int(need.least(replace(AT, epsilon=10.0)))
    optimiser = make_method(GROUPS, "paper", "theory")
    optimiser.plan(replace(point, n=least).setting)
    with pytest.raises(NotApplicable):
        optimiser.plan(replace(point, n=least - 1).setting)


def test_the_frontier_falls_with_epsilon() -> None:
    curves = frontier(AT)
    assert set(curves) == {need.slug for need in NEEDS}
    for users in curves.values():
        assert len(users) == len(EPSILONS)
        assert all(a > b for a, b in pairwise(users))


def test_the_printed_algorithm_3_has_a_window_of_users() -> None:
    assert most_users(AT) == pytest.approx(1e4)
    assert printed_accelerated_run(AT) == math.inf  # it needs n >= 180,000 and n < 10,000
    small = replace(AT, delta=1e-12)
    assert 180_000 < printed_accelerated_run(small) < most_users(small)
    assert batch_shortfall(AT) > 100


# -- the counts ---------------------------------------------------------------------------------


def test_every_row_of_the_comparison_has_its_curves() -> None:
    curves = {(c.slug, c.loss): c for c in complexity_curves(10, 1.0)}
    expected = {
        (row.slug, loss)
        for row in COMPARISON
        for loss, count in (("smooth", row.smooth), ("non-smooth", row.non_smooth))
        if count is not None
    }
    assert set(curves) == expected
    for slug, slope in (("algorithm-1", 1), ("asi-liu-2024", 1.5), ("algorithm-3", 1.125)):
        curve = curves[slug, "smooth"]
        fitted = np.polyfit(np.log(curve.items), np.log(curve.gradients), 1)[0]
        assert fitted == pytest.approx(slope, abs=1e-6)
    last = curves["algorithm-3", "smooth"]
    assert last.gradients[-1] == pytest.approx(last.items[-1] ** 1.125)
    assert all(math.isinf(g) for g in curves["ghazi-2023", "smooth"].gradients)
    # Bassily and Sun need beta < sqrt(n/m) at n = d: not for the smallest n here.
    bassily = curves["bassily-sun-2023", "smooth"]
    assert not bassily.applies[0] and bassily.applies[-1]
