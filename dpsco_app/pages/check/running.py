"""The referee on a page: it takes turns with other visitors' runs, and a click stops it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from dpsco_app.pages.check.state import Claim
from dpsco_app.parts.insides import DeltaGenerator
from dpsco_app.parts.options import in_print
from dpsco_app.runs.running import stopper
from dpsco_app.runs.turns import TURNS, Turn
from dpsco_app.session.pace import Pace
from dpsco_core.base.interrupt import asked_between_steps
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.referee.report import Report
from dpsco_core.referee.run import referee
from dpsco_core.referee.steepness import least_seconds

RUNNING = "check_running"  # The session key of the task that is being checked.
KEPT_REPORTS = 24
BAR_SECONDS = 0.3


@dataclass(frozen=True, kw_only=True)
class Task:
    """A claim with the time for all of its checks, in seconds."""

    claim: Claim
    seconds: int


@st.cache_resource(show_spinner=False)
def kept_reports() -> dict[Task, tuple[Report, ...]]:
    """Return the store of finished reports, by task, which all sessions of this server share."""
    return {}


@st.cache_data(max_entries=300, show_spinner=False, hash_funcs={Claim: repr})
def predicted_seconds(claim: Claim) -> float:
    """Return the predicted seconds of the smallest report on a claim."""
    return least_seconds(claim.bound, claim.base, DASHBOARD)


def start(task: Task | None) -> None:
    """Start checking a task, or stop the running check; a callback."""
    if task is not None:
        kept_reports().pop(task, None)
    st.session_state[RUNNING] = task


def is_running(task: Task) -> bool:
    """Return whether the visitor's session is running this task now."""
    return bool(st.session_state.get(RUNNING) == task)


def check(task: Task, place: DeltaGenerator) -> tuple[Report, ...]:
    """Run the referee on a task's claim; store and return its reports.

    Meanwhile a bar in `place` shows the progress.
    """
    bar = place.empty()
    with TURNS.run() as turn:
        step = _stepper(task, turn, bar)
        step("waiting for a turn")
        with asked_between_steps(lambda: step("")):
            reports = referee(
                task.claim.submission,
                task.claim.base,
                seconds=task.seconds,
                seed=task.claim.base.seed,
                progress=step,
                limits=DASHBOARD,
            )
    bar.empty()
    name = method_card(task.claim.method).name
    titles = (f"Claim on {name}", f"Privacy of {name}")
    titled_reports = tuple(
        replace(r, title=title) for r, title in zip(reports, titles, strict=False)
    )
    cache = kept_reports()
    cache[task] = titled_reports
    if len(cache) > KEPT_REPORTS:
        del cache[next(iter(cache))]
    return titled_reports


def _stepper(task: Task, turn: Turn, bar: DeltaGenerator) -> Callable[[str], None]:
    """Return the function that the referee calls at every step.

    It shows progress, lets other visitors have their turn, and lets Streamlit end the run if the
    visitor has clicked.
    """
    ask, pace, began = stopper(), Pace(BAR_SECONDS), time.monotonic()
    words, has_turn = "", False

    def show() -> None:
        """Show the seconds that have passed, and what is checked now, in the progress bar."""
        elapsed = time.monotonic() - began
        text = f"{min(elapsed, task.seconds):.0f} of {task.seconds} s: {in_print(words)}"
        bar.progress(min(0.99, elapsed / task.seconds), text)

    def step(latest: str) -> None:
        """Show the name of the present step now and then, and let other visitors have their turn.

        An empty name keeps the previous one.
        """
        nonlocal words, has_turn
        words = latest or words
        ask()
        if pace.due():
            show()
        if has_turn and not turn.is_over():
            return
        if has_turn:
            turn.hand_on()
        while not turn.wait_for_slice():
            show()
        has_turn = True

    return step
