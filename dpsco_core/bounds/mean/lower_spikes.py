r"""The private lower bounds on mean estimation, as catalogue rows over a `Setting`.

All are for the class of laws whose coordinates have central p-th moment at most
``coordinate_moment`` and whose mean has norm at most R = ``mean_gradient_bound``; R caps the spike
probability. At a setting that fixes ``spike_probability`` a bound is evaluated at that probability,
because it binds its own prior there only.
"""

import math
from dataclasses import dataclass
from typing import Literal

from dpsco_core.base.cards import KAMATH_2022, BoundCard, Quantity
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    large_enough,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.instances import hypercube, spikes
from dpsco_core.bounds.instances.hardest import FORMS, At, Best, largest_spike_probability
from dpsco_core.bounds.letters import BINOMIAL, WRONG_SIGNS
from dpsco_core.problems.base import Setting

Instance = Literal["spike", "hypercube"]

_CLASS = "It is a worst case over laws with bounded p-th moments and means within R, and binds {}."
_BINDS = {
    "zcdp": "rho-zCDP algorithms; under an (epsilon, delta) budget, those that spend no more than "
    "its Gaussian releases may",
    "pure": "epsilon-DP algorithms",
}


@dataclass(frozen=True, kw_only=True)
class _SpikeRow:
    """One bound over a spike prior: its value at p, its best p, and its words."""

    name: str
    title: str
    statement: str
    summary: str
    latex: str
    instance: Instance
    privacy: Literal["pure", "zcdp"]
    at: At
    best: Best
    quantity: Quantity = "l2 error"
    smallest_d: int = 1
    drawn: bool = True
    letters: tuple[Letter, ...] = letters.LOWER

    def bound(self) -> Bound:
        sizes = (large_enough(self.smallest_d),) if self.smallest_d > 1 else ()
        return Bound(
            card=BoundCard(
                slug=f"lower.mean.{self.name}",
                name=self.title,
                paper=KAMATH_2022,
                statement=self.statement,
                summary=f"{self.summary} {_CLASS.format(_BINDS[self.privacy])}",
                kind="lower",
                quantity=self.quantity,
                constant="explicit",
                guarantee="expectation",
                latex=self.latex,
                privacy=self.privacy,
                instance=self.instance,
                drawn=self.drawn,
            ),
            evaluate=self.evaluate,
            hypotheses=(COORDINATE_MOMENT, _within_class(self.instance), *sizes),
            letters=self.letters,
        )

    def evaluate(self, setting: Setting) -> Terms:
        scale = moment_scale(setting)
        level = setting.rho if self.privacy == "zcdp" else setting.pure_epsilon
        if not 0 < scale < math.inf:
            return {"privacy": 0.0}
        n, d, order = setting.n, setting.d, setting.moment_order
        p = setting.spike_probability
        if p is None:
            largest = largest_spike_probability(self.instance, d, order, scaled_mean_bound(setting))
            p = self.best(n, d, order, level, largest) if largest > 0 else 0.0
        unit = scale**2 if self.quantity == "squared l2 error" else scale
        return {"privacy": unit * self.at(p, n, d, order, level)}


def _within_class(instance: Instance) -> Hypothesis:
    def check(setting: Setting) -> str:
        p = setting.spike_probability
        bound = scaled_mean_bound(setting)
        if p is None:
            return ""
        largest = largest_spike_probability(instance, setting.d, setting.moment_order, bound)
        if p <= largest * (1 + 1e-9):
            return ""
        return (
            f"At spike probability {p:.3g} the prior's means exceed R={bound:.4g}: "
            f"at most {largest:.3g} keeps them within."
        )

    return Hypothesis(text="the prior's means have norm at most R", check=check)


