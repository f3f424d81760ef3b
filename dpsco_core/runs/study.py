"""Studies: a scenario is split into cells, and each cell yields an outcome.

A cell is one repetition of one method at one point of the grid. Its random streams follow from the
seed, the point and the trial, never from the order of work, so one worker and many give the same
numbers: to the last bit on one machine with one linear algebra library. The data of a trial are the
same for all methods.
"""

import hashlib
import math
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from dpsco_core.base.arrays import close_arrays
from dpsco_core.base.blas import one_blas_thread
from dpsco_core.base.cards import Privacy
from dpsco_core.base.dispatch import in_groups
from dpsco_core.base.errors import CodeFailed, NotApplicable
from dpsco_core.base.limits import LIBRARY, streamed
from dpsco_core.base.parsing import to_text
from dpsco_core.base.thread_cache import LastOfThread
from dpsco_core.catalogue import make_method, method_card, method_class, methods_under
from dpsco_core.data import GeneratedRows, Rows
from dpsco_core.data.alike import draw_users
from dpsco_core.data.spread import SpreadRows
from dpsco_core.data.users import UserRows
from dpsco_core.fields import OF_RUN, OF_STUDY, is_in_key
from dpsco_core.methods.base import Plan, Release, released
from dpsco_core.privacy.budget import Budget, PureDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import OptimisationProblem, Problem, Sample, Setting
from dpsco_core.problems.samples.generated import GeneratedSample
from dpsco_core.problems.samples.users import (
    MOST_ELEMENTS,
    ItemSample,
    MeanSample,
    items_fit,
    pool_items,
    sample_users,
    users_of,
)
from dpsco_core.runs.memory import require_memory
from dpsco_core.scenario import Scenario

# Nonzero errors lie between the first two numbers. Rounding lowers an excess risk below 0 by less
# than the third number, times the squared diameter if that is above 1.
SMALLEST, LARGEST, ROUNDING = 1e-200, 1e100, 1e-6

Dataset = Rows | UserRows | Sample | ItemSample | MeanSample


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One repetition of one method at one point."""

    point: Scenario  # one point without an axis, in canonical form; see `cells`
    method: str  # the slug of the method
    x: float | None  # the point's value on the axis of the study
    trial: int  # the number of the trial, from 0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one cell."""

    method: str  # the slug of the method
    x: float | None  # the point's value on the axis of the study
    trial: int  # the number of the trial, from 0
    # The l2 error of the mean, or the excess population risk; NaN if the method does not apply.
    error: float
    # The seconds of the release; they include the sampling only if records are drawn as they are
    # read.
    seconds: float
    spent: Budget | None  # the budget that the ledger spent; None for a method without privacy
    # The privacy notions whose lower bounds apply to the run: see `Ledger.bound_by`.
    bound_by: tuple[Privacy, ...] = ()
    # The releases whose noise is too small to be proven private (``calibration="paper"`` only).
    flaws: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # sentences that a reader of the result must see
    diagnostics: Mapping[str, float] = field(default_factory=dict)  # the parameters of the run
    not_applicable: str | None = None  # the reason why the method could not run
    # Pairs (field, value): the nearest change of the scenario at which the method would run.
    changes: tuple[tuple[str, float | str | None], ...] = ()
    # The standard error of the excess risk as an average over an evaluation sample; 0 if it is
    # exact.
    error_uncertainty: float = 0.0
    # Whether `not_applicable` reports an error in plugin code; such a cell is never stored.
    failed: bool = False


def cells(scenario: Scenario) -> Iterator[Cell]:
    """Yield the cells of a study, trial by trial, so that every curve is complete early.

    Fields that do not change a cell's numbers (other methods, the grid, the number of trials) get
    a fixed value in its `point`, so that equal cells of different studies are equal.
    """
    points = [(x, canonical(point)) for x, point in scenario.points()]
    for trial in range(scenario.trials):
        for x, point in points:
            for method in scenario.methods:
                yield Cell(point=point, method=method, x=x, trial=trial)


@lru_cache(maxsize=4096)
def canonical(point: Scenario) -> Scenario:
    """Return `point` without the fields that do not change a cell's numbers."""
    return replace(point, **OF_STUDY)


def run_cell(cell: Cell, executor: Executor | None = None) -> Outcome:
    """Run one cell: sample, release through a ledger, measure the error.

    `executor` forms the sums over records that are not held in memory; see `spreads`.
    """
    return run_with_ledger(cell, executor)[0]


def run_with_ledger(cell: Cell, executor: Executor | None = None) -> tuple[Outcome, Ledger]:
    """Run one cell and return its outcome with its ledger; see `run_cell`."""
    with one_blas_thread():  # Several threads would add in another order.
        ledger = Ledger(cell.point.budget)
        blank = Outcome(
            method=cell.method, x=cell.x, trial=cell.trial, error=np.nan, seconds=0.0, spent=None
        )
        try:
            return _run(cell, executor, ledger, blank), ledger
        except CodeFailed as failure:
            return replace(blank, not_applicable=str(failure), failed=True), ledger


