r"""The inputs of the formulas at user level: n users with m items each, budget and constants.

Neighbours differ by replacing one user's whole block of m items; n and m are public. R is the
diameter of the constraint set and L the Lipschitz constant, both in l2 (Lowy, Liu and Asi 2024,
Assumption 1.1; theory/lowy-liu-asi.md, 1). All of it is public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import gaussian_rho


@dataclass(frozen=True, kw_only=True)
class UserLevel:
    r"""n users with m items each in d dimensions, :math:`(\varepsilon,\delta)` and the constants.

    Examples
    --------
    >>> case = UserLevel(n=1000, m=100, d=10, epsilon=1.0, delta=1e-6)
    >>> case.total, round(case.log_size, 6), round(case.log_delta, 6)
    (100000, 13.815511, 13.815511)
    """

    n: int  # the number of users
    m: int  # the number of items per user
    d: int  # the dimension
    epsilon: float  # the epsilon of one user's budget, positive
    delta: float  # the delta of one user's budget, strictly between 0 and 1
    lipschitz: float = 1.0  # L, positive and finite
    # R, the diameter (not the radius) of the constraint set; positive and finite.
    diameter: float = 1.0
    # β, the smoothness of an item's loss; infinite if the loss is not smooth
    smoothness: float = math.inf
    # μ, the strong convexity of an item's loss; 0 if it is only convex
    strong_convexity: float = 0.0

    def __post_init__(self) -> None:
        """Refuse sizes, budgets and constants outside their ranges."""
        for name in ("n", "m", "d"):
            value = getattr(self, name)
            require(isinstance(value, int) and value >= 1, name, "a positive integer", value)
        for name in ("epsilon", "lipschitz", "diameter"):
            value = getattr(self, name)
            require(0 < value < math.inf, name, "a positive number", value)
        require(0 < self.delta < 1, "delta", "strictly between 0 and 1", self.delta)
        require(self.smoothness >= 0, "smoothness", "at least 0", self.smoothness)
        value = self.strong_convexity
        require(0 <= value < math.inf, "strong_convexity", "a number of at least 0", value)

    @property
    def total(self) -> int:
        """The number n m of all items."""
        return self.n * self.m

    @property
    def unit(self) -> float:
        """The product L R, which bounds the excess risk of every point of the set."""
        return self.lipschitz * self.diameter

    @property
    def condition(self) -> float:
        r"""The unitless smoothness :math:`\beta R/L`."""
        return self.smoothness * self.diameter / self.lipschitz

    @property
    def log_delta(self) -> float:
        r"""The logarithm :math:`\Lambda=\ln(1/\delta)`."""
        return -math.log(self.delta)

    @property
    def log_size(self) -> float:
        r"""The logarithm :math:`\ln(ndm)`."""
        return math.log(self.n) + math.log(self.d) + math.log(self.m)

    def with_users(self, n: int) -> UserLevel:
        """Return the same problem with `n` users."""
        return replace(self, n=n)


def gaussian_multiplier(epsilon: float, delta: float) -> float:
    r"""Return the least :math:`g=\sigma/\Delta` of an :math:`(\varepsilon,\delta)`-DP Gaussian.

    It is the root of
    :math:`\Phi(\frac1{2g}-\varepsilon g)-e^\varepsilon\Phi(-\frac1{2g}-\varepsilon g)=\delta`
    (Balle and Wang 2018), rounded up. T adaptive releases of sensitivity :math:`\Delta` need
    :math:`\Delta\sqrt T\,g`.

    Examples
    --------
    >>> [round(gaussian_multiplier(e, 1e-6), 6) for e in (0.5, 1.0, 4.0, 8.0)]
    [8.057618, 4.224679, 1.193519, 0.652935]
    """
    return 1 / math.sqrt(2 * gaussian_rho(epsilon, delta))


def printed_multiplier(epsilon: float, delta: float) -> float:
    r"""Return the printed noise multiplier of Definition A.5, for every epsilon.

    It is :math:`\sqrt{2\ln(2/\delta)}/\varepsilon`.

    It is too small for large epsilon, from 6.4 on at delta = 0.5 and from 9.7 on at delta = 1e-6,
    and enough for every delta up to epsilon = 2.5, where the proofs use it (theory/lowy-liu-asi.md,
    8, item 20).

    Examples
    --------
    >>> round(printed_multiplier(1.0, 1e-6), 6)
    5.386772
    """
    return math.sqrt(2 * math.log(2 / delta)) / epsilon


def _tail(failure: float) -> float:
    r"""Return the tail factor :math:`1+\sqrt{2\ln(1/\gamma)}` for a failure probability gamma."""
    require(0 < failure <= 1, "failure", "above 0 and at most 1", failure)
    return 1 + math.sqrt(-2 * math.log(failure))


def gradient_spread(m: int, lipschitz: float, failure: float) -> float:
    r"""Return the bound (R1) on a user gradient's distance from its mean.

    .. math:: \|\nabla\hat F(x,Z)-\nabla F(x)\|\le r_m(\gamma)=
        \frac L{\sqrt m}\big(1+\sqrt{2\ln(1/\gamma)}\big)

    It holds with probability 1 - gamma, gamma = `failure`, at a fixed point in any dimension, for
    convex L-Lipschitz losses and independent items. Two users' gradients are within twice that
    distance (theory/lowy-liu-asi.md, 2.0).

    *Proof.* The mean square of the left side is at most :math:`L^2/m`, hence its mean at most
    :math:`L/\sqrt m`. Replacing one item moves it by at most 2L/m: McDiarmid's inequality gives
    :math:`P[\cdot\ge E+t]\le\exp(-t^2m/(2L^2))`.

    Examples
    --------
    >>> round(gradient_spread(100, 1.0, 1e-6), 6)
    0.625652
    """
    return lipschitz / math.sqrt(m) * _tail(failure)


def uniform_gradient_spread(case: UserLevel, failure: float) -> float:
    r"""Return a bound like `gradient_spread`, for all n users and all points at once.

    .. math::
        \frac L{\sqrt m}\Big(1+\sqrt{2\ln\tfrac n\gamma+2d\ln(1+\tfrac{\sqrt2R}r)}\Big)+2\beta r,
        \qquad r=\frac L{4\beta\sqrt m}

    It is infinite for losses that are not smooth. *Proof.* (R1) holds on a maximal r-separated
    subset of the set. That has at most :math:`(1+\sqrt2R/r)^d` points, by volume, because a set of
    diameter R lies in a ball of radius :math:`R/\sqrt2` (Jung). Between these points the gradients
    of user and population move by at most :math:`\beta r` each. The point at which gradients are
    taken may depend on the data, as in a phase of Algorithm 2.
    """
    if not math.isfinite(case.smoothness):
        return math.inf
    scale = case.lipschitz / math.sqrt(case.m)
    require(0 < failure <= 1, "failure", "above 0 and at most 1", failure)
    cover = case.d * math.log1p(4 * math.sqrt(2) * case.smoothness * case.diameter / scale)
    logarithm = math.log(case.n) - math.log(failure) + cover
    net = 0.5 * scale if case.smoothness > 0 else 0.0
    return scale * (1 + math.sqrt(2 * logarithm)) + net


def iterate_spread(step_size: float, lipschitz: float, steps: float, failure: float) -> float:
    r"""Return the bound (R2) on the distance of SGD's average from its mean.

    .. math:: \|\tilde x-E\tilde x\|\le\eta L\sqrt{T/3}\big(1+\sqrt{2\ln(1/\gamma)}\big)

    with probability 1 - gamma, gamma = `failure`, for the average of the T points at which
    gradients are taken, from a fixed start, projected, with :math:`\eta\le2/\beta`
    (theory/lowy-liu-asi.md, 2.0). It is Lemma 2.3 with an explicit constant and without d.

    *Proof.* Resampling the item of step s (from 1) moves the next point by
    :math:`\eta\|\nabla f(w,z)-\nabla f(w,z')\|`: at most :math:`2\eta L`, and at most
    :math:`2\eta^2L^2` in mean square. Later steps are non-expansive, and T - s of the T averaged
    points follow. Since :math:`\sum_s(1-s/T)^2=(T-1)(2T-1)/(6T)\le T/3`, the inequality of Efron
    and Stein gives :math:`E\|\tilde x-E\tilde x\|^2\le\eta^2L^2T/3`, and McDiarmid's
    :math:`P[\cdot\ge E+t]\le\exp(-3t^2/(2\eta^2L^2T))`.

    Examples
    --------
    >>> round(iterate_spread(0.01, 1.0, 300, 1e-3), 4)
    0.4717
    """
    return step_size * lipschitz * math.sqrt(steps / 3) * _tail(failure)


def group_spread(
    step_size: float, lipschitz: float, steps: float, groups: int, failure: float
) -> float:
    r"""Return a bound on the distances between the averages of C groups, at once for all pairs.

    It holds with probability 1 - gamma, gamma = `failure`, and is twice `iterate_spread` at
    :math:`\gamma/C`.

    Examples
    --------
    >>> round(group_spread(1.0, 1.0, 1.0, 300, 0.01), 2)
    6.4
    """
    return 2 * iterate_spread(step_size, lipschitz, steps, failure / groups)
