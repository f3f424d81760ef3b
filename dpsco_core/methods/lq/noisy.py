"""Noisy mirror descent with any potential: Arora, Marinov and Ullah (2020), Algorithm 1."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import ARORA_2020
from dpsco_core.base.search import smallest
from dpsco_core.geometry.ball import Ball, Box, L1Ball, LqBall
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.mirror import PowerMirror, bregman_point
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.geometry.simplex import Simplex, SolidSimplex
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT
from dpsco_core.methods.euclidean.private_sgd import (
    EUCLIDEAN,
    PrivateSgd,
    PrivateSgdPlan,
    RecordByRecord,
)
from dpsco_core.methods.euclidean.sampling.moving import Move
from dpsco_core.methods.lq.card import lq_card
from dpsco_core.methods.lq.inputs import dual_energy, smooth_energy
from dpsco_core.methods.stage import AMPLIFIED, SmallRun
from dpsco_core.problems.base import Setting

# Beyond this number of steps, several records share a step. The first number is for steps with one
# search, the second for steps with two nested searches.
SEARCHES, NESTED_SEARCHES = 10_000, 2000
SPACES = 12  # the number of exponents that are compared


@dataclass(frozen=True, kw_only=True)
class Potential:
    r"""A mirror map on a constraint set, with the constants of mirror descent's regret bound."""

    # The space :math:`\ell_e^d` with respect to whose norm the potential is 1-strongly convex.
    space: RegularSpace
    start: Vector  # :math:`w_1`, the point of the set where the potential is smallest
    # A bound on :math:`D_\Phi(u, w_1)` over the set: :math:`\frac\kappa2\max\|u\|_s^2 - \Phi(w_1)`,
    # since :math:`\langle\nabla\Phi(w_1), u - w_1\rangle \ge 0`.
    divergence: float

    @property
    def mirror(self) -> PowerMirror:
        """The mirror map of the regular space."""
        return PowerMirror.for_space(self.space)

    def energy(self, lipschitz: float, noise_std: float) -> float:
        r"""Return a bound on :math:`E\|g+\xi\|_*^2`, where g has l2 norm L and xi is Gaussian.

        .. math:: \min\big\{\kappa L^2 + E\|\xi\|_r^2,\ (L + (E\|\xi\|_*^2)^{1/2})^2\big\}

        by the smoothness of :math:`\|\cdot\|_r`, or by Minkowski's inequality. At exponent 2, where
        kappa is 1, it is :math:`L^2+d\sigma^2`. No dual norm exceeds the l2 norm.
        """
        # `smooth_energy` and `dual_energy` are for dual sensitivity 1 and rho = 1.
        unit = 2 * (noise_std / self.space.l2_ratio) ** 2
        smooth = unit * smooth_energy(self.space, "gaussian")
        direct = math.sqrt(unit * dual_energy(self.space, "gaussian"))
        return min(self.space.kappa * lipschitz**2 + smooth, (lipschitz + direct) ** 2)

    def move(self, constraint: ConstraintSet) -> Move:
        r"""Return the mirror step on a set, a function of a point w and a pull :math:`\eta\hat g`.

        Its result is :math:`\arg\min_{v\in C} \langle\eta\hat g, v\rangle + D_\Phi(v, w)`.
        """
        mirror = self.mirror
        if mirror.exponent == EUCLIDEAN:
            return lambda w, pull: constraint.project(w - pull)
        return lambda w, pull: bregman_point(mirror, constraint, mirror.gradient(w) - pull)


