"""A rate that is declared once: its value, its LaTeX, its letters, and where it has no value."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.base import Letter
from dpsco_core.bounds.letters import COMMON
from dpsco_core.bounds.rate import Rate, is_approximate, two_terms
from dpsco_core.catalogue import BOUNDS
from dpsco_core.explain.tables.letters import contains
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP
from tests.bounds.helpers import make_setting
from tests.folded import each

BUDGET = ApproxDP(epsilon=0.5, delta=1e-4)
SETTING = make_setting(400, 9, 4.0, BUDGET)
DECLARED = [b for b in BOUNDS if isinstance(b.evaluate, Rate)]


def test_a_rate_has_the_value_of_its_formula() -> None:
    rate = two_terms("sqrt(d/n)", "sqrt(d*ln(1/delta))/(epsilon*n)", unit="p")
    expected = {"sampling": 4 * 0.15, "privacy": 4 * 3 * math.sqrt(math.log(1e4)) / 200}
    assert rate(SETTING) == pytest.approx(expected)


def test_the_scale_is_in_the_value_and_not_in_the_formula() -> None:
    rate = two_terms("sqrt(d/n)", "d/n")
    scaled = replace(rate, scale=lambda setting: 2.0)
    assert scaled(SETTING) == pytest.approx({k: 2 * v for k, v in rate(SETTING).items()})
    assert scaled.latex == rate.latex == r"\sqrt{\frac dn}+\frac dn"


@pytest.mark.parametrize(
    ("rate", "latex"),
    [
        (two_terms("1/n", "d/n", combine=max), r"\max\Big\{\frac1n,\frac dn\Big\}"),
        (two_terms("1/n", "d/n", unit="D"), r"D\Big(\frac1n+\frac dn\Big)"),
        (two_terms("d/n", "d/n", unit="D"), r"\frac{2Dd}n"),
        (two_terms("0", "d/n"), r"\frac dn"),
        (Rate(terms={"privacy": "d/n"}, unit="L^2/lambda"), r"\frac{L^2d}{\lambda n}"),
    ],
)
def test_the_formula_joins_unit_and_terms(rate: Rate, latex: str) -> None:
    assert rate.latex == latex


def test_a_letter_has_the_meaning_of_the_rate_and_its_definition_is_printed() -> None:
    kappa = Letter(r"\kappa", "a number", lambda s: 3.0, r"\kappa=\frac{\beta R}L")
    rate = two_terms("kappa/n", "d/n", letters=(kappa, replace(kappa, token="d")))
    assert rate(SETTING) == {"sampling": 3 / 400, "privacy": 3 / 400}
    assert rate.definitions == (kappa.definition,) * 2
    assert rate.latex.startswith(r"\frac\kappa n+\frac dn,\ \kappa=")


@pytest.mark.parametrize(
    "rate",
    [
        two_terms("1/n", "d/n", applies=lambda setting: setting.d < 9),
        two_terms("1/n", "1/(rho*n)", letters=(Letter(r"\rho", "a budget", lambda s: 0.0),)),
        two_terms("1/n", "min(1, rho)", letters=(Letter(r"\rho", "a budget"),)),
        two_terms("1/n", "d/n", scale=lambda setting: math.inf),
    ],
)
def test_where_a_rate_says_nothing_all_terms_are_void(rate: Rate) -> None:
    assert rate(SETTING) == {"sampling": math.inf, "privacy": math.inf}
    assert replace(rate, void=0.0)(SETTING) == {"sampling": 0.0, "privacy": 0.0}


@pytest.mark.parametrize(
    ("budget", "is_it"), [(BUDGET, True), (PureDP(epsilon=1.0), False), (ZCDP(rho=1.0), False)]
)
def test_a_rate_for_approximate_privacy_is_void_under_other_budgets(
    budget: ApproxDP | PureDP | ZCDP, is_it: bool
) -> None:
    rate = two_terms("1/n", "d/n", applies=is_approximate)
    assert (rate(replace(SETTING, budget=budget))["privacy"] < math.inf) == is_it


def test_a_part_of_the_terms_can_be_dropped() -> None:
    rate = two_terms("1/sqrt(n)", "d*ln(1/delta)/n")
    assert rate.drop("*ln(1/delta)").latex == r"\frac1{\sqrt n}+\frac dn"
    with pytest.raises(InvalidInput, match="part must be one of the rate's"):
        rate.drop("*ln(2/delta)")


def test_a_letter_that_nobody_declared_is_refused() -> None:
    with pytest.raises(InvalidInput, match="got x"):
        two_terms("x/n", "d/n").latex  # noqa: B018


@each("row", DECLARED, ids=lambda row: row.card.slug)
def test_the_card_of_a_declared_rate_prints_its_formula(row) -> None:
    assert row.card.constant == "rate"
    assert row.card.latex == row.evaluate.latex
    assert row.combine is row.evaluate.combine


@each("row", DECLARED, ids=lambda row: row.card.slug)
def test_the_letters_that_a_page_explains_are_those_of_the_value(row) -> None:
    explained, computed = (
        {letter.token: letter for letter in (*COMMON, *letters)}
        for letters in (row.letters, row.evaluate.letters)
    )
    printed = [token for token in computed if contains(row.evaluate.formula, token)]
    assert printed
    assert [explained[token] for token in printed] == [computed[token] for token in printed]


def test_most_rates_are_declared() -> None:
    rates = [b for b in BOUNDS if b.card.constant == "rate"]
    assert len(DECLARED) >= 55 and len(rates) - len(DECLARED) <= 32
