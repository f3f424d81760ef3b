"""Iterative updating whose records draw a group each, at random and in secret."""

from dataclasses import dataclass
from typing import ClassVar

from dpsco_core.base.cards import FELDMAN_SHENFELD_2025, MethodCard
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.mean.clipped import practical_radius, theorem_radius
from dpsco_core.methods.mean.iterative import (
    COST,
    HEURISTIC,
    PRACTICAL_GROUPS,
    SMALL_RUN,
    SPLITS,
    DeepPointPlan,
    theory_groups,
    tuned_quantile,
)
from dpsco_core.methods.records.base import check_count, check_level, check_parts, sampled_budget
from dpsco_core.methods.records.groups import Split as GroupSplit
from dpsco_core.methods.records.groups import allocated_groups, allocated_scale
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.statistics import DeepPointOfGroups
from dpsco_core.privacy.allocation import QUICK_POINTS, AllocatedSteps, allocate_steps
from dpsco_core.privacy.mechanisms import AllocatedGaussian
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class DeepPointOfAllocatedGroups(DeepPointOfGroups):
    """A deep point of groups that every row draws independently and in secret."""

    certificate: AllocatedSteps

    label: ClassVar[str] = "sums of randomly allocated groups"

    def split_by(self) -> GroupSplit:
        """Return the function that allocates records to groups."""
        return allocated_groups

    def scale(self, n: int) -> float:
        """Return the factor that corrects sums of groups, divided by n // groups, to means."""
        return allocated_scale(n, self.groups)

    def largest_norm(self, n: int) -> float:
        """Return the largest norm that one of n rows adds to its group's row."""
        return self.radius / (n // self.groups)

    def noise(self, n: int, d: int, rho: float) -> AllocatedGaussian:
        """Return the Gaussian noise that the certificate of the allocation asks for."""
        return AllocatedGaussian(largest_norm=self.largest_norm(n), certificate=self.certificate)


@dataclass(frozen=True, kw_only=True)
class IterativeUpdatingAllocated(MeanMethod):
    r"""`IterativeUpdating` in which every record independently draws one of the k groups.

    Parameters
    ----------
    radius, groups, tuning
        As for `IterativeUpdating`. The radius is that of a mean with as much noise as the average
        of the groups has.
    calibration : {"tight", "paper"}
        ``"paper"`` is refused: its noise is for another sampler.
    """

    radius: float | None = None
    groups: int | None = None

    reads = "grouped"
    cost = COST
    source = "reconstructed"
    departs = (
        Departure(
            tag="random groups",
            text="Each record draws its group by itself, where the paper splits into equal groups.",
        ),
    )
    card = MethodCard(
        slug="mean.iterative-allocated",
        name="Iterative updating, one random group per record",
        short="Random groups",
        paper=FELDMAN_SHENFELD_2025,
        statement="Random allocation; Zhao et al., Algorithm 3",
        summary="Adds noise to the sums of groups that records draw at random and in secret, and "
        "walks to a point deep among them.",
        privacy="approx",
        caveat=f"{HEURISTIC}, by a proof of this library.",
    )
    stage = Stage(
        records=1,
        clip=("radius", "radius"),
        splits=SPLITS,
        small=SMALL_RUN,
    )
    colour = "teal"
    symbol = "star"

    def __post_init__(self) -> None:
        """Refuse a number of groups that is no positive integer."""
        check_count("groups", self.groups)

    def plan(self, setting: Setting) -> DeepPointPlan:
        """Return the plan: groups, the certificate of their noise, radius and walk."""
        budget = sampled_budget(setting, self.calibration)
        n, theory = setting.n, self.tuning == "theory"
        groups = self.groups or (theory_groups() if theory else min(PRACTICAL_GROUPS, n))
        check_parts("groups", groups, n)
        certificate = allocate_steps(groups, budget.epsilon, budget.delta, QUICK_POINTS)
        radius = self.radius
        if radius is None:
            # The noise of a mean that spends rho has the multiplier 2/sqrt(2 rho); the noise of the
            # groups' average is sqrt(k) times the certified noise.
            choose = theorem_radius if theory else practical_radius
            radius = choose(setting, 2 / (groups * certificate.noise_multiplier**2))
        check_level("radius", radius)
        statistic = DeepPointOfAllocatedGroups(
            radius=radius,
            groups=groups,
            quantile=tuned_quantile(self.tuning),
            bound=setting.constants.mean_gradient_bound,
            certificate=certificate,
        )
        noise = statistic.noise(n, setting.d, 0.0)
        return MeanPlan(
            setting=setting,
            statistic=statistic,
            noise=noise,
            diagnostics={
                "clip_radius": radius,
                "groups": groups,
                "noise_multiplier": certificate.noise_multiplier,
                "noise_std": noise.noise_std,
            },
        )
