"""The page of a method: its story, proof, cost, bounds and code, and links to where it runs."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dpsco_app.figure.colours import ACCENT, INK, METHODS, QUIET, Pair
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.methods import words as names
from dpsco_app.pages.methods.recipe import draw_recipe
from dpsco_app.pages.methods.state import STATE, one_run_query, with_method
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.folding import fold
from dpsco_app.parts.formulas import formula_markdown
from dpsco_app.parts.options import in_print
from dpsco_app.parts.page import draw_differences, to_explore
from dpsco_app.parts.themes import is_dark
from dpsco_app.shell.places import link_to
from dpsco_core.base.cards import Level
from dpsco_core.catalogue import BOUNDS, method_card, method_class
from dpsco_core.explain.errata import errata_of
from dpsco_core.explain.methods.guide import comparison_point, nearest, refusal
from dpsco_core.explain.methods.source import plan_source, release_source
from dpsco_core.explain.methods.stories import story
from dpsco_core.explain.methods.work import Work, work
from dpsco_core.methods.form import form_of
from dpsco_core.methods.story import Story
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario


def draw_method(screen: FirstScreen, slug: str, scenario: Scenario) -> None:
    """Draw the page of one method at a scenario, or at the nearest one where it runs."""
    runnable = nearest(scenario, slug)
    point = replace(runnable, methods=(slug,), axis=None, grid=(), trials=1)
    card, method_story = method_card(slug), story(slug)
    st.html(code_style())
    source = f"{card.paper}, {card.statement}" if card.paper.year else "Classical"
    screen.say(
        f"{card.name}: how does it work?",
        card.summary,
        f"{source} · {names.NOTIONS[card.privacy]} · {slug}",
    )
    form = form_of(method_class(slug), point.calibration, point.tuning)
    st.markdown(method_story.what if form is None else f"{method_story.what}\n\n{form.text}")
    with st.container(horizontal=True, key="methods_links"):
        to_explore(with_method(scenario, slug), "See it in Explore")
        if query := one_run_query(scenario, slug):
            link_to("one-run", "Take a run apart", query)
        link_to("bounds", "Its place in the tables of the papers")
    usual_point = comparison_point(scenario)
    refused = refusal(usual_point, slug) if slug in usual_point.methods else None
    reason = "." if refused is None else f": {in_print(refused.reason)}"
    remark = f"At your settings {card.name} cannot run{reason}"
    draw_differences(STATE, runnable, remark, "nearest")
    left, right = st.columns(2, gap="large")
    with left:
        st.header("Its steps")
        st.markdown(numbered_list(method_story.steps))
        st.header("When to choose it, and what goes wrong")
        st.markdown(f"{method_story.when}\n\n{listed(method_story.pitfalls)}")
        st.header("What it assumes")
        st.markdown(listed(method_story.assumptions))
    with right:
        st.header("Why it is private")
        _draw_proof(method_story, card.level)
        st.header("What it costs")
        st.markdown(f"{method_story.cost} Time: ${method_story.order}$.")
        st.markdown(cost_sentence(point, work(point, slug)))
    st.header("What is proven of its error")
    _draw_bounds(slug, point)
    if method_story.privacy is not None:
        label = "What to set: radius, steps, noise"
        fold(label, lambda: draw_recipe(point, slug), f"{slug}_fold_recipe")
    fold("Known flaws in the paper", lambda: _draw_errata(method_story, slug), f"{slug}_fold_flaws")
    fold("The code that runs it", lambda: _draw_code(slug), f"{slug}_fold_code")


def _draw_errata(method_story: Story, slug: str) -> None:
    """Draw the errors in the paper of the method, with a link to each erratum."""
    st.markdown(
        listed(method_story.errata) if method_story.errata else "None that concern its calibration."
    )
    with st.container(horizontal=True, key="methods_errata"):
        for entry in errata_of(slug):
            link_to("errata", names.topic(entry), {"erratum": entry.slug})


def numbered_list(sentences: Sequence[str]) -> str:
    """Return sentences as a numbered list in Markdown."""
    return "\n".join(f"{i}. {text}" for i, text in enumerate(sentences, start=1))


def listed(sentences: Sequence[str]) -> str:
    """Return sentences as a list with bullets in Markdown."""
    return "\n".join(f"- {text}" for text in sentences)


def _draw_proof(method_story: Story, level: Level) -> None:
    """Draw the proof that a method is private, or that it is not."""
    if method_story.privacy is None:
        st.markdown(
            "**It is not private.** It releases what it computes, without noise: a single record "
            "may be read off the result. Its ledger stays empty."
        )
        return
    st.markdown(
        numbered_list([f"**{title}.** {text}" for title, text in method_story.privacy.steps])
    )
    unit = "one user with all items" if level == "user" else "one record"
    st.caption(
        f"Neighbours differ by replacing {unit} by anything at all, not-a-number and infinities "
        "included. The noise is drawn through a ledger, which refuses what the budget does not "
        "allow."
    )


def cost_sentence(point: Scenario, cost: Work) -> str:
    """Return the sentence on gradients, passes and seconds of a run of a point's only method."""
    (slug,) = point.methods
    unit = "records read" if "mean" in method_card(slug).problems else "gradients"
    tuning = "" if point.tuning == "practical" else ", the theorem's parameters"
    setting = f"Here ({setting_line(point, runs=False)}{tuning})"
    seconds = f"about {max(cost.seconds, 1e-3):.1g} s on this machine"
    if cost.gradients is None:
        return f"{setting}: how many gradients it takes is not known beforehand; {seconds}."
    assert cost.passes is not None
    passes = f"{cost.passes:.3g} pass" + ("" if cost.passes == 1 else "es")
    return (
        f"{setting}: {'at most ' * cost.at_most}**{cost.gradients:,} {unit}**, which is {passes}; "
        f"{seconds}."
    )


