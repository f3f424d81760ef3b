"""Objective perturbation: golden values, the Jacobian, stability, the ledger, closed forms."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.euclidean.perturbation import objective as objective_perturbation
from dpsco_core.methods.euclidean.perturbation import objective_plan
from dpsco_core.methods.euclidean.perturbation.objective import (
    ObjectivePerturbation,
    ObjectivePerturbationStrong,
)
from dpsco_core.methods.euclidean.perturbation.objective_plan import (
    least_ridge,
    theorem_accuracy,
    theorem_ridge,
)
from dpsco_core.methods.euclidean.solver import certificate
from dpsco_core.privacy import ApproxDP, Ledger, gaussian_rho
from dpsco_core.privacy.mechanisms import objective_noise_std
from dpsco_core.statements.su import algorithm_1_noise, algorithm_1_output_noise
from tests.methods.euclidean.losses import (
    APPROXIMATE,
    BUDGETS,
    CONCENTRATED,
    FALSE_ALARM,
    PURE,
    Array,
    Releases,
    make_records,
    make_setting,
    neighbours,
    releases,
    run,
    sample,
)

__all__ = ["releases"]
APPROXIMATES = [b for b in BUDGETS if isinstance(b, ApproxDP)]
KINDS = ("logistic", "mean", "linear")
VARIANTS = [
    ObjectivePerturbation(calibration=c, tuning=t)
    for c, t in itertools.product(("tight", "paper"), ("practical", "theory"))
]


def plan_of(method: Any, setting: Any) -> Any:
    """Return the plan, or None where the paper's calibration refuses an epsilon of at least 1."""
    if method.calibration == "paper" and setting.budget.epsilon >= 1:
        with pytest.raises(NotApplicable, match="epsilon below 1"):
            method.plan(setting)
        return None
    return method.plan(setting)


def test_the_parameters_have_the_reference_values_of_su_zhao_wang() -> None:
    """The values stand in theory/su-zhao-wang.md, 8.

    The setting is n = 1e5, d = 100, epsilon = .5, delta = 1e-6, L = 1, beta = .25 and D = 2.
    """
    assert algorithm_1_noise(1, 0.5, 1e-6) ** 2 == pytest.approx(7542.6823, rel=1e-7)
    setting = make_setting("logistic", 10**5, 100, ApproxDP(epsilon=0.5, delta=1e-6))
    losses = ObjectivePerturbation().plan(setting).losses
    ridge = theorem_ridge(setting, losses)
    assert ridge == pytest.approx(1.5811388e-3, rel=1e-7)
    assert least_ridge(10**5, 0.25, 0.125) == pytest.approx(9.388017e-6, rel=1e-6)
    printed = algorithm_1_output_noise(4.320113e-10, ridge, 0.5, 1e-6)
    assert printed**2 == pytest.approx(1.0304357e-3, rel=1e-5)
    # The reference alpha is for a width of 3.255247; the ball's width is nearly sqrt(99.5).
    width = math.sqrt(2) * math.exp(math.lgamma(50.5) - math.lgamma(50))
    expected = 4.320113e-15 * (3.255247 / width) ** 2
    assert theorem_accuracy(setting, 1.0, 0.5, 1e-6) == pytest.approx(expected, rel=1e-5)


def test_the_noise_of_the_linear_term_covers_the_plane() -> None:
    """Outside an event of probability delta, the loss of a two-dimensional Gaussian is at most
    epsilon.
    """
    for epsilon, delta in itertools.product((0.01, 0.3, 2.0, 20.0), (1e-9, 1e-3, 0.3)):
        std = objective_noise_std(2.0, epsilon, delta)
        radius = math.sqrt(float(stats.chi2(2).isf(delta)))
        assert 2 * radius / std + 2 / std**2 == pytest.approx(epsilon, rel=1e-9)
        # The noise is at least that of a Gaussian release of one direction.
        assert std >= 2 / math.sqrt(2 * gaussian_rho(epsilon, delta))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 1e-6), (0.5, 1e-2), (0.99, 0.5), (0.99, 1e-9)]
)
def test_the_printed_noise_covers_its_share(epsilon: float, delta: float) -> None:
    """The ratio of its cost to epsilon/4 lies in 0.93..1 (theory/su-zhao-wang.md, 2.1 (b))."""
    std = algorithm_1_noise(1.0, epsilon, delta)
    loss = 2 * math.sqrt(2 * math.log(2 / delta)) / std + 2 / std**2
    assert 0.9 < loss / (epsilon / 4) <= 1
    assert std >= objective_noise_std(2.0, epsilon / 4, delta / 2)


