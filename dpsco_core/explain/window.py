"""The window: how far the best proven upper bound is from the best proven lower one.

Both are about one class of laws and of algorithms. The class is that of the lower bounds: laws with
bounded moments of the coordinates, or, of Lipschitz losses, all laws. Upper bounds are evaluated at
what it certifies, and not at what is known of the law at hand. Where there are lower bounds that
are proven with the loss of the problem itself, those of a wider class of losses are left out: they
do not bind methods that know the loss.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import binding, covered, laws_for, of_class
from dpsco_core.catalogue import bounds_for, problem_card
from dpsco_core.explain.regimes import with_changes
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario

Notion = Literal["pure", "zcdp", "approx"]
# The reasons why there is no window: a missing proven bound at either end, or an unknown set.
Missing = Literal[
    "lower bound on the set",
    "l2 ball",
    "lower bound for the loss",
    "lower bound for items alike",
    "upper bound",
    "room between the bounds",
]
# For each notion, the guarantees whose upper bounds count for it. The notion's lower bounds apply
# to methods with these guarantees.
ATTAINED: Mapping[Notion, tuple[Privacy, ...]] = {
    "pure": ("pure",),
    "zcdp": ("zcdp", "pure"),
    "approx": ("zcdp", "pure", "approx"),
}

SPANS = {
    "n": (100.0, 1e6),
    "d": (1.0, 1000.0),
    "epsilon": (0.05, 20.0),
    "rho": (1e-3, 10.0),
    "p": (2.0, 20.0),
}


# A bound within this relative distance of the error of an answer without data counts as that error.
NO_MORE = 1e-9
CLOSE = 0.05  # Shares of an upper bound that differ by less than this count as equal.


@dataclass(frozen=True, kw_only=True)
class Window:
    """The two proven values between which the smallest worst-case error lies."""

    notion: Notion
    # the best bound of either kind; None where none is proven
    upper: Bound | None
    lower: Bound | None
    # the values of both bounds: infinite and 0 where they are missing
    ceiling: float
    floor: float
    # All bounds that hold, the best first. The value of an upper bound is its ratio to the best
    # lower bound, and that of a lower bound is its ratio to the best upper bound.
    uppers: Mapping[str, float]
    lowers: Mapping[str, float]
    # the share by which the best upper bound would fall without each of its terms
    shares: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """The ceiling over the floor; infinite where one of the bounds is missing."""
        return self.ceiling / self.floor if self.floor > 0 else math.inf

    @property
    def widest(self) -> tuple[str, ...]:
        """The terms with the largest share, the largest first, and none that is clearly smaller."""
        order = sorted(self.shares, key=lambda name: -self.shares[name])
        return tuple(n for n in order if self.shares[n] > self.shares[order[0]] - CLOSE)


def notions_of(point: Scenario) -> tuple[Notion, ...]:
    """Return the privacy notions that a budget implies something about, the weakest first.

    Under an (epsilon, delta) budget the notion ``"zcdp"`` is that of the Gaussian releases which it
    allows.
    """
    if point.rho is not None:
        return ("zcdp",)
    return ("approx", "zcdp") if point.delta else ("pure",)


def window(point: Scenario, notion: Notion = "approx") -> Window:
    """Return the window at a single point.

    Under an (epsilon, delta) budget the notion ``"zcdp"`` is that of the Gaussian releases which
    meet it.

    Raises `InvalidInput` if the budget says nothing of the notion: only a pure budget has the pure
    one, and a zCDP budget has zCDP alone.

    Examples
    --------
    >>> gap = window(Scenario(p=2.0), "zcdp")
    >>> gap.upper.card.slug, gap.lower.card.slug, round(gap.ratio, 2)
    ('upper.mean.cwme-cdp-expected', 'lower.mean.two-sided-cdp', 1.77)
    >>> gap.widest
    ('privacy noise', 'clipping bias')
    """
    allowed = notions_of(point)
    require(notion in allowed, "notion", " or ".join(allowed) + f" at {point.budget}", notion)
    if notion == "zcdp":
        point = replace(point, epsilon=None, delta=None, rho=point.setting.rho)
    problem = problem_card(point.problem)
    laws = laws_for(problem.loss_class)
    conditions = of_class(point.setting, laws)
    loss, comparable = problem.loss_class, ("explicit", "expectation", problem.quantity)
    notions = {"upper": ATTAINED[notion], "lower": binding(point.budget)}
    # Bounds for other norms also hold in l2, as q = 2, with the constants of this loss. They are
    # comparable with lower bounds for a class only if the loss is that of the hard instances.
    is_special = loss.curvature == "linear" or loss.squared_distance
    fitting = [
        b
        for b in bounds_for(point.problem, point.level)
        if (is_special or point.geometry != "l2" or b.card.geometry != "lq")
        and (b.card.constant, b.card.guarantee, b.card.quantity) == comparable
        and b.card.applies_to(loss)
        and b.card.privacy in notions[b.card.kind]
        and laws in (covered(b.card, conditions) if b.card.kind == "upper" else (b.card.laws,))
        and not b.card.ignores_data  # `best_start` handles answers that ignore the data.
        and not b.failures(conditions)
    ]
    values: dict[str, dict[Bound, float]] = {"upper": {}, "lower": {}}
    for b in fitting:
        if 0 < (value := b.value(conditions)) < math.inf:
            values[b.card.kind][b] = value
    with_loss = {b: v for b, v in values["lower"].items() if b.card.losses}
    values["lower"] = with_loss or values["lower"]
    uppers = sorted(values["upper"].items(), key=lambda item: item[1])
    lowers = sorted(values["lower"].items(), key=lambda item: -item[1])
    upper, smallest_upper = uppers[0] if uppers else (None, math.inf)
    lower, largest_lower = lowers[0] if lowers else (None, 0.0)
    terms = {} if upper is None else upper.terms(conditions)
    return Window(
        notion=notion,
        upper=upper,
        lower=lower,
        ceiling=smallest_upper,
        floor=largest_lower,
        uppers={
            b.card.slug: v / largest_lower if largest_lower > 0 else math.inf for b, v in uppers
        },
        lowers={b.card.slug: v / smallest_upper for b, v in lowers},
        shares={n: 1 - upper.combined(terms | {n: 0.0}) / upper.combined(terms) for n in terms}
        if upper
        else {},
    )


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The proven bounds on a mean at one point, for each notion that its budget implies.

    `start`: R, the largest error of the answer 0, which sees no data.
    """

    point: Scenario
    windows: Mapping[Notion, Window]
    start: float

    def chosen(self, notion: Notion) -> float:
        """Return the bound that is proven for the best method at the setting.

        The choice, the answer 0 included, is made by the bounds' values, which see no data. So it
        costs no privacy, and the least of the bounds is a bound on the one algorithm that chooses.
        """
        return min(self.windows[notion].ceiling, self.start)

    def ratio(self, notion: Notion) -> float:
        """Return the best upper bound over the best lower one; infinite without a lower bound.

        The answer 0 counts as one of the upper bounds.
        """
        floor = self.windows[notion].floor
        return self.chosen(notion) / floor if floor > 0 else math.inf


