"""Gradients of losses that are averaged over a small ball: Lowy, Liu and Asi (2024), Lemma D.1."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.data.rows import rows_per_block
from dpsco_core.problems.point_losses import PointLoss
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample, MeanSample, UserSample


def ball_points(count: int, d: int, radius: float, rng: np.random.Generator) -> Vector:
    r"""Return independent uniform points in the ball of radius r in R^d, shape (count, d).

    A point is :math:`rU^{1/d}g/\|g\|`, with U uniform on [0, 1] and g standard normal.
    """
    directions = rng.standard_normal((count, d))
    norms = np.sqrt(np.vecdot(directions, directions))
    lengths = radius * rng.random(count) ** (1 / d)
    points: Vector = directions * (lengths / np.where(norms > 0, norms, 1.0))[:, None]
    return points


def ball_coordinates(count: int, d: int, rng: np.random.Generator) -> Vector:
    r"""Return the first coordinates u of uniform points in the unit ball of R^d, shape (count,).

    The density of u is proportional to :math:`(1-u^2)^{(d-1)/2}`, so that :math:`u = 2V-1` with V
    of the law :math:`Beta(\frac{d+1}2, \frac{d+1}2)`.
    """
    coordinates: Vector = 2 * rng.beta((d + 1) / 2, (d + 1) / 2, size=count) - 1
    return coordinates


@dataclass(frozen=True, eq=False)
class MovedLoss(PointLoss):
    """A loss of points whose gradients are taken at freshly perturbed parameters."""

    loss: PointLoss  # the loss before smoothing
    radius: float  # the radius of the ball from which perturbations are drawn
    rng: np.random.Generator

    needs_only_the_mean = False

    def value(self, w: Vector, points: Vector) -> Vector:
        """Return the losses at w itself, without the random perturbation of the gradients."""
        return self.loss.value(w, points)

    def gradients(self, w: Vector, points: Vector) -> Vector:
        """Return the gradients at perturbed parameters, with one perturbation per point."""
        moves = ball_points(len(points), points.shape[1], self.radius, self.rng)
        return self.loss.gradients(w + moves, points)

    def gradient(self, w: Vector, point: Vector) -> Vector:
        """Return the gradient at a perturbed parameter."""
        return np.asarray(self.gradients(w, point[None, :])[0])


def smoothed_user_gradients(
    sample: UserSample, w: Vector, radius: float, rng: np.random.Generator
) -> Vector:
    r"""Return every user's mean of :math:`\nabla f(w+y, z)`, with a new y per item; (users, d).

    The draws do not depend on the items, and a user's row does not depend on another user's items.
    If only the users' means are known, the losses are at most quadratic. The gradient of
    :math:`f_r` is then that of f, and nothing is drawn.

    The `radius` r is positive.
    """
    require(0 < radius < math.inf, "radius", "finite and above 0", radius)
    if isinstance(sample, MeanSample):
        return sample.user_gradients(w)
    require(isinstance(sample, ItemSample), "sample", "one of items or of means", type(sample))
    assert isinstance(sample, ItemSample)
    records = sample.records
    if isinstance(records, PointSample):
        smoothed = replace(records, loss=MovedLoss(records.loss, radius, rng))
        return replace(sample, records=smoothed).user_gradients(w)
    require(isinstance(records, LinearSample), "sample", "of points or linear", type(records))
    assert isinstance(records, LinearSample)
    return _smoothed_linear_gradients(records, sample.items, w, radius, rng)


def _smoothed_linear_gradients(
    records: LinearSample, m: int, w: Vector, radius: float, rng: np.random.Generator
) -> Vector:
    r"""Return the smoothed user gradients of a generalised linear loss.

    A move enters through :math:`\langle x, y\rangle` only, which has the law of :math:`\|x\|r`
    times a coordinate of a point of the unit ball.
    """
    users, d = records.n // m, records.d
    gradients, norms = np.empty((users, d)), records.features.norms()
    step = max(1, rows_per_block(d) // m)
    with np.errstate(over="ignore", invalid="ignore"):
        for low in range(0, users, step):
            high = min(low + step, users)
            rows = slice(low * m, high * m)
            base = records.features.read(rows)
            margins = base @ w + radius * norms[rows] * ball_coordinates(len(base), d, rng)
            if records.shrink is None:
                slopes = records.link.slope(margins, records.targets[rows])
            else:
                factors = records.shrink[rows]
                slopes = factors * records.link.slope(factors * margins, records.targets[rows])
            blocks = slopes.reshape(-1, 1, m), base.reshape(-1, m, d)
            gradients[low:high] = np.matmul(*blocks)[:, 0]
    gradients /= m
    return gradients
