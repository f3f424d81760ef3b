"""The table of a scenario's fields: their types, ranges, texts and controls.

The parser, the checks, the flags of the command line, the controls and the glossary of the
dashboard, and docs/interfaces.md all read this table.
"""

from dataclasses import fields
from typing import Any

from dpsco_core.base.limits import LIBRARY, Limits
from dpsco_core.fields.field import Field, Span
from dpsco_core.fields.table import AXES, GROUPS, MEAN, Fields
from dpsco_core.fields.words import has_alike_items, has_offset

TABLE: dict[str, Field] = {f.name: f.metadata["known"] for f in fields(Fields)}
NAMES = tuple(TABLE)
AXES += [name for name, known in TABLE.items() if known.grid]
# These values replace fields that only a study uses, so that equal cells of two studies have equal
# keys (see `Field.neutral`), and fields that only a run uses, so that two runs have equal data.
OF_STUDY = {name: known.neutral for name, known in TABLE.items() if known.scope == "study"}
OF_RUN = {name: getattr(Fields, name) for name, known in TABLE.items() if known.scope == "run"}


def span(name: str, scenario: Fields | None = None, limits: Limits = LIBRARY) -> Span:
    """Return the smallest and the largest value of a numeric field under the given limits.

    `scenario` matters only for a field whose range depends on others.

    Examples
    --------
    >>> span("p")
    (1.1, 50.0)
    """
    ends = TABLE[name].span(name, Fields() if scenario is None else scenario, limits)
    assert ends is not None, name
    return ends


def parse(name: str, value: Any) -> Any:
    """Return the value of the field `name` in its own type; see `Field.parse`.

    Examples
    --------
    >>> parse("n", "1e4"), parse("grid", "1,2.5"), parse("rho", "none")
    (10000, (1, 2.5), None)
    """
    return TABLE[name].parse(name, value)


def is_whole(name: str) -> bool:
    """Return whether a field holds an integer."""
    return TABLE[name].kind == "whole"


def is_linear(axis: str | None) -> bool:
    """Return whether an axis is drawn on a linear scale rather than a logarithmic one."""
    return axis is not None and TABLE[axis].linear


def is_in_key(name: str, value: Any) -> bool:
    """Whether the keys of stored results and random streams include a field at this value."""
    return not TABLE[name].is_late or value != getattr(Fields, name)


def with_fields(text: str) -> str:
    """Return the docstring of a scenario with its fields as a section before the examples."""
    rows = (
        f"{name} : {_type_in_words(name)}\n        {known.description}"
        for name, known in TABLE.items()
    )
    section = "Parameters\n    ----------\n    " + "\n    ".join(rows)
    return text.replace("Examples\n", f"{section}\n\n    Examples\n", 1)


def _type_in_words(name: str) -> str:
    """Return the type of a field in words, for a docstring."""
    spec = TABLE[name]
    kinds = {"whole": "int", "real": "float", "slugs": "tuple of str", "numbers": "tuple of float"}
    kind = kinds.get(spec.kind, "str")
    return f"{kind} or None" if spec.optional else kind


__all__ = [
    "AXES",
    "GROUPS",
    "MEAN",
    "NAMES",
    "OF_RUN",
    "OF_STUDY",
    "TABLE",
    "Field",
    "Fields",
    "has_alike_items",
    "has_offset",
    "is_in_key",
    "is_linear",
    "is_whole",
    "parse",
    "span",
    "with_fields",
]
