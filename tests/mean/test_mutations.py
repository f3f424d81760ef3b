"""Deliberate faults, each shown to be caught by a check that the other tests use.

A fault is a patch of the library; the check must pass without it and raise AssertionError with it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.data.rows import row_norms
from dpsco_core.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    NoiseSmoothing,
    SimpleClipping,
    base,
    coordinatewise,
    iterative,
    smoothed,
)
from dpsco_core.privacy import Ledger
from tests.mean.checks import (
    ADVERSARIAL,
    APPROXIMATE,
    PRIVATE,
    adversarial,
    check_ledger_equals_budget,
    check_noise,
    check_noise_ignores_the_data,
    check_plan_ignores_the_data,
    check_sensitivity,
    check_split_is_fresh,
    setting,
    worst_neighbours,
)

Patch = pytest.MonkeyPatch
WHERE = setting(n=41, d=60)
X = np.random.default_rng(0).standard_t(2.5, size=(41, 60))
LEDGER = "dpsco_core.privacy.ledger."


def normal(value: np.ndarray, std: float, rng: np.random.Generator) -> np.ndarray:
    return value + rng.normal(scale=std, size=value.shape)


def laplace(value: np.ndarray, scale: float, rng: np.random.Generator) -> np.ndarray:
    return value + rng.laplace(scale=scale, size=value.shape)


def with_noise(patch: Patch, change: Callable[[Any, float, Any], tuple[float, Any]]) -> None:
    """Draw both noises at what `change` makes of (value, scale, rng)."""
    for name, draw in (("add_gaussian_noise", normal), ("add_laplace_noise", laplace)):
        patch.setattr(LEDGER + name, lambda v, s, r, draw=draw: draw(v, *change(v, s, r)))


def no_noise(patch: Patch) -> None:
    with_noise(patch, lambda value, scale, rng: (0.0, rng))


def noise_over_root_2(patch: Patch) -> None:
    with_noise(patch, lambda value, scale, rng: (scale / math.sqrt(2), rng))


def noise_5_percent_too_small(patch: Patch) -> None:
    with_noise(patch, lambda value, scale, rng: (0.95 * scale, rng))


def noise_reuses_its_seed(patch: Patch) -> None:
    with_noise(patch, lambda value, scale, rng: (scale, np.random.default_rng(0)))


def noise_depends_on_the_data(patch: Patch) -> None:
    with_noise(patch, lambda value, scale, rng: (scale * (1 + np.abs(value).max()), rng))


def one_draw_for_all_coordinates(patch: Patch) -> None:
    def draw(value: np.ndarray, scale: float, rng: np.random.Generator) -> np.ndarray:
        return value + rng.normal(scale=scale)

    patch.setattr(LEDGER + "add_gaussian_noise", draw)
    patch.setattr(LEDGER + "add_laplace_noise", draw)


def half_the_sensitivity(patch: Patch) -> None:
    for name, key in (
        ("gaussian", "l2_sensitivity"),
        ("shuffled_gaussian", "l2_sensitivity"),
        ("laplace", "l1_sensitivity"),
    ):
        honest = getattr(Ledger, name)

        def halved(self: Any, value: Any, *, honest: Any = honest, key: str = key, **o: Any) -> Any:
            o.pop("proven_l2_sensitivity", None)
            return honest(self, value, **(o | {key: o[key] / 2}))

        patch.setattr(Ledger, name, halved)


def no_clip(patch: Patch) -> None:
    def keep(block: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
        return block, np.ones(len(block))

    blocks = coordinatewise.clipped_block_means
    patch.setattr(base, "clip_to_ball", keep)
    patch.setattr(iterative, "clip_to_ball", keep)
    patch.setattr(coordinatewise, "clipped_block_means", lambda r, _, m: blocks(r, math.inf, m))
    patch.setattr(smoothed, "smoothed_clip", lambda u, c: u)


def nan_is_kept(patch: Patch) -> None:
    def keep(block: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(all="ignore"):
            return block, np.minimum(1.0, radius / np.linalg.norm(block, axis=1))

    honest = smoothed.smoothed_clip

    def means(rows: Any, limit: float, blocks: int) -> np.ndarray:
        size = rows.n // blocks
        clipped = np.clip(rows.x[: blocks * size], -limit, limit)
        return np.asarray(clipped.reshape(blocks, size, rows.d).mean(axis=1))

    patch.setattr(base, "clip_to_ball", keep)
    patch.setattr(iterative, "clip_to_ball", keep)
    patch.setattr(coordinatewise, "clipped_block_means", means)
    patch.setattr(smoothed, "smoothed_clip", lambda u, c: np.where(np.isnan(u), u, honest(u, c)))


def far_records_are_rounded_out_of_the_ball(patch: Patch) -> None:
    """Weights radius/norm that fall below the normal doubles: 6.9e-16/9e307 gains a third."""

    def careless(block: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
        block = np.where(np.isfinite(block).all(axis=1)[:, None], block, 0.0)
        with np.errstate(all="ignore"):
            return block, np.minimum(1.0, radius / row_norms(block))

    patch.setattr(base, "clip_to_ball", careless)
    patch.setattr(iterative, "clip_to_ball", careless)


def bare_closed_form(patch: Patch) -> None:
    """The smooth truncation without its expansion for large entries and without its clamp."""
    patch.setattr(smoothed, "LARGE", 1e12)
    patch.setattr(smoothed, "smoothed_supremum", lambda c: math.inf)
    patch.setattr(
        smoothed.np, "clip", lambda a, low, high, out=None: np.minimum(np.maximum(a, low), high)
    )


def level_from_the_data(patch: Patch) -> None:
    for family, name in (
        (SimpleClipping, "radius"),
        (IterativeUpdating, "radius"),
        (CoordinatewiseCDP, "threshold"),
        (CoordinatewisePure, "threshold"),
        (NoiseSmoothing, "tau"),
    ):
        honest = family.release

        def fitted(self: Any, rows: Any, *rest: Any, honest: Any = honest, name: str = name) -> Any:
            level = float(np.nanmax(np.abs(rows.x)))
            return honest(replace(self, **{name: level}), rows, *rest)

        patch.setattr(family, "release", fitted)


def mean_over_all_but_one(patch: Patch) -> None:
    for module, name in (
        (base, "clip_to_ball"),
        (iterative, "clip_to_ball"),
    ):
        honest = getattr(module, name)

        def more(block: Any, radius: float, honest: Any = honest) -> Any:
            rows, weights = honest(block, radius)
            return rows, weights * (len(X) / (len(X) - 1))

        patch.setattr(module, name, more)
    blocks, clip = coordinatewise.clipped_block_means, smoothed.smoothed_clip
    patch.setattr(coordinatewise, "clipped_block_means", lambda *a: blocks(*a) * 41 / 40)
    patch.setattr(smoothed, "smoothed_clip", lambda *a: clip(*a) * 41 / 40)


def blocks_of_n_over_m(patch: Patch) -> None:
    """The sensitivity of real block sizes, where the blocks are rounded down."""

    def real(threshold: float, blocks: int, block_size: int) -> float:
        return (3 if blocks % 2 == 0 else 6) * threshold * blocks / WHERE.n

    patch.setattr(coordinatewise, "median_sensitivity", real)


def odd_blocks_like_even_ones(patch: Patch) -> None:
    patch.setattr(coordinatewise, "median_sensitivity", lambda tau, m, b: 3 * tau / b)


def groups_share_records(patch: Patch) -> None:
    def with_repetition(n: int, groups: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(0, n, size=(groups, n // groups))

    patch.setattr(iterative, "secret_split", with_repetition)


def split_reuses_its_seed(patch: Patch) -> None:
    honest = iterative.secret_split
    patch.setattr(iterative, "secret_split", lambda n, k, _: honest(n, k, np.random.default_rng(0)))


def split_is_consecutive(patch: Patch) -> None:
    patch.setattr(
        iterative, "secret_split", lambda n, k, _: np.arange(n // k * k).reshape(k, n // k)
    )


def last_records_are_always_left_out(patch: Patch) -> None:
    patch.setattr(
        iterative, "secret_split", lambda n, k, r: r.permutation(n // k * k).reshape(k, n // k)
    )


def half_of_the_budget(patch: Patch) -> None:
    for module in ("clipped.zhao_share", "iterative.zhao_share"):
        patch.setattr(f"dpsco_core.mean.{module}", lambda where, _: where.gaussian_rho / 2)
    for module in ("coordinatewise.gaussian_share", "smoothed.gaussian_share"):
        patch.setattr(f"dpsco_core.mean.{module}", lambda where, _: where.gaussian_rho / 2)


def noise_is_right(method: Any) -> None:
    check_noise(method, WHERE, X)


def noise_is_independent(method: Any) -> None:
    check_noise_ignores_the_data(method, WHERE, X, 3 * X + 1)


def sensitivity_holds(method: Any) -> None:
    check_sensitivity(method, WHERE, *worst_neighbours(method, WHERE))


def sensitivity_holds_for_any_record(method: Any) -> None:
    where, x = setting(n=5, d=3), X[:5, :3]
    for seed, (old, new) in itertools.product(range(3), itertools.combinations(ADVERSARIAL, 2)):
        first, second = x.copy(), x.copy()
        first[2], second[2] = adversarial(old, 3), adversarial(new, 3)
        check_sensitivity(method, where, first, second, seed=seed)


def plan_is_fixed(method: Any) -> None:
    check_plan_ignores_the_data(method, WHERE, X, 3 * X + 1)


def split_is_fresh(method: Any) -> None:
    check_split_is_fresh(method, setting(n=7, d=1))


def budget_is_spent(method: Any) -> None:
    for where in (WHERE, setting(n=41, d=60, budget=APPROXIMATE)):
        check_ledger_equals_budget(method, where, X)


ALL = tuple(family() for family in PRIVATE)
TIGHT_GAUSSIAN = tuple(m for m in ALL if not isinstance(m, CoordinatewisePure))
NORM_CLIPPING = (SimpleClipping(radius=6.9e-16), IterativeUpdating(radius=6.9e-16, groups=2))
MEDIANS = (CoordinatewiseCDP(threshold=1.0, blocks=3), CoordinatewisePure(threshold=1.0, blocks=7))
ITERATIVE = (IterativeUpdating(radius=1.0, groups=3),)
SMOOTHED = (NoiseSmoothing(tau=1.0, smoothing_variance=1.0),)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A patch, the check that must catch it, and the methods in which it can occur."""

    patch: Callable[[Patch], None]
    check: Callable[[Any], None]
    methods: tuple[Any, ...] = ALL


