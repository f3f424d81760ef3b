"""Every problem on every constraint set: minimisers, excess risks, and constants in both norms.

Faults that these tests would catch: a minimiser of another set or outside it, an excess that is
negative somewhere in the set, a constant that the ball's points satisfy and a corner does not, a
norm's constant with the wrong power of d.

Statistical comparisons allow six standard errors; with fewer than 900 of them a test, nearly all
one-sided, the false-alarm rate of a test is below 1e-6. Laws have moments of twice the order.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import make_instance
from dpsco_core.geometry import Box, ConstraintSet
from dpsco_core.geometry.geometries import GEOMETRIES, Geometry
from dpsco_core.geometry.norms import lq_norm, row_norms
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems import (
    OPTIMISATION_PROBLEMS,
    Constants,
    GeometricMedian,
    MeanEstimation,
    Quadratic,
)
from dpsco_core.problems.dual import DualConstants, dual_constants
from tests.folded import crossed, each
from tests.problems.cases import SIGMAS, Vector, dense, losses

BUDGET = ApproxDP(epsilon=1.0, delta=1e-6)
KINDS = {kind: Geometry(kind=kind) for kind in GEOMETRIES if kind != "lq"}
POWERS = {f"l{q:g}": Geometry(kind="lq", q=q) for q in (1.1, 1.5, 4.0)}
LIMITS = {f"l{q:g}": Geometry(kind="lq", q=q) for q in (1.0, 1e6, math.inf)}
SETS = KINDS | POWERS
MAIN_SETS = ("l2", "l1", "simplex", "sparse", "l1.5")
# The quick suite draws large samples for a set of each family, and the slow suite for the others.
SOME_SETS = [
    pytest.param(name, marks=[] if name in MAIN_SETS else pytest.mark.slow) for name in SETS
]
SLUGS = tuple(problem.card.slug for problem in OPTIMISATION_PROBLEMS)
LAWS = ("student-t", "skewed-pareto", "elliptical-t", "hypercube", "spike")
HARD = ("hypercube", "spike")
D, N = 10, 2500


def build(
    slug: str,
    law: str,
    geometry: Geometry,
    *,
    d: int = D,
    radius: float = 1.5,
    offset: float = 0.2,
    q: float = 0.3,
) -> Any:
    """Return the scenario's problem, which on a hard instance has the spike probability q.

    A larger offset would make one of the labels of hard features too rare for samples.
    """
    example: Any = make_instance(
        problem=slug,
        distribution=law,
        n=1000,
        d=d,
        budget=BUDGET,
        moment_order=2.5,
        margin=6.0,
        offset=offset,
        radius=radius,
        geometry=geometry,
    ).problem
    if law in HARD:
        name = "features" if hasattr(example, "features") else "distribution"
        example = replace(example, **{name: replace(getattr(example, name), spike_probability=q)})
    return example.draw(np.random.default_rng(7))


def places(problem: Any, rng: np.random.Generator) -> list[Vector]:
    """Return corners and other points of the set, those far from the minimiser among them."""
    body: ConstraintSet = problem.constraint
    best, d = problem.minimiser, body.d
    towards = [-best, -np.ones(d), np.eye(d)[-1], -np.eye(d)[0], rng.standard_normal(d)]
    points = [body.centre, *(body.support_point(g) for g in towards)]
    return [*points, *(body.project(best + s * rng.standard_normal(d)) for s in (0.05, 1.0))]


def mean_and_error(terms: Vector) -> tuple[Vector, Vector]:
    """Return the mean of terms over records, and its allowed error of SIGMAS standard errors, for
    each column.
    """
    return terms.mean(axis=0), SIGMAS * terms.std(axis=0) / math.sqrt(len(terms))


def laws(slug: str, name: str, part: int) -> list[str]:
    """Return every other law, chosen so that over problems and sets each law meets each of them."""
    turn = SLUGS.index(slug) + list(SETS).index(name) + part
    return [law for i, law in enumerate(LAWS) if (i + turn) % 2 == 0]


halves = pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])


@halves
@pytest.mark.parametrize("name", SOME_SETS)
@pytest.mark.parametrize("slug", SLUGS)
def test_the_minimiser_minimises_over_the_set(slug: str, name: str, part: int) -> None:
    for law in laws(slug, name, part):
        example = build(slug, law, SETS[name])
        body, best = example.constraint, example.minimiser
        assert body.contains(best, 1e-12)
        assert abs(example.excess_risk(best).value) <= 1e-14
        rng = np.random.default_rng(11)
        sample = example.sample(N, rng)
        best_losses, gradients = losses(sample, best), dense(sample.gradients(best))
        mean, error = mean_and_error(gradients)
        if example.constants.minimum_interior:
            assert (np.abs(mean) <= error + 1e-10).all()
        kinked = slug == "geometric-median" and law in HARD
        for w in [*places(example, rng), body.support_point(-mean)]:
            excess = example.excess_risk(w)
            assert excess.value >= -1e-13
            rise, rise_error = mean_and_error(losses(sample, w) - best_losses)
            slack = math.hypot(rise_error, SIGMAS * excess.standard_error)
            assert abs(rise - excess.value) <= slack + 1e-10
            if not kinked:  # Where the loss has a kink, the chosen subgradient may point anywhere.
                slope, slope_error = mean_and_error(gradients @ (w - best))
                assert slope >= -slope_error - 1e-10


def gap(body: ConstraintSet, w: Vector, gradient: Vector) -> float:
    """Return the largest slope of a descent direction from w into the set, which is 0 at a
    minimiser of a convex risk.
    """
    return float(gradient @ w) + body.support(-gradient)


@each("name", SETS | LIMITS)
@each("law", LAWS)
def test_minimisers_of_exact_risks_satisfy_the_first_order_conditions(law: str, name: str) -> None:
    for radius, offset in ((0.1, 0.0), (0.5, 0.5), (1.5, 0.8), (40.0, 13.0)):
        kwargs = {"radius": radius, "offset": offset}
        quadratic = build("quadratic", law, (SETS | LIMITS)[name], **kwargs)
        body, mean = quadratic.constraint, quadratic.distribution.mean
        scale = body.l2_radius * (body.l2_radius + float(np.linalg.norm(mean)))
        assert gap(body, quadratic.minimiser, quadratic.minimiser - mean) <= 1e-8 * scale
        linear = build("linear", law, (SETS | LIMITS)[name], **kwargs)
        assert gap(body, linear.minimiser, -linear.distribution.mean) <= 1e-12 * scale


@pytest.mark.parametrize(
    "q", [0.05, 0.5, 0.55, *(pytest.param(q, marks=pytest.mark.slow) for q in (0.7, 0.95))]
)
@pytest.mark.parametrize(("name", "law"), crossed(2, SETS | LIMITS, HARD))
def test_the_median_of_a_hard_instance_is_a_minimiser(name: str, law: str, q: float) -> None:
    """In 50 dimensions a pattern fills some groups more than others: see `_two_point_minimiser`."""
    for d in (10, 50):
        for radius in (0.1, 2.0, 20.0):
            example = build("geometric-median", law, (SETS | LIMITS)[name], d=d, radius=radius, q=q)
            body, best, spike = example.constraint, example.minimiser, example.distribution.spike
            assert body.contains(best, 1e-12)
            norm, spike_distance = np.linalg.norm(best), np.linalg.norm(best - spike)
            # The nearest minimiser is a kink of the loss.
            if min(norm, spike_distance) <= 1e-12 * np.linalg.norm(spike):
                candidates = [body.project(t * spike) for t in np.linspace(0, 1, 50) ** 2]
                candidates += places(example, np.random.default_rng(1))
                assert min(example.excess_risk(w).value for w in candidates) >= -1e-13
                continue
            gradient = (1 - q) * best / norm + q * (best - spike) / spike_distance
            assert gap(body, best, gradient) <= 1e-7 * body.l2_radius


def violations(problem: Any, constants: Constants, dual: DualConstants, n: int = N) -> set[str]:
    """Return the constants that a large sample contradicts beyond its error."""
    rng = np.random.default_rng(5)
    body, c, d = problem.constraint, constants, problem.constraint.d
    p, q, s = problem.setting(1, BUDGET).moment_order, dual.exponent, dual.dual
    sample = problem.sample(n, rng)
    broken: set[str] = set()

    def check(name: str, low: float, bound: float) -> None:
        """Record the name of a constant whose bound a sample contradicts."""
        if low > bound * (1 + 1e-9) + 1e-9:
            broken.add(name)

    previous: tuple[Vector, Vector] | None = None
    for w in places(problem, rng):
        assert body.contains(w, 1e-9)
        g = dense(sample.gradients(w))
        mean, error = mean_and_error(g)
        check("mean_gradient_bound", _length(mean, 2) - _length(error, 2), c.mean_gradient_bound)
        check(
            "dual mean_gradient_bound",
            _length(mean, s) - _length(error, s),
            dual.mean_gradient_bound,
        )
        check("lipschitz", float(row_norms(g, 2.0).max()), c.lipschitz)
        check("dual lipschitz", float(row_norms(g, s).max()), dual.lipschitz)
        check("diameter", 2 * _length(w, 2), c.diameter)
        check("dual radius", _length(w, q), dual.radius)
        centred = g - mean  # The centre is an estimate, which lowers variances by 1/n.
        for name, terms, bound in (
            ("variance_trace", row_norms(centred, 2.0) ** 2, c.variance_trace),
            ("dual variance", row_norms(centred, s) ** 2, dual.variance),
        ):
            level, slack = mean_and_error(terms)
            check(name, float(level - slack) * (1 - 1e-3), bound)
        level, slack = mean_and_error(np.abs(centred) ** p)
        check("coordinate_moment", float((level - slack).max()) * (1 - 0.02), c.coordinate_moment)
        for u in (np.eye(d)[0], np.ones(d) / math.sqrt(d), mean / (_length(mean, 2) or 1.0)):
            raw, slack = mean_and_error(np.abs(g @ u) ** p)
            root = max(float(raw - slack), 0.0) ** (1 / p)
            check("directional_moment", root, c.directional_moment)
        if previous is not None:
            step, change = w - previous[0], g - previous[1]
            check("dual diameter", _length(step, q), dual.diameter)
            change_norm, slack = mean_and_error(change)
            long, short = _length(step, 2), _length(step, q)
            low = _length(change_norm, 2) - _length(slack, 2)
            check("smoothness", low, c.smoothness * long if long > 0 else 0.0)
            low = _length(change_norm, s) - _length(slack, s)
            check("dual smoothness", low, dual.smoothness * short if short > 0 else 0.0)
            largest = float(row_norms(change, s).max())
            bound = dual.sample_smoothness * short if short > 0 else 0.0
            check("dual sample_smoothness", largest, bound)
            curve, slack = mean_and_error(change @ step)
            check("strong_convexity", c.strong_convexity * long**2, float(curve + slack))
        previous = w, g
    return broken


def _length(x: Vector, exponent: float) -> float:
    """Return the l_exponent norm of a vector."""
    return lq_norm(x, float(exponent))


def dual_of(problem: Any) -> DualConstants:
    """Return the dual constants of a problem at 100 records."""
    return dual_constants(problem.setting(100, BUDGET))


@halves
@pytest.mark.parametrize("name", SOME_SETS)
@pytest.mark.parametrize("slug", SLUGS)
def test_no_large_sample_contradicts_a_constant(slug: str, name: str, part: int) -> None:
    for law in laws(slug, name, part):
        example = build(slug, law, SETS[name])
        assert violations(example, example.constants, dual_of(example)) == set(), law


# A constant that is smaller by this factor is seen to be wrong, and the certificate gives away the
# rest.
TOO_SMALL = [
    ("mean_gradient_bound", 0.9, "quadratic", "hypercube", "linf"),
    ("dual mean_gradient_bound", 0.85, "linear", "hypercube", "l4"),
    ("dual mean_gradient_bound", 0.85, "least-squares", "gaussian", "l1"),
    ("lipschitz", 0.99, "linear", "hypercube", "simplex"),
    ("dual lipschitz", 0.99, "linear", "hypercube", "l4"),
    ("dual lipschitz", 0.9, "geometric-median", "gaussian", "l1.1"),
    ("diameter", 0.99, "quadratic", "gaussian", "simplex"),
    ("dual radius", 0.99, "huber", "student-t", "simplex"),
    ("dual diameter", 0.99, "logistic", "student-t", "simplex"),
    ("variance_trace", 0.9, "quadratic", "gaussian", "sparse"),
    ("dual variance", 0.9, "hinge", "gaussian", "group-l1"),
    ("dual variance", 0.6, "quadratic", "gaussian", "linf"),
    ("coordinate_moment", 0.8, "quadratic", "gaussian", "simplex"),
    ("directional_moment", 0.85, "linear", "hypercube", "simplex"),
    ("smoothness", 0.9, "quadratic", "gaussian", "simplex"),
    ("dual smoothness", 0.9, "quadratic", "gaussian", "linf"),
    ("dual smoothness", 0.8, "least-squares", "gaussian", "l1"),
    ("dual sample_smoothness", 0.9, "quadratic", "student-t", "linf"),
    ("strong_convexity", 1.1, "quadratic", "gaussian", "simplex"),
]


@pytest.mark.parametrize(("field", "factor", "slug", "law", "name"), TOO_SMALL)
def test_a_constant_that_is_too_small_is_caught(
    field: str, factor: float, slug: str, law: str, name: str
) -> None:
    example = build(slug, law, SETS[name])
    constants, dual = example.constants, dual_of(example)
    if field.startswith("dual "):
        key = field.removeprefix("dual ")
        dual = replace(dual, **{key: factor * getattr(dual, key)})
    else:
        constants = replace(constants, **{field: factor * getattr(constants, field)})
    assert violations(example, constants, dual, 4 * N) == {field}


@each("slug", SLUGS)
@each("name", SETS | LIMITS)
def test_one_and_two_dimensions_and_the_largest_offset(name: str, slug: str) -> None:
    geometry = (SETS | LIMITS)[name]
    sizes = [(5, 1.5)] if name == "group-l1" else [(1, 1.5), (2, 0.0), (2, 1.5)]
    if geometry.kind == "simplex":
        sizes = sizes[1:]  # In one dimension the set is a single point, and refused.
    # Each size has another law, and over the problems and the sets each size meets each law.
    laws, turn = ("skewed-pareto", "elliptical-t", "hypercube"), SLUGS.index(slug) + len(name)
    for i, (d, offset) in enumerate(sizes):
        example = build(slug, laws[(i + turn) % 3], geometry, d=d, offset=offset)
        body, best = example.constraint, example.minimiser
        assert body.contains(best, 1e-12)
        assert abs(example.excess_risk(best).value) <= 1e-14
        for w in (body.centre, body.support_point(-np.ones(d)), body.support_point(np.ones(d))):
            assert example.excess_risk(w).value >= -1e-13
        dual = dual_of(example)
        assert not any(math.isnan(getattr(dual, field)) for field in vars(dual))
        assert dual.radius >= lq_norm(best, dual.exponent) * (1 - 1e-12)
        assert example.constants.diameter >= 2 * np.linalg.norm(best) * (1 - 1e-12)


@each("d", [1, 2, 3, 5, 7, 20, 50])
@each("law", ["student-t", "elliptical-t"])
@each("name", SETS)
def test_a_mean_on_the_boundary_is_not_outside(name: str, law: str, d: int) -> None:
    """Rounding does not put the mean outside the set, where bounds and methods would take other
    parameters.
    """
    if name == "simplex" or (name == "group-l1" and d % 5):
        return
    for slug in ("quadratic", "geometric-median"):
        for offset in (0.7, 1.5):
            example = build(slug, law, SETS[name], d=d, offset=offset)
            assert example.constants.minimum_interior, (slug, offset)
    mean_outside = Quadratic(
        distribution=replace(example.distribution, offset=1.01 * example.distribution.offset),
        radius=1.5,
        geometry=SETS[name],
    )
    assert not mean_outside.constants.minimum_interior


def test_a_skewed_law_whose_median_is_outside_has_its_minimiser_on_the_boundary() -> None:
    for name in ("l1", "linf", "simplex", "solid-simplex", "l1.1", "group-l1", "sparse"):
        example = build("geometric-median", "skewed-pareto", SETS[name], radius=0.01, offset=0.0)
        assert isinstance(example, GeometricMedian)
        body, best = example.constraint, example.minimiser
        assert not example.constants.minimum_interior
        sample = dense(example.sample(20_000, np.random.default_rng(0)).gradients(best))
        mean, error = mean_and_error(sample)
        assert gap(body, best, mean) <= 2 * body.l2_radius * float(np.linalg.norm(error))


def test_an_uneven_mean_has_no_known_geometric_median() -> None:
    law = build("quadratic", "student-t", SETS["l1"]).distribution
    assert law.peak > 0
    with pytest.raises(InvalidInput, match="distribution must be one with an even mean"):
        GeometricMedian(distribution=law, radius=1.5, geometry=SETS["l1"])


@pytest.mark.parametrize("name", SETS)
def test_estimates_of_a_mean_in_the_set_are_projected_on_it(name: str) -> None:
    rng = np.random.default_rng(0)
    example = build("mean", "student-t", SETS[name])
    assert isinstance(example, MeanEstimation)
    for _ in range(20):
        estimate = example.distribution.mean + rng.standard_normal(D)
        restricted = example.restrict(estimate)
        if name == "l2":
            assert restricted is estimate
        else:
            assert example.constraint.contains(restricted, 1e-12)
            assert example.error(restricted) <= example.error(estimate)
    norm = float(np.linalg.norm(example.distribution.mean))
    assert norm <= example.constants.mean_gradient_bound * (1 + 1e-12)


@pytest.mark.parametrize("law", HARD)
@pytest.mark.parametrize("name", SETS)
def test_the_exact_mean_of_a_hard_instance_keeps_its_error_of_0(name: str, law: str) -> None:
    """The mean may be outside the set, where a projection would add the distance to every error.

    Signs have a variant around a point of a simplex, whose means are inside; spikes have none.
    """
    for radius in (0.1, 0.5, 1e3):
        example = build("mean", law, SETS[name], radius=radius, offset=0.0)
        assert example.error(example.restrict(example.distribution.mean)) <= 1e-15
    restricted = example.restrict(1e6 * np.ones(D))
    is_outside = name == "l2" or (law == "spike" and name in ("simplex", "solid-simplex"))
    assert example.constraint.contains(restricted) is not is_outside


@pytest.mark.parametrize("q", [1e17, 1e300])
def test_a_ball_of_a_huge_exponent_is_the_cube(q: float) -> None:
    for slug in SLUGS:
        example = build(slug, "student-t", Geometry(kind="lq", q=q), offset=1.5)
        assert isinstance(example.constraint, Box)
        assert np.array_equal(example.constraint.project(np.full(D, 9.0)), np.full(D, 1.5))
        assert abs(example.excess_risk(example.minimiser).value) <= 1e-14
        assert math.isfinite(dual_of(example).radius)
