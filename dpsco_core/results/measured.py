"""Summaries of the trials of each method at each point: mean error, interval and price."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from scipy.special import stdtrit

from dpsco_core.results.price import Ratio, prices, reference_method
from dpsco_core.runs.study import Outcome

LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The summary of all trials of one method at one point."""

    method: str  # the slug of the method
    x: float | None  # the point's value on the axis of the scenario
    trials: int  # the number of trials; 0 if the method refuses to run
    mean: float  # the mean error; NaN if the method refuses to run
    standard_error: float  # the standard error of the mean; NaN with a single trial
    low: float  # the 10 % quantile of the errors over the trials
    high: float  # the 90 % quantile of the errors over the trials
    # The price is relative to the error of the table's `reference_of` in the same trials; it is
    # None for the reference itself, and if there is none.
    price: Ratio | None
    seconds: float  # the median time of a release, in seconds
    refusal: str = ""  # why the method cannot run; empty if it can
    exact: bool = False  # whether the mean is the expected error instead of an average

    @property
    def half(self) -> float:
        """Half of Student's 95 % interval of the mean; 0 if there is only one trial."""
        if self.trials < 2 or math.isnan(self.standard_error):
            return 0.0
        return self.standard_error * float(stdtrit(self.trials - 1, (1 + LEVEL) / 2))


Table = Mapping[tuple[str, float | None], Measurement]


def measured(outcomes: Iterable[Outcome]) -> Table:
    """Return the measurements of outcomes by method and point, in the order of first outcomes.

    The numbers do not depend on the order of the outcomes.
    """
    groups: dict[tuple[str, float | None], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.method, outcome.x), []).append(outcome)
    for group in groups.values():
        group.sort(key=attrgetter("trial"))
    by_point: dict[float | None, dict[str, dict[int, float]]] = {}
    for (method, x), group in groups.items():
        by_point.setdefault(x, {})[method] = {o.trial: o.error for o in group}
    reference = reference_method(m for (m, _), group in groups.items() if _has_run(group))
    price_at = {x: prices(errors, reference) for x, errors in by_point.items()}
    return {at: _measurement(group, price_at[at[1]].get(at[0])) for at, group in groups.items()}


def reference_of(table: Table) -> str:
    """Return the reference method of all prices in a table; empty if none without privacy ran.

    All points share it, so that a curve of prices has one denominator.
    """
    return reference_method(m for (m, _), row in table.items() if row.trials)


def _has_run(group: Iterable[Outcome]) -> bool:
    """Whether every outcome of a group has a measured error, so that the method ran in each."""
    return not any(math.isnan(o.error) for o in group)


def _measurement(group: list[Outcome], price: Ratio | None) -> Measurement:
    """Return the measurement of one method at one point from its outcomes and its price."""
    example = group[0]
    errors = np.array([o.error for o in group])
    # A single failed trial is enough for a refusal.
    refusal = max(o.not_applicable or "" for o in group)
    is_measured = not np.isnan(errors).any()
    spread = float(np.std(errors, ddof=1)) if is_measured and len(errors) > 1 else math.nan
    low, high = np.quantile(errors, (0.1, 0.9)) if is_measured else (math.nan, math.nan)
    return Measurement(
        method=example.method,
        x=example.x,
        trials=len(group) if is_measured else 0,
        mean=float(errors.mean()) if is_measured else math.nan,
        standard_error=spread / math.sqrt(len(errors)),
        low=float(low),
        high=float(high),
        price=price,
        seconds=float(np.median([o.seconds for o in group])),
        refusal=refusal,
    )
