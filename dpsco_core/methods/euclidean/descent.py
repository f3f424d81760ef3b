"""Projected gradient descent: the loop that the full-batch optimisers share."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.methods.euclidean.base import Path
from dpsco_core.methods.euclidean.tuning import Descent


@dataclass(frozen=True, eq=False, kw_only=True)
class Descended:
    """The result of a descent: the averaged point and the path."""

    value: Vector
    path: Path


def descend(
    constraint: ConstraintSet,
    # T steps of size eta, and what is averaged: the queried points :math:`w_0..w_{T-1}`, as the
    # proof of Kamath et al., Theorem 3.1 needs, or the last ones of :math:`w_1..w_T`
    descent: Descent,
    # takes the point and the number of the step, from 0, and returns a finite gradient
    oracle: Callable[[Vector, int], Vector],
    # so many descents side by side: points and gradients have shape (copies, d)
    copies: int | None = None,
) -> Descended:
    r"""Run :math:`w_{t+1} = \Pi(w_t - \eta g_t)`, from the centre, and average.

    Kamath et al. (2022), Algorithm 1, and Zhao et al. (2024), Algorithm 1.
    """
    w = constraint.centre if copies is None else np.tile(constraint.centre, (copies, 1))
    project = constraint.project if copies is None else partial(_project_rows, constraint)
    path = Path(w, descent.steps)
    total = np.zeros_like(w)
    for t in range(descent.steps):
        if descent.queried:
            total += w
        w = project(w - descent.step_size * oracle(w, t))
        path.add(t + 1, w)
        if not descent.queried and t >= descent.steps - descent.averaged:
            total += w
    return Descended(value=total / descent.points, path=path)


def _project_rows(constraint: ConstraintSet, rows: Vector) -> Vector:
    return np.array([constraint.project(row) for row in rows])
