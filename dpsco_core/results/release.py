"""A private release of the caller's own arrays, in one call.

A plan rests on public numbers only: the number of records and what the caller states of them. The
records themselves are read by the method alone, and what it releases of them goes through the
ledger.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpsco_core.base.arrays import Vector, real_array
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import LIBRARY
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import of_class
from dpsco_core.catalogue import (
    LINEAR_MODELS,
    PROBLEM_SLUGS,
    bounds_for,
    make_method,
    method_card,
    problem_card,
    problem_class,
)
from dpsco_core.data import DenseRows
from dpsco_core.fields import TABLE
from dpsco_core.methods.average import MeanPlan
from dpsco_core.methods.base import Plan, released
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import MeanEstimation, Setting
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.points import PointProblem
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.results.intervals import NOMINAL
from dpsco_core.results.release_notes import (
    bound_note,
    delta_note,
    interval_note,
    radius_notes,
)
from dpsco_core.runs.study import planned
from dpsco_core.scenario import Scenario

MEAN = MeanEstimation.card.slug
WARNING = (
    "A research release: noise in double precision from numpy's generators, not hardened against "
    "floating-point, timing or seed attacks (SECURITY.md). Do not publish statistics of real "
    "people with it."
)
DEFAULT_LOSS = (
    "The loss is that of a logistic regression. To predict a number choose another problem, such "
    "as least-squares or huber."
)
LABELS = "A target above 0 is one label, and every other target is the other."
NO_INTERCEPT = (
    "The model has no intercept: a prediction is 0 where every feature is at its centre. State "
    "public guesses of the features' means with centre, or ask for an intercept: intercept=True, "
    "or --intercept."
)
INTERCEPT = (
    "The intercept is the coefficient of one more feature, which is 1 for every record: gradients "
    "are clipped with its part, and it gets noise as the other coefficients do."
)


@dataclass(frozen=True, kw_only=True)
class ArrayRelease:
    """The release of a method on the caller's own arrays."""

    # Shape (d,): the mean in the unit of the records, or the parameter. A coefficient of a model
    # has the unit of the targets over that of its feature.
    value: Vector
    ledger: Ledger  # the privacy budget spent, release by release
    # The radius of an l2 ball about the value, in the unit of the records, that contains the mean
    # with probability 0.95 over independent records; None if none is proven, or `unit` is not
    # given. If `unit` has an entry for every coordinate, these are the half-lengths of intervals
    # that hold together, shape (d,).
    interval: float | Vector | None
    method: str  # the slug of the method that was run
    # Radii, steps, noise and others. Lengths are multiples of `unit`, like those of the ledger.
    parameters: Mapping[str, float] = field(default_factory=dict)
    # The standard deviation of the noise on every coordinate of a mean, in the unit of the records,
    # shape (d,); None for a loss, and for a mean whose noise is not that of one release.
    noise: Vector | None = None
    # What a model with an intercept predicts where all features are 0, whatever `centre` is: its
    # predictions are `features @ value + intercept`. None without one.
    intercept: float | None = None
    notes: tuple[str, ...] = ()  # sentences that a reader of the result must see
    warning: str = WARNING

    @property
    def spent(self) -> Budget | None:
        """The privacy guarantee of the release, for neighbours that differ in one record."""
        return self.ledger.spent()


