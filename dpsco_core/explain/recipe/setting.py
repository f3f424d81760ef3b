"""The setting that a recipe is for, and its units, in the words of the pages and of `dpsco`."""

import math
from typing import Any

from dpsco_core.catalogue import distribution_card, problem_card
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.problems.posed import OptimisationProblem
from dpsco_core.scenario import Scenario


def setting_in_words(point: Scenario) -> str:
    """Return the setting of a recipe in one line: sizes, budget, moments, set, data.

    Examples
    --------
    >>> setting_in_words(Scenario())
    'n = 10,000, d = 20, (1, 1e-06)-DP, p = 3, geometry l2, diameter 4, Student t'
    """
    people = "" if point.m == 1 else f", m = {point.m:,} items per user"
    place = Geometry(kind=point.geometry, q=point.q)
    loss = f"{problem_card(point.problem).name}: " * (point.problem != "mean")
    return (
        f"{loss}n = {point.n:,}{people}, d = {point.d:,}, {point.budget}, p = {point.p:g}, "
        f"geometry {place}, diameter {point.diameter:g}, "
        f"{distribution_card(point.distribution).name}"
    )


def standard_deviation(point: Scenario) -> float:
    """Return the widest coordinate's standard deviation in the tool's units; may be infinite."""
    return math.sqrt(point.instance.law.moment(2.0))


def unit_in_words(point: Scenario) -> str:
    """Return the unit of a point in words, and how to convert a radius into a reader's unit.

    Examples
    --------
    >>> print(unit_in_words(Scenario()).partition(". ")[0])
    A coordinate has standard deviation 0.6254, and (E|x - mean|^3)^(1/3) is at most 1
    """
    law, spread = point.instance.law, standard_deviation(point)
    order, root = f"{law.moment_order:g}", f"{law.moment_root:.4g}"
    moment = f"(E|x - mean|^{order})^(1/{order})"
    subject = "The widest coordinate" if point.decay > 0 else "A coordinate"
    over_root = "your bound on that moment" + f" over {root}" * (root != "1")
    if math.isfinite(spread):
        size = f"standard deviation {spread:.4g}"
        factor = f"a standard deviation of yours over {spread:.4g}, or by {over_root}"
    else:
        size, factor = "no variance", over_root
    return f"{subject} has {size}, and {moment} is at most {root}. {_convert_radius(point, factor)}"


def _convert_radius(point: Scenario, factor: str) -> str:
    """Return in words how a radius is converted into the reader's unit."""
    problem = point.instance.problem
    if not isinstance(problem, OptimisationProblem):
        return f"For a radius in your unit multiply by {factor}, from public knowledge."
    units = problem.gradient_units
    if not units:
        return "A radius bounds a gradient, which has no unit: it is the same in yours."
    extra_units = "".join(f", and by the unit of your {unit}" for unit in units[1:])
    return (
        f"A radius bounds a gradient, in the unit of the {' times that of the '.join(units)}: for "
        f"yours multiply by {factor}{extra_units}; all from public knowledge."
    )


def unit_fields(point: Scenario) -> dict[str, Any]:
    """Return the units of a point's constants as a dictionary for JSON."""
    law, spread = point.instance.law, standard_deviation(point)
    return {
        "moment_order": law.moment_order,
        "moment_root": law.moment_root,
        "standard_deviation": spread if math.isfinite(spread) else None,
    }
