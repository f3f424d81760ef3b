"""A visitor's own bound, a formula in the scenario's letters, evaluated along a study's axis."""

import math
from collections.abc import Callable, Collection

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.base.formula import Formula
from dpsco_core.bounds.euclidean.objective import width
from dpsco_core.privacy.budget import gaussian_allowance
from dpsco_core.problems.base import Constants, Setting
from dpsco_core.results.slopes import range_of_terms
from dpsco_core.scenario import Scenario

# These functions read a formula's symbols off a setting if they are not fields of a scenario.
OF_SETTING: dict[str, Callable[[Setting], float]] = {
    "q": lambda setting: setting.exponent,
    "L": lambda setting: setting.constants.lipschitz,
    "kappa": lambda setting: _condition(setting.constants),
    "width": width,
    "G_2": lambda setting: setting.constants.lipschitz_second,
    "G_p": lambda setting: setting.constants.lipschitz_moment,
    "M": lambda setting: setting.constants.directional_moment,
}


def letters_of(point: Scenario, names: Collection[str] = tuple(OF_SETTING)) -> dict[str, float]:
    """Return the values, at a point, of the symbols that a visitor's formula may use.

    A symbol that has no value there is NaN. rho is the budget of Gaussian noise, for (epsilon,
    delta) the one that they allow; D is the diameter of the set in its norm, and `width` its
    Gaussian width (the proven upper bound for sparse vectors; NaN for a mean, which is
    unconstrained); q is the exponent of the norm; L the Lipschitz constant of every record's loss;
    kappa the condition number of the population risk, its smoothness over its strong convexity; G_2
    and G_p are the roots of the moments of a record's Lipschitz constant of order 2 and p; M is the
    root of the p-th raw moment of a gradient in its worst direction. Symbols in `OF_SETTING` need
    the setting of the point, and are only computed if they are among `names`.
    """
    values = {"n": point.n, "d": point.d, "m": point.m, "p": point.p, "epsilon": point.epsilon}
    values |= {"delta": point.delta, "rho": gaussian_allowance(point.budget) or None}
    values |= {"D": point.diameter}
    reads = {name: read for name, read in OF_SETTING.items() if name in names}
    if reads:
        setting = point.setting
        values |= {name: read(setting) for name, read in reads.items()}
    if point.q is not None:
        values["q"] = point.q
    return {
        name: float(value) if value is not None and math.isfinite(value) else math.nan
        for name, value in values.items()
    }


def letters_at(setting: Setting, names: Collection[str]) -> dict[str, float]:
    """Return the values of the symbols `names` at a setting; NaN for one without a value.

    The symbols are those of `letters_of`, which reads them off a point. D is the diameter of the
    public set in its norm; for a mean this set is the l2 ball that contains it.
    """
    budget = setting.budget
    values: dict[str, float | None] = {name: getattr(setting, name) for name in ("n", "d", "m")}
    values |= {"p": setting.moment_order, "rho": setting.gaussian_rho or None}
    values |= {name: getattr(budget, name, None) for name in ("epsilon", "delta")}
    if "D" in names:
        values["D"] = _diameter(setting)
    values |= {name: read(setting) for name, read in OF_SETTING.items() if name in names}
    return {
        name: float(value) if value is not None and math.isfinite(value) else math.nan
        for name in names
        for value in (values.get(name),)
    }


def _diameter(setting: Setting) -> float:
    """Return the diameter of the public set in its own norm."""
    constants = setting.constants
    if setting.constraint is None and math.isinf(constants.diameter):
        # A mean has no constraint set; its norm is known to be at most R.
        return 2 * constants.mean_gradient_bound
    return setting.body.diameter_in(setting.exponent)


def _condition(constants: Constants) -> float:
    """Return the condition number of the risk; infinite without strong convexity."""
    curvature = constants.strong_convexity
    return constants.smoothness / curvature if curvature > 0 else math.inf


def own_line(scenario: Scenario, formula: Formula) -> tuple[tuple[float, float], ...]:
    """Return the points (x, value) of a formula's curve along a scenario's axis.

    Values that are not positive and finite are left out.

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


def own_range(scenario: Scenario, formula: Formula) -> tuple[float, float]:
    """Return the least and the largest log-log slope that a formula allows along an axis.

    They are the ends of `dpsco_core.results.slopes.range_of_terms` for the formula's summands, each
    with an unknown positive factor. Both are NaN if a summand is not positive and finite, or if
    there is only one point.

    Examples
    --------
    >>> from dpsco_core.base.formula import parse_formula
    >>> study = Scenario(axis="n", grid=(100, 400))
    >>> [round(end, 6) for end in own_range(study, parse_formula("1/sqrt(n) + d/n"))]
    [-1.0, -0.5]
    """
    points = [(x, letters_of(point, formula.letters)) for x, point in scenario.points() if x]
    if len(points) < 2:
        return math.nan, math.nan
    terms = [[term(letters) for _, letters in points] for term in formula.terms.values()]
    return range_of_terms(np.array(terms), np.array([x for x, _ in points]))


def check_drawable(scenario: Scenario, formula: Formula) -> None:
    """Raise `InvalidInput` if a formula has no positive value at any point of a study's axis."""
    if scenario.axis is not None:
        values = letters_of(scenario, formula.letters)
        lacking = [name for name in formula.letters if math.isnan(values[name])]
        made_of = f"made of what this scenario has, which is not {', '.join(lacking)}"
        require(not lacking or scenario.axis in lacking, "formula", made_of, formula.text)
        condition = "positive and finite somewhere on the axis"
        require(bool(own_line(scenario, formula)), "formula", condition, formula.text)
