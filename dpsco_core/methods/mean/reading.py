"""Readings of rows in memory that share what they find: adaptive clipping looks up to four times.

The first one, in a ball about 0, leaves the squared norms and a sum. With them the norms about a
centre near 0 take one product a row; and a sum of rows that are projected on another ball about it
takes only the rows that lie outside of one of the two. Which way a sum is taken changes its
rounding, and neither the norm of a row nor what it is projected on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import DenseRows, Rows, rows_per_block
from dpsco_core.methods.mean import ladder
from dpsco_core.methods.mean.base import LARGEST_PLAIN_SQUARE, LEAST_PLAIN_LEVEL, clip_to_ball
from dpsco_core.methods.mean.lengths import norms_from_products, places_among

STRETCH = 1 << 14  # rows: what is computed of their norms stays in the cache
MOST_CHANGED = 0.4  # a share of the rows: more of them are cheaper to add all again
PART = 1 / 8  # a share of a block: so much of it is copied at a time


@dataclass(frozen=True, eq=False)
class FirstSum:
    """A sum of rows projected on a ball about 0, and where it does not hold a row as it is."""

    total: Vector  # shape (d,)
    radius: float
    outside: NDArray[np.intp]  # shape (k,): rows outside of the ball, rising
    weights: Vector  # shape (k,): what projects them


class Reading:
    """What readings of the same rows leave for the next ones."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        # Shape (n,), of rows that are held here: their squared norms from `first_sum`, in the place
        # of which `counts` writes their norms about the centre.
        self._space = np.empty(rows.n) if type(rows) is DenseRows else None
        self._norms: Vector | None = None
        # None: there was none, or a row needed care.
        self._first: FirstSum | None = None

    def first_sum(self, radius: float) -> Vector:
        """Return the sum of the rows, projected on a ball about 0, shape (d,)."""
        rows, squares = self.rows, self._space
        if not isinstance(rows, DenseRows) or squares is None or radius < LEAST_PLAIN_LEVEL:
            (alone,) = ladder.clipped_sums(rows, (radius,))
            return np.asarray(alone)
        total, low, largest = np.zeros(rows.d), 0, 0.0
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for block in rows.blocks():
                own = squares[low : low + len(block)]
                low += len(block)
                np.vecdot(block, block, out=own)
                most = own.dot(own)
                if most < LARGEST_PLAIN_SQUARE:  # as in `clip_to_ball`
                    weights = ladder.ball_weights(np.sqrt(own), radius)
                else:
                    block, weights = clip_to_ball(block, radius)
                total += weights @ block
                largest = max(largest, most) if most < math.inf else math.inf  # NaN is not below
        if largest < LARGEST_PLAIN_SQUARE:
            # Up to rounding, by which a weight may be 1.
            outside = np.flatnonzero(squares > (1 - 1e-12) * radius**2)
            weights = ladder.ball_weights(np.sqrt(squares[outside]), radius)
            self._first = FirstSum(total, radius, outside, weights)
        return total

    def counts(self, radii: Vector, centre: Vector | None) -> Vector:
        """Return how many rows, less the centre, are longer than each of falling radii.

        Once: the norms about the centre take the place of the squares.
        """
        rows, near = self.rows, ladder.near_centre(centre, ladder.NEAR * float(radii[0]))
        self._norms = self._space
        if not isinstance(rows, DenseRows) or self._first is None or near is None:
            return ladder.norm_counts(rows, radii, centre, self._norms)
        places = places_among(radii[::-1].copy())
        above = np.zeros(len(radii) + 1, dtype=np.int64)
        for norms in self._norms_about(rows, near):
            above += np.bincount(places(norms), minlength=len(above))
        return ladder.above_each(above)

    def _norms_about(self, rows: DenseRows, centre: Vector) -> Iterator[Vector]:
        """Yield the norms of rows less a centre, and keep them: those of `norms_about`."""
        assert self._norms is not None
        twice, size = -2 * centre, _stretch(rows.d)
        space = np.empty(min(size, rows.n))
        for start in range(0, rows.n, size):
            squares, low = self._norms[start : start + size], 0
            products = space[: len(squares)]
            with np.errstate(under="ignore"):
                for block in rows.blocks(start, start + len(squares)):
                    np.vecdot(block, twice, out=products[low : low + len(block)])
                    low += len(block)

            def take(close: NDArray[np.intp], start: int = start) -> Vector:
                return rows.take(start + close)

            norms = norms_from_products(squares, products, centre, take)
            self._norms[start : start + size] = norms
            yield norms

    def sums(self, radii: tuple[float, ...], centre: Vector | None) -> Vector:
        """Return the sums of the rows, less the centre, projected on each ball, shape (radii, d).

        Where there were `counts`, about that centre.
        """
        rows, norms, first, least = self.rows, self._norms, self._first, min(radii)
        near = ladder.near_centre(centre, least)
        if isinstance(rows, DenseRows) and not (norms is None or first is None or near is None):
            changed = np.count_nonzero(norms > least) + len(first.outside)
            # The sum in a first ball that is much larger holds fewer digits.
            if ladder.NEAR * first.radius <= least and changed <= MOST_CHANGED * rows.n:
                return _changed_sums(rows, norms, first, radii, near)
        return ladder.clipped_sums(rows, radii, centre, norms)


def _changed_sums(
    rows: DenseRows, norms: Vector, first: FirstSum, radii: tuple[float, ...], centre: Vector
) -> Vector:
    """Return the sums from the first one, and the rows that they hold otherwise."""
    totals, shares = np.tile(first.total, (len(radii), 1)), np.full(len(radii), float(rows.n))
    size, least = 2 * _stretch(rows.d), min(radii)
    space = np.empty((max(1, int(PART * rows_per_block(rows.d))), rows.d))
    for start in range(0, rows.n, size):
        own = norms[start : start + size]
        here = slice(*np.searchsorted(first.outside, (start, start + size)))
        outside = first.outside[here] - start
        is_far = own > least
        is_far[outside] = True
        far = np.flatnonzero(is_far)
        own, before = own[far], np.ones(len(far))
        before[np.searchsorted(far, outside)] = first.weights[here]
        far += start
        for place, radius in enumerate(radii):
            weights = ladder.ball_weights(own, radius)
            shares[place] += weights.sum() - len(far)
            weights -= before
            moved = np.flatnonzero(weights)
            _add_some(totals[place], rows, far[moved], weights[moved], space)
    return totals - shares[:, None] * centre


def _add_some(
    total: Vector, rows: DenseRows, places: NDArray[np.intp], weights: Vector, space: Vector
) -> None:
    """Add the weighted sum of some of the rows, which are copied into `space`, a few at a time."""
    is_double = rows.x.dtype == space.dtype
    for low in range(0, len(places), len(space)):
        some = places[low : low + len(space)]
        if is_double:  # In another mode, what is copied is copied once more.
            block = rows.x.take(some, axis=0, out=space[: len(some)], mode="clip")
        else:
            block = rows.take(some)
        total += weights[low : low + len(space)] @ block


def _stretch(d: int) -> int:
    """Return a number of rows, in whole blocks, of whose norms is computed at a time."""
    return max(1, STRETCH // rows_per_block(d)) * rows_per_block(d)
