"""The attack that distinguishes two records by their likelihood ratio at epsilon."""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_core.audit.attacks import Attack, measured
from dpsco_core.base.arrays import Vector
from dpsco_core.privacy import ApproxDP
from dpsco_core.privacy.tradeoff import budget_curve


def attack_at_epsilon(positive: Vector, negative: Vector, budget: ApproxDP) -> Attack:
    """Return the attack on equally many runs with either record, by their log likelihood ratios at
    epsilon.
    """
    return measured(
        budget_curve(budget),
        false_alarms=int((negative > budget.epsilon).sum()),
        negatives=len(negative),
        misses=int((positive <= budget.epsilon).sum()),
        positives=len(positive),
        confidence=0.999,
    )


def assert_on_the_edge(attack: Attack, budget: ApproxDP) -> None:
    """Assert that an attack attains the budget, so that the accountant is tight."""
    line = 1 - budget.delta - np.exp(budget.epsilon) * attack.alarm_share
    assert attack.miss_share == pytest.approx(line, abs=0.04)
