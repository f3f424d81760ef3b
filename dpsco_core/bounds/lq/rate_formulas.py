r"""Rates in :math:`\ell_q^d`: Su, Zhao and Wang (2023), Table 2, with constant 1.

(The paper calls the exponent p.) Two terms each, of which the bound is the sum: sampling and
privacy; 0 where a rate has one. In units of L times the set's diameter or the norm of the
minimiser for Lipschitz losses, of :math:`\sigma M` for heavy tails, unless a docstring says
otherwise. kappa is the printed :math:`\min\{1/(q-1), 2\ln d\}`.
"""

from __future__ import annotations

import math

from dpsco_core.base.errors import require
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting

Pair = tuple[float, float]


def printed_kappa(d: int, exponent: float) -> float:
    r"""Return :math:`\kappa=\min\{\frac1{q-1},2\ln d\}`, for 1 <= q <= 2."""
    return RegularSpace(d=d, exponent=exponent).printed_kappa


def _size(d: int, budget: ApproxDP) -> float:
    r""":math:`\sqrt{d\ln(1/\delta)}`."""
    return math.sqrt(-d * math.log(budget.delta))


def _inverse(exponent: float) -> float:
    require(exponent >= 2, "exponent", "at least 2", exponent)
    return 1 / exponent


def bassily_2021(setting: Setting, budget: ApproxDP, *, printed: bool = False) -> Pair:
    r"""Bassily, Guzman and Nandi (2021), constrained and Lipschitz: Table 2, row 1.

    .. math::
        \sqrt{\frac\kappa n},\ \frac{\kappa\sqrt d}{n\varepsilon}\quad(1<q<2),\qquad
        \frac{d^{1/2-1/q}}{\sqrt n},\ \frac{d^{1-1/q}}{n\varepsilon}\quad(2\le q\le\infty)

    `printed` has no :math:`\sqrt n` in the third, which the prose and Theorem 8's remark have.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    if setting.exponent < 2:
        kappa = printed_kappa(d, setting.exponent)
        return math.sqrt(kappa / n), kappa * math.sqrt(d) / (n * epsilon)
    share = _inverse(setting.exponent)
    sampling = math.pow(d, 0.5 - share)
    return sampling if printed else sampling / math.sqrt(n), math.pow(d, 1 - share) / (n * epsilon)


def theorem_7(setting: Setting, budget: ApproxDP) -> Pair:
    r"""Theorem 7, unconstrained and Lipschitz, 1 < q < 2.

    .. math:: 0,\ \kappa^{4/5}\Big(\frac{\sqrt{d\ln(1/\delta)}}{n\varepsilon}\Big)^{2/5}
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    kappa = printed_kappa(d, setting.exponent)
    return 0.0, math.pow(kappa**2 * _size(d, budget) / (n * epsilon), 0.4)


def theorem_8(setting: Setting, budget: ApproxDP, norm: float, *, printed: bool = False) -> Pair:
    r"""Theorem 8, unconstrained and Lipschitz, 2 <= q, with :math:`\|\theta^*\|_q` = `norm`.

    .. math::
        \frac1{\sqrt n}\Big(1+d^{1-2/q}\|\theta^*\|^2\Big),\
        \frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big(1+d^{1-2/q}\|\theta^*\|^2\Big)

    In units of L. `printed` has no 1, and vanishes at :math:`\theta^*=0`, which no algorithm does.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    unit = math.pow(d, 1 - 2 * _inverse(setting.exponent)) * norm**2 + (0.0 if printed else 1.0)
    return unit / math.sqrt(n), unit * _size(d, budget) / (epsilon * n)


def theorem_10(setting: Setting, budget: ApproxDP) -> Pair:
    r"""Theorem 10, constrained and heavy-tailed, 1 < q < 2, small epsilon.

    .. math:: 0,\ \frac{(\kappa^2d\ln(1/\delta))^{1/4}}{\sqrt{n\varepsilon}}

    Without its :math:`\ln(1/\delta')`. It is proven for Gaussian noise; with the generalized
    Gaussian noise of the algorithm the proof gives :math:`\kappa^{3/4}` (theory/su-zhao-wang.md,
    3.6), a difference within the theorem's logarithms, as :math:`\kappa\le2\ln d`.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    return 0.0, math.sqrt(printed_kappa(d, setting.exponent) * _size(d, budget) / (n * epsilon))


def general_epsilon(setting: Setting, budget: ApproxDP) -> Pair:
    r"""The rate for heavy tails and every epsilon below 1, 1 < q < 2: introduction and Table 2.

    .. math:: 0,\ \frac{\kappa^{2/3}(d\ln(1/\delta))^{1/6}}{(n\varepsilon)^{1/3}}
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    kappa = printed_kappa(d, setting.exponent)
    return 0.0, math.cbrt(kappa**2 * _size(d, budget) / (n * epsilon))


def heavy_euclidean(setting: Setting, budget: ApproxDP, *, printed: bool = False) -> Pair:
    r"""The rate for heavy tails, 2 <= q, by reduction to l2: Table 2.

    .. math:: \frac{d^{3/2-1/q}}{\sqrt n},\ \frac{d^{3/2-1/(2q)}}{\sqrt{n\varepsilon}}

    `printed` has no :math:`\sqrt n` in the first, which the bound of Kamath et al. (2022) has that
    it is made of (theory/su-zhao-wang.md, 2.7).
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    share = _inverse(setting.exponent)
    sampling = math.pow(d, 1.5 - share)
    private = math.pow(d, 1.5 - share / 2) / math.sqrt(n * epsilon)
    return sampling if printed else sampling / math.sqrt(n), private


def general_potential(setting: Setting, budget: ApproxDP) -> Pair:
    r"""The rate of Arora et al. (2020), Theorem 6 with Remark 1, with any potential.

    .. math:: \sqrt{\frac\kappa n},\ \frac{\kappa\sqrt d\ln(3/\delta)}{\varepsilon n}
        \quad(1\le q\le2),

    from the regret of mirror descent (their Theorem 3) and the energy :math:`d\kappa` of the noise,
    where epsilon is at most about :math:`1/\sqrt n`; for q > 2 the l2 rate, in units of the l2
    constants.
    """
    n, d, epsilon = setting.n, setting.d, budget.epsilon
    kappa = printed_kappa(d, min(setting.exponent, 2.0))
    private = kappa * math.sqrt(d) * math.log(3 / budget.delta) / (epsilon * n)
    return math.sqrt(kappa / n), private
