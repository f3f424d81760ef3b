"""Which user-level method has the smallest bound, or the smallest measured risk, over (n, m)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest_index
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import BOUNDS, bound, method_card
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems import Setting
from dpsco_core.runs.study import Cell, canonical
from dpsco_core.scenario import Scenario

Loss = Literal["smooth", "any", "strong"]
Basis = Literal["rates", "proven", "measured"]
LOSSES: tuple[Loss, ...] = ("smooth", "any", "strong")
BASES: tuple[Basis, ...] = ("rates", "proven", "measured")

GROUP, CLIPPED = "user.group-privacy", "user.clipped-means"
GROUPS, FILTERED = "user.phased-sgd", "user.accelerated"
STRONG, NON_SMOOTH = "user.accelerated-strong", "user.accelerated-nonsmooth"
# Clipped means have the rate of group privacy: the two are one region of the map of rates.
RATES: dict[Loss, tuple[str, ...]] = {
    "smooth": (GROUP, GROUPS, FILTERED),
    "any": (NON_SMOOTH,),
    "strong": (GROUP, GROUPS, FILTERED, STRONG),
}
BOUNDED = (GROUP, CLIPPED, GROUPS, FILTERED)
LARGEST_STRONG = 2.0  # mu R/L of an L-Lipschitz loss on a set of diameter R
RATE_USERS = tuple(round(10 ** (k / 3)) for k in range(6, 22))  # 100 to 10^7
RATE_ITEMS = tuple(round(10 ** (k / 3)) for k in range(19))  # 1 to 10^6
PROVEN_USERS = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
PROVEN_ITEMS = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
MEASURED_USERS = (1000, 3000, 10_000, 30_000)
MEASURED_ITEMS = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, eq=False, kw_only=True)
class UserMap:
    """Values of some methods over users and items per user.

    Parameters
    ----------
    methods : tuple of str
    users, items : tuple of int
        n and m, increasing.
    values : array of shape (methods, users, items)
        Bound or measured risk; infinite where there is none, NaN where not known yet.
    holds : array of shape (methods, users, items)
        Whether every condition holds, or the method runs.
    """

    methods: tuple[str, ...]
    users: tuple[int, ...]
    items: tuple[int, ...]
    values: NDArray[np.float64]
    holds: NDArray[np.bool_]

    @property
    def smallest(self) -> NDArray[np.intp]:
        """Which method is best of those that hold, shape (users, items); -1 where none does."""
        return smallest_index(np.where(self.holds, self.values, np.inf))


@lru_cache(maxsize=1)
def _base() -> Setting:
    return Scenario(
        problem="quadratic", distribution="gaussian", methods=(GROUP,), d=2, n=100
    ).setting


def unit_setting(
    n: int, m: int, d: int, epsilon: float, delta: float, condition: float, loss: Loss
) -> Setting:
    r"""Return a setting in units of L and R: Lipschitz constant 1 and diameter 1.

    Parameters
    ----------
    n, m, d : int
    epsilon, delta : float
    condition : float
        :math:`\beta R/L`; for strongly convex losses :math:`\mu=\beta`, at most 2 as
        :math:`\mu R\le2L`.
    loss : {"smooth", "any", "strong"}
    """
    require(loss in LOSSES, "loss", f"one of {', '.join(LOSSES)}", loss)
    require(condition > 0, "condition", "positive", condition)
    strong = min(condition, LARGEST_STRONG) if loss == "strong" else 0.0
    smooth = {"smooth": condition, "any": math.inf, "strong": strong}[loss]
    constants = replace(
        _base().constants,
        lipschitz=1.0,
        diameter=1.0,
        smoothness=smooth,
        sample_smoothness=smooth,
        strong_convexity=strong,
        sample_strong_convexity=strong,
        structure="linear" if loss == "any" else "mean",  # Lipschitz on the whole space, or not
    )
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    return replace(_base(), n=n, m=m, d=d, budget=budget, constants=constants)


def bound_of(method: str, basis: Basis) -> Bound:
    """Return the bound that stands for a method: its rate, or its proven one."""
    if basis == "rates":
        return bound(method_card(method).rate)
    return next(b for b in BOUNDS if b.card.method == method and b.card.constant == "explicit")


def bounds_map(
    basis: Basis, loss: Loss, d: int, epsilon: float, delta: float, condition: float
) -> Iterator[UserMap]:
    """Yield the map of bounds row by row of n; rows that are not known yet are NaN.

    Proven bounds exist for smooth losses, and take about a third of a second a point: they are
    kept by `dpsco_core.bounds`.
    """
    require(basis in ("rates", "proven"), "basis", "rates or proven", basis)
    methods = RATES[loss] if basis == "rates" else BOUNDED
    users = RATE_USERS if basis == "rates" else PROVEN_USERS
    items = RATE_ITEMS if basis == "rates" else PROVEN_ITEMS
    chosen = [bound_of(method, basis) for method in methods]
    shape = (len(methods), len(users), len(items))
    values, holds = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    for i, n in enumerate(users):
        for j, m in enumerate(items):
            setting = unit_setting(n, m, d, epsilon, delta, condition, loss)
            for k, which in enumerate(chosen):
                values[k, i, j] = which.value(setting)
                holds[k, i, j] = not which.failures(setting)
            if basis == "proven":
                yield _map(methods, users, items, values, holds)
    yield _map(methods, users, items, values, holds)


def _map(
    methods: tuple[str, ...],
    users: tuple[int, ...],
    items: tuple[int, ...],
    values: NDArray[np.float64],
    holds: NDArray[np.bool_],
) -> UserMap:
    return UserMap(
        methods=methods, users=users, items=items, values=values.copy(), holds=holds.copy()
    )


def measured_cells(
    d: int, epsilon: float, delta: float, trials: int, seed: int
) -> tuple[Cell, ...]:
    """Return the cells of the measured map: the squared distance to hypercube data."""
    found = []
    for n in MEASURED_USERS:
        for m in MEASURED_ITEMS:
            point = Scenario(
                problem="quadratic",
                distribution="hypercube",
                methods=BOUNDED,
                n=n,
                d=d,
                m=m,
                epsilon=epsilon,
                delta=delta,
                trials=trials,
                seed=seed,
            ).validate()
            for method in BOUNDED:
                found += [
                    Cell(point=canonical(point), method=method, x=None, trial=t)
                    for t in range(trials)
                ]
    return tuple(found)


def measured_map(cells: Sequence[Cell], errors: Sequence[float]) -> UserMap:
    """Return the map of mean measured risks of the first cells, in their order.

    Parameters
    ----------
    cells : sequence of Cell
        From `measured_cells`.
    errors : sequence of float
        Of the cells that have run, NaN where the method does not apply.
    """
    shape = (len(BOUNDED), len(MEASURED_USERS), len(MEASURED_ITEMS))
    total, count = np.zeros(shape), np.zeros(shape)
    for cell, error in zip(cells, errors, strict=False):
        at = (
            BOUNDED.index(cell.method),
            MEASURED_USERS.index(cell.point.n),
            MEASURED_ITEMS.index(cell.point.m),
        )
        total[at] += error
        count[at] += 1
    values = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return _map(BOUNDED, MEASURED_USERS, MEASURED_ITEMS, values, np.isfinite(values))
