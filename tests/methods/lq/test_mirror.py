"""One-pass truncated mirror descent: sensitivity, noise, limits and plans."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.bounds.lq.mirror import b4
from dpsco_core.data import DenseRows, StudentT
from dpsco_core.data.rows import ScaledRows
from dpsco_core.geometry.geometries import L2, Geometry
from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.geometry.norms import dual_exponent, row_norms
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.lq import mirror as lp_mirror
from dpsco_core.methods.lq.mirror import base_lengths, truncated_sum
from dpsco_core.methods.lq.mirror_schedule import descent_inputs
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.problems.quadratic import Quadratic
from dpsco_core.problems.samples.linear import LinearSample
from tests.folded import each
from tests.methods.euclidean.losses import make_records, neighbours
from tests.methods.lq.mirror_helpers import (
    APPROXIMATE,
    BATCHED,
    CONCENTRATED,
    FALSE_ALARM,
    GAUSSIAN,
    GG,
    REDUCED,
    SHUFFLED,
    check_ledger,
    check_noise,
    forced,
    geometry,
    in_steps,
    make_setting,
    run,
    sample,
    visiting,
    with_plan,
)

KINDS = ("logistic", "huber", "least-squares", "mean", "linear", "other")
SMALL, EUCLIDEAN = (1.0, 1.1, 1.5, 2.0), (2.0, 4.0, math.inf)


@pytest.mark.parametrize(("kind", "exponent"), list(itertools.product(KINDS, (2.0, 3.0, math.inf))))
def test_gradients_above_the_level_become_zero_and_the_others_stay_unchanged(
    kind: str, exponent: float
) -> None:
    """Gradients are formed one by one; long ones become 0, without shortening, and so does a
    NaN.
    """
    setting, rng = make_setting(n=60, d=4), np.random.default_rng(0)
    x, y = make_records(60, 4)
    x[5], x[6], x[7] = np.nan, np.inf, 1e300
    losses, w = sample(setting, kind, x, y), rng.standard_normal(4) / 3
    rows, order = losses.gradients(w), rng.permutation(60)
    with np.errstate(all="ignore"):
        norms = row_norms(np.array([losses.gradient(w, i) for i in range(60)]), exponent)
    level = float(np.nanmedian(norms))
    short_rows = [i for i in order[:40] if norms[i] <= level and i not in (5, 6, 7)]
    assert 5 < len(short_rows) < 35
    total = truncated_sum(rows, order[:40], level, exponent, base_lengths(rows, exponent))
    expected = np.sum([losses.gradient(w, i) for i in short_rows], axis=0)
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-12)
    assert isinstance(rows, ScaledRows) == isinstance(losses, LinearSample)


def test_the_size_of_blocks_does_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = make_setting(n=50, d=3)
    for kind in ("logistic", "mean"):
        losses, w = sample(setting, kind, *make_records(50, 3)), np.full(3, 0.2)
        order = np.random.default_rng(0).permutation(50)
        rows = losses.gradients(w)
        whole = truncated_sum(rows, order, 0.4, 3.0, base_lengths(rows, 3.0))
        with monkeypatch.context() as patch:
            patch.setattr(lp_mirror, "rows_per_block", lambda d: 7)
            blocks = truncated_sum(rows, order, 0.4, 3.0, base_lengths(rows, 3.0))
        np.testing.assert_allclose(whole, blocks, atol=1e-13)


def attained_share(method: Any, q: float, size: float = 0.999) -> float:
    """Return the share of the sensitivity that two opposite records attain; `size` is relative to
    the level.
    """
    setting = make_setting(q, n=6, kind="linear")
    level = method.plan(setting).statistic.threshold
    dual = 2.0 if isinstance(method, REDUCED) else dual_exponent(q)
    extremes = np.zeros((2, 6, 3))
    unit = size * level / np.linalg.norm(np.ones(3), dual)
    extremes[0, 2], extremes[1, 2] = unit, -unit
    sums = []
    with in_steps(1):
        for x in extremes:
            with visiting(np.zeros((1, 3))) as visited:
                ledger = Ledger(setting.budget)
                rng = np.random.default_rng(0)
                method.release(sample(setting, "linear", x), method.plan(setting), ledger, rng)
            sums.append(6 * visited.gradients[0])
    gap = (sums[0] - sums[1])[None, :]
    measured = dual if ledger.entries[0].mechanism == GG else 2.0
    return float(row_norms(gap, measured)[0]) / ledger.entries[0].sensitivity


@pytest.mark.parametrize("q", SMALL)
@pytest.mark.parametrize("noise", [GG, GAUSSIAN])
def test_the_sensitivity_is_attained(q: float, noise: Any) -> None:
    assert attained_share(BATCHED(noise=noise), q) == pytest.approx(0.999, rel=1e-9)


@pytest.mark.parametrize("q", EUCLIDEAN)
def test_the_reductions_sensitivity_is_attained(q: float) -> None:
    assert attained_share(REDUCED(), q) == pytest.approx(0.999, rel=1e-9)


@pytest.mark.parametrize("size", [1.001, 1.5, 3.0, 1e6])
def test_a_record_just_beyond_the_level_is_left_out(size: float) -> None:
    for q in SMALL:
        assert attained_share(BATCHED(), q, size) == attained_share(BATCHED(noise=GG), q, size) == 0
    for q in EUCLIDEAN:
        assert attained_share(REDUCED(), q, size) == 0


METHODS = [
    *(BATCHED(noise=noise, calibration=c) for noise in (GG, GAUSSIAN) for c in ("tight", "paper")),
    *(SHUFFLED(noise=noise, calibration=c) for noise in (GG, GAUSSIAN) for c in ("tight", "paper")),
    *(REDUCED(calibration=c) for c in ("tight", "paper")),
]


@each("method", METHODS, ids=str)
@each("budget", [CONCENTRATED, APPROXIMATE, ZCDP(rho=1e-4)], ids=str)
def test_the_ledger_holds_the_budget_in_one_entry(method: Any, budget: Any) -> None:
    q = 3.0 if isinstance(method, REDUCED) else 1.5
    check_ledger(method, make_setting(q, n=300, budget=budget))


@pytest.mark.parametrize("method", METHODS[4:], ids=str)
def test_the_ledger_holds_the_budget_in_one_entry_in_secret_order(method: Any) -> None:
    q = 3.0 if isinstance(method, REDUCED) else 1.5
    budget = ApproxDP(epsilon=0.05, delta=1e-5)
    with forced("shuffled"):
        check_ledger(method, make_setting(q, n=3000, budget=budget))


@pytest.mark.parametrize("steps", [40, 600])
def test_the_noise_of_shuffled_records_has_the_ledgers_scale(steps: int) -> None:
    """A Gaussian batch has 15 records or 1; generalized Gaussian records are taken one by one."""
    setting = make_setting(1.5, n=600, d=8, budget=APPROXIMATE, kind="linear")
    with forced("shuffled"), in_steps(steps):
        assert SHUFFLED().plan(setting).statistic.draws(600 // steps) == 600 // steps
        check_noise(SHUFFLED(), setting)
        if steps == 600:
            check_noise(SHUFFLED(noise=GG), setting)


def batches_of_a_record(n: int, batches: int, draws: int) -> np.ndarray:
    """Return the number of the batch that holds record 4, in each of `draws` runs."""
    setting = make_setting(1.5, n=n, budget=APPROXIMATE, kind="linear")
    x = np.zeros((n, 3))
    x[4] = 0.1
    counts = np.zeros(batches)
    with forced("shuffled"), in_steps(batches), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Steps, "summed_noise", lambda self, count, d, rng: np.zeros(d))
        for seed in range(draws):
            with visiting(np.zeros((1, 3))) as visited:
                SHUFFLED().release(
                    sample(setting, "linear", x),
                    SHUFFLED().plan(setting),
                    Ledger(APPROXIMATE),
                    np.random.default_rng(seed),
                )
            moved_steps = np.flatnonzero(np.any(visited.gradients, axis=1))
            assert len(moved_steps) == 1
            counts[moved_steps] += 1
    return counts


def test_in_secret_order_a_record_is_in_every_batch_equally_often() -> None:
    assert stats.chisquare(batches_of_a_record(600, 6, 300)).pvalue > FALSE_ALARM


def test_without_noise_and_truncation_one_batch_at_q_2_is_a_projected_gradient_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Steps, "summed_noise", lambda self, count, d, rng: np.zeros(d))
    for radius in (0.02, 50.0):
        for method, kind in itertools.product((BATCHED(), SHUFFLED(), REDUCED()), KINDS):
            setting = make_setting(2.0, n=30, kind=kind, radius=radius, smoothness=1.0)
            losses = sample(setting, kind, *make_records(30, 3, shift=0.3))
            with in_steps(1), with_plan(threshold=1e9):
                result = run(method, setting, losses)
            step = losses.mean_gradient(np.zeros(3)) / result.diagnostics["step_weight"]
            np.testing.assert_allclose(result.value, setting.body.project(-step), atol=1e-12)


def test_without_noise_and_truncation_the_batches_are_those_of_mirror_descent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reference takes three batches of 10 by index, without an active constraint, and leaves
    one record out.
    """
    monkeypatch.setattr(Steps, "summed_noise", lambda self, count, d, rng: np.zeros(d))
    setting = make_setting(1.5, n=31, radius=1e3, diameter=2.0)
    x, _ = make_records(31, 3, shift=0.3)
    with with_plan(steps=3, batch_size=10, threshold=1e9):
        result = run(BATCHED(), setting, sample(setting, "mean", x))
    mirror = PowerMirror.for_space(RegularSpace(d=3, exponent=1.5))
    w, total, gamma = np.zeros(3), np.zeros(3), result.diagnostics["step_weight"]
    for t in range(3):
        pull = w - x[10 * t : 10 * t + 10].mean(axis=0)
        w = mirror.conjugate_gradient(mirror.gradient(w) - pull / gamma)
        total += w
    np.testing.assert_allclose(result.value, total / 3, atol=1e-12)
    assert result.diagnostics["gradient_calls"] == 30


