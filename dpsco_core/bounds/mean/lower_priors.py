r"""Lower bounds on the mean over priors: tracing, Assouad's argument and rate distortion.

See theory/approx-lower-bounds.md, 3 to 5. If a setting fixes ``spike_probability``, the bounds are
evaluated for the prior of the data, with the spread and shape that the catalogue's laws have;
otherwise for the prior with the largest bound.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from dpsco_core.base.cards import ACHARYA_2021, OWN, BoundCard
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    PRIOR_IN_SET,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.cubes import (
    KNOWN_CUBES,
    TWO_SIGNS,
    Value,
    known_cubes_of_class,
    on_cubes,
    on_cubes_of_class,
    within_cubes,
)
from dpsco_core.bounds.instances import assouad, packing, rate_distortion
from dpsco_core.bounds.instances.hardest import largest_spike_probability
from dpsco_core.bounds.instances.leakage import (
    CONCENTRATED,
    FULL,
    Leakage,
    approximate_leakage,
    concentrated_leakage,
)
from dpsco_core.bounds.instances.prior import (
    APPROX_CLASS,
    APPROXIMATE_BUDGET,
    CENTRED,
    SHRUNK,
    ZCDP_CLASS,
    approximate_level,
    prior_within,
)
from dpsco_core.bounds.instances.tracing import (
    TracingBounds,
    largest_tracing_probability,
    tracing_shape,
)
from dpsco_core.bounds.letters import LOWER, SCALE
from dpsco_core.problems.base import Setting

Notion = Literal["approx", "zcdp"]


def mean_bound_over_prior(
    card: BoundCard,
    value: Value,  # the function that computes the bound in moment units
    *hypotheses: Hypothesis,
    letters: tuple[Letter, ...] = LOWER,
) -> Bound:
    """Return the lower bound on the error of estimating a mean that is drawn from a prior.

    It holds if the coordinate moments are finite and the prior fits the constraint set, beside
    `hypotheses`. On the instances "hypercube" and "tracing" the means lie on a cube inside that
    set.
    """
    squared = card.quantity == "squared l2 error"
    on_set: Hypothesis = PRIOR_IN_SET
    if card.instance == "hypercube":
        value, on_set = on_cubes(value, card.privacy, strong=False), KNOWN_CUBES
    elif card.instance == "tracing":
        value = on_cubes_of_class(value, strong=False)
        on_set = known_cubes_of_class(PRIOR_IN_SET)

    def evaluate(setting: Setting) -> Terms:
        """Return the private term of the bound at a setting."""
        scale = moment_scale(setting)
        if not 0 < scale < math.inf:
            return {"privacy": 0.0}
        unit = scale**2 if squared else scale
        form: Form = "squared" if squared else "l2"
        return {"privacy": unit * value(setting, form, scaled_mean_bound(setting))}

    conditions = (COORDINATE_MOMENT, on_set, *hypotheses)
    return Bound(card=card, evaluate=evaluate, hypotheses=conditions, letters=letters)


def leakage_at(setting: Setting, notion: Notion) -> Leakage | None:
    """Return the leakage of a setting's budget in a notion; None if the budget is not of it.

    Under (epsilon, delta) the spread of the prior is the best one, unless the setting fixes a spike
    probability: its data then have the spread `CONCENTRATED`.
    """
    if notion == "zcdp":
        return concentrated_leakage(setting.rho)
    level = approximate_level(setting)
    if level is None:
        return None
    spread = FULL if setting.spike_probability is None else CONCENTRATED
    return approximate_leakage(*level, setting.d, spread)


def at_least_at_two(value: Value) -> Value:
    r"""Return the function that evaluates a bound at p, and for p < 2 at p = 2 too if it is larger.

    A lower bound at 2 holds at p < 2 as well, because the class at p contains the class at 2: if
    :math:`E|X_j-\mu_j|^2\le g^2`, then :math:`E|X_j-\mu_j|^p\le g^p` (Lyapunov). An order in
    between is never better for tracing, whose records have a size :math:`2^{1-2/p}q^{-1/p}` that is
    monotone in p. If the setting fixes the spike probability, the bound is about the law of its
    data, and only p counts.
    """

    def value_of_class(setting: Setting, form: Form, cap: float) -> float:
        """Return the bound at the setting's p or, if p < 2 and that is larger, at p = 2."""
        largest = value(setting, form, cap)
        if setting.moment_order >= 2 or setting.spike_probability is not None:
            return largest
        return max(largest, value(replace(setting, moment_order=2.0), form, cap))

    return value_of_class


