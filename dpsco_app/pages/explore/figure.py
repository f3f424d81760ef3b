"""Explore's figure: of one scenario, of two in one, or of two side by side."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.pages.explore import comparison
from dpsco_app.pages.explore.finding import compared, headline, light_data, worse_than_no_data
from dpsco_app.pages.explore.point_chart import point_figure, point_range
from dpsco_app.parts import words
from dpsco_app.parts.charts import Overlay, error_figure, error_range
from dpsco_app.parts.differences import differences
from dpsco_app.parts.figures import Place, Places, figure_place, show
from dpsco_app.parts.folding import fold
from dpsco_app.parts.look import MAGENTA, Look, bound_colour
from dpsco_app.parts.options import BOUND, FORMULA, PIN, SHOW, SIDE
from dpsco_app.parts.problem_words import baseline
from dpsco_app.parts.running import Result, evaluations, starting_risks, without_data
from dpsco_app.parts.shown_bounds import cards, floors, shown
from dpsco_app.parts.traces import bound_hover, bound_name, dash_of
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.formula import parse_formula
from dpsco_core.catalogue import bound, method_card
from dpsco_core.results.findings import ratio
from dpsco_core.results.overlay import check_drawable, own_line
from dpsco_core.results.report import Evaluation
from dpsco_core.results.tables import frame
from dpsco_core.scenario import Scenario

Drawing = Callable[[Look], go.Figure]

DRAWN = "explore_drawn"  # how many times in this run of the page
PAIR = "pair"
# Two figures need their width: one above the other on anything smaller than a laptop.
PAIR_STYLE = """<style>
@media (max-width: 1100px) {
  .st-key-pair [data-testid="stHorizontalBlock"] { flex-direction: column; }
  .st-key-pair [data-testid="stColumn"] { width: 100%; min-width: 100%; }
}
</style>"""
LIVE = "Bounds of the new settings; the faded lines are the previous run"
ABOUT = (
    "Draws your formula over the figure. Letters: n, d, m, p, epsilon (ε), delta (δ) and rho (ρ, "
    "the budget of Gaussian noise). Signs: + - * / ^ and brackets; functions: sqrt, log, exp, min, "
    "max."
)
EXAMPLE = "(d/(n*sqrt(rho)))^(1-1/p)"


@dataclass(frozen=True, kw_only=True)
class Shown:
    result: Result
    now: Scenario | None  # the present settings; None where they are not allowed
    stale: bool  # whether the result is not that of the present settings

    @property
    def live(self) -> Scenario | None:
        """The changed settings whose bounds the figure can show at once, around the old lines."""
        if not self.stale or self.now is None or not st.session_state[SHOW]:
            return None
        return self.now if comparison.overlays(self.now, self.result.scenario) else None


def side_by_side(result: Result) -> bool:
    if result.beside is None or comparison.is_tail(result):
        return False
    together = comparison.overlays(result.scenario, result.beside.scenario)
    return bool(st.session_state[SIDE]) or not together


def places(result: Result) -> Places:
    if not side_by_side(result):
        return figure_place()
    st.html(PAIR_STYLE)
    with st.container(key=PAIR):
        columns = st.columns(2, gap="small")
    return {f"{PAIR}_{i}": Place(column) for i, column in enumerate(columns)}


def say(
    said: words.Statement, result: Result, sentence: DeltaGenerator, *, stale: bool = False
) -> None:
    """Write the sentence of what has finished; it says so where the settings have changed."""
    text = (said.sentence or said.headline) + _beside_in_words(result)
    if said.sentence:
        text += compared(result) + light_data(result.scenario) + worse_than_no_data(result)
    sentence.markdown(f":orange[**Previous settings.**] {text}" if stale else text)


def statement(result: Result) -> words.Statement:
    """Return what has finished in words: the sentence, and the figure's headline."""

    def make() -> words.Statement:
        scenario, table = result.scenario, result.table()
        best = words.best_private(scenario, table)
        lower: list[Evaluation] = []
        same = False  # whether the trials do not tell the best private method from the baseline
        if best is not None:
            there = scenario if best[1] is None else replace(scenario, grid=(best[1],))
            lower = evaluations(there, floors(scenario.problem, scenario.level))
            public = baseline(scenario.problem)
            if public in scenario.methods:
                here = [o for o in result.outcomes if o.x == best[1]]
                found = ratio(frame(here), best[0], public, None)
                same = found is not None and found.within_noise
        binding = {o.method: o.bound_by for o in result.outcomes}
        said = words.state(scenario, table, lower, binding, same=same)
        finding = headline(result)
        return replace(said, headline=finding) if finding else said

    return result.once("statement", make)


