"""The conditions of bounds over a prior: means within R, and the budget of the bound's class."""

import math
from collections.abc import Callable

from dpsco_core.bounds.base import Hypothesis
from dpsco_core.bounds.conditions import moment_scale
from dpsco_core.privacy.budget import ApproxDP, PureDP
from dpsco_core.problems.base import Setting

# A function of (d, moment_order, R) that returns the largest spike probability q.
Largest = Callable[[int, float, float], float]


# These sentences say why proofs over priors also hold for p below 2: see
# theory/infinite-variance.md, 4.
SHRUNK = (
    "For p < 2 spikes are shrunk until their central moment is at most 1, to a smaller θ in the "
    "place of q^(1-1/p); nothing else in the proof reads p."
)
CENTRED = (
    "For p < 2 records are multiplied by 2^(1-2/p), which puts them in the class; nothing else in "
    "the proof reads p. The bound at p = 2 takes its place where it is larger: its laws are in the "
    "class too."
)
SIGNS_BELOW_TWO = "Signs have central moments of at most 1 at every order below 2."


def prior_within(
    largest: Largest,  # the largest spike probability of the prior
    # This function returns the bound R at a setting, in units of the moment scale.
    cap: Callable[[Setting], float],
    region: str = "the bound R",  # the name of the region that contains the means, in sentences
    # A sentence on a spike probability that is too large ends with these words: first on that
    # probability, then on the largest one allowed.
    leaves: str = "prior leaves {} or its moments exceed 1",
    keeps: str = "it in the class",
) -> Hypothesis:
    """Return the condition that the setting's spike probability keeps the prior in the class.

    It holds if the setting fixes no spike probability, since the bound then chooses one.
    """

    def check(setting: Setting) -> str:
        """Return the reason why the prior's means are too large; empty if they are not."""
        q = setting.spike_probability
        if q is None or not 0 < moment_scale(setting) < math.inf:
            return ""
        # R may equal the norm of the instance's own mean, so rounding errors are allowed.
        rounding = 1e-12 * setting.constants.mean_gradient_bound / moment_scale(setting)
        longest = cap(setting) * (1 + 1e-9) + (rounding if math.isfinite(rounding) else 0.0)
        largest_q = largest(setting.d, setting.moment_order, longest)
        if q <= largest_q * (1 + 1e-9):
            return ""
        return (
            f"At spike probability {q:.3g} the {leaves.format(region)}: "
            f"at most {largest_q:.3g} keeps {keeps}."
        )

    return Hypothesis(text=f"the prior's means are within {region}", check=check)


def approximate_level(setting: Setting) -> tuple[float, float] | None:
    """Return (epsilon, delta) of the budget, delta being 0 under a pure one; None under zCDP."""
    match setting.budget:
        case PureDP(epsilon=epsilon):
            return epsilon, 0.0
        case ApproxDP(epsilon=epsilon, delta=delta):
            return epsilon, delta
    return None


APPROXIMATE_BUDGET = Hypothesis(
    text="an (epsilon, delta) or pure budget",
    check=lambda s: (
        ""
        if approximate_level(s) is not None
        else "The bound binds algorithms with an (epsilon, delta) guarantee, and the budget is "
        f"{s.budget}, for which there are larger ones."
    ),
)
APPROX_CLASS = (
    "It is a worst case over laws with bounded p-th moments and means within R, and binds every "
    "(epsilon, delta)-DP algorithm."
)
ZCDP_CLASS = (
    "It is a worst case over laws with bounded p-th moments and means within R, and binds rho-zCDP "
    "algorithms; under an (epsilon, delta) budget, those that spend no more than its Gaussian "
    "releases may."
)
