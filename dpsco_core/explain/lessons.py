r"""Seven small experiments of the page Learn that no scenario holds.

``tails``: the largest of n records of a Gaussian and of a Student t of the same variance.
``neighbours``: how often the best guess from one private output is right about one record.
``radius``: the error of simple clipping against its radius (Zhao et al. 2024, Algorithm 2), and the
three parts whose squares add up to its mean square (`error_parts`).
``look``: that error, beside the radius chosen from the setting alone and one chosen privately from
the lengths of the records (theory/adaptive-methods.md, 1.1).
``budgets``: what many releases cost together if epsilons are added, and if rhos are.
``packing``: which of four candidates made the data behind a private average (`fano.by_hand`).
``attacker``: how many members an attacker misses who accuses one of 100 others (`attacker`).

An experiment is a sequence of parts, each seeded on its own, as a study is one of cells. Privacy
noise goes through a ledger here as everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from dpsco_core.audit import attacker
from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.limits import SEED_MAX
from dpsco_core.base.parsing import one_of, whole
from dpsco_core.data.gaussian import Gaussian
from dpsco_core.data.student_t import StudentT
from dpsco_core.explain.budgets import Point, composed
from dpsco_core.explain.error_parts import SquaredParts, clipped_law
from dpsco_core.explain.fano import by_hand
from dpsco_core.methods.base import Release
from dpsco_core.methods.mean.adaptive import AdaptiveClipping
from dpsco_core.methods.mean.clipped import SimpleClipping
from dpsco_core.privacy.budget import PureDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import LaplaceNoise, laplace_noise_scale
from dpsco_core.problems import MeanEstimation
from dpsco_core.results.measured import measured
from dpsco_core.runs.study import Outcome, stream
from dpsco_core.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

Experiment = Literal["tails", "neighbours", "radius", "look", "budgets", "packing", "attacker"]
EXPERIMENTS: tuple[Experiment, ...] = get_args(Experiment)
TRIALS: dict[Experiment, int] = {
    "tails": 30,
    "neighbours": 40,
    "radius": 10,
    "look": 20,
    "budgets": 1,
    "packing": 40,
    "attacker": 40,
}

# the sample sizes at which the running maximum is shown
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
TAILS = Scenario(methods=("mean.sample",), d=1, p=2, n=SIZES[-1], offset=0)

ANSWERS = 100  # the number of yes-or-no answers whose average is released
GUESSES = 100  # the number of guesses in one part of the game
GAME_EPSILON = 1.0

RADIUS_POINT = Scenario(methods=("mean.clipped",), p=2, n=5000, d=20, margin=0.5)
RADII = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 300.0, 1000.0)
RADII_SHOWN = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0, 50.0)

RELEASE = Point(kind="zcdp", rho=0.001)  # the privacy cost of each of many releases
RELEASES = (1, 2, 5, 10, 20, 50, 100)

GAUSSIAN, STUDENT = "gaussian", "student-t"
RIGHT = "right"
ADAPTIVE, BLIND = "adaptive", "blind"
PRIVATE, CUT = "private", "cut"
ERRORS = (PRIVATE, ADAPTIVE, BLIND)
# the series of the total epsilon: added epsilons, summed rhos, and exact for Gaussian noise
ADDED, SUMMED, EXACT = "added", "summed", "exact"
# the series of the parts of an error, as square roots
BIAS, SAMPLING, NOISE = "bias", "sampling", "noise"


@dataclass(frozen=True, kw_only=True)
class Part:
    """One repetition of an experiment."""

    experiment: Experiment
    trial: int
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class LessonRow:
    """One measured number: its line, its place on the axis, and its value."""

    series: str
    x: float
    trial: int
    value: float


def parts(experiment: Experiment, trials: int | None = None, seed: int = 0) -> tuple[Part, ...]:
    """Return the parts of an experiment; raise `InvalidInput` for an unknown one."""
    one_of("experiment", experiment, EXPERIMENTS)
    count = TRIALS[experiment] if trials is None else trials
    whole("trials", count, 1, 1000)
    whole("seed", seed, 0, SEED_MAX)
    return tuple(Part(experiment=experiment, trial=t, seed=seed) for t in range(count))


def run_part(part: Part) -> tuple[LessonRow, ...]:
    """Run one repetition; the same part gives the same rows everywhere."""
    run = RUNS[part.experiment]
    rng = stream(part.seed, f"lesson {part.experiment}", part.trial)
    return tuple(
        LessonRow(series=series, x=float(x), trial=part.trial, value=float(value))
        for series, x, value in run(rng)
    )


@dataclass(frozen=True, kw_only=True)
class SeriesPoint:
    """A summary of all trials of one line at one place on its axis."""

    series: str
    x: float  # the place on the axis; NaN where a study has no axis
    trials: int
    mean: float  # the mean, or the root mean square where an experiment measures errors
    median: float
    q10: float
    q90: float


def series_points(rows: Iterable[LessonRow]) -> tuple[SeriesPoint, ...]:
    """Return one point for each series and x: trials, mean, median, 10 % and 90 % quantiles.

    The mean of errors is their root mean square: the squares of their parts add up to its own.

    Sorted by series, as they first come, and x; does not depend on the order of the parts.
    """
    series: dict[str, dict[float, list[LessonRow]]] = {}
    for row in rows:
        series.setdefault(row.series, {}).setdefault(row.x, []).append(row)
    return tuple(
        _point(name, x, [row.value for row in sorted(group, key=attrgetter("trial"))])
        for name, groups in series.items()
        for x, group in sorted(groups.items())
    )


def _point(name: str, x: float, values: list[float]) -> SeriesPoint:
    """Return the point of a series at x: the mean and the quantiles of its values.

    Of a series of errors, the mean is their root mean square.
    """
    array = np.array(values)
    mean = np.sqrt(np.mean(array**2)) if name in ERRORS else np.mean(array)
    low, median, high = np.quantile(array, (0.1, 0.5, 0.9))
    return SeriesPoint(
        series=name,
        x=x,
        trials=len(array),
        mean=float(mean),
        median=float(median),
        q10=float(low),
        q90=float(high),
    )


def study_points(outcomes: Sequence[Outcome]) -> tuple[SeriesPoint, ...]:
    """Return the points of a study, with a series for each method, in the order of their first
    cells.

    Their numbers are those of `summary` without the scenario.
    """
    errors: dict[tuple[str, float | None], list[float]] = {}
    for outcome in outcomes:
        errors.setdefault((outcome.method, outcome.x), []).append(outcome.error)
    return tuple(
        SeriesPoint(
            series=method,
            x=math.nan if x is None else float(x),
            trials=row.trials,
            mean=row.mean,
            median=float(np.quantile(errors[method, x], 0.5)) if row.trials else math.nan,
            q10=row.low,
            q90=row.high,
        )
        for (method, x), row in measured(outcomes).items()
    )


def series_table(rows: Iterable[LessonRow]) -> pd.DataFrame:
    """Return a table with one row for each point of the series in `rows`; see `series_points`."""
    import pandas as pd

    names = [known.name for known in fields(SeriesPoint)]
    return pd.DataFrame([vars(point) for point in series_points(rows)], columns=names)


def laws() -> dict[str, Gaussian | StudentT]:
    """Return the two laws of the first lesson: mean 0 and variance 1, in one dimension."""
    return {
        GAUSSIAN: Gaussian(d=1, moment_order=2.0),
        STUDENT: StudentT(d=1, moment_order=TAILS.p, margin=TAILS.margin),
    }


def _run_tails(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Draw records of both laws; return rows (law, n, largest size among the first n records)."""
    out = []
    for name, law in laws().items():
        sizes = np.abs(law.sample(SIZES[-1], rng).x[:, 0])
        largest = np.maximum.accumulate(sizes)
        out += [(name, float(n), float(largest[n - 1])) for n in SIZES]
    return out


