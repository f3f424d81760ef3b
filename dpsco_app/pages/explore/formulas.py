"""The formulas of the drawn bounds, what their letters mean, and the papers of all curves."""

import math
import re
from dataclasses import replace

import streamlit as st

from dpsco_app.front.bound_lines import short_name
from dpsco_app.front.view import View
from dpsco_app.pages.explore.runs import proven_slugs
from dpsco_app.parts.citations import bibtex, citation
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.formulas import formula_markdown, formula_parts
from dpsco_app.parts.glossary import GLOSSARY
from dpsco_app.parts.options import in_print, short_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.tables.letters import Symbol, symbols
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario

# Fields whose symbols stand beside their controls, and symbols with one meaning in every formula.
FIELDS = ("epsilon", "delta", "rho", "n", "d", "m", "p", "diameter")
PLAIN = {"n", "d", "p", r"\varepsilon"}
USUAL = set("eijstxE")  # Letters that every reader knows, or that a formula itself binds.
# This pattern matches words in a formula, which are not symbols.
WORDS = re.compile(r"\\(?:text|mathrm)\{[^}]*\}")
# This pattern matches the symbol that a definition defines.
DEFINED = re.compile(r"(?:\\sum_j)?(\\[a-zA-Z]+|[a-zA-Z])")
COMMANDS = re.compile(r"\\[a-zA-Z]+")


def draw_formulas(scenario: Scenario, view: View) -> None:
    """Draw a formula for each drawn bound with its value at the chosen point, and the papers."""
    point = replace(scenario, axis=None, grid=())
    bounds = evaluations(point, tuple(proven_slugs(scenario, view)))
    if isinstance(scenario.budget, ApproxDP):
        st.caption(
            f"ρ = {scenario.setting.gaussian_rho:.3g} is the most that Gaussian noise may spend "
            "within this ε and δ."
        )
    for e in bounds:
        card = e.bound.card
        value = f"**{e.value:.3g}**" if math.isfinite(e.value) else "no finite number"
        st.markdown(f"**{short_name(card)}** is {value} here ({card.paper}, {card.statement})")
        st.markdown(formula_markdown(card.latex))
        if e.failures:
            st.caption(f"⚠ {in_print(' '.join(e.failures))}")
        if meanings := legend(point, e):
            st.caption(meanings)
    methods = [method_card(slug) for slug in scenario.methods]
    st.markdown("  \n".join(f"**{c.name}**: {c.paper}, {c.statement}" for c in methods))
    papers = {card.paper.key: card.paper for card in (*methods, *(e.bound.card for e in bounds))}
    st.markdown("".join(f"- **{key}**: {citation(paper)}\n" for key, paper in papers.items()))
    st.code(bibtex(papers.values()), language="bibtex", wrap_lines=True)


def letters_of(latex: str) -> set[str]:
    """Return the letters and commands of a formula in LaTeX, without those of words in the text."""
    plain = WORDS.sub(" ", latex)
    return set(COMMANDS.findall(plain)) | {c for c in COMMANDS.sub(" ", plain) if c.isalpha()}


def legend(point: Scenario, e: Evaluation) -> str:
    """Return the meanings and values of the letters in one bound's formula.

    One letter means different things in different papers, so every formula has a legend of its own.
    Letters of the controls are left out, except those that follow from them.
    """
    bound_symbols = [s for s in symbols(point, e.bound) if s.latex not in PLAIN]
    latex = e.bound.card.latex
    symbol_letters = {s.latex.split("_")[0] for s in symbols(point, e.bound)}
    hidden = {letter.token for letter in e.bound.letters if not letter.meaning}
    rest = letters_of(latex) - symbol_letters - hidden - defined_in(latex) - USUAL
    glossary_symbols = [
        Symbol(latex=t.latex, meaning=t.name, value=math.nan)
        for t in GLOSSARY
        if t.latex in rest and t.field not in FIELDS
    ]
    return "; ".join(
        f"${s.latex}${f' = {short_text(s.value)}' if math.isfinite(s.value) else ''}: {s.meaning}"
        for s in (*bound_symbols, *glossary_symbols)
    )


def defined_in(latex: str) -> set[str]:
    r"""Return the letters that a formula defines itself, after its expression.

    Examples
    --------
    >>> sorted(defined_in(r"a\kappa_p+h(x),\ \kappa_p=2,\ h(t)=\sum_j t_j,\ B\sim P"))
    ['B', '\\kappa', 'h']
    """
    heads = (DEFINED.match(part) for part in formula_parts(latex)[1:])
    return {head[1] for head in heads if head}
