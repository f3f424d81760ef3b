"""The runs that Explore asks the session for, and the bounds that its figure draws."""

from dataclasses import replace
from typing import Any

import streamlit as st

from dpsco_app.front.view import View
from dpsco_app.parts import shown_bounds
from dpsco_app.parts.evaluations import drawn_window, region
from dpsco_app.parts.insides import DeltaGenerator
from dpsco_app.parts.options import SYMBOL, number_text, value_text
from dpsco_app.shell import visit
from dpsco_app.shell.window import arrive
from dpsco_core.scenario import Scenario


def press_run() -> None:
    """Run the settings of the controls; a callback."""
    arrive()
    visit.current().press_run()


def start(scenario: Scenario) -> None:
    """Put a scenario into the controls and run it; a callback."""
    arrive()
    visit.current().start(scenario)


def draw_run(
    place: DeltaGenerator, *, is_running: bool, is_allowed: bool, is_needed: bool = True
) -> None:
    """Draw the button Cancel during a run, and otherwise the button Run if there is a need.

    Run is disabled unless the run `is_allowed`.
    """
    if is_running:
        place.button("Cancel", key="explore_cancel", on_click=visit.current().cancel)
        return
    if not is_needed:
        return
    place.button(
        "Run",
        icon=":material/play_arrow:",
        shortcut="Ctrl+Enter",
        key="explore_run",
        on_click=press_run,
        disabled=not is_allowed,
    )


def offer_nearest() -> None:
    """Draw a button that changes one setting to its nearest allowed value, if that is enough."""
    session = visit.current()
    nearest = session.curves.nearest()
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
    change: dict[str, Any] = {field: value}
    st.button(
        f"Use {words}",
        icon=":material/build:",
        key="nearest",
        on_click=session.show,
        args=(replace(session.scenario, **change),),
    )


def proven_slugs(scenario: Scenario, view: View) -> list[str]:
    """Return the slugs of all bounds in the figure: those of the window, the edge and the lines."""
    spans = [span for _, span in drawn_window(scenario)]
    ends = [b for span in spans for b in (span.upper, span.lower) if b is not None]
    edges = [e.bound for _, e in region(scenario)]
    areas = [b.card.slug for b in (*ends, *edges)]
    chosen = shown_bounds.shown(scenario, view.views)
    lines = [shown_bounds.fano(scenario), *chosen, view.named_bound(scenario)]
    return list(dict.fromkeys(slug for slug in (*areas, *lines) if slug))
