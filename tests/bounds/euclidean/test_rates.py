"""Exact exponents, limits and identities of the rates of stochastic convex optimisation."""

import math
from dataclasses import replace

import pytest
from scipy.optimize import brentq

from dpsco_core.bounds.euclidean import (
    clipped,
    coordinatewise,
    lower_other,
    prior,
    smoothed,
    strong,
)
from dpsco_core.bounds.mean.clipped import CLIPPED
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP
from dpsco_core.statements.kamath import theorem_5_5_power
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting, with_constants

ORDERS = [2, 3, 4, 50]


def make_zcdp_setting(n, d, order, rho, diameter=1.0, **constants):
    """Return a setting under zCDP."""
    return make_setting(n, d, order, ZCDP(rho=rho), diameter=diameter, **constants)


def terms(rate, setting):
    """Return the terms of a rate."""
    return tuple(rate(setting).values())


def slopes(slug, term, order, axes, changes=None):
    """Return the exact slopes of a rate's term in logarithms, one per axis, for a step by the
    factor 8.
    """

    def case_at(axis, factor):
        """Return the setting in which the quantity of one axis is multiplied by a factor."""
        n, d = 10_000, 64
        rho, epsilon, diameter, unit = 0.5, 0.01, 2.0, 1.0
        n = int(n * factor) if axis == "n" else n
        d = int(d * factor) if axis == "d" else d
        rho = rho * factor if axis == "rho" else rho
        epsilon = epsilon * factor if axis == "epsilon" else epsilon
        diameter = diameter * factor if axis == "M" else diameter
        unit = factor if axis == "unit" else unit
        approx = "epsilon" in axes
        return make_setting(
            n,
            d,
            order,
            ApproxDP(epsilon=epsilon, delta=1e-6) if approx else ZCDP(rho=rho),
            **{
                "coordinate_moment": unit**order,
                "directional_moment": unit,
                "diameter": diameter,
                "lipschitz": 5.0 * unit,
                "mean_gradient_bound": math.inf,
                **(changes or {}),
            },
        )

    bound = BY_SLUG[slug]
    base = bound.terms(case_at("", 1))[term]
    return [math.log(bound.terms(case_at(axis, 8))[term] / base) / math.log(8) for axis in axes]


@pytest.mark.parametrize("k", ORDERS)
def test_the_private_terms_have_the_papers_exponents(k):
    a = 1 - 1 / k
    axes = ("n", "rho", "d", "M", "unit")
    expected = {
        "upper.sco.cwme": (-a, -a / 2, 2 - 1.5 / k, 1, 1),
        "upper.sco.smoothed": (-0.5, -0.25, 0.75, 1, 1),
        "upper.sco.prior-wang": (-1 / 3, -1 / 3, 1, 1, 1),
        "upper.sco.clipped": (-a, -a / 2, (1 + a) / 2, 1, 1),
        "upper.sco.clipped-logs": (-a, -a / 2, (1 + a) / 2, 1, 1),
        "upper.sco.clipped-directional": (-a, -a / 2, a, 1, 1),
        "upper.sco.iterative": (-a, -a / 2, (1 + a) / 2, 1, 1),
        "upper.sco.phased-sgd": (-1, -0.5, 0.5, 1, 1),
        "upper.sco.noisy-gd": (-1, -0.5, 0.5, 1, 1),
        "upper.sco.prior-bassily-2019": (-1, -0.5, 0.5, 1, 1),
        "upper.sco.prior-feldman-2020": (-1, -0.5, 0.5, 1, 1),
        "upper.sco.prior-bassily-2014-empirical": (-1, -0.5, 0.5, 1, 1),
        "upper.sco.prior-bassily-2014-strong": (-1, -0.5, 0.5, 0, 2),
        "upper.sco.prior-bassily-2014-strong-empirical": (-2, -1, 1, 0, 2),
        "upper.sco.prior-wang-strong": (-1, -1, 3, 0, 2),
        "lower.sco.rate-cdp": (-a, -a / 2, (1 + a) / 2, 1, 1),
        "lower.sco-strong.rate-cdp": (-2 * a, -a, 1 + a, 0, 2),
    }
    for slug, values in expected.items():
        assert slopes(slug, "privacy", k, axes) == pytest.approx(values, abs=1e-9), slug
    # The printed forms are not linear in the diameter M: theory/kamath-liu-zhang.md, 3.4.
    printed = slopes("upper.sco.cwme-paper", "privacy", k, axes)
    assert printed == pytest.approx((-a, -a / 2, 2 - 1.5 / k, a, 1), abs=1e-9)
    strong = slopes("upper.sco.cwme-strong", "privacy", k, ("n", "rho", "d", "unit"))
    assert strong == pytest.approx((-2 * a, -a, 1 + a, 2), abs=1e-9)
    tail = slopes("upper.sco.clipped", "sampling tail", k, axes)
    assert tail == pytest.approx((-a, 0, 1.5 - 1 / k, 1, 1), abs=1e-9)
    tail = slopes("upper.sco.clipped-directional", "sampling tail", k, axes)
    assert tail == pytest.approx((-a, 0, 1.5 * a, 1, 1), abs=1e-9)


