"""Steps of the proof of the floors by simulation, and private methods measured against them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import jv
from scipy.stats import binom

from dpsco_core.base.arrays import Vector
from dpsco_core.bounds.floors.leakage import concentrated
from dpsco_core.bounds.floors.van_trees import costs, prior_information
from dpsco_core.catalogue import (
    BOUNDS,
    METHODS,
    PROBLEMS,
    bound,
    bounds_for,
    default_methods,
    make_instance,
)
from dpsco_core.data import StudentT
from dpsco_core.data.base import ScaledLaw
from dpsco_core.explain.floors import floor_proof, no_floor
from dpsco_core.explain.window import spans
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.results.report import bound_setting
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario
from tests.bounds.floors import cases
from tests.bounds.floors.cases import DEFAULT, floor_bound, make_setting, shifts
from tests.folded import one_in

RNG_SEED = 20_26


def draw_prior(rng: np.random.Generator, count: int) -> tuple[Vector, Vector]:
    """Draw means of the prior on the unit ball of R^3, and the gradients of its log density."""
    # The prior's density is U^2 with U = sin(pi r)/r, so the radius has density 2 sin^2(pi r) on
    # (0, 1).
    r = np.empty(0)
    while len(r) < count:
        tried = rng.random(2 * count)
        r = np.concatenate([r, tried[rng.random(2 * count) < np.sin(np.pi * tried) ** 2]])
    r = r[:count]
    direction = rng.standard_normal((count, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    slope = 2 * (np.pi / np.tan(np.pi * r) - 1 / r)
    return r[:, None] * direction, slope[:, None] * direction


def test_the_identity_of_the_proof_holds_for_a_biased_estimator() -> None:
    # The estimator is a clipped mean with noise at d = 3 and n = 4; five standard errors give false
    # alarms of 1e-6.
    rng, count = np.random.default_rng(RNG_SEED), 400_000
    law = StudentT(d=3, moment_order=2.0)
    nu, s = law.tail_index, law.scale
    mean, pull = draw_prior(rng, count)
    z = s * rng.standard_t(nu, size=(count, 4, 3))
    score = ((nu + 1) * z / (nu * s**2 + z * z)).sum(axis=1)
    estimate = np.clip(z + mean[:, None, :], -1.0, 1.0).mean(axis=1)
    error = estimate + 0.3 * rng.standard_normal((count, 3)) - mean
    size = np.linalg.norm(error, axis=1, keepdims=True)
    total_score = score + pull
    for field, divergence in (
        (error, np.full(count, 3.0)),
        (error / np.sqrt(size), 2.5 / np.sqrt(size[:, 0])),
        (error / size, 2 / size[:, 0]),
    ):
        gap = (field * total_score).sum(axis=1) - divergence
        assert abs(gap.mean()) < 5 * gap.std() / math.sqrt(count)
        # With the wrong sign of the prior's term the identity fails.
        wrong = (field * (score - pull)).sum(axis=1) - divergence
        assert abs(wrong.mean()) > 5 * wrong.std() / math.sqrt(count)
    cross = (score * pull).sum(axis=1)
    assert abs(cross.mean()) < 5 * cross.std() / math.sqrt(count)
    squares = (pull**2).sum(axis=1)
    assert squares.mean() == pytest.approx(prior_information(3, 1.0), rel=0.02)


def information_of_noisy_signs(n: int, rho: float) -> float:
    """Return E g^2 for n fair signs whose sum is released with Gaussian noise of budget rho, where
    g is the score of the output.
    """
    std = 2 / math.sqrt(2 * rho)  # Replacing one sign moves the sum by 2.
    counts = np.arange(n + 1)
    total = 2.0 * counts - n
    chance = binom.pmf(counts, n, 0.5)
    out = np.linspace(-n - 9 * std, n + 9 * std, 6_001)
    density = np.exp(-0.5 * ((out[:, None] - total) / std) ** 2) / std / math.sqrt(2 * math.pi)
    density_of_output = density @ chance
    is_positive = density_of_output > 1e-280
    score_of_output = density @ (chance * total)
    return float(
        np.trapezoid(
            score_of_output[is_positive] ** 2 / density_of_output[is_positive], out[is_positive]
        )
    )


def test_sums_of_signs_reveal_at_most_and_nearly_what_lemma_3_allows() -> None:
    tightest = 0.0
    for n in (1, 2, 5, 30, 200):
        for rho in (1e-4, 1e-3, 0.01, 0.1, 0.5, 2.0):
            kappa = concentrated(rho, shifts(make_setting("gaussian", 10, 1, 2.0, ZCDP(rho=rho))))
            parts = costs(n, 1, 1.0, kappa, 1.0)
            information = information_of_noisy_signs(n, rho)
            information_bound = 1 / (parts.sampling + parts.privacy)
            assert information <= information_bound * (1 + 1e-9)
            tightest = max(tightest, information / information_bound)
    assert tightest > 0.98  # The constant of the lemma is nearly attained.
    # The two costs add up: with their maximum, n = 200 signs would fail at the rho where both are
    # equal.
    rho = 2 / 200
    assert information_of_noisy_signs(200, rho) == pytest.approx(
        1 / (1 / 200 + 2 / (200**2 * rho)), rel=2e-3
    )


def test_exact_bayes_errors_of_noisy_records_are_above_the_floor() -> None:
    # At d = 1 records are clipped to a level and summed with noise. Under the prior of the proof,
    # cos^2 on an interval, the posterior mean has the least squared error.
    for kind, n, rho, radius, level in (
        ("gaussian", 1, 0.5, 2.0, 1.5),
        ("gaussian", 8, 0.05, 1.0, 1.0),
        ("student-t", 4, 0.2, 3.0, 2.0),
    ):
        setting = make_setting(kind, n, 1, 2.0, ZCDP(rho=rho), radius=radius)
        law = setting.law
        assert isinstance(law, ScaledLaw)
        means = np.linspace(-radius, radius, 401)[1:-1]
        prior = np.cos(np.pi * means / (2 * radius)) ** 2
        prior /= prior.sum()
        rng = np.random.default_rng(3)
        noise_std = 2 * level / math.sqrt(2 * rho)
        # The law of the sum at each mean is simulated on a grid of outputs.
        z = law.sample(6_000 * n, rng).x.reshape(6_000, n)
        sums = np.clip(z[None] + means[:, None, None], -level, level).sum(axis=2)
        out = np.linspace(-n * level - 5 * noise_std, n * level + 5 * noise_std, 301)
        edges = np.linspace(-n * level - 1e-9, n * level + 1e-9, 201)
        places = 0.5 * (edges[1:] + edges[:-1])
        mass = np.stack([np.histogram(row, edges)[0] / len(row) for row in sums])
        kernel = np.exp(-0.5 * ((out[None] - places[:, None]) / noise_std) ** 2)
        likelihood = mass @ (kernel / kernel.sum(axis=1, keepdims=True))
        joint = prior[:, None] * likelihood
        whole = joint.sum(axis=0)
        best = (joint * means[:, None]).sum(axis=0) / whole
        square = float((joint * (means[:, None] - best[None]) ** 2).sum())
        # Theorem 1 alone is compared: Theorem 2 has another prior, under which errors are larger.
        terms = bound("lower.mean.floor-cdp-squared").terms(setting) | {"two shifts": 0.0}
        assert square > bound("lower.mean.floor-cdp-squared").combined(terms)


def test_the_prior_of_the_simulation_is_the_ground_state() -> None:
    r = np.linspace(0.01, 0.99, 50)
    ratio = np.sin(np.pi * r) / r / (r**-0.5 * jv(0.5, np.pi * r))
    assert np.ptp(ratio) < 1e-9 * abs(ratio[0])


def estimate_with_shape(x: Vector, law: StudentT, rho: float, rng: np.random.Generator) -> Vector:
    """Return an estimate of the mean by an algorithm that knows the law: first a clipped mean, then
    clipped scores.
    """
    n, d = x.shape
    nu, s = law.tail_index, law.scale
    information = (nu + 1) / (nu + 3) / s**2
    radius = 8.0
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    start = (x * np.minimum(1, radius / norms)).mean(axis=0)
    noise = 2 * radius / n / math.sqrt(2 * 0.15 * rho)
    estimate = start + noise * rng.standard_normal(d)
    level = 1.15 * math.sqrt(d * information)
    for share in (0.15, 0.7):
        z = x - estimate
        score = (nu + 1) * z / (nu * s**2 + z * z)
        score *= np.minimum(1, level / np.linalg.norm(score, axis=1, keepdims=True))
        noise = 2 * level / n / math.sqrt(2 * share * rho)
        estimate = estimate + (score.mean(axis=0) + noise * rng.standard_normal(d)) / information
    return np.asarray(estimate)


def test_a_method_that_knows_the_shape_stays_above_the_floor_and_within_a_tenth() -> None:
    law = StudentT(d=20, moment_order=2.0, offset=1.0)
    rng = np.random.default_rng(11)
    errors = [
        float(np.linalg.norm(estimate_with_shape(law.sample(10_000, rng).x, law, 0.028014, rng)
                             - law.mean))
        for _ in range(120)
    ]  # fmt: skip
    mean, spread = float(np.mean(errors)), float(np.std(errors)) / math.sqrt(120)
    floor_value = floor_bound(make_setting("student-t", 10_000, 20, 2.0, DEFAULT))
    assert mean + 5 * spread > floor_value  # False alarms have probability 1e-6.
    assert mean / floor_value < 1.10


def random_scenario(rng: np.random.Generator) -> Scenario:
    """Return a random scenario on data with a floor, small enough to run."""
    while True:
        n = int(np.exp(rng.uniform(math.log(50), math.log(1e6))))
        d = int(np.exp(rng.uniform(0, math.log(500))))
        if n * d <= 400_000:
            break
    budget: dict[str, Any] = {"epsilon": float(10 ** rng.uniform(-1, 0.7)), "delta": 1e-6}
    match int(rng.integers(3)):
        case 0:
            budget["delta"] = 0.0
        case 1:
            budget = {"epsilon": None, "delta": None, "rho": float(10 ** rng.uniform(-3, 0.5))}
    return Scenario(
        distribution=str(rng.choice(cases.DRAWN_LAWS)),
        n=n,
        d=d,
        p=float(rng.choice([2.0, 2.5, 3.0, 5.0])),
        offset=float(rng.choice([0.5, 1.0, 2.0])),
        decay=float(rng.choice([0.0, 0.0, 0.7, 1.5])),
        trials=3,
        seed=int(rng.integers(1_000_000)),
        methods=tuple(
            m.card.slug for m in METHODS if "mean" in m.card.problems and m.card.privacy != "none"
        ),
        **budget,
    )


def methods_below_the_floor(point: Scenario) -> list[str]:
    """Return the methods whose measured error is below the floor that applies to them."""
    errors: dict[str, list[float]] = {}
    for outcome in study(point):
        if outcome.not_applicable is None:
            errors.setdefault(outcome.method, []).append(outcome.error)
    notion = {ZCDP: "cdp", ApproxDP: "cdp", PureDP: "pure"}[type(point.budget)]
    row = bound(f"lower.mean.floor-{notion}")
    floor_value = row.value(bound_setting(point, row))
    # The norm of an error in d dimensions varies by at most 0.8/sqrt(d) of its mean; five standard
    # deviations of the mean over trials are allowed for.
    noise = 5 * 0.8 / math.sqrt(point.d * point.trials)
    return [
        m
        for m, measured_errors in errors.items()
        if np.mean(measured_errors) < floor_value * max(0.0, 1 - noise)
    ]


@pytest.mark.parametrize("count", one_in(2, [6, 40]))
def test_measured_errors_of_private_methods_are_above_the_floor(count: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(count):
        point = random_scenario(rng)
        assert methods_below_the_floor(point) == [], point


@pytest.mark.slow
def test_measured_errors_of_private_methods_are_above_the_floor_at_2000_scenarios() -> None:
    rng = np.random.default_rng(2)
    for _ in range(1_960):
        point = random_scenario(rng)
        assert methods_below_the_floor(point) == [], point


def upper_bounds_below_a_floor(rng: np.random.Generator) -> list[str]:
    """Return a sentence for each explicit upper bound that lies below a floor at a
    random setting.
    """
    budget: Budget = ZCDP(rho=float(10 ** rng.uniform(-4, 1)))
    if rng.random() < 0.4:
        budget = PureDP(epsilon=float(10 ** rng.uniform(-2, 1)))
    n, d = (int(np.exp(rng.uniform(math.log(a), math.log(b)))) for a, b in ((20, 1e7), (1, 500)))
    instance = make_instance(
        distribution=str(rng.choice(cases.LAWS)),
        n=n,
        d=d,
        budget=budget,
        moment_order=float(rng.choice([2.0, 3.0, 6.0])),
        margin=0.5,
        offset=float(rng.choice([0.0, 1.0])),
        decay=float(rng.choice([0.0, 0.0, 0.7, 1.5])),
        radius=float(rng.choice([2.0, 10.0])),
    ).problem
    setting = replace(instance.setting(n, budget), law=instance.distribution)  # type: ignore[union-attr]
    floor_value = floor_bound(setting)
    too_large = []
    for row in BOUNDS:
        card = row.card
        sure = (card.kind, card.constant, card.guarantee, card.quantity, card.privacy)
        weaker_notions = ("pure",) if isinstance(budget, PureDP) else ("pure", "zcdp")
        if (
            sure[:4] != ("upper", "explicit", "expectation", "l2 error")
            or sure[4] not in weaker_notions
        ):
            continue
        # A pure method is bounded at its own epsilon, which under zCDP corresponds to at most rho.
        if not row.failures(setting) and row.value(setting) < floor_value * (1 - 1e-9):
            too_large.append(f"{card.slug} at {setting}")
    return too_large


def test_no_floor_is_above_an_explicit_upper_bound() -> None:
    rng = np.random.default_rng(4)
    for _ in range(150):
        assert upper_bounds_below_a_floor(rng) == []


@pytest.mark.slow
def test_no_floor_is_above_an_explicit_upper_bound_at_20000_settings() -> None:
    rng = np.random.default_rng(5)
    for _ in range(19_850):
        assert upper_bounds_below_a_floor(rng) == []


def test_the_numbers_of_the_proof_lead_to_the_bound() -> None:
    point = Scenario(p=2.0, offset=0.0)
    for notion, short, value in (("zcdp", "cdp", 0.025768), ("approx", "approx", 0.0244997)):
        proof = floor_proof(point, notion)  # type: ignore[arg-type]
        assert proof is not None
        assert proof.value == pytest.approx(value, rel=3e-6)
        row = bound(f"lower.mean.floor-{short}")
        assert proof.value == pytest.approx(row.value(bound_setting(point, row)))
        assert 19.5 / math.sqrt(proof.learnt + proof.prior) == pytest.approx(proof.value)
        assert proof.learnt < proof.whole == pytest.approx(10_000 * 20 * proof.information)
        squares = 1 / (1 / (proof.sampling**2 + proof.privacy**2) + proof.prior / 19.5**2)
        assert math.sqrt(squares) == pytest.approx(proof.value)
    run = replace(point, methods=default_methods("mean"), trials=10)
    errors = [o.error for o in study(run) if o.not_applicable is None]
    assert np.mean(np.reshape(errors, (-1, 10)), axis=1).min() > 0.0244


def test_a_loss_with_lower_bounds_is_never_reported_to_have_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each problem without a floor on given data has lower bounds on the hardest data."""
    slugs = [problem.card.slug for problem in PROBLEMS]
    without = [s for s in slugs if not any(row.card.of_law for row in bounds_for(s))]
    assert len(without) > 5
    for slug in without:
        point = Scenario(problem=slug, methods=())
        [promise] = spans(point)
        assert promise.lower is not None and promise.low > 0
        assert "hard data of their own" in no_floor(point) and "no lower" not in no_floor(point)
    monkeypatch.setattr("dpsco_core.explain.floors.bounds_for", lambda *_: ())
    assert "no lower bound is proven for this loss" in no_floor(Scenario(problem="hinge"))


def test_data_without_a_floor_have_a_worded_reason() -> None:
    assert "finds its edge" in no_floor(Scenario(distribution="pareto"))
    assert "finds its edge" in no_floor(Scenario(distribution="log-normal"))
    assert "its own prior" in no_floor(Scenario(distribution="spike"))
    assert "ℓ₂ ball" in no_floor(Scenario(geometry="l1"))
    for law in cases.DRAWN_LAWS:
        assert no_floor(Scenario(distribution=law)) == ""
    assert floor_proof(Scenario(distribution="pareto"), "zcdp") is None