def _run(cell: Cell, executor: Executor | None, ledger: Ledger, blank: Outcome) -> Outcome:
    """Run a cell and return its outcome.

    Where the method cannot run, the outcome is `blank` with the reason.
    """
    point = cell.point
    method = make_method(cell.method, point.calibration, point.tuning)
    try:
        require_held(point, cell.method)
        plan = planned(point, cell.method)  # A refusal comes before any sampling.
    except CodeFailed:
        raise
    except NotApplicable as refusal:
        return replace(blank, not_applicable=str(refusal), changes=refusal.changes)
    noise = stream(point.seed, f"noise {cell.method} {_point_text(point)}", cell.trial)
    problem, sample = _cached_dataset(data_point(point), cell.trial)
    records: Any = sample
    if executor is not None and isinstance(sample, GeneratedRows):
        records = SpreadRows(sample, executor)
    elif executor is not None and isinstance(sample, GeneratedSample):
        records = replace(sample, executor=executor)
    records = users_of(records) if method.card.level == "user" else pool_items(records)
    started = time.perf_counter()
    release = released(method, records, plan, ledger, noise)
    seconds = time.perf_counter() - started
    # An infinite error is reported after this block.
    with np.errstate(over="ignore", invalid="ignore"):
        risk = problem.excess_risk(release.value)
    if not (is_error(risk.value, point) and 0 <= risk.standard_error <= LARGEST):
        condition = f"one whose answer has an error of at most {LARGEST:g}"
        raise CodeFailed(f"method must be {condition}, got method={cell.method} ({risk.value:g}).")
    return replace(
        blank,
        error=risk.value,
        error_uncertainty=risk.standard_error,
        seconds=seconds,
        spent=release.ledger.spent(),
        bound_by=ledger.bound_by(),
        flaws=ledger.flaws,
        notes=(*release.notes, *_means_shrunk(point, cell.method, records, release)),
        diagnostics=release.diagnostics,
    )


def _means_shrunk(point: Scenario, method: str, records: Any, release: Release) -> tuple[str, ...]:
    """Return a note if users' means are shrunk because items do not fit in memory; else none."""
    bound = release.diagnostics.get("feature_bound", math.inf)
    # Lipschitz losses need no shrinking of records.
    is_certified = math.isfinite(point.setting.constants.lipschitz)
    # A method that needs only means shrinks the users' means at every size.
    is_meant = method_class(method).needs_only_means
    if not isinstance(records, MeanSample) or math.isinf(bound) or is_certified or is_meant:
        return ()
    return (
        f"More than {MOST_ELEMENTS:,} numbers are not held, so that only the users' means are "
        f"drawn, from their exact law, and shrunk to norm {bound:.3g}; where all items are held "
        "each item is, which may bias the answer more, so that the error may fall at that size.",
    )


def is_error(value: float, point: Scenario) -> bool:
    """Return whether a number can be an error: finite, and not negative beyond rounding."""
    lowest = -ROUNDING * max(1.0, point.diameter or 1.0) ** 2
    return lowest <= value <= LARGEST and not 0 < abs(value) < SMALLEST


