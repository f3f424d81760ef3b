"""The layout of a file: the separator of its cells, its rows, and the names of its columns."""

import io
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import shorten
from dpsco_core.explain.columns.cells import is_missing, is_one_number, looks_like_number
from dpsco_core.explain.columns.decode import quoted_line

SAMPLE = 500  # the number of lines from which the layout of a file is read
YEARS = (1800, 2100)
WIDEST = 1000  # the largest number of columns
_QUOTED = r'"(?:[^"]|"")*"'
_WHOLE_CELL = rf"(?<![^\t;|, \n]){_QUOTED}(?=[\t;|, \n]|$)"


@dataclass(frozen=True)
class FileRow:
    """A row of a table: the line in which it begins, counted from 1, and its cells."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """The columns' names, all different, their rows, and what was assumed."""

    names: tuple[str, ...]
    rows: tuple[FileRow, ...]
    numeric: tuple[int, ...]  # the places of the columns that hold mostly numbers
    notes: tuple[str, ...]


def read_table(text: str) -> Table:
    """Return the table in a text; raise `InvalidInput` if there is none, or there are two."""
    separator, notes = _find_separator(text)
    cut = text
    if separator.startswith(" "):
        cut, separator = _replace_spaces_by_tabs(text, separator), "\t"
    unquoted = re.sub(rf"(?m)(^|{re.escape(separator)}) *{_QUOTED}", r"\1", cut).split("\n")
    widths = [line.count(separator) + 1 for line in unquoted]
    rows = _split_into_rows(cut, separator, max(widths))
    usual = Counter(
        w for w, row in zip(widths, rows, strict=False) if any(c.strip() for c in row.cells)
    )
    width = usual.most_common(1)[0][0] if usual else 1
    lines_kept = []
    for number, row in enumerate(rows):
        if not any(c.strip() for c in row.cells):
            continue
        _require_closed_quotes(row, separator)
        is_cut = any(c.strip() for c in row.cells[width:])
        if is_cut or (number < len(widths) and widths[number] != width):
            quote = quoted_line(text, row.line)
            raise InvalidInput(
                f"file must have {width} cells a line, got {quote} in line {row.line:,}."
            )
        lines_kept.append(FileRow(row.line, row.cells[:width]))
    names = [f"column {k + 1}" for k in range(width)]
    if lines_kept and _is_header(lines_kept):
        header, lines_kept = lines_kept[0], lines_kept[1:]
        names = [cell.strip() or names[k] for k, cell in enumerate(header.cells)]
        if any(looks_like_number(cell) for cell in header.cells):
            listing = shorten(", ".join(names))
            notes.append(f"Line {header.line:,} is read as the names of the columns: {listing}.")
    numeric = numeric_columns(lines_kept)
    for row in lines_kept:
        if (
            width > 1
            and numeric
            and not any(looks_like_number(c) or is_missing(c) for c in row.cells)
        ):
            quote = quoted_line(text, row.line)
            raise InvalidInput(f"file must hold one table, got {quote} in line {row.line:,}.")
    return Table(
        names=_number_repeated_names(names),
        rows=tuple(lines_kept),
        numeric=numeric,
        notes=tuple(notes),
    )


def numeric_columns(rows: Sequence[FileRow]) -> tuple[int, ...]:
    """Return the indices, from 0, of the columns with numbers in at least half of their cells."""
    width = len(rows[0].cells) if rows else 0
    # The rows are spread over the file, for text can stand in a block of them.
    sample = rows[:: math.ceil(len(rows) / SAMPLE)] if rows else rows
    full = [[r.cells[k] for r in sample if not is_missing(r.cells[k])] for k in range(width)]
    return tuple(
        k for k, c in enumerate(full) if c and sum(map(looks_like_number, c)) >= 0.5 * len(c)
    )


def counts_rows(cells: Sequence[str]) -> bool:
    """Return whether the cells are whole numbers, each one more than the cell before."""
    if len(cells) < 2 or not all(re.fullmatch(r"[0-9]{1,9}", c) for c in cells):
        return False
    return bool(np.all(np.diff([int(c) for c in cells]) == 1))


