r"""Private lower bounds on excess risk from rare spikes: Kamath et al. (2022), section 6, sharper.

Theorem 6.4 is for convex losses, proven with the linear loss :math:`-\langle w,x\rangle` on a ball
of diameter M: the risk is in units of M/2 times the moment scale. Theorem 6.1 is for strongly
convex losses, proven with :math:`\frac\lambda2\|w-x/\lambda\|^2`: the excess risk is
:math:`\frac1{2\lambda}` times the squared error of the mean of x, which must be within
:math:`\lambda M/2`. In both classes the population gradient has norm at most R =
``mean_gradient_bound``, which caps the spike probability. If a setting fixes
``spike_probability``, a bound is evaluated at that probability, because the bound at another one is
about another prior.
"""

import math
from functools import partial
from typing import Any, Literal

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import (
    KAMATH_2022,
    BoundCard,
    Privacy,
)
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, large_enough, moment_scale
from dpsco_core.bounds.cubes import (
    KNOWN_CUBES,
    Value,
    known_cubes_of_class,
    on_cubes,
    on_cubes_of_class,
    within_cubes,
)
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    MINIMUM_INTERIOR,
    STRONGLY_CONVEX,
)
from dpsco_core.bounds.instances.hardest import FORMS, largest_spike_probability
from dpsco_core.bounds.instances.prior import SHRUNK, prior_within
from dpsco_core.bounds.letters import BINOMIAL, LOWER, WRONG_SIGNS
from dpsco_core.bounds.lq.conditions import L2_BALL, TOUCHED
from dpsco_core.bounds.mean import lower_priors as priors
from dpsco_core.problems import SCO_PROBLEMS, STRONG_PROBLEMS
from dpsco_core.problems.base import Setting

_CLASS = {
    False: "A worst case over convex losses and laws with bounded p-th moments and gradients of "
    "mean within R, proven with the linear loss: on another loss a measured line may run below. ",
    True: "A worst case over strongly convex losses and laws with bounded p-th moments, proven "
    "with the quadratic loss: on another loss a measured line may run below. ",
}
_BINDS: dict[Privacy, str] = {
    "zcdp": "It binds rho-zCDP algorithms; under an (epsilon, delta) budget, those that spend no "
    "more than its Gaussian releases may.",
    "pure": "It binds epsilon-DP algorithms.",
    "approx": "It is stated for (epsilon, delta)-DP algorithms.",
    "none": "It binds every algorithm.",
}
_BINDS_ALL = "It binds all (epsilon, delta)-DP algorithms."


def class_words(
    strong: bool, privacy: Privacy, losses: str = "", *, binds_all: bool = False
) -> str:
    """Return the words for the class of losses in the summary of a lower bound."""
    return (f"{losses} " if losses else _CLASS[strong]) + binding_words(privacy, binds_all)


def binding_words(privacy: Privacy, binds_all: bool = True) -> str:
    """Return the sentence that says which algorithms a lower bound binds.

    `binds_all` says that an (epsilon, delta) bound is proven for all such algorithms.
    """
    return _BINDS_ALL if binds_all and privacy == "approx" else _BINDS[privacy]


def class_conditions(strong: bool, on_set: Hypothesis = L2_BALL) -> tuple[Hypothesis, ...]:
    """Return the conditions that a lower bound's unit of risk exists and that the set fits.

    By default the set is an l2 ball: only there the linear loss is worth M/2 in every direction,
    and the minimisers of the quadratic loss fill it. `on_set` is the condition for other sets.
    """
    extra = (STRONGLY_CONVEX, MINIMUM_INTERIOR) if strong else ()
    return (COORDINATE_MOMENT, DIAMETER, on_set, *extra)


def set_of(card: BoundCard) -> Hypothesis:
    """Return the condition on the constraint set for a lower bound with this card.

    Bounds by signs hold on sets that touch their ball at all sign vectors
    (theory/bounds-everywhere.md, 2.2), for quadratic losses on sets with known cubes of means (5);
    others hold on the l2 ball.
    """
    strong = card.loss_class.strongly_convex
    if card.instance == "hypercube":
        return KNOWN_CUBES if strong else TOUCHED
    return known_cubes_of_class(L2_BALL) if strong and card.instance == "tracing" else L2_BALL


def mean_cap(setting: Setting, strong: bool) -> float:
    r"""Return the largest norm of an instance's mean in the class, in moment units.

    It is R for linear losses. If `strong`, it is :math:`\min(\lambda M/2,\ R-\lambda M/2)`, because
    the minimiser is in the ball and the gradient is :math:`\lambda w-\mu` for
    :math:`\|w\|\le M/2`.
    """
    c = setting.constants
    scale = moment_scale(setting)
    cap = c.mean_gradient_bound
    if strong:
        reach = c.strong_convexity * c.diameter / 2
        cap = max(0.0, min(reach, cap - reach)) if math.isfinite(reach) else reach
    return cap / scale


