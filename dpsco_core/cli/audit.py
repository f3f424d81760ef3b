"""The command `dpsco audit`: an empirical lower bound on epsilon against the claim."""

import argparse
import sys
from dataclasses import replace
from typing import Any

from dpsco_core.audit.attacks import Attack, Judged, judge
from dpsco_core.audit.engine import CONFIDENCE, FAULTS, RHO_DELTA, Audit, AuditFindings, run_audit
from dpsco_core.audit.method import RUNS, audit_task
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import shorten
from dpsco_core.cli.tables.function_audit import add_function_flags, run_function_audit
from dpsco_core.cli.tools import (
    add_command,
    add_fields,
    add_refuted_flag,
    format_table,
    given_fields,
    number,
    print_json,
    print_note,
    print_text,
    read_number,
    refuted_status,
    wipe_progress,
)
from dpsco_core.privacy.budget import ZCDP, gaussian_epsilon
from dpsco_core.scenario import Scenario

CURVE_ALONE = (
    "the curve of the ledger claims more than epsilon at one delta. A method that violates it is "
    "less private than the noise that its ledger records; that it is not (epsilon, delta)-DP has "
    "not been shown."
)
SAME = 1e-6  # Two epsilons that differ by this share are the same up to rounding.


def add_audit(commands: Any) -> None:
    """Add the command `audit` to the parser."""
    parser = add_command(
        commands,
        "audit",
        run_audit_command,
        description="What is not given is taken from a small scenario made for the method. "
        f"--trials is the number of runs on two neighbours together (default {RUNS:,}); the "
        "record in which they differ is far out, against as far the other way and against 0.",
    )
    parser.add_argument(
        "--fault",
        metavar="NAME",
        default="none",
        help="break the mechanism on purpose: " + ", ".join(FAULTS[1:]),
    )
    parser.add_argument(
        "--confidence",
        metavar="VALUE",
        default=str(CONFIDENCE),
        help="that no claim which holds is refuted, by either test (default %(default)s)",
    )
    parser.add_argument(
        "--at-delta",
        dest="at_delta",
        metavar="VALUE",
        help=f"under --rho, the delta at which epsilon is claimed (default {RHO_DELTA})",
    )
    add_function_flags(parser)
    add_refuted_flag(parser)
    add_fields(parser, defaults=False)


def run_audit_command(chosen: argparse.Namespace) -> int:
    """Run an audit, show each look at it, print the findings, and return the exit status."""
    if chosen.function is not None:
        return run_function_audit(chosen)
    require(chosen.far_value is None, "far-value", "left out without function", chosen.far_value)
    task = _audit_task(chosen).validate()
    for result in run_audit(task):  # There is at least one look, at the end.
        if sys.stderr.isatty():
            last_look = result.evidence[-1]
            line = f"\r{last_look.runs:,} of {task.runs:,} runs: epsilon is at least "
            print(f"{line}{result.epsilon_lower_bound:.3f} ", end="", file=sys.stderr, flush=True)
    wipe_progress()
    judged = judge(result, task.confidence)
    if chosen.json:
        _print_json(task, judged)
    else:
        _print_findings(task, judged)
        _print_attack(judged.attack)
    # A flaw in its own ledger refutes a claim without a run.
    return refuted_status(chosen, judged.verdict == "refuted" or bool(result.flaws))


def _print_json(task: Audit, judged: Judged) -> None:
    """Print the findings of an audit as JSON."""
    result, achieved = judged.result, judged.attack
    print_json(
        {
            "method": task.method,
            "claimed_epsilon": result.claimed_epsilon,
            "delta": result.delta,
            "epsilon_lower_bound": result.epsilon_lower_bound,
            "confidence": task.confidence,
            "trials": task.runs,
            "neighbours": result.neighbours,
            "fault": task.fault,
            "verdict": judged.verdict,
            "grounds": judged.grounds,
            "curve": "ledger" if judged.is_ledger_curve else "budget",
            "bound_verdict": result.bound_verdict,
            "caught_at": result.caught_at,
            "notes": [*ledger_notes(result), *claim_notes(task, result)],
            "attack": {
                "false_alarms": achieved.false_alarms,
                "negatives": achieved.negatives,
                "misses": achieved.misses,
                "positives": achieved.positives,
                "confidence": achieved.confidence,
                "false_alarm_interval": achieved.alarm_interval,
                "miss_interval": achieved.miss_interval,
                "least_misses": achieved.least_misses,
                "verdict": "refuted" if achieved.refutes else "not refuted",
            },
            "looks": [
                {
                    "trials": e.runs,
                    "epsilon_lower_bound": e.epsilon_lower_bound,
                    "against": e.neighbour_place,
                }
                for e in result.evidence
            ],
            "scenario": replace(task.point, trials=task.runs).to_dict(),
        }
    )


