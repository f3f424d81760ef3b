"""Rules by which a point moves against the released gradients.

Each kind of `Moves` is a frozen object that knows its number of steps. Its `run` takes all steps
along the answers of a gradient oracle and averages the points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.mirror import PowerMirror, mirror_step
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.run import Descended, Path, WholeAverage, descend, walk

# A function of the point and the number of the step, from 0, that returns a finite gradient.
Oracle = Callable[[Vector, int], Vector]


class Moves:
    """The steps of a run. Each subclass adds its parameters, such as T, and the rule of a step."""

    steps: int  # T, the number of steps
    projected: ClassVar[bool] = True  # whether each step projects its point on the constraint set

    @property
    def mirror(self) -> PowerMirror | None:
        """The mirror map of the steps; None for Euclidean steps with projection."""
        return None

    @property
    def diagnostics(self) -> dict[str, float]:
        """The numbers that describe the steps, such as T, for the diagnostics of a run."""
        raise NotImplementedError

    def run(self, constraint: ConstraintSet, oracle: Oracle) -> Descended:
        """Run the steps on a set, along the gradients of `oracle`, and return their average."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Descent(Moves):
    r"""Projected steps of one size, :math:`w_{t+1} = \Pi(w_t - \eta g_t)`, from the centre."""

    steps: int  # T, the number of steps
    step_size: float  # eta, the size of every step
    averaged: int = 1  # the number of last iterates whose average is the output
    # whether the output is instead the average of all queried points, from the start on
    queried: bool = False
    # The model's prediction of the optimisation error and the privacy error together.
    modelled_risk: float = math.nan

    def __post_init__(self) -> None:
        """Refuse numbers of steps, step sizes and averages outside their ranges."""
        whole = isinstance(self.steps, int) and self.steps >= 1
        require(whole, "steps", "a positive integer", self.steps)
        positive = 0 < self.step_size < math.inf
        require(positive, "step_size", "finite and positive", self.step_size)
        fits = 1 <= self.averaged <= self.steps
        require(fits, "averaged", f"between 1 and the {self.steps} steps", self.averaged)

    @property
    def points(self) -> int:
        """The number of points in the average that is the output."""
        return self.steps if self.queried else self.averaged

    @property
    def diagnostics(self) -> dict[str, float]:
        """The number and the size of the steps, and the number of points in the average."""
        return {
            "steps": float(self.steps),
            "step_size": self.step_size,
            "averaged": float(self.points),
        }

    def run(self, constraint: ConstraintSet, oracle: Oracle) -> Descended:
        """Run the descent and return the average of its points."""
        return descend(constraint, self, oracle)


@dataclass(frozen=True, kw_only=True)
class MirrorSteps(Moves):
    r"""Mirror steps :math:`w_{t+1} = \arg\min_{w\in C}\langle g_t, w\rangle+\gamma D_\Phi(w, w_t)`.

    The steps start at 0, and the points after all steps are averaged.
    """

    space: RegularSpace  # the space of the parameters, with its dual norm and its mirror map
    steps: int  # T
    weight: float  # γ, the reciprocal of the step size

    @property
    def mirror(self) -> PowerMirror:
        """The mirror map Φ of the space."""
        return PowerMirror.for_space(self.space)

    @property
    def diagnostics(self) -> dict[str, float]:
        """The number of steps, their size and their weight."""
        return {
            "steps": float(self.steps),
            "step_size": 1 / self.weight,
            "step_weight": self.weight,
        }

    def run(self, constraint: ConstraintSet, oracle: Oracle) -> Descended:
        """Run the steps and return the average."""
        mirror, weight = self.mirror, self.weight

        def step(w: Vector, t: int) -> Vector:
            """Return the point after one mirror step from w."""
            return mirror_step(mirror, constraint, w, oracle(w, t), weight)

        return walk(np.zeros(self.space.d), WholeAverage(steps=self.steps), step)


@dataclass(frozen=True, kw_only=True)
class PrefixSums(Moves):
    r"""Phases of steps :math:`w_{t+1} = \Pi(w_0 - \eta\sum_{s\le t}g_s)`.

    A phase begins at the average of the phase before. The running sum itself is not projected,
    because correlated noise cancels only in the whole sum.
    """

    descents: tuple[Descent, ...]  # T, eta and the averaged points of each phase

    @property
    def steps(self) -> int:  # type: ignore[override]
        """The total number of steps of all phases."""
        return sum(descent.steps for descent in self.descents)

    @property
    def diagnostics(self) -> dict[str, float]:
        """The diagnostics of the last phase, with the number of all steps."""
        return self.descents[-1].diagnostics | {"steps": float(self.steps)}

    def run(self, constraint: ConstraintSet, oracle: Oracle) -> Descended:
        """Run the phases from the centre and return the last point."""
        w, steps_before = constraint.centre, 0
        path = Path(w, self.steps)
        for descent in self.descents:
            w = self._phase(w, descent, constraint, oracle, path, steps_before)
            steps_before += descent.steps
        return Descended(value=w, path=path)

    @staticmethod
    def _phase(
        start: Vector,
        descent: Descent,
        constraint: ConstraintSet,
        oracle: Oracle,
        path: Path,
        steps_before: int,  # the number of steps in the phases before
    ) -> Vector:
        """Return the averaged point of one phase, whose steps are added to `path`."""
        pulled = np.zeros_like(start)

        def step(w: Vector, t: int) -> Vector:
            """Return the projected point after step t, from the sum of all gradients so far."""
            pulled[:] += oracle(w, steps_before + t)
            return constraint.project(start - descent.step_size * pulled)

        return walk(start, descent, step, path, steps_before).value
