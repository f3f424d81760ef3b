"""All of a release that is fixed before a record is read: setting, method, parameters, interval."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import of_class
from dpsco_core.catalogue import bounds_for, make_method
from dpsco_core.data import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.average import MeanPlan
from dpsco_core.methods.base import Plan, Release, released
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import Problem, Setting
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.points import PointProblem
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample, users_of
from dpsco_core.results.intervals import NOMINAL
from dpsco_core.results.release.arrays import OwnRecords, RecordShape
from dpsco_core.results.release.notes import bound_note, interval_note, radius_notes
from dpsco_core.results.release.ranges import RANGE_NOTE, PublicRange, checked_range
from dpsco_core.results.release.statements import (
    MEAN,
    Lengths,
    ReleaseTask,
    Statements,
    check_lengths,
    checked_share_in_common,
    choose_task,
    lengths_of_range,
)
from dpsco_core.runs.study import planned
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class ProvenBound:
    """A proven upper bound on the error of a planned release, for all laws of a class."""

    name: str
    slug: str
    # The bound on the l2 error of a mean, over `unit`; infinite where it is void.
    value: float
    guarantee: str  # how it holds: for the mean error, or with a probability
    failures: tuple[str, ...]  # one sentence for each hypothesis that fails; empty if it holds


@dataclass(frozen=True, eq=False, kw_only=True)
class PlannedRelease:
    """A release whose parameters are chosen, without its records."""

    statements: Statements
    shape: RecordShape
    task: ReleaseTask
    lengths: Lengths
    point: Scenario  # sizes, budget and set, in units
    setting: Setting  # what the statements certify
    plan: Plan

    def run(self, arrays: OwnRecords, ledger: Ledger, rng: np.random.Generator) -> Release:
        """Return the method's release of the records, in units, through a ledger."""
        return self.release(self._sample(arrays), ledger, rng)

    def release(self, sample: Any, ledger: Ledger, rng: np.random.Generator) -> Release:
        """Return the method's release of a sample that is in units already."""
        point = self.point
        chosen = make_method(self.task.card.slug, point.calibration, point.tuning)
        return released(chosen, sample, self.plan, ledger, rng)

    @cached_property
    def proven_radius(self) -> float | None:
        """The least proven radius of the interval of this run, in units; None if none is proven."""
        rows = [b for b in self._interval_bounds() if b.card.method == self.task.card.slug]
        values = [b.value(self.setting, self.plan) for b in rows if not b.failures(self.setting)]
        return smallest_or([v for v in values if v > 0], lambda v: v, None)

    @property
    def interval(self) -> float | Vector | None:
        """The proven interval of a mean, in the caller's units; None without a stated unit."""
        if not self.task.is_mean or self.statements.unit is None:
            return None
        radius, units = self.proven_radius, self.lengths.unit
        if radius is None:
            return None
        return radius * units if units.ndim else radius * float(units)

    @property
    def rows_interval(self) -> Vector | None:
        """The interval for the mean of the rows themselves; None without a public range."""
        return None

    @property
    def law(self) -> str:
        """The law of the records that `rehearse` draws, in words."""
        tail_index = self.point.p + self.point.margin
        return f"{self.point.distribution} records of tail index {tail_index:g}"

    def rehearse(self, rng: np.random.Generator) -> tuple[Release, float]:
        """Return a release of drawn records, and its error over the unit."""
        point = self.point
        offset = min(1.0, self.lengths.ball)
        problem: Problem = replace(point, offset=offset).instance.problem.draw(rng)
        sample: Any = problem.sample(point.n * point.m, rng)
        if self.shape.items is not None:
            sample = replace(users_of(sample), items=point.m)
        result = self.release(sample, Ledger(point.budget), rng)
        return result, problem.excess_risk(result.value).value

    def notes_on_lengths(self, result: Release) -> Iterator[str]:
        """Yield what a reader must know of the stated lengths and of the interval."""
        task, lengths = self.task, self.lengths
        if not task.is_linear:
            yield from bound_note(result.value, self.point.diameter / 2)
        if task.is_mean:
            # Notes give lengths in the unit of the records if all coordinates share it.
            shared = float(lengths.unit) if lengths.unit.ndim == 0 else None
            yield from radius_notes(
                task.card, result.diagnostics, result.ledger, result.value, lengths.ball, shared
            )
            proven = self.proven_radius
            methods = () if proven is not None else self.methods_with_interval()
            yield from interval_note(proven, methods, has_unit=self.statements.unit is not None)

    def methods_with_interval(self) -> tuple[str, ...]:
        """Return the slugs of the methods that have a proven interval at this point."""
        rows = self._interval_bounds()
        return tuple(dict.fromkeys(b.card.method for b in rows if not b.failures(self.setting)))

    def bounds(self) -> tuple[ProvenBound, ...]:
        """Return the proven bounds on the error of a run with this plan."""
        rows = bounds_for(self.point.problem, self.point.level)
        slug = self.task.card.slug
        return tuple(
            ProvenBound(
                name=row.card.name,
                slug=row.card.slug,
                value=row.value(self.setting, self.plan),
                guarantee=row.card.guarantee,
                failures=row.failures(self.setting),
            )
            for row in rows
            if row.card.method == slug and row.parameters == "run"
        )

    def _interval_bounds(self) -> list[Bound]:
        """Return the bounds that make an interval of a run, for the problem of the point."""
        rows = bounds_for(self.point.problem, self.point.level)
        return [b for b in rows if (b.card.guarantee, b.parameters) == (NOMINAL, "run")]

    def _in_units(self, rows: Vector) -> Vector:
        """Return the rows about the centre, over their unit."""
        return (rows - self.lengths.centre) / self.lengths.unit

    def _sample(self, arrays: OwnRecords) -> Any:
        """Return the records as the method's sample, over their units."""
        lengths = self.lengths
        # Overflow here is harmless: the method clips what is not finite, or replaces it by 0.
        with np.errstate(over="ignore", invalid="ignore"):
            columns = self._in_units(arrays.rows)
            if self.statements.intercept:
                columns = np.column_stack([columns, np.ones(len(columns))])
            targets = None if arrays.targets is None else arrays.targets / lengths.target_unit
        rows = DenseRows(columns)
        if self.task.is_mean:
            return rows if arrays.items is None else UserRows(records=rows, items=arrays.items)
        sample = self._problem_sample(rows, targets)
        return sample if arrays.items is None else ItemSample(records=sample, items=arrays.items)

    def _problem_sample(self, rows: DenseRows, targets: Vector | None) -> Any:
        """Return the records with the loss and the constraint set of the point."""
        problem = self.point.instance.problem
        if isinstance(problem, LinearModelProblem):
            assert targets is not None
            encoded = problem.link.encoded(targets)
            return LinearSample(rows, encoded, problem.link, problem.constraint)
        assert isinstance(problem, PointProblem)
        return PointSample(rows, problem.loss, problem.constraint)


