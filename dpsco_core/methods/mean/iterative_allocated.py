"""Iterative updating whose records draw a group each, at random and in secret."""

from dataclasses import dataclass
from typing import ClassVar

from dpsco_core.base.cards import FELDMAN_SHENFELD_2025, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.mean.base import check_count, check_level, check_parts, sampled_budget
from dpsco_core.methods.mean.clipped import practical_radius, theorem_radius
from dpsco_core.methods.mean.groups import Split as GroupSplit
from dpsco_core.methods.mean.groups import allocated_groups
from dpsco_core.methods.mean.iterative import PRACTICAL_GROUPS, DeepPointPlan, theory_groups
from dpsco_core.methods.mean.sentences import KNOWN_SET, OVER_N
from dpsco_core.methods.stage import SmallRun, Split, Stage
from dpsco_core.methods.statistics import DeepPointOfGroups
from dpsco_core.methods.story import Proof, Story
from dpsco_core.privacy.allocation import QUICK_POINTS, AllocatedSteps, allocate_steps
from dpsco_core.privacy.mechanisms import AllocatedGaussian
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class DeepPointOfAllocatedGroups(DeepPointOfGroups):
    """The same, where every row draws its group by itself, and the group of a row is secret."""

    certificate: AllocatedSteps

    label: ClassVar[str] = "sums of randomly allocated groups"

    def split_by(self) -> GroupSplit:
        return allocated_groups

    def noise(self, n: int, d: int, rho: float) -> AllocatedGaussian:
        return AllocatedGaussian(
            largest_norm=self.radius / (n // self.groups), certificate=self.certificate
        )


@dataclass(frozen=True, kw_only=True)
class IterativeUpdatingAllocated(MeanMethod):
    r"""`IterativeUpdating`, where every record draws one of the k groups by itself.

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
    cost = MethodCost(
        fixed=8e6, per_row=25, per_element=1.4, per_column=2e4, fixed_if_narrow=(1e5, 5e5)
    )
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
        caveat="For d >= 3 the direction search is a heuristic, so no error bound is proven for "
        "what is computed; its privacy is, by a proof of this library.",
    )
    story = Story(
        what="Iterative updating with another sampler. Every record draws one of k groups by "
        "itself and in secret, the sum of each group gets noise, and a search walks to a point "
        "deep among them. Splitting into equal groups costs a noise that is larger by the square "
        "root of k; the secret draw takes nearly all of that back.",
        steps=(
            "Let every record draw one of k groups, uniformly, independently of all others.",
            "Clip every record to norm R and add up each group; divide by the public $m=n/k$.",
            r"Release the k rows with $N(0,\sigma^2I_d)$ each, "
            r"$\sigma=\frac{zR}m$, with the least z that the budget allows.",
            "Walk from 0 to a point deep among them, as iterative updating does.",
            "Return it, projected on the ball of the public bound on the mean.",
        ),
        assumptions=("A bounded p-th moment.", KNOWN_SET),
        privacy=Proof(
            sensitivity=r"A record is in one group. Replacing it moves the row of that group by at "
            r"most $2R/m$, and no other. A row is never divided by how many records it has.",
            mechanism=r"Gaussian noise on every row. Which group is a record's own is secret, so "
            r"that the two laws are averages over k groups; their δ at ε is computed by one "
            r"Fourier transform, every rounding upwards.",
            composition=r"All rows are one release, $(\varepsilon,\delta)$-DP as a whole. In zCDP "
            "there is nearly nothing to gain, and such a budget is refused.",
        ),
        smooth="no loss",
        order=r"O(nd + \text{steps}\cdot kd)",
        cost="One pass over the records, then a search that does not depend on n.",
        when="To see what secret random groups save. Simple clipping needs no groups.",
        pitfalls=(
            "The groups of the records, and how many each group has, must never be released.",
            "A split into equal groups is another sampler, and this proof is not about it.",
        ),
        example=OVER_N
        | {
            "methods": ("mean.sample", "mean.iterative", "mean.iterative-allocated"),
            "d": 5,
            "grid": (1000.0, 5000.0, 20_000.0, 50_000.0),
        },
    )
    stage = Stage(
        records=1,
        clip=("radius", "radius"),
        splits=(
            Split(function="dpsco_core.methods.mean.groups.clipped_group_means", told="groups"),
        ),
        small=SmallRun(fields={"groups": 4}),
    )
    colour = "teal"
    symbol = "star"

    def __post_init__(self) -> None:
        check_count("groups", self.groups)

    def plan(self, setting: Setting) -> DeepPointPlan:
        budget = sampled_budget(setting)
        if self.calibration == "paper":
            raise NotApplicable(
                "Noise for random allocation is found by an accountant, and none is printed.",
                calibration="tight",
            )
        n, theory = setting.n, self.tuning == "theory"
        groups = self.groups or (theory_groups() if theory else min(PRACTICAL_GROUPS, n))
        check_parts("groups", groups, n)
        certificate = allocate_steps(groups, budget.epsilon, budget.delta, QUICK_POINTS)
        radius = self.radius
        if radius is None:
            # The noise of a mean that costs rho has the multiplier 2/sqrt(2 rho), and that of the
            # average of the groups sqrt(k) times the certified one.
            choose = theorem_radius if theory else practical_radius
            radius = choose(setting, 2 / (groups * certificate.noise_multiplier**2))
        check_level("radius", radius)
        statistic = DeepPointOfAllocatedGroups(
            radius=radius,
            groups=groups,
            quantile=0.9 if theory else 0.6,
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
