"""Tools that the commands of `dpsco` share: flags of a scenario, tables, JSON."""

import argparse
import json
import math
import shlex
import sys
import textwrap
from collections.abc import Callable, Collection, Sequence
from itertools import zip_longest
from typing import Any

from dpsco_core.base.errors import CodeFailed, InvalidInput, require
from dpsco_core.base.limits import LIBRARY
from dpsco_core.base.parsing import read_text
from dpsco_core.base.seeds import FRESH, fresh_seed
from dpsco_core.catalogue import PROBLEM_SLUGS, bounds_for
from dpsco_core.fields import NAMES, TABLE
from dpsco_core.plugins.guards import AddedBound
from dpsco_core.results.commands import has_record_unit
from dpsco_core.results.report import evaluate_all
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

HARDEST = "hardest"  # This value of --distribution asks for the hardest data known.
WIDTH = 96  # Prose is wrapped to this width.
MOST_COLUMNS = 100  # Tables are at most this wide.
CONTINUED = " \\"  # This ends a line of a command that goes on below.


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], object], **words: str
) -> argparse.ArgumentParser:
    """Add a command with the flag --json to the parser, and return the command's own parser.

    `run` is called with the parsed arguments; `words` are texts of its help.
    """
    parser: argparse.ArgumentParser = commands.add_parser(name, allow_abbrev=False, **words)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(does=run)
    return parser


def add_refuted_flag(parser: argparse.ArgumentParser) -> None:
    """Add the flag by which a script learns from the exit status that a claim is refuted."""
    parser.add_argument(
        "--fail-if-refuted",
        dest="fails_if_refuted",
        action="store_true",
        help="exit with status 1 if a claim is refuted",
    )


def refuted_status(chosen: argparse.Namespace, is_refuted: bool) -> int:
    """Return exit status 1 if a claim is refuted and `--fail-if-refuted` is given, otherwise 0."""
    return int(chosen.fails_if_refuted and is_refuted)


def require_sound(
    scenario: Scenario, outcomes: Sequence[Outcome] = (), slugs: Sequence[str] | None = None
) -> None:
    """Raise `CodeFailed` if plugin code failed in a run or in a bound at its scenario.

    Commands call it last, when everything else is printed. With `slugs`, only these bounds are
    checked.
    """
    failures = [o.not_applicable for o in outcomes if o.failed and o.not_applicable]
    plugin_slugs = [
        b.card.slug
        for b in bounds_for(scenario.problem, scenario.level)
        if isinstance(b, AddedBound) and (slugs is None or b.card.slug in slugs)
    ]
    failures += [e.failed for e in evaluate_all(scenario, plugin_slugs) if e.failed]
    if failures:
        raise CodeFailed(" ".join(dict.fromkeys(failures)))


def read_number(name: str, text: str) -> float:
    """Return the number that the text of the flag `name` stands for; `InvalidInput` if none."""
    return float(read_text(name, text))


def read_whole(name: str, value: float) -> int:
    """Return the value of the flag `name` as an integer; raise `InvalidInput` if it is none."""
    if not (math.isfinite(value) and value == int(value)):
        raise InvalidInput(f"{name} must be an integer, got {name}={value}.")
    return int(value)


def add_fields(
    command: argparse.ArgumentParser,
    *,
    defaults: bool = True,
    methods: bool = True,
    lists: Collection[str] = (),
) -> None:
    """Add one flag per field of `Scenario`, which parses and checks the values itself.

    `defaults` says whether the help names the default values; without `methods` there is no flag
    for them. The fields of `lists` take several values, as a list of texts.
    """
    for name, spec in TABLE.items():
        if spec.kind == "slugs":
            if not methods:
                command.set_defaults(methods=None)
                continue
            command.add_argument(
                "--method", action="append", metavar="SLUG", help="slug of a method; repeatable"
            )
            continue
        value = getattr(Scenario, name)
        default_text = f" (default {value})" if defaults and value not in (None, ()) else ""
        meaning = spec.flag_meaning or spec.description.replace("`", "")
        flags = (f"--{name}", *spec.flags)
        help_text = meaning + "; several values make a table" * (name in lists) + default_text
        nargs = "+" if name in lists else None
        command.add_argument(*flags, dest=name, metavar="VALUE", nargs=nargs, help=help_text)


def add_lengths(command: argparse.ArgumentParser) -> None:
    """Add the flags that state a scenario's diameter as `dpsco release` does."""
    words = (
        "as in `dpsco release`: the distance from a public guess within which the mean lies, or "
        "the length of the parameter, in the unit of your data; sets --diameter to 2 * bound / unit"
    )
    command.add_argument("--bound", dest="stated_bound", metavar="VALUE", help=words)
    words = (
        "as in `dpsco release`: a bound on the p-th root of a column's p-th central moment, in the "
        "unit of your data (default 1); results stay in multiples of it"
    )
    command.add_argument("--unit", dest="stated_unit", metavar="VALUE", help=words)


def stated_unit(chosen: argparse.Namespace) -> float | None:
    """Return the unit beside a scenario, None if none is given; raise `InvalidInput` if bad."""
    text = getattr(chosen, "stated_unit", None)
    unit = None if text is None else read_number("unit", text)
    require(unit is None or 0 < unit < math.inf, "unit", "a finite number above 0", unit)
    return unit


