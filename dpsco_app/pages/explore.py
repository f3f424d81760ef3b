"""Explore: the front page. Measured errors, live, between their bounds."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app import words
from dpsco_app.charts import error_figure
from dpsco_app.comparison import comparison, draw_choice, in_words, read_against
from dpsco_app.controls import EXPLORE as PANEL
from dpsco_app.details import draw_details
from dpsco_app.figures import SHARED_STYLE, Places, figure_places, in_order, show
from dpsco_app.link import EXPLORE as ADDRESS
from dpsco_app.link import read_views, views_text
from dpsco_app.look import Look
from dpsco_app.options import AGAINST, SHOW
from dpsco_app.point_chart import point_figure
from dpsco_app.presets import KINDS, PRESETS, Preset
from dpsco_app.problem_words import MEAN, words_for
from dpsco_app.restore import remember, restored
from dpsco_app.running import (
    DRAW_EVERY_SECONDS,
    FIRST_DRAW_SECONDS,
    WRITE_EVERY_SECONDS,
    Pace,
    Result,
    evaluations,
    run,
    starting_risks,
)
from dpsco_app.shown_bounds import floors, shown
from dpsco_core.catalogue import method_card
from dpsco_core.costing import too_large
from dpsco_core.errors import InvalidInput
from dpsco_core.limits import DASHBOARD
from dpsco_core.scenario import Scenario
from dpsco_core.tables import frame, summary

# The places of the status and of the sentence keep their height, so that nothing jumps while cells
# arrive.
STYLE = """<style>
.st-key-sentence { min-height: 3.25rem; }
@media (max-width: 760px) {
  .st-key-presets, .st-key-run_row { gap: 0.5rem; }
  .st-key-sentence { min-height: 4.9rem; }
}
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(SHARED_STYLE + STYLE)
    problems = _restore()
    with st.sidebar:
        PANEL.draw(PANEL.read(), {"Geometry": draw_choice})
    scenario, problem = _checked(PANEL.read())
    for wrong in problems:
        st.warning(f"In the address: {wrong} The default is used instead.", icon=":material/link:")
    if scenario is not None:
        remember(ADDRESS, scenario, views_text(st.session_state[SHOW], st.session_state[AGAINST]))
    st.title("DP-SCO Explorer: what does privacy cost on heavy-tailed data?")
    _presets(PANEL.read().problem)
    result = _result(scenario)
    running = st.session_state["running"]
    status = _buttons(scenario, problem)
    with st.container(key="sentence"):
        sentence = st.empty()
    figure = figure_places()
    if result is None:
        return
    stale = scenario is None or not result.shows(scenario, _other(scenario))
    if running:
        _run_and_draw(result, status, sentence, figure)
        st.session_state["running"] = False
        st.rerun()
    _say_status(result, status, stale=stale)
    first, second = in_order(figure)
    table, headline = _say(result, sentence)
    _draw(result, table, headline, first, stale=stale)
    draw_details(result, _start)
    # Hidden here, unless the window is unusual.
    _draw(result, table, headline, second, stale=stale)


def _restore() -> list[str]:
    """Load the address into the controls if it is new; return what is wrong with it."""
    found = restored(ADDRESS, PANEL)
    if found is not None:
        problems = list(found.problems)
        PANEL.load(found.scenario)
        st.session_state[SHOW] = read_views(found.extras[SHOW], problems)
        st.session_state[AGAINST] = read_against(found.extras[AGAINST], problems)
        st.session_state["start"] = True
        st.session_state["address_problems"] = problems
    return list(st.session_state["address_problems"])


def _result(scenario: Scenario | None) -> Result | None:
    """Return the result to show, a new one if a run was asked for; settle whether it is running.

    A run goes on over reruns that leave its scenario as it is, and ends where the scenario changes.
    """
    result: Result | None = st.session_state.get("result")
    asked = st.session_state.pop("start", False)
    other = None if scenario is None else _other(scenario)
    same = scenario is not None and result is not None and result.shows(scenario, other)
    if asked and scenario is not None and not same:
        beside = None if other is None else Result(other)
        result = st.session_state["result"] = Result(scenario, beside=beside)
        same = True
    going = asked or st.session_state.get("running", False)
    st.session_state["running"] = bool(going and same and result is not None and not result.done)
    return result


def _other(scenario: Scenario) -> Scenario | None:
    """Return the scenario of the set that is drawn beside, if one is chosen."""
    return comparison(scenario, st.session_state[AGAINST])


def _checked(scenario: Scenario) -> tuple[Scenario | None, str]:
    """Return the scenario if the dashboard allows it, and otherwise one sentence."""
    try:
        scenario = scenario.validate(DASHBOARD)
        other = _other(scenario)
        if other is not None:
            other.validate(DASHBOARD)
    except InvalidInput as problem:
        return None, str(problem)
    if not scenario.methods:
        return None, f"Choose at least one {words_for(scenario.problem).method}."
    heavy = too_large(scenario, DASHBOARD)
    if not heavy and other is not None:
        heavy = too_large(other, DASHBOARD)
    return (None, heavy) if heavy else (scenario, "")


