"""The predicted cost of a cell: seconds on this machine, before any work is done.

Each method and law declares its own coefficients. They were fitted on one machine
(`benchmarks/cost.py` fits and checks them), and are scaled by the time of a small reference
computation, measured once per process.
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
from dpsco_core.problems.samples.users import items_fit
from dpsco_core.runs.memory import memory_problem
from dpsco_core.runs.prices import move_seconds, pass_seconds, run_seconds
from dpsco_core.runs.study import canonical, method_setting, planned
from dpsco_core.scenario import Scenario

REFERENCE_SECONDS = 1.04e-3
OVERHEAD = 2e-4  # the seconds that a cell needs for random streams, plans and bookkeeping
EVALUATION = 2.2e-3  # the seconds in which an excess risk is estimated by an average
# the seconds per number in which users' items are averaged, if a method needs only means
AVERAGING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The predicted work of a scenario."""

    cells: int  # the number of cells: methods times points times trials
    seconds: float  # the sum over all cells
    largest_cell: float  # the seconds of the slowest cell, including its sampling


# A function of (point, method, x on the axis) that returns the number of finished trials.
FinishedTrials = Callable[[Scenario, str, float | None], int]


def cost(scenario: Scenario, *, finished: FinishedTrials | None = None, exact: bool = True) -> Cost:
    """Return the predicted work of `scenario`, usually within a factor of 3.

    `python -m benchmarks.cost` compares it with the clock. Solvers may stop earlier on easy data.

    Parameters
    ----------
    finished : callable, optional
        How many trials need not run again, by `canonical` point, method and value on the axis.
    exact : bool
        If False, methods are not asked whether they refuse, which takes up to 0.2 s each at a new
        point. The prediction is then an upper one.
    """
    speed = machine_speed()
    count = 0
    total = largest = 0.0
    for x, point in scenario.points():
        items = point.m if items_fit(point.n, point.m, point.d) else 1
        law = distribution_class(point.distribution)
        sampling = law.sampling.seconds(point.n * items, point.d)
        is_averaged = not (problem_class(point.problem).exact_risk or law.has_prior)
        base = canonical(point)
        # Of a streamed sample, each method draws the records itself.
        is_streamed = streamed(point.n, point.m, point.d)
        sampled = 0 if scenario.methods else scenario.trials
        for slug in scenario.methods:
            trials = scenario.trials - (0 if finished is None else finished(base, slug, x))
            if trials <= 0:
                continue
            seconds = release_seconds(point, slug, exact=exact)
            if seconds > 0 and is_averaged:
                seconds += EVALUATION
            if seconds > 0 and is_streamed:
                seconds += sampling * _count_passes(point, slug)
            count += trials
            sampled = 0 if is_streamed else max(sampled, trials)
            total += trials * (seconds + OVERHEAD)
            largest = max(largest, seconds if is_streamed else sampling + seconds)
        total += sampled * sampling
        if not scenario.methods:
            largest = max(largest, sampling)
    return Cost(cells=count, seconds=total * speed, largest_cell=largest * speed)


@lru_cache(maxsize=4096)
def release_seconds(point: Scenario, slug: str, *, exact: bool = True) -> float:
    """Return the predicted seconds of one run of a method; 0 if it refuses.

    Unless `exact`, a method whose price follows from the sizes is not asked whether it refuses.
    """
    family = method_class(slug)
    if streamed(point.n, point.m, point.d) and family.reads == "whole":
        return 0.0
    setting = method_setting(point, slug)
    are_held = items_fit(setting.n, setting.m, setting.d)
    is_linear = setting.constants.structure in ("mean", "linear")
    if are_held and setting.m > 1 and family.needs_only_means and is_linear:
        seconds = _run_seconds(point, slug, setting.n, exact=exact)
        return seconds + AVERAGING * setting.n * setting.m * setting.d if seconds else 0.0
    return _run_seconds(point, slug, setting.n * (setting.m if are_held else 1), exact=exact)


