r"""The rates at user level of Lowy, Liu and Asi (2024), and of the work that they compare with.

n users with m items each; all bound the mean excess population risk, with constants set to 1 and
logarithms dropped but for :math:`\Lambda=\ln(1/\delta)`. R is the diameter, L the Lipschitz
constant, and the terms of a rate are in the units of the risk: their sum is the rate. Upper rates
are not capped by the trivial L R. See theory/lowy-liu-asi.md, 3 to 5.
"""

from __future__ import annotations

import math

from dpsco_core.base.errors import require
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.printed_schedules import printed_radius, smoothed_regulariser

Pair = tuple[float, float]


def _size(at: UserLevel, logs: bool) -> float:
    r""":math:`\sqrt{d\Lambda}`, or :math:`\sqrt d`."""
    return math.sqrt(at.d * (at.log_delta if logs else 1.0))


def _rate(at: UserLevel, sampling: float, private: float) -> Pair:
    return at.unit * sampling, at.unit * private


def trivial(at: UserLevel) -> float:
    """Return L R, the excess risk that no point of the set exceeds."""
    return at.unit


def non_private(at: UserLevel) -> Pair:
    r"""SGD or ERM on all items without privacy: :math:`\frac{LR}{\sqrt{nm}}`, and 0.

    See theory/lowy-liu-asi.md, 2.7.

    Examples
    --------
    >>> at = UserLevel(n=10_000, m=100, d=10, epsilon=1.0, delta=1e-6)
    >>> non_private(at)
    (0.001, 0.0)
    """
    return _rate(at, 1 / math.sqrt(at.total), 0.0)


def optimal(at: UserLevel, *, logs: bool = True) -> Pair:
    r"""Theorems 3.2 (C.3) for smooth and 4.1 (D.3) for any losses: the optimal rate.

    .. math:: LR\Big(\frac1{\sqrt{nm}},\ \frac{\sqrt{d\Lambda}}{\varepsilon n\sqrt m}\Big)

    The risk of Asi and Liu (2024), Bassily and Sun (2023) and Ghazi et al. (2023) too, under their
    own conditions; `logs` False has no :math:`\Lambda`, as in the comparison table.

    Examples
    --------
    >>> at = UserLevel(n=10_000, m=100, d=10_000, epsilon=1.0, delta=1e-6)
    >>> round(sum(optimal(at)), 7)
    0.0047169
    """
    private = _size(at, logs) / (at.epsilon * at.n * math.sqrt(at.m))
    return _rate(at, 1 / math.sqrt(at.total), private)


def linear_time(at: UserLevel, *, logs: bool = True) -> Pair:
    r"""Theorem 2.1 (B.1), Algorithm 1, as stated; the rate of Bassily and Sun (2023), Alg. 5.

    .. math:: LR\Big(\frac1{\sqrt{nm\varepsilon}},\
        \frac{\sqrt{d\Lambda}}{\varepsilon\sqrt{nm}}\Big)

    Examples
    --------
    >>> at = UserLevel(n=10_000, m=100, d=10, epsilon=1.0, delta=1e-6)
    >>> round(sum(linear_time(at)), 6)
    0.012754
    """
    root = math.sqrt(at.total)
    return _rate(at, 1 / (root * math.sqrt(at.epsilon)), _size(at, logs) / (at.epsilon * root))


def linear_time_proven(at: UserLevel) -> Pair:
    r"""Theorem B.1 as its proof has it: both terms :math:`LR\sqrt{\frac d{nm\varepsilon}}`.

    :math:`\frac{R^2}{\eta T_1}` and :math:`d\eta L^2` at :math:`\eta=\frac R{L\sqrt{dmn
    \varepsilon}}`: for epsilon below 1 the power of epsilon is better than the stated one
    (theory/lowy-liu-asi.md, 3.1). Logarithms, those of delta included, are dropped.

    Examples
    --------
    >>> at = UserLevel(n=10_000, m=100, d=10, epsilon=0.1, delta=1e-6)
    >>> round(sum(linear_time_proven(at)), 6)
    0.02
    """
    each = math.sqrt(at.d / (at.total * at.epsilon))
    return _rate(at, each, each)


def group_privacy(at: UserLevel, *, logs: bool = True) -> Pair:
    r"""An optimal item-level method with group privacy: footnote 3; the naive user level.

    .. math:: LR\Big(\frac1{\sqrt{nm}},\ \frac{\sqrt{d\Lambda}}{\varepsilon n}\Big)

    For example Feldman, Koren and Talwar (2020), in linear time. Its second term does not fall
    with m.

    Examples
    --------
    >>> at = UserLevel(n=10_000, m=100, d=10_000, epsilon=1.0, delta=1e-6)
    >>> round(sum(group_privacy(at)), 6)
    0.038169
    """
    return _rate(at, 1 / math.sqrt(at.total), _size(at, logs) / (at.epsilon * at.n))


