"""SCO with the coordinate-wise estimator: Kamath et al. (2022), Theorem 5.2."""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import KAMATH_2022, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import Calibration, MethodCost
from dpsco_core.methods.departure import ONE_BLOCK
from dpsco_core.methods.descent import DescentMethod, DescentPlan, whole_batch
from dpsco_core.methods.euclidean.tuning import FEW_STEPS, practical_descent, practical_limit
from dpsco_core.methods.mean.coordinatewise import CoordinatewiseCDP
from dpsco_core.methods.records.base import check_level, gaussian_share
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import MedianOfClippedMeans
from dpsco_core.methods.steps import Descent
from dpsco_core.methods.tune import choose_parameter, require_finite, whole_steps
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.statements.kamath import SMALLEST_THRESHOLD


@dataclass(frozen=True, kw_only=True)
class CoordinatewiseDescent(DescentMethod):
    r"""Projected gradient descent with CDPCWME as the gradient oracle on all records at each step.

    T releases of `CoordinatewiseCDP` at rho/T each: rho-zCDP in all.

    Parameters
    ----------
    threshold : float, optional
        tau; entries are clipped to [-3 tau, 3 tau]. If None it is chosen from the setting.
    blocks : int, optional
        Number of blocks m of the median of means. If None it is chosen from the setting.
    descent : Descent, optional
        Steps, step size and averaging. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        ``"paper"``: the printed sensitivity and conversion, and with theory the literal
        :math:`T = R^2\rho n^2/(\tau^2d^4)` and :math:`\tau = (\sqrt\rho n/(Md^{3/2}))^{1/p}`.
    tuning : {"practical", "theory"}
        ``"theory"``: m of the covering argument, :math:`\tau = \max(10, (\sqrt\rho
        n/d^{3/2})^{1/p})`, the T at which the noise energy of a step is R^2, and
        :math:`\eta = M/(R\sqrt T)` with M the diameter; all queried points are averaged.
        ``"practical"``: m = 1, and `dpsco_core.methods.euclidean.tuning`.
    """

    threshold: float | None = None
    blocks: int | None = None
    descent: Descent | None = None

    reads = "summed"
    cost = MethodCost(fixed=5e4, per_row=3, per_element=1.2, per_piece=1.8e4, unit="step")
    departs = (ONE_BLOCK,)
    card = MethodCard(
        slug="sco.cwme",
        name="Coordinate-wise gradients",
        short="Coordinate-wise",
        paper=KAMATH_2022,
        statement="Algorithms 1 to 3, Theorem 5.2",
        summary="Gradient descent: clips every coordinate of every gradient, takes medians of "
        "block averages, and adds Gaussian noise at every step.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        rate="upper.sco.cwme",
        caveat="The theorem's number of blocks grows like 24 d ln n; its literal number of steps "
        "ignores that and is unusable.",
    )
    stage = Stage(
        free_steps=True,
        clip=("threshold", "threshold"),
        splits=CoordinatewiseCDP.stage.splits,
        small=SmallRun(fields={"blocks": 2, "descent": FEW_STEPS}),
    )
    colour = "teal"
    symbol = "diamond"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given threshold, blocks and descent, or the tuning's."""
        rho, d = gaussian_share(setting, self.calibration), setting.d
        blocks = choose_parameter(
            self.blocks,
            self.tuning,
            theory=lambda: covering_blocks(setting, self.calibration),
            practical=lambda: 1,
        )
        require_enough_records(setting, blocks)
        threshold = choose_parameter(
            self.threshold,
            self.tuning,
            theory=lambda: theorem_threshold(setting, rho, self.calibration),
            practical=lambda: practical_limit(setting, rho) / 3,
        )
        check_level("threshold", threshold)
        median = MedianOfClippedMeans(
            threshold=threshold, blocks=blocks, printed=self.calibration == "paper"
        )
        sensitivity = median.sensitivity(setting.n, d)
        energy = d * sensitivity**2 / (2 * rho)
        descent = choose_parameter(
            self.descent,
            self.tuning,
            theory=lambda: theorem_descent(setting, rho, threshold, energy, self.calibration),
            practical=lambda: practical_descent(setting, energy, 3 * threshold * math.sqrt(d)),
        )
        diagnostics = {"clip_limit": 3 * threshold, "blocks": float(blocks)}
        return whole_batch(setting, median, descent, rho, sensitivity, diagnostics)


def require_enough_records(setting: Setting, blocks: int, steps: int = 1) -> None:
    """Raise `NotApplicable` if there is less than one record per step and block."""
    fewest_records = blocks * steps
    if setting.n < fewest_records:
        demand = f"{blocks:,} blocks" + (f" in each of {steps:,} steps" if steps > 1 else "")
        raise NotApplicable(
            f"{demand} need at least {fewest_records:,} records, and n={setting.n:,}.",
            tuning="practical",
        )


def covering_blocks(setting: Setting, calibration: Calibration) -> int:
    r"""Return m of Theorem 5.2's covering argument, rounded up (to an even number if tight).

    :math:`m = 4\ln(2d) + 8d\ln(3M/\alpha)` with :math:`\alpha = n^{-3}` and M the diameter; the
    paper drops the first term (theory/kamath-liu-zhang.md, 2.4).
    """
    d = setting.d
    diameter = require_finite(setting.constants.diameter, "a bounded constraint set")
    covering = 8 * d * math.log(max(3 * diameter * setting.n**3, math.e))
    if calibration == "paper":
        return math.ceil(covering)
    blocks = math.ceil(4 * math.log(2 * d) + covering)
    return blocks + blocks % 2


def theorem_threshold(setting: Setting, rho: float, calibration: Calibration) -> float:
    r"""Return the threshold tau of Theorem 5.2, to whose triple entries are clipped.

    In units of the root of the coordinate moment it is at least 10 and at least (R+1)/3, where R
    bounds the norm of the mean gradient.
    """
    constants, d, order = setting.constants, setting.d, setting.moment_order
    scale = require_finite(constants.coordinate_moment, "a coordinate-wise moment") ** (1 / order)
    bound = require_finite(constants.mean_gradient_bound, "a bound R on the mean gradient") / scale
    divisor = constants.diameter if calibration == "paper" else 1.0
    signal = math.sqrt(rho) * setting.n / (divisor * d**1.5)
    return float(scale * max(signal ** (1 / order), SMALLEST_THRESHOLD, (bound + 1) / 3))


def theorem_descent(
    setting: Setting, rho: float, threshold: float, energy: float, calibration: Calibration
) -> Descent:
    r"""Return the number of steps T and the step size :math:`\eta = M/(R\sqrt T)` of Theorem 5.2.

    R bounds the norm of the mean gradient, and M is the diameter. T makes the mean squared norm of
    a step's noise equal to R^2; `energy` is that number for a step which spends the whole budget.
    The printed T is :math:`R^2\rho n^2/(\tau^2d^4)`, which hides a factor of :math:`72m^2/d^2`.
    """
    bound = setting.constants.mean_gradient_bound
    if calibration == "paper":
        steps = whole_steps(bound**2 * rho * setting.n**2 / (threshold**2 * setting.d**4))
    else:
        steps = whole_steps(bound**2 / energy)
    size = setting.constants.diameter / (bound * math.sqrt(steps))
    return Descent(steps=steps, step_size=size, queried=True)
