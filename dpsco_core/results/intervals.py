"""95 % intervals of runs: their radius, the share of it due to privacy, and their coverage."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpsco_core.base.search import smallest
from dpsco_core.catalogue import BOUNDS, bounds_for
from dpsco_core.results.report import Evaluation, evaluate, measured_json
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

NOMINAL = "probability 0.95"


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A ball around a run's answer that contains the mean in 95 % of runs, for a class of laws.

    Its radius follows from public numbers alone. In one dimension it is an interval.
    """

    radius: float  # the radius of the l2 ball, in the unit of the records
    privacy: float  # the share of the radius due to clipping and noise
    trials: int  # the number of runs that finished
    covering_trials: int  # the number of runs whose ball contained the mean

    @property
    def coverage(self) -> float:
        """The share of runs whose ball contained the mean, at best about 0.95; NaN without runs."""
        return self.covering_trials / self.trials if self.trials else math.nan

    def json(self) -> dict[str, float | int | None]:
        """Return the interval's fields as the command line prints them in JSON."""
        observed = self.coverage if self.trials else None
        return {
            "radius": self.radius,
            "privacy": self.privacy,
            "nominal": 0.95,
            "observed": observed,
        }


def interval(point: Scenario, method: str, errors: Iterable[float] = ()) -> Interval | None:
    """Return the smallest proven interval for a run at a point; None if there is none.

    `point` has no axis; `errors` are those of the method's runs there.
    """
    best, errors_here = _smallest_bound(point, method, len(BOUNDS)), list(errors)
    if best is None:
        return None
    return Interval(
        radius=best.value,
        privacy=1 - best.terms["sampling"] / best.value,
        trials=len(errors_here),
        covering_trials=sum(error <= best.value for error in errors_here),
    )


@lru_cache(maxsize=2000)
def _smallest_bound(point: Scenario, method: str, catalogue_size: int) -> Evaluation | None:
    """Return the smallest bound on a run's error that holds with probability 0.95; None if none.

    `catalogue_size` is part of the cache's key, so that bounds which plugins add are seen.
    """
    rows = [row for row in bounds_for(point.problem, point.level) if row.card.method == method]
    rows = [b for b in rows if (b.card.guarantee, b.parameters) == (NOMINAL, "run")]
    holding = [e for e in (evaluate(point, row) for row in rows) if not e.failures]
    finite = [e for e in holding if 0 < e.value < math.inf]
    return smallest(finite, lambda e: e.value, what="interval") if finite else None


def intervals(
    scenario: Scenario, outcomes: Iterable[Outcome]
) -> dict[tuple[str, float | None], Interval | None]:
    """Return the interval of every method that ran, by method and value on the axis."""
    errors: dict[tuple[str, float | None], list[float]] = {}
    for o in outcomes:
        if o.not_applicable is None and not math.isnan(o.error):
            errors.setdefault((o.method, o.x), []).append(o.error)
    points = dict(scenario.points())
    return {
        (method, x): interval(points[x], method, method_errors)
        for (method, x), method_errors in errors.items()
        if x in points
    }


def run_json(scenario: Scenario, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the results of a run as JSON values, with their intervals, and every bound."""
    run = measured_json(scenario, outcomes)
    ball_of = intervals(scenario, outcomes)
    for row in run["results"]:
        ball = ball_of.get((row["method"], row["x"]))
        row["interval"] = None if ball is None else ball.json()
    return run


def runs_json(runs: Mapping[str, tuple[Scenario, Sequence[Outcome]]]) -> str:
    """Return several runs as one JSON text, by name.

    The run named "shown" is at the top level, as `dpsco run --json` prints it.
    """
    documents = {name: run_json(*run) for name, run in runs.items()}
    return json.dumps(documents.pop("shown", {}) | documents, indent=2)
