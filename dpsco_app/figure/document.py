"""A document as PDF: headings, paragraphs and tables, set on pages of A4."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextToPath

from dpsco_app.figure.paper import STYLE
from dpsco_app.figure.printed import pdf_bytes

POINTS = 72.0  # Points in an inch; all lengths below are in points.
PAGE_WIDTH, PAGE_HEIGHT = 595.0, 842.0
MARGIN, FOOT = 50.0, 34.0
WIDTH = PAGE_WIDTH - 2 * MARGIN
LEADING = 1.22  # The distance between two lines of text, as a multiple of their type size.
GAP = 9.0  # The gap between two columns.
REPEATS = 20  # The number of copies of a letter that are set in a row to measure its width.
NARROWEST = 30.0  # The least width of a column.
# The fonts in order of preference: a later one sets the letters that an earlier one lacks.
FONTS = ("STIXGeneral", "DejaVu Serif", "DejaVu Sans")
CODE_FONTS = ("DejaVu Sans Mono",)
INK, QUIET, RULE = "#000000", "#555555", "#bbbbbb"


@dataclass(frozen=True, kw_only=True)
class Type:
    """The type of a text: its font, size and colour."""

    size: float = 9.0
    colour: str = INK
    is_bold: bool = False
    is_code: bool = False

    @property
    def leading(self) -> float:
        """The distance between the baselines of two lines of text, in points."""
        return LEADING * self.size


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """A paragraph or a heading; the text in `marked` follows it in colour."""

    text: str
    type: Type = Type()
    marked: str = ""
    mark_colour: str = INK
    space: float = 3.0  # The space above the paragraph.
    # Whether this is a heading, which stays on the page of the block below it.
    is_heading: bool = False


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table; a cell that is too narrow for its text wraps it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    type: Type = Type(size=8.0)


Block = Paragraph | Grid


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A row of text on a page, which is never broken across pages."""

    height: float
    # For each piece of text: its distances from the left and from the top, its words and its type.
    pieces: tuple[tuple[float, float, str, Type], ...]
    space: float = 0.0  # The space above the strip, unless it is the first of its page.
    has_rule: bool = False  # Whether a line is drawn below the strip.
    stays: bool = False  # Whether the next strip must stand on the same page.


def document_pdf(blocks: Sequence[Block], title: str, source: str) -> bytes:
    """Return a document as a PDF file; `source` is printed at the foot of every page.

    Equal blocks give equal bytes.
    """
    pages = _paginated_strips([strip for block in blocks for strip in _block_strips(block)])
    feet = [f"{source} · page {number + 1} of {len(pages)}" for number in range(len(pages))]
    with rc_context(STYLE):
        return pdf_bytes(list(map(_page_canvas, pages, feet)), title)


def _block_strips(block: Block) -> Iterator[Strip]:
    """Yield the strips, such as lines of text, of which a block of the document consists."""
    if isinstance(block, Grid):
        yield from _table_strips(block)
        return
    kind = block.type
    lines = wrapped_lines(block.text, WIDTH, kind)
    for count, line in enumerate(lines):
        pieces = [(0.0, 0.0, line, kind)]
        if block.marked and count == len(lines) - 1:
            start = text_width(f"{line} ", kind)
            pieces.append((start, 0.0, block.marked, replace(kind, colour=block.mark_colour)))
        yield Strip(
            height=kind.leading,
            pieces=tuple(pieces),
            space=0.0 if count else block.space,
            stays=block.is_heading or count == 0 < len(lines) - 1,
        )


def _table_strips(grid: Grid) -> Iterator[Strip]:
    """Yield one strip for each row of a table; the head stays with the first row."""
    widths = column_widths([grid.columns, *grid.rows], grid.type)
    for count, row in enumerate((grid.columns, *grid.rows)):
        kind = grid.type if count else replace(grid.type, colour=QUIET)
        pieces, left, depth = [], 0.0, 0.0
        for text, width in zip(row, widths, strict=True):
            lines = wrapped_lines(text, width, kind)
            pieces += [(left, i * kind.leading, line, kind) for i, line in enumerate(lines)]
            left, depth = left + width + GAP, max(depth, len(lines) * kind.leading)
        yield Strip(
            height=depth + 1.5,
            pieces=tuple(pieces),
            space=2.0 if count == 0 else 1.5,
            has_rule=True,
            stays=count == 0,
        )


