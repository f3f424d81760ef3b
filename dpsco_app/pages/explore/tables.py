"""The table of measurements under Explore's figure."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from dpsco_app.parts.options import SYMBOL, budget_text, short_text
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.refusals import on_screen
from dpsco_core.catalogue import method_card
from dpsco_core.privacy.budget import Budget
from dpsco_core.results.intervals import intervals
from dpsco_core.results.tables import frame, interval_half_width, summary
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario


def numbers(outcomes: Sequence[Outcome], scenario: Scenario) -> pd.DataFrame:
    """Return the table of errors by method and x, with spent budgets and parameters, for people."""
    table = summary(frame(outcomes), scenario)
    first_outcome = {(o.method, o.x): o for o in reversed(outcomes)}
    places = zip(table["method"], table["x"], strict=True)
    cells = [first_outcome[method, None if math.isnan(x) else x] for method, x in places]
    axis, words = scenario.axis, words_for(scenario.problem)
    halves: list[Any] = list(map(interval_half_width, table["standard_error"], table["trials"]))
    if table["exact"].any():
        pairs = zip(halves, table["exact"], strict=True)
        halves = ["exact" if exact else short_text(half) for half, exact in pairs]
    columns: dict[str, Any] = {words.method.capitalize(): table["name"]}
    if axis is not None:
        columns[SYMBOL[axis]] = table["x"]
    columns |= {
        "Trials": table["trials"],
        f"Mean {words.error}": table["mean_error"],
        "95 % ±": halves,
        "Median": table["median_error"],
        "10 %": table["q10"],
        "90 %": table["q90"],
        "Milliseconds": 1000 * table["seconds"],
        "Spent": [spent_text(o.method, o.spent) for o in cells],
        "Parameters": [
            ", ".join(f"{k.replace('_', ' ')} {short_text(v)}" for k, v in o.diagnostics.items())
            for o in cells
        ],
    }
    balls = intervals(scenario, outcomes) if scenario.problem == "mean" else {}
    if any(balls.values()):
        cell_balls = [balls.get((o.method, o.x)) for o in cells]
        columns["95 % interval: ±"] = [math.nan if b is None else b.radius for b in cell_balls]
        columns["Of it privacy"] = [
            "" if b is None else f"{100 * b.privacy:.0f} %" for b in cell_balls
        ]
        columns["Held the mean"] = [
            f"{b.covering_trials} of {b.trials}" if b is not None else _no_interval(o)
            for b, o in zip(cell_balls, cells, strict=True)
        ]
    largest: dict[tuple[str, float | None], float] = {}
    # An error that is evaluated exactly has the uncertainty 0.
    for o in outcomes:
        largest[o.method, o.x] = max(largest.get((o.method, o.x), 0.0), o.error_uncertainty)
    if any(largest.values()):
        columns["Evaluation ±"] = [largest[o.method, o.x] for o in cells]
    if table["not_applicable"].any():
        columns["Remark"] = table["not_applicable"].map(on_screen)
    return pd.DataFrame(columns)


def _no_interval(outcome: Outcome) -> str:
    """Return why an outcome has no interval, or nothing if its method is not private."""
    return "" if method_card(outcome.method).privacy == "none" else "no interval is proven"


def spent_text(method: str, spent: Budget | None) -> str:
    """Return the budget that a method has spent, or that it is not private."""
    if method_card(method).privacy == "none":
        return "not private"
    return "" if spent is None else budget_text(spent)
