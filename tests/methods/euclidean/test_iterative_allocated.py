"""Iterative updating of gradients with random groups: its ledger, its noise, and attacks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.methods.euclidean import IterativeDescent, IterativeDescentAllocated
from dpsco_core.methods.euclidean.sampling.iterative_allocated import DeepPointsOfAllocatedGroups
from dpsco_core.methods.mean import iterative_allocated as mean_iterative
from dpsco_core.methods.records import groups as group_means
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger, PureDP
from dpsco_core.privacy.allocated_passes import allocate_passes, passes_delta
from dpsco_core.scenario import Scenario
from tests.folded import one_in
from tests.methods.ratio_attack import assert_on_the_edge, attack_at_epsilon

POINT = Scenario(problem="quadratic", methods=("sco.iterative-allocated",), n=2000, d=3)
BUDGET = ApproxDP(epsilon=1.0, delta=0.05)
STEPS = 2  # Number of steps of the attacked runs.


def run(method: Any, point: Scenario = POINT, seed: int = 0) -> Any:
    """Run a method at a point; return its release."""
    setting, rng = point.setting, np.random.default_rng(seed)
    data = point.instance.problem.sample(point.n, rng)
    return method.release(data, method.plan(setting), Ledger(setting.budget), rng)


def test_the_ledger_books_all_steps_as_one_and_the_noise_is_certified() -> None:
    method = IterativeDescentAllocated(descent=Descent(steps=6, step_size=0.3))
    release = run(method)
    (entry,) = release.ledger.entries
    assert release.ledger.spent() == POINT.budget and release.ledger.bound_by() == ("approx",)
    assert entry.mechanism == "allocated gaussian"
    assert (entry.disjoint_blocks, entry.releases) == (8, 6)
    assert entry.sensitivity == pytest.approx(2 * release.diagnostics["clip_radius"] / 250)
    multiplier = 2 * entry.noise / entry.sensitivity
    assert multiplier == pytest.approx(release.diagnostics["noise_multiplier"])
    assert passes_delta(8, 6, multiplier, 1.0, negligible=1e-9) <= 1e-6
    assert passes_delta(8, 6, 0.99 * multiplier, 1.0, 16) > 1e-6


def test_splitting_costs_almost_nothing_where_groups_are_drawn() -> None:
    """The average of the groups has the noise of a mean without groups, and not 2.8 times as
    much.
    """
    descent, rho = Descent(steps=6, step_size=0.3), POINT.setting.gaussian_rho
    whole = 2 * np.sqrt(6 / (2 * rho)) / 2000
    for method, price in ((IterativeDescentAllocated, 1.0), (IterativeDescent, np.sqrt(8))):
        plan = method(radius=5.0, descent=descent).plan(POINT.setting)
        average = plan.diagnostics["noise_std"] / np.sqrt(8)
        assert average / (5.0 * whole) == pytest.approx(price, rel=0.01)


def test_random_groups_err_much_less_than_equal_groups() -> None:
    problem, errors = POINT.instance.problem, []
    for method in (IterativeDescentAllocated(), IterativeDescent()):
        risks = [problem.excess_risk(run(method, seed=seed).value).value for seed in range(6)]
        errors.append(float(np.mean(risks)))
    assert errors[0] < 0.6 * errors[1]


def groups_of_a_run(steps: int, n: int, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Return the groups drawn by the records of a run, shape (steps, n)."""
    groups, honest = [], mean_iterative.allocated_groups

    def noted(*arguments: Any) -> Any:
        """Split the records into groups, and record the groups."""
        groups.append(honest(*arguments))
        return groups[-1]

    with monkeypatch.context() as patch:
        patch.setattr(mean_iterative, "allocated_groups", noted)
        point = replace(POINT, n=n, d=1, problem="linear")
        run(IterativeDescentAllocated(groups=3, descent=Descent(steps=steps, step_size=0.1)), point)
    return np.array(groups)


def test_a_record_draws_a_new_group_at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = groups_of_a_run(40, 300, monkeypatch)
    assert groups.shape == (40, 300)
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (groups[:-1].ravel(), groups[1:].ravel()), 1)
    assert chisquare(pairs.ravel()).pvalue > 1e-3, "uniform, whatever was drawn before"
    neighbours = np.zeros((3, 3))
    np.add.at(neighbours, (groups[:, :-1].ravel(), groups[:, 1:].ravel()), 1)
    assert chisquare(neighbours.ravel()).pvalue > 1e-3, "and whatever the others draw"


