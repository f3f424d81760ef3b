r"""Cubes of means inside a constraint set: for quadratic losses and means, on every set.

A bound on a mean is proven over means :math:`\theta\nu` with signs :math:`\nu`. The bound holds for
a set that contains all of these means. If the set contains them only in fewer coordinates c, at a
larger size :math:`\theta`, the bound for dimension c holds. In the simplices the cube is around a
public centre, and in the simplex without 0 the signs come in opposite pairs, which leave the sum of
the coordinates unchanged. See theory/bounds-everywhere.md, 5. Every cube gives a valid bound; the
choice among cubes only makes the bound larger.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from dpsco_core.base.loss_classes import Form
from dpsco_core.base.search import smallest
from dpsco_core.bounds.instances import hypercube, packing, two_sided
from dpsco_core.bounds.instances.sets import is_round, touches_at_signs
from dpsco_core.bounds.instances.spikes import largest_probability
from dpsco_core.geometry.ball import L1Ball, LqBall
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.simplex import Simplex, SolidSimplex
from dpsco_core.geometry.sparse import GroupBall, SparseHull
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP

# The search for the best cube starts with this many cubes of a family.
_COARSE = 10
# Up to this many coordinates the sharpest bound chooses the cube, and its neighbours are tried.
_FEW_COORDINATES = 40
# For sets of every dimension, the walk over few coordinates starts at these places, so that cached
# results on signs can be reused when the dimension changes.
_STATIONS = (0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64)
# If the best spike probability is below this share of the largest one, the set does not limit it.
_NO_LIMIT = 0.999
# After the first few cubes, these multiples of the best number of coordinates are tried.
_SIZE_FACTORS = (0.6, 0.75, 0.88, 1.0, 1.15, 1.35, 1.7)


@dataclass(frozen=True)
class Cube:
    """A cube of means in a set: the first coordinates are a centre plus or minus a size."""

    support: int  # the number of coordinates that vary
    side: float  # the largest size theta that is added to or subtracted from the centre
    centre: float = 0.0  # the value around which each of these coordinates varies
    # Whether the signs come in opposite pairs, so that the coordinates' sum is fixed.
    paired: bool = False

    @property
    def signs(self) -> int:
        """The number of free signs: the dimension of the bound."""
        return self.support // 2 if self.paired else self.support

    def factor(self, form: Form) -> float:
        r"""Return the error of all signs over that of the free ones, which count twice in pairs."""
        if not self.paired:
            return 1.0
        return 2.0 if form == "squared" else math.sqrt(2)

    def side_within(self, unit: float, room: float) -> float:
        """Return the largest size theta of the signs in a set that is `unit` times as large.

        `room` is the largest allowed squared l2 norm of a mean.
        """
        free = room / self.support - (unit * self.centre) ** 2
        # Unpaired signs may all agree, so that the size adds to the centre in every coordinate.
        if not self.paired:
            free = max(0.0, math.sqrt(max(0.0, room / self.support)) - unit * self.centre) ** 2
        return min(unit * self.side, math.sqrt(max(0.0, free)))


def has_cubes(body: ConstraintSet) -> bool:
    """Return whether the library knows cubes of means in the set."""
    if isinstance(body, Simplex):
        # A simplex of one dimension is a point.
        return body.d > 1
    has_gauge = isinstance(body, L1Ball | LqBall | GroupBall | SparseHull | SolidSimplex)
    return holds_whole_cube(body) or has_gauge


def holds_whole_cube(body: ConstraintSet) -> bool:
    """Whether the set's largest cube of all d coordinates has corners as far out as the set."""
    return is_round(body) or touches_at_signs(body)


# A family has the possible numbers of coordinates, and the function that makes the cube of each.
Family = tuple[range, Callable[[int], Cube]]


