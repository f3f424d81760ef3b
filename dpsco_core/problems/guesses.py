r"""The price of guessing the sign of a margin, from which the lower bounds on each loss follow.

A feature is known, its true margin is z or -z, and both signs are equally likely given all that an
algorithm has released. The least mean excess over all margins that can be answered is the *price*
:math:`V(z)`. If the sign has posterior mean m instead, the least excess is concave and even in m,
as a minimum of linear functions, one for each answer. It is 0 at :math:`m=\pm1`, and so at least
:math:`(1-|m|)V(z)`. See theory/bounds-everywhere.md, 6.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.problems.links import HuberLink

# For the hinge loss margins of hidden signs must be at least 1, also after rounding.
ABOVE_ONE = 1 + 1e-9


@dataclass(frozen=True, kw_only=True)
class Guess:
    """The price of guessing a hidden sign from features whose true margins have one size."""

    # A function of sizes z > 0, shape (k,), that returns the prices.
    price: Callable[[Vector], Vector]
    # A function of sizes that returns the share of records whose target reveals the sign; every
    # other target is a fair coin.
    telling: Callable[[Vector], Vector]
    curvature: float = math.inf  # bound on the curvature of the conditional risk in the margin
    # The candidate sizes for the bound; empty if the largest allowed size is the best.
    sizes: tuple[float, ...] = ()


def labels_beyond(margins: Vector, gap: float) -> Vector:
    """Return the margins moved away from 0 by `gap`, as labels; a margin of 0 stays 0."""
    return margins + gap * np.sign(margins) if gap > 0 else margins


def _full_share(sizes: Vector) -> Vector:
    """Return 1 for every size, the share of targets that reveal the sign if all of them do."""
    return np.ones_like(sizes)


def _absolute_price(sizes: Vector) -> Vector:
    """Return the price under the absolute loss: the size, as the residual of the best answer 0."""
    return np.asarray(sizes, dtype=np.float64)


def _huber_price(sizes: Vector) -> Vector:
    """Return the price under Huber's loss: its value at the size, as the best answer is 0."""
    return HuberLink().value(np.asarray(sizes, dtype=np.float64), np.zeros(1))


def _hinge_price(sizes: Vector) -> Vector:
    """Return the price under the hinge loss: 1 for sizes of at least 1, otherwise 0.

    Labels are the signs of margins of at least 1 in size, and fair coins for smaller ones.
    """
    return (np.asarray(sizes) >= 1).astype(np.float64)


def _logistic_price(sizes: Vector) -> Vector:
    r"""Return the price under the logistic loss, :math:`\ln2-h((1+\tau)/2)`.

    It is the relative entropy of a label to a fair coin; h is the entropy, tau the share below.
    """
    share = _logistic_share(sizes)
    return np.asarray(((1 + share) * np.log1p(share) + (1 - share) * np.log1p(-share)) / 2)


def _logistic_share(sizes: Vector) -> Vector:
    r"""Return :math:`\tau=\tanh\frac z2`, the share of labels that reveal the sign.

    A label equals the sign with probability :math:`\frac{1+\tau}2`, as if it were the sign with
    probability :math:`\tau` and otherwise a fair coin. The share is kept below 1, which can only
    lower the price.
    """
    return np.minimum(np.tanh(np.asarray(sizes) / 2), 1 - 1e-15)


ABSOLUTE_GUESS = Guess(price=_absolute_price, telling=_full_share)
HUBER_GUESS = Guess(price=_huber_price, telling=_full_share, curvature=1.0)
HINGE_GUESS = Guess(price=_hinge_price, telling=_full_share, sizes=(ABOVE_ONE,))
LOGISTIC_GUESS = Guess(
    price=_logistic_price,
    telling=_logistic_share,
    curvature=0.25,
    sizes=tuple(np.geomspace(0.1, 16.0, 23).tolist()),
)
