"""Which method to start with: every plan is asked whether it runs, and a few runs are compared."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, combinations, islice
from typing import Any

import numpy as np

from dpsco_core.base.cards import Level
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import (
    default_methods,
    method_card,
    methods_for,
    methods_under,
    problem_class,
)
from dpsco_core.explain.contest import TRIALS, clearly_better
from dpsco_core.explain.methods.stories import example
from dpsco_core.privacy.budget import PureDP
from dpsco_core.runs.allowed import with_fitting_grid
from dpsco_core.runs.cost import EVALUATION, cost, machine_speed, release_seconds
from dpsco_core.runs.study import Outcome, planned
from dpsco_core.scenario import Scenario

# The fields whose change may make a method run, grouped by the questions of the controls.
NEEDS = ("m", "epsilon delta rho", "problem distribution", "geometry q diameter offset", "n d p")
# the longest time, in seconds on the reference machine, of a run that starts at once
QUICK_SECONDS = 0.12
# the longest time, in seconds on the reference machine, of all runs of a method at the first
# scenario
BEGIN_SECONDS = 3.0


def comparison_point(scenario: Scenario) -> Scenario:
    """Return a scenario's own point with every method that is made for it, a few runs of each."""
    return replace(scenario, axis=None, grid=(), methods=_known_methods(scenario), trials=TRIALS)


@lru_cache(maxsize=1000)
def usual_methods(scenario: Scenario, level: Level) -> tuple[str, ...]:
    """Return the slugs of the methods with which a scenario begins if nobody has chosen any.

    They are the problem's default methods. Under pure DP, private methods that can run under it
    take the places of those that cannot; in lq, a method made for that geometry comes first. These
    methods must be quick: if none is, the default methods stay.

    Examples
    --------
    >>> usual_methods(Scenario(delta=0.0), "item")
    ('mean.sample', 'mean.cwme-pure', 'mean.adaptive')
    """
    usual = default_methods(scenario.problem, level)
    quick = partial(_is_quick, scenario)
    if isinstance(scenario.budget, PureDP):
        fitting = methods_under(scenario.problem, level, "pure")
    elif scenario.geometry == "lq":
        slugs = methods_for(scenario.problem, level)
        lq_methods = (m for m in slugs if method_card(m).geometry == "lq")
        fitting = tuple(islice(filter(quick, lq_methods), 1))
    else:
        return usual
    public = [m for m in usual if method_card(m).privacy == "none"]
    private = (m for m in dict.fromkeys((*fitting, *usual)) if m not in public)
    begun = tuple(islice(filter(quick, private), len(usual) - len(public)))
    return (*public, *begun) if begun else usual


def _is_quick(scenario: Scenario, slug: str) -> bool:
    """Return whether all runs of a method at a scenario take at most `BEGIN_SECONDS`.

    False if the method cannot run or the scenario is not valid. The time is that of the reference
    machine, so that a link opens with the same methods everywhere.
    """
    try:
        refused = refusal(scenario, slug)
    except InvalidInput:
        return False
    seconds = cost(replace(scenario, methods=(slug,)), exact=False).seconds / machine_speed()
    return refused is None and seconds <= BEGIN_SECONDS


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Which private method to start with, by measured errors."""

    # the private methods that ran, with their mean errors, the smallest first
    ranked: tuple[tuple[str, float], ...]
    # The methods that are not shown to be worse than another one, the smallest mean error first.
    unbeaten: tuple[str, ...]
    choice: str  # the method to start with; empty where none ran


def advice(
    outcomes: Sequence[Outcome],
    preferred: Collection[str] = (),
    start: float = 0.0,  # the error of an answer that ignores the data
) -> Advice:
    """Return the private methods by mean error, those not clearly beaten, and one to start with.

    That is an unbeaten preferred method, or else the one with the smallest error. A preferred
    method counts only if its error is below `start`, or if `start` is 0 (unknown).
    """
    errors: dict[str, list[float]] = {}
    for outcome in outcomes:
        if not outcome.not_applicable and method_card(outcome.method).privacy != "none":
            errors.setdefault(outcome.method, []).append(outcome.error)
    means = {method: float(np.mean(values)) for method, values in errors.items()}
    ranked = tuple(sorted(means.items(), key=lambda pair: pair[1]))
    if not ranked:
        return Advice(ranked=(), unbeaten=(), choice="")
    better = clearly_better(np.array([errors[method] for method, _ in ranked]))
    unbeaten = tuple(m for i, (m, _) in enumerate(ranked) if not better[:, i].any())
    best = ranked[0][0]
    choice = next((m for m in unbeaten if m in preferred and not 0 < start <= means[m]), best)
    return Advice(ranked=ranked, unbeaten=unbeaten, choice=choice)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Whether a method runs at a point."""

    slug: str
    refusal: str  # one sentence on why the method cannot run; empty if it runs
    # the predicted seconds, on the reference machine, of a run and of the evaluation of its error
    seconds: float

    @property
    def runs(self) -> bool:
        """Whether the method can run at the point: it has not refused."""
        return not self.refusal

    @property
    def quick(self) -> bool:
        """Whether the method runs, and takes at most `QUICK_SECONDS`."""
        return self.runs and self.seconds <= QUICK_SECONDS


