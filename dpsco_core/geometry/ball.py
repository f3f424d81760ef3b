"""The Euclidean ball, centred at 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.errors import require

Vector = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Ball:
    r"""The set :math:`\{w \in R^d : \|w\|_2 \le r\}`.

    Parameters
    ----------
    d : int
        Dimension, at least 1.
    radius : float
        r, finite and positive.

    Examples
    --------
    >>> Ball(d=2, radius=1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    d: int
    radius: float

    def __post_init__(self) -> None:
        require(isinstance(self.d, int) and self.d >= 1, "d", "a positive integer", self.d)
        require(0 < self.radius < math.inf, "radius", "finite and positive", self.radius)

    @property
    def diameter(self) -> float:
        """The l2 diameter, 2r."""
        return 2 * self.radius

    @property
    def centre(self) -> Vector:
        """The centre 0, shape (d,): where every optimiser starts."""
        return np.zeros(self.d)

    def project(self, w: Vector) -> Vector:
        """Return the point of the ball that is nearest to the finite vector `w`, shape (d,)."""
        norm = math.sqrt(float(w @ w))
        return w if norm <= self.radius else w * (self.radius / norm)

    def support(self, g: Vector) -> float:
        r"""Return :math:`\max_{w} \langle g, w\rangle = r\|g\|_2`, the support function."""
        return self.radius * math.sqrt(float(g @ g))
