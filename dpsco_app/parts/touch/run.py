"""A player of one private run and its non-private counterparts."""

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpsco_app.figure.colours import BIAS, INK, PAGE, QUIET, SAMPLING, Pair
from dpsco_app.figure.theme import Theme
from dpsco_app.parts.drawing import theme
from dpsco_app.parts.touch.alone import page_of
from dpsco_app.parts.touch.components import component
from dpsco_app.parts.touch.modules import text
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.anatomy import FACTORS, RiskPath
from dpsco_core.explain.frames import Frames

DIGITS = 5
STYLES = ("picture.css", "run.css")
COLOURS = {"ink": INK, "quiet": QUIET, "page": PAGE, "kept": SAMPLING, "clipped": BIAS}
TICKS = 96  # The number of positions of the radius slider.


@dataclass(frozen=True, kw_only=True)
class RunLine:
    name: str
    path: RiskPath
    colour: Pair
    dash: str = ""  # The dash pattern in SVG notation.


def draw_run(
    frames: Frames, lines: Sequence[RunLine], key: str, on_radius: Callable[[], None], **data: Any
) -> None:
    """Draw the player of a run, with `data` for `run_data`.

    If the visitor drags the clip radius, ``st.session_state[key]['factor']`` is the new radius over
    the chosen one, and `on_radius` is called.
    """
    component("run", *STYLES)(
        key=key,
        data=run_data(frames, lines, theme(), **data),
        on_factor_change=on_radius,
        height="content",
    )


def run_page(frames: Frames, lines: Sequence[RunLine], *, dark: bool, **data: Any) -> str:
    """Return the player as a standalone page that works without a server or a network."""
    page_data = run_data(frames, lines, Theme(dark=dark), **data)
    return page_of(
        html.escape(page_data["title"]), STYLES, text("run.html"), "run.js", page_data, dark=dark
    )


def run_data(
    frames: Frames,
    lines: Sequence[RunLine],
    page_theme: Theme,
    *,
    identity: str,
    title: str = "One run",
    setting: str = "",
    relative: bool = False,
    factor: float = 1.0,
    follows: bool = False,
) -> dict[str, Any]:
    """Return the data with which the browser plays a run.

    `lines` are the run, which is private, and others for comparison. The player restarts if
    `identity` changes. `title` and `setting` are for the files of the picture. `relative` says that
    the runs differ in their number of steps, so that only shares of a run are comparable. `factor`
    is the clip radius over the chosen one; `follows` says that a new run starts at the radius that
    the visitor drags to.
    """
    steps = lines[0].path.steps
    plane = frames.plane
    share_text = (
        f"{100 * plane.share_in_plane:.0f} % of the squared distances from the start lie in "
        "this plane. "
    )
    return {
        "id": identity,
        "title": title,
        "setting": setting,
        "colours": {name: page_theme.colour(pair) for name, pair in COLOURS.items()},
        "follows": follows,
        "runs": [
            {
                "name": line.name,
                "colour": page_theme.colour(line.colour),
                "dash": line.dash,
                "places": _rounded_lists(plane.project(line.path.points)),
                "shares": (line.path.steps / max(int(line.path.steps[-1]), 1)).tolist(),
                "risks": line.path.risks.tolist(),
                "end": _rounded_lists(plane.project(line.path.value)),
                "final": line.path.final,
            }
            for line in lines
        ],
        "steps": steps.tolist(),
        "relative": relative,
        "length": "end of the run" if relative else f"{steps[-1]:,} steps",
        "best": _rounded_lists(frames.best),
        "views": [
            {
                "box": view.box.tolist(),
                "contours": [
                    {"level": c.level, "pieces": _rounded_lists(c.pieces)} for c in view.contours
                ],
            }
            for view in frames.views
        ],
        "edge": _rounded_lists(frames.edge),
        "norms": _rounded_lists(frames.norms),
        "reach": list(frames.reach),
        "chosen": frames.radius,
        "radius": factor * frames.radius,
        "radii": [FACTORS[0] * frames.radius, FACTORS[-1] * frames.radius],
        "ticks": TICKS,
        "released": "what is released, often an average of the last steps",
        "note": (
            "The plane holds the start, the best parameter, and the direction in which the runs "
            "stray most from the line between them. "
            f"{share_text if plane.share_in_plane < 0.995 else ''}"
            "The dotted line is the edge of the constraint set. "
            f"The gradients are those of the first {frames.norms.shape[1]:,} records. "
            "Space plays and pauses; the arrow keys move the step and the radius."
        ),
    }


def _rounded_lists(values: Vector) -> Any:
    """Return numbers as nested lists, rounded to `DIGITS` digits for the browser."""
    if values.ndim:
        return [_rounded_lists(row) for row in values]
    value = float(values)
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
