"""The private lower bounds against theory/kamath-liu-zhang.md, 4.7 and against plain loops."""

import math
import random

import numpy as np
import pytest

from dpsco_core.bounds.instances import gaussian, hypercube, spikes, tracing
from dpsco_core.bounds.instances.fano import mean_squared_count
from dpsco_core.bounds.instances.hardest import best_spike_probability
from tests.bound_marks import second_implementation_of
from tests.bounds import helpers

N, D, K, RHO, EPS = 10_000, 200, 4, 0.5, 1.0


def agrees(value, printed, digits):
    """Return whether a value agrees with a printed number of `digits` significant digits, up to
    half a unit of the last.
    """
    return value == pytest.approx(printed, rel=0.51 * 10.0 ** (1 - digits))


def test_at_the_papers_literal_p_fanos_bound_is_vacuous():
    p = math.sqrt(D) / (N * math.sqrt(RHO))
    words, _ = spikes.paper_packing(D)
    assert agrees(1 - (RHO * mean_squared_count(N, p) + math.log(2)) / words, -11.157, 5)
    assert spikes.spike_fano_cdp(p, N, D, K, RHO) == 0


def test_the_closed_form_of_fano_has_its_reference_value():
    assert agrees(spikes.spike_closed_form_cdp(N, D, K, RHO), 0.0032150, 5)


def test_fanos_bounds_on_the_error_and_its_square_have_their_reference_values():
    p, value = best_spike_probability("fano-cdp", N, D, K, RHO)
    assert agrees(value, 0.0035375, 5) and agrees(p, 2.711e-4, 4)
    p = spikes.best_cdp(N, D, K, RHO, 1.0, True)
    assert agrees(spikes.spike_fano_cdp(p, N, D, K, RHO, squared=True), 2.0709e-5, 5)
    assert agrees(p, 3.436e-4, 4)


def test_fano_with_the_exact_gilbert_size_has_its_reference_value():
    packing = (helpers.log_packing_size(D, D / 4), D / 4)
    assert agrees(packing[0], 30.185, 5)
    value = spikes.spike_fano_cdp(3.706e-4, N, D, K, RHO, packing=packing)
    assert agrees(value, 0.0064987, 5)
    p = spikes.best_cdp_gilbert(N, D, K, RHO, 1.0)
    assert spikes.spike_fano_cdp_gilbert(p, N, D, K, RHO) > value


def test_the_closed_form_of_the_hypercube_has_its_reference_value():
    p = hypercube.best_cdp_closed(N, D, K, RHO, 1.0)
    value = hypercube.hypercube_cdp_closed(p, N, D, K, RHO)
    assert agrees(value, 0.031216, 5) and agrees(p, 6.061e-4, 4)
    assert value == pytest.approx(0.2334 * 0.13375, rel=2e-4)


def test_the_entropy_form_of_the_hypercube_has_its_reference_value():
    p, value = best_spike_probability("hypercube-cdp", N, D, K, RHO)
    assert agrees(value, 0.031848, 5) and p == pytest.approx(6.410e-4, rel=1e-3)


def test_the_squared_form_of_the_hypercube_has_its_reference_value():
    p = hypercube.best_cdp(N, D, K, RHO, 1.0, True)
    assert agrees(hypercube.hypercube_cdp(p, N, D, K, RHO, squared=True), 0.0030456, 5)
    assert p == pytest.approx(9.380e-4, rel=1e-3)


def test_the_pinsker_form_of_the_hypercube_has_its_reference_value():
    assert agrees(helpers.hypercube_cdp_pinsker(6.074e-4, N, D, K, RHO), 0.031225, 5)


def test_the_packing_conditioned_on_the_count_has_its_reference_value():
    p, value = best_spike_probability("fano-pure", N, D, K, EPS)
    assert agrees(value, 0.014723, 5) and p == pytest.approx(1.256e-3, rel=1e-3)


def test_the_markov_form_has_its_reference_values_at_t_ten_and_at_the_best_t():
    value = spikes.spike_markov_pure(1.443e-4, N, D, K, EPS, t=10)
    assert agrees(value, 0.0028076, 5)
    p = spikes.best_markov_pure(N, D, K, EPS, 1.0)
    assert spikes.spike_markov_pure(p, N, D, K, EPS) > value


def test_the_pure_form_of_the_hypercube_has_its_reference_value():
    p, value = best_spike_probability("hypercube-pure", N, D, K, EPS)
    assert agrees(value, 0.10062, 5) and p == pytest.approx(4.347e-3, rel=2e-3)


def test_the_squared_pure_form_of_the_hypercube_has_its_reference_value():
    p = hypercube.best_pure(N, D, K, EPS, 1.0, "squared")
    assert agrees(hypercube.hypercube_pure(p, N, D, K, EPS, form="squared"), 0.030462, 5)
    assert p == pytest.approx(7.367e-3, rel=2e-3)


@second_implementation_of("lower.sco-strong.sampling-gaussian")
def test_n1_gaussian():
    assert agrees(gaussian.gaussian_scale(4), 0.75984, 5)
    assert agrees(gaussian.gaussian_minimax(N, D, K), 0.10732, 5)
    assert gaussian.gaussian_minimax(N, D, K, squared=True) == pytest.approx(
        gaussian.gaussian_scale(4) ** 2 * D / N
    )


