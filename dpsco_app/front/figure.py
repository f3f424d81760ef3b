"""The front figure: its panels on a common axis, and the ladder of named numbers."""

import math
from collections.abc import Callable, Sequence

from dpsco_app.figure.colours import IMPOSSIBLE, QUIET, WINDOW, Pair
from dpsco_app.figure.methods import SIGNS
from dpsco_app.figure.values import (
    Axis,
    Figure,
    Ladder,
    LadderRow,
)
from dpsco_app.front.panel import FrontPanel
from dpsco_app.front.study import Asked, Study
from dpsco_app.front.titles import PRICE_AXIS, WINDOW_NOTE, at_point, ratio_text
from dpsco_app.parts.options import number_text, ranged, rounded
from dpsco_app.parts.problem_words import words_for
from dpsco_core.fields import MEAN

ABOVE, BELOW = 1.5, 1 / 1.8  # multiples of what is drawn: the ends of the vertical axis
DEEP = 30.0  # how far below the lowest measured error the axis may reach for a floor


def front_figure(
    studies: Sequence[Study], asked: Asked, alt: str = "", only: int | None = None
) -> Figure:
    """Return the figure of one study, or of two side by side, along their common axis.

    `alt` is what it shows, in one sentence. With `only` one panel is drawn; the ladder has all.
    """
    first = studies[0].scenario
    panels = [FrontPanel(study, asked, studies) for study in studies]
    visible = panels if only is None else panels[only : only + 1]
    low, high = _ends(visible, asked)
    y = Axis(
        title=words_for(first.problem).error_axis.removesuffix(" (log)")
        if asked.measure == "error"
        else PRICE_AXIS,
        low=low,
        high=high,
        ticks=_ticks(low, high),
    )
    return Figure(
        panels=[panel.made(low) for panel in visible],
        y=y,
        ladder=_ladder(panels, asked, low),
        alt=alt,
        faded=asked.faded,
    )


def _ends(panels: Sequence[FrontPanel], asked: Asked) -> tuple[float, float]:
    """Return the ends of the vertical axis: all that is measured, and the proofs near it."""
    lines = [line for panel in panels for line in panel.lines]
    measured = [y for line in lines for y in line.y if y > 0]
    if asked.measure == "price":
        return min([*measured, 1.0]) / 1.3, max([*measured, 1.0]) * 1.3
    low, high = min(measured, default=math.inf), max(measured, default=0.0)
    floors = [y for panel in panels for r in panel.region for y in r.upper]
    thin = [y for panel in panels for g in panel.guides if g.kind == "proven" for y in g.y]
    highest = [y for panel in panels for r in panel.window for y in r.upper]
    starts = [y for panel in panels for g in panel.guides if g.key == "start" for y in g.y]
    if not measured:
        known = [*floors, *highest, *starts, *thin] or [0.01, 1.0]
        low, high = min(known), max(known)
    deepest = [y for y in (*floors, *thin) if y > low / DEEP]
    low = min([low, *deepest])
    near = [y for y in (*highest, *starts) if y < 10 * high]
    return low * BELOW, max([high, *near]) * ABOVE


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    powers = [float(f"1e{e}") for e in range(first, last + 1)]
    if len(powers) < 3:
        every = (float(f"{d}e{e}") for e in range(first - 1, last + 1) for d in (1, 2, 5))
        powers = [v for v in every if low <= v <= high]
    return [(v, number_text(v)) for v in powers]


def _ladder(panels: Sequence[FrontPanel], asked: Asked, low: float) -> Ladder:
    """Return a row for the window, each method with a name, the floor and each bound."""
    last, single = panels[-1], len(panels) == 1
    price = asked.measure == "price"
    rows = []
    keys: dict[str, tuple[str, Pair, bool]] = {}
    signs = {line.key: SIGNS.get(line.symbol, "") for panel in panels for line in panel.lines}
    notes = dict.fromkeys((panel.study.public for panel in panels), "not private")
    notes |= {"window": WINDOW_NOTE}
    for panel in panels:
        for line in panel.lines:
            if line.symbol:
                keys.setdefault(line.key, (line.name, line.colour, True))
        for line in panel.guides:
            if line.kind == "proven":
                keys.setdefault(line.key, (line.name, line.colour, False))
            elif line.key == "start" and not price:
                keys.setdefault(line.key, ("without data", QUIET, False))
        for area in panel.region:
            keys.setdefault(area.key, (area.name, IMPOSSIBLE.ink, False))
        for area in panel.window:
            keys.setdefault(area.key, (area.name, WINDOW.ink, False))
    for key, (name, colour, bold) in keys.items():
        end = _end(last, key) or _end(panels[0], key)
        if end is None:
            continue
        rows.append(
            LadderRow(
                key=key,
                name=name,
                colour=colour,
                bold=bold,
                end=end,
                values=_values(panels, key, single=single, price=price),
                swatch="area" if key == "window" else "edge" if key == "impossible" else "line",
                sign=signs.get(key, ""),
                note=notes.get(key, ""),
            )
        )
    about = "Price" if price else "Error" if last.scenario.problem == MEAN else "Excess risk"
    at = at_point(last.scenario, last.x).removeprefix(", ")
    columns = [panel.column for panel in panels]
    if single:
        columns = ["price"] if price else [about.lower(), "price"]
        title = f"At {at}" if at else "Here"
    else:
        title = f"{about} at {at}" if at else about
    return Ladder(title=title, columns=columns, rows=rows)


def _end(panel: FrontPanel, key: str) -> float | None:
    for line in (*panel.lines, *panel.guides):
        if line.key == key:
            return line.y[-1]
    for area in (*panel.region, *panel.window):
        if area.key == key:
            return area.upper[-1]
    return None


def _span(panel: FrontPanel, key: str) -> str:
    low, high = panel.low_end(key), panel.value(key)
    return "" if low is None or high is None else ranged(low, high)


def _values(panels: Sequence[FrontPanel], key: str, *, single: bool, price: bool) -> list[str]:
    show: Callable[[float], str] = ratio_text if price else rounded
    if key == "window":
        spans = [_span(panel, key) for panel in panels]
        alike = spans[:-1] == spans[1:]
        return [*spans, ""] if single else ["", spans[-1]] if alike else spans
    values = [panel.value(key) for panel in panels]
    texts = ["" if v is None else show(v) for v in values]
    if not price:  # an error of 0 has no place on the axis
        rows = [panel.study.table.get((key, panel.x)) for panel in panels]
        texts = ["0" if r and r.mean == 0 else t for r, t in zip(rows, texts, strict=True)]
    if not single or price:
        return texts
    row = panels[0].study.at(key, panels[0].x)
    if row is None:
        return [*texts, ""]
    if key == panels[0].study.public:
        return [*texts, "1×"]
    return [*texts, "" if row.price is None else f"{ratio_text(row.price.value)}×"]
