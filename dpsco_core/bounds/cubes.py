"""Lower bounds from signs on sets other than balls, by the cubes of means that these sets contain.

See theory/bounds-everywhere.md, 5. The bound for the l2 ball holds unchanged on every set that
touches its circumscribed ball in the direction of all sign vectors.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from dpsco_core.base.cards import Privacy
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.base import Hypothesis
from dpsco_core.bounds.conditions import moment_scale
from dpsco_core.bounds.instances.cubes import (
    Cube,
    families,
    hardest_cube,
    has_cubes,
    holds_whole_cube,
)
from dpsco_core.bounds.instances.spikes import mean_scale
from dpsco_core.geometry.base import ConstraintSet, Symmetric
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems.base import Setting

# Neighbouring cubes differ in size by these factors, for an l2 and for a squared error. The best
# size is within the root of the factor of a tried one.
SIZE_STEP, SQUARED_STEP = 1.6, 2.2
# A function of a setting, a form and the largest norm of a mean, in moment units, that returns a
# lower bound in moment units.
Value = Callable[[Setting, Form, float], float]


def _set_with_own_cubes(setting: Setting) -> ConstraintSet | None:
    """Return the constraint set if bounds on it need cubes; None if that for the ball holds."""
    body = setting.constraint
    if body is None or holds_whole_cube(body) or not has_cubes(body):
        return None
    return body


def _scale_and_largest_square(
    setting: Setting, body: ConstraintSet, *, strong: bool
) -> tuple[float, float]:
    r"""Return the size of the set of means over that of `body`, and a mean's largest squared norm.

    Both are in moment units. If `strong`, means belong to a quadratic loss of strong convexity
    :math:`\lambda`, whose minimiser is :math:`\mu/\lambda` and whose gradients
    :math:`\lambda w-\mu` have norm at most R on the set. Otherwise the set of means is `body`.
    """
    scale = moment_scale(setting)
    if not strong:
        return 1 / scale, math.inf
    c = setting.constants
    reach = c.strong_convexity * body.l2_radius
    if isinstance(body, Symmetric):
        largest_square = max(0.0, c.mean_gradient_bound - reach) ** 2
    else:
        # Inner products of two points of a simplex are at least 0.
        largest_square = max(0.0, c.mean_gradient_bound**2 - reach**2)
    return c.strong_convexity / scale, largest_square / scale**2


def _has_constants(setting: Setting, *, strong: bool) -> bool:
    """Return whether the setting has the constants that a bound on cubes needs.

    The moment scale must be positive and finite, the bound on the mean gradient finite, and, if
    `strong`, the strong convexity positive.
    """
    scale = moment_scale(setting)
    finite = 0 < scale < math.inf and math.isfinite(setting.constants.mean_gradient_bound)
    return finite and (not strong or setting.constants.strong_convexity > 0)


def _budget_of_notion(setting: Setting, privacy: Privacy) -> Budget:
    """Return the budget of the algorithms of a notion, for which the best cube is searched."""
    if privacy == "zcdp":
        return ZCDP(rho=setting.rho)
    return PureDP(epsilon=setting.pure_epsilon) if privacy == "pure" else setting.budget


def _own_cube(setting: Setting, body: ConstraintSet, *, strong: bool) -> Cube:
    """Return the cube on which the catalogue's hard data lie: the best for their loss and budget.

    If users have m items, it is the best one for all n m items.
    """
    form: Form = "squared" if strong else "l2"
    n, order = setting.n * setting.m, setting.moment_order
    return hardest_cube(form, n, order, setting.budget, body)[0]


def _best_cubes(
    setting: Setting, body: ConstraintSet, form: Form, privacy: Privacy, *, strong: bool
) -> tuple[Cube, ...]:
    """Return cubes on which a bound may be largest: up to two sample sizes times two budgets.

    Every cube in the set gives a valid bound, by the theorem for its dimension. The sample sizes
    are all n m items, for rare spikes, and the n users. Under (epsilon, delta) the best cubes under
    pure epsilon-DP are added, because the bound that chooses cubes need not be the largest one.
    """
    unit, room = _scale_and_largest_square(setting, body, strong=strong)
    target, order = _budget_of_notion(setting, privacy), setting.moment_order
    budgets: tuple[Budget, ...] = (target,)
    if isinstance(target, ApproxDP):
        budgets = target, PureDP(epsilon=target.epsilon)
    cubes = (
        hardest_cube(form, n, order, budget, body, unit, room)[0]
        for n in dict.fromkeys((setting.n * setting.m, setting.n))
        for budget in budgets
    )
    return tuple(dict.fromkeys(cubes))


def on_cubes(value: Value, privacy: Privacy, *, strong: bool) -> Value:
    """Return the function that evaluates a bound over signs on every set with known cubes.

    `value` is the bound on the l2 ball; both are in moment units. If the setting fixes a spike
    probability, the cube is that of the hard data.
    """

    def on_set(setting: Setting, form: Form, cap: float) -> float:
        """Return the largest bound over the tried cubes in the set of a setting."""
        body = _set_with_own_cubes(setting)
        if body is None:
            return value(setting, form, cap)
        if not _has_constants(setting, strong=strong):
            return 0.0
        unit, room = _scale_and_largest_square(setting, body, strong=strong)
        if setting.spike_probability is not None:
            cubes: tuple[Cube, ...] = (_own_cube(setting, body, strong=strong),)
        else:
            cubes = _best_cubes(setting, body, form, privacy, strong=strong)
        return max(_value_on_cube(value, setting, form, cube, unit, room) for cube in cubes)

    return on_set


def _value_on_cube(
    value: Value, setting: Setting, form: Form, cube: Cube, unit: float, room: float
) -> float:
    """Return a bound over signs on one cube; `unit` and `room` are those of `side_within`."""
    fewer = replace(setting, d=cube.signs, constraint=None)
    longest = math.sqrt(cube.signs) * cube.side_within(unit, room)
    return cube.factor(form) * value(fewer, form, longest)


def on_cubes_of_class(value: Value, *, strong: bool) -> Value:
    """Return the function that evaluates a bound by tracing on every set with known cubes.

    Unlike `on_cubes` it takes the maximum over the same cubes at every n and budget, those of
    `_cubes_of_many_sizes`, so that it falls with n and the budget as the bound on each cube does.
    The catalogue's data vary in all coordinates: if the setting fixes a spike probability, the
    bound is about these data, and `value` is returned unchanged.
    """

    def on_set(setting: Setting, form: Form, cap: float) -> float:
        """Return the largest bound over the cubes in the set of a setting."""
        body = _set_with_own_cubes(setting)
        if body is None or setting.spike_probability is not None:
            return value(setting, form, cap)
        if not _has_constants(setting, strong=strong):
            return 0.0
        scales = _scale_and_largest_square(setting, body, strong=strong)
        # A squared error takes ten times as long on each cube, so that fewer cubes are tried.
        cubes = _cubes_of_many_sizes(body, SIZE_STEP if form == "l2" else SQUARED_STEP)
        return max(_value_on_cube(value, setting, form, cube, *scales) for cube in cubes)

    return on_set


@lru_cache(maxsize=256)
def _cubes_of_many_sizes(body: ConstraintSet, step: float = SIZE_STEP) -> tuple[Cube, ...]:
    """Return cubes of means in a set, of every family, from the fewest coordinates to the most.

    `step` is the factor between the numbers of coordinates of neighbouring cubes.
    """
    cubes = []
    for counts, cube_of in families(body):
        places = {min(round(step**i), len(counts)) - 1 for i in range(64)}
        cubes += [cube_of(counts[place]) for place in sorted(places)]
    return tuple(cubes)


def _most_signs(setting: Setting) -> int:
    """Return the largest number of freely varying signs on a cube in the set of a setting."""
    body = _set_with_own_cubes(setting)
    if body is None or setting.spike_probability is not None:
        return setting.d
    return max(cube.signs for cube in _cubes_of_many_sizes(body))


def within_cubes(on_ball: Hypothesis, *, strong: bool) -> Hypothesis:
    """Return the condition that the setting's spike probability keeps all means inside the set.

    `on_ball` is that condition for the l2 ball; it is used on sets that need no cubes.
    """

    def check(setting: Setting) -> str:
        """Return the reason why no cube of means is in the set; empty if there is one."""
        body, q = _set_with_own_cubes(setting), setting.spike_probability
        if body is None or q is None or not _has_constants(setting, strong=strong):
            return on_ball.check(setting)
        cube = _own_cube(setting, body, strong=strong)
        side = cube.side_within(*_scale_and_largest_square(setting, body, strong=strong))
        if mean_scale(q, setting.moment_order) <= side * (1 + 1e-9):
            return ""
        return (
            f"At spike probability {q:.3g} the prior's means leave {body.name}: their entries are "
            f"at most {side:.3g} inside."
        )

    return Hypothesis(text=on_ball.text, check=check)


def _check_has_cubes(setting: Setting) -> str:
    """Return the reason why a set contains no cube of means; empty if it contains one."""
    body = setting.constraint
    if body is None or has_cubes(body):
        return ""
    return (
        "The bound is proven for means in the l2 ball, and here they lie in "
        f"{body.name}, of which no cube is known."
    )


KNOWN_CUBES = Hypothesis(
    text="the set holds cubes around a public centre", check=_check_has_cubes, is_about_set=True
)


def known_cubes_of_class(set_of_data: Hypothesis) -> Hypothesis:
    """Return the condition of `on_cubes_of_class` on a set: `KNOWN_CUBES`, unless data are given.

    At a fixed spike probability the bound is about the data of the catalogue, and then the set has
    to meet `set_of_data`.
    """

    def check(setting: Setting) -> str:
        """Return the reason why the bound does not hold on a set; empty if it holds."""
        condition = KNOWN_CUBES if setting.spike_probability is None else set_of_data
        return condition.check(setting)

    return Hypothesis(text=KNOWN_CUBES.text, check=check, is_about_set=True)


def _check_two_signs(setting: Setting) -> str:
    """Return the reason why fewer than two signs vary freely; empty if at least two do."""
    if _most_signs(setting) >= 2:
        return ""
    if setting.d < 2:
        return f"The bound by tracing is 0 at d={setting.d}: it needs d >= 2."
    where = f"d={setting.d} in {setting.body.name}"
    return f"The bound by tracing is 0 at {where}: it needs two signs that vary freely."


TWO_SIGNS = Hypothesis(text="d >= 2, and two free signs in the set", check=_check_two_signs)
