r"""Linear losses on the group-l1 ball and on sparse vectors: which block, and which signs in it?

The words are the signs of one of G blocks of five coordinates, N = 32 G of them. Both sets touch
the ball around them in the directions of the words, so that answers in the ball do as well:
theory/bounds-everywhere.md, 2.5 (zCDP) and 2.6 (every epsilon and delta). The worst answer is in
one block.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.bounds.instances.binomial import Floats
from dpsco_core.bounds.instances.distance import DISTANCES, chance
from dpsco_core.bounds.instances.expectiles import log_cube, omega
from dpsco_core.bounds.instances.groups import Falling, group_delta, log_expm1
from dpsco_core.bounds.instances.level import Level, epsilon_delta, rho_of
from dpsco_core.bounds.instances.two_sided import least_loss_of_words, sum_of_signs
from dpsco_core.bounds.instances.words import Argument, WordPrior, tabulated
from dpsco_core.geometry.geometries import GROUP_SIZE

_TILTS, _LEVELS = 1200, 240
_LONGEST = math.sqrt(GROUP_SIZE)  # the l2 norm of a word


@dataclass(frozen=True)
class BlockWords(WordPrior):
    """The sign patterns of G blocks of five coordinates, the hidden words on a set of radius 1.

    Examples
    --------
    >>> BlockWords(groups=4).count
    128
    """

    groups: int  # the number G of groups of five coordinates, at least 1

    def __post_init__(self) -> None:
        """Refuse a number of groups below 1."""
        require(self.groups >= 1, "groups", "a positive integer", self.groups)

    @property
    def count(self) -> int:
        """The number N of words."""
        return (1 << GROUP_SIZE) * self.groups

    @property
    def weight(self) -> int:
        """The number of nonzero entries of a word: the size of a block."""
        return GROUP_SIZE

    def remaining_loss(self, argument: Argument, level: Level) -> Falling:
        """Return the mean loss that remains, as a function of the number of spikes."""
        if argument == "two-sided":
            return self._loss_by_two_sided_information(rho_of(level))
        if argument == "fano":
            rho = rho_of(level)
            largest_count = math.sqrt((1.5 * math.log(self.count) + 4) / rho)
            return tabulated(largest_count, lambda count: self._loss_by_fano(rho * count**2))
        epsilon, delta = epsilon_delta(level)
        largest_count = (math.log(self.count) + 30) / epsilon
        return tabulated(
            largest_count, lambda count: self._loss_by_group_privacy(count, epsilon, delta)
        )

    def _loss_by_two_sided_information(self, rho: float) -> Falling:
        """Return the remaining loss by two-sided information, for rho-zCDP."""
        sums, weights = sum_of_signs(GROUP_SIZE)
        losses = np.append(_LONGEST - sums, _LONGEST)[None, :]
        chances = np.append(weights / self.groups, 1 - 1 / self.groups)
        least_loss = least_loss_of_words(losses, chances, _LONGEST)
        rate = rho * (1 - 1 / self.count)
        return tabulated(
            math.sqrt(least_loss.end / rate), lambda count: least_loss.value_at(rate * count**2)
        )

    def _loss_by_fano(self, information: Floats) -> Floats:
        r"""Return the loss that remains by Fano's argument, at each number of nats of information.

        .. math:: \int_0^{\sqrt5}(1-X(\kappa,G(t)))dt

        The loss of an answer u is at most t where :math:`\langle u,V\rangle\ge x=\sqrt5-t` for the
        hidden word V. The chance G(t) of that is at most
        :math:`\frac1G\min_{0\le s<x}E(W_5-s)_+^3/(x-s)^3` with :math:`W_5` a scaled sum of five
        signs (Markov, and convexity in the squared norms of the blocks). The integral takes the
        chance at the right end of each step; at the last one, x = 0, it is 1.
        """
        t = np.linspace(0.0, _LONGEST, DISTANCES + 1)[1:-1]
        x = _LONGEST - t
        levels = np.linspace(0.0, _LONGEST, _LEVELS, endpoint=False)
        gap = x[:, None] - levels
        logs = log_cube(levels, GROUP_SIZE) - 3 * np.log(np.maximum(gap, 1e-9))
        tail = np.where(gap > 1e-9, logs, math.inf).min(axis=1) - math.log(self.groups)
        log_words = math.log(self.count)
        share = np.clip(tail, -log_words, 0.0)
        hit = chance(information[:, None], share, log_words=log_words)
        whole = (1 - hit).sum(axis=1) * (_LONGEST / DISTANCES)
        return np.where(information > 0, whole, _LONGEST)

    def _loss_by_group_privacy(self, count: Floats, epsilon: float, delta: float) -> Floats:
        r"""Return the loss that remains under group privacy, at each number b of spikes.

        It is the largest :math:`(\sqrt5-e)(1-\delta_b(1+\sqrt5/e))_+` over the tilts e with
        :math:`(e^{b\varepsilon}-1)V(e)\le e`, where V is that of `_log_excess_bounds`.
        """
        tilts, log_excess = _log_excess_bounds(self.groups)
        failure = np.minimum(group_delta(epsilon, delta, count), 1.0)[:, None]
        kept_share = np.maximum(0.0, 1 - failure * (1 + _LONGEST / tilts))
        allowed = log_excess + log_expm1(epsilon * count)[:, None] <= np.log(tilts)
        whole = np.where(allowed, (_LONGEST - tilts) * kept_share, 0.0).max(axis=1)
        return np.where(count > 0, whole, _LONGEST)


@lru_cache(maxsize=64)
def _log_excess_bounds(groups: int) -> tuple[Floats, Floats]:
    r"""Return a grid of tilts e, and the log of a bound on the excess of a gain at each of them.

    The excess is :math:`E(\langle u,V\rangle-e)_+` for any answer u and a random word V, and its
    bound is

    .. math:: V(e)=\min\Big\{\tfrac12\big(\sqrt{\tfrac1G+e^2}-e\big),\
        \min_{0\le s<e}\frac{4}{27(e-s)^2}\tfrac1GE(W_5-s)_+^3\Big\}
    """
    tilts = np.linspace(0.0, _LONGEST, _TILTS, endpoint=False)[1:]
    levels = np.linspace(0.0, _LONGEST, _LEVELS, endpoint=False)
    gap = tilts[:, None] - levels
    logs = math.log(4 / 27 / groups) + log_cube(levels, GROUP_SIZE)
    cubes = np.where(gap > 1e-9, logs - 2 * np.log(np.maximum(gap, 1e-9)), math.inf).min(axis=1)
    root = math.sqrt(groups)
    plain = np.log(omega(tilts * root) / root)
    return tilts, np.minimum(cubes, plain)
