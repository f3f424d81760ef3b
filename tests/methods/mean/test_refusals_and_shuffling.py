"""Refusals of mean estimators and their suggestions, and when iterative updating may shuffle."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.methods.average import MeanPlan
from dpsco_core.methods.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    NoiseSmoothing,
)
from dpsco_core.methods.mean.coordinatewise import theory_blocks
from dpsco_core.privacy import ApproxDP, BudgetExceeded, Ledger, amplify
from dpsco_core.privacy.mechanisms import GaussianNoise
from tests.golden_sentences import GOLDEN
from tests.methods.mean.checks import (
    APPROXIMATE,
    GAUSSIAN,
    PRIVATE,
    PURE,
    check_ledger_equals_budget,
    check_split_is_fresh,
    make_setting,
    run,
)

CALIBRATIONS = ("tight", "paper")
MANY_GROUPS = [IterativeUpdating(calibration=c, groups=200, radius=1.0) for c in CALIBRATIONS]


def data(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return heavy-tailed rows."""
    return np.random.default_rng(seed).standard_t(2.5, size=(n, d))


@pytest.mark.parametrize("method", [m() for m in PRIVATE], ids=str)
def test_a_ledger_that_is_spent_refuses_before_any_noise_is_drawn(method: Any) -> None:
    setting, rows = make_setting(40, 2), DenseRows(data(40, 2))
    ledger = Ledger(setting.budget)
    method.release(rows, method.plan(setting), ledger, np.random.default_rng(0))
    with pytest.raises(BudgetExceeded):
        method.release(rows, method.plan(setting), ledger, np.random.default_rng(0))
    assert len(ledger.entries) == 1


@pytest.mark.parametrize("method", [m(calibration=c) for m in GAUSSIAN for c in CALIBRATIONS])
def test_a_pure_budget_is_refused_with_a_change_that_works(method: Any) -> None:
    setting = make_setting(409, 3, budget=PURE)
    with pytest.raises(NotApplicable) as refusal:
        method.plan(setting)
    assert str(refusal.value) == (GOLDEN["Gaussian noise under pure DP, and a way out"])
    assert refusal.value.changes == (("method", CoordinatewisePure.card.slug),)
    check_ledger_equals_budget(CoordinatewisePure(), setting, data(409, 3))
    approximate = replace(setting, budget=ApproxDP(epsilon=1.0, delta=1e-6))
    check_ledger_equals_budget(method, approximate, data(409, 3))


@pytest.mark.parametrize(
    ("method", "fewest_records"),
    [
        (CoordinatewiseCDP(tuning="theory"), 20),
        (CoordinatewiseCDP(tuning="theory", calibration="paper"), theory_blocks(3)),
        (CoordinatewisePure(blocks=7), 7),
        (IterativeUpdating(tuning="theory"), 2397),
        (IterativeUpdating(groups=12), 12),
    ],
    ids=str,
)
def test_too_few_records_are_refused_with_a_change_that_works(
    method: Any, fewest_records: int
) -> None:
    with pytest.raises(
        NotApplicable, match=f"need at least as many records, and n={fewest_records - 1}"
    ):
        method.plan(make_setting(fewest_records - 1, 3))
    with pytest.raises(NotApplicable) as refusal:
        method.plan(make_setting(1, 3))
    assert refusal.value.nearest == f"set n={fewest_records}"
    ((name, value),) = refusal.value.changes
    assert (name, value) == ("n", fewest_records)
    check_ledger_equals_budget(method, make_setting(fewest_records, 3), data(fewest_records, 3))


@pytest.mark.parametrize("method", [m() for m in PRIVATE], ids=str)
def test_the_practical_tuning_runs_on_a_single_record(method: Any) -> None:
    check_ledger_equals_budget(method, make_setting(1, 2), data(1, 2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: CoordinatewiseCDP(blocks=0),
        lambda: CoordinatewisePure(blocks=-1),
        lambda: IterativeUpdating(groups=0),
        lambda: IterativeUpdating(quantile=0.5),
        lambda: IterativeUpdating(quantile=1.0),
        lambda: NoiseSmoothing(smoothing_variance=0.0),
        lambda: NoiseSmoothing(smoothing_variance=2.5),
    ],
)
def test_parameters_out_of_range_are_refused_at_once(make: Any) -> None:
    with pytest.raises(InvalidInput, match="must be"):
        make()


