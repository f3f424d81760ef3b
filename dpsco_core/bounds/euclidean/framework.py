r"""Gradient descent with a private mean oracle: Kamath et al. (2022), Theorems 3.1 and 3.2.

The oracle's deviation from the population gradient has a bias of norm at most B and a second moment
of at most :math:`G^2`. In the convex case every step sees the same data, so both must hold
uniformly over the constraint set (theory/kamath-liu-zhang.md, 3.1); in the strongly convex case
every step has a fresh block.
"""

import math

from dpsco_core.base.errors import require


def convex_risk(
    diameter: float,  # M of the constraint set
    gradient_bound: float,  # R, on the norm of the population gradient
    # B and :math:`G^2` of the oracle, uniform over the set
    bias: float,
    second_moment: float,
    steps: float,  # T >= 1
    *,
    # :math:`\eta`; None for the best one, :math:`M/\sqrt{2T(R^2+G^2)}`, at which the first two
    # terms add up to :math:`M\sqrt{2(R^2+G^2)/T}`.
    step: float | None = None,
) -> tuple[float, float]:
    r"""Theorem 3.1, for the average of the queried points.

    .. math:: \frac{M^2}{2\eta T}+\eta(R^2+G^2)+MB

    Returns optimisation and bias; the first two terms together, and M B.

    Examples
    --------
    >>> convex_risk(2.0, 3.0, 0.25, 16.0, 50)
    (2.0, 0.5)
    """
    require(steps >= 1, "steps", "at least 1", steps)
    energy = gradient_bound**2 + second_moment
    if step is None:
        return diameter * math.sqrt(2 * energy / steps), diameter * bias
    require(step > 0, "step", "positive", step)
    return diameter**2 / (2 * step * steps) + step * energy, diameter * bias


def contraction(strong_convexity: float, smoothness: float) -> float:
    r"""Return :math:`q=1-\frac{\lambda L}{(\lambda+L)^2}\in[\frac34,1)`, at step 1/(lambda + L).

    Examples
    --------
    >>> contraction(1.0, 1.0)
    0.75
    """
    _check(strong_convexity, smoothness)
    total = strong_convexity + smoothness
    return 1 - strong_convexity / total * (smoothness / total)


def noise_floor(strong_convexity: float, smoothness: float) -> float:
    r"""Return :math:`\frac{\lambda+L}{\lambda L}`: what a deviation G costs in distance."""
    _check(strong_convexity, smoothness)
    return (strong_convexity + smoothness) / strong_convexity / smoothness


def strong_risk(
    diameter: float,  # M
    # lambda and L, of the population risk
    strong_convexity: float,
    smoothness: float,
    deviation: float,  # :math:`G=(E\|g-\nabla F\|^2)^{1/2}`
    steps: int,  # T >= 1
) -> tuple[float, float]:
    r"""Theorem 3.2 by Minkowski's inequality, for the last iterate.

    .. math::
        \frac L2\Big(q^TM+\frac{(1-q^T)(\lambda+L)G}{\lambda L}\Big)^2

    See theory/kamath-liu-zhang.md, 3.1; it needs a gradient of 0 at the minimiser.

    Returns optimisation and noise; the roots of the two parts' risks: the square of their sum is
    the bound.
    """
    decay = _decay(strong_convexity, smoothness, steps)
    half = math.sqrt(smoothness / 2)
    floor = noise_floor(strong_convexity, smoothness)
    return half * decay * diameter, half * (1 - decay) * floor * deviation


def strong_risk_summed(
    diameter: float,
    strong_convexity: float,
    smoothness: float,
    second_moment: float,
    steps: int,
) -> tuple[float, float]:
    r"""Theorem 3.2, second display: Cauchy-Schwarz over the T + 1 summands.

    .. math::
        \frac L2(T+1)\big(q^{2T}M^2+A\big),\qquad
        A=\frac{(\lambda+L)^2G^2}{2\lambda L(\lambda+L)^2-\lambda^2L^2}

    At :math:`q^{2T}=A` it is the printed
    :math:`\frac{T(\lambda+L)^2(M^2+1)G^2}{4\lambda(\lambda+L)^2-2\lambda^2L}` with T + 1 for T.

    Returns optimisation and noise; their sum is the bound.
    """
    decay = _decay(strong_convexity, smoothness, steps)
    factor = smoothness / 2 * (steps + 1)
    return (
        factor * (decay * diameter) ** 2,
        factor * variance_factor(strong_convexity, smoothness) * second_moment,
    )


def variance_factor(strong_convexity: float, smoothness: float) -> float:
    r"""Return :math:`A/G^2=\frac1{(1-q^2)(\lambda+L)^2}`, see `strong_risk_summed`."""
    total = strong_convexity + smoothness
    ratio = strong_convexity / total * (smoothness / total)
    return 1 / (total**2 * ratio * (2 - ratio))


def _decay(strong_convexity: float, smoothness: float, steps: int) -> float:
    require(steps >= 1, "steps", "a positive integer", steps)
    _check(strong_convexity, smoothness)
    total = strong_convexity + smoothness
    return math.exp(steps * math.log1p(-strong_convexity / total * (smoothness / total)))


def _check(strong_convexity: float, smoothness: float) -> None:
    require(strong_convexity > 0, "strong_convexity", "positive", strong_convexity)
    must = "finite and at least the strong convexity"
    ok = strong_convexity * (1 - 1e-12) <= smoothness < math.inf
    require(ok, "smoothness", must, smoothness)
