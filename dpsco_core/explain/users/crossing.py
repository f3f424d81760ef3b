"""The measured crossover in m: from how many items per user on a filtered mean beats a plain one.

Two methods are run on the same data over a grid of m, on a quadratic loss whose hard data have
exact users' means, so that a million items per user cost no more than one.
"""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.errors import require
from dpsco_core.problems.samples.users import fits
from dpsco_core.results.slopes import FittedSlope, fit_errors, line_slope
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

FILTERED, PLAIN = "user.accelerated", "user.clipped-means"
LADDER = (1, 10, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)
# All items are drawn where they fit in memory, which takes seconds above this many elements.
QUICK_ELEMENTS = 1_000_000
RESAMPLES = 1000
COVERAGE = 0.95


def quick_items(n: int, d: int) -> tuple[int, ...]:
    """Return the m at which a cell takes little time: few items, or users' means alone.

    Examples
    --------
    >>> quick_items(10_000, 10)
    (1, 10, 500, 1000, 2000, 5000, 10000, 100000, 1000000)
    """
    return tuple(m for m in LADDER if n * m * d <= QUICK_ELEMENTS or not fits(n, m, d))


def crossing_scenario(
    *,
    n: int = 10_000,
    d: int = 10,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    trials: int = 10,
    seed: int = 0,
    methods: tuple[str, ...] = (FILTERED, PLAIN),
) -> Scenario:
    """Return the study: the squared distance to hypercube data, over m, with `methods`."""
    return Scenario(
        problem="quadratic",
        distribution="hypercube",
        methods=methods,
        n=n,
        d=d,
        epsilon=epsilon,
        delta=delta,
        trials=trials,
        seed=seed,
        axis="m",
        grid=tuple(float(m) for m in quick_items(n, d)),
    ).validate()


def command(scenario: Scenario) -> str:
    """Return the command line that runs `scenario` and prints the same numbers.

    Examples
    --------
    >>> command(crossing_scenario(trials=2))[:60]
    'dpsco run --problem quadratic --distribution hypercube --met'
    """
    query = scenario.to_query()
    query.pop("methods", None)
    words = ["dpsco", "run"]
    for name in ("problem", "distribution"):
        words += [f"--{name}", query.pop(name, getattr(scenario, name))]
    for slug in scenario.methods:
        words += ["--method", slug]
    always = {"n": f"{scenario.n}", "epsilon": f"{scenario.epsilon:g}"}
    for name, text in (always | query).items():
        words += [f"--{name}", text]
    return shlex.join(words)


@dataclass(frozen=True, eq=False, kw_only=True)
class Errors:
    """What one method left, by m and trial."""

    method: str
    items: NDArray[np.float64]  # shape (k,): m, increasing
    # shape (k, trials): excess population risk; NaN where the method cannot run
    risks: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean over the trials, shape (k,)."""
        return np.asarray(self.risks.mean(axis=1))

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Of the mean, shape (k,); NaN for a single trial."""
        count = self.risks.shape[1]
        if count < 2:
            return np.full(len(self.items), np.nan)
        return np.asarray(self.risks.std(axis=1, ddof=1) / math.sqrt(count))

    @property
    def distance(self) -> NDArray[np.float64]:
        r"""Root mean square distance from the minimiser, shape (k,).

        The excess risk of :math:`\frac12E\|w-z\|^2` is half the squared distance.
        """
        return np.sqrt(2 * self.mean)


def errors_of(outcomes: Sequence[Outcome], method: str) -> Errors:
    """Return the errors of one method; every (m, trial) must be there once.

    Raises `InvalidInput` if some are missing.
    """
    mine = {(float(o.x or 1), o.trial): o.error for o in outcomes if o.method == method}
    items = sorted({m for m, _ in mine})
    trials = sorted({t for _, t in mine})
    whole = len(mine) == len(items) * len(trials) > 0
    require(whole, "outcomes", f"those of every m and trial of {method}", f"{len(mine)}")
    return Errors(
        method=method,
        items=np.array(items),
        risks=np.array([[mine[m, t] for t in trials] for m in items]),
    )


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """Where the mean error of one method falls below that of another."""

    # m, between two points of the grid: linear in the logarithms of m and of the errors
    items: float
    # these two points
    low: float
    high: float
    # the middle 95 % of the crossings when the trials are drawn again with replacement; infinite
    # ends where a draw has none
    interval: tuple[float, float]
    # how many further times the order changes along the grid; 0 for a clear crossing
    reversals: int


def crossing(
    # errors of the same trials, over the same grid
    falling: Errors,
    flat: Errors,
    seed: int = 0,  # the seed of the draws of trials for the interval
) -> Crossing | None:
    """Return the last crossing of two mean errors; None if `falling` is not below at last."""
    same = falling.risks.shape == flat.risks.shape and bool((falling.items == flat.items).all())
    require(same, "flat", "over the same m and trials", f"{flat.risks.shape}")
    keep = ~np.isnan(falling.risks + flat.risks).any(axis=1)
    items, first, second = falling.items[keep], falling.risks[keep], flat.risks[keep]
    if len(items) < 2:
        return None
    last = _last_crossing(items, first.mean(axis=1), second.mean(axis=1))
    if last is None:
        return None
    value, at, changes = last
    rng = np.random.default_rng(seed)
    count = first.shape[1]
    draws = []
    for _ in range(RESAMPLES if count > 1 else 0):
        chosen = rng.integers(0, count, size=count).astype(np.intp, copy=False)
        again = _last_crossing(items, first[:, chosen].mean(axis=1), second[:, chosen].mean(axis=1))
        draws.append(math.inf if again is None else again[0])
    tail = (1 - COVERAGE) / 2
    low, high = (math.nan, math.nan)
    if draws:
        low, high = np.quantile(draws, (tail, 1 - tail), method="nearest")
    return Crossing(
        items=value,
        low=float(items[at]),
        high=float(items[at + 1]),
        interval=(float(low), float(high)),
        reversals=changes - 1,
    )


def _last_crossing(
    items: NDArray[np.float64], falling: NDArray[np.float64], flat: NDArray[np.float64]
) -> tuple[float, int, int] | None:
    """Return m, the index of the point before it, and the number of changes of order."""
    ratio = np.log(falling / flat)
    below = ratio < 0
    changes = np.flatnonzero(below[1:] != below[:-1])
    if not below[-1] or len(changes) == 0:
        return None
    at = int(changes[-1])
    share = ratio[at] / (ratio[at] - ratio[at + 1])
    logs = np.log(items)
    value = math.exp(float(logs[at] + share * (logs[at + 1] - logs[at])))
    return value, at, len(changes)


def fitted_slope(errors: Errors, from_items: float = 1.0) -> FittedSlope:
    """Return the slope of log distance against log m over the m of at least `from_items`.

    It is half of that of the mean risk, and so is its 95 % interval over the trials.
    """
    keep = (errors.items >= from_items) & (errors.mean > 0)
    x, points = errors.items[keep], int(keep.sum())
    require(points >= 2, "from_items", "below two points of the grid", from_items)
    value, fit = line_slope(x, errors.distance[keep]), fit_errors(x, errors.risks[keep].T)
    return FittedSlope(fitted=value, low=fit.low / 2, high=fit.high / 2, points=points)
