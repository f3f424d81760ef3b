"""`dpsco figure`: the panels of a paper's experiments as a PDF two columns wide."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import Pair
from dpsco_app.figure.methods import colour_of, short_names, symbol_of
from dpsco_app.figure.paper import pdf
from dpsco_app.figure.values import Axis, Figure, Ladder, Line, Panel
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.options import SYMBOL
from dpsco_app.parts.simple_figures import log_axis
from dpsco_core.base.errors import require
from dpsco_core.catalogue import distribution_class, method_card, problem_card
from dpsco_core.cli.streams import child_status, require_writable, whole_file
from dpsco_core.cli.tools import format_table, print_json, print_note, print_text
from dpsco_core.explain.tables.papers.panels import PaperPanel, SlopedCurve, paper_panels
from dpsco_core.explain.tables.papers.papers import (
    NO_EXPERIMENTS,
    ReproducedPaper,
    reproduced_paper,
)
from dpsco_core.explain.tables.papers.slopes_table import figure_json, latex_table, slope_cells

# The factor by which the axis extends below the smallest and above the largest private error.
ROOM = 1.5
MOST_BELOW = 5.0
# A grid whose ends have at least this ratio gets a logarithmic axis.
LEAST_RATIO = 3.0
PREDICTED = (
    "dashed: the rate times one constant for each panel; in brackets the slopes of its terms."
)
MOVING = (
    "the spikes of these data follow n, d and the budget, and with them the Lipschitz constant: "
    "the slopes of the rate are those of both."
)


def paper_figure(entry: ReproducedPaper, panels: Sequence[PaperPanel]) -> Figure:
    """Return the panels of a paper as one figure, whose panels share the vertical axis."""
    curves = [curve for panel in panels for curve in panel.curves]
    require(len(curves) > 0, "section", "one whose methods run at the setting", entry.key)
    private = [c for c in curves if method_card(c.method).privacy != "none"] or curves
    heights = [value for curve in private for value in curve.mean if value > 0]
    low, high = min(heights), max(heights)
    # Without privacy the error may be 0, so the axis does not extend far for it.
    low = min([low, *(v for curve in curves for v in curve.mean if v > low / MOST_BELOW)])
    quantity = problem_card(panels[0].scenario.problem).quantity
    y = log_axis(quantity, low / ROOM, high * ROOM)
    return Figure(
        panels=[_panel_of_paper(panel, y) for panel in panels],
        y=y,
        ladder=Ladder(title="", columns=(), rows=()),
        alt=f"{entry.paper.authors} ({entry.paper.year}), measured: {quantity} along "
        f"{', '.join(panel.axis for panel in panels)}. {NO_EXPERIMENTS} "
        f"{PREDICTED.capitalize()}",
    )


def _panel_of_paper(panel: PaperPanel, y: Axis) -> Panel:
    """Return a panel of a paper's figure: measured curves, with predicted slopes."""
    names = short_names(panel.scenario.methods)
    lines = []
    for curve in panel.curves:
        colour = colour_of(curve.method)
        if curve.predicted:
            lines.append(_predicted_line(curve, colour))
        lines.append(_measured_line(curve, names[curve.method], colour, y))
    grid = panel.scenario.grid
    title = SYMBOL[panel.axis]
    is_plain = grid[-1] < LEAST_RATIO * grid[0]
    x = linear_axis(title, grid[0], grid[-1]) if is_plain else log_axis(title, grid[0], grid[-1])
    return Panel(title="", x=x, lines=lines)


def _measured_line(curve: SlopedCurve, name: str, colour: Pair, y: Axis) -> Line:
    """Return the line of a measured curve, with its method and its slope as its name.

    A value below the axis `y` is drawn just below the axis.
    """
    slope = f"\n{curve.slope_text}" if curve.slope_text else ""
    heights = [max(value, y.low / ROOM) for value in curve.mean]
    return Line(
        key=curve.method,
        name=name.replace(", ", ",\n") + slope,
        x=curve.x,
        y=heights,
        colour=colour,
        symbol=symbol_of(curve.method),
        half=curve.half,
        down=[min(half, 0.9 * height) for half, height in zip(curve.half, heights, strict=True)],
    )


def _predicted_line(curve: SlopedCurve, colour: Pair) -> Line:
    """Return the dashed line of a method's rate, scaled to the measured curve."""
    return Line(
        key=f"{curve.method} predicted",
        name="",
        x=curve.x,
        y=curve.predicted,
        colour=colour,
        kind="guide",
        width=1.2,
        dash="dash",
    )


def main(arguments: str) -> int:
    """Run `dpsco figure` with `arguments` as JSON; return its exit status."""
    return child_status(_draw, arguments)


def _draw(chosen: Mapping[str, Any]) -> None:
    """Write the paper's figure, and its table if asked for, to files; print the slopes.

    `chosen` has the arguments of the command by name.
    """
    outputs = [chosen["out"], *filter(None, [chosen["table"]])]
    for target in outputs:
        require_writable(target)
    entry = reproduced_paper(chosen["like"])
    panels = paper_panels(entry, chosen["fields"], chosen["section"])
    setting = f"{setting_line(panels[0].scenario)}. {NO_EXPERIMENTS}"
    document = pdf(paper_figure(entry, panels), setting, columns=2)
    with whole_file(chosen["out"]) as part:
        part.write_bytes(document)
    if chosen["table"]:
        with whole_file(chosen["table"]) as part:
            part.write_text(latex_table(entry, panels), encoding="utf-8")
    _print_slopes(entry, panels, outputs, as_json=chosen["json"])


def _print_slopes(
    entry: ReproducedPaper, panels: Sequence[PaperPanel], outputs: Sequence[str], *, as_json: bool
) -> None:
    """Print the slopes of the figure as a table, or everything as JSON."""
    if as_json:
        print_json(figure_json(entry, panels) | {"files": [str(Path(path)) for path in outputs]})
        return
    print_text(f"{entry.paper.title}. {entry.paper.authors}. {entry.paper.venue}.")
    print_text(NO_EXPERIMENTS)
    header = ["axis", "method", "slope", "95 %", "terms of its rate", ""]
    print("\n" + format_table(slope_cells(panels), header) + "\n")
    refusals = {m: reason for panel in panels for m, reason in panel.refusals.items()}
    for method, reason in refusals.items():
        print_note(f"{method_card(method).name}: {reason}")
    print_note(PREDICTED)
    if distribution_class(panels[0].scenario.distribution).has_prior:
        print_note(MOVING)
    print_text(f"Written: {', '.join(outputs)}.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