@pytest.mark.parametrize("n", [4, 7])
def test_a_sum_is_divided_by_a_public_number_and_gradients_keep_their_length(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other records' groups do not change how far a record moves the row of its group."""
    x, moves, rows_of_runs = np.zeros((n, 1)), set(), []
    x[0] = 0.5
    certificate = allocate_passes(2, STEPS, BUDGET.epsilon, BUDGET.delta)
    points = DeepPointsOfAllocatedGroups(
        radius=1.0, groups=2, quantile=0.6, bound=9.0, certificate=certificate
    )
    monkeypatch.setattr(
        group_means, "walk_to_centre", lambda rows, *_: rows_of_runs.append(rows) or rows[0]
    )
    for place in (np.arange(n) % 2, np.zeros(n), np.arange(n) > 0):
        group = place.astype(np.int32)
        monkeypatch.setattr(mean_iterative, "allocated_groups", lambda *_, g=group: g)
        measuring = points.measuring(n, 1, 0.0, STEPS)
        noise = points.open(Ledger(BUDGET), n, 1)
        monkeypatch.setattr(noise, "noise", lambda k, d, rng: np.zeros((k, d)))
        measuring.opened = noise  # type: ignore[attr-defined]
        measuring.take(DenseRows(x), Ledger(BUDGET), np.random.default_rng(0), 0)
        moves.add(round(float(rows_of_runs[-1][0, 0]), 12))
        assert rows_of_runs[-1].sum() / 2 == pytest.approx(0.5 / n), "their average is the mean"
    assert moves == {round(0.5 / (n / 2), 12)}


@pytest.mark.parametrize("budget", [ZCDP(rho=0.5), PureDP(epsilon=1.0)])
def test_other_budgets_printed_noise_and_too_few_records_are_refused(budget: Any) -> None:
    with pytest.raises(NotApplicable):
        IterativeDescentAllocated().plan(replace(POINT.setting, budget=budget))
    with pytest.raises(NotApplicable):
        IterativeDescentAllocated(calibration="paper").plan(POINT.setting)
    with pytest.raises(NotApplicable, match="groups need at least as many records"):
        IterativeDescentAllocated(tuning="theory").plan(POINT.setting)
    for method in (IterativeDescentAllocated, IterativeDescent):
        with pytest.raises(InvalidInput, match="groups must be"):
            method(groups=0)


def test_with_the_parameters_of_the_theorem_the_groups_satisfy_the_union_bound() -> None:
    setting = replace(POINT, n=200_000, d=1, epsilon=0.05).setting
    plan = IterativeDescentAllocated(tuning="theory").plan(setting)
    printed = IterativeDescent(tuning="theory").plan(setting)
    for name in ("clip_radius", "groups", "steps"):
        assert plan.diagnostics[name] == printed.diagnostics[name]
    assert plan.diagnostics["noise_std"] < 0.05 * printed.diagnostics["noise_std"]


def observed_rows(fault: str, monkeypatch: pytest.MonkeyPatch, runs: int) -> tuple[Any, Any, float]:
    """Return the rows that runs of the method reveal, for each record, and their noise.

    The method runs unchanged on a record and another one with gradient 0; the attack sees the rows
    that it passes to the search. Shape (runs, steps, groups).
    """
    point = Scenario(problem="linear", methods=("sco.iterative-allocated",), n=2, d=1, delta=0.05)
    method = IterativeDescentAllocated(
        radius=1.0, groups=2, descent=Descent(steps=STEPS, step_size=1e-9)
    )
    plan, watched_rows = method.plan(point.setting), []
    noise, size = plan.diagnostics["noise_std"], 1.0

    def watched(rows: Any, *_: Any) -> Any:
        """Record the rows of a step, and return a zero mean."""
        watched_rows.append(rows[:, 0].copy())
        return np.zeros(1)

    monkeypatch.setattr(group_means, "walk_to_centre", watched)
    if fault == "half the noise":
        honest = DeepPointsOfAllocatedGroups.open

        def quieter(self: Any, ledger: Ledger, n: int, d: int) -> Any:
            """Open steps with half their noise."""
            steps = honest(self, ledger, n, d)
            steps.noise_std /= 2
            return steps

        monkeypatch.setattr(DeepPointsOfAllocatedGroups, "open", quieter)
        noise /= 2
    if fault == "public groups":
        monkeypatch.setattr(
            mean_iterative, "allocated_groups", lambda *_: np.array([0, 1], dtype=np.int32)
        )
    if fault == "no clip":
        honest_sums = group_means.clipped_group_means
        monkeypatch.setattr(
            group_means,
            "clipped_group_means",
            lambda rows, group, k, radius: honest_sums(rows, group, k, 10 * radius),
        )
        size = 3.0
    rng, samples = np.random.default_rng(4), []
    sample = point.instance.problem.sample(2, np.random.default_rng(0))
    for gradient in (size, -size):
        watched_rows.clear()
        data = replace(sample, points=DenseRows(np.array([[-gradient], [0.0]])))
        for _ in range(runs):
            method.release(data, plan, Ledger(BUDGET), rng)
        samples.append(np.array(watched_rows).reshape(runs, STEPS, 2) / size)
    return samples[0], samples[1], noise / size


# The quick tests have only the fault of public groups: tests/trust also detects halved noise and a
# missing clip.
@pytest.mark.parametrize("fault", one_in(2, ["none", "half the noise", "public groups", "no clip"]))
def test_the_optimal_attack_on_two_groups_refutes_only_faults(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = 3000
    positive, negative, noise = observed_rows(fault, monkeypatch, runs)
    # An attack designed for more noise than there is could miss a fault.
    assert positive.sum(axis=2).std() == pytest.approx(np.sqrt(2) * noise, rel=0.05)

    def log_likelihood_ratio(rows: Any) -> Any:
        """Return the log likelihood ratio of the two records: the optimal attack on a known
        fault.
        """
        scaled = rows / noise**2
        if fault == "public groups":
            return 2 * scaled[:, :, 0].sum(axis=1)
        return (logsumexp(scaled, axis=2) - logsumexp(-scaled, axis=2)).sum(axis=1)

    attack = attack_at_epsilon(
        log_likelihood_ratio(positive), log_likelihood_ratio(negative), BUDGET
    )
    assert attack.refutes == (fault != "none")
    if fault == "none":
        assert_on_the_edge(attack, BUDGET)


def test_the_numbers_of_a_tiny_run_do_not_change() -> None:
    point = replace(POINT, n=400)
    release = run(IterativeDescentAllocated(), point, seed=11)
    assert point.instance.problem.excess_risk(release.value).value == pytest.approx(
        0.00639257891, rel=1e-8
    )
