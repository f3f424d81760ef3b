"""The screen of a visit: a frozen value whose parts all describe the same runs."""

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

LIVE_SECONDS = 6.0  # Work that is predicted to take less than this many seconds starts by itself.


@dataclass(frozen=True, kw_only=True)
class Screen:
    """What a visit shows at one moment: headline, figure, table and words, all about `studies`."""

    front: FrontScreen  # The headline, the figure and the table.
    result: Result  # The outcomes of all panels, including panels that are not drawn.
    view: View
    current_scenario: Scenario  # The scenario of the controls.
    refused: str  # Why the scenario of the controls cannot run, in one sentence; empty if it can.
    is_empty: bool  # Whether nothing has run yet and nothing is allowed to run.
    # Whether everything shown belongs to a run before the last change of the settings.
    is_old: bool
    is_running: bool
    is_read_only: bool  # Whether the screen shows a stored study that is too large to be run here.
    has_room: bool  # Whether two panels fit side by side.
    finished: int  # The number of finished runs among the last requested ones.
    cells: int  # The number of requested runs.
    left: Cost | None  # The work that is left; None if the result is complete or may not run.
    address: dict[str, str]  # The link parameters of the last allowed settings.
    wrong: tuple[str, ...]  # The errors in the address that was opened.
    # The guess that a question asks for before it opens, or the guess already made.
    guess: PriceGuess | None = None

    @property
    def studies(self) -> tuple[Study, ...]:
        """The panels that are shown, each with its scenario and its outcomes."""
        return self.front.studies

    @property
    def scenario(self) -> Scenario:
        """The scenario that everything on screen describes; `is_old` says that it is outdated."""
        return self.result.scenario

    @property
    def runs_by_itself(self) -> bool:
        """Whether the settings need so little work that they run without pressing Run."""
        waits_for_runs = self.is_old and not self.is_running and self.left is not None
        return waits_for_runs and self.left is not None and self.left.seconds < LIVE_SECONDS

    @property
    def is_complete(self) -> bool:
        """Whether the screen shows all runs of its scenario."""
        return not self.is_old and not self.is_running and self.result.complete

    @property
    def allowed(self) -> Scenario | None:
        """The scenario of the controls; None if it cannot run."""
        return None if self.refused else self.current_scenario

    @cached_property
    def cards(self) -> tuple[Question, ...]:
        """The questions below the figure; none below two panels or before anything has run."""
        if self.is_empty or not nests(self.studies, self.view):
            return ()
        study = self.studies[0]
        guess = None if self.is_old else self.guess
        return cards_of(study, self.scenario, "" if self.is_old else self.view.card, guess)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """The remarks that tell a visitor what to notice in the figure."""
        return to_notice(self.scenario, self.view)

    @cached_property
    def panel_names(self) -> dict[str, str]:
        """The names of the panels to choose from, by key; empty if there is only one."""
        pair = companions_of(self.scenario, self.view.against, self.view.pin)
        if pair.second_scenario is None:
            return {}
        names = panel_names(self.scenario, pair.second_scenario, pair.role)
        return names if self.has_room else {k: v for k, v in names.items() if k != "both"}

    @property
    def panel(self) -> str:
        """The key of the panel that is drawn."""
        if self.view.panel in self.panel_names:
            return self.view.panel
        return "both" if self.has_room and len(self.studies) > 1 else "first"

    @property
    def seconds(self) -> float:
        """The total computing time of the runs, in seconds."""
        return sum(o.seconds for part in self.result.parts for o in part.outcomes)

    @property
    def status(self) -> str:
        """The number of runs, and what is left to do, in words."""
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
    """Return a time in words, as in "about 12 s"."""
    return "less than 1 s" if seconds < 0.95 else f"about {seconds:,.0f} s"
