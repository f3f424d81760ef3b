"""The overview of the page Methods: five questions, a measured figure, a table, the guide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from dpsco_app.pages.explore.point_chart import point_figure
from dpsco_app.pages.methods import words as names
from dpsco_app.pages.methods.state import MEAN, STATE, View
from dpsco_app.parts import words
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.page import to_explore
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.running import Pace, cached_cell, evaluations
from dpsco_app.parts.shown_bounds import floors
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import METHOD_SLUGS, PROBLEM_SLUGS, bound, method_card
from dpsco_core.explain.methods.guide import (
    BUDGETS,
    HOLDERS,
    SETS,
    TAILS,
    Fit,
    Questions,
    fitting,
    private,
)
from dpsco_core.explain.methods.stories import story
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.cost import machine_speed
from dpsco_core.runs.study import Outcome, cells
from dpsco_core.scenario import Scenario


def overview(view: View) -> None:
    """Draw the overview."""
    st.markdown(names.INTRODUCTION)
    st.header("Which algorithm when: five questions")
    _questions(view)
    scenario = view.questions.scenario
    fits = fits_of(view.questions)
    with st.container(key="methods_said"):
        st.markdown(answer(fits))
    _open_buttons(private(fits))
    # What runs something comes last, so that all the rest is there while it runs.
    measured, rest = st.container(), st.container()
    with rest:
        _table(view, fits)
        st.header("The same in words")
        st.markdown(names.GUIDE)
    with measured:
        _measured(view, scenario, fits)


@st.cache_data(max_entries=500, show_spinner=False, hash_funcs={Questions: repr})
def fits_of(questions: Questions) -> tuple[Fit, ...]:
    """Return which methods run where these questions lead; kept for later reruns."""
    return fitting(questions.scenario)


def answer(fits: Sequence[Fit]) -> str:
    """Say how many private methods are made for the case, and how many of them run."""
    made = [f for f in fits if method_card(f.slug).privacy != "none"]
    runs = [f for f in made if f.runs]
    if not runs:
        why = made[0].refusal if made else ""
        return f"**No private method runs here.** For example: {why}"
    if len(runs) == len(made):
        return f"**All {len(runs)} private methods** that are made for this run here. Open one:"
    return (
        f"**{len(runs)} of {len(made)} private methods** that are made for this run here; the "
        "table below says why the others do not. Open one:"
    )


def _questions(view: View) -> None:
    with st.container(key="methods_questions"):
        left, right = st.columns(2)
        with left:
            st.selectbox(
                "1. What do you estimate?",
                PROBLEM_SLUGS,
                format_func=lambda slug: names.PROBLEM_NAMES[slug],
                key=STATE.key("problem"),
            )
            st.segmented_control(
                "2. What is known of the data?",
                TAILS,
                format_func=lambda key: names.TAIL_NAMES[key],
                key=STATE.key("tails"),
                required=True,
                help="Student's t with just over 2 or 4 moments, or the Gaussian law.",
            )
            st.segmented_control(
                "3. Which budget?",
                BUDGETS,
                format_func=lambda key: names.BUDGET_NAMES[key],
                key=STATE.key("budget"),
                required=True,
                help="$\\varepsilon=1$ with $\\delta=10^{-6}$, or $\\rho=0.05$, or "
                "$\\varepsilon=1$ with $\\delta=0$.",
            )
        with right:
            st.segmented_control(
                "4. Which set holds the answer?",
                SETS,
                format_func=lambda key: names.SET_NAMES[key],
                key=STATE.key("geometry"),
                required=True,
                help="Of diameter 4 in its own norm.",
            )
            st.segmented_control(
                "5. Whose data is protected?",
                HOLDERS,
                format_func=lambda key: names.HOLDER_NAMES[key],
                key=STATE.key("holder"),
                required=True,
                disabled=view.problem == MEAN,
                help="2,000 records in dimension 5, or 10,000 users with 10 records each. The "
                "mean estimators know single records only.",
            )


def _open_buttons(fits: Sequence[Fit]) -> None:
    with st.container(horizontal=True, key="methods_open"):
        for fit in fits:
            st.button(
                method_card(fit.slug).name,
                key=f"methods_open_{fit.slug}",
                help=method_card(fit.slug).summary,
                on_click=STATE.change,
                args=({"method": fit.slug},),
            )


def _measured(view: View, scenario: Scenario, fits: Sequence[Fit]) -> None:
    """Run every method that is quick, three times, and draw its errors."""
    st.header("Measured here")
    slow = [f for f in fits if f.runs and not f.quick]
    seconds = sum(f.seconds for f in slow) * scenario.trials * machine_speed()
    if slow:
        which = ", ".join(method_card(f.slug).name for f in slow)
        st.toggle(
            f"Measure the slow ones too (about {max(seconds, 1):.0f} s)",
            key=STATE.key("slow"),
            help=f"They are: {which}.",
        )
    chosen = tuple(f.slug for f in fits if f.quick or (f.runs and view.slow))
    if not chosen:
        st.info("Nothing to measure: no method runs here quickly.")
        return
    shown = replace(scenario, methods=chosen).validate(DASHBOARD)
    outcomes = _outcomes(shown)
    lower = evaluations(shown, floors(shown.problem, shown.level))
    table = summary(frame(outcomes))
    hidden = exact(table)
    if hidden:
        st.caption(
            f"These find the exact minimiser in every run, a corner of the set, and have no place "
            f"on a logarithmic axis: {', '.join(hidden)}."
        )
    if len(hidden) == len(table):
        return
    said = words.state(shown, table, lower, {o.method: o.bound_by for o in outcomes})
    responsive(
        "methods_race",
        said.headline,
        lambda look: point_figure(shown, outcomes, [], look),
        table=lambda: numbers(shown, table),
    )
    with st.container(key="methods_race_said"):
        st.markdown(said.sentence)
    st.caption(
        f"Every point is one run: {shown.trials} of each method, on the same data. n = "
        f"{shown.n:,}, d = {shown.d}" + (f", m = {shown.m}" if shown.m > 1 else "") + ". At other "
        "sizes other methods lead: Explore sweeps them."
    )
    to_explore(shown, "Open this in Explore")


def _outcomes(scenario: Scenario) -> list[Outcome]:
    place, pace = st.empty(), Pace(0.3)
    found: list[Outcome] = []
    for done, cell in enumerate(cells(scenario), start=1):
        found.append(cached_cell(cell))
        if pace.due():
            place.progress(done / scenario.cells, f"{done} of {scenario.cells} runs")
    place.empty()
    return found


def exact(table: pd.DataFrame) -> list[str]:
    """Return the names of the methods whose error is 0 in every run."""
    return [method_card(slug).name for slug in table.loc[table["mean_error"] == 0, "method"]]


def numbers(scenario: Scenario, table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean and median errors by method, best first."""
    error = words_for(scenario.problem).error
    rows = table.sort_values("mean_error")
    return pd.DataFrame(
        {
            "Method": [method_card(slug).name for slug in rows["method"]],
            f"Mean {error}": rows["mean_error"].to_list(),
            f"Median {error}": rows["median_error"].to_list(),
            "Seconds a run": rows["seconds"].to_list(),
        }
    )


