"""Counts of the norms above public radii, and the choices and tests that adaptive clipping makes.

The norm, the count and the projection of a row are functions of that row and the centre alone, to
the last bit: the code path that another row causes does not change them
(theory/adaptive-methods.md, 1.1).
"""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import Factors, Rows, row_norms
from dpsco_core.methods.mean.lengths import differences, make_radius_counter, norms_about
from dpsco_core.methods.records.base import LARGEST_LEVEL, clip_scaled, clip_to_ball
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.privacy.mechanisms.exponential import Exponential, PrivateChoice

# The larger radius must win a test by this many standard deviations of the test's noise.
SURE = 1.0
# The largest share of the records by which a look may miss its target k and still be useful.
ENOUGH_SHARE = 0.85
STEP = 0.1  # the step between candidate radii, in the logarithm of the radius
WIDE = 50  # From this many columns on, a plain loop reads memory (not the cache) faster than BLAS.
# Up to this share of a block's rows, copying the rows is cheaper than multiplying the whole block.
FEW_SHARE = 1 / 8
# A centre counts as near 0 if its norm is at most this share of a radius. Few rows of the ball are
# then closer to the centre than 0 is.
NEAR_SHARE = 1 / 4


def expected_miss(n: int, epsilon: float) -> float:
    """Return by how many norms a private choice of a radius is expected to miss its target."""
    return 2 / epsilon * (2 * math.log(n) + 2.71)


def candidate_radii(top: float, n: int) -> Vector:
    """Return the candidate radii :math:`R_{top}e^{-jh}`, decreasing to about the top over n."""
    return np.asarray(top * np.exp(-STEP * np.arange(max(2, math.ceil(math.log(n) / STEP)))))


def radius_choice(
    radii: Vector,  # shape (J,), like the counts
    # the number N of norms above each radius; replacing a record changes each by at most 1
    counts: Vector,
    target: float,  # k, the target number of norms above the radius
    epsilon: float,  # the epsilon of the choice of a radius
) -> PrivateChoice:
    r"""Return the private choice of a radius that about k norms exceed.

    The probability of :math:`R_j` is proportional to
    :math:`R_j^{-2}e^{-\varepsilon|N(R_j)-k|/2}`.
    """
    base = -2 * np.log(radii / radii[0])
    mechanism = Exponential(sensitivity=1.0, epsilon=epsilon, log_base=base)
    return PrivateChoice(mechanism, -np.abs(counts - target))


def wide_choice(radii: Vector, counts: Vector, target: float, epsilon: float) -> PrivateChoice:
    r"""Return the second private choice of a radius in guarded mode, by a score of the counts N.

    The score is :math:`-\max\{N-k, (k-N)/3\}`, with k the `target`.
    """
    scores = -np.maximum(counts - target, (target - counts) / 3)
    return PrivateChoice(Exponential(sensitivity=1.0, epsilon=epsilon), scores)


def norm_counts(
    rows: Rows, radii: Vector, centre: Vector | None = None, stored: Vector | None = None
) -> Vector:
    """Return how many rows, less the centre, exceed each of decreasing radii, shape (J,).

    A row that is not finite counts as 0. Norms are written into `stored`, for `clipped_sums`.
    """
    return rows.total(partial(_norm_counts, radii=radii, centre=centre, stored=stored))


def _norm_counts(rows: Rows, radii: Vector, centre: Vector | None, stored: Vector | None) -> Vector:
    """Return the counts of `norm_counts` for some of the rows, shape (J,)."""
    places = make_radius_counter(radii[::-1].copy())
    tallies, low = np.zeros(len(radii) + 1, dtype=np.int64), 0
    small_centre = near_centre(centre, NEAR_SHARE * float(radii[0]))
    for part in (
        _yield_centred(rows, centre)
        if small_centre is None
        else _yield_with_norms(rows, small_centre)
    ):
        if stored is not None:
            norms = row_norms(part.base) if part.norms is None else part.norms
            stored[low : low + len(norms)] = norms
            part = Factors(part.base, norms=norms)
            low += len(norms)
        tallies += np.bincount(places(factor_norms(part)), minlength=len(tallies))
    return above_each(tallies)


