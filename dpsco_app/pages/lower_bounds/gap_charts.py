"""The figures of the window between proven bounds; no Streamlit in here."""

from collections.abc import Sequence

import numpy as np

from dpsco_app.figure.colours import IMPOSSIBLE, QUIET, WINDOW, Pair
from dpsco_app.figure.marks import cell_edges
from dpsco_app.figure.values import (
    Axis,
    Cells,
    Dash,
    Figure,
    Ladder,
    LadderRow,
    Line,
    Panel,
    Region,
    Words,
)
from dpsco_app.pages.first_screen import log_axis, upright
from dpsco_app.pages.lower_bounds.gap_words import (
    AXIS_NAMES,
    BOUND_LINE,
    LINE_NAMES,
    NO_DATA,
    SYMBOLS,
    map_title,
    sweep_title,
)
from dpsco_app.pages.lower_bounds.words import brief, ratio_text
from dpsco_app.parts.options import short_text
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.window import Notion, Standing
from dpsco_core.scenario import Scenario

DASHES: dict[Notion, Dash] = {"approx": "dash", "zcdp": "solid", "pure": "solid"}
# From which width of the window on a cell of the map has the next shade.
WIDTHS = (1.5, 2.0, 3.0, 5.0, 10.0)
SHADES: tuple[Pair, ...] = (
    ("#f1f4fa", "#1b2230"),
    ("#e0e7f3", "#232d42"),
    ("#ccd7eb", "#2c3a57"),
    ("#b4c5e3", "#36486d"),
    ("#9db3db", "#405784"),
    ("#86a1d2", "#4b679c"),
)


def sweep_figure(
    values: Vector, standings: Sequence[Standing], here: Standing, field: str
) -> Figure:
    """Return the best proven bounds over a field, with the window between them as an area."""
    x = [float(v) for v in values]
    upper = [min(next(iter(s.windows.values())).ceiling, s.start) for s in standings]
    floors = {k: [s.windows[k].floor for s in standings] for k in here.windows}
    at = float(getattr(here.point, field))

    def hover(name: str, y: Sequence[float]) -> list[str]:
        where = zip(x, y, strict=True)
        return [f"{name}<br>{SYMBOLS[field]} = {short_text(a)}: {brief(b)}" for a, b in where]

    def line(name: str, y: Sequence[float], colour: Pair, dash: Dash) -> Line:
        return Line(
            key=name,
            name=name,
            x=x,
            y=[v if v > 0 else np.nan for v in y],
            colour=colour,
            kind="proven",
            width=2,
            dash=dash,
            hover=hover(name, y),
        )

    region = Region(
        key="window",
        name="the window",
        x=x,
        upper=upper,
        lower=[max(v, 1e-300) for v in next(iter(floors.values()))],
        look=WINDOW,
    )
    start = [s.start for s in standings]
    lines = [line(NO_DATA, start, QUIET, "dot"), line(BOUND_LINE, upper, WINDOW.ink, "solid")]
    lines += [line(LINE_NAMES[k], y, IMPOSSIBLE.ink, DASHES[k]) for k, y in floors.items()]
    own = [here.start, min(next(iter(here.windows.values())).ceiling, here.start)]
    own += [w.floor for w in here.windows.values()]
    rows = [
        LadderRow(key=a.key, name=a.name, colour=a.colour, values=[brief(v)], end=float(a.y[-1]))
        for a, v in zip(lines, own, strict=True)
        if a.y[-1] > 0
    ]
    positive = [v for y in floors.values() for v in y if v > 0]
    low, high = min(positive, default=min(upper) / 100) / 1.5, max(start) * 1.5
    title = f"At {SYMBOLS[field]} = {short_text(at)}"
    words = Words(lines=["<b>The window</b>"], colour=WINDOW.ink, want=(0.5, 0.8))
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis(AXIS_NAMES[field], x[0], x[-1]),
                regions=[region],
                lines=[*lines, upright(at, low, high, "here")],
                words=[words],
            )
        ],
        y=log_axis("Worst-case error", low, high),
        ladder=Ladder(title=title, columns=["error"], rows=rows),
        alt=sweep_title(standings, field),
    )


def map_figure(
    x: Vector,
    y: Vector,
    ratios: Vector,
    point: Scenario,
    field: str,
    notion: Notion,
    here: float,
) -> Figure:
    """Return upper over lower on a plane of n and a field, in shades."""
    kind = np.searchsorted(WIDTHS, ratios, side="right")
    names = ["narrower", *(f"{width:g} times and more" for width in WIDTHS)]

    def says(i: int, j: int) -> str:
        where = f"n = {short_text(float(x[j]))}, {SYMBOLS[field]} = {short_text(float(y[i]))}"
        return f"{where}: {ratio_text(float(ratios[i, j]))} times"

    axes: list[Axis] = []
    for name, values in (("n", x), (field, y)):
        edges = cell_edges([float(v) for v in values])
        axes.append(log_axis(AXIS_NAMES[name], edges[0], edges[-1]))
    cells = Cells(
        x=[float(v) for v in x],
        y=[float(v) for v in y],
        kinds=list(zip(names, SHADES, strict=True)),
        shows=kind.tolist(),
        hatched=np.zeros_like(kind, dtype=bool).tolist(),
        hover=[[says(i, j) for j in range(len(x))] for i in range(len(y))],
        chosen=(float(point.n), float(getattr(point, field))),
        texts=[[ratio_text(float(ratio)) for ratio in row] for row in ratios],
    )
    return Figure(
        panels=[Panel(title="", x=axes[0], cells=cells)],
        y=axes[1],
        ladder=Ladder(title="", columns=[], rows=[]),
        alt=map_title(ratios, here, notion),
    )
