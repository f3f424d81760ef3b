r"""Why noise that cancels helps: the noise of a sum of steps, correlated and independent.

Both hide a record of one step equally well, at the same rho. In units of what a record moves one
step by, over the root of :math:`2\rho`, independent noise has a standard deviation of 1 at every
step and :math:`\sqrt t` in the sum of t of them; correlated noise is larger in a step and
:math:`\kappa_T\kappa_t` in the sum (theory/practice.md, 1.3).
"""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.mechanisms.correlated import inverse_coefficients, root_coefficients
from dpsco_core.privacy.mechanisms.noise import gaussian_noise
from dpsco_core.runs.study import stream


@dataclass(frozen=True, eq=False, kw_only=True)
class Cancelling:
    """The noise of steps and of their sums, after each of T steps; all of shape (T,)."""

    step_std: Vector  # the standard deviation of the noise in a step; 1 for independent noise
    sum_std: Vector  # the standard deviation of the noise in the sum of all steps so far
    independent_std: Vector  # the standard deviation of the sum for independent noise
    sum_path: Vector  # one path of the noise in the sum
    independent_path: Vector  # one path of the sum for independent noise, from the same draws


def cancelling(steps: int, seed: int = 0) -> Cancelling:
    """Return the noise of the given number of steps, with one path of each kind.

    Examples
    --------
    >>> noise = cancelling(100)
    >>> round(float(noise.sum_std[-1]), 2), float(noise.independent_std[-1])
    (2.53, 10.0)
    """
    require(1 <= steps <= 10_000, "steps", "between 1 and 10,000", steps)
    roots, inverses = root_coefficients(steps), inverse_coefficients(steps)
    norms = np.sqrt(np.cumsum(np.square(roots)))
    draws = gaussian_noise(steps, 1.0, stream(seed, "noise that cancels", steps))
    return Cancelling(
        step_std=norms[-1] * np.sqrt(np.cumsum(np.square(inverses))),
        sum_std=norms[-1] * norms,
        independent_std=np.sqrt(np.arange(1, steps + 1)),
        sum_path=norms[-1] * np.convolve(roots, draws)[:steps],
        independent_path=np.cumsum(draws),
    )
