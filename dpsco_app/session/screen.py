"""The screen of a visit: one frozen value, whose parts are all about the same runs."""

from dataclasses import dataclass
from functools import cached_property

from dpsco_app.front.figure import nests
from dpsco_app.front.notice import to_notice
from dpsco_app.front.questions.cards import Question, cards_of
from dpsco_app.front.questions.guesses import PriceGuess
from dpsco_app.front.screen import FrontScreen
from dpsco_app.front.second import companions_of
from dpsco_app.front.study import Study
from dpsco_app.front.titles import panel_names
from dpsco_app.front.view import View
from dpsco_app.session.result import Result
from dpsco_core.runs.cost import Cost
from dpsco_core.scenario import Scenario

LIVE_SECONDS = 6.0  # work that is predicted to take less time starts by itself


@dataclass(frozen=True, kw_only=True)
class Screen:
    """A moment of a visit: headline, figure, table and words are all about `studies`."""

    front: FrontScreen  # headline, figure and table
    result: Result  # the outcomes of all panels, including those that are not drawn
    view: View
    current_scenario: Scenario  # the scenario of the controls
    refused: str  # why that cannot run, in one sentence; empty if it can
    is_empty: bool  # whether nothing has run yet, and nothing may
    is_old: bool  # whether all that is shown is of a run before the last change
    is_running: bool
    is_read_only: bool  # whether it is a stored study that is too large to be run here
    has_room: bool  # whether two panels have room side by side
    finished: int  # how many of the last requested runs are done
    cells: int  # how many runs were requested
    left: Cost | None  # what is left to run; None where it is complete, or may not run
    address: dict[str, str]  # the parameters of a link to the last settings that were allowed
    wrong: tuple[str, ...]  # what is wrong with the address that was opened
    guess: PriceGuess | None = None  # what is asked before a question opens, or has been guessed

    @property
    def studies(self) -> tuple[Study, ...]:
        """The panels: what has been measured, between the bounds of the settings that ran."""
        return self.front.studies

    @property
    def scenario(self) -> Scenario:
        """The scenario of all that is drawn and said; `is_old` marks all of it."""
        return self.result.scenario

    @property
    def runs_by_itself(self) -> bool:
        """Whether what the controls ask for is so little work that it waits for no button."""
        waits_for_runs = self.is_old and not self.is_running and self.left is not None
        return waits_for_runs and self.left is not None and self.left.seconds < LIVE_SECONDS

    @property
    def is_complete(self) -> bool:
        return not self.is_old and not self.is_running and self.result.complete

    @property
    def allowed(self) -> Scenario | None:
        """What the controls say, where that can run."""
        return None if self.refused else self.current_scenario

    @cached_property
    def cards(self) -> tuple[Question, ...]:
        """The questions below the figure; none below two panels, or where nothing has run."""
        if self.is_empty or not nests(self.studies, self.view):
            return ()
        study = self.studies[0]
        guess = None if self.is_old else self.guess
        return cards_of(study, self.scenario, "" if self.is_old else self.view.card, guess)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a visitor should see in the figure."""
        return to_notice(self.scenario, self.view)

    @cached_property
    def panel_names(self) -> dict[str, str]:
        """The panels that can be chosen, by what they are called; empty where there is one only."""
        pair = companions_of(self.scenario, self.view.against, self.view.pin)
        if pair.second_scenario is None:
            return {}
        names = panel_names(self.scenario, pair.second_scenario, pair.role)
        return names if self.has_room else {k: v for k, v in names.items() if k != "both"}

    @property
    def panel(self) -> str:
        """The panel that is drawn, of those that can be chosen."""
        if self.view.panel in self.panel_names:
            return self.view.panel
        return "both" if self.has_room and len(self.studies) > 1 else "first"

    @property
    def seconds(self) -> float:
        """The time that the runs have taken, one after another."""
        return sum(o.seconds for part in self.result.parts for o in part.outcomes)

    @property
    def status(self) -> str:
        """How many runs there are, and what is left to do."""
        finished, cells = f"{self.finished:,}", f"{self.cells:,}"
        if self.is_running:
            return f"{finished} of {cells} runs"
        if self.is_old and self.left is None:
            return "These settings cannot be run"
        if self.is_old and self.left is not None:
            return f"Settings changed: {self.left.cells:,} runs, {in_seconds(self.left.seconds)}"
        if self.finished == self.cells:
            return f"Measured in {finished} runs"
        if self.left is None:
            return f"Stored: {finished} of {cells} runs"
        return f"Stopped at {finished} of {cells} runs; {in_seconds(self.left.seconds)} left"


def in_seconds(seconds: float) -> str:
    return "less than 1 s" if seconds < 0.95 else f"about {seconds:,.0f} s"
