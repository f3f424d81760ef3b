"""The command `dpsco errata`: errors found in the papers, and the numbers that show them."""

import argparse
from typing import Any

from dpsco_core.base.parsing import one_of
from dpsco_core.cli.tools import add_command, format_table, number, print_json, print_text
from dpsco_core.explain.errata import (
    ERRATA,
    SEVERITIES,
    Erratum,
    errata_json,
    erratum,
    finding_dict,
)
from dpsco_core.explain.tables.left_out import LEFT_OUT


def add_errata(commands: Any) -> None:
    """Add the command `errata` to the parser."""
    parser = add_command(
        commands,
        "errata",
        run_errata,
        description="Without --slug: the whole list.",
    )
    parser.add_argument("--slug", metavar="SLUG", help="one entry in full, its experiment run")
    parser.add_argument("--severity", metavar="WORDS", help="only " + ", ".join(SEVERITIES))
    parser.add_argument("--run", action="store_true", help="run every experiment")


def run_errata(chosen: argparse.Namespace) -> None:
    """Print the list of errata, or a single one with its experiment."""
    if chosen.slug is not None:
        _print_entry(erratum(chosen.slug), chosen.json)
        return
    if chosen.severity is not None:
        one_of("severity", chosen.severity, tuple(SEVERITIES))
    entries = [e for e in ERRATA if chosen.severity in (None, e.severity)]
    if chosen.json:
        slugs = {e.slug for e in entries}
        document = errata_json(run=chosen.run)
        print_json({"errata": [row for row in document["errata"] if row["slug"] in slugs]})
        return
    lines = [[e.slug, e.severity, e.statement, "yes" if e.experiment else ""] for e in entries]
    print(format_table(lines, ["slug", "severity", "statement", "experiment"]))
    if chosen.run:
        for entry in entries:
            if entry.experiment is not None:
                print(f"\n{entry.slug}: {entry.experiment.run().sentence}")
    if chosen.severity is None:
        print("\nNone of the five papers has an experiments section.")
        print("What they print that has no row in the tables of bounds:")
        for missing in LEFT_OUT:
            print(f"- {missing.line}")


def _print_entry(entry: Erratum, as_json: bool) -> None:
    """Print an erratum in full, with the finding of its experiment."""
    finding = None if entry.experiment is None else entry.experiment.run()
    if as_json:
        document = None if finding is None else finding_dict(finding)
        print_json(entry.to_dict() | {"finding": document})
        return
    print(f"{entry.slug}: {entry.paper}, {entry.statement} ({entry.severity})\n")
    print(f"Printed: {entry.printed}\nWrong:   {entry.wrong}\nHere:    {entry.instead}")
    print(f"Code:    {', '.join(entry.modules)}")
    if finding is None:
        return
    print(f"\n{finding.sentence}\n")
    lines = [[v if isinstance(v, str) else number(v) for v in row] for row in finding.rows]
    print(format_table(lines, list(finding.columns)))
    if finding.is_in_range:
        conditions = "; ".join(condition for condition, _ in finding.conditions)
        print(f"\nInside the statement's range: {conditions}.")
    _print_checks(entry)


def _print_checks(entry: Erratum) -> None:
    """Print the inputs of an erratum's experiment, and the commands that repeat and check it."""
    if entry.experiment is None:
        return
    print()
    print_text(f"Computed now from {entry.experiment.inputs}. Repeat it by: {entry.repeated_by}")
    if (check := entry.check) is not None:
        print(f"Check it by: {check.command}")
        print_text(f"It prints \u201c{check.prints}\u201d: {check.meaning}.", indent="  ")
