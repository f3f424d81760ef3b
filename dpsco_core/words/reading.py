"""Files of words: their tables, with every text checked."""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dpsco_core.base.errors import InvalidInput, require

FOLDER = Path(__file__).parent


def has_words(file: str) -> bool:
    """Return whether `file`, such as ``errata/su.toml``, is in the folder of this module."""
    return (FOLDER / file).is_file()


def read_words(file: str) -> dict[str, Any]:
    """Return the tables of a file; line breaks inside its texts become spaces.

    Raises `InvalidInput` if the file is not TOML, if a text or a list of it is empty, or if a text
    leaves a formula open.
    """
    try:
        tables = tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as problem:
        raise InvalidInput(f"{file} must be TOML, got {file}={problem}.") from problem
    words: dict[str, Any] = _join_lines(tables)
    for place, text in _find_texts(words, file):
        require(bool(text), place, "a text, or a list with something in it", "nothing")
        require(text.count("$") % 2 == 0, place, "a text whose formulas end with a dollar", text)
    return words


def check_keys(
    place: str, table: Mapping[str, Any], required: Collection[str], optional: Collection[str] = ()
) -> None:
    """Raise `InvalidInput` unless a table has all of the required keys, and no unknown one."""
    missing = [key for key in required if key not in table]
    unknown = [key for key in table if key not in required and key not in optional]
    faults = [f"no {key}" for key in missing] + [f"an unknown {key}" for key in unknown]
    must = f"a table with the keys {', '.join(required)}"
    if optional:
        must += f" (and perhaps {', '.join(optional)})"
    require(not faults, place, must, " and ".join(faults))


def _join_lines(value: Any) -> Any:
    """Return a value of a TOML file with every line break in its texts replaced by a space."""
    if isinstance(value, str):
        return value.strip().replace("\n", " ")
    if isinstance(value, list):
        return [_join_lines(item) for item in value]
    if isinstance(value, dict):
        return {key: _join_lines(item) for key, item in value.items()}
    return value


def _find_texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a value with its place; an empty list is an empty text."""
    if isinstance(value, str) or value == []:
        yield place, value or ""
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _find_texts(item, f"{place}, {number}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _find_texts(item, f"{place}, {key}")
