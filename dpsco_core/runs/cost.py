"""What a cell will cost: seconds on the machine at hand, before any work is done.

Coefficients were fitted on one machine (`benchmarks/cost.py` fits and checks them); they are scaled
by the time of a small reference computation, measured once in each process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.limits import Limits, streamed
from dpsco_core.catalogue import HARD_INSTANCES, make_method, method_class
from dpsco_core.methods.euclidean.adaptive import AdaptiveDescentPlan
from dpsco_core.methods.euclidean.framework import FrameworkPlan
from dpsco_core.methods.euclidean.noisy_gd import NoisyPlan
from dpsco_core.methods.lq.regularized import RegularizedPlan
from dpsco_core.methods.user.accelerated.nonsmooth import SmoothedPlan
from dpsco_core.methods.user.accelerated.schedule import AcceleratedPlan
from dpsco_core.methods.user.clipped_means import MeansPlan
from dpsco_core.problems import Setting
from dpsco_core.problems.samples.users import fits
from dpsco_core.runs.memory import memory_problem
from dpsco_core.runs.study import canonical, own_setting
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Nanoseconds on the reference machine: fixed, and for each row, column and element."""

    fixed: float
    per_row: float
    per_element: float
    per_column: float = 0.0

    def seconds(self, n: int, d: int) -> float:
        """Return the seconds at n rows of dimension d."""
        return 1e-9 * (
            self.fixed + self.per_row * n + self.per_column * d + self.per_element * n * d
        )


REFERENCE_SECONDS = 1.04e-3
OVERHEAD = 2e-4  # seconds a cell: streams, plans, bookkeeping
# Errors in closed form, as those of every problem on a hard instance are.
EXACT = ("mean", "quadratic", "linear", "least-squares")

SAMPLING = {
    "student-t": Coefficients(fixed=7.8e4, per_row=0, per_element=7.3),
    "pareto": Coefficients(fixed=5.2e4, per_row=0, per_element=6.4),
    "skewed-pareto": Coefficients(fixed=4e4, per_row=0, per_element=5.9),
    "log-normal": Coefficients(fixed=7.3e4, per_row=0, per_element=8.5),
    "gaussian": Coefficients(fixed=6.9e4, per_row=0, per_element=6.8),
    "elliptical-t": Coefficients(fixed=7.4e4, per_row=22, per_element=7.9),
    "spike": Coefficients(fixed=5.9e4, per_row=0, per_element=0.73),
    "hypercube": Coefficients(fixed=6.1e4, per_row=0, per_element=0.87),
    "tracing": Coefficients(fixed=7e4, per_row=0, per_element=1.2),
}
RELEASE = {
    "mean.sample": Coefficients(fixed=8e3, per_row=0.2, per_element=0.27),
    "mean.median-of-means": Coefficients(fixed=1.5e5, per_row=0.1, per_element=0.31),
    "mean.clipped": Coefficients(fixed=3.9e4, per_row=7, per_element=0.42),
    "mean.iterative": Coefficients(fixed=2e7, per_row=25, per_element=1.4),
    "mean.cwme-cdp": Coefficients(fixed=6.7e4, per_row=0.2, per_element=0.62),
    "mean.cwme-pure": Coefficients(fixed=6.7e4, per_row=0.2, per_element=0.62),
    "mean.adaptive": Coefficients(fixed=2.5e5, per_row=20, per_element=1),
    "mean.instance-optimal": Coefficients(fixed=1e6, per_row=0, per_element=230),
    "mean.coinpress": Coefficients(fixed=1.2e5, per_row=15, per_element=1.3),
    "mean.smoothed": Coefficients(fixed=9e4, per_row=0, per_element=2.4),
}
# One step of an optimiser that visits all gradients at every step, by its oracle.
STEP = {
    "sco.noisy-gd": Coefficients(fixed=1.5e5, per_row=10, per_element=1),
    "sco.cwme": Coefficients(fixed=1.7e5, per_row=9, per_element=1.2),
    "sco.smoothed": Coefficients(fixed=2.4e5, per_row=15, per_element=7),
    "sco.clipped": Coefficients(fixed=9e4, per_row=6, per_element=1.1),
    "sco.adaptive": Coefficients(fixed=1.2e5, per_row=9, per_element=1.2),
    "lp.regularized-mirror-descent": Coefficients(fixed=7e4, per_row=9.6, per_element=1.2),
    "sco.iterative": Coefficients(fixed=2e7, per_row=30, per_element=1.5),
    "user.accelerated": Coefficients(fixed=1.8e6, per_row=5.8, per_element=1.7),
    "user.accelerated-strong": Coefficients(fixed=1.1e6, per_row=29, per_element=2.2),
    "user.accelerated-nonsmooth": Coefficients(fixed=2.1e6, per_row=49, per_element=2.2),
    "user.clipped-means": Coefficients(fixed=2.1e5, per_row=6.1, per_element=1.1),
}
# Where a plan takes some 0.1 s: the steps are about epsilon n / sqrt(d) over the first number,
# from 1 to the second. At 40 settings it is 0.8 to 16 times the planned one, most often up to 2.
ROUGH_STEPS = {
    "user.accelerated": (500, 8),
    "user.accelerated-strong": (70, 64),
    "user.accelerated-nonsmooth": (500, 8),
    "user.clipped-means": (35, 128),
}
# The whole run of the other optimisers.
RUN = {
    "sco.sgd": Coefficients(fixed=1.2e6, per_row=2200, per_element=22),
    "sco.erm": Coefficients(fixed=2e5, per_row=185, per_element=8.7),
    "sco.phased-sgd": Coefficients(fixed=2.2e5, per_row=5000, per_element=2.2),
    "sco.cwme-strong": Coefficients(fixed=2.2e5, per_row=12, per_element=1.1),
    "sco.private-sgd": Coefficients(fixed=1e5, per_row=5600, per_element=15),
    "sco.objective-perturbation": Coefficients(fixed=2.5e5, per_row=250, per_element=8.7),
    "sco.objective-perturbation-strong": Coefficients(fixed=6e4, per_row=11, per_element=1.8),
    "user.phased-sgd": Coefficients(fixed=1e7, per_row=60, per_element=10),
    "user.group-privacy": Coefficients(fixed=1e8, per_row=250, per_element=19),
    "lp.phased-sgd": Coefficients(fixed=6e4, per_row=6000, per_element=2),
    "lp.shuffled-mirror-descent": Coefficients(fixed=3.9e5, per_row=140, per_element=5.1),
    "lp.batched-mirror-descent": Coefficients(fixed=3e5, per_row=140, per_element=4.8),
    "lp.euclidean-reduction": Coefficients(fixed=2.9e5, per_row=69, per_element=0.9),
    "lp.noisy-mirror-descent": Coefficients(
        fixed=2e6, per_row=10_000, per_element=50, per_column=2.2e4
    ),
}
EVALUATION = 8e-3  # seconds for the excess risk of a point, where it is an average


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Predicted work of a scenario.

    Parameters
    ----------
    cells : int
        Methods times points times trials.
    seconds : float
        In all, one cell after another.
    largest_cell : float
        Seconds of the slowest cell, its sampling included.
    """

    cells: int
    seconds: float
    largest_cell: float


# How many trials of a method are known already at a point of the axis: (point, method, x) -> count.
Known = Callable[[Scenario, str, float | None], int]


def cost(scenario: Scenario, *, known: Known | None = None, exact: bool = True) -> Cost:
    """Return the predicted work of `scenario`; within a factor of 2 for cells of 2 ms and more.

    That of an optimiser on a single problem may be off by more: its losses differ.

    Parameters
    ----------
    scenario : Scenario
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
        sampling = SAMPLING[point.distribution].seconds(point.n * items, point.d)
        averaged = point.problem not in EXACT and point.distribution not in HARD_INSTANCES
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


