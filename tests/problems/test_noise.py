"""Closed forms of the noise laws, against quadrature of their densities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicHermiteSpline

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import EllipticalT, Gaussian, Hypercube, LogNormal, Pareto, SkewedPareto
from dpsco_core.data import StudentT as Student
from dpsco_core.data.base import ScaledLaw
from dpsco_core.data.directions import log_normal_moment
from dpsco_core.data.univariate import StudentLaw
from dpsco_core.problems import Absolute, GeometricMedian, Huber
from dpsco_core.problems import noise as module
from dpsco_core.problems.noise import absolute_curvature, huber_curvature, noise_like, univariate_of
from tests.problems.cases import SIGMAS

FAMILIES = (Student, Pareto, SkewedPareto, LogNormal, Gaussian, EllipticalT)
ORDERS = (2.0, 3.0, 4.5)
PLACES = np.array([-7.0, -1.3, -0.4, 0.0, 0.05, 0.7, 1.1, 2.6, 9.0])


def expectation(law: Any, function: Callable[[float], float], ends: Iterable[float]) -> float:
    """Return the expectation of a function between the ends, by adaptive quadrature."""

    def integrand(y: float) -> float:
        """Return the density times the function at y."""
        return float(law.density(np.array([y]))[0]) * function(y)

    return math.fsum(
        quad(integrand, low, high, epsabs=1e-12, epsrel=1e-11, limit=300)[0]
        for low, high in itertools.pairwise(sorted(ends))
    )


def integral(law: Any, function: Callable[[float], float], low: float, high: float) -> float:
    """Return the expectation of a function over (low, high), in panels."""
    breaks = [x for x in (*law.jumps, law.median, law.mean) if low < x < high]
    return expectation(law, function, {low, high, *breaks})


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("p", ORDERS)
def test_closed_forms_equal_quadrature(family: Any, p: float) -> None:
    law = univariate_of(family(d=1, moment_order=p, margin=0.5))
    for x in PLACES:
        x += law.mean
        point = np.array([x])
        for form, function in (
            (law.cdf, lambda y: 1.0),
            (law.integrated_cdf, lambda y, x=x: x - y),
            (law.twice_integrated_cdf, lambda y, x=x: 0.5 * (x - y) ** 2),
        ):
            if form(point)[0] > 50 or (
                form == law.twice_integrated_cdf and not law.jumps and p == 2
            ):
                continue  # A left tail with hardly a second moment defeats the quadrature.
            low = -math.inf if law.symmetric else 0.0
            assert form(point)[0] == pytest.approx(
                integral(law, function, low, x), rel=2e-7, abs=1e-9
            )


@pytest.mark.parametrize("family", FAMILIES)
def test_each_table_is_the_integral_of_the_one_before(family: Any) -> None:
    law = univariate_of(family(d=1, moment_order=2.0, margin=0.3))
    x = np.linspace(-6, 8, 57) + 0.0123
    step = 1e-5
    for upper, lower in (
        (law.integrated_cdf, law.cdf),
        (law.twice_integrated_cdf, law.integrated_cdf),
    ):
        slope = (upper(x + step) - upper(x - step)) / (2 * step)
        np.testing.assert_allclose(slope, lower(x), rtol=1e-6, atol=1e-8)
    slope = (law.cdf(x + step) - law.cdf(x - step)) / (2 * step)
    jump = np.zeros_like(x, dtype=bool)
    for place in law.jumps:
        jump |= np.abs(x - place) < 2 * step
    np.testing.assert_allclose(slope[~jump], law.density(x)[~jump], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_peak_is_the_supremum_of_the_density(family: Any) -> None:
    law = univariate_of(family(d=1, moment_order=2.5))
    edges = np.concatenate([[j - 1e-9, j + 1e-9] for j in (*law.jumps, 0.0)])
    x = np.concatenate([np.linspace(-5, 5, 200_001), edges])
    assert law.density(x).max() <= law.peak * (1 + 1e-12)
    assert law.density(x).max() >= law.peak * (1 - 1e-6)


@pytest.mark.parametrize("family", [*FAMILIES, Hypercube])
@pytest.mark.parametrize("centre", ["median", "huber"])
def test_the_noise_has_its_median_or_its_huber_location_at_zero(family: Any, centre: Any) -> None:
    extra = {"spike_probability": 0.1} if family is Hypercube else {"margin": 4.0}
    noise = noise_like(family(d=6, moment_order=3.0, **extra), centre)
    law, zero = noise.univariate, noise.origin
    if centre == "median":
        assert law.cdf(np.array([zero]))[0] == pytest.approx(0.5, abs=1e-14)
    else:
        ends = law.integrated_cdf(np.array([zero + 1, zero - 1]))
        assert ends[0] - ends[1] == pytest.approx(1.0, abs=1e-13)
    draws = noise.sample(400_000, np.random.default_rng(5))
    score = {
        "median": np.sign(draws),
        "huber": np.clip(draws, -1, 1),
    }[centre]
    assert abs(score.mean()) <= SIGMAS * score.std() / math.sqrt(len(draws))
    # The order and the moment scale of the noise are those of the features.
    assert noise.law.moment(3.0) == pytest.approx(1.0)


def huber(r: float) -> float:
    """Return the Huber loss of a residual."""
    return 0.5 * r * r if abs(r) <= 1 else abs(r) - 0.5


def loss_change(loss: Callable[[float], float], zero: float, s: float, y: float) -> float:
    """Return how much the loss grows from margin 0 to margin s if the noise is y.

    `zero` is the noise's origin (its median, or its Huber location).
    """
    return loss(s - y + zero) - loss(zero - y)


@pytest.mark.parametrize("family", FAMILIES)
def test_conditional_excesses_equal_quadrature(family: Any) -> None:
    features = family(d=4, moment_order=3.0, margin=0.5)
    for centre, loss in (
        ("median", abs),
        ("huber", huber),
    ):
        noise = noise_like(features, centre)
        excess = noise.absolute_excess if centre == "median" else noise.huber_excess
        law, zero = noise.univariate, noise.origin
        for s in (-4.0, -0.6, -0.01, 0.0, 0.02, 0.8, 5.0):
            kinks = {zero + move + side for move in (0.0, s) for side in (-1.0, 0.0, 1.0)}
            change = partial(loss_change, loss, zero, s)
            expected = expectation(law, change, kinks | {-400.0, 400.0, *law.jumps})
            # The part beyond 400 is left out, where differences are about |s|, and the tail
            # 400^-3.5.
            assert excess(np.array([s]))[0] == pytest.approx(expected, abs=3e-9 * (1 + abs(s)))


@pytest.mark.parametrize("name", ["huber", "absolute"])
def test_the_tables_of_the_excesses_are_accurate_and_are_used(name: str) -> None:
    centre: Literal["huber", "median"] = "huber" if name == "huber" else "median"
    for p, margin in ((2.0, 0.1), (3.0, 0.5), (10.0, 2.0)):
        noise = noise_like(Student(d=3, moment_order=p, margin=margin), centre)
        assert isinstance(noise.univariate, StudentLaw)
        rng = np.random.default_rng(1)
        s = np.concatenate([rng.standard_normal(2000), np.sinh(rng.uniform(-9.5, 9.5, 4000))])
        s = np.concatenate([s, [0.0, np.sinh(9.0), -np.sinh(9.0), 1e6, -1e6]])
        excesses = getattr(noise, f"{name}_excess")(s)
        assert np.array_equal(excesses, getattr(module, f"_{name}_table")(noise)(s))
        error = np.abs(excesses - getattr(noise, f"_{name}_excess")(s))
        # The closed form itself cancels, so its rounding is 1e-15 s^2 and that of a large second
        # moment.
        assert (error <= 1e-12 * (1 + np.abs(s)) + 1e-14 * s * s + 1e-13 / margin).all()
        assert error.max() > 0


def test_the_table_of_an_excess_is_its_spline() -> None:
    noise = noise_like(Student(d=3, moment_order=3.0), "huber")
    knots = np.linspace(-9, 9, 9217)
    s = np.sinh(knots)
    slopes = noise._huber_slope(s) * np.cosh(knots)
    spline = CubicHermiteSpline(knots, noise._huber_excess(s), slopes)
    places = np.random.default_rng(2).uniform(-9, 9, 40_000)
    expected = np.maximum(spline(places), 0.0)
    assert noise.huber_excess(np.sinh(places)) == pytest.approx(expected, rel=1e-11, abs=1e-14)


def test_a_steep_law_is_not_tabulated() -> None:
    noise = noise_like(Student(d=3, moment_order=2.0, margin=0.01), "median")
    s = np.linspace(-1, 1, 1001)
    assert np.array_equal(noise.absolute_excess(s), noise._absolute_excess(s))


@pytest.mark.parametrize("family", FAMILIES)
def test_curvatures_bound_the_second_derivative_and_halves_would_not(family: Any) -> None:
    features = family(d=2, moment_order=3.0)
    noise = noise_like(features, "huber")
    s = np.linspace(-6, 6, 24_001)
    law, zero = noise.univariate, noise.origin
    mass = law.cdf(zero + s + 1) - law.cdf(zero + s - 1)
    assert 0.5 * huber_curvature(noise) < mass.max() <= huber_curvature(noise) + 1e-12
    density = noise_like(features, "median").univariate.density(s)
    assert 0.5 * absolute_curvature(noise) < 2 * density.max() * (1 + 1e-3)
    assert 2 * density.max() <= absolute_curvature(noise) * (1 + 1e-12)


@dataclass(frozen=True, kw_only=True)
class Own(ScaledLaw):
    """A law of somebody's own: normal, which nobody here knows."""

    card = replace(Gaussian.card, slug="own")
    tail_index = math.inf

    def _log_moment(self, k: float) -> float:
        """Return the log of the k-th absolute moment of the normal law."""
        return log_normal_moment(k)

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill an array with normal numbers."""
        out[:] = self.scale * rng.standard_normal(out.shape)


class Altered(LogNormal):
    """A law that extends one of the library's and draws something else."""

    def _fill_centred(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill an array with zeros."""
        out[:] = 0.0


@pytest.mark.parametrize("law", [Own(d=2, moment_order=6.0), Altered(d=2, moment_order=6.0)])
@pytest.mark.parametrize("problem", [Huber, Absolute, GeometricMedian])
def test_a_law_whose_density_is_unknown_is_refused_in_one_sentence(
    problem: Any, law: ScaledLaw
) -> None:
    arguments: Any = {"features": law, "offset": 0.0}
    if problem is GeometricMedian:
        arguments = {"distribution": law}
    with pytest.raises(
        InvalidInput, match=r"^distribution must be one that gives the law of a coord"
    ):
        _ = problem(**arguments, radius=2.0).constants


def test_a_law_without_a_stated_coordinate_law_is_refused() -> None:
    unknown: Any = Own(d=1)
    with pytest.raises(InvalidInput, match="got distribution=own"):
        univariate_of(unknown)