def test_the_sampling_terms_have_the_papers_exponents():
    axes = ("n", "d", "M")
    expected = {
        "upper.sco.cwme": (-0.5, 1, 1),
        "upper.sco.cwme-paper": (-0.5, 1, 1),
        "upper.sco.smoothed": (-0.5, 1, 1),
        "upper.sco.clipped": (-0.5, 0.5, 1),
        "upper.sco.iterative": (-0.5, 0.5, 1),
        "upper.sco.sgd": (-0.5, 0, 1),
        "upper.sco.phased-sgd": (-0.5, 0, 1),
        "upper.sco.noisy-gd": (-0.5, 0.25, 1),
        "lower.sco.rate-cdp": (-0.5, 0.5, 1),
        "lower.sco-strong.rate-cdp": (-1, 1, 0),
    }
    for slug, values in expected.items():
        assert slopes(slug, "sampling", 3, axes) == pytest.approx(values, abs=1e-9), slug


@pytest.mark.parametrize("q", [0.5, 1.0, 1.3, 2.0])
def test_the_exponents_of_theorem_55_at_a_fixed_q(q):
    def rate_at(n, d, rho, m):
        """Return the printed rate of smoothing at these sizes."""
        return smoothed.printed_rate(make_zcdp_setting(n, d, 2, rho, m), q)

    base = rate_at(10_000, 64, 0.5, 2.0)
    for point, first_slope, second_slope in (
        ((80_000, 64, 0.5, 2.0), -0.5, -0.5),
        ((10_000, 512, 0.5, 2.0), (3 - q) / 2, (1 + q) / 2),
        ((10_000, 64, 4.0, 2.0), 0.0, -0.25),
        ((10_000, 64, 0.5, 16.0), 0.5, 0.5),
    ):
        slopes = [math.log(x / y) / math.log(8) for x, y in zip(rate_at(*point), base, strict=True)]
        assert slopes == pytest.approx([first_slope, second_slope], abs=1e-12)


@pytest.mark.parametrize(("d", "rho"), [(20, 0.5), (20, 1e-6), (300, 40.0), (2, 1e-3), (5, 1e9)])
def test_the_best_q_is_at_least_as_good_as_a_grid(d, rho):
    setting = make_zcdp_setting(10_000, d, 2, rho)
    best = sum(smoothed.printed_rate(setting))
    grid = [sum(smoothed.printed_rate(setting, 0.5 + 1.5 * i / 300)) for i in range(301)]
    assert best <= min(grid) * (1 + 1e-12)
    q = theorem_5_5_power(d, rho)
    if 0.5 < q < 2:  # Table I of Zhao et al. in closed form, at epsilon = sqrt(rho).
        assert best == pytest.approx(2 * d * rho ** (-1 / 8) / 100)
        sampling, privacy = smoothed.printed_rate(setting)
        assert sampling == pytest.approx(privacy)


def test_the_direct_optimum_is_the_least_over_tau():
    n, d, rho, m = 10**5, 30, 0.2, 1.7

    def value(tau):
        """Return the printed rate of smoothing at a smoothing scale tau."""
        return m * (d**1.5 * tau / n + math.sqrt(d) / tau + tau * d / (math.sqrt(rho) * n))

    best = math.sqrt(n / (d + math.sqrt(d / rho)))
    direct = math.hypot(*smoothed.rate(make_zcdp_setting(n, d, 2, rho, m)))
    assert direct == pytest.approx(value(best))
    assert all(direct <= value(best * f) for f in (0.5, 0.9, 0.999, 1.001, 1.1, 2))
    # The right-hand side takes one term from Theorem 5.5 at q = 1 and the private term of the lower
    # bound.
    assert direct <= 2 * m * (d / math.sqrt(n) + d**0.75 / (rho**0.25 * math.sqrt(n)))


