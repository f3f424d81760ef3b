"""The numbers of the page Lower bounds as tables."""

from collections.abc import Sequence

import pandas as pd

from dpsco_app.pages.lower_bounds.gap_words import ranked
from dpsco_app.pages.lower_bounds.words import CLASS_NAMES, RUNG_NAMES, SOURCE_NAMES
from dpsco_core.base.arrays import Vector
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.instance import Rung
from dpsco_core.explain.fano.measured import Measured
from dpsco_core.explain.tracing import Spied, most_caught
from dpsco_core.explain.window import Standing
from dpsco_core.privacy.budget import Budget


def ranks_table(here: Standing) -> pd.DataFrame:
    """Return the bounds that hold, one a row."""
    return pd.DataFrame(
        [
            {"Bound": r.name, "Kind": "upper" if r.upper else "lower", "Error": r.value}
            | {"Distance": r.about}
            for r in ranked(here)
        ]
    )


def map_table(x: Vector, y: Vector, ratios: Vector, field: str) -> pd.DataFrame:
    """Return the map, a cell a row."""
    return pd.DataFrame(
        [
            {"n": a, field: b, "Upper over lower": ratios[i, j]}
            for i, b in enumerate(y)
            for j, a in enumerate(x)
        ]
    )


def caught_table(spied: Sequence[Spied], budget: Budget) -> pd.DataFrame:
    """Return the rates of the spy's test, a threshold a row."""
    parts = []
    for one in spied:
        false, true = one.rates()
        rates = {"False positives": false, "True positives": true}
        allowed = {"Privacy allows": most_caught(budget, false)}
        parts.append(pd.DataFrame({"Method": method_card(one.method).name} | rates | allowed))
    return pd.concat(parts, ignore_index=True)


def ladder_table(rungs: Sequence[Rung]) -> pd.DataFrame:
    """Return the forms of the bound, one a row."""
    return pd.DataFrame(
        [
            {
                "Form": RUNG_NAMES[r.key],
                "Binds": CLASS_NAMES[r.binds],
                "Constants": SOURCE_NAMES[r.source],
                "q": r.q,
                "Least error": r.value,
            }
            for r in rungs
        ]
    )


def run_table(rows: Sequence[Measured], trivial: float) -> pd.DataFrame:
    """Return what was measured, a method a row."""
    made: list[dict[str, object]] = [
        {
            "Method": method_card(r.method).name,
            "Trials": len(r.errors),
            "Mean error": r.mean if r.errors else None,
            "Standard error": r.standard_error if len(r.errors) > 1 else None,
            "Floor": r.floor if r.floor > 0 else None,
            "Above its floor": ("yes" if r.above else "no") if r.floor > 0 and r.errors else "",
            "Why not": r.refused,
        }
        for r in rows
    ]
    made.append({"Method": "Answer 0", "Trials": 0, "Mean error": trivial})
    return pd.DataFrame(made)
