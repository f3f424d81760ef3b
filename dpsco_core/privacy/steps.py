"""Noise for sequences of steps that a ledger has accounted for as one entry."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpsco_core.errors import require
from dpsco_core.privacy.mechanisms import gaussian_noise


class BudgetExceeded(Exception):
    """A release would spend more than the ledger's budget; nothing was drawn."""


@dataclass
class Steps:
    """Noise for a sequence of steps that a ledger has accounted for.

    Make one with `Ledger.gaussian_steps` or `Ledger.shuffled_steps`.

    Parameters
    ----------
    steps : int
        Number of releases that were accounted for.
    size : int
        Number of noisy coordinates of each.
    noise_std : float
        Standard deviation per coordinate.
    """

    steps: int
    size: int
    noise_std: float
    _used: int = field(default=0, repr=False)

    def noise(self, count: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the noise of the next `count` releases, shape (count, d).

        Raises
        ------
        InvalidInput
            Unless `count` is a whole number of at least 0 and `d` the size that was accounted for.
        BudgetExceeded
            If more releases are asked for than were accounted for; nothing is drawn.
        """
        self._check(count, d)
        if self._used + count > self.steps:
            raise BudgetExceeded(f"{self._used + count} steps, and {self.steps} were accounted for")
        self._used += count
        return gaussian_noise((count, d), self.noise_std, rng)

    def idle_noise(self, count: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return noise of the same law that hides nothing, for steps that look at no record."""
        self._check(count, d)
        return gaussian_noise((count, d), self.noise_std, rng)

    def _check(self, count: int, d: int) -> None:
        # A negative count would give steps back, and one column would be broadcast to all.
        whole = isinstance(count, int | np.integer) and count >= 0
        require(whole, "count", "a whole number of at least 0", count)
        require(d == self.size, "d", f"the {self.size} coordinates that were accounted for", d)
