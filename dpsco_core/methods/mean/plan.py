"""PLAN: private scales of the coordinates, rescaled rows, and adaptive clipping of those."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import AUMUELLER_2024, MethodCard
from dpsco_core.data.rows import DenseRows, MappedRows, Rows
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.mean.adaptive import AdaptiveClipping, AdaptiveMean
from dpsco_core.methods.mean.rounds import plan_centre
from dpsco_core.methods.mean.shares import Mode, look_shares
from dpsco_core.methods.records.base import (
    check_level,
    gaussian_share,
    into_ball,
    scaled_bound,
)
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import Statistic
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP, zcdp_rho
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise, Mechanism
from dpsco_core.privacy.selection import selection_rho
from dpsco_core.problems.base import Setting

SCALE_SHARE = 0.1  # the share of rho for the scales
# the range, in octaves, to which logarithms of differences are clipped; it ends at twice the scale
OCTAVES = 9.0
LEAST_WEIGHT = 2 ** (-OCTAVES / 2)  # the least weight of a coordinate, whatever the data are


@dataclass(frozen=True, kw_only=True)
class RescaledMean(Statistic):
    """Private scales of the coordinates, and the adaptively clipped mean of the rescaled rows."""

    # the statistic of the rescaled rows, whose radius and bounds are adapted to the scales
    fine: AdaptiveMean
    scale: float  # a bound on the spread of a coordinate
    scale_rho: float  # the rho of the look at the scales

    label: ClassVar[str] = "logarithms of the coordinates' spreads"
    is_last_release: ClassVar[bool] = False

    @property
    def lowest(self) -> float:
        """The lower clip level of base-2 logarithms; the upper level is `OCTAVES` larger."""
        return math.log2(self.scale) + 1 - OCTAVES

    def sensitivity(self, n: int, d: int) -> float:
        """Return the sensitivity of the mean logarithms.

        A record is in one of n // 2 pairs, and may change all coordinates of that pair.
        """
        return OCTAVES * math.sqrt(d) / (n // 2)

    def estimate(
        self,
        rows: DenseRows,
        noise: Mechanism[Vector] | None,
        ledger: Ledger,
        rng: np.random.Generator,
    ) -> tuple[Vector, Mapping[str, float]]:
        """Release the scales, then the clipped mean of the rescaled rows; return it, shape (d,)."""
        change = self.sensitivity(rows.n, rows.d)
        mechanism = GaussianNoise(l2_sensitivity=change, rho=self.scale_rho)
        logarithms = mean_logarithms(rows, self.lowest, rows.n // 2)
        noisy = ledger.release(mechanism, logarithms, rng, label=self.label)
        weights = weights_of(noisy, mechanism.noise_std, self.lowest)
        fine = rescale_statistic(self.fine, self.scale, weights)
        value, diagnostics = fine.estimate(MappedRows(rows, _Divided(weights)), None, ledger, rng)
        return weights * into_ball(value, fine.mean_bound), {
            **diagnostics,
            # This is the root mean square of the coordinates' noise in the original units.
            "noise_std": diagnostics["noise_std"] * float(np.sqrt(np.mean(weights**2))),
            "least_weight": float(weights.min()),
        }


@dataclass(frozen=True, kw_only=True)
class RescaledClipping(MeanMethod):
    """Rescale the coordinates by private scales, then clip adaptively.

    See theory/unequal-coordinates.md, 2. At equal scales it comes to `AdaptiveClipping` on nine
    tenths of the budget.
    """

    # the mode of `AdaptiveClipping`; in mode "blind" no scale is looked at
    mode: Mode | None = None

    reads = "whole"
    cost = MethodCost(fixed=2.1e4, per_row=54, per_element=3.7)
    departs = (
        Departure(
            tag="own scales and radius",
            text="How its scales and its radius are chosen is this project’s.",
        ),
    )
    card = MethodCard(
        slug="mean.plan",
        name="Rescaled clipping (PLAN)",
        short="PLAN",
        paper=AUMUELLER_2024,
        statement="Algorithm PLAN, with scales and radius chosen in our own way",
        summary="Finds privately how widely each coordinate spreads, shrinks the wide ones, clips "
        "and adds noise there, and undoes the shrinking.",
        privacy="zcdp",
        private_radius=True,
        caveat="The look at the scales and the radius are this project's "
        "(theory/unequal-coordinates.md, 2). No explicit bound is proven for it.",
    )
    # The stage has enough records for a look at the scales.
    stage = Stage(records=128, small=SmallRun(fields={"mode": "single"}))
    colour = "green"
    symbol = "diamond"
    dashed = True

    def plan(self, setting: Setting) -> MeanPlan[AdaptiveMean | RescaledMean, None]:
        """Return the plan with private scales, or adaptive clipping where they cannot help."""
        gaussian_share(setting, self.calibration)  # This call raises an error for a pure budget.
        unscaled = self._fine(self.mode).plan(setting)
        mode = unscaled.statistic.mode
        if mode == "blind" or setting.d == 1 or setting.n < 2:
            return unscaled
        inner = unscaled.statistic.inner_rho > 0
        rho = self._total_rho(setting, mode, inner)
        spent = SCALE_SHARE * rho
        reduced_setting = replace(setting, budget=ZCDP(rho=rho - spent))
        fine = self._fine(self.mode, inner).plan(reduced_setting).statistic
        if fine.mode == "blind":
            return unscaled
        check_level("radius", fine.top_radius / LEAST_WEIGHT)
        if fine.centre is not None:
            check_level("radius of a round", fine.centre.radii[0] / LEAST_WEIGHT)
        scale = scaled_bound(setting)[0]
        statistic = RescaledMean(fine=fine, scale=scale, scale_rho=spent)
        bound = unscaled.answer_radius
        return MeanPlan(setting=setting, statistic=statistic, noise=None, answer_radius=bound)

    def _fine(self, mode: Mode | None, inner: bool | None = None) -> AdaptiveClipping:
        """Return the adaptive clipping whose plan the rescaled rows take."""
        return AdaptiveClipping(
            mode=mode, inner=inner, calibration=self.calibration, tuning=self.tuning
        )

    def _total_rho(self, setting: Setting, mode: Mode, inner: bool) -> float:
        """Return the total rho; the look at the scales comes before the choices of a radius."""
        budget = setting.budget
        assert not isinstance(budget, PureDP)
        if self.calibration == "paper" and isinstance(budget, ApproxDP):
            return zcdp_rho(budget.epsilon, budget.delta, "paper")
        looks = look_shares(mode, setting.d, inner)
        shares = tuple((share * (1 - SCALE_SHARE), count) for share, count in looks)
        return selection_rho(budget, shares, choices_first=False)


@dataclass(frozen=True)
class _Divided:
    """Division of rows by the weights of their coordinates, each row by itself."""

    weights: Vector

    def __call__(self, block: Vector) -> Vector:
        """Return the rows divided by the weights."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(block / self.weights)


