"""Methods: which one to start with at the visit's scenario, and all of them in a table."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from dpsco_app.figure.methods import colour_of, short_names, symbol_of
from dpsco_app.figure.values import Axis, Figure, Ladder, Line, Panel
from dpsco_app.pages.first_screen import SIZE, FirstScreen
from dpsco_app.pages.methods import words
from dpsco_app.pages.methods.state import STATE
from dpsco_app.parts.drawing import is_phone
from dpsco_app.parts.evaluations import without_data
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.options import SYMBOL, number_text, rounded, separated_names, short_text
from dpsco_app.parts.page import to_explore
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.simple_figures import ladder_row, log_axis, upright_line
from dpsco_app.runs.running import run_here
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import METHOD_SLUGS, default_methods, method_card
from dpsco_core.explain.contest import TRIALS
from dpsco_core.explain.methods.guide import Advice, Fit, advice, comparison_point, fitting
from dpsco_core.results.tables import frame
from dpsco_core.runs.allowed import nearest_allowed
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

QUESTION = "Which method should you start with?"
ALL = "Which methods are there, and which of them can run here?"
START = "Without data, on these data"
# The largest number of letters of a row's name on a phone, where its mean follows.
MOST_LETTERS = 36
MOST_NAMED = 3  # The largest number of methods named in a sentence.
# The height of a row in pixels, with its marks below its name and beside it.
PHONE_ROW, WIDE_ROW = 42, 29


# -- which one --


def draw_which_part(screen: FirstScreen, scenario: Scenario) -> None:
    """Draw which method to start with, measured by a few runs of each quick one, and a guide."""
    point, fewer = small_enough(comparison_point(scenario))
    fits = fitting(point)
    # The runs come last, so that the rest of the page is already drawn.
    measured, rest = st.container(), st.container()
    with rest:
        st.header("How to choose")
        st.markdown(words.guide())
    with measured:
        _draw_measured(screen, point, fits, fewer)


def small_enough(point: Scenario) -> tuple[Scenario, str]:
    """Return the point, or the nearest one that the dashboard runs, and the change in words."""
    change = nearest_allowed(replace(point, methods=()), DASHBOARD)
    if change is None:
        return point, ""
    field, value = change
    letter, value_text = SYMBOL[field], number_text(getattr(point, field))
    return replace(point, **{field: value}), (
        f"Measured at {letter} = {number_text(value)}: your {letter} = {value_text} is too large "
        "to be run here."
    )


def _draw_measured(screen: FirstScreen, point: Scenario, fits: Sequence[Fit], fewer: str) -> None:
    """Run the quick methods, draw their errors, and name the method to start with.

    `fewer` says in words how the point was made smaller to be run; it may be empty.
    """
    chosen = tuple(f.slug for f in fits if f.quick)
    shown_point = replace(point, methods=chosen)
    outcomes = run_here(shown_point) if chosen else []
    start, usual = (
        without_data(shown_point),
        default_methods(shown_point.problem, shown_point.level),
    )
    advised = advice(outcomes, usual, start)
    if not advised.ranked:
        screen.say(QUESTION, answer(fits), f"{fewer} {slow_ones(fits)}")
        return
    figure = race_figure(shown_point, outcomes, start, advised.choice, start_with(advised, start))
    shown_rows = [row.key for row in figure.ladder.rows]
    if is_phone():
        figure = with_names_above(figure)
    screen.say(QUESTION, figure.alt, f"{fewer} {reason_for(advised, start)} {slow_ones(fits)}")
    phone = {"left": 16, "height": 90 + PHONE_ROW * len(shown_rows)}
    screen.draw(figure, phone=phone, height=max(SIZE["height"], 90 + WIDE_ROW * len(shown_rows)))
    screen.draw_files(figure, lambda: frame(outcomes), setting=setting_line(shown_point))
    hidden = [method_card(m).name for m in chosen if m not in shown_rows]
    if hidden:
        screen.foot.caption(
            "These find the exact minimiser in every run, a corner of the set, and have no place "
            f"on a logarithmic axis: {', '.join(hidden)}."
        )
    with st.container(horizontal=True, vertical_alignment="center", key="methods_open"):
        st.button(
            f"About {method_card(advised.choice).name}",
            key=f"methods_open_{advised.choice}",
            on_click=STATE.change,
            args=({"method": advised.choice},),
        )
        to_explore(shown_point, "Open this in Explore")


def start_with(advised: Advice, start: float) -> str:
    """Return which method to start with; `start` is the error of an answer without data.

    If `start` is the smallest error, no private method is worth running. If it is 0, the truth was
    placed at that answer (offset 0), and no method can be compared with it.
    """
    if 0 < start <= advised.ranked[0][1]:
        return "Do not use the data here: always answering the centre of the set is better"
    reason = "it has the smallest measured error of the private methods"
    if len(advised.unbeaten) > 1:
        reason = f"no private method is measurably better in {TRIALS} runs"
    return f"Start with {method_card(advised.choice).name}: {reason}"


def reason_for(advised: Advice, start: float) -> str:
    """Return a sentence with the errors that are the reason for the advice.

    `start` is the error of an answer without data.
    """
    errors = dict(advised.ranked)
    names_with_error = {
        m: f"{method_card(m).name} ({short_text(error)})" for m, error in errors.items()
    }
    best, *rest = errors
    if 0 < start <= errors[best]:
        factor = errors[best] / start
        ratio_text = (
            f"{short_text(factor, 2)} times smaller than" if factor >= 1.05 else "no larger than"
        )
        return (
            f"That answer has error {short_text(start)}, {ratio_text} the error of "
            f"{names_with_error[best]}, the best of {len(errors)} private methods that were run. A "
            "private method pays off with more records, fewer dimensions or a larger budget."
        )
    if not rest:
        return "It is the only private method that was run here."
    mean_error = f"Mean error {short_text(errors[advised.choice])}"
    smallest = f"{mean_error}, the smallest of {len(errors)} private methods"
    if len(advised.unbeaten) > 1:
        same = [names_with_error[m] for m in advised.unbeaten if m != advised.choice]
        level = separated_names(same) if len(same) <= MOST_NAMED else f"{len(same)} others"
        is_usual = advised.choice != best
        usual = " Among equals, this page names the one whose curve Explore draws." * is_usual
        opening = mean_error if is_usual else smallest
        return f"{opening}; {TRIALS} runs do not tell it apart from {level}.{usual}"
    ratio = errors[rest[0]] / (errors[best] or math.nan)
    times = (
        "; next comes"
        if math.isnan(ratio)
        else f", {short_text(ratio, 2)} times smaller than that of"
    )
    return f"{smallest}{times} {names_with_error[rest[0]]}."


def slow_ones(fits: Sequence[Fit]) -> str:
    """Return the sentence on methods that take too long to run here; empty if there are none."""
    slow = [method_card(f.slug).name for f in fits if f.runs and not f.quick]
    return f"Not run here, as they take longer: {separated_names(slow)}." if slow else ""


def race_figure(
    point: Scenario, outcomes: Sequence[Outcome], start: float, best: str, alt: str
) -> Figure:
    """Return the figure of the methods' errors, a row for each, with the smallest mean on top.

    Each run is a mark and the mean is a stroke. `start` is the error of an answer without data, and
    `best` the slug of the method whose row is bold.
    """
    table = frame(outcomes)
    groups = table[table["error"] > 0].groupby("method")["error"]
    errors = {str(method): [float(error) for error in group] for method, group in groups}
    means = {method: sum(values) / len(values) for method, values in errors.items()}
    ordered = sorted(means, key=means.__getitem__, reverse=True)
    trial_rows = [trials_row(m, i, errors[m], means[m]) for i, m in enumerate(ordered, start=1)]
    lines, strokes = [line for row in trial_rows for line in row], [row[0] for row in trial_rows]
    values_on_axis = [x for line in lines for x in line.x]
    if start > 0:
        lines.append(replace(upright_line(start, 0, len(ordered) + 0.5, START), away=(-9, 9)))
        values_on_axis.append(start)
    names = row_names(ordered)
    rows = [
        replace(
            ladder_row(line, rounded(means[line.key]), rank, bold=line.key == best),
            name=names[line.key],
        )
        for rank, line in enumerate(strokes, start=1)
    ]
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis(
                    words_for(point.problem).error_axis.removesuffix(" (log)"),
                    min(values_on_axis) / 1.2,
                    max(values_on_axis) * 1.4,
                ),
                lines=lines,
            )
        ],
        y=Axis(title="", low=0, high=len(ordered) + 0.6, ticks=(), log=False),
        ladder=Ladder(title=f"{TRIALS} runs on the same data", columns=["mean"], rows=rows),
        alt=alt,
    )


def row_names(methods: Sequence[str]) -> dict[str, str]:
    """Return the names of the rows; a name that a phone would cut off is shortened."""
    names = {method: method_card(method).name for method in methods}
    short = short_names(methods)
    return {m: name if len(name) <= MOST_LETTERS else short[m] for m, name in names.items()}


def with_names_above(figure: Figure) -> Figure:
    """Return the figure with names and means above its rows instead of in a ladder."""
    (panel,) = figure.panels
    names = [
        Line(
            key=row.key,
            name="",
            x=[panel.x.low],
            y=[row.end + 0.5],
            colour=row.colour,
            width=0,
            label=f"{row.name} {row.values[0]}",
            away=(1, 0),
        )
        for row in figure.ladder.rows
    ]
    return replace(
        figure,
        panels=[
            replace(
                panel,
                about=f"{figure.ladder.title}, and their mean",
                lines=[*panel.lines, *names],
            )
        ],
        y=replace(figure.y, high=figure.y.high + 0.4),
        ladder=replace(figure.ladder, rows=[]),
    )


def trials_row(method: str, rank: int, errors: Sequence[float], mean: float) -> list[Line]:
    """Return a row of a figure of trials: their mean as a stroke, and each of them as a mark."""
    name, colour = method_card(method).name, colour_of(method)
    stroke = Line(
        key=method, name=name, x=[mean] * 2, y=[rank - 0.3, rank + 0.3], colour=colour, width=3
    )
    marks = Line(
        key=method,
        name=name,
        x=errors,
        y=[rank] * len(errors),
        colour=colour,
        width=0,
        symbol=symbol_of(method),
        size=8,
        opacity=0.7,
        hover=[f"{name}: {rounded(error)}" for error in errors],
    )
    return [stroke, marks]


def answer(fits: Sequence[Fit]) -> str:
    """Return the sentence on how many of the problem's private methods can run."""
    private_methods = [f for f in fits if method_card(f.slug).privacy != "none"]
    runs = [f for f in private_methods if f.runs]
    if not runs:
        return "No private method for this problem can run at these settings"
    if len(runs) == len(private_methods):
        return f"All {len(runs)} private methods for this problem can run at these settings"
    return (
        f"{len(runs)} of the {len(private_methods)} private methods for this problem can run here"
    )


