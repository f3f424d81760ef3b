"""Private lower bounds on excess risk over priors: tracing, Assouad, packing, rate distortion.

See theory/approx-lower-bounds.md, 3 to 5, and theory/sharper-approx-bounds.md, 3 to 5; the classes
of losses are those of `lower_spikes`.
"""

from functools import partial

from dpsco_core.base.cards import ACHARYA_2021, OWN, Paper, Proof
from dpsco_core.bounds.base import Bound, Letter
from dpsco_core.bounds.cubes import Value
from dpsco_core.bounds.euclidean.lower_spikes import (
    mean_cap,
    region_of_means,
    risk_bound,
    risk_card,
    signs_within,
)
from dpsco_core.bounds.instances.leakage import CONCENTRATED
from dpsco_core.bounds.instances.prior import (
    APPROXIMATE_BUDGET,
    CENTRED,
    SHRUNK,
    prior_within,
)
from dpsco_core.bounds.instances.tracing import largest_tracing_probability
from dpsco_core.bounds.letters import LOWER
from dpsco_core.bounds.mean import lower_priors as priors


def _bound_over_prior(
    name: str,
    title: str,
    statement: str,
    summary: str,
    latex: str,
    notion: priors.Notion,
    value: Value,
    *,
    strong: bool,
    instance: str,
    proof: Proof,
    letters: tuple[Letter, ...] = LOWER,
    paper: Paper = OWN,
) -> Bound:
    """Return the catalogue's lower bound on a risk from a prior of hidden means.

    `value` computes the bound in moment units; `strong` is for strongly convex losses, and
    otherwise losses are linear.
    """
    card = risk_card(
        name,
        title,
        statement,
        summary,
        latex,
        notion,
        strong=strong,
        instance=instance,
        proof=proof,
        paper=paper,
        binds_all=True,
        infinite_variance=CENTRED if instance == "tracing" else SHRUNK,
    )
    traced = partial(largest_tracing_probability, spread=CONCENTRATED)
    in_class = signs_within(strong)
    if instance == "tracing":
        in_class = prior_within(traced, lambda s: mean_cap(s, strong), region_of_means(strong))
    budget = (APPROXIMATE_BUDGET,) if notion == "approx" else ()
    return risk_bound(card, value, *budget, in_class, letters=letters)


_SPY = "An accurate parameter is correlated with each record that made it; privacy limits that."
_HIDDEN = "Outputs of sign patterns that differ in one place are close under privacy."
_LINEAR = (
    r"\frac{gM}2\max_{q,u}q^{1-1/p}S\Big[1-\frac u{d(u+3)}-y\Big]_+,\ S=r\sqrt{\frac d{1+u}},\ "
)
_SQUARED = (
    r"\frac{g^2}{2\lambda}\max_{q,u}q^{2-2/p}\Big(\frac{2A}{nqc+\sqrt{(nqc)^2+4uA}}\Big)^2,\ "
    r"A=\frac{udr^2}{1+u}-nqh,\ "
)
LOWER_PRIOR_RISKS: tuple[Bound, ...] = (
    _bound_over_prior(
        "approx-tracing",
        "tracing, every (ε, δ)",
        "approx-lower-bounds, section 3, (T3)",
        _SPY,
        _LINEAR + r"y=\min\Big(\eta+\frac x{\sqrt{1+x^2}}\Big),\ x=\frac{nqc}{uS},\ "
        r"\eta=\frac{nqe(1+\sqrt{1+u})}{uS},\ " + priors.PAIRS,
        "approx",
        priors.approx_tracing,
        strong=False,
        instance="tracing",
        proof="tracing",
        letters=priors.TRACED,
    ),
    _bound_over_prior(
        "approx-assouad",
        "Assouad, every (ε, δ)",
        "private Assouad, exact group curve, on rare spikes, linear losses",
        _HIDDEN,
        r"\frac{gM}2\max_q\sqrt d\,q^{1-1/p}E\big[1-\sqrt{1-\tau_B}\big],\ " + priors.PIECES,
        "approx",
        priors.assouad_value,
        strong=False,
        instance="hypercube",
        proof="assouad",
        letters=priors.GROUPED,
        paper=ACHARYA_2021,
    ),
    _bound_over_prior(
        "approx-packing",
        "packing, every (ε, δ)",
        "sharper-approx-bounds, section 3, (P3)",
        priors.PACKING_SUMMARY,
        r"\frac{gM}2\max_qq^{1-1/p}E[T_B],\ " + priors.PACKED_LINEAR,
        "approx",
        priors.packing_value,
        strong=False,
        instance="hypercube",
        proof="packing",
        letters=priors.PACKED,
    ),
    _bound_over_prior(
        "tracing-cdp",
        "CDP tracing",
        "approx-lower-bounds, section 3, (T3) with Lemma B",
        _SPY,
        _LINEAR + r"y=\min\Big(\frac x{\sqrt{1+x^2}},\frac{nq\kappa}{uS}\Big),\ "
        r"x=\frac{nq\sqrt{2\rho}\,r^2}{uS},\ " + priors.CAPPED,
        "zcdp",
        priors.cdp_tracing,
        strong=False,
        instance="tracing",
        proof="tracing",
        letters=priors.TRACED,
    ),
    _bound_over_prior(
        "approx-tracing",
        "tracing, every (ε, δ)",
        "approx-lower-bounds, section 3, (T2)",
        _SPY,
        _SQUARED + r"h=2\sqrt d\,e,\ " + priors.PAIRS,
        "approx",
        priors.approx_tracing,
        strong=True,
        instance="tracing",
        proof="tracing",
        letters=priors.TRACED,
    ),
    _bound_over_prior(
        "approx-assouad",
        "Assouad, every (ε, δ)",
        "private Assouad, exact group curve, on rare spikes, squared",
        _HIDDEN,
        r"\frac{g^2}{2\lambda}\max_qd\,q^{2-2/p}E[\tau_B],\ " + priors.PIECES,
        "approx",
        priors.assouad_value,
        strong=True,
        instance="hypercube",
        proof="assouad",
        letters=priors.GROUPED,
        paper=ACHARYA_2021,
    ),
    _bound_over_prior(
        "approx-packing",
        "packing, every (ε, δ)",
        "sharper-approx-bounds, section 3, (P2)",
        priors.PACKING_SUMMARY,
        r"\frac{g^2}{2\lambda}\max_qq^{2-2/p}E[Q_B],\ " + priors.PACKED_SQUARE,
        "approx",
        priors.packing_value,
        strong=True,
        instance="hypercube",
        proof="packing",
        letters=priors.PACKED,
    ),
    _bound_over_prior(
        "tracing-cdp",
        "CDP tracing",
        "approx-lower-bounds, section 3, (T2) with Lemma B",
        _SPY,
        _SQUARED + r"h=0,\ c=\sqrt{2\rho}\,r^2,\ r=0.998",
        "zcdp",
        priors.cdp_tracing,
        strong=True,
        instance="tracing",
        proof="tracing",
        letters=priors.TRACED,
    ),
    _bound_over_prior(
        "rate-distortion-cdp",
        "CDP rate distortion",
        "approx-lower-bounds, section 5, squared",
        priors.DISTORTION_SUMMARY,
        r"\frac{g^2}{2\lambda}\max_qq^{2-2/p}" + priors.DISTORTION_SQUARE,
        "zcdp",
        priors.rate_distortion_value,
        strong=True,
        instance="hypercube",
        proof="rate distortion",
    ),
)
