"""The command `dpsco need`: the records, or the privacy budget, that a target error needs."""

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, cast

from dpsco_core.base.errors import InvalidInput, NotApplicable, require
from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import method_card
from dpsco_core.cli.tables.need import NeedRow, print_needs
from dpsco_core.cli.tools import (
    add_command,
    add_fields,
    add_lengths,
    given_fields,
    print_json,
    print_note,
    print_text,
    read_number,
    with_seed,
)
from dpsco_core.explain.need import Need, error_in_units, error_in_words, in_words, need
from dpsco_core.explain.need.runs import Unknown, point_at
from dpsco_core.explain.need.search import describe_goal
from dpsco_core.explain.recipe.recipe import NoisyRelease, Recipe, recipe
from dpsco_core.explain.recipe.setting import standard_deviation
from dpsco_core.fields import parse
from dpsco_core.results.report import finite_or_none
from dpsco_core.scenario import Scenario

UNKNOWNS = ("n", "epsilon", "rho")
LISTS = ("n", "epsilon", "delta", "rho")  # the fields that may have several values
# The noise is printed only if the records hold no more numbers than this, since that takes a run.
MOST_NUMBERS = 20_000_000


def add_need(commands: Any) -> None:
    """Add the command `need` to the parser."""
    parser = add_command(
        commands,
        "need",
        run_need,
        description="Run each method at a few sizes, and print how many records (or which privacy "
        "budget) its median error takes to reach the target, with a 95 % interval. Several values "
        "of a flag, as `--epsilon 0.5 1 2` or `--epsilon 0.5,1,2`, make a table.",
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
    words = (
        "the quantile of the error that is to reach the target, from 0.1 to 0.95: 0.9 asks for "
        "nine runs in ten (default 0.5, the median)"
    )
    parser.add_argument("--quantile", metavar="VALUE", default="0.5", help=words)
    parser.add_argument(
        "--find",
        metavar="NAME",
        default="n",
        help="what is asked for: n, epsilon or rho (default n); the search starts at its value",
    )
    add_fields(parser, lists=LISTS)
    add_lengths(parser)


def run_need(chosen: argparse.Namespace) -> None:
    """Print how many records, or which budget, each method needs for the target error."""
    one_of("find", chosen.find, tuple(UNKNOWNS))
    values = _read_lists(chosen)
    if any(len(texts) > 1 for texts in values.values()):
        _run_table(chosen, values)
        return
    for name, texts in values.items():
        setattr(chosen, name, texts[0])
    scenario = Scenario.from_dict(given_fields(chosen)).validate(sampling=False)
    unknown = cast(Unknown, chosen.find)
    target = error_in_units(scenario, read_number("error", chosen.error), chosen.error_unit)
    options = _search_options(chosen)
    rows = [need(scenario, m, target, unknown, **options) for m in scenario.methods]
    if chosen.json:
        needs = [_need_fields(row) for row in rows]
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


def _search_options(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the quantile and the trials of `need`; trials are None if they are not given."""
    trials = None if chosen.trials is None else parse("trials", chosen.trials)
    return {"quantile": read_number("quantile", chosen.quantile), "trials": trials}


def _read_lists(chosen: argparse.Namespace) -> dict[str, list[str]]:
    """Return the values of the flags in `LISTS` that are given, as lists of texts by name."""
    texts = {name: getattr(chosen, name) for name in LISTS}
    values = {
        name: [text for part in parts for text in part.split(",")]
        for name, parts in texts.items()
        if parts is not None
    }
    for name, listed in values.items():
        whole_list = ",".join(listed)
        require(all(map(str.strip, listed)), name, "a number between all commas", whole_list)
    return values


def _run_table(chosen: argparse.Namespace, values: dict[str, list[str]]) -> None:
    """Print a row for each method at every combination of the values, as text or JSON."""
    listed = [name for name, texts in values.items() if len(texts) > 1]
    if chosen.find in listed:
        name = chosen.find
        raise InvalidInput(
            f"{name} must be one number where the search for it starts, "
            f"got {name}={','.join(values[name])}."
        )
    if chosen.seed is not None:  # All rows have the same fresh seed.
        chosen.seed = str(with_seed({"seed": chosen.seed})["seed"])
    rows = list(_table_rows(chosen, values, listed))
    if chosen.json:
        needs = [
            {"at": row.place, "method": row.method, "target": row.target}
            | ({"not_applicable": row.refusal} if row.answer is None else _need_fields(row.answer))
            | ({} if row.release is None else {"release": row.release.to_dict()})
            for row in rows
        ]
        print_json({"scenario": rows[0].scenario.to_dict(), "varied": listed, "needs": needs})
        return
    print_text(error_in_words(rows[0].scenario, rows[0].target))
    goal = describe_goal(rows[0].target, _search_options(chosen)["quantile"])
    print_text(f"Asked for: {goal}.")
    print()
    print_needs(rows)


def _table_rows(
    chosen: argparse.Namespace, values: dict[str, list[str]], listed: list[str]
) -> Iterator[NeedRow]:
    """Yield the row of each method at every combination of the values; raises `InvalidInput`."""
    unknown, error = cast(Unknown, chosen.find), read_number("error", chosen.error)
    options = _search_options(chosen)
    for texts in product(*values.values()):
        for name, text in zip(values, texts, strict=True):
            setattr(chosen, name, text)
        scenario = Scenario.from_dict(given_fields(chosen)).validate(sampling=False)
        target = error_in_units(scenario, error, chosen.error_unit)
        place = {name: getattr(scenario, name) for name in listed}
        for method in scenario.methods:
            answer, refusal = None, ""
            try:
                answer = need(scenario, method, target, unknown, **options)
            except NotApplicable as error_at_place:
                refusal = str(error_at_place)
            yield NeedRow(
                scenario=scenario,
                method=method,
                unknown=unknown,
                place=place,
                target=target,
                answer=answer,
                refusal=refusal,
                release=None if answer is None else _release_there(scenario, answer),
            )


def _print_noise(scenario: Scenario, row: Need) -> None:
    """Print the noise of a method at the records or the budget that reach the target error."""
    noisy = _recipe_there(scenario, row)
    release = None if noisy is None else noisy.main_release
    if noisy is None or release is None:
        return
    sigma = f"the noise is {release.over_sensitivity:.4g} times the sensitivity"
    if release.noise_multiplier is not None:
        sigma += f", noise_multiplier {release.noise_multiplier:.4g} under replace-one"
    if release.add_remove_multiplier is not None:
        sigma += f" and {release.add_remove_multiplier:.4g} under add/remove"
    print_text(f"{noisy.card.name} there: {sigma}; {noisy.sampling}; {noisy.accountant}.")


def _recipe_there(scenario: Scenario, row: Need) -> Recipe | None:
    """Return a method's recipe at the records or the budget that reach the target error.

    None says that the search found no such value, that the method is not private, or that the run
    is too large.
    """
    if row.side != "inside" or not math.isfinite(row.value):
        return None
    point = point_at(scenario, row.unknown, row.value)
    if method_card(row.method).privacy == "none" or point.n * point.d * point.m > MOST_NUMBERS:
        return None
    return recipe(replace(point, axis=None, grid=()), row.method)


def _release_there(scenario: Scenario, row: Need) -> NoisyRelease | None:
    """Return the release with the largest share of the budget in `_recipe_there`, or None."""
    noisy = _recipe_there(scenario, row)
    return None if noisy is None else noisy.main_release


def _need_fields(row: Need) -> dict[str, Any]:
    """Return the answer for one method as JSON values, with its floors."""
    floors = [_plain_values(vars(floor)) for floor in row.floors]
    return _plain_values(vars(row)) | {"floors": floors}


def _plain_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with None for each number that is not finite, as JSON needs it."""
    return {k: finite_or_none(v) if isinstance(v, float) else v for k, v in values.items()}
