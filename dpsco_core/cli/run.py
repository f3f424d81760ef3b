"""The command `dpsco run`: methods on synthetic data, with their errors and bounds."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from dpsco_core.cli.study import add_workers, in_cell_order, worker_count
from dpsco_core.cli.tables.run import print_item_level, print_run
from dpsco_core.cli.tools import (
    add_command,
    add_fields,
    add_lengths,
    print_json,
    require_sound,
    scenario_from_flags,
    stated_unit,
    wipe_progress,
)
from dpsco_core.explain.recipe.recipe import recipes
from dpsco_core.explain.users.item_level import item_level
from dpsco_core.results.intervals import run_json
from dpsco_core.results.report import measured_json
from dpsco_core.runs.cost import cost
from dpsco_core.runs.executors import run_study
from dpsco_core.runs.memory import require_memory
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario


def add_run(commands: Any) -> None:
    """Add the command `run` to the parser."""
    parser = add_command(commands, "run", run_scenario)
    add_workers(parser)
    words = "with --json: add what to set for each private method"
    parser.add_argument("--recipe", action="store_true", help=words)
    words = "print medians, intervals and every proven lower bound too"
    parser.add_argument("--all", action="store_true", help=words)
    words = "where users have several items: run methods that protect each item alone, too"
    parser.add_argument("--item-level", action="store_true", help=words)
    add_fields(parser)
    add_lengths(parser)


def run_scenario(chosen: argparse.Namespace) -> None:
    """Run the flags' scenario and print the errors beside the bounds."""
    scenario = scenario_from_flags(chosen, sampling=True)
    item_run = item_level(scenario) if chosen.item_level else None
    workers = worker_count(scenario, chosen.workers)
    require_memory(scenario, listed=True)
    outcomes = in_cell_order(scenario, _with_progress(scenario, workers))
    item_outcomes: Sequence[Outcome] = ()
    if item_run is not None:
        require_memory(item_run, listed=True)
        item_outcomes = in_cell_order(item_run, _with_progress(item_run, workers))
    if chosen.json:
        document = run_json(scenario, outcomes)
        if chosen.recipe:
            document["recipes"] = [row.to_dict() for row in recipes(scenario)]
        if item_run is not None:
            document["item_level"] = measured_json(item_run, item_outcomes)
        print_json(document)
    else:
        unit = stated_unit(chosen)
        print_run(scenario, outcomes, in_full=chosen.all, files=chosen.own, unit=unit)
        if item_run is not None:
            print_item_level(scenario, item_run, item_outcomes)
    require_sound(scenario, outcomes)


def _with_progress(scenario: Scenario, workers: int) -> Iterator[Outcome]:
    """Run a scenario and yield its outcomes, with a progress bar on a terminal."""
    is_terminal = sys.stderr.isatty()
    expected = cost(scenario).seconds / workers if is_terminal else 0.0
    started = last_print = time.monotonic()
    for count, outcome in enumerate(run_study(scenario, workers), start=1):
        yield outcome
        moment = time.monotonic()
        if is_terminal and (moment - last_print > 0.1 or count == scenario.cells):
            last_print = moment
            share = count / scenario.cells
            seconds_left = (moment - started) * (1 / share - 1) if share > 0.05 else expected
            bar = "#" * round(30 * share)
            line = (
                f"\r[{bar:<30}] {count} of {scenario.cells} cells, about {seconds_left:.0f} s left "
            )
            print(line, end="", file=sys.stderr, flush=True)
    wipe_progress()
