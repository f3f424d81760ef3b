"""An offer of more trials beside wide error bars, if the trials run quickly.

A trial has a seed of its own: those that have run are kept, and the others are added. The number
stands in the address from then on, so that no link changes what it means.
"""

from dataclasses import replace

import streamlit as st

from dpsco_app.pages.explore.runs import start
from dpsco_app.session.screen import Screen, in_seconds
from dpsco_app.shell import visit
from dpsco_core.scenario import Scenario

OFFERED = 30  # The number of trials on offer.
WIDE = 0.25  # Error bars are wide if their half-length exceeds this share of the error.
MOST_SECONDS = 2.0  # A run that takes longer than this many seconds is not offered.


def draw_more_trials(screen: Screen) -> None:
    """Draw the button that runs more trials, if error bars are wide and the trials are quick."""
    longer_scenario = more_trials_of(screen)
    work = None if longer_scenario is None else visit.current().curves.work_of(longer_scenario)
    if work is None or work.seconds > MOST_SECONDS:
        return
    st.button(
        f"{OFFERED} trials: {in_seconds(work.seconds)}",
        icon=":material/compress:",
        key="more_trials",
        help="Shorter bars: the trials that have run are kept, and others are added.",
        on_click=start,
        args=(longer_scenario,),
    )


def more_trials_of(screen: Screen) -> Scenario | None:
    """Return the scenario with more trials; None if bars are short or the run is not finished."""
    scenario = screen.allowed
    if scenario is None or not screen.is_complete or scenario.trials >= OFFERED:
        return None
    rows = (row for study in screen.studies for row in study.table.values())
    has_wide_bars = any(
        row.trials > 1 and row.mean > 0 and row.half > WIDE * row.mean for row in rows
    )
    return replace(scenario, trials=OFFERED) if has_wide_bars else None
