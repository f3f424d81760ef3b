"""Measured curves: a method's line, its band, the interval of its mean, its name at the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pandas as pd

from dpsco_app.parts.look import Label, Look, Part, colour_of, symbol_of, translucent
from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_core.catalogue import method_card
from dpsco_core.results.tables import interval_half_width
from dpsco_core.scenario import Scenario

PREVIOUS = 0.4  # opacity of the lines of settings that have changed since


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """The measured curves of one scenario."""

    table: pd.DataFrame  # the `summary` of the cells that have finished; may be empty
    suffix: str = ""  # what the curves' names end with; empty where there is nothing to tell apart
    other: bool = False  # whether they are those that are drawn beside: dashed, with open points
    previous: bool = False  # whether they are of settings that have changed since: faded
    thin: bool = False  # whether they are a companion: a thin line alone


@dataclass(frozen=True, kw_only=True)
class Line:
    """The line of one method: its name, and how it is drawn; see `Curves`."""

    method: str
    name: str
    other: bool
    previous: bool
    thin: bool = False


def curve_lines(
    scenario: Scenario, part: Curves, look: Look, low: float
) -> tuple[list[Part], list[Label]]:
    """Return every method of a table, those of settings that have changed since included."""
    rows: dict[str, list[Any]] = {}
    for row in part.table.itertuples(index=False):
        rows.setdefault(str(row.method), []).append(row)
    traces: list[Part] = []
    labels: list[Label] = []
    for method, points in rows.items():
        line = Line(
            method=method,
            name=method_card(method).name + part.suffix,
            other=part.other,
            previous=part.previous,
            thin=part.thin,
        )
        points.sort(key=attrgetter("x"))
        last = points[-1].mean_error
        shown = [point for point in points if point.mean_error > 0]
        if shown:
            traces += _method_lines(scenario, shown, line, look)
            labels.append(_name_at_end(shown, line, look))
        if last < low:  # it is right, or nearly
            labels.append(_name_below(last, line, look, low))
    return traces, labels


def _method_lines(
    scenario: Scenario, points: Sequence[Any], line: Line, look: Look
) -> tuple[Part, Part]:
    """Return the band of a method and its line, at points in the order of x."""
    name, method = line.name, line.method
    colour = look.colour(colour_of(method))
    x = [r.x for r in points]
    band: Part = {
        "type": "scatter",
        "x": [*x, *reversed(x)],
        "y": [*(r.q90 for r in points), *(r.q10 for r in reversed(points))],
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": translucent(
            colour, 0 if line.thin else 0.07 if line.other or line.previous else 0.16
        ),
        "hoverinfo": "skip",
        "name": f"{name}, 10-90 %",
        "showlegend": False,
    }
    hover = [
        f"<b>{name}</b><br>{SYMBOL[scenario.axis or 'n']} = {number_text(r.x)}"
        f"<br>mean {r.mean_error:.3g} ± {r.standard_error:.1g}"
        f"<br>median {r.median_error:.3g}"
        f"<br>10-90 % of trials {r.q10:.3g} to {r.q90:.3g}"
        f"<br>{r.trials} trials · {1000 * r.seconds:.2g} ms each"
        for r in points
    ]
    private = method_card(method).privacy != "none"
    middle: Part = {
        "type": "scatter",
        "x": x,
        "y": [r.mean_error for r in points],
        "error_y": {
            "array": [_half_interval(r) for r in points],
            "color": colour,
            "thickness": 1,
            "width": 0,
            "visible": not line.thin,
        },
        "mode": "lines" if line.thin else "lines+markers",
        "line": {
            "color": colour,
            "width": 1.5 if line.thin else 2.6 if private else 2,
            "dash": "7px,4px" if line.other and not line.thin else "solid",
        },
        "marker": {
            "symbol": opened(symbol_of(method)) if line.other else symbol_of(method),
            "size": 8,
            "color": colour,
        },
        "opacity": PREVIOUS if line.previous else 1,
        "hovertext": hover,
        "hoverinfo": "text",
        "name": name,
    }
    return band, middle


def _half_interval(row: Any) -> float:
    """Return half of the 95 % interval of a mean, which on a log axis stays above 0."""
    return min(interval_half_width(row.standard_error, row.trials), 0.95 * row.mean_error)


def opened(symbol: str) -> str:
    """Return the open form of a marker; what is open already gets a dot."""
    return f"{symbol}-dot" if symbol.endswith("-open") else f"{symbol}-open"


def _name_at_end(points: Sequence[Any], line: Line, look: Look) -> Label:
    dashed = line.other and not line.thin
    private = method_card(line.method).privacy != "none"
    return Label(
        text=line.name if line.other else f"<b>{line.name}</b>",
        y=points[-1].mean_error,
        colour=look.colour(colour_of(line.method)),
        rank=(1 if private else 2) if dashed else 0,
    )


def _name_below(last: float, line: Line, look: Look, low: float) -> Label:
    """Return the name of a method at the lower edge, as its line ends below the figure."""
    text = f"<b>{line.name}, below (error {max(last, 0):.0g})</b>"
    return Label(text=text, y=low, colour=look.colour(colour_of(line.method)), rank=0)
