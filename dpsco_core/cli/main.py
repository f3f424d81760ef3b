"""The command line `dpsco`: its parser, and the commands without a module of their own."""

import argparse
import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from dpsco_core import __version__
from dpsco_core.base.errors import InvalidInput, NotApplicable, require
from dpsco_core.base.parsing import one_of, shorten
from dpsco_core.catalogue import bounds_for
from dpsco_core.cli.about import add_about
from dpsco_core.cli.audit import add_audit
from dpsco_core.cli.bounds import print_bounds
from dpsco_core.cli.budget import add_budget
from dpsco_core.cli.errata import add_errata
from dpsco_core.cli.experiment import add_experiment
from dpsco_core.cli.fano import add_fano
from dpsco_core.cli.matrix import add_matrix
from dpsco_core.cli.need import add_need
from dpsco_core.cli.page import add_page, make_page
from dpsco_core.cli.run import print_run
from dpsco_core.cli.streams import forget_output, open_streams, print_every_character
from dpsco_core.cli.study import add_export, add_study, add_workers, in_cell_order, worker_count
from dpsco_core.cli.tail import add_tail
from dpsco_core.cli.tools import (
    Parser,
    add_command,
    add_fields,
    given_fields,
    print_json,
    require_sound,
    table,
)
from dpsco_core.plugins import extend
from dpsco_core.results.intervals import run_json
from dpsco_core.results.report import bounds_json, catalogue_json
from dpsco_core.runs.cost import cost
from dpsco_core.runs.executors import run_study
from dpsco_core.runs.memory import require_memory
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

DESCRIPTION = (
    "Differentially private mean estimation and stochastic convex optimization on heavy-tailed "
    "data: run methods on synthetic data, evaluate their bounds, and audit their privacy."
)
ADD_COMMANDS = (
    add_about,
    add_audit,
    add_budget,
    add_errata,
    add_experiment,
    add_fano,
    add_matrix,
    add_need,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, or 2 on bad input."""
    open_streams()
    print_every_character()
    parser = _build_parser()
    chosen = parser.parse_args(arguments)
    try:
        extend.load_installed()
        for path in chosen.own:
            extend.load(path)
        if chosen.command == "app":
            return _app(chosen)
        if chosen.command == "page":
            return make_page(chosen)
        chosen.does(chosen)
        sys.stdout.flush()
    except (InvalidInput, NotApplicable) as problem:
        print(f"dpsco: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of the pipe has closed it
        forget_output()
    except OSError as problem:
        forget_output()
        print(f"dpsco: {_describe_system_error(problem)}", file=sys.stderr)
        return 2
    return 0


def _describe_system_error(problem: OSError) -> str:
    """Return what the system refused, with the name of the file if there is one."""
    reason = problem.strerror or " ".join(str(problem).split())
    if problem.filename is None:
        return f"The output cannot be written: {reason}."
    return f"{problem.filename} cannot be used: {reason}."


def _build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="dpsco", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"dpsco {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_command(commands, "catalogue", _catalogue, help="list methods, problems, data and bounds")
    words = "run methods on synthetic data, and print errors and bounds"
    run = add_command(commands, "run", _run, help=words)
    add_workers(run)
    add_fields(run)
    bounds = add_command(commands, "bounds", _bounds, help="print every bound at a setting")
    bounds.add_argument(
        "--bound",
        dest="bounds",
        metavar="SLUG",
        action="append",
        help="a bound to print, in place of every one; repeatable",
    )
    add_fields(bounds)
    for add in (*ADD_COMMANDS, add_tail, add_study, add_page, add_export):
        add(commands)
    app = commands.add_parser("app", help="open the dashboard")
    app.add_argument("--port", help="port to listen on")
    app.add_argument("--study", metavar="FILE", help="results that every visitor can open")
    for command in commands.choices.values():
        command.add_argument(
            "--with",
            dest="own",
            metavar="FILE",
            action="append",
            default=[],
            help="Python file with methods, bounds or distributions of your own; repeatable",
        )
    return parser


def _scenario(chosen: argparse.Namespace, *, sampling: bool) -> Scenario:
    return Scenario.from_dict(given_fields(chosen)).validate(sampling=sampling)


def _catalogue(chosen: argparse.Namespace) -> None:
    catalogue = catalogue_json()
    if chosen.json:
        print_json(catalogue)
        return
    for title, rows in catalogue.items():
        print(f"{title.capitalize()}\n")
        extra = ["privacy", "constant", "laws", "loss_class"]
        columns = ["slug", "name", *(c for c in extra if c in rows[0]), "paper", "statement"]
        header = ["losses" if c == "loss_class" else c for c in columns]
        print(table([[str(row[c]) for c in columns] for row in rows], header) + "\n")


def _run(chosen: argparse.Namespace) -> None:
    scenario = _scenario(chosen, sampling=True)
    workers = worker_count(scenario, chosen.workers)
    require_memory(scenario, listed=True)
    outcomes = in_cell_order(scenario, _with_progress(scenario, workers))
    if chosen.json:
        print_json(run_json(scenario, outcomes))
    else:
        print_run(scenario, outcomes)
    require_sound(scenario, outcomes)


def _bounds(chosen: argparse.Namespace) -> None:
    scenario = _scenario(chosen, sampling=False)
    slugs = [b.card.slug for b in bounds_for(scenario.problem, scenario.level)]
    for slug in chosen.bounds or ():
        one_of("bound", slug, slugs)
    if chosen.json:
        print_json(bounds_json(scenario, chosen.bounds))
    else:
        print_bounds(scenario, chosen.bounds)
    require_sound(scenario, slugs=chosen.bounds)


def _with_progress(scenario: Scenario, workers: int) -> Iterator[Outcome]:
    """Yield the outcomes, with a bar on standard error if that is a terminal."""
    is_terminal = sys.stderr.isatty()
    expected = cost(scenario).seconds / workers if is_terminal else 0.0
    started = last_print = time.monotonic()
    for count, outcome in enumerate(run_study(scenario, workers), start=1):
        yield outcome
        moment = time.monotonic()
        if is_terminal and (moment - last_print > 0.1 or count == scenario.cells):
            last_print = moment
            share = count / scenario.cells
            rest = (moment - started) * (1 / share - 1) if share > 0.05 else expected
            bar = "#" * round(30 * share)
            line = f"\r[{bar:<30}] {count} of {scenario.cells} cells, about {rest:.0f} s left "
            print(line, end="", file=sys.stderr, flush=True)
    if is_terminal:
        print("\r" + " " * 79 + "\r", end="", file=sys.stderr, flush=True)


def _app(chosen: argparse.Namespace) -> int:
    port: str | None = chosen.port
    command = [sys.executable, "-m", "dpsco_app", *(f"--with={path}" for path in chosen.own)]
    if chosen.study is not None:
        command.append(f"--study={chosen.study}")
    if port is not None:
        is_valid = (
            port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535
        )
        require(is_valid, "port", "an integer between 1 and 65,535", shorten(port))
        command += ["--server.port", port]
    if importlib.util.find_spec("streamlit") is None:
        install = "pip install 'dpsco-explorer[app]'"
        print(f"dpsco: The dashboard needs the extra 'app': {install}.", file=sys.stderr)
        return 2
    try:
        return subprocess.run(command, check=False).returncode
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
