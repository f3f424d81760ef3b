"""What stands under the figure: views, slopes, words, numbers, bounds, downloads."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import streamlit as st

from dpsco_app import controls, export
from dpsco_app.link import address
from dpsco_app.options import SHOW, SYMBOL, VIEWS
from dpsco_app.presets import PRESETS
from dpsco_app.running import Result, evaluations
from dpsco_core.catalogue import BOUND_SLUGS, method_card
from dpsco_core.scenario import Scenario
from dpsco_core.tables import frame, slopes, summary

Start = Callable[[Scenario], None]


def draw_details(result: Result, start: Start) -> None:
    """Draw all of it; `start` loads a scenario and runs it."""
    scenario = result.scenario
    cells = frame(result.outcomes)
    table = summary(cells)
    with st.container(horizontal=True, vertical_alignment="bottom", key="view_row"):
        st.pills("Show", VIEWS, selection_mode="multi", key=SHOW)
        with st.popover("Export", icon=":material/download:"):
            _downloads(result)
        with st.popover("Link", icon=":material/link:"):
            st.markdown("The address of this page holds the whole scenario. Copy it to share.")
            st.code(address(scenario, st.session_state[SHOW]), language=None)
    _refusals(result, start)
    left, middle = st.columns([3, 2])
    with left:
        _slopes(scenario, cells)
    with middle:
        _what_to_look_at(scenario, start)
    with st.expander("Numbers"):
        st.dataframe(_numbers(table), hide_index=True, width="stretch")
    with st.expander("Bounds at the chosen point"):
        _bounds_table(scenario)
    with st.expander("How to read this figure"):
        st.markdown(HOW_TO_READ)


def _refusals(result: Result, start: Start) -> None:
    """Say which methods could not run, why, and offer the nearest setting that works."""
    first = {o.method: o for o in result.outcomes if o.not_applicable}
    for method, outcome in first.items():
        name = method_card(method).name
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(f"{name}: {outcome.not_applicable}")
            if outcome.changes:
                st.button(
                    "Change that",
                    key=f"change_{method}",
                    on_click=start,
                    args=(_changed(result.scenario, outcome.changes),),
                )
    notes = dict.fromkeys(
        f"{method_card(o.method).name}: {n}" for o in result.outcomes for n in (*o.flaws, *o.notes)
    )
    for note in list(notes)[:6]:
        st.caption(f"⚠ {note}")


def _changed(scenario: Scenario, changes: tuple[tuple[str, float | str | None], ...]) -> Scenario:
    values = dict(changes)
    axis = scenario.axis
    if axis is not None and axis in values:
        smallest = float(values[axis] or 0)
        kept = tuple(x for x in scenario.grid if x >= smallest)
        values["grid"] = kept or (smallest,)  # type: ignore[assignment]
    return replace(scenario, **values)  # type: ignore[arg-type]


def _slopes(scenario: Scenario, cells: pd.DataFrame) -> None:
    symbol = SYMBOL[scenario.axis] if scenario.axis else "axis"
    st.markdown(f"**Slopes:** error ∝ {symbol}^slope")
    fitted = slopes(scenario, cells) if scenario.axis else pd.DataFrame()
    if fitted.empty:
        st.caption("Slopes need a sweep with at least three points.")
        return
    shown = pd.DataFrame(
        {
            "Estimator": fitted["name"],
            "Fitted": fitted["fitted"].map(_signed),
            "95 % interval": [
                f"{_signed(a)} to {_signed(b)}"
                for a, b in zip(fitted["low"], fitted["high"], strict=True)
            ],
            "Predicted": fitted["predicted"].map(_signed),
        }
    )
    st.dataframe(shown, hide_index=True, width="stretch")
    st.caption(
        "Fitted to the medians by least squares; predicted: the slope of the method's published "
        "rate over the same points."
    )


def _signed(value: float) -> str:
    return "" if math.isnan(value) else f"{value:+.2f}".replace("-", "−")


def _what_to_look_at(scenario: Scenario, start: Start) -> None:
    preset = next((p for p in PRESETS if p.scenario == scenario), None)
    st.markdown("**What to look at**")
    if preset is not None:
        st.markdown(preset.look_for)
    hard = scenario.distribution in controls.HARD
    if hard:
        st.markdown(
            "These are the very data on which the lower bound is proven: averaged over the "
            "trials, no algorithm of its class can err less than the shaded region's edge."
        )
        return
    st.markdown(
        "A line may run **below** the shaded region here. A lower bound is a worst case over all "
        "distributions with the same moments; these data are easier than the worst."
    )
    st.button(
        "Run the hardest input instead",
        icon=":material/arrow_forward:",
        on_click=start,
        args=(replace(scenario, distribution="hypercube", trials=max(20, scenario.trials)),),
        key="hardest",
    )


def _numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return the summary with the columns' names in words."""
    return pd.DataFrame(
        {
            "Estimator": table["name"],
            "x": table["x"],
            "Trials": table["trials"],
            "Mean error": table["mean_error"],
            "Standard error": table["standard_error"],
            "Median": table["median_error"],
            "10 %": table["q10"],
            "90 %": table["q90"],
            "Milliseconds": 1000 * table["seconds"],
            "Remark": table["not_applicable"],
        }
    )


def _bounds_table(scenario: Scenario) -> None:
    point = replace(scenario, axis=None, grid=())
    rows = [
        {
            "Bound": e.bound.card.name,
            "Value": e.value if math.isfinite(e.value) else None,
            "Of": e.bound.card.quantity,
            "Constant": e.bound.card.constant,
            "Holds": e.bound.card.guarantee,
            "From": f"{e.bound.card.paper}, {e.bound.card.statement}",
            "Fails here": "; ".join(e.failures),
        }
        for e in evaluations(point, BOUND_SLUGS)
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")


def _downloads(result: Result) -> None:
    st.download_button(
        "CSV: every cell",
        lambda: export.csv(result),
        "dpsco-cells.csv",
        "text/csv",
        on_click="ignore",
        width="stretch",
    )
    st.download_button(
        "JSON: results and bounds",
        lambda: export.json_text(result),
        "dpsco-run.json",
        "application/json",
        on_click="ignore",
        width="stretch",
    )
    st.download_button(
        "Python: the same run as a script",
        lambda: export.python(result),
        "dpsco_run.py",
        "text/x-python",
        on_click="ignore",
        width="stretch",
    )


HOW_TO_READ = """
- **Solid lines with points**: the median error over the trials; the band holds 10 % to 90 % of
  them.
- **Shaded from below**: no private algorithm gets here *on its hardest input*, at the same budget
  and with a proven constant. Fano's inequality for concentrated DP gives the lower edge, the sign
  hypercube the higher one.
- **Thin solid lines**: upper bounds with proven constants. **Dashed**: rates, drawn with constant 1
  because the constant is not known; only their slope means something.
- **Faded**: a condition of the theorem fails there; hover to read which.
- Under an (ε, δ) budget the lower bounds for concentrated DP are drawn at the ρ of the Gaussian
  noise that is used. They bind those methods; an (ε, δ) guarantee alone is not bound by them.
- Neighbouring data sets differ by replacing one record. The data are synthetic.
"""
