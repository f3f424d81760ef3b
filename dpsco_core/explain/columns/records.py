"""Records of several columns: a row that has a number in each of them is one record."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.explain.columns.table import (
    EXAMPLES,
    NumberColumn,
    UnusedCell,
    chosen_cells,
    chosen_names,
    number_column,
    open_file,
    text_cells,
)
from dpsco_core.explain.tails import cap_notes


@dataclass(frozen=True, kw_only=True)
class NumberRecords:
    """The rows of a file that have a number in every chosen column."""

    chosen: tuple[str, ...]  # the chosen columns, in the order in which they were named
    names: tuple[str, ...]  # the names of all columns that hold numbers
    # the name of every column, and the kind of values that it seems to hold
    kinds: tuple[tuple[str, str], ...]
    values: Vector  # the numbers, shape (rows, columns)
    left_out: int  # the number of rows that have a cell, but lack a number in a chosen column
    lacking: tuple[int, ...]  # the number of these rows that lack the number of each column
    # the first cell without a number in each of the first of these rows
    examples: tuple[UnusedCell, ...]
    assumptions: tuple[str, ...]  # sentences on what was assumed about the file and its numbers
    notes: tuple[str, ...]  # the assumptions, and what was left out
    users: tuple[str, ...] = ()  # the user of each record, if a column of users was named

    @property
    def count(self) -> int:
        """The number of records."""
        return len(self.values)

    @property
    def is_single(self) -> bool:
        """Whether the records are the numbers of one column."""
        return len(self.chosen) == 1

    @property
    def cap_notes(self) -> tuple[str, ...]:
        """Notes on columns in which many numbers equal the largest or the smallest one."""
        pairs = zip(self.chosen, self.values.T, strict=True)
        notes = [(name, note) for name, values in pairs for note in cap_notes(values)]
        return tuple(note if self.is_single else f"{name}: {note}" for name, note in notes)


def read_records(
    content: bytes, names: Sequence[str] | None = None, user: str | None = None
) -> NumberRecords:
    """Return the records of the columns that are named, by default the one of `read_column`.

    `user` is the name of a column with the user of each row, a number or a text.

    A row without a number in one of the columns is left out as a whole: nothing is filled in. A row
    in which all of them are blank is ignored, as with a single column, and so is one without a
    user. Raises `InvalidInput` as `read_column` does.
    """
    file = open_file(content)
    names = list(dict.fromkeys(chosen_names(file, names)))
    require(bool(names), "columns", "at least one", 0)
    chosen = [chosen_cells(file, name) for name in names]
    columns = [number_column(file, cells) for cells in chosen]
    values = np.column_stack([cells.read.values for cells in chosen])
    has_number = ~np.isnan(values)
    is_blank = np.array([[not cell.strip() for cell in one.cells] for one in chosen]).T
    identifiers = [] if user is None else [c.strip() for c in text_cells(file, user, "user")]
    has_user = np.array([bool(name) for name in identifiers] or [True] * len(values))
    is_used = has_number.all(axis=1) & has_user
    is_left_out = ~has_number.all(axis=1) & ~is_blank.all(axis=1)
    examples = []
    for row in np.flatnonzero(is_left_out)[:EXAMPLES].tolist():
        examples.append(chosen[np.flatnonzero(~has_number[row])[0]].unused(row))
    left_out = int(np.count_nonzero(is_left_out))
    assumptions = _collect_assumptions(columns)
    notes = columns[0].notes
    if len(columns) > 1:
        used_count = int(np.count_nonzero(is_used))
        notes = (*assumptions, rows_in_words(used_count, left_out, examples) + ".")
    return NumberRecords(
        chosen=tuple(names),
        names=file.numeric_names,
        kinds=file.kinds,
        values=np.ascontiguousarray(values[is_used]),
        left_out=left_out,
        lacking=tuple(np.count_nonzero(~has_number[is_left_out], axis=0).tolist()),
        examples=tuple(examples),
        assumptions=assumptions,
        notes=notes,
        users=tuple(np.array(identifiers)[is_used].tolist()) if identifiers else (),
    )


def rows_in_words(used_count: int, left_out: int, examples: Sequence[UnusedCell]) -> str:
    """Return how many rows are used and how many are left out, with examples of the latter.

    Examples
    --------
    >>> cell = UnusedCell(column="b", cell="n/a", line=12, is_missing=True)
    >>> rows_in_words(284, 16, [cell])
    "284 rows used, 16 left out, for example 'n/a' in column b, line 12"
    """
    counts = f"{used_count:,} rows used, {left_out or 'none':{',' if left_out else ''}} left out"
    if not examples:
        return counts
    example = examples[0]
    cell = f"'{example.cell}'" if example.cell else "a blank cell"
    return f"{counts}, for example {cell} in column {example.column}, line {example.line:,}"


def names_in_words(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    Examples
    --------
    >>> names_in_words(["a", "b", "c"]), names_in_words(["a"])
    ('a, b and c', 'a')
    """
    *other_names, final_name = names
    return f"{', '.join(other_names)} and {final_name}" if other_names else final_name


def _collect_assumptions(columns: Sequence[NumberColumn]) -> tuple[str, ...]:
    """Return the assumptions about all columns, each once, then those about some, with names."""
    notes = dict[str, None]()
    for column in columns:
        for note in column.assumptions:
            is_shared = all(note in other.assumptions for other in columns)
            notes[note if is_shared else f"{column.name}: {note}"] = None
    return tuple(notes)
