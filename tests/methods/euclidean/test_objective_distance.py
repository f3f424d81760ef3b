r"""How far what the solver returns is from the exact minimiser: certified in extended precision.

Objective perturbation hides the distance D of the solver's point from the exact minimiser of its
objective by noise for :math:`D \le` half of ``output_sensitivity``, on every data set. Here D is
bounded in extended precision, by a projected gradient step whose residual bounds the distance by
strong convexity, on data sets that are separable, constant, of all scales or broken. What rounding
does to the certificates is part of what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.geometry import Box, ConstraintSet, L1Ball, Simplex, SolidSimplex
from dpsco_core.methods.euclidean.perturbation import objective as objective_perturbation
from dpsco_core.methods.euclidean.perturbation.objective import ObjectivePerturbation
from dpsco_core.methods.euclidean.perturbation.objective_plan import ObjectivePlan
from dpsco_core.privacy import ApproxDP, Ledger
from dpsco_core.problems.samples.linear import LinearSample
from tests.folded import each
from tests.geometry.sets import NAMES, D, all_sets
from tests.methods.euclidean.losses import Array
from tests.methods.euclidean.test_objective_sets import sample_on, where_on

Long = NDArray[np.longdouble]
SETS = all_sets()
pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 2e-19, reason="no extended precision on this machine"
)


def to_sum(v: Long, total: float) -> Long:
    """Return the projection of a vector on the simplex of nonnegative entries with sum `total`."""
    ordered = np.sort(v)[::-1]
    excess = np.cumsum(ordered) - np.longdouble(total)
    place = np.flatnonzero(ordered * np.arange(1, len(v) + 1) > excess)[-1]
    return np.maximum(v - excess[place] / np.longdouble(place + 1), 0)


def project(body: ConstraintSet, v: Long) -> Long:
    """Return the projection of a vector on a set, in extended precision."""
    match body:
        case Box():
            half = body.half_widths.astype(np.longdouble)
            return np.clip(v, -half, half)
        case Simplex():
            return to_sum(v, body.radius)
        case SolidSimplex():
            positive = np.maximum(v, 0)
            return positive if positive.sum() <= body.radius else to_sum(positive, body.radius)
        case L1Ball():
            is_inside = np.abs(v).sum() <= body.radius
            return v if is_inside else np.sign(v) * to_sum(np.abs(v), body.radius)
    raise NotImplementedError(type(body).__name__)


@dataclass
class Solved:
    """The arguments and the result of the solver, in one run."""

    tilt: Array
    value: Array


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Solved]:
    """Return a function that runs objective perturbation and keeps what it solves."""
    linear_terms: list[Array] = []
    values: list[Array] = []
    draw_linear_term = objective_perturbation.draw_linear_term
    solve = objective_perturbation.minimise_strongly_convex

    def keep_tilt(*args: Any) -> Array:
        """Draw a linear term, and keep it for the test."""
        linear_terms.append(draw_linear_term(*args))
        return linear_terms[-1]

    def keep_value(*args: Any, **rest: Any) -> Any:
        """Solve a problem, and keep its minimiser for the test."""
        result = solve(*args, **rest)
        values.append(result.value)
        return result

    monkeypatch.setattr(objective_perturbation, "draw_linear_term", keep_tilt)
    monkeypatch.setattr(objective_perturbation, "minimise_strongly_convex", keep_value)

    def release(method: ObjectivePerturbation, setting: Any, sample: Any, seed: int) -> Solved:
        """Run a method; return its linear term and its minimiser."""
        method.release(
            sample, method.plan(setting), Ledger(setting.budget), np.random.default_rng(seed)
        )
        return Solved(tilt=linear_terms[-1], value=values[-1])

    return release


def length(x: Long) -> float:
    """Return the Euclidean norm of a vector."""
    return float(np.sqrt((x * x).sum()))


def distance(
    body: ConstraintSet, losses: LinearSample, plan: ObjectivePlan, solved: Solved
) -> float:
    """Return an upper bound on the distance of the solver's point from the exact minimiser of the
    perturbed objective.
    """
    assert losses.shrink is not None
    x = losses.features.x.astype(np.longdouble) * losses.shrink[:, None].astype(np.longdouble)
    y, tilt = losses.targets.astype(np.longdouble), solved.tilt.astype(np.longdouble)
    modulus = 2 * np.longdouble(plan.ridge)
    smoothness = np.longdouble(plan.losses.smoothness) + modulus

    def gradient(w: Long) -> Long:
        """Return the gradient of the perturbed objective, in extended precision."""
        slopes = 1 / (1 + np.exp(-(x @ w))) - y
        return slopes @ x / np.longdouble(len(y)) + tilt + modulus * w

    start = solved.value.astype(np.longdouble)
    w, best = start, math.inf
    for _ in range(6):
        v = w - gradient(w) / smoothness
        w = project(body, v)
        rest = gradient(w) + smoothness * (v - w)
        best = min(best, length(rest) / float(modulus) + length(w - start))
    return best


def data_sets(n: int, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """Return hard data sets (x, y): of all scales, on one axis, and with records that are not
    numbers.
    """
    x = rng.standard_normal((n, D))
    fair = rng.integers(0, 2, n).astype(float)
    broken = x.copy()
    broken[0], broken[-1] = 1e300, np.nan
    one_axis = np.zeros((n, D))
    one_axis[:, 0] = 1e8
    scales = 10.0 ** rng.uniform(-8, 8, (n, 1))
    return [
        (x, fair),
        (x * scales, fair),
        (x * 10.0 ** rng.uniform(-8, 3, D), fair),
        (np.tile(x[:1], (n, 1)), np.ones(n)),
        (np.abs(x), np.zeros(n)),
        (1e6 * x, (x @ rng.standard_normal(D) > 0).astype(float)),
        (broken, fair),
        (one_axis, np.full(n, 0.5)),
    ]


EXACT = ("l1", "cube", "box", "simplex", "solid simplex")
METHODS = (
    ObjectivePerturbation(),
    ObjectivePerturbation(tuning="theory"),
    ObjectivePerturbation(calibration="paper"),
)


def farthest(name: str, run: Callable[..., Solved]) -> float:
    """Return the largest distance of the solver's point from the minimiser, in units of the
    distance that the output noise hides.
    """
    body, rng, worst = SETS[name], np.random.default_rng(5), 0.0
    for n, epsilon in ((1, 0.3), (5, 0.02), (40, 0.9), (40, 8.0), (300, 60.0)):
        setting = where_on(body, "logistic", n, ApproxDP(epsilon=epsilon, delta=1e-6))
        for method in METHODS if epsilon < 1 else METHODS[:2]:
            plan = method.plan(setting)
            for seed, (x, y) in enumerate(data_sets(n, rng)):
                sample = sample_on(body, "logistic", x, y)
                losses = plan.losses.of(sample)
                assert isinstance(losses, LinearSample)
                gap = distance(body, losses, plan, run(method, setting, sample, seed))
                worst = max(worst, gap / (plan.output_sensitivity / 2))
    return worst


@pytest.mark.parametrize("name", EXACT)
def test_the_solver_is_as_near_to_the_minimiser_as_its_noise_assumes(
    name: str, run: Callable[..., Solved]
) -> None:
    assert 0 < farthest(name, run) <= 1


@pytest.mark.parametrize("name", EXACT)
def test_a_solver_that_is_too_far_from_the_minimiser_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    honest = objective_perturbation.minimise_strongly_convex
    monkeypatch.setattr(
        objective_perturbation,
        "minimise_strongly_convex",
        lambda *args, accuracy, **rest: honest(*args, accuracy=1e8 * accuracy, **rest),
    )
    assert farthest(name, request.getfixturevalue("run")) > 1


@each("d", [12, 300])
@each("name", NAMES)
def test_projections_of_far_points_are_in_the_set_to_the_rounding_of_a_certificate(
    name: str, d: int
) -> None:
    """A certificate by the gap needs points of the set; see `objective_plan.open_distance`."""
    body, rng = all_sets(d)[name], np.random.default_rng(d)
    tolerance = 1e-14 + 4 * d * 2.0**-53
    for i in range(60):
        v = rng.standard_normal(d) if i % 2 else np.round(2 * rng.standard_normal(d))
        v = v if i % 5 else np.sign(v) * np.exp(rng.uniform(-30, 30, d))
        assert body.contains(body.project(v * 10.0 ** rng.uniform(-2, 13)), tolerance)
