"""Where a lesson's prediction stands in its figure, and which trials land there."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpsco_app.pages.learn.findings import COMPARED, LessonEvidence, cut_answer
from dpsco_core.explain.lessons import CUT, PRIVATE, RIGHT, running_share

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Answering:
    """How a number becomes a point of the figure, at the last x of its table."""

    lands: str  # the method, or the line of an experiment, whose trials land
    # how high a number stands; none where it is read on the horizontal axis
    height: Callable[[LessonEvidence, float], float] | None = None
    everywhere: bool = False  # whether the trials at every x land, and not only the last

    def place(self, evidence: LessonEvidence, value: float, last: float) -> Point:
        if self.height is not None:
            return last, self.height(evidence, value)
        # A handle that moves sideways has the height of the middle.
        errors = evidence.table["mean_error"]
        return value, float((errors.min() * errors.max()) ** 0.5)

    def trials(self, evidence: LessonEvidence, last: float) -> list[Point]:
        if self.lands == RIGHT:  # the share so far, in percent
            counts, shares = running_share(evidence.rows)
            return [(float(n), 100 * float(s)) for n, s in zip(counts, shares, strict=True)]
        if evidence.rows:
            landed = [(r.trial, r.x, r.value) for r in evidence.rows if r.series == self.lands]
        else:
            rows = evidence.errors[evidence.errors["method"] == self.lands]
            columns = (rows[name] for name in ("trial", "x", "error"))
            landed = [(t, float(x), float(e)) for t, x, e in zip(*columns, strict=True)]
        return [(x, y) for _, x, y in sorted(landed) if self.everywhere or x == last]


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """How the answers to choose from stand in a figure: see `draw_question`."""

    # Takes what is known before the run, and returns the points of each answer.
    places: Callable[[LessonEvidence], dict[str, list[Point]]]
    # Takes what was measured, and returns the trials that land: (x, y, method or line).
    trials: Callable[[LessonEvidence], list[tuple[float, float, str]]]
    band: bool = False


# By which factor the median of means is off where it is predicted to be off by less, and by more.
LESS, MORE = 0.65, 1.25
BELOW = 0.12  # times the height of the mark above


def luck(evidence: LessonEvidence) -> dict[str, list[Point]]:
    """Lesson 2: the line of the median of means, from the sample mean's own line."""
    own = sorted(_exceeded(evidence, "mean.sample"))
    low = math.log(own[-1][1] / 100) or -1.0  # equal errors are one point, at 100 %
    ends = {"mean": (MORE, MORE), "split": (1.0, LESS), "sturdy": (LESS, LESS)}
    return {
        answer: [(x * (a + (b - a) * math.log(y / 100) / low), y) for x, y in own]
        for answer, (a, b) in ends.items()
    }


def luck_trials(evidence: LessonEvidence) -> list[tuple[float, float, str]]:
    """Lesson 2: every sample's error of the median of means, at its place on the line."""
    method = "mean.median-of-means"
    return [(x, y, method) for x, y in _exceeded(evidence, method)]


def _exceeded(evidence: LessonEvidence, method: str) -> list[Point]:
    """Return every trial's error with the percentage of trials whose error is not smaller."""
    errors = evidence.errors.loc[evidence.errors["method"] == method, "error"]
    above = 100 * errors.rank(method="first", ascending=False) / len(errors)
    return [(float(x), float(y)) for x, y in zip(errors, above, strict=True)]


def cut(evidence: LessonEvidence) -> dict[str, list[Point]]:
    """Lesson 4: the radii that clip so many records."""
    shares = pd.DataFrame([(r.x, r.value) for r in evidence.rows if r.series == CUT])
    by_radius = shares.groupby(0)[1].mean()
    answers = pd.Series([cut_answer(float(share)) for share in by_radius], index=by_radius.index)
    radii = answers.index.to_numpy()
    edges = np.sqrt(radii[1:] * radii[:-1])
    edges = np.array([radii[0], *edges, radii[-1]])
    return {
        str(answer): [(float(edges[at.min()]), 1.0), (float(edges[at.max() + 1]), 1.0)]
        for answer in dict.fromkeys(answers)
        for at in [np.flatnonzero(answers == answer)]
    }


def cut_trials(evidence: LessonEvidence) -> list[tuple[float, float, str]]:
    """Lesson 4: the radius of least private error in every repetition, with that error."""
    best: dict[int, tuple[float, float]] = {}
    for r in evidence.rows:
        if r.series == PRIVATE and r.value < best.get(r.trial, (0.0, math.inf))[1]:
            best[r.trial] = (r.x, r.value)
    return [(*best[trial], PRIVATE) for trial in sorted(best)]


def least(evidence: LessonEvidence) -> dict[str, list[Point]]:
    """Lesson 9: a mark an answer at the smallest n, one below the other."""
    n, start = min(evidence.start.items())
    return {answer: [(n, start * BELOW**i)] for i, answer in enumerate(("start", *COMPARED))}


def least_trials(evidence: LessonEvidence) -> list[tuple[float, float, str]]:
    """Lesson 9: the risk that every private run leaves at the smallest n."""
    first = evidence.errors[evidence.errors["x"] == evidence.errors["x"].min()]
    columns = (first[name] for name in ("trial", "method", "x", "error"))
    rows = sorted(zip(*columns, strict=True))
    return [(float(x), float(e), m) for _, m, x, e in rows if m != "sco.erm"]
