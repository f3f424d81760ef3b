"""Hostile input: values at the limits, and text that breaks careless parsers."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from dpsco_core.catalogue import DISTRIBUTION_SLUGS, METHOD_SLUGS, PROBLEM_SLUGS
from dpsco_core.geometry import GEOMETRIES
from dpsco_core.scenario import AXES

T = TypeVar("T")
LONGEST_SENTENCE = 500  # Largest number of characters of a refusal.

NASTY = (
    *("", " ", "none", "None", "null", "true", "0", "-0", "-1", "1", "2", "0.5", "1,2", "2,1"),
    *("nan", "inf", "-inf", "Infinity", "1e308", "1e309", "1e400", "-1e400", "5e-324", "1e-400"),
    *("1e9", "1e10", "1_000", "0x10", "1e", "+1", "--1", "1.", ".5", "٣", "²", "１０", "½"),
    *("9223372036854775807", "9223372036854775808", "1" + "0" * 39, "9" * 5000, "1" * 100_000),
    *("1," * 5000, "," * 5000, "mean.clipped," * 3000, "a" * 1_000_000),
    *("\x00", "1\x00", "\n", "1\n2", "\r\nSet-Cookie: a=b", "\u202e1", "\ud7ff", "\U0001f4a9"),
    *("é" * 100, "%00", "%2e%2e%2f", "../../etc/passwd", "/etc/passwd", "file:///etc/passwd"),
    *("<script>alert(1)</script>", "[a](javascript:alert(1))", "![x](//h/p.png)", "$\\href{x}$"),
    *("';DROP TABLE cells;--", "{{7*7}}", "${7*7}", "__import__('os')", "{0.__class__}", "%s%n"),
    *("[[" * 500, "{" * 500, "problem=mean&n=1", "a=b;c=d", "&", "=", "#", "?", "\\", '"'),
)
NUMBERS = {
    "n": (1, 2, 3, 10, 100, 1000, 10_000, 999_999, 1_000_000, 1_000_001, 10**9, 10**9 + 1),
    "d": (1, 2, 5, 7, 20, 100, 999, 1000, 1001, 100_000, 100_001),
    "m": (1, 2, 10, 1000, 10_000_000, 10_000_001),
    "epsilon": (0, 1e-7, 1e-6, 0.01, 0.1, 1, 10, 100, 1e6, 1e6 + 1, 1e300),
    "delta": (0, 5e-324, 1e-300, 9.9e-101, 1e-100, 1e-12, 1e-6, 0.5, 0.999999999, 1),
    "rho": (0, 1e-13, 1e-12, 0.01, 0.5, 100, 1e12, 1e13),
    "p": (1.999, 2, 2.0000001, 2.5, 3, 10, 49.9, 50, 50.1),
    "margin": (0, 1e-7, 1e-6, 0.5, 100, 101),
    "q": (0.999, 1, 1.0000001, 1.5, 2, 3, 1e6, 1e300),
    "diameter": (0, 1e-7, 1e-6, 1, 4, 1e6, 1e7),
    "offset": (-1, 0, 5e-324, 1, 2, 2.0000001, 5e5),
    "trials": (0, 1, 2, 20, 200, 201, 100_000),
    "seed": (-1, 0, 1, 2**63 - 1, 2**63),
}
WORDS = {
    "problem": PROBLEM_SLUGS,
    "distribution": DISTRIBUTION_SLUGS,
    "geometry": GEOMETRIES,
    "axis": (*AXES, "none"),
    "calibration": ("tight", "paper"),
    "tuning": ("practical", "theory"),
    "methods": METHOD_SLUGS,
}
FIELDS = (*NUMBERS, *WORDS, "grid")
EVERY_NUMBER = [x for values in NUMBERS.values() for x in values]
EVERY_WORD = [slug for slugs in WORDS.values() for slug in slugs]


def picked(values: Sequence[T]) -> st.SearchStrategy[T]:
    """Return a strategy for one of `values`, which are not shown because some
    are a megabyte long.
    """
    return st.integers(0, len(values) - 1).map(lambda i: values[i])


# Any text; texts that often cause errors are the most frequent.
ANY_TEXT = picked(NASTY) | st.text(max_size=60) | (st.floats() | st.integers()).map(str)


def likely(name: str) -> st.SearchStrategy[str]:
    """Return text that the field `name` of a scenario may take, often at its limits."""
    if name == "methods":
        slugs = st.lists(st.sampled_from(METHOD_SLUGS), max_size=6).map(",".join)
        return slugs | st.just(",".join(METHOD_SLUGS))
    if name in WORDS:
        return st.sampled_from(WORDS[name])
    if name == "grid":
        return st.lists(picked(EVERY_NUMBER), max_size=14).map(
            lambda xs: ",".join(str(x) for x in sorted(set(xs)))
        )
    return picked([str(x) for x in NUMBERS[name]])


LIKELY = {name: likely(name) for name in FIELDS}


@st.composite
def queries(draw: st.DrawFn, likely_values: dict[str, st.SearchStrategy[str]]) -> dict[str, str]:
    """Return query parameters: mostly possible values at the limits, and some arbitrary ones."""
    names_of_values = sorted(likely_values)
    names = (
        draw(st.lists(st.sampled_from(names_of_values), max_size=7, unique=True))
        if names_of_values
        else []
    )
    wild = draw(st.integers(0, 9)) < 3
    query = {n: draw(ANY_TEXT if wild and draw(st.booleans()) else likely_values[n]) for n in names}
    if draw(st.integers(0, 9)) == 0:
        query[draw(ANY_TEXT)] = draw(ANY_TEXT)
    return query


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | picked([*EVERY_NUMBER, math.nan, math.inf, -math.inf, 10**5000, -(10**400)])
    | ANY_TEXT
    | picked(EVERY_WORD)
)
# Any value that JSON or TOML can hold; values at the limits are the most frequent.
JSON_VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=10,
)


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a JSON object that looks like a scenario, with its values typed or as text."""
    names = draw(st.lists(st.sampled_from(FIELDS), max_size=7, unique=True))
    fields: dict[str, Any] = {}
    for name in names:
        kind = draw(st.integers(0, 9))
        if kind < 4:
            fields[name] = draw(LIKELY[name])
        elif kind < 7 and name in NUMBERS:
            fields[name] = draw(picked(NUMBERS[name]))
        else:
            fields[name] = draw(JSON_VALUES)
    if draw(st.integers(0, 9)) == 0:
        fields[draw(ANY_TEXT)] = draw(JSON_VALUES)
    return fields


