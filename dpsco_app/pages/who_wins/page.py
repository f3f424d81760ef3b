"""Who wins: which method is best where, as measured, by proven bounds or by rates."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial

import streamlit as st

from dpsco_app.live.running import cached_cell
from dpsco_app.pages.contest import READING_NAMES, draw_contest, nearest_cell
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.scripts import regimes_script
from dpsco_app.pages.who_wins import state
from dpsco_app.parts.evaluations import without_data
from dpsco_app.parts.export import draw_page_files, setting_line
from dpsco_app.parts.options import rounded
from dpsco_app.parts.page import draw_apart, draw_controls, draw_wrong, explore_query, opened
from dpsco_app.parts.problem_words import words_for
from dpsco_app.shell.places import draw_views, link_to
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.explain import contest
from dpsco_core.runs.study import Outcome, canonical
from dpsco_core.scenario import DEFAULT_GRIDS, Scenario

PLANE, READING = state.STATE.key("plane"), state.STATE.key("reading")
QUESTION = "Which method is best where?"


def page() -> None:
    draw_views("who-wins")
    view, wrong = opened(state.STATE)
    scenario, refused = draw_controls(state.STATE)
    draw_wrong(wrong)
    screen = FirstScreen("winners")
    if scenario is None:
        screen.say(QUESTION, refused)
        return
    with screen.controls:
        view = _choose(view, scenario)
    with screen.foot:
        draw_apart(state.STATE, scenario)
    state.STATE.remember(view, scenario)
    if not contest.compared(scenario, view.reading):
        method = words_for(scenario.problem).method
        screen.say(
            QUESTION,
            f"No private {method} is chosen"
            if view.reading == "measured"
            else "No such bound is known for the methods that are chosen",
            "Choose other methods, or compare measured errors.",
        )
        return
    # Its bounds are drawn before anything is run.
    point = replace(canonical(scenario), methods=scenario.methods)
    with st.container(horizontal=True, vertical_alignment="center", key="who_wins_row"):
        _to_explore(scenario, view)
        draw_page_files("who_wins", partial(regimes_script, point, view.plane, view.reading))
    measured = view.reading == "measured"
    draw_contest(
        screen,
        QUESTION,
        f"An answer that ignores the data: {rounded(without_data(scenario))}. " * measured,
        _measured(scenario, view) if measured else _bounds(point, view),
        scenario,
        view.reading,
        setting=setting_line(replace(scenario, axis=None, grid=()), runs=measured),
    )


def _choose(view: state.View, scenario: Scenario) -> state.View:
    """Draw what chooses the reading and the plane; return the view with both."""
    offered = state.planes_for(scenario)
    if st.session_state[PLANE] not in offered:
        st.session_state[PLANE] = offered[0]
    with st.container(horizontal=True, key="who_wins_choices"):
        reading = st.segmented_control(
            "Compare",
            list(READING_NAMES),
            default=st.session_state[READING],
            format_func=READING_NAMES.__getitem__,
            key=READING,
            required=True,
            label_visibility="collapsed",
        )
        plane = st.segmented_control(
            "Plane",
            list(offered),
            default=st.session_state[PLANE],
            format_func=state.PLANES.__getitem__,
            key=PLANE,
            required=True,
            label_visibility="collapsed",
        )
    return replace(view, plane=plane, reading=reading)


def _to_explore(scenario: Scenario, view: state.View) -> None:
    """Draw the link to Explore: with a sweep, or the point alone where that is too large."""
    axis = view.plane.split("-")[0]
    single = replace(scenario, axis=None, grid=())
    for there in (replace(single, axis=axis, grid=DEFAULT_GRIDS[axis]), single):
        try:
            query = explore_query(there)
        except InvalidInput:
            continue
        link_to("explore", "Open this point in Explore", query)
        return


def _bounds(point: Scenario, view: state.View) -> Iterator[contest.Contest]:
    """Yield the map of bounds; a coarse one first where the fine one is new."""
    kept = _kept(point, view.plane, view.reading)
    if not kept:
        for size in (state.COARSE, state.SIZES[view.reading]):
            bounds_map = contest.bounds_contest(
                point, state.plane(view.plane, point, size), view.reading
            )
            yield bounds_map
        kept.append(bounds_map)
    yield kept[0]


@lru_cache(maxsize=100)
def _kept(point: Scenario, name: str, reading: contest.Reading) -> list[contest.Contest]:
    """Return the place of a map that has been made in this process."""
    return []


def _measured(scenario: Scenario, view: state.View) -> Iterator[contest.Contest]:
    """Yield the map of measured errors, cell by cell from the chosen point outwards."""
    whole = state.plane(view.plane, scenario, state.SIZES["measured"])
    part = contest.measured_plane(scenario, whole, DASHBOARD)
    outcomes: dict[tuple[int, int], list[Outcome]] = {}
    start: dict[tuple[int, int], float] = {}
    methods = contest.compared(scenario, "measured")
    for at in contest.contest_cells(part, nearest_cell(part, scenario)):
        cells = contest.cells_at(scenario, part, *at)
        outcomes[at] = [cached_cell(cell) for cell in cells]
        start[at] = without_data(cells[0].point)
        yield contest.measured_contest(part, methods, outcomes, start)
