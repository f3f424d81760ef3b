"""Small pictures of the presets, drawn from their runs; made by `python -m tests.app.thumbnails`.

They are kept beside the presets, so that the gallery shows them at once. Colours are half way
between those of the two themes, on a transparent ground.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_app.figure.values import Axis, Panel
from dpsco_app.front.figure import front_figure
from dpsco_app.front.questions.tails import tails_figure
from dpsco_app.front.second import companions_of
from dpsco_app.front.study import Role, Study
from dpsco_app.front.view import View
from dpsco_app.parts.evaluations import has_hardest_law
from dpsco_app.parts.presets import FOLDER, PRESETS, Preset
from dpsco_core.runs.study import study

WIDTH, HEIGHT, EDGE, GAP = 240, 140, 6, 8
AXES = "#8a8f96"

Points = Sequence[tuple[float, float]]


def middle(pair: tuple[str, str]) -> str:
    """Return the colour half way between the two of a pair, for the light and the dark theme, as
    "#rrggbb".
    """
    channels = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in pair]
    return "#" + "".join(f"{(a + b) // 2:02x}" for a, b in zip(*channels, strict=True))


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The position of one panel in the picture."""

    left: float
    width: float
    x: Axis
    y: Axis

    def place(self, x: float, y: float) -> str:
        """Return the position "x,y" in pixels of a point in the panel's units."""
        x_share = self._share(x, self.x, log=self.x.log)
        y_share = min(max(self._share(y, self.y, log=True), 0.0), 1.0)
        inner_width = self.width - 2 * EDGE
        pixel = (
            self.left + EDGE + x_share * inner_width,
            HEIGHT - EDGE - y_share * (HEIGHT - 2 * EDGE),
        )
        return f"{pixel[0]:.1f},{pixel[1]:.1f}"

    @staticmethod
    def _share(value: float, axis: Axis, *, log: bool) -> float:
        """Return where a value lies between the ends of an axis, from 0 to 1."""
        ends = (math.log(v) if log else v for v in (value, axis.low, axis.high))
        position, low, high = ends
        return (position - low) / ((high - low) or 1.0)


def panel_svg(panel: Panel, frame: Frame) -> list[str]:
    """Return the SVG shapes of a panel: areas, then measured lines."""
    body = []
    for region in panel.regions:
        lower = region.lower or [frame.y.low] * len(region.x)
        upper_edge = [*zip(region.x, region.upper, strict=True)]
        lower_edge = [*zip(region.x, lower, strict=True)][::-1]
        points = " ".join(frame.place(x, y) for x, y in [*upper_edge, *lower_edge])
        colour = middle(region.look.edge)
        body.append(f'<polygon points="{points}" fill="{colour}" opacity="0.2"/>')
    for line in panel.lines:
        if line.kind == "measured":
            points = " ".join(frame.place(x, y) for x, y in zip(line.x, line.y, strict=True))
            body.append(
                f'<polyline points="{points}" fill="none" stroke="{middle(line.colour)}" '
                'stroke-width="2.5" stroke-linejoin="round" stroke-linecap="round"/>'
            )
    left, right = frame.left + EDGE / 2, frame.left + frame.width - EDGE / 2
    body.append(
        f'<path d="M{left:g} {EDGE / 2:g}V{HEIGHT - EDGE / 2:g}H{right:g}" fill="none" '
        f'stroke="{AXES}" stroke-width="1.2"/>'
    )
    return body


def svg(panels: Sequence[Panel], y: Axis) -> str:
    """Return the picture of some panels, side by side over one vertical axis."""
    width = (WIDTH - GAP * (len(panels) - 1)) / len(panels)
    body = []
    for i, panel in enumerate(panels):
        body += panel_svg(panel, Frame(left=i * (width + GAP), width=width, x=panel.x, y=y))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}">\n' + "\n".join(body) + "\n</svg>\n"
    )


def panels_of(preset: Preset) -> tuple[Sequence[Panel], Axis]:
    """Run a preset; return the panels that Explore draws of its runs, and their vertical axis."""
    second_panel = companions_of(preset.scenario, preset.against, "")
    if preset.open == "light":  # This card shows no measurement.
        figure = tails_figure(preset.scenario, "")
        return figure.panels, figure.y
    first_role: Role = "hardest" if has_hardest_law(preset.scenario) else "own"
    runs: list[tuple[Role, object]] = [(first_role, preset.scenario)]
    if second_panel.second_scenario is not None:
        runs.append((second_panel.role, second_panel.second_scenario))  # type: ignore[arg-type]
    studies = [Study(scenario=s, outcomes=list(study(s)), role=role) for role, s in runs]  # type: ignore[arg-type]
    figure = front_figure(studies, View(measure=preset.measure, card=preset.open))
    return figure.panels, figure.y


def thumbnail(preset: Preset) -> str:
    """Run a preset and return its picture."""
    return svg(*panels_of(preset))


def main() -> None:
    """Write the thumbnail of each preset."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for preset in PRESETS:
        preset.picture.write_text(thumbnail(preset), encoding="utf-8")


if __name__ == "__main__":
    main()
