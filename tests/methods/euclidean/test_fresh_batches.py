"""Clipped gradients on fresh batches: what a record can move, limits and refusals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.euclidean import FreshBatches
from dpsco_core.methods.euclidean.batches import (
    BatchedSteps,
    best_batches,
    clipped_gradient,
    risk_terms,
)
from dpsco_core.methods.euclidean.fresh_batches import planned
from dpsco_core.privacy import ZCDP, Ledger
from dpsco_core.scenario import Scenario
from tests.folded import each

BROKEN = (math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324)
FEW = BatchedSteps(steps=3, radius=0.8, step_size=0.3)


def point(problem: str = "absolute", **fields: Any) -> Scenario:
    base: dict[str, Any] = {"n": 61, "d": 4, "p": 2.5, "methods": (FreshBatches.card.slug,)}
    if "epsilon" not in fields:
        base |= {"epsilon": None, "delta": None, "rho": 0.5}
    return Scenario(problem=problem, **(base | fields)).validate()


def records(at: Scenario, seed: int = 0) -> Any:
    return at.instance.problem.sample(at.n, np.random.default_rng(seed))


@dataclass
class Answers:
    """A ledger that answers with fixed values, so that the points do not depend on the data."""

    given: list[np.ndarray]
    asked: list[np.ndarray] = field(default_factory=list)
    flaws: tuple[str, ...] = ()

    def disjoint(self, blocks: int) -> tuple[Answers, ...]:
        return (self,) * blocks

    def release(self, mechanism: Any, value: Any, rng: Any, *, label: str) -> np.ndarray:
        self.asked.append(np.array(value))
        return self.given[len(self.asked) - 1]


def mechanism_of(plan: DescentPlan) -> Any:
    """Return what hides a record in a step."""
    return plan.statistic.noise(plan.step_rows, plan.setting.d, plan.rho_step)


def means(data: Any, plan: Any, answers: list[np.ndarray]) -> np.ndarray:
    ledger: Any = Answers(answers)
    FreshBatches().release(data, plan, ledger, np.random.default_rng(0))
    return np.array(ledger.asked)


@each("problem", ("absolute", "hinge", "logistic", "linear", "quadratic", "geometric-median"))
def test_a_record_moves_the_mean_of_its_own_batch_alone_and_by_no_more_than_is_hidden(
    problem: str,
) -> None:
    at = point(problem)
    plan = planned(at.setting, FEW, 0.5)
    base, rng = records(at), np.random.default_rng(1)
    answers = [rng.normal(size=at.d) for _ in range(FEW.steps)]
    allowed, farthest = mechanism_of(plan).l2_sensitivity, 0.0
    assert allowed == 2 * FEW.radius / (at.n // FEW.steps)
    kind = "features" if hasattr(base, "features") else "points"
    for place in (0, 19, 20, 59, 60):
        for value in (1e6, -1e6, *BROKEN):
            x = getattr(base, kind).x.copy()
            pair = []
            for sign in (1.0, -1.0):
                x[place] = sign * value * np.ones(at.d)
                pair.append(replace(base, **{kind: DenseRows(x.copy())}))
            one, two = (means(data, plan, answers) for data in pair)
            moved = np.linalg.norm(one - two, axis=1)
            own = place // 20
            assert all(m == 0 for t, m in enumerate(moved) if t != own)
            if own < FEW.steps:  # the remainder is never seen
                assert moved[own] <= allowed * (1 + 1e-12)
                farthest = max(farthest, moved[own])
    assert farthest > 0.6 * allowed  # the largest move is nearly reached


def test_without_noise_and_clipping_it_is_the_subgradient_method() -> None:
    at = point("quadratic", d=3)
    data = records(at)
    plan = planned(at.setting, replace(FEW, radius=1e3), 1e12)
    out = FreshBatches().release(data, plan, Ledger(ZCDP(rho=1e12)), np.random.default_rng(0))
    body, w, total = at.setting.body, np.zeros(3), np.zeros(3)
    for t in range(FEW.steps):
        total += w
        w = body.project(w - FEW.step_size * (w - data.points.x[20 * t : 20 * t + 20].mean(axis=0)))
    assert out.value == pytest.approx(total / FEW.steps, abs=1e-3)


@each("pure", (False, True))
def test_the_noise_is_as_long_as_the_plan_says(pure: bool) -> None:
    """4000 draws: the mean squared length is known to 3 %, and a factor 2 in its scale is found."""
    fields = {"epsilon": 0.7, "delta": 0.0} if pure else {}
    plan = FreshBatches(batches=FEW).plan(point(**fields).setting)
    rng = np.random.default_rng(3)
    noise = mechanism_of(plan)
    lengths = [float(np.sum(noise.draw(np.zeros(4), rng) ** 2)) for _ in range(4000)]
    assert np.mean(lengths) == pytest.approx(FEW.noise_energy(plan.setting, plan.rho), rel=0.1)


@each("moments", ("directional", "coordinate"))
def test_no_other_steps_and_no_other_radius_have_a_smaller_bound(moments: Any) -> None:
    at = point(n=5000).setting
    best = best_batches(at, 0.5, moments)

    def value(batches: BatchedSteps) -> float:
        known = clipped_gradient(at, np.array([batches.radius]), moments)
        return sum(risk_terms(at, batches, batches.noise_energy(at, 0.5), known))

    least = value(best)
    for steps in (0.5, 0.8, 1.25, 2.0):
        for radius in (0.7, 0.95, 1.0, 1.05, 1.5):
            for size in (0.7, 1.0, 1.4):
                other = BatchedSteps(
                    steps=max(1, round(best.steps * steps)),
                    radius=best.radius * radius,
                    step_size=best.step_size * size,
                )
                assert value(other) >= least * (1 - 1e-4)


def test_it_says_where_it_cannot_run() -> None:
    unbounded = point().setting
    unbounded = replace(
        unbounded, constraint=None, constants=replace(unbounded.constants, diameter=math.inf)
    )
    with pytest.raises(NotApplicable, match="unbounded"):
        FreshBatches().plan(unbounded)
    with pytest.raises(NotApplicable, match="at least as many records"):
        FreshBatches(batches=replace(FEW, steps=62)).plan(point().setting)
    with pytest.raises(InvalidInput, match="radius must be"):
        FreshBatches(batches=replace(FEW, radius=0.0)).plan(point().setting)


def test_the_practical_radius_is_smaller_than_that_of_the_worst_law() -> None:
    at = point(n=10_000, d=20, rho=0.028).setting
    practical, theory = (FreshBatches(tuning=t).plan(at) for t in ("practical", "theory"))
    assert practical.statistic.radius < theory.statistic.radius / 3