WHOLE_FILES = objects().map(lambda values: dumps(values))
# Texts that are nearly JSON, and texts that are not like it at all.
BROKEN_FILES = (
    WHOLE_FILES
    | st.tuples(WHOLE_FILES, st.integers(0, 200)).map(lambda pair: pair[0][: pair[1]])
    | picked([3, 100, 10_000, 200_000]).map(lambda k: "[" * k)
    | picked([3, 100, 10_000, 100_000]).map(lambda k: '{"n":' * k + "1" + "}" * k)
    | st.just('{"n": 5, "n": 1e999, "seed": 1, "seed": 2}')
    | ANY_TEXT
)


def dumps(value: Any) -> str:
    """Return JSON, also of integers that are longer than what Python writes by itself."""
    short = {k: ("9" * 4000 if is_long(v) else v) for k, v in value.items()}
    return json.dumps(short, default=str)


def is_long(value: Any) -> bool:
    """Whether a value contains an integer that `json.dumps` refuses to write."""
    if isinstance(value, list):
        return any(is_long(v) for v in value)
    if isinstance(value, dict):
        return any(is_long(v) for v in value.values())
    return isinstance(value, int) and value.bit_length() > 14_000


def is_one_sentence(text: str) -> bool:
    """Whether a refusal is one short sentence on one line that states what is allowed."""
    return (
        " must be " in text
        and text.endswith(".")
        and text.isprintable()
        and len(text) <= LONGEST_SENTENCE
    )
