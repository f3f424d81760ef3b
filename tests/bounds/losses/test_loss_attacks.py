"""No private answer on the instances of a loss beats its bounds, at random settings.

Answers know the features, which targets reveal a sign, and the size of the margins, as the proofs
allow. A private sum of the revealed signs is released (Gaussian noise under zCDP; Laplace noise or
randomised response under pure and (epsilon, delta) budgets), and the answer is the best one given
the posterior. An answer beats a bound if its mean excess lies six standard errors below it (1e-9
each).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from dpsco_core.bounds.instances.level import Level
from dpsco_core.bounds.losses.one_hot import OneHotBounds
from dpsco_core.bounds.losses.signs import unlearnt_share
from dpsco_core.data import OneHot
from dpsco_core.data.hidden.one_hot import Corner
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.problems import Absolute, Hinge, Huber, Logistic

Floats = NDArray[np.float64]
PROBLEMS: tuple[Any, ...] = (Absolute, Huber, Hinge, Logistic)
SIX = 6.0


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A setting, and an instance of a problem at that setting."""

    problem: Any
    bounds: OneHotBounds
    s: float
    z: float
    value: float  # The bound on the excess risk at this setting.


def random_attack(rng: np.random.Generator) -> Attack:
    """Return an attack on the bound of a random problem, size and budget."""
    problem = PROBLEMS[rng.integers(len(PROBLEMS))]
    n, d = int(10 ** rng.uniform(0.5, 3.3)), int(rng.integers(1, 13))
    level: Level = float(10 ** rng.uniform(-4, 1.3))
    if rng.random() < 0.5:
        level = (float(10 ** rng.uniform(-1.3, 0.7)), float(rng.choice([0, 1e-6, 1e-3, 1e-2])))
    bounds = OneHotBounds(
        n=n,
        moment_order=float(rng.uniform(2, 12)),
        corner=Corner(signs=d, half=float(rng.uniform(0.2, 3)) / math.sqrt(d), paired=False),
        guess=problem.guess,
        level=level,
    )
    s, z = bounds.best()
    if rng.random() < 0.4:  # Parameters may lie anywhere, and not only where the bound is largest.
        s = min(s * 10 ** rng.uniform(-1, 1), 1.0)
        z = float(bounds.largest_margins(np.array([s]))[0])
    return Attack(problem=problem, bounds=bounds, s=s, z=z, value=bounds.value(s, z))


