"""The ways in which published private methods have been found not to be private.

Each breaks the library from outside, for one run, whatever the method; how one divides its records
it says itself, by `Stage.splits`.
"""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from dpsco_core.catalogue import method_class
from dpsco_core.methods import statistics
from dpsco_core.methods.euclidean import lipschitz
from dpsco_core.methods.lq import losses as lp_losses
from dpsco_core.methods.lq import mirror as lp_mirror
from dpsco_core.methods.mean import ladder
from dpsco_core.methods.stage import Told
from dpsco_core.privacy import Ledger
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.problems.base import Setting
from tests.trust import descent_faults, mean_faults
from tests.trust.cases import Case, rows_of
from tests.trust.mean_faults import in_order, patch_everywhere

Patch = pytest.MonkeyPatch
DRAWING = {
    "gaussian": ("add_gaussian_noise",),
    "laplace": ("add_laplace_noise", "add_spherical_laplace_noise"),
    "objective": ("gaussian_noise", "add_spherical_laplace_noise"),
    "tested": ("add_gaussian_noise", "add_laplace_noise"),
    "steps": ("gaussian_noise", "generalized_gaussian_noise"),
    "correlated": ("gaussian_noise",),
    "shaped": ("add_gaussian_noise", "generalized_gaussian_noise"),
}


def no_clip(patch: Patch, case: Case) -> None:
    """Take away all shortening, omission and filtering of records, gradients, features
    and users.
    """
    descent_faults.no_clip(patch)
    patch.setattr(statistics, "normalise_rows", lambda base, c, *_: (base, np.ones(len(base))))
    patch.setattr(ladder, "ball_weights", lambda norms, radius: np.ones(len(norms)))
    for family in (lipschitz.Losses, lp_losses.DualLosses):
        patch.setattr(family, "of", lambda self, sample: sample)
    for place in (
        "group_privacy.bounded_users",
        "phased_sgd.bounded_users",
        "accelerated.run.bounded_means",
        "base.bounded_means",
    ):
        patch.setattr(f"dpsco_core.methods.user.{place}", lambda sample, losses: sample)
    honest = lp_mirror.truncated_sum
    patch.setattr(lp_mirror, "truncated_sum", lambda r, b, level, *a: honest(r, b, 1e140, *a))
    patch.setattr(RobustFilter, "inclusion_of", lambda self, counts: np.ones(len(counts)))


def each_draw(patch: Patch, change: Callable[[float, Any], tuple[float, Any]]) -> None:
    """Let `change` replace the scale and the generator of every draw of noise, but not the recorded
    scale.
    """
    for module, names in DRAWING.items():
        for name in names:
            place = f"dpsco_core.privacy.mechanisms.{module}.{name}"
            honest = _current(place)

            def draw(*args: Any, honest: Any = honest) -> Any:
                """Draw noise with a changed scale or generator."""
                *rest, scale, rng = args
                return honest(*rest, *change(scale, rng))

            patch.setattr(place, draw)
    place = "dpsco_core.privacy.mechanisms.exponential.exponential_choice"
    choose = _current(place)

    def choice(weights: Any, rng: Any) -> Any:  # The scores are in units of the noise.
        """Draw a choice with a changed scale or generator."""
        scale, rng = change(1.0, rng)
        return choose(weights / scale, rng)

    patch.setattr(place, choice)


def _current(place: str) -> Any:
    """Return the function that now stands at a dotted path."""
    module, name = place.rsplit(".", 1)
    return getattr(__import__(module, fromlist=[name]), name)


def half_the_noise(patch: Patch, case: Case) -> None:
    """Use half of the noise that the ledger has recorded."""
    each_draw(patch, lambda scale, rng: (scale / 2, rng))


def one_seed_for_all(patch: Patch, case: Case) -> None:
    """Use a generator that starts anew at every draw, and in every run."""
    each_draw(patch, lambda scale, rng: (scale, np.random.default_rng(0)))


def half_the_sensitivity(patch: Patch, case: Case) -> None:
    """Tell the ledger half of the sensitivity, so that it adds half the noise."""
    mean_faults.half_the_sensitivity(patch)


def radius_from_the_data(patch: Patch, case: Case) -> None:
    """Estimate on the records the public constants from which clip levels are made."""

    def fitted(honest: Any, self: Any, data: Any, plan: Any, *rest: Any) -> Any:
        """Release with a plan that is made from the data."""
        return honest(self, data, self.plan(measured(plan.setting, data)), *rest)

    _release(patch, case, fitted)


def measured(setting: Setting, data: Any) -> Setting:
    """Return the setting with its constants scaled by powers of the median entry of the records."""
    size = float(np.median(np.abs(rows_of(data))))
    factor = {
        "coordinate_moment": size**setting.moment_order,
        "directional_moment": size,
        "variance_trace": size**2,
        "mean_gradient_bound": size,
        "lipschitz": size,
    }
    constants = setting.constants
    scaled = {name: getattr(constants, name) * value for name, value in factor.items()}
    return replace(setting, constants=replace(constants, **scaled))


