"""What a sweep shows: the cost of a heavy tail, how steep an error falls, whether a rate holds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

from dpsco_core.base.arrays import Vector
from dpsco_core.base.search import smallest_index, smallest_or
from dpsco_core.catalogue import HARD_INSTANCES, bound, method_card
from dpsco_core.results.tables import fit_slope
from dpsco_core.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

HEAVY, LIGHT = 2.0, 8.0  # the tail indices that are compared
LIGHT_FROM = 6.0  # from this tail index on the heavy one is the other one
APART = 0.05  # two slopes of rates that differ by less are one
LEAST_BEND = 0.15  # a difference of slopes that can be seen
FLAT = 0.1  # a slope closer to 0 does not halve anything in reach

Verdict = Literal["consistent", "steeper", "shallower"]


@lru_cache(maxsize=256)
def with_other_tail(scenario: Scenario) -> Scenario | None:
    """Return the study of one private method with a light tail, or a heavy one if its own is light.

    Of the private methods whose published rate falls at another pace there, it is the one with the
    smallest rate at the chosen point. Everything else stays, the seed included: trials are paired.
    None where there is no such method, no axis but p or q, on hard instances, and at user level.
    """
    if scenario.axis in (None, "p", "q", "m") or scenario.level == "user":
        return None
    if scenario.distribution in HARD_INSTANCES:
        return None
    other = replace(scenario, p=HEAVY if scenario.p >= LIGHT_FROM else LIGHT)
    private = [m for m in scenario.methods if method_card(m).privacy != "none"]
    paces = {m: (_pace(scenario, m), _pace(other, m)) for m in private if method_card(m).rate}
    moved = {m: own for m, (own, there) in paces.items() if abs(own[1] - there[1]) > APART}
    best = smallest_or(moved, lambda m: moved[m][0], None)
    return None if best is None else replace(other, methods=(best,))


def _pace(scenario: Scenario, method: str) -> tuple[float, float]:
    """Return the published rate of a method at the chosen point, and its slope in n there."""
    rate = bound(method_card(method).rate)
    point = replace(scenario, axis=None, grid=())
    here, twice = (rate.value(p.setting) for p in (point, replace(point, n=2 * point.n)))
    sound = 0 < here < math.inf and 0 < twice < math.inf
    return (here, math.log2(twice / here)) if sound else (math.inf, math.nan)


def times_to_halve(slope: float) -> float:
    """Return how many times the records halve an error that is a power of n; infinity if flat.

    Examples
    --------
    >>> times_to_halve(-0.5)
    4.0
    """
    return 2 ** (-1 / slope) if slope < -FLAT else math.inf


def method_slope(table: pd.DataFrame, method: str) -> tuple[float, float, float] | None:
    """Return the fitted slope of a method's mean error and its interval; None of under 3 points."""
    x, y = _curve(table, method)
    return fit_slope(x, y) if len(x) >= 3 else None


def _curve(table: pd.DataFrame, method: str) -> tuple[Vector, Vector]:
    """Return the points of a method in a summary where its mean error is positive, and that."""
    good = table[(table["method"] == method) & (table["mean_error"] > 0)].sort_values("x")
    return good["x"].to_numpy(), good["mean_error"].to_numpy()


def verdict(low: float, high: float, predicted: float) -> Verdict | None:
    """Say whether a slope's interval holds the rate's; None if the rate predicts nothing.

    Steeper: the error falls faster than the rate, or rises more slowly, which is then not tight.
    """
    if math.isnan(predicted):
        return None
    if low <= predicted <= high:
        return "consistent"
    return "steeper" if high < predicted else "shallower"


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A ratio of two mean errors over the same trials, with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def within_noise(self) -> bool:
        """Whether the trials do not tell the ratio from 1."""
        return self.low <= 1 <= self.high


def ratio(cells: pd.DataFrame, method: str, reference: str, x: float | None) -> Ratio | None:
    """Return the ratio of two methods' mean errors at a point; None without two paired trials.

    The interval is Student's for the logarithm, by the delta method on the paired trials.
    """
    here = cells if x is None else cells[cells["x"] == x]
    errors = here.pivot_table(index="trial", columns="method", values="error", observed=True)
    if not {method, reference} <= set(errors.columns):
        return None
    pairs = errors[[method, reference]].dropna().to_numpy()
    means = pairs.mean(axis=0) if len(pairs) else np.zeros(2)
    if len(pairs) < 2 or not (means > 0).all():
        return None
    relative = pairs[:, 0] / means[0] - pairs[:, 1] / means[1]
    error = float(np.std(relative, ddof=1)) / math.sqrt(len(pairs))
    width = float(stdtrit(len(pairs) - 1, 0.975)) * error
    value = float(means[0] / means[1])
    return Ratio(value=value, low=value * math.exp(-width), high=value * math.exp(width))


@dataclass(frozen=True, kw_only=True)
class Bend:
    """A curve that is two power laws: its slopes up to a point and from there on."""

    at: float
    before: float
    after: float


def bend(table: pd.DataFrame, method: str) -> Bend | None:
    """Return where the mean errors of a method bend, at the break that fits best; None if nowhere.

    A bend needs three points on both sides, the break among them, slopes that differ by at least
    `LEAST_BEND`, and 95 % intervals of these that have nothing in common.
    """
    x, y = _curve(table, method)
    found: list[Bend] = []
    widths: list[float] = []
    for k in range(2, len(x) - 2):
        before, *first = fit_slope(x[: k + 1], y[: k + 1])
        after, *last = fit_slope(x[k:], y[k:])
        apart = first[1] < last[0] or last[1] < first[0]
        if apart and abs(after - before) >= LEAST_BEND:
            widths.append(max(first[1] - first[0], last[1] - last[0]))
            found.append(Bend(at=float(x[k]), before=before, after=after))
    return found[smallest_index(widths)] if found else None


def changes(table: pd.DataFrame, method: str) -> list[tuple[float, float]]:
    """Return, for every point but the first, it and the factor by which the mean error changes.

    What there is in place of a slope along an axis that the error is no power of.
    """
    x, y = _curve(table, method)
    return list(zip(x[1:].tolist(), (y[1:] / y[:-1]).tolist(), strict=True))
