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
from dpsco_core.problems.base import Setting


def _each(fixed: float, per_column: float) -> Coefficients:
    return Coefficients(fixed=fixed, per_row=0, per_element=0, per_column=per_column)


# Of a point inside the set, where nothing is searched for, and of one outside of it.
PROJECTIONS: dict[type[ConstraintSet], tuple[Coefficients, Coefficients]] = {
    Ball: (_each(1e3, 1), _each(2e3, 1)),
    Box: (_each(2.5e3, 1), _each(2.5e3, 1)),
    L1Ball: (_each(2.5e3, 1), _each(1.1e4, 8)),
    Simplex: (_each(1.1e4, 8), _each(1.1e4, 8)),
    SolidSimplex: (_each(2.5e3, 1), _each(1.1e4, 8)),
    GroupBall: (_each(3.5e3, 2), _each(2e4, 15)),
    SparseHull: (_each(4e3, 1), _each(2e4, 40)),
    LqBall: (_each(3.5e3, 2), _each(1.8e5, 180)),
}
# A mirror step that is no search: the map, and the way back.
MAPPED = _each(1.5e4, 15)
# One that ends outside of the set, and searches for the point in it; on a simplex every one does.
MIRROR_STEPS: dict[type[ConstraintSet], Coefficients] = {
    Box: _each(4e4, 50),
    L1Ball: _each(1e5, 100),
    Simplex: _each(8e4, 170),
    SolidSimplex: _each(1e5, 100),
    LqBall: _each(1.8e5, 180),
}
# The share of the steps that leave the set: few where the minimiser is known to be inside of it,
# most where it lies on the boundary.
LEAVING = {True: 0.15, False: 0.6}
# What a pass over the records takes beyond one for a generalised linear model, whose gradients are
# multiples of its features.
LINEAR_MODEL = Coefficients(fixed=0, per_row=0, per_element=0)
GRADIENTS = dict.fromkeys(SCO_PROBLEMS, LINEAR_MODEL) | {
    Quadratic.card.slug: Coefficients(fixed=0, per_row=1, per_element=0.15),
    Linear.card.slug: Coefficients(fixed=0, per_row=1, per_element=0.15),
    GeometricMedian.card.slug: Coefficients(fixed=1e4, per_row=6, per_element=1),
}


def pass_seconds(cost: MethodCost, n: int, d: int, problem: str) -> float:
    """Return the seconds of what a method's cost counts, on n items of a problem."""
    return cost.seconds(n, d) + GRADIENTS[problem].seconds(n, d)


def run_seconds(cost: MethodCost, plan: Plan, n: int, problem: str) -> float:
    """Return the predicted seconds of a run on n items, on the reference machine."""
    if plan.has_closed_form and cost.closed_form is not None:
        return cost.closed_form.seconds(n, plan.setting.d)
    seconds = plan.passes * pass_seconds(cost, n, plan.setting.d, problem)
    seconds += 1e-9 * cost.per_piece * plan.pieces
    if plan.moves:
        seconds += plan.moves * move_seconds(plan.setting, plan.mirror)
    return seconds


def move_seconds(setting: Setting, mirror: PowerMirror | None) -> float:
    """Return the seconds of a step back into the set: a projection, or a mirror step."""
    body = setting.body
    kept, searched = (where.seconds(0, body.d) for where in PROJECTIONS[type(body)])
    leaving = LEAVING[setting.constants.minimum_interior]
    projected = (1 - leaving) * kept + leaving * searched
    if mirror is None:
        return projected
    own = isinstance(body, LqBall) and body.exponent == mirror.exponent
    mapped = MAPPED.seconds(0, body.d)
    if own or mirror.exponent == 2:
        return mapped + (0.0 if own else projected)
    leaving = 1.0 if isinstance(body, Simplex) else leaving
    return (1 - leaving) * mapped + leaving * MIRROR_STEPS[type(body)].seconds(0, body.d)
