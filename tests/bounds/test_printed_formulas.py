"""The printed formula of a rate, evaluated at the displayed letters, is the value that is drawn.

The formula is read from its LaTeX (`printed_latex`); the letters are those of the page of tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from dpsco_core.bounds import Bound, Letter
from dpsco_core.bounds.conditions import COORDINATE_MOMENT
from dpsco_core.bounds.euclidean.objective import inradius
from dpsco_core.bounds.lq.explicit import OWN_RATE_LETTERS
from dpsco_core.catalogue import BOUNDS, bound
from dpsco_core.explain.tables.letters import symbols
from dpsco_core.explain.tables.table import canonical_point, drawn_scenario
from dpsco_core.results.report import bound_setting
from dpsco_core.scenario import Scenario
from tests.bounds.printed_latex import printed_value
from tests.folded import each

POINT = Scenario(problem="quadratic", methods=("sco.erm",), n=2000, d=7, m=16, p=3.0)
BOUNDED = replace(POINT, distribution="hypercube")
POINTS = (
    POINT,
    replace(POINT, problem="mean", methods=("mean.sample",), n=500, d=40),
    *(
        replace(BOUNDED, problem=problem, geometry=geometry)
        for problem in ("quadratic", "logistic")
        for geometry in ("l2", "l1")
    ),
    replace(BOUNDED, problem="logistic", geometry="lq", q=1.25),
    *(replace(BOUNDED, problem="geometric-median", geometry="lq", q=q) for q in (1.25, 3.0)),
)
# These parts of a formula stand for an unknown power or a minimum over an exponent.
UNREADABLE = (r"\omega", r"\min_{")
RATES = [row for row in BOUNDS if row.card.constant == "rate"]
READABLE = [row for row in RATES if not any(sign in row.card.latex for sign in UNREADABLE)]


def letters_of(row: Bound, point: Scenario) -> dict[str, float]:
    """Return the value of each letter that a bound's formula may use at a point."""
    letters = {symbol.latex: symbol.value for symbol in symbols(point, row)}
    return letters | {r"C_{\min}": inradius(row.setting_of_statement(bound_setting(point, row)))}


def comparisons(row: Bound) -> Iterator[tuple[Mapping[str, float], float]]:
    """Yield the letters and the value of a bound wherever it has a value in its formula's units."""
    for point in POINTS:
        if point.problem not in row.card.problems:
            continue
        budgeted = replace(point, delta=0.0) if row.card.privacy == "pure" else point
        scenario = canonical_point(drawn_scenario(budgeted, row.card))
        setting = bound_setting(scenario, row)
        value = row.value(setting)
        # The papers measure in units of the coordinates' moment, and in l2 for larger exponents.
        is_scaled = COORDINATE_MOMENT in row.hypotheses and setting.constants.coordinate_moment != 1
        is_euclidean = row.letters == OWN_RATE_LETTERS and setting.exponent > 2
        if 0 < value < math.inf and not is_scaled and not is_euclidean:
            yield letters_of(row, scenario), value


def check(row: Bound) -> None:
    """Assert that a bound's printed formula has the value of the bound."""
    pairs = list(comparisons(row))
    assert pairs, f"{row.card.slug} has no value at any point"
    for letters, value in pairs:
        assert printed_value(row.card.latex, letters) == pytest.approx(value, rel=1e-9)


@each("row", READABLE)
def test_the_formula_at_its_letters_is_the_value(row: Bound) -> None:
    check(row)


def test_nearly_every_rate_can_be_read() -> None:
    assert len(RATES) - len(READABLE) <= 2 and len(READABLE) > 80


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"\sqrt d", "d"),
        (r"\frac1{\sqrt{nm}}", r"\frac1{nm}"),
        (r"\ln(1/\delta)", r"\ln(2/\delta)"),
    ],
)
def test_a_misprint_is_detected(old: str, new: str) -> None:
    rows = [row for row in READABLE if old in row.card.latex]
    latex = rows[0].card.latex.replace(old, new)
    with pytest.raises(AssertionError):
        check(replace(rows[0], card=replace(rows[0].card, latex=latex)))


def test_a_wrong_letter_is_detected() -> None:
    row = bound("upper.sco.phased-sgd")
    diameter = Letter("D", "radius of the set", lambda s: s.constants.diameter / 2)
    with pytest.raises(AssertionError):
        check(replace(row, letters=(diameter,)))


@pytest.mark.parametrize(
    ("latex", "value"),
    [
        (r"\frac dn+\frac1{2n}", 0.35),
        (r"\sqrt{\tfrac dn}\,\Big(\frac{2d}n\Big)^{1-1/p}", math.sqrt(0.3) * 0.6**0.5),
        (r"\frac{gM}2\min\Big\{1,\frac dn\Big\}", 3.0 * 5.0 / 2 * 0.3),
        (r"\ln^2(n/d)+(\ln2d)^4+\ln\frac1d\,\ln n", None),
        (r"dx^2,\ x=\frac{\beta R}L", 3 * (0.5 * 4 / 2) ** 2),
        (r"d^{3/2-1/(2q)}\ (q<2),\quad n^{-1/2}\ (q\ge2)", 3 ** (1.5 - 1 / 3)),
        (r"G\|\theta^*\|_q^2,\ G=E\max_{w\in C}\langle\xi,w\rangle", 7.0 * 36),
        (r"\frac1{q-q}", math.inf),
    ],
)
def test_latex_is_parsed_as_mathematicians_read_it(latex: str, value: float | None) -> None:
    letters = {"n": 10, "d": 3, "p": 2, "q": 1.5, "g": 3, "M": 5, "G": 7, "R": 4, "L": 2}
    letters |= {r"\beta": 0.5, r"\theta^*": 6}
    if value is None:
        value = math.log(10 / 3) ** 2 + math.log(6) ** 4 - math.log(3) * math.log(10)
    assert printed_value(latex, letters) == pytest.approx(value)


@pytest.mark.parametrize("latex", [r"\frac d", "x", "d)", r"\min d", "(d", r"dn,\ n=2d"])
def test_text_that_is_no_formula_is_refused(latex: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        printed_value(latex, {"d": 3, "n": 10})
