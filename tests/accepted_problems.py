"""Problems that a method accepts, determined by asking the method; no test lists them."""

from __future__ import annotations

from functools import cache
from typing import Any

from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import make_method, method_class
from dpsco_core.scenario import Scenario

LARGE_SIZES = {
    "n": 1_000_000,
    "d": 4,
    "epsilon": 8.0,
}  # With so many records only the kind of the losses can make a method refuse.


def set_for(slug: str) -> dict[str, Any]:
    """Return the fields of the set on which a method is audited; none for the l2 ball."""
    family = method_class(slug)
    return {"geometry": "lq", "q": family.stage.exponent} if family.card.geometry == "lq" else {}


@cache
def accepts(slug: str, problem: str, kind: str | None = None) -> bool:
    """Whether a method plans on a problem with many records, on a set of kind `kind` where it is
    given.
    """
    card = method_class(slug).card
    if problem not in card.problems:
        return False
    fields: dict[str, Any] = {"m": 4 if card.level == "user" else 1}
    fields |= set_for(slug) if kind is None else {"geometry": kind}
    point = Scenario(problem=problem, methods=(slug,), **LARGE_SIZES, **fields)
    try:
        make_method(slug, "tight", "practical").plan(point.setting)
    except NotApplicable:
        return False
    return True


def first_accepted(slug: str, *problems: str) -> str:
    """Return the first of the problems that a method takes."""
    return next(problem for problem in problems if accepts(slug, problem))
