r"""Spikes with words: what bounds over few words share, whatever the words are.

A record is 0, or with probability q the spike :math:`q^{-1/p}V`, where V is one of N words with
entries in [-1, 1]: theory/bounds-everywhere.md, 1. A bound on the excess risk of linear losses is
:math:`rq^aE[\ell_B]`, r the size of the set, and :math:`\ell_b` what is left of the loss after b
spikes. Here are the mean over B and the best q; `corners`, `blocks` and `lq_signs` are the words.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np

from dpsco_core.bounds.instances.binomial import Floats, maximise
from dpsco_core.bounds.instances.groups import Falling, falling, some_counts
from dpsco_core.bounds.instances.level import Level
from dpsco_core.bounds.instances.packing import averaged
from dpsco_core.bounds.instances.spikes import check_point

# The proof technique behind a bound. Bounds by the first two hold for rho-zCDP algorithms; those by
# the third hold for (epsilon, delta) algorithms and, at delta = 0, for pure ones.
Argument = Literal["two-sided", "fano", "approx"]


class WordPrior(ABC):
    """A prior of words on a set of size 1; it is frozen, so that it can be a key of caches."""

    @property
    @abstractmethod
    def weight(self) -> int:
        """The number of entries of a word that are not 0, and the square of its l2 norm."""

    @abstractmethod
    def left(self, argument: Argument, level: Level) -> Falling:
        """Return the loss that remains at b spikes, for algorithms of a privacy level.

        Raises `InvalidInput` if the level is not one of the algorithms that the argument binds.
        """


@lru_cache(maxsize=512)
def left_after(words: WordPrior, argument: Argument, level: Level) -> Falling:
    """Return the loss that remains at b spikes; the result is cached."""
    return words.left(argument, level)


def tabulated(largest: float, left: Callable[[Floats], Floats]) -> Falling:
    """Return a function of b up to `largest` that never rises, beyond which it counts as 0."""
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
    r"""Return the bound at q on a set of size 1.

    It is :math:`q^aE[\ell_B]` with :math:`B\sim\mathrm{Bin}(n,q)`.
    """
    check_point(q, n, words.weight)
    loss = left_after(words, argument, level)
    value = averaged(loss, moment_order, 1, n)
    return float(value(np.array([q]), True)[0])


@lru_cache(maxsize=4096)
def best(
    words: WordPrior, argument: Argument, n: int, moment_order: float, level: Level, largest: float
) -> float:
    """Return the q in (0, largest] that maximises `words_bound`."""
    loss = left_after(words, argument, level)
    value = averaged(loss, moment_order, 1, n)
    low = min(0.03 / n, largest / 50)
    high = min(largest, 4 * (loss.last_count + 1) / n)
    return maximise(lambda q: value(q, False), min(low, high), high)
