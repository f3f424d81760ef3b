"""The method with the smallest bound: a failing theorem never wins, and indistinguishable runs
tie.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import bound, method_card
from dpsco_core.explain.contest import (
    READINGS,
    TRIALS,
    Reading,
    bounds_contest,
    bounds_of,
    cells_at,
    compared,
    contest,
    contest_cells,
    is_tied,
    measured_contest,
    measured_plane,
    point_at,
)
from dpsco_core.explain.regimes import Plane, axis_values
from dpsco_core.runs.study import run_cell
from dpsco_core.scenario import Scenario

METHODS = ("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.adaptive")
POINT = Scenario(methods=METHODS, p=2.0, n=1000, d=5)
RISKS = Scenario(problem="quadratic", methods=("sco.clipped", "sco.cwme", "sco.smoothed"), p=2.0)


def plane(columns: int = 5, rows: int = 4) -> Plane:
    """Return a plane of n and epsilon with this many columns and rows."""
    return Plane(
        x_axis="n",
        y_axis="epsilon",
        x=axis_values("n", 100, 100_000, columns),
        y=axis_values("epsilon", 0.05, 5, rows),
    )


@pytest.mark.parametrize("scenario", [POINT, RISKS], ids=["mean", "risk"])
@pytest.mark.parametrize("reading", ["rates", "proven"])
def test_the_winner_has_the_smallest_bound_whose_conditions_all_hold(
    scenario: Scenario, reading: Reading
) -> None:
    plane_map = bounds_contest(scenario, plane(), reading)
    for i, epsilon in enumerate(plane_map.plane.y):
        for j, n in enumerate(plane_map.plane.x):
            setting = replace(scenario, n=int(n), epsilon=float(epsilon)).setting
            values = {
                m: min(
                    (b.value(setting) for b in bounds if not b.failures(setting)), default=np.inf
                )
                for m in plane_map.methods
                for bounds in [bounds_of(m, reading, scenario)]
            }
            best = min(values, key=lambda m: values[m])
            k = int(plane_map.smallest[i, j])
            if values[best] == np.inf:
                assert k == -1
            else:
                assert plane_map.methods[k] == best
                assert plane_map.values[k, i, j] == pytest.approx(values[best])
    assert not plane_map.ties.any() and plane_map.has_value.all()
    if (
        scenario is RISKS and reading == "rates"
    ):  # In this plane a theorem fails somewhere although its value is the smallest.
        value = plane_map.values.argmin(axis=0)
        assert (value != plane_map.smallest).any()


def test_a_method_is_represented_by_its_own_rate_or_its_proven_mean_errors() -> None:
    for method in compared(POINT, "rates"):
        assert [b.card.slug for b in bounds_of(method, "rates", POINT)] == [
            method_card(method).rate
        ]
    for method in compared(POINT, "proven"):
        cards = [b.card for b in bounds_of(method, "proven", POINT)]
        assert {(c.constant, c.guarantee, c.kind) for c in cards} == {
            ("explicit", "expectation", "upper")
        }
    assert "mean.sample" not in compared(POINT, "measured")
    assert bound(method_card("sco.clipped").rate) not in bounds_of("sco.clipped", "rates", POINT)


def test_measured_cells_run_every_method_on_the_same_records_five_times() -> None:
    small = replace(POINT, methods=("mean.clipped", "mean.cwme-cdp"))
    cells = cells_at(small, plane(), 2, 1)
    assert len(cells) == 2 * TRIALS and TRIALS >= 5
    assert {c.point for c in cells} == {cells[0].point}
    point = point_at(small, plane(), 2, 1)
    assert (point.n, point.epsilon) == (int(plane().x[1]), plane().y[2])
    outcomes = [run_cell(c) for c in cells]
    plane_map = measured_contest(plane(), small.methods, {(2, 1): outcomes})
    errors = np.array([[o.error for o in outcomes if o.method == m] for m in small.methods])
    assert plane_map.values[:, 2, 1] == pytest.approx(errors.mean(axis=1))
    assert plane_map.ties[2, 1] == is_tied(errors)
    assert (
        plane_map.has_value.sum() == 1 and plane_map.smallest[2, 1] == errors.mean(axis=1).argmin()
    )
    assert plane_map.share(int(plane_map.smallest[2, 1])) == 1.0
    smallest = float(errors.mean(axis=1).min())
    for start, is_nobody in ((smallest, True), (1.01 * smallest, False)):
        cell = {(2, 1): start}
        contest = measured_contest(plane(), small.methods, {(2, 1): outcomes}, cell)
        assert (contest.winners[2, 1] == len(small.methods)) == is_nobody
        assert contest.share(len(small.methods)) == float(is_nobody)
        assert (contest.winners[~contest.has_value] == -1).all()


def test_methods_tie_if_the_interval_of_their_paired_difference_contains_zero() -> None:
    base = np.array([1.0, 5.0, 9.0, 2.0, 7.0])
    steps = np.array([0.9, 1.0, 1.1, 1.0, 1.0])
    # The paired difference is far from 0 in every trial.
    assert not is_tied(np.stack([base, base + steps]))
    assert is_tied(np.stack([base, base + 10 * (steps - 1.0)]))
    assert is_tied(np.stack([base + 50, base, base + 10 * (steps - 1.0)]))
    assert not is_tied(base[None]) and not is_tied(np.empty((0, 5)))


def test_cells_come_from_coarse_to_fine_outwards_from_the_chosen_one() -> None:
    order = contest_cells(plane(9, 7), start=(3, 5))
    assert order[0] == (3, 5) and len(set(order)) == 63
    coarse = [c for c in order if (c[0] - 3) % 4 == 0 and (c[1] - 5) % 4 == 0]
    assert list(order[: len(coarse)]) == coarse


def test_the_measured_plane_is_cut_where_it_would_take_too_long() -> None:
    wide = replace(plane(9, 7), x=axis_values("n", 100, 1_000_000, 9))
    cut = measured_plane(replace(POINT, d=200), wide, DASHBOARD)
    assert 1 < len(cut.x) < len(wide.x) and (cut.x == wide.x[: len(cut.x)]).all()
    assert len(measured_plane(POINT, plane(3, 2), DASHBOARD).x) == 3


def test_every_comparison_is_complete_and_empty_under_a_budget_of_no_method() -> None:
    small = replace(POINT, methods=("mean.clipped", "mean.cwme-cdp"))
    for reading in READINGS:
        assert contest(small, plane(2, 2), reading).has_value.all()
    pure = bounds_contest(replace(small, delta=0.0), plane(), "rates")
    assert (pure.smallest == -1).all()


def test_an_axis_contains_the_requested_value() -> None:
    values = axis_values("n", 100, 1_000_000, 9, included=12_345)
    assert 12_345 in values and len(values) == 9 and (np.diff(values) > 0).all()
    assert (axis_values("n", 100, 1000, 5, included=5e6) == axis_values("n", 100, 1000, 5)).all()
