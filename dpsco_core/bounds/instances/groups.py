"""Privacy of groups of records under (epsilon, delta)-DP, and tables by the number of spikes."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.bounds.instances.binomial import Floats

# Up to this count the table has a value for every count.
_EXACT_COUNTS = 300


def log_expm1(x: Floats) -> Floats:
    r"""Return :math:`\ln(e^x-1)` for x >= 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(x > 30, x, np.log(np.expm1(np.minimum(x, 30.0)))))


def group_delta(epsilon: float, delta: float, count: Floats) -> Floats:
    r"""Return the delta of a group of b records, which may be infinite.

    .. math:: \delta_b=\delta\frac{e^{b\varepsilon}-1}{e^\varepsilon-1}
    """
    if delta == 0:
        return np.zeros_like(count)
    log = math.log(delta) + log_expm1(epsilon * count) - log_expm1(np.array(epsilon))
    return np.exp(np.minimum(log, 700.0))


@dataclass(frozen=True, eq=False)
class Falling:
    """A function of the number of spikes that never rises, as a table.

    Between two counts of the table the function has its value at the larger one, and beyond the
    last count it is 0.
    """

    counts: Floats  # numbers of spikes, in increasing order
    values: Floats  # the function's values at these counts

    def __call__(self, count: Floats) -> Floats:
        """Return the function at each number of spikes: between two entries, the smaller value."""
        index = np.searchsorted(self.counts, count)
        return np.asarray(np.append(self.values, 0.0)[index])

    @property
    def last_count(self) -> float:
        """The largest number of spikes at which the function is not 0."""
        return float(self.counts[-1])


def falling(counts: Floats, values: Floats) -> Falling:
    """Return the least function that never rises and is at least `values` at `counts`.

    Its table ends where the function is below 1e-12 of its first value.
    """
    values = np.maximum.accumulate(values[::-1])[::-1]
    size = max(1, int(np.count_nonzero(values > 1e-12 * values[0])))
    return Falling(counts[:size], values[:size])


def some_counts(largest: float) -> Floats:
    """Return whole numbers from 0 to `largest`: each one up to 300, above that 0.8 % apart."""
    if largest <= _EXACT_COUNTS:
        return np.arange(math.ceil(largest) + 1.0)
    steps = math.ceil(math.log(largest / _EXACT_COUNTS) / 0.008)
    sparse_counts = np.unique(np.ceil(np.geomspace(_EXACT_COUNTS, largest, steps + 1)))
    return np.concatenate([np.arange(float(_EXACT_COUNTS)), sparse_counts])
