r"""How steep an error is along an axis, and whether the terms of a rate are as steep.

The slope of a sweep is the least-squares slope of the logarithms of the mean errors at its points.
It is a weighted sum of these logarithms, so that its uncertainty comes from the trials alone, not
from how well a straight line fits, and it exists whether or not the curve is straight.

A rate :math:`O(\sum_j T_j)` hides a constant in front of every term, so it predicts a range of
slopes. For adjacent points :math:`x_i < x_{i+1}` and any constants :math:`a_j \ge 0`, not all 0,
the secant of :math:`\log \sum_j a_j T_j` lies between the smallest and the largest secant of the
terms (a ratio of sums is a mean of the ratios), and the least-squares slope is a mean of the
secants with weights that depend on the points only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import stdtrit

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.catalogue import bound, method_card
from dpsco_core.scenario import Scenario

if TYPE_CHECKING:  # Importing pandas takes a third of a second.
    import pandas as pd

PointErrors = dict[float, dict[int, float]]  # the errors of one method, by x and then by trial
Verdict = Literal[
    "consistent with the rate",
    "consistent with an upper bound",
    "contradicts the rate if it persists",
    "too few points to say",
    "more trials would tell",
    "an error of 0 has no slope",
    "without points of error 0",
]
CONSISTENT: Verdict = "consistent with the rate"
CONSISTENT_UPPER_BOUND: Verdict = "consistent with an upper bound"
CONTRADICTED: Verdict = "contradicts the rate if it persists"
TOO_FEW: Verdict = "too few points to say"
TOO_WIDE: Verdict = "more trials would tell"
ALL_ZERO: Verdict = "an error of 0 has no slope"
SOME_ZERO: Verdict = "without points of error 0"
COLUMNS = [
    "method",
    "name",
    "fitted",
    "low",
    "high",
    "predicted_low",
    "predicted_high",
    "verdict",
    "bound",
    "points",
]
# The axes along which errors may be powers; p and q are exponents themselves.
POWER_AXES = ("n", "d", "m", "epsilon")
LEAST_POINTS = 3
DIGITS = 2  # Slopes are compared as rounded on screen, so that words and numbers agree.
WIDEST = 0.5  # A wider interval cannot tell exponent 1/2 from exponent 1.


@dataclass(frozen=True, kw_only=True)
class FittedSlope:
    """A slope and its 95 % interval over the trials, which is NaN with fewer than two trials."""

    fitted: float  # the slope of log error against log x
    low: float  # the lower end of the interval
    high: float  # the upper end of the interval
    points: int  # the number of points of the fit

    @property
    def has_interval(self) -> bool:
        """Whether the slope has an interval, which takes two trials."""
        return not math.isnan(self.low)


def slopes(scenario: Scenario, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the slope of log error against log axis for every method, and the range of its rate.

    Parameters
    ----------
    scenario : Scenario
        The sweep. A sweep over p or q gives no rows: they are exponents, and the error is not a
        power of them.
    cells : pandas.DataFrame
        The `frame` of its outcomes.

    Returns
    -------
    pandas.DataFrame
        One row per method. ``low`` and ``high`` are the 95 % interval of ``fitted`` over the
        trials; ``predicted_low`` and ``predicted_high`` the range of slopes of the terms of the
        method's rate over the same points, and ``bound`` that rate; ``verdict`` says how they
        compare, or why there is no slope, for example if every error is 0. It is empty if there is
        no rate or the rate is void. A method that never ran has no row.
    """
    import pandas as pd

    points: dict[str, PointErrors] = {}
    columns: Any = zip(cells["method"], cells["x"], cells["trial"], cells["error"], strict=True)
    for method, x, trial, error in columns:
        points.setdefault(str(method), {}).setdefault(float(x), {})[trial] = error
    return pd.DataFrame(slope_rows(scenario, points), columns=COLUMNS)


def slope_rows(scenario: Scenario, errors: Mapping[str, PointErrors]) -> list[dict[str, Any]]:
    """Return the rows of `slopes` from the errors of each method."""
    rows = []
    for method, points in errors.items() if scenario.axis in POWER_AXES else ():
        x, trials, zeros = _method_errors(points)
        if len(x) + zeros == 0:
            continue
        card = method_card(method)
        fit = fit_errors(x, trials)
        low, high = rate_range(scenario, card.rate, x)
        judgement = verdict(fit, low, high) if card.rate else None
        if len(x) == 0:
            judgement = ALL_ZERO
        elif fit.points < LEAST_POINTS:
            judgement = TOO_FEW
        elif judgement is None and zeros:
            judgement = SOME_ZERO
        rows.append(
            {
                "method": method,
                "name": card.name,
                "fitted": fit.fitted,
                "low": fit.low,
                "high": fit.high,
                "predicted_low": low,
                "predicted_high": high,
                "verdict": judgement or "",
                "bound": card.rate,
                "points": len(x),
            }
        )
    return rows


def line_slope(
    x: Vector,  # the points, shape (k,) with k >= 2; positive, not all equal
    y: Vector,  # the values at these points, shape (k,); positive
) -> float:
    """Return the least-squares slope of log y on log x.

    Examples
    --------
    >>> round(line_slope(np.array([1.0, 10.0, 100.0]), np.array([1.0, 0.1, 0.01])), 6)
    -1.0
    """
    return float(_weights(x) @ np.log(y))


