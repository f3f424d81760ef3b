r"""Weights of the coordinates in a floor on data of unequal scales.

Coordinate j has the scale :math:`s_j` and the weights :math:`b_j=\min(1,cs_j)` and
:math:`a_j=s_jb_j`. Every c gives a valid floor: a small c is best for the part of the floor that is
due to sampling, a large one for that due to privacy. See theory/instance-floors.md, 16.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpsco_core.bounds.floors.van_trees import mean_constant
from dpsco_core.data.base import Distribution

# This many values of c are tried, from the inverse of the largest scale to that of the smallest.
CHOICES = 33


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The quantities of Theorem 4 of theory/instance-floors.md, 16, that depend on the weights."""

    mean: float  # the constant of the mean error: tr A - a_1/2, or C_d if all scales are equal
    root: float  # the constant tr A of the root mean square error
    rank: float  # the sum of the squares of the b_j, the largest of which is 1
    spread: float  # the sum of the squares of the a_j over d


def equal_weights(d: int) -> Weights:
    """Return the weights for equal scales, with which Theorem 4 is Theorem 1."""
    return Weights(mean=mean_constant(d), root=float(d), rank=float(d), spread=1.0)


@lru_cache(maxsize=256)
def weightings(law: Distribution) -> tuple[Weights, ...]:
    """Return candidate weights for a law; each of them gives a valid floor."""
    if law.lead == 1:
        return (equal_weights(law.d),)
    scales = law.scales
    candidates = []
    for c in np.geomspace(1 / scales[0], 1 / scales[-1], CHOICES):
        b = np.minimum(1.0, c * scales)
        a = b * scales
        candidates.append(
            Weights(
                mean=float(a.sum() - a.max() / 2),
                root=float(a.sum()),
                rank=float(b @ b),
                spread=float(a @ a) / law.d,
            )
        )
    return tuple(candidates)
