r"""Lower bounds for the absolute and Huber's loss if labels may be anything.

Rare features :math:`\xi q^{-1/p}\nu` have a label :math:`\xi K` beyond the margins of all answers
in the ball. There the absolute loss is :math:`K-q^{-1/p}\langle\nu,w\rangle`, and Huber's is 1/2
less. So the lower bounds for linear losses on the hypercube of signs hold unchanged, with features
of mean 0. See theory/bounds-everywhere.md, 6.1.
"""

from dataclasses import replace

from dpsco_core.base.cards import ACHARYA_2021, OWN, Privacy, Proof
from dpsco_core.base.loss_classes import CONVEX
from dpsco_core.bounds.base import Bound, Letter
from dpsco_core.bounds.cubes import Value
from dpsco_core.bounds.euclidean.lower_spikes import (
    mean_cap,
    region_of_means,
    risk_bound,
    risk_card,
)
from dpsco_core.bounds.instances.prior import APPROXIMATE_BUDGET, prior_within
from dpsco_core.bounds.mean import lower_information as information
from dpsco_core.bounds.mean import lower_priors as priors
from dpsco_core.data.hidden.any_labels import AnyLabels
from dpsco_core.problems import Absolute, Huber
from dpsco_core.problems.linear_models import LinearModelProblem

_LOSSES = {Absolute: "the absolute loss", Huber: "Huber's loss"}


def _make_row(
    problem: type[LinearModelProblem],
    form: str,
    title: str,
    statement: str,
    latex: str,
    privacy: Privacy,
    value: Value,
    letters: tuple[Letter, ...],
    proof: Proof,
) -> Bound:
    """Return the catalogue's lower bound for one loss by one proof, with arbitrary labels.

    `form` ends the slug, and `value` computes the bound in moment units.
    """
    slug = problem.card.slug
    losses = f"{_LOSSES[problem]} with any labels"
    card = risk_card(
        f"{slug}-any-labels-{form}",
        title,
        statement,
        "Labels beyond every linear fit make the loss linear, and the hidden signs of rare "
        "features have to be found.",
        r"\frac{gM}2\max_qq^{1-1/p}" + latex,
        privacy,
        strong=False,
        binds_all=True,
        losses=f"A worst case over {losses}: features of mean 0 and gradients with bounded p-th "
        "moments and a mean within R.",
        paper=ACHARYA_2021 if form == "assouad" else OWN,
        instance=AnyLabels.card.slug,
        instance_problem=slug,
        instance_class=CONVEX,
        loss_class=CONVEX,
        proof=proof,
    )
    card = replace(
        card,
        name=f"{problem.card.name}, any labels, {title}",
        problems=(slug,),
        losses=losses,
    )
    in_class = prior_within(
        priors.on_hypercube, lambda s: mean_cap(s, False), region_of_means(False)
    )
    budget = (APPROXIMATE_BUDGET,) if privacy == "approx" else ()
    return risk_bound(card, value, *budget, in_class, letters=letters)


_ROWS: tuple[tuple[str, str, str, str, Privacy, Value, tuple[Letter, ...], Proof], ...] = (
    (
        "cdp",
        "CDP two-sided information",
        "docs/theory/bounds-everywhere.md, 6.1 with 2.1",
        information.TWO_SIDED_LINEAR,
        "zcdp",
        information.two_sided_value,
        information.BOTH_WAYS,
        "two-sided information",
    ),
    (
        "packing",
        "packing, every (ε, δ)",
        "docs/theory/bounds-everywhere.md, 6.1 with sharper-approx-bounds, section 3, (P3)",
        r"E[T_B],\ " + priors.PACKED_LINEAR,
        "approx",
        priors.packing_value,
        priors.PACKED,
        "packing",
    ),
    (
        "assouad",
        "Assouad, every (ε, δ)",
        "docs/theory/bounds-everywhere.md, 6.1 with private Assouad, linear losses",
        r"\sqrt d\,E\big[1-\sqrt{1-\tau_B}\big],\ " + priors.PIECES,
        "approx",
        priors.assouad_value,
        priors.GROUPED,
        "assouad",
    ),
)
ANY_LABELS_RISKS: tuple[Bound, ...] = tuple(
    _make_row(problem, *row) for problem in (Absolute, Huber) for row in _ROWS
)
