"""Regions, lines, the chosen point and its bracket, in Plotly's form."""

import math
from collections.abc import Sequence
from itertools import pairwise, product

from dpsco_app.figure.colours import INK, PAGE, QUIET, Pair, translucent
from dpsco_app.figure.labels import LETTER
from dpsco_app.figure.panel_box import PanelBox, Part, trace
from dpsco_app.figure.place import Box, box_outline, free_place
from dpsco_app.figure.values import Cells, Figure, Gap, Line

HALO = 0.75  # The opacity of the background behind the factor.


def regions_of(place: PanelBox) -> list[Part]:
    """Return the filled regions of a panel, with edges and hover points, as Plotly's traces."""
    traces = []
    for region in place.panel.regions:
        x, upper = place.extended(region.x, region.upper)
        lower = [place.y.low / 10] * len(x)
        if region.lower:
            lower = place.extended(region.x, region.lower)[1]
        identity = {"name": region.name, "meta": region.key}
        traces.append(
            trace(
                place,
                x=[*x, *reversed(x)],
                y=[*upper, *reversed(lower)],
                fill="toself",
                fillcolor=place.theme.colour(region.look.fill),
                line={"width": 0},
                **identity,
            )
        )
        for y in [upper, lower] if region.lower else [upper]:
            colour = place.theme.colour(region.look.edge)
            line = {"color": colour, "width": place.theme.px(region.edge)}
            traces.append(trace(place, x=x, y=y, line=line, **identity))
            place.keep_clear(x, y)
        if region.hover:  # The hover text of a region sits on invisible points.
            traces.append(
                trace(
                    place,
                    x=list(region.x),
                    y=list(region.upper),
                    name=region.name,
                    mode="markers",
                    marker={"size": 12, "opacity": 0},
                    **_hover_fields(region.hover),
                )
            )
    return traces


def lines_of(place: PanelBox) -> list[Part]:
    """Return the lines of a panel, with their marks and intervals, as Plotly's traces."""
    traces = []
    for line in place.panel.lines:
        colour = place.theme.colour(line.colour)
        opacity = line.opacity
        traces += _hidden_details(place, line, colour)
        x, y = list(line.x), list(line.y)
        if line.kind != "measured":
            x, y = place.extended(x, y)
        place.keep_clear(x, y)
        for a, b, half in zip(line.x, line.y, line.half, strict=False):
            place.keep_clear([a, a], [max(b - half, place.y.low), b + half])
        stroke = {"color": colour, "width": place.theme.px(line.width), "dash": line.dash}
        fields: Part = {"line": stroke}
        if line.fill:
            fields |= {"fill": "toself", "fillcolor": translucent(colour, line.fill)}
        if line.symbol:
            open_mark = line.symbol.endswith("-open")
            fields["mode"] = "lines+markers" if line.width else "markers"
            fields["marker"] = {
                "symbol": line.symbol,
                "size": place.theme.px(line.size),
                "color": colour,
                "line": {"width": place.theme.px(1.5) if open_mark else 0, "color": colour},
            }
        if line.half:
            bars = {"array": list(line.half), "arrayminus": list(line.down or line.half)}
            look = {"color": colour, "thickness": 1, "width": 0}
            fields["error_y"] = bars | look | {"symmetric": False}
        fields |= _hover_fields(line.hover)
        traces.append(
            trace(place, x=x, y=y, name=line.name, meta=line.key, opacity=opacity, **fields)
        )
    return traces


def _hover_fields(texts: Sequence[str]) -> Part:
    """Return Plotly's fields for the hover texts of a trace."""
    return {"hoverinfo": "text", "hovertext": list(texts)} if texts else {}


def labels_of(place: PanelBox) -> list[Part]:
    """Return the labels beside the last points of lines, hidden for a line without points."""
    notes = []
    for line in (line for line in place.panel.lines if line.label):
        x, y = (values[-1] if values else 0.0 for values in (line.x, line.y))
        x_shift, y_shift = line.away
        type_size = place.theme.px(11 if line.is_small else 14)
        half = LETTER * type_size * len(line.label) / 2
        if x_shift == 0 and line.x and place.width - place.x_pixel(x) < half:
            x_shift = -4.0  # A centred label would stick out of the panel.
        notes.append(
            {
                "x": place.on_axis(x),
                "y": place.on_y(y),
                "xref": place.x_name,
                "yref": "y",
                "text": line.label if line.is_small else f"<b>{line.label}</b>",
                "name": line.key,
                "showarrow": False,
                "visible": bool(line.x),
                "xanchor": "left" if x_shift > 0 else "right" if x_shift < 0 else "center",
                "xshift": x_shift,
                "yshift": y_shift,
                "font": {"size": type_size, "color": place.theme.colour(line.colour)},
            }
        )
    return notes


