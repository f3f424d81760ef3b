"""The units of a target error, and its size relative to the spread of the data."""

import math

import numpy as np

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import one_of
from dpsco_core.explain.recipe.setting import standard_deviation
from dpsco_core.scenario import Scenario

PER_COORDINATE = "sd-per-coordinate"
ERROR_UNITS = ("moment", "sd", PER_COORDINATE)


def error_in_units(point: Scenario, error: float, unit: str) -> float:
    """Return an error in the unit of the tool; `unit` is one of `ERROR_UNITS`.

    With ``"sd-per-coordinate"`` the error is that of each coordinate, and the l2 error is the root
    of the dimension times as large.

    Raises `InvalidInput` for another unit, and for standard deviations of what has none.

    Examples
    --------
    >>> round(error_in_units(Scenario(), 0.1, "sd"), 4)  # a standard deviation is 0.6254
    0.0625
    """
    one_of("error-unit", unit, ERROR_UNITS)
    if unit == "moment":
        return error
    if point.problem != "mean":
        raise InvalidInput(f"error-unit must be moment for a risk, got error-unit={unit}.")
    spread = standard_deviation(point)
    if math.isinf(spread):
        raise InvalidInput(f"error-unit must be moment without a variance, got error-unit={unit}.")
    return error * spread * (math.sqrt(point.d) if unit == PER_COORDINATE else 1.0)


def error_in_words(point: Scenario, error: float) -> str:
    """Return the kind of error in words, with its size relative to the data's spread.

    Examples
    --------
    >>> print(error_in_words(Scenario(), 0.1).partition(": ")[2])
    0.16 standard deviations of a coordinate, or 0.0358 in each of 20 coordinates.
    """
    instance = point.instance
    if point.problem != "mean":
        start = instance.problem.excess_risk(np.zeros(point.d)).value
        share = "" if start <= 0 else f", {error / start:.3g} of that"
        return (
            f"An error of {error:.3g} is an excess population risk in the unit of the loss: "
            f"the answer 0, which sees no data, has {start:.3g}{share}."
        )
    order = f"{instance.law.moment_order:g}"
    words = (
        f"An error of {error:.3g} is an l2 distance from the mean, where the moment "
        f"(E|x - mean|^{order})^(1/{order}) of a coordinate is at most "
        f"{instance.law.moment_root:.4g}"
    )
    spread = standard_deviation(point)
    if math.isinf(spread):
        return f"{words}: a coordinate has no variance."
    ratio = error / spread
    part = f", or {ratio / math.sqrt(point.d):.3g} in each of {point.d:,} coordinates"
    deviations = f"{ratio:.3g} standard deviations of a coordinate"
    return f"{words}: {deviations}{part if point.d > 1 else ''}."
