r"""The geometries of a scenario: a constraint set, a norm, and the place of the truth."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of
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

    kind: str = "l2"  # the kind of set, one of `GEOMETRIES`
    # the exponent for the kind ``"lq"``: at least 1, infinity allowed; None for other kinds
    q: float | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown kind of set, and an exponent that does not fit the kind."""
        one_of("geometry", self.kind, GEOMETRIES)
        if self.kind == "lq":
            has_exponent = self.q is not None and self.q >= 1
            require(has_exponent, "q", "at least 1 for the geometry lq", self.q)
        else:
            require(self.q is None, "q", f"left out for the geometry {self.kind}", self.q)

    @property
    def exponent(self) -> float:
        """The exponent of the parameters' norm, for gradients and mirror maps.

        It is 1 for the simplices, whose points have that norm, and 2 for sets that are not the ball
        of an l_q norm.
        """
        return EXPONENTS.get(self.kind, 2.0) if self.q is None else self.q

    def check_dimension(self, d: int) -> None:
        """Raise `InvalidInput` if there is no set of dimension `d`."""
        if self.kind == "group-l1":
            is_multiple = d % GROUP_SIZE == 0
            require(is_multiple, "d", f"a multiple of {GROUP_SIZE} for the geometry group-l1", d)
        if self.kind == "simplex":
            # In one dimension the simplex is a single point, so there is nothing to estimate.
            require(d >= 2, "d", "at least 2 for the geometry simplex", d)

    def constraint(self, d: int, radius: float) -> ConstraintSet:
        """Return the set of this dimension and radius; equal arguments give the same object."""
        return _cached_constraint(self, d, radius)

    def point(self, d: int, size: float, radius: float) -> Vector:
        r"""Return the true parameter of a given size, at most `radius`, shape (d,).

        Among the points with that norm it has the largest l2 norm: it lies on the first axis for
        q < 2, for groups and for sparse vectors, and on the diagonal for q >= 2. Every point of the
        simplex has the same norm; there size/radius is its relative distance from the centre to
        the first corner.

        Examples
        --------
        >>> Geometry(kind="linf").point(3, 0.5, 1.0), Geometry(kind="l1").point(3, 0.5, 1.0)
        (array([0.5, 0.5, 0.5]), array([0.5, 0. , 0. ]))
        """
        even, addition = self.parts(d, size, radius)
        point = np.full(d, even)
        point[0] += addition
        return point

    def parts(self, d: int, size: float, radius: float) -> tuple[float, float]:
        """Return the value of `point` in every coordinate, and the addition in the first.

        Neither is negative. Raises `InvalidInput` for a size that is negative or above `radius`.
        """
        check_offset(size, radius)
        if self.kind == "simplex":
            return (radius - size) / d, size
        if self.kind == "l2" or (self.exponent >= 2 and self.kind in ("lq", "linf")):
            return size / lq_norm(np.ones(d), self.exponent), 0.0
        return 0.0, size

    def diagonal(self, d: int, radius: float) -> tuple[float, float]:
        """Return the smallest and the largest c for which (c, ..., c) is in the set."""
        if self.kind == "simplex":
            return radius / d, radius / d
        if self.kind == "solid-simplex":
            return 0.0, radius / d
        if self.kind in ("group-l1", "sparse"):
            largest = 1 / self.constraint(d, radius).minkowski_norm(np.ones(d))
        else:
            largest = radius / lq_norm(np.ones(d), self.exponent)
        return -largest, largest

    def __str__(self) -> str:
        """Return the kind of set; for lq balls, l and the exponent."""
        return self.kind if self.q is None else f"l{self.q:g}"


L2 = Geometry()


def check_offset(offset: float, radius: float) -> None:
    """Raise `InvalidInput` unless `offset`, the norm of a true parameter, is in [0, radius]."""
    require(0 <= offset <= radius, "offset", "at least 0 and at most diameter/2", offset)


@lru_cache(maxsize=256)
def _cached_constraint(geometry: Geometry, d: int, radius: float) -> ConstraintSet:
    """Return the set of a geometry; the cache gives one object for equal arguments."""
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
