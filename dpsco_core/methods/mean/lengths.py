"""Norms of rows about a centre, and their places among radii.

Each norm is a function of its own row and the centre alone, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.data.rows import row_norms

FIRST_BITS = 48  # the leading bits of a double: sign, exponent and sixteenths


def make_radius_counter(radii: Vector) -> Callable[[Vector], NDArray[np.intp]]:
    """Return a function that counts the increasing radii strictly below each of some norms.

    The first bits of a positive double determine it up to a sixteenth, and increase with it. Where
    no two radii share their first bits, as on a ladder, a table and one comparison give the exact
    count, in a third of the time of a search. Norms must not be negative or NaN.
    """
    lowest, highest = (int(bits) >> FIRST_BITS for bits in radii[[0, -1]].view(np.int64))
    starts = np.arange(lowest - 1, highest + 3, dtype=np.int64) << FIRST_BITS
    counts_below = np.searchsorted(radii, starts.view(np.float64))
    ends = np.append(radii, math.inf)[counts_below]
    if np.diff(counts_below).max() > 1:
        return lambda norms: np.asarray(np.searchsorted(radii, norms), dtype=np.intp)

    def places(norms: Vector) -> NDArray[np.intp]:
        """Return how many radii are strictly below each norm, by table and comparison."""
        bits = norms.view(np.int64) >> FIRST_BITS
        bits -= lowest - 1
        index: NDArray[np.intp] = counts_below.take(bits, mode="clip")
        index += ends.take(bits, mode="clip") < norms
        return index

    return places


def norms_about(block: Vector, centre: Vector) -> Vector:
    r"""Return the norms of rows minus a centre, without forming the differences for far rows.

    The squared norm is :math:`\Vert x\Vert^2-2\langle x,c\rangle+\Vert c\Vert^2` where that is at
    least :math:`\Vert c\Vert^2`, so that at most a factor of 9 cancels. Otherwise it is computed
    from the difference. Which of the two is used depends on the row and the centre alone.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares, products = np.vecdot(block, block), np.vecdot(block, -2 * centre)
    return norms_from_products(squares, products, centre, lambda close: block[close])


def norms_from_products(
    squares: Vector,  # shape (rows,): the squared norms of rows about 0
    # shape (rows,): the products of the rows with -2 times the centre; overwritten
    products: Vector,
    centre: Vector,
    # a function that returns the rows at the given positions
    take: Callable[[NDArray[np.intp]], Vector],
) -> Vector:
    """Return the same as `norms_about`, from squared norms and products computed earlier."""
    square = float(centre @ centre)
    threshold = max(square, 1e-250)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        products += squares
        products += square
        norms: Vector = np.sqrt(np.maximum(products, 0.0))
    # A NaN fails both comparisons.
    if not (products.min() >= threshold and squares.max() <= 1e300):
        close = np.flatnonzero(~((products >= threshold) & (squares <= 1e300)))
        norms[close] = row_norms(differences(take(close), centre))
    return norms


def differences(block: Vector, centre: Vector) -> Vector:
    """Return rows minus a centre; differences may overflow the doubles."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(block - centre)
