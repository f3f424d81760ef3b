"""The figure of the lesson on packings: four candidates, and the published averages."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import INK, METHODS, Pair
from dpsco_app.figure.methods import SIGNS
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Line, Panel, Words
from dpsco_app.parts.simple_figures import thin_line
from dpsco_core.explain.fano import by_hand
from dpsco_core.explain.lessons import LessonRow

HIT, MISS = METHODS["gold"], METHODS["grey"]  # The colours of rounds.
ROUND_COUNT = 10  # The number of rounds that a student sees.


def candidate_place(slug: str) -> tuple[float, float]:
    """Return the mean of a candidate, a point of the plane."""
    x, y = by_hand.mean_of(np.array(by_hand.CANDIDATES[slug], dtype=float))
    return float(x), float(y)


def rounds_of(rows: Sequence[LessonRow]) -> list[LessonRow]:
    """Return the first round of each trial, in order: its secret candidate, and its point."""
    rounds = [row for row in rows if row.series in by_hand.CANDIDATES]
    return sorted(rounds, key=lambda row: row.trial)[:ROUND_COUNT]


def is_hit(row: LessonRow) -> bool:
    """Return whether the candidate nearest to the published point of a round is its secret."""
    return by_hand.nearest(row.x, row.value) == row.series


def _colour_of(row: LessonRow) -> Pair:
    """Return the colour of a round, by its outcome."""
    return HIT if is_hit(row) else MISS


def candidates(rows: Sequence[LessonRow], title: str, *, has_run: bool) -> Figure:
    """Return the figure of the four candidates and of the published average of the first round.

    After the run it has the averages of all `ROUND_COUNT` rounds, and says which were hits.
    """
    rounds = rounds_of(rows)
    edge_of_plane = 1.15 * max(abs(z) for row in rounds for z in (row.x, row.value))
    marks = partial(Line, width=0, size=14)
    lines = [
        marks(key=slug, name="", x=[x], y=[y], colour=INK, symbol="circle")
        for slug in by_hand.CANDIDATES
        for x, y in [candidate_place(slug)]
    ]
    # These lines separate the quarters of the plane, each of which is closest to one candidate.
    ends = [-edge_of_plane, edge_of_plane]
    lines += [thin_line("", x, y) for x, y in ((ends, [0.0, 0.0]), ([0.0, 0.0], ends))]
    names = [
        Words(
            lines=[f"<b>{slug.replace('-', ' ')}</b>"],
            colour=INK,
            want=(0.01 if x < 0 else 0.99, 0.03 if y < 0 else 0.97),
        )
        for slug, (x, y) in by_hand.CANDIDATES.items()
    ]
    star = _marks("first", "Published average", rounds[:1], HIT, "star")
    clouds, counts = [star], [""]
    if has_run:
        hits, misses = (
            [row for row in rounds if is_hit(row) == outcome] for outcome in (True, False)
        )
        clouds = [
            _marks("hits", "Hits", hits, HIT, "circle"),
            _marks("misses", "Misses", misses, MISS, "circle-open"),
            replace(star, name="The first round", colour=_colour_of(rounds[0])),
        ]
        counts = [f"{len(hits)}", f"{len(misses)}", "a hit" if is_hit(rounds[0]) else "a miss"]
    ladder = [
        LadderRow(
            key=line.key,
            name=line.name,
            colour=line.colour,
            values=[count],
            end=edge_of_plane / 2 - i * edge_of_plane / 4,
            sign=SIGNS[line.symbol],
        )
        for i, (line, count) in enumerate(zip(clouds, counts, strict=True))
    ]
    column = f"of {len(rounds)} rounds" if has_run else ""
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
        ladder=Ladder(title="", columns=[column], rows=ladder, leaders=False),
        alt=title,
    )


def _marks(key: str, name: str, rounds: Sequence[LessonRow], colour: Pair, symbol: str) -> Line:
    """Return the published averages of rounds as marks."""
    return Line(
        key=key,
        name=name,
        x=[row.x for row in rounds],
        y=[row.value for row in rounds],
        hover=[f"the secret was {row.series.replace('-', ' ')}" for row in rounds],
        colour=colour,
        symbol=symbol,
        width=0,
        size=16 if symbol == "star" else 9.5,
    )
