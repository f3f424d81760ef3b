"""What the maps of Who wins show at the chosen point, in words."""

from __future__ import annotations

import numpy as np

from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.regimes import Regimes
from dpsco_core.scenario import Scenario


def cell(found: Regimes, point: Scenario) -> tuple[int, int]:
    """Return row and column of the map's cell that is nearest to the point, on log scales."""
    plane = found.plane
    x, y = float(getattr(point, plane.x_axis)), float(getattr(point, plane.y_axis))
    row = int(np.abs(np.log(plane.y / y)).argmin())
    return row, int(np.abs(np.log(plane.x / x)).argmin())


def where(found: Regimes, point: Scenario) -> str:
    """Return the point in words."""
    axes = (found.plane.x_axis, found.plane.y_axis)
    return ", ".join(f"{SYMBOL[a]} = {number_text(getattr(point, a))}" for a in axes)


def smallest_title(found: Regimes, point: Scenario) -> str:
    """Return whose rate is smallest at the point, and in how much of the map."""
    row, column = cell(found, point)
    best = int(found.smallest[row, column])
    if best < 0:
        return f"No rate of the chosen methods applies at {where(found, point)}"
    name = method_card(found.bounds[best].card.method).name
    share = float((found.smallest == best).mean())
    return f"{name}: smallest rate at {where(found, point)}, and in {100 * share:.0f} % of the map"


def terms_title(found: Regimes, point: Scenario) -> str:
    """Return which term is largest at the point, and in how much of the map."""
    row, column = cell(found, point)
    largest = int(found.dominant[row, column])
    if largest < 0:
        return f"The bound does not apply at {where(found, point)}"
    share = float((found.dominant == largest).mean())
    name = found.terms[largest]
    return f"The term “{name}” is largest at the point, and in {100 * share:.0f} % of the map"
