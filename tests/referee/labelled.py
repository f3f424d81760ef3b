"""Statements of the five papers as inequalities, each with the erratum that is known of it.

Only the statement goes to the referee: both sides, the ranges and the printed conditions, under a
number in place of its name. Where it fails is not told; the experiments of the errata know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsco_core.explain.errata import ERRATA, Erratum
from dpsco_core.referee.inequality import Inequality, Requirement, VariableRange

# No run or evaluation of these statements shows their errata, each for the stated reason.
UNSEEN = {
    "zhao.side-condition": "the proof omits a condition, and the conclusion is true without it",
    "arora.utility-constants": "the printed constant is true; its derivation gives another one",
    "su.hidden-constant": "true up to the constant that O(·) hides",
}


@dataclass(frozen=True)
class Labelled:
    """A statement with the slug of its erratum."""

    erratum: str
    statement: Inequality


def whole(low: float, high: float) -> VariableRange:
    """Return the range of a whole number."""
    return VariableRange(low=low, high=high, is_whole=True)


def real(low: float, high: float) -> VariableRange:
    """Return the range of a real number."""
    return VariableRange(low=low, high=high)


def labelled(
    erratum: str,
    smaller: Callable[..., float],
    larger: Callable[..., float],
    conditions: dict[str, Callable[..., bool]],
    *,
    is_rate: bool = False,
    **ranges: VariableRange,
) -> Labelled:
    """Return a statement whose slug does not reveal its source."""
    statement = Inequality(
        slug="a-statement",
        text="the left side is at most the right side",
        smaller=smaller,
        larger=larger,
        ranges=ranges,
        hypotheses=tuple(Requirement(text=t, holds=h) for t, h in conditions.items()),
        constant="rate" if is_rate else "explicit",
    )
    return Labelled(erratum, statement)


def visible() -> tuple[Erratum, ...]:
    """Return the runnable errata of false statements that evaluation can show."""
    return tuple(
        entry
        for entry in ERRATA
        if entry.experiment is not None
        and entry.severity != "valid but loose"
        and entry.slug not in UNSEEN
    )
