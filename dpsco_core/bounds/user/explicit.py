r"""Explicit bounds on the mean excess risk at user level, every constant in place.

**Proven**, for convex L-Lipschitz losses of i.i.d. items and a set of diameter R, are bounds on the
two baselines N1 and N2 (theory/lowy-liu-asi.md, 2.7), and on calibrated Algorithm 1 and Mode A of
Algorithm 3 at radii that a user exceeds only with a stated probability (`iterate_spread`,
`uniform_gradient_spread`). **Not covered** are smaller radii that work in practice, subsampling
(Mode B), and the paper's own constants, whose proof hides them. Each bound holds for any schedule
that does not depend on data, so that the smallest one over several schedules is a bound too.

*The cost of a filter.* Compare a run with the run on the same data and noise that has plain means
and no test. Let B be the event that a test fails although all points are close, or that some points
are not close. Outside of B both runs agree, and L R bounds every excess risk. So the excess risk is
at most that of the plain run plus P(B) L R. For the radii of (R1) at all points at once, B does not
depend on the run.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import LOWY_2024, BoundCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds.base import Bound, Hypothesis, bound_like
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import OTHER_PARAMETERS, SAMPLE_SMOOTH, name_terms
from dpsco_core.bounds.user.conditions import condition, gaussian_user_level, user_level
from dpsco_core.bounds.user.rates import ANY_EPSILON, LOSSES, NEEDS
from dpsco_core.methods.user.accelerated.sgd import Curvature, stage_lengths, staged_gap
from dpsco_core.methods.user.calibrated import calibrated_sgd, full_batch, one_chain
from dpsco_core.methods.user.level import UserLevel, gaussian_multiplier
from dpsco_core.methods.user.phased_risk import FLOOR, first_terms, phased_terms
from dpsco_core.methods.user.printed_schedules import (
    ErmSchedule,
    SgdSchedule,
    printed_regulariser,
    printed_step,
)
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

Terms5 = tuple[float, float, float, float, float]
VOID: Terms5 = (math.inf, math.inf, math.inf, math.inf, math.inf)
TERMS = ("start", "sampling", "noise between phases", "last noise", "failure of the filter")
SMOOTH_NEEDS = (*NEEDS, "sample_smoothness")
PHASES = tuple(range(1, 13))
FAILURE = r"+P(B)LR,\ P(B)=\frac1{10\sqrt{nm}}"
START = r",\ D=\tfrac R2"
BEST = (
    "The mean excess risk with every constant proven, from the centre of the set and at the "
    "schedule that makes this bound smallest on a grid. " + OTHER_PARAMETERS
)
PLAIN = (GAUSSIAN_BUDGET, *LOSSES, SAMPLE_SMOOTH)
FILTERED = (ANY_EPSILON, *LOSSES, SAMPLE_SMOOTH)


@dataclass(frozen=True, kw_only=True)
class ExplicitRisk:
    """The smallest bound on an excess risk over the tried schedules, with that schedule."""

    terms: Terms5  # the terms as named in `TERMS`; all infinite if no schedule is possible
    schedule: SgdSchedule | ErmSchedule | None

    @property
    def value(self) -> float:
        """The bound on the excess risk: the sum of its terms."""
        return math.fsum(self.terms)


Risk = Callable[[UserLevel], ExplicitRisk]
Level = Callable[[Setting], UserLevel | None]


def allowed_failure(case: UserLevel) -> float:
    """Return the probability P(B) with which a filter may fail: 1/(10 sqrt(n m)).

    That is a tenth of the relative sampling error; radii depend on it only by a logarithm.
    """
    return 0.1 / math.sqrt(case.total)


def from_centre(risk: Callable[..., ExplicitRisk]) -> Risk:
    """Return a cached `risk` for a start at the set's centre, D/2 away from every point."""
    return lru_cache(maxsize=2000)(lambda case: risk(case, distance=case.diameter / 2))


def fits(risk: Risk) -> Hypothesis:
    """Return the condition that the filter's test can pass in one of the schedules of `risk`."""

    def check(case: UserLevel) -> str:
        """Return the reason why the filter's test cannot pass; empty if it can."""
        if not math.isfinite(case.smoothness) or risk(case).schedule is not None:
            return ""
        return (
            f"The filter's test needs more users to pass than n={case.n} at "
            f"epsilon={case.epsilon:g} and delta={case.delta:g}, even in one phase of few steps."
        )

    return condition("enough users for the filter's test", check)


