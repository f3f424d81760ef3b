r"""Excess risk at user level: the rates of Lowy, Liu and Asi (2024), and of what they compare with.

The upper bound of Levy et al. (2021), which they call suboptimal without giving its rate, has no
row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import (
    ASI_LIU_2024,
    BASSILY_SUN_2023,
    FOLKLORE,
    GHAZI_2023,
    LEVY_2021,
    LOWY_2024,
    SCO_PROBLEMS,
    BoundCard,
)
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, lettered
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    SAMPLE_SMOOTH,
    SAMPLE_STRONGLY_CONVEX,
    Formula,
    approximate,
    named,
    never,
)
from dpsco_core.bounds.lq.conditions import EVERYWHERE, L2_BALL
from dpsco_core.bounds.user import rate_formulas as user_rates
from dpsco_core.bounds.user.complexity import COMPARISON
from dpsco_core.bounds.user.conditions import (
    SMALL_DELTA,
    STEP_FITS,
    USERS_ERM,
    USERS_SGD,
    condition,
    user_level,
)
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.problems.base import Setting

Rate = Callable[[UserLevel], tuple[float, float]]

TERMS = ("sampling", "privacy")
ITEMS_STRONG = ("quadratic",)  # the loss of every item is strongly convex
NEEDS = ("lipschitz", "diameter")
ANY_EPSILON = approximate(math.inf)
SMALL_EPSILON = approximate(10.0)
LOSSES = (LIPSCHITZ, DIAMETER)
ALGORITHM_1 = (SMALL_EPSILON, *LOSSES, SAMPLE_SMOOTH, STEP_FITS, USERS_SGD)
THEOREM_3_2 = (SMALL_EPSILON, SMALL_DELTA, *LOSSES, SAMPLE_SMOOTH, USERS_ERM)
# The smoothed loss looks at points around the set.
THEOREM_4_1 = (SMALL_EPSILON, SMALL_DELTA, *LOSSES, EVERYWHERE, USERS_ERM)
REMARK_3_6 = (*THEOREM_3_2, SAMPLE_STRONGLY_CONVEX)
_ONE = "Constants are set to 1, and logarithms but that of delta."
_NO_LOGS = "Constants and logarithms are set to 1."
_OPTIMAL = r"LR\Big(\frac1{\sqrt{nm}}+\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n\sqrt m}\Big)"
_QUOTED = r"LR\Big(\frac1{\sqrt{nm}}+\frac{\sqrt d}{\varepsilon n\sqrt m}\Big)"
_GROUP = r"LR\Big(\frac1{\sqrt{nm}}+\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon n}\Big)"


def assumptions(slug: str, text: str) -> Hypothesis:
    """Return what the comparison says that a method needs, by its slug there."""
    row = next(row for row in COMPARISON if row.slug == slug)
    return condition(text, lambda at: " ".join(row.failures(at)))


BASSILY_SUN_NEEDS = (
    ANY_EPSILON,
    *LOSSES,
    SAMPLE_SMOOTH,
    assumptions(
        "bassily-sun-2023",
        "beta R/L < min(n/sqrt(md), n^(3/2)/(d sqrt(m))), n >= sqrt(d)/epsilon and "
        "m <= max(sqrt(d), n epsilon^2/sqrt(d))",
    ),
)
GHAZI_NEEDS = (ANY_EPSILON, *LOSSES, assumptions("ghazi-2023", "n >= ln(d)/epsilon"))
ASI_LIU_NEEDS = (ANY_EPSILON, *LOSSES, assumptions("asi-liu-2024", "n >= ln(md)/epsilon"))
LOCAL_NEEDS = (
    ANY_EPSILON,
    *LOSSES,
    SAMPLE_SMOOTH,
    assumptions(
        "bassily-sun-2023-local",
        "beta R/L < epsilon^3 sqrt(n^3/(m d^3)) and m <= d/epsilon^2 <= n",
    ),
)


def formula(value: Callable[[UserLevel], tuple[float, ...]], void: tuple[float, ...]) -> Formula:
    """Return `value` of a `Setting`, and `void` where there is no `UserLevel`."""

    def at_setting(setting: Setting) -> tuple[float, ...]:
        at = user_level(setting)
        return void if at is None else value(at)

    return at_setting


def _upper(
    card: BoundCard, rate: Rate, hypotheses: tuple[Hypothesis, ...], needs: tuple[str, ...] = NEEDS
) -> Bound:
    void = math.inf, math.inf
    return Bound(
        card=card, evaluate=named(TERMS, needs, formula(rate, void)), hypotheses=hypotheses
    )


def _lower(card: BoundCard, rate: Rate, hypotheses: tuple[Hypothesis, ...]) -> Bound:
    at_setting = formula(rate, (0.0, 0.0))

    def terms(setting: Setting) -> dict[str, float]:
        return dict(zip(TERMS, at_setting(setting), strict=True))

    return Bound(card=card, evaluate=terms, hypotheses=hypotheses)


def _non_private(setting: Setting) -> tuple[float, ...]:
    c = setting.constants
    return (c.lipschitz * c.diameter / math.sqrt(setting.n * setting.m),)


def _quoted_optimal(at: UserLevel) -> tuple[float, float]:
    return user_rates.optimal(at, logs=False)


def _quoted_linear(at: UserLevel) -> tuple[float, float]:
    return user_rates.linear_time(at, logs=False)


def _cut(pair: tuple[float, float], most: float) -> tuple[float, float]:
    """Return the terms cut, so that their sum is at most `most`."""
    first = min(pair[0], most)
    return first, min(pair[1], most - first)


def _lower_rate(at: UserLevel) -> tuple[float, float]:
    return _cut(user_rates.quoted_lower(at), at.unit)


def _lower_strong(at: UserLevel) -> tuple[float, float]:
    if at.strong_convexity <= 0:
        return 0.0, 0.0
    # No point has more excess risk than L R, or than L^2/(2 mu): the risk is above a parabola.
    most = min(at.unit, at.lipschitz**2 / (2 * at.strong_convexity))
    return _cut(user_rates.strong(at, logs=False), most)


_THEOREM_3_2 = BoundCard(
    slug="upper.user.accelerated",
    name="Accelerated phased ERM for users, rate",
    paper=LOWY_2024,
    statement="Theorem 3.2 (C.3)",
    summary="The optimal rate at user level for smooth losses, by accelerated steps on users' "
    "gradients from which outliers are removed. " + _ONE,
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
    _THEOREM_3_2,
    slug="upper.user.phased-sgd",
    name="Phased SGD for users, rate",
    statement="Theorem 2.1 (B.1)",
    summary="The rate of one pass over all items with groups of users, whose outlying answers are "
    "removed. Its private term falls with the root of n only. " + _ONE,
    latex=r"LR\Big(\frac1{\sqrt{nm\varepsilon}}+"
    r"\frac{\sqrt{d\ln(1/\delta)}}{\varepsilon\sqrt{nm}}\Big)",
    method="user.phased-sgd",
)
_FOOTNOTE_3 = replace(
    _THEOREM_3_2,
    slug="upper.user.group-privacy",
    name="Group privacy, rate",
    statement="footnote 3, with Feldman et al. 2020",
    summary="The rate of an optimal item-level method that hides all m items of a user, on mildly "
    "smooth losses: its private term does not fall with m. " + _ONE,
    latex=_GROUP,
    method="user.group-privacy",
)
_PRIOR = replace(
    _THEOREM_3_2,
    slug="upper.user.prior-asi-liu-2024",
    name="Asi and Liu 2024, rate",
    paper=ASI_LIU_2024,
    statement="as quoted by Lowy et al. 2024, section 1",
    summary="The optimal rate at user level with few users, for smooth losses or any. " + _NO_LOGS,
    latex=_QUOTED,
    method="",
    loss_class=classes.LIPSCHITZ,
)


def _condition(setting: Setting) -> float:
    c = setting.constants
    return c.sample_smoothness * c.diameter / c.lipschitz if c.lipschitz > 0 else math.nan


LETTERS = (
    Letter("D", "radius of the set: half its diameter", lambda s: s.constants.diameter / 2),
    Letter(r"\lambda_i", "weight of the regulariser in phase i"),
    Letter("R", "diameter of the set", lambda s: s.constants.diameter),
    Letter(r"\mu", "strong convexity of the loss", lambda s: s.constants.sample_strong_convexity),
    Letter(r"\kappa", "smoothness in units of L/R", _condition),
)
_USER_RATES: tuple[Bound, ...] = (
    Bound(
        card=replace(
            _THEOREM_3_2,
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
        ),
        evaluate=named(("sampling",), NEEDS, _non_private),
        hypotheses=LOSSES,
    ),
    _upper(_THEOREM_2_1, user_rates.linear_time, ALGORITHM_1),
    _upper(
        replace(
            _THEOREM_2_1,
            slug="upper.user.phased-sgd-proof",
            name="Phased SGD for users, rate of the proof",
            statement="Theorem B.1, as its proof has it",
            summary="What the proof yields at the theorem's step size: for epsilon below 1 it "
            "grows more slowly than the stated rate. Constants and logarithms, that of delta too, "
            "are set to 1.",
            latex=r"2LR\sqrt{\frac d{nm\varepsilon}}",
        ),
        user_rates.linear_time_proven,
        ALGORITHM_1,
    ),
    _upper(_THEOREM_3_2, user_rates.optimal, THEOREM_3_2),
    _upper(
        replace(
            _THEOREM_3_2,
            slug="upper.user.accelerated-nonsmooth",
            name="Accelerated phased ERM for users on smoothed losses, rate",
            statement="Theorem 4.1 (D.3)",
            summary="The optimal rate at user level for any Lipschitz losses, averaged over a "
            "small ball first. " + _ONE,
            method="user.accelerated-nonsmooth",
            loss_class=classes.LIPSCHITZ,
        ),
        user_rates.optimal,
        THEOREM_4_1,
    ),
    _upper(
        replace(
            _THEOREM_3_2,
            slug="upper.user.accelerated-strong",
            name="Accelerated phased ERM for users, strongly convex, rate",
            statement="Remark 3.6",
            summary="The rate at user level for strongly convex and smooth losses, by the "
            "reduction of Feldman et al. 2020, section 5.1. " + _ONE,
            latex=r"\frac{L^2}\mu\Big(\frac1{nm}+\frac{d\ln(1/\delta)}{\varepsilon^2n^2m}\Big)",
            method="user.accelerated-strong",
            loss_class=classes.SMOOTH_LIPSCHITZ_STRONG,
            problems=ITEMS_STRONG,
        ),
        user_rates.strong,
        REMARK_3_6,
        (*NEEDS, "sample_strong_convexity"),
    ),
    _upper(_FOOTNOTE_3, user_rates.group_privacy, (ANY_EPSILON, *LOSSES, SAMPLE_SMOOTH)),
    _upper(
        replace(
            _FOOTNOTE_3,
            slug="upper.user.clipped-means",
            name="Clipped means of users, rate",
            statement="equation (18), with the noise of a whole user",
            summary="The rate of phased ERM on full batches without a filter, where a user's "
            "gradient counts with the Lipschitz constant: that of group privacy. " + _ONE,
            method="user.clipped-means",
        ),
        user_rates.group_privacy,
        (ANY_EPSILON, *LOSSES, SAMPLE_SMOOTH),
    ),
    _upper(
        replace(
            _PRIOR,
            slug="upper.user.prior-bassily-sun-2023",
            name="Bassily and Sun 2023, rate",
            paper=BASSILY_SUN_2023,
            summary="The optimal rate at user level for very smooth losses and few items per user. "
            + _NO_LOGS,
            loss_class=classes.SMOOTH_LIPSCHITZ,
        ),
        _quoted_optimal,
        BASSILY_SUN_NEEDS,
    ),
    _upper(
        replace(
            _PRIOR,
            slug="upper.user.prior-ghazi-2023",
            name="Ghazi et al. 2023, rate",
            paper=GHAZI_2023,
            summary="The optimal rate at user level with few users, by a method that does not run "
            "in polynomial time. " + _NO_LOGS,
        ),
        _quoted_optimal,
        GHAZI_NEEDS,
    ),
    _upper(_PRIOR, _quoted_optimal, ASI_LIU_NEEDS),
    _upper(
        replace(
            _PRIOR,
            slug="upper.user.prior-bassily-sun-2023-local",
            name="Bassily and Sun 2023, Algorithm 5, rate",
            paper=BASSILY_SUN_2023,
            statement="Algorithm 5, as quoted by Lowy et al. 2024, section 1",
            summary="The rate of one pass under local privacy, where the server sees no user's "
            "data; it takes many users a round. " + _NO_LOGS,
            latex=r"LR\Big(\frac1{\sqrt{nm\varepsilon}}+\frac{\sqrt d}{\varepsilon\sqrt{nm}}\Big)",
            loss_class=classes.SMOOTH_LIPSCHITZ,
        ),
        _quoted_linear,
        LOCAL_NEEDS,
    ),
)
USER_RATES = lettered(LETTERS, _USER_RATES)
_LOWER = BoundCard(
    slug="lower.user.rate",
    name="User level, lower rate",
    paper=LEVY_2021,
    statement="as quoted by Lowy et al. 2024, section 1",
    summary="The lower rate at user level, with its hidden constant set to 1; the cut at L R is "
    "ours, and its conditions are not quoted. A worst case over convex Lipschitz losses: on "
    "another loss a measured line may run below. It is stated for algorithms that are "
    "(epsilon, delta)-private for a user's whole block.",
    kind="lower",
    quantity="excess risk",
    constant="rate",
    latex=r"LR\min\Big\{1,\frac1{\sqrt{nm}}+\frac{\sqrt d}{\varepsilon n\sqrt m}\Big\}",
    privacy="approx",
    instance_problem="linear",
    instance_class=classes.LIPSCHITZ_LINEAR,
    level="user",
    loss_class=classes.LIPSCHITZ,
    problems=SCO_PROBLEMS,
)
_USER_LOWER: tuple[Bound, ...] = (
    _lower(_LOWER, _lower_rate, (ANY_EPSILON, *LOSSES, L2_BALL)),
    _lower(
        replace(
            _LOWER,
            slug="lower.user.strong-rate",
            drawn=False,
            name="User level, strongly convex, lower rate (unproven)",
            paper=LOWY_2024,
            statement="Remark 3.6, as a claim of optimality",
            summary="What the paper calls optimal for strongly convex losses, without naming a "
            "lower bound; its constant is set to 1, and the cut is ours. A worst case over "
            "strongly convex Lipschitz losses: on another loss a measured line may run below.",
            latex=r"\min\Big\{LR,\frac{L^2}{2\mu},\frac{L^2}\mu\Big(\frac1{nm}+"
            r"\frac d{\varepsilon^2n^2m}\Big)\Big\}",
            instance_problem="quadratic",
            instance_class=classes.SMOOTH_LIPSCHITZ_STRONG,
            loss_class=classes.LIPSCHITZ_STRONG,
            problems=ITEMS_STRONG,
        ),
        _lower_strong,
        (
            never(
                "a proof",
                "The paper calls this rate optimal without naming a lower bound, so that nothing "
                "is proven here.",
            ),
            ANY_EPSILON,
            *LOSSES,
            SAMPLE_STRONGLY_CONVEX,
            L2_BALL,
        ),
    ),
)
USER_LOWER = lettered(LETTERS, _USER_LOWER)
