"""Problems, ledgers and runs shared by the tests of the gradient-descent framework."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.data import DenseRows, StudentT
from dpsco_core.methods import steps as kinds_of_steps
from dpsco_core.methods.euclidean import (
    ClippedDescent,
    CoordinatewiseDescent,
    IterativeDescent,
    SmoothedDescent,
    StrongCoordinatewiseDescent,
)
from dpsco_core.methods.records import groups as group_means
from dpsco_core.methods.records.smooth_clip import smoothed_supremum
from dpsco_core.methods.run import Descended, Path
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import ZCDP, ApproxDP, Budget, Ledger, PureDP, gaussian_rho, zcdp_rho
from dpsco_core.problems.base import Setting
from dpsco_core.problems.linear import Linear
from dpsco_core.problems.logistic import Logistic
from dpsco_core.problems.quadratic import Quadratic
from dpsco_core.problems.samples.linear import LinearSample

Array = NDArray[np.float64]
CONCENTRATED, APPROXIMATE = ZCDP(rho=0.5), ApproxDP(epsilon=1.0, delta=1e-6)
PURE = PureDP(epsilon=1.0)
FAMILIES = (
    ClippedDescent,
    CoordinatewiseDescent,
    SmoothedDescent,
    IterativeDescent,
    StrongCoordinatewiseDescent,
)
CALIBRATIONS, TUNINGS = ("tight", "paper"), ("practical", "theory")


def make_variant(family: Any, calibration: str, tuning: str) -> Any:
    """Return a method that can run on a few thousand records.

    The theory's 10^5 groups become 5, and its hundreds of blocks 3 where the method makes many
    steps.
    """
    theory, fewer = tuning == "theory", {}
    if theory and family is IterativeDescent:
        fewer = {"groups": 5}
    if theory and family is CoordinatewiseDescent and calibration == "paper":
        fewer = {"blocks": 3}
    return family(calibration=calibration, tuning=tuning, **fewer)


VARIANTS = [make_variant(*v) for v in itertools.product(FAMILIES, CALIBRATIONS, TUNINGS)]


def record_count(method: Any) -> int:
    """Return a number of records large enough for the method, and no multiple of its blocks."""
    coordinatewise = isinstance(method, (CoordinatewiseDescent, StrongCoordinatewiseDescent))
    return 2003 if method.tuning == "theory" and coordinatewise and not method.blocks else 203


def quadratic_problem(d: int = 2, radius: float = 1.0) -> Quadratic:
    """Return the mean of squared distances on a ball, with heavy tails."""
    law = StudentT(d=d, moment_order=3.0, margin=0.5, offset=0.5 * radius)
    return Quadratic(distribution=law, radius=radius)


def linear_problem(d: int = 2) -> Linear:
    """Return the problem of linear losses on the unit ball, with heavy tails."""
    law = StudentT(d=d, moment_order=3.0, margin=0.5, offset=0.5)
    return Linear(distribution=law, radius=1.0)


def logistic_problem(d: int = 2) -> Logistic:
    """Return the problem of logistic regression, with heavy-tailed features."""
    law = StudentT(d=d, moment_order=3.0, margin=0.5, offset=0.0)
    return Logistic(features=law, radius=2.0, offset=1.0)


def problems_for(method: Any) -> tuple[Any, ...]:
    """Return the problems that a method can solve."""
    strong = isinstance(method, StrongCoordinatewiseDescent)
    return (quadratic_problem(),) if strong else (quadratic_problem(), logistic_problem())


@dataclass
class Recorder(Ledger):
    """A ledger that remembers every exact statistic."""

    exact: list[Array] = field(default_factory=list)

    def release(self, mechanism: Any, value: Array, rng: Any, *, label: str = "") -> Any:
        """Release a value, and record the value without noise."""
        released = super().release(mechanism, value, rng, label=label)
        self.exact.append(np.array(value))
        return released

    def disjoint(self, blocks: int) -> tuple[Ledger, ...]:
        """Return ledgers of disjoint blocks that all record into this ledger's list."""
        return tuple(
            Recorder(
                self.budget,
                _parent=block._parent,
                _part=block._part,
                exact=self.exact,
            )
            for block in super().disjoint(blocks)
        )


