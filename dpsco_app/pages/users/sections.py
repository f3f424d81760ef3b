"""The four parts of the page Users."""

from __future__ import annotations

import math

import streamlit as st

from dpsco_app.pages.users import tables
from dpsco_app.pages.users.charts import (
    crossing_figure,
    frontier_figure,
    gradients_figure,
    law_figure,
)
from dpsco_app.pages.users.map_chart import map_figure
from dpsco_app.pages.users.state import N_ENDS, OTHERS, STATE, View
from dpsco_app.pages.users.words import (
    ABOUT_FRONTIER,
    ABOUT_GRADIENTS,
    ABOUT_LAW,
    ABOUT_MAP,
    BASIS_NAMES,
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
    here_sentence,
    law_title,
    map_title,
)
from dpsco_app.parts import controls
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.running import Pace, cached_cell
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.bounds.user.complexity import Curve
from dpsco_core.catalogue import method_card
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
    BASES,
    LOSSES,
    PROVEN_ITEMS,
    PROVEN_USERS,
    UserMap,
    bounds_map,
    measured_cells,
    measured_map,
)
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.runs.study import Outcome, cells

LAW_FROM = 500.0  # the filter's noise is below the set's size from here on
MAP_TRIALS = 1


def map_part(view: View) -> None:
    """Draw the map of the smallest bound, or of the smallest measured risk."""
    st.header("Who is best where: the crossover map over m and n")
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        st.segmented_control(
            "Compare",
            list(BASES),
            format_func=lambda key: BASIS_NAMES[key],
            key=STATE.key("basis"),
            required=True,
            help="Proven bounds and measured risks take some seconds the first time.",
        )
    with right:
        if view.basis == "rates":
            st.selectbox(
                "Losses", LOSSES, format_func=lambda key: LOSS_NAMES[key], key=STATE.key("loss")
            )
    st.markdown(ABOUT_MAP[view.basis])
    found = _map(view)

    def moved(kind: str) -> None:
        points = st.session_state[f"users_map_{kind}"].selection.points
        if points:
            n, m = points[0]["customdata"]
            st.session_state[controls.PREFIX + "n"] = int(min(max(n, N_ENDS[0]), N_ENDS[1]))
            st.session_state[controls.PREFIX + "m"] = int(m)

    responsive(
        "users_map",
        map_title(found, view),
        lambda look: map_figure(found, (view.n, view.m), look),
        bar=False,
        on_click=moved,
        table=lambda: tables.map_table(found),
    )
    st.markdown(here_sentence(found, view))
    st.caption(LOOK_AT_MAP[view.basis] + " A click moves the chosen point, the crossed circle.")


def _map(view: View) -> UserMap:
    if view.basis == "measured":
        return _measured(view)
    if view.basis == "rates":
        key = (view.loss, view.d, view.epsilon, view.delta, view.condition)
        return _rates(*key)
    place, pace = st.empty(), Pace(0.3)
    count = len(PROVEN_USERS) * len(PROVEN_ITEMS)
    made = bounds_map("proven", "smooth", view.d, view.epsilon, view.delta, view.condition)
    latest: list[UserMap] = []
    for done, found in enumerate(made):
        latest = [found]
        if pace.due():
            place.progress(min(1.0, done / count), "Evaluating the best schedules, point by point")
    place.empty()
    return latest[0]


@st.cache_resource(max_entries=200, show_spinner=False)
def _rates(loss: str, d: int, epsilon: float, delta: float, condition: float) -> UserMap:
    chosen = next(known for known in LOSSES if known == loss)
    return list(bounds_map("rates", chosen, d, epsilon, delta, condition))[-1]


def _measured(view: View) -> UserMap:
    todo = measured_cells(view.d, view.epsilon, view.delta, MAP_TRIALS, view.seed)
    place, pace = st.empty(), Pace(0.3)
    errors: list[float] = []
    for done, cell in enumerate(todo, start=1):
        cell.point.validate(DASHBOARD)
        errors.append(cached_cell(cell).error)
        if pace.due():
            place.progress(done / len(todo), f"{done} of {len(todo)} runs")
    place.empty()
    return measured_map(todo, errors)


