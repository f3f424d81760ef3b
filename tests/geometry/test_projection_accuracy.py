"""Every projection is accurate to 1e-13, as the certificates of private runs rely on.

Relative to the larger of the set and what is projected; see `objective_plan.projection_accuracy`.
The reference is a bound on the error that holds for every algorithm (`projection_errors`), in
extended precision. Faults that these tests would catch: a threshold from running sums over
thousands of entries, a tolerance in a case distinction, dust where zeros belong.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.geometry import (
    Ball,
    Box,
    ConstraintSet,
    GroupBall,
    L1Ball,
    LqBall,
    Simplex,
    SolidSimplex,
    SparseHull,
)
from dpsco_core.methods.euclidean.perturbation.objective_plan import PROJECTION, projection_accuracy
from tests.geometry.projection_errors import EXTENDED, hard_inputs, projection_error

pytestmark = pytest.mark.skipif(not EXTENDED, reason="needs 80-bit extended precision")


def sets(d: int) -> dict[str, ConstraintSet]:
    """Return constraint sets of all kinds in d dimensions, by name."""
    bodies: dict[str, ConstraintSet] = {
        "l2": Ball(d=d, radius=0.7),
        "l1": L1Ball(d=d, radius=1.3),
        "simplex": Simplex(d=d, radius=1.0),
        "solid simplex": SolidSimplex(d=d, radius=2.0),
        "cube": Box.cube(d, 0.4),
        "group": GroupBall(d=d, group_size=5, radius=1.2),
        "sparse": SparseHull(d=d, sparsity=5, radius=0.8),
    }
    exponents = (1.00001, 1.001, 1.1, 1.5, 1.9, 2.5, 4.0, 40.0, 1000.0)
    return bodies | {f"l{q}": LqBall(d=d, exponent=q, radius=1.5) for q in exponents}


def worst_error(constraint: ConstraintSet, seeds: int) -> tuple[float, str]:
    """Return the largest relative error of a projection over hard inputs, and the name of the
    input.
    """
    errors = []
    for seed in range(seeds):
        for label, v in hard_inputs(constraint, np.random.default_rng(seed)):
            error = projection_error(constraint, v, constraint.project(v))
            size = max(constraint.l2_radius, float(np.linalg.norm(v)))
            errors.append((error / size, label))
    return max(errors)


@pytest.mark.parametrize("d", [5, 50, 1000])
@pytest.mark.parametrize("name", sets(5))
def test_a_projection_is_accurate_to_thirteen_digits(name: str, d: int) -> None:
    constraint = sets(d)[name]
    error, label = worst_error(constraint, 3 if d < 1000 else 1)
    assert error <= projection_accuracy(constraint), label


# A small and a large exponent of each kind are quick, and those between them are in the slow suite.
EXPONENT_NAMES = ("l1.001", "l1.5", "l1.9", "l2.5", "l4.0")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.slow] * (n in EXPONENT_NAMES))
        for n in sets(5)
        if n not in ("l1.00001", "l1000.0")
    ],
)
def test_a_projection_of_ten_thousand_entries_is_as_accurate(name: str) -> None:
    error, label = worst_error(sets(10_000)[name], 1)
    assert error <= PROJECTION, label


@pytest.mark.parametrize("name", ["l1", "simplex", "solid simplex", "group"])
def test_entries_beyond_the_threshold_are_zero_and_not_dust(name: str) -> None:
    """One entry is far above ten thousand others, so that nothing else remains."""
    d = 10_000
    v = np.random.default_rng(3).standard_normal(d)
    v[0] = 1e3
    p = sets(d)[name].project(v)
    remaining = p[5:] if name == "group" else p[1:]
    assert np.abs(remaining).max() == 0


@pytest.mark.parametrize("name", ["l2", "l1", "simplex", "sparse", "l1.5"])
def test_the_bound_sees_an_error(name: str) -> None:
    """A point of the set that is 1e-9 off the projection, and one outside, are both noticed."""
    constraint = sets(50)[name]
    rng = np.random.default_rng(4)
    for v in rng.standard_normal((10, 50)):
        p = constraint.project(v)
        shifted = p + 1e-9 * rng.standard_normal(50) / math.sqrt(50)
        for wrong in (shifted, constraint.project(shifted)):
            distance = float(np.linalg.norm(wrong - p))
            assert projection_error(constraint, v, wrong) >= 0.99 * distance - 1e-14
