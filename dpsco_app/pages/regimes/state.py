"""What Regimes' controls and address hold."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from dpsco_app.pages.regimes.charts import CLIPPING
from dpsco_app.parts.controls import Panel
from dpsco_app.parts.fields import DETAILS, GROUPS, single_items
from dpsco_app.parts.options import VIEWS
from dpsco_app.parts.shown_bounds import cards, lower_cards, rates
from dpsco_app.shell.link import BASE as EXPLORE_BASE
from dpsco_app.shell.link import EXPLORE, Address, views_text
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import shorten
from dpsco_core.catalogue import bound
from dpsco_core.explain.regimes import Plane, axis_values
from dpsco_core.scenario import DEFAULT_GRIDS, Scenario

PLANE = "plane"  # the widgets' keys and the address's parameters
TERMS = "terms"
PLANES = {
    "n-epsilon": "n and ε",
    "d-epsilon": "d and ε",
    "n-p": "n and p",
}
ENDS = {"n": (100, 1_000_000), "d": (1, 1000), "epsilon": (0.01, 10), "p": (2, 20)}
COLUMNS, ROWS = 36, 30
FIRST = "first"  # see `first_terms`

BASE = Scenario(
    problem="quadratic",
    methods=("sco.cwme", "sco.smoothed", "sco.cwme-strong", "sco.clipped", "sco.iterative"),
    p=2.0,
)
ADDRESS = Address(
    name="regimes",
    base=BASE,
    extras={PLANE: "n-epsilon", TERMS: FIRST},
    sampling=False,
    single_items=True,
)
PANEL = Panel(
    name="regimes",
    prefix="regimes_",
    groups=tuple((title, single_items(group)) for title, group in GROUPS if title != "Study"),
    details=tuple(c for c in DETAILS if c.field == "margin"),
)


@lru_cache
def plane(name: str) -> Plane:
    """Return the plane of a name, such as ``"n-epsilon"``."""
    x, y = name.split("-")
    return Plane(
        x_axis=x,
        y_axis=y,
        x=axis_values(x, *ENDS[x], COLUMNS),
        y=axis_values(y, *ENDS[y], ROWS),
    )


def planes_for(scenario: Scenario) -> tuple[str, ...]:
    """Return the planes that can be drawn.

    A zCDP budget has no epsilon, and groups of coordinates do not fill every dimension.
    """
    grouped = scenario.geometry == "group-l1"
    return tuple(
        name
        for name in PLANES
        if (scenario.rho is None or "epsilon" not in name) and not (grouped and "d-" in name)
    )


def bounds_with_terms(scenario: Scenario) -> tuple[str, ...]:
    """Return the bounds whose terms can be shown: the methods' rates, and the lower bounds'.

    Where there are neither, every rate for the problem.
    """
    lower = lower_cards(scenario.problem, scenario.level)
    own = (*rates(scenario), *(c.slug for c in lower if c.constant == "rate"))
    every = cards(scenario.problem, scenario.level)
    return own or tuple(c.slug for c in every if c.constant == "rate" and c.kind == "upper")


def first_terms(slugs: tuple[str, ...]) -> str:
    """Return the bound whose terms are shown first: simple clipping's, if it is there."""
    clipped = (slug for slug in slugs if bound(slug).card.method in CLIPPING)
    return next(clipped, slugs[0])


def known_or_first(name: str, text: str, known: tuple[str, ...], problems: list[str]) -> str:
    """Return `text` if it is known, otherwise the first one, with a sentence."""
    if text in known:
        return text
    problems.append(f"{name} must be one of {', '.join(known)}, got {name}={shorten(text)}.")
    return known[0]


def explore_query(point: Scenario, axis: str) -> dict[str, str]:
    """Return Explore's address at a point, with a sweep along `axis` where that is allowed.

    Raises
    ------
    InvalidInput
        If even the single point is too large for the dashboard.
    """
    start = replace(EXPLORE_BASE, axis=None, grid=())
    single = replace(point, trials=start.trials, axis=None, grid=())
    grid = DEFAULT_GRIDS[axis]
    swept = replace(single, axis=axis, grid=grid)
    try:
        chosen = swept.validate(DASHBOARD)
    except InvalidInput:  # too large at an end of the grid: the single point is enough
        chosen = single.validate(DASHBOARD)
    return EXPLORE.query(chosen, views_text([VIEWS[0], VIEWS[1]]))
