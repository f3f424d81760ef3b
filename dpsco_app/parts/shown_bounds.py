"""Which bounds a figure draws, as decided by the bounds' own cards."""

import math
from functools import lru_cache

from dpsco_app.parts.problem_words import words_for
from dpsco_core.base.cards import BoundCard, Level, Privacy
from dpsco_core.base.law_classes import LawClass
from dpsco_core.bounds.classes import covered
from dpsco_core.catalogue import bound, bounds_for, method_card
from dpsco_core.explain.floors import no_floor
from dpsco_core.explain.promise import concerns, fano_bound, lower_cards
from dpsco_core.explain.window import notions_of
from dpsco_core.results.report import evaluate
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario


def cards(problem: str, level: Level = "item") -> tuple[BoundCard, ...]:
    """Return the cards of the problem's bounds on the quantity that its figure shows."""
    quantity = words_for(problem).quantity
    return tuple(b.card for b in bounds_for(problem, level) if b.card.quantity == quantity)


@lru_cache(maxsize=1000)
def shown(scenario: Scenario, views: tuple[str, ...]) -> tuple[str, ...]:
    """Return the slugs of the bounds to draw in the groups `views`, as in `VIEWS`.

    They are rates, the tightest proven upper bounds, and lower bounds for the budget's notion.
    Proven upper bounds are those for the measured run, at its own parameters.
    """
    notion = notions_of(scenario)[0]
    methods = [method_card(m) for m in scenario.methods]
    privacies: set[Privacy] = {m.privacy for m in methods}
    if privacies - {"none"}:
        # A pure budget requires pure privacy, whatever the methods support.
        pure: set[Privacy] = {"pure"} if notion == "pure" else privacies
        privacies = pure | {"approx"}
    # Proven bounds for (epsilon, delta) also hold at delta = 0, but not under zCDP; rates contain
    # the logarithm of 1/delta.
    meaningless = {"zcdp": "explicit", "pure": "rate"}.get(notion, "")
    rates = {m.rate for m in methods}
    # Figures draw only lower bounds for the budget's own notion of privacy; tables list all of
    # them.
    no_floors = any(no_floor(point) for _, point in scenario.points())
    lower = {
        c.slug
        for c in lower_cards(scenario.problem, scenario.level)
        # A lower bound on all algorithms also binds private ones.
        if c.privacy in privacies | {"none"}
        and (c.privacy, c.constant) != ("approx", meaningless)
        and not (c.of_law and (c.privacy != notion or no_floors))
        and concerns(scenario, c.slug)
    }
    all_cards = cards(scenario.problem, scenario.level)
    upper_cards = [c for c in all_cards if c.kind == "upper" and c.method in scenario.methods]
    upper = {c.slug for c in upper_cards if not _proven(c) and c.slug in rates}
    # A proven bound is drawn if it is on the mean error, at the parameters that a run chooses.
    upper |= {
        c.slug
        for c in upper_cards
        if _proven(c) and c.guarantee == "expectation" and bound(c.slug).parameters == "run"
    }
    chosen = tuple(
        c.slug
        for c in all_cards
        if c.slug in lower | upper and (f"{c.kind} bounds" if _proven(c) else "rates") in views
    )
    binding = lower_cards(scenario.problem, scenario.level)
    worst = frozenset(c.laws for c in binding if _proven(c) and not c.of_law)
    tightest = _tightest(canonical(scenario), _holding(scenario, chosen, worst), chosen)
    return tuple(slug for slug in chosen if slug in tightest)


def _proven(card: BoundCard) -> bool:
    """Return whether every constant of the bound with a card is proven."""
    return card.constant == "explicit"


def _holding(
    scenario: Scenario, slugs: tuple[str, ...], worst: frozenset[LawClass]
) -> frozenset[str]:
    """Return which of the proven upper bounds hold for all laws in the classes `worst`.

    They must do so at every point of the scenario.
    """
    points = [point.setting for _, point in scenario.points()]

    def holds(card: BoundCard) -> bool:
        """Return whether a bound covers the worst class of laws at all points."""
        return worst == {card.laws} or all(worst <= {*covered(card, at)} for at in points)

    cards = (bound(slug).card for slug in slugs)
    return frozenset(c.slug for c in cards if c.kind == "upper" and _proven(c) and holds(c))


@lru_cache(maxsize=1000)
def _tightest(point: Scenario, holding: frozenset[str], slugs: tuple[str, ...]) -> frozenset[str]:
    """Return the slugs, with only the smallest valid proven upper bound of each method kept.

    A bound in `holding`, which is comparable with the figure's lower bounds, is preferred to a
    smaller one that holds for fewer laws.
    """
    remaining = set(slugs)
    tight: dict[str, tuple[bool, float, str]] = {}
    for slug in slugs:
        candidate = bound(slug)
        if candidate.card.kind != "upper" or not _proven(candidate.card):
            continue
        remaining.discard(slug)
        e = evaluate(point, candidate)
        rank = (slug not in holding, e.value, slug)
        if not e.failures and e.value < math.inf:
            tight[candidate.card.method] = min(rank, tight.get(candidate.card.method, rank))
    return frozenset(remaining | {slug for *_, slug in tight.values()})


@lru_cache(maxsize=1000)
def fano(scenario: Scenario) -> str:
    """Return the slug of Fano's bound for the problem on its set; empty if there is none.

    Under pure DP this is the bound for pure algorithms, otherwise the one for concentrated DP.
    """
    row = fano_bound(scenario)
    return "" if row is None else row.card.slug
