"""Audits at user level: exact privacy profiles of releases on worst neighbours, and leaks.

A release on fixed points has few outcomes: at which step it halts, and Gaussian sums before. Its
hockey-stick divergence between two neighbours is computed, not estimated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom, norm

from dpsco_core.methods.user.accelerated.batches import batch_plan
from dpsco_core.methods.user.accelerated.nonsmooth import UserAcceleratedNonsmooth
from dpsco_core.methods.user.accelerated.optimiser import UserAccelerated
from dpsco_core.methods.user.accelerated.strong import UserAcceleratedStrong
from dpsco_core.methods.user.clipped_means import UserClippedMeans
from dpsco_core.methods.user.group_privacy import UserGroupPrivacy
from dpsco_core.methods.user.phased_sgd import UserPhasedSgd
from dpsco_core.privacy import ApproxDP, Ledger
from dpsco_core.privacy.filter.plan import FilteredRelease, Tuning, phase_plan, single_test_plan
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import sharp_weights_sensitivity
from dpsco_core.privacy.mechanisms.tested import TestedSteps
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.users import ItemSample, UserSample
from tests.folded import one_in
from tests.methods.euclidean.losses import make_records, sample
from tests.methods.user.accelerated_helpers import means_of, users_setting
from tests.methods.user.checks import halting_law
from tests.methods.user.helpers import keep_of

Array = np.ndarray
Pair = tuple[Array, Array]

EPSILON, DELTA = 3.0, 0.02
SHARP = Tuning(sharp=True)
FILTER_METHODS = (
    UserPhasedSgd(),
    UserAccelerated(),
    UserAcceleratedNonsmooth(),
    UserAcceleratedStrong(),
)
METHODS = (UserGroupPrivacy(), UserClippedMeans(method="accelerated"), *FILTER_METHODS)


def excess_mass(p: float, q: float, shift: float, epsilon: float) -> float:
    r"""Return the integral of :math:`(p\phi(x) - e^\varepsilon q\phi(x - shift))_+`."""
    scaled = math.exp(epsilon) * q
    if p <= 0 or shift == 0 or scaled == 0:
        return max(0.0, p - scaled)
    edge = shift / 2 - math.log(scaled / p) / shift  # The integrand is positive below this point.
    return float(p * norm.cdf(edge) - scaled * norm.cdf(edge - shift))


def laws(plan: FilteredRelease, x: Array) -> tuple[Array, Array]:
    """Return the law of the halting step (the last entry is for no halt), and the filtered mean, if
    every step sees the points x.
    """
    test, examined = plan.release.test, plan.keep.examine(x)
    law = same_score_law(examined.score, test.steps, test.threshold, test.score_scale, test.kind)
    return law, plan.keep.mean(x, examined.inclusion)


@lru_cache(maxsize=4096)
def same_score_law(score: float, steps: int, threshold: float, scale: float, kind: str) -> Array:
    """Return `halting_law` of the same score in every step."""
    return halting_law([score] * steps, threshold, scale, kind)


def profile(plan: FilteredRelease, x: Array, y: Array, epsilon: float) -> float:
    """Return delta(epsilon) of all releases at the points x against those at the points y."""
    (probabilities, mean), (neighbour_probabilities, neighbour_mean) = laws(plan, x), laws(plan, y)
    shift = float(np.linalg.norm(mean - neighbour_mean)) / plan.release.noise_std
    steps = range(len(probabilities))  # The sum is sufficient for k releases with one mean.
    return sum(
        excess_mass(probabilities[k], neighbour_probabilities[k], math.sqrt(k) * shift, epsilon)
        for k in steps
    )


def crowds(plan: FilteredRelease) -> Iterator[Pair]:
    """Yield neighbours on a line: a cluster, other points at its edge, and one user who moves.

    The number of other points puts the score near the floor, near the threshold, or at its maximum.
    """
    r, count, test = plan.keep.filter_radius, plan.count, plan.release.test
    sizes = {0, 1}
    for score in (test.score_floor, test.threshold, test.threshold + 1):
        k = next(k for k in range(count) if ((count - k) ** 2 + k * k) / count < score)
        sizes |= {k - 1, k}
    for size, place in itertools.product(sorted(sizes), (0.999, 1.001, 50.0)):
        x = np.zeros((count, 1))
        x[1 : 1 + size] = place * r
        for value, new in itertools.permutations((0.0, r, -r, 1.999 * r, -40 * r), 2):
            rows, neighbour_rows = x.copy(), x.copy()
            rows[0], neighbour_rows[0] = value, new
            yield rows, neighbour_rows


def worst(plan: FilteredRelease, epsilon: float) -> float:
    """Return the largest delta(epsilon) of a plan over the neighbours of `crowds`."""
    return max(profile(plan, x, y, epsilon) for x, y in crowds(plan))


PLANS = {
    "single, form B": single_test_plan(
        60, EPSILON, DELTA, keep=keep_of("B"), tuning=Tuning(sharp=True, least_kept=0.1)
    ),
    "single, form A": single_test_plan(
        120, EPSILON, DELTA, keep=keep_of("A", upper=2 / 3), tuning=SHARP
    ),
    "Mode A": phase_plan(400, 2, EPSILON, DELTA, keep=keep_of("B"), tuning=SHARP),
}


@pytest.mark.parametrize("name", PLANS)
def test_no_worst_neighbour_exceeds_the_budget_of_a_plan(name: str) -> None:
    plan = PLANS[name]
    spent = plan.release
    assert spent.total_epsilon == pytest.approx(EPSILON)
    assert spent.total_delta == pytest.approx(DELTA)
    assert worst(plan, EPSILON) <= DELTA


def weakened(plan: FilteredRelease, noise: float = 1.0, test: float = 1.0) -> FilteredRelease:
    """Return a plan whose means have `noise` times the noise, and whose test has `test` times the
    epsilon.
    """
    r = plan.release
    louder = replace(r.test, epsilon=r.test.epsilon * test)
    return replace(plan, release=replace(r, test=louder, l2_sensitivity=r.l2_sensitivity * noise))


@pytest.mark.parametrize("name", one_in(2, PLANS))
def test_the_audit_detects_too_little_noise(name: str) -> None:
    plan = PLANS[name]
    assert worst(weakened(plan, noise=0.1), EPSILON) > DELTA
    assert worst(weakened(plan, test=9.0), EPSILON) > DELTA


def batch_law(
    plan: FilteredRelease, outliers: int, value: float, grid: Array
) -> tuple[float, Array]:
    """Return the probability that a release of a secret batch halts, and the density of its output
    on `grid` if it does not.

    Of the users of the phase `outliers` are at twice the filter's radius, one is at `value`, and
    the rest are at 0.
    """
    r = plan.release
    population, batch, std = r.population, r.drawn, r.noise_std
    place, halt, density = 2 * plan.keep.filter_radius, 0.0, np.zeros_like(grid)
    for is_in in (0, 1):
        share = batch / population if is_in else 1 - batch / population
        rest = batch - is_in
        for number in range(min(outliers, rest) + 1):
            p = share * float(hypergeom.pmf(number, population - 1, outliers, rest))
            if p < 1e-12:
                continue
            x = np.zeros((batch, 1))
            x[:number] = place
            if is_in:
                x[-1] = value
            examined = plan.keep.examine(x)
            law = same_score_law(examined.score, 1, r.test.threshold, r.test.score_scale, "single")
            halt += p * law[0]
            mean = plan.keep.mean(x, examined.inclusion)[0]
            density += p * law[1] * norm.pdf(grid, mean, std)
    return halt, density


def batch_profile(
    plan: FilteredRelease, outliers: int, value: float, new: float, epsilon: float
) -> float:
    """Return delta(epsilon) of one release of a secret batch, with the user at `value` against the
    user at `new`.
    """
    std, r = plan.release.noise_std, plan.keep.filter_radius
    grid = np.linspace(-3 * r - 10 * std, 3 * r + 10 * std, 6001)
    (halt, f), (neighbour_halt, g) = (batch_law(plan, outliers, u, grid) for u in (value, new))
    excess = np.maximum(f - math.exp(epsilon) * g, 0.0)
    return max(0.0, halt - math.exp(epsilon) * neighbour_halt) + float(np.trapezoid(excess, grid))


def test_the_audit_of_a_secret_batch_agrees_with_the_ledger() -> None:
    epsilon, delta, keep = 1.5, 0.02, RobustFilter(score_radius=1.0, filter_radius=1.0)
    plan = batch_plan(
        240, 120, 1, epsilon, delta, keep=keep, tuning=Tuning(sharp=True, least_kept=0.1)
    )
    assert plan is not None
    assert plan.release.total_epsilon == pytest.approx(epsilon)
    blind = replace(plan, release=replace(plan.release, l2_sensitivity=0.002))
    threshold = plan.release.test.threshold
    most_outliers = 2 * next(k for k in range(120) if ((120 - k) ** 2 + k * k) / 120 < threshold)
    largest = 0.0
    for outliers in (0, most_outliers // 2, most_outliers):
        for value, new in itertools.permutations((-1.0, 1.0, 2.0, 40.0), 2):
            assert batch_profile(plan, outliers, value, new, epsilon) <= delta
            largest = max(largest, batch_profile(blind, outliers, value, new, epsilon))
    assert largest > delta


class Script:
    """Plays the part of the noise: decisions and noisy values that do not look at the data."""

    def __init__(self, patch: pytest.MonkeyPatch, halt_at: int) -> None:
        """Replace tests and noise by a script that halts the run at a test."""
        self.halt_at, self.passed = halt_at, 0
        self.rng = np.random.default_rng(8)
        patch.setattr(TestedSteps, "passes", lambda steps, score: self.passes(score))
        patch.setattr(TestedSteps, "noisy", lambda steps, value: self.value(value, 0.0, steps.rng))
        patch.setattr("dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise", self.value)

    def passes(self, score: float) -> bool:
        """Let every score pass but that of the step which halts."""
        assert math.isfinite(score)
        self.passed += 1
        return self.passed != self.halt_at

    def value(self, value: Array, std: float, rng: np.random.Generator) -> Array:
        """Return a random value that does not depend on the given one."""
        assert np.isfinite(value).all()
        return 0.3 * self.rng.normal(size=value.shape)


def user_sets(kind: str, setting: Setting, means: bool) -> Iterator[UserSample]:
    """Yield users, and then sets in which every user is another one, or broken."""
    m = setting.m
    x, y = make_records(setting.n * (1 if means else m), setting.d, 3)
    for value in (None, -7.0, 0.0, 1e5, 1e300, math.inf, -math.inf, math.nan, "some"):
        features, targets = x.copy(), y.copy()
        if value == "some":
            features[::3], features[1::5, 0], targets[::4] = math.nan, -1e300, math.inf
        elif value is not None:
            features[:], targets[:] = value, value
        if means:
            yield means_of(features, m)
        else:
            yield ItemSample(records=sample(kind, features, targets), items=m)


def scripted(method: Any, setting: Setting, users: UserSample, halt_at: int) -> list[Any]:
    """Return a list of all that a run releases and records, and of the final state of its
    generator.
    """
    rng, ledger = np.random.default_rng(5), Ledger(setting.budget)
    with pytest.MonkeyPatch.context() as patch:
        Script(patch, halt_at)
        release = method.release(users, method.plan(setting), ledger, rng)
    numbers = [*sorted(release.diagnostics.items()), *release.notes, *ledger.entries]
    arrays = [release.value.tolist(), release.iterates.tolist(), release.iterate_steps.tolist()]
    return [*numbers, *arrays, rng.bit_generator.state]


CASES = [
    *((method, kind) for method in METHODS[:4] for kind in ("mean", "linear", "huber")),
    *((method, "logistic") for method in METHODS[:5]),
    (UserAcceleratedNonsmooth(), "hinge"),
    (UserAcceleratedNonsmooth(), "other"),
    (UserClippedMeans(method="descent"), "hinge"),
    (UserAcceleratedStrong(), "mean"),
]


@pytest.mark.parametrize("halt_at", [0, 2])
@pytest.mark.parametrize(("method", "kind"), CASES, ids=lambda x: str(x)[:40])
def test_a_run_lets_out_nothing_but_functions_of_noisy_values(
    method: Any, kind: str, halt_at: int
) -> None:
    """No diagnostic, note, iterate, exception or draw depends on data that noise does not hide."""
    for means in (False, True)[: 1 + (kind == "mean")]:
        items = 200_000 if means else 3  # With 200,000 items a step of one pass is on whole users.
        setting = users_setting(kind, 100, items, d=2, budget=ApproxDP(epsilon=8.0, delta=0.05))
        outcome, *other_outcomes = (
            scripted(method, setting, u, halt_at) for u in user_sets(kind, setting, means)
        )
        assert all(other == outcome for other in other_outcomes)


@pytest.mark.parametrize(
    ("method", "reached"),
    [
        (UserGroupPrivacy(), 0.98),
        (UserClippedMeans(method="descent"), 1.0),
        (UserClippedMeans(method="accelerated"), 1.0),
    ],
    ids=lambda x: str(x)[:40],
)
def test_a_baseline_spends_its_budget_on_the_strongest_user_and_no_more(
    method: Any, reached: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one dimension only the first user pulls, one way or the other, with all items.

    The releases of gradients that do not depend on the point have a product of Gaussian laws.
    """
    budget = ApproxDP(epsilon=1.0, delta=0.02)
    setting = users_setting("linear", 120, 4, d=1, budget=budget)
    releases: list[list[tuple[float, float]]] = []

    def spy(value: Array, std: float, rng: np.random.Generator) -> Array:
        """Record a value and its noise, and return zero."""
        releases[-1].append((float(value[0]), std))
        return value * 0.0

    monkeypatch.setattr("dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise", spy)
    for sign in (1.0, -1.0):
        x = np.zeros((480, 1))
        # These records are far out, but the gradients are still in the unit ball.
        x[:4] = sign * 1e6
        users = ItemSample(records=sample("linear", x, np.zeros(480)), items=4)
        releases.append([])
        method.release(users, method.plan(setting), Ledger(budget), np.random.default_rng(0))
    moves = [(a - b) / std for (a, std), (b, _) in zip(*releases, strict=True)]
    shift = math.sqrt(sum(move**2 for move in moves))
    assert excess_mass(1.0, 1.0, shift, 1.0) <= 0.02 * (1 + 1e-6)
    assert excess_mass(1.0, 1.0, shift / reached, 1.0) >= 0.02 * (1 - 1e-6)


