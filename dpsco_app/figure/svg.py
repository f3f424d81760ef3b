"""A drawn figure as SVG: the same traces and notes that Plotly is given, as text that stands alone.

Every colour is a variable of the page's style sheet, which holds it for both themes; `variables`
returns them. Each element is a text of its own, so that figures that share some can share them.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from dpsco_app.figure import colours
from dpsco_app.figure.colours import Area, Pair, translucent

Part = Mapping[str, Any]
Point = tuple[float, float]
DASHES = {"dot": "1.5 3", "dash": "7 5", "longdash": "11 5", "dashdot": "7 4 1.5 4"}
TURNED = {"diamond": 4, "pentagon": 5, "hexagon": 6, "triangle-up": 3}
STARS = {"star": 5, "hexagram": 6, "star-diamond": 4}
BOWTIE = ((-1, -0.8), (1, 0.8), (1, -0.8), (-1, 0.8))
RGBA = re.compile(r"rgba\((\d+),(\d+),(\d+),([\d.]+)\)")


def _pairs() -> Iterator[Pair]:
    for value in vars(colours).values():
        if isinstance(value, Area):
            yield from (value.fill, value.edge, value.ink)
        elif isinstance(value, tuple) and len(value) == 2:
            yield value
    yield from colours.METHODS.values()


DARK = {light: dark for light, dark in _pairs() if light.startswith("#")}


def variable(colour: str) -> str:
    """Return the name of a colour of the light theme in the style sheet."""
    return "--" + re.sub(r"[^0-9a-z]+", "-", colour.lower()).strip("-")


def variables(names: Mapping[str, str], *, dark: bool) -> str:
    """Return the colours of a theme as declarations; `names` are those of the light one."""
    return "".join(f"{name}: {_dark(c) if dark else c}; " for name, c in sorted(names.items()))


def _dark(colour: str) -> str:
    if match := RGBA.fullmatch(colour):
        base = "#" + "".join(f"{int(part):02x}" for part in match.groups()[:3])
        own = {"#000000": "#ffffff"} | DARK
        return translucent(own.get(base, base), float(match[4]))
    return DARK.get(colour, colour)


def in_both_themes(html: str, names: dict[str, str]) -> str:
    """Return HTML whose colours of the light theme are variables; `names` gets their names."""
    for colour in set(re.findall(r"#[0-9a-f]{6}\b", html)):
        names[variable(colour)] = colour
        html = html.replace(colour, f"var({variable(colour)})")
    return html


class SvgDrawing:
    """One figure: its elements in order, and the colours that they have."""

    def __init__(self, figure: Part, width: float) -> None:
        self.layout, self.width = figure["layout"], width
        self.height = float(self.layout["height"])
        margin = self.layout["margin"]
        self.left, self.top = margin["l"], margin["t"]
        self.across, self.down = width - self.left - margin["r"], self.height - self.top
        self.down -= margin["b"]
        self.names: dict[str, str] = {}
        self.elements = [*self._axes(), *self._traces(figure["data"]), *self._notes()]

    # -- places ------------------------------------------------------------------------------

    def _x(self, name: str, place: float) -> float:
        """Return the pixel of a place on an axis, in the axis's units."""
        axis = self.layout["xaxis" + name[1:]]
        low, high = axis["range"]
        first, last = axis["domain"]
        share = first + (place - low) / (high - low) * (last - first)
        return float(self.left + share * self.across)

    def _y(self, place: float) -> float:
        low, high = self.layout["yaxis"]["range"]
        return float(self.top + (high - place) / (high - low) * self.down)

    def _points(self, trace: Part) -> list[Point]:
        log = self.layout["xaxis" + trace["xaxis"][1:]]["type"] == "log"
        known = [
            (math.log10(x) if log else x, math.log10(y))
            for x, y in zip(trace["x"], trace["y"], strict=True)
            if y is not None and y > 0
        ]
        return [(self._x(trace["xaxis"], x), self._y(y)) for x, y in known]

    def _colour(self, colour: str) -> str:
        name = variable(colour)
        self.names[name] = colour
        return f"var({name})"

    # -- elements ----------------------------------------------------------------------------

    def _traces(self, traces: Sequence[Part]) -> Iterator[str]:
        for trace in traces:
            if trace.get("opacity") == 0:
                continue
            points, faint = self._points(trace), trace.get("opacity", 1)
            clip = (
                "" if trace.get("cliponaxis") is False else f" clip-path='url(#c{trace['xaxis']})'"
            )
            shade = "" if faint == 1 else f" opacity='{faint:g}'"
            inner = [*self._line(trace, points), *self._marks(trace, points)]
            if inner:
                yield f"<g{clip}{shade}>{''.join(inner)}</g>"

    def _line(self, trace: Part, points: Sequence[Point]) -> Iterator[str]:
        line, path = trace.get("line", {}), _path(points)
        if trace.get("fill"):
            pattern = trace.get("fillpattern", {}).get("bgcolor")
            fill = self._colour(trace.get("fillcolor") or pattern)
            yield f"<path d='{path}Z' style='fill:{fill}'/>"
        if "lines" in trace["mode"] and line.get("width"):
            dash = DASHES.get(line.get("dash", ""), "")
            dashed = f";stroke-dasharray:{dash}" if dash else ""
            stroke = f"stroke:{self._colour(line['color'])};stroke-width:{line['width']:g}{dashed}"
            yield f"<path d='{path}' fill='none' style='{stroke}'/>"

    def _marks(self, trace: Part, points: Sequence[Point]) -> Iterator[str]:
        marker, bars = trace.get("marker", {}), trace.get("error_y")
        if bars:
            for (x, up), y, half in zip(points, trace["y"], bars["array"], strict=False):
                low = self._y(math.log10(max(y - half, y / 1000)))
                high = self._y(math.log10(y + half))
                if abs(low - high) > 1 and high < up < low:
                    stroke = self._colour(bars["color"])
                    yield f"<path d='M{x:.1f},{low:.1f}V{high:.1f}' style='stroke:{stroke}'/>"
        if "markers" not in trace["mode"]:
            return
        texts = trace.get("hovertext") or [""] * len(points)
        for point, text in zip(points, texts, strict=False):
            title = f"<title>{escape(_bare(text))}</title>" if text else ""
            yield self._mark(marker, point, title)

    def _mark(self, marker: Part, point: Point, title: str) -> str:
        symbol, radius = marker.get("symbol", "circle"), marker["size"] / 2
        if marker.get("opacity") == 0:
            return f"<g fill-opacity='0'>{_shape('circle', point, radius, title)}</g>"
        colour, edge = self._colour(marker["color"]), marker.get("line", {})
        fill = "none" if symbol.endswith("-open") else colour
        stroke = self._colour(edge["color"]) if edge.get("width") else "none"
        style = f"fill:{fill};stroke:{stroke};stroke-width:{edge.get('width', 0):g}"
        shape = _shape(symbol.removesuffix("-open"), point, radius, title)
        return f"<g style='{style}'>{shape}</g>"

    def _axes(self) -> Iterator[str]:
        """Return the panels' frames, the grid, and what stands at the axes."""
        y, bottom = self.layout["yaxis"], self.top + self.down
        panels = [name for name in self.layout if name.startswith("xaxis")]
        for name in panels:
            axis, key = self.layout[name], "x" + name[5:]
            first, last = (self.left + share * self.across for share in axis["domain"])
            yield (
                f"<clipPath id='c{key}'><rect x='{first:.1f}' y='{self.top:g}' "
                f"width='{last - first:.1f}' height='{self.down:g}'/></clipPath>"
            )
            for value in y["tickvals"]:
                up = self._y(math.log10(value))
                stroke = self._colour(y["gridcolor"])
                yield f"<path d='M{first:.1f},{up:.1f}H{last:.1f}' style='stroke:{stroke}'/>"
            for value, text in zip(axis["tickvals"], axis["ticktext"], strict=True):
                x = self._x(key, math.log10(value) if axis["type"] == "log" else value)
                yield self._text(text, (x, bottom + 20), axis["tickfont"], "center")
            title = axis["title"]
            yield self._text(
                title["text"], ((first + last) / 2, bottom + 39), title["font"], "center"
            )
        for value, text in zip(y["tickvals"], y["ticktext"], strict=True):
            at = self.left - 5, self._y(math.log10(value)) + 4
            yield self._text(text, at, y["tickfont"], "right")

    def _notes(self) -> Iterator[str]:
        for note in self.layout["annotations"]:
            x = self.left + note["x"] * self.across
            if note["xref"] != "paper":
                x = self._x(note["xref"], note["x"])
            y = self.top + (1 - note["y"]) * self.down if note["yref"] == "paper" else 0.0
            y = self._y(note["y"]) if note["yref"] != "paper" else y
            if note["showarrow"]:
                colour = self._colour(note["arrowcolor"])
                path = f"M{x + 1:.1f},{y:.1f}L{x + note['ax']:.1f},{y + note['ay']:.1f}"
                yield f"<path d='{path}' style='stroke:{colour}'/>"
                continue
            lines, size = str(note["text"]).split("<br>"), note["font"]["size"]
            x, y = x + note.get("xshift", 0), y - note.get("yshift", 0)
            rise = 1.3 * size  # between two lines
            first = y + 0.35 * size
            if note.get("yanchor") == "bottom":
                first = y - 0.3 * size - rise * (len(lines) - 1)
            for i, line in enumerate(lines):
                at = x, first + rise * i
                yield self._text(line, at, note["font"], note.get("xanchor", "center"))

    def _text(self, text: str, at: Point, font: Part, anchor: str) -> str:
        place = {"left": "start", "right": "end"}.get(anchor, "middle")
        style = f"fill:{self._colour(font['color'])};font-size:{font['size']:g}px"
        lower = re.sub(r"<sub>(.*?)</sub>", r"<tspan dy='3' font-size='75%'>\1</tspan>", text)
        markup = lower.replace("<b>", "<tspan font-weight='700'>").replace("</b>", "</tspan>")
        return (
            f"<text x='{at[0]:.1f}' y='{at[1]:.1f}' text-anchor='{place}' style='{style}'>"
            f"{markup}</text>"
        )


