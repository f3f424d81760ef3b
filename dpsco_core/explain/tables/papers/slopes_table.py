"""The slopes of a paper's figure as a table: for people, as JSON, and as LaTeX."""

import math
from collections.abc import Sequence
from typing import Any

from dpsco_core.catalogue import bound, method_card
from dpsco_core.explain.tables.papers.latex import booktabs, escape_latex
from dpsco_core.explain.tables.papers.panels import PaperPanel, SlopedCurve
from dpsco_core.explain.tables.papers.papers import NO_EXPERIMENTS, ReproducedPaper
from dpsco_core.results.report import finite_or_none

SYMBOLS = {"n": "n", "d": "d", "m": "m", "epsilon": r"\varepsilon", "rho": r"\rho"}
SLOPES = ("fitted", "low", "high", "predicted_low", "predicted_high")


def slope_cells(panels: Sequence[PaperPanel]) -> list[list[str]]:
    """Return a row for each curve with a slope: axis, method, slope, interval, prediction."""
    return [
        [
            panel.axis,
            method_card(curve.method).name,
            _format_slope(curve.fitted),
            _format_range(curve.low, curve.high),
            _format_range(curve.predicted_low, curve.predicted_high),
            curve.verdict,
        ]
        for panel in panels
        for curve in panel.curves
        if not math.isnan(curve.fitted)
    ]


def figure_json(entry: ReproducedPaper, panels: Sequence[PaperPanel]) -> dict[str, Any]:
    """Return the curves and slopes of a paper's figure as plain values, for JSON."""
    return {
        "paper": entry.key,
        "experiments_note": NO_EXPERIMENTS,
        "panels": [
            {
                "axis": panel.axis,
                "scenario": panel.scenario.to_dict(),
                "curves": [_curve_json(curve) for curve in panel.curves],
                "not_applicable": dict(panel.refusals),
            }
            for panel in panels
        ],
    }


def _curve_json(curve: SlopedCurve) -> dict[str, Any]:
    """Return a curve of a panel, its errors and its slopes, as plain values for JSON."""
    return {
        "method": curve.method,
        "rate": curve.rate or None,
        "x": list(curve.x),
        "mean_error": list(curve.mean),
        "half_interval": list(curve.half),
        "predicted": list(curve.predicted) or None,
        **{name: finite_or_none(getattr(curve, name)) for name in SLOPES},
        "verdict": curve.verdict or None,
    }


def latex_table(entry: ReproducedPaper, panels: Sequence[PaperPanel]) -> str:
    """Return the slopes as a table of LaTeX, which needs the package booktabs.

    Each axis has two columns: the fitted slope with its 95 % interval, and the range of slopes of
    the terms of the rate.
    """
    swept = [panel for panel in panels if panel.axis in SYMBOLS]
    methods = dict.fromkeys(curve.method for panel in swept for curve in panel.curves)
    heads = [rf"\multicolumn{{2}}{{c}}{{${SYMBOLS[panel.axis]}$}}" for panel in swept]
    rows = []
    for method in methods:
        cells = [escape_latex(method_card(method).name), escape_latex(_statement_of_rate(method))]
        for panel in swept:
            curve = next((c for c in panel.curves if c.method == method), None)
            cells += ["", ""] if curve is None else _latex_cells(curve)
        rows.append(cells)
    caption = (
        f"Slopes of log error against log axis, fitted (95\\,\\% interval) and predicted by the "
        f"terms of the rate: {escape_latex(entry.paper.authors)} ({entry.paper.year}). "
        f"{escape_latex(NO_EXPERIMENTS)}"
    )
    return booktabs(
        f"ll{'rr' * len(swept)}",
        [["method", "rate", *heads], ["", "", *["fitted", "predicted"] * len(swept)]],
        rows,
        caption,
    )


def _statement_of_rate(method: str) -> str:
    """Return the number of the statement whose rate predicts a method's slopes; empty if none."""
    rate = method_card(method).rate
    return bound(rate).card.statement if rate else ""


def _latex_cells(curve: SlopedCurve) -> list[str]:
    """Return the fitted slope with its interval, and the predicted slopes, in LaTeX."""
    if math.isnan(curve.fitted):
        return ["", ""]
    ends = f"{_format_slope(curve.low)}, {_format_slope(curve.high)}"
    interval = "" if math.isnan(curve.low) else rf"\ [{ends}]"
    predicted = _format_range(curve.predicted_low, curve.predicted_high).replace(" to ", "$ to $")
    return [f"${_format_slope(curve.fitted)}{interval}$", f"${predicted}$" if predicted else ""]


def _format_slope(value: float) -> str:
    """Return a slope as text with two decimals."""
    return f"{round(value, 2) + 0.0:.2f}"


def _format_range(low: float, high: float) -> str:
    """Return a range of slopes, or one slope if its ends are equal; empty if unknown."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return " to ".join(dict.fromkeys((_format_slope(low), _format_slope(high))))