def _audit_task(chosen: argparse.Namespace) -> Audit:
    """Return the audit that the flags describe; omitted fields are those of the method's stage."""
    fields_given = given_fields(chosen)
    methods = fields_given.pop("methods", ["mean.clipped"])
    require(len(methods) == 1, "method", "a single one", shorten(", ".join(methods)))
    at_delta = None if chosen.at_delta is None else read_number("at-delta", chosen.at_delta)
    confidence = read_number("confidence", chosen.confidence)
    return audit_task(methods[0], fields_given, chosen.fault, confidence, at_delta)


def _print_findings(task: Audit, judged: Judged) -> None:
    """Print the looks of an audit as a table, and its verdict."""
    result = judged.result
    fault_text = "" if task.fault == "none" else f", broken on purpose ({task.fault})"
    print_text(f"{task.method}{fault_text}: {result.neighbours}.")
    print_text(_setting_text(task.point))
    print()
    # The confidence covers all looks together, so a bound that one look has proven remains proven.
    rows = [
        [
            f"{e.runs:,}",
            number(best),
            number(e.epsilon_lower_bound),
            e.neighbour_place,
            f"{e.hits:,}",
            f"{e.false_hits:,}",
        ]
        for e, best in zip(result.evidence, result.best_so_far, strict=True)
    ]
    heads = ["runs", "epsilon is at least", "by this look", "against", "hits", "false hits"]
    print(format_table(rows, heads))
    delta_text = "" if not result.delta else f" at delta = {result.delta:g}"
    claim = f"epsilon = {number(result.claimed_epsilon)}{delta_text}"
    if judged.is_ledger_curve:
        claim += f" and {judged.curve_name}"
    confidence = f"with confidence {100 * task.confidence:g} %"
    preposition = "after" if judged.verdict == "refuted" else "by"
    count = result.caught_at or task.runs
    print()
    print_text(
        f"The claim, {claim}, is {judged.verdict} {preposition} {count:,} runs, {confidence}: "
        f"{judged.grounds}."
    )
    for note in (*ledger_notes(result), *claim_notes(task, result)):
        print(f"note: {note}")
    if judged.is_ledger_curve and judged.attack.refutes and result.caught_at is None:
        print_note(CURVE_ALONE)


def _setting_text(point: Scenario) -> str:
    """Return the sentence on the sizes and the budget of an audit, and the flags that set them."""
    sizes = {"n": point.n, "d": point.d} | ({"m": point.m} if point.m > 1 else {})
    names = ("rho",) if point.rho is not None else ("epsilon", "delta")
    flags = [name for name in names if getattr(point, name)]
    settings = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    changes = ", ".join(f"--{name}" for name in [*sizes, *flags])
    return f"Audited at {settings}, {point.budget}; other settings: {changes}."


def _print_attack(achieved: Attack) -> None:
    """Print the error rates of the best attack, beside what the claimed trade-off curve allows."""
    alarms, misses = achieved.alarm_interval[1], achieved.miss_interval[1]
    place = "below the curve" if achieved.refutes else "not below the curve"
    print_text(
        f"As an attack: {number(100 * achieved.alarm_share)} % false alarms, "
        f"{number(100 * achieved.miss_share)} % misses. At most {number(100 * alarms)} % and "
        f"{number(100 * misses)} %, where the claim's trade-off curve allows no fewer misses than "
        f"{number(100 * achieved.least_misses)} %: {place}."
    )


def ledger_notes(result: AuditFindings) -> list[str]:
    """Return what the method's own ledger says against its claim, whatever the runs show."""
    flaws = [f"by its own ledger the claim does not hold: {flaw}" for flaw in result.flaws]
    return flaws + ([result.booked] if result.booked else [])


def claim_notes(task: Audit, result: AuditFindings) -> list[str]:
    """Return a note if the audited claim is not the budget, as printed noise spends less; or []."""
    budget, delta = task.point.budget, result.delta
    allowed = gaussian_epsilon(budget.rho, delta) if isinstance(budget, ZCDP) else budget.epsilon
    if (
        task.point.calibration != "paper"
        or task.fault != "none"
        or result.claimed_epsilon >= allowed * (1 - SAME)
    ):
        return []
    at_delta = f" at delta = {delta:g}" if delta else ""
    note = (
        f"the claim is not the budget, epsilon = {number(allowed)}{at_delta}, but what the ledger "
        "records: the printed noise spends less."
    )
    if task.stage.flawed is not None:
        note += " To audit what the paper claims, add --fault printed-constant."
    return [note]
