"""How far a record moves a step of gradient descent: checks that tests and mutation tests share.

Every check raises AssertionError on a fault.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_core.base.errors import InvalidInput
from dpsco_core.methods.euclidean import IterativeDescent, StrongCoordinatewiseDescent
from dpsco_core.methods.steps import Descent
from dpsco_core.problems.base import Setting
from tests.methods.euclidean.framework.helpers import (
    Array,
    Recorder,
    replaced,
    visiting,
)
from tests.methods.mean.checks import ADVERSARIAL, adversarial

# Features or points with targets, for the one record that a neighbour replaces.
TARGETS = (0.0, 1.0, -1.0, math.nan, math.inf, -1e300, 1e9)
RECORDS = tuple((p, TARGETS[i % len(TARGETS)]) for i, p in enumerate(ADVERSARIAL))


def with_steps(method: Any, steps: int) -> Any:
    """Return the method with a number of steps, and what else it is left to itself."""
    if isinstance(method, StrongCoordinatewiseDescent):
        return replace(method, steps=steps)
    return replace(method, descent=Descent(steps=steps, step_size=0.1))


def statistics(method: Any, where: Setting, sample: Any, points: Array, seed: int = 0) -> Recorder:
    """The exact statistic of every step, at the given points, whatever is released."""
    ledger = Recorder(where.budget)
    with visiting(points):
        try:
            method.release(sample, method.plan(where), ledger, np.random.default_rng(seed))
        except InvalidInput as error:  # the ledger refuses a statistic that is not finite
            raise AssertionError(f"a record reached the ledger: {error}") from error
    return ledger


def check_neighbours(
    method: Any,
    where: Setting,
    sample: Any,
    other: Any,
    points: Array,
    *,
    attained: bool = False,
) -> None:
    """No step's statistic moves further than its entry says, whatever points are queried."""
    first = statistics(method, where, sample, points)
    second = statistics(method, where, other, points)
    assert first.entries == second.entries
    moved = []
    for entry, a, b in zip(first.entries, first.exact, second.exact, strict=True):
        gap = a - b
        size = float(np.abs(gap).max())
        moved.append(size * float(np.linalg.norm(gap / size)) if size > 0 else 0.0)
        # Sums of n clipped records are rounded by a relative n 2^-53 at most.
        assert moved[-1] <= entry.sensitivity * (1 + 1e-9), f"{moved[-1]} > {entry.sensitivity}"
        if isinstance(method, IterativeDescent):
            assert np.sum(np.any(gap != 0, axis=1)) <= 1, "a record is in one group"
    if isinstance(method, StrongCoordinatewiseDescent):
        assert np.count_nonzero(moved) <= 1, "a record is in one block"
    if attained:
        assert max(moved) >= first.entries[0].sensitivity * (1 - 1e-6), "it is attained"


def check_worst_neighbours(method: Any, where: Setting, sample: Any, points: Array) -> None:
    """Every record of the list replaces, and is replaced by, an ordinary one and its successor."""
    i = where.n // 2
    for (old, before), (new, after) in zip(RECORDS, (*RECORDS[1:], RECORDS[0]), strict=True):
        one = replaced(sample, i, adversarial(old, where.d), before)
        two = replaced(sample, i, adversarial(new, where.d), after)
        check_neighbours(method, where, one, two, points)
        check_neighbours(method, where, one, sample, points)
