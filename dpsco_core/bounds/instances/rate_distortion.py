r"""Rate distortion on the sign hypercube: sharper bounds for rho-zCDP than by counting wrong signs.

The output carries at most :math:`\rho B^2` nats of information on the signs, B the number of
spikes. The least error at that much information is bounded with the exact loss,
:math:`\|\hat\nu-\nu\|_2` or its square. See theory/approx-lower-bounds.md, 5.

Each bound is the maximum of finitely many lines in the information, stored as an envelope.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import erf, log_ndtr

from dpsco_core.base.errors import require
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise, search_range
from dpsco_core.bounds.instances.fano import LOG_2
from dpsco_core.bounds.instances.spikes import check_point, mean_power

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_LINES = 240


@dataclass(frozen=True)
class Envelope:
    """The maximum of finitely many lines, as a convex function of one variable x."""

    breaks: Floats  # the x at which the maximum passes from one line to the next, increasing
    heights: Floats  # the values at x = 0 of the lines that attain the maximum somewhere
    slopes: Floats  # the slopes of these lines, increasing

    def value_at(self, x: Floats) -> Floats:
        """Return the maximum at every x, or 0 where it is negative."""
        line = np.searchsorted(self.breaks, x)
        return np.asarray(np.maximum(0.0, self.heights[line] + self.slopes[line] * x))


def envelope(heights: Floats, slopes: Floats) -> Envelope:
    """Return the maximum of lines, given by their values at 0 and their increasing slopes."""
    lines: list[int] = []
    breaks: list[float] = []
    for i in range(len(slopes)):
        start = -math.inf
        while lines:
            previous = lines[-1]
            start = float((heights[previous] - heights[i]) / (slopes[i] - slopes[previous]))
            if len(lines) == 1 or start > breaks[-1]:
                break
            lines.pop()
            breaks.pop()
        if lines:
            breaks.append(start)
        lines.append(i)
    return Envelope(np.array(breaks), heights[lines], slopes[lines])


def log_largest_mean(log_lambda: Floats) -> Floats:
    r"""Return :math:`\ln M_1(\lambda)=\max_y[-\lambda(1+y^2)+\ln\cosh2\lambda y]`.

    It is the log of the largest mean of :math:`e^{-\lambda(\nu-y)^2}` over answers y to a random
    sign :math:`\nu`, at each :math:`\ln\lambda`. For :math:`\lambda\le\frac12` the maximum is
    :math:`-\lambda`, at y = 0; above, it is at the positive root of :math:`y=\tanh2\lambda y`.
    """
    size = np.exp(log_lambda)
    y = np.where(size > 0.5, np.sqrt(np.clip(3 * (1 - 0.5 / size), 0.0, 1.0)), 0.0)
    # Newton's method starts above the root and stays there, because y - tanh(2 size y) is convex.
    for _ in range(60):
        t = np.tanh(2 * size * y)
        slope = 1 - 2 * size * (1 - t * t)
        previous = y
        y = np.where(size > 0.5, np.clip(y - (y - t) / np.maximum(slope, 1e-12), 0.0, 1.0), 0.0)
        if float(np.max(np.abs(previous - y), initial=0.0)) < 1e-12:
            # The next step of Newton's method would be below the rounding error.
            break
    z = 2 * size * y
    return np.asarray(-size * (1 + y * y) + z + np.log1p(np.exp(-2 * z)) - LOG_2)


@lru_cache(maxsize=256)
def l2_envelope(d: int) -> Envelope:
    r"""Return a lower bound on the mean l2 distance of an answer to d signs.

    It is a function of the information x in nats, :math:`\max_s\frac{-x-\Lambda(s)}s` over 240
    values of s: theory/approx-lower-bounds.md, 5. Here :math:`e^{\Lambda(s)}` is a mixture of
    :math:`M_1(\lambda)^d`, exact up to :math:`\lambda=\frac12`, where :math:`M_1=e^{-\lambda}`, and
    from 40 on, where :math:`M_1=\frac12`. Between these it is integrated by Gauss's rule, on panels
    shorter than the width :math:`1/\sqrt d` of the integrand in :math:`\ln\lambda`.
    """
    require(d >= 1, "d", "a positive integer", d)
    root = math.sqrt(d)
    s = root * np.geomspace(2e-3, 60, _LINES)
    start, end = math.log(0.5), math.log(40.0)
    edges = np.linspace(start, end, math.ceil((end - start) * max(5.0, root / 2)) + 1)
    half = np.diff(edges)[:, None] / 2
    nodes = (edges[:-1, None] + half * (1 + _NODES)).ravel()
    common = d * log_largest_mean(nodes) - nodes / 2 + np.log((half * _WEIGHTS).ravel())
    inverse = np.exp(-nodes) / 4
    middle = _log_sums(common, inverse, s * s)
    middle += np.log(s / (2 * math.sqrt(math.pi)))
    # The mixing variable lambda has a Levy law: this is its mass up to 1/2, tilted by the factor
    # exp(-d lambda).
    log_below = np.logaddexp(log_ndtr(root - s) - s * root, log_ndtr(-root - s) + s * root)
    log_above = np.log(erf(s / (2 * math.sqrt(40.0)))) - d * LOG_2
    log_mixture = np.logaddexp(np.logaddexp(log_below, middle), log_above)
    return envelope(-log_mixture / s, -1 / s)


def _log_sums(common: Floats, inverse: Floats, squares: Floats) -> Floats:
    """Return ln sum_i exp(common_i - a inverse_i) for every a of `squares`.

    The terms are those of an integral over panels of eight nodes. Panels whose first term is below
    exp(-60) times the largest one are omitted, since they would not change the rounded sum.
    """
    out = np.empty(len(squares))
    heads, falls = common[::8], inverse[::8]
    for i, square in enumerate(squares):
        level = heads - square * falls
        significant = np.flatnonzero(level > level.max() - 60)
        part = slice(max(0, 8 * int(significant[0]) - 8), 8 * int(significant[-1]) + 16)
        logs = common[part] - square * inverse[part]
        top = float(logs.max())
        out[i] = top + math.log(float(np.exp(logs - top).sum()))
    return out


@lru_cache(maxsize=1)
def squared_envelope() -> Envelope:
    """Return the least mean squared error of one random sign, by the information x in nats."""
    log_lambda = np.linspace(math.log(0.5), math.log(1e4), 8000)
    size = np.exp(log_lambda)
    return envelope(-log_largest_mean(log_lambda) / size, -1 / size)


def distortion(
    p: float, n: int, d: int, moment_order: float, rho: float, *, squared: bool = False
) -> float:
    r"""Return the lower bound on the mean l2 error at spike probability p, for rho-zCDP algorithms.

    .. math::
        p^aE\Big[\max_s\frac{-\rho B^2-\Lambda(s)}s\Big]_+,\quad\text{squared: }
        p^{2a}E\Big[\max_\lambda\frac{-\rho B^2-d\ln M_1(\lambda)}\lambda\Big]_+

    At :math:`\lambda=\frac12` the second is the squared form of `hypercube`. See
    theory/approx-lower-bounds.md, 5.
    """
    check_point(p, n, d)
    require(rho > 0, "rho", "positive", rho)
    return float(_bound_values(np.array([p]), n, d, moment_order, rho, squared, fine=True)[0])


def _bound_values(
    p: Floats,
    n: int,
    d: int,
    moment_order: float,
    rho: float,
    squared: bool,
    *,
    fine: bool = False,
) -> Floats:
    """Return the bound of `distortion` at each spike probability of `p`."""

    def distance(count: Floats) -> Floats:
        """Return the least mean distance, or its square, at each number of spikes."""
        if squared:
            return d * squared_envelope().value_at(rho / d * count**2)
        return l2_envelope(d).value_at(rho * count**2)

    # Both forms of the bound are 0 beyond this number of spikes.
    largest_count = math.floor(math.sqrt(d * LOG_2 / rho))
    scale = max(1.0, 0.1 * math.sqrt(d / rho))
    mean = expectation(distance, n, p, largest=largest_count, scale=scale, fine=fine)
    return np.asarray(mean_power(p, moment_order, 2 if squared else 1) * mean)


@lru_cache(maxsize=4096)
def best(
    n: int, d: int, moment_order: float, rho: float, largest: float, squared: bool = False
) -> float:
    """Return the spike probability in (0, largest] that maximises `distortion`."""
    low, high = search_range(math.sqrt(d / rho), n, largest)
    return maximise(lambda p: _bound_values(p, n, d, moment_order, rho, squared), low, high)
