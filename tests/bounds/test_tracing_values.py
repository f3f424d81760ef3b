"""The bounds of theory/approx-lower-bounds.md, 3 to 6: tables, plain formulas and quadrature."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar
from scipy.special import logsumexp
from scipy.stats import beta, binom

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.instances import assouad, hypercube, rate_distortion, tracing
from dpsco_core.bounds.instances.leakage import (
    CONCENTRATED,
    Leakage,
    approximate_leakage,
    concentrated_leakage,
    moment_factor,
)
from dpsco_core.bounds.instances.tracing import (
    TracingBounds,
    largest_tracing_probability,
    tracing_shape,
)
from tests.folded import crossed, each

# Each row has n, d, k, epsilon, delta, q and u, the values T1 and T2, T3 at q/4, and the pairs of
# Lemma A.
APPROX = (
    (
        (10_000, 200, 4, 1, 1e-6, 0.01, 6),
        "0.0663648 0.00444390 0.0313728",
    ),
    (
        (10_000, 20, 2, 1, 1e-6, 0.001, 2),
        "0.0408256 0.00191704 0.0271408",
    ),
    (
        (10_000, 2, 2, 1, 1e-6, 0.0004, 8),
        "0.00352560 4.35943e-5 0.00215621",
    ),
    (
        (50_000, 10, 3, 0.5, 1e-8, 0.0007, 4),
        "0.00424102 2.29355e-5 0.00227458",
    ),
    (
        (2000, 30, 2.2, 2, 1e-5, 0.003, 2.4),
        "0.0615793 0.00412772 0.0380438",
    ),
    (
        (1000, 500, 3, 4, 1e-5, 0.025, 4),
        "0.384500 0.148215 0.201683",
    ),
)
# Each row has n, d, k, rho, q, u and q', the values T1 and T2, T3 at q/4, then rate distortion and
# its square at q'.
ZCDP = (
    (
        (10_000, 200, 4, 0.5, 0.008, 6, 0.00133333),
        "0.0537584 0.00288996 0.0236267 0.0354188 0.00285371",
    ),
    (
        (2000, 30, 2.2, 0.2, 0.01, 2.4, 0.00166667),
        "0.121867 0.0148515 0.0727643 0.141051 0.0229455",
    ),
    (
        (50_000, 10, 3, 1, 0.00016, 4, 2.66667e-5),
        "0.00152619 2.97775e-6 0.000819457 0.00173939 4.94589e-6",
    ),
    (
        (10_000, 20, 2, 0.028014, 0.004, 2, 0.001),
        "0.0882388 0.00778609 0.0564927 0.104517 0.0142954",
    ),
    (
        (100_000, 100, 8, 0.1, 0.004, 14, 0.0002),
        "0.00544858 2.96870e-5 0.00142479 0.00232465 1.09770e-5",
    ),
    (
        (500, 10, 4, 0.3, 0.04, 6, 0.00666667),
        "0.0430802 0.00185591 0.0184798 0.0330102 0.00245132",
    ),
)


def array_of(x: float) -> np.ndarray:
    """Return an array that holds one number."""
    return np.array([x], dtype=np.float64)


def three_values(bounds: TracingBounds, q: float, u: float) -> list[float]:
    """Return the tracing bounds T1 and T2 at spike probability q, and T3 at q/4, all at shape u."""
    linear = float(bounds.linear_at(array_of(q / 4), array_of(u))[0])
    return [
        float(bounds.l2_at(array_of(q), array_of(u))[0]),
        float(bounds.squared_at(array_of(q), array_of(u))[0]),
        linear,
    ]


def check_six_digits(values: list[float], printed: str) -> None:
    """Assert six significant digits, of which the last may be rounded."""
    for value, text in zip(values, printed.split(), strict=True):
        assert float(f"{value:.6g}") == pytest.approx(float(text), rel=1.01e-6), (value, text)


@pytest.mark.parametrize(("point", "printed"), APPROX)
def test_the_table_for_approximate_privacy_is_reproduced_to_six_digits(point, printed):
    n, d, k, epsilon, delta, q, u = point
    leakage = approximate_leakage(epsilon, delta, d)
    leakage = replace(leakage, pairs=leakage.pairs[:2])
    check_six_digits(
        three_values(TracingBounds(n=n, d=d, moment_order=k, leakage=leakage), q, u), printed
    )


@pytest.mark.parametrize(("point", "printed"), ZCDP)
def test_the_table_for_concentrated_privacy_is_reproduced_to_six_digits(point, printed):
    n, d, k, rho, q, u, best_q = point
    values = three_values(
        TracingBounds(n=n, d=d, moment_order=k, leakage=concentrated_leakage(rho)), q, u
    )
    values.append(rate_distortion.distortion(best_q, n, d, k, rho))
    values.append(rate_distortion.distortion(best_q, n, d, k, rho, squared=True))
    check_six_digits(values, printed)


@pytest.mark.parametrize(
    ("at", "l2", "squared", "best_l2", "own_squared"),
    [
        ((10_000, 200, 4, 0.5), 0.0495, 0.003350, 0.0538, 0.002890),
        ((2000, 30, 2.2, 0.2), 0.1461, 0.02885, 0.1221, 0.01491),
        ((50_000, 10, 3, 1.0), 0.001740, 6.093e-6, 0.001541, 2.991e-6),
        ((10_000, 20, 2, 0.028014), 0.1050, 0.01462, 0.0885, 0.00783),
        ((100_000, 100, 8, 0.1), 0.00292, 1.197e-5, 0.00545, 2.970e-5),
        ((100_000, 500, 20, 0.05), 0.0103, 1.463e-4, 0.0269, 7.215e-4),
    ],
)
def test_the_best_values_for_concentrated_privacy_are_the_printed_ones(
    at, l2, squared, best_l2, own_squared
):
    n, d, k, rho = at
    p = rate_distortion.best(n, d, k, rho, 1.0)
    assert rate_distortion.distortion(p, n, d, k, rho) == pytest.approx(l2, rel=2e-3)
    p = rate_distortion.best(n, d, k, rho, 1.0, squared=True)
    bound_value = rate_distortion.distortion(p, n, d, k, rho, squared=True)
    assert bound_value == pytest.approx(squared, rel=6e-4)
    at = TracingBounds(n=n, d=d, moment_order=k, leakage=concentrated_leakage(rho))
    largest = largest_tracing_probability(d, k, math.inf, CONCENTRATED)
    q, u = at.best_l2(largest)
    assert float(at.l2_at(array_of(q), array_of(u))[0]) == pytest.approx(best_l2, rel=2e-3)
    q, u = at.best_squared(largest)
    assert float(at.squared_at(array_of(q), array_of(u))[0]) == pytest.approx(own_squared, rel=6e-4)


def test_the_bounds_of_the_default_scenario_have_their_recorded_values():
    bounds = TracingBounds(n=10_000, d=20, moment_order=2, leakage=approximate_leakage(1, 1e-6, 20))
    assert float(bounds.l2_at(*map(array_of, bounds.best_l2(1.0)))[0]) == pytest.approx(
        0.0472743, rel=1e-5
    )
    for delta in (1e-12, 0.0):  # The bound has no jump at delta = 0.
        bounds = TracingBounds(
            n=10_000, d=20, moment_order=2, leakage=approximate_leakage(1, delta, 20)
        )
        bound_l2 = float(bounds.l2_at(*map(array_of, bounds.best_l2(1.0)))[0])
        assert bound_l2 == pytest.approx(0.0472760, rel=1e-5)
    p = assouad.best("l2", 1000, 2, 1.0, 1e-6, 1.0)
    pure = hypercube.best_pure(1000, 1, 2, 1.0, 1.0)
    bound_l2 = assouad.assouad("l2", p, 1000, 1, 2, 1.0, 1e-6)
    assert hypercube.hypercube_pure(pure, 1000, 1, 2, 1.0) == pytest.approx(0.0194784, rel=1e-5)
    # The group curve gives 6 % more than the bound without it.
    assert bound_l2 == pytest.approx(0.0206649, rel=1e-5)


def plain_pairs(epsilon: float, delta: float, r: float, d: int) -> list[tuple[float, float]]:
    """Return the pairs (c, m delta zeta) of Lemmas A and A', by numerical search for the maximum M
    and the expectile.
    """
    minimum = minimize_scalar(
        lambda t: -((r * r - t * t) ** 2) / (1 - t),
        bounds=(0, r),
        method="bounded",
        options={"xatol": 1e-12},
    )
    m = math.sqrt(-minimum.fun)
    zeta = 2 * (1 - math.sqrt(1 - r * r))
    pair_term = (math.exp(epsilon) - 1) / math.sqrt(2 * (math.exp(epsilon) + 1)) * m
    square_term = math.sqrt(2 * max(0.5, epsilon)) * r * r
    c = max(plain_expectile(epsilon), math.sqrt(delta * d))
    sharp = (r * r * c, r * r * delta * math.sqrt(d) / c)
    return [(pair_term, 2 * delta * zeta), (square_term, delta * zeta), sharp]


def plain_expectile(epsilon: float) -> float:
    """Return the least t with (e^epsilon - 1) E(Z - t)_+ <= t, by the smaller of two bounds on the
    mean excess.
    """

    def excess(t: float) -> float:
        """Return the left side less the right side of the expectile's equation at t."""
        exponential = minimize_scalar(
            lambda x: x * x / 2 - x * t - 1 - math.log(x), bounds=(1e-3, 30), method="bounded"
        )
        smallest = min(math.exp(exponential.fun), (math.sqrt(1 + t * t) - t) / 2)
        return math.expm1(epsilon) * smallest - t

    return float(brentq(excess, 1e-9, 40))


