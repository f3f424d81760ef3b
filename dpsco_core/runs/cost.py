"""What a cell will cost: seconds on the machine at hand, before any work is done.

The coefficients of a method or a law stand in its class. They were fitted on one machine
(`benchmarks/cost.py` fits and checks them), and are scaled by the time of a small reference
computation, measured once in each process.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.limits import Limits, streamed
from dpsco_core.catalogue import distribution_class, method_class, problem_class
from dpsco_core.problems import MeanEstimation
from dpsco_core.problems.samples.users import fits
from dpsco_core.runs.memory import memory_problem
from dpsco_core.runs.study import canonical, own_setting, planned
from dpsco_core.scenario import Scenario

REFERENCE_SECONDS = 1.04e-3
OVERHEAD = 2e-4  # seconds a cell: streams, plans, bookkeeping
EVALUATION = 8e-3  # seconds for the excess risk of a point, where it is an average


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Predicted work of a scenario."""

    cells: int  # methods times points times trials
    seconds: float  # in all, one cell after another
    largest_cell: float  # seconds of the slowest cell, its sampling included


# How many trials of a method are known already at a point of the axis: (point, method, x) -> count.
Known = Callable[[Scenario, str, float | None], int]


def cost(scenario: Scenario, *, known: Known | None = None, exact: bool = True) -> Cost:
    """Return the predicted work of `scenario`; within a factor of 2 for cells of 2 ms and more.

    That of an optimiser on a single problem may be off by more: its losses differ.

    Parameters
    ----------
    known : callable, optional
        How many trials need not be run again, by `canonical` point, method and value on the axis.
    exact : bool
        False: methods are not asked whether they refuse, which takes up to 0.2 s for each at a
        new point. The prediction is then an upper one.
    """
    speed = machine_speed()
    count = 0
    total = largest = 0.0
    for x, point in scenario.points():
        items = point.m if fits(point.n, point.m, point.d) else 1
        law = distribution_class(point.distribution)
        sampling = law.sampling.seconds(point.n * items, point.d)
        averaged = not (problem_class(point.problem).exact_risk or law.has_prior)
        base = canonical(point)
        drawn_again = streamed(point.n, point.m, point.d)  # by every method that does not refuse
        most = 0 if scenario.methods else scenario.trials
        for slug in scenario.methods:
            trials = scenario.trials - (0 if known is None else known(base, slug, x))
            if trials <= 0:
                continue
            seconds = release_seconds(point, slug, exact=exact)
            if seconds > 0 and averaged:
                seconds += EVALUATION
            if seconds > 0 and drawn_again:
                seconds += sampling * _passes(point, slug)
            count += trials
            most = 0 if drawn_again else max(most, trials)
            total += trials * (seconds + OVERHEAD)
            largest = max(largest, seconds if drawn_again else sampling + seconds)
        total += most * sampling
        if not scenario.methods:
            largest = max(largest, sampling)
    return Cost(cells=count, seconds=total * speed, largest_cell=largest * speed)


@lru_cache(maxsize=4096)
def release_seconds(point: Scenario, slug: str, *, exact: bool = True) -> float:
    """Return the predicted seconds of one run of a method; 0 where it refuses.

    If not `exact`, a method whose price follows from the sizes is not asked whether it refuses.
    """
    family = method_class(slug)
    if streamed(point.n, point.m, point.d) and family.reads == "whole":
        return 0.0
    own = own_setting(point, slug)
    visited = own.n * (own.m if fits(own.n, own.m, own.d) else 1)  # all items, or the users' means
    return _passes(point, slug, exact=exact) * family.cost.seconds(visited, point.d)


def _passes(point: Scenario, slug: str, *, exact: bool = True) -> float:
    """Return how often a method does what its cost counts; 0 where an optimiser refuses.

    If not `exact` no plan is made where that is known without, or nearly.
    """
    if point.problem == MeanEstimation.card.slug:
        return 1  # an estimator that refuses is not asked: it costs little
    own = method_class(slug).cost
    if exact or (own.unit == "step" and own.rough_steps is None):
        return _asked_passes(replace(canonical(point), seed=0), slug)
    if own.rough_steps is None:
        return 1
    epsilon = math.sqrt(2 * point.rho) if point.rho is not None else point.epsilon
    assert epsilon is not None
    scale, most = own.rough_steps
    return min(max(epsilon * point.n / math.sqrt(point.d) / scale, 1.0), most)


@lru_cache(maxsize=4096)
def _asked_passes(point: Scenario, slug: str) -> float:
    """As `_passes`, from the method's plan; kept for later calls."""
    try:
        return planned(point, slug).passes
    except NotApplicable:
        return 0


def too_large(scenario: Scenario, limits: Limits, beside: Sequence[Scenario] = ()) -> str:
    """Return one sentence if the work is above what a place allows, otherwise an empty string.

    That of the scenarios `beside` is added.
    """
    every = (scenario, *beside)
    problem = next(filter(None, map(memory_problem, every)), "")  # before a plan is made
    if problem or sum(cost(s, exact=False).seconds for s in every) <= limits.seconds:
        return problem
    own, *others = (cost(s).seconds for s in every)
    total = own + sum(others)
    if total <= limits.seconds:
        return ""
    trials = math.floor(scenario.trials * (limits.seconds - sum(others)) / own) if own > 0 else 0
    fewer = f"at most {trials} trials, " if trials > 1 else ""
    run = "This run and the one beside it would" if beside else "This run would"
    return (
        f"{run} take about {total:,.0f} s, and {limits.where} allows "
        f"{limits.seconds:,.0f} s: use {fewer}a smaller n or d, or the command line."
    )


@lru_cache(maxsize=1)
def machine_speed() -> float:
    """Return the time of a reference computation here over that on the reference machine."""
    rng = np.random.default_rng(0)
    best = math.inf
    for _ in range(5):
        started = time.perf_counter()
        x = rng.standard_normal(100_000)
        np.exp(x, out=x)
        np.clip(x, 0.1, 2.0, out=x).sum()
        best = min(best, time.perf_counter() - started)
    return best / REFERENCE_SECONDS
