"""What stands under the figure: views, slopes, words, numbers, bounds, downloads."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpsco_app.pages.explore.comparison import is_tail, label
from dpsco_app.pages.explore.figure import Shown, draw_overlays, side_by_side, together
from dpsco_app.pages.explore.finding import bends, how_to_read, records, signed
from dpsco_app.pages.explore.formulas import draw_formulas
from dpsco_app.pages.explore.presets import PRESETS
from dpsco_app.pages.explore.records_needed import draw_need
from dpsco_app.pages.explore.state import STATE
from dpsco_app.pages.explore.tables import bounds_table, draw_sources, numbers
from dpsco_app.pages.one_run.state import anatomy_query
from dpsco_app.pages.privacy.state import privacy_query
from dpsco_app.parts import export, refusals
from dpsco_app.parts.folding import fold, fold_in_page, fold_words
from dpsco_app.parts.options import SYMBOL, number_text, value_text
from dpsco_app.parts.page import fold_address
from dpsco_app.parts.problem_words import MEAN, hard_problem, is_instance, words_for
from dpsco_app.parts.running import Result
from dpsco_app.parts.shown_bounds import lower_cards
from dpsco_app.shell.places import link_to
from dpsco_core.base.cards import SCO_PROBLEMS, BoundCard
from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import bound, bounds_for, default_methods, method_card, methods_for
from dpsco_core.results.findings import changes, verdict
from dpsco_core.results.tables import POWER_AXES
from dpsco_core.scenario import DEFAULT_GRIDS, Scenario

Start = Callable[[Scenario], None]


def draw_details(drawn: Shown, headline: str, start: Start) -> None:
    result, now = drawn.result, drawn.now
    scenario = result.scenario
    with st.container(horizontal=True, vertical_alignment="bottom", key="view_row"):
        fold(
            "Export",
            lambda: _downloads(drawn, headline),
            "explore_export",
            kind="popover",
            icon=":material/download:",
        )
        fold_address(STATE.address(STATE.current(), scenario), "explore_link")
        draw_overlays(scenario)
        _links(scenario)
    _refusals(result, start)
    left, middle = st.columns([3, 2])
    with left:
        _slopes(result)
    with middle:
        _what_to_look_at(scenario, start)
    fold("Numbers", lambda: _numbers(result), "fold_numbers")
    fold("Bounds at the chosen point", lambda: _bounds(scenario), "fold_bounds")
    whom = "users" if scenario.m > 1 else "records"
    fold(f"How many {whom} do I need?", lambda: draw_need(result), "fold_need")
    fold("Where the curves come from", lambda: draw_sources(result), "fold_sources")
    # Its symbols open their control, elsewhere on the page.
    fold_in_page("Formulas", lambda: draw_formulas(now or scenario), "fold_formulas")
    fold_words("How to read this figure", how_to_read(scenario), "fold_reading")


def _numbers(result: Result) -> None:
    export.show_table(numbers(result))
    if result.beside is not None:
        st.caption(f"{label(result)}:")
        export.show_table(numbers(result.beside))
    error = words_for(result.scenario.problem).error.capitalize()
    text = f"{error} over the trials; parameters are those of the first trial."
    if any(o.error_uncertainty for o in result.outcomes):
        text += (
            " The risk of a parameter is an average over 100,000 fresh records or so; "
            "Evaluation ± is its standard error."
        )
    st.caption(text)


def _bounds(scenario: Scenario) -> None:
    if bounds_for(scenario.problem, scenario.level):
        export.show_table(bounds_table(scenario))
    else:
        st.caption("The catalogue has no bound for this problem yet.")


def _downloads(drawn: Shown, headline: str) -> None:
    """Draw the files of the run, and those of its figure where there is one."""
    result = drawn.result
    export.draw_run_files(result)
    if side_by_side(result):
        return
    setting = "; beside: ".join(export.setting_line(part.scenario) for part in result.parts)
    dark = st.context.theme.type == "dark"
    page = partial(
        export.figure_page,
        headline,
        together(drawn),
        lambda: numbers(result),
        dark=dark,
        setting=setting,
    )
    export.download("HTML: the figure as a page", page, "dpsco-explore.html", width="stretch")
    export.picture_buttons("", headline, key="explore_pictures", setting=setting)


def _links(scenario: Scenario) -> None:
    """Link to one run at the chosen point, and to the ledger of the first private method."""
    if scenario.problem in SCO_PROBLEMS:  # a mean has no path
        link_to(
            "one-run",
            "Take one run apart",
            icon=":material/biotech:",
            help="Its path, its gradients, and the four parts of its error, in the view One run.",
            query=anatomy_query(scenario),
        )
    private = [m for m in scenario.methods if method_card(m).privacy != "none"]
    try:
        query = privacy_query(scenario, private[0]) if private else None
    except InvalidInput:  # a budget that the page Privacy has no control for
        return
    if query is not None:
        link_to(
            "privacy",
            "Where the budget went",
            icon=":material/receipt_long:",
            help=f"The ledger of one run of {method_card(private[0]).name}, on the page Privacy.",
            query=query,
        )


def _refusals(result: Result, start: Start) -> None:
    """Say which methods cannot run, why, and offer the nearest setting that works."""
    scenario = result.scenario
    for i, refusal in enumerate(refusals.measured_refusals(result.outcomes)):
        _refusal(refusal, scenario, start, f"change_{i}")
    others = refusals.other_refusals(scenario)
    if others:
        count = sum(len(refusal.methods) for refusal in others)

        def draw() -> None:
            for i, refusal in enumerate(others):
                _refusal(refusal, scenario, start, f"other_{i}", "Change and add")

        method = f"{words_for(scenario.problem).method}{'s' * (count > 1)}"
        fold_in_page(f"{count} other {method} cannot run", draw, "fold_others")
    said: dict[str, str] = {}
    for o in result.outcomes:
        for note in (*o.flaws, *o.notes):  # those that differ in numbers only are said once
            text = f"{method_card(o.method).name}: {note}"
            said.setdefault(re.sub(r"[-+.\d]+(e[-+]?\d+)?|\binf\b", "#", text), text)
    for text in said.values():
        st.caption(f"⚠ {text}")


def _refusal(
    refusal: refusals.Refusal,
    scenario: Scenario,
    start: Start,
    key: str,
    label: str = "Change that",
) -> None:
    text, button = st.columns([5, 1], vertical_alignment="center")
    text.info(f"**{refusal.names}**: {refusal.reason}")
    instead = dict(refusal.changes).get("method")
    if instead in scenario.methods:  # that is there already: what is left is to do without
        label = "Leave out" if set(refusal.methods) <= set(scenario.methods) else ""
    said = [
        f"Runs {method_card(str(value)).name} instead"
        if field == "method"
        else f"{SYMBOL.get(field, field)} = {value_text(value)}"
        for field, value in refusal.changes
    ]
    if refusal.changes and label:
        button.button(
            label,
            key=key,
            help=", ".join(said),
            on_click=start,
            args=(refusals.changed(scenario, refusal),),
        )


def _slopes(result: Result) -> None:
    scenario = result.scenario
    words = words_for(scenario.problem)
    if scenario.axis is not None and scenario.axis not in POWER_AXES:
        _changes(result)
        return
    law = f": {words.error} ∝ {SYMBOL[scenario.axis]}^slope" if scenario.axis else ""
    st.markdown(f"**Slopes**{law}")
    fitted = result.slopes()
    if fitted.empty:
        st.caption("Slopes need a sweep with at least three points.")
        return
    rows = [_slope_row(scenario, row, "") for row in fitted.itertuples()]
    if result.beside is not None and is_tail(result):
        other = result.beside.scenario
        end = f" at p = {number_text(other.p)}"
        rows += [_slope_row(other, row, end) for row in result.beside.slopes().itertuples()]
    head = f"{words.method.capitalize()} | Fitted | 95 % interval | Predicted | Verdict"
    line = "--- | ---: | ---: | ---: | ---"
    if scenario.axis == "n":
        head, line = f"{head} | Half the error takes", f"{line} | ---"
    st.markdown("\n".join((head, line, *rows)))
    st.caption(
        "Fitted to the mean errors by least squares; predicted: the slope of the method's "
        "published rate over the same points. Consistent: the interval holds the prediction."
    )
    if bent := bends(result):
        st.markdown(f"**Curves that bend**: {bent}.")


def _slope_row(scenario: Scenario, row: Any, end: str) -> str:
    """Return one method's slope, what its rate predicts, and what follows, if anything does."""
    found = verdict(row.low, row.high, row.predicted)
    if found is None:
        said = "the rate is void at these sizes" if row.bound else "no rate is published"
    else:
        grows = scenario.axis == "d"
        said = {
            "consistent": "consistent",
            "steeper": "grows more slowly" if grows else "steeper",
            "shallower": "grows faster" if grows else "shallower",
        }[found]
        why = {"steeper": " (the rate is not tight here)", "shallower": " (the rate fails here)"}
        said += why.get(found, "")
        if scenario.problem != MEAN:
            said += f"; rate for {bound(row.bound).card.loss_class} losses"
    interval = f"{signed(row.low)} to {signed(row.high)}"
    cells = [f"{row.name}{end}", signed(row.fitted), interval, signed(row.predicted), said]
    return " | ".join(cells + ([records(row.fitted)] if scenario.axis == "n" else []))