@lru_cache
def reads_no_constant(case: Case) -> str:
    """Return the reason why no radius can come from the constants, or "" where the plan follows the
    constants.
    """
    setting, plans = case.point.setting, {repr(case.plan())}
    for scale in (1.0, 1e3):
        with case.planning():
            plan = case.method.plan(measured(setting, case.crowd(7, scale)))
        plans.add(repr(replace(plan, setting=setting)))
    return "the plan reads no constant of the problem" if len(plans) == 1 else ""


def budget_spent_twice(patch: Patch, case: Case) -> None:
    """Run twice on one ledger that does not count the second run, and average both."""
    patch.setattr("dpsco_core.privacy.ledger.fits", lambda *_: True)
    _release(patch, case, _average_two_runs)


def second_run_off_the_books(patch: Patch, case: Case) -> None:
    """Run twice with a ledger that accounts for only one of the runs."""

    def run(honest: Any, self: Any, data: Any, plan: Any, ledger: Ledger, rng: Any) -> Any:
        """Release the average of two runs, the second of which the ledger does not count."""
        result = honest(self, data, plan, ledger, rng)
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(Ledger, "_record", lambda book, *new: book._entries.extend(new))
            second_result = honest(self, data, plan, Ledger(ledger.budget), rng)
        return replace(result, value=(result.value + second_result.value) / 2)

    _release(patch, case, run)


def _average_two_runs(honest: Any, self: Any, *args: Any) -> Any:
    """Run a method twice; return a release of the average."""
    result, second_result = honest(self, *args), honest(self, *args)
    return replace(result, value=(result.value + second_result.value) / 2)


def _release(patch: Patch, case: Case, run: Any) -> None:
    """Replace the `release` of a case's method by `run`, which is given the honest one first."""
    family = type(case.method)
    honest = family.release
    patch.setattr(family, "release", lambda self, *args: run(honest, self, *args))


# Each way of `Split` by which methods divide their records has a fault, which is made from the
# honest function.


def _range(honest: Any) -> Any:
    """Return the function changed so that every part of the records, or of the users, begins at the
    first.
    """
    return lambda self, low, high: honest(self, 0, high - low)


def _phase(honest: Any) -> Any:
    """Return the function changed so that every phase begins at the first record."""

    def first_part(argument: Any) -> Any:
        """Return the argument for the first part of the records."""
        if hasattr(argument, "stop"):
            return replace(argument, start=0, stop=argument.stop - argument.start)
        return replace(argument, first=0) if hasattr(argument, "first") else argument

    return lambda *args, **fields: honest(*map(first_part, args), **fields)


def _positions(honest: Any) -> Any:
    """Return the function changed so that every batch is the first one."""
    return lambda rows, batch, *rest: honest(rows, np.arange(len(batch)), *rest)


def _groups(honest: Any) -> Any:
    """Return the function changed so that every group has the records of the first."""

    def means(rows: Any, group: np.ndarray, groups: int, *rest: Any) -> np.ndarray:
        """Return the mean of the first group for each group."""
        means = honest(rows, in_order(rows.n, groups), groups, *rest)
        return np.repeat(means[:1], groups, axis=0)

    return means


def _blocks(honest: Any) -> Any:
    """Return the function changed so that every block is the first one."""

    def rows(*args: Any) -> np.ndarray:
        """Return the first block for each block."""
        blocks = honest(*args)
        return np.repeat(blocks[:1], len(blocks), axis=0)

    return rows


def _order(honest: Any) -> Any:
    """Return the function changed so that both halves of the steps read the first half of the
    records.
    """

    def order(*args: Any) -> Any:
        """Return an order that reads the first half of the records twice."""
        positions, *rest = honest(*args)
        return np.resize(np.arange(math.ceil(len(positions) / 2)), len(positions)), *rest

    return order


REUSED: dict[Told, Callable[[Any], Any]] = {
    "range": _range,
    "phase": _phase,
    "positions": _positions,
    "groups": _groups,
    "blocks": _blocks,
    "order": _order,
}


def splits_nothing(case: Case) -> str:
    """Return the reason why no split can be reused, or "" where a method names a split."""
    splits = method_class(case.slug).stage.splits
    return "" if splits else "every release looks at all records"


def split_reused(patch: Patch, case: Case) -> None:
    """Reuse the records that the ledger counts as disjoint."""
    for split in method_class(case.slug).stage.splits:
        honest = pkgutil.resolve_name(split.function)
        patch_everywhere(patch, split.function, REUSED[split.told](honest))
