"""What `mkdocs.yml` leaves to code: formulas, anchors of sections, and the reference.

Formulas become MathML when the site is built: no script runs and no font is fetched to show them.
The pages of the reference follow the tree of `dpsco_core`; no list of modules is kept.
"""

from __future__ import annotations

import html
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import griffe
from docstrings import anchor, cite, markdown  # beside this file
from math_core import LatexError, LatexToMathML
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PACKAGE = "dpsco_core"
COMMANDS = re.compile(rf"{PACKAGE}\.(?:cli\b|cli_|__main__)")  # the command line is no library
HEADING = re.compile(r"^(#{2,4}) (\d+(?:\.\d+)?) (.*)$", re.MULTILINE)
FORMULA = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)
IN_CONTENTS = re.compile(r"\\\((.*?)\\\)", re.DOTALL)
# A backslash at the end of a line is a space; two are a new row.
BROKEN_LINE = re.compile(r"(?<!\\)((?:\\\\)*)\\\n\s*")
# Browsers stretch a bracket that has an exponent only if it is in a row of its own.
BRACKET = re.compile(r"(<msu[bp](?:sup)?>)(<mo minsize[^>]*>[^<]*</mo>)")
FONT = "site/STIXTwoMath-Regular.ttf"  # SIL Open Font License 1.1

_CONVERTER = LatexToMathML(fancy_error=False)


def mathml(tex: str, *, block: bool) -> str:
    """Return a formula as MathML; raises `PluginError` for one that cannot be converted."""
    tex = BROKEN_LINE.sub(r"\1\\ ", html.unescape(tex)).strip()
    if r"\tag" in tex:
        tex = rf"\begin{{equation}}{tex}\end{{equation}}"
    try:
        shown = _CONVERTER.convert_with_local_state(tex, displaystyle=block)
    except LatexError as error:
        raise PluginError(f"The formula {tex!r} cannot be shown: {error}") from error
    return BRACKET.sub(r"\1<mrow>\2</mrow>", shown)


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """One page of the reference: a package or a module, and the names that it makes public."""

    path: str
    summary: str
    here: tuple[str, ...]  # documented on this page
    elsewhere: tuple[str, ...]  # a line with a link for each name that another page documents

    @property
    def file(self) -> str:
        """The page's address in the sources of the site."""
        return f"reference/{self.path}.md"

    def markdown(self) -> str:
        """Return the page; mkdocstrings fills in what `:::` names."""
        lines = [f"# {self.path}", "", self.summary, ""]
        if self.elsewhere:
            said = "also exports" if self.here else "exports"
            lines += [f"`{self.path}` {said}:", "", *self.elsewhere]
        for path in self.here:
            lines += ["", f"::: {path}"]
        return "\n".join(lines) + "\n"


@cache
def chapters() -> tuple[Chapter, ...]:
    """Return the pages of the reference, from the source of the package as it is."""
    package = griffe.load(PACKAGE, search_paths=["."], resolve_aliases=True)
    assert isinstance(package, griffe.Module)
    shown = [m for m in _modules(package) if _public(m)]
    owner: dict[str, str] = {}  # full path of an object to the page that documents it
    for module in sorted(shown, key=lambda m: m.path.count(".")):
        for name in _public(module):
            target = _target(module, name)
            if f"{target}.".startswith(f"{module.path}."):
                owner[target] = module.path
    for module in shown:
        for name in _public(module):
            owner.setdefault(_target(module, name), module.path)
    return tuple(_chapter(module, owner) for module in shown)


def _chapter(module: griffe.Module, owner: dict[str, str]) -> Chapter:
    names = [(name, _target(module, name)) for name in _public(module)]
    text = module.docstring.value if module.docstring else ""
    return Chapter(
        path=module.path,
        summary=cite(text),
        here=tuple(f"{module.path}.{n}" for n, t in names if owner[t] == module.path),
        elsewhere=tuple(_line(module, n, owner[t]) for n, t in names if owner[t] != module.path),
    )


def _line(module: griffe.Module, name: str, page: str) -> str:
    """Return a name that another page documents, as a link, with the first line about it."""
    target = _target(module, name)
    docstring = module.modules_collection[target].docstring
    first = markdown(docstring.value).split("\n", 1)[0] if docstring else ""
    return f"- [`{name}`][{page}.{target.rsplit('.', 1)[1]}]: {first}".removesuffix(": ")


def _modules(package: griffe.Module) -> Iterator[griffe.Module]:
    """Yield the package, what it exports from, and every package below it.

    The modules of a package that says in `__all__` what it exports are its own business, but for
    those at the top of the library.
    """
    yield package
    for module in sorted(package.modules.values(), key=lambda m: m.name):
        if module.is_alias or module.name.startswith("_") or COMMANDS.match(module.path):
            continue
        if module.is_package or module.is_subpackage:
            yield from _modules(module)
        elif package.exports is None or package.path == PACKAGE:
            yield module


def _public(module: griffe.Module) -> list[str]:
    """Return what a module exports, or where it does not say so what it defines in public."""
    if module.exports is not None:
        return [str(name) for name in module.exports]
    return [
        name
        for name, member in module.members.items()
        if not name.startswith("_")
        and not member.is_alias
        and (member.is_class or member.is_function)
        and member.docstring
    ]


def _target(module: griffe.Module, name: str) -> str:
    """Return the full path of the definition that a public name of a module stands for."""
    path = module.imports.get(name, f"{module.path}.{name}")  # a module may have the name too
    member = module.modules_collection[path]
    return str(member.final_target.path if isinstance(member, griffe.Alias) else member.path)


def on_config(config: MkDocsConfig) -> None:
    """Append the reference to the navigation."""
    pages: list[dict[str, Any]] = [
        {chapter.path.removeprefix(f"{PACKAGE}."): chapter.file} for chapter in chapters()
    ]
    assert config.nav is not None
    config.nav.append({"Reference": pages})


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages of the reference, and the font of the formulas."""
    for chapter in chapters():
        files.append(File.generated(config, chapter.file, content=chapter.markdown()))
    found = importlib.util.find_spec("ziamath")
    assert found is not None and found.origin is not None
    font = Path(found.origin).parent / "fonts" / Path(FONT).name
    files.append(File.generated(config, FONT, content=font.read_bytes()))


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Give the numbered sections of the theory stable anchors, and link citations to them."""
    folder, _, name = page.file.src_uri.rpartition("/")
    if folder == "theory":
        stem = name.removesuffix(".md")
        markdown = HEADING.sub(
            lambda h: f"{h[0]} {{ #{anchor(stem, h[2])} }}",
            markdown,
        )
    return markdown if folder == "reference" else cite(markdown)


def on_page_content(content: str, page: Page, **_: object) -> str:
    """Show formulas as MathML, in the page and in its table of contents."""
    for item in _entries(page.toc):
        item.title = IN_CONTENTS.sub(lambda m: mathml(m[1], block=False), item.title)
    return FORMULA.sub(
        lambda m: mathml(m[2].strip()[2:-2], block=m[1] == "div"),
        content,
    )


def _entries(items: Any) -> Iterator[Any]:
    for item in items:
        yield item
        yield from _entries(item.children)
