r"""Upper bounds on the error of answers without data: 0 for a mean, the set's centre for a risk.

Such an answer depends on no record. It is (0, 0)-DP, so that its bounds hold under every budget,
for every n and every number of items per user. They are trivial upper bounds for what is possible,
and describe no method of the catalogue.

The error of 0 is the norm of the mean, at most R. With c the centre, :math:`D_0` the largest
distance of a point of the set from it, R a bound on the gradient of the risk, and F convex,

.. math:: F(c)-F(w) \le \langle\nabla F(c), c-w\rangle \le D_0R,

and :math:`\tfrac\beta2D_0^2` if the risk is smooth with its gradient 0 at the minimiser. The
logistic and the hinge loss are :math:`\ell_0 = \ln 2` and 1 at the parameter 0 for every record,
and at least 0 everywhere, so that again by convexity

.. math:: F(c)-F(w) \le F(c) \le F(0)+\langle\nabla F(c), c\rangle \le \ell_0+R\|c\|.

See theory/fresh-batches.md, 4.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.base.law_classes import BOUNDED, COORDINATE
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, bound_like
from dpsco_core.bounds.conditions import MEAN_BOUND
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    GRADIENT_BOUND,
    LIPSCHITZ,
    MINIMUM_INTERIOR,
    SMOOTH,
    STRONGLY_CONVEX,
)
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.simplex import Simplex, SolidSimplex
from dpsco_core.problems import SCO_PROBLEMS, STRONG_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.hinge import Hinge
from dpsco_core.problems.logistic import Logistic

# The names of these bounds begin with this text, to which a bound adds its losses.
NAME = "Answering without data"

_NO_MOMENT = "No record enters the answer, so that no moment does."
_NO_ITEMS = "No item enters the answer, whatever items have in common."
_ZERO_DP = "It depends on no record and is 0-DP: the bound holds at every budget and every n."
_LETTERS = (
    Letter("c", "centre of the set, the answer"),
    Letter("D_0", "largest distance from the centre of the set", lambda s: farthest(s.body)),
    Letter(
        "R",
        "bound on the mean, or on the population gradient",
        lambda s: s.constants.mean_gradient_bound,
    ),
    Letter(r"\ell_0", "loss of every record at the parameter 0"),
    Letter("L", "Lipschitz constant of every record's loss", lambda s: s.constants.lipschitz),
)


def farthest(body: ConstraintSet) -> float:
    """Return the largest l2 distance of a point of the set from the centre of the set.

    On simplices it is the distance of a vertex. On other sets it is `ConstraintSet.reach`, which is
    exact if the centre is 0.
    """
    if not isinstance(body, Simplex | SolidSimplex):
        return body.reach
    first_axis = np.zeros(body.d)
    first_axis[0] = 1.0
    # The vertices on the axes are equally far from the centre; the solid simplex also has the
    # vertex 0.
    vertices = (body.support_point(g) for g in (first_axis, np.full(body.d, -1.0)))
    return max(float(np.linalg.norm(vertex - body.centre)) for vertex in vertices)


def _centre_norm(setting: Setting) -> float:
    """Return the l2 norm of the centre of the set."""
    return float(np.linalg.norm(setting.body.centre))


def mean_error(setting: Setting) -> float:
    """Return the largest l2 error of the answer 0: the public bound R on the norm of the mean."""
    return setting.constants.mean_gradient_bound


def convex_risk(setting: Setting) -> float:
    """Return the bound on the excess risk of the centre that follows from the gradient there."""
    if math.isinf(setting.constants.diameter):
        return math.inf
    return farthest(setting.body) * setting.constants.mean_gradient_bound


def lipschitz_risk(setting: Setting) -> float:
    """Return the bound on the excess risk of the centre by the slopes of the records' losses."""
    if math.isinf(setting.constants.diameter):
        return math.inf
    return farthest(setting.body) * setting.constants.lipschitz


def smooth_risk(setting: Setting) -> float:
    """Return the bound on the excess risk of the centre by the curvature of the risk."""
    if math.isinf(setting.constants.diameter):
        return math.inf
    return setting.constants.smoothness * farthest(setting.body) ** 2 / 2


