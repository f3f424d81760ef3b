"""The numbers of the page Privacy as tables."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpsco_app.pages.privacy.words import (
    CONVERSION_NAMES,
    NEIGHBOUR_NAMES,
    ROUTE_NAMES,
    accounting_names,
    percent,
)
from dpsco_app.parts.options import number_text
from dpsco_core.audit.engine import Found
from dpsco_core.explain.budgets import (
    BudgetCurves,
    Composed,
    Conversion,
    Promise,
    Shuffled,
    noise_multiplier,
)
from dpsco_core.explain.ledgers import Spending


def conversions_table(found: Sequence[Conversion], pure: bool) -> pd.DataFrame:
    """Return what each conversion makes of a budget; without noise for a pure one."""
    table = pd.DataFrame(
        {
            "Conversion": [CONVERSION_NAMES[c.name] for c in found],
            "ρ": [c.rho for c in found],
            "ε": [c.epsilon for c in found],
            "Noise over sensitivity": [c.noise_multiplier for c in found],
        }
    )
    return table.drop(columns="Noise over sensitivity") if pure else table


def promises_table(found: Sequence[Promise]) -> pd.DataFrame:
    """Return what the same noise promises for both kinds of neighbours."""
    return pd.DataFrame(
        {
            "Neighbours": [NEIGHBOUR_NAMES[p.neighbours] for p in found],
            "ε": [f"{p.epsilon:.4g}" for p in found],
            "δ": [number_text(p.delta) for p in found],
            "A guess is right at most": [percent(p.guess) for p in found],
        }
    )


def curves_table(curves: BudgetCurves) -> pd.DataFrame:
    """Return epsilon over rho by the three conversions."""
    return pd.DataFrame(
        {
            "ρ": curves.rho,
            "Noise over sensitivity": [noise_multiplier(float(r)) for r in curves.rho],
            **{f"ε, {CONVERSION_NAMES[n]}": getattr(curves, n) for n in CONVERSION_NAMES},
        }
    )


def composed_table(rows: Sequence[Composed], *, pure: bool = False) -> pd.DataFrame:
    """Return epsilon over the number of releases by the four accountings."""
    names = accounting_names(pure=pure)
    return pd.DataFrame(
        {"Releases k": [r.releases for r in rows]}
        | {f"ε, {name}": [getattr(r, key) for r in rows] for key, name in names.items()}
    )


def shuffled_table(rows: Sequence[tuple[int, Sequence[Shuffled]]]) -> pd.DataFrame:
    """Return the noise of each record over the number of records, by argument."""
    columns = {
        f"Noise, {name}": [
            next(s.noise_multiplier for s in found if s.name == key) for _, found in rows
        ]
        for key, name in ROUTE_NAMES.items()
    }
    return pd.DataFrame({"Records": [n for n, _ in rows]} | columns)


def ledger_table(rows: Sequence[Spending]) -> pd.DataFrame:
    """Return the entries of a ledger, those that are alike in one row; no column is empty."""
    table = pd.DataFrame(
        {
            "Released": [r.label for r in rows],
            "Times": [r.count for r in rows],
            "Mechanism": [r.mechanism for r in rows],
            "Looks at": [r.records for r in rows],
            "Sensitivity": [r.sensitivity for r in rows],
            "Noise scale": [r.noise for r in rows],
            "Noise over sensitivity": [r.noise / r.sensitivity for r in rows],
            "Coordinates": [r.size for r in rows],
            "Disjoint blocks": [r.disjoint_blocks for r in rows],
            "ρ each": [r.rho or None for r in rows],
            "ε each": [r.epsilon or None for r in rows],
            "δ each": [r.delta or None for r in rows],
            "Share %": [100 * r.share for r in rows],
            "Flawed": ["yes" if r.flawed else "no" for r in rows],
        }
    )
    return table.dropna(axis="columns", how="all")


def audit_table(found: Found) -> pd.DataFrame:
    """Return the looks of an audit."""
    return pd.DataFrame(
        {
            "Runs": [e.runs for e in found.evidence],
            "ε is at least": [e.epsilon_lower_bound for e in found.evidence],
            "Claimed ε": found.claimed_epsilon,
            "δ": found.delta,
            "Tested runs on each": [e.tested for e in found.evidence],
            "Record against": [e.against for e in found.evidence],
            "Hits": [e.hits for e in found.evidence],
            "False hits": [e.false_hits for e in found.evidence],
            "Confidence of this look": [e.confidence for e in found.evidence],
        }
    )


def histogram_table(edges: np.ndarray, one: np.ndarray, two: np.ndarray) -> pd.DataFrame:
    """Return the counts of two samples in bins."""
    return pd.DataFrame(
        {"From": edges[:-1], "To": edges[1:], "Runs on one": one, "Runs on the other": two}
    )


def subsampled_table(curve: tuple[np.ndarray, ...]) -> pd.DataFrame:
    """Return epsilon over the size of a batch, its linear bound, and epsilon of all releases."""
    names = ("Batch", "ε", "Linear bound", "ε of all Gaussian releases")
    return pd.DataFrame(dict(zip(names, (curve[0].astype(int), *curve[1:]), strict=True)))
