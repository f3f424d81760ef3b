"""The tables of docs/extend.md have every field of a setting, with its default."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from dpsco_core.problems.base import Constants, Setting

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "extend.md").read_text(encoding="utf-8")


def table(class_name: str) -> list[tuple[str, str, str]]:
    """Return the names, meanings and defaults in the table of a class's fields."""
    _, _, rest = PAGE.partition(f"| field of `{class_name}` |")
    rows = re.match(r"[^\n]*\n\|[-|]*\n((?:\|[^\n]*\n)*)", rest)
    assert rows is not None, class_name
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in rows[1].splitlines()]
    return [(name.strip("`"), meaning, default.strip("`")) for name, meaning, _, default in cells]


@pytest.mark.parametrize("kind", [Setting, Constants])
def test_the_table_of_fields_is_that_of_the_class(kind: type[Setting | Constants]) -> None:
    listed = table(kind.__name__)
    class_fields = [(f.name, "" if f.default is MISSING else repr(f.default)) for f in fields(kind)]
    assert [(name, default) for name, _, default in listed] == class_fields
    assert all(meaning for _, meaning, _ in listed)
