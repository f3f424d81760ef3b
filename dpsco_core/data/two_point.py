"""The interface of a law whose records are 0 or one fixed vector."""

from typing import Protocol

from dpsco_core.base.arrays import Vector


class TwoPointLaw(Protocol):
    """A law whose records are 0 or one fixed vector."""

    @property
    def spike_probability(self) -> float:
        """The probability of a nonzero record."""
        ...

    @property
    def spike(self) -> Vector:
        """The nonzero record, shape (d,)."""
        ...
