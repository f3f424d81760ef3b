"""The command `dpsco matrix`: where methods run, and where explicit bounds hold."""

import argparse
from dataclasses import asdict
from typing import Any

from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import PROBLEM_SLUGS
from dpsco_core.cli.tools import add_command, format_table, print_json, print_note
from dpsco_core.explain.tables.matrix import SIZES, MatrixCell, matrix

HEADER = ["problem", "geometry", "budget", "m", "methods", "upper", "lower", "wider"]


def add_matrix(commands: Any) -> None:
    """Add the command `matrix` to the parser."""
    parser = add_command(
        commands,
        "matrix",
        run_matrix,
        description="For every problem, constraint set, kind of budget and number of items per "
        "user: how many private methods run, and how many upper and lower bounds with proven "
        "constants hold. The whole matrix takes a minute or two; --problem prints a part of it.",
    )
    parser.add_argument("--problem", metavar="SLUG", help="only the cells of this problem")


def run_matrix(chosen: argparse.Namespace) -> None:
    """Print how many methods run and bounds hold in each cell of problem, set, budget and m."""
    if chosen.problem is not None:
        one_of("problem", chosen.problem, PROBLEM_SLUGS)
    cells = tuple(matrix(chosen.problem))
    if chosen.json:
        print_json({"sizes": SIZES, "cells": [asdict(c) for c in cells]})
        return
    print(format_table([_matrix_row(c) for c in cells], HEADER))
    print_note(
        "upper and lower count bounds on expected errors whose constants are proven, at "
        f"n={SIZES['n']}, d={SIZES['d']} and p={SIZES['p']:g}. wider counts lower bounds over a "
        "wider class of losses, which do not bind the methods for this problem."
    )
    for sentence in dict.fromkeys(s for c in cells for s in (c.no_upper, c.no_lower) if s):
        print_note(sentence)


def _matrix_row(cell: MatrixCell) -> list[str]:
    """Return the row of a cell of the matrix: its coordinates and its counts, as texts."""
    counts = (cell.methods, cell.uppers, cell.lowers, cell.wider)
    return [
        cell.problem,
        cell.geometry,
        cell.budget,
        str(cell.m),
        *(str(len(slugs)) for slugs in counts),
    ]
