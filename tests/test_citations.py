"""Every citation of docs/theory resolves: the page, the section, and the item in it.

A citation has the form "theory/FILE.md, SECTION", where SECTION is one or more of "2", "2.1",
"2.1 (b)", "2.2, items 4 and 8", "2.1 to 2.3", joined by commas and "and".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("dpsco_core", "dpsco_app", "tests", "docs", "benchmarks")
GAP = r"(?:\s+(?:\#\s+)?)"  # This matches a space, or a line break, perhaps within a comment.
NUMBER = r"\d+(?:\.\d+)?"
LETTERS = rf"(?:{GAP}\([a-z]\)(?:{GAP}(?:and|to){GAP}\([a-z]\))?)"
LABELS = rf"(?:,{GAP}(?:items?|steps?){GAP}\d+(?:(?:,|{GAP}and|{GAP}to){GAP}\d+)*)"
PLACE = rf"{NUMBER}{LETTERS}?{LABELS}?"
PLACES = rf"{PLACE}(?:(?:,|{GAP}and|{GAP}to){GAP}{PLACE})*"
CITATION = re.compile(
    rf"(?<!\]\()(?<!\]\(docs/)theory/(?P<page>[\w-]+)\.md(?:,{GAP}(?P<places>{PLACES}))?"
)
STALE = re.compile(
    rf"\b[Nn]otes?,{GAP}(?:sections?{GAP})?\d"
    rf"|\b[Nn]otes?{GAP}(?:to|on){GAP}(?:Kamath|Zhao|Arora|Su|Lowy|(?:the|that){GAP}paper)\b"
    rf"|\b[Oo]f{GAP}the{GAP}notes?\b|\b[Tt]he{GAP}note(?:'s|s')"
)
HEADING = re.compile(rf"^(?P<hashes>#{{2,4}}) (?P<number>{NUMBER}) \S", re.MULTILINE)

Page = Mapping[str, str]  # A page has the text of every section, with its subsections.


def sections(text: str) -> dict[str, str]:
    """Return the text of each numbered section of a page, by its number."""
    numbered: dict[str, str] = {}
    headings = list(HEADING.finditer(text))
    for index, heading in enumerate(headings):
        depth = len(heading["hashes"])
        ends = (h.start() for h in headings[index + 1 :] if len(h["hashes"]) <= depth)
        assert heading["number"] not in numbered, f"two sections {heading['number']}"
        numbered[heading["number"]] = text[heading.end() : next(ends, len(text))]
    return numbered


def theory() -> dict[str, Page]:
    """Return the pages of docs/theory by name."""
    pages = sorted((ROOT / "docs" / "theory").glob("*.md"))
    texts = {page.stem: page.read_text(encoding="utf-8") for page in pages}
    return {name: sections(text) for name, text in texts.items() if name != "index"}


@dataclass(frozen=True)
class Place:
    """One place of a citation: a section, and perhaps letters, items or steps in it."""

    section: str
    marks: tuple[str, ...]  # Regular expressions, one for every letter, item or step.

    def missing(self, page: Page) -> Iterator[str]:
        """Yield the section and the marks of this place that a page does not have."""
        body = page.get(self.section)
        if body is None:
            yield f"section {self.section}"
            return
        for mark in self.marks:
            if not re.search(mark, body, re.MULTILINE):
                yield f"{mark} in section {self.section}"


def places(text: str) -> Iterator[Place]:
    """Yield the places of a citation, both ends of a range of sections among them."""
    for match in re.finditer(PLACE, text):
        head, _, labels = re.sub(GAP, " ", match[0]).partition(", ")
        number, *_ = head.split(" ")
        marks = [rf"\*\*\({letter}\)\*\*" for letter in re.findall(r"\((\w)\)", head)]
        numbers = [int(n) for n in re.findall(r"\d+", labels)]
        if " to " in labels:
            numbers = list(range(numbers[0], numbers[-1] + 1))
        if labels.startswith("step"):
            marks += [rf"^\*\*Step {n}\.\*\*" for n in numbers]
        else:
            marks += [rf"^(?:\*\*{n}\.\*\*|\| {n} \|)" for n in numbers]
        yield Place(number, tuple(marks))


def faults(text: str, pages: Mapping[str, Page]) -> list[str]:
    """Return one sentence for every citation of a text that does not resolve."""
    sentences = [f"{stale[0]!r} cites a note" for stale in STALE.finditer(text)]
    for citation in CITATION.finditer(text):
        page = pages.get(citation["page"])
        if page is None:
            sentences.append(f"{citation[0]!r}: no such page")
        elif citation["places"] is None:
            sentences.append(f"{citation[0]!r} names no section")
        else:
            gaps = (gap for place in places(citation["places"]) for gap in place.missing(page))
            sentences += [f"{citation[0]!r}: no {gap}" for gap in gaps]
    return sentences


def sources() -> list[Path]:
    """Return every file that may cite, except this one."""
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    paths = [p for p in (*files, *ROOT.iterdir()) if p.suffix in (".py", ".md", ".toml")]
    return sorted(p for p in paths if p != Path(__file__))


def test_every_citation_of_the_theory_resolves() -> None:
    pages = theory()
    wrong = [
        f"{path.relative_to(ROOT)}: {fault}"
        for path in sources()
        for fault in faults(path.read_text(encoding="utf-8"), pages)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_library_cites_every_page() -> None:
    cited = [
        citation["page"]
        for path in sources()
        if path.is_relative_to(ROOT / "dpsco_core")
        for citation in CITATION.finditer(path.read_text(encoding="utf-8"))
    ]
    assert len(cited) > 100, "the expression finds what is there"
    assert set(cited) == set(theory())


PLANTED = {
    "a note": "bounds it (note, section 2.1).",
    "a note by number": "bounds it (note, 8.15).",
    "a note at the end of a line": "holds (note,\n    section 2.1).",
    "a note on a paper": "Note to Kamath et al. (2022), section 4.2.",
    "a note's table": "E5 of the note's table.",
    "no such page": "See theory/kamath.md, 4.2.",
    "no section": "See theory/page.md.",
    "no such section": "See theory/page.md, 2.9.",
    "the second section": "See theory/page.md, 2.1 and 5.",
    "the end of a range": "See theory/page.md, 2.1 to 2.7.",
    "on the next line": "See theory/page.md,\n    2.9.",
    "in a comment": "# See theory/page.md,\n# 2.9",
    "no such letter": "See theory/page.md, 2.1 (c).",
    "no such item": "See theory/page.md, 2, item 4.",
    "an item of another section": "See theory/page.md, 2.1, item 3.",
    "within a range of items": "See theory/page.md, 2, items 1 to 4.",
    "no such row": "See theory/page.md, 8, item 7.",
    "no such step": "See theory/page.md, 2.1, step 1.",
}
PAGE = """# A page

## 2 Methods

### 2.1 The first

**(a)** One. **(b)** Two.

### 2.2 The second

**1.** One.

**2.** Two.

**3.** Three.

**Step 1.** First.

## 8 Errors

| no. | where |
|---|---|
| 6 | here |
"""


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_a_planted_fault_is_found(planted: str) -> None:
    assert faults(planted, {"page": sections(PAGE)})


@pytest.mark.parametrize(
    "sound",
    [
        "See theory/page.md, 2.1 (a) and (b), of which 7 hold.",
        "(theory/page.md, 2.1 to 2.2 and 8, item 6)",
        "theory/page.md, 2.2, items 1 and 3; 20 trials",
        "theory/page.md, 2.2,\n    items 1 to 3.",
        "# docs/theory/page.md, 2.2,\n# step 1: what follows",
        "theory/page.md, 8, item 6 and [a link](docs/theory/index.md)",
        'print(f"note: {note}")  # the notes of a release',
    ],
)
def test_a_sound_citation_is_not_a_fault(sound: str) -> None:
    assert faults(sound, {"page": sections(PAGE)}) == []