def _diameter_fields(chosen: argparse.Namespace, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the diameter, and an offset that fits it, of the bound that is given, if any."""
    unit, text = stated_unit(chosen), getattr(chosen, "stated_bound", None)
    problem = fields.get("problem", Scenario.problem)
    if unit is not None and problem in PROBLEM_SLUGS and not has_record_unit(problem):
        raise InvalidInput(
            f"unit must be left out for the problem {problem}, whose answer is not in the unit of "
            f"the records, got unit={unit:g}."
        )
    if text is None:
        return {}
    bound = read_number("bound", text)
    radius = bound / (unit or 1.0)
    span = TABLE["diameter"].span("diameter", None, LIBRARY)
    assert span is not None
    low, high = span[0] / 2, span[1] / 2
    require("diameter" not in fields, "bound", "left out beside diameter", bound)
    must = f"at least {low:g} and at most {high:g} times the unit"
    require(low <= radius <= high, "bound", must, bound)
    has_room = radius >= Scenario.offset or "offset" in fields
    return {"diameter": 2 * radius} | ({} if has_room else {"offset": radius})


def print_json(value: object) -> None:
    """Print `value` as JSON; numbers that are not finite raise an error."""
    print(json.dumps(value, indent=2, allow_nan=False))


def number(value: Any) -> str:
    """Return a number as text, or a dash if there is none.

    Examples
    --------
    >>> number(0.012345), number(1234.5), number(9999.7), number(16_000.0), number(None)
    ('0.01235', '1234', '10,000', '16,000', '-')
    """
    if value is None or not math.isfinite(value):
        return "-"
    # From five digits on, the format g would print a power of ten.
    return f"{value:.4g}" if abs(value) < 9999.5 else f"{value:,.0f}"


def format_table(rows: list[list[str]], header: list[str]) -> str:
    """Return `rows` as text in columns, without the columns that are empty everywhere.

    Where a line would be longer than `MOST_COLUMNS`, the cells of the widest columns go on below.
    """
    columns = [i for i in range(len(header)) if any(row[i] for row in rows)]
    lines = [[header[i] for i in columns]] + [[row[i] for i in columns] for row in rows]
    widths = _narrow_columns([[line[i] for line in lines] for i in range(len(columns))])
    text = []
    for line in lines:
        parts = [_wrap_cell(cell, width) for cell, width in zip(line, widths, strict=True)]
        for row in zip_longest(*parts, fillvalue=""):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def _narrow_columns(columns: list[list[str]]) -> list[int]:
    """Return widths of a table's columns that fit into a line, as far as the longest words allow.

    The first column, which has names, is narrowed only when no other column can be.
    """
    widths = [max(map(len, cells)) for cells in columns]
    words = [[len(word) for cell in cells for word in cell.split()] for cells in columns]
    floors = [max(lengths, default=0) for lengths in words]
    while sum(widths) + 2 * (len(widths) - 1) > MOST_COLUMNS:
        loose = [i for i, width in enumerate(widths) if width > floors[i]]
        if not loose:
            break
        widths[max(loose, key=lambda i: (i > 0, widths[i]))] -= 1
    return widths


def _wrap_cell(cell: str, width: int) -> list[str]:
    """Return the lines of a cell in a column of this width, at least one."""
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False) or [""]


def wipe_progress() -> None:
    """Wipe the line of progress on standard error, if that is a terminal."""
    if sys.stderr.isatty():
        print("\r" + " " * 79 + "\r", end="", file=sys.stderr, flush=True)


def print_note(text: str) -> None:
    """Print a note below a table, wrapped to the width of prose."""
    print_text(f"note: {text}")


def print_text(text: str, *, indent: str = "") -> None:
    """Print a paragraph, wrapped to the width of prose."""
    print(
        textwrap.fill(
            text,
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def print_command(words: Sequence[str]) -> None:
    """Print a command for a shell, over several lines where it is long."""
    lines = [""]
    for word in map(shlex.quote, words):
        longer = f"{lines[-1]} {word}"
        if len(longer) > WIDTH - len(CONTINUED) and lines[-1]:
            lines.append(f"   {word}")
        else:
            lines[-1] = longer
    print(f"{CONTINUED}\n ".join(line if i else f" {line}" for i, line in enumerate(lines)))


def given_fields(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a scenario that are given on the command line, as text.

    The distribution ``hardest`` becomes the hardest data known at the other fields; raises
    `InvalidInput` if there are none.
    """
    flags = vars(chosen) | {"methods": chosen.method or None}
    fields = with_seed({name: flags[name] for name in NAMES if flags[name] is not None})
    fields |= _diameter_fields(chosen, fields)
    if fields.get("distribution") == HARDEST:
        del fields["distribution"]
        fields["distribution"] = _hardest_distribution(Scenario.from_dict(fields))
    return fields


def _hardest_distribution(scenario: Scenario) -> str:
    """Return the slug of the hardest data known for a scenario, and print it."""
    # The bounds of the catalogue are loaded only if they are needed.
    from dpsco_core.explain.hardest import hardest_bound_on_problem

    bound = hardest_bound_on_problem(scenario)
    if bound is None:
        raise InvalidInput(
            "distribution must be a slug of the catalogue where no hardest data are known, "
            f"got distribution={HARDEST}."
        )
    card = bound.card
    print(f"dpsco: the hardest data known are {card.instance} ({card.slug}).", file=sys.stderr)
    return card.instance


def scenario_from_flags(chosen: argparse.Namespace, *, sampling: bool) -> Scenario:
    """Return the scenario that the flags describe; raises `InvalidInput`.

    `sampling` says whether its data are to be drawn, which limits their size.
    """
    return Scenario.from_dict(given_fields(chosen)).validate(sampling=sampling)


def with_seed(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with the seed "fresh" replaced by a new one, which is printed."""
    if values.get("seed") != FRESH:
        return values
    seed = fresh_seed()
    print(f"dpsco: the seed is {seed}.", file=sys.stderr)
    return values | {"seed": seed}
