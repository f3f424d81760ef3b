"""Plotly's script, the published basic bundle, for pages that are drawn without the dashboard.

The bundle can draw all that the renderer produces, and is a quarter of the size of the whole
library. CONTRIBUTING.md says how to update it.
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "plotly"
VERSION = "4.1.1"  # The version of plotly.js, which the Python package of Plotly also ships.
TRACES = ("bar", "pie", "scatter")  # The trace types that the bundle can draw.


def plotly_script() -> str:
    """Return Plotly's script, which begins with its copyright and the name of its licence."""
    return (FOLDER / "plotly-basic.min.js").read_text(encoding="utf-8")


def plotly_licence() -> str:
    """Return Plotly's licence, which must accompany the script in files of its own."""
    return (FOLDER / "LICENSE").read_text(encoding="utf-8")
