r"""Spikes whose margins on a simplex have one sign, whatever the answer: which corner is hidden?"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, Card
from dpsco_core.base.errors import require
from dpsco_core.data.hidden.any_labels import AnyLabels


@dataclass(frozen=True, kw_only=True)
class CornerLabels(AnyLabels):
    r"""Features :math:`\xi q^{-1/p}(e_J-\mathbf1)` with probability q, and the fair sign as label.

    J is hidden. Where :math:`\sum_jw_j=r` the margin is :math:`q^{-1/p}(w_J-r)\le0`, at which the
    hinge loss is linear. Raw moments are :math:`E|X_j|^p=1`, and 0 at J.

    Raises `InvalidInput` if a value is outside its range.

    Examples
    --------
    >>> law = CornerLabels(d=4, moment_order=2.0, spike_probability=0.25)
    >>> law.draw(np.random.default_rng(0)).spike.tolist()
    [-2.0, -2.0, -2.0, 0.0]
    """

    hides = "classes"
    label_gap = 0.0
    smallest_d = 2
    card = Card(
        slug="corner-labels",
        name="Corner labels (hidden corner)",
        paper=OWN,
        statement="docs/theory/bounds-everywhere.md, 6.3",
        summary="Rare features that pull to one hidden corner of a simplex, where all margins have "
        "one sign.",
    )

    def __post_init__(self) -> None:
        """Refuse a pattern without exactly one +1."""
        super().__post_init__()
        if self.pattern is not None:
            require(self.pattern.count(1) == 1, "pattern", "signs, one of them +1", self.pattern)

    @property
    def weight(self) -> int:
        """The number of nonzero coordinates of a spike: all but one."""
        return self.d - 1

    @property
    def smallest_second_moment(self) -> float:
        """The smallest eigenvalue of the second moment matrix, which is 0."""
        return 0.0

    @property
    def spike(self) -> Vector:
        """The feature with the sign +1, shape (d,): 0 at the hidden corner."""
        return self.record_size * (self.signs - 1) / 2

    @property
    def label_direction(self) -> Vector:
        """A direction whose product with every feature has the sign of the label, shape (d,)."""
        return -np.ones(self.d)

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law with a drawn corner."""
        signs = np.full(self.d, -1, dtype=np.int8)
        signs[rng.integers(self.d)] = 1
        return replace(self, pattern=tuple(signs.tolist()))
