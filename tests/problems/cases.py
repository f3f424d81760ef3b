"""Every problem on every law, and what is measured of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_core.catalogue import distributions_for
from dpsco_core.data import DISTRIBUTIONS
from dpsco_core.data.hard import HardInstance, TwoPoint
from dpsco_core.problems import OPTIMISATION_PROBLEMS, LinearSample
from dpsco_core.problems.points import PointProblem

Vector = NDArray[np.float64]
POINTS = tuple(p for p in OPTIMISATION_PROBLEMS if issubclass(p, PointProblem))
MODELS = tuple(p for p in OPTIMISATION_PROBLEMS if p not in POINTS)
HARD = tuple(law for law in DISTRIBUTIONS if issubclass(law, TwoPoint))
ORDINARY = tuple(law for law in DISTRIBUTIONS if not issubclass(law, HardInstance))
PAIRS = [
    (problem, law)
    for problem in OPTIMISATION_PROBLEMS
    for law in DISTRIBUTIONS
    if law.card.slug in distributions_for(problem.card.slug)
]
IDS = [f"{problem.card.slug}-{law.card.slug}" for problem, law in PAIRS]

# This is the number of standard errors: with fewer than 500 checks a test, the false-alarm rate is
# below 1e-6.
SIGMAS = 6.0


def make(
    problem: Any,
    law: Any,
    *,
    d: int = 3,
    p: float = 2.5,
    margin: float = 6.0,
    radius: float = 1.5,
    offset: float = 0.8,
    spike_probability: float = 0.3,
    seed: int = 7,
) -> Any:
    """Return a problem on a law; the pattern of a hard instance is drawn."""
    order = problem.feature_order(p)
    if issubclass(law, HardInstance):
        records = law(d=d, moment_order=order, spike_probability=spike_probability)
    else:
        shift = offset if problem in POINTS else 0.0
        records = law(d=d, moment_order=order, margin=margin, offset=shift)
    if problem in POINTS:
        example = problem(distribution=records, radius=radius)
    else:
        example = problem(features=records, radius=radius, offset=offset)
    return example.draw(np.random.default_rng(seed))


def in_ball(problem: Any, rng: np.random.Generator) -> Vector:
    """Return a random point of the constraint set, on its boundary every other time."""
    direction = rng.standard_normal(problem.constraint.d)
    size = problem.constraint.radius * (1.0 if rng.random() < 0.5 else rng.random())
    return np.asarray(direction * (size / np.linalg.norm(direction)))


def losses(sample: Any, w: Vector) -> Vector:
    """Return the loss of every record."""
    if isinstance(sample, LinearSample):
        factors = 1.0 if sample.shrink is None else sample.shrink
        return sample.link.value(factors * (sample.features.x @ w), sample.targets)
    return np.asarray(sample.loss.value(w, sample.points.x))


def dense(rows: Any) -> Vector:
    """Return all rows as one array."""
    return np.concatenate(list(rows.blocks()))
