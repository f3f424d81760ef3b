"""SCO with quantile clipping: the clip radius follows a quantile of the gradients' lengths."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import ANDREW_2021, MethodCard
from dpsco_core.base.errors import require
from dpsco_core.data.rows import Rows
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import FULL_BATCH
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.automatic import descent_at, level_of
from dpsco_core.methods.euclidean.tuning import FEW_STEPS
from dpsco_core.methods.mean.ladder import norm_counts
from dpsco_core.methods.records.base import check_level, clipped_mean, gaussian_share
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import Statistic
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

COUNT_SHARE = 0.01  # the share of rho that the counts of clipped gradients spend
RATE = 0.2  # the change of the radius' logarithm per step, as in Andrew et al. (2021)
RANGE = 1e6  # The radius stays within this factor of the first radius, up and down.


@dataclass(frozen=True, kw_only=True)
class TrackedClippedMean(Statistic):
    """The mean of rows clipped to a radius that follows a quantile of their norms."""

    radius: float  # C_0, the first clip radius
    quantile: float  # the share of rows that should be shorter than the radius
    rho_gradient: float  # the rho per step that the mean gradient spends
    rho_count: float  # the rho per step that the share of short rows spends

    def measuring(self, n: int, d: int, rho: float, steps: int) -> TrackedRadius:
        """Return what makes the releases of a run and moves its radius after each of them."""
        counted = GaussianNoise(l2_sensitivity=1 / n, rho=self.rho_count)
        return TrackedRadius(self, n, counted, self.radius)


@dataclass
class TrackedRadius:
    """The radius of the next step, a function of earlier releases alone."""

    statistic: TrackedClippedMean
    n: int
    counted: GaussianNoise  # the mechanism that adds noise to the share of short rows
    radius: float
    used_radii: list[float] = field(default_factory=list)

    def take(self, rows: Rows, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Release the mean of the clipped rows and the share of short rows; update the radius."""
        statistic, n, radius = self.statistic, self.n, self.radius
        self.used_radii.append(radius)
        noisy = ledger.release(
            GaussianNoise(l2_sensitivity=2 * radius / n, rho=statistic.rho_gradient),
            clipped_mean(rows, radius),
            rng,
            label="mean of clipped gradients",
        )
        short = ledger.release(
            self.counted,
            1 - norm_counts(rows, np.array([radius])) / n,
            rng,
            label="share of gradients that are not clipped",
        )
        share = min(1.0, max(0.0, float(short[0])))
        updated = radius * math.exp(RATE * (statistic.quantile - share))
        self.radius = min(max(updated, statistic.radius / RANGE), statistic.radius * RANGE)
        return noisy

    @property
    def diagnostics(self) -> Mapping[str, float]:
        """The radii, which are private because they are functions of releases."""
        statistic, radius = self.statistic, self.used_radii[-1]
        return {
            "clip_radius": radius,
            "first_radius": statistic.radius,
            "noise_std": 2 * radius / self.n / math.sqrt(2 * statistic.rho_gradient),
            "rho_step": statistic.rho_gradient + statistic.rho_count,
        }


@dataclass(frozen=True, kw_only=True)
class QuantileDescent(DescentMethod):
    r"""Projected gradient descent on means of clipped gradients; the radius follows a quantile.

    .. math:: C_{t+1} = C_t\exp(-0.2(\tilde b_t - q))

    with :math:`\tilde b_t` a noisy share of the gradients that are no longer than :math:`C_t`.

    Parameters
    ----------
    radius : float, optional
        The first clip radius, in [1e-140, 1e140]. If None it is chosen from the setting.
    quantile : float
        q, above 0 and below 1; 0.5 is the median.
    descent : Descent, optional
        Steps, step size and averaging. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from Bun and
        Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"practical"``: the first radius is the certified norm of a gradient, and T and eta those
        of `dpsco_core.methods.euclidean.tuning` there. ``"theory"``: those of `ClippedDescent`, at
        the gradients' share of the budget.
    """

    radius: float | None = None
    quantile: float = 0.5
    descent: Descent | None = None

    reads = "summed"
    cost = MethodCost(fixed=1e5, per_row=9, per_element=1.2, unit="step")
    departs = (FULL_BATCH,)
    card = MethodCard(
        slug="sco.quantile",
        name="Quantile clipping",
        paper=ANDREW_2021,
        statement="The quantile rule with its geometric update, on all records",
        summary="Gradient descent: shrinks every gradient into a ball whose radius follows the "
        "median of their lengths, privately; averages, and adds Gaussian noise at every step.",
        privacy="zcdp",
        private_radius=True,
        problems=SCO_PROBLEMS,
        caveat="No bound on its error is proven. Half of the gradients are clipped however many "
        "records there are, which biases it on skewed data.",
    )
    stage = Stage(
        free_steps=True, clip=("radius", "radius"), small=SmallRun(fields={"descent": FEW_STEPS})
    )
    clipped_values = "gradients"
    colour = "violet"
    symbol = "diamond"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the shares of the budget for gradients and for counts."""
        rho = gaussian_share(setting, self.calibration)
        require(0 < self.quantile < 1, "quantile", "above 0 and below 1", self.quantile)
        of_gradients = (1 - COUNT_SHARE) * rho
        fixed_radius = self.radius
        radius = (
            level_of(setting, of_gradients, self.tuning) if fixed_radius is None else fixed_radius
        )
        for level in (radius / RANGE, radius * RANGE):
            check_level("radius", level)
        descent = self.descent or descent_at(setting, of_gradients, radius, self.tuning)
        mean = TrackedClippedMean(
            radius=radius,
            quantile=self.quantile,
            rho_gradient=of_gradients / descent.steps,
            rho_count=COUNT_SHARE * rho / descent.steps,
        )
        return DescentPlan(
            setting=setting,
            statistic=mean,
            descent=descent,
            rho=rho,
            rho_step=rho / descent.steps,
            diagnostics=descent.diagnostics,
        )
