"""The command `dpsco release`: a private mean, or a regression, of the columns of a CSV file."""

import argparse
import inspect
import sys
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import whole
from dpsco_core.cli.tail import STDIN, read_content
from dpsco_core.cli.tools import (
    add_command,
    format_table,
    number,
    print_json,
    print_note,
    print_text,
    read_number,
)
from dpsco_core.explain.recipe.ledgers import spendings
from dpsco_core.results.commands import has_number_target
from dpsco_core.results.release import ArrayRelease, ReleasePlan, plan_release, release
from dpsco_core.results.release.users import MOST_NUMBERS
from dpsco_core.runs.store import budget_fields
from dpsco_core.scenario import Scenario

COUNTED = (
    "the number of rows that are used, {rows:,}, is taken for public: a row without a number in "
    "one of the columns is left out."
)
COUNTED_USERS = (
    "the number of users, {users:,}, is taken for public; how many rows a user has is hidden. "
    "Of users with more than {items:,} rows {items:,} are drawn, those of users with fewer are "
    "repeated, and a row without a number in one of the columns is left out."
)
PLANNED = (
    "a plan: nothing is released and nothing spent. Of the file only its shape counts, {shape}; "
    "the records of the rehearsals are drawn from a law."
)
UNITS = "lengths in the ledger are of records, or features, divided by unit."
DEFAULTS = {name: one.default for name, one in inspect.signature(release).parameters.items()}
FLAGS = {
    "epsilon": f"privacy budget epsilon (default {DEFAULTS['epsilon']:g})",
    "delta": f"delta; 0 is pure DP (default {DEFAULTS['delta']:g})",
    "rho": "zCDP budget, instead of epsilon",
    "p": "order of the moment that --unit bounds, at least 1.1, and 2 with --target (default "
    f"{DEFAULTS['p']:g}, where the unit is a bound on the standard deviation, which people know; "
    f"`dpsco run` has {Scenario.p:g}, and prints the --p that it had)",
    "target-unit": "the same as --unit for what a model leaves unexplained of a target that is a "
    "number, in the unit of the target (needed for huber and absolute, otherwise 1 by default)",
}
# These flags are given once, or once for each column.
LENGTHS = {
    "lower": "instead of --bound, --unit and --centre, for a mean: with --upper a public range of "
    "the column, in its unit. Numbers beyond it are clamped, and the noise is that for its width",
    "upper": "see --lower",
    "bound": "in the unit of the column: the mean is at most this far from the centre; with "
    "--target in the unit of the target over that of the column: the coefficients are at most this "
    "long. A radius: in multiples of --unit it is half the --diameter of `dpsco run`",
    "unit": "in the unit of the column: a bound on (E|x - mean|^p)^(1/p), the standard deviation "
    "at p = 2 (default 1, and then a mean has no interval)",
    "centre": "in the unit of the column: a public guess of its mean, subtracted first (default "
    f"{DEFAULTS['centre']:g})",
}


def add_release(commands: Any) -> None:
    """Add the command `release` to the parser."""
    parser = add_command(commands, "release", run_release)
    parser.description = (
        "Bound, unit, centre and p are statements of yours, from public knowledge: where they are "
        "false the answer is worse, and stays private. With --target the columns are features and "
        "the answer is the parameter of a loss; without it the answer is the mean. The noise is "
        "from the operating system and cannot be repeated."
    )
    parser.add_argument("file", metavar="FILE", help=f"CSV file; {STDIN} is standard input")
    words = "a column, by its name; repeatable"
    parser.add_argument("--column", metavar="NAME", action="append", required=True, help=words)
    parser.add_argument("--target", metavar="NAME", help="the column that is to be predicted")
    words = "with --target: give the model an intercept, which is clipped and noisy like the others"
    parser.add_argument("--intercept", action="store_true", help=words)
    parser.add_argument("--method", metavar="SLUG", help="slug of a private method")
    words = (
        "loss, which --target needs: logistic for labels -1 and 1 or 0 and 1; least-squares, huber "
        "or absolute for a target that is a number"
    )
    parser.add_argument("--problem", metavar="SLUG", help=words)
    words = (
        "a column with the user of each row, a number or a text: the release hides all rows of one "
        "user, and needs --items"
    )
    parser.add_argument("--user", metavar="NAME", help=words)
    words = "with --user: the number of rows that count of each user, from public knowledge"
    parser.add_argument("--items", metavar="M", help=words)
    words = (
        "with --user, of a mean: the share of the variance that the rows of one user have in "
        "common, from 0 to 1 (default 1, which holds for rows that hang together in any way)"
    )
    parser.add_argument("--alike", metavar="VALUE", help=words)
    words = (
        "print what the release will do, radii, noise, predicted error and interval, and release "
        "nothing: it spends no budget, and reads nothing of the file but its shape"
    )
    parser.add_argument("--plan", action="store_true", help=words)
    for name, text in LENGTHS.items():
        repetition = "once for each column"
        if name == "bound":
            repetition += ", and with --intercept for it"
        words = f"{text}; once, or {repetition}"
        parser.add_argument(f"--{name}", metavar="VALUE", action="append", help=words)
    for name, text in FLAGS.items():
        parser.add_argument(f"--{name}", dest=name, metavar="VALUE", help=text)


