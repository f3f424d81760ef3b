"""The law of records whose users have items with a part in common.

An item is a sum of two parts. The contribution of one large draw to its moment is known exactly,
and the rest is integrated (theory/user-level-means.md, 6.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, Card
from dpsco_core.base.errors import require
from dpsco_core.data.base import Distribution, ScaledLaw
from dpsco_core.data.blocks import draw_key, draw_rows, whole_blocks
from dpsco_core.data.ranges import exp_or_inf
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.users import UserRows

PANELS = 40  # The line is cut into this many panels, equally long on the scale of arsinh.
# A law's density may have kinks or jumps within this distance of its median, on the scale of
# arsinh, so this stretch is cut into `PANELS` further panels.
MIDDLE = 4.0
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
REACH = 1e12  # The integral ends at this multiple of a length of which the law's moment is about 1.
LARGEST_POWER = 280.0  # The integrand may grow to ten to this power, which does not overflow yet.
AGREEMENT = 1e-6  # The grid must reproduce a known moment to this relative accuracy.


@dataclass(frozen=True, kw_only=True)
class AlikeItems(Distribution):
    r"""Items :math:`X_{ij}=\mu+t(\sqrt c\,U_i+\sqrt{1-c}\,Z_{ij})` of users i.

    U and Z are independent draws of the `base` law, centred. Any two items of a user have the
    correlation c in every coordinate. The factor t makes :math:`E|X_j-\mu_j|^p`, or the variance,
    what it is under the base law (theory/user-level-means.md, 6.1). Raises `InvalidInput` for a
    share outside of [0, 1], for p < 2, and for a law whose coordinates have no density in closed
    form.

    Examples
    --------
    >>> from dpsco_core.data import StudentT
    >>> law = alike_items(StudentT(d=5, moment_order=3.0), 0.3)
    >>> round(law.moment(3), 12), round(law.moment(2) / law.base.moment(2), 4)
    (1.0, 1.1427)
    >>> law.sample_items(2, 3, np.random.default_rng(0)).x.shape
    (6, 5)
    """

    d: int
    moment_order: float
    base: ScaledLaw  # the law of one item, an ordinary law of order p >= 2
    alike: float  # the share c of the variance that the items of a user have in common

    card = Card(
        slug="alike-items",
        name="Items alike within a user",
        paper=OWN,
        statement="user-level-means, 6.1",
        summary="A part of every record is its user's, and the rest is its own.",
    )

    def __post_init__(self) -> None:
        """Refuse a share outside [0, 1], a p below 2, and a law without a density."""
        require(0 <= self.alike <= 1, "alike", "from 0 to 1", self.alike)
        must = "at least 2 where the items of a user are alike"
        require(self.moment_order >= 2, "p", must, self.moment_order)
        has_density = self.base.univariate is not None
        must = "one whose coordinates have a density in closed form, where items are alike"
        require(has_density, "distribution", must, self.base.card.slug)

    # -- Moments ----------------------------------------------------------------------------

    @property
    def tail_index(self) -> float:
        """The tail index of an item."""
        return self.base.tail_index

    @property
    def mean(self) -> Vector:
        """The mean of an item, shape (d,)."""
        return self.base.mean

    @property
    def centred(self) -> AlikeItems:
        """The law of the same items less their mean."""
        return alike_items(self.base.centred, self.alike)

    @property
    def noise_law(self) -> Distribution:
        """The law of the noise in a regression on such features."""
        return self.base.noise_law

    @property
    def scales(self) -> Vector:
        """The scales of the coordinates under the base law, shape (d,)."""
        return self.base.scales

    @property
    def factor(self) -> float:
        """The factor t by which a coordinate keeps the p-th moment, or the variance, of `base`."""
        if self.base.unit == "variance":
            return 1.0
        order = self.moment_order
        mixed = mixed_moment(self.base, self.alike, order)
        return math.pow(mixed * math.pow(self.lead, order) / self.base.moment(order), -1 / order)

    @property
    def unit_moment(self) -> float:
        """The p-th central moment of a coordinate."""
        if self.base.unit == "moment":
            return self.base.unit_moment
        return self.moment(self.moment_order)

    @property
    def variance_trace(self) -> float:
        """The trace of the covariance of an item."""
        return self.factor**2 * self.base.variance_trace

    @property
    def directional_moment(self) -> float:
        """A bound on the root of the p-th central moment in any direction."""
        return self.moment_root * self.direction_factor(self.moment_order)

    def direction_factor(self, order: float) -> float:
        """Return the direction factor of the base law.

        Coordinates of a sum are independent, symmetric or elliptical where those of its terms are.
        """
        return self.base.direction_factor(order)

    def moment(self, k: float) -> float:
        """Return the k-th central absolute moment of a coordinate."""
        require(k >= 0, "k", "a number of at least 0", k)
        if k >= self.tail_index:
            return math.inf
        if k == 0:
            return 1.0
        mixed = mixed_moment(self.base, self.alike, k)
        return exp_or_inf(math.log(mixed) + k * math.log(self.factor * self.lead))

    # -- Random draws -----------------------------------------------------------------------

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law itself, which has no prior."""
        return self

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Overwrite `out`, shape (n, d), with independent records, each of a different user."""
        base, common = self.base.centred, np.empty_like(out)
        base.fill(common, rng)
        base.fill(out, rng)
        self._add_common(out, common)

    def sample_items(self, n: int, m: int, rng: np.random.Generator) -> DenseRows:
        """Return m items of each of n users, one user after another, shape (n m, d).

        The items of the first users do not depend on n.
        """
        base: Distribution = self.base.centred
        d = self.d
        common = draw_rows(base, whole_blocks(n, d), draw_key(rng))[:n]
        x = draw_rows(base, whole_blocks(n * m, d), draw_key(rng))[: n * m]
        self._add_common(x.reshape(n, m, self.d), common[:, None, :])
        return DenseRows(x)

    def _add_common(self, items: Vector, common: Vector) -> None:
        """Turn `items`, the items' own parts, into whole items: scale, add `common` and mean."""
        items *= self.factor * math.sqrt(1 - self.alike)
        items += self.factor * math.sqrt(self.alike) * common
        items += self.mean