def _run_seconds(point: Scenario, slug: str, visited: int, *, exact: bool) -> float:
    """Return the predicted seconds of a run that visits `visited` items, or users' means."""
    family, setting = method_class(slug), method_setting(point, slug)
    if point.problem == MeanEstimation.card.slug:
        return family.cost.seconds(visited, point.d)
    plan = _plan_or_none(point, slug) if exact or family.cost.rough_steps is None else None
    if plan is not None:
        return run_seconds(family.cost, plan, visited, point.problem)
    steps = _count_passes(point, slug, exact=exact)
    step = pass_seconds(family.cost, visited, point.d, point.problem)
    step += 1e-9 * family.cost.per_piece
    return steps * (step + move_seconds(setting, None)) if steps else 0.0


def _count_passes(point: Scenario, slug: str, *, exact: bool = True) -> float:
    """Return how often a method repeats the work that its cost counts; 0 if an optimiser refuses.

    Unless `exact`, no plan is made for methods whose plan takes long.
    """
    if point.problem == MeanEstimation.card.slug:
        return 1  # Estimators cost little, so no refusal is computed for them.
    price = method_class(slug).cost
    if exact or price.rough_steps is None:
        plan = _plan_or_none(point, slug)
        return 0 if plan is None else plan.passes
    epsilon = math.sqrt(2 * point.rho) if point.rho is not None else point.epsilon
    assert epsilon is not None
    scale, most_steps = price.rough_steps
    return min(max(epsilon * point.n / math.sqrt(point.d) / scale, 1.0), most_steps)


def _plan_or_none(point: Scenario, slug: str) -> Plan | None:
    """Return the method's plan at a point, or None if it refuses; plans are cached."""
    return _cached_plan(replace(canonical(point), seed=0), slug)


@lru_cache(maxsize=4096)
def _cached_plan(point: Scenario, slug: str) -> Plan | None:
    """Return the plan of a method at a point; None if it cannot run there."""
    try:
        return planned(point, slug)
    except NotApplicable:
        return None


def too_large(scenario: Scenario, limits: Limits, companions: Sequence[Scenario] = ()) -> str:
    """Return one sentence if the work exceeds the limits, otherwise an empty string.

    The work of the companions is added. No single cell may exceed the limit on one cell.
    """
    scenarios = (scenario, *companions)
    # Memory is checked first, because making plans for the prices takes longer.
    problem = next(filter(None, map(memory_problem, scenarios)), "")
    if problem or fits_limits((cost(s, exact=False) for s in scenarios), limits):
        return problem
    price, *companion_prices = (cost(s) for s in scenarios)
    if fits_limits((price, *companion_prices), limits):
        return ""
    longest = max(price.largest_cell for price in (price, *companion_prices))
    if longest > limits.cell_seconds:
        return (
            f"A single trial would take about {longest:,.0f} s, and {limits.where} allows "
            f"{limits.cell_seconds:,.0f} s: use a smaller n or d, or the command line."
        )
    companion_seconds = sum(price.seconds for price in companion_prices)
    total = price.seconds + companion_seconds
    trials = (
        math.floor(scenario.trials * (limits.seconds - companion_seconds) / price.seconds)
        if price.seconds
        else 0
    )
    fewer = f"at most {trials} trials, " if trials > 1 else ""
    run = "This run and the one beside it would" if companions else "This run would"
    return (
        f"{run} take about {total:,.0f} s, and {limits.where} allows "
        f"{limits.seconds:,.0f} s: use {fewer}a smaller n or d, or the command line."
    )


def fits_limits(prices: Iterable[Cost], limits: Limits) -> bool:
    """Return whether the limits allow the total work and the longest cell."""
    prices = tuple(prices)
    longest = max((price.largest_cell for price in prices), default=0.0)
    total = sum(price.seconds for price in prices)
    return total <= limits.seconds and longest <= limits.cell_seconds


@lru_cache(maxsize=1)
def machine_speed() -> float:
    """Return the time of a reference computation relative to the reference machine.

    It is processor time of this thread, where the system tells it: what other threads and programs
    do at the moment of the measurement would otherwise count for as long as the process lives.
    """
    clock = getattr(time, "thread_time", time.perf_counter)
    rng = np.random.default_rng(0)
    best = math.inf
    for _ in range(5):
        started = clock()
        x = rng.standard_normal(100_000)
        np.exp(x, out=x)
        np.clip(x, 0.1, 2.0, out=x).sum()
        best = min(best, clock() - started)
    return best / REFERENCE_SECONDS
