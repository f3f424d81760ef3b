"""What a `Ledger` asks of a mechanism: the cost of a release, and the draw."""

from typing import ClassVar, Protocol, TypeVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.privacy.entries import Entry

Released = TypeVar("Released", covariant=True)
Opened = TypeVar("Opened", covariant=True)


class Mechanism(Protocol[Released]):
    """A mechanism for one release of one exact value: see `Ledger.release`."""

    label: ClassVar[str]  # the name of the release, if the caller gives none

    def entry(self, value: Vector, label: str) -> Entry:
        """Return the ledger's entry; raise `InvalidInput` for a value that noise cannot protect."""
        ...

    def draw(self, value: Vector, rng: np.random.Generator) -> Released:
        """Return one release of `value`."""
        ...


class Sequence(Protocol[Opened]):
    """Releases that are accounted for together, before the first of them: see `Ledger.open`."""

    label: ClassVar[str]

    def entries(self, label: str) -> tuple[Entry, ...]:
        """Return the ledger's entries for all releases."""
        ...

    def open(self) -> Opened:
        """Return the object that makes the releases, at most those accounted for."""
        ...
