"""Deliberate faults of truncated mirror descent, each caught by a check of the other tests.

They break what is left out, the noise of a batch and the secret order; `tests/trust/finer.py` has
the others.
A check passes without the patch, and raises AssertionError with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpsco_core.methods.lq import mirror as lp_mirror
from dpsco_core.methods.lq.mirror import TruncatedMeans
from tests.methods.lq import test_mirror as tests
from tests.methods.lq.mirror_helpers import (
    APPROXIMATE,
    SHUFFLED,
    check_noise,
    forced,
    in_steps,
    make_setting,
)

Patch = pytest.MonkeyPatch
Array = np.ndarray


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
        """Return the sum of a batch's gradients, the long ones shortened to the level."""
        block = rows.take(batch)
        with np.errstate(all="ignore"):
            norms = np.linalg.norm(block, exponent, axis=1)
            weights = np.where(np.isfinite(norms), level / np.maximum(norms, level), 0.0)
        return np.asarray(weights @ np.nan_to_num(block, posinf=0, neginf=0))

    patch.setattr(lp_mirror, "truncated_sum", clip)
    patch.setattr(tests, "truncated_sum", clip)


def measured_in_another_norm(patch: Patch) -> None:
    """Measure gradients in a norm other than that of the noise."""
    honest = lp_mirror.truncated_sum
    patch.setattr(
        lp_mirror,
        "truncated_sum",
        lambda rows, batch, level, exponent, lengths: honest(rows, batch, level, math.inf, None),
    )


def one_draw_a_batch_at_the_noise_of_a_record(patch: Patch) -> None:
    """Use the variant of Algorithm 4 that is not private: theory/su-zhao-wang.md, 2.5 (a)."""
    patch.setattr(TruncatedMeans, "draws", lambda self, batch: 1)


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


def what_is_beyond_is_left_out() -> None:
    """Assert that a record just beyond the level is left out, by the honest test."""
    tests.test_a_record_just_beyond_the_level_is_left_out(1.5)


def shuffled_noise_is_right() -> None:
    """Assert that the noise of shuffled batches has the law that the ledger records."""
    with forced("shuffled"), in_steps(40):
        check_noise(SHUFFLED(), make_setting(1.5, n=600, d=8, budget=APPROXIMATE, kind="linear"))


def gradients_are_left_out() -> None:
    """Assert that gradients above the level become zero and no others do."""
    for kind in ("logistic", "mean"):
        tests.test_gradients_above_the_level_become_zero_and_the_others_stay_unchanged(kind, 3.0)


FAULTS: list[tuple[Callable[[Patch], None], Callable[[], None]]] = [
    (twice_the_level, what_is_beyond_is_left_out),
    (measured_in_another_norm, what_is_beyond_is_left_out),
    (shortened_instead_of_left_out, gradients_are_left_out),
    (one_draw_a_batch_at_the_noise_of_a_record, shuffled_noise_is_right),
    (order_is_public, tests.test_in_secret_order_a_record_is_in_every_batch_equally_often),
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
