"""Records of an adversary: broken, far out, tiny, and such whose lengths leave the doubles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# Each pattern is repeated over the coordinates.
ADVERSARIAL = (
    (0.0,),
    (1e9,),
    (-1e9,),
    (1e9, -1e9),
    (math.nan,),
    (math.nan, 1e9),
    (math.inf,),
    (-math.inf,),
    (math.inf, -math.inf),
    (1e300, math.nan, -math.inf),
    (1e300,),
    (-1e300, 1e-300),
    (1.7e308,),
    (-1.7e308, 1.7e308),
    (9e307, 1.0, 1.0),
    (-9e307, 1.0, 1.0),
    (1e154,),
    (-1e151, 3.0),
    (1e-300,),
    (5e-324, -5e-324),
    (1.0, -2.0, 1e-200),
)
TARGETS = (0.0, 1.0, -1.0, math.nan, math.inf, -1e300, 1e9)
# Each record has features and a target, which matters to linear models only.
RECORDS = tuple((p, TARGETS[i % len(TARGETS)]) for i, p in enumerate(ADVERSARIAL))


def adversarial(pattern: tuple[float, ...], d: int) -> NDArray[np.float64]:
    """Return a record of d coordinates, shape (d,), which repeats the pattern."""
    return np.resize(np.array(pattern), d)
