"""A bound of one's own, as a formula of the scenario's letters, over the points of a study."""

import math
from collections.abc import Callable, Collection

from dpsco_core.base.errors import require
from dpsco_core.base.formula import Formula
from dpsco_core.bounds.euclidean.objective import width
from dpsco_core.privacy.budget import gaussian_allowance
from dpsco_core.problems.base import Constants, Setting
from dpsco_core.scenario import Scenario

# What a formula may also be made of: certified constants and sizes of the scenario's problem.
OF_SETTING: dict[str, Callable[[Setting], float]] = {
    "q": lambda setting: setting.exponent,
    "L": lambda setting: setting.constants.lipschitz,
    "kappa": lambda setting: _condition(setting.constants),
    "width": width,
}


def letters_of(point: Scenario, names: Collection[str] = tuple(OF_SETTING)) -> dict[str, float]:
    """Return the value of every letter of a formula at a point; NaN where it has none.

    rho is the budget of Gaussian noise: that of zCDP, or what epsilon and delta leave to it; D the
    diameter of the set in its norm, and `width` its Gaussian width (of sparse vectors the proven
    upper bound; NaN of a mean, which may lie anywhere); q the exponent of the norm; L the Lipschitz
    constant of every record's loss; kappa the condition number of the population risk, its
    smoothness over its strong convexity. The last four take a setting, and are found if they are
    among `names`.
    """
    known = {"n": point.n, "d": point.d, "m": point.m, "p": point.p, "epsilon": point.epsilon}
    known |= {"delta": point.delta, "rho": gaussian_allowance(point.budget) or None}
    known |= {"D": point.diameter}
    wanted = {name: read for name, read in OF_SETTING.items() if name in names}
    if wanted:
        setting = point.setting
        known |= {name: read(setting) for name, read in wanted.items()}
    if point.q is not None:
        known["q"] = point.q
    return {
        name: float(value) if value is not None and math.isfinite(value) else math.nan
        for name, value in known.items()
    }


def _condition(constants: Constants) -> float:
    curvature = constants.strong_convexity
    return constants.smoothness / curvature if curvature > 0 else math.inf


def own_line(scenario: Scenario, formula: Formula) -> tuple[tuple[float, float], ...]:
    """Return (x, value) wherever the formula is positive and finite over the scenario's axis.

    Examples
    --------
    >>> from dpsco_core.base.formula import parse_formula
    >>> study = Scenario(axis="n", grid=(100, 400))
    >>> own_line(study, parse_formula("1/sqrt(n)"))
    ((100, 0.1), (400, 0.05))
    """
    values = [
        (x, formula.value(letters_of(point, formula.letters))) for x, point in scenario.points()
    ]
    return tuple((x, v) for x, v in values if x is not None and 0 < v < math.inf)


def check_drawable(scenario: Scenario, formula: Formula) -> None:
    """Raise `InvalidInput` if no point of the scenario gives the formula a place on a log axis."""
    if scenario.axis is not None:
        known = letters_of(scenario, formula.letters)
        lacking = [name for name in formula.letters if math.isnan(known[name])]
        where = f"made of what this scenario has, which is not {', '.join(lacking)}"
        require(not lacking or scenario.axis in lacking, "formula", where, formula.text)
        must = "positive and finite somewhere on the axis"
        require(bool(own_line(scenario, formula)), "formula", must, formula.text)
