r"""Lower bounds on excess risk that bind every (epsilon, delta)-DP algorithm, and sharper for zCDP.

The linear loss by tracing and by Assouad's argument (theory/approx-lower-bounds.md, 3 (c) and 4),
and the quadratic one through the squared error of the mean (3 (d)). At a setting that fixes
``spike_probability`` they are evaluated on the prior of the data.
"""

from dataclasses import replace
from functools import partial

from dpsco_core.base.cards import ACHARYA_2021, OWN, Paper
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.euclidean.lower_spikes import (
    mean_cap,
    risk_card,
    risk_over_prior,
    where_means_stay,
)
from dpsco_core.bounds.instances.prior import APPROXIMATE_BUDGET, prior_within
from dpsco_core.bounds.instances.tracing import CONCENTRATED, largest_tracing_probability
from dpsco_core.bounds.letters import LOWER
from dpsco_core.bounds.mean.lower_priors import (
    CAPPED,
    DISTORTION_SQUARE,
    DISTORTION_SUMMARY,
    GAMMA,
    PAIRS,
    TRACED,
    Notion,
    Value,
    approx_tracing,
    assouad_value,
    cdp_tracing,
    on_hypercube,
    rate_distortion_value,
)


def _bound(
    name: str,
    title: str,
    statement: str,
    summary: str,
    latex: str,
    notion: Notion,
    value: Value,
    *,
    strong: bool,
    instance: str,
    paper: Paper = OWN,
) -> Bound:
    card = risk_card(
        name,
        title,
        statement,
        summary,
        latex,
        notion,
        strong=strong,
        instance=instance,
        paper=paper,
    )
    if notion == "approx":
        card = replace(card, summary=card.summary.replace("is stated for", "binds all"))
    traced = partial(largest_tracing_probability, spread=CONCENTRATED)
    largest = traced if instance == "tracing" else on_hypercube
    within = prior_within(largest, lambda s: mean_cap(s, strong), where_means_stay(strong))
    budget = (APPROXIMATE_BUDGET,) if notion == "approx" else ()
    letters = TRACED if instance == "tracing" else LOWER
    return risk_over_prior(card, value, *budget, within, letters=letters)


_SPY = "An accurate parameter is correlated with each record that made it; privacy limits that."
_HIDDEN = "Outputs of sign patterns that differ in one place are close under privacy."
_LINEAR = (
    r"\frac{gM}2\max_{q,u}q^{1-1/p}S\Big[1-\frac u{d(u+3)}-y\Big]_+,\ S=r\sqrt{\frac d{1+u}},\ "
)
_SQUARED = (
    r"\frac{g^2}{2\lambda}\max_{q,u}q^{2-2/p}\Big(\frac{2A}{nqc+\sqrt{(nqc)^2+4uA}}\Big)^2,\ "
    r"A=\frac{udr^2}{1+u}-nqh,\ "
)
TRACING_RISKS: tuple[Bound, ...] = (
    _bound(
        "approx-tracing",
        "tracing, every (ε, δ)",
        "approx-lower-bounds, section 3, (T3)",
        _SPY,
        _LINEAR + r"y=\min\Big(\eta+\frac x{\sqrt{1+x^2}}\Big),\ x=\frac{nqc}{uS},\ "
        r"\eta=\frac{2nqm\delta\sqrt d(1+\sqrt{1+u})}{uS},\ " + PAIRS,
        "approx",
        approx_tracing,
        strong=False,
        instance="tracing",
    ),
    _bound(
        "approx-assouad",
        "Assouad, every (ε, δ)",
        "private Assouad on rare spikes, linear losses",
        _HIDDEN,
        r"\frac{gM}2\max_q\sqrt d\,q^{1-1/p}E\Big[1-\sqrt{1-\gamma_B\,\mathrm{sech}^2"
        r"(\tfrac{\varepsilon B}2)}\Big],\ " + GAMMA,
        "approx",
        assouad_value,
        strong=False,
        instance="hypercube",
        paper=ACHARYA_2021,
    ),
    _bound(
        "tracing-cdp",
        "CDP tracing",
        "approx-lower-bounds, section 3, (T3) with Lemma B",
        _SPY,
        _LINEAR + r"y=\min\Big(\frac x{\sqrt{1+x^2}},\frac{nq\kappa}{uS}\Big),\ "
        r"x=\frac{nq\sqrt{2\rho}\,r^2}{uS},\ " + CAPPED,
        "zcdp",
        cdp_tracing,
        strong=False,
        instance="tracing",
    ),
    _bound(
        "approx-tracing",
        "tracing, every (ε, δ)",
        "approx-lower-bounds, section 3, (T2)",
        _SPY,
        _SQUARED + r"h=4m\delta d,\ " + PAIRS,
        "approx",
        approx_tracing,
        strong=True,
        instance="tracing",
    ),
    _bound(
        "approx-assouad",
        "Assouad, every (ε, δ)",
        "private Assouad on rare spikes, squared",
        _HIDDEN,
        r"\frac{g^2}{2\lambda}\max_qd\,q^{2-2/p}E\big[\gamma_B\,\mathrm{sech}^2"
        r"(\tfrac{\varepsilon B}2)\big],\ " + GAMMA,
        "approx",
        assouad_value,
        strong=True,
        instance="hypercube",
        paper=ACHARYA_2021,
    ),
    _bound(
        "tracing-cdp",
        "CDP tracing",
        "approx-lower-bounds, section 3, (T2) with Lemma B",
        _SPY,
        _SQUARED + r"h=0,\ c=\sqrt{2\rho}\,r^2,\ r=0.998",
        "zcdp",
        cdp_tracing,
        strong=True,
        instance="tracing",
    ),
    _bound(
        "rate-distortion-cdp",
        "CDP rate distortion",
        "approx-lower-bounds, section 5, squared",
        DISTORTION_SUMMARY,
        r"\frac{g^2}{2\lambda}\max_qq^{2-2/p}" + DISTORTION_SQUARE,
        "zcdp",
        rate_distortion_value,
        strong=True,
        instance="hypercube",
    ),
)
