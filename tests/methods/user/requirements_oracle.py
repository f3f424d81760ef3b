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

# Algorithm 1 with coins includes a point with a probability that rises with its count of
# neighbours, from a half to two thirds of all.
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
    """Return the number of users at which every requirement that more users can meet is met."""
    return max(r.users for r in requirements)


def failing(requirements: tuple[Requirement, ...]) -> tuple[str, ...]:
    """Return the sentences of the requirements that fail."""
    return tuple(r.sentence for r in requirements if not r.holds)


def supports_delta(case: UserLevel) -> bool:
    r"""Whether :math:`(nm)^2\ge20e^\varepsilon/\delta`: whether the printed C suffices for delta.

    Both worlds must keep their noise below 2C/15 but for :math:`\frac\delta{10e^\varepsilon}`:
    :math:`2e^{-C\varepsilon/150}\le\frac\delta{10e^\varepsilon}` (theory/lowy-liu-asi.md, 2.1).
    """
    return 2 * math.log(case.total) >= math.log(20) + case.epsilon + case.log_delta


def sgd_requirements(case: UserLevel, q: float) -> tuple[Requirement, ...]:
    r"""Return what Algorithm 1 as printed needs, at its parameter q."""
    require(0 < q < 1, "q", "strictly between 0 and 1", q)
    phases = phase_count(case.n)
    smallest, groups = phase_users(case.n, phases, q), printed_groups(case)
    left, right = users_condition(case, q)
    tail = math.sqrt(20 / case.delta) * math.exp(case.epsilon / 2) / case.m
    step = case.condition**2 / (case.d * case.m * case.epsilon)
    largest = case.lipschitz / case.diameter * math.sqrt(case.d * case.total * case.epsilon)
    return (
        Requirement(
            name="C",
            sentence=(
                f"The last of {phases} phases has {smallest:.4g} users for C={groups:.4g} groups."
            ),
            holds=fills_groups(case, q),
            users=least_users(lambda n: fills_groups(case.with_users(n), q)),
        ),
        Requirement(
            name="delta",
            sentence=f"C={groups:.4g} bounds the test's noise for delta only if "
            f"(nm)^2 >= 20 exp(epsilon)/delta, and nm={case.total}.",
            holds=supports_delta(case),
            users=max(1, math.ceil(tail)),
        ),
        Requirement(
            name="n",
            sentence=f"Theorem B.1 needs n^(1-q) >= {right:.4g}, and it is {left:.4g}.",
            holds=left >= right,
            users=least_users(lambda n: _at_least(users_condition(case.with_users(n), q))),
        ),
        Requirement(
            name="beta",
            sentence=f"The smoothness must be at most {largest:.4g}, and is {case.smoothness:.4g}.",
            holds=case.smoothness <= largest,
            users=float(max(1, math.ceil(step))) if math.isfinite(step) else math.inf,
        ),
        _small_epsilon(case),
    )


def erm_requirements(case: UserLevel, q: float) -> tuple[Requirement, ...]:
    r"""Return what Algorithm 3 as printed needs, at its parameter q.

    :math:`K_i\le n_i` in every phase has no answer but for tiny epsilon: the last phases have
    :math:`T_i\approx\ln(ndm)`, and there :math:`K_i/n_i>500\,\varepsilon` (theory/lowy-liu-asi.md,
    8, item 12).
    """
    require(0 < q < 1, "q", "strictly between 0 and 1", q)
    left, right = erm_condition(case, q)
    ratio = batch_ratio(case, q)
    return (
        Requirement(
            name="n",
            sentence=f"Theorem C.1 needs n^(1-q) > {right:.4g}, and it is {left:.4g}.",
            holds=left > right,
            users=least_users(lambda n: _at_least(erm_condition(case.with_users(n), q))),
        ),
        Requirement(
            name="K",
            sentence=f"A phase wants K={ratio:.4g} times as many users a step as it has.",
            holds=ratio <= 1,
            users=least_users(lambda n: batch_ratio(case.with_users(n), q) <= 1),
        ),
        Requirement(
            name="delta",
            sentence=f"delta must be below 1/(mn), and delta={case.delta:g}; mn={case.total}.",
            holds=case.delta * case.total < 1,
            users=1 if case.delta * case.total < 1 else math.inf,
        ),
        _small_epsilon(case),
    )


def _small_epsilon(case: UserLevel) -> Requirement:
    """Return the requirement that epsilon is at most 10."""
    return Requirement(
        name="epsilon",
        sentence=f"epsilon must be at most 10, and epsilon={case.epsilon:g}.",
        holds=case.epsilon <= 10,
        users=1 if case.epsilon <= 10 else math.inf,
    )


def _at_least(sides: tuple[float, float]) -> bool:
    """Return whether the first side is at least the second."""
    return sides[0] >= sides[1]