# -- maps -------------------------------------------------------------------------------------


def cells_of(place: PanelBox) -> list[Part]:
    """Return the traces of a map: its cells, their invisible hover points, the chosen point."""
    cells = place.panel.cells
    if cells is None:
        return []
    traces = []
    for (k, (name, colour)), hatched in product(enumerate(cells.kinds), (False, True)):
        places = [
            (i, j)
            for i, row in enumerate(cells.shows)
            for j, kind in enumerate(row)
            if kind == k and cells.hatched[i][j] == hatched
        ]
        if places:
            traces.append(_filled_cells_trace(place, cells, places, name, colour, hatched=hatched))
    middles = [(x, y) for y in cells.y for x in cells.x]
    unseen: Part = {"marker": {"opacity": 0}}
    traces.append(
        trace(
            place,
            x=[x for x, _ in middles],
            y=[y for _, y in middles],
            mode="markers",
            marker={"size": 14, "opacity": 0, "symbol": "square"},
            selected=unseen,
            unselected=unseen,
            customdata=middles,
            hoverinfo="text",
            hovertext=[text for row in cells.hover for text in row],
            name="cells",
        )
    )
    ink = place.theme.colour(INK)
    look = {"symbol": "circle-x-open", "size": 16, "color": ink, "line": {"width": 2.5}}
    x, y = cells.chosen
    traces.append(
        trace(
            place,
            x=[x],
            y=[y],
            mode="markers",
            marker=look,
            cliponaxis=False,
            name="chosen point",
        )
    )
    return traces


def _filled_cells_trace(
    place: PanelBox,
    cells: Cells,
    places: Sequence[tuple[int, int]],
    name: str,
    colour: Pair,
    *,
    hatched: bool,
) -> Part:
    """Return a trace that fills some cells with a colour, hatched or not."""
    columns, rows = cell_edges(cells.x), cell_edges(cells.y)
    x: list[float | None] = []
    y: list[float | None] = []
    for i, j in places:
        left, right, low, high = columns[j], columns[j + 1], rows[i], rows[i + 1]
        x += [left, right, right, left, left, None]
        y += [low, low, high, high, low, None]
    plain, page = place.theme.colour(colour), place.theme.colour(PAGE)
    fill: Part = {"fillcolor": translucent(plain, 0.55)}
    if hatched:
        ink = place.theme.colour(QUIET)
        pattern = {"shape": "/", "size": 10, "solidity": 0.12, "fgcolor": ink, "fgopacity": 1}
        fill = {"fillpattern": pattern | {"bgcolor": translucent(plain, 0.55)}}
    line = {"color": page, "width": 1}
    return trace(place, x=x, y=y, fill="toself", line=line, name=name, **fill)


def cell_edges(middles: Sequence[float]) -> list[float]:
    """Return the edges of cells on a logarithmic axis, from the middles of the cells.

    Examples
    --------
    >>> [round(edge, 1) for edge in cell_edges([1, 100])]
    [0.1, 10.0, 1000.0]
    """
    if len(middles) < 2:
        return [middles[0] / 3, middles[0] * 3]
    inner_edges = [math.sqrt(a * b) for a, b in pairwise(middles)]
    return [middles[0] ** 2 / inner_edges[0], *inner_edges, middles[-1] ** 2 / inner_edges[-1]]


def _hidden_details(place: PanelBox, line: Line, colour: str) -> list[Part]:
    """Return the details of a line that are transparent until the script shows them on hover."""
    traces, hidden = [], {"opacity": 0, "meta": f"{line.key}:more", "name": line.name}
    if line.low:
        traces.append(
            trace(
                place,
                x=[*line.x, *reversed(line.x)],
                y=[*line.high, *reversed(line.low)],
                fill="toself",
                fillcolor=translucent(colour, 0.15),
                line={"width": 0},
                **hidden,
            )
        )
    if line.bound:
        x, y = place.extended(*zip(*line.bound, strict=True))
        traces.append(
            trace(
                place,
                x=x,
                y=y,
                line={"color": colour, "width": place.theme.px(1.6), "dash": "6px,4px"},
                **hidden,
            )
        )
    return traces


