"""Lower bounds on the mean by rate distortion, for zCDP: theory/approx-lower-bounds.md, 5."""

from __future__ import annotations

import math

from dpsco_core.base.cards import OWN, BoundCard, Quantity
from dpsco_core.bounds.base import Bound, Terms
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, moment_scale, scaled_mean_bound
from dpsco_core.bounds.instances import rate_distortion
from dpsco_core.bounds.instances.prior import ZCDP_CLASS, prior_within
from dpsco_core.bounds.letters import LOWER
from dpsco_core.bounds.mean.assouad import on_hypercube
from dpsco_core.problems.base import Setting


def rate_distortion_value(setting: Setting, squared: bool, cap: float) -> float:
    """Return the bound in moment units, with means of norm at most `cap`."""
    n, d, order, rho = setting.n, setting.d, setting.moment_order, setting.rho
    best = rate_distortion.best_squared if squared else rate_distortion.best_l2
    at = rate_distortion.rate_distortion_squared if squared else rate_distortion.rate_distortion_l2
    q = setting.spike_probability
    if q is None:
        largest = on_hypercube(d, order, cap)
        if largest == 0:
            return 0.0
        q = best(n, d, order, rho, largest)
    return at(q, n, d, order, rho)


SQUARE = (
    r"E\Big[\max_t\frac{-\rho B^2-d\ln M_1(t)}t\Big]_+,\ "
    r"B\sim\mathrm{Bin}(n,q),\ M_1(t)=\max_ye^{-t(1+y^2)}\cosh2ty"
)
_DISTANCE = (
    r"E\Big[\max_s\frac{-\rho B^2-\Lambda(s)}s\Big]_+,\ B\sim\mathrm{Bin}(n,q),\ "
    r"\Lambda(s)=\ln\int_0^\infty\frac s{2\sqrt\pi}t^{-3/2}e^{-s^2/4t}"
    r"M_1(t)^ddt,\ M_1(t)=\max_ye^{-t(1+y^2)}\cosh2ty"
)
SUMMARY = "The least distance to a hidden sign pattern of which privacy lets so few bits through."


def _bound(name: str, title: str, statement: str, latex: str, quantity: Quantity) -> Bound:
    squared = quantity == "squared l2 error"

    def evaluate(setting: Setting) -> Terms:
        scale = moment_scale(setting)
        if not 0 < scale < math.inf:
            return {"privacy": 0.0}
        unit = scale**2 if squared else scale
        return {
            "privacy": unit * rate_distortion_value(setting, squared, scaled_mean_bound(setting))
        }

    return Bound(
        card=BoundCard(
            slug=f"lower.mean.{name}",
            name=title,
            paper=OWN,
            statement=statement,
            summary=f"{SUMMARY} {ZCDP_CLASS}",
            kind="lower",
            quantity=quantity,
            constant="explicit",
            latex=latex,
            privacy="zcdp",
            instance="hypercube",
        ),
        evaluate=evaluate,
        hypotheses=(COORDINATE_MOMENT, prior_within(on_hypercube, scaled_mean_bound)),
        letters=LOWER,
    )


RATE_DISTORTION_BOUNDS: tuple[Bound, ...] = (
    _bound(
        "rate-distortion-cdp",
        "CDP rate distortion",
        "approx-lower-bounds, section 5",
        r"\max_qq^{1-1/p}" + _DISTANCE,
        "l2 error",
    ),
    _bound(
        "rate-distortion-cdp-squared",
        "CDP rate distortion, squared error",
        "approx-lower-bounds, section 5, squared",
        r"\max_qq^{2-2/p}" + SQUARE,
        "squared l2 error",
    ),
)
