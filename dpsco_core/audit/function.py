"""An audit of any Python function of records: it needs no ledger, and no plan.

The function runs on pairs of data sets that differ in their last record
(`dpsco_core.audit.neighbours`): among other records of several kinds, the changed record has
several sizes. One half of the runs chooses the pair that is easiest to distinguish, and the other
half tests it, so that the confidence holds however many pairs there are. The bound on epsilon is
that of `dpsco_core.audit.engine`, after the last run; a function has no ledger whose trade-off
curve could be tested. An audit can refute a claim and never proves one: a function whose worst
neighbours are others may pass it.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_core.audit.engine import CONFIDENCE, Verdict, check_runs
from dpsco_core.audit.neighbours import Background, NeighbourPair, backgrounds
from dpsco_core.audit.statistics import LEAST_RUNS, Evidence, audit
from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import real, whole
from dpsco_core.base.plugin_guard import code_failure, guarded
from dpsco_core.runs.study import stream

Function = Callable[..., Any]
MOST_NUMBERS = 1000  # the largest number of values in an answer
MOST_RECORD_NUMBERS = 10_000_000  # the largest number n d of values in a data set
CHOICE_CONFIDENCE = (
    0.8  # The bound by which a pair is chosen has this confidence; nothing rests on it.
)
OWN_NOISE = (
    "the function has a generator of its own, so that every audit gives other numbers; one that "
    "takes (records, rng) repeats them."
)
PAIRS_TRIED = (
    "{pairs} pairs of neighbours were tried, and half of the runs chose one of them: a function "
    "that is not private on other neighbours may pass."
)
NO_REACTION = (
    "the output did not react to the record that was changed; the audit cannot find a fault it "
    "cannot see."
)
NO_VISIBLE_REACTION = (
    "no reaction of the output to the record that was changed was visible in these runs; the audit "
    "cannot find a fault it cannot see."
)


@dataclass(frozen=True, kw_only=True)
class FunctionAudit:
    """The specification of an audit of a function.

    The function takes records, an array of shape (n, d), and, if it has a second parameter without
    a default, a ``numpy.random.Generator``. It returns a number or an array of numbers, of the same
    shape in every run. The confidence holds if its runs are independent: a function that keeps a
    state between calls voids it.
    """

    function: Function
    epsilon: float  # the claim, at least 0
    delta: float = 1e-6  # in [0, 1)
    n: int = 8
    d: int = 1
    # The size of every coordinate of the record in which neighbours differ; sizes from a thousandth
    # of it to a thousand times as much are tried as well.
    far_value: float = 1000.0
    # The number of runs, at least 80 and even: one half chooses a pair, the other half tests it.
    runs: int = 20_000
    # The probability that a claim that holds is not refuted.
    confidence: float = CONFIDENCE
    seed: int = 0  # the seed of the generators for the function

    def validate(self) -> "FunctionAudit":
        """Return the audit itself; raises `InvalidInput` if one of its fields is not allowed."""
        require(callable(self.function), "function", "one that can be called", self.function)
        real("epsilon", self.epsilon, 0.0, 1e6)
        require(0 <= self.delta < 1, "delta", "at least 0 and below 1", self.delta)
        whole("n", self.n, 1, MOST_RECORD_NUMBERS)
        whole("d", self.d, 1, MOST_RECORD_NUMBERS // self.n)
        real("far-value", self.far_value, 1e-100, 1e100)
        check_runs(self.runs, self.confidence)
        require(self.runs >= 2 * LEAST_RUNS, "trials", f"at least {2 * LEAST_RUNS}", self.runs)
        return self


@dataclass(frozen=True, kw_only=True)
class FunctionFindings:
    """The findings of an audit of a function."""

    # The evidence from the runs that test the chosen pair.
    evidence: Evidence
    claimed_epsilon: float
    pair: NeighbourPair  # the pair that was the easiest to distinguish in the first half of runs
    pairs: int  # the number of pairs among which it was chosen
    reacts: bool  # whether the output of the function was seen to react to the changed record
    notes: tuple[str, ...]  # caveats that a reader of the findings must see, one sentence each
    warning: str = ""  # a sentence where the output was not seen to react; otherwise empty

    @property
    def epsilon_lower_bound(self) -> float:
        """The lower bound on epsilon that the evidence proves."""
        return self.evidence.epsilon_lower_bound

    @property
    def verdict(self) -> Verdict:
        """Whether the runs refute the claim, which they can never prove."""
        return "refuted" if self.epsilon_lower_bound > self.claimed_epsilon else "not refuted"


def audit_function(
    task: FunctionAudit, progress: Callable[[int], object] = lambda _: None
) -> FunctionFindings:
    """Run a function on neighbours, and return what its answers prove.

    `progress` is called with the number of runs so far. Raises `InvalidInput` if the audit is not
    valid, and `CodeFailed` if the function fails or its answers are no numbers of one shape.

    Examples
    --------
    >>> def mean_without_noise(records):
    ...     return np.clip(records, -1, 1).mean()
    >>> findings = audit_function(FunctionAudit(function=mean_without_noise, epsilon=1.0, runs=200))
    >>> findings.verdict, findings.pair.shared_records, findings.warning
    ('refuted', 'are 0', '')
    """
    caller = _Caller(task=task.validate(), progress=progress)
    trials = _try_pairs(caller)
    chosen = max(trials, key=lambda trial: trial.score)
    pair = chosen.pair
    runs = task.runs // 2 // 2
    streams = [stream(task.seed, f"audit function {side}", 0) for side in range(2)]
    outputs = [
        caller.answers(chosen.background, value, runs, rng)
        for value, rng in zip((pair.value, pair.other_value), streams, strict=True)
    ]
    evidence = replace(
        audit(*outputs, delta=task.delta, confidence=task.confidence),
        neighbour_place=f"{pair.other_value:g}",
    )
    # With equal generators any difference is a reaction; otherwise only one that runs can prove.
    has_reacted = any(trial.differs for trial in trials) if caller.has_generator else False
    reacts = has_reacted or evidence.epsilon_lower_bound > 0
    warning = NO_REACTION if caller.has_generator else NO_VISIBLE_REACTION
    return FunctionFindings(
        evidence=evidence,
        claimed_epsilon=task.epsilon,
        pair=pair,
        pairs=len(trials),
        reacts=reacts,
        notes=(
            PAIRS_TRIED.format(pairs=len(trials)),
            *([] if caller.has_generator else [OWN_NOISE]),
        ),
        warning="" if reacts else warning,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Trial:
    """The first runs on one pair of neighbours."""

    background: Background
    pair: NeighbourPair
    score: float  # what these runs suggest of epsilon; it only chooses
    differs: bool  # whether any answer differs between the neighbours, run by run


@dataclass(eq=False, kw_only=True)
class _Caller:
    """The audited function, which is called on data sets and counts its runs."""

    task: FunctionAudit
    progress: Callable[[int], object]
    calls: int = 0
    numbers: int = 0  # the number of values in an answer; 0 before the first one

    def __post_init__(self) -> None:
        """Find out once how the function is to be called."""
        function = self.task.function
        self.has_generator = takes_generator(function)
        self.name = getattr(function, "__name__", "function")
        code = getattr(function, "__code__", None)
        self.path = getattr(code, "co_filename", "a library")
        self.call = guarded(function, f"function={self.name}", self.path, _wrong_answer)

    def answers(
        self, background: Background, value: float, runs: int, rng: np.random.Generator
    ) -> Vector:
        """Return the answers of runs on one data set, shape (runs, k)."""
        records = background.records(self.task.n, self.task.d, self.task.seed)
        records[-1] = value
        outputs = []
        for _ in range(runs):
            copy = records.copy()
            answer = self.call(copy, rng) if self.has_generator else self.call(copy)
            # This copies the answer: the function may return the same array in every run.
            outputs.append(np.array(answer, dtype=float).ravel())
            self.numbers = self.numbers or outputs[-1].size
            if outputs[-1].size != self.numbers:
                reason = f"it returned {self.numbers} numbers, and then {outputs[-1].size}"
                raise code_failure(f"function={self.name}", self.path, reason)
            self.calls += 1
            self.progress(self.calls)
        return np.array(outputs)


def _try_pairs(caller: _Caller) -> list[_Trial]:
    """Return the first half of the runs, shared among as many pairs as get enough of them."""
    task = caller.task
    chosen: list[tuple[Background, tuple[float, float]]] = []
    sets: set[tuple[Background, float]] = set()
    largest_count = task.runs // 2 // (LEAST_RUNS // 2)
    for background in backgrounds(task.n, task.far_value):
        for values in background.values:
            enlarged_sets = sets | {(background, value) for value in values}
            if len(enlarged_sets) <= largest_count:
                sets = enlarged_sets
                chosen.append((background, values))
    runs = task.runs // 2 // len(sets)
    trials: list[_Trial] = []
    outputs: dict[float, Vector] = {}
    background_before: Background | None = None
    for background, values in chosen:
        outputs = outputs if background is background_before else {}
        background_before = background
        for value in values:
            if value not in outputs:
                # The generators are equal, so that only the records make answers differ.
                rng = stream(task.seed, "audit function choice", 0)
                outputs[value] = caller.answers(background, value, runs, rng)
        answers, neighbour_answers = (outputs[value] for value in values)
        score = audit(answers, neighbour_answers, delta=task.delta, confidence=CHOICE_CONFIDENCE)
        trials.append(
            _Trial(
                background=background,
                pair=NeighbourPair(
                    shared_records=background.words, value=values[0], other_value=values[1]
                ),
                score=score.epsilon_lower_bound,
                differs=bool((answers != neighbour_answers).any()),
            )
        )
    return trials


def takes_generator(function: Function) -> bool:
    """Return whether a function has a second parameter without a default, for the generator."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # Some functions of C code have no signature.
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.kind in positional and p.default is p.empty]
    return len(required) > 1


def _wrong_answer(answer: Any, *_: object) -> str:
    """Return why an answer cannot be compared, in words; empty if it can."""
    try:
        numbers = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        return f"it returned {type(answer).__name__}, and not numbers"
    if not 1 <= numbers.size <= MOST_NUMBERS:
        return f"it returned {numbers.size:,} numbers, and 1 to {MOST_NUMBERS:,} are allowed"
    return "" if np.isfinite(numbers).all() else "it returned a number that is not finite"
