"""Where each private method is put to the test: small, and found from the catalogue.

A new method of the catalogue is covered without being named here: it is tried on the stage of its
audits. What is written down are the exceptions: where one block, one step or one phase would leave
a fault nothing to break.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from dpsco_core.audit.stages import FAR, Neighbours, neighbours, stage
from dpsco_core.catalogue import METHODS, make_method
from dpsco_core.data import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.euclidean.tuning import Descent
from dpsco_core.methods.lq.mirror import MirrorPlan
from dpsco_core.methods.user.accelerated.nonsmooth import UserAcceleratedNonsmooth
from dpsco_core.methods.user.accelerated.optimiser import UserAccelerated
from dpsco_core.methods.user.accelerated.strong import UserAcceleratedStrong
from dpsco_core.privacy import Ledger
from dpsco_core.problems import Logistic
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample
from dpsco_core.scenario import Scenario
from tests.methods.lq.mirror_helpers import forced, in_steps
from tests.trust.tape import Tape, play

PRIVATE = tuple(m.card.slug for m in METHODS if m.card.privacy != "none")
RECORDS = 64
BROKEN = (math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, 0.0)
USERS = {"n": 400, "epsilon": 8.0}  # so that a filter's test passes
MANY_PHASES = {"n": 2000, "epsilon": 8.0}

# Fields of the scenario, and of the method, that are not those of the audit's stage.
SCENARIOS: dict[str, dict[str, Any]] = {
    **dict.fromkeys((m.card.slug for m in METHODS if m.stage.unseen), USERS),
    "user.phased-sgd": MANY_PHASES,
}
FOUR_STEPS = Descent(steps=4, step_size=0.1)
SIX_STEPS = Descent(steps=6, step_size=0.1)  # the fewest with all looks
FIELDS: dict[str, dict[str, Any]] = {
    "mean.adaptive": {"mode": "single"},
    "mean.plan": {"mode": "single"},
    "user.mean-adaptive": {"mode": "single"},
    "sco.adaptive": {"descent": SIX_STEPS, "looks": True},
    "mean.iterative": {"groups": 4},
    "mean.cwme-cdp": {"blocks": 2},
    "mean.cwme-pure": {"blocks": 2},
    "sco.cwme": {"blocks": 2, "descent": FOUR_STEPS},
    "sco.cwme-strong": {"steps": 4},
    "sco.smoothed": {"descent": FOUR_STEPS},
    "sco.iterative": {"groups": 4, "descent": FOUR_STEPS},
    "sco.ftrl": {"descent": FOUR_STEPS},
    "sco.automatic": {"descent": FOUR_STEPS},
    "sco.quantile": {"descent": FOUR_STEPS},
}
ACCELERATED = (UserAccelerated, UserAcceleratedNonsmooth, UserAcceleratedStrong)
MIRROR = ("lp.shuffled-mirror-descent", "lp.batched-mirror-descent", "lp.euclidean-reduction")


@contextmanager
def in_two_phases() -> Iterator[None]:
    """Run user-level acceleration twice: the plan of half the users, on each half of them."""
    with pytest.MonkeyPatch.context() as patch:
        for family in ACCELERATED:
            patch.setattr(family, "plan", _twice(family.plan))
        yield


def _twice(honest: Any) -> Any:
    def plan(self: Any, where: Setting) -> Any:
        halved = honest(self, replace(where, n=where.n // 2))
        inner = getattr(halved.phases, "phases", halved.phases)  # within those of smoothed losses
        half = inner[0].stop
        phases = (inner[0], replace(inner[0], start=half, stop=2 * half))
        if inner is halved.phases:
            return replace(halved, setting=where, phases=phases)
        return replace(halved, setting=where, phases=replace(halved.phases, phases=phases))

    return plan


AROUND: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    **dict.fromkeys(MIRROR, lambda: in_steps(4)),
    **dict.fromkeys((f.card.slug for f in ACCELERATED), in_two_phases),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A method at a point.

    Parameters
    ----------
    slug : str
    point : Scenario
    method : a method of the catalogue
    """

    slug: str
    point: Scenario
    method: Any
    around: Callable[[], AbstractContextManager[Any]] = field(default=nullcontext)

    def play(
        self, data: Any, seed: int = 0, replay: Tape | None = None, *, blind: bool = False
    ) -> Tape:
        """Run the method once on `data`, on a ledger of its own."""
        where, rng = self.point.setting, np.random.default_rng(seed)

        def run() -> Any:
            return self.method.release(data, self.method.plan(where), Ledger(where.budget), rng)

        with self.around():
            tape = play(run, replay, blind=blind)
        tape.state = rng.bit_generator.state
        return tape

    def plan(self) -> Any:
        """The plan of a run."""
        with self.around():
            return self.method.plan(self.point.setting)

    def pairs(self) -> Iterator[Neighbours]:
        """Yield worst-case neighbours: beyond every clip, and just inside of a truncation.

        The record, or the user, is the first one; of methods in phases, the first of the last too.
        """
        plan = self.plan()
        yield neighbours(self.point)
        if isinstance(plan, MirrorPlan):
            yield neighbours(self.point, plan)
        phases = getattr(plan, "phases", ())
        phases = getattr(phases, "phases", phases)
        if len(phases) > 1:
            far, places = neighbours(self.point), phases[-1].start * self.point.m
            one, two = (with_rows(x, np.roll(rows_of(x), places, 0)) for x in (far.one, far.two))
            yield replace(far, one=one, two=two)
        if self.point.problem == Logistic.card.slug and self.point.d > 1:
            yield self._nearly_opposite()

    def _nearly_opposite(self) -> Neighbours:
        """Two records whose gradients are opposite where both are misclassified."""
        base = neighbours(self.point)
        one = np.zeros_like(rows_of(base.one))
        two = one.copy()
        one[0, 0], two[0, 0] = FAR, -FAR
        one[0, -1] = two[0, -1] = -FAR / 10
        return replace(base, one=with_rows(base.one, one), two=with_rows(base.two, two))

    def crowd(self, seed: int, scale: float = 1.0) -> Any:
        """Return ordinary data of the stage, `scale` times as far out."""
        data = neighbours(self.point).one
        rng = np.random.default_rng(seed)
        rows = rows_of(data)
        return with_rows(data, scale * rng.standard_t(3, size=rows.shape))

    def broken(self, seed: int) -> Any:
        """Return data of the stage in which many records are not numbers, or beyond all others."""
        data = self.crowd(seed)
        rows, rng = rows_of(data), np.random.default_rng(seed)
        return with_rows(
            data, np.where(rng.random(rows.shape) < 0.5, rows, rng.choice(BROKEN, rows.shape))
        )


