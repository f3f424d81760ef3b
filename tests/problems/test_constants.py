"""Every certified constant holds on large samples, and a smaller one would not.

Moments are measured with laws whose moments of twice the order exist, so that six standard errors
bound the statistical error. (The log-normal law's exist, but are so large that its samples fall
short of its moments: there the check is weaker, not falser.)
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.data import Gaussian, StudentT
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems import (
    OPTIMISATION_PROBLEMS,
    Absolute,
    Constants,
    GeometricMedian,
    Hinge,
    LeastSquares,
    Logistic,
    Quadratic,
)
from tests.folded import crossed, one_in
from tests.problems.cases import (
    HARD,
    IDS,
    MODELS,
    ORDINARY,
    PAIRS,
    POINTS,
    SIGMAS,
    Vector,
    dense,
    in_ball,
    make,
)

N = 20_000
DRAWS = 60_000
BUDGET = ApproxDP(epsilon=1.0, delta=1e-6)


def points(problem: Any, rng: np.random.Generator) -> list[Vector]:
    """Return points of the ball, the one farthest from the minimiser among them."""
    best = problem.minimiser
    norm = float(np.linalg.norm(best))
    if norm == 0 and problem.__class__ in POINTS:
        best = problem.distribution.mean
        norm = float(np.linalg.norm(best))
    boundary_point = best / norm if norm > 0 else np.full(len(best), 1 / math.sqrt(len(best)))
    return [
        -problem.radius * boundary_point,
        0.0 * best,
        in_ball(problem, rng),
        in_ball(problem, rng),
    ]


def mean_and_error(terms: Vector) -> tuple[Vector, Vector]:
    """Return the mean over records and its standard error, for each column."""
    return terms.mean(axis=0), terms.std(axis=0) / math.sqrt(len(terms))


def violations(problem: Any, constants: Constants, n: int = N) -> set[str]:
    """Return the constants that a large sample contradicts beyond its error."""
    rng = np.random.default_rng(5)
    sample, p = problem.sample(n, rng), problem.setting(1, BUDGET).moment_order
    wrong = set()
    places = points(problem, rng)
    gradients = [dense(sample.gradients(w)) for w in places]
    for g in gradients:
        mean, error = mean_and_error(g)
        size = float(np.linalg.norm(mean))
        slack = SIGMAS * float(np.linalg.norm(error)) + 1e-9
        checks = {"mean_gradient_bound": (size - slack, constants.mean_gradient_bound)}
        moment, spread = mean_and_error(np.abs(g - mean) ** p)
        # The central moment is about the sample mean instead of the true one, which moves it by
        # less than 2 %.
        checks["coordinate_moment"] = (
            float((moment - SIGMAS * spread).max()) * (1 - 0.02),
            constants.coordinate_moment,
        )
        squares = np.square(g - mean).sum(axis=1)
        trace, trace_error = mean_and_error(squares[:, None])
        checks["variance_trace"] = (
            float(trace[0] - SIGMAS * trace_error[0]) * (1 - 1e-3),
            constants.variance_trace,
        )
        directions = [*np.eye(len(mean)), rng.standard_normal(len(mean))]
        if size > 0:
            directions.append(mean)
        for u in directions:
            raw, raw_error = mean_and_error(np.abs(g @ (u / np.linalg.norm(u)))[:, None] ** p)
            low = max(float(raw[0] - SIGMAS * raw_error[0]), 0.0)
            if low ** (1 / p) > constants.directional_moment * (1 + 1e-9):
                wrong.add("directional_moment")
        checks["lipschitz"] = (float(np.linalg.norm(g, axis=1).max()), constants.lipschitz)
        wrong |= {k for k, (low, bound) in checks.items() if low > bound * (1 + 1e-9)}
    longest = np.max([np.linalg.norm(g, axis=1) for g in gradients], axis=0)[:, None]
    for field, order in (("lipschitz_second", 2.0), ("lipschitz_moment", p)):
        raw, raw_error = mean_and_error(longest**order)
        low = max(float(raw[0] - SIGMAS * raw_error[0]), 0.0)
        if low ** (1 / order) > getattr(constants, field) * (1 + 1e-9):
            wrong.add(field)
    for w, g in zip(places, gradients, strict=True):
        for v in (in_ball(problem, rng), w + 0.05 * rng.standard_normal(len(w))):
            v = problem.constraint.project(v)
            step = w - v
            length = float(np.linalg.norm(step))
            if length < 1e-6:
                continue  # Both points are projected on the same boundary point.
            change = g - dense(sample.gradients(v))
            change_norm, error = mean_and_error(change)
            slack = SIGMAS * float(np.linalg.norm(error)) + 1e-9
            if np.linalg.norm(change_norm) - slack > constants.smoothness * length:
                wrong.add("smoothness")
            projection = (change @ step)[:, None]
            curve, curve_error = mean_and_error(projection)
            if curve[0] + SIGMAS * curve_error[0] < (
                constants.strong_convexity * length**2 * (1 - 1e-9)
            ):
                wrong.add("strong_convexity")
            largest = float(np.linalg.norm(change, axis=1).max())
            if largest > constants.sample_smoothness * length * (1 + 1e-9) + 1e-12:
                wrong.add("sample_smoothness")
            low = constants.sample_strong_convexity * length**2
            if projection.min() < low * (1 - 1e-9) - 1e-12:
                wrong.add("sample_strong_convexity")
    return wrong


@pytest.mark.parametrize(("problem", "law"), one_in(2, PAIRS), ids=IDS)
def test_no_large_sample_contradicts_a_constant(problem: Any, law: Any) -> None:
    example = make(problem, law)
    assert violations(example, example.constants) == set()


@pytest.mark.parametrize(("problem", "law"), crossed(3, OPTIMISATION_PROBLEMS, ORDINARY))
def test_constants_hold_in_one_dimension_and_at_other_orders(problem: Any, law: Any) -> None:
    example = make(problem, law, d=1, p=2.0, margin=8.0, radius=0.9, offset=0.9)
    assert violations(example, example.constants) == set()
    example = make(problem, law, d=6, p=4.0, margin=12.0, radius=4.0, offset=0.5)
    assert violations(example, example.constants) == set()


@pytest.mark.parametrize("law", ORDINARY)
def test_the_spread_of_least_squares_grows_as_certified(law: Any) -> None:
    """At every distance the trace of the sample's covariance is at most the stated one, within six
    standard errors.
    """
    example = make(LeastSquares, law)
    constants = example.constants
    sample = example.sample(DRAWS, np.random.default_rng(6))
    for w in (example.minimiser, *points(example, np.random.default_rng(7))):
        g = dense(sample.gradients(w))
        squares = np.square(g - g.mean(axis=0)).sum(axis=1)
        trace, error = mean_and_error(squares[:, None])
        length = float(np.linalg.norm(w - example.minimiser))
        stated = constants.minimum_variance + constants.variance_growth * length**2
        assert trace[0] - SIGMAS * error[0] <= stated * (1 + 1e-9) <= constants.variance_trace * 1.1
        if law in (Gaussian, StudentT):
            assert stated <= trace[0] + SIGMAS * error[0]


# A constant that is smaller by this factor is seen to be wrong at these points, and the certificate
# gives away the rest.
TOO_SMALL = [
    ("coordinate_moment", 0.9, (Quadratic,)),
    ("coordinate_moment", 0.5, (Absolute, Hinge)),
    ("coordinate_moment", 0.15, (LeastSquares, GeometricMedian)),
    ("directional_moment", 0.7, (Quadratic, Absolute, Hinge, GeometricMedian, LeastSquares)),
    ("variance_trace", 0.9, (Quadratic, LeastSquares)),
    ("variance_trace", 0.6, (Absolute, Hinge, GeometricMedian)),
    ("mean_gradient_bound", 0.9, (Quadratic, LeastSquares)),
    ("mean_gradient_bound", 0.3, (Absolute, Hinge, GeometricMedian)),
    ("variance_trace", 0.45, (Logistic,)),
    ("smoothness", 0.9, (Quadratic, LeastSquares, Logistic)),
    ("smoothness", 0.5, (Absolute, GeometricMedian)),
    ("sample_smoothness", 0.99, (Quadratic,)),
    ("lipschitz", 0.99, (GeometricMedian,)),
    ("lipschitz_second", 0.95, (Absolute, Hinge, GeometricMedian)),
    ("lipschitz_second", 0.8, (Quadratic,)),
    ("lipschitz_second", 0.4, (Logistic, LeastSquares)),
    ("lipschitz_moment", 0.85, (Absolute, Hinge, GeometricMedian)),
    ("lipschitz_moment", 0.7, (Quadratic,)),
    ("lipschitz_moment", 0.35, (Logistic, LeastSquares)),
]


SMALLER = [(field, factor, problem) for field, factor, ps in TOO_SMALL for problem in ps]


@pytest.mark.parametrize("problem", dict.fromkeys(problem for _, _, problem in SMALLER))
def test_constants_that_are_too_small_are_all_caught(problem: Any) -> None:
    """All constants of a problem are changed at once, on one sample, while the next tests change
    one at a time.
    """
    example = make(problem, ORDINARY[4])  # The Gaussian law.
    factors = {field: factor for field, factor, own in SMALLER if own is problem}
    smaller = {field: x * getattr(example.constants, field) for field, x in factors.items()}
    assert violations(example, replace(example.constants, **smaller), DRAWS) == set(factors)


@pytest.mark.parametrize(
    ("field", "factor", "problem"),
    one_in(8, SMALLER),
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", None),
)
def test_a_constant_that_is_too_small_is_caught(field: str, factor: float, problem: Any) -> None:
    example = make(problem, ORDINARY[4])  # The Gaussian law.
    smaller = replace(example.constants, **{field: factor * getattr(example.constants, field)})
    assert violations(example, smaller, DRAWS) == {field}


@pytest.mark.parametrize("problem", MODELS)
def test_a_bounded_record_has_a_lipschitz_constant_that_is_attained(problem: Any) -> None:
    example = make(problem, HARD[0])
    constants = example.constants
    if problem is LeastSquares:
        assert constants.lipschitz == math.inf
        return
    smaller = replace(constants, lipschitz=0.3 * constants.lipschitz)
    assert violations(example, smaller, DRAWS) == {"lipschitz"}


def test_strong_convexity_that_is_too_large_is_caught() -> None:
    for problem in (Quadratic, LeastSquares):
        example = make(problem, ORDINARY[4])
        larger = replace(
            example.constants, strong_convexity=1.1 * example.constants.strong_convexity
        )
        assert violations(example, larger, DRAWS) == {"strong_convexity"}
    example = make(Quadratic, ORDINARY[4])
    larger = replace(example.constants, sample_strong_convexity=1.01)
    assert violations(example, larger, DRAWS) == {"sample_strong_convexity"}


@pytest.mark.parametrize(("problem", "law"), PAIRS, ids=IDS)
def test_constants_do_not_depend_on_the_drawn_pattern_and_have_order_p(
    problem: Any, law: Any
) -> None:
    example_a, example_b = make(problem, law, seed=1), make(problem, law, seed=2)
    assert example_a.constants == example_b.constants
    setting = example_a.setting(100, BUDGET)
    assert setting.moment_order == 2.5
    assert (setting.n, setting.d) == (100, 3)
    assert example_a.constants.diameter == 3.0
    if problem in MODELS:
        assert example_a.constants.structure == "linear-model"
        features = example_a.sample(50_000, np.random.default_rng(3)).features.x
        square, error = mean_and_error(np.square(features).sum(axis=1)[:, None])
        certified = example_a.constants.linear_model.feature_norm**2
        assert abs(square[0] - certified) <= SIGMAS * error[0]


def test_the_constants_of_logistic_regression_are_as_sharp_as_stated() -> None:
    heavy = StudentT(d=20, moment_order=2.0)
    unit = Logistic(features=heavy, radius=1.0, offset=0.5).constants
    assert unit.coordinate_moment == pytest.approx(1.0)
    assert unit.smoothness == pytest.approx(0.25)
    assert unit.variance_trace == pytest.approx(20.0)
    assert unit.lipschitz == unit.sample_smoothness == math.inf
    light = Logistic(features=Gaussian(d=20, moment_order=2.0), radius=1.0, offset=0.5).constants
    # The trace is a quarter of that of the features for the labels, and (1.5/4)^2 (d+2) for the
    # distance to the minimiser.
    assert light.variance_trace == pytest.approx(5.0 + 0.140625 * 22)
