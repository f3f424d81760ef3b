r"""Amplification by subsampling: a mechanism on a uniformly random batch without replacement.

Neighbours differ in one of N records, of which the batch holds M (Ullman 2017; Lemma A.8 of Lowy,
Liu and Asi 2024 has the weaker, linear form). Which records are in the batch must stay secret, and
nothing else may look at it: a test of the batch belongs to the mechanism.
"""

from __future__ import annotations

import math

from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.checks import check_count


def subsample(base: ApproxDP, *, drawn: int, count: int) -> ApproxDP:
    r"""Return what an :math:`(\varepsilon_0,\delta_0)`-DP mechanism gives on M of N records.

    :math:`\varepsilon = \ln(1 + \frac MN(e^{\varepsilon_0}-1))`, :math:`\delta = \frac MN\delta_0`:
    `base` itself at M = N, and at most :math:`\frac MN(e^{\varepsilon_0}-1)`.

    Examples
    --------
    >>> print(subsample(ApproxDP(epsilon=1.0, delta=1e-6), drawn=10, count=100))
    (0.1586, 1e-07)-DP
    """
    check_count("count", count)
    check_count("drawn", drawn)
    require(drawn <= count, "drawn", f"at most {count}", drawn)
    if drawn == count:
        return base
    share = drawn / count
    # ln(1 + q(e^x - 1)) = x + ln(q + (1 - q)e^-x), where e^x overflows
    small = base.epsilon < 1
    epsilon = (
        math.log1p(share * math.expm1(base.epsilon))
        if small
        else base.epsilon + math.log(share + (1 - share) * math.exp(-base.epsilon))
    )
    return ApproxDP(epsilon=epsilon, delta=share * base.delta)
