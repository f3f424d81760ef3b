"""Private Frank–Wolfe: corners, sensitivity, steps, ledger and refusals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.lq import FrankWolfe
from dpsco_core.methods.lq.frank_wolfe import CornerSteps, best_corners, corner, corner_scores
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger, PureDP
from dpsco_core.scenario import Scenario

FEW_STEPS = CornerSteps(steps=4, limit=0.7)
SETS = ("l1", "simplex", "solid-simplex")


def point(problem: str = "logistic", **fields: Any) -> Scenario:
    """Return a small scenario for Frank-Wolfe on the l1 ball."""
    base: dict[str, Any] = {"n": 83, "d": 3, "geometry": "l1", "methods": ("lp.frank-wolfe",)}
    return Scenario(problem=problem, **(base | fields)).validate()


@dataclass
class Chosen:
    """A ledger that answers with fixed corners, so the points do not depend on the data."""

    places: list[int]
    scores: list[np.ndarray] = field(default_factory=list)
    flaws: tuple[str, ...] = ()

    def disjoint(self, blocks: int) -> tuple[Chosen, ...]:
        """Return this ledger for each block."""
        return (self,) * blocks

    def release(self, mechanism: Any, value: Any, rng: Any, *, label: str) -> int:
        """Record the scores, and return the given vertex for them."""
        self.scores.append(np.array(value))
        return self.places[len(self.scores) - 1]


def run(data: Any, plan: Any, places: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Run Frank-Wolfe with given choices of vertices; return its answer and the scores of each
    choice.
    """
    ledger: Any = Chosen(places)
    out = FrankWolfe().release(data, plan, ledger, np.random.default_rng(0))
    return out.value, np.array(ledger.scores)


@pytest.mark.parametrize("geometry", SETS)
def test_a_score_is_that_of_its_corner_and_the_best_corner_supports_the_set(geometry: str) -> None:
    body = point(geometry=geometry, diameter=3.0).setting.body
    mean = np.array([0.3, -1.2, 0.8])
    scores = corner_scores(body, mean)
    corners = [corner(body, k) for k in range(len(scores))]
    assert len({tuple(c) for c in corners}) == {"l1": 6, "simplex": 3, "solid-simplex": 4}[geometry]
    assert all(body.contains(c) for c in corners)
    assert scores == pytest.approx([-float(c @ mean) for c in corners])
    assert scores.max() == pytest.approx(body.support(-mean))


def test_the_corners_are_those_of_the_set_for_which_the_sensitivity_is_proven() -> None:
    """A sample on a set ten times as large would have scores ten times as far apart."""
    scenario = point("linear")
    plan = FrankWolfe(corners=FEW_STEPS).plan(scenario.setting)
    sample = scenario.instance.problem.sample(scenario.n, np.random.default_rng(0))
    larger = replace(sample, constraint=replace(sample.constraint, radius=10.0))
    answers = [run(data, plan, [0, 4, 2, 1])[1] for data in (sample, larger)]
    np.testing.assert_array_equal(*answers)


def test_the_sensitivity_is_that_of_a_score_over_the_records_of_a_batch() -> None:
    scenario = point("linear")
    plan = FrankWolfe(corners=FEW_STEPS).plan(scenario.setting)
    allowed = plan.statistic.sensitivity(plan.step_rows, scenario.d)
    assert allowed == pytest.approx(2 * FEW_STEPS.limit * scenario.setting.body.radius_in(1) / 20)


def test_the_answer_is_the_mean_of_the_corners_with_the_theorems_weights() -> None:
    """The corner of step t, counted from 0, has weight 2(t+1)/(T(T+1)), written out without
    recursion.
    """
    scenario = point("quadratic")
    plan = FrankWolfe(corners=FEW_STEPS).plan(scenario.setting)
    data = scenario.instance.problem.sample(scenario.n, np.random.default_rng(0))
    places = [0, 4, 2, 1]
    value, _ = run(data, plan, places)
    steps = len(places)
    weights = [2 * (t + 1) / (steps * (steps + 1)) for t in range(steps)]
    body = scenario.setting.body
    assert math.fsum(weights) == pytest.approx(1)
    assert value == pytest.approx(
        sum(w * corner(body, k) for w, k in zip(weights, places, strict=True))
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"epsilon": 0.7, "delta": 0.0},
        {"epsilon": 0.7, "delta": 1e-6},
        {"epsilon": None, "delta": None, "rho": 0.2},
    ],
    ids=str,
)
def test_every_choice_spends_all_of_the_budget(fields: dict[str, Any]) -> None:
    scenario = point(**fields)
    plan = FrankWolfe(corners=FEW_STEPS).plan(scenario.setting)
    ledger = Ledger(scenario.budget)
    data = scenario.instance.problem.sample(scenario.n, np.random.default_rng(0))
    FrankWolfe().release(data, plan, ledger, np.random.default_rng(0))
    assert len(ledger.entries) == FEW_STEPS.steps
    match scenario.budget:
        case ZCDP():
            assert plan.statistic.epsilon == pytest.approx(math.sqrt(8 * 0.2))
            assert ledger.spent() == scenario.budget
        case ApproxDP() | PureDP():
            assert plan.statistic.epsilon == 0.7
            assert ledger.spent() == PureDP(epsilon=0.7)


