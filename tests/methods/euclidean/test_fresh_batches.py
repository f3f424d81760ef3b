"""Clipped gradients on fresh batches: sensitivities, limits and refusals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.euclidean import FreshBatches
from dpsco_core.methods.euclidean.batches import (
    BatchedSteps,
    best_batches,
    clipped_gradient,
    risk_terms,
)
from dpsco_core.methods.euclidean.fresh_batches import plan_batches
from dpsco_core.privacy import ZCDP, Ledger
from dpsco_core.scenario import Scenario

FEW_BATCHES = BatchedSteps(steps=3, radius=0.8, step_size=0.3)


def point(problem: str = "absolute", **fields: Any) -> Scenario:
    """Return a small scenario for the method of fresh batches."""
    base: dict[str, Any] = {"n": 61, "d": 4, "p": 2.5, "methods": (FreshBatches.card.slug,)}
    if "epsilon" not in fields:
        base |= {"epsilon": None, "delta": None, "rho": 0.5}
    return Scenario(problem=problem, **(base | fields)).validate()


def records(scenario: Scenario, seed: int = 0) -> Any:
    """Draw the records of a scenario."""
    return scenario.instance.problem.sample(scenario.n, np.random.default_rng(seed))


@dataclass
class Answers:
    """A ledger that answers with fixed values, so the points do not depend on the data."""

    gradients: list[np.ndarray]
    values: list[np.ndarray] = field(default_factory=list)
    flaws: tuple[str, ...] = ()

    def disjoint(self, blocks: int) -> tuple[Answers, ...]:
        """Return this ledger for each block."""
        return (self,) * blocks

    def release(self, mechanism: Any, value: Any, rng: Any, *, label: str) -> np.ndarray:
        """Record a value, and return the given gradient of its step."""
        self.values.append(np.array(value))
        return self.gradients[len(self.values) - 1]


def mechanism_of(plan: DescentPlan) -> Any:
    """Return the mechanism that protects a record in a step."""
    return plan.statistic.noise(plan.step_rows, plan.setting.d, plan.rho_step)


def test_the_sensitivity_is_two_radii_over_the_records_of_a_batch() -> None:
    plan = plan_batches(point("linear").setting, FEW_BATCHES, 0.5)
    batch = point("linear").n // FEW_BATCHES.steps
    assert mechanism_of(plan).l2_sensitivity == 2 * FEW_BATCHES.radius / batch


def test_without_noise_and_clipping_the_method_is_the_subgradient_method() -> None:
    scenario = point("quadratic", d=3)
    data = records(scenario)
    plan = plan_batches(scenario.setting, replace(FEW_BATCHES, radius=1e3), 1e12)
    out = FreshBatches().release(data, plan, Ledger(ZCDP(rho=1e12)), np.random.default_rng(0))
    body, w, total = scenario.setting.body, np.zeros(3), np.zeros(3)
    for t in range(FEW_BATCHES.steps):
        total += w
        w = body.project(
            w - FEW_BATCHES.step_size * (w - data.points.x[20 * t : 20 * t + 20].mean(axis=0))
        )
    assert out.value == pytest.approx(total / FEW_BATCHES.steps, abs=1e-3)


@pytest.mark.parametrize("pure", [False, True])
def test_the_noise_has_the_length_in_the_plan(pure: bool) -> None:
    """The mean squared length of 4000 draws is accurate to 3 %, so a factor of 2 in the noise scale
    would fail.
    """
    fields = {"epsilon": 0.7, "delta": 0.0} if pure else {}
    plan = FreshBatches(batches=FEW_BATCHES).plan(point(**fields).setting)
    rng = np.random.default_rng(3)
    noise = mechanism_of(plan)
    lengths = [float(np.sum(noise.draw(np.zeros(4), rng) ** 2)) for _ in range(4000)]
    assert np.mean(lengths) == pytest.approx(
        FEW_BATCHES.noise_energy(plan.setting, plan.rho), rel=0.1
    )


@pytest.mark.parametrize("moments", ["directional", "coordinate"])
def test_no_other_number_of_steps_and_no_other_radius_has_a_smaller_bound(moments: Any) -> None:
    setting = point(n=5000).setting
    best = best_batches(setting, 0.5, moments)

    def value(batches: BatchedSteps) -> float:
        """Return the risk bound of some batches."""
        clipped = clipped_gradient(setting, np.array([batches.radius]), moments)
        return sum(risk_terms(setting, batches, batches.noise_energy(setting, 0.5), clipped))

    smallest_bound = value(best)
    for steps in (0.5, 0.8, 1.25, 2.0):
        for radius in (0.7, 0.95, 1.0, 1.05, 1.5):
            for size in (0.7, 1.0, 1.4):
                candidate = BatchedSteps(
                    steps=max(1, round(best.steps * steps)),
                    radius=best.radius * radius,
                    step_size=best.step_size * size,
                )
                assert value(candidate) >= smallest_bound * (1 - 1e-4)


def test_a_refusal_states_where_the_method_cannot_run() -> None:
    unbounded = point().setting
    unbounded = replace(
        unbounded, constraint=None, constants=replace(unbounded.constants, diameter=math.inf)
    )
    with pytest.raises(NotApplicable, match="unbounded"):
        FreshBatches().plan(unbounded)
    with pytest.raises(NotApplicable, match="at least as many records"):
        FreshBatches(batches=replace(FEW_BATCHES, steps=62)).plan(point().setting)
    with pytest.raises(InvalidInput, match="radius must be"):
        FreshBatches(batches=replace(FEW_BATCHES, radius=0.0)).plan(point().setting)


def test_the_practical_radius_is_smaller_than_that_of_the_worst_law() -> None:
    setting = point(n=10_000, d=20, rho=0.028).setting
    practical, theory = (FreshBatches(tuning=t).plan(setting) for t in ("practical", "theory"))
    assert practical.statistic.radius < theory.statistic.radius / 3
