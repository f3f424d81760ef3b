"""How often the 95 % intervals of a study held the mean, and how well its runs tell that."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import betainccinv, betaincinv

from dpsco_core.results.intervals import intervals
from dpsco_core.runs.study import Outcome, data_point
from dpsco_core.scenario import Scenario

NOMINAL = 0.95  # what is proven: at least that share, for every law of the class
LEVEL = 0.95  # the confidence in the interval of the observed share


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The runs of one method whose interval held the mean."""

    method: str
    trials: int  # at least 1
    inside: int

    @property
    def share(self) -> float:
        """The observed share, in [0, 1]."""
        return self.inside / self.trials

    @property
    def low(self) -> float:
        """The lower end of Clopper and Pearson's 95 % interval of the chance.

        Examples
        --------
        >>> round(Coverage(method="mean.clipped", trials=20, inside=20).low, 4)  # 0.025 ** (1 / 20)
        0.8316
        """
        if self.inside == 0:
            return 0.0
        return float(betaincinv(self.inside, self.trials - self.inside + 1, (1 - LEVEL) / 2))

    @property
    def high(self) -> float:
        """The upper end."""
        if self.inside == self.trials:
            return 1.0
        return float(betainccinv(self.inside + 1, self.trials - self.inside, (1 - LEVEL) / 2))


def coverages(scenario: Scenario, outcomes: Iterable[Outcome]) -> tuple[Coverage, ...]:
    """Return the coverage of every method with intervals, over all points with data of their own.

    Points of a budget's axis share their data, so that their runs tell one thing several times: of
    such points the last one counts.
    """
    points = {x: data_point(point) for x, point in scenario.points()}
    last = {data: x for x, data in points.items()}
    counts: dict[str, tuple[int, int]] = {}
    for (method, x), ball in intervals(scenario, outcomes).items():
        if ball is not None and ball.trials and last[points[x]] == x:
            trials, inside = counts.get(method, (0, 0))
            counts[method] = trials + ball.trials, inside + ball.inside
    return tuple(
        Coverage(method=method, trials=trials, inside=inside)
        for method, (trials, inside) in counts.items()
    )


def lowest(rows: Iterable[Coverage], step: float = 0.1, most: float = 0.8) -> float:
    """Return where an axis of these shares begins: a multiple of `step` below all, at most `most`.

    Examples
    --------
    >>> lowest([Coverage(method="mean.clipped", trials=5, inside=5)])  # 0.025 ** (1 / 5) = 0.478
    0.4
    """
    least = min((row.low for row in rows), default=1.0)
    return min(most, round(step * math.floor(least / step), 10))
