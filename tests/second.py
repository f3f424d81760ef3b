"""Which test computes a bound a second time: the test says so, and no table is told."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
T = TypeVar("T")


def second_implementation_of(*slugs: str) -> Callable[[T], T]:
    """Say of a test that it compares these explicit bounds with another way to compute them."""
    assert slugs
    return lambda test: test


def declared() -> Iterator[tuple[str, str]]:
    """Yield the slug of each such bound, and its test, as ``"tests/bounds/test_x.py::test_y"``."""
    for path in sorted((ROOT / "tests" / "bounds").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if second_implementation_of.__name__ not in text:
            continue
        for test in ast.parse(text).body:
            for mark in getattr(test, "decorator_list", ()):
                if isinstance(mark, ast.Call) and (
                    getattr(mark.func, "id", "") == second_implementation_of.__name__
                ):
                    for slug in mark.args:
                        yield ast.literal_eval(slug), f"{path.relative_to(ROOT)}::{test.name}"  # type: ignore[attr-defined]
