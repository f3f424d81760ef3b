"""The constraint sets that the tests share, and points around them."""

from __future__ import annotations

import numpy as np

from dpsco_core.geometry import (
    Ball,
    Box,
    ConstraintSet,
    EntropyMirror,
    GroupBall,
    L1Ball,
    LqBall,
    PowerMirror,
    Simplex,
    SolidSimplex,
    SparseHull,
)

D = 12


def all_sets(d: int = D, scale: float = 1.0) -> dict[str, ConstraintSet]:
    """Return one constraint set of every kind in `d` dimensions, a multiple of 3, with all lengths
    times `scale`.
    """
    rng = np.random.default_rng(5)
    return {
        "l2": Ball(d=d, radius=0.7 * scale),
        "l1": L1Ball(d=d, radius=1.3 * scale),
        "simplex": Simplex(d=d, radius=1.1 * scale),
        "solid simplex": SolidSimplex(d=d, radius=0.9 * scale),
        "l1.1": LqBall(d=d, exponent=1.1, radius=1.2 * scale),
        "l1.5": LqBall(d=d, exponent=1.5, radius=1.2 * scale),
        "l4": LqBall(d=d, exponent=4.0, radius=0.8 * scale),
        "l40": LqBall(d=d, exponent=40.0, radius=0.5 * scale),
        "box": Box(half_widths=rng.uniform(0.1, 1.0, d) * scale),
        "cube": Box.cube(d, 0.4 * scale),
        "group": GroupBall(d=d, group_size=3, radius=1.2 * scale),
        "sparse": SparseHull(d=d, sparsity=3, radius=0.8 * scale),
    }


NAMES = tuple(all_sets())
ASYMMETRIC = ("simplex", "solid simplex")
SYMMETRIC = tuple(name for name in NAMES if name not in ASYMMETRIC)


def divergence(mirror: PowerMirror | EntropyMirror, point: np.ndarray, base: np.ndarray) -> float:
    """Return the Bregman divergence by the textbook formula, which cancels where both points are
    close.
    """
    return mirror.value(point) - mirror.value(base) - float(mirror.gradient(base) @ (point - base))
