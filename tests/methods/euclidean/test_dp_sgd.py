"""DP-SGD on Poisson samples: its sampler, its noise by a second accountant, and attacks."""

from dataclasses import replace
from typing import Any

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from scipy.stats import chisquare, norm

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.explain.recipe.recipe import recipe
from dpsco_core.methods import access, sampled
from dpsco_core.methods.access import Selected, poisson_sample
from dpsco_core.methods.euclidean.sampling.dp_sgd import MinibatchDescent
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.methods.sampled import selected_sum
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger, PureDP
from dpsco_core.scenario import Scenario
from tests.folded import one_in
from tests.methods.ratio_attack import assert_on_the_edge, attack_at_epsilon

POINT = Scenario(problem="quadratic", methods=("sco.dp-sgd",), n=1000, d=4)
LINEAR = Scenario(problem="linear", methods=("sco.dp-sgd",), n=2, d=1, delta=0.05)


def run(method: MinibatchDescent, point: Scenario = POINT, seed: int = 0) -> Any:
    """Run a method at a point; return its release."""
    setting, rng = point.setting, np.random.default_rng(seed)
    data = point.instance.problem.sample(point.n, rng)
    return method.release(data, method.plan(setting), Ledger(setting.budget), rng)


def test_a_sample_takes_every_record_with_equal_probability_and_independently() -> None:
    rng, n, rate, runs = np.random.default_rng(1), 5, 0.3, 8000
    pair_counts = np.zeros((2, 2))
    for _ in range(runs):
        is_taken = np.zeros(n, dtype=int)
        is_taken[poisson_sample(n, rate, rng)] = 1
        pair_counts[is_taken[0], is_taken[4]] += 1
    chances = np.outer([1 - rate, rate], [1 - rate, rate]) * runs
    assert chisquare(pair_counts.ravel(), chances.ravel()).pvalue > 1e-3


def test_the_ledger_books_the_whole_run_with_the_sensitivity_of_a_replaced_record() -> None:
    release = run(MinibatchDescent())
    plan = MinibatchDescent().plan(POINT.setting)
    (entry,) = release.ledger.entries
    assert release.ledger.spent() == POINT.budget == ApproxDP(epsilon=1.0, delta=1e-6)
    assert release.ledger.bound_by() == ("approx",)
    assert entry.mechanism == "poisson gaussian"
    assert entry.sensitivity == 2 * plan.diagnostics["clip_radius"]
    assert entry.releases == plan.descent.steps == release.diagnostics["steps"]
    multiplier = plan.diagnostics["noise_multiplier"]
    assert entry.noise == pytest.approx(multiplier * plan.diagnostics["clip_radius"])
    on_mean = release.diagnostics["noise_std"]
    assert on_mean == pytest.approx(entry.noise / 100), "divided by the public q n"


def epsilon_by_google(noise: float, rate: float, steps: int, delta: float) -> float:
    """Return the epsilon of Poisson-sampled steps by the accountant of dp_accounting."""
    replaced = dp_accounting.NeighboringRelation.REPLACE_ONE
    accountant = PLDAccountant(replaced, value_discretization_interval=1e-3)
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
    accountant.compose(dp_accounting.SelfComposedDpEvent(step, steps))
    return float(accountant.get_epsilon(delta))


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_accountant_of_google_agrees_with_the_noise_of_a_run(epsilon: float) -> None:
    setting = replace(POINT, epsilon=epsilon).setting
    diagnostics = MinibatchDescent().plan(setting).diagnostics
    noise, steps = diagnostics["noise_multiplier"], int(diagnostics["steps"])
    assert epsilon_by_google(noise, 0.1, steps, 1e-6) == pytest.approx(epsilon, rel=3e-3)
    half = epsilon_by_google(noise / 2, 0.1, steps, 1e-6)
    assert half > 1.5 * epsilon, "half of it, the multiplier of a sensitivity counted once too few"


def test_a_sum_is_divided_by_a_public_number() -> None:
    """The other records of the sample do not change how far a record moves the point."""
    plan = MinibatchDescent(rate=0.5, radius=1.0, descent=Descent(steps=1, step_size=1.0)).plan(
        LINEAR.setting
    )
    measuring = plan.statistic.measuring(1, 1, 0.0, 1)
    rows, moves = DenseRows(np.array([[0.5], [0.0]])), set()
    for places in ([0], [0, 1]):
        measuring.noise = type("Quiet", (), {"noise": lambda self, *_: np.zeros((1, 1))})()
        selected = Selected(rows=rows, places=np.array(places))
        pull = measuring.take(selected, Ledger(LINEAR.budget), np.random.default_rng(0), 0)
        moves.add(float(pull[0]))
    assert moves == {0.5}  # The divisor q n is 1.


def test_the_sum_over_all_records_is_that_of_clipped_gradients() -> None:
    for problem in ("quadratic", "logistic"):
        point = replace(POINT, problem=problem)
        data = point.instance.problem.sample(1000, np.random.default_rng(0))
        rows = data.gradients(np.full(4, 0.1))
        total = selected_sum(Selected(rows=rows, places=np.arange(1000)), 0.7)
        np.testing.assert_allclose(total / 1000, clipped_mean(rows, 0.7), rtol=1e-12)
        assert not selected_sum(Selected(rows=rows, places=np.arange(0)), 0.7).any()