def is_year(cell: str) -> bool:
    """Return whether a cell is a whole number of four digits in the range `YEARS`."""
    return bool(re.fullmatch(r"[0-9]{4}", cell)) and YEARS[0] <= int(cell) <= YEARS[1]


def _split_into_rows(text: str, separator: str, widest: int) -> list[FileRow]:
    """Return every row of a text, including blank rows."""
    try:
        table = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            names=range(widest) if widest < WIDEST else None,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            skip_blank_lines=False,
            skipinitialspace=True,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        if line := _line_of_open_quote(text, separator):
            quote = quoted_line(text, line)
            must = "file must close every quotation mark that it opens"
            raise InvalidInput(f"{must}, got {quote} in line {line:,}.") from None
        raise InvalidInput(
            "file must be a table, got text that cannot be read as rows of cells."
        ) from None
    rows, line = [], 1
    for cells in table.to_numpy().tolist():
        rows.append(FileRow(line, tuple(map(str, cells))))
        # A quoted cell can contain line breaks.
        line += 1 + sum(str(cell).count("\n") for cell in cells)
    return rows


def _line_of_open_quote(text: str, separator: str) -> int:
    """Return the line, from 1, of a quotation mark that begins a cell and is never closed; or 0."""
    begins = rf"(?m)(^|{re.escape(separator)}) *"
    closed = re.sub(rf"{begins}{_QUOTED}", lambda cell: cell[1] + "\n" * cell[0].count("\n"), text)
    opening = re.search(rf'{begins}"', closed)
    return 0 if opening is None else closed.count("\n", 0, opening.end()) + 1


def _find_separator(text: str) -> tuple[str, list[str]]:
    """Return the separator of a file's cells, ``;`` if a line has one cell, and notes.

    One or two spaces stand for at least so many.
    """
    head = "\n".join(text.split("\n", 4 * SAMPLE)[: 4 * SAMPLE])
    plain = re.sub(_WHOLE_CELL, lambda cell: re.sub(r'[\t;|, "\n]', "", cell[0]), head)
    lines = [line.strip() for line in plain.split("\n") if line.strip()][:SAMPLE]
    if not lines:
        return ";", []
    for separator in "\t;|,":
        counts = [line.count(separator) for line in lines]
        usual = Counter(counts).most_common(1)[0][0]
        if usual == 0:
            continue
        if (
            separator == ","
            and (spaces := _find_separating_spaces(lines)) != ";"
            and _are_decimal(lines)
        ):
            return spaces, []
        # A first line without the separator is the name of a single column, or the title of a
        # table.
        if counts[0] == 0:
            marked = [line for line in lines if separator in line]
            if separator != "," or not all(map(is_one_number, marked)):
                _require_no_title(text, lines, separator, usual)
            continue
        if separator == "," and all(is_one_number(line) for line in lines if "," in line):
            if 0 in counts:
                continue  # A line that is one number has no separator.
            return _find_separator_of_commas(lines)
        return separator, []
    return _find_separating_spaces(lines), []


def _require_no_title(text: str, lines: list[str], separator: str, usual: int) -> None:
    """Raise `InvalidInput` where most lines have cells with numbers, and the first has one cell."""
    cells = [line.split(separator) for line in lines]
    tables = [c for c in cells if len(c) == usual + 1 and any(map(looks_like_number, c))]
    if 2 * len(tables) > len(lines):
        first_line = 1 + text[: len(text) - len(text.lstrip())].count("\n")
        quote = f"{quoted_line(text, first_line)} in line {first_line:,}"
        raise InvalidInput(f"file must begin with its table, got {quote}.")


def _find_separator_of_commas(lines: list[str]) -> tuple[str, list[str]]:
    """Return the separator of lines such as ``1,5``, which are one number or two, and notes."""
    before_comma, after_comma = zip(*(line.split(",", 1) for line in lines), strict=True)
    if counts_rows(before_comma) and len(set(after_comma)) > 1:
        note = (
            f"Two columns: the first counts the rows, so that '{lines[0]}' is not one number with "
            "a decimal comma."
        )
        return ",", [note]
    if all(line.count(",") > 1 for line in lines):
        return ";", []  # Every line has groups of thousands.
    raise InvalidInput(
        f"file must be clear, got '{shorten(lines[0])}' in line 1, one number or two: names of "
        "the columns in a first line would tell."
    )