def release(
    records: Any,
    *,
    method: str | None = None,
    bound: ArrayLike,
    epsilon: float | None = 1.0,
    delta: float | None = 1e-6,
    rho: float | None = None,
    p: float = 2.0,
    unit: ArrayLike | None = None,
    target_unit: float | None = None,
    centre: ArrayLike = 0.0,
    intercept: bool = False,
    problem: str | None = None,
    rng: np.random.Generator | None = None,
) -> ArrayRelease:
    r"""Release a mean, or the parameter of a loss, from the caller's own records.

    Nothing but the shape and the type of the arrays is read without privacy: state `bound`, `unit`,
    `centre` and `p` from public knowledge. A statement that is false costs accuracy, never privacy;
    an interval then says nothing. A record that is not finite counts as 0: an error would tell that
    it is there. The records are read at once and not changed.

    `notes` say, from what is public or released, where a statement does not fit: a delta above
    1/n, an answer on the bound, noise larger than the bound, a chosen radius that is tiny or the
    largest one. It is not checked whether a radius that was fixed without the records cuts nearly
    all of them, or none.

    Parameters
    ----------
    records : array_like or pair of array_like
        Of a mean, or of a loss of points: shape (n,) or (n, d). Of a generalised linear model: a
        pair of features, shape (n, d), and targets, shape (n,). A label is positive if it is above
        0: -1 and 1 will do, and 0 and 1. A pair is a tuple, and a list is the rows. Lists of
        numbers are read as numpy reads them; one with a text or None among them is refused as a
        whole, which tells that such an entry is there.
    method : str, optional
        Slug of a method on records; see ``dpsco catalogue``. By default ``"mean.adaptive"``, and
        ``"sco.clipped"`` for a pair.
    bound : float or array_like
        Of a mean: its distance from `centre` is at most this, in the l2 norm; or an entry for every
        coordinate, shape (d,). Of a loss: the parameter lies in the ball of this radius around 0;
        or, of a generalised linear model, an entry for every coefficient, shape (d,), with
        `intercept` shape (d + 1,), the last one for the prediction at the centre. Where it is one
        number, that prediction is at most `bound` times the largest `unit`. The search is in the
        smallest ball, in units, that contains all of these.
    epsilon, delta, rho : float or None
        The budget: epsilon with delta, or rho of zCDP beside ``epsilon=None, delta=None``.
        Neighbours differ by replacing one record.
    p : float
        The order of the moment: at least 1.1, and at least 2 for a generalised linear model.
    unit : float or array_like, optional
        The p-th root of a bound on the p-th central moment of every coordinate of the records, or
        of the features. By default 1, and then a mean has no interval, since it would rest on a
        statement that nobody made. Too small a number makes steps too long. Of a mean and of a
        generalised linear model it may have an entry for every coordinate, shape (d,): columns of
        different size then get clipping and noise of their size.
    target_unit : float, optional
        Of a regression on numbers: the same for what is left of the targets when the model has
        explained its part. It has to be given for the Huber and the absolute loss, whose gradients
        do not grow with the targets; otherwise it is 1 by default.
    centre : array_like
        A public guess of the mean of the records, or of the features of a model, a number or of
        shape (d,). It is subtracted before anything else: a model without an intercept predicts 0
        at the centre. It is 0 for a loss of points.
    intercept : bool
        Of a generalised linear model: whether it has an intercept. That is the coefficient of a
        feature which is 1, in units, for every record: the method runs in d + 1 dimensions, and
        whatever it clips or shrinks has that feature in it.
    problem : str, optional
        Slug of the problem, by default the first that the method solves; a logistic loss for a
        pair.
    rng : numpy.random.Generator, optional
        Where the noise comes from. By default a generator with a state of the operating system,
        which nobody can repeat.

    Returns
    -------
    ArrayRelease
        Value, ledger, and an interval of a mean if one is proven.

    Raises
    ------
    InvalidInput
        If an array has the wrong shape or type, or a statement is out of range.
    NotApplicable
        If the method cannot run at these sizes, with the nearest setting at which it could.

    Examples
    --------
    >>> x = np.random.default_rng(1).standard_t(3, size=(5000, 2))
    >>> answer = release(x, method="mean.clipped", epsilon=1.0, delta=1e-6, bound=2.0, unit=1.8)
    >>> answer.value.shape, answer.spent, answer.interval > 0
    ((2,), ApproxDP(epsilon=1.0, delta=1e-06), True)
    """
    is_pair = isinstance(records, tuple)
    if method is None:
        method = "sco.clipped" if is_pair else "mean.adaptive"
    card = method_card(method)
    on_records = card.level == "item" and card.privacy != "none"
    require(on_records, "method", "a private one on records", method)
    slug = problem or ("logistic" if is_pair else card.problems[0])
    is_model = slug in LINEAR_MODELS
    if is_pair != is_model:
        raise InvalidInput(_describe_missing_target(slug) if is_model else _describe_target(slug))
    rows, targets = _arrays(records)
    n, d = rows.shape
    guess = _checked_centre(centre, d)
    is_mean = slug == MEAN
    is_flag = isinstance(intercept, bool | np.bool_)
    require(is_flag, "intercept", "True or False", type(intercept).__name__)
    require(is_model or not intercept, "intercept", "False without features", intercept)
    size = d + int(intercept)  # So many coordinates are released.
    has_columns = is_mean or is_model
    has_unit = unit is not None
    units = _checked_lengths("unit", 1.0 if unit is None else unit, d if has_columns else None)
    bounds = _checked_lengths("bound", bound, size if has_columns else None)
    if target_unit is None:
        condition = f"given for {problem_card(slug).name}, whose steps do not grow with the targets"
        require(not _needs_target_unit(slug), "target_unit", condition, None)
        target_unit = 1.0
    is_number = isinstance(target_unit, int | float | np.number)
    is_positive = is_number and 0 < target_unit < math.inf
    require(is_positive, "target_unit", "a finite number above 0", target_unit)
    require(has_columns or not guess.any(), "centre", "0 for a loss of points", guess.tolist())
    is_linear = problem_card(slug).loss_class.curvature == "linear"
    scale = _parameter_scale(slug, units, target_unit)
    if intercept:
        scale = np.append(np.broadcast_to(scale, (d,)), target_unit)
    ball = _ball_radius(bounds, scale, d)  # The radius is in units of the parameter.
    if is_model:
        stated: Mapping[str, Vector | float]
        stated = {"bound": bounds, "unit": units, "target_unit": target_unit}
        _require_ball(ball, "target_unit / unit", stated)
    else:
        _require_ball(ball, "1" if is_linear else "unit", {"bound": bounds, "unit": units})
    point = Scenario(
        problem=slug,
        methods=(method,),
        n=n,
        d=size,
        p=p,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        diameter=2 * ball,
        # A linear loss without a direction has no minimiser.
        offset=min(1.0, ball) if is_linear else 0.0,
        axis=None,
        grid=(),
        trials=1,
        tuning="practical",
    ).validate(sampling=False)
    setting = _setting_as_stated(point)
    plan = planned(point, method, setting)
    with np.errstate(over="ignore", invalid="ignore"):  # Gradients that are not finite count as 0.
        columns = (rows - guess) / units
        scaled = DenseRows(np.column_stack([columns, np.ones(n)]) if intercept else columns)
        targets = None if targets is None else targets / target_unit
    sample = scaled if is_mean else _problem_sample(point, scaled, targets)
    ledger = Ledger(point.budget)
    chosen = make_method(method, point.calibration, point.tuning)
    result = released(chosen, sample, plan, ledger, rng or np.random.default_rng())
    proven_radius = _proven_radius(point, setting, method, plan) if is_mean else None
    radius = proven_radius if has_unit else None
    notes = list(delta_note(delta if rho is None else None, n))
    if is_model:
        notes += [DEFAULT_LOSS] * (problem is None) + [LABELS] * _has_labels(slug)
        notes.append(INTERCEPT if intercept else NO_INTERCEPT)
    if not is_linear:
        notes += bound_note(result.value, point.diameter / 2)
    noise = None
    if is_mean:
        # Notes give lengths in the unit of the records if all coordinates share it.
        shared = float(units) if units.ndim == 0 else None
        notes += radius_notes(card, result.diagnostics, ledger, result.value, ball, shared)
        methods = () if proven_radius is not None else _methods_with_interval(point, setting)
        notes += interval_note(proven_radius, methods, has_unit=has_unit)
        noise = _answer_noise(ledger, plan)
    value = scale * result.value + (0.0 if is_model else guess)
    return ArrayRelease(
        value=value[:d],
        ledger=ledger,
        interval=None
        if radius is None
        else (radius * units if units.ndim else radius * float(units)),
        method=method,
        parameters=dict(result.diagnostics),
        noise=None if noise is None else noise * np.broadcast_to(units, (d,)),
        intercept=float(value[d] - value[:d] @ guess) if intercept else None,
        notes=(*result.notes, *notes),
    )