def _presets(problem: str) -> None:
    """Draw the presets of the problem's kind as buttons, and the others behind one."""
    mine = "mean" if problem == MEAN else "optimisation"
    with st.container(horizontal=True, key="presets"):
        _preset_buttons(mine)
        for kind, name in KINDS.items():
            if kind != mine:
                with st.popover(name, icon=":material/swap_horiz:"):
                    _preset_buttons(kind)


def _preset_buttons(kind: str) -> None:
    for preset in PRESETS:
        if preset.kind == kind:
            st.button(
                preset.name,
                key=f"preset_{preset.name}",
                help=preset.look_for,
                on_click=_start_preset,
                args=(preset,),
            )


def _start_preset(preset: Preset) -> None:
    st.session_state[AGAINST] = preset.against
    _start(preset.scenario)


def _start(scenario: Scenario) -> None:
    PANEL.load(scenario)
    _press_run()


def _press_run() -> None:
    st.session_state["start"] = True
    st.session_state["address_problems"] = []


def _press_cancel() -> None:
    st.session_state["running"] = False


def _buttons(scenario: Scenario | None, problem: str) -> DeltaGenerator:
    """Draw Run, Cancel and the status line; return the place of the status line."""
    with st.container(horizontal=True, vertical_alignment="center", key="run_row"):
        st.button(
            "Run",
            icon=":material/play_arrow:",
            shortcut="Ctrl+Enter",
            on_click=_press_run,
            disabled=scenario is None,
        )
        st.button("Cancel", on_click=_press_cancel, disabled=not st.session_state["running"])
        status = st.empty()
    if problem:
        st.error(problem)
    return status


def _run_and_draw(
    result: Result, status: DeltaGenerator, sentence: DeltaGenerator, figure: Places
) -> None:
    write = Pace(0.0, WRITE_EVERY_SECONDS)
    draw = Pace(FIRST_DRAW_SECONDS, DRAW_EVERY_SECONDS)
    total = result.cells
    live, _ = in_order(figure)
    for done, left in run(result):
        if write.due():
            status.progress(done / total, text=left)
        if draw.due():
            table, headline = _say(result, sentence)
            _draw(result, table, headline, live, stale=False)


def _say_status(result: Result, status: DeltaGenerator, *, stale: bool) -> None:
    total = result.cells
    done = result.finished
    if stale:
        status.markdown(":orange[**Settings changed.** The figure shows the previous ones: Run.]")
    elif result.done:
        both = " on each of two sets" if result.beside is not None else ""
        status.markdown(f"Finished: {_cells_in_words(result.scenario)}{both}.")
    else:
        status.markdown(f"Stopped at {done:,} of {total:,} cells. Run goes on from there.")


def _cells_in_words(scenario: Scenario) -> str:
    points = max(1, len(scenario.grid))
    method = words_for(scenario.problem).method
    factors = ((points, "point"), (len(scenario.methods), method), (scenario.trials, "trial"))
    product = " × ".join(f"{count} {word}{'s' * (count > 1)}" for count, word in factors)
    return f"{scenario.cells:,} cells ({product})"


def _say(result: Result, sentence: DeltaGenerator) -> tuple[pd.DataFrame, str]:
    """Write the sentence of what has finished; return its summary and the figure's headline."""
    scenario = result.scenario
    table = summary(frame(result.outcomes))
    lower = evaluations(scenario, floors(scenario.problem, scenario.level))
    binding = {o.method: o.bound_by for o in result.outcomes}
    said = words.state(scenario, table, lower, binding)
    sentence.markdown((said.sentence or said.headline) + _beside_in_words(result, table))
    return table, said.headline


def _beside_in_words(result: Result, table: pd.DataFrame) -> str:
    """Compare the best private method with itself on the other set, where both have run."""
    if result.beside is None or not result.beside.outcomes:
        return ""
    other = summary(frame(result.beside.outcomes))
    best = words.best_private(result.scenario, table)
    if best is None:
        return ""
    method, at, here = best
    row = other[(other["method"] == method) & (other["x"] == at)]
    if row.empty or not row["mean_error"].iloc[0] >= 0:
        return ""
    name = method_card(method).name
    return " " + in_words(result.beside.scenario, name, here, float(row["mean_error"].iloc[0]))


def _draw(
    result: Result, table: pd.DataFrame, headline: str, figure: Places, *, stale: bool
) -> None:
    """Draw the figure of what has finished."""
    scenario = result.scenario
    bounds = evaluations(scenario, shown(scenario, st.session_state[SHOW]))
    start = starting_risks(scenario) if result.done else []
    beside = None
    if result.beside is not None and result.beside.outcomes:
        beside = (result.beside.scenario, summary(frame(result.beside.outcomes)))
    dark = st.context.theme.type == "dark"
    count = st.session_state["figures"] = st.session_state.get("figures", 0) + 1
    for name, place in figure.items():
        compact = name == "compact"
        look = Look(dark=dark, title=headline, stale=stale, compact=compact)
        drawn = (
            point_figure(scenario, result.outcomes, bounds, look, start[0][1] if start else None)
            if scenario.axis is None
            else error_figure(scenario, table, bounds, look, start, beside)
        )
        show(place, drawn, f"{name}_{count}", headline, bar=not compact)
