"""Bounds on runs of descent, against sums written out and against exact recursions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.bounds.euclidean.descent import RiskOnSet, Walk, distances, risk
from dpsco_core.methods.euclidean.sgd import Sgd
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting

FREE = {"strong_convexity": 0.0, "sample_strong_convexity": 0.0, "structure": "other"}


def plain_risk_bound(setting) -> float:
    """Return the risk bound of SGD with one record per step, by theory/bounds-of-runs.md, 3."""
    c, plan = setting.constants, Sgd(batch=1).plan(setting).descent
    t = np.arange(setting.n)
    eta = np.array([plan.size(k) for k in t])
    variance = min(c.variance_trace, c.lipschitz**2)
    start = c.diameter / 2  # The run starts at the centre of a ball.
    if plan.rule == "lipschitz":
        energy = min(c.lipschitz**2, c.mean_gradient_bound**2 + variance)
        return start**2 / (2 * eta[0] * setting.n) + eta[0] / 2 * energy
    factor = np.minimum(1, 1 / (2 * np.maximum(1 - eta * c.smoothness, 1e-300)))
    if plan.rule == "smooth":
        return start**2 / (2 * eta[0] * setting.n) + factor[0] * eta[0] * variance
    weights, squares = t + 1.0, [start**2]
    for size in eta:
        left = 1 - size * c.strong_convexity
        squares.append(min(left**2 * squares[-1] + size**2 * variance, c.diameter**2))
    r = np.array(squares)
    by_distance = np.minimum(c.mean_gradient_bound * np.sqrt(r[1:]), c.smoothness / 2 * r[1:])
    descent_weights = (1 - eta * c.strong_convexity) / (2 * eta) * weights
    descent_weights[1:] -= weights[:-1] / (2 * eta[:-1])
    by_descent = np.maximum(descent_weights, 0) * r[:-1] + weights * factor * eta * variance
    mean_root = float(weights @ np.sqrt(r[1:]) / weights.sum())
    last_risk = min(c.mean_gradient_bound * mean_root, c.smoothness / 2 * mean_root**2)
    average_risk = float(weights @ by_distance / weights.sum())
    return min(average_risk, last_risk, float(by_descent.sum() / weights.sum()))


@pytest.mark.parametrize(
    ("slug", "constants"),
    [
        ("upper.sco.sgd-run-strong", {}),
        ("upper.sco.sgd-run-strong", {"smoothness": 7.0}),
        ("upper.sco.sgd-run-smooth", FREE),
        ("upper.sco.sgd-run-smooth", FREE | {"smoothness": 0.01, "lipschitz": math.inf}),
        ("upper.sco.sgd-run", FREE | {"smoothness": math.inf}),
        ("upper.sco.sgd-run", FREE | {"smoothness": math.inf, "lipschitz": 0.5}),
    ],
)
@pytest.mark.parametrize("n", [3, 500])
def test_the_bounds_on_sgd_equal_their_sums_written_out(slug, constants, n):
    setting = make_setting(n, 5, **constants)
    assert not BY_SLUG[slug].failures(setting)
    assert BY_SLUG[slug].value(setting) == pytest.approx(plain_risk_bound(setting), rel=1e-9)
    other_slugs = {s for s in BY_SLUG if s.startswith("upper.sco.sgd-run")} - {slug}
    assert all(
        math.isinf(BY_SLUG[s].value(setting)) and BY_SLUG[s].failures(setting) for s in other_slugs
    )


def exact_quadratic_risk(curvatures, bias, variance, steps, weights, queried, start):
    """Return the exact mean excess risk of biased, noisy descent on an unconstrained quadratic."""
    h = np.asarray(curvatures)
    mean = np.asarray(start, dtype=float)
    count = len(steps)
    # The noise of step s enters the point after step t with the factor (1 - eta h)^(t-s) eta; all
    # such terms are kept.
    points = [mean]
    kernels = [np.zeros((count, len(h)))]
    for t, eta in enumerate(steps):
        mean = (1 - eta * h) * mean - eta * bias
        kernel = kernels[-1] * (1 - eta * h)
        kernel[t] = -eta
        points.append(mean)
        kernels.append(kernel)
    chosen = slice(0, count) if queried else slice(1, count + 1)
    w = np.asarray(weights) / np.sum(weights)
    average = np.tensordot(w, np.array(points[chosen]), 1)
    kernel = np.tensordot(w, np.array(kernels[chosen]), 1)
    spread = (kernel**2).sum(axis=0) * variance / len(h)
    return float((h / 2 * (average**2 + spread)).sum())


@pytest.mark.parametrize("seed", range(60))
def test_the_three_arguments_are_above_the_exact_risk_of_quadratics(seed):
    """The test tries 60 random runs with steps of all sizes, biases in the worst direction and
    averages of last points.
    """
    rng = np.random.default_rng([3, seed])
    count, d = int(rng.integers(1, 40)), 3
    h = np.sort(rng.uniform(0, 2, d))
    h[0] *= rng.random() < 0.5
    sizes = rng.uniform(0.02, 1.2) / h[-1] * np.ones(count)
    averaged = count if (queried := bool(rng.random() < 0.4)) else int(rng.integers(1, count + 1))
    weights = np.zeros(count)
    weights[count - averaged :] = 1
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    bias, variance = float(rng.uniform(0, 0.3)), float(rng.uniform(0, 2))
    start = rng.normal(size=d) * rng.uniform(0, 3)
    exact = exact_quadratic_risk(h, bias * direction, variance, sizes, weights, queried, start)
    span = 1e3  # The set is so large that no projection takes effect.
    problem = RiskOnSet(
        start=float(np.linalg.norm(start)),
        span=span,
        slope=float(h[-1] * span),
        smoothness=float(h[-1]),
        strong_convexity=float(h[0]),
        interior=True,
    )
    steps = Walk(sizes=tuple(sizes), weights=tuple(weights), queried=queried)
    bound = risk(problem, steps, bias, lambda t, square: variance)
    assert exact <= bound
    squares = distances(problem, steps, bias, lambda t, square: variance)
    assert all(s <= span**2 for s in squares)


def test_one_step_to_the_minimum_leaves_the_bias_and_the_noise():
    """One step of size 1 on half the squared distance ends at risk (b +
    xi)^2/2, computed by hand.
    """
    problem = RiskOnSet(
        start=2.0, span=4.0, slope=2.0, smoothness=1.0, strong_convexity=1.0, interior=True
    )
    steps = Walk(sizes=(1.0,), weights=(1.0,))
    assert risk(problem, steps, 0.3, lambda t, square: 0.5) == pytest.approx((0.3**2 + 0.5) / 2)
