"""The numbers of the page Users as tables."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from dpsco_app.pages.users.words import NEED_NAMES, ROW_NAMES
from dpsco_core.bounds.user.complexity import Curve
from dpsco_core.catalogue import method_card
from dpsco_core.explain.users.crossing import Errors
from dpsco_core.explain.users.frontier import EPSILONS, NEEDS


def law_table(curves: Sequence[Errors]) -> pd.DataFrame:
    """Return the measured errors, a method and an m a row."""
    parts = [
        pd.DataFrame(
            {
                "Method": method_card(c.method).name,
                "m": c.items.astype(int),
                "Mean excess risk": c.mean,
                "Standard error": c.standard_error,
                "RMS distance": c.distance,
                "Trials": c.risks.shape[1],
            }
        )
        for c in curves
    ]
    return pd.concat(parts, ignore_index=True)


def frontier_table(needs: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    columns = {
        NEED_NAMES[n.slug]: [v if math.isfinite(v) else None for v in needs[n.slug]] for n in NEEDS
    }
    return pd.DataFrame({"ε": EPSILONS} | columns)


def gradients_table(curves: Sequence[Curve]) -> pd.DataFrame:
    """Return the counts, a row of the comparison and an n a row."""
    parts = [
        pd.DataFrame(
            {
                "Method": ROW_NAMES[c.slug, c.loss],
                "Losses": c.loss,
                "n·m": c.items,
                "Gradients": [g if math.isfinite(g) else None for g in c.gradients],
                "Assumptions hold": c.applies,
            }
        )
        for c in curves
    ]
    return pd.concat(parts, ignore_index=True)
