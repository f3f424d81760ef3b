"""Noise that cancels between steps: its deviations are the mechanism's, and its paths follow
them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.explain.methods.cancelling import cancelling
from dpsco_core.privacy import Encoding
from dpsco_core.privacy.mechanisms.correlated import CorrelatedSteps


def test_the_deviations_are_those_of_the_steps_that_a_ledger_opens() -> None:
    """A step has 20,000 coordinates; each deviation is within 6 standard errors."""
    steps, size = 30, 20_000
    noise = cancelling(steps)
    opened = CorrelatedSteps(encoding=Encoding(steps=steps, size=size, l2_sensitivity=1, rho=0.5))
    rng = np.random.default_rng(0)
    rows = np.array([opened.release(np.zeros(size), rng) for _ in range(steps)])
    close = 6 / math.sqrt(2 * size)
    np.testing.assert_allclose(rows.std(axis=1), noise.step_std, rtol=close)
    np.testing.assert_allclose(np.cumsum(rows, axis=0).std(axis=1), noise.sum_std, rtol=close)


def test_cancelling_noise_is_larger_in_a_step_and_smaller_in_the_sum() -> None:
    noise = cancelling(400)
    assert (noise.step_std >= 1).all()
    assert noise.sum_std[-1] == pytest.approx(2.97, abs=0.01)
    assert noise.independent_std[-1] == 20
    ends = [cancelling(400, seed) for seed in range(200)]
    spread = np.std([[e.sum_path[-1], e.independent_path[-1]] for e in ends], axis=0)
    np.testing.assert_allclose(spread, [noise.sum_std[-1], 20], rtol=0.3)
