"""The command line `dpsco`: its parser, and the commands that have no module of their own."""

import argparse
import importlib.util
import math
import subprocess
import sys
import textwrap
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from dpsco_core import __version__, extend
from dpsco_core.base.errors import InvalidInput, NotApplicable, require
from dpsco_core.base.parsing import one_of, shorten
from dpsco_core.catalogue import bounds_for, method_card, problem_card
from dpsco_core.cli.about import WIDTH, add_about
from dpsco_core.cli.audit import add_audit
from dpsco_core.cli.budget import add_budget
from dpsco_core.cli.errata import add_errata
from dpsco_core.cli.experiment import add_experiment
from dpsco_core.cli.fano import add_fano
from dpsco_core.cli.need import add_need
from dpsco_core.cli.page import add_page, make_page
from dpsco_core.cli.streams import forget_output, open_streams, print_every_character
from dpsco_core.cli.study import add_export, add_study, add_workers, asked_workers, in_cell_order
from dpsco_core.cli.tail import add_tail
from dpsco_core.cli.tools import (
    Parser,
    add_command,
    add_fields,
    given_fields,
    number,
    print_json,
    require_sound,
    table,
)
from dpsco_core.explain.floors import no_floor
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.results.intervals import intervals, run_json
from dpsco_core.results.report import bounds_json, catalogue_json, evaluate_all
from dpsco_core.results.slopes import slopes
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.cost import cost
from dpsco_core.runs.executors import run_study
from dpsco_core.runs.memory import require_memory
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

DESCRIPTION = (
    "Differentially private mean estimation and stochastic convex optimization on heavy-tailed "
    "data: run methods on synthetic data, evaluate their bounds, and audit their privacy."
)
RUN_COLUMNS = ("bound", "value", "binds", "of")
WORST_CASE = (
    "note: a lower bound other than a floor holds for the hardest data of its class, and does not\n"
    "bind these data: a measured error may be below it. `dpsco bounds` prints classes and papers."
)
PRICE = "price of privacy"
FURTHER = (add_about, add_audit, add_budget, add_errata, add_experiment, add_fano, add_need)


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
    except BrokenPipeError:  # the reader of a pipe has had enough
        forget_output()
    except OSError as problem:
        forget_output()
        print(f"dpsco: {_sentence(problem)}", file=sys.stderr)
        return 2
    return 0


def _sentence(problem: OSError) -> str:
    """Return what the system refused; what is printed has no name of a file."""
    why = problem.strerror or " ".join(str(problem).split())
    if problem.filename is None:
        return f"The output cannot be written: {why}."
    return f"{problem.filename} cannot be used: {why}."


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
    for add in (*FURTHER, add_tail, add_study, add_page, add_export):
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
    workers = asked_workers(scenario, chosen.workers)
    require_memory(scenario, listed=True)
    outcomes = in_cell_order(scenario, _with_progress(scenario, workers))
    if chosen.json:
        print_json(run_json(scenario, outcomes))
    else:
        _print_run(scenario, outcomes)
    require_sound(scenario, outcomes)


