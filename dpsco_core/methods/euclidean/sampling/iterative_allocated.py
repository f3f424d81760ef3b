"""Iterative updating of gradients, where every record draws a group anew at every step.

A step is a pass of random allocation over the k groups (theory/random-allocation.md, 6 and 7).
"""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FELDMAN_SHENFELD_2025, MethodCard
from dpsco_core.data.rows import Rows
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.euclidean.iterative import DescentWithGroups
from dpsco_core.methods.euclidean.sampling.allocated import modelled_noise
from dpsco_core.methods.mean.iterative import tuned_quantile
from dpsco_core.methods.mean.iterative_allocated import DeepPointOfAllocatedGroups
from dpsco_core.methods.records.base import sampled_budget
from dpsco_core.methods.statistics import Measuring, NoisyDeepPoint
from dpsco_core.privacy.allocated_passes import allocate_passes
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import AllocatedGaussianSteps
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class DeepPointsOfAllocatedGroups(DeepPointOfAllocatedGroups):
    """A deep point of allocated groups at every step; every row draws a new group each time.

    The ledger accounts for the noise of all steps at once.
    """

    def measuring(self, n: int, d: int, rho: float, steps: int) -> Measuring:
        """Return what makes the releases of a run; it opens their noise at the first step."""
        noise = self.noise(n, d, rho)
        return NoisyDeepPoints(self, noise, self.search(d, noise.noise_std))

    def open(self, ledger: Ledger, n: int, d: int) -> Steps:
        """Return the noise of all steps, after the ledger has accounted for it."""
        steps = AllocatedGaussianSteps(
            certificate=self.certificate, size=d, largest_norm=self.largest_norm(n)
        )
        return ledger.open(steps, label=self.label)


@dataclass
class NoisyDeepPoints(NoisyDeepPoint):
    """The deep points of one run; their noise is accounted for at the first step."""

    statistic: DeepPointsOfAllocatedGroups
    opened: Steps | None = None  # the noise of all steps; None before the first step

    def take(self, rows: Rows, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return a deep point of new groups, shape (d,); open the noise at the first step."""
        if self.opened is None:
            self.opened = self.statistic.open(ledger, rows.n, rows.d)
        return super().take(rows, ledger, rng, t)

    def with_noise(self, means: Vector, ledger: Ledger, rng: np.random.Generator) -> Vector:
        """Return the group means plus the noise of one step, shape (groups, d)."""
        assert self.opened is not None
        k, d = means.shape
        return means + self.opened.noise(k, d, rng)


@dataclass(frozen=True, kw_only=True)
class IterativeDescentAllocated(DescentWithGroups):
    r"""`IterativeDescent` in which each record independently draws one of k groups at every step.

    Parameters
    ----------
    radius, groups, descent, tuning
        As for `IterativeDescent`, with the noise that the average of the groups has here.
    calibration : {"tight", "paper"}
        ``"paper"`` is refused: its noise is for another sampler.
    """

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
    colour = "teal"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan: groups, radius, descent and the certificate of all steps."""
        budget = sampled_budget(setting, self.calibration)
        n, d, groups = setting.n, setting.d, self.choose_groups(setting)
        unit = d * groups * modelled_noise(setting, groups) ** 2 / n**2
        radius, descent = self.choose_descent(setting, setting.gaussian_rho, unit)
        certificate = allocate_passes(groups, descent.steps, budget.epsilon, budget.delta)
        points = DeepPointsOfAllocatedGroups(
            radius=radius,
            groups=groups,
            quantile=tuned_quantile(self.tuning),
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
                "noise_std": points.noise(n, d, 0.0).noise_std,
                **descent.diagnostics,
                "gradient_calls": float(descent.steps * n),
            },
        )