@pytest.mark.parametrize("tuning", ["practical", "theory"])
@pytest.mark.parametrize("budget", [CONCENTRATED, ApproxDP(epsilon=0.5, delta=1e-5)], ids=str)
def test_at_q_2_the_methods_are_the_euclidean_one(tuning: Any, budget: Any) -> None:
    """The plans and the points are equal, and so are kappa, which is 1, and the laws of both
    noises.
    """
    values = []
    for shape in (geometry(2.0), L2):
        setting = make_setting(n=3000, shape=shape, budget=budget)
        losses = sample(setting, "mean", *make_records(3000, 3)[:1])
        for method in (SHUFFLED, REDUCED):
            values.append(run(method(tuning=tuning), setting, losses).value)
    for value in values[1:]:
        np.testing.assert_array_equal(values[0], value)


SHAPES = [
    *(("lq", q, m) for q in (1.1, 1.5, 2.0) for m in (SHUFFLED, BATCHED)),
    *(("lq", q, REDUCED) for q in EUCLIDEAN),
    *((kind, None, BATCHED) for kind in ("l1", "solid-simplex", "group-l1", "sparse")),
    *((kind, None, REDUCED) for kind in ("l2", "linf", "group-l1", "sparse")),
]


@each(("kind", "q", "family"), SHAPES)
@each("tuning", ["practical", "theory"])
def test_every_point_is_in_the_set(kind: str, q: Any, family: Any, tuning: Any) -> None:
    """The noise is far larger than the set; `run` checks the path."""
    setting = make_setting(
        n=400, d=10, shape=Geometry(kind=kind, q=q), budget=ApproxDP(epsilon=0.1, delta=1e-6)
    )
    x, y = make_records(400, 10)
    for calibration in ("tight", "paper"):
        method = family(tuning=tuning, calibration=calibration)
        for loss in ("logistic", "mean"):
            result = run(method, setting, sample(setting, loss, x, y))
            assert np.abs(result.value).max() > 0


