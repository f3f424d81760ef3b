r"""What privacy cannot change: lower bounds that bind every algorithm.

N1 is the exact minimax risk of the Gaussian location model, N2 a bound from bounded signs that
survives every moment order, and `biased_signs` a sharper one by the identity of tracing. (Kamath et
al. 2022 cite the classical Gaussian bound with unit variance, which violates the moment bound for
k > 2; theory/kamath-liu-zhang.md, 4.6.)
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import betainc, gammaln

from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances.binomial import Floats, log_pmf, maximise
from dpsco_core.bounds.instances.tracing import SHAPES, median_gain

# `biased_signs` tries these spreads r of its prior.
_SPREADS = np.geomspace(1e-4, 1.0, 300)


def gaussian_scale(moment_order: float) -> float:
    """Return the deviation :math:`(E|Z|^k)^{-1/k}` at which a normal law has k-th moment 1."""
    require(1 < moment_order < math.inf, "moment_order", "above 1", moment_order)
    k = moment_order
    if k == 2:
        return 1.0
    log_moment = k / 2 * math.log(2) + float(gammaln((k + 1) / 2)) - 0.5 * math.log(math.pi)
    return math.exp(-log_moment / k)


def normal_norm(d: int) -> float:
    r"""Return the mean norm of a standard normal vector.

    .. math:: E\|Z\|=\sqrt2\,\Gamma(\tfrac{d+1}2)/\Gamma(\tfrac d2)
    """
    require(d >= 1, "d", "a positive integer", d)
    return math.sqrt(2) * math.exp(float(gammaln((d + 1) / 2)) - float(gammaln(d / 2)))


def gaussian_minimax(n: int, d: int, moment_order: float, *, squared: bool = False) -> float:
    r"""Return N1, the exact minimax risk over :math:`N(\mu,\sigma_k^2I)`, :math:`\mu\in R^d`.

    .. math:: \sigma_k\sqrt{\tfrac2n}\,\frac{\Gamma((d+1)/2)}{\Gamma(d/2)},\quad
              \text{squared: }\sigma_k^2\frac dn

    Anderson's lemma: the sample mean is minimax; theory/kamath-liu-zhang.md, 4.6.
    """
    variance = gaussian_scale(moment_order) ** 2 / n
    return variance * d if squared else math.sqrt(variance) * normal_norm(d)


def bounded_signs(delta: float, n: int, d: int, form: Form = "l2") -> float:
    r"""Return bound N2 at a delta in [0, 1]: signs with means :math:`\pm\delta`, scaled into the
    class.

    .. math::
        \sqrt d\,\frac\delta{1+\delta}\Big(1-TV\big(\mathrm{Bin}(n,\tfrac{1+\delta}2),
        \mathrm{Bin}(n,\tfrac{1-\delta}2)\big)\Big),\quad
        d\Big(\frac\delta{1+\delta}\Big)^2V,\quad
        \sqrt d\,\frac\delta{1+\delta}\big(1-\sqrt{1-V}\big),\qquad V=\sum\frac{2PQ}{P+Q}

    They bound the mean error, its square, and the excess risk of linear losses on the unit ball.
    See theory/kamath-liu-zhang.md, 4.6.
    """
    require(0 <= delta <= 1, "delta", "between 0 and 1", delta)
    scale = d if form == "squared" else math.sqrt(d)
    return scale * float(_one_dimensional_values(np.array([delta]), n, form)[0])


def _one_dimensional_values(delta: Floats, n: int, form: Form) -> Floats:
    r"""Return the bound N2 in dimension 1, at each delta.

    If n is large, the sum V of `bounded_signs` takes every s-th count, with weight s. The laws P
    and Q have deviation :math:`\frac12\sqrt n`, and the summand has its poles at
    :math:`\pi/(4\delta)` from the real line, so that a stride s of :math:`\sqrt n/64` leaves an
    error below 1e-15 for :math:`\delta\le6/\sqrt n`.
    """
    theta = delta / (1 + delta)
    if form == "l2":
        # The overlap of the two laws is 2 P(B < n/2) + P(B = n/2) for B ~ Bin(n, (1+delta)/2). It
        # is not computed by `bdtr`, which loses its digits near n/2 for n above 10^7, and is NaN
        # for n above 2^31.
        chance_up = (1 + delta) / 2
        minority = (n + 1) // 2 - 1
        overlap = 2 * betainc(float(n - minority), float(minority + 1), (1 - delta) / 2)
        if n % 2 == 0:
            middle = log_pmf(np.full(len(delta), n / 2), n, np.minimum(chance_up, 1 - 1e-16))
            overlap = overlap + np.where(chance_up < 1, np.exp(middle), 0.0)
        return np.asarray(theta * overlap)
    inner = np.minimum(delta, 1 - 1e-12)[:, None]
    stride = max(1, math.isqrt(n) // 64)
    width = math.ceil(5 * math.sqrt(n) + 16 + n * float(np.max(delta)) / 2)
    counts = np.arange(max(0, n // 2 - width), min(n, n // 2 + width) + 1, stride, dtype=np.float64)
    log_up = log_pmf(counts, n, (1 + inner) / 2)
    log_down = log_pmf(counts, n, (1 - inner) / 2)
    harmonic = np.exp(log_up + log_down - np.logaddexp(log_up, log_down))
    total = np.minimum(1.0, 2 * stride * harmonic.sum(axis=1))
    if form == "squared":
        return np.asarray(theta**2 * total)
    return np.asarray(theta * total / (1 + np.sqrt(1 - total)))


@lru_cache(maxsize=4096)
def biased_signs(n: int, d: int, moment_order: float, mean_bound: float) -> float:
    r"""Return a lower bound on the mean l2 error of every algorithm, private or not.

    It is that from random signs with hidden biases, which is 0 at d = 1:

    .. math:: \max_{r,u}\frac1c\,\frac{2G}{x+\sqrt{x^2+4uG}},\quad x=r^2\sqrt{\frac{ndu}{1+u}},\quad
              c=\max\Big\{\tfrac{r\sqrt d}R,
              \min\Big\{1+r,\big(1+\tfrac{(k-3)_+}4r[(1+r)^k-(1-r)^k]\big)^{1/k}\Big\}\Big\}

    Here r is the spread of the biases, u the shape of their prior, k the moment order and G the
    gain of the median: theory/approx-lower-bounds.md, 6. The maximum is over a fixed grid.

    Examples
    --------
    >>> round(biased_signs(10_000, 20, 2, 2.0), 5)
    0.04112
    """
    require(n >= 1, "n", "a positive integer", n)
    if mean_bound == 0:
        return 0.0
    r, u = _SPREADS[:, None], SHAPES[None, :]
    k = moment_order
    excess = np.maximum(0.0, k - 3) / 4 * _SPREADS * ((1 + _SPREADS) ** k - (1 - _SPREADS) ** k)
    unit = np.minimum((1 + excess[:, None]) ** (1 / k), 1 + r)
    unit = np.maximum(unit, r * math.sqrt(d) / mean_bound)
    gain = r * r * median_gain(SHAPES, d, 1.0)[None, :]
    x = r * r * np.sqrt(n * d * u / (1 + u))
    value = 2 * gain / (x + np.sqrt(x * x + 4 * u * gain) + 1e-300) / unit
    return float(value.max())


@lru_cache(maxsize=4096)
def best_separation(n: int, d: int, mean_bound: float = math.inf, form: Form = "l2") -> float:
    r"""Return the delta at which N2 is largest, with mean norm at most `mean_bound`.

    The constraint is :math:`\frac\delta{1+\delta}\le R/\sqrt d`.
    """
    require(mean_bound >= 0, "mean_bound", "at least 0", mean_bound)
    ratio = mean_bound / math.sqrt(d)
    largest = min(1.0, ratio / (1 - ratio)) if ratio < 0.5 else 1.0
    if largest == 0:
        return 0.0
    high = min(largest, 6 / math.sqrt(n))
    low = min(0.01 / math.sqrt(n), high / 50)
    return maximise(lambda delta: _one_dimensional_values(delta, n, form), low, high)
