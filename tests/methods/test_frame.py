"""Methods are built from parts: few have loops of their own, and the ledger has few entry
points.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from dpsco_core.privacy.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [path.read_text(encoding="utf-8") for path in (ROOT / "dpsco_core/methods").rglob("*.py")]
# These numbers may only fall. A `release` belongs to the protocol, to a kind of plan, or to a
# method of neither kind: private SGD, the two adaptive methods, and the two solvers. The same holds
# for plans.
LIMITS = {"paths": 1, "plans": 8, "releases": 8}


def kinds(source: str) -> Iterator[str]:
    """Yield the name of each construct in a module whose number is limited."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "iterates":
            yield "paths"
        if isinstance(node, ast.ClassDef) and node.name.endswith("Plan"):
            yield "plans"
        if isinstance(node, ast.FunctionDef) and node.name == "release":
            yield "releases"


def count_kinds(sources: Iterable[str]) -> dict[str, int]:
    """Count each kind of a limited construct in some source texts."""
    names = [kind for source in sources for kind in kinds(source)]
    return {kind: names.count(kind) for kind in LIMITS}


def test_few_methods_have_a_loop_a_plan_or_a_release_of_their_own() -> None:
    assert len(SOURCES) > 90
    counts = count_kinds(SOURCES)
    assert all(counts[kind] <= most for kind, most in LIMITS.items()), counts


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("Release(value=w, ledger=ledger, iterates=path)", "paths"),
        ("class WalkedPlan(Plan):\n    radius: float", "plans"),
        ("class Walked:\n    def release(self, rows, plan, ledger, rng): ...", "releases"),
    ],
)
def test_an_additional_construct_is_counted(source: str, kind: str) -> None:
    assert count_kinds([source]) == dict.fromkeys(LIMITS, 0) | {kind: 1}


def test_the_ledger_has_few_ways_to_release() -> None:
    public = {name for name in vars(Ledger) if not name.startswith("_")}
    assert {"release", "open", "disjoint"} < public
    assert len(public - set(Ledger.__dataclass_fields__)) <= 8
