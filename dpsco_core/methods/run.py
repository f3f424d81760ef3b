"""The loop of the optimisers: its steps, the average of the points, the path, and the result."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.interrupt import between_steps
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.methods.base import Release
from dpsco_core.privacy.ledger import Ledger

KEPT_ITERATES = 200  # the largest number of points of a path that are stored, besides the start
PhaseType = TypeVar("PhaseType")


class Path:
    """The iterates of a run, of which at most a few hundred are stored."""

    def __init__(
        self,
        start: Vector,  # the point before the first step
        steps: int,  # the number of steps to come
    ) -> None:
        """Begin a path at a start, and choose which of its steps are stored."""
        self._wanted: Container[int] = range(steps + 1)
        if steps > KEPT_ITERATES:
            spread = np.linspace(0, steps, KEPT_ITERATES + 1).round()
            self._wanted = set(spread.astype(np.int64).tolist())
        self._steps = [0]
        self._points = [start.copy()]

    @classmethod
    def through(cls, points: Sequence[Vector], steps: Sequence[int]) -> Path:
        """Return the path through these points, each reached after the given step."""
        path = cls(points[0], 0)
        path._points, path._steps = list(points), list(steps)
        return path

    def add(self, step: int, w: Vector) -> None:
        """Store `w`, reached after step number `step` (from 1), if the path includes that step."""
        between_steps()
        if step in self._wanted:
            self._steps.append(step)
            self._points.append(w.copy())

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps whose points are stored, shape (k,)."""
        return np.array(self._steps, dtype=np.int64)

    @property
    def points(self) -> Vector:
        """The points after the stored steps, shape (k, d)."""
        return np.array(self._points)


@dataclass(frozen=True, eq=False, kw_only=True)
class Descended:
    """The result of a descent: the averaged point and the path."""

    value: Vector
    path: Path
    # Quantities of the run that are worth showing and that its plan does not know.
    diagnostics: Mapping[str, float] = field(default_factory=dict)

    def released(
        self, ledger: Ledger, diagnostics: Mapping[str, float], notes: Sequence[str] = ()
    ) -> Release:
        """Return the result of the run as a release, with its ledger, diagnostics and notes."""
        return Release(
            value=self.value,
            ledger=ledger,
            diagnostics=diagnostics,
            notes=tuple(notes),
            iterates=self.path.points,
            iterate_steps=self.path.steps,
        )


class Schedule(Protocol):
    """The number of steps of a walk and the points that are averaged, such as a `Descent`."""

    @property
    def steps(self) -> int:
        """The number T of steps."""
        ...

    @property
    def averaged(self) -> int:
        """The number of last iterates whose average is the output."""
        ...

    @property
    def queried(self) -> bool:
        """Whether the output is the average of all queried points, from the start on, instead."""
        ...

    @property
    def points(self) -> int:
        """The number of points of the average."""
        ...


def walk(
    start: Vector,  # the point before the first step
    plan: Schedule,
    # a function of the point and the number of the step, from 0
    step: Callable[[Vector, int], Vector],
    # the path to which the points are added; None for a new path
    path: Path | None = None,
    steps_before: int = 0,  # the number of steps already on that path
    # The weight in the average of the point after each step; None for equal weights.
    weight: Callable[[int], float] | None = None,
) -> Descended:
    """Take the steps of a plan from a point; return the average of the points and the path."""
    w = start
    path = Path(w, plan.steps) if path is None else path
    total, mass = np.zeros_like(w), 0.0
    for t in range(plan.steps):
        if plan.queried:
            total += w
        w = step(w, t)
        path.add(steps_before + t + 1, w)
        if not plan.queried and t >= plan.steps - plan.averaged:
            if weight is None:
                total += w
            else:
                total += weight(t) * w
                mass += weight(t)
    return Descended(value=total / (plan.points if weight is None else mass), path=path)


@dataclass(frozen=True, kw_only=True)
class WholeAverage:
    """A schedule whose output is the average of all points."""

    steps: int
    # Whether the average is of the points at which gradients are taken, not those after the steps.
    queried: bool = False

    @property
    def averaged(self) -> int:
        """The number of points in the average: one a step."""
        return self.steps

    @property
    def points(self) -> int:
        """The number of points of the path: one a step."""
        return self.steps


class SizedSchedule(Schedule, Protocol):
    """The parameters that `descend` needs: a `Schedule` with a step size."""

    @property
    def step_size(self) -> float:
        """The size eta of every step."""
        ...


def descend(
    constraint: ConstraintSet,
    # T steps of size eta, and the points that are averaged: the queried points
    # :math:`w_0..w_{T-1}`, as the proof of Kamath et al. (2022), Theorem 3.1 needs, or the last of
    # :math:`w_1..w_T`.
    descent: SizedSchedule,
    # A function of the point and the number of the step, from 0, that returns a finite gradient.
    oracle: Callable[[Vector, int], Vector],
    # The number of descents run side by side: points and gradients then have shape (copies, d).
    copies: int | None = None,
) -> Descended:
    r"""Run :math:`w_{t+1} = \Pi(w_t - \eta g_t)` from the centre and return the average.

    Kamath et al. (2022), Algorithm 1, and Zhao et al. (2024), Algorithm 1.
    """
    start = constraint.centre if copies is None else np.tile(constraint.centre, (copies, 1))
    project = constraint.project if copies is None else partial(_project_rows, constraint)

    def step(w: Vector, t: int) -> Vector:
        """Return the projected point after one step from w."""
        return project(w - descent.step_size * oracle(w, t))

    return walk(start, descent, step)


def walk_phases(
    start: Vector,  # the point before the first phase
    phases: Sequence[PhaseType],  # each phase runs on its own block of the records or users
    ledger: Ledger,
    # A function of the point, the phase, the ledger of its block and the phase's number, from 1. It
    # returns the next point and the number of records or users seen so far; None ends the run.
    run: Callable[[Vector, PhaseType, Ledger, int], tuple[Vector, int] | None],
) -> Descended:
    """Run the phases one after the other; points inside a phase are not stored."""
    w = start
    points, ends = [w], [0]
    for i, (phase, block) in enumerate(
        zip(phases, ledger.disjoint(len(phases)), strict=True), start=1
    ):
        end = run(w, phase, block, i)
        if end is None:
            break
        w, reads = end
        points.append(w)
        ends.append(reads)
    return Descended(value=w, path=Path.through(points, ends))


def _project_rows(constraint: ConstraintSet, rows: Vector) -> Vector:
    """Return every row projected on the set, shape (copies, d)."""
    return np.array([constraint.project(row) for row in rows])