def column_widths(rows: Sequence[Sequence[str]], kind: Type) -> tuple[float, ...]:
    """Return the widths of a table's columns, the widest narrowed to fit the page."""
    widths = [max(text_width(text, kind) for text in column) for column in zip(*rows, strict=True)]
    room = WIDTH - GAP * (len(widths) - 1)
    if sum(widths) <= room:
        return tuple(widths)
    # The `cut` widest columns share the width that the other columns leave.
    for cut in range(1, len(widths) + 1):
        by_width = sorted(widths)
        share = (room - sum(by_width[:-cut])) / cut
        if cut == len(widths) or share >= by_width[-cut - 1]:
            break
    return tuple(min(width, max(share, NARROWEST)) for width in widths)


def wrapped_lines(text: str, width: float, kind: Type) -> tuple[str, ...]:
    """Return a text as lines no wider than `width`; a word that is longer is broken anywhere."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if text_width(longer, kind) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        line = word
        while text_width(line, kind) > width and len(line) > 1:
            end = len(line) - 1
            while end > 1 and text_width(line[:end], kind) > width:
                end -= 1
            lines.append(line[:end])
            line = line[end:]
    return (*lines, line)


def text_width(text: str, kind: Type) -> float:
    """Return the width of a text, in points."""
    properties = _font_properties(kind.is_bold, kind.is_code)
    return sum(_letter_width(letter, properties) for letter in text) * kind.size / 100


@cache
def _font_properties(is_bold: bool, is_code: bool) -> FontProperties:
    """Return the font properties of bold text, of code, or of plain text."""
    weight = "bold" if is_bold else "normal"
    return FontProperties(family=list(CODE_FONTS if is_code else FONTS), weight=weight, size=100)


@cache
def _letter_width(letter: str, properties: FontProperties) -> float:
    """Return the width of a letter at 100 points, measured between other letters.

    A rendered text ends where its ink ends, so a single letter would be measured without its
    margins.
    """
    measure = TextToPath().get_text_width_height_descent
    row, _, _ = measure(f"x{letter * REPEATS}x", properties, False)
    ends, _, _ = measure("xx", properties, False)
    return float(row - ends) / REPEATS


def _paginated_strips(strips: Sequence[Strip]) -> list[list[tuple[float, Strip]]]:
    """Return the strips of every page, each with its distance from the top of the page."""
    pages: list[list[tuple[float, Strip]]] = [[]]
    top, end = MARGIN, PAGE_HEIGHT - MARGIN
    for group in _strip_groups(strips):
        height = sum(strip.space + strip.height for strip in group)
        if pages[-1] and top + height > end:
            pages.append([])
            top = MARGIN
        for strip in group:
            # A group that is longer than a page is broken where a strip no longer fits.
            if pages[-1] and top + strip.space + strip.height > end:
                pages.append([])
                top = MARGIN
            top += strip.space if pages[-1] else 0.0
            pages[-1].append((top, strip))
            top += strip.height
    return pages


def _strip_groups(strips: Sequence[Strip]) -> Iterator[list[Strip]]:
    """Yield the strips in groups, each of which should stand on one page."""
    group: list[Strip] = []
    for strip in strips:
        group.append(strip)
        if not strip.stays:
            yield group
            group = []
    if group:
        yield group


def _page_canvas(page: Sequence[tuple[float, Strip]], foot: str) -> Canvas:
    """Return a drawn page: its strips, each at its distance from the top, and the text `foot`."""
    canvas = Canvas(figsize=(PAGE_WIDTH / POINTS, PAGE_HEIGHT / POINTS))
    for top, strip in page:
        for left, depth, text, kind in strip.pieces:
            _write_line(canvas, MARGIN + left, top + depth + kind.size, text, kind)
        if strip.has_rule:
            height = 1 - (top + strip.height) / PAGE_HEIGHT
            ends = [MARGIN / PAGE_WIDTH, 1 - MARGIN / PAGE_WIDTH]
            canvas.add_artist(_rule_line(ends, height))
    _write_line(canvas, MARGIN, PAGE_HEIGHT - FOOT, foot, Type(size=7.5, colour=QUIET))
    return canvas


def _rule_line(ends: list[float], height: float) -> Line2D:
    """Return a thin horizontal line; its ends and its height are shares of the page."""
    return Line2D(ends, [height, height], color=RULE, linewidth=0.4)


def _write_line(canvas: Canvas, left: float, depth: float, text: str, kind: Type) -> None:
    """Write a line of text with its baseline `depth` points below the top of the page."""
    canvas.text(
        left / PAGE_WIDTH,
        1 - depth / PAGE_HEIGHT,
        text,
        color=kind.colour,
        size=kind.size,
        family=list(CODE_FONTS if kind.is_code else FONTS),
        weight="bold" if kind.is_bold else "normal",
        parse_math=False,
    )
