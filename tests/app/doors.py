"""Draw the three pictures on the first page of Learn: `python -m tests.app.doors`.

Like the pictures of the presets, they have colours half way between the two themes, on a
transparent ground.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from html import escape

import numpy as np

from dpsco_app.figure.colours import BIAS, INK, NOISE, SAMPLING, Pair
from dpsco_app.lessons.words import DOORS
from dpsco_app.pages.learn.page import ASSETS
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.lessons import radius_parts
from dpsco_core.explain.why import SCENARIO
from dpsco_core.problems import MeanEstimation
from dpsco_core.runs.study import stream
from tests.app.thumbnails import middle

WIDTH, HEIGHT, EDGE = 360, 180, 10
RECORDS = 200  # The number of records that a picture shows.
SHARE_INSIDE = 0.95  # The share of the records inside the circle.
MARGIN = 1.9  # The distance from the middle to the edge, in radii of the circle.


def plane_shapes(
    half: float, centre: tuple[float, float], radius: float = math.inf
) -> Iterator[str]:
    """Yield SVG shapes: the records as dots in the plane and, if `radius` is finite, a circle of
    that radius with a line from each record outside to its projection. `half` is the distance from
    the centre to the upper edge, in the records' unit; `centre` is in pixels.
    """
    scale = (HEIGHT / 2 - EDGE) / half
    stroke = f"stroke-width='1.6' stroke='{middle(BIAS)}'"
    for x, y in story_records():
        pull = min(1.0, radius / math.hypot(x, y))
        places = [(centre[0] + s * x * scale, centre[1] - s * y * scale) for s in (1.0, pull)]
        (far_x, far_y), (at_x, at_y) = places
        if pull < 1:
            yield f"<path d='M{far_x:.1f},{far_y:.1f}L{at_x:.1f},{at_y:.1f}' {stroke}/>"
        fill = middle(BIAS if pull < 1 else SAMPLING)
        yield f"<circle cx='{at_x:.1f}' cy='{at_y:.1f}' r='2.6' fill='{fill}'/>"
    if radius < math.inf:
        look = f"fill='none' stroke='{middle(NOISE)}' stroke-width='2'"
        yield f"<circle cx='{centre[0]:g}' cy='{centre[1]:g}' r='{radius * scale:.1f}' {look}/>"


def lesson_shapes() -> Iterator[str]:
    """Yield the SVG shapes of the fourth lesson's figure: the error and its parts against the clip
    radius, and the predicted radius of a visitor.
    """
    parts = radius_parts()
    lines: list[tuple[Pair, float, Sequence[float]]] = [
        (colour, 2.0, [math.sqrt(max(getattr(p, name), 1e-12)) for p in parts.values()])
        for name, colour in (("bias", BIAS), ("sampling", SAMPLING), ("noise", NOISE))
    ]
    whole = [math.sqrt(p.total) for p in parts.values()]
    radii, low, high = list(parts), 0.01, max(whole)
    x_scale = (WIDTH - 2 * EDGE) / math.log(radii[-1] / radii[0])
    y_scale = (HEIGHT - 2 * EDGE) / math.log(high / low)

    def place(radius: float, error: float) -> str:
        """Return the SVG coordinates, as "x,y", of an error at a clip radius, on log axes."""
        x = EDGE + x_scale * math.log(radius / radii[0])
        return f"{x:.1f},{HEIGHT - EDGE - y_scale * math.log(max(error, low) / low):.1f}"

    best = radii[whole.index(min(whole))]
    dash = f"stroke='{middle(INK)}' stroke-width='2' stroke-dasharray='7 4' fill='none'"
    x = place(best, low).split(",")[0]
    yield f"<path d='M{x},{EDGE}V{HEIGHT - EDGE}' {dash}/>"
    for colour, width, errors in [*lines, (INK, 3.0, whole)]:
        points = [(r, e) for r, e in zip(radii, errors, strict=True) if e > low]
        path = "L".join(place(r, e) for r, e in points)
        yield f"<path d='M{path}' fill='none' stroke='{middle(colour)}' stroke-width='{width:g}'/>"


@cache
def story_records() -> Vector:
    """Return the records of the story's scenario, the same on every call."""
    problem = replace(SCENARIO, n=RECORDS).instance.problem
    assert isinstance(problem, MeanEstimation)
    return problem.distribution.sample(RECORDS, stream(SCENARIO.seed, "door", 0)).x


@cache
def door_picture(slug: str) -> str:
    """Return the picture on one of the links for newcomers, as the text of an SVG file."""
    radius = float(np.quantile(np.linalg.norm(story_records(), axis=1), SHARE_INSIDE))
    corner = (0.12 * WIDTH, 0.85 * HEIGHT)
    # The farthest record touches the right edge.
    farthest = float(story_records()[:, 0].max()) * (HEIGHT / 2 - EDGE) / (WIDTH - EDGE - corner[0])
    shapes = {
        "why": lambda: plane_shapes(farthest, corner),
        "private-mean": lambda: plane_shapes(MARGIN * radius, (WIDTH / 2, HEIGHT / 2), radius),
        "learn": lesson_shapes,
    }[slug]()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(DOORS[slug][0])}">\n' + "\n".join(shapes) + "\n</svg>\n"
    )


if __name__ == "__main__":
    for slug in DOORS:
        (ASSETS / f"{slug}.svg").write_text(door_picture(slug), encoding="utf-8")
