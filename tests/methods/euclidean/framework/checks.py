"""How far a record moves a step of gradient descent.

Every check raises AssertionError on a fault.
"""

from __future__ import annotations

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
    visiting,
)


def with_steps(method: Any, steps: int) -> Any:
    """Return the method with a number of steps, where it can be set."""
    if isinstance(method, StrongCoordinatewiseDescent):
        return replace(method, steps=steps)
    return replace(method, descent=Descent(steps=steps, step_size=0.1))


def statistics_of_steps(
    method: Any, setting: Setting, sample: Any, points: Array, seed: int = 0
) -> Recorder:
    """Return a recorder of the exact statistic of every step at given points, whatever
    is released.
    """
    ledger = Recorder(setting.budget)
    with visiting(points):
        try:
            method.release(sample, method.plan(setting), ledger, np.random.default_rng(seed))
        except InvalidInput as error:  # The ledger refuses a statistic that is not finite.
            raise AssertionError(f"a record reached the ledger: {error}") from error
    return ledger


def check_neighbours(
    method: Any,
    setting: Setting,
    sample: Any,
    neighbour: Any,
    points: Array,
    *,
    attained: bool = False,
) -> None:
    """Check that no step's statistic moves by more than its entry states, at any query points."""
    recorder = statistics_of_steps(method, setting, sample, points)
    neighbour_recorder = statistics_of_steps(method, setting, neighbour, points)
    assert recorder.entries == neighbour_recorder.entries
    distances = []
    for entry, a, b in zip(recorder.entries, recorder.exact, neighbour_recorder.exact, strict=True):
        gap = a - b
        size = float(np.abs(gap).max())
        distances.append(size * float(np.linalg.norm(gap / size)) if size > 0 else 0.0)
        # Sums of n clipped records have a relative rounding error of at most n 2^-53.
        assert distances[-1] <= entry.sensitivity * (1 + 1e-9), (
            f"{distances[-1]} > {entry.sensitivity}"
        )
        if isinstance(method, IterativeDescent):
            assert np.sum(np.any(gap != 0, axis=1)) <= 1, "a record is in one group"
    if isinstance(method, StrongCoordinatewiseDescent):
        assert np.count_nonzero(distances) <= 1, "a record is in one block"
    if attained:
        assert max(distances) >= recorder.entries[0].sensitivity * (1 - 1e-6), "it is attained"
