"""The code that CONTRIBUTING.md and docs/extend.md print."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXTS = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("CONTRIBUTING.md", "docs/extend.md")
}
EXTEND = TEXTS["docs/extend.md"]
DOCSTRING = '"""What a newcomer has added."""\n'


def section(title: str) -> str:
    """Return the recipe of CONTRIBUTING.md with this title."""
    return TEXTS["CONTRIBUTING.md"].split(f"\n## {title}\n")[1].split("\n## ")[0]


def code(text: str, name: str = "") -> str:
    """Return a block of Python of a document: that of the file `name`, or the only block."""
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (block,) = [b for b in blocks if not name or b.startswith(f"# {name}\n")]
    return str(block).removeprefix(f"# {name}\n")


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """Return the text with each old text, which must occur, replaced by the new one."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text