def families(body: ConstraintSet) -> tuple[Family, ...]:
    """Return the largest cube in a set for each number of coordinates, as one family a kind.

    A simplex has paired signs, the solid simplex paired and free signs, any other set free ones.
    """
    d = body.d
    if isinstance(body, Simplex | SolidSimplex):
        r = body.radius
        pairs = (range(2, d + 1, 2), lambda c: Cube(c, r / c, r / c, paired=True))
        free = (range(1, d + 1), lambda c: Cube(c, r / (2 * c), r / (2 * c)))
        return (pairs,) if isinstance(body, Simplex) else (pairs, free)[d < 2 :]

    def around_zero(c: int) -> Cube:
        """Return the cube of signs on the first coordinates around 0."""
        return Cube(c, 1 / body.minkowski_norm((np.arange(d) < c).astype(np.float64)))

    return ((range(1, d + 1), around_zero),)


@lru_cache(maxsize=4096)
def hardest_cube(
    form: Form,  # the form of the error, "l2" or "squared"
    n: int,
    moment_order: float,
    budget: Budget,
    body: ConstraintSet,
    unit: float = 1.0,  # the size of the set in moment units, over that of `body`
    room: float = math.inf,  # the largest squared l2 norm of a mean that is allowed
) -> tuple[Cube, float]:
    """Return the cube on which a budget's bound is largest, and its largest spike probability.

    A quick bound on a few cubes says where to look. For few coordinates, and under (epsilon,
    delta), where the quick bound ignores delta, the sharpest bound then chooses the cube: two-sided
    information under zCDP, packing otherwise. Elsewhere the quick bound does. The search walks
    uphill, since the bound mostly has a single maximum. If the sides of a cube do not limit its
    best spike probability, no cube of fewer coordinates is better, and these are skipped.
    """

    def largest(cube: Cube) -> float:
        """Return the largest spike probability at which all means are on a cube."""
        return largest_probability(1, moment_order, cube.side_within(unit, room))

    def rough(cube: Cube) -> float:
        """Return about the quick bound on a cube at its best spike probability."""
        value = _rough_bound(form, n, cube.signs, moment_order, budget, largest(cube))
        return cube.factor(form) * value

    def simple(cube: Cube) -> float:
        """Return a quick bound on a cube at its best spike probability."""
        value = _simple_bound(form, n, cube.signs, moment_order, budget, largest(cube))
        return cube.factor(form) * value

    @cache
    def best_spikes(cube: Cube) -> float:
        """Return the spike probability at which the sharpest bound on a cube is largest."""
        return _best_spike_probability(form, n, cube.signs, moment_order, budget, largest(cube))

    def sharp(cube: Cube) -> float:
        """Return the sharpest bound on a cube, at its best spike probability."""
        q = best_spikes(cube)
        return cube.factor(form) * _sharpest_bound(form, q, n, cube.signs, moment_order, budget)

    def has_room(cube: Cube) -> bool:
        """Whether a cube's sides do not limit its bound, so that fewer coordinates lower it."""
        return best_spikes(cube) < _NO_LIMIT * largest(cube)

    def find_best_cube(sizes: range, cube_of: Callable[[int], Cube]) -> Cube:
        """Return the cube of a family with the largest bound.

        `cube_of` makes the cube of each number of coordinates in `sizes`.
        """
        last_place = len(sizes) - 1
        places = np.unique(np.round(np.geomspace(1, last_place + 1, _COARSE)) - 1)
        start = max((int(i) for i in places), key=lambda i: rough(cube_of(sizes[i])))
        candidates = {min(last_place, max(0, round((start + 1) * x) - 1)) for x in _SIZE_FACTORS}
        if start < _FEW_COORDINATES and not isinstance(body, GroupBall):
            candidates, start = _stations_near(start, last_place)
        is_sharp = start < _FEW_COORDINATES or isinstance(budget, ApproxDP)
        value = sharp if is_sharp else simple
        height = cache(lambda i: value(cube_of(sizes[i])))

        def is_left_lower(i: int) -> bool:
            """Return whether all cubes of fewer coordinates are known to have no larger bounds."""
            return is_sharp and has_room(cube_of(sizes[i]))

        # The bound may have a local maximum at every whole number of groups.
        if isinstance(body, GroupBall):
            start = max(candidates, key=height)
        paths = sorted(candidates), range(min(last_place, _FEW_COORDINATES) + 1)
        top = _walk_uphill(height, is_left_lower, paths, start)
        return cube_of(sizes[top])

    chosen = [find_best_cube(*family) for family in families(body)]
    best = max(chosen, key=sharp) if len(chosen) > 1 else chosen[0]
    return best, largest(best)


