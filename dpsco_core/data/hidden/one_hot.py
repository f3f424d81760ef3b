r"""Features of one coordinate each, whose targets hide one sign each."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import require
from dpsco_core.data.hidden.parameter import HiddenParameter
from dpsco_core.data.ranges import exp_or_inf
from dpsco_core.geometry.base import ConstraintSet, Symmetric
from dpsco_core.geometry.simplex import OnVertices


@dataclass(frozen=True, kw_only=True)
class Corner:
    """The cube in a constraint set among whose corners a true parameter is hidden."""

    signs: int  # the number k of signs, which is the dimension of the cube
    half: float  # half the edge t of the cube, in the coordinates that features measure
    paired: bool  # whether a feature is the difference of two coordinates, as on simplices


def hidden_corner(body: ConstraintSet) -> Corner | None:
    r"""Return the cube of true parameters in a set; None if no such cube is known.

    In a symmetric set, all of which stay the same when a coordinate changes sign, the cube is
    :math:`\{\pm t\}^d` with the largest t. In a simplex of radius r it is the barycentre
    :math:`\frac rd\mathbf 1` plus :math:`\pm\frac rd(e_{2i-1}-e_{2i})`, and features measure
    :math:`\pm\frac{2r}d`.

    Examples
    --------
    >>> from dpsco_core.geometry.ball import Ball
    >>> hidden_corner(Ball(d=4, radius=1.0))
    Corner(signs=4, half=0.5, paired=False)
    """
    if isinstance(body, Symmetric):
        half = 1 / body.minkowski_norm(np.ones(body.d))
        return Corner(signs=body.d, half=half, paired=False)
    if isinstance(body, OnVertices) and body.d >= 2:
        return Corner(signs=body.d // 2, half=2 * body.radius / body.d, paired=True)
    return None


@dataclass(frozen=True, kw_only=True)
class OneHot(HiddenParameter):
    r"""Features :math:`\xi ce_j` with probability s/d for every j, with fair signs :math:`\xi`.

    Otherwise they are 0. The true parameter is a corner :math:`t\nu` of a cube in the constraint
    set, so that a record tells of one sign alone, and only by its target. With `paired` features
    are :math:`\xi c(e_{2i-1}-e_{2i})`, with probability :math:`s/\lfloor d/2\rfloor` each: see
    `hidden_corner`. Raw moments are :math:`E|X_j|^p=\frac skc^p`, k the number of signs.

    Raises `InvalidInput` if a value is outside its range.

    Examples
    --------
    >>> law = OneHot(d=4, moment_order=2.0, spike_probability=0.25)
    >>> law.moment(2), law.raw_direction(1.0), law.draw(np.random.default_rng(0)).pattern
    (1.0, 0.5, (-1, 1, 1, 1))
    """

    # the nonzero entry c of a feature; None for the entry with which raw p-th moments are 1
    size: float | None = None
    paired: bool = False  # whether a feature has two opposite entries, as for simplices

    sampling = Coefficients(fixed=6e4, per_row=0, per_element=0.7)
    card = Card(
        slug="one-hot",
        name="One-hot features (hidden parameter)",
        paper=OWN,
        statement="docs/theory/bounds-everywhere.md, 6",
        summary="Rare features of one coordinate each; only their targets tell of the hidden true "
        "parameter, and each of one sign of it.",
    )

    def __post_init__(self) -> None:
        """Refuse a size that is not positive, and pairs in one dimension."""
        super().__post_init__()
        size = self.size
        require(size is None or 0 < size < math.inf, "size", "finite and above 0", size)
        require(not self.paired or self.d >= 2, "d", "at least 2 for pairs", self.d)

    @property
    def entry(self) -> float:
        """The absolute value c of the nonzero entries of features."""
        if self.size is not None:
            return self.size
        return math.pow(self.sign_count / self.spike_probability, 1 / self.moment_order)

    @property
    def sign_count(self) -> int:
        """The number of signs of the hidden parameter."""
        return self.d // 2 if self.paired else self.d

    @property
    def weight(self) -> int:
        """The number of nonzero coordinates of a spike: 2 for pairs, otherwise 1."""
        return 2 if self.paired else 1

    @property
    def record_norm(self) -> float:
        """The l2 norm of a spike."""
        return self.entry * math.sqrt(self.weight)

    @property
    def largest_second_moment(self) -> float:
        """The largest eigenvalue of the second moment matrix."""
        return self.raw_coordinate(2.0) * self.weight

    @property
    def smallest_second_moment(self) -> float:
        """The smallest eigenvalue of the second moment matrix: 0 for pairs."""
        return 0.0 if self.paired else self.largest_second_moment

    @property
    def fourth_moment_trace(self) -> float:
        r"""The supremum :math:`\sup_{\|v\|=1} E\langle X,v\rangle^2\|X\|^2` over directions v."""
        return self.largest_second_moment * self.record_norm**2

    def squared_margin(self, v: Vector) -> float:
        """Return the mean squared product of a record with v."""
        margins = self.spike_margins(v)
        return self.spike_probability * float(margins @ margins) / len(margins)

    def raw_coordinate(self, k: float) -> float:
        """Return the k-th raw moment of a coordinate.

        It is the probability that the coordinate is not 0, times :math:`c^k`.
        """
        log = math.log(self.spike_probability / self.sign_count) + k * math.log(self.entry)
        return exp_or_inf(log)

    def raw_direction(self, k: float) -> float:
        r"""Return :math:`\sup_u(E|\langle u,X\rangle|^k)^{1/k}`, exactly.

        For k >= 2 the maximum is along one feature, and for k < 2 in the common direction of all.
        """
        spread = self.sign_count ** max(0.0, 1 - k / 2)
        share = math.pow(self.spike_probability / self.sign_count * spread, 1 / k)
        return share * self.record_norm

    def parameter(self, body: ConstraintSet) -> Vector:
        """Return the hidden parameter on a constraint set, shape (d,)."""
        corner = hidden_corner(body)
        fits = corner is not None and corner.paired == self.paired
        require(fits, "paired", "that of the corners of the constraint set", self.paired)
        assert corner is not None
        if not self.paired:
            return corner.half * self.signs
        point = np.full(self.d, corner.half / 2)
        steps = corner.half / 2 * self.signs
        point[: 2 * len(steps) : 2] += steps
        point[1 : 2 * len(steps) : 2] -= steps
        return point

    def spike_margins(self, w: Vector) -> Vector:
        """Return the products of w with the possible spikes, shape (`sign_count`,)."""
        if not self.paired:
            return self.entry * w
        pairs = w[: 2 * self.sign_count]
        return self.entry * (pairs[::2] - pairs[1::2])

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill the rows with zeros, and some, at random, with one feature or an opposite pair."""
        spiked = self._draw_spiked_indices(len(out), rng)
        place = rng.integers(0, self.sign_count, size=len(spiked)).astype(np.intp)
        entries = self.entry * (2.0 * rng.integers(0, 2, size=len(spiked)) - 1.0)
        out.fill(0.0)
        if self.paired:
            out[spiked, 2 * place] = entries
            out[spiked, 2 * place + 1] = -entries
        else:
            out[spiked, place] = entries
