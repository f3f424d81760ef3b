"""A ladder of public radii: how many norms are above each, a private choice of one, clipped sums.

The norm, the count and the projection of a row are functions of that row and the centre alone, to
the last bit: no path that another row switches changes them (theory/adaptive-methods.md, 1.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import Factors, Rows, row_norms
from dpsco_core.methods.mean.base import LARGEST_LEVEL, clip_scaled, clip_to_ball
from dpsco_core.privacy.choices import ExponentialChoice

STEP = 0.1  # of the logarithm of the radius


def ladder(top: float, n: int) -> Vector:
    r"""Return the radii :math:`R_{top}e^{-jh}`, falling, down to about the top over n."""
    steps = max(2, math.ceil(math.log(n) / STEP))
    radii: Vector = top * np.exp(-STEP * np.arange(steps))
    return radii


def radius_choice(
    radii: Vector, counts: Vector, target: float, epsilon: float
) -> ExponentialChoice:
    r"""Return the choice of a radius: :math:`\propto R_j^{-2}e^{-\varepsilon|N(R_j)-k|/2}`.

    Parameters
    ----------
    radii : array of shape (J,)
    counts : array of shape (J,)
        The number N of norms above each; a replaced record changes each by at most 1.
    target : float
        k.
    epsilon : float
        Of the choice.
    """
    return ExponentialChoice(
        scores=-np.abs(counts - target),
        sensitivity=1.0,
        epsilon=epsilon,
        log_base=-2 * np.log(radii / radii[0]),
    )


def norm_counts(rows: Rows, radii: Vector, centre: Vector | None = None) -> Vector:
    """Return how many rows, less the centre, are longer than each radius, shape (J,).

    `radii` fall. A row that is not finite counts as 0.
    """
    return rows.total(partial(_norm_counts, radii=radii, centre=centre))


def _norm_counts(rows: Rows, radii: Vector, centre: Vector | None) -> Vector:
    rising = radii[::-1].copy()
    above = np.zeros(len(radii) + 1, dtype=np.int64)
    for part in _centred(rows, centre):
        places = radii_below(rising, factor_norms(part))
        above += np.bincount(places, minlength=len(above))
    # A norm that is above m radii is above the m smallest.
    return np.cumsum(above[:0:-1]).astype(np.float64)


def radii_below(rising: Vector, norms: Vector) -> NDArray[np.intp]:
    """Return how many of the radii are below each norm, shape (rows,); ties are not.

    On a ladder the logarithm says it up to one, and two comparisons say it exactly: less than half
    of the time of a search.
    """
    size = len(rising)
    if size < 2 or not math.isclose(rising[-1] / rising[0], math.exp((size - 1) * STEP)):
        return np.searchsorted(rising, norms)
    ends = np.concatenate([[-1.0], rising, [math.inf]])
    with np.errstate(divide="ignore"):
        steps = (np.log(norms) - math.log(rising[0])) * (1 / STEP) + 1
    places = np.clip(steps, 0, size).astype(np.intp)
    places -= ends[places] >= norms
    places += ends[places + 1] < norms
    return places


def factor_norms(part: Factors) -> Vector:
    """Return the norms of rows, shape (rows,), as clipping sees them.

    Infinite where a row is finite and its norm is beyond the doubles, 0 where the row becomes the
    zero row: not finite or, of coefficients times features, beyond the range of `clip_scaled`.
    """
    if part.coefficients is not None:
        norms = row_norms(part.base) if part.norms is None else part.norms
        sizes = np.abs(part.coefficients)
        sound = (norms <= LARGEST_LEVEL) & (sizes <= LARGEST_LEVEL)  # a NaN is neither
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return np.where(sound, sizes * norms, 0.0)
    norms = row_norms(part.base)
    if len(norms) and norms.max() == math.inf:
        far = np.flatnonzero(norms == math.inf)
        norms[far[~np.isfinite(part.base[far]).all(axis=1)]] = 0.0
    return norms


def clipped_sums(rows: Rows, radii: tuple[float, ...], centre: Vector | None = None) -> Vector:
    """Return the sums of the rows, less the centre, projected on each ball, shape (radii, d)."""
    return rows.total(partial(_clipped_sums, radii=radii, centre=centre))


def _clipped_sums(rows: Rows, radii: tuple[float, ...], centre: Vector | None) -> Vector:
    totals, levels = np.zeros((len(radii), rows.d)), np.array(radii)[:, None]
    for part in _centred(rows, centre):
        if part.coefficients is not None:
            norms = row_norms(part.base) if part.norms is None else part.norms
            for total, radius in zip(totals, radii, strict=True):
                safe, weights = clip_scaled(part.base, part.coefficients, norms, radius)
                total += weights @ safe
            continue
        norms = row_norms(part.base)
        if norms.max() <= LARGEST_LEVEL:
            # One product a radius: two rows at a time would be three times as slow.
            for total, weights in zip(totals, ball_weights(norms, levels), strict=True):
                total += weights @ part.base
            continue
        for total, radius in zip(totals, radii, strict=True):
            safe, weights = clip_to_ball(part.base, radius)
            total += weights @ safe
    return totals


def ball_weights(norms: Vector, radii: Vector) -> Vector:
    """Return what projects rows on each ball, shape (radii, rows); exactly 1 inside.

    Parameters
    ----------
    norms : array of shape (rows,)
    radii : array of shape (radii, 1)
    """
    weights: Vector = radii / np.maximum(norms, radii)
    return weights


def _centred(rows: Rows, centre: Vector | None) -> Iterator[Factors]:
    """Yield the rows less a centre, block by block, in the same memory each time."""
    if centre is None:
        yield from rows.factors()
        return
    space = np.empty((0, rows.d))
    for block in rows.blocks():
        if len(space) < len(block):
            space = np.empty((len(block), rows.d))
        with np.errstate(over="ignore", invalid="ignore"):
            yield Factors(np.subtract(block, centre, out=space[: len(block)]))
