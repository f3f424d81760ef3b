"""What every constraint set can do, and what is known of its Gaussian width."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

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


class ConstraintSet(Protocol):
    """A compact convex set of :math:`R^d` that the parameters must lie in."""

    @property
    def d(self) -> int:
        """The dimension."""

    @property
    def centre(self) -> Vector:
        """A point in the middle of the set, shape (d,): where optimisers start."""

    @property
    def diameter(self) -> float:
        """The l2 diameter: the paper's norm of the set."""

    @property
    def l2_radius(self) -> float:
        """The largest l2 norm of a point of the set: its radius about 0."""

    @property
    def inradius(self) -> float:
        """The smallest l2 norm of a boundary point; `InvalidInput` unless 0 is inside."""

    def project(self, w: Vector) -> Vector:
        """Return the point of the set that is nearest in l2 to the finite `w`, shape (d,)."""

    def support(self, g: Vector) -> float:
        r"""Return :math:`\max_{w \in C} \langle g, w\rangle`."""

    def support_point(self, g: Vector) -> Vector:
        r"""Return a point w of the set with :math:`\langle g, w\rangle` largest, shape (d,).

        The same one for the same `g`, ties included.
        """

    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        """Whether `w` lies in the set, up to `tolerance` relative to the size of the set."""

    def diameter_in(self, exponent: float) -> float:
        """Return the diameter in the l_q norm, q >= 1, infinity allowed."""

    def radius_in(self, exponent: float) -> float:
        """Return the largest l_q norm of a point of the set, q >= 1, infinity allowed."""

    def minkowski_norm(self, w: Vector) -> float:
        r"""Return :math:`\min\{t > 0 : w \in tC\}`; `InvalidInput` unless C = -C."""

    def gaussian_width(self) -> Width:
        """Return the Gaussian width, exact or between two bounds."""


class Symmetric(ABC):
    """What a set C = -C has in common with every other one. It is its norm's unit ball."""

    d: int

    @property
    def centre(self) -> Vector:
        """The centre 0, shape (d,)."""
        return np.zeros(self.d)

    @property
    @abstractmethod
    def l2_radius(self) -> float:
        """The largest l2 norm of a point of the set."""

    @property
    def diameter(self) -> float:
        """The l2 diameter, twice the radius."""
        return 2 * self.l2_radius

    @abstractmethod
    def diameter_in(self, exponent: float) -> float:
        """Return the diameter in the l_q norm."""

    def radius_in(self, exponent: float) -> float:
        """Return the largest l_q norm of a point: half the diameter."""
        return self.diameter_in(exponent) / 2

    @abstractmethod
    def minkowski_norm(self, w: Vector) -> float:
        """Return the norm whose unit ball the set is."""

    def contains(self, w: Vector, tolerance: float = 1e-9) -> bool:
        """Whether the Minkowski norm of `w` is at most 1 + `tolerance`."""
        return bool(np.isfinite(w).all()) and self.minkowski_norm(w) <= 1 + tolerance


def check_radius(radius: float, name: str = "radius") -> None:
    """Refuse a size that is not finite and positive."""
    require(0 < radius < math.inf, name, "finite and positive", radius)


def check_dimension(d: int) -> None:
    """Refuse what is not an integer of at least 1."""
    require(isinstance(d, int) and d >= 1, "d", "a positive integer", d)


def not_symmetric(quantity: str, name: str) -> InvalidInput:
    """Return the refusal of what only a set C = -C has."""
    return InvalidInput(f"constraint must be symmetric about 0 for {quantity}, got a {name}.")
