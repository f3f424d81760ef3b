"""The conditions of a bound with the numbers on both sides, where sizes and budget decide them."""

import math
import re
from dataclasses import dataclass

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.formula import FUNCTIONS, LETTERS, parse_formula
from dpsco_core.bounds import Bound
from dpsco_core.privacy.budget import ApproxDP, PureDP
from dpsco_core.problems import Setting
from dpsco_core.results.report import bound_setting
from dpsco_core.scenario import Scenario

_COMPARED = re.compile(r"(<=|>=|<|>|=)")
_PIECE = re.compile(r"\d+\.?\d*|[A-Za-z_']+|\S")
_OPERAND = re.compile(r"[\w.]+$|\)")


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition: its words, whether it holds, why not, and both sides in numbers."""

    # the failure is empty where it holds
    text: str
    failure: str
    # values and the signs between them, as in `(500, ">=", 1234)`; empty where the condition does
    # not compare sizes
    sides: tuple[float | str, ...]


def conditions(point: Scenario, which: Bound) -> tuple[Condition, ...]:
    """Return every condition of a bound at a single point whose problem it is about."""
    setting = which.seen(bound_setting(point, which))
    letters = _letters(setting, which)
    return tuple(
        Condition(text=h.text, failure=h.check(setting), sides=_sides(h.text, letters))
        for h in which.hypotheses
    )


def _letters(setting: Setting, which: Bound) -> dict[str, float]:
    """Return the letters that mean the same in every condition."""
    budget = setting.budget
    known: dict[str, float] = {"n": setting.n, "d": setting.d, "p": setting.moment_order}
    if which.card.level == "user":
        known["m"] = setting.m
    known["rho"] = setting.rho if which.card.kind == "lower" else setting.gaussian_rho
    if isinstance(budget, (PureDP, ApproxDP)):
        known["epsilon"] = budget.epsilon
    if isinstance(budget, ApproxDP):
        known["delta"] = budget.delta
    return known


def _sides(text: str, letters: dict[str, float]) -> tuple[float | str, ...]:
    """Return the numbers of a comparison; nothing where a side is no formula of `letters`.

    In ``n >= k = 16 ln(d)`` the name in the middle only stands for what follows.
    """
    parts = [part.strip() for part in _COMPARED.split(text.split(": ")[-1])]
    while len(parts) >= 5 and parts[3] == "=":
        del parts[2:4]
    if len(parts) < 3 or "=" in parts:
        return ()
    found = [part if place % 2 else _value(part, letters) for place, part in enumerate(parts)]
    numbers = (value for value in found if isinstance(value, float))
    return tuple(found) if all(map(math.isfinite, numbers)) else ()


def _value(text: str, letters: dict[str, float]) -> float:
    try:
        formula = parse_formula(_with_signs(text))
    except InvalidInput:
        return math.nan
    lacking = set(formula.letters) - letters.keys()
    return math.nan if lacking else formula.value(letters)


def _with_signs(text: str) -> str:
    """Return a formula as people print it with every product and bracket written.

    Examples
    --------
    >>> _with_signs("4 ln(2md/0.1) + 2 ln n")
    '4 * ln ( 2 * m * d / 0.1 ) + 2 * ln ( n )'
    """
    bracketed = re.sub(r"\bln ([a-z])\b", r"ln(\1)", text)
    found: list[str] = []
    for piece in _PIECE.findall(bracketed):
        sizes = piece not in LETTERS and piece not in FUNCTIONS and set(piece) <= set("nmd")
        for part in piece if sizes else [piece]:
            starts = part == "(" or part[0].isalnum()
            if found and starts and _OPERAND.match(found[-1]) and found[-1] not in FUNCTIONS:
                found.append("*")
            found.append(part)
    return " ".join(found)