def output_densities(epsilon: float) -> tuple[Vector, Vector, Vector]:
    r"""Return outputs, and the density of the released share without and with one more "yes".

    The share of "yes" among 100 answers, released with Laplace noise. The average of the others
    is taken to be 1/2; at every output the two densities differ by a factor of at most
    :math:`e^\varepsilon`.

    Returns outputs, without and with_it, arrays of shape (401,).
    """
    require(0 < epsilon < math.inf, "epsilon", "positive and finite", epsilon)
    scale = laplace_noise_scale(1 / ANSWERS, epsilon)
    low, high = _neighbouring_shares()
    reach = 5 * max(scale, 1 / ANSWERS)
    outputs = np.linspace((low + high) / 2 - reach, (low + high) / 2 + reach, 401)
    return (
        outputs,
        np.exp(-np.abs(outputs - low) / scale) / (2 * scale),
        np.exp(-np.abs(outputs - high) / scale) / (2 * scale),
    )


def _neighbouring_shares() -> tuple[float, float]:
    """Return the shares of "yes" among `ANSWERS` in two data sets that differ in one answer."""
    half = (ANSWERS - 1) // 2
    return half / ANSWERS, (half + 1) / ANSWERS


def _run_neighbours(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Play the guessing game; return one row (series, number of guesses, share of right ones)."""
    shares = _neighbouring_shares()
    right = 0
    for truth in rng.integers(0, 2, size=GUESSES):
        ledger = Ledger(PureDP(epsilon=GAME_EPSILON))
        (output,) = ledger.release(
            LaplaceNoise(l1_sensitivity=1 / ANSWERS, epsilon=GAME_EPSILON),
            np.array([shares[truth]]),
            rng,
        )
        right += int((output > sum(shares) / 2) == truth)
    return [(RIGHT, GUESSES, right / GUESSES)]


def running_share(rows: Iterable[LessonRow]) -> tuple[Vector, Vector]:
    """Return how many guesses were made, and the share of right ones so far, shapes (parts,)."""
    ordered = sorted((r for r in rows if r.series == RIGHT), key=lambda r: r.trial)
    counts = np.cumsum([r.x for r in ordered])
    right = np.cumsum([r.x * r.value for r in ordered])
    return counts, right / counts


def _run_radius(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Release clipped means; return rows (series, radius, measured error or predicted part)."""
    point = RADIUS_POINT
    problem = point.instance.problem
    assert isinstance(problem, MeanEstimation)
    rows = problem.sample(point.n, rng)
    out: list[tuple[str, float, float]] = []
    for radius, parts_there in radius_parts().items():
        method = SimpleClipping(radius=radius)
        release = method.release(rows, method.plan(point.setting), Ledger(point.budget), rng)
        out += [
            (PRIVATE, radius, problem.error(release.value)),
            (BIAS, radius, math.sqrt(parts_there.bias)),
            (SAMPLING, radius, math.sqrt(parts_there.sampling)),
            (NOISE, radius, math.sqrt(parts_there.noise)),
            (CUT, radius, float(np.mean(rows.norms() > radius))),
        ]
    return out


@lru_cache(maxsize=1)
def radius_parts() -> dict[float, SquaredParts]:
    """Return the parts of the mean squared error at each radius; no trial changes them."""
    point, problem = RADIUS_POINT, RADIUS_POINT.instance.problem
    assert isinstance(problem, MeanEstimation)
    law = clipped_law(problem.distribution, np.array(RADII), stream(0, "lesson law", 0))
    plans = {radius: SimpleClipping(radius=radius).plan(point.setting) for radius in RADII}
    return {
        radius: law.parts(point.n, radius, plan.noise.noise_std) for radius, plan in plans.items()
    }


def _run_look(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Release means clipped at fixed and at private radii; return rows (series, radius, error)."""
    point = RADIUS_POINT
    problem = point.instance.problem
    assert isinstance(problem, MeanEstimation)
    rows = problem.sample(point.n, rng)

    def row(series: str, release: Release) -> tuple[str, float, float]:
        """Return the series, the clip radius and the error of a release."""
        return series, release.diagnostics["clip_radius"], problem.error(release.value)

    def clipped(series: str, radius: float | None = None) -> tuple[str, float, float]:
        """Release a mean that is clipped at a fixed radius, and return its row."""
        method = SimpleClipping(radius=radius)
        plan = method.plan(point.setting)
        return row(series, method.release(rows, plan, Ledger(point.budget), rng))

    method = AdaptiveClipping()
    release = method.release(rows, method.plan(point.setting), Ledger(point.budget), rng)
    fixed = [clipped(PRIVATE, radius) for radius in RADII_SHOWN]
    return [*fixed, clipped(BLIND), row(ADAPTIVE, release)]


def _run_budgets(_: np.random.Generator) -> list[tuple[str, float, float]]:
    """Return rows (way of adding up, number of releases, their total epsilon at one delta)."""
    out: list[tuple[str, float, float]] = []
    for count in RELEASES:
        sums = composed(RELEASE, count)
        values = {ADDED: sums.basic, SUMMED: sums.zcdp, EXACT: sums.exact}
        out += [(name, float(count), value) for name, value in values.items()]
    return out


RUNS = {
    "tails": _run_tails,
    "neighbours": _run_neighbours,
    "radius": _run_radius,
    "look": _run_look,
    "budgets": _run_budgets,
    "packing": by_hand.play,
    "attacker": attacker.play,
}
# For each experiment, the x at which its prediction is read: the last of the figure.
LAST_POINTS: dict[Experiment, float] = {
    "tails": SIZES[-1],
    "neighbours": GUESSES * TRIALS["neighbours"],
    "radius": RADII[-1],
    "look": RADII_SHOWN[-1],
    "budgets": RELEASES[-1],
    "packing": by_hand.SIGNS,
    "attacker": attacker.FALSE_ALARMS,
}