def test_the_rates_match_table_one_of_zhao_et_al_row_by_row():
    n, d, epsilon, k = 10**6, 30, 0.3, 3.0
    setting = make_setting(n, d, k, ZCDP(rho=epsilon**2), diameter=1.0)
    a = 1 - 1 / k
    table = {
        "upper.sco.prior-wang": (d**3 / (epsilon**2 * n)) ** (1 / 3),
        "upper.sco.cwme": d / math.sqrt(n) + math.sqrt(d) * (d**1.5 / (epsilon * n)) ** a,
        "upper.sco.smoothed-paper": min(
            d ** ((3 - q) / 2) / math.sqrt(n) + d ** ((1 + q) / 2) / math.sqrt(epsilon * n)
            for q in (0.5 + 1.5 * i / 4000 for i in range(4001))
        ),
        "upper.sco.clipped": math.sqrt(d / n)
        + math.sqrt(d) * (math.sqrt(d) / (epsilon * n)) ** a
        + d ** (1.5 - 1 / k) / n**a,
        "upper.sco.iterative": math.sqrt(d / n)
        + math.sqrt(d) * (math.sqrt(d) / (epsilon * n)) ** a,
    }
    for slug, value in table.items():
        assert BY_SLUG[slug].value(setting) == pytest.approx(value, rel=1e-6), slug
    lower = BY_SLUG["lower.sco.rate-cdp"].value(with_constants(setting, diameter=2.0))
    assert lower == pytest.approx(table["upper.sco.iterative"])


def test_the_rates_match_the_tables_of_arora_et_al_and_su_et_al():
    n, d, rho = 10**4, 50, 0.04
    setting = make_setting(
        n, d, 3.0, ZCDP(rho=rho), diameter=3.0, lipschitz=2.0, strong_convexity=0.5
    )
    ld, private = 6.0, math.sqrt(d / rho) / n
    # At this epsilon every epsilon-DP release is rho-zCDP, at the cost epsilon tanh(epsilon/2).
    pure = brentq(lambda epsilon: epsilon * math.tanh(epsilon / 2) - rho, 0.01, 1.0)
    chi = math.sqrt(2) * math.gamma((d + 1) / 2) / math.gamma(d / 2)
    width = 1.5 * chi
    table = {
        "upper.sco.phased-sgd": ld * max(1 / math.sqrt(n), private),
        "upper.sco.prior-bassily-2019": ld * max(1 / math.sqrt(n), private),
        "upper.sco.prior-feldman-2020": ld * max(1 / math.sqrt(n), private),
        "upper.sco.noisy-gd": ld * max(d**0.25 / math.sqrt(n), private),
        "upper.sco.prior-bassily-2014-empirical": ld * private,
        "upper.sco.prior-bassily-2014-strong": 4 * private,
        "upper.sco.prior-bassily-2014-strong-empirical": 4 * private**2,
        "upper.sco.prior-talwar": 2 * width / (math.sqrt(rho) * n),
        "upper.sco.prior-talwar-strong": (2 * width / n) ** 2 / rho / 2.25,
        "upper.sco.prior-kasiviswanathan": 2 * math.sqrt(3 * width / (math.sqrt(rho) * n)),
        "upper.sco.prior-chaudhuri": ld
        * max(
            1 / math.sqrt(n),
            d / (n * pure),
            d / (n ** (2 / 3) * pure),
        ),
        "lower.sco.rate-lipschitz": ld * max(1 / math.sqrt(n), private),
    }
    for slug, value in table.items():
        assert BY_SLUG[slug].value(setting) == pytest.approx(value), slug


def test_private_sgd_has_the_papers_exponents():
    axes = ("n", "epsilon", "d", "M", "unit")
    for slug in ("upper.sco.private-sgd", "upper.sco.private-sgd-paper"):
        assert slopes(slug, "privacy", 3, axes) == pytest.approx((-1, -1, 0.5, 1, 1), abs=1e-9)
        assert slopes(slug, "sampling", 3, axes) == pytest.approx((-0.5, 0, 0, 1, 1), abs=1e-9)
    for slug in ("upper.sco.private-sgd-utility", "upper.sco.private-sgd-regret"):
        assert slopes(slug, "privacy", 3, ("d", "M", "unit"))[0] == pytest.approx(0.5)
        assert slopes(slug, "privacy", 3, ("d", "M", "unit"))[1:] == pytest.approx([1, 1])


def test_objective_perturbation_has_the_papers_exponents():
    axes = ("n", "epsilon", "M", "unit")
    rate = "upper.sco.objective-perturbation"
    assert slopes(rate, "privacy", 3, axes) == pytest.approx((-1, -1, 1, 1), abs=1e-9)
    assert slopes(rate, "sampling", 3, axes) == pytest.approx((-0.5, 0, 1, 1), abs=1e-9)
    for printed in (False, True):
        slug = rate + ("-strong-paper" if printed else "-strong")
        # Delta = lambda M^2/4, so both terms lose their two powers of M.
        assert slopes(slug, "privacy", 3, axes) == pytest.approx((-2, -2, 0, 2), abs=1e-9)
        expected = (-1, -1 if printed else 0, 0, 2)
        assert slopes(slug, "sampling", 3, axes) == pytest.approx(expected, abs=1e-9)
    width = "lower.sco-strong.width"
    assert slopes(width, "privacy", 3, axes) == pytest.approx((-2, -2, 1, 1), abs=1e-9)


