"""Fields of a scenario from text, JSON and TOML, and back to text."""

from __future__ import annotations

import math
from typing import Any, cast

from dpsco_core.errors import InvalidInput, require

INTEGERS = ("n", "d", "m", "trials", "seed")
NUMBERS = ("epsilon", "delta", "rho", "p", "margin", "q", "diameter", "offset")
LISTS = ("methods", "grid")


def parse_field(name: str, value: Any) -> Any:
    """Return the value of the field `name` in its own type; raises `InvalidInput`.

    Text, numbers and lists are taken; ``None``, ``""`` and ``"none"`` stand for no value.
    """
    if value is None or (isinstance(value, str) and value in ("", "none")):
        if name in LISTS:
            return ()
        require(name in ("epsilon", "delta", "rho", "q", "axis"), name, "given", value)
        return None
    if name == "methods":
        parts = value.split(",") if isinstance(value, str) else value
        require(isinstance(parts, (list, tuple)), name, "a list of slugs", shorten(value))
        return tuple(str(part).strip() for part in parts)
    if name == "grid":
        parts = value.split(",") if isinstance(value, str) else value
        require(isinstance(parts, (list, tuple)), name, "a list of numbers", shorten(value))
        return tuple(_number("grid", part) for part in parts)
    if name in INTEGERS:
        number = _number(name, value, "an integer")
        whole = math.isfinite(number) and number == int(number)
        require(whole, name, "an integer", shorten(value))
        return int(number)
    if name in NUMBERS:
        return float(_number(name, value))
    require(isinstance(value, str), name, "text", shorten(value))
    return value


def _number(name: str, value: Any, kind: str = "a number") -> float:
    """Return a finite-looking number from text or a number; integers stay integers."""
    ok = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    require(ok, name, kind, shorten(value))
    if isinstance(value, str):
        require(len(value) <= 40, name, kind, shorten(value))
        try:
            value = int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
        except ValueError:
            raise InvalidInput(f"{name} must be {kind}, got {name}={shorten(value)}.") from None
    if isinstance(value, int):
        require(abs(value) < 1e300, name, kind, shorten(value))
        return value
    number = cast(float, value)
    return int(number) if math.isfinite(number) and number == int(number) else number


def to_text(value: object) -> str:
    """Return the text that `parse_field` reads back to exactly the same value."""
    if isinstance(value, tuple):
        return ",".join(to_text(v) for v in value)
    if isinstance(value, float):
        whole = abs(value) < 1e15 and value == int(value)
        return str(int(value)) if whole else repr(value)
    return "none" if value is None else str(value)


def shorten(value: object) -> str:
    """Return the text of a value, cut to what fits in a sentence."""
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


