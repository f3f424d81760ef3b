"""Private SGD: the order of records in Algorithm 1, sensitivity, noise and accountants."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.euclidean import private_sgd
from dpsco_core.methods.euclidean.private_sgd import PrivateSgd, fresh_order
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger, gaussian_rho, shuffle_steps
from dpsco_core.problems.samples.linear import LinearSample
from tests.folded import one_in
from tests.methods.euclidean.losses import (
    APPROXIMATE,
    BUDGETS,
    CONCENTRATED,
    FALSE_ALARM,
    PURE,
    Array,
    Releases,
    make_records,
    make_setting,
    releases,
    run,
    sample,
)

__all__ = ["releases"]
TUNINGS = ("practical", "theory")


@dataclass(frozen=True, eq=False)
class Watched(LinearSample):
    """A sample that remembers which records were used."""

    indices: list[int] = field(default_factory=list)

    def gradient(self, w: Array, i: int) -> Array:
        """Record the index of a record, and return its gradient."""
        self.indices.append(i)
        return super().gradient(w, i)

    def bounded(self, radius: float) -> Watched:
        """Return the shrunken sample, with the same list of indices."""
        return replace(super().bounded(radius), indices=self.indices)  # type: ignore[return-value]


@pytest.mark.parametrize("tuning", TUNINGS)
def test_half_of_the_records_plus_one_are_used_once_each(tuning: Any) -> None:
    for n in range(1, 61):
        x, y = make_records(n, 2, seed=n)
        plain = sample("hinge", x, y)
        assert isinstance(plain, LinearSample)
        watched = Watched(plain.features, y, plain.link, plain.constraint)
        result = run(PrivateSgd(tuning=tuning), make_setting("hinge", n, 2), watched, seed=n)
        assert len(watched.indices) == len(set(watched.indices)) == n // 2 + 1
        assert result.diagnostics["gradient_calls"] == n // 2 + 1
        assert result.diagnostics["steps"] >= n // 2 + 1
        if tuning == "practical":
            assert result.diagnostics["steps"] == n // 2 + 1


@pytest.mark.parametrize(
    ("n", "mean", "variance"),
    [(16, 12.605950, 5.966718), (100, 70.817218, 31.694448), (1000, 694.647431, 307.853736)],
)
def test_the_number_of_steps_has_its_moments(n: int, mean: float, variance: float) -> None:
    """Both moments are tested at a false-alarm rate of 1e-6 (theory/arora-marinov-ullah.md, 7, item
    23).
    """
    plan = PrivateSgd(tuning="theory").plan(make_setting("hinge", n))
    rng, draws = np.random.default_rng(0), 4000
    steps = np.array(
        [
            len(order) + idle.sum()
            for order, idle in (fresh_order(n, plan, rng) for _ in range(draws))
        ]
    )
    wide = stats.norm.isf(FALSE_ALARM / 2)
    assert abs(steps.mean() - mean) < wide * math.sqrt(variance / draws)
    squares = (steps - mean) ** 2
    assert abs(squares.mean() - variance) < wide * squares.std() / math.sqrt(draws)


def test_a_record_is_at_every_place_of_the_order_equally_often() -> None:
    """Each place has probability 1/n, by a chi-square test (theory/arora-marinov-ullah.md, 7, item
    25).
    """
    n, draws = 9, 6000
    plan = PrivateSgd(tuning="theory").plan(make_setting("hinge", n))
    rng, counts = np.random.default_rng(1), np.zeros(plan.gradient_calls + 1)
    for _ in range(draws):
        order, idle = fresh_order(n, plan, rng)
        place = np.flatnonzero(order == 4)
        counts[place[0] if len(place) else -1] += 1
        assert idle[0] == 0, "the first draw is always fresh"
    m = plan.gradient_calls
    expected = draws * np.array([1 / n] * m + [1 - m / n])
    assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize("tuning", TUNINGS)
def test_without_noise_a_constant_gradient_gives_the_notes_average(
    tuning: Any, releases: Releases
) -> None:
    """The last point is w_1 - eta m g, and the average is w_1 - eta (m-1)/2 g.

    See theory/arora-marinov-ullah.md, 7, items 2 and 4.
    """
    n, g = 50, np.array([0.6, -0.8])
    setting = make_setting("linear", n, 2, ZCDP(rho=1e-3), radius=1e3)
    result = run(
        PrivateSgd(tuning=tuning), setting, sample("linear", np.tile(-g, (n, 1)), radius=1e3)
    )
    eta, m = result.diagnostics["step_size"], n // 2 + 1
    assert result.iterates is not None
    assert eta * m < 1e3, "the projection is inactive"
    np.testing.assert_allclose(result.iterates[-1], -eta * m * g, rtol=1e-12)
    np.testing.assert_allclose(result.value, -eta * (m - 1) / 2 * g, rtol=1e-12)


def test_the_noise_of_the_steps_has_the_ledgers_scale() -> None:
    """With zero gradients every step of the path is -eta times its noise; chi-square at 1e-6."""
    n, d = 120, 60
    for tuning in TUNINGS:
        setting = make_setting("linear", n, d, radius=1e6)
        result = run(
            PrivateSgd(tuning=tuning), setting, sample("linear", np.zeros((n, d)), radius=1e6)
        )
        assert result.iterates is not None
        moves = np.diff(result.iterates, axis=0) / result.diagnostics["step_size"]
        assert len(moves) == result.diagnostics["steps"], "idle steps are noisy too"
        scale = 2 * 1.0 / math.sqrt(2 * 0.5)
        assert result.ledger.entries[0].noise == pytest.approx(scale, rel=1e-12)
        total = float(np.square(moves / scale).sum())
        law = stats.chi2(moves.size)
        assert 2 * min(law.cdf(total), law.sf(total)) > FALSE_ALARM
        assert len(np.unique(moves)) == moves.size


@pytest.mark.parametrize(("budget", "tuning"), list(itertools.product(BUDGETS, TUNINGS)))
def test_the_ledger_spends_the_budget_by_the_proven_accountant(budget: Any, tuning: Any) -> None:
    n = 500
    x, y = make_records(n, 3)
    result = run(
        PrivateSgd(tuning=tuning), make_setting("hinge", n, 3, budget), sample("hinge", x, y)
    )
    assert result.ledger.spent() == budget
    (entry,) = result.ledger.entries
    assert entry.sensitivity == 2.0
    if isinstance(budget, ApproxDP):
        sound = shuffle_steps(n, budget.epsilon, budget.delta)
        assert entry.noise == pytest.approx(2 * sound.noise_multiplier, rel=1e-12)
        assert entry.noise <= 2 / math.sqrt(2 * gaussian_rho(budget.epsilon, budget.delta)) * 1.001
    else:
        assert entry.noise == pytest.approx(2 / math.sqrt(2 * budget.rho), rel=1e-12)


def test_the_papers_noise_has_the_value_of_remark_1() -> None:
    """The ledger records the whole budget (theory/arora-marinov-ullah.md, 7, item 7)."""
    budget = ApproxDP(epsilon=0.05, delta=1e-6)
    setting = make_setting("hinge", 10_000, 3, budget)
    method = PrivateSgd(calibration="paper")
    assert method.plan(setting).noise_std == pytest.approx(190.900772, rel=1e-8)
    assert method.plan(setting).noise_std > PrivateSgd().plan(setting).noise_std
    ledger = Ledger(budget)
    method.plan(setting).open(ledger, 3)
    assert ledger.spent() == budget
    assert ledger.entries[0].noise == pytest.approx(190.900772, rel=1e-8)


@pytest.mark.parametrize(
    ("n", "budget", "sentence"),
    [
        (10_000, CONCENTRATED, "stated for (epsilon, delta) budgets only"),
        (10_000, ApproxDP(epsilon=0.01, delta=0.1), "delta <= 3 exp(-4)"),
        (100, ApproxDP(epsilon=0.01, delta=1e-6), "delta >= 6 exp(-n/16)"),
        (10, ApproxDP(epsilon=0.01, delta=0.05), "n >= 16"),
        (10_000, ApproxDP(epsilon=0.2, delta=1e-6), "epsilon <= 4 sqrt(ln(3/delta)/n) = 0.154"),
    ],
)
def test_outside_its_regime_the_paper_calibration_refuses_with_a_change_that_helps(
    n: int, budget: Any, sentence: str
) -> None:
    setting = make_setting("hinge", n, 3, budget)
    with pytest.raises(NotApplicable) as refusal:
        PrivateSgd(calibration="paper").plan(setting)
    assert sentence in str(refusal.value)
    ((name, value),) = refusal.value.changes
    if name == "calibration":
        PrivateSgd(calibration="tight").plan(setting)
    elif name in ("epsilon", "delta"):
        PrivateSgd(calibration="paper").plan(
            replace(setting, budget=replace(budget, **{name: value}))
        )
    else:
        assert name == "n" and value > n


def test_a_pure_budget_and_unbounded_records_are_refused() -> None:
    with pytest.raises(NotApplicable, match="cannot give pure DP"):
        PrivateSgd().plan(make_setting("hinge", budget=PURE))
    with pytest.raises(NotApplicable, match="needs a Lipschitz loss") as refusal:
        PrivateSgd(tuning="theory").plan(make_setting("hinge", lipschitz=False))
    assert refusal.value.changes == (("tuning", "practical"),)
    plan = PrivateSgd().plan(make_setting("hinge", lipschitz=False))
    assert plan.losses.feature_bound == plan.losses.lipschitz < math.inf


def test_step_sizes_are_those_of_the_paper_and_of_the_sharp_form() -> None:
    setting = make_setting("hinge", 1000, 5, ZCDP(rho=0.5))  # The noise has sigma = 2.
    plan = PrivateSgd(tuning="theory").plan(setting)
    assert plan.step_size == pytest.approx(1 / (math.sqrt(1000) * (1 + 2 * math.sqrt(5))))
    assert PrivateSgd().plan(setting).step_size == pytest.approx(1 / math.sqrt(501 * (1 + 4 * 5)))


@pytest.mark.parametrize(
    ("tuning", "bound"), one_in(2, [("practical", 0.2047344), ("theory", 0.2557135)])
)
def test_the_mean_excess_is_below_the_sharp_bounds(tuning: Any, bound: float) -> None:
    """The bounds are 0.2557135 with steps that use no record and 0.2047344 without such steps
    (theory/arora-marinov-ullah.md, 3); the test has level 1e-6.

    A record z is e_1 with probability 3/4, and else -e_1, so that F(w) = -w_1/2.
    """
    n, d, runs = 1000, 5, 120
    setting, method = make_setting("linear", n, d, ZCDP(rho=0.5)), PrivateSgd(tuning=tuning)
    rng = np.random.default_rng(0)
    excess = []
    for _ in range(runs):
        x = np.zeros((n, d))
        x[:, 0] = np.where(rng.random(n) < 0.75, 1.0, -1.0)
        result = run(method, setting, sample("linear", x), rng=rng)
        excess.append(0.5 * (1 - result.value[0]))
    error = float(np.std(excess)) / math.sqrt(runs)
    assert np.mean(excess) - stats.norm.isf(FALSE_ALARM) * error < bound
    assert 0.2 * bound < np.mean(excess) < 0.45, "learns, and no less than noise allows"


def test_scaling_the_loss_changes_only_the_noise() -> None:
    """Multiplying the loss, L and the noise by c gives the same path
    (theory/arora-marinov-ullah.md, 7, item 12).
    """
    x, _ = make_records(60, 3)
    setting = make_setting("linear", 60, 3)
    larger = replace(setting, constants=replace(setting.constants, lipschitz=4.0))
    result = run(PrivateSgd(), setting, sample("linear", x))
    four = run(PrivateSgd(), larger, sample("linear", 4 * x))
    np.testing.assert_allclose(result.value, four.value, rtol=1e-9)


def half_the_noise(patch: pytest.MonkeyPatch) -> None:
    """Halve the Gaussian noise of each step."""
    draw = np.random.Generator.normal
    patch.setattr(
        "dpsco_core.privacy.mechanisms.steps.gaussian_noise",
        lambda shape, std, rng: draw(rng, scale=std / 2, size=shape),
    )


def sensitivity_of_one_gradient(patch: pytest.MonkeyPatch) -> None:
    """Halve the sensitivity and the noise of every plan."""
    honest = private_sgd.PrivateSgd.plan
    patch.setattr(
        PrivateSgd,
        "plan",
        lambda self, s: (
            lambda p: replace(p, l2_sensitivity=p.l2_sensitivity / 2, noise_std=p.noise_std / 2)
        )(honest(self, s)),
    )


def order_is_not_random(patch: pytest.MonkeyPatch) -> None:
    """Make each pass read the records in their given order."""
    honest = fresh_order
    patch.setitem(
        globals(),
        "fresh_order",
        lambda n, p, rng: (np.sort(honest(n, p, rng)[0]), honest(n, p, rng)[1]),
    )


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        (half_the_noise, test_the_noise_of_the_steps_has_the_ledgers_scale),
        (
            sensitivity_of_one_gradient,
            lambda: test_the_ledger_spends_the_budget_by_the_proven_accountant(
                APPROXIMATE, "practical"
            ),
        ),
        (order_is_not_random, test_a_record_is_at_every_place_of_the_order_equally_often),
    ],
)
def test_a_fault_is_caught(fault: Any, test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        test()
