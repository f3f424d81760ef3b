"""Passes over rows in memory that reuse each other's results: adaptive clipping makes up to four.

The first pass, with a ball about 0, stores the squared norms and a sum. With these, the norms about
a centre near 0 take one product a row. A sum of rows projected on a ball about that centre then
needs only the rows outside of one of the two balls. How a sum is computed changes its rounding, but
neither the norm of a row nor its projection.
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
from dpsco_core.methods.mean.lengths import make_radius_counter, norms_from_products
from dpsco_core.methods.records.base import LARGEST_PLAIN_SQUARE, LEAST_PLAIN_LEVEL, clip_to_ball

STRETCH = 1 << 14  # the number of rows for which intermediate results stay in the cache
MOST_CHANGED = 0.4  # With a larger share of changed rows, adding all rows again is cheaper.
PART = 1 / 8  # the share of a block that is copied at a time


@dataclass(frozen=True, eq=False)
class FirstSum:
    """A sum of rows projected on a ball about 0, and the rows that the projection changes."""

    total: Vector  # the sum, shape (d,)
    radius: float  # the radius of the ball
    places: NDArray[np.intp]  # shape (k,): ascending positions of the rows outside of the ball
    weights: Vector  # shape (k,): the factors that project these rows on the ball


class Reading:
    """Intermediate results of passes over the same rows that later passes reuse."""

    def __init__(self, rows: Rows) -> None:
        """Prepare to read rows; nothing is summed yet."""
        self.rows = rows
        # For rows in memory this array, shape (n,), holds their squared norms once `first_sum` has
        # run; `counts` overwrites them with the norms about the centre.
        self._space = np.empty(rows.n) if type(rows) is DenseRows else None
        self._norms: Vector | None = None
        # This stays None if there is no first sum, or if some row needed special care.
        self._first_sum: FirstSum | None = None

    def first_sum(self, radius: float) -> Vector:
        """Return the sum of the rows projected on a ball about 0, shape (d,)."""
        rows, squares = self.rows, self._space
        if not isinstance(rows, DenseRows) or squares is None or radius < LEAST_PLAIN_LEVEL:
            (only_sum,) = ladder.clipped_sums(rows, (radius,))
            return np.asarray(only_sum)
        total, low, largest = np.zeros(rows.d), 0, 0.0
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for block in rows.blocks():
                piece = squares[low : low + len(block)]
                low += len(block)
                np.vecdot(block, block, out=piece)
                energy = piece.dot(piece)
                if energy < LARGEST_PLAIN_SQUARE:  # `clip_to_ball` has the same limit.
                    weights = ladder.ball_weights(np.sqrt(piece), radius)
                else:
                    block, weights = clip_to_ball(block, radius)
                total += weights @ block
                # A NaN fails this comparison, and so counts as infinite.
                largest = max(largest, energy) if energy < math.inf else math.inf
        if largest < LARGEST_PLAIN_SQUARE:
            # Up to rounding, these are the rows outside of the ball; a weight may still be 1.
            places = np.flatnonzero(squares > (1 - 1e-12) * radius**2)
            weights = ladder.ball_weights(np.sqrt(squares[places]), radius)
            self._first_sum = FirstSum(total, radius, places, weights)
        return total

    def counts(self, radii: Vector, centre: Vector | None) -> Vector:
        """Return how many rows, less the centre, are longer than each of decreasing radii, (J,).

        It can be called once, because the norms about the centre overwrite the squared norms.
        """
        rows, reach = self.rows, ladder.NEAR_SHARE * float(radii[0])
        small_centre = ladder.near_centre(centre, reach)
        self._norms = self._space
        if not isinstance(rows, DenseRows) or self._first_sum is None or small_centre is None:
            return ladder.norm_counts(rows, radii, centre, self._norms)
        places = make_radius_counter(radii[::-1].copy())
        tallies = np.zeros(len(radii) + 1, dtype=np.int64)
        for norms in self._norms_about(rows, small_centre):
            tallies += np.bincount(places(norms), minlength=len(tallies))
        return ladder.above_each(tallies)

    def _norms_about(self, rows: DenseRows, centre: Vector) -> Iterator[Vector]:
        """Yield the norms of rows minus a centre by `norms_about`, and store them."""
        assert self._norms is not None
        direction, size = -2 * centre, _rows_per_stretch(rows.d)
        space = np.empty(min(size, rows.n))
        for start in range(0, rows.n, size):
            squares, low = self._norms[start : start + size], 0
            products = space[: len(squares)]
            with np.errstate(under="ignore"):
                for block in rows.blocks(start, start + len(squares)):
                    np.vecdot(block, direction, out=products[low : low + len(block)])
                    low += len(block)

            def take(close: NDArray[np.intp], start: int = start) -> Vector:
                """Return the rows at these positions of the stretch that begins at `start`."""
                return rows.take(start + close)

            norms = norms_from_products(squares, products, centre, take)
            self._norms[start : start + size] = norms
            yield norms

    def sums(self, radii: tuple[float, ...], centre: Vector | None) -> Vector:
        """Return the sums of the rows, less the centre, projected on each ball, shape (radii, d).

        After `counts` the centre must be the one of that call.
        """
        rows, norms, sum_in_ball, smallest = self.rows, self._norms, self._first_sum, min(radii)
        small_centre = ladder.near_centre(centre, smallest)
        if isinstance(rows, DenseRows) and not (
            norms is None or sum_in_ball is None or small_centre is None
        ):
            changed = np.count_nonzero(norms > smallest) + len(sum_in_ball.places)
            # A sum over a much larger first ball has fewer exact digits.
            is_small = ladder.NEAR_SHARE * sum_in_ball.radius <= smallest
            if is_small and changed <= MOST_CHANGED * rows.n:
                return _changed_sums(rows, norms, sum_in_ball, radii, small_centre)
        return ladder.clipped_sums(rows, radii, centre, norms)


def _changed_sums(
    rows: DenseRows, norms: Vector, sum_in_ball: FirstSum, radii: tuple[float, ...], centre: Vector
) -> Vector:
    """Return the sums of `Reading.sums`, as the first sum corrected for rows that projections move.

    `norms` are the norms of the rows about `centre`.
    """
    totals, shares = np.tile(sum_in_ball.total, (len(radii), 1)), np.full(len(radii), float(rows.n))
    size, smallest = 2 * _rows_per_stretch(rows.d), min(radii)
    space = np.empty((max(1, int(PART * rows_per_block(rows.d))), rows.d))
    for start in range(0, rows.n, size):
        lengths = norms[start : start + size]
        part = slice(*np.searchsorted(sum_in_ball.places, (start, start + size)))
        places_outside = sum_in_ball.places[part] - start
        is_far = lengths > smallest
        is_far[places_outside] = True
        changed = np.flatnonzero(is_far)
        lengths, weights_before = lengths[changed], np.ones(len(changed))
        weights_before[np.searchsorted(changed, places_outside)] = sum_in_ball.weights[part]
        changed += start
        for place, radius in enumerate(radii):
            weights = ladder.ball_weights(lengths, radius)
            shares[place] += weights.sum() - len(changed)
            weights -= weights_before
            entries = np.flatnonzero(weights)
            _add_weighted_rows(totals[place], rows, changed[entries], weights[entries], space)
    return totals - shares[:, None] * centre


def _add_weighted_rows(
    total: Vector, rows: DenseRows, places: NDArray[np.intp], weights: Vector, space: Vector
) -> None:
    """Add the weighted sum of some rows, which are copied into `space` a few at a time."""
    is_double = rows.x.dtype == space.dtype
    for low in range(0, len(places), len(space)):
        chosen = places[low : low + len(space)]
        if is_double:  # Rows of another type are converted first, which costs one more copy.
            block = rows.x.take(chosen, axis=0, out=space[: len(chosen)], mode="clip")
        else:
            block = rows.take(chosen)
        total += weights[low : low + len(space)] @ block


def _rows_per_stretch(d: int) -> int:
    """Return how many rows, in whole blocks, have their norms computed at a time."""
    return max(1, STRETCH // rows_per_block(d)) * rows_per_block(d)
