"""The figure of the lesson on packings: four candidates, and the published averages."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import INK, METHODS
from dpsco_app.figure.methods import SIGNS
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Line, Panel, Words
from dpsco_app.parts.simple_figures import thin_line
from dpsco_core.explain.fano import by_hand
from dpsco_core.explain.lessons import LessonRow


def candidate_place(slug: str) -> tuple[float, float]:
    """Return the mean of a candidate, a point of the plane."""
    x, y = by_hand.mean_of(np.array(by_hand.CANDIDATES[slug], dtype=float))
    return float(x), float(y)


def candidates(rows: Sequence[LessonRow], title: str, *, has_run: bool) -> Figure:
    """Return the figure of the four candidates and of the published averages in `rows`.

    After the run, there are many averages, and the candidate behind them is coloured.
    """
    outputs = [(row.x, row.value) for row in rows if row.series == by_hand.OUTPUT]
    edge_of_plane = 1.15 * max(abs(z) for point in outputs for z in point)
    marks = partial(Line, width=0, size=14)
    colours = {
        slug: METHODS["violet"] if has_run and slug == by_hand.PUBLISHED else INK
        for slug in by_hand.CANDIDATES
    }
    lines = [
        marks(key=slug, name="", x=[x], y=[y], colour=colours[slug], symbol="circle")
        for slug in by_hand.CANDIDATES
        for x, y in [candidate_place(slug)]
    ]
    # These lines separate the quarters of the plane, each of which is closest to one candidate.
    ends = [-edge_of_plane, edge_of_plane]
    lines += [thin_line("", x, y) for x, y in ((ends, [0.0, 0.0]), ([0.0, 0.0], ends))]
    names = [
        Words(
            lines=[f"<b>{slug.replace('-', ' ')}</b>"],
            colour=colours[slug],
            want=(0.01 if x < 0 else 0.99, 0.03 if y < 0 else 0.97),
        )
        for slug, (x, y) in by_hand.CANDIDATES.items()
    ]
    published = [("once", "Published average", outputs[:1], METHODS["gold"], "star")]
    if has_run:
        repeats = ("repeats", "The same data again", outputs[1:], METHODS["grey"], "circle-open")
        published.insert(0, repeats)
    clouds = [
        marks(
            key=key,
            name=name,
            x=[x for x, _ in points],
            y=[y for _, y in points],
            colour=colour,
            symbol=symbol,
            size=16 if symbol == "star" else 7,
        )
        for key, name, points, colour, symbol in published
        if points
    ]
    ladder = [
        LadderRow(
            key=line.key,
            name=line.name,
            colour=line.colour,
            values=[f"{len(line.x)}" if has_run else ""],
            end=edge_of_plane / 2 - i * edge_of_plane / 4,
            sign=SIGNS[line.symbol],
        )
        for i, line in enumerate(clouds)
    ]
    return Figure(
        panels=[
            Panel(
                title="",
                x=linear_axis("First number of the mean", -edge_of_plane, edge_of_plane),
                lines=[*clouds, *lines],
                words=names,
            )
        ],
        y=linear_axis("Second number of the mean", -edge_of_plane, edge_of_plane),
        ladder=Ladder(title="", columns=["times"] if has_run else [""], rows=ladder, leaders=False),
        alt=title,
    )
