r"""Upper bounds for linear losses: the excess risk of one step along a private mean.

The gradients of linear losses are records whose mean :math:`\mu` does not depend on the point. Let
an estimate of :math:`\mu` have a mean square error of at most :math:`E^2` and a bias of norm at
most :math:`\beta`, and let :math:`D_0` bound the distance of the set's points from its centre. One
projected step from the centre, of size :math:`D_0/E` along the estimate, then has a mean excess
risk of at most :math:`\frac{D_0}2(E+\beta)` (theory/fresh-batches.md, 3).

The centre itself has an excess risk of at most :math:`D_0R`, where R bounds the norm of
:math:`\mu`, because :math:`\langle w_0-w^*,\mu\rangle\le\|w_0-w^*\|\,\|\mu\|`. No step is taken if
:math:`D_0R` is less than the bound on the step. That choice depends on no data, and every bound of
this file is at most :math:`D_0R`.

A bound on a run is about its answer, which is projected on a ball of radius R. Its terms are those
of the average before the projection, whose bias is known, so that the step may be taken along that
average; or they are scaled to an error of 2R. In the second case :math:`\frac{D_0}2(2R+\beta)`
exceeds :math:`D_0R` for every :math:`\beta`, and the row is the risk of the centre.
"""

import math
from collections.abc import Iterable

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.base.loss_classes import LINEAR
from dpsco_core.bounds.base import Bound, Letter, Terms
from dpsco_core.bounds.euclidean.conditions import DIAMETER, LINEAR_LOSS
from dpsco_core.bounds.mean.rows import UPPER_MEAN_BOUNDS, is_mean_square
from dpsco_core.bounds.tools import PARTS
from dpsco_core.problems.base import Setting

_BIAS = PARTS[1]


def _risk_of_one_step(row: Bound, area: str) -> Bound:
    """Return the bound on a linear loss's excess risk that follows from one on a private mean.

    `row` bounds the mean square error of the mean, and `area` is the second part of the slug.
    """

    def terms(setting: Setting) -> Terms:
        """Return the terms of the bound on the risk, by the names of those of the mean's error."""
        roots = row.evaluate(setting)
        error = math.hypot(*roots.values())
        if not math.isfinite(error * setting.constants.diameter):
            return dict.fromkeys(roots, math.inf)
        shares = {name: root * (root / error if error > 0 else 0.0) for name, root in roots.items()}
        shares[_BIAS] += roots[_BIAS]
        value, most = math.fsum(shares.values()), 2 * setting.constants.mean_gradient_bound
        scale = setting.body.reach / 2 * (most / value if value > most else 1.0)
        return {name: scale * share for name, share in shares.items()}

    card = row.card
    title = card.name.replace(", proven mean error", "").replace(", proven for this run", "")
    letters = (
        Letter("E", "root of the mean square error", row.value),
        Letter("D_0", "bound on the distance from the centre of the set", lambda s: s.body.reach),
        Letter("R_1", "bound on the norm of the mean", lambda s: s.constants.mean_gradient_bound),
        Letter(r"\beta", "bias of the clipped mean, a part of E"),
        *row.letters,
    )
    return Bound(
        card=BoundCard(
            slug=f"upper.{area}.one-step-{card.slug.split('.')[2]}",
            name=f"One step along a mean, {title[:1].lower()}{title[1:]}",
            paper=OWN,
            statement="fresh-batches, section 3",
            summary="The mean excess risk of linear losses after one projected step along a "
            "private estimate of the mean gradient, or none where standing still is proven "
            "better, every constant proven "
            f"({card.paper}, {card.statement}). Estimators of means are not among the algorithms "
            "that run on this problem.",
            kind="upper",
            quantity="excess risk",
            constant="explicit",
            latex=r"\min\Big\{\frac{D_0}2(E+\beta),\ D_0R_1\Big\},\ E=" + card.latex,
            privacy=card.privacy,
            loss_class=LINEAR,
            law_class=COORDINATE,
            level=card.level,
            problems=("linear",),
            infinite_variance=card.infinite_variance,
        ),
        evaluate=terms,
        hypotheses=(LINEAR_LOSS, DIAMETER, *row.hypotheses),
        letters=tuple({letter.token: letter for letter in letters}.values()),
    )


def one_step(rows: Iterable[Bound], area: str) -> tuple[Bound, ...]:
    """Return the bounds on linear losses' risks that follow from mean square errors among `rows`.

    `area` is the second part of their slugs.
    """
    return tuple(_risk_of_one_step(row, area) for row in rows if is_mean_square(row))


# Only bounds on a mean at their own parameters are used: bounds on a run are never smaller.
ONE_STEP_RISKS = one_step((b for b in UPPER_MEAN_BOUNDS if b.parameters == "own"), "sco")
