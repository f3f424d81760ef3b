"""Gaussian widths against closed forms, mpmath and Monte Carlo.

Each statistical test has a false-alarm rate of 1e-6 for a random seed; its seed is fixed. Faults
that these tests would catch: a tail left out of an integral, an absolute value too many, a bound
that is below the width.
"""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from dpsco_core.base.errors import InvalidInput
from dpsco_core.geometry import (
    Ball,
    Box,
    ConstraintSet,
    GroupBall,
    L1Ball,
    LqBall,
    Simplex,
    SolidSimplex,
    SparseHull,
    Width,
    lq_norm,
    sparse_width_bound,
    width_sample,
)
from dpsco_core.geometry.width import chi_mean, largest_absolute_mean, lq_norm_mean
from tests.geometry.sets import NAMES, SYMMETRIC, all_sets

DRAWS = 3000
# This is the normal quantile of a two-sided test at a false-alarm rate of 1e-6.
Z = 4.9
DIRECTIONS: NDArray[np.float64] = np.random.default_rng(20).standard_normal((DRAWS, 12))
SETS = all_sets()


@pytest.mark.parametrize("name", NAMES)
def test_a_width_agrees_with_monte_carlo(name: str) -> None:
    constraint = SETS[name]
    width, sample = constraint.gaussian_width(), width_sample(constraint, DIRECTIONS)
    error = Z * sample.standard_error
    assert width.lower - error <= sample.mean <= width.upper + error
    if width.exact:
        assert width.value == width.lower == width.upper
    else:
        assert width.lower < width.value == width.upper
    low, high = sample.interval(1e-6)
    assert low <= width.upper and high >= width.lower
    assert sample.standard_error <= constraint.l2_radius / math.sqrt(DRAWS) * 1.1


