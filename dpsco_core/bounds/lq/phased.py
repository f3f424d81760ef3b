r"""Phased SGD without a constraint, with every constant proven: Su et al. (2023), Theorem 8.

B3' of theory/su-zhao-wang.md, 3.5, is in `dpsco_core.methods.lq.phased_schedule`.
"""

from dataclasses import replace

from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.lq.conditions import AT_LEAST_2, STEP_FITS
from dpsco_core.bounds.lq.explicit import FREE, LIPSCHITZ_NEEDS, VOID, Terms4, row
from dpsco_core.bounds.lq.regularized import CARD
from dpsco_core.bounds.tools import enough_records
from dpsco_core.methods.lq import phased_schedule as lq_phased
from dpsco_core.problems.base import Setting

_B3_PRIME_TERMS = ("optimisation", "sampling", "privacy noise", "last noise")
_B3_PRIME = (
    r"\frac{D^2}{8\eta_1n_1}+\sum_i\frac{\eta_iL^2}2+\sum_{i\ge2}"
    r"\frac{d\sigma_{i-1}^2}{2\eta_in_i}+L\sqrt d\,\sigma_K,\ \eta_i=4^{-i}\eta,\ "
    r"n_i=\lfloor2^{-i}n\rfloor,\ \sigma_i=c\,L\eta_i,\ c=\sqrt{2/\rho},\ "
    r"K=\lfloor\log_2n\rfloor"
)


def phased_risk(setting: Setting, *, diameter_free: bool = False) -> Terms4:
    """B3' of phased SGD on the whole space: start, sampling, noise, last noise; in l2.

    At the step size that minimises it, or at the one that knows no distance
    (theory/su-zhao-wang.md, 2.4).
    """
    c, rho = setting.constants, setting.gaussian_rho
    if rho <= 0 or setting.n < 2 or c.lipschitz <= 0:
        return VOID
    n, d, distance = setting.n, setting.d, c.diameter / 2
    factor = lq_phased.noise_factor(rho)
    if diameter_free:
        step = lq_phased.printed_step(n, d, c.lipschitz, factor)
        if step * c.sample_smoothness > 8:
            return VOID
    else:
        step = lq_phased.best_step(n, d, c.lipschitz, distance, factor, c.sample_smoothness)
    return lq_phased.b3_prime(n, d, c.lipschitz, distance, factor, step)


_PHASED = replace(
    CARD,
    slug="upper.lp.phased-sgd-explicit",
    name="Phased SGD without a constraint, proven",
    statement="Theorem 8's algorithm, explicit bound at its best step size",
    summary="The mean excess risk with every constant proven, at the step size that makes this "
    "bound smallest; D/2 bounds the l2 norm of the minimiser.",
    latex=r"\min_{\eta\le8/\beta}" + _B3_PRIME,
    method="lp.phased-sgd",
)
_TWO_RECORDS = enough_records("2", lambda setting: 2)
PHASED_RISKS: tuple[Bound, ...] = (
    row(
        _PHASED,
        _B3_PRIME_TERMS,
        ("gaussian_rho", *LIPSCHITZ_NEEDS),
        phased_risk,
        (AT_LEAST_2, *FREE, _TWO_RECORDS),
    ),
    row(
        replace(
            _PHASED,
            slug="upper.lp.phased-sgd-free",
            name="Phased SGD without a constraint, step size without a distance",
            statement="Theorem 8's algorithm, explicit bound at a step size that knows no distance",
            summary="The mean excess risk with every constant proven, at the step size of an "
            "algorithm that does not know how far the minimiser is.",
            latex=_B3_PRIME + r",\ \eta=\frac1L\min\Big\{\frac1{\sqrt n},\frac1{c\sqrt d}\Big\}",
        ),
        _B3_PRIME_TERMS,
        ("gaussian_rho", *LIPSCHITZ_NEEDS),
        lambda setting: phased_risk(setting, diameter_free=True),
        (AT_LEAST_2, *FREE, _TWO_RECORDS, STEP_FITS),
    ),
)
