"""Objective perturbation on every convex set.

Faults that these tests would catch: a projection on the wrong set, noise whose scale depends on
the set, a solver that stops early on some set, a width that is the ball's.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.geometry import ConstraintSet, L1Ball, LqBall, Simplex
from dpsco_core.methods.base import Release
from dpsco_core.methods.euclidean.perturbation import objective as objective_perturbation
from dpsco_core.methods.euclidean.perturbation.objective import (
    ObjectivePerturbation,
    ObjectivePerturbationStrong,
)
from dpsco_core.methods.euclidean.perturbation.objective_plan import (
    DIGITS,
    SPHERE,
    balanced_ridge,
    certified_digits,
    objective_plan,
    open_distance,
    projection_accuracy,
    theorem_accuracy,
)
from dpsco_core.privacy import ApproxDP, Ledger, gaussian_rho
from dpsco_core.privacy.mechanisms import objective_noise_std
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.linear import LinearSample, mean_gradient_rounding
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.protocol import Sample
from tests.folded import each
from tests.geometry.sets import ASYMMETRIC, NAMES, D, all_sets
from tests.methods.euclidean.losses import (
    APPROXIMATE,
    LINKS,
    POINTS,
    Array,
    Releases,
    make_records,
    make_setting,
    neighbours,
    releases,
)

__all__ = ["releases"]
SETS = all_sets()
METHODS = [
    ObjectivePerturbation(),
    ObjectivePerturbation(tuning="theory"),
    ObjectivePerturbation(calibration="paper"),
]


def where_on(
    constraint: ConstraintSet, kind: str, n: int, budget: ApproxDP = APPROXIMATE
) -> Setting:
    """Return the setting of a kind of loss on a constraint set."""
    radius = constraint.l2_radius
    return replace(
        make_setting(kind, n, constraint.d, budget, radius=radius), constraint=constraint
    )


def sample_on(constraint: ConstraintSet, kind: str, x: Array, y: Array | None = None) -> Sample:
    """Return a sample of a kind of loss on a constraint set."""
    if kind in POINTS:
        return PointSample(points=DenseRows(x), loss=POINTS[kind], constraint=constraint)
    targets = np.ones(len(x)) if y is None else y
    rows = DenseRows(x)
    return LinearSample(features=rows, targets=targets, link=LINKS[kind], constraint=constraint)


def run(method: Any, setting: Setting, sample: Sample, seed: int = 0) -> Release:
    """Run a method on a sample; check its budget and its points, and return its release."""
    ledger = Ledger(setting.budget)
    result: Release = method.release(
        sample, method.plan(setting), ledger, np.random.default_rng(seed)
    )
    assert result.ledger.spent() == setting.budget
    assert sample.constraint.contains(result.value, 1e-12)
    assert result.iterates is not None
    assert all(sample.constraint.contains(w, 1e-12) for w in result.iterates)
    return result


@pytest.mark.parametrize("method", [ObjectivePerturbation(), ObjectivePerturbationStrong()])
@pytest.mark.parametrize("name", NAMES)
def test_the_mean_problem_is_the_projection_of_the_noisy_mean(
    name: str, method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release is Proj(mean - G/n) with the noise that was drawn (theory/su-zhao-wang.md, 8,
    item 25).
    """
    noises: list[Array] = []

    def keep(value: Array, std: float, rng: np.random.Generator) -> Array:
        """Add noise to a value, and keep the noise."""
        noises.append(rng.normal(scale=std, size=value.shape))
        return value + noises[-1]

    monkeypatch.setattr("dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise", keep)
    constraint = SETS[name]
    x, _ = make_records(50, D, shift=0.2)
    setting = where_on(constraint, "mean", 50)
    for seed in range(5):
        value = run(method, setting, sample_on(constraint, "mean", x), seed).value
        expected = constraint.project(x.mean(axis=0) - noises[-1])
        np.testing.assert_allclose(value, expected, atol=1e-13)
    assert len(noises) == 5


