"""The records of people who have several each, for the estimation of a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.data.rows import DenseRows, rows_per_block


@dataclass(frozen=True, eq=False, kw_only=True)
class UserRows:
    """Users whose records are all at hand: rows i m to (i + 1) m are those of user i.

    Neighbours replace all the records of one user.
    """

    records: DenseRows  # n m of them
    items: int  # m, at least 1; the same for every user

    def __post_init__(self) -> None:
        whole = self.items >= 1 and self.records.n % self.items == 0
        require(whole, "m", f"a divisor of the {self.records.n} records", self.items)

    @property
    def users(self) -> int:
        """Number n of users."""
        return self.records.n // self.items

    @property
    def d(self) -> int:
        """Dimension."""
        return self.records.d

    def means(self) -> DenseRows:
        """Return the mean of every user's records, a row a user: of that user's records alone.

        It is not finite where a record is not, or where their sum is beyond the doubles.
        """
        m, d = self.items, self.d
        if m == 1:
            return self.records
        found = np.empty((self.users, d))
        step = max(1, rows_per_block(d) // m)
        with np.errstate(over="ignore", invalid="ignore"):
            for low in range(0, self.users, step):
                high = min(low + step, self.users)
                items = self.records.read(slice(low * m, high * m))
                found[low:high] = items.reshape(-1, m, d).sum(axis=1)
        found /= m
        return DenseRows(found)
