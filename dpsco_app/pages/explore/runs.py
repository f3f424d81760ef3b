"""What Explore runs and shows: the result of the session, beside what, and how far it is."""

from dataclasses import dataclass, replace
from typing import cast

import streamlit as st

from dpsco_app.figure.theme import SIZES
from dpsco_app.front.second import Beside, beside
from dpsco_app.front.study import Role, Study
from dpsco_app.live.running import Result, estimate, head_start
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts import controls, shown_bounds
from dpsco_app.parts.evaluations import drawn_window, hardest, region
from dpsco_app.parts.options import (
    AGAINST,
    HARDEST,
    PANEL,
    PIN,
    SYMBOL,
    number_text,
    value_text,
)
from dpsco_app.shell import window
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.explain.hardest import is_hard
from dpsco_core.runs.allowed import nearest_allowed, refusal
from dpsco_core.runs.cost import Cost
from dpsco_core.scenario import Scenario

OPENED = "opened_study"  # key of the scenario that was opened from a file
# A hardest case that is predicted to take longer is run only where somebody asks for its panel.
BESIDE_SECONDS = 1.5


def press_run() -> None:
    window.arrive()
    st.session_state["start"] = True
    STATE.forgive()


def beside_of(scenario: Scenario) -> Beside:
    """Return what is run beside a scenario.

    Unless somebody asks, the hardest case is run only where that is quick, and allowed beside it.
    """
    state = st.session_state
    pair = beside(scenario, state[AGAINST], state[PIN])
    if pair.second is None or state[PANEL] in ("both", "second"):
        return pair
    if state[PANEL] == "first":
        return replace(pair, second=None)
    if pair.role != HARDEST:  # somebody has asked for it
        return pair
    allowed = not refusal(scenario, DASHBOARD, lambda _: pair.scenarios)
    is_quick = allowed and estimate((pair.second,)).seconds <= BESIDE_SECONDS
    return pair if is_quick else replace(pair, second=None)


def read_only(result: Result | None) -> bool:
    """Whether a result is a stored study that the controls hold, and that is too large to run."""
    if result is None or st.session_state.get(OPENED) != result.scenario:
        return False
    return controls.read() == result.scenario and bool(refusal(result.scenario, DASHBOARD))


