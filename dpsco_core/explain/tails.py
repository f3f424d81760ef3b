"""The tail of one's own numbers: Hill's estimate of the tail index, and the scenario that matches.

The estimate looks at the numbers without any noise: it is not private.
"""

import csv
import io
import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require

FEWEST = 50
FARTHEST = 1.5  # times the root of n: how many numbers are taken as the tail
LIGHT = 20.0  # a tail index that no sample of this size tells from a light tail
ONE_SIDED = 0.9  # of the tail on one side


@dataclass(frozen=True, kw_only=True)
class Tail:
    """What n numbers say of their tail."""

    count: int  # the numbers
    used: int  # how many of the farthest the estimate rests on
    index: float  # Hill's estimate of the tail index: moments of a lower order exist
    # its 95 % interval, index (1 +- 1.96 / sqrt(used)), for exact power tails
    low: float
    high: float
    mean: float
    median: float
    one_sided: bool  # whether the tail is on one side of the median

    @property
    def law(self) -> str:
        """The slug of the distribution of the catalogue that is most like them."""
        if self.low > LIGHT:
            return "gaussian"
        return "skewed-pareto" if self.one_sided else "student-t"

    def order(self, offered: tuple[float, ...], margin: float) -> float:
        """Return the largest order of `offered` whose moment exists with `margin` to spare.

        The least offered where none does: bounds on that moment then say nothing of such data.
        """
        fitting = [p for p in sorted(offered) if p + margin <= self.index]
        return fitting[-1] if fitting else min(offered)


def read_numbers(text: str) -> Vector:
    """Return the numbers of the first column of a CSV that holds any.

    Raises `InvalidInput` if no column has at least `FEWEST` finite numbers, or fewer than `FEWEST`
    differ.
    """
    columns: dict[int, list[float]] = {}
    for row in csv.reader(io.StringIO(text)):
        for i, cell in enumerate(row):
            value = _number(cell)
            if math.isfinite(value):
                columns.setdefault(i, []).append(value)
    best = next((c for _, c in sorted(columns.items()) if len(c) >= FEWEST), [])
    most = max((len(c) for c in columns.values()), default=0)
    require(len(best) >= FEWEST, "numbers", f"at least {FEWEST} in one column", most)
    differing = len(set(best))
    require(differing >= FEWEST, "numbers", f"at least {FEWEST} different ones", differing)
    return np.array(best)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def tail(values: Vector) -> Tail:
    r"""Return Hill's estimate for the distances from the median, or from 0 if none is negative.

    With the distances in falling order :math:`D_1 \ge D_2 \ge \dots` and k of them,
    :math:`\hat\alpha^{-1} = \frac1k \sum_{i \le k} \ln(D_i / D_{k+1})`; k is
    :math:`1.5 \sqrt n` (Hill 1975): few enough that only the tail counts.

    Examples
    --------
    >>> powers = (np.arange(1, 100_001) / 100_000.5) ** (-1 / 3)  # quantiles of index 3
    >>> round(tail(np.concatenate([powers, -powers])).index, 1)
    3.0
    """
    n = len(values)
    median = float(np.median(values))
    centre = median if np.min(values) < 0 else 0.0
    away = values - centre
    used = int(FARTHEST * math.sqrt(n))
    order = np.argsort(-np.abs(away), kind="stable")[: used + 1]
    distances = np.abs(away[order])
    require(distances[-1] > 0, "numbers", "different from their median for more than a few", 0)
    index = 1 / max(float(np.mean(np.log(distances[:-1] / distances[-1]))), 1 / (100 * LIGHT))
    error = 1.96 / math.sqrt(used)
    above = float(np.mean(away[order[:-1]] > 0))
    return Tail(
        count=n,
        used=used,
        index=index,
        low=index * (1 - error),
        high=index * (1 + error),
        mean=float(np.mean(values)),
        median=median,
        one_sided=above > ONE_SIDED or above < 1 - ONE_SIDED,
    )


def central_moment(values: Vector, order: float) -> float:
    r"""Return :math:`(\frac1n\sum|x_i - \bar x|^p)^{1/p}`: the tool's unit in the data's units."""
    away = np.abs(values - np.mean(values))
    top = float(np.max(away))
    return float(top * np.mean((away / top) ** order) ** (1 / order))
