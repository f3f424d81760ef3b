"""The attacker of a lesson: its error rates lie on the trade-off curve, and follow from the
noise.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpsco_core.audit import attacker
from dpsco_core.audit.attacker import ACCUSED, FALSE_ALARMS, MISSED, PEOPLE
from dpsco_core.privacy import gaussian_delta

ALARM = 1e-6  # False-alarm rate of every statistical test of this file.
GAMES = 60


def error_shares() -> dict[str, int]:
    """Return the numbers of missed members and of wrongly accused others, over all games."""
    counts = {MISSED: 0, ACCUSED: 0}
    for seed in range(GAMES):
        for series, x, value in attacker.play(np.random.default_rng(seed)):
            assert x == FALSE_ALARMS
            counts[series] += round(value / 100 * PEOPLE)
    return counts


def test_the_error_rates_of_the_attacker_are_those_of_the_normal_law() -> None:
    counts, people = error_shares(), GAMES * PEOPLE
    expected = norm.cdf(norm.isf(0.01) - attacker.MU)
    for series, chance in ((MISSED, expected), (ACCUSED, 0.01)):
        assert binom.ppf(ALARM / 2, people, chance) <= counts[series]
        assert counts[series] <= binom.isf(ALARM / 2, people, chance)


def test_the_curve_is_that_of_the_note_and_no_lower_than_what_the_budget_promises() -> None:
    """The values are those of theory/trade-off-curves.md, 2: f(.001), f(.01) and f(.1) at the rho
    of (1, 1e-6).
    """
    percents = np.array([0.1, 1.0, 10.0])
    curve, promised = attacker.least_misses(percents), attacker.promised_misses(percents)
    assert curve == pytest.approx([99.7838, 98.1675, 85.1953], abs=1e-4)
    assert promised == pytest.approx(100 * (1 - 1e-6) - np.e * percents, abs=1e-9)
    assert (promised <= curve).all()


def test_the_four_quantities_are_read_from_the_same_curve() -> None:
    assert np.isclose(attacker.MU, np.sqrt(2 * attacker.RHO))
    assert gaussian_delta(attacker.RHO, attacker.BUDGET.epsilon) == pytest.approx(1e-6, rel=1e-6)
