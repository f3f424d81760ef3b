r"""Spikes whose targets only repeat a sign: no linear model fits, and the loss is linear."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.data.base import Hidden
from dpsco_core.data.hidden.parameter import HiddenParameter
from dpsco_core.geometry.base import ConstraintSet


@dataclass(frozen=True, kw_only=True)
class AnyLabels(HiddenParameter):
    r"""Features :math:`\xi q^{-1/p}\nu` with probability q, and 0 otherwise, with a fair sign.

    The target is :math:`\xi K`, with K beyond every margin of the constraint set, so that the
    absolute loss is :math:`K-q^{-1/p}\langle\nu,w\rangle` on it: the linear loss on the hypercube
    of signs, with features of mean 0. Raw moments are :math:`E|X_j|^p=1`.

    Raises `InvalidInput` if a value is outside its range.

    Examples
    --------
    >>> law = AnyLabels(d=4, moment_order=2.0, spike_probability=0.25)
    >>> law.moment(2), law.record_norm, law.mean_norm
    (1.0, 4.0, 0.0)
    """

    hides: ClassVar[Hidden] = "labels"
    fits_model = False
    label_gap = 1.0
    sampling = Coefficients(fixed=6e4, per_row=0, per_element=0.9)
    card = Card(
        slug="any-labels",
        name="Spikes with labels beyond every fit",
        paper=OWN,
        statement="docs/theory/bounds-everywhere.md, 6.1",
        summary="Rare features along hidden signs whose labels lie beyond every linear fit, so "
        "that losses with bounded slopes are linear.",
    )

    @property
    def weight(self) -> int:
        """The number of nonzero coordinates of a spike: all d."""
        return self.d

    @property
    def largest_second_moment(self) -> float:
        """The largest eigenvalue of the second moment matrix, in the direction of the spike."""
        return self.second_moment_trace

    @property
    def smallest_second_moment(self) -> float:
        """The smallest eigenvalue of the second moment matrix: 0 if there is another direction."""
        return self.largest_second_moment if self.d == 1 else 0.0

    @property
    def fourth_moment_trace(self) -> float:
        r"""The supremum :math:`\sup_{\|v\|=1} E\langle X,v\rangle^2\|X\|^2`, along the spike."""
        return self.second_moment_trace * self.record_norm**2

    def squared_margin(self, v: Vector) -> float:
        """Return the mean squared product of a record with v."""
        return self.spike_probability * float(self.spike_margins(v)[0]) ** 2

    @property
    def record_size(self) -> float:
        r"""The size :math:`q^{-1/p}` of the entries of a spike."""
        return math.pow(self.spike_probability, -1 / self.moment_order)

    @property
    def spike(self) -> Vector:
        r"""The feature :math:`q^{-1/p}\nu`, shape (d,), which is as likely as its negative."""
        return self.record_size * self.signs

    def parameter(self, body: ConstraintSet) -> Vector:
        """Return the point of the set that is furthest along the spike."""
        return body.support_point(self.spike)

    def spike_margins(self, w: Vector) -> Vector:
        """Return the product of the spike with w, shape (1,)."""
        return np.array([self.spike @ w])

    def fill(self, out: Vector, rng: np.random.Generator) -> None:
        """Fill the rows with zeros and, at random, the spike with a random sign."""
        spike = self.spike
        spiked = self._draw_spiked_indices(len(out), rng)
        out.fill(0.0)
        out[spiked] = np.where(rng.integers(0, 2, size=(len(spiked), 1)) > 0, spike, -spike)
