"""Where each private method is put to the test: small, and found from the catalogue.

No method is named here: each is tried on the stage of its audits, and its own file says by
`Stage.small` where one block, one step or one phase would leave a fault nothing to break.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from dpsco_core.audit.stages import FAR_COORDINATE, Neighbours, neighbours, stage
from dpsco_core.catalogue import METHODS, make_method, method_class
from dpsco_core.data import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.stage import SmallRun
from dpsco_core.methods.steps import MirrorSteps
from dpsco_core.privacy import Ledger
from dpsco_core.problems import Logistic
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample
from dpsco_core.scenario import Scenario
from tests.trust.tape import Tape, play

PRIVATE = tuple(m.card.slug for m in METHODS if m.card.privacy != "none")
RECORDS = 64
BROKEN = (math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, 0.0)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A method at a point.

    Parameters
    ----------
    slug : str
    point : Scenario
    method : a method of the catalogue
    planned : the plan of a method at a setting; None: the method's own
    """

    slug: str
    point: Scenario
    method: Any
    planned: Callable[[Any, Setting], Any] | None = None

    def play(
        self, data: Any, seed: int = 0, replay: Tape | None = None, *, blind: bool = False
    ) -> Tape:
        """Run the method once on `data`, on a ledger of its own, and return the tape of its
        releases.

        `replay` gives the run the releases of another tape, and `blind` hides the data from every
        release.
        """
        setting, rng = self.point.setting, np.random.default_rng(seed)

        def run() -> Any:
            """Run the method once on the data."""
            return self.method.release(data, self.method.plan(setting), Ledger(setting.budget), rng)

        with self.planning():
            tape = play(run, replay, blind=blind)
        tape.state = rng.bit_generator.state
        return tape

    @contextmanager
    def planning(self) -> Iterator[None]:
        """Let the method plan by the function `planned` of its small run, also where a fault asks
        for a plan.
        """
        family, planned = type(self.method), self.planned
        if planned is None:
            yield
            return
        honest = family.plan

        def plan(method: Any, setting: Setting) -> Any:
            """Return the plan of the function `planned`, which may call the honest one."""
            with pytest.MonkeyPatch.context() as inner:
                inner.setattr(family, "plan", honest)
                return planned(method, setting)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(family, "plan", plan)
            yield

    def plan(self) -> Any:
        """Return the plan of a run."""
        with self.planning():
            return self.method.plan(self.point.setting)

    def pairs(self) -> Iterator[Neighbours]:
        """Yield worst-case neighbours: beyond every clip, and just inside a truncation.

        The replaced record, or user, is the first one; for methods in phases, the first one of the
        last phase too.
        """
        plan = self.plan()
        yield neighbours(self.point)
        if isinstance(getattr(plan, "descent", None), MirrorSteps):
            yield neighbours(self.point, plan)
        phases = getattr(plan, "phases", ())
        phases = getattr(phases, "phases", phases)
        if len(phases) > 1:
            shifted, places = neighbours(self.point), phases[-1].start * self.point.m
            data, neighbour_data = (
                with_rows(x, np.roll(rows_of(x), places, 0))
                for x in (shifted.data, shifted.neighbour_data)
            )
            yield replace(shifted, data=data, neighbour_data=neighbour_data)
        if self.point.problem == Logistic.card.slug and self.point.d > 1:
            yield self._nearly_opposite()

    def _nearly_opposite(self) -> Neighbours:
        """Return data sets with two records whose gradients are opposite where both are
        misclassified.
        """
        base = neighbours(self.point)
        rows = np.zeros_like(rows_of(base.data))
        neighbour_rows = rows.copy()
        rows[0, 0], neighbour_rows[0, 0] = FAR_COORDINATE, -FAR_COORDINATE
        rows[0, -1] = neighbour_rows[0, -1] = -FAR_COORDINATE / 10
        return replace(
            base,
            data=with_rows(base.data, rows),
            neighbour_data=with_rows(base.neighbour_data, neighbour_rows),
        )

    def crowd(self, seed: int, scale: float = 1.0) -> Any:
        """Return ordinary data of the stage, with records multiplied by `scale`."""
        data = neighbours(self.point).data
        rng = np.random.default_rng(seed)
        rows = rows_of(data)
        return with_rows(data, scale * rng.standard_t(3, size=rows.shape))

    def broken(self, seed: int) -> Any:
        """Return data of the stage in which many records are not numbers, or are farther out than
        all others.
        """
        data = self.crowd(seed)
        rows, rng = rows_of(data), np.random.default_rng(seed)
        return with_rows(
            data, np.where(rng.random(rows.shape) < 0.5, rows, rng.choice(BROKEN, rows.shape))
        )


def rows_of(data: Any) -> np.ndarray:
    """Return the records of a data set: points, or features, shape (n m, d)."""
    rows = getattr(data, "records", data)
    rows = getattr(rows, "features", getattr(rows, "points", rows))
    return np.asarray(rows.x)


def with_rows(data: Any, x: np.ndarray) -> Any:
    """Return the data set with the records x and the same targets."""
    match data:
        case UserRows() | ItemSample():
            return replace(data, records=with_rows(data.records, x))
        case LinearSample():
            return replace(data, features=DenseRows(x))
        case PointSample():
            return replace(data, points=DenseRows(x))
    return DenseRows(x)


def with_target(data: Any, block: slice, target: float) -> Any:
    """Return the data with `target` as the target of the records in `block`, where records have
    targets.
    """
    if isinstance(data, ItemSample):
        return replace(data, records=with_target(data.records, block, target))
    if not isinstance(data, LinearSample):
        return data
    y = data.targets.copy()
    y[block] = target
    return replace(data, targets=y)


# Each variant is a second way in which a method is private, by "slug, name": another mechanism, or
# another accounting.
VARIANTS: dict[str, tuple[str, SmallRun]] = {
    f"{m.card.slug}, {name}": (m.card.slug, variant)
    for m in METHODS
    for name, variant in m.stage.others.items()
}
CASES = (*PRIVATE, *VARIANTS)


@lru_cache
def case(name: str) -> Case:
    """Return the small setting in which a private method of the catalogue, or a variant of one, is
    tried.
    """
    slug, variant = VARIANTS.get(name, (name, SmallRun()))
    small = method_class(slug).stage.small
    point = replace(stage(slug), **{"n": RECORDS, **small.scenario, **variant.scenario}).validate()
    method: Any = make_method(slug, point.calibration, point.tuning)
    return Case(
        slug=slug,
        point=point,
        method=replace(method, **{**small.fields, **variant.fields}),
        planned=variant.plan or small.plan,
    )
