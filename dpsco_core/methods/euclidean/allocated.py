"""Private SGD on randomly allocated records: each takes one of T noisy steps, in secret.

See theory/random-allocation.md, 1 and 2.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.methods.euclidean.lipschitz import clipped_gradient
from dpsco_core.methods.run import Descended, Path
from dpsco_core.privacy import Steps
from dpsco_core.privacy.allocation import AllocatedSteps, allocate_steps
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

STEPS = 100


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """How a run on allocated records is private, and how far its steps go."""

    certificate: AllocatedSteps
    noise_std: float  # the deviation of the noise on a sum
    step_size: float  # what multiplies a sum over n/T


def allocated(setting: Setting, steps: int | None, lipschitz: float) -> Allocation:
    """Return the noise and the step size of T steps; the smaller of n and 100 if `steps` is None.

    Raises `NotApplicable` unless the budget is an (epsilon, delta) one, and `InvalidInput` for more
    steps than records.
    """
    n, budget = setting.n, setting.budget
    if not isinstance(budget, ApproxDP):
        raise NotApplicable("Random allocation is accounted for in (epsilon, delta).", delta=1e-6)
    count = min(n, STEPS) if steps is None else steps
    require(count <= n, "allocated_steps", f"at most the {n:,} records", count)
    certificate = allocate_steps(count, budget.epsilon, budget.delta)
    noise_std, share = certificate.noise_multiplier * lipschitz, count / n
    # The mean square of a step's vector: its number of records is random as well.
    square = lipschitz**2 * (1 + share) + setting.d * (share * noise_std) ** 2
    return Allocation(
        certificate=certificate,
        noise_std=noise_std,
        step_size=setting.constants.diameter / 2 / math.sqrt(count * square),
    )


def allocated_order(
    n: int, steps: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the records in the order of their steps, (n,), and how many each step has, (T,).

    Every record takes one step, uniformly, and independently of all others.
    """
    chosen = rng.integers(steps, size=n).astype(np.intp)
    sizes = np.bincount(chosen, minlength=steps).astype(np.int64)
    return np.argsort(chosen, kind="stable"), sizes


def step_sum(sample: Sample, w: Vector, records: NDArray[np.intp], limit: float) -> Vector:
    """Return the sum of the records' gradients at w, each clipped to the norm `limit`."""
    total = np.zeros(sample.d)
    for record in records.tolist():
        total += clipped_gradient(sample, w, record, limit)
    return total


def run_allocated(
    sample: Sample,
    order: NDArray[np.intp],
    sizes: NDArray[np.int64],
    noise: Steps,
    rng: np.random.Generator,
    step_size: float,
    limit: float,  # the norm to which gradients are clipped
) -> Descended:
    """Run the steps, to the average of the queried points.

    A sum is divided by the public n/T, never by the number of its records, which is secret.
    """
    steps, w, start = len(sizes), sample.constraint.centre, 0
    size, total, path = step_size * steps / sample.n, np.zeros(sample.d), Path(w, steps)
    with np.errstate(over="ignore", invalid="ignore"):  # a record may be anything
        for t, count in enumerate(sizes.tolist()):
            pull = noise.noise(1, sample.d, rng)[0]
            pull += step_sum(sample, w, order[start : start + count], limit)
            start += count
            total += w
            w = sample.constraint.project(w - size * pull)
            path.add(t + 1, w)
    return Descended(value=total / steps, path=path)
