"""What the small figures of the pages share: logarithmic axes, thin lines, ladders of names."""

import math
from collections.abc import Sequence

from dpsco_app.figure.colours import QUIET
from dpsco_app.figure.values import Axis, Ladder, LadderRow, Line
from dpsco_app.parts.options import number_text

MOST_TICKS = 10


def log_axis(title: str, low: float, high: float) -> Axis:
    """Return a logarithmic axis with marks at powers of ten, or also at 2 and 5 times them."""
    lowest_power, highest_power = math.floor(math.log10(low)), math.ceil(math.log10(high))
    digits = (1, 2, 5) if highest_power - lowest_power < 4 else (1,)
    candidates = [
        float(f"{digit}e{e}") for e in range(lowest_power, highest_power + 1) for digit in digits
    ]
    values = [v for v in candidates if 0.999 * low <= v <= 1.001 * high]
    ticks = [(v, number_text(v)) for v in values[:: max(1, math.ceil(len(values) / MOST_TICKS))]]
    return Axis(title=title, low=low, high=high, ticks=ticks)


def ladder_of(title: str, column: str, lines: Sequence[Line], values: Sequence[str]) -> Ladder:
    """Return the table beside a figure: the name of each line with its value in one column."""
    rows = [
        ladder_row(line, value, [y for y in line.y if y > 0][-1])
        for line, value in zip(lines, values, strict=True)
    ]
    return Ladder(title=title, columns=[column], rows=rows)


def ladder_row(line: Line, value: str, end: float, *, bold: bool = False) -> LadderRow:
    """Return a line's row in the table beside a figure; `end` is the height of the row's curve."""
    return LadderRow(
        key=line.key, name=line.name, colour=line.colour, values=[value], end=end, bold=bold
    )


def upright_line(x: float, low: float, high: float, label: str) -> Line:
    """Return a vertical line with its name at the bottom."""
    return thin_line(label, [x, x], [high, low])


def thin_line(label: str, x: Sequence[float], y: Sequence[float]) -> Line:
    """Return a thin dashed line with its name at its end, which marks it as not measured."""
    return Line(key=label, name=label, label=label, x=x, y=y, colour=QUIET, width=1.2, dash="dash")
