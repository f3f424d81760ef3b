"""The command `dpsco tail`: the tail index of a column of one's own numbers."""

import argparse
import math
from pathlib import Path
from typing import Any

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import to_plain
from dpsco_core.cli.tools import add_command, print_json
from dpsco_core.explain.columns.digits import to_digits
from dpsco_core.explain.tails import cap_notes, central_moment, require_usable, tail


def add_tail(commands: Any) -> None:
    parser = add_command(commands, "tail", run_tail, help="estimate the tail index of a CSV file")
    parser.add_argument("file", metavar="FILE", help="CSV file")
    parser.add_argument("--column", metavar="NAME", help="the column, by its name")


def run_tail(chosen: argparse.Namespace) -> None:
    """Print what the page says of a file; raises `InvalidInput`."""
    # The reader needs pandas, which no other command should wait for.
    from dpsco_core.explain.columns.table import read_column

    try:
        content = Path(chosen.file).read_bytes()
    except OSError as problem:
        raise InvalidInput(f"{chosen.file} cannot be read: {problem.strerror}.") from None
    column = read_column(content, chosen.column)
    require_usable(column.values)
    fit = tail(column.values)
    notes = [*column.notes, *cap_notes(column.values)]
    if chosen.json:
        answer = {
            "column": column.name,
            "columns": list(column.names),
            "used": fit.count,
            "left_out": column.left_out,
            "mean": fit.mean,
            "tail_index": to_plain(fit.index),
            "kind": fit.kind,
            "law": fit.law,
            "notes": notes,
        }
        print_json(answer)
        return
    blur = central_moment(column.values, 2) / math.sqrt(fit.count)
    print(f"{column.name}: {fit.count:,} numbers, mean {to_digits(fit.mean, blur)}")
    print(f"tail index {fit.index:.2g} ({fit.kind}); law {fit.law}")
    for note in notes:
        print(f"note: {note}")
