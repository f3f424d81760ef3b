"""Explore, the front page: what privacy costs, measured live between what is proven."""

import time
from html import escape

import streamlit as st

from dpsco_app.figure.head import coloured_words
from dpsco_app.front.pictures.meaning import SPELLED_OUT
from dpsco_app.front.questions.prices import slider_areas
from dpsco_app.front.second import SECONDS, second_name
from dpsco_app.pages.explore.cards import draw_cards
from dpsco_app.pages.explore.details import draw_details
from dpsco_app.pages.explore.doors import draw_doors
from dpsco_app.pages.explore.foot import FIGURE, choose_panels, draw_foot, draw_hand, draw_settings
from dpsco_app.pages.explore.menus import draw_presets, draw_ways
from dpsco_app.pages.explore.own_numbers import draw_own_numbers
from dpsco_app.pages.explore.records import draw_records
from dpsco_app.pages.explore.runs import draw_run, offer_nearest
from dpsco_app.pages.explore.state import STATE
from dpsco_app.pages.explore.style import style
from dpsco_app.parts import controls
from dpsco_app.parts.drawing import Place, draw_focus, theme
from dpsco_app.parts.export import draw_source, setting_line
from dpsco_app.parts.fields import FOLDED_AT_FIRST
from dpsco_app.parts.insides import DeltaGenerator
from dpsco_app.parts.options import AGAINST
from dpsco_app.parts.page import draw_wrong
from dpsco_app.parts.refusals import on_screen
from dpsco_app.parts.themes import is_dark
from dpsco_app.runs.running import run
from dpsco_app.runs.turns import TURNS
from dpsco_app.session.pace import Pace
from dpsco_app.session.screen import Screen
from dpsco_app.session.session import Session
from dpsco_app.shell import teaching, visit
from dpsco_app.shell.window import arrive, arrived, when_there
from dpsco_core.scenario import Scenario

# The seconds by which a visit's first page delays its other parts, so that the figure comes first.
HOLD_BACK_SECONDS = 0.6
QUIET_SECONDS = 0.25  # The seconds without a move before a run starts by itself.


class FrontParts:
    """The parts of the page that follow a run: the answer, the figure and its table."""

    def __init__(self, screen: Screen, *, is_phone: bool) -> None:
        """Lay out the empty places of the page's parts, in their order."""
        self.head = st.empty()
        if is_phone:
            choose_panels(screen)
        self.figure = Place(st.container(key=FIGURE + ("compact" if is_phone else "wide")))
        draw_source(setting_line(screen.scenario))
        self.phone, self.cards, self.records = st.container(), st.container(), st.container()
        self.numbers = st.container()
        with self.numbers:
            st.subheader("Numbers")
            self.whose, self.table = st.empty(), st.empty()
        self.count = 0
        self.draw(screen)

    def draw(self, screen: Screen) -> None:
        """Draw the answer, the figure and the table into their places, over what stands there."""
        front = screen.front
        self.count += 1
        self.head.html(front.head)
        self.figure.draw(front.charts, front.answer.plain, f"explore_{self.count}")
        self.whose.html(f"<p class='whose'>{coloured_words(front.answer.small, theme())}</p>")
        self.table.html(front.table)


