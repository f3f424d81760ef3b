r"""Private lower bounds on excess risk over spike priors: Kamath et al. (2022), section 6.

Theorem 6.4 is the convex one and Theorem 6.1 the strongly convex one.

Convex: the loss :math:`-\langle w,x\rangle` on a ball of diameter M; the risk scales with M/2 and
with the unit of the moment. Strongly convex: :math:`\frac\lambda2\|w-x/\lambda\|^2`, whose excess
risk is :math:`\frac1{2\lambda}` times the squared error of the mean of x, which must be within
:math:`\lambda M/2`. In both classes the population gradient has norm at most R =
``mean_gradient_bound``, which caps the spike probability. At a setting that fixes
``spike_probability`` a bound is evaluated there, because it binds its own prior only there.
"""

import math
from dataclasses import dataclass
from typing import Literal

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import KAMATH_2022, SCO_PROBLEMS, BoundCard, Privacy
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Terms
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, large_enough, moment_scale
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    MINIMUM_INTERIOR,
    STRONG_PROBLEMS,
    STRONGLY_CONVEX,
)
from dpsco_core.bounds.instances.hardest import FORMS, largest_spike_probability
from dpsco_core.bounds.letters import BINOMIAL, WRONG_SIGNS
from dpsco_core.bounds.lq.conditions import L2_BALL
from dpsco_core.problems.base import Setting

Instance = Literal["spike", "hypercube"]
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


def class_words(strong: bool, privacy: Privacy, losses: str = "") -> str:
    """Return what every summary of a lower bound says of its class, or of another class's."""
    return (f"{losses} " if losses else _CLASS[strong]) + _BINDS[privacy]


def class_conditions(strong: bool) -> tuple[Hypothesis, ...]:
    """Return the conditions of the class: what scales the bound must exist, on its own set.

    The linear loss is worth M/2 in every direction on the ball only, and the minimisers of the
    quadratic one fill a ball.
    """
    extra = (STRONGLY_CONVEX, MINIMUM_INTERIOR) if strong else ()
    return (COORDINATE_MOMENT, DIAMETER, L2_BALL, *extra)


def mean_cap(setting: Setting, strong: bool) -> float:
    r"""Return the largest mean norm of an instance in the class, in moment units.

    Convex: R. Strongly convex: :math:`\min(\lambda M/2,\ R-\lambda M/2)`, because the minimiser is
    in the ball and the gradient is :math:`\lambda w-\mu` for :math:`\|w\|\le M/2`.
    """
    c = setting.constants
    scale = moment_scale(setting)
    cap = c.mean_gradient_bound
    if strong:
        reach = c.strong_convexity * c.diameter / 2
        cap = max(0.0, min(reach, cap - reach)) if math.isfinite(reach) else reach
    return cap / scale


