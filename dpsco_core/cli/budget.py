"""The command `dpsco budget`: conversions, composition and amplification of a budget."""

import argparse
from typing import Any

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.tools import add_command, number, print_json, read_number, read_whole, table
from dpsco_core.explain.budgets import (
    Point,
    allocated,
    batched,
    composed,
    conversions,
    shuffling,
    subsampled,
)
from dpsco_core.results.report import plain

FLAGS = {
    "epsilon": "privacy budget epsilon (default 1)",
    "delta": "delta; 0 is pure DP, read at 1e-06 (default 1e-06)",
    "rho": "zCDP budget, instead of epsilon; epsilon is then read at delta",
    "releases": "compose so many equal releases of the budget: Gaussian ones, or any of pure DP",
    "records": "shuffle so many records, or take a batch of them",
    "steps": "allocate each record, at random and in secret, to one of so many noisy steps",
    "batch": "subsample so many of the records; with releases, Gaussian ones on a new batch each",
}


def add_budget(commands: Any) -> None:
    words = "convert a privacy budget, compose it, amplify it"
    parser = add_command(commands, "budget", run_budget, help=words)
    for name, text in FLAGS.items():
        parser.add_argument(f"--{name}", metavar="VALUE", help=text)


def run_budget(chosen: argparse.Namespace) -> None:
    texts = {name: getattr(chosen, name) for name in FLAGS}
    given = {k: None if text is None else read_number(k, text) for k, text in texts.items()}
    numbers = _numbers(given)
    if chosen.json:
        print_json(numbers)
        return
    for title, rows in numbers.items():
        if isinstance(rows, list):
            print(f"{title.capitalize()}\n")
            header = list(rows[0])
            print(table([[_text(row[c]) for c in header] for row in rows], header) + "\n")
        else:
            parts = ", ".join(f"{name} {_text(value)}" for name, value in rows.items())
            bound = ", at most" * (title == "batches")  # moments prove no exact epsilon
            print(f"{title.capitalize()}{bound}: {parts}\n")


def _numbers(given: dict[str, float | None]) -> dict[str, Any]:
    """Return the numbers that are asked for as plain objects."""
    point = _point(given)
    numbers: dict[str, Any] = {
        "budget": {"kind": point.kind, "delta": point.delta}
        | ({"rho": point.rho} if point.kind == "zcdp" else {"epsilon": point.epsilon}),
        "conversions": [
            {
                "conversion": c.name,
                "rho": c.rho,
                "epsilon": c.epsilon,
                "noise_multiplier": None if point.kind == "pure" else c.noise_multiplier,
            }
            for c in conversions(point)
        ],
    }
    releases = None if given["releases"] is None else read_whole("releases", given["releases"])
    if releases is not None:
        at = composed(point, releases)
        numbers["composition"] = [
            {
                "accounting": name,
                "epsilon": plain(getattr(at, name)),
                "delta": at.basic_delta if name == "basic" else point.delta,
            }
            for name in ("basic", "advanced", "zcdp", "exact")
            # A theorem for many small releases, which proves less than a sum for a few large ones.
            if name != "advanced" or at.advanced < at.basic
        ]
    records, batch = given["records"], given["batch"]
    if batch is not None and records is None:
        raise InvalidInput("records must be given with batch, got records=none.")
    if records is not None:
        if point.kind != "approx":
            raise InvalidInput(
                "budget must be an (epsilon, delta) one for shuffling and subsampling, "
                f"got budget={point.kind}."
            )
        count = read_whole("records", records)
        numbers["shuffling"] = [
            {"argument": s.name, "rho": s.rho, "noise_multiplier": s.noise_multiplier}
            for s in shuffling(count, point.epsilon, point.delta)
        ]
        if batch is not None:
            size = read_whole("batch", batch)
            made = subsampled(point.epsilon, point.delta, size, count)
            numbers["subsampling"] = {"epsilon": made.epsilon, "delta": made.delta}
            if releases is not None:
                many = batched(point.epsilon, point.delta, size, count, releases)
                numbers["batches"] = {"releases": releases, "epsilon": many, "delta": point.delta}
    if given["steps"] is not None:
        numbers["allocation"] = _allocation(point, read_whole("steps", given["steps"]))
    return numbers


def _allocation(point: Point, steps: int) -> dict[str, Any]:
    """Return the noise of steps on randomly allocated records."""
    if point.kind != "approx":
        raise InvalidInput(
            "budget must be an (epsilon, delta) one for random allocation, "
            f"got budget={point.kind}."
        )
    noise = allocated(steps, point.epsilon, point.delta)
    return {
        "steps": steps,
        "noise_multiplier": noise.noise_multiplier,
        "noise_over_norm": noise.noise_over_norm,
    }


def _point(given: dict[str, float | None]) -> Point:
    epsilon, delta, rho = (given[name] for name in ("epsilon", "delta", "rho"))
    read_at = delta or 1e-6
    if rho is not None:
        if epsilon is not None:
            raise InvalidInput(f"epsilon must be left out beside rho, got epsilon={epsilon:g}.")
        return Point(kind="zcdp", rho=rho, delta=read_at)
    return Point(
        kind="pure" if delta == 0 else "approx",
        epsilon=1.0 if epsilon is None else epsilon,
        delta=read_at,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else number(value)
