"""Audits on the page Privacy: short ones run at once, and their findings are stored."""

from dataclasses import replace

import streamlit as st

from dpsco_app.pages.privacy.state import OPTIONS, STATE
from dpsco_app.parts.insides import DeltaGenerator
from dpsco_app.session.pace import Pace
from dpsco_core.audit.engine import Audit, AuditFindings, audit_steps, seconds_a_run

AT_ONCE_SECONDS = 2.5  # Audits that take longer wait for a click on their button.
MOST_SECONDS = 120.0
KEPT_AUDITS = 12
RUNNING = "privacy_running"


_seconds_a_run = st.cache_data(max_entries=300, show_spinner=False, hash_funcs={Audit: repr})(
    seconds_a_run
)


def _predicted_seconds(task: Audit) -> float:
    """Return the predicted time of an audit, in seconds."""
    return task.runs * _seconds_a_run(replace(task, runs=100))


@st.cache_resource(show_spinner=False)
def _stored_audits() -> dict[Audit, AuditFindings]:
    """Return the store of findings, by audit, which all sessions of this server share."""
    return {}


def run_audit(task: Audit, place: DeltaGenerator) -> AuditFindings | None:
    """Return the findings of an audit, run now or stored; None if it waits or takes too long.

    `place` has the progress and the buttons.
    """
    stored, seconds = _stored_audits(), _predicted_seconds(task)
    if task in stored:
        return stored[task]
    with place:
        if seconds > MOST_SECONDS:
            _draw_refusal(task, seconds)
            return None
        waits = seconds > AT_ONCE_SECONDS
        if waits and st.session_state.get(RUNNING) != task:
            st.button(f"Run the audit (about {seconds:.0f} s)", on_click=_start, args=(task,))
            st.caption("A mechanism of many steps is run one run after the other.")
            return None
        if waits:
            st.button("Cancel", on_click=_start, args=(None,), icon=":material/close:")
        bar = st.empty()
    pace, latest = Pace(0.3), None
    for runs, result in audit_steps(task):
        latest = result or latest
        if pace.due():
            proven = "" if latest is None else f": ε is at least {latest.epsilon_lower_bound:.2f}"
            bar.progress(runs / task.runs, f"{runs:,} of {task.runs:,} runs{proven}")
    bar.empty()
    assert latest is not None
    stored[task] = latest
    if len(stored) > KEPT_AUDITS:
        del stored[next(iter(stored))]
    if waits:  # After the rerun, the page no longer shows the audit's buttons.
        st.session_state[RUNNING] = None
        st.rerun()
    return latest


def _draw_refusal(task: Audit, seconds: float) -> None:
    """Draw why an audit takes too long, with a button for fewer runs."""
    fitting = [runs for runs in OPTIONS["runs"] if runs * seconds / task.runs <= MOST_SECONDS]
    nearest = f" Nearest: {fitting[-1]:,} runs." if fitting else ""
    st.info(
        f"These runs would take about {seconds:,.0f} s, and {MOST_SECONDS:.0f} s are allowed "
        f"here; the command line has no such limit.{nearest}",
        icon=":material/timer:",
    )
    if fitting:
        st.button(
            f"Take {fitting[-1]:,} runs", on_click=STATE.change, args=({"runs": fitting[-1]},)
        )


def _start(task: Audit | None) -> None:
    """Start an audit, or cancel the running one if `task` is None; a callback."""
    st.session_state[RUNNING] = task


def command(task: Audit) -> str:
    """Return the shell command that runs the same audit."""
    point = task.point
    budget = (
        f"--rho {point.rho!r} --at-delta {task.claim_delta:g}"
        if point.rho is not None
        else f"--epsilon {point.epsilon:g} --delta {point.delta:g}"
    )
    fault = "" if task.fault == "none" else f" --fault {task.fault}"
    seed = f" --seed {point.seed}" if point.seed else ""
    return f"dpsco audit --method {task.method} {budget} --trials {task.runs}{fault}{seed}"
