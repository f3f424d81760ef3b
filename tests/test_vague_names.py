"""The share of vague names in each room may only fall, towards one in a hundred.

A name is vague if it is nothing but a pronoun, an adverb, a preposition, a bare participle or an
ordinal: `own`, `again`, `at`, `kept`, `first` fit every value. Every name that the code binds is
counted, except in comprehensions of one line, where the whole life of a name is in sight.

    python -m tests.test_vague_names          # the share of every room, as the table has it
    python -m tests.test_vague_names ROOM     # where a room's vague names are
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GOAL = 1.0  # The aim, in per cent.

PRONOUNS = """
anyone anything both each either every everybody everyone everything few least less many mine more
most much neither nobody none nothing one ones other others ours own several some someone something
such that theirs these this those two three what which who whom whose
"""
ADVERBS = """
again ahead alone already also always apart aside away back else elsewhere enough ever everywhere
far here how just late maybe mostly near nearly never now nowhere off often once only quite rather
so soon still then there thus together too twice when whenever where wherever why yet
"""
PREPOSITIONS = """
about above across after against along alongside among around at before behind below beneath beside
besides between beyond by down during except for from in inside into like of on onto outside over
past since than through till to toward under until up upon via with within without
"""
ORDINALS = "first second third fourth last next"
PARTICIPLES = """
asked bare came come did done drawn found gave given going gone got held kept knew known looked lost
made met moved named needed put ran said saw says seen shown spoken taken told took used wanted was
went were
"""
VAGUE = frozenset((PRONOUNS + ADVERBS + PREPOSITIONS + ORDINALS + PARTICIPLES).split())
# The largest allowed share of vague names of each room, in per cent, rounded up to tenths. It is
# the share at the last change: a room that has improved gets its new number, and no number grows.
LIMITS: dict[str, float] = {
    "benchmarks": 0.7,
    "deploy": 0.5,
    "dpsco_app": 0.0,
    "dpsco_app/figure": 0.8,
    "dpsco_app/front": 0.1,
    "dpsco_app/lessons": 0.0,
    "dpsco_app/pages": 0.5,
    "dpsco_app/parts": 1.0,
    "dpsco_app/runs": 0.0,
    "dpsco_app/session": 0.2,
    "dpsco_app/shell": 0.3,
    "dpsco_app/static_page": 0.4,
    "dpsco_core": 0.8,
    "dpsco_core/audit": 0.0,
    "dpsco_core/base": 0.8,
    "dpsco_core/bounds": 0.1,
    "dpsco_core/cli": 0.0,
    "dpsco_core/data": 0.0,
    "dpsco_core/explain": 0.3,
    "dpsco_core/fields": 0.6,
    "dpsco_core/geometry": 0.0,
    "dpsco_core/methods": 0.3,
    "dpsco_core/plugins": 0.0,
    "dpsco_core/privacy": 0.0,
    "dpsco_core/problems": 0.0,
    "dpsco_core/referee": 0.0,
    "dpsco_core/results": 0.0,
    "dpsco_core/runs": 0.3,
    "dpsco_core/statements": 0.0,
    "dpsco_core/words": 0.0,
    "tests": 0.4,
    "tests/app": 0.6,
    "tests/attack": 0.0,
    "tests/audit": 0.0,
    "tests/base": 0.3,
    "tests/bounds": 0.1,
    "tests/browser": 0.0,
    "tests/cli": 0.2,
    "tests/data": 0.2,
    "tests/deploy": 0.0,
    "tests/explain": 0.4,
    "tests/geometry": 0.0,
    "tests/methods": 0.0,
    "tests/privacy": 0.5,
    "tests/problems": 0.5,
    "tests/referee": 0.2,
    "tests/results": 0.3,
    "tests/runs": 0.3,
    "tests/site": 0.0,
    "tests/statements": 0.0,
    "tests/trust": 0.1,
    "tests/words": 0.0,
}


def bound_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield every name that a module binds, with its line."""
    exempt: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            if node.lineno == node.end_lineno:
                targets = (generator.target for generator in node.generators)
                exempt |= {id(part) for target in targets for part in ast.walk(target)}
        # Python itself calls the operand of `__eq__` and its like `other`.
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("__"):
            exempt |= {id(operand) for operand in node.args.args if operand.arg == "other"}
    for node in ast.walk(tree):
        if id(node) in exempt:
            continue
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
                yield name, node.lineno
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno


def is_vague(name: str) -> bool:
    """Whether a name is nothing but a vague word."""
    return name.strip("_").lower() in VAGUE


def room_of(path: Path) -> str:
    """Return the room of a file: its folder in a package, or else the top folder."""
    top, *rest = path.relative_to(ROOT).parts
    has_rooms = top in ("dpsco_core", "dpsco_app", "tests")
    return f"{top}/{rest[0]}" if has_rooms and len(rest) > 1 else top


def names_by_room() -> dict[str, list[tuple[str, Path, int]]]:
    """Return the names that the code of each room binds, with their files and lines."""
    rooms: dict[str, list[tuple[str, Path, int]]] = {}
    for folder in ("dpsco_core", "dpsco_app", "benchmarks", "deploy", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names = [(name, path, line) for name, line in bound_names(tree)]
            rooms.setdefault(room_of(path), []).extend(names)
    return {room: names for room, names in rooms.items() if names}


def vague_share(names: list[tuple[str, Path, int]]) -> float:
    """Return the share of vague names, in per cent."""
    return 100 * sum(is_vague(name) for name, _, _ in names) / len(names)


def test_no_room_gets_vaguer() -> None:
    rooms = names_by_room()
    assert rooms.keys() == LIMITS.keys()
    shares = {room: vague_share(names) for room, names in rooms.items()}
    assert {room: share for room, share in shares.items() if share > LIMITS[room]} == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("own = 1", ["own"]),
        ("def f(at, *, known=1): ...", ["f", "at", "known"]),
        ("for first, (others, x) in []: pass", ["first", "others", "x"]),
        ("self._kept = 1", ["_kept"]),
        ("class Told:\n    made: int = 1", ["Told", "made"]),
        ("try: pass\nexcept OSError as why: pass", ["why"]),
        ("import numpy as here", ["here"]),
        ("match x:\n    case [again, *most]: pass", ["again", "most"]),
        ("rows = [own for own in range(3)]", ["rows"]),
        ("rows = [\n    own for own in range(3)\n]", ["rows", "own"]),
        ("class A:\n    def __eq__(self, other): ...", ["A", "__eq__", "self"]),
        ("print(own, known)", []),
    ],
)
def test_every_name_that_is_bound_is_counted(source: str, names: list[str]) -> None:
    assert sorted(name for name, _ in bound_names(ast.parse(source))) == sorted(names)


def test_a_vague_word_within_a_longer_name_is_not_counted() -> None:
    assert is_vague("_kept") and is_vague("OTHERS") and is_vague("at")
    assert not any(is_vague(name) for name in ("kept_rows", "is_known", "radius", "outcomes"))


def main(rooms: list[str]) -> None:
    """Print the table of shares, or the vague names of some rooms."""
    for room, names in sorted(names_by_room().items()):
        if not rooms:
            print(f'    "{room}": {math.ceil(10 * vague_share(names)) / 10},')
        for name, path, line in names if room in rooms else ():
            if is_vague(name):
                print(f"{path.relative_to(ROOT)}:{line}: {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
