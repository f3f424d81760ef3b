"""A formula as text, such as ``d*sqrt(log(1/delta))/(n*epsilon)``: a small grammar.

    sum      = product { ("+" | "-") product }
    product  = signed { ("*" | "/") signed }
    signed   = { "+" | "-" } power
    power    = atom [ ("^" | "**") signed ]
    atom     = number | name | function "(" sum { "," sum } ")" | "(" sum ")"

Nothing else is understood: no attributes, indices or text, and no names but those of `FUNCTIONS`
and of the letters: `LETTERS` in what a visitor types, and a rate's own in `dpsco_core.bounds.rate`.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import shorten

LONGEST, DEEPEST = 300, 40  # limits of a formula: its characters, and its nested brackets and signs
MOST_FORMULAS = 4  # the largest number of formulas in one text
# The letters that a formula may contain, each with the quantity that it stands for.
LETTERS = {name: name for name in ("n", "d", "m", "p", "epsilon", "delta", "rho")}
LETTERS |= {name: name for name in ("D", "q", "L", "kappa", "width", "G_2", "G_p", "M")}
LETTERS |= {"k": "p", "G_k": "G_p"}  # Some papers call the order of the moment k rather than p.
LETTERS |= {"ε": "epsilon", "δ": "delta", "ρ": "rho", "κ": "kappa"}
# Each function's name, its smallest and largest number of arguments, and its definition.
FUNCTIONS: dict[str, tuple[int, int, Callable[..., float]]] = {
    "sqrt": (1, 1, math.sqrt),
    "log": (1, 1, math.log),
    "ln": (1, 1, math.log),
    "exp": (1, 1, math.exp),
    "min": (1, 9, lambda *a: min(a)),
    "max": (1, 9, lambda *a: max(a)),
}
BINARY: dict[str, Callable[..., float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": math.pow,
}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<name>[^\W\d_]+(?:_[^\W_]+)?)|(?P<sign>\*\*|[-+*/^(),]))"
)
Value = Callable[[Mapping[str, float]], float]  # a function that takes the values of the letters


@dataclass(frozen=True)
class Expression:
    """A number, a letter, or a function or sign with the expressions that it is applied to."""

    text: str  # the number, the letter, the name of the function, or the sign
    parts: tuple["Expression", ...] = ()


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A parsed formula."""

    text: str
    expression: Expression = field(compare=False)  # the formula's own structure
    letters: tuple[str, ...]  # the letters in the formula, without repetition
    # the value of the formula: NaN if it is undefined, infinite on overflow
    value: Value = field(compare=False)
    # the summands by their text, or the whole formula if it is not a sum
    terms: Mapping[str, Value] = field(compare=False)


def parse_formula(text: str, letters: Mapping[str, str] = LETTERS) -> Formula:
    """Return the formula that a text means; raises `InvalidInput` with one sentence.

    `letters` are the names that it may contain, each with the quantity that it stands for.

    Examples
    --------
    >>> parse_formula("sqrt(d)/(n*ε)").value({"d": 4, "n": 10, "epsilon": 0.5})
    0.4
    """
    size = f"at most {LONGEST} characters long"
    require(len(text) <= LONGEST, "formula", size, shorten(text))
    reader = _Reader(_split_into_tokens(text), letters)
    terms, expression = reader.whole()
    return Formula(
        text=text.strip(),
        expression=expression,
        letters=tuple(reader.letters),
        value=_value_of(expression),
        terms={
            name: _value_of(term) for name, term in (terms or {text.strip(): expression}).items()
        },
    )


def parse_formulas(text: str) -> tuple[Formula, ...]:
    """Return the formulas in a text separated by ``;``; raises `InvalidInput` as one does.

    Examples
    --------
    >>> [formula.text for formula in parse_formulas("1/sqrt(n); d/(n*ε)")]
    ['1/sqrt(n)', 'd/(n*ε)']
    """
    parts = [part for part in text.split(";") if part.strip()]
    require(
        len(parts) <= MOST_FORMULAS,
        "formula",
        f"at most {MOST_FORMULAS}, separated by ;",
        f"{len(parts)} of them",
    )
    return tuple(parse_formula(part) for part in parts)


def _value_of(expression: Expression) -> Value:
    """Return a function that evaluates an expression at given values of its letters."""
    text, parts = expression.text, tuple(map(_value_of, expression.parts))
    if not parts and text[0].isalpha():
        return operator.itemgetter(text)
    if not parts:
        number = float(text)
        return lambda letters: number
    if text in FUNCTIONS:
        function = FUNCTIONS[text][2]
    else:
        function = BINARY[text] if len(parts) == 2 else operator.neg

    def value(letters: Mapping[str, float]) -> float:
        """Return the value of the expression: infinite on overflow, NaN where undefined."""
        arguments = [part(letters) for part in parts]
        try:
            return function(*arguments)
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan

    return value