def _print_run(scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
    cells = frame(outcomes)
    trials = "1 trial" if scenario.trials == 1 else f"{scenario.trials} trials"
    budget = "epsilon below" if scenario.axis == "epsilon" else scenario.budget
    name = problem_card(scenario.problem).name
    what = "l2 error of the mean" if scenario.problem == "mean" else f"Excess risk: {name}"
    kind = Geometry(kind=scenario.geometry, q=scenario.q)
    shape = "lq" if scenario.axis == "q" else str(kind)
    place = "" if scenario.geometry == "l2" else f" on the set {shape}"
    whom = "replace-one" if scenario.level == "item" else "replace-one-user"
    print(f"{what}{place}, {trials}, {budget}, {whom}\n")
    rows = summary(cells, scenario).to_dict("records")
    lines = [
        [
            str(row["name"]),
            number(row["x"]) if scenario.axis else "",
            number(row["median_error"]),
            _span(number(row["q10"]), number(row["q90"])),
            number(row["mean_error"]) + ", exact" * row["exact"],
            _price(row),
            number(1000 * row["seconds"]),
            str(row["not_applicable"]),
        ]
        for row in rows
    ]
    over = {row["price_over"] for row in rows} - {""}
    price = f"{PRICE} over {', '.join(method_card(m).name for m in over)}" if over else PRICE
    print(
        table(lines, ["method", scenario.axis or "", "median", "10-90 %", "mean", price, "ms", ""])
    )
    _print_intervals(scenario, outcomes)
    shares = [o.error_uncertainty / o.error for o in outcomes if o.error_uncertainty > 0]
    if shares:
        print(
            "note: the risk is an average over a fixed evaluation sample, with a standard error of "
            f"at most {100 * max(shares):.2g} %."
        )
    for note in dict.fromkeys(n for o in outcomes for n in (*o.flaws, *o.notes)):
        print(f"note: {note}")
    fitted = slopes(scenario, cells)
    if len(fitted):
        lines = [
            [
                str(row["name"]),
                _range(row["fitted"], row["fitted"]),
                _range(row["low"], row["high"]),
                _range(row["predicted_low"], row["predicted_high"]),
                str(row["verdict"]),
            ]
            for row in fitted.to_dict("records")
        ]
        print("\nSlope of log error against log axis\n")
        print(table(lines, ["method", "fitted", "95 %", "terms of its rate", ""]))
    print()
    _print_bounds(scenario, explicit_lower_only=True)


def _print_intervals(scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
    """Print the 95 % intervals of private means, and how often they held the mean."""
    if scenario.problem != "mean":
        return
    lines = []
    for (method, x), ball in intervals(scenario, outcomes).items():
        card = method_card(method)
        row = [card.name, number(x) if scenario.axis else ""]
        if ball is not None:
            share = f"{100 * ball.privacy:.0f} %"
            lines.append([*row, number(ball.radius), share, f"{ball.inside} of {ball.trials}"])
        elif card.privacy != "none":
            lines.append([*row, "none is proven", "", ""])
    if lines:
        heads = ["method", scenario.axis or "", "radius", "of it privacy", "held the mean"]
        print("\n95 % intervals: balls about the answer, proven for every law of the class\n")
        print(table(lines, heads))


def _price(row: Mapping[Hashable, Any]) -> str:
    """Return a price with its interval, as "3.5 (3.1 to 3.9)"; empty if there is none."""
    value, low, high = (row[name] for name in ("price", "price_low", "price_high"))
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "infinite"
    return f"{value:.3g}" + (f" ({low:.3g} to {high:.3g})" if not math.isnan(low) else "")


def _range(low: float, high: float) -> str:
    """Return two slopes with two digits, at which they are compared; one where they are equal."""
    return _span(*(f"{round(v, 2) + 0.0:.2f}" if math.isfinite(v) else "-" for v in (low, high)))


def _span(low: str, high: str) -> str:
    """Return two ends, or the only one."""
    return " to ".join(dict.fromkeys((low, high)))


def _bounds(chosen: argparse.Namespace) -> None:
    scenario = _scenario(chosen, sampling=False)
    known = [b.card.slug for b in bounds_for(scenario.problem, scenario.level)]
    for slug in chosen.bounds or ():
        one_of("bound", slug, known)
    if chosen.json:
        print_json(bounds_json(scenario, chosen.bounds))
    else:
        _print_bounds(scenario, chosen.bounds)
    require_sound(scenario, slugs=chosen.bounds)


def _print_bounds(
    scenario: Scenario, slugs: Sequence[str] | None = None, *, explicit_lower_only: bool = False
) -> None:
    rows, wider, missing = [], list[str](), "" if slugs else no_floor(scenario)
    if explicit_lower_only:
        cards = [b.card for b in bounds_for(scenario.problem, scenario.level)]
        slugs = [c.slug for c in cards if (c.kind, c.constant) == ("lower", "explicit")]
    evaluations = evaluate_all(scenario, slugs)
    for e in evaluations:
        card = e.bound.card
        terms = ", ".join(f"{name} {number(v)}" for name, v in e.terms.items())
        rows.append(
            [
                card.slug,
                "" if e.x is None else number(e.x),
                number(e.value),
                card.constant,
                card.class_text,
                f"every {e.binds}" if e.binds else "",
                card.quantity,
                terms if len(e.terms) > 1 else "",
                f"{card.paper}, {card.statement}",
                "; ".join(e.failures),
            ]
        )
        if not e.applies:
            wider.append(str(card.loss_class))
    header = ["bound", scenario.axis or "", "value", "constant", "class", "binds", "of", "terms"]
    header += ["statement", "fails"]
    if explicit_lower_only:  # a line of a run has room for what is compared with its errors
        kept = [header.index(name) for name in RUN_COLUMNS if name in header]
        kept.insert(1, 1)
        heads = [header[i].replace("binds", "binds every") for i in kept]
        print(
            table(
                [
                    [row[i].removeprefix("every ").replace(" algorithm", "") for i in kept]
                    for row in rows
                ],
                heads,
            )
        )
        if rows:
            print(WORST_CASE)
        for failure in dict.fromkeys(f"{row[0]}: {row[-1]}" for row in rows if row[-1]):
            print(_wrapped(f"note: {failure}"))
    else:
        print(table(rows, header))
    for note in dict.fromkeys(e.note for e in evaluations if e.note):
        print(f"note: {note}")
    if missing:
        print(f"note: {missing}")
    own = problem_card(scenario.problem).loss_class
    for name in dict.fromkeys(wider):
        print(
            f"note: the lower bounds for {name} losses do not bind methods for this problem: their "
            f"hard losses are not {own} losses, as those here are."
        )


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _with_progress(scenario: Scenario, workers: int) -> Iterator[Outcome]:
    """Yield the outcomes, with a bar on standard error if that is a terminal."""
    shown = sys.stderr.isatty()
    expected = cost(scenario).seconds / workers if shown else 0.0
    started = last = time.monotonic()
    for done, outcome in enumerate(run_study(scenario, workers), start=1):
        yield outcome
        now = time.monotonic()
        if shown and (now - last > 0.1 or done == scenario.cells):
            last = now
            share = done / scenario.cells
            rest = (now - started) * (1 / share - 1) if share > 0.05 else expected
            bar = "#" * round(30 * share)
            line = f"\r[{bar:<30}] {done} of {scenario.cells} cells, about {rest:.0f} s left "
            print(line, end="", file=sys.stderr, flush=True)
    if shown:
        print("\r" + " " * 79 + "\r", end="", file=sys.stderr, flush=True)


def _app(chosen: argparse.Namespace) -> int:
    port: str | None = chosen.port
    command = [sys.executable, "-m", "dpsco_app", *(f"--with={path}" for path in chosen.own)]
    if chosen.study is not None:
        command.append(f"--study={chosen.study}")
    if port is not None:
        ok = port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535
        require(ok, "port", "an integer between 1 and 65,535", shorten(port))
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