def standing(point: Scenario, notions: tuple[Notion, ...] = ()) -> Standing:
    """Return the proven bounds at a point of mean estimation, for some notions or for all."""
    require(point.problem == "mean", "problem", "mean", point.problem)
    point = replace(point, offset=0.0, axis=None, grid=(), methods=())
    if point.scale == "moment":  # No property of the law is used, so the fastest law will do.
        point = replace(point, distribution="gaussian")
    return Standing(
        point=point,
        windows={notion: window(point, notion) for notion in notions or notions_of(point)},
        start=worst_start(point),
    )


@dataclass(frozen=True, kw_only=True)
class Span:
    """The window at one point: between `low` and `high` is the best guarantee for all data.

    `lower` and `upper` are the bounds at its ends. Where no theorem is better than answering
    without data, the upper one is about that answer, and about no method (`ignores_data`).
    """

    x: float | None
    low: float
    high: float
    lower: Bound | None
    upper: Bound

    @property
    def ignores_data(self) -> bool:
        """Whether the best proven guarantee is that of an answer without data."""
        return self.upper.card.ignores_data


def spans(scenario: Scenario) -> tuple[Span, ...]:
    """Return the window at every point of a scenario, for the algorithms of its budget.

    The window is over all data with the tail and within the public bound, whatever the law of the
    scenario. The result is empty if no lower bound holds at some point, because none is proven for
    the loss or on the set.

    Examples
    --------
    >>> [span] = spans(Scenario(p=2.0))
    >>> round(span.low, 4), round(span.high, 4)
    (0.0939, 0.2045)
    """
    windows = [_span_or_reason(x, point) for x, point in scenario.points()]
    whole = tuple(one for one in windows if isinstance(one, Span))
    if len(whole) < len(windows) or all(span.low == span.high for span in whole):
        return ()
    return whole


