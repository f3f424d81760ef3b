"""Methods in l_q whose records each take one random step: ledger, noise, errors and attacks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import make_method
from dpsco_core.data import DenseRows
from dpsco_core.methods import access
from dpsco_core.methods.access import Selected
from dpsco_core.methods.lq import MirrorDescentAllocated, NoisyMirrorDescentAllocated, mirror
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger, PureDP, allocation_delta
from dpsco_core.scenario import Scenario
from tests.methods.ratio_attack import attack_at_epsilon

POINT = Scenario(problem="huber", methods=("sco.erm",), n=2000, d=8, geometry="l1")
SLUGS = ("lp.mirror-descent-allocated", "lp.noisy-mirror-descent-allocated")


def risk(slug: str, point: Scenario, runs: int = 4) -> float:
    """Return the mean excess risk of a method over some runs."""
    method: Any = make_method(slug, "tight", "practical")
    problem, setting = point.instance.problem, point.setting
    plan, risks = method.plan(setting), []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        data = problem.sample(point.n, rng)
        release = method.release(data, plan, Ledger(setting.budget), rng)
        risks.append(problem.excess_risk(release.value).value)
    return float(np.mean(risks))


@pytest.mark.parametrize("slug", SLUGS)
def test_the_ledger_books_one_release_and_the_noise_is_certified(slug: str) -> None:
    method: Any = replace(make_method(slug, "tight", "practical"), steps=20)  # type: ignore[type-var]
    setting, rng = POINT.setting, np.random.default_rng(0)
    data = POINT.instance.problem.sample(POINT.n, rng)
    release = method.release(data, method.plan(setting), Ledger(setting.budget), rng)
    (entry,) = release.ledger.entries
    assert release.ledger.spent() == setting.budget == ApproxDP(epsilon=1.0, delta=1e-6)
    assert entry.mechanism == "allocated gaussian" and entry.disjoint_blocks == 20
    multiplier = 2 * entry.noise / entry.sensitivity
    assert (
        allocation_delta(20, multiplier, 1.0) <= 1e-6 < allocation_delta(20, 0.99 * multiplier, 1)
    )


def test_truncated_gradients_are_charged_by_their_l2_length() -> None:
    plan: Any = MirrorDescentAllocated(steps=20).plan(POINT.setting)
    longest = plan.statistic.threshold * np.ones(8)  # The gradient lies in the dual ball, a cube.
    release = MirrorDescentAllocated(steps=20).release(
        POINT.instance.problem.sample(POINT.n, np.random.default_rng(0)),
        plan,
        Ledger(POINT.budget),
        np.random.default_rng(1),
    )
    assert release.ledger.entries[0].sensitivity == pytest.approx(2 * np.linalg.norm(longest))


def test_one_random_step_per_record_errs_less_than_a_secret_order() -> None:
    printed = risk("lp.shuffled-mirror-descent", POINT)
    assert risk("lp.mirror-descent-allocated", POINT) < printed
    printed = risk("lp.noisy-mirror-descent", POINT, 2)
    assert risk("lp.noisy-mirror-descent-allocated", POINT, 2) < printed / 3
    cube = replace(POINT, geometry="linf")
    printed = risk("lp.euclidean-reduction", cube)
    assert risk("lp.mirror-descent-allocated", cube) < printed


def test_the_potential_is_that_of_the_geometry_in_theory() -> None:
    logistic = replace(POINT, problem="logistic", distribution="hypercube")
    plan = NoisyMirrorDescentAllocated(steps=20).plan(POINT.setting)
    assert plan.potential is not None and plan.allocated_steps == 20
    best = NoisyMirrorDescentAllocated().plan(logistic.setting)
    assert best.potential is not None and best.batch == 1


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("budget", [ZCDP(rho=0.5), PureDP(epsilon=1.0)])
def test_other_budgets_are_refused(slug: str, budget: Any) -> None:
    method: Any = make_method(slug, "tight", "practical")
    with pytest.raises(NotApplicable):
        method.plan(replace(POINT.setting, budget=budget))
    with pytest.raises(NotApplicable, match="no paper prints it"):
        make_method(slug, "paper", "practical").plan(POINT.setting)


def pulls(plan: Any, size: float, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Return the sums that two steps release for two records, one of which is a zero row."""
    longest, projections = plan.statistic.threshold * np.ones(2) * 0.999, np.empty((runs, 2))
    rows = DenseRows(np.stack([size * longest, np.zeros(2)]))
    for i in range(runs):
        measuring: Any = plan.statistic.measuring(1, 2, 0.0, 2)
        order, sizes = access.allocated_order(2, 2, rng)
        ends, ledger = np.cumsum(sizes), Ledger(plan.setting.budget)
        for t in range(2):
            chosen = Selected(rows=rows, places=order[ends[t] - sizes[t] : ends[t]])
            pull = measuring.take(chosen, ledger, rng, t)
            projections[i, t] = pull.sum() / np.sqrt(2)  # This is the coordinate along the record.
    return projections


@pytest.mark.parametrize("fault", ["none", "half the noise", "a public step", "no truncation"])
def test_the_optimal_attack_on_two_steps_refutes_only_faults(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = replace(POINT, n=2, d=2, delta=0.05)
    plan: Any = MirrorDescentAllocated(steps=2).plan(point.setting)
    length = plan.statistic.threshold * np.sqrt(2)
    noise, size = plan.diagnostics["noise_std"], 1.0
    rng, runs = np.random.default_rng(5), 2000
    if fault == "half the noise":
        honest = type(plan.statistic).open

        def quieter(self: Any, ledger: Ledger, steps: int) -> Any:
            """Open steps with half their noise."""
            opened = honest(self, ledger, steps)
            opened.noise_std /= 2
            return opened

        monkeypatch.setattr(type(plan.statistic), "open", quieter)
        noise /= 2
    if fault == "a public step":
        monkeypatch.setattr(
            access, "allocated_order", lambda *_: (np.array([0, 1]), np.array([1, 1]))
        )
    if fault == "no truncation":
        monkeypatch.setattr(
            mirror, "truncated_sum", lambda rows, places, *_: rows.take(places).sum(axis=0)
        )
        size = 3.0
    ratios = []
    for sign in (1.0, -1.0):
        scaled = pulls(plan, sign * size, runs, rng) * length * size / noise**2
        if fault == "a public step":
            ratios.append(2 * scaled[:, 0])
        else:
            ratios.append(logsumexp(scaled, axis=1) - logsumexp(-scaled, axis=1))
    budget = point.budget
    assert isinstance(budget, ApproxDP)
    attack = attack_at_epsilon(ratios[0], ratios[1], budget)
    assert attack.refutes == (fault != "none")