def _split_into_tokens(text: str) -> list[tuple[str, str]]:
    """Return the tokens of a formula as pairs (number, name or sign; its text).

    Raises `InvalidInput` at the first character that begins no token.
    """
    tokens, place, stripped = [], 0, text.rstrip()
    while place < len(stripped):
        token = _TOKEN.match(stripped, place)
        if token is None:
            _refuse("made of numbers, letters and + - * / ^ ( )", stripped[place:].strip())
        kind = str(token.lastgroup)
        tokens.append((kind, "^" if token[kind] == "**" else token[kind]))
        place = token.end()
    return tokens


def _refuse(condition: str, text: str) -> NoReturn:
    """Raise `InvalidInput` with the condition that a formula does not meet."""
    raise InvalidInput(f"formula must be {condition}, got formula={shorten(text)}.")


class _Reader:
    """Turns tokens into an expression, from left to right; see the grammar above."""

    def __init__(self, tokens: list[tuple[str, str]], names: Mapping[str, str]) -> None:
        """Begin to read tokens in which only the given names are letters."""
        self._tokens, self._place, self._depth = tokens, 0, 0
        self._names = names
        self.letters: dict[str, None] = {}  # the letters that have been read

    def whole(self) -> tuple[dict[str, Expression], Expression]:
        """Read the whole formula, and return its summands by their text, and its expression.

        The summands are left out if there is only one, or if any is subtracted.
        """
        terms: dict[str, Expression] = {}
        whole, has_minus, sign = None, False, "+"
        while sign:
            start = self._place
            part = self._read_product()
            words = "".join(text for _, text in self._tokens[start : self._place])
            same = terms.get(words)
            terms[words] = part if same is None else Expression("+", (same, part))
            whole = part if whole is None else Expression(sign, (whole, part))
            has_minus |= sign == "-"
            sign = self._take_sign("+-")
        assert whole is not None
        if self._place < len(self._tokens):
            self._refuse("one formula, with an operator between its parts")
        return ({} if has_minus or len(terms) == 1 else terms), whole

    def _refuse(self, condition: str) -> NoReturn:
        """Raise `InvalidInput` with the condition that the formula being read does not meet."""
        rest = self._tokens[self._place :] or self._tokens
        _refuse(condition, " ".join(text for _, text in rest))

    def _take_sign(self, signs: str) -> str:
        """Return the next token and move past it if it is one of `signs`; otherwise ""."""
        kind, text = self._tokens[self._place] if self._place < len(self._tokens) else ("", "")
        if kind != "sign" or text not in signs:
            return ""
        self._place += 1
        return text

    def _read_sum(self) -> Expression:
        """Read a chain of products joined by + and -, and return its expression."""
        return self._read_operator_chain("+-", self._read_product)

    def _read_product(self) -> Expression:
        """Read a chain of signed powers joined by * and /, and return its expression."""
        return self._read_operator_chain("*/", self._read_signed_power)

    def _read_operator_chain(self, signs: str, part: Callable[[], Expression]) -> Expression:
        """Read parts with operators between them, which apply from left to right."""
        whole = part()
        while sign := self._take_sign(signs):
            whole = Expression(sign, (whole, part()))
        return whole

    def _read_signed_power(self) -> Expression:
        """Read a power with any number of signs before it."""
        self._depth += 1
        if self._depth > DEEPEST:
            self._refuse(f"at most {DEEPEST} brackets or signs deep")
        if sign := self._take_sign("+-"):
            power = self._read_signed_power()
            power = Expression("-", (power,)) if sign == "-" else power
        else:
            power = self._read_atom()
            if self._take_sign("^"):
                power = Expression("^", (power, self._read_signed_power()))
        self._depth -= 1
        return power

    def _read_atom(self) -> Expression:
        """Read a number, a letter, a function with its arguments, or a sum in brackets."""
        if self._take_sign("("):
            inner = self._read_sum()
            self._read_closing_bracket()
            return inner
        if self._place >= len(self._tokens):
            self._refuse("complete after its last sign")
        kind, text = self._tokens[self._place]
        if kind == "sign":
            self._refuse("a number, a letter or a bracket after each sign")
        self._place += 1
        if kind == "number":
            return Expression(text)
        if text in self._names:
            self.letters[self._names[text]] = None
            return Expression(self._names[text])
        return self._read_arguments(text)

    def _read_arguments(self, name: str) -> Expression:
        """Read the arguments of a function, up to its closing bracket."""
        if name not in FUNCTIONS:
            names = ", ".join(dict.fromkeys((*self._names.values(), *FUNCTIONS)))
            raise InvalidInput(f"formula must be made of {names}, got {shorten(name)}.")
        fewest, largest, _ = FUNCTIONS[name]
        if not self._take_sign("("):
            self._refuse(f"followed by a bracket after {name}")
        parts = [self._read_sum()]
        while self._take_sign(","):
            parts.append(self._read_sum())
        self._read_closing_bracket()
        if not fewest <= len(parts) <= largest:
            _refuse(f"given {fewest} arguments for {name}", str(len(parts)))
        return Expression(name, tuple(parts))

    def _read_closing_bracket(self) -> None:
        """Read a closing bracket, or refuse the formula."""
        if not self._take_sign(")"):
            self._refuse("closed with ) where a bracket is open")
