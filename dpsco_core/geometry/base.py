"""What every constraint set can do, and what is known of its Gaussian width."""

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

    # the width where `exact`, to a relative 1e-10; its upper bound otherwise, which is what a bound
    # on an error needs
    value: float
    # proven bounds; both are `value` where `exact`
    lower: float
    upper: float
    exact: bool  # whether the width is known in closed form or by a convergent quadrature

    @classmethod
    def known(cls, value: float) -> Width:
        """Return an exact width."""
        return cls(value=value, lower=value, upper=value, exact=True)

    @classmethod
    def between(cls, lower: float, upper: float) -> Width:
        """Return a width of which two bounds are proven."""
        return cls(value=upper, lower=min(lower, upper), upper=upper, exact=False)


class ConstraintSet(ABC):
    """A compact convex set of :math:`R^d` that the parameters must lie in."""

    d: int

    # what a sentence calls the set, article included
    name: str = "another convex set"

    @property
    @abstractmethod
    def centre(self) -> Vector:
        """A point in the middle of the set, shape (d,): where optimisers start."""

    @property
    def diameter(self) -> float:
        """The l2 diameter: the paper's norm of the set."""
        return self.diameter_in(2.0)

    @property
    def l2_radius(self) -> float:
        """The largest l2 norm of a point of the set: its radius about 0."""
        return self.radius_in(2.0)

    @property
    def reach(self) -> float:
        r"""Bound on the l2 distance of a point from the centre, exact where the centre is 0.

        :math:`\|w-c\|^2\le R^2-2\min_C\langle c,w\rangle+\|c\|^2`, with c the centre and R the
        largest norm; the diameter is one too.
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
        r"""Return :math:`\max_{w \in C} \langle g, w\rangle`."""

    @abstractmethod
    def support_point(self, g: Vector) -> Vector:
        r"""Return a point w of the set with :math:`\langle g, w\rangle` largest, shape (d,).

        The same one for the same `g`, ties included.
        """

    @abstractmethod
    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        """Whether `w` lies in the set, up to `tolerance` relative to the size of the set."""

    @abstractmethod
    def diameter_in(self, exponent: float) -> float:
        """Return the diameter in the l_q norm, q >= 1, infinity allowed."""

    @abstractmethod
    def radius_in(self, exponent: float) -> float:
        """Return the largest l_q norm of a point of the set, q >= 1, infinity allowed."""

    @abstractmethod
    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`\min\{t > 0 : w \in tC\}`; `InvalidInput` unless C = -C."""

    @abstractmethod
    def gaussian_width(self) -> Width:
        """Return the Gaussian width, exact or between two bounds."""


class Symmetric(ConstraintSet):
    """A set C = -C: the unit ball of its Minkowski norm."""

    @property
    def centre(self) -> Vector:
        return np.zeros(self.d)

    @property
    def diameter(self) -> float:
        return 2 * self.l2_radius

    def diameter_in(self, exponent: float) -> float:
        return 2 * self.radius_in(exponent)

    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        return bool(np.isfinite(w).all()) and self.minkowski_norm(w) <= 1 + tolerance


class Sized(ConstraintSet):
    """A set that its dimension, at least 1, and its radius, finite and positive, give."""

    radius: float

    def __post_init__(self) -> None:
        check_dimension(self.d)
        check_radius(self.radius)


def check_radius(radius: float, name: str = "radius") -> None:
    """Refuse a size that is not finite and positive."""
    require(0 < radius < math.inf, name, "finite and positive", radius)


def check_dimension(d: int) -> None:
    """Refuse what is not an integer of at least 1."""
    require(isinstance(d, int) and d >= 1, "d", "a positive integer", d)


def freeze_array(body: ConstraintSet, name: str, shape: str, *, ndim: int, least: float) -> None:
    """Hold a copy of a set's array, above `least` and finite, and its last length as d."""
    given = getattr(body, name)
    array = np.array(given, dtype=float)
    finite = bool(((array > least) & (array < math.inf)).all())
    require(array.ndim == ndim and array.size > 0 and finite, name, shape, given)
    array.flags.writeable = False
    object.__setattr__(body, name, array.view())  # a view cannot be made writeable again
    object.__setattr__(body, "d", array.shape[-1])


def not_symmetric(quantity: str, name: str) -> InvalidInput:
    """Return the refusal of what only a set C = -C has."""
    return InvalidInput(f"constraint must be symmetric about 0 for {quantity}, got a {name}.")
