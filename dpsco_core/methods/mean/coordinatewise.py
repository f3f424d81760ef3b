"""Coordinate-wise clipped median of means: Kamath et al. (2022), Algorithm 3, both privacies."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from dpsco_core.base.cards import KAMATH_2022, MethodCard
from dpsco_core.base.search import smallest_between
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import ONE_BLOCK
from dpsco_core.methods.mean.below_two import best_level, coordinate_costs
from dpsco_core.methods.records.base import (
    FAILURE_PROBABILITY,
    check_count,
    check_level,
    check_parts,
    gaussian_share,
    hinge_bias,
    projection_radius,
    scaled_bound,
)
from dpsco_core.methods.stage import SmallRun, Split, Stage
from dpsco_core.methods.statistics import MedianOfClippedMeans
from dpsco_core.privacy.mechanisms import GaussianNoise, LaplaceNoise
from dpsco_core.problems.base import Setting
from dpsco_core.statements.kamath import (
    SMALLEST_THRESHOLD,
    Noise,
    algorithm_3_blocks,
    corollary_4_2_threshold,
)

MedianPlan = MeanPlan[MedianOfClippedMeans, GaussianNoise | LaplaceNoise]
CLIPPED_ENTRIES = (
    "Clipped entries have a variance, and the threshold is the one at which a bound that is proven "
    "for p < 2 is least."
)


@dataclass(frozen=True, kw_only=True)
class _Coordinatewise(MeanMethod):
    """The common part of the Gaussian and the Laplace version."""

    threshold: float | None = None
    blocks: int | None = None

    noise: ClassVar[Noise]
    reads = "summed"
    cost = MethodCost(fixed=6.7e4, per_row=0.2, per_element=0.62)
    stage = Stage(
        at_once=True,
        clip=("threshold", "threshold"),
        splits=(
            Split(function="dpsco_core.methods.records.base.clipped_block_means", told="blocks"),
        ),
        small=SmallRun(fields={"blocks": 2}),
    )

    def __post_init__(self) -> None:
        """Refuse a number of blocks that is no positive integer."""
        check_count("blocks", self.blocks)

    def plan(self, setting: Setting) -> MedianPlan:
        """Return the plan with the given threshold and blocks, or with those of the tuning."""
        n, d, is_gaussian = setting.n, setting.d, self.noise == "gaussian"
        share = (
            gaussian_share(setting, self.calibration) if is_gaussian else setting.laplace_epsilon
        )
        blocks = self.blocks
        is_printed = self.tuning == "theory" and setting.moment_order >= 2
        if blocks is None:
            blocks = theory_blocks(d) if is_printed else 1
            blocks += blocks % 2 if is_printed and self.calibration == "tight" else 0
        check_parts("blocks", blocks, n)
        threshold = self.threshold
        if threshold is None and is_printed:
            threshold = theory_threshold(setting, share, self.noise)
        elif threshold is None:
            unit = self._statistic(1.0, blocks).coordinate_sensitivity(n)
            threshold = practical_threshold(setting, share, self.noise, unit)
        check_level("threshold", threshold)
        statistic = self._statistic(threshold, blocks)
        noise: GaussianNoise | LaplaceNoise
        if is_gaussian:
            noise = GaussianNoise(l2_sensitivity=statistic.sensitivity(n, d), rho=share)
        else:
            change = d * statistic.coordinate_sensitivity(n)
            noise = LaplaceNoise(l1_sensitivity=change, epsilon=share)
        return MeanPlan(
            setting=setting,
            statistic=statistic,
            noise=noise,
            answer_radius=projection_radius(setting, self.tuning, self.threshold),
            diagnostics={
                "clip_limit": 3 * threshold,
                "blocks": blocks,
                "noise": noise_scale(noise),
            },
        )

    def _statistic(self, threshold: float, blocks: int) -> MedianOfClippedMeans:
        """Return the statistic, whose sensitivity is the printed one in calibration "paper"."""
        is_printed = self.calibration == "paper"
        return MedianOfClippedMeans(threshold=threshold, blocks=blocks, printed=is_printed)


def noise_scale(noise: GaussianNoise | LaplaceNoise) -> float:
    """Return the standard deviation (Gaussian) or the scale (Laplace) of a coordinate."""
    return noise.noise_std if isinstance(noise, GaussianNoise) else noise.noise_scale


@dataclass(frozen=True, kw_only=True)
class CoordinatewiseCDP(_Coordinatewise):
    """CDPCWME: clip, average in blocks, take medians, add Gaussian noise.

    Parameters
    ----------
    threshold : float, optional
        tau, in [1e-150, 1e150]. If None it is chosen from the setting.
    blocks : int, optional
        m >= 1. If None it is chosen from the setting.
    calibration : {"tight", "paper"}
        ``"paper"``: the printed sensitivity 12 tau m/n, and Bun and Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: m = 4 ln(2d/beta) rounded up (to an even number if tight) and
        tau = max(10, (sqrt(rho) n/sqrt(d))^(1/p)) (Corollary 4.2). ``"practical"``: the m and the
        tau that minimise the explicit bound on the mean squared error; that m is 1, the mean of
        the clipped entries (the median buys only high probability). For p < 2, where the corollary
        does not hold, both take those.
    """

    noise = "gaussian"
    departs = (ONE_BLOCK,)
    card = MethodCard(
        slug="mean.cwme-cdp",
        name="Coordinate-wise, Gaussian",
        paper=KAMATH_2022,
        statement="Algorithm 3 (CDPCWME), Theorem 4.1, Corollary 4.2",
        summary="Clips every coordinate, averages in blocks, takes the median of the block "
        "averages, and adds Gaussian noise.",
        privacy="zcdp",
        rate="upper.mean.cwme-cdp",
        infinite_variance=CLIPPED_ENTRIES,
    )
    colour = "teal"
    symbol = "diamond"


@dataclass(frozen=True, kw_only=True)
class CoordinatewisePure(_Coordinatewise):
    r"""DPCWME: as `CoordinatewiseCDP`, with Laplace noise.

    It runs under other budgets too: with the epsilon of an (epsilon, delta) budget, and with the
    epsilon at which Laplace noise is rho-zCDP.

    Parameters
    ----------
    threshold, blocks, calibration, tuning
        As in `CoordinatewiseCDP`; theory: tau = max(10, (epsilon n/d)^(1/p)).
    """

    noise = "laplace"
    departs = (ONE_BLOCK,)
    card = MethodCard(
        slug="mean.cwme-pure",
        name="Coordinate-wise, Laplace",
        paper=KAMATH_2022,
        statement="Algorithm 3 (DPCWME), Theorem 4.1, Corollary 4.2",
        summary="Clips every coordinate, averages in blocks, takes the median of the block "
        "averages, and adds Laplace noise: pure privacy, with no delta.",
        privacy="pure",
        rate="upper.mean.cwme-pure",
        infinite_variance=CLIPPED_ENTRIES,
    )
    colour = "teal"
    symbol = "diamond-open"
    dashed = True


def theory_blocks(d: int) -> int:
    r"""Return the number of blocks of Algorithm 3, step 1, at beta = 0.05.

    It is :math:`m = \lceil 4\ln(2d/\beta)\rceil`.
    """
    return math.ceil(algorithm_3_blocks(d, FAILURE_PROBABILITY))


def theory_threshold(setting: Setting, share: float, noise: Noise) -> float:
    r"""Return tau of Corollary 4.2, but at least 10 and (R+1)/3 in units of the moment scale.

    The corollary has :math:`(\sqrt\rho n/\sqrt d)^{1/p}` for Gaussian noise, and
    :math:`(\varepsilon n/d)^{1/p}` for Laplace noise.
    """
    scale, bound = scaled_bound(setting)
    order = setting.moment_order
    rate = corollary_4_2_threshold(setting.n, setting.d, share, noise, order)
    return scale * max(rate, SMALLEST_THRESHOLD, (bound + 1) / 3)


@lru_cache(maxsize=4096)
def practical_threshold(
    setting: Setting, share: float, noise: Noise, sensitivity_per_unit: float
) -> float:
    """Return the tau that minimises the squared bias plus the mean squared noise.

    The bias is the sharp form of Lemma B.1 in every coordinate. The mean has norm R and is either
    spread over all coordinates or on a single axis, whichever is worse. (A mean between the two can
    have a few per cent more bias, which affects accuracy only.) The noise energy is d times the
    variance of a coordinate at the sensitivity ``tau * sensitivity_per_unit``.

    For p < 2 the tau minimises the proven mean square (theory/infinite-variance.md, 2.1).
    """
    d, order = setting.d, setting.moment_order
    scale, bound = scaled_bound(setting)
    unit = d * sensitivity_per_unit
    energy = unit**2 / (2 * share) if noise == "gaussian" else 2 * d * (unit / share) ** 2
    if order < 2:
        return best_level(setting, coordinate_costs, energy / 9) / 3

    def squared_error(log_t: float) -> float:
        """Return squared bias plus mean squared noise, in squared units of the moment scale."""
        limit = bound + math.exp(log_t)
        spread = d * hinge_bias(limit - bound / math.sqrt(d), order) ** 2
        axis = hinge_bias(limit - bound, order) ** 2 + (d - 1) * hinge_bias(limit, order) ** 2
        return float(max(spread, axis) + energy * (limit / 3) ** 2)

    log_t, _ = smallest_between(squared_error, -12.0, 40.0, what="threshold tau")
    return scale * (bound + math.exp(log_t)) / 3
