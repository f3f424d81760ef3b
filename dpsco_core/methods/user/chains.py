"""One-pass SGD of many groups at once: C chains, each over its own records, on a (C, d) array."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Matrix, Vector, real_array
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.base.interrupt import between_steps
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.methods.euclidean.lipschitz import Losses
from dpsco_core.methods.records.base import clip_to_ball
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.protocol import Sample
from dpsco_core.problems.samples.users import (
    ItemSample,
    MeanSample,
    UserSample,
    items_fit,
    pool_items,
)

# A function of the chains' points, shape (C, d), and of the range of their records; it returns b
# gradients per chain, shape (C b, d).
Gradients = Callable[[Matrix, int, int], Matrix]

MOST_STEPS = 20_000  # With more steps than this, several items share a step.


@dataclass(frozen=True, kw_only=True)
class Pass:
    r"""One pass of C chains over consecutive records.

    Chain j has records ``first + j length`` to ``first + (j + 1) length``.
    """

    first: int  # the index of the first record
    groups: int  # C, the number of chains
    length: int  # the number of records per chain
    # η, the step size for one record; a step on the mean gradient of b records is b times as large.
    step_size: float
    batch: int  # b, the number of records per step


def chain_averages(sample: Sample, start: Vector, run: Pass, losses: Losses) -> Matrix:
    r"""Return the average of the queried points of every chain, shape (C, d).

    .. math:: w_{t+1} = \Pi\Big(w_t - \eta\sum_{z\in B_t} clip_L(\nabla f(w_t, z))\Big),
        \qquad \tilde x = \frac1T\sum_t |B_t|w_t

    Replacing a user, who owns m records of one chain, moves the average of that chain by at most
    :math:`\min(R, 2\eta Lm)`, and no other. *Proof.* :math:`\tilde x` lies in the set. A
    step of size :math:`b\eta \le 2/\beta` on a convex smooth loss does not move two points apart,
    nor does the projection; each of the user's records adds at most :math:`2\eta L` to their
    distance, once.

    The records of `sample` may be any whose losses have the constants of `losses`. All chains start
    at `start`, shape (d,), a point of the set. Raises `InvalidInput` if the step size is too large
    for the proof.
    """
    largest = run.batch * run.step_size
    small = largest * losses.smoothness <= 2 * (1 + 1e-12)
    require(small, "step_size", f"at most {2 / run.batch}/smoothness", run.step_size)
    is_supported = isinstance(sample, LinearSample | PointSample)
    require(is_supported, "sample", "a sample of points or of a linear model", type(sample))
    assert isinstance(sample, LinearSample | PointSample)
    gradients = (
        _linear_gradients(sample, run)
        if isinstance(sample, LinearSample)
        else _point_gradients(sample, run)
    )
    w = np.repeat(start[None, :], run.groups, axis=0)
    total = np.zeros_like(w)
    # Records may hold any doubles, so overflow and NaN are expected.
    with np.errstate(over="ignore", invalid="ignore"):
        for low in range(0, run.length, run.batch):
            between_steps()
            high = min(low + run.batch, run.length)
            total += (high - low) * w
            rows, weights = clip_to_ball(gradients(w, low, high), losses.lipschitz)
            clipped = weights[:, None] * rows
            if high - low > 1:
                clipped = clipped.reshape(run.groups, high - low, -1).sum(axis=1)
            w = project_rows(sample.constraint, w - run.step_size * clipped)
    total /= run.length
    return total


def project_rows(constraint: ConstraintSet, w: Matrix) -> Matrix:
    """Return the projections of the rows of `w`, shape (C, d), on the set."""
    if isinstance(constraint, Ball):
        norms = np.sqrt(np.vecdot(w, w))
        if norms.max() <= constraint.radius:
            return w
        shrunk: Matrix = w * (constraint.radius / np.maximum(norms, constraint.radius))[:, None]
        return shrunk
    return np.array([constraint.project(row) for row in w])


def batch_size(n: int, m: int, d: int, steps: int, largest_step: float, smoothness: float) -> int:
    r"""Return b, the number of items per step at which a run has about `MOST_STEPS` steps.

    b is only as large as :math:`b\eta_1 \le 1/\beta` allows. If the items do not fit into memory, a
    step reads whole users, and b is a multiple of m.

    `steps` counts the one-pass steps of a chain over all phases; `largest_step` is :math:`\eta_1`.
    """
    fewest = math.ceil(steps / MOST_STEPS)
    slope = smoothness * largest_step
    room = math.inf if slope <= 0 else (1 + 1e-12) / slope
    if items_fit(n, m, d):
        return max(1, min(fewest, math.floor(room) if math.isfinite(room) else fewest))
    users = math.ceil(fewest / m)
    if math.isfinite(room):
        users = min(users, math.floor(room / m))
    return m * max(1, users)


def step_limit(n: int, m: int, d: int, smoothness: float) -> float:
    r"""Return the largest step size for an item, :math:`1/\beta`.

    It is :math:`1/(m\beta)` if the items do not fit into memory, so that a step reads whole users.
    """
    if smoothness <= 0:
        return math.inf
    return 1 / smoothness / (1 if items_fit(n, m, d) else m)


@dataclass(frozen=True, eq=False, kw_only=True)
class Records:
    """The users' items in one row, as the chains read them."""

    sample: Sample  # n m items, or n users' means
    each: int  # the number of items that one record stands for: 1, or m


