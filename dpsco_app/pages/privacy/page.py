"""Privacy: what a budget means, where a run spends it, and whether it keeps its word."""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from dpsco_app.figure.values import Figure
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import draw_page
from dpsco_app.pages.privacy import words
from dpsco_app.pages.privacy.attack import (
    attack_figure,
    attack_table,
    said_attack,
    said_readings,
    title_attack,
)
from dpsco_app.pages.privacy.audit import command, run_audit
from dpsco_app.pages.privacy.figures import (
    audit_figure,
    audit_table,
    compared_figure,
    ledger_table,
    samples_figure,
    samples_table,
    shares_figure,
)
from dpsco_app.pages.privacy.state import (
    OPTIONS,
    PARTS,
    PRIVATE_SLUGS,
    STATE,
    View,
    attack_on,
    faults_of,
    ledger_run,
    point_of,
    private_methods,
)
from dpsco_app.parts.drawing import is_phone
from dpsco_app.parts.export import Table
from dpsco_app.parts.page import SliderOptions, draw_parts, sliders, to_explore
from dpsco_app.parts.refusals import on_screen
from dpsco_core.audit.attacks import judge
from dpsco_core.audit.samples import samples
from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import method_card
from dpsco_core.explain.budgets import (
    Point,
    approximate,
    batched,
    composed,
    conversions,
    epsilon_curves,
    release_counts,
    shuffling,
    subsampled,
    subsampling_curve,
)
from dpsco_core.explain.methods.guide import refusal
from dpsco_core.explain.recipe.ledgers import account
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario

SHUFFLED_RECORDS = (10, 32, 100, 316, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000)
# The columns of wide tables that are shown.
COLUMNS = {
    "ledger": ("Released", "Times", "Mechanism", "Sensitivity", "Noise scale", "ρ each", "Share %"),
    "audit": (
        "Runs",
        "ε is at least",
        "Record against",
        "Tested runs on each",
        "Hits",
        "False hits",
    ),
}
# The sliders that the parts need besides the scenario's budget: label, values and help text.
SLIDER_OPTIONS: dict[str, SliderOptions] = {
    "read_at": ("Read ε at δ (delta)", OPTIONS["read_at"], None),
    "records": ("Records", OPTIONS["records"], None),
    "batch": ("Records in the batch", OPTIONS["batch"], None),
    "releases": ("Releases k", OPTIONS["releases"], None),
    "claim": ("Claimed ε (epsilon)", OPTIONS["claim"], None),
    "at": ("at δ (delta)", OPTIONS["at"], "Of a method that is pure, δ = 0 is audited."),
    "runs": ("Runs", OPTIONS["runs"], "Half of them on each neighbour."),
}
SLIDERS: dict[str, tuple[str, ...]] = {
    "convert": (),
    "compose": ("releases",),
    "shuffle": ("records",),
    "subsample": ("records", "batch", "releases"),
}
cache_result = partial(
    st.cache_data,
    max_entries=200,
    show_spinner=False,
    hash_funcs={Point: repr, Scenario: lambda s: s.to_json()},
)
_curves, _composed, _shuffled, _batches, _account = (
    cache_result()(f) for f in (epsilon_curves, composed, shuffling, subsampling_curve, account)
)


def _show(screen: FirstScreen, view: View, figure: Figure, text: str, table: Table | None) -> None:
    """Show a figure, its answer and its table under the question of the page's part."""
    screen.show(words.QUESTIONS[view.part], figure, text, table, columns=COLUMNS.get(view.part, ()))


# -- the calculator -----------------------------------------------------------------------------


