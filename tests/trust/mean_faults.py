"""Deliberate faults: each patches the library in a way that breaks the privacy of some methods."""

from __future__ import annotations

import math
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.data.rows import Rows, row_norms
from dpsco_core.methods import statistics
from dpsco_core.methods.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    NoiseSmoothing,
    SimpleClipping,
)
from dpsco_core.methods.records import base, smooth_clip
from dpsco_core.methods.records import groups as group_means
from dpsco_core.methods.records.smooth_clip import smooth_table
from dpsco_core.privacy import Exponential, Ledger

Patch = pytest.MonkeyPatch
SENSITIVITIES = ("largest_norm", "l2_sensitivity", "l1_sensitivity", "sensitivity", "own_noise_std")
RECORDS = 41  # Number of records in the data sets on which the faults are tried.
MECHANISMS = "dpsco_core.privacy.mechanisms."


def patch_everywhere(patch: Patch, function: str, broken: Callable[..., Any]) -> None:
    """Replace a function in its own module, and in every module that has imported it by name."""
    honest = pkgutil.resolve_name(function)
    place, _, name = function.rpartition(".")
    patch.setattr(pkgutil.resolve_name(place), name, broken)
    for module in list(sys.modules.values()):
        if vars(module).get(name) is honest:
            patch.setattr(module, name, broken)


def normal(value: np.ndarray, std: float, rng: np.random.Generator) -> np.ndarray:
    """Return a vector with Gaussian noise added."""
    return value + rng.normal(scale=std, size=value.shape)


def laplace(value: np.ndarray, scale: float, rng: np.random.Generator) -> np.ndarray:
    """Return a vector with Laplace noise added."""
    return value + rng.laplace(scale=scale, size=value.shape)


def with_noise(patch: Patch, change: Callable[[Any, float, Any], tuple[float, Any]]) -> None:
    """Draw both noises with the arguments that `change` returns for (value, scale, rng)."""
    for name, draw in (
        ("gaussian.add_gaussian_noise", normal),
        ("laplace.add_laplace_noise", laplace),
    ):
        patch.setattr(MECHANISMS + name, lambda v, s, r, draw=draw: draw(v, *change(v, s, r)))


def no_noise(patch: Patch) -> None:
    """Set the scale of all noise to 0."""
    with_noise(patch, lambda value, scale, rng: (0.0, rng))


def noise_over_root_2(patch: Patch) -> None:
    """Divide the scale of all noise by the square root of 2."""
    with_noise(patch, lambda value, scale, rng: (scale / math.sqrt(2), rng))


def noise_depends_on_the_data(patch: Patch) -> None:
    """Let the scale of the noise grow with the value that it hides."""
    with_noise(patch, lambda value, scale, rng: (scale * (1 + np.abs(value).max()), rng))


def one_draw_for_all_coordinates(patch: Patch) -> None:
    """Add one draw of the noise to all coordinates."""

    def draw(value: np.ndarray, scale: float, rng: np.random.Generator) -> np.ndarray:
        """Add one draw to all coordinates."""
        return value + rng.normal(scale=scale)

    patch.setattr(MECHANISMS + "gaussian.add_gaussian_noise", draw)
    patch.setattr(MECHANISMS + "laplace.add_laplace_noise", draw)


def halved(mechanism: Any) -> Any:
    """Return a mechanism, or a sequence, with half of the sensitivity of its values."""
    # The scores of this mechanism are counts.
    if isinstance(mechanism, Exponential) and mechanism.sensitivity == 1:
        return mechanism
    inner = {"release": halved(mechanism.release)} if hasattr(mechanism, "release") else {}
    fields = {name: getattr(mechanism, name, None) for name in SENSITIVITIES}
    halves = {name: value / 2 for name, value in fields.items() if value is not None}
    if hasattr(mechanism, "proven_l2_sensitivity"):
        halves["proven_l2_sensitivity"] = None
    return replace(mechanism, **halves, **inner)


