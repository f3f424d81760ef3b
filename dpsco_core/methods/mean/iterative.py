"""Iterative updating: Zhao et al. (2024), Algorithm 3, with a secret split and a search."""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import ZHAO_2024, MethodCard
from dpsco_core.base.errors import require
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import Calibration, MethodCost, Tuning
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.mean.clipped import practical_radius, theorem_radius
from dpsco_core.methods.records.base import (
    FAILURE_PROBABILITY,
    check_count,
    check_level,
    check_parts,
    zhao_share,
)
from dpsco_core.methods.stage import SmallRun, Split, Stage
from dpsco_core.methods.statistics import DeepPointOfGroups, DeepPointOfSecretGroups
from dpsco_core.privacy.amplification import Route, ShuffleAmplification, amplify
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.mechanisms import AllocatedGaussian, GaussianNoise, ShuffledGaussian
from dpsco_core.problems.base import Setting
from dpsco_core.statements.zhao import lemma_6_groups

PRACTICAL_GROUPS = 8
# In two dimensions a deepest point is computed exactly; in higher dimensions it is searched.
COST = MethodCost(
    fixed=8e6, per_row=25, per_element=1.4, per_column=2e4, fixed_if_narrow=(1e5, 5e5)
)
SPLITS = (Split(function="dpsco_core.methods.records.groups.clipped_group_means", told="groups"),)
SMALL_RUN = SmallRun(fields={"groups": 4})
HEURISTIC = (
    "For d >= 3 the direction search is a heuristic, so no error bound is proven for what is "
    "computed; its privacy is"
)
DeepPointPlan = MeanPlan[DeepPointOfGroups, GaussianNoise | ShuffledGaussian | AllocatedGaussian]


@dataclass(frozen=True, kw_only=True)
class IterativeUpdating(MeanMethod):
    r"""Noisy means of k random groups, then a walk to a deep point among them.

    Parameters
    ----------
    radius : float, optional
        Clip radius R, in [1e-150, 1e150]. If None it is chosen from the setting.
    groups : int, optional
        k >= 1. If None: :math:`\lceil 800\ln(1/\beta)\rceil = 2397` in theory, 8 in practice.
    quantile : float, optional
        Share of the projections that must lie beyond, in (0.5, 1): 0.9 in theory, 0.6 in practice.
    calibration : {"tight", "paper"}
        ``"paper"``: equation (24) where its conditions hold, the omitted one included, otherwise
        equation (15) without amplification.
    tuning : {"practical", "theory"}
    """

    radius: float | None = None
    groups: int | None = None
    quantile: float | None = None

    reads = "grouped"
    cost = COST
    departs = (
        Departure(
            tag=f"{PRACTICAL_GROUPS} groups",
            text=f"It divides into {PRACTICAL_GROUPS} groups, where its theorem needs thousands.",
            practical=True,
        ),
    )
    card = MethodCard(
        slug="mean.iterative",
        name="Iterative updating",
        paper=ZHAO_2024,
        statement="Algorithm 3, Theorems 5 and 6",
        summary="Adds noise to the means of random groups of clipped records and walks to a "
        "point deep among them.",
        privacy="zcdp",
        rate="upper.mean.iterative",
        caveat=f"{HEURISTIC}. Splitting costs a factor sqrt(k) in noise.",
    )
    stage = Stage(
        records=1,
        clip=("radius", "radius"),
        splits=SPLITS,
        small=SMALL_RUN,
        others={
            "shuffled": SmallRun(
                scenario={"n": 3000, "epsilon": 0.5, "delta": 1e-4}, fields={"groups": 1000}
            )
        },
    )
    colour = "magenta"
    symbol = "star"

    def __post_init__(self) -> None:
        """Refuse a number of groups or a quantile outside its range."""
        check_count("groups", self.groups)
        ok = self.quantile is None or 0.5 < self.quantile < 1
        require(ok, "quantile", "a number above 0.5 and below 1", self.quantile)

    def plan(self, setting: Setting) -> DeepPointPlan:
        """Return the plan: groups, radius, noise of the group means, and length of the walk."""
        n, theory = setting.n, self.tuning == "theory"
        rho = zhao_share(setting, self.calibration)
        groups = self.groups or (theory_groups() if theory else min(PRACTICAL_GROUPS, n))
        check_parts("groups", groups, n)
        quantile = self.quantile or tuned_quantile(self.tuning)
        amplification = _best_amplification(setting, groups, rho, self.calibration)
        if amplification is not None:
            rho = amplification.rho_group
        radius = self.radius
        if radius is None:
            # The average of k group means has k times the noise energy of a single clipped mean.
            choose = theorem_radius if theory else practical_radius
            radius = choose(setting, rho / groups)
        check_level("radius", radius)
        r0 = group_radius(setting, radius, groups, rho, 1 - quantile)
        statistic = DeepPointOfGroups(
            radius=radius,
            groups=groups,
            quantile=quantile,
            bound=setting.constants.mean_gradient_bound,
            walk=walk_length(setting, r0) if theory else None,
        )
        if amplification is not None:
            statistic = DeepPointOfSecretGroups(**vars(statistic), amplification=amplification)
        noise = statistic.noise(n, setting.d, rho)
        return MeanPlan(
            setting=setting,
            statistic=statistic,
            noise=noise,
            diagnostics={
                "clip_radius": radius,
                "groups": groups,
                "noise_std": noise.noise_std,
                "group_radius": r0,
            },
            notes=vacuous_note(groups, r0, statistic.bound),
        )