@lru_cache(maxsize=500)
def fitting(point: Scenario) -> tuple[Fit, ...]:
    """Return, for each of the point's methods in order, if it can run and how long a run takes."""
    fits = []
    evaluation = 0.0 if problem_class(point.problem).exact_risk else EVALUATION
    for slug in point.methods:
        refused = refusal(point, slug)
        seconds = 0.0 if refused else release_seconds(point, slug) + evaluation
        fits.append(Fit(slug=slug, refusal=refused.reason if refused else "", seconds=seconds))
    return tuple(fits)


@lru_cache(maxsize=4096)
def refusal(point: Scenario, slug: str) -> NotApplicable | None:
    """Return why a method cannot run at a point, in the words of its plan; None if it can."""
    try:
        planned(point, slug)
    except NotApplicable as refused:
        # A traceback would keep all data of the plan in memory.
        return refused.with_traceback(None)
    return None


@lru_cache(maxsize=1000)
def nearest(scenario: Scenario, slug: str) -> Scenario:
    """Return the nearest scenario at whose point a method runs: itself, if it does there.

    Otherwise with the changes that the refusals name, or as few groups of `NEEDS` as possible from
    the method's example, whose sweep it takes.
    """
    example_scenario = example(slug)
    for needs in chain.from_iterable(combinations(NEEDS, k) for k in range(len(NEEDS) + 1)):
        candidate = replace(
            scenario, **{f: getattr(example_scenario, f) for f in " ".join(needs).split()}
        )
        for _ in range(3):  # A change may make another change necessary.
            changes = _find_changes(candidate, slug)
            if changes is None:
                if candidate == scenario:
                    return scenario
                methods, candidates = (
                    {*scenario.methods, *example_scenario.methods},
                    _known_methods(candidate),
                )
                chosen = tuple(m for m in candidates if m in methods)
                swept = replace(
                    candidate,
                    methods=chosen,
                    axis=example_scenario.axis,
                    grid=example_scenario.grid,
                )
                return with_fitting_grid(swept, DASHBOARD)
            if not changes or "method" in changes:
                break
            candidate = replace(candidate, **changes)
    return example_scenario


def _find_changes(scenario: Scenario, slug: str) -> dict[str, Any] | None:
    """Return the changes that would let a method run at a scenario's point; None if it runs."""
    try:
        point = replace(scenario, methods=(slug,), axis=None, grid=()).validate(sampling=False)
    except InvalidInput:
        return {}
    refused = refusal(point, slug) if slug in _known_methods(point) else NotApplicable("")
    return None if refused is None else dict(refused.changes)


def _known_methods(scenario: Scenario) -> tuple[str, ...]:
    """Return the methods for the scenario's problem and level."""
    return methods_for(scenario.problem, "user" if scenario.m > 1 else "item")
