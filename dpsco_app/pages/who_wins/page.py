"""Who wins: whose rate is smallest, and which of its terms is largest, over a plane."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dpsco_app.pages.one_run.tables import smallest_table, terms_table
from dpsco_app.pages.who_wins.charts import holding, smallest_figure, terms_figure
from dpsco_app.pages.who_wins.state import (
    PLANES,
    STATE,
    bounds_with_terms,
    explore_query,
    first_terms,
    plane,
    planes_for,
)
from dpsco_app.pages.who_wins.words import smallest_title, terms_title, where
from dpsco_app.parts import controls
from dpsco_app.parts.export import draw_page_files
from dpsco_app.parts.figures import SHARED_STYLE, responsive
from dpsco_app.parts.folding import fold
from dpsco_app.parts.page import draw_apart, draw_controls, draw_wrong, opened
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.scripts import regimes_script
from dpsco_app.parts.shown_bounds import rates
from dpsco_app.shell.places import draw_views, link_to
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import INTEGERS
from dpsco_core.catalogue import bound, method_card
from dpsco_core.explain.regimes import Regimes, regimes
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario

PLANE, TERMS = STATE.key("plane"), STATE.key("terms")


def page() -> None:
    """Draw the page."""
    st.html(SHARED_STYLE)
    draw_views("who-wins")
    view, problems = opened(STATE)
    scenario, refused = draw_controls(STATE)
    st.title("Who wins: whose rate is smallest where, and what it is made of")
    draw_wrong(problems)
    if scenario is None:
        st.error(refused)
        return
    st.markdown(INTRODUCTION)
    name = _plane_control(scenario)
    STATE.remember(replace(view, plane=name), scenario)
    draw_apart(STATE, scenario)
    private = replace(scenario, methods=_private(scenario))
    slugs = rates(private)
    if not slugs:
        st.info(
            f"The catalogue has no rate for a chosen private {words_for(scenario.problem).method} "
            "on this problem: choose another one."
        )
        return
    left, right = st.columns(2)
    with left:
        found = _regimes(canonical(scenario), name, slugs)
        title = smallest_title(found, scenario)
        _map("smallest", found, scenario, title, smallest_figure, smallest_table)
    with right:
        terms = _regimes(canonical(scenario), name, (_terms_bound(scenario, slugs),))
        title = terms_title(terms, scenario)
        _map("terms", terms, scenario, title, terms_figure, terms_table)
        _terms_control(scenario, slugs)
    with left:
        _open_in_explore(found, scenario)
    st.caption(CAVEAT + _conditions(found))
    one = _terms_bound(scenario, slugs)
    draw_page_files("who_wins", lambda: regimes_script(canonical(scenario), name, slugs, one))
    fold("Formulas", lambda: _formulas((*slugs, one)), "who_wins_fold_formulas")


def _formulas(slugs: tuple[str, ...]) -> None:
    for slug in dict.fromkeys(slugs):
        card = bound(slug).card
        st.markdown(f"**{card.name}** ({card.paper}, {card.statement}): ${card.latex}$")


def _private(scenario: Scenario) -> tuple[str, ...]:
    return tuple(m for m in scenario.methods if method_card(m).privacy != "none")


def _plane_control(scenario: Scenario) -> str:
    offered = planes_for(scenario)
    if st.session_state[PLANE] not in offered:
        st.session_state[PLANE] = offered[0]
    name: str = st.segmented_control(
        "Plane",
        list(offered),
        default=st.session_state[PLANE],
        format_func=lambda key: PLANES[key],
        key=PLANE,
        required=True,
        help="What the two axes of the maps are. A zCDP budget has no ε.",
    )
    return name


def _terms_bound(scenario: Scenario, slugs: tuple[str, ...]) -> str:
    chosen = st.session_state[TERMS]
    return chosen if chosen in bounds_with_terms(scenario) else first_terms(slugs)


def _terms_control(scenario: Scenario, slugs: tuple[str, ...]) -> None:
    offered = bounds_with_terms(scenario)
    if st.session_state[TERMS] not in offered:
        st.session_state[TERMS] = first_terms(slugs)
    st.selectbox(
        "Bound whose terms are shown",
        offered,
        offered.index(st.session_state[TERMS]),
        format_func=lambda slug: bound(slug).card.name,
        key=TERMS,
    )


@st.cache_data(
    max_entries=200,
    show_spinner="Evaluating the bounds over the plane",
    hash_funcs={Scenario: lambda s: str(s.to_query())},
)
def _values(point: Scenario, name: str, slugs: tuple[str, ...]) -> dict[str, Any]:
    found = regimes(point, plane(name), slugs)
    return {field: getattr(found, field) for field in ("values", "terms", "dominant", "holds")}


def _regimes(point: Scenario, name: str, slugs: tuple[str, ...]) -> Regimes:
    """Return the regimes; bounds hold functions, which a cache cannot keep."""
    values = _values(point, name, slugs)
    return Regimes(plane=plane(name), bounds=tuple(bound(s) for s in slugs), **values)


def _map(key: str, found: Regimes, scenario: Scenario, title: str, draw: Any, table: Any) -> None:
    def moved(kind: str) -> None:
        points = st.session_state[f"{key}_{kind}"].selection.points
        if points:
            _move(found, points[0]["customdata"][:2])

    responsive(
        key,
        title,
        lambda look: draw(found, scenario, look),
        bar=False,
        on_click=moved,
        table=lambda: table(found),
    )


def _move(found: Regimes, values: list[float]) -> None:
    """Move the chosen point to a clicked one."""
    axes = (found.plane.x_axis, found.plane.y_axis)
    for axis, value in zip(axes, values, strict=True):
        rounded = float(f"{value:.2g}")
        st.session_state[controls.PREFIX + axis] = int(rounded) if axis in INTEGERS else rounded


def _conditions(found: Regimes) -> str:
    """Say where the conditions of the smallest rates' theorems hold."""
    holds = holding(found)
    if holds.all():
        return " The conditions of the smallest rate's theorem hold everywhere on this map."
    if not holds.any():
        return (
            " Nowhere on this map do all conditions of the smallest rate's theorem hold: the "
            "values over the map say at which bounds one fails."
        )
    return " Pale: a condition of the smallest rate's theorem fails there."


def _open_in_explore(found: Regimes, scenario: Scenario) -> None:
    st.markdown(f"Chosen point: **{where(found, scenario)}**. Click into a map to move it.")
    try:
        query = explore_query(scenario, found.plane.x_axis)
    except InvalidInput as problem:
        st.caption(f"Too large to run in Explore: {problem}")
        return
    link_to(
        "explore",
        "Open this point in Explore",
        icon=":material/arrow_forward:",
        query=query,
    )


INTRODUCTION = (
    "A **rate** says how the error grows with n, d, ε and p, up to a constant that nobody has "
    "pinned down. The first map shows whose rate is smallest at each point, the second which "
    "**term** of one rate is the largest: what limits the algorithm there."
)
CAVEAT = (
    "Rates are compared with all constants set to 1: near a border, and wherever constants are "
    "large, another algorithm may be better in practice. Explore measures it. Above "
    "the dashed line ε = 1/√d, simple clipping is not known to be optimal."
)
