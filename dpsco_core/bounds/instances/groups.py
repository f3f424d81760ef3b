"""Groups of records under (epsilon, delta)-DP, and functions of how many of them are spikes."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.bounds.instances.binomial import Floats

_EVERY = 300  # counts up to which each one has its own value


def log_expm1(x: Floats) -> Floats:
    r"""Return :math:`\ln(e^x-1)` for x >= 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(x > 30, x, np.log(np.expm1(np.minimum(x, 30.0)))))


def group_delta(epsilon: float, delta: float, count: Floats) -> Floats:
    r"""Return :math:`\delta_b=\delta\frac{e^{b\varepsilon}-1}{e^\varepsilon-1}`, or infinity."""
    if delta == 0:
        return np.zeros_like(count)
    log = math.log(delta) + log_expm1(epsilon * count) - log_expm1(np.array(epsilon))
    return np.exp(np.minimum(log, 700.0))


@dataclass(frozen=True, eq=False)
class Falling:
    """A function of the number of spikes that never rises: its values at some counts.

    Between two of these counts it takes the value at the larger, beyond the last one it is 0.
    """

    counts: Floats
    values: Floats

    def __call__(self, count: Floats) -> Floats:
        at = np.searchsorted(self.counts, count)
        return np.asarray(np.append(self.values, 0.0)[at])

    @property
    def last(self) -> float:
        """The last count at which it is not 0."""
        return float(self.counts[-1])


def falling(counts: Floats, values: Floats) -> Falling:
    """Return the least function that never rises and is nowhere below the values."""
    values = np.maximum.accumulate(values[::-1])[::-1]
    kept = max(1, int(np.count_nonzero(values > 1e-12 * values[0])))
    return Falling(counts[:kept], values[:kept])


def some_counts(last: float) -> Floats:
    """Return counts from 0 to `last`: each one up to 300, then 0.8 % apart."""
    if last <= _EVERY:
        return np.arange(math.ceil(last) + 1.0)
    steps = math.ceil(math.log(last / _EVERY) / 0.008)
    far = np.unique(np.ceil(np.geomspace(_EVERY, last, steps + 1)))
    return np.concatenate([np.arange(float(_EVERY)), far])
