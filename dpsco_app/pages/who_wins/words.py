"""What the maps of Who wins show: sentences at the chosen point, and tables."""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsco_app.pages.who_wins.charts import LEAST_SHARE as FEW
from dpsco_app.pages.who_wins.charts import value_text
from dpsco_app.parts.options import SYMBOL, number_text, separated
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import TRIALS, Contest, Reading
from dpsco_core.explain.regimes import Plane, Regimes
from dpsco_core.scenario import Scenario

READING_NAMES: dict[Reading, str] = {
    "rates": "Rates that hold",
    "proven": "Proven bounds",
    "measured": "Measured",
}
SMALLEST: dict[Reading, str] = {
    "rates": "smallest rate that holds",
    "proven": "smallest proven bound",
    "measured": "smallest measured error",
}
ABOUT: dict[Reading, str] = {
    "rates": "The smallest **rate** among the theorems whose conditions all hold, with every "
    "constant set to 1: it compares growth, and near a border another method may be better.",
    "proven": "The smallest **upper bound on the mean error with every constant proven**, among "
    "those whose conditions all hold. Each holds for a class of distributions that these data are "
    "in, so that all of them bound the error on these data.",
    "measured": f"The smallest **mean error of {TRIALS} runs** of every method on the same data. "
    "Hatched: a tie, the 95 % interval of the paired differences holds 0.",
}


def nearest_cell(plane: Plane, point: object) -> tuple[int, int]:
    """Return row and column of the map's cell that is nearest to the point, on log scales."""
    x, y = float(getattr(point, plane.x_axis)), float(getattr(point, plane.y_axis))
    return int(np.abs(np.log(plane.y / y)).argmin()), int(np.abs(np.log(plane.x / x)).argmin())


def where(plane: Plane, point: object) -> str:
    axes = (plane.x_axis, plane.y_axis)
    return ", ".join(f"{SYMBOL[a]} = {number_text(getattr(point, a))}" for a in axes)


def winner_title(found: Contest, point: object, reading: Reading) -> str:
    """Return which method is best at the point, and on how much of the map."""
    row, column = nearest_cell(found.plane, point)
    best, here = int(found.smallest[row, column]), where(found.plane, point)
    if not found.known[row, column]:
        return f"Measuring, from {here} outwards"
    if best < 0:
        what = "No method runs" if reading == "measured" else "No theorem of the methods holds"
        return f"{what} at {here}"
    name = method_card(found.methods[best]).name
    share = f"on {100 * found.share(best):.0f} % of the map"
    if found.ties[row, column]:
        return f"{name} is tied for the {SMALLEST[reading]} at {here}, and leads {share}"
    return f"{name}: {SMALLEST[reading]} at {here}, and {share}"


def point_sentence(found: Contest, point: object, reading: Reading, start: float = math.inf) -> str:
    """Return what every method has in the cell of the point; `start` is the error without data."""
    row, column = nearest_cell(found.plane, point)
    parts = [
        f"{method_card(m).name} **{value_text(found.values[k, row, column], holds)}**"
        for k, m in enumerate(found.methods)
        for holds in [bool(found.holds[k, row, column])]
    ]
    said = f"At {where(found.plane, point)}: {separated(parts)}."
    best = np.where(found.holds[:, row, column], found.values[:, row, column], np.inf).min()
    if reading != "rates" and start <= best < math.inf:
        said += f" An answer that ignores the data is no worse: **{start:.2g}**."
    return said


def rest_sentence(found: Contest) -> str:
    """Name the methods that are best in too few cells to be named on the map, or in none."""
    shares = {m: found.share(k) for k, m in enumerate(found.methods)}
    few = [f"{method_card(m).name} on {100 * s:.0f} %" for m, s in shares.items() if 0 < s < FEW]
    none = [method_card(m).name for k, m in enumerate(found.methods) if not found.holds[k].any()]
    said = f" Also: {separated(few)} of the map." if few else ""
    return said + f" No cell of this map meets the conditions of {separated(none)}." * bool(none)


def terms_title(found: Regimes, point: Scenario) -> str:
    """Return which term is largest at the point, and in how much of the map."""
    row, column = nearest_cell(found.plane, point)
    largest = int(found.dominant[row, column])
    if largest < 0:
        return f"The bound does not apply at {where(found.plane, point)}"
    share = float((found.dominant == largest).mean())
    name = found.terms[largest]
    return f"The term “{name}” is largest at the point, and in {100 * share:.0f} % of the map"


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
