"""How often the 95 % intervals of a study covered the mean, with the uncertainty of that share."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import betainccinv, betaincinv

from dpsco_core.results.intervals import intervals
from dpsco_core.runs.study import Outcome, data_point
from dpsco_core.scenario import Scenario

NOMINAL = 0.95  # This coverage is proven for every law of the class.
LEVEL = 0.95  # The interval for the coverage has this confidence.


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The number of trials of one method, and of those whose interval contained the mean."""

    method: str
    trials: int  # the number of runs with an interval, at least 1
    covering_trials: int

    @property
    def share(self) -> float:
        """The observed coverage, in [0, 1]."""
        return self.covering_trials / self.trials

    @property
    def low(self) -> float:
        """The lower end of Clopper and Pearson's 95 % interval for the coverage.

        Examples
        --------
        >>> round(Coverage(method="mean.clipped", trials=20, covering_trials=20).low, 4)
        0.8316
        """
        if self.covering_trials == 0:
            return 0.0
        return float(
            betaincinv(
                self.covering_trials, self.trials - self.covering_trials + 1, (1 - LEVEL) / 2
            )
        )

    @property
    def high(self) -> float:
        """The upper end of Clopper and Pearson's 95 % interval for the coverage."""
        if self.covering_trials == self.trials:
            return 1.0
        return float(
            betainccinv(
                self.covering_trials + 1, self.trials - self.covering_trials, (1 - LEVEL) / 2
            )
        )


def coverages(scenario: Scenario, outcomes: Iterable[Outcome]) -> tuple[Coverage, ...]:
    """Return the coverage of every method with intervals, over all points of a study together.

    Points that differ only in the budget share their data, so that their runs repeat one
    observation: only the last of such points counts.
    """
    points = {x: data_point(point) for x, point in scenario.points()}
    last_point = {data: x for x, data in points.items()}
    counts: dict[str, tuple[int, int]] = {}
    for (method, x), ball in intervals(scenario, outcomes).items():
        if ball is not None and ball.trials and last_point[points[x]] == x:
            trials, covering = counts.get(method, (0, 0))
            counts[method] = trials + ball.trials, covering + ball.covering_trials
    return tuple(
        Coverage(method=method, trials=trials, covering_trials=covering)
        for method, (trials, covering) in counts.items()
    )


def axis_start(rows: Iterable[Coverage], step: float = 0.1, largest_start: float = 0.8) -> float:
    """Return where an axis of coverages starts: a multiple of `step` below all intervals.

    It is at most `largest_start`.

    Examples
    --------
    >>> axis_start([Coverage(method="mean.clipped", trials=5, covering_trials=5)])
    0.4
    """
    lowest_end = min((row.low for row in rows), default=1.0)
    return min(largest_start, round(step * math.floor(lowest_end / step), 10))