def test_the_released_value_is_the_average_of_the_steps_points() -> None:
    setting = make_setting(1.5, n=300)
    with in_steps(20):
        result = run(BATCHED(), setting, sample(setting, "mean", *make_records(300, 3)[:1]))
    assert result.iterates is not None and len(result.iterates) == 21
    np.testing.assert_allclose(result.value, result.iterates[1:].mean(axis=0), atol=1e-14)


def test_a_longer_run_keeps_the_order_of_the_records() -> None:
    """Records left over after the last whole batch have no effect."""
    setting = make_setting(1.5, n=31)
    values = []
    for x, y in neighbours(31, 3, 30)[:4]:
        with with_plan(steps=3, batch_size=10):
            values.append(run(BATCHED(), setting, sample(setting, "logistic", x, y)).value)
    for value in values[1:]:
        np.testing.assert_array_equal(values[0], value)


def test_the_mean_excess_is_below_the_explicit_bound() -> None:
    """Bound B4 holds in expectation over data and noise, one-sided at 1e-6, for q = 1.5, 2 and
    inf.
    """
    n, d, runs = 3000, 5, 40
    law = StudentT(d=d, moment_order=2.0, margin=0.5, offset=0.5)
    for q, method in ((1.5, BATCHED()), (1.5, BATCHED(noise=GG)), (math.inf, REDUCED())):
        problem = Quadratic(distribution=law, radius=1.0, geometry=geometry(q))
        setting = problem.setting(n, ZCDP(rho=1.0))
        plan = method.plan(setting)
        noise: Any = getattr(method, "noise", None) or GAUSSIAN
        inputs = descent_inputs(setting, "public", noise, "tight")
        bound = math.fsum(
            b4(inputs, plan.descent.steps, plan.statistic.threshold, plan.descent.weight)
        )
        rng = np.random.default_rng(0)
        excess = []
        for _ in range(runs):
            result = method.release(
                problem.sample(n, rng), method.plan(setting), Ledger(setting.budget), rng
            )
            excess.append(problem.excess_risk(result.value).value)
        error = float(np.std(excess)) / math.sqrt(runs)
        assert np.mean(excess) - stats.norm.isf(FALSE_ALARM) * error < bound
        start = problem.excess_risk(np.zeros(d)).value
        assert np.mean(excess) + 5 * error < start, "it learns"


