"""Phases of output perturbation, each of which releases a minimiser with noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.methods.access import check_sample
from dpsco_core.methods.euclidean.lipschitz import Losses
from dpsco_core.methods.euclidean.perturbation.objective import check_set
from dpsco_core.methods.euclidean.solver import USUAL_GRADIENTS, minimise_strongly_convex
from dpsco_core.methods.phases import PhaseRun, PhasesPlan
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import SphericalLaplaceNoise


@dataclass(frozen=True, kw_only=True)
class OutputPhase:
    """One phase of output perturbation: its records, regulariser, accuracy and noise."""

    start: int  # the index of the first record
    stop: int  # one more than the index of the last record
    regulariser: float  # λ_i, the weight of the regulariser
    accuracy: float  # α_i, the accuracy that the solver certifies; 0 for a closed form
    l2_sensitivity: float  # the sensitivity of the released point, with the solver's error included
    noise_scale: float  # s_i: the noise has a density proportional to e^(-‖z‖/s_i)


@dataclass(frozen=True, kw_only=True)
class PhasedMinimisers(PhasesPlan):
    """Phases that each minimise a regularised risk and add noise to the minimiser."""

    losses: Losses
    # 1 if the Hessian of every loss is the identity, 0 if it is zero (a phase then has a closed
    # form); None if a phase needs the solver.
    hessian: float | None
    curvature: float  # bound on the curvature of the link function, after its kinks are rounded off
    kinked: bool  # whether the link function has kinks
    epsilon: float
    phases: tuple[OutputPhase, ...]

    @property
    def moves(self) -> float:
        """The approximate number of times that the solver moves a point; 0 with a closed form."""
        return len(self.phases) * USUAL_GRADIENTS if self.hessian is None else 0

    @property
    def has_closed_form(self) -> bool:
        """Whether the minimisers have a closed form."""
        return self.hessian is not None

    @property
    def gradients(self) -> int | None:
        """The number of gradients of a run; None if it depends on the data."""
        return None if self.hessian is None else self.phases[-1].stop

    def open(self, sample: Any, rng: np.random.Generator) -> tuple[Vector, PhaseRun]:
        """Return the centre of the set and the function that releases a phase's minimiser."""
        check_sample(sample, self.setting)
        if self.hessian is None:
            check_set(sample.constraint, self.setting)
        losses: Any = self.losses.of(sample)
        if self.kinked:
            losses = losses.rounded(self.curvature)

        def run(w: Vector, phase: OutputPhase, block: Ledger, i: int) -> tuple[Vector, int]:
            """Return the noisy minimiser of a phase, and the number of records read so far."""
            part = losses.part(phase.start, phase.stop)
            noisy = block.release(
                SphericalLaplaceNoise(l2_sensitivity=phase.l2_sensitivity, epsilon=self.epsilon),
                minimise_phase(part, w, phase, self),
                rng,
                label=f"minimiser of phase {i}",
            )
            return sample.constraint.project(noisy), phase.stop

        return sample.constraint.centre, run

    def result(self, completed: int) -> tuple[Mapping[str, float], tuple[str, ...]]:
        """Return the diagnostics of the first and the last phase, and no notes."""
        opening, final = self.phases[0], self.phases[-1]
        return self.losses.diagnostics | {
            "noise_scale": final.noise_scale,
            "ridge": opening.regulariser,
            "phases": float(len(self.phases)),
            "accuracy": final.accuracy,
        }, ()


def minimise_phase(
    sample: Any, centre: Vector, phase: OutputPhase, plan: PhasedMinimisers
) -> Vector:
    r"""Return the minimiser of :math:`\hat F(w) + \frac\lambda2\|w-c\|^2` over W, shape (d,).

    lambda is the regulariser of the phase, and c is `centre`. If every Hessian is a multiple a of
    the identity, the minimiser is :math:`\Pi_W\big(\frac{\lambda c-g}{a+\lambda}\big)`, where g is
    the gradient at 0; otherwise a solver finds it to the accuracy of the phase.
    """
    level = phase.regulariser
    if plan.hessian is not None:
        slope = sample.mean_gradient(np.zeros(sample.d))
        exact: Vector = (level * centre - slope) / (plan.hessian + level)
        projected: Vector = sample.constraint.project(exact)
        return projected

    def gradient(w: Vector) -> Vector:
        """Return the gradient of the regularised risk at w."""
        slope: Vector = sample.mean_gradient(w) + level * (w - centre)
        return slope

    return minimise_strongly_convex(
        gradient,
        sample.constraint,
        smoothness=plan.curvature * plan.losses.feature_bound**2 + level,
        modulus=level,
        accuracy=phase.accuracy,
    ).value
