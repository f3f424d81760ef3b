r"""Linear losses on the l1 ball and on simplices: which corner is the best one?

The words on the l1 ball are :math:`\pm e_j`, N = 2d of them, and on the simplices
:math:`2e_J-1`, N = d. An answer in the set is a mean of corners, so that it may as well be a corner
that is drawn; the loss of a wrong one is known, and privacy limits the chance of the right one:
theory/bounds-everywhere.md, 2.4 (zCDP) and 2.6 (every epsilon and delta).
"""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.bounds.instances.binomial import Floats
from dpsco_core.bounds.instances.distance import chance
from dpsco_core.bounds.instances.groups import Falling, group_delta
from dpsco_core.bounds.instances.level import Level, epsilon_delta, rho_of
from dpsco_core.bounds.instances.two_sided import least_loss_of_words
from dpsco_core.bounds.instances.words import Argument, WordPrior, tabulated

# The shares of answers that name a word are divided into this many intervals.
_SHARES = 64


@dataclass(frozen=True)
class CornerWords(WordPrior):
    """The hidden words of size 1 of the l1 ball, of the simplex or of the solid simplex.

    Examples
    --------
    >>> CornerWords(d=20, signed=True).count, CornerWords(d=20, signed=False).count
    (40, 20)
    """

    d: int  # the dimension, at least 2: a simplex of one dimension is a point
    signed: bool  # whether the set is the l1 ball; otherwise it is a simplex
    solid: bool = False  # whether the simplex has the corner 0

    def __post_init__(self) -> None:
        """Refuse a dimension below 2."""
        require(self.d >= 2, "d", "at least 2", self.d)

    @property
    def count(self) -> int:
        """The number N of words."""
        return 2 * self.d if self.signed else self.d

    @property
    def weight(self) -> int:
        """The number of nonzero entries of a word: 1 for a signed corner, otherwise all d."""
        return 1 if self.signed else self.d

    @property
    def start(self) -> float:
        """The smallest mean loss of an answer that ignores the data."""
        return 1.0 if self.signed or self.solid else 2 * (1 - 1 / self.d)

    def remaining_loss(self, argument: Argument, level: Level) -> Falling:
        """Return the mean loss that remains, as a function of the number of spikes."""
        if argument in ("two-sided", "fano"):
            return self._loss_under_zcdp(argument, rho_of(level))
        epsilon, delta = epsilon_delta(level)
        largest_count = (math.log(self.count) + 30) / epsilon
        return tabulated(
            largest_count, lambda count: self._loss_by_group_privacy(count, epsilon, delta)
        )

    # The next methods return the losses that remain under rho-zCDP.

    def _loss_under_zcdp(self, argument: Argument, rho: float) -> Falling:
        """Return the loss that remains under rho-zCDP, by two-sided information or by Fano."""
        words = self.count
        if argument == "fano":
            largest_count = math.sqrt((1.5 * math.log(words) + 4) / rho)
            return tabulated(largest_count, lambda count: self._loss_by_fano(rho * count**2))
        losses, weights = self._losses_of_best_answers()
        least_loss = least_loss_of_words(losses, weights, self.start)
        rate = rho * (1 - 1 / words)
        return tabulated(
            math.sqrt(least_loss.end / rate), lambda count: least_loss.value_at(rate * count**2)
        )

    def _losses_of_best_answers(self) -> tuple[Floats, Floats]:
        """Return the losses of the answers that may be best, and the chance of each loss.

        The losses have a row for every kind of answer, a corner or (in the solid simplex) 0, and a
        column for every loss that occurs, in the order of the chances.
        """
        words = self.count
        if self.signed:
            return np.array([[0.0, 1.0, 2.0]]), np.array([1, words - 2, 1]) / words
        losses = np.array([[0.0, 2.0], [1.0, 1.0]] if self.solid else [[0.0, 2.0]])
        return losses, np.array([1, words - 1]) / words

    def _loss_by_fano(self, information: Floats) -> Floats:
        r"""Return the remaining loss if a word is named at most as often as `chance` allows.

        In the solid simplex a share z of the answers names a word, and the others are 0: its gain
        :math:`2X(\kappa,\frac zN)-z` is bounded on intervals of z.
        """
        log_words = math.log(self.count)
        if self.solid:
            ends = np.linspace(0.0, 1.0, _SHARES + 1)
            hit = chance(information[:, None], np.log(ends[1:]) - log_words, log_words=log_words)
            left = 1 - (2 * hit - ends[:-1]).max(axis=1)
        else:
            wrong = 1 - chance(information, np.array(-log_words), log_words=log_words)
            left = wrong if self.signed else 2 * wrong
        return np.where(information > 0, left, self.start)

    # The last method is for (epsilon, delta)-DP, which is pure DP at delta = 0.

    def _loss_by_group_privacy(self, count: Floats, epsilon: float, delta: float) -> Floats:
        """Return the loss that remains under group privacy, at each number b = `count` of spikes.

        See theory/bounds-everywhere.md, 2.6.
        """
        growth = np.exp(np.minimum(epsilon * count, 700.0))
        other_words, failure = self.count - 1, np.minimum(group_delta(epsilon, delta, count), 1.0)
        whole = growth + other_words
        hit = np.minimum(1.0, (growth + other_words * failure) / whole)
        if self.signed:
            return np.asarray(1 - hit * (1 - 1 / growth) - failure / growth)
        if not self.solid:
            return np.asarray(2 * (1 - hit))
        return np.asarray(
            1 - np.maximum(0.0, 2 * growth / whole - 1) - 2 * other_words * failure / whole
        )
