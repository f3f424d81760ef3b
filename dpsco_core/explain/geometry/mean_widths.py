r"""Gaussian widths of sets as functions of the dimension, for a figure.

The width of C is the mean of the support function, :math:`G_C = E\max_{w\in C}\langle\xi, w\rangle`
with a standard normal :math:`\xi`: theory/su-zhao-wang.md, 7.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dpsco_core.base.errors import require
from dpsco_core.geometry import (
    Width,
)
from dpsco_core.geometry.geometries import GEOMETRIES, Geometry

DIMENSIONS = (5, 10, 20, 50, 100, 200, 500, 1000)  # The dimensions are multiples of a group's size.
GUIDES: dict[str, Callable[[float], float]] = {
    "√d": math.sqrt,
    "√(2 ln d)": lambda d: math.sqrt(2 * math.log(d)),
}


@dataclass(frozen=True, kw_only=True)
class WidthRow:
    """The width of one set of radius 1 in `d` dimensions."""

    kind: str
    d: int
    width: Width


@lru_cache(maxsize=64)
def width_table(q: float) -> tuple[WidthRow, ...]:
    """Return the widths of the sets of radius 1 in each of `DIMENSIONS`, set after set.

    The group-l1 ball has groups of 5 coordinates, the sparse hull sparsity 5, and ``"lq"`` the
    exponent `q`.
    """
    require(q >= 1, "q", "at least 1", q)
    sets = {kind: Geometry(kind=kind, q=q if kind == "lq" else None) for kind in GEOMETRIES}
    return tuple(
        WidthRow(kind=kind, d=d, width=geometry.constraint(d, 1.0).gaussian_width())
        for kind, geometry in sets.items()
        for d in DIMENSIONS
    )
