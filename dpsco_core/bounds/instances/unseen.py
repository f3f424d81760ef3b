r"""Lower bounds for every algorithm, private or not, by spikes that do not occur in the sample.

The instance is that of `hypercube`, and the bounds matter for tail indices below 2. With
probability :math:`(1-q)^n` no record is a spike, and then the data say nothing of the signs
:math:`\nu`. See theory/infinite-variance.md, 4.2.
"""

import math
from functools import lru_cache

import numpy as np

from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances.binomial import Floats, maximise, search_range
from dpsco_core.bounds.instances.spikes import check_point, mean_power, mean_scale


def unseen(q: float, n: int, d: int, moment_order: float, form: Form = "l2") -> float:
    r"""Return a lower bound for every algorithm, by the chance that no record is a spike.

    At spike probability q, :math:`\sqrt d\,\theta(1-q)^n` bounds the mean l2 error and the excess
    risk of linear losses on the unit ball, and :math:`d\,\theta^2(1-q)^n` the mean squared error.

    Examples
    --------
    >>> round(unseen(3.33e-5, 10_000, 20, 1.5), 6)
    0.102736
    """
    check_point(q, n, d)
    power = 2 if form == "squared" else 1
    return math.pow(d, power / 2) * mean_scale(q, moment_order, power) * math.pow(1 - q, n)


@lru_cache(maxsize=4096)
def best(n: int, moment_order: float, largest: float, form: Form = "l2") -> float:
    """Return the spike probability in (0, largest] that maximises `unseen`, for every dimension."""
    power = 2 if form == "squared" else 1
    low, high = search_range(1.0, n, largest)

    def values(q: Floats) -> Floats:
        """Return `unseen`, less its factor in d, at each spike probability of `q`."""
        inside = np.minimum(q, 1 - 1e-16)
        return np.asarray(mean_power(q, moment_order, power) * np.exp(n * np.log1p(-inside)))

    return maximise(values, low, high)