def is_parallel(plan: MeanPlan[Any, Any]) -> bool:
    """Whether the groups are protected one by one, without use of their secret split."""
    return isinstance(plan.noise, GaussianNoise)


def test_shuffling_is_used_only_where_it_is_allowed_and_helps() -> None:
    tight, printed = MANY_GROUPS
    assert is_parallel(tight.plan(make_setting(409, 3)))  # Shuffling is never used under zCDP.
    assert is_parallel(printed.plan(make_setting(409, 3)))
    plan = tight.plan(make_setting(409, 3, budget=APPROXIMATE))
    assert plan.noise.amplification == amplify(200, 1.0, 1e-6, "numerical")
    assert plan.noise.amplification.rho_group == pytest.approx(
        0.0396832, abs=5e-8
    )  # The expected value is that of theory/zhao-et-al.md, 2.6.
    few_records = IterativeUpdating(groups=50).plan(make_setting(409, 3, budget=APPROXIMATE))
    # Shuffling is not used, since the exact Gaussian curve alone allows more.
    assert is_parallel(few_records)
    assert few_records.noise.rho == pytest.approx(0.0280145, abs=5e-8)
    ledger = run(tight, make_setting(409, 3, budget=APPROXIMATE), data(409, 3))
    assert ledger.entries[0].mechanism == "shuffled gaussian"
    assert ledger.entries[0].disjoint_blocks == 200


def test_the_printed_amplification_needs_both_of_its_conditions() -> None:
    theory = IterativeUpdating(calibration="paper", tuning="theory", radius=1.0)

    def rho(epsilon: float, groups: int | None = None) -> tuple[bool, float]:
        """Return whether a plan shuffles, and the rho of its release or of a group."""
        setting = make_setting(5000, 3, budget=ApproxDP(epsilon=epsilon, delta=1e-6))
        plan = replace(theory, groups=groups).plan(setting)
        noise = plan.noise
        if isinstance(noise, GaussianNoise):
            return False, noise.rho
        return True, noise.amplification.rho_group

    # The expected values are those of theory/zhao-et-al.md, 3.5.
    assert rho(1.0) == (True, pytest.approx(3.68991991789e-4, rel=1e-10))
    assert rho(1.0, 800) == (True, pytest.approx(1.28469675921e-4, rel=1e-10))
    # Theorem 6's own condition fails here, so the share is that of equation (15) without
    # amplification.
    assert rho(6.0) == (False, pytest.approx((6 / (1 + 2 * math.sqrt(math.log(1e6)))) ** 2))
    # The condition that the theorem omits, k >= 16 e^eps0 ln(4/delta), fails for the second number
    # of groups.
    assert rho(1.0, 300)[0]
    assert rho(1.0, 240) == (False, pytest.approx(0.0140588188106, rel=1e-10))


def test_the_split_is_uniform_and_fresh_at_every_release() -> None:
    for n, groups in ((8, 4), (11, 4), (5, 2)):
        check_split_is_fresh(
            IterativeUpdating(groups=groups, radius=1.0), make_setting(n, 1), seed=n
        )


@pytest.mark.parametrize("tuning", ["practical", "theory"])
def test_a_method_runs_without_a_public_bound_on_the_mean(tuning: Any) -> None:
    setting = make_setting(n=1000, d=3)
    unbounded = replace(setting, constants=replace(setting.constants, mean_gradient_bound=math.inf))
    method = IterativeUpdating(radius=5.0, groups=8, tuning=tuning)
    run(method, unbounded, data(1000, 3))  # The helper `run` checks that the release is finite.
