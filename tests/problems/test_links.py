"""Scalar losses: slopes against differences, convexity, bounds, and one record at a time."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from dpsco_core.problems.links import (
    AbsoluteLink,
    HingeLink,
    HuberLink,
    Link,
    LogisticLink,
    SquaredLink,
)
from dpsco_core.problems.point_losses import PointLoss

LINKS = (LogisticLink(), SquaredLink(), HuberLink(), AbsoluteLink(), HingeLink())
TARGETS = {LogisticLink: (0.0, 1.0, 0.3), HingeLink: (-1.0, 1.0, 0.4)}
EXTREME = (0.0, -0.0, 1.0, -1.0, 1e-300, -1e-300, 40.0, -40.0, 800.0, -800.0, 1e300, -1e300)
BROKEN = (math.inf, -math.inf, math.nan)


def targets_of(link: Any) -> tuple[float, ...]:
    """Return the targets to try a link with."""
    return TARGETS.get(type(link), (0.0, 2.5, -1e6))


def grid(link: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return random and extreme margins, each with a random target."""
    rng = np.random.default_rng(0)
    margins = np.concatenate([rng.standard_normal(500) * 3, np.array(EXTREME)])
    return margins, rng.choice(np.array(targets_of(link)), size=len(margins))


@pytest.mark.parametrize("link", LINKS)
def test_slopes_are_the_derivatives_of_values(link: Any) -> None:
    margins, targets = grid(link)
    is_moderate = np.abs(margins) < 30
    margins, targets = (
        margins[is_moderate],
        np.where(np.abs(targets) > 10, 0.5, targets)[is_moderate],
    )
    step = 1e-6
    rise = link.value(margins + step, targets) - link.value(margins - step, targets)
    kink = np.abs(margins - targets) < 2 * step
    if isinstance(link, HingeLink):
        kink = np.abs(1 - margins * targets) < 2 * step
    slopes = link.slope(margins, targets)
    np.testing.assert_allclose((rise / (2 * step))[~kink], slopes[~kink], atol=1e-7)
    assert kink.sum() < 5


@pytest.mark.parametrize("link", LINKS)
def test_values_lie_above_every_tangent_and_slopes_within_the_bounds(link: Any) -> None:
    margins, targets = grid(link)
    margins = np.clip(margins, -1e3, 1e3)
    targets = np.where(np.abs(targets) > 10, 0.5, targets)
    slopes = link.slope(margins, targets)
    assert np.abs(slopes).max() <= link.slope_bound
    for move in (-3.0, -0.1, 1e-3, 2.0):
        rise = link.value(margins + move, targets) - link.value(margins, targets)
        assert (rise - slopes * move >= -1e-9).all()
        assert (rise - slopes * move <= 0.5 * link.curvature_bound * move**2 + 1e-9).all()
    assert link.value(margins, targets).min() >= 0


@pytest.mark.parametrize("link", LINKS)
def test_the_slope_of_one_record_is_that_of_the_array_without_warnings(link: Any) -> None:
    values = (*EXTREME, *BROKEN, 0.5, 1.0 + 1e-16, 2.5)
    goals = (*targets_of(link), *BROKEN, 1e300)
    pairs = np.array([(s, y) for s in values for y in goals])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slopes = link.slope(pairs[:, 0].copy(), pairs[:, 1].copy())
        link.value(pairs[:, 0].copy(), pairs[:, 1].copy())
        single_slopes = np.array([link.slope_at(float(s), float(y)) for s, y in pairs])
    np.testing.assert_allclose(single_slopes, slopes, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("link", LINKS)
def test_computing_slopes_does_not_change_margins_and_targets(link: Any) -> None:
    margins, targets = grid(link)
    copies = margins.copy(), targets.copy()
    link.slope(margins, targets)
    link.value(margins, targets)
    assert np.array_equal(margins, copies[0]) and np.array_equal(targets, copies[1])


@pytest.mark.parametrize("link", LINKS)
def test_admissible_targets_keep_the_slope_bound_and_good_targets(link: Any) -> None:
    wild = np.array([*BROKEN, 1e300, -1e300, -3.0, 7.0])
    tame = link.admissible(wild)
    assert np.isfinite(tame).all()
    if math.isfinite(link.slope_bound):
        for margin in (-5.0, 0.0, 0.9, 5.0):
            assert np.abs(link.slope(np.full(len(tame), margin), tame)).max() <= link.slope_bound
    good = np.array(targets_of(link))
    assert np.array_equal(link.admissible(good), good)
    # Taken one record at a time, every target is judged as in the whole array.
    for i in range(len(wild)):
        assert link.admissible(wild[i : i + 1])[0] == tame[i]


def test_a_link_or_loss_without_stated_bounds_is_given_the_worst_ones() -> None:
    assert Link.slope_bound == Link.curvature_bound == math.inf
    assert not PointLoss.needs_only_the_mean
