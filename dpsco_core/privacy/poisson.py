"""Gaussian releases on Poisson batches: the accountant is that of dp-accounting, an extra.

Every record is in a batch with the same probability, by a coin of its own, which is what Opacus and
its like draw. Neighbours add or remove one record: the batch has no fixed size, so that a record
may come without another one going.
"""

import importlib.util
import math
from typing import Any

import scipy  # its `optimize` is imported on first use

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import real, whole

EXTRA = "pip install 'dpsco-explorer[accounting]'"
LEAST_NOISE, MOST_NOISE = 1e-2, 1e6
MOST_STEPS = 1_000_000


def poisson_epsilon(noise: float, *, rate: float, steps: int, delta: float) -> float:
    """Return epsilon at delta of Gaussian releases, each on a Poisson batch of its own.

    Parameters
    ----------
    noise : float
        The standard deviation of the noise on a sum, over the largest norm of a record in it.
    rate : float
        The probability with which a record is in a batch, in (0, 1].
    steps : int
        How many releases there are.
    delta : float
        In (0, 1).

    Raises
    ------
    InvalidInput
        If a number is out of range, or dp-accounting is not installed.
    """
    real("noise_multiplier", noise, LEAST_NOISE, MOST_NOISE)
    real("rate", rate, 1e-9, 1.0)
    whole("releases", steps, 1, MOST_STEPS)
    real("delta", delta, 1e-300, 0.999)
    library = _library()
    event = library.GaussianDpEvent(noise)
    if rate < 1:
        event = library.PoissonSampledDpEvent(rate, event)
    relation = library.NeighboringRelation.ADD_OR_REMOVE_ONE
    accountant = library.pld.PLDAccountant(relation)
    accountant.compose(event, steps)
    return float(accountant.get_epsilon(delta))


def poisson_noise(epsilon: float, *, rate: float, steps: int, delta: float) -> float:
    """Return the least noise over a record's norm that is (epsilon, delta)-DP; the inverse.

    Raises `InvalidInput` as `poisson_epsilon` does, and where the noise is out of range.
    """
    real("epsilon", epsilon, 1e-3, 100.0)

    def excess(log_noise: float) -> float:
        cost = poisson_epsilon(math.exp(log_noise), rate=rate, steps=steps, delta=delta)
        return math.log(max(cost, 1e-9) / epsilon)

    # Without sampling the releases need so much; with it no more.
    high = math.log(math.sqrt(steps) * math.sqrt(2 * math.log(2 / delta)) * (1 / epsilon + 1))
    low = math.log(0.3)
    if excess(low) < 0:
        raise InvalidInput(
            f"epsilon must be smaller at so little sampling, got epsilon={epsilon:g}."
        )
    root = scipy.optimize.brentq(excess, low, min(high, math.log(MOST_NOISE)), xtol=1e-4)
    return math.exp(float(root))


def _library() -> Any:
    if importlib.util.find_spec("dp_accounting") is None:
        raise InvalidInput(f"sampling must be fixed without dp-accounting ({EXTRA}), got poisson.")
    import dp_accounting

    return dp_accounting
