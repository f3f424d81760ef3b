"""The records of users with several records each, for mean estimation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.data.rows import DenseRows, rows_per_block


class Countable(Protocol):
    """A collection of n records of dimension d, or of n samples of a problem of d parameters."""

    @property
    def n(self) -> int:
        """The number n of records."""
        ...

    @property
    def d(self) -> int:
        """The dimension d, or the number of parameters."""
        ...


Records = TypeVar("Records", bound=Countable)


@dataclass(frozen=True, eq=False, kw_only=True)
class ByUsers(Generic[Records]):
    """Users with all their records: records i m to (i + 1) m belong to user i."""

    records: Records  # all n times m records
    items: int  # the number m of records of each user, at least 1

    def __post_init__(self) -> None:
        """Refuse a number of items that does not divide the number of records."""
        is_divisible = self.items >= 1 and self.records.n % self.items == 0
        require(is_divisible, "m", f"a divisor of the {self.records.n} records", self.items)

    @property
    def users(self) -> int:
        """The number n of users."""
        return self.records.n // self.items

    @property
    def d(self) -> int:
        """The dimension d of a record."""
        return self.records.d


@dataclass(frozen=True, eq=False, kw_only=True)
class UserRows(ByUsers[DenseRows]):
    """The rows of users, for mean estimation. Neighbours replace all rows of one user."""

    def means(self) -> DenseRows:
        """Return the mean of every user's records, one row per user.

        A mean is not finite if one of its records is not, or if their sum overflows.
        """
        m, d = self.items, self.d
        if m == 1:
            return self.records
        averages = np.empty((self.users, d))
        step = max(1, rows_per_block(d) // m)
        with np.errstate(over="ignore", invalid="ignore"):
            for low in range(0, self.users, step):
                high = min(low + step, self.users)
                items = self.records.read(slice(low * m, high * m))
                averages[low:high] = items.reshape(-1, m, d).sum(axis=1)
        averages /= m
        return DenseRows(averages)
