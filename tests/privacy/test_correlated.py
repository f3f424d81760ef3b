"""Noise that cancels: its deviations in a step and in the sum (theory/practice.md, 1.3)."""

from __future__ import annotations

import math

import numpy as np

from dpsco_core.privacy import Encoding
from dpsco_core.privacy.correlated import (
    CorrelatedSteps,
    inverse_coefficients,
    root_coefficients,
)


def test_the_deviations_are_those_of_the_steps_that_a_ledger_opens() -> None:
    """20,000 coordinates a step; each deviation within 6 standard errors."""
    steps, size = 30, 20_000
    opened = CorrelatedSteps(encoding=Encoding(steps=steps, size=size, l2_sensitivity=1, rho=0.5))
    rng = np.random.default_rng(0)
    rows = np.array([opened.release(np.zeros(size), rng) for _ in range(steps)])
    close = 6 / math.sqrt(2 * size)
    norms, inverses = (
        np.sqrt(np.cumsum(np.square(coefficients)))
        for coefficients in (root_coefficients(steps), inverse_coefficients(steps))
    )
    np.testing.assert_allclose(rows.std(axis=1), norms[-1] * inverses, rtol=close)
    np.testing.assert_allclose(np.cumsum(rows, axis=0).std(axis=1), norms[-1] * norms, rtol=close)


def test_at_100_steps_the_sum_has_a_quarter_of_the_deviation_of_independent_noise() -> None:
    """2.53 against 10 (theory/practice.md, 1.3)."""
    assert f"{np.sum(np.square(root_coefficients(100))):.2f}" == "2.53"
