"""What looking privately chose, beneath the error by clip radius: ticks and words."""

import numpy as np
import plotly.graph_objects as go

from dpsco_app.pages.one_run.charts import radius_text
from dpsco_app.parts.look import Look, colour_of
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.anatomy import ErrorParts

ROOM = 0.13  # of the height, below 0
FROM_SETTING = "radius from the setting"
IN_HINDSIGHT = "best in hindsight"


def add_choices(figure: go.Figure, choices: Vector, parts: ErrorParts, look: Look) -> go.Figure:
    """Return the figure with a strip below it: a tick a run, and what to hold them against."""
    if not len(choices):
        return figure
    low, high = figure.layout.yaxis.range
    bottom = min(low, 0.0) - ROOM * high
    place = bottom + 0.45 * ROOM * high
    best = float(parts.radii[int(parts.total.argmin())])
    private = look.colour(colour_of("sco.adaptive"))
    radii, counts = np.unique(choices, return_counts=True)
    heights = 7 + 9 * counts / counts.max()
    looked = f"what looking privately chose, {len(choices)} runs"
    marks = (
        (looked, radii, private, "line-ns", heights),
        (FROM_SETTING, [parts.chosen], look.colour(colour_of("sco.clipped")), "square", 9),
        (IN_HINDSIGHT, [best], look.ink, "star", 11),
    )
    for name, radii, colour, symbol, size in marks:
        figure.add_trace(
            go.Scatter(
                x=list(radii),
                y=[place] * len(radii),
                mode="markers",
                marker={
                    "symbol": symbol,
                    "size": size,
                    "color": colour,
                    "line": {"color": colour, "width": 2.5 if symbol == "line-ns" else 0},
                },
                name=name,
                customdata=counts if symbol == "line-ns" else None,
                hovertemplate=f"{name}"
                + (": %{customdata} here" if symbol == "line-ns" else "")
                + "<extra></extra>",
            )
        )
    figure.update_yaxes(range=[bottom, high])
    return figure


def choices_sentence(choices: Vector, parts: ErrorParts) -> str:
    """Return where the private choices lie, beside the two radii that need no look."""
    if not len(choices):
        return ""
    low, middle, high = (radius_text(r) for r in np.quantile(choices, (0, 0.5, 1)))
    best = radius_text(float(parts.radii[int(parts.total.argmin())]))
    spread = f"{low} every time" if low == high else f"{low} to {high} (median {middle})"
    return (
        "Ticks: adaptively clipped gradients look at the lengths, privately, and in "
        f"{len(choices)} runs on the same records chose {spread}. The radius from the setting (■) "
        f"is {radius_text(parts.chosen)}, the best in hindsight (★) {best}."
    )
