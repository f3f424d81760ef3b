r"""How much of a hidden sign stays unknown if b private records tell of it.

Given which records tell of a sign, data with the other sign differ in these b records. With m the
posterior mean of the sign, :math:`E|m|` is bounded by privacy alone (Lemma O of
theory/bounds-everywhere.md, 6), and a guess loses a share of at least :math:`1-E|m|` of what it
would lose without data.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from dpsco_core.bounds.instances.assouad import hidden_spikes, overlap, squared_overlap
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise, search_range
from dpsco_core.bounds.instances.level import Level

# A function of b, the number of records that carry information on a hidden sign: a lower bound on
# the share of the sign (or of its square) that stays unknown.
Left = Callable[[Floats], Floats]


def unknown_sign(information: Floats) -> Floats:
    r"""Return the share :math:`1-T(\kappa)` of a sign that stays unknown, at each information.

    T is the root of :math:`2T\,\mathrm{artanh}\,T=\kappa`, in nats. With :math:`T=\tanh y` the
    share is :math:`2/(1+e^{2y})`; after Newton's method y is rounded up, to the safe side.

    Examples
    --------
    >>> unknown_sign(np.array([0.0, 0.5, 2.0, 50.0])).round(6).tolist()
    [1.0, 0.520902, 0.166443, 0.0]
    """
    kappa = np.asarray(information, dtype=np.float64)
    y = np.maximum(np.sqrt(kappa / 2), kappa / 2)
    for _ in range(60):
        tangent = np.tanh(y)
        slope = 2 * (tangent + y * (1 - tangent) * (1 + tangent))
        step = np.where(y > 0, (2 * y * tangent - kappa) / np.where(y > 0, slope, 1.0), 0.0)
        y = y - step
        if np.all(np.abs(step) <= 1e-13 * y):
            break
    y = y * (1 + 1e-12)
    return np.asarray(2 / (1 + np.exp(np.minimum(2 * y, 700.0))))


def unlearnt_share(level: Level) -> Left:
    r"""Return a lower bound on :math:`1-E|m|`, m a sign's posterior mean, as a function.

    Its argument is the number b of records that tell of the sign. The bound is
    :math:`1-T(\rho b^2)` under zCDP and :math:`o_b` of `overlap` under (epsilon, delta).
    """
    if isinstance(level, tuple):
        return partial(overlap, epsilon=min(level[0], 600.0), delta=level[1])
    return lambda count: unknown_sign(level * count**2)


def unlearnt_square_share(level: Level) -> Left:
    r"""Return a lower bound on :math:`1-Em^2`, m a sign's posterior mean, as a function.

    Its argument is the number b of records that tell of the sign. The bound is
    :math:`1-T^2(\rho b^2)` under zCDP and the :math:`\tau_b` of `squared_overlap` otherwise.
    """
    if isinstance(level, tuple):
        return partial(squared_overlap, epsilon=min(level[0], 600.0), delta=level[1])
    return partial(_mean_square_of_sign_error, level)


def _mean_square_of_sign_error(rho: float, count: Floats) -> Floats:
    """Return 1 - T^2 under rho-zCDP: the least mean squared error of a sign, at each count."""
    left = unknown_sign(rho * count**2)
    return np.asarray(left * (2 - left))


def telling_count(level: Level) -> float:
    """Return the number of records that tell of a sign up to which privacy hides it, roughly."""
    return hidden_spikes(*level) if isinstance(level, tuple) else 1 / math.sqrt(level)


def mean_share_left(
    left: Left, n: int, chance: Floats, level: Level, *, fine: bool = False
) -> Floats:
    """Return the mean of the share `left` over a random number of records that tell.

    The number has the law Bin(n, chance), and the result has an entry for each chance.
    """
    count = telling_count(level)
    return expectation(
        left,
        n,
        chance,
        # Beyond this number of records the share is below 1e-12 and may be dropped.
        largest=math.floor(min(30 * count + 30, 1e15)),
        scale=max(1.0, 0.1 * count),
        fine=fine,
    )


def best_chance(
    value: Callable[[Floats], Floats],  # the lower bound at each of several chances
    n: int,
    level: Level,
    largest: float,  # the largest chance, in (0, 1]
) -> float:
    """Return the chance in (0, largest], that a record tells of a sign, with the largest value.

    `value` is a lower bound, valid at every chance.
    """
    low, high = search_range(telling_count(level), n, largest)
    return maximise(value, low, high)
