"""The map of the page Users: who is smallest over (n, m); no Streamlit in here."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from dpsco_app.pages.users.words import MAP_NAMES
from dpsco_app.parts.look import Look, colour_of, lay_out, log_ticks, translucent, wrapped
from dpsco_app.parts.options import number_text
from dpsco_core.explain.users.regions import UserMap

SHARE = 0.025  # of the map, for a region to get its name


def map_figure(found: UserMap, chosen: tuple[int, int], look: Look) -> go.Figure:
    """Return the map of the smallest value; `chosen` is (n, m)."""
    x, y = np.log10(found.items), np.log10(found.users)
    best, count = found.smallest, len(found.methods)
    colours = [look.colour(colour_of(m)) for m in found.methods]
    scale = [
        [edge, translucent(c, 0.5)]
        for k, c in enumerate(colours)
        for edge in (k / count, (k + 1) / count)
    ]
    figure = go.Figure(
        go.Heatmap(
            x=x,
            y=y,
            z=np.where(best < 0, np.nan, best),
            zmin=-0.5,
            zmax=count - 0.5,
            colorscale=scale,
            showscale=False,
            hoverinfo="skip",
            xgap=1,
            ygap=1,
            name="map",
        )
    )
    for k, method in enumerate(found.methods):
        cells = np.argwhere(best == k)
        if len(cells) < SHARE * best.size:
            continue
        row, column = cells[int(np.abs(cells - np.median(cells, axis=0)).sum(axis=1).argmin())]
        figure.add_annotation(
            text=f"<b>{wrapped(MAP_NAMES[method], 16)}</b>",
            x=x[column],
            y=y[row],
            showarrow=False,
            font={"size": 12 if look.compact else 14, "color": look.ink},
        )
    grid_x, grid_y = np.meshgrid(x, y)
    hidden = {"marker": {"opacity": 0}}
    figure.add_trace(
        go.Scatter(
            x=grid_x.ravel(),
            y=grid_y.ravel(),
            mode="markers",
            marker={"size": 14, "opacity": 0, "symbol": "square"},
            selected=hidden,
            unselected=hidden,
            customdata=[[n, m] for n in found.users for m in found.items],
            hovertext=[
                _hover(found, i, j)
                for i in range(len(found.users))
                for j in range(len(found.items))
            ],
            hoverinfo="text",
            name="values",
            showlegend=False,
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[math.log10(chosen[1])],
            y=[math.log10(chosen[0])],
            mode="markers",
            marker={
                "symbol": "circle-x-open",
                "size": 16,
                "color": look.ink,
                "line": {"width": 2.5},
            },
            hoverinfo="skip",
            name="chosen point",
            showlegend=False,
        )
    )
    for update, values, name in (
        (figure.update_xaxes, found.items, "Items per user m (log)"),
        (figure.update_yaxes, found.users, "Users n (log)"),
    ):
        ticks = [t for t in log_ticks(values[0], values[-1]) if f"{t:e}".startswith("1.0")]
        if look.compact and len(ticks) > 4:
            ticks = ticks[::2]
        places = np.log10(values)
        pad = float(places[1] - places[0]) / 2
        update(
            title_text=name,
            tickvals=[math.log10(t) for t in ticks],
            ticktext=[number_text(t) for t in ticks],
            range=[float(places[0]) - pad, float(places[-1]) + pad],
            showgrid=False,
            zeroline=False,
        )
    lay_out(figure, look)
    figure.update_layout(
        margin={"r": 20, "t": 76, "b": 44},
        showlegend=False,
        clickmode="event+select",
        dragmode=False,
        height=440 if look.compact else 480,
    )
    return figure


def _hover(found: UserMap, row: int, column: int) -> str:
    lines = [f"n = {number_text(found.users[row])}, m = {number_text(found.items[column])}"]
    for k, method in enumerate(found.methods):
        value = found.values[k, row, column]
        if math.isnan(value):
            continue
        number = f"{value:.2g}" if math.isfinite(value) else "none"
        fails = "" if found.holds[k, row, column] else ", a condition fails"
        lines.append(f"{MAP_NAMES[method]}: {number}{fails}")
    return "<br>".join(lines)
