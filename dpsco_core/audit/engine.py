"""Audits of the catalogue's methods: worst neighbours, many runs, and what they prove.

The neighbours differ in one record (one user), and all other records are the same and say nothing.
The record is as far out as it can be on one side; on the other it is as far out the other way, and
in a second pair at 0, where a method that takes its noise from the data takes little. What a run
lets out is its noisy values, its result, its path and what its ledger books, which anybody may
read. The mechanism is
the method's own code, run through a ledger like any other run. A fault is made around it, by a
ledger double of `dpsco_core.audit.doubles`, never inside.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal

import numpy as np

from dpsco_core.audit.doubles import ManyRuns, WrongNoise
from dpsco_core.audit.stages import FAR_SIDES, pairs, refuse_unseen
from dpsco_core.audit.statistics import LEAST_RUNS, Evidence, audit, checkpoints, shared_confidence
from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, NotApplicable, require
from dpsco_core.base.parsing import one_of, real, whole
from dpsco_core.catalogue import METHODS, make_method, method_card, method_class
from dpsco_core.methods.base import Method, Plan, Release, released
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy.budget import EPSILON_MAX, ZCDP, ApproxDP, PureDP
from dpsco_core.privacy.composition import compose
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.runs.study import stream
from dpsco_core.scenario import Scenario

Fault = Literal["none", "half-noise", "no-clipping", "printed-constant"]
Verdict = Literal["refuted", "not refuted"]

FAULTS: tuple[Fault, ...] = ("none", "half-noise", "no-clipping", "printed-constant")
MOST_RUNS = 10_000_000
CONFIDENCE = 0.999
RHO_DELTA = 0.05  # at which a zCDP claim is turned into one about epsilon
UNCLIPPED = 1e9  # times the claimed clip: no record of a stage reaches it
STEPS = 2  # steps of descents whose number of steps is free: privacy holds for any
A_STEP = 50  # runs on each data set
SETS = 3  # data sets of two pairs, which share one
BOOKED = 5  # releases of a run whose booked noise is looked at
TIMED_RUNS = 3
MOST_NUMBERS = 60  # the numbers of a run's path that are looked at


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What is audited."""

    # A single point with one private method; `dpsco_core.audit.stages.stage` has good ones. Its
    # number of trials is not used.
    point: Scenario
    runs: int = 20_000  # runs of the mechanism, on the two neighbours of a pair together; even
    fault: Fault = "none"  # how the mechanism is broken on purpose
    # that no bound of the audit is above the true epsilon, all looks together
    confidence: float = CONFIDENCE
    # Where the budget is a zCDP one, the delta at which its claim is audited; 0.05 if None.
    # Otherwise it is that of the budget.
    delta: float | None = None
    looks: bool = True  # Whether to look after 100, 200, 500, ... runs, or once, at the end.

    def validate(self) -> Audit:
        """Return itself; raises `InvalidInput` in one sentence."""
        self.point.validate()
        require(self.point.axis is None, "axis", "left out of an audit", self.point.axis)
        single = len(self.point.methods) == 1
        require(single, "method", "a single one", ", ".join(self.point.methods))
        private = method_card(self.method).privacy != "none"
        require(private, "method", "a private one: there is no claim to audit", self.method)
        whole("trials", self.runs, LEAST_RUNS, MOST_RUNS)
        require(self.runs % 2 == 0, "trials", "even: half of them on each neighbour", self.runs)
        one_of("fault", self.fault, FAULTS)
        real("confidence", self.confidence, 0.5, 1 - 1e-12)
        if self.delta is not None:
            zcdp = self.point.rho is not None
            require(zcdp, "at-delta", "left out unless the budget is a rho", self.delta)
            real("at-delta", self.delta, 1e-12, 0.5)
        return self

    @property
    def method(self) -> str:
        return self.point.methods[0]

    @property
    def stage(self) -> Stage:
        return method_class(self.method).stage

    @property
    def claim_delta(self) -> float:
        """The delta at which epsilon is claimed."""
        if self.point.rho is not None:
            return RHO_DELTA if self.delta is None else self.delta
        return self.point.delta or 0.0

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The numbers of runs at which the audit is looked at, all even."""
        return checkpoints(self.runs) if self.looks else (self.runs,)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What an audit has found so far."""

    # what the ledger says that one run has spent, as (epsilon, delta)-DP
    claimed_epsilon: float
    delta: float
    evidence: tuple[Evidence, ...]  # one for every look so far, in order
    neighbours: str  # the data sets, in words
    entries: tuple[Entry, ...]  # the ledger of one run
    flaws: tuple[str, ...]  # where the ledger itself says that the noise is too small
    booked: str  # how the ledgers of the last look's neighbours differ, in a sentence; or empty
    # shape (runs so far, k): what was let out on the neighbours of the last look
    one: Vector
    two: Vector

    @property
    def epsilon_lower_bound(self) -> float:
        """The best bound of all looks: all of them hold together."""
        return max(e.epsilon_lower_bound for e in self.evidence)

    @property
    def best_so_far(self) -> list[float]:
        """The best bound up to each look."""
        return list(accumulate((e.epsilon_lower_bound for e in self.evidence), max))

    @property
    def caught_at(self) -> int | None:
        """After how many runs a bound was first above the claim; None if never."""
        over = (e.runs for e in self.evidence if e.epsilon_lower_bound > self.claimed_epsilon)
        return next(over, None)

    @property
    def verdict(self) -> Verdict:
        """What the runs say of the claim. They can refute it, and never prove it."""
        return "not refuted" if self.caught_at is None else "refuted"


