"""The ledger of a run and the audit of a mechanism, on the page Privacy."""

from collections import OrderedDict
from dataclasses import replace

import streamlit as st

from dpsco_app.live.running import Pace
from dpsco_app.pages.privacy import tables
from dpsco_app.pages.privacy.audit_charts import audit_figure, ledger_figure, samples_figure
from dpsco_app.pages.privacy.state import (
    AT_OPTIONS,
    CLAIM_OPTIONS,
    PRIVATE_SLUGS,
    RUN_OPTIONS,
    STATE,
    View,
    ledger_run,
    private,
)
from dpsco_app.pages.privacy.words import (
    ABOUT_AUDIT,
    ABOUT_FAULT,
    ABOUT_LEDGER,
    FAULT_NAMES,
    WHY_DELTA,
    said_audit,
    said_ledger,
    said_odds,
    title_audit,
    title_histogram,
    title_ledger,
)
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.page import slider, to_explore
from dpsco_core.audit.engine import FAULTS, Audit, Found, seconds_a_run, steps
from dpsco_core.audit.samples import samples
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.catalogue import method_card
from dpsco_core.explain.ledgers import Account, account
from dpsco_core.scenario import Scenario

AT_ONCE_SECONDS = 2.5  # audits that take longer wait for the button
MOST_SECONDS = 120.0
KEPT_AUDITS = 12
RUNNING = "privacy_running"


def ledger_part(view: View, scenario: Scenario) -> None:
    """Draw the ledger of one run."""
    st.header("The ledger of a run")
    offered = private(scenario)
    if not offered:
        st.info("The scenario has no private algorithm: choose one.", icon=":material/info:")
        return
    method = _choose_method(offered, view)
    try:
        scenario = ledger_run(scenario, method)
    except InvalidInput as problem:
        st.info(str(problem), icon=":material/info:")
        return
    found = _account(scenario)
    refused = found.outcome.not_applicable
    if refused is not None:
        st.info(refused, icon=":material/info:")
        return
    table = tables.ledger_table(found.spendings)
    st.dataframe(table, hide_index=True, width="stretch")
    with st.container(key="privacy_said"):
        st.markdown(f"{said_ledger(found)}\n\n{said_odds(view.point)}\n\n{ABOUT_LEDGER}")
    responsive(
        "privacy_ledger",
        title_ledger(found),
        lambda look: ledger_figure(found.spendings, method, look),
        table=lambda: table,
    )
    for note in found.outcome.notes:
        st.caption(note)
    to_explore(replace(scenario, trials=5), "Open this run in Explore")


@st.cache_data(max_entries=100, show_spinner=False, hash_funcs={Scenario: lambda s: s.to_json()})
def _account(scenario: Scenario) -> Account:
    return account(scenario)


def _choose_method(offered: tuple[str, ...], view: View) -> str:
    """Draw the choice of the method, where there is one; return it."""
    if len(offered) == 1:
        return offered[0]
    key = STATE.key("method")
    st.session_state[key] = view.method if view.method in offered else offered[0]
    return st.selectbox(
        "Algorithm", offered, format_func=lambda slug: method_card(slug).name, key=key
    )


def audit_part(view: View) -> None:
    """Draw the audit of a mechanism."""
    st.header("The audit")
    st.markdown(ABOUT_AUDIT)
    _choose_audit(view)
    st.markdown(f"**{FAULT_NAMES[view.fault]}.** {ABOUT_FAULT[view.fault]}")
    task = view.audit()
    try:
        done = _ran(task, _estimate(task))
    except (InvalidInput, NotApplicable) as problem:
        st.info(str(problem), icon=":material/info:")
        return
    if done is None:
        return
    responsive(
        "privacy_audit",
        title_audit(task, done),
        lambda look: audit_figure(task, done, look),
        table=lambda: tables.audit_table(done),
    )
    st.caption(f"The neighbours: {done.neighbours}. {WHY_DELTA if done.delta else ''}")
    for flaw in dict.fromkeys(done.flaws):
        st.markdown(f"**By its own ledger the claim does not hold.** {flaw[0].upper()}{flaw[1:]}.")
    if done.booked:
        st.markdown(
            f"**Its ledger gives the record away.** {done.booked[0].upper()}{done.booked[1:]}."
        )
    shown = samples(done)
    responsive(
        "privacy_samples",
        title_histogram(done),
        lambda look: samples_figure(shown, replace(look, short=True)),
        table=lambda: tables.histogram_table(shown.edges, shown.one, shown.two),
    )
    st.markdown("The same audit from the command line:")
    st.code(_command(task), language=None, wrap_lines=True)


