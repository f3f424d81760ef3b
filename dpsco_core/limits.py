"""How large a scenario may be: in the library, and on the dashboard."""

from __future__ import annotations

import math
from dataclasses import dataclass

SEED_MAX = 2**63 - 1
EPSILON_MIN = 1e-6
RHO_MIN = EPSILON_MIN**2
M_MAX = 10_000_000
ITEM_BLOCKS = 5  # times `elements`: what all items of all users may hold
P_MAX = 50.0  # beyond, powers of a radius leave the range of a float


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest sizes that a place allows.

    Parameters
    ----------
    n, d : int
        Records and dimension.
    elements : int
        n times d of one sample.
    trials, grid, cells : int
        Repetitions, points of a grid, and cells (methods times points times trials).
    seconds : float
        Predicted work in all.
    where : str
        How the place is called in a sentence.
    """

    n: int
    d: int
    elements: int
    trials: int
    grid: int
    cells: int
    seconds: float
    where: str


LIBRARY = Limits(
    n=10**9,
    d=100_000,
    elements=400_000_000,
    trials=100_000,
    grid=1000,
    cells=10**8,
    seconds=math.inf,
    where="the library",
)
DASHBOARD = Limits(
    n=1_000_000,
    d=1000,
    elements=2_000_000,
    trials=200,
    grid=12,
    cells=5000,
    seconds=120.0,
    where="the dashboard",
)
