"""The figure of One run: the parts of the error by clip radius; no Streamlit in here."""

import numpy as np

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import INK, Area
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Line, Panel, Region
from dpsco_app.pages.first_screen import log_axis, upright
from dpsco_app.pages.one_run.words import parts_title
from dpsco_app.parts.error_parts import PART_COLOURS, PART_NAMES
from dpsco_app.parts.options import short_text
from dpsco_core.explain.anatomy import ErrorParts
from dpsco_core.explain.error_parts import PARTS

SHOWN_ERROR = 3.0  # times the least error: what is higher leaves the figure


def parts_figure(parts: ErrorParts, radius: float) -> Figure:
    """Return the parts of the error, stacked, by clip radius; negative ones hang below 0."""
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
    bottom = max(-float(base[-1].max()), -top) * 1.05
    whole = Line(key="whole", name="whole error", x=x, y=total.tolist(), colour=INK, width=2.4)
    zero = Line(key="zero", name="0", x=[x[0], x[-1]], y=[0, 0], colour=INK, kind="guide", width=1)
    here = upright(radius, bottom, top, f"R = {short_text(radius, 2)}")
    return Figure(
        panels=[
            Panel(
                title="",
                x=log_axis("Clip radius R", x[0], x[-1]),
                regions=regions,
                lines=[zero, whole, here],
            )
        ],
        y=linear_axis("Mean excess population risk", bottom, top),
        ladder=_ladder(parts, radius, top),
        alt=parts_title(parts, radius),
    )


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
