"""What a story of a method is: its words, its proof of privacy in short, and one example."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dpsco_core.base.cards import MethodCard
from dpsco_core.base.errors import require
from dpsco_core.catalogue import method_card
from dpsco_core.scenario import Scenario


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
    slug : str
        Of the method.
    what : str
        What it does, in three sentences.
    steps : tuple of str
        As the library runs them.
    assumptions : tuple of str
        What accuracy and the guarantee need; privacy's own are in `privacy`.
    privacy : Proof or None
        None for a method without privacy.
    smooth : str
        What must be smooth: a word for tables.
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
    example : Scenario
        Where it runs, beside a baseline; small enough for the dashboard.

    Raises
    ------
    InvalidInput
        If the method is unknown, the example does not run it, or `privacy` contradicts its card.
    """

    slug: str
    what: str
    steps: tuple[str, ...]
    assumptions: tuple[str, ...]
    privacy: Proof | None
    smooth: str
    order: str
    cost: str
    when: str
    pitfalls: tuple[str, ...]
    errata: tuple[str, ...] = ()
    example: Scenario

    def __post_init__(self) -> None:
        require(self.slug in self.example.methods, "example", "a run of the method", self.slug)
        private = self.card.privacy != "none"
        require(private == (self.privacy is not None), "privacy", "that of the card", self.slug)

    @property
    def card(self) -> MethodCard:
        """The catalogue's row of the method."""
        return method_card(self.slug)

    @property
    def point(self) -> Scenario:
        """The example's chosen point, with the method alone and a single trial."""
        values = self.example.to_dict() | {"axis": None, "grid": (), "trials": 1}
        return Scenario(**(values | {"methods": (self.slug,)}))

    def texts(self) -> tuple[str, ...]:
        """Return all sentences, for whoever checks their formulas."""
        proof = [] if self.privacy is None else [text for _, text in self.privacy.steps]
        every = (self.steps, self.assumptions, proof, self.pitfalls, self.errata)
        single = (self.what, f"${self.order}$", self.cost, self.when)
        return (*single, *(text for group in every for text in group))