def test_the_bound_of_bounded_signs_has_its_reference_value():
    delta = gaussian.best_separation(N, D)
    assert agrees(gaussian.bounded_signs(delta, N, D), 0.04772, 4)
    assert agrees(delta, 0.0075, 2)
    assert agrees(gaussian.bounded_signs(0.0122, N, D, "squared"), 0.009359, 4)


def test_the_bounds_have_their_values_at_the_second_reference_point():
    values = [
        best_spike_probability("fano-cdp", N, D, 2, RHO)[1],
        best_spike_probability("hypercube-cdp", N, D, 2, RHO)[1],
        best_spike_probability("fano-pure", N, D, 2, EPS)[1],
        best_spike_probability("hypercube-pure", N, D, 2, EPS)[1],
        gaussian.gaussian_minimax(N, D, 2),
    ]
    for value, printed in zip(values, [0.028095, 0.20645, 0.078903, 0.41069, 0.14124], strict=True):
        assert agrees(value, printed, 5)
    p = hypercube.best_cdp(N, D, 2, RHO, 1.0, True)
    assert agrees(hypercube.hypercube_cdp(p, N, D, 2, RHO, squared=True), 0.10313, 5)


def test_the_bounds_have_their_values_in_one_dimension():
    assert best_spike_probability("fano-cdp", 1000, 1, 2, RHO)[1] == 0
    assert best_spike_probability("fano-pure", 1000, 1, 2, EPS)[1] == 0
    p = hypercube.best_cdp_closed(1000, 1, 2, RHO, 1.0)
    assert agrees(hypercube.hypercube_cdp_closed(p, 1000, 1, 2, RHO), 0.012172, 5)
    assert agrees(best_spike_probability("hypercube-cdp", 1000, 1, 2, RHO)[1], 0.014246, 5)
    assert agrees(best_spike_probability("hypercube-pure", 1000, 1, 2, EPS)[1], 0.019478, 5)


def random_points(count, seed):
    """Yield random spike probabilities, sizes, orders and budgets."""
    source = random.Random(seed)
    for _ in range(count):
        yield (
            10 ** source.uniform(-3, 0),  # The spike probability p.
            source.randint(1, 60),  # The number of records n.
            source.choice([1, 2, 3, 5, 8, 9, 16, 24, 40]),  # The dimension d.
            source.uniform(2, 12),  # The moment order k.
            10 ** source.uniform(-3, 1.5),  # The budget, rho or epsilon.
        )


def biased_plainly(n, d, k, cap):
    """Return the bound from biased coins, maximised over a grid of biases and shapes; `cap` is the
    largest norm of the mean.
    """
    best = 0.0
    for r in np.geomspace(1e-4, 1, 300):
        c = min(1 + r, (1 + max(0, k - 3) / 4 * r * ((1 + r) ** k - (1 - r) ** k)) ** (1 / k))
        # Records divided by a c of at least this size have a mean within the cap.
        c = max(c, r * math.sqrt(d) / cap)
        for u in np.geomspace(0.1, 4000, 218):
            m = d * u / (1 + u) - 1
            v = 2 * d * u / ((1 + u) ** 2 * (u + 3))
            if m <= 0 or v >= 2 * m * m:
                continue
            g = r * r * m * (1 - v / (2 * m * m)) ** 2
            x = r * r * math.sqrt(n * d * u / (1 + u))
            best = max(best, 2 * g / (x + math.sqrt(x * x + 4 * u * g)) / c)
    return best


@pytest.mark.parametrize(
    ("n", "d", "k", "cap", "expected"),
    [(10_000, 20, 2, 2, 0.0411172), (10_000, 200, 4, 2, 0.126605), (10_000, 20, 20, 2, 0.034751)],
)
def test_biased_signs_are_what_plain_loops_give(n, d, k, cap, expected):
    signs = gaussian.biased_signs(n, d, k, cap)
    assert signs == pytest.approx(biased_plainly(n, d, k, cap), rel=1e-12)
    assert signs == pytest.approx(expected, rel=1e-5)
    assert signs < math.sqrt(d / n)
    assert gaussian.biased_signs(n, 1, k, cap) == 0


@pytest.mark.parametrize("k", [2.0, 3.0, 4.0, 9.0, 40.0, 150.0])
def test_the_scaled_signs_are_in_the_class(k):
    for r in (1e-3, 0.1, 0.5, 1.0):
        t = np.linspace(0, r, 4001)
        moment = (1 + t) / 2 * (1 - t) ** k + (1 - t) / 2 * (1 + t) ** k
        power = 1 + max(0, k - 3) / 4 * r * ((1 + r) ** k - (1 - r) ** k)
        assert moment.max() <= min(power, (1 + r) ** k) * (1 + 1e-12)


