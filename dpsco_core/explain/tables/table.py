"""The papers' tables, live: every bound of the catalogue at one scenario, with its slopes.

The rows of a table come in the order of the paper that prints it, then its variants.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from dpsco_core.base.cards import (
    ACHARYA_2021,
    ARORA_2020,
    ASI_LIU_TIAN_2024,
    KAMATH_2022,
    KAMATH_SINGHAL_ULLMAN_2020,
    LOWY_RAZAVIYAYN_2023,
    OWN,
    SU_2023,
    WANG_2020,
    ZHAO_2024,
    BoundCard,
    Paper,
)
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.law_classes import LawClass
from dpsco_core.base.loss_classes import MEAN
from dpsco_core.base.parsing import one_of
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import (
    BOUNDS,
    bound,
    can_be_alike,
    default_methods,
    method_card,
    methods_for,
    problem_card,
)
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.results.report import evaluate
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario

STEP = 1.05  # For a slope, n and the budget are multiplied and divided by this factor.
# the axes of the slopes; for a zCDP budget rho takes the place of epsilon
SLOPES = ("n", "d", "epsilon")


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """One table: `source` says which table of which paper it is."""

    key: str
    title: str
    source: str
    # whether a card belongs to the table although the card does not name the table
    holds: Callable[[BoundCard], bool] = lambda _: False
    # The fields of a scenario in which theorems of the table hold; empty for a table of no paper.
    covered: Mapping[str, Any] = field(default_factory=dict)

    @property
    def slugs(self) -> tuple[str, ...]:
        """The slugs of the table's bounds; bounds whose cards name the table come first."""

        def rank(card: BoundCard) -> tuple[bool, bool, bool]:
            """Return the sorting key of a card: of the table first, then rates, then uppers."""
            return self.key not in card.tables, card.constant == "explicit", card.kind == "lower"

        cards = (b.card for b in BOUNDS if self.key in b.card.tables or self.holds(b.card))
        return tuple(card.slug for card in sorted(cards, key=rank))


# On these data gradients are bounded, so that a loss of smooth records is Lipschitz.
_BOUNDED = {"distribution": "hypercube", "n": 100_000, "d": 2, "m": 1, "epsilon": 0.5}
_APPROX = {"delta": 1e-6, "rho": None, "geometry": "l2", "q": None}
_USERS = {"problem": "geometric-median", "n": 1_000_000, "d": 2, "m": 100, "epsilon": 0.5}


def _is_in_l2_of(card: BoundCard, *papers: Paper) -> bool:
    """Return whether a card is from one of the papers, and about the l2 geometry."""
    return card.paper in papers and card.geometry == "l2"


