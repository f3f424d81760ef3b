"""Deliberate faults of the gradient-descent framework: each breaks the privacy of some methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.data import DenseRows
from dpsco_core.methods import statistics
from dpsco_core.methods.descent import DescentMethod
from dpsco_core.methods.records import base
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from tests.trust import mean_faults as faults

Patch = pytest.MonkeyPatch
Array = np.ndarray


def no_clip(patch: Patch) -> None:
    """Take every clip away."""
    faults.no_clip(patch)
    faults.patch_everywhere(
        patch, f"{base.__name__}.clip_scaled", lambda rows, c, norms, radius: (rows, c)
    )


def twice_the_radius(patch: Patch) -> None:
    """Clip every record to twice the radius."""
    ball, scaled = base.clip_to_ball, base.clip_scaled
    patch.setattr(base, "clip_to_ball", lambda rows, radius: ball(rows, 2 * radius))
    patch.setattr(base, "clip_scaled", lambda r, c, norms, radius: scaled(r, c, norms, 2 * radius))


def nan_is_kept(patch: Patch) -> None:
    """Keep records that are not numbers where they should count as zero."""
    faults.nan_is_kept(patch)

    def keep(rows: Array, c: Array, norms: Array, radius: float) -> tuple[Array, Array]:
        """Clip rows without looking for values that are not numbers."""
        with np.errstate(all="ignore"):
            return rows, c * np.minimum(1.0, radius / (np.abs(c) * norms))

    def means(rows: Any, limit: float, blocks: int) -> Array:
        """Return means of clipped blocks, without looking for values that are not numbers."""
        size = rows.n // blocks
        clipped = np.clip(features(rows)[: blocks * size], -limit, limit)
        return np.asarray(clipped.reshape(blocks, size, rows.d).mean(axis=1))

    patch.setattr(base, "clip_scaled", keep)
    patch.setattr(statistics, "clipped_block_means", means)


def radius_over_the_length_of_the_row(patch: Patch) -> None:
    """Divide the radius by the row's length before any scaling, where a denormal ratio has a
    relative rounding error of a fifth.
    """

    def careless(rows: Array, c: Array, norms: Array, radius: float) -> tuple[Array, Array]:
        """Clip rows by weights whose rounding may leave them outside the ball."""
        good = (norms <= base.LARGEST_LEVEL) & (np.abs(c) <= base.LARGEST_LEVEL)
        lengths = np.where(good, np.abs(c) * norms, np.inf)
        weights = np.where(good, c, 0.0) * (radius / np.maximum(lengths, radius))
        return np.where(good[:, None], rows, 0.0), weights

    patch.setattr(base, "clip_scaled", careless)


def blocks_overlap(patch: Patch) -> None:
    """Let each block begin one record early, in the block before."""
    honest = PointSample.part
    patch.setattr(
        PointSample, "part", lambda self, low, high: honest(self, max(low - 1, 0), high - (low > 0))
    )


def features(rows: Any) -> Array:
    """Return all rows as an array."""
    return np.asarray(rows.take(np.arange(rows.n)))


def level_from_the_data(patch: Patch) -> None:
    """Let the clip level be the median of the gradients' absolute values."""
    honest = DescentMethod.release

    def fitted(self: Any, sample: Any, plan: Any, *rest: Any) -> Any:
        """Release with the median absolute entry of the gradients as the clip level."""
        level = float(np.median(np.abs(features(sample.gradients(np.zeros(sample.d))))))
        (name,) = {"radius", "threshold", "tau"}.intersection(vars(plan.statistic))
        fitted_plan = replace(plan, statistic=replace(plan.statistic, **{name: level}))
        return honest(self, sample, fitted_plan, *rest)

    in_every_method(patch, fitted)


def start_from_the_data(patch: Patch) -> None:
    """Let the descent start from a point that depends on the data."""
    honest = DescentMethod.release

    def shifted_release(self: Any, sample: Any, plan: Any, *rest: Any) -> Any:
        """Release from a start along the first gradient."""
        with pytest.MonkeyPatch.context() as inner:
            start = sample.constraint.project(-sample.mean_gradient(np.zeros(sample.d)))
            inner.setattr(type(sample.constraint), "centre", start)
            return honest(self, sample, plan, *rest)

    in_every_method(patch, shifted_release)


def step_size_from_the_data(patch: Patch) -> None:
    """Let the step size depend on the norm of the first gradient."""
    honest = DescentMethod.release

    def fitted(self: Any, sample: Any, plan: Any, *rest: Any) -> Any:
        """Release with a step size that falls with the first gradient."""
        norm = float(np.linalg.norm(sample.mean_gradient(np.zeros(sample.d))))
        descent = replace(plan.descent, step_size=plan.descent.step_size / (1 + norm))
        return honest(self, sample, replace(plan, descent=descent), *rest)

    in_every_method(patch, fitted)


def last_step_without_noise(patch: Patch) -> None:
    """Add a last step without noise after the ledger is closed."""
    honest = DescentMethod.release

    def polished(self: Any, sample: Any, plan: Any, *rest: Any) -> Any:
        """Release, and take one more step without noise."""
        result = honest(self, sample, plan, *rest)
        w = result.value - 0.1 * sample.mean_gradient(result.value)
        return replace(result, value=sample.constraint.project(w))

    in_every_method(patch, polished)


def in_every_method(patch: Patch, run: Any) -> None:
    """Make every descent release by the function `run`."""
    patch.setattr(DescentMethod, "release", run)


def a_step_sees_other_records_too(patch: Patch) -> None:
    """Subtract the mean of all gradients from each, so that every gradient depends on the other
    records.
    """
    for family in (PointSample, LinearSample):
        honest = family.gradients

        def centred(self: Any, w: Array, honest: Any = honest) -> Any:
            """Return the gradients less their mean."""
            rows = honest(self, w)
            with np.errstate(all="ignore"):
                centre = np.clip(np.nan_to_num(features(rows).mean(axis=0)), -1e9, 1e9)
            return DenseRows(np.asarray(features(rows) - centre))

        patch.setattr(family, "gradients", centred)
