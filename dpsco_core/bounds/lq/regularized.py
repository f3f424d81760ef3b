r"""Regularised mirror descent, with every constant proven: Su et al. (2023), Algorithm 3.

The steps :math:`w_{t+1}=\arg\min_w\langle\nabla\hat F(w_t)+g_t,w\rangle+2\beta D_\Phi(w,w_t)+
\alpha\Phi(w)` start at 0, and their points are averaged with weights :math:`q_0^t`,
:math:`q_0=1+\frac\alpha{2\beta}`. The module has the explicit bound B3 of theory/su-zhao-wang.md,
3.4, and finds the numbers of steps and the weight of the regulariser that make the bound smallest,
which do not depend on data.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import best_count
from dpsco_core.base.valley import lowest_between
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.euclidean.conditions import MINIMUM_INTERIOR, OTHER_PARAMETERS
from dpsco_core.bounds.lq.conditions import MORE_RECORDS
from dpsco_core.bounds.lq.explicit import (
    FREE,
    KAPPA,
    LIPSCHITZ_NEEDS,
    SMALLEST,
    VOID,
    Terms4,
    explicit_card,
    noise_rows,
)
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.lq.inputs import composed_rho, dual_energy, own_constants, space_of
from dpsco_core.methods.lq.regularized import published_regulariser, published_steps
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.mechanisms.shaped import Calibration, Noise
from dpsco_core.problems.base import Setting

# The search of `best_b3` considers up to this many full gradients.
LARGEST_STEPS = 2_000
# The exponential of a larger number exceeds the range of doubles.
_NO_GROWTH = 700.0


@dataclass(frozen=True, kw_only=True)
class Regularized:
    """The inputs of bound `b3` besides the number of steps and the weight of the regulariser."""

    n: int  # the number of records
    space: RegularSpace  # the l_q space, with the constants of its smooth norm
    # The loss of every record has the Lipschitz constant L and the smoothness beta, with respect to
    # :math:`\|\cdot\|_q`; both are positive and finite.
    lipschitz: float
    smoothness: float
    radius: float  # a public bound on :math:`\|\theta^*\|_q`, never computed from the data
    # This bounds :math:`E\|g_1\|_{q'}^2` for a run of one step; each of T steps has T times that.
    energy: float

    @property
    def potential(self) -> float:
        r"""The bound :math:`\frac\kappa2\|\theta^*\|_q^2` on :math:`\Phi_*=\Phi(\theta^*)`."""
        return self.space.kappa * self.radius**2 / 2

    def mean_potential(self, regulariser: float) -> float:
        r"""Return a bound on :math:`E\Phi(w^*_\alpha)`, at the regularised empirical minimiser.

        .. math:: \min\Big\{\frac{L^2}{2\kappa_+\alpha^2},\ \Phi_*+\frac{2L^2}{n\alpha^2}\Big\}

        The first entry is that of theory/su-zhao-wang.md, 3.4, with the :math:`\kappa_+` that its
        proof allows. The second one holds if :math:`\theta^*` minimises F on the whole space, and
        follows from :math:`\alpha E\Phi(w^*_\alpha)\le \alpha\Phi_*+E[F-\hat F](w^*_\alpha)`, whose
        last term is at most :math:`2L^2/(n\alpha)` by the stability of :math:`w^*_\alpha`.
        """
        slope = (self.lipschitz / regulariser) ** 2
        return min(slope / (2 * self.space.kappa_plus), self.potential + 2 * slope / self.n)


def b3(
    inputs: Regularized,
    steps: float,  # the number T of steps, at least 1, and whole in a run
    regulariser: float,  # the weight :math:`\alpha > 0` of the regulariser
) -> Terms4:
    r"""Return the terms of B3, an explicit bound on the mean excess risk.

    They are those of the regulariser, of noise, of the distance to the regularised minimiser, and
    of stability. The formula is that of the card, which calls the weight :math:`\alpha` mu;
    :math:`\Phi_*` and :math:`\bar\Phi` are those of `Regularized`.
    """
    growth = regulariser / (2 * inputs.smoothness)
    exponent = steps * math.log1p(growth)
    rest = 1 / math.expm1(exponent) if exponent < _NO_GROWTH else 0.0
    noise = steps * inputs.energy / (2 * inputs.smoothness)
    distance_left = (
        inputs.mean_potential(regulariser) * min(1.0, steps * growth / (1 + growth)) * rest
    )
    return (
        regulariser * inputs.potential * (1 + rest),
        noise,
        2 * inputs.lipschitz * math.sqrt(2 * (noise / regulariser + distance_left)),
        2 * inputs.lipschitz**2 / (inputs.n * regulariser),
    )


class RegularizedChoice(NamedTuple):
    """A number of steps T and a regulariser alpha, with the value of B3 there."""

    value: float
    steps: int
    regulariser: float


@lru_cache(maxsize=4096)
def best_b3(inputs: Regularized) -> RegularizedChoice:
    """Return the steps, at most `LARGEST_STEPS`, and the regulariser that minimise `b3`.

    If the bound is infinite for all of them, the result's value is infinite.
    """
    void = RegularizedChoice(math.inf, 1, inputs.lipschitz / inputs.radius)
    if not math.isfinite(inputs.energy * inputs.lipschitz * inputs.smoothness):
        return void

    @lru_cache(maxsize=256)
    def best(steps: int) -> tuple[float, float]:
        """Return the smallest bound at a number of steps, and its regulariser."""
        # Outside this range the first or the last term alone exceeds the trivial bound L ||theta||.
        scale = math.log(inputs.lipschitz / inputs.radius)
        place, least_value = lowest_between(
            lambda log: math.fsum(b3(inputs, steps, math.exp(log))),
            scale - math.log(inputs.n),
            scale + 5.0,
            tolerance=1e-4,
        )
        return least_value, math.exp(place)

    try:
        steps = best_count(lambda t: best(t)[0], LARGEST_STEPS, what="number of steps")
    except NotApplicable:
        return void
    value, regulariser = best(steps)
    return RegularizedChoice(value, steps, regulariser)


def published_choice(inputs: Regularized, epsilon: float, delta: float) -> tuple[int, float]:
    """Return Theorem 7's number T of steps, rounded to at least 1, and its regulariser alpha."""
    steps = max(1, round(published_steps(inputs.n, inputs.space, epsilon, delta)))
    return steps, published_regulariser(inputs.n, steps, inputs.smoothness)