def run_release(chosen: argparse.Namespace) -> None:
    """Read the columns and print a release of them; raise `InvalidInput` for bad input."""
    # The reader needs pandas, which would slow down every other command.
    from dpsco_core.explain.columns.records import read_records

    target = [] if chosen.target is None else [chosen.target]
    if chosen.target in chosen.column:
        raise InvalidInput(
            f"target must be another column than those of --column, got target={chosen.target}."
        )
    if target and chosen.problem is None:
        raise InvalidInput(
            "problem must be given with --target: logistic for labels, or least-squares, huber or "
            "absolute for numbers; nothing was released."
        )
    items, alike = _read_user_flags(chosen)
    names = [*chosen.column, *target]
    records = read_records(read_content(chosen.file), names, chosen.user)
    rows = records.values
    features = rows[:, : len(rows[0]) - len(target)] if len(rows) else rows
    texts = {name: getattr(chosen, name) for name in FLAGS}
    numbers: dict[str, Any] = {
        k.replace("-", "_"): read_number(k, t) for k, t in texts.items() if t is not None
    }
    for name in LENGTHS:
        has_intercept = name == "bound" and chosen.intercept
        numbers |= _read_lengths(name, getattr(chosen, name), chosen.column, has_intercept)
    if "rho" in numbers:
        numbers = {"epsilon": None, "delta": None} | numbers
    numbers |= {"method": chosen.method, "problem": chosen.problem, "alike": alike}
    numbers["intercept"] = chosen.intercept
    users = len(set(records.users))
    if chosen.plan:
        shape: tuple[int, ...] = features.shape
        if items is not None:
            shape = (users, items, features.shape[1])
        _print_plan(plan_release(shape, targets=bool(target), **numbers), as_json=chosen.json)
        return
    answer = release(
        (features, rows[:, -1]) if target else features,
        users=None if chosen.user is None else list(records.users),
        items=items,
        **numbers,
    )
    counted = COUNTED.format(rows=len(rows))
    if items is not None:
        counted = COUNTED_USERS.format(users=users, items=items)
    columns = [name for name in records.chosen if name not in target]
    defaults = _defaults_taken(chosen, answer.method)
    unit = "row" if chosen.user is None else "user"
    notes = (counted, *answer.notes)
    if chosen.json:
        document = _release_json(answer, columns, notes, unit)
        print_json(document | {"defaults": defaults, "reading": list(records.notes)})
        return
    for note in records.notes:
        print(f"of the file, exact and not private: {note}", file=sys.stderr)
    header = ["column", "coefficient" if target else "mean"]
    lines = [[name, number(value)] for name, value in zip(columns, answer.value, strict=True)]
    is_range = answer.rows_interval is not None
    for title, values in (
        ("noise (sd)", answer.noise),
        ("95 %, these rows", answer.rows_interval),
        ("95 %, population" if is_range else "95 % interval", answer.interval),
    ):
        if isinstance(values, np.ndarray):
            header.append(title)
            sign = "± " * (title != "noise (sd)")
            lines = [[*line, sign + number(v)] for line, v in zip(lines, values, strict=True)]
    if answer.intercept is not None:
        lines.append(["(intercept)", number(answer.intercept)])
    print(format_table(lines, header))
    if isinstance(answer.interval, np.ndarray):
        subject = "Each interval holds with probability 95 %"
        if len(answer.value) > 1:
            subject = "The intervals of all columns hold together with probability 95 %"
        print_text(f"{subject}, if the statements hold and the {unit}s are independent.")
    elif answer.interval is not None:
        radius = number(answer.interval)
        words = f"a ball of radius {radius} about the answer"
        if len(answer.value) == 1:
            ends = answer.value[0] - answer.interval, answer.value[0] + answer.interval
            words = " to ".join(map(number, ends))
        print_text(
            f"95 % interval: {words}, if the statements hold and the {unit}s are independent."
        )
    replaced = "one row is" if chosen.user is None else "all rows of one user are"
    print_text(f"{answer.method} has spent {answer.spent}; neighbours: {replaced} replaced.")
    if defaults:
        filled_in = (f"--{name} {_default_text(name, value)}" for name, value in defaults.items())
        print_text(f"by default: {', '.join(filled_in)}.")
    budget = answer.ledger.budget
    entries = [
        [s.label, str(s.count), number(s.sensitivity), number(s.noise), f"{100 * s.share:.3g} %"]
        for s in spendings(answer.ledger.entries, budget)
    ]
    print("\n" + format_table(entries, ["release", "times", "sensitivity", "noise", "budget"]))
    print_note(UNITS)
    for note in notes:
        print_note(note)
    print_text(f"warning: {answer.warning}")