@pytest.mark.parametrize(("n", "d", "u"), [(30, 3, 4.0), (200, 20, 8.0), (20, 60, 3.0)])
def test_not_even_the_posterior_of_biased_signs_is_closer_than_their_bound(n, d, u):
    """The posterior mean is nearly the best answer, and in 4,000 draws a false alarm has a chance
    below 1e-6.
    """
    rng = np.random.default_rng(5)
    biases = 2 * rng.beta(u / 2, u / 2, size=(4000, d)) - 1
    ups = rng.binomial(n, (1 + biases) / 2)
    errors = np.linalg.norm((2 * ups - n) / (n + u) - biases, axis=1)
    gain = float(tracing.median_gain(np.array([u]), d, 1.0)[0])
    x = math.sqrt(n * d * u / (1 + u))
    value = 2 * gain / (x + math.sqrt(x * x + 4 * u * gain))
    assert value < errors.mean() + 5 * errors.std() / math.sqrt(4000)
    assert errors.mean() < 1.8 * value


@pytest.mark.parametrize("point", list(random_points(40, 1)))
def test_every_private_bound_at_p_is_what_plain_loops_give(point):
    pairs = [
        (spikes.spike_fano_cdp(*point), helpers.spike_fano(*point)),
        (spikes.spike_fano_cdp(*point, squared=True), helpers.spike_fano(*point, power=2)),
        (spikes.spike_pure(*point), helpers.spike_pure(*point)),
        (hypercube.hypercube_cdp(*point), helpers.hypercube_cdp(*point)),
        (hypercube.hypercube_cdp(*point, squared=True), helpers.hypercube_cdp_squared(*point)),
        (hypercube.hypercube_pure(*point), helpers.hypercube_pure(*point)),
        (hypercube.hypercube_pure(*point, form="squared"), helpers.hypercube_pure(*point, power=2)),
    ]
    for fast, slow in pairs:
        assert fast == pytest.approx(slow, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 31])
@pytest.mark.parametrize("delta", [0.0, 0.1, 0.4, 0.9])
def test_bounded_signs_are_what_plain_loops_give(n, delta):
    upward, downward = (
        helpers.exact_binomial_pmf(n, (1 + delta) / 2),
        helpers.exact_binomial_pmf(n, (1 - delta) / 2),
    )
    theta = delta / (1 + delta)
    overlap = math.fsum(min(a, b) for a, b in zip(upward, downward, strict=True))
    harmonic = math.fsum(2 * a * b / (a + b) for a, b in zip(upward, downward, strict=True))
    assert gaussian.bounded_signs(delta, n, 3) == pytest.approx(
        math.sqrt(3) * theta * overlap, rel=1e-10, abs=1e-15
    )
    assert gaussian.bounded_signs(delta, n, 3, "squared") == pytest.approx(
        3 * theta**2 * harmonic, rel=1e-10, abs=1e-15
    )


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 12, 33])
def test_wrong_sign_fraction_is_the_minimum_of_its_definition(d):
    t = np.array([0.0, 1e-12, 1e-6, 0.01, 0.3, 1.0, 3.0, 10.0, 30.0])
    slow = [helpers.plain_wrong_signs(d, x) for x in t]
    assert hypercube.wrong_sign_fraction(d, t) == pytest.approx(slow, rel=1e-10)


def test_wrong_sign_fraction_starts_at_one_half_and_never_rises():
    t = np.concatenate([[0.0], np.geomspace(1e-9, 1e6, 4000)])
    for d in (1, 2, 50, 5000):
        values = hypercube.wrong_sign_fraction(d, t)
        assert values[0] == 0.5 and np.all(np.diff(values) <= 1e-15) and np.all(values >= 0)
    assert hypercube.wrong_sign_fraction(1, t[:3000]) == pytest.approx(
        1 / (1 + np.exp(np.minimum(t[:3000], 700))), rel=1e-12
    )


def test_entropy_inverse_agrees_with_bisection_over_its_range():
    y = np.concatenate([[0.0], np.geomspace(1e-14, math.log(2) * (1 - 1e-9), 300), [0.7, 50.0]])
    slow = np.array([helpers.plain_entropy_inverse(v) for v in y])
    assert hypercube.entropy_inverse(y) == pytest.approx(slow, rel=2e-9, abs=1e-12)


def test_gilbert_codes_at_distance_d_over_8_and_d_over_4_are_as_large_as_the_papers_packing():
    for d in range(2, 2001, 7):
        for distance in (d / 8, d / 4):
            assert helpers.log_packing_size(d, distance) >= d / 8 * math.log(2) - 1e-9
    assert helpers.log_packing_size(200, 25) / math.log(2) == pytest.approx(96.0, abs=0.1)
    assert helpers.log_packing_size(200, 50) / math.log(2) == pytest.approx(43.5, abs=0.1)


def test_the_pure_hypercube_bound_is_attained_by_randomised_response_at_one_record():
    # With n = d = p = 1, X is a sign, and the best epsilon-DP answer errs by 2 with odds 1 :
    # e^epsilon.
    for epsilon in (0.1, 1.0, 3.0):
        assert hypercube.hypercube_pure(1.0, 1, 1, 2, epsilon) == pytest.approx(
            2 / (1 + math.exp(epsilon)), rel=1e-12
        )