def test_scaling_the_losses_scales_level_and_weight_and_leaves_the_path() -> None:
    """Losses 4 times as large scale tau, gamma and the noise by 4, and give the same points."""
    x, _ = make_records(400, 3)
    for method in (BATCHED(), BATCHED(tuning="theory"), SHUFFLED(tuning="theory", noise=GG)):
        setting = make_setting(1.5, n=400, budget=APPROXIMATE, kind="linear", smoothness=1.0)
        four = make_setting(
            1.5,
            n=400,
            budget=APPROXIMATE,
            kind="linear",
            smoothness=4.0,
            coordinate_moment=16.0,
            variance_trace=48.0,
            mean_gradient_bound=2.0,
        )
        a = run(method, setting, sample(setting, "linear", x))
        b = run(method, four, sample(four, "linear", 4 * x))
        assert a.diagnostics["steps"] == b.diagnostics["steps"]
        for name in ("truncation_level", "step_weight", "noise_std"):
            assert b.diagnostics[name] == pytest.approx(4 * a.diagnostics[name], rel=1e-3)
        np.testing.assert_allclose(a.value, b.value, atol=1e-3)


def test_data_of_broken_records_give_noise_only() -> None:
    setting = make_setting(1.5, n=20)
    plan, x = BATCHED().plan(setting), np.full((20, 3), math.nan)
    with visiting(np.zeros((1, 3))) as visited:
        rows = sample(setting, "mean", x)
        BATCHED().release(rows, plan, Ledger(CONCENTRATED), np.random.default_rng(0))
    with visiting(np.zeros((1, 3))) as clean:
        zeros = sample(setting, "mean", np.zeros((20, 3)))
        BATCHED().release(zeros, plan, Ledger(CONCENTRATED), np.random.default_rng(0))
    np.testing.assert_array_equal(visited.gradients, clean.gradients)
    assert isinstance(rows.points, DenseRows)
