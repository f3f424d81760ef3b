"""Deliberate faults of truncated mirror descent, each caught by a check of the other tests.

A check passes without the patch, and raises AssertionError with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.methods.lq import mirror as lp_mirror
from dpsco_core.methods.lq.mirror import TruncatedMeans
from dpsco_core.privacy import ApproxDP, Ledger
from dpsco_core.privacy.mechanisms.shaped import ShapedSteps
from dpsco_core.privacy.mechanisms.steps import Steps
from tests.methods.lq import test_mirror as tests
from tests.methods.lq.mirror_helpers import (
    APPROXIMATE,
    BATCHED,
    GG,
    REDUCED,
    SHUFFLED,
    check_ledger,
    check_neighbours,
    check_noise,
    forced,
    in_steps,
    make_setting,
)

Patch = pytest.MonkeyPatch
Array = np.ndarray


def no_truncation(patch: Patch) -> None:
    """Take the truncation of long gradients away."""
    honest = lp_mirror.truncated_sum
    patch.setattr(
        lp_mirror,
        "truncated_sum",
        lambda rows, batch, level, *rest: honest(rows, batch, 1e140, *rest),
    )


def twice_the_level(patch: Patch) -> None:
    """Truncate gradients at twice the level."""
    honest = lp_mirror.truncated_sum
    patch.setattr(
        lp_mirror,
        "truncated_sum",
        lambda rows, batch, level, *rest: honest(rows, batch, 2 * level, *rest),
    )


def shortened_instead_of_left_out(patch: Patch) -> None:
    """Shorten long gradients, which is private but another algorithm: broken rows keep full
    size.
    """

    def clip(rows: Any, batch: Array, level: float, exponent: float, lengths: Any) -> Array:
        """Return the sum of gradients, the long ones shortened to the level."""
        block = rows.take(batch)
        with np.errstate(all="ignore"):
            norms = np.linalg.norm(block, exponent, axis=1)
            weights = np.where(np.isfinite(norms), level / np.maximum(norms, level), 0.0)
        return np.asarray(weights @ np.nan_to_num(block, posinf=0, neginf=0))

    patch.setattr(lp_mirror, "truncated_sum", clip)
    patch.setattr(tests, "truncated_sum", clip)


def a_nan_is_kept(patch: Patch) -> None:
    """Keep gradients that are not numbers."""

    def careless(rows: Any, batch: Array, level: float, exponent: float, lengths: Any) -> Array:
        """Return the sum of all gradients that are not long, whether or not they are numbers."""
        block = rows.take(batch)
        with np.errstate(all="ignore"):
            is_long = np.linalg.norm(block, exponent, axis=1) > level
        return np.asarray(block[~is_long].sum(axis=0))

    patch.setattr(lp_mirror, "truncated_sum", careless)


def measured_in_another_norm(patch: Patch) -> None:
    """Measure gradients in a norm other than that of the noise."""
    honest = lp_mirror.truncated_sum
    patch.setattr(
        lp_mirror,
        "truncated_sum",
        lambda rows, batch, level, exponent, lengths: honest(rows, batch, level, math.inf, None),
    )


def half_the_sensitivity(patch: Patch) -> None:
    """Let the noise of each mean be for half its sensitivity."""
    honest = TruncatedMeans.open

    def halved(self: TruncatedMeans, ledger: Ledger, steps: int) -> Steps:
        """Open steps of half the sensitivity."""
        draw = replace(self.draw, sensitivity=self.draw.sensitivity / 2)
        changed = replace(self, draw=draw)
        return honest(changed, ledger, steps)

    patch.setattr(TruncatedMeans, "open", halved)


def no_l2_ratio(patch: Patch) -> None:
    """Use the sensitivity in the dual norm as if it were the one in l2."""
    patch.setattr("dpsco_core.geometry.regular_space.RegularSpace.l2_ratio", 1.0)


def noise_over_root_2(patch: Patch) -> None:
    """Divide the noise of each step by the square root of 2."""
    honest = Steps._noise_of
    patch.setattr(Steps, "_noise_of", lambda *a: honest(*a) / math.sqrt(2))
    draw = np.random.Generator.normal
    patch.setattr(
        "dpsco_core.privacy.mechanisms.steps.gaussian_noise",
        lambda shape, std, rng: draw(rng, scale=std / math.sqrt(2), size=shape),
    )


def one_draw_a_batch_at_the_noise_of_a_record(patch: Patch) -> None:
    """Use the variant of Algorithm 4 that is not private: theory/su-zhao-wang.md, 2.5 (a)."""
    patch.setattr(TruncatedMeans, "draws", lambda self, batch: 1)


def batches_overlap(patch: Patch) -> None:
    """Put record 7 into every batch."""
    honest = lp_mirror.truncated_sum
    patch.setattr(
        lp_mirror,
        "truncated_sum",
        lambda rows, batch, *rest: honest(rows, np.append(batch, 7), *rest),
    )


def order_is_public(patch: Patch) -> None:
    """Let the batches follow the order of the records."""
    patch.setattr(
        "tests.methods.lq.test_mirror.np.random.default_rng",
        lambda seed: Sorted(np.random.PCG64(seed)),
    )


class Sorted(np.random.Generator):
    """A generator that does not permute."""

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Return the indices in their order."""
        return np.arange(x)


