"""The noise of steps to which records are allocated at random, in one pass or in several."""

from dataclasses import dataclass

from dpsco_core.base.parsing import whole
from dpsco_core.privacy.allocated_passes import MOST_PASSES, allocate_passes
from dpsco_core.privacy.allocation import MOST_STEPS, allocate_steps

POINTS = 16  # of the grid for several passes: where nobody waits for a plan


@dataclass(frozen=True, kw_only=True)
class Allocated:
    """The noise of steps to which records are allocated at random."""

    steps: int  # of a pass
    noise_over_norm: float  # on a sum, over the largest norm of what one record adds to it
    passes: int = 1

    @property
    def noise_multiplier(self) -> float:
        """The noise over the sensitivity of a sum, which is twice that norm."""
        return self.noise_over_norm / 2


def allocated(steps: int, epsilon: float, delta: float, passes: int = 1) -> Allocated:
    """Return the noise with which `steps` steps on randomly allocated records are private.

    All of them together, in all `passes`, are then (epsilon, delta)-DP; see `allocate_steps` and
    `allocate_passes`. Raises `InvalidInput` for numbers that are not whole or too large.

    Examples
    --------
    >>> round(allocated(100, 1.0, 1e-6).noise_multiplier, 3)
    0.501
    >>> round(allocated(8, 1.0, 1e-6, passes=10).noise_multiplier, 2)
    4.74
    """
    whole("steps", steps, 1, MOST_STEPS)
    whole("passes", passes, 1, MOST_PASSES)
    certificate = (
        allocate_steps(steps, epsilon, delta)
        if passes == 1
        else allocate_passes(steps, passes, epsilon, delta, POINTS)
    )
    return Allocated(steps=steps, noise_over_norm=certificate.noise_multiplier, passes=passes)
