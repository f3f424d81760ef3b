r"""The rates at user level of Lowy, Liu and Asi (2024), and of the work that they compare with.

They bound the mean excess population risk for n users with m items each. Constants are set to 1,
and all logarithms but :math:`\Lambda=\ln(1/\delta)` are dropped. R is the diameter and L the
Lipschitz constant. The terms of a rate are in the units of the risk, and their sum is the rate.
Upper rates are not capped by the trivial L R. See theory/lowy-liu-asi.md, 3 to 5.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import FOLKLORE, LOWY_2024, OWN, BoundCard
from dpsco_core.base.errors import require
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, bound_like
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    SAMPLE_SMOOTH,
    SAMPLE_STRONGLY_CONVEX,
    Formula,
    approximate,
    name_terms,
)
from dpsco_core.bounds.lq.conditions import LIPSCHITZ_EVERYWHERE
from dpsco_core.bounds.user.conditions import (
    SMALL_DELTA,
    STEP_FITS,
    USERS_ERM,
    USERS_SGD,
    user_level,
)
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

TERMS = ("sampling", "privacy")
# In these problems the loss of every item is strongly convex.
ITEMS_STRONG = ("quadratic",)
NEEDS = ("lipschitz", "diameter")
ANY_EPSILON = approximate(math.inf)
SMALL_EPSILON = approximate(10.0)
LOSSES = (LIPSCHITZ, DIAMETER)
ALGORITHM_1 = (SMALL_EPSILON, *LOSSES, SAMPLE_SMOOTH, STEP_FITS, USERS_SGD)
THEOREM_3_2 = (SMALL_EPSILON, SMALL_DELTA, *LOSSES, SAMPLE_SMOOTH, USERS_ERM)
# The smoothed loss depends on points around the set.
THEOREM_4_1 = (SMALL_EPSILON, SMALL_DELTA, *LOSSES, LIPSCHITZ_EVERYWHERE, USERS_ERM)
REMARK_3_6 = (*THEOREM_3_2, SAMPLE_STRONGLY_CONVEX)
_UNIT_CONSTANTS = "Constants are set to 1, and logarithms but that of delta."
_OPTIMAL = r"LR\Big(\frac1{\sqrt{nm}}+\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n\sqrt m}\Big)"
_GROUP = r"LR\Big(\frac1{\sqrt{nm}}+\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big)"
Rate = Callable[[UserLevel], tuple[float, float]]
Pair = tuple[float, float]
Level = Callable[[Setting], UserLevel | None]


def _dimension_factor(case: UserLevel, logs: bool) -> float:
    r"""Return the factor of the private terms that depends on d.

    It is :math:`\sqrt{d\Lambda}`, or :math:`\sqrt d` without logarithms.
    """
    return math.sqrt(case.d * (case.log_delta if logs else 1.0))


def _rate_pair(case: UserLevel, sampling: float, private: float) -> Pair:
    """Return the sampling and the private term, in the unit of the risk."""
    return case.unit * sampling, case.unit * private


def optimal(case: UserLevel, *, logs: bool = True) -> Pair:
    r"""Return the optimal rate: Theorems 3.2 (C.3) for smooth and 4.1 (D.3) for any losses.

    Under their own conditions Asi and Liu (2024), Bassily and Sun (2023) and Ghazi et al. (2023)
    have it too. Without `logs` there is no :math:`\Lambda`, as in the comparison table.

    Examples
    --------
    >>> case = UserLevel(n=10_000, m=100, d=10_000, epsilon=1.0, delta=1e-6)
    >>> round(sum(optimal(case)), 7)
    0.0047169
    """
    private = _dimension_factor(case, logs) / (case.epsilon * case.n * math.sqrt(case.m))
    return _rate_pair(case, 1 / math.sqrt(case.total), private)


def linear_time(case: UserLevel, *, logs: bool = True) -> Pair:
    r"""Return the rate of Theorem 2.1 (B.1) as stated, which is that of Bassily and Sun (2023) too.

    Examples
    --------
    >>> case = UserLevel(n=10_000, m=100, d=10, epsilon=1.0, delta=1e-6)
    >>> round(sum(linear_time(case)), 6)
    0.012754
    """
    root = math.sqrt(case.total)
    return _rate_pair(
        case,
        1 / (root * math.sqrt(case.epsilon)),
        _dimension_factor(case, logs) / (case.epsilon * root),
    )


def linear_time_proven(case: UserLevel) -> Pair:
    r"""Return Theorem B.1 as proven: both terms are :math:`LR\sqrt{\frac d{nm\varepsilon}}`.

    They are :math:`\frac{R^2}{\eta T_1}` and :math:`d\eta L^2` at :math:`\eta=\frac R{L\sqrt{dmn
    \varepsilon}}`. For epsilon below 1 the power of epsilon is better than the stated one
    (theory/lowy-liu-asi.md, 3.1). Logarithms, those of delta included, are dropped.

    Examples
    --------
    >>> case = UserLevel(n=10_000, m=100, d=10, epsilon=0.1, delta=1e-6)
    >>> round(sum(linear_time_proven(case)), 6)
    0.02
    """
    term = math.sqrt(case.d / (case.total * case.epsilon))
    return _rate_pair(case, term, term)


def group_privacy(case: UserLevel, *, logs: bool = True) -> Pair:
    r"""Return the rate of an optimal item-level method with group privacy: footnote 3.

    An example is Feldman, Koren and Talwar (2020), in linear time. Its second term does not fall
    with m.

    Examples
    --------
    >>> case = UserLevel(n=10_000, m=100, d=10_000, epsilon=1.0, delta=1e-6)
    >>> round(sum(group_privacy(case)), 6)
    0.038169
    """
    return _rate_pair(
        case, 1 / math.sqrt(case.total), _dimension_factor(case, logs) / (case.epsilon * case.n)
    )


def strong(case: UserLevel, *, logs: bool = True) -> Pair:
    r"""Return the rate of Remark 3.6 for strongly convex losses.

    It follows by the reduction of Feldman et al. (2020), section 5.1. Without logarithms the paper
    calls it optimal, but names no lower bound.

    Examples
    --------
    >>> case = UserLevel(n=1000, m=100, d=10, epsilon=1.0, delta=1e-6, strong_convexity=0.5)
    >>> [f"{x:.5g}" for x in strong(case)]
    ['2e-05', '2.7631e-06']
    """
    require(case.strong_convexity > 0, "strong_convexity", "positive", case.strong_convexity)
    unit = case.lipschitz**2 / case.strong_convexity
    return unit / case.total, unit * (
        _dimension_factor(case, logs) / (case.epsilon * case.n)
    ) ** 2 / case.m


def formula(
    value: Callable[[UserLevel], tuple[float, ...]],
    void: tuple[float, ...],
    level_of: Level = user_level,
) -> Formula:
    """Return a function of a `Setting`: `value` of its `UserLevel`, or `void` if it has none."""

    def at_setting(setting: Setting) -> tuple[float, ...]:
        """Return the terms at a setting."""
        case = level_of(setting)
        return void if case is None else value(case)

    return at_setting


def upper(
    card: BoundCard,
    value: Callable[[UserLevel], tuple[float, ...]],
    hypotheses: tuple[Hypothesis, ...],
    needs: tuple[str, ...] = NEEDS,
    terms: tuple[str, ...] = TERMS,
    level_of: Level = user_level,
    **changes: Any,  # further fields of the card
) -> Bound:
    """Return the row of an upper bound at user level."""
    evaluate = name_terms(terms, needs, formula(value, (math.inf,) * len(terms), level_of))
    return bound_like(card, evaluate=evaluate, hypotheses=hypotheses, **changes)


def _non_private_rate(setting: Setting) -> tuple[float, ...]:
    """Return the rate without privacy."""
    c = setting.constants
    return (c.lipschitz * c.diameter / math.sqrt(setting.n * setting.m),)


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
    latex=_OPTIMAL,
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
    latex=r"LR\Big(\frac1{\sqrt{nm\varepsilon}}+"
    r"\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon\sqrt{nm}}\Big)",
    method="user.phased-sgd",
)
_FOOTNOTE_3 = replace(
    THEOREM_3_2_CARD,
    slug="upper.user.group-privacy",
    name="Group privacy, rate",
    statement="footnote 3, with Feldman et al. 2020",
    summary="The rate of an optimal item-level method that hides all m items of a user, on mildly "
    "smooth losses: its private term does not fall with m. " + _UNIT_CONSTANTS,
    latex=_GROUP,
    method="user.group-privacy",
)


def _condition_number(setting: Setting) -> float:
    """Return beta R/L; NaN if the loss is constant."""
    c = setting.constants
    return c.sample_smoothness * c.diameter / c.lipschitz if c.lipschitz > 0 else math.nan


LETTERS = (
    Letter("D", "radius of the set: half its diameter", lambda s: s.constants.diameter / 2),
    Letter(r"\lambda_i", "weight of the regulariser in phase i"),
    Letter("R", "diameter of the set", lambda s: s.constants.diameter),
    Letter(r"\mu", "strong convexity of the loss", lambda s: s.constants.sample_strong_convexity),
    Letter(r"\kappa", "smoothness in units of L/R", _condition_number),
)
USER_RATES: tuple[Bound, ...] = (
    bound_like(
        THEOREM_3_2_CARD,
        slug="upper.user.non-private",
        name="All items without privacy, rate",
        paper=FOLKLORE,
        statement="SGD or ERM on all n m items",
        summary="The rate of SGD or empirical risk minimisation on all items of all users, "
        "which are not private. Its constant is set to 1.",
        latex=r"\frac{LR}{\sqrt{nm}}",
        privacy="none",
        method="",
        loss_class=classes.LIPSCHITZ,
        evaluate=name_terms(("sampling",), NEEDS, _non_private_rate),
        hypotheses=LOSSES,
    ),
    upper(_THEOREM_2_1, linear_time, ALGORITHM_1),
    upper(
        _THEOREM_2_1,
        linear_time_proven,
        ALGORITHM_1,
        slug="upper.user.phased-sgd-proof",
        name="Phased SGD for users, rate of the proof",
        statement="Theorem B.1, as its proof has it",
        printing="reworked",
        summary="What the proof yields at the theorem's step size: for epsilon below 1 it "
        "grows more slowly than the stated rate. Constants and logarithms, that of delta too, "
        "are set to 1.",
        latex=r"2LR\sqrt{\frac d{nm\varepsilon}}",
    ),
    upper(THEOREM_3_2_CARD, optimal, THEOREM_3_2),
    upper(
        THEOREM_3_2_CARD,
        optimal,
        THEOREM_4_1,
        slug="upper.user.accelerated-nonsmooth",
        name="Accelerated phased ERM for users on smoothed losses, rate",
        statement="Theorem 4.1 (D.3)",
        summary="The optimal rate at user level for any Lipschitz losses, averaged over a "
        "small ball first. " + _UNIT_CONSTANTS,
        method="user.accelerated-nonsmooth",
        loss_class=classes.LIPSCHITZ,
    ),
    upper(
        THEOREM_3_2_CARD,
        strong,
        REMARK_3_6,
        (*NEEDS, "sample_strong_convexity"),
        slug="upper.user.accelerated-strong",
        name="Accelerated phased ERM for users, strongly convex, rate",
        statement="Remark 3.6",
        summary="The rate at user level for strongly convex and smooth losses, by the "
        "reduction of Feldman et al. 2020, section 5.1. " + _UNIT_CONSTANTS,
        latex=r"\frac{L^2}\mu\Big(\frac1{nm}+\frac{d\ln(1/\delta)}{\varepsilon^2n^2m}\Big)",
        method="user.accelerated-strong",
        loss_class=classes.SMOOTH_LIPSCHITZ_STRONG,
        problems=ITEMS_STRONG,
    ),
    upper(_FOOTNOTE_3, group_privacy, (ANY_EPSILON, *LOSSES, SAMPLE_SMOOTH)),
    upper(
        _FOOTNOTE_3,
        group_privacy,
        (ANY_EPSILON, *LOSSES, SAMPLE_SMOOTH),
        slug="upper.user.clipped-means",
        name="Clipped means of users, rate",
        paper=OWN,
        statement="as Lowy et al., equation (18), with the noise of a whole user",
        summary="The rate of phased ERM on full batches without a filter, where a user's "
        "gradient counts with the Lipschitz constant: that of group privacy. " + _UNIT_CONSTANTS,
        method="user.clipped-means",
    ),
)
