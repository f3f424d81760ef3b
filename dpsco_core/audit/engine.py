"""Audits of the catalogue's methods: worst neighbours, many runs, and what they prove.

The neighbours differ in one record (or one user); all other records are 0 in both. In the first
pair the record lies as far out as possible on one side, and as far out on the other side; in the
second pair it lies at 0 instead, where a method that takes its noise from the data takes little.
The output of a run is everything that an observer may read: its noisy values, its result, its path
and the entries of its ledger. The mechanism is the method's own code, run through a ledger as
always. A fault is planted around it, by a ledger of `dpsco_core.audit.doubles`, never inside.
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
LARGEST_RUNS = 10_000_000
CONFIDENCE = 0.999
RHO_DELTA = 0.05  # the delta at which a zCDP claim is converted to a claim about epsilon
UNCLIPPED = 1e9  # a multiple of the claimed clip that exceeds every record
STEPS = 2  # the number of steps in an audit of a descent that may take any number of steps
RUNS_PER_STEP = 50  # the number of runs on each data set between two chances to cancel
# Two tests share the failure probability: the bounds on epsilon, and the trade-off curve
# (`dpsco_core.audit.attacks`), which is compared once, after the last run.
TESTS = 2
PAIRS = 2  # the number of pairs of neighbours
DATA_SETS = 3  # Two pairs of neighbours have three data sets, because they share one.
BOOKED_RELEASES = 5  # the number of releases per run whose recorded noise is compared
TIMED_RUNS = 3
LARGEST_PATH_NUMBERS = 60  # the number of values of a run's path that are compared


def check_runs(runs: int, confidence: float) -> None:
    """Raise `InvalidInput` unless the number of runs and the confidence are allowed in an audit."""
    whole("trials", runs, LEAST_RUNS, LARGEST_RUNS)
    require(runs % 2 == 0, "trials", "even: half of them on each neighbour", runs)
    real("confidence", confidence, 0.5, 1 - 1e-12)


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The specification of an audit."""

    # A single point with one private method, as `dpsco_core.audit.stages.stage` makes it. Its
    # number of trials is not used.
    point: Scenario
    runs: int = 20_000  # the number of runs on both neighbours of a pair together; even
    fault: Fault = "none"  # a fault planted on purpose
    # The probability that a claim that holds is refuted neither by a bound on epsilon, at any look,
    # nor by the trade-off curve. Each of the two may fail with half of the remaining probability.
    confidence: float = CONFIDENCE
    # The delta at which a zCDP claim is audited, or None for 0.05. Other budgets have a delta.
    delta: float | None = None
    looks: bool = True  # whether to look after 100, 200, 500, ... runs, or only at the end

    def validate(self) -> Audit:
        """Return the audit itself; raises `InvalidInput` if one of its fields is not allowed."""
        self.point.validate()
        require(self.point.axis is None, "axis", "left out of an audit", self.point.axis)
        is_single = len(self.point.methods) == 1
        require(is_single, "method", "a single one", ", ".join(self.point.methods))
        is_private = method_card(self.method).privacy != "none"
        require(is_private, "method", "a private one: there is no claim to audit", self.method)
        one_of("fault", self.fault, FAULTS)
        check_runs(self.runs, self.confidence)
        if self.delta is not None:
            is_zcdp = self.point.rho is not None
            require(is_zcdp, "at-delta", "left out unless the budget is a rho", self.delta)
            real("at-delta", self.delta, 1e-12, 0.5)
        return self

    @property
    def method(self) -> str:
        """The slug of the method that is audited."""
        return self.point.methods[0]

    @property
    def stage(self) -> Stage:
        """The stage of the method: where it is audited, and how it can be broken there."""
        return method_class(self.method).stage

    @property
    def claim_delta(self) -> float:
        """The delta at which epsilon is claimed."""
        if self.point.rho is not None:
            return RHO_DELTA if self.delta is None else self.delta
        return self.point.delta or 0.0

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The numbers of runs after which the audit looks at the evidence, all even."""
        return checkpoints(self.runs) if self.looks else (self.runs,)


@dataclass(frozen=True, kw_only=True)
class AuditFindings:
    """The findings of an audit up to one look."""

    claimed_epsilon: float  # the epsilon that one run has spent, according to its ledger
    delta: float  # the delta of the claim
    evidence: tuple[Evidence, ...]  # the evidence of each look so far, in order
    neighbours: str  # a description of the data sets
    entries: tuple[Entry, ...]  # the ledger of one run
    # the entries of the ledger that claim more privacy than their noise gives, in words
    flaws: tuple[str, ...]
    # the difference between the ledgers of neighbours at the last look; empty without one
    booked: str
    has_fixed_shares: bool  # whether every run so far has booked the same releases
    outputs: Vector  # shape (runs so far, k): the outputs on the first data set at the last look
    neighbour_outputs: Vector  # shape (runs so far, k): the outputs on its neighbour

    @property
    def claims_curve(self) -> bool:
        """Whether the claim is the trade-off curve of a ledger, the same one in all runs."""
        return not self.booked and self.has_fixed_shares

    @property
    def epsilon_lower_bound(self) -> float:
        """The best lower bound of all looks, which hold simultaneously."""
        return max(e.epsilon_lower_bound for e in self.evidence)

    @property
    def best_so_far(self) -> list[float]:
        """The best lower bound up to each look."""
        return list(accumulate((e.epsilon_lower_bound for e in self.evidence), max))

    @property
    def caught_at(self) -> int | None:
        """The number of runs after which a bound first exceeded the claim; None if never."""
        refuting_runs = (
            e.runs for e in self.evidence if e.epsilon_lower_bound > self.claimed_epsilon
        )
        return next(refuting_runs, None)

    @property
    def bound_verdict(self) -> Verdict:
        """Whether the bounds on epsilon refute the claim, which runs can never prove.

        It is one of two tests; `dpsco_core.audit.attacks.judge` gives the verdict of both.
        """
        return "not refuted" if self.caught_at is None else "refuted"


def audit_steps(task: Audit) -> Iterator[tuple[int, AuditFindings | None]]:
    """Run an audit; yield the number of runs on each pair, and the findings if there was a look.

    Raises `InvalidInput` if the audit is not valid, and `NotApplicable` if the method cannot run at
    the point, or cannot be broken in this way.
    """
    task.validate()
    mechanism = _mechanism(task)
    opposite, origin = pairs(task.point, mechanism.plan)
    look_confidence = shared_confidence(task.confidence, TESTS * PAIRS * len(task.checkpoints))
    label = f"audit {task.fault} {replace(task.point, trials=1).to_query()}"
    streams = [stream(task.point.seed, f"{label} {side}", 0) for side in ("one", "two", "origin")]
    sets = tuple(
        _Outputs(mechanism, data, rng)
        for data, rng in zip(
            (opposite.data, opposite.neighbour_data, origin.neighbour_data), streams, strict=True
        )
    )
    evidence: list[Evidence] = []
    runs_done = 0
    for look in task.checkpoints:
        while runs_done < look // 2:
            count = look // 2 - runs_done
            # Runs are made in small portions, so that a visitor may cancel.
            if not task.stage.at_once:
                count = min(count, RUNS_PER_STEP)
            for outputs in sets:
                outputs.run(count)
            ledger = next((outputs.ledger for outputs in sets if outputs.ledger is not None), None)
            if ledger is None:  # No ledger means that the method failed on every data set.
                assert sets[0].problem is not None
                raise sets[0].problem
            runs_done += count
            if runs_done < look // 2:
                yield 2 * runs_done, None
        width = max(outputs.width for outputs in sets)
        first_output, *second_outputs = (outputs.rows(width) for outputs in sets)
        looks = [
            replace(
                audit(
                    first_output, second_output, delta=task.claim_delta, confidence=look_confidence
                ),
                neighbour_place=pair.neighbour_place,
            )
            for pair, second_output in zip((opposite, origin), second_outputs, strict=True)
        ]
        sharper_pair = int(looks[1].epsilon_lower_bound > looks[0].epsilon_lower_bound)
        evidence.append(looks[sharper_pair])
        assert ledger is not None
        findings = AuditFindings(
            claimed_epsilon=_claimed_epsilon(ledger, task.claim_delta),
            delta=task.claim_delta,
            evidence=tuple(evidence),
            neighbours=f"{opposite.difference} {FAR_SIDES.format(place=opposite.place)}",
            entries=ledger.entries,
            flaws=ledger.flaws,
            booked=_describe_difference(sets[0], sets[1 + sharper_pair]),
            has_fixed_shares=len({scales for s in sets for scales in s.distinct_noise_scales}) == 1,
            outputs=first_output,
            neighbour_outputs=second_outputs[sharper_pair],
        )
        yield look, findings


def run_audit(task: Audit) -> Iterator[AuditFindings]:
    """Run an audit and yield its findings after every look; raise the errors of `audit_steps`."""
    yield from (result for _, result in audit_steps(task) if result is not None)


def seconds_a_run(task: Audit) -> float:
    """Return the seconds per run of an audit; 0 if all runs are made at once.

    They include the runs on the third data set: one for every two. Raises what `audit_steps` does.
    """
    task.validate()
    mechanism = _mechanism(task)
    if task.stage.at_once:
        return 0.0
    opposite, _ = pairs(task.point, mechanism.plan)
    timed = _Outputs(mechanism, opposite.data, stream(task.point.seed, "audit seconds", 0))
    timed.run(1)  # The first run fills the caches.
    started = time.perf_counter()
    timed.run(TIMED_RUNS)
    return DATA_SETS / 2 * (time.perf_counter() - started) / TIMED_RUNS


def _claimed_epsilon(ledger: Ledger, delta: float) -> float:
    """Return the epsilon that one run has spent at `delta`, according to its ledger."""
    spent = ledger.spent()
    # A purely Gaussian ledger has an exact curve, which `compose` uses under such a budget.
    if isinstance(spent, ZCDP):
        spent = compose(ledger.entries, ApproxDP(epsilon=EPSILON_MAX, delta=delta))
    assert isinstance(spent, PureDP | ApproxDP)
    return spent.epsilon


@dataclass(frozen=True, kw_only=True)
class _Mechanism:
    """A method at a point, its plans without and with the fault, and the factor on its noise."""

    task: Audit
    method: Method
    plan: Plan
    broken: Plan
    factor: float

    def run(self, data: object, count: int, rng: np.random.Generator) -> tuple[Vector, Ledger]:
        """Return what an observer sees of some runs on `data`, a row each, and their ledger.

        A method that can make all runs at once makes `count` of them, any other method one.
        """
        budget = self.task.point.budget
        if self.task.stage.at_once:
            ledger_of_many = ManyRuns(budget, runs=count, factor=self.factor)
            self._release(data, ledger_of_many, rng)
            assert ledger_of_many.noisy is not None
            return ledger_of_many.noisy, ledger_of_many
        ledger = WrongNoise(budget, factor=self.factor) if self.factor != 1 else Ledger(budget)
        return _visible_numbers(self._release(data, ledger, rng))[None], ledger

    def _release(self, data: object, ledger: Ledger, rng: np.random.Generator) -> Release:
        """Return one release by the method, whose plan has the fault of the audit."""
        return released(self.method, data, self.broken, ledger, rng)


class _Outputs:
    """The outputs of the runs on one data set, and the entries of their ledgers."""

    def __init__(self, mechanism: _Mechanism, data: object, rng: np.random.Generator) -> None:
        """Prepare to run a mechanism on a data set; nothing runs yet."""
        self._mechanism, self._data, self._rng = mechanism, data, rng
        self._values = list[Vector]()
        # per run: whether it failed, its number of releases, their log noise scales
        self._books = list[Vector]()
        self.ledger: Ledger | None = None  # the ledger of the last run that finished
        self.problem: InvalidInput | None = None  # the error of the last run that failed
        # the distinct tuples of noise scales booked by the runs so far; no more are added after two
        self.distinct_noise_scales = set[tuple[float, ...]]()

    def run(self, count: int) -> None:
        """Run the mechanism `count` times and keep its outputs.

        A failed run counts as an output, because an observer sees it.
        """
        at_once = self._mechanism.task.stage.at_once
        for _ in range(1 if at_once else count):
            try:
                values, self.ledger = self._mechanism.run(self._data, count, self._rng)
                book = _ledger_book(self.ledger.entries)
                if len(self.distinct_noise_scales) < 2:
                    scales = tuple(entry.noise for entry in self.ledger.entries)
                    self.distinct_noise_scales.add(scales)
            except InvalidInput as problem:
                self.problem = problem
                rows = count if at_once else 1
                values, book = np.zeros((rows, self._mechanism.task.point.d)), FAILED_BOOK
            self._values.append(values)
            self._books.append(np.tile(book, (len(values), 1)))

    @property
    def width(self) -> int:
        """The number of values in the longest output of a run."""
        return max(int(values.shape[1]) for values in self._values)

    @property
    def books(self) -> Vector:
        """One row per run: 1 if it failed, its number of releases, and their log noise scales."""
        return np.concatenate(self._books)

    def rows(self, width: int) -> Vector:
        """Return all runs as one array, a row each, with the columns of `books` at the end.

        A run with fewer than `width` values repeats its result.
        """
        d = self._mechanism.task.point.d
        padded = [
            np.hstack([v, np.tile(v[:, :d], (1, (width - v.shape[1]) // d))]) for v in self._values
        ]
        return np.hstack([np.concatenate(padded), self.books])


FAILED_BOOK = np.array([1.0, *[0.0] * (1 + BOOKED_RELEASES)])


def _ledger_book(entries: tuple[Entry, ...]) -> Vector:
    """Return what an audit reads of a ledger: 0, the number of entries, and log noise scales.

    The 0 says that the run has not failed.
    """
    noises = [math.log(e.noise) for e in entries[:BOOKED_RELEASES]]
    return np.array([0.0, len(entries), *noises, *noises[-1:] * (BOOKED_RELEASES - len(noises))])


def _describe_difference(outputs: _Outputs, neighbour_outputs: _Outputs) -> str:
    """Return in words how the ledgers on two neighbours differ.

    The text is empty if they agree, or if runs on one of the neighbours differ among themselves.
    """
    books = [side.books for side in (outputs, neighbour_outputs)]
    if any((book != book[0]).any() for book in books) or (books[0][0] == books[1][0]).all():
        return ""
    for side in (outputs, neighbour_outputs):
        if side.ledger is None:
            return f"on one neighbour the method runs, on the other it fails: {side.problem}"
    noises = [math.exp(book[0][2:][(books[0] != books[1])[0][2:]][0]) for book in books]
    return (
        f"the noise of a release is booked as {noises[0]:.4g} on one neighbour and as "
        f"{noises[1]:.4g} on the other, so it is chosen from the data"
    )


def _visible_numbers(release: Release) -> Vector:
    """Return the numbers of a run that are compared: its result and a thinned path."""
    path = release.iterates
    if path is None:
        return release.value
    rows = max(1, LARGEST_PATH_NUMBERS // path.shape[1])
    indices = np.unique(np.linspace(0, len(path) - 1, min(rows, len(path))).round().astype(np.intp))
    return np.concatenate([release.value, path[indices].ravel()])


def _mechanism(task: Audit) -> _Mechanism:
    """Return the method of an audit, with its plan as it should be and with the audit's fault.

    Raises `NotApplicable` if the method cannot be audited, or cannot be broken in this way.
    """
    refuse_unseen(task.method)
    stage = task.stage
    point, setting = task.point, task.point.setting
    method: Any = make_method(task.method, point.calibration, point.tuning)
    if stage.free_steps:
        method = replace(method, descent=Descent(steps=STEPS, step_size=1.0))
    factor = 1.0
    if task.fault == "half-noise":
        factor = 0.5
    elif task.fault == "printed-constant":
        if stage.flawed is None:
            example = next(m.card.slug for m in METHODS if m.stage.flawed)
            raise NotApplicable(
                "No constant that is printed for this method is too small for its claim.",
                method=example,
            )
        field, value = stage.flawed
        method = replace(method, calibration="paper", **{field: value})
    plan = broken = method.plan(setting)
    if task.fault == "no-clipping":
        if stage.clip is None:
            raise NotApplicable(
                "No parameter of this method moves its clip, which therefore cannot be taken away "
                "from outside.",
                nearest=f"choose half the noise, or {_method_with_movable_clip(method).card.slug}",
                changes=(("fault", "half-noise"),),
            )
        name, plan_field = stage.clip
        claimed = getattr(plan, plan_field, None) or getattr(plan.statistic, plan_field)
        method = replace(method, **{name: UNCLIPPED * claimed})
        broken, factor = method.plan(setting), 1 / UNCLIPPED
    return _Mechanism(task=task, method=method, plan=plan, broken=broken, factor=factor)


def _method_with_movable_clip(method: Method) -> type[Method]:
    """Return the first method of the catalogue with a movable clip and a problem of `method`."""
    problems = set(method.card.problems)
    return next(m for m in METHODS if m.stage.clip is not None and problems & set(m.card.problems))
