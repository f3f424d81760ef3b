"""Formulas that a visitor types: what they mean, and that nothing else gets through."""

from __future__ import annotations

import math
import random
import re

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.formula import FUNCTIONS, LETTERS, LONGEST, parse_formula
from tests.folded import each

LETTER_VALUES = {
    "n": 1000.0,
    "d": 16.0,
    "m": 1.0,
    "p": 3.0,
    "epsilon": 0.5,
    "delta": 1e-6,
    "rho": 0.02,
}
LETTER_VALUES |= {"D": 4.0, "q": 1.5, "L": 2.0, "kappa": 10.0, "width": 3.7}
LETTER_VALUES |= {"G_2": 3.0, "G_p": 5.0, "M": 6.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2+3*4", 14),
        ("2*3+4", 10),
        ("8-4-2", 2),
        ("8/4/2", 1),
        ("2^3^2", 512),
        ("2**3**2", 512),
        ("-2^2", -4),
        ("2^-1", 0.5),
        ("--2", 2),
        ("1.5e-3 + .5", 0.5015),
        ("sqrt(d)/(n*ε)", 0.008),
        ("(d/(n*sqrt(rho)))^(1-1/p)", (16 / (1000 * math.sqrt(0.02))) ** (2 / 3)),
        ("max(1, min(d, p), ln(1/δ))", math.log(1e6)),
        ("exp(log(m + 6))", 7),
        ("1 / 9^9^9^9", 0),
    ],
)
def test_a_formula_has_the_value_that_arithmetic_gives_it(text: str, value: float) -> None:
    assert parse_formula(text).value(LETTER_VALUES) == pytest.approx(value)


@each(
    "text",
    [
        "",
        "   ",
        "1 +",
        "* 2",
        "(1",
        "1)",
        "2 n",
        "n d",
        "2n",
        "1..2",
        "1e",
        "sqrt",
        "sqrt(1, 2)",
        "min()",
        "x",
        "__import__('os')",
        "n.real",
        "n[0]",
        "lambda: 1",
        "n if d else p",
        "n == d",
        "1_000",
        "'a'",
        "n; d",
        "eval(n)",
        "∞",
        "nan",
        "inf",
        "(" * 100 + "1" + ")" * 100,
        "-" * 200 + "1",
        "2" + "^2" * 100,
        "1" * (LONGEST + 1),
    ],
)
def test_an_invalid_formula_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^formula must be .+, got .+\.$"):
        parse_formula(text)


def test_an_unknown_name_is_reported_with_the_known_ones() -> None:
    names = r"n, d, m, p, epsilon, .*, sqrt, log, ln, exp, min, max"
    with pytest.raises(InvalidInput, match=f"^formula must be made of {names}, got foo\\.$"):
        parse_formula("d/(n*foo)")


@pytest.mark.parametrize("text", ["1/0", "log(0)", "sqrt(-1)", "(-8)^(1/3)", "0*exp(1000)-1/0"])
def test_a_formula_is_not_finite_where_it_is_undefined(text: str) -> None:
    assert not math.isfinite(parse_formula(text).value(LETTER_VALUES))


def test_a_huge_power_is_infinite_and_quickly_computed() -> None:
    assert parse_formula("9^9^9^9^9").value(LETTER_VALUES) == math.inf


def test_letters_are_listed_once_under_their_own_names() -> None:
    assert parse_formula("ε*epsilon + n*δ").letters == ("epsilon", "n", "delta")


def test_random_texts_are_read_or_refused_and_never_run() -> None:
    """Any text becomes a number or an `InvalidInput`; where it is a number, Python finds the same
    value.
    """
    rng = random.Random(20)
    pieces = [*LETTERS, *FUNCTIONS, *"0123456789.+-*/^(),% _'[]{}:;=eE", "**", "10", "2.5", "1e3"]
    reread = 0
    for _ in range(20_000):
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 12)))
        try:
            formula = parse_formula(text)
        except InvalidInput:
            continue
        value = formula.value(LETTER_VALUES)
        assert isinstance(value, float)
        if not any(name in text for name in FUNCTIONS) and math.isfinite(value):
            plain = text.strip().replace("^", "**")
            names = LETTER_VALUES | {
                letter: LETTER_VALUES[name] for letter, name in LETTERS.items()
            }
            # Python refuses numbers with leading zeros, such as 007.
            numbers = re.sub(r"(?<![\w.])0+(?=\d)", "", plain)
            expected = eval(numbers, {"__builtins__": {}}, names)
            assert expected == pytest.approx(value)
            reread += 1
    assert reread > 500


def test_the_error_about_an_incomplete_formula_quotes_it_whole() -> None:
    for text, must in (("d/(n+1", "closed with )"), ("d/", "complete after"), ("sqrt", "bracket")):
        whole = " ".join(re.findall(r"\w+|\W", text))
        with pytest.raises(InvalidInput, match=re.escape(must)) as refused:
            parse_formula(text)
        assert str(refused.value).endswith(f"got formula={whole}.")


def test_the_moments_have_letters_and_k_stands_for_p() -> None:
    formula = parse_formula("G_2/sqrt(n) + G_k*(d/(n*ε))^(1-1/k) + M + G_p")
    assert formula.letters == ("G_2", "n", "G_p", "d", "epsilon", "p", "M")
    with pytest.raises(InvalidInput, match=r"got G_3\.$"):
        parse_formula("G_3/n")


def test_a_sum_has_its_summands_as_terms_and_a_difference_is_one_term() -> None:
    formula = parse_formula("1/sqrt(n) + d/(n*epsilon) + d/(n*epsilon)")
    values = {name: term(LETTER_VALUES) for name, term in formula.terms.items()}
    assert list(values) == ["1/sqrt(n)", "d/(n*epsilon)"]
    assert sum(values.values()) == pytest.approx(formula.value(LETTER_VALUES))
    for text in ("d - 1/n", "2*(d + n)", "d + d"):
        assert list(parse_formula(text).terms) == [text]
        assert parse_formula(text).terms[text](LETTER_VALUES) == pytest.approx(
            parse_formula(text).value(LETTER_VALUES)
        )
