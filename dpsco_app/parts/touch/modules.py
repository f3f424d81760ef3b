"""The ES modules of this folder as one script, and its other texts."""

import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)"\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
DEFAULT = re.compile(r"^export default .*?^\}\n", re.MULTILINE | re.DOTALL)


@cache
def text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@cache
def script(name: str) -> str:
    """Return a module with what it imports before it, each once; only its default export stays."""
    wanted: list[str] = []
    _collect(name, wanted)
    parts = [IMPORT.sub("", text(part)) for part in wanted]
    parts[:-1] = [DEFAULT.sub("", part) for part in parts[:-1]]
    return "\n".join(EXPORT.sub("", part) for part in parts)


def _collect(name: str, wanted: list[str]) -> None:
    for part in IMPORT.findall(text(name)):
        _collect(part, wanted)
    if name not in wanted:
        wanted.append(name)
