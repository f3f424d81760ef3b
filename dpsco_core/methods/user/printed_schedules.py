r"""The schedules of Lowy, Liu and Asi (2024), as printed, and the numbers of users that they need.

They are those of Algorithms 1 to 3 and of Theorem D.3, with real-valued sizes, as in the paper
(theory/lowy-liu-asi.md, 2.1, 2.3 and 2.5). At the end are the conditions of Theorems B.1 and C.1,
and what their proofs need of the constants (2.1 to 2.3 and 8, items 3 to 12).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.methods.user.level import UserLevel


@dataclass(frozen=True, kw_only=True)
class SgdPhase:
    """One phase of Algorithm 1."""

    users: float  # n_i, the number of users
    group_users: float  # N_i, the number of users per group
    steps: float  # T_i = N_i m, the number of one-pass steps
    step_size: float  # η_i, the step size
    score_radius: float  # τ_i, the score radius
    noise_std: float  # σ_i, the noise per coordinate


@dataclass(frozen=True, kw_only=True)
class SgdSchedule:
    """The schedule of Algorithm 1: C groups per phase, and the phases."""

    groups: float  # C, the number of groups; 1 without a filter
    items: int  # m, the number of items per user
    phases: tuple[SgdPhase, ...]

    @property
    def users(self) -> float:
        r"""The number of users whose items are read, :math:`\sum_iCN_i`."""
        return math.fsum(self.groups * phase.group_users for phase in self.phases)

    @property
    def gradients(self) -> float:
        r"""The number of item gradients, :math:`m\sum_iCN_i`."""
        return self.items * self.users


@dataclass(frozen=True, kw_only=True)
class ErmPhase:
    """One phase of Algorithm 3, which is a run of Algorithm 2."""

    users: float  # n_i, the number of users
    regulariser: float  # λ_i, the weight of the regulariser
    steps: float  # T_i, the number of steps
    batch: float  # K_i, the number of users per step
    noise_std: float  # σ_i, the noise per coordinate and step


@dataclass(frozen=True, kw_only=True)
class ErmSchedule:
    """The schedule of Algorithm 3: its filter radius and its phases."""

    tau: float  # τ: scores and filter use 2τ; infinite without a filter
    items: int  # m, the number of items per user
    phases: tuple[ErmPhase, ...]

    @property
    def gradients(self) -> float:
        r"""The number of item gradients if no phase halts, :math:`m\sum_iT_iK_i`."""
        return self.items * math.fsum(phase.steps * phase.batch for phase in self.phases)


def phase_count(n: int) -> int:
    r"""Return the number of phases :math:`l=\lfloor\log_2n\rfloor`."""
    require(n >= 2, "n", "at least 2", n)
    return n.bit_length() - 1


def phase_users(n: int, phase: int, q: float) -> float:
    r"""Return the number of users of a phase, :math:`n_i=(1-2^{-q})\,n\,2^{-iq}`.

    All phases together have :math:`n2^{-q}(1-2^{-ql})` users.
    """
    require(q > 0, "q", "positive", q)
    return -math.expm1(-q * math.log(2)) * n * math.pow(2, -phase * q)


def printed_groups(case: UserLevel) -> float:
    r"""Return the number of groups of Algorithm 1, line 2.

    .. math:: C=\frac{100\ln(20nme^\varepsilon/\delta)}\varepsilon

    Examples
    --------
    >>> case = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9)
    >>> round(printed_groups(case), 3)
    4313.968
    """
    return 100 * (math.log(20 * case.total) + case.log_delta + case.epsilon) / case.epsilon


def printed_decay(case: UserLevel) -> float:
    r"""Return the exponent :math:`p=J+\frac32` of Theorem B.1, for the J with :math:`m=n^J`."""
    return math.log(case.m) / math.log(case.n) + 1.5


def printed_step(case: UserLevel) -> float:
    r"""Return the step size :math:`\eta=\frac R{L\sqrt{dmn\varepsilon}}` of Theorem B.1."""
    size = math.sqrt(case.d) * math.sqrt(case.total) * math.sqrt(case.epsilon)
    return case.diameter / (case.lipschitz * size)


def printed_release(
    case: UserLevel, groups: float, step_size: float, steps: float
) -> tuple[float, float]:
    r"""Return the score radius :math:`\tau_i` and the noise :math:`\sigma_i` of Algorithm 1.

    .. math:: \tau_i=1000\,\eta_iL\sqrt{T_i}\ln(ndm),\quad
        \sigma_i=\frac{100\,\tau_i\ln^2(n/\delta)}{\varepsilon C}
    """
    radius = 1000 * step_size * case.lipschitz * math.sqrt(steps) * case.log_size
    logarithm = math.log(case.n) + case.log_delta
    return radius, 100 * radius * logarithm**2 / (case.epsilon * groups)


def printed_sgd(case: UserLevel, q: float) -> SgdSchedule:
    r"""Return the schedule of Algorithm 1 with the parameters of Theorem B.1.

    :math:`\eta_i=\eta2^{-pi}`, :math:`N_i=n_i/C`, and the radius and noise of `printed_release`.

    The decay `q` of the numbers of users is positive.

    Examples
    --------
    >>> case = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9)
    >>> first = printed_sgd(case, 0.1).phases[0]
    >>> round(first.users, 1), round(first.score_radius, 5), round(first.noise_std, 2)
    (62482.4, 6.99859, 193.53)
    """
    groups, decay, step = printed_groups(case), printed_decay(case), printed_step(case)
    phases = []
    for i in range(1, phase_count(case.n) + 1):
        users, size = phase_users(case.n, i, q), step * math.pow(2, -decay * i)
        members = users / groups
        radius, noise = printed_release(case, groups, size, members * case.m)
        phases.append(
            SgdPhase(
                users=users,
                group_users=members,
                steps=members * case.m,
                step_size=size,
                score_radius=radius,
                noise_std=noise,
            )
        )
    return SgdSchedule(groups=groups, items=case.m, phases=tuple(phases))


def printed_radius(case: UserLevel) -> float:
    r"""Return the score radius of Algorithm 3, with the hidden constant 1.

    It is :math:`\tau=L\ln(ndm)/\sqrt m`.
    """
    return case.lipschitz * case.log_size / math.sqrt(case.m)


def printed_regulariser(case: UserLevel) -> float:
    r"""Return the regulariser of Theorem C.3.

    .. math:: \lambda=\frac LR\Big(\frac1{\sqrt{nm}}+\frac{\sqrt d}{\varepsilon n\sqrt m}\Big)
    """
    private = math.sqrt(case.d) / (case.epsilon * case.n * math.sqrt(case.m))
    return case.lipschitz / case.diameter * (1 / math.sqrt(case.total) + private)


def printed_batch(case: UserLevel, users: float, steps: float) -> float:
    r"""Return the printed batch size of a phase of Algorithm 3, which :math:`n_i` does not cap.

    .. math:: K_i=500\ln\Big(\frac{n_i^2m^2e^\varepsilon}\delta\Big)
        \Big(\frac1\varepsilon+\frac{n_i\varepsilon}{\sqrt{T_i\ln(1/\delta)}}\Big)
    """
    logarithm = 2 * math.log(users * case.m) + case.epsilon + case.log_delta
    share = users * case.epsilon / math.sqrt(steps * case.log_delta)
    return 500 * logarithm * (1 / case.epsilon + share)


def printed_noise(case: UserLevel, tau: float, users: float, steps: float) -> float:
    r"""Return the printed noise of Algorithm 2, line 14.

    .. math:: \sigma_i=\frac{1000\,\tau\sqrt{T_i}\ln(nde^\varepsilon/\delta)}{\varepsilon n_i}
    """
    logarithm = math.log(case.n) + math.log(case.d) + case.epsilon + case.log_delta
    return 1000 * tau * math.sqrt(steps) * logarithm / (case.epsilon * users)


def erm_steps(case: UserLevel, regulariser: float, factor: float = 1.0) -> int:
    r"""Return the number of steps of a phase, at least 1.

    It is :math:`T_i=\lceil c_T(1+\sqrt{\beta/\lambda_i})\ln(ndm)\rceil`, with `factor` for c_T.
    """
    logarithm = max(1.0, case.log_size)
    root = math.sqrt(case.smoothness / regulariser)
    return math.ceil(factor * (1 + root) * logarithm)


def regularised_steps(case: UserLevel, regulariser: float, factor: float = 1.0) -> int:
    """Return the number of steps of a phase on the regularised risk: `erm_steps` at beta + lambda.

    `factor` is the c_T of `erm_steps`.
    """
    total = replace(case, smoothness=case.smoothness + regulariser)
    return erm_steps(total, regulariser, factor)


def balanced_regulariser(case: UserLevel, private: float, distance: float) -> float:
    r"""Return the regulariser that balances its bias with sampling and noise.

    .. math:: \lambda=\frac1D\sqrt{\frac{L^2}{nm}+\frac{d\sigma_1^2}{T_1}}

    `private` is the second term under the root, and `distance` is D.
    """
    return math.sqrt(case.lipschitz**2 / case.total + private) / distance


def printed_erm(case: UserLevel, q: float) -> ErmSchedule:
    r"""Return the schedule of Algorithm 3 with the parameters of Theorem C.3.

    :math:`\lambda_i=\lambda2^{pi}` with the least :math:`p=3q+2.5+\log_n\sqrt m`, the hidden
    constants of :math:`\tau` and :math:`T_i` set to 1.

    Raises `NotApplicable` if the loss is not smooth.

    Examples
    --------
    >>> case = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9, smoothness=1.0)
    >>> first = printed_erm(case, 0.1).phases[0]
    >>> first.steps, f"{first.batch:.6g}", round(first.noise_std, 4)
    (761, '1.32163e+07', 34.6226)
    """
    if not math.isfinite(case.smoothness):
        raise NotApplicable("Algorithm 3 needs a smooth loss; Theorem 4.1 smooths others first.")
    tau, base = printed_radius(case), printed_regulariser(case)
    decay = 3 * q + 2.5 + math.log(case.m) / (2 * math.log(case.n))
    phases = []
    for i in range(1, phase_count(case.n) + 1):
        users, regulariser = phase_users(case.n, i, q), base * math.pow(2, decay * i)
        steps = erm_steps(case, regulariser)
        phases.append(
            ErmPhase(
                users=users,
                regulariser=regulariser,
                steps=steps,
                batch=printed_batch(case, users, steps),
                noise_std=printed_noise(case, tau, users, steps),
            )
        )
    return ErmSchedule(tau=tau, items=case.m, phases=tuple(phases))


def smoothing_radius(case: UserLevel) -> float:
    r"""Return the smoothing radius of Theorem D.3.

    It is :math:`r=\frac{\sqrt d}{\varepsilon n\sqrt m}R`.
    """
    return math.sqrt(case.d) / (case.epsilon * case.n * math.sqrt(case.m)) * case.diameter


def smoothed_smoothness(case: UserLevel, radius: float) -> float:
    r"""Return the smoothness of the average over a ball of radius r, by Lemma D.1.

    It is :math:`\beta=\frac{L\sqrt d}r`.

    At the radius of Theorem D.3 it is :math:`\frac LR\varepsilon n\sqrt m`.
    """
    require(radius > 0, "radius", "positive", radius)
    return case.lipschitz * math.sqrt(case.d) / radius


def smoothed_regulariser(case: UserLevel) -> float:
    r"""Return the regulariser :math:`\lambda=\frac1{\sqrt{mn}}` of Theorem D.3's proof.

    It has no unit, and the rate needs `printed_regulariser` instead (theory/lowy-liu-asi.md, 2.5).
    """
    return 1 / math.sqrt(case.total)


# The largest number of binary digits of a number of users that the search considers.
MOST_DIGITS = 200


def least_users(works: Callable[[int], bool]) -> float:
    r"""Return the least n >= 2 at which `works` holds; infinite beyond :math:`2^{200}`.

    Within every interval :math:`[2^l,2^{l+1})` the condition must hold from some n on, or nowhere:
    the number of phases :math:`\lfloor\log_2n\rfloor` changes between the intervals.
    """
    for digits in range(1, MOST_DIGITS):
        low, high = 1 << digits, (1 << (digits + 1)) - 1
        if not works(high):
            continue
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if works(middle) else (middle + 1, high)
        return low
    return math.inf


def best_decay(n: int) -> float:
    r"""Return the q that maximises :math:`n_l=(1-2^{-q})n2^{-lq}`: :math:`2^{-q}=\frac l{l+1}`."""
    phases = phase_count(n)
    return math.log2((phases + 1) / phases)


def fills_groups(case: UserLevel, q: float | None = None) -> bool:
    r"""Return whether :math:`n_l\ge C`, so that each group of the last phase has a user.

    If q is None it is the best one.
    """
    chosen = best_decay(case.n) if q is None else q
    return phase_users(case.n, phase_count(case.n), chosen) >= printed_groups(case)


def laplace_tail(case: UserLevel) -> float:
    r"""Return the tail probability :math:`e^{-C\varepsilon/150}=(20nme^\varepsilon/\delta)^{-2/3}`.

    With it, the noise of Algorithm 1's test exceeds 2C/15 in absolute value.

    Examples
    --------
    >>> case = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9)
    >>> f"{laplace_tail(case):.5g}"
    '3.2343e-13'
    """
    return math.exp(-printed_groups(case) * case.epsilon / 150)


def users_condition(case: UserLevel, q: float) -> tuple[float, float]:
    r"""Return both sides of the condition of Theorem B.1 on the number of users.

    .. math:: n^{1-q}\ge\frac{100\ln(n/\delta)}{\varepsilon(1-2^{-q})}

    Examples
    --------
    >>> case = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9)
    >>> [round(side, 1) for side in users_condition(case, 0.1)]
    [251188.6, 51575.8]
    """
    share = -math.expm1(-q * math.log(2))
    right = 100 * (math.log(case.n) + case.log_delta) / (case.epsilon * share)
    return math.pow(case.n, 1 - q), right


def erm_condition(case: UserLevel, q: float) -> tuple[float, float]:
    r"""Return both sides of the condition of Theorem C.1 on the number of users.

    .. math:: n^{1-q}>\frac{100\ln(20nmde^\varepsilon/\delta)}{\varepsilon(1-2^{-q})}
    """
    share = -math.expm1(-q * math.log(2))
    logarithm = math.log(20) + case.log_size + case.epsilon + case.log_delta
    return math.pow(case.n, 1 - q), 100 * logarithm / (case.epsilon * share)


def batch_ratio(case: UserLevel, q: float, phase: int | None = None) -> float:
    """Return the printed batch over the users of its phase; None stands for the largest ratio."""
    phases = printed_erm(case, q).phases
    chosen = phases if phase is None else phases[phase - 1 : phase]
    return max(p.batch / p.users for p in chosen)
