"""What a name and a comment may be, each rule shown to catch a deliberate fault.

A name says what a value is: `found` and `said` fit every value. A comment stands alone: one
that goes on with the code's line as a sentence, as in ``# of the noise``, says nothing by itself.
"""

from __future__ import annotations

import ast
import doctest
import io
import re
import tokenize
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
VAGUE = frozenset({"found", "said", "held"})
CONTINUES = {"of", "that", "and", "which", "than", "whose"}
# In each folder these names are forbidden, and the lists only become longer.
FORBIDDEN_NAMES = {
    "dpsco_core": VAGUE | {"of"},
    "dpsco_app": VAGUE | {"of", "drawn"},
    "tests": VAGUE - {"said"},
    "benchmarks": VAGUE,
    "deploy": VAGUE,
}
COMMENTED = ("dpsco_core", "dpsco_app", "tests", "benchmarks")


def bound(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield the names that a module binds: variables, parameters and private definitions."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if node.attr.startswith("_"):
                yield node.attr, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_"):
                yield node.name, node.lineno
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            if node.name:
                yield node.name, node.lineno
        elif isinstance(node, ast.alias):
            yield node.asname or node.name, node.lineno


def examples(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.Module, int]]:
    """Yield the examples of a module's docstrings, each with the line before its own first one."""
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text and ">>>" in text:
                first_line = node.body[0].lineno
                for example in doctest.DocTestParser().get_examples(text):
                    yield ast.parse(example.source), first_line + example.lineno - 1


def vague_names(file: str, source: str, vague: Collection[str] = VAGUE) -> list[str]:
    """Return the places where a variable, a parameter or a private definition has a vague name."""
    if not re.search(rf"\b_*({'|'.join(vague)})\b", source):
        return []
    nodes = tuple(ast.walk(ast.parse(source)))
    names = list(bound(nodes))
    for example, offset in examples(nodes):
        names += [(name, offset + line) for name, line in bound(tuple(ast.walk(example)))]
    return [
        f"{file}:{line}: the name {name} fits every value: say what this one is."
        for name, line in sorted(names, key=lambda name_and_line: name_and_line[1])
        if name.lstrip("_") in vague
    ]


def loose_comments(file: str, source: str) -> list[str]:
    """Return the places where a comment continues a line of code as a sentence."""
    faults, last_line, lines = [], -1, source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, column = token.start
        goes_on = last_line == line - 1 and not lines[line - 1][:column].strip()
        last_line = line
        words = token.string.lstrip("#: ").split()
        if words and not goes_on and words[0].rstrip(",:;") in CONTINUES:
            faults.append(f"{file}:{line}: the comment {token.string!r} does not stand alone.")
    return faults


@cache
def sources(folder: str) -> dict[str, str]:
    """Return the source of every module of a folder, by its path in the tree."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    return {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in paths}


@pytest.mark.parametrize(("folder", "names"), FORBIDDEN_NAMES.items())
def test_a_name_says_what_a_value_is(folder: str, names: frozenset[str]) -> None:
    files = sources(folder)
    assert files
    faults = [fault for file, text in files.items() for fault in vague_names(file, text, names)]
    assert not faults, "\n".join(faults)


def test_a_comment_stands_alone() -> None:
    files = {file: text for folder in COMMENTED for file, text in sources(folder).items()}
    assert len(files) > 300
    faults = [fault for file, text in files.items() for fault in loose_comments(file, text)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("source", "line", "name"),
    [
        ("x = 1\nfound = 2\n", 2, "found"),
        ("def f(said: str) -> None: ...\n", 1, "said"),
        ("def f(*, held=1): ...\n", 1, "held"),
        ("rows = [found for found in range(3)]\n", 1, "found"),
        ("for x, (y, found) in []:\n    pass\n", 1, "found"),
        ("with open('a') as found:\n    pass\n", 1, "found"),
        ("if (found := 1):\n    pass\n", 1, "found"),
        ("try:\n    pass\nexcept OSError as said:\n    pass\n", 3, "said"),
        ("match 1:\n    case found:\n        pass\n", 2, "found"),
        ("match [1]:\n    case [*found]:\n        pass\n", 2, "found"),
        ("import math as found\n", 1, "found"),
        ("class A:\n    found: int = 1\n", 2, "found"),
        ("class A:\n    def __init__(self):\n        self._found = 1\n", 3, "_found"),
        ("f = lambda found: 1\n", 1, "found"),
        ("x = 1\n\n\ndef _said() -> str: ...\n", 4, "_said"),
        ("class A:\n    async def _held(self): ...\n", 2, "_held"),
        ('def f():\n    """Add.\n\n    >>> found = f()\n    """\n', 4, "found"),
    ],
)
def test_a_vague_name_is_caught(source: str, line: int, name: str) -> None:
    assert vague_names("a.py", source) == [
        f"a.py:{line}: the name {name} fits every value: say what this one is."
    ]


@pytest.mark.parametrize(
    "source",
    [
        "methods = 1\n",
        "self.found = 1\n",  # The attribute is public, so another file may read it.
        "found_radius = foundation = 1\n",
        '"""What was found and said is held."""\n',
        "print(found)\n",
        "def found() -> int: ...\n",  # The function is public, so another file may call it.
    ],
)
def test_a_plain_name_is_allowed(source: str) -> None:
    assert vague_names("a.py", source) == []


@pytest.mark.parametrize("word", sorted(CONTINUES))
def test_a_comment_that_goes_on_with_the_code_is_caught(word: str) -> None:
    inline, comment_line = f"# {word} the noise", f"    # {word}: the noise"
    assert loose_comments("a.py", f"x = 1\nSHARE = 2  {inline}\n") == [
        f"a.py:2: the comment {inline!r} does not stand alone."
    ]
    assert loose_comments("a.py", f"def f():\n{comment_line}\n    return 1\n") == [
        f"a.py:2: the comment {comment_line.strip()!r} does not stand alone."
    ]
    # A comment beside code does not continue that of the line above.
    assert loose_comments("a.py", f"x = 1  # a share\ny = 2  {inline}\n") == [
        f"a.py:2: the comment {inline!r} does not stand alone."
    ]


@pytest.mark.parametrize(
    "source",
    [
        "x = 1  # a share of rho\n",
        "# The share of rho for one look\n# and the last one, which is\n# of all.\nx = 1\n",
        "x = '# of the noise'\n",
        "x = 1  # Of two pairs one is known.\n",
        "x = 1  #\n",
    ],
)
def test_a_comment_that_stands_alone_is_allowed(source: str) -> None:
    assert loose_comments("a.py", source) == []
