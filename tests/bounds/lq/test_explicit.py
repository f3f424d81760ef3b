"""Explicit bounds in l_q against reference values, exact expectations and simulated runs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.search import best_count
from dpsco_core.bounds.lq.mirror import b4, best_b4, best_weight
from dpsco_core.bounds.lq.noisy import least_regret, step_energy
from dpsco_core.bounds.lq.phased import b3_prime, best_step
from dpsco_core.bounds.lq.regularized import Regularized, b3, best_b3, published_choice
from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.geometry.norms import row_norms
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.lq import phased as lq_phased
from dpsco_core.methods.lq.inputs import (
    chosen_noise,
    composed_rho,
    dual_energy,
    record_rho,
    release_rho,
    smooth_energy,
    sum_factor,
)
from dpsco_core.methods.lq.mirror_schedule import MirrorInputs
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP, gaussian_rho, zcdp_rho
from dpsco_core.privacy.mechanisms.noise import generalized_gaussian_noise
from dpsco_core.privacy.shuffled_steps import shuffle_steps

GG, GAUSSIAN = "generalized gaussian", "gaussian"
SPACE = RegularSpace(d=100, exponent=1.25)
BUDGET = ApproxDP(epsilon=0.5, delta=1e-6)


def test_the_paper_calibration_uses_the_published_noise_and_others_gaussian_noise():
    assert chosen_noise(None, "paper") == GG
    assert chosen_noise(None, "tight") == GAUSSIAN
    assert chosen_noise(GG, "tight") == GG


@pytest.mark.parametrize(("d", "q"), [(10, 1.01), (50, 1.25), (20, 1.9), (30, 2.0), (1, 1.5)])
def test_the_energies_bound_the_noise_that_is_drawn(d, q):
    space = RegularSpace(d=d, exponent=q)
    rng = np.random.default_rng(5)
    count = 4000
    scale = math.sqrt(space.kappa / 2)  # The scale of noise at sensitivity 1 and rho 1.
    shaped = generalized_gaussian_noise((count, d), space.smooth_exponent, scale, rng)
    flat = space.l2_ratio / math.sqrt(2) * rng.standard_normal((count, d))
    for noise, rows in ((GG, shaped), (GAUSSIAN, flat)):
        smooth = row_norms(rows, space.smooth_exponent) ** 2
        # The tolerance is five standard errors, so a false alarm has probability 1e-6.
        spread = 5 * smooth.std() / math.sqrt(count)
        assert smooth.mean() <= smooth_energy(space, noise) + spread
        assert (row_norms(rows, space.dual) ** 2).mean() <= dual_energy(space, noise) + spread
        if noise == GG:
            assert abs(smooth.mean() - smooth_energy(space, noise)) <= spread
    assert smooth_energy(space, GAUSSIAN) <= smooth_energy(space, GG) * (1 + 1e-12)
    sums = shaped.reshape(-1, 20, d).sum(axis=1)
    total = (row_norms(sums, space.smooth_exponent) ** 2).mean()
    assert total <= 20 * sum_factor(space, GG) * smooth_energy(space, GG) * 1.2


def test_the_printed_noises_correspond_to_their_shares_of_rho():
    rho = composed_rho(BUDGET, GG, "paper")
    # The reference values have sigma^2 = 64 L^2 kappa T ln(1/delta)/(n eps)^2 at T = 23.5465.
    energy = dual_energy(SPACE, GG) * (2 / 10**5) ** 2 / rho
    assert 23.5465 * energy / 100 == pytest.approx(3.395300e-5 * 23.5465 / 24, rel=1e-5)
    lemma = smooth_energy(SPACE, GG) / release_rho(BUDGET, GG, "paper")
    expected = 100 * 2 * SPACE.kappa * math.log(1e6) / 0.5**2
    assert lemma == pytest.approx(expected)


@pytest.mark.parametrize(
    ("n", "epsilon", "delta", "variance"),
    [
        (10**3, 0.05, 1e-5, 15073),
        (10**4, 0.01, 1e-6, 53344),
        (10**4, 0.05, 1e-6, 2518),
        (10**4, 0.1, 1e-6, 736),
        (10**5, 0.05, 1e-7, 482),
        (10**6, 0.01, 1e-8, 1337),
    ],
)
def test_the_shuffled_noise_matches_the_table_of_the_note(n, epsilon, delta, variance):
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    sigma_squared = 2 / record_rho(
        n, budget, GG, "paper"
    )  # The expected value is sigma_1^2 over kappa (beta M + lambda)^2.
    assert sigma_squared == pytest.approx(variance, abs=0.5)
    tight = record_rho(n, budget, GG, "tight")
    assert 2 / tight < sigma_squared / 8
    assert tight < record_rho(n, budget, GAUSSIAN, "tight") < 1.2 * tight


def test_a_share_is_zero_where_no_privacy_is_proven():
    assert release_rho(ApproxDP(epsilon=1.5, delta=1e-6), GG, "paper") == 0
    assert record_rho(50, ApproxDP(epsilon=0.1, delta=1e-6), GG, "paper") == 0
    assert record_rho(10**6, ApproxDP(epsilon=1.0, delta=1e-6), GG, "paper") == 0
    for share in (composed_rho, release_rho):
        for noise in (GG, GAUSSIAN):
            assert share(PureDP(epsilon=1.0), noise, "tight") == 0
            assert share(ZCDP(rho=0.3), noise, "tight") == 0.3
    assert release_rho(BUDGET, GAUSSIAN, "tight") == gaussian_rho(0.5, 1e-6)
    assert release_rho(BUDGET, GG, "tight") == zcdp_rho(0.5, 1e-6, "tight")
    assert record_rho(10**4, ZCDP(rho=0.3), GG, "tight") == 0.3
    steps = shuffle_steps(10**4, 0.5, 1e-6)
    assert record_rho(10**4, BUDGET, GAUSSIAN, "tight") == steps.rho_step


def regularized_inputs(n, calibration="paper", noise=GG, **changes):
    """Return the inputs of bound B3, on regularised mirror descent, with some of them changed."""
    rho = composed_rho(BUDGET, noise, calibration)
    energy = dual_energy(SPACE, noise, calibration) * (2 / n) ** 2 / rho
    defaults = {"lipschitz": 1.0, "smoothness": 0.25, "radius": 1.0, "energy": energy, **changes}
    return Regularized(n=n, space=SPACE, **defaults)


class OfTwo(Regularized):
    """Inputs with the potentials of the table in theory/su-zhao-wang.md, 3.4."""

    potential = 2.0

    def mean_potential(self, regulariser):
        """Return a mean potential of 2, whatever the regulariser."""
        return 2.0


@pytest.mark.parametrize(
    ("n", "best", "steps", "published"),
    [(10**5, 0.958, 24, 1.338), (10**6, 0.313, 59, 0.551), (10**7, 0.103, 149, 0.233)],
)
def test_bound_b3_has_the_values_of_the_note(n, best, steps, published):
    inputs = OfTwo(**vars(regularized_inputs(n)))
    assert published_choice(inputs, 0.5, 1e-6)[0] == steps
    value = math.fsum(b3(inputs, *published_choice(inputs, 0.5, 1e-6)))
    assert value == pytest.approx(published, abs=6e-4)

    def weaker(x):
        """Return bound B3 of theory/su-zhao-wang.md, 3.4, without its minimum with 1, at the
        logarithms of steps and regulariser.
        """
        steps, alpha = math.exp(x[0]), math.exp(x[1])
        terms = b3(inputs, steps, alpha)
        growth = alpha / (2 * inputs.smoothness)
        path_term = (terms[2] / (2 * inputs.lipschitz)) ** 2 / 2
        noise = terms[1] / alpha
        return (
            math.fsum(terms)
            - terms[2]
            + 2
            * math.sqrt(2 * (noise + (path_term - noise) * max(1.0, steps * growth / (1 + growth))))
        )

    best_value = min(
        minimize(weaker, (a, b), method="Nelder-Mead").fun for a in (2, 4, 6) for b in (-4, -2, 0)
    )
    assert best_value == pytest.approx(best, abs=6e-4)
    assert best_b3(regularized_inputs(n)).value < best_value  # The minimum makes the bound sharper.


def test_the_parameters_of_b3_are_the_best_of_a_grid():
    inputs = regularized_inputs(10**5, "tight", GAUSSIAN)
    best = best_b3(inputs)
    assert best.value == pytest.approx(math.fsum(b3(inputs, best.steps, best.regulariser)))
    for steps in (1, 5, 12, 20, 50, 400):
        for power in range(-20, 8):
            assert math.fsum(b3(inputs, steps, 1.5**power)) >= best.value * (1 - 1e-6)


def test_b3_falls_with_the_square_root_of_the_records():
    small_case, large_case = (best_b3(regularized_inputs(n)).value for n in (10**7, 10**8))
    # The decay is steeper than the exponent -2/5 of the rate.
    assert -0.51 < math.log10(large_case / small_case) < -0.44


def test_large_arguments_do_not_overflow():
    inputs = regularized_inputs(10**5)
    huge = b3(inputs, 10**6, 1e6)
    assert all(math.isfinite(x) for x in huge)
    assert best_b3(replace(inputs, energy=math.inf)).value == math.inf


def test_b3_bounds_noisy_runs_and_its_potential_the_regularised_minimiser():
    """The problem is logistic regression in l_1.5; every data set's mean lies
    far below the bound.
    """
    d, n, q = 4, 400, 1.5
    space = RegularSpace(d=d, exponent=q)
    mirror = PowerMirror.for_space(space)
    rng = np.random.default_rng(11)
    signs = rng.choice([-1.0, 1.0], size=(n, d))
    x = signs * d ** (-1 / 3)  # Every row has norm 1 in l_3.
    truth = np.array([1.0, 0, 0, 0])
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-x @ truth)), 1.0, -1.0)
    energy = 1e-6
    inputs = Regularized(
        n=n, space=space, lipschitz=1.0, smoothness=0.25, radius=1.0, energy=energy
    )
    steps, alpha = 60, 0.05

    def gradient(w):
        """Return the gradient of the logistic risk."""
        return -(x * (y / (1 + np.exp(y * (x @ w))))[:, None]).mean(axis=0)

    def loss(w):
        """Return the logistic risk."""
        return float(np.log1p(np.exp(-y * (x @ w))).mean())

    growth = 1 + alpha / (2 * inputs.smoothness)
    gaps = []
    std = math.sqrt(energy * steps / d)  # With this deviation the l_3 norm is at most the energy.
    for _ in range(20):
        u, total, weight = np.zeros(d), np.zeros(d), 0.0
        for t in range(1, steps + 1):
            g = gradient(mirror.conjugate_gradient(u)) + std * rng.standard_normal(d)
            u = (2 * inputs.smoothness * u - g) / (2 * inputs.smoothness + alpha)
            total += growth**t * mirror.conjugate_gradient(u)
            weight += growth**t
        gaps.append(loss(total / weight) - loss(truth))
    terms = b3(inputs, steps, alpha)
    # These two terms are the empirical part of the bound.
    assert np.mean(gaps) <= terms[0] + terms[1]
    u = np.zeros(d)
    for _ in range(4000):
        g = gradient(mirror.conjugate_gradient(u))
        u = (2 * inputs.smoothness * u - g) / (2 * inputs.smoothness + alpha)
    potential = mirror.value(mirror.conjugate_gradient(u))
    assert potential <= inputs.mean_potential(alpha)
    # At a strong regulariser the first of the two potentials is the least, by a small margin.
    assert regularized_inputs(n).mean_potential(10.0) == pytest.approx(
        1 / (2 * SPACE.kappa_plus * 100)
    )


def test_b3_prime_is_at_most_the_closed_form_at_powers_of_two():
    c = math.sqrt(8 * math.log(1.25e6)) / 0.5
    for k in (1, 2, 5, 17):
        n = 2**k
        for eta in (1e-3, 0.1):
            terms = b3_prime(n, 100, 2.0, 1.5, c, eta)
            closed = (
                4 * 1.5**2 / (eta * n),
                eta * 4 / 6,
                4 * 100 * c**2 * 4 * eta / n,
                10 * c * 4 * eta / n**2,
            )
            assert terms[0] == pytest.approx(closed[0])
            assert terms[3] == pytest.approx(closed[3])
            assert all(a <= b * (1 + 1e-12) for a, b in zip(terms, closed, strict=True))


def test_the_best_step_of_phased_sgd_is_the_best_admissible_one():
    sizes = (1000, 20, 2.0, 1.5, 3.0)
    step = best_step(*sizes, 0.0)
    best = math.fsum(b3_prime(*sizes, step))
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert math.fsum(b3_prime(*sizes, factor * step)) > best
    assert best_step(*sizes, 1e6) == 8e-6
    rho = 0.3
    assert lq_phased.noise_factor(rho) == pytest.approx(2 / math.sqrt(2 * rho))
    assert lq_phased.printed_step(100, 4, 2.0, 10.0) == 0.025


def truncated_descent_inputs(n=10**6, **changes):
    """Return the inputs of bound B4, on truncated mirror descent, with some of them changed."""
    arguments = {
        "space": SPACE,
        "divergence": SPACE.kappa / 2,
        "diameter": 2.0,
        "smoothness": 0.25,
        "gradient_bound": 0.5,
        "variance": 1.0,
        **changes,
    }
    return MirrorInputs(n=n, **arguments)


@pytest.mark.parametrize("q", [1.0, 1.4, 2.0])
@pytest.mark.parametrize("threshold", [1.05, 1.5, 3.0, 40.0])
def test_bias_and_variance_of_truncated_gradients_are_exact(q, threshold):
    """A law on finitely many points makes every expectation a sum."""
    space = RegularSpace(d=3, exponent=q)
    mean = np.array([0.6, -0.3, 0.2])
    shifts = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 30.0, 0], [0, -30.0, 0], [0, 0, 0]])
    chances = np.array([0.2, 0.2, 0.002, 0.002, 0.596])
    points = mean + shifts
    norms = row_norms(points, space.dual)
    truncated = np.where((norms <= threshold)[:, None], points, 0.0)
    bound = float(row_norms(mean[None, :], space.dual)[0])
    inputs = MirrorInputs(
        n=100,
        space=space,
        divergence=1.0,
        diameter=1.0,
        smoothness=1.0,
        gradient_bound=bound,
        variance=float(chances @ row_norms(shifts, space.dual) ** 2),
        lipschitz=float(norms.max()),
    )
    bias, spread, _ = inputs.errors(100, threshold)
    centre = chances @ truncated
    assert row_norms((centre - mean)[None, :], space.dual)[0] <= bias + 1e-12
    energy = float(chances @ row_norms(truncated - centre, space.dual) ** 2)
    assert space.kappa * energy <= spread * (1 + 1e-12)
    # The energy of batches of two is at most kappa times the average of the energies.
    pairs = (truncated[:, None] - centre + truncated[None, :] - centre).reshape(-1, 3) / 2
    weights = np.outer(chances, chances).ravel()
    _, halved, _ = inputs.errors(50, threshold)
    assert halved == pytest.approx(spread / 2)
    assert weights @ row_norms(pairs, space.dual) ** 2 <= halved * (1 + 1e-12)


def test_a_threshold_above_the_lipschitz_constant_gives_no_bias():
    inputs = truncated_descent_inputs(lipschitz=3.0)
    assert inputs.errors(10, 3.0)[0] == 0
    assert inputs.errors(10, 2.9)[0] > 0
    assert inputs.errors(10, 50.0)[2] == inputs.errors(10, 3.0)[2]
    with pytest.raises(InvalidInput, match="threshold must be above the bound"):
        inputs.errors(10, 0.5)


def test_the_noise_of_a_batch_and_of_records_is_their_formula():
    inputs = truncated_descent_inputs(1000)
    batch = inputs.with_noise("public", BUDGET, GG, "tight")
    rho = zcdp_rho(0.5, 1e-6, "tight")
    # The noise is d kappa s^2/(2 rho) with s = 2 tau, and `scale` is its factor d kappa/2.
    scale = 100 * SPACE.kappa / 2
    assert batch.errors(10, 2.0)[2] == pytest.approx(scale * 16 / rho / 100**2)
    record = inputs.with_noise("shuffled", BUDGET, GG, "tight")
    rho_of_a_record = record_rho(1000, BUDGET, GG, "tight")
    assert record.errors(10, 2.0)[2] == pytest.approx(4 * scale * 16 / rho_of_a_record / 100)
    single = inputs.with_noise("shuffled", ApproxDP(epsilon=1.0, delta=1e-6), GG, "paper")
    assert math.isinf(single.energy) and math.isinf(best_b4(single).value)


@pytest.mark.parametrize("noise", [GG, GAUSSIAN])
@pytest.mark.parametrize("order", ["public", "shuffled"])
def test_the_parameters_of_b4_are_the_best_of_a_grid(order, noise):
    inputs = truncated_descent_inputs(10**4).with_noise(
        order, ApproxDP(epsilon=0.05, delta=1e-6), noise, "tight"
    )
    best = best_b4(inputs)
    total = math.fsum(b4(inputs, best.steps, best.threshold, best.step_weight))
    assert total == pytest.approx(best.value)
    for steps in (1, 2, 3, 10, 100, 3000, 10**4):
        for power in range(-8, 14):
            assert math.fsum(b4(inputs, steps, 0.5 + 1.6**power)) >= best.value * (1 - 1e-5)
    weight = best_weight(inputs, best.steps, sum(inputs.errors(best.steps, best.threshold)[1:]))
    assert best.step_weight == weight
    for factor in (0.8, 1.3):
        sum_at_factor = math.fsum(b4(inputs, best.steps, best.threshold, factor * weight))
        assert sum_at_factor > best.value
    # The bound requires gamma > beta.
    assert b4(inputs, 5, 1.0, inputs.smoothness) == (math.inf,) * 4


def best_value(n, order, epsilon, noise, d, q):
    """Return the least value of bound B4 over its parameters; `order` says how records
    are visited.
    """
    space = RegularSpace(d=d, exponent=q)
    inputs = truncated_descent_inputs(
        n, space=space, divergence=space.kappa / 2, gradient_bound=1e-9
    )
    budget = ApproxDP(epsilon=epsilon, delta=1e-6)
    return best_b4(inputs.with_noise(order, budget, noise, "tight")).value


def test_the_best_weight_beats_the_rate_for_batches():
    """By theory/su-zhao-wang.md, 2.6, the weight sqrt(T) gives the exponent -1/3 in n, and the best
    weight -2/5.
    """
    small_case, large_case = (
        best_value(n, "public", 0.1, GAUSSIAN, 100, 1.25) for n in (10**8, 10**9)
    )
    assert math.log10(large_case / small_case) == pytest.approx(-0.4, abs=0.01)


def test_kappa_has_exponent_three_quarters_only_with_the_papers_noise():
    for noise, power in ((GAUSSIAN, 0.45), (GG, 0.75)):
        weak, strong = (
            best_value(10**6, "shuffled", 0.02, noise, 11, 1 + 1 / kappa) for kappa in (2, 4)
        )
        assert math.log2(strong / weak) == pytest.approx(power, abs=0.06)


def test_b4_at_q_2_is_the_euclidean_bound():
    space = RegularSpace(d=30, exponent=2.0)
    inputs = truncated_descent_inputs(1000, space=space, divergence=0.5, lipschitz=2.0, energy=7.0)
    terms = b4(inputs, 10, 2.0)
    energy = 1.0 / 100 + 16 * 7 / 100**2
    weight = 0.25 + math.sqrt(10 * energy)
    assert terms[0] == pytest.approx(weight * 0.5 / 10)
    assert terms[1] + terms[2] == pytest.approx(energy / (2 * (weight - 0.25)))
    assert terms[3] == 0


def test_the_regret_at_q_2_is_that_of_private_sgd():
    space = RegularSpace(d=7, exponent=2.0)
    rho, lipschitz, m = 0.4, 1.5, 501
    gradients, noise = step_energy(space, lipschitz, rho)
    sigma = 2 * lipschitz / math.sqrt(2 * rho)
    assert (gradients, noise) == pytest.approx((lipschitz**2, 7 * sigma**2))
    value = math.fsum(least_regret(m, (gradients, noise), 0.5))
    assert value == pytest.approx(math.sqrt((lipschitz**2 + 7 * sigma**2) / m))
    assert math.isinf(step_energy(space, 1.0, 0.0)[1])


def test_a_gradient_and_its_noise_do_not_add_like_squares_in_another_norm():
    """At d = 1000 and q = 1, the sum of the two energies is too small for the energy of the sum."""
    space = RegularSpace(d=1000, exponent=1.0)
    rng = np.random.default_rng(3)
    g = np.ones(1000)
    # The noise is as small as the gradient, so l_infinity norms nearly add.
    rows = 0.3 * rng.standard_normal((4000, 1000))
    noise_square = float((np.abs(rows).max(axis=1) ** 2).mean())
    total_square = float((np.abs(g + rows).max(axis=1) ** 2).mean())
    assert total_square > 1.5 * (1 + noise_square)
    assert total_square <= (1 + math.sqrt(noise_square)) ** 2
    for rho in (1e-3, 1.0, 1e6):
        gradients, noise = step_energy(space, 2.0, rho)
        total = gradients + noise
        assert total == pytest.approx(min(space.kappa * 4 + noise, (2 + math.sqrt(noise)) ** 2))


def test_the_search_finds_the_minimum_of_a_narrow_valley():
    for largest in (1, 2, 7, 1000, 12345):
        for smallest in (1, 2, 3, 50, 999, 12345):
            count = best_count(
                lambda k, smallest=smallest: abs(math.log(k / smallest)), largest, what="k"
            )
            assert count == min(smallest, largest)
