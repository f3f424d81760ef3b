"""Hinge and logistic losses on the simplex: values, a second evaluation, and attacks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from dpsco_core.bounds.instances.level import Level
from dpsco_core.bounds.losses.corner_labels import (
    CORNER_RISKS,
    CornerBounds,
    linear_excess,
    logistic_excess,
    missed,
)
from dpsco_core.catalogue import bound
from dpsco_core.data import CornerLabels
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.geometry.simplex import Simplex
from dpsco_core.privacy.budget import ZCDP, ApproxDP, concentrated_rho
from dpsco_core.problems import Hinge, Logistic
from dpsco_core.scenario import Scenario
from tests.bound_marks import second_implementation_of
from tests.bounds.euclidean.helpers import make_setting as risk_setting

RHO = concentrated_rho(ApproxDP(epsilon=1.0, delta=1e-6))
S1, S2, S3 = (10_000, 20, 2.0), (10_000, 200, 4.0), (2000, 30, 2.2)
LOSSES: dict[str, Any] = {"hinge": linear_excess, "logistic": logistic_excess}


def bounds_at(sizes: tuple[int, int, float], level: Level, problem: str) -> CornerBounds:
    """Return the lower bounds by labelled corners at sizes (n, d, moment order), for a problem's
    loss.
    """
    n, d, order = sizes
    return CornerBounds(n=n, d=d, moment_order=order, level=level, loss=LOSSES[problem])


@pytest.mark.parametrize(
    ("sizes", "level", "problem", "value"),
    [
        (S1, RHO, "hinge", 0.01458),
        (S2, 0.5, "hinge", 0.001006),
        (S3, 0.2, "hinge", 0.01519),
        (S1, (1.0, 1e-6), "hinge", 0.00956),
        (S2, (1.0, 1e-6), "hinge", 0.001975),
        (S3, (math.sqrt(0.4), 1e-5), "hinge", 0.02248),
        (S1, RHO, "logistic", 0.01425),
        (S2, 0.5, "logistic", 0.000892),
        (S3, 0.2, "logistic", 0.01452),
        (S1, (1.0, 1e-6), "logistic", 0.00942),
    ],
    ids=str,
)
def test_the_simplex_bounds_have_the_values_of_their_note(
    sizes: tuple[int, int, float], level: Level, problem: str, value: float
) -> None:
    bounds = bounds_at(sizes, level, problem)
    digit = 10.0 ** (math.floor(math.log10(value)) - 2)
    assert bounds.value_at(bounds.best()) == pytest.approx(value, abs=0.6 * digit)


def plain_missed(d: int, level: Level, b: int) -> float:
    """Return the least chance to name a wrong one of d corners with b spikes, by Brent's method on
    the binary divergence.
    """
    if isinstance(level, tuple):
        epsilon, delta = level
        growth = math.exp(epsilon * b)
        loss = delta * (growth - 1) / (math.exp(epsilon) - 1)
        return max(0.0, 1 - (growth + (d - 1) * loss) / (growth + d - 1))
    kappa, g = level * b * b, 1 / d
    if b == 0:
        return 1 - g

    def excess(x: float) -> float:
        """Return the divergence of a success chance x from a guess's chance g, less what the budget
        allows.
        """
        ratio = math.log(x / g) - math.log1p(-x) + math.log1p(-g)
        return (x - g) * ratio - kappa * (1 - g)

    threshold = brentq(excess, g, 1 - 1e-15, xtol=1e-14) if excess(1 - 1e-15) > 0 else 1.0
    orders = math.exp(-(max(0.0, math.sqrt(math.log(d)) - math.sqrt(kappa)) ** 2))
    return 1 - min(float(threshold), orders)


def plain(n: int, d: int, order: float, level: Level, problem: str, q: float) -> float:
    """Return the corner bound at a spike probability q, as a sum over the number b of spikes."""
    size = q ** (-1 / order)
    terms = []
    for b in range(n + 1):
        a = size * plain_missed(d, level, b)
        loss = a if problem == "hinge" else math.log((1 + math.exp(a)) / 2)
        terms.append(binom.pmf(b, n, q) * loss)
    return q * math.fsum(terms)


@second_implementation_of(
    "lower.sco.hinge-corners-cdp",
    "lower.sco.hinge-corners-approx",
    "lower.sco.logistic-corners-cdp",
    "lower.sco.logistic-corners-approx",
)
@pytest.mark.parametrize("problem", list(LOSSES))
@pytest.mark.parametrize("level", [0.3, (0.8, 1e-4)], ids=["cdp", "approx"])
def test_the_simplex_by_sums_over_every_count(level: Level, problem: str) -> None:
    """The test fails for words e_J of half the length, for 2 d words, and for a bound at the mean
    of B^2.
    """
    n, d, order = 60, 7, 3.0
    budget = ZCDP(rho=level) if isinstance(level, float) else ApproxDP(epsilon=0.8, delta=1e-4)
    setting = replace(
        risk_setting(n=n, d=d, order=order, budget=budget, mean_gradient_bound=math.inf),
        constraint=Geometry(kind="simplex").constraint(d, 1.0),
    )
    row = bound(f"lower.sco.{problem}-corners-{'cdp' if isinstance(level, float) else 'approx'}")
    best = max(plain(n, d, order, level, problem, q) for q in np.geomspace(2e-3, 0.5, 60))
    assert best * (1 - 3e-3) <= row.value(setting) <= best * 1.01
    assert row.failures(setting) == ()
    fixed = row.value(replace(setting, spike_probability=0.05))
    assert fixed == pytest.approx(plain(n, d, order, level, problem, 0.05), rel=1e-5)
    assert row.refusal(replace(setting, constraint=None))


@pytest.mark.parametrize("problem", [Hinge, Logistic])
def test_the_law_has_margins_of_one_sign_and_its_risk_is_that_of_its_sample(problem: Any) -> None:
    d, n = 6, 40_000
    law = CornerLabels(d=d, moment_order=3.0, spike_probability=0.3)
    problem_on_law = problem(
        features=law, radius=2.0, offset=0.0, geometry=Geometry(kind="simplex")
    )
    problem_on_law = problem_on_law.draw(np.random.default_rng(3))
    sample = problem_on_law.sample(n, np.random.default_rng(4))
    signs = np.where(sample.targets == problem_on_law.classes[1], 1.0, -1.0)
    spiked = np.abs(sample.features.x).max(axis=1) > 0
    rng = np.random.default_rng(5)
    place = int(np.flatnonzero(law.draw(np.random.default_rng(3)).signs > 0)[0])
    size = 0.3 ** (-1 / 3)
    for w in (*2.0 * rng.dirichlet(np.ones(d), size=5), 2.0 * np.eye(d)[place]):
        margins = signs * (sample.features.x @ w)
        assert np.all(margins[spiked] <= 1e-12)
        missing = size * (2.0 - w[place])
        loss = missing if problem is Hinge else math.log((1 + math.exp(missing)) / 2)
        assert problem_on_law.excess_risk(w).value == pytest.approx(0.3 * loss, abs=1e-12)
        losses = problem_on_law.link.value(sample.features.x @ w, sample.targets)
        losses -= problem_on_law.link.value(
            sample.features.x @ problem_on_law.minimiser, sample.targets
        )
        error = 6 * losses.std() / math.sqrt(n)
        assert abs(losses.mean() - 0.3 * loss) <= error + 1e-12
    assert problem_on_law.minimiser[place] == 2.0


def least_excess_ratio(seed: int, draws: int) -> float:
    """Return the least ratio of measured excess to the bound, of corners that private mechanisms
    draw.
    """
    rng = np.random.default_rng(seed)
    n, d = int(10 ** rng.uniform(0.5, 3)), int(rng.integers(2, 40))
    level: Level = float(10 ** rng.uniform(-4, 1))
    if rng.random() < 0.5:
        level = (float(10 ** rng.uniform(-1.3, 0.7)), float(rng.choice([0, 1e-6, 1e-3])))
    problem = ("hinge", "logistic")[rng.integers(2)]
    bounds = bounds_at((n, d, float(rng.uniform(2, 10))), level, problem)
    q = min(1.0, bounds.best() * float(10 ** rng.uniform(-0.7, 0.7)))
    value, size = bounds.value_at(q), q ** (-1 / bounds.moment_order)
    counts = rng.binomial(n, q, size=draws).astype(float)
    # The mechanisms are the exponential mechanism on the number of votes, and noisy votes.
    strength = level[0] if isinstance(level, tuple) else math.sqrt(8 * level)
    lift = np.exp(np.minimum(strength * counts / 2, 500.0))
    hits = [lift / (lift + d - 1)]
    if isinstance(level, float):
        noise = rng.standard_normal((draws, d)) / math.sqrt(level)
        noise[:, 0] += counts
        hits.append((noise.argmax(axis=1) == 0).astype(float))
    best = math.inf
    for hit in hits:
        # An answer may also be an average of corners: of all that could be drawn, and of one drawn
        # corner.
        losses = q * bounds.loss(size * (1 - hit))
        error = losses.std() / math.sqrt(draws)
        assert losses.mean() + 6 * error >= value * (1 - 1e-9), (seed, n, d, level, q)
        best = min(best, float(losses.mean()) / value) if value > 0 else best
    return best


def test_no_private_corner_beats_the_bound_at_100_settings() -> None:
    assert 0.9 < min(least_excess_ratio(seed, 2000) for seed in range(100)) < 1.3


@pytest.mark.slow
def test_no_private_corner_beats_the_bound_at_1500_settings() -> None:
    assert 0.9 < min(least_excess_ratio(seed, 2000) for seed in range(1000, 2500)) < 1.2


def test_the_chance_of_a_miss_falls_with_the_number_of_spikes() -> None:
    counts = np.arange(60.0)
    for d in (2, 20, 500):
        for level in (0.02, 2.0, (0.1, 1e-5), (3.0, 0.0)):
            left = missed(d, level, counts)
            assert left[0] == pytest.approx(1 - 1 / d)
            assert np.all(np.diff(left) <= 1e-12)


def test_a_simplex_of_one_corner_has_no_bound_with_a_reason() -> None:
    for row in CORNER_RISKS:
        scenario = Scenario(problem="hinge", geometry="simplex", d=3, methods=()).setting
        if row.card.privacy == "zcdp":
            scenario = replace(scenario, budget=ZCDP(rho=0.1))
        point = replace(scenario, d=1, constraint=Simplex(d=1, radius=1.0))
        assert "a simplex of two corners or more" in " ".join(row.failures(point))
        assert not row.value(point) > 0
