"""The tail index of one's own numbers over how many of the farthest it rests on."""

from dataclasses import replace

import numpy as np

from dpsco_app.figure.colours import INK, METHODS
from dpsco_app.figure.values import Figure, Ladder, Line, Panel
from dpsco_app.pages.first_screen import log_axis, thin
from dpsco_core.explain.tails import LIGHT, Tail

LOWEST = 0.7


def tail_figure(tail: Tail, alt: str) -> Figure:
    """Return the index over the threshold; what is `LIGHT` or more is drawn there."""
    shown = np.clip(np.array(tail.indices), LOWEST, LIGHT).tolist()
    farthest = [float(count) for count in tail.farthest]
    index = Line(
        key="index",
        name="Tail index",
        x=farthest,
        y=shown,
        colour=METHODS["grey"],
        width=2.4,
        hover=[f"{x:,.0f} farthest: {y:.2g}" for x, y in zip(farthest, shown, strict=True)],
    )
    used = Line(
        key="used",
        name="the index that is used",
        x=[float(tail.used)],
        y=[min(max(tail.index, LOWEST), LIGHT)],
        colour=INK,
        width=0,
        symbol="circle-x-open",
        size=14,
    )
    low, high = farthest[0] / 1.2, farthest[-1] * 1.2
    light = thin(f"{LIGHT:g} or more: no sign of a heavy tail", [low, high], [LIGHT, LIGHT])
    across = log_axis("Numbers beyond the threshold", low, high)
    return Figure(
        panels=[Panel(title="", x=across, lines=[replace(light, away=(-4.0, 12.0)), index, used])],
        y=log_axis("Tail index", LOWEST / 1.05, LIGHT * 1.4),
        ladder=Ladder(title="", columns=[], rows=[]),
        alt=alt,
    )
