"""The bounds that are proven at the points of a scenario, for its own data and for all data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dpsco_core.base.cards import BoundCard, Level, Privacy
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import bound, bounds_for, default_methods, method_card, problem_card
from dpsco_core.explain.anatomy import starting_risk
from dpsco_core.explain.hardest import impossible
from dpsco_core.explain.methods.guarantees import differing_guarantees
from dpsco_core.explain.window import Span, notions_of, spans
from dpsco_core.results.measured import Measurement, Table, reference_of
from dpsco_core.results.price import Errors, is_no_better, paired_ratio, reference_method
from dpsco_core.results.report import Evaluation, evaluate
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

SMALL_PRICE = 1.05  # Up to this price privacy costs next to nothing.


@dataclass(frozen=True, kw_only=True)
class Proven:
    """The bounds that are proven at one point."""

    x: float | None  # the value of the point on the axis
    # the lower bound on the error that binds every algorithm of the budget on these data
    floor: Evaluation | None
    span: Span | None  # the interval that contains the best guarantee for all data of the class
    fano: Evaluation | None  # Fano's bound for concentrated DP, or for pure DP under a pure budget


def proven(scenario: Scenario) -> tuple[Proven, ...]:
    """Return the floor, the window and Fano's bound at every point of a scenario.

    Examples
    --------
    >>> [at] = proven(Scenario(p=2.0, methods=()))
    >>> round(at.span.low, 4), round(at.span.high, 4), round(at.fano.value, 4)
    (0.0939, 0.2045, 0.0975)
    """
    points = scenario.points()
    floors: Sequence[Evaluation | None] = impossible(scenario) or [None] * len(points)
    windows: Sequence[Span | None] = spans(scenario) or [None] * len(points)
    row = fano_bound(scenario)
    return tuple(
        Proven(
            x=x,
            floor=floor,
            span=span,
            fano=None if row is None else evaluate(point, row, x),
        )
        for (x, point), floor, span in zip(points, floors, windows, strict=True)
    )


def fano_bound(scenario: Scenario) -> Bound | None:
    """Return the Fano bound that holds for a scenario's problem on its set; None if none does.

    Under a pure budget it is the bound on pure algorithms, otherwise that on concentrated ones.

    Examples
    --------
    >>> fano_bound(Scenario()).card.slug
    'lower.mean.fano-distance-cdp'
    """
    privacy: Privacy = "pure" if notions_of(scenario)[0] == "pure" else "zcdp"
    candidates = (
        c
        for c in lower_cards(scenario.problem, scenario.level)
        if c.constant == "explicit" and c.is_fano and c.privacy == privacy
    )
    point = replace(scenario, axis=None, grid=())
    holding = (c for c in candidates if not evaluate(point, bound(c.slug)).failures)
    card = next(holding, None)
    return None if card is None else bound(card.slug)


def concerns(scenario: Scenario, slug: str) -> bool:
    """Return whether a bound is about some point of a scenario; a few are about p < 2 only."""
    row = bound(slug)
    return not row.has_scope or any(row.is_in_scope(p.setting) for _, p in scenario.points())


@lru_cache
def lower_cards(problem: str, level: Level = "item") -> tuple[BoundCard, ...]:
    """Return the cards of the lower bounds that a figure of a problem draws.

    They are about the problem's own losses or, if there are none, about wider classes of losses.
    """
    quantity, loss = problem_card(problem).quantity, problem_card(problem).loss_class
    cards = (b.card for b in bounds_for(problem, level))
    lower = (c for c in cards if c.kind == "lower" and c.drawn and c.quantity == quantity)
    binding = tuple(c for c in lower if c.applies_to(loss))
    return tuple(c for c in binding if not c.is_wider(loss)) or binding


def advice(scenario: Scenario, outcomes: Sequence[Outcome], table: Table) -> str:
    """Return which private method to take, in one sentence; empty if none ran.

    A second sentence follows where what is proven of the methods differs.

    Over an axis the sentence is about the point with the largest value, because a sweep is most
    often made to see where a curve ends. No method is recommended whose error is about that of an
    answer without data. A reference that is clearly worse than the private method
    measures no price of privacy, and the sentence names a better one if there is one.
    """
    end, rows = _private_rows(table)
    if not rows:
        return ""
    best, *rivals = rows
    name, cost = method_card(best.method).name, _describe_price(scenario, best, table)
    blind = starting_risk(scenario.at(end))
    if is_no_better(best.mean, blind):
        return (
            "no private method that ran does better here than an answer without data, whose "
            f"error is {blind:.4g}; the smallest mean error is {best.mean:.4g}, of {name}{cost}."
        )
    if not rivals:
        opening = f"{name} is the only private method that ran"
        return f"{opening}; its mean error is {best.mean:.4g}{cost}."
    errors = _errors_at(outcomes, end)
    ratios = {row.method: paired_ratio(errors[row.method], errors[best.method]) for row in rivals}
    close = [method_card(m).name for m, ratio in ratios.items() if ratio and ratio.within_noise]
    tie = f" ({' and '.join(close)} within the noise of the trials)" if close else ""
    proven_words = differing_guarantees(scenario.at(end), [row.method for row in rows])
    return (
        f"take {name}: it has the smallest mean error of the private methods{tie}{cost}. "
        f"{proven_words}"
    ).rstrip()


def recommended(scenario: Scenario, table: Table) -> tuple[Scenario, str] | None:
    """Return the point and the slug of the method that `advice` is for; None if it is for none."""
    end, rows = _private_rows(table)
    if not rows or is_no_better(rows[0].mean, starting_risk(scenario.at(end))):
        return None
    return scenario.at(end), rows[0].method


def _private_rows(table: Table) -> tuple[float | None, list[Measurement]]:
    """Return the largest value of the axis, and the private methods that ran there, best first."""
    places = [x for (_, x), row in table.items() if row.trials and x is not None]
    end = max(places, default=None)
    rows = [
        row
        for (method, x), row in table.items()
        if x == end and row.trials and method_card(method).privacy != "none"
    ]
    return end, sorted(rows, key=lambda row: row.mean)


def _describe_price(scenario: Scenario, best: Measurement, table: Table) -> str:
    """Return the price of a method's privacy in words that follow its error; empty without one."""
    if best.price is None:
        return ""
    slug = reference_of(table)
    reference = method_card(slug).name
    if best.price.value < 1 / SMALL_PRICE and not best.price.within_noise:
        better = _better_reference(scenario, best, table)
        choice = f"; take {method_card(better).name} ({better}) as the reference" if better else ""
        return (
            f"; {reference} without privacy is {1 / best.price.value:.3g} times worse, a poor "
            f"reference that does not show what privacy costs{choice}"
        )
    if best.price.value <= SMALL_PRICE:
        return f", and privacy costs next to nothing beside {reference}"
    return f", {best.price.value:.3g} times that of {reference}"


def _better_reference(scenario: Scenario, best: Measurement, table: Table) -> str:
    """Return the slug of a better reference than the one that a price is relative to, or "".

    It is the best method without privacy that ran, if its error is below the private one, and
    otherwise the problem's usual reference, if that did not run.
    """
    means = {m: row.mean for (m, x), row in table.items() if x == best.x and row.trials}
    public = [m for m in means if method_card(m).privacy == "none" and means[m] < best.mean]
    usual = reference_method(default_methods(scenario.problem, scenario.level))
    return smallest_or(public, means.__getitem__, "" if usual in means else usual)


def _errors_at(outcomes: Sequence[Outcome], x: float | None) -> dict[str, Errors]:
    """Return the measured errors of every method at one point of the axis."""
    errors: dict[str, dict[int, float]] = {}
    for o in outcomes:
        if o.x == x:
            errors.setdefault(o.method, {})[o.trial] = o.error
    return dict(errors)
