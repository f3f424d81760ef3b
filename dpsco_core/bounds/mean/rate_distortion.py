"""Lower bounds on the mean by rate distortion, for zCDP: theory/approx-lower-bounds.md, 5."""

from dataclasses import replace

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.conditions import scaled_mean_bound
from dpsco_core.bounds.instances import rate_distortion
from dpsco_core.bounds.instances.prior import ZCDP_CLASS, prior_within
from dpsco_core.bounds.instances.tracing import Form
from dpsco_core.bounds.mean.assouad import on_hypercube
from dpsco_core.bounds.mean.over_prior import over_prior
from dpsco_core.problems.base import Setting


def rate_distortion_value(setting: Setting, form: Form, cap: float) -> float:
    """Return the bound in moment units, with means of norm at most `cap`."""
    n, d, order, rho = setting.n, setting.d, setting.moment_order, setting.rho
    squared = form == "squared"
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
_CARD = BoundCard(
    slug="lower.mean.rate-distortion-cdp",
    name="CDP rate distortion",
    paper=OWN,
    statement="approx-lower-bounds, section 5",
    summary=f"{SUMMARY} {ZCDP_CLASS}",
    kind="lower",
    constant="explicit",
    latex=r"\max_qq^{1-1/p}" + _DISTANCE,
    privacy="zcdp",
    instance="hypercube",
)
_SQUARED = replace(
    _CARD,
    slug="lower.mean.rate-distortion-cdp-squared",
    name="CDP rate distortion, squared error",
    statement="approx-lower-bounds, section 5, squared",
    quantity="squared l2 error",
    latex=r"\max_qq^{2-2/p}" + SQUARE,
)
_WITHIN = prior_within(on_hypercube, scaled_mean_bound)
RATE_DISTORTION_BOUNDS: tuple[Bound, ...] = tuple(
    over_prior(card, rate_distortion_value, _WITHIN) for card in (_CARD, _SQUARED)
)
