"""The numbers of the maps of Who wins as tables."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsco_app.parts.options import SYMBOL
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import Contest
from dpsco_core.explain.regimes import Plane, Regimes


def _places(plane: Plane) -> dict[str, NDArray[np.float64]]:
    x, y = np.meshgrid(plane.x, plane.y)
    return {SYMBOL[plane.x_axis]: x.ravel(), SYMBOL[plane.y_axis]: y.ravel()}


def winners_table(found: Contest) -> pd.DataFrame:
    """Return every method's value over the map, a point a row, and which is best."""
    names = [method_card(m).name for m in found.methods]
    columns: dict[str, object] = dict(_places(found.plane))
    columns["Best"] = [names[i] if i >= 0 else "none" for i in found.smallest.ravel()]
    columns["Tied"] = found.ties.ravel()
    for k, name in enumerate(names):
        values = found.values[k].ravel()
        columns[name] = np.where(np.isfinite(values), values, np.nan)
        columns[f"{name}, holds"] = found.holds[k].ravel()
    return pd.DataFrame(columns)


def terms_table(found: Regimes) -> pd.DataFrame:
    """Return the value of the first bound over the map, a point a row, and its largest term."""
    columns: dict[str, object] = dict(_places(found.plane))
    columns["Largest term"] = [found.terms[i] if i >= 0 else "none" for i in found.dominant.ravel()]
    values = found.values[0].ravel()
    columns[found.bounds[0].card.name] = np.where(np.isfinite(values), values, np.nan)
    columns["Conditions hold"] = found.holds[0].ravel()
    return pd.DataFrame(columns)
