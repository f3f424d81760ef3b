r"""The rates at user level of Lowy, Liu and Asi (2024), and of the work that they compare with.

The rates bound the mean excess population risk for n users with m items each. Constants are set to
1, and all logarithms but :math:`\Lambda=\ln(1/\delta)` are dropped. R is the diameter of the set
and L the Lipschitz constant. The terms of a rate are in the units of the risk, and their sum is the
rate. Upper rates are not capped by the trivial L R. See theory/lowy-liu-asi.md, 3 to 5.
"""

import math
from dataclasses import replace
from functools import partial

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import FOLKLORE, LOWY_2024, OWN, BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, Letter
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    SAMPLE_SMOOTH,
    SAMPLE_STRONGLY_CONVEX,
    approximate,
)
from dpsco_core.bounds.lq.conditions import LIPSCHITZ_EVERYWHERE
from dpsco_core.bounds.rate import Rate, bound_at_rate, is_approximate, two_terms
from dpsco_core.bounds.user.conditions import (
    SMALL_DELTA,
    STEP_FITS,
    USERS_ERM,
    USERS_SGD,
)
from dpsco_core.privacy import ApproxDP
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

# In the problems with these slugs the loss of every item is strongly convex.
ITEMS_STRONG = ("quadratic",)
NEEDS = ("lipschitz", "diameter")
ANY_EPSILON = approximate(math.inf)
SMALL_EPSILON = approximate(10.0)
LOSSES = (LIPSCHITZ, DIAMETER)
ALGORITHM_1 = (SMALL_EPSILON, *LOSSES, SAMPLE_SMOOTH, STEP_FITS, USERS_SGD)
THEOREM_3_2 = (SMALL_EPSILON, SMALL_DELTA, *LOSSES, SAMPLE_SMOOTH, USERS_ERM)
# Theorem 4.1 smooths the loss, which needs its Lipschitz constant at points around the set too.
THEOREM_4_1 = (SMALL_EPSILON, SMALL_DELTA, *LOSSES, LIPSCHITZ_EVERYWHERE, USERS_ERM)
REMARK_3_6 = (*THEOREM_3_2, SAMPLE_STRONGLY_CONVEX)


def _check_mildly_smooth(setting: Setting) -> str:
    """Return the reason why the loss is not smooth enough for phased SGD on n m items; or "".

    The condition is that of Feldman et al. (2020) at n m records and epsilon/m, the budget that
    group privacy leaves for one item.
    """
    c, budget = setting.constants, setting.budget
    if not isinstance(budget, ApproxDP) or not math.isfinite(c.lipschitz * c.diameter):
        return ""
    items = setting.n * setting.m
    private = setting.m * math.sqrt(setting.d * math.log(1 / budget.delta)) / budget.epsilon
    largest = c.lipschitz / c.diameter * max(math.sqrt(items), private)
    if c.sample_smoothness <= largest:
        return ""
    return (
        "The statement needs a smoothness of at most "
        f"(L/R) max(sqrt(nm), m sqrt(d ln(1/delta))/epsilon) = {largest:.3g} up to a constant, "
        f"and beta={c.sample_smoothness:.4g}."
    )


_MILD = Hypothesis(
    text="beta <= (L/R) max(sqrt(nm), m sqrt(d ln(1/delta))/epsilon)", check=_check_mildly_smooth
)
# For epsilon above about ln(1/delta) the noise falls more slowly than 1/epsilon, unlike the rate.
GROUP_CONDITIONS = (SMALL_EPSILON, *LOSSES, SAMPLE_SMOOTH, _MILD)
_UNIT_CONSTANTS = "Constants are set to 1, and logarithms but that of delta."


def _condition_number(setting: Setting) -> float:
    """Return the condition number beta R/L; NaN for a constant loss."""
    c = setting.constants
    return c.sample_smoothness * c.diameter / c.lipschitz if c.lipschitz > 0 else math.nan


