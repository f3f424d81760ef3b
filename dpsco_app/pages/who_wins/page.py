"""Who wins: which method is best where, as measured, by proven bounds or by rates."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial

import streamlit as st

from dpsco_app.pages.contest import READING_NAMES, draw_contest, nearest_cell
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import WHOLE, draw_page
from dpsco_app.pages.scripts import regimes_script
from dpsco_app.pages.who_wins import state
from dpsco_app.parts.evaluations import without_data
from dpsco_app.parts.export import draw_page_files, setting_line
from dpsco_app.parts.options import rounded
from dpsco_app.parts.page import draw_parts, to_explore
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.refusals import Refusal, grouped_refusals
from dpsco_app.runs.running import cached_cell
from dpsco_app.shell.places import draw_views
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.explain import contest
from dpsco_core.explain.methods.guide import refusal
from dpsco_core.runs.study import Outcome, canonical
from dpsco_core.scenario import DEFAULT_GRIDS, Scenario

PLANE, READING = state.STATE.key("plane"), state.STATE.key("reading")
QUESTION = "Which method is best where?"


def page() -> None:
    """Draw the page Who wins: a map of the best method over two fields."""
    draw_views("who-wins")
    draw_page(state.STATE, {WHOLE: _draw}, {WHOLE: QUESTION})


def _draw(screen: FirstScreen, view: state.View, scenario: Scenario) -> None:
    """Draw the choices of what is compared and over which fields, and the map."""
    planes = {name: state.PLANES[name] for name in state.planes_for(scenario)}
    # The choices are in a popover, because two rows of buttons beside the map would distract.
    label = f"**Compare** {READING_NAMES[view.reading].lower()}, over {planes[view.plane]}"
    with (
        screen.controls,
        st.container(width="content", key="who_wins_choices"),
        st.popover(label, icon=":material/tune:"),
    ):
        draw_parts(READING_NAMES, READING, "Compare", label_visibility="visible")
        draw_parts(planes, PLANE, "Over", label_visibility="visible")
    measured, small, compared = view.reading == "measured", "", scenario
    if measured:
        small = f"Without data, on these data: {rounded(without_data(scenario))}. "
        for refused_there in _left_out(scenario, view.plane):
            reason = refused_there.reason.split(". ")[0]
            small += f"Left out: {refused_there.names} ({reason}). "
            methods_left = [m for m in compared.methods if m not in refused_there.methods]
            compared = replace(compared, methods=tuple(methods_left))
    if not contest.compared(compared, view.reading):
        method = words_for(scenario.problem).method
        screen.say(
            QUESTION,
            f"No private {method} that is chosen can run here"
            if measured
            else "No such bound is known for the methods that are chosen",
            f"{small}Choose other methods, or compare measured errors.",
        )
        return
    # `canonical` resets the methods, which the map compares.
    point = replace(canonical(compared), methods=compared.methods)
    with st.container(horizontal=True, vertical_alignment="center", key="who_wins_row"):
        axis = view.plane.split("-")[0]
        swept = replace(scenario, axis=axis, grid=DEFAULT_GRIDS[axis])
        to_explore(swept, "Open this point in Explore")
        draw_page_files("who_wins", partial(regimes_script, point, view.plane, view.reading))
    draw_contest(
        screen,
        QUESTION,
        small,
        _measured(compared, view) if measured else iter([_bounds(point, view.plane, view.reading)]),
        compared,
        view.reading,
        setting=setting_line(replace(compared, axis=None, grid=()), runs=measured),
    )


@lru_cache(maxsize=100)
def _bounds(point: Scenario, name: str, reading: contest.Reading) -> contest.Contest:
    """Return the map of the smallest bounds on the plane of this name through a point, cached."""
    return contest.bounds_contest(point, state.plane(name, point, state.SIZES[reading]), reading)


def _left_out(scenario: Scenario, plane: str) -> tuple[Refusal, ...]:
    """Return why some methods run nowhere on the map, whatever the values on its axes.

    `plane` names the map's axes, as in "n-epsilon".
    """
    point = canonical(replace(scenario, axis=None, grid=()))
    refused = ((m, refusal(point, m)) for m in scenario.methods)
    return tuple(
        group
        for group in grouped_refusals((m, str(r), r.changes) for m, r in refused if r is not None)
        if not {field for field, _ in group.changes} & set(plane.split("-"))
    )


def _measured(scenario: Scenario, view: state.View) -> Iterator[contest.Contest]:
    """Yield the map of measured errors, cell by cell from the chosen point outwards."""
    whole = state.plane(view.plane, scenario, state.SIZES["measured"])
    part = contest.measured_plane(scenario, whole, DASHBOARD)
    outcomes: dict[tuple[int, int], list[Outcome]] = {}
    start: dict[tuple[int, int], float] = {}
    methods = contest.compared(scenario, "measured")
    for index in contest.contest_cells(part, nearest_cell(part, scenario)):
        cells = contest.cells_at(scenario, part, *index)
        outcomes[index] = [cached_cell(cell) for cell in cells]
        start[index] = without_data(cells[0].point)
        yield contest.measured_contest(part, methods, outcomes, start)