def budget_twice(patch: Patch) -> None:
    """Record twice the rho of each step, and let the ledger allow it."""
    honest = ShapedSteps.entries

    def double_entries(self: ShapedSteps, label: str) -> Any:
        """Return the entries of twice the rho."""
        release = replace(self.release, rho=2 * self.release.rho)
        return honest(replace(self, release=release), label)

    patch.setattr(ShapedSteps, "entries", double_entries)
    patch.setattr("dpsco_core.privacy.ledger.fits", lambda *_: True)


def sensitivity_holds() -> None:
    """Assert that no neighbour moves a release by more than its sensitivity."""
    for kind in ("linear", "logistic"):
        with in_steps(5):
            check_neighbours(BATCHED(), make_setting(1.5, kind=kind), kind, np.zeros((2, 3)))
            check_neighbours(
                BATCHED(noise=GG), make_setting(1.1, kind=kind), kind, np.zeros((2, 3))
            )
            check_neighbours(REDUCED(), make_setting(4.0, kind=kind), kind, np.zeros((2, 3)))


def sensitivity_is_attained() -> None:
    """Assert that some neighbour moves a release by nearly its sensitivity."""
    for q in (1.1, 1.5):
        assert tests.attained_share(BATCHED(), q) == pytest.approx(0.999, rel=1e-9)
        assert tests.attained_share(BATCHED(noise=GG), q) == pytest.approx(0.999, rel=1e-9)


def what_is_beyond_is_left_out() -> None:
    """Assert that a record just beyond the level is left out."""
    tests.test_a_record_just_beyond_the_level_is_left_out(1.5)


def noise_is_right() -> None:
    """Assert that the noise of batches has the law that the ledger records."""
    with in_steps(100):
        for noise in (None, GG):
            check_noise(
                BATCHED(noise=noise),  # type: ignore[arg-type]
                make_setting(1.5, n=300, d=8, kind="linear"),
            )


def shuffled_noise_is_right() -> None:
    """Assert that the noise of shuffled batches has the law that the ledger records."""
    with forced("shuffled"), in_steps(40):
        check_noise(SHUFFLED(), make_setting(1.5, n=600, d=8, budget=APPROXIMATE, kind="linear"))


def ledger_is_right() -> None:
    """Assert that the ledger spends the budget and no more."""
    check_ledger(BATCHED(), make_setting(1.5, n=300, budget=APPROXIMATE))
    check_ledger(BATCHED(noise=GG), make_setting(1.5, n=300))
    with forced("shuffled"):
        check_ledger(
            SHUFFLED(), make_setting(1.5, n=3000, budget=ApproxDP(epsilon=0.1, delta=1e-5))
        )


def gradients_are_left_out() -> None:
    """Assert that gradients above the level become zero and no others do."""
    for kind in ("logistic", "mean"):
        tests.test_gradients_above_the_level_become_zero_and_the_others_stay_unchanged(kind, 3.0)


FAULTS: list[tuple[Callable[[Patch], None], Callable[[], None]]] = [
    (no_truncation, sensitivity_holds),
    (twice_the_level, what_is_beyond_is_left_out),
    (a_nan_is_kept, sensitivity_holds),
    (measured_in_another_norm, what_is_beyond_is_left_out),
    (batches_overlap, sensitivity_holds),
    (half_the_sensitivity, sensitivity_is_attained),
    (half_the_sensitivity, ledger_is_right),
    (no_l2_ratio, sensitivity_is_attained),
    (no_l2_ratio, ledger_is_right),
    (shortened_instead_of_left_out, gradients_are_left_out),
    (noise_over_root_2, noise_is_right),
    (noise_over_root_2, shuffled_noise_is_right),
    (one_draw_a_batch_at_the_noise_of_a_record, shuffled_noise_is_right),
    (order_is_public, tests.test_in_secret_order_a_record_is_in_every_batch_equally_often),
    (budget_twice, ledger_is_right),
]


@pytest.mark.parametrize(
    ("fault", "check"), FAULTS, ids=[f"{f.__name__}-{c.__name__}" for f, c in FAULTS]
)
def test_a_deliberate_fault_is_caught(
    fault: Callable[[Patch], None], check: Callable[[], None], monkeypatch: Patch
) -> None:
    check()
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        check()
