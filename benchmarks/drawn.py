"""Random scenarios that the dashboard allows, most of them near its cap, and their prices."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import METHODS, distributions_for, method_card
from dpsco_core.fields import TABLE
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.runs.allowed import refusal
from dpsco_core.runs.cost import cost
from dpsco_core.runs.study import cells, run_cell
from dpsco_core.scenario import Scenario

COUNT, SEED = 200, 49
EXPONENTS = (1.0, 1.2, 1.5, 2.0, 3.0, 8.0, math.inf)
# The least share of the limit: a random scenario below it is stored with its share.
LEAST_SHARE = 0.1


def ratios(count: int = COUNT, seed: int = SEED) -> Iterator[tuple[Scenario, float]]:
    """Yield random scenarios, each with the processor time of a cell over the predicted time.

    Only single cells are timed, after a first one has filled the caches, because a whole study
    near the limit would take minutes.
    """
    rng = random.Random(seed)
    for _ in range(count):
        scenario = draw_near_limit(rng)
        warm_up, timed = cells(replace(scenario, trials=2))
        if run_cell(warm_up).not_applicable is not None:
            continue
        # Clocks of processors may tick only every few milliseconds.
        clock, runs = time.process_time(), 0
        while runs == 0 or time.process_time() - clock < 0.1:
            run_cell(replace(timed, trial=1 + runs))
            runs += 1
        spent = (time.process_time() - clock) / runs
        yield scenario, spent / cost(replace(scenario, trials=1)).seconds


def summary_line(ratios: Sequence[float]) -> str:
    """Return a line on how close the ratios of measured to predicted time are to 1."""
    within_3, within_10 = (
        sum(1 / factor <= ratio <= factor for ratio in ratios) for factor in (3.0, 10.0)
    )
    return (
        f"{len(ratios)} scenarios: {within_3 / len(ratios):.1%} within a factor of 3, "
        f"{len(ratios) - within_10} beyond 10, median {statistics.median(ratios):.2f}, "
        f"{min(ratios):.2f} to {max(ratios):.2f}"
    )


def draw_near_limit(rng: random.Random) -> Scenario:
    """Return an allowed scenario whose predicted work is usually a large part of the limit."""
    while True:
        scenario = draw_scenario(rng)
        try:
            scenario.validate(DASHBOARD)
        except InvalidInput:
            continue
        share = cost(scenario).seconds / DASHBOARD.seconds / LEAST_SHARE
        if rng.random() < share and not refusal(scenario, DASHBOARD):
            return scenario


def draw_scenario(rng: random.Random) -> Scenario:
    """Return a random scenario of one method, allowed or not."""
    slug = rng.choice([method.card.slug for method in METHODS])
    card = method_card(slug)
    problem, geometry = rng.choice(card.problems), rng.choice(GEOMETRIES)
    budgets: list[dict[str, Any]] = [
        {"epsilon": _draw_log_uniform(rng, 0.05, 20), "delta": 10 ** -rng.uniform(4, 9)},
        {"epsilon": None, "delta": None, "rho": _draw_log_uniform(rng, 1e-3, 60)},
        {"epsilon": _draw_log_uniform(rng, 0.1, 20), "delta": 0.0},
    ]
    return Scenario(
        problem=problem,
        methods=(slug,),
        distribution=rng.choice(distributions_for(problem)),
        n=int(_draw_log_uniform(rng, 100, DASHBOARD.n)),
        d=int(_draw_log_uniform(rng, 1, DASHBOARD.d)),
        m=int(_draw_log_uniform(rng, 2, 50)) if card.level == "user" else 1,
        trials=DASHBOARD.trials,
        geometry=geometry,
        q=rng.choice(EXPONENTS) if geometry == "lq" else None,
        p=_draw_log_uniform(rng, 2, 20),
        margin=_draw_log_uniform(rng, 0.2, 5),
        diameter=_draw_log_uniform(rng, 0.5, 100),
        calibration=rng.choice(TABLE["calibration"].choices),
        tuning=rng.choice(TABLE["tuning"].choices),
        seed=rng.randrange(1000),
        **rng.choices(budgets, weights=(5, 4, 1))[0],
    )


def _draw_log_uniform(rng: random.Random, low: float, high: float) -> float:
    """Return a random number between two others, uniform on the logarithmic scale."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))