def _changes(result: Result) -> None:
    """Draw the change from point to point along an exponent: the error is no power of it."""
    symbol, table = SYMBOL[str(result.scenario.axis)], result.table()
    st.markdown(f"**Change of the mean error from each {symbol} to the next**")
    steps = {m: changes(table, m) for m in dict.fromkeys(table["method"])}
    points = sorted({x for found in steps.values() for x, _ in found})
    if not points:
        st.caption("It needs at least two points.")
        return
    names = " | ".join(f"to {number_text(x)}" for x in points)
    head = f"{words_for(result.scenario.problem).method.capitalize()} | {names}"
    rows = []
    for m, found in steps.items():
        factors = {x: f"× {factor:.2f}" for x, factor in found}
        rows.append(" | ".join((method_card(m).name, *(factors.get(x, "") for x in points))))
    st.markdown("\n".join((head, " | ".join(["---", *["---:"] * len(points)]), *rows)))
    st.caption(f"{symbol} is itself an exponent: the error is not a power of it, and has no slope.")


def _what_to_look_at(scenario: Scenario, start: Start) -> None:
    preset = next((p for p in PRESETS if p.scenario == scenario), None)
    st.markdown("**What to notice**")
    if preset is not None:
        st.markdown(preset.look_for)
    binding = lower_cards(scenario.problem, scenario.level)
    if not binding:
        st.markdown(
            "No lower bound here is proven for losses whose gradients are bounded as these are, so "
            "no region is shaded. Those for heavier gradients are in the table of bounds."
        )
        return
    proven_here = [
        card
        for card in binding
        if card.constant == "explicit"
        and is_instance(card, scenario.problem, scenario.distribution)
        and (scenario.problem == MEAN or scenario.geometry == "l2")
    ]
    if proven_here:
        st.markdown(on_hard_data(proven_here[0], scenario.problem))
        return
    below = "A line may run **below** the red lines here."
    if scenario.problem == MEAN:
        label = "Run the hardest input instead"
        st.markdown(
            f"{below} A lower bound is a worst case over all distributions with the same moments; "
            "these data are easier than the worst."
        )
    elif scenario.geometry != "l2":
        label = "Run the hard instance on the ℓ₂ ball"
        st.markdown(
            "The lower bounds are proven on the ℓ₂ ball, and faded here. On another set an "
            "algorithm may do better: where the Gaussian width is small, noise can be projected "
            "away."
        )
    else:
        label = "Run the hard instance instead"
        worst = " and ".join(dict.fromkeys(c.loss_class.curvature for c in binding)) or "all"
        st.markdown(
            f"{below} The lower bounds hold in the worst case over {worst} losses and "
            "distributions with the same moments; this loss on these data is easier than the worst."
        )
    hard = (_hardest(scenario),)
    st.button(label, icon=":material/arrow_forward:", on_click=start, args=hard, key="hardest")


def _hardest(scenario: Scenario) -> Scenario:
    """Return the scenario on the problem, set and data on which the lower bound is proven."""
    problem = hard_problem(scenario.problem)
    if problem != MEAN:
        if scenario.axis == "q":
            scenario = replace(scenario, axis="n", grid=DEFAULT_GRIDS["n"])
        scenario = replace(scenario, geometry="l2", q=None)
    level = refusals.several_items(scenario)
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
