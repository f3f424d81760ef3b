"""The measured errors of methods over m, the number of items per user.

They run on records of one law over a grid of m, on a quadratic loss of Gaussian records, whose
users' means have an exact law, so that a million items per user cost no more than one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.errors import require
from dpsco_core.problems.samples.users import items_fit
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

FILTERED, PLAIN = "user.accelerated", "user.clipped-means"
# The law of the records is the same at every m, whereas a hard instance depends on m.
LAW, OFFSET = "gaussian", 0.1
LADDER = (1, 10, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)
# All items are drawn if they fit in memory; above this many elements that takes seconds.
QUICK_ELEMENTS = 1_000_000


def quick_items(n: int, d: int) -> tuple[int, ...]:
    """Return the m at which a cell takes little time: few items, or users' means alone.

    Examples
    --------
    >>> quick_items(10_000, 10)
    (1, 10, 500, 1000, 2000, 5000, 10000, 100000, 1000000)
    """
    return tuple(m for m in LADDER if n * m * d <= QUICK_ELEMENTS or not items_fit(n, m, d))


def crossing_scenario(
    *,
    n: int = 10_000,
    d: int = 10,
    p: float = 3.0,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    trials: int = 10,
    seed: int = 0,
    methods: tuple[str, ...] = (FILTERED, PLAIN),
) -> Scenario:
    """Return the study: the squared distance to Gaussian data, over m, with `methods`.

    `p`: the moment that the methods are told, and that scales a coordinate of the records.
    """
    return Scenario(
        problem="quadratic",
        distribution=LAW,
        offset=OFFSET,
        methods=methods,
        n=n,
        d=d,
        p=p,
        epsilon=epsilon,
        delta=delta,
        trials=trials,
        seed=seed,
        axis="m",
        grid=tuple(float(m) for m in quick_items(n, d)),
    ).validate()


@dataclass(frozen=True, eq=False, kw_only=True)
class Errors:
    """The errors of one method, by m and trial."""

    method: str
    items: NDArray[np.float64]  # the increasing numbers m of items, shape (k,)
    # the excess population risks, shape (k, trials); NaN where the method cannot run
    risks: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over the trials, shape (k,)."""
        return np.asarray(self.risks.mean(axis=1))

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """The standard error of the mean, shape (k,); NaN for a single trial."""
        count = self.risks.shape[1]
        if count < 2:
            return np.full(len(self.items), np.nan)
        return np.asarray(self.risks.std(axis=1, ddof=1) / math.sqrt(count))

    @property
    def distance(self) -> NDArray[np.float64]:
        r"""The root mean square distance from the minimiser, shape (k,).

        The excess risk of :math:`\frac12E\|w-z\|^2` is half the squared distance.
        """
        return np.sqrt(2 * self.mean)


def errors_of(outcomes: Sequence[Outcome], method: str) -> Errors:
    """Return the errors of one method; every (m, trial) must be there once.

    Raises `InvalidInput` if some are missing.
    """
    own_errors = {(float(o.x or 1), o.trial): o.error for o in outcomes if o.method == method}
    items = sorted({m for m, _ in own_errors})
    trials = sorted({t for _, t in own_errors})
    whole = len(own_errors) == len(items) * len(trials) > 0
    require(whole, "outcomes", f"those of every m and trial of {method}", f"{len(own_errors)}")
    return Errors(
        method=method,
        items=np.array(items),
        risks=np.array([[own_errors[m, t] for t in trials] for m in items]),
    )