def risk_unit(setting: Setting, strong: bool) -> float:
    r"""Return the unit in which lower bounds on a risk are computed.

    It is :math:`gM/2` for linear and :math:`g^2/(2\lambda)` for strongly convex losses, with g the
    moment scale and M the diameter; 0 if a constant does not exist.
    """
    c = setting.constants
    scale = moment_scale(setting)
    if not 0 < scale < math.inf or math.isinf(c.diameter):
        return 0.0
    if not strong:
        return scale * c.diameter / 2
    return scale**2 / (2 * c.strong_convexity) if c.strong_convexity > 0 else 0.0


def risk_card(
    name: str,
    title: str,
    statement: str,
    summary: str,
    latex: str,
    privacy: Privacy,
    *,
    strong: bool,
    losses: str = "",  # the summary's words for the class, if it differs from that of most bounds
    binds_all: bool = False,  # whether an (epsilon, delta) bound is proven for all such algorithms
    # These are other fields of the card, or values that differ from those of most lower bounds.
    **fields: Any,
) -> BoundCard:
    """Return the card of a lower bound on linear losses, or on strongly convex ones."""
    defaults: dict[str, Any] = {
        "paper": KAMATH_2022,
        "constant": "explicit",
        "instance_problem": "quadratic" if strong else "linear",
        "instance_class": classes.SQUARED_DISTANCE if strong else classes.LINEAR,
        "loss_class": classes.SMOOTH_STRONG if strong else classes.SMOOTH,
    }
    return BoundCard(
        slug=f"lower.{'sco-strong' if strong else 'sco'}.{name}",
        name=f"{'Strongly convex SCO' if strong else 'SCO'}, {title}",
        statement=statement,
        summary=f"{summary} {class_words(strong, privacy, losses, binds_all=binds_all)}",
        kind="lower",
        quantity="excess risk",
        latex=latex,
        privacy=privacy,
        problems=STRONG_PROBLEMS if strong else SCO_PROBLEMS,
        **defaults | fields,
    )


def risk_bound(
    card: BoundCard,
    value: Value,  # the bound in moment units, for means of norm at most `mean_cap`
    *hypotheses: Hypothesis,  # the conditions in addition to those of the class
    letters: tuple[Letter, ...] = LOWER,
    on_set: Hypothesis | None = None,  # the condition on the set, if it differs from the prior's
) -> Bound:
    """Return the lower bound on an excess risk with this card: `value` times `risk_unit`."""
    strong = card.loss_class.strongly_convex
    form: Form = "squared" if strong else "linear"
    if strong and card.instance == "hypercube":
        value = on_cubes(value, card.privacy, strong=True)
    elif strong and card.instance == "tracing":
        value = on_cubes_of_class(value, strong=True)

    def evaluate(setting: Setting) -> Terms:
        """Return the private term of the bound at a setting."""
        unit = risk_unit(setting, strong)
        return {"privacy": unit and unit * value(setting, form, mean_cap(setting, strong))}

    conditions = (*class_conditions(strong, on_set or set_of(card)), *hypotheses)
    return Bound(card=card, evaluate=evaluate, hypotheses=conditions, letters=letters)


def signs_within(strong: bool) -> Hypothesis:
    """Return the condition that the setting's spike probability keeps the signs in the class."""
    largest = partial(largest_spike_probability, "hypercube")
    on_ball = prior_within(largest, lambda s: mean_cap(s, strong), region_of_means(strong))
    return within_cubes(on_ball, strong=True) if strong else on_ball


def region_of_means(strong: bool) -> str:
    """Return the region that contains the means of a prior, in the words of its condition."""
    return "the constraint set and the bound R" if strong else "the bound R on the gradient"


