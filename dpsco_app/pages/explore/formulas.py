"""The formulas of the drawn bounds, and a chip for every symbol that opens its control in place."""

import math
import re
from dataclasses import replace

import streamlit as st

from dpsco_app.front.bound_lines import short_name
from dpsco_app.pages.explore.runs import proven_slugs
from dpsco_app.parts import controls
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.fields import ALL_CONTROLS, text
from dpsco_app.parts.glossary import GLOSSARY
from dpsco_app.parts.options import OPTIONS, SYMBOL, in_print, number_text, short_text
from dpsco_core.explain.tables.letters import Symbol, symbols
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario

CHIP = "chip_"
# Fields that have a chip, in this order.
FIELDS = ("epsilon", "delta", "rho", "n", "d", "m", "p", "diameter")
TERMS = {term.latex: term for term in GLOSSARY if term.latex}
# Letters that say the same in every formula as on their chip.
CHIP_LETTERS = {"n", "d", "p", r"\varepsilon"}
USUAL = set("eijstxE")  # letters that every reader knows, or that a formula binds itself
WORDS = re.compile(r"\\(?:text|mathrm)\{[^}]*\}")  # words in a formula are no symbols
DEFINED = re.compile(r"(?:\\sum_j)?(\\[a-zA-Z]+|[a-zA-Z])")  # what a definition is of
COMMANDS = re.compile(r"\\[a-zA-Z]+")


def draw_formulas(scenario: Scenario) -> None:
    """Draw one formula a drawn bound with its value at the chosen point, below the chips."""
    slugs = tuple(proven_slugs(scenario))
    if not slugs:
        st.caption("No bound is drawn here.")
        return
    point = replace(scenario, axis=None, grid=())
    values = evaluations(point, slugs)
    letters = letters_of("".join(e.bound.card.latex for e in values))
    with st.container(horizontal=True, key="chips"):
        for field in fields_of(letters, scenario):
            _chip(field, scenario)
    about = "A chip opens the control of its symbol, and the bounds follow at once."
    if isinstance(scenario.budget, ApproxDP):
        rho = f"ρ = {scenario.setting.gaussian_rho:.3g}"
        about += f" {rho} is the most that Gaussian noise may spend within this ε and δ."
    st.caption(about)
    for e in values:
        card = e.bound.card
        value = f"**{e.value:.3g}**" if math.isfinite(e.value) else "no finite number"
        st.markdown(f"**{short_name(card)}** is {value} here ({card.paper}, {card.statement})")
        # A line a definition: a display would need a scroll bar, which no keyboard reaches.
        parts = parts_of(card.latex)
        st.markdown("\n\n".join(rf"$\displaystyle {part}$" for part in parts))
        if e.failures:
            st.caption(f"⚠ {in_print(' '.join(e.failures))}")
        if meanings := legend(point, e):
            st.caption(meanings)


def parts_of(latex: str) -> list[str]:
    r"""Return the expression and its definitions: what stands between ``,\ `` outside of braces."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(latex):
        depth += (letter == "{") - (letter == "}")
        if depth == 0 and latex.startswith(("\\ ", "\\quad"), i) and latex[i - 1] == ",":
            parts.append(latex[start:i].rstrip(","))
            start = i + (2 if latex[i + 1] == " " else 5)
    return [*parts, latex[start:]]


def letters_of(latex: str) -> set[str]:
    plain = WORDS.sub(" ", latex)
    return set(COMMANDS.findall(plain)) | {c for c in COMMANDS.sub(" ", plain) if c.isalpha()}


def legend(point: Scenario, e: Evaluation) -> str:
    """Return what the letters of one bound's formula mean in that bound, with their values.

    One letter means different things in different papers, so every formula has a legend of its
    own. Symbols that a chip sets already are left out, but for those that follow from it.
    """
    own = [s for s in symbols(point, e.bound) if s.latex not in CHIP_LETTERS]
    latex = e.bound.card.latex
    named = {s.latex.split("_")[0] for s in symbols(point, e.bound)}
    rest = letters_of(latex) - named - defined_in(latex) - USUAL
    others = [
        Symbol(latex=t.latex, meaning=t.name, value=math.nan)
        for t in GLOSSARY
        if t.latex in rest and t.field not in FIELDS
    ]
    return "; ".join(
        f"${s.latex}${f' = {short_text(s.value)}' if math.isfinite(s.value) else ''}: {s.meaning}"
        for s in (*own, *others)
    )


def defined_in(latex: str) -> set[str]:
    r"""Return the letters that a formula defines itself, behind its expression.

    Examples
    --------
    >>> sorted(defined_in(r"a\kappa_p+h(x),\ \kappa_p=2,\ h(t)=\sum_j t_j,\ B\sim P"))
    ['B', '\\kappa', 'h']
    """
    heads = (DEFINED.match(part.strip()) for part in parts_of(latex)[1:])
    return {head[1] for head in heads if head}


def fields_of(letters: set[str], scenario: Scenario) -> tuple[str, ...]:
    """Return the fields that have a chip; an (ε, δ) budget is shown instead of its ρ."""
    fields = {TERMS[letter].field for letter in letters if letter in TERMS}
    if scenario.level == "item":  # there, m is a number of blocks
        fields.discard("m")
    if scenario.rho is not None:
        fields = (fields - {"epsilon", "delta"}) | {"rho"}
    elif "rho" in fields:
        fields = (fields - {"rho"}) | {"epsilon", "delta"}
    if not scenario.delta:
        fields.discard("delta")
    return tuple(field for field in FIELDS if field in fields)


def _chip(field: str, scenario: Scenario) -> None:
    control = next(c for c in ALL_CONTROLS if c.field == field)
    value = getattr(scenario, field)
    with st.popover(f"{SYMBOL[field]} = {number_text(value)}"):
        key = CHIP + field
        st.session_state[key] = st.session_state[controls.PREFIX + field]
        st.select_slider(
            text(control.label, scenario),
            sorted({*OPTIONS[field], st.session_state[key]}),
            format_func=number_text,
            key=key,
            help=text(control.help, scenario),
            on_change=_set,
            args=(field,),
        )


def _set(field: str) -> None:
    controls.choose(field, st.session_state[CHIP + field])
