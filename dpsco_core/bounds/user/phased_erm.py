"""Phased ERM at user level, every constant proven: Lowy, Liu and Asi (2024), Algorithm 3."""

import math
from dataclasses import replace

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
from dpsco_core.bounds.user.phased_sgd import CARD
from dpsco_core.methods.user.accelerated.gap import Curvature, stage_lengths, staged_gap
from dpsco_core.methods.user.calibrated import full_batch
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.phased_risk import FLOOR
from dpsco_core.methods.user.printed_schedules import ErmSchedule, printed_regulariser

_WEIGHTS = tuple(math.pow(2, k) for k in range(-3, 18))
_FACTORS = (1.0, 9.0)
_ERM_TERMS = (
    r"\frac{\lambda_1D^2}2+\sum_i\frac{2L^2}{\lambda_in_im}+\sum_{i\ge2}\frac{\lambda_i}2\min\Big("
    r"\frac{2G_{i-1}}{\lambda_{i-1}},R^2\Big)+L\min\Big(\sqrt{2G_l/\lambda_l},R\Big)"
)
_GAP = r",\ G_i\text{ the gap of AC-SA with }V^2=d\sigma_i^2"


def stability(at: UserLevel, users: float, regulariser: float) -> float:
    r"""Return :math:`\frac{2L^2}{\lambda nm}`: what the regularised minimiser overfits.

    Replacing one of the n m items moves it by at most :math:`\frac{2L}{\lambda nm}` (strong
    convexity, twice), and :math:`E[F(x^*_i)-F(y)]\le\frac{2L^2}{\lambda nm}+\frac\lambda2
    E\|x_{i-1}-y\|^2` for y that does not depend on these users: (15) with its constants.
    """
    return 2 * at.lipschitz**2 / (regulariser * users * at.m)


def restarts(
    at: UserLevel,
    # :math:`\lambda` and :math:`V^2`, of the whole gradient
    regulariser: float,
    variance: float,
    steps: int,  # T
) -> tuple[tuple[int, ...], float]:
    r"""Return the stages of T steps on the regularised objective, and the bound on the gap.

    The start is :math:`x_{i-1}`, which is within :math:`\Delta=\min(R,L/\lambda)` of the minimiser:
    there the loss has grown by at least :math:`\lambda` times the squared distance, and is
    L-Lipschitz. Its gap is at most :math:`L\Delta-\frac\lambda2\Delta^2`. One stage where that does
    better than several (`staged_gap`, :math:`L_F=\beta+\lambda`); infinite where both are.
    """
    reach = min(at.diameter, at.lipschitz / regulariser)
    start = at.lipschitz * reach - regulariser * reach**2 / 2
    total = Curvature(strong_convexity=regulariser, smoothness=at.smoothness + regulariser)
    several = stage_lengths(steps, total, start, variance)
    choices = [(c, staged_gap(c, total, reach**2, variance)) for c in (several, (steps,))]
    return smallest_or(choices, lambda choice: choice[1], ((steps,), math.inf))


def phased_erm_risk(
    at: UserLevel,  # with a finite smoothness
    schedule: ErmSchedule,  # with full batches
    *,
    # D, at least the distance of the start from a minimiser; None for R.
    distance: float | None = None,
    failure: float = 0.0,  # P(B), 0 without a filter
) -> Terms5:
    r"""Bound on the risk of phased regularised ERM with noisy accelerated steps on full batches.

    .. math::
        \frac{\lambda_1D^2}2,\quad\sum_i\frac{2L^2}{\lambda_in_im},\quad
        \sum_{i\ge2}\frac{\lambda_i}2\min\Big(\frac{2G_{i-1}}{\lambda_{i-1}},R^2\Big),\quad
        L\min\Big(\sqrt{2G_l/\lambda_l},R\Big),\quad P(B)LR

    *Proof.* (15) with `stability` at :math:`y=x^*_{i-1}`, the exact minimiser of the phase before,
    and :math:`y=x^*` at i = 1; :math:`\frac{\lambda_i}2E\|x_i-x_i^*\|^2\le G_i`, the gap of
    `restarts` at :math:`V^2=d\sigma_i^2`; the last step to :math:`x_l` costs L times its
    distance.
    """
    if any(p.batch < p.users for p in schedule.phases) or not math.isfinite(at.smoothness):
        return VOID
    reach = at.diameter if distance is None else distance
    squares = []
    for p in schedule.phases:
        gap = restarts(at, p.regulariser, at.d * p.noise_std**2, int(p.steps))[1]
        squares.append(min(2 * gap / p.regulariser, at.diameter**2))
    weights = [p.regulariser for p in schedule.phases]
    return (
        weights[0] * reach**2 / 2,
        math.fsum(stability(at, p.users, p.regulariser) for p in schedule.phases),
        math.fsum(w / 2 * s for w, s in zip(weights[1:], squares, strict=False)),
        at.lipschitz * math.sqrt(squares[-1]),
        failure * at.unit,
    )


