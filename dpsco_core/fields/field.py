"""What is known of a field of a scenario: a `Field`, which stands in the table of fields."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from dpsco_core.base.errors import require
from dpsco_core.base.limits import Limits
from dpsco_core.base.parsing import number, one_of, real, shorten, whole
from dpsco_core.base.seeds import FRESH, fresh_seed

# whole: an integer; real: a number; choice: one of a few words; slug, slugs: of the catalogue;
# numbers: a list of them.
Kind = Literal["whole", "real", "choice", "slug", "slugs", "numbers"]
# The two ends of the range of a number. The upper one may depend on the scenario; None is what the
# place allows, an attribute of `Limits`.
End = float | Callable[[Any], float] | None
Span = tuple[float, float]
# Text, or what makes it of a scenario.
Words = str | Callable[[Any], str]
# data: it changes the records that are drawn; run: what a method does with them; study: neither,
# only how many runs there are.
Scope = Literal["data", "run", "study"]


class Sign(NamedTuple):
    """The letter of a field in formulas, for a glossary."""

    latex: str
    name: str
    meaning: str  # one plain sentence


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a scenario: what it may hold, what it means, and how it is shown."""

    kind: Kind
    # What it means: after its name in a table, in a docstring and in the help of a flag, with
    # `{choices}` for the list of these.
    meaning: str
    label: Words  # the label of its control
    help: Words  # what its control says when it is pointed at
    group: str  # the group of controls that it is in
    shown: Callable[[Any], bool] = lambda _: True  # whether its control is, in a scenario
    front: int = 0  # its place among the controls that are always open; 0: folded away
    plain: Words = ""  # what it is, in plain words beside its control
    name: str = ""  # in a list of differences; without one, its symbol or its label
    symbol: str = ""  # as in ε = 1; empty if it has none
    sign: Sign | None = None  # the sign of its symbol
    # the range of a number, both ends included; None for both where other fields decide
    low: float | None = None
    high: End = None
    choices: Sequence[str] = ()  # the words or slugs that it may be
    optional: bool = False  # whether it may be None
    offered: tuple[float, ...] = ()  # the values that a slider goes through
    grid: tuple[float, ...] = ()  # its values where a study sweeps it; empty if no study does
    linear: bool = False  # whether an axis of them is drawn evenly, and not by its logarithm
    scope: Scope = "data"
    # what a field of a study is in the cells, so that equal cells of different studies are equal
    neutral: Any = None
    # whether it was added after results had been kept: their keys and their random streams then
    # know it only where it is not at its default
    late: bool = False
    flags: tuple[str, ...] = ()  # names of its flag beside its own
    flag_meaning: str = ""  # what the help of its flag says, if not `meaning`

    @property
    def description(self) -> str:
        """What it means, as Markdown."""
        return self.meaning.replace("{choices}", ", ".join(f"`{c}`" for c in self.choices))

    @property
    def short_name(self) -> str:
        """What it is called in a list of differences."""
        return self.symbol or self.name or str(self.label)

    def span(self, name: str, scenario: Any, limits: Limits) -> Span | None:
        """Return the least and the largest value at a place; None if other fields decide."""
        if self.low is None:
            return None
        high = getattr(limits, name) if self.high is None else self.high
        return self.low, high(scenario) if callable(high) else high

    def check(self, name: str, value: Any, scenario: Any, limits: Limits) -> None:
        """Raise `InvalidInput` unless a value is among the choices, or in the range."""
        if value is None and self.optional:
            return
        if self.kind in ("choice", "slug"):
            one_of(name, value, self.choices)
        span = self.span(name, scenario, limits)
        if span is None:
            return
        low, high = span
        if self.kind == "whole":
            whole(name, value, int(low), int(high))
        else:
            real(name, value, low, high)

    def parse(self, name: str, value: Any) -> Any:
        """Return a value in the field's own type; raises `InvalidInput`.

        Text, numbers and lists are taken; ``None``, ``""`` and ``"none"`` stand for no value, and
        the seed ``"fresh"`` for one that the operating system draws now.
        """
        listed = self.kind in ("slugs", "numbers")
        if value is None or value in ("", "none"):
            require(self.optional or listed, name, "given", "none")
            return () if listed else None
        if listed:
            must = "a list of slugs" if self.kind == "slugs" else "a list of numbers"
            parts = value.split(",") if isinstance(value, str) else value
            require(isinstance(parts, (list, tuple)), name, must, shorten(value))
            if self.kind == "slugs":
                require(all(isinstance(part, str) for part in parts), name, must, shorten(value))
                return tuple(part.strip() for part in parts)
            require("" not in parts, name, must, shorten(value))
            return tuple(number(name, part, must) for part in parts)
        if name == "seed" and value == FRESH:
            return fresh_seed()
        if self.kind == "whole":
            count = number(name, value, "an integer")
            require(isinstance(count, int), name, "an integer", shorten(value))
            return count
        if self.kind == "real":
            return float(number(name, value, "a number"))
        require(isinstance(value, str), name, "text", shorten(value))
        return value


def series(low: int, high: int) -> tuple[float, ...]:
    """Return 1, 2 and 5 times the powers of ten from 10^low to 10^high, which is the last."""
    numbers = ((float(f"{digit}e{e}"), e) for e in range(low, high + 1) for digit in (1, 2, 5))
    return tuple(int(value) if e >= 0 else value for value, e in numbers)[:-2]


def field(default: Any, **known: Any) -> Any:
    """Return a field of a dataclass with its default and its `Field`."""
    return dataclasses.field(default=default, metadata={"known": Field(**known)})
