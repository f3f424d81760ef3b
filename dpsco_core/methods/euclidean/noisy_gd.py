"""Noisy gradient descent for Lipschitz losses: Bassily, Smith and Thakurta (2014)."""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import BASSILY_2014, MethodCard
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import FULL_BATCH
from dpsco_core.methods.descent import DescentMethod, DescentPlan, whole_batch
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT, lipschitz_losses
from dpsco_core.methods.euclidean.tuning import practical_descent
from dpsco_core.methods.records.base import gaussian_share
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.statistics import ClippedMean
from dpsco_core.methods.steps import Descent
from dpsco_core.methods.tune import choose_parameter
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

# The largest number of passes; further passes lower the bound by less than 3% of L D.
MOST_PASSES = 1000


@dataclass(frozen=True, kw_only=True)
class NoisyGradientDescent(DescentMethod):
    r"""Projected gradient descent on the full batch, with Gaussian noise at every step.

    With D the distance of the start from the minimiser, at most the radius, the average of the
    queried points has an expected excess *empirical* risk of at most

    .. math:: \frac{D^2}{2\eta T} + \frac\eta2\Big(L^2 + \frac{2dL^2T}{\rho n^2}\Big),

    least at :math:`\eta = D/\sqrt{T(L^2 + d\sigma_T^2)}`. At :math:`T = \rho n^2/(2d)`, where
    noise and gradient have the same energy, it is :math:`2DL\sqrt d/(n\sqrt\rho)`; more steps
    gain at most a factor :math:`\sqrt2`.

    Parameters
    ----------
    descent : Descent, optional
        Steps, step size and averaging. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from Bun and
        Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: T = rho n^2/(2d), at least 1 and at most 1000 passes over the data, at which
        the bound's first part is LD/sqrt(1000), and eta as above. ``"practical"``: see
        `dpsco_core.methods.euclidean.tuning`.
    """

    descent: Descent | None = None

    reads = "summed"
    cost = MethodCost(fixed=4e4, per_row=5, per_element=0.9, unit="step")
    departs = (FULL_BATCH,)
    card = MethodCard(
        slug="sco.noisy-gd",
        name="Noisy gradient descent",
        short="Noisy descent",
        paper=BASSILY_2014,
        statement="Algorithm 1 (full batch), Theorem 2.4",
        summary="Gradient descent on all records, with Gaussian noise that hides what one "
        "Lipschitz loss could do.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        rate="upper.sco.noisy-gd",
        caveat=BOUNDED_CAVEAT,
    )
    stage = Stage(free_steps=True)
    colour = "magenta"
    symbol = "square-open"
    dashed = True

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given descent, or with that of the tuning."""
        rho = gaussian_share(setting, self.calibration)
        losses = lipschitz_losses(setting, self.tuning, rho)
        sensitivity = 2 * losses.lipschitz / setting.n
        descent = choose_parameter(
            self.descent,
            self.tuning,
            theory=lambda: theorem_descent(setting, rho, losses.lipschitz),
            practical=lambda: practical_descent(setting, setting.d * sensitivity**2 / (2 * rho)),
        )
        mean, diagnostics = ClippedMean(radius=losses.lipschitz), losses.diagnostics
        return whole_batch(setting, mean, descent, rho, sensitivity, diagnostics, losses)


def theorem_descent(setting: Setting, rho: float, lipschitz: float) -> Descent:
    """Return the descent with T and eta of `NoisyGradientDescent`, and an average of all points.

    Examples
    --------
    >>> from dpsco_core.privacy import ZCDP
    >>> from dpsco_core.problems import Constants
    >>> constants = Constants(coordinate_moment=1.0, directional_moment=1.0, variance_trace=10.0,
    ...                       mean_gradient_bound=1.0, diameter=2.0)
    >>> setting = Setting(n=200, d=10, moment_order=2.0, budget=ZCDP(rho=0.5), constants=constants)
    >>> descent = theorem_descent(setting, 0.5, 1.0)
    >>> descent.steps, round(descent.step_size * (2 * descent.steps) ** 0.5, 12)
    (1000, 1.0)
    """
    n, d = setting.n, setting.d
    steps = max(1, math.floor(min(rho * n**2 / (2 * d), MOST_PASSES)))
    gradient = lipschitz * math.sqrt(1 + 2 * d * steps / (rho * n**2))
    distance = setting.constants.diameter / 2
    return Descent(steps=steps, step_size=distance / (gradient * math.sqrt(steps)), queried=True)
