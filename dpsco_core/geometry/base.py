"""The interface of constraint sets, and of their Gaussian widths."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, require


@dataclass(frozen=True, kw_only=True)
class Width:
    r"""The Gaussian width :math:`G_C = E \max_{w \in C} \langle\xi, w\rangle`, or its bounds.

    It depends on no data, so that it costs no privacy to compute (Su et al. 2023, Definition 12).
    """

    # The width, to a relative accuracy of 1e-10 if `exact`; otherwise the upper bound, which error
    # bounds need.
    value: float
    # proven lower and upper bounds on the width; both equal `value` if `exact`
    lower: float
    upper: float
    exact: bool  # whether the width has a closed form or a convergent quadrature

    @classmethod
    def from_value(cls, value: float) -> Width:
        """Return a width that is known exactly, with equal lower and upper bounds."""
        return cls(value=value, lower=value, upper=value, exact=True)

    @classmethod
    def from_bounds(cls, lower: float, upper: float) -> Width:
        """Return a width that is known by two proven bounds; its `value` is the upper one."""
        return cls(value=upper, lower=min(lower, upper), upper=upper, exact=False)


class ConstraintSet(ABC):
    """A compact convex set of :math:`R^d` that the parameters must lie in."""

    d: int

    # the name of the set in a sentence, with its article
    name: str = "another convex set"

    @property
    @abstractmethod
    def centre(self) -> Vector:
        """A point in the middle of the set, shape (d,), where optimisers start."""

    @property
    def diameter(self) -> float:
        """The l2 diameter of the set."""
        return self.diameter_in(2.0)

    @property
    def l2_radius(self) -> float:
        """The largest l2 norm of a point of the set."""
        return self.radius_in(2.0)

    @property
    def reach(self) -> float:
        r"""Bound on the l2 distance of a point from the centre, exact where the centre is 0.

        :math:`\|w-c\|^2\le R^2-2\min_C\langle c,w\rangle+\|c\|^2`, with c the centre and R the
        largest norm; the diameter is another bound, and the smaller one is returned.
        """
        centre = self.centre
        square = self.l2_radius**2 + 2 * self.support(-centre) + float(centre @ centre)
        return min(math.sqrt(max(0.0, square)), self.diameter)

    @property
    @abstractmethod
    def inradius(self) -> float:
        """The smallest l2 norm of a boundary point; `InvalidInput` unless 0 is inside."""

    @abstractmethod
    def project(self, w: Vector) -> Vector:
        """Return the point of the set that is nearest in l2 to the finite `w`, shape (d,)."""

    @abstractmethod
    def support(self, g: Vector) -> float:
        r"""Return the support function :math:`\max_{w \in C} \langle g, w\rangle`."""

    @abstractmethod
    def support_point(self, g: Vector) -> Vector:
        r"""Return a point w of the set that maximises :math:`\langle g, w\rangle`, shape (d,).

        Equal `g` give the same point, ties included.
        """

    @abstractmethod
    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        """Return whether `w` lies in the set, up to `tolerance` relative to the size of the set."""

    @abstractmethod
    def diameter_in(self, exponent: float) -> float:
        """Return the diameter in the l_q norm, q >= 1, infinity allowed."""

    @abstractmethod
    def radius_in(self, exponent: float) -> float:
        """Return the largest l_q norm of a point of the set, q >= 1, infinity allowed."""

    @abstractmethod
    def minkowski_norm(self, w: Vector) -> float:
        r"""Return the Minkowski norm :math:`\min\{t > 0 : w \in tC\}`.

        Raises `InvalidInput` unless C = -C.
        """

    @abstractmethod
    def gaussian_width(self) -> Width:
        """Return the Gaussian width, exact or between two bounds."""


class Symmetric(ConstraintSet):
    """A set with C = -C, which is the unit ball of its Minkowski norm."""

    @property
    def centre(self) -> Vector:
        """The centre of the set: the origin, shape (d,)."""
        return np.zeros(self.d)

    @property
    def diameter(self) -> float:
        """The l2 diameter: twice the radius."""
        return 2 * self.l2_radius

    def diameter_in(self, exponent: float) -> float:
        """Return the diameter in the l_exponent norm: twice the radius."""
        return 2 * self.radius_in(exponent)

    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        """Return whether w is in the set enlarged by the factor 1 + tolerance."""
        return bool(np.isfinite(w).all()) and self.minkowski_norm(w) <= 1 + tolerance


class Sized(ConstraintSet):
    """A set that is given by its dimension, at least 1, and its radius, finite and positive."""

    radius: float

    def __post_init__(self) -> None:
        """Refuse a dimension or a radius outside its range."""
        check_dimension(self.d)
        check_radius(self.radius)


def check_radius(radius: float, name: str = "radius") -> None:
    """Raise `InvalidInput`, about the argument `name`, unless `radius` is finite and positive."""
    require(0 < radius < math.inf, name, "finite and positive", radius)


def check_dimension(d: int) -> None:
    """Raise `InvalidInput` unless `d` is an integer of at least 1."""
    require(isinstance(d, int) and d >= 1, "d", "a positive integer", d)


def freeze_array(
    body: ConstraintSet, name: str, shape: str, *, ndim: int, lower_limit: float
) -> None:
    """Replace the array `name` of a set by a read-only copy, and set its d to the last length.

    Raises `InvalidInput`, which asks for `shape`, unless the array has `ndim` axes, is not empty,
    and all its entries are finite and above `lower_limit`.
    """
    values = getattr(body, name)
    array = np.array(values, dtype=float)
    is_within = bool(((array > lower_limit) & (array < math.inf)).all())
    require(array.ndim == ndim and array.size > 0 and is_within, name, shape, values)
    array.flags.writeable = False
    # A view of a read-only array cannot be made writeable again.
    object.__setattr__(body, name, array.view())
    object.__setattr__(body, "d", array.shape[-1])


def not_symmetric(quantity: str, name: str) -> InvalidInput:
    """Return the error for a quantity that only a symmetric set, C = -C, has."""
    return InvalidInput(f"constraint must be symmetric about 0 for {quantity}, got a {name}.")
