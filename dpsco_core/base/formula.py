"""A formula typed by a visitor, such as ``d*sqrt(log(1/delta))/(n*epsilon)``: a small grammar.

    sum      = product { ("+" | "-") product }
    product  = signed { ("*" | "/") signed }
    signed   = { "+" | "-" } power
    power    = atom [ ("^" | "**") signed ]
    atom     = number | name | function "(" sum { "," sum } ")" | "(" sum ")"

Nothing else is understood: no attribute, no index, no text, and no name but `LETTERS` and
`FUNCTIONS`. A formula is a list of steps on a stack of floats.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import shorten

LONGEST, DEEPEST = 300, 40  # characters, and brackets and signs within each other
# What may be written, and the letter that it stands for.
LETTERS = {"n": "n", "d": "d", "m": "m", "p": "p"} | {
    spelling: name
    for name, letter in (("epsilon", "ε"), ("delta", "δ"), ("rho", "ρ"))
    for spelling in (name, letter)
}
# Name -> how many arguments it takes at least and at most, and what it returns of them.
FUNCTIONS: dict[str, tuple[int, int, Callable[[Sequence[float]], float]]] = {
    "sqrt": (1, 1, lambda a: math.sqrt(a[0])),
    "log": (1, 1, lambda a: math.log(a[0])),
    "ln": (1, 1, lambda a: math.log(a[0])),
    "exp": (1, 1, lambda a: math.exp(a[0])),
    "min": (1, 9, min),
    "max": (1, 9, max),
}
BINARY: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": math.pow,
}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<name>[^\W\d_]+)|(?P<sign>\*\*|[-+*/^(),]))"
)
Step = tuple[str, str | float, int]  # what it is, its name or value, how many arguments it takes


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A formula that has been read: its text, and its steps in the order of their evaluation."""

    text: str
    steps: tuple[Step, ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters in it, each once."""
        return tuple(dict.fromkeys(str(name) for kind, name, _ in self.steps if kind == "letter"))

    def value(self, letters: Mapping[str, float]) -> float:
        """Return the formula's value: NaN where it has none, infinite where it is too large."""
        stack: list[float] = []
        for kind, name, count in self.steps:
            if kind == "number":
                stack.append(float(name))
            elif kind == "letter":
                stack.append(letters[str(name)])
            else:
                arguments = [stack.pop() for _ in range(count)][::-1]
                stack.append(_applied(kind, str(name), arguments))
        return stack[0]


def parse_formula(text: str) -> Formula:
    """Return what a text means; raises `InvalidInput` in one sentence.

    Examples
    --------
    >>> parse_formula("sqrt(d)/(n*ε)").value({"d": 4, "n": 10, "epsilon": 0.5})
    0.4
    """
    size = f"at most {LONGEST} characters long"
    require(len(text) <= LONGEST, "formula", size, shorten(text))
    reader = _Reader(_tokens(text))
    reader.sum()
    reader.end()
    return Formula(text=text.strip(), steps=tuple(reader.steps))


def _applied(kind: str, name: str, arguments: list[float]) -> float:
    if kind == "minus":
        return -arguments[0]
    try:
        return BINARY[name](*arguments) if kind == "binary" else FUNCTIONS[name][2](arguments)
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return math.nan


def _tokens(text: str) -> list[tuple[str, str]]:
    found, place, stripped = [], 0, text.rstrip()
    while place < len(stripped):
        token = _TOKEN.match(stripped, place)
        if token is None:
            _refuse("made of numbers, letters and + - * / ^ ( )", stripped[place:].strip())
        assert token is not None and token.lastgroup is not None
        sign = token[token.lastgroup]
        found.append((token.lastgroup, "^" if sign == "**" else sign))
        place = token.end()
    return found


def _refuse(condition: str, got: str) -> None:
    raise InvalidInput(f"formula must be {condition}, got formula={shorten(got)}.")


class _Reader:
    """Reads tokens from left to right, and appends steps; see the grammar above."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self.steps: list[Step] = []

    def sum(self) -> None:
        self._chain("+-", self._product)

    def end(self) -> None:
        if self._place < len(self._tokens):
            _refuse("one formula, with an operator between its parts", self._rest())

    def _rest(self) -> str:
        return " ".join(text for _, text in self._tokens[self._place :] or self._tokens)

    def _next(self) -> str:
        kind, text = ("", "")
        if self._place < len(self._tokens):
            kind, text = self._tokens[self._place]
        return text if kind == "sign" else ""

    def _taken(self, signs: str) -> str:
        """Return the next token if it is one of `signs`, and step over it."""
        found = self._next()
        if not found or found not in signs:
            return ""
        self._place += 1
        return found

    def _chain(self, signs: str, part: Callable[[], None]) -> None:
        part()
        while sign := self._taken(signs):
            part()
            self.steps.append(("binary", sign, 2))

    def _product(self) -> None:
        self._chain("*/", self._signed)

    def _signed(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            _refuse(f"at most {DEEPEST} brackets or signs deep", self._rest())
        if sign := self._taken("+-"):
            self._signed()
            if sign == "-":
                self.steps.append(("minus", "", 1))
        else:
            self._atom()
            if self._taken("^"):
                self._signed()
                self.steps.append(("binary", "^", 2))
        self._depth -= 1

    def _atom(self) -> None:
        if self._taken("("):
            self.sum()
            self._close()
            return
        if self._place >= len(self._tokens):
            _refuse("complete after its last sign", self._rest())
        kind, text = self._tokens[self._place]
        if kind == "sign":
            _refuse("a number, a letter or a bracket after each sign", self._rest())
        self._place += 1
        if kind == "number":
            self.steps.append(("number", float(text), 0))
        elif text in LETTERS:
            self.steps.append(("letter", LETTERS[text], 0))
        else:
            self._function(text)

    def _function(self, name: str) -> None:
        if name not in FUNCTIONS:
            known = ", ".join(dict.fromkeys((*LETTERS.values(), *FUNCTIONS)))
            _refuse(f"made of the names {known}", name)
        least, most, _ = FUNCTIONS[name]
        if not self._taken("("):
            _refuse(f"followed by a bracket after {name}", self._rest())
        count = 1
        self.sum()
        while self._taken(","):
            self.sum()
            count += 1
        self._close()
        if not least <= count <= most:
            _refuse(f"given {least} arguments for {name}", str(count))
        self.steps.append(("function", name, count))

    def _close(self) -> None:
        if not self._taken(")"):
            _refuse("closed with ) where a bracket is open", self._rest())