def _needs_target_unit(problem: str) -> bool:
    """Whether a problem has numbers as targets, and gradients that do not grow with them.

    The scale of the targets must then be stated.
    """
    family = problem_class(problem)
    if not issubclass(family, LinearModelProblem):
        return False
    return family.link.labels is None and family.link.slope_bound < math.inf


def _has_labels(problem: str) -> bool:
    """Whether a problem is a linear model whose targets are two labels, not numbers."""
    family = problem_class(problem)
    return issubclass(family, LinearModelProblem) and family.link.labels is not None


def _setting_as_stated(point: Scenario) -> Setting:
    """Return the setting that certifies only what the caller stated about the records.

    The catalogue's laws certify more, as uncorrelated features of a linear model and noise of one
    law. The second moments of any features have a largest eigenvalue of at most their trace, which
    is d, so that the risk is at most d times as curved as the loss, and not strongly convex. If the
    loss has kinks, the curvature of its risk depends on the noise: d times that of the catalogue's
    law is a guess, which can cost accuracy but no privacy.
    """
    setting = point.setting
    if point.problem == MEAN:
        return of_class(setting)
    constants, model = setting.constants, setting.constants.linear_model
    if model is None:
        return setting
    curvature = model.curvature if math.isfinite(model.curvature) else constants.smoothness
    risk = replace(constants, smoothness=setting.d * curvature, strong_convexity=0.0)
    return replace(setting, constants=risk)