def release_seconds(point: Scenario, slug: str, *, exact: bool = True) -> float:
    """Return the predicted seconds of one run of a method; 0 where it refuses.

    If not `exact`, a method whose price follows from the sizes is not asked whether it refuses.
    """
    if streamed(point.n, point.m, point.d) and method_class(slug).reads == "whole":
        return 0.0
    if slug in RELEASE:
        return RELEASE[slug].seconds(point.n, point.d)
    if slug in RUN and not exact:
        return RUN[slug].seconds(_visited(own_setting(point, slug)), point.d)
    if slug in ROUGH_STEPS and not exact:
        return _rough_steps(point, slug) * STEP[slug].seconds(
            _visited(own_setting(point, slug)), point.d
        )
    step = STEP[slug] if slug in STEP else RUN[slug]
    return _passes(point, slug) * step.seconds(_visited(own_setting(point, slug)), point.d)


def _rough_steps(point: Scenario, slug: str) -> float:
    epsilon = math.sqrt(2 * point.rho) if point.rho is not None else point.epsilon
    assert epsilon is not None
    scale, most = ROUGH_STEPS[slug]
    return min(max(epsilon * point.n / math.sqrt(point.d) / scale, 1.0), most)


def _passes(point: Scenario, slug: str) -> float:
    """Return how often an optimiser works on all records; 0 where it refuses."""
    return 1 if slug in RELEASE else _asked_passes(replace(canonical(point), seed=0), slug)


@lru_cache(maxsize=4096)
def _asked_passes(point: Scenario, slug: str) -> float:
    """As `_passes`, from the optimiser's plan; kept for later calls. A `RUN` counts once."""
    try:
        plan = make_method(slug, point.calibration, point.tuning).plan(own_setting(point, slug))
    except NotApplicable:
        return 0
    return planned_steps(plan) if slug in STEP else 1


def _visited(setting: Setting) -> int:
    """Return the number of items that a run visits: all, or the users' means."""
    return setting.n * (setting.m if fits(setting.n, setting.m, setting.d) else 1)


def planned_steps(plan: object) -> float:
    """Return the number of steps over all records or users that an optimiser has planned.

    A step that visits a part of the users is that part of a step.
    """
    if isinstance(plan, RegularizedPlan):
        return plan.steps
    if isinstance(plan, AdaptiveDescentPlan):
        return plan.expected.steps
    if isinstance(plan, MeansPlan):
        return plan.choice.steps
    if isinstance(plan, SmoothedPlan):
        plan = plan.phases
    if isinstance(plan, AcceleratedPlan):
        everyone = max(phase.stop for phase in plan.phases)
        return sum(phase.steps * phase.users for phase in plan.phases) / everyone
    framework = plan.framework if isinstance(plan, NoisyPlan) else plan
    assert isinstance(framework, FrameworkPlan)
    return framework.descent.steps


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
