"""Iterative updating of gradients, where every record draws a group anew at every step.

A step is a pass of random allocation over the k groups (theory/random-allocation.md, 6 and 7).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FELDMAN_SHENFELD_2025, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.data.rows import Rows
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.clipped import theorem_descent
from dpsco_core.methods.euclidean.iterative import theorem_radius, union_groups
from dpsco_core.methods.euclidean.sampling.allocated import modelled_noise
from dpsco_core.methods.euclidean.tuning import FEW_STEPS, practical_clipping, practical_descent
from dpsco_core.methods.mean.base import check_count, check_level, into_ball, sampled_budget
from dpsco_core.methods.mean.directions import walk_to_centre
from dpsco_core.methods.mean.groups import (
    Search,
    allocated_groups,
    allocated_scale,
    clipped_group_means,
    left_out,
    practical_length,
)
from dpsco_core.methods.mean.iterative import PRACTICAL_GROUPS, IterativeUpdating
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import Measuring, Statistic
from dpsco_core.methods.steps import Descent
from dpsco_core.methods.tune import chosen
from dpsco_core.privacy.allocated_passes import allocate_passes
from dpsco_core.privacy.allocation import AllocatedSteps
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import AllocatedGaussianSteps
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class DeepPointsOfAllocatedGroups(Statistic):
    """At every step a point deep among noisy sums of groups, which every row draws anew by itself.

    A sum is divided by a public number, never by how many rows its group has. The noise of all
    steps is opened together.
    """

    radius: float  # R
    groups: int  # k
    quantile: float  # the share of the projections on any direction that must lie beyond
    bound: float  # the norm of the mean is known to be at most this
    certificate: AllocatedSteps  # what makes all steps private together

    label: ClassVar[str] = "sums of randomly allocated groups"

    def sensitivity(self, n: int, d: int) -> float:
        return 2 * self.largest_norm(n)

    def largest_norm(self, n: int) -> float:
        """Return the norm of what one of n rows adds to the row of its group."""
        return self.radius / (n // self.groups)

    def open(self, ledger: Ledger, n: int, d: int) -> Steps:
        """Account for all noise of the run."""
        return ledger.open(self.steps(n, d), label=self.label)

    def steps(self, n: int, d: int) -> AllocatedGaussianSteps:
        """Return the noise on the rows of all groups and steps."""
        return AllocatedGaussianSteps(
            certificate=self.certificate, size=d, largest_norm=self.largest_norm(n)
        )

    def measuring(self, n: int, d: int, rho: float, steps: int) -> Measuring:
        length = practical_length(self.bound, d, self.steps(n, d).noise_std)
        search = Search(left_out=left_out(self.groups, self.quantile), steps=length)
        return NoisyDeepPoints(self, search)


@dataclass
class NoisyDeepPoints:
    """The points of one run, and their noise, which is opened at the first of them."""

    statistic: DeepPointsOfAllocatedGroups
    search: Search
    noise: Steps | None = None
    diagnostics: ClassVar[Mapping[str, float]] = {}

    def take(self, rows: Rows, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return the point, shape (d,), in the ball of the public bound."""
        own, k = self.statistic, self.statistic.groups
        if self.noise is None:
            self.noise = own.open(ledger, rows.n, rows.d)
        group = allocated_groups(rows.n, k, rng)
        sums = clipped_group_means(rows, group, k, own.radius)
        noisy = sums + self.noise.noise(k, rows.d, rng)
        noisy *= allocated_scale(rows.n, k)
        point = walk_to_centre(noisy, self.search.left_out, self.search.steps, rng)
        return into_ball(point, own.bound)


@dataclass(frozen=True, kw_only=True)
class IterativeDescentAllocated(DescentMethod):
    r"""`IterativeDescent`, where at every step each record draws one of the k groups by itself.

    Parameters
    ----------
    radius, groups, descent, tuning
        As for `IterativeDescent`, with the noise that the average of the groups has here.
    calibration : {"tight", "paper"}
        ``"paper"`` is refused: its noise is for another sampler.
    """

    radius: float | None = None
    groups: int | None = None
    descent: Descent | None = None

    reads = "grouped"
    cost = MethodCost(
        fixed=1.3e7, per_row=10, per_element=2, fixed_if_narrow=(1e5, 1.5e6), unit="step"
    )
    source = "reconstructed"
    departs = (
        Departure(
            tag="random groups",
            text="Each record draws its group by itself, where the paper splits into equal groups.",
        ),
    )
    card = MethodCard(
        slug="sco.iterative-allocated",
        name="Iterative updating of gradients, one random group per record",
        short="Random groups",
        paper=FELDMAN_SHENFELD_2025,
        statement="Random allocation; Zhao et al., Algorithms 1 and 3",
        summary="Gradient descent: noisy sums of groups that records draw anew at every step, in "
        "secret, and a point deep among them.",
        privacy="approx",
        problems=SCO_PROBLEMS,
        caveat="No bound on its error is proven: the search for a deep point has none. Its noise "
        "is proven for replacing a record, by a proof of this library.",
    )
    stage = Stage(
        records=1,
        free_steps=True,
        splits=IterativeUpdating.stage.splits,
        small=SmallRun(fields={"groups": 4, "descent": FEW_STEPS}),
    )
    colour = "teal"
    symbol = "star"

    def __post_init__(self) -> None:
        check_count("groups", self.groups)

    def plan(self, setting: Setting) -> DescentPlan:
        budget = sampled_budget(setting, self.calibration)
        n, d, rho = setting.n, setting.d, setting.gaussian_rho
        groups = chosen(
            self.groups,
            self.tuning,
            theory=lambda: union_groups(setting),
            practical=lambda: min(PRACTICAL_GROUPS, n),
        )
        if n < groups:
            raise NotApplicable(
                f"{groups:,} groups need at least as many records, and n={n:,}.",
                tuning="practical",
            )
        # The noise energy of the groups' average at R = 1, if there were a single step.
        unit = d * groups * modelled_noise(setting, groups) ** 2 / n**2
        radius = chosen(
            self.radius,
            self.tuning,
            theory=lambda: theorem_radius(setting, rho, self.calibration),
            practical=lambda: practical_clipping(setting, unit).radius,
        )
        check_level("radius", radius)
        descent = chosen(
            self.descent,
            self.tuning,
            theory=lambda: theorem_descent(setting, rho, radius, self.calibration),
            practical=lambda: practical_descent(setting, unit * radius**2, radius),
        )
        certificate = allocate_passes(groups, descent.steps, budget.epsilon, budget.delta)
        points = DeepPointsOfAllocatedGroups(
            radius=radius,
            groups=groups,
            quantile=0.9 if self.tuning == "theory" else 0.6,
            bound=setting.constants.mean_gradient_bound,
            certificate=certificate,
        )
        return DescentPlan(
            setting=setting,
            statistic=points,
            descent=descent,
            diagnostics={
                "clip_radius": radius,
                "groups": float(groups),
                "noise_multiplier": certificate.noise_multiplier,
                "noise_std": points.steps(n, d).noise_std,
                **descent.diagnostics,
                "gradient_calls": float(descent.steps * n),
            },
        )
