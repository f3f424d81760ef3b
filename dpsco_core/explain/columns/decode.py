"""The text of a file: its encoding, and an error if it is not text."""

import codecs
import re

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import shorten

# The page's field, the command and the reader share this limit of a file's size.
LARGEST_MEGABYTES = 8
LARGEST_BYTES = LARGEST_MEGABYTES * 2**20
# Byte order marks, with the encoding of each; the mark of UTF-32 begins like that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def decode(content: bytes) -> tuple[str, str]:
    r"""Return the text of a file with ``\n`` at the end of a line, and a note on its encoding.

    The note is empty for UTF-8. Raises `InvalidInput` for what is too large, or no text.
    """
    must = f"at most {LARGEST_BYTES:,} bytes ({LARGEST_MEGABYTES} MB)"
    require(len(content) <= LARGEST_BYTES, "file", must, f"{len(content):,} bytes")
    text, note = _decode_with_encoding(content)
    text = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a").removeprefix("\ufeff")
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise InvalidInput(
            f"file must be text, got a control character (code {ord(control.group())}) in line "
            f"{line:,}."
        )
    return text, note


def _decode_with_encoding(content: bytes) -> tuple[str, str]:
    """Return the text of a file, and a note that names its encoding; empty for UTF-8."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    if not encoding and content[:2000].count(0) > 0.4 * len(content[:2000]):
        encoding = "utf-16-le" if 0 in content[1:200:2] else "utf-16-be"
    try:
        text = content.decode(encoding or "utf-8")
    except UnicodeDecodeError as problem:
        if encoding:
            fault = f"{encoding.upper()} that breaks off at byte {problem.start:,}"
            raise InvalidInput(f"file must be text, got {fault}.") from None
    else:
        is_utf8 = encoding in ("", "utf-8-sig")
        return text, "" if is_utf8 else f"Encoding: {encoding[:6].upper()}."
    try:
        return content.decode("cp1252"), "Encoding: Windows-1252, as the bytes are not UTF-8."
    except UnicodeDecodeError:
        return content.decode("latin-1"), "Encoding: Latin-1, as the bytes are not UTF-8."


def quoted_line(text: str, line: int) -> str:
    """Return a line of a text, counted from 1, short and in quotation marks."""
    lines = text.split("\n", line)
    return f"'{shorten(lines[line - 1])}'" if line <= len(lines) else "''"
