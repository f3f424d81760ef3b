"""The row under Explore's title: Run, Cancel, Pin, how long it takes, what is pinned."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.pages.explore import comparison
from dpsco_app.pages.explore.figure import Shown
from dpsco_app.pages.explore.open_study import read_only
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts import controls, options
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.running import Result, estimate
from dpsco_app.shell.window import arrive
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.runs.allowed import nearest_allowed
from dpsco_core.scenario import Scenario

PRIMARY = {False: ("#0b57d0", "#ffffff"), True: ("#8ab4f8", "#0b1b33")}  # by theme: dark or not


def run_style(*, dark: bool) -> str:
    """Return the style of the one primary button; Streamlit's own cannot be read in the dark."""
    ground, ink = PRIMARY[dark]
    button = ".st-key-explore_run button:not(:disabled)"
    return (
        f"<style>{button} {{ background: {ground}; border-color: {ground}; color: {ink}; }}"
        f"{button} * {{ color: {ink}; opacity: 1 !important; }}</style>"
    )


def press_run() -> None:
    arrive()
    st.session_state["start"] = True
    STATE.forgive()


def _press_pin(text: str) -> None:
    """Keep a scenario, whose set that is beside goes, or none; a callback."""
    st.session_state[options.PIN] = text
    if text and st.session_state[options.AGAINST] != options.TAIL:
        st.session_state[options.AGAINST] = options.NO_SET
    result: Result | None = st.session_state.get("result")
    if result is not None:
        result.beside = None


def draw_buttons(
    scenario: Scenario | None, result: Result | None, problem: str, menu: Callable[[], None]
) -> DeltaGenerator:
    """Draw Run, Cancel, Pin, the menu and the status line; return the place of the status line."""
    running = st.session_state["running"]
    stored = scenario is None and read_only(result)
    with st.container(horizontal=True, vertical_alignment="center", key="run_row"):
        st.button(
            "Run",
            icon=":material/play_arrow:",
            shortcut="Ctrl+Enter",
            key="explore_run",
            on_click=press_run,
            disabled=scenario is None,
            help=problem if stored else None,
        )
        stop = {"running": False}
        st.button("Cancel", on_click=st.session_state.update, args=(stop,), disabled=not running)
        if st.session_state[options.PIN]:
            st.button("Unpin", icon=":material/keep_off:", on_click=_press_pin, args=("",))
        else:
            st.button(
                "Pin",
                icon=":material/keep:",
                on_click=_press_pin,
                args=("" if result is None else comparison.pin_text(result.scenario),),
                disabled=running or result is None or stored,
                help="Keeps these curves, and draws the next run beside them.",
            )
        menu()
        status = st.empty()
    if stored:
        st.info(f"A stored study, for reading: it cannot be run here. {problem}")
    elif problem:
        st.error(problem)
        _offer_nearest()
    return status


def _offer_nearest() -> None:
    """Draw a button that sets the nearest value which is allowed, if one change is enough."""
    found = nearest_allowed(controls.read(), DASHBOARD, comparison.others)
    if found is None:
        return
    field, value = found
    if field == "methods":
        words = f"{len(value)} of the algorithms"
    elif field == "grid":
        words = f"the {len(value)} values up to {options.number_text(value[-1])}"
    else:
        text = options.value_text(value)
        words = (
            f"{text} trials"
            if field == "trials"
            else f"{options.SYMBOL.get(field, field)} = {text}"
        )
    st.button(
        f"Use {words}",
        icon=":material/build:",
        key="nearest",
        on_click=lambda: controls.load(replace(controls.read(), **{field: value})),
    )


def draw_second(scenario: Scenario | None, result: Result | None) -> None:
    """Say what is pinned, and offer the switch to two figures where one would do."""
    now = scenario or (None if result is None else result.scenario)
    other = None if now is None else comparison.beside(now)
    kept = comparison.pinned(st.session_state[options.PIN])
    tail = now is not None and kept is None and st.session_state[options.AGAINST] == options.TAIL
    if now is None or tail or (other is None and kept is None):
        st.session_state[options.SIDE] = st.session_state[options.SIDE]
        return
    together = other is None or comparison.overlays(now, other)
    with st.container(horizontal=True, vertical_alignment="center", key="pin_row"):
        if kept is not None:
            words = comparison.in_short(kept, now) or "the same settings"
            dashed = "" if st.session_state[options.SIDE] else ", dashed"
            apart = "Its axis or its quantity is another one: side by side."
            if kept == now:
                st.markdown("**Pinned.** Change a setting and run: both runs will be drawn.")
            elif together:
                st.markdown(f"**Pinned**{dashed}: {words}.")
            else:
                st.markdown(f"**Pinned:** {words}. {apart}")
        if together and other is not None:
            side = bool(st.session_state[options.SIDE])
            words = "Draws a figure for each, of one height."
            st.toggle("Side by side", side, key=options.SIDE, help=words)
        else:
            st.session_state[options.SIDE] = st.session_state[options.SIDE]


def say_status(shown: Shown, status: DeltaGenerator) -> None:
    result = shown.result
    if shown.stale:
        status.markdown(f":orange[**Settings changed.** {_work(shown.now)}]")
    elif result.complete:
        both = ""
        if comparison.is_tail(result):
            assert result.beside is not None
            both = f", and {result.beside.scenario.cells:,} at p = {result.beside.scenario.p:g}"
        elif result.beside is not None:
            both = ", and as pinned" if st.session_state[options.PIN] else " on each of two sets"
        own = result.scenario
        count = (max(1, len(own.grid)), len(own.methods), own.trials)
        words = ("point", words_for(own.problem).method, "trial")
        product = " × ".join(f"{k} {w}{'s' * (k > 1)}" for k, w in zip(count, words, strict=True))
        status.markdown(f"Finished: {own.cells:,} cells ({product}){both}.")
    elif shown.now is None:  # a stored study that is too large to be run here
        status.markdown(
            f"Stored: {result.finished:,} of {result.cells:,} cells. `dpsco study` runs the rest."
        )
    else:
        left = estimate(tuple(part.scenario for part in result.parts)).seconds
        status.markdown(
            f"Stopped at {result.finished:,} of {result.cells:,} cells. "
            f"Run goes on from there, {_duration(left)}."
        )


def _work(now: Scenario | None) -> str:
    if now is None:
        return "They cannot be run."
    left = estimate((now, *comparison.others(now)))
    if left.cells == 0:
        return "Run draws them at once: every cell is known."
    return f"Run: {_duration(left.seconds)}, {left.cells:,} cell{'s' * (left.cells > 1)}."


def _duration(seconds: float) -> str:
    return "less than 1 s" if seconds < 0.95 else f"about {seconds:,.0f} s"