def _beside_in_words(result: Result) -> str:
    """Compare the best private method with itself in the scenario beside, if it is there."""
    best = words.best_private(result.scenario, result.table())
    if best is None or result.beside is None or not result.beside.outcomes:
        return ""
    if not comparison.overlays(result.scenario, result.beside.scenario):
        return ""
    method, at, here = best
    other = result.beside.table()
    there = other[(other["method"] == method) & (other["x"] == at)]["mean_error"]
    if there.empty or not there.iloc[0] >= 0:
        return ""
    return " " + comparison.in_words(result, method_card(method).name, here, float(there.iloc[0]))


def draw(drawn: Shown, title: str, figure: Places) -> None:
    # A key of its own for every drawing in one run of the page, and the same in the next run: the
    # browser then changes the figure that is there, which is quicker than a new one.
    count = st.session_state[DRAWN] = st.session_state[DRAWN] + 1
    dark = st.context.theme.type == "dark"
    if side_by_side(drawn.result):
        _draw_pair(drawn, title, figure, dark, count)
        return
    if drawn.stale:
        title = f"Previous settings: {title}" if drawn.live is None else LIVE
    [(kind, place)] = figure.items()
    compact = kind == "compact"
    look = Look(dark=dark, title=title, stale=drawn.stale, compact=compact)
    show(place, together(drawn)(look), f"{kind}_{count}", title, bar=not compact)


def together(drawn: Shown) -> Drawing:
    """Return what draws a result, with what is beside in it; the session is read now, not then."""
    result = drawn.result
    if result.scenario.axis is None:
        return _alone(result, None)
    own, other = comparison.curves(result)
    scenario = drawn.live or result.scenario
    own = replace(own, previous=drawn.live is not None)
    start = _swept(scenario) if result.complete and not drawn.stale else []
    bounds, asked = drawn_bounds(scenario), asked_lines(scenario)
    return lambda look: error_figure(scenario, own, bounds, look, start, other, overlays=asked)


def _draw_pair(drawn: Shown, title: str, figure: Places, dark: bool, count: int) -> None:
    """Draw one figure a scenario, with one range of errors where these are of the same kind."""
    result = drawn.result
    assert result.beside is not None
    a, b = result.parts
    ends = None
    alike = (a.scenario.axis is None) == (b.scenario.axis is None)
    if alike and comparison.same_quantity(a.scenario, b.scenario):
        both = [_ends(part) for part in result.parts]
        ends = (min(low for low, _ in both), max(high for _, high in both))
    titles = (f"Now: {title}", f"{comparison.label(result)}: {statement(result.beside).headline}")
    for part, title, (name, place) in zip(result.parts, titles, figure.items(), strict=True):
        stale = drawn.stale and part is result
        look = Look(dark=dark, title=title, stale=stale, compact=True)
        show(place, _alone(part, ends)(look), f"{name}_{count}", title, bar=False)


def _ends(part: Result) -> tuple[float, float]:
    bounds = drawn_bounds(part.scenario)
    if part.scenario.axis is None:
        return point_range(part.outcomes, bounds, _start(part))
    return error_range(part.table(), bounds, _swept(part.scenario) if part.done else [])


