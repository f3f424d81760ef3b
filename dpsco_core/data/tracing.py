r"""The instance of the lower bounds by tracing, as a distribution that can be selected.

With probability q, the spike probability, a record is :math:`q^{-1/p}s`; otherwise it is 0. The
signs s of a record are independent, with means :math:`\Theta_j` that are unknown to the algorithm
and drawn from a prior. The bounds hold on average over the prior, after `draw`.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import require
from dpsco_core.data.hard import HardInstance
from dpsco_core.data.ranges import exp_or_inf
from dpsco_core.data.spike_scale import centring_shrink


@dataclass(frozen=True, kw_only=True)
class Tracing(HardInstance):
    r"""Rare records of signs with hidden biases :math:`\Theta_j=rT_j`.

    .. math:: T_j=2\,\mathrm{Beta}(\tfrac u2,\tfrac u2)-1, \qquad \mu = q^{1-1/p}\,\Theta,
        \qquad E|X_j|^p = 1.

    The central p-th moment is at most 1 if q is at most :math:`\frac{2(p-1)}{(p-2)(p+1)}`, and for
    p <= 3 at any q. See theory/approx-lower-bounds.md, 1 (a). For p < 2 records are multiplied by
    `shrink`, which these formulas leave out.

    Raises `InvalidInput` if a value is outside its range.

    Examples
    --------
    >>> law = Tracing(d=4, moment_order=2.0, spike_probability=0.25)
    >>> law.mean_norm, law.moment(2), law.draw(np.random.default_rng(0)).mean.round(3).tolist()
    (1.0, 1.0, [0.202, 0.213, 0.497, 0.462])
    """

    # the parameter u > 0 of the Beta law: 2 makes it uniform, larger values concentrate it at 0
    shape: float = 2.0
    spread: float = 1.0  # the factor r of the biases, in (0, 1]
    # the biases Θ, of length d; None until they are drawn, and needed by `mean` and `sample`
    biases: tuple[float, ...] | None = None

    sampling = Coefficients(fixed=6e4, per_row=0, per_element=0.8)
    card = Card(
        slug="tracing",
        name="Tracing (biased signs)",
        paper=OWN,
        statement="approx-lower-bounds, section 1 (a)",
        summary="Rare records of independent signs with hidden biases: the instance of the bounds "
        "that bind every (epsilon, delta)-private algorithm.",
        infinite_variance="Spikes are shrunk until their central p-th moment is at most 1.",
    )

    def __post_init__(self) -> None:
        """Refuse a shape or a spread outside its range, and biases that exceed the spread."""
        super().__post_init__()
        require(0 < self.shape < math.inf, "shape", "positive and finite", self.shape)
        require(0 < self.spread <= 1, "spread", "in (0, 1]", self.spread)
        if self.biases is not None:
            are_small = all(abs(x) <= self.spread for x in self.biases)
            is_valid = len(self.biases) == self.d and are_small
            condition = f"{self.d} numbers of size at most {self.spread:g}"
            require(is_valid, "biases", condition, self.biases)

    @property
    def shrink(self) -> float:
        """The factor by which spikes are multiplied, so that central p-th moments are at most 1."""
        return centring_shrink(self.moment_order)

    @property
    def weight(self) -> int:
        """The number of nonzero coordinates of a spike: all d."""
        return self.d

    @property
    def mean(self) -> Vector:
        r"""The mean :math:`q^{1-1/p}\Theta`, shape (d,); needs drawn biases."""
        return self._mean_size * self._drawn_biases()

    @property
    def mean_norm(self) -> float:
        r"""The largest norm of a mean of the prior, :math:`q^{1-1/p}r\sqrt d`."""
        return self._mean_size * self.spread * math.sqrt(self.d)

    @property
    def variance_trace(self) -> float:
        r"""The largest trace of Cov(X) of the prior, :math:`d\,q^{1-2/p}`, at biases of 0."""
        return self.d * self.moment(2)

    @property
    def directional_moment(self) -> float:
        r"""A bound on :math:`\sup_u (E|\langle u, X-\mu\rangle|^p)^{1/p}` for all biases.

        By Jensen's inequality it is :math:`\sqrt d` times the root of a coordinate's moment.
        """
        root = math.pow(self.moment(self.moment_order), 1 / self.moment_order)
        return math.sqrt(self.d) * root

    def moment(self, k: float) -> float:
        r"""Return the largest :math:`E|X_j-\mu_j|^k` of the prior; k is real, at least 0.

        The maximum is taken over a grid of biases. For k from 2 to p it is :math:`q^{1-k/p}`, at a
        bias of 0, if q is so small that the central p-th moment is at most 1.
        """
        require(k >= 0, "k", "a number of at least 0", k)
        if k == math.inf:
            return math.inf
        q = self.spike_probability
        t = np.linspace(0.0, self.spread, 2001)
        y = q * t
        # Moments are in units of the spike's entries; numpy takes 0 to the power 0 as 1.
        spiked = (1 + t) / 2 * (1 - y) ** k + (1 - t) / 2 * (1 + y) ** k
        largest = float(((1 - q) * y**k + q * spiked).max())
        moment = exp_or_inf(math.log(largest) - k / self.moment_order * math.log(q))
        return moment * math.pow(self.shrink, k)

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law with biases of the signs that are drawn from the prior."""
        uniform = rng.beta(self.shape / 2, self.shape / 2, size=self.d)
        return replace(self, biases=tuple((self.spread * (2 * uniform - 1)).tolist()))

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill the rows with zeros and, at random, vectors of biased signs."""
        size = self._spike_size
        positive_probability = (1 + self._drawn_biases()) / 2
        spiked = self._draw_spiked_indices(len(out), rng)
        out.fill(0.0)
        out[spiked] = np.where(
            rng.random((len(spiked), self.d)) < positive_probability, size, -size
        )

    def _drawn_biases(self) -> NDArray[np.float64]:
        """Return the biases as floats; raise `InvalidInput` if they have not been drawn."""
        has_biases = self.biases is not None
        require(has_biases, "biases", "drawn first, with draw(rng)", self.biases)
        return np.array(self.biases, dtype=np.float64)
