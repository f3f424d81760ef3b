"""A mean at user level: every user's mean, clipped around 0."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from dpsco_core.base.cards import AGARWAL_2024, MethodCard
from dpsco_core.base.search import smallest_between
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.mean.clipped import SimpleClipping, practical_radius
from dpsco_core.methods.records.base import (
    check_level,
    hinge_constant,
    projection_radius,
    scaled_bound,
)
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import ClippedMean
from dpsco_core.methods.user.means.base import (
    of_user_means,
    user_means,
)
from dpsco_core.privacy.budget import PureDP
from dpsco_core.privacy.mechanisms import GaussianNoise, SphericalLaplaceNoise
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class ClippedUserMeans(ClippedMean):
    """The mean of users' means, each clipped to the radius."""

    label: ClassVar[str] = "mean of clipped user means"


UserMeansPlan = MeanPlan[ClippedMean, GaussianNoise | SphericalLaplaceNoise]


@dataclass(frozen=True, kw_only=True)
class UserMeanClipped(MeanMethod):
    r"""Average each user's records, clip the averages to an l2 ball, average, add noise.

    With Gaussian noise it is `SimpleClipping` at m = 1, and for more items `SimpleClipping` of n
    records with the moments of users' means. Under a pure budget the noise has a density
    :math:`\propto e^{-\varepsilon n\|z\|/(2R)}`, whose mean squared norm is that of Gaussian noise
    at :math:`\rho = \frac{\varepsilon^2}{2(d+1)}`. The practical radius is that of Gaussian noise
    at this rho, and the theory's radius minimises the proven bound (theory/user-level-means.md,
    3.5). For p < 2 all radii minimise a proven bound (theory/infinite-variance.md, 2.4).
    """

    # the clip radius of the users' means; None if it is chosen from the setting
    radius: float | None = None

    reads = "whole"
    cost = MethodCost(fixed=5e4, per_row=8, per_element=0.8)
    departs = (
        Departure(
            tag="one round",
            text="It clips once around 0, where the paper comes closer in rounds.",
        ),
    )
    card = MethodCard(
        slug="user.mean-clipped",
        name="Clipped user means",
        paper=AGARWAL_2024,
        statement="Clip and noise on user means, one round around 0",
        summary="Averages each user's records, shrinks the averages into a ball, and averages "
        "those with noise as large as one user could move the result.",
        privacy="zcdp",
        pure_form=True,
        level="user",
        rate="upper.user.mean-clipped-run",
        infinite_variance="A clipped mean of a user has a variance, and the radius is the one at "
        "which a bound that is proven for p < 2 is least.",
    )
    stage = Stage(
        at_once=True,
        clip=("radius", "radius"),
        others={"pure": SmallRun(scenario={"delta": 0.0})},
    )
    colour = "gold"
    symbol = "square"

    def plan(self, setting: Setting) -> UserMeansPlan:
        """Return the plan of `SimpleClipping` for the users' means, or that of a pure budget."""
        if isinstance(setting.budget, PureDP):
            return self._pure_plan(setting)
        item = SimpleClipping(radius=self.radius, calibration=self.calibration, tuning=self.tuning)
        plan = item.plan(of_user_means(setting))
        statistic = ClippedUserMeans(radius=plan.statistic.radius)
        return replace(plan, setting=setting, statistic=statistic, read=user_means)

    def _pure_plan(self, setting: Setting) -> UserMeansPlan:
        """Return the plan under a pure budget, with spherical Laplace noise."""
        means = of_user_means(setting)
        radius = self.radius
        if radius is None and self.tuning == "theory" and setting.moment_order >= 2:
            radius = proven_radius(means)
        elif radius is None:
            radius = practical_radius(means, setting.pure_epsilon**2 / (2 * (setting.d + 1)))
        check_level("radius", radius)
        statistic = ClippedUserMeans(radius=radius)
        change = statistic.sensitivity(setting.n, setting.d)
        noise = SphericalLaplaceNoise(l2_sensitivity=change, epsilon=setting.pure_epsilon)
        return MeanPlan(
            setting=setting,
            statistic=statistic,
            noise=noise,
            read=user_means,
            answer_radius=projection_radius(setting, self.tuning, self.radius),
            diagnostics={
                "clip_radius": radius,
                "noise_std": noise_std(noise, setting.d),
            },
        )


def noise_std(noise: GaussianNoise | SphericalLaplaceNoise, d: int) -> float:
    """Return the standard deviation of a coordinate of the noise."""
    if isinstance(noise, GaussianNoise):
        return noise.noise_std
    return math.sqrt(d + 1) * noise.l2_sensitivity / noise.epsilon


def proven_radius(means: Setting) -> float:
    r"""Return the clip radius R that minimises the bound on the squared error under a pure budget.

    The bound is :math:`\big(\kappa_p(\sqrt dg)^p(R-R_0)^{1-p}\big)^2+
    d(d+1)\big(\frac{2R}{n\varepsilon}\big)^2`. `means` is the setting of the users' means, g the
    root of a coordinate's moment in it, and R_0 the bound on the mean.
    """
    d, order = means.d, means.moment_order
    scale, bound = scaled_bound(means)
    noise = math.sqrt(d * (d + 1)) * 2 / (means.n * means.pure_epsilon)

    def error(log_t: float) -> float:
        """Return the square root of the bound at R = R_0 + e^log_t, in units of `scale`."""
        tail = math.log(hinge_constant(order)) + order / 2 * math.log(d) - (order - 1) * log_t
        return math.hypot(math.exp(tail), noise * (bound + math.exp(log_t)))

    log_t, _ = smallest_between(error, -12.0, 40.0, what="clip radius")
    return scale * (bound + math.exp(log_t))