@dataclass(frozen=True, kw_only=True)
class NoisyMirrorDescent(RecordByRecord):
    r"""Mirror descent over a random half of the records, with one noisy gradient per record.

    It is `PrivateSgd` with a potential in place of the square: for q <= 2
    :math:`\frac\kappa2\|w\|_s^2` (`PowerMirror.for_space`), for q > 2, and on sets without a mirror
    step, half the squared l2 norm. For :math:`\Phi` 1-strongly convex in a norm, the mean excess
    risk is at most :math:`\frac{D_\Phi(w^*, w_1)}{\eta m} + \frac\eta2 E\|\nabla\ell + \xi\|_*^2`.

    Gradients are clipped in l2, to L, because isotropic noise needs the *l2* sensitivity. Clipping
    at :math:`L_*` in the dual norm would never need less noise. For :math:`q' \ge 2` its l2
    sensitivity would be :math:`2L_*d^{1/2-1/q'}`. A clip in l2 at :math:`L_*d^{1/2-1/q'}` has the
    same sensitivity and leaves unchanged all gradients that the dual clip does, and more. For
    :math:`q' \le 2` the sensitivity would be :math:`2L_* \ge 2L`.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        As for `PrivateSgd`.
    tuning : {"practical", "theory"}
        ``"theory"``: the potential of q, :math:`\eta = \sqrt{2D_\Phi/n}/G` with
        :math:`G = L + (E\|\xi\|_*^2)^{1/2}`, and the noise-only steps of Algorithm 1, but where
        several records make a step. ``"practical"``: the potential of the exponent in [q, 2] whose
        bound is least, :math:`\eta = \sqrt{2D_\Phi/(mG^2)}` with the smaller G of
        `Potential.energy`, and no noise-only steps, which hide nothing.
    """

    reads = "whole"
    cost = MethodCost(fixed=1e6, per_row=2, per_element=1, per_column=1e4, per_piece=5e3)
    departs = (
        Departure(
            tag="Gaussian noise",
            text="The paper leaves the potential and the noise open; the noise here is Gaussian.",
        ),
    )
    card = lq_card(
        "noisy-mirror-descent",
        "Noisy mirror descent",
        "Algorithm 1 with a general potential, equation (2)",
        "One pass of mirror descent over half of the records in secret random order, one "
        "noisy gradient each; kinks are allowed.",
        "The paper leaves the potential and its noise open; here the noise is Gaussian, for "
        "the l2 sensitivity. " + BOUNDED_CAVEAT,
        paper=ARORA_2020,
    )
    stage = replace(PrivateSgd.stage, others={"shuffled": SmallRun(scenario=AMPLIFIED)})
    colour = "gold"
    symbol = "hexagon-open"
    dashed = True

    def plan(self, setting: Setting) -> PrivateSgdPlan:
        """Return the plan of `PrivateSgd` with a potential, and with steps of its own size."""
        n, constraint, theory = setting.n, setting.body, self.tuning == "theory"
        sgd = PrivateSgd(calibration=self.calibration, tuning=self.tuning).plan(setting)
        lipschitz, calls = sgd.losses.lipschitz, sgd.gradient_calls
        if theory:
            potential = potential_of(constraint, own_exponent(setting))
        else:
            potential = best_potential(setting, lipschitz, sgd.noise_std)
        batch = records_a_step(constraint, potential.space, calls)
        mean_std = sgd.noise_std / math.sqrt(batch)
        if theory:
            root = lipschitz + math.sqrt(potential.energy(0.0, mean_std))
            size = math.sqrt(2 * potential.divergence * batch / n) / root
        else:
            energy = potential.energy(lipschitz, mean_std)
            size = math.sqrt(2 * potential.divergence * batch / (calls * energy))
        idle = theory and batch == 1
        return replace(sgd, step_size=size, idle=idle, batch=batch, potential=potential)


def own_exponent(setting: Setting) -> float:
    """Return the exponent of the potential for the geometry: q, or 2 if q is not possible.

    For q > 2 the squared norm is strongly convex only up to a factor of the dimension. Mirror steps
    are known only on the l_q balls, the box and the simplices.
    """
    has_steps = isinstance(setting.body, Ball | Box | L1Ball | LqBall | Simplex | SolidSimplex)
    return setting.exponent if has_steps and setting.exponent <= EUCLIDEAN else EUCLIDEAN


def potential_of(constraint: ConstraintSet, exponent: float) -> Potential:
    """Return the potential that is strongly convex in l_e, e = `exponent` in [1, 2], on a set."""
    space = RegularSpace(d=constraint.d, exponent=exponent)
    mirror = PowerMirror.for_space(space)
    start = bregman_point(mirror, constraint, np.zeros(constraint.d))
    largest = space.kappa / 2 * constraint.radius_in(mirror.exponent) ** 2
    return Potential(space=space, start=start, divergence=largest - mirror.value(start))


def best_potential(
    setting: Setting,
    lipschitz: float,
    noise_std: float,
    *,
    is_batched: bool = False,  # whether the number of steps is given, whatever a step costs
) -> Potential:
    r"""Return the potential, of exponent in [q, 2], that minimises the bound :math:`2D_\Phi G^2/m`.

    Every exponent e of at least q is admissible: :math:`\|w\|_e \le \|w\|_q`. In dimensions in
    which :math:`\ln d` is not small beside d, the Euclidean one is often the best even for q = 1.
    On an l_q ball only q itself, which has a closed form, and 2 are compared.
    """
    constraint, base_exponent = setting.body, own_exponent(setting)
    searched = isinstance(constraint, L1Ball | SolidSimplex | Simplex)
    exponents = (
        np.linspace(base_exponent, EUCLIDEAN, SPACES) if searched else [base_exponent, EUCLIDEAN]
    )
    candidates = [potential_of(constraint, float(e)) for e in sorted(set(exponents))]

    def bound(potential: Potential) -> float:
        """Return the bound on the risk for a potential, up to a constant factor."""
        calls = setting.n // 2 + 1
        batch = 1 if is_batched else records_a_step(constraint, potential.space, calls)
        energy = potential.energy(lipschitz, noise_std / math.sqrt(batch))
        return potential.divergence * batch * energy

    return smallest(candidates, bound, what="potential")


def records_a_step(constraint: ConstraintSet, space: RegularSpace, calls: int) -> int:
    """Return the number of records per step: more than 1 only if many steps are slow searches."""
    exponent = PowerMirror.for_space(space).exponent
    if isinstance(constraint, LqBall):
        return 1 if exponent == constraint.exponent else math.ceil(calls / NESTED_SEARCHES)
    quick = exponent == EUCLIDEAN and isinstance(constraint, Ball | Box | L1Ball | Simplex)
    return 1 if quick else math.ceil(calls / SEARCHES)
