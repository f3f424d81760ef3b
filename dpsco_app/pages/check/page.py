"""The page Check a claim: a formula for the error of a method, and all evidence against it."""

import shlex

import streamlit as st

from dpsco_app.pages.check import words
from dpsco_app.pages.check.report import draw_files, draw_report
from dpsco_app.pages.check.running import (
    RUNNING,
    Task,
    check,
    is_running,
    kept_reports,
    predicted_seconds,
    start,
)
from dpsco_app.pages.check.state import (
    EXAMPLE,
    SECONDS,
    STATE,
    Claim,
    View,
    claim_of,
    offered_methods,
)
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import WHOLE, draw_page
from dpsco_app.parts.page import draw_parts
from dpsco_app.shell.places import draw_views
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.formula import LONGEST
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.results.commands import command_flags
from dpsco_core.scenario import Scenario

# During a check the browser keeps the old Check button beside the Stop button; this rule hides it.
STYLE = "<style>.st-key-check_button > :not(:first-child) { display: none; }</style>"


def page() -> None:
    """Draw the page on which a visitor's claim is put to the test."""
    draw_views("check")
    st.html(STYLE)
    draw_page(
        STATE,
        {WHOLE: _draw},
        {WHOLE: words.QUESTION},
        texts={WHOLE: words.ABOUT},
        symbols=words.MEANING,
    )


def _draw(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the claim with its options, run the check if it is due, and draw its report."""
    with screen.controls:
        _draw_claim(scenario)
        ask = st.container(horizontal=True, key="check_ask")
        with ask:
            _draw_options(view)
            button = st.container(width="content", key="check_button")
        st.caption(f"{words.LETTERS}`{EXAMPLE}`")
    try:
        claim = claim_of(view, scenario)
    except InvalidInput as problem:
        screen.say(words.QUESTION, "This claim cannot be read", str(problem))
        return
    task = Task(claim=claim, seconds=view.seconds)
    reports = kept_reports().get(task)
    if reports is None and is_running(task):
        button.button(
            "Stop", key="check_stop", on_click=start, args=(None,), icon=":material/stop:"
        )
        screen.say(words.QUESTION, "Checking the claim", words.claim_line(claim))
        check(task, screen.foot)
        st.session_state[RUNNING] = None
        st.rerun()
    refused = _refused(claim)
    button.button(
        "Check" if reports is None else "Check again",
        key="check_start",
        on_click=start,
        args=(task,),
        disabled=bool(refused),
        icon=":material/gavel:",
    )
    if reports is None:
        screen.say(words.QUESTION, *words.at_a_glance(claim))
        if refused:
            st.info(refused, icon=":material/timer:")
        return
    with ask:
        draw_files(reports)
    answer, small = words.headline(reports[0], next(iter(reports[1:]), None))
    screen.say(words.QUESTION, answer, small)
    draw_report(reports, small)
    st.markdown("The same check from the command line:")
    st.code(command(task), language=None, wrap_lines=True)


def _draw_claim(scenario: Scenario) -> None:
    """Draw the claim that is checked: the method and the formula of its bound."""
    method, formula = st.columns([3, 7])
    method.selectbox(
        "Method",
        offered_methods(scenario),
        format_func=lambda slug: method_card(slug).name,
        key=STATE.key("method"),
    )
    formula.text_input("Its mean error is at most", key=STATE.key("claim"), max_chars=LONGEST)


def _draw_options(view: View) -> None:
    """Draw the menu with a claim's conditions, its hidden constant and the time limit.

    The three controls are folded, because they would distract from the claim in a row beside it.
    """
    label = words.options_line(view)
    with st.container(width="content"), st.popover(label, icon=":material/tune:"):
        durations = {seconds: f"{seconds} s" for seconds in SECONDS}
        draw_parts(durations, STATE.key("seconds"), "Time", label_visibility="visible")
        st.text_input(
            "Hypotheses",
            key=STATE.key("hypotheses"),
            max_chars=LONGEST,
            placeholder="n >= 10*d",
        )
        st.toggle("Up to a constant factor", key=STATE.key("rate"))
        st.caption(words.ABOUT_HYPOTHESES)


def _refused(claim: Claim) -> str:
    """Return why a claim cannot be checked here; empty if it can."""
    seconds = predicted_seconds(claim)
    if seconds <= DASHBOARD.seconds:
        return ""
    return (
        f"The runs for this claim would take at least {seconds:,.0f} s, and {DASHBOARD.where} "
        f"allows {DASHBOARD.seconds:,.0f} s: use a smaller n or d, or the command line."
    )


def command(task: Task) -> str:
    """Return the shell command that repeats the check of a task."""
    claim = task.claim
    parts = ["dpsco referee", command_flags(claim.base), f"--claim {shlex.quote(claim.formula)}"]
    parts += [f"--if {shlex.quote(text)}" for text in claim.hypotheses]
    parts += ["--rate"] * claim.is_rate
    return " ".join([*parts, f"--seconds {task.seconds}"])