def plain_gain(d: int, u: float, r: float) -> float:
    """Return the gain of tracing with shape u and spread r, by its formula."""
    excess = d * u / (1 + u) - 1
    if excess <= 0:
        return 0.0
    variance = 2 * d * u / ((1 + u) ** 2 * (u + 3))
    return r * r * excess * max(0.0, 1 - variance / (2 * excess**2)) ** 2


def plain_l2(n, d, k, kappa, r, q, u):
    """Return the tracing bound T1 on the mean error, where x is the positive root of u x^2 + b x =
    G.
    """
    gain = plain_gain(d, u, r)
    if gain == 0:
        return 0.0
    b = n * q * kappa
    root = (-b + math.sqrt(b * b + 4 * u * gain)) / (2 * u)
    return q ** (1 - 1 / k) * root


def plain_squared(n, d, k, pairs, kappa, r, q, u):
    """Return the tracing bound on the squared error, the maximum over pairs of constants."""
    total = d * r * r / (1 + u)
    best = plain_l2(n, d, k, kappa, r, q, u) ** 2
    for c, e in pairs:
        h = 2 * e * r * d
        c = max(c, h / math.sqrt(total))
        left = u * total - n * q * h
        if left > 0:
            b = n * q * c
            root = (-b + math.sqrt(b * b + 4 * u * left)) / (2 * u)
            best = max(best, (q ** (1 - 1 / k) * root) ** 2)
    return best


