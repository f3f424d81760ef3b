"""Running a study inside a Streamlit script: a slice of cells, then a check for clicks.

The loop calls Streamlit between its slices, so that a click on Cancel or on any control stops it
there; finished cells are kept. A long cell checks between its steps.
"""

from collections.abc import Callable, Iterator

import streamlit as st

from dpsco_app.runs.turns import TURNS
from dpsco_app.session.cells import outcome_of
from dpsco_app.session.curves import Curves
from dpsco_app.session.pace import Pace
from dpsco_app.session.result import Growth, Result
from dpsco_core.base.interrupt import asked_between_steps
from dpsco_core.runs.study import Cell, Outcome
from dpsco_core.scenario import Scenario

ASK_EVERY_SECONDS = 0.2  # A click on Cancel ends a long cell after about this many seconds.
FIRST_BAR_SECONDS = 0.3
# A key without a value. Streamlit can end a run at any of its calls, and looking up this key is a
# call that draws nothing.
STOP_POINT = "asked_for_another_run"


def cached_cell(cell: Cell) -> Outcome:
    """Return the outcome of a cell, running it if no session has run it before."""
    with asked_between_steps(stopper()):
        return outcome_of(cell)


def stopper() -> Callable[[], None]:
    """Return a function that, called now and then, ends this run of the page after a click."""
    pace = Pace(ASK_EVERY_SECONDS, interval=ASK_EVERY_SECONDS)

    def stop_if_clicked() -> None:
        """Give Streamlit a chance to stop the run, if enough time has passed."""
        if pace.due():
            st.session_state.get(STOP_POINT)

    return stop_if_clicked


def run(growth: Curves | Growth) -> Iterator[str]:
    """Run the rest of a result, taking turns with other runs; yield the progress in words.

    It yields after every slice of cells, and while the run waits for its turn.
    """
    stop_if_clicked = stopper()
    with TURNS.run() as turn:
        left, goes_on = "", True
        while goes_on:
            while not turn.wait_for_slice():
                yield left or f"{growth.so_far}, waiting for a turn"
            with asked_between_steps(stop_if_clicked):
                goes_on = growth.work(turn.is_over)
            turn.hand_on()
            left = f"{growth.so_far}, about {growth.seconds_left:.0f} s left"
            yield left if goes_on else growth.so_far


def run_here(scenario: Scenario) -> tuple[Outcome, ...]:
    """Run a study while a page is drawn, showing its progress; return its outcomes."""
    place, pace, result = st.empty(), Pace(FIRST_BAR_SECONDS), Result(scenario)
    result.take_known()
    for progress_words in run(Growth(result)):
        if pace.due():
            place.progress(result.finished / result.cells, progress_words)
    place.empty()
    return result.outcomes
