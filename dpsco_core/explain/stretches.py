"""Which part of a bound governs where: on which stretches of an axis it is the largest."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpsco_core.base.arrays import Vector


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """`part` is the largest from `start` to `stop` of the axis."""

    part: str
    start: float
    stop: float


def stretches(
    # x and its parts by name, from left to right; none is negative, and a missing one counts as 0
    points: Sequence[tuple[float, Mapping[str, float]]],
    *,
    logarithmic: bool = True,
) -> list[Stretch]:
    """Return the stretches from left to right; together they are the whole axis.

    Between two points every part is taken as a power law (as an exponential on an axis that is not
    `logarithmic`), so that the crossings of power laws are exact.

    Examples
    --------
    >>> noise = [(n, {"sampling": n**-0.5, "noise": 10 / n}) for n in (10, 1000)]
    >>> [(s.part, round(s.start, 6), round(s.stop, 6)) for s in stretches(noise)]
    [('noise', 10.0, 100.0), ('sampling', 100.0, 1000)]
    """
    first, last = points[0], points[-1]
    names = list(dict.fromkeys(name for _, parts in points for name in parts))
    starts: list[tuple[float, str]] = []
    for (x, here), (following, there) in pairwise(points):
        for share, at in _leaders(_logs(here, names), _logs(there, names)):
            if not starts or names[at] != starts[-1][1]:
                power, line = x * (following / x) ** share, x + share * (following - x)
                starts.append((power if logarithmic else line, names[at]))
    if not starts:
        starts = [(first[0], max(first[1], key=first[1].__getitem__))]
    stops = [start for start, _ in starts[1:]] + [last[0]]
    return [
        Stretch(part=part, start=start, stop=stop)
        for (start, part), stop in zip(starts, stops, strict=True)
    ]


def _logs(parts: Mapping[str, float], names: Sequence[str]) -> Vector:
    """Return the logarithms of the parts, a finite one for 0 and for what is infinite too."""
    values = np.array([parts.get(name, 0.0) for name in names])
    return np.asarray(np.log(np.clip(values, sys.float_info.min, sys.float_info.max)))


def _leaders(here: Vector, there: Vector) -> list[tuple[float, int]]:
    """Return which of several lines is the highest, and from which share of the way on."""
    slopes = there - here
    leaders = [(0.0, max(range(len(here)), key=lambda i: (here[i], slopes[i])))]
    while True:
        share, at = leaders[-1]
        steeper = np.flatnonzero(slopes > slopes[at])
        meets = (here[at] - here[steeper]) / (slopes[steeper] - slopes[at])
        if not (meets < 1).any():
            return leaders
        # Of those that meet it first, the steepest one leads from there on.
        nearest = steeper[meets <= meets.min()]
        leaders.append((max(share, float(meets.min())), int(nearest[np.argmax(slopes[nearest])])))
