"""The runs of a visit: the result of its settings, its companions, and its progress."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from dpsco_app.figure.theme import Theme
from dpsco_app.front.changes import no_method_message
from dpsco_app.front.links import BASE
from dpsco_app.front.screen import FrontScreen, front_screen
from dpsco_app.front.second import Companions, companions_of
from dpsco_app.front.study import Role, Study
from dpsco_app.front.view import ADDRESS, View
from dpsco_app.parts.evaluations import has_hardest_law
from dpsco_app.parts.options import HARDEST
from dpsco_app.session import screen as moment
from dpsco_app.session.cells import estimate, has_run
from dpsco_app.session.pace import DRAW_EVERY_SECONDS, figure_pace
from dpsco_app.session.result import Growth, Result
from dpsco_app.session.waiting import CANNOT, waiting_words
from dpsco_core.base.limits import Limits
from dpsco_core.runs.allowed import nearest_allowed, refusal
from dpsco_core.runs.cost import Cost
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

# The hardest data's panel runs by itself only if it is predicted to take at most this long.
BESIDE_SECONDS = 1.5
HEAD_START_SECONDS = 0.08
AT_ONCE_SECONDS = 0.5  # A run of at most this many seconds is drawn only once, at its end.


class Curves:
    """The runs of the present settings, and the result that is drawn until they finish."""

    def __init__(
        self,
        limits: Limits,
        *,
        runs_all: bool,
    ) -> None:
        """Begin without a result, within some limits of work.

        `runs_all` says that both panels run without being asked for, however long they take.
        """
        self.limits, self.runs_all = limits, runs_all
        self.result: Result | None = None  # The result of the last run.
        self.refused = ""  # Why the present settings cannot run; empty if they can.
        self.scenario, self.view, self.companions = BASE, ADDRESS.default, Companions()
        self._allowed = BASE  # The last scenario that was allowed to be drawn.
        self._passed = set[Scenario]()  # The scenarios that the limits have allowed in this visit.
        # The result that stays on screen until enough of `result` has run.
        self._previous: Result | None = None
        self._stored: Scenario | None = None  # The study that was opened from a file.
        self._is_going = False
        self._growth: Growth | None = None

    # -- the settings -------------------------------------------------------------------------

    def settle(self, scenario: Scenario, view: View, *, is_requested: bool) -> None:
        """Take over the settings, and decide what to run and what to show.

        A run continues while its settings are unchanged, and ends when they change. Results that
        are already known are shown at once; anything else runs only if `is_requested`.
        """
        self.scenario, self.view = scenario, view
        self._is_going = self.is_running  # A run that has already ended is not continued.
        self.refused, pair = self._runnable(scenario)
        if pair is not None:  # The pair is valid, although it may be too large to run.
            self._allowed = scenario
        if self.refused or pair is None:
            self._is_going = False
            return
        self.companions = pair
        self._passed.add(scenario)
        is_requested |= self.runs_all
        if not self._is_shown:
            scenarios = scenario, *self.companions.scenarios
            # A panel that is removed or restored has already run.
            is_there = self.result is not None and {*scenarios} <= {*self.result.scenarios}
            # Settings whose cells have all run are shown without pressing Run.
            is_requested = is_requested or (not is_there and all(map(has_run, scenarios)))
            if not is_requested and not is_there:
                self._is_going = False
                return
            self._begin()
        self._is_going = is_requested or self._is_going

    def _begin(self) -> None:
        """Begin the result of the settings, with the previous result's outcomes for them."""
        if self.result is not None and (
            self._previous is None or self.result.complete or self.result.can_be_drawn
        ):
            self._previous = self.result
        second_scenario, overlay = self.companions.second_scenario, self.companions.overlay
        previous = self.result or Result(self.scenario)
        self.result = Result(
            self.scenario,
            previous.part_of(self.scenario).outcomes,
            second_panel=None if second_scenario is None else previous.part_of(second_scenario),
            role=self.companions.role,
            overlay=None if overlay is None else previous.part_of(overlay),
        )
        self.result.take_known()
        self._growth = None

    def companions_of(self, scenario: Scenario) -> Companions:
        """Return the scenarios that run beside a scenario: the second panel and the pinned run.

        Unless it is asked for, the hardest case is run only if it is quick and allowed.
        """
        pair = companions_of(scenario, self.view.against, self.view.pin, self.view.card)
        if pair.second_scenario is None or self.view.panel in ("both", "second"):
            return pair
        if self.view.panel == "first":
            return replace(pair, second_scenario=None)
        if pair.role != HARDEST or self.runs_all:  # The visitor has asked for this panel.
            return pair
        if all(map(has_run, (scenario, *pair.scenarios))):
            return pair
        allowed = not refusal(scenario, self.limits, lambda _: pair.scenarios)
        is_quick = allowed and estimate((pair.second_scenario,)).seconds <= BESIDE_SECONDS
        return pair if is_quick else replace(pair, second_scenario=None)

    def show_stored(self, scenario: Scenario, outcomes: Iterable[Outcome]) -> None:
        """Show a study from a file as the result of the last run."""
        self.cancel()
        self.result, self._previous, self._growth = Result(scenario, outcomes), None, None
        self._stored = scenario

    def nearest(self) -> tuple[str, Any] | None:
        """Return the field and the value whose change makes the settings allowed, or None."""
        return nearest_allowed(
            self.scenario, self.limits, lambda s: self.companions_of(s).scenarios
        )

    def work_of(self, scenario: Scenario) -> Cost | None:
        """Return the unfinished work of other settings; None if they cannot run."""
        refused, pair = self._runnable(scenario)
        return None if refused or pair is None else estimate((scenario, *pair.scenarios))

    def _runnable(self, scenario: Scenario) -> tuple[str, Companions | None]:
        """Return why a scenario cannot run, and its companions.

        The reason is empty if it can, and the companions are None if the scenario is invalid.
        """
        if scenario in self._passed and has_run(scenario):
            pair = self.companions_of(scenario)
            if all(map(has_run, pair.scenarios)):
                return "", pair
        pairs: list[Companions] = []

        def companions(candidate: Scenario) -> tuple[Scenario, ...]:
            """Return the companions of a candidate, and remember them with it."""
            pairs.append(self.companions_of(candidate))
            return pairs[0].scenarios

        refused = refusal(scenario, self.limits, companions) or no_method_message(scenario)
        return refused, next(iter(pairs), None)

    # -- the progress of the run --------------------------------------------------------------

    @property
    def _is_shown(self) -> bool:
        """Whether the result is that of the settings in the controls."""
        companions = self.companions.second_scenario, self.companions.overlay
        return self.result is not None and self.result.shows(self.scenario, *companions)

    @property
    def is_running(self) -> bool:
        """Whether a run is under way: it was not cancelled, and some of its cells are missing."""
        return self._is_going and self.result is not None and not self.result.complete

    @property
    def is_read_only(self) -> bool:
        """Whether the controls hold a stored study that is too large to be run here."""
        is_stored = (
            self.result is not None and self.scenario == self._stored == self.result.scenario
        )
        return is_stored and bool(refusal(self.scenario, self.limits))

    def cancel(self) -> None:
        """Stop the run; cells that have finished are kept."""
        self._is_going = False

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Run cells, at least one, until `is_over` returns True; return whether any are left."""
        if not self.is_running or self.result is None:
            return False
        growth = self._growth
        if growth is None or not growth.is_left:
            growth = self._growth = Growth(self.result)
            self._pace = figure_pace(DRAW_EVERY_SECONDS)
        growth.work(is_over)
        return self.is_running

    @property
    def finished(self) -> int:
        """The number of cells that have run."""
        return 0 if self.result is None else self.result.finished

    @property
    def so_far(self) -> str:
        """The number of finished runs in words; empty before there is a result."""
        return "" if self.result is None else self.result.so_far

    @property
    def seconds_left(self) -> float:
        """The predicted time until the run ends, in seconds."""
        return 0.0 if self._growth is None else self._growth.seconds_left

    @property
    def would_be_over_at_once(self) -> bool:
        """Whether the present settings have not run yet, and would be drawn only once."""
        _, is_old = self.result_to_draw()
        left = self.left(is_old=True) if is_old and not self.is_running else None
        return left is not None and left.seconds < min(AT_ONCE_SECONDS, moment.LIVE_SECONDS)

    def start_ahead(self) -> None:
        """Run briefly before the first drawing, or to the end if little is left."""
        start = time.monotonic()

        def is_over() -> bool:
            """Return whether the head start is used up and the rest takes long."""
            spent = time.monotonic() - start
            return spent > HEAD_START_SECONDS and spent + self.seconds_left > AT_ONCE_SECONDS

        self.work(is_over)

    @property
    def can_be_drawn(self) -> bool:
        """Whether every line of the result that runs has a value at each of its points."""
        return self.result is not None and self.result.can_be_drawn

    def is_due(self) -> bool:
        """Whether it is time to draw the growing figure again."""
        return not self.is_running or self._pace.due()

    # -- the result that is drawn -------------------------------------------------------------

    def result_to_draw(self) -> tuple[Result, bool]:
        """Return the result that is drawn, and whether it is older than the last change.

        The result never mixes measurements of the present settings with those of earlier ones.
        """
        if self.result is None:
            return Result(self._allowed), bool(self.refused)
        if self.refused:
            return self.result, not self.is_read_only
        is_young = self.is_running and not self.result.can_be_drawn
        if self._is_shown and is_young and self._previous is not None:
            return self._previous, True
        return self.result, not self._is_shown

    def left(self, *, is_old: bool) -> Cost | None:
        """Return the work left for the present settings; None if they cannot run."""
        if self.refused or self.result is None:
            return None
        if is_old:
            return estimate((self.scenario, *self.companions.scenarios))
        return None if self.result.complete else estimate(self.result.scenarios)

    def front(
        self, theme: Theme, result: Result, *, is_old: bool, because: str = ""
    ) -> FrontScreen:
        """Return the headline, figure and table of a result, in a theme's size and colours."""
        whole, has_room = self.studies(result), theme.size.several
        studies = whole
        if self.view.panel == "second" and has_room:
            studies = studies[-1:]
        # Where only one panel fits, the table still shows both.
        panel_index = len(studies) - 1 if self.view.panel == "second" else 0
        only_panel = None if has_room else panel_index
        waiting = self._waiting_words(result, whole, is_old=is_old)
        reason = "" if waiting else because
        return front_screen(
            studies, self.view, theme, only_panel, is_old=is_old, waiting=waiting, because=reason
        )

    def _waiting_words(self, result: Result, studies: Sequence[Study], *, is_old: bool) -> str:
        """Return the words in place of the headline; empty if there is a headline."""
        if self.refused and is_old:
            return CANNOT
        if not is_old:
            is_young = self.is_running and not all(study.complete for study in studies)
            return f"Measuring {result.cells:,} runs …" if is_young else ""
        left = self.left(is_old=True)
        cells = 0 if left is None else left.cells
        begins = left is not None and left.seconds < moment.LIVE_SECONDS
        measures = self.is_running or begins
        return waiting_words(result.scenario, self.scenario, cells, measures=measures)

    def studies(self, result: Result) -> tuple[Study, ...]:
        """Return the panels of a result, each with its scenario, outcomes and role.

        One panel is left out if the view shows only the other.
        """
        scenario, overlay, second_result = result.scenario, result.overlay, result.beside
        pinned = (
            None if overlay is None else Study(scenario=overlay.scenario, outcomes=overlay.outcomes)
        )
        first_study = Study(
            scenario=scenario,
            outcomes=result.outcomes,
            role="hardest" if has_hardest_law(scenario) else "own",
            overlay=pinned,
        )
        if second_result is not None and result.role == "data":
            scenario_of_data = second_result.scenario
            role: Role = "hardest" if has_hardest_law(scenario_of_data) else "own"
            study_of_data = Study(
                scenario=scenario_of_data, outcomes=second_result.outcomes, role=role
            )
            return (replace(study_of_data, overlay=replace(first_study, overlay=None)),)
        if second_result is None or self.view.panel == "first":
            return (first_study,)
        return first_study, Study(
            scenario=second_result.scenario, outcomes=second_result.outcomes, role=result.role
        )