def plain_linear(n, d, k, pairs, kappa, r, q, u):
    """Return the tracing bound on a linear risk, the best of all its arguments, with pairs (c, e)
    of constants.
    """
    size = math.sqrt(d * r * r / (1 + u))
    candidates = [n * q * kappa / (u * size)]
    for c, e in pairs:
        x = n * q * c / (u * size)
        slack = n * q * e * math.sqrt(d) * (1 + math.sqrt(1 + u)) / (u * size)
        candidates.append(slack + math.sin(math.atan(x)))
    if plain_gain(d, u, r) > 0:
        distance = plain_l2(n, d, k, kappa, r, q, u) / (q ** (1 - 1 / k) * size)
        candidates.append(math.sqrt(1 - distance**2))
    smallest = min(candidates)
    return q ** (1 - 1 / k) * size * max(0.0, 1 - u / (d * (u + 3)) - smallest)


def random_points(count: int, seed: int):
    """Yield random sizes, orders, budgets, spike probabilities and shapes."""
    source = random.Random(seed)
    for _ in range(count):
        yield (
            int(10 ** source.uniform(0, 5)),
            source.choice([1, 2, 3, 9, 40, 500]),
            source.uniform(2, 12),
            10 ** source.uniform(-2, 1),
            source.choice([0.0, 1e-8, 1e-4, 0.05]),
            10 ** source.uniform(-4, 0),
            10 ** source.uniform(-0.8, 2),
        )


