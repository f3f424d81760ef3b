"""Users with several items each, the input of user-level optimisers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import ITEM_BLOCKS, Limits
from dpsco_core.data.base import overrides_answer
from dpsco_core.data.rows import DenseRows, ScaledRows, rows_per_block
from dpsco_core.data.users import ByUsers, UserRows
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.problems.links import FARTHEST
from dpsco_core.problems.point_losses import PointLoss
from dpsco_core.problems.points import PointProblem
from dpsco_core.problems.posed import OptimisationProblem, Problem
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.protocol import Sample

MOST_ELEMENTS = 20_000_000  # the largest n m d at which all items are in memory: 160 MB


class UserSample(Protocol):
    """n users of m items each, with their loss and their constraint set.

    Neighbours replace one user's whole block. The row of a user depends on no other user's items.
    """

    @property
    def users(self) -> int:
        """The number n of users."""
        ...

    @property
    def items(self) -> int:
        """The number m of items per user."""
        ...

    @property
    def d(self) -> int:
        """The dimension of the parameter."""
        ...

    @property
    def constraint(self) -> ConstraintSet:
        """The constraint set; optimisers start at its centre."""
        ...

    def user_gradients(self, w: Vector) -> Vector:
        """Return every user's mean (sub)gradient at `w`, shape (users, d)."""
        ...

    def part(self, start: int, stop: int) -> UserSample:
        """Return users `start` to `stop` only, without copying their items."""
        ...

    def bounded(self, radius: float) -> UserSample:
        """Return the sample with every item, or every user's mean item, shrunk to norm `radius`."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemSample(ByUsers[Sample]):
    """The items of users, with their loss and their constraint set."""

    @property
    def constraint(self) -> ConstraintSet:
        """The constraint set of the records."""
        return self.records.constraint

    def user_gradients(self, w: Vector) -> Vector:
        """Return the users' mean gradients, in blocks of whole users.

        The gradients of a generalised linear model are never formed: a user's mean is a product of
        slopes and features.
        """
        rows, m, d = self.records.gradients(w), self.items, self.d
        gradients = np.empty((self.users, d))
        step = max(1, rows_per_block(d) // m)
        with np.errstate(over="ignore", invalid="ignore"):
            for low in range(0, self.users, step):
                high = min(low + step, self.users)
                item_rows = slice(low * m, high * m)
                if isinstance(rows, ScaledRows):
                    base = rows.x.read(item_rows)
                    slopes = rows.coefficients_of(base, item_rows).reshape(-1, 1, m)
                    sums = np.matmul(slopes, base.reshape(-1, m, d))[:, 0]
                else:
                    blocks = list(rows.blocks(low * m, high * m))
                    items = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
                    sums = items.reshape(-1, m, d).sum(axis=1)
                    # Deleting both frees their memory before the next block is formed.
                    del blocks, items
                gradients[low:high] = sums
        gradients /= m
        return gradients

    def part(self, start: int, stop: int) -> ItemSample:
        """Return the sample of the users from `start` to `stop`."""
        return replace(self, records=self.records.part(start * self.items, stop * self.items))

    def bounded(self, radius: float) -> ItemSample:
        """Return the sample with every item shrunk to norm `radius`; see `Sample.bounded`."""
        return replace(self, records=self.records.bounded(radius))


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanSample:
    """Users represented by the means of their items, for losses with a gradient linear in them.

    These losses are half the squared distance and the linear loss; m may be a million.
    """

    means: DenseRows  # the users' mean items, shape (n, d)
    items: int  # m, the number of items per user
    loss: PointLoss  # it must have `needs_only_the_mean`
    constraint: ConstraintSet

    def __post_init__(self) -> None:
        """Refuse a loss whose gradient is not linear in the record."""
        is_linear = self.loss.needs_only_the_mean
        require(is_linear, "loss", "one whose gradient is linear in the record", self.loss)
        require(self.items >= 1, "m", "a positive integer", self.items)

    @property
    def users(self) -> int:
        """The number of users."""
        return self.means.n

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return self.means.d

    def user_gradients(self, w: Vector) -> Vector:
        """Return the users' mean gradients, which are those at their mean items."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.loss.gradients(w, self.means.read(slice(None)))

    def part(self, start: int, stop: int) -> MeanSample:
        """Return the sample of the users from `start` to `stop`."""
        return replace(self, means=DenseRows(self.means.x[start:stop]))

    def bounded(self, radius: float) -> MeanSample:
        """Return the sample with users' means shrunk to norm `radius`; ones not finite become 0.

        A user whose items are all inside the ball is unchanged, since the mean is inside as well.
        """
        require(0 < radius < math.inf, "radius", "finite and above 0", radius)
        norms = self.means.norms()
        means = self.means.read(slice(None))
        safe = np.where((norms <= FARTHEST)[:, None], means, 0.0)
        factors = radius / np.maximum(np.where(norms <= FARTHEST, norms, 0.0), radius)
        return replace(self, means=DenseRows(factors[:, None] * safe))