def strong(at: UserLevel, *, logs: bool = True) -> Pair:
    r"""Remark 3.6, strongly convex losses, by the reduction of Feldman et al. (2020), section 5.1.

    .. math:: \frac{L^2}\mu\Big(\frac1{nm},\ \frac{d\Lambda}{\varepsilon^2n^2m}\Big)

    Without logarithms it is what the paper calls optimal, without naming a lower bound.

    Examples
    --------
    >>> at = UserLevel(n=1000, m=100, d=10, epsilon=1.0, delta=1e-6, strong_convexity=0.5)
    >>> [f"{x:.5g}" for x in strong(at)]
    ['2e-05', '2.7631e-06']
    """
    require(at.strong_convexity > 0, "strong_convexity", "positive", at.strong_convexity)
    unit = at.lipschitz**2 / at.strong_convexity
    return unit / at.total, unit * (_size(at, logs) / (at.epsilon * at.n)) ** 2 / at.m


def quoted_lower(at: UserLevel) -> Pair:
    r"""The lower bound of Levy et al. (2021), as quoted: terms of `quoted_lower_risk`.

    .. math:: LR\Big(\frac1{\sqrt{nm}},\ \frac{\sqrt d}{\varepsilon n\sqrt m}\Big)
    """
    return optimal(at, logs=False)


def quoted_lower_risk(at: UserLevel) -> float:
    r"""Return :math:`LR\min\{1,\frac1{\sqrt{nm}}+\frac{\sqrt d}{\varepsilon n\sqrt m}\}`.

    The lower bound of Levy et al. (2021) as quoted in section 1, up to its constant; its conditions
    are not given there. The cut at 1 is added (theory/lowy-liu-asi.md, 4): a fixed point has excess
    risk at most L R.

    Examples
    --------
    >>> at = UserLevel(n=10_000, m=100, d=10_000, epsilon=1.0, delta=1e-6, lipschitz=2.0)
    >>> round(quoted_lower_risk(at), 10), quoted_lower_risk(at.with_users(1))
    (0.004, 2.0)
    """
    return min(at.unit, sum(quoted_lower(at)))


def intermediate(
    at: UserLevel, regulariser: float, tau: float | None = None, *, printed: bool = False
) -> tuple[float, float, float, float, float]:
    r"""(18) of the proof of Theorem C.3, before :math:`\lambda` is chosen.

    .. math::
        \frac{LR\sqrt d}{\varepsilon n\sqrt m},\quad\frac{L^2}{\lambda nm},\quad
        \frac{d\tau^2\Lambda}{\lambda\varepsilon^2n^2},\quad\lambda R^2,\quad\frac{2LR}{nm}

    `printed` has :math:`L^2` before the third too, which counts it twice, as
    :math:`\tau\propto L` (theory/lowy-liu-asi.md, 8, item 15). The last is the event in which
    something is removed.

    Parameters
    ----------
    at : UserLevel
    regulariser : float
        :math:`\lambda`, positive.
    tau : float, optional
        :math:`\tau`; None for :math:`L\ln(ndm)/\sqrt m`.
    printed : bool
    """
    require(regulariser > 0, "regulariser", "positive", regulariser)
    radius = printed_radius(at) if tau is None else tau
    noise = (_size(at, True) * radius / (at.epsilon * at.n)) ** 2 / regulariser
    return (
        quoted_lower(at)[1],
        at.lipschitz**2 / (regulariser * at.total),
        noise * at.lipschitz**2 if printed else noise,
        regulariser * at.diameter**2,
        2 * at.unit / at.total,
    )


def smoothed_printed(at: UserLevel) -> float:
    r"""The private error at the :math:`\lambda` of Theorem D.3's proof, with its unit.

    .. math:: LR\frac{\sqrt d}{\varepsilon n\sqrt m}\cdot\frac{\sqrt d}{\varepsilon\sqrt n}

    (18) at :math:`\lambda=\frac LR\frac1{\sqrt{nm}}` and :math:`\tau=L/\sqrt m`: optimal only for
    :math:`d\lesssim\varepsilon^2n`. With the :math:`\lambda` of Theorem C.3 it is always
    (theory/lowy-liu-asi.md, 2.5).
    """
    regulariser = at.lipschitz / at.diameter * smoothed_regulariser(at)
    noise = math.sqrt(at.d / at.m) * at.lipschitz / (at.epsilon * at.n)
    return noise**2 / regulariser


def smoothing_gap(at: UserLevel, radius: float, *, printed: bool = False) -> Pair:
    r"""Lemma D.1: what :math:`f_r-f` lies between, for the loss averaged over a ball.

    .. math:: 0\le f_r-f\le Lr\frac d{d+1}

    By Jensen, and because the mean distance from the centre is :math:`\frac{rd}{d+1}`. `printed`
    has it reversed: :math:`-Lr\le f_r-f\le0` (theory/lowy-liu-asi.md, 2.5).

    Examples
    --------
    >>> at = UserLevel(n=10, m=1, d=4, epsilon=1.0, delta=1e-6)
    >>> smoothing_gap(at, 0.5), smoothing_gap(at, 0.5, printed=True)
    ((0.0, 0.4), (-0.5, 0.0))
    """
    require(radius > 0, "radius", "positive", radius)
    if printed:
        return -at.lipschitz * radius, 0.0
    return 0.0, at.lipschitz * radius * at.d / (at.d + 1)
