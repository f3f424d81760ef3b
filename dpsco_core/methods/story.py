"""A method in plain words: its steps, its proof of privacy in short, its flaws, and one example."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

# What must be smooth.
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
    """Why a method is private, in the order in which one proves it."""

    sensitivity: str  # what a neighbour can change, and by how much at most
    mechanism: str  # the noise that hides it, and where its size comes from
    composition: str  # what all releases cost together

    @property
    def steps(self) -> tuple[tuple[str, str], ...]:
        """The three sentences with their titles."""
        return tuple((f.name.capitalize(), getattr(self, f.name)) for f in fields(self))


@dataclass(frozen=True, kw_only=True)
class Story:
    """A method in plain words, for people; formulas stand between dollar signs."""

    what: str  # what it does, in three sentences
    steps: tuple[str, ...]  # as the library runs them
    # what accuracy and the guarantee need; privacy's own are in `privacy`
    assumptions: tuple[str, ...]
    privacy: Proof | None  # None for a method without privacy
    smooth: Smooth  # what must be smooth
    order: str  # time of a run in LaTeX, without dollars
    cost: str  # gradients and passes in words
    when: str  # when to choose it
    pitfalls: tuple[str, ...]  # what goes wrong in use
    # flaws of the paper's calibration or theorem, and what the library does instead
    errata: tuple[str, ...] = ()
    # fields of a scenario in which it runs, beside a baseline; small enough for the dashboard
    example: Mapping[str, Any]
