"""The matrix of problems, sets, budgets and users: every empty cell is listed with its reason."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from dpsco_core.catalogue import PROBLEM_SLUGS, bound, method_card, problem_card
from dpsco_core.cli.main import main
from dpsco_core.explain.tables.matrix import (
    BUDGETS,
    ITEMS,
    NO_USER_UPPER,
    SIZES,
    MatrixCell,
    cell,
    matrix,
)
from dpsco_core.geometry.geometries import GEOMETRIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "matrix.md"
COMMAND = 'WRITE_MATRIX=1 python -m pytest -m slow tests/explain/test_matrix.py -k "page"'
WITH_MEANS = ("mean", "quadratic", "linear")  # Problems that a mean of users solves.
CONVEX = tuple(p for p in PROBLEM_SLUGS if p not in (*WITH_MEANS, "least-squares"))


@dataclass(frozen=True)
class Gap:
    """Cells in which methods run but a bound is missing, and the reason."""

    reason: str
    problems: tuple[str, ...]
    geometries: tuple[str, ...]
    # Each pair is a kind of budget and a number of items per user.
    pairs: tuple[tuple[str, int], ...]

    def names(self) -> Iterator[str]:
        """Yield the name of each cell of the gap."""
        for problem, geometry, (budget, m) in product(self.problems, self.geometries, self.pairs):
            yield f"{problem} {geometry} {budget} {m}"


# Cells without an explicit lower bound; there are none.
NO_LOWER: tuple[Gap, ...] = ()
# Cells whose only explicit lower bounds are for a wider class of losses; there are none.
ONLY_WIDER: tuple[Gap, ...] = ()
# These cells have no explicit upper bound.
NO_UPPER = (Gap(NO_USER_UPPER, CONVEX, GEOMETRIES, (("zcdp", 16), ("approx", 16))),)


def listed(gaps: tuple[Gap, ...], part: str = "") -> set[str]:
    """Return the names in some gaps that begin with the text `part`."""
    return {name for gap in gaps for name in gap.names() if name.startswith(part)}


def check(cells: tuple[MatrixCell, ...], part: str = "") -> None:
    """Check that the lists are exact, so that a cell that is filled must be removed from them."""
    running = [c for c in cells if c.methods]
    lacking = {c.name for c in running if not (c.lowers or c.wider)}
    assert lacking == listed(NO_LOWER, part), "cells without an explicit lower bound"
    wide = {c.name for c in running if c.wider and not c.lowers}
    assert wide == listed(ONLY_WIDER, part), "cells whose lower bounds are of a wider class"
    void = {c.name for c in running if not c.uppers}
    assert void == listed(NO_UPPER, part), "cells without an explicit upper bound"
    for c in running:
        assert bool(c.no_lower) == (c.name in lacking)
        assert bool(c.no_upper) == (c.name in void)
        assert not c.no_upper or c.no_upper == NO_USER_UPPER


@pytest.mark.parametrize("problem", ["mean", "linear"])
def test_the_empty_cells_of_two_problems_are_those_of_the_list(problem: str) -> None:
    check(tuple(matrix(problem)), f"{problem} ")


@pytest.mark.slow
def test_the_empty_cells_are_those_of_the_list() -> None:
    check(tuple(matrix()))


def test_a_cell_counts_the_methods_that_run_and_the_bounds_that_hold() -> None:
    one = cell("hinge", "l2", "zcdp", 1)
    assert one is not None
    assert {"sco.clipped", "sco.fresh-batches"} <= set(one.methods)
    assert all("hinge" in method_card(s).problems for s in one.methods)
    assert "upper.sco.fresh-batches" in one.uppers
    assert "upper.sco.fresh-batches-pure" not in one.uppers
    loss = problem_card("hinge").loss_class
    assert all(bound(s).card.applies_to(loss) for s in one.lowers)
    assert not any(bound(s).card.applies_to(loss) for s in one.wider)
    assert not {"lower.sco.tracing-approx", "lower.sco.hypercube-pure"} & {*one.lowers, *one.wider}
    corners = cell("hinge", "l1", "pure", 1)
    assert corners is not None
    assert {"lp.frank-wolfe", "sco.fresh-batches"} <= set(corners.methods)
    assert "upper.sco.fresh-batches-pure" in corners.uppers


def test_the_command_prints_the_matrix_within_the_line_width(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["matrix", "--problem", "mean"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    cells = list(matrix("mean"))
    rows = [line.split() for line in lines if line.startswith("mean ")]
    assert [row[:4] for row in rows] == [[c.problem, c.geometry, c.budget, str(c.m)] for c in cells]
    assert [list(map(int, row[4:])) for row in rows] == [
        [len(c.methods), len(c.uppers), len(c.lowers), len(c.wider)] for c in cells
    ]
    assert main(["matrix", "--problem", "mean", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sizes"] == SIZES
    assert [c["lowers"] for c in told["cells"]] == [list(c.lowers) for c in cells]
    assert main(["matrix", "--problem", "none"]) == 2


def counts(problem: str, geometry: str, budget: str, m: int) -> str:
    """Return the text of a cell: how many methods, upper and lower bounds it has."""
    one = cell(problem, geometry, budget, m)  # type: ignore[arg-type]
    if one is None or not one.methods:
        return "–"
    lower = f"{len(one.lowers)}" + f" (+{len(one.wider)})" * bool(one.wider)
    return f"{len(one.methods)} · {len(one.uppers)} · {lower}"


def rows_of(problem: str) -> str:
    """Return the table of a problem in Markdown."""
    head = ["set", "m", "zCDP", "(ε, δ)", "pure"]
    rows = [head, ["---"] * len(head)]
    for geometry, m in product(GEOMETRIES, ITEMS):
        rows.append([geometry, str(m), *(counts(problem, geometry, b, m) for b in BUDGETS)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def page() -> str:
    """Return the whole page of the matrix."""
    parts = [
        "# Where methods run and bounds hold",
        "Each cell counts *private methods that run · explicit upper bounds · explicit lower "
        "bounds* for a problem, on a\nconstraint set, under a kind of budget, with m items per "
        "user. In parentheses: lower bounds over a wider class of losses,\nwhich do not bind the "
        "methods for this problem. Only bounds on expected errors count whose constants are proven "
        "and which\n"
        f"hold at n = {SIZES['n']}, d = {SIZES['d']} and p = {SIZES['p']:g}; that of answering "
        "without data, which holds in every cell, is left out.\nA dash: no private method runs "
        "there. `dpsco matrix --json` names them all.",
        f"The test suite writes this page, and fails where it is out of date:\n\n    {COMMAND}",
    ]
    for problem in PROBLEM_SLUGS:
        parts += [f"## {problem_card(problem).name}", rows_of(problem)]
    parts += ["## What is missing"]
    for title, gaps in (("lower", NO_LOWER), ("upper", NO_UPPER)):
        for gap in gaps:
            reason = gap.reason.rstrip(".")
            reason = reason[:1].lower() + reason[1:]
            sets = "every set" if gap.geometries == GEOMETRIES else ", ".join(gap.geometries)
            parts.append(
                f"No explicit {title} bound: {', '.join(gap.problems)} on {sets}; {reason}."
            )
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


@pytest.mark.slow
def test_the_page_is_what_the_catalogue_has() -> None:
    if os.environ.get("WRITE_MATRIX"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), f"out of date; run {COMMAND}"


def test_the_rows_of_means_on_the_page_are_what_the_catalogue_has() -> None:
    assert rows_of("mean") in PAGE.read_text(encoding="utf-8"), f"out of date; run {COMMAND}"
