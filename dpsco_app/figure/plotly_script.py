"""Plotly's script for the pages that draw without the dashboard: its basic bundle, as published.

It draws what the renderer makes, and is a quarter of the whole library. How another version gets
into the checkout stands in CONTRIBUTING.md.
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "plotly"
VERSION = "4.1.1"  # the version of plotly.js; the Python package of Plotly brings the same
TRACES = ("bar", "pie", "scatter")  # the types of traces that the bundle draws


def plotly_script() -> str:
    """Return the script, which begins with its copyright and the name of its licence."""
    return (FOLDER / "plotly-basic.min.js").read_text(encoding="utf-8")


def plotly_licence() -> str:
    """Return the text of its licence, which goes where a script of its own goes."""
    return (FOLDER / "LICENSE").read_text(encoding="utf-8")