def _parameter_scale(problem: str, units: Vector, target_unit: float) -> Vector:
    """Return the unit of the released parameter, by which the method's answer is multiplied.

    The method sees records, features and targets divided by their units. A point among records has
    their unit, a coefficient of a linear model the unit of the targets over that of its feature,
    and the direction that minimises a linear loss none.
    """
    family = problem_class(problem)
    if issubclass(family, LinearModelProblem):
        is_number = family.link.labels is None
        require(target_unit == 1 or is_number, "target_unit", "1 for labels", target_unit)
        return np.asarray(target_unit / units)
    require(target_unit == 1, "target_unit", "1 without targets", target_unit)
    return np.ones(()) if problem_card(problem).loss_class.curvature == "linear" else units


def _checked_lengths(name: str, values: ArrayLike, size: int | None) -> Vector:
    """Return the argument `name` as positive numbers of shape () or (size,).

    If `size` is None only a single number is allowed. Raises `InvalidInput` for anything else.
    """
    lengths = _real_array(name, values)
    fits = lengths.shape == () or lengths.shape == (size,)
    condition = "a finite number above 0" + f", or {size} of them" * (size is not None)
    is_positive = fits and bool(((lengths > 0) & np.isfinite(lengths)).all())
    require(is_positive, name, condition, values if lengths.ndim == 0 else lengths.tolist())
    return lengths


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


def _answer_noise(ledger: Ledger, plan: Plan) -> float | None:
    """Return the standard deviation of a released mean's noise per coordinate, in units.

    It is None if the answer is not one release with Gaussian or Laplace noise.
    """
    if not (isinstance(plan, MeanPlan) and plan.statistic.is_last_release):
        return None
    entry = ledger.entries[-1]
    factor = {"gaussian": 1.0, "laplace": math.sqrt(2)}.get(entry.mechanism)
    return None if factor is None else factor * entry.noise


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


