"""Small pictures of the presets, drawn from their runs; made by `python -m tests.app.thumbnails`.

They are kept beside the presets, so that the gallery shows them at once. Colours are half way
between those of the two themes, on a transparent ground.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from dpsco_app.pages.explore.presets import FOLDER, PRESETS, Preset
from dpsco_app.parts.look import REGION, colour_of
from dpsco_app.parts.options import NO_SET, TAIL
from dpsco_app.parts.running import starting_risks
from dpsco_app.parts.shown_bounds import floors
from dpsco_core.results.report import evaluate_all
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

WIDTH, HEIGHT, EDGE = 240, 140, 8
AXES = "#8a8f96"  # and of what uses no data
HIDDEN = 1e-4  # times the largest error: what is smaller is not drawn

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Stroke:
    """One line of a picture, in the units of the figure."""

    points: Points
    colour: str
    dash: str = ""  # of SVG; empty is solid
    width: float = 3.0
    filled: bool = False  # whether all below it is shaded


def middle(pair: tuple[str, str]) -> str:
    both = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in pair]
    return "#" + "".join(f"{(a + b) // 2:02x}" for a, b in zip(*both, strict=True))


def strokes(
    scenario: Scenario,
    table: pd.DataFrame,
    floor: Iterable[Points] = (),
    start: Points = (),
    beside: pd.DataFrame | None = None,
) -> list[Stroke]:
    """Return the lines of a study's picture: bounds first, then those beside, then its own."""
    out = [Stroke(points=p, colour=middle(REGION), width=1.5, filled=True) for p in floor]
    if start:
        out.append(Stroke(points=start, colour=AXES, dash="2 4", width=2))
    parts: list[tuple[pd.DataFrame, str]] = [] if beside is None else [(beside, "7 5")]
    for measured, dash in [*parts, (table, "")]:
        for method in scenario.methods:
            rows = measured[measured["method"] == method].sort_values("x")
            points = [(float(r.x), float(r.median_error)) for r in rows.itertuples()]
            known = [(x, y) for x, y in points if y > 0]
            if known:
                out.append(Stroke(points=known, colour=middle(colour_of(method)), dash=dash))
    return out


def svg(lines: Sequence[Stroke], *, logarithmic: bool = True) -> str:
    """Return the picture of some lines; the vertical axis is logarithmic."""
    own = [y for line in lines if not line.filled for _, y in line.points]
    own = [y for y in own if y > HIDDEN * max(own)]
    xs = [_along(x, logarithmic) for line in lines for x, _ in line.points]
    low, high = math.log(min(own)) - 0.35, math.log(max(own)) + 0.2
    across = (min(xs), max(xs))

    def place(point: tuple[float, float]) -> str:
        x = (_along(point[0], logarithmic) - across[0]) / ((across[1] - across[0]) or 1)
        y = (math.log(point[1]) - low) / (high - low)
        left = EDGE + x * (WIDTH - 2 * EDGE)
        return f"{left:.1f},{HEIGHT - EDGE - y * (HEIGHT - 2 * EDGE):.1f}"

    body = []
    for line in lines:
        points = " ".join(place(p) for p in line.points)
        if line.filled:
            ends = [line.points[-1][0], line.points[0][0]]
            feet = " ".join(f"{place((x, math.exp(low))).split(',')[0]},{HEIGHT}" for x in ends)
            body.append(f'<polygon points="{points} {feet}" fill="{line.colour}" opacity="0.22"/>')
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        body.append(
            f'<polyline points="{points}" fill="none" stroke="{line.colour}" '
            f'stroke-width="{line.width:g}" stroke-linejoin="round" '
            f'stroke-linecap="round"{dash}/>'
        )
    frame_ = (
        f'<path d="M{EDGE / 2:g} {EDGE / 2:g}V{HEIGHT - EDGE / 2:g}H{WIDTH - EDGE / 2:g}" '
        f'fill="none" stroke="{AXES}" stroke-width="1.5"/>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}">\n' + "\n".join([frame_, *body]) + "\n</svg>\n"
    )


def _along(x: float, logarithmic: bool) -> float:
    return math.log(x) if logarithmic else x


def thumbnail(preset: Preset) -> str:
    """Run a preset and return its picture."""
    scenario = preset.scenario
    table = _measured(scenario)
    beside = None
    if preset.against not in (NO_SET, TAIL):
        beside = _measured(replace(scenario, geometry=preset.against, q=None))
    bounds: dict[str, list[tuple[float, float]]] = {}
    for e in evaluate_all(scenario, floors(scenario.problem, scenario.level)):
        if e.x is not None and 0 < e.value < math.inf and not e.failures:
            bounds.setdefault(e.bound.card.slug, []).append((e.x, e.value))
    highest = sorted(bounds.values(), key=lambda points: points[0][1])[-1:]
    start = [(x, risk) for x, risk in starting_risks(scenario) if x is not None]
    every = strokes(scenario, table, highest, _near(start, table), beside)
    return svg(every, logarithmic=scenario.axis != "p")


def _measured(scenario: Scenario) -> pd.DataFrame:
    return summary(frame(study(scenario)))


def _near(start: Points, table: pd.DataFrame) -> Points:
    """Return the starting risks if the figure shows them too: not far above what is measured."""
    top = float(table["median_error"].max())
    return start if start and min(r for _, r in start) < 3 * top else ()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for preset in PRESETS:
        preset.picture.write_text(thumbnail(preset), encoding="utf-8")


if __name__ == "__main__":
    main()
