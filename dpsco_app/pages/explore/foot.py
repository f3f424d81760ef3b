"""The row below the figure: panels, bounds and files, and the dot that can be dragged."""

import math
from functools import partial
from typing import Any

import streamlit as st

from dpsco_app.figure.colours import INK, PAGE
from dpsco_app.front.bound_lines import class_name
from dpsco_app.front.changes import slider_values
from dpsco_app.front.figure import front_figure
from dpsco_app.front.second import fit_one_panel, in_short, pinned
from dpsco_app.front.study import chosen_point, place
from dpsco_app.front.view import View
from dpsco_app.pages.explore.menus import draw_bounds_menu, take
from dpsco_app.pages.explore.more_trials import draw_more_trials
from dpsco_app.pages.explore.runs import proven_slugs
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts import controls, export
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.folding import fold
from dpsco_app.parts.insides import OPEN_SIDEBAR
from dpsco_app.parts.options import MEASURE, MEASURES, PANEL, SYMBOL, number_text
from dpsco_app.parts.page import link
from dpsco_app.parts.themes import is_dark
from dpsco_app.parts.touch.components import component
from dpsco_app.session.screen import Screen
from dpsco_app.shell import visit
from dpsco_app.static_page.sliders import sliders_page, sliders_seconds
from dpsco_core.scenario import Scenario

HAND = "explore_hand"
# The longest predicted time for which a click on the page with sliders may wait.
MOST_SLIDERS_SECONDS = 60.0
FIGURE = "figure_"  # The prefix of the keys of the figure's containers.


def draw_settings(scenario: Scenario) -> None:
    """Draw the button that opens the panel of controls on a phone, with the main settings."""
    budget = "epsilon" if scenario.rho is None else "rho"
    values = (
        f"{SYMBOL[name]} = {number_text(getattr(scenario, name))}" for name in ("n", "p", budget)
    )
    component("settings", "settings.css", html="<button type='button'>Settings</button>")(
        key="open_settings",
        data={"button": OPEN_SIDEBAR, "words": " · ".join((*values, "Change"))},
        width="stretch",
        height="content",
    )


def draw_foot(screen: Screen, *, phone: bool) -> None:
    """Draw the row below the figure, with its controls, the pin and the files."""
    scenario = screen.scenario
    with st.container(horizontal=True, vertical_alignment="center", key="foot"):
        if not phone:
            choose_panels(screen)
        _choose_measure()
        draw_bounds_menu(scenario)
        drag = f"Drag the dot to choose {SYMBOL[scenario.axis]}. " if scenario.axis else ""
        with st.container(key="foot_words"):
            st.markdown(f"{drag}Bars: 95 % intervals of {scenario.trials} trials.")
        draw_more_trials(screen)
        _draw_pin(screen)
        fold("Export", lambda: _draw_export(screen), "explore_export", kind="popover")
        link(STATE, screen.view, scenario)
    kept = pinned(screen.view.pin)
    if kept is not None:
        st.caption(_about_pin(kept, screen.allowed or scenario))


def choose_panels(screen: Screen) -> None:
    """Draw the switch that shows both panels or only one of them."""
    names = screen.panel_names
    if not names:
        return
    typed = f"{PANEL}_typed"
    # A change of the settings can add or remove the second panel.
    st.session_state[typed] = screen.panel
    st.segmented_control(
        "Panels",
        list(names),
        format_func=names.__getitem__,
        key=typed,
        required=True,
        label_visibility="collapsed",
        on_change=take,
        args=(PANEL,),
    )


def _choose_measure() -> None:
    """Draw the control that chooses whether errors or prices of privacy are drawn."""
    st.segmented_control(
        "Draw",
        MEASURES,
        default=st.session_state[MEASURE],
        format_func=str.capitalize,
        key=MEASURE,
        required=True,
        label_visibility="collapsed",
        help="Price: the error over the error without privacy, on the same data.",
    )


def _draw_pin(screen: Screen) -> None:
    """Draw the button that pins the curves, or unpins them if they are pinned."""
    is_pinned = bool(screen.view.pin)
    st.button(
        "Unpin" if is_pinned else "Pin",
        key="explore_pin",
        on_click=_unpin if is_pinned else _pin,
        disabled=not is_pinned and (screen.is_running or screen.is_read_only),
        help=None if is_pinned else "Keeps these curves, and draws the next run over them.",
    )


def _pin() -> None:
    """Keep the present curves, so that the next run is drawn over them; a callback."""
    visit.current().pin()
    STATE.fill_widgets(visit.current().view)


def _unpin() -> None:
    """Remove the curves that were kept for comparison; a callback."""
    visit.current().unpin()
    STATE.fill_widgets(visit.current().view)


