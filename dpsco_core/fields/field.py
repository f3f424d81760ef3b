"""The description of a field of a scenario: its type, range, texts and control."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from dpsco_core.base.errors import require
from dpsco_core.base.limits import Limits
from dpsco_core.base.parsing import number, one_of, real, shorten, whole
from dpsco_core.base.seeds import FRESH, fresh_seed

# A value is an integer (whole), a number (real), one of a few words (choice), one or several names
# from the catalogue (slug, slugs), or a list of numbers (numbers).
Kind = Literal["whole", "real", "choice", "slug", "slugs", "numbers"]
# The upper end of a range is a constant, a function of the scenario, or None for the limit of the
# program in use, which is an attribute of `Limits`.
End = float | Callable[[Any], float] | None
Span = tuple[float, float]
# Words are a text on a page, or a function that makes the text from a scenario.
Words = str | Callable[[Any], str]
# A field changes the records (data), what a method does with them (run), or only the list of runs
# (study).
Scope = Literal["data", "run", "study"]


class Sign(NamedTuple):
    """The letter of a field in formulas, for a glossary."""

    latex: str  # the letter in LaTeX
    name: str  # the name of the quantity
    meaning: str  # the meaning of the letter, one plain sentence


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a scenario: its values, its meaning, and its presentation."""

    kind: Kind
    # The meaning of the field follows its name in tables, docstrings and the help of flags;
    # `{choices}` stands for the list of choices.
    meaning: str
    label: Words  # the label of the field's control
    help: Words  # the tooltip of the field's control
    group: str  # the group of controls that the field belongs to
    is_shown: Callable[[Any], bool] = lambda _: True  # whether the control is shown for a scenario
    front: int = 0  # the place among the open controls; 0 if it is folded away
    plain: Words = ""  # an explanation in plain words beside the control
    # These words, one or two each, say what the smallest and the largest value mean.
    ends: tuple[str, str] | None = None
    name: str = ""  # the name in a list of differences, for a field without a symbol
    symbol: str = ""  # the symbol of the field, such as ε; may be empty
    sign: Sign | None = None  # the glossary entry of the symbol
    # A number is between these ends, both included; both are None if other fields decide.
    low: float | None = None
    high: End = None
    choices: Sequence[str] = ()  # the allowed words or slugs
    optional: bool = False  # whether the value may be None
    offered: tuple[float, ...] = ()  # the values that a slider offers
    # A sweep over this field has these values by default; no study sweeps it if there are none.
    grid: tuple[float, ...] = ()
    linear: bool = False  # whether an axis of this field is linear rather than logarithmic
    scope: Scope = "data"
    # This value replaces the field in the cells of a study, so that equal cells of different
    # studies have equal keys.
    neutral: Any = None
    # Whether the field is younger than some stored results: their keys and random streams include
    # the field only if it is not at its default.
    is_late: bool = False
    flags: tuple[str, ...] = ()  # further names of the flag on the command line
    flag_meaning: str = ""  # the help of the flag, if it differs from `meaning`

    @property
    def description(self) -> str:
        """The meaning of the field as Markdown, with its choices filled in."""
        return self.meaning.replace("{choices}", ", ".join(f"`{c}`" for c in self.choices))

    @property
    def short_name(self) -> str:
        """The name of the field in a list of differences."""
        return self.symbol or self.name or str(self.label)

    def span(self, name: str, scenario: Any, limits: Limits) -> Span | None:
        """Return the smallest and the largest value of the field `name` under the limits.

        None says that the field is no number, or that other fields decide on its range.
        """
        if self.low is None:
            return None
        high = getattr(limits, name) if self.high is None else self.high
        return self.low, high(scenario) if callable(high) else high

    def check(self, name: str, value: Any, scenario: Any, limits: Limits) -> None:
        """Raise `InvalidInput` unless a value of the field `name` is a choice or in the range."""
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

        It accepts text, numbers and lists; ``None``, ``""`` and ``"none"`` stand for no value, and
        the seed ``"fresh"`` for a new one from the operating system.
        """
        is_list = self.kind in ("slugs", "numbers")
        if value is None or value in ("", "none"):
            require(self.optional or is_list, name, "given", "none")
            return () if is_list else None
        if is_list:
            condition = "a list of slugs" if self.kind == "slugs" else "a list of numbers"
            parts = value.split(",") if isinstance(value, str) else value
            require(isinstance(parts, (list, tuple)), name, condition, shorten(value))
            if self.kind == "slugs":
                require(
                    all(isinstance(part, str) for part in parts), name, condition, shorten(value)
                )
                return tuple(part.strip() for part in parts)
            require("" not in parts, name, condition, shorten(value))
            return tuple(number(name, part, condition) for part in parts)
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
    """Return 1, 2 and 5 times the powers of ten from 10^low on, up to 10^high, for a slider."""
    numbers = ((float(f"{digit}e{e}"), e) for e in range(low, high + 1) for digit in (1, 2, 5))
    return tuple(int(value) if e >= 0 else value for value, e in numbers)[:-2]


def field(default: Any, **properties: Any) -> Any:
    """Return a dataclass field whose metadata hold a `Field` with these properties."""
    return dataclasses.field(default=default, metadata={"known": Field(**properties)})