def _stations_near(start: int, last_place: int) -> tuple[set[int], int]:
    """Return the places of `_STATIONS` near a start, up to the last place, and the nearest one."""
    lowest, highest = (start + 1) * _SIZE_FACTORS[0] - 1, (start + 1) * _SIZE_FACTORS[-1]
    stations = {place for place in _STATIONS if lowest <= place <= min(highest, last_place)}
    stations |= {last_place} & {start}
    return stations, smallest(stations, lambda place: abs(place - start), what="station")


def _walk_uphill(
    height: Callable[[int], float],
    is_left_lower: Callable[[int], bool],  # whether all earlier places are known to be lower
    paths: Sequence[Sequence[int]],
    start: int,
) -> int:
    """Return the place where a walk from `start` along the paths, always uphill, ends.

    Each path is walked as far as `height` grows, from where the walk on the path before it ended; a
    path without that place ends the walk.
    """
    place = start
    for path in paths:
        if place not in path:
            break
        for step in (1,) if is_left_lower(place) else (-1, 1):
            index = path.index(place) + step
            while 0 <= index < len(path) and height(path[index]) > height(place):
                place, index = path[index], index + step
    return place


def _rough_bound(form: Form, n: int, d: int, order: float, budget: Budget, largest: float) -> float:
    """Return `_simple_bound` up to a factor near 1, much quicker."""
    if largest == 0:
        return 0.0
    if isinstance(budget, ZCDP):
        return hypercube.rough_cdp(n, d, order, budget.rho, largest, form == "squared")
    return hypercube.rough_pure(n, d, order, budget.epsilon, largest, form == "squared")


def _simple_bound(
    form: Form, n: int, d: int, order: float, budget: Budget, largest: float
) -> float:
    """Return a quick lower bound on d signs under a budget, which serves to compare cubes.

    `order` is the moment order, and `largest` the largest spike probability.
    """
    if largest == 0:
        return 0.0
    if isinstance(budget, ZCDP):
        squared = form == "squared"
        q = hypercube.best_cdp(n, d, order, budget.rho, largest, squared)
        return hypercube.hypercube_cdp(q, n, d, order, budget.rho, squared=squared)
    q = hypercube.best_pure(n, d, order, budget.epsilon, largest, form)
    return hypercube.hypercube_pure(q, n, d, order, budget.epsilon, form=form)


def _best_spike_probability(
    form: Form, n: int, d: int, order: float, budget: Budget, largest: float
) -> float:
    """Return the spike probability at which the sharpest bound on signs is largest."""
    if largest == 0:
        return 0.0
    if isinstance(budget, ZCDP):
        return two_sided.best(n, d, order, budget.rho, largest, form)
    return packing.best(_quick_form(form), n, d, order, *_epsilon_delta_of(budget), largest)


def _sharpest_bound(form: Form, q: float, n: int, d: int, order: float, budget: Budget) -> float:
    """Return the sharpest bound on d signs at spike probability q, for comparing cubes.

    In place of the l2 error's bound by packing it is that of linear losses: see `_quick_form`.
    """
    if q == 0:
        return 0.0
    if isinstance(budget, ZCDP):
        return two_sided.two_sided(q, n, d, order, budget.rho, form)
    return packing.packing(_quick_form(form), q, n, d, order, *_epsilon_delta_of(budget))


def _quick_form(form: Form) -> Form:
    """Return the form of packing's bound that replaces `form` in a search over cubes.

    The linear form is much quicker to evaluate than that of the l2 error, and grows with the
    dimension at the same rate.
    """
    return "squared" if form == "squared" else "linear"


def _epsilon_delta_of(budget: PureDP | ApproxDP) -> tuple[float, float]:
    """Return the epsilon and the delta of a budget as a pair."""
    return budget.epsilon, budget.delta if isinstance(budget, ApproxDP) else 0.0
