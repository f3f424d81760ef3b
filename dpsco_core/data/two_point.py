"""What is asked of a law whose records are 0 or one other."""

from typing import Protocol

from dpsco_core.base.arrays import Vector


class TwoPointLaw(Protocol):
    """A law whose records are 0 or one other."""

    @property
    def spike_probability(self) -> float:
        """How often a record is the other one."""
        ...

    @property
    def spike(self) -> Vector:
        """The other one, shape (d,)."""
        ...

    def mean_error(self, n: int) -> float:
        """Return the expected l2 distance of the average of n records from the mean."""
        ...
