"""What a cell will cost: seconds on the machine at hand, before any work is done.

Coefficients were fitted on one machine (`benchmarks/cost.py` fits and checks them); they are scaled
by the time of a small reference computation, measured once in each process.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpsco_core.catalogue import HARD_INSTANCES, make_optimiser
from dpsco_core.errors import NotApplicable
from dpsco_core.limits import Limits
from dpsco_core.problems import MeanEstimation
from dpsco_core.problems.evaluation import EVALUATION_ELEMENTS, EVALUATION_ROWS
from dpsco_core.scenario import Scenario
from dpsco_core.sco.framework import FrameworkPlan


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


EXACT_RISKS = ("quadratic", "linear")  # in closed form

REFERENCE_SECONDS = 1.04e-3
OVERHEAD = 2e-4  # seconds a cell: streams, plans, bookkeeping

SAMPLING = {
    "student-t": Coefficients(fixed=2.1e4, per_row=7.3, per_element=14),
    "pareto": Coefficients(fixed=1.4e4, per_row=4.1, per_element=7.5),
    "skewed-pareto": Coefficients(fixed=7e3, per_row=2.9, per_element=5.2),
    "log-normal": Coefficients(fixed=7e3, per_row=5.7, per_element=10.2),
    "gaussian": Coefficients(fixed=5e3, per_row=5.1, per_element=9.2),
    "elliptical-t": Coefficients(fixed=1.1e4, per_row=26, per_element=9.6),
    "spike": Coefficients(fixed=1.3e4, per_row=0, per_element=0.12),
    "hypercube": Coefficients(fixed=1.3e4, per_row=0, per_element=0.11),
}
RELEASE = {
    "mean.sample": Coefficients(fixed=8e3, per_row=0.2, per_element=0.27),
    "mean.median-of-means": Coefficients(fixed=1.5e5, per_row=0.1, per_element=0.31),
    "mean.clipped": Coefficients(fixed=3.9e4, per_row=4.1, per_element=0.7),
    "mean.iterative": Coefficients(fixed=3.3e7, per_row=20, per_element=5, per_column=6e4),
    "mean.cwme-cdp": Coefficients(fixed=6.7e4, per_row=0.2, per_element=0.62),
    "mean.cwme-pure": Coefficients(fixed=6.7e4, per_row=0.2, per_element=0.62),
    "mean.smoothed": Coefficients(fixed=1.1e5, per_row=0, per_element=47),
    # Of one step where the plan says how many there are, of the whole release otherwise.
    "sco.sgd": Coefficients(fixed=2e5, per_row=2e4, per_element=1),
    "sco.erm": Coefficients(fixed=1e6, per_row=100, per_element=20),
    "sco.noisy-gd": Coefficients(fixed=4e4, per_row=12, per_element=1),
    "sco.phased-sgd": Coefficients(fixed=1e6, per_row=2e4, per_element=1),
    "sco.cwme": Coefficients(fixed=8e4, per_row=10, per_element=1.3),
    "sco.smoothed": Coefficients(fixed=1.3e5, per_row=10, per_element=55),
    "sco.cwme-strong": Coefficients(fixed=8e4, per_row=10, per_element=1.3),
    "sco.clipped": Coefficients(fixed=6e4, per_row=12, per_element=0.7),
    "sco.iterative": Coefficients(fixed=3.6e7, per_row=30, per_element=6, per_column=6e4),
    "sco.private-sgd": Coefficients(fixed=1e6, per_row=2e4, per_element=1),
    "sco.objective-perturbation": Coefficients(fixed=2e6, per_row=300, per_element=30),
    "sco.objective-perturbation-strong": Coefficients(fixed=2e6, per_row=300, per_element=30),
}
# The excess risk of an answer, averaged over the evaluation sample, and that sample's own drawing.
EVALUATION = Coefficients(fixed=1e5, per_row=55, per_element=0.6)
# One pass of a full-batch optimiser over the gradients, by its oracle.
STEP = {
    "sco.cwme": Coefficients(fixed=1.5e5, per_row=3, per_element=1.6),
    "sco.smoothed": Coefficients(fixed=2e5, per_row=3, per_element=48),
    "sco.cwme-strong": Coefficients(fixed=1.5e5, per_row=3, per_element=1.6),
    "sco.clipped": Coefficients(fixed=1.2e5, per_row=9, per_element=0.6),
    "sco.iterative": Coefficients(fixed=3.3e7, per_row=30, per_element=6, per_column=6e4),
    "sco.noisy-gd": Coefficients(fixed=1.2e5, per_row=9, per_element=0.6),
}
EVALUATION = Coefficients(fixed=3e5, per_row=20, per_element=0.4)


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


def cost(scenario: Scenario) -> Cost:
    """Return the predicted work of `scenario`; within a factor of 2 for cells of 2 ms and more."""
    speed = machine_speed()
    total = largest = 0.0
    for _, point in scenario.points():
        sampling = SAMPLING[point.distribution].seconds(point.n, point.d)
        releases = [release_seconds(m, point) for m in scenario.methods]
        total += sampling + sum(releases) + OVERHEAD * len(releases)
        largest = max(largest, sampling + max(releases, default=0.0))
    return Cost(
        cells=scenario.cells,
        seconds=total * speed * scenario.trials,
        largest_cell=largest * speed,
    )


def release_seconds(method: str, point: Scenario) -> float:
    """Return the seconds of one release on the reference machine, with its error's evaluation.

    0 where the method does not apply. An optimiser's plan tells its number of steps.
    """
    coefficients = RELEASE[method]
    if point.problem == MeanEstimation.card.slug:
        return coefficients.seconds(point.n, point.d)
    try:
        plan = make_optimiser(method, point.calibration, point.tuning).plan(point.setting)
    except NotApplicable:
        return 0.0
    steps, rows = 1, point.n
    if isinstance(plan, FrameworkPlan):
        steps = plan.descent.steps
        rows = point.n // steps if plan.disjoint else point.n
    exact = point.distribution in HARD_INSTANCES or point.problem in EXACT_RISKS
    shown = 1 if exact else min(EVALUATION_ROWS, EVALUATION_ELEMENTS // point.d)
    return steps * coefficients.seconds(rows, point.d) + EVALUATION.seconds(shown, point.d)


def too_large(scenario: Scenario, limits: Limits) -> str:
    """Return one sentence if the work is above what a place allows, otherwise an empty string."""
    predicted = cost(scenario)
    if predicted.seconds <= limits.seconds:
        return ""
    trials = math.floor(scenario.trials * limits.seconds / predicted.seconds)
    fewer = f"at most {trials} trials, " if trials > 1 else ""
    return (
        f"This run would take about {predicted.seconds:,.0f} s, and {limits.where} allows "
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
