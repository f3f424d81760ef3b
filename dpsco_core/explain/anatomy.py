"""One run taken apart: its path, its gradients, and the four parts of its error.

The private run goes through a ledger like any other. The runs beside it, without noise or without
clipping, are for comparison only: they release nothing and are not private.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, NotApplicable, require
from dpsco_core.catalogue import HARD_INSTANCES, make_method, method_card
from dpsco_core.data import Tracing
from dpsco_core.data.rows import row_norms
from dpsco_core.explain.error_parts import PARTS, Split, ladder_parts
from dpsco_core.methods.base import released
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.euclidean.clipped import ClippedDescent
from dpsco_core.methods.records.base import clip_scaled, clipped_mean
from dpsco_core.methods.run import Descended, descend
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import OptimisationProblem, Sample
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.runs.cost import EVALUATION, machine_speed, release_seconds
from dpsco_core.runs.study import canonical, data_point, planned, stream
from dpsco_core.scenario import Scenario

# the number of points of a path that are shown; every point costs an evaluation of the risk
SHOWN_POINTS = 40
# The large sample has this many times n records, as far as `LARGEST_ELEMENTS` allows.
LARGE_SAMPLE = 10
LARGEST_ELEMENTS = 2_000_000
SHOWN_NORMS = 20_000
# The average risk of the centre starts with the fewest members of a prior. Their number is doubled
# until the relative standard error is small enough, or up to the largest number.
FEWEST_MEMBERS, MOST_MEMBERS, MEMBERS_ERROR = 16, 1024, 0.01
# The error is taken apart at these multiples of the chosen clip radius.
FACTORS = tuple(2.0 ** (k / 2) for k in range(-6, 7))
# The descents of one group run side by side, and read the records once.
FACTOR_GROUPS = FACTORS[:7], FACTORS[7:]


@dataclass(frozen=True, eq=False, kw_only=True)
class RiskPath:
    """The excess risk along a run."""

    steps: NDArray[np.int64]  # the numbers of steps done, from 0, shape (k,)
    risks: Vector  # the excess population risk after these steps, shape (k,)
    points: Vector  # the iterates after these steps, shape (k, d)
    value: Vector  # the released point, shape (d,), which may be an average of iterates
    final: float  # the excess risk of the released point


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorParts:
    """Four parts of the excess risk of clipped gradient descent, by clip radius; they add up.

    The steps and the step size are the same at every radius. The parts come from the four runs of
    `ladder_parts`: on a large sample without clipping, whose risk is due to optimisation; on the
    same sample with clipping; on n records; and with noise. The risk is in excess of that of the
    true minimiser, and for the squared distance these are the parts of `SquaredParts`. A part may
    be negative, because clipping can help.
    """

    radii: Vector  # the clip radii, shape (k,)
    # the parts of the error, means over the trials, all of shape (k,)
    optimisation: Vector
    bias: Vector
    sampling: Vector
    noise: Vector
    chosen: float  # the radius that the tuning chooses

    @property
    def total(self) -> Vector:
        """The excess risk of the private run, shape (k,)."""
        return self.optimisation + self.bias + self.sampling + self.noise

    def at(self, radius: float) -> Split:
        """Return the parts at a radius, linear in its logarithm between two of `radii`."""
        optimisation, bias, sampling, noise = (
            float(np.interp(math.log(radius), np.log(self.radii), getattr(self, name)))
            for name in PARTS
        )
        return optimisation, bias, sampling, noise


def draw_problem(point: Scenario, trial: int = 0) -> tuple[OptimisationProblem, Sample]:
    """Return the optimisation problem at `point`, drawn from its prior, and n records.

    The problem and the records do not depend on the methods, the calibration or the tuning. They
    depend on the budget only if their law is a hard instance.

    Raises `InvalidInput` for mean estimation, which has no gradients.
    """
    return _draw_problem(data_point(canonical(point)), trial)


@lru_cache(maxsize=2)
def _draw_problem(point: Scenario, trial: int) -> tuple[OptimisationProblem, Sample]:
    """Return a problem and its sample of n records; the cache serves all parts of a figure."""
    rng = stream(point.seed, f"anatomy {point.to_query()}", trial)
    problem = point.instance.problem
    if not isinstance(problem, OptimisationProblem):
        raise InvalidInput(f"problem must be an optimisation problem, got problem={point.problem}.")
    problem = problem.draw(rng)
    return problem, problem.sample(point.n, rng)


def _large_rows(point: Scenario) -> int:
    """Return the number of records in the large sample."""
    return max(point.n, min(LARGE_SAMPLE * point.n, LARGEST_ELEMENTS // point.d))


@lru_cache(maxsize=1)
def _large_sample(point: Scenario, trial: int) -> Sample:
    """Return a sample of the same problem with up to `LARGE_SAMPLE` times as many records."""
    problem, _ = _draw_problem(point, trial)
    return problem.sample(
        _large_rows(point), stream(point.seed, f"large {point.to_query()}", trial)
    )


def starting_risk(point: Scenario) -> float:
    """Return the excess risk of the set's centre, at which optimisers start without any data.

    For a hard instance it is the mean over the prior, as in the lower bounds on the instance.
    Members of the prior are drawn from a fixed seed until the standard error is 1 % or there are
    1024 of them. The mean is exact if all members have the same error, as in most instances, and if
    the error is a multiple of the squared norm of the mean, whose own mean is known (tracing with a
    squared distance).
    """
    # The fields on which a population risk does not depend take fixed values.
    point = replace(canonical(point), seed=0, calibration="tight", tuning="practical")
    # Only the prior of a hard instance depends on n and the budget.
    if point.distribution not in HARD_INSTANCES:
        point = replace(point, n=1, epsilon=1.0, delta=1e-6, rho=None)
    return _starting_risk(point)


@lru_cache(maxsize=1000)
def _starting_risk(point: Scenario) -> float:
    """Return the mean excess risk of the centre of the set over the members of the prior."""
    rng, problem = stream(point.seed, "start", 0), point.instance.problem
    if point.distribution not in HARD_INSTANCES:
        return problem.draw(rng).excess_risk(problem.constraint.centre).value
    law = problem.law
    is_tracing = isinstance(law, Tracing)
    # The ratio estimator uses a quantity of known mean that is nearly proportional to the risk.
    mean_size = law.mean_norm**2 / (1 + law.shape) if isinstance(law, Tracing) else 1.0
    risks, sizes = np.empty(0), np.empty(0)
    while len(risks) < MOST_MEMBERS:
        members = [problem.draw(rng) for _ in range(len(risks) or FEWEST_MEMBERS)]
        drawn = [member.excess_risk(member.constraint.centre).value for member in members]
        norms = [float(np.linalg.norm(m.law.mean)) if is_tracing else 1.0 for m in members]
        risks, sizes = np.append(risks, drawn), np.append(sizes, np.square(norms))
        ratio = float(np.mean(risks)) / float(np.mean(sizes))
        error = float(np.std(risks - ratio * sizes)) / math.sqrt(len(risks))
        if error <= MEMBERS_ERROR * abs(float(np.mean(risks))):
            break
    return ratio * mean_size


def risk_path(point: Scenario, method: str, trial: int = 0, factor: float = 1.0) -> RiskPath:
    """Return the excess risk along one run of an optimiser.

    Clipped gradients, the method to which `factor` applies, run at this multiple of their radius,
    with the same steps: the ledger is given that radius, and the noise grows with it.
    """
    optimiser = make_method(method, point.calibration, point.tuning)
    if factor != 1.0:
        is_single = method == ClippedDescent.card.slug
        require(is_single, "factor", f"1 for any method but {ClippedDescent.card.slug}", factor)
        descent, chosen = clipped_plan(point)
        optimiser = ClippedDescent(
            radius=factor * chosen, descent=descent, calibration=point.calibration
        )
    plan = planned(point, method) if factor == 1.0 else optimiser.plan(point.setting)
    problem, sample = draw_problem(point, trial)
    noise = stream(point.seed, f"anatomy noise {method} {canonical(point).to_query()}", trial)
    release = released(optimiser, sample, plan, Ledger(point.budget), noise)
    if release.iterates is None or release.iterate_steps is None:
        ends = np.array([problem.constraint.centre, release.value])
        return _evaluate_path(problem, np.array([0, 1], dtype=np.int64), ends, release.value)
    return _evaluate_path(problem, release.iterate_steps, release.iterates, release.value)


def descent_path(
    point: Scenario, descent: Descent, radius: float | None, trial: int = 0
) -> RiskPath:
    """Return the path of gradient descent without noise, clipped at `radius` or not at all."""
    problem, sample = draw_problem(point, trial)
    descended = _run_noiseless_descent(sample, descent, radius)
    return _evaluate_path(problem, descended.path.steps, descended.path.points, descended.value)


def clipped_plan(point: Scenario) -> tuple[Descent, float]:
    """Return the steps and the clip radius that `sco.clipped` takes at `point`."""
    plan = ClippedDescent(calibration=point.calibration, tuning=point.tuning).plan(point.setting)
    assert isinstance(plan.descent, Descent)
    return plan.descent, plan.diagnostics["clip_radius"]


def method_descent(point: Scenario, method: str) -> Descent | None:
    """Return the steps of an optimiser that descends along full gradients; None for any other."""
    plan = planned(point, method)
    descent = plan.descent if isinstance(plan, DescentPlan) else None
    return descent if isinstance(descent, Descent) and method_card(method).level == "item" else None


def gradient_norms(point: Scenario, w: Vector | None = None, trial: int = 0) -> Vector:
    """Return the norms of at most 20,000 per-sample gradients at `w` (None: at the minimiser)."""
    problem, sample = draw_problem(point, trial)
    rows = sample.gradients(problem.minimiser if w is None else w)
    shown_count = min(sample.n, SHOWN_NORMS)
    return np.concatenate([row_norms(block) for block in rows.blocks(0, shown_count)])


def share_clipped(norms: Vector, radius: float) -> float:
    """Return the share of gradients that are longer than `radius`, in [0, 1]."""
    return float(np.mean(norms > radius))


def error_split(point: Scenario, factor: float, trial: int = 0) -> Split:
    """Return the four parts of one trial at a radius `factor` times the chosen one.

    The noise of a trial is the same at all radii but for its scale.
    """
    require(0 < factor < math.inf, "factor", "finite and positive", factor)
    descent, chosen = clipped_plan(point)
    radius = factor * chosen
    problem, sample = draw_problem(point, trial)
    exact = _unclipped_risk(data_point(canonical(point)), descent, trial)
    # No gradient is longer than the Lipschitz constant, so all larger radii are equivalent.
    longest = point.setting.constants.lipschitz
    group = next((group for group in FACTOR_GROUPS if factor in group), (factor,))
    radii = tuple(dict.fromkeys(min(f * chosen, longest) for f in group))
    risks = _clipped_risks(data_point(canonical(point)), descent, radii, trial)
    clipped, unclipped = risks[radii.index(min(radius, longest))]
    method = ClippedDescent(radius=radius, descent=descent, calibration=point.calibration)
    rng = stream(point.seed, f"anatomy parts {canonical(point).to_query()}", trial)
    plan = method.plan(point.setting)
    release = released(method, sample, plan, Ledger(point.budget), rng)
    private = problem.excess_risk(release.value).value
    return ladder_parts(exact, clipped, unclipped, private)


def split_seconds(point: Scenario) -> float:
    """Return the predicted seconds of one call of `error_split`.

    Such a call descends on the sample, with and without noise, and on a sample ten times as large.
    """
    large = replace(point, n=_large_rows(point))
    seconds, endless = (release_seconds(p, ClippedDescent.card.slug) for p in (point, large))
    return machine_speed() * (2 * seconds + endless + 3 * EVALUATION)


def gather(
    point: Scenario, factors: Sequence[float], splits: Sequence[Sequence[Split]]
) -> ErrorParts:
    """Return the mean parts of the error over the trials, at each of `factors`.

    ``splits[trial][k]`` is what `error_split` returns for that trial at ``factors[k]``.
    """
    require(len(splits) >= 1, "trials", "at least 1", len(splits))
    _, chosen = clipped_plan(point)
    parts = dict(zip(PARTS, np.array(splits, dtype=np.float64).mean(axis=0).T, strict=True))
    radii = chosen * np.array(factors, dtype=np.float64)
    return ErrorParts(radii=radii, chosen=chosen, **parts)


@lru_cache(maxsize=8)
def _clipped_risks(
    point: Scenario, descent: Descent, radii: tuple[float, ...], trial: int
) -> list[tuple[float, float]]:
    """Return, for each radius, the excess risks of two noiseless clipped descents.

    The first descent is on the large sample, and the second on n records.
    """
    problem, sample = _draw_problem(point, trial)
    samples = _large_sample(point, trial), sample
    ends = (_final_points_of_clipped_descents(s, descent, np.array(radii)) for s in samples)
    risks = ([problem.excess_risk(w).value for w in points] for points in ends)
    return list(zip(*risks, strict=True))


def _final_points_of_clipped_descents(sample: Sample, descent: Descent, radii: Vector) -> Vector:
    """Return the released point of a noiseless descent at each radius, shape (k, d)."""
    if isinstance(sample, LinearSample) and sample.shrink is None:
        means = partial(_clipped_mean_gradients, sample, radii)
        return descend(sample.constraint, descent, means, len(radii)).value
    return np.array([_run_noiseless_descent(sample, descent, radius).value for radius in radii])


@lru_cache(maxsize=8)
def _unclipped_risk(point: Scenario, descent: Descent, trial: int) -> float:
    """Return the excess risk of a descent on the large sample, without noise or clipping."""
    problem, _ = _draw_problem(point, trial)
    value = _run_noiseless_descent(_large_sample(point, trial), descent, None).value
    return problem.excess_risk(value).value


def _clipped_mean_gradients(sample: LinearSample, radii: Vector, points: Vector, _: int) -> Vector:
    """Return the mean gradient at each of `points`, clipped at its own radius, shape (k, d)."""
    total = np.zeros_like(points)
    norms, low = sample.features.norms(), 0
    for block in sample.features.blocks():
        rows = slice(low, low + len(block))
        slopes = sample.link.slope(points @ block.T, sample.targets[rows])
        base, weights = clip_scaled(block, slopes, norms[rows], radii[:, None])
        total += weights @ base
        low += len(block)
    return total / sample.n


def _run_noiseless_descent(sample: Sample, descent: Descent, radius: float | None) -> Descended:
    """Run a noiseless descent on a sample, with gradients clipped at `radius` unless it is None."""

    def gradient(w: Vector, _: int) -> Vector:
        """Return the mean gradient at `w`, clipped if there is a radius."""
        if radius is None:
            return sample.mean_gradient(w)
        return clipped_mean(sample.gradients(w), radius)

    return descend(sample.constraint, descent, gradient)


def _evaluate_path(
    problem: OptimisationProblem, steps: NDArray[np.int64], points: Vector, value: Vector
) -> RiskPath:
    """Return the path of a run, with the excess risk at up to `SHOWN_POINTS` of its points."""
    indices = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), SHOWN_POINTS)).round())
    chosen = indices.astype(np.intp)
    risks = np.array([problem.excess_risk(points[i]).value for i in chosen])
    final = problem.excess_risk(value).value
    assert math.isfinite(final)
    return RiskPath(
        steps=steps[chosen], risks=risks, points=points[chosen], value=value, final=final
    )


def single_runs(point: Scenario, method: str, factor: float = 1.0) -> dict[str, RiskPath]:
    """Return one private run, under ``"private"``, with the noiseless runs beside it.

    `factor` multiplies the clip radius of clipped gradients, and is ignored for other methods.

    For clipped gradients ``"clipped"`` has the same steps without noise. ``"exact"`` has the steps
    without noise or clipping; if the method takes no steps along full gradients, these are the
    steps of clipped gradients. A run that cannot be made is left out.

    Raises `NotApplicable` where the method cannot run.
    """
    clips = method == ClippedDescent.card.slug
    runs = {"private": risk_path(point, method, factor=factor if clips else 1.0)}
    chosen_descent = method_descent(point, method)
    try:
        descent, radius = clipped_plan(point)
    except NotApplicable:
        if chosen_descent is None:
            return runs
        descent, radius = chosen_descent, math.inf
    if clips:
        runs["clipped"] = descent_path(point, descent, factor * radius)
    runs["exact"] = descent_path(point, chosen_descent or descent, None)
    return runs
