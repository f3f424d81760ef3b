"""The numbers of the page that explains why privacy stays expensive in the worst case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import BOUNDS
from dpsco_core.explain.picture import Picture, picture
from dpsco_core.explain.why import (
    EPSILON,
    LIGHT,
    MANY_N,
    SCENARIO,
    SIZES,
    WORST_D,
    clipping,
    parts,
    why,
)
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems import MeanEstimation
from dpsco_core.results.report import evaluate


def draw_picture(p: float) -> Picture:
    """Return the picture of the scenario with moments of order p."""
    return picture(replace(SCENARIO, p=p))


def test_the_records_are_those_of_the_picture_and_one_of_them_is_far() -> None:
    heavy, picture = why().heavy, draw_picture(SCENARIO.p)
    assert (picture.n, picture.epsilon) == (SCENARIO.n, EPSILON)
    lengths = np.linalg.norm(picture.records, axis=1)
    assert (lengths < heavy.middle).sum() == SCENARIO.n / 2
    assert heavy.farthest == lengths.max() > 10 * heavy.middle
    assert why().light.farthest < 3 * why().light.middle


def test_the_best_radius_is_the_minimum_of_the_curve() -> None:
    for law in (why().heavy, why().light):
        errors = [clipping(law.p, float(r)).error for r in draw_picture(law.p).clipped.radii]
        assert law.best.error == min(errors)
        assert 0 < errors.index(min(errors)) < len(errors) - 1
        assert law.best.error > law.plain


def test_the_price_on_the_records_falls_for_both_tails() -> None:
    heavy, light = why().heavy, why().light
    # Every error of the light tail is smaller, also without privacy.
    assert light.plain < heavy.plain / 5 and light.best.error < heavy.best.error
    assert light.price > 2 * heavy.price
    assert 1 < light.later < heavy.later < heavy.price
    for law in (heavy, light):
        assert law.price == pytest.approx(law.best.error / law.plain)
        later = picture(replace(SCENARIO, p=law.p, n=MANY_N))
        plain = np.sqrt(later.clipped.whole / MANY_N)
        assert law.later == pytest.approx(parts(law.p, MANY_N, later.best).error / plain)


def test_two_tails_are_compared_in_the_worst_case_by_proven_bounds() -> None:
    heavy, light = why().heavy, why().light
    assert SIZES[0] == SCENARIO.n and SIZES[-1] == MANY_N
    for law in (heavy, light):
        assert (np.diff(law.guarantees) < 0).all()
        assert all(a < b for a, b in zip(law.floors, law.guarantees, strict=True))
        for n, bound_value in zip(SIZES, law.guarantees, strict=True):
            point = replace(SCENARIO, n=n, d=WORST_D, p=law.p)
            uppers = [
                e.value
                for e in (evaluate(point, b) for b in BOUNDS if covers_the_class(b))
                if not e.failures and e.bound.card.quantity == "l2 error"
            ]
            assert bound_value * np.sqrt(WORST_D / n) == pytest.approx(min(uppers))


def covers_the_class(b: Bound) -> bool:
    """Return whether a bound is proven for private means over the class of coordinate moments."""
    card = b.card
    proven = (card.kind, card.constant, card.guarantee) == ("upper", "explicit", "expectation")
    private = card.privacy != "none" and "mean" in card.problems
    return proven and private and card.laws == COORDINATE


def test_clipping_trades_bias_for_noise() -> None:
    small, best, large = why().small, why().heavy.best, why().large
    assert small.bias > best.bias > large.bias
    assert small.clipped > best.clipped > large.clipped
    problem = SCENARIO.instance.problem
    assert isinstance(problem, MeanEstimation)
    setting = problem.setting(SCENARIO.n, ApproxDP(epsilon=EPSILON, delta=1e-6))
    for law in (small, best, large):
        plan = SimpleClipping(radius=law.radius).plan(setting)
        assert law.noise == pytest.approx(np.sqrt(2) * plan.noise.noise_std)
    unclipped = clipping(2.0, 1e3)
    assert unclipped.shift == pytest.approx(0, abs=1e-12) and unclipped.clipped == 0


def test_halving_the_error_takes_the_power_given_by_the_tail_index() -> None:
    for law in (why().heavy, why().light):
        assert law.halving == pytest.approx(2 ** (law.p / (law.p - 1)))
    assert np.ptp(why().heavy.floors) < 0.01  # The exponent equals that of the sampling error.


def test_the_worst_case_applies_to_every_private_algorithm_and_lies_below_the_curve() -> None:
    for p, law in ((SCENARIO.p, why().heavy), (LIGHT, why().light)):
        point = replace(SCENARIO, p=p, d=WORST_D)
        lower = [b for b in BOUNDS if b.card.kind == "lower" and b.card.problems == ("mean",)]
        binding = [
            e.value
            for e in (evaluate(point, b) for b in lower if b.card.privacy in ("approx", "none"))
            if not e.failures
            and e.bound.card.constant == "explicit"
            and e.bound.card.quantity == "l2 error"
        ]
        assert law.floors[0] * np.sqrt(WORST_D / SCENARIO.n) == pytest.approx(max(binding))


def test_an_attacker_is_right_less_often_than_the_budget_allows() -> None:
    assert 0.5 < why().guess < why().limit < 1
