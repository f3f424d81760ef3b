"""The command `dpsco release`: a private mean, or a regression, of the columns of a CSV file."""

import argparse
from typing import Any

import numpy as np

from dpsco_core.cli.tail import STDIN, read_content
from dpsco_core.cli.tools import (
    add_command,
    format_table,
    number,
    print_json,
    print_note,
    print_text,
    read_number,
)
from dpsco_core.explain.recipe.ledgers import spendings
from dpsco_core.results.release import ArrayRelease, release
from dpsco_core.runs.store import budget_fields

COUNTED = (
    "the number of rows that are used, {rows:,}, is taken for public: a row without a number in "
    "one of the columns is left out."
)
FLAGS = {
    "epsilon": "privacy budget epsilon (default 1)",
    "delta": "delta; 0 is pure DP (default 1e-06)",
    "rho": "zCDP budget, instead of epsilon",
    "p": "order of the moment, at least 2 (default 2)",
    "unit": "p-th root of a bound on the p-th central moment of every column (default 1)",
    "centre": "public guess of the mean of every column, of a mean only (default 0)",
}


def add_release(commands: Any) -> None:
    parser = add_command(commands, "release", run_release)
    parser.description = (
        "Bound, unit, centre and p are statements of yours, from public knowledge: where they are "
        "false the answer is worse, and stays private. With --target the columns are features and "
        "the answer is the parameter of a loss; without it the answer is the mean. The noise is "
        "from the operating system and cannot be repeated."
    )
    parser.add_argument("file", metavar="FILE", help=f"CSV file; {STDIN} is standard input")
    words = "a column, by its name; repeatable"
    parser.add_argument("--column", metavar="NAME", action="append", required=True, help=words)
    parser.add_argument("--target", metavar="NAME", help="the column that is to be predicted")
    parser.add_argument("--method", metavar="SLUG", help="slug of a private method on records")
    words = "loss with --target: logistic (the default; labels -1 and 1, or 0 and 1) or another"
    parser.add_argument("--problem", metavar="SLUG", help=words)
    words = "the mean is at most this far from the centre; the parameter at most this long"
    parser.add_argument("--bound", metavar="VALUE", required=True, help=words)
    for name, text in FLAGS.items():
        parser.add_argument(f"--{name}", metavar="VALUE", help=text)


def run_release(chosen: argparse.Namespace) -> None:
    """Read the columns and print a release of them; raise `InvalidInput` for bad input."""
    # The reader needs pandas, which would slow down every other command.
    from dpsco_core.explain.columns.records import read_records

    target = [] if chosen.target is None else [chosen.target]
    records = read_records(read_content(chosen.file), [*chosen.column, *target])
    rows = records.values
    features = rows[:, : len(rows[0]) - len(target)] if len(rows) else rows
    texts = {name: getattr(chosen, name) for name in (*FLAGS, "bound")}
    numbers: dict[str, Any] = {k: read_number(k, t) for k, t in texts.items() if t is not None}
    if "rho" in numbers:
        numbers = {"epsilon": None, "delta": None} | numbers
    answer = release(
        (features, rows[:, -1]) if target else features,
        method=chosen.method,
        problem=chosen.problem,
        **numbers,
    )
    columns = [name for name in records.chosen if name not in target]
    notes = (*records.notes, COUNTED.format(rows=len(rows)), *answer.notes)
    if chosen.json:
        print_json(_release_json(answer, columns, notes))
        return
    lines = [[name, number(value)] for name, value in zip(columns, answer.value, strict=True)]
    print(format_table(lines, ["column", "coefficient" if target else "mean"]))
    if answer.interval is not None:
        radius = number(answer.interval)
        print_text(
            f"95 % interval: a ball of radius {radius} about the answer, if the statements "
            "hold and the rows are independent."
        )
    print_text(f"{answer.method} has spent {answer.spent}; neighbours: one row is replaced.")
    budget = answer.ledger.budget
    entries = [
        [s.label, str(s.count), number(s.sensitivity), number(s.noise), f"{100 * s.share:.3g} %"]
        for s in spendings(answer.ledger.entries, budget)
    ]
    print("\n" + format_table(entries, ["release", "times", "sensitivity", "noise", "budget"]))
    for note in notes:
        print_note(note)
    print_text(f"warning: {answer.warning}")


def _release_json(
    answer: ArrayRelease, columns: list[str], notes: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "method": answer.method,
        "columns": columns,
        "value": answer.value.tolist(),
        "interval": answer.interval,
        "spent": budget_fields(answer.spent),
        "neighbours": "replace one record",
        "parameters": {k: v for k, v in answer.parameters.items() if np.isfinite(v)},
        "ledger": [
            {
                "release": spending.label,
                "count": spending.count,
                "mechanism": spending.mechanism,
                "sensitivity": spending.sensitivity,
                "noise": spending.noise,
                "share": spending.share,
            }
            for spending in spendings(answer.ledger.entries, answer.ledger.budget)
        ],
        "notes": list(notes),
        "warning": answer.warning,
    }
