"""Explore: the front page. Measured errors, live, between their bounds."""

import time
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.pages.explore.comparison import beside, draw_choice, others
from dpsco_app.pages.explore.details import draw_details
from dpsco_app.pages.explore.figure import (
    DRAWN,
    Shown,
    draw,
    draw_differences,
    places,
    say,
    statement,
)
from dpsco_app.pages.explore.hand import draw_governing, draw_hand
from dpsco_app.pages.explore.open_study import draw_open, is_present
from dpsco_app.pages.explore.own_numbers import draw_own_numbers
from dpsco_app.pages.explore.presets import KINDS, PRESETS, Preset
from dpsco_app.pages.explore.row import draw_buttons, draw_second, press_run, run_style, say_status
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts import controls
from dpsco_app.parts.fields import GROUPS
from dpsco_app.parts.figures import SHARED_STYLE
from dpsco_app.parts.options import AGAINST, NO_SET, PIN, SHOW, TAIL, VIEWS
from dpsco_app.parts.page import draw_wrong
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.running import (
    GivingWay,
    Pace,
    Result,
    estimate,
    haste,
    head_start,
    run,
    so_far,
)
from dpsco_app.shell import teaching
from dpsco_app.shell.places import draw_views
from dpsco_app.shell.window import arrive, arrived, when_there
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.runs.allowed import refusal
from dpsco_core.scenario import Scenario

# The places of the status and of the sentence keep their height, so that nothing jumps while cells
# arrive.
STYLE = """<style>
.st-key-sentence { min-height: 3.25rem; }
.st-key-run_row { min-height: 3.25rem; }
.st-key-show [data-testid="stButtonGroup"] {
  display: flex; flex-direction: row; align-items: center; gap: 0.5rem;
}
@media (min-width: 761px) {
  .st-key-run_row > :last-child { flex: 1 1 0; min-width: min(18rem, 100%); }
  .st-key-show { margin-left: auto; }
}
@media (max-width: 760px) {
  .st-key-run_row { gap: 0.5rem; }
  [data-testid="stHeading"] h1 { padding-top: 0.25rem; }
  .st-key-sentence { min-height: 4.9rem; }
}
</style>"""
HOLD_BACK_SECONDS = 0.6  # the rest of a visit's first page: its figure is drawn first
# Work that is predicted to take less runs by itself, after a moment of quiet.
LIVE_SECONDS, QUIET_SECONDS = 1.5, 0.25
# A changed setting's figure is handed to the browser before the rest comes, which else delays it.
HAND_OVER_SECONDS = 0.05

# With a second scenario its sentence needs a line more.
STYLE_BESIDE = """<style>
.st-key-sentence { min-height: 4.9rem; }
@media (max-width: 760px) { .st-key-sentence { min-height: 8.2rem; } }
</style>"""

GALLERY_STYLE = """<style>
[data-testid="stDialog"] [data-testid="stImage"] img { width: 100%; }
</style>"""


def page() -> None:
    began = time.monotonic()
    st.html(SHARED_STYLE + STYLE + run_style(dark=st.context.theme.type == "dark"))
    st.session_state[DRAWN] = 0
    problems = STATE.restore()
    controls.settle()
    set_now = controls.read()
    with st.sidebar:
        controls.draw_groups(GROUPS[:1], set_now)
    problem = refusal(set_now, DASHBOARD, others)
    if not problem and not set_now.methods:
        problem = f"Choose at least one {words_for(set_now.problem).method}."
    scenario = None if problem else set_now
    if scenario is not None:
        STATE.remember(STATE.current(), scenario)
    result = _result(scenario)
    if result is not None and st.session_state["running"]:
        result = st.session_state["result"] = result.own()
        head_start(result)  # what is known already, or is quickly done, is drawn once
        st.session_state["running"] = not result.complete
    running = st.session_state["running"]
    head, body = st.container(), st.container()
    if result is None:
        with head:
            _draw_head(problems, scenario, None, problem)
        _draw_controls(set_now)
        return
    with body:
        figure = places(result)
        below = st.container() if teaching.held().large else None
        hand = st.container()
    stale = not is_present(result, scenario, None if scenario is None else beside(scenario))
    shown = Shown(result=result, now=scenario, stale=stale)
    said = statement(result)
    # The figure is what a visitor waits for: it comes before all else that is there already. On the
    # first page of a visit the head comes before, so that nothing jumps.
    first = not arrived()
    if not first:
        with haste():
            draw(shown, said.headline, figure)
        if stale:
            time.sleep(HAND_OVER_SECONDS)
        _draw_touch(shown, hand)
    with head:
        status = _draw_head(problems, scenario, result, problem)
    # On a projector the figure begins on the first screen, under its own headline.
    with below or head, st.container(key="sentence"):
        sentence = st.empty()
    if running:
        status.progress(result.finished / result.cells, text=so_far(result))
    else:
        say_status(shown, status)
    say(said, result, sentence, stale=stale)
    if first:
        draw(shown, said.headline, figure)
    if running:
        _draw_controls(set_now)
        if first:
            when_there()
            return
        write, way = Pace(0.0), GivingWay()
        again = Pace.of_figures()
        for done, left in run(result):
            way.pause()
            if write.due():
                status.progress(done / result.cells, text=left)
            if again.due():
                said = statement(result)
                say(said, result, sentence)
                draw(shown, said.headline, figure)
        st.session_state["running"] = False
        st.rerun()
    if first:
        arrive()
        time.sleep(HOLD_BACK_SECONDS)
        _draw_touch(shown, hand)
    _draw_controls(set_now)
    if (
        stale
        and scenario is not None
        and estimate((scenario, *others(scenario))).seconds < LIVE_SECONDS
    ):
        time.sleep(max(0.0, QUIET_SECONDS - (time.monotonic() - began)))
        press_run()  # a move in the meantime stops this run of the page here
        st.rerun()
    draw_differences(result)
    draw_details(shown, said.headline, _start)


