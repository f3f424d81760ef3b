"""Which user-level method has the smallest bound, or the smallest measured risk, over (n, m)."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import BOUNDS, bound, method_card
from dpsco_core.explain.contest import TRIALS, Contest, Reading
from dpsco_core.explain.regimes import Plane
from dpsco_core.explain.users.crossing import LAW, OFFSET
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems import Setting
from dpsco_core.runs.study import Cell, canonical
from dpsco_core.scenario import Scenario

Loss = Literal["smooth", "any", "strong"]
LOSSES: tuple[Loss, ...] = ("smooth", "any", "strong")

GROUP, CLIPPED = "user.group-privacy", "user.clipped-means"
GROUPS, FILTERED = "user.phased-sgd", "user.accelerated"
STRONG, NON_SMOOTH = "user.accelerated-strong", "user.accelerated-nonsmooth"
# Clipped means have the rate of group privacy, so both are one region of the map of rates.
RATES: dict[Loss, tuple[str, ...]] = {
    "smooth": (GROUP, GROUPS, FILTERED),
    "any": (NON_SMOOTH,),
    "strong": (GROUP, GROUPS, FILTERED, STRONG),
}
BOUNDED = (GROUP, CLIPPED, GROUPS, FILTERED)
MEASURED = (CLIPPED, GROUPS, FILTERED)  # Group privacy is left out, because a run takes n m steps.
LARGEST_STRONG = 2.0  # the largest ratio mu R/L of an L-Lipschitz loss on a set of diameter R
# the numbers of users, from 100 to 10^7
RATE_USERS = tuple(round(10 ** (k / 3)) for k in range(6, 22))
RATE_ITEMS = tuple(round(10 ** (k / 3)) for k in range(19))  # the numbers of items, from 1 to 10^6
PROVEN_USERS = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
PROVEN_ITEMS = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
MEASURED_USERS = (1000, 3000, 10_000, 30_000)
# the numbers of items in measured maps, none of which requires all items to be drawn
MEASURED_ITEMS = (1, 10, 1000, 10_000, 100_000, 1_000_000)


@lru_cache(maxsize=1)
def _base_setting() -> Setting:
    """Return the one setting whose sizes and constants `unit_setting` replaces."""
    return Scenario(
        problem="quadratic", distribution="gaussian", methods=(GROUP,), d=2, n=100
    ).setting


def unit_setting(
    n: int, m: int, d: int, epsilon: float, delta: float, condition: float, loss: Loss
) -> Setting:
    r"""Return a setting in units of L and R: Lipschitz constant 1 and diameter 1.

    `condition` is :math:`\beta R/L`; for strongly convex losses :math:`\mu=\beta`, at most 2 as
    :math:`\mu R\le2L`.
    """
    one_of("loss", loss, tuple(LOSSES))
    require(condition > 0, "condition", "positive", condition)
    strong = min(condition, LARGEST_STRONG) if loss == "strong" else 0.0
    smooth = {"smooth": condition, "any": math.inf, "strong": strong}[loss]
    constants = replace(
        _base_setting().constants,
        lipschitz=1.0,
        diameter=1.0,
        smoothness=smooth,
        sample_smoothness=smooth,
        strong_convexity=strong,
        sample_strong_convexity=strong,
        # A linear loss is Lipschitz on the whole space, a quadratic one is not.
        structure="linear" if loss == "any" else "mean",
    )
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    return replace(_base_setting(), n=n, m=m, d=d, budget=budget, constants=constants)


def bound_of(method: str, basis: Reading) -> Bound:
    """Return the bound that represents a method: its rate, or its proven bound."""
    if basis == "rates":
        return bound(method_card(method).rate)
    return next(b for b in BOUNDS if b.card.method == method and b.card.constant == "explicit")


def bounds_map(
    basis: Reading, loss: Loss, d: int, epsilon: float, delta: float, condition: float
) -> Iterator[Contest]:
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
            for k, index in enumerate(chosen):
                values[k, i, j] = index.value(setting)
                holds[k, i, j] = not index.failures(setting)
            if basis == "proven":
                yield _make_map(methods, users, items, values, holds)
    yield _make_map(methods, users, items, values, holds)


def _make_map(
    methods: tuple[str, ...],
    users: tuple[int, ...],
    items: tuple[int, ...],
    values: NDArray[np.float64],
    holds: NDArray[np.bool_],
) -> Contest:
    """Return the contest of methods over users and items, without ties.

    `values` and `holds` have the shape (methods, users, items), and are copied.
    """
    ties = np.zeros(values.shape[1:], dtype=bool)
    plane = user_plane(users, items)
    return Contest(
        plane=plane, methods=methods, values=values.copy(), holds=holds.copy(), ties=ties
    )


def user_plane(users: tuple[int, ...], items: tuple[int, ...]) -> Plane:
    """Return the plane of users n over items per user m."""
    return Plane(x_axis="m", y_axis="n", x=np.array(items, float), y=np.array(users, float))


def measured_through(n: int, m: int) -> Plane:
    """Return the plane of the measured map, with a row and a column of the chosen point."""
    users, items = {*MEASURED_USERS, n}, {*MEASURED_ITEMS, m}
    return user_plane(tuple(sorted(users)), tuple(sorted(items)))


def measured_cells(
    n: int, m: int, d: int, p: float, epsilon: float, delta: float, seed: int
) -> tuple[Cell, ...]:
    """Return the runs of one point of the measured map: the squared distance to Gaussian data."""
    point = Scenario(
        problem="quadratic",
        distribution=LAW,
        offset=OFFSET,
        methods=MEASURED,
        n=n,
        d=d,
        m=m,
        p=p,
        epsilon=epsilon,
        delta=delta,
        trials=TRIALS,
        seed=seed,
    ).validate()
    return tuple(
        Cell(point=canonical(point), method=method, x=None, trial=trial)
        for trial in range(TRIALS)
        for method in MEASURED
    )
