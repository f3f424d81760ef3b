"""The moments of the distributions, against quadrature of their densities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import (
    EllipticalT,
    Gaussian,
    LogNormal,
    Pareto,
    SkewedPareto,
    StudentT,
)
from dpsco_core.data.directions import (
    centred_direction_bound,
    log_normal_moment,
    normal_norm,
    symmetric_direction_bound,
)
from dpsco_core.data.student_t import log_student_moment
from dpsco_core.data.ziggurat import NormalShape, StudentShape, ziggurat
from tests.folded import each

ORDINARY = (StudentT, Pareto, SkewedPareto, LogNormal, Gaussian, EllipticalT)
POLYNOMIAL = (StudentT, Pareto, SkewedPareto, EllipticalT)
INDEPENDENT_SYMMETRIC = (StudentT, Pareto)
INDEPENDENT_SKEWED = (SkewedPareto, LogNormal)
ORDERS = (2.0, 2.5, 3.0, 7.3, 40.0)


def log_density(law: Any) -> tuple[Callable[[float], float], float]:
    """Return the log density of an unscaled coordinate, as textbooks give it, and the coordinate's
    mean.

    For the symmetric Pareto law the density is that of the absolute value, which has the same
    absolute moments.
    """
    index = law.tail_index
    if isinstance(law, StudentT | EllipticalT):
        at_zero = float(stats.t.logpdf(0.0, index))
        return lambda x: at_zero - 0.5 * (index + 1) * math.log1p(x * x / index), 0.0
    if isinstance(law, Pareto | SkewedPareto):
        mean = 0.0 if isinstance(law, Pareto) else float(stats.pareto.mean(index))
        return (
            lambda x: math.log(index) - (index + 1) * math.log(x) if x >= 1 else -math.inf
        ), mean
    at_zero = float(stats.norm.logpdf(0.0))
    if isinstance(law, Gaussian):
        return lambda x: at_zero - 0.5 * x * x, 0.0
    sigma = min(1.0, 2 / math.sqrt(law.moment_order))
    return (
        lambda x: (
            at_zero - math.log(sigma * x) - 0.5 * (math.log(x) / sigma) ** 2 if x > 0 else -math.inf
        )
    ), math.exp(0.5 * sigma**2)


def raw_moment(law: Any, k: float) -> float:
    """Return the k-th central absolute moment of an unscaled coordinate, by quadrature."""
    density, centre = log_density(law)

    def in_logarithm(sign: float) -> Callable[[float], float]:
        """Return the integrand of one tail (`sign` 1 or -1), in the logarithm of the distance from
        the centre.
        """

        def integrand(y: float) -> float:
            """Return the density times the k-th power at distance exp(y)."""
            value = density(centre + sign * math.exp(y))
            return math.exp((k + 1) * y + value) if value > -math.inf else 0.0

        return integrand

    # Densities jump where a support ends, at 0 or 1, so panels of the quadrature end there too.
    ends = {math.log(abs(centre - end)) for end in (0.0, 1.0) if centre != end}
    panels = sorted({-60.0, -6.0, *ends, 1.0, 2.0, 3.0, 4.0, 8.0, 20.0, 60.0, 200.0})
    return math.fsum(
        quad(in_logarithm(sign), low, high, epsabs=0.0, epsrel=1e-11, limit=400)[0]
        for sign in (1.0, -1.0)
        for low, high in itertools.pairwise(panels)
        if max(in_logarithm(sign)(y) for y in np.linspace(low, high, 7)[1:-1].tolist()) > 0
    )


@each("p", ORDERS)
@each("kind", ORDINARY)
def test_moments_agree_with_quadrature_of_the_density(kind: Any, p: float) -> None:
    law = kind(moment_order=p, margin=0.5)
    raw_p = raw_moment(law, p)
    for k in (0.0, 0.7, 1.0, 2.0, 0.5 * p + 0.3, p, p + 0.2):
        expected = raw_moment(law, k) * raw_p ** (-k / p)
        assert law.moment(k) == pytest.approx(expected, rel=1e-9), k


@each("p", [*ORDERS, 2.0001, 100.0])
@each("margin", [0.01, 0.5, 30.0])
@each("kind", ORDINARY)
def test_the_moment_of_the_stated_order_is_one(kind: Any, p: float, margin: float) -> None:
    assert kind(moment_order=p, margin=margin).moment(p) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("kind", ORDINARY)
def test_the_scale_is_the_one_that_makes_the_stated_moment_one(kind: Any) -> None:
    law = kind(moment_order=3.3)
    assert raw_moment(law, 3.3) * law.scale**3.3 == pytest.approx(1.0, abs=1e-9)


def test_moments_agree_with_the_closed_forms_of_textbooks() -> None:
    # The law has 5 degrees of freedom, and a variance of 5/3 before it is scaled.
    student = StudentT(d=4, moment_order=2.0, margin=3.0, offset=1.0)
    assert student.scale**2 == pytest.approx(3 / 5, rel=1e-13)
    assert student.moment(4) == pytest.approx(9.0, rel=1e-13)  # The kurtosis is 3 + 6/(nu-4).
    assert Pareto(moment_order=4.0, margin=1.0).scale ** 4 == pytest.approx(1 / 5, rel=1e-13)
    # The variance is alpha/((alpha-1)^2 (alpha-2)).
    skewed = SkewedPareto(moment_order=2.0, margin=3.0)
    assert skewed.scale**-2 == pytest.approx(5 / (16 * 3), rel=1e-13)
    log_normal = LogNormal(moment_order=2.0)  # The log-normal law has sigma = 1.
    assert log_normal.scale**-2 == pytest.approx(math.e * (math.e - 1), rel=1e-12)
    excess = math.exp(4) + 2 * math.exp(3) + 3 * math.exp(2) - 3
    assert log_normal.moment(4) == pytest.approx(excess, rel=1e-11)
    assert Gaussian(moment_order=4.0).scale ** 4 == pytest.approx(1 / 3, rel=1e-13)


@pytest.mark.parametrize(("sigma", "k"), [(1.0, 6), (0.5, 10), (0.2, 8)])
def test_even_log_normal_moments_agree_with_the_binomial_formula(sigma: float, k: int) -> None:
    p = 4 / sigma**2
    law = LogNormal(moment_order=p)
    assert law.sigma == pytest.approx(sigma)
    # The reference is exact to the last digit of its terms, which cancel by less than six digits
    # here.
    raw = math.fsum(
        (-1) ** j * math.comb(k, j) * math.exp(0.5 * sigma**2 * ((k - j) ** 2 + j))
        for j in range(k + 1)
    )
    assert law.moment(k) * law.scale ** (-k) == pytest.approx(raw, rel=1e-9)


@pytest.mark.parametrize("kind", POLYNOMIAL)
def test_moments_are_infinite_from_the_tail_index_on(kind: Any) -> None:
    law = kind(moment_order=3.0, margin=0.5)
    assert law.tail_index == 3.5
    assert law.moment(3.5) == math.inf
    assert law.moment(9.0) == math.inf
    assert 10 < law.moment(3.5 - 1e-9) < math.inf


@pytest.mark.parametrize("kind", [LogNormal, Gaussian])
def test_all_moments_of_light_tails_exist(kind: Any) -> None:
    law = kind(moment_order=3.0, margin=0.5)
    assert law.tail_index == math.inf
    assert law.moment(25.0) < math.inf
    assert law.moment(math.inf) == math.inf
    assert law == kind(moment_order=3.0, margin=0.5)
    assert law.moment(2) == kind(moment_order=3.0, margin=7.0).moment(2)


@pytest.mark.parametrize("kind", ORDINARY)
@pytest.mark.parametrize("p", [2.0, 3.5, 100.0])
def test_roots_of_moments_increase_with_their_order(kind: Any, p: float) -> None:
    law = kind(moment_order=p)
    roots = [law.moment(k) ** (1 / k) for k in np.linspace(0.2, p + 0.4, 25)]
    assert (np.diff(roots) > 0).all()
    assert law.moment(0) == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("kind", ORDINARY)
@pytest.mark.parametrize("margin", [1e-9, 1e3, 1e6])
def test_extreme_margins_give_finite_scales(kind: Any, margin: float) -> None:
    law = kind(moment_order=2.0, margin=margin)
    assert 0 < law.scale < math.inf
    assert law.moment(2.0) == pytest.approx(1.0, abs=1e-9)
    assert 0 < law.moment(1.0) <= 1


@pytest.mark.parametrize("kind", ORDINARY)
def test_the_mean_has_the_norm_of_the_offset_and_equal_coordinates(kind: Any) -> None:
    law = kind(d=7, offset=2.5)
    assert law.mean.shape == (7,)
    assert np.ptp(law.mean) == 0
    assert np.linalg.norm(law.mean) == pytest.approx(2.5, rel=1e-15)
    assert not kind(d=7).mean.any()
    assert law.moment(2) == kind(d=7).moment(2)


@pytest.mark.parametrize("kind", ORDINARY)
def test_the_variance_trace_is_d_coordinate_variances(kind: Any) -> None:
    law = kind(d=7, moment_order=3.0)
    variance = raw_moment(law, 2) * raw_moment(law, 3) ** (-2 / 3)
    assert law.variance_trace == pytest.approx(7 * variance, rel=1e-9)
    assert kind(d=7, moment_order=2.0).variance_trace == pytest.approx(7.0, rel=1e-12)


@pytest.mark.parametrize("kind", [Gaussian, EllipticalT])
@pytest.mark.parametrize("p", ORDERS)
def test_rotation_invariant_laws_have_directional_moment_one(kind: Any, p: float) -> None:
    assert kind(d=30, moment_order=p).directional_moment == 1.0


@pytest.mark.parametrize("kind", ORDINARY)
def test_the_directional_moment_is_one_at_order_two_and_in_one_dimension(kind: Any) -> None:
    assert kind(d=30, moment_order=2.0).directional_moment == 1.0
    assert kind(d=1, moment_order=5.0).directional_moment == 1.0


@pytest.mark.parametrize("kind", INDEPENDENT_SYMMETRIC + INDEPENDENT_SKEWED)
def test_no_direction_exceeds_the_directional_moment_at_order_four(kind: Any) -> None:
    # For centred X_j, E(sum_j u_j X_j)^4 is exactly m4 sum u_j^4 + 3 m2^2 (1 - sum u_j^4).
    rng = np.random.default_rng(1)
    for d in (1, 2, 3, 10, 1000):
        law = kind(d=d, moment_order=4.0)
        for u in [np.ones(d), *rng.standard_normal((50, d)), *rng.standard_t(1.0, (50, d))]:
            fourths = float(np.sum((u / np.linalg.norm(u)) ** 4))
            exact = law.moment(4) * fourths + 3 * law.moment(2) ** 2 * (1 - fourths)
            assert exact**0.25 <= law.directional_moment * (1 + 1e-12)


def _largest_ratio(values: np.ndarray, weights: np.ndarray, p: float, bound: float) -> float:
    """Return the largest directional moment of order p over `bound`, for d = 6 independent
    coordinates of a finite law.
    """
    rng = np.random.default_rng(2)
    d = 6
    points = np.array(list(itertools.product(values, repeat=d)))
    mass = np.array([math.prod(w) for w in itertools.product(weights, repeat=d)])
    directions = np.vstack([np.ones(d), np.eye(d)[0], rng.standard_normal((40, d))])
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return float(((mass @ np.abs(points @ directions.T) ** p) ** (1 / p)).max()) / bound


@pytest.mark.parametrize("p", [2.0, 2.3, 3.0, 4.5, 10.0])
def test_no_symmetric_discrete_law_exceeds_the_symmetric_bound(p: float) -> None:
    ratios = []
    for mass in (0.02, 0.3, 0.9, 1.0):
        size = mass ** (-1 / p)
        values, weights = np.array([-size, 0.0, size]), np.array([mass / 2, 1 - mass, mass / 2])
        ratios.append(_largest_ratio(values, weights, p, symmetric_direction_bound(6, p)))
    assert max(ratios) <= 1 + 1e-12
    assert max(ratios) > 0.6


@pytest.mark.parametrize("p", [2.0, 2.3, 3.0, 4.5, 10.0])
def test_no_centred_two_point_law_exceeds_the_centred_bound(p: float) -> None:
    ratios = []
    for q in (1e-3, 0.02, 0.1, 0.3, 0.5):
        values, weights = np.array([1 - q, -q]), np.array([q, 1 - q])
        values /= (weights @ np.abs(values) ** p) ** (1 / p)
        ratios.append(_largest_ratio(values, weights, p, centred_direction_bound(6, p)))
    assert max(ratios) <= 1 + 1e-12
    assert max(ratios) > 0.5


@pytest.mark.parametrize("p", [2.5, 3.0, 6.0])
def test_the_symmetric_bound_is_attained_by_many_fair_signs(p: float) -> None:
    d = 4000
    heads = np.arange(d + 1)
    sums = np.abs(2 * heads - d) / math.sqrt(d)
    attained = float(stats.binom.pmf(heads, d, 0.5) @ sums**p) ** (1 / p)
    assert 0.999 < attained / symmetric_direction_bound(d, p) <= 1


@pytest.mark.parametrize("p", [2.0, 2.5, 3.0, 10.0, 100.0])
def test_centred_bound_lies_between_the_symmetric_one_and_symmetrisation(p: float) -> None:
    d = 10**6
    assert symmetric_direction_bound(d, p) <= centred_direction_bound(d, p) * (1 + 1e-15)
    assert centred_direction_bound(d, p) < 2 * normal_norm(p)


@pytest.mark.parametrize("kind", ORDINARY)
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"d": 0}, "d must be an integer of at least 1, got d=0."),
        ({"d": 2.0}, "d must be an integer of at least 1, got d=2.0."),
        ({"moment_order": 1.0}, "p must be a finite number above 1, got p=1.0."),
        ({"moment_order": math.inf}, "p must be a finite number above 1, got p=inf."),
        ({"moment_order": math.nan}, "p must be a finite number above 1, got p=nan."),
        ({"margin": 0.0}, "margin must be finite and above 0, got margin=0.0."),
        ({"margin": math.nan}, "margin must be finite and above 0, got margin=nan."),
        ({"offset": -1.0}, "offset must be finite and at least 0, got offset=-1.0."),
        ({"offset": math.inf}, "offset must be finite and at least 0, got offset=inf."),
    ],
)
def test_a_value_out_of_range_is_named(
    kind: Any, arguments: dict[str, float], sentence: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        kind(**arguments)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("kind", ORDINARY)
def test_a_margin_that_rounding_loses_is_named_by_laws_that_have_one(kind: Any) -> None:
    if not kind.has_margin:
        assert kind(margin=1e-17).scale == kind().scale
        return
    with pytest.raises(InvalidInput, match=r"margin must be large enough .* got margin=1e-17\."):
        kind(margin=1e-17)


@pytest.mark.parametrize("kind", ORDINARY)
@pytest.mark.parametrize("k", [-0.1, math.nan])
def test_a_moment_of_negative_order_is_refused(kind: Any, k: float) -> None:
    with pytest.raises(InvalidInput, match=r"^k must be a number of at least 0, got k="):
        kind().moment(k)


@pytest.mark.parametrize("nu", [1e4, 1e8, 1e12, 1e16])
def test_student_with_many_degrees_is_normal_to_the_last_digits(nu: float) -> None:
    assert log_student_moment(nu, 0.0) == 0
    for k in (1.0, 2.0, 3.5):
        difference = log_student_moment(nu, k) - log_normal_moment(k)
        assert difference == pytest.approx(k * (k + 2) / (4 * nu), rel=0.01, abs=1e-12)
    edges = [ziggurat(shape).edge for shape in (StudentShape(nu), NormalShape())]
    assert edges[0] == pytest.approx(edges[1], rel=20 / nu + 1e-12)
