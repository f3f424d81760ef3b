"""Formulas in a terminal are plain text: no backslash, no dollar, and the same meaning."""

from __future__ import annotations

import re

import pytest

from dpsco_core.base.plain_latex import KNOWN_COMMANDS, plain_formula, plain_text
from dpsco_core.catalogue import BOUNDS, METHOD_SLUGS
from dpsco_core.cli.main import main
from dpsco_core.explain.methods.stories import story
from tests.explain.test_stories import texts
from tests.folded import each


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\frac{\varepsilon}{2n}", "ε/(2n)"),
        (r"\frac L2(T+1)", "(L/2)(T+1)"),
        (r"\frac{a+b}{c}", "(a+b)/c"),
        (r"\ln\frac{Mdn}\beta", "ln(Mdn/β)"),
        (r"\sqrt dM", "√d M"),
        (r"\sqrt{\frac T{2\rho}}", "√(T/(2ρ))"),
        (r"n^{1/p}", "n^(1/p)"),
        (r"\sigma_i^2", "σᵢ²"),
        (r"\min_\tau M", "min_τ M"),
        (r"\frac{\lambda_i}2\|x-x_{i-1}\|^2", "(λᵢ/2)‖x-xᵢ₋₁‖²"),
        (r"\Big\lfloor\frac n2\Big\rfloor", "⌊n/2⌋"),
        (r"\tau\text{ the proven radius}", "τ the proven radius"),
        (r"\tilde g_t\sim\mathrm{Bin}(n,q)", "g̃ₜ ∼ Bin(n,q)"),
        (r"\binom nk\le2^n", "C(n, k) ≤ 2ⁿ"),
        (r"\tau=\tanh\tfrac z2", "τ = tanh(z/2)"),
    ],
)
def test_a_formula_keeps_its_meaning_as_text(latex: str, plain: str) -> None:
    assert plain_formula(latex) == plain


def test_text_around_formulas_stays_as_it_is() -> None:
    assert plain_text(r"At $p\ge2$ a share of 5_000 stays.") == "At p ≥ 2 a share of 5_000 stays."


def formulas() -> list[str]:
    """Return every formula of a story or a bound."""
    story_texts = [text for slug in METHOD_SLUGS for text in texts(story(slug))]
    story_formulas = [
        formula for text in story_texts for formula in re.findall(r"\$([^$]*)\$", text)
    ]
    return [*story_formulas, *(bound.card.latex for bound in BOUNDS)]


def test_every_command_of_a_story_or_a_bound_is_known() -> None:
    assert len(formulas()) > 500
    commands = {m for text in formulas() for m in re.findall(r"\\([A-Za-z]+|.)", text)}
    assert commands <= KNOWN_COMMANDS


def test_no_plain_formula_contains_a_command_or_an_unmatched_bracket() -> None:
    for latex in formulas():
        plain = plain_formula(latex)
        assert plain.strip() and not set("\\$") & set(plain), latex
        if latex.count("(") == latex.count(")"):
            assert plain.count("(") == plain.count(")"), latex


@each("slug", METHOD_SLUGS)
def test_a_method_is_described_without_latex(slug: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["about", slug])
    output = capsys.readouterr().out
    assert slug in output and "\\" not in output and "$" not in output