def steps(task: Audit) -> Iterator[tuple[int, Found | None]]:
    """Run an audit; yield the runs done on each pair, and what a look there has found.

    Raises `InvalidInput` if the audit is not a valid one, and `NotApplicable` where the method
    cannot run at the point, or cannot be broken in this way.
    """
    task.validate()
    mechanism = _mechanism(task)
    opposite, origin = pairs(task.point, mechanism.plan)
    each = shared_confidence(task.confidence, 2 * len(task.checkpoints))
    label = f"audit {task.fault} {replace(task.point, trials=1).to_query()}"
    streams = [stream(task.point.seed, f"{label} {side}", 0) for side in ("one", "two", "origin")]
    sets = tuple(
        _LetOut(mechanism, data, rng)
        for data, rng in zip((opposite.one, opposite.two, origin.two), streams, strict=True)
    )
    evidence: list[Evidence] = []
    done = 0
    for look in task.checkpoints:
        while done < look // 2:
            count = look // 2 - done
            if not task.stage.at_once:  # one after the other, so that somebody may cancel
                count = min(count, A_STEP)
            for outputs in sets:
                outputs.run(count)
            ledger = next((outputs.ledger for outputs in sets if outputs.ledger is not None), None)
            if ledger is None:  # no data set that it runs on
                assert sets[0].problem is not None
                raise sets[0].problem
            done += count
            if done < look // 2:
                yield 2 * done, None
        width = max(outputs.width for outputs in sets)
        one, *others = (outputs.rows(width) for outputs in sets)
        looks = [
            replace(audit(one, two, delta=task.claim_delta, confidence=each), against=pair.against)
            for pair, two in zip((opposite, origin), others, strict=True)
        ]
        sharper = int(looks[1].epsilon_lower_bound > looks[0].epsilon_lower_bound)
        evidence.append(looks[sharper])
        assert ledger is not None
        now = Found(
            claimed_epsilon=_claim(ledger, task.claim_delta),
            delta=task.claim_delta,
            evidence=tuple(evidence),
            neighbours=f"{opposite.who} {FAR_SIDES.format(place=opposite.place)}",
            entries=ledger.entries,
            flaws=ledger.flaws,
            booked=_difference(sets[0], sets[1 + sharper]),
            one=one,
            two=others[sharper],
        )
        yield look, now


def run_audit(task: Audit) -> Iterator[Found]:
    """Run an audit; yield what is found after every look. Raises what `steps` does."""
    yield from (result for _, result in steps(task) if result is not None)


def seconds_a_run(task: Audit) -> float:
    """Return the time that one of an audit's runs takes; 0 where all are made at once.

    Of every two, one more is made on the third data set. Raises what `steps` does.
    """
    task.validate()
    mechanism = _mechanism(task)
    if task.stage.at_once:
        return 0.0
    opposite, _ = pairs(task.point, mechanism.plan)
    timed = _LetOut(mechanism, opposite.one, stream(task.point.seed, "audit seconds", 0))
    timed.run(1)  # fills caches
    started = time.perf_counter()
    timed.run(TIMED_RUNS)
    return SETS / 2 * (time.perf_counter() - started) / TIMED_RUNS


def _claim(ledger: Ledger, delta: float) -> float:
    """Return the epsilon that the ledger says one run has spent, at `delta`."""
    spent = ledger.spent()
    if isinstance(spent, ZCDP):  # Gaussian releases alone have an exact curve
        spent = compose(ledger.entries, ApproxDP(epsilon=EPSILON_MAX, delta=delta))
    assert isinstance(spent, PureDP | ApproxDP)
    return spent.epsilon


@dataclass(frozen=True, kw_only=True)
class _Mechanism:
    """A method at a point, with its plan, that of the fault, and the fault of its ledger."""

    task: Audit
    method: Method
    plan: Plan
    broken: Plan
    factor: float

    def run(self, data: object, count: int, rng: np.random.Generator) -> tuple[Vector, Ledger]:
        """Return what `count` runs let out, or one run, shape (count or 1, k), and a ledger."""
        budget = self.task.point.budget
        if self.task.stage.at_once:
            many = ManyRuns(budget, runs=count, factor=self.factor)
            self._release(data, many, rng)
            assert many.noisy is not None
            return many.noisy, many
        ledger = WrongNoise(budget, factor=self.factor) if self.factor != 1 else Ledger(budget)
        return _let_out(self._release(data, ledger, rng))[None], ledger

    def _release(self, data: object, ledger: Ledger, rng: np.random.Generator) -> Release:
        return released(self.method, data, self.broken, ledger, rng)


