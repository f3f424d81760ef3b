"""The glossary explains every symbol that a control, an axis or a bound's formula shows."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import fields
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import dpsco_app
from dpsco_app.parts.glossary import GLOSSARY, QUERY, entry_markdown, matching_terms
from dpsco_app.parts.options import SYMBOL
from dpsco_core.catalogue import BOUNDS
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page

# LaTeX commands that need no entry in the glossary.
COMMANDS = (
    "frac tfrac sqrt min max ln log big Big lfloor rfloor lceil rceil sum sup le ge in langle "
    "circ cosh tanh int pi rangle nabla quad sim bar binom infty pm cdot ell"
)
NOTATION = set(COMMANDS.split())
EXPLAINED = {term.latex.removeprefix("\\") for term in GLOSSARY if term.latex}
PAGE = """
from dpsco_app.parts.glossary import draw_glossary
draw_glossary()
"""


def symbols(latex: str) -> set[str]:
    """Return the letters of a formula (Greek ones by name) without words and subscript marks."""
    without_words = re.sub(r"\\(text|mathrm)\s*\{[^{}]*\}", " ", latex)
    greek = {name for name in re.findall(r"\\([A-Za-z]+)", without_words) if name not in NOTATION}
    return greek | set(re.findall(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", without_words)))


def test_the_glossary_explains_the_areas_of_the_figure_as_drawn() -> None:
    """The window contains errors and not factors; the proven limit is the edge of the red
    region.
    """
    meanings = {term.name: term.meaning for term in GLOSSARY}
    assert "the errors between the proven limit and what is proven possible" in meanings["Window"]
    assert meanings["Proven limit, or floor"].startswith("The edge of the red region")
    assert {"Red region", "Hardest data known", "Proven possible"} <= set(meanings)


def test_the_entries_of_zcdp_and_fano_are_not_circular_and_give_numbers() -> None:
    meanings = {term.name: term.meaning for term in GLOSSARY}
    zcdp, fano = meanings["zCDP, concentrated DP (CDP)"], meanings["Fano's inequality"]
    assert "ρ = Δ²/(2σ²)" in zcdp and "Rényi" not in zcdp
    assert "packing" not in fano and "nats" in fano and "Nat" in meanings
    candidates, nats = 1000, 1.0
    assert f"¾ at N = {candidates:,} and I = 1" in fano
    assert 0.75 <= 1 - (nats + math.log(2)) / math.log(candidates) < 0.76


def test_symbols_of_a_formula_are_its_letters() -> None:
    assert symbols(r"\frac{L^2}\rho\text{ if }q'>\sigma_0") == {"L", "rho", "q", "sigma"}


def test_every_symbol_of_a_bound_is_explained() -> None:
    missing = {b.card.slug: symbols(b.card.latex) - EXPLAINED for b in BOUNDS}
    assert {slug: letters for slug, letters in missing.items() if letters} == {}


def test_every_symbol_of_an_axis_is_explained_and_names_its_control() -> None:
    for field, symbol in SYMBOL.items():
        term = next(t for t in GLOSSARY if symbol in t.symbol.split(", "))
        assert term.field == field


def test_an_entry_is_one_complete_sentence() -> None:
    names = {f.name for f in fields(Scenario)}
    for term in GLOSSARY:
        assert term.meaning.endswith(".") and len(term.meaning) < 250, term
        assert ". " not in term.meaning, term
        assert term.field is None or term.field in names, term
        assert bool(term.symbol) == bool(term.latex)
        assert term.name in entry_markdown(term) or term.name.capitalize()[0] in entry_markdown(
            term
        )
    assert len({(t.symbol, t.name) for t in GLOSSARY}) == len(GLOSSARY) > 90


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("ε", "privacy budget"),
        ("epsilon", "privacy budget"),
        ("varepsilon", "privacy budget"),
        ("G", "Gaussian width, or a gradient bound"),
        ("rho", "budget of zCDP"),
        ("PACKING", "packing size"),
        ("no such word", ""),
        ("AboveThreshold", "AboveThreshold"),
        ("median means", "Median of means"),
    ],
)
def test_the_search_finds_by_symbol_name_and_word(query: str, name: str) -> None:
    terms = matching_terms(query)
    assert (terms[0].name if terms else "") == name


@pytest.mark.parametrize(
    ("query", "begins", "count"),
    [
        ("", "- $n$", len(GLOSSARY)),
        ("rho", r"- $\rho$", 1),
        ("no such word", "Nothing fits.", 0),
    ],
)
def test_the_list_is_drawn_only_when_open_and_can_be_searched(
    query: str, begins: str, count: int
) -> None:
    page = check_page(AppTest.from_string(PAGE, default_timeout=30).run())
    assert not page.text_input and not page.markdown
    page.session_state[QUERY] = query
    (button,) = page.button
    check_page(button.click().run())
    assert page.text_input(key=QUERY).value == query
    assert page.markdown[0].value.startswith(begins)
    assert page.caption[0].value.startswith(f"{count} of {len(GLOSSARY)}")


def test_kappa_is_the_condition_number_wherever_a_page_writes_it() -> None:
    """A paper's formula may use the letter for something else, which is then defined beside it."""
    pages = Path(dpsco_app.__file__).parent / "pages"
    for path in pages.rglob("*.py"):
        for part in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = str(part.value) if isinstance(part, ast.Constant) else ""
            if ("κ" in text or "\\kappa" in text) and ">>>" not in text:
                assert "κ, condition number" in text, path.name
