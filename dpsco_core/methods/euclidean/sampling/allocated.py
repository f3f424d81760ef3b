"""Private SGD on randomly allocated records: each takes one of T noisy steps, in secret.

See theory/random-allocation.md, 1 and 2.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest
from dpsco_core.methods.access import Selected
from dpsco_core.methods.euclidean.lipschitz import clipped_gradient
from dpsco_core.methods.euclidean.sampling.moving import Move
from dpsco_core.methods.records.base import sampled_budget
from dpsco_core.methods.run import Descended, Path
from dpsco_core.methods.sampled import selected_sum
from dpsco_core.privacy import Steps
from dpsco_core.privacy.allocation import QUICK_POINTS, AllocatedSteps, allocate_steps
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

STEPS = 100  # the default number of steps T
# The candidate numbers of steps: few enough that their certificates stay in the cache.
COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
RARE = 3.0  # a likelihood ratio that a single step rarely exceeds
FEW_RECORDS = 12  # Up to this many records are processed one by one.


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """The privacy proof, noise and step size of a run on randomly allocated records."""

    certificate: AllocatedSteps
    noise_std: float  # the standard deviation of the noise on a sum of gradients
    step_size: float  # η, by which a step's sum of gradients is multiplied once divided by n/T


def plan_allocation(setting: Setting, steps: int | None, lipschitz: float) -> Allocation:
    """Return noise and step size of T steps; without `steps`, T is the smaller of n and 100.

    Raises `NotApplicable` unless the budget is an (epsilon, delta) one, and `InvalidInput` for more
    steps than records.
    """
    n, budget = setting.n, sampled_budget(setting)
    count = min(n, STEPS) if steps is None else steps
    require(count <= n, "allocated_steps", f"at most the {n:,} records", count)
    certificate = allocate_steps(count, budget.epsilon, budget.delta, QUICK_POINTS)
    noise_std, share = certificate.noise_multiplier * lipschitz, count / n
    # `square` bounds the mean square of a step's vector, which varies with the random number of
    # records as well.
    square = lipschitz**2 * (1 + share) + setting.d * (share * noise_std) ** 2
    return Allocation(
        certificate=certificate,
        noise_std=noise_std,
        step_size=setting.constants.diameter / 2 / math.sqrt(count * square),
    )


def best_count(setting: Setting) -> int:
    r"""Return the number of steps in `COUNTS` that minimises the modelled risk.

    For T steps the risk is proportional to the root of
    :math:`\frac1T(1+\frac Tn+d\sigma^2\frac{T^2}{n^2})`, with :math:`\sigma` the noise multiplier
    of `modelled_noise`.
    """
    n, d = setting.n, setting.d

    def bound(count: int) -> float:
        """Return the square of the modelled risk, up to a factor, for a number of steps."""
        share = count / n
        return (1 + share + d * (share * modelled_noise(setting, count)) ** 2) / count

    return smallest([count for count in COUNTS if count <= n], bound, what="number of steps")


def modelled_noise(setting: Setting, count: int) -> float:
    r"""Return an approximate noise multiplier for `count` steps, without an accountant.

    It is 1/s, with s the smaller value of two models (theory/random-allocation.md, 5): a central
    limit theorem for all steps, and the record's own step alone. s is at least the root of rho.

    Examples
    --------
    >>> from dpsco_core.scenario import Scenario
    >>> setting = Scenario(problem="huber", methods=("sco.erm",), n=1000, d=3).setting
    >>> round(modelled_noise(setting, 1000), 2)  # 0.70 is certified
    0.73
    """
    rho, budget = setting.gaussian_rho, sampled_budget(setting)
    if count == 1:
        return math.sqrt(2 / rho)
    square = math.asinh(rho * count / 2)
    rare = count * math.expm1(min(budget.epsilon, 100.0))
    if rare >= RARE:
        quantile = -float(ndtri(budget.delta))
        square = min(square, (math.sqrt(quantile**2 + 2 * math.log(rare)) - quantile) ** 2)
    return 1 / math.sqrt(max(square, rho))


def step_sum(sample: Sample, w: Vector, records: NDArray[np.intp], limit: float) -> Vector:
    """Return the sum of the records' gradients at w, each clipped to the norm `limit`."""
    if len(records) > FEW_RECORDS:
        return selected_sum(Selected(rows=sample.gradients(w), places=records), limit)
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
    *,
    # Shape (d,): the first point; None stands for the centre of the constraint set.
    start: Vector | None = None,
    # A function of a point w and a pull that returns the next point; None stands for the projection
    # of their difference.
    move: Move | None = None,
) -> Descended:
    """Run one noisy step per entry of `sizes` and return the average of the queried points.

    `order` has the records in the order of their steps, and `sizes` the number of records of each
    step. A sum is divided by the public n/T, never by the number of its records, which is secret.
    """
    project = sample.constraint.project
    move = (lambda w, pull: project(w - pull)) if move is None else move
    w, steps, low = sample.constraint.centre if start is None else start, len(sizes), 0
    size, total, path = step_size * steps / sample.n, np.zeros(sample.d), Path(w, steps)
    # Records may hold any doubles, so overflow and NaN are expected.
    with np.errstate(over="ignore", invalid="ignore"):
        for t, count in enumerate(sizes.tolist()):
            pull = noise.noise(1, sample.d, rng)[0]
            pull += step_sum(sample, w, order[low : low + count], limit)
            low += count
            total += w
            w = move(w, size * pull)
            path.add(t + 1, w)
    return Descended(value=total / steps, path=path)
