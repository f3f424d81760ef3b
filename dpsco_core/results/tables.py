"""Outcomes as tidy frames: one row a (method, x, trial), their summary, and fitted slopes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import scipy

from dpsco_core.catalogue import bound, method_card
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

if TYPE_CHECKING:  # a third of a second, which no command waits for without need
    import pandas as pd

QUANTILES = (0.1, 0.25, 0.75, 0.9)
COLUMNS = ("method", "name", "x", "trial", "error", "seconds", "spent", "not_applicable")
MEASURES = [
    "mean_error",
    "median_error",
    "standard_error",
    *(f"q{int(100 * a)}" for a in QUANTILES),
]
SUMMARY_COLUMNS = ["method", "name", "x", "trials", *MEASURES, "seconds", "not_applicable"]
SLOPE_COLUMNS = ["method", "name", "fitted", "low", "high", "predicted", "bound", "points"]
# Axes that an error is a power of. p and q stand in exponents: there is no such slope.
POWER_AXES = ("n", "d", "m", "epsilon")


def frame(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """Return a tidy frame: one row a (method, x, trial).

    Columns: method (slug), name, x, trial, error, seconds, spent (text), not_applicable.
    """
    import pandas as pd

    rows = [
        (
            o.method,
            method_card(o.method).name,
            math.nan if o.x is None else float(o.x),
            o.trial,
            o.error,
            o.seconds,
            "" if o.spent is None else str(o.spent),
            o.not_applicable or "",
        )
        for o in outcomes
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def summary(cells: pd.DataFrame) -> pd.DataFrame:
    """Return one row a (method, x): mean, median, standard error, quantiles, seconds.

    The order of the rows is that of their first cells; the numbers do not depend on the order of
    the cells. A method that does not apply has NaN everywhere and its reason. Quantiles are over
    the trials: the spread, not an interval of the median.
    """
    import pandas as pd

    rows = []
    ordered = cells.sort_values("trial", kind="stable")
    for (method, x), group in ordered.groupby(["method", "x"], sort=False, dropna=False):
        errors = group["error"].to_numpy()
        done = len(errors) > 0 and not np.isnan(errors).any()
        q = np.quantile(errors, QUANTILES) if done else [math.nan] * 4
        spread = float(np.std(errors, ddof=1)) if done and len(errors) > 1 else math.nan
        rows.append(
            {
                "method": method,
                "name": group["name"].iloc[0],
                "x": x,
                "trials": len(group) if done else 0,
                "mean_error": float(np.mean(errors)) if done else math.nan,
                "median_error": float(np.median(errors)) if done else math.nan,
                "standard_error": spread / math.sqrt(len(errors)),
                **{f"q{int(100 * a)}": float(b) for a, b in zip(QUANTILES, q, strict=True)},
                "seconds": float(group["seconds"].median()),
                "not_applicable": group["not_applicable"].iloc[0],
            }
        )
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


SUMMARY_COLUMNS = [
    "method",
    "name",
    "x",
    "trials",
    "mean_error",
    "median_error",
    "standard_error",
    "q10",
    "q25",
    "q75",
    "q90",
    "seconds",
    "not_applicable",
]


def slopes(scenario: Scenario, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the slope of log error against log axis for every method, with a 95 % interval.

    Empty for a sweep of p or q, which are exponents themselves: the error is no power of them.
    The fit is least squares on the means over the trials, one a grid point, and the interval is
    Student's, so it includes what a straight line misses. ``predicted`` is the slope of the
    method's rate over the same points; ``bound`` names it. Methods with fewer than three points are
    left out.
    """
    import pandas as pd

    rows = []
    table = summary(cells)
    if scenario.axis not in POWER_AXES:
        table = table.head(0)
    for method, group in table.groupby("method", sort=False):
        good = group[group["mean_error"] > 0].sort_values("x")
        if len(good) < 3:
            continue
        x = good["x"].to_numpy()
        fitted, low, high = fit_slope(x, good["mean_error"].to_numpy())
        card = method_card(str(method))
        rate = [bound(card.rate).value(scenario.at(v).setting) for v in x] if card.rate else []
        known = len(rate) > 0 and all(0 < r < math.inf for r in rate)
        rows.append(
            {
                "method": method,
                "name": card.name,
                "fitted": fitted,
                "low": low,
                "high": high,
                "predicted": fit_slope(x, np.array(rate))[0] if known else math.nan,
                "bound": card.rate,
                "points": len(good),
            }
        )
    return pd.DataFrame(rows, columns=SLOPE_COLUMNS)


def interval_half_width(standard_error: float, trials: int) -> float:
    """Return half of Student's 95 % interval of a mean; 0 where one trial has no spread."""
    if trials < 2 or math.isnan(standard_error):
        return 0.0
    return standard_error * float(scipy.special.stdtrit(trials - 1, 0.975))


def fit_slope(
    # positive, k >= 3
    x: np.ndarray,
    y: np.ndarray,
) -> tuple[float, float, float]:
    """Return the least-squares slope of log y on log x and its 95 % Student interval.

    Examples
    --------
    >>> slope, low, high = fit_slope(np.array([1.0, 10.0, 100.0]), np.array([1.0, 0.1, 0.01]))
    >>> round(slope, 6)
    -1.0
    """
    a, b = np.log(x), np.log(y)
    centred = a - a.mean()
    total = float(centred @ centred)
    slope = float(centred @ b) / total
    rest = b - b.mean() - slope * centred
    freedom = len(x) - 2
    error = math.sqrt(float(rest @ rest) / freedom / total)
    width = float(scipy.special.stdtrit(freedom, 0.975)) * error
    return slope, slope - width, slope + width
