"""Excess risk at user level with every constant proven, at schedules that look at no data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import LOWY_2024, SCO_PROBLEMS, BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, lettered
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import SAMPLE_SMOOTH, named
from dpsco_core.bounds.euclidean.tools import OTHER_PARAMETERS
from dpsco_core.bounds.user import explicit_formulas as user_explicit
from dpsco_core.bounds.user.conditions import gaussian_user_level, user_level
from dpsco_core.bounds.user.explicit_formulas import VOID, ExplicitRisk
from dpsco_core.bounds.user.rates import ANY_EPSILON, LETTERS, LOSSES, NEEDS
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.problems.base import Setting

Risk = Callable[[UserLevel], ExplicitRisk]
TERMS = ("start", "sampling", "noise between phases", "last noise", "failure of the filter")
_SMOOTH_NEEDS = (*NEEDS, "sample_smoothness")


def _from_centre(risk: Callable[..., ExplicitRisk]) -> Risk:
    """Return `risk` for a start at the centre, half the diameter from every point; kept."""

    @lru_cache(maxsize=2000)
    def at_centre(at: UserLevel) -> ExplicitRisk:
        found: ExplicitRisk = risk(at, distance=at.diameter / 2)
        return found

    return at_centre


PHASED_SGD = _from_centre(user_explicit.calibrated_sgd_risk)
ONE_CHAIN = _from_centre(user_explicit.one_chain_risk)
MODE_A = _from_centre(user_explicit.mode_a_risk)
FULL_BATCH = _from_centre(user_explicit.full_batch_risk)


def _fits(risk: Risk) -> Hypothesis:
    """Return the condition that the filter's test can pass in some schedule."""

    def check(setting: Setting) -> str:
        at = user_level(setting)
        if at is None or not math.isfinite(at.smoothness) or risk(at).schedule is not None:
            return ""
        return (
            f"The filter's test needs more users to pass than n={at.n} at epsilon={at.epsilon:g} "
            f"and delta={at.delta:g}, even in a single phase of few steps."
        )

    return Hypothesis(text="enough users for the filter's test", check=check)


def _row(
    card: BoundCard,
    risk: Risk,
    level_of: Callable[[Setting], UserLevel | None],
    hypotheses: tuple[Hypothesis, ...],
) -> Bound:
    def terms(setting: Setting) -> tuple[float, ...]:
        at = level_of(setting)
        return VOID if at is None else risk(at).terms

    return Bound(card=card, evaluate=named(TERMS, _SMOOTH_NEEDS, terms), hypotheses=hypotheses)


_SGD_TERMS = (
    r"\frac{D^2}{2\eta_1T_1}+\sum_i\frac{\eta_iL^2}2+"
    r"\sum_{i\ge2}\frac{\min(d\sigma_{i-1}^2,R^2)}{2\eta_iT_i}+L\min(\sqrt d\,\sigma_l,R)"
)
_ERM_TERMS = (
    r"\frac{\lambda_1D^2}2+\sum_i\frac{2L^2}{\lambda_in_im}+\sum_{i\ge2}\frac{\lambda_i}2\min\Big("
    r"\frac{2G_{i-1}}{\lambda_{i-1}},R^2\Big)+L\min\Big(\sqrt{2G_l/\lambda_l},R\Big)"
)
_FAILURE = r"+P(B)LR,\ P(B)=\frac1{10\sqrt{nm}}"
_START = r",\ D=\tfrac R2"
_GAP = r",\ G_i\text{ the gap of AC-SA with }V^2=d\sigma_i^2"
_BEST = (
    "The mean excess risk with every constant proven, from the centre of the set and at the "
    "schedule that makes this bound smallest on a grid. " + OTHER_PARAMETERS
)
_CARD = BoundCard(
    slug="upper.user.group-privacy-explicit",
    name="Group privacy, proven",
    paper=LOWY_2024,
    statement="footnote 3, explicit: phased SGD, one chain a phase",
    summary="Phased one-pass SGD with the noise of a user's whole block. " + _BEST,
    kind="upper",
    quantity="excess risk",
    constant="explicit",
    latex=_SGD_TERMS + _START + r",\ \sigma_i=\min(R,2\eta_iLm)\,g(\varepsilon,\delta)",
    privacy="zcdp",
    method="user.group-privacy",
    level="user",
    loss_class=classes.SMOOTH_LIPSCHITZ,
    problems=SCO_PROBLEMS,
)
_PLAIN = (GAUSSIAN_BUDGET, *LOSSES, SAMPLE_SMOOTH)
_FILTERED = (ANY_EPSILON, *LOSSES, SAMPLE_SMOOTH)
_USER_EXPLICIT: tuple[Bound, ...] = (
    _row(_CARD, ONE_CHAIN, gaussian_user_level, _PLAIN),
    _row(
        replace(
            _CARD,
            slug="upper.user.clipped-means-explicit",
            name="Clipped means of users, proven",
            statement="Algorithm 3 on full batches without a filter, explicit",
            summary="Phased ERM on full batches, where a user's gradient counts with the "
            "Lipschitz constant. " + _BEST,
            latex=_ERM_TERMS
            + _START
            + r",\ \sigma_i=\frac{2L}{n_i}\sqrt{T_i}\,g(\varepsilon,\delta)"
            + _GAP,
            method="user.clipped-means",
        ),
        FULL_BATCH,
        gaussian_user_level,
        _PLAIN,
    ),
    _row(
        replace(
            _CARD,
            slug="upper.user.phased-sgd-explicit",
            name="Phased SGD for users, proven",
            statement="Algorithm 1, calibrated, explicit",
            summary="Phased SGD with groups of users and a filter, whose radius no group leaves "
            "but with a stated probability. " + _BEST,
            latex=_SGD_TERMS
            + _FAILURE
            + _START
            + r",\ \sigma_i=\tau_i\Delta\,g(\varepsilon_2,\delta_2),\ \tau_i"
            r"\text{ the proven radius},\ \Delta\text{ the filter's sensitivity}",
            privacy="approx",
            method="user.phased-sgd",
        ),
        PHASED_SGD,
        user_level,
        (*_FILTERED, _fits(PHASED_SGD)),
    ),
    _row(
        replace(
            _CARD,
            slug="upper.user.accelerated-explicit",
            name="Accelerated phased ERM for users, proven",
            statement="Algorithm 3 on full batches (Mode A), calibrated, explicit",
            summary="Phased ERM on full batches with a filter, whose radius no user leaves at any "
            "point of the set but with a stated probability. " + _BEST,
            latex=_ERM_TERMS
            + _FAILURE
            + _START
            + r",\ \sigma_i=2\tau\Delta\sqrt{T_i}\,g(\varepsilon_2,\delta_2),\ \tau"
            r"\text{ the proven radius},\ \Delta\text{ the filter's sensitivity}" + _GAP,
            privacy="approx",
            method="user.accelerated",
        ),
        MODE_A,
        user_level,
        (*_FILTERED, _fits(MODE_A)),
    ),
)
USER_EXPLICIT = lettered(LETTERS, _USER_EXPLICIT)
