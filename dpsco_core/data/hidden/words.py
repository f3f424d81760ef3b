r"""Spikes with words: the hard instances of linear losses on sets other than the l2 ball.

A record is 0, or with probability q the spike :math:`q^{-1/p}\nu`, where the word :math:`\nu` is
hidden: which corner, or which block and which signs in it. See theory/bounds-everywhere.md, 2.4 and
2.5; all signs are `dpsco_core.data.hard.Hypercube`.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.cards import OWN, Card
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import require
from dpsco_core.data.hard import TwoPoint
from dpsco_core.geometry.geometries import GROUP_SIZE


@dataclass(frozen=True, kw_only=True)
class Corners(TwoPoint):
    r"""A hidden coordinate: :math:`\nu=\pm e_j`, or :math:`2e_j-1`, each one equally likely.

    Formulas, parameters and errors: `TwoPoint`; d is at least 2.

    Examples
    --------
    >>> law = Corners(d=4, moment_order=2.0, spike_probability=0.25, signed=False)
    >>> law.draw(np.random.default_rng(0)).mean.tolist(), law.mean_norm
    ([-0.5, -0.5, -0.5, 0.5], 1.0)
    """

    # Whether the other coordinates are 0, as at the corners of the l1 ball; on a simplex they are
    # -1.
    signed: bool = True

    sampling = Coefficients(fixed=6e4, per_row=0, per_element=0.8)
    card = Card(
        slug="corners",
        name="Corners (a hidden coordinate)",
        paper=OWN,
        statement="bounds-everywhere, 2.4",
        summary="A rare spike in one hidden coordinate: the instance of the bounds on the l1 ball "
        "and on simplices, where the best answer is a corner.",
        infinite_variance="Spikes are shrunk until their central p-th moment is at most 1.",
    )
    smallest_d = 2

    def __post_init__(self) -> None:
        """Refuse a pattern that is not a signed unit vector or, unsigned, -1 but for one +1."""
        super().__post_init__()
        if self.pattern is not None:
            word = np.array(self.pattern)
            valid = len(word) == self.d and int(np.abs(word).sum()) == self.weight
            must = f"{self.d} numbers, one of them -1 or +1 and the others 0"
            if self.signed:
                valid = valid and int(np.count_nonzero(word)) == 1
            else:
                must = f"{self.d} signs, one of them +1"
                valid = valid and int((word == 1).sum()) == 1 and set(self.pattern) <= {-1, 1}
            require(valid, "pattern", must, self.pattern)

    @property
    def weight(self) -> int:
        """The number of nonzero coordinates of a word: 1 for a signed corner, otherwise all d."""
        return 1 if self.signed else self.d

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law with a hidden coordinate that is drawn from the prior."""
        word: NDArray[np.int8] = np.full(self.d, 0 if self.signed else -1, dtype=np.int8)
        place, is_positive = int(rng.integers(self.d)), int(rng.integers(2))
        word[place] = 1 if is_positive or not self.signed else -1
        return replace(self, pattern=tuple(word.tolist()))


@dataclass(frozen=True, kw_only=True)
class SignBlocks(TwoPoint):
    r"""Hidden signs in a hidden block of five coordinates; the other coordinates are 0.

    If 5 does not divide d, the last coordinates are in no block; if d < 5, all are one block.
    Formulas, parameters and errors: `TwoPoint`.

    Examples
    --------
    >>> law = SignBlocks(d=10, moment_order=2.0, spike_probability=0.25)
    >>> law.draw(np.random.default_rng(0)).pattern
    (0, 0, 0, 0, 0, 1, 1, -1, -1, -1)
    """

    sampling = Coefficients(fixed=6e4, per_row=0, per_element=0.8)
    card = Card(
        slug="blocks",
        name="Blocks (hidden signs in five coordinates)",
        paper=OWN,
        statement="bounds-everywhere, 2.5",
        summary="A rare spike with hidden signs in one hidden block of five coordinates: the "
        "instance of the bounds on the group-l1 ball and on sparse vectors.",
        infinite_variance="Spikes are shrunk until their central p-th moment is at most 1.",
    )

    def __post_init__(self) -> None:
        """Refuse a pattern whose signs do not fill exactly one block."""
        super().__post_init__()
        if self.pattern is not None:
            places = np.flatnonzero(self.pattern)
            valid = len(self.pattern) == self.d and len(places) == self.weight
            valid = valid and set(self.pattern) <= {-1, 0, 1}
            valid = valid and places[0] % GROUP_SIZE == 0 and places[-1] - places[0] < GROUP_SIZE
            must = f"{self.d} numbers, signs in one block of {self.weight} and 0 elsewhere"
            require(bool(valid), "pattern", must, self.pattern)

    @property
    def weight(self) -> int:
        """The number of nonzero coordinates of a word: the size of a block."""
        return min(self.d, GROUP_SIZE)

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the law with a block and signs in it that are drawn from the prior."""
        word = np.zeros(self.d, dtype=np.int8)
        start = GROUP_SIZE * int(rng.integers(max(1, self.d // GROUP_SIZE)))
        word[start : start + self.weight] = 2 * rng.integers(0, 2, size=self.weight) - 1
        return replace(self, pattern=tuple(word.tolist()))