TABLES: tuple[PaperTable, ...] = (
    PaperTable(
        key="zhao",
        title="Zhao et al. 2024, Table I",
        source="Table I of Zhao et al. (2024): excess risk under heavy tails, with the earlier "
        "work that it compares with; below, its theorems and their explicit forms.",
        holds=lambda c: _is_in_l2_of(c, ZHAO_2024, KAMATH_SINGHAL_ULLMAN_2020),
        covered={"problem": "quadratic", "distribution": "student-t", "n": 10_000, "d": 2, "m": 1}
        | {"p": 2.0, "epsilon": 0.5}
        | _APPROX,
    ),
    PaperTable(
        key="kamath",
        title="Kamath, Liu and Zhang 2022",
        source="The theorems of Kamath, Liu and Zhang (2022), which has no table: mean estimation, "
        "convex and strongly convex risks, and their lower bounds.",
        holds=lambda c: _is_in_l2_of(c, KAMATH_2022, WANG_2020),
        covered={"problem": "mean", "distribution": "student-t", "n": 10_000, "d": 20, "m": 1}
        | {"p": 2.0, "epsilon": 0.5}
        | _APPROX,
    ),
    PaperTable(
        key="su-1",
        title="Su, Zhao and Wang 2023, Table 1",
        source="Table 1 of Su, Zhao and Wang (2023): Lipschitz losses on sets of small Gaussian "
        "width, convex and strongly convex.",
        holds=lambda c: _is_in_l2_of(c, SU_2023),
        covered={"problem": "quadratic"} | _BOUNDED | _APPROX,
    ),
    PaperTable(
        key="su-2",
        title="Su, Zhao and Wang 2023, Table 2",
        source="Table 2 of Su, Zhao and Wang (2023): losses in l_q, with light and heavy tails; "
        "below, explicit bounds for the same algorithms.",
        holds=lambda c: c.geometry == "lq",
        covered={"problem": "logistic"} | _BOUNDED | _APPROX,
    ),
    PaperTable(
        key="arora",
        title="Arora, Marinov and Ullah 2020",
        source="The works that Arora, Marinov and Ullah (2020) compares itself with in its "
        "sections 1, 3 and 6: Lipschitz losses, smooth or not.",
        holds=lambda c: c.paper == ARORA_2020,
        covered={"problem": "logistic"} | _BOUNDED | _APPROX,
    ),
    PaperTable(
        key="asi",
        title="Asi, Liu and Tian 2024",
        source="The rate of Asi, Liu and Tian (2024) where the Lipschitz constants of records have "
        "moments, and lower bounds with the rate of Lowy and Razaviyayn (2023), constants proven "
        "here.",
        holds=lambda c: c.paper in (ASI_LIU_TIAN_2024, LOWY_RAZAVIYAYN_2023),
        covered={"problem": "logistic", "distribution": "student-t", "m": 1} | _APPROX,
    ),
    PaperTable(
        key="lowy",
        title="Lowy, Liu and Asi 2024: risks",
        source="The comparison table of Lowy, Liu and Asi (2024): excess risks when all items of a "
        "user are hidden at once.",
        holds=lambda c: c.level == "user" and c.quantity != "item gradients",
        covered=_USERS | _APPROX | {"delta": 1e-12},
    ),
    PaperTable(
        key="lowy-gradients",
        title="Lowy, Liu and Asi 2024: gradients",
        source="The other half of that table: how many gradients of single items each takes.",
        holds=lambda c: c.quantity == "item gradients",
        covered=_USERS | _APPROX | {"delta": 1e-12},
    ),
    PaperTable(
        key="own",
        title="This library",
        source="What is proven in this library's own notes: the private choice of a clip radius, "
        "means as optimisers of squared distances and of linear losses, and lower bounds that bind "
        "every (ε, δ)-DP algorithm.",
        holds=lambda c: c.paper in (OWN, ACHARYA_2021),
    ),
    PaperTable(
        key="all",
        title="Every bound",
        source="Everything in the catalogue.",
        holds=lambda _: True,
    ),
)
TABLE_KEYS = tuple(t.key for t in TABLES)


def paper_table(key: str) -> PaperTable:
    """Return a table; raises `InvalidInput` for an unknown key."""
    one_of("table", key, TABLE_KEYS)
    return TABLES[TABLE_KEYS.index(key)]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One bound at one scenario."""

    bound: Bound
    value: float  # the value of the bound; NaN if the bound is not about the scenario
    terms: tuple[tuple[str, float], ...]
    # the conditions that fail, or the reason why the bound is about another problem
    failures: tuple[str, ...]
    is_relevant: bool  # whether the bound is about the scenario's problem and its hidden quantity
    # whether the bound covers methods for the problem's class of losses; see `BoundCard.applies_to`
    applies: bool = False
    binds: str = ""  # the algorithms that the bound binds, as in `Evaluation.binds`
    note: str = ""  # a remark on the bound, as in `Evaluation.note`
    # the classes of laws that the bound covers, as in `Evaluation.covers`
    covers: tuple[LawClass, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the bound is about the scenario's problem, and all of its hypotheses hold."""
        return self.is_relevant and not self.failures


def canonical_point(scenario: Scenario) -> Scenario:
    """Return the point that bounds are evaluated at: no sweep, one trial, methods that fit."""
    level: Literal["item", "user"] = "user" if scenario.m > 1 else "item"
    methods = default_methods(scenario.problem, level)
    single = replace(scenario, axis=None, grid=(), trials=1, methods=methods)
    return canonical(single)


def rows(
    point: Scenario,  # the scenario; it is valid, and its sweep and methods do not matter
    slugs: tuple[str, ...],
) -> tuple[Row, ...]:
    """Return the row of each of `slugs` at a scenario.

    Bounds about its problem come first, and among these the bounds whose hypotheses hold.
    """
    canonical = canonical_point(point)
    listed = [_row_at(canonical, slug) for slug in slugs]
    return tuple(sorted(listed, key=lambda r: (not r.is_relevant, not r.holds)))


