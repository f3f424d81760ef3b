"""The numbers of the pages One run and Who wins as tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsco_app.pages.one_run.charts import PART_NAMES, RiskLine, norm_bins
from dpsco_app.parts.options import SYMBOL
from dpsco_core.catalogue import method_card
from dpsco_core.explain.anatomy import PARTS, ErrorParts
from dpsco_core.explain.regimes import Regimes


def path_table(lines: Sequence[RiskLine]) -> pd.DataFrame:
    """Return the excess risk along each run, a run and a step a row; the answer comes last."""
    parts = []
    for line in lines:
        steps, risks = line.path.steps, line.path.risks
        last = int(steps[-1])
        parts.append(
            pd.DataFrame(
                {
                    "Run": line.name,
                    "Steps done": [*steps.tolist(), last],
                    "Excess risk": [*risks.tolist(), line.path.final],
                    "Of": ["the iterate"] * len(steps) + ["the answer"],
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def norms_table(norms: NDArray[np.float64], radius: float) -> pd.DataFrame:
    """Return the histogram of the gradients' lengths, a bar a row; zeros are a row of their own."""
    edges, counts = norm_bins(norms, radius)
    zeros = int((norms == 0).sum())
    share = 100 / max(len(norms), 1)
    return pd.DataFrame(
        {
            "Norm from": [0.0, *edges[:-1]],
            "To": [0.0, *edges[1:]],
            "Records": [zeros, *counts.tolist()],
            "% of the records": [share * zeros, *(share * counts)],
        }
    )


def parts_table(parts: ErrorParts) -> pd.DataFrame:
    """Return the parts of the error, a clip radius a row."""
    columns = {"Clip radius": parts.radii}
    columns |= {PART_NAMES[name].capitalize(): getattr(parts, name) for name in PARTS}
    return pd.DataFrame(columns | {"Whole error": parts.total})


def _places(found: Regimes) -> dict[str, NDArray[np.float64]]:
    x, y = np.meshgrid(found.plane.x, found.plane.y)
    return {SYMBOL[found.plane.x_axis]: x.ravel(), SYMBOL[found.plane.y_axis]: y.ravel()}


def smallest_table(found: Regimes) -> pd.DataFrame:
    """Return every rate over the map, a point a row, and whose is smallest."""
    names = [method_card(b.card.method).name for b in found.bounds]
    columns: dict[str, object] = dict(_places(found))
    columns["Smallest"] = [names[i] if i >= 0 else "none" for i in found.smallest.ravel()]
    for k, name in enumerate(names):
        values = found.values[k].ravel()
        columns[name] = np.where(np.isfinite(values), values, np.nan)
        columns[f"{name}, holds"] = found.holds[k].ravel()
    return pd.DataFrame(columns)


def terms_table(found: Regimes) -> pd.DataFrame:
    """Return the value of the first bound over the map, a point a row, and its largest term."""
    columns: dict[str, object] = dict(_places(found))
    columns["Largest term"] = [found.terms[i] if i >= 0 else "none" for i in found.dominant.ravel()]
    values = found.values[0].ravel()
    columns[found.bounds[0].card.name] = np.where(np.isfinite(values), values, np.nan)
    columns["Conditions hold"] = found.holds[0].ravel()
    return pd.DataFrame(columns)