def page() -> None:
    """Draw the page Explore, and continue its run."""
    began = time.monotonic()
    st.html(style(dark=is_dark()))
    wrong = STATE.restore()
    session, look = visit.current(), theme()
    if arrived() and not TURNS.is_contested and session.curves.would_be_over_at_once:
        # With this call, the first drawing after a quick move already shows the new run.
        session.press_run()
    if session.curves.is_running and not TURNS.is_contested:
        session.curves.start_ahead()
    screen, is_phone = session.screen(look), not look.size.ladder
    if not screen.refused:
        STATE.remember(screen.view, screen.current_scenario)

    draw_wrong(wrong)
    with st.container(horizontal=True, vertical_alignment="center", key="top_row"):
        draw_doors(screen.current_scenario)
        # The status is filled at once, since a row that grows later would move its buttons.
        status = st.empty()
        about = "" if screen.is_running else f"They took {screen.seconds:.2g} s"
        status.html(status_html("" if screen.is_empty else screen.status, about))
        button = _draw_button(screen)
        draw_presets()
        draw_ways()
    if screen.refused and screen.is_read_only:
        words = f"A stored study, for reading: it cannot be run here. {on_screen(screen.refused)}"
        st.info(words)
    elif screen.refused:
        st.error(on_screen(screen.refused))
        offer_nearest()
    if screen.is_empty:
        draw_sidebar(screen.current_scenario)
        return
    parts = FrontParts(screen, is_phone=is_phone)
    TURNS.end_drawing()
    if is_phone:
        with parts.phone:
            draw_settings(screen.current_scenario)
    with parts.cards:
        draw_cards(screen.cards, screen.view.card)
    draw_hand(screen)
    draw_focus(FIGURE)
    draw_sidebar(screen.current_scenario, screen.front.lead, screen.view.card)
    with parts.records:
        draw_records(screen)
    with parts.numbers:
        draw_foot(screen, phone=is_phone)
    if screen.is_running:
        if not arrived():
            when_there()
            return
        run_to_the_end(session, parts, status)
    if not arrived():
        arrive()
        time.sleep(HOLD_BACK_SECONDS)
    if screen.runs_by_itself:
        time.sleep(max(0.0, QUIET_SECONDS - (time.monotonic() - began)))
        # If the visitor has moved a control meanwhile, Streamlit stops this run here.
        status.html(status_html(screen.status))
        session.press_run()
        draw_run(button, is_running=True, is_allowed=True)
        run_to_the_end(session, parts, status)
    TURNS.give_way()
    draw_details(screen)


def _draw_button(screen: Screen) -> DeltaGenerator:
    """Draw the button Run or Cancel, and return the container that it is in."""
    place = st.empty()
    is_needed = screen.is_empty or not screen.is_complete
    draw_run(
        place, is_running=screen.is_running, is_allowed=not screen.refused, is_needed=is_needed
    )
    return place


def draw_sidebar(scenario: Scenario, lead: str = "", card: str = "") -> None:
    """Draw the controls of the scenario, and what Explore adds to them.

    `lead` is the slug of the best algorithm and `card` that of the open question; the question on
    the sliders is answered by areas above them.
    """
    areas = slider_areas(scenario, theme()) if card == "sliders" else {}
    with teaching.controls_place():
        st.html(f"<p class='spelled'>{SPELLED_OUT}</p>")
        controls.draw_controls(
            scenario, more=_draw_second_panel, lead=lead, areas=areas, folded=FOLDED_AT_FIRST
        )


def _draw_second_panel(scenario: Scenario) -> None:
    """Draw the menu of what the second panel shows, and the button for the visitor's own file."""
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


def run_to_the_end(session: Session, parts: FrontParts, status: DeltaGenerator) -> None:
    """Run the missing cells and draw the figure as it grows; then have the page drawn anew."""
    write, look, drawn_count = Pace(0.0), theme(), 0
    for status_text in run(session.curves):
        if write.due():
            status.html(status_html(status_text))
        finished = session.curves.finished
        # While other visitors wait, a growing figure is drawn only once, when all its lines are
        # there: more drawings would delay everybody's runs.
        may_draw = not TURNS.is_contested or (drawn_count == 0 and session.curves.can_be_drawn)
        if finished > drawn_count and may_draw and session.curves.is_due():
            drawn_count = finished
            parts.draw(session.screen(look))
    st.rerun()


def status_html(text: str, tooltip: str = "") -> str:
    """Return the status as HTML; `tooltip` is shown where the pointer rests on it."""
    return f"<div class='status' role='status' title='{escape(tooltip)}'>{escape(text)}</div>"
