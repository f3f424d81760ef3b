"""CoinPress: Biswas, Dong, Kamath and Ullman (2020), as a reference."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import BISWAS_2020, MethodCard
from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest
from dpsco_core.data.rows import Rows
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.mean.reading import Reading
from dpsco_core.methods.mean.rounds import MISS_CHANCE, descend, gaussian_norm_bound, round_radii
from dpsco_core.methods.records.base import (
    FAILURE_PROBABILITY,
    check_level,
    gaussian_share,
    scaled_bound,
)
from dpsco_core.methods.statistics import Statistic
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import Mechanism, gaussian_noise_std
from dpsco_core.problems.base import Setting

MOST_STEPS = 10  # the largest number of steps that is tried
EARLY_SHARE = 0.25  # the share of the budget for all steps but the last


@dataclass(frozen=True, kw_only=True)
class MeanInSmallerBalls(Statistic):
    """A mean about the last answer, released in steps that clip to smaller and smaller balls."""

    radii: tuple[float, ...]  # radii of the balls on which each step projects the records
    rhos: tuple[float, ...]  # the budgets of the steps

    label: ClassVar[str] = "mean of clipped records"

    def estimate(
        self,
        rows: Rows,
        noise: Mechanism[Vector] | None,
        ledger: Ledger,
        rng: np.random.Generator,
    ) -> tuple[Vector, Mapping[str, float]]:
        """Run the steps; return the last answer, shape (d,), and no diagnostics."""
        return descend(Reading(rows), self.radii, self.rhos, ledger, rng, label=self.label), {}


@dataclass(frozen=True, kw_only=True)
class CoinPress(MeanMethod):
    """Clip to a ball around the last estimate, average, add noise; each ball is smaller.

    See theory/adaptive-methods.md, 2.

    Parameters
    ----------
    covariance_scale : float, optional
        The largest standard deviation in any direction, which must not be estimated from the data.
        If None the moment scale of a coordinate, as if coordinates were uncorrelated.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: the exact Gaussian curve, or Bun and Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: balls that hold all records of a normal law with probability 0.95;
        ``"practical"``: that each holds 99 % of them.
    """

    covariance_scale: float | None = None

    reads = "summed"
    cost = MethodCost(fixed=4.6e4, per_row=29, per_element=0.71)
    card = MethodCard(
        slug="mean.coinpress",
        name="CoinPress",
        paper=BISWAS_2020,
        statement="Algorithms 2 and 3, known covariance",
        summary="Averages the records in a ball, with noise, and moves a smaller ball there, again "
        "and again; it is told the covariance.",
        privacy="zcdp",
        caveat="Made for normal laws: it is told a bound on the covariance, here the moment scale "
        "of a coordinate, and its accuracy under heavy tails is not proven.",
    )
    colour = "magenta"
    symbol = "cross"
    dashed = True

    def __post_init__(self) -> None:
        """Refuse a scale of the covariance that is not a positive number."""
        scale = self.covariance_scale
        ok = scale is None or (math.isfinite(scale) and scale > 0)
        require(ok, "covariance_scale", "a positive number", scale)

    def plan(self, setting: Setting) -> MeanPlan[MeanInSmallerBalls, None]:
        """Return the plan with the number of steps that makes the last step's noise smallest."""
        rho = gaussian_share(setting, self.calibration)
        scale = self.covariance_scale or scaled_bound(setting)[0]
        plans = [self._steps(setting, rho, scale, steps) for steps in range(1, MOST_STEPS + 1)]
        radii, rhos = smallest(
            plans, lambda p: p[0][-1] / math.sqrt(p[1][-1]), what="number of steps"
        )
        for radius in radii:
            check_level("radius", radius)
        return MeanPlan(
            setting=setting,
            statistic=MeanInSmallerBalls(radii=radii, rhos=rhos),
            noise=None,
            answer_radius=setting.constants.mean_gradient_bound,
            diagnostics={
                "clip_radius": radii[-1],
                "noise_std": gaussian_noise_std(2 * radii[-1] / setting.n, rhos[-1]),
                "steps": float(len(radii)),
            },
        )

    def _steps(
        self, setting: Setting, rho: float, scale: float, steps: int
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the radii and the budgets of the steps of a run with `steps` steps."""
        n, d = setting.n, setting.d
        early = EARLY_SHARE * rho / (steps - 1) if steps > 1 else 0.0
        rhos = (*(early,) * (steps - 1), rho - early * (steps - 1))
        if self.tuning == "theory":
            whole = FAILURE_PROBABILITY / 4
            failures = (*(whole / (steps - 1) for _ in range(steps - 1)), whole)
            reaches, likely = (
                [gaussian_norm_bound(d, f / n) for f in failures],
                [gaussian_norm_bound(d, f) for f in failures],
            )
        else:
            reaches = likely = [gaussian_norm_bound(d, MISS_CHANCE)] * steps
        reach = setting.constants.mean_gradient_bound
        return round_radii(n, reach, scale, rhos, reaches=reaches, likely=likely)[0], rhos
