r"""How many records, or how large a privacy budget, a target error takes.

The error is its median over trials, or another quantile of them. It is a power of n, or of epsilon,
over a short range. A few pilot medians walk towards the target; two sets of trials on either side
of where they end give the answer by interpolation, and resampling the trials gives its interval.
Where the error hardly changes there is no answer.

Trials share their random numbers along the way: trial t at n is the first n records of its own
stream, and its noise is the same multiple of the noise's scale at every n and budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.base.law_classes import LawClass
from dpsco_core.base.limits import EPSILON_MIN, LIBRARY, RHO_MIN
from dpsco_core.base.parsing import is_real, one_of, whole
from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import binding, name_bound_algorithms
from dpsco_core.catalogue import bound, bounds_for, method_card, problem_card
from dpsco_core.explain.need.runs import (
    Progress,
    Runs,
    Unknown,
    point_at,
    quantile_of,
    unscaled,
)
from dpsco_core.explain.need.units import error_in_units
from dpsco_core.privacy.budget import EPSILON_MAX, RHO_MAX
from dpsco_core.results.report import bound_setting
from dpsco_core.results.slopes import line_slope
from dpsco_core.runs.study import stream
from dpsco_core.scenario import Scenario

PILOTS, PILOT_TRIALS = 6, 16
FIRST_SLOPE, SLOPES = -0.6, (-1.2, -0.2)
LONGEST_STEP, CLOSE = 1.5, 0.1
SPACING = 0.3  # the distance, in ln n, of the last two points from their midpoint
WIDE = 1.0  # The distance at which a plateau is confirmed, since chance may flatten a short slope.
FLATTEST = -0.15  # A slope above this number counts as a plateau.
FINAL_TRIALS, FEW_TRIALS = 64, 16
LEAST_TRIALS, MOST_TRIALS = 16, 10_000
QUANTILES = (0.1, 0.95)  # More extreme quantiles of so few trials would say little.
CHEAP = 100_000  # Up to this n times d the last two points have many trials.
MOVES = 3  # The last two points are moved at most this often, if the answer is not near them.
RESAMPLES = 1000
MOST_ELEMENTS = 20_000_000  # the largest sample, as n d m


@dataclass(frozen=True, kw_only=True)
class Floor:
    """A value of the unknown below which no algorithm of some kind reaches the target.

    It is about the worst case over a class of laws.

    Below `value` the largest lower bound with proven constants is above the target.
    """

    # the smallest value of the unknown that the bound allows; infinite if none suffices
    value: float
    bound: str  # slug of the bound with that value
    binds: str  # the algorithms that the bound binds, after "every" or "no"
    laws: str  # the class of laws of the bound, after "over"


@dataclass(frozen=True, kw_only=True)
class Need:
    """The value of the unknown that a target error needs."""

    method: str  # slug of the method
    unknown: Unknown  # the unknown quantity
    target: float  # the target for the quantile of the error over data and noise
    quantile: float = 0.5  # the quantile of the error that is to reach it; 0.5 is the median
    # Where the answer lies: inside the searched range, below it, or above it. On a plateau there is
    # no answer, because the error hardly changes near the end of the search.
    side: Literal["inside", "below", "above", "plateau"] = "plateau"
    # The answer, with records rounded up; NaN unless it is inside the range.
    value: float = math.nan
    # a 95 % interval of the answer from resampled trials
    low: float = math.nan
    high: float = math.nan
    # the end of the range beyond which the answer lies; NaN if it lies inside
    limit: float = math.nan
    near: float  # the value of the unknown between the last two sets of trials
    # The slope of log error against the log of the unknown at the last trials; for rho, the slope
    # against the log of its square root.
    slope: float
    trials: int  # the number of trials at each of the last two points
    # the values that lower bounds require, one for each class of laws, for the algorithms of the
    # budget
    floors: tuple[Floor, ...]


def need(
    scenario: Scenario,
    method: str,  # slug of one of the problem's methods
    target: float,  # the target for the l2 error of a mean, or for the excess population risk
    unknown: Unknown = "n",
    *,
    elements: int = MOST_ELEMENTS,  # the largest n times d times m of a sample
    # a function that is called after every point with the number of runs so far
    progress: Progress | None = None,
    error_unit: str = "moment",  # the unit of the target for a mean; see `error_in_units`
    quantile: float = 0.5,  # the quantile of the error that is to reach it, in [0.1, 0.95]
    # The number of trials at each of the last two points, from 16 to 10,000; by default 64, and
    # fewer where samples are large.
    trials: int | None = None,
) -> Need:
    """Return how large `unknown` must be for a median error of `target`, as ``dpsco need`` does.

    With another `quantile` it is that of the error: at 0.9 nine runs in ten have at most `target`.

    Raises `InvalidInput` if an argument is not allowed; `NotApplicable` if the method cannot run
    where the search starts.

    All but the unknown is that of the scenario; its value there is where the search starts. Its
    axis and its trials do not count, and a budget is sought only in the kind that the scenario has:
    `n`, ``"epsilon"`` or ``"rho"``. A target for a mean is in units of the moment bound of a
    coordinate (``"moment"``), or in standard deviations of one (``"sd"``, or
    ``"sd-per-coordinate"`` for the error in each coordinate).

    Examples
    --------
    >>> answer = need(Scenario(n=1000, d=2, offset=0.0, trials=1), "mean.clipped", 0.2)
    >>> answer.side, answer.low <= answer.value <= answer.high
    ('inside', True)
    """
    base = replace(scenario, axis=None, grid=(), trials=1, methods=(method,)).validate()
    require(is_real(target) and target > 0, "error", "finite and above 0", target)
    target = error_in_units(base, target, error_unit)
    low_end, high_end = QUANTILES
    is_quantile = is_real(quantile) and low_end <= quantile <= high_end
    require(is_quantile, "quantile", f"a number from {low_end} to {high_end}", quantile)
    if trials is not None:
        whole("trials", trials, LEAST_TRIALS, MOST_TRIALS)
    budget_field = "rho" if base.rho is not None else "epsilon"
    one_of("unknown", unknown, ("n", budget_field))
    card = method_card(method)
    if unknown != "n":
        require(card.privacy != "none", "method", "a private one for a budget", method)
    runs = Runs(base, unknown, progress, quantile)
    ends = _range_of_places(base, unknown, elements)
    goal = math.log(target)
    start = _place_of_value(float(getattr(base, unknown)), unknown)
    middle = _find_place_by_few_trials(runs, min(max(start, ends[0]), ends[1]), goal, ends)
    for _ in range(MOVES):
        final = _final_runs(runs, middle, SPACING, ends, trials)
        if final.slope > FLATTEST:
            final = _final_runs(runs, middle, WIDE, ends, trials)
        if final.slope > FLATTEST or abs(final.answer(goal) - final.middle) <= 2 * final.spacing:
            break
        middle = final.answer(goal)
    result = Need(
        method=method,
        unknown=unknown,
        target=target,
        quantile=quantile,
        slope=final.slope,
        trials=len(final.left),
        near=unscaled(final.middle, unknown),
        floors=_required_values(base, unknown, target),
    )
    if final.slope > FLATTEST:
        is_below = _is_reached(runs, ends[0], goal, len(final.left))
        limit = unscaled(ends[0], unknown)
        return replace(result, side="below", limit=limit) if is_below else result
    answer = final.answer(goal)
    if answer < ends[0]:
        return replace(result, side="below", limit=unscaled(ends[0], unknown))
    if answer > ends[1]:
        return replace(result, side="above", limit=unscaled(ends[1], unknown))
    low, high = (_field_value(x, unknown) for x in final.interval(goal, base.seed))
    return replace(result, side="inside", value=_field_value(answer, unknown), low=low, high=high)


@dataclass(frozen=True, eq=False, kw_only=True)
class _FinalRuns:
    """Log errors of the same trials at two points, on either side of a middle."""

    middle: float
    spacing: float
    left: Vector
    right: Vector
    quantile: float  # the quantile of the errors that counts

    @property
    def slope(self) -> float:
        """The slope of that log error between both sides, on the scale of the search."""
        left, right = (float(quantile_of(x, self.quantile)) for x in (self.left, self.right))
        return (right - left) / (2 * self.spacing)

    def answer(self, goal: float) -> float:
        """Return the place at which the line through both quantiles reaches the goal."""
        left, right = (float(quantile_of(x, self.quantile)) for x in (self.left, self.right))
        middle_error = 0.5 * (right + left)
        return self.middle + (goal - middle_error) / self.slope

    def interval(self, goal: float, seed: int) -> tuple[float, float]:
        """Return a 95 % interval of the answer; both errors of a trial are resampled together."""
        rng = stream(seed, "need resample", 0)
        count = len(self.left)
        chosen = rng.integers(0, count, size=(RESAMPLES, count)).astype(np.intp)
        left_errors, right_errors = (
            quantile_of(x[chosen], self.quantile, axis=1) for x in (self.left, self.right)
        )
        slope = (right_errors - left_errors) / (2 * self.spacing)
        # Flatter slopes of resamples are due to chance, since a plateau would have been refused.
        centre = goal - 0.5 * (left_errors + right_errors)
        ends = self.middle + centre / np.minimum(slope, FLATTEST)
        low, high = np.quantile(ends, (0.025, 0.975))
        return float(low), float(high)


def _find_place_by_few_trials(
    runs: Runs, start: float, goal: float, ends: tuple[float, float]
) -> float:
    """Walk towards the goal on quantiles of few trials; return the place that seems to reach it."""
    places: list[float] = []
    levels: list[float] = []
    place = start
    for _ in range(PILOTS):
        try:
            level = float(quantile_of(runs.log_errors(place, PILOT_TRIALS), runs.quantile))
        except NotApplicable:
            if not places:
                raise
            place = 0.5 * (place + places[-1])
            continue
        places.append(place)
        levels.append(level)
        step = (goal - level) / _pilot_slope(places, levels)
        step = min(max(step, -LONGEST_STEP), LONGEST_STEP)
        place = min(max(place + step, ends[0]), ends[1])
        if abs(place - places[-1]) < CLOSE:
            break
    return place


def _pilot_slope(places: list[float], levels: list[float]) -> float:
    """Return the slope of the pilot medians over their places, limited to the range `SLOPES`."""
    if len(places) < 2:
        return FIRST_SLOPE
    if len(places) == 2:
        slope = (levels[1] - levels[0]) / (places[1] - places[0])
    else:
        slope = line_slope(np.exp(places), np.exp(levels))
    return min(max(slope, SLOPES[0]), SLOPES[1])


def _final_runs(
    runs: Runs, middle: float, spacing: float, ends: tuple[float, float], trials: int | None
) -> _FinalRuns:
    """Run the last two sets of trials, at a distance `spacing` on either side of the middle.

    If `trials` is None and there are many records, fewer trials are run for a median.
    """
    spacing = min(spacing, 0.5 * (ends[1] - ends[0]))
    middle = min(max(middle, ends[0] + spacing), ends[1] - spacing)
    point = point_at(runs.base, runs.unknown, unscaled(middle, runs.unknown))
    if trials is None:
        cheap = point.n * point.d * point.m <= CHEAP
        trials = FINAL_TRIALS if cheap or runs.quantile != 0.5 else FEW_TRIALS
    left_errors, right_errors = (runs.log_errors(middle + x, trials) for x in (-spacing, spacing))
    return _FinalRuns(
        middle=middle,
        spacing=spacing,
        left=left_errors,
        right=right_errors,
        quantile=runs.quantile,
    )


def _is_reached(runs: Runs, place: float, goal: float, trials: int) -> bool:
    """Return whether the method runs at a place with a log error of at most the goal."""
    try:
        return float(quantile_of(runs.log_errors(place, trials), runs.quantile)) <= goal
    except NotApplicable:
        return False


def _field_value(place: float, unknown: Unknown) -> float:
    """Return the value at a place as an answer: whole records, rounded up."""
    return max(1, math.ceil(math.exp(place))) if unknown == "n" else unscaled(place, unknown)


def _place_of_value(value: float, unknown: Unknown) -> float:
    """Return a value of the unknown on the scale of the search, a logarithm."""
    return math.log(value) / (2 if unknown == "rho" else 1)


def _range_of_places(base: Scenario, unknown: Unknown, elements: int) -> tuple[float, float]:
    """Return the ends of the search, on its logarithmic scale of the unknown."""
    if unknown == "n":
        largest = min(LIBRARY.n, elements // (base.d * base.m))
        require(largest >= 4, "n times d times m", f"at most {elements:,}", base.d * base.m)
        return 0.0, math.log(largest)
    low, high = (EPSILON_MIN, EPSILON_MAX) if unknown == "epsilon" else (RHO_MIN, RHO_MAX)
    return _place_of_value(low, unknown), _place_of_value(high, unknown)


def _required_values(base: Scenario, unknown: Unknown, target: float) -> tuple[Floor, ...]:
    """Return the values that lower bounds of the budget require, for each class of laws."""
    problem = problem_card(base.problem)
    problem_class, quantity = problem.loss_class, problem.quantity
    private = method_card(base.methods[0]).privacy != "none"
    binds = binding(base.budget) if private else ("none",)
    classes: dict[LawClass, list[Bound]] = {}
    for b in bounds_for(base.problem, base.level):
        sure = (b.card.kind, b.card.constant, b.card.quantity) == ("lower", "explicit", quantity)
        if b.card.of_law:  # The answer is about classes of laws, not about a single law.
            continue
        if sure and b.card.applies_to(problem_class) and b.card.privacy in binds:
            classes.setdefault(b.card.laws, []).append(b)
    floors = (_required_value(base, unknown, target, bounds) for bounds in classes.values())
    return tuple(floor for floor in floors if floor is not None)


def _required_value(
    base: Scenario, unknown: Unknown, target: float, bounds: list[Bound]
) -> Floor | None:
    """Return the least value at which no bound of one class of laws exceeds the target."""

    def largest(place: float) -> tuple[float, str]:
        """Return the largest bound at a place, and its slug."""
        point = point_at(base, unknown, unscaled(place, unknown))
        pairs = [(b, bound_setting(point, b)) for b in bounds]
        values = [(b.value(s), b.card.slug) for b, s in pairs if not b.failures(s)]
        return max(values, default=(0.0, ""))

    low, high = (0.0, math.log(LIBRARY.n)) if unknown == "n" else _range_of_places(base, unknown, 1)
    if largest(low)[0] <= target:
        return None
    if largest(high)[0] > target:
        value, low = math.inf, high
    else:
        while high - low > 1e-3:
            half = 0.5 * (low + high)
            low, high = (half, high) if largest(half)[0] > target else (low, half)
        value = _field_value(high, unknown)
    card = bound(largest(low)[1]).card
    algorithms = name_bound_algorithms(card, base.budget if unknown == "n" else None)
    return Floor(value=value, bound=card.slug, binds=algorithms, laws=card.laws.words)


def in_words(answer: Need, *, users: bool = False) -> tuple[str, ...]:
    """Return a sentence with the answer, and one with the answer of a lower bound if there is one.

    With `users` n counts users.
    """
    people = "users" if users else "records"
    return (
        _describe_answer(answer, people),
        *(_describe_lower_bound(answer, floor, people) for floor in answer.floors),
    )


def describe_goal(target: float, quantile: float) -> str:
    """Return a target error in words.

    Examples
    --------
    >>> describe_goal(0.1, 0.5), describe_goal(0.1, 0.9)
    ('a median error of 0.1', 'an error of at most 0.1 in 90 % of runs')
    """
    if quantile == 0.5:
        return f"a median error of {target:.3g}"
    return f"an error of at most {target:.3g} in {100 * quantile:.3g} % of runs"


def _describe_answer(answer: Need, people: str) -> str:
    """Return a sentence with the number that the method takes, or the reason for none."""
    name, goal = method_card(answer.method).name, describe_goal(answer.target, answer.quantile)
    if answer.side == "plateau":
        opening = f"Near {_describe_amount(answer, answer.near, people)}"
        if answer.unknown == "n":
            return (
                f"{opening} the error of {name} hardly falls as {people} are added: more of "
                f"them alone will not bring it to {answer.target:.3g}."
            )
        return (
            f"{opening} the error of {name} hardly depends on the privacy budget: a larger one "
            f"will not bring it to {answer.target:.3g}, and it takes more {people}."
        )
    if answer.side == "above":
        return (
            f"{name} needs more than {_describe_amount(answer, answer.limit, people)} for {goal}."
        )
    if answer.side == "below":
        return f"{name} needs at most {_describe_amount(answer, answer.limit, people)} for {goal}."
    interval = f"{_format_number(answer.low)} to {_format_number(answer.high)}"
    amount = _describe_amount(answer, answer.value, people)
    return f"{name} needs about {amount} for {goal} (95 % interval: {interval})."


def _describe_lower_bound(answer: Need, floor: Floor, people: str) -> str:
    """Return a sentence on the lower bounds of one class, which bind worst-case mean errors."""
    name = bound(floor.bound).card.name
    promise = (
        f"In the worst case over {floor.laws}, no {floor.binds} can guarantee a mean error of "
        f"{answer.target:.3g}"
    )
    if math.isinf(floor.value):
        any_amount = f"any number of {people}" if answer.unknown == "n" else "any privacy budget"
        return f"{promise} with {any_amount} up to the largest allowed ({name})."
    smaller = "fewer than" if answer.unknown == "n" else "a budget below"
    return f"{promise} with {smaller} {_describe_amount(answer, floor.value, people)} ({name})."


def _describe_amount(answer: Need, value: float, people: str) -> str:
    """Return a number of records, or a budget, in words."""
    if answer.unknown == "n":
        return f"{_format_number(value)} {people}"
    return f"{answer.unknown} = {_format_number(value)}"


def _format_number(value: float) -> str:
    """Return a number as text: whole from 1000 on, otherwise with three digits."""
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.3g}"
