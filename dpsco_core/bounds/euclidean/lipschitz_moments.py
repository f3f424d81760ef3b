r"""Bounds on excess risk if the Lipschitz constants of the records' losses have moments.

With :math:`L_z` the Lipschitz constant of the loss of record z on the constraint set, the class is
:math:`E L_Z^2\le G_2^2` and :math:`E L_Z^p\le G_p^p`. The upper rate is that of Asi, Liu and Tian
(2024); the lower bounds have the rate of Lowy and Razaviyayn (2023), with constants of our own
(theory/heavy-tailed-optimisation.md, 2 and 3).
"""

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import (
    ASI_LIU_TIAN_2024,
    LOWY_RAZAVIYAYN_2023,
    BoundCard,
)
from dpsco_core.base.law_classes import LIPSCHITZ_MOMENTS
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import DIAMETER, RATE_TERMS
from dpsco_core.bounds.euclidean.lower_spikes import risk_card
from dpsco_core.bounds.instances import gaussian, hypercube
from dpsco_core.bounds.instances.prior import APPROXIMATE_BUDGET
from dpsco_core.bounds.instances.tracing import TracingBounds, tracing_shape
from dpsco_core.bounds.letters import BINOMIAL, LOWER
from dpsco_core.bounds.lq.conditions import L2_BALL
from dpsco_core.bounds.mean import lower_priors as priors
from dpsco_core.bounds.rate import bound_at_rate, two_terms
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting


def _check_moments(setting: Setting) -> str:
    """Return why the moments of the Lipschitz constants are not certified; empty if they are."""
    c = setting.constants
    if math.isfinite(c.lipschitz_second) and math.isfinite(c.lipschitz_moment):
        return ""
    return (
        "The problem certifies no moment of order "
        f"p={setting.moment_order:g} of the Lipschitz constants of its records' losses, which this "
        "bound needs."
    )


LIPSCHITZ_MOMENT = Hypothesis(
    text="finite moment of order p of the records' Lipschitz constants", check=_check_moments
)


# In the lower bounds below, a spike of probability q has norm min(G_2/q^(1/2), G_p/q^(1/p)).

# A function of (order, q, u) that returns the lower bound for records of norm sqrt(d)/q^(1/order).
ValueAt = Callable[[float, float, float], float]
# A function of (order, largest q) that returns the best q and u.
Best = Callable[[float, float], tuple[float, float]]


def crossing(setting: Setting) -> float:
    r"""Return the spike probability up to which the p-th moment limits a spike, not the second.

    At that probability q, which is at most 1, both allow the same size:
    :math:`G_2q^{1/2}=G_pq^{1-1/p}`.
    """
    c, p = setting.constants, setting.moment_order
    if p == 2 or c.lipschitz_second >= c.lipschitz_moment:
        return 1.0
    return math.pow(c.lipschitz_second / c.lipschitz_moment, 2 * p / (p - 2))


def _private_bound(setting: Setting, value_at: ValueAt, best: Best, shape: float) -> float:
    """Return the private lower bound in units of half the set's diameter.

    It is taken at the setting's spike probability, with the prior of shape u = `shape`, or at the
    best probability and shape if the setting fixes none.
    """
    c, p = setting.constants, setting.moment_order

    def value(q: float, u: float) -> float:
        """Return the bound at q and u: the smaller one of those that both moments allow."""
        limits = (c.lipschitz_moment * value_at(p, q, u), c.lipschitz_second * value_at(2.0, q, u))
        return min(limits) / math.sqrt(setting.d)

    if setting.spike_probability is not None:
        return value(setting.spike_probability, shape)
    edge = crossing(setting)
    q, u = best(2.0, 1.0)
    rare = [best(p, edge)] if edge > 0 else []
    return max(value(*point) for point in (*rare, (max(q, edge), u)))


def _hypercube_bound(setting: Setting) -> float:
    """Return the private lower bound by the sign hypercube for rho-zCDP, in half diameters."""
    n, d, rho = setting.n, setting.d, setting.rho
    return _private_bound(
        setting,
        lambda order, q, _: hypercube.hypercube_cdp(q, n, d, order, rho),
        lambda order, largest: (hypercube.best_cdp(n, d, order, rho, largest), 0.0),
        0.0,
    )


def _tracing_bound(setting: Setting) -> float:
    """Return the private lower bound by tracing for (epsilon, delta)-DP, in half diameters."""
    leakage = priors.leakage_at(setting, "approx")
    if leakage is None:
        return 0.0

    def bounds(order: float) -> TracingBounds:
        """Return the bounds by tracing for records with this moment order."""
        return TracingBounds(n=setting.n, d=setting.d, moment_order=order, leakage=leakage)

    return _private_bound(
        setting,
        lambda order, q, u: bounds(order).value_at("linear", q, u),
        lambda order, largest: bounds(order).best("linear", largest),
        tracing_shape(setting.d, setting.moment_order),
    )


def _lower_bound_formula(privacy: Callable[[Setting], float]) -> Callable[[Setting], Terms]:
    """Return the function that evaluates a lower bound: its sampling and its private term.

    `privacy` computes the private term in units of half the set's diameter.
    """

    def terms(setting: Setting) -> Terms:
        """Return the terms of the lower bound at a setting, by their names."""
        c, n, d = setting.constants, setting.n, setting.d
        unit = c.diameter / 2
        lipschitz = min(c.lipschitz_second, c.lipschitz_moment)
        if _check_moments(setting) or not math.isfinite(unit) or lipschitz == 0:
            return dict.fromkeys(RATE_TERMS, 0.0)
        sampling = 0.0
        if setting.spike_probability is None:
            delta = gaussian.best_separation(n, d, form="linear")
            sampling = gaussian.bounded_signs(delta, n, d, "linear") * lipschitz / math.sqrt(d)
        return {"sampling": unit * sampling, "privacy": unit * privacy(setting)}

    return terms