def _table(view: View, fits: Sequence[Fit]) -> None:
    st.header("All methods, side by side")
    st.toggle(
        "Show those that do not run here too",
        key=STATE.key("every"),
        help="Here: where your answers to the five questions lead.",
    )
    with st.container(key="methods_table"):
        st.markdown(comparison(fits, every=view.every))
    st.caption(
        "The rates have constant 1, and some hide logarithms; T is the number of steps. Smooth: "
        "what must be, for the method to run or (where it says so) for its theorem. The symbols "
        "are explained on each method's own page."
    )


def comparison(fits: Sequence[Fit], *, every: bool) -> str:
    """Return the table of methods as Markdown; without `every` only of those that run."""
    here = {f.slug: f for f in fits}
    lines = [
        "| Method | Runs here? | Privacy | For | Norm | Must be smooth | Rate | Time |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for slug in METHOD_SLUGS:
        found, card, fit = story(slug), method_card(slug), here.get(slug)
        if not every and (fit is None or not fit.runs):
            continue
        runs = "another kind of problem" if fit is None else "**yes**" if fit.runs else fit.refusal
        rate = names.in_table(bound(card.rate).card.latex) if card.rate else "-"
        norm = "ℓ_q" if card.geometry == "lq" else "ℓ₂"
        lines.append(
            f"| {card.name} | {runs} | {names.NOTIONS[card.privacy]} | "
            f"{names.problems_text(card)} | {norm} | {found.smooth} | {rate} | "
            f"${found.order}$ |"
        )
    return "\n".join(lines)
