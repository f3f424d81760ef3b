"""What the trials of a study say at each point: the mean error, its interval, and its price."""

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
    """The trials of one method at one point."""

    method: str  # slug
    x: float | None  # value on the axis
    trials: int  # 0 where the method refuses to run
    mean: float  # NaN where it refuses
    standard_error: float  # the standard error of the mean; NaN with a single trial
    # the quantiles of the trials at 10 % and 90 %
    low: float
    high: float
    # over the `reference_of` the table in the same trials; None without one, and of that one
    price: Ratio | None
    seconds: float  # the median of the releases
    refusal: str = ""  # why the method cannot run
    exact: bool = False  # whether the mean is the expected error, and no average

    @property
    def half(self) -> float:
        """Half of Student's 95 % interval of the mean; 0 where one trial has no spread."""
        if self.trials < 2 or math.isnan(self.standard_error):
            return 0.0
        return self.standard_error * float(stdtrit(self.trials - 1, (1 + LEVEL) / 2))


Table = Mapping[tuple[str, float | None], Measurement]


def measured(outcomes: Iterable[Outcome]) -> Table:
    """Return what was measured, by method and point, in the order of the first cells.

    Neither the order of the trials nor that of the methods changes a number.
    """
    groups: dict[tuple[str, float | None], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.method, outcome.x), []).append(outcome)
    for group in groups.values():
        group.sort(key=attrgetter("trial"))
    by_point: dict[float | None, dict[str, dict[int, float]]] = {}
    for (method, x), group in groups.items():
        by_point.setdefault(x, {})[method] = {o.trial: o.error for o in group}
    reference = reference_method(m for (m, _), group in groups.items() if _ran(group))
    paid = {x: prices(errors, reference) for x, errors in by_point.items()}
    return {at: _measurement(group, paid[at[1]].get(at[0])) for at, group in groups.items()}


def reference_of(table: Table) -> str:
    """Return the method that all prices of a table are over; empty where none without privacy ran.

    One for all points: a curve of prices has one denominator.
    """
    return reference_method(m for (m, _), row in table.items() if row.trials)


def _ran(group: Iterable[Outcome]) -> bool:
    return not any(math.isnan(o.error) for o in group)


def _measurement(group: list[Outcome], price: Ratio | None) -> Measurement:
    first = group[0]
    errors = np.array([o.error for o in group])
    refusal = max(o.not_applicable or "" for o in group)  # one trial that failed
    done = not np.isnan(errors).any()
    spread = float(np.std(errors, ddof=1)) if done and len(errors) > 1 else math.nan
    low, high = np.quantile(errors, (0.1, 0.9)) if done else (math.nan, math.nan)
    return Measurement(
        method=first.method,
        x=first.x,
        trials=len(group) if done else 0,
        mean=float(errors.mean()) if done else math.nan,
        standard_error=spread / math.sqrt(len(errors)),
        low=float(low),
        high=float(high),
        price=price,
        seconds=float(np.median([o.seconds for o in group])),
        refusal=refusal,
    )