# The rows are those of theory/su-zhao-wang.md, 7: the exact value or None, the Monte Carlo value,
# its standard error, and the bound.
TABLE = [
    (Ball(d=10, radius=1.0), 3.08433, 3.0825, 0.0049, None),
    (Ball(d=1000, radius=1.0), 31.61487, 31.606, 0.010, None),
    (L1Ball(d=10, radius=1.0), 1.88072, 1.8771, 0.0036, None),
    (L1Ball(d=100, radius=1.0), 2.74696, 2.7453, 0.0029, None),
    (L1Ball(d=1000, radius=1.0), 3.43541, 3.4405, 0.0048, None),
    (Simplex(d=10, radius=1.0), 1.53875, 1.5381, 0.0041, None),
    (Simplex(d=1000, radius=1.0), 3.24144, 3.2399, 0.0050, None),
    (SolidSimplex(d=10, radius=1.0), 1.53887, 1.5382, 0.0041, None),
    (SolidSimplex(d=100, radius=1.0), 2.50759, 2.5060, 0.0030, None),
    (Box.cube(100, 1.0), 79.78846, 79.753, 0.043, None),
    (LqBall(d=10, exponent=1.25, radius=1.0), 2.05721, 2.0546, 0.0036, 2.2962),
    (LqBall(d=100, exponent=1.25, radius=1.0), 3.58312, 3.5819, 0.0022, 3.6392),
    (LqBall(d=10, exponent=1.5, radius=1.0), 2.39358, 2.3916, 0.0039, 2.5176),
    (LqBall(d=1000, exponent=3.0, radius=1.0), 90.42529, 90.397, 0.029, 90.437),
    (GroupBall(d=10, group_size=5, radius=1.0), None, 2.5129, 0.0043, 3.4135),
    (GroupBall(d=1000, group_size=5, radius=1.0), None, 4.2395, 0.0049, 5.4913),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{type(row[0]).__name__}-{row[0].d}")
def test_the_widths_are_those_of_the_table(
    row: tuple[ConstraintSet, float | None, float, float, float | None],
) -> None:
    constraint, exact, estimate, error, upper = row
    width = constraint.gaussian_width()
    assert width.lower - 5 * error <= estimate <= width.upper + 5 * error
    if exact is not None:
        assert width.exact and width.value == pytest.approx(exact, abs=6e-6 * max(1, exact))
    if upper is not None:
        assert width.upper <= upper + 1e-4


def test_widths_have_their_known_values() -> None:
    assert L1Ball(d=10**6, radius=1.0).gaussian_width().value == pytest.approx(4.998561, abs=5e-7)
    for d, s, bound in ((10, 5, 4.5601), (100, 5, 8.1760), (1000, 5, 9.9486)):
        # The table rounds up.
        assert sparse_width_bound(d, s) == pytest.approx(bound, abs=1e-4)
    assert Simplex(d=1, radius=3.0).gaussian_width() == Width.from_value(0.0)
    width = Simplex(d=2, radius=3.0).gaussian_width().value
    assert width == pytest.approx(3 / math.sqrt(math.pi), rel=1e-12)
    assert L1Ball(d=1, radius=1.0).gaussian_width().value == pytest.approx(math.sqrt(2 / math.pi))
    assert largest_absolute_mean(2) == pytest.approx(2 / math.sqrt(math.pi), rel=1e-12)


@pytest.mark.parametrize("d", [1, 2, 7, 299, 300, 301, 10**4, 10**9])
def test_the_mean_of_a_chi_variable_agrees_with_gamma_functions(d: int) -> None:
    with mpmath.workdps(40):
        half = mpmath.mpf(d) / 2
        ratio = mpmath.exp(mpmath.loggamma(half + mpmath.mpf(1) / 2) - mpmath.loggamma(half))
        exact = float(mpmath.sqrt(2) * ratio)
    assert chi_mean(d) == pytest.approx(exact, rel=3e-13)
    assert math.sqrt(d - 0.5) <= chi_mean(d) * (1 + 1e-15) and chi_mean(d) <= math.sqrt(d)


@pytest.mark.parametrize("d", [3, 100, 10**5])
def test_widths_by_quadrature_agree_with_another_quadrature(d: int) -> None:
    with mpmath.workdps(30):

        def integral(f: object) -> float:
            """Return the integral of f from 0 to 12."""
            return float(mpmath.quad(f, [0, 1, 2, 3, 4, 5, 6, 8, 12]))

        tail = mpmath.ncdf
        top = integral(lambda t: 1 - (1 - 2 * tail(-t)) ** d)
        positive = integral(lambda t: 1 - (1 - tail(-t)) ** d)
        negative = integral(lambda t: tail(-t) ** d)
    assert L1Ball(d=d, radius=1.0).gaussian_width().value == pytest.approx(top, rel=1e-11)
    assert SolidSimplex(d=d, radius=1.0).gaussian_width().value == pytest.approx(
        positive, rel=1e-11
    )
    simplex = Simplex(d=d, radius=1.0).gaussian_width().value
    assert simplex == pytest.approx(positive - negative, rel=1e-11)


def test_exact_forms_agree_where_two_sets_are_one() -> None:
    for d in (1, 5, 60):
        blocks = GroupBall(d=d, group_size=1, radius=1.0).gaussian_width().value
        assert blocks == pytest.approx(largest_absolute_mean(d), rel=1e-11)
        whole = GroupBall(d=d, group_size=d, radius=1.0).gaussian_width().value
        assert whole == pytest.approx(chi_mean(d), rel=1e-11)


@pytest.mark.parametrize("d", [2, 20, 500])
def test_the_published_upper_bounds_hold(d: int) -> None:
    log = math.log
    bounds = [
        (L1Ball(d=d, radius=1.0), math.sqrt(2 * log(2 * d))),
        (Simplex(d=d, radius=1.0), math.sqrt(2 * log(d))),
        (SolidSimplex(d=d, radius=1.0), math.sqrt(2 * log(d + 1))),
        (GroupBall(d=d, group_size=2, radius=1.0), math.sqrt(2) + math.sqrt(2 * log(d / 2))),
    ]
    for constraint, bound in bounds:
        assert constraint.gaussian_width().upper <= bound


@pytest.mark.parametrize(("d", "s"), [(12, 3), (100, 5), (400, 40)])
def test_the_width_of_sparse_vectors_is_below_its_bound(d: int, s: int) -> None:
    xi = np.sort(np.abs(np.random.default_rng(21).standard_normal((2000, d))), axis=1)
    sparse = np.sqrt((xi[:, -s:] ** 2).sum(axis=1))
    error = Z * sparse.std() / math.sqrt(len(sparse))
    assert sparse.mean() <= sparse_width_bound(d, s) + error
    width = SparseHull(d=d, sparsity=s, radius=1.0).gaussian_width()
    assert sparse.mean() - error <= width.upper <= 2 * sparse_width_bound(d, s)


@pytest.mark.parametrize("name", NAMES)
def test_a_width_scales_with_its_set(name: str) -> None:
    scaled, width = all_sets(scale=3.0)[name].gaussian_width(), SETS[name].gaussian_width()
    assert scaled.value == pytest.approx(3 * width.value, rel=1e-12)
    assert scaled.lower == pytest.approx(3 * width.lower, rel=1e-12)
    # The equality is exact, on common random numbers.
    exact_width, same_width = (
        width_sample(s, DIRECTIONS[:100]) for s in (SETS[name], all_sets(scale=3.0)[name])
    )
    assert same_width.mean == pytest.approx(3 * exact_width.mean, rel=1e-12)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_width_is_between_its_general_bounds(name: str) -> None:
    constraint, d = SETS[name], 12
    width = constraint.gaussian_width()
    assert width.upper >= constraint.inradius * math.sqrt(d - 0.5)
    assert width.lower <= constraint.l2_radius * chi_mean(d) * (1 + 1e-12)
    assert width.upper >= math.sqrt(2 / math.pi) * constraint.l2_radius * (1 - 1e-12)
    # The inequality E h^2 <= G^2 + R^2 is checked on a sample, whose mean of squares has a relative
    # deviation below 0.03.
    squares = np.array([constraint.support(g) ** 2 for g in DIRECTIONS])
    assert squares.mean() <= (width.upper**2 + constraint.l2_radius**2) * 1.05


def test_the_second_moment_of_the_largest_entry() -> None:
    """For d = 50, E h^2 is 6.48093 and G^2 is 6.29808 (theory/su-zhao-wang.md, 8, item 19)."""
    ball = L1Ball(d=50, radius=1.0)
    t = (np.arange(200_000) + 0.5) * 1e-4
    tail = -np.expm1(50 * np.log1p(-2 * norm.sf(t)))
    assert float((2 * t * tail).sum() * 1e-4) == pytest.approx(6.48093, abs=1e-5)
    assert ball.gaussian_width().value ** 2 == pytest.approx(6.29808, abs=1e-5)


def norms_of_normal_vectors(d: int, exponent: float, draws: int, seed: int) -> tuple[float, float]:
    """Return the mean of the norms of normal vectors, and its standard error."""
    sizes = np.abs(np.random.default_rng(seed).standard_normal((draws, d)))
    top = sizes.max(axis=1, keepdims=True)
    norms = top[:, 0] * ((sizes / top) ** exponent).sum(axis=1) ** (1 / exponent)
    return float(norms.mean()), float(norms.std()) / math.sqrt(draws)


def test_the_width_of_an_lq_ball_is_no_bound_on_it() -> None:
    """At radius 2, q = 1.1 and d = 10 the bound by the largest entry is 4.637,
    and Jensen's 5.115.
    """
    width = LqBall(d=10, exponent=1.1, radius=2.0).gaussian_width()
    mean, error = norms_of_normal_vectors(10, 11.0, 200_000, 30)
    assert width.exact and width.value == pytest.approx(2 * mean, abs=2 * Z * error)
    assert width.value == pytest.approx(3.829052, abs=1e-6)
    assert width.value < 0.83 * 2 * 10 ** (1 / 11) * largest_absolute_mean(10)
    # This is the moment E|Z|^11 of a standard normal variable.
    moment = math.sqrt(2**11 / math.pi) * math.gamma(6)
    assert width.value < 0.75 * 2 * (10 * moment) ** (1 / 11)


@pytest.mark.parametrize("q", [1.02, 1.1, 1.5, 1.9, 3.0, 40.0])
def test_in_the_plane_the_width_of_an_lq_ball_is_an_integral_over_the_circle(q: float) -> None:
    dual = q / (q - 1)

    def norm_at(angle: mpmath.mpf) -> mpmath.mpf:
        """Return the dual norm of the unit vector at an angle."""
        large, small = mpmath.cos(angle), mpmath.sin(angle)
        return large * (1 + (small / large) ** dual) ** (1 / mpmath.mpf(dual))

    mean_norm = mpmath.quad(norm_at, mpmath.linspace(0, mpmath.pi / 4, 9)) * 4 / mpmath.pi
    width = LqBall(d=2, exponent=q, radius=1.0).gaussian_width().value
    assert width == pytest.approx(float(mean_norm) * chi_mean(2), rel=1e-11)


@pytest.mark.parametrize("d", [1, 2, 10, 200, 10**6])
def test_the_width_of_an_lq_ball_is_that_of_its_limits(d: int) -> None:
    for exponent, expected in (
        (1.0, d * math.sqrt(2 / math.pi)),
        (2.0, chi_mean(d)),
        (1e15, largest_absolute_mean(d)),
    ):
        assert lq_norm_mean(d, exponent) == pytest.approx(expected, rel=1e-12)
    assert LqBall(d=d, exponent=2.0, radius=1.0).gaussian_width() == Width.from_value(chi_mean(d))
    # The norms fall in their exponent, so the widths rise in the exponent of the ball.
    widths = [
        LqBall(d=d, exponent=q, radius=1.0).gaussian_width().value
        for q in (1 + 1e-9, 1.01, 1.1, 1.5, 2.0, 3.0, 50.0, 1e12)
    ]
    assert all(low <= high * (1 + 1e-12) for low, high in itertools.pairwise(widths))


@pytest.mark.parametrize(("d", "q"), [(30, 1.04), (300, 1.2), (1000, 1.1)])
def test_the_width_of_an_lq_ball_is_the_mean_of_norms(d: int, q: float) -> None:
    mean, error = norms_of_normal_vectors(d, q / (q - 1), 4000, 31)
    width = LqBall(d=d, exponent=q, radius=1.0).gaussian_width()
    assert width.value == pytest.approx(mean, abs=Z * error)


def test_a_sampled_width_is_the_mean_and_a_single_draw_is_refused() -> None:
    ball, directions = L1Ball(d=5, radius=1.0), np.random.default_rng(3).standard_normal((50, 5))
    estimate = width_sample(ball, directions)
    assert estimate.draws == 50
    values = [lq_norm(g, math.inf) for g in directions]
    assert estimate.mean == pytest.approx(np.mean(values), rel=1e-14)
    with pytest.raises(InvalidInput, match="draws must be at least 2"):
        width_sample(ball, directions[:1])
    with pytest.raises(InvalidInput, match="failure must be"):
        estimate.interval(0.0)
    half = math.sqrt(2 * math.log(2 / 0.01) / 50)
    assert estimate.interval(0.01) == pytest.approx((estimate.mean - half, estimate.mean + half))
