"""Marks by which a test names the bounds that it covers, so that no table lists them.

A marked test computes a bound a second time, or runs the bound's method at the bound's parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
T = TypeVar("T")


def second_implementation_of(*slugs: str) -> Callable[[T], T]:
    """Mark a test as comparing these explicit bounds with a second implementation."""
    assert slugs
    return lambda test: test


def run_at_parameters_of(*slugs: str) -> Callable[[T], T]:
    """Mark a test as running the method of these explicit bounds at the bounds' parameters."""
    assert slugs
    return lambda test: test


def declared(mark: Callable[..., object] = second_implementation_of) -> Iterator[tuple[str, str]]:
    """Yield the slug of each marked bound, and its test, as
    ``"tests/bounds/test_x.py::test_y"``.
    """
    for path in sorted((ROOT / "tests" / "bounds").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if mark.__name__ not in text:
            continue
        for test in ast.parse(text).body:
            for call in getattr(test, "decorator_list", ()):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == mark.__name__:
                    for slug in call.args:
                        yield ast.literal_eval(slug), f"{path.relative_to(ROOT)}::{test.name}"  # type: ignore[attr-defined]
