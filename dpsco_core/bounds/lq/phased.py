r"""Phased SGD without a constraint, with every constant proven: Su et al. (2023), Theorem 8.

The bound is B3' of theory/su-zhao-wang.md, 3.5. Phase i of :math:`K=\lfloor\log_2n\rfloor` passes
over :math:`n_i=\lfloor2^{-i}n\rfloor` records at the step size :math:`\eta_i=4^{-i}\eta`, and its
average gets noise of deviation :math:`\sigma_i=cL\eta_i` (Feldman, Koren and Talwar 2020;
theory/su-zhao-wang.md, 2.4).
"""

import math

from dpsco_core.bounds.base import Bound, Hypothesis
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.lq.conditions import AT_LEAST_2
from dpsco_core.bounds.lq.explicit import (
    FREE,
    LIPSCHITZ_NEEDS,
    VOID,
    Terms4,
    explicit_card,
    explicit_row,
)
from dpsco_core.bounds.tools import enough_records
from dpsco_core.methods.lq.phased import noise_factor, phases, printed_step
from dpsco_core.problems.base import Setting


def b3_prime(
    n: int,
    d: int,
    lipschitz: float,  # the Lipschitz constant L
    # This bounds :math:`\|\theta^*\|_2`, which is at most :math:`d^{1/2-1/q}\|\theta^*\|_q`.
    distance: float,
    factor: float,  # the deviation of a phase's noise over L times its step size
    step: float,  # the step size :math:`\eta`
) -> Terms4:
    r"""Return the terms of B3', an explicit bound on the mean excess risk.

    They are those of the start, of sampling, of noise and of the last noise. The bound needs
    :math:`\eta/4\le2/\beta`, and rounds the sizes :math:`n_i` of the phases down. If n is a power
    of two the sum is at most
    :math:`\frac{4\|\theta^*\|_2^2}{\eta n}+\frac{\eta L^2}6+\frac{4dc^2L^2\eta}n+ \frac{\sqrt
    d\,cL^2\eta}{n^2}` (theory/su-zhao-wang.md, 3.5).

    """
    sampling, noise, last_noise = _step_coefficients(n, d, lipschitz, factor)
    return distance**2 / step * (2 / (n // 2)), step * sampling, step * noise, step * last_noise


def best_step(
    n: int, d: int, lipschitz: float, distance: float, factor: float, smoothness: float
) -> float:
    r"""Return the step size :math:`\eta\le8/\beta` that minimises the bound `b3_prime`."""
    free = distance * math.sqrt(
        2 / (n // 2) / math.fsum(_step_coefficients(n, d, lipschitz, factor))
    )
    return min(free, 8 / smoothness) if smoothness > 0 else free


def _step_coefficients(
    n: int, d: int, lipschitz: float, factor: float
) -> tuple[float, float, float]:
    """Return three terms of `b3_prime` over the step size: sampling, noise and last noise."""
    count, energy = phases(n), lipschitz**2
    sampling = energy / 6 * -math.expm1(-count * math.log(4))
    noise = math.fsum(8 * 4.0**-i / (n // 2**i) for i in range(2, count + 1))
    return sampling, d * factor**2 * energy * noise, math.sqrt(d) * factor * energy * 4.0**-count


def phased_risk(setting: Setting, *, diameter_free: bool = False) -> Terms4:
    """Return the terms of `b3_prime` at a setting, for phased SGD on the whole space.

    The step size minimises their sum or, if `diameter_free`, is the paper's, which does not depend
    on the distance of the start (theory/su-zhao-wang.md, 2.4).
    """
    c, rho = setting.constants, setting.gaussian_rho
    if rho <= 0 or setting.n < 2 or c.lipschitz <= 0:
        return VOID
    n, d, distance, factor = setting.n, setting.d, c.diameter / 2, noise_factor(rho)
    if diameter_free:
        step = printed_step(n, d, c.lipschitz, factor)
        if step * c.sample_smoothness > 8:
            return VOID
    else:
        step = best_step(n, d, c.lipschitz, distance, factor, c.sample_smoothness)
    return b3_prime(n, d, c.lipschitz, distance, factor, step)


def _check_step_size(setting: Setting) -> str:
    """Return the reason why the paper's step size is too large; empty if it is not."""
    c, rho = setting.constants, setting.gaussian_rho
    if not (rho > 0 and 0 < c.lipschitz < math.inf and math.isfinite(c.sample_smoothness)):
        return ""
    step = printed_step(setting.n, setting.d, c.lipschitz, noise_factor(rho))
    if step * c.sample_smoothness <= 8:
        return ""
    return (
        f"The first phase needs a step size eta/4 of at most 2/beta = {2 / c.sample_smoothness:.4g}"
        f", and eta/4={step / 4:.4g} at n={setting.n}."
    )


_TERMS = ("optimisation", "sampling", "privacy noise", "last noise")
_B3_PRIME = (
    r"\frac{D^2}{8\eta_1n_1}+\sum_i\frac{\eta_iL^2}2+\sum_{i\ge2}"
    r"\frac{d\sigma_{i-1}^2}{2\eta_in_i}+L\sqrt d\,\sigma_K,\ \eta_i=4^{-i}\eta,\ "
    r"n_i=\lfloor2^{-i}n\rfloor,\ \sigma_i=c\,L\eta_i,\ c=\sqrt{2/\rho},\ "
    r"K=\lfloor\log_2n\rfloor"
)
_PHASED = explicit_card(
    "phased-sgd",
    "Phased SGD without a constraint, proven",
    "Theorem 8's algorithm, explicit bound at its best step size",
    "The mean excess risk with every constant proven, at the step size that makes this bound "
    "smallest; D/2 bounds the l2 norm of the minimiser.",
    r"\min_{\eta\le8/\beta}" + _B3_PRIME,
)
_NEEDS = ("gaussian_rho", *LIPSCHITZ_NEEDS)
_HYPOTHESES = (AT_LEAST_2, GAUSSIAN_BUDGET, *FREE, enough_records("2", lambda setting: 2))
PHASED_RISKS: tuple[Bound, ...] = (
    explicit_row(_PHASED, _TERMS, _NEEDS, phased_risk, _HYPOTHESES),
    explicit_row(
        _PHASED,
        _TERMS,
        _NEEDS,
        lambda setting: phased_risk(setting, diameter_free=True),
        (*_HYPOTHESES, Hypothesis(text="eta/4 <= 2/beta", check=_check_step_size)),
        slug="upper.lp.phased-sgd-free",
        name="Phased SGD without a constraint, step size without a distance",
        statement="Theorem 8's algorithm, explicit bound at a step size that knows no distance",
        summary="The mean excess risk with every constant proven, at the step size of an algorithm "
        "that does not know how far the minimiser is.",
        latex=_B3_PRIME + r",\ \eta=\frac1L\min\Big\{\frac1{\sqrt n},\frac1{c\sqrt d}\Big\}",
    ),
)
