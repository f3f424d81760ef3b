"""A method in plain words: its steps, its proof of privacy in short, its flaws, and one example."""

from __future__ import annotations

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
    """Why a method is private, in the order in which one proves it.

    Parameters
    ----------
    sensitivity : str
        What a neighbour can change, and by how much at most.
    mechanism : str
        The noise that hides it, and where its size comes from.
    composition : str
        What all releases cost together.
    """

    sensitivity: str
    mechanism: str
    composition: str

    @property
    def steps(self) -> tuple[tuple[str, str], ...]:
        """The three sentences with their titles."""
        return tuple((f.name.capitalize(), getattr(self, f.name)) for f in fields(self))


@dataclass(frozen=True, kw_only=True)
class Story:
    r"""A method in plain words, for people; formulas stand between dollar signs.

    Parameters
    ----------
    what : str
        What it does, in three sentences.
    steps : tuple of str
        As the library runs them.
    assumptions : tuple of str
        What accuracy and the guarantee need; privacy's own are in `privacy`.
    privacy : Proof or None
        None for a method without privacy.
    smooth : str
        What must be smooth.
    order : str
        Time of a run in LaTeX, without dollars.
    cost : str
        Gradients and passes in words.
    when : str
        When to choose it.
    pitfalls : tuple of str
        What goes wrong in use.
    errata : tuple of str
        Flaws of the paper's calibration or theorem, and what the library does instead.
    example : mapping of str
        Fields of a scenario in which it runs, beside a baseline; small enough for the dashboard.
    """

    what: str
    steps: tuple[str, ...]
    assumptions: tuple[str, ...]
    privacy: Proof | None
    smooth: Smooth
    order: str
    cost: str
    when: str
    pitfalls: tuple[str, ...]
    errata: tuple[str, ...] = ()
    example: Mapping[str, Any]
