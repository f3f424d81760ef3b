"""The command `dpsco tail`: the tail index of the user's own numbers, in one or more columns."""

import argparse
import math
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import to_plain
from dpsco_core.catalogue import default_methods, method_card
from dpsco_core.cli.tools import add_command, print_command, print_json, print_text
from dpsco_core.explain.columns.decode import LARGEST_BYTES, LARGEST_MEGABYTES
from dpsco_core.explain.columns.digits import to_digits
from dpsco_core.explain.methods.guarantees import differing_guarantees
from dpsco_core.explain.tails import (
    Tail,
    central_moment,
    heaviest,
    interval_in_words,
    kind_in_words,
    tails,
)
from dpsco_core.fields import TABLE
from dpsco_core.results.commands import column_words
from dpsco_core.scenario import Scenario

if TYPE_CHECKING:
    from dpsco_core.explain.columns.records import NumberRecords

STDIN = "-"

NOT_PRIVATE = (
    "warning: these numbers are exact, and what is chosen after a look at them is not private"
)


def add_tail(commands: Any) -> None:
    """Add the command `tail` to the parser."""
    parser = add_command(commands, "tail", run_tail)
    parser.add_argument("file", metavar="FILE", help=f"CSV file; {STDIN} is standard input")
    parser.add_argument(
        "--column",
        metavar="NAME",
        action="append",
        help="the column, by its name; given again, the numbers of a row are one record",
    )


def run_tail(chosen: argparse.Namespace) -> None:
    """Print the summary that the page shows for a file; raise `InvalidInput` for bad input."""
    # The reader needs pandas, which would slow down every other command.
    from dpsco_core.explain.columns.records import read_records

    records = read_records(read_content(chosen.file), chosen.column)
    answer = _tail_summary(records)
    if chosen.json:
        print_json(answer)
    else:
        for line in (*_describe_records(records, answer), NOT_PRIVATE):
            print_text(line)
        _print_commands(records, chosen.file)


def _describe_records(records: "NumberRecords", answer: dict[str, Any]) -> list[str]:
    """Return the lines to print on each column's mean and tail index, and the notes."""
    from dpsco_core.explain.columns.records import names_in_words, rows_in_words

    blurs = [central_moment(values, 2) / math.sqrt(records.count) for values in records.values.T]
    notes = [f"note: {note}" for note in answer["notes"]]
    if records.is_single:
        summary = f"{answer['column']}: {records.count:,} numbers, mean"
        return [f"{summary} {to_digits(answer['mean'], blurs[0])}", _describe_tail(answer), *notes]
    rows = rows_in_words(records.count, records.left_out, records.examples)
    return [
        f"{names_in_words(records.chosen)}: {rows}",
        *(
            f"{column['column']}: mean {to_digits(column['mean'], blur)}; {_describe_tail(column)}"
            for column, blur in zip(answer["by_column"], blurs, strict=True)
        ),
        f"a record has the heaviest tail of its columns, {answer['heaviest']}: "
        + _describe_tail(answer),
        *(note for note in notes if rows not in note),
    ]


def _describe_tail(answer: dict[str, Any]) -> str:
    """Return the line on a column's tail index and its interval."""
    index = float(answer["tail_index"])  # Infinity is text in JSON.
    low, high = map(float, answer["tail_interval"])
    kind = kind_in_words(answer["kind"], can_be_either=answer["can_be_either"])
    interval = interval_in_words(low, high)
    return f"tail index {index:.2g}, 95 % interval {interval} ({kind}); law {answer['law']}"