def _arrays(records: Any) -> tuple[Vector, Vector | None]:
    """Return the rows, shape (n, d), and the targets, shape (n,) or None, of given records.

    `records` are as in `release`: an array, or a pair of features and targets.
    """
    if not isinstance(records, tuple):
        return _real_matrix("records", records), None
    require(len(records) == 2, "records", "features and targets", f"a tuple of {len(records)}")
    features, targets = _real_matrix("features", records[0]), _real_array("targets", records[1])
    condition = f"of shape ({len(features)},), a target for each row of the features"
    require(targets.shape == (len(features),), "targets", condition, targets.shape)
    return features, targets


def _real_array(name: str, values: Any) -> Vector:
    """Return the argument `name` as an array of real numbers; raise `InvalidInput` if it is none.

    Tables and columns of other libraries are accepted. Lists become arrays of the type that numpy
    finds for all their entries.
    """
    # A masked array keeps its mask until it is refused.
    if isinstance(values, np.ndarray) or hasattr(values, "dtype") or hasattr(values, "dtypes"):
        return real_array(name, values if isinstance(values, np.ndarray) else np.asarray(values))
    is_masked = isinstance(values, list | tuple) and any(map(np.ma.isMaskedArray, values))
    require(not is_masked, name, "an array without a mask", "a list of masked ones")
    condition = "an array of numbers, or a list of them, or lists of equal length"
    try:
        array = np.asarray(values)
    except ValueError:  # The lists have different lengths.
        raise InvalidInput(f"{name} must be {condition}, got lists of different lengths.") from None
    entries = {"U": "text", "S": "text", "c": "complex numbers"}.get(array.dtype.kind, "no numbers")
    if array.dtype.kind not in "biuf":
        raise InvalidInput(
            f"{name} must be {condition}, got {entries} in a {type(values).__name__}."
        )
    return real_array(name, array)


def _real_matrix(name: str, values: Any) -> Vector:
    """Return the argument `name` as an array of shape (n, d); a vector is one column.

    Raises `InvalidInput` if it is not real or is empty.
    """
    array = _real_array(name, values)
    require(array.ndim in (1, 2), name, "of shape (n,) or (n, d)", array.shape)
    rows = array[:, None] if array.ndim == 1 else array
    require(rows.size > 0, name, "of at least one row and one column", array.shape)
    return rows


def _checked_centre(centre: ArrayLike, d: int) -> Vector:
    """Return the stated centre as d finite numbers; raise `InvalidInput` for anything else."""
    guess = _real_array("centre", centre)
    is_fitting = guess.shape in ((), (d,)) and bool(np.isfinite(guess).all())
    require(is_fitting, "centre", f"a finite number, or {d} of them", guess.tolist())
    return np.broadcast_to(guess, (d,))


def _problem_sample(point: Scenario, rows: DenseRows, targets: Vector | None) -> Any:
    """Return the sample of a loss for a method: records with a point's loss and constraint set."""
    problem = point.instance.problem
    if isinstance(problem, LinearModelProblem):
        assert targets is not None
        return LinearSample(rows, problem.link.encoded(targets), problem.link, problem.constraint)
    assert isinstance(problem, PointProblem)
    return PointSample(rows, problem.loss, problem.constraint)


def _interval_bounds(point: Scenario) -> list[Bound]:
    """Return the bounds on runs that hold with probability 0.95, for the problem of a point."""
    rows = bounds_for(point.problem, point.level)
    return [b for b in rows if (b.card.guarantee, b.parameters) == (NOMINAL, "run")]


def _methods_with_interval(point: Scenario, setting: Setting) -> tuple[str, ...]:
    """Return the slugs of the methods that have a proven interval at a point."""
    rows = _interval_bounds(point)
    return tuple(dict.fromkeys(b.card.method for b in rows if not b.failures(setting)))


def _proven_radius(point: Scenario, setting: Setting, method: str, plan: Plan) -> float | None:
    """Return the least proven radius of an interval for this run; None if none is proven."""
    rows = [b for b in _interval_bounds(point) if b.card.method == method]
    values = [b.value(setting, plan) for b in rows if not b.failures(setting)]
    return smallest_or([v for v in values if v > 0], lambda v: v, None)