def _find_separating_spaces(lines: list[str]) -> str:
    """Return the spaces that separate the cells of a line, or ``;`` if a line has one cell."""
    counts = {
        spaces: [len(re.findall(f"{spaces}+", line)) for line in lines] for spaces in ("  ", " ")
    }
    even = [spaces for spaces, gaps in counts.items() if gaps[0] and len(set(gaps)) < 2]
    if not even:
        return ";"
    parts = [re.split(f"{even[0]}+", line) for line in lines]
    body = lines if looks_like_number(lines[0]) else lines[1:]
    is_counted = counts_rows([row[0] for row in parts[len(lines) - len(body) :]])
    if even[0] == " " and all(map(is_one_number, body)) and not is_counted:
        return ";"  # The spaces separate groups of thousands.
    units = sum(
        len(row) == 2 and looks_like_number(row[0]) and not looks_like_number(row[1])
        for row in parts
    )
    if 2 * units > len(parts):  # Units follow their numbers, so the spaces separate no cells.
        return ";"
    numbers = sum(any(map(looks_like_number, row)) for row in parts)
    return even[0] if 2 * numbers > len(parts) else ";"


def _are_decimal(lines: list[str]) -> bool:
    """Return whether every comma is in a number between spaces, as in ``a 1,5 2,5``."""
    parts = [part for line in lines for part in line.split() if "," in part]
    return not any(part.endswith(",") or not is_one_number(part) for part in parts)


def _replace_spaces_by_tabs(text: str, spaces: str) -> str:
    """Return a text in which a tab replaces every run of at least `spaces` between two cells."""
    stripped = "\n".join(line.strip(" ") for line in text.split("\n"))
    return re.sub(
        f"{_QUOTED}|{spaces}+", lambda part: "\t" if part[0][0] == " " else part[0], stripped
    )


def _is_header(rows: Sequence[FileRow]) -> bool:
    """Return whether the first row contains the names of the columns.

    Names such as 2019 and 2020 look like numbers. They are names beside a word that heads numbers
    if they rise evenly, and beside any word if they are years above numbers of another kind.
    """
    header_cells, body_rows = rows[0].cells, rows[1:]
    words = [
        k for k, c in enumerate(header_cells) if not looks_like_number(c) and not is_missing(c)
    ]
    labels = [k for k, c in enumerate(header_cells) if looks_like_number(c)]
    numeric = numeric_columns(body_rows)
    heads_numbers = any(k in numeric for k in words)
    if not words:
        return False
    if not labels:  # A row of text and missing marks belongs to the data.
        return heads_numbers or not any(header_cells[k].strip() for k in numeric)
    cells = [header_cells[k].strip() for k in labels]
    if all(map(is_year, cells)):
        sample = [row.cells[k].strip() for row in body_rows[:SAMPLE] for k in labels]
        if 2 * sum(map(is_year, sample)) < len(sample):
            return True
    if not (heads_numbers and len(cells) > 1 and all(re.fullmatch("[0-9]{1,9}", c) for c in cells)):
        return False
    steps = set(np.diff([int(c) for c in cells]).tolist())
    return len(steps) == 1 and min(steps) > 0


def _number_repeated_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, with a number after each name that occurred before."""
    separate = list[str]()
    for name in names:
        copies, unique = 1, name
        while unique in separate or (copies > 1 and unique in names):
            copies += 1
            unique = f"{name} ({copies})"
        separate.append(unique)
    return tuple(separate)


def _require_closed_quotes(row: FileRow, separator: str) -> None:
    """Raise `InvalidInput` where a stray quotation mark joins lines of numbers to one cell."""
    for cell in row.cells:
        joined = cell.split("\n")[1:]
        if any(looks_like_number(part) for line in joined for part in line.split(separator)):
            raise InvalidInput(
                "file must close a quotation mark in its own line, got a cell of "
                f"{len(joined) + 1:,} lines that begins '{shorten(cell)}' in line {row.line:,}."
            )
