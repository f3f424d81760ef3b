r"""The value of a printed LaTeX formula for given letters, in the LaTeX that cards of bounds use.

Supported are fractions, roots, powers, logarithms, minima and maxima, products without a sign, and
after a comma definitions of letters (``\kappa=\frac{\beta R}L``) and cases (``\ (q<2)``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

TOKEN = re.compile(r"\\[A-Za-z]+|\d+|[A-Za-z]'?(?:_(?:\w|\{[^{}]*\}))?|[-+/^(){},]|\S")
SPACE = re.compile(r"\\(?:[Bb]ig[lr]?|cdot|[,;! ])")
SPELLINGS = (
    (r"\|\theta^*\|_q", r"\theta"),
    (r"\tfrac", r"\frac"),
    (r"\{", "("),
    (r"\}", ")"),
    ("[", "("),
    ("]", ")"),
)
CASE = re.compile(r"(.*)\((q(?:<|\\ge)\d+)\)$")
DEFINITION = re.compile(r"(\\?[A-Za-z]+(?:_\w)?)=(.*)$")
# Formulas with this text define a letter in words, and the letter has a value of its own.
UNREADABLE = r"E\max"


def printed_value(latex: str, letters: Mapping[str, float]) -> float:
    """Return the value of a formula in LaTeX at the given values of its letters; raise `ValueError`
    where it cannot be read.
    """
    formulas, definitions = [], []
    for part in _parts(latex):
        definition, case = DEFINITION.match(part), CASE.match(part)
        if definition:
            definitions.append(definition.groups())
        elif case is None:
            formulas.append(part)
        elif _holds(case[2], letters["q"]):
            formulas.append(case[1])
    (formula,) = formulas
    values = {_spelled(name): value for name, value in letters.items()}
    for name, text in definitions:
        if UNREADABLE not in text:
            value, letter = _Reader(_tokens(text), values).whole(), values.get(name, math.nan)
            if not (math.isnan(letter) or math.isclose(value, letter, rel_tol=1e-9)):
                raise ValueError(f"{name} is {value} by its definition, and {letter} as a letter")
            values[name] = value
    return _Reader(_tokens(formula), values).whole()


def _holds(case: str, q: float) -> bool:
    """Return whether q satisfies the condition of a case, `q < 2` or `q >= 2`."""
    return q < 2 if "<" in case else q >= 2


def _spelled(text: str) -> str:
    """Return a formula with the minimiser, or its norm, written as theta."""
    return text.replace(r"\|\theta^*\|_q", r"\theta").replace(r"\theta^*", r"\theta")


def _parts(latex: str) -> list[str]:
    """Return the formula and its definitions, which are separated by commas followed by a space."""
    return [re.sub(r"\\ ", " ", part).strip() for part in re.split(r",\\(?:quad| )", latex)]


def _tokens(text: str) -> list[str]:
    """Return the tokens of a formula in plain spelling."""
    for printed, plain in SPELLINGS:
        text = text.replace(printed, plain)
    return TOKEN.findall(SPACE.sub(" ", text))


@dataclass
class _Reader:
    tokens: list[str]
    letters: Mapping[str, float]
    place: int = field(default=0)

    @property
    def token(self) -> str:
        """Return the next token, or nothing at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, token: str = "") -> str:
        """Return the next token and move past it; raise `ValueError` if another one was
        expected.
        """
        if token and self.token != token:
            raise ValueError(f"{token} is not at {self.tokens[self.place :]}")
        self.place += 1
        return self.tokens[self.place - 1]

    def whole(self) -> float:
        """Return the value of the whole formula; raise `ValueError` if a token is left."""
        value = self.sum()
        if self.token:
            raise ValueError(f"{self.tokens[self.place :]} is left")
        return value

    def sum(self) -> float:
        """Return the value of a sum."""
        value = self.product()
        while self.token in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            value += sign * self.product()
        return value

    def product(self) -> float:
        """Return the value of a product or a quotient."""
        sign = -1.0 if self.token == "-" and self.take() else 1.0
        value = self.power()
        while self.token and self.token not in "+-,)}":
            if self.token == "/":
                self.take()
                value /= self.power()
            else:
                value *= self.power()
        return sign * value

    def power(self) -> float:
        """Return the value of an atom with its exponent."""
        value = self.atom()
        if self.token == "^":
            self.take()
            value = math.pow(value, self.argument())
        return value

    def argument(self) -> float:
        """Return the argument of a command: a group, or a single digit, letter or command."""
        if self.token == "{":
            self.take()
            value = self.sum()
            self.take("}")
            return value
        if self.token.isdigit() and len(self.token) > 1:
            digit, self.tokens[self.place] = self.token[0], self.token[1:]
            return float(digit)
        return self.atom()

    def atom(self) -> float:
        """Return the value of a number, a letter, a function or a group."""
        token = self.take()
        if token == "(":
            value = self.sum()
            self.take(")")
            return value
        if token == "{":
            self.place -= 1
            return self.argument()
        if token.isdigit():
            return float(token)
        if token == r"\frac":
            numerator = self.argument()
            denominator = self.argument()
            return numerator / denominator if denominator else math.copysign(math.inf, numerator)
        if token == r"\sqrt":
            return math.sqrt(self.argument())
        if token == r"\ln":
            return self.logarithm()
        if token in (r"\min", r"\max"):
            return self.extreme(min if token == r"\min" else max)
        if token not in self.letters:
            raise ValueError(f"{token} has no value")
        return self.letters[token]

    def logarithm(self) -> float:
        r"""Return the value of ``\ln x``, ``\ln^2(x)`` or ``\ln2d``, where touching factors form
        one argument.
        """
        exponent = 1.0
        if self.token == "^":
            self.take()
            exponent = self.argument()
        is_bracketed = self.token == "("
        value = self.atom()
        while not is_bracketed and self.token and self.token[0].isalnum():
            value *= self.power()
        return math.pow(math.log(value), exponent)

    def extreme(self, choose: Callable[..., float]) -> float:
        """Return what `choose`, the maximum or minimum, makes of a list in parentheses."""
        self.take("(")
        values = [self.sum()]
        while self.token == ",":
            self.take()
            values.append(self.sum())
        self.take(")")
        return choose(values)
