"""Who wins: which method is best where, by three readings, and what limits a rate."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import streamlit as st

from dpsco_app.live.running import cached_cell
from dpsco_app.pages.scripts import regimes_script
from dpsco_app.pages.who_wins import state, words
from dpsco_app.pages.who_wins.charts import terms_figure
from dpsco_app.pages.who_wins.drawing import draw_contest, move_point
from dpsco_app.parts.evaluations import without_data
from dpsco_app.parts.export import draw_page_files, setting_line
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.folding import fold
from dpsco_app.parts.page import draw_apart, opened_with_scenario
from dpsco_app.parts.problem_words import words_for
from dpsco_app.shell.places import draw_views, link_to
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import bound, method_card
from dpsco_core.explain import contest
from dpsco_core.explain.regimes import Plane, Regimes, regimes
from dpsco_core.runs.study import Outcome, canonical
from dpsco_core.scenario import Scenario

PLANE, TERMS, READING = (
    state.STATE.key("plane"),
    state.STATE.key("terms"),
    state.STATE.key("reading"),
)


def page() -> None:
    draw_views("who-wins")
    found = opened_with_scenario(state.STATE, "Who wins: which method is best where", _choices)
    if found is None:
        return
    view, scenario = found
    draw_apart(state.STATE, scenario)
    if not contest.compared(scenario, "measured"):
        method = words_for(scenario.problem).method
        st.info(f"No private {method} is chosen: choose another one.")
        return
    left, right = st.columns(2)
    with left:
        map_place, below = st.container(), st.container()
    slug = _terms_bound(scenario)
    with right:
        if slug:
            _terms(scenario, view, slug)
    at = state.plane(view.plane, scenario)
    with below:
        st.markdown(f"Chosen point: **{words.where(at, scenario)}**. Click into a map to move it.")
        try:
            query = state.explore_query(scenario, at.x_axis)
            link_to("explore", "Open this point in Explore", query)
        except InvalidInput as problem:
            st.caption(f"Too large to run in Explore: {problem}")
    # Its bounds are drawn before anything is run.
    point = replace(canonical(scenario), methods=scenario.methods)
    draw_page_files("who_wins", partial(regimes_script, point, view.plane, view.reading, slug))

    def formulas() -> None:
        rates = [method_card(m).rate for m in contest.compared(scenario, "rates")]
        for card in (bound(one).card for one in dict.fromkeys((*rates, slug)) if one):
            st.markdown(f"**{card.name}** ({card.paper}, {card.statement}): ${card.latex}$")

    fold("Formulas", formulas, "who_wins_fold_formulas")
    with map_place:
        _winners(scenario, point, view)


def _choices(view: state.View, scenario: Scenario) -> state.View:
    """Draw what chooses the reading and the plane; return the view with both."""
    with st.container(horizontal=True, key="who_wins_choices"):
        reading = st.segmented_control(
            "Compare",
            contest.READINGS,
            default=st.session_state[READING],
            format_func=lambda key: words.READING_NAMES[key],
            key=READING,
            required=True,
            help="Rates and proven bounds count where every condition of their theorem holds. "
            "Measured errors take some seconds the first time.",
        )
        offered = state.planes_for(scenario)
        if st.session_state[PLANE] not in offered:
            st.session_state[PLANE] = offered[0]
        name: str = st.segmented_control(
            "Plane",
            list(offered),
            default=st.session_state[PLANE],
            format_func=lambda key: state.PLANES[key],
            key=PLANE,
            required=True,
            help="What the two axes of the maps are. A zCDP budget has no ε.",
        )
    return replace(view, plane=name, reading=reading)


def _winners(scenario: Scenario, point: Scenario, view: state.View) -> None:
    """Draw the map, coarse first and then finer; what stands below it comes with the whole map."""
    if not contest.compared(scenario, view.reading):
        st.info(
            "The catalogue has no such bound for the chosen methods: choose other methods, or "
            "compare measured errors."
        )
        return
    measured = view.reading == "measured"
    start = without_data(scenario)
    draw_contest(
        "winners",
        _measured(scenario, view) if measured else _bounds(point, view),
        scenario,
        view.reading,
        words=lambda found: words.point_sentence(found, scenario, view.reading, start),
        setting=setting_line(scenario, runs=measured),
    )
    st.caption(words.ABOUT[view.reading])


def _bounds(point: Scenario, view: state.View) -> Iterator[contest.Contest]:
    """Yield the map of bounds; a coarse one first where the fine one is new."""
    kept = _kept(point, view.plane, view.reading)
    if not kept:
        yield contest.bounds_contest(
            point, state.plane(view.plane, point, state.COARSE), view.reading
        )
        fine = state.plane(view.plane, point, state.SIZES[view.reading])
        kept.append(contest.bounds_contest(point, fine, view.reading))
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
    methods = contest.compared(scenario, "measured")
    for at in contest.contest_cells(part, words.nearest_cell(part, scenario)):
        outcomes[at] = [cached_cell(cell) for cell in contest.cells_at(scenario, part, *at)]
        yield contest.measured_contest(part, methods, outcomes)


def _terms_bound(scenario: Scenario) -> str:
    """Return the bound whose terms are shown; empty where there is none."""
    offered = state.bounds_with_terms(scenario)
    if st.session_state[TERMS] not in offered:
        st.session_state[TERMS] = (
            state.first_terms(offered) if offered else state.STATE.default.terms
        )
    return str(st.session_state[TERMS]) if offered else ""


def _terms(scenario: Scenario, view: state.View, slug: str) -> None:
    at = state.plane(view.plane, scenario)
    found = Regimes(plane=at, bounds=(bound(slug),), **_values(canonical(scenario), at, slug))
    responsive(
        "terms",
        words.terms_title(found, scenario),
        lambda look: terms_figure(found, scenario, look),
        bar=False,
        on_click=lambda kind: move_point(f"terms_{kind}", at),
        table=lambda: words.terms_table(found),
        setting=setting_line(scenario, runs=False),
    )
    st.selectbox(
        "What limits a method: the largest term of a bound",
        state.bounds_with_terms(scenario),
        format_func=lambda slug: bound(slug).card.name,
        key=TERMS,
    )


@st.cache_data(
    max_entries=200,
    show_spinner=False,
    hash_funcs={Scenario: lambda s: str(s.to_query()), Plane: lambda at: (at.x_axis, at.y_axis)},
)
def _values(point: Scenario, at: Plane, slug: str) -> dict[str, Any]:
    """Return the fields of the terms' map; bounds hold functions, which a cache cannot keep."""
    found = regimes(point, at, (slug,))
    return {field: getattr(found, field) for field in ("values", "terms", "dominant", "holds")}
