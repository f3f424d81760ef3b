"""Run the methods on the very instance of a lower bound, and hold their errors against it."""

from dataclasses import replace

import streamlit as st

from dpsco_app.live.running import Pace, Result, run
from dpsco_app.pages.lower_bounds import tables
from dpsco_app.pages.lower_bounds.row_charts import run_figure
from dpsco_app.pages.lower_bounds.sections import numbers
from dpsco_app.pages.lower_bounds.state import View
from dpsco_app.pages.lower_bounds.words import (
    ABOUT_RUN,
    own_floor_sentence,
    run_sentence,
    run_title,
)
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.page import to_explore
from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.instance import MeanInstance
from dpsco_core.explain.fano.measured import measured, own_floor
from dpsco_core.runs.cost import too_large
from dpsco_core.scenario import Scenario

RESULT, RUNNING = "lower_result", "lower_running"
GRID = (500, 1000, 2000, 5000, 10_000)


def run_part(at: MeanInstance, view: View) -> None:
    """Draw the methods' choice, Run and Cancel, and what was measured."""
    st.markdown(ABOUT_RUN)
    scenario, problem = _checked(at.scenario)
    result = _result(scenario)
    going = bool(st.session_state[RUNNING])
    with st.container(horizontal=True, vertical_alignment="center", key="lower_run_row"):
        st.button(
            "Run",
            icon=":material/play_arrow:",
            shortcut="Ctrl+Enter",
            on_click=_start,
            disabled=scenario is None,
        )
        st.button("Cancel", on_click=_stop, disabled=not going)
        status = st.empty()
    if problem:
        st.info(problem)
    said = st.container(key="lower_run_said")
    place = st.container(key="lower_run_place")
    if going:
        result = st.session_state[RESULT] = result.own()
        pace = Pace(0.0)
        for done, left in run(result):
            if pace.due():
                status.progress(done / result.cells, text=left)
        st.session_state[RUNNING] = False
        st.rerun()
    if result.done:
        status.markdown(f"Finished: {result.cells:,} runs.")
    elif result.outcomes:
        status.markdown(f"Stopped at {result.finished:,} of {result.cells:,} runs: Run goes on.")
    rows = measured(at, result.outcomes)
    trivial = at.answer_zero
    for row in rows:
        if row.refused:
            st.info(f"{method_card(row.method).name} cannot run here: {row.refused}")
    # A bound on the other class says little at the spike probability of this one.
    kind: Privacy = "pure" if view.notion == "pure" else "zcdp"
    floor = (kind, own_floor(at, (kind,)))
    with said:
        _, _, found = numbers(at)
        own = own_floor_sentence(at, floor[1], found, view.notion)
        st.markdown(run_sentence(rows, trivial) + own)
    with place:
        responsive(
            "lower_run",
            run_title(rows, at),
            lambda look: run_figure(rows, trivial, floor, look),
            table=lambda: tables.run_table(rows, trivial),
            setting=setting_line(result.scenario),
        )
    grid = tuple(n for n in GRID if n * view.d <= DASHBOARD.elements)
    to_explore(
        replace(at.scenario, axis="n", grid=grid, trials=min(view.trials, 20)),
        "Sweep n on this instance in Explore",
        help="At every n the spike probability is the best one there.",
    )


def _checked(scenario: Scenario) -> tuple[Scenario | None, str]:
    """Return the scenario if the dashboard runs it, and otherwise one sentence."""
    try:
        scenario = scenario.validate(DASHBOARD)
    except InvalidInput as problem:
        return None, f"These bounds can be drawn, but not run here: {problem}"
    if not scenario.methods:
        return None, "Choose at least one method."
    heavy = too_large(scenario, DASHBOARD)
    return (None, heavy) if heavy else (scenario, "")


def _result(scenario: Scenario | None) -> Result:
    """Return the result of the scenario, a new one if it has changed; that ends a run."""
    kept: Result | None = st.session_state.get(RESULT)
    st.session_state.setdefault(RUNNING, False)
    if scenario is None:
        st.session_state[RUNNING] = False
        return Result(Scenario())
    if kept is None or kept.scenario != scenario:
        if kept is not None:
            st.session_state[RUNNING] = False
        kept = st.session_state[RESULT] = Result(scenario)
    return kept


def _start() -> None:
    st.session_state[RUNNING] = True


def _stop() -> None:
    st.session_state[RUNNING] = False