def mean_logarithms(rows: Rows, lowest: float, pairs: int) -> Vector:
    r"""Return :math:`\log_2|x_{2i,j}-x_{2i+1,j}|`, clipped, averaged over pairs i, shape (d,).

    It is clipped to `OCTAVES` octaves, from `lowest` up. A difference of 0 or NaN counts as
    `lowest`.
    """
    total = np.zeros(rows.d)
    with np.errstate(all="ignore"):
        for record, partner in _yield_pairs(rows, pairs):
            spread = np.abs(record - partner)
            spread = np.log2(spread, out=spread)
            np.nan_to_num(spread, copy=False, nan=-math.inf, posinf=math.inf, neginf=-math.inf)
            total += np.clip(spread, lowest, lowest + OCTAVES).sum(axis=0)
    return total / pairs


def _yield_pairs(rows: Rows, pairs: int) -> Iterator[tuple[Vector, Vector]]:
    """Yield the two members of consecutive pairs, wherever the blocks end."""
    left: Vector | None = None
    for block in rows.blocks(0, 2 * pairs):
        if left is not None:
            yield left, block[:1]
            block = block[1:]
        even = len(block) - len(block) % 2
        left = None if even == len(block) else np.array(block[even:])
        if even:
            yield block[0:even:2], block[1:even:2]


def weights_of(noisy: Vector, noise: float, lowest: float) -> Vector:
    r"""Return :math:`w_j = 2^{(\ell_j-\max\ell)/2}`, shape (d,), from `LEAST_WEIGHT` to 1.

    :math:`\ell` are the noisy logarithms, shrunk towards their mean by the share of their variance
    that noise explains (James and Stein).
    """
    logs = np.clip(noisy, lowest, lowest + OCTAVES)
    centre = float(logs.mean())
    variance = float(np.square(logs - centre).sum()) / (len(logs) - 1)
    signal_share = max(0.0, 1 - noise**2 / variance) if variance > 0 else 0.0
    shrunk = centre + signal_share * (logs - centre)
    return np.asarray(np.exp2(0.5 * (shrunk - shrunk.max())))


def rescale_statistic(fine: AdaptiveMean, scale: float, weights: Vector) -> AdaptiveMean:
    """Return the plan of the mean of rows divided by public weights: radius, bounds and centre.

    The coordinates of a record have a spread of at most `scale`. The radius grows as much as this
    allows the records' lengths to grow. The bound on the mean grows by the inverse of the least
    weight.
    """
    growth, stretch = math.sqrt(float(np.mean(weights**-2.0))), 1 / float(weights.min())
    mean = replace(fine, top_radius=fine.top_radius * growth, mean_bound=fine.mean_bound * stretch)
    if fine.centre is None:
        return mean
    n, d = fine.records, len(weights)
    centre = plan_centre(n, d, mean.mean_bound, scale * growth, fine.centre.rho)
    farther = max(0.0, centre.distance - fine.centre.distance * growth)
    return replace(mean, top_radius=mean.top_radius + farther, centre=centre)
