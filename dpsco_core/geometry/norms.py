"""The l_q norms, stable at every scale: their duals and ratios, and shrinking to a sum."""

import math
from functools import lru_cache

import numpy as np

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.base.errors import require

# A sum of squares above this number has lost no digits to underflow.
SAFE_SQUARE = 1e-280


def lq_norm(x: Vector, exponent: float) -> float:
    r"""Return the norm :math:`\|x\|_q = (\sum_j |x_j|^q)^{1/q}`.

    The largest entry is divided out first, so that nothing overflows or underflows on the way.

    Parameters
    ----------
    x : array, shape (d,)
    exponent : float
        q, at least 1; infinity is the largest absolute value.

    Examples
    --------
    >>> round(lq_norm(np.array([3e200, -4e200]), 2.0) / 1e200, 12)
    5.0
    """
    check_exponent(exponent)
    if exponent == 2:
        square = float(np.vdot(x, x))
        if SAFE_SQUARE < square < math.inf:
            return math.sqrt(square)
    size = np.abs(x)
    top = float(np.maximum.reduce(size, initial=0.0))
    if top == 0 or math.isinf(top) or math.isinf(exponent):
        return top
    size /= top
    if exponent == 1:
        return top * float(np.add.reduce(size))
    if exponent == 2:
        return top * math.sqrt(float(size @ size))
    total = float(np.add.reduce(size**exponent))
    return top * math.pow(total, 1 / exponent)


def row_norms(x: Matrix, exponent: float) -> Vector:
    r"""Return the norm :math:`\|x_i\|_q` of every row of `x`, shape (n, d): shape (n,)."""
    check_exponent(exponent)
    size = np.abs(x)
    top: Vector = size.max(axis=1, initial=0.0)
    if math.isinf(exponent):
        return top
    # The norm of a row of zeros, or of a row with an infinity, is its largest entry, unscaled.
    ordinary = (top > 0) & (top < math.inf)
    size /= np.where(ordinary, top, 1.0)[:, None]
    size[~ordinary & ~np.isnan(top)] = 0
    total = (size**exponent).sum(axis=1) ** (1 / exponent)
    norms: Vector = top * np.where(ordinary, total, 1.0)
    return norms


def unit_vector(x: Vector, exponent: float) -> Vector:
    r"""Return the vector :math:`x/\|x\|_q` of norm 1, and 0 for x = 0; shape (d,).

    Examples
    --------
    >>> unit_vector(np.array([3e-320, 0.0]), 2.0)
    array([1., 0.])
    """
    top = float(np.abs(x).max(initial=0.0))
    if top == 0:
        return np.zeros(len(x))
    scaled = x / top
    unit: Vector = scaled / lq_norm(scaled, exponent)
    return unit


def dual_exponent(exponent: float) -> float:
    """Return the exponent of the dual norm: q/(q - 1), with 1 and infinity dual to each other.

    Examples
    --------
    >>> dual_exponent(1.5), dual_exponent(1.0), dual_exponent(math.inf)
    (3.0, inf, 1.0)
    """
    check_exponent(exponent)
    if exponent == 1:
        return math.inf
    return 1.0 if math.isinf(exponent) else exponent / (exponent - 1)


def norm_ratio(d: int, numerator: float, denominator: float) -> float:
    r"""Return the largest ratio of two norms of a vector.

    .. math:: \max_{x \in R^d} \|x\|_a/\|x\|_b = d^{\max(0, 1/a - 1/b)}

    Examples
    --------
    >>> norm_ratio(9, 1.0, 2.0), norm_ratio(9, 2.0, 1.0)
    (3.0, 1.0)
    """
    check_exponent(numerator)
    check_exponent(denominator)
    return float(d ** max(0.0, 1 / numerator - 1 / denominator))


def check_exponent(exponent: float) -> None:
    """Raise `InvalidInput` unless `exponent` is at least 1, as for a norm."""
    require(exponent >= 1, "exponent", "at least 1", exponent)


@lru_cache(maxsize=16)
def _counts(d: int) -> Vector:
    """Return the numbers 1, ..., d as a read-only array of floats, which is cached."""
    counts = np.arange(1.0, d + 1)
    counts.flags.writeable = False
    return counts


def shrink_to_sum(values: Vector, total: float, top: float) -> Vector:
    r"""Return the values less a threshold, :math:`(v_j - \tau)_+`, that sum to `total` > 0.

    It is the projection of v on :math:`\{w \ge 0, \sum_j w_j = \text{total}\}`. It takes O(d log d)
    steps.

    The `values`, shape (d,), are finite, and `top` is the largest of them.
    """
    shifted = values - top
    np.maximum(shifted, -total, out=shifted)  # The entries below top - total become 0 in any case.
    ordered = np.sort(shifted)[::-1]
    excess = np.cumsum(ordered)
    excess -= total
    counts = _counts(len(values))
    # The k-th largest entry remains if it exceeds the threshold for k entries.
    remains = ordered * counts > excess
    remains[1:] &= ordered[1:] > -total
    remain = int(np.count_nonzero(remains))
    # The remaining entries are summed again, pairwise, because running sums over many lose digits.
    shifted -= (float(ordered[:remain].sum()) - total) / remain
    shrunk: Vector = np.maximum(shifted, 0.0, out=shifted)
    return shrunk