def test_broken_records_count_as_zero_or_lie_in_the_ball() -> None:
    x = np.array([[np.nan, 1.0], [np.inf, 0.0], [1e300, 0.0], [0.1, 0.0]])
    total = selected_sum(Selected(rows=DenseRows(x), places=np.arange(4)), 0.5)
    np.testing.assert_allclose(total, [0.6, 0.0])


@pytest.mark.parametrize(
    ("budget", "reason"),
    [(ZCDP(rho=0.5), "accounted for in"), (PureDP(epsilon=1.0), "cannot give pure DP")],
)
def test_other_budgets_are_refused_in_a_sentence(budget: Any, reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
        MinibatchDescent().plan(replace(POINT.setting, budget=budget))


def test_the_paper_calibration_is_refused_since_no_paper_prints_its_noise() -> None:
    with pytest.raises(NotApplicable, match="no paper prints it"):
        MinibatchDescent(calibration="paper").plan(POINT.setting)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.5])
def test_rates_out_of_range_are_refused(rate: float) -> None:
    with pytest.raises(InvalidInput, match="rate must be above 0 and below 1"):
        MinibatchDescent(rate=rate)


def test_the_recipe_has_a_multiplier_for_either_kind_of_neighbours() -> None:
    (release,) = recipe(POINT, "sco.dp-sgd").releases
    plan = MinibatchDescent().plan(POINT.setting)
    replaced, in_or_out = release.noise_multiplier, release.add_remove_multiplier
    assert replaced == pytest.approx(plan.diagnostics["noise_multiplier"])
    assert replaced is not None and in_or_out is not None
    added = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    accountant = PLDAccountant(added, value_discretization_interval=1e-3)
    step = dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(in_or_out))
    accountant.compose(dp_accounting.SelfComposedDpEvent(step, plan.descent.steps))
    assert float(accountant.get_epsilon(1e-6)) == pytest.approx(1.0, rel=3e-3)
    assert replaced / 2 < in_or_out < replaced, "not the half, which holds without sampling"


def test_the_error_of_dp_sgd_falls_with_the_records() -> None:
    errors = []
    for n in (500, 8000):
        point = replace(POINT, n=n)
        problem = point.instance.problem
        risks = [
            problem.excess_risk(run(MinibatchDescent(), point, seed).value).value
            for seed in range(5)
        ]
        errors.append(float(np.mean(risks)))
    assert errors[1] < errors[0] / 8


def pulls(method: MinibatchDescent, gradient: float, runs: int, rng: np.random.Generator) -> Any:
    """Return the released sums of runs over their public divisor, shape (runs, steps), from the
    points of the paths.
    """
    sample = LINEAR.instance.problem.sample(2, np.random.default_rng(0))
    sample = replace(sample, points=DenseRows(np.array([[-gradient], [0.0]])))
    plan, budget = method.plan(LINEAR.setting), LINEAR.budget
    steps = np.empty((runs, plan.descent.steps))
    for i in range(runs):
        release = method.release(sample, plan, Ledger(budget), rng)
        steps[i] = -np.diff(release.iterates[:, 0]) / plan.descent.step_size
    return steps


def log_ratio(pulls_of_runs: np.ndarray, noise: float, fault: str) -> np.ndarray:
    """Return the log likelihood ratio of the two records: the optimal attack on a known fault."""

    def likelihood(gradient: float) -> np.ndarray:
        """Return the log-likelihood of each run if the record has this gradient."""
        if fault == "every step":
            return np.asarray(norm.logpdf(pulls_of_runs, gradient, noise).sum(axis=1))
        density = norm.pdf(pulls_of_runs, gradient, noise) + norm.pdf(pulls_of_runs, 0, noise)
        return np.asarray(np.log(density).sum(axis=1))

    return likelihood(1.0) - likelihood(-1.0)


# `tests/trust` finds half of the noise and a missing clip too.
@pytest.mark.parametrize("fault", one_in(2, ["none", "half the noise", "every step", "no clip"]))
def test_the_optimal_attack_on_two_steps_refutes_only_faults(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = MinibatchDescent(rate=0.5, radius=1.0, descent=Descent(steps=2, step_size=1e-9))
    noise = method.plan(LINEAR.setting).diagnostics["noise_multiplier"]
    rng, runs, size = np.random.default_rng(3), 2500, 1.0
    if fault == "half the noise":
        honest = sampled.PoissonSums.open

        def quieter(self: Any, ledger: Ledger, d: int) -> Any:
            """Open steps with half their noise."""
            steps = honest(self, ledger, d)
            steps.noise_std /= 2
            return steps

        monkeypatch.setattr(sampled.PoissonSums, "open", quieter)
        noise /= 2
    if fault == "every step":
        monkeypatch.setattr(access, "poisson_sample", lambda n, rate, rng: np.arange(n))
    if fault == "no clip":
        monkeypatch.setattr(
            sampled, "clip_to_ball", lambda rows, radius: (rows, np.ones(len(rows)))
        )
        size = 3.0  # Both records are far away.
    samples = [pulls(method, size * sign, runs, rng) / size for sign in (1.0, -1.0)]
    positive, negative = (log_ratio(x, noise / size, fault) for x in samples)
    budget = LINEAR.budget
    assert isinstance(budget, ApproxDP)
    attack = attack_at_epsilon(positive, negative, budget)
    assert attack.refutes == (fault != "none")
    if fault == "none":
        assert_on_the_edge(attack, budget)
