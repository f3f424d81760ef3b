r"""Explicit bounds on the mean excess risk at user level, every constant in place.

**Proven**, for convex L-Lipschitz losses of i.i.d. items and a set of diameter R: the two baselines
N1 and N2 (theory/lowy-liu-asi.md, 2.7); calibrated Algorithm 1 and Mode A of Algorithm 3 at radii
that no user leaves but with a stated probability (`iterate_spread`, `uniform_gradient_spread`).
**Not covered**: smaller radii that work in practice, subsampling (Mode B), and the paper's own
constants, whose proof hides them. Each bound holds for the schedule that it is given, so that the
best of some schedules is one too: none of them looks at data.

*A filter costs what it removes.* Run the same method with plain means and without a test on the
same data and noise. Off an event B (a test that fails on points that are all close, or points that
are not) both runs agree, and L R bounds the excess risk: it is at most that of the plain run plus
P(B) L R. For the radii of (R1) at all points at once B does not depend on the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import smallest_or
from dpsco_core.methods.user.accelerated.gap import Curvature, stage_lengths, staged_gap
from dpsco_core.methods.user.calibrated import calibrated_sgd, full_batch, one_chain
from dpsco_core.methods.user.level import UserLevel, gaussian_multiplier
from dpsco_core.methods.user.phased_risk import phased_terms
from dpsco_core.methods.user.printed_schedules import (
    ErmSchedule,
    SgdSchedule,
    printed_regulariser,
    printed_step,
)

Terms5 = tuple[float, float, float, float, float]
VOID: Terms5 = (math.inf, math.inf, math.inf, math.inf, math.inf)


def one_pass(
    step: float, lipschitz: float, steps: float, distance: float, *, printed: bool = False
) -> tuple[float, float]:
    r"""Lemma B.3, for the average of T one-pass projected steps: start, gradients.

    .. math:: \frac{\|y-x_0\|^2}{2\eta T},\ \frac{\eta L^2}2

    Against any fixed y, for every convex L-Lipschitz loss and step. `printed` has both doubled, for
    :math:`\eta\le1/\beta` (from Feldman et al. 2020, Lemma 4.5; theory/lowy-liu-asi.md, 3.7).

    Examples
    --------
    >>> one_pass(0.1, 1.0, 100, 1.0), one_pass(0.1, 1.0, 100, 1.0, printed=True)
    ((0.05, 0.05), (0.1, 0.1))
    """
    scale = 2.0 if printed else 1.0
    return scale * distance**2 / (2 * step * steps), scale * step * lipschitz**2 / 2


def phased_sgd_risk(
    at: UserLevel, schedule: SgdSchedule, *, distance: float | None = None, failure: float = 0.0
) -> Terms5:
    r"""Bound on the risk of phased one-pass SGD with noise on the averages, projected.

    The four terms of `phased_terms`, and :math:`P(B)LR` for the failure of the filter; in its proof
    :math:`\bar x_i` is the mean of the groups' averages.

    Parameters
    ----------
    at : UserLevel
    schedule : SgdSchedule
    distance : float, optional
        D, at least the distance of the start from a minimiser; None for R. R/2 from the centre of
        a ball.
    failure : float
        P(B), 0 without a filter.
    """
    terms = phased_terms(
        schedule.phases,
        lipschitz=at.lipschitz,
        diameter=at.diameter,
        d=at.d,
        distance=at.diameter if distance is None else distance,
    )
    return *terms, failure * at.unit


def stability(at: UserLevel, users: float, regulariser: float) -> float:
    r"""Return :math:`\frac{2L^2}{\lambda nm}`: what the regularised minimiser overfits.

    Replacing one of the n m items moves it by at most :math:`\frac{2L}{\lambda nm}` (strong
    convexity, twice), and :math:`E[F(x^*_i)-F(y)]\le\frac{2L^2}{\lambda nm}+\frac\lambda2
    E\|x_{i-1}-y\|^2` for y that does not depend on these users: (15) with its constants.
    """
    return 2 * at.lipschitz**2 / (regulariser * users * at.m)


def restarts(
    at: UserLevel, regulariser: float, variance: float, steps: int
) -> tuple[tuple[int, ...], float]:
    r"""Return the stages of T steps on the regularised objective, and the bound on the gap.

    The start is :math:`x_{i-1}`, which is within :math:`\Delta=\min(R,L/\lambda)` of the minimiser:
    there the loss has grown by at least :math:`\lambda` times the squared distance, and is
    L-Lipschitz. Its gap is at most :math:`L\Delta-\frac\lambda2\Delta^2`. One stage where that does
    better than several (`staged_gap`, :math:`L_F=\beta+\lambda`); infinite where both are.

    Parameters
    ----------
    at : UserLevel
    regulariser, variance : float
        :math:`\lambda` and :math:`V^2`, of the whole gradient.
    steps : int
        T.
    """
    reach = min(at.diameter, at.lipschitz / regulariser)
    start = at.lipschitz * reach - regulariser * reach**2 / 2
    total = Curvature(strong_convexity=regulariser, smoothness=at.smoothness + regulariser)
    several = stage_lengths(steps, total, start, variance)
    choices = [(c, staged_gap(c, total, reach**2, variance)) for c in (several, (steps,))]
    return smallest_or(choices, lambda choice: choice[1], ((steps,), math.inf))


def phased_erm_risk(
    at: UserLevel,
    schedule: ErmSchedule,
    *,
    distance: float | None = None,
    failure: float = 0.0,
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

    Parameters
    ----------
    at : UserLevel
        With a finite smoothness.
    schedule : ErmSchedule
        With full batches.
    distance : float, optional
        D, at least the distance of the start from a minimiser; None for R.
    failure : float
        P(B), 0 without a filter.
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


@dataclass(frozen=True, kw_only=True)
class ExplicitRisk:
    """The smallest bound over the schedules tried, and the schedule that has it.

    Parameters
    ----------
    terms : tuple of five float
        Start, sampling, noise between phases, noise of the last phase, failure of the filter;
        all infinite where no schedule can run.
    schedule : SgdSchedule, ErmSchedule or None
    """

    terms: Terms5
    schedule: SgdSchedule | ErmSchedule | None

    @property
    def value(self) -> float:
        """The bound."""
        return math.fsum(self.terms)


_PHASES = tuple(range(1, 13))
_SGD_DECAYS = (1.0, 1.5, 2.0)
_STEPS = tuple(math.pow(2, k / 2) for k in range(-12, 13))
_WEIGHTS = tuple(math.pow(2, k) for k in range(-3, 18))
_FACTORS = (1.0, 9.0)


def allowed_failure(at: UserLevel) -> float:
    r"""Return the P(B) that the proven radii and tests are set to: :math:`\frac1{10\sqrt{nm}}`.

    It costs logarithms in the radii, and a tenth of the sampling error in the bound.
    """
    return 0.1 / math.sqrt(at.total)


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
    sizes = sorted({min(middle * factor, largest) for middle in middles for factor in _STEPS})
    for phases in _PHASES:
        try:
            schedule(phases, _SGD_DECAYS[0], base)
        except NotApplicable:
            break
        for decay in _SGD_DECAYS:
            for step in sizes:
                found = schedule(phases, decay, step)
                terms = phased_sgd_risk(at, found, distance=distance, failure=failure)
                new = ExplicitRisk(terms=terms, schedule=found)
                best = smallest_or((best, new), _value, best)
    return best


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
    for phases in _PHASES:
        for weight in _WEIGHTS:
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
                best = smallest_or((best, new), _value, best)
    return best


def _value(found: ExplicitRisk) -> float:
    return found.value
