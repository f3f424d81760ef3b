"""What the commands of `dpsco` share: flags of a scenario, tables, JSON."""

import argparse
import io
import json
import math
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NoReturn

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import shorten
from dpsco_core.base.seeds import COST, FRESH, fresh_seed
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.scenario import Scenario

HELP = {
    "problem": "slug of the problem",
    "distribution": "slug of the distribution",
    "n": "number of records, or of users",
    "d": "dimension",
    "m": "items per user (1 at item level)",
    "epsilon": "privacy budget epsilon",
    "delta": "privacy budget delta; 0 is pure DP",
    "rho": "zCDP budget, instead of epsilon and delta",
    "p": "tail index: the order of the moment that is bounded by 1, at least 2",
    "margin": "the sampling law's own tail index is p + margin",
    "geometry": "constraint set and norm: " + ", ".join(GEOMETRIES),
    "q": "exponent of the norm for the geometry lq, at least 1; inf is allowed",
    "diameter": "diameter of the constraint set, or of the set that holds the mean, in its norm",
    "offset": "norm in the geometry of the true mean, or of the true parameter",
    "axis": "what to sweep: n, d, m, epsilon, p, diameter, or q with the geometry lq",
    "grid": "values on the axis, separated by commas",
    "trials": "repetitions",
    "seed": f"the one seed, or {FRESH} for one from the operating system, which is printed; {COST}",
    "calibration": "tight (least proven noise) or paper (as printed)",
    "tuning": "practical or theory (the theorem's parameters)",
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, and exits with status 2."""

    def error(self, message: str) -> NoReturn:
        line = " ".join(message.split()).rstrip(".")
        self.exit(2, f"{self.prog}: {line[0].upper()}{line[1:]}.\n")


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], object], **words: str
) -> argparse.ArgumentParser:
    """Add a command with the flag --json: `run` takes what was chosen; see argparse for `words`."""
    parser: argparse.ArgumentParser = commands.add_parser(name, allow_abbrev=False, **words)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(does=run)
    return parser


def read_number(name: str, text: str) -> float:
    """Return the number of a flag; raises `InvalidInput`."""
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"{name} must be a number, got {name}={shorten(text)}.") from None


def read_whole(name: str, value: float) -> int:
    """Return the number of a flag as an integer; raises `InvalidInput`."""
    if not (math.isfinite(value) and value == int(value)):
        raise InvalidInput(f"{name} must be an integer, got {name}={value}.")
    return int(value)


def add_fields(command: argparse.ArgumentParser, *, defaults: bool = True) -> None:
    """Add one flag a field of `Scenario`; all are read by the scenario itself.

    `defaults`: whether their help says those of the default scenario.
    """
    default = Scenario()
    for field in fields(Scenario):
        if field.name == "methods":
            command.add_argument(
                "--method", action="append", metavar="SLUG", help="slug of a method; repeatable"
            )
            continue
        value = getattr(default, field.name)
        known = defaults and value not in (None, ())
        shown = f" (default {value})" if known else ""
        names = ["--p", "--tail"] if field.name == "p" else [f"--{field.name}"]
        command.add_argument(
            *names, dest=field.name, metavar="VALUE", help=HELP[field.name] + shown
        )


def print_every_character() -> None:
    """Escape what standard output's encoding lacks: in Latin-1 an en dash becomes ``\\u2013``.

    Python does so for standard error, and otherwise ends with `UnicodeEncodeError`.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def print_json(value: object) -> None:
    """Print `value` as JSON; a number that is not finite is a mistake."""
    print(json.dumps(value, indent=2, allow_nan=False))


def number(value: Any) -> str:
    """Return a number as text; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.0f}"


def table(rows: list[list[str]], header: list[str]) -> str:
    """Return `rows` as text in columns; columns that are empty everywhere are left out."""
    keep = [i for i in range(len(header)) if any(row[i] for row in rows)]
    lines = [[header[i] for i in keep]] + [[row[i] for i in keep] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(keep))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def given_fields(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a scenario that the command line gives, as text."""
    given = vars(chosen) | {"methods": chosen.method or None}
    names = [field.name for field in fields(Scenario)]
    return with_seed({name: given[name] for name in names if given[name] is not None})


def with_seed(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with a number for the seed, which is said if it is a fresh one."""
    if values.get("seed") != FRESH:
        return values
    seed = fresh_seed()
    print(f"dpsco: the seed is {seed}.", file=sys.stderr)
    return values | {"seed": seed}