def require_held(point: Scenario, method: str) -> None:
    """Raise `NotApplicable` if a method rereads records that are not in memory."""
    if not streamed(point.n, point.m, point.d) or method_class(method).reads != "whole":
        return
    largest_n = max(1, LIBRARY.elements // point.d)
    raise NotApplicable(
        f"{method_card(method).name} does not read the records in their order, and holds all of "
        f"them: n times d must be at most {LIBRARY.elements:,}.",
        n=largest_n,
        otherwise="choose a method that reads them in order",
    )


def planned(point: Scenario, slug: str, setting: Setting | None = None) -> Plan:
    """Return the plan of a method at a point; raises `NotApplicable` as its `plan` does.

    If the budget is pure and the method is not, the refusal also names the methods that are and
    that run at the point. A given `setting`, which may certify less, replaces that of the point.
    """
    try:
        method = make_method(slug, point.calibration, point.tuning)
        plan = method.plan(method_setting(point, slug) if setting is None else setting)
        close_arrays(plan)  # Parts in the cache are shared with later runs.
        return plan
    except CodeFailed:
        raise
    except NotApplicable as refusal:
        card = method_card(slug)
        needs_pure = isinstance(point.budget, PureDP) and "pure" not in card.budgets
        if not needs_pure or "method" in dict(refusal.changes):
            raise
        pure = methods_under(point.problem, card.level, "pure")
        alternatives = tuple(other for other in pure if _can_plan(point, other))
        if not alternatives:
            raise
        raise refusal.or_method(alternatives) from refusal


def _can_plan(point: Scenario, slug: str) -> bool:
    """Return whether a method has a plan at a point."""
    try:
        planned(point, slug)
    except (CodeFailed, NotApplicable):  # The refusal is reported where the method is chosen.
        return False
    return True


def method_setting(point: Scenario, method: str) -> Setting:
    """Return the setting of a method; one without privacy pools the items of all users."""
    setting = point.setting
    if point.m == 1 or method_card(method).level == "user":
        return setting
    records = point.n * point.m if items_fit(point.n, point.m, point.d) else point.n
    return replace(setting, n=records, m=1)


class CellStore(Protocol):
    """The interface of a store of outcomes, such as `dpsco_core.runs.store.Store`."""

    def begin(self, scenario: Scenario) -> None:
        """Record that a study was begun."""

    def get(self, cell: Cell) -> Outcome | None:
        """Return the outcome of a cell, or None if it is not stored."""

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Store the outcome of a cell."""


def study(
    scenario: Scenario, executor: Executor | None = None, store: CellStore | None = None
) -> Iterator[Outcome]:
    """Run a study and yield its outcomes as they finish.

    Parameters
    ----------
    scenario : Scenario
        Validated here against the library's limits.
    executor : concurrent.futures.Executor, optional
        Where cells run; the numbers are the same, in the order in which cells finish. (Machines
        with other processors may differ in the last digits.) See
        `dpsco_core.runs.executors.processes` and `dpsco_core.runs.dask_cluster.cluster`. None runs
        them in this process, in the order of `cells`.
    store : Store, optional
        Where outcomes are stored as they finish; cells that it already has do not run again.

    Yields
    ------
    Outcome
    """
    todo = cells(scenario.validate())
    if executor is None:
        require_memory(scenario)
    if store is not None:
        store.begin(scenario)
    if executor is None:
        for cell in todo:
            stored = None if store is None else store.get(cell)
            yield stored or _store_outcome(cell, run_cell(cell), store)
        return
    if store is not None:
        pairs = [(cell, store.get(cell)) for cell in todo]
        yield from (outcome for _, outcome in pairs if outcome is not None)
        todo = iter([cell for cell, outcome in pairs if outcome is None])
    large, todo = _split_by_sharing(todo)
    for cell in large:  # Large cells run one after another, each shared by all workers.
        yield _store_outcome(cell, run_cell(cell, executor), store)
    # Cells with the same data share their point and their trial.
    with closing(in_groups(executor, run_cell, todo, lambda c: (c.point, c.trial))) as results:
        for cell, outcome in results:
            yield _store_outcome(cell, outcome, store)


def spreads(point: Scenario, method: str) -> bool:
    """Return whether all workers share a cell: its method sums more records than memory holds."""
    return method_class(method).reads == "summed" and streamed(point.n, point.m, point.d)


def _split_by_sharing(todo: Iterator[Cell]) -> tuple[list[Cell], Iterator[Cell]]:
    """Return the cells that all workers share, and the remaining ones."""
    shared: list[Cell] = []
    single: list[Cell] = []
    for cell in todo:
        (shared if spreads(cell.point, cell.method) else single).append(cell)
    return shared, iter(single)


def _store_outcome(cell: Cell, outcome: Outcome, store: CellStore | None) -> Outcome:
    """Store an outcome unless it failed, and return it."""
    if store is not None and not outcome.failed:
        store.put(cell, outcome)
    return outcome


@LastOfThread
def _cached_dataset(point: Scenario, trial: int) -> tuple[Problem, Dataset]:
    """Return the problem and the records of a trial, read-only as all methods share them."""
    shared = _draw_dataset(point, trial)
    close_arrays(shared)
    return shared


def _draw_dataset(point: Scenario, trial: int) -> tuple[Problem, Dataset]:
    """Return the problem, drawn from its prior if it has one, and its records.

    Records that do not fit into memory are drawn as they are read, with the same numbers. `point`
    comes from `data_point`, so that runs with the same data share them.
    """
    rng = stream(point.seed, f"data {_point_text(point)}", trial)
    problem = point.instance.problem.draw(rng)
    if point.m > 1 and isinstance(problem, OptimisationProblem):
        return problem, sample_users(problem, point.n, point.m, rng)
    if point.m > 1:
        return problem, draw_users(problem.law, point.n, point.m, rng)
    if streamed(point.n, point.m, point.d):
        return problem, problem.stream(point.n, rng)
    return problem, problem.sample(point.n, rng)


def data_point(point: Scenario) -> Scenario:
    """Return `point` with the fields that do not change its data set to fixed values.

    The budget changes only the data of a hard instance, through its spike probability.
    """
    point = replace(point, **OF_RUN)
    if point.instance.spike_probability is None:
        point = replace(point, epsilon=1.0, delta=1e-6, rho=None)
    return point


def _point_text(point: Scenario) -> str:
    """Return a point as text, without the fields that are not part of a cell's key."""
    values = point.to_dict().items()
    return " ".join(f"{name}={to_text(value)}" for name, value in values if is_in_key(name, value))


def stream(seed: int, label: str, trial: int) -> np.random.Generator:
    """Return the generator of one stream, seeded by the label's hash, the seed and the trial."""
    digest = hashlib.blake2b(label.encode(), digest_size=16).digest()
    words = np.random.SeedSequence([seed, int.from_bytes(digest, "little"), trial])
    return np.random.Generator(np.random.PCG64DXSM(words))
