r"""Lower bounds on mean estimation by tracing: T1 and T2 of theory/approx-lower-bounds.md, 3.

At a setting that fixes ``spike_probability`` they are evaluated on the prior of the data, which has
the spread and the shape of `dpsco_core.catalogue`; elsewhere at the best prior.
"""

from dataclasses import replace
from functools import partial
from typing import Literal

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, Letter
from dpsco_core.bounds.conditions import scaled_mean_bound
from dpsco_core.bounds.instances.prior import (
    APPROX_CLASS,
    APPROXIMATE_BUDGET,
    ZCDP_CLASS,
    approximate_level,
    prior_within,
)
from dpsco_core.bounds.instances.tracing import (
    CONCENTRATED,
    FULL,
    Form,
    Leakage,
    TracingBounds,
    approximate_leakage,
    concentrated_leakage,
    largest_tracing_probability,
    tracing_shape,
)
from dpsco_core.bounds.letters import SCALE
from dpsco_core.bounds.mean.over_prior import over_prior
from dpsco_core.problems.base import Setting

Notion = Literal["approx", "zcdp"]


def leakage_at(setting: Setting, notion: Notion) -> Leakage | None:
    """Return what a record may reveal under the budget; None if the notion has no such budget.

    The data of the catalogue have the spread `CONCENTRATED`, whatever the notion.
    """
    if notion == "zcdp":
        return concentrated_leakage(setting.rho)
    level = approximate_level(setting)
    if level is None:
        return None
    spread = FULL if setting.spike_probability is None else CONCENTRATED
    return approximate_leakage(*level, spread)


def tracing_value(setting: Setting, form: Form, cap: float, *, notion: Notion) -> float:
    """Return a bound by tracing in moment units, with means of norm at most `cap`."""
    leakage = leakage_at(setting, notion)
    if leakage is None:
        return 0.0
    n, d, order, q = setting.n, setting.d, setting.moment_order, setting.spike_probability
    bounds = TracingBounds(n=n, d=d, moment_order=order, leakage=leakage)
    if q is not None:
        return bounds.at(form, q, tracing_shape(d, order))
    largest = largest_tracing_probability(d, order, cap, leakage.spread)
    return bounds.at(form, *bounds.best(form, largest)) if largest > 0 else 0.0


approx_tracing = partial(tracing_value, notion="approx")
cdp_tracing = partial(tracing_value, notion="zcdp")


def _one_coordinate(setting: Setting) -> str:
    if setting.d >= 2:
        return ""
    return "The bound by tracing is 0 at d=1: it needs d >= 2."


D_TWO = Hypothesis(text="d >= 2", check=_one_coordinate)


def traced_within(spread: float = CONCENTRATED) -> Hypothesis:
    """Return the condition that the prior is in the class of laws with means within R."""
    return prior_within(
        lambda d, order, cap: largest_tracing_probability(d, order, cap, spread), scaled_mean_bound
    )


_WITHIN = traced_within()
TRACED = (
    SCALE,
    Letter("u", "shape of the prior, the best one"),
    Letter("r", "spread of the prior"),
    Letter("c", "what a record reveals of itself"),
    Letter("m", "1 or 2, with c"),
    Letter(r"\kappa", "what a record reveals in all"),
    Letter("G", "what there is to be learnt"),
    Letter("S", "root mean square norm of the biases"),
)
_ROOT = r"\max_{q,u}q^{1-1/p}\frac{2G}{x+\sqrt{x^2+4uG}},\quad x=nq\kappa,\quad "
_GAIN = (
    r"G=r^2\bar m\Big(1-\frac v{2\bar m^2}\Big)_+^2,\ \bar m=\frac{du}{1+u}-1,\ "
    r"v=\frac{2du}{(1+u)^2(u+3)},\ "
)
_SQUARE = (
    r"\max_{q,u}q^{2-2/p}\Big(\frac{2A}{nqc+\sqrt{(nqc)^2+4uA}}\Big)^2,\quad "
    r"A=\frac{udr^2}{1+u}-nqh,\ "
)
PAIRS = (
    r"(c,m)\in\Big\{\Big(\frac{e^\varepsilon-1}{\sqrt{2(e^\varepsilon+1)}}\sqrt{\tfrac{32}{27}},2"
    r"\Big),\ \big(\sqrt{2\max(\varepsilon,\tfrac12)},1\big)\Big\},\ r=1"
)
CAPPED = (
    r"\kappa=\min\Big(\sqrt{\tfrac{16}{27}\rho K(\tfrac34\rho)},\ \sqrt{2\rho}\,r^2\Big),\ "
    r"K(x)-1-\ln K(x)=2x,\ r=0.998"
)
_SPY = (
    "Can a spy tell whether your record was used? An accurate mean is correlated with each record "
    "that made it, and privacy keeps the correlation small."
)
_APPROX = BoundCard(
    slug="lower.mean.approx-tracing",
    name="Tracing, every (ε, δ)",
    paper=OWN,
    statement="approx-lower-bounds, section 3, (T1)",
    summary=f"{_SPY} {APPROX_CLASS}",
    kind="lower",
    constant="explicit",
    latex=_ROOT + _GAIN + r"\kappa=\min(c+2m\delta\sqrt d),\ " + PAIRS,
    privacy="approx",
    instance="tracing",
)
_APPROX_SQUARED = replace(
    _APPROX,
    slug="lower.mean.approx-tracing-squared",
    name="Tracing, every (ε, δ), squared error",
    statement="approx-lower-bounds, section 3, (T2)",
    quantity="squared l2 error",
    latex=_SQUARE + r"h=4m\delta d,\ " + PAIRS,
)
_ZCDP = replace(
    _APPROX,
    slug="lower.mean.tracing-cdp",
    name="CDP tracing",
    statement="approx-lower-bounds, section 3, (T1) with Lemma B",
    summary=f"{_SPY} {ZCDP_CLASS}",
    latex=_ROOT + _GAIN + CAPPED,
    privacy="zcdp",
)
_ZCDP_SQUARED = replace(
    _ZCDP,
    slug="lower.mean.tracing-cdp-squared",
    name="CDP tracing, squared error",
    statement="approx-lower-bounds, section 3, (T2) with Lemma B",
    quantity="squared l2 error",
    latex=_SQUARE + r"h=0,\ c=\sqrt{2\rho}\,r^2,\ r=0.998",
)
TRACING_BOUNDS: tuple[Bound, ...] = (
    over_prior(_APPROX, approx_tracing, APPROXIMATE_BUDGET, _WITHIN, D_TWO, letters=TRACED),
    over_prior(_APPROX_SQUARED, approx_tracing, APPROXIMATE_BUDGET, _WITHIN, letters=TRACED),
    over_prior(_ZCDP, cdp_tracing, _WITHIN, D_TWO, letters=TRACED),
    over_prior(_ZCDP_SQUARED, cdp_tracing, _WITHIN, letters=TRACED),
)
