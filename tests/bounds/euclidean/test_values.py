"""Explicit bounds on excess risk against reference values and slow second evaluations."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_core.bounds.euclidean import coordinatewise
from dpsco_core.bounds.euclidean.strong import (
    best_risk,
    contraction,
    risk_at,
    strong_factor,
    strong_risk,
    strong_risk_summed,
    variance_factor,
)
from dpsco_core.bounds.euclidean.uniform import convex_risk
from dpsco_core.bounds.instances.binomial import log_pmf
from dpsco_core.bounds.instances.gaussian import best_separation, bounded_signs
from dpsco_core.bounds.instances.hardest import FORMS, best_spike_probability
from dpsco_core.bounds.instances.spikes import convex_factor
from dpsco_core.privacy import ZCDP, PureDP
from tests.bounds import helpers
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting

EXAMPLE = (10_000, 200, 4)


@pytest.mark.parametrize(
    ("kind", "level", "p", "value"),
    [
        # These values are row E3 of the reference table.
        ("fano-cdp-squared", 0.5, 3.436e-4, 2.0709e-5),
        # These values are row E7 of the reference table.
        ("hypercube-cdp-squared", 0.5, 9.380e-4, 0.0030456),
        # These values are row E9 of the reference table.
        ("fano-cdp-convex", 0.5, 2.711e-4, 4.4218e-4),
        # These values are row P4 of the reference table.
        ("hypercube-pure-squared", 1.0, 7.367e-3, 0.030462),
        # These values are row P5 of the reference table.
        ("hypercube-pure-convex", 1.0, 3.672e-3, 0.057835),
        # These values are row E6 of the reference table, which is at least row E8, 0.031225.
        ("hypercube-cdp-convex", 0.5, 6.410e-4, 0.031848),
        # These values are row P1 of the reference table.
        ("fano-pure-convex", 1.0, 1.256e-3, 0.014723 / 8),
    ],
)
def test_the_lower_bounds_match_the_reference_table(kind, level, p, value):
    best, largest = best_spike_probability(kind, *EXAMPLE, level)
    assert best == pytest.approx(p, rel=5e-3)
    assert largest == pytest.approx(value, rel=5e-5)


def test_the_catalogues_bounds_are_the_forms_on_their_instances():
    n, d, order = EXAMPLE
    convex = {"mean_gradient_bound": math.inf, "diameter": 3.0}
    setting = make_setting(n, d, order, ZCDP(rho=0.5), **convex)
    pure = make_setting(n, d, order, PureDP(epsilon=1.0), **convex)
    for slug, setting_of_row, unit in (
        ("lower.sco.fano-cdp", setting, 4.4218e-4),
        ("lower.sco.hypercube-cdp", setting, 0.031848),
        ("lower.sco.hypercube-pure", pure, 0.057835),
        ("lower.sco.sampling-signs", setting, 0.04059),
    ):
        assert BY_SLUG[slug].value(setting_of_row) == pytest.approx(1.5 * unit, rel=2e-4), slug
    wide = {"mean_gradient_bound": 1e3, "diameter": 1e3, "strong_convexity": 0.5}
    for slug, setting_of_row, square in (
        (
            "lower.sco-strong.hypercube-cdp",
            make_setting(n, d, order, ZCDP(rho=0.5), **wide),
            0.0030456,
        ),
        ("lower.sco-strong.fano-cdp", make_setting(n, d, order, ZCDP(rho=0.5), **wide), 2.0709e-5),
        (
            "lower.sco-strong.hypercube-pure",
            make_setting(n, d, order, PureDP(epsilon=1.0), **wide),
            0.030462,
        ),
        ("lower.sco-strong.sampling-signs", setting, 0.009359),
        (
            "lower.sco-strong.sampling-gaussian",
            make_setting(n, d, order, **wide),
            0.75984**2 * 0.02,
        ),
    ):  # The risk bound is half the squared bound times the modulus of strong convexity.
        value = BY_SLUG[slug].value(setting_of_row)
        assert value * setting_of_row.constants.strong_convexity * 2 == pytest.approx(
            square, rel=2e-4
        ), slug


def slow_convex_pure_bound(p, n, d, k, epsilon):
    """Return the lower bound for linear losses under pure DP at spike probability p, as a sum over
    the number of spikes.
    """
    mean = helpers.mean_over(
        n, p, lambda b: 1 - math.sqrt(max(0.0, 1 - 2 * helpers.plain_wrong_signs(d, epsilon * b)))
    )
    return math.sqrt(d) * p ** (1 - 1 / k) * mean


@pytest.mark.parametrize(
    ("n", "d", "k", "level"), [(30, 9, 2, 0.3), (60, 16, 4, 2.0), (9, 1, 3, 1.0)]
)
@pytest.mark.parametrize("q", [0.3, 2.0, 8.0])
def test_the_risk_forms_agree_with_their_definitions(n, d, k, level, q):
    p = min(1.0, q / n)
    w = d // 2
    code = d / 8 / (4 * w) * math.sqrt(w / (d / 8)) if d > 1 else 0.0
    slow = {
        "fano-cdp-squared": helpers.spike_fano(p, n, d, k, level, 2),
        "fano-cdp-convex": code * helpers.spike_fano(p, n, d, k, level),
        "fano-pure-convex": code * helpers.spike_pure(p, n, d, k, level),
        "fano-pure-squared": helpers.spike_pure(p, n, d, k, level)
        * p ** (1 - 1 / k)
        * math.sqrt(d / 8)
        / 2,
        "hypercube-pure-convex": slow_convex_pure_bound(p, n, d, k, level),
    }
    for kind, value in slow.items():
        assert FORMS[kind][0](p, n, d, k, level) == pytest.approx(value, rel=1e-8, abs=1e-15), kind


def test_the_code_factor_is_the_separation_of_the_normalised_means():
    for d in (2, 8, 9, 15, 200):
        w, distance = d // 2, d / 8
        separation = math.sqrt(distance / w)  # The separation is that of mu/|mu|.
        norm_of_mean = math.sqrt(w)  # This is the norm of the mean without its factor p^a.
        # This is the expected risk without its factor p^a p_e.
        expected = 0.5 * norm_of_mean * separation**2 / 4
        assert convex_factor(d) * math.sqrt(distance) / 2 == pytest.approx(expected)


def test_the_entropy_form_bounds_linear_losses():
    # The function ln 2 - h((1+m)/2) is convex in m^2, as its coefficients are positive; second
    # differences check that.
    u = np.linspace(0, 1, 2001)[1:-1]
    m = np.sqrt(u)
    f = math.log(2) + (1 + m) / 2 * np.log((1 + m) / 2) + (1 - m) / 2 * np.log((1 - m) / 2)
    assert np.all(np.diff(f, 2) > 0)


def slow_bounded_signs_bound(delta, n):
    """Return the lower bound from the signs of a coin of bias `delta`, as a sum over all counts."""
    upward, downward = (
        helpers.exact_binomial_pmf(n, (1 + delta) / 2),
        helpers.exact_binomial_pmf(n, (1 - delta) / 2),
    )
    return math.fsum(
        2 * a * b / (a + b) for a, b in zip(upward, downward, strict=True) if a + b > 0
    )


@pytest.mark.parametrize("n", [1, 2, 7, 40, 333])
@pytest.mark.parametrize("c", [0.1, 0.7, 1.5])
def test_the_bounded_signs_bound_agrees_with_its_definition(n, c):
    delta = min(1.0, c / math.sqrt(n))
    v = slow_bounded_signs_bound(delta, n)
    theta = delta / (1 + delta)
    assert bounded_signs(delta, n, 5, "squared") == pytest.approx(
        5 * theta**2 * v, rel=1e-9, abs=1e-11
    )
    assert bounded_signs(delta, n, 5, "linear") == pytest.approx(
        math.sqrt(5) * theta * (1 - math.sqrt(max(0.0, 1 - v))), rel=1e-7, abs=1e-11
    )


def test_a_stride_does_not_move_the_bounded_signs():
    n = 4 * 10**6  # At this n the library sums every 31st count; the reference sums every count.
    delta = best_separation(n, 3, form="linear")
    counts = np.arange(n // 2 - 30_000, n // 2 + 30_001, dtype=float)
    plus = np.exp(log_pmf(counts, n, np.array([(1 + delta) / 2])))
    minus = np.exp(log_pmf(counts, n, np.array([(1 - delta) / 2])))
    v = float(np.sum(2 * plus * minus / (plus + minus)))
    theta = delta / (1 + delta)
    expected = math.sqrt(3) * theta * v / (1 + math.sqrt(1 - v))
    assert bounded_signs(delta, n, 3, "linear") == pytest.approx(expected, rel=1e-10)


def test_more_records_approach_the_limits_of_the_bounded_signs():
    n, d = 10**6, 200  # The limits are 0.29 sqrt(d/n) and 0.47 d/n.
    convex = bounded_signs(best_separation(n, d, form="linear"), n, d, "linear")
    squared = bounded_signs(best_separation(n, d, form="squared"), n, d, "squared")
    assert convex * math.sqrt(n / d) == pytest.approx(0.289, abs=2e-3)
    assert squared * n / d == pytest.approx(0.478, abs=2e-3)


def test_theorem_31_holds_at_any_step_size():
    at_best = sum(convex_risk(2.0, 3.0, 0.1, 5.0, 40))
    assert all(at_best <= sum(convex_risk(2.0, 3.0, 0.1, 5.0, 40, step=s)) for s in (0.01, 0.1, 1))
    step = 2.0 / math.sqrt(2 * 40 * 14)
    assert sum(convex_risk(2.0, 3.0, 0.1, 5.0, 40, step=step)) == pytest.approx(at_best)


def test_the_printed_number_of_steps_makes_theorem_52_vacuous():
    # The values are those of theory/kamath-liu-zhang.md, 2.4, at n = 1e6, d = 5, k = 4, unit
    # constants, T = 5.35e6 and the paper's noise.
    n, d, order = 10**6, 5, 4
    tau = (n / d**1.5) ** (1 / order)
    steps = n**2 / (tau**2 * d**4)
    assert steps == pytest.approx(5.35e6, rel=2e-3)
    setting = make_setting(n, d, order, ZCDP(rho=1.0), mean_gradient_bound=1.0, diameter=1.0)
    oracle = coordinatewise.oracle(setting, tau)
    blocks = 4 * math.log(2 * d) + 8 * d * math.log(3 * n**3)
    energy = 72 * tau**2 * blocks**2 * d**2 * steps / n**2
    assert energy == pytest.approx(8.4e6, rel=0.03)
    second_moment = oracle.deviation**2 + energy
    bias = oracle.deviation + oracle.failure * oracle.reach
    risk = sum(convex_risk(1.0, 1.0, bias, second_moment, steps, step=1 / math.sqrt(steps)))
    assert risk == pytest.approx(3.6e3, rel=0.03)
    # The rule that makes noise and gradient equal removes the fault.
    tight = BY_SLUG["upper.sco.cwme-explicit"].value(
        make_setting(10**9, d, order, ZCDP(rho=1.0), mean_gradient_bound=1.0, diameter=1.0)
    )
    assert tight < 0.15


def slow_coordinatewise_bound(n, d, k, radius, product, rho, tau):
    """Return the clipping bias, the bounds on the error's mean and second moment (the latter a
    function of the steps), and a step's noise, by Theorem 7.
    """
    m = 2 * math.ceil((4 * math.log(2 * d) + 8 * d * math.log(3 * n**3)) / 2)
    b = n // m
    t = 3 * tau - radius
    bias = (math.sqrt(1 + t * t) - t) / 2 if k == 2 else ((k - 1) / k) ** (k - 1) / k * t ** (1 - k)
    s = product * n**-3 * (math.sqrt(d) + 1) + math.sqrt(d) * (10 / math.sqrt(b) + bias)
    failure = (n**-3 / 3) ** d
    reach = 3 * tau * math.sqrt(d) + radius
    # The noise of a step is d sigma^2 with sigma^2 = d Delta^2 / (2 rho).
    step_noise = d * d * (3 * tau / b) ** 2 / (2 * rho)
    return s, s + failure * reach, lambda t: s**2 + failure * reach**2 + t * step_noise, step_noise


def slow_smoothed_bound(n, d, radius, product, rho, tau):
    """Return the same four parts as `slow_coordinatewise_bound`, for smoothing."""
    top = 2 * math.sqrt(2) / 3 * (2 * norm.cdf(1) - 1)
    failure = (n**-3 / 3) ** d
    v = math.sqrt(d + 2 * radius**2 + radius**4)
    logs = math.log(2) - (2 * d * math.log(n**-3 / 3) - math.log(d))
    s = product * n**-3 * (math.sqrt(2) + 1) + v / tau + math.sqrt(d) * tau * logs / n
    reach = tau * top * math.sqrt(d) + radius
    step_noise = d * 2 * top**2 * tau**2 * d / (rho * n**2)
    return s, s + failure * reach, lambda t: s**2 + failure * reach**2 + t * step_noise, step_noise


def slow_clipped_bound(n, d, p, moment, product, rho, radius, printed):
    """Return the same four parts as `slow_coordinatewise_bound`, for clipped norms; `printed` takes
    the paper's constant of the bias.
    """
    beta = 1 / n**2
    size = math.log(2 * 6**d * (1 + 2 * n) ** d / beta)
    sampling = max(math.sqrt(12 * moment**2 / n * size), 8 * radius / n * size)
    if printed:
        bias = d ** (p / 2) * moment**p / (p - 1) * radius ** (1 - p)
    else:
        kappa = (p - 1) ** (p - 1) / p**p
        bias = kappa * d ** ((p - 1) / 2) * moment**p * radius ** (1 - p)
    s = sampling + bias + 2 * product / n
    reach = radius + moment
    step_noise = 2 * d * radius**2 / (rho * n**2)
    return s, s + beta * reach, lambda t: s**2 + beta * reach**2 + t * step_noise, step_noise


def slow_risk(parts, diameter, gradient):
    """Return the risk of gradient descent whose gradients have the errors `parts`, from a start
    within the diameter.
    """
    _, bias, second_moment, step_noise = parts
    steps = max(1, math.floor(gradient**2 / step_noise))
    energy = gradient**2 + second_moment(steps)
    step = diameter / math.sqrt(2 * steps * energy)
    return diameter**2 / (2 * step * steps) + step * energy + diameter * bias


POINTS = [(50_000, 3, 2.0, 1.5, 0.7), (10**6, 10, 4.0, 0.4, 0.05), (3 * 10**5, 2, 3.5, 6.0, 4.0)]


@pytest.mark.parametrize(("n", "d", "k", "radius", "rho"), POINTS)
def test_the_uniform_oracles_agree_with_their_definitions(n, d, k, radius, rho):
    diameter, smoothness = 1.7, 0.9
    levels = np.geomspace(0.05, 3000, 1500)
    slow = {
        "cwme": [
            slow_coordinatewise_bound(n, d, k, radius, smoothness * diameter, rho, tau)
            for tau in (radius + levels) / 3
        ],
        "smoothed": [
            slow_smoothed_bound(n, d, radius, smoothness * diameter, rho, tau) for tau in levels
        ],
    }
    setting = make_setting(
        n,
        d,
        k,
        ZCDP(rho=rho),
        mean_gradient_bound=radius,
        diameter=diameter,
        sample_smoothness=smoothness,
        directional_moment=math.sqrt(d) + radius,
        minimum_interior=False,
    )
    moment = math.sqrt(d) + radius
    for printed, name in ((False, "clipped"), (True, "clipped-paper")):
        slow[name] = [
            slow_clipped_bound(n, d, k, moment, smoothness * diameter, rho, level, printed)
            for level in levels
        ]
    slugs = {"clipped-paper": "clipped-explicit-paper"}
    for name, parts in slow.items():
        smallest = min(slow_risk(part, diameter, radius) for part in parts)
        value = BY_SLUG[f"upper.sco.{slugs.get(name, name + '-explicit')}"].value(setting)
        assert value <= smallest * (1 + 1e-9), name
        assert value >= smallest * (1 - 5e-3), name  # The grid is fine and the minimum is flat.


def test_the_contraction_and_the_algebra_of_theorem_32_hold():
    assert contraction(1, 1) == 0.75
    for weak, strong in ((0.1, 3.0), (1.0, 1.0), (2.0, 2.5)):
        q = 1 - weak * strong / (weak + strong) ** 2
        assert contraction(weak, strong) == pytest.approx(q)
        assert 0.75 <= q < 1
        square = (weak + strong) ** 2
        expected = square / (2 * weak * strong * square - weak**2 * strong**2)
        assert variance_factor(weak, strong) == pytest.approx(expected)
        assert variance_factor(weak, strong) == pytest.approx(1 / (1 - q**2) / square)


@pytest.mark.parametrize(("weak", "strong"), [(1.0, 1.0), (0.2, 3.0)])
def test_minkowskis_bound_dominates_the_recursion(weak, strong):
    q, step = contraction(weak, strong), 1 / (weak + strong)
    diameter, deviation, steps = 1.3, 0.4, 9
    distance = diameter
    for _ in range(steps):
        distance = q * distance + step * deviation
    root = sum(strong_risk(diameter, weak, strong, deviation, steps))
    assert root**2 == pytest.approx(strong / 2 * distance**2)
    summed = sum(strong_risk_summed(diameter, weak, strong, deviation**2, steps))
    terms = [(q**steps * diameter) ** 2] + [(q**i * step * deviation) ** 2 for i in range(steps)]
    assert summed >= strong / 2 * (steps + 1) * math.fsum(terms)
    assert summed >= root**2


def test_the_prefactor_of_theorem_57_is_minkowskis():
    weak, strong, diameter, deviation = 0.5, 2.0, 3.0, 1e-3
    floor = (weak + strong) / (weak * strong) * deviation
    # This is the case q^T = floor of (M + 1)^2 (lambda + L)^2 G^2 / (2 lambda^2 L).
    risk = strong / 2 * (floor * diameter + floor) ** 2
    printed = (diameter + 1) ** 2 * (weak + strong) ** 2 / (weak**2 * strong) * deviation**2
    assert risk == pytest.approx(printed / 2)
    assert strong_factor(diameter, weak, strong) * deviation**2 == pytest.approx(printed)


def test_the_strongly_convex_noise_has_the_size_given_in_the_note():
    # The note takes n = 2e5, d = 5, k = 4, rho = 1, T = 16, tau = 10, m = 28, and finds (1/2)(1/3)
    # d sigma^2.
    d, steps, tau, m = 5, 16, 10, 28
    b = (200_000 // steps) // m
    for level, expected in ((1 / steps, 0.151), (1.0, 0.0094)):
        sigma2 = d * (3 * tau / b) ** 2 / (2 * level)
        assert d * sigma2 / 6 == pytest.approx(expected, rel=0.02)
    # One block is still better, and the bound at its best parameters is below the measured 0.010.
    assert best_risk(make_setting(200_000, 5, 4, ZCDP(rho=1.0)))[1][3] < 0.0094


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("summed", [True, False])
def test_the_strongly_convex_bound_agrees_with_brute_force(parallel, summed):
    n, d, k, diameter, radius, weak, strong, rho = 4000, 3, 3.0, 2.0, 1.5, 0.7, 1.1, 0.8
    best = math.inf
    for steps in range(1, 120):
        b = n // steps
        level = rho if parallel else rho / steps
        for tau in (radius + np.geomspace(0.1, 300, 400)) / 3:
            reach, t = 3 * tau, 3 * tau - radius
            kappa = ((k - 1) / k) ** (k - 1) / k
            bias = kappa**2 * ((d - 1) * reach ** (2 - 2 * k) + t ** (2 - 2 * k))
            bias += (math.sqrt(d) - 1) * radius * kappa**2 * (2 * k - 2) * reach ** (1 - 2 * k)
            second_moment = d / b + bias + d * d * (6 * tau / b) ** 2 / (2 * level)
            q = 1 - weak * strong / (weak + strong) ** 2
            if summed:
                a = second_moment / (1 - q**2) / (weak + strong) ** 2
                risk = strong / 2 * (steps + 1) * (q ** (2 * steps) * diameter**2 + a)
            else:
                floor = (weak + strong) / (weak * strong) * math.sqrt(second_moment)
                risk = strong / 2 * (q**steps * diameter + (1 - q**steps) * floor) ** 2
            best = min(best, risk)
    constants = {"strong_convexity": weak, "smoothness": strong, "mean_gradient_bound": radius}
    setting = make_setting(n, d, k, ZCDP(rho=rho), diameter=diameter, **constants)
    steps, parts = best_risk(setting, parallel, summed)
    assert math.fsum(parts) == pytest.approx(best, rel=2e-3)
    assert math.fsum(parts) <= best * (1 + 1e-9)
    assert parts == risk_at(setting, steps, parallel=parallel, summed=summed)