FAULTS = (
    Fault(patch=no_clip, check=sensitivity_holds),
    Fault(patch=no_noise, check=noise_is_right),
    Fault(patch=noise_over_root_2, check=noise_is_right),
    Fault(patch=noise_5_percent_too_small, check=noise_is_right),
    Fault(patch=noise_reuses_its_seed, check=noise_is_independent),
    Fault(patch=noise_depends_on_the_data, check=noise_is_independent),
    Fault(patch=one_draw_for_all_coordinates, check=noise_is_independent),
    Fault(patch=half_the_sensitivity, check=sensitivity_holds),
    Fault(patch=half_the_sensitivity, check=noise_is_right),
    Fault(patch=mean_over_all_but_one, check=sensitivity_holds),
    Fault(patch=nan_is_kept, check=sensitivity_holds_for_any_record),
    Fault(
        patch=far_records_are_rounded_out_of_the_ball,
        check=sensitivity_holds_for_any_record,
        methods=NORM_CLIPPING,
    ),
    Fault(patch=bare_closed_form, check=sensitivity_holds, methods=SMOOTHED),
    Fault(patch=level_from_the_data, check=plan_is_fixed),
    Fault(patch=half_of_the_budget, check=budget_is_spent, methods=TIGHT_GAUSSIAN),
    Fault(patch=half_of_the_budget, check=noise_is_right, methods=TIGHT_GAUSSIAN),
    Fault(patch=blocks_of_n_over_m, check=sensitivity_holds, methods=MEDIANS),
    Fault(patch=odd_blocks_like_even_ones, check=sensitivity_holds, methods=MEDIANS),
    Fault(patch=groups_share_records, check=split_is_fresh, methods=ITERATIVE),
    Fault(patch=split_reuses_its_seed, check=split_is_fresh, methods=ITERATIVE),
    Fault(patch=split_is_consecutive, check=split_is_fresh, methods=ITERATIVE),
    Fault(patch=last_records_are_always_left_out, check=split_is_fresh, methods=ITERATIVE),
)
CASES = [
    pytest.param(fault, method, id=f"{fault.patch.__name__}-{fault.check.__name__}-{method}")
    for fault in FAULTS
    for method in fault.methods
]


@pytest.fixture(autouse=True)
def without_the_walk(monkeypatch: Patch) -> None:
    """Iterative updating's walk comes after the release; here it only costs time."""
    monkeypatch.setattr(iterative, "walk_to_centre", lambda points, *_: points[0])


@pytest.mark.parametrize(("fault", "method"), CASES)
def test_a_deliberate_fault_is_caught(fault: Fault, method: Any, monkeypatch: Patch) -> None:
    fault.check(method)
    fault.patch(monkeypatch)
    with pytest.raises(AssertionError):
        fault.check(method)
