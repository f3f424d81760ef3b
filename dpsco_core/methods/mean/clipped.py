"""Simple clipping: Zhao et al. (2024), Algorithm 2."""

import math
from dataclasses import dataclass
from functools import lru_cache

from dpsco_core.base.cards import ZHAO_2024, MethodCard
from dpsco_core.base.search import smallest_between
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.mean.below_two import best_level, norm_costs
from dpsco_core.methods.records.base import (
    FAILURE_PROBABILITY,
    check_level,
    hinge_bias,
    projection_radius,
    scaled_bound,
    zhao_share,
)
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.statistics import ClippedMean
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.problems.base import Setting
from dpsco_core.statements.zhao import equation_14_covering, equation_14_slope

ClippedPlan = MeanPlan[ClippedMean, GaussianNoise]


@dataclass(frozen=True, kw_only=True)
class SimpleClipping(MeanMethod):
    r"""Clip every record to an l2 ball, average, add Gaussian noise.

    Parameters
    ----------
    radius : float, optional
        The clip radius R, in [1e-150, 1e150]. If None it is chosen from the setting, never from
        the data.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from the paper's
        equation (15). The noise at a given rho is the same.
    tuning : {"practical", "theory"}
        ``"theory"``: the radius that minimises the terms of Theorem 2 that depend on it.
        ``"practical"``: the radius that balances squared bias and noise when coordinates are
        independent, see `practical_radius`, and the answer is projected on the ball of the public
        bound, unless a radius is given; see `projection_radius`. For p < 2, where the theorem does
        not hold, both take the radius of the second.
    """

    radius: float | None = None

    reads = "summed"
    cost = MethodCost(fixed=3.9e4, per_row=7, per_element=0.42)
    card = MethodCard(
        slug="mean.clipped",
        name="Simple clipping",
        paper=ZHAO_2024,
        statement="Algorithm 2, Lemma 4, Theorem 2",
        summary="Shrinks every record into a ball, averages, and adds Gaussian noise as large as "
        "one record could move the average.",
        privacy="zcdp",
        rate="upper.mean.clipped",
        infinite_variance="A clipped record has a variance, and the radius is the one at which a "
        "bound that is proven for p < 2 is least.",
    )
    stage = Stage(at_once=True, clip=("radius", "radius"))
    clipped_values = "records"
    colour = "gold"
    symbol = "square"

    def plan(self, setting: Setting) -> ClippedPlan:
        """Return the plan with the given radius, or with the one that the tuning chooses."""
        rho = zhao_share(setting, self.calibration)
        radius = self.radius
        if radius is None:
            is_printed = self.tuning == "theory" and setting.moment_order >= 2
            radius = (theorem_radius if is_printed else practical_radius)(setting, rho)
        check_level("radius", radius)
        statistic = ClippedMean(radius=radius)
        noise = GaussianNoise(l2_sensitivity=statistic.sensitivity(setting.n, setting.d), rho=rho)
        return MeanPlan(
            setting=setting,
            statistic=statistic,
            noise=noise,
            answer_radius=projection_radius(setting, self.tuning, self.radius),
            diagnostics={"clip_radius": radius, "noise_std": noise.noise_std},
        )


def theorem_radius(setting: Setting, rho: float) -> float:
    r"""Return the radius that minimises the radius-dependent terms of Theorem 2, equation (14).

    The maximum in (14) counts as its second entry, :math:`8R\Lambda/n`:
    :math:`R^* = \sqrt d M c_1^{-1/p}`, :math:`c_1 = \frac{4\sqrt\Lambda}{n\sqrt\rho} +
    \frac{8\Lambda}n`, :math:`\Lambda = d\ln 6 + \ln(2/\beta)`, at beta = 0.05.
    """
    covering = equation_14_covering(setting.d, FAILURE_PROBABILITY)
    slope = equation_14_slope(setting.n, rho, covering)
    moment = setting.constants.directional_moment
    return float(math.sqrt(setting.d) * moment * slope ** (-1 / setting.moment_order))


@lru_cache(maxsize=4096)
def practical_radius(setting: Setting, rho: float) -> float:
    r"""Return the radius that balances squared bias and noise on independent coordinates.

    Far out, the norm of a record with independent coordinates is large because *one* coordinate
    is. Nothing should be clipped below :math:`R_0 + \sqrt d`, the bound on the mean plus the usual
    distance from it. With a radius larger by t, each coordinate loses at most
    :math:`\kappa_p t^{1-p}` (`hinge_bias`). So :math:`R = R_0 + \sqrt d + t`, where t minimises
    :math:`d\kappa_p^2 t^{2-2p} + 2dR^2/(\rho n^2)`. For other laws this is a heuristic of accuracy;
    privacy holds for every radius.

    Where the noise is large, the radius of the theorem may be far below :math:`R_0 + \sqrt d`. It
    is returned if it has the smaller predicted error :math:`(R_0 + \sqrt d)^2 + 2dR^2/(\rho n^2)`,
    as if clipping lost every record entirely.

    For p < 2 the radius minimises the proven mean square (theory/infinite-variance.md, 2.2).
    """
    if setting.moment_order < 2:
        return best_level(setting, norm_costs, 2 * setting.d / (rho * setting.n**2))
    scale, bound = scaled_bound(setting)
    bulk = bound + math.sqrt(setting.d)
    noise = 2 / (rho * setting.n**2)

    def squared_error(log_t: float) -> float:
        """Return the predicted squared error, divided by d, at a distance t above the bulk."""
        t = math.exp(log_t)
        return float(hinge_bias(t, setting.moment_order) ** 2 + noise * (bulk + t) ** 2)

    log_t, minimum = smallest_between(squared_error, -12.0, 40.0, what="clip radius")
    printed = theorem_radius(setting, rho)
    if bulk**2 / setting.d + noise * (printed / scale) ** 2 < minimum:
        return printed
    return scale * (bulk + math.exp(log_t))
