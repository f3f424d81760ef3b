r"""Spikes that no sample shows: what even an algorithm without privacy cannot know below p = 2.

The instance is that of `hypercube`. With probability :math:`(1-q)^n` no record is a spike, and then
the signs :math:`\nu` and :math:`-\nu` are equally likely whatever is answered. See
theory/infinite-variance.md, 4.2.
"""

import math
from functools import lru_cache

import numpy as np

from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances.binomial import Floats, maximise, search_range
from dpsco_core.bounds.instances.spikes import check_point, mean_power, mean_scale


def unseen(q: float, n: int, d: int, moment_order: float, form: Form = "l2") -> float:
    r"""Return the bound by spikes that no sample shows.

    It is :math:`\sqrt d\,\theta(1-q)^n`, or :math:`d\,\theta^2(1-q)^n` for the squared form.

    The first one bounds the mean error and the excess risk of linear losses on the unit ball, the
    second one the mean squared error, at spike probability q.

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
    """Return the q in (0, largest] that maximises `unseen`; it does not depend on d."""
    power = 2 if form == "squared" else 1
    low, high = search_range(1.0, n, largest)

    def values(q: Floats) -> Floats:
        """Return the bound at every spike probability."""
        inside = np.minimum(q, 1 - 1e-16)
        return np.asarray(mean_power(q, moment_order, power) * np.exp(n * np.log1p(-inside)))

    return maximise(values, low, high)
