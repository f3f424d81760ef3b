"""Letters of formulas that several files share; the papers use one letter for several things."""

import math

from dpsco_core.bounds.base import Letter
from dpsco_core.bounds.conditions import moment_scale
from dpsco_core.bounds.lq.conditions import width_bounds
from dpsco_core.privacy.budget import ApproxDP, PureDP
from dpsco_core.problems.base import Setting


def epsilon_of(setting: Setting) -> float:
    """Return the epsilon of a pure or (epsilon, delta) budget; NaN under zCDP."""
    budget = setting.budget
    return budget.epsilon if isinstance(budget, (PureDP, ApproxDP)) else math.nan


def delta_of(setting: Setting) -> float:
    """Return the delta of an (epsilon, delta) budget; NaN under any other."""
    return setting.budget.delta if isinstance(setting.budget, ApproxDP) else math.nan


# Letters have these meanings unless a bound defines them otherwise.
COMMON = (
    Letter("n", "records (users, where they have several items)", lambda s: s.n),
    Letter("m", "items per user", lambda s: s.m),
    Letter("d", "dimension", lambda s: s.d),
    Letter("p", "tail index: the order of the moment that is bounded", lambda s: s.moment_order),
    Letter(r"\rho", "zCDP budget that Gaussian noise may spend", lambda s: s.gaussian_rho),
    Letter(r"\varepsilon", "privacy budget", epsilon_of),
    Letter(r"\delta", "failure probability of privacy", delta_of),
    Letter("D", "diameter of the set, in l2", lambda s: s.constants.diameter),
    Letter("M", "diameter of the set, in l2", lambda s: s.constants.diameter),
    Letter("L", "Lipschitz constant of every record's loss", lambda s: s.constants.lipschitz),
    Letter(
        "R",
        "bound on the norm of the mean, or of the mean gradient",
        lambda s: s.constants.mean_gradient_bound,
    ),
    Letter(r"\lambda", "strong convexity", lambda s: s.constants.strong_convexity),
    Letter(r"\beta", "smoothness of every record's loss", lambda s: s.constants.sample_smoothness),
    Letter(r"\tau", "clipping threshold"),
    Letter("T", "number of steps"),
    Letter("q", "spike probability, the best one"),
    *(
        Letter(
            token,
            "Gaussian width of the set",
            lambda s: width_bounds(s).upper,
            token + r"=E\max_{w\in C}\langle\xi,w\rangle",
        )
        for token in ("G_C", "G")
    ),
)
PURE = Letter(r"\varepsilon", "privacy budget", lambda s: s.pure_epsilon)
LOWER_RHO = Letter(r"\rho", "zCDP budget of the algorithms that it binds", lambda s: s.rho)
SCALE = Letter("g", "root of the coordinates' moment", moment_scale)
LOWER = (
    SCALE,
    # D is an index inside the formula, so that it has no meaning to print.
    Letter("D", ""),
    Letter("N", "number of words of the packing"),
    Letter("B", "number of spiked records, at random"),
)
SIGNS = (*LOWER, Letter(r"\delta", "bias of the signs, the best one"))
MOMENT = Letter(
    "M",
    "directional moment of the gradients (its root)",
    lambda s: s.constants.directional_moment,
)
CLIPPING = (MOMENT, Letter("R", "clip radius, the best one"))
BLOCKS = (Letter("m", "number of blocks"), Letter("b", "records a block"))
SMOOTH = Letter("L", "smoothness of the population risk", lambda s: s.constants.smoothness)
ESTIMATED = (
    SMOOTH,
    Letter("G", "deviation of the estimated gradient"),
    Letter("B", "bias of the estimated gradient"),
    *BLOCKS,
)

# These define two symbols of lower bounds over spikes in LaTeX: the number B of spikes, and the
# least share g_d of wrong signs.
BINOMIAL = r"B\sim\mathrm{Bin}(n,q)"
WRONG_SIGNS = (
    r",\ g_d(t)=\tfrac12\min_s\frac{1+(e^t-1)F_{d-1}(s-1)}{1+(e^t-1)F_d(s)},\ "
    r"F_D\text{ the cdf of }\mathrm{Bin}(D,\tfrac12)"
)
