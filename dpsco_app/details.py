"""What stands under the figure: views, slopes, words, numbers, bounds, downloads."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dpsco_app import export
from dpsco_app.anatomy_state import anatomy_query
from dpsco_app.link import EXPLORE, views_text
from dpsco_app.options import AGAINST, SHOW, SYMBOL, VIEWS, number_text
from dpsco_app.places import link_to
from dpsco_app.presets import PRESETS
from dpsco_app.problem_words import MEAN, geometry_name, hard_problem, is_instance, words_for
from dpsco_app.refusals import (
    Refusal,
    changed,
    measured_refusals,
    other_refusals,
    several_items,
    with_names,
)
from dpsco_app.running import Result, evaluations
from dpsco_app.shown_bounds import lower_cards
from dpsco_core.card import SCO_PROBLEMS, BoundCard
from dpsco_core.catalogue import bounds_for, default_methods, method_card, methods_for
from dpsco_core.scenario import DEFAULT_GRIDS, Scenario
from dpsco_core.study import Outcome
from dpsco_core.tables import frame, slopes, summary

Start = Callable[[Scenario], None]

LATEX = {"n": "n", "d": "d", "m": "m", "epsilon": r"\varepsilon", "p": "p", "q": "q"}


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
            state = views_text(st.session_state[SHOW], st.session_state[AGAINST])
            st.code(EXPLORE.text(scenario, state), language=None)
        _take_apart(scenario)
    _refusals(result, start)
    left, middle = st.columns([3, 2])
    with left:
        _slopes(scenario, cells)
    with middle:
        _what_to_look_at(scenario, start)
    with st.expander("Numbers"):
        _show_table(numbers(result))
        if result.beside is not None:
            st.caption(f"On the {geometry_name(result.beside.scenario.geometry)}:")
            _show_table(numbers(result.beside))
        st.caption(_about_numbers(result))
    with st.expander("Bounds at the chosen point"):
        if bounds_for(scenario.problem, scenario.level):
            _show_table(bounds_table(scenario))
        else:
            st.caption("The catalogue has no bound for this problem yet.")
    with st.expander("How to read this figure"):
        st.markdown(HOW_TO_READ)
        if scenario.problem != MEAN:
            st.markdown(HOW_TO_READ_RISKS)
        if scenario.level == "user":
            st.markdown(HOW_TO_READ_USERS)


def _take_apart(scenario: Scenario) -> None:
    """Link to the page that takes one run at the chosen point apart; a mean has no path."""
    if scenario.problem not in SCO_PROBLEMS:
        return
    link_to(
        "anatomy",
        "Take one run apart",
        icon=":material/biotech:",
        help="Its path, its gradients, and the four parts of its error, on the page Anatomy.",
        query=anatomy_query(scenario),
    )


def _about_numbers(result: Result) -> str:
    words = words_for(result.scenario.problem)
    text = f"{words.error.capitalize()} over the trials; parameters are those of the first trial."
    if any(o.error_uncertainty for o in result.outcomes):
        text += (
            " The risk of a parameter is an average over 100,000 fresh records or so; "
            "Evaluation ± is its standard error."
        )
    return text


def _refusals(result: Result, start: Start) -> None:
    """Say which methods cannot run, why, and offer the nearest setting that works."""
    scenario = result.scenario
    for i, refusal in enumerate(measured_refusals(result.outcomes)):
        _refusal(refusal, scenario, start, f"change_{i}")
    others = other_refusals(scenario)
    if others:
        count = sum(len(refusal.methods) for refusal in others)
        plural = "s" * (count > 1)
        with st.expander(f"{count} other {words_for(scenario.problem).method}{plural} cannot run"):
            for i, refusal in enumerate(others):
                _refusal(refusal, scenario, start, f"other_{i}", "Change and add")
    for note in _notes(result):
        st.caption(f"⚠ {note}")


def _refusal(
    refusal: Refusal, scenario: Scenario, start: Start, key: str, label: str = "Change that"
) -> None:
    text, button = st.columns([5, 1], vertical_alignment="center")
    text.info(f"**{refusal.names}**: {refusal.reason}")
    if refusal.changes:
        button.button(
            label,
            key=key,
            help=", ".join(f"{SYMBOL.get(f, f)} = {_value_text(v)}" for f, v in refusal.changes),
            on_click=start,
            args=(changed(scenario, refusal),),
        )


def _notes(result: Result) -> list[str]:
    """Return the remarks of the methods; those that differ in numbers only are said once."""
    said: dict[str, str] = {}
    for o in result.outcomes:
        for note in (*o.flaws, *o.notes):
            text = f"{method_card(o.method).name}: {note}"
            said.setdefault(re.sub(r"[-+.\d]+(e[-+]?\d+)?|\binf\b", "#", text), text)
    return list(said.values())


def _value_text(value: float | str | None) -> str:
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def _slopes(scenario: Scenario, cells: pd.DataFrame) -> None:
    words = words_for(scenario.problem)
    law = (
        rf": {words.error} $\propto {LATEX[scenario.axis]}^{{\text{{slope}}}}$"
        if scenario.axis
        else ""
    )
    st.markdown(f"**Slopes**{law}")
    fitted = slopes(scenario, cells) if scenario.axis else pd.DataFrame()
    if fitted.empty:
        st.caption("Slopes need a sweep with at least three points.")
        return
    shown = pd.DataFrame(
        {
            words.method.capitalize(): fitted["name"],
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
    proven_here = [
        card
        for card in lower_cards(scenario.problem, scenario.level)
        if card.constant == "explicit"
        and is_instance(card, scenario.problem, scenario.distribution)
        and (scenario.problem == MEAN or scenario.geometry == "l2")
    ]
    if proven_here:
        st.markdown(on_hard_data(proven_here[0], scenario.problem))
        return
    hard = _hardest(scenario)
    if scenario.problem != MEAN and scenario.geometry != "l2":
        st.markdown(
            "The lower bounds are proven on the ℓ₂ ball, and faded here. On another set an "
            "algorithm may do better: where the Gaussian width is small, noise can be projected "
            "away."
        )
        label = "Run the hard instance on the ℓ₂ ball"
    elif scenario.problem == MEAN:
        st.markdown(
            "A line may run **below** the shaded region here. A lower bound is a worst case over "
            "all distributions with the same moments; these data are easier than the worst."
        )
        label = "Run the hardest input instead"
    else:
        st.markdown(
            "A line may run **below** the shaded region here. A lower bound is a worst case over "
            "all convex losses and distributions with the same moments; this loss on these data "
            "is easier than the worst."
        )
        label = "Run the hard instance instead"
    st.button(label, icon=":material/arrow_forward:", on_click=start, args=(hard,), key="hardest")


def _hardest(scenario: Scenario) -> Scenario:
    """Return the scenario on the problem, set and data on which the lower bound is proven."""
    problem = hard_problem(scenario.problem)
    if problem != MEAN:
        swept = scenario.axis == "q"
        scenario = replace(
            scenario,
            geometry="l2",
            q=None,
            axis="n" if swept else scenario.axis,
            grid=DEFAULT_GRIDS["n"] if swept else scenario.grid,
        )
    level = several_items(scenario)
    methods = tuple(m for m in methods_for(problem, level) if m in scenario.methods)
    return replace(
        scenario,
        problem=problem,
        methods=methods or default_methods(problem, level),
        distribution="hypercube",
        trials=max(20, scenario.trials),
    )


def on_hard_data(card: BoundCard, problem: str) -> str:
    """Return what holds on the very data on which a lower bound is proven."""
    what = "data" if problem == MEAN else "loss and data"
    does = "err" if problem == MEAN else "leave"
    proven = f"These are the very {what} on which"
    no_one = f"averaged over the trials, no algorithm of its class can {does} less than"
    if card.instance == "hypercube":
        return f"{proven} the hypercube bounds are proven: {no_one} the shaded region's edge."
    return (
        f"{proven} Fano's bound is proven: {no_one} the **Fano** line. The hypercube line above "
        "it belongs to another hard input."
    )


def numbers(result: Result) -> pd.DataFrame:
    """Return the summary with what was spent and the parameters; columns are named in words."""
    table = summary(frame(result.outcomes))
    first = {(o.method, o.x): o for o in reversed(result.outcomes)}
    cells = [first[r.method, None if math.isnan(r.x) else r.x] for r in table.itertuples()]
    axis = result.scenario.axis
    words = words_for(result.scenario.problem)
    columns: dict[str, Any] = {words.method.capitalize(): table["name"]}
    if axis is not None:
        columns[SYMBOL[axis]] = table["x"]
    columns |= {
        "Trials": table["trials"],
        f"Mean {words.error}": table["mean_error"],
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
    uncertainty = _evaluation_errors(result.outcomes)
    if any(uncertainty.values()):
        columns["Evaluation ±"] = [uncertainty[o.method, o.x] for o in cells]
    if table["not_applicable"].any():
        columns["Remark"] = table["not_applicable"].map(with_names)
    return pd.DataFrame(columns)


def _evaluation_errors(outcomes: Sequence[Outcome]) -> dict[tuple[str, float | None], float]:
    """Return the largest standard error of the evaluation by (method, x); 0 where it is exact."""
    largest: dict[tuple[str, float | None], float] = {}
    for o in outcomes:
        largest[o.method, o.x] = max(largest.get((o.method, o.x), 0.0), o.error_uncertainty)
    return largest


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
    chosen = bounds_for(scenario.problem, scenario.level)
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
        for e in evaluations(point, tuple(b.card.slug for b in chosen))
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
- Neighbouring data sets differ by replacing one record, at user level all items of one user. The
  data are synthetic.
"""
HOW_TO_READ_RISKS = """
- **Excess population risk**: the expected loss of the answer on fresh data, minus that of the best
  parameter in the constraint set. At 0 nothing is lost.
- **Dotted**: what is left by the starting point, the centre of the constraint set, which needs no
  data and has perfect privacy. A method above it has made things worse.
- A lower bound is a worst case over convex losses and distributions: it binds on the linear loss
  (for strongly convex losses: the squared distance) with the data of the hypercube, not on yours.
"""
HOW_TO_READ_USERS = """
- **Lower bounds at user level**: whoever hides all items of a user hides each of them, so that the
  bounds for single records bind here too, as if every item were a record. The rate at user level
  is larger, but its constant is not known.
- Counts of **item gradients** are bounds on work, not on the excess risk: they are in the table of
  bounds only.
"""
