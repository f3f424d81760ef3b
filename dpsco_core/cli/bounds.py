"""The command `dpsco bounds`: every bound at a setting."""

import argparse
from typing import Any

from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import bounds_for
from dpsco_core.cli.tables.bounds import print_bounds
from dpsco_core.cli.tools import (
    add_command,
    add_fields,
    print_json,
    require_sound,
    scenario_from_flags,
)
from dpsco_core.results.report import bounds_json


def add_bounds(commands: Any) -> None:
    """Add the command `bounds` to the parser."""
    parser = add_command(commands, "bounds", run_bounds)
    parser.add_argument(
        "--bound",
        dest="bounds",
        metavar="SLUG",
        action="append",
        help="a bound to print, in place of every one; repeatable",
    )
    words = "print every bound, its class, its terms and what fails"
    parser.add_argument("--all", action="store_true", help=words)
    add_fields(parser)


def run_bounds(chosen: argparse.Namespace) -> None:
    """Print the bounds of the flags' scenario, all or those that are asked for."""
    scenario = scenario_from_flags(chosen, sampling=False)
    slugs = [b.card.slug for b in bounds_for(scenario.problem, scenario.level)]
    for slug in chosen.bounds or ():
        one_of("bound", slug, slugs)
    if chosen.json:
        print_json(bounds_json(scenario, chosen.bounds))
    else:
        print_bounds(scenario, chosen.bounds, in_full=chosen.all)
    require_sound(scenario, slugs=chosen.bounds)
