"""The command `dpsco need`: the records, or the privacy budget, that a target error needs."""

import argparse
from typing import Any, cast

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.tools import add_command, add_fields, given_fields, print_json, read_number
from dpsco_core.explain.need import in_words, need
from dpsco_core.explain.need.runs import Unknown
from dpsco_core.results.report import plain
from dpsco_core.scenario import Scenario

UNKNOWNS = ("n", "epsilon", "rho")


def add_need(commands: Any) -> None:
    parser = add_command(
        commands,
        "need",
        run_need,
        description="Run each method at a few sizes, and print how many records (or which privacy "
        "budget) its median error takes to reach the target, with a 95 % interval.",
    )
    parser.add_argument("--error", metavar="VALUE", required=True, help="the target error")
    parser.add_argument(
        "--find",
        metavar="NAME",
        default="n",
        help="what is asked for: n, epsilon or rho (default n); the search starts at its value",
    )
    add_fields(parser)


def run_need(chosen: argparse.Namespace) -> None:
    scenario = Scenario.from_dict(given_fields(chosen)).validate(sampling=False)
    if chosen.find not in UNKNOWNS:
        raise InvalidInput(f"find must be one of {', '.join(UNKNOWNS)}, got find={chosen.find}.")
    unknown = cast(Unknown, chosen.find)
    target = read_number("error", chosen.error)
    rows = [need(scenario, method, target, unknown) for method in scenario.methods]
    if chosen.json:
        needs = [
            _plain(vars(row)) | {"floors": [_plain(vars(floor)) for floor in row.floors]}
            for row in rows
        ]
        print_json({"scenario": scenario.to_dict(), "needs": needs})
        return
    for row in rows:
        print("\n".join(in_words(row, users=scenario.m > 1)))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: plain(v) if isinstance(v, float) else v for k, v in values.items()}
