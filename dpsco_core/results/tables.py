"""Outcomes as tidy frames: one row a (method, x, trial), and their summary."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import scipy

from dpsco_core.catalogue import method_card
from dpsco_core.results.price import Ratio, errors_by_method, prices
from dpsco_core.runs.study import Outcome

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
PRICE = ("price", "price_low", "price_high")
SUMMARY_COLUMNS = [
    *("method", "name", "x", "trials"),
    *(*MEASURES, *PRICE, "seconds", "not_applicable"),
]
NO_PRICE = Ratio(value=math.nan, low=math.nan, high=math.nan)


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
    """Return one row a (method, x): mean, median, standard error, quantiles, price, seconds.

    The order of the rows is that of their first cells; the numbers do not depend on the order of
    the cells. A method that does not apply has NaN everywhere and its reason. Quantiles are over
    the trials: the spread, not an interval of the median. ``price`` is that of `prices`, with its
    95 % interval: the mean error over that of the method without privacy in the same trials; NaN
    where there is none.
    """
    import pandas as pd

    rows = []
    ordered = cells.sort_values("trial", kind="stable")
    points = ordered.groupby("x", sort=False, dropna=False)
    paid = {str(x): prices(errors_by_method(here)) for x, here in points}
    for (method, x), group in ordered.groupby(["method", "x"], sort=False, dropna=False):
        errors = group["error"].to_numpy()
        done = len(errors) > 0 and not np.isnan(errors).any()
        q = np.quantile(errors, QUANTILES) if done else [math.nan] * 4
        spread = float(np.std(errors, ddof=1)) if done and len(errors) > 1 else math.nan
        price = paid[str(x)].get(str(method), NO_PRICE)
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
                **dict(zip(PRICE, (price.value, price.low, price.high), strict=True)),
                "seconds": float(group["seconds"].median()),
                "not_applicable": group["not_applicable"].max(),  # one trial that failed
            }
        )
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


def interval_half_width(standard_error: float, trials: int) -> float:
    """Return half of Student's 95 % interval of a mean; 0 where one trial has no spread."""
    if trials < 2 or math.isnan(standard_error):
        return 0.0
    return standard_error * float(scipy.special.stdtrit(trials - 1, 0.975))