def records_of(sample: UserSample, batch: int) -> Records:
    """Return all users' items as one sample, not divided into users.

    If only users' means are stored, it has one record per user. Raises `NotApplicable` if only
    means are stored and `batch`, the number of items per step, is not a multiple of the number of
    items per user.
    """
    is_supported = isinstance(sample, ItemSample | MeanSample)
    require(is_supported, "sample", "items or means of users", type(sample))
    assert isinstance(sample, ItemSample | MeanSample)
    if isinstance(sample, ItemSample):
        return Records(sample=pool_items(sample), each=1)
    if batch % sample.items:
        raise NotApplicable(
            f"One-pass steps on {batch} items need the items, and only users' means are held.",
            nearest="choose user.clipped-means",
        )
    return Records(sample=pool_items(sample), each=sample.items)


def _linear_gradients(sample: LinearSample, run: Pass) -> Gradients:
    """Return the gradient function of a generalised linear model: slopes times features."""
    x, y = _split_by_chain(sample.features.x, run), _split_by_chain(sample.targets, run)
    shrink = None if sample.shrink is None else _split_by_chain(sample.shrink, run)

    def gradients(w: Matrix, low: int, high: int) -> Matrix:
        """Return the gradients of items `low` to `high` of every chain, at its point."""
        part = real_array("features", x[:, low:high])
        margins = np.vecdot(part, w[:, None, :])
        if shrink is None:
            slopes = sample.link.slope(margins, y[:, low:high])
        else:
            factors = shrink[:, low:high]
            slopes = factors * sample.link.slope(factors * margins, y[:, low:high])
        rows: Matrix = slopes.reshape(-1, 1) * part.reshape(-1, part.shape[2])
        return rows

    return gradients


def _point_gradients(sample: PointSample, run: Pass) -> Gradients:
    """Return the gradient function of losses of points: each row at the point of its chain."""
    x = _split_by_chain(sample.points.x, run)

    def gradients(w: Matrix, low: int, high: int) -> Matrix:
        """Return the gradients of items `low` to `high` of every chain, at the chain's point."""
        points_of_rows = w if high - low == 1 else np.repeat(w, high - low, axis=0)
        points = real_array("points", x[:, low:high])
        return sample.gradients(points_of_rows).function(points.reshape(len(points_of_rows), -1))

    return gradients


def _split_by_chain(x: NDArray[np.float64], run: Pass) -> NDArray[np.float64]:
    """Return a view of the records of the chains, shape (C, length, ...)."""
    stop = run.first + run.groups * run.length
    return x[run.first : stop].reshape(run.groups, run.length, *x.shape[1:])
