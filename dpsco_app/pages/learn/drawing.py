"""Where a lesson's prediction stands in its figure, and which trials land there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsco_app.pages.learn.findings import LessonEvidence
from dpsco_core.explain.lessons import PRIVATE, RIGHT, running_share

Point = tuple[float, float]
Read = Callable[[LessonEvidence], float]


@dataclass(frozen=True, kw_only=True)
class Answering:
    """How a number becomes a point of the figure, at the last x of its table."""

    lands: str  # the method, or the line of an experiment, whose trials land
    # the height at which 1 stands; none where the number is read on the horizontal axis
    base: Read | None = None
    inverse: bool = False  # whether the height is the base divided by the number
    above: Read | None = None  # a height that is added
    line: str = ""  # the method at whose first point the line of the prediction begins
    everywhere: bool = False  # whether the trials at every x land, and not only the last

    def place(self, evidence: LessonEvidence, value: float, last: float) -> Point:
        """Return the point of a number."""
        if self.base is None:
            return value, _middle(evidence)
        base = self.base(evidence)
        height = base / value if self.inverse else base * value
        return last, height + (0.0 if self.above is None else self.above(evidence))

    def start(self, evidence: LessonEvidence) -> Point | None:
        """Return where the line of a prediction begins."""
        if not self.line:
            return None
        rows = evidence.table[evidence.table["method"] == self.line].sort_values("x")
        return float(rows["x"].iloc[0]), float(rows["mean_error"].iloc[0])

    def trials(self, evidence: LessonEvidence, last: float) -> list[Point]:
        """Return the trials that land, in their order."""
        if self.lands == RIGHT:  # the share so far, in percent
            counts, shares = running_share(evidence.rows)
            return [(float(n), 100 * float(s)) for n, s in zip(counts, shares, strict=True)]
        if evidence.errors is None:
            found = [(r.trial, r.x, r.value) for r in evidence.rows if r.series == self.lands]
        else:
            rows = evidence.errors[evidence.errors["method"] == self.lands]
            columns = (rows[name] for name in ("trial", "x", "error"))
            found = [(t, float(x), float(e)) for t, x, e in zip(*columns, strict=True)]
        return [(x, y) for _, x, y in sorted(found) if self.everywhere or x == last]


def plain(evidence: LessonEvidence) -> float:
    """Return 1: the number is the height."""
    return 1.0


def at_end(method: str, *, beside: bool = False, first: bool = False) -> Read:
    """Return how to read the mean error of a method at its last x, or at its first."""

    def read(evidence: LessonEvidence) -> float:
        table = evidence.beside if beside else evidence.table
        assert table is not None
        rows = table[table["method"] == method].sort_values("x")
        return float(rows["mean_error"].iloc[0 if first else -1])

    return read


def minus(one: Read, other: Read) -> Read:
    """Return how to read a difference."""
    return lambda evidence: one(evidence) - other(evidence)


def least_private(evidence: LessonEvidence) -> float:
    """Return the private error at the radius that is best in hindsight."""
    rows = evidence.table[evidence.table["series"] == PRIVATE]
    return float(rows["mean"].min())


def floor_at_end(evidence: LessonEvidence) -> float:
    """Return the proven lower bound at the last x."""
    assert evidence.floor is not None
    return evidence.floor[max(evidence.floor)]


def _middle(evidence: LessonEvidence) -> float:
    """Return a height of the figure: a handle that moves sideways has that of the middle."""
    errors = evidence.table["mean_error"]
    return float((errors.min() * errors.max()) ** 0.5)