def run(
    method: Any, setting: Setting, sample: Any, seed: int | np.random.Generator = 0
) -> tuple[Any, Recorder]:
    """Run a method; assert that every step is one release through the ledger, and that the result
    is finite.
    """
    ledger = Recorder(setting.budget)
    result = method.release(sample, method.plan(setting), ledger, np.random.default_rng(seed))
    assert result.ledger is ledger
    assert len(ledger.entries) == len(ledger.exact) == result.diagnostics["steps"]
    assert np.isfinite(result.value).all()
    assert np.linalg.norm(result.value) <= sample.constraint.radius * (1 + 1e-12)
    return result, ledger


@contextmanager
def visiting(points: Array) -> Iterator[None]:
    """Make every run query these points, whatever the oracle answers there."""

    def visit(constraint: Any, descent: Descent, oracle: Callable[[Array, int], Array]) -> Any:
        """Ask the oracle at the given points, whatever it answers."""
        for t in range(descent.steps):
            oracle(points[t % len(points)], t)
        return Descended(value=points[0], path=Path(points[0], descent.steps))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds_of_steps, "descend", visit)
        yield


@contextmanager
def without_the_walk() -> Iterator[None]:
    """Skip the search of iterative updating, which follows the release and only costs time here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_means, "walk_to_centre", lambda points, *_: points.mean(axis=0))
        yield


def replace_record(sample: Any, i: int, record: Array, target: float = 0.0) -> Any:
    """Return the sample with record `i` replaced: features and target, or a point."""
    if isinstance(sample, LinearSample):
        x, y = sample.features.x.copy(), sample.targets.copy()
        x[i], y[i] = record, target
        return replace(sample, features=DenseRows(x), targets=y)
    x = sample.points.x.copy()
    x[i] = record
    return replace(sample, points=DenseRows(x))


def total_rho(method: Any, budget: Budget) -> float:
    """Return the rho of the whole run by the formulas of docs/theory, independently of the
    library.
    """
    if isinstance(budget, ZCDP):
        return budget.rho
    assert isinstance(budget, ApproxDP)
    if method.calibration == "tight":
        return gaussian_rho(budget.epsilon, budget.delta)
    # Both methods convert the budget by equation (15) of Zhao et al.
    if isinstance(method, (ClippedDescent, IterativeDescent)):
        return (budget.epsilon / (1 + 2 * math.sqrt(-math.log(budget.delta)))) ** 2
    return zcdp_rho(budget.epsilon, budget.delta, "paper")


def step_noise(method: Any, setting: Setting) -> float:
    """Return the standard deviation of a step's noise by the formulas of docs/theory."""
    plan = method.plan(setting)
    steps, d, oracle = plan.descent.steps, setting.d, plan.statistic
    rho, n = total_rho(method, setting.budget) / steps, setting.n
    if isinstance(method, ClippedDescent):  # The variance of a step's noise is 2R^2 T/(rho n^2).
        return math.sqrt(2 * oracle.radius**2 / (rho * n**2))
    if isinstance(method, IterativeDescent):
        return math.sqrt(2 * oracle.radius**2 / (rho * (n // oracle.groups) ** 2))
    if isinstance(method, SmoothedDescent):
        factor = 1.0 if method.calibration == "paper" else 2 * smoothed_supremum(1.0) ** 2
        return math.sqrt(factor * oracle.tau**2 * d / (rho * n**2))
    if isinstance(method, StrongCoordinatewiseDescent):
        n = n // steps
        # A tight step spends all of rho on its own block.
        rho *= 1 if method.calibration == "paper" else steps
    tau, m = oracle.threshold, oracle.blocks
    if method.calibration == "paper":
        return math.sqrt(72 * tau**2 * m**2 * d / (rho * n**2))
    return math.sqrt(d / (2 * rho)) * (3 if m % 2 == 0 else 6) * tau / (n // m)
