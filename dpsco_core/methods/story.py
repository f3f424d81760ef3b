"""A method in plain words: its steps, its proof of privacy in short, its flaws, and one example."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

# The part of a problem that must be smooth.
Smooth = Literal[
    "no loss",
    "nothing",
    "the risk",
    "the risk, for its theorem",
    "every loss",
    "every loss, twice",
]


@dataclass(frozen=True, kw_only=True)
class Proof:
    """The proof that a method is private, in three parts."""

    sensitivity: str  # the largest change of a release when a record or user is replaced
    mechanism: str  # the noise mechanism, and how its scale is chosen
    composition: str  # the privacy cost of all releases together

    @property
    def steps(self) -> tuple[tuple[str, str], ...]:
        """The three parts of the proof with their titles."""
        return tuple((f.name.capitalize(), getattr(self, f.name)) for f in fields(self))


@dataclass(frozen=True, kw_only=True)
class Story:
    """A plain-language description of a method; formulas are between dollar signs."""

    what: str  # a description of the method in three sentences
    steps: tuple[str, ...]  # the steps as the library runs them
    # The assumptions for accuracy and for the guarantee; those for privacy alone are in `privacy`.
    assumptions: tuple[str, ...]
    privacy: Proof | None  # None for a method without privacy
    smooth: Smooth  # the part of the problem that must be smooth
    order: str  # the running time in LaTeX, without dollar signs
    cost: str  # the number of gradients and passes, in words
    when: str  # when to choose the method
    pitfalls: tuple[str, ...]  # common mistakes in use
    # Flaws of the paper's calibration or theorem, and what the library does instead.
    errata: tuple[str, ...] = ()
    # A scenario in which the method runs beside a baseline, small enough for the dashboard.
    example: Mapping[str, Any]