# -- the chosen value -------------------------------------------------------------------------


def chosen_marks(place: PanelBox, figure: Figure) -> tuple[list[Part], list[Part]]:
    """Return the traces and the annotations that mark the chosen value of a panel.

    They are a vertical line, its marks, its handle, and the factor between two of the points.
    """
    x, theme = place.panel.chosen, place.theme
    if x is None:
        return [], []
    lines = [line for line in place.panel.lines if line.kind == "measured"]
    chosen_points = [
        (line, y) for line in lines for a, y in zip(line.x, line.y, strict=True) if a == x and y > 0
    ]
    windows = [region for region in place.panel.regions if region.lower]
    tops = [y for r in windows for a, y in zip(r.x, r.upper, strict=True) if a == x]
    tops += [y for _, y in chosen_points]
    ink = theme.colour(INK)
    traces = []
    if tops:
        top = min(max(tops), place.y.high)
        traces.append(
            trace(
                place,
                x=[x, x],
                y=[place.y.low, top],
                line={"color": ink, "width": 1},
                opacity=0.3,
            )
        )
        place.keep_clear([x, x], [place.y.low, top])
    gap, notes = _bracket_and_factor(place, place.panel.gap)
    traces += gap
    page = theme.colour(PAGE)
    for line, y in chosen_points:
        if not line.symbol:
            continue
        colour, is_open = theme.colour(line.colour), line.symbol.endswith("-open")
        marker = {
            "symbol": line.symbol.removesuffix("-open"),
            "size": theme.px(line.size + 5.5),
            "color": page if is_open else colour,
            "line": {"color": colour if is_open else page, "width": 2},
        }
        traces.append(
            trace(
                place,
                x=[x],
                y=[y],
                mode="markers",
                marker=marker,
                cliponaxis=False,
                meta=line.key,
                opacity=line.opacity,
            )
        )
    # A panel without ticks on its horizontal axis has no value to choose.
    if not place.panel.x.ticks:
        return traces, notes
    traces.append(
        trace(
            place,
            x=[x],
            y=[place.y.low],
            mode="markers",
            marker={"size": theme.px(15), "color": ink, "line": {"color": page, "width": 2}},
            cliponaxis=False,
            meta="knob",
        )
    )
    return traces, notes


def _bracket_and_factor(place: PanelBox, gap: Gap | None) -> tuple[list[Part], list[Part]]:
    """Return the traces and annotations of a gap: a stroke between two points, and their ratio."""
    if gap is None:
        return [], []
    theme = place.theme
    colour = theme.colour(gap.colour)
    low, high = sorted((place.y_pixel(gap.low), place.y_pixel(gap.high)))
    traces = []
    if high - low > 16:
        traces.append(
            trace(
                place,
                x=[gap.x, gap.x],
                y=[gap.low, gap.high],
                line={"color": colour, "width": theme.px(3)},
                opacity=0.9,
                meta=gap.key,
            )
        )
    type_size, centre = theme.px(16 if theme.size.ladder else 14), place.x_pixel(gap.x)
    width, height = 0.58 * type_size * len(gap.text), type_size + 2
    # At the right end of the panel, only the left side has room: the ladder is on the right.
    left = centre + 9 if centre + 9 + width <= place.width else centre - 9 - width
    want = left, low + 0.42 * (high - low) - height / 2 if traces else high + 3

    def is_beside(box: Box) -> bool:
        """Whether a text in this box stands right beside the line of the gap."""
        distance = max(box[0] - centre, centre - box[0] - width)
        return 4 <= distance <= 16 and low - height - 8 <= box[1] <= high + 8

    other_paths = [path for path in place.paths if {path[0][0], path[-1][0]} != {centre}]
    panel = place.width, place.height
    spot = free_place((width, height), panel, other_paths, want, is_beside) or want
    place.paths.append(box_outline((*spot, width, height)))
    text = {"text": f"<b>{gap.text}</b>", "font": {"size": type_size, "color": colour}}
    corner = place.at_pixel(*spot) | {"xanchor": "left", "yanchor": "bottom", "showarrow": False}
    halo = {"bgcolor": translucent(theme.colour(PAGE), HALO), "borderpad": 0}
    return traces, [corner | text | halo | {"name": gap.key}]
