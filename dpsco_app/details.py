"""What stands under the figure: views, slopes, words, numbers, bounds, downloads."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dpsco_app import controls, export
from dpsco_app.link import address
from dpsco_app.options import SHOW, SYMBOL, VIEWS, number_text
from dpsco_app.presets import PRESETS
from dpsco_app.running import Result, evaluations
from dpsco_core.catalogue import BOUND_SLUGS, METHOD_SLUGS, method_card
from dpsco_core.scenario import Scenario
from dpsco_core.study import Outcome
from dpsco_core.tables import frame, slopes, summary

Start = Callable[[Scenario], None]
Changes = tuple[tuple[str, float | str | None], ...]

LATEX = {"n": "n", "d": "d", "epsilon": r"\varepsilon", "p": "p"}


def draw_details(result: Result, start: Start) -> None:
    """Draw all of it; `start` loads a scenario and runs it."""
    scenario = result.scenario
    cells = frame(result.outcomes)
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
        _show_table(numbers(result))
        st.caption("Errors over the trials; parameters are those of the first trial.")
    with st.expander("Bounds at the chosen point"):
        _show_table(bounds_table(scenario))
    with st.expander("How to read this figure"):
        st.markdown(HOW_TO_READ)


def _refusals(result: Result, start: Start) -> None:
    """Say which methods could not run, why, and offer the nearest setting that works."""
    last = {o.method: o for o in result.outcomes if o.not_applicable}
    groups: dict[tuple[str, Changes], list[str]] = {}
    for method, o in last.items():
        group = groups.setdefault((o.not_applicable or "", o.changes), [])
        group.append(method_card(method).name)
    for i, ((reason, changes), names) in enumerate(groups.items()):
        text, button = st.columns([5, 1], vertical_alignment="center")
        text.info(f"**{' · '.join(names)}**: {_with_names(reason)}")
        if changes:
            button.button(
                "Change that",
                key=f"change_{i}",
                help=", ".join(f"{SYMBOL.get(f, f)} = {_value_text(v)}" for f, v in changes),
                on_click=start,
                args=(_changed(result.scenario, changes),),
            )
    for note in _notes(result):
        st.caption(f"⚠ {note}")


def _notes(result: Result) -> list[str]:
    """Return the remarks of the methods; those that differ in numbers only are said once."""
    said: dict[str, str] = {}
    for o in result.outcomes:
        for note in (*o.flaws, *o.notes):
            text = f"{method_card(o.method).name}: {note}"
            said.setdefault(re.sub(r"[-+.\d]+(e[-+]?\d+)?|\binf\b", "#", text), text)
    return list(said.values())


def _with_names(text: str) -> str:
    """Return a sentence of the library with the methods' names instead of their slugs."""
    for slug in METHOD_SLUGS:
        text = text.replace(slug, method_card(slug).name)
    return text


def _value_text(value: float | str | None) -> str:
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def _changed(scenario: Scenario, changes: Changes) -> Scenario:
    """Return the scenario with the changes; on its axis the points that are too small go."""
    values: dict[str, Any] = dict(changes)
    axis = scenario.axis
    if axis is not None and axis in values:
        smallest = float(values[axis] or 0)
        values["grid"] = tuple(x for x in scenario.grid if x >= smallest) or (smallest,)
        values[axis] = max(getattr(scenario, axis), values[axis])
    return replace(scenario, **values)


def _slopes(scenario: Scenario, cells: pd.DataFrame) -> None:
    law = rf": error $\propto {LATEX[scenario.axis]}^{{\text{{slope}}}}$" if scenario.axis else ""
    st.markdown(f"**Slopes**{law}")
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
    if math.isnan(value):
        return ""
    return "0.00" if abs(value) < 0.005 else f"{value:+.2f}".replace("-", "−")


def _what_to_look_at(scenario: Scenario, start: Start) -> None:
    preset = next((p for p in PRESETS if p.scenario == scenario), None)
    st.markdown("**What to look at**")
    if preset is not None:
        st.markdown(preset.look_for)
    if scenario.distribution in controls.HARD:
        st.markdown(ON_HARD_DATA[scenario.distribution])
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


def numbers(result: Result) -> pd.DataFrame:
    """Return the summary with what was spent and the parameters; columns are named in words."""
    table = summary(frame(result.outcomes))
    first = {(o.method, o.x): o for o in reversed(result.outcomes)}
    cells = [first[r.method, None if math.isnan(r.x) else r.x] for r in table.itertuples()]
    axis = result.scenario.axis
    columns: dict[str, Any] = {"Estimator": table["name"]}
    if axis is not None:
        columns[SYMBOL[axis]] = table["x"]
    columns |= {
        "Trials": table["trials"],
        "Mean error": table["mean_error"],
        "Standard error": table["standard_error"],
        "Median": table["median_error"],
        "10 %": table["q10"],
        "90 %": table["q90"],
        "Milliseconds": 1000 * table["seconds"],
        "Spent": ["not private" if _public(o) else str(o.spent or "") for o in cells],
        "Parameters": [
            ", ".join(f"{k.replace('_', ' ')} {_three_digits(v)}" for k, v in o.diagnostics.items())
            for o in cells
        ],
    }
    if table["not_applicable"].any():
        columns["Remark"] = table["not_applicable"].map(_with_names)
    return pd.DataFrame(columns)


def _show_table(table: pd.DataFrame) -> None:
    """Draw a table; numbers have three significant digits, sizes their commas."""
    number = st.column_config.NumberColumn
    formats = {c: number(format="%.3g") for c in table.select_dtypes("float").columns}
    formats |= {c: number(format="localized") for c in SYMBOL.values() if c in table}
    st.dataframe(table, hide_index=True, width="stretch", column_config=formats)


def _public(outcome: Outcome) -> bool:
    return method_card(outcome.method).privacy == "none"


def _three_digits(value: float) -> str:
    return number_text(float(f"{value:.3g}")) if math.isfinite(value) else "∞"


def bounds_table(scenario: Scenario) -> pd.DataFrame:
    """Return every bound at the chosen point of the scenario."""
    point = replace(scenario, axis=None, grid=())
    rows = [
        {
            "Bound": e.bound.card.name,
            "Kind": e.bound.card.kind,
            "Value": e.value if math.isfinite(e.value) else math.nan,
            "Of": e.bound.card.quantity,
            "Constant": e.bound.card.constant,
            "Holds in": e.bound.card.guarantee,
            "Fails here because": " ".join(e.failures),
            "From": f"{e.bound.card.paper}, {e.bound.card.statement}",
            "In words": e.bound.card.summary,
        }
        for e in evaluations(point, BOUND_SLUGS)
    ]
    return pd.DataFrame(rows)


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


ON_HARD_DATA = {
    "hypercube": "These are the very data on which the hypercube bounds are proven: averaged over "
    "the trials, no algorithm of its class can err less than the shaded region's edge.",
    "spike": "These are the very data on which Fano's bound is proven: averaged over the trials, "
    "no algorithm of its class can err less than the **Fano** line. The hypercube line above it "
    "belongs to another hard input.",
}
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
