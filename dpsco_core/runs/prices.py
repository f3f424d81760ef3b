"""How the problem and the constraint set add to the price of a run.

Prices are nanoseconds on the reference machine, as in `dpsco_core.base.coefficients`;
`python -m benchmarks.cost` compares them with the clock.
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


def _point_price(fixed: float, per_column: float) -> Coefficients:
    """Return the price of work on one point, in nanoseconds: fixed, and for each coordinate."""
    return Coefficients(fixed=fixed, per_row=0, per_element=0, per_column=per_column)


# The price of projecting a point inside the set, which needs no search, and a point outside it.
PROJECTIONS: dict[type[ConstraintSet], tuple[Coefficients, Coefficients]] = {
    Ball: (_point_price(1e3, 1), _point_price(2e3, 1)),
    Box: (_point_price(2.5e3, 1), _point_price(2.5e3, 1)),
    L1Ball: (_point_price(2.5e3, 1), _point_price(1.1e4, 8)),
    Simplex: (_point_price(1.1e4, 8), _point_price(1.1e4, 8)),
    SolidSimplex: (_point_price(2.5e3, 1), _point_price(1.1e4, 8)),
    GroupBall: (_point_price(3.5e3, 2), _point_price(2e4, 15)),
    SparseHull: (_point_price(4e3, 1), _point_price(2e4, 40)),
    LqBall: (_point_price(3.5e3, 2), _point_price(1.8e5, 180)),
}
# A mirror step without a search: the mirror map and its inverse.
MIRROR_MAP = _point_price(1.5e4, 15)
# A mirror step that leaves the set and searches for the point in it; on a simplex every step does.
MIRROR_STEPS: dict[type[ConstraintSet], Coefficients] = {
    Box: _point_price(4e4, 50),
    L1Ball: _point_price(1e5, 100),
    Simplex: _point_price(8e4, 170),
    SolidSimplex: _point_price(1e5, 100),
    LqBall: _point_price(1.8e5, 180),
}
# The share of steps that leave the set, by whether its minimiser is known to lie in the interior.
LEAVING = {True: 0.15, False: 0.6}
# The extra cost of a pass, compared with a generalised linear model, whose gradients are multiples
# of the features.
LINEAR_MODEL = Coefficients(fixed=0, per_row=0, per_element=0)
GRADIENTS = dict.fromkeys(SCO_PROBLEMS, LINEAR_MODEL) | {
    Quadratic.card.slug: Coefficients(fixed=0, per_row=1, per_element=0.15),
    Linear.card.slug: Coefficients(fixed=0, per_row=1, per_element=0.15),
    GeometricMedian.card.slug: Coefficients(fixed=1e4, per_row=6, per_element=1),
}


def pass_seconds(cost: MethodCost, n: int, d: int, problem: str) -> float:
    """Return the seconds of one pass of a method over n items of a problem."""
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
    """Return the seconds that one step needs to return to the constraint set.

    It returns by a projection, or by a mirror step if a mirror map is given.
    """
    body = setting.body
    inside_price, outside_price = (where.seconds(0, body.d) for where in PROJECTIONS[type(body)])
    leaving = LEAVING[setting.constants.minimum_interior]
    projected = (1 - leaving) * inside_price + leaving * outside_price
    if mirror is None:
        return projected
    is_own_map = isinstance(body, LqBall) and body.exponent == mirror.exponent
    mapping = MIRROR_MAP.seconds(0, body.d)
    if is_own_map or mirror.exponent == 2:
        return mapping + (0.0 if is_own_map else projected)
    leaving = 1.0 if isinstance(body, Simplex) else leaving
    return (1 - leaving) * mapping + leaving * MIRROR_STEPS[type(body)].seconds(0, body.d)
