"""The privacy of a method: its sensitivities by brute force, its ledger, and audits.

An audit that finds nothing says little unless it would have found something: the same audit runs on
the method with half of its noise, which it has to catch.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from dpsco_core.audit.attacks import Judged, judge
from dpsco_core.audit.engine import Audit, Fault, audit_steps, seconds_a_run
from dpsco_core.audit.stages import FAR_COORDINATE, data_sets, stage
from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import CodeFailed, InvalidInput, NotApplicable
from dpsco_core.catalogue import make_method, method_card
from dpsco_core.methods.base import released
from dpsco_core.privacy.composition import compose
from dpsco_core.privacy.entries import ROUNDING
from dpsco_core.referee.report import Check, Judgement, Progress
from dpsco_core.referee.tapes import Recorded, RecordingLedger, Tape, largest_excess
from dpsco_core.results.commands import command_flags
from dpsco_core.runs.study import planned, stream
from dpsco_core.scenario import Scenario

AUDIT_RUNS = 20_000
LEAST_RUNS = 1000  # the least number of audit runs that may reveal a fault
DIMENSIONS = (1, 3)
RECORDS = 9
# The relative rounding error of the method's computation, allowed in comparisons of releases.
SLACK = 1e-6
# The label of a release whose sensitivity does not compare neighbours. It is the solver's error on
# one data set, which the linear term of the objective hides.
OF_A_SOLVER = "what the solver left open"
NAME = "Privacy"


@dataclass(frozen=True, kw_only=True)
class Neighbouring:
    """A pair of data sets that changes a statistic most, and the size of the change."""

    excess: float  # the excess over the sensitivity in the ledger
    release: Recorded | None
    background: str  # a description of all other records
    record: str  # a description of the replaced record, before and after
    d: int
    pairs: int  # the number of pairs that were compared
    has_steps: bool  # whether the method releases sequences of steps, which the check cannot see


def worst_neighbours(method: str, seed: int = 0, deadline: float = math.inf) -> Neighbouring | None:
    """Return the pair of data sets with the largest change of a release over its sensitivity.

    The search is by brute force over backgrounds, places of the replaced record and dimensions.
    None where the method cannot run on any of them.
    """
    worst: Neighbouring | None = None
    pairs, has_steps = 0, False
    for point, (background, rows), (record, places) in _candidates(method):
        if worst is not None and time.monotonic() > deadline:
            break
        compared = _compare(point, rows, places, seed)
        if compared is None:
            continue
        pairs += 1
        excess, release, tape = compared
        has_steps |= tape.has_steps
        if worst is None or excess > worst.excess:
            worst = Neighbouring(
                excess=excess,
                release=release,
                background=background,
                record=record,
                d=point.d,
                pairs=0,
                has_steps=False,
            )
    return None if worst is None else replace(worst, pairs=pairs, has_steps=has_steps)


def _candidates(
    method: str,
) -> Iterator[tuple[Scenario, tuple[str, Vector], tuple[str, tuple[Vector, Vector]]]]:
    """Yield triples: a point, a named array of all records, and a named pair of records.

    Neighbours have the one or the other record of the pair among these records.
    """
    start = stage(method)
    sizes = DIMENSIONS if start.geometry == "l2" else (start.d,)
    for n, d in product(sorted({start.n, RECORDS}, reverse=True), sizes):
        point = replace(start, n=n, d=d)
        total = n * point.m
        ladder = np.linspace(-1, 1, total)[:, None] * np.ones(d)
        sides = np.where(np.arange(total) % 2, FAR_COORDINATE, -FAR_COORDINATE)[:, None] * np.ones(
            d
        )
        backgrounds = {
            "all 0": np.zeros((total, d)),
            "far out on both sides": sides,
            "spread from -1 to 1": ladder,
        }
        corner, axis = FAR_COORDINATE * np.ones(d), FAR_COORDINATE * np.eye(d)[0]
        records = {
            "from one far corner to the opposite": (corner, -corner),
            "from far out on an axis to the other side": (axis, -axis),
            "from a far corner to 0": (corner, np.zeros(d)),
            "from 2 to -2 in every coordinate": (2 * np.ones(d), -2 * np.ones(d)),
        }
        yield from product((point,), backgrounds.items(), records.items())


def _compare(
    point: Scenario, rows: Vector, places: tuple[Vector, Vector], seed: int
) -> tuple[float, Recorded | None, Tape] | None:
    """Run a method on the neighbours with one or the other of two records among `rows`.

    Return the largest change of a release over its sensitivity, that release, and the recording of
    the first run; None if the method does not run on such data.
    """
    pair = []
    for place in places:
        records = rows.copy()
        records[: point.m] = place
        pair.append(records)
    try:
        _, (data, neighbour_data) = data_sets(point, len(rows), (pair[0], pair[1]))
        tape = _play(point, data, seed, None)
        neighbour_tape = _play(point, neighbour_data, seed, tape)
    except CodeFailed:
        raise
    except (InvalidInput, NotApplicable):  # The method does not run on such data.
        return None
    is_seen = [r.entry.label != OF_A_SOLVER for r in tape.releases]
    tapes = [
        Tape(releases=[r for r, flag in zip(t.releases, is_seen, strict=False) if flag])
        for t in (tape, neighbour_tape)
    ]
    excess, release = largest_excess(*tapes)
    return excess, release, tape


def _play(point: Scenario, data: Any, seed: int, original: Tape | None) -> Tape:
    """Run the method of a point, and return the recording of its releases.

    If the recording of an earlier run is given as `original`, its noise is used again.
    """
    slug = point.methods[0]
    method = make_method(slug, point.calibration, point.tuning)
    ledger = RecordingLedger(point.budget, original=original)
    released(method, data, planned(point, slug), ledger, stream(seed, "referee neighbours", 0))
    return ledger.tape


def check_privacy(
    method: str,
    *,
    seed: int,
    deadline: float,
    progress: Progress,
    files: Sequence[str] = (),
) -> Check:
    """Check the sensitivities, the ledger and, by audits, the noise of a private method."""
    if method_card(method).privacy == "none":
        text = "The method claims no privacy."
        return Check(name=NAME, verdict="not checked", sentence=text)
    rows: list[tuple[str, str, str]] = []
    verdicts: list[Judgement] = []
    sentences: list[str] = []
    command = ""
    progress("privacy: neighbours")
    worst = worst_neighbours(method, seed, deadline)
    if worst is not None and worst.release is not None:
        is_broken = worst.excess > 1 + SLACK
        entry = worst.release.entry
        words = f"{worst.record}, all others {worst.background}, d={worst.d}"
        outcome = f"{worst.excess:.4g} times the {entry.sensitivity:.4g} of its ledger"
        count = f"{worst.pairs} pair{'s' * (worst.pairs != 1)} of neighbours"
        rows.append((f"largest move of {count}", outcome, words))
        verdicts.append("refuted" if is_broken else "not refuted")
        if is_broken:
            sentences.append(
                f"{entry.label} moves by {worst.excess:.4g} times the sensitivity that its noise "
                f"is made for, when one record goes {words}."
            )
    elif worst is None or worst.has_steps:
        text = "its steps are not single releases, so that no sensitivity is seen from outside"
        rows.append(("sensitivity by brute force", "not checked", text))
    try:
        ledger_row, flaw = _ledger_row(method, seed)
    except NotApplicable as refusal:  # The stage of the method's audit is too small for it.
        ledger_row, flaw = ("ledger", "not checked", str(refusal)), ""
    rows.append(ledger_row)
    if flaw:
        verdicts.append("refuted")
        sentences.append(flaw)
    faults: tuple[Fault, ...] = ("none", "half-noise")
    for fault in faults:
        judged, reason = _audit(method, fault, seed, deadline, progress)
        name = "audit" if fault == "none" else "the same audit, half of the noise"
        if judged is None:
            rows.append((name, "not checked", reason))
            continue
        findings = judged.result
        runs = findings.evidence[-1].runs
        outcome = f"epsilon is at least {findings.epsilon_lower_bound:.3g}"
        claim = f"claimed {findings.claimed_epsilon:.3g} at delta {findings.delta:g}, {runs:,} runs"
        rows.append((name, outcome, f"{claim}: {_reveals_fault(judged, fault)}"))
        if fault == "none":
            verdicts.append(judged.verdict)
            if judged.verdict == "refuted":
                sentences.append(f"An audit: {outcome}, {claim}: refuted {judged.grounds}.")
                flags = command_flags(Scenario(methods=(method,)), files)
                command = f"dpsco audit {flags} --trials {runs}"
    verdict: Judgement = "refuted" if "refuted" in verdicts else "not refuted"
    unrefuted = "Neither its sensitivities, its ledger nor an audit refutes it."
    text = " ".join(sentences) or (unrefuted if verdicts else "None of it can be checked here.")
    return Check(
        name=NAME,
        verdict=verdict if verdicts else "not checked",
        sentence=text,
        columns=("what", "outcome", "where"),
        rows=tuple(rows),
        command=command,
    )


def _reveals_fault(judged: Judged, fault: str) -> str:
    """Return in words whether an audit has caught the fault, by either of its tests."""
    if judged.result.caught_at is not None:
        return f"caught after {judged.result.caught_at:,}"
    if judged.verdict == "refuted":
        return "caught by the trade-off curve"
    return "not refuted" if fault == "none" else "not caught: the audit has too little power here"


def _ledger_row(method: str, seed: int) -> tuple[tuple[str, str, str], str]:
    """Return the table row of a run's ledger, and a sentence on its fault; empty if it has none.

    A fault is a release with too little noise, or spending more than the budget.
    """
    point = stage(method)
    _, (data,) = data_sets(point, point.n * point.m, (np.zeros((point.n * point.m, point.d)),))
    ledger = RecordingLedger(point.budget)
    slug = point.methods[0]
    method_here = make_method(slug, point.calibration, point.tuning)
    released(method_here, data, planned(point, slug), ledger, stream(seed, "referee ledger", 0))
    spent = compose(ledger.entries, point.budget)
    releases = f"{len(ledger.entries)} release" + "s" * (len(ledger.entries) != 1)
    row = ("ledger", f"spends {_budget_words(spent)} of {_budget_words(point.budget)}", releases)
    is_over = any(
        getattr(spent, name, 0.0) > getattr(point.budget, name, 0.0) * (1 + ROUNDING)
        for name in ("epsilon", "delta", "rho")
        if hasattr(point.budget, name)
    )
    if ledger.flaws:
        return row, f"By its own ledger: {ledger.flaws[0]}."
    return row, "It spends more than its budget." if is_over else ""


def _budget_words(budget: Any) -> str:
    """Return the parameters of a budget by name, such as "epsilon 1, delta 1e-06"."""
    return ", ".join(f"{name} {value:.4g}" for name, value in vars(budget).items())


def _audit(
    method: str, fault: Fault, seed: int, deadline: float, progress: Progress
) -> tuple[Judged | None, str]:
    """Return an audit with its verdict, in its share of the time left, or why there is none.

    It stops at the first look whose bound refutes the claim. The trade-off curve can then change
    the grounds, but no longer the verdict, so that stopping costs no confidence.
    """
    task = Audit(point=replace(stage(method), seed=seed), runs=AUDIT_RUNS, fault=fault)
    try:
        seconds = seconds_a_run(task)
        left = max(0.0, deadline - time.monotonic()) / (2 if fault == "none" else 1)
        runs = AUDIT_RUNS if seconds == 0 else min(AUDIT_RUNS, 2 * int(left / seconds / 2))
        if runs < LEAST_RUNS:
            return None, f"{LEAST_RUNS:,} runs take longer than the time that is left"
        findings = None
        for runs_done, result in audit_steps(replace(task, runs=runs)):
            progress(f"privacy: audit ({fault}), {runs_done:,} runs")
            findings = result or findings
            if findings is not None and findings.caught_at is not None:
                break
    except NotApplicable as refusal:
        return None, str(refusal)
    assert findings is not None
    return judge(findings, task.confidence), ""