def test_without_privacy_it_takes_the_best_corner_of_every_step() -> None:
    """The loss is quadratic on a simplex, at a budget so large that no other corner is
    ever drawn.
    """
    scenario = point("quadratic", geometry="simplex", epsilon=1e6, delta=0.0, n=4000, p=4.0)
    data = scenario.instance.problem.sample(scenario.n, np.random.default_rng(1))
    plan = FrankWolfe(corners=CornerSteps(steps=40, limit=1e3)).plan(scenario.setting)
    out = FrankWolfe().release(data, plan, Ledger(scenario.budget), np.random.default_rng(0))
    body, w = scenario.setting.body, scenario.setting.body.centre
    for t in range(40):
        gradient = w - data.points.x[100 * t : 100 * t + 100].mean(axis=0)
        w = w + 2 / (t + 2) * (body.support_point(-gradient) - w)
    assert out.value == pytest.approx(w)
    assert scenario.instance.problem.excess_risk(out.value).value < 0.01


def plain_bound(n: int, p: float, smooth: float, steps: int, limit: float) -> float:
    """Return the bound of Frank-Wolfe at M = r = 1, d = 20 and the default rho on the l1 ball, in
    plain Python.
    """
    d, epsilon, b = 20, math.sqrt(8 * 0.028014481912627613), n // steps
    log, v = math.log(2 * d), min(1.0, limit) ** 2 / b
    sampling = min(
        math.sqrt(d * v),
        limit * math.sqrt(2 * log / b),
        math.sqrt(2 * v * log) + 2 * limit * log / (3 * b),
    )
    bias = min((p - 1) ** (p - 1) / p**p * limit ** (1 - p), 1.0)
    choice = 4 * limit / (b * epsilon) * log
    return 8 * smooth / (steps + 2) + choice + 2 * (sampling + bias)


@pytest.mark.parametrize(
    ("n", "p", "smooth", "value"),
    [
        (10**4, 2.0, 0.25, 0.591),
        (10**5, 4.0, 0.25, 0.195),
        (10**6, 2.0, 0.25, 0.136),
        (10**4, 2.0, 1.0, 0.987),
        (10**5, 4.0, 1.0, 0.329),
        (10**6, 2.0, 1.0, 0.218),
    ],
)
def test_the_theory_tuning_has_the_steps_and_the_level_of_the_note(
    n: int, p: float, smooth: float, value: float
) -> None:
    setting = point(n=n, d=20, p=p, diameter=2.0).setting
    constants = replace(
        setting.constants, directional_moment=1.0, smoothness=smooth, mean_gradient_bound=1.0
    )
    setting = replace(setting, constants=constants)
    epsilon = math.sqrt(8 * 0.028014481912627613)
    best = best_corners(setting, epsilon, proven=True)
    at_best = plain_bound(n, p, smooth, best.steps, best.limit)
    assert at_best == pytest.approx(value, abs=6e-4)
    for steps in (0.7, 1.4):
        for limit in (0.7, 1.4):
            candidate = (max(1, round(best.steps * steps)), best.limit * limit)
            assert plain_bound(n, p, smooth, *candidate) > at_best * (1 - 1e-3)


@pytest.mark.parametrize("geometry", SETS)
def test_the_measured_risk_is_below_the_bound_of_the_note(geometry: str) -> None:
    """The losses are Huber's and the quadratic one; the bound is so much larger that 12 runs
    suffice.
    """
    for problem in ("huber", "quadratic"):
        scenario = point(problem, geometry=geometry, n=3000, d=5, p=3.0, epsilon=2.0, delta=0.0)
        method, rng = FrankWolfe(tuning="theory"), np.random.default_rng(2)
        plan = method.plan(scenario.setting)
        c, body, steps = scenario.setting.constants, scenario.setting.body, plan.descent.steps
        b, level, radius = plan.step_rows, plan.statistic.limit, body.radius_in(1)
        moment = c.directional_moment
        names = len(corner_scores(body, np.zeros(5)))
        tail = (2 / 3) ** 2 / 3 * moment**3 / level**2
        bound = 8 * c.smoothness * radius**2 / (steps + 2)
        bound += 4 * level * radius / (b * 2.0) * math.log(names)
        bound += 2 * radius * (math.sqrt(5 * min(moment, level) ** 2 / b) + min(tail, moment))
        risks = []
        for _ in range(12):
            data = scenario.instance.problem.sample(scenario.n, rng)
            out = method.release(data, plan, Ledger(scenario.budget), rng)
            risks.append(scenario.instance.problem.excess_risk(out.value).value)
            assert body.contains(out.value)
        assert np.mean(risks) + 6 * np.std(risks) / math.sqrt(12) < bound


@pytest.mark.parametrize("geometry", ["l2", "linf", "sparse"])
def test_a_set_with_many_corners_is_refused_and_one_with_few_suggested(geometry: str) -> None:
    with pytest.raises(NotApplicable, match="corners") as refusal:
        FrankWolfe().plan(point(geometry=geometry).setting)
    assert "geometry=l1" in str(refusal.value)


def test_more_steps_than_records_are_refused() -> None:
    with pytest.raises(NotApplicable, match="at least as many records"):
        FrankWolfe(corners=replace(FEW_STEPS, steps=84)).plan(point().setting)
