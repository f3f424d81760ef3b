"""The hardest law of the families that hide something other than the mean of the records."""

from typing import Any

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.instances.hardest import hardest_signs
from dpsco_core.bounds.instances.level import Level, binding_level
from dpsco_core.bounds.losses import median, median_words
from dpsco_core.bounds.losses.corner_labels import (
    CornerBounds,
    hardest_corner,
    linear_excess,
    logistic_excess,
)
from dpsco_core.bounds.losses.one_hot import OneHotBounds, hardest
from dpsco_core.data.hidden.far_points import FAR_DISTANCE
from dpsco_core.data.hidden.one_hot import OneHot, hidden_corner
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.simplex import Simplex
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems import Logistic, Problem
from dpsco_core.problems.linear_models import LinearModelProblem


def hardest_hidden(
    problem: type[Problem],
    family: Any,  # a class of hard instances that hide a quantity other than a mean
    body: ConstraintSet,
    n: int,
    moment_order: float,
    budget: Budget,
) -> dict[str, Any]:
    """Return the fields of the law in a family on which a problem's sharpest bound is largest.

    Only bounds count that bind every algorithm of the budget. The moments of the gradients'
    coordinates are at most 1.

    Raises `InvalidInput` if the constraint set holds no instance of the family.
    """
    if family.hides == "labels":
        return {"spike_probability": hardest_signs("linear", n, body.d, moment_order, budget)}
    if family.hides == "median":
        return _far_points(body, n, binding_level(budget))
    if family.hides == "classes":
        return {"spike_probability": _corner_probability(problem, body, n, moment_order, budget)}
    corner = hidden_corner(body)
    if corner is None:
        raise InvalidInput(
            "geometry must be one that holds a cube for the distribution "
            f"{family.card.slug}, got geometry={body.name}."
        )
    assert issubclass(family, OneHot)
    assert issubclass(problem, LinearModelProblem)
    assert problem.guess is not None
    bounds = OneHotBounds(
        n=n,
        moment_order=moment_order,
        corner=corner,
        guess=problem.guess,
        level=binding_level(budget),
    )
    s, z = hardest(bounds)
    return {"spike_probability": s, "size": z / corner.half, "paired": corner.paired}


def _far_points(body: ConstraintSet, n: int, level: Level) -> dict[str, Any]:
    """Return the fields of the `FarPoints` on which the sharpest bound is largest.

    Far points are at hidden words of the set if it has any, and otherwise on the axes.
    """
    distance = FAR_DISTANCE * body.l2_radius
    directions = median_words.far_words(body)
    if directions is None:
        return {"spike_probability": median.hardest(n, body.d, level), "distance": distance}
    s = median_words.hardest(directions, median_words.argument_for(level), n, level)
    return {"spike_probability": s, "distance": distance, "places": directions.places}


def _corner_probability(
    problem: type[Problem], body: ConstraintSet, n: int, moment_order: float, budget: Budget
) -> float:
    """Return the spike probability at which the bound for a simplex's corners is largest.

    For another set, which has no such bound, it is the one that the same formula gives.
    """
    bounds = CornerBounds(
        n=n,
        d=body.d,
        moment_order=moment_order,
        level=binding_level(budget),
        loss=logistic_excess if problem is Logistic else linear_excess,
        reach=body.radius if isinstance(body, Simplex) else body.l2_radius,
    )
    return hardest_corner(bounds)