def above_each(places: NDArray[np.int64]) -> Vector:
    """Return the number of norms above each of decreasing radii, shape (J,).

    Entry m of `places`, shape (J + 1,), is the number of norms above exactly m radii.
    """
    # A norm above exactly m radii is above the m smallest ones.
    return np.cumsum(places[:0:-1]).astype(np.float64)


def factor_norms(part: Factors) -> Vector:
    """Return the norms of rows, shape (rows,), as the clipping computes them.

    The norm is infinite where a finite row's norm exceeds the doubles. It is 0 where the row
    becomes the zero row: because it is not finite or, for coefficients times features, because it
    is beyond the range of `clip_scaled`.
    """
    norms = row_norms(part.base) if part.norms is None else part.norms
    if part.coefficients is not None:
        sizes = np.abs(part.coefficients)
        sound = (norms <= LARGEST_LEVEL) & (sizes <= LARGEST_LEVEL)  # A NaN fails both comparisons.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return np.where(sound, sizes * norms, 0.0)
    if len(norms) and norms.max() == math.inf:
        norms, infinite = norms.copy(), np.flatnonzero(norms == math.inf)
        norms[infinite[~np.isfinite(part.base[infinite]).all(axis=1)]] = 0.0
    return norms


def clipped_sums(
    rows: Rows, radii: tuple[float, ...], centre: Vector | None = None, stored: Vector | None = None
) -> Vector:
    """Return the sums of the rows, less the centre, projected on each ball, shape (radii, d).

    `stored` are the norms that `norm_counts` has written for the same centre.
    """
    return rows.total(partial(_clipped_sums, radii=radii, centre=centre, stored=stored))


def _clipped_sums(
    rows: Rows, radii: tuple[float, ...], centre: Vector | None, stored: Vector | None
) -> Vector:
    """Return the sums of `clipped_sums` for some of the rows, shape (radii, d)."""
    totals, levels = np.zeros((len(radii), rows.d)), np.array(radii)
    # If the norms are stored, only sums are computed, which keep their digits for any centre within
    # the smallest radius.
    small_centre = near_centre(centre, min(radii) * (NEAR_SHARE if stored is None else 1.0))
    # If the centre is subtracted last, these are the numbers of times that the sums contain it.
    shares = np.zeros(len(radii))
    for part in (
        _yield_centred(rows, centre, stored)
        if small_centre is None
        else _yield_with_norms(rows, small_centre, stored)
    ):
        norms = row_norms(part.base) if part.norms is None else part.norms
        if part.coefficients is None and norms.max() <= LARGEST_LEVEL:
            _add_projected(totals, shares, part.base, norms, levels, is_cached=stored is None)
            continue
        base = part.base if small_centre is None else differences(part.base, small_centre)
        for total, radius in zip(totals, radii, strict=True):
            if part.coefficients is None:
                safe, weights = clip_to_ball(base, radius)
            else:
                safe, weights = clip_scaled(base, part.coefficients, norms, radius)
            total += weights @ safe
    return totals if small_centre is None else totals - shares[:, None] * small_centre


def _add_projected(
    totals: Vector,
    shares: Vector,
    base: Vector,
    norms: Vector,
    levels: Vector,
    *,
    is_cached: bool,  # whether the block was just read for its norms
) -> None:
    """Add the rows of `base`, projected on each ball, to `totals`, and their weights to `shares`.

    A row inside the smaller of two balls is projected on both unchanged. Where few rows are outside
    of the smaller ball, only those are summed again for the larger one.
    """
    total, share, level_before = np.zeros(base.shape[1]), 0.0, 0.0
    places_beyond = np.arange(len(base))
    for place in np.argsort(levels):
        level = float(levels[place])
        if level_before == 0.0 or len(places_beyond) > FEW_SHARE * len(base):
            weights = ball_weights(norms, level)
            total = _weighted_sum(weights, base, is_cached=is_cached)
            share, is_cached = float(weights.sum()), True
        elif len(places_beyond):
            lengths = norms[places_beyond]
            change = ball_weights(lengths, level) - level_before / lengths
            total = total + change @ base[places_beyond]
            share += float(change.sum())
        totals[place] += total
        shares[place] += share
        level_before, places_beyond = level, np.flatnonzero(norms > level)


