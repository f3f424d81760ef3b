"""Private SGD on randomly allocated records: its sampler, its noise, and attacks on two steps."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.methods.access import allocated_order
from dpsco_core.methods.euclidean.private_sgd import PrivateSgd
from dpsco_core.methods.euclidean.sampling.allocated import (
    best_count,
    modelled_noise,
    run_allocated,
)
from dpsco_core.methods.euclidean.sampling.one_random_step import PrivateSgdAllocated
from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    Ledger,
    PureDP,
    Steps,
    allocate_steps,
    allocation_delta,
    gaussian_rho,
)
from dpsco_core.scenario import Scenario
from tests.folded import one_in
from tests.methods.ratio_attack import assert_on_the_edge, attack_at_epsilon

ALLOCATED = PrivateSgd(sampling="allocated")
POINT = Scenario(problem="logistic", methods=("sco.private-sgd",), n=400, d=3)
LINEAR = Scenario(problem="linear", methods=("sco.private-sgd",), n=2, d=1)


def two_records(gradient: float) -> Any:
    """Return two records of the linear problem; the second one has gradient 0."""
    sample = LINEAR.instance.problem.sample(2, np.random.default_rng(0))
    return replace(sample, points=DenseRows(np.array([[-gradient], [0.0]])))


def test_a_record_takes_each_step_with_equal_probability_and_independently() -> None:
    rng, steps, n = np.random.default_rng(1), 3, 4
    counts = np.zeros((steps, steps))
    for _ in range(9000):
        order, sizes = allocated_order(n, steps, rng)
        assert sorted(order.tolist()) == list(range(n)) and sizes.sum() == n
        steps_of_records = np.empty(n, dtype=int)
        steps_of_records[order] = np.repeat(np.arange(steps), sizes)
        counts[steps_of_records[0], steps_of_records[3]] += 1
    assert chisquare(counts.ravel()).pvalue > 1e-3, "uniform pairs: uniform and independent"


def test_the_ledger_books_one_release_and_the_noise_is_certified() -> None:
    setting = POINT.setting
    plan = replace(ALLOCATED, allocated_steps=20).plan(setting)
    ledger, rng = Ledger(setting.budget), np.random.default_rng(0)
    data = POINT.instance.problem.sample(400, rng)
    release = replace(ALLOCATED, allocated_steps=20).release(data, plan, ledger, rng)
    (entry,) = ledger.entries
    assert ledger.spent() == setting.budget == ApproxDP(epsilon=1.0, delta=1e-6)
    assert entry.mechanism == "allocated gaussian"
    assert entry.sensitivity == 2 * plan.losses.lipschitz, "a replaced record moves a sum by 2L"
    assert entry.noise == plan.noise_std
    multiplier = plan.noise_std / plan.losses.lipschitz
    assert (
        allocation_delta(20, multiplier, 1.0) <= 1e-6 < allocation_delta(20, 0.99 * multiplier, 1.0)
    )
    assert release.diagnostics["steps"] == 20 and release.diagnostics["gradient_calls"] == 400


def test_random_allocation_needs_an_eighth_of_the_noise_of_the_printed_sampler() -> None:
    setting = replace(POINT, n=100).setting
    allocated, printed = ALLOCATED.plan(setting), PrivateSgd().plan(setting)
    assert printed.noise_std / allocated.noise_std == pytest.approx(8.44936 / 1.00175, rel=1e-4)


def test_random_allocation_errs_much_less_than_the_printed_sampler() -> None:
    point = replace(POINT, n=1000)
    problem, setting = point.instance.problem, point.setting
    errors = []
    for method in (ALLOCATED, PrivateSgd()):
        plan, risks = method.plan(setting), []
        for seed in range(6):
            rng = np.random.default_rng(seed)
            data = problem.sample(1000, rng)
            release = method.release(data, plan, Ledger(setting.budget), rng)
            risks.append(problem.excess_risk(release.value).value)
        errors.append(float(np.mean(risks)))
    assert errors[0] < 0.6 * errors[1]


def test_the_catalogues_method_is_the_same_run_with_steps_chosen_by_a_model() -> None:
    setting = POINT.setting
    plan = PrivateSgdAllocated().plan(setting)
    assert plan == replace(ALLOCATED, allocated_steps=plan.allocated_steps).plan(setting)
    assert plan.allocated_steps == best_count(setting)
    assert PrivateSgdAllocated(steps=7).plan(setting).allocated_steps == 7
    for method in (PrivateSgdAllocated(), ALLOCATED):
        with pytest.raises(NotApplicable, match="no paper prints it"):
            replace(method, calibration="paper").plan(setting)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_the_model_of_the_noise_is_near_the_certified_noise(epsilon: float) -> None:
    setting = replace(POINT, epsilon=epsilon).setting
    for count in (1, 2, 10, 100, 1000):
        certified = allocate_steps(count, epsilon, 1e-6, 13).noise_multiplier
        assert modelled_noise(setting, count) == pytest.approx(certified, rel=0.1)


def test_a_sum_is_divided_by_a_public_number() -> None:
    """The place of the other record has no influence on how far a record moves the point."""
    sample, quiet = two_records(0.5), np.random.default_rng(0)
    moves = set()
    for sizes, order in (((2, 0), (0, 1)), ((1, 1), (0, 1)), ((0, 2), (1, 0))):
        noise = Steps(steps=2, size=1, noise_std=1e-12)
        run = run_allocated(
            sample, np.array(order), np.array(sizes), noise, quiet, step_size=0.01, limit=1.0
        )
        moves.add(round(float(run.path.points[-1][0] - run.path.points[0][0]), 9))
    assert moves == {-0.005}  # The step T/n is 1.


@pytest.mark.parametrize("budget", [ZCDP(rho=0.5), PureDP(epsilon=1.0)])
def test_other_budgets_are_refused(budget: Any) -> None:
    with pytest.raises(NotApplicable):
        ALLOCATED.plan(replace(POINT.setting, budget=budget))


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInput, match="sampling must be"):
        PrivateSgd(sampling="poisson")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="allocated_steps must be"):
        PrivateSgd(sampling="allocated", allocated_steps=0)
    with pytest.raises(InvalidInput, match="allocated_steps must be at most the 400 records"):
        PrivateSgd(sampling="allocated", allocated_steps=401).plan(POINT.setting)


def log_ratios(
    gradient: float, steps: int, noise_std: float, runs: int, fault: str, rng: np.random.Generator
) -> np.ndarray:
    """Return log likelihood ratios of runs, from the pulls that their paths reveal."""
    sample, size = two_records(gradient), 1e-9
    std = noise_std / 2 if fault == "half the noise" else noise_std  # The attacker knows the fault.
    pulls = np.empty((runs, steps))
    for i in range(runs):
        order, sizes = allocated_order(2, steps, rng)
        if fault == "a public step":
            order, sizes = np.array([0, 1]), np.array([1, 1, *[0] * (steps - 2)])
        elif fault == "every step":
            order, sizes = np.zeros(steps, dtype=int), np.ones(steps, dtype=int)
        noise = Steps(steps=steps, size=1, noise_std=std)
        run = run_allocated(sample, order, sizes, noise, rng, step_size=size, limit=1.0)
        pulls[i] = -np.diff(run.path.points[:, 0]) / (size * steps / 2)
    scaled = pulls / std**2
    if fault == "a public step":
        return 2 * scaled[:, 0]
    return np.asarray(logsumexp(scaled, axis=1) - logsumexp(-scaled, axis=1))


@pytest.mark.parametrize("steps", one_in(2, [2, 3]))
@pytest.mark.parametrize(
    "fault", one_in(2, ["none", "half the noise", "a public step", "every step"])
)
def test_the_optimal_attack_on_few_steps_refutes_only_faults(steps: int, fault: str) -> None:
    """The attack is the likelihood ratio, and the claim is exact at epsilon for these
    two records.
    """
    budget = ApproxDP(epsilon=1.0, delta=0.05)
    multiplier = allocate_steps(steps, 1.0, 0.05).noise_multiplier
    rng, runs = np.random.default_rng(steps), 2500
    positive, negative = (log_ratios(g, steps, multiplier, runs, fault, rng) for g in (1.0, -1.0))
    attack = attack_at_epsilon(positive, negative, budget)
    assert attack.refutes == (fault != "none")
    if fault == "none":
        assert_on_the_edge(attack, budget)
        assert multiplier < 2 / np.sqrt(2 * gaussian_rho(1.0, 0.05))