def _draw_touch(shown: Shown, place: DeltaGenerator) -> None:
    """Draw what answers the hand in the figure: its chosen point, and the parts of its bounds."""
    draw_hand(shown, place)
    draw_governing(shown, place)


def _draw_head(
    problems: list[str], scenario: Scenario | None, result: Result | None, problem: str
) -> DeltaGenerator:
    """Draw what stands above the figure and its sentence; return the place of the status."""
    draw_wrong(problems)
    held = st.session_state[SHOW]
    bounds = partial(st.pills, "Show", VIEWS, default=held, selection_mode="multi", key=SHOW)
    draw_views("explore", bounds)
    st.title("DP-SCO Explorer: what does privacy cost on heavy-tailed data?")
    status = draw_buttons(scenario, result, problem, _presets)
    draw_second(scenario, result)
    if result is not None and result.beside is not None:
        st.html(STYLE_BESIDE)
    return status


def _draw_controls(set_now: Scenario) -> None:
    """Draw all controls but the first group, which is there from the start."""
    with st.sidebar:
        controls.draw_groups(GROUPS[1:], set_now, {"Study": draw_choice})
        controls.draw_fine_print(set_now)
        draw_own_numbers()


def _result(scenario: Scenario | None) -> Result | None:
    """Return the result to show, a new one if a run was asked for; settle whether it is running.

    A run goes on over reruns that leave its scenario as it is, and ends where the scenario changes.
    What an earlier result holds of either scenario is kept.
    """
    result: Result | None = st.session_state.get("result")
    asked = st.session_state.pop("start", False) or STATE.fresh()
    other = None if scenario is None else beside(scenario)
    same = scenario is not None and result is not None and result.shows(scenario, other)
    if asked and scenario is not None and not same:
        known = result or Result(scenario)
        result = known.of(scenario)
        result.beside = None if other is None else known.of(other)
        st.session_state["result"] = result
        same = True
    going = asked or st.session_state.get("running", False)
    st.session_state["running"] = bool(
        going and same and result is not None and not result.complete
    )
    return result


def _presets() -> None:
    """Draw the menu of what can be opened: presets, their gallery, a stored study."""
    icon = ":material/auto_awesome:"
    with st.container(width="content", key="presets"), st.popover("Presets", icon=icon):
        for kind, name in KINDS.items():
            st.caption(name)
            with st.container(horizontal=True):
                for preset in (preset for preset in PRESETS if preset.kind == kind):
                    st.button(
                        preset.name,
                        key=f"preset_{preset.name}",
                        help=preset.look_for,
                        on_click=_start_preset,
                        args=(preset,),
                    )
        st.caption("More")
        with st.container(horizontal=True):
            if st.button("Gallery", icon=":material/grid_view:", key="gallery_open"):
                _gallery()
            draw_open()


@st.dialog("Gallery of presets", width="large")
def _gallery() -> None:
    st.html(GALLERY_STYLE)
    st.markdown("Each makes one point. The lines are those of its run, in the colours of Explore.")
    for kind, name in KINDS.items():
        st.markdown(f"**{name}**")
        for i, preset in enumerate(preset for preset in PRESETS if preset.kind == kind):
            if i % 3 == 0:
                columns = st.columns(3)
            with columns[i % 3], st.container(border=True):
                picture = preset.picture.read_text(encoding="utf-8")
                st.image(picture, width="stretch", alt=f"Lines of {preset.name}")
                if st.button(
                    preset.name,
                    key=f"gallery_{preset.name}",
                    width="stretch",
                    on_click=_start_preset,
                    args=(preset,),
                ):
                    st.rerun()
                st.caption(preset.look_for)


def _start_preset(preset: Preset) -> None:
    st.session_state[AGAINST] = preset.against
    if preset.against not in (NO_SET, TAIL):  # one scenario can stand beside
        st.session_state[PIN] = ""
    _start(preset.scenario)


def _start(scenario: Scenario) -> None:
    controls.load(scenario)
    press_run()
