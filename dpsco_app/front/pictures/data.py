"""A small picture of the data of a figure: one coordinate of the records, a few of them far out."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpsco_app.figure.colours import FAINT, INK, QUIET
from dpsco_app.figure.theme import Theme
from dpsco_app.front.pictures.svg import HEIGHT, picture
from dpsco_app.front.study import Study, chosen_point
from dpsco_app.front.titles import NO_BREAK, ratio_text
from dpsco_app.parts.options import number_text
from dpsco_core.base.arrays import Vector
from dpsco_core.data.hard import HardInstance
from dpsco_core.explain.picture import coordinate_sample
from dpsco_core.scenario import Scenario

MOST_SPIKED = 0.1  # The largest share of far records for which the others are called "the rest".
# The width, and the distance of the axis from the top, in pixels.
WIDTH, GROUND = 150, HEIGHT - 5.0
NEAR_X, FAR_X = 8.0, WIDTH - 6.0  # The positions of most records and of the far ones.
TALL = 58.0  # The height of the tallest bar.
STACK = 7  # The largest number of dots in a stack.
DOT, PITCH = 2.6, 7.0  # The radius of a dot, and the distance between two dots in a stack.
BARS = 44  # The number of bars in a histogram.
LETTERS = "font-family='Source Sans,Source Sans 3,Arial,sans-serif' font-size='12'"


@dataclass(frozen=True, kw_only=True)
class FarRecords:
    """The far records of a hard instance, in which all other records are alike."""

    count: int  # The approximate number of far records.
    other_count: int
    distance: float  # The distance of a far coordinate from the others, in standard deviations.
    is_steady: bool  # Whether `count` is the same at every n of the axis.


def far_records(scenario: Scenario) -> FarRecords | None:
    """Return the far records of a hard instance at the chosen point; None unless they are few."""
    point = scenario.at(chosen_point(scenario))
    law, count = point.instance.law, _count(point)
    if not isinstance(law, HardInstance) or not 0.5 <= count <= MOST_SPIKED * point.n:
        return None
    grid = scenario.grid if scenario.axis == "n" else ()
    counts = {max(1, round(_count(scenario.at(x)))) for x in grid}
    rounded = max(1, round(count))
    return FarRecords(
        count=rounded,
        other_count=point.n - rounded,
        # A two-point coordinate that is far out with probability q is this many deviations long.
        distance=1 / math.sqrt(law.spike_probability * (1 - law.spike_probability)),
        is_steady=len(grid) > 1 and counts == {rounded},
    )


def _count(point: Scenario) -> float:
    """Return the expected number of far records; 0 unless the data are a hard instance of a mean.

    In other hard instances the distance of a few records does not matter: their labels do, or all
    records are far away.
    """
    law = point.instance.law
    if not isinstance(law, HardInstance) or law.hides != "mean" or point.m > 1:
        return 0
    return law.spike_probability * point.n


def data_html(study: Study, theme: Theme) -> str:
    """Return the picture of the data with a few words, as HTML; empty if there is none."""
    scenario = study.scenario
    if study.role == "hardest":
        outliers = far_records(scenario)
        if outliers is None:
            return ""
        shapes = "".join(_spikes(outliers, theme))
        return _with_words(shapes, _sentence(scenario, outliers))
    values = coordinate_sample(scenario.at(chosen_point(scenario)))
    if values is None:
        return ""
    times = ratio_text(float(np.abs(values).max() / np.median(np.abs(values))))
    shapes = "".join(_histogram(values, theme))
    return _with_words(shapes, f"One coordinate: the farthest is {times} medians out")


def _with_words(shapes: str, words: str) -> str:
    """Return the picture of the data with words under it, as HTML."""
    size = f"class='strip' width='{WIDTH}' height='{HEIGHT}'"
    image = picture(f"0 0 {WIDTH} {HEIGHT}", shapes, size)
    return f"<span class='data'>{image}<span>{words}</span></span>"


def _sentence(scenario: Scenario, outliers: FarRecords) -> str:
    """Return the sentence on how many far records carry the mean, with "here" if n changes that."""
    records = "record carries" if outliers.count == 1 else "records carry"
    place = "" if outliers.is_steady or scenario.axis is None else "here "
    return f"{place}{number_text(outliers.count)} far {records} the mean"


def far_label(outliers: FarRecords) -> str:
    """Return the number of far records and their distance, such as "7 at 30 SD"."""
    return f"{number_text(outliers.count)} at {number_text(round(outliers.distance))}{NO_BREAK}SD"


# -- a few records far out ------------------------------------------------------------------------


def _spikes(outliers: FarRecords, theme: Theme) -> Iterator[str]:
    """Yield the records of a hard instance as a bar and a stack of dots, with their labels."""
    ink, quiet = theme.colour(INK), theme.colour(QUIET)
    yield _axis(theme)
    yield f"<rect x='{NEAR_X - 4}' y='{GROUND - TALL}' width='8' height='{TALL}' fill='{ink}'/>"
    for i in range(min(outliers.count, 3 * STACK)):
        column, row = divmod(i, STACK)
        x, y = FAR_X - PITCH * column, GROUND - DOT - PITCH * row
        yield f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{DOT}' fill='{ink}'/>"
    near_text = f"{number_text(outliers.other_count)} alike"
    far_text = far_label(outliers)
    columns = math.ceil(min(outliers.count, 3 * STACK) / STACK)
    end = FAR_X - PITCH * columns - 1
    yield (
        f"<text x='{NEAR_X + 8}' y='{GROUND - TALL + 9}' fill='{quiet}' {LETTERS}>"
        f"{near_text}</text>"
    )
    yield (
        f"<text x='{end:.1f}' y='{GROUND - 5}' text-anchor='end' fill='{quiet}' {LETTERS}>"
        f"{far_text}</text>"
    )


def _axis(theme: Theme) -> str:
    """Return the ground line of the picture, as SVG."""
    faint = theme.colour(FAINT)
    return f"<path d='M0 {GROUND}H{WIDTH}' stroke='{faint}'/>"


# -- a law that can be drawn ----------------------------------------------------------------------


def _histogram(values: Vector, theme: Theme) -> Iterator[str]:
    """Yield the bars of a histogram as SVG, with a dot in the place of a bar too low to be seen."""
    ink, reach = theme.colour(INK), float(np.abs(values).max())
    counts, ends = np.histogram(values, bins=BARS, range=(-reach, reach))
    yield _axis(theme)
    for count, left in zip(counts, ends, strict=False):
        height = TALL * count / counts.max()
        x = (left / reach + 1) / 2 * WIDTH
        width = WIDTH / BARS
        if height >= 2 * DOT:
            yield (
                f"<rect x='{x:.1f}' y='{GROUND - height:.1f}' width='{width:.1f}' "
                f"height='{height:.1f}' fill='{ink}'/>"
            )
        elif count:
            middle = min(max(x + width / 2, DOT), WIDTH - DOT)
            yield f"<circle cx='{middle:.1f}' cy='{GROUND - DOT:.1f}' r='{DOT}' fill='{ink}'/>"
