"""Every explicit bound has a second implementation in the tests; those on the mean are here."""

from __future__ import annotations

import ast
import math
import random
from functools import lru_cache
from pathlib import Path

import pytest

from dpsco_core.bounds import Bound
from dpsco_core.privacy.budget import ZCDP, PureDP
from dpsco_core.problems.base import Setting
from tests.bounds import helpers
from tests.trust.independent import COUNTERPARTS, FORMULAS, Inputs
from tests.trust.theory import EXPLICIT

ROOT = Path(__file__).resolve().parents[2]


def make_setting(source: random.Random, pure: bool) -> Setting:
    """Return a setting of unit moments in which a row is not void."""
    strength = 10 ** source.uniform(-1, 0.5)
    bound = 10 ** source.uniform(-0.5, 0.5)
    return helpers.make_setting(
        n=int(10 ** source.uniform(5, 7)),
        d=source.choice([9, 16, 40]),
        order=source.choice([2, 2.5, 3, 4]),
        budget=PureDP(epsilon=strength) if pure else ZCDP(rho=strength),
        mean_bound=bound,
        directional_moment=bound + 1,
    )


@pytest.mark.parametrize("slug", FORMULAS)
def test_a_bound_on_the_mean_is_what_its_formula_says(slug: str) -> None:
    """A grid gives no less than the minimum, and for lower bounds, which are maxima, no more."""
    bound: Bound = next(b for b in EXPLICIT if b.card.slug == slug)
    source, compared = random.Random(slug), 0
    for _ in range(3):
        setting = make_setting(source, bound.card.privacy == "pure")
        value, grid = bound.value(setting), FORMULAS[slug](Inputs(setting))
        if math.isfinite(value) and value > 0:
            assert value == pytest.approx(grid, rel=2e-3), setting
            better, worse = (grid, value) if bound.card.kind == "lower" else (value, grid)
            assert better <= worse * (1 + 1e-4), "the optimum is missed"
            compared += 1
    assert compared > 0


def test_every_explicit_bound_has_a_second_implementation_in_the_tests() -> None:
    assert set(COUNTERPARTS) == {b.card.slug for b in EXPLICIT}
    for slug, place in COUNTERPARTS.items():
        path, _, name = place.partition("::")
        assert name in names_in(path), slug


@lru_cache
def names_in(path: str) -> frozenset[str]:
    """Return the names of the tests of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