@pytest.mark.parametrize("name", NAMES)
def test_a_linear_loss_is_minimised_at_a_support_point(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy_values: list[Array] = []

    def keep(value: Array, std: float, rng: np.random.Generator) -> Array:
        """Add noise to a value, and keep the sum."""
        noisy_values.append(value + rng.normal(scale=std, size=value.shape))
        return noisy_values[-1]

    monkeypatch.setattr("dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise", keep)
    constraint = SETS[name]
    x, _ = make_records(50, D)
    setting = where_on(constraint, "linear", 50)
    method = ObjectivePerturbation()
    assert method.plan(setting).ridge == 0
    value = run(method, setting, sample_on(constraint, "linear", x)).value
    assert -float(noisy_values[-1] @ value) == pytest.approx(
        constraint.support(-noisy_values[-1]), rel=1e-12
    )
    # With a ridge the method projects, and the minimum that it finds is at most the objective at
    # any other point.
    theory = run(
        ObjectivePerturbation(tuning="theory"), setting, sample_on(constraint, "linear", x)
    ).value
    ridge = ObjectivePerturbation(tuning="theory").plan(setting).ridge
    assert ridge > 0

    def objective(w: Array) -> float:
        """Return the perturbed objective at w."""
        return float(noisy_values[-1] @ w) + ridge * float(w @ w)

    rng = np.random.default_rng(0)
    for v in (value, *rng.standard_normal((50, D))):
        assert objective(theory) <= objective(constraint.project(v)) + 1e-12


def exact_minimiser(losses: Sample, ridge: float, smoothness: float) -> Array:
    """Return the minimiser of the ridge-regularised risk, by accelerated steps to an error of
    e^-45.
    """
    total = smoothness + 2 * ridge
    root = math.sqrt(2 * ridge / total)
    momentum = (1 - root) / (1 + root)
    x = y = losses.constraint.centre
    for _ in range(int(45 / root)):
        new = losses.constraint.project(y - (losses.mean_gradient(y) + 2 * ridge * y) / total)
        x, y = new, new + momentum * (new - x)
    return x


# The quick suite tries every set with one method, and every method on a third of the sets.
PAIRS = [
    pytest.param(name, method, id=f"{label}-{name}", marks=[] if is_quick else pytest.mark.slow)
    for j, (label, method) in enumerate(zip(("practical", "theory", "paper"), METHODS, strict=True))
    for i, name in enumerate(NAMES)
    for is_quick in [i % 3 == j]
]


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_a_record_moves_the_released_point_by_no_more_than_the_proof_allows(
    name: str, method: Any, releases: Releases
) -> None:
    """The noise G is zero on both data sets, and the record arbitrary (theory/su-zhao-wang.md, 8,
    items 15 and 16).

    The distance of the solver's point from the minimiser, which noise hides, is measured too.
    """
    n, constraint = 30, SETS[name]
    setting = where_on(constraint, "logistic", n)
    plan = method.plan(setting)
    solved = []
    for x, y in neighbours(n, D, 3):
        releases.values.clear()
        sample = sample_on(constraint, "logistic", x, y)
        result = run(method, setting, sample)
        (value,) = releases.values
        assert constraint.contains(value, 1e-12)
        assert np.isfinite(result.value).all()
        if len(solved) % 8 == 0:
            losses = plan.losses.of(sample)
            best = exact_minimiser(losses, plan.ridge, plan.losses.smoothness)
            assert np.linalg.norm(value - best) <= plan.output_sensitivity / 2 + 1e-13
        solved.append(value)
    distance = max(float(np.linalg.norm(v - solved[0])) for v in solved[1:])
    allowed = plan.losses.lipschitz / (n * plan.ridge) + 2 * math.sqrt(plan.accuracy / plan.ridge)
    assert distance <= allowed
    assert distance > 0


def test_a_solver_that_stops_early_is_caught(
    monkeypatch: pytest.MonkeyPatch, releases: Releases
) -> None:
    honest = objective_perturbation.minimise_strongly_convex
    monkeypatch.setattr(
        objective_perturbation,
        "minimise_strongly_convex",
        lambda *a, accuracy, **k: honest(*a, accuracy=1e6 * accuracy + 1e-6, **k),
    )
    with pytest.raises(AssertionError):
        test_a_record_moves_the_released_point_by_no_more_than_the_proof_allows(
            "l1.5", METHODS[0], releases
        )


@each("epsilon", [0.05, 0.8, 30.0])
@each("name", NAMES)
def test_every_run_with_noise_ends_certified(name: str, epsilon: float) -> None:
    """The data are separable, constant or wild, with condition numbers from 1 to 1e13."""
    n, constraint = 40, SETS[name]
    setting = where_on(constraint, "logistic", n, ApproxDP(epsilon=epsilon, delta=1e-6))
    x, y = make_records(n, D, seed=1)
    wild = x.copy()
    wild[0], wild[1] = 1e300, np.nan
    for features, targets in (
        (x, y),
        (x, (x[:, 0] > 0).astype(float)),
        (np.zeros_like(x), y),
        (np.tile(x[:1], (n, 1)), np.ones(n)),
        (wild, y),
    ):
        sample = sample_on(constraint, "logistic", features, targets)
        result = run(ObjectivePerturbation(), setting, sample, seed=2)
        assert np.isfinite(result.value).all()


def test_what_rounding_may_hide_is_part_of_the_sensitivity() -> None:
    ball = make_setting("logistic", 40, D, APPROXIMATE)
    rounding = mean_gradient_rounding(40, D) + SPHERE
    assert open_distance(ball, 1e-20, 1e-4) == pytest.approx(2e-8 * (1 + rounding / 1e-12))
    for constraint in SETS.values():
        setting = where_on(constraint, "logistic", 40)
        digits, accuracy = certified_digits(constraint), projection_accuracy(constraint)
        assert accuracy <= digits / 10
        assert digits >= DIGITS
        hidden = open_distance(setting, 1e-20, 1e-3) / (2 * math.sqrt(1e-17))
        if constraint is SETS["l2"]:
            assert hidden == pytest.approx(1 + rounding / digits)
        else:
            assert hidden == pytest.approx(1 + (rounding + 6 * accuracy) / digits)
    assert certified_digits(LqBall(d=3, exponent=1000.0, radius=1.0)) == pytest.approx(4e-11)


@pytest.mark.parametrize("name", NAMES)
def test_the_accuracy_of_the_theorem_takes_the_width_of_the_set(name: str) -> None:
    constraint = SETS[name]
    n, diameter = 1000, 2 * constraint.l2_radius
    setting = where_on(constraint, "logistic", n)
    width = constraint.gaussian_width().upper
    width_cap = 0.25 * diameter**3 / (width**2 * math.log(1e6) * n**2.5)
    expected = min(diameter / n**1.5, width_cap)
    assert theorem_accuracy(setting, 1.0, 0.5, 1e-6) == pytest.approx(expected, rel=1e-12)


def test_a_set_of_one_point_has_no_width() -> None:
    setting = where_on(Simplex(d=1, radius=1.0), "logistic", 100)
    assert theorem_accuracy(setting, 1.0, 0.5, 1e-6) == pytest.approx(2e-3)
    x, y = make_records(100, 1)
    result = run(ObjectivePerturbation(), setting, sample_on(setting.body, "logistic", x, y))
    assert result.value.tolist() == [1.0]


def test_the_ridge_of_a_narrow_set_balances_the_bound_of_its_width() -> None:
    """At d = 10^4 the noise on an l1 ball has width sqrt(log d), and on the l2 ball sqrt(d)."""
    narrow = where_on(L1Ball(d=10_000, radius=1.0), "logistic", 1000)
    wide = replace(narrow, constraint=None)
    losses = ObjectivePerturbation().plan(narrow).losses
    output = gaussian_rho(0.008, 1e-8)
    small, large = (balanced_ridge(w, losses, 0.8, 1e-6, output) for w in (narrow, wide))
    assert small != large

    def bound(ridge: float) -> float:
        """Return the bound on the risk at a ridge."""
        share = math.log1p(losses.smoothness / (2 * narrow.n * ridge))
        std = objective_noise_std(2 * losses.lipschitz, 0.8 - share, 1e-6)
        return std * narrow.body.gaussian_width().value / narrow.n + ridge

    assert bound(small) <= bound(large)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert bound(small) <= bound(small * factor) * (1 + 1e-6)


@pytest.mark.parametrize("name", ["l1", "simplex", "cube", "l1.5", "sparse", "group"])
def test_the_excess_is_below_the_explicit_bound(name: str) -> None:
    """Bound B1 of theory/su-zhao-wang.md, 8, item 25, is compared with the excess over the labels'
    parameter.
    """
    n, constraint = 4000, SETS[name]
    setting = where_on(constraint, "logistic", n)
    method = ObjectivePerturbation(tuning="theory")
    plan = method.plan(setting)
    x, _ = make_records(n, D, seed=4)
    best = constraint.support_point(np.linspace(1, 0, D))
    rng = np.random.default_rng(5)
    y = (rng.random(n) < 1 / (1 + np.exp(-x @ best))).astype(float)
    sample = sample_on(constraint, "logistic", x, y)
    width, radius = constraint.gaussian_width().upper, constraint.l2_radius
    lipschitz, ridge = plan.losses.lipschitz, plan.ridge
    bound = (
        plan.linear_std * width / n
        + ridge * radius**2
        + lipschitz**2 / (ridge * n)
        + lipschitz * math.sqrt(plan.accuracy / ridge)
        + lipschitz * math.sqrt(2 * plan.output_std * width)
    )
    excess = [
        sample.risk(run(method, setting, sample, seed).value) - sample.risk(best)
        for seed in range(10)
    ]
    assert np.mean(excess) <= bound


def test_the_strong_version_needs_no_symmetric_set() -> None:
    """The modulus of strong convexity is an l2 one and cancels, so no Minkowski norm is needed."""
    for name in ASYMMETRIC:
        plan = objective_plan(where_on(SETS[name], "mean", 20), "tight", "practical", strong=True)
        assert plan.ridge == 0 and plan.accuracy == 0


@pytest.mark.parametrize(
    ("planned", "other_set", "diameter"),
    [("l2", "l1", 2.6), ("l1", "l2", 2.6), ("l1", "l1", 2.0), ("l1.5", "l1000", 9.0)],
)
def test_a_plan_for_one_set_does_not_run_on_another(
    planned: str, other_set: str, diameter: float
) -> None:
    sets = SETS | {"l1000": LqBall(d=D, exponent=1000.0, radius=0.5)}
    x, y = make_records(20, D)
    setting = where_on(sets[planned], "logistic", 20)
    setting = replace(setting, constants=replace(setting.constants, diameter=diameter))
    plan = ObjectivePerturbation().plan(setting)
    ledger, rng = Ledger(setting.budget), np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="constraint must be that of the setting"):
        ObjectivePerturbation().release(
            sample_on(sets[other_set], "logistic", x, y), plan, ledger, rng
        )
    assert not ledger.entries


def test_kinks_are_refused_on_every_set() -> None:
    for constraint in (SETS["l1"], SETS["simplex"]):
        assert isinstance(constraint, L1Ball | Simplex)
        with pytest.raises(NotApplicable, match="has kinks"):
            ObjectivePerturbation().plan(where_on(constraint, "hinge", 20))
