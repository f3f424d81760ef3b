"""The geometric median: its quadratures, minimisers on and inside the boundary, and its kink."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import (
    EllipticalT,
    Gaussian,
    Hypercube,
    LogNormal,
    Pareto,
    SkewedPareto,
    Spike,
    StudentT,
)
from dpsco_core.problems import GeometricMedian
from dpsco_core.problems.geometric_median import coordinate_median, inverse_distance, median_slope
from dpsco_core.problems.noise import univariate_of
from tests.problems.cases import SIGMAS, dense, in_ball, losses

SKEWED = (SkewedPareto, LogNormal)


@pytest.mark.parametrize("family", [StudentT, Pareto, SkewedPareto, LogNormal, Gaussian])
def test_in_one_dimension_the_slope_is_twice_the_distribution_function_less_1(family: Any) -> None:
    law = univariate_of(family(d=1, moment_order=2.0))
    for c in (law.mean, law.median + 0.3, 1.7, 0.4):
        expected = 2 * float(law.cdf(np.array([c]))[0]) - 1
        assert median_slope(law, 1, c) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("family", SKEWED)
@pytest.mark.parametrize("d", [2, 5, 50])
def test_the_slope_is_that_of_a_large_sample_and_0_at_the_median(family: Any, d: int) -> None:
    record = family(d=d, moment_order=2.0)
    law = univariate_of(record)
    shift = law.mean  # Samples are centred, so the law's mean is added to them.
    x = record.sample(2_000_000 // d, np.random.default_rng(1)).x
    best = coordinate_median(law, d)
    assert law.median < best < law.mean
    assert median_slope(law, d, best) == pytest.approx(0.0, abs=1e-9)
    for c in (best, best + 0.2, best - 0.15):
        steps = (c - shift) - x
        terms = (steps / np.linalg.norm(steps, axis=1)[:, None]).mean(axis=1)
        error = terms.std() / math.sqrt(len(terms))
        assert abs(terms.mean() - median_slope(law, d, c)) <= SIGMAS * error


def test_inverse_distances_of_normal_vectors_have_their_closed_form() -> None:
    for d in (2, 3, 20, 300):
        record = Gaussian(d=d, moment_order=2.0)  # The records are standard normal.
        law = univariate_of(record)
        exact = math.exp(math.lgamma((d - 1) / 2) - math.lgamma(d / 2)) / math.sqrt(2)
        assert inverse_distance(law, d, 0.0) == pytest.approx(exact, rel=1e-8)
        smoothness = GeometricMedian(distribution=record, radius=1.0).constants.smoothness
        assert exact <= smoothness <= exact * (1 + 1e-7)


@pytest.mark.parametrize("family", [StudentT, EllipticalT, Pareto, SkewedPareto, LogNormal])
@pytest.mark.parametrize("d", [3, 20])
def test_the_smoothness_bounds_inverse_distances_everywhere(family: Any, d: int) -> None:
    record = family(d=d, moment_order=3.0, offset=0.7)
    example = GeometricMedian(distribution=record, radius=1.0)
    x = record.sample(40_000, np.random.default_rng(2)).x
    rng = np.random.default_rng(3)
    largest = 0.0
    for w in (record.mean, example.minimiser, *(record.mean + rng.standard_normal((4, d)))):
        inverse = 1 / np.linalg.norm(w - x, axis=1)
        largest = max(largest, inverse.mean() - SIGMAS * inverse.std() / math.sqrt(len(x)))
    assert largest <= example.constants.smoothness
    if family in (StudentT, EllipticalT):  # These laws nearly attain the constant.
        assert largest >= 0.9 * example.constants.smoothness


@pytest.mark.parametrize("family", SKEWED)
@pytest.mark.parametrize(("radius", "offset"), [(0.1, 0.0), (0.3, 2.0), (4.0, 1.0)])
def test_skewed_laws_have_minimisers_on_the_boundary_too(
    family: Any, radius: float, offset: float
) -> None:
    record = family(d=6, moment_order=2.0, offset=offset)
    example = GeometricMedian(distribution=record, radius=radius)
    best = example.minimiser
    on_boundary = np.linalg.norm(best) >= radius * (1 - 1e-12)
    assert on_boundary == (radius < 1) == (not example.constants.minimum_interior)
    sample = example.sample(200_000, np.random.default_rng(4))
    best_losses = losses(sample, best)
    rng = np.random.default_rng(5)
    for _ in range(4):
        w = in_ball(example, rng)
        excess = example.excess_risk(w)
        difference = losses(sample, w) - best_losses
        error = math.hypot(difference.std() / math.sqrt(sample.n), excess.standard_error)
        assert excess.value > 0
        assert abs(difference.mean() - excess.value) <= SIGMAS * error


@pytest.mark.parametrize("law", [Spike, Hypercube])
@pytest.mark.parametrize("q", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("radius", [0.5, 5.0])
def test_the_kink_of_a_hard_instance_is_its_minimum(law: Any, q: float, radius: float) -> None:
    record = law(d=4, moment_order=2.0, spike_probability=q).draw(np.random.default_rng(6))
    example = GeometricMedian(distribution=record, radius=radius)
    rng = np.random.default_rng(7)
    spike = record.mean / q
    points = [in_ball(example, rng) for _ in range(200)]
    points += [example.constraint.project(t * spike) for t in np.linspace(-1, 2, 31)]
    excesses = np.array([example.excess_risk(w).value for w in points])
    assert excesses.min() >= -1e-14
    assert example.excess_risk(example.minimiser).value == 0.0
    assert not example.constants.minimum_interior
    w = points[0]
    distances = [
        np.linalg.norm(w - z) - np.linalg.norm(example.minimiser - z) for z in (0 * spike, spike)
    ]
    expected = (1 - q) * distances[0] + q * distances[1]
    assert example.excess_risk(w).value == pytest.approx(expected, abs=1e-12)


def test_gradients_are_unit_vectors_for_every_law() -> None:
    for family in (StudentT, EllipticalT, SkewedPareto):
        example = GeometricMedian(distribution=family(d=5, offset=0.3), radius=1.0)
        w = example.minimiser
        g = dense(example.sample(500, np.random.default_rng(8)).gradients(w))
        np.testing.assert_allclose(np.linalg.norm(g, axis=1), 1.0, rtol=1e-12)


def test_an_elliptical_law_whose_mean_is_outside_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^offset must be at most diameter/2, got offset=2"):
        GeometricMedian(distribution=EllipticalT(d=3, offset=2.0), radius=1.0)


def test_excesses_near_the_minimiser_keep_their_digits() -> None:
    example = GeometricMedian(distribution=Gaussian(d=3, moment_order=2.0), radius=1.0)
    u = np.array([0.6, 0.0, 0.8])
    sizes = (1e-6, 1e-4, 1e-2)
    values = [example.excess_risk(t * u).value / t**2 for t in sizes]
    assert values == pytest.approx([values[0]] * 3, rel=1e-2)
    # This is half the Hessian, (1 - 1/d) E 1/|Z| / 2.
    exact = (1 / 3) * math.sqrt(2 / math.pi)
    assert values[0] == pytest.approx(exact, rel=0.02)