def tracing_value(setting: Setting, form: Form, cap: float, *, notion: Notion) -> float:
    """Return the lower bound by tracing for algorithms of a notion, and 0 without a fitting budget.

    The bound and `cap`, the largest norm of a mean, are in moment units.
    """
    leakage = leakage_at(setting, notion)
    if leakage is None:
        return 0.0
    n, d, order, q = setting.n, setting.d, setting.moment_order, setting.spike_probability
    bounds = TracingBounds(n=n, d=d, moment_order=order, leakage=leakage)
    if q is not None:
        return bounds.value_at(form, q, tracing_shape(d, order))
    largest = largest_tracing_probability(d, order, cap, leakage.spread)
    return bounds.value_at(form, *bounds.best(form, largest)) if largest > 0 else 0.0


approx_tracing = at_least_at_two(partial(tracing_value, notion="approx"))
cdp_tracing = at_least_at_two(partial(tracing_value, notion="zcdp"))


def at_best(
    setting: Setting,
    cap: float,  # the largest norm of a mean, in moment units
    value_at: Callable[[float], float],
    best: Callable[[float], float],
    instance: Literal["spike", "hypercube"] = "hypercube",
) -> float:
    """Return a lower bound at the setting's spike probability, or at the best one if it has none.

    `value_at` returns the bound at a probability, and `best` the best one up to a largest.
    """
    q = setting.spike_probability
    if q is None:
        largest = largest_spike_probability(instance, setting.d, setting.moment_order, cap)
        if largest == 0:
            return 0.0
        q = best(largest)
    return value_at(q)


on_hypercube = partial(largest_spike_probability, "hypercube")


def assouad_value(setting: Setting, form: Form, cap: float) -> float:
    """Return Assouad's lower bound for means of norm at most `cap`, and 0 under zCDP.

    The bound and `cap` are in moment units.
    """
    level = approximate_level(setting)
    if level is None:
        return 0.0
    n, d, order = setting.n, setting.d, setting.moment_order
    best = partial(assouad.best, form, n, order, *level)
    return at_best(setting, cap, lambda q: assouad.assouad(form, q, n, d, order, *level), best)


def packing_value(setting: Setting, form: Form, cap: float) -> float:
    """Return packing's lower bound for means of norm at most `cap`, and 0 under zCDP.

    The bound and `cap` are in moment units.
    """
    level = approximate_level(setting)
    if level is None:
        return 0.0
    n, d, order = setting.n, setting.d, setting.moment_order
    best = partial(packing.best, form, n, d, order, *level)
    return at_best(setting, cap, lambda q: packing.packing(form, q, n, d, order, *level), best)


def rate_distortion_value(setting: Setting, form: Form, cap: float) -> float:
    """Return the lower bound by rate distortion for zCDP and means of norm at most `cap`.

    The bound and `cap` are in moment units.
    """
    n, d, order, rho = setting.n, setting.d, setting.moment_order, setting.rho
    squared = form == "squared"
    best = partial(rate_distortion.best, n, d, order, rho, squared=squared)
    value_at = rate_distortion.distortion
    return at_best(setting, cap, lambda q: value_at(q, n, d, order, rho, squared=squared), best)


