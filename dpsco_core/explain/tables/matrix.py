"""The matrix: in which cells methods run, and bounds with proven constants hold.

A cell is a problem on a constraint set, under a kind of budget, with m items per user.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import PROBLEM_SLUGS, bounds_for, make_method, methods_under, problem_card
from dpsco_core.explain.tables.wider import proven_lowers
from dpsco_core.explain.window import ATTAINED, Notion
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.scenario import Scenario

ITEMS = (1, 16)
BUDGETS: dict[Notion, dict[str, float | None]] = {
    "zcdp": {"epsilon": None, "delta": None, "rho": 0.5},
    "approx": {"epsilon": 1.0, "delta": 1e-6},
    "pure": {"epsilon": 1.0, "delta": 0.0},
}
SIZES: dict[str, Any] = {"n": 2000, "d": 10, "p": 2.0}
NO_USER_UPPER = (
    "At user level explicit upper bounds are proven for means, squared distances and linear losses "
    "only, and beside them that of answering without data; for other losses there are rates."
)
EXPONENT = 1.5  # the exponent q of the geometry lq


@dataclass(frozen=True, kw_only=True)
class MatrixCell:
    """The methods and bounds of the catalogue for a problem on a set under a kind of budget."""

    problem: str
    geometry: str
    budget: Notion
    m: int
    methods: tuple[str, ...]  # the private methods that run there
    uppers: tuple[str, ...]  # the explicit upper bounds on means that hold and are finite
    # the explicit lower bounds for the problem's own class of losses that are positive
    lowers: tuple[str, ...]
    # the explicit lower bounds for a wider class of losses, whose hard case is not of this problem
    wider: tuple[str, ...]

    @property
    def name(self) -> str:
        """The cell in a few words, such as ``"hinge l1 zcdp 1"``."""
        return f"{self.problem} {self.geometry} {self.budget} {self.m}"

    @property
    def no_upper(self) -> str:
        """Why no explicit upper bound holds where methods run; empty where one does."""
        if self.uppers or not self.methods:
            return ""
        return NO_USER_UPPER if self.m > 1 else "No explicit upper bound is proven here."

    @property
    def no_lower(self) -> str:
        """Why no explicit lower bound holds where methods run; empty where one does."""
        if self.lowers or self.wider or not self.methods:
            return ""
        return "No explicit lower bound is proven on this set yet."


def scenario_of(problem: str, geometry: str, budget: Notion, m: int) -> Scenario | None:
    """Return the scenario of a cell; None where the problem cannot be posed on the geometry."""
    fields: dict[str, Any] = {**SIZES, **BUDGETS[budget]}
    if geometry == "lq":
        fields["q"] = EXPONENT
    try:
        return Scenario(problem=problem, geometry=geometry, m=m, methods=(), **fields).validate(
            sampling=False
        )
    except InvalidInput:
        return None


@lru_cache(maxsize=1024)
def cell(problem: str, geometry: str, budget: Notion, m: int) -> MatrixCell | None:
    """Return the methods and bounds of a cell; None where the problem is not posed."""
    scenario = scenario_of(problem, geometry, budget, m)
    if scenario is None:
        return None
    uppers = [
        b
        for b in bounds_for(problem, scenario.level)
        if (b.card.kind, b.card.constant, b.card.guarantee) == ("upper", "explicit", "expectation")
        and b.card.quantity == problem_card(problem).quantity
        and b.card.privacy in ATTAINED[budget]
        # A bound that belongs to no method would appear in every cell.
        and not b.card.ignores_data
    ]
    return MatrixCell(
        problem=problem,
        geometry=geometry,
        budget=budget,
        m=m,
        methods=tuple(
            s for s in methods_under(problem, scenario.level, budget) if _runs(s, scenario)
        ),
        uppers=_collect_slugs(b for b in uppers if _holds(b, scenario)),
        lowers=_collect_slugs(
            b for b in proven_lowers(scenario, is_own=True) if _holds(b, scenario)
        ),
        wider=_collect_slugs(
            b for b in proven_lowers(scenario, is_own=False) if _holds(b, scenario)
        ),
    )


def matrix(problem: str | None = None) -> Iterator[MatrixCell]:
    """Yield the cells of a problem, or of all of them, in the order of the catalogue."""
    for slug in PROBLEM_SLUGS if problem is None else (problem,):
        for geometry in GEOMETRIES:
            for budget in BUDGETS:
                for m in ITEMS:
                    matrix_cell = cell(slug, geometry, budget, m)
                    if matrix_cell is not None:
                        yield matrix_cell


def _collect_slugs(bounds: Iterator[Bound]) -> tuple[str, ...]:
    """Return the slugs of some bounds, in order."""
    return tuple(b.card.slug for b in bounds)


def _holds(bound: Bound, scenario: Scenario) -> bool:
    """Return whether a bound holds at a scenario and is neither infinite nor 0."""
    setting = scenario.setting
    if bound.failures(setting) or bound.refusal(setting):
        return False
    value = bound.value(setting)
    return value > 0 if bound.card.kind == "lower" else math.isfinite(value)


def _runs(slug: str, scenario: Scenario) -> bool:
    """Return whether a method has a plan at a scenario's single point."""
    try:
        make_method(slug, "tight", "practical").plan(replace(scenario, methods=(slug,)).setting)
    except NotApplicable:
        return False
    return True