def result_of(scenario: Scenario | None, others: Beside | None) -> Result | None:
    """Return the result to show, a new one if a run was asked for; settle whether it is running.

    A run goes on over reruns that leave its scenario as it is, and ends where the scenario changes.
    What an earlier result holds of any of its scenarios is kept.
    """
    state = st.session_state
    result: Result | None = state.get("result")
    asked = state.pop("start", False) or STATE.fresh()
    same = False
    if scenario is not None and others is not None:
        same = result is not None and result.shows(scenario, others.second, others.overlay)
        parts = () if result is None else result.parts
        there = {scenario, *others.scenarios} <= {part.scenario for part in parts}
        # What has run before waits for no button.
        asked = asked or (not same and estimate((scenario, *others.scenarios)).cells == 0)
        if (asked or there) and not same:
            known = result or Result(scenario)
            result = known.of(scenario)
            result.beside = None if others.second is None else known.of(others.second)
            result.role = others.role
            result.overlay = None if others.overlay is None else known.of(others.overlay)
            same = True
    going = bool((asked or state.get("running")) and same and result and not result.complete)
    if going and result is not None:
        result = result.own()
        head_start(result)  # what is known already, or is quickly done, is drawn once
        going = not result.complete
    state["running"] = going
    if result is not None:
        state["result"] = result
    return result


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the page shows: a result, and the settings that the controls have now."""

    result: Result
    now: Scenario | None  # None where the settings are not allowed
    others: Beside | None  # what is run beside it
    stale: bool  # whether the result is not that of the present settings
    running: bool

    @property
    def scenario(self) -> Scenario:
        """The scenario of all that is drawn and said: that of the result, old or not.

        Titles, bounds, lines, table and words are of one run; `stale` marks them all.
        """
        return self.result.scenario


def shown_of(result: Result, scenario: Scenario | None, others: Beside | None) -> Shown:
    """Return what is shown of a result beside the present settings."""
    if scenario is None or others is None:
        stale = not read_only(result)
    else:
        stale = not result.shows(scenario, others.second, others.overlay)
    return Shown(
        result=result,
        now=scenario,
        others=others,
        stale=stale,
        running=bool(st.session_state["running"]),
    )


def studies_of(shown: Shown) -> tuple[Study, ...]:
    """Return the panels: what has been measured, between the bounds of the settings that ran."""
    result, scenario = shown.result, shown.scenario
    over = result.overlay
    pinned = None if over is None else Study(scenario=over.scenario, outcomes=tuple(over.outcomes))
    first = Study(
        scenario=scenario,
        outcomes=tuple(result.outcomes),
        role="hardest" if is_hard(scenario) and hardest(scenario) is None else "own",
        overlay=pinned,
    )
    if result.beside is None or st.session_state[PANEL] == "first":
        return (first,)
    outcomes, role = tuple(result.beside.outcomes), cast(Role, result.role)
    second = Study(scenario=result.beside.scenario, outcomes=outcomes, role=role)
    alone = st.session_state[PANEL] == "second" and SIZES[window.size()].several
    return (second,) if alone else (first, second)


def proven_slugs(scenario: Scenario) -> list[str]:
    """Return every bound that the figure draws: the window's ends, the region's edge, the lines."""
    view = STATE.current()
    ends = [
        b for _, span in drawn_window(scenario) for b in (span.upper, span.lower) if b is not None
    ]
    edges = [e.bound for _, e in region(scenario)]
    areas = [b.card.slug for b in (*ends, *edges)]
    chosen = shown_bounds.shown(scenario, view.views)
    lines = [shown_bounds.fano(scenario), *chosen, view.named_bound(scenario)]
    return list(dict.fromkeys(slug for slug in (*areas, *lines) if slug))


# -- Run, Cancel, and how far a run is ------------------------------------------------------------


def draw_run(scenario: Scenario | None, running: bool) -> None:
    """Draw Run, which is Cancel while something runs."""
    if running:
        st.button(
            "Cancel",
            key="explore_cancel",
            on_click=st.session_state.update,
            args=({"running": False},),
        )
        return
    st.button(
        "Run",
        icon=":material/play_arrow:",
        shortcut="Ctrl+Enter",
        key="explore_run",
        on_click=press_run,
        disabled=scenario is None,
    )


def status_of(shown: Shown) -> str:
    """Return how many runs there are, and what is left to do."""
    result = shown.result
    if shown.stale:
        return _work(shown)
    if result.complete:
        seconds = sum(o.seconds for part in result.parts for o in part.outcomes)
        return f"{result.finished:,} runs in {seconds:.2g} s"
    if shown.running:
        return f"{result.finished:,} of {result.cells:,} runs"
    if shown.now is None:  # a stored study that is too large to be run here
        return f"Stored: {result.finished:,} of {result.cells:,} runs"
    left = estimate(tuple(part.scenario for part in result.parts)).seconds
    return f"Stopped at {result.finished:,} of {result.cells:,} runs; {_duration(left)} left"


def left_of(shown: Shown) -> Cost | None:
    """Return the work of the present settings; None where they are not allowed."""
    if shown.now is None or shown.others is None:
        return None
    return estimate((shown.now, *shown.others.scenarios))


def _work(shown: Shown) -> str:
    left = left_of(shown)
    if left is None:
        return "These settings cannot be run"
    return f"Settings changed: {left.cells:,} runs, {_duration(left.seconds)}"


def _duration(seconds: float) -> str:
    return "less than 1 s" if seconds < 0.95 else f"about {seconds:,.0f} s"


def offer_nearest() -> None:
    """Draw a button that sets the nearest value which is allowed, if one change is enough."""
    nearest = nearest_allowed(controls.read(), DASHBOARD, lambda s: beside_of(s).scenarios)
    if nearest is None:
        return
    field, value = nearest
    if field == "methods":
        words = f"{len(value)} of the algorithms"
    elif field == "grid":
        words = f"the {len(value)} values up to {number_text(value[-1])}"
    elif field == "trials":
        words = f"{value_text(value)} trials"
    else:
        words = f"{SYMBOL.get(field, field)} = {value_text(value)}"
    st.button(
        f"Use {words}",
        icon=":material/build:",
        key="nearest",
        on_click=lambda: controls.load(replace(controls.read(), **{field: value})),
    )