TRACED = (
    SCALE,
    Letter("u", "shape of the prior, the best one"),
    Letter("r", "spread of the prior"),
    Letter("c", "what a record reveals of itself"),
    Letter("e", "what a failure may reveal, with c"),
    Letter(r"c_\varepsilon", "expectile of a record's test"),
    Letter(r"\kappa", "what a record reveals in all"),
    Letter("G", "what there is to be learnt"),
    Letter("S", "root mean square norm of the biases"),
)
_ROOT = r"\max_{q,u}q^{1-1/p}\frac{2G}{x+\sqrt{x^2+4uG}},\quad x=nq\kappa,\quad "
_GAIN = (
    r"G=r^2\bar m\Big(1-\frac v{2\bar m^2}\Big)_+^2,\ \bar m=\frac{du}{1+u}-1,\ "
    r"v=\frac{2du}{(1+u)^2(u+3)},\ "
)
_TRACED_SQUARE = (
    r"\max_{q,u}q^{2-2/p}\Big(\frac{2A}{nqc+\sqrt{(nqc)^2+4uA}}\Big)^2,\quad "
    r"A=\frac{udr^2}{1+u}-nqh,\ "
)
PAIRS = (
    r"(c,e)\in\Big\{\Big(\frac{e^\varepsilon-1}{\sqrt{2(e^\varepsilon+1)}}\sqrt{\tfrac{32}{27}},"
    r"4\delta\sqrt d\Big),\ \big(\sqrt{2\max(\varepsilon,\tfrac12)},2\delta\sqrt d\big),\ "
    r"\big(c',\tfrac{\delta d}{c'}\big)\Big\},\ c'=\max(c_\varepsilon,\sqrt{\delta d}),\ r=1"
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
    statement="approx-lower-bounds, section 3, (T1), with the constant of sharper-approx-bounds",
    summary=f"{_SPY} {APPROX_CLASS}",
    kind="lower",
    constant="explicit",
    latex=_ROOT + _GAIN + r"\kappa=\min(c+e),\ " + PAIRS,
    privacy="approx",
    instance="tracing",
    infinite_variance=CENTRED,
    proof="tracing",
)
_APPROX_SQUARED = replace(
    _APPROX,
    slug="lower.mean.approx-tracing-squared",
    name="Tracing, every (ε, δ), squared error",
    statement="approx-lower-bounds, section 3, (T2)",
    quantity="squared l2 error",
    latex=_TRACED_SQUARE + r"h=2\sqrt d\,e,\ " + PAIRS,
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
    latex=_TRACED_SQUARE + r"h=0,\ c=\sqrt{2\rho}\,r^2,\ r=0.998",
)
SPIKED = r",\ B\sim\mathrm{Bin}(n,q)"
CURVE = r"G(x)=\min\big(1,\,e^\varepsilon x+\delta,\,1-e^{-\varepsilon}(1-\delta-x)\big)" + SPIKED
PIECES = r"\tau_b=\sum_i\frac{2p_iq_i}{p_i+q_i}\text{ over the pieces of }G^{\circ b},\ " + CURVE
GROUPED = (
    *LOWER,
    Letter("G", "largest power against one changed record of a test with false alarm x"),
    Letter(r"\tau", "share of the squared error that b spikes leave"),
    Letter("c", "mass that two outputs have in common"),
    Letter("x", "probability of a false alarm"),
)
_ASSOUAD_CARD = BoundCard(
    slug="lower.mean.approx-assouad",
    name="Assouad, every (ε, δ)",
    paper=ACHARYA_2021,
    statement="private Assouad, exact binomial law and group curve, on rare spikes",
    summary="Any two sign patterns that differ in one place leave close outputs, because privacy "
    f"hides the few spikes that tell. {APPROX_CLASS}",
    kind="lower",
    constant="explicit",
    latex=r"\max_q\sqrt d\,q^{1-1/p}E[c_B],\quad c_b=\min_x\big[1-G^{\circ b}(x)+x\big],\ " + CURVE,
    privacy="approx",
    instance="hypercube",
    infinite_variance=SHRUNK,
    proof="assouad",
)
_ASSOUAD_SQUARED = replace(
    _ASSOUAD_CARD,
    slug="lower.mean.approx-assouad-squared",
    name="Assouad, every (ε, δ), squared error",
    statement="private Assouad, exact binomial law and group curve, on rare spikes, squared",
    quantity="squared l2 error",
    latex=r"\max_qd\,q^{2-2/p}E[\tau_B],\quad " + PIECES,
)
PACKED = (
    *LOWER,
    Letter("T", "least mean distance to the signs, or linear loss, that b spikes leave"),
    Letter("Q", "least squared distance to the signs that b spikes leave"),
    Letter(r"\nu", "secret signs, each one equally likely"),
    Letter("y", "any answer"),
    Letter("t", "level that the mean loss cannot be below"),
    Letter("s", "largest product with a unit vector that counts"),
    Letter(r"\theta", "any unit vector"),
    Letter(r"\delta_b", "failure probability for b records"),
    Letter(r"\chi", "what a failure costs"),
)
_CLOSE = r",\ \delta_b=\delta\frac{e^{b\varepsilon}-1}{e^\varepsilon-1},\ \nu\in\{\pm1\}^d" + SPIKED
PACKED_SQUARE = (
    r"Q_b=\max\Big\{(d-s^2)(1-\delta_b\chi)_+:(e^{b\varepsilon}-1)\,"
    r"E(\langle\nu,\theta\rangle-s)_+\le s\text{ for all }\theta\Big\}" + _CLOSE
)
PACKED_LINEAR = PACKED_SQUARE.replace("Q_b", "T_b").replace("d-s^2", r"\sqrt d-s")
PACKING_SUMMARY = (
    "Privacy makes all sign patterns nearly as likely after the output as before, and then no "
    "answer is close to most of them."
)
PACKED_DISTANCE = (
    r"\max_qq^{1-1/p}E[T_B],\quad T_b=\max\Big\{t-\delta_b\chi:(e^{b\varepsilon}-1)\,"
    r"E(t-\|\nu-y\|_2)_+\le E\|\nu-y\|_2-t\text{ for all }y\Big\}" + _CLOSE
)
_PACKING = replace(
    _ASSOUAD_CARD,
    slug="lower.mean.approx-packing",
    name="Packing, every (ε, δ)",
    paper=OWN,
    statement="sharper-approx-bounds, section 3, (P1)",
    summary=f"{PACKING_SUMMARY} {APPROX_CLASS}",
    latex=PACKED_DISTANCE,
    proof="packing",
)
_PACKING_SQUARED = replace(
    _PACKING,
    slug="lower.mean.approx-packing-squared",
    name="Packing, every (ε, δ), squared error",
    statement="sharper-approx-bounds, section 3, (P2)",
    quantity="squared l2 error",
    latex=r"\max_qq^{2-2/p}E[Q_B],\quad " + PACKED_SQUARE,
)
DISTORTION_SQUARE = (
    r"E\Big[\max_t\frac{-\rho B^2-d\ln M_1(t)}t\Big]_+,\ "
    r"B\sim\mathrm{Bin}(n,q),\ M_1(t)=\max_ye^{-t(1+y^2)}\cosh2ty"
)
_DISTANCE = (
    r"E\Big[\max_s\frac{-\rho B^2-\Lambda(s)}s\Big]_+,\ B\sim\mathrm{Bin}(n,q),\ "
    r"\Lambda(s)=\ln\int_0^\infty\frac s{2\sqrt\pi}t^{-3/2}e^{-s^2/4t}"
    r"M_1(t)^ddt,\ M_1(t)=\max_ye^{-t(1+y^2)}\cosh2ty"
)
DISTORTION_SUMMARY = (
    "The least distance to a hidden sign pattern of which privacy lets so few bits through."
)
_DISTORTION = BoundCard(
    slug="lower.mean.rate-distortion-cdp",
    name="CDP rate distortion",
    paper=OWN,
    statement="approx-lower-bounds, section 5",
    summary=f"{DISTORTION_SUMMARY} {ZCDP_CLASS}",
    kind="lower",
    constant="explicit",
    latex=r"\max_qq^{1-1/p}" + _DISTANCE,
    privacy="zcdp",
    instance="hypercube",
    infinite_variance=SHRUNK,
    proof="rate distortion",
)
_DISTORTION_SQUARED = replace(
    _DISTORTION,
    slug="lower.mean.rate-distortion-cdp-squared",
    name="CDP rate distortion, squared error",
    statement="approx-lower-bounds, section 5, squared",
    quantity="squared l2 error",
    latex=r"\max_qq^{2-2/p}" + DISTORTION_SQUARE,
)
_IN_CLASS = prior_within(
    partial(largest_tracing_probability, spread=CONCENTRATED), scaled_mean_bound
)
_SPIKES_WITHIN = within_cubes(prior_within(on_hypercube, scaled_mean_bound), strong=False)
PRIOR_BOUNDS: tuple[Bound, ...] = (
    mean_bound_over_prior(
        _APPROX, approx_tracing, APPROXIMATE_BUDGET, _IN_CLASS, TWO_SIGNS, letters=TRACED
    ),
    mean_bound_over_prior(
        _APPROX_SQUARED, approx_tracing, APPROXIMATE_BUDGET, _IN_CLASS, letters=TRACED
    ),
    mean_bound_over_prior(_ZCDP, cdp_tracing, _IN_CLASS, TWO_SIGNS, letters=TRACED),
    mean_bound_over_prior(_ZCDP_SQUARED, cdp_tracing, _IN_CLASS, letters=TRACED),
    *(
        mean_bound_over_prior(
            card, assouad_value, APPROXIMATE_BUDGET, _SPIKES_WITHIN, letters=GROUPED
        )
        for card in (_ASSOUAD_CARD, _ASSOUAD_SQUARED)
    ),
    *(
        mean_bound_over_prior(
            card, packing_value, APPROXIMATE_BUDGET, _SPIKES_WITHIN, letters=PACKED
        )
        for card in (_PACKING, _PACKING_SQUARED)
    ),
    mean_bound_over_prior(_DISTORTION, rate_distortion_value, _SPIKES_WITHIN),
    mean_bound_over_prior(_DISTORTION_SQUARED, rate_distortion_value, _SPIKES_WITHIN),
)
