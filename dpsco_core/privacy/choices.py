r"""What exponential mechanisms choose: one of some candidates, or the medians of columns.

Noise is drawn when a `Ledger` has recorded the choice (`Ledger.select`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.checks import check_count, check_positive, check_release
from dpsco_core.privacy.entries import Entry, exponential_entry
from dpsco_core.privacy.mechanisms import exponential_choice, uniform_place

Integers = NDArray[np.int64]
Chosen = TypeVar("Chosen", covariant=True)


class Selection(Protocol[Chosen]):
    """What `Ledger.select` releases."""

    def entry(self, label: str) -> Entry:
        """Return what a ledger records; raises `InvalidInput` for what cannot be chosen from."""
        ...

    def draw(self, rng: np.random.Generator) -> Chosen:
        """Return the choice."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class ExponentialChoice:
    r"""One candidate, j with probability :math:`\propto e^{b_j + \varepsilon s_j/(2\Delta)}`."""

    scores: Vector  # shape (candidates,): the exact scores s
    sensitivity: float  # largest change of any one of them between neighbours
    epsilon: float  # the choice is epsilon-DP, and :math:`\varepsilon^2/8`-zCDP
    # shape (candidates,): b, the logarithm of a base measure, which must not depend on the data
    log_base: Vector | None = None

    def entry(self, label: str) -> Entry:
        check_positive("sensitivity", self.sensitivity)
        check_positive("epsilon", self.epsilon)
        entry = exponential_entry(label, self.sensitivity, self.epsilon, 1)
        check_release(self.scores, entry.noise)
        if self.log_base is not None:
            check_release(self.log_base, entry.noise)
            same = self.log_base.shape == self.scores.shape
            require(same, "log_base", f"of shape {self.scores.shape}", self.log_base.shape)
        return entry

    def draw(self, rng: np.random.Generator) -> int:
        """Return the place of the candidate."""
        weights = (self.scores - self.scores.max()) * (self.epsilon / (2 * self.sensitivity))
        return exponential_choice(
            weights if self.log_base is None else weights + self.log_base, rng
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class GridMedians:
    r"""The medians of columns of integers over a public grid of any size.

    A candidate g of the grid has the score
    :math:`-\max\{0, \max(\#\{x<g\}, \#\{x>g\}) - n/2\}`: replacing one number moves each count by
    at most 1, so that its sensitivity is 1. The score is the same on every gap between two numbers
    that occur: candidates are drawn by groups (the numbers, and the gaps with as many candidates as
    they hold), then uniformly inside a group. The groups depend on the data; the law of what is
    drawn does not depend on the grouping (theory/adaptive-methods.md, 1.1).
    """

    columns: Iterable[Integers]  # shape (n,): all of the same records; read once
    size: int  # how many there are
    most: int  # the grid is -most to most; numbers beyond count as its ends
    epsilon: float  # epsilon of each median

    def entry(self, label: str) -> Entry:
        check_positive("epsilon", self.epsilon)
        check_count("size", self.size)
        return exponential_entry(label, 1.0, self.epsilon, self.size)

    def draw(self, rng: np.random.Generator) -> Integers:
        """Return a median of each column, shape (size,)."""
        chosen = np.zeros(self.size, dtype=np.int64)
        for i, column in enumerate(self.columns):  # one too many is an error, and not released
            cut = np.clip(column, -self.most, self.most)
            starts, widths, scores = median_groups(cut, self.most)
            group = exponential_choice(self.epsilon / 2 * scores + np.log(widths), rng)
            chosen[i] = starts[group] + uniform_place(int(widths[group]), rng)
        return chosen


def median_groups(column: Integers, most: int) -> tuple[Integers, Integers, NDArray[np.float64]]:
    """Return ``(starts, widths, scores)`` of groups of candidates that cover -most to most.

    The integers of `column`, shape (n,), are within -most to most.
    """
    values, counts = np.unique(column, return_counts=True)
    upto = np.cumsum(counts)
    n = len(column)
    edges = np.concatenate([[-most - 1], values, [most + 1]])
    before = np.concatenate([[0], upto])  # the numbers below every gap
    starts = np.concatenate([values, edges[:-1] + 1])
    widths = np.concatenate([np.ones_like(values), np.diff(edges) - 1])
    below = np.concatenate([upto - counts, before])
    above = np.concatenate([n - upto, n - before])
    scores = -np.maximum(0.0, np.maximum(below, above) - n / 2)
    some = widths > 0
    return starts[some], widths[some], scores[some]
