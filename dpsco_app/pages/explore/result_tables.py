"""The tables under Explore's figure: what was measured, and every bound at the chosen point."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dpsco_app.parts.options import SYMBOL, budget_text, in_print, number_text
from dpsco_app.parts.problem_words import losses_text, words_for
from dpsco_app.parts.refusals import with_names
from dpsco_app.parts.running import Result, evaluations
from dpsco_core.catalogue import bounds_for, method_card
from dpsco_core.results.tables import interval_half_width
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario


def numbers(result: Result) -> pd.DataFrame:
    """Return the summary with what was spent and the parameters; columns are named in words."""
    table = result.table()
    first = {(o.method, o.x): o for o in reversed(result.outcomes)}
    cells = [first[r.method, None if math.isnan(r.x) else r.x] for r in table.itertuples()]
    axis = result.scenario.axis
    words = words_for(result.scenario.problem)
    columns: dict[str, Any] = {words.method.capitalize(): table["name"]}
    if axis is not None:
        columns[SYMBOL[axis]] = table["x"]
    columns |= {
        "Trials": table["trials"],
        f"Mean {words.error}": table["mean_error"],
        "95 % ±": [interval_half_width(r.standard_error, r.trials) for r in table.itertuples()],
        "Median": table["median_error"],
        "10 %": table["q10"],
        "90 %": table["q90"],
        "Milliseconds": 1000 * table["seconds"],
        "Spent": [_spent(o) for o in cells],
        "Parameters": [
            ", ".join(f"{k.replace('_', ' ')} {_three_digits(v)}" for k, v in o.diagnostics.items())
            for o in cells
        ],
    }
    uncertainty = _evaluation_errors(result.outcomes)
    if any(uncertainty.values()):
        columns["Evaluation ±"] = [uncertainty[o.method, o.x] for o in cells]
    if table["not_applicable"].any():
        columns["Remark"] = table["not_applicable"].map(with_names)
    return pd.DataFrame(columns)


def _evaluation_errors(outcomes: Sequence[Outcome]) -> dict[tuple[str, float | None], float]:
    """Return the largest standard error of the evaluation by (method, x); 0 where it is exact."""
    largest: dict[tuple[str, float | None], float] = {}
    for o in outcomes:
        largest[o.method, o.x] = max(largest.get((o.method, o.x), 0.0), o.error_uncertainty)
    return largest


def _spent(outcome: Outcome) -> str:
    if _public(outcome):
        return "not private"
    return "" if outcome.spent is None else budget_text(outcome.spent)


def _public(outcome: Outcome) -> bool:
    return method_card(outcome.method).privacy == "none"


def _three_digits(value: float) -> str:
    return number_text(float(f"{value:.3g}")) if math.isfinite(value) else "∞"


def bounds_table(scenario: Scenario) -> pd.DataFrame:
    """Return every bound at the chosen point of the scenario."""
    point = replace(scenario, axis=None, grid=())
    chosen = bounds_for(scenario.problem, scenario.level)
    rows = [
        {
            "Bound": e.bound.card.name,
            "Kind": e.bound.card.kind,
            "Value": e.value if math.isfinite(e.value) else math.nan,
            "Of": e.bound.card.quantity,
            "Losses": losses_text(e.bound.card, e.applies),
            "Constant": e.bound.card.constant,
            "Holds in": e.bound.card.guarantee,
            "Fails here because": in_print(" ".join(e.failures)),
            "From": f"{e.bound.card.paper}, {e.bound.card.statement}",
            "In words": e.bound.card.summary,
        }
        for e in evaluations(point, tuple(b.card.slug for b in chosen))
    ]
    return pd.DataFrame(rows)
