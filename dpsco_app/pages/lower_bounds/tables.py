"""The numbers of the page Lower bounds as tables."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsco_app.pages.lower_bounds.gap_words import BOUND_LINE, LINE_NAMES, NO_DATA, ranked
from dpsco_app.pages.lower_bounds.words import CLASS_NAMES, RUNG_NAMES, SOURCE_NAMES
from dpsco_core.base.arrays import Vector
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.builder import Builder
from dpsco_core.explain.fano.instance import FanoCurve, Rung
from dpsco_core.explain.fano.measured import Measured
from dpsco_core.explain.tracing import Spied, most_caught
from dpsco_core.explain.window import Standing
from dpsco_core.privacy.budget import Budget


def sweep_table(values: Vector, found: Sequence[Standing], field: str) -> pd.DataFrame:
    """Return the best bounds over a field, a value and a notion a row."""
    return pd.DataFrame(
        [
            {
                field: value,
                "For": LINE_NAMES[notion],
                "Floor": w.floor,
                BOUND_LINE: w.ceiling,
                NO_DATA: s.start,
                "Upper over lower": s.ratio(notion),
            }
            for value, s in zip(values, found, strict=True)
            for notion, w in s.windows.items()
        ]
    )


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


def scores_table(found: Sequence[Spied]) -> pd.DataFrame:
    """Return the spy's scores, a record a row."""
    return pd.DataFrame(
        [
            {"Method": method_card(s.method).name, "Used": used, "Score": score}
            for s in found
            for used, scores in (("yes", s.used), ("no", s.fresh))
            for score in scores
        ]
    )


def caught_table(found: Sequence[Spied], budget: Budget) -> pd.DataFrame:
    """Return the rates of the spy's test, a threshold a row."""
    parts = []
    for one in found:
        false, true = one.rates()
        rates = {"False positives": false, "True positives": true}
        allowed = {"Privacy allows": most_caught(budget, false)}
        parts.append(pd.DataFrame({"Method": method_card(one.method).name} | rates | allowed))
    return pd.concat(parts, ignore_index=True)


def curve_table(drawn: Sequence[FanoCurve]) -> pd.DataFrame:
    """Return the bounds over the spike probability, a bound and a probability a row."""
    parts = [
        pd.DataFrame(
            {
                "Bound": c.name,
                "Row of the catalogue": f"lower.mean.{c.slug}",
                "q": np.append(c.q, c.best_q),
                "Least error": np.append(c.values, c.best),
                "Best q": [*[False] * len(c.q), True],
            }
        )
        for c in drawn
    ]
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


def trade_table(
    q: NDArray[np.float64], ceiling: NDArray[np.float64], values: NDArray[np.float64]
) -> pd.DataFrame:
    """Return the two factors of a bound over q."""
    share = np.divide(values, ceiling, out=np.zeros_like(values), where=ceiling > 0)
    return pd.DataFrame(
        {"q": q, "If the output told nothing": ceiling, "Least error": values, "Share left": share}
    )


def free_table(points: Sequence[Builder]) -> pd.DataFrame:
    """Return the terms of Fano's bound over n."""
    return pd.DataFrame(
        [
            {
                "n": at.n,
                "Statistics": at.sampling_bound,
                "Privacy (zCDP)": at.privacy_bound,
                "Bound": at.bound,
                "Pure DP": at.pure_bound,
            }
            for at in points
        ]
    )


def information_table(at: Builder) -> pd.DataFrame:
    """Return what there is to know and what may be known, in nats."""
    return pd.DataFrame(
        {
            "What": ["to know", "in the records", "past the privacy"],
            "Nats": [at.log_size, at.sampling_information, at.privacy_information],
        }
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
