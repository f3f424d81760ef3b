"""One run taken apart: its path, its gradients, and the four parts of its error.

The private run goes through a ledger like any other. The runs beside it, without noise or without
clipping, are for comparison only: they release nothing and are not private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.catalogue import make_optimiser
from dpsco_core.data.rows import row_norms
from dpsco_core.errors import require
from dpsco_core.mean.base import clipped_mean
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import MeanEstimation, OptimisationProblem, Sample
from dpsco_core.scenario import Scenario
from dpsco_core.sco.clipped import ClippedDescent
from dpsco_core.sco.descent import descend
from dpsco_core.sco.tuning import Descent
from dpsco_core.study import stream

Vector = NDArray[np.float64]

SHOWN_POINTS = 60  # of a path: every one costs an evaluation of the risk
LARGE_SAMPLE = 10  # times n, as far as `LARGEST_ELEMENTS` allows
LARGEST_ELEMENTS = 4_000_000
SHOWN_NORMS = 20_000
RADII = tuple(2.0 ** (k / 2) for k in range(-8, 9))  # times the chosen radius


@dataclass(frozen=True, eq=False, kw_only=True)
class RiskPath:
    """The excess risk along a run.

    Parameters
    ----------
    steps : array of shape (k,)
        Steps done, from 0.
    risks : array of shape (k,)
        The excess population risk there.
    final : float
        That of the point that is released, which may be an average.
    """

    steps: NDArray[np.intp]
    risks: Vector
    final: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorParts:
    """Four parts of the excess risk of clipped gradient descent, by clip radius; they add up.

    The same steps and step size at every radius. The first run sees a large sample and does not
    clip: what it errs is optimisation. Clipping it adds the bias, n records in the large sample's
    place add sampling, and noise adds the rest. A part may be negative: clipping can help.

    Parameters
    ----------
    radii : array of shape (k,)
    optimisation, bias, sampling, noise : arrays of shape (k,)
        Means over the trials.
    chosen : float
        The radius that the tuning chooses.
    """

    radii: Vector
    optimisation: Vector
    bias: Vector
    sampling: Vector
    noise: Vector
    chosen: float

    @property
    def total(self) -> Vector:
        """The excess risk of the private run, shape (k,)."""
        return self.optimisation + self.bias + self.sampling + self.noise


def draw_problem(point: Scenario, trial: int = 0) -> tuple[OptimisationProblem, Sample]:
    """Return the optimisation problem at `point`, drawn from its prior, and n records.

    Raises
    ------
    InvalidInput
        For mean estimation, which has no gradients.
    """
    problem = point.instance.problem
    wanted = not isinstance(problem, MeanEstimation)
    require(wanted, "problem", "an optimisation problem", point.problem)
    assert not isinstance(problem, MeanEstimation)
    rng = stream(point.seed, f"anatomy {point.to_query()}", trial)
    drawn = problem.draw(rng)
    return drawn, drawn.sample(point.n, rng)


def risk_path(point: Scenario, method: str, trial: int = 0) -> RiskPath:
    """Return the excess risk along one run of an optimiser; raises `NotApplicable` as it does."""
    optimiser = make_optimiser(method, point.calibration, point.tuning)
    setting = point.setting
    optimiser.plan(setting)
    problem, sample = draw_problem(point, trial)
    noise = stream(point.seed, f"anatomy noise {method} {point.to_query()}", trial)
    release = optimiser.release(sample, setting, Ledger(point.budget), noise)
    final = problem.excess_risk(release.value).value
    if release.iterates is None or release.iterate_steps is None:
        ends = np.array([0, 1], dtype=np.intp)
        start = problem.excess_risk(problem.constraint.centre).value
        return RiskPath(steps=ends, risks=np.array([start, final]), final=final)
    return _evaluate(problem, release.iterate_steps, release.iterates, final)


def descent_path(
    point: Scenario, descent: Descent, radius: float | None, trial: int = 0
) -> RiskPath:
    """Return the path of gradient descent without noise, clipped at `radius` or not at all."""
    problem, sample = draw_problem(point, trial)
    found = descend(sample.constraint, descent, lambda w, _: _gradient(sample, w, radius))
    final = problem.excess_risk(found.value).value
    return _evaluate(problem, found.path.steps, found.path.points, final)


def clipped_plan(point: Scenario) -> tuple[Descent, float]:
    """Return the steps and the clip radius that `sco.clipped` takes at `point`."""
    plan = ClippedDescent(calibration=point.calibration, tuning=point.tuning).plan(point.setting)
    return plan.descent, plan.diagnostics["clip_radius"]


def gradient_norms(point: Scenario, w: Vector | None = None, trial: int = 0) -> Vector:
    """Return the norms of at most 20,000 per-sample gradients at `w` (None: at the minimiser)."""
    problem, sample = draw_problem(point, trial)
    rows = sample.gradients(problem.minimiser if w is None else w)
    shown = min(sample.n, SHOWN_NORMS)
    return np.concatenate([row_norms(block) for block in rows.blocks(0, shown)])


def error_parts(point: Scenario, trials: int = 5) -> ErrorParts:
    """Return the four parts of the error of `sco.clipped` as its clip radius moves."""
    require(trials >= 1, "trials", "at least 1", trials)
    descent, chosen = clipped_plan(point)
    setting = point.setting
    radii = chosen * np.array(RADII)
    parts = np.zeros((4, len(radii)))
    for trial in range(trials):
        problem, sample = draw_problem(point, trial)
        rows = max(point.n, min(LARGE_SAMPLE * point.n, LARGEST_ELEMENTS // point.d))
        large = problem.sample(rows, stream(point.seed, f"large {point.to_query()}", trial))
        exact = _risk(problem, large, descent, None)
        for k, radius in enumerate(radii):
            clipped = _risk(problem, large, descent, float(radius))
            seen = _risk(problem, sample, descent, float(radius))
            method = ClippedDescent(
                radius=float(radius), descent=descent, calibration=point.calibration
            )
            rng = stream(point.seed, f"parts {k} {point.to_query()}", trial)
            release = method.release(sample, setting, Ledger(point.budget), rng)
            private = problem.excess_risk(release.value).value
            parts[:, k] += (exact, clipped - exact, seen - clipped, private - seen)
    parts /= trials
    return ErrorParts(
        radii=radii,
        optimisation=parts[0],
        bias=parts[1],
        sampling=parts[2],
        noise=parts[3],
        chosen=chosen,
    )


def _risk(
    problem: OptimisationProblem, sample: Sample, descent: Descent, radius: float | None
) -> float:
    found = descend(sample.constraint, descent, lambda w, _: _gradient(sample, w, radius))
    return problem.excess_risk(found.value).value


def _gradient(sample: Sample, w: Vector, radius: float | None) -> Vector:
    if radius is None:
        return sample.mean_gradient(w)
    return clipped_mean(sample.gradients(w), radius)


def _evaluate(
    problem: OptimisationProblem, steps: NDArray[np.intp], points: Vector, final: float
) -> RiskPath:
    shown = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), SHOWN_POINTS)).round())
    chosen = shown.astype(np.intp)
    risks = np.array([problem.excess_risk(points[i]).value for i in chosen])
    assert math.isfinite(final)
    return RiskPath(steps=steps[chosen], risks=risks, final=final)
