"""What a cell will cost: seconds on the machine at hand, before any work is done.

The coefficients of a method or a law stand in its class. They were fitted on one machine
(`benchmarks/cost.py` fits and checks them), and are scaled by the time of a small reference
computation, measured once in each process.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.limits import Limits, streamed
from dpsco_core.catalogue import distribution_class, method_class, problem_class
from dpsco_core.methods.base import Plan
from dpsco_core.problems import MeanEstimation
from dpsco_core.problems.samples.users import fits
from dpsco_core.runs.memory import memory_problem
from dpsco_core.runs.prices import move_seconds, pass_seconds, run_seconds
from dpsco_core.runs.study import canonical, own_setting, planned
from dpsco_core.scenario import Scenario

REFERENCE_SECONDS = 1.04e-3
OVERHEAD = 2e-4  # seconds a cell: streams, plans, bookkeeping
EVALUATION = 2.2e-3  # seconds for the excess risk of a point, where it is an average
AVERAGING = 1e-9  # seconds a number: users' mean items, where these are all that is looked at


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Predicted work of a scenario."""

    cells: int  # methods times points times trials
    seconds: float  # in all, one cell after another
    largest_cell: float  # seconds of the slowest cell, its sampling included


# How many trials of a method are known already at a point of the axis: (point, method, x) -> count.
Known = Callable[[Scenario, str, float | None], int]


def cost(scenario: Scenario, *, known: Known | None = None, exact: bool = True) -> Cost:
    """Return the predicted work of `scenario`, most often within a factor of 3.

    `python -m benchmarks.cost` compares it with the clock. Solvers stop where their data let them.

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
    are_held = fits(own.n, own.m, own.d)
    is_linear = own.constants.structure in ("mean", "linear")
    if are_held and own.m > 1 and family.needs_only_means and is_linear:
        seconds = _run_seconds(point, slug, own.n, exact=exact)
        return seconds + AVERAGING * own.n * own.m * own.d if seconds else 0.0
    return _run_seconds(point, slug, own.n * (own.m if are_held else 1), exact=exact)


def _run_seconds(point: Scenario, slug: str, visited: int, *, exact: bool) -> float:
    """Return the predicted seconds of a run that visits so many items, or users' means."""
    family, own = method_class(slug), own_setting(point, slug)
    if point.problem == MeanEstimation.card.slug:
        return family.cost.seconds(visited, point.d)
    plan = _asked(point, slug) if exact or family.cost.rough_steps is None else None
    if plan is not None:
        return run_seconds(family.cost, plan, visited, point.problem)
    steps = _passes(point, slug, exact=exact)
    step = pass_seconds(family.cost, visited, point.d, point.problem)
    step += 1e-9 * family.cost.per_piece
    return steps * (step + move_seconds(own, None)) if steps else 0.0


def _passes(point: Scenario, slug: str, *, exact: bool = True) -> float:
    """Return how often a method does what its cost counts; 0 where an optimiser refuses.

    If not `exact` no plan is made where that takes long.
    """
    if point.problem == MeanEstimation.card.slug:
        return 1  # an estimator that refuses is not asked: it costs little
    own = method_class(slug).cost
    if exact or own.rough_steps is None:
        plan = _asked(point, slug)
        return 0 if plan is None else plan.passes
    epsilon = math.sqrt(2 * point.rho) if point.rho is not None else point.epsilon
    assert epsilon is not None
    scale, most = own.rough_steps
    return min(max(epsilon * point.n / math.sqrt(point.d) / scale, 1.0), most)


def _asked(point: Scenario, slug: str) -> Plan | None:
    """Return the method's plan at a point, None where it refuses; kept for later calls."""
    return _kept_plan(replace(canonical(point), seed=0), slug)


@lru_cache(maxsize=4096)
def _kept_plan(point: Scenario, slug: str) -> Plan | None:
    try:
        return planned(point, slug)
    except NotApplicable:
        return None


def too_large(scenario: Scenario, limits: Limits, beside: Sequence[Scenario] = ()) -> str:
    """Return one sentence if the work is above what a place allows, otherwise an empty string.

    That of the scenarios `beside` is added. No cell may be longer than a place can wait for.
    """
    every = (scenario, *beside)
    problem = next(filter(None, map(memory_problem, every)), "")  # before a plan is made
    if problem or within((cost(s, exact=False) for s in every), limits):
        return problem
    own, *others = (cost(s) for s in every)
    if within((own, *others), limits):
        return ""
    longest = max(price.largest_cell for price in (own, *others))
    if longest > limits.cell_seconds:
        return (
            f"A single trial would take about {longest:,.0f} s, and {limits.where} allows "
            f"{limits.cell_seconds:,.0f} s: use a smaller n or d, or the command line."
        )
    spent = sum(price.seconds for price in others)
    total = own.seconds + spent
    trials = (
        math.floor(scenario.trials * (limits.seconds - spent) / own.seconds) if own.seconds else 0
    )
    fewer = f"at most {trials} trials, " if trials > 1 else ""
    run = "This run and the one beside it would" if beside else "This run would"
    return (
        f"{run} take about {total:,.0f} s, and {limits.where} allows "
        f"{limits.seconds:,.0f} s: use {fewer}a smaller n or d, or the command line."
    )


def within(prices: Iterable[Cost], limits: Limits) -> bool:
    """Whether a place allows this much work in all, and the longest of its cells."""
    prices = tuple(prices)
    longest = max((price.largest_cell for price in prices), default=0.0)
    total = sum(price.seconds for price in prices)
    return total <= limits.seconds and longest <= limits.cell_seconds


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