def vacuous_note(groups: int, r0: float, mean_bound: float) -> tuple[str, ...]:
    """Return a sentence, as a tuple of one, that Theorem 5 is vacuous for a run, or no sentence."""
    if 4 * r0 < mean_bound:
        return ()
    reason = (
        f"4 r0 = {4 * r0:.3g} is not below the bound {mean_bound:.3g} on the mean, "
        "so returning 0 is as good in theory."
    )
    if math.isinf(r0):
        reason = (
            f"its proof needs more than {groups} groups at this quantile. Privacy holds all "
            "the same."
        )
    return (f"Theorem 5 says nothing here: {reason}",)


def theory_groups() -> int:
    r"""Return the number of groups of Lemma 6 at beta = 0.05.

    It is :math:`k = \lceil 800\ln(1/\beta)\rceil = 2397`.
    """
    return math.ceil(lemma_6_groups(FAILURE_PROBABILITY))


def tuned_quantile(tuning: Tuning) -> float:
    """Return the share of the group means that must lie beyond a deep point in every direction."""
    return 0.9 if tuning == "theory" else 0.6


def group_radius(setting: Setting, radius: float, groups: int, rho: float, level: float) -> float:
    r"""Return r_0 of Lemma 6 in the explicit form (91), a length on which Theorem 5 rests.

    In every direction at most a share `level` of the k group means (0.1 in the paper) is farther
    than r_0 from the mean, with probability :math:`1-\beta`. The records left over by k groups of
    equal size do not count. r_0 is infinite unless :math:`k \ge 8\ln(1/\beta)/\text{level}^2`.
    """
    if groups < 8 * math.log(1 / FAILURE_PROBABILITY) / level**2 * (1 - 1e-9):
        return math.inf
    n = groups * (setting.n // groups)
    moment, d = setting.constants.directional_moment, setting.d
    noise = 2 * radius**2 * groups**2 / (rho * n**2)
    return max(
        16 / level * moment * math.sqrt(d / n),
        16 / level * math.sqrt(noise * d / groups),
        4 / level * math.sqrt(noise + moment**2 * groups / n),
    )


def walk_length(setting: Setting, r0: float) -> int:
    r"""Return the number of steps of Lemma 8, or 1.

    .. math:: t_c = \lceil 2\ln\frac{M}{4r_0}/\ln\frac{256}{233}\rceil
    """
    # The walk begins at 0, and the norm of mu_Y is at most M, which therefore bounds its length.
    distance = setting.constants.directional_moment
    if not distance > 4 * r0:
        return 1
    return math.ceil(2 * math.log(distance / (4 * r0)) / math.log(256 / 233))


def _best_amplification(
    setting: Setting, groups: int, rho: float, calibration: Calibration
) -> ShuffleAmplification | None:
    """Return the amplification that allows the most rho per group; None if none is better.

    In the calibration ``"paper"`` it is the printed one, where its conditions hold.
    """
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return None  # An amplified guarantee is not a zCDP guarantee.
    if calibration == "paper":
        return amplify(groups, budget.epsilon, budget.delta, "printed")
    routes: tuple[Route, ...] = ("numerical", "closed")
    amplified = [amplify(groups, budget.epsilon, budget.delta, route) for route in routes]
    better = [a for a in amplified if a is not None and a.rho_group > rho]
    return max(better, key=lambda a: a.rho_group, default=None)
