"""The overview of the page Methods: which one to start with, the guide, a table."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from dpsco_app.live.running import run_here
from dpsco_app.pages.methods import words as names
from dpsco_app.pages.methods.state import STATE, View
from dpsco_app.parts.charts import START
from dpsco_app.parts.evaluations import without_data
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.options import separated, short_text
from dpsco_app.parts.page import to_explore
from dpsco_app.parts.point_chart import point_figure
from dpsco_app.parts.problem_words import words_for
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import METHOD_SLUGS, bound, method_card
from dpsco_core.explain.contest import TRIALS
from dpsco_core.explain.methods.guide import Advice, Fit, advice, comparison_point, fitting
from dpsco_core.explain.methods.stories import story
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.cost import machine_speed
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

BY_TEXT = {Scenario: lambda s: str(s.to_query())}
_fits = st.cache_data(max_entries=500, show_spinner=False, hash_funcs=BY_TEXT)(fitting)


def overview(view: View, scenario: Scenario) -> None:
    """Draw the overview: which method to start with at the scenario, then everything else."""
    point = comparison_point(scenario)
    fits = _fits(point)
    # What runs something comes last, so that all the rest is there while it runs.
    measured, rest = st.container(), st.container()
    with rest:
        st.header("How to choose")
        st.markdown(names.guide())
        st.header("All methods, side by side")
        st.toggle(
            "Show those that do not run here too",
            key=STATE.key("every"),
            help="At the settings of the sidebar.",
        )
        st.container(key="methods_table").markdown(comparison(fits, every=view.every))
        st.caption(
            "The rates have constant 1, and some hide logarithms; T is the number of steps. "
            "Smooth: what must be, for the method to run or (where it says so) for its theorem. "
            "The symbols are explained on each method's own page."
        )
    with measured:
        _measured(view, point, fits)


def answer(fits: Sequence[Fit]) -> str:
    """Say how many private methods are made for the case, and how many of them can run."""
    made = [f for f in fits if method_card(f.slug).privacy != "none"]
    runs = [f for f in made if f.runs]
    if not runs:
        why = made[0].refusal if made else ""
        return f"**No private method for this problem can run at these settings.** {why}"
    if len(runs) == len(made):
        return f"All {len(runs)} private methods for this problem can run at these settings."
    return (
        f"{len(runs)} of the {len(made)} private methods for this problem can run at these "
        "settings; the table below says why the others cannot."
    )


def start_with(found: Advice, start: float) -> str:
    """Say which method to start with, and why; `start` is the error without data.

    Where that is the smallest, nobody should start with a private method. Where it is 0 the truth
    was put there (offset 0), and it is no yardstick.
    """
    (best, error), *others = found.ranked
    if 0 < start <= error:
        return f"**Do not use the data here.** {_without_data(found, start)}"
    text = f"Start with **{method_card(best).name}**"
    if not others:
        text += ": it is the only private method that was run here."
    else:
        (second, second_error), *_ = others
        next_one = f"{method_card(second).name} ({short_text(second_error)})"
        text += (
            f", because its mean error at your settings, **{short_text(error)}**, is the smallest "
            f"of the {len(found.ranked)} private methods that were run"
        )
        if found.tied:
            text += f". {TRIALS} runs do not tell it apart from {next_one}."
        elif error > 0:
            text += f": {second_error / error:.2g} times smaller than that of {next_one}."
        else:
            text += f"; next comes {next_one}."
    return text


def _without_data(found: Advice, start: float) -> str:
    """Compare the answer that ignores the data, whose error is the smallest, to the methods."""
    best, error = found.ranked[0]
    count = len(found.ranked)
    which = (
        "the only private method that was"
        if count == 1
        else f"the best of {count} private methods that were"
    )
    which += f" run, **{method_card(best).name}**"
    text = f"Always answering the centre of the set has error **{short_text(start)}**"
    much = f"{error / start:.2g} times smaller than" if error >= 1.05 * start else "no larger than"
    return (
        f"{text}, {much} that of {which} ({short_text(error)}). A private method pays off with "
        "more records, fewer dimensions or a larger budget."
    )


def _measured(view: View, point: Scenario, fits: Sequence[Fit]) -> None:
    """Run every method that is quick a few times, say which is best, and draw the errors."""
    slow = [f for f in fits if f.runs and not f.quick]
    chosen = tuple(f.slug for f in fits if f.quick or (f.runs and view.slow))
    said = st.container(key="methods_said").empty()
    try:
        shown = replace(point, methods=chosen).validate(DASHBOARD)
    except InvalidInput as problem:
        said.error(f"Nothing is measured here. {problem}")
        return
    if chosen:
        outcomes = run_here(shown)
        table = summary(frame(outcomes))
        found = advice(outcomes)
        if found.ranked:
            start = without_data(shown)
            said.markdown(start_with(found, start))
            _draw_errors(shown, outcomes, table, found, start)
    st.markdown(answer(fits))
    if slow:
        seconds = sum(f.seconds for f in slow) * point.trials * machine_speed()
        which = separated([method_card(f.slug).name for f in slow])
        st.toggle(
            f"Measure the slow ones too (about {max(seconds, 1):.0f} s)",
            key=STATE.key("slow"),
            help=f"They are: {which}.",
        )


def _draw_errors(
    shown: Scenario, outcomes: list[Outcome], table: pd.DataFrame, found: Advice, start: float
) -> None:
    """Draw the errors, the smallest first, and a button for each method in the same order."""
    best_first, hidden = tuple(table.sort_values("mean_error")["method"]), exact(table)
    if len(hidden) < len(table):
        ordered = replace(shown, methods=best_first)
        responsive(
            "methods_race",
            race_title(found, start),
            lambda look: point_figure(ordered, outcomes, look, start),
            table=lambda: numbers(shown, table, start),
            setting=setting_line(shown),
        )
    if hidden:
        st.caption(
            f"These find the exact minimiser in every run, a corner of the set, and have no place "
            f"on a logarithmic axis: {', '.join(hidden)}."
        )
    st.caption(
        f"Every point is one run: {shown.trials} of each method, on the same data. At other sizes "
        "other methods lead: Explore sweeps them. Open a method's page:"
    )
    with st.container(horizontal=True, key="methods_open"):
        for slug, _ in found.ranked:
            st.button(
                method_card(slug).name,
                key=f"methods_open_{slug}",
                help=method_card(slug).summary,
                on_click=STATE.change,
                args=({"method": slug},),
            )
    to_explore(shown, "Open this in Explore")


def race_title(found: Advice, start: float) -> str:
    """Return the takeaway of the figure: who has the smallest error, an answer without data too."""
    best, error = found.ranked[0]
    if 0 < start <= error:
        return "An answer without data beats every private method here"
    tie = ", in a tie" * found.tied
    return f"{method_card(best).name} has the smallest measured error of the private methods{tie}"


def exact(table: pd.DataFrame) -> list[str]:
    """Return the names of the methods whose error is 0 in every run."""
    return [method_card(slug).name for slug in table.loc[table["mean_error"] == 0, "method"]]


def numbers(scenario: Scenario, table: pd.DataFrame, start: float) -> pd.DataFrame:
    """Return the mean and median errors by method, best first, and the error without data."""
    error = words_for(scenario.problem).error
    rows = table.sort_values("mean_error")
    columns = {
        "Method": [method_card(slug).name for slug in rows["method"]],
        f"Mean {error}": rows["mean_error"].to_list(),
        f"Median {error}": rows["median_error"].to_list(),
        "Seconds per run": rows["seconds"].to_list(),
    }
    if start > 0:
        for values, value in zip(columns.values(), (START, start, start, 0.0), strict=True):
            values.append(value)
    return pd.DataFrame(columns).sort_values(f"Mean {error}", kind="stable", ignore_index=True)


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
        some = card.problems[0] if len(card.problems) == 1 else "any loss"
        made_for = "the mean" if some == "mean" else some
        norm = "ℓ_q" if card.geometry == "lq" else "ℓ₂"
        lines.append(
            f"| {card.name} | {runs} | {names.NOTIONS[card.privacy]} | {made_for} | {norm} | "
            f"{found.smooth} | {rate} | ${found.order}$ |"
        )
    return "\n".join(lines)
