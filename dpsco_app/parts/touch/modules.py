"""The ES modules of this folder joined into one script, and the folder's other texts."""

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)"\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
DEFAULT = re.compile(r"^export default .*?^\}\n", re.MULTILINE | re.DOTALL)


@cache
def text(name: str) -> str:
    """Return the text of a file of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def script(name: str) -> str:
    """Return a module of this folder as one script, preceded by all modules that it imports.

    Only its own default export is kept.
    """
    modules: list[str] = []
    _add_with_imports(name, modules)
    parts = [IMPORT.sub("", text(part)) for part in modules]
    parts[:-1] = [DEFAULT.sub("", part) for part in parts[:-1]]
    return "\n".join(EXPORT.sub("", part) for part in parts)


def _add_with_imports(name: str, modules: list[str]) -> None:
    """Append a module to a list after the modules that it imports, each once."""
    for part in IMPORT.findall(text(name)):
        _add_with_imports(part, modules)
    if name not in modules:
        modules.append(name)
