"""The columns of a file by name, and the numbers of the chosen column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, did_you_mean, require
from dpsco_core.base.parsing import shorten
from dpsco_core.explain.columns.cells import ReadCells, is_missing, read_cells
from dpsco_core.explain.columns.decode import decode, quoted_line
from dpsco_core.explain.columns.layout import Table, counts_rows, is_year, read_table
from dpsco_core.explain.tails import FEWEST

# the largest share of a column's cells that may hold neither numbers nor missing marks
MOST_UNREADABLE = 0.05
EXAMPLES = 5  # the number of unused cells that are shown as examples
NUMBERS, TEXT = "numbers", "text"
_KINDS = {  # Patterns of column names, by the kind of the numbers in such a column.
    kind: re.compile(rf"(?i:(^|[_ .-])({words})$)|(?<=[a-z])({words.title()})$")
    for kind, words in (
        ("identifiers", "id|ids|uid|uuid|code|zip|zipcode|postcode|fips"),
        ("times", "year|month|day|date|time|timestamp"),
        ("places", "lat|latitude|lon|lng|longitude"),
    )
}


@dataclass(frozen=True, kw_only=True)
class UnusedCell:
    """A cell that is no number."""

    column: str  # the name of the column
    cell: str  # the text of the cell, shortened
    line: int  # the line of the cell, counted from 1
    is_missing: bool  # whether the cell is a known mark for a missing number


@dataclass(frozen=True, kw_only=True)
class NumberColumn:
    """The numbers of one column of a file, and the treatment of its other cells."""

    name: str
    names: tuple[str, ...]  # the names of all columns that hold numbers
    # the name of every column, and the kind of values that it seems to hold
    kinds: tuple[tuple[str, str], ...]
    values: Vector
    left_out: int  # the number of cells that are neither blank nor a number
    examples: tuple[UnusedCell, ...]  # the first of these cells
    assumptions: tuple[str, ...]  # sentences on what was assumed about the file and its numbers
    notes: tuple[str, ...]  # the assumptions, and what was left out


def read_column(content: bytes, name: str | None = None) -> NumberColumn:
    """Return a column of a file, by default the first that is no row number, id, year or place.

    Raises `InvalidInput` for what cannot be read without a guess.
    """
    (column,) = read_columns(content, None if name is None else [name])
    return column


def read_columns(content: bytes, names: Sequence[str] | None = None) -> tuple[NumberColumn, ...]:
    """Return columns of a file by their names, or the one of `read_column`."""
    file = open_file(content)
    return tuple(
        number_column(file, chosen_cells(file, name)) for name in chosen_names(file, names)
    )


@dataclass(frozen=True, kw_only=True)
class OpenFile:
    """The table of a file, the likely kinds of its columns, and a note on its encoding."""

    table: Table
    kinds: tuple[tuple[str, str], ...]
    encoding: str

    @property
    def numeric_names(self) -> tuple[str, ...]:
        """The names of the columns of numbers."""
        return tuple(self.table.names[k] for k in self.table.numeric)


@dataclass(frozen=True, kw_only=True)
class ChosenCells:
    """The cells of a column, one for each row of the table, and their numbers."""

    name: str
    cells: tuple[str, ...]
    lines: tuple[int, ...]
    read: ReadCells

    def unused(self, row: int) -> UnusedCell:
        """Return the cell of a row that has no number in this column."""
        cell = self.cells[row].strip()
        return UnusedCell(
            column=self.name,
            cell=shorten(cell),
            line=self.lines[row],
            is_missing=is_missing(cell),
        )


def open_file(content: bytes) -> OpenFile:
    """Return the table of a file; raises `InvalidInput` where no column holds numbers."""
    text, encoding = decode(content)
    table = read_table(text)
    if not table.numeric:
        row = next((row for row in table.rows if not all(map(is_missing, row.cells))), None)
        count_text = f"0, as {quoted_line(text, row.line)} in line {row.line:,}" if row else "0"
        require(False, "numbers", f"at least {FEWEST} in one column", count_text)
    kinds = tuple((table.names[k], _kind_of_column(table, k)) for k in range(len(table.names)))
    return OpenFile(table=table, kinds=kinds, encoding=encoding)


def chosen_names(file: OpenFile, names: Sequence[str] | None) -> Sequence[str]:
    """Return `names`, or the first column that is no row number, id, year or place."""
    if names is not None:
        return names
    first_name = file.numeric_names[0]
    return [next((column for column, kind in file.kinds if kind == NUMBERS), first_name)]


def chosen_cells(file: OpenFile, name: str) -> ChosenCells:
    """Return the cells of a column; raise `InvalidInput` where too many are not numbers.

    Any column can be named, also one whose first cells are no numbers: its error then says so.
    """
    cells = text_cells(file, name)
    lines = tuple(row.line for row in file.table.rows)
    read = read_cells(cells, lines)
    if len(read.unreadable) > MOST_UNREADABLE * len(cells):
        i, share = read.unreadable[0], 100 * MOST_UNREADABLE
        raise InvalidInput(
            f"{shorten(name)} has {len(read.unreadable):,} cells that are no numbers, the first is "
            f"'{shorten(cells[i].strip())}' in line {lines[i]:,}: at most {share:.0f} % of "
            f"its {len(cells):,} cells may be, beside blank cells and marks such as NA."
        )
    if np.isnan(read.values).all():
        raise InvalidInput(f"{shorten(name)} has no number in its {len(cells):,} cells.")
    return ChosenCells(name=name, cells=cells, lines=lines, read=read)


def text_cells(file: OpenFile, name: str, flag: str = "column") -> tuple[str, ...]:
    """Return the cells of a column as texts; raise `InvalidInput` if no column has the name."""
    names = file.table.names
    if name not in names:
        question = did_you_mean(shorten(name), names)
        listed = f"one of {shorten(', '.join(names))}" + f" ({question})" * bool(question)
        require(False, flag, listed, shorten(name))
    k = names.index(name)
    return tuple(row.cells[k] for row in file.table.rows)


def number_column(file: OpenFile, chosen: ChosenCells) -> NumberColumn:
    """Return the numbers of a column, the assumptions about it, and the cells left out."""
    read = chosen.read
    rows = sorted((*read.missing, *read.unreadable))
    examples = [chosen.unused(row) for row in rows[:EXAMPLES]]
    values = read.values[~np.isnan(read.values)]
    assumptions = (*[file.encoding] * bool(file.encoding), *file.table.notes, *read.notes)
    missing, unreadable = len(read.missing), len(read.unreadable)
    return NumberColumn(
        name=chosen.name,
        names=file.numeric_names,
        kinds=file.kinds,
        values=values,
        left_out=missing + unreadable,
        examples=tuple(examples),
        assumptions=assumptions,
        notes=(*assumptions, *_describe_unused_cells(len(values), missing, unreadable, examples)),
    )


def _describe_unused_cells(
    used_count: int, missing: int, unreadable: int, examples: Sequence[UnusedCell]
) -> list[str]:
    """Return the sentence on unused cells, if there are any."""
    if not examples:
        return []
    example_text = f"'{examples[0].cell}' in line {examples[0].line:,}"
    counts = ((missing, "marked as missing"), (unreadable, "not a number"))
    unused_text = " and ".join(f"{count:,} {words}" for count, words in counts if count)
    return [
        f"Used {used_count:,}, left out {missing + unreadable:,} ({unused_text}), "
        f"for example {example_text}."
    ]


def _kind_of_column(table: Table, k: int) -> str:
    """Return the kind of values that a column seems to hold, by its name and its cells."""
    if k not in table.numeric:
        return TEXT
    for kind, pattern in _KINDS.items():
        if pattern.search(table.names[k]):
            return kind
    cells = [row.cells[k].strip() for row in table.rows if not is_missing(row.cells[k])]
    if counts_rows(cells):
        return "row numbers"
    return "years" if all(map(is_year, cells)) else NUMBERS
