"""Anatomy of a run: paths are those of the optimisers, and the parts of the error add up to it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.catalogue import bound
from dpsco_core.explain.anatomy import (
    FACTORS,
    PARTS,
    _large_sample,
    clipped_plan,
    descent_path,
    draw_problem,
    error_split,
    gather,
    gradient_norms,
    method_descent,
    risk_path,
    share_clipped,
    split_seconds,
    starting_risk,
)
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.methods.run import descend
from dpsco_core.problems import SCO_PROBLEMS, Sample
from dpsco_core.runs.study import canonical, data_point
from dpsco_core.scenario import Scenario
from tests.explain.error_parts import error_parts

POINT = Scenario(problem="quadratic", methods=("sco.clipped",), n=500, d=3, p=2.0)
HARD = replace(POINT, problem="linear", distribution="hypercube")


@pytest.mark.parametrize("problem", SCO_PROBLEMS)
def test_every_path_starts_at_the_centre_and_ends_at_the_released_value(problem: str) -> None:
    point = replace(POINT, problem=problem)
    path = risk_path(point, "sco.clipped")
    assert path.steps[0] == 0 and path.steps[-1] == clipped_plan(point)[0].steps
    assert path.risks[0] == pytest.approx(starting_risk(point), rel=1e-12)
    assert len(path.steps) == len(path.risks) and (np.diff(path.steps) > 0).all()
    assert np.isfinite(path.risks).all() and np.isfinite(path.final)
    assert method_descent(point, "sco.clipped") == clipped_plan(point)[0]


HARD_LAWS = ("spike", "hypercube", "tracing")


def plain_mean_of_the_prior(point: Scenario, count: int) -> tuple[float, float]:
    """Return the mean error of the centre over independent members of the prior, and its
    standard error.
    """
    problem, rng = point.instance.problem, np.random.default_rng(11)
    members = [problem.draw(rng) for _ in range(count)]
    errors = [m.excess_risk(m.constraint.centre).value for m in members]
    return float(np.mean(errors)), float(np.std(errors)) / math.sqrt(count)


@pytest.mark.parametrize("law", HARD_LAWS)
@pytest.mark.parametrize("geometry", ["l2", "simplex", "group-l1"])
@pytest.mark.parametrize("problem", ["mean", "quadratic", "linear"])
def test_the_risk_of_the_centre_is_the_mean_over_the_prior_of_hard_data(
    problem: str, geometry: str, law: str
) -> None:
    point = Scenario(problem=problem, distribution=law, geometry=geometry, methods=(), d=10, n=500)
    mean, error = plain_mean_of_the_prior(point, 2000)
    value = starting_risk(point)
    # With 27 comparisons of draws accurate to 1 %, none is off by five standard errors.
    assert abs(value - mean) <= 5 * math.hypot(error, 0.01 * mean) + 1e-12
    if law != "tracing" and geometry == "l2":
        first = point.instance.problem.draw(np.random.default_rng(5))
        assert value == pytest.approx(first.excess_risk(first.constraint.centre).value, rel=1e-12)


def test_the_squared_distance_on_the_tracing_instance_is_exact() -> None:
    """A single member of the prior once had .00098, which is below what any algorithm attains on
    average.
    """
    point = Scenario(
        problem="quadratic", distribution="tracing", n=100, d=1, p=1.7, geometry="sparse",
        diameter=0.2, offset=0.0, delta=0.0, methods=(),
    )  # fmt: skip
    law: Any = point.instance.problem.law
    mean, error = plain_mean_of_the_prior(point, 10_000)
    assert abs(starting_risk(point) - mean) < 5 * error < 0.1 * mean
    square = law.d * law.spread**2 / (1 + law.shape) * law.spike_probability ** (2 - 2 / 1.7)
    assert starting_risk(point) == pytest.approx(square * law.shrink**2 / 2, rel=1e-9)
    floor = bound("lower.sco-strong.approx-tracing").value(point.setting)
    assert 0.0015 < floor < starting_risk(point)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize("d", [1, 2, 20])
@pytest.mark.parametrize("p", [1.7, 2.0, 4.0])
def test_no_answer_without_data_is_below_the_floor_of_its_prior(
    p: float, d: int, epsilon: float
) -> None:
    for problem, area in (("quadratic", "sco-strong"), ("linear", "sco")):
        point = Scenario(
            problem=problem, distribution="tracing", n=10, d=d, p=p, epsilon=epsilon, delta=0.0,
            methods=(),
        )  # fmt: skip
        floor = bound(f"lower.{area}.approx-tracing").value(point.setting)
        assert starting_risk(point) >= floor * (1 - 1e-9)


def test_the_path_of_a_method_without_iterates_is_its_two_ends() -> None:
    path = risk_path(POINT, "sco.objective-perturbation")
    assert list(path.steps) == [0, 1]
    assert path.risks[0] == pytest.approx(starting_risk(POINT)) and path.risks[1] == path.final
    assert method_descent(POINT, "sco.objective-perturbation") is None


def test_without_clipping_or_noise_the_descent_reaches_the_empirical_mean() -> None:
    """A fault in the unclipped gradient, or an independent sample, would give another point."""
    descent, _ = clipped_plan(POINT)
    long = replace(descent, steps=200, step_size=0.5, averaged=1)
    problem, sample = draw_problem(POINT)
    # This is the gradient of half the squared distance, at the point 0.
    mean = sample.mean_gradient(np.zeros(3)) * -1
    expected = problem.excess_risk(mean).value
    assert descent_path(POINT, long, None).final == pytest.approx(expected, rel=1e-9)
    assert descent_path(POINT, long, 1e9).final == pytest.approx(expected, rel=1e-9)
    assert descent_path(POINT, long, 0.1).final != pytest.approx(expected, rel=1e-3)


def test_data_depend_on_trial_and_seed_and_not_on_method_budget_or_tuning() -> None:
    _, sample = draw_problem(POINT)
    same = (
        replace(POINT, methods=("sco.cwme",)),
        replace(POINT, epsilon=0.1),
        replace(POINT, tuning="theory", calibration="paper", trials=7),
    )
    w = np.ones(3)
    for factor in same:
        assert (draw_problem(factor)[1].mean_gradient(w) == sample.mean_gradient(w)).all()
    for factor, trial in ((replace(POINT, seed=1), 0), (POINT, 1)):
        assert (draw_problem(factor, trial)[1].mean_gradient(w) != sample.mean_gradient(w)).any()


def test_the_parts_add_up_to_the_private_error_at_every_radius() -> None:
    """The last run of a split is exactly the release of clipped descent at that radius."""
    factors = (0.25, 1.0, 4.0)
    parts = error_parts(POINT, trials=2, factors=factors)
    _, chosen = clipped_plan(POINT)
    assert parts.chosen == chosen
    assert parts.radii == pytest.approx(chosen * np.array(factors))
    splits = [[error_split(POINT, f, trial) for f in factors] for trial in range(2)]
    repeated = gather(POINT, factors, splits)
    for name in PARTS:
        assert (getattr(parts, name) == getattr(repeated, name)).all()
    assert parts.total == pytest.approx(np.sum(splits, axis=2).mean(axis=0))
    assert (parts.total > 0).all()


@pytest.mark.parametrize("problem", ["huber", "least-squares", "logistic", "geometric-median"])
def test_descents_at_several_radii_at_once_equal_single_descents(problem: str) -> None:
    point = replace(POINT, problem=problem, methods=("sco.clipped",))
    descent, chosen = clipped_plan(point)
    problem_drawn, large = draw_problem(point)[0], _large_sample(data_point(canonical(point)), 0)
    exact = descend(large.constraint, descent, lambda w, _: large.mean_gradient(w)).value
    unclipped = problem_drawn.excess_risk(exact).value
    for factor in (FACTORS[0], 1.0, FACTORS[-1], 0.7):
        radius = factor * chosen
        final = descent_path(point, descent, radius).final
        path = descend(
            large.constraint, descent, partial(_clipped_gradient, sample=large, radius=radius)
        ).value
        clipped = problem_drawn.excess_risk(path).value
        expected = unclipped, clipped - unclipped, final - clipped
        assert error_split(point, factor)[:3] == pytest.approx(expected, rel=0, abs=1e-12)


def _clipped_gradient(w: Vector, _: int, *, sample: Sample, radius: float) -> Vector:
    """Return the mean of the clipped gradients at w, whatever the step."""
    return clipped_mean(sample.gradients(w), radius)


def test_a_radius_beyond_every_gradient_has_no_bias_and_its_noise_grows_with_it() -> None:
    wide, wider = (error_split(POINT, f) for f in (1e4, 2e4))
    assert wide[1] == pytest.approx(0.0, abs=1e-12)
    assert wide[:3] == pytest.approx(wider[:3], abs=1e-12)
    assert wide[3] > 0 and wider[3] >= wide[3]


def test_a_tiny_radius_leaves_mostly_bias() -> None:
    optimisation, bias, sampling, noise = error_split(POINT, 1e-4)
    assert bias > 0.9 * (optimisation + bias + sampling + noise)
    assert bias == pytest.approx(starting_risk(POINT), rel=0.05)


def test_the_noise_of_a_split_follows_the_budget() -> None:
    """At a budget that needs almost no noise the fourth part vanishes; at a small one it
    dominates.
    """
    free, tight = (replace(POINT, epsilon=None, delta=None, rho=rho) for rho in (1e8, 1e-3))
    _, _, _, noise = error_split(free, 1.0)
    assert abs(noise) < 1e-6
    assert error_split(tight, 1.0)[3] > 100 * 1e-6


def test_a_hard_instance_has_four_finite_parts_and_no_optimisation_error_but_rounding() -> None:
    parts = error_parts(HARD, trials=1, factors=(0.5, 2.0))
    assert abs(parts.optimisation).max() < 1e-6
    assert np.isfinite(parts.total).all()


def test_gradient_norms_are_those_of_the_records_at_the_minimiser() -> None:
    norms = gradient_norms(POINT)
    problem, sample = draw_problem(POINT)
    length = np.linalg.norm(sample.gradient(problem.minimiser, 0))
    assert len(norms) == POINT.n and norms[0] == pytest.approx(float(length))
    at_start = gradient_norms(POINT, np.zeros(3))
    assert at_start[0] == pytest.approx(float(np.linalg.norm(sample.gradient(np.zeros(3), 0))))
    assert len(gradient_norms(replace(POINT, n=30_000))) == 20_000


def test_the_share_that_is_clipped_counts_longer_gradients_only() -> None:
    norms = np.array([0.0, 1.0, 2.0, 5.0])
    assert [share_clipped(norms, r) for r in (0.5, 1.0, 2.0, 5.0)] == [0.75, 0.5, 0.25, 0.0]


def test_factors_surround_the_chosen_radius() -> None:
    assert 1.0 in FACTORS and FACTORS[0] == pytest.approx(1 / FACTORS[-1])


def test_a_split_is_priced_higher_for_more_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsco_core.explain.anatomy.machine_speed", lambda: 1.0)
    point = replace(POINT, problem="huber")
    assert 0 < split_seconds(point) < split_seconds(replace(point, n=100_000, d=20))


def test_mean_estimation_has_no_gradients_and_a_bad_factor_is_named() -> None:
    with pytest.raises(InvalidInput, match="problem must be an optimisation problem"):
        draw_problem(Scenario(n=100, d=2))
    with pytest.raises(InvalidInput, match="factor must be finite and positive"):
        error_split(POINT, 0.0)
    with pytest.raises(InvalidInput, match="trials must be at least 1"):
        gather(POINT, (1.0,), [])
    with pytest.raises(NotApplicable):
        risk_path(replace(POINT, delta=0.0), "sco.clipped")
