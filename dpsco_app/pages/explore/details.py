"""The parts below Explore's figure: remarks, refusals, slopes, numbers, bounds and sources."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpsco_app.front import links
from dpsco_app.front.notice import how_to_read
from dpsco_app.front.study import Study
from dpsco_app.front.titles import data_word, formula_names, panel_title
from dpsco_app.pages.explore.coverage import COVERAGE_HELP, draw_coverage
from dpsco_app.pages.explore.formulas import draw_formulas
from dpsco_app.pages.explore.records_needed import draw_need
from dpsco_app.pages.explore.runs import start
from dpsco_app.pages.explore.tables import numbers
from dpsco_app.pages.lower_bounds import state as lower
from dpsco_app.pages.one_run.state import anatomy_query
from dpsco_app.pages.privacy.state import privacy_query
from dpsco_app.parts import export, refusals
from dpsco_app.parts.evaluations import region
from dpsco_app.parts.folding import fold
from dpsco_app.parts.options import SYMBOL, separated_names, value_text
from dpsco_app.parts.problem_words import words_for
from dpsco_app.session.result import Result
from dpsco_app.session.screen import Screen
from dpsco_app.shell.places import link_to
from dpsco_core.base.formula import parse_formula
from dpsco_core.catalogue import bound, distribution_card, method_card
from dpsco_core.explain.hardest import is_hard
from dpsco_core.fields import MEAN
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.results.findings import times_to_halve
from dpsco_core.results.overlay import own_line, own_range
from dpsco_core.results.slopes import (
    LEAST_POINTS,
    POWER_AXES,
    FittedSlope,
    line_slope,
    slopes,
    verdict,
)
from dpsco_core.results.tables import frame
from dpsco_core.scenario import Scenario

NO_BREAK = "\xa0"
# A method that needs this many times the records to halve its error hardly improves.
MANY_RECORDS = 1000
ABOUT_SLOPES = (
    "Predicted: the slopes of the terms of the method’s published rate, from the least to the "
    "largest, at the same points."
)


def draw_details(screen: Screen) -> None:
    """Draw everything below the first screen; folded parts are made when they are opened."""
    result, scenario, lead = screen.result, screen.scenario, screen.front.lead
    _draw_refusals(result)
    if screen.notes:
        st.markdown("**What to notice**")
    for text in screen.notes:
        st.markdown(text)
    _draw_links(scenario, lead)
    fold("Slopes", lambda: _draw_slopes(result, screen.view.formulas), "fold_slopes")
    fold("Numbers", lambda: _draw_numbers(screen.studies), "fold_numbers")
    unit_name = "users" if scenario.m > 1 else "records"
    fold(f"How many {unit_name} do I need?", lambda: draw_need(result, lead), "fold_need")
    fold("Formulas and papers", lambda: draw_formulas(scenario, screen.view), "fold_formulas")
    fold("How to read this figure", lambda: st.markdown(how_to_read(scenario)), "fold_reading")


def _draw_numbers(studies: Sequence[Study]) -> None:
    """Draw the table of numbers of each study, and the coverage of its intervals."""
    covered = False
    for i, study in enumerate(studies):
        if len(studies) > 1:
            st.caption(f"{panel_title(study, studies)}:")
        export.show_table(numbers(study.outcomes, study.scenario))
        covered |= draw_coverage(study.scenario, study.outcomes, f"coverage_{i}")
    if covered:
        st.caption(COVERAGE_HELP)
    error = words_for(studies[0].scenario.problem).error.capitalize()
    text = f"{error} over the trials; parameters are those of the first trial."
    if any(o.error_uncertainty for study in studies for o in study.outcomes):
        text += (
            " The risk of a parameter is an average over 100,000 fresh records or so; "
            "Evaluation ± is its standard error."
        )
    st.caption(text)


def _draw_links(scenario: Scenario, lead: str) -> None:
    """Draw links to one run at the scenario, to a proof, and to the ledger of the method `lead`.

    A link is left out if its page does not apply.
    """
    with st.container(horizontal=True, key="view_row"):
        if scenario.problem in SCO_PROBLEMS:  # A mean has no path of steps.
            link_to(
                "one-run",
                "Take one run apart",
                icon=":material/biotech:",
                help="Its path, its gradients, and the four parts of its error, in the view One "
                "run.",
                query=anatomy_query(scenario),
            )
        if not is_hard(scenario) and lower.fit(scenario) == scenario and region(scenario):
            proof = lower.STATE.to_query(lower.View(part="prove", hard="data"))
            link_to(
                "lower-bounds", "The proof, with your numbers", query=links.query(scenario) | proof
            )
        if lead:
            link_to(
                "privacy",
                "Where the budget went",
                icon=":material/receipt_long:",
                help=f"The ledger of one run of {method_card(lead).name}, on the page Privacy.",
                query=privacy_query(scenario, lead),
            )


# -- what cannot run ------------------------------------------------------------------------------


def _draw_refusals(result: Result) -> None:
    """Draw which methods cannot run and why, with a button for the nearest setting that works.

    Remarks on the outcomes follow.
    """
    scenario, outcomes = result.scenario, result.outcomes
    for i, refusal in enumerate(refusals.measured_refusals(outcomes)):
        _draw_refusal(refusal, scenario, f"change_{i}")
    remarks: dict[str, str] = {}
    for o in outcomes:
        for note in (*o.flaws, *o.notes):  # Remarks that differ only in numbers appear once.
            text = f"{method_card(o.method).name}: {refusals.on_screen(note)}"
            remarks.setdefault(re.sub(r"[-+.\d]+(e[-+]?\d+)?|\binf\b", "#", text), text)
    for text in remarks.values():
        st.caption(f"⚠ {text}")


def _draw_refusal(refusal: refusals.Refusal, scenario: Scenario, key: str) -> None:
    """Draw why a method cannot run, with a button for the nearest change."""
    text, button = st.columns([5, 1], vertical_alignment="center")
    text.info(f"**{refusal.names}**: {refusal.reason}")
    label, instead = "Change that", dict(refusal.changes).get("method")
    # The replacement is already chosen, so the method can only be removed.
    if instead in scenario.methods:
        label = "Leave out" if set(refusal.methods) <= set(scenario.methods) else ""
    parts = [
        f"Runs {method_card(str(value)).name} instead"
        if field == "method"
        else f"{SYMBOL.get(field, field)} = {value_text(value)}"
        for field, value in refusal.changes
    ]
    if refusal.changes and label:
        button.button(
            label,
            key=key,
            help=separated_names(parts),
            on_click=start,
            args=(refusals.changed_scenario(scenario, refusal),),
        )


# -- slopes ---------------------------------------------------------------------------------------


def _draw_slopes(result: Result, formulas: Sequence[str]) -> None:
    """Draw a table of each method's fitted slope beside those of its rate and of the formulas."""
    scenario, axis = result.scenario, result.scenario.axis
    if axis is not None and axis not in POWER_AXES:
        st.caption(f"The error is no power of {SYMBOL[axis]}, and has no slope.")
        return
    error = words_for(scenario.problem).error
    law = f": {error} ∝ ${SYMBOL[axis]}^{{\\text{{slope}}}}$" if axis else ""
    data = f"{distribution_card(scenario.distribution).name} {data_word(scenario)}"
    st.markdown(f"**Slopes on {data}**{law}")
    fitted = slopes(scenario, frame(result.outcomes)) if axis else pd.DataFrame()
    if fitted.empty or fitted["points"].max() < LEAST_POINTS:
        st.caption("Slopes need a sweep with at least three points.")
        return
    rows = [_slope_row(scenario, row) for row in fitted.itertuples()]
    for name, text in zip(formula_names(formulas), formulas, strict=True):
        rows.append(_formula_row(scenario, name, text, fitted))
    st.table(pd.DataFrame(rows), hide_index=True)
    st.caption(ABOUT_SLOPES)


