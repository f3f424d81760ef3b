"""The tail index of one's own numbers over how many of the farthest it rests on."""

import math

import numpy as np
import plotly.graph_objects as go

from dpsco_app.parts.curves import add_curve, finish
from dpsco_app.parts.look import BLUE, Look, mark_chosen, note
from dpsco_core.explain.tails import LIGHT, Tail

LOWEST = 0.7


def tail_figure(found: Tail, look: Look) -> go.Figure:
    """Return the index over the threshold; what is `LIGHT` or more is drawn there."""
    figure = go.Figure()
    shown = np.clip(np.array(found.indices), LOWEST, LIGHT)
    colour = look.colour(BLUE)
    farthest = np.array(found.farthest)
    add_curve(figure, farthest, shown, "Tail index", colour, "%{x:,} farthest: %{y:.2g}")
    mark_chosen(figure, [found.used], [min(max(found.index, LOWEST), LIGHT)], look)
    text = f"{LIGHT:g} or more: no sign of a heavy tail"
    where = {"xref": "paper", "xanchor": "right", "yanchor": "top"}
    figure.add_annotation(**note(text, 1.0, math.log10(LIGHT), look.quiet, 12, **where))
    x_ends, y_ends = (farthest[0] / 1.2, farthest[-1] * 1.2), (LOWEST / 1.05, LIGHT * 1.15)
    titles = ("Numbers beyond the threshold (log)", "Tail index (log)")
    return finish(figure, look, x_ends, y_ends, titles, [], heights=(320, 320), bottom=44)