@pytest.mark.parametrize("upper", [2 / 3, 1.0])
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_clusters_in_the_plane_stay_within_the_sharp_sensitivity(
    upper: float, ratio: float
) -> None:
    """For K = 3 to 8 and 20, points at few places at or across the radii are tried, with one
    replaced.
    """
    keep = RobustFilter(score_radius=1.0, filter_radius=ratio, upper=upper)
    rng, cases = np.random.default_rng(int(100 * (upper + ratio))), 0
    turns = np.pi / 3 * np.arange(6)
    rings = np.array([0.5, 1 - 1e-6, 1.0, 1 + 1e-6, 1.5, 2 - 1e-6, 2.0]) * ratio
    places = np.concatenate(
        [[[0.0, 0.0]], *[r * np.c_[np.cos(turns), np.sin(turns)] for r in rings]]
    )
    for _ in range(600):
        count = int(rng.choice([3, 4, 5, 6, 7, 8, 20]))
        chosen = places[rng.integers(len(places), size=3)]
        x = chosen[rng.choice(3, size=count, p=rng.dirichlet(np.full(3, 0.5)))]
        y = x.copy()
        y[0] = places[rng.integers(len(places))] if rng.random() < 0.7 else 1e9
        examined, neighbour_examined = keep.examine(x), keep.examine(y)
        bound = sharp_weights_sensitivity(
            keep, count, min(examined.score, neighbour_examined.score)
        )
        if math.isfinite(bound):
            cases += 1
            gap = keep.mean(x, examined.inclusion) - keep.mean(y, neighbour_examined.inclusion)
            assert np.linalg.norm(gap) <= bound
    assert cases > 50
