r"""What the printed algorithms need, one condition after the other, and which constant fails.

Lowy, Liu and Asi (2024), Theorems B.1 and C.1, and what their proofs use of the constants
(theory/lowy-liu-asi.md, 2.1 to 2.3, 2.7 and 8, items 3 to 12).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from scipy.optimize import brentq

from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.methods.user.calibrated import UNIT_FILTER, USERS_HALT, phase_tuning
from dpsco_core.methods.user.level import UserLevel, gaussian_multiplier, printed_multiplier
from dpsco_core.methods.user.printed_schedules import (
    batch_ratio,
    erm_condition,
    fills_groups,
    laplace_tail,
    least_users,
    phase_count,
    phase_users,
    printed_groups,
    users_condition,
)
from dpsco_core.privacy.filter.plan import phase_plan
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import changed_members

# Algorithm 1 with coins: the count of neighbours from a half to two thirds is the inclusion.
PRINTED_FILTER = RobustFilter(score_radius=1.0, filter_radius=2.0, upper=2 / 3, inclusion="coins")


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """One condition of a printed algorithm.

    Parameters
    ----------
    name : str
        Which constant it is about.
    sentence : str
        The condition with its numbers.
    holds : bool
    users : float
        The least n at which it holds, all else equal; infinite if there is none.
    """

    name: str
    sentence: str
    holds: bool
    users: float


def users_needed(requirements: tuple[Requirement, ...]) -> float:
    """Return the n with which every requirement that more users can meet is met."""
    return max(r.users for r in requirements)


def failing(requirements: tuple[Requirement, ...]) -> tuple[str, ...]:
    """Return the sentences of the requirements that fail."""
    return tuple(r.sentence for r in requirements if not r.holds)


def supports_delta(at: UserLevel) -> bool:
    r"""Whether :math:`(nm)^2\ge20e^\varepsilon/\delta`: whether the printed C suffices for delta.

    Both worlds must keep their noise below 2C/15 but for :math:`\frac\delta{10e^\varepsilon}`:
    :math:`2e^{-C\varepsilon/150}\le\frac\delta{10e^\varepsilon}` (theory/lowy-liu-asi.md, 2.1).
    """
    return 2 * math.log(at.total) >= math.log(20) + at.epsilon + at.log_delta


def sgd_requirements(at: UserLevel, q: float) -> tuple[Requirement, ...]:
    r"""Return what Algorithm 1 as printed needs, at its parameter q."""
    require(0 < q < 1, "q", "strictly between 0 and 1", q)
    phases = phase_count(at.n)
    last, groups = phase_users(at.n, phases, q), printed_groups(at)
    left, right = users_condition(at, q)
    tail = math.sqrt(20 / at.delta) * math.exp(at.epsilon / 2) / at.m
    step = at.condition**2 / (at.d * at.m * at.epsilon)
    largest = at.lipschitz / at.diameter * math.sqrt(at.d * at.total * at.epsilon)
    return (
        Requirement(
            name="C",
            sentence=f"The last of {phases} phases has {last:.4g} users for C={groups:.4g} groups.",
            holds=fills_groups(at, q),
            users=least_users(lambda n: fills_groups(at.with_users(n), q)),
        ),
        Requirement(
            name="delta",
            sentence=f"C={groups:.4g} bounds the test's noise for delta only if "
            f"(nm)^2 >= 20 exp(epsilon)/delta, and nm={at.total}.",
            holds=supports_delta(at),
            users=max(1, math.ceil(tail)),
        ),
        Requirement(
            name="n",
            sentence=f"Theorem B.1 needs n^(1-q) >= {right:.4g}, and it is {left:.4g}.",
            holds=left >= right,
            users=least_users(lambda n: _at_least(users_condition(at.with_users(n), q))),
        ),
        Requirement(
            name="beta",
            sentence=f"The smoothness must be at most {largest:.4g}, and is {at.smoothness:.4g}.",
            holds=at.smoothness <= largest,
            users=float(max(1, math.ceil(step))) if math.isfinite(step) else math.inf,
        ),
        _small_epsilon(at),
    )


def erm_requirements(at: UserLevel, q: float) -> tuple[Requirement, ...]:
    r"""Return what Algorithm 3 as printed needs, at its parameter q.

    :math:`K_i\le n_i` in every phase has no answer but for tiny epsilon: the last phases have
    :math:`T_i\approx\ln(ndm)`, and there :math:`K_i/n_i>500\,\varepsilon` (theory/lowy-liu-asi.md,
    8, item 12).
    """
    require(0 < q < 1, "q", "strictly between 0 and 1", q)
    left, right = erm_condition(at, q)
    ratio = batch_ratio(at, q)
    return (
        Requirement(
            name="n",
            sentence=f"Theorem C.1 needs n^(1-q) > {right:.4g}, and it is {left:.4g}.",
            holds=left > right,
            users=least_users(lambda n: _at_least(erm_condition(at.with_users(n), q))),
        ),
        Requirement(
            name="K",
            sentence=f"A phase wants K={ratio:.4g} times as many users a step as it has.",
            holds=ratio <= 1,
            users=least_users(lambda n: batch_ratio(at.with_users(n), q) <= 1),
        ),
        Requirement(
            name="delta",
            sentence=f"delta must be below 1/(mn), and delta={at.delta:g}; mn={at.total}.",
            holds=at.delta * at.total < 1,
            users=1 if at.delta * at.total < 1 else math.inf,
        ),
        _small_epsilon(at),
    )


def _small_epsilon(at: UserLevel) -> Requirement:
    return Requirement(
        name="epsilon",
        sentence=f"epsilon must be at most 10, and epsilon={at.epsilon:g}.",
        holds=at.epsilon <= 10,
        users=1 if at.epsilon <= 10 else math.inf,
    )


def _at_least(sides: tuple[float, float]) -> bool:
    return sides[0] >= sides[1]


def sgd_noise_room(at: UserLevel) -> float:
    r"""Return the printed :math:`\sigma_i` of Algorithm 1 over the one that its proof requires.

    Required: :math:`\frac{6\tau_i(2+Q)}C\,g(\frac\varepsilon4,\frac\delta n)` with Q at
    :math:`\zeta=\frac\delta{10e^\varepsilon}` (F5; theory/lowy-liu-asi.md, 2.1).
    """
    count = math.ceil(printed_groups(at))
    changes = 2 + changed_members(PRINTED_FILTER, count, at.delta / 10 * math.exp(-at.epsilon))
    needed = 6 * changes * gaussian_multiplier(at.epsilon / 4, at.delta / at.n)
    return 100 * (math.log(at.n) + at.log_delta) ** 2 / at.epsilon / needed


def sgd_delta(at: UserLevel) -> float:
    r"""Return the delta that Algorithm 1 as printed spends, at its printed noise.

    .. math:: \tfrac12(1+e^{\varepsilon/10})e^{-C\varepsilon/150}+\zeta+\frac\delta n,\qquad
        \zeta=\frac\delta{10e^\varepsilon}

    The draws beyond 2C/15 excluded in both worlds (theory/lowy-liu-asi.md, 2.1); `sgd_noise_room`
    must be at least 1.
    """
    excluded = 0.5 * (1 + math.exp(at.epsilon / 10)) * laplace_tail(at)
    return excluded + at.delta / 10 * math.exp(-at.epsilon) + at.delta / at.n


def erm_noise_room(at: UserLevel, steps: int, users: int | None = None) -> float:
    r"""Return the printed :math:`\sigma_i` of Algorithm 2 over the required one, full batch.

    Required: :math:`\frac{10\tau(2+Q)}{n_i}\sqrt{T}\,g(\frac\varepsilon2,\frac\delta2)` with Q at
    :math:`\zeta=\frac\delta{10Te^\varepsilon}`: form B with coins at
    :math:`s_{\min}=0.7n_i`, where they keep their mean :math:`0.4n_i` (theory/lowy-liu-asi.md, 2.2,
    item 8).
    """
    multiplier = gaussian_multiplier(at.epsilon / 2, at.delta / 2)
    return _printed_noise_factor(at) / (10 * _changes(at, users or at.n, steps) * multiplier)


def subsampled_noise_room(at: UserLevel, steps: int, batch: int) -> float:
    r"""Return the printed :math:`\sigma_i` of Algorithm 2 over the required one, subsampled.

    K users a step, and the largest base :math:`\varepsilon_0` whose amplification (Lemma A.8) and
    T-fold composition (Lemma A.7) stay within :math:`\frac\varepsilon2`, Definition A.5 at
    :math:`\delta_0=\frac{n\delta}{4KT}`, and a quarter of delta for the composition. Below 1 the
    printed noise is not enough for this proof.
    """
    require(1 <= batch <= at.n, "batch", "between 1 and n", batch)

    def spent(each: float) -> float:
        composed = math.sqrt(2 * steps * (at.log_delta + math.log(4))) * each
        return composed + steps * each * math.expm1(each) - at.epsilon / 2

    each = float(brentq(spent, 0.0, at.epsilon / 2 / math.sqrt(steps) + 1e-12, xtol=1e-16))
    base = math.log1p(each * at.n / batch)
    per_step = min(0.5, at.n * at.delta / (4 * batch * steps))
    needed = 10 * _changes(at, batch, steps) / batch * printed_multiplier(base, per_step)
    return _printed_noise_factor(at) * math.sqrt(steps) / at.n / needed


def _changes(at: UserLevel, count: int, steps: int) -> int:
    failure = at.delta / (10 * steps) * math.exp(-at.epsilon)
    return 2 + changed_members(PRINTED_FILTER, count, failure)


def _printed_noise_factor(at: UserLevel) -> float:
    r""":math:`\sigma_in_i/(\tau\sqrt{T_i})` as printed."""
    logarithm = math.log(at.n) + math.log(at.d) + at.epsilon + at.log_delta
    return 1000 * logarithm / at.epsilon


def filter_pays_from(
    users: int,
    epsilon: float,
    delta: float,
    *,
    spread: float = 3.0,
    releases: int = 20,
    keep: RobustFilter = UNIT_FILTER,
) -> float:
    r"""Return the m from which Mode A has less noise than N2; infinite if its test cannot pass.

    .. math:: \Delta\,g(\varepsilon_2,\delta_2)\le\frac{2L}K\,g(\varepsilon,\delta),\qquad
        \tau=\frac{cL}{\sqrt m},\ \rho_s=2\tau

    (theory/lowy-liu-asi.md, 2.7); `spread` is c.

    Examples
    --------
    >>> round(filter_pays_from(3000, 1.0, 1e-6), -2), filter_pays_from(1000, 1.0, 1e-6)
    (8200.0, inf)
    """
    try:
        plan = phase_plan(
            users, releases, epsilon, delta, keep=keep, tuning=phase_tuning(USERS_HALT)
        )
    except NotApplicable:
        return math.inf
    noise = plan.release.noise_std / math.sqrt(releases)
    return (spread * noise * users / gaussian_multiplier(epsilon, delta)) ** 2


def printed_filter_pays_from(at: UserLevel) -> float:
    r"""Return the m from which Algorithm 2's printed noise is below N2's; `at.m` does not count.

    :math:`\sqrt m=\frac{1000\ln(ndm)\ln(nde^\varepsilon/\delta)}{2\varepsilon g(\varepsilon,
    \delta)}` at :math:`\tau=L\ln(ndm)/\sqrt m`.
    """
    ratio = _printed_noise_factor(at) / (2 * gaussian_multiplier(at.epsilon, at.delta))
    base = replace(at, m=1).log_size

    def short(log_m: float) -> float:
        return math.log(ratio * (base + log_m)) - log_m / 2

    return math.exp(float(brentq(short, 0.0, 200.0)))


def linear_time_pays_from(n: int) -> int:
    r"""Return the least m with :math:`\frac{\sqrt d}{\varepsilon\sqrt{nm}}<\frac{\sqrt d}
    {\varepsilon n}`: Algorithm 1's private rate against the naive linear-time one, n + 1.
    """
    return n + 1
