"""The samples of the ordinary distributions follow the stated laws.

Every statistical check has a false-alarm rate of at most 1e-6 and a fixed seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import EllipticalT, Gaussian, LogNormal, Pareto, SkewedPareto, StudentT
from dpsco_core.data.ziggurat import PART
from tests.folded import each

ORDINARY = (StudentT, Pareto, SkewedPareto, LogNormal, Gaussian, EllipticalT)
INDEPENDENT = (StudentT, Pareto, SkewedPareto, LogNormal, Gaussian)
FALSE_ALARM = 1e-6
Z_LIMIT = float(stats.norm.isf(FALSE_ALARM / 2))


class SymmetricPareto:
    """The law of a fair sign times a Pareto variable, which scipy has not."""

    def __init__(self, index: float) -> None:
        """Keep the tail index."""
        self.index = index

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distribution function."""
        tail = 0.5 * np.maximum(np.abs(x), 1.0) ** -self.index
        return np.where(x > 0, 1 - tail, tail)

    def mean(self) -> float:
        """Return the mean, which is zero."""
        return 0.0


def unscaled(law: Any) -> Any:
    """Return SciPy's law of one coordinate before it is scaled."""
    index = law.tail_index
    return {
        StudentT: lambda: stats.t(index),
        EllipticalT: lambda: stats.t(index),
        Pareto: lambda: SymmetricPareto(index),
        SkewedPareto: lambda: stats.pareto(index),
        LogNormal: lambda: stats.lognorm(min(1.0, 2 / math.sqrt(law.moment_order))),
        Gaussian: lambda: stats.norm(),
    }[type(law)]()


def standardised(law: Any, n: int, seed: int) -> NDArray[np.float64]:
    """Return n records of a law, shape (n, d), with each coordinate as it is before the law scales
    it.
    """
    x = law.sample(n, np.random.default_rng(seed)).x
    return np.asarray((x - law.mean) / law.scale + unscaled(law).mean())


def one_coordinate(law: Any, n: int, seed: int) -> NDArray[np.float64]:
    """Return independent unscaled coordinates from n records of a law, as one array."""
    y = standardised(law, n, seed)
    return y[:, 0] if isinstance(law, EllipticalT) else y.reshape(-1)


