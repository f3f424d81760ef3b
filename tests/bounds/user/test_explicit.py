"""Explicit bounds at user level: simulated runs, terms, limits and crossovers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.bounds.user.conditions import setting_of
from dpsco_core.bounds.user.explicit import (
    VOID,
    calibrated_sgd_risk,
    full_batch_risk,
    mode_a_risk,
    one_chain_risk,
    phased_erm_risk,
    phased_sgd_risk,
    restarts,
    stability,
)
from dpsco_core.bounds.user.rates import GROUP_PRIVACY, OPTIMAL
from dpsco_core.methods.user.accelerated.sgd import Curvature, staged_gap
from dpsco_core.methods.user.calibrated import calibrated_sgd, full_batch, one_chain
from dpsco_core.methods.user.level import UserLevel

CASE = UserLevel(n=10**4, m=100, d=5, epsilon=1.0, delta=1e-6, smoothness=1.0)
ALL = (calibrated_sgd_risk, one_chain_risk, mode_a_risk, full_batch_risk)


def one_pass_risk_terms(
    step: float, lipschitz: float, steps: float, distance: float, *, printed: bool = False
) -> tuple[float, float]:
    r"""Return the two terms of Lemma B.3, for the average of T one-pass projected steps: start and
    gradients.

    .. math:: \frac{\|y-x_0\|^2}{2\eta T},\ \frac{\eta L^2}2

    Against any fixed y, for every convex L-Lipschitz loss and step. `printed` has both doubled, for
    :math:`\eta\le1/\beta` (from Feldman et al. 2020, Lemma 4.5; theory/lowy-liu-asi.md, 3.7).

    Examples
    --------
    >>> one_pass_risk_terms(0.1, 1.0, 100, 1.0)
    (0.05, 0.05)
    >>> one_pass_risk_terms(0.1, 1.0, 100, 1.0, printed=True)
    (0.1, 0.1)
    """
    scale = 2.0 if printed else 1.0
    return scale * distance**2 / (2 * step * steps), scale * step * lipschitz**2 / 2


def project(x, radius=0.5):
    """Return the projection of every row on the l2 ball of this radius around 0."""
    return x / np.maximum(1, np.linalg.norm(x, axis=-1, keepdims=True) / radius)


def test_both_terms_of_one_pass_are_equal_at_the_best_step():
    steps, reach = 400, 0.5
    best = reach / math.sqrt(steps)
    assert sum(one_pass_risk_terms(best, 1.0, steps, reach)) == pytest.approx(
        reach / math.sqrt(steps)
    )
    printed = sum(one_pass_risk_terms(best, 1.0, steps, reach, printed=True))
    assert printed == pytest.approx(2 * reach / math.sqrt(steps))


def linear_items(rng, runs, count, drift=0.1):
    """Return items z = +-e_1 of the loss -<z, x> in the plane, shape (runs, count, 2); the excess
    is drift (1/2 - x_1).
    """
    signs = np.where(rng.random((runs, count)) < (1 + drift) / 2, 1.0, -1.0)
    return np.stack([signs, np.zeros_like(signs)], axis=-1)


def test_simulated_phased_sgd_stays_below_its_bound():
    rng = np.random.default_rng(7)
    case = replace(CASE, n=120, m=5, d=2, epsilon=4.0)
    schedule = one_chain(case, phases=2, step=0.03)
    runs, drift = 2000, 0.1
    x = np.zeros((runs, 2))
    for phase in schedule.phases:
        total = np.zeros((runs, 2))
        items = linear_items(rng, runs, phase.steps, drift)
        point = x
        for t in range(phase.steps):
            total += point
            point = project(point + phase.step_size * items[:, t])
        noise = phase.noise_std * rng.standard_normal((runs, 2))
        x = project(total / phase.steps + noise)
    excess = drift * (0.5 - x[:, 0])
    bound = sum(phased_sgd_risk(case, schedule, distance=0.5))
    assert excess.mean() + 5 * excess.std() / math.sqrt(runs) < bound < 1


def test_the_regularised_minimiser_of_linear_losses_overfits_by_at_most_the_stability():
    rng = np.random.default_rng(8)
    case = replace(CASE, n=10, m=4)
    for regulariser in (0.2, 1.0, 5.0):
        items = linear_items(rng, 4000, 40)
        x = project(items.mean(axis=1) / regulariser)  # The run starts at the centre.
        for y in (np.zeros(2), np.array([0.5, 0.0])):
            gain = -0.1 * (x[:, 0] - y[0])
            bound = stability(case, case.n, regulariser) + regulariser / 2 * (y @ y)
            assert gain.mean() + 5 * gain.std() / math.sqrt(len(gain)) < bound


def run_accelerated(gradient, start, smoothness, regulariser, steps, radius):
    """Return the last aggregate of AC-SA, as in theory/lowy-liu-asi.md, 2.2, for every row of
    starting points.
    """
    x = aggregate = start
    for t in range(1, steps + 1):
        a, g = 2 / (t + 1), 4 * smoothness / (t * (t + 1))
        weight = g + (1 - a * a) * regulariser
        inner = (1 - a) * regulariser + g
        middle = (1 - a) * (regulariser + g) / weight * aggregate + a * inner / weight * x
        target = a * regulariser * middle + inner * x - a * gradient(middle)
        x = project(target / (regulariser + g), radius)
        aggregate = a * x + (1 - a) * aggregate
    return aggregate


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_simulated_restarts_stay_below_their_bound(noise):
    rng = np.random.default_rng(9)
    runs, regulariser = 1000, 0.05
    case = replace(CASE, d=3)
    curvature = np.array([1.0, 0.3, 0.0]) + regulariser
    centre = np.array([0.3, -0.2, 0.1])  # The centre of the objective lies within the ball.

    def gradient(x):
        """Return a noisy gradient of the quadratic."""
        return curvature * (x - centre) + noise * rng.standard_normal(x.shape)

    lengths, bound = restarts(case, regulariser, 3 * noise**2, 120)
    assert sum(lengths) == 120
    x = np.zeros((runs, 3))
    for length in lengths:
        x = run_accelerated(gradient, x, 1 + regulariser, regulariser, length, 0.5)
    gap = (curvature * (x - centre) ** 2).sum(axis=1) / 2
    assert gap.mean() + 5 * gap.std() / math.sqrt(runs) <= bound
    assert bound < (0.01 if noise == 0 else 1.0)


def test_restarts_forget_the_start_geometrically():
    gaps = [restarts(CASE, 1e-3, 0.0, steps)[1] for steps in (200, 400, 800, 1600)]
    assert gaps[1] / gaps[0] < 0.25 and gaps[3] / gaps[2] < 0.01
    slow = Curvature(strong_convexity=1e-3, smoothness=CASE.smoothness + 1e-3)
    single_stage = staged_gap((800,), slow, CASE.diameter**2, 0.0)
    assert gaps[2] < single_stage
    noisy = [restarts(CASE, 0.1, 1.0, steps)[1] for steps in (10**5, 2 * 10**5)]
    assert noisy[1] / noisy[0] == pytest.approx(0.5, rel=0.01)


def test_without_noise_the_bound_is_that_of_one_pass():
    schedule = one_chain(CASE, phases=1, step=0.001)
    quiet = replace(schedule.phases[0], noise_std=0.0)
    terms = phased_sgd_risk(CASE, replace(schedule, phases=(quiet,)), distance=0.5)
    assert terms == (*one_pass_risk_terms(0.001, 1.0, CASE.total, 0.5), 0.0, 0.0, 0.0)


def test_the_noise_of_a_phase_never_costs_more_than_the_set():
    loud = replace(CASE, epsilon=1e-3)
    schedule = one_chain(loud, phases=3)
    assert phased_sgd_risk(loud, schedule)[3] <= loud.unit
    huge = calibrated_sgd(CASE)
    phases = tuple(replace(p, noise_std=1e9) for p in huge.phases)
    terms = phased_sgd_risk(CASE, replace(huge, phases=phases), failure=0.25)
    assert terms[3:] == (CASE.unit, 0.25)
    assert math.isfinite(sum(terms))
    erm = full_batch(loud, radius=None)
    assert phased_erm_risk(loud, erm)[3] <= loud.unit


def test_subsampled_schedules_and_non_smooth_losses_have_no_such_bound():
    schedule = full_batch(CASE, radius=None)
    half = tuple(replace(p, batch=p.users / 2) for p in schedule.phases)
    assert phased_erm_risk(CASE, replace(schedule, phases=half)) == VOID
    rough = replace(CASE, smoothness=math.inf)
    assert phased_erm_risk(rough, schedule) == VOID
    for risk in ALL:
        assert math.isinf(risk(rough).value)


@pytest.mark.parametrize("risk", ALL)
def test_a_bound_falls_with_the_users_the_budget_and_the_start_and_scales_with_its_units(risk):
    case = replace(CASE, m=10**4)
    value = risk(case, distance=0.5).value
    assert risk(case.with_users(10**5), distance=0.5).value < value
    assert risk(replace(case, epsilon=4.0), distance=0.5).value < value
    assert value < risk(replace(case, d=50), distance=0.5).value
    assert value < risk(case, distance=1.0).value == risk(case).value
    # Doubling L and R, with the smoothness that keeps beta R/L, multiplies the risk by four.
    scaled = risk(replace(case, lipschitz=2.0, diameter=2.0), distance=1.0).value
    assert scaled == pytest.approx(4 * value)
    assert value > sum(OPTIMAL(setting_of(case)).values()) / 2


def test_only_the_filters_gain_from_more_items_a_user():
    small_case, large_case = replace(CASE, n=10**5), replace(CASE, n=10**5, m=10**6)
    for risk, falls in ((mode_a_risk, True), (calibrated_sgd_risk, True), (full_batch_risk, False)):
        gain = risk(small_case).value / risk(large_case).value
        assert gain > 5 if falls else gain < 1.5
    # These sizes are on both sides of the proven crossover of phased SGD with a filter and its
    # full-batch baseline.
    assert mode_a_risk(small_case).value > full_batch_risk(small_case).value
    assert mode_a_risk(large_case).value < full_batch_risk(large_case).value
    assert full_batch_risk(large_case).value > sum(GROUP_PRIVACY(setting_of(large_case)).values())


def test_the_failure_of_the_filter_is_a_small_part_of_the_bound():
    for risk in (mode_a_risk, calibrated_sgd_risk):
        bound = risk(CASE)
        assert bound.terms[4] == pytest.approx(0.1 / math.sqrt(CASE.total))
    assert full_batch_risk(CASE).terms[4] == one_chain_risk(CASE).terms[4] == 0


def test_with_too_few_users_for_a_filter_only_the_baselines_have_a_bound():
    few_users = replace(CASE, n=300)
    assert math.isinf(mode_a_risk(few_users).value) and mode_a_risk(few_users).schedule is None
    assert math.isfinite(one_chain_risk(few_users).value + full_batch_risk(few_users).value)
