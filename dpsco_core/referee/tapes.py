"""Ledgers that record what a run releases, and that replay it on a neighbour.

A replayed run gets the noisy values of the recorded one, so that all of its statistics are asked
for at the same points: then each may differ by the sensitivity that its entry states, and by
nothing more. Only single releases are seen; steps that a ledger opens are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.geometry.norms import lq_norm
from dpsco_core.privacy import Exponential, LaplaceNoise, Ledger, Shaped
from dpsco_core.privacy.entries import Entry


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One recorded release: exact value, ledger entry, exponent of the norm, and output."""

    value: Vector
    entry: Entry
    norm: float
    output: Any


@dataclass
class Tape:
    """The releases of one run in order, and whether the run opened a sequence of steps."""

    releases: list[Recorded] = field(default_factory=list)
    has_steps: bool = False


@dataclass
class RecordingLedger(Ledger):
    """A ledger that records exact values; given `original`, it repeats that tape's outputs."""

    tape: Tape = field(default_factory=Tape)
    original: Tape | None = None

    def release(
        self, mechanism: Any, value: Vector, rng: np.random.Generator, *, label: str = ""
    ) -> Any:
        """Release like a ledger and record the release; a replay returns the original's output.

        The random generator advances equally in both cases.
        """
        output = super().release(mechanism, value, rng, label=label)
        place = len(self.tape.releases)
        if self.original is not None and place < len(self.original.releases):
            output = self.original.releases[place].output
        self.tape.releases.append(
            Recorded(
                value=np.array(value, dtype=float),
                entry=self.entries[-1],
                norm=norm_exponent(mechanism),
                output=output,
            )
        )
        return output

    def open(self, sequence: Any, *, label: str = "") -> Any:
        """Open a sequence; the exact statistics of its steps are not recorded."""
        self.tape.has_steps = True
        return super().open(sequence, label=label)

    def disjoint(self, blocks: int) -> tuple[Ledger, ...]:
        """Return the ledgers of the blocks, on the same tape."""
        return tuple(
            RecordingLedger(
                part.budget,
                _parent=part._parent,
                _part=part._part,
                tape=self.tape,
                original=self.original,
            )
            for part in super().disjoint(blocks)
        )


def norm_exponent(mechanism: Any) -> float:
    """Return the exponent of the norm in which a mechanism states its sensitivity."""
    if isinstance(mechanism, Exponential):
        return np.inf
    if isinstance(mechanism, Shaped) and mechanism.noise != "gaussian":
        return float(mechanism.norm.dual)
    return 1.0 if isinstance(mechanism, LaplaceNoise) else 2.0


def largest_excess(tape: Tape, neighbour_tape: Tape) -> tuple[float, Recorded | None]:
    """Return the largest change of a release over its stated sensitivity, and that release.

    The two tapes are those of runs on neighbours; without a change the release is None.
    """
    largest, worst = 0.0, None
    for release, neighbour in zip(tape.releases, neighbour_tape.releases, strict=False):
        if release.value.shape != neighbour.value.shape or release.entry.sensitivity <= 0:
            continue
        move = float(lq_norm((release.value - neighbour.value).ravel(), release.norm))
        excess = move / release.entry.sensitivity
        if excess > largest:
            largest, worst = excess, release
    return largest, worst
