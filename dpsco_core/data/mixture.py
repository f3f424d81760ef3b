r"""Moments of :math:`\sqrt c\,U+\sqrt{1-c}\,Z`, of two independent draws of one law on the line.

The part of one large draw is known exactly, and what is left is integrated: see
theory/user-level-means.md, 6.1.
"""

import math
from functools import lru_cache

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.data.base import ScaledLaw

PANELS = 40  # pieces of the line, equally long on the scale of arsinh
MIDDLE = 4.0  # up to where on that scale a law may bend, and as many pieces are taken once more
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
REACH = 1e12  # how far the integral goes, in units in which the law's moment is about 1
LARGEST_POWER = 280.0  # the largest power of ten that an integrand may reach
AGREEMENT = 1e-6  # how well the grid must reproduce a moment that is known


@lru_cache(maxsize=256)
def mixed_moment(law: ScaledLaw, share: float, order: float) -> float:
    r"""Return :math:`E|\sqrt c\,U_j+\sqrt{1-c}\,Z_j|^k` of a coordinate of scale 1.

    U and Z are independent draws of the law, centred; c is the `share`, from 0 to 1, and k the
    `order`, above 0 and below the law's tail index.

    Raises `InvalidInput` if the law has no density in closed form, or if the integral cannot
    resolve the tail.

    Examples
    --------
    >>> from dpsco_core.data import Gaussian
    >>> round(mixed_moment(Gaussian(moment_order=3.0), 0.3, 3.0), 9)
    1.0
    """
    moment = law.moment(order) / math.pow(law.lead, order)
    if order == 2 or share in (0, 1):
        return moment
    points, weights = _grid(law, order)
    _check_resolution(law, points, weights, order)
    a, b = math.sqrt(share), math.sqrt(1 - share)
    first, second = (a * points)[:, None], (b * points)[None, :]
    sizes = np.maximum(np.abs(first), np.abs(second))
    # The smaller term over the larger one, with its sign.
    ratios = np.where(np.abs(first) >= np.abs(second), second / first, first / second)
    with np.errstate(divide="ignore"):  # two terms may cancel exactly
        joint = np.expm1(order * np.log1p(ratios)) - np.abs(ratios) ** order
    rest = float(weights @ (sizes**order * joint) @ weights)
    return (math.pow(a, order) + math.pow(b, order)) * moment + rest


def _grid(law: ScaledLaw, order: float) -> tuple[Vector, Vector]:
    """Return centred points of a coordinate and their probabilities, by Gauss's rule on panels."""
    density = law.univariate
    must = "one whose coordinates have a density in closed form, where items are alike"
    require(density is not None, "distribution", must, law.card.slug)
    assert density is not None
    width = 1 / density.peak
    reach = min(REACH, math.pow(10, LARGEST_POWER / order))
    end = math.asinh(reach / width)
    bends = [math.asinh((at - density.median) / width) for at in (density.mean, *density.jumps)]
    middle = min(MIDDLE, end)
    ends = np.unique(
        [*np.linspace(-end, end, PANELS + 1), *np.linspace(-middle, middle, PANELS + 1), *bends]
    )
    half = np.diff(ends)[:, None] / 2
    t = (ends[:-1, None] + half + half * NODES).ravel()
    places = density.median + width * np.sinh(t)
    lengths = (half * WEIGHTS).ravel() * width * np.cosh(t)
    weights = lengths * density.density(places)
    is_possible = weights > 0
    return places[is_possible] - density.mean, weights[is_possible]


def _check_resolution(law: ScaledLaw, points: Vector, weights: Vector, order: float) -> None:
    """Raise `InvalidInput` unless the grid gives the moment of which the rest is made."""
    lower = max(order - 1, 0.0)
    exact = law.moment(lower) / math.pow(law.lead, lower)
    is_resolved = abs(float(weights @ np.abs(points) ** lower) / exact - 1) <= AGREEMENT
    must = f"smaller for the distribution {law.card.slug}, where items are alike"
    require(is_resolved, "p", must, order)