def _bare(text: str) -> str:
    return re.sub(r"<[^>]+>", "", text.replace("<br>", "\n"))


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _shape(symbol: str, at: Point, radius: float, title: str) -> str:
    """Return a mark: a circle, a square, or a polygon."""
    x, y = at
    if symbol == "circle":
        return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:g}'>{title}</circle>"
    if symbol in STARS:
        count = 2 * STARS[symbol]
        sizes = [radius * 1.3 if i % 2 == 0 else radius * 0.55 for i in range(count)]
    elif symbol in TURNED:
        count = TURNED[symbol]
        sizes = [radius * 1.2] * count
    elif symbol == "triangle-down":
        return _shape_of(
            [(x - radius, y - radius), (x + radius, y - radius), (x, y + radius)], title
        )
    elif symbol in ("hourglass", "bowtie"):
        turned = [(a, b) if symbol == "bowtie" else (b, a) for a, b in BOWTIE]
        return _shape_of([(x + radius * a, y + radius * b) for a, b in turned], title)
    elif symbol == "cross":
        arm = radius / 2.5
        right = [(arm, -radius), (arm, -arm), (radius, -arm), (radius, arm), (arm, arm)]
        cross = [*right, (arm, radius), *[(-a, -b) for a, b in right], (-arm, -radius)]
        return _shape_of([(x + a, y + b) for a, b in cross], title)
    else:
        corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        return _shape_of([(x + radius * a, y + radius * b) for a, b in corners], title)
    angles = [2 * math.pi * i / count - math.pi / 2 for i in range(count)]
    ring = zip(sizes, angles, strict=True)
    return _shape_of([(x + r * math.cos(a), y + r * math.sin(a)) for r, a in ring], title)


def _shape_of(points: Sequence[Point], title: str) -> str:
    return f"<path d='{_path(points)}Z'>{title}</path>"
