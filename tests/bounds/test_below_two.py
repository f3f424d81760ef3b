"""Bounds for tail indices below 2: printed values, a second implementation, and wrong forms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom

from dpsco_core.bounds.instances.spikes import largest_probability, mean_power, mean_scale
from dpsco_core.bounds.mean.below_two import BELOW_TWO_BOUNDS
from dpsco_core.catalogue import bound, make_method
from dpsco_core.methods.mean.adaptive import AdaptiveClipping
from dpsco_core.methods.mean.below_two import coordinate_costs, norm_costs, sample_mean_error
from dpsco_core.privacy.budget import ZCDP, PureDP
from dpsco_core.problems.base import Setting
from dpsco_core.scenario import Scenario
from tests.bound_marks import second_implementation_of
from tests.bounds.helpers import make_setting, plain_entropy_inverse

LOG_2 = math.log(2)
# Each row has the arguments n, d, p, rho, epsilon and R_0, and the values of
# theory/infinite-variance.md, 6.
TABLE = (
    (
        (10_000, 20, 1.5, 0.0280144819, 1.0, 2.0),
        (0.430879, 0.519318, 17.4778, 0.592570, 0.852673, 0.102736, 0.258382, 0.134330, 0.221511),
    ),
    (
        (1000, 5, 1.2, 0.5, 1.0, 1.0),
        (1.91870, 0.774681, 25.9714, 0.903783, 1.32277, 0.388833, 0.433858, 0.250357, 0.490816),
    ),
    (
        (100_000, 50, 1.8, 0.1, 0.5, 2.0),
        (
            0.0568981,
            0.143704,
            41.6746,
            0.374463,
            0.178487,
            0.0189542,
            0.0596461,
            8.17237e-3,
            0.0903626,
        ),
    ),
)


def at_both(n, d, p, rho, epsilon, mean_bound) -> tuple[Setting, Setting]:
    """Return the settings of a row of the table, one under zCDP and one under pure DP."""
    cdp = make_setting(n, d, p, ZCDP(rho=rho), mean_bound=mean_bound)
    return cdp, replace(cdp, budget=PureDP(epsilon=epsilon))


def kappa(p):
    """Return (p-1)^(p-1)/p^p, the constant of the bias of a clip."""
    return (p - 1) ** (p - 1) / p**p


def plain_coordinatewise_bound(n, d, p, mean_bound, limit, noise):
    """Return the error bound of section 2.1: coordinates are clipped at `limit`, and their squared
    biases added at the worst mean; `noise` is the noise's squared error.
    """

    def psi(size):
        """Return the squared bias of a coordinate whose mean has this size."""
        return (kappa(p) * (limit - size) ** (1 - p)) ** 2

    step = 1e-6 * limit
    slope = (psi(step) - psi(-step)) / (2 * step)
    bias = (d - 1) * psi(0.0) + psi(mean_bound) + (math.sqrt(d) - 1) * mean_bound * slope
    sampling = d * (limit + mean_bound / math.sqrt(d)) ** (2 - p) / n
    return math.sqrt(sampling + bias + noise * limit**2)


def clipped_norms(n, d, p, mean_bound, radius, noise):
    """Return the bound on the error of the mean of records clipped to a radius, for moments of
    order p below 2.
    """
    bias = kappa(p) * d * (radius - mean_bound) ** (1 - p)
    return math.sqrt(d * (radius + mean_bound) ** (2 - p) / n + bias**2 + noise * radius**2)


def least_value(value, low):
    """Return the level above `low` at which `value` is least, and that least value."""
    grid = low + np.geomspace(1e-4, 1e9, 600)
    place = int(np.argmin([value(x) for x in grid]))
    ends = np.log(grid[place - 1] - low), np.log(grid[place + 1] - low)
    best = minimize_scalar(
        lambda u: value(low + math.exp(u)), bounds=ends, method="bounded", options={"xatol": 1e-10}
    )
    return low + math.exp(best.x), best.fun


def spike_size(q, p):
    """Return the mean of a spike per coordinate at probability q, shrunk until its central p-th
    moment is at most 1.
    """
    size = q ** (-1 / p)
    mean = q * size
    central = q * (size - mean) ** p + (1 - q) * mean**p
    return mean / max(1.0, central) ** (1 / p)


def over_spikes(value, p, d, mean_bound):
    """Return the largest value over all spike probabilities for which the mean has at most the norm
    `mean_bound`.
    """

    def room(log_q):
        """Return by how much the norm of the instance's mean exceeds its bound, at spike
        probability exp(log_q).
        """
        return spike_size(math.exp(log_q), p) * math.sqrt(d) - mean_bound

    top = 0.0 if room(0.0) <= 0 else brentq(room, -60, 0)
    grid = np.linspace(top - 14, top, 500)
    place = int(np.argmax([value(math.exp(u)) for u in grid]))
    ends = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    best = minimize_scalar(
        lambda u: -value(math.exp(u)), bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    return max(-best.fun, value(math.exp(top)))


def counts(n, q):
    """Return the numbers of spikes among n records and their probabilities, except for a tail below
    1e-15.
    """
    b = np.arange(int(min(n, n * q + 12 * math.sqrt(n * q) + 60)) + 1)
    return b, binom.pmf(b, n, q)


def wrong_sign_fraction(t, d):
    """Return the least fraction g_d(t) of wrong signs among d at a privacy loss t
    (theory/kamath-liu-zhang.md, 4.5).
    """
    s = np.arange(d + 1)
    shifted = np.concatenate([[0.0], binom.cdf(np.arange(d), d - 1, 0.5)]) if d > 1 else s
    growth = math.expm1(min(t, 600.0))
    return 0.5 * float(np.min((1 + growth * shifted) / (1 + growth * binom.cdf(s, d, 0.5))))


@second_implementation_of(
    "upper.mean.sample-below-two",
    "upper.mean.clipped-below-two",
    "upper.mean.clipped-below-two-run",
    "upper.mean.cwme-cdp-below-two",
    "upper.mean.cwme-cdp-below-two-run",
    "upper.mean.cwme-pure-below-two",
    "upper.mean.cwme-pure-below-two-run",
)
@pytest.mark.parametrize(("sizes", "values"), TABLE, ids=str)
def test_upper_bounds_match_the_table_and_a_second_implementation(sizes, values):
    n, d, p, rho, epsilon, mean_norm = sizes
    sample, coordinates, level, pure, norms = values[:5]
    cdp, pure_setting = at_both(n, d, p, rho, epsilon, mean_norm)
    mean_error = (d * (1 + 2 ** (2 - p) * (n - 1))) ** (1 / p) / n
    assert bound("upper.mean.sample-below-two").value(cdp) == pytest.approx(sample, rel=5e-6)
    assert sample_mean_error(n, d, p) == pytest.approx(mean_error, rel=1e-12)
    cases = (
        ("cwme-cdp", cdp, coordinates, plain_coordinatewise_bound, 2 * d**2 / (rho * n**2)),
        (
            "cwme-pure",
            pure_setting,
            pure,
            plain_coordinatewise_bound,
            8 * d**3 / (epsilon * n) ** 2,
        ),
        ("clipped", cdp, norms, clipped_norms, 2 * d / (rho * n**2)),
    )
    for name, setting, printed, formula, noise in cases:
        best, value = least_value(
            lambda x, f=formula, e=noise: f(n, d, p, mean_norm, x, e), mean_norm
        )
        at_best = bound(f"upper.mean.{name}-below-two").value(setting)
        assert at_best == pytest.approx(printed, rel=5e-6), name
        assert at_best == pytest.approx(value, rel=1e-7), name
        # The method uses that level, so the bound on its run is the same.
        run = bound(f"upper.mean.{name}-below-two-run").value(setting)
        assert run == pytest.approx(min(value, 2 * mean_norm), rel=1e-7), name
        if name == "cwme-cdp":
            assert best == pytest.approx(level, rel=1e-4)


@second_implementation_of("lower.mean.unseen", "lower.mean.unseen-squared")
@pytest.mark.parametrize(("sizes", "values"), TABLE, ids=str)
def test_lower_bounds_match_the_table_and_a_second_implementation(sizes, values):
    n, d, p, rho, epsilon, mean_norm = sizes
    unseen, zcdp, squared, pure = values[5:]
    cdp, pure_setting = at_both(n, d, p, rho, epsilon, mean_norm)

    def without_privacy(q):
        """Return the lower bound from samples without a spike, at spike probability q."""
        return math.sqrt(d) * spike_size(q, p) * (1 - q) ** n

    def entropy(q):
        """Return the lower bound under zCDP on the l2 error at spike probability q, by binary
        entropy.
        """
        b, weights = counts(n, q)
        left = [plain_entropy_inverse(rho * x * x / d) for x in b]
        return 2 * math.sqrt(d) * spike_size(q, p) * float(weights @ left)

    def in_squares(q):
        """Return the lower bound under zCDP on the squared error at spike probability q."""
        b, weights = counts(n, q)
        return d * spike_size(q, p) ** 2 * float(weights @ np.maximum(1 - 2 * rho * b**2 / d, 0))

    def group_privacy(q):
        """Return the lower bound under pure DP on the l2 error at spike probability q, by group
        privacy.
        """
        b, weights = counts(n, q)
        left = [wrong_sign_fraction(epsilon * x, d) for x in b]
        return 2 * math.sqrt(d) * spike_size(q, p) * float(weights @ left)

    cases: tuple[tuple[str, Setting, float, Any], ...] = (
        ("unseen", cdp, unseen, without_privacy),
        ("hypercube-cdp-squared", cdp, squared, in_squares),
    )
    for name, setting, printed, formula in cases:
        value = bound(f"lower.mean.{name}").value(setting)
        assert value == pytest.approx(printed, rel=5e-6), name
        assert value == pytest.approx(over_spikes(formula, p, d, mean_norm), rel=1e-6), name
    # These two forms are slow, so each is evaluated at one probability near its best.
    for name, setting, printed, formula in (
        ("hypercube-cdp", cdp, zcdp, entropy),
        ("hypercube-pure", pure_setting, pure, group_privacy),
    ):
        row_bound = bound(f"lower.mean.{name}")
        assert row_bound.value(setting) == pytest.approx(printed, rel=5e-6), name
        q = 0.5 * math.sqrt(d / rho) / n if name == "hypercube-cdp" else d / (epsilon * n) / 2
        fixed = replace(setting, spike_probability=q)
        assert row_bound.value(fixed) == pytest.approx(formula(q), rel=1e-6), name
    in_square = bound("lower.mean.unseen-squared").value(cdp)
    square = over_spikes(lambda q: d * spike_size(q, p) ** 2 * (1 - q) ** n, p, d, mean_norm)
    assert in_square == pytest.approx(square, rel=1e-6)


@second_implementation_of("lower.sco.unseen", "lower.sco-strong.unseen")
@pytest.mark.parametrize("p", [1.2, 1.5, 1.9])
def test_unseen_spikes_bound_linear_and_quadratic_risks(p):
    n, d = 2000, 5
    for problem, name in (("linear", "lower.sco.unseen"), ("quadratic", "lower.sco-strong.unseen")):
        point = Scenario(problem=problem, methods=(), n=n, d=d, p=p).validate()
        constants = point.setting.constants
        radius, mean_norm = constants.diameter / 2, constants.mean_gradient_bound
        if problem == "linear":
            value = radius * over_spikes(
                lambda q: math.sqrt(d) * spike_size(q, p) * (1 - q) ** n, p, d, mean_norm
            )
        else:
            cap = min(radius, mean_norm - radius)
            value = 0.5 * over_spikes(lambda q: d * spike_size(q, p) ** 2 * (1 - q) ** n, p, d, cap)
        assert bound(name).value(point.setting) == pytest.approx(value, rel=1e-6), problem


@pytest.mark.parametrize("p", [1.1, 1.5, 1.9])
def test_unseen_spikes_are_above_their_closed_form(p):
    a = 1 - 1 / p
    for n, d in ((100, 1), (10_000, 20)):
        setting = make_setting(n, d, p, mean_bound=math.inf)
        closed = 2 ** (1 - 2 / p) * (a / math.e) ** a * math.sqrt(d) * (n + a) ** -a
        value = bound("lower.mean.unseen").value(setting)
        assert closed <= value <= sample_mean_error(n, d, p)


@pytest.mark.parametrize("p", [1.05, 1.2, 1.5, 1.9])
def test_the_largest_spike_probability_keeps_the_mean_within_its_bound(p):
    for weight in (1, 5, 20):
        for mean_norm in (1e-4, 0.1, 0.9, 3.0, 10.0):
            q = largest_probability(weight, p, mean_norm)
            size = spike_size(q, p) * math.sqrt(weight)
            assert size <= mean_norm * (1 + 1e-9)
            assert q == 1.0 or size == pytest.approx(mean_norm, rel=1e-8)
            assert mean_scale(q, p) == pytest.approx(spike_size(q, p), rel=1e-12)
            squares = mean_power(np.array([q]), p, 2)
            assert float(squares[0]) == pytest.approx(spike_size(q, p) ** 2, rel=1e-12)


def plain_fresh_batches_bound(n, d, p, rho, mean_norm, radius_of_set, moments, scale):
    """Return the least bound of section 3 on a ball, by a search over steps and radii."""
    best = math.inf
    for steps in sorted({int(x) for x in np.geomspace(1, n, 40)}):
        size = n // steps

        def risk(radius, size=size, steps=steps):
            """Return the bound of section 3 at a clip radius, with a given number of steps."""
            if moments == "coordinate":
                bias = kappa(p) * d * scale**p * max(radius - mean_norm, 1e-300) ** (1 - p)
                bias = min(bias, d ** (1 / p) * scale + mean_norm)
                slope = min(mean_norm + bias, radius)
                spread = d * scale**p * min(radius + mean_norm, 2 * radius) ** (2 - p)
            else:
                bias = min(kappa(p) * d ** (1 - 1 / p) * scale**p * radius ** (1 - p), scale)
                slope = min(scale, mean_norm + bias, radius)
                spread = d * scale**p * radius ** (2 - p)
            variance = min(spread, radius**2) / size
            noise = 2 * d * radius**2 / (rho * size**2)
            pull = math.sqrt(slope**2 + variance + noise)
            return radius_of_set * pull / math.sqrt(steps) + 2 * radius_of_set * bias

        best = min(best, least_value(risk, 0.0)[1])
    return best


@pytest.mark.parametrize("p", [1.2, 1.5, 1.9])
def test_fresh_batches_match_a_second_implementation(p):
    # Each search uses a grid, so the two differ by the error of a grid.
    for problem in ("linear", "quadratic"):
        point = Scenario(problem=problem, n=3000, d=4, p=p, methods=(), delta=None, epsilon=None)
        point = replace(point, rho=0.3).validate()
        constants = point.setting.constants
        for moments, scale, slug in (
            ("coordinate", 1.0, "upper.sco.fresh-batches-coordinate"),
            ("directional", constants.directional_moment, "upper.sco.fresh-batches"),
        ):
            sizes = 3000, 4, p, 0.3, constants.mean_gradient_bound, constants.diameter / 2
            value = plain_fresh_batches_bound(*sizes, moments, scale)
            row = bound(slug)
            assert not row.failures(point.setting)
            assert row.value(point.setting) == pytest.approx(value, rel=0.02), (problem, slug)


def test_the_descent_bound_is_at_most_the_table_of_its_simpler_form():
    # The table is for clipped descent with G_0 = 1, a set of radius 1 and one pass, without the
    # minima of section 3.
    for (n, d, p, rho, _, _), _ in TABLE:
        printed = {1.5: 2.62816, 1.2: 3.74329, 1.8: 0.771089}[p]
        best = math.inf
        for steps in sorted({int(x) for x in np.geomspace(1, n, 60)}):
            size = n // steps

            def risk(radius, size=size, steps=steps, n=n, d=d, p=p, rho=rho):
                """Return the simpler form of the risk bound at a clip radius.

                The descent takes `steps` steps on batches of `size` rows of `d` coordinates, with
                `p` moments and `rho` of zCDP.
                """
                bias = kappa(p) * d * (radius - 1.0) ** (1 - p)
                pull = (1 + bias) ** 2 + d * (radius + 1) ** (2 - p) / size
                pull += 2 * d * radius**2 / (rho * size**2)
                return math.sqrt(pull / steps) + 2 * bias

            best = min(best, least_value(risk, 1.0)[1])
        assert best == pytest.approx(printed, rel=5e-6)
        plain_value = plain_fresh_batches_bound(n, d, p, rho, 1.0, 1.0, "coordinate", 1.0)
        assert plain_value <= best * (1 + 1e-9)


@pytest.mark.parametrize("p", [1.2, 1.5, 1.9])
def test_the_adaptive_bound_is_that_of_its_note_with_the_root_of_a_norm_below_two(p):
    row = bound("upper.mean.adaptive-expected")
    setting = replace(make_setting(20_000, 4, p, ZCDP(rho=1.0), mean_bound=1.0))
    mean = AdaptiveClipping(mode="single").plan(setting).statistic
    assert mean.centre is None and mean.inner_rho == 0
    n, d = setting.n, setting.d
    reach = d ** (1 / p) + 1.0
    crowd = 2 / mean.epsilon * (2 * math.log(n) + 2.71)
    share_beyond = min(1.0, (2 * mean.target + crowd) / n + (reach / mean.top_radius) ** p)
    noise = 2.11 * math.sqrt(2 * d / mean.release_rho) / n
    value = (d * (1 + 2 ** (2 - p) * (n - 1))) ** (1 / p) / n + reach * share_beyond ** (1 - 1 / p)
    value += noise * (reach * (n / mean.target) ** (1 / p) + mean.top_radius / n)
    assert row.value(setting) == pytest.approx(min(2.0, value), rel=1e-9)


def test_the_norm_bound_counts_every_coordinate_and_not_the_power_mean():
    n, d, p = 10_000, 20, 1.5
    _, bias = norm_costs(100.0, 0.0, n, d, p)
    wrong = kappa(p) * d ** (p / 2) * 100.0 ** (1 - p)
    assert bias == pytest.approx(kappa(p) * d * 100.0 ** (1 - p))
    # Disjoint spikes, where each coordinate has a spike of its own, lose more than the power mean
    # would allow.
    probability = 1e-4
    size = probability ** (-1 / p)
    radius = 0.3 * size
    # The value E(|X| - R)_+ is an upper bound on the bias.
    bias_bound = d * probability * (size - radius)
    assert bias_bound > kappa(p) * d ** (p / 2) * radius ** (1 - p) > 0
    assert bias_bound <= kappa(p) * d * radius ** (1 - p)
    assert wrong < bias


def test_the_constant_of_von_bahr_and_esseen_is_above_one():
    n, p = 200, 1.2
    # For two-point laws with mean 0, the moment of a sum follows from the binomial law.
    largest = 0.0
    for q in np.geomspace(1e-5, 0.5, 120):
        b, weights = counts(n, q)
        moment = q * (1 - q) ** p + (1 - q) * q**p
        largest = max(largest, float(weights @ np.abs(b - n * q) ** p) / moment)
    assert largest == pytest.approx(247.7, abs=0.3)
    assert n < largest <= 1 + 2 ** (2 - p) * (n - 1)
    assert (n * sample_mean_error(n, 1, p)) ** p == pytest.approx(1 + 2 ** (2 - p) * (n - 1))


def test_the_special_form_for_variance_one_is_not_used_below_two():
    # Just below 2 the bias uses kappa, and exceeds the special form for p = 2.
    _, bias = coordinate_costs(5.0, 0.0, 100, 1, 2 - 1e-12)
    special = 0.5 * (math.sqrt(1 + 25.0) - 5.0)
    assert bias == pytest.approx(0.25 / 5.0, rel=1e-9)
    assert bias > special


def test_clipped_coordinates_may_have_a_variance_above_one():
    sampling, _ = coordinate_costs(17.0, 2.0, 10_000, 20, 1.5)
    assert sampling**2 == pytest.approx(20 / 10_000 * (17 + 2 / math.sqrt(20)) ** 0.5)
    assert sampling**2 > 4 * 20 / 10_000


def test_the_noise_hides_a_record_that_moves_from_one_limit_to_the_other():
    cdp, pure = at_both(*TABLE[0][0])
    n, d = cdp.n, cdp.d
    plan = make_method("mean.cwme-cdp", "tight", "practical").plan(cdp)
    limit = plan.diagnostics["clip_limit"]
    assert limit == pytest.approx(17.4778, rel=1e-4)
    assert plan.noise.noise_std == pytest.approx(
        2 * limit * math.sqrt(d) / n / math.sqrt(2 * cdp.rho)
    )
    plan = make_method("mean.cwme-pure", "tight", "practical").plan(pure)
    scale = plan.noise.noise_scale
    assert scale == pytest.approx(2 * plan.diagnostics["clip_limit"] * d / n / 1.0)
    plan = make_method("mean.clipped", "tight", "practical").plan(cdp)
    assert plan.noise.l2_sensitivity == pytest.approx(2 * plan.statistic.radius / n)


def test_no_bound_is_given_on_the_mean_square_of_the_sample_mean():
    for row in BELOW_TWO_BOUNDS:
        if row.card.method == "mean.sample":
            assert row.card.quantity == "l2 error"
            assert row.combine is math.fsum


@pytest.mark.parametrize("p", [1.1, 1.3, 1.6, 1.9, 2.0])
def test_at_two_the_formulas_agree_with_those_for_finite_variance(p):
    sampling, bias = norm_costs(30.0, 1.0, 1000, 4, p)
    if p == 2.0:
        assert sampling == pytest.approx(math.sqrt(4 / 1000))
        assert bias == pytest.approx(4 * 0.25 / 29.0)
        assert sample_mean_error(1000, 4, p) == pytest.approx(math.sqrt(4 / 1000))
    assert norm_costs(1.0, 1.0, 1000, 4, p) == (math.inf, math.inf)
    assert coordinate_costs(1.0, 1.0, 1000, 4, p) == (math.inf, math.inf)
    assert sampling > 0 and bias > 0