def _read_user_flags(chosen: argparse.Namespace) -> tuple[int | None, float | None]:
    """Return the numbers of --items and --alike; raise `InvalidInput` if they do not fit --user."""
    if chosen.user is None:
        require(chosen.items is None, "items", "left out without --user", chosen.items)
        require(chosen.alike is None, "alike", "left out without --user", chosen.alike)
        return None, None
    require(chosen.items is not None, "items", "given with --user, from public knowledge", None)
    is_repeated = chosen.user in (*chosen.column, chosen.target)
    require(not is_repeated, "user", "another column than --column and --target", chosen.user)
    count = read_number("items", chosen.items)
    items = int(count) if count.is_integer() else count
    whole("items", items, 1, MOST_NUMBERS)
    return int(items), None if chosen.alike is None else read_number("alike", chosen.alike)


def _print_plan(plan: ReleasePlan, *, as_json: bool) -> None:
    """Print what a release would do."""
    note = PLANNED.format(shape=plan.shape)
    if not as_json:
        for line in str(plan).splitlines():
            print_text(line)
        print_note(note)
        return
    print_json(
        {
            "method": plan.method,
            "shape": {"n": plan.shape.n, "d": plan.shape.d, "m": plan.shape.items},
            "budget": budget_fields(plan.budget),
            "neighbours": "replace one record" if plan.shape.items is None else "replace one user",
            "parameters": {k: v for k, v in plan.parameters.items() if np.isfinite(v)},
            "is_chosen_in_the_run": plan.is_chosen_in_the_run,
            "noise": _plain(plan.noise),
            "interval": _plain(plan.interval),
            "rows_interval": _plain(plan.rows_interval),
            "predicted_error": plan.predicted_error,
            "trials": plan.trials,
            "law": plan.law,
            "notes": [note],
        }
    )


def _defaults_taken(chosen: argparse.Namespace, method: str) -> dict[str, Any]:
    """Return the flags that were left out, with the values that the release took for them."""
    names = ["method", "epsilon", "delta", "p", "unit", "centre"]
    if chosen.lower is not None:
        names = names[:3]  # The range fixes the lengths.
    if chosen.rho is not None:
        names = [name for name in names if name not in ("epsilon", "delta")]
    if chosen.target is not None and has_number_target(chosen.problem):
        names.append("target-unit")
    values = DEFAULTS | {"method": method, "unit": 1.0, "target-unit": 1.0}
    return {name: values[name] for name in names if getattr(chosen, name) is None}


def _default_text(name: str, value: Any) -> str:
    """Return a default as text; for p, with what the unit then is."""
    if isinstance(value, str):
        return value
    is_deviation = name == "p" and value == 2
    return f"{value:g}" + " (the unit bounds the standard deviation)" * is_deviation


def _release_json(
    answer: ArrayRelease, columns: list[str], notes: tuple[str, ...], unit: str
) -> dict[str, Any]:
    """Return a private answer about the user's own columns as JSON values."""
    return {
        "method": answer.method,
        "columns": columns,
        "value": answer.value.tolist(),
        "intercept": answer.intercept,
        "interval": _plain(answer.interval),
        "rows_interval": _plain(answer.rows_interval),
        "noise": _plain(answer.noise),
        "spent": budget_fields(answer.spent),
        "neighbours": "replace one record" if unit == "row" else "replace one user",
        "parameters": {k: v for k, v in answer.parameters.items() if np.isfinite(v)},
        "ledger": [
            {
                "release": spending.label,
                "count": spending.count,
                "mechanism": spending.mechanism,
                "sensitivity": spending.sensitivity,
                "noise": spending.noise,
                "share": spending.share,
            }
            for spending in spendings(answer.ledger.entries, answer.ledger.budget)
        ],
        "notes": list(notes),
        "warning": answer.warning,
    }


def _read_lengths(
    name: str, texts: list[str] | None, columns: list[str], has_intercept: bool
) -> dict[str, float | list[float]]:
    """Return the argument of `release` that a repeatable flag stands for, by its name.

    It is empty if the flag is left out, one number, or one for each column (and the intercept).
    """
    if texts is None:
        return {}
    values = [read_number(name, text) for text in texts]
    if len(values) not in (1, len(columns) + has_intercept):
        ending = " and for the intercept" * has_intercept
        raise InvalidInput(
            f"{name} must be given once, or once for each of the {len(columns)} columns{ending}, "
            f"got {len(values)} of them."
        )
    return {name: values[0] if len(values) == 1 else values}


def _plain(values: float | Vector | None) -> float | list[float] | None:
    """Return an array as a list, and any other value unchanged."""
    return values.tolist() if isinstance(values, np.ndarray) else values
