"""The table of the sharpest constants: docs/constants.md agrees with the catalogue."""

from __future__ import annotations

import os
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import groupby
from pathlib import Path

import pytest

from dpsco_core.cli.main import main
from dpsco_core.explain.tables.constants import ConstantsRow, constants

PAGE = Path(__file__).resolve().parents[2] / "docs" / "constants.md"
COMMAND = "WRITE_CONSTANTS=1 python -m pytest -m slow tests/explain/test_constants.py"
NOTIONS = {
    "zcdp": "zCDP, ρ = 0.5",
    "approx": "(ε, δ)-DP, ε = 1, δ = 10⁻⁶",
    "pure": "pure DP, ε = 1",
}
TITLES = {"mean": "Mean error", "linear": "Excess risk of linear losses"}
HEAD = ("p", "n", "d", "lower", "upper", "ratio", "lower bound", "upper bound")


def rounded(value: float, *, up: bool) -> str:
    """Return a constant with four digits, rounded up or down so that it remains a bound."""
    context = Context(prec=4, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{context.create_decimal(Decimal(value)):f}"


def line(row: ConstantsRow) -> str:
    """Return a row of constants as a line of Markdown."""
    lower, upper = row.window.lower, row.window.upper
    assert lower is not None and upper is not None
    cells = (
        f"{row.p:g}",
        f"{row.n:,}",
        str(row.d),
        rounded(row.window.floor, up=False),
        rounded(row.window.ceiling, up=True),
        f"{row.window.ratio:.3g}",
        f"`{lower.card.slug}`: {lower.card.statement}",
        f"`{upper.card.slug}`: {upper.card.statement}",
    )
    return "| " + " | ".join(cells) + " |"


def section(problem: str) -> str:
    """Return the tables of a problem in Markdown, one a notion of privacy."""
    parts = [f"## {TITLES[problem]}"]
    for notion, rows in groupby(constants(problem), lambda row: row.notion):
        table = list(rows)
        head = ["| " + " | ".join(x) + " |" for x in (HEAD, ["---"] * len(HEAD))]
        parts += [
            f"### {NOTIONS[notion]}",
            "\n".join([*head, *map(line, table)]),
            f"To evaluate the first row again:\n\n    {table[0].command}",
        ]
    return "\n\n".join(parts) + "\n"


def page() -> str:
    """Return the whole page of the sharpest constants."""
    parts = [
        "# The sharpest constants",
        "The best lower and the best upper bound on the worst case over all distributions with "
        "coordinate moments of order p of at\nmost 1, whose constants are proven: for means in the "
        "unit ball, and for linear losses on the unit ball with a mean "
        "gradient\nof norm at most 1. Lower bounds are rounded down and upper ones up, so that "
        "every printed number still holds. An upper bound\nabove 1 on a risk "
        "says nothing: the centre of the ball loses at most 1.",
        "The command of a row has its n, d and p, and the budget of its table; it prints every "
        "bound of the catalogue, with terms and\nconditions. `tests/bounds/test_enclosures.py` "
        "computes every bound that wins here a second time,\nin interval arithmetic: parameters "
        "are searched in floating point, and what is proven at them is enclosed. The two\n"
        "searches agree within 0.4 %.",
        f"The test suite writes this page, and fails where it is out of date:\n\n    {COMMAND}",
        section("mean"),
        section("linear"),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def test_numbers_are_rounded_to_the_side_on_which_they_hold() -> None:
    assert rounded(0.0848899, up=False) == "0.08488"
    assert rounded(0.0848801, up=True) == "0.08489"
    assert rounded(1.0, up=True) == "1.000" or rounded(1.0, up=True) == "1"


def test_the_command_of_a_row_prints_its_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    row = next(constants("mean"))
    assert main(row.command.split()[1:]) == 0
    out = capsys.readouterr().out
    for one, value in (
        (row.window.lower, row.window.floor),
        (row.window.upper, row.window.ceiling),
    ):
        assert one is not None
        (printed,) = [text for text in out.splitlines() if text.startswith(f"{one.card.slug} ")]
        assert f"{value:.4g}" in printed


def test_lower_bounds_are_below_upper_bounds_and_most_gaps_for_means_are_small() -> None:
    for row in constants("mean"):
        assert 0 < row.window.floor < row.window.ceiling
        assert row.window.ratio < 5


def test_the_rows_of_means_are_what_the_catalogue_has() -> None:
    assert section("mean") in PAGE.read_text(encoding="utf-8"), f"out of date; run {COMMAND}"


@pytest.mark.slow
def test_the_page_is_what_the_catalogue_has() -> None:
    if os.environ.get("WRITE_CONSTANTS"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), f"out of date; run {COMMAND}"