@dataclass(frozen=True, eq=False, kw_only=True)
class PlannedRangeRelease(PlannedRelease):
    """The planned release of a mean of records that are clamped to a public range.

    The catalogue's bounds are about moments: none is stated here, since the intervals of a range
    are sharper.
    """

    limits: PublicRange

    @property
    def interval(self) -> Vector:
        """The intervals for the mean of a population, shape (d,)."""
        return self.limits.population_interval(self._noise, self.shape.n)

    @property
    def rows_interval(self) -> Vector:
        """The intervals for the mean of the clamped rows, shape (d,)."""
        return self.limits.rows_interval(self._noise)

    @property
    def law(self) -> str:
        """The law of the records that `rehearse` draws, in words."""
        return "records that are uniform in the range"

    def rehearse(self, rng: np.random.Generator) -> tuple[Release, float]:
        """Return a release of records drawn from the range, and its error over half the width."""
        rows = DenseRows(rng.uniform(-1.0, 1.0, size=(self.point.n, self.point.d)))
        result = self.release(rows, Ledger(self.point.budget), rng)
        return result, float(np.linalg.norm(result.value))

    def notes_on_lengths(self, result: Release) -> Iterator[str]:
        """Yield what the clamping means, and what the two intervals are about."""
        yield RANGE_NOTE

    def bounds(self) -> tuple[ProvenBound, ...]:
        """Return no bounds."""
        return ()

    @property
    def _noise(self) -> Vector:
        """The standard deviation of each coordinate of the noise, in the records' unit."""
        assert isinstance(self.plan, MeanPlan)
        return np.asarray(self.plan.noise.noise_std * self.limits.half)

    def _in_units(self, rows: Vector) -> Vector:
        """Return the rows about the middle of the range, over half of its width, in [-1, 1]."""
        return np.clip(super()._in_units(rows), -1.0, 1.0)


def plan_for(shape: RecordShape, statements: Statements) -> PlannedRelease:
    """Return the plan of a release of records of a shape.

    Raises `InvalidInput` if a statement is out of range, and `NotApplicable` if the method cannot
    run at these sizes.
    """
    task = choose_task(shape, statements)
    limits = checked_range(statements.lower, statements.upper, shape.d)
    lengths = check_lengths(task, shape, statements) if limits is None else lengths_of_range(limits)
    alike = checked_share_in_common(task, shape, statements.alike)
    point = Scenario(
        problem=task.problem,
        methods=(task.card.slug,),
        n=shape.n,
        d=shape.d + int(statements.intercept),
        m=1 if shape.items is None else shape.items,
        p=statements.p,
        epsilon=statements.epsilon,
        delta=statements.delta,
        rho=statements.rho,
        diameter=2 * lengths.ball,
        # A linear loss without a direction has no minimiser.
        offset=min(1.0, lengths.ball) if task.is_linear else 0.0,
        axis=None,
        grid=(),
        trials=1,
        tuning="practical",
    ).validate(sampling=False)
    setting = _setting_as_stated(point)
    if point.m > 1:
        setting = replace(setting, alike=alike)
    parts: dict[str, Any] = {
        "statements": statements,
        "shape": shape,
        "task": task,
        "lengths": lengths,
        "point": point,
        "setting": setting,
    }
    if limits is not None:
        return PlannedRangeRelease(**parts, plan=limits.method.plan(setting), limits=limits)
    return PlannedRelease(**parts, plan=planned(point, task.card.slug, setting))


def _setting_as_stated(point: Scenario) -> Setting:
    """Return the setting that certifies only what the caller stated about the records.

    The catalogue's laws certify more, as uncorrelated features of a linear model and noise of one
    law. The second moments of any features have a largest eigenvalue of at most their trace, which
    is d, so that the risk is at most d times as curved as the loss, and not strongly convex. If the
    loss has kinks, the curvature of its risk depends on the noise: d times that of the catalogue's
    law is a guess, which can cost accuracy but no privacy.
    """
    setting = point.setting
    if point.problem == MEAN:
        return of_class(setting)
    constants, model = setting.constants, setting.constants.linear_model
    if model is None:
        return setting
    curvature = model.curvature if math.isfinite(model.curvature) else constants.smoothness
    risk = replace(constants, smoothness=setting.d * curvature, strong_convexity=0.0)
    return replace(setting, constants=risk)
