"""The four parts of the page Users."""

import math
from collections.abc import Iterator
from functools import partial

import streamlit as st

from dpsco_app.live.running import cached_cell, run_here
from dpsco_app.pages.users.charts import (
    crossing_figure,
    frontier_figure,
    frontier_table,
    gradients_figure,
    gradients_table,
    law_figure,
    law_table,
)
from dpsco_app.pages.users.state import CONDITION_OPTIONS, N_ENDS, OF_BOTH, OTHERS, STATE, View
from dpsco_app.pages.users.words import (
    ABOUT_FRONTIER,
    ABOUT_GRADIENTS,
    ABOUT_LAW,
    ABOUT_MAP,
    LOOK_AT_FRONTIER,
    LOOK_AT_GRADIENTS,
    LOOK_AT_LAW,
    LOOK_AT_MAP,
    LOSS_NAMES,
    crossing_sentence,
    crossing_title,
    frontier_sentence,
    frontier_title,
    gradients_title,
    law_title,
)
from dpsco_app.pages.who_wins.drawing import draw_contest
from dpsco_app.pages.who_wins.words import READING_NAMES, nearest_cell, point_sentence
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.page import slider
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import READINGS, Contest, contest_cells, measured_contest
from dpsco_core.explain.users.crossing import (
    FILTERED,
    PLAIN,
    command,
    crossing,
    crossing_scenario,
    errors_of,
    fitted_slope,
)
from dpsco_core.explain.users.frontier import (
    NEEDS,
    batch_shortfall,
    complexity_curves,
    frontier,
    most_users,
    printed_accelerated_run,
)
from dpsco_core.explain.users.regions import (
    LOSSES,
    MEASURED,
    MEASURED_PLANE,
    bounds_map,
    measured_cells,
)
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.runs.study import Outcome

HASHED = {UserLevel: repr}
_kept = partial(st.cache_data, max_entries=200, show_spinner=False)
LAW_FROM = 500.0  # the filter's noise is below the set's size from here on


def map_part(view: View) -> None:
    """Draw the map of the smallest bound, or of the smallest measured risk, as it fills in."""
    left, middle, right = st.columns([5, 3, 3], vertical_alignment="bottom")
    left.segmented_control(
        "Compare",
        READINGS,
        format_func=lambda key: READING_NAMES[key],
        key=STATE.key("basis"),
        required=True,
        help="Proven bounds and measured risks take some seconds the first time.",
    )
    if view.basis == "rates":
        middle.selectbox(
            "Losses", LOSSES, format_func=lambda key: LOSS_NAMES[key], key=STATE.key("loss")
        )
    with right:
        slider(
            STATE,
            "Smoothness βR/L",
            "condition",
            CONDITION_OPTIONS,
            help="Of the losses in bounds and counts; the measured loss has its own.",
        )
    st.markdown(ABOUT_MAP[view.basis])
    at = (view.d, view.epsilon, view.delta, view.condition)
    if view.basis == "measured":
        stages = _measured(view)
    elif view.basis == "rates":
        stages = iter([_rates(view.loss, *at)])
    else:
        stages = bounds_map("proven", "smooth", *at)
    draw_contest(
        "users_map",
        stages,
        view,
        view.basis,
        words=lambda found: point_sentence(found, view, view.basis),
        limits={"n": N_ENDS},
    )
    st.caption(LOOK_AT_MAP[view.basis] + " A click moves the chosen point, the crossed circle.")


@st.cache_resource(max_entries=200, show_spinner=False)
def _rates(loss: str, d: int, epsilon: float, delta: float, condition: float) -> Contest:
    chosen = next(known for known in LOSSES if known == loss)
    return list(bounds_map("rates", chosen, d, epsilon, delta, condition))[-1]


def _measured(view: View) -> Iterator[Contest]:
    """Yield the map of measured risks, from the chosen point outwards."""
    outcomes: dict[tuple[int, int], list[Outcome]] = {}
    for at in contest_cells(MEASURED_PLANE, nearest_cell(MEASURED_PLANE, view)):
        todo = measured_cells(at, view.d, view.epsilon, view.delta, view.seed)
        todo[0].point.validate(DASHBOARD)
        outcomes[at] = [cached_cell(cell) for cell in todo]
        yield measured_contest(MEASURED_PLANE, MEASURED, outcomes)


def crossing_part(view: View) -> None:
    own = {f: getattr(view, f) for f in OF_BOTH}
    scenario = crossing_scenario(**own, methods=view.methods).validate(DASHBOARD)
    outcomes = run_here(scenario)
    curves = [errors_of(outcomes, method) for method in view.methods]
    refused = {o.method: o.not_applicable for o in outcomes if o.not_applicable}
    for method, why in refused.items():
        st.info(f"{method_card(method).name} cannot run at some of these points: {why}")
    curves = [c for c in curves if not math.isnan(float(c.risks.sum()))]
    if [c.method for c in curves[:2]] != [FILTERED, PLAIN]:
        return
    found = crossing(curves[0], curves[1])
    responsive(
        "users_crossing",
        crossing_title(found),
        lambda look: crossing_figure(curves, found, look),
        table=lambda: law_table(curves),
    )
    st.container(key="users_said").markdown(crossing_sentence(found, view))
    st.pills(
        "Measure also",
        OTHERS,
        selection_mode="multi",
        format_func=lambda slug: method_card(slug).name,
        key=STATE.key("also"),
    )
    st.header("Why: the 1/√m law")
    st.markdown(ABOUT_LAW)
    start = min(m for m in curves[0].items if m >= LAW_FROM)
    slopes = {c.method: fitted_slope(c, start) for c in curves}
    responsive(
        "users_law",
        law_title(slopes[FILTERED], start),
        lambda look: law_figure(curves, slopes, start, look),
        table=lambda: law_table(curves),
    )
    st.caption(LOOK_AT_LAW)
    st.markdown("The same crossover from the command line: where the order of the means changes.")
    st.code(command(crossing_scenario(**own)), language="bash", wrap_lines=True)


_frontier = _kept(hash_funcs=HASHED)(frontier)
_gradients = _kept()(complexity_curves)


@_kept(hash_funcs=HASHED)
def _frontier_here(at: UserLevel) -> tuple[dict[str, float], float, float]:
    """Return the least users at a point, those of the printed run, and the printed shortfall."""
    least = {need.slug: need.least(at) for need in NEEDS}
    return least, printed_accelerated_run(at), batch_shortfall(at)


def frontier_part(view: View) -> None:
    st.markdown(ABOUT_FRONTIER)
    at = view.level
    needs = _frontier(at.with_users(2))
    here, runs, shortfall = _frontier_here(at)
    most = most_users(at)
    responsive(
        "users_frontier",
        frontier_title(here, view),
        lambda look: frontier_figure(needs, (view.epsilon, view.n), most, look),
        table=lambda: frontier_table(needs),
    )
    said = frontier_sentence(here, runs, most, shortfall, view)
    st.container(key="users_frontier_said").markdown(said)
    st.caption(LOOK_AT_FRONTIER)


def gradients_part(view: View) -> None:
    st.markdown(ABOUT_GRADIENTS)
    curves = _gradients(view.m, view.condition)
    responsive(
        "users_gradients",
        gradients_title(curves),
        lambda look: gradients_figure(curves, view.n * view.m, look),
        table=lambda: gradients_table(curves),
    )
    st.caption(LOOK_AT_GRADIENTS + " The dashed vertical line is the chosen n·m.")
