"""Noise smoothing: Kamath et al. (2022), Algorithm 4 (Holland's estimator), made private."""

import math
from dataclasses import dataclass
from functools import lru_cache

from dpsco_core.base.cards import KAMATH_2022, MethodCard
from dpsco_core.base.search import smallest, smallest_between
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.records.base import (
    check_level,
    gaussian_share,
    projection_radius,
    scaled_bound,
)
from dpsco_core.methods.records.smooth_clip import SQRT2, check_variance
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.statistics import SmoothlyTruncatedMean
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.problems.base import Setting

SMALLEST_TAU = 10.0  # the least truncation level in theory, in units of the moment scale
VARIANCES = (0.1, 0.25, 0.5, 1.0)  # the candidates for the smoothing variance c
SmoothedPlan = MeanPlan[SmoothlyTruncatedMean, GaussianNoise]


@dataclass(frozen=True, kw_only=True)
class NoiseSmoothing(MeanMethod):
    r"""CDPNSME: the average of smoothly truncated entries, with Gaussian noise.

    Parameters
    ----------
    tau : float, optional
        Truncation level, in [1e-150, 1e150]. If None it is chosen from the setting.
    smoothing_variance : float, optional
        c in [1e-4, 2], which the paper leaves open. If None: 1 in theory and with the printed
        noise; otherwise chosen from the setting among 0.1, 0.25, 0.5 and 1.
    calibration : {"tight", "paper"}
        ``"paper"``: the printed variance :math:`\tau^2d/(\rho n^2)`. It is enough for rho-zCDP
        where :math:`c \ge 0.7557`; below, the release is :math:`2S_c^2\rho`-zCDP, and its ledger
        entry says so.
    tuning : {"practical", "theory"}
        ``"theory"``: tau = max(10, (sqrt(rho) n/sqrt(d))^(1/2)), the balance of bias and noise for
        second moments; the paper states no mean-estimation theorem for it. ``"practical"``: tau and
        c that minimise the explicit error bound.
    """

    tau: float | None = None
    smoothing_variance: float | None = None

    reads = "summed"
    cost = MethodCost(fixed=9e4, per_row=0, per_element=2.4)
    card = MethodCard(
        slug="mean.smoothed",
        name="Noise smoothing",
        paper=KAMATH_2022,
        statement="Algorithm 4 (CDPNSME)",
        summary="Passes every entry through a smooth truncation, averages, and adds Gaussian "
        "noise; uses second moments only.",
        privacy="zcdp",
        rate="upper.mean.smoothed",
        caveat="The printed noise is too small when the smoothing variance is below 0.7557: "
        "calibration 'paper' then overstates its privacy, and says so.",
    )
    stage = Stage(at_once=True, clip=("tau", "tau"), flawed=("smoothing_variance", 0.01))
    colour = "green"
    symbol = "triangle-up"

    def __post_init__(self) -> None:
        """Refuse a smoothing variance outside its range."""
        if self.smoothing_variance is not None:
            check_variance(self.smoothing_variance)

    def plan(self, setting: Setting) -> SmoothedPlan:
        """Return the plan with the given level and variance, or with those of the tuning."""
        rho = gaussian_share(setting, self.calibration)
        tau, variance = self._parameters(setting, rho)
        check_level("tau", tau)
        statistic = self._statistic(tau, variance)
        noise = statistic.noise(setting.n, setting.d, rho)
        return MeanPlan(
            setting=setting,
            statistic=statistic,
            noise=noise,
            answer_radius=projection_radius(setting, self.tuning, self.tau),
            diagnostics={
                "tau": tau,
                "smoothing_variance": variance,
                "noise_std": noise.noise_std,
            },
        )

    def _parameters(self, setting: Setting, rho: float) -> tuple[float, float]:
        """Return the truncation level and the smoothing variance, given or chosen."""
        tau, variance = self.tau, self.smoothing_variance
        if self.tuning == "theory":
            balance = math.sqrt(math.sqrt(rho / setting.d) * setting.n)
            if tau is None:
                tau = scaled_bound(setting)[0] * max(SMALLEST_TAU, balance)
            return tau, 1.0 if variance is None else variance
        if variance is not None:
            choices: tuple[float, ...] = (variance,)
        else:  # At c = 1 the printed noise is sufficient.
            choices = (1.0,) if self.calibration == "paper" else VARIANCES
        if tau is not None:
            return tau, choices[-1]
        n, d = setting.n, setting.d
        units = {c: self._statistic(1.0, c).noise(n, d, rho).l2_sensitivity for c in choices}
        taus = {c: practical_tau(setting, rho, c, units[c]) for c in choices}
        best = smallest(choices, lambda c: taus[c][1], what="smoothing variance")
        return taus[best][0], best

    def _statistic(self, tau: float, variance: float) -> SmoothlyTruncatedMean:
        """Return the statistic, whose noise is the printed one in calibration "paper"."""
        is_printed = self.calibration == "paper"
        return SmoothlyTruncatedMean(tau=tau, smoothing_variance=variance, printed=is_printed)


@lru_cache(maxsize=4096)
def practical_tau(
    setting: Setting, rho: float, smoothing_variance: float, sensitivity_per_unit: float
) -> tuple[float, float]:
    r"""Return the tau that minimises a bound on the mean squared error, and the bound at that tau.

    The bound is squared bias plus noise energy plus variance. With :math:`v = 1 + \mu_j^2` and the
    mean spread over the coordinates, the bias of a coordinate is at most
    :math:`\frac{3(1+c)v}{8\sqrt2\tau}`, and for p >= 3 also at most
    :math:`E|1+\sqrt cZ|^3(1+|\mu_j|)^3/(6\tau^2)`. The noise is that of the sensitivity
    ``tau * sensitivity_per_unit``. The variance of a coordinate is at most :math:`(1+c)v/n` for
    every tau.
    """
    d, order, c = setting.d, setting.moment_order, smoothing_variance
    scale, bound = scaled_bound(setting)
    mean = bound / math.sqrt(d)
    second_order = 3 * (1 + c) * (1 + mean**2) / (8 * SQRT2)
    # E|1 + sqrt(c) Z|^3 is at most the square root of the sixth moment.
    third_order = math.sqrt(1 + 15 * c + 45 * c**2 + 15 * c**3) * (1 + mean) ** 3 / 6
    energy = sensitivity_per_unit**2 / (2 * rho)

    def squared_error(log_tau: float) -> float:
        """Return squared bias plus noise energy of all coordinates at a level."""
        tau = math.exp(log_tau)
        bias = second_order / tau if order < 3 else min(second_order / tau, third_order / tau**2)
        return float(d * (bias**2 + energy * tau**2))

    log_tau, minimum = smallest_between(squared_error, -6.0, 40.0, what="threshold tau")
    sampling = d * (1 + c) * (1 + mean**2) / setting.n
    return scale * math.exp(log_tau), scale**2 * (minimum + sampling)
