"""The command `dpsco referee`: it takes a claim and tries to break it."""

import argparse
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of, real, shorten
from dpsco_core.catalogue import method_card
from dpsco_core.cli.streams import require_writable, whole_file
from dpsco_core.cli.tools import (
    add_command,
    add_fields,
    add_refuted_flag,
    format_table,
    given_fields,
    number,
    print_json,
    print_text,
    read_number,
    refuted_status,
)
from dpsco_core.plugins import extend
from dpsco_core.referee.claims import (
    GUARANTEES,
    Submission,
    bound_of_formula,
    submission_of_files,
)
from dpsco_core.referee.page import html_page
from dpsco_core.referee.places import base_place
from dpsco_core.referee.report import Check, Report, reports_dict
from dpsco_core.referee.run import SECONDS, referee
from dpsco_core.scenario import Scenario

KINDS = ("upper", "lower")
MOST_SECONDS = 86_400.0
# A writer writes the reports to a path and returns the exit status.
Writer = Callable[[str, Sequence[Report]], int]


def add_referee(commands: Any) -> None:
    """Add the command `referee` to the parser."""
    parser = add_command(
        commands,
        "referee",
        run_referee,
        description="FILE is Python with METHODS, BOUNDS or CLAIMS; or --method and --claim name a "
        "method of the catalogue and a formula for its error. Flags of a scenario set what the "
        "tried settings vary from. A claim is refuted, contradicted or not; never confirmed.",
    )
    parser.add_argument("files", metavar="FILE", nargs="*", help="Python file with what is claimed")
    parser.add_argument("--claim", metavar="FORMULA", help="what the error is said to be at most")
    parser.add_argument(
        "--if",
        dest="conditions",
        metavar="CONDITION",
        action="append",
        default=[],
        help="hypothesis of the formula, such as 'n >= 100*d'; repeatable",
    )
    parser.add_argument("--rate", action="store_true", help="the formula hides constants")
    parser.add_argument(
        "--kind", metavar="NAME", default="upper", help="upper or lower (default %(default)s)"
    )
    parser.add_argument(
        "--guarantee",
        metavar="WORDS",
        default=GUARANTEES[0],
        help=f"{', '.join(GUARANTEES)} (default %(default)s)",
    )
    parser.add_argument(
        "--seconds",
        metavar="VALUE",
        default=f"{SECONDS:g}",
        help="the time for all checks together (default %(default)s)",
    )
    parser.add_argument("--html", metavar="FILE", help="write the report as one page, too")
    endings = ", ".join(WRITERS)
    parser.add_argument("--out", metavar="FILE", help=f"write the report, too: {endings}")
    add_refuted_flag(parser)
    add_fields(parser, defaults=False)


def run_referee(chosen: argparse.Namespace) -> int:
    """Check claims, print and write the reports, and return the exit status.

    Raises `InvalidInput` for bad flags.
    """
    files = _output_files(chosen)
    if any(path.endswith(".pdf") for path in files) and not _has_figures():
        install = "pip install 'dpsco-explorer[app]'"
        print(f"dpsco: A PDF needs the extra 'app': {install}.", file=sys.stderr)
        return 2
    seconds = read_number("seconds", chosen.seconds)
    real("seconds", seconds, 0.0, MOST_SECONDS)
    fields = given_fields(chosen)
    methods = fields.pop("methods", [])
    submission, start = _read_submission(chosen, methods, fields)
    reports = referee(submission, start, seconds=seconds, seed=start.seed, progress=_show_progress)
    _show_progress("")
    statuses = {path: write(path, reports) for path, write in files.items()}
    if chosen.json:
        print_json(reports_dict(reports))
    else:
        for place, report in enumerate(reports):
            if place:
                print()
            _print_report(report)
        written = [path for path, status in statuses.items() if status == 0]
        if written:
            print_text(f"Written: {', '.join(written)}.")
    is_refuted = any(report.verdict == "refuted" for report in reports)
    return max(statuses.values(), default=0) or refuted_status(chosen, is_refuted)