@pytest.mark.parametrize("budget", APPROXIMATES)
@pytest.mark.parametrize("method", VARIANTS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_ledger_spends_the_budget(method: Any, kind: str, budget: ApproxDP) -> None:
    n, d = 60, 3
    setting = make_setting(kind, n, d, budget)
    plan = plan_of(method, setting)
    if plan is None:
        return
    x, y = make_records(n, d)
    result = run(method, setting, sample(kind, x, y))
    assert result.ledger.spent() == budget
    entries = result.ledger.entries
    assert len(entries) == (2 if kind == "logistic" else 1)
    linear = plan.linear_std / (n if plan.rho > 0 else 1)
    assert entries[0].noise == pytest.approx(linear, rel=1e-12)
    if kind == "logistic":
        assert entries[0].sensitivity == 2.0
        assert entries[1].noise == pytest.approx(plan.output_std, rel=1e-12)
        shares = plan.epsilon + plan.jacobian_epsilon
        assert entries[0].epsilon == pytest.approx(shares, rel=1e-12)


@pytest.mark.parametrize("budget", APPROXIMATES)
@pytest.mark.parametrize("method", VARIANTS)
def test_the_shares_add_up_and_every_part_meets_its_own(method: Any, budget: ApproxDP) -> None:
    for n, d in itertools.product((10, 1000, 10**6), (1, 100)):
        plan = plan_of(method, make_setting("logistic", n, d, budget))
        if plan is None:
            return
        losses = plan.losses
        # This is the cost of the change of variables, at the ridge in use and rank 1.
        assert math.log1p(losses.smoothness / (2 * n * plan.ridge)) <= plan.jacobian_epsilon * (
            1 + 1e-9
        )
        assert plan.l2_sensitivity == 2 * losses.lipschitz
        smallest_std = objective_noise_std(plan.l2_sensitivity, plan.epsilon, plan.delta)
        assert plan.linear_std >= smallest_std * (1 - 1e-12)
        # The noise H hides the distance 2 sqrt(alpha / lambda), for the accuracy alpha that the
        # solver must reach.
        assert plan.output_sensitivity >= 2 * math.sqrt(plan.accuracy / plan.ridge) * (1 - 1e-12)
        assert plan.output_std == pytest.approx(
            plan.output_sensitivity / math.sqrt(2 * plan.output_rho), rel=1e-12
        )
        if method.calibration == "paper":
            assert plan.linear_std == algorithm_1_noise(
                losses.lipschitz, budget.epsilon, budget.delta
            )
            printed = algorithm_1_output_noise(
                plan.accuracy, plan.ridge, budget.epsilon, budget.delta
            )
            assert plan.output_std >= printed * (1 - 1e-12)
            assert plan.output_std == pytest.approx(printed, rel=1e-9)


def jacobian_ratio(n: int, ridge: float, rng: np.random.Generator) -> float:
    """Return the largest |log of the ratio of Jacobian determinants| of n times the Hessian, over
    random neighbours and points.
    """
    d, largest = 4, 0.0
    for _ in range(30):
        x = rng.standard_normal((n + 1, d))
        x /= np.linalg.norm(x, axis=1)[:, None]
        curvature = 0.25 * rng.random(n + 1)
        curvature[0], curvature[n] = 0.25, 0.0
        curvature[1:n] *= rng.choice([0.0, 1.0])
        parts = curvature[:, None, None] * x[:, :, None] * x[:, None, :]
        common = parts[1:n].sum(axis=0) + 2 * n * ridge * np.eye(d)
        log_determinant = np.linalg.slogdet(common + parts[0])[1]
        neighbour_log_determinant = np.linalg.slogdet(common + parts[n])[1]
        largest = max(largest, abs(float(log_determinant - neighbour_log_determinant)))
    return largest


def test_the_change_of_variables_costs_at_most_what_the_ridge_allows() -> None:
    """The check is theory/su-zhao-wang.md, 8, item 14, with rank one; half the ridge would fail."""
    rng = np.random.default_rng(0)
    for n, share in itertools.product((3, 50), (0.01, 0.2, 1.0)):
        ridge = least_ridge(n, 0.25, share)
        assert 0.95 * share < jacobian_ratio(n, ridge, rng) <= share * (1 + 1e-9)
        assert jacobian_ratio(n, ridge / 2, rng) > share


@pytest.mark.parametrize("method", VARIANTS)
def test_a_release_is_certified_and_a_record_moves_it_little(
    method: Any, releases: Releases
) -> None:
    """The noise G is zero on both data sets, and the record arbitrary (theory/su-zhao-wang.md, 8,
    items 15 and 16).
    """
    n, d = 40, 3
    setting = make_setting("logistic", n, d, APPROXIMATE)
    plan = method.plan(setting)
    solved, diagnostics = [], set()
    for x, y in neighbours(n, d, 3):
        releases.values.clear()
        result = run(method, setting, sample("logistic", x, y))
        (value,) = releases.values
        losses = plan.losses.of(sample("logistic", x, y))
        gradient = losses.mean_gradient(value) + 2 * plan.ridge * value
        assert certificate(losses.constraint, value, gradient, 2 * plan.ridge) <= plan.accuracy
        solved.append(value)
        diagnostics.add(tuple(result.diagnostics.items()))
        assert result.iterates is not None and len(result.iterates) == 2, "no point of the solver"
    assert len(diagnostics) == 1, "nothing but the setting decides them"
    distances = [float(np.linalg.norm(v - solved[0])) for v in solved[1:]]
    allowed = plan.losses.lipschitz / (n * plan.ridge) + 2 * math.sqrt(plan.accuracy / plan.ridge)
    assert 0 < max(distances) <= allowed


@pytest.mark.parametrize("kind", ["mean", "linear"])
def test_a_record_moves_the_slope_of_a_closed_form_by_at_most_its_sensitivity(
    kind: str, releases: Releases
) -> None:
    n, d = 20, 3
    for certified in (True, False):
        setting = make_setting(kind, n, d, APPROXIMATE, lipschitz=certified)
        slopes = []
        for x, y in neighbours(n, d, 3):
            releases.values.clear()
            result = run(ObjectivePerturbation(), setting, sample(kind, x, y))
            slopes.append(releases.values[0])
        allowed = result.ledger.entries[0].sensitivity
        distances = [float(np.linalg.norm(s - slopes[0])) for s in slopes[1:]]
        assert 0.3 * allowed < max(distances) <= allowed * (1 + 1e-9)


@pytest.mark.parametrize("method", [ObjectivePerturbationStrong(), ObjectivePerturbation()])
def test_the_mean_problem_is_the_projection_of_the_noisy_mean(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release is Proj(mean - G/n) with the noise in the ledger (theory/su-zhao-wang.md, 8, item
    25).
    """
    noisy_values: list[Array] = []

    def keep(value: Array, std: float, rng: np.random.Generator) -> Array:
        """Add noise to a value, and keep the sum for the test."""
        noisy_values.append(value + rng.normal(scale=std, size=value.shape))
        return noisy_values[-1]

    monkeypatch.setattr("dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise", keep)
    x, _ = make_records(50, 4)
    setting = make_setting("mean", 50, 4, APPROXIMATE)
    for seed in range(5):
        result = run(method, setting, sample("mean", x), seed)
        np.testing.assert_allclose(result.value, Ball(d=4, radius=1.0).project(-noisy_values[-1]))
    assert len(noisy_values) == 5


@pytest.mark.parametrize("calibration", ["tight", "paper"])
@pytest.mark.parametrize("kind", ["mean", "linear"])
def test_the_noise_of_a_closed_form_has_its_scale(calibration: Any, kind: str) -> None:
    """The records are zero, the noise stays well inside the ball and the curvature is known; the
    test is chi-square at 1e-6.
    """
    n, d, radius = 5000, 5000, 1e3
    bound = 2 * radius if kind == "mean" else 1e-3
    setting = make_setting(kind, n, d, APPROXIMATE, radius=radius)
    setting = replace(setting, constants=replace(setting.constants, lipschitz=bound))
    # The noise does not depend on the ridge; a large one keeps a linear loss inside the ball.
    plan = replace(ObjectivePerturbation(calibration=calibration).plan(setting), ridge=1.0)
    zeros = sample(kind, np.zeros((n, d)), radius=radius)
    result = ObjectivePerturbation().release(
        zeros, plan, Ledger(APPROXIMATE), np.random.default_rng(0)
    )
    epsilon, delta = APPROXIMATE.epsilon, APPROXIMATE.delta
    if calibration == "paper":
        std = algorithm_1_noise(bound, epsilon, delta) / n
    else:
        record = radius if kind == "mean" else bound
        std = 2 * record / math.sqrt(2 * gaussian_rho(epsilon, delta)) / n
    std /= (1.0 if kind == "mean" else 0.0) + 2 * plan.ridge
    assert np.linalg.norm(result.value) < 0.99 * radius, "the projection is inactive"
    law, total = stats.chi2(d), float(np.square(result.value / std).sum())
    assert 2 * min(law.cdf(total), law.sf(total)) > FALSE_ALARM


def test_the_linear_term_enters_the_objective_with_its_scale() -> None:
    """With zero records and a large ridge, theta = -G/(2 n lambda) + H, which is tested by
    chi-square at 1e-6.
    """
    n, d = 4, 8000
    setting = make_setting("logistic", n, d, APPROXIMATE, radius=1e7)
    for method in (VARIANTS[0], VARIANTS[2]):
        plan = method.plan(setting)
        result = run(method, setting, sample("logistic", np.zeros((n, d)), radius=1e7))
        std = math.hypot(plan.linear_std / (2 * n * plan.ridge), plan.output_std)
        assert std * math.sqrt(d) < 0.9e7, "inside the ball"
        law, total = stats.chi2(d), float(np.square(result.value / std).sum())
        assert 2 * min(law.cdf(total), law.sf(total)) > FALSE_ALARM


def test_the_practical_ridge_has_the_smaller_shift() -> None:
    for n, budget in itertools.product((100, 10_000), APPROXIMATES):
        setting = make_setting("logistic", n, 20, budget)

        def shift(plan: Any, n: int = n) -> float:
            """Return the variance of the minimiser that a plan predicts, up to a factor."""
            return float((2 * plan.ridge) ** 2 + 20 * (plan.linear_std / n) ** 2)

        practical, theory = (ObjectivePerturbation(tuning=t).plan(setting) for t in TUNINGS)
        assert shift(practical) <= shift(theory) * (1 + 1e-6)
        assert practical.jacobian_epsilon > 0


TUNINGS: tuple[Any, ...] = ("practical", "theory")


def test_without_noise_the_method_is_ridge_regularised_risk_minimisation(
    releases: Releases,
) -> None:
    n, d = 400, 3
    x, y = make_records(n, d)
    setting = make_setting("logistic", n, d, APPROXIMATE)
    result = run(ObjectivePerturbation(), setting, sample("logistic", x, y))
    ridge = result.diagnostics["ridge"]
    losses = sample("logistic", x, y)
    w = np.zeros(d)
    for _ in range(20_000):
        w = losses.constraint.project(w - 2.0 * (losses.mean_gradient(w) + 2 * ridge * w))
    np.testing.assert_allclose(result.value, w, atol=1e-9)


def test_the_method_learns_a_logistic_model() -> None:
    n, d = 20_000, 3
    rng = np.random.default_rng(0)
    x, _ = make_records(n, d)
    best = np.array([3.0, -2.0, 1.0])
    y = (rng.random(n) < 1 / (1 + np.exp(-x @ best))).astype(float)
    setting = make_setting("logistic", n, d, APPROXIMATE, radius=5.0)
    losses = sample("logistic", x, y, radius=5.0)
    result = run(ObjectivePerturbation(), setting, losses)
    trivial = losses.risk(np.zeros(d)) - losses.risk(best)
    assert losses.risk(np.zeros(d)) - losses.risk(result.value) > 0.95 * trivial


@pytest.mark.parametrize(
    ("method", "setting", "sentence"),
    [
        (ObjectivePerturbation(), make_setting("logistic", budget=PURE), "cannot give pure DP"),
        (
            ObjectivePerturbation(),
            make_setting("logistic", budget=CONCENTRATED),
            "this one is zCDP",
        ),
        (ObjectivePerturbation(), make_setting("huber", budget=APPROXIMATE), "has kinks"),
        (ObjectivePerturbation(), make_setting("hinge", budget=APPROXIMATE), "has kinks"),
        (
            ObjectivePerturbationStrong(),
            make_setting("logistic", budget=APPROXIMATE),
            "strong convexity does not depend on the record",
        ),
        (
            ObjectivePerturbation(tuning="theory"),
            make_setting("logistic", budget=APPROXIMATE, lipschitz=False),
            "needs a Lipschitz loss",
        ),
        (
            ObjectivePerturbation(calibration="paper"),
            make_setting("mean", budget=ApproxDP(epsilon=1.0, delta=1e-6)),
            "epsilon below 1",
        ),
    ],
)
def test_an_unsupported_setting_is_refused_with_a_reason(
    method: Any, setting: Any, sentence: str
) -> None:
    with pytest.raises(NotApplicable, match="Nearest") as refusal:
        method.plan(setting)
    assert sentence in refusal.value.reason or sentence in str(refusal.value)
    assert refusal.value.changes


def uncertified(patch: pytest.MonkeyPatch) -> None:
    """Let the minimiser be a million times less accurate than certified."""
    honest = objective_perturbation.minimise_strongly_convex
    patch.setattr(
        objective_perturbation,
        "minimise_strongly_convex",
        lambda *a, accuracy, **k: honest(*a, accuracy=1e6 * accuracy + 1e-6, **k),
    )


def half_the_ridge(patch: pytest.MonkeyPatch) -> None:
    """Halve the ridge of every plan."""
    honest = objective_plan.least_ridge
    patch.setattr(objective_plan, "least_ridge", lambda *a, **k: honest(*a, **k) / 2)
    objective_plan.objective_plan.cache_clear()


def sensitivity_of_one_gradient(patch: pytest.MonkeyPatch) -> None:
    """Calibrate the noise of every plan to half the sensitivity."""
    honest = objective_plan.objective_noise_std
    patch.setattr(objective_plan, "objective_noise_std", lambda s, e, d: honest(s / 2, e, d))
    objective_plan.objective_plan.cache_clear()


def no_shrinking(patch: pytest.MonkeyPatch) -> None:
    """Take the shrinking of records to the Lipschitz constant away."""
    patch.setattr("dpsco_core.methods.euclidean.lipschitz.Losses.of", lambda self, s: s)


def test_a_solver_without_certificate_is_caught(
    monkeypatch: pytest.MonkeyPatch, releases: Releases
) -> None:
    uncertified(monkeypatch)
    with pytest.raises(AssertionError):
        test_a_release_is_certified_and_a_record_moves_it_little(VARIANTS[0], releases)


def test_records_that_are_not_shrunk_are_caught(
    monkeypatch: pytest.MonkeyPatch, releases: Releases
) -> None:
    no_shrinking(monkeypatch)
    with pytest.raises((AssertionError, ValueError, RuntimeWarning)):
        test_a_record_moves_the_slope_of_a_closed_form_by_at_most_its_sensitivity(
            "linear", releases
        )


@pytest.mark.parametrize("fault", [half_the_ridge, sensitivity_of_one_gradient])
def test_a_faulty_plan_is_caught(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    try:
        method = VARIANTS[2] if fault is half_the_ridge else VARIANTS[0]
        with pytest.raises(AssertionError):
            test_the_shares_add_up_and_every_part_meets_its_own(method, APPROXIMATE)
    finally:
        objective_plan.objective_plan.cache_clear()
