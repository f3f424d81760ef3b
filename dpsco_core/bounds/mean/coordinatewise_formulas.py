r"""Clipped median of means, coordinate by coordinate: Kamath et al. (2022), Algorithm 3.

For laws whose coordinates have central k-th moments at most 1 and whose mean has norm at most R.
Entries are clipped to :math:`[-3\tau,3\tau]`, averaged in m blocks of :math:`b=\lfloor n/m\rfloor`,
and the median of the block means is released with noise. Clipping moves a mean by at most
`hinge_bias` of :math:`3\tau-R` (the sharp form of Lemma B.1). See theory/kamath-liu-zhang.md, 2.2,
3.2 and 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from scipy.optimize import minimize_scalar

from dpsco_core.base.errors import require
from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.methods.mean.base import hinge_bias

Noise = Literal["gaussian", "laplace"]
PRINTED_BIAS = 14.0  # the constant C of Lemma B.1


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The terms of an explicit bound, in the units of the error.

    Parameters
    ----------
    sampling, bias, noise : float
        What finite data, clipping and privacy cost.
    """

    sampling: float
    bias: float
    noise: float

    def total(self) -> float:
        """Return the sum: the bound of a high-probability form."""
        return math.fsum((self.sampling, self.bias, self.noise))

    def root_sum_square(self) -> float:
        """Return the root of the sum of squares: the bound of a mean-square form."""
        return math.hypot(self.sampling, self.bias, self.noise)

    def scaled(self, unit: float) -> Parts:
        """Return every term times `unit`."""
        return Parts(sampling=unit * self.sampling, bias=unit * self.bias, noise=unit * self.noise)


VOID = Parts(sampling=math.inf, bias=math.inf, noise=math.inf)


def even_blocks(d: int, beta: float) -> int:
    r"""Return the least even m with :math:`m\ge4\ln(2d/\beta)`.

    Even, because the median of an even number of block means has half the sensitivity.
    """
    require(0 < beta < 1, "beta", "between 0 and 1", beta)
    return 2 * math.ceil(2 * math.log(2 * d / beta))


def noise_level(n: int, d: int, tau: float, level: float, noise: Noise, blocks: int) -> float:
    r"""Return the noise of the tight calibration: a deviation (Gaussian) or a scale (Laplace).

    :math:`\Delta_\infty=3\tau/b` for even m and :math:`6\tau/b` for odd;
    :math:`\Delta_\infty\sqrt{d/(2\rho)}` or :math:`d\Delta_\infty/\varepsilon`. Infinite at
    level 0.
    """
    if level <= 0:
        return math.inf
    sensitivity = (3 if blocks % 2 == 0 else 6) * tau / (n // blocks)
    if noise == "gaussian":
        return sensitivity * math.sqrt(d / (2 * level))
    return d * sensitivity / level


def noise_norm(d: int, level: float, noise: Noise, beta: float) -> float:
    r"""Bound on the norm of the noise with probability :math:`1-\beta/2`.

    Gaussian: :math:`\sigma(\sqrt d+\sqrt{2\ln(2/\beta)})`. Laplace: every coordinate at most
    :math:`s\ln(2d/\beta)`, hence :math:`s\sqrt d\ln(2d/\beta)`.
    """
    if noise == "gaussian":
        return level * (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta)))
    return level * math.sqrt(d) * math.log(2 * d / beta)


