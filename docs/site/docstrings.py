"""An extension of Griffe that reads the docstrings of this project.

They are numpydoc, with formulas in the notation of reStructuredText. Here these become dollars, a
name in single backquotes becomes a link where the reference documents it, and a citation of
docs/theory a link to its section. Comments on the fields of a dataclass become its section of
parameters, and the story of a method stands before them.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

BLOCK = re.compile(
    r"^(?P<indent> *)\.\. math::[ ]*(?P<tex>[^\n]*(?:\n(?:(?P=indent) +[^\n]*|\s*$))*)",
    re.MULTILINE,
)
INLINE = re.compile(r":math:`([^`]+)`")
# What a page shows as it is, or an angle bracket that is no tag.
BRACKET = re.compile(r"`+[^`]*`+|^ *>>>.*$|(<)(?=[A-Za-z/])", re.MULTILINE)
SAID = re.compile(r".*  # (?!noqa|type:)(.+)")
NAME = re.compile(r"(?<![`:\w])`([A-Za-z_][\w.]*)`(?!`)")
CITATION = re.compile(r"(?<!\()\btheory/([\w-]+)\.md,\s+(\d+(?:\.\d+)?)")


def anchor(page: str, section: str) -> str:
    """Return the anchor of a numbered section of a page of docs/theory."""
    return f"{page}-{section.replace('.', '-')}"


def cite(text: str) -> str:
    """Return a text with each citation of docs/theory as a link to its section."""

    def link(match: re.Match[str]) -> str:
        words = " ".join(match[0].split())
        return f'<autoref identifier="{anchor(match[1], match[2])}">{words}</autoref>'

    return CITATION.sub(link, text)


def markdown(text: str) -> str:
    """Return a docstring with its formulas in dollars.

    >>> markdown("The scale :math:`2R/n`.")
    'The scale $2R/n$.'
    """
    blocks = BLOCK.sub(_block, text)
    text = BRACKET.sub(lambda m: "&lt;" if m[1] else m[0], blocks)
    return INLINE.sub(lambda m: f"${' '.join(m[1].split())}$", text)


def _block(match: re.Match[str]) -> str:
    indent = match["indent"]
    lines = [line.strip() for line in match["tex"].strip().splitlines() if line.strip()]
    body = "\n".join(indent + line for line in lines).replace("<", "< ")  # no tag begins so
    end = "\n" * max(1, len(match["tex"]) - len(match["tex"].rstrip("\n")))
    return f"{indent}$$\n{body}\n{indent}$${end}"


class Docstrings(griffe.Extension):
    """Rewrites every docstring of a package once it is loaded."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Rewrite the docstrings of a package."""
        for member in _members(pkg):
            if member.docstring is not None:
                if isinstance(member, griffe.Class) and "dataclass" in member.labels:
                    own = with_fields(member.docstring.value, _fields(member))
                    member.docstring.value = _at_run_time(member) or own
                text = _linked(member, markdown(member.docstring.value))
                if isinstance(member, griffe.Class) and "story" in member.members:
                    text = with_story(text, _story(member))
                member.docstring.value = cite(text)


def _members(scope: griffe.Object) -> Iterator[griffe.Object]:
    yield scope
    for member in scope.members.values():
        if isinstance(member, griffe.Object):
            yield from _members(member)


def with_fields(text: str, fields: list[tuple[list[str], str, str]]) -> str:
    """Return the docstring of a dataclass with a section on its fields before all others.

    >>> print(with_fields("A step.", [(["size"], "float", "its length")]))
    A step.
    <BLANKLINE>
    Parameters
    ----------
    size : float
        its length
    """
    if not fields or re.search(r"^Parameters\n-", text, re.MULTILINE):
        return text
    rows = "\n".join(f"{', '.join(names)} : {kind}\n    {said}" for names, kind, said in fields)
    section = f"\n\nParameters\n----------\n{rows}"
    first = re.search(r"\n+(?=\w+\n---)", text)
    at = first.start() if first else len(text.rstrip())
    return text[:at] + section + text[at:]


def with_story(text: str, story: Any) -> str:
    """Return the docstring of a method with its steps and the proof of its privacy.

    >>> print(with_story("Averages.", None))
    Averages.
    """
    if story is None:
        return text
    steps = "\n".join(f"{i}. {step}" for i, step in enumerate(story.steps, 1))
    proof = " ".join(said for _, said in story.privacy.steps) if story.privacy else ""
    told = f"\n\n{steps}" + (f"\n\n**Privacy.** {proof}" if proof else "")
    first = re.search(r"\n+(?=\w+\n---)", text)
    at = first.start() if first else len(text.rstrip())
    return text[:at] + told + text[at:]


def _at_run_time(scope: griffe.Class) -> str:
    """Return a docstring that only the imported class has: its parameters come from a table."""
    assert scope.docstring is not None
    module, _, name = scope.path.rpartition(".")
    text = inspect.getdoc(getattr(importlib.import_module(module), name, None)) or ""
    more = "Parameters\n----" in text and "Parameters\n----" not in scope.docstring.value
    return text if more else ""


def _story(scope: griffe.Class) -> Any:
    module, _, name = scope.path.rpartition(".")
    return getattr(getattr(importlib.import_module(module), name), "story", None)


def _fields(scope: griffe.Class) -> list[tuple[list[str], str, str]]:
    """Return names, type and comment of fields: at the end of the line, or above one or several."""
    assert isinstance(scope.filepath, Path)
    lines = scope.lines_collection[scope.filepath]
    found: list[tuple[list[str], str, str]] = []
    shared = False  # whether the last comment stands above its field
    for field in scope.members.values():
        known = isinstance(field, griffe.Attribute) and "instance-attribute" in field.labels
        if not known or field.annotation is None or not field.is_public or not field.lineno:
            shared = False  # a property, a method, or what all instances have in common
            continue
        start, end = field.lineno - 1, field.endlineno or field.lineno
        above = start
        while lines[above - 1].strip().startswith("# "):
            above -= 1
        beside = SAID.fullmatch(lines[end - 1])
        if above < start:
            said = " ".join(line.strip()[2:] for line in lines[above:start])
            found.append(([field.name], str(field.annotation), said))
        elif beside:
            found.append(([field.name], str(field.annotation), beside[1]))
        elif shared:
            found[-1][0].append(field.name)
        shared = above < start or (shared and not beside)
    return found


def _linked(scope: griffe.Object, text: str) -> str:
    own = {p.name for p in scope.parameters} if isinstance(scope, griffe.Function) else set()

    def link(match: re.Match[str]) -> str:
        path = None if match[1] in own else _resolved(scope, match[1])
        if path is None:
            return match[0]
        return f'<autoref optional identifier="{path}"><code>{match[1]}</code></autoref>'

    return NAME.sub(link, text)


def _resolved(scope: griffe.Object, name: str) -> str | None:
    """Return the full path of a class, function or attribute that a docstring names."""
    first, _, rest = name.partition(".")
    try:
        target = scope.resolve(first)
        found = scope.modules_collection[f"{target}.{rest}" if rest else target]
        if isinstance(found, griffe.Alias):
            found = found.final_target
    except (griffe.NameResolutionError, griffe.AliasResolutionError, KeyError):
        return None
    return None if found.is_module else found.path
