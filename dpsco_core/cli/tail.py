"""The command `dpsco tail`: the tail index of columns of one's own numbers."""

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import to_plain
from dpsco_core.cli.tools import add_command, print_json
from dpsco_core.explain.columns.decode import LARGEST_BYTES, LARGEST_MEGABYTES
from dpsco_core.explain.columns.digits import to_digits
from dpsco_core.explain.tails import cap_notes, central_moment, require_usable, tail

if TYPE_CHECKING:
    from dpsco_core.explain.columns.table import NumberColumn

STDIN = "-"
EACH = "Every column has a tail index of its own: nothing is said of their joint tail."


def add_tail(commands: Any) -> None:
    parser = add_command(commands, "tail", run_tail, help="estimate the tail index of a CSV file")
    parser.add_argument("file", metavar="FILE", help=f"CSV file; {STDIN} is standard input")
    parser.add_argument(
        "--column",
        metavar="NAME",
        action="append",
        help="the column, by its name; give it again for further columns, and JSON is a list then",
    )


def run_tail(chosen: argparse.Namespace) -> None:
    """Print what the page says of a file; raises `InvalidInput`."""
    # The reader needs pandas, which no other command should wait for.
    from dpsco_core.explain.columns.table import read_columns

    content = _content(chosen.file)
    names = None if chosen.column is None else list(dict.fromkeys(chosen.column))
    columns = read_columns(content, names)
    answers = [_answer(column) for column in columns]
    if chosen.json:
        print_json(answers if len(answers) > 1 else answers[0])
        return
    for column, answer in zip(columns, answers, strict=True):
        blur = central_moment(column.values, 2) / math.sqrt(answer["used"])
        index = float(answer["tail_index"])  # an infinite one is text in JSON
        print(
            f"{column.name}: {answer['used']:,} numbers, mean {to_digits(answer['mean'], blur)}\n"
            f"tail index {index:.2g} ({answer['kind']}); law {answer['law']}"
        )
        for note in answer["notes"]:
            print(f"note: {note}")
    if len(columns) > 1:
        print(EACH)


def _content(file: str) -> bytes:
    """Return what a file or standard input holds; raises `InvalidInput`."""
    name = "standard input" if file == STDIN else file
    most = LARGEST_BYTES + 1  # a device has no end
    try:
        if file == STDIN:
            content = sys.stdin.buffer.read(most)
        else:
            with open(file, "rb") as stream:
                content = stream.read(most)
    except OSError as problem:
        raise InvalidInput(f"{name} cannot be read: {problem.strerror}.") from None
    if len(content) == most:
        must = f"at most {LARGEST_BYTES:,} bytes ({LARGEST_MEGABYTES} MB)"
        raise InvalidInput(f"{name} must be {must}, got more.")
    return content


def _answer(column: "NumberColumn") -> dict[str, Any]:
    try:
        require_usable(column.values)
        fit = tail(column.values)
    except InvalidInput as problem:
        raise InvalidInput(f"column {column.name}: {problem}") from None
    return {
        "column": column.name,
        "columns": list(column.names),
        "kinds": dict(column.kinds),
        "used": fit.count,
        "left_out": column.left_out,
        "examples": [
            {"cell": one.cell, "line": one.line, "is_missing": one.is_missing}
            for one in column.examples
        ],
        "mean": fit.mean,
        "tail_index": to_plain(fit.index),
        "kind": fit.kind,
        "law": fit.law,
        "assumptions": list(column.assumptions),
        "notes": [*column.notes, *cap_notes(column.values)],
    }