def high_probability(
    n: int,
    d: int,
    moment_order: float,
    mean_bound: float,
    level: float,
    noise: Noise,
    beta: float,
    *,
    tau: float | None = None,
) -> Parts:
    r"""Explicit bound with probability :math:`1-\beta`, tight noise and sharp bias.

    .. math:: \|\tilde\mu-\mu\|\le\sqrt d\Big(\frac{10}{\sqrt b}+\text{bias}\Big)+\|N\|

    The proof of Theorem 4.1 with integer, even m and the noise that the sensitivity needs.

    Parameters
    ----------
    n, d : int
    moment_order : float
        k >= 2.
    mean_bound : float
        R, in units of the moment.
    level : float
        rho (Gaussian) or epsilon (Laplace).
    noise : {"gaussian", "laplace"}
    beta : float
        Failure probability.
    tau : float or None
        None for the one that minimises bias plus noise.

    Returns
    -------
    Parts
        Their sum is the bound; infinite for n < m or 3 tau <= R.
    """
    check_sizes(n, d)
    blocks = even_blocks(d, beta)
    if n < blocks:
        return VOID
    unit = noise_norm(d, noise_level(n, d, 1.0, level, noise, blocks), noise, beta)
    root = math.sqrt(d)
    sampling = 10 * root / math.sqrt(n // blocks)
    if math.isinf(mean_bound) or math.isinf(unit):
        return Parts(sampling=sampling, bias=math.inf, noise=math.inf)

    def parts(threshold: float) -> Parts:
        return Parts(
            sampling=sampling,
            bias=root * hinge_bias(3 * threshold - mean_bound, moment_order),
            noise=unit * threshold,
        )

    return _best_threshold(parts, Parts.total, mean_bound, moment_order, tau)


def mean_square(
    n: int,
    d: int,
    moment_order: float,
    mean_bound: float,
    level: float,
    noise: Noise,
    *,
    blocks: int = 1,
    tau: float | None = None,
) -> Parts:
    r"""Explicit bound on :math:`(E\|\tilde\mu-\mu\|^2)^{1/2}`, tight noise and sharp bias.

    .. math::
        m\le2:\ d\Big(\frac1{mb}+\text{bias}^2\Big)+d\sigma^2,\qquad
        m\ge3:\ d\Big(\sqrt{\kappa_m/b}+\text{bias}\Big)^2+d\sigma^2,\quad
        \kappa_m=\frac m{\lceil m/2\rceil-1}

    The least over m is at m = 1, the clipped mean: more blocks raise the sampling term and the
    sensitivity. See theory/kamath-liu-zhang.md, 3.2.

    Returns
    -------
    Parts
        `Parts.root_sum_square` is the bound; for m >= 3 the sampling and the bias are those whose
        squares add up to the squared sum, in the proportion of the two.
    """
    check_sizes(n, d)
    require(blocks >= 1, "blocks", "a positive integer", blocks)
    if n < blocks:
        return VOID
    size = n // blocks
    per_unit = noise_level(n, d, 1.0, level, noise, blocks)
    unit = per_unit * math.sqrt(d) * (1.0 if noise == "gaussian" else math.sqrt(2))
    root = math.sqrt(d)
    if blocks <= 2:
        spread = root / math.sqrt(blocks * size)
    else:
        spread = root * math.sqrt(blocks / (math.ceil(blocks / 2) - 1) / size)
    if math.isinf(mean_bound) or math.isinf(unit):
        return Parts(sampling=spread, bias=math.inf, noise=math.inf)

    def parts(threshold: float) -> Parts:
        bias = root * hinge_bias(3 * threshold - mean_bound, moment_order)
        # (spread + bias)^2 split so that the squares of the two parts add up to it.
        share = 1.0 if blocks <= 2 else (spread + bias) / math.hypot(spread, bias)
        return Parts(sampling=share * spread, bias=share * bias, noise=unit * threshold)

    return _best_threshold(parts, Parts.root_sum_square, mean_bound, moment_order, tau)


def printed(n: int, d: int, moment_order: float, level: float, noise: Noise, beta: float) -> Parts:
    r"""Theorem 4.1 with the printed constants, C = 14 and noise 1152 (or 48), tau of Corollary 4.2.

    .. math::
        \sqrt d\Big(10\sqrt{\tfrac mn}+3\big(\tfrac{14}\tau\big)^{k-1}\Big)+
        2\sigma\big(\sqrt d+\sqrt{\ln\tfrac1\beta}\big),\quad
        \sigma^2=\frac{1152\,\tau^2d\ln^2(2d/\beta)}{\rho n^2},\ m=4\ln\frac{2d}\beta

    With Laplace noise the last term is :math:`\frac{48\tau d^{3/2}}{\varepsilon n}\ln^2(2d/\beta)`.
    m is read as a real number, as printed; tau is floored at 10, as the theorem asks.
    """
    check_sizes(n, d)
    if level <= 0:
        return VOID
    log_size = math.log(2 * d / beta)
    tau = max(10.0, printed_threshold(n, d, moment_order, level, noise))
    if noise == "gaussian":
        std = math.sqrt(1152 / level) * tau * math.sqrt(d) * log_size / n
        size = 2 * std * (math.sqrt(d) + math.sqrt(-math.log(beta)))
    else:
        size = 48 * tau * d**1.5 / (level * n) * log_size**2
    return Parts(
        sampling=math.sqrt(d) * 10 * math.sqrt(4 * log_size / n),
        bias=math.sqrt(d) * 3 * (PRINTED_BIAS / tau) ** (moment_order - 1),
        noise=size,
    )


def with_logarithms(
    n: int, d: int, moment_order: float, level: float, noise: Noise, beta: float
) -> Parts:
    r"""Theorem 4.1 as a rate: its terms with constant 1, logarithms kept, tau of Corollary 4.2.

    .. math::
        \sqrt{\tfrac{d\ln(d/\beta)}n},\quad\sqrt d\big(\tfrac{1}\tau\big)^{k-1},\quad
        \frac{\tau\ln(d/\beta)\sqrt d}{\sqrt\rho n}\Big(\sqrt d+\sqrt{\ln\tfrac1\beta}\Big)
        \ \text{or}\ \frac{\tau d^{3/2}\ln^2(d/\beta)}{\varepsilon n}

    The factor :math:`C^{k-1}` of the bias is among the hidden constants.
    """
    check_sizes(n, d)
    if level <= 0:
        return VOID
    log_size = math.log(d / beta)
    tau = printed_threshold(n, d, moment_order, level, noise)
    if noise == "gaussian":
        tail = math.sqrt(d) + math.sqrt(-math.log(beta))
        size = tau * log_size * math.sqrt(d) / (math.sqrt(level) * n) * tail
    else:
        size = tau * d**1.5 * log_size**2 / (level * n)
    return Parts(
        sampling=math.sqrt(d * log_size / n),
        bias=math.sqrt(d) * tau ** (1 - moment_order),
        noise=size,
    )


def printed_threshold(n: int, d: int, moment_order: float, level: float, noise: Noise) -> float:
    r"""Return tau of Corollary 4.2.

    :math:`(\sqrt\rho n/\sqrt d)^{1/k}` (Gaussian) or :math:`(\varepsilon n/d)^{1/k}` (Laplace);
    0 at level 0.
    """
    if level <= 0:
        return 0.0
    signal = math.sqrt(level / d) * n if noise == "gaussian" else level * n / d
    return math.pow(signal, 1 / moment_order)


def median_blocks(d: int, beta: float) -> int:
    r"""Return :math:`m=\lceil4\ln(2d/\beta)\rceil`, the number of blocks of Algorithm 3."""
    require(0 < beta < 1, "beta", "between 0 and 1", beta)
    return math.ceil(4 * math.log(2 * d / beta))


def median_of_means(n: int, d: int, beta: float) -> float:
    r"""Explicit bound without privacy and clipping: :math:`10\sqrt{d/b}` with probability 1 - beta.

    :math:`m=\lceil4\ln(2d/\beta)\rceil` blocks, those of Algorithm 3 and of the method; the sample
    part of Theorem 4.1, which fails with probability beta/2. Infinite for n < m.
    """
    check_sizes(n, d)
    blocks = median_blocks(d, beta)
    return 10 * math.sqrt(d / (n // blocks)) if n >= blocks else math.inf


def _best_threshold(
    parts: Callable[[float], Parts],
    measure: Callable[[Parts], float],
    mean_bound: float,
    moment_order: float,
    tau: float | None,
) -> Parts:
    """Evaluate at `tau`, or at the threshold above R/3 that minimises the bound."""
    if tau is not None:
        require(tau > 0, "tau", "positive", tau)
        return parts(tau)

    def value(log_distance: float) -> float:
        return measure(parts((mean_bound + math.exp(log_distance)) / 3))

    low = -min(14.0, 600 / moment_order)  # below, the bias alone leaves the range of doubles
    found = minimize_scalar(value, bounds=(low, 35.0), method="bounded", options={"xatol": 1e-7})
    return parts((mean_bound + math.exp(float(found.x))) / 3)
