"""The command `dpsco experiment`: the small experiments of the lessons on the page Learn."""

import argparse
from typing import Any

from dpsco_core.base.parsing import to_plain
from dpsco_core.cli.tools import add_command, format_table, number, print_json
from dpsco_core.explain.lessons import EXPERIMENTS, Experiment, parts, run_part, series_table
from dpsco_core.fields import parse

_COLUMNS = ("series", "x", "trials", "mean", "median", "q10", "q90")


def add_experiment(commands: Any) -> None:
    """Add the command `experiment` to the parser."""
    parser = add_command(
        commands,
        "experiment",
        run_experiment,
        description="tails: the largest of n records, Gaussian and heavy-tailed. neighbours: how "
        "often a guess from a private output is right. radius: clipping's error by its radius.",
    )
    parser.add_argument("name", metavar="NAME", help="one of " + ", ".join(EXPERIMENTS))
    parser.add_argument("--trials", metavar="VALUE", help="repetitions (default: the page's)")
    parser.add_argument("--seed", metavar="VALUE", default="0", help="the one seed (default 0)")


def run_experiment(chosen: argparse.Namespace) -> None:
    """Run an experiment of the lessons and print its numbers."""
    experiment: Experiment = chosen.name
    trials = None if chosen.trials is None else parse("trials", chosen.trials)
    todo = parts(experiment, trials, parse("seed", chosen.seed))
    summary = series_table([row for part in todo for row in run_part(part)])
    rows = summary.to_dict("records")
    if chosen.json:
        plain = [{name: to_plain(row[name]) for name in _COLUMNS} for row in rows]
        print_json({"experiment": experiment, "rows": plain})
        return
    cells = [[str(row["series"]), *(number(row[name]) for name in _COLUMNS[1:])] for row in rows]
    print(format_table(cells, list(_COLUMNS)))
