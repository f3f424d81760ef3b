"""Phased SGD at user level, every constant proven: Lowy, Liu and Asi (2024), Algorithm 1."""

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import LOWY_2024, SCO_PROBLEMS, BoundCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds.user.conditions import gaussian_user_level, user_level
from dpsco_core.bounds.user.explicit import (
    BEST,
    FAILURE,
    FILTERED,
    PHASES,
    PLAIN,
    START,
    VOID,
    ExplicitRisk,
    Terms5,
    allowed_failure,
    fits,
    from_centre,
    row,
    value,
)
from dpsco_core.methods.user.calibrated import calibrated_sgd, one_chain
from dpsco_core.methods.user.level import UserLevel, gaussian_multiplier
from dpsco_core.methods.user.phased_risk import FLOOR, first_terms, phased_terms
from dpsco_core.methods.user.printed_schedules import SgdSchedule, printed_step

_SGD_DECAYS = (1.0, 1.5, 2.0)
_STEPS = tuple(math.pow(2, k / 2) for k in range(-12, 13))
_SGD_TERMS = (
    r"\frac{D^2}{2\eta_1T_1}+\sum_i\frac{\eta_iL^2}2+"
    r"\sum_{i\ge2}\frac{\min(d\sigma_{i-1}^2,R^2)}{2\eta_iT_i}+L\min(\sqrt d\,\sigma_l,R)"
)


def phased_sgd_risk(
    at: UserLevel,
    schedule: SgdSchedule,
    *,
    # D, at least the distance of the start from a minimiser; None for R. R/2 from the centre of a
    # ball.
    distance: float | None = None,
    failure: float = 0.0,  # P(B), 0 without a filter
) -> Terms5:
    r"""Bound on the risk of phased one-pass SGD with noise on the averages, projected.

    The four terms of `phased_terms`, and :math:`P(B)LR` for the failure of the filter; in its proof
    :math:`\bar x_i` is the mean of the groups' averages.
    """
    terms = phased_terms(
        schedule.phases,
        lipschitz=at.lipschitz,
        diameter=at.diameter,
        d=at.d,
        distance=at.diameter if distance is None else distance,
    )
    return *terms, failure * at.unit


def calibrated_sgd_risk(at: UserLevel, *, distance: float | None = None) -> ExplicitRisk:
    """Best bound for calibrated Algorithm 1, proven: smooth losses, weights, radius (R2)."""
    failure = allowed_failure(at)

    def schedule(phases: int, decay: float, step: float) -> SgdSchedule:
        return calibrated_sgd(
            at,
            phases=phases,
            decay=decay,
            step=step,
            halt=failure / (2 * phases),
            spread_failure=failure / (2 * phases),
        )

    return _best_sgd(at, schedule, distance, failure)


def one_chain_risk(at: UserLevel, *, distance: float | None = None) -> ExplicitRisk:
    """Best bound for N1, one chain a phase with the noise of a user's whole block; smooth losses.

    Examples
    --------
    >>> at = UserLevel(n=10_000, m=10, d=5, epsilon=1.0, delta=1e-6, smoothness=1.0)
    >>> round(one_chain_risk(at, distance=0.5).value, 4)
    0.0079
    """
    # Where the noise of a user's m steps costs as much as the start: it falls with m, not root m.
    multiplier = gaussian_multiplier(at.epsilon, at.delta)
    loud = at.n * float(at.m) ** 2 * math.sqrt(at.d) * multiplier
    return _best_sgd(
        at,
        lambda p, decay, step: one_chain(at, phases=p, decay=decay, step=step),
        distance,
        0.0,
        (at.diameter / (2 * at.lipschitz * math.sqrt(loud)),),
    )


def _best_sgd(
    at: UserLevel,
    schedule: Callable[[int, float, float], SgdSchedule],
    distance: float | None,
    failure: float,
    other_steps: tuple[float, ...] = (),
) -> ExplicitRisk:
    best = ExplicitRisk(terms=VOID, schedule=None)
    if not math.isfinite(at.smoothness):
        return best
    largest = 2 / at.smoothness if at.smoothness > 0 else math.inf
    base = min(printed_step(at), largest)
    middles = (base, *other_steps)
    reach = at.diameter if distance is None else distance
    sizes = sorted({min(middle * factor, largest) for middle in middles for factor in _STEPS})
    for phases in PHASES:
        try:
            schedule(phases, _SGD_DECAYS[0], base)
        except NotApplicable:
            break
        for decay in _SGD_DECAYS:
            for step in sizes:
                start = first_terms(step, at.total, lipschitz=at.lipschitz, distance=reach)
                if start * FLOOR > best.value:
                    continue
                found = schedule(phases, decay, step)
                terms = phased_sgd_risk(at, found, distance=distance, failure=failure)
                new = ExplicitRisk(terms=terms, schedule=found)
                best = smallest_or((best, new), value, best)
    return best


PHASED_SGD = from_centre(calibrated_sgd_risk)
ONE_CHAIN = from_centre(one_chain_risk)
CARD = BoundCard(
    slug="upper.user.group-privacy-explicit",
    name="Group privacy, proven",
    paper=LOWY_2024,
    statement="footnote 3, explicit: phased SGD, one chain a phase",
    summary="Phased one-pass SGD with the noise of a user's whole block. " + BEST,
    kind="upper",
    quantity="excess risk",
    constant="explicit",
    latex=_SGD_TERMS + START + r",\ \sigma_i=\min(R,2\eta_iLm)\,g(\varepsilon,\delta)",
    privacy="zcdp",
    method="user.group-privacy",
    level="user",
    loss_class=classes.SMOOTH_LIPSCHITZ,
    problems=SCO_PROBLEMS,
)
ONE_CHAIN_RISK = row(CARD, ONE_CHAIN, gaussian_user_level, PLAIN)
PHASED_SGD_RISK = row(
    replace(
        CARD,
        slug="upper.user.phased-sgd-explicit",
        name="Phased SGD for users, proven",
        statement="Algorithm 1, calibrated, explicit",
        summary="Phased SGD with groups of users and a filter, whose radius no group leaves "
        "but with a stated probability. " + BEST,
        latex=_SGD_TERMS
        + FAILURE
        + START
        + r",\ \sigma_i=\tau_i\Delta\,g(\varepsilon_2,\delta_2),\ \tau_i"
        r"\text{ the proven radius},\ \Delta\text{ the filter's sensitivity}",
        privacy="approx",
        method="user.phased-sgd",
    ),
    PHASED_SGD,
    user_level,
    (*FILTERED, fits(PHASED_SGD)),
)