@lru_cache(maxsize=20_000)
def _row_at(point: Scenario, slug: str) -> Row:
    """Return the table row of a bound at a point: its value, its terms and what fails."""
    row = bound(slug)
    reason = _undefined_reason(point, row.card)
    if reason:
        return Row(bound=row, value=math.nan, terms=(), failures=(reason,), is_relevant=False)
    evaluation = evaluate(point, row)
    return Row(
        bound=row,
        value=evaluation.value,
        terms=tuple(evaluation.terms.items()),
        failures=evaluation.failures,
        is_relevant=True,
        applies=evaluation.applies,
        binds=evaluation.binds,
        note=evaluation.note,
        covers=evaluation.covers,
    )


def _undefined_reason(point: Scenario, card: BoundCard) -> str:
    """Return the reason why a bound is not about the point; empty if it is."""
    if point.problem not in card.problems:
        problem = problem_card(point.problem)
        subject = "the mean of heavy-tailed records"
        if card.loss_class != MEAN:
            subject = f"{card.loss_class} losses"
            # The loss of single records may lack the curvature of the risk.
            if problem.loss_class.has_curvature_of(card.loss_class):
                subject += ", record by record"
        return f"It is about {subject}, and the problem here is {problem.name}."
    hides_items = card.kind == "upper" and card.level == "item" and card.privacy != "none"
    if point.m > 1 and hides_items:
        return f"It hides one item, and a user has m={point.m} of them."
    return ""


def slopes(point: Scenario, slug: str) -> dict[str, float]:
    """Return the logarithmic slopes of a bound in n, d and the budget, by central differences.

    d log(value) / d log(x) over 5 % to both sides; over one dimension (or a group of them) where
    that is more. NaN where the bound is not about the point, or infinite or 0 beside it.
    """
    return dict(_slopes_at(canonical_point(point), slug))


@lru_cache(maxsize=20_000)
def _slopes_at(point: Scenario, slug: str) -> tuple[tuple[str, float], ...]:
    """Return pairs (axis, slope of the bound's logarithm) for each of `SLOPES`."""
    return tuple((axis, _slope_on_axis(point, slug, axis)) for axis in SLOPES)


def _slope_on_axis(point: Scenario, slug: str, axis: str) -> float:
    """Return the slope of a bound's logarithm on one axis, by a central difference."""
    field = "rho" if axis == "epsilon" and point.rho is not None else axis
    try:
        low, high = (_move_field(point, field, up) for up in (False, True))
    except InvalidInput:
        return math.nan
    values = [_row_at(p, slug).value for p in (low, high)]
    if not all(0 < v < math.inf for v in values):
        return math.nan
    width = math.log(getattr(high, field) / getattr(low, field))
    return math.log(values[1] / values[0]) / width


def _move_field(point: Scenario, field: str, is_up: bool) -> Scenario:
    """Return the point with one field multiplied or divided by `STEP`."""
    value = getattr(point, field)
    if field in ("n", "d"):
        unit = GROUP_SIZE if field == "d" and point.geometry == "group-l1" else 1
        step = unit * max(1, round(value * (STEP - 1) / unit))
        new_value = value + step if is_up else max(unit, value - step)
    else:
        new_value = value * STEP if is_up else value / STEP
    return replace(point, **{field: new_value}).validate(sampling=False)


def drawn_scenario(point: Scenario, card: BoundCard) -> Scenario:
    """Return `point` with the methods, and where needed the problem and level, of a bound.

    An upper bound brings its own method; a lower one, or earlier work's, the default methods.
    """
    problem = point.problem if point.problem in card.problems else card.problems[0]
    is_alone = card.level == "item" and (problem == "mean" or card.privacy != "none")
    items = 1 if is_alone else point.m
    if card.level == "user" and items == 1:
        items = 10
    level: Literal["item", "user"] = "user" if items > 1 else "item"
    slugs = methods_for(problem, level)
    methods = default_methods(problem, level)
    if card.method in slugs:
        public = tuple(m for m in methods if method_card(m).privacy == "none")
        methods = tuple(dict.fromkeys((*public, card.method)))
    alike = point.alike if items > 1 and can_be_alike(point.distribution, problem) else 0.0
    return replace(point, problem=problem, m=items, methods=methods, alike=alike)
