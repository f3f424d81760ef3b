"""Values from text, JSON and TOML, and back to text; and the checks of a value."""

import math
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, TypeGuard

from dpsco_core.base.errors import InvalidInput, require

LONGEST_NUMBER, LONGEST_SHOWN, LONGEST_LIST = 40, 60, 220  # characters
LISTED = 5  # items of a longer list
WHOLE = 1e15  # floats from here on are written as such, whole or not


def number(name: str, value: Any, kind: str) -> float:
    """Return an int where the value is one, or a whole float of few digits; otherwise a float."""
    ok = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    require(ok and len(str_of(value)) <= LONGEST_NUMBER, name, kind, shorten(value))
    if isinstance(value, str):
        value = read_text(name, value, kind)
    if isinstance(value, float) and abs(value) >= WHOLE:  # also if infinite; a NaN is not whole
        return value
    return int(value) if value == value // 1 else float(value)


def read_text(name: str, text: str, kind: str = "a number") -> int | float:
    """Return the number that a text is: an int where it has only digits, otherwise a float.

    Python's own rule takes more: the underscore of ``1_0``, which a person may have meant as 1.0.

    Examples
    --------
    >>> read_text("n", "20"), read_text("p", "2.5")
    (20, 2.5)
    """
    try:
        if "_" in text or not text.strip().isascii():
            raise ValueError(text)
        return int(text) if text.strip().lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise InvalidInput(f"{name} must be {kind}, got {name}={shorten(text)}.") from None


def to_text(value: object) -> str:
    """Return the text that `Field.parse` reads back to an equal value.

    Examples
    --------
    >>> to_text(20.0), to_text(0.1), to_text((1.0, 2.5)), to_text(None)
    ('20', '0.1', '1,2.5', 'none')
    """
    if isinstance(value, (tuple, list)):
        return ",".join(to_text(v) for v in value)
    if isinstance(value, float):  # repr writes an infinity as inf
        return str(int(value)) if abs(value) < WHOLE and value == int(value) else repr(float(value))
    return "none" if value is None else str(value)


def to_plain(value: Any) -> Any:
    """Return `value` as JSON has it: lists, Python's floats, and an infinity as text."""
    if isinstance(value, tuple):
        return [to_plain(v) for v in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else to_text(value)
    return value


def shorten(value: object) -> str:
    """Return the text of a value on one line, cut to what fits in a sentence."""
    text = "".join(c if c.isprintable() else " " for c in str_of(value)[: LONGEST_SHOWN + 1])
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def str_of(value: object) -> str:
    """Return ``str(value)``, of an integer too long for `str` its first digits."""
    if isinstance(value, int) and value.bit_length() > 256:
        digits = int(value.bit_length() * math.log10(2))
        return f"{'-' if value < 0 else ''}{abs(value) // 10 ** (digits - 60)}..."
    try:
        return str(value)
    except (ValueError, RecursionError):  # such an integer in a list, or lists in lists in lists
        return f"a {type(value).__name__} too long to show"


def one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:  # the search for similar slugs takes milliseconds
        require(False, name, among(allowed, value), shorten(value))


def among(allowed: Sequence[str], value: object) -> str:
    """Return "one of ..." with every allowed value, or the most similar ones of a long list."""
    if len(allowed) == 1:
        return allowed[0]
    every = ", ".join(allowed)
    if len(every) <= LONGEST_LIST:
        return f"one of {every}"
    near = get_close_matches(shorten(value), allowed, n=LISTED, cutoff=0.0)
    return f"one of {len(allowed)} slugs such as {', '.join(near)} (all: dpsco catalogue)"


def is_real(value: object) -> TypeGuard[float]:
    """Whether `value` is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -math.inf < value < math.inf


def whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return
    must = f"an integer between {low:,} and {high:,}" if low < high else f"{low}"
    require(False, name, must, shorten(value))


def real(name: str, value: object, low: float, high: float) -> None:
    if not (is_real(value) and low <= value <= high):
        # An end so close to 1 that it would be written as 1 stands for "below 1".
        top = "below 1" if high < 1 and f"{high:g}" == "1" else f"at most {high:g}"
        must = f"at least {low:g} and {top}"
        require(False, name, must, shorten(to_text(value)))
