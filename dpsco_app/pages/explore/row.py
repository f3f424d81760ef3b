"""The row under Explore's title: Run, Cancel, Pin, how long it takes, what is pinned."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.pages.explore.comparison import beside, is_tail, others
from dpsco_app.pages.explore.figure import Shown
from dpsco_app.pages.explore.open_study import read_only
from dpsco_app.pages.explore.pinning import in_short, overlays, pin_text, pinned
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts import controls
from dpsco_app.parts.options import AGAINST, NO_SET, PIN, SIDE, SYMBOL, TAIL, number_text
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.running import Result, estimate
from dpsco_app.shell.arrival import arrive
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.runs.allowed import nearest_allowed
from dpsco_core.scenario import Scenario

PRIMARY = {False: ("#0b57d0", "#ffffff"), True: ("#8ab4f8", "#0b1b33")}  # by theme: dark or not


def run_style(*, dark: bool) -> str:
    """Return the style of the page's one primary button, in colours that can be read.

    Streamlit's own has white words in both themes.
    """
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


def _press_cancel() -> None:
    st.session_state["running"] = False


def _press_pin() -> None:
    """Keep the scenario of the result; a set that is beside goes."""
    result: Result = st.session_state["result"]
    st.session_state[PIN] = pin_text(result.scenario)
    if st.session_state[AGAINST] != TAIL:
        st.session_state[AGAINST] = NO_SET
    result.beside = None


def _press_unpin() -> None:
    st.session_state[PIN] = ""
    result: Result | None = st.session_state.get("result")
    if result is not None:
        result.beside = None


def _change(field: str, value: object) -> None:
    """Set one field to a value."""
    controls.load(replace(controls.read(), **{field: value}))


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
        st.button("Cancel", on_click=_press_cancel, disabled=not running)
        if st.session_state[PIN]:
            st.button("Unpin", icon=":material/keep_off:", on_click=_press_unpin)
        else:
            st.button(
                "Pin",
                icon=":material/keep:",
                on_click=_press_pin,
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
    found = nearest_allowed(controls.read(), DASHBOARD, others)
    if found is not None:
        field, value = found
        st.button(
            f"Use {_set_in_words(field, value)}",
            icon=":material/build:",
            key="nearest",
            on_click=_change,
            args=(field, value),
        )


def _set_in_words(field: str, value: object) -> str:
    """Return a change of a field as a button says it."""
    name = SYMBOL.get(field, field)
    if isinstance(value, tuple):
        if field == "methods":
            return f"{len(value)} of the algorithms"
        return f"the {len(value)} values up to {number_text(value[-1])}"
    text = number_text(value) if isinstance(value, (int, float)) else str(value)
    return f"{text} trials" if field == "trials" else f"{name} = {text}"


def draw_second(scenario: Scenario | None, result: Result | None) -> None:
    """Say what is pinned, and offer the switch to two figures where one would do."""
    now = scenario or (None if result is None else result.scenario)
    other = None if now is None else beside(now)
    kept = pinned(st.session_state[PIN])
    tail = now is not None and kept is None and st.session_state[AGAINST] == TAIL
    if now is None or tail or (other is None and kept is None):
        st.session_state[SIDE] = st.session_state[SIDE]
        return
    together = other is None or overlays(now, other)
    with st.container(horizontal=True, vertical_alignment="center", key="pin_row"):
        if kept is not None:
            st.markdown(_pinned_in_words(kept, now, together=together))
        if together and other is not None:
            side = bool(st.session_state[SIDE])
            words = "Draws a figure for each, of one height."
            st.toggle("Side by side", side, key=SIDE, help=words)
        else:
            st.session_state[SIDE] = st.session_state[SIDE]


def _pinned_in_words(kept: Scenario, now: Scenario, *, together: bool) -> str:
    if kept == now:
        return "**Pinned.** Change a setting and run: both runs will be drawn."
    said = in_short(kept, now) or "the same settings"
    if not together:
        return f"**Pinned:** {said}. Its axis or its quantity is another one: side by side."
    return f"**Pinned**{'' if st.session_state[SIDE] else ', dashed'}: {said}."


def say_status(shown: Shown, status: DeltaGenerator) -> None:
    result = shown.result
    if shown.stale:
        status.markdown(f":orange[**Settings changed.** {_work(shown.now)}]")
    elif result.complete:
        both = ""
        if is_tail(result):
            assert result.beside is not None
            both = f", and {result.beside.scenario.cells:,} at p = {result.beside.scenario.p:g}"
        elif result.beside is not None:
            both = ", and as pinned" if st.session_state[PIN] else " on each of two sets"
        status.markdown(f"Finished: {_cells_in_words(result.scenario)}{both}.")
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
    """Say how long a run of the changed settings would take."""
    if now is None:
        return "They cannot be run."
    left = estimate((now, *others(now)))
    if left.cells == 0:
        return "Run draws them at once: every cell is known."
    return f"Run: {_duration(left.seconds)}, {left.cells:,} cell{'s' * (left.cells > 1)}."


def _duration(seconds: float) -> str:
    return "less than 1 s" if seconds < 0.95 else f"about {seconds:,.0f} s"


def _cells_in_words(scenario: Scenario) -> str:
    points = max(1, len(scenario.grid))
    method = words_for(scenario.problem).method
    factors = ((points, "point"), (len(scenario.methods), method), (scenario.trials, "trial"))
    product = " × ".join(f"{count} {word}{'s' * (count > 1)}" for count, word in factors)
    return f"{scenario.cells:,} cells ({product})"
