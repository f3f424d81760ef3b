"""The noise that is added, and what the ledger says of it.

Statistical checks have a false-alarm rate of 1e-6 each and fixed seeds.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.methods.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    NoiseSmoothing,
    SimpleClipping,
)
from dpsco_core.methods.mean.iterative import theory_groups
from dpsco_core.methods.records import groups
from dpsco_core.privacy import ZCDP, ApproxDP, Budget
from tests.methods.mean.checks import (
    APPROXIMATE,
    CONCENTRATED,
    PRIVATE,
    PURE,
    check_ledger_equals_budget,
    check_noise,
    make_setting,
    run,
)

CALIBRATIONS = ("tight", "paper")
TUNINGS = ("practical", "theory")
VARIANTS = [
    m(calibration=c, tuning=t) for m, c, t in itertools.product(PRIVATE, CALIBRATIONS, TUNINGS)
]
MANY_GROUPS = [IterativeUpdating(calibration=c, groups=200, radius=1.0) for c in CALIBRATIONS]


BUDGETS: tuple[Budget, ...] = (
    CONCENTRATED,
    APPROXIMATE,
    ZCDP(rho=1e-4),
    ZCDP(rho=40.0),
    ApproxDP(epsilon=0.1, delta=1e-9),
    ApproxDP(epsilon=30.0, delta=1e-5),
)


def data(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return heavy-tailed rows."""
    return np.random.default_rng(seed).standard_t(2.5, size=(n, d))


def records(method: Any) -> int:
    """Return a number of records that is enough for the method, and no multiple of its blocks."""
    theory = isinstance(method, IterativeUpdating) and method.tuning == "theory"
    return 2 * theory_groups() + 100 if theory else 409


@pytest.fixture
def without_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the walk of iterative updating, which comes after the release."""
    monkeypatch.setattr(groups, "walk_to_centre", lambda points, *_: points[0])


@pytest.mark.usefixtures("without_the_walk")
@pytest.mark.parametrize("method", [*VARIANTS, *MANY_GROUPS], ids=str)
@pytest.mark.parametrize("budget", [CONCENTRATED, APPROXIMATE], ids=str)
def test_noise_has_the_scale_of_the_papers_formula(method: Any, budget: Budget) -> None:
    n, d = records(method), 4 if isinstance(method, IterativeUpdating) else 400
    check_noise(method, make_setting(n, d, budget=budget), data(n, d), seed=11)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_laplace_noise_has_the_scale_of_the_papers_formula(calibration: Any) -> None:
    method = CoordinatewisePure(calibration=calibration, blocks=5)
    check_noise(method, make_setting(53, 400, budget=PURE), data(53, 400), seed=5)


def test_the_noise_test_catches_5_percent_too_little_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method = SimpleClipping()
    setting, x = make_setting(20, 400), data(20, 400)
    for seed in range(20):
        check_noise(method, setting, x, seed=seed)
    monkeypatch.setattr(
        "dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise",
        lambda value, std, rng: value + rng.normal(scale=0.95 * std, size=value.shape),
    )
    for seed in range(20):
        with pytest.raises(AssertionError, match="times what is expected"):
            check_noise(method, setting, x, seed=seed)


def test_the_noise_has_the_values_of_the_worked_examples() -> None:
    setting = make_setting(n=1000, d=20, budget=ZCDP(rho=0.02))
    assert SimpleClipping(radius=5.0).plan(setting).noise.noise_std == pytest.approx(
        0.05, rel=1e-14
    )
    assert IterativeUpdating(radius=5.0, groups=10).plan(setting).noise.noise_std == pytest.approx(
        0.5
    )
    even = CoordinatewiseCDP(threshold=10.0, blocks=8)
    assert even.plan(setting).noise.noise_std == pytest.approx(
        0.24 * math.sqrt(20 / 0.04), rel=1e-14
    )
    printed = replace(even, calibration="paper")
    ratio = printed.plan(setting).noise.noise_std / even.plan(setting).noise.noise_std
    assert ratio == pytest.approx(4, rel=1e-14)
    pure = CoordinatewisePure(threshold=10.0, blocks=7, calibration="paper")
    # Laplace noise of a budget epsilon costs a rho of epsilon + exp(-epsilon) - 1.
    epsilon = setting.laplace_epsilon
    assert epsilon + math.exp(-epsilon) - 1 == pytest.approx(0.02, rel=1e-12)
    scale = pure.plan(setting).noise.noise_scale
    assert scale == pytest.approx(12 * 10 * 7 * 20 / (epsilon * 1000), rel=1e-14)
    smooth = NoiseSmoothing(tau=10.0, smoothing_variance=1.0, calibration="paper")
    assert smooth.plan(setting).noise.noise_std == pytest.approx(math.sqrt(100 * 20 / 0.02) / 1000)
    ratio = (
        replace(smooth, calibration="tight").plan(setting).noise.noise_std
        / smooth.plan(setting).noise.noise_std
    )
    assert ratio**2 == pytest.approx(0.8286, abs=5e-5)  # The squared ratio is 2 S_1^2.


def test_printed_noise_with_the_real_number_of_blocks_would_be_too_small() -> None:
    """At d = 5, beta = 0.1 and n = 37 the printed m is 18.42, but there are 19 blocks of one
    record.
    """
    real = 4 * math.log(2 * 5 / 0.1)
    assert 12 * real / 37 < 6 < 12 * 19 / 37


@pytest.mark.usefixtures("without_the_walk")
@pytest.mark.parametrize("method", MANY_GROUPS, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_what_many_groups_spend_is_the_budget(method: Any, budget: Budget) -> None:
    """Groups are drawn in secret order where that is allowed; a single group is covered by
    `tests/trust`.
    """
    check_ledger_equals_budget(method, make_setting(409, 3, budget=budget), data(409, 3))


def test_printed_noise_below_the_threshold_is_flagged_and_above_it_is_not() -> None:
    setting, x = make_setting(50, 2), data(50, 2)
    for variance, flawed in ((0.1, True), (0.7556, True), (0.7557, False), (1.0, False)):
        method = NoiseSmoothing(smoothing_variance=variance, calibration="paper")
        ledger = run(method, setting, x)
        assert bool(ledger.flaws) is ledger.entries[0].flawed is flawed
        assert not run(replace(method, calibration="tight"), setting, x).flaws
    ledger = run(NoiseSmoothing(smoothing_variance=0.1, calibration="paper"), setting, x)
    entry = ledger.entries[0]
    assert (entry.proven_sensitivity / entry.sensitivity) ** 2 == pytest.approx(1.7722, abs=5e-5)
    assert "1.77 times less private than claimed" in ledger.flaws[0]
    assert ledger.bound_by() == ()


@pytest.mark.parametrize("tuning", TUNINGS)
@pytest.mark.parametrize("method", PRIVATE)
def test_nothing_is_flagged_unless_asked_for(method: Any, tuning: Any) -> None:
    for calibration in CALIBRATIONS:
        instance = method(calibration=calibration, tuning=tuning)
        n = records(instance)
        assert not run(instance, make_setting(n, 3), data(n, 3)).flaws