_LETTERS = (
    Letter(
        "G_2",
        "bound on the root of the second moment of a record's Lipschitz constant",
        lambda s: s.constants.lipschitz_second,
    ),
    Letter(
        "G_p",
        "bound on the root of the p-th moment of a record's Lipschitz constant",
        lambda s: s.constants.lipschitz_moment,
    ),
)
_RATE = two_terms("G_2/sqrt(n)", "G_p*(sqrt(d/rho)/n)^(1-1/p)", unit="D", letters=_LETTERS)
_UPPER = BoundCard(
    slug="upper.sco.prior-asi-liu-tian",
    name="Asi et al. 2024, rate",
    paper=ASI_LIU_TIAN_2024,
    statement="Abstract: convex losses, smooth or not, by reductions",
    summary="The rate for convex losses whose Lipschitz constant differs from record to record: "
    "only its second and p-th moments are bounded. Up to a power of log(1/delta), which the "
    "abstract does not name; it is stated under (epsilon, delta)-DP, and epsilon is read as the "
    "root of rho. Constants are set to 1.",
    kind="upper",
    quantity="excess risk",
    constant="rate",
    guarantee="probability 0.9",
    latex=_RATE.latex,
    privacy="zcdp",
    loss_class=classes.CONVEX,
    law_class=LIPSCHITZ_MOMENTS,
    problems=SCO_PROBLEMS,
)
_LOSSES = (
    "A worst case over smooth convex losses and laws whose Lipschitz constants have second and "
    "p-th moments up to these, proven with the linear loss: on another loss a measured line may "
    "run below."
)
_RATE_SUMMARY = (
    "The rate that Asi et al. (2024) nearly attain, with every constant proven: rare spikes for "
    "privacy, slightly biased signs for sampling."
)
_SAMPLED = (
    r"\frac M2\max\Big(\min(G_2,G_p)\max_\tau\frac\tau{1+\tau}\big(1-\sqrt{1-V}\big),\ "
    r"\max_{%s}\min\big(G_2q^{1/2},G_pq^{1-1/p}\big)"
)
_SIGNS = r",\ V=\sum\frac{2PQ}{P+Q},\ P,Q=\mathrm{Bin}\big(n,\tfrac{1\pm\tau}2\big)"
_TAU = Letter(r"\tau", "bias of the signs, the best one")
_CDP = risk_card(
    "lipschitz-moments-cdp",
    "Lipschitz moments, CDP",
    "heavy-tailed-optimisation, section 3, (L1)",
    _RATE_SUMMARY,
    _SAMPLED % "q"
    + r"2E\big[h^{-1}\big((\ln2-\rho B^2/d)_+\big)\big]\Big),\ "
    + BINOMIAL
    + _SIGNS
    + r",\ h(x)=-x\ln x-(1-x)\ln(1-x),\ h^{-1}\le\tfrac12",
    "zcdp",
    strong=False,
    losses=_LOSSES,
    instance="hypercube",
    paper=LOWY_RAZAVIYAYN_2023,
    law_class=LIPSCHITZ_MOMENTS,
    drawn=False,
    proof="hypercube",
)
_APPROX = replace(
    _CDP,
    slug="lower.sco.lipschitz-moments-approx",
    name="SCO, Lipschitz moments, every (ε, δ)",
    statement="heavy-tailed-optimisation, section 3, (L2)",
    summary=f"{_RATE_SUMMARY} {_LOSSES} It binds all (epsilon, delta)-DP algorithms.",
    latex=_SAMPLED
    % "q,u"
    + r"\frac S{\sqrt d}\Big[1-\frac u{d(u+3)}-y\Big]_+\Big),\ S=r\sqrt{\frac d{1+u}},\ "
    r"y=\min\Big(\eta+\frac x{\sqrt{1+x^2}}\Big),\ x=\frac{nqc}{uS},\ "
    r"\eta=\frac{nqe(1+\sqrt{1+u})}{uS},\ " + priors.PAIRS + _SIGNS,
    privacy="approx",
    instance="tracing",
    proof="tracing",
)
_CLASS = (LIPSCHITZ_MOMENT, DIAMETER)
LIPSCHITZ_MOMENT_RATES: tuple[Bound, ...] = (
    bound_at_rate(_UPPER, _RATE, (GAUSSIAN_BUDGET, *_CLASS)),
)
LIPSCHITZ_MOMENT_LOWER: tuple[Bound, ...] = (
    Bound(
        card=_CDP,
        evaluate=_lower_bound_formula(_hypercube_bound),
        combine=max,
        hypotheses=(*_CLASS, L2_BALL),
        letters=(*LOWER, *_LETTERS, _TAU),
    ),
    Bound(
        card=_APPROX,
        evaluate=_lower_bound_formula(_tracing_bound),
        combine=max,
        hypotheses=(*_CLASS, L2_BALL, APPROXIMATE_BUDGET),
        letters=(*priors.TRACED, *_LETTERS, _TAU),
    ),
)
