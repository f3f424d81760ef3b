"""A column of numbers is read back exactly, in whichever dialect it was written."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpsco_core.explain.columns.table import read_columns

HEADER = ("größe", "total amount", "2019")
GROUPS = ("", ",", ".", "'", "’", " ", "\u00a0", "\u202f")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The way in which a file writes numbers, cells and lines, and encodes them."""

    decimal: str
    group: str  # The separator of thousands.
    negative: str  # A format for negative numbers.
    unit: str  # A unit that follows a number.
    separator: str
    is_quoted: bool
    end: str
    encoding: str

    def number(self, cents: int) -> str:
        """Return an amount of cents as the dialect writes it."""
        whole, rest = divmod(abs(cents), 100)
        text = f"{whole:,}".replace(",", self.group) + f"{self.decimal}{rest:02d}"
        return (self.negative.format(text) if cents < 0 else text) + self.unit

    def cell(self, text: str) -> str:
        """Return a text as a cell, in quotes where they are needed."""
        gap = self.separator.strip(" ") or " "
        has_to = gap in text or '"' in text or "\n" in text
        return '"' + text.replace('"', '""') + '"' if self.is_quoted or has_to else text

    def file(self, rows: list[tuple[str, int, int]]) -> bytes:
        """Return the bytes of a file with these rows."""
        cells = [HEADER, *((name, self.number(a), self.number(b)) for name, a, b in rows)]
        lines = [self.separator.join(map(self.cell, row)) for row in cells]
        return (self.end.join(lines) + self.end).encode(self.encoding)


@st.composite
def dialects(draw: st.DrawFn) -> Dialect:
    """Draw a way to write a file: decimal sign, grouping, negatives, encoding and separators."""
    decimal = draw(st.sampled_from(".,"))
    encoding = draw(
        st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
    )
    groups = [g for g in GROUPS if g != decimal and not (encoding == "cp1252" and g == "\u202f")]
    return Dialect(
        decimal=decimal,
        group=draw(st.sampled_from(groups)),
        negative=draw(st.sampled_from(["-{}", "({})", "{}-", "\u2212{}", "- {}"]))
        if encoding != "cp1252"
        else "-{}",
        unit=draw(st.sampled_from(["", "%", "€", "\u00a0€"])),
        separator=draw(st.sampled_from([",", ";", "\t", "|", ", ", " ", "   "])),
        is_quoted=draw(st.booleans()),
        end=draw(st.sampled_from(["\n", "\r\n", "\r"])),
        encoding=encoding,
    )


CENTS = st.integers(-(10**11), 10**11)
NAMES = st.sampled_from(["Köln", "a b", 'the "best"', "one, two; three", "NA", "x\ny", "7"])


@settings(max_examples=400, deadline=None, derandomize=True)
@given(dialects(), st.lists(st.tuples(NAMES, CENTS, CENTS), min_size=1, max_size=12))
@example(
    Dialect(
        decimal=",",
        group=".",
        negative="({})",
        unit="",
        separator=",",
        is_quoted=False,
        end="\r",
        encoding="cp1252",
    ),
    [("x\ny", 123_456_789, -50), ("", 0, -(10**11))],
)
def test_a_frame_is_read_back_exactly_in_every_dialect(
    dialect: Dialect, rows: list[tuple[str, int, int]]
) -> None:
    columns = read_columns(dialect.file(rows), HEADER[1:])
    for k, column in enumerate(columns, start=1):
        assert column.name == HEADER[k] and column.left_out == 0
        assert column.values.tolist() == [row[k] / 100 for row in rows]