def row(
    card: BoundCard, risk: Risk, level_of: Level, hypotheses: tuple[Hypothesis, ...], **changes: Any
) -> Bound:
    """Return the catalogue's explicit bound on an excess risk, from a card with some changes.

    `level_of` reads the user level off a setting, at which `risk` is evaluated.
    """

    def terms(setting: Setting) -> Terms5:
        """Return the terms of the bound at a setting; infinite if it has no user level."""
        case = level_of(setting)
        return VOID if case is None else risk(case).terms

    evaluate = name_terms(TERMS, SMOOTH_NEEDS, terms)
    return bound_like(card, evaluate=evaluate, hypotheses=hypotheses, **changes)


def better(best: ExplicitRisk, terms: Terms5, schedule: SgdSchedule | ErmSchedule) -> ExplicitRisk:
    """Return `best`, or the new terms with their schedule if their sum is smaller."""
    new = ExplicitRisk(terms=terms, schedule=schedule)
    return smallest_or((best, new), lambda risk: risk.value, best)


_SGD_DECAYS = (1.0, 1.5, 2.0)
_STEPS = tuple(math.pow(2, k / 2) for k in range(-12, 13))
_SGD_TERMS = (
    r"\frac{D^2}{2\eta_1T_1}+\sum_i\frac{\eta_iL^2}2+"
    r"\sum_{i\ge2}\frac{\min(d\sigma_{i-1}^2,R^2)}{2\eta_iT_i}+L\min(\sqrt d\,\sigma_l,R)"
)


def phased_sgd_risk(
    case: UserLevel,
    schedule: SgdSchedule,
    *,
    # D is at least the distance of the start from a minimiser (R/2 from the centre of a ball); None
    # takes the diameter R.
    distance: float | None = None,
    failure: float = 0.0,  # the probability P(B) of the filter's failure, 0 without a filter
) -> Terms5:
    r"""Return the terms of a bound on the mean excess risk of phased one-pass SGD.

    Noise is added to the projected averages of the phases. The terms are the four of
    `phased_terms`, in whose proof :math:`\bar x_i` is the mean of the groups' averages, and
    :math:`P(B)LR` for the failure of the filter.
    """
    constants = {"lipschitz": case.lipschitz, "diameter": case.diameter}
    reach = case.diameter if distance is None else distance
    terms = phased_terms(schedule.phases, **constants, d=case.d, distance=reach)
    return *terms, failure * case.unit


def calibrated_sgd_risk(case: UserLevel, *, distance: float | None = None) -> ExplicitRisk:
    """Return the smallest bound on calibrated Algorithm 1 over its schedules.

    It is for smooth losses and the filter with weights, at the proven radius (R2). `distance` is
    that of the start from a minimiser, by default the diameter R.
    """
    failure = allowed_failure(case)

    def schedule(phases: int, decay: float, step: float) -> SgdSchedule:
        """Return the calibrated schedule for a number of phases, a decay and a first step size."""
        share = failure / (2 * phases)
        return calibrated_sgd(
            case, phases=phases, decay=decay, step=step, halt=share, spread_failure=share
        )

    return _best_sgd(case, schedule, distance, failure)


def one_chain_risk(case: UserLevel, *, distance: float | None = None) -> ExplicitRisk:
    """Return the smallest bound on the baseline N1 over its schedules, for smooth losses.

    N1 runs one chain of steps a phase, with noise that hides a whole user.

    Examples
    --------
    >>> case = UserLevel(n=10_000, m=10, d=5, epsilon=1.0, delta=1e-6, smoothness=1.0)
    >>> round(one_chain_risk(case, distance=0.5).value, 4)
    0.0079
    """
    # At this base step, the noise that hides a user's m steps costs as much as the distance of the
    # start, so the step decreases like 1/m.
    multiplier = gaussian_multiplier(case.epsilon, case.delta)
    loud = case.n * float(case.m) ** 2 * math.sqrt(case.d) * multiplier
    return _best_sgd(
        case,
        lambda p, decay, step: one_chain(case, phases=p, decay=decay, step=step),
        distance,
        0.0,
        (case.diameter / (2 * case.lipschitz * math.sqrt(loud)),),
    )


