"""Bounds on iterative updating hold only where its inner program is solved, as the proofs
assume.
"""

import numpy as np
import pytest

from dpsco_core.bounds.euclidean.clipped import ITERATIVE_RISKS
from dpsco_core.bounds.mean.iterative import ITERATIVE_BOUNDS
from dpsco_core.catalogue import BOUNDS, METHODS
from dpsco_core.methods.records.directions import (
    EXACT_DIMENSIONS,
    furthest_direction,
    quantile_of_projections,
)
from dpsco_core.privacy.budget import ZCDP, ApproxDP
from tests.bounds.helpers import make_setting

ROWS = (*ITERATIVE_BOUNDS, *ITERATIVE_RISKS)
INEXACT = "solve the program (27) exactly"


@pytest.mark.parametrize("bound", ROWS, ids=lambda b: b.card.slug)
def test_a_bound_on_iterative_updating_fails_where_the_inner_program_is_not_solved(bound):
    budget = ApproxDP(epsilon=0.5, delta=1e-6) if bound.card.privacy == "approx" else ZCDP(rho=0.5)
    for d in (1, 2, 3, 20):
        setting = make_setting(n=10**9, d=d, order=2.0, directional_moment=2.0, budget=budget)
        inexact = [s for s in bound.failures(setting) if INEXACT in s]
        assert len(inexact) == (d > EXACT_DIMENSIONS)
        if bound in ITERATIVE_BOUNDS:
            assert list(bound.failures(setting)) == inexact, "nothing else fails here"


def test_the_list_holds_all_bounds_on_methods_that_search_for_directions():
    searching = {m.card.slug for m in METHODS if m.reads == "grouped"}
    assert {b.card.slug for b in ROWS} == {
        b.card.slug for b in BOUNDS if b.card.method in searching
    }


@pytest.mark.parametrize("d", range(1, EXACT_DIMENSIONS + 1))
# Different solvers handle these two sizes in the plane.
@pytest.mark.parametrize("points", [9, 65])
def test_where_the_hypothesis_holds_the_search_finds_the_best_direction(d, points):
    rng = np.random.default_rng(d)
    angles = np.linspace(0, 2 * np.pi, 20_000)
    grid = np.array([[1.0], [-1.0]])
    if d == 2:
        grid = np.column_stack([np.cos(angles), np.sin(angles)])
    for left_out in (1, points // 3, points // 2):
        offsets = rng.standard_t(3, (points, d)) + 0.3
        ascended, _ = furthest_direction(offsets, left_out, rng)
        best = quantile_of_projections(offsets, grid, left_out).max()
        assert best - 1e-12 <= ascended <= best + 1e-2


def test_where_it_fails_the_search_misses_the_best_direction():
    rng, missed = np.random.default_rng(0), 0
    for _ in range(20):
        offsets = rng.standard_normal((41, EXACT_DIMENSIONS + 1))
        direction, other_direction = (
            furthest_direction(offsets, 20, np.random.default_rng(s))[0] for s in (1, 2)
        )
        # The smaller of the two values would not be the maximum.
        missed += abs(direction - other_direction) > 1e-6
    assert missed > 0
