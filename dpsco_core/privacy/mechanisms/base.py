"""What a `Ledger` asks of a mechanism: the cost of a release, and the draw."""

from typing import ClassVar, Protocol, TypeVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.privacy.entries import Entry

Released = TypeVar("Released", covariant=True)
Opened = TypeVar("Opened", covariant=True)


class Mechanism(Protocol[Released]):
    """One release of one exact value: see `Ledger.release`."""

    label: ClassVar[str]  # the name of the release, if the caller gives none

    def entry(self, value: Vector, label: str) -> Entry:
        """Return what a ledger records; raises `InvalidInput` for what noise cannot hide."""
        ...

    def draw(self, value: Vector, rng: np.random.Generator) -> Released:
        """Return what is released of `value`."""
        ...


class Sequence(Protocol[Opened]):
    """Releases that are paid for together, before the first of them: see `Ledger.open`."""

    label: ClassVar[str]

    def entries(self, label: str) -> tuple[Entry, ...]:
        """Return what a ledger records of all of them."""
        ...

    def open(self) -> Opened:
        """Return what makes the releases, one after the other, and no more than were paid for."""
        ...
