r"""Lower bounds for linear losses from a hidden word V, whatever the words are.

A record is 0, or with probability q the spike :math:`q^{-1/p}V`, where V is one of N words with
entries in [-1, 1]: theory/bounds-everywhere.md, 1. A bound on the excess risk of linear losses is
:math:`rq^aE[\ell_B]`, r the size of the set, B the number of spikes, and :math:`\ell_b` the loss
that remains after b spikes. This module takes the mean over B and finds the best q; `corners`,
`blocks` and `lq_signs` have the words and their losses.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np

from dpsco_core.bounds.instances.binomial import Floats, maximise
from dpsco_core.bounds.instances.groups import Falling, falling, some_counts
from dpsco_core.bounds.instances.level import Level
from dpsco_core.bounds.instances.packing import average_over_spikes
from dpsco_core.bounds.instances.spikes import check_point

# This is the proof technique of a bound. Bounds by the first two hold for rho-zCDP algorithms;
# those by the third hold for (epsilon, delta) algorithms and, at delta = 0, for pure ones.
Argument = Literal["two-sided", "fano", "approx"]


class WordPrior(ABC):
    """A uniform prior over the hidden words of a set of size 1.

    Its classes are frozen, so that an instance can be a key of caches.
    """

    @property
    @abstractmethod
    def weight(self) -> int:
        """The number of entries of a word that are not 0, and the square of its l2 norm."""

    @abstractmethod
    def remaining_loss(self, argument: Argument, level: Level) -> Falling:
        """Return the mean loss that remains, as a function of the number of spikes.

        It is a lower bound for algorithms of a privacy level. Raises `InvalidInput` if the level is
        a rho and the argument needs epsilon and delta, or the other way round.
        """


@lru_cache(maxsize=512)
def cached_remaining_loss(words: WordPrior, argument: Argument, level: Level) -> Falling:
    """Return `words.remaining_loss` of the argument and the privacy level, from a cache."""
    return words.remaining_loss(argument, level)


def tabulated(largest: float, left: Callable[[Floats], Floats]) -> Falling:
    """Return a table, by the number of spikes up to `largest`, of a loss that never rises.

    `left` computes the loss at given numbers; beyond `largest` the table counts it as 0.
    """
    counts = some_counts(largest)
    return falling(counts, np.maximum(left(counts), 0.0))


def words_bound(
    words: WordPrior,
    argument: Argument,
    q: float,  # the spike probability
    n: int,
    moment_order: float,
    level: Level,
) -> float:
    r"""Return the lower bound on the excess risk of linear losses on a set of size 1.

    It is :math:`q^aE[\ell_B]` with :math:`B\sim\mathrm{Bin}(n,q)`, in moment units.
    """
    check_point(q, n, words.weight)
    loss = cached_remaining_loss(words, argument, level)
    value = average_over_spikes(loss, moment_order, 1, n)
    return float(value(np.array([q]), True)[0])


@lru_cache(maxsize=4096)
def best(
    words: WordPrior, argument: Argument, n: int, moment_order: float, level: Level, largest: float
) -> float:
    """Return the spike probability in (0, largest] that maximises `words_bound`."""
    loss = cached_remaining_loss(words, argument, level)
    value = average_over_spikes(loss, moment_order, 1, n)
    low = min(0.03 / n, largest / 50)
    high = min(largest, 4 * (loss.last_count + 1) / n)
    return maximise(lambda q: value(q, False), min(low, high), high)
