"""An offer of more trials, beside bars that are wide, where they are quickly run.

A trial has a seed of its own: those that have run are kept, and the others are added. The number
stands in the address from then on, so that no link changes what it means.
"""

from dataclasses import replace

import streamlit as st

from dpsco_app.live.running import estimate
from dpsco_app.pages.explore.runs import Shown, beside_of, press_run, studies_of
from dpsco_app.parts import controls
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.runs.allowed import refusal
from dpsco_core.scenario import Scenario

OFFERED = 30  # trials
WIDE = 0.25  # share of an error: a bar whose half is longer is wide
MOST_SECONDS = 2.0  # a longer run is not offered


def draw_more_trials(shown: Shown) -> None:
    """Draw the button that runs more trials, where that helps and takes no time to speak of."""
    more = more_trials_of(shown)
    if more is None:
        return
    seconds = estimate((more, *beside_of(more).scenarios)).seconds
    if seconds > MOST_SECONDS:
        return
    duration = "less than 1 s" if seconds < 0.95 else f"about {seconds:.0f} s"
    st.button(
        f"{OFFERED} trials: {duration}",
        icon=":material/compress:",
        key="more_trials",
        help="Shorter bars: the trials that have run are kept, and others are added.",
        on_click=_run_more,
    )


def more_trials_of(shown: Shown) -> Scenario | None:
    """Return the scenario of more trials; None where bars are short, or the run is not finished."""
    now = shown.now
    if now is None or shown.stale or shown.running or not shown.result.complete:
        return None
    more = replace(now, trials=OFFERED)
    is_allowed = not refusal(more, DASHBOARD, lambda s: beside_of(s).scenarios)
    return more if now.trials < OFFERED and is_allowed and _has_wide_bars(shown) else None


def _has_wide_bars(shown: Shown) -> bool:
    rows = (row for study in studies_of(shown) for row in study.table.values())
    return any(row.trials > 1 and row.mean > 0 and row.half > WIDE * row.mean for row in rows)


def _run_more() -> None:
    controls.load(replace(controls.read(), trials=OFFERED))
    press_run()
