"""Iterative updating with random groups: its sampler, its ledger, its noise, and attacks on it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.methods.mean import IterativeUpdating, IterativeUpdatingAllocated
from dpsco_core.methods.records import groups
from dpsco_core.methods.records.groups import allocated_groups, clipped_group_means
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger, PureDP, allocation_delta
from dpsco_core.privacy.allocation import allocate_steps
from dpsco_core.privacy.mechanisms import AllocatedGaussian
from dpsco_core.scenario import Scenario
from tests.methods.ratio_attack import attack_at_epsilon

POINT = Scenario(methods=("mean.iterative-allocated",), n=2000, d=3)
TWO_GROUP_BUDGET = ApproxDP(epsilon=1.0, delta=0.05)


def test_a_record_draws_each_group_with_the_same_probability_and_by_itself() -> None:
    rng, counts = np.random.default_rng(2), np.zeros((3, 3))
    for _ in range(9000):
        group = allocated_groups(5, 3, rng)
        counts[group[0], group[4]] += 1
    assert chisquare(counts.ravel()).pvalue > 1e-3


def test_the_ledger_books_all_groups_as_one_and_the_noise_is_certified() -> None:
    setting, rng = POINT.setting, np.random.default_rng(0)
    plan = IterativeUpdatingAllocated().plan(setting)
    rows = POINT.instance.problem.sample(2000, rng)
    release = IterativeUpdatingAllocated().release(rows, plan, Ledger(setting.budget), rng)
    (entry,) = release.ledger.entries
    assert release.ledger.spent() == setting.budget
    assert entry.mechanism == "allocated gaussian" and entry.disjoint_blocks == 8
    assert entry.sensitivity == pytest.approx(2 * plan.diagnostics["clip_radius"] / 250)
    multiplier = 2 * entry.noise / entry.sensitivity
    assert allocation_delta(8, multiplier, 1.0) <= 1e-6
    assert allocation_delta(8, 0.99 * multiplier, 1.0) > 1e-6


def test_splitting_costs_next_to_nothing_where_groups_are_drawn() -> None:
    """The average of the groups has the noise of a mean without groups, not 2.8 times as much."""
    radius, whole = 5.0, 2 / np.sqrt(2 * POINT.setting.gaussian_rho)
    for method, price in ((IterativeUpdatingAllocated, 1.0), (IterativeUpdating, np.sqrt(8))):
        plan = method(radius=radius).plan(POINT.setting)
        average = plan.diagnostics["noise_std"] / np.sqrt(8)
        assert average / (whole * radius / 2000) == pytest.approx(price, rel=0.01)


def test_a_group_is_divided_by_a_public_number() -> None:
    x, moves = np.array([[0.5], [0.0], [0.0], [0.0]]), set()
    for group in ([0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 1, 1]):
        rows = clipped_group_means(DenseRows(x), np.array(group, dtype=np.int32), 2, 1.0)
        moves.add(float(rows[0, 0]))
    assert moves == {0.25}


def test_the_average_of_the_groups_is_as_long_as_the_mean_where_they_cannot_be_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With 15 records in 8 groups, sums over 15 // 8 = 1 are 15/8 times as long."""
    monkeypatch.setattr(groups, "walk_to_centre", lambda noisy, *_: noisy.mean(axis=0))
    method = IterativeUpdatingAllocated(groups=8, radius=1.0)
    setting = replace(POINT, n=15, d=1, epsilon=1e6).setting
    rows, ledger = DenseRows(np.full((15, 1), 0.4)), Ledger(setting.budget)
    released = method.release(rows, method.plan(setting), ledger, np.random.default_rng(1))
    assert released.value[0] == pytest.approx(0.4, abs=0.01)


@pytest.mark.parametrize("budget", [ZCDP(rho=0.5), PureDP(epsilon=1.0)])
def test_other_budgets_and_printed_noise_are_refused(budget: Any) -> None:
    with pytest.raises(NotApplicable):
        IterativeUpdatingAllocated().plan(replace(POINT.setting, budget=budget))
    with pytest.raises(NotApplicable, match="no paper prints it"):
        IterativeUpdatingAllocated(calibration="paper").plan(POINT.setting)
    noise = AllocatedGaussian(largest_norm=1.0, certificate=allocate_steps(2, 1.0, 0.05))
    with pytest.raises(InvalidInput, match="one row for each of the 2 groups"):
        noise.entry(np.zeros((3, 1)), "groups")


@pytest.mark.parametrize("fault", ["none", "half the noise", "a public group"])
def test_the_best_attack_on_two_groups_refutes_faults_alone(fault: str) -> None:
    certificate = allocate_steps(2, TWO_GROUP_BUDGET.epsilon, TWO_GROUP_BUDGET.delta)
    noise = AllocatedGaussian(largest_norm=1.0, certificate=certificate)
    rng, runs = np.random.default_rng(4), 4000
    std = noise.noise_std / (2 if fault == "half the noise" else 1)
    ratios = []
    for record in (1.0, -1.0):
        x = DenseRows(np.array([[record], [0.0]]))
        released = np.empty((runs, 2))
        for i in range(runs):
            group = allocated_groups(2, 2, rng)
            if fault == "a public group":
                group = np.array([0, 1], dtype=np.int32)
            exact = clipped_group_means(x, group, 2, 1.0)
            noisy = Ledger(TWO_GROUP_BUDGET).release(noise, exact, rng)
            released[i] = (exact + (noisy - exact) * std / noise.noise_std)[:, 0]
        scaled = released / std**2
        if fault == "a public group":
            ratios.append(2 * scaled[:, 0])
        else:
            ratios.append(logsumexp(scaled, axis=1) - logsumexp(-scaled, axis=1))
    attack = attack_at_epsilon(ratios[0], ratios[1], TWO_GROUP_BUDGET)
    assert attack.refutes == (fault != "none")
