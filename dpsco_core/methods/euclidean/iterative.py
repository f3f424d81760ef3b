"""SCO with iterative updating: Zhao et al. (2024), Theorem 7 (claimed)."""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import ZHAO_2024, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import Calibration, MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.descent import DescentMethod, DescentPlan, whole_batch
from dpsco_core.methods.euclidean.clipped import theorem_descent
from dpsco_core.methods.euclidean.tuning import FEW_STEPS, practical_clipping, practical_descent
from dpsco_core.methods.mean.iterative import PRACTICAL_GROUPS, IterativeUpdating, tuned_quantile
from dpsco_core.methods.records.base import check_count, check_level, zhao_share
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import DeepPointOfGroups
from dpsco_core.methods.steps import Descent
from dpsco_core.methods.tune import choose_parameter, require_finite
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class DescentWithGroups(DescentMethod):
    """A descent along deep points of groups of gradients; each subclass adds its noise."""

    radius: float | None = None
    groups: int | None = None
    descent: Descent | None = None

    reads = "grouped"
    cost = MethodCost(
        fixed=1.3e7, per_row=10, per_element=2, fixed_if_narrow=(1e5, 1.5e6), unit="step"
    )
    stage = Stage(
        records=1,
        free_steps=True,
        splits=IterativeUpdating.stage.splits,
        small=SmallRun(fields={"groups": 4, "descent": FEW_STEPS}),
    )
    symbol = "star"

    def __post_init__(self) -> None:
        """Refuse a number of groups that is no positive integer."""
        check_count("groups", self.groups)

    def choose_groups(self, setting: Setting) -> int:
        """Return the number of groups; raise `NotApplicable` if there are fewer records."""
        groups = choose_parameter(
            self.groups,
            self.tuning,
            theory=lambda: union_groups(setting),
            practical=lambda: min(PRACTICAL_GROUPS, setting.n),
        )
        if setting.n < groups:
            raise NotApplicable(
                f"{groups:,} groups need at least as many records, and n={setting.n:,}.",
                tuning="practical",
            )
        return groups

    def choose_descent(
        self,
        setting: Setting,
        rho: float,
        unit: float,  # the noise energy of the groups' average in a run of one step, at R = 1
    ) -> tuple[float, Descent]:
        """Return the radius and the descent for noise that spends about `rho` in total."""
        radius = choose_parameter(
            self.radius,
            self.tuning,
            theory=lambda: theorem_radius(setting, rho, self.calibration),
            practical=lambda: practical_clipping(setting, unit).radius,
        )
        check_level("radius", radius)
        level = theorem_level(setting, rho, self.calibration)
        descent = choose_parameter(
            self.descent,
            self.tuning,
            theory=lambda: theorem_descent(setting, level, radius, self.calibration),
            practical=lambda: practical_descent(setting, unit * radius**2, radius),
        )
        return radius, descent


@dataclass(frozen=True, kw_only=True)
class IterativeDescent(DescentWithGroups):
    r"""Projected gradient descent with iterative updating as the gradient oracle.

    Parameters
    ----------
    radius : float, optional
        Clip radius R. If None it is chosen from the setting.
    groups : int, optional
        Number of groups k. If None: :math:`\lceil 800(d\ln(1+2Ln)+2\ln n)\rceil` in theory, by
        the union bound over a net of W, which the paper leaves open; 8 in practice.
    descent : Descent, optional
        Steps, step size and averaging. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        ``"paper"``: rho by equation (15). The printed route, equation (24) at a step's share of
        (32), needs far more groups than there are records at any size that runs; where it does
        not, it allows less than no amplification, which is used instead. With theory, R, T and
        eta as printed in Theorem 7, which takes M = L lambda = 1.
    tuning : {"practical", "theory"}
        ``"theory"``: R of Theorem 7 times M, sqrt(rho) for its epsilon, and the T and eta in
        consistent units as for `ClippedDescent`; all queried points are averaged.
    """

    departs = (
        Departure(
            tag=f"{PRACTICAL_GROUPS} groups",
            text=f"It divides into {PRACTICAL_GROUPS} groups, where its theorem needs thousands.",
            practical=True,
        ),
    )
    card = MethodCard(
        slug="sco.iterative",
        name="Iterative updating of gradients",
        short="Iterative updating",
        paper=ZHAO_2024,
        statement="Algorithms 1 and 3, Theorem 7 (claimed)",
        summary="Gradient descent: noisy means of secret random groups of clipped gradients, and a "
        "point deep among them, at every step.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        rate="upper.sco.iterative",
        caveat="Theorem 7 rests on a lemma without proof, whose bias part looks wrong; its rate is "
        "a claim. Privacy is proven. Splitting costs a factor sqrt(k) in noise.",
    )
    colour = "magenta"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given groups, radius and descent, or with the tuning's."""
        rho = zhao_share(setting, self.calibration)
        n, groups = setting.n, self.choose_groups(setting)
        unit = 2 * setting.d / (rho * (n // groups) ** 2 * groups)
        radius, descent = self.choose_descent(setting, rho, unit)
        point = DeepPointOfGroups(
            radius=radius,
            groups=groups,
            quantile=tuned_quantile(self.tuning),
            bound=setting.constants.mean_gradient_bound,
        )
        diagnostics = {"clip_radius": radius, "groups": float(groups)}
        return whole_batch(setting, point, descent, rho, 2 * radius / (n // groups), diagnostics)


def union_groups(setting: Setting) -> int:
    r"""Return the number of groups :math:`k = 800[d\ln(1+2Ln) + 2\ln n]`, rounded up.

    L is the diameter of the set. See theory/zhao-et-al.md, 2.5.
    """
    diameter = require_finite(setting.constants.diameter, "a bounded constraint set")
    n = setting.n
    return math.ceil(800 * (setting.d * math.log1p(2 * diameter * n) + 2 * math.log(n)))


def theorem_level(setting: Setting, rho: float, calibration: Calibration) -> float:
    r"""Return what stands for :math:`\varepsilon^2` in Theorem 7: rho, or epsilon^2 as printed."""
    if calibration == "paper" and isinstance(setting.budget, ApproxDP):
        return setting.budget.epsilon**2
    return rho


def theorem_radius(setting: Setting, rho: float, calibration: Calibration) -> float:
    r"""Return the clip radius R of Theorem 7, without the factor M in the calibration "paper".

    .. math:: R = M\sqrt d(n\varepsilon/\sqrt d)^{1/p}

    M is the directional moment of the gradients, and epsilon^2 is `theorem_level`.

    Examples
    --------
    The reference value of theory/zhao-et-al.md, 7.1, item 8, at n = 10^4, d = 10, p = 3 and epsilon
    = 1:

    >>> from dpsco_core.problems import Constants
    >>> constants = Constants(coordinate_moment=1.0, directional_moment=2.0, variance_trace=10.0,
    ...                       mean_gradient_bound=1.0)
    >>> setting = Setting(n=10_000, d=10, moment_order=3.0,
    ...                   budget=ApproxDP(epsilon=1.0, delta=1e-6), constants=constants)
    >>> round(theorem_radius(setting, 0.0140588188106, "paper"), 6)
    46.415888
    """
    d, moment = setting.d, 1.0
    if calibration == "tight":
        moment = require_finite(setting.constants.directional_moment, "a directional moment M")
    signal = setting.n * math.sqrt(theorem_level(setting, rho, calibration) / d)
    return moment * math.sqrt(d) * float(signal ** (1 / setting.moment_order))
