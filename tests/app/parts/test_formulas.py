"""A formula on a page is split outside brackets without loss, and its words become text."""

from __future__ import annotations

from dpsco_app.parts.formulas import formula_markdown, formula_parts
from dpsco_core.catalogue import BOUNDS


def test_formulas_are_split_outside_brackets() -> None:
    for card in (b.card for b in BOUNDS):
        for part in formula_parts(card.latex):
            assert part.count("{") == part.count("}"), card.slug
            assert part.count(r"\Big") % 2 == 0, card.slug
    assert formula_markdown("a,\\ b=1") == "$\\displaystyle a$\n\nwhere $\\displaystyle b=1$"
    assert formula_markdown("a") == r"$\displaystyle a$"


def test_a_formula_is_split_without_loss() -> None:
    written = formula_markdown(r"a_{b,\ c},\ \kappa=\frac{1,\ 2}3,\ k\text{ a rank},\quad c").split(
        "\n\n"
    )
    assert written[0] == r"$\displaystyle a_{b,\ c}$, $\displaystyle c$"
    assert written[1] == r"where $\displaystyle \kappa=\frac{1,\ 2}3$, $\displaystyle k$ a rank"
    ignored = (r"\displaystyle", "where", r"\quad", r"\text", "$", ",", "\n", " ", "{", "}")
    for theorem in BOUNDS:
        text, latex = formula_markdown(theorem.card.latex), theorem.card.latex
        assert text.count("$") % 2 == 0
        for word in ignored:
            text, latex = text.replace(word, ""), latex.replace(word, "")
        assert sorted(text.replace("\\", "")) == sorted(latex.replace("\\", "")), theorem.card.slug