USER_LETTERS = (
    Letter("D", "radius of the set: half its diameter", lambda s: s.constants.diameter / 2),
    Letter(r"\lambda_i", "weight of the regulariser in phase i"),
    Letter("R", "diameter of the set", lambda s: s.constants.diameter),
    Letter(r"\mu", "strong convexity of the loss", lambda s: s.constants.sample_strong_convexity),
    Letter(r"\kappa", "smoothness in units of L/R", _condition_number, r"\kappa=\frac{\beta R}L"),
)
_rate = partial(two_terms, unit="L*R", letters=USER_LETTERS, applies=is_approximate)
# This is the rate of Theorem 3.2 (C.3) for smooth losses and of Theorem 4.1 (D.3) for any. Without
# the logarithm it is the rate of Asi and Liu (2024), Bassily and Sun (2023) and Ghazi et al.
# (2023), each under its own conditions.
OPTIMAL = _rate("1/sqrt(n*m)", "sqrt(d*ln(1/delta))/(epsilon*n*sqrt(m))")
# Theorem 2.1 (B.1) states this rate for Algorithm 1; Algorithm 5 of Bassily and Sun (2023) has the
# same one.
LINEAR_TIME = _rate("1/sqrt(n*m*epsilon)", "sqrt(d*ln(1/delta))/(epsilon*sqrt(n*m))")
# The proof of Theorem B.1 gives this rate: R^2/(eta T_1) and d eta L^2 at eta = R/(L sqrt(d m n
# epsilon)). For epsilon below 1 it is smaller than as stated (theory/lowy-liu-asi.md, 3.1).
LINEAR_TIME_PROVEN = _rate("sqrt(d/(n*m*epsilon))", "sqrt(d/(n*m*epsilon))")
# An optimal item-level method with group privacy has this rate (footnote 3); that of Feldman, Koren
# and Talwar (2020), for example, takes linear time.
GROUP_PRIVACY = _rate("1/sqrt(n*m)", "sqrt(d*ln(1/delta))/(epsilon*n)")
# Remark 3.6 has this rate, by the reduction of Feldman et al. (2020), section 5.1. Without the
# logarithm it is the rate that the paper calls optimal, although the paper names no lower bound.
STRONG = _rate("1/(n*m)", "(sqrt(d*ln(1/delta))/(epsilon*n))^2/m", unit="L^2/mu")
THEOREM_3_2_CARD = BoundCard(
    slug="upper.user.accelerated",
    name="Accelerated phased ERM for users, rate",
    paper=LOWY_2024,
    statement="Theorem 3.2 (C.3)",
    summary="The optimal rate at user level for smooth losses, by accelerated steps on users' "
    "gradients from which outliers are removed. " + _UNIT_CONSTANTS,
    kind="upper",
    quantity="excess risk",
    constant="rate",
    latex=OPTIMAL.latex,
    privacy="approx",
    method="user.accelerated",
    level="user",
    loss_class=classes.SMOOTH_LIPSCHITZ,
    problems=SCO_PROBLEMS,
)
_THEOREM_2_1 = replace(
    THEOREM_3_2_CARD,
    slug="upper.user.phased-sgd",
    name="Phased SGD for users, rate",
    statement="Theorem 2.1 (B.1)",
    summary="The rate of one pass over all items with groups of users, whose outlying answers are "
    "removed. Its private term falls with the root of n only. " + _UNIT_CONSTANTS,
    method="user.phased-sgd",
)
_FOOTNOTE_3 = replace(
    THEOREM_3_2_CARD,
    slug="upper.user.group-privacy",
    name="Group privacy, rate",
    statement="footnote 3, with the logarithm of Feldman et al. 2020",
    summary="The rate of an optimal item-level method that hides all m items of a user, on mildly "
    "smooth losses: its private term does not fall with m. " + _UNIT_CONSTANTS,
    method="user.group-privacy",
)
USER_RATES: tuple[Bound, ...] = (
    bound_at_rate(
        THEOREM_3_2_CARD,
        Rate(terms={"sampling": "L*R/sqrt(n*m)"}, letters=USER_LETTERS),
        LOSSES,
        slug="upper.user.non-private",
        name="All items without privacy, rate",
        paper=FOLKLORE,
        statement="SGD or ERM on all n m items",
        summary="The rate of SGD or empirical risk minimisation on all items of all users, "
        "which are not private. Its constant is set to 1.",
        privacy="none",
        method="",
        loss_class=classes.LIPSCHITZ,
    ),
    bound_at_rate(_THEOREM_2_1, LINEAR_TIME, ALGORITHM_1),
    bound_at_rate(
        _THEOREM_2_1,
        LINEAR_TIME_PROVEN,
        ALGORITHM_1,
        slug="upper.user.phased-sgd-proof",
        name="Phased SGD for users, rate of the proof",
        statement="Theorem B.1, as its proof has it",
        printing="reworked",
        summary="What the proof yields at the theorem's step size: for epsilon below 1 it "
        "grows more slowly than the stated rate. Constants and logarithms, that of delta too, "
        "are set to 1.",
    ),
    bound_at_rate(THEOREM_3_2_CARD, OPTIMAL, THEOREM_3_2),
    bound_at_rate(
        THEOREM_3_2_CARD,
        OPTIMAL,
        THEOREM_4_1,
        slug="upper.user.accelerated-nonsmooth",
        name="Accelerated phased ERM for users on smoothed losses, rate",
        statement="Theorem 4.1 (D.3)",
        summary="The optimal rate at user level for any Lipschitz losses, averaged over a "
        "small ball first. " + _UNIT_CONSTANTS,
        method="user.accelerated-nonsmooth",
        loss_class=classes.LIPSCHITZ,
    ),
    bound_at_rate(
        THEOREM_3_2_CARD,
        STRONG,
        REMARK_3_6,
        slug="upper.user.accelerated-strong",
        name="Accelerated phased ERM for users, strongly convex, rate",
        statement="Remark 3.6",
        summary="The rate at user level for strongly convex and smooth losses, by the "
        "reduction of Feldman et al. 2020, section 5.1. " + _UNIT_CONSTANTS,
        method="user.accelerated-strong",
        loss_class=classes.SMOOTH_LIPSCHITZ_STRONG,
        problems=ITEMS_STRONG,
    ),
    bound_at_rate(_FOOTNOTE_3, GROUP_PRIVACY, GROUP_CONDITIONS),
    bound_at_rate(
        _FOOTNOTE_3,
        GROUP_PRIVACY,
        (SMALL_EPSILON, *LOSSES, SAMPLE_SMOOTH),
        slug="upper.user.clipped-means",
        name="Clipped means of users, rate",
        paper=OWN,
        statement="as Lowy et al., equation (18), with the noise of a whole user",
        summary="The rate of phased ERM on full batches without a filter, where a user's "
        "gradient counts with the Lipschitz constant: that of group privacy. " + _UNIT_CONSTANTS,
        method="user.clipped-means",
    ),
)
