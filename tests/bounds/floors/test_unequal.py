"""Floors for data whose coordinates have different scales: theory/instance-floors.md, 16."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.arrays import Vector
from dpsco_core.bounds.floors.leakage import leakage
from dpsco_core.bounds.floors.terms import UNEQUAL, two_shifts
from dpsco_core.bounds.floors.van_trees import prior_information
from dpsco_core.bounds.floors.weights import weightings
from dpsco_core.catalogue import bound
from dpsco_core.data import Gaussian, StudentT
from dpsco_core.explain.floors import floor_proof, no_floor
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems.base import Setting
from dpsco_core.results.report import bound_setting
from dpsco_core.scenario import Scenario
from tests.bounds.floors.cases import SHORT, make_setting, shifts
from tests.bounds.floors.test_proof import RNG_SEED, draw_prior

BUDGETS: tuple[Budget, ...] = (
    ZCDP(rho=0.07),
    ApproxDP(epsilon=0.6, delta=1e-5),
    PureDP(epsilon=1.4),
)


def with_falling_scales(setting: Setting, decay: float) -> Setting:
    """Return the setting for the same law with falling coordinate scales."""
    return replace(setting, law=replace(setting.law, decay=decay))  # type: ignore[type-var]


def plain_floors(setting: Setting) -> Callable[[Vector], tuple[float, float]]:
    """Return the floors on the mean and squared errors for any weights b with maximum 1."""
    assert setting.law is not None
    n, d, scales = setting.n, setting.d, setting.law.scales
    lam, kappa = shifts(setting).information, leakage(setting.budget, shifts(setting))
    whole_prior = prior_information(d, setting.constants.mean_gradient_bound)

    def floors(b: Vector) -> tuple[float, float]:
        """Return the floors on the error and on its square for a vector of weights b."""
        a = b * scales
        whole = lam * float(b @ b)
        learnt = min(n * whole, 1 / (1 / (n * kappa) ** 2 / lam + (n - 1) / (n**2 * whole)))
        root = float(a.sum()) / math.sqrt(learnt + whole_prior * float(a @ a) / d)
        return root * (1 - float(a.max()) / 2 / float(a.sum())), root**2

    return floors


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("law", ["student-t", "elliptical-t", "gaussian"])
@pytest.mark.parametrize("decay", [0.4, 1.0, 2.0])
def test_a_floor_is_its_formula_and_other_weights_gain_little(
    law: str, budget: Budget, decay: float
) -> None:
    setting = with_falling_scales(make_setting(law, 3000, 12, 2.5, budget, radius=1.5), decay)
    assert setting.law is not None
    scales, short, floors = setting.law.scales, SHORT[type(budget)], plain_floors(setting)
    grid = [np.minimum(1, c * scales) for c in np.geomspace(1 / scales[0], 1 / scales[-1], 400)]
    rng = np.random.default_rng(3)
    random_weights = [rng.uniform(0, 1, 12) ** rng.uniform(0, 3) for _ in range(2000)]
    for slug, place in ((f"lower.mean.floor-{short}", 0), (f"lower.mean.floor-{short}-squared", 1)):
        value = bound(slug).value(setting)
        fine = max(floors(b)[place] for b in grid)
        assert fine * (1 - 2e-3) <= value <= fine * (1 + 1e-4)
        if place == 1:
            assert max(floors(b / b.max())[1] for b in random_weights) <= value * (1 + 0.01)
    risk = with_falling_scales(
        make_setting(law, 3000, 12, 2.5, budget, radius=1.5, problem="quadratic"), decay
    )
    squared = bound(f"lower.mean.floor-{short}-squared").value(setting)
    assert bound(f"lower.sco-strong.floor-{short}").value(risk) == pytest.approx(squared / 2)


def test_the_weights_are_those_of_theorem_one_where_scales_are_equal() -> None:
    (equal,) = weightings(StudentT(d=12))
    assert (equal.mean, equal.root, equal.rank, equal.spread) == (11.5, 12.0, 12.0, 1.0)
    ends = weightings(StudentT(d=12, decay=1.0))
    scales = StudentT(d=12, decay=1.0).scales
    assert (ends[-1].root, ends[-1].rank) == pytest.approx((scales.sum(), 12.0))
    assert ends[0].root == pytest.approx(12 / scales[0])  # In these units the largest weight is 1.
    assert ends[0].rank == pytest.approx(12 / scales[0] ** 2)


def test_the_identity_holds_with_weights() -> None:
    # The simulation is that for Theorem 1, at d = 3 and n = 4 with a clipped noisy mean; false
    # alarms have probability 1e-6.
    rng, count = np.random.default_rng(RNG_SEED), 400_000
    law = StudentT(d=3, moment_order=2.0, decay=0.8)
    nu, scale, a = law.tail_index, law.scale * law.scales, np.array([1.0, 0.5, 0.2])
    mean, pull = draw_prior(rng, count)
    z = scale * rng.standard_t(nu, size=(count, 4, 3))
    score = ((nu + 1) * z / (nu * scale**2 + z * z)).sum(axis=1)
    estimate = np.clip(z + mean[:, None, :], -1.0, 1.0).mean(axis=1)
    error = estimate + 0.3 * rng.standard_normal((count, 3)) - mean
    size = np.linalg.norm(error, axis=1)
    total_score = score + pull
    weighted_error = (error**2 @ a) / size**2
    for field, divergence in (
        (a * error, np.full(count, a.sum())),
        (a * error / np.sqrt(size)[:, None], (a.sum() - weighted_error / 2) / np.sqrt(size)),
    ):
        gap = (field * total_score).sum(axis=1) - divergence
        assert abs(gap.mean()) < 5 * gap.std() / math.sqrt(count)
    assert (weighted_error <= a.max() * (1 + 1e-12)).all()
    cross = (a**2 * score * pull).sum(axis=1)
    assert abs(cross.mean()) < 5 * cross.std() / math.sqrt(count)
    squares = ((a * pull) ** 2).sum(axis=1).mean()
    assert squares == pytest.approx(prior_information(3, 1.0) * float(a @ a) / 3, rel=0.03)


@pytest.mark.parametrize("decay", [0.0, 0.5, 1.0, 2.5])
def test_without_privacy_the_floor_of_a_normal_law_is_the_error_of_the_sample_mean(
    decay: float,
) -> None:
    setting = with_falling_scales(
        make_setting("gaussian", 1000, 15, 2.0, ZCDP(rho=1e5), radius=1e4), decay
    )
    assert setting.law is not None
    attained = setting.law.variance_trace / setting.n
    assert bound("lower.mean.floor-cdp-squared").value(setting) == pytest.approx(attained, rel=2e-3)


def estimate_weighted_mean(
    x: Vector, law: Gaussian, rho: float, rng: np.random.Generator
) -> Vector:
    """Return an estimate of the mean by an algorithm that knows the law and clips in units of the
    roots of the scales.
    """
    n, _ = x.shape
    weights = np.sqrt(law.scales)
    sigma = math.sqrt(law.moment(2.0)) / law.lead
    centre = np.zeros(law.d)
    for share, radius in (
        (0.1, 12.0),
        (0.1, 6.0),
        (0.8, 1.15 * sigma * math.sqrt(weights @ weights)),
    ):
        z = (x - centre) / weights
        z *= np.minimum(1, radius / np.linalg.norm(z, axis=1, keepdims=True))
        noise = 2 * radius / n / math.sqrt(2 * share * rho)
        centre = centre + weights * (z.mean(axis=0) + noise * rng.standard_normal(law.d))
    return np.asarray(centre)


def test_a_method_that_knows_shape_and_scales_stays_above_the_floor_and_near_it() -> None:
    law, rho = Gaussian(d=40, moment_order=2.0, decay=1.0, offset=0.5), 0.0005
    rng = np.random.default_rng(12)
    squares = [
        float(
            np.sum(
                (estimate_weighted_mean(law.sample(20_000, rng).x, law, rho, rng) - law.mean) ** 2
            )
        )
        for _ in range(40)
    ]
    setting = replace(make_setting("gaussian", 20_000, 40, 2.0, ZCDP(rho=rho), offset=0.5), law=law)
    floor_value = bound("lower.mean.floor-cdp-squared").value(setting)
    mean, error = float(np.mean(squares)), float(np.std(squares)) / math.sqrt(40)
    assert mean + 5 * error > floor_value  # False alarms have probability 1e-6.
    # The ratio is 1.6 in length; the shares and kappa are not sharp.
    assert mean / floor_value < 2.6
    sampling = law.variance_trace / 20_000
    # Most of the error is due to privacy, so the private term is what is compared.
    assert mean > 4 * sampling


def test_a_result_proven_for_equal_scales_only_is_labelled_so() -> None:
    scenario = Scenario(decay=0.5)
    for slug in ("lower.mean.floor-near-cdp", "lower.mean.floor-near-approx"):
        row = bound(slug)
        assert row.failures(bound_setting(scenario, row)) == (UNEQUAL,)
    assert two_shifts(bound_setting(scenario, bound("lower.mean.floor-cdp")), "zcdp") == 0.0
    linear = Scenario(decay=0.5, problem="linear", methods=("sco.sgd",), offset=1.0)
    assert no_floor(linear) == UNEQUAL
    assert no_floor(scenario) == ""
    assert floor_proof(scenario, "zcdp") is None and floor_proof(
        replace(scenario, decay=0.0), "zcdp"
    )


def test_the_floor_falls_with_the_decay_and_the_squared_floor_stays_above_sampling() -> None:
    values = []
    for decay in (0.0, 0.3, 0.7, 1.2, 2.0):
        setting = with_falling_scales(
            make_setting("gaussian", 2000, 30, 2.0, ZCDP(rho=0.05), radius=50.0), decay
        )
        squared = bound("lower.mean.floor-cdp-squared").value(setting)
        assert setting.law is not None
        assert squared >= setting.law.variance_trace / setting.n * 0.97
        values.append(squared)
    assert values == sorted(values, reverse=True)


def test_constants_for_equal_scales_have_no_value_at_unequal_scales() -> None:
    """With these constants the printed formula would be 40 % too high at a decay of 1."""
    setting = make_setting("student-t", 3000, 12, 2.5, BUDGETS[0], radius=1.5)
    letters = {letter.token: letter for letter in bound("lower.mean.floor-cdp").letters}
    for token in ("C_d", "J"):
        assert letters[token].value(setting) > 0
        assert math.isnan(letters[token].value(with_falling_scales(setting, 1.0)))
    assert letters[r"\lambda"].value(setting) == letters[r"\lambda"].value(
        with_falling_scales(setting, 1.0)
    )
