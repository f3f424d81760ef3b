r"""Upper bounds for squared distances: the excess risk of a private mean, projected on the set.

For the loss :math:`\frac\lambda2\|w-x\|^2` the gradients at w = 0 are records with mean
:math:`-\lambda\mu`. Let an estimate of that mean have a mean square error of at most :math:`E^2`.
Its multiple by :math:`-1/\lambda`, projected on the set, then has an excess risk of at most
:math:`E^2/(2\lambda)`, wherever the mean is (theory/kamath-liu-zhang.md, 3.6).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.base.loss_classes import SQUARED_DISTANCE
from dpsco_core.bounds.base import Bound, Letter, Terms
from dpsco_core.bounds.euclidean.conditions import DISTANCES, STRONGLY_CONVEX
from dpsco_core.bounds.mean.rows import UPPER_MEAN_BOUNDS, is_mean_square
from dpsco_core.problems.base import Setting

T = TypeVar("T")


def of_means(setting: Setting) -> Setting:
    r"""Return the setting in which the mean of the gradients at 0 is estimated.

    Its R is :math:`\lambda` times the largest norm of a point of the set if the gradient vanishes
    at the minimiser, because the mean is then in the set. Otherwise the bound on mean gradients is
    added to that.
    """
    constants = setting.constants
    reach = math.inf
    if constants.strong_convexity > 0:
        minimum_gradient = 0.0 if constants.minimum_interior else constants.mean_gradient_bound
        reach = constants.strong_convexity * constants.diameter / 2 + minimum_gradient
    return replace(setting, constants=replace(constants, mean_gradient_bound=reach))


def _risk_of_projected_mean(row: Bound, area: str) -> Bound:
    """Return the bound on the quadratic loss's risk that follows from one on a private mean.

    `row` bounds the mean square error of the mean, and `area` is the second part of the slug.
    """

    def terms(setting: Setting) -> Terms:
        """Return the terms of the bound on the risk, by the names of those of the mean's error."""
        modulus, roots = setting.constants.strong_convexity, row.evaluate(of_means(setting))
        return {
            name: root**2 / (2 * modulus) if modulus > 0 else math.inf
            for name, root in roots.items()
        }

    def at_means(letter: Letter) -> Letter:
        """Return a letter whose value is read off the setting for the mean, `of_means`."""
        return replace(letter, value=_evaluate_on_means(letter.value))

    letters = (
        Letter("E", "root of the mean square error", row.value),
        Letter("R", "bound on the norm of the mean", lambda s: s.constants.mean_gradient_bound),
        *row.letters,
    )
    card = row.card
    title = card.name.replace(", proven mean error", "").replace(", proven for this run", "")
    return Bound(
        card=BoundCard(
            slug=f"upper.{area}.projected-{card.slug.split('.')[2]}",
            name=f"Projected mean, {title[:1].lower()}{title[1:]}",
            paper=OWN,
            statement="kamath-liu-zhang, section 3.6",
            summary="The mean excess risk of a private estimate of the mean that is projected on "
            "the constraint set: half of its mean square error, every constant proven "
            f"({card.paper}, {card.statement}). Estimators of means are not among the algorithms "
            "that run on this problem.",
            kind="upper",
            quantity="excess risk",
            constant="explicit",
            latex=r"\frac{E^2}{2\lambda},\ E=" + card.latex,
            privacy=card.privacy,
            loss_class=SQUARED_DISTANCE,
            law_class=COORDINATE,
            level=card.level,
            problems=("quadratic",),
            infinite_variance=card.infinite_variance,
        ),
        evaluate=terms,
        hypotheses=(
            DISTANCES,
            STRONGLY_CONVEX,
            *(h.seen_from(of_means) for h in row.hypotheses),
        ),
        letters=tuple({letter.token: at_means(letter) for letter in letters}.values()),
    )


def _evaluate_on_means(value: Callable[[Setting], T]) -> Callable[[Setting], T]:
    """Return `value` composed with `of_means`, which makes the setting for the mean."""
    return lambda setting: value(of_means(setting))


def projected(rows: Iterable[Bound], area: str) -> tuple[Bound, ...]:
    """Return the bounds on the quadratic loss's risk that follow from mean square errors in `rows`.

    `area` is the second part of their slugs.
    """
    return tuple(_risk_of_projected_mean(row, area) for row in rows if is_mean_square(row))


# Only bounds on a mean at their own parameters are used: bounds on a run are never smaller.
PROJECTED_RISKS = projected((b for b in UPPER_MEAN_BOUNDS if b.parameters == "own"), "sco-strong")
