"""The smaller radius of adaptive clipping: its test, sensitivity and gain.

Faults that these tests would catch: half the sensitivity of the test, a look or a test that is not
charged, a decision or a diagnostic from the distance without noise, a threshold that uses the
records or omits a term, and a smaller radius where clipping has a bias.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

from dpsco_core.bounds.mean.adaptive import ADAPTIVE_BOUNDS
from dpsco_core.data import DenseRows
from dpsco_core.methods.base import Release
from dpsco_core.methods.mean import AdaptiveClipping, RescaledClipping, adaptive
from dpsco_core.methods.mean import inner as module
from dpsco_core.methods.mean.inner import inner_choice, overshoots, tells_bias, try_inner_radius
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger
from tests.methods.mean.test_adaptive import BUDGETS, NASTY, is_spent, point

Array = NDArray[np.float64]


@pytest.mark.parametrize("stretch", [1.001, 1.5, 4.0, 300.0])
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 1.7, 2.0, 6.0])
def test_the_overshoots_are_those_of_a_power_law(stretch: float, power: float) -> None:
    """The references are quadratures, in units of r, for a law that has a quarter of its mass
    beyond r.
    """
    share = [quad(lambda t: 0.25 * t**-power, 1, stretch)[0]]
    share.append(quad(lambda t: 2 * (t - 1) * 0.25 * t**-power, 1, stretch)[0])
    mean_overshoot, square_overshoot = overshoots(stretch, stretch**power)
    gap = stretch - 1
    assert mean_overshoot == pytest.approx(share[0] / gap, rel=1e-6)
    assert square_overshoot == pytest.approx(share[1] / gap**2, rel=1e-6)
    assert 0 < square_overshoot <= mean_overshoot * (1 + 1e-9) <= 0.2500001


def decide_almost_without_noise(
    distance: float, small: float, large: float, n: int, d: int, crowd: float
) -> bool:
    """Return the decision between two radii of a test with almost no noise, on two means at a given
    distance.
    """
    means = np.zeros((2, d))
    means[1, 0] = distance
    rho = 1e12
    rng, ledger = np.random.default_rng(0), Ledger(ZCDP(rho=rho))
    rhos = (rho, 0.4)
    return try_inner_radius(
        means, (small, large), n=n, rhos=rhos, crowd=crowd, ledger=ledger, rng=rng
    )[1]


@pytest.mark.parametrize(("small", "large"), [(3.0, 9.0), (0.5, 5.0), (4.0, 4.4)])
@pytest.mark.parametrize(("n", "d", "crowd"), [(20_000, 20, 90.0), (5000, 100, 410.0)])
def test_the_threshold_is_where_the_estimated_errors_are_equal(
    small: float, large: float, n: int, d: int, crowd: float
) -> None:
    """Squared bias, sampling and noise of either radius are written out in plain units."""
    power = math.log(0.25 * n / crowd) / math.log(large / small)

    def longer(t: float) -> float:
        """Return the share of records longer than t, by the power law."""
        return float(0.25 * (t / small) ** -power)

    overshoot = quad(longer, small, large)[0]
    square = quad(lambda t: 2 * (t - small) * longer(t), small, large)[0]
    less_sampling = (square + 2 * small * overshoot) / n
    less_noise = 2 * d / (0.4 * n**2) * (large**2 - small**2)
    # A bias that falls like 1/R changes at r at R/(R-r) times, and at R at r/(R-r) times, the rate
    # of the distance.
    more_bias = (large**2 - small**2) / (large - small) ** 2
    # The squared distance is that of the change of the bias, plus what sampling adds.
    edge = math.sqrt((less_sampling + less_noise) / more_bias + square / n)
    assert decide_almost_without_noise(edge * 0.999, small, large, n, d, crowd)
    assert not decide_almost_without_noise(edge * 1.001, small, large, n, d, crowd)


def test_the_smaller_radius_is_tried_if_more_than_a_quarter_of_the_records_exceed_it() -> None:
    counts = np.array([0.0, 10.0, 24.0, 90.0])
    choice = inner_choice(counts, 100, 0.3)
    assert choice.scores.tolist() == [-25.0, -15.0, -1.0, -65.0]
    mechanism, scores = choice
    assert mechanism.log_base is None
    assert mechanism.entry(scores, "x").noise == pytest.approx(2 / 0.3)


def trace_run(
    method: AdaptiveClipping,
    x: Array,
    seed: int,
    replay: list[Any] | None = None,
    budget: Any = BUDGETS[0],
) -> tuple[list[Any], list[Any], list[tuple[str, float]], Release]:
    """Run a method, or replay the releases of another run; return the exact values, the releases,
    the claimed sensitivities by label, and the result.
    """
    _, setting = point(n=len(x), d=3, budget=budget, offset=0.5, bound=2.0)
    exact: list[Any] = []
    out: list[Any] = []
    claims: list[tuple[str, float]] = []
    with pytest.MonkeyPatch.context() as patch:
        honest = Ledger.release

        def watched(self: Ledger, mechanism: Any, value: Array, rng: Any, *, label: str) -> Any:
            """Release a value and record it; return the replayed value, if there is one."""
            exact.append(np.array(value))
            noisy = honest(self, mechanism, value, rng, label=label)
            claims.append((label, self.entries[-1].sensitivity))
            out.append(noisy if replay is None else replay[len(out)])
            return out[-1]

        patch.setattr(Ledger, "release", watched)
        plan, rng = method.plan(setting), np.random.default_rng(seed)
        release = method.release(DenseRows(x), plan, Ledger(setting.budget), rng)
    return exact, out, claims, release


def scripts(mode: Any) -> list[Any]:
    """Return the scripts of releases that a run may have: the guard fires or not, and the smaller
    radius is used or not.
    """
    if mode == "single":
        return [[8, 15, np.array([q]), np.zeros(3)] for q in (0.0, 1e9)]
    tests = itertools.product((0.0, 1e9), repeat=2)
    return [[8, 2, 15, *(np.array([q]) for q in both), np.zeros(3)] for both in tests]


def moved_most(mode: Any) -> tuple[float, float]:
    """Return the largest move that one record causes relative to its claim, of any release and of
    the test between radii.
    """
    method = AdaptiveClipping(mode=mode, inner=True)
    base = np.random.default_rng(5).standard_normal((6, 3))
    base[4:] = 60.0  # These two records let the mean of the points outside lose its whole length.
    moves: dict[str, float] = {}
    for seed, start in enumerate([None] * 6 + scripts(mode)):
        exact, out, claims, _ = trace_run(method, base, seed, start)
        for row, bad in ((i, b) for i in (2, 5) for b in (*NASTY, 30.0, -30.0)):
            neighbour = base.copy()
            neighbour[row] = bad
            neighbour_exact, _, same, _ = trace_run(method, neighbour, seed, out)
            assert same == claims
            for a, b, (label, claim) in zip(exact, neighbour_exact, claims, strict=True):
                chosen = "radius" in label and "lies" not in label
                size = np.abs(a - b).max() if chosen else np.linalg.norm(a - b)
                moves[label] = max(moves.get(label, 0.0), float(size) / claim)
    return max(moves.values()), moves["what lies beyond the smaller radius"]


@pytest.mark.parametrize("mode", ["single", "guarded"])
def test_no_record_moves_a_release_by_more_than_its_claim(mode: Any) -> None:
    largest, of_test = moved_most(mode)
    assert largest <= 1 + 1e-9
    assert of_test > 0.5  # A claim of half the size would be too small.


@pytest.mark.parametrize("mode", ["single", "guarded"])
def test_decisions_and_diagnostics_are_functions_of_the_releases(mode: Any) -> None:
    """Different data have equal releases: with a bias inside the radius, without one, and with no
    record at any radius.
    """
    method, budget = AdaptiveClipping(mode=mode, inner=True), ZCDP(rho=500.0)
    _, setting = point(n=40, d=3, budget=budget, offset=0.5, bound=2.0)
    skewed = np.zeros((40, 3))
    skewed[:, 0] = method.plan(setting).statistic.top_radius * np.linspace(0.1, 0.9, 40)
    symmetric = skewed * np.resize([1.0, -1.0], 40)[:, None]
    kinds, calls = set(), list[Any]()

    def watched(test: Any, means: Array, *values: Any, ledger: Any, rng: Any, **fields: Any) -> Any:
        """Record the arguments of the test, and run it."""
        calls.append((values, fields))
        return test(means, *values, ledger=ledger, rng=rng, **fields)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("try_inner_radius", "try_wider_radius"):
            patch.setattr(adaptive, name, partial(watched, getattr(adaptive, name)))
        for seed, records in itertools.product(range(4), (skewed, symmetric)):
            _, out, claims, release = trace_run(method, records, seed, budget=budget)
            parameters = calls.copy()
            for other_records in (skewed, symmetric, 0 * skewed):
                calls.clear()
                _, _, same, other_release = trace_run(method, other_records, seed, out, budget)
                assert calls == parameters and same == claims
                assert other_release.diagnostics == release.diagnostics
                assert other_release.value.tolist() == release.value.tolist()
            calls.clear()
            diagnostics = release.diagnostics
            if diagnostics["inner_radius"] < diagnostics["narrow_radius"]:
                kinds.add(
                    (records is skewed, diagnostics["clip_radius"] == diagnostics["inner_radius"])
                )
    assert kinds == {(True, False), (False, True)}


def test_a_noisy_distance_below_zero_counts_as_zero() -> None:
    method, script = AdaptiveClipping(mode="single", inner=True), [8, 15, np.array([-1e9])]
    diagnostics = trace_run(method, np.zeros((6, 3)), 0, [*script, np.zeros(3)])[3].diagnostics
    assert diagnostics["inner_difference"] == 0.0
    assert diagnostics["clip_radius"] == diagnostics["inner_radius"] < diagnostics["narrow_radius"]


class Halving:
    """A ledger that gets half of a sensitivity."""

    def __init__(self, ledger: Ledger) -> None:
        """Keep the ledger whose releases are to be halved."""
        self.ledger = ledger

    def release(self, mechanism: Any, value: Array, rng: Any, *, label: str) -> Any:
        """Release a value with half the sensitivity."""
        half = replace(mechanism, l2_sensitivity=mechanism.l2_sensitivity / 2)
        return self.ledger.release(half, value, rng, label=label)


def test_a_test_with_half_its_sensitivity_is_caught() -> None:
    def faulty(*args: Any, ledger: Any, **fields: Any) -> Any:
        """Run the test with a ledger that halves sensitivities."""
        return try_inner_radius(*args, ledger=Halving(ledger), **fields)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "try_inner_radius", faulty)
        with pytest.raises(AssertionError):
            test_no_record_moves_a_release_by_more_than_its_claim("single")


@pytest.mark.parametrize("budget", [ZCDP(rho=0.5), ApproxDP(epsilon=6.0, delta=1e-6)])
@pytest.mark.parametrize("d", [5, 20])
@pytest.mark.parametrize("method", [AdaptiveClipping(), RescaledClipping()])
def test_the_look_at_a_smaller_radius_is_charged(budget: Any, d: int, method: Any) -> None:
    problem, setting = point(n=4000, d=d, budget=budget, offset=1.0, bound=20.0)
    rows = problem.sample(4000, np.random.default_rng(0))
    ledger = Ledger(budget)
    method.release(rows, method.plan(setting), ledger, np.random.default_rng(1))
    labels = [e.label for e in ledger.entries]
    assert labels.count("smaller radius") == 1
    assert labels.count("what lies beyond the smaller radius") == 1
    assert is_spent(ledger)


def test_the_smaller_radius_is_tried_where_a_bias_exceeds_the_noise() -> None:
    """The smaller radius is also tried where the single mode has a centre, whose proven error is
    that of a run without the test.
    """

    def looks(n: int, d: int, rho: float, bound: float = 6.0, **fields: Any) -> bool:
        """Return whether a plan tries the smaller radius."""
        _, setting = point(n=n, d=d, budget=ZCDP(rho=rho), offset=0.0, bound=bound)
        return AdaptiveClipping(**fields).plan(setting).statistic.inner_rho > 0

    assert [looks(n, 20, 0.05) for n in (15_000, 17_000)] == [False, True]
    assert [looks(n, 100, 0.5) for n in (3000, 3400)] == [False, True]
    assert [looks(5000, 5, 0.5, bound) for bound in (4.0, 20.0)] == [False, True]
    assert not looks(5000, 20, 0.5, tuning="theory", mode="guarded")
    assert not looks(5000, 20, 0.5, inner=False) and looks(500, 20, 0.5, inner=True)
    assert not looks(500, 20, 0.5, inner=True, mode="blind")


def errors_of(law: str, n: int, d: int, rho: float) -> tuple[float, float]:
    """Return the root mean square errors with and without the test between radii, over 12 data
    sets.
    """
    problem, setting = point(law, n, d, ZCDP(rho=rho), offset=1.0, bound=2.0, p=2.0)
    squares, takes = np.zeros(2), 0
    for seed in range(12):
        sampled_problem = problem.draw(np.random.default_rng(seed))
        rows = sampled_problem.sample(n, np.random.default_rng([seed, 1]))
        for i, method in enumerate((AdaptiveClipping(), AdaptiveClipping(inner=False))):
            rng = np.random.default_rng([seed, 2])
            release = method.release(rows, method.plan(setting), Ledger(setting.budget), rng)
            squares[i] += sampled_problem.error(release.value) ** 2
            diagnostics = release.diagnostics
            takes += i == 0 and diagnostics["clip_radius"] == diagnostics["inner_radius"]
    return math.sqrt(squares[0] / squares[1]), takes / 12


@pytest.mark.parametrize(("n", "d", "rho"), [(20_000, 20, 0.5), (5000, 100, 0.5)])
def test_the_smaller_radius_is_used_on_symmetric_records_and_not_on_skewed_ones(
    n: int, d: int, rho: float
) -> None:
    """On symmetric records the smaller radius saves at least a twentieth of the error, and on
    skewed ones the test costs its share.
    """
    for law in ("student-t", "elliptical-t"):
        ratio, share = errors_of(law, n, d, rho)
        assert ratio < 0.95 and share >= 0.75
    for law in ("skewed-pareto", "log-normal"):
        ratio, share = errors_of(law, n, d, rho)
        assert ratio < 1.06 and share <= 0.25


def test_a_threshold_that_ignores_the_bias_is_caught() -> None:
    """If the smaller radius were always used, skewed records would be cut off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "overshoots", lambda stretch, thinning: (1e6, 1e6))
        with pytest.raises(AssertionError):
            test_the_smaller_radius_is_used_on_symmetric_records_and_not_on_skewed_ones(
                20_000, 20, 0.5
            )
        with pytest.raises(AssertionError):
            test_the_threshold_is_where_the_estimated_errors_are_equal(3.0, 9.0, 20_000, 20, 90.0)


