"""Which bounds a figure draws: chosen by what their cards say; no Streamlit in here."""

import math
from collections.abc import Sequence
from functools import lru_cache

from dpsco_app.parts.problem_words import words_for
from dpsco_core.base.cards import BoundCard, Level, Privacy
from dpsco_core.catalogue import bound, bounds_for, method_card, problem_card
from dpsco_core.privacy.budget import ZCDP, PureDP
from dpsco_core.results.report import evaluate
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario


def cards(problem: str, level: Level = "item") -> tuple[BoundCard, ...]:
    """Return the cards of the problem's bounds on what its figure shows."""
    quantity = words_for(problem).quantity
    return tuple(b.card for b in bounds_for(problem, level) if b.card.quantity == quantity)


@lru_cache
def lower_cards(problem: str, level: Level = "item") -> tuple[BoundCard, ...]:
    """Return the lower bounds that a figure can draw, of the smallest class."""
    lower = [c for c in cards(problem, level) if c.kind == "lower" and c.drawn]
    return _smallest_class(problem, lower)


@lru_cache
def floors(problem: str, level: Level = "item") -> tuple[str, ...]:
    """Return the lower bounds with proven constants, drawn or not: the sentence may name any."""
    every = cards(problem, level)
    lower = [c for c in every if (c.constant, c.kind) == ("explicit", "lower")]
    return tuple(c.slug for c in _smallest_class(problem, lower))


def _smallest_class(problem: str, found: Sequence[BoundCard]) -> tuple[BoundCard, ...]:
    """Return the bounds of the smallest class of losses that holds the problem, if any."""
    own = problem_card(problem).loss_class
    binding = [c for c in found if c.applies_to(own)]
    return tuple(c for c in binding if not c.is_wider(own)) or tuple(binding)


def shown(scenario: Scenario, views: Sequence[str]) -> tuple[str, ...]:
    """Return the bounds of the views: rates, tightest proven ones, what binds this budget."""
    methods = [method_card(m) for m in scenario.methods]
    privacies: set[Privacy] = {m.privacy for m in methods}
    if privacies - {"none"}:
        # A pure budget asks for pure privacy whatever the methods can do, others for "approx".
        privacies = {"pure"} if isinstance(scenario.budget, PureDP) else privacies | {"approx"}
    concentrated = isinstance(scenario.budget, ZCDP)  # no proven bound on (epsilon, delta) is drawn
    rates = {m.rate for m in methods}
    lower = {
        c.slug
        for c in lower_cards(scenario.problem, scenario.level)
        if c.privacy in privacies | {"none"}  # what binds every algorithm binds these too
        and not (concentrated and (c.privacy, c.constant) == ("approx", "explicit"))
    }
    chosen = []
    for card in cards(scenario.problem, scenario.level):
        explicit = card.constant == "explicit"
        if card.kind == "lower":
            relevant = card.slug in lower
        else:
            proven = explicit and card.guarantee == "expectation"
            relevant = card.method in scenario.methods and (card.slug in rates or proven)
        if relevant and (f"{card.kind} bounds" if explicit else "rates") in views:
            chosen.append(card.slug)
    kept = _tightest(canonical(scenario), tuple(chosen))
    return tuple(slug for slug in chosen if slug in kept)


@lru_cache(maxsize=1000)
def _tightest(point: Scenario, slugs: tuple[str, ...]) -> frozenset[str]:
    """Return the bounds without a method's proven ones that are void or not its smallest here."""
    kept = set(slugs)
    tight: dict[str, tuple[float, str]] = {}
    for slug in slugs:
        which = bound(slug)
        if (which.card.kind, which.card.constant) != ("upper", "explicit"):
            continue
        kept.discard(slug)
        e = evaluate(point, which)
        if not e.failures and e.value < tight.get(which.card.method, (math.inf, ""))[0]:
            tight[which.card.method] = (e.value, slug)
    return frozenset(kept | {slug for _, slug in tight.values()})


def rates(scenario: Scenario) -> tuple[str, ...]:
    known = {c.slug for c in cards(scenario.problem, scenario.level)}
    return tuple(r for r in (method_card(m).rate for m in scenario.methods) if r in known)
