r"""The one-hot instance: features of one coordinate each, targets that hide one sign each.

With probability s/k a record has the feature :math:`\pm ce_j`, for each of k hidden signs; its true
margin is :math:`\pm z` with z = c t, t half the edge of the cube of true parameters in the
constraint set. Its target tells of the sign with probability :math:`\tau(z)`. An answer loses at
least (theory/bounds-everywhere.md, 6)

.. math:: V(z)\,s\,E\big[1-E|m|\big],\quad B\sim\mathrm{Bin}\big(n,\tfrac{s\,\tau(z)}k\big),

with V the price of a guess. The class asks for :math:`\frac skc^p\le g^p`, the moment of every
coordinate, and :math:`\min(sc\sqrt{w/k},\,\kappa\frac skc^2wM)\le R` for the norm of the mean
gradient: w is the number of coordinates of a feature, :math:`\kappa` the curvature of the loss and
M the diameter. Every s and z within it gives a valid bound.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.bounds.instances.binomial import Floats
from dpsco_core.bounds.instances.level import Level
from dpsco_core.bounds.losses.signs import best_chance, mean_share_left, unlearnt_share
from dpsco_core.data.hidden.one_hot import Corner
from dpsco_core.problems.guesses import Guess

_ROUNDS = 8  # Each of these rounds adds margins between the best one and its neighbours.
_RAREST = 1e-260  # At smaller probabilities s, margins may exceed the range of a float.


@dataclass(frozen=True, kw_only=True)
class OneHotBounds:
    """The lower bounds on one loss's excess risk on the one-hot instances of a class of laws."""

    n: int  # the number of records
    moment_order: float  # the moment order p, at least 2
    corner: Corner  # the hidden signs and the true parameters in the constraint set
    guess: Guess  # the loss of a guess at an unknown sign
    level: Level  # the privacy level of the algorithms that are bound
    scale: float = 1.0  # the root g of the moment bound
    mean_bound: float = math.inf  # the largest norm R of a mean gradient
    diameter: float = math.inf  # the diameter M of the constraint set

    def __post_init__(self) -> None:
        """Refuse sizes, orders and scales outside their ranges."""
        require(self.n >= 1, "n", "a positive integer", self.n)
        require(self.moment_order >= 2, "moment_order", "at least 2", self.moment_order)
        require(0 < self.scale < math.inf, "scale", "finite and above 0", self.scale)
        require(self.mean_bound > 0, "mean_bound", "above 0", self.mean_bound)

    def largest_margins(self, s: Floats) -> Floats:
        """Return the largest true margin z that the class allows at each probability s."""
        by_moment = self.scale * (self.corner.signs / s) ** (1 / self.moment_order)
        by_mean = np.maximum(self._largest_products[0] / s, np.sqrt(self._largest_products[1] / s))
        return np.asarray(self.corner.half * np.minimum(by_moment, by_mean))

    def largest_probability(self, z: float) -> float:
        """Return the largest probability s of a feature at which the class allows margins z."""
        k, c = self.corner.signs, z / self.corner.half
        log = self.moment_order * (math.log(self.scale) - math.log(c))
        by_moment = k * math.exp(min(log, 600.0))
        by_mean = max(self._largest_products[0] / c, self._largest_products[1] / c**2)
        return min(1.0, by_moment, by_mean)

    @property
    def _largest_products(self) -> tuple[float, float]:
        """The largest s c and the largest s c^2, of which the class asks for one only.

        Either of them keeps the norm of the mean gradient within R.
        """
        shared = self.corner.signs / (1 + self.corner.paired)
        if math.isinf(self.mean_bound):
            return math.inf, math.inf
        steep = self.guess.curvature * self.diameter
        return self.mean_bound * math.sqrt(shared), self.mean_bound * shared / steep

    @property
    def kinks(self) -> Floats:
        """The probabilities s at which another condition begins to cap the margins, and 1.

        The bound may have a sharp peak at these, between two points of a grid.
        """
        k, p = self.corner.signs, self.moment_order
        length, square = self._largest_products
        if math.isinf(length):
            return np.ones(1)
        # This is the largest log c that the moment bound allows at s = 1.
        by_moment = math.log(self.scale) + math.log(k) / p
        logs = [0.0, (math.log(length) - by_moment) / (1 - 1 / p)]
        if square > 0:
            logs.append(2 * math.log(length) - math.log(square))
            if p > 2:
                logs.append((math.log(square) / 2 - by_moment) / (1 / 2 - 1 / p))
        return np.array([math.exp(log) for log in logs if math.log(_RAREST) < log <= 0])

    def values(self, s: Floats, z: Floats, *, fine: bool = False) -> Floats:
        """Return the lower bound at each pair of a probability s and a margin z of the class."""
        chance = s * self.guess.telling(z) / self.corner.signs
        left = mean_share_left(unlearnt_share(self.level), self.n, chance, self.level, fine=fine)
        return np.asarray(self.guess.price(z) * s * left)

    def value(self, s: float, z: float | None = None) -> float:
        """Return the lower bound on the excess risk at s and z; None is the largest margin at s."""
        probability = np.array([s])
        margin = self.largest_margins(probability) if z is None else np.array([z])
        return float(self.values(probability, margin, fine=True)[0])

    def best(self) -> tuple[float, float]:
        """Return the probability s and the margin z at which the bound is largest."""
        n, k, level = self.n, self.corner.signs, self.level
        kinks = self.kinks
        if not self.guess.sizes:

            def value(chance: Floats) -> Floats:
                """Return the bound at each probability that a feature reveals a given sign."""
                s = np.minimum(chance * k, 1.0)
                return self.values(s, self.largest_margins(s))

            best_s = min(1.0, k * best_chance(value, n, level, 1 / k))
            # Huber's loss changes from quadratic to linear at margins of 1.
            peaks = np.append(kinks, self.largest_probability(1.0))
            candidates = np.append(best_s, peaks[peaks > _RAREST])
            margins = self.largest_margins(candidates)
            top = int(np.argmax(self.values(candidates, margins)))
            return float(candidates[top]), float(margins[top])
        # For margins of one size the bound is largest at this chance, or at the largest allowed s.
        free = best_chance(
            lambda chance: chance * mean_share_left(unlearnt_share(level), n, chance, level),
            n,
            level,
            1 / k,
        )
        sizes, margins = np.array(self.guess.sizes), self.largest_margins(kinks)
        # All of the guess's margins may be larger than those that the class allows.
        if len(sizes) > 1:
            sizes = np.unique(np.concatenate([sizes, margins[margins < sizes[-1]]]))
        for _ in range(_ROUNDS):
            s, values = self._bounds_at_sizes(sizes, free)
            top = int(np.argmax(values))
            nearby_sizes = sizes[max(top - 1, 0) : top + 2]
            sizes = np.unique(
                np.concatenate([nearby_sizes, np.sqrt(nearby_sizes[1:] * nearby_sizes[:-1])])
            )
        s, values = self._bounds_at_sizes(sizes, free)
        top = int(np.argmax(values))
        return float(s[top]), float(sizes[top])

    def _bounds_at_sizes(self, sizes: Floats, free: float) -> tuple[Floats, Floats]:
        """Return the best probability s for margins of each size, and the bound there.

        `free` is the best chance that a record tells of a given sign, if the class sets no limit.
        """
        largest = np.array([self.largest_probability(float(z)) for z in sizes])
        s = np.minimum(free * self.corner.signs / self.guess.telling(sizes), largest)
        return s, self.values(s, sizes)


@lru_cache(maxsize=4096)
def hardest(bounds: OneHotBounds) -> tuple[float, float]:
    """Return `OneHotBounds.best`, the best probability s and margin z, from a cache."""
    return bounds.best()


@lru_cache(maxsize=4096)
def largest_value(bounds: OneHotBounds) -> float:
    """Return the largest value of the bound over its parameters s and z."""
    return bounds.value(*hardest(bounds))
