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
