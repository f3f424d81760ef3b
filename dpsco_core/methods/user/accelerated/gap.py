r"""What AC-SA guarantees: the gap after some noisy steps, and how to divide steps into stages.

Ghadimi and Lan (2012), with the constants of theory/lowy-liu-asi.md, 2.2. The
steps themselves are in `dpsco_core.methods.user.accelerated.sgd`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpsco_core.base.errors import require
from dpsco_core.privacy.checks import check_count, check_positive


@dataclass(frozen=True, kw_only=True)
class Curvature:
    """What AC-SA must know of its objective."""

    strong_convexity: float  # μ > 0
    smoothness: float  # L_F ≥ μ

    def __post_init__(self) -> None:
        check_positive("strong_convexity", self.strong_convexity)
        ok = self.strong_convexity <= self.smoothness < math.inf
        require(ok, "smoothness", "finite and at least strong_convexity", self.smoothness)


def accelerated_gap(
    objective: Curvature,
    steps: int,
    square_distance: float,  # :math:`\|x_0-x^*\|^2`, or its mean
    variance: float,  # :math:`V^2`
) -> float:
    r"""Return the guarantee of AC-SA with so many steps (Ghadimi and Lan 2012, Proposition 9)."""
    check_count("steps", steps)
    bias = 2 * objective.smoothness * square_distance / (steps * (steps + 1))
    return bias + 8 * variance / (objective.strong_convexity * (steps + 1))


def stage_lengths(
    steps: int,
    objective: Curvature,
    # :math:`V_0 \ge F(x_0) - F^*`; LR for an L-Lipschitz loss on a set of diameter R.
    initial_gap: float,
    variance: float,
) -> tuple[int, ...]:
    r"""Return how `steps` steps divide into stages that each halve the bound on the gap.

    :math:`N_k = \lceil\max\{4\sqrt{L_F/\mu}, 32V^2/(\mu V_02^{-(k-1)})\}\rceil`: with
    :math:`E\|x_0-x^*\|^2 \le 2V_k/\mu` at the start of a stage, :math:`V_k = V_02^{-(k-1)}`, either
    term of `accelerated_gap` is at most :math:`V_k/4`. A remainder that is too short joins the last
    stage; where already the first is too long, there is one stage of all steps.
    """
    check_count("steps", steps)
    check_positive("initial_gap", initial_gap)
    require(0 <= variance < math.inf, "variance", "finite and at least 0", variance)
    mu = objective.strong_convexity
    lengths: list[int] = []
    rest, gap = steps, initial_gap
    least = needed = 4 * math.sqrt(objective.smoothness / mu)
    while rest:
        if variance:
            needed = max(least, 32 * variance / mu / gap) if gap else math.inf
        if needed > rest:
            break
        lengths.append(math.ceil(needed))
        rest -= lengths[-1]
        gap /= 2
    if lengths:
        lengths[-1] += rest
        return tuple(lengths)
    return (steps,)


def staged_gap(
    lengths: Iterable[int], objective: Curvature, square_distance: float, variance: float
) -> float:
    r"""Return the guarantee of AC-SA in stages, each from the last one's result.

    .. math:: G_k = \frac{2L_F\Delta_{k-1}}{N_k(N_k+1)} + \frac{8V^2}{\mu(N_k+1)}, \qquad
        \Delta_k = \frac{2G_k}{\mu}

    with :math:`\Delta_0` the square distance of the start from the minimiser, or its mean: at most
    :math:`2V_0/\mu` where the gap is at most :math:`V_0`. It holds for stages of any lengths, and
    at most halves at each of those of `stage_lengths` (unless a single stage is all there is).
    """
    gap = math.inf
    for length in lengths:
        gap = accelerated_gap(objective, length, square_distance, variance)
        square_distance = 2 * gap / objective.strong_convexity
    return gap