def sgd_noise_room(case: UserLevel) -> float:
    r"""Return the printed :math:`\sigma_i` of Algorithm 1 over the one that its proof requires.

    Required: :math:`\frac{6\tau_i(2+Q)}C\,g(\frac\varepsilon4,\frac\delta n)` with Q at
    :math:`\zeta=\frac\delta{10e^\varepsilon}` (F5; theory/lowy-liu-asi.md, 2.1).
    """
    count = math.ceil(printed_groups(case))
    changes = 2 + changed_members(PRINTED_FILTER, count, case.delta / 10 * math.exp(-case.epsilon))
    required = 6 * changes * gaussian_multiplier(case.epsilon / 4, case.delta / case.n)
    return 100 * (math.log(case.n) + case.log_delta) ** 2 / case.epsilon / required


def sgd_delta(case: UserLevel) -> float:
    r"""Return the delta that Algorithm 1 as printed spends, at its printed noise.

    .. math:: \tfrac12(1+e^{\varepsilon/10})e^{-C\varepsilon/150}+\zeta+\frac\delta n,\qquad
        \zeta=\frac\delta{10e^\varepsilon}

    The draws beyond 2C/15 excluded in both worlds (theory/lowy-liu-asi.md, 2.1); `sgd_noise_room`
    must be at least 1.
    """
    excluded = 0.5 * (1 + math.exp(case.epsilon / 10)) * laplace_tail(case)
    return excluded + case.delta / 10 * math.exp(-case.epsilon) + case.delta / case.n


def erm_noise_room(case: UserLevel, steps: int, users: int | None = None) -> float:
    r"""Return the printed :math:`\sigma_i` of Algorithm 2 over the required one, full batch.

    Required: :math:`\frac{10\tau(2+Q)}{n_i}\sqrt{T}\,g(\frac\varepsilon2,\frac\delta2)` with Q at
    :math:`\zeta=\frac\delta{10Te^\varepsilon}`: form B with coins at
    :math:`s_{\min}=0.7n_i`, where they keep their mean :math:`0.4n_i` (theory/lowy-liu-asi.md, 2.2,
    item 8).
    """
    multiplier = gaussian_multiplier(case.epsilon / 2, case.delta / 2)
    return _printed_noise_factor(case) / (10 * _changes(case, users or case.n, steps) * multiplier)


def subsampled_noise_room(case: UserLevel, steps: int, batch: int) -> float:
    r"""Return the printed :math:`\sigma_i` of Algorithm 2 over the required one, subsampled.

    K users a step, and the largest base :math:`\varepsilon_0` whose amplification (Lemma A.8) and
    T-fold composition (Lemma A.7) stay within :math:`\frac\varepsilon2`, Definition A.5 at
    :math:`\delta_0=\frac{n\delta}{4KT}`, and a quarter of delta for the composition. Below 1 the
    printed noise is not enough for this proof.
    """
    require(1 <= batch <= case.n, "batch", "between 1 and n", batch)

    def spent(step_epsilon: float) -> float:
        """Return the epsilon of all steps by advanced composition, less the allowed one."""
        composed = math.sqrt(2 * steps * (case.log_delta + math.log(4))) * step_epsilon
        return composed + steps * step_epsilon * math.expm1(step_epsilon) - case.epsilon / 2

    step_epsilon = float(
        brentq(spent, 0.0, case.epsilon / 2 / math.sqrt(steps) + 1e-12, xtol=1e-16)
    )
    base = math.log1p(step_epsilon * case.n / batch)
    per_step = min(0.5, case.n * case.delta / (4 * batch * steps))
    required = 10 * _changes(case, batch, steps) / batch * printed_multiplier(base, per_step)
    return _printed_noise_factor(case) * math.sqrt(steps) / case.n / required


def _changes(case: UserLevel, count: int, steps: int) -> int:
    """Return how many of `count` members of the filter may change, with the printed failure
    probability.
    """
    failure = case.delta / (10 * steps) * math.exp(-case.epsilon)
    return 2 + changed_members(PRINTED_FILTER, count, failure)


def _printed_noise_factor(case: UserLevel) -> float:
    r"""Return the printed :math:`\sigma_in_i/(\tau\sqrt{T_i})`."""
    logarithm = math.log(case.n) + math.log(case.d) + case.epsilon + case.log_delta
    return 1000 * logarithm / case.epsilon


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


def printed_filter_pays_from(case: UserLevel) -> float:
    r"""Return the m from which Algorithm 2's printed noise is below N2's; `case.m` is ignored.

    :math:`\sqrt m=\frac{1000\ln(ndm)\ln(nde^\varepsilon/\delta)}{2\varepsilon g(\varepsilon,
    \delta)}` at :math:`\tau=L\ln(ndm)/\sqrt m`.
    """
    ratio = _printed_noise_factor(case) / (2 * gaussian_multiplier(case.epsilon, case.delta))
    base = replace(case, m=1).log_size

    def short(log_m: float) -> float:
        """Return by how much m = exp(log_m) items are too few, in logarithms."""
        return math.log(ratio * (base + log_m)) - log_m / 2

    return math.exp(float(brentq(short, 0.0, 200.0)))


def linear_time_pays_from(n: int) -> int:
    r"""Return the least m with :math:`\frac{\sqrt d}{\varepsilon\sqrt{nm}}<\frac{\sqrt d}
    {\varepsilon n}`: Algorithm 1's private rate against the naive linear-time one, n + 1.
    """
    return n + 1