def _about_pin(pinned_scenario: Scenario, scenario: Scenario) -> str:
    """Return the sentence that describes the pinned run beside the present scenario."""
    if pinned_scenario == scenario:
        return "**Pinned.** Change a setting and run: both runs will be drawn."
    words = in_short(pinned_scenario, scenario) or "the same settings"
    if fit_one_panel(pinned_scenario, scenario):
        return f"**Pinned**, dashed: {words}."
    return f"**Pinned:** {words}. Its axis or its quantity is another one: it has the second panel."


# -- files ----------------------------------------------------------------------------------------


def _draw_export(screen: Screen) -> None:
    """Draw the buttons that save the run, and the figure as a page, a PDF, a slide or pictures."""
    result, view, answer = screen.result, screen.view, screen.front.answer
    slugs = proven_slugs(screen.scenario, view)
    lines = {class_name(evaluations(screen.scenario, (slug,))): (slug,) for slug in slugs}
    export.draw_run_files(result, lines, view.formulas)
    setting = "; beside: ".join(
        dict.fromkeys(export.setting_line(part.scenario) for part in result.parts)
    )
    figure = front_figure(screen.studies, view, answer.plain, is_old=screen.is_old)
    page = partial(export.figure_html, figure, dark=is_dark(), setting=setting)
    export.download("HTML: the figure as a page", page, "dpsco-explore.html", width="stretch")
    _export_sliders(screen.scenario, view)
    export.download(
        "PDF: the figure for a paper",
        partial(export.figure_pdf, figure, setting),
        "dpsco-explore.pdf",
        width="stretch",
    )
    headline = [line for line in answer.headline if line]
    export.download(
        "PDF: the figure as a slide, 16:9",
        partial(export.figure_slide, figure, headline, setting, dark=is_dark()),
        "dpsco-slide.pdf",
        width="stretch",
    )
    title = f"{answer.plain}. {''.join(text for text, _ in answer.small)}"
    export.picture_buttons("", title, key="explore_pictures", setting=setting)


def _export_sliders(scenario: Scenario, view: View) -> None:
    """Draw the button that saves a page with sliders, and how long it takes to make."""
    seconds = sliders_seconds(scenario, view)
    # A longer wait could not be stopped and would show no progress.
    is_long = seconds > MOST_SLIDERS_SECONDS
    export.download(
        "HTML: a page with sliders",
        partial(sliders_page, scenario, view=view),
        "dpsco-sliders.html",
        width="stretch",
        disabled=is_long,
    )
    takes = f"about {max(1, round(seconds)):,} s"
    st.caption(
        f"The page with sliders would take {takes}; the dashboard allows "
        f"{MOST_SLIDERS_SECONDS:.0f} s. The command `dpsco page` has no limit."
        if is_long
        else f"The page with sliders is made at the click, in {takes}."
    )


# -- the dot on the axis --------------------------------------------------------------------------


def draw_hand(screen: Screen) -> None:
    """Draw the handle over the figure with which a visitor drags the chosen point of the axis."""
    scenario = _under_hand(screen)
    if scenario.axis is None or not math.isfinite(getattr(scenario, scenario.axis)):
        return  # An infinite q has no position on the axis.
    colours = {"ink": INK[is_dark()], "page": PAGE[is_dark()]}
    component("hand", html="")(
        key=HAND,
        data=handle(scenario, scenario.axis) | {"figure": FIGURE, "colours": colours},
        on_chosen_change=_choose,
        height="content",
    )


def _under_hand(screen: Screen) -> Scenario:
    """Return the scenario whose value the dot sets: the present one, if its axis is drawn."""
    allowed, drawn_scenario = screen.allowed, screen.scenario
    is_same = allowed is not None and (allowed.axis, allowed.grid) == (
        drawn_scenario.axis,
        drawn_scenario.grid,
    )
    return allowed if allowed is not None and is_same else drawn_scenario


def handle(scenario: Scenario, axis: str) -> dict[str, Any]:
    """Return the data of the handle on the axis: its place and the values it can be dragged to."""
    start, end = scenario.grid[0], scenario.grid[-1]
    scenario_value = getattr(scenario, axis)
    value = scenario_value if start <= scenario_value <= end else place(chosen_point(scenario))
    values = [x for x in slider_values(axis, scenario, value) if start <= x <= end]
    return {
        "symbol": SYMBOL[axis],
        "field": axis,
        "values": values,
        "texts": [number_text(x) for x in values],
        "at": values.index(value),
    }


def _choose() -> None:
    """Set the axis's field to the value to which the visitor has dragged the dot; a callback."""
    field, value = st.session_state[HAND]["chosen"]
    scenario = visit.current().scenario
    if field == scenario.axis and value in handle(scenario, field)["values"]:
        controls.choose(field, value)
