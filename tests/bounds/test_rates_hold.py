"""Rates against proven bounds of their class: no power of n, d or the budget is missing.

A rate has a hidden constant, so it may lie somewhat on the wrong side of a proven bound. At the
extremes of the range, n to 10^9, d to 4096, rho from 1e-6 to 1e5, a missing power is a factor of
hundreds.
"""

import itertools
import math

import pytest

from dpsco_core.bounds.euclidean.rows import LOWER_SCO_BOUNDS
from dpsco_core.catalogue import BOUNDS
from dpsco_core.privacy.budget import ZCDP, ApproxDP
from dpsco_core.scenario import Scenario
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting

HIDDEN = 2.0  # A rate, whose constant is taken as 1, may be on the wrong side by this factor.
RISKS = ("l2 error", "excess risk")
UPPER_RATES = [
    b
    for b in BOUNDS
    if b.card.kind == "upper" and b.card.constant == "rate" and b.card.quantity in RISKS
]
PROVEN = [b for b in BOUNDS if b.card.kind == "lower" and b.card.constant == "explicit"]
# The algorithms of one kind of privacy to which a lower bound for another kind applies.
BINDS = {
    "none": ("none", "approx", "zcdp", "pure"),
    "zcdp": ("zcdp", "approx"),
    "pure": ("pure",),
    "approx": ("approx", "zcdp", "pure"),
}
BUDGETS = (
    {"epsilon": 1e-3, "delta": 1e-12},
    {"epsilon": 0.9, "delta": 1e-3},
    {"epsilon": 400.0, "delta": 1e-12},
    {"epsilon": 1e-3, "delta": 0.0},
    {"epsilon": 50.0, "delta": 0.0},
    {"rho": 1e-6},
    {"rho": 1.0},
    {"rho": 1e5},
)


@pytest.mark.parametrize("problem", ["mean", "linear", "quadratic"])
def test_no_upper_rate_is_below_a_proven_lower_bound_of_its_class(problem):
    """The comparison is on the laws of the lower bounds; the strongly convex class uses the
    quadratic loss.
    """
    quantity = "l2 error" if problem == "mean" else "excess risk"
    curvature = {"mean": "mean", "linear": "convex", "quadratic": "strongly convex"}[problem]
    method = "mean.sample" if problem == "mean" else "sco.sgd"
    compared = set()
    for budget, n, d in itertools.product(BUDGETS, (4, 1000, 10**9), (1, 64, 4096)):
        scenario = Scenario(
            problem=problem, distribution="hypercube", methods=(method,), n=n, d=d, p=2.0, **budget
        ).setting
        lower = [
            (b, b.value(scenario))
            for b in PROVEN
            if b.card.loss_class.curvature == curvature
            and b.card.quantity == quantity
            and not b.failures(scenario)
        ]
        for upper in UPPER_RATES:
            card = upper.card
            if card.quantity != quantity or (problem != "mean" and problem not in card.problems):
                continue
            value = upper.value(scenario)
            if math.isinf(value) or upper.failures(scenario):
                continue
            for bound, smallest in lower:
                if card.privacy in BINDS[bound.card.privacy]:
                    compared.add(card.slug)
                    assert HIDDEN * value >= smallest, (card.slug, bound.card.slug, n, d, budget)
    assert len(compared) >= 7


@pytest.mark.parametrize("name", ["wang", "wang-strong", "bassily-2014-strong"])
def test_a_rate_without_a_term_for_sampling_is_for_small_budgets(name):
    """Without privacy such a rate would be 0, below every bound on learning from n records."""
    bound = BY_SLUG[f"upper.sco.prior-{name}"]
    assert not bound.failures(make_setting(10**6, 5, 2.0, ZCDP(rho=1.0)))
    failures = bound.failures(make_setting(10**6, 5, 2.0, ZCDP(rho=100.0)))
    assert len(failures) == 1
    assert "needs rho <= 1, and rho=100." in failures[0]
    assert bound.value(make_setting(100, 1, 2.0, ZCDP(rho=1e12))) < 1e-3 / math.sqrt(100)


def test_the_lower_rate_by_width_states_where_it_exceeds_every_risk():
    """Theorem 5 of Su et al. (2023) has no cap: with few records it exceeds L M."""
    bound = BY_SLUG["lower.sco-strong.width"]
    compared = 0
    for n, d, epsilon, delta in itertools.product(
        (1, 5, 20, 100), (1, 16, 500, 10**5), (0.01, 0.3, 1.0), (1e-12, 1e-6, 1e-3, 0.05)
    ):
        setting = make_setting(
            n,
            d,
            3.0,
            ApproxDP(epsilon=epsilon, delta=delta),
            strong_convexity=0.2,
            sample_strong_convexity=0.2,
        )
        risk = setting.constants.lipschitz * setting.constants.diameter / 2
        if bound.value(setting) > risk:
            assert any("no cap where n is small" in s for s in bound.failures(setting))
        elif not bound.failures(setting):
            compared += 1
    assert compared > 0


def test_no_lower_rate_exceeds_the_risk_of_the_centre():
    """A lower rate has a hidden constant of at most 1, so the rate is at most L M, or R M/2."""
    rates = [b for b in LOWER_SCO_BOUNDS if b.card.constant == "rate"]
    budgets = (
        ApproxDP(epsilon=0.01, delta=1e-6),
        ApproxDP(epsilon=1.0, delta=1e-3),
        ZCDP(rho=1e-6),
    )
    for n, d, budget in itertools.product((1, 5, 100, 10**6), (1, 16, 10**4), budgets):
        setting = make_setting(n, d, 3.0, budget, strong_convexity=0.2, sample_strong_convexity=0.2)
        c = setting.constants
        for bound in rates:
            if not bound.failures(setting):
                largest = max(c.lipschitz * c.diameter, c.mean_gradient_bound * c.diameter / 2)
                assert bound.value(setting) <= largest * (1 + 1e-9), bound.card.slug


def test_the_reduced_rate_in_lq_needs_gradients_of_the_size_of_their_spread():
    """Kamath et al. (2022) need R <= 10 in units of the moment; without spread there is no rate."""
    bound = BY_SLUG["upper.lp.euclidean-reduction"]
    budget = ApproxDP(epsilon=0.5, delta=1e-6)
    assert not bound.failures(make_setting(budget=budget))
    for spread in (0.0, 0.01):
        setting = make_setting(budget=budget, variance_trace=spread**2)
        assert any("at most 10 sigma" in s for s in bound.failures(setting))
