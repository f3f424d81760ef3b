"""Which term of a bound dominates over a plane of two parameters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of
from dpsco_core.base.search import smallest_index
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import bound
from dpsco_core.fields import AXES, is_whole
from dpsco_core.problems import Setting
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, eq=False, kw_only=True)
class Plane:
    """Two axes of a scenario and values on them."""

    # two different axes, each one of n, d, epsilon and p
    x_axis: str
    y_axis: str
    # the values on the x axis, shape (columns,): increasing, and integers for n and d
    x: Vector
    y: Vector

    def __post_init__(self) -> None:
        """Refuse an unknown axis, and two equal axes."""
        for name in ("x_axis", "y_axis"):
            axis = getattr(self, name)
            one_of(name, axis, tuple(AXES))
        require(self.x_axis != self.y_axis, "y_axis", "another than x_axis", self.y_axis)


@dataclass(frozen=True, eq=False, kw_only=True)
class Regimes:
    """Values of some bounds over a plane."""

    plane: Plane
    bounds: tuple[Bound, ...]
    values: Vector  # the values of the bounds, shape (bounds, rows, columns)
    terms: tuple[str, ...]  # the names of the terms of the first bound
    # the index of the largest of these terms, shape (rows, columns); -1 where the bound is infinite
    dominant: NDArray[np.intp]
    # whether all hypotheses of a bound hold, shape (bounds, rows, columns)
    holds: NDArray[np.bool_]


def axis_values(
    axis: str, low: float, high: float, count: int, included: float = math.nan
) -> Vector:
    """Return at most `count` increasing values from `low` to `high`, evenly on a log scale.

    If `included` is between the ends, it replaces the value nearest to it.
    """
    values = np.geomspace(low, high, count)
    if low <= included <= high:
        values[smallest_index(np.abs(np.log(values / included)))] = included
    return np.unique(values.round()) if is_whole(axis) else values


def regimes(scenario: Scenario, plane: Plane, slugs: Sequence[str]) -> Regimes:
    """Evaluate the bounds `slugs` over `plane`; the terms are those of the first.

    All other fields are those of `scenario`, without its own axis.
    """
    require(len(slugs) > 0, "bounds", "at least one", "none")
    chosen = tuple(bound(s) for s in slugs)
    base = replace(scenario, axis=None, grid=())
    shape = (len(plane.y), len(plane.x))
    values = np.empty((len(chosen), *shape))
    holds = np.empty((len(chosen), *shape), dtype=bool)
    dominant = np.empty(shape, dtype=np.intp)
    names: tuple[str, ...] = ()
    settings: dict[tuple[float, float], Setting] = {}
    for i, y in enumerate(plane.y):
        for j, x in enumerate(plane.x):
            setting = setting_at(base, {plane.y_axis: y, plane.x_axis: x}, settings)
            for k, index in enumerate(chosen):
                terms = index.terms(setting)
                sizes = tuple(terms.values())
                value = values[k, i, j] = float(index.combine(sizes))
                holds[k, i, j] = not index.failures(setting)
                if k == 0:
                    names = tuple(terms)
                    dominant[i, j] = sizes.index(max(sizes)) if math.isfinite(value) else -1
    return Regimes(
        plane=plane, bounds=chosen, values=values, terms=names, dominant=dominant, holds=holds
    )


def setting_at(
    base: Scenario, changes: dict[str, float], settings: dict[tuple[float, float], Setting]
) -> Setting:
    """Return the setting at the point `base` with `changes`.

    `settings` keeps the settings of earlier calls by (d, p), because certified constants depend on
    nothing else here.
    """
    point = with_changes(base, changes)
    key = (point.d, point.p)
    if key not in settings:
        setting = point.setting
        if setting.spike_probability is not None:  # A hard instance depends on n and the budget.
            return replace(setting, spike_probability=None)
        settings[key] = setting
    return replace(settings[key], n=point.n, budget=point.budget)


def with_changes(point: Scenario, changes: Mapping[str, float]) -> Scenario:
    """Return a scenario with other values of some fields; integer fields take the whole part."""
    typed: dict[str, Any] = {
        name: int(value) if is_whole(name) else float(value) for name, value in changes.items()
    }
    return replace(point, **typed)
