"""Axes with even steps, and the outline of a histogram."""

import math
from collections.abc import Sequence
from itertools import pairwise

from dpsco_app.figure.values import Axis

MOST_STEPS = 8


def linear_axis(title: str, low: float, high: float, unit: str = "") -> Axis:
    """Return an axis whose numbers are multiples of 1, 2 or 5 times a power of ten."""
    least_step = (high - low) / MOST_STEPS
    power = 10.0 ** math.floor(math.log10(least_step))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least_step)
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ticks = [(i * step, f"{i * step:,.10g}{unit}") for i in places]
    return Axis(title=title, low=low, high=high, ticks=ticks, log=False)


def histogram_outline(
    edges: Sequence[float], counts: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return the outline of a histogram: it starts and ends at the lower left corner.

    Examples
    --------
    >>> histogram_outline([0, 1, 2], [3, 4])
    ([0, 0, 1, 1, 2, 2, 0], [0.0, 3, 3, 4, 4, 0.0, 0.0])
    """
    x, y = [edges[0]], [0.0]
    for (left, right), count in zip(pairwise(edges), counts, strict=True):
        x += [left, right]
        y += [count, count]
    return [*x, edges[-1], edges[0]], [*y, 0.0, 0.0]
