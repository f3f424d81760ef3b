r"""Objective perturbation on a convex set: Su et al. (2023), Algorithms 1 and 2.

The points of the set have norms of at most R = M/2, and it has the Gaussian width :math:`G_C`. The
objective gets a linear noise term of deviation :math:`\sigma_1` and a regulariser
:math:`\lambda\|\theta\|^2`, is minimised to accuracy :math:`\alpha`, and the result gets noise
:math:`\sigma_2` and is projected. Explicit bounds B1, on any set, and B2, on a symmetric one:
theory/su-zhao-wang.md, 3.1 and 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsco_core.base.errors import require
from dpsco_core.bounds.conditions import check_sizes


@dataclass(frozen=True, kw_only=True)
class Objective:
    r"""What the formulas share.

    Parameters
    ----------
    n : int
    epsilon, delta : float
        Both in (0, 1) in the theorems.
    lipschitz : float
        L.
    diameter : float
        :math:`\|C\|_2=2R`, twice the largest norm of a point: the l2 diameter of a symmetric set.
    width : float
        :math:`G_C`, or an upper bound of it.
    inradius : float
        :math:`C_{\min}`, the least norm of a boundary point; 0 where the set has none.
    """

    n: int
    epsilon: float
    delta: float
    lipschitz: float
    diameter: float
    width: float
    inradius: float = 0.0

    def __post_init__(self) -> None:
        check_sizes(self.n, 1)
        require(self.epsilon > 0, "epsilon", "positive", self.epsilon)
        require(0 < self.delta < 1, "delta", "between 0 and 1", self.delta)

    @property
    def objective_std(self) -> float:
        r""":math:`\sigma_1=L\sqrt{128\ln(2.5/\delta)}/\varepsilon`."""
        return self.lipschitz * math.sqrt(128 * math.log(2.5 / self.delta)) / self.epsilon

    @property
    def log_delta(self) -> float:
        r""":math:`\ln(1/\delta)`."""
        return -math.log(self.delta)

    def output_std(self, accuracy: float, modulus: float) -> float:
        r"""Return :math:`\sigma_2=\sqrt{64\alpha\ln(2.5/\delta)/\lambda}/\varepsilon`."""
        return math.sqrt(64 * accuracy * math.log(2.5 / self.delta) / modulus) / self.epsilon


def rate(at: Objective) -> tuple[float, float]:
    r"""Theorem 2.

    .. math:: \frac{L\|C\|_2}{\sqrt n},\quad\frac{LG_C\sqrt{\ln(1/\delta)}}{\varepsilon n}
    """
    private = at.lipschitz * at.width * math.sqrt(at.log_delta) / (at.epsilon * at.n)
    return at.lipschitz * at.diameter / math.sqrt(at.n), private


def rate_strong(at: Objective, modulus: float, *, printed: bool = False) -> tuple[float, float]:
    r"""Theorem 4 with modulus Delta; `printed` has a stray epsilon in the first term.

    .. math::
        \frac{L^2\|C\|_2^2}{\Delta n},\quad
        \frac{G_C^2L^2\ln(1/\delta)}{\Delta n^2\varepsilon^2}
    """
    first = (at.lipschitz * at.diameter) ** 2 / (modulus * at.n)
    second = (at.lipschitz * at.width / (at.n * at.epsilon)) ** 2 * at.log_delta / modulus
    return (first / at.epsilon if printed else first), second


def regulariser(at: Objective, smoothness: float, rank: int) -> float:
    r"""Return :math:`\lambda=\max\{\frac L{\sqrt n\|C\|_2},\lambda_{\text{priv}}\}`.

    :math:`\lambda_{\text{priv}}=\frac\beta{2n(e^{\varepsilon/(4\,\text{rank})}-1)}` is what the
    determinant of the Jacobian needs: theory/su-zhao-wang.md, 2.1 (d). 0 rank needs nothing.
    """
    plain = at.lipschitz / (math.sqrt(at.n) * at.diameter)
    if rank == 0:
        return plain
    return max(plain, smoothness / (2 * at.n * _growth(at.epsilon / (4 * rank))))


def accuracy(at: Objective, *, printed: bool = False) -> float:
    r"""Return the largest alpha of Theorem 2.

    .. math::
        \min\Big\{\frac{L\|C\|_2}{n^{3/2}},\
        \frac{\varepsilon^2L\|C\|_2^3}{G_C^2\ln(1/\delta)n^{5/2}}\Big\}

    `printed` has :math:`n^{3/2}` in the second, which is not enough for the rate.
    """
    base = at.lipschitz * at.diameter / (at.n * math.sqrt(at.n))
    second = base * (at.epsilon * at.diameter / at.width) ** 2 / at.log_delta
    return min(base, second if printed else second / at.n)


def explicit(
    at: Objective, smoothness: float, rank: int, *, printed: bool = False
) -> tuple[float, float, float, float, float]:
    r"""B1: an explicit bound for Algorithm 1.

    .. math::
        \frac{\sigma_1G_C}n+\lambda R^2+\frac{L^2}{\lambda n}+L\sqrt{\alpha/\lambda}+
        L\sqrt{2\sigma_2G_C}

    Objective noise, regulariser, stability, optimiser, output noise: theory/su-zhao-wang.md, 3.1,
    with :math:`\|\theta^*\|\le R=\|C\|_2/2`.

    Parameters
    ----------
    at : Objective
    smoothness : float
        beta, per record.
    rank : int
        Of the Hessian's part that depends on the record.
    printed : bool
        At the accuracy that the theorem prints.
    """
    modulus = regulariser(at, smoothness, rank)
    alpha = accuracy(at, printed=printed)
    return (
        at.objective_std * at.width / at.n,
        modulus * (at.diameter / 2) ** 2,
        at.lipschitz**2 / (modulus * at.n),
        at.lipschitz * math.sqrt(alpha / modulus),
        at.lipschitz * math.sqrt(2 * at.output_std(alpha, modulus) * at.width),
    )


def accuracy_strong(at: Objective, modulus: float) -> float:
    r"""Return the largest alpha of Theorem 4.

    .. math::
        \min\Big\{\frac{L^2\|C\|_2^2}{\Delta n^2},\
        \frac{L^4\|C\|_2^6\varepsilon^2}{\Delta^3n^4G_C^2\ln(1/\delta)}\Big\}
    """
    first = (at.lipschitz * at.diameter / at.n) ** 2 / modulus
    ratio = at.lipschitz * at.diameter / (modulus * at.n)
    second = first * (ratio * at.epsilon * at.diameter / at.width) ** 2 / at.log_delta
    return min(first, second)


def regulariser_strong(
    at: Objective, smoothness: float, strong_convexity: float, rank: int
) -> float:
    r"""Return :math:`\lambda=\max\{0,\frac12[\frac{\beta-\mu}{n(e^{\varepsilon/(4r)}-1)}-\mu]\}`.

    mu is the l2 modulus of every record and r the rank of the Hessian's part that depends on the
    record: 0 for losses of mean type, whose Hessians cancel, otherwise d, because a modulus that
    is not separable leaves full rank. See theory/su-zhao-wang.md, 2.2.
    """
    if rank == 0:
        return 0.0
    need = (smoothness - strong_convexity) / (at.n * _growth(at.epsilon / (4 * rank)))
    return max(0.0, (need - strong_convexity) / 2)


def explicit_strong(
    at: Objective, smoothness: float, strong_convexity: float, rank: int
) -> tuple[float, float, float, float, float]:
    r"""B2: an explicit bound for Algorithm 2 on a symmetric set, :math:`\Delta=\mu C_{\min}^2`.

    .. math::
        \frac{\sigma_1^2(G_C^2+R^2)}{2\Delta n^2}+\lambda R^2+\frac{2L^2R^2}{\Delta n}+
        LR\sqrt{2\alpha/\Delta}+L\sqrt{2\sigma_2G_C},\quad
        \sigma_2^2=\frac{64\alpha\ln(2.5/\delta)\|C\|_2^2}{\Delta\varepsilon^2}

    Objective noise, with the half that the proof allows, regulariser, stability, optimiser, output
    noise: theory/su-zhao-wang.md, 3.2.
    """
    radius = at.diameter / 2
    modulus = strong_convexity * at.inradius**2
    alpha = accuracy_strong(at, modulus)
    output = at.output_std(alpha, modulus) * at.diameter
    noise = (at.objective_std / at.n) ** 2 * (at.width**2 + radius**2) / (2 * modulus)
    return (
        noise,
        regulariser_strong(at, smoothness, strong_convexity, rank) * radius**2,
        2 * (at.lipschitz * radius) ** 2 / (modulus * at.n),
        at.lipschitz * radius * math.sqrt(2 * alpha / modulus),
        at.lipschitz * math.sqrt(2 * output * at.width),
    )


def width_lower(at: Objective, d: int) -> tuple[float, float]:
    r"""Theorem 5: :math:`\frac{G_C^2\ln(1/\delta)}{(\ln2d)^4\varepsilon^2n^2},\frac1n`; the larger.

    For the set scaled to diameter 1 and L = 1, as printed, times L M. Constant 1. The hard loss,
    half the squared distance, is :math:`C_{\min}^2`-strongly convex in the norm of the set.
    """
    unit = at.width / at.diameter
    logs = math.log(2 * d) ** 4
    scale = at.lipschitz * at.diameter
    private = (unit / (at.epsilon * at.n)) ** 2 * at.log_delta / logs
    return scale * private, scale / at.n


def _growth(exponent: float) -> float:
    """Return exp(exponent) - 1, infinite where it leaves the range of doubles."""
    return math.expm1(exponent) if exponent < 700 else math.inf