def fit_errors(
    x: Vector,
    errors: Matrix,  # the errors: a row for each trial, a column for each x
) -> FittedSlope:
    """Return the slope of log mean error on log x; NaN below `LEAST_POINTS` points."""
    if len(x) < LEAST_POINTS:
        return FittedSlope(fitted=math.nan, low=math.nan, high=math.nan, points=len(x))
    weights = _weights(x)
    value = float(weights @ np.log(errors.mean(axis=0)))
    width = _half_width(weights, errors, 0.05)
    return FittedSlope(fitted=value, low=value - width, high=value + width, points=len(x))


def rate_range(scenario: Scenario, rate: str, x: Vector) -> tuple[float, float]:
    """Return the smallest and the largest slope over `x` that a rate's terms allow.

    The range holds for any constants in front of the terms (see the top of this file), and also for
    the maximum and the root of the sum of squares. Both ends are NaN if there is no rate, or if the
    rate has no value at one of the points.
    """
    void = (math.nan, math.nan)
    if not rate or len(x) < 2:
        return void
    terms_at = [bound(rate).terms(scenario.at(v).setting) for v in x]
    return range_of_terms(
        np.array([[t.get(name, 0.0) for t in terms_at] for name in terms_at[0]]), x
    )


def range_of_terms(
    terms: Matrix,  # the terms: a row for each term, a column for each x
    x: Vector,  # the points in increasing order, all positive
) -> tuple[float, float]:
    """Return the smallest and the largest slope over `x` of a sum of terms with any constants.

    Examples
    --------
    >>> x = np.array([10.0, 100.0])
    >>> [round(end, 6) for end in range_of_terms(np.array([1 / np.sqrt(x), 1 / x]), x)]
    [-1.0, -0.5]
    """
    void = (math.nan, math.nan)
    terms = terms[(terms != 0).any(axis=1)]
    if len(terms) == 0 or not ((terms > 0) & np.isfinite(terms)).all():
        return void
    steps = np.diff(np.log(x))
    secants = np.diff(np.log(terms), axis=1) / steps
    shares = steps * np.cumsum(_weights(x)[::-1])[::-1][1:]
    return float(shares @ secants.min(axis=0)), float(shares @ secants.max(axis=0))


def verdict(
    fit: FittedSlope,
    low: float,  # the smallest slope of `rate_range`
    high: float,  # the largest slope of `rate_range`
) -> Verdict | None:
    """Return how a slope's interval compares with the range of terms; None without a range.

    An upper bound may be loose by a factor that changes along the axis, so a slope below all its
    terms is consistent with it. A slope above all of them contradicts no theorem yet, since a rate
    is asymptotic, but would if it persisted. A wide interval asks for more trials.
    """
    if fit.points < LEAST_POINTS:
        return TOO_FEW
    if not fit.has_interval:
        return TOO_WIDE
    if math.isnan(low):
        return None
    fit_low, fit_high, low, high = (round(v, DIGITS) for v in (fit.low, fit.high, low, high))
    if fit_high < low or fit_low > high:
        return CONTRADICTED if fit_low > high else CONSISTENT_UPPER_BOUND
    return TOO_WIDE if fit.high - fit.low > WIDEST else CONSISTENT


def _method_errors(points: PointErrors) -> tuple[Vector, Matrix, int]:
    """Return a method's points in order, its errors there, and the number of omitted points.

    The errors have one row per trial. Points without an error are left out, and so are trials that
    have not run at every point. The count is of points whose mean error is 0, which has no
    logarithm.
    """
    finite = {
        x: {trial: error for trial, error in trials.items() if not math.isnan(error)}
        for x, trials in sorted(points.items())
    }
    finite = {x: trials for x, trials in finite.items() if trials}
    common = sorted(
        set.intersection(*(set(trials) for trials in finite.values())) if finite else ()
    )
    x = np.array([*finite], dtype=float)
    errors = np.array([[trials[t] for trials in finite.values()] for t in common], dtype=float)
    if len(common) == 0:
        return np.empty(0), np.empty((0, 0)), 0
    means = errors.mean(axis=0)
    return x[means > 0], errors[:, means > 0], int((means == 0).sum())


def _weights(x: Vector) -> Vector:
    """Return the weights of log y in the least-squares slope on log x."""
    centred = np.log(x) - np.log(x).mean()
    weights: Vector = centred / float(centred @ centred)
    return weights


def _half_width(weights: Vector, errors: Matrix, level: float) -> float:
    """Return half of Student's interval of a weighted sum of logarithms of mean errors.

    `level` is the chance of missing. By the delta method on the trials, whose errors at different
    points may share data, the influence of a trial is the weighted sum of its errors over their
    means.
    """
    trials = len(errors)
    if trials < 2:
        return math.nan
    influence = (errors / errors.mean(axis=0)) @ weights
    error = float(np.std(influence, ddof=1)) / math.sqrt(trials)
    return float(stdtrit(trials - 1, 1 - level / 2)) * error