def test_light_tails_give_the_rates_of_bounded_data():
    n, d, rho, k = 10**5, 30, 0.2, 1e9
    root = math.sqrt(rho) * n
    setting = make_zcdp_setting(n, d, k, rho)
    assert terms(coordinatewise.RATE, setting)[1] == pytest.approx(d**2 / root)
    wide = terms(coordinatewise.PRINTED_RATE, make_zcdp_setting(n, d, k, rho, 3.0))
    assert wide[1] == pytest.approx(3 * d**2 / root)
    squares = replace(strong.RATE, unit="")
    assert terms(squares, setting)[1] == pytest.approx(d**2 / root**2)
    assert terms(CLIPPED, setting)[1:] == pytest.approx((d / root, d**1.5 / n))
    assert terms(clipped.DIRECTIONAL_RATE, setting) == pytest.approx(terms(CLIPPED, setting))
    brackets = [
        terms(coordinatewise.RATE, make_zcdp_setting(n, d, k, rho))[1] for k in (2, 3, 5, 50)
    ]
    # The brackets decrease in k where they are below 1.
    assert brackets == sorted(brackets, reverse=True)


def test_the_identities_of_the_note_on_clipping_hold():
    n, d, k = 10**6, 64, 3.0
    setting = make_zcdp_setting(n, d, k, 0.5)
    _, private, tail = terms(CLIPPED, setting)
    assert private / tail == pytest.approx((math.sqrt(d * 0.5)) ** -(1 - 1 / k))
    pairs = zip(terms(CLIPPED, setting), terms(clipped.DIRECTIONAL_RATE, setting), strict=True)
    ratio = [x / y for x, y in pairs]
    assert ratio == pytest.approx([1, d ** (1 / (2 * k)), d ** (1 / (2 * k))])
    # At p = 2 and n >= d, terms 1 and 3 are at most d/sqrt(n), and term 2 is at most that of method
    # 1.
    for n, d, k in ((1000, 30, 2), (10**6, 900, 3.0), (50, 50, 8.0)):
        sampling_term, private_term, square_term = terms(CLIPPED, make_zcdp_setting(n, d, k, 0.3))
        sampling, private = terms(coordinatewise.RATE, make_zcdp_setting(n, d, k, 0.3))
        assert max(sampling_term, square_term) <= sampling * (
            1 + 1e-12
        ) and private_term <= private * (1 + 1e-12)


def test_a_zero_privacy_budget_makes_every_private_rate_infinite():
    setting = make_setting(10, 2, 3, PureDP(epsilon=1.0))
    assert terms(coordinatewise.RATE, setting)[1] == math.inf
    assert terms(coordinatewise.PRINTED_RATE, setting)[1] == math.inf
    assert smoothed.rate(setting)[1] == math.inf
    assert smoothed.printed_rate(setting)[1] == math.inf
    assert set(terms(strong.RATE, setting)) == {math.inf}
    assert terms(smoothed.WANG, setting) == terms(smoothed.WANG_STRONG, setting) == (math.inf,)
    assert terms(clipped.DIRECTIONAL_RATE, setting)[1] == math.inf
    assert set(prior.OPTIMAL(setting).values()) == {math.inf}


def test_the_probability_rate_adds_its_logarithms():
    n, d, k, rho, m, smooth, beta = 10**6, 10, 3, 0.5, 2.0, 3.0, 0.05
    size = math.log(m * d * n / beta)
    setting = make_zcdp_setting(n, d, k, rho, m, sample_smoothness=smooth)
    plain = terms(coordinatewise.PRINTED_RATE, setting)
    assert coordinatewise.probability_rate(setting, beta) == pytest.approx(
        (plain[0] * math.sqrt(size), plain[1] * size, size * m * smooth * d**1.5 / n**3)
    )


def test_the_claimed_and_the_quoted_rate_have_their_logarithms():
    n, d, k, epsilon, delta = 10**6, 10, 3, 0.5, 1e-6
    private = math.sqrt(d) * (math.sqrt(d) / (n * epsilon)) ** (1 - 1 / k) * math.log(1 / delta)
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    setting = make_setting(n, d, k, budget)
    claimed = terms(replace(clipped.ITERATIVE_WITH_LOGS, unit=""), setting)
    assert claimed == pytest.approx((math.sqrt(d / n), private * math.log(n * d)))
    quoted = terms(replace(lower_other.QUOTED, unit=""), setting)
    assert quoted == pytest.approx((math.sqrt(d / n), private))
    assert BY_SLUG["lower.sco.rate-quoted"].value(setting) == pytest.approx(sum(quoted))
    assert BY_SLUG["upper.sco.iterative-logs"].value(setting) == pytest.approx(2 * sum(claimed))
