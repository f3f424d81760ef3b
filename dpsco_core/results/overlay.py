"""A bound of one's own, as a formula of the scenario's letters, over the points of a study."""

import math

from dpsco_core.base.errors import require
from dpsco_core.base.formula import Formula
from dpsco_core.privacy.budget import gaussian_allowance
from dpsco_core.scenario import Scenario


def letters_of(point: Scenario) -> dict[str, float]:
    """Return the value of every letter of a formula at a point; NaN where it has none.

    rho is the budget of Gaussian noise: that of zCDP, or what epsilon and delta leave to it.
    """
    known = {"n": point.n, "d": point.d, "m": point.m, "p": point.p, "epsilon": point.epsilon}
    known |= {"delta": point.delta, "rho": gaussian_allowance(point.budget) or None}
    return {name: math.nan if value is None else float(value) for name, value in known.items()}


def own_line(scenario: Scenario, formula: Formula) -> tuple[tuple[float, float], ...]:
    """Return (x, value) wherever the formula is positive and finite over the scenario's axis.

    Examples
    --------
    >>> from dpsco_core.base.formula import parse_formula
    >>> study = Scenario(axis="n", grid=(100, 400))
    >>> own_line(study, parse_formula("1/sqrt(n)"))
    ((100, 0.1), (400, 0.05))
    """
    values = [(x, formula.value(letters_of(point))) for x, point in scenario.points()]
    return tuple((x, v) for x, v in values if x is not None and 0 < v < math.inf)


def check_drawable(scenario: Scenario, formula: Formula) -> None:
    """Raise `InvalidInput` if no point of the scenario gives the formula a place on a log axis."""
    if scenario.axis is not None:
        known = letters_of(scenario)
        lacking = [name for name in formula.letters if math.isnan(known[name])]
        where = f"made of what this budget has, which is not {', '.join(lacking)}"
        require(not lacking or scenario.axis in lacking, "formula", where, formula.text)
        must = "positive and finite somewhere on the axis"
        require(bool(own_line(scenario, formula)), "formula", must, formula.text)
