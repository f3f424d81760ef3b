r"""Phased SGD on the whole space: the algorithm behind Theorem 8 of Su, Zhao and Wang (2023).

Phase i = 1..K, :math:`K=\lfloor\log_2n\rfloor`, passes over :math:`n_i=\lfloor2^{-i}n\rfloor`
records at the step size :math:`\eta_i=4^{-i}\eta`, and its average gets noise of deviation
:math:`\sigma_i=cL\eta_i` (Feldman, Koren and Talwar 2020; theory/su-zhao-wang.md, 2.4). For
q >= 2 a loss that is Lipschitz and smooth in :math:`\ell_q` is so in l2, with the same constants.
"""

import math

from dpsco_core.base.errors import require

Terms4 = tuple[float, float, float, float]


def phases(n: int) -> int:
    r"""Return :math:`K=\lfloor\log_2n\rfloor`, for n >= 2."""
    require(n >= 2, "n", "at least 2", n)
    return n.bit_length() - 1


def noise_factor(rho: float) -> float:
    r"""Return :math:`c=2/\sqrt{2\rho}`: a record moves the average by at most :math:`2L\eta_i`."""
    return math.sqrt(2 / rho)


def printed_noise_factor(epsilon: float, delta: float) -> float:
    r"""Return :math:`c=\sqrt{8\ln(1.25/\delta)}/\varepsilon`, of the paper's Lemma 2."""
    return math.sqrt(8 * math.log(1.25 / delta)) / epsilon


def printed_step(n: int, d: int, lipschitz: float, factor: float) -> float:
    r"""Return :math:`\eta=\frac1L\min\{\frac1{\sqrt n},\frac1{c\sqrt d}\}`, of no distance."""
    return min(1 / math.sqrt(n), 1 / (factor * math.sqrt(d))) / lipschitz


def b3_prime(
    n: int,
    d: int,
    lipschitz: float,  # L
    distance: float,  # bound on :math:`\|\theta^*\|_2`, at most :math:`d^{1/2-1/q}\|\theta^*\|_q`
    factor: float,  # c
    step: float,  # :math:`\eta`
) -> Terms4:
    r"""B3': an explicit bound on the mean excess risk, for :math:`\eta/4\le2/\beta`.

    .. math::
        \frac{\|\theta^*\|_2^2}{2\eta_1n_1}+\sum_i\frac{\eta_iL^2}2+
        \sum_{i\ge2}\frac{d\sigma_{i-1}^2}{2\eta_in_i}+L\sqrt d\,\sigma_K

    With the floors of :math:`n_i`; for n a power of two it is at most
    :math:`\frac{4\|\theta^*\|_2^2}{\eta n}+\frac{\eta L^2}6+\frac{4dc^2L^2\eta}n+ \frac{\sqrt
    d\,cL^2\eta}{n^2}` (theory/su-zhao-wang.md, 3.5).

    Returns start, sampling, noise and last noise; their sum is the bound.
    """
    sampling, noise, last = _parts(n, d, lipschitz, factor)
    return distance**2 / step * _start(n), step * sampling, step * noise, step * last


def best_step(
    n: int, d: int, lipschitz: float, distance: float, factor: float, smoothness: float
) -> float:
    r"""Return the :math:`\eta\le8/\beta` that minimises `b3_prime`; it looks at no data."""
    slope = math.fsum(_parts(n, d, lipschitz, factor))
    free = distance * math.sqrt(_start(n) / slope)
    return min(free, 8 / smoothness) if smoothness > 0 else free


def _start(n: int) -> float:
    r""":math:`\frac\eta{2\eta_1n_1}`."""
    return 2 / (n // 2)


def _parts(n: int, d: int, lipschitz: float, factor: float) -> tuple[float, float, float]:
    """What multiplies the step: gradients, noise, last noise."""
    count = phases(n)
    energy = lipschitz**2
    sampling = energy / 6 * -math.expm1(-count * math.log(4))
    noise = math.fsum(8 * 4.0**-i / (n // 2**i) for i in range(2, count + 1))
    last = math.sqrt(d) * factor * energy * 4.0**-count
    return sampling, d * factor**2 * energy * noise, last
