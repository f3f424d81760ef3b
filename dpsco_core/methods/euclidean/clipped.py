r"""Noisy gradient descent on clipped gradients: Zhao et al. (2024), Theorems 3 and 4.

From the centre of the constraint set W, with n records and T steps,

.. math:: w_{t+1} = \Pi_W\Big(w_t - \eta\Big[\frac1n\sum_i\mathrm{clip}_R(\nabla\ell(w_t, Z_i))
    + N(0, \sigma^2I)\Big]\Big), \qquad \sigma = \frac{2R}{n\sqrt{2\rho/T}}

where :math:`\mathrm{clip}_R` shortens a gradient that is longer than R to the length R. Replacing
one record moves the mean of the clipped gradients by at most 2R/n, so that each step satisfies
zero-concentrated DP with :math:`\rho/T`, and all T steps with :math:`\rho`, whatever R, T and
:math:`\eta` are. These are chosen from public constants before any record is read. The output is
the average of :math:`w_0, \dots, w_{T-1}` in theory, and of the last points in practice. A gradient
that is not finite counts as 0.

In the letters of the paper M bounds :math:`(E|\langle u, \nabla\ell\rangle|^p)^{1/p}` for every
unit vector u, :math:`\lambda` is the smoothness of the risk, and L the diameter of W: L is no
Lipschitz constant here.
"""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import ZHAO_2024, MethodCard
from dpsco_core.methods.base import Calibration, MethodCost
from dpsco_core.methods.descent import DescentMethod, DescentPlan, whole_batch
from dpsco_core.methods.euclidean.tuning import practical_clipping, practical_descent
from dpsco_core.methods.records.base import check_level, zhao_share
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.statistics import ClippedMean
from dpsco_core.methods.steps import Descent
from dpsco_core.methods.tune import choose_parameter, require_finite, whole_steps
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.statements.zhao import equation_19_radius


@dataclass(frozen=True, kw_only=True)
class ClippedDescent(DescentMethod):
    r"""Projected gradient descent on means of clipped gradients, with Gaussian noise.

    Parameters
    ----------
    radius : float, optional
        Clip radius R, in [1e-150, 1e150]. If None it is chosen from the setting.
    descent : Descent, optional
        Steps, step size and averaging. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        How rho follows from an (epsilon, delta) budget. ``"tight"``: the largest rho whose
        Gaussian noise satisfies the budget. ``"paper"``: the smaller rho of equation (15); with
        ``tuning="theory"`` also R, T and eta as printed in Theorem 4, which sets M = 1 and
        L lambda = 1.
    tuning : {"practical", "theory"}
        ``"theory"``: R of equation (19) times M, and the T and eta that balance optimisation and
        noise; the points at which gradients are taken are averaged. ``"practical"``: R, T, eta and
        the number of last points that are averaged minimise a model of the error, that of
        `dpsco_core.methods.euclidean.tuning`.
    """

    radius: float | None = None
    descent: Descent | None = None

    reads = "summed"
    cost = MethodCost(fixed=6e4, per_row=3, per_element=0.5, unit="step")
    card = MethodCard(
        slug="sco.clipped",
        name="Clipped gradients",
        paper=ZHAO_2024,
        statement="Algorithms 1 and 2, Theorems 3 and 4",
        summary="Gradient descent: shrinks every gradient into a ball, averages, and adds Gaussian "
        "noise at every step.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        rate="upper.sco.clipped",
        caveat="The clip radius and the number of steps are chosen from the setting, not the data; "
        "practical ones are a model of accuracy, not a theorem.",
    )
    stage = Stage(free_steps=True, clip=("radius", "radius"))
    clipped_values = "gradients"
    colour = "gold"
    symbol = "square"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given radius and descent, or with those of the tuning."""
        rho = zhao_share(setting, self.calibration)
        # The expected squared norm of the noise of a step that spends all of rho, at R = 1. With
        # `growing`, the gradients of the model grow with the distance from the minimiser.
        unit_noise = 2 * setting.d / (rho * setting.n**2)
        radius = choose_parameter(
            self.radius,
            self.tuning,
            theory=lambda: theorem_radius(setting, rho, self.calibration),
            practical=lambda: practical_clipping(setting, unit_noise, growing=True).radius,
        )
        check_level("radius", radius)
        descent = choose_parameter(
            self.descent,
            self.tuning,
            theory=lambda: theorem_descent(setting, rho, radius, self.calibration),
            practical=lambda: practical_descent(
                setting, unit_noise * radius**2, radius, growing=True
            ),
        )
        statistic, sensitivity = ClippedMean(radius=radius), 2 * radius / setting.n
        # Every step reads all records and spends rho/T.
        return whole_batch(setting, statistic, descent, rho, sensitivity, {"clip_radius": radius})


def theorem_radius(setting: Setting, rho: float, calibration: Calibration) -> float:
    r"""Return R of Zhao et al. (2024), equation (19).

    :math:`M\min\{\sqrt d(n\sqrt\rho/\sqrt d)^{1/p}, \sqrt d(n/d)^{1/p}\}`, with M = 1 as printed if
    the calibration is that of the paper. The budget of `setting` is not used: rho is given.

    Examples
    --------
    The reference value of theory/zhao-et-al.md, 3.2, at n = 10^4, d = 10, p = 3 and rho of (15) at
    (1, 1e-6):

    >>> from dpsco_core.privacy import ZCDP
    >>> from dpsco_core.problems import Constants
    >>> constants = Constants(coordinate_moment=1.0, directional_moment=1.0, variance_trace=10.0,
    ...                       mean_gradient_bound=1.0)
    >>> setting = Setting(n=10_000, d=10, moment_order=3.0, budget=ZCDP(rho=1.0),
    ...                   constants=constants)
    >>> round(theorem_radius(setting, 0.0140588188106, "paper"), 6)
    22.802973
    """
    moment = 1.0
    if calibration == "tight":
        moment = require_finite(setting.constants.directional_moment, "a directional moment M")
    return equation_19_radius(setting.n, setting.d, rho, setting.moment_order, moment)


def theorem_descent(
    setting: Setting, rho: float, radius: float, calibration: Calibration
) -> Descent:
    r"""Return T and eta of Zhao et al. (2024), Theorem 4, with the average of the queried points.

    As printed, :math:`T = \rho n^2/(dR^2)` and :math:`\eta = 1/(\lambda\sqrt{2T})`. In consistent
    units, with G = M, or the smaller of M and :math:`\lambda L` (L the diameter) if the minimiser
    is inside W, where the gradient of the risk is at most :math:`\lambda L`, :math:`T = G^2\rho
    n^2/(dR^2)` and :math:`\eta = L/(G\sqrt{2T})`: optimisation and noise are then equal
    (theory/zhao-et-al.md, 2.3).
    """
    constants = setting.constants
    printed_steps = rho * setting.n**2 / (setting.d * radius**2)
    if calibration == "paper":
        smoothness = require_finite(constants.smoothness, "a smoothness constant of the risk")
        steps = whole_steps(printed_steps)
        return Descent(steps=steps, step_size=1 / (smoothness * math.sqrt(2 * steps)), queried=True)
    moment = require_finite(constants.directional_moment, "a directional moment M")
    diameter = require_finite(constants.diameter, "a bounded constraint set")
    gradient, reach = moment, constants.smoothness * diameter
    if constants.minimum_interior and reach > 0:
        gradient = min(moment, reach)
    steps = whole_steps(gradient**2 * printed_steps)
    return Descent(
        steps=steps, step_size=diameter / (gradient * math.sqrt(2 * steps)), queried=True
    )