def missing_span(scenario: Scenario) -> Missing | None:
    """Return why `spans` is empty: the first missing bound; None where `spans` is not empty.

    Examples
    --------
    >>> missing_span(Scenario(m=8, alike=0.5)), missing_span(Scenario(geometry="l1"))
    ('lower bound for items alike', None)
    """
    windows = [_span_or_reason(x, point) for x, point in scenario.points()]
    lacking = [one for one in windows if not isinstance(one, Span)]
    if lacking:
        return lacking[0]
    flat = all(one.low == one.high for one in windows if isinstance(one, Span))
    return "room between the bounds" if flat else None


def _span_or_reason(x: float | None, point: Scenario) -> Span | Missing:
    """Return the window at a point, whose value on the axis is x, or why there is none."""
    notion = notions_of(point)[0]
    if point.problem == "mean" and point.m == 1:
        own_window = standing(point, (notion,)).windows[notion]
    else:
        own_window = window(point, notion)
    start = best_start(point)
    if own_window.lower is None:
        if point.setting.alike > 0:
            return "lower bound for items alike"
        if point.geometry == "l2":
            return "lower bound for the loss"
        return "l2 ball" if _has_lower(point) else "lower bound on the set"
    # A theorem that is no better than an answer without data adds nothing.
    is_theorem = own_window.ceiling < start.value * (1 - NO_MORE)
    upper = own_window.upper if is_theorem else start.bound
    high = own_window.ceiling if is_theorem else start.value
    if upper is None or math.isinf(high):
        return "upper bound"
    low = min(own_window.floor, high)
    return Span(x=x, low=low, high=high, lower=own_window.lower, upper=upper)


def _has_lower(point: Scenario) -> bool:
    """Return whether a proven lower bound holds at a point for the algorithms of its budget."""
    loss, privacies = problem_card(point.problem).loss_class, binding(point.budget)
    return any(
        (b.card.kind, b.card.constant) == ("lower", "explicit")
        and b.card.privacy in privacies
        and not b.card.of_law
        and b.card.applies_to(loss)
        and not b.failures(replace(point.setting, spike_probability=None))
        for b in bounds_for(point.problem, point.level)
    )


def ending_at(span: Span, proven: Evaluation, start: float) -> Span:
    """Return the window of a class with a lower bound on given data, `proven`, as its lower end.

    `start` is the error, on these data, of the answer that sees no data. It may be above the error
    of that answer over the class, and is the upper end if no theorem gives a smaller one.
    """
    high = max(span.high, start) if span.ignores_data else span.high
    return replace(span, low=min(proven.value, high), high=high, lower=proven.bound)


@dataclass(frozen=True, kw_only=True)
class Start:
    """What is proven of the answer that sees no data, over all data of the class."""

    bound: Bound | None  # the bound; None where there is none
    value: float  # the value of the bound; infinite where there is none


def best_start(point: Scenario) -> Start:
    """Return the smallest proven bound on the error of an answer that sees no data.

    The bound is over the class of laws of the window, and no lower bound for the problem's own
    losses exceeds it.

    Examples
    --------
    >>> start = best_start(Scenario(problem="logistic", methods=()))
    >>> start.bound.card.name, round(start.value, 4)
    ('Answering without data', 0.5866)
    """
    laws = laws_for(problem_card(point.problem).loss_class)
    conditions = of_class(point.setting, laws)
    values = {
        row: row.value(conditions)
        for row in bounds_for(point.problem, point.level)
        if row.card.ignores_data and row.card.laws == laws and not row.failures(conditions)
    }
    best = smallest_or(values, values.__getitem__, None)
    return Start(bound=best, value=math.inf if best is None else values[best])


def worst_start(point: Scenario) -> float:
    """Return the largest error of the answer that sees no data, as far as that is proven."""
    return best_start(point).value


def strength(point: Scenario) -> str:
    """Return the name of the field that sets the strength of the budget: "epsilon" or "rho"."""
    return "epsilon" if point.rho is None else "rho"


def grid(point: Scenario, field: str, count: int) -> Vector:
    """Return `count` values of a field, evenly spaced on a log scale, and the point's own value.

    Values of n and d are whole.
    """
    values = np.geomspace(*SPANS[field], count)
    if field in ("n", "d"):
        values = np.round(values)
    return np.unique(np.append(values, float(getattr(point, field))))


def swept(point: Scenario, field: str, values: Vector) -> tuple[Standing, ...]:
    """Return the proven bounds at the point with each of `values` in a field."""
    return tuple(standing(with_changes(point, {field: v})) for v in values)