def average_users(sample: Any) -> Any:
    """Return a sample of users as a `MeanSample` if the loss needs only users' mean items.

    Any other sample is returned unchanged. A method that reads users' mean gradients therefore gets
    the same numbers whether all items are in memory or only their means.
    """
    if not isinstance(sample, ItemSample) or sample.items == 1:
        return sample
    records = sample.records
    if not isinstance(records, PointSample) or not records.loss.needs_only_the_mean:
        return sample
    # If `bounded` has shrunk the items, their means are not those of the points in memory.
    if math.isfinite(records.limit):
        return sample
    return MeanSample(
        means=UserRows(records=records.points, items=sample.items).means(),
        items=sample.items,
        loss=records.loss,
        constraint=records.constraint,
    )


def pool_items(sample: Any) -> Any:
    """Return all items of users as one sample or as rows, without the division into users.

    A `MeanSample` gives one record per user, and any other argument is returned unchanged.
    """
    if isinstance(sample, UserRows):
        return sample.records
    if isinstance(sample, ItemSample):
        return sample.records
    if isinstance(sample, MeanSample):
        return PointSample(points=sample.means, loss=sample.loss, constraint=sample.constraint)
    return sample


def users_of(sample: Any) -> Any:
    """Return samples of users unchanged, and plain records as users with one item each."""
    if isinstance(sample, UserRows | ItemSample | MeanSample):
        return sample
    if isinstance(sample, DenseRows):
        return UserRows(records=sample, items=1)
    return ItemSample(records=sample, items=1)


def has_exact_means(problem: Problem) -> bool:
    """Return whether a problem's users can be drawn as their mean items alone.

    The loss must need only these means, and the law must be able to draw them.
    """
    if not isinstance(problem, PointProblem) or not problem.loss.needs_only_the_mean:
        return False
    return overrides_answer(type(problem.distribution), "draw_means")


def items_fit(n: int, m: int, d: int) -> bool:
    """Return whether n users with m items of dimension d have at most `MOST_ELEMENTS` numbers."""
    return n * m * d <= MOST_ELEMENTS


def check_size(problem: Problem, n: int, m: int, limits: Limits) -> None:
    """Raise `InvalidInput` if n users with m items are too large for a place's limits.

    If all items are too large, users' means are enough where `has_exact_means`.
    """
    d = problem.constraint.d
    largest = min(ITEM_BLOCKS * limits.elements, MOST_ELEMENTS)
    means = limits.most_elements if m == 1 else limits.elements
    if m == 1 or (n * m * d > largest and has_exact_means(problem)):
        if n * d > means:
            raise InvalidInput(
                f"n times d must be at most {means:,} for {limits.where}, got n={n:,} and d={d:,}."
            )
    elif n * m * d > largest:
        raise InvalidInput(
            f"n times m times d must be at most {largest:,} for {limits.where}, "
            f"got n={n:,}, m={m:,} and d={d:,}."
        )


def sample_users(
    problem: OptimisationProblem, n: int, m: int, rng: np.random.Generator
) -> ItemSample | MeanSample:
    """Return n users with m independent items each.

    It returns all items if they fit. Otherwise it returns the users' means, from their exact law:
    normal items have a normal mean, and the mean of m records of a hard instance is a binomial
    count times its spike.

    Raises `InvalidInput` if the items do not fit and their means have no such law.
    """
    if items_fit(n, m, problem.constraint.d):
        return ItemSample(records=problem.sample(n * m, rng), items=m)
    means = problem.law.draw_means(n, m, rng) if has_exact_means(problem) else None
    if means is None:
        raise InvalidInput(f"m must be smaller, for n m d items to fit, got m={m}.")
    assert isinstance(problem, PointProblem)
    return MeanSample(
        means=DenseRows(means),
        items=m,
        loss=problem.loss,
        constraint=problem.constraint,
    )