_SPIKE_ROWS = (
    _SpikeRow(
        name="fano-cdp",
        title="CDP Fano",
        statement="Theorem 1.4 with Lemma 6.3, explicit: form (F)",
        summary="Fano's inequality for concentrated DP on a code of rare spikes: too few spikes "
        "are seen to tell the words apart.",
        latex=r"\max_q\frac{q^{1-1/p}\sqrt{d/8}}{2}"
        r"\Big[1-\frac{\rho(n^2q^2+nq(1-q))+\ln2}{\frac d8\ln2}\Big]_+",
        instance="spike",
        privacy="zcdp",
        at=spikes.spike_fano_cdp,
        best=spikes.best_cdp,
        smallest_d=9,
    ),
    _SpikeRow(
        name="fano-cdp-gilbert",
        title="CDP Fano, exact code sizes",
        statement="Theorem 1.4 with Lemma 6.3, Gilbert's code at its best distance",
        summary="The same argument with as many words as Gilbert's count allows.",
        latex=r"\max_{q,\,\delta}\frac{q^{1-1/p}\sqrt{\delta}}{2}"
        r"\Big[1-\frac{\rho(n^2q^2+nq(1-q))+\ln2}{\ln N(\delta)}\Big]_+,\ "
        r"N(\delta)=\frac{\binom dw}{\sum_{i<\delta/2}\binom wi\binom{d-w}i},\ "
        r"w=\lfloor\tfrac d2\rfloor",
        instance="spike",
        privacy="zcdp",
        at=spikes.spike_fano_cdp_gilbert,
        best=spikes.best_cdp_gilbert,
        smallest_d=3,
        drawn=False,
        letters=(*letters.LOWER, Letter(r"\delta", "distance of the code, the best one")),
    ),
    _SpikeRow(
        name="fano-cdp-squared",
        title="CDP Fano, squared error",
        statement="Theorem 1.4 with Lemma 6.3, explicit, squared",
        summary="Fano's inequality for concentrated DP on a code of rare spikes.",
        latex=r"\max_q\frac{q^{2-2/p}\,d/8}{4}"
        r"\Big[1-\frac{\rho(n^2q^2+nq(1-q))+\ln2}{\frac d8\ln2}\Big]_+",
        instance="spike",
        privacy="zcdp",
        at=FORMS["fano-cdp-squared"][0],
        best=FORMS["fano-cdp-squared"][1],
        drawn=False,
        quantity="squared l2 error",
        smallest_d=9,
    ),
    _SpikeRow(
        name="fano-pure",
        title="Pure-DP Fano",
        statement="Lemma 6.3 (pure DP), conditioned on the number of spikes",
        summary="Group privacy on a code of rare spikes: B spikes leave the words within a "
        "factor exp(epsilon B) of each other.",
        latex=r"\max_q\frac{q^{1-1/p}\sqrt{d/8}}{2}\,"
        r"E\Big[\frac{N-1}{N-1+e^{\varepsilon B}}\Big],\ N=2^{d/8},\ " + BINOMIAL,
        instance="spike",
        privacy="pure",
        at=spikes.spike_pure,
        best=spikes.best_pure,
        smallest_d=8,
    ),
    _SpikeRow(
        name="fano-pure-markov",
        title="Pure-DP Fano, Markov form",
        statement="Lemma 6.3 (pure DP), Markov form with the best t",
        summary="The simpler form of the pure-DP argument, through the expected number of spikes.",
        latex=r"\max_{q,\,t>1}\frac{q^{1-1/p}\sqrt{d/8}}{2}\Big(1-\frac1t\Big)"
        r"\frac{N-1}{N-1+e^{t\varepsilon nq}},\ N=2^{d/8}",
        instance="spike",
        privacy="pure",
        at=spikes.spike_markov_pure,
        best=spikes.best_markov_pure,
        drawn=False,
        smallest_d=8,
    ),
    _SpikeRow(
        name="hypercube-cdp",
        title="CDP hypercube",
        statement="Lemma 6.3, sharper: sign hypercube, entropy form",
        summary="Every sign of a rare spike must be guessed, and privacy hides most of them.",
        latex=r"\max_q2\sqrt d\,q^{1-1/p}\,E\big[h^{-1}\big((\ln2-\rho B^2/d)_+\big)\big],\ "
        + BINOMIAL
        + r",\ h(x)=-x\ln x-(1-x)\ln(1-x),\ h^{-1}\le\tfrac12",
        instance="hypercube",
        privacy="zcdp",
        at=hypercube.hypercube_cdp,
        best=hypercube.best_cdp,
    ),
    _SpikeRow(
        name="hypercube-cdp-closed",
        title="CDP hypercube, closed form",
        statement="Lemma 6.3, sharper: sign hypercube, closed form",
        summary="The hypercube bound in a formula that fits on a line.",
        latex=r"\max_q\sqrt d\,q^{1-1/p}\big(1-nq\sqrt{2\rho/d}\big)_+",
        instance="hypercube",
        privacy="zcdp",
        at=hypercube.hypercube_cdp_closed,
        best=hypercube.best_cdp_closed,
        drawn=False,
    ),
    _SpikeRow(
        name="hypercube-cdp-squared",
        title="CDP hypercube, squared error",
        statement="Lemma 6.3, sharper: sign hypercube, squared",
        summary="Every sign of a rare spike must be guessed, and privacy hides most of them.",
        latex=r"\max_qd\,q^{2-2/p}\,E\big[(1-2\rho B^2/d)_+\big],\ " + BINOMIAL,
        instance="hypercube",
        privacy="zcdp",
        at=hypercube.hypercube_cdp_squared,
        best=hypercube.best_cdp_squared,
        drawn=False,
        quantity="squared l2 error",
    ),
    _SpikeRow(
        name="hypercube-pure",
        title="Pure-DP hypercube",
        statement="Lemma 6.3 (pure DP), sharper: sign hypercube",
        summary="Every sign of a rare spike must be guessed; under pure DP, B spikes tilt the "
        "odds of two sign patterns by at most exp(epsilon B).",
        latex=r"\max_q2\sqrt d\,q^{1-1/p}\,E[g_d(\varepsilon B)],\ " + BINOMIAL + WRONG_SIGNS,
        instance="hypercube",
        privacy="pure",
        at=hypercube.hypercube_pure,
        best=hypercube.best_pure,
    ),
    _SpikeRow(
        name="hypercube-pure-squared",
        title="Pure-DP hypercube, squared error",
        statement="Lemma 6.3 (pure DP), sharper: sign hypercube, squared",
        summary="Every sign of a rare spike must be guessed, and pure DP hides most of them.",
        latex=r"\max_q2d\,q^{2-2/p}\,E[g_d(\varepsilon B)],\ " + BINOMIAL + WRONG_SIGNS,
        instance="hypercube",
        privacy="pure",
        at=hypercube.hypercube_pure_squared,
        best=FORMS["hypercube-pure-squared"][1],
        drawn=False,
        quantity="squared l2 error",
    ),
)


SPIKE_LOWER_BOUNDS: tuple[Bound, ...] = tuple(row.bound() for row in _SPIKE_ROWS)