def _choose_audit(view: View) -> None:
    left, right = st.columns(2)
    with left:
        st.selectbox(
            "Mechanism",
            PRIVATE_SLUGS,
            format_func=lambda slug: method_card(slug).name,
            key=STATE.key("audited"),
        )
        st.segmented_control(
            "Break it on purpose",
            FAULTS,
            format_func=lambda key: FAULT_NAMES[key],
            key=STATE.key("fault"),
            required=True,
        )
    with right:
        first, second = st.columns(2)
        with first:
            slider(STATE, "Claimed ε (epsilon)", "claim", CLAIM_OPTIONS)
        with second:
            slider(
                STATE,
                "at δ (delta)",
                "at",
                AT_OPTIONS,
                help="Of a method that is pure, δ = 0 is audited instead.",
            )
        slider(STATE, "Runs", "runs", RUN_OPTIONS, help="Half of them on each neighbour.")


@st.cache_data(max_entries=300, show_spinner=False, hash_funcs={Audit: repr})
def _seconds_a_run(task: Audit) -> float:
    return seconds_a_run(task)


def _estimate(task: Audit) -> float:
    """Return the predicted time of an audit, in seconds."""
    return task.runs * _seconds_a_run(replace(task, runs=100))


@st.cache_resource(show_spinner=False)
def _kept() -> OrderedDict[Audit, Found]:
    """Return the last audits of all sessions, by what was audited."""
    return OrderedDict()


def _ran(task: Audit, seconds: float) -> Found | None:
    """Return what an audit has found; None while it waits for its button, or is cancelled."""
    kept = _kept()
    if task in kept:
        kept.move_to_end(task)
        return _say(task, kept[task])
    if seconds > MOST_SECONDS:
        fitting = [runs for runs in RUN_OPTIONS if runs * seconds / task.runs <= MOST_SECONDS]
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
        return None
    if seconds > AT_ONCE_SECONDS and st.session_state.get(RUNNING) != task:
        st.button(f"Run the audit (about {seconds:.0f} s)", on_click=_start, args=(task,))
        st.caption("A mechanism of many steps is run one run after the other.")
        return None
    if seconds > AT_ONCE_SECONDS:
        st.button("Cancel", on_click=_start, args=(None,), icon=":material/close:")
    bar, pace, last = st.empty(), Pace(0.3), None
    for runs, found in steps(task):
        last = found or last
        if pace.due():
            proven = "" if last is None else f": ε is at least {last.epsilon_lower_bound:.2f}"
            bar.progress(runs / task.runs, f"{runs:,} of {task.runs:,} runs{proven}")
    bar.empty()
    assert last is not None
    kept[task] = last
    while len(kept) > KEPT_AUDITS:
        kept.popitem(last=False)
    st.session_state[RUNNING] = None
    return _say(task, last)


def _start(task: Audit | None) -> None:
    st.session_state[RUNNING] = task


def _say(task: Audit, found: Found) -> Found:
    with st.container(key="privacy_said"):
        st.markdown(said_audit(task, found))
    return found


def _command(task: Audit) -> str:
    point = task.point
    budget = (
        f"--rho {point.rho!r} --at-delta {task.claim_delta:g}"
        if point.rho is not None
        else f"--epsilon {point.epsilon:g} --delta {point.delta:g}"
    )
    fault = "" if task.fault == "none" else f" --fault {task.fault}"
    seed = f" --seed {point.seed}" if point.seed else ""
    return f"dpsco audit --method {task.method} {budget} --trials {task.runs}{fault}{seed}"