def mode_a_risk(at: UserLevel, *, distance: float | None = None) -> ExplicitRisk:
    """Best bound for Mode A of Algorithm 3, proven: smooth losses, weights, uniform radius."""
    return _best_erm(at, True, distance)


def full_batch_risk(at: UserLevel, *, distance: float | None = None) -> ExplicitRisk:
    """Best bound for N2, phased ERM on full batches without a filter; smooth losses.

    Examples
    --------
    >>> at = UserLevel(n=10_000, m=10, d=5, epsilon=1.0, delta=1e-6, smoothness=1.0)
    >>> round(full_batch_risk(at, distance=0.5).value, 4)
    0.0305
    """
    return _best_erm(at, False, distance)


def _best_erm(at: UserLevel, filtered: bool, distance: float | None) -> ExplicitRisk:
    best = ExplicitRisk(terms=VOID, schedule=None)
    if not math.isfinite(at.smoothness):
        return best
    failure = allowed_failure(at) if filtered else 0.0
    base = printed_regulariser(at)
    reach = at.diameter if distance is None else distance
    for phases in PHASES:
        for weight in _WEIGHTS:
            # No number of steps makes up for the start and the first phase's users.
            start = base * weight * reach**2 / 2 + stability(at, at.n, base * weight)
            if start * FLOOR > best.value:
                continue
            for factor in _FACTORS:
                try:
                    found = full_batch(
                        at,
                        phases=phases,
                        regulariser=base * weight,
                        steps_factor=factor,
                        radius="proven" if filtered else None,
                        halt=failure / (2 * phases) if filtered else 0.01,
                        spread_failure=failure / 2 if filtered else 1.0,
                        advice=False,
                    )
                except NotApplicable:
                    continue
                terms = phased_erm_risk(at, found, distance=distance, failure=failure)
                new = ExplicitRisk(terms=terms, schedule=found)
                best = smallest_or((best, new), value, best)
    return best


MODE_A = from_centre(mode_a_risk)
FULL_BATCH = from_centre(full_batch_risk)
FULL_BATCH_RISK = row(
    replace(
        CARD,
        slug="upper.user.clipped-means-explicit",
        name="Clipped means of users, proven",
        statement="Algorithm 3 on full batches without a filter, explicit",
        summary="Phased ERM on full batches, where a user's gradient counts with the "
        "Lipschitz constant. " + BEST,
        latex=_ERM_TERMS
        + START
        + r",\ \sigma_i=\frac{2L}{n_i}\sqrt{T_i}\,g(\varepsilon,\delta)"
        + _GAP,
        method="user.clipped-means",
    ),
    FULL_BATCH,
    gaussian_user_level,
    PLAIN,
)
MODE_A_RISK = row(
    replace(
        CARD,
        slug="upper.user.accelerated-explicit",
        name="Accelerated phased ERM for users, proven",
        statement="Algorithm 3 on full batches (Mode A), calibrated, explicit",
        summary="Phased ERM on full batches with a filter, whose radius no user leaves at any "
        "point of the set but with a stated probability. " + BEST,
        latex=_ERM_TERMS
        + FAILURE
        + START
        + r",\ \sigma_i=2\tau\Delta\sqrt{T_i}\,g(\varepsilon_2,\delta_2),\ \tau"
        r"\text{ the proven radius},\ \Delta\text{ the filter's sensitivity}" + _GAP,
        privacy="approx",
        method="user.accelerated",
    ),
    MODE_A,
    user_level,
    (*FILTERED, fits(MODE_A)),
)
