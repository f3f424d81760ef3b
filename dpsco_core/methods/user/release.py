r"""Private means of concentrated points, by a `FilteredRelease` that was made without them."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Matrix, Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.filter.plan import FilteredRelease
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import TestedReleases
from dpsco_core.privacy.mechanisms.tested import TestedSteps


@dataclass(frozen=True, eq=False, kw_only=True)
class Released:
    """The outcome of a tested release, which is private."""

    value: Vector  # the released point, shape (d,)
    halted: bool  # whether the test failed, so that the point is the fallback


@dataclass(frozen=True, eq=False, kw_only=True)
class FilteredMeans:
    """A sequence of releases whose cost is accounted for; create it with `open_releases`."""

    plan: FilteredRelease
    steps: TestedSteps

    def next(self, points: Matrix) -> Vector | None:
        """Return the noisy filtered mean of the points, shape (K, d), or None after a failed test.

        The K users must be the same in every call; their points may depend on earlier returns.
        """
        rows = len(points)
        require(rows == self.plan.count, "points", f"{self.plan.count} rows", rows)
        examined = self.plan.keep.examine(points)
        if not self.steps.passes(examined.score):
            return None
        mean = self.plan.keep.filtered_mean(points, examined.inclusion, self.steps.rng)
        return self.steps.noisy(mean)


def open_releases(
    plan: FilteredRelease, d: int, ledger: Ledger, rng: np.random.Generator, label: str
) -> FilteredMeans:
    """Return the sequence of releases of a plan, after the ledger has accounted for all of them.

    Each release has d coordinates.
    """
    steps = ledger.open(TestedReleases(release=plan.release, size=d, rng=rng), label=label)
    return FilteredMeans(plan=plan, steps=steps)


def release_mean(
    points: Matrix,
    plan: FilteredRelease,
    ledger: Ledger,
    rng: np.random.Generator,
    *,
    fallback: Vector,
    label: str = "mean of concentrated points",
) -> Released:
    """Return a private mean of `points`, shape (K, d), or the point `fallback` if the test fails.

    `fallback` must not depend on these points: a fixed one, or what earlier phases released.
    """
    value = open_releases(plan, points.shape[1], ledger, rng, label).next(points)
    return Released(value=fallback if value is None else value, halted=value is None)