def risk_unit(setting: Setting, strong: bool) -> float:
    r"""Return :math:`gM/2`, or :math:`g^2/(2\lambda)`; 0 where a constant does not exist."""
    c = setting.constants
    scale = moment_scale(setting)
    if not 0 < scale < math.inf or math.isinf(c.diameter):
        return 0.0
    if not strong:
        return scale * c.diameter / 2
    return scale**2 / (2 * c.strong_convexity) if c.strong_convexity > 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class _RiskRow:
    """One bound over a spike prior, on linear losses or on strongly convex ones."""

    name: str  # with "-convex" or "-squared", its key in `FORMS`
    title: str
    statement: str
    summary: str
    latex: str  # in units of `risk_unit`
    strong: bool

    @property
    def form(self) -> str:
        return f"{self.name}-{'squared' if self.strong else 'convex'}"

    @property
    def instance(self) -> Instance:
        return "spike" if self.name.startswith("fano") else "hypercube"

    @property
    def privacy(self) -> Literal["pure", "zcdp"]:
        return "pure" if self.name.endswith("pure") else "zcdp"

    def bound(self) -> Bound:
        area = "sco-strong" if self.strong else "sco"
        smallest = 1 if self.instance == "hypercube" else 8 if self.privacy == "pure" else 9
        sizes = (large_enough(smallest),) if smallest > 1 else ()
        return Bound(
            card=BoundCard(
                slug=f"lower.{area}.{self.name}",
                name=f"{'Strongly convex SCO' if self.strong else 'SCO'}, {self.title}",
                paper=KAMATH_2022,
                statement=self.statement,
                summary=f"{self.summary} {class_words(self.strong, self.privacy)}",
                kind="lower",
                quantity="excess risk",
                constant="explicit",
                latex=(_HALF_SQUARE if self.strong else _HALF_BALL) + self.latex,
                privacy=self.privacy,
                instance=self.instance,
                instance_problem="quadratic" if self.strong else "linear",
                instance_class=classes.SMOOTH_STRONG if self.strong else classes.LINEAR,
                loss_class=classes.SMOOTH_STRONG if self.strong else classes.SMOOTH,
                problems=STRONG_PROBLEMS if self.strong else SCO_PROBLEMS,
            ),
            evaluate=self.evaluate,
            hypotheses=(
                *class_conditions(self.strong),
                _within_class(self.instance, self.strong),
                *sizes,
            ),
            letters=letters.LOWER,
        )

    def evaluate(self, setting: Setting) -> Terms:
        unit = risk_unit(setting, self.strong)
        level = setting.rho if self.privacy == "zcdp" else setting.pure_epsilon
        if unit == 0:
            return {"privacy": 0.0}
        n, d, order = setting.n, setting.d, setting.moment_order
        at, best = FORMS[self.form]
        p = setting.spike_probability
        if p is None:
            cap = mean_cap(setting, self.strong)
            largest = largest_spike_probability(self.instance, d, order, cap)
            p = best(n, d, order, level, largest) if largest > 0 else 0.0
        return {"privacy": unit * at(p, n, d, order, level)}


def _within_class(instance: Instance, strong: bool) -> Hypothesis:
    where = "the constraint set and the bound R" if strong else "the bound R on the gradient"

    def check(setting: Setting) -> str:
        p = setting.spike_probability
        if p is None or risk_unit(setting, strong) == 0:
            return ""
        # R may be the mean of the instance itself: leave room for its rounding.
        cap = mean_cap(setting, strong) * (1 + 1e-9)
        rounding = 1e-12 * setting.constants.mean_gradient_bound / moment_scale(setting)
        cap += rounding if math.isfinite(rounding) else 0.0
        largest = largest_spike_probability(instance, setting.d, setting.moment_order, cap)
        if p <= largest * (1 + 1e-9):
            return ""
        return (
            f"At spike probability {p:.3g} the prior's means leave {where}: "
            f"at most {largest:.3g} keeps them within."
        )

    return Hypothesis(text=f"the prior's means are within {where}", check=check)


_HALF_BALL = r"\frac{gM}2\max_q"
_HALF_SQUARE = r"\frac{g^2}{2\lambda}\max_q"
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


def _pair(
    name: str,
    title: str,
    summary: str,
    # the statement and the formula, on linear and on strongly convex losses
    linear: tuple[str, str],
    strong: tuple[str, str],
) -> tuple[Bound, Bound]:
    convex, squared = (
        _RiskRow(
            name=name, title=title, summary=summary, statement=statement, latex=latex, strong=kind
        ).bound()
        for kind, (statement, latex) in ((False, linear), (True, strong))
    )
    return convex, squared


_PAIRS = (
    _pair(
        "fano-cdp",
        "CDP Fano",
        "Fano's inequality for concentrated DP on a code of rare spikes.",
        ("Theorem 1.4 with Theorem 6.4, explicit", _PACKED + _FANO_CDP),
        ("Theorem 1.4 with Theorem 6.1, explicit", _PACKED_SQUARED + _FANO_CDP),
    ),
    _pair(
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
    _pair(
        "hypercube-cdp",
        "CDP hypercube",
        _SIGNS,
        ("Theorem 6.4, sharper: sign hypercube, entropy form", _ENTROPY),
        (
            "Theorem 6.1, sharper: sign hypercube, squared",
            r"d\,q^{2-2/p}\,E\big[(1-2\rho B^2/d)_+\big],\ " + BINOMIAL,
        ),
    ),
    _pair(
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
SPIKE_RISKS: tuple[Bound, ...] = (*(pair[0] for pair in _PAIRS), *(pair[1] for pair in _PAIRS))
