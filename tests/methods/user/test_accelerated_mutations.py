"""Deliberate faults in user-level accelerated descent, each caught by a check of its tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpsco_core.methods.user.accelerated import batches as accelerated_batches
from dpsco_core.methods.user.accelerated import run as accelerated_run
from dpsco_core.methods.user.accelerated import schedule as accelerated_schedule
from dpsco_core.methods.user.accelerated.optimiser import UserAccelerated
from dpsco_core.privacy import ApproxDP
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from tests.methods.user.accelerated_checks import (
    check_batches,
    check_draws,
    check_noise,
    check_replaced_user,
    check_target,
    check_worst_user,
)

UNIT_BUDGET = ApproxDP(epsilon=1.0, delta=1e-6)
Patch = pytest.MonkeyPatch


def a_third_of_the_sensitivity(patch: Patch) -> None:
    """Divide the sensitivity of the filtered mean by three."""
    plain = accelerated_batches.sharp_weights_sensitivity
    patch.setattr(accelerated_batches, "sharp_weights_sensitivity", lambda *a: plain(*a) / 3)
    patch.setattr(
        "dpsco_core.privacy.filter.plan.sharp_weights_sensitivity", lambda *a: plain(*a) / 3
    )


def phases_on_all_users(patch: Patch) -> None:
    """Let every phase read all users."""
    from dpsco_core.problems.samples.users import ItemSample

    patch.setattr(ItemSample, "part", lambda self, start, stop: self)
    patch.setattr("dpsco_core.methods.user.release.require", lambda condition, *rest: None)


def no_filter(patch: Patch) -> None:
    """Include every user in the filtered mean."""
    patch.setattr(RobustFilter, "inclusion_of", lambda self, counts: np.ones(len(counts)))


def noise_over_root_two(patch: Patch) -> None:
    """Divide the Gaussian noise by the square root of 2."""
    patch.setattr(
        "dpsco_core.privacy.mechanisms.tested.add_gaussian_noise",
        lambda value, std, rng: value + rng.normal(scale=std / math.sqrt(2), size=value.shape),
    )


def noise_of_one_step(patch: Patch) -> None:
    """Calibrate the noise of each step as if it were the only step."""
    from dpsco_core.privacy.mechanisms.tested import TestedGaussian

    patch.setattr(
        TestedGaussian, "noise_std", property(lambda s: s.l2_sensitivity * s.noise_multiplier)
    )


def threshold_noise_every_step(patch: Patch) -> None:
    """Draw the noise of the threshold anew in each step."""
    from dpsco_core.privacy.mechanisms.tested import TestedSteps

    plain = TestedSteps.passes

    def passes(self: Any, score: float) -> bool:
        """Draw the threshold anew, and test a score."""
        self.__post_init__()
        return plain(self, score)

    patch.setattr(TestedSteps, "passes", passes)


def batches_with_replacement(patch: Patch) -> None:
    """Draw each batch of users with replacement."""
    honest = accelerated_run.run_phase

    class Replacing(np.random.Generator):
        def choice(self, n: int, size: int, replace: bool) -> Any:
            """Draw with replacement."""
            return super().choice(n, size=size, replace=True)

    def run_phase(plan: Any, phase: Any, users: Any, w: Any, ledger: Any, rng: Any, *rest: Any):
        """Run a phase with batches drawn with replacement."""
        return honest(plan, phase, users, w, ledger, Replacing(rng.bit_generator), *rest)

    patch.setattr(accelerated_run, "run_phase", run_phase)


def one_batch_for_all_steps(patch: Patch) -> None:
    """Let each step read the first users."""
    honest = accelerated_run.run_phase

    class Fixed(np.random.Generator):
        def choice(self, n: int, size: int, replace: bool) -> Any:
            """Return the first indices."""
            return np.arange(size)

    def run_phase(plan: Any, phase: Any, users: Any, w: Any, ledger: Any, rng: Any, *rest: Any):
        """Run a phase with one batch for all steps."""
        return honest(plan, phase, users, w, ledger, Fixed(rng.bit_generator), *rest)

    patch.setattr(accelerated_run, "run_phase", run_phase)


def twice_the_amplification(patch: Patch) -> None:
    """Amplify privacy as if batches had half their size."""
    plain = accelerated_batches.subsample
    patch.setattr(
        accelerated_batches,
        "subsample",
        lambda base, batch_size, count: plain(base, batch_size=batch_size // 2, count=count),
    )


def gradient_ascent(patch: Patch) -> None:
    """Let the descent go up the gradient."""
    patch.setattr(
        accelerated_run, "mean_gradients", lambda plan, users, w, rng: -users.user_gradients(w)
    )


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (a_third_of_the_sensitivity, check_worst_user),
        (no_filter, check_worst_user),
        (
            phases_on_all_users,
            lambda p: check_replaced_user(
                p, UserAccelerated(tuning="theory"), "logistic", 3000, 2900
            ),
        ),
        (noise_over_root_two, check_noise),
        (noise_of_one_step, check_noise),
        (threshold_noise_every_step, lambda p: check_draws()),
        (batches_with_replacement, check_batches),
        (one_batch_for_all_steps, check_batches),
        (twice_the_amplification, check_batches),
        (gradient_ascent, lambda p: check_target()),
    ],
)
def test_a_fault_is_caught(fault: Any, check: Any, monkeypatch: Patch) -> None:
    accelerated_schedule._best_division.cache_clear()
    fault(monkeypatch)
    with pytest.raises((AssertionError, ValueError, RuntimeError)):
        check(monkeypatch)
