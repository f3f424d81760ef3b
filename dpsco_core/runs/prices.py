"""What the problem and the constraint set add to the price of a run.

Nanoseconds on the reference machine, as of `dpsco_core.base.coefficients`; `python -m
benchmarks.cost` shows how far prices are from the clock.
"""

from dpsco_core.base.coefficients import Coefficients
from dpsco_core.geometry.ball import Ball, Box, L1Ball, LqBall
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.geometry.simplex import Simplex, SolidSimplex
from dpsco_core.geometry.sparse import GroupBall, SparseHull
from dpsco_core.methods.base import MethodCost, Plan
from dpsco_core.problems import SCO_PROBLEMS, GeometricMedian, Linear, Quadratic


def _each(fixed: float, per_column: float) -> Coefficients:
    return Coefficients(fixed=fixed, per_row=0, per_element=0, per_column=per_column)


# Of a point that lies outside every other time: inside, nothing is searched for.
PROJECTIONS: dict[type[ConstraintSet], Coefficients] = {
    Ball: _each(2e3, 1),
    Box: _each(3e3, 1),
    L1Ball: _each(8e3, 6),
    Simplex: _each(1.1e4, 8),
    SolidSimplex: _each(8e3, 7),
    GroupBall: _each(1.7e4, 10),
    SparseHull: _each(2e4, 25),
    LqBall: _each(7e4, 90),
}
MIRROR_STEPS: dict[type[ConstraintSet], Coefficients] = {
    Box: _each(2e4, 30),
    L1Ball: _each(4e4, 100),
    Simplex: _each(8e4, 170),
    SolidSimplex: _each(4.5e4, 190),
    LqBall: _each(1.2e5, 150),
}
# A mirror step that is no search: the map, and the way back.
MAPPED = _each(8e3, 4)
# Gradients over those of a generalised linear model, which are multiples of its features.
GRADIENTS = dict.fromkeys(SCO_PROBLEMS, 1.0) | {
    Quadratic.card.slug: 1.3,
    Linear.card.slug: 1.3,
    GeometricMedian.card.slug: 2.8,
}


def run_seconds(cost: MethodCost, plan: Plan, n: int, problem: str) -> float:
    """Return the predicted seconds of a run on n items, on the reference machine."""
    if plan.has_closed_form and cost.closed_form is not None:
        return cost.closed_form.seconds(n, plan.setting.d)
    seconds = plan.passes * GRADIENTS[problem] * cost.seconds(n, plan.setting.d)
    seconds += 1e-9 * cost.per_piece * plan.pieces
    if plan.moves:
        seconds += plan.moves * move_seconds(plan.setting.body, plan.mirror)
    return seconds


def move_seconds(body: ConstraintSet, mirror: PowerMirror | None) -> float:
    """Return the seconds of a step back into the set: a projection, or a mirror step."""
    projected = PROJECTIONS[type(body)].seconds(0, body.d)
    if mirror is None:
        return projected
    own = isinstance(body, LqBall) and body.exponent == mirror.exponent
    mapped = MAPPED.seconds(0, body.d)
    if own or mirror.exponent == 2:
        return mapped + (0.0 if own else projected)
    return MIRROR_STEPS[type(body)].seconds(0, body.d)
