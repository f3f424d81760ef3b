"""Noise for sequences of steps that a ledger has accounted for as one entry."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.errors import require
from dpsco_core.privacy.mechanisms.noise import gaussian_noise, generalized_gaussian_noise

DRAWN_AT_ONCE = 100_000  # the number of entries drawn at once: under 1 MB


class BudgetExceeded(Exception):
    """A release would exceed the budget or what was accounted for; no noise is drawn."""


@dataclass
class Steps:
    r"""The noise of a sequence of steps that a ledger has accounted for.

    Made by `Ledger.open` of `GaussianSteps`, `ShuffledGaussianSteps` or `ShapedSteps`.

    Parameters
    ----------
    steps : int
        Number of releases that were accounted for.
    size : int
        Number of noisy coordinates of each.
    noise_std : float
        Standard deviation per coordinate; the scale of generalized Gaussian noise.
    exponent : float
        r of noise with density :math:`\propto e^{-\|z\|_r^2/(2\sigma^2)}`; 2 is Gaussian noise.
    """

    steps: int
    size: int
    noise_std: float
    exponent: float = 2.0
    _steps_taken: int = field(default=0, repr=False)

    def noise(self, count: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the noise of the next `count` releases, shape (count, d).

        Raises `InvalidInput` unless `count` is a whole number of at least 0 and `d` the size that
        was accounted for; `BudgetExceeded` if more releases are asked for than were accounted for;
        nothing is drawn.
        """
        self._use(count, d)
        return self._noise_of((count, d), rng)

    def summed_noise(self, count: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
        r"""Return the total noise of the next `count` releases, shape (d,).

        A sum of Gaussian vectors is one of variance :math:`b\sigma^2`, and is drawn as such; other
        noise is drawn vector by vector, a block at a time. Raises what `noise` does.
        """
        self._use(count, d)
        if self.exponent == 2:
            return gaussian_noise(d, self.noise_std * math.sqrt(count), rng)
        total, chunk = np.zeros(d), max(1, DRAWN_AT_ONCE // d)
        for low in range(0, count, chunk):
            total += self._noise_of((min(chunk, count - low), d), rng).sum(axis=0)
        return total

    def idle_noise(self, count: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return noise like `noise`, shape (count, d), for steps that read no record.

        Such steps need no privacy, and do not count as releases.
        """
        self._check(count, d)
        return self._noise_of((count, d), rng)

    def _noise_of(self, shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw Gaussian or generalized Gaussian noise of a shape (rows, d), a release a row."""
        if self.exponent == 2:
            return gaussian_noise(shape, self.noise_std, rng)
        return generalized_gaussian_noise(shape, self.exponent, self.noise_std, rng)

    def _use(self, count: int, d: int) -> None:
        """Count releases as taken; raise `BudgetExceeded` if more are taken than accounted for."""
        self._check(count, d)
        if self._steps_taken + count > self.steps:
            raise BudgetExceeded(
                f"{self._steps_taken + count} steps, and {self.steps} were accounted for"
            )
        self._steps_taken += count

    def _check(self, count: int, d: int) -> None:
        """Raise `InvalidInput` unless the count and the size of releases are valid."""
        # A negative count would give back steps, and one column would be broadcast to all columns.
        whole = isinstance(count, int | np.integer) and count >= 0
        require(whole, "count", "a whole number of at least 0", count)
        require(d == self.size, "d", f"the {self.size} coordinates that were accounted for", d)
