"""What the letters of a bound's formula mean, and both sides of its conditions, at a setting.

The papers use one letter for several things: M is a diameter in one family of bounds and a moment
in another. A bound's own letters come before the common ones.
"""

import math
import re
from dataclasses import dataclass

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.formula import FUNCTIONS, LETTERS, parse_formula
from dpsco_core.bounds import Bound, Letter
from dpsco_core.bounds.letters import COMMON, LOWER_RHO, delta_of, epsilon_of
from dpsco_core.bounds.lq.conditions import width_bounds
from dpsco_core.problems import Setting
from dpsco_core.results.report import bound_setting
from dpsco_core.scenario import Scenario

PROBABILITIES = {"probability 0.9": 0.1, "probability 0.95": 0.05}


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A letter in LaTeX, its meaning, and its value; NaN if it has no value of its own."""

    latex: str
    meaning: str
    value: float


def _width_letter(token: str, setting: Setting, kind: str) -> Letter:
    """Return the letter of a width, with the end of its interval that the bound uses."""
    widths, is_lower = width_bounds(setting), kind == "lower"
    value = widths.lower if is_lower else widths.upper
    end = "" if widths.exact else f", {'lower' if is_lower else 'upper'} bound"
    return Letter(token, f"Gaussian width of the set{end}", lambda _: value)


def symbols(
    point: Scenario,  # a single point whose problem is that of the bound
    row: Bound,
) -> tuple[Symbol, ...]:
    """Return the letters of a bound's formula, in the order in which a reader looks them up."""
    setting = row.setting_of_statement(bound_setting(point, row))
    chance = PROBABILITIES.get(row.card.guarantee)
    row_letters = {letter.token: letter for letter in row.letters}
    if chance is not None and r"\beta" not in row_letters:
        row_letters[r"\beta"] = Letter(r"\beta", "chance that the bound fails", lambda _: chance)
    if row.card.kind == "lower" and row.card.privacy != "pure":
        row_letters.setdefault(LOWER_RHO.token, LOWER_RHO)
    for token in ("G_C", "G"):
        row_letters.setdefault(token, _width_letter(token, setting, row.card.kind))
    merged = {letter.token: letter for letter in COMMON} | row_letters
    order = [e.token for e in COMMON] + [
        t for t in row_letters if t not in {e.token for e in COMMON}
    ]
    return tuple(
        Symbol(latex=token, meaning=merged[token].meaning, value=merged[token].value(setting))
        for token in order
        if merged[token].meaning and contains(row.card.latex, token)
    )


def contains(latex: str, token: str) -> bool:
    r"""Return whether a formula contains a letter, a command, or a letter with an index.

    Examples
    --------
    >>> contains(r"\sqrt{d}\rho_2", "d"), contains(r"\delta", "d"), contains(r"\rho_2", r"\rho")
    (True, False, False)
    """
    if token.startswith("\\"):
        return re.search(re.escape(token) + r"(?![a-zA-Z_])", latex) is not None
    plain = re.sub(r"\\(?:text|mathrm)\{[^}]*\}", " ", latex)
    plain = re.sub(r"\\[a-zA-Z]+", " ", plain)
    return re.search(rf"{re.escape(token)}(?![_'])", plain) is not None


_COMPARED = re.compile(r"(<=|>=|<|>|=)")
_PIECE = re.compile(r"\d+\.?\d*|[A-Za-z_']+|\S")
_OPERAND = re.compile(r"[\w.]+$|\)")


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition: its words, whether it holds, why it fails, and the numbers on both sides."""

    # The failure is empty if the condition holds.
    text: str
    failure: str
    # The numbers on both sides with the signs between them, as in `(500, ">=", 1234)`; empty where
    # the condition does not compare sizes.
    sides: tuple[float | str, ...]


def conditions(point: Scenario, row: Bound) -> tuple[Condition, ...]:
    """Return every condition of a bound at a single point whose problem it is about."""
    setting = row.setting_of_statement(bound_setting(point, row))
    letters = _letters_of_conditions(setting, row)
    return tuple(
        Condition(text=h.text, failure=h.check(setting), sides=_numbers_on_sides(h.text, letters))
        for h in row.hypotheses
    )


def _letters_of_conditions(setting: Setting, row: Bound) -> dict[str, float]:
    """Return the letters that have the same meaning in every condition."""
    values: dict[str, float] = {"n": setting.n, "d": setting.d, "p": setting.moment_order}
    if row.card.level == "user":
        values["m"] = setting.m
    values["rho"] = setting.rho if row.card.kind == "lower" else setting.gaussian_rho
    budget = {"epsilon": epsilon_of(setting), "delta": delta_of(setting)}
    return values | {name: value for name, value in budget.items() if not math.isnan(value)}


def _numbers_on_sides(text: str, letters: dict[str, float]) -> tuple[float | str, ...]:
    """Return the numbers of a comparison; empty if a side is not a formula of `letters`.

    In ``n >= k = 16 ln(d)`` the name in the middle only stands for what follows.
    """
    parts = [part.strip() for part in _COMPARED.split(text.split(": ")[-1])]
    while len(parts) >= 5 and parts[3] == "=":
        del parts[2:4]
    if len(parts) < 3 or "=" in parts:
        return ()
    sides = [
        part if place % 2 else _value_of_formula(part, letters) for place, part in enumerate(parts)
    ]
    numbers = (value for value in sides if isinstance(value, float))
    return tuple(sides) if all(map(math.isfinite, numbers)) else ()


def _value_of_formula(text: str, letters: dict[str, float]) -> float:
    """Return the value of a formula for given values of its letters."""
    try:
        formula = parse_formula(_write_out_products(text))
    except InvalidInput:
        return math.nan
    lacking = set(formula.letters) - letters.keys()
    return math.nan if lacking else formula.value(letters)


def _write_out_products(text: str) -> str:
    """Return a printed formula with every product and bracket written out.

    Examples
    --------
    >>> _write_out_products("4 ln(2md/0.1) + 2 ln n")
    '4 * ln ( 2 * m * d / 0.1 ) + 2 * ln ( n )'
    """
    bracketed = re.sub(r"\bln ([a-z])\b", r"ln(\1)", text)
    parts: list[str] = []
    for piece in _PIECE.findall(bracketed):
        sizes = piece not in LETTERS and piece not in FUNCTIONS and set(piece) <= set("nmd")
        for part in piece if sizes else [piece]:
            starts = part == "(" or part[0].isalnum()
            if parts and starts and _OPERAND.match(parts[-1]) and parts[-1] not in FUNCTIONS:
                parts.append("*")
            parts.append(part)
    return " ".join(parts)