def rows_of(data: Any) -> np.ndarray:
    """Return the records of a data set: points, or features, shape (n m, d)."""
    held = getattr(data, "records", data)
    held = getattr(held, "features", getattr(held, "points", held))
    return np.asarray(held.x)


def with_rows(data: Any, x: np.ndarray) -> Any:
    """Return the data set with other records, of the same targets."""
    match data:
        case UserRows() | ItemSample():
            return replace(data, records=with_rows(data.records, x))
        case LinearSample():
            return replace(data, features=DenseRows(x))
        case PointSample():
            return replace(data, points=DenseRows(x))
    return DenseRows(x)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Another way in which a method is tried: fields of the scenario and of the method."""

    slug: str
    scenario: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    around: Callable[[], AbstractContextManager[Any]] | None = None


SHUFFLED = {"n": 1500, "epsilon": 0.3, "delta": 1e-4}  # where shuffling is what makes it private
SHAPED = {"noise": "generalized gaussian"}


@contextmanager
def _shuffled_in_steps() -> Iterator[None]:
    with forced("shuffled"), in_steps(4):
        yield


# Where a method has a second way to be private: another mechanism, or another accounting.
VARIANTS = {
    "mean.adaptive, guarded": Variant(slug="mean.adaptive", fields={"mode": "guarded"}),
    "mean.adaptive, centre": Variant(slug="mean.adaptive", scenario={"n": 128, "diameter": 1000.0}),
    "mean.adaptive, pure": Variant(slug="mean.adaptive", scenario={"delta": 0.0}),
    "user.mean-adaptive, centre": Variant(
        slug="user.mean-adaptive", scenario={"n": 128, "diameter": 1000.0}
    ),
    "user.mean-adaptive, pure": Variant(slug="user.mean-adaptive", scenario={"delta": 0.0}),
    "sco.adaptive, steps of its own": Variant(slug="sco.adaptive", fields={"descent": None}),
    "mean.iterative, shuffled": Variant(
        slug="mean.iterative",
        scenario={"n": 3000, "epsilon": 0.5, "delta": 1e-4},
        fields={"groups": 1000},
    ),
    "sco.ftrl, phases": Variant(
        slug="sco.ftrl",
        scenario={"problem": "huber", "diameter": 20.0, "n": 200, "epsilon": 8.0},
        fields={"descent": None},
    ),
    "sco.private-sgd, shuffled": Variant(slug="sco.private-sgd", scenario=SHUFFLED),
    "lp.noisy-mirror-descent, shuffled": Variant(slug="lp.noisy-mirror-descent", scenario=SHUFFLED),
    "lp.shuffled-mirror-descent, shuffled": Variant(
        slug="lp.shuffled-mirror-descent", scenario=SHUFFLED, around=_shuffled_in_steps
    ),
    "lp.batched-mirror-descent, shaped noise": Variant(
        slug="lp.batched-mirror-descent", fields=SHAPED
    ),
    "lp.regularized-mirror-descent, shaped noise": Variant(
        slug="lp.regularized-mirror-descent", fields=SHAPED
    ),
    "sco.pure-objective-perturbation, solved": Variant(
        slug="sco.pure-objective-perturbation", scenario={"problem": "logistic", "d": 2}
    ),
    "sco.objective-perturbation, solved": Variant(
        slug="sco.objective-perturbation", scenario={"problem": "logistic", "d": 2}
    ),
}
CASES = (*PRIVATE, *VARIANTS)


@lru_cache
def case(name: str) -> Case:
    """Return where a private method of the catalogue, or a variant of one, is tried."""
    other = VARIANTS.get(name, Variant(slug=name))
    slug = other.slug
    changes = {"n": RECORDS} | SCENARIOS.get(slug, {}) | other.scenario
    point = replace(stage(slug), **changes).validate()
    method = make_method(slug, point.calibration, point.tuning)
    return Case(
        slug=slug,
        point=point,
        method=replace(method, **(FIELDS.get(slug, {}) | other.fields)),  # type: ignore[type-var]
        around=other.around or AROUND.get(slug, nullcontext),
    )
