r"""The explicit bound on phased one-pass SGD, and the parameters that minimise it.

The practical tunings of Algorithm 1 and of the baseline N1 at user level minimise this bound, and
explicit bounds on both consist of its terms (theory/lowy-liu-asi.md, 2.1, 2.7 and 3.7). It holds
for any noise, and depends on sizes and constants only.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from dpsco_core.base.search import smallest
from dpsco_core.methods.user.calibrated import halving_users
from dpsco_core.methods.user.printed_schedules import SgdPhase

# A function of a phase's step size and number of steps that returns the noise per coordinate of its
# release.
Noise = Callable[[float, int], float]
Phases = tuple[SgdPhase, ...]

MOST_PHASES = 12  # the largest number of phases that are compared
DECAYS = (1.0, 1.25, 1.5, 2.0)  # the candidates for p in the step sizes eta 2^(-p(i-1))
FLOOR = 1 - 1e-12  # a margin for rounding when a partial sum is compared with the full sum
STEP_FACTORS = tuple(2.0 ** (-k / 2) for k in range(-6, 60))  # candidates for eta, in units of R/L


def phased_terms(
    phases: Sequence[SgdPhase], *, lipschitz: float, diameter: float, d: int, distance: float
) -> tuple[float, float, float, float]:
    r"""Return the terms of the risk bound: start, sampling, noise between phases, and last noise.

    .. math::
        \frac{D^2}{2\eta_1T_1},\quad\sum_i\frac{\eta_iL^2}2,\quad
        \sum_{i\ge2}\frac{\min(d\sigma_{i-1}^2,R^2)}{2\eta_iT_i},\quad L\min(\sqrt d\,\sigma_l,R)

    *Proof.* One-pass projected SGD has :math:`E[F(\bar x_i)-F(y)] \le E\|y-x_{i-1}\|^2/(2\eta_iT_i)
    + \eta_iL^2/2` against any y that does not depend on phase i's users: :math:`x^*` at i = 1,
    the averages' mean of the phase before at i > 1. Projection brings the noisy point no farther
    than the noise, and the last step to :math:`x_l` costs L times the last noise.

    `distance` is D, at least that of the start from a minimiser; R is the diameter of the set.
    """
    first_phase, last_phase = phases[0], phases[-1]
    start = distance**2 / (2 * first_phase.step_size * first_phase.steps)
    sampling = math.fsum(p.step_size for p in phases) * lipschitz**2 / 2
    transfer = math.fsum(
        min(d * previous.noise_std**2, diameter**2) / (2 * p.step_size * p.steps)
        for previous, p in pairwise(phases)
    )
    return start, sampling, transfer, lipschitz * min(math.sqrt(d) * last_phase.noise_std, diameter)


def first_terms(step: float, steps: int, *, lipschitz: float, distance: float) -> float:
    """Return the start and sampling terms of the first phase, a lower bound on the risk bound."""
    return distance**2 / (2 * step * steps) + step * lipschitz**2 / 2


def halving_phases(
    n: int,  # the number of users
    m: int,  # the number of items per user
    groups: int,  # C, the number of groups
    count: int,  # the number of phases
    decay: float,  # p, the decay of the step sizes
    step: float,  # :math:`\eta`, the step size before any decay
    noise: Noise,  # a function of :math:`\eta_i` and :math:`T_i` that returns :math:`\sigma_i`
) -> Phases | None:
    r"""Return `count` phases whose users halve; None if one has fewer users than groups.

    :math:`n_i = \lfloor n2^{-i}\rfloor` users (the last phase: all that remain) in C groups of
    :math:`N_i = \lfloor n_i/C\rfloor`, :math:`T_i = N_im` steps of size
    :math:`\eta_i = \eta2^{-p(i-1)}`.
    """
    if n < 1 << (count - 1):
        return None
    phases = []
    for i, users in enumerate(halving_users(n, count)):
        members = users // groups
        if members < 1:
            return None
        size, steps = step * math.pow(2, -decay * i), members * m
        phases.append(
            SgdPhase(
                users=users,
                group_users=members,
                steps=steps,
                step_size=size,
                score_radius=math.inf,
                noise_std=noise(size, steps),
            )
        )
    return tuple(phases)


def best_phases(
    n: int,  # the number of users, at least `groups`
    m: int,  # the number of items per user
    groups: int,  # C, the number of groups
    *,
    lipschitz: float,
    diameter: float,
    d: int,
    largest_step: float,  # positive; infinite if there is no limit
    noise: Noise,  # a function as in `halving_phases`
) -> Phases:
    """Return the halving phases with the least sum of `phased_terms`, for a start at R/2.

    The search is over up to 12 phases, decays of `DECAYS`, and step sizes from 8 R/L downwards that
    are at most `largest_step`.

    Raises `NotApplicable` if the sum is infinite for all of them.
    """
    unit = diameter / lipschitz
    sizes = sorted({min(unit * factor, largest_step) for factor in STEP_FACTORS})

    distance = diameter / 2

    def candidates() -> Iterator[tuple[int, float, float]]:
        """Yield the numbers of phases, the decays and the step sizes to be compared."""
        for count in range(1, MOST_PHASES + 1):
            if n < 1 << (count - 1) or min(halving_users(n, count)) < groups:
                return
            for decay in DECAYS if count > 1 else DECAYS[:1]:
                for size in sizes:
                    yield count, decay, size

    def phases_of(count: int, decay: float, size: float) -> Phases:
        """Return the phases of a candidate: a number of phases, a decay and a step size."""
        phases = halving_phases(n, m, groups, count, decay, size, noise)
        assert phases is not None  # There is a user for every group.
        return phases

    def risk(candidate: tuple[int, float, float]) -> float:
        """Return the sum of `phased_terms` of a candidate."""
        phases = phases_of(*candidate)
        terms = phased_terms(phases, lipschitz=lipschitz, diameter=diameter, d=d, distance=distance)
        return math.fsum(terms)

    def floor(candidate: tuple[int, float, float]) -> float:
        """Return a lower bound on the risk of a candidate, from its first and last phase."""
        count, decay, size = candidate
        users = halving_users(n, count)
        first_steps, last_steps = (u // groups * m for u in (users[0], users[-1]))
        loud = noise(size * math.pow(2, -decay * (count - 1)), last_steps)
        start_terms = first_terms(size, first_steps, lipschitz=lipschitz, distance=distance)
        return FLOOR * (start_terms + lipschitz * min(math.sqrt(d) * loud, diameter))

    return phases_of(*smallest(candidates(), risk, what="step size", floor=floor))
