"""SCO with noise smoothing: Kamath et al. (2022), Theorem 5.5, the corrected Wang et al. (2020)."""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import KAMATH_2022, MethodCard
from dpsco_core.methods.base import Calibration, MethodCost
from dpsco_core.methods.descent import DescentMethod, DescentPlan, whole_batch
from dpsco_core.methods.euclidean.tuning import FEW_STEPS, practical_descent, practical_limit
from dpsco_core.methods.records.base import check_level, gaussian_share
from dpsco_core.methods.records.smooth_clip import smoothed_supremum
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import SmoothlyTruncatedMean
from dpsco_core.methods.steps import Descent
from dpsco_core.methods.tune import choose_parameter, require_finite, whole_steps
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.statements.kamath import theorem_5_5_power

SMOOTHING_VARIANCE = 1.0  # the value of c for which the printed noise is sufficient


@dataclass(frozen=True, kw_only=True)
class SmoothedDescent(DescentMethod):
    r"""Projected gradient descent with CDPNSME as the gradient oracle on all records at each step.

    T releases of `NoiseSmoothing` (c = 1) at rho/T each: rho-zCDP in all.

    Parameters
    ----------
    tau : float, optional
        Truncation level. If None it is chosen from the setting.
    descent : Descent, optional
        Steps, step size and averaging. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        ``"paper"``: the printed variance (enough at c = 1) and conversion, and with theory
        :math:`\tau = (\sqrt\rho n/(Md^q))^{1/2}` at the q that balances the stated bound.
    tuning : {"practical", "theory"}
        ``"theory"``: :math:`\tau^2 = n/(d+\sqrt{d/\rho})`, the optimum of the theorem's own
        terms, the T at which the noise energy of a step is R^2, and :math:`\eta = M/(R\sqrt T)`;
        all queried points are averaged. ``"practical"``: `dpsco_core.methods.euclidean.tuning`.
    """

    tau: float | None = None
    descent: Descent | None = None

    reads = "summed"
    cost = MethodCost(fixed=6e4, per_row=2, per_element=5, unit="step")
    card = MethodCard(
        slug="sco.smoothed",
        name="Smoothed gradients",
        paper=KAMATH_2022,
        statement="Algorithms 1, 2 and 4, Theorem 5.5",
        summary="Gradient descent: passes every coordinate of every gradient through a smooth "
        "truncation, averages, and adds Gaussian noise at every step.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        rate="upper.sco.smoothed",
        caveat="Only second moments help it. Slow: the truncation is evaluated for every "
        "coordinate of every gradient at every step.",
    )
    stage = Stage(
        free_steps=True, clip=("tau", "tau"), small=SmallRun(fields={"descent": FEW_STEPS})
    )
    colour = "green"
    symbol = "triangle-up"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given level and descent, or with those of the tuning."""
        rho = gaussian_share(setting, self.calibration)
        n, d, printed = setting.n, setting.d, self.calibration == "paper"
        tau = choose_parameter(
            self.tau,
            self.tuning,
            theory=lambda: theorem_tau(setting, rho, self.calibration),
            practical=lambda: practical_limit(setting, rho),
        )
        check_level("tau", tau)
        supremum = smoothed_supremum(SMOOTHING_VARIANCE)
        sensitivity = 2 * supremum * tau * math.sqrt(d) / n
        if printed:
            # This sensitivity gives the noise variance tau^2 d/(rho n^2).
            sensitivity = math.sqrt(2 * d) * tau / n
        energy = d * sensitivity**2 / (2 * rho)
        descent = choose_parameter(
            self.descent,
            self.tuning,
            theory=lambda: theorem_descent(setting, energy),
            practical=lambda: practical_descent(setting, energy, tau * math.sqrt(d)),
        )
        mean = SmoothlyTruncatedMean(
            tau=tau, smoothing_variance=SMOOTHING_VARIANCE, printed=printed
        )
        return whole_batch(setting, mean, descent, rho, sensitivity, {"tau": tau})


def theorem_descent(setting: Setting, energy: float) -> Descent:
    r"""Return the number of steps T and the step size :math:`\eta = M/(R\sqrt T)`.

    M is the diameter of the set, and R the bound on the mean gradient. At T steps the mean squared
    norm of a step's noise is R^2; `energy` is that norm for one step with the whole budget.
    """
    bound = require_finite(setting.constants.mean_gradient_bound, "a bound on the mean gradient")
    diameter = require_finite(setting.constants.diameter, "a bounded constraint set")
    steps = whole_steps(bound**2 / energy)
    size = diameter / (bound * math.sqrt(steps))
    return Descent(steps=steps, step_size=size, queried=True)


def theorem_tau(setting: Setting, rho: float, calibration: Calibration) -> float:
    r"""Return the truncation level tau of Theorem 5.5, in units of the coordinate moment's root.

    The printed level takes :math:`q^* = \mathrm{clip}(1+\frac{\ln\rho}{4\ln d}, \frac12, 2)`, the q
    that minimises the stated bound. The tight level minimises the bound over tau itself
    (theory/kamath-liu-zhang.md, 3.4).
    """
    n, d = setting.n, setting.d
    moment = require_finite(setting.constants.coordinate_moment, "a coordinate-wise moment")
    scale = moment ** (1 / setting.moment_order)
    if calibration == "paper":
        diameter = require_finite(setting.constants.diameter, "a bounded constraint set")
        q = theorem_5_5_power(d, rho)
        return float(scale * math.sqrt(math.sqrt(rho) * n / (diameter * d**q)))
    return float(scale * math.sqrt(n / (d + math.sqrt(d / rho))))