def test_the_condition_is_a_function_of_public_numbers() -> None:
    _, setting = point(n=5000, d=20)
    assert tells_bias(setting, 2.0)
    assert not tells_bias(replace(setting, budget=ZCDP(rho=1e-3)), 2.0)


@pytest.mark.parametrize("fields", [{"inner": True}, {"mode": "guarded"}])
def test_a_run_with_a_further_look_has_no_bound(fields: Any) -> None:
    """The proven error of the single mode covers neither a smaller radius nor a further private
    choice.
    """
    _, setting = point(n=5000, d=9, offset=0.5, bound=1.0)
    (bound,) = (b for b in ADAPTIVE_BOUNDS if b.card.constant == "explicit")
    plain, looking = (AdaptiveClipping(**more).plan(setting) for more in ({}, fields))
    assert not bound.failures(setting) and not plain.statistic.inner_rho
    assert sum(bound.terms(setting, plain).values()) == pytest.approx(bound.value(setting))
    assert math.isinf(sum(bound.terms(setting, looking).values()))


def test_the_proven_bound_is_for_runs_without_the_look() -> None:
    """Wherever the conditions of the bound hold the method itself tries no smaller radius."""
    (bound,) = (b for b in ADAPTIVE_BOUNDS if b.card.constant == "explicit")
    covered = looking = 0
    sizes = itertools.product((500, 5000, 20_000), (1, 5, 15, 16), (0.05, 2.0), (0.5, 4.0, 60.0))
    for n, d, rho, bound_on_mean in sizes:
        _, setting = point(n=n, d=d, budget=ZCDP(rho=rho), offset=0.0, bound=bound_on_mean)
        holds = not bound.failures(setting)
        plan = AdaptiveClipping().plan(setting).statistic
        assert not (holds and plan.inner_rho)
        covered, looking = covered + holds, looking + (plan.inner_rho > 0)
    assert min(covered, looking) > 10
