"""The session of a visit: it receives the visitor's actions and returns a screen."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from dpsco_app.figure.theme import Theme
from dpsco_app.front import links
from dpsco_app.front.address import PageView
from dpsco_app.front.because import because
from dpsco_app.front.changes import BUDGET, Sweep, change_field, level_of, slider_values
from dpsco_app.front.questions.guesses import PriceGuess, guess_of
from dpsco_app.front.second import pin_text
from dpsco_app.front.view import ADDRESS, View
from dpsco_app.parts.evaluations import hardest_law, has_hardest_law
from dpsco_app.parts.options import NO_SET
from dpsco_app.parts.presets import FIRST, Preset
from dpsco_app.session.curves import Curves
from dpsco_app.session.scenarios import Page, Scenarios, Use, with_methods_in_order
from dpsco_app.session.screen import Screen
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import Limits
from dpsco_core.explain.window import notions_of
from dpsco_core.fields import NAMES
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

if TYPE_CHECKING:
    from dpsco_app.lessons.path import LessonPath

NO_HARDEST = "No hardest data are known at these settings: **data Student t**."
# The control for the notion of privacy, which is not a field of the scenario: it determines which
# of epsilon, delta and rho are set.
NOTION = "notion"
FREE = ("methods", "grid", "seed")  # Fields on which no other field depends.
UNSET = Scenario()  # The default values, for fields that are not set yet.
CURVES: Page[View] = Page(name="explore", default=ADDRESS.default, lists=ADDRESS.lists, use=Use())
# The page before any page is opened, and while one is being replaced.
NO_PAGE = Page(name="", default=PageView())


class Session:
    """A visit: its scenario, the view of each page, the finished runs, and the screen.

    Each method completes its whole change before it returns, so that a run of the page that is
    stopped between two calls leaves a state that the visitor asked for.
    """

    def __init__(self, limits: Limits, *, runs_all: bool = False) -> None:
        """Begin a visit without a page, within some limits of work.

        `runs_all` says that runs start without being asked for, however long they take.
        """
        self.scenarios = Scenarios({CURVES.name: FIRST.scenario})
        self.curves = Curves(limits, runs_all=runs_all)
        self.page: Page[Any] = NO_PAGE  # The page that is shown.
        self.views: dict[str, PageView] = {}  # The view of each page that was opened.
        self._wrong: dict[str, list[str]] = {}  # The errors in the address of each page.
        self.scenario = links.BASE  # The scenario in the page's controls, whether allowed or not.
        # The last values of fields whose controls other fields can hide.
        self._hidden: dict[str, Any] = {}
        self._sweep: Sweep = ((), ())  # The sweep that is in use, and the sweep that was asked for.
        self._last_allowed = links.BASE, ADDRESS.default  # The last settings that were allowed.
        self.because = ""  # What the last change does, in words.
        # The guess that a question asks for before it opens, or the guess already made.
        self.guess: PriceGuess | None = None
        # Whether the data follow the hardest known law, which changes with the other settings.
        self._wants_hardest = False

    # -- the visit ----------------------------------------------------------------------------

    @property
    def visit_scenario(self) -> Scenario:
        """The scenario of the visit."""
        return self.scenarios.visit_scenario

    @property
    def view(self) -> View:
        """The view of the page of the curves, beside its scenario."""
        return cast(View, self.views.get(CURVES.name, CURVES.default))

    @property
    def wrong(self) -> tuple[str, ...]:
        """The errors in the page's address, until something is changed."""
        return tuple(self._wrong.get(self.page.name, ()))

    @cached_property
    def lessons(self) -> "LessonPath":
        """The path through the lessons, whose modules are imported on first use."""
        from dpsco_app.lessons.path import LessonPath

        return LessonPath()

    def open(
        self,
        page: Page[Any],
        query: Mapping[str, str],
        also_wrong: Iterable[str] = (),
        *,
        is_whole: bool = False,
    ) -> None:
        """Open a page at an address; an empty address restores the page as it was left.

        An address without a scenario shows the visit's. `also_wrong` lists errors that the host
        found in the address. If `is_whole`, fields that the address leaves out take their defaults;
        this holds on the way back and for the page already shown. A read-only study has no address,
        so an empty one leads back to it.
        """
        is_stored = page.name == CURVES.name and self.curves.is_read_only
        is_whole &= bool(query) or not is_stored
        is_whole |= self.page.name == page.name
        left = None if is_whole or query else self.views.get(page.name)
        view, problems = page.from_query(query) if left is None else (left, [])
        scenario = None
        if page.use is not None and (is_whole or any(name in query for name in NAMES)):
            scenario, wrong = links.read(query, sampling=page.use.sampling)
            problems[:0] = wrong
        self._turn_to(page)
        if scenario is not None:
            self.scenarios.take(scenario, page.name)
            if page.name == CURVES.name and not any(name in query for name in NAMES):
                self.scenarios.begin(FIRST.scenario, page.name)
        self.views[page.name] = view
        self._load()
        self._wrong[page.name] = [*problems, *also_wrong]
        self._settle(is_requested=True)

    def leave(self) -> None:
        """Leave the page that is shown, and drop the settings that it could not show."""
        self._turn_to(NO_PAGE)

    def _turn_to(self, page: Page[Any]) -> None:
        """Make a page the current one, and put its scenario into the controls."""
        self.page = page
        self.scenario = self.scenarios.scenario_for(page)

    def look(self, page: Page[Any], view: PageView) -> None:
        """Change the view of a page, which changes nothing in its scenario."""
        if self.views.get(page.name) != view:
            self.views[page.name] = view
            self.forgive()
            self._settle()

    def forgive(self) -> None:
        """Remove the errors that were found in the page's address."""
        self._wrong.pop(self.page.name, None)

    # -- the scenario -------------------------------------------------------------------------

    def change(self, field: str, value: Any) -> str:
        """Set a field and adapt the others to it; return which ones changed, in words."""
        previous, words = self.scenario, ""
        if field == NOTION:
            field, previous = "rho", self._with_notion(previous, value)
            value = previous.rho
        elif field == "geometry" and value == "lq":
            previous = replace(previous, q=self._hidden.get("q"))
        if field == "methods":
            value = with_methods_in_order(replace(previous, methods=tuple(value))).methods
        elif field == "grid":
            value = tuple(sorted(value))
        elif field == "axis" and value not in NAMES:
            value = None
        if field in FREE:
            scenario = replace(previous, **{field: value})
        else:
            limits = self.curves.limits
            scenario, self._sweep, words = change_field(previous, field, value, self._sweep, limits)
        scenario, warning = self._following(previous, _with_offset_in_range(scenario), field)
        self._take(scenario)
        self.because = because(previous, scenario, field)
        return words or warning

    def _following(
        self, previous: Scenario, scenario: Scenario, field: str
    ) -> tuple[Scenario, str]:
        """Return the scenario on the hardest known data, if the visitor chose these before.

        Also return a sentence if no such data are known any more; it is empty otherwise. `field` is
        the one that has changed from `previous`.
        """
        if field == "distribution":
            self._wants_hardest = has_hardest_law(scenario)
            return scenario, ""
        if not self._wants_hardest:
            return scenario, ""
        law = hardest_law(scenario)
        if law:
            return replace(scenario, distribution=law), ""
        is_new = has_hardest_law(previous)
        return replace(scenario, distribution=links.BASE.distribution), NO_HARDEST * is_new

    def choose(self, field: str, value: float) -> str:
        """Set a field to a value chosen in the figure; return which others changed, in words.

        Others change only if the value needs algorithms for another level of privacy.
        """
        moved_scenario: Scenario = replace(self.scenario, **cast(dict[str, Any], {field: value}))
        if level_of(moved_scenario) != level_of(self.scenario):
            return self.change(field, value)
        self._take(moved_scenario)
        return ""

    def show(self, scenario: Scenario) -> None:
        """Put a scenario into the page's controls, as a new beginning."""
        self._take(scenario)
        self._begin_anew()

    def take(self, scenario: Scenario) -> None:
        """Make the scenario of the page that of the whole visit."""
        self.scenarios.take(scenario, self.page.name)
        self._load()
        self._settle()

    def show_here(self, scenario: Scenario | None) -> None:
        """Show a scenario on this page only; without one, the nearest to the visit's."""
        self.scenarios.show_here(scenario, self.page.name)
        self._load()
        self._settle()

    def is_apart(self) -> bool:
        """Whether the page shows another scenario than the visit."""
        return self.scenarios.is_apart(self.page.name)

    def value(self, field: str) -> Any:
        """Return the value of a field's control, or of the control for the notion of privacy.

        A hidden control of the budget keeps the last value that it had.
        """
        if field == NOTION:
            return notions_of(self.scenario)[0]
        value = getattr(self.scenario, field)
        return value or self._hidden[field] if field in BUDGET else value

    def _take(self, scenario: Scenario, *, is_requested: bool = False) -> None:
        """Put a scenario into the controls, and change the visit's as far as it is allowed.

        `is_requested` says that the visitor has asked for its run.
        """
        self.scenario = scenario = with_methods_in_order(scenario)
        self._remember_hidden(scenario)
        self.forgive()
        self.because, self.guess = "", None
        if self.page.name == CURVES.name:
            self._settle(is_requested=is_requested)
        elif self.page.use is not None:
            try:
                scenario.validate(self.curves.limits, sampling=self.page.use.sampling)
            except InvalidInput:
                return
            self.scenarios.follow(scenario, self.page)

    def _load(self) -> None:
        """Put the page's own scenario into its controls, as a new beginning."""
        self.scenario = self.scenarios.scenario_for(self.page)
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Reset what depends on earlier changes: hidden values, the sweep, a guess and words."""
        scenario = self.scenario
        self.because, self._wants_hardest = "", has_hardest_law(scenario)
        self.guess = None
        self._sweep = scenario.grid, scenario.grid
        self._hidden = {name: getattr(UNSET, name) or 0.1 for name in BUDGET}
        self._remember_hidden(scenario)

    def _remember_hidden(self, scenario: Scenario) -> None:
        """Store the budget and q of a scenario, so that hidden controls keep their values."""
        values = {name: getattr(scenario, name) for name in (*BUDGET, "q")}
        self._hidden |= {name: value for name, value in values.items() if value}

    def _with_notion(self, scenario: Scenario, notion: str) -> Scenario:
        """Return the scenario under another notion of privacy, with the stored budget."""
        values = self._hidden
        if notion == "zcdp":
            return replace(scenario, epsilon=None, delta=None, rho=values["rho"])
        delta = 0.0 if notion == "pure" else values["delta"]
        return replace(scenario, epsilon=values["epsilon"], delta=delta, rho=None)

    # -- the curves ---------------------------------------------------------------------------

    def press_run(self) -> None:
        """Run the present settings, as if the visitor had pressed the button Run."""
        self.forgive()
        self._settle(is_requested=True)

    def cancel(self) -> None:
        """Stop the run of the curves."""
        self.curves.cancel()

    def start(self, scenario: Scenario) -> None:
        """Put a scenario into the controls and run it."""
        self._take(scenario, is_requested=True)
        self._begin_anew()

    def start_preset(self, preset: Preset) -> None:
        """Show a preset and run it together with its companions."""
        changes = {"against": preset.against, "measure": preset.measure, "card": preset.open}
        view = replace(self.view, **changes, pin="")
        self.views[CURVES.name] = view
        self.start(preset.scenario)

    def open_card(self, slug: str) -> None:
        """Open a question below the figure, or close it if it is open.

        If its answer is a single number, the visitor is first asked to guess it.
        """
        guess, self.guess = self.guess, None
        is_asked = guess is not None and guess.card == slug and guess.chosen is None
        closes = is_asked or self.view.card == slug
        if not closes:
            self.guess = self._guess_of(slug)
        opens = not closes and self.guess is None
        self.look(CURVES, replace(self.view, card=slug if opens else ""))

    def answer_guess(self, place: int) -> None:
        """Record the choice of this index as the visitor's guess, and open its question."""
        guess = self.guess
        require(guess is not None and guess.chosen is None, "guess", "asked for", place)
        assert guess is not None
        require(0 <= place < len(guess.choices), "guess", "one of the choices", place)
        self.guess = replace(guess, chosen=place)
        self.look(CURVES, replace(self.view, card=guess.card))

    def _guess_of(self, card: str) -> PriceGuess | None:
        """Return the guess that a question asks for; None while the result is old or running."""
        result, is_old = self.curves.result_to_draw()
        if is_old or not result.complete or result.scenario != self.scenario:
            return None
        study, *more_panels = self.curves.studies(result)
        return None if more_panels else guess_of(study, self.scenario, card)

    def pin(self) -> None:
        """Keep the drawn run for comparison with the next one."""
        result, _ = self.curves.result_to_draw()
        self.look(CURVES, replace(self.view, pin=pin_text(result.scenario)))

    def unpin(self) -> None:
        """Remove the run that was kept for comparison."""
        self.look(CURVES, replace(self.view, pin=""))

    def show_stored(self, scenario: Scenario, outcomes: Iterable[Outcome]) -> None:
        """Show a study from a file as if it had been run here."""
        self.views[CURVES.name] = replace(self.view, against=NO_SET, pin="")
        self.curves.show_stored(scenario, outcomes)
        self.show(scenario)
        # A study that cannot run has no address, so the page is restored as it was left.
        if self.curves.refused:
            self.take(scenario)

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Run cells, at least one, until `is_over` returns True; return whether any are left."""
        return self.curves.work(is_over)

    def _settle(self, *, is_requested: bool = False) -> None:
        """On the page of the curves, decide what runs of the present settings and what is shown.

        `is_requested` says that the visitor has asked for the run.
        """
        if self.page.name != CURVES.name:
            return
        scenario, view = self.scenario, self.view
        self.curves.settle(scenario, view, is_requested=is_requested)
        if not self.curves.refused:
            self.scenarios.follow(scenario, self.page)
            self._last_allowed = scenario, view

    @property
    def address(self) -> dict[str, str]:
        """The link parameters of the last allowed settings of the curves."""
        scenario, view = self._last_allowed
        return links.query(scenario) | ADDRESS.to_query(view)

    def screen(self, theme: Theme) -> Screen:
        """Return the current screen of the page of the curves, in a theme."""
        curves = self.curves
        result, is_old = curves.result_to_draw()
        running_result = curves.result or result
        return Screen(
            front=curves.front(theme, result, is_old=is_old, because=self.because),
            result=result,
            view=self.view,
            current_scenario=self.scenario,
            refused=curves.refused,
            is_empty=curves.result is None,
            is_old=is_old,
            is_running=curves.is_running,
            is_read_only=bool(curves.refused) and curves.is_read_only,
            has_room=theme.size.several,
            finished=running_result.finished,
            cells=running_result.cells,
            left=curves.left(is_old=is_old),
            address=self.address,
            wrong=self.wrong,
            guess=self.guess,
        )


def _with_offset_in_range(scenario: Scenario) -> Scenario:
    """Return a scenario whose offset is one that its set allows, the largest if it was larger."""
    if not scenario.offset:  # An offset of zero is valid for every set.
        return scenario
    offsets = slider_values("offset", scenario, scenario.offset)
    return scenario if scenario.offset in offsets else replace(scenario, offset=offsets[-1])