def _bound_over_spikes(
    name: str,  # ends the slug, and begins the key in `FORMS`
    title: str,
    summary: str,
    statement: str,
    latex: str,  # the LaTeX of the bound, in units of `risk_unit`
    *,
    strong: bool,
) -> Bound:
    """Return the catalogue's lower bound on a risk from rare spikes, for one class of losses."""
    instance: Literal["spike", "hypercube"] = "spike" if name.startswith("fano") else "hypercube"
    privacy: Literal["pure", "zcdp"] = "pure" if name.endswith("pure") else "zcdp"
    value_at, best = FORMS[f"{name}-{'squared' if strong else 'convex'}"]

    def value(setting: Setting, _: Form, cap: float) -> float:
        """Return the bound divided by `risk_unit`, at the setting's or the best spike probability.

        The best one is taken if the setting has none. `cap` is the largest norm that a prior's mean
        may have, over the moment scale (see `mean_cap`).
        """
        n, d, order = setting.n, setting.d, setting.moment_order
        level = setting.rho if privacy == "zcdp" else setting.pure_epsilon
        best_at = partial(best, n, d, order, level)
        return priors.at_best(
            setting, cap, lambda p: value_at(p, n, d, order, level), best_at, instance
        )

    in_class = prior_within(
        partial(largest_spike_probability, instance),
        lambda s: mean_cap(s, strong) if risk_unit(s, strong) else math.inf,
        region_of_means(strong),
        leaves="prior's means leave {}",
        keeps="them within",
    )
    on_signs = instance == "hypercube"
    latex = (r"\frac{g^2}{2\lambda}\max_q" if strong else r"\frac{gM}2\max_q") + latex
    return risk_bound(
        risk_card(
            name,
            title,
            statement,
            summary,
            latex,
            privacy,
            strong=strong,
            instance=instance,
            proof="hypercube" if on_signs else "fano by packing",
            is_fano=name == "fano-pure",
            infinite_variance=SHRUNK,
        ),
        value,
        within_cubes(in_class, strong=True) if strong and on_signs else in_class,
        *(() if on_signs else (large_enough(8 if privacy == "pure" else 9),)),
    )


_FANO_CDP = r"\Big[1-\frac{\rho(n^2q^2+nq(1-q))+\ln2}{\frac d8\ln2}\Big]_+"
_FANO_PURE = r"E\Big[\frac{N-1}{N-1+e^{\varepsilon B}}\Big],\ N=2^{d/8},\ " + BINOMIAL
_SIGNS = "Every sign of a rare spike must be guessed, and privacy hides most of them."
_PACKED = r"\frac{q^{1-1/p}d}{64\sqrt{\lfloor d/2\rfloor}}"
_PACKED_SQUARED = r"\frac{q^{2-2/p}\,d}{32}"
_ENTROPY = (
    r"2\sqrt d\,q^{1-1/p}\,E\big[h^{-1}\big((\ln2-\rho B^2/d)_+\big)\big],\ "
    + BINOMIAL
    + r",\ h(x)=-x\ln x-(1-x)\ln(1-x),\ h^{-1}\le\tfrac12"
)


_ROWS = (
    (
        "fano-cdp",
        "CDP Fano, paper's packing",
        "Fano's inequality for concentrated DP on a code of rare spikes, as printed: the form by "
        "distance is larger.",
        ("Theorem 1.4 with Theorem 6.4, explicit", _PACKED + _FANO_CDP),
        ("Theorem 1.4 with Theorem 6.1, explicit", _PACKED_SQUARED + _FANO_CDP),
    ),
    (
        "fano-pure",
        "pure-DP Fano",
        "Group privacy on a code of rare spikes.",
        (
            "Theorem 6.4 (pure DP), conditioned on the number of spikes",
            _PACKED + r"\," + _FANO_PURE,
        ),
        (
            "Lemma 6.3 (pure DP) with Lemma 6.2, conditioned on the number of spikes",
            _PACKED_SQUARED + r"\," + _FANO_PURE,
        ),
    ),
    (
        "hypercube-cdp",
        "CDP hypercube",
        _SIGNS,
        ("Theorem 6.4, sharper: sign hypercube, entropy form", _ENTROPY),
        (
            "Theorem 6.1, sharper: sign hypercube, squared",
            r"d\,q^{2-2/p}\,E\big[(1-2\rho B^2/d)_+\big],\ " + BINOMIAL,
        ),
    ),
    (
        "hypercube-pure",
        "pure-DP hypercube",
        _SIGNS,
        (
            "Theorem 6.4 (pure DP), sharper: sign hypercube",
            r"\sqrt d\,q^{1-1/p}\,E\big[1-\sqrt{1-2g_d(\varepsilon B)}\big],\ "
            + BINOMIAL
            + WRONG_SIGNS,
        ),
        (
            "Lemma 6.3 (pure DP) with Lemma 6.2, sharper: sign hypercube",
            r"2d\,q^{2-2/p}\,E[g_d(\varepsilon B)],\ " + BINOMIAL + WRONG_SIGNS,
        ),
    ),
)
SPIKE_RISKS: tuple[Bound, ...] = tuple(
    _bound_over_spikes(name, title, summary, *(squared if strong else linear), strong=strong)
    for strong in (False, True)
    for name, title, summary, linear, squared in _ROWS
)
