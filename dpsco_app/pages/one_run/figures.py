"""The figure of One run: the parts of the error by clip radius; no Streamlit in here."""

from dataclasses import replace

import numpy as np

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import INK, METHODS, NOISE, Area
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Line, Panel, Region
from dpsco_app.pages.first_screen import log_axis, upright
from dpsco_app.pages.one_run.words import best_radius, parts_title
from dpsco_app.parts.error_parts import PART_COLOURS, PART_NAMES
from dpsco_app.parts.options import short_text
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.anatomy import ErrorParts
from dpsco_core.explain.error_parts import PARTS
from dpsco_core.explain.methods.cancelling import Cancelling

SHOWN_ERROR = 3.0  # times the least error: what is higher leaves the figure
ROOM = 0.13  # a share of the height, below 0
GREY = METHODS["grey"]


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
        y=linear_axis("Mean excess population risk", bottom, top),
        ladder=_ladder(parts, radius, top),
        alt=parts_title(parts, radius),
    )


def noise_figure(noise: Cancelling) -> Figure:
    """Return the noise in the sum of the steps so far, correlated and independent."""
    steps = [float(t) for t in range(1, len(noise.sum_std) + 1)]
    lines, rows = [], []
    for key, name, values, path, colour in (
        ("independent", "independent noise", noise.independent_std, noise.independent_path, GREY),
        ("correlated", "noise that cancels", noise.sum_std, noise.sum_path, NOISE),
    ):
        y = values.tolist()
        hover = [
            f"{name}<br>after {t:g} steps: {short_text(v, 2)}"
            for t, v in zip(steps, y, strict=True)
        ]
        line = Line(key=key, name=name, x=steps, y=y, colour=colour, width=2.4, hover=hover)
        run = replace(line, name=f"{name}, one path", y=path.tolist(), width=1.0, hover=())
        lines += [replace(run, opacity=0.6), line]
        last = short_text(y[-1], 2)
        rows.append(LadderRow(key=key, name=name, colour=colour, values=[last], end=y[-1]))
    ends = [v for line in lines for v in line.y]
    low, high = 1.1 * min(ends), 1.1 * max(ends)
    fewer = short_text(float(noise.independent_std[-1] / noise.sum_std[-1]), 2)
    return Figure(
        panels=[Panel(title="", x=linear_axis("Steps so far", 0, steps[-1]), lines=lines)],
        y=linear_axis("Noise in their sum", low, high),
        ladder=Ladder(title=f"After {steps[-1]:g}", columns=["std"], rows=rows),
        alt=f"After {steps[-1]:g} steps the sum holds {fewer} times less noise than if every "
        "step had noise of its own",
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
