"""Users with several items each: what a user-level optimiser sees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsco_core.data.rows import DenseRows, ScaledRows, rows_per_block
from dpsco_core.errors import require
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.problems.point_sample import PointLoss
from dpsco_core.problems.sample import Sample

Vector = NDArray[np.float64]


class UserSample(Protocol):
    """n users of m items each, with their loss and their constraint set.

    Neighbours replace one user's whole block. Nothing that a user's row holds depends on another
    user's items.
    """

    @property
    def users(self) -> int:
        """Number n of users."""
        ...

    @property
    def items(self) -> int:
        """Number m of items a user."""
        ...

    @property
    def d(self) -> int:
        """Dimension of the parameter."""
        ...

    @property
    def constraint(self) -> ConstraintSet:
        """The constraint set; optimisers start at its centre."""
        ...

    def user_gradients(self, w: Vector) -> Vector:
        """Return every user's mean (sub)gradient at `w`, shape (users, d)."""
        ...

    def part(self, start: int, stop: int) -> UserSample:
        """Return users `start` to `stop` alone, without copying their items."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemSample:
    """Users whose items are all at hand: records i m to (i + 1) m are those of user i.

    Parameters
    ----------
    records : Sample
        n m records.
    items : int
        m, at least 1.
    """

    records: Sample
    items: int

    def __post_init__(self) -> None:
        whole = self.items >= 1 and self.records.n % self.items == 0
        require(whole, "m", f"a divisor of the {self.records.n} records", self.items)

    @property
    def users(self) -> int:
        """Number of users."""
        return self.records.n // self.items

    @property
    def d(self) -> int:
        """Dimension."""
        return self.records.d

    @property
    def constraint(self) -> ConstraintSet:
        """The constraint set."""
        return self.records.constraint

    def user_gradients(self, w: Vector) -> Vector:
        """Return the users' mean gradients, blocks of whole users at a time.

        The gradients of a generalised linear model are never formed: a user's mean is a product
        of its slopes and its features.
        """
        rows, m, d = self.records.gradients(w), self.items, self.d
        found = np.empty((self.users, d))
        step = max(1, rows_per_block(d) // m)
        with np.errstate(over="ignore", invalid="ignore"):
            for low in range(0, self.users, step):
                high = min(low + step, self.users)
                chosen = slice(low * m, high * m)
                if isinstance(rows, ScaledRows):
                    base = rows.x.x[chosen]
                    slopes = rows.coefficients(base, chosen).reshape(-1, 1, m)
                    sums = np.matmul(slopes, base.reshape(-1, m, d))[:, 0]
                else:
                    blocks = list(rows.blocks(low * m, high * m))
                    sums = np.concatenate(blocks).reshape(-1, m, d).sum(axis=1)
                found[low:high] = sums
        found /= m
        return found

    def part(self, start: int, stop: int) -> ItemSample:
        """Return users `start` to `stop` alone."""
        return replace(self, records=self.records.part(start * self.items, stop * self.items))

    def bounded(self, radius: float) -> ItemSample:
        """Return the sample with every item shrunk to norm `radius`; see `Sample.bounded`."""
        return replace(self, records=self.records.bounded(radius))


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanSample:
    """Users of whom only the means of the items matter: a loss whose gradient is linear in them.

    Half the squared distance and the linear loss; m may be a million.

    Parameters
    ----------
    means : DenseRows
        The users' mean items, shape (n, d).
    items : int
        m.
    loss : PointLoss
        With ``needs_only_the_mean``.
    constraint : ConstraintSet
    """

    means: DenseRows
    items: int
    loss: PointLoss
    constraint: ConstraintSet

    def __post_init__(self) -> None:
        linear = self.loss.needs_only_the_mean
        require(linear, "loss", "one whose gradient is linear in the record", self.loss)
        require(self.items >= 1, "m", "a positive integer", self.items)

    @property
    def users(self) -> int:
        """Number of users."""
        return self.means.n

    @property
    def d(self) -> int:
        """Dimension."""
        return self.means.d

    def user_gradients(self, w: Vector) -> Vector:
        """Return the users' mean gradients: those at their mean items."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.loss.gradients(w, self.means.x)

    def part(self, start: int, stop: int) -> MeanSample:
        """Return users `start` to `stop` alone."""
        return replace(self, means=DenseRows(self.means.x[start:stop]))
