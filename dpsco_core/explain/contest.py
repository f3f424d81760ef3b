"""Who wins where: methods over a plane of two parameters, by rate, by proven bound, or measured."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from dpsco_core.base.arrays import Vector
from dpsco_core.base.limits import Limits
from dpsco_core.base.search import smallest_index
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import bound, bounds_for, method_card
from dpsco_core.explain.regimes import Plane, setting_at, with_changes
from dpsco_core.problems import Setting
from dpsco_core.runs.allowed import refusal
from dpsco_core.runs.cost import cost, machine_speed
from dpsco_core.runs.study import Cell, Outcome, canonical, run_cell
from dpsco_core.scenario import Scenario

Reading = Literal["rates", "proven", "measured"]
READINGS: tuple[Reading, ...] = ("rates", "proven", "measured")
TRIALS = 5  # the smallest number of trials of a measured cell
LEVEL = 0.95  # the level of the confidence interval of a paired difference
# the time that a measured map may take, in seconds on the reference machine
MEASURED_SECONDS = 12.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Contest:
    """The values of each method over a plane: bounds or measured errors."""

    plane: Plane
    methods: tuple[str, ...]
    # The smallest bound, or the mean measured error, of each method, shape (methods, rows,
    # columns): infinite where there is none, NaN where it is not known yet.
    values: Vector
    # Whether every condition of the bound holds there, or the method runs; shape (methods, rows,
    # columns).
    holds: NDArray[np.bool_]
    # Whether the runs fail to distinguish the smallest error from another method's; shape (rows,
    # columns).
    ties: NDArray[np.bool_]
    # The error of an answer that ignores the data, if errors are measured; shape (rows, columns).
    start: Vector | None = None

    @cached_property
    def smallest(self) -> NDArray[np.intp]:
        """The index of the method with the smallest bound, shape (rows, columns); -1 for none."""
        best: Vector = np.where(self.holds, self.values, np.inf)
        return smallest_index(best)

    @cached_property
    def winners(self) -> NDArray[np.intp]:
        """The index of the best method, shape (rows, columns); -1 where no bound holds.

        It is the number of methods where even the best error is not below `start`.
        """
        if self.start is None:
            return self.smallest
        smallest_value = np.where(self.holds, self.values, np.inf).min(axis=0)
        useless = (self.smallest >= 0) & (smallest_value >= self.start)
        return np.where(useless, len(self.methods), self.smallest)

    @property
    def has_value(self) -> NDArray[np.bool_]:
        """Whether each cell has been evaluated, shape (rows, columns)."""
        return np.asarray((~np.isnan(self.values)).any(axis=0), dtype=np.bool_)

    def share(self, method: int, *, tied: bool = False) -> float:
        """Return the share of the evaluated cells in which a method is shown, alone or in a tie."""
        best = np.equal(self.winners, method) & (self.ties | (not tied))
        return float(best[self.has_value].mean()) if self.has_value.any() else 0.0


def bounds_of(method: str, reading: Reading, scenario: Scenario) -> tuple[Bound, ...]:
    """Return the bounds that represent a method: its rate, or proven bounds on its mean error."""
    if reading == "rates":
        rate = method_card(method).rate
        fits = rate and scenario.problem in bound(rate).card.problems
        return (bound(rate),) if fits else ()
    return tuple(
        b
        for b in bounds_for(scenario.problem, scenario.level)
        if (b.card.method, b.card.constant) == (method, "explicit")
        and (b.card.kind, b.card.guarantee) == ("upper", "expectation")
        and b.card.quantity != "item gradients"
    )


def compared(scenario: Scenario, reading: Reading) -> tuple[str, ...]:
    """Return the private methods of a scenario that can be compared by bounds, or by runs."""
    private = [m for m in scenario.methods if method_card(m).privacy != "none"]
    return tuple(m for m in private if reading == "measured" or bounds_of(m, reading, scenario))


def bounds_contest(scenario: Scenario, plane: Plane, reading: Reading) -> Contest:
    """Return the contest of the methods by bounds at every cell of a plane.

    The value of a method is its smallest bound that holds, or its smallest bound if none does.
    """
    methods = compared(scenario, reading)
    chosen = [bounds_of(m, reading, scenario) for m in methods]
    base = replace(scenario, axis=None, grid=())
    shape = (len(methods), len(plane.y), len(plane.x))
    values, holds = np.full(shape, np.inf), np.zeros(shape, dtype=bool)
    settings: dict[tuple[float, float], Setting] = {}
    for i, y in enumerate(plane.y):
        for j, x in enumerate(plane.x):
            setting = setting_at(base, {plane.y_axis: y, plane.x_axis: x}, settings)
            for k, bounds in enumerate(chosen):
                pairs = [(bool(b.failures(setting)), b.value(setting)) for b in bounds]
                fails, values[k, i, j] = min(f for f in pairs if not math.isnan(f[1]))
                holds[k, i, j] = not fails
    ties = np.zeros(shape[1:], dtype=bool)
    return Contest(plane=plane, methods=methods, values=values, holds=holds, ties=ties)


def point_at(scenario: Scenario, plane: Plane, row: int, column: int) -> Scenario:
    """Return the single point of a cell, with enough trials to compare methods."""
    point = with_changes(scenario, {plane.x_axis: plane.x[column], plane.y_axis: plane.y[row]})
    methods = compared(scenario, "measured")
    return replace(point, axis=None, grid=(), trials=TRIALS, methods=methods)


def contest_cells(plane: Plane, start: tuple[int, int] = (0, 0)) -> tuple[tuple[int, int], ...]:
    """Return the cells (row, column) from coarse to fine, from the one at `start` outwards."""

    def rank(cell: tuple[int, int]) -> tuple[int, int]:
        """Return the key by which cells are sorted: coarse grids first, then nearer cells."""
        rows, columns = abs(cell[0] - start[0]), abs(cell[1] - start[1])
        coarse = next(s for s in (4, 2, 1) if rows % s == 0 and columns % s == 0)
        return -coarse, rows + columns

    cells = [(i, j) for i in range(len(plane.y)) for j in range(len(plane.x))]
    return tuple(sorted(cells, key=rank))


def cells_at(scenario: Scenario, plane: Plane, row: int, column: int) -> tuple[Cell, ...]:
    """Return the runs of a cell; in each trial all methods see the same records."""
    point = point_at(scenario, plane, row, column)
    return tuple(
        Cell(point=canonical(point), method=method, x=None, trial=trial)
        for trial in range(TRIALS)
        for method in point.methods
    )


def measured_contest(
    plane: Plane,
    methods: tuple[str, ...],
    outcomes: Mapping[tuple[int, int], Sequence[Outcome]],
    start: Mapping[tuple[int, int], float] | None = None,
) -> Contest:
    """Return the contest of mean measured errors in the cells that have run.

    `start` has the error of an answer that ignores the data, on the data of each of these cells.
    The winner is tied with another method if the 95 % interval of their paired differences, trial
    by trial on the same records, holds 0.
    """
    shape = (len(methods), len(plane.y), len(plane.x))
    values = np.full(shape, np.nan)
    holds, ties = np.zeros(shape, dtype=bool), np.zeros(shape[1:], dtype=bool)
    for (i, j), cell in outcomes.items():
        errors = np.array([[o.error for o in cell if o.method == m] for m in methods])
        runs = np.isfinite(errors).all(axis=1)
        values[:, i, j] = np.where(runs, errors.mean(axis=1), np.inf)
        holds[:, i, j] = runs
        ties[i, j] = is_tied(errors[runs])
    blind = np.full(shape[1:], np.inf)
    for place, error in (start or {}).items():
        blind[place] = error
    return Contest(plane=plane, methods=methods, values=values, holds=holds, ties=ties, start=blind)


def is_tied(
    errors: Vector,  # the errors, shape (methods, trials)
) -> bool:
    """Return whether the interval of a method's paired difference to the best one contains 0.

    Examples
    --------
    >>> is_tied(np.array([[1.0, 1.1], [2.0, 2.1]])), is_tied(np.array([[1.0], [2.0]]))  # one run
    (False, True)
    """
    if len(errors) < 2:
        return False
    best = int(smallest_index(errors.mean(axis=1)))
    return not np.delete(clearly_better(errors)[best], best).all()


def clearly_better(
    errors: Vector,  # the errors, shape (methods, trials)
) -> NDArray[np.bool_]:
    """Return a matrix: whether a method (a row) has a smaller error than another (a column).

    The error is smaller if the 95 % interval of the paired differences is above 0.

    Examples
    --------
    >>> clearly_better(np.array([[1.0, 1.1], [2.0, 2.1]])).tolist()
    [[False, True], [False, False]]
    """
    methods, trials = errors.shape
    if trials < 2:
        return np.zeros((methods, methods), dtype=np.bool_)
    gaps = errors[None] - errors[:, None]
    half = stdtrit(trials - 1, (1 + LEVEL) / 2) * gaps.std(axis=2, ddof=1) / math.sqrt(trials)
    return np.asarray(gaps.mean(axis=2) > half, dtype=np.bool_)


def measured_plane(scenario: Scenario, plane: Plane, limits: Limits) -> Plane:
    """Return the plane without the largest x that would take too long to measure."""
    while len(plane.x) > 1 and not _is_measurable(scenario, plane, limits):
        plane = replace(plane, x=plane.x[:-1])
    return plane


def _is_measurable(scenario: Scenario, plane: Plane, limits: Limits) -> bool:
    """Return whether errors over a plane can be measured within the limits and in time."""
    last_row = len(plane.y) - 1
    points = [point_at(scenario, plane, last_row, j) for j in range(len(plane.x))]
    if any(refusal(point, limits) for point in points):
        return False
    seconds = sum(cost(point, exact=False).seconds for point in points) / machine_speed()
    return seconds * len(plane.y) <= MEASURED_SECONDS


def contest(scenario: Scenario, plane: Plane, reading: Reading) -> Contest:
    """Return the complete contest, by rates, by proven bounds or by measured errors."""
    if reading != "measured":
        return bounds_contest(scenario, plane, reading)
    outcomes = {
        (i, j): [run_cell(cell) for cell in cells_at(scenario, plane, i, j)]
        for i, j in contest_cells(plane)
    }
    return measured_contest(plane, compared(scenario, "measured"), outcomes)