@pytest.mark.parametrize("p", [2.0, 3.0, 12.5])
@pytest.mark.parametrize("kind", ORDINARY)
def test_a_coordinate_passes_kolmogorov_smirnov(kind: Any, p: float) -> None:
    law = kind(d=8, moment_order=p, margin=0.7, offset=1.5)
    n = 200_000 if kind is EllipticalT else 25_000
    y = one_coordinate(law, n, seed=11)
    assert y.size == 200_000
    assert stats.kstest(y, unscaled(law).cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("kind", ORDINARY)
def test_both_far_tails_have_the_right_mass(kind: Any) -> None:
    law = kind(d=8, moment_order=3.0)
    y = one_coordinate(law, 200_000 if kind is EllipticalT else 100_000, seed=12)
    u = unscaled(law).cdf(y)
    for level in (3e-4, 0.02):
        for in_tail in (u < level, u > 1 - level):
            count = int(in_tail.sum())
            assert stats.binomtest(count, y.size, level).pvalue > FALSE_ALARM


@pytest.mark.parametrize("kind", ORDINARY)
def test_cells_of_equal_probability_pass_chi_square(kind: Any) -> None:
    law = kind(d=5, moment_order=2.5, margin=0.2)
    y = one_coordinate(law, 100_000, seed=13)
    cells = np.minimum((unscaled(law).cdf(y) * 200).astype(int), 199)
    assert stats.chisquare(np.bincount(cells, minlength=200)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("kind", ORDINARY)
def test_the_sample_mean_and_variance_are_the_stated_ones(kind: Any) -> None:
    # At order 9 the fourth moment exists, and the normal approximation is good.
    law = kind(d=4, moment_order=9.0, margin=1.0, offset=3.0)
    n = 250_000
    deviations = law.sample(n, np.random.default_rng(14)).x - law.mean
    z_means = deviations.mean(axis=0) / math.sqrt(law.moment(2) / n)
    # The largest of four z-scores may exceed the limit for one.
    assert np.abs(z_means).max() < Z_LIMIT + 0.5
    spread = math.sqrt((law.moment(4) - law.moment(2) ** 2) / n)
    z_variances = ((deviations**2).mean(axis=0) - law.moment(2)) / spread
    assert np.abs(z_variances).max() < Z_LIMIT + 0.5
    assert (deviations**2).sum(axis=1).mean() == pytest.approx(law.variance_trace, rel=0.02)


@pytest.mark.parametrize("kind", INDEPENDENT)
@pytest.mark.parametrize("lag", [1, 5, 6])
def test_entries_of_independent_laws_are_independent(kind: Any, lag: int) -> None:
    # A lag of 1 compares neighbours in a row, and a lag of 6 the same coordinate of consecutive
    # rows.
    law = kind(d=6)
    u = unscaled(law).cdf(standardised(law, 50_000, seed=15)).reshape(-1)
    for f in (u - 0.5, np.abs(u - 0.5) - 0.25):
        product = f[lag:] * f[:-lag]
        z = product.mean() / math.sqrt(np.mean(f**2) ** 2 / product.size)
        assert abs(z) < Z_LIMIT


def test_coordinates_of_the_elliptical_law_are_uncorrelated_but_dependent() -> None:
    law = EllipticalT(d=6, moment_order=2.0)
    y = standardised(law, 100_000, seed=16)
    signs = np.sign(y[:, 0] * y[:, 1])
    assert abs(signs.mean()) * math.sqrt(signs.size) < Z_LIMIT
    large = np.abs(y) > np.quantile(np.abs(y), 0.99)
    joint_share = float((large[:, 0] & large[:, 1]).mean())
    assert joint_share > 10 * 0.01**2
    assert np.corrcoef(np.log(np.abs(y[:, :2])).T)[0, 1] > 0.1


@pytest.mark.parametrize("kind", [EllipticalT, Gaussian])
def test_every_direction_of_a_rotation_invariant_law_is_a_coordinate(kind: Any) -> None:
    law = kind(d=5, moment_order=2.5)
    u = np.array([3.0, -1.0, 0.5, 2.0, -0.2])
    projection = standardised(law, 100_000, seed=17) @ (u / np.linalg.norm(u))
    assert stats.kstest(projection, unscaled(law).cdf).pvalue > FALSE_ALARM


def test_rows_of_the_elliptical_law_are_independent() -> None:
    logs = np.log(np.abs(standardised(EllipticalT(d=3), 100_000, seed=18)[:, 0]))
    logs -= logs.mean()
    z = float((logs[1:] * logs[:-1]).sum()) / (logs.var() * math.sqrt(logs.size))
    assert abs(z) < Z_LIMIT


@each("kind", ORDINARY)
@each(("n", "d"), [(1, 1), (3, 7), (1, 2 * PART + 3), (PART, 3), (70_001, 2)])
def test_every_entry_is_drawn_once(kind: Any, n: int, d: int) -> None:
    rows = kind(d=d).sample(n, np.random.default_rng(19))
    assert rows.x.shape == (n, d)
    assert rows.x.dtype == np.float64
    assert rows.x.flags.c_contiguous
    assert np.isfinite(rows.x).all()
    assert np.unique(rows.x).size == n * d


@pytest.mark.parametrize("kind", ORDINARY)
def test_the_generator_decides_the_sample(kind: Any) -> None:
    law = kind(d=3, offset=1.0)
    rng = np.random.default_rng(20)
    sample, next_sample = law.sample(9000, rng).x, law.sample(9000, rng).x
    redrawn = law.sample(9000, np.random.default_rng(20)).x
    assert np.array_equal(sample, redrawn)
    assert not np.isin(sample, next_sample).any()


@pytest.mark.parametrize("kind", ORDINARY)
def test_the_offset_only_shifts_the_sample(kind: Any) -> None:
    centred = kind(d=4).sample(50, np.random.default_rng(21)).x
    shifted = kind(d=4, offset=6.0).sample(50, np.random.default_rng(21)).x
    np.testing.assert_allclose(shifted - centred, 3.0, rtol=1e-12)


@pytest.mark.parametrize("kind", ORDINARY)
def test_orders_up_to_one_hundred_sample_without_a_warning(kind: Any) -> None:
    law = kind(d=3, moment_order=100.0, margin=0.01)
    x = law.sample(20_000, np.random.default_rng(22)).x
    assert np.isfinite(x).all()
    assert 0 < np.abs(x).max() < 10


@pytest.mark.parametrize("kind", ORDINARY)
def test_a_law_without_a_prior_draws_itself(kind: Any) -> None:
    law = kind(d=3)
    assert law.draw(np.random.default_rng(23)) is law
    assert hash(law) == hash(kind(d=3))


@pytest.mark.parametrize("kind", ORDINARY)
@pytest.mark.parametrize("n", [0, -1, 2.0])
def test_a_sample_size_out_of_range_is_named(kind: Any, n: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        kind().sample(n, np.random.default_rng(0))
    assert str(caught.value) == f"n must be a positive integer, got n={n}."
