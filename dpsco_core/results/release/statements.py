"""What a caller states of the records, checked beside their shape and before they are read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import MethodCard
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import LIBRARY
from dpsco_core.base.parsing import is_real
from dpsco_core.catalogue import (
    LINEAR_MODELS,
    PROBLEM_SLUGS,
    method_card,
    problem_card,
    problem_class,
)
from dpsco_core.fields import TABLE
from dpsco_core.methods.mean.clipped import SimpleClipping
from dpsco_core.problems import MeanEstimation
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.results.release.arrays import (
    RecordShape,
    checked_centre,
    checked_lengths,
    real_numbers,
)
from dpsco_core.results.release.ranges import PublicRange

MEAN = MeanEstimation.card.slug
MEAN_METHOD = "mean.adaptive"  # the method of a mean for which none is stated


@dataclass(frozen=True, eq=False, kw_only=True)
class Statements:
    """The arguments of `release`, without the records: see there."""

    method: str | None = None
    bound: ArrayLike | None = None
    epsilon: float | None = 1.0
    delta: float | None = 1e-6
    rho: float | None = None
    p: float = 2.0
    unit: ArrayLike | None = None
    target_unit: float | None = None
    centre: ArrayLike = 0.0
    intercept: bool = False
    problem: str | None = None
    alike: float | None = None
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None

    @property
    def has_range(self) -> bool:
        """Whether a public range of the records is stated, instead of bound and unit."""
        return self.lower is not None or self.upper is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseTask:
    """The method and the problem that fit the shape of the records."""

    card: MethodCard
    problem: str  # slug

    @property
    def is_mean(self) -> bool:
        """Whether a mean is released, and not the parameter of a loss."""
        return self.problem == MEAN

    @property
    def is_model(self) -> bool:
        """Whether the problem is a generalised linear model of features and targets."""
        return self.problem in LINEAR_MODELS

    @property
    def is_linear(self) -> bool:
        """Whether the loss is linear, so that its parameter is a direction without a unit."""
        return problem_card(self.problem).loss_class.curvature == "linear"

    @property
    def has_labels(self) -> bool:
        """Whether the targets of a linear model are two labels."""
        family = problem_class(self.problem)
        return issubclass(family, LinearModelProblem) and family.link.labels is not None

    @property
    def needs_target_unit(self) -> bool:
        """Whether the targets are numbers, and gradients do not grow with them."""
        family = problem_class(self.problem)
        if not issubclass(family, LinearModelProblem):
            return False
        return family.link.labels is None and family.link.slope_bound < math.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class Lengths:
    """The stated lengths, checked. A method sees records over their unit."""

    unit: Vector  # shape () or (d,)
    target_unit: float
    centre: Vector  # shape (d,)
    answer: Vector  # the unit of the answer: shape (), (d,), or with an intercept (d + 1,)
    ball: float  # the radius of the smallest ball, in units, that holds an answer in its bounds


def choose_task(shape: RecordShape, statements: Statements) -> ReleaseTask:
    """Return the method and the problem, by default those that fit the shape of the records."""
    method, has_users = statements.method, shape.items is not None
    if statements.has_range:
        method = _method_of_range(shape, statements)
    if method is None and has_users:
        method = "user.clipped-means" if shape.has_targets else "user.mean-adaptive"
    elif method is None:
        method = "sco.clipped" if shape.has_targets else MEAN_METHOD
    card = method_card(method)
    is_private = card.privacy != "none"
    if has_users:
        condition = "a private one on users for records of shape (n, m, d)"
        require(card.level == "user" and is_private, "method", condition, method)
    else:
        if card.level == "user" and is_private:
            raise InvalidInput(
                f"method must be a private one on records, got method={method}, which needs "
                "users: pass users=... with items=m, or an array of shape (n, m, d); on the "
                "command line, --user and --items."
            )
        condition = "a private one on records"
        require(card.level == "item" and is_private, "method", condition, method)
    problem = statements.problem or ("logistic" if shape.has_targets else card.problems[0])
    is_model = problem in LINEAR_MODELS
    if shape.has_targets != is_model:
        sentence = _describe_missing_target if is_model else _describe_target
        raise InvalidInput(sentence(problem))
    return ReleaseTask(card=card, problem=problem)


def check_lengths(task: ReleaseTask, shape: RecordShape, statements: Statements) -> Lengths:
    """Return the lengths of the statements; raise `InvalidInput` if one does not fit."""
    d, intercept = shape.d, statements.intercept
    if statements.bound is None:
        raise InvalidInput(
            "bound must be given, a public bound on the answer; or, for a mean of records, lower "
            "and upper, a public range of the records."
        )
    centre = checked_centre(statements.centre, d)
    is_flag = isinstance(intercept, bool | np.bool_)
    require(is_flag, "intercept", "True or False", type(intercept).__name__)
    can_have_one = task.is_model or not intercept
    require(can_have_one, "intercept", "False without features", intercept)
    has_columns = task.is_mean or task.is_model
    unit = 1.0 if statements.unit is None else statements.unit
    units = checked_lengths("unit", unit, d if has_columns else None)
    bounds = checked_lengths("bound", statements.bound, d + int(intercept) if has_columns else None)
    target_unit = _checked_target_unit(task, statements.target_unit)
    require(has_columns or not centre.any(), "centre", "0 for a loss of points", centre.tolist())
    answer = _answer_unit(task, units, target_unit)
    if intercept:
        answer = np.append(np.broadcast_to(answer, (d,)), target_unit)
    ball = _ball_radius(bounds, answer, d)
    if task.is_model:
        stated: Mapping[str, Vector | float]
        stated = {"bound": bounds, "unit": units, "target_unit": target_unit}
        _require_ball(ball, "target_unit / unit", stated)
    else:
        _require_ball(ball, "1" if task.is_linear else "unit", {"bound": bounds, "unit": units})
    return Lengths(unit=units, target_unit=target_unit, centre=centre, answer=answer, ball=ball)


def lengths_of_range(limits: PublicRange) -> Lengths:
    """Return the lengths that a public range of the records fixes."""
    half = limits.half
    radius = math.sqrt(limits.d)
    return Lengths(unit=half, target_unit=1.0, centre=limits.centre, answer=half, ball=radius)


def _method_of_range(shape: RecordShape, statements: Statements) -> str:
    """Return the method for a public range; raise `InvalidInput` if a statement does not fit it."""
    condition = "left out for users: release each user's mean as a record, or state bound and unit"
    require(shape.items is None, "lower", condition, "a range")
    is_mean = not shape.has_targets and statements.problem in (None, MEAN)
    require(is_mean, "lower", "left out for a loss, which needs a bound", "a range")
    is_pure = statements.rho is None and statements.delta == 0
    require(not is_pure, "delta", "above 0 beside lower and upper: their noise is Gaussian", 0)
    for name in ("bound", "unit", "target_unit"):
        value = getattr(statements, name)
        require(value is None, name, "left out beside lower and upper", value)
    centre = real_numbers("centre", statements.centre)
    require(not centre.any(), "centre", "left out beside lower and upper", centre.tolist())
    require(statements.p == 2, "p", "2, as by default, beside lower and upper", statements.p)
    slug = SimpleClipping.card.slug
    require(statements.method in (None, slug), "method", f"{slug} with a range", statements.method)
    return slug


def checked_share_in_common(task: ReleaseTask, shape: RecordShape, alike: float | None) -> float:
    """Return the share of the variance that the records of a user may have in common.

    It is 1 for the mean of users of whom nothing is stated: their records may hang together in any
    way. What is known of losses is for records that are independent.
    """
    has_users = shape.items is not None
    if alike is None:
        return 1.0 if has_users and task.is_mean else 0.0
    require(has_users and task.is_mean, "alike", "left out but for the mean of users", alike)
    require(is_real(alike) and 0 <= alike <= 1, "alike", "a number from 0 to 1", alike)
    return float(alike)


def _checked_target_unit(task: ReleaseTask, target_unit: float | None) -> float:
    """Return the unit of the targets, by default 1; raise an error if it has to be given."""
    if target_unit is None:
        name = problem_card(task.problem).name
        condition = f"given for {name}, whose steps do not grow with the targets"
        require(not task.needs_target_unit, "target_unit", condition, None)
        return 1.0
    is_number = isinstance(target_unit, int | float | np.number)
    is_positive = is_number and 0 < target_unit < math.inf
    require(is_positive, "target_unit", "a finite number above 0", target_unit)
    return target_unit


def _answer_unit(task: ReleaseTask, units: Vector, target_unit: float) -> Vector:
    """Return the unit of the released parameter, by which the method's answer is multiplied.

    The method sees records, features and targets divided by their units. A point among records has
    their unit, a coefficient of a linear model the unit of the targets over that of its feature,
    and the direction that minimises a linear loss none.
    """
    if task.is_model:
        is_number = not task.has_labels
        require(target_unit == 1 or is_number, "target_unit", "1 for labels", target_unit)
        return np.asarray(target_unit / units)
    require(target_unit == 1, "target_unit", "1 without targets", target_unit)
    return np.ones(()) if task.is_linear else units


def _ball_radius(bounds: Vector, units: Vector, d: int) -> float:
    """Return the radius, in units, of the l2 ball that contains all answers within the bounds.

    If the bound is one number, only the units of the first d coefficients count: an intercept is
    allowed as much room, in units, as the coefficients.
    """
    if bounds.ndim:
        return float(np.linalg.norm(bounds / units))
    return float(bounds / np.atleast_1d(units)[:d].min())


def _require_ball(ball: float, unit_words: str, stated: Mapping[str, Vector | float]) -> None:
    """Raise `InvalidInput` if the ball of the answers is too small or too large for a scenario.

    `ball` is its radius in units, `unit_words` the unit in terms of the arguments, and `stated` the
    arguments to quote.
    """
    span = TABLE["diameter"].span("diameter", None, LIBRARY)
    assert span is not None
    low, high = span[0] / 2, span[1] / 2
    if not low <= ball <= high:
        values = ", ".join(f"{name}={np.asarray(v).tolist()}" for name, v in stated.items())
        raise InvalidInput(
            f"bound must be at least {low:g} and at most {high:g} times {unit_words}, "
            f"got {ball:g} times: {values}."
        )


def _describe_target(problem: str) -> str:
    """Return the error message for a target that is given with a problem that takes none."""
    return (
        f"problem must be one that takes a target ({', '.join(LINEAR_MODELS)}), or be given "
        f"without a target, got problem={problem} with a target."
    )


def _describe_missing_target(problem: str) -> str:
    """Return the error message for a problem that takes a target and was given none."""
    without_target = ", ".join(slug for slug in PROBLEM_SLUGS if slug not in LINEAR_MODELS)
    return (
        f"records must be a pair of features and targets for the problem {problem} (--target "
        f"names the column), got no target; without one the problem is one of {without_target}."
    )
