"""Formulas in LaTeX: as mathematicians set them, and of the value that the formula has."""

from __future__ import annotations

import math
import random

import pytest

from dpsco_core.base.formula import parse_formula
from dpsco_core.base.formula_latex import LETTERS_IN_LATEX, latex_of
from tests.bounds.printed_latex import printed_value

LETTERS = {"n": 900.0, "d": 7.0, "m": 3.0, "p": 2.5, "q": 1.5, "L": 1.3, "D": 4.0}
LETTERS |= {"epsilon": 0.7, "delta": 0.01, "rho": 0.2, "kappa": 5.0, "G_2": 3.0}


def latex(text: str) -> str:
    """Return the LaTeX of a formula that is given as text."""
    return latex_of(parse_formula(text).expression)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("d/n", r"\frac dn"),
        ("1/sqrt(n)", r"\frac1{\sqrt n}"),
        ("sqrt(d)/(sqrt(rho)*n)", r"\frac{\sqrt d}{\sqrt\rho\,n}"),
        ("d^(1/4)", "d^{1/4}"),
        ("D*L*(1 + d^2)", r"DL\big(1+d^2\big)"),
        ("L*(d/(2*n) + m)", r"L\Big(\frac d{2n}+m\Big)"),
        ("(d/n)^(1-1/p)", r"\Big(\frac dn\Big)^{1-1/p}"),
        ("D*(d + (d/n)^p)", r"D\Big[d+\Big(\frac dn\Big)^p\Big]"),
        ("(n*m)^(3/2)", "(nm)^{3/2}"),
        ("L^2/D*(sqrt(d/rho)/n)^2", r"\frac{L^2d}{D\rho n^2}"),
        ("2*(sqrt(d/rho)/n)", r"\frac{2\sqrt d}{\sqrt\rho\,n}"),
        ("epsilon*n*sqrt(m)", r"\varepsilon n\sqrt m"),
        ("n^(3/2-1/(2*q))", "n^{3/2-1/(2q)}"),
        ("d*ln(1/delta)/m", r"\frac{d\ln(1/\delta)}m"),
        ("ln(d)*n", r"\ln(d)\,n"),
        ("max(d/n, 1)", r"\max\Big\{\frac dn,1\Big\}"),
        ("sqrt(kappa)*min(n, d)", r"\sqrt\kappa\,\min\{n,d\}"),
        ("(sqrt(d)/(epsilon*n))^2/m", r"\frac d{\varepsilon^2n^2m}"),
        ("L*G_2/n", r"\frac{L\,G_2}n"),
        ("2*3*n", r"2\cdot3n"),
        ("n-(d-m)", "n-(d-m)"),
        ("-n^2", "-n^2"),
        ("d*(-n)", "d(-n)"),
        ("d^(-1/2)", "d^{-1/2}"),
        ("exp(-n)", "e^{-n}"),
    ],
)
def test_the_latex_of_a_formula_is_that_of_a_paper(text: str, written: str) -> None:
    assert latex(text) == written


def random_text(rng: random.Random, depth: int) -> str:
    """Return the text of a formula of about this depth, which may have no value."""
    if depth == 0:
        return rng.choice([*LETTERS, "1", "2", "7"])
    left, right = random_text(rng, depth - 1), random_text(rng, depth - 1)
    shapes = ("({}+{})", "({})*({})", "({})/({})", "({}-{})", "max({}, {})", "min({}, {})")
    unary = ("sqrt({})", "ln({})", "({})^2", "({})^(1/3)", "({})^(1-1/p)", "(-({}))")
    shape = rng.choice((*shapes, *unary))
    return shape.format(left, right) if shape in shapes else shape.format(left)


def test_a_formula_in_latex_has_the_value_of_the_formula() -> None:
    """The reader of the tests shares nothing with the library; see `printed_latex`."""
    rng = random.Random(51)
    letters = {LETTERS_IN_LATEX.get(name, name): value for name, value in LETTERS.items()}
    compared = without_value = 0
    for _ in range(4000):
        formula = parse_formula(random_text(rng, rng.randint(1, 4)))
        value = formula.value(LETTERS)
        if math.isfinite(value) and 1e-9 < abs(value) < 1e9:
            written = latex_of(formula.expression)
            try:
                printed = printed_value(written, letters)
            # The maximum of an undefined value and a number may be the number, and then Python has
            # no value to compare.
            except ValueError:
                without_value += 1
                continue
            assert printed == pytest.approx(value, rel=1e-6), written
            compared += 1
    assert compared > 1500 and without_value < 50
