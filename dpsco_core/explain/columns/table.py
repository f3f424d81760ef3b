"""The columns of a file by their names, and the numbers of the one that is chosen."""

import io
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import shorten
from dpsco_core.explain.columns.cells import is_missing, is_number, read_cells
from dpsco_core.explain.columns.decode import decode, quoted_line

# The largest share of the cells that may be left out.
MOST_LEFT_OUT = 0.05
_SECONDARY = re.compile(
    r"(?i)(^|[_ ])(id|code|zip|fips|year|date|time|lat|latitude|lon|lng|longitude)$"
)


@dataclass(frozen=True, kw_only=True)
class NumberColumn:
    """The numbers of one column of a file, and what was done with its other cells."""

    name: str
    names: tuple[str, ...]  # every column that holds numbers
    values: Vector
    left_out: int
    notes: tuple[str, ...]


def read_column(content: bytes, name: str | None = None) -> NumberColumn:
    """Return a column of a file, by default the first that is no row number, id, year or place.

    Raises `InvalidInput` for what cannot be read without a guess.
    """
    text, encoding = decode(content)
    separator = _separator(text)
    bare = re.sub(rf'(?m)(^|{re.escape(separator)})"(?:[^"]|"")*"', r"\1", text)
    widths = [line.count(separator) + 1 for line in bare.split("\n")]
    try:
        table = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            names=range(max(widths)) if max(widths) < 1000 else None,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            skip_blank_lines=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as problem:
        raise InvalidInput(f"file must be a table, got {shorten(problem)}.") from None
    rows = [(i + 1, [str(c) for c in row]) for i, row in enumerate(table.to_numpy().tolist())]
    rows = [(i, row) for i, row in rows if any(c.strip() for c in row)]
    _require_closed_quotes(rows, separator)
    usual = Counter(w for w, line in zip(widths, bare.split("\n"), strict=True) if line.strip())
    width = usual.most_common(1)[0][0] if usual else 1
    for i, _ in rows:
        if i <= len(widths) and widths[i - 1] != width:
            line = quoted_line(text, i)
            raise InvalidInput(f"file must have {width} cells a line, got {line} in line {i:,}.")
    header = [f"column {k + 1}" for k in range(width)]
    if rows and not any(is_number(c) for c in rows[0][1]):
        header, rows = [c.strip() or header[k] for k, c in enumerate(rows[0][1])], rows[1:]
    has_numbers = bool(_numeric(rows))
    for i, row in rows:
        if width > 1 and has_numbers and not any(is_number(c) or is_missing(c) for c in row):
            raise InvalidInput(
                f"file must hold one table, got {quoted_line(text, i)} in line {i:,}."
            )
    numeric = _numeric(rows)
    names = tuple(header[k] for k in numeric)
    require(bool(names), "numbers", "at least 100 in one column", 0)
    if name is None:
        name = next((header[k] for k in numeric if not _is_secondary(header[k], k, rows)), names[0])
    require(name in names, "column", f"one of {shorten(', '.join(names))}", shorten(name))
    k = header.index(name)
    cells, lines = [row[k] for _, row in rows], [i for i, _ in rows]
    read = read_cells(cells, lines)
    notes = [encoding] * bool(encoding) + list(read.notes)
    for places, what in ((read.missing, "marked as missing"), (read.unreadable, "left out")):
        if places:
            at = f"'{shorten(cells[places[0]])}' in line {lines[places[0]]:,}"
            notes.append(f"{len(places):,} {what}, for example {at}.")
            many = what == "left out" and len(places) > MOST_LEFT_OUT * len(cells)
            require(not many, "cells", "numbers, but for 5 % of them", f"{len(places):,}, as {at}")
    values = read.values[~np.isnan(read.values)]
    return NumberColumn(
        name=name, names=names, values=values, left_out=len(read.unreadable), notes=tuple(notes)
    )


def _require_closed_quotes(rows: list[tuple[int, list[str]]], separator: str) -> None:
    """Raise `InvalidInput` where a stray quotation mark joins lines of numbers to one cell."""
    for i, row in rows:
        for cell in row:
            joined = cell.split("\n")[1:]
            if any(is_number(part) for line in joined for part in line.split(separator)):
                raise InvalidInput(
                    "file must close a quotation mark in its own line, got a cell of "
                    f"{len(joined) + 1:,} lines that begins '{shorten(cell)}' in row {i:,}."
                )


def _separator(text: str) -> str:
    lines = [re.sub(r'"[^"]*"', "", x) for x in text.split("\n")[:500] if x.strip()]
    for separator in "\t;|,":
        counts = Counter(line.count(separator) for line in lines)
        if counts and counts.most_common(1)[0][0] > 0 and lines[0].count(separator) > 0:
            number = r"\s*-?[0-9]{1,3},[0-9]+\s*"
            if separator == "," and all(re.fullmatch(number, line) for line in lines):
                raise InvalidInput(
                    f"file must be clear, got '{shorten(lines[0])}' in line 1: one number or two."
                )
            return separator
    return ";"


def _numeric(rows: list[tuple[int, list[str]]]) -> list[int]:
    """Return the places of the columns that hold mostly numbers."""
    width = len(rows[0][1]) if rows else 0
    sample = rows[:500]
    full = [[r[k] for _, r in sample if not is_missing(r[k])] for k in range(width)]
    return [k for k, c in enumerate(full) if c and sum(map(is_number, c)) >= 0.5 * len(c)]


def _is_secondary(name: str, k: int, rows: list[tuple[int, list[str]]]) -> bool:
    cells = [row[k].strip() for _, row in rows]
    if _SECONDARY.search(name):
        return True
    if not all(c.isdecimal() and len(c) < 10 for c in cells):
        return False
    steps = set(np.diff([int(c) for c in cells]).tolist())
    return steps == {1} or all(1800 <= int(c) <= 2100 for c in cells)