@pytest.mark.parametrize("point", list(random_points(60, 1)))
def test_tracing_bounds_agree_with_plain_formulas(point):
    n, d, k, level, delta, q, u = point
    for r in (1.0, CONCENTRATED):
        pairs = plain_pairs(level, delta, r, d)
        kappa = min(c + e * math.sqrt(d) for c, e in pairs)
        bounds = TracingBounds(
            n=n, d=d, moment_order=k, leakage=approximate_leakage(level, delta, d, r)
        )
        expected = (
            plain_l2(n, d, k, kappa, r, q, u),
            plain_squared(n, d, k, pairs, kappa, r, q, u),
            plain_linear(n, d, k, pairs, kappa, r, q / 4, u),
        )
        np.testing.assert_allclose(three_values(bounds, q, u), expected, rtol=1e-6, atol=1e-12)
    r = CONCENTRATED
    k_of = brentq(lambda x: x - 1 - math.log(x) - 1.5 * level, 1 + 1e-12, 1e3 + 20 * level)
    pairs = [(math.sqrt(2 * level) * r * r, 0.0)]
    kappa = min(pairs[0][0], math.sqrt(16 / 27 * level * k_of))
    bounds = TracingBounds(n=n, d=d, moment_order=k, leakage=concentrated_leakage(level))
    expected = (
        plain_l2(n, d, k, kappa, r, q, u),
        plain_squared(n, d, k, pairs, kappa, r, q, u),
        plain_linear(n, d, k, pairs, kappa, r, q / 4, u),
    )
    np.testing.assert_allclose(three_values(bounds, q, u), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("point", list(random_points(25, 2)))
def test_the_best_probability_and_shape_beat_a_fine_grid(point):
    n, d, k, level, delta, _, _ = point
    for leakage in (approximate_leakage(level, delta, d), concentrated_leakage(level)):
        bounds = TracingBounds(n=n, d=d, moment_order=k, leakage=leakage)
        for largest in (largest_tracing_probability(d, k, math.inf), 1e-3):
            q, u = np.meshgrid(np.geomspace(largest * 1e-8, largest, 400), tracing.SHAPES[::2])
            for form in ("l2", "squared", "linear"):
                best_q, best_u = getattr(bounds, f"best_{form}")(largest)
                assert 0 < best_q <= largest
                value = float(getattr(bounds, f"{form}_at")(array_of(best_q), array_of(best_u))[0])
                grid = float(getattr(bounds, f"{form}_at")(q, u).max())
                assert value >= grid * (1 - 1e-9)


@pytest.mark.parametrize("d", [2, 3, 10, 200])
@pytest.mark.parametrize("k", [2.0, 3.0, 8.0])
def test_the_shape_of_the_data_is_the_best_one_without_a_cap(d, k):
    bounds = TracingBounds(n=10**6, d=d, moment_order=k, leakage=approximate_leakage(1, 0, d))
    best_shape = tracing_shape(d, k)
    fine = np.geomspace(best_shape / 30, best_shape * 30, 4001)
    q, u = bounds.best_l2(1.0, fine)
    assert u == pytest.approx(best_shape, rel=0.02)
    best = float(bounds.l2_at(array_of(q), array_of(u))[0])
    q, u = bounds.best_l2(1.0, array_of(best_shape))
    assert float(bounds.l2_at(array_of(q), array_of(u))[0]) == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("u", [0.7, 2.0, 9.0])
@pytest.mark.parametrize("r", [0.5, 1.0])
def test_the_moments_of_the_prior_are_those_of_the_beta_law(u, r):
    law = beta(u / 2, u / 2, loc=-r, scale=2 * r)
    d = 7

    def mean(f):
        """Return the mean of f under the beta law."""
        return law.expect(f)

    weight, square = mean(lambda x: r * r - x * x), mean(lambda x: (r * r - x * x) ** 2)
    assert d * weight == pytest.approx(r * r * d * u / (1 + u), rel=1e-6)
    variance = d * (square - weight**2) / r**4
    assert variance == pytest.approx(2 * d * u / ((1 + u) ** 2 * (u + 3)), rel=1e-5)
    assert d * mean(lambda x: x * x) == pytest.approx(d * r * r / (1 + u), rel=1e-6)
    fourth_moment = d * mean(lambda x: x**4) + d * (d - 1) * mean(lambda x: x * x) ** 2
    size = math.sqrt(d * r * r / (1 + u))
    # The inequality E sqrt(X) >= sqrt(m) (3/2 - E X^2 / (2 m^2)) gives the factor of T3.
    assert 1.5 - fourth_moment / size**4 / 2 == pytest.approx(1 - u / (d * (u + 3)), rel=1e-5)


@pytest.mark.parametrize("r", [0.4, CONCENTRATED, 1.0])
def test_the_anti_copy_has_its_stated_deviation_and_range(r):
    t = np.linspace(0, r * (1 - 1e-9), 200_001)
    deviation = math.sqrt(float(((r * r - t * t) ** 2 / (1 - t)).max()))
    reach = float(((r * r - t * t) / (1 - t)).max())
    (c, e), (_, fresh), _ = approximate_leakage(1.0, 0.5, 7, r).pairs
    growth = math.e - 1
    assert c == pytest.approx(growth / math.sqrt(2 * (growth + 2)) * deviation, rel=1e-7)
    assert e == pytest.approx(2 * 0.5 * reach, rel=1e-7)
    assert fresh == pytest.approx(0.5 * reach, rel=1e-7)


def test_the_spread_under_zcdp_is_where_its_proxy_equals_that_of_full_spread():
    zeta = 2 * (1 - math.sqrt(1 - CONCENTRATED**2))
    assert zeta**2 / 3 == pytest.approx(32 / 27, rel=1e-12)
    assert pytest.approx(0.9983632577, rel=1e-9) == CONCENTRATED


@pytest.mark.parametrize("x", [1e-12, 1e-3, 0.1, 4.0, 1e3])
def test_the_moment_factor_solves_its_equation(x):
    k = moment_factor(x)
    assert k - 1 - math.log(k) == pytest.approx(2 * x, rel=1e-6, abs=1e-15)
    if x < 100:
        # The expected factor is the minimum over tau of (2 x - ln(1 - tau)) / tau.
        minimum = minimize_scalar(
            lambda tau: (2 * x - math.log1p(-tau)) / tau, bounds=(1e-9, 1 - 1e-12), method="bounded"
        )
        assert k <= minimum.fun * (1 + 1e-9)
        assert k == pytest.approx(minimum.fun, rel=1e-4)


@cache
def largest_means() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return nodes in ln lambda, the lambdas, and at each the logarithm of the largest mean over
    2,001 points.
    """
    logs = np.linspace(math.log(1e-9), math.log(1e6), 20_001)
    size = np.exp(logs)
    y = np.linspace(0, 1, 2001)
    means = np.array(
        [float((-x * (1 + y * y) + np.logaddexp(2 * x * y, -2 * x * y)).max()) for x in size]
    )
    return logs, size, np.where(size <= 0.5, -size, means - math.log(2))


@cache
def plain_mixture(d: int, s: float) -> float:
    """Return Lambda(s), the logarithm of the mixture over lambda, by a trapezoid rule over 20,000
    nodes from 1e-9 to 1e6.
    """
    logs, size, means = largest_means()
    terms = d * means - logs / 2 - s * s / (4 * size) + math.log(s / (2 * math.sqrt(math.pi)))
    integral = float(logsumexp(terms)) + math.log(logs[1] - logs[0])
    return float(np.logaddexp(integral, -d * math.log(2) + math.log(math.erf(s / 2000))))


@pytest.mark.parametrize("d", [1, 4, 30])
def test_the_lines_of_the_distance_are_those_of_the_integral(d):
    lines = math.sqrt(d) * np.geomspace(2e-3, 60, 240)
    chosen = [40, 100, 140, 180, 220]
    envelope = rate_distortion.l2_envelope(d)
    for i in chosen:
        s = float(lines[i])
        mixture = plain_mixture(d, s)
        points = np.linspace(0, d * math.log(2), 50)
        assert (envelope.value_at(points) >= (-points - mixture) / s * (1 - 1e-6) - 1e-6).all()
        index = int(np.argmin(np.abs(envelope.slopes + 1 / s)))
        if envelope.slopes[index] == pytest.approx(-1 / s, rel=1e-12):
            assert envelope.heights[index] == pytest.approx(-mixture / s, rel=2e-5)


def test_an_envelope_is_the_maximum_of_its_lines():
    rng = np.random.default_rng(3)
    slopes = np.sort(rng.uniform(-3, -0.1, 40))
    heights = rng.uniform(0, 2, 40)
    lines = rate_distortion.envelope(heights, slopes)
    x = np.linspace(0, 5, 1001)
    expected = np.maximum(0, (heights[:, None] + slopes[:, None] * x).max(axis=0))
    np.testing.assert_allclose(lines.value_at(x), expected, rtol=1e-12, atol=1e-12)
    assert all(a < b for a, b in pairwise(lines.breaks))


@pytest.mark.parametrize("size", [0.1, 0.5, 0.50001, 0.6, 1.0, 5.0, 300.0])
def test_the_largest_mean_is_the_maximum_over_points(size):
    y = np.linspace(0, 1.2, 400_001)
    expected = float((-size * (1 + y * y) + np.logaddexp(2 * size * y, -2 * size * y)).max())
    log_mean = float(rate_distortion.log_largest_mean(array_of(math.log(size)))[0])
    assert log_mean == pytest.approx(expected - math.log(2), rel=1e-8)


def test_distances_without_information_are_those_of_the_best_constant():
    for d in (1, 2, 50, 10**6):
        assert float(rate_distortion.l2_envelope(d).value_at(array_of(0.0))[0]) <= math.sqrt(d) * (
            1 + 1e-9
        )
        assert (
            float(rate_distortion.l2_envelope(d).value_at(array_of(d * math.log(2)))[0])
            < 0.01 * d**0.5
        )
    assert float(rate_distortion.squared_envelope().value_at(array_of(0.0))[0]) == pytest.approx(
        1, rel=1e-9
    )


def compose_curves(outer, inner):
    """Return the corners of one increasing concave piecewise linear curve applied after another; a
    curve is (x, y).
    """
    (u, v), (x, y) = outer, inner
    places = {float(t) for t in x}
    for level in u:
        if y[0] < level < y[-1]:
            k = int(np.searchsorted(y, level))
            places.add(float(x[k - 1] + (level - y[k - 1]) / (y[k] - y[k - 1]) * (x[k] - x[k - 1])))
    xs = np.array(sorted(places))
    return xs, np.interp(np.interp(xs, x, y), u, v)


@cache
def shares_after_changes(epsilon: float, delta: float, largest: int):
    """Return lists of the mass in common and of the harmonic overlap after 0, 1, ... changed
    records, by composing the curve.
    """
    a = math.exp(epsilon)
    corner = (1 - delta) / (1 + a)
    # One change has the curve min(1, a x + delta, 1 - (1 - delta - x)/a) on [0, 1].
    curve_of_one = (
        np.array([0.0, corner, 1 - delta, 1.0]),
        np.array([delta, 1 - corner, 1.0, 1.0]),
    )
    if delta == 0:
        curve_of_one = (curve_of_one[0][[0, 1, 3]], curve_of_one[1][[0, 1, 3]])
    curve = (np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    values = []
    for _ in range(largest + 1):
        x, y = curve
        p, q = np.diff(y), np.diff(x)
        masses = np.where(p + q > 0, p + q, 1.0)
        values.append((float(np.min(1 - y + x)), float(np.sum(2 * p * q / masses))))
        curve = compose_curves(curve_of_one, curve)
    return values


def plain_assouad(form, q, n, d, k, epsilon, delta):
    """Return Assouad's bound at spike probability q as a sum over every count from 0 to n, with
    scipy's binomial law.
    """
    total = 0.0
    for b, (common, tau) in enumerate(shares_after_changes(epsilon, delta, n)):
        part = {"l2": common, "squared": tau, "linear": 1 - math.sqrt(max(0.0, 1 - tau))}[form]
        total += float(binom.pmf(b, n, q)) * part
    theta = q ** (1 - 1 / k)
    return total * (d * theta**2 if form == "squared" else math.sqrt(d) * theta)


@pytest.mark.parametrize(
    ("form", "delta", "epsilon"),
    crossed(3, ["l2", "squared", "linear"], [0.0, 1e-6, 0.02, 0.7], [0.03, 1.0, 5.0]),
)
def test_assouads_bound_agrees_with_plain_loops_and_its_best_probability_beats_a_grid(
    form, delta, epsilon
):
    bound = partial(assouad.assouad, form)
    for n, d, k, q in ((1, 1, 2, 0.3), (40, 3, 2.5, 0.05), (120, 20, 6, 0.02)):
        expected = plain_assouad(form, q, n, d, k, epsilon, delta)
        assert bound(q, n, d, k, epsilon, delta) == pytest.approx(expected, rel=1e-8, abs=1e-14)
        best = assouad.best(form, n, k, epsilon, delta, 0.9)
        value = bound(best, n, d, k, epsilon, delta)
        grid = [bound(float(x), n, d, k, epsilon, delta) for x in np.geomspace(1e-4, 0.9, 120)]
        assert value >= max(grid) * (1 - 1e-6)


def test_the_concentrated_bounds_are_expectations_over_the_number_of_spikes():
    q, n, d, k, rho = 0.02, 150, 4, 2.5, 0.3
    law = binom.pmf(np.arange(n + 1), n, q)
    lines = rate_distortion.l2_envelope(d)
    distance = sum(p * float(lines.value_at(array_of(rho * b * b))[0]) for b, p in enumerate(law))
    bound_value = rate_distortion.distortion(q, n, d, k, rho)
    assert bound_value == pytest.approx(q ** (1 - 1 / k) * distance, rel=1e-9)

    def square(b):
        """Return the largest proven squared distance with b spikes."""

        def negative(log_size):
            """Return minus the bound by the tangent of slope exp(log_size)."""
            mean = float(rate_distortion.log_largest_mean(array_of(log_size))[0])
            return -(-rho * b * b - d * mean) / math.exp(log_size)

        inner = minimize_scalar(negative, bounds=(math.log(0.5), 9), method="bounded")
        return max(0.0, d - 2 * rho * b * b, -inner.fun)

    squares = sum(p * square(b) for b, p in enumerate(law) if p > 1e-13)
    bound_value = rate_distortion.distortion(q, n, d, k, rho, squared=True)
    assert bound_value == pytest.approx(q ** (2 - 2 / k) * squares, rel=1e-5)


@pytest.mark.parametrize("k", [2.0, 2.5, 3.0, 3.2, 4.0, 7.0, 50.0])
def test_the_cap_keeps_central_moments_within_one_and_is_the_largest(k):
    def moment(q, t):
        """Return the central moment of order k of a spike with bias t and probability q, divided by
        q.
        """
        y = q * t
        centred = q * ((1 + t) / 2 * (1 - y) ** k + (1 - t) / 2 * (1 + y) ** k)
        return ((1 - q) * y**k + centred) / q

    cap = largest_tracing_probability(10, k, math.inf)
    t = np.linspace(0, 1, 2001)
    for q in np.geomspace(1e-4, cap, 60):
        assert moment(q, t).max() <= 1 + 1e-9
    if k == 4:
        assert cap == pytest.approx(0.6)
        assert moment(1.0, t).max() == pytest.approx(4 / 3, rel=1e-6)


def test_the_cap_keeps_every_mean_within_the_bound():
    for spread in (1.0, CONCENTRATED):
        q = largest_tracing_probability(25, 3, 0.4, spread)
        assert q ** (2 / 3) * spread * 5 == pytest.approx(0.4)
    assert largest_tracing_probability(25, 3, 0.0) == 0


@each("n", [1, 1000, 10**9])
@each("d", [1, 2, 10**6])
@each("k", [2, 50])
@each("level", [1e-9, 1.0, 700.0])
@each("delta", [0.0, 1e-6, 0.999])
def test_the_edges_of_the_range_give_finite_values_without_warnings(n, d, k, level, delta):
    longest = math.sqrt(d)
    for leakage in (approximate_leakage(level, delta, d), concentrated_leakage(level)):
        bounds = TracingBounds(n=n, d=d, moment_order=k, leakage=leakage)
        for form, largest in (("l2", longest), ("squared", d), ("linear", longest)):
            q, u = getattr(bounds, f"best_{form}")(largest_tracing_probability(d, k, 3.0))
            value = float(getattr(bounds, f"{form}_at")(array_of(q), array_of(u))[0])
            assert 0 <= value <= min(largest, 9.0) * (1 + 1e-9)
    for form, largest in (("l2", longest), ("squared", d), ("linear", longest)):
        best = assouad.best(form, n, k, level, delta, 1.0)
        value = assouad.assouad(form, best, n, d, k, level, delta)
        assert 0 <= value <= largest * (1 + 1e-9)
    for squared, largest in ((False, longest), (True, d)):
        best = rate_distortion.best(n, d, k, level, 1.0, squared)
        value = rate_distortion.distortion(best, n, d, k, level, squared=squared)
        assert 0 <= value <= largest * (1 + 1e-9)


def test_assouads_bound_tends_to_the_bound_without_privacy():
    best = assouad.best("l2", 50, 2, 700.0, 0.0, 1.0)
    expected = max(x**0.5 * (1 - x) ** 50 for x in np.geomspace(1e-4, 1, 4001))
    assert assouad.assouad("l2", best, 50, 1, 2, 700.0, 0.0) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: approximate_leakage(0.0, 1e-6, 5), "epsilon must be positive"),
        (lambda: approximate_leakage(1.0, 1.0, 5), "delta must be at least 0 and below 1"),
        (lambda: concentrated_leakage(0.0), "rho must be positive"),
        (
            lambda: TracingBounds(n=0, d=1, moment_order=2, leakage=Leakage(spread=1, pairs=())),
            "n must be a positive integer",
        ),
        (lambda: assouad.assouad("l2", 0.1, 0, 1, 2, 1.0, 0.0), "n must be a positive integer"),
        (lambda: rate_distortion.distortion(2, 5, 1, 2, 1.0), "p must be between 0 and 1"),
    ],
)
def test_values_out_of_range_are_named(call, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        call()


def test_the_mixture_is_levys_law():
    # The function exp(-s sqrt(z)) is the mean of exp(-lambda z), which implies the bound on the
    # first moment.
    for s, z in ((0.7, 2.0), (3.0, 0.5)):
        value, _ = quad(
            lambda x, s=s, z=z: (
                s / (2 * math.sqrt(math.pi)) * x**-1.5 * math.exp(-s * s / (4 * x) - x * z)
            ),
            0,
            math.inf,
        )
        assert value == pytest.approx(math.exp(-s * math.sqrt(z)), rel=1e-7)


@pytest.mark.parametrize("d", [1, 50, 10**5])
def test_sums_in_large_dimension_omit_only_terms_below_double_precision(d):
    nodes = np.linspace(math.log(0.5), math.log(40.0), 16_000)
    common = d * rate_distortion.log_largest_mean(nodes) - nodes / 2
    inverse, squares = np.exp(-nodes) / 4, d * np.geomspace(2e-3, 60, 40) ** 2
    sums = rate_distortion._log_sums(common, inverse, squares)
    expected = [float(logsumexp(common - square * inverse)) for square in squares]
    np.testing.assert_allclose(sums, expected, rtol=1e-13, atol=1e-12)
