"""Sort and threshold: the projections on the simplex and on the l1 ball.

Held, Wolfe and Crowder (1974). All is measured from the largest entry, so that entries far larger
than the radius cost no accuracy.
"""

from functools import lru_cache

import numpy as np

from dpsco_core.base.arrays import Vector


@lru_cache(maxsize=16)
def _counts(d: int) -> Vector:
    counts = np.arange(1.0, d + 1)
    counts.flags.writeable = False
    return counts


def shrink_to_sum(values: Vector, total: float, top: float) -> Vector:
    r"""Return :math:`(v_j - \tau)_+` with the tau at which the entries sum to `total` > 0.

    It is the projection of v on :math:`\{w \ge 0, \sum_j w_j = \text{total}\}`. O(d log d).

    The `values`, shape (d,), are finite, and `top` is the largest of them.
    """
    below = values - top
    np.maximum(below, -total, out=below)  # what is lower is 0 in the end
    ordered = np.sort(below)[::-1]
    excess = np.cumsum(ordered)
    excess -= total
    counts = _counts(len(values))
    # k entries remain if the k-th largest is above the threshold that k entries would give.
    above = ordered * counts > excess
    above[1:] &= ordered[1:] > -total
    remain = int(np.count_nonzero(above))
    # Summed once more, pairwise: running sums over many entries lose digits.
    below -= (float(ordered[:remain].sum()) - total) / remain
    found: Vector = np.maximum(below, 0.0, out=below)
    return found
