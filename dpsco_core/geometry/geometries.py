r"""The geometries that a scenario can name: a constraint set, a norm, and where the truth lies."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.ball import lq_ball
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.norms import lq_norm
from dpsco_core.geometry.simplex import Simplex, SolidSimplex
from dpsco_core.geometry.sparse import GroupBall, SparseHull

Kind = Literal["l2", "l1", "lq", "linf", "simplex", "solid-simplex", "group-l1", "sparse"]
GEOMETRIES: tuple[str, ...] = get_args(Kind)
GROUP_SIZE = 5
SPARSITY = 5
EXPONENTS: dict[str, float] = {"l1": 1.0, "linf": math.inf, "simplex": 1.0, "solid-simplex": 1.0}


@dataclass(frozen=True, kw_only=True)
class Geometry:
    r"""A family of constraint sets, one for every dimension and radius, and a norm.

    ========================  ===================================================================
    kind                      set of radius r
    ========================  ===================================================================
    ``l2, l1, linf, lq``      :math:`\|w\|_q \le r`
    ``simplex``               :math:`w \ge 0`, :math:`\sum_j w_j = r`
    ``solid-simplex``         :math:`w \ge 0`, :math:`\sum_j w_j \le r`
    ``group-l1``              :math:`\sum_g \|w_g\|_2 \le r` over blocks of 5 coordinates
    ``sparse``                the hull of the vectors with :math:`\|w\|_2 \le r` and at most 5
                              entries that are not 0
    ========================  ===================================================================

    Examples
    --------
    >>> Geometry(kind="lq", q=1.5).constraint(3, 2.0)
    LqBall(d=3, exponent=1.5, radius=2.0)
    """

    kind: str = "l2"  # one of `GEOMETRIES`
    # The exponent for the kind ``"lq"``: at least 1, infinity allowed. None otherwise.
    q: float | None = None

    def __post_init__(self) -> None:
        require(self.kind in GEOMETRIES, "geometry", f"one of {', '.join(GEOMETRIES)}", self.kind)
        if self.kind == "lq":
            known = self.q is not None and self.q >= 1
            require(known, "q", "at least 1 for the geometry lq", self.q)
        else:
            require(self.q is None, "q", f"left out for the geometry {self.kind}", self.q)

    @property
    def exponent(self) -> float:
        """The exponent of the parameters' norm in which gradients and mirror maps are measured.

        1 for the simplices, whose points have that norm; 2 for the sets that are no norm's ball
        of one exponent.
        """
        return EXPONENTS.get(self.kind, 2.0) if self.q is None else self.q

    def check_dimension(self, d: int) -> None:
        """Raise `InvalidInput` where there is no set of dimension `d`."""
        if self.kind == "group-l1":
            fits = d % GROUP_SIZE == 0
            require(fits, "d", f"a multiple of {GROUP_SIZE} for the geometry group-l1", d)
        if self.kind == "simplex":
            # In one dimension it is a single point, of diameter 0: there is nothing to find.
            require(d >= 2, "d", "at least 2 for the geometry simplex", d)

    def constraint(self, d: int, radius: float) -> ConstraintSet:
        """Return the set; equal arguments give the same object."""
        return _constraint(self, d, radius)

    def point(self, d: int, size: float, radius: float) -> Vector:
        r"""Return the true parameter of a given size, at most `radius`, shape (d,).

        Of the points with that norm, it is one with the largest l2 norm: on the first axis for
        q < 2, for groups and for sparse vectors, on the diagonal for q >= 2. Every point of the
        simplex has the same norm: there, size/radius is how far it lies from the centre on the
        way to the first corner.

        Examples
        --------
        >>> Geometry(kind="linf").point(3, 0.5, 1.0), Geometry(kind="l1").point(3, 0.5, 1.0)
        (array([0.5, 0.5, 0.5]), array([0.5, 0. , 0. ]))
        """
        even, first = self.parts(d, size, radius)
        point = np.full(d, even)
        point[0] += first
        return point

    def parts(self, d: int, size: float, radius: float) -> tuple[float, float]:
        """Return what `point` has in every coordinate, and what the first has beside it.

        Neither is negative; raises `InvalidInput` for a size that is negative or above `radius`.
        """
        check_offset(size, radius)
        if self.kind == "simplex":
            return (radius - size) / d, size
        if self.kind == "l2" or (self.exponent >= 2 and self.kind in ("lq", "linf")):
            return size / lq_norm(np.ones(d), self.exponent), 0.0
        return 0.0, size

    def diagonal(self, d: int, radius: float) -> tuple[float, float]:
        """Return the least and the largest c for which (c, ..., c) is in the set."""
        if self.kind == "simplex":
            return radius / d, radius / d
        if self.kind == "solid-simplex":
            return 0.0, radius / d
        if self.kind in ("group-l1", "sparse"):
            most = 1 / self.constraint(d, radius).minkowski_norm(np.ones(d))
        else:
            most = radius / lq_norm(np.ones(d), self.exponent)
        return -most, most

    def __str__(self) -> str:
        return self.kind if self.q is None else f"l{self.q:g}"


L2 = Geometry()


def check_offset(offset: float, radius: float) -> None:
    """Refuse an offset that no point of a set of that radius has."""
    require(0 <= offset <= radius, "offset", "at least 0 and at most diameter/2", offset)


@lru_cache(maxsize=256)
def _constraint(geometry: Geometry, d: int, radius: float) -> ConstraintSet:
    geometry.check_dimension(d)
    match geometry.kind:
        case "simplex":
            return Simplex(d=d, radius=radius)
        case "solid-simplex":
            return SolidSimplex(d=d, radius=radius)
        case "group-l1":
            return GroupBall(d=d, group_size=GROUP_SIZE, radius=radius)
        case "sparse":
            return SparseHull(d=d, sparsity=min(d, SPARSITY), radius=radius)
    return lq_ball(d, geometry.exponent, radius)
