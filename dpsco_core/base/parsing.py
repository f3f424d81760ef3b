"""Parsing of values from text, JSON and TOML, their text forms, and checks of a value."""

import math
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, TypeGuard

from dpsco_core.base.errors import InvalidInput, did_you_mean, require

# limits, in characters, of a number that is read, a value that is shown, and a list that is shown
LONGEST_NUMBER, LONGEST_SHOWN, LONGEST_LIST = 40, 60, 220
LISTED = 5  # the number of items that are shown of a longer list
WHOLE = 1e15  # Floats above this size are written as floats even if they are integers.


def number(name: str, value: Any, kind: str) -> float:
    """Return a number, or the number in a text, as an int if it is whole and below `WHOLE`.

    Otherwise return a float. Raises `InvalidInput`, which says that `name` must be `kind`, if the
    value is no number.
    """
    is_number_like = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    require(is_number_like and len(str_of(value)) <= LONGEST_NUMBER, name, kind, shorten(value))
    if isinstance(value, str):
        value = read_text(name, value, kind)
    # An infinite float is returned here, and a NaN below, because it equals no number.
    if isinstance(value, float) and abs(value) >= WHOLE:
        return value
    return int(value) if value == value // 1 else float(value)


def read_text(name: str, text: str, kind: str = "a number") -> int | float:
    """Return the number in a text: an int if it has only digits, otherwise a float.

    Python itself also accepts the underscore of ``1_0``, which a person may have meant as 1.0.

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
    """Return the text that `Field.parse` reads back as an equal value.

    Examples
    --------
    >>> to_text(20.0), to_text(0.1), to_text((1.0, 2.5)), to_text(None)
    ('20', '0.1', '1,2.5', 'none')
    """
    if isinstance(value, (tuple, list)):
        return ",".join(to_text(v) for v in value)
    if isinstance(value, float):  # An infinity is written as inf, by repr.
        return str(int(value)) if abs(value) < WHOLE and value == int(value) else repr(float(value))
    return "none" if value is None else str(value)


def to_plain(value: Any) -> Any:
    """Return `value` in a form that JSON has: lists, plain floats, and infinity as text."""
    if isinstance(value, tuple):
        return [to_plain(v) for v in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else to_text(value)
    return value


def shorten(value: object) -> str:
    """Return the text of a value on one line, shortened to fit in a sentence."""
    text = "".join(c if c.isprintable() else " " for c in str_of(value)[: LONGEST_SHOWN + 1])
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def str_of(value: object) -> str:
    """Return ``str(value)``, or the first digits of an integer that is too long for `str`."""
    if isinstance(value, int) and value.bit_length() > 256:
        digits = int(value.bit_length() * math.log10(2))
        return f"{'-' if value < 0 else ''}{abs(value) // 10 ** (digits - 60)}..."
    try:
        return str(value)
    # Integers of too many digits inside a list, and deeply nested lists, raise these errors.
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too long to show"


def one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise `InvalidInput` unless the value is one of the allowed values."""
    # The search for similar slugs takes milliseconds, so it is left to values that are not allowed.
    if value not in allowed:
        require(False, name, describe_choices(allowed, value), shorten(value))


def describe_choices(allowed: Sequence[str], value: object) -> str:
    """Return "one of ..." with every allowed value, or the most similar ones of a long list.

    The text asks whether the nearest allowed value was meant, if one is near to `value`.

    Examples
    --------
    >>> describe_choices(("tight", "paper"), "papr")
    'one of tight, paper (did you mean paper?)'
    """
    if len(allowed) == 1:
        return allowed[0]
    listing = ", ".join(allowed)
    question = did_you_mean(shorten(value), allowed)
    if len(listing) <= LONGEST_LIST:
        return f"one of {listing}" + f" ({question})" * bool(question)
    if question:
        return f"one of {len(allowed)} slugs ({question} all: dpsco catalogue)"
    closest = get_close_matches(shorten(value), allowed, n=LISTED, cutoff=0.0)
    return f"one of {len(allowed)} slugs such as {', '.join(closest)} (all: dpsco catalogue)"


def is_real(value: object) -> TypeGuard[float]:
    """Return whether `value` is a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -math.inf < value < math.inf


def whole(name: str, value: object, low: int, high: int) -> None:
    """Raise `InvalidInput`, which names the field, unless the value is an int in [low, high]."""
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return
    condition = f"an integer between {low:,} and {high:,}" if low < high else f"{low}"
    require(False, name, condition, shorten(value))


def real(name: str, value: object, low: float, high: float) -> None:
    """Raise `InvalidInput`, which names the field, unless the value is a number in [low, high]."""
    if not (is_real(value) and low <= value <= high):
        # An upper end just below 1 would print as 1, so the text is "below 1".
        upper_end = "below 1" if high < 1 and f"{high:g}" == "1" else f"at most {high:g}"
        condition = f"at least {low:g} and {upper_end}"
        require(False, name, condition, shorten(to_text(value)))