def _alone(part: Result, ends: tuple[float, float] | None) -> Drawing:
    scenario, bounds = part.scenario, drawn_bounds(part.scenario)
    if scenario.axis is None:
        start = _start(part)
        return lambda look: point_figure(scenario, part.outcomes, bounds, look, start, ends)
    table, asked = part.table(), asked_lines(scenario)
    swept = _swept(scenario) if part.done else []
    return lambda look: error_figure(
        scenario, table, bounds, look, swept, ends=ends, overlays=asked
    )


def drawn_bounds(scenario: Scenario) -> list[Evaluation]:
    """Return the bounds that the figure of a scenario draws, at every point."""
    slugs = shown(scenario, st.session_state[SHOW])
    named = named_bound(scenario)
    if scenario.axis is None and named and named not in slugs:
        slugs = (*slugs, named)
    return evaluations(scenario, slugs)


def _start(part: Result) -> float | None:
    return without_data(part.scenario) if part.done else None


def _swept(scenario: Scenario) -> list[tuple[float, float]]:
    return [(x, risk) for x, risk in starting_risks(scenario) if x is not None]


def draw_differences(result: Result) -> None:
    """Draw the table of the fields in which the two scenarios of a pair differ."""
    if not side_by_side(result):
        return
    assert result.beside is not None
    found = differences(result.scenario, result.beside.scenario)
    if not found:
        return
    there = "Pinned" if st.session_state[PIN] else "On the other set"
    rows = {
        "Differs in": [d.name for d in found],
        "Now": [d.here for d in found],
        there: [d.there for d in found],
    }
    st.table(pd.DataFrame(rows).set_index("Differs in"))


# -- lines that a visitor asked for -----------------------------------------------------------


def named_bound(scenario: Scenario) -> str:
    """Return the bound that is drawn by name, if it bounds what the figure shows; or nothing."""
    slug: str = st.session_state[BOUND]
    return slug if slug in {c.slug for c in cards(scenario.problem, scenario.level)} else ""


def asked_lines(scenario: Scenario) -> tuple[Overlay, ...]:
    """Return the lines that the session asks for, over the scenario's axis."""
    found = []
    slug, text = named_bound(scenario), st.session_state[FORMULA]
    if slug:
        card = bound(slug).card
        every = [e for e in evaluations(scenario, (slug,)) if 0 < e.value < math.inf]
        found.append(
            Overlay(
                name=bound_name(card),
                points=tuple((e.x, e.value) for e in every if e.x is not None),
                hover=tuple(bound_hover(e) for e in every),
                colour=bound_colour(card),
                dash=dash_of(card),
            )
        )
    if text:
        points = own_line(scenario, parse_formula(text))
        hover = tuple(f"<b>Your formula</b><br>{text}<br>value {y:.3g}" for _, y in points)
        found.append(
            Overlay(name="Your formula", points=points, hover=hover, colour=MAGENTA, dash="dashdot")
        )
    return tuple(overlay for overlay in found if overlay.points)


def draw_overlays(scenario: Scenario) -> None:
    """Draw the button behind which a formula is typed, and what else is drawn by name."""
    fold("Your own bound", lambda: _typed(scenario), "explore_own_bound", kind="popover")
    slug = named_bound(scenario)
    if slug and st.button(
        f"Remove “{bound(slug).card.name}”",
        icon=":material/close:",
        key="remove_bound",
        help="It was added on the page Bounds.",
    ):
        st.session_state[BOUND] = ""
        st.rerun()


def _typed(scenario: Scenario) -> None:
    now = st.session_state[FORMULA]
    text = st.text_input(
        "Formula of the error", now, placeholder=EXAMPLE, help=ABOUT, key="formula_typed"
    ).strip()
    if text != now:
        try:
            if text:
                check_drawable(scenario, parse_formula(text))
        except InvalidInput as problem:
            st.error(str(problem))
            return
        st.session_state[FORMULA] = text
        st.rerun()
    st.caption(ABOUT if scenario.axis else "A formula is drawn over an axis: choose one to sweep.")
