"""Runs of one method at several values of the unknown, with common random numbers."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.blas import one_blas_thread
from dpsco_core.catalogue import make_method, method_card
from dpsco_core.data.alike import draw_users, share_in_common
from dpsco_core.data.blocks import whole_blocks
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.base import released
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import OptimisationProblem, Problem, Sample
from dpsco_core.problems.samples.users import (
    ItemSample,
    MeanSample,
    items_fit,
    pool_items,
    sample_users,
    users_of,
)
from dpsco_core.runs.study import canonical, method_setting, stream
from dpsco_core.scenario import Scenario

Unknown = Literal["n", "epsilon", "rho"]
Progress = Callable[[int], None]


class Runs:
    """Runs of one method at several values of the unknown, with common random numbers."""

    def __init__(
        self, base: Scenario, unknown: Unknown, progress: Progress | None, quantile: float = 0.5
    ) -> None:
        """Prepare the runs of the scenario's only method at any value of the unknown field."""
        self.base, self.unknown, self.progress = base, unknown, progress
        self.quantile = quantile  # the quantile of the error that is to reach the target
        (self.method,) = base.methods
        self.method_run = make_method(self.method, base.calibration, base.tuning)
        self.count = 0
        # The labels of the random streams contain neither n nor the budget.
        plain = replace(canonical(base), n=1, epsilon=1.0, delta=1e-6, rho=None)
        self.label = f"{plain.to_query()}"

    def log_errors(self, place: float, trials: int) -> Vector:
        """Run the first trials where the unknown has the value ``unscaled(place)``.

        Return the logarithms of their errors, shape (trials,).
        """
        point = point_at(self.base, self.unknown, unscaled(place, self.unknown))
        with one_blas_thread():
            errors = [self._error_of_trial(point, trial) for trial in range(trials)]
        self.count += trials
        if self.progress is not None:
            self.progress(self.count)
        return np.log(np.maximum(errors, 1e-300))

    def _error_of_trial(self, point: Scenario, trial: int) -> float:
        """Return the error of one trial at a point."""
        plan = self.method_run.plan(method_setting(point, self.method))
        ledger = Ledger(point.budget)
        data = stream(point.seed, f"need data {self.label}", trial)
        noise = stream(point.seed, f"need noise {self.method} {self.label}", trial)
        problem = point.instance.problem.draw(data)
        users: Any = first_users(problem, point.n, point.m, data)
        user_level = method_card(self.method).level == "user"
        records = users_of(users) if user_level else pool_items(users)
        release = released(self.method_run, records, plan, ledger, noise)
        return problem.excess_risk(release.value).value


def quantile_of(errors: Vector, quantile: float, axis: int | None = None) -> Vector:
    """Return a quantile of errors, along an axis or of all of them; 0.5 is the median."""
    if quantile == 0.5:
        return np.asarray(np.median(errors, axis=axis))
    return np.asarray(np.quantile(errors, quantile, axis=axis))


def first_users(
    problem: Problem, n: int, m: int, rng: np.random.Generator
) -> DenseRows | UserRows | Sample | ItemSample | MeanSample:
    """Return the first n users of a stream with m items each; with one item they are records.

    They are the same users for every n, except where only the users' means are drawn.
    """
    d = problem.constraint.d
    if not isinstance(problem, OptimisationProblem):
        if m > 1 and share_in_common(problem.law) > 0:
            return draw_users(problem.law, n, m, rng)
        rows = DenseRows(problem.sample(whole_blocks(n * m, d), rng).x[: n * m])
        return rows if m == 1 else UserRows(records=rows, items=m)
    if not items_fit(n, m, d):
        return sample_users(problem, n, m, rng)
    records = problem.sample(whole_blocks(n * m, d), rng).part(0, n * m)
    return records if m == 1 else ItemSample(records=records, items=m)


def point_at(base: Scenario, unknown: Unknown, value: float) -> Scenario:
    """Return the scenario with another value of the unknown."""
    changes: dict[str, Any] = {unknown: int(value) if unknown == "n" else value}
    return replace(base, **changes)


def unscaled(place: float, unknown: Unknown) -> float:
    """Return the value at a place: of ln n, ln epsilon, or half of ln rho, rounded for n."""
    if unknown == "n":
        return max(1, round(math.exp(place)))
    return math.exp(place if unknown == "epsilon" else 2 * place)
