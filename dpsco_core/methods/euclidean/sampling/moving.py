"""The interface by which private SGD takes mirror steps with another potential than the square."""

from collections.abc import Callable
from typing import Protocol

from dpsco_core.base.arrays import Vector
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.mirror import PowerMirror

# A function of a point w and a pull that returns the next point.
Move = Callable[[Vector, Vector], Vector]


class MovingPotential(Protocol):
    """A potential for mirror steps, in place of the squared norm: see `methods.lq.noisy`."""

    @property
    def start(self) -> Vector:
        """The point at which the method begins."""
        ...

    @property
    def mirror(self) -> PowerMirror:
        """The mirror map of the potential."""
        ...

    def move(self, constraint: ConstraintSet) -> Move:
        """Return the function that makes a step on a constraint set."""
        ...