def _risk_at_centre(loss_at_zero: float) -> Callable[[Setting], float]:
    """Return the function that bounds the excess risk of the set's centre at a setting.

    The loss is at least 0, and `loss_at_zero` for every record at the parameter 0.
    """

    def risk(setting: Setting) -> float:
        """Return the bound on the excess risk of the centre at a setting."""
        if math.isinf(setting.constants.diameter):
            return math.inf
        shift = _centre_norm(setting)
        # If the centre is 0, the bound needs no gradient.
        return loss_at_zero + (shift * setting.constants.mean_gradient_bound if shift else 0.0)

    return risk


def _make_row(
    card: BoundCard,
    value: Callable[[Setting], float],
    hypotheses: tuple[Hypothesis, ...],
    **changes: Any,
) -> Bound:
    """Return the catalogue's upper bound for an answer without data, with the card changed."""
    return bound_like(
        card,
        evaluate=lambda setting: {"without data": value(setting)},
        hypotheses=hypotheses,
        letters=_LETTERS,
        **changes,
    )


_MEAN_CARD = BoundCard(
    slug="upper.mean.without-data",
    name=NAME,
    paper=OWN,
    statement="Fresh batches, 4",
    summary=f"The error of the answer 0, whatever the records are. {_ZERO_DP}",
    kind="upper",
    quantity="l2 error",
    constant="explicit",
    latex=r"\|\mu-0\|\le R",
    privacy="pure",
    ignores_data=True,
    infinite_variance=_NO_MOMENT,
    alike_items=_NO_ITEMS,
)
_RISK_CARD = replace(
    _MEAN_CARD,
    slug="upper.sco.without-data",
    summary="The excess risk of the centre of the set, by convexity: the slope there times the "
    f"farthest that a minimiser can be. {_ZERO_DP}",
    quantity="excess risk",
    latex=r"F(c)-F^*\le\langle\nabla F(c),c-w^*\rangle\le D_0R",
    loss_class=classes.CONVEX,
    law_class=COORDINATE,
    problems=SCO_PROBLEMS,
)


def _loss_row(problem: type[Logistic] | type[Hinge]) -> Bound:
    """Return the upper bound without data for the logistic or the hinge loss."""
    labels = np.array(problem.classes)
    loss_at_zero = float(problem.link.value(np.zeros_like(labels), labels).max())
    slug = problem.card.slug
    return _make_row(
        _RISK_CARD,
        _risk_at_centre(loss_at_zero),
        (DIAMETER,),
        slug=f"upper.sco.without-data-{slug}",
        name=f"{NAME}, {slug} loss",
        summary=f"The excess risk of the centre of the set: at 0 the {slug} loss is "
        f"{loss_at_zero:.4g} for every record, and nowhere is it below 0. {_ZERO_DP}",
        latex=r"F(c)-F^*\le F(0)+\langle\nabla F(c),c\rangle\le\ell_0+R\|c\|",
        losses=f"the {slug} loss",
        problems=(slug,),
    )


WITHOUT_DATA_MEANS = (_make_row(_MEAN_CARD, mean_error, (MEAN_BOUND,)),)
WITHOUT_DATA_RISKS = (
    _make_row(_RISK_CARD, convex_risk, (GRADIENT_BOUND, DIAMETER)),
    _make_row(
        _RISK_CARD,
        smooth_risk,
        (STRONGLY_CONVEX, SMOOTH, MINIMUM_INTERIOR, DIAMETER),
        slug="upper.sco-strong.without-data",
        name=f"{NAME}, smooth losses",
        summary="The excess risk of the centre of the set where the gradient vanishes at the "
        f"minimiser, by the curvature of the risk. {_ZERO_DP}",
        latex=r"F(c)-F^*\le\tfrac\beta2D_0^2",
        loss_class=classes.SMOOTH_STRONG,
        problems=STRONG_PROBLEMS,
    ),
    _make_row(
        _RISK_CARD,
        lipschitz_risk,
        (LIPSCHITZ, DIAMETER),
        slug="upper.sco.without-data-lipschitz",
        name=f"{NAME}, Lipschitz losses",
        summary="The excess risk of the centre of the set where the loss of every record is "
        f"Lipschitz. {_ZERO_DP}",
        latex=r"F(c)-F^*\le D_0L",
        loss_class=classes.LIPSCHITZ,
        law_class=BOUNDED,
    ),
    _loss_row(Logistic),
    _loss_row(Hinge),
)
