"""Outcomes as tidy data frames, one row per (method, x, trial), and summaries of these."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from dpsco_core.catalogue import method_card
from dpsco_core.results.exact import with_exact_errors
from dpsco_core.results.measured import measured
from dpsco_core.results.price import Ratio
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

if TYPE_CHECKING:  # Importing pandas takes a third of a second.
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
    *(*MEASURES, "exact", *PRICE, "price_over", "seconds", "not_applicable"),
]
NO_PRICE = Ratio(value=math.nan, low=math.nan, high=math.nan)


def frame(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """Return a tidy data frame with one row per (method, x, trial).

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


def summary(cells: pd.DataFrame, scenario: Scenario | None = None) -> pd.DataFrame:
    """Return a table: one row per (method, x) with mean, quantiles, price and seconds.

    Rows keep the order of their first cells; the numbers do not depend on the order of the cells.
    A method that does not apply has NaN everywhere and its reason. Quantiles are over the trials:
    they show the spread, not an interval of the median. ``price`` is that of `prices`, with its
    95 % interval: the mean error over that of the method without privacy in the same trials, whose
    slug is ``price_over``; without such a method it is NaN and the slug is empty.

    Given the `scenario` of the cells, mean errors without privacy on two-point data are the
    expected ones: see `with_exact_errors`. There ``exact`` is true and the standard error is 0.
    """
    import pandas as pd

    rows = []
    axis_values = cells["x"].astype(object).where(cells["x"].notna(), None)
    trials: Any = cells.assign(x=axis_values).itertuples(index=False)
    table = measured(trials)
    if scenario is not None:
        table = with_exact_errors(table, scenario)
    ordered = cells.sort_values("trial", kind="stable")
    groups: Any = ordered.groupby(["method", "x"], sort=False, dropna=False)
    for (method, x), group in groups:
        row = table[method, None if math.isnan(x) else x]
        errors = group["error"].to_numpy()
        q = np.quantile(errors, (0.5, *QUANTILES)) if row.trials else [math.nan] * 5
        price = row.price or NO_PRICE
        rows.append(
            {
                "method": method,
                "name": group["name"].iloc[0],
                "x": x,
                "trials": row.trials,
                "mean_error": row.mean,
                "median_error": float(q[0]),
                "standard_error": row.standard_error,
                **{f"q{int(100 * a)}": float(b) for a, b in zip(QUANTILES, q[1:], strict=True)},
                "exact": row.exact,
                **dict(zip(PRICE, (price.value, price.low, price.high), strict=True)),
                "price_over": price.reference,
                "seconds": row.seconds,
                "not_applicable": row.refusal,
            }
        )
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


def interval_half_width(standard_error: float, trials: int) -> float:
    """Return half the length of Student's 95 % interval of a mean; 0 for a single trial."""
    if trials < 2 or math.isnan(standard_error):
        return 0.0
    return standard_error * float(scipy.special.stdtrit(trials - 1, 0.975))