class _LetOut:
    """What the runs on one data set have let out so far, and what their ledgers have booked."""

    def __init__(self, mechanism: _Mechanism, data: object, rng: np.random.Generator) -> None:
        self._mechanism, self._data, self._rng = mechanism, data, rng
        self._values, self._books = list[Vector](), list[Vector]()
        self.ledger: Ledger | None = None  # the ledger of the last run that came to an end
        self.problem: InvalidInput | None = None  # the problem that ended the last run that did not

    def run(self, count: int) -> None:
        """Run the mechanism `count` times. That a run fails is seen by everybody, and kept."""
        at_once = self._mechanism.task.stage.at_once
        for _ in range(1 if at_once else count):
            try:
                values, self.ledger = self._mechanism.run(self._data, count, self._rng)
                book = _book(self.ledger.entries)
            except InvalidInput as problem:
                self.problem = problem
                rows = count if at_once else 1
                values, book = np.zeros((rows, self._mechanism.task.point.d)), FAILED
            self._values.append(values)
            self._books.append(np.tile(book, (len(values), 1)))

    @property
    def width(self) -> int:
        return max(int(values.shape[1]) for values in self._values)

    @property
    def books(self) -> Vector:
        """Whether each run failed, how many releases it booked, and the logarithms of noises."""
        return np.concatenate(self._books)

    def rows(self, width: int) -> Vector:
        """Return all runs as one array: where one has ended early, its result is repeated."""
        d = self._mechanism.task.point.d
        whole = [
            np.hstack([v, np.tile(v[:, :d], (1, (width - v.shape[1]) // d))]) for v in self._values
        ]
        return np.hstack([np.concatenate(whole), self.books])


FAILED = np.array([1.0, *[0.0] * (1 + BOOKED)])


def _book(entries: tuple[Entry, ...]) -> Vector:
    noises = [math.log(e.noise) for e in entries[:BOOKED]]
    return np.array([0.0, len(entries), *noises, *noises[-1:] * (BOOKED - len(noises))])


def _difference(one: _LetOut, two: _LetOut) -> str:
    """Say how the books of two neighbours differ, if no run of either is booked otherwise."""
    books = [side.books for side in (one, two)]
    if any((book != book[0]).any() for book in books) or (books[0][0] == books[1][0]).all():
        return ""
    for side in (one, two):
        if side.ledger is None:
            return f"on one neighbour the method runs, on the other it fails: {side.problem}"
    noises = [math.exp(book[0][2:][(books[0] != books[1])[0][2:]][0]) for book in books]
    return (
        f"the noise of a release is booked as {noises[0]:.4g} on one neighbour and as "
        f"{noises[1]:.4g} on the other, so it is chosen from the data"
    )


def _let_out(release: Release) -> Vector:
    """Return the numbers of a run that are looked at: its path, thinned, and its result."""
    path = release.iterates
    if path is None:
        return release.value
    rows = max(1, MOST_NUMBERS // path.shape[1])
    kept = np.unique(np.linspace(0, len(path) - 1, min(rows, len(path))).round().astype(np.intp))
    return np.concatenate([release.value, path[kept].ravel()])


def _mechanism(task: Audit) -> _Mechanism:
    """Return the method of an audit, broken as it says; raises `NotApplicable`."""
    refuse_unseen(task.method)
    own = task.stage
    point, setting = task.point, task.point.setting
    method: Any = make_method(task.method, point.calibration, point.tuning)
    if own.free_steps:
        method = replace(method, descent=Descent(steps=STEPS, step_size=1.0))
    factor = 1.0
    if task.fault == "half-noise":
        factor = 0.5
    elif task.fault == "printed-constant":
        if own.flawed is None:
            known = next(m.card.slug for m in METHODS if m.stage.flawed)
            raise NotApplicable(
                "No constant that is printed for this method is too small for its claim.",
                method=known,
            )
        field, value = own.flawed
        method = replace(method, calibration="paper", **{field: value})
    plan = broken = method.plan(setting)
    if task.fault == "no-clipping":
        if own.clip is None:
            raise NotApplicable(
                "No parameter of this method moves its clip, which therefore cannot be taken away "
                "from outside.",
                nearest=f"choose half the noise, or {_clipped_like(method).card.slug}",
                changes=(("fault", "half-noise"),),
            )
        name, planned = own.clip
        claimed = getattr(plan, planned, None) or getattr(plan.statistic, planned)
        method = replace(method, **{name: UNCLIPPED * claimed})
        broken, factor = method.plan(setting), 1 / UNCLIPPED
    return _Mechanism(task=task, method=method, plan=plan, broken=broken, factor=factor)


def _clipped_like(method: Method) -> type[Method]:
    """Return the first method for one of the same problems whose clip can be taken away."""
    same = set(method.card.problems)
    return next(m for m in METHODS if m.stage.clip is not None and same & set(m.card.problems))
