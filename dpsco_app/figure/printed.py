"""What all Matplotlib figures and documents share: marks, axes, reproducible PDF and SVG output."""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullLocator

from dpsco_app.figure.values import Axis, without_bold

MARKS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "pentagon": "p",
    "star": "*",
    "hexagon": "h",
    "cross": "P",
    "hourglass": "X",
    "bowtie": "<",
    "star-diamond": "d",
    "hexagram": "H",
}
DASHES: dict[str, Any] = {
    "solid": "-",
    "dot": (0, (1.2, 1.6)),
    "dash": (0, (4, 2)),
    "dashdot": (0, (4, 1.6, 1.2, 1.6)),
    "longdash": (0, (7, 2)),
}


def pdf_bytes(pages: Sequence[Canvas], title: str, subject: str = "") -> bytes:
    """Return pages as a PDF file, with the same bytes each time."""
    metadata = {"Title": title, "Subject": subject or None, "CreationDate": None}
    file = io.BytesIO()
    with PdfPages(file, metadata=metadata) as document:
        for page in pages:
            document.savefig(page)
    return file.getvalue()


def svg_text(page: Canvas, title: str) -> str:
    """Return a page as an SVG element with this title, with the same text each time.

    All of its identifiers begin with a hash of its content: elements in one HTML page stay apart.
    """
    file = io.StringIO()
    page.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    element = file.getvalue()
    element = element[element.index("<svg ") :]
    prefix = f"p{hashlib.sha256(element.encode()).hexdigest()[:8]}-"
    for mark in ('id="', 'href="#', "url(#"):
        element = element.replace(mark, mark + prefix)
    return element.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)


def set_scales(ax: Any, x: Axis, y: Axis) -> tuple[float, float]:
    """Set the scales and limits of both axes; return the x limits, slightly beyond the data."""
    ax.set_xscale("log" if x.log else "linear")
    ax.set_yscale("log" if y.log else "linear")
    pad = (x.high / x.low) ** 0.03 if x.log else 0.03 * ((x.high - x.low) or 1.0)
    ends = (x.low / pad, x.high * pad) if x.log else (x.low - pad, x.high + pad)
    ax.set_xlim(*ends)
    ax.set_ylim(y.low, y.high)
    return ends


def thinned_axis(axis: Axis) -> Axis:
    """Return an axis with every other number, counted from the last, if it has many."""
    step = 1 + (len(axis.ticks) > 4)
    return replace(axis, ticks=list(reversed(axis.ticks))[::step])


def write_ticks(axis: Any, values: Axis) -> None:
    """Write the numbers of an axis as its only tick labels."""
    texts = [without_bold(text) for _, text in values.ticks]
    axis.set_ticks([value for value, _ in values.ticks], texts)
    axis.set_minor_locator(NullLocator())
