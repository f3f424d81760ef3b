"""The figure of One run: the parts of the error by clip radius; no Streamlit in here."""

import numpy as np

from dpsco_app.figure.colours import INK, Area
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.values import Axis, Figure, Ladder, LadderRow, Line, Panel, Region
from dpsco_app.pages.first_screen import log_axis, upright
from dpsco_app.pages.one_run.words import best_radius, parts_title
from dpsco_app.parts.error_parts import PART_COLOURS, PART_NAMES
from dpsco_app.parts.options import short_text
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.anatomy import ErrorParts
from dpsco_core.explain.error_parts import PARTS

SHOWN_ERROR = 3.0  # times the least error: what is higher leaves the figure
ROOM = 0.13  # of the height, below 0
TICKS = 5


def parts_figure(parts: ErrorParts, radius: float, choices: Vector) -> Figure:
    """Return the parts of the error, stacked, by clip radius; negative ones hang below 0.

    A strip below has a mark for every private choice of the radius, and for two that need no look.
    """
    x, total = parts.radii.tolist(), parts.total
    top = 1.08 * min(float(total.max()), SHOWN_ERROR * float(total.min()))
    regions, base = [], {1: np.zeros(len(x)), -1: np.zeros(len(x))}
    for name in PARTS:
        value = getattr(parts, name)
        for sign, below in base.items():
            part = np.maximum(sign * value, 0.0)
            if sign == -1 and not part.any():
                continue
            base[sign] = below + part
            ends = sorted((sign * below, sign * base[sign]), key=lambda edge: float(edge.sum()))
            colour = PART_COLOURS[name]
            regions.append(
                Region(
                    key=name if sign == 1 else f"{name} below",
                    name=PART_NAMES[name] if sign == 1 else f"{PART_NAMES[name]}, reduces it",
                    x=x,
                    lower=ends[0].tolist(),
                    upper=ends[1].tolist(),
                    look=Area(fill=colour, edge=colour, ink=colour),
                    edge=0.0,
                    hover=[f"{PART_NAMES[name]} {short_text(float(v), 2)}" for v in value],
                )
            )
    bottom = max(-float(base[-1].max()), -top) * 1.05 - (ROOM * top if len(choices) else 0.0)
    whole = Line(key="whole", name="whole error", x=x, y=total.tolist(), colour=INK, width=2.4)
    zero = Line(key="zero", name="0", x=[x[0], x[-1]], y=[0, 0], colour=INK, kind="guide", width=1)
    here = upright(radius, bottom, top, f"R = {short_text(radius, 2)}")
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis("Clip radius R", x[0], x[-1]),
                regions=regions,
                lines=[zero, whole, *_marks(parts, choices, bottom + 0.45 * ROOM * top), here],
            )
        ],
        y=_axis(bottom, top),
        ladder=_ladder(parts, radius, top),
        alt=parts_title(parts, radius),
    )


def _axis(bottom: float, top: float) -> Axis:
    power = 10.0 ** np.floor(np.log10(top))
    step = next(s * power for s in (0.1, 0.2, 0.5, 1, 2) if top / (s * power) <= TICKS)
    values = np.arange(np.ceil(bottom / step), np.floor(top / step) + 1) * step
    title = "Mean excess population risk"
    ticks = [(v, short_text(v, 2)) for v in (float(v) + 0.0 for v in values)]  # no -0
    return Axis(title=title, low=bottom, high=top, ticks=ticks, log=False)


def _ladder(parts: ErrorParts, radius: float, top: float) -> Ladder:
    """Return the parts at the radius that is shown, in the order of the stack."""
    rows, end = [], 0.0
    for name, value in zip(PARTS, parts.at(radius), strict=True):
        thick = max(float(getattr(parts, name)[-1]), 0.0)
        rows.append(
            LadderRow(
                key=name,
                name=PART_NAMES[name],
                colour=PART_COLOURS[name],
                values=[short_text(value, 2)],
                end=min(end + thick / 2, 0.98 * top),
                swatch="area",
            )
        )
        end += thick
    whole = short_text(sum(parts.at(radius)), 2)
    row = LadderRow(
        key="whole", name="whole error", colour=INK, values=[whole], end=min(end, top), bold=True
    )
    title = f"At R = {short_text(radius, 2)}"
    return Ladder(title=title, columns=["mean excess risk"], rows=[*rows, row])


def _marks(parts: ErrorParts, choices: Vector, y: float) -> list[Line]:
    """Return what looking privately chose, the radius from the setting, and the best one."""
    radii, counts = np.unique(choices, return_counts=True)
    if not len(radii):
        return []
    looked = f"what looking privately chose, {len(choices)} runs"
    marks = (
        (looked, radii.tolist(), colour_of("sco.adaptive"), "line-ns-open", 14.0),
        ("radius from the setting", [parts.chosen], colour_of("sco.clipped"), "square", 9.0),
        ("best in hindsight", [best_radius(parts)], INK, "star", 11.0),
    )
    return [
        Line(
            key=name,
            name=name,
            x=x,
            y=[y] * len(x),
            colour=colour,
            width=0,
            symbol=symbol,
            size=size,
            hover=[f"{name}: {n} here" for n in counts] if name == looked else [name],
        )
        for name, x, colour, symbol, size in marks
    ]