def _slope_row(scenario: Scenario, row: Any) -> dict[str, str]:
    """Return the table row of a method: its slope, the slopes of its rate, and their comparison."""
    words = row.verdict or ("the rate is void at these sizes" if row.bound else "no published rate")
    words = words.replace(" ", NO_BREAK)
    if row.verdict and row.bound and scenario.problem != MEAN:
        words += f"; rate for {bound(row.bound).card.loss_class} losses"
    interval = _from_to(row.low, row.high)
    predicted = _from_to(row.predicted_low, row.predicted_high)
    return _table_row(scenario, row.name, row.fitted, interval, predicted, words)


def _table_row(
    scenario: Scenario,
    name: str,
    slope: float,
    interval: str = "",
    predicted: str = "",
    words: str = "",
) -> dict[str, str]:
    """Return a row of the table of slopes, by the names of its columns.

    `interval` and `predicted` are ranges of slopes as text, and `words` is the verdict.
    """
    cells = {
        words_for(scenario.problem).method.capitalize(): name,
        "Fitted": signed(slope),
        "95 % interval": interval,
        "Predicted": predicted,
        "Verdict": words,
    }
    if scenario.axis == "n":
        unit_name = "Users" if scenario.level == "user" else "Records"
        cells[f"{unit_name} that halve the error"] = (
            "" if math.isnan(slope) else f"× {halving(slope)}"
        )
    return cells


def _formula_row(scenario: Scenario, name: str, text: str, fitted: pd.DataFrame) -> dict[str, str]:
    """Return the table row of a formula: its slope, the range of its terms' slopes, and verdicts.

    `fitted` has the slopes of the methods, each of which is compared with the range.
    """
    formula = parse_formula(text)
    points = own_line(scenario, formula)
    slope = line_slope(*np.array(points).T) if len(points) > 1 else math.nan
    low, high = own_range(scenario, formula)
    methods: dict[str, list[str]] = {}
    rows: Any = fitted.itertuples()
    for row in rows:
        fit = FittedSlope(fitted=row.fitted, low=row.low, high=row.high, points=row.points)
        methods.setdefault(verdict(fit, low, high) or "", []).append(row.name)
    verdicts = [f"{', '.join(names)}: {words}" for words, names in methods.items() if words]
    predicted = "" if math.isnan(low) else _from_to(low, high)
    return _table_row(scenario, f"{name}: `{text}`", slope, "", predicted, "; ".join(verdicts))


def _from_to(low: float, high: float) -> str:
    """Return a range of slopes, as one number where both ends are the same on the screen."""
    return f"{NO_BREAK}to{NO_BREAK}".join(dict.fromkeys((signed(low), signed(high))))


def halving(slope: float) -> str:
    """Return the multiple of the number of records that halves an error of this slope, as text."""
    factor = times_to_halve(slope)
    return f"over {MANY_RECORDS:,}" if factor > MANY_RECORDS else f"{factor:.2g}"


def signed(value: float) -> str:
    """Return a number with its sign and two decimals; empty for NaN."""
    if math.isnan(value):
        return ""
    return "0.00" if abs(value) < 0.005 else f"{value:+.2f}".replace("-", "−")
