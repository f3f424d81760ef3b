"""Bounds for losses whose Lipschitz constants have moments, against plain formulas."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from dpsco_core.bounds.euclidean.lipschitz_moments import crossing
from dpsco_core.bounds.instances.leakage import approximate_leakage
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP
from dpsco_core.problems.base import Setting
from dpsco_core.scenario import Scenario
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting
from tests.folded import one_in

UPPER = BY_SLUG["upper.sco.prior-asi-liu-tian"]
CDP = BY_SLUG["lower.sco.lipschitz-moments-cdp"]
APPROX = BY_SLUG["lower.sco.lipschitz-moments-approx"]


def random_settings(count: int, seed: int, kinds: tuple[str, ...]) -> Iterator[Setting]:
    """Yield settings of any size whose two moments are in the order of roots of moments."""
    source = random.Random(seed)
    for _ in range(count):
        strength = 10 ** source.uniform(-3, 1)
        budget = {
            "zcdp": ZCDP(rho=strength),
            "approx": ApproxDP(epsilon=strength, delta=10 ** source.uniform(-9, -3)),
            "pure": PureDP(epsilon=strength),
        }[source.choice(kinds)]
        order = source.choice([2.0, 2.5, 3.0, 4.0, 10.0])
        second_moment = 10 ** source.uniform(-1, 1)
        yield make_setting(
            int(10 ** source.uniform(1, 7)),
            source.choice([1, 2, 5, 16, 40, 200]),
            order,
            budget,
            diameter=10 ** source.uniform(-1, 1),
            lipschitz_second=second_moment,
            lipschitz_moment=second_moment * (1 if order == 2 else 10 ** source.uniform(0, 1)),
        )


def norm_of_nonzero_record(setting: Setting, q: float) -> float:
    """Return the norm of a record other than 0 at spike probability q, which both moments limit."""
    c = setting.constants
    return min(
        c.lipschitz_second / math.sqrt(q), c.lipschitz_moment / q ** (1 / setting.moment_order)
    )


def plain_sampling_bound(setting: Setting) -> float:
    """Return the lower bound from records of a random sign with a bias, by plain loops over counts
    and biases.
    """
    best = 0.0
    counts = np.arange(setting.n + 1)
    for tau in np.linspace(0.2, 3, 57) / math.sqrt(setting.n):
        if tau <= 1:
            upward, downward = (binom.pmf(counts, setting.n, (1 + s * tau) / 2) for s in (1, -1))
            v = float(np.sum(2 * upward * downward / np.maximum(upward + downward, 1e-300)))
            best = max(best, tau / (1 + tau) * (1 - math.sqrt(max(0.0, 1 - v))))
    return best * min(setting.constants.lipschitz_second, setting.constants.lipschitz_moment)


def wrong_sign_fraction(y: float) -> float:
    """Return h^-1(ln 2 - y), the inverse of binary entropy, by a root search."""
    left = math.log(2) - y
    if left <= 0:
        return 0.0
    return float(brentq(lambda x: -x * math.log(x) - (1 - x) * math.log1p(-x) - left, 1e-300, 0.5))


def yield_extreme_settings(budget: Any) -> Iterator[Setting]:
    """Yield settings where the second moment limits the best spike, and where the p-th one does."""
    for n, d, order, ratio in (
        (400, 5, 3.0, 1.5),
        (400, 5, 3.0, 1.02),
        (2000, 40, 4.0, 2.0),
        (50, 16, 4.0, 1.3),
        (300, 2, 2.0, 1.0),
        (8, 3, 2.5, 4.0),
    ):
        yield make_setting(
            n, d, order, budget, diameter=3.0, lipschitz_second=0.7, lipschitz_moment=0.7 * ratio
        )


@pytest.mark.parametrize("rho", one_in(2, [0.003, 0.2]))
def test_the_cdp_bound_from_its_formula(rho: float) -> None:
    sides = set()
    for setting in yield_extreme_settings(ZCDP(rho=rho)):
        table = [
            wrong_sign_fraction(min(1.0, rho * b * b / setting.d)) for b in range(setting.n + 1)
        ]

        def value(q: float, setting: Setting = setting, table: list[float] = table) -> float:
            """Return the bound at spike probability q."""
            return (
                norm_of_nonzero_record(setting, q)
                * q
                * 2
                * float(binom.pmf(range(setting.n + 1), setting.n, q) @ table)
            )

        grid = np.geomspace(1e-6, 1, 300)
        best = max(grid, key=value)
        fine = max(value(q) for q in best * np.linspace(0.95, 1.05, 81) if q <= 1)
        sides.add(best < crossing(setting) * 0.9)
        terms = CDP.terms(setting)
        assert terms["privacy"] == pytest.approx(1.5 * fine, rel=2e-3)
        assert terms["sampling"] == pytest.approx(1.5 * plain_sampling_bound(setting), rel=2e-2)
        assert CDP.value(setting) == max(terms.values())
    assert sides == {True, False}


@pytest.mark.parametrize(("epsilon", "delta"), one_in(2, [(1.0, 1e-4), (0.1, 1e-6)]))
def test_the_approx_bound_from_its_formula(epsilon: float, delta: float) -> None:
    """The test evaluates every form of bound (T3) on a grid of parameters."""
    for setting in yield_extreme_settings(ApproxDP(epsilon=epsilon, delta=delta)):
        n, d = setting.n, setting.d
        leakage = approximate_leakage(epsilon, delta, d)
        best = 0.0
        for u in np.geomspace(0.3, 200, 70):
            s = math.sqrt(d / (1 + u))
            largest_gain = 1 - u / (d * (u + 3))
            gained = d * u / (1 + u) - 1
            loss = 2 * d * u / ((1 + u) ** 2 * (u + 3))
            gain = gained * max(0.0, 1 - loss / (2 * gained**2)) ** 2 if gained > 0 else 0.0
            for q in np.geomspace(1e-5, 1, 100):
                kappa = n * q * leakage.kappa(d)
                alpha = 2 * gain / (kappa + math.sqrt(kappa**2 + 4 * u * gain)) if gain else 0.0
                y = min(kappa / (u * s), math.sqrt(max(0.0, 1 - (alpha / s) ** 2)))
                for c, e in leakage.pairs:
                    x = n * q * c / (u * s)
                    eta = n * q * e * math.sqrt(d) * (1 + math.sqrt(1 + u)) / (u * s)
                    y = min(y, eta + x / math.sqrt(1 + x * x))
                best = max(
                    best,
                    1.5
                    * norm_of_nonzero_record(setting, q)
                    * q
                    / math.sqrt(d)
                    * s
                    * (largest_gain - y),
                )
        value = APPROX.terms(setting)["privacy"]
        assert value > 0
        assert best <= value * 1.002
        assert value <= best * 1.03


def test_the_hard_records_have_the_two_moments_at_every_spike_probability() -> None:
    for setting in random_settings(300, 1, ("zcdp",)):
        c = setting.constants
        for q in np.geomspace(1e-8, 1, 40):
            size = norm_of_nonzero_record(setting, q)
            assert q * size**2 <= c.lipschitz_second**2 * (1 + 1e-12)
            assert q * size**setting.moment_order <= c.lipschitz_moment**setting.moment_order * (
                1 + 1e-12
            )
        edge = crossing(setting)
        p = setting.moment_order
        assert edge == 1 or c.lipschitz_second * edge**0.5 == pytest.approx(
            c.lipschitz_moment * edge ** (1 - 1 / p)
        )


@pytest.mark.parametrize("count", one_in(2, [40, 400]))
def test_the_lower_bound_has_the_printed_closed_form(count: int) -> None:
    """The forms are 0.088 M G_p x^(1-1/p), x = sqrt(d/rho)/n, and 0.118 M G_2/sqrt(n)."""
    compared = 0
    for setting in random_settings(count, 2, ("zcdp",)):
        c, terms = setting.constants, CDP.terms(setting)
        x = math.sqrt(setting.d / setting.rho) / setting.n
        power = 1 - 1 / setting.moment_order
        assert terms["sampling"] >= 0.118 * c.diameter * c.lipschitz_second / math.sqrt(setting.n)
        if 0.36 * x <= crossing(setting):
            closed_form = 0.088 * c.diameter * c.lipschitz_moment * min(1.0, x) ** power
            assert terms["privacy"] >= closed_form
            compared += 1
    assert compared > count / 4


@pytest.mark.parametrize("count", one_in(2, [30, 2000]))
def test_no_lower_bound_of_the_class_exceeds_the_rate_or_an_answer_without_data(count: int) -> None:
    """The centre of the set errs by at most G_2 M/2 on every law."""
    for setting in random_settings(count, 3, ("zcdp", "approx", "pure")):
        c = setting.constants
        centre_risk = c.lipschitz_second * c.diameter / 2
        rate = UPPER.value(setting)
        if isinstance(setting.budget, PureDP):
            assert math.isinf(rate)
        for lower in (CDP, APPROX):
            value = lower.value(setting)
            if not lower.failures(setting):
                assert 0 < value <= centre_risk, (lower.card.slug, setting)
                assert value <= rate, (lower.card.slug, setting)


def test_the_rate_is_the_one_stated_in_the_abstract() -> None:
    setting = make_setting(400, 25, 3.0, ZCDP(rho=0.25), lipschitz_second=2.0, lipschitz_moment=3.0)
    sampling, privacy = UPPER.terms(setting).values()
    assert sampling == pytest.approx(2.0 * 2.0 / 20)
    assert privacy == pytest.approx(2.0 * 3.0 * (5 / (0.5 * 400)) ** (2 / 3))
    assert UPPER.value(setting) == sampling + privacy


@pytest.mark.parametrize("count", one_in(2, [8, 60]))
def test_more_moments_never_lower_the_bound_and_the_units_are_those_of_the_loss(count: int) -> None:
    for setting in random_settings(count, 4, ("zcdp", "approx")):
        c = setting.constants
        for lower in (CDP, APPROX):
            value = lower.value(setting)
            wider = replace(c, lipschitz_moment=1.3 * c.lipschitz_moment)
            assert lower.value(replace(setting, constants=wider)) >= value * (1 - 1e-4)
            scaled_constants = replace(
                c,
                lipschitz_second=3 * c.lipschitz_second,
                lipschitz_moment=3 * c.lipschitz_moment,
                diameter=2 * c.diameter,
            )
            assert lower.value(replace(setting, constants=scaled_constants)) == pytest.approx(
                6 * value
            )


def test_without_certified_moments_the_bounds_have_no_value() -> None:
    setting = make_setting(lipschitz_moment=math.inf)
    assert "no moment of order p=4 of the Lipschitz constants" in UPPER.failures(setting)[0]
    assert UPPER.value(setting) == math.inf
    for lower in (CDP, APPROX):
        assert lower.value(setting) == 0.0
        assert lower.failures(setting) == UPPER.failures(setting)
    assert APPROX.failures(make_setting(budget=ZCDP(rho=1.0)))
    assert (
        APPROX.value(make_setting(budget=ZCDP(rho=1.0)))
        == APPROX.terms(setting := make_setting())["sampling"]
    )
    assert setting.spike_probability is None


@pytest.mark.parametrize(
    "problem",
    ["linear", "quadratic", "logistic", "hinge", "absolute", "huber", "least-squares"],
)
def test_every_problem_with_heavy_records_certifies_both_moments(problem: str) -> None:
    """The smoothness of a single record is unbounded there, which rules out the smooth theorems."""
    setting = Scenario(problem=problem, methods=(), p=3.0, epsilon=1.0, delta=1e-6).setting
    c = setting.constants
    assert math.isinf(c.lipschitz)
    assert 0 < c.lipschitz_second <= c.lipschitz_moment < math.inf
    assert UPPER.failures(setting) == CDP.failures(setting) == APPROX.failures(setting) == ()
    if problem == "logistic":
        assert math.isinf(c.sample_smoothness)
