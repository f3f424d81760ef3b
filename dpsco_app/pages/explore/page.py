"""Explore, the front page: what privacy costs, measured live between what is proven."""

import time
from functools import cache
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.front.changes import none_chosen
from dpsco_app.front.screen import FrontScreen, front_screen
from dpsco_app.front.second import SECONDS, second_name
from dpsco_app.live.running import DRAW_EVERY_SECONDS, Pace, figure_pace, run, so_far
from dpsco_app.live.turns import TURNS
from dpsco_app.pages.explore.details import draw_details
from dpsco_app.pages.explore.doors import draw_doors
from dpsco_app.pages.explore.foot import FIGURE, choose_panels, draw_foot, draw_hand, draw_settings
from dpsco_app.pages.explore.menus import draw_presets
from dpsco_app.pages.explore.own_numbers import draw_own_numbers
from dpsco_app.pages.explore.runs import (
    Shown,
    beside_of,
    draw_run,
    left_of,
    offer_nearest,
    press_run,
    read_only,
    result_of,
    shown_of,
    status_of,
    studies_of,
)
from dpsco_app.pages.explore.state import STATE
from dpsco_app.pages.explore.style import style
from dpsco_app.parts import controls
from dpsco_app.parts.drawing import Place, draw_focus, is_phone, theme
from dpsco_app.parts.options import AGAINST, PANEL
from dpsco_app.parts.page import draw_wrong
from dpsco_app.parts.refusals import on_screen
from dpsco_app.shell import teaching
from dpsco_app.shell.places import draw_views
from dpsco_app.shell.window import arrive, arrived, when_there
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.runs.allowed import refusal
from dpsco_core.scenario import Scenario

HOLD_BACK_SECONDS = 0.6  # the rest of a visit's first page: its figure is drawn first
# Work that is predicted to take less runs by itself, after a moment of quiet.
LIVE_SECONDS, QUIET_SECONDS = 6.0, 0.25


class Screen:
    """The parts of the first screen that follow a run: the answer, the figure and its table."""

    def __init__(self, shown: Shown) -> None:
        self.head = st.empty()
        self.shown_with = theme()
        self.is_phone = not self.shown_with.size.ladder
        if self.is_phone:
            choose_panels(shown)
        self.figure = Place(st.container(key=FIGURE + ("compact" if self.is_phone else "wide")))
        self.table = st.empty()
        self.count = 0

    def draw(self, shown: Shown) -> FrontScreen:
        """Draw what there is; the browser changes the figure that is there, which is quicker."""
        studies = studies_of(shown)
        # Where there is room for one panel: the ladder has both.
        one = len(studies) - 1 if st.session_state[PANEL] == "second" else 0
        only = None if self.shown_with.size.several else one
        view, before = STATE.current(), shown.stale
        made = front_screen(studies, view, self.shown_with, only, before=before)
        self.count += 1
        self.head.html(made.head)
        self.figure.draw(made.charts, made.answer.plain, f"explore_{self.count}")
        self.table.html(made.table)
        return made


def page() -> None:
    began = time.monotonic()
    st.html(style())
    wrong = STATE.restore()
    controls.settle()
    now = controls.read()
    pair = cache(beside_of)
    problem = refusal(now, DASHBOARD, lambda s: pair(s).scenarios) or none_chosen(now)
    scenario, others = (None, None) if problem else (now, pair(now))
    if scenario is not None:
        STATE.remember(STATE.current(), scenario)
    result = result_of(scenario, others)
    shown = None if result is None else shown_of(result, scenario, others)

    draw_wrong(wrong)
    with st.container(horizontal=True, vertical_alignment="center", key="top_row"):
        draw_views("explore")
        status = st.empty()  # filled at once: a row that grows later moves its buttons
        status.html(status_html("" if shown is None else status_of(shown)))
        if not is_phone():
            draw_presets()
            draw_run(scenario, running=bool(shown and shown.running))
    if problem and read_only(result):
        st.info(f"A stored study, for reading: it cannot be run here. {on_screen(problem)}")
    elif problem:
        st.error(on_screen(problem))
        offer_nearest()
    if shown is None:
        draw_sidebar(now)
        return
    draw_doors(now)
    screen = Screen(shown)
    made = screen.draw(shown)
    TURNS.drawn()
    if screen.is_phone:
        with st.container(horizontal=True, vertical_alignment="center", key="phone_row"):
            draw_settings()
            draw_presets()
            draw_run(scenario, running=shown.running)
    draw_foot(shown, made.answer, phone=screen.is_phone)
    draw_hand(shown)
    draw_focus(FIGURE)
    draw_sidebar(now)
    if shown.running:
        if not arrived():
            when_there()
            return
        run_to_the_end(shown, screen, status)
    if not arrived():
        arrive()
        time.sleep(HOLD_BACK_SECONDS)
    if shown.stale and is_quick(shown):
        time.sleep(max(0.0, QUIET_SECONDS - (time.monotonic() - began)))
        press_run()  # a move in the meantime stops this run of the page here
        st.rerun()
    TURNS.give_way()
    draw_details(shown, made.lead)


def draw_sidebar(now: Scenario) -> None:
    """Draw the controls of the scenario, and what Explore adds to them."""
    with teaching.controls_place():
        controls.draw(now, more=_more)


def _more(scenario: Scenario) -> None:
    st.selectbox(
        "Beside your data, show",
        SECONDS,
        SECONDS.index(st.session_state[AGAINST]),
        format_func=second_name,
        key=AGAINST,
        help="The second panel: the hard instance of the sharpest bound on private algorithms, "
        "with the same tail; the same study with a light tail (light data: with a heavy one); or "
        "the same study on another set of the same diameter.",
    )
    draw_own_numbers()


def run_to_the_end(shown: Shown, screen: Screen, status: DeltaGenerator) -> None:
    """Run what the result lacks, and show it as it grows; then draw the page anew."""
    result = shown.result
    write, again, shown_cells = Pace(0.0), figure_pace(DRAW_EVERY_SECONDS), result.finished
    for _, left in run(result):
        if write.due():
            status.html(status_html(left or so_far(result)))
        if result.finished > shown_cells and not TURNS.taken and again.due():
            shown_cells = result.finished
            screen.draw(shown)
    st.session_state["running"] = False
    st.rerun()


def is_quick(shown: Shown) -> bool:
    return (left := left_of(shown)) is not None and left.seconds < LIVE_SECONDS


def status_html(text: str) -> str:
    return f"<div class='status' role='status'>{escape(text)}</div>"