def _weighted_sum(weights: Vector, base: Vector, *, is_cached: bool) -> Vector:
    """Return the weighted sum of rows, shape (d,), by a loop where that is faster than BLAS."""
    is_loop = base.shape[1] >= WIDE and not is_cached
    return np.asarray(np.einsum("i,ij->j", weights, base) if is_loop else weights @ base)


def try_wider_radius(
    # Shape (2, d): the means of n rows projected on the ball of the smaller radius, then on that of
    # the larger.
    means: Vector,
    radii: tuple[float, float],
    *,
    n: int,
    # the budgets of the test and of the release for which the radius is chosen
    rhos: tuple[float, float],
    crowd: float,  # the expected number of rows whose length lies between the two radii
    ledger: Ledger,
    rng: np.random.Generator,
) -> tuple[float, bool]:
    """Release the distance of two means; return it, and whether the larger radius is better.

    The noisy distance is called q in theory/adaptive-methods.md, 1.1.
    """
    gap = radii[1] - radii[0]
    noisy = ledger.release(
        GaussianNoise(l2_sensitivity=2 * gap / n, rho=rhos[0]),
        np.array([float(np.linalg.norm(means[1] - means[0]))]),
        rng,
        label="what lies between the radii",
    )
    distance = max(0.0, float(noisy[0]))
    # Lengths are in units of gap/n, because the squares of radii may overflow.
    cost = 2 * means.shape[1] / rhos[1] * ((radii[1] + radii[0]) / gap)
    threshold = math.sqrt(cost + 2 * crowd) + SURE * math.sqrt(2 / rhos[0])
    return distance, distance / (gap / n) > threshold


def ball_weights(norms: Vector, radius: float) -> Vector:
    """Return the factors that project rows on a ball, shape (rows,): exactly 1 inside it."""
    return np.asarray(radius / np.maximum(norms, radius))


def near_centre(centre: Vector | None, limit: float) -> Vector | None:
    """Return the centre if it is so near 0 that it may be subtracted last, after norms and sums.

    It depends on released numbers alone, so that it is the same for neighbouring data.
    """
    if centre is None or not centre.any() or row_norms(centre[None])[0] > limit:
        return None
    return centre


def _yield_with_norms(
    rows: Rows, centre: Vector, stored: Vector | None = None
) -> Iterator[Factors]:
    """Yield the rows unchanged, in blocks, with their norms about a centre."""
    low = 0
    for block in rows.blocks():
        norms = norms_about(block, centre) if stored is None else stored[low : low + len(block)]
        low += len(block)
        yield Factors(block, norms=norms)


def _yield_centred(
    rows: Rows, centre: Vector | None, stored: Vector | None = None
) -> Iterator[Factors]:
    """Yield the rows minus a centre, with stored norms if any, always in the same memory."""
    if centre is None and stored is None:
        yield from rows.factors()
        return
    if centre is not None and not centre.any():
        # Subtracting a centre of 0 leaves every row unchanged to the last bit, as in the first
        # round.
        centre = None
    space, low = np.empty((0, rows.d)), 0
    for block in rows.blocks():
        lengths = None if stored is None else stored[low : low + len(block)]
        low += len(block)
        if centre is not None:
            if len(space) < len(block):
                space = np.empty((len(block), rows.d))
            with np.errstate(over="ignore", invalid="ignore"):
                block = np.subtract(block, centre, out=space[: len(block)])
        yield Factors(block, norms=lengths)