def alike_items(base: ScaledLaw, alike: float) -> AlikeItems:
    """Return the law of items whose variance has the share `alike` in common among a user's items.

    Raises the errors of `AlikeItems`.
    """
    return AlikeItems(d=base.d, moment_order=base.moment_order, base=base, alike=alike)


def share_in_common(law: Distribution) -> float:
    """Return the share of the variance that the items of a user have in common; 0 for most laws."""
    return law.alike if isinstance(law, AlikeItems) else 0.0


def draw_users(law: Distribution, n: int, m: int, rng: np.random.Generator) -> UserRows:
    """Return the records of n users with m items each, drawn from the law."""
    items = law.sample_items(n, m, rng) if isinstance(law, AlikeItems) else law.sample(n * m, rng)
    return UserRows(records=items, items=m)


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
    >>> round(mixed_moment(Gaussian(moment_order=3.0), 0.3, 3.0), 6)
    1.0
    """
    moment = law.moment(order) / math.pow(law.lead, order)
    if order == 2 or share in (0, 1):
        return moment
    points, weights = _quadrature_grid(law, order)
    _check_resolution(law, points, weights, order)
    a, b = math.sqrt(share), math.sqrt(1 - share)
    common_part, own_part = (a * points)[:, None], (b * points)[None, :]
    sizes = np.maximum(np.abs(common_part), np.abs(own_part))
    # Each ratio is the smaller of two terms over the larger one, in absolute value, with its sign.
    ratios = np.where(
        np.abs(common_part) >= np.abs(own_part), own_part / common_part, common_part / own_part
    )
    # If two terms cancel exactly, the logarithm is that of 0, and the power is rightly 0.
    with np.errstate(divide="ignore"):
        joint = np.expm1(order * np.log1p(ratios)) - np.abs(ratios) ** order
    mixed_terms = float(weights @ (sizes**order * joint) @ weights)
    return (math.pow(a, order) + math.pow(b, order)) * moment + mixed_terms


def _quadrature_grid(law: ScaledLaw, order: float) -> tuple[Vector, Vector]:
    """Return the nodes and the weights of a quadrature over the density of one coordinate.

    The nodes have the mean subtracted. Gauss's rule is used on panels that end at `REACH`, or
    earlier if the integrand, of the given order, would overflow.
    """
    density = law.univariate
    must = "one whose coordinates have a density in closed form, where items are alike"
    require(density is not None, "distribution", must, law.card.slug)
    assert density is not None
    width = 1 / density.peak
    reach = min(REACH, math.pow(10, LARGEST_POWER / order))
    end = math.asinh(reach / width)
    bends = [math.asinh((x - density.median) / width) for x in (density.mean, *density.jumps)]
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
    """Raise `InvalidInput` unless the grid reproduces the moment of order k - 1, k = `order`.

    The largest mixed terms of `mixed_moment` are products with that moment.
    """
    lower = max(order - 1, 0.0)
    exact = law.moment(lower) / math.pow(law.lead, lower)
    is_resolved = abs(float(weights @ np.abs(points) ** lower) / exact - 1) <= AGREEMENT
    must = f"smaller for the distribution {law.card.slug}, where items are alike"
    require(is_resolved, "p", must, order)