def _output_files(chosen: argparse.Namespace) -> dict[str, Writer]:
    """Return the output files with their writers, after checking that they are writable."""
    files: dict[str, Writer] = {}
    if chosen.out is not None:
        ending = Path(chosen.out).suffix
        must = f"a file that ends in {', '.join(WRITERS)}"
        require(ending in WRITERS, "out", must, shorten(chosen.out))
        files[chosen.out] = WRITERS[ending]
    if chosen.html is not None:
        files[chosen.html] = _write_html
    for path in files:
        require_writable(path)
    return files


def _has_figures() -> bool:
    """Whether matplotlib, which draws the figures of a PDF, is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def _write_html(path: str, reports: Sequence[Report]) -> int:
    """Write the reports as a page of HTML; return the exit status."""
    return _write_text(path, html_page(reports))


def _write_json(path: str, reports: Sequence[Report]) -> int:
    """Write the reports as JSON; return the exit status."""
    return _write_text(path, f"{json.dumps(reports_dict(reports), indent=2, allow_nan=False)}\n")


def _write_text(path: str, text: str) -> int:
    """Write a text to a file as a whole, and return exit status 0."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
    return 0


def _write_pdf(path: str, reports: Sequence[Report]) -> int:
    """Write the reports as a PDF, in a process that runs the dashboard's code; return its status.

    The reports go through its standard input, since they may be longer than an argument can be.
    """
    command = [sys.executable, "-m", "dpsco_app.pages.check.paper", path]
    text = json.dumps(reports_dict(reports), allow_nan=False)
    return subprocess.run(command, input=text, text=True, encoding="utf-8", check=False).returncode


WRITERS: dict[str, Writer] = {".html": _write_html, ".pdf": _write_pdf, ".json": _write_json}


def _read_submission(
    chosen: argparse.Namespace, methods: Sequence[str], fields: dict[str, Any]
) -> tuple[Submission, Scenario]:
    """Return the claims to check, and the scenario from which their settings derive."""
    start = Scenario.from_dict(fields | {"methods": []})
    require(start.axis is None, "axis", "left out for a referee", start.axis)
    if chosen.claim is None and methods and not chosen.files:
        require(len(methods) == 1, "method", "a single one", shorten(", ".join(methods)))
        base_place(methods[0], start)
        return Submission(methods=(methods[0],), bounds=(), inequalities=()), start
    if chosen.claim is None:
        require(bool(chosen.files), "file", "given, or --method and --claim", "none")
        require(not methods, "method", "left out beside a file", shorten(", ".join(methods)))
        files = extend.load(*chosen.files)
        pairs = [(file, extend.addition_of(file)) for file in dict.fromkeys(files)]
        return submission_of_files(pairs), start
    require(not chosen.files, "file", "left out beside --claim", shorten(", ".join(chosen.files)))
    require(len(methods) == 1, "method", "a single one beside --claim", len(methods))
    one_of("kind", chosen.kind, KINDS)
    one_of("guarantee", chosen.guarantee, GUARANTEES)
    base = base_place(methods[0], start)
    bound = bound_of_formula(
        chosen.claim,
        methods[0],
        base.problem,
        conditions=chosen.conditions,
        constant="rate" if chosen.rate else "explicit",
        guarantee=chosen.guarantee,
        kind=chosen.kind,
    )
    private = () if method_card(methods[0]).privacy == "none" else (methods[0],)
    return Submission(methods=private, bounds=(bound,), inequalities=()), start


def _show_progress(words: str) -> None:
    """Show the present step of the referee, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{words[:79]:79}\r", end="", file=sys.stderr, flush=True)


def _print_report(report: Report) -> None:
    """Print a report: verdict, claim, hypotheses and checks."""
    print_text(f"{report.title}: {report.verdict}")
    print_text(f"Claim: {report.claim}")
    if report.hypotheses:
        print_text(f"If: {'; '.join(report.hypotheses)}")
    for check in report.checks:
        _print_check(check)
    print_text(f"Seed {report.seed}, {report.seconds:g} seconds. No check proves a claim.")


def _print_check(check: Check) -> None:
    """Print a check: its verdict, its sentence and its table."""
    print(f"\n{check.name}: {check.verdict}")
    print_text(check.sentence, indent="  ")
    if check.rows:
        lines = [[v if isinstance(v, str) else number(v) for v in row] for row in check.rows]
        for line in format_table(lines, list(check.columns)).splitlines():
            print(line)
    if check.command:
        print(f"  {check.command}")