def _draw_bounds(slug: str, point: Scenario) -> None:
    """Draw the bounds of a method with their values at a point, its main one first.

    The others are folded.
    """
    slugs = tuple(b.card.slug for b in BOUNDS if b.card.method == slug)
    if not slugs:
        st.markdown("The catalogue has no bound for it.")
        return
    main = method_card(slug).rate
    main_bound, *rest = sorted(evaluations(point, slugs), key=lambda e: e.bound.card.slug != main)
    st.markdown("Values at the same settings.")
    _draw_values(main_bound)
    if rest:
        fold(
            f"{len(rest)} more: other forms, explicit constants, as printed",
            lambda: _draw_values(*rest),
            f"{slug}_fold_bounds",
        )


def _draw_values(*evaluations: Evaluation) -> None:
    """Draw the statements of a method's bounds with their values at the scenario."""
    for evaluation in evaluations:
        card = evaluation.bound.card
        proven = card.constant == "explicit"
        kind = "every constant is proven" if proven else "a rate: drawn with constant 1"
        sense = "in expectation" if card.guarantee == "expectation" else f"with {card.guarantee}"
        value = f"{evaluation.value:.3g}" if evaluation.value < float("inf") else "infinite"
        lines = [
            f"**{card.statement}** ({card.paper}). {card.summary}",
            formula_markdown(card.latex),
            f"Bounds the {card.quantity}, {sense}; {kind}. Value there: **{value}**.",
        ]
        if evaluation.bound.optimal is not None:
            lines.append(f"Known to be optimal up to {evaluation.bound.optimal.text}.")
        if evaluation.failures:
            lines.append("Not proven there. " + in_print(" ".join(evaluation.failures)))
        with st.container(border=True):
            st.markdown("\n\n".join(lines))


def _draw_code(slug: str) -> None:
    """Draw the source code of a method's release, its plan and their parts."""
    release, *further_parts = release_source(slug)
    with st.container(key="methods_code"):
        for part in (release, plan_source(slug), *further_parts):
            st.caption(f"`{part.title}` in `{part.path}`")
            st.code(part.text.rstrip(), language="python", wrap_lines=True)


# Streamlit's own colours for code have contrasts of only 3.8 and 4.1; text needs 4.5.
CODE_COLOURS: dict[str, Pair] = {
    "comment": QUIET,
    "string": METHODS["green"],
    "triple-quoted-string": METHODS["green"],
    "keyword": ACCENT,
    "function": ACCENT,
    "builtin": ACCENT,
    "class-name": ACCENT,
    "decorator": ACCENT,
    "number": METHODS["magenta"],
    "boolean": METHODS["magenta"],
    "operator": INK,
    "punctuation": INK,
}


def code_style() -> str:
    """Return the CSS that colours code for the theme."""
    rules = (
        f".st-key-methods_code .token.{kind} {{ color: {pair[is_dark()]} !important; }}"
        for kind, pair in CODE_COLOURS.items()
    )
    return f"<style>{' '.join(rules)}</style>"
