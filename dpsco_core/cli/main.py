"""The command line `dpsco`: the list of its commands, and how one of them is run.

A command's module, and with it the library, is imported when that command is given.
"""

import argparse
import sys
from collections.abc import Collection, Sequence
from functools import partial
from importlib import import_module

from dpsco_core import __version__
from dpsco_core.cli.parser import Parser
from dpsco_core.cli.streams import (
    exit_status,
    open_streams,
    print_every_character,
    silent_when_interrupted,
    warnings_in_words,
)

DESCRIPTION = (
    "Differentially private mean estimation and stochastic convex optimization on heavy-tailed "
    "data: run methods on synthetic data, evaluate their bounds, and audit their privacy."
)
# Each command has a summary here, in the order of the help. The module of the same name defines the
# command and its `add_` function.
COMMANDS = {
    "catalogue": "list methods, problems, data and bounds",
    "run": "run methods on synthetic data, and print errors and bounds",
    "bounds": "print every bound at a setting",
    "about": "tell one method: steps, proof, cost, bounds, flaws",
    "audit": "run a method on its worst neighbours, and bound epsilon from below",
    "budget": "convert a privacy budget, compose it, amplify it",
    "errata": "list what was found wrong in the papers",
    "paper": "print the statements of a paper in numbers: as printed, proven, measured",
    "figure": "draw the panels that the authors of a paper would draw, as PDF",
    "experiment": "run a small experiment of the page Learn",
    "fano": "build Fano's lower bound, step by step",
    "matrix": "how many methods run, and how many explicit bounds hold, on every set and budget",
    "referee": "take a claim or a method of your own, and try to break it",
    "need": "how many records, or which privacy budget, a target error takes",
    "release": "release a private mean, or a regression, of the columns of a CSV file",
    "tail": "estimate the tail index of a CSV file",
    "study": "run a scenario from a TOML file, and go on where it stopped",
    "page": "write a study with sliders as one HTML file that needs no network",
    "export": "write the cells of a results file as CSV or Parquet",
    "app": "open the dashboard",
}
MODULES = {"export": "study"}  # These commands stand in the module of another one.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 2 on bad input, or a command's own 1."""
    open_streams()
    print_every_character()
    words = sys.argv[1:] if arguments is None else arguments
    parser = _build_parser([word for word in words if word in COMMANDS][:1])
    chosen = parser.parse_args(words)
    return exit_status(partial(_run_command, chosen))


def _run_command(chosen: argparse.Namespace) -> int:
    """Load plugin code, run the command and return its exit status."""
    # This import loads the whole catalogue, which `--help` does not need.
    with silent_when_interrupted():
        from dpsco_core.plugins import extend

    with warnings_in_words():
        extend.load_installed()
        extend.load(*chosen.own)
        return chosen.does(chosen) or 0


def _build_parser(names: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """Return the parser with the names of all commands, and flags only for those in `names`."""
    parser = Parser(prog="dpsco", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"dpsco {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, words in COMMANDS.items():
        if name in names:
            with silent_when_interrupted():
                module = import_module(f"dpsco_core.cli.{MODULES.get(name, name)}")
            getattr(module, f"add_{name}")(commands)
        else:
            commands.add_parser(name, help=words)
    for name in names:
        commands.choices[name].add_argument(
            "--with",
            dest="own",
            metavar="FILE",
            action="append",
            default=[],
            help="Python file with methods, bounds or distributions of your own; repeatable",
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
