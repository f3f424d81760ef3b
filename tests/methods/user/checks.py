"""Checks that the tests use and that deliberate faults must fail (`test_users_mutations.py`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection

import numpy as np
from scipy.integrate import quad
from scipy.stats import beta, binom, chi2

from dpsco_core.methods.user import open_releases, release_mean
from dpsco_core.privacy import ApproxDP, Ledger, TestedReleases
from dpsco_core.privacy.filter.plan import phase_plan, single_test_plan
from dpsco_core.privacy.filter.sensitivity import sharp_weights_sensitivity, weights_sensitivity
from dpsco_core.privacy.mechanisms.tested import NoisyTest, TestedGaussian
from tests.methods.user.helpers import (
    FALSE_ALARM,
    FILTERS,
    f6_sensitivity,
    keep_of,
    neighbours,
    note_multiplier,
)

EPSILON, DELTA = 1.0, 1e-6


class Counting(np.random.Generator):
    """A generator that counts its draws."""

    def __init__(self, seed: int) -> None:
        """Make a generator from a seed that counts its calls."""
        super().__init__(np.random.PCG64(seed))
        self.calls: Counter[str] = Counter()

    def laplace(self, *args, **kwargs):
        """Draw Laplace noise, and count the call."""
        self.calls["laplace"] += 1
        return super().laplace(*args, **kwargs)

    def normal(self, *args, **kwargs):
        """Draw normal noise, and count the call."""
        self.calls["normal"] += 1
        return super().normal(*args, **kwargs)


def check_sensitivity(trials: int = 400) -> None:
    """Check facts F1, F4 and F6 of theory/lowy-liu-asi.md, 2.0, on neighbours, some of them
    adversarial.
    """
    for seed, keep in enumerate(FILTERS):
        for x, y in neighbours(keep, trials, seed):
            count = len(x)
            examined, neighbour_examined = keep.examine(x), keep.examine(y)
            assert abs(examined.score - neighbour_examined.score) <= 2 * (count - 1) / count + 1e-12
            same = (x == y).all(axis=1) | (np.isnan(x) & np.isnan(y)).any(axis=1)
            changes = np.abs(examined.inclusion - neighbour_examined.inclusion)
            slope = 1 / ((keep.upper - keep.lower) * count)
            assert changes[same].max() <= slope + 1e-12
            floor = min(examined.score, neighbour_examined.score)
            bound = sharp_weights_sensitivity(keep, count, floor)
            if math.isfinite(bound):
                mean, neighbour_mean = (
                    keep.mean(x, examined.inclusion),
                    keep.mean(y, neighbour_examined.inclusion),
                )
                assert np.linalg.norm(mean - neighbour_mean) <= bound
                assert bound <= weights_sensitivity(keep, count, floor)


def check_noise() -> None:
    """Check by chi-square that the Gaussian noise is the sensitivity F6 times g, and root T times
    that in a phase.
    """
    keep, count, d = keep_of("B"), 400, 5000
    rng = np.random.default_rng(5)
    points = np.zeros((count, d))
    share, failure, steps = 0.4 * EPSILON, DELTA / 2, 3
    single = single_test_plan(count, EPSILON, DELTA, keep=keep)
    scale = 2 / share
    floor = count - scale * (math.log(1 / (2 * 0.005)) + math.log(1 / (2 * failure))) - 2
    std = f6_sensitivity(keep, count, floor) * note_multiplier(EPSILON - share, DELTA / 2)
    value = release_mean(
        points, single, Ledger(ApproxDP(epsilon=EPSILON, delta=DELTA)), rng, fallback=np.zeros(d)
    )
    assert not value.halted
    check_normal(value.value, std)

    wide = 2400
    plan = phase_plan(wide, steps, EPSILON, DELTA, keep=keep)
    margin = math.log(1 / 0.005) + 2 * math.log(steps / 0.005)
    margin += math.log(1 / failure) + 2 * math.log(steps / failure)
    std = f6_sensitivity(keep, wide, wide - 4 / share * margin - 2)
    std *= math.sqrt(steps) * note_multiplier(EPSILON - share, DELTA / 2)
    ledger = Ledger(ApproxDP(epsilon=EPSILON, delta=DELTA))
    means = open_releases(plan, 2500, ledger, rng, "phase")
    values = [means.next(np.zeros((wide, 2500))) for _ in range(steps)]
    check_normal(np.concatenate(values), std)


def check_normal(values: np.ndarray, std: float) -> None:
    """Assert that the sum of squares of values has the chi-square law of normal noise of this
    deviation, two-sided.
    """
    square = float(values @ values) / std**2
    low, high = chi2.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], len(values))
    assert low <= square <= high


def certificate(kind: str, steps: int, threshold: float) -> TestedGaussian:
    """Return a tested Gaussian mechanism whose test is at epsilon 1."""
    test = NoisyTest(
        kind=kind,
        steps=steps,
        threshold=threshold,
        epsilon=1.0,
        failure=1e-6,
    )
    return TestedGaussian(test=test, l2_sensitivity=1.0, epsilon=1.0, delta=1e-6)


def halting_times(release: TestedGaussian, scores: list[float], runs: int, seed: int) -> np.ndarray:
    """Return how many runs halted at each step and, last, how many did not halt."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(len(scores) + 1)
    for _ in range(runs):
        ledger = Ledger(ApproxDP(epsilon=2.0, delta=1e-5))
        steps = ledger.open(TestedReleases(release=release, size=1, rng=rng), label="audit")
        step = next((t for t, s in enumerate(scores) if not steps.passes(s)), len(scores))
        counts[step] += 1
    return counts