def yield_log_odds(level: Level, counts: Floats, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield the posterior log-odds that a sign is 1, given private sums of its copies."""
    is_present = counts > 0
    # A record moves the sum by at most 2, so rho-zCDP needs Gaussian noise of variance 2/rho.
    if isinstance(level, float):
        release = counts + math.sqrt(2 / level) * rng.standard_normal(len(counts))
        yield release * counts * level
        return
    epsilon, delta = level
    release = counts + rng.laplace(scale=2 / epsilon, size=len(counts))
    yield (np.abs(release + counts) - np.abs(release - counts)) * epsilon / 2
    # Randomised response on the sign of the sum, which is revealed with probability delta.
    right = rng.random(len(counts)) < 1 / (1 + math.exp(-epsilon))
    odds = np.where(rng.random(len(counts)) < delta, 60.0, np.where(right, epsilon, -epsilon))
    yield np.where(is_present, odds, 0.0)


def mean_excess(problem: Any, z: float, odds: Floats) -> Floats:
    """Return the mean excess risk of the best of a grid of answers in [-z, z], for each posterior
    log-odds.
    """
    answers = np.linspace(-z, z, 801)
    if problem is Hinge and z < 1:
        return np.zeros(len(odds))
    labels, chance = np.array([z, -z]), np.array([1.0, 0.0])
    if problem not in (Absolute, Huber):
        share = float(problem.guess.telling(np.array([z]))[0])
        labels = np.array([1.0, 0.0 if problem is Logistic else -1.0])
        chance = np.array([(1 + share) / 2, (1 - share) / 2])
    upper_loss, lower_loss = (problem.link.value(answers, np.full(801, y)) for y in labels)
    entropy = -float(chance @ np.log(chance)) if problem is Logistic else 0.0
    excess_if_plus = (
        chance[0] * upper_loss + chance[1] * lower_loss - entropy
    )  # This is the excess risk of every answer, where the sign is 1.
    excess_if_minus = chance[1] * upper_loss + chance[0] * lower_loss - entropy
    grid = np.linspace(-40, 40, 1601)  # The answer is chosen on this grid of log-odds.
    chosen = (
        expit(grid)[:, None] * excess_if_plus + expit(-grid)[:, None] * excess_if_minus
    ).argmin(axis=1)
    picks = chosen[np.clip(np.round((odds + 40) * 20).astype(np.intp), 0, 1600)]
    return np.asarray(expit(odds) * excess_if_plus[picks] + expit(-odds) * excess_if_minus[picks])


def least_ratio_of_answers(attack: Attack, draws: int, rng: np.random.Generator) -> float:
    """Return the least ratio of measured excess to the bound; fail where an answer beats the bound.

    Where the bound is below 1 % of the loss without data, rare outputs dominate it, which this many
    draws may miss; the ratio is then infinite.
    """
    bounds, k = attack.bounds, attack.bounds.corner.signs
    price = float(bounds.guess.price(np.array([attack.z]))[0])
    if attack.value < 0.01 * attack.s * price or price == 0:
        return math.inf
    share = float(bounds.guess.telling(np.array([attack.z]))[0])
    counts = rng.binomial(bounds.n, attack.s * share / k, size=draws).astype(float)
    best = math.inf
    for odds in yield_log_odds(bounds.level, counts, rng):
        losses = attack.s * mean_excess(attack.problem, attack.z, odds)
        error = float(losses.std()) / math.sqrt(draws)
        assert losses.mean() + SIX * error >= attack.value * (1 - 1e-9), attack
        if attack.value > 0:
            best = min(best, float(losses.mean()) / attack.value)
    return best


def least_ratio(seeds: range, draws: int) -> float:
    """Return the least ratio of an attack's excess risk to the bound, over random settings of these
    seeds.
    """
    rngs = (np.random.default_rng(seed) for seed in seeds)
    return min(least_ratio_of_answers(random_attack(rng), draws, rng) for rng in rngs)


def test_no_private_answer_beats_the_bound_of_a_loss_at_100_settings() -> None:
    """Some answers come within a fifth of the bound, so a bound that is a quarter too large
    fails.
    """
    assert 0.9 < least_ratio(range(100), 4000) < 1.2


@pytest.mark.slow
def test_no_private_answer_beats_the_bound_of_a_loss_at_1500_settings() -> None:
    assert 0.9 < least_ratio(range(1000, 2500), 4000) < 1.1


@pytest.mark.parametrize("kind", ["l2", "l1", "linf", "simplex", "solid-simplex"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_record_of_the_law_reveals_what_the_proof_assumes(problem: Any, kind: str) -> None:
    """On the catalogue's law, true margins have one size, and labels reveal signs.

    Knowing every sign gives no excess risk, knowing none gives that of the price, and knowing half
    of them gives a value in between.
    """
    geometry, n, d = Geometry(kind=kind), 4000, 6
    law = OneHot(
        d=d, moment_order=3.0, spike_probability=0.5, size=9.0, paired=kind.endswith("simplex")
    )
    problem_on_law = problem(features=law, radius=2.0, offset=0.0, geometry=geometry)
    problem_on_law = problem_on_law.draw(np.random.default_rng(3))
    sample = problem_on_law.sample(n, np.random.default_rng(4))
    margins = sample.features.x @ problem_on_law.minimiser
    spiked = np.abs(sample.features.x).max(axis=1) > 0
    z = np.abs(margins[spiked])
    assert z == pytest.approx(np.full(len(z), z[0]))
    assert abs(spiked.mean() - 0.5) < 6 * 0.5 / math.sqrt(n)
    assert problem_on_law.constraint.contains(problem_on_law.minimiser)
    right = sample.targets[spiked] * np.sign(margins[spiked])
    if problem in (Absolute, Huber):
        assert right == pytest.approx(z)
    elif problem is Hinge:
        assert np.all(right == 1)
    else:
        share = float(problem.guess.telling(z[:1])[0])
        agree = (sample.targets[spiked] == (margins[spiked] > 0)).mean()
        assert abs(agree - (1 + share) / 2) < 6 * 0.5 / math.sqrt(len(z))
    centre = np.full(d, 2.0 / d) if law.paired else np.zeros(d)
    price = float(problem.guess.price(z[:1])[0])
    assert problem_on_law.excess_risk(problem_on_law.minimiser).value == pytest.approx(0, abs=1e-12)
    assert problem_on_law.excess_risk(centre).value == pytest.approx(0.5 * price)
    # In terms of samples, F(centre) - F(w*) is the mean difference of losses.
    losses = problem_on_law.link.value(sample.features.x @ centre, sample.targets)
    losses -= problem_on_law.link.value(margins, sample.targets)
    spread = 6 * losses.std() / math.sqrt(n)
    assert abs(losses.mean() - 0.5 * price) <= spread + 1e-12


def test_the_remaining_uncertainty_of_a_sign_is_at_most_that_of_a_gaussian_release() -> None:
    """The uncertainty is evaluated exactly, by quadrature, and the bound on it is
    nearly attained.
    """
    x = np.linspace(-40, 40, 400_001)
    for kappa in (1e-3, 0.05, 0.3, 1.0, 3.0):
        gap = math.sqrt(2 * kappa)  # The two normal laws have this distance at KL divergence kappa.
        plus, minus = (np.exp(-((x - c) ** 2) / 2) for c in (gap / 2, -gap / 2))
        common = float(np.minimum(plus, minus).sum() / plus.sum())
        bound = float(unlearnt_share(kappa)(np.ones(1))[0])
        assert bound <= common * (1 + 1e-6)
        assert bound >= common - 0.15