def half_the_sensitivity(patch: Patch) -> None:
    """Let the ledger release every mechanism with half its sensitivity."""
    for name in ("release", "open"):
        honest = getattr(Ledger, name)

        def halved_release(
            self: Any, mechanism: Any, *args: Any, honest: Any = honest, **label: Any
        ) -> Any:
            """Release by the mechanism of half the sensitivity."""
            return honest(self, halved(mechanism), *args, **label)

        patch.setattr(Ledger, name, halved_release)


def no_clip(patch: Patch) -> None:
    """Take away the clips of records to a ball and of entries to an interval, for every caller."""

    def keep(block: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows unchanged, with weights of 1."""
        return block, np.ones(len(block))

    entries = base.sum_of_clipped_entries

    def whole(rows: Rows, *part: int, limit: float) -> np.ndarray:
        """Return the entries without a limit."""
        return entries(rows, *part, limit=math.inf)

    patch_everywhere(patch, f"{base.__name__}.clip_to_ball", keep)
    patch_everywhere(patch, f"{base.__name__}.sum_of_clipped_entries", whole)
    patch_everywhere(patch, "dpsco_core.methods.records.smooth_clip.smoothed_clip", lambda u, c: u)


def nan_is_kept(patch: Patch) -> None:
    """Keep records that are not numbers where they should count as zero."""

    def keep(block: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
        """Clip rows without looking for values that are not numbers."""
        with np.errstate(all="ignore"):
            return block, np.minimum(1.0, radius / np.linalg.norm(block, axis=1))

    honest = smooth_clip.smoothed_clip

    def means(rows: Any, limit: float, blocks: int) -> np.ndarray:
        """Return means of clipped blocks, without looking for values that are not numbers."""
        size = rows.n // blocks
        clipped = np.clip(rows.x[: blocks * size], -limit, limit)
        return np.asarray(clipped.reshape(blocks, size, rows.d).mean(axis=1))

    patch.setattr(base, "clip_to_ball", keep)
    patch.setattr(statistics, "clipped_block_means", means)
    patch.setattr(smooth_clip, "smoothed_clip", lambda u, c: np.where(np.isnan(u), u, honest(u, c)))


def far_records_are_rounded_out_of_the_ball(patch: Patch) -> None:
    """Use weights radius/norm even below the normal doubles, where 6.9e-16/9e307 is rounded to a
    third too much.
    """

    def careless(block: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
        """Clip rows by weights whose rounding may leave them outside the ball."""
        block = np.where(np.isfinite(block).all(axis=1)[:, None], block, 0.0)
        with np.errstate(all="ignore"):
            return block, np.minimum(1.0, radius / row_norms(block))

    patch.setattr(base, "clip_to_ball", careless)


def bare_closed_form(patch: Patch) -> None:
    """Use the printed closed form of the smooth truncation without a limit, although it cancels at
    large entries.
    """

    def printed(u: np.ndarray, c: float) -> np.ndarray:
        """Return the closed form of the smoothed clip, without care for cancellation."""
        s, root, normal = math.sqrt(c), math.sqrt(2), stats.norm
        a = np.clip(np.abs(u), 1e-9, 1e12)
        low, high = (-root / a - 1) / s, (root / a - 1) / s
        value = a * (1 - a**2 * (1 / 6 + c / 2)) * (normal.cdf(high) - normal.cdf(low))
        even = (2 / 3 - a**2 * (1 / 6 + c / 3)) * (normal.pdf(low) - normal.pdf(high))
        odd = root / 6 * a * (normal.pdf(low) + normal.pdf(high))
        value += a * s * (even + odd) + 2 * root / 3 * (normal.cdf(-high) - normal.cdf(low))
        return np.copysign(value, u)

    patch.setattr(smooth_clip, "smoothed_clip", printed)


def cubic_for_every_entry(patch: Patch) -> None:
    """Use for large entries too the cubic with which the smooth truncation begins near 0."""
    patch.setattr(
        smooth_clip, "smoothed_clip", lambda u, c: replace(smooth_table(c), bulk=1e100).smooth(u)
    )


def level_from_the_data(patch: Patch) -> None:
    """Let the clip level depend on the data."""
    for family, name in (
        (SimpleClipping, "radius"),
        (IterativeUpdating, "radius"),
        (CoordinatewiseCDP, "threshold"),
        (CoordinatewisePure, "threshold"),
        (NoiseSmoothing, "tau"),
    ):
        honest = family.release

        def fitted(
            self: Any,
            rows: Any,
            plan: Any,
            *rest: Any,
            honest: Any = honest,
            name: str = name,
        ) -> Any:
            """Release with the largest absolute entry as the clip level."""
            level = float(np.nanmax(np.abs(rows.x)))
            fitted_method = replace(self, **{name: level})
            return honest(fitted_method, rows, fitted_method.plan(plan.setting), *rest)

        patch.setattr(family, "release", fitted)


def mean_over_all_but_one(patch: Patch) -> None:
    """Divide sums by one record fewer than there are."""
    for module, name in ((base, "clip_to_ball"),):
        honest = getattr(module, name)

        def clip_to_more(block: Any, radius: float, honest: Any = honest) -> Any:
            """Clip rows, with weights for a mean of one record fewer."""
            rows, weights = honest(block, radius)
            return rows, weights * (RECORDS / (RECORDS - 1))

        patch.setattr(module, name, clip_to_more)
    blocks, clip = statistics.clipped_block_means, smooth_clip.smoothed_clip
    patch.setattr(
        statistics, "clipped_block_means", lambda *a: blocks(*a) * RECORDS / (RECORDS - 1)
    )
    patch.setattr(smooth_clip, "smoothed_clip", lambda *a: clip(*a) * RECORDS / (RECORDS - 1))


def blocks_of_n_over_m(patch: Patch) -> None:
    """Use the sensitivity of fractional block sizes, although blocks are rounded down."""

    def real(threshold: float, blocks: int, block_size: int) -> float:
        """Return the sensitivity of a median of blocks of n/m records, not rounded down."""
        return (3 if blocks % 2 == 0 else 6) * threshold * blocks / RECORDS

    patch.setattr(statistics, "median_sensitivity", real)


def odd_blocks_like_even_ones(patch: Patch) -> None:
    """Use the sensitivity of a median of an even number of blocks for an odd one."""
    patch.setattr(statistics, "median_sensitivity", lambda tau, m, b: 3 * tau / b)


def groups_share_records(patch: Patch) -> None:
    """Let a group contain the records of the group before it as well."""
    honest = group_means.clipped_group_means

    def with_repetition(rows: Rows, group: np.ndarray, groups: int, radius: float) -> np.ndarray:
        """Return group means that each contain those of the group before."""
        means = honest(rows, group, groups, radius)
        return means + np.roll(means, 1, axis=0)

    patch.setattr(group_means, "clipped_group_means", with_repetition)


def split_reuses_its_seed(patch: Patch) -> None:
    """Let every run split the records into the same groups."""
    honest = group_means.secret_groups
    patch.setattr(
        group_means, "secret_groups", lambda n, k, _: honest(n, k, np.random.default_rng(0))
    )


def in_order(n: int, groups: int) -> np.ndarray:
    """Return the group of every record if groups are filled in order; a number beyond the last is
    left out.
    """
    return np.minimum(np.arange(n) // (n // groups), groups).astype(np.int32)


def split_is_consecutive(patch: Patch) -> None:
    """Split the records into groups in their order."""
    patch.setattr(group_means, "secret_groups", lambda n, k, _: in_order(n, k))


def last_records_are_always_left_out(patch: Patch) -> None:
    """Let the split leave out the last records, whatever the seed."""

    def shuffled_but_the_last(n: int, groups: int, rng: np.random.Generator) -> np.ndarray:
        """Split all but the last records at random."""
        group = in_order(n, groups)
        rng.shuffle(group[: n // groups * groups])
        return group

    patch.setattr(group_means, "secret_groups", shuffled_but_the_last)


def half_of_the_budget(patch: Patch) -> None:
    """Spend half of the budget, and leave the rest."""
    for module in ("clipped.zhao_share", "iterative.zhao_share"):
        patch.setattr(
            f"dpsco_core.methods.mean.{module}", lambda setting, _: setting.gaussian_rho / 2
        )
    for module in ("coordinatewise.gaussian_share", "smoothed.gaussian_share"):
        patch.setattr(
            f"dpsco_core.methods.mean.{module}", lambda setting, _: setting.gaussian_rho / 2
        )
