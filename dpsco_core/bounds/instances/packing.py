r"""Packing over all sign vectors, by expectiles: it binds every (epsilon, delta)-DP algorithm.

The instance is that of `hypercube`. A bound is the mean over the number of spikes of what
`expectiles` leaves, times :math:`q^a` or its square. See theory/sharper-approx-bounds.md, 3.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise
from dpsco_core.bounds.instances.expectiles import distances, products
from dpsco_core.bounds.instances.groups import Falling
from dpsco_core.bounds.instances.spikes import mean_power


def losses(form: Form, d: int, epsilon: float, delta: float) -> Falling:
    """Return the bound on the loss at b spikes, in units of the spikes' mean or its square."""
    require(d >= 1, "d", "a positive integer", d)
    require(epsilon > 0, "epsilon", "positive", epsilon)
    require(0 <= delta < 1, "delta", "at least 0 and below 1", delta)
    return distances(d, epsilon, delta) if form == "l2" else products(form, d, epsilon, delta)


def averaged(
    loss: Falling, moment_order: float, power: int, n: int
) -> Callable[[Floats, bool], Floats]:
    """Return the mean of a loss over the spikes, times `mean_power`, as a function of q."""

    def value(q: Floats, fine: bool) -> Floats:
        scale = max(1.0, 0.05 * loss.last_count)
        mean = expectation(loss, n, q, scale=scale, largest=loss.last_count, fine=fine)
        return np.asarray(mean_power(q, moment_order, power) * mean)

    return value


def packing(
    form: Form, q: float, n: int, d: int, moment_order: float, epsilon: float, delta: float
) -> float:
    """Return the bound at q on an error, or on the excess risk of linear losses on the unit ball.

    Examples
    --------
    >>> round(packing("l2", 0.0007, 10_000, 20, 2, 1.0, 1e-6), 6)
    0.093826
    """
    require(n >= 1, "n", "a positive integer", n)
    power = 2 if form == "squared" else 1
    value = averaged(losses(form, d, epsilon, delta), moment_order, power, n)
    return float(value(np.array([q]), True)[0])


@lru_cache(maxsize=4096)
def best(
    form: Form,
    n: int,
    d: int,
    moment_order: float,
    epsilon: float,
    delta: float,
    largest: float,
) -> float:
    """Return the q in (0, largest] that maximises `packing`."""
    loss = losses(form, d, epsilon, delta)
    value = averaged(loss, moment_order, 2 if form == "squared" else 1, n)
    low = min(0.03 / n, largest / 50)
    high = min(largest, 4 * (loss.last_count + 1) / n)
    return maximise(lambda q: value(q, False), min(low, high), high)