def regularized(setting: Setting, noise: Noise, calibration: Calibration) -> Regularized:
    """Return the inputs of bound `b3` at a setting, with the radius of the constraint set."""
    constants, space = own_constants(setting), space_of(setting)
    rho = composed_rho(setting.budget, noise, calibration)
    unit = dual_energy(space, noise, calibration) / rho if rho > 0 else math.inf
    return Regularized(
        n=setting.n,
        space=space,
        lipschitz=constants.lipschitz,
        smoothness=constants.sample_smoothness,
        radius=constants.radius,
        energy=unit * (2 * constants.lipschitz / setting.n) ** 2,
    )


def regularized_risk(setting: Setting, noise: Noise, calibration: Calibration) -> Terms4:
    """Return the terms of `b3` for Algorithm 3 at a setting.

    In the tight calibration the steps and the regulariser minimise the sum of the terms; in the
    paper's they are those of Theorem 7. The terms are infinite if the budget or a constant does not
    allow the method.
    """
    inputs, budget = regularized(setting, noise, calibration), setting.budget
    positive = min(inputs.lipschitz, inputs.smoothness, inputs.radius) > 0
    if not positive or not math.isfinite(inputs.energy * inputs.smoothness):
        return VOID
    if calibration == "tight":
        return b3(inputs, *best_b3(inputs)[1:])
    if not isinstance(budget, ApproxDP):
        return VOID
    steps, regulariser = published_choice(inputs, budget.epsilon, budget.delta)
    return b3(inputs, steps, regulariser) if regulariser > 0 else VOID


_B3 = (
    r"\mu\Phi_*\Big(1+\frac1{q_0^T-1}\Big)+\frac S{2\beta}+2L\sqrt{2\Big(\frac S{2\mu\beta}+"
    r"\frac{\bar\Phi\min\{1,T(q_0-1)/q_0\}}{q_0^T-1}\Big)}+\frac{2L^2}{n\mu},\ "
    r"q_0=1+\frac\mu{2\beta},\ \Phi_*=\frac\kappa2\|\theta^*\|_q^2,\ "
    r"\bar\Phi=\min\Big\{\frac{L^2}{2(r-1)\mu^2},\Phi_*+\frac{2L^2}{n\mu^2}\Big\},\ "
    r"S\text{ the energy of a step's noise},\ " + KAPPA
)
REGULARIZED_RISKS: tuple[Bound, ...] = noise_rows(
    explicit_card(
        "regularized-mirror-descent",
        "Regularised mirror descent, proven",
        "Algorithm 3, explicit bound at its best steps and regulariser",
        f"{SMALLEST}. The set is where the minimiser lies; the method may leave it. "
        + OTHER_PARAMETERS,
        r"\min_{T,\mu}" + _B3,
    ),
    ("regulariser", "privacy noise", "distance to the minimiser", "stability"),
    LIPSCHITZ_NEEDS,
    regularized_risk,
    (*FREE, MINIMUM_INTERIOR),
    paper_statement="Algorithm 3, explicit bound at the parameters of Theorem 7",
    paper_latex=_B3
    + r",\ T=\Big(\frac{n\varepsilon\sqrt{\kappa_0}}{\sqrt{d\ln(1/\delta)}}\Big)^{2/5},"
    r"\ \mu=\frac{4\beta}T\log_2\frac nT",
    paper_hypotheses=(MORE_RECORDS,),
)