def _best_sgd(
    case: UserLevel,
    schedule: Callable[[int, float, float], SgdSchedule],
    distance: float | None,
    failure: float,
    other_steps: tuple[float, ...] = (),
) -> ExplicitRisk:
    """Return the smallest bound on the mean excess risk of phased SGD, with its schedule.

    The search is over the numbers of phases, the decays and the step sizes, which are the arguments
    of `schedule`; step sizes are multiples of the printed one and of `other_steps`. `distance` and
    `failure` are those of `phased_sgd_risk`.
    """
    best = ExplicitRisk(terms=VOID, schedule=None)
    if not math.isfinite(case.smoothness):
        return best
    largest = 2 / case.smoothness if case.smoothness > 0 else math.inf
    base = min(printed_step(case), largest)
    reach = case.diameter if distance is None else distance
    sizes = sorted({min(x * factor, largest) for x in (base, *other_steps) for factor in _STEPS})
    for phases in PHASES:
        try:
            schedule(phases, _SGD_DECAYS[0], base)
        except NotApplicable:
            break
        for decay in _SGD_DECAYS:
            for step in sizes:
                start = first_terms(step, case.total, lipschitz=case.lipschitz, distance=reach)
                if start * FLOOR > best.value:
                    continue
                candidate = schedule(phases, decay, step)
                terms = phased_sgd_risk(case, candidate, distance=distance, failure=failure)
                best = better(best, terms, candidate)
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


_WEIGHTS = tuple(math.pow(2, k) for k in range(-3, 18))
_FACTORS = (1.0, 9.0)
_ERM_TERMS = (
    r"\frac{\lambda_1D^2}2+\sum_i\frac{2L^2}{\lambda_in_im}+\sum_{i\ge2}\frac{\lambda_i}2\min\Big("
    r"\frac{2G_{i-1}}{\lambda_{i-1}},R^2\Big)+L\min\Big(\sqrt{2G_l/\lambda_l},R\Big)"
)
_GAP = r",\ G_i\text{ the gap of AC-SA with }V^2=d\sigma_i^2"


def stability(case: UserLevel, users: float, regulariser: float) -> float:
    r"""Return a bound on a regularised minimiser's generalisation error, with n = `users`.

    It is :math:`\frac{2L^2}{\lambda nm}`, with :math:`\lambda` the `regulariser`.

    Replacing one of the n m items moves the minimiser by at most :math:`\frac{2L}{\lambda nm}`, by
    strong convexity. Hence :math:`E[F(x^*_i)-F(y)]\le\frac{2L^2}{\lambda nm}+\frac\lambda2
    E\|x_{i-1}-y\|^2` for every y that does not depend on these users, which is (15) with its
    constants.
    """
    return 2 * case.lipschitz**2 / (regulariser * users * case.m)


def restarts(
    case: UserLevel,
    # These are the regulariser :math:`\lambda` and the variance :math:`V^2` of the whole gradient.
    regulariser: float,
    variance: float,
    steps: int,  # the number T of steps in all stages together
) -> tuple[tuple[int, ...], float]:
    r"""Return how T steps are divided into stages, and the bound on the objective's final gap.

    The objective is regularised, and AC-SA restarts at every stage. The start :math:`x_{i-1}` is
    within :math:`\Delta=\min(R,L/\lambda)` of the minimiser, because the objective grows from there
    by at least :math:`\lambda` times the squared distance. Its gap is at most
    :math:`L\Delta-\frac\lambda2\Delta^2`. A single stage is taken if its bound is smaller than that
    of several (`staged_gap`, :math:`L_F=\beta+\lambda`).
    """
    reach = min(case.diameter, case.lipschitz / regulariser)
    start = case.lipschitz * reach - regulariser * reach**2 / 2
    total = Curvature(strong_convexity=regulariser, smoothness=case.smoothness + regulariser)
    stages = stage_lengths(steps, total, start, variance)
    choices = [(c, staged_gap(c, total, reach**2, variance)) for c in (stages, (steps,))]
    return smallest_or(choices, lambda choice: choice[1], ((steps,), math.inf))