def halting_law(scores: list[float], threshold: float, scale: float, kind: str) -> np.ndarray:
    """Return the exact law of the halting time; `scale` is that of the scores' noise."""

    def passes(margin: float) -> float:
        """Return the probability that the Laplace noise is at least a margin."""
        tail = 0.5 * math.exp(-abs(margin) / scale)
        return tail if margin >= 0 else 1 - tail

    def density_at(shift: float) -> np.ndarray:
        """Return the law of the halting step for a given noise of the threshold."""
        alive, law = 1.0, []
        for score in scores:
            p = passes(threshold + shift - score)
            law.append(alive * (1 - p))
            alive *= p
        return np.array([*law, alive])

    if kind == "single":
        return density_at(0.0)
    decay = scale / 2
    kinks = sorted({0.0, *(s - threshold for s in scores)})
    return np.array(
        [
            quad(
                lambda x, t=t: density_at(x)[t] * math.exp(-abs(x) / decay) / (2 * decay),
                -40 * decay,
                40 * decay,
                points=kinks,
                limit=200,
            )[0]
            for t in range(len(scores) + 1)
        ]
    )


def check_halting_law(kind: str, runs: int = 6000) -> None:
    """Check step by step that a test fails as often as with one noise of the threshold
    per phase.
    """
    scores = [3.0, -2.0, 6.0, 0.0] if kind == "sequence" else [3.0]
    scale = 8.0 if kind == "sequence" else 2.0
    counts = halting_times(certificate(kind, len(scores), 0.5), scores, runs, 11)
    for count, p in zip(counts, halting_law(scores, 0.5, scale, kind), strict=True):
        low, high = binom.ppf([FALSE_ALARM / 10, 1 - FALSE_ALARM / 10], runs, p)
        assert low <= count <= high


