"""The command `dpsco need`: the records, or the privacy budget, that a target error needs."""

import argparse
import math
from dataclasses import replace
from typing import Any, cast

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import method_card
from dpsco_core.cli.tools import (
    add_command,
    add_fields,
    given_fields,
    print_json,
    print_note,
    print_text,
    read_number,
)
from dpsco_core.explain.need import Need, error_in_units, error_in_words, in_words, need
from dpsco_core.explain.need.runs import Unknown, point_at
from dpsco_core.explain.recipe.recipe import recipe
from dpsco_core.explain.recipe.setting import standard_deviation
from dpsco_core.results.report import finite_or_none
from dpsco_core.scenario import Scenario

UNKNOWNS = ("n", "epsilon", "rho")
MOST_NUMBERS = 20_000_000  # the largest run whose noise is printed, because that needs one run


def add_need(commands: Any) -> None:
    """Add the command `need` to the parser."""
    parser = add_command(
        commands,
        "need",
        run_need,
        description="Run each method at a few sizes, and print how many records (or which privacy "
        "budget) its median error takes to reach the target, with a 95 % interval.",
    )
    words = (
        "the target: a median l2 error of a mean, in units of the moment bound of a coordinate "
        "(or see --error-unit), or a median excess risk, in the unit of the loss"
    )
    parser.add_argument("--error", metavar="VALUE", required=True, help=words)
    words = (
        "of a mean: moment (default); sd, an l2 error in standard deviations of a coordinate; or "
        "sd-per-coordinate, the error in each coordinate"
    )
    parser.add_argument("--error-unit", metavar="NAME", default="moment", help=words)
    parser.add_argument(
        "--find",
        metavar="NAME",
        default="n",
        help="what is asked for: n, epsilon or rho (default n); the search starts at its value",
    )
    add_fields(parser)


def run_need(chosen: argparse.Namespace) -> None:
    """Print how many records, or which budget, each method needs for the target error."""
    scenario = Scenario.from_dict(given_fields(chosen)).validate(sampling=False)
    if chosen.find not in UNKNOWNS:
        raise InvalidInput(f"find must be one of {', '.join(UNKNOWNS)}, got find={chosen.find}.")
    unknown = cast(Unknown, chosen.find)
    target = error_in_units(scenario, read_number("error", chosen.error), chosen.error_unit)
    rows = [need(scenario, method, target, unknown) for method in scenario.methods]
    if chosen.json:
        needs = [
            _plain_values(vars(row))
            | {"floors": [_plain_values(vars(floor)) for floor in row.floors]}
            for row in rows
        ]
        spread = standard_deviation(scenario) if scenario.problem == "mean" else math.nan
        in_deviations = finite_or_none(target / spread) if math.isfinite(spread) else None
        document = {"scenario": scenario.to_dict(), "error": target}
        print_json(document | {"error_in_standard_deviations": in_deviations, "needs": needs})
        return
    print_text(error_in_words(scenario, target))
    for row in rows:
        for sentence in in_words(row, users=scenario.m > 1):
            print_text(sentence)
    unit = "user" if scenario.level == "user" else "record"
    budget = f"at {scenario.budget}; " if unknown == "n" else ""
    print_note(
        f"{budget}neighbours replace one {unit}; which records a release sees, and how its cost is "
        "counted, `dpsco about METHOD` says for each method."
    )
    for row in rows:
        _print_noise(scenario, row)


def _print_noise(scenario: Scenario, row: Need) -> None:
    """Print the noise at the computed value: the sigma that reaches the target."""
    card = method_card(row.method)
    if row.side != "inside" or not math.isfinite(row.value) or card.privacy == "none":
        return
    point = point_at(scenario, row.unknown, row.value)
    if point.n * point.d * point.m > MOST_NUMBERS:
        return
    noisy = recipe(replace(point, axis=None, grid=()), row.method)
    release = noisy.main_release
    if release is None:
        return
    sigma = f"the noise is {release.over_sensitivity:.4g} times the sensitivity"
    if release.noise_multiplier is not None:
        sigma += f", noise_multiplier {release.noise_multiplier:.4g} under replace-one"
    if release.add_remove_multiplier is not None:
        sigma += f" and {release.add_remove_multiplier:.4g} under add/remove"
    print_text(f"{card.name} there: {sigma}; {noisy.sampling}; {noisy.accountant}.")


def _plain_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with None for each number that is not finite, as JSON needs it."""
    return {k: finite_or_none(v) if isinstance(v, float) else v for k, v in values.items()}