def _print_commands(records: "NumberRecords", file: str) -> None:
    """Print the run on the matching scenario, and the release of the file's columns."""
    from dpsco_core.explain.columns.own_records import fitted, mean_radius, suggested_public
    from dpsco_core.results.release.statements import MEAN_METHOD

    fits = tails(records.values, records.chosen)
    point = fitted(
        fits,
        Scenario(),
        orders=TABLE["p"].offered,
        margins=TABLE["margin"].offered,
        count=records.count,
    )
    publics = [
        suggested_public(fit, central_moment(values, point.p))
        for fit, values in zip(fits, records.values.T, strict=True)
    ]
    # Stated even where they are the defaults: law, tail index and size are the answer of `tail`.
    run = ["dpsco", "run", "--distribution", point.distribution, "--p", f"{point.p:g}"]
    run += ["--n", str(point.n), "--d", str(point.d)]
    if point.margin != Scenario.margin:
        run += ["--margin", f"{point.margin:g}"]
    if records.is_single:
        [public] = publics
        run += [f"--bound={public.within:.10g}", f"--unit={public.unit:.10g}"]
    else:
        run += ["--diameter", f"{2 * mean_radius(publics):.6g}"]
    stated = {
        "bound": [public.within for public in publics],
        "unit": [public.unit for public in publics],
        "centre": [public.guess for public in publics],
    }
    print_text("next: which method is best on synthetic data like these")
    print_command(run)
    setting = replace(point, diameter=2 * mean_radius(publics), axis=None, grid=())
    methods = [m for m in default_methods("mean") if method_card(m).privacy != "none"]
    if words := differing_guarantees(setting, list(dict.fromkeys([MEAN_METHOD, *methods]))):
        print_text(f"in multiples of the unit. {words}")
    print_text(
        "and a private mean of this file, with the --method that wins there. Its bound, unit and "
        "centre are read from the file, rounded, so that this answer is not private: put numbers "
        "from public knowledge in their place, in the unit of the column."
    )
    release = column_words(file, records.chosen, stated)
    print_command([*release, "--p", f"{point.p:g}"])


def read_content(file: str) -> bytes:
    """Return the content of a file or of standard input; raise `InvalidInput` on failure."""
    name = "standard input" if file == STDIN else file
    limit = LARGEST_BYTES + 1  # A device may never end.
    try:
        if file == STDIN:
            content = sys.stdin.buffer.read(limit)
        else:
            with open(file, "rb") as stream:
                content = stream.read(limit)
    except OSError as problem:
        raise InvalidInput(f"{name} cannot be read: {problem.strerror}.") from None
    if len(content) == limit:
        condition = f"at most {LARGEST_BYTES:,} bytes ({LARGEST_MEGABYTES} MB)"
        raise InvalidInput(f"{name} must be {condition}, got more.")
    return content


def _tail_summary(records: "NumberRecords") -> dict[str, Any]:
    """Return the summary of the tails as JSON values, for one column or records of several."""
    try:
        fits = tails(records.values, records.chosen)
    except InvalidInput as problem:
        if not records.is_single:
            raise
        raise InvalidInput(f"column {records.chosen[0]}: {problem}") from None
    lead = heaviest(fits)
    means = [fit.mean for fit in fits]
    answer = {
        "column": records.chosen[0] if records.is_single else list(records.chosen),
        "columns": list(records.names),
        "kinds": dict(records.kinds),
        "used": records.count,
        "left_out": records.left_out,
        "examples": [
            {"cell": unused.cell, "line": unused.line, "is_missing": unused.is_missing}
            | ({} if records.is_single else {"column": unused.column})
            for unused in records.examples
        ],
        "mean": means[0] if records.is_single else means,
        **_tail_values(fits[lead]),
        "assumptions": list(records.assumptions),
        "notes": [*records.notes, *records.cap_notes],
    }
    if records.is_single:
        return answer
    columns = zip(records.chosen, fits, records.lacking, strict=True)
    return answer | {
        "heaviest": records.chosen[lead],
        "by_column": [
            {"column": name, "lacking": lacking, "mean": fit.mean, **_tail_values(fit)}
            for name, fit, lacking in columns
        ],
    }


def _tail_values(fit: Tail) -> dict[str, Any]:
    """Return the fit of a tail as JSON values."""
    return {
        "tail_index": to_plain(fit.index),
        "tail_interval": [to_plain(end) for end in fit.interval],
        "kind": fit.kind,
        "can_be_either": fit.can_be_either,
        "law": fit.law,
    }
