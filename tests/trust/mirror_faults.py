"""Deliberate faults of truncated mirror descent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.methods.lq import mirror as lp_mirror
from dpsco_core.privacy.mechanisms.shaped import ShapedSteps

Patch = pytest.MonkeyPatch
Array = np.ndarray


def a_nan_is_kept(patch: Patch) -> None:
    """Keep gradients that are not numbers where they should be left out."""

    def careless(rows: Any, batch: Array, level: float, exponent: float, lengths: Any) -> Array:
        """Return the sum of a batch's gradients without those that are too long, but with those
        that are not numbers.
        """
        block = rows.take(batch)
        with np.errstate(all="ignore"):
            is_long = np.linalg.norm(block, exponent, axis=1) > level
        return np.asarray(block[~is_long].sum(axis=0))

    patch.setattr(lp_mirror, "truncated_sum", careless)


def no_l2_ratio(patch: Patch) -> None:
    """Take a dual sensitivity for one in l2."""
    patch.setattr("dpsco_core.geometry.regular_space.RegularSpace.l2_ratio", 1.0)


def batches_overlap(patch: Patch) -> None:
    """Add record 7 to every batch."""
    honest = lp_mirror.truncated_sum
    patch.setattr(
        lp_mirror,
        "truncated_sum",
        lambda rows, batch, *rest: honest(rows, np.append(batch, 7), *rest),
    )


def budget_twice(patch: Patch) -> None:
    """Record twice the rho of every sequence of shaped steps."""
    honest = ShapedSteps.entries

    def double_entries(self: ShapedSteps, label: str) -> Any:
        """Return the entries of a sequence with twice its rho."""
        release = replace(self.release, rho=2 * self.release.rho)
        return honest(replace(self, release=release), label)

    patch.setattr(ShapedSteps, "entries", double_entries)
    patch.setattr("dpsco_core.privacy.ledger.fits", lambda *_: True)