def _draw_tool(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the tool of the calculator that is open, with its sliders, at the scenario's budget."""
    point = point_of(view, scenario)
    names = ["read_at"] * (point.kind != "approx") + list(SLIDERS[view.part])
    with screen.controls:
        sliders(STATE, st.columns(4), {name: SLIDER_OPTIONS[name] for name in names})
    figure, text = TOOLS[view.part](view, point)
    _show(screen, view, figure, text, None)
    if view.part == "convert":
        neighbours = f"{words.ABOUT_NEIGHBOURS}\n\n{words.said_neighbours(point)}"
        st.markdown(f"{words.said_odds(point)}\n\n{neighbours}")


def _conversion_figure(_: View, point: Point) -> tuple[Figure, str]:
    """Return the figure of the conversions between zCDP and (epsilon, delta), and its note."""
    converted = conversions(point)
    rhos = [c.rho for c in converted]
    curves, names = _curves(point.delta, min(rhos) / 10, 10 * max(rhos)), words.CONVERSION_NAMES
    figure = compared_figure(
        {name: (curves.rho, getattr(curves, key)) for key, name in names.items()},
        {names[c.name]: (c.rho, c.epsilon) for c in converted},
        ("zCDP parameter ρ", "ε at the chosen δ"),
        words.title_conversions(point, converted),
        column="ρ" if point.kind == "approx" else "ε",
        shows_x=point.kind == "approx",
    )
    return figure, words.said_noise(point, converted)


def _composition_figure(view: View, point: Point) -> tuple[Figure, str]:
    """Return the figure of the cost of k releases, and no note."""
    composition, counts = composed(point, view.releases), release_counts(max(1000, view.releases))
    names = words.PURE_NAMES if point.kind == "pure" else words.ACCOUNTING_NAMES
    rows = [_composed(point, k) for k in counts]
    figure = compared_figure(
        {name: (counts, [getattr(row, key) for row in rows]) for key, name in names.items()},
        {name: (composition.releases, getattr(composition, key)) for key, name in names.items()},
        ("Releases k", "ε of all of them"),
        words.title_composed(composition),
    )
    return figure, ""


def _shuffling_figure(view: View, point: Point) -> tuple[Figure, str]:
    """Return the figure of the noise that shuffled records need, and no note."""
    point = approximate(point)
    rows = [_shuffled(n, point.epsilon, point.delta) for n in SHUFFLED_RECORDS]
    routes = _shuffled(view.records, point.epsilon, point.delta)
    names = words.ROUTE_NAMES.values()
    figure = compared_figure(
        {
            name: (SHUFFLED_RECORDS, [row[i].noise_multiplier for row in rows])
            for i, name in enumerate(names)
        },
        {name: (view.records, routes[i].noise_multiplier) for i, name in enumerate(names)},
        ("Shuffled records", "Noise over sensitivity"),
        words.title_shuffled(view.records, routes),
        column="noise",
    )
    return figure, ""


def _subsampling_figure(view: View, point: Point) -> tuple[Figure, str]:
    """Return the figure of what a secret batch saves, and its note."""
    point = approximate(point)
    budget, batch = (point.epsilon, point.delta), (view.batch, view.records)
    single, epsilon_of_all = subsampled(*budget, *batch), batched(*budget, *batch, view.releases)
    sizes, exact, linear, composed_values = _batches(*budget, view.records, view.releases)
    single_name, all_of_them = (
        "one release on a secret batch",
        f"{view.releases:,} Gaussian releases",
    )
    quoted, linear_value = "linear bound q(exp ε − 1)", float(np.interp(view.batch, sizes, linear))
    figure = compared_figure(
        {
            all_of_them: (sizes, composed_values),
            quoted: (sizes, linear),
            single_name: (sizes, exact),
        },
        {
            all_of_them: (view.batch, epsilon_of_all),
            quoted: (view.batch, linear_value),
            single_name: (view.batch, single.epsilon),
        },
        ("Records in the batch", "ε"),
        words.title_subsampled(view, point.epsilon, single, epsilon_of_all),
    )
    return figure, words.said_subsampled(
        view, single, (epsilon_of_all, point.delta), composed(point, view.releases).exact
    )


TOOLS = {
    "convert": _conversion_figure,
    "compose": _composition_figure,
    "shuffle": _shuffling_figure,
    "subsample": _subsampling_figure,
}

# -- a run's ledger, and the audit --------------------------------------------------------------


def _draw_ledger(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Run a private method once and draw how its releases share the budget."""
    offered = private_methods(scenario)
    if not offered:
        raise InvalidInput("The scenario has no private algorithm: choose one.")
    running = [m for m in offered if refusal(canonical(ledger_run(scenario, m)), m) is None]
    method = view.method if view.method in offered else (running or offered)[-1]
    if len(offered) > 1:
        key = STATE.key("method")
        st.session_state[key] = method
        with screen.controls:
            st.selectbox("Algorithm", offered, format_func=_name, key=key, width=360)
    run = ledger_run(scenario, method)
    books = _account(run)
    if books.outcome.not_applicable is not None:
        screen.say(
            words.QUESTIONS[view.part],
            f"{_name(method)} cannot run here",
            on_screen(books.outcome.not_applicable),
        )
        return
    figure = shares_figure(books.spendings, method, words.title_ledger(books))
    _show(screen, view, figure, words.said_ledger(books), lambda: ledger_table(books.spendings))
    st.markdown(words.said_odds(point_of(view, scenario)))
    for note in books.outcome.notes:
        st.caption(note)
    to_explore(replace(run, trials=5), "Open this run in Explore")


def _draw_audit(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the audit of the chosen mechanism: its controls, findings, histogram and command."""
    with screen.controls:
        left, middle, right = st.columns([3, 5, 6])
    # On a phone the figure comes before these controls.
    with screen.foot if is_phone() else right:
        rest = st.columns(3)
    left.selectbox("Mechanism", PRIVATE_SLUGS, format_func=_name, key=STATE.key("audited"))
    with middle:
        names = {fault: words.FAULT_NAMES[fault] for fault in faults_of(view)}
        draw_parts(names, STATE.key("fault"), "Break it", label_visibility="visible")
    sliders(STATE, rest, {name: SLIDER_OPTIONS[name] for name in ("claim", "at", "runs")})
    task = view.audit(scenario.seed)
    findings = run_audit(task, screen.foot)
    if findings is None:
        screen.say(words.QUESTIONS["audit"], "This audit has not been run")
        return
    judged = judge(findings, task.confidence)
    figure = audit_figure(task, findings, words.title_audit(judged))
    _show(screen, view, figure, words.said_audit(task, judged), lambda: audit_table(findings))
    fault = f"**{words.FAULT_NAMES[view.fault]}.** {words.ABOUT_FAULT[view.fault]}"
    st.markdown(
        f"{fault} The neighbours: {findings.neighbours}. "
        f"{words.WHY_DELTA if findings.delta else ''}"
    )
    for flaw in dict.fromkeys(findings.flaws):
        st.markdown(f"**By its own ledger the claim does not hold.** {sentence(flaw)}")
    if findings.booked:
        st.markdown(f"**Its ledger gives the record away.** {sentence(findings.booked)}")
    drawn_samples = samples(findings)
    histogram = samples_figure(drawn_samples, words.title_histogram(findings))
    FirstScreen("privacy_samples").show_below(histogram, lambda: samples_table(drawn_samples))
    st.markdown("The same audit from the command line:")
    st.code(command(task), language=None, wrap_lines=True)


def _draw_attack(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the attack of an audit at the scenario's budget, and what the claim allows."""
    with screen.controls:
        left, middle, right = st.columns([3, 5, 6])
    left.selectbox("Mechanism", PRIVATE_SLUGS, format_func=_name, key=STATE.key("audited"))
    with middle:
        names = {fault: words.FAULT_NAMES[fault] for fault in faults_of(view)}
        draw_parts(names, STATE.key("fault"), "Break it", label_visibility="visible")
    with screen.foot if is_phone() else right:
        sliders(STATE, st.columns(3), {"runs": SLIDER_OPTIONS["runs"]})
    task = attack_on(view, scenario)
    findings = run_audit(task, screen.foot)
    if findings is None:
        screen.say(words.QUESTIONS["attack"], "This attack has not been run")
        return
    judged = judge(findings, task.confidence)
    curve, achieved = judged.curve, judged.attack
    figure = attack_figure(curve, achieved, view.audited, title_attack(judged))
    fault = "" if view.fault == "none" else words.FAULT_NAMES[view.fault]
    text = said_attack(achieved, view.audited, fault)
    _show(screen, view, figure, text, lambda: attack_table(curve, achieved))
    st.markdown(said_readings(curve, point_of(view, scenario).delta))
    st.markdown("The same attack from the command line:")
    st.code(command(task), language=None, wrap_lines=True)


def sentence(text: str) -> str:
    """Return a text as a sentence, with a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def _name(slug: str) -> str:
    """Return the name of the method with a slug."""
    return method_card(slug).name


DRAW = dict.fromkeys(TOOLS, _draw_tool) | {
    "ledger": _draw_ledger,
    "attack": _draw_attack,
    "audit": _draw_audit,
}


def page() -> None:
    """Draw the page on privacy: ledger, attacker's curve, calculator and audit."""
    texts, symbols = words.PART_TEXTS, words.HOW_TO_READ
    draw_page(STATE, DRAW, words.QUESTIONS, names=PARTS, texts=texts, symbols=symbols)
