"""All of a release that is fixed before a record is read: setting, method, parameters, interval."""

import math
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
from dpsco_core.problems import Setting
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.points import PointProblem
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample
from dpsco_core.results.intervals import NOMINAL
from dpsco_core.results.release.arrays import OwnRecords, RecordShape
from dpsco_core.results.release.statements import (
    MEAN,
    Lengths,
    ReleaseTask,
    Statements,
    check_lengths,
    checked_share_in_common,
    choose_task,
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

    def range_noise(self) -> Vector | None:
        """Return the noise on a mean of records in a range, shape (d,); None without a range.

        It is the standard deviation of each coordinate, in the unit of the records.
        """
        limits, plan = self.lengths.limits, self.plan
        if limits is None or not isinstance(plan, MeanPlan):
            return None
        return np.asarray(plan.noise.noise_std * limits.half)

    def methods_with_interval(self) -> tuple[str, ...]:
        """Return the slugs of the methods that have a proven interval at this point."""
        rows = self._interval_bounds()
        return tuple(dict.fromkeys(b.card.method for b in rows if not b.failures(self.setting)))

    def bounds(self) -> tuple[ProvenBound, ...]:
        """Return the proven bounds on the error of a run with this plan.

        There are none for a public range: those of the catalogue are about moments, and its
        intervals are sharper.
        """
        if self.lengths.limits is not None:
            return ()
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

    def _sample(self, arrays: OwnRecords) -> Any:
        """Return the records as the method's sample, over their units."""
        lengths = self.lengths
        # Overflow here is harmless: the method clips what is not finite, or replaces it by 0.
        with np.errstate(over="ignore", invalid="ignore"):
            columns = (arrays.rows - lengths.centre) / lengths.unit
            if lengths.limits is not None:
                columns = np.clip(columns, -1.0, 1.0)
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


def plan_for(shape: RecordShape, statements: Statements) -> PlannedRelease:
    """Return the plan of a release of records of a shape.

    Raises `InvalidInput` if a statement is out of range, and `NotApplicable` if the method cannot
    run at these sizes.
    """
    task = choose_task(shape, statements)
    lengths = check_lengths(task, shape, statements)
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
    return PlannedRelease(
        statements=statements,
        shape=shape,
        task=task,
        lengths=lengths,
        point=point,
        setting=setting,
        plan=planned(point, task.card.slug, setting)
        if lengths.limits is None
        else lengths.limits.method.plan(setting),
    )


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
