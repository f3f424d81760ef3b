"""Explicit upper bounds against reference values, their own formulas and simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.mean import clipped as upper_clipped
from dpsco_core.bounds.mean import coordinatewise as upper_coordinatewise
from dpsco_core.bounds.mean import iterative as upper_iterative
from dpsco_core.bounds.mean import smoothed as upper_smoothed
from dpsco_core.bounds.mean.adaptive import ADAPTIVE_BOUNDS
from dpsco_core.bounds.tools import joint_bias
from dpsco_core.methods.lq.phased import phases
from dpsco_core.methods.records.base import hinge_bias
from dpsco_core.methods.records.smooth_clip import smoothed_supremum
from dpsco_core.privacy.budget import ZCDP, PureDP, gaussian_rho
from dpsco_core.problems.base import Constants, Setting
from tests.bounds.helpers import make_setting

RHO_15 = 0.0140588188106  # Equation (15) of Zhao et al. at epsilon = 1 and delta = 1e-6.
RADIUS = 22.802972962


def zcdp_setting(n, d, order, rho, moment=1.0, mean_bound=0.0):
    """Return a setting under zCDP; its coordinates have moment 1, and mean 0, unless others are
    given.
    """
    fields = {"directional_moment": moment, "mean_bound": mean_bound}
    return make_setting(n, d, order, ZCDP(rho=rho), **fields)


def pure_setting(n, d, order, epsilon, mean_bound):
    """Return a setting under pure DP."""
    return make_setting(n, d, order, PureDP(epsilon=epsilon), mean_bound=mean_bound)


ZHAO = zcdp_setting(10_000, 10, 3.0, RHO_15)


def rho_by_equation_15(epsilon, delta=1e-6):
    """Return the rho of an (epsilon, delta) budget by equation (15)."""
    return epsilon**2 / (1 + 2 * math.sqrt(math.log(1 / delta))) ** 2


def test_the_three_summands_of_theorem_2_have_their_printed_values():
    parts = upper_clipped.printed(ZHAO, 0.05, radius=RADIUS)
    assert parts.sampling == pytest.approx(0.3941534766, rel=1e-9)
    assert parts.bias == pytest.approx(0.03040794421, rel=1e-9)
    assert parts.noise == pytest.approx(0.3575765237, rel=1e-9)
    assert parts.total() == pytest.approx(0.3941534766 + 0.03040794421 + 0.3575765237)


def test_the_biases_at_the_papers_radius_have_their_printed_values():
    assert upper_clipped.directional_bias(ZHAO).at_radius(RADIUS) == pytest.approx(
        0.002849136671, rel=1e-9
    )
    assert upper_clipped.coordinate_bias(ZHAO).at_radius(RADIUS) == pytest.approx(
        0.009009761246, rel=1e-9
    )


def test_the_radii_of_the_theory_have_their_printed_values():
    size = upper_clipped.covering_log(10, 0.05)
    assert size == pytest.approx(21.606474146, rel=1e-10)
    assert upper_clipped.printed_radius(ZHAO) == pytest.approx(22.802972962, rel=1e-9)
    light = zcdp_setting(10_000, 10, 3, 1e9)
    assert upper_clipped.printed_radius(light) == pytest.approx(31.6227766017)
    noise = 4 * math.sqrt(size / RHO_15) / 10_000
    printed = upper_clipped.printed_bias(ZHAO)
    assert printed.best_radius(noise) == pytest.approx(12.63399861, rel=1e-9)
    assert upper_clipped.balanced_radius(ZHAO, 0.05) == pytest.approx(9.862261867, rel=1e-9)
    slope = noise + 8 * size / 10_000
    sharp = upper_clipped.directional_bias(ZHAO)
    radius = sharp.best_radius(slope)
    assert radius == pytest.approx(4.479387195, rel=1e-9)
    assert slope * radius + sharp.at_radius(radius) == pytest.approx(0.2215033371, rel=1e-9)


def test_the_mean_square_radius_is_the_minimiser():
    sharp = upper_clipped.directional_bias(ZHAO)
    slope = math.sqrt(2 * 10 / RHO_15) / 10_000
    assert sharp.best_radius_squared(slope) == pytest.approx(8.220348215, rel=1e-9)
    parts = upper_clipped.mean_square(ZHAO, 1.0, sharp)
    assert parts.bias**2 + parts.noise**2 == pytest.approx(0.001441958795, rel=1e-9)
    assert parts.sampling == pytest.approx(math.sqrt(10 / 10_000))


@pytest.mark.parametrize("p", [2, 3.5, 100])
def test_every_clipping_radius_is_the_minimiser(p):
    n, d, moment, rho, beta = 5000, 7, 1.7, 0.05, 0.05
    setting = zcdp_setting(n, d, p, rho, moment)
    sharp = upper_clipped.directional_bias(setting)
    grid = sharp.scale * np.geomspace(0.05, 50, 4000)
    best = upper_clipped.high_probability(setting, beta).total()
    size = d * math.log(5) + math.log(2 / beta)
    noise = math.sqrt(2 / rho) / n * (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta)))

    def total(r):
        """Return the bound of simple clipping at a clip radius r."""
        sampling = max(math.sqrt(12 * moment**2 * size / n), 8 * r * size / n)
        return sampling + sharp.at_radius(r) + noise * r

    lowest = min(total(float(r)) for r in grid)
    assert lowest * (1 - 1e-3) <= best <= lowest * (1 + 1e-12)
    at_best = upper_clipped.mean_square(setting, moment, sharp).root_sum_square()
    for r in grid:
        fixed = upper_clipped.mean_square(setting, moment, sharp, radius=float(r))
        assert at_best <= fixed.root_sum_square() * (1 + 1e-12)


@pytest.mark.parametrize(
    ("d", "epsilon", "p", "printed", "tight"),
    [(10, 0.1, 2, 7.1e4, 2.7e3), (10, 1, 2, 1.3e4, 8.1e2), (10, 1, 3, 3.4e3, 6.9e2),
     (100, 0.1, 2, 2.4e6, 2.2e4), (100, 1, 3, 1.1e5, 1.4e4)],
)  # fmt: skip
def test_the_smallest_useful_n_of_theorem_2_has_its_reference_value(d, epsilon, p, printed, tight):
    for n, useful in ((int(printed * 0.96), False), (int(printed * 1.05), True)):
        total = upper_clipped.printed(
            zcdp_setting(n, d, p, rho_by_equation_15(epsilon)), 0.05
        ).total()
        assert (total < 1) is useful
    for n, useful in ((int(tight * 0.96), False), (int(tight * 1.05), True)):
        setting = zcdp_setting(n, d, p, gaussian_rho(epsilon, 1e-6))
        assert (upper_clipped.high_probability(setting, 0.05).total() < 1) is useful


def test_the_group_radius_has_its_printed_value():
    arguments = (10_000, 10, 1.0)
    assert upper_iterative.group_radius(*arguments, RHO_15, RADIUS, 2397) == pytest.approx(
        2607.788255, rel=1e-9
    )
    assert upper_iterative.group_radius(
        *arguments, 3.68991991789e-4, RADIUS, 2397
    ) == pytest.approx(16096.3107, rel=1e-8)


def test_the_quantile_form_implies_the_printed_one():
    arguments = (10_000, 10, 1.0, RHO_15, RADIUS, 2397)
    ratio = upper_iterative.group_radius(*arguments, tau=0.4) / upper_iterative.group_radius(
        *arguments
    )
    assert ratio == pytest.approx(0.25)
    assert upper_iterative.unsplit_radius(*arguments, 0.05, tau=0.1) < upper_iterative.group_radius(
        *arguments
    )


@pytest.mark.parametrize(
    ("d", "epsilon", "p", "smallest"),
    [(10, 0.1, 2, 7.6e5), (10, 1, 2, 2.5e5), (10, 1, 3, 2.0e5), (100, 0.1, 2, 5.6e6),
     (100, 1, 3, 1.3e6)],
)  # fmt: skip
def test_the_smallest_useful_n_of_the_unsplit_form_has_its_reference_value(d, epsilon, p, smallest):
    rho = gaussian_rho(epsilon, 1e-6)
    for n, useful in ((int(smallest * 0.95), False), (int(smallest * 1.06), True)):
        radius, bias, groups = upper_iterative.general_quantile(zcdp_setting(n, d, p, rho), 0.05)
        assert 8 <= groups <= 120
        assert (radius + bias < 1) is useful


@pytest.mark.parametrize("p", [2, 4, 100])
def test_the_iterative_bound_is_minimised_over_the_radius(p):
    n, d, rho = 10**7, 10, 0.5
    setting = zcdp_setting(n, d, p, rho)
    total = math.fsum(upper_iterative.printed(setting))
    bias = upper_clipped.printed_bias(setting)
    records = n // 2397 * 2397
    grid = np.geomspace(0.1, 1e5, 4000)
    lowest = min(
        6 * upper_iterative.group_radius(records, d, 1.0, rho, float(r), 2397)
        + bias.at_radius(float(r))
        for r in grid
    )
    assert lowest * (1 - 1e-4) <= total <= lowest * (1 + 1e-9)


def test_without_enough_records_or_budget_the_iterative_bounds_are_void():
    too_few, pure = zcdp_setting(2396, 10, 3, 1.0), pure_setting(10**6, 10, 3, 1.0, 1.0)
    assert upper_iterative.printed(too_few) == (math.inf, math.inf)
    assert upper_iterative.general_quantile(pure, 0.05)[0] == math.inf


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_the_printed_form_has_the_papers_constants(noise):
    n, d, k, level, beta = 10**7, 5, 2, 1.0, 0.1
    setting = (
        zcdp_setting(n, d, k, level) if noise == "gaussian" else pure_setting(n, d, k, level, 1.0)
    )
    parts = upper_coordinatewise.printed(setting, noise, beta)
    m = 4 * math.log(2 * d / beta)
    signal = n / math.sqrt(d) if noise == "gaussian" else n / d
    tau = signal ** (1 / k)
    assert tau > 10
    assert parts.sampling == pytest.approx(math.sqrt(d) * 10 * math.sqrt(m / n))
    assert parts.bias == pytest.approx(math.sqrt(d) * 3 * (14 / tau) ** (k - 1))
    if noise == "gaussian":
        std = math.sqrt(72 * tau**2 * m**2 * d / (level * n**2))
        tail = 2 * std * (math.sqrt(d) + math.sqrt(math.log(1 / beta)))
    else:
        tail = 12 * tau * m * d / (level * n) * math.sqrt(d) * math.log(2 * d / beta)
    assert parts.noise == pytest.approx(tail)


@pytest.mark.parametrize("k", [2, 3, 40, 100])
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_the_clipping_level_is_the_best_of_a_grid(k, noise):
    setting = make_setting(20_000, 6, k, ZCDP(rho=0.2), mean_bound=1.3)
    if noise == "laplace":
        setting = pure_setting(20_000, 6, k, 0.2, 1.3)
    best = upper_coordinatewise.mean_square(setting, noise).root_sum_square()
    high = upper_coordinatewise.high_probability(setting, noise, 0.05).total()
    for tau in 1.3 / 3 + np.geomspace(0.01, 300, 500):
        candidate = upper_coordinatewise.mean_square(
            setting, noise, tau=float(tau)
        ).root_sum_square()
        assert best <= candidate * (1 + 1e-9)
        candidate = upper_coordinatewise.high_probability(
            setting, noise, 0.05, tau=float(tau)
        ).total()
        assert high <= candidate * (1 + 1e-9)


@pytest.mark.parametrize("k", [2, 2.3, 4, 12])
@pytest.mark.parametrize("d", [1, 2, 30])
def test_no_mean_in_the_ball_has_a_larger_bias_than_the_joint_bound(k, d):
    rng = np.random.default_rng(3)
    for level, radius in ((3.0, 2.5), (10.0, 2.0), (2.0, 0.1)):
        joint = joint_bias(level, radius, d, k)
        means = np.abs(rng.normal(size=(400, d))) ** rng.choice([0.2, 1.0, 8.0], size=(400, 1))
        means *= radius / np.linalg.norm(means, axis=1, keepdims=True)
        even = np.full((1, d), radius / math.sqrt(d))
        for mean in np.vstack([means, even, np.eye(d)[:1] * radius]):
            assert math.hypot(*(hinge_bias(level - m, k) for m in mean)) <= joint * (1 + 1e-12)
        assert joint <= math.sqrt(d) * hinge_bias(level - radius, k) * (1 + 1e-12)
    assert joint_bias(1.0, 1.0, d, k) == math.inf


def test_one_block_is_best_for_the_mean_error_and_two_are_as_good():
    setting = zcdp_setting(9600, 6, 3, 0.2, mean_bound=1.0)
    values = [
        upper_coordinatewise.mean_square(setting, "gaussian", blocks=m).root_sum_square()
        for m in range(1, 33)
    ]
    assert values[1] == pytest.approx(values[0])
    assert all(v > values[0] * 1.01 for v in values[2:])


def test_kappa_of_the_median_has_its_reference_value():
    setting = zcdp_setting(24_000, 1, 2, 1e12)
    for m, kappa in ((3, 3.0), (4, 4.0), (5, 2.5), (24, 24 / 11)):
        parts = upper_coordinatewise.mean_square(setting, "gaussian", blocks=m, tau=1e9)
        assert parts.sampling**2 * (24_000 // m) == pytest.approx(kappa, rel=1e-6)


def test_the_tight_noise_is_that_of_an_even_median():
    std = upper_coordinatewise.noise_level(zcdp_setting(1000, 4, 2, 0.5), 2.0, "gaussian", 24)
    assert std == pytest.approx(3 * 2.0 / (1000 // 24) * math.sqrt(4 / (2 * 0.5)))
    scale = upper_coordinatewise.noise_level(pure_setting(1000, 4, 2, 0.5, 1.0), 2.0, "laplace", 23)
    assert scale == pytest.approx(4 * 6 * 2.0 / (1000 // 23) / 0.5)
    # The number of blocks is 4 ln 800 = 26.7, rounded up to an even number.
    assert upper_coordinatewise.even_blocks(20, 0.05) == 28


def test_the_smoothed_bound_is_the_minimum_of_form_v():
    n, d, bound, rho = 3000, 8, 0.7, 0.3
    setting = zcdp_setting(n, d, 3.0, rho, mean_bound=bound)
    best = upper_smoothed.mean_square(setting)
    supremum = smoothed_supremum(1.0)
    assert supremum == pytest.approx(0.643646, abs=5e-7)

    def form_v(tau):
        """Return form (v) of the bound on smoothing, at a smoothing scale tau."""
        squares = d + 2 * bound**2 + bound**4
        return math.sqrt(
            (3 * 2 / (8 * math.sqrt(2) * tau)) ** 2 * squares
            + 2 * (d + bound**2) / n
            + 2 * supremum**2 * tau**2 * d**2 / (rho * n**2)
        )

    lowest = min(form_v(float(tau)) for tau in np.geomspace(0.1, 1000, 20_000))
    assert best.root_sum_square() == pytest.approx(lowest, rel=1e-6)
    fixed = upper_smoothed.mean_square(setting, tau=7.0)
    assert fixed.root_sum_square() == pytest.approx(form_v(7.0), rel=1e-12)


def test_the_smoothed_deviation_is_the_minimum_of_form_i():
    n, d, bound, rho, beta = 3000, 8, 0.7, 0.3, 0.05
    supremum = smoothed_supremum(1.0)
    tail = math.sqrt(d) + math.sqrt(2 * math.log(2 / beta))

    def form_i(tau):
        """Return form (i) of the bound on smoothing, at a smoothing scale tau."""
        bias = 1 / tau * math.sqrt(d + 2 * bound**2 + bound**4)
        deviation = math.sqrt(d) * tau * math.log(4 * d / beta) / n
        return bias + deviation + supremum * tau * math.sqrt(2 * d / rho) / n * tail

    lowest = min(form_i(float(tau)) for tau in np.geomspace(0.1, 1000, 20_000))
    setting = zcdp_setting(n, d, 3.0, rho, mean_bound=bound)
    total = upper_smoothed.high_probability(setting, beta).total()
    assert total == pytest.approx(lowest, rel=1e-6)


def student_sample(n, d, rng, order=3.0):
    """Draw n records of Student's t with 3.5 degrees of freedom, whose coordinates have absolute
    moment 1 of order `order`.
    """
    nu = 3.5
    log_moment = (
        order / 2 * math.log(nu)
        + math.lgamma((order + 1) / 2)
        + math.lgamma((nu - order) / 2)
        - 0.5 * math.log(math.pi)
        - math.lgamma(nu / 2)
    )
    return rng.standard_t(nu, (n, d)) / math.exp(log_moment / order)


def test_the_mean_error_of_the_clipped_average_is_below_its_bound_and_within_a_factor_of_it():
    n, d, rho, bound = 2000, 5, 0.02, 0.5
    rng = np.random.default_rng(1)
    mu = np.full(d, bound / math.sqrt(d))
    setting = zcdp_setting(n, d, 3.0, rho, mean_bound=bound)
    parts = upper_coordinatewise.mean_square(setting, "gaussian")
    unit = upper_coordinatewise.noise_level(setting, 1.0, "gaussian", 1) * math.sqrt(d)
    tau = parts.noise / unit
    errors = []
    for _ in range(300):
        x = student_sample(n, d, rng) + mu
        noise = rng.normal(size=d) * math.sqrt(d / (2 * rho)) * 6 * tau / n
        errors.append(np.linalg.norm(np.clip(x, -3 * tau, 3 * tau).mean(axis=0) + noise - mu))
    root = math.sqrt(np.mean(np.square(errors)))
    # A false alarm needs a mean square more than 5 deviations above the mean in 300 draws.
    assert 0.3 * parts.root_sum_square() < root < parts.root_sum_square()


@pytest.mark.parametrize("order", [2.0, 3.0, 6.0])
def test_clipping_far_from_the_origin_is_biased_by_records_far_from_the_mean_only(order):
    d, bound_on_mean = 20, 50.0
    setting = zcdp_setting(10_000, d, order, 0.03, mean_bound=bound_on_mean)
    bias, slope = upper_clipped.coordinate_bias(setting), math.sqrt(2 * d / 0.03) / 10_000
    radius = bias.best_radius_squared(slope)
    assert radius > bound_on_mean
    # A plain search finds the best radius.
    radii = bound_on_mean + np.geomspace(1e-2, 1e4, 20_001)
    values = [bias.at_radius(r) ** 2 + (slope * r) ** 2 for r in radii]
    assert bias.at_radius(radius) ** 2 + (slope * radius) ** 2 <= min(values) * (1 + 1e-9)
    assert radius == pytest.approx(radii[int(np.argmin(values))], rel=2e-3)
    # The spikes lie along (1, ..., 1) away from the origin, each coordinate with its whole moment:
    # a two-point law of mean `bound_on_mean` that nearly attains the bound.
    long = order / (order - 1) * (radius - bound_on_mean)
    q = 1 / (1 + (long / math.sqrt(d)) ** order)
    ends = np.array([bound_on_mean - q * long, bound_on_mean + (1 - q) * long])
    weights = np.array([1 - q, q])
    moment = weights @ np.abs((ends - bound_on_mean) / math.sqrt(d)) ** order
    assert weights @ ends == pytest.approx(bound_on_mean) and moment <= 1
    mean_loss = weights @ np.maximum(ends - radius, 0)
    assert 0.8 * bias.at_radius(radius) < mean_loss <= bias.at_radius(radius)


def test_the_mean_error_of_norm_clipping_is_below_its_coordinate_bound():
    n, d, rho, bound = 2000, 5, 0.02, 0.5
    rng = np.random.default_rng(2)
    mu = np.full(d, bound / math.sqrt(d))
    setting = zcdp_setting(n, d, 3.0, rho, mean_bound=bound)
    bias = upper_clipped.coordinate_bias(setting)
    parts = upper_clipped.mean_square(setting, 1.0, bias)
    radius = bias.best_radius_squared(math.sqrt(2 * d / rho) / n)
    errors = []
    for _ in range(300):
        x = student_sample(n, d, rng) + mu
        x *= np.minimum(1, radius / np.linalg.norm(x, axis=1))[:, None]
        noise = rng.normal(size=d) * math.sqrt(2 / rho) * radius / n
        errors.append(np.linalg.norm(x.mean(axis=0) + noise - mu))
    root = math.sqrt(np.mean(np.square(errors)))
    assert 0.3 * parts.root_sum_square() < root < parts.root_sum_square()


@pytest.mark.parametrize(("n", "d", "p", "rho"), [(2, 1, 2.0, 1.0), (5000, 9, 3.0, 0.2)])
def test_the_adaptive_bound_is_its_formula_written_out(n, d, p, rho):
    """The formula is that of the single mode for mean bound 1 and moments 1
    (theory/adaptive-methods.md, 1.3).

    The upper radius is that of simple clipping, minimised here on a grid.
    """
    t = np.geomspace(1e-3, 1e6, 200_001)
    tails = ((p - 1) / p) ** (p - 1) / p * t ** (1 - p)
    if p == 2:
        tails = (np.sqrt(1 + t**2) - t) / 2
    tops = 1 + math.sqrt(d) + t
    top = float(tops[np.argmin(tails**2 + 2 * tops**2 / (rho * n**2))])
    share = min(0.1, max(0.03, 0.6 / d))
    epsilon = math.sqrt(8 * share * rho)
    k = min(1.5 * d * math.sqrt(2 / rho) + 4 / epsilon, n / 2)
    crowd = 2 / epsilon * (2 * math.log(n) + 2.71)
    reach = math.sqrt(d) + 1
    noise = 2.11 * math.sqrt(2 * d / ((1 - share) * rho)) / n
    cut = min(1.0, (2 * k + crowd) / n + (reach / top) ** p) ** (1 - 1 / p)
    expected = math.sqrt(d / n) + reach * (cut + noise * (n / k) ** (1 / p)) + noise * top / n
    expected = min(expected, 2.0)  # The answer lies in the ball that contains the mean.
    constants = Constants(
        coordinate_moment=1.0,
        directional_moment=2.0,
        variance_trace=float(d),
        mean_gradient_bound=1.0,
    )
    setting = Setting(n=n, d=d, moment_order=p, budget=ZCDP(rho=rho), constants=constants)
    (bound,) = (b for b in ADAPTIVE_BOUNDS if b.card.constant == "explicit")
    assert bound.value(setting) == pytest.approx(expected, rel=1e-3)
    # Where the bound is void the method makes no first release.
    assert bool(bound.failures(setting)) == (2 * k + crowd > 0.85 * n)
    assert bound.failures(replace(setting, d=16)) and bound.failures(replace(setting, n=1))
    wide = replace(setting, constants=replace(constants, mean_gradient_bound=50.0))
    assert "without a centre" in bound.failures(wide)[0]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda setting: upper_iterative.iterative_rate(setting, setting.gaussian_rho, 2.0),
            "beta must be between 0 and 1, got",
        ),
        (
            lambda setting: upper_iterative.iterative_amplified_rate(setting, 0.5),
            "between 0 and 1/e, got",
        ),
        (
            lambda setting: upper_iterative.unsplit_radius(100, 2, 1.0, 1.0, 1.0, 9, 0.1, 0.9),
            "tau must be between 0 and 1/2, got tau=0.9",
        ),
        (
            lambda setting: upper_coordinatewise.even_blocks(10, 40.0),
            "beta must be between 0 and 1",
        ),
        (
            lambda setting: upper_coordinatewise.mean_square(setting, "gaussian", blocks=0),
            "blocks must be a positive integer, got blocks=0",
        ),
        (
            lambda setting: upper_coordinatewise.mean_square(setting, "gaussian", tau=-1.0),
            "tau must be positive, got tau=-1.0",
        ),
        (lambda setting: upper_clipped.covering_log(3, 3.0), "beta must be between 0 and 1, got"),
        (
            lambda setting: upper_smoothed.high_probability(setting, 1.5),
            "beta must be between 0 and 1, got",
        ),
        (
            lambda setting: smoothed_supremum(-1.0),
            "smoothing_variance must be a positive number, got",
        ),
        (lambda setting: phases(1), "n must be at least 2, got n=1"),
    ],
)
def test_a_formula_refuses_inputs_outside_its_proof(call, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        call(zcdp_setting(100, 3, 2, 0.5))