def phased_erm_risk(
    case: UserLevel,  # the sizes and constants, with a finite smoothness
    schedule: ErmSchedule,  # the schedule, with full batches
    *,
    # D is at least the distance of the start from a minimiser; None takes the diameter R.
    distance: float | None = None,
    failure: float = 0.0,  # the probability P(B) of the filter's failure, 0 without a filter
) -> Terms5:
    r"""Return the terms of a bound on the mean excess risk of phased regularised ERM.

    The regularised problems are solved by accelerated steps on full batches, with noise.

    .. math::
        \frac{\lambda_1D^2}2,\quad\sum_i\frac{2L^2}{\lambda_in_im},\quad
        \sum_{i\ge2}\frac{\lambda_i}2\min\Big(\frac{2G_{i-1}}{\lambda_{i-1}},R^2\Big),\quad
        L\min\Big(\sqrt{2G_l/\lambda_l},R\Big),\quad P(B)LR

    *Proof.* (15) with `stability` at :math:`y=x^*_{i-1}`, the exact minimiser of the phase before,
    and :math:`y=x^*` at i = 1; :math:`\frac{\lambda_i}2E\|x_i-x_i^*\|^2\le G_i`, the gap of
    `restarts` at :math:`V^2=d\sigma_i^2`; the last step to :math:`x_l` costs L times its
    distance.
    """
    if any(p.batch < p.users for p in schedule.phases) or not math.isfinite(case.smoothness):
        return VOID
    reach = case.diameter if distance is None else distance
    squares = []
    for p in schedule.phases:
        gap = restarts(case, p.regulariser, case.d * p.noise_std**2, int(p.steps))[1]
        squares.append(min(2 * gap / p.regulariser, case.diameter**2))
    weights = [p.regulariser for p in schedule.phases]
    return (
        weights[0] * reach**2 / 2,
        math.fsum(stability(case, p.users, p.regulariser) for p in schedule.phases),
        math.fsum(w / 2 * s for w, s in zip(weights[1:], squares, strict=False)),
        case.lipschitz * math.sqrt(squares[-1]),
        failure * case.unit,
    )


def erm_risk(case: UserLevel, *, filtered: bool, distance: float | None = None) -> ExplicitRisk:
    """Return the smallest bound on phased ERM with full batches over its schedules.

    Losses are smooth. `filtered` is for Mode A of Algorithm 3, with weights and the uniform radius;
    otherwise the bound is on the baseline N2, which has no filter.

    Examples
    --------
    >>> case = UserLevel(n=10_000, m=10, d=5, epsilon=1.0, delta=1e-6, smoothness=1.0)
    >>> round(full_batch_risk(case, distance=0.5).value, 4)
    0.0305
    """
    best = ExplicitRisk(terms=VOID, schedule=None)
    if not math.isfinite(case.smoothness):
        return best
    failure = allowed_failure(case) if filtered else 0.0
    base = printed_regulariser(case)
    reach = case.diameter if distance is None else distance
    for phases in PHASES:
        for weight in _WEIGHTS:
            # However many steps there are, these two terms of the first phase remain.
            start = base * weight * reach**2 / 2 + stability(case, case.n, base * weight)
            if start * FLOOR > best.value:
                continue
            for factor in _FACTORS:
                try:
                    candidate = full_batch(
                        case,
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
                terms = phased_erm_risk(case, candidate, distance=distance, failure=failure)
                best = better(best, terms, candidate)
    return best


mode_a_risk = partial(erm_risk, filtered=True)
full_batch_risk = partial(erm_risk, filtered=False)
MODE_A = from_centre(mode_a_risk)
FULL_BATCH = from_centre(full_batch_risk)
EXPLICIT_RISKS = (
    row(CARD, ONE_CHAIN, gaussian_user_level, PLAIN),
    row(
        CARD,
        FULL_BATCH,
        gaussian_user_level,
        PLAIN,
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
    row(
        CARD,
        PHASED_SGD,
        user_level,
        (*FILTERED, fits(PHASED_SGD)),
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
    row(
        CARD,
        MODE_A,
        user_level,
        (*FILTERED, fits(MODE_A)),
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
)
