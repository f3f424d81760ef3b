"""The cells of a column as numbers: decimal marks, groups of thousands, signs, missing marks.

What the marks mean is read off the whole column, never off one cell, and is said in a note.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import shorten

MISSING = {
    *("", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "nil", "missing"),
    *("-", "--", "–", "—", ".", "..", "...", "?"),
}
LONGEST_CELL = 400  # A longer cell is not a number, since floats have at most 309 digits.
_PLAIN = re.compile(r"\s*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\s*", re.ASCII)
_EXPONENT = r"(?:[eE][-+]?[0-9]+)?"
_SPACES = "\u00a0\u2007\u2009\u202f "
_SIGNS = re.compile(r"[$€£¥₹₩₽₺₫₪฿¢%‰]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD)\b")
_BODY = re.compile(rf"[0-9.,'’{_SPACES}]+{_EXPONENT}")
# Digits in groups of three or, as in India, in groups of two before a last group of three.
_GROUPED = {
    mark: re.compile(rf"[0-9]{{1,3}}(?:[{mark}][0-9]{{2,3}})*[{mark}][0-9]{{3}}") for mark in ".,"
}
_MARK_NAMES = {".": "point", ",": "comma"}


@dataclass(frozen=True, kw_only=True)
class ReadCells:
    """The numbers in the cells of a column, and the assumptions made in reading them."""

    values: Vector  # the numbers of the cells, NaN where there is none
    missing: tuple[int, ...]  # the places of marks for a missing number other than a blank cell
    # the places of cells that hold neither a number nor a mark for a missing number
    unreadable: tuple[int, ...]
    notes: tuple[str, ...]  # sentences on what was assumed about the cells


def looks_like_number(cell: str) -> bool:
    """Return whether a cell consists of digits, points, commas, spaces and apostrophes.

    A sign, an exponent and a unit are optional. The marks need not be in places where a number can
    have them: 12,5,7 passes.
    """
    cell = cell.strip()
    return bool(_PLAIN.fullmatch(cell)) or (
        len(cell) <= LONGEST_CELL and _parse_number(cell) is not None
    )


def is_one_number(line: str) -> bool:
    """Return whether a line is one number if ``.`` or ``,`` is its decimal mark; 12,5,7 is not."""
    parsed = _parse_number(line) if len(line) <= LONGEST_CELL else None
    return parsed is not None and any(_absolute_value(parsed[0], mark) is not None for mark in ".,")


def is_missing(cell: str) -> bool:
    """Return whether a cell is blank or holds a mark for a missing number."""
    return cell.strip().lower() in MISSING


def read_cells(cells: Sequence[str], lines: Sequence[int]) -> ReadCells:
    """Return the cells as numbers; `lines` are their line numbers in the file.

    Raises `InvalidInput` where a mark can mean two things.
    """
    values = np.full(len(cells), math.nan)
    plain = np.array([bool(_PLAIN.fullmatch(c)) and len(c) <= LONGEST_CELL for c in cells], bool)
    values[plain] = pd.Series(cells, dtype=object)[plain].astype(float)
    missing, unreadable, marked = list[int](), list[int](), dict[int, tuple[str, str, bool]]()
    for i in np.flatnonzero(~plain).tolist():
        cell = cells[i].strip()
        if cell.lower() in MISSING:
            if cell:
                missing.append(i)
            continue
        parsed = _parse_number(cell) if len(cell) <= LONGEST_CELL else None
        if parsed is None:
            unreadable.append(i)
        else:
            marked[i] = parsed
    bodies = {i: body for i, (body, _, _) in marked.items()}
    dotted = {i: cells[i].strip() for i in np.flatnonzero(plain).tolist() if "." in cells[i]}
    whole = [abs(values[i]) for i in np.flatnonzero(plain).tolist() if cells[i].strip().isdigit()]
    decimal, notes = _find_decimal_mark(bodies, dotted, max(whole, default=0.0), lines)
    if decimal == ",":  # With a decimal comma, 1.234 means 1234.
        bodies |= {i: text.lstrip("+-") for i, text in dotted.items()}
        marked |= {i: (bodies[i], "", text.startswith("-")) for i, text in dotted.items()}
    for i, (_, _, negative) in marked.items():
        size = _absolute_value(bodies[i], decimal)
        values[i] = math.nan if size is None else -size if negative else size
        if size is None:
            unreadable.append(i)
    read = [i for i in marked if not math.isnan(values[i])]
    notes += _describe_signs(cells, lines, read, marked, plain)
    return ReadCells(
        values=values,
        missing=tuple(missing),
        unreadable=tuple(sorted(unreadable)),
        notes=tuple(notes),
    )


def _parse_number(cell: str) -> tuple[str, str, bool] | None:
    """Return the digits and marks of a cell, its unit, and whether it is negative."""
    text = cell.replace("\u2212", "-").strip()
    units = _SIGNS.findall(text)
    if len(units) > 1:
        return None
    text = _SIGNS.sub("", text).strip(_SPACES + "\t")
    negative = text.startswith("(") and text.endswith(")")
    if negative:
        text = text[1:-1].strip(_SPACES + "\t")
    if text.endswith("-") and not negative:  # Accounts write the sign after the number.
        negative, text = True, text[:-1].strip()
    elif text[:1] in ("-", "+") and not negative:
        negative, text = text[0] == "-", text[1:].strip()
    if not (_BODY.fullmatch(text) and text[0] in "0123456789.,"):
        return None
    return text, "".join(units), negative


def _find_decimal_mark(
    bodies: dict[int, str], dotted: dict[int, str], largest_whole: float, lines: Sequence[int]
) -> tuple[str, list[str]]:
    """Return the decimal mark of a column, with the sentences that explain its choice."""
    texts = bodies | {i: text.lstrip("+-") for i, text in dotted.items()}
    votes = dict[str, int]()  # for each decimal mark, the place of a cell that shows it
    for i, text in texts.items():
        comma, dot = text.count(","), text.count(".")
        if comma and dot:
            votes.setdefault("," if text.rfind(",") > text.rfind(".") else ".", i)
        elif comma > 1:
            votes.setdefault(".", i)
        elif dot > 1 or (comma and not _is_grouped(text, ",")):
            votes.setdefault(",", i)
        elif dot and not _is_grouped(text, "."):
            votes.setdefault(".", i)
    if len(votes) > 1:
        first_example, second_example = (
            f"'{texts[i]}' in line {lines[i]:,}" for i in votes.values()
        )
        raise InvalidInput(
            f"decimal mark must be the same in a column, got {first_example} and {second_example}."
        )
    commas = [i for i, text in texts.items() if "," in text]
    dots = [i for i, text in texts.items() if "." in text]
    decimal = next(iter(votes), "")
    if not decimal and commas:
        example = f"'{texts[commas[0]]}' in line {lines[commas[0]]:,}"
        # A comma before three digits is a decimal comma or separates groups. It separates groups if
        # all whole numbers of the column are below a thousand, so that they need no groups.
        has_small = not dots and 0 < largest_whole < 1000
        if not has_small:
            raise InvalidInput(
                "decimal mark must be clear from the column, got commas that separate thousands or "
                f"decimals, as {example}."
            )
        decimal = "."
    decimal = decimal or "."
    groups = dots if decimal == "," else commas
    notes = []
    if decimal == "," or groups:
        notes.append(f"Decimal mark: {_MARK_NAMES[decimal]}.")
    elif dots and not votes:
        notes.append(
            f"Decimal mark: point, so that '{texts[dots[0]]}' in line {lines[dots[0]]:,} is no "
            "number of thousands."
        )
    if groups:
        name = _MARK_NAMES["." if decimal == "," else ","]
        size = _absolute_value(texts[groups[0]], decimal)
        read = f": '{texts[groups[0]]}' is read as {size:.15g}" if size is not None else ""
        notes.append(f"Thousands separator: {name}{read}.")
    for mark, name in (("'’", "apostrophe"), (_SPACES, "space")):
        using = next((t for t in bodies.values() if any(m in t for m in mark)), None)
        if using is not None and _absolute_value(using, decimal) is not None:
            read = f"'{shorten(using)}' is read as {_absolute_value(using, decimal):.15g}"
            notes.append(f"Thousands separator: {name}: {read}.")
    return decimal, notes


def _is_grouped(text: str, mark: str) -> bool:
    """Return whether a text is a whole number in groups that `mark` separates."""
    return not text.startswith("0") and bool(_GROUPED[mark].fullmatch(text))


def _absolute_value(text: str, decimal: str) -> float | None:
    """Return the absolute value of a number in a cell; None where its marks do not fit."""
    whole, _, rest = text.partition(decimal)
    group = "," if decimal == "." else "."
    whole = re.sub(rf"['’{_SPACES}]", group, whole)
    if group in whole:
        if not _is_grouped(whole, group):
            return None
        whole = whole.replace(group, "")
    if not re.fullmatch(rf"[0-9]*\.?[0-9]*{_EXPONENT}", f"{whole}.{rest}" if rest else whole):
        return None
    try:
        return float(f"{whole}.{rest}" if rest else whole)
    except ValueError:
        return None


def _describe_signs(
    cells: Sequence[str],
    lines: Sequence[int],
    read: list[int],
    marked: dict[int, tuple[str, str, bool]],
    plain: np.ndarray,
) -> list[str]:
    """Return sentences on units and signs; raise `InvalidInput` if units differ."""
    notes = []
    units = dict[str, int]()
    for i in read:
        units.setdefault(marked[i][1], i)
    if plain.any() and "%" in units:
        units.setdefault("", int(np.flatnonzero(plain)[0]))
    signs = [unit for unit in units if unit]
    if len(signs) > 1 or ("" in units and {"%", "‰"} & set(signs)):
        units_text = " and ".join(
            f"'{shorten(cells[i])}' in line {lines[i]:,}" for i in units.values()
        )
        raise InvalidInput(f"numbers must be of one unit in a column, got {units_text}.")
    if signs:
        notes.append(f"Unit: the sign {signs[0]} is left out, and the numbers are in that unit.")
    account = next((i for i in read if "(" in cells[i] or cells[i].strip().endswith("-")), None)
    if account is not None:
        notes.append(f"Negative numbers: '{cells[account].strip()}' is below 0.")
    return notes