def check_threshold_noise() -> None:
    """Check that there is one threshold draw per phase, and one draw per score and per release."""
    for steps in (1, 7):
        rng = Counting(3)
        plan = phase_plan(2400, steps, EPSILON, DELTA, keep=keep_of("B"))
        ledger = Ledger(ApproxDP(epsilon=EPSILON, delta=DELTA))
        means = open_releases(plan, 2, ledger, rng, "phase")
        for _ in range(steps):
            assert means.next(np.zeros((2400, 2))) is not None
        assert rng.calls == {"laplace": 1 + steps, "normal": steps}
    rng = Counting(3)
    plan = single_test_plan(302, EPSILON, DELTA, keep=keep_of("B"))
    ledger = Ledger(ApproxDP(epsilon=EPSILON, delta=DELTA))
    release_mean(np.zeros((302, 2)), plan, ledger, rng, fallback=np.zeros(2))
    assert rng.calls == {"laplace": 1, "normal": 1}


def outcomes(points: np.ndarray, plan, seed: int, runs: int) -> np.ndarray:
    """Return the released first coordinate of each run; NaN where it halted."""
    rng = np.random.default_rng(seed)
    budget = ApproxDP(epsilon=plan.release.total_epsilon, delta=plan.release.total_delta)
    values = np.full(runs, np.nan)
    for run in range(runs):
        ledger = Ledger(budget)
        released = release_mean(points, plan, ledger, rng, fallback=np.zeros(points.shape[1]))
        if not released.halted:
            values[run] = released.value[0]
    return values


def epsilon_lower_bound(values: np.ndarray, neighbour_values: np.ndarray, delta: float) -> float:
    """Return the largest epsilon that some event refutes, at a total confidence of 1 - 1e-6.

    The events are that the first coordinate exceeds a quantile, or that the run halted. They are
    chosen on a third of the runs, and tested on the rest.
    """
    cut = len(values) // 3
    pilot = np.concatenate([values[:cut], neighbour_values[:cut]])
    levels = np.nanquantile(pilot, np.linspace(0.02, 0.98, 9)) if (pilot == pilot).any() else []
    with np.errstate(invalid="ignore"):
        events = [lambda x, c=c: x >= c for c in levels] + [lambda x, c=c: x < c for c in levels]
    events += [np.isnan, lambda x: ~np.isnan(x)]
    level, best = FALSE_ALARM / (4 * len(events)), 0.0
    for event in events:
        for sample, neighbour_sample in (
            (values[cut:], neighbour_values[cut:]),
            (neighbour_values[cut:], values[cut:]),
        ):
            hits, misses, runs = (
                int(event(sample).sum()),
                int(event(neighbour_sample).sum()),
                len(sample),
            )
            low = beta.ppf(level, hits, runs - hits + 1) if hits else 0.0
            high = beta.ppf(1 - level, misses + 1, runs - misses) if misses < runs else 1.0
            if low > delta:
                best = max(best, math.log((low - delta) / high))
    return best


def worst_pairs() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return neighbouring sets of 60 planar points: one flipped gradient, or two clusters and one
    user who moves.
    """
    count = 60
    x = np.zeros((count, 2))
    flipped = x.copy()
    x[0, 0], flipped[0, 0] = 0.5, -0.5
    camps = np.full((count, 2), 1e6)
    camps[: count // 2] *= -1
    defected = camps.copy()
    defected[0] *= -1
    broken = x.copy()
    broken[0] = np.nan
    scattered = x.copy()
    # With these points the score is near the threshold.
    scattered[:18, 0] = 10.0 * np.arange(1, 19)
    single = scattered.copy()
    single[18, 0] = -10.0
    return [(x, flipped), (camps, defected), (x, broken), (scattered, single)]


def check_audit(*, runs: int = 3000, telling: Collection[int]) -> None:
    """Check that no event refutes the claimed epsilon on those of the worst neighbours whose places
    are in `telling`.
    """
    plan = single_test_plan(60, 3.0, 0.02, keep=keep_of("B"))
    for pair, (x, y) in enumerate(worst_pairs()):
        if pair not in telling:
            continue
        values, neighbour_values = (
            outcomes(x, plan, 2 * pair, runs),
            outcomes(y, plan, 2 * pair + 1, runs),
        )
        assert epsilon_lower_bound(values, neighbour_values, 0.02) <= 3.0