# -- all of them --


def draw_all_part(screen: FirstScreen, scenario: Scenario) -> None:
    """Draw the table of all methods, and above it how many can run at the scenario."""
    fits = {fit.slug: fit for fit in fitting(comparison_point(scenario))}
    screen.say(
        ALL,
        answer(list(fits.values())),
        "Choose a method to read about it. “Other” is made for another problem.",
    )
    slugs = in_order(fits)
    table = comparison(slugs, fits)
    st.dataframe(
        table[["Method", "Runs here"]] if is_phone() else table,
        hide_index=True,
        width="stretch",
        height=38 + 35 * len(slugs),
    )


def in_order(fits: Mapping[str, Fit]) -> list[str]:
    """Return the slugs of all methods: first those that run here, then others for the problem.

    Methods for other problems, which have no entry in `fits`, come last.
    """
    return sorted(METHOD_SLUGS, key=lambda m: (m not in fits, m in fits and not fits[m].runs))


def comparison(slugs: Sequence[str], fits: Mapping[str, Fit]) -> pd.DataFrame:
    """Return the table that compares methods by their cards."""
    cards = [method_card(slug) for slug in slugs]
    runs = {True: "yes", False: "no", None: "other"}
    return pd.DataFrame(
        {
            "Method": [card.name for card in cards],
            "Runs here": [runs[fits[m].runs if m in fits else None] for m in slugs],
            "Kind": [words.family(slug) for slug in slugs],
            "Privacy": [words.NOTIONS[card.privacy] for card in cards],
        }
    )
