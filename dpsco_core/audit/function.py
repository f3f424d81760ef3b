"""An audit of any Python function of records: it needs no ledger, and no plan.

The function runs on data sets that differ in their last record, which is far out in one, as far out
the other way in the second, and 0 in the third; all other records are 0. The bound on epsilon is
that of `dpsco_core.audit.engine`, after the last run; a function has no ledger whose trade-off
curve could be tested. An audit can refute a claim and never proves one: a function whose worst
neighbours are others may pass it.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_core.audit.engine import CONFIDENCE, PAIRS, Verdict, check_runs
from dpsco_core.audit.statistics import Evidence, audit, shared_confidence
from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import real, whole
from dpsco_core.base.plugin_guard import code_failure, guarded
from dpsco_core.runs.study import stream

Function = Callable[..., Any]
MOST_NUMBERS = 1000  # the largest number of values in an answer
MOST_RECORD_NUMBERS = 10_000_000  # the largest number n d of values in a data set
OWN_NOISE = (
    "the function has a generator of its own, so that every audit gives other numbers; one that "
    "takes (records, rng) repeats them."
)
FAR_RECORD_ONLY = (
    "the neighbours differ in one record, which is far out: a function that is not private on "
    "other neighbours may pass."
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
    far_value: float = 1000.0  # every coordinate of the record in which neighbours differ
    runs: int = 20_000  # the number of runs on both neighbours of a pair together; even
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
        return self

    def data_sets(self) -> tuple[Vector, Vector, Vector]:
        """Return the three data sets, each of shape (n, d)."""
        data, opposite, origin = np.zeros((3, self.n, self.d))
        data[-1], opposite[-1] = self.far_value, -self.far_value
        return data, opposite, origin


@dataclass(frozen=True, kw_only=True)
class FunctionFindings:
    """The findings of an audit of a function."""

    # The evidence from the pair of neighbours that is easier to distinguish.
    evidence: Evidence
    claimed_epsilon: float
    notes: tuple[str, ...]  # caveats that a reader of the findings must see, one sentence each

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

    `progress` is called with the number of runs on each data set. Raises `InvalidInput` if the
    audit is not valid, and `CodeFailed` if the function fails or its answers are no numbers of one
    shape.

    Examples
    --------
    >>> def mean_without_noise(records):
    ...     return np.clip(records, -1, 1).mean()
    >>> findings = audit_function(FunctionAudit(function=mean_without_noise, epsilon=1.0, runs=200))
    >>> findings.verdict
    'refuted'
    """
    task.validate()
    has_generator = takes_generator(task.function)
    name = getattr(task.function, "__name__", "function")
    code = getattr(task.function, "__code__", None)
    path = getattr(code, "co_filename", "a library")
    call = guarded(task.function, f"function={name}", path, _wrong_answer)
    sets = task.data_sets()
    streams = [stream(task.seed, f"audit function {side}", 0) for side in range(len(sets))]
    answers: list[list[Vector]] = [[] for _ in sets]
    for run in range(task.runs // 2):
        for records, rng, outputs in zip(sets, streams, answers, strict=True):
            answer = call(records.copy(), rng) if has_generator else call(records.copy())
            # This copies the answer: the function may return the same array in every run.
            outputs.append(np.array(answer, dtype=float).ravel())
            sizes = [answers[0][0].size, outputs[-1].size]
            if sizes[0] != sizes[1]:
                reason = f"it returned {sizes[0]} numbers, and then {sizes[1]}"
                raise code_failure(f"function={name}", path, reason)
        progress(run + 1)
    reference, *neighbours = (np.array(outputs) for outputs in answers)
    confidence = shared_confidence(task.confidence, PAIRS)
    places = ("as far out the other way", "0")
    looks = [
        replace(
            audit(reference, outputs, delta=task.delta, confidence=confidence),
            neighbour_place=place,
        )
        for outputs, place in zip(neighbours, places, strict=True)
    ]
    sharpest = max(looks, key=lambda evidence: evidence.epsilon_lower_bound)
    notes = (FAR_RECORD_ONLY, *([] if has_generator else [OWN_NOISE]))
    return FunctionFindings(evidence=sharpest, claimed_epsilon=task.epsilon, notes=notes)


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