def law_part(view: View) -> None:
    """Draw the measured crossover in m and the 1/sqrt(m) law."""
    st.header("The 1/√m law, and the measured crossover")
    st.markdown(ABOUT_LAW)
    st.pills(
        "Measure also",
        OTHERS,
        selection_mode="multi",
        format_func=lambda slug: method_card(slug).name,
        key=STATE.key("also"),
    )
    scenario = crossing_scenario(
        n=view.n,
        d=view.d,
        epsilon=view.epsilon,
        delta=view.delta,
        trials=view.trials,
        seed=view.seed,
        methods=view.methods,
    ).validate(DASHBOARD)
    place, pace = st.empty(), Pace(0.3)
    outcomes: list[Outcome] = []
    for done, cell in enumerate(cells(scenario), start=1):
        outcomes.append(cached_cell(cell))
        if pace.due():
            place.progress(done / scenario.cells, f"{done} of {scenario.cells} runs")
    place.empty()
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
        table=lambda: tables.law_table(curves),
    )
    with st.container(key="users_said"):
        st.markdown(crossing_sentence(found, view))
    start = min(m for m in curves[0].items if m >= LAW_FROM)
    slopes = {c.method: fitted_slope(c, start) for c in curves}
    responsive(
        "users_law",
        law_title(slopes[FILTERED], start),
        lambda look: law_figure(curves, slopes, start, look),
        table=lambda: tables.law_table(curves),
    )
    st.caption(LOOK_AT_LAW)
    st.markdown("The same crossover from the command line: where the order of the means changes.")
    st.code(_crossing_command(view), language="bash", wrap_lines=True)


def _crossing_command(view: View) -> str:
    return command(
        crossing_scenario(
            n=view.n,
            d=view.d,
            epsilon=view.epsilon,
            delta=view.delta,
            trials=view.trials,
            seed=view.seed,
        )
    )


@st.cache_data(max_entries=200, show_spinner=False, hash_funcs={UserLevel: repr})
def _frontier(at: UserLevel) -> dict[str, tuple[float, ...]]:
    return frontier(at)


@st.cache_data(max_entries=200, show_spinner=False, hash_funcs={UserLevel: repr})
def _frontier_here(at: UserLevel) -> tuple[dict[str, float], float, float]:
    """Return the least users at a point, those of the printed run, and the printed shortfall."""
    least = {need.slug: need.least(at) for need in NEEDS}
    return least, printed_accelerated_run(at), batch_shortfall(at)


def frontier_part(view: View) -> None:
    """Draw how many users the algorithms need."""
    st.header("The feasibility frontier: how many users it takes to run at all")
    st.markdown(ABOUT_FRONTIER)
    at = view.level
    needs = _frontier(at.with_users(2))
    here, runs, shortfall = _frontier_here(at)
    most = most_users(at)
    responsive(
        "users_frontier",
        frontier_title(here, view),
        lambda look: frontier_figure(needs, (view.epsilon, view.n), most, look),
        table=lambda: tables.frontier_table(needs),
    )
    with st.container(key="users_frontier_said"):
        st.markdown(frontier_sentence(here, runs, most, shortfall, view))
    st.caption(LOOK_AT_FRONTIER)


@st.cache_data(max_entries=200, show_spinner=False)
def _gradients(m: int, condition: float) -> tuple[Curve, ...]:
    return complexity_curves(m, condition)


def gradients_part(view: View) -> None:
    """Draw the gradient counts of the comparison."""
    st.header("What optimal risk costs: gradients against n·m")
    st.markdown(ABOUT_GRADIENTS)
    curves = _gradients(view.m, view.condition)
    responsive(
        "users_gradients",
        gradients_title(curves),
        lambda look: gradients_figure(curves, view.n * view.m, look),
        table=lambda: tables.gradients_table(curves),
    )
    st.caption(LOOK_AT_GRADIENTS + " The dashed vertical line is the chosen n·m.")
