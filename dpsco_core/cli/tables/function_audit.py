"""`dpsco audit --function FILE:NAME`: the audit of any Python function of records."""

import argparse
import sys

from dpsco_core.audit.function import (
    FunctionAudit,
    FunctionFindings,
    audit_function,
)
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.cli.tools import (
    given_fields,
    number,
    print_json,
    print_note,
    print_text,
    read_number,
    refuted_status,
    wipe_progress,
)
from dpsco_core.fields import parse
from dpsco_core.plugins.extend import function_in
from dpsco_core.privacy.budget import ApproxDP, PureDP

RUNS_PER_LINE = 1000  # Progress is shown after so many runs.


def add_function_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the audit of a function."""
    parser.add_argument(
        "--function",
        metavar="FILE:NAME",
        help="audit a function of your own in place of a method: it takes records, an array of "
        "shape (n, d), and a numpy generator if it wants one, and returns numbers; with --epsilon "
        "and --delta, --n, --d, --far-value and --seed",
    )
    parser.add_argument(
        "--far-value",
        metavar="VALUE",
        help="with --function: the size of every coordinate of the record in which neighbours "
        f"differ (default {FunctionAudit.far_value:g}); a thousandth, a hundredth and a thousand "
        "times as much are tried as well",
    )


def run_function_audit(chosen: argparse.Namespace) -> int:
    """Audit the function that is named, print the findings, and return the exit status."""
    fields = given_fields(chosen)
    allowed = ("epsilon", "delta", "n", "d", "seed", "trials")
    for name in fields:
        require(name in allowed, name, "left out beside function", fields[name])
    require(chosen.fault == "none", "fault", "left out beside function", chosen.fault)
    require(chosen.at_delta is None, "at-delta", "left out beside function", chosen.at_delta)
    if "epsilon" not in fields:
        raise InvalidInput("epsilon must be given beside function, got epsilon=none.")
    numbers = {name: parse(name, text) for name, text in fields.items()}
    if "trials" in numbers:
        numbers["runs"] = numbers.pop("trials")
    if chosen.far_value is not None:
        numbers["far_value"] = read_number("far-value", chosen.far_value)
    confidence = read_number("confidence", chosen.confidence)
    function = function_in(chosen.function)
    task = FunctionAudit(function=function, confidence=confidence, **numbers).validate()

    def progress(runs: int) -> None:
        """Show on a terminal how many runs are done."""
        if sys.stderr.isatty() and runs % RUNS_PER_LINE == 0:
            line = f"\r{runs:,} of {task.runs:,} runs "
            print(line, end="", file=sys.stderr, flush=True)

    findings = audit_function(task, progress)
    wipe_progress()
    if chosen.json:
        _print_json(chosen.function, task, findings)
    else:
        _print_findings(task, findings)
    return refuted_status(chosen, findings.verdict == "refuted")


def _print_json(place: str, task: FunctionAudit, findings: FunctionFindings) -> None:
    """Print the audited function, its claim and the findings as JSON."""
    evidence = findings.evidence
    print_json(
        {
            "function": place,
            "claimed_epsilon": task.epsilon,
            "delta": task.delta,
            "n": task.n,
            "d": task.d,
            "far_value": task.far_value,
            "pairs": findings.pairs,
            "others": findings.pair.shared_records,
            "changed_from": findings.pair.value,
            "changed_to": findings.pair.other_value,
            "reacts": findings.reacts,
            "warning": findings.warning or None,
            "trials": task.runs,
            "confidence": task.confidence,
            "epsilon_lower_bound": evidence.epsilon_lower_bound,
            "against": evidence.neighbour_place,
            "hits": evidence.hits,
            "false_hits": evidence.false_hits,
            "tested": evidence.tested,
            "verdict": findings.verdict,
            "notes": findings.notes,
        }
    )


def _print_findings(task: FunctionAudit, findings: FunctionFindings) -> None:
    """Print the verdict on a function's claim, the lower bound on epsilon, and the caveats."""
    evidence = findings.evidence
    print_text(
        f"Audited at n = {task.n:,}, d = {task.d:,}: the last record has coordinates "
        f"{findings.pair.value:g}, against {evidence.neighbour_place}; all others "
        f"{findings.pair.shared_records}."
    )
    pure = PureDP(epsilon=task.epsilon)
    claim = ApproxDP(epsilon=task.epsilon, delta=task.delta) if task.delta else pure
    print_text(
        f"The claim, {claim}, is {findings.verdict} by {task.runs:,} runs, with confidence "
        f"{100 * task.confidence:g} %: epsilon is at least {number(findings.epsilon_lower_bound)} "
        f"at delta = {number(task.delta)}."
    )
    print_text(
        f"The best event happened in {evidence.hits:,} of {evidence.tested:,} runs on one "
        f"neighbour and in {evidence.false_hits:,} on the other."
    )
    if findings.warning:
        print_text(f"warning: {findings.warning}")
    for note in findings.notes:
        print_note(note)
