"""What needs no trials: the expected error of the sample mean on two-point data."""

import math
from dataclasses import replace

from dpsco_core.methods.mean import SampleMean
from dpsco_core.problems import MeanEstimation
from dpsco_core.results.measured import Measurement, Table
from dpsco_core.results.price import Ratio
from dpsco_core.runs.study import own_setting
from dpsco_core.scenario import Scenario

SLUG = SampleMean.card.slug


def expected_error(point: Scenario) -> float | None:
    """Return the expected error of the sample mean at a point; None where no formula gives it.

    Examples
    --------
    >>> point = Scenario(distribution="hypercube", n=10_000, p=2.0)
    >>> round(expected_error(point), 4), expected_error(Scenario(n=10_000))
    (0.0357, None)
    """
    problem = point.instance.problem
    if not isinstance(problem, MeanEstimation) or problem.distribution.two_point is None:
        return None
    return problem.distribution.two_point.mean_error(own_setting(point, SLUG).n)


def with_exact_errors(table: Table, scenario: Scenario) -> Table:
    """Return measurements in which the sample mean has its expected error, where that is known.

    On two-point data a few records decide its error, so that ten trials say little of it, nor of
    the prices over it. These are over the expected error then.
    """
    known = {x: expected_error(p) for x, p in scenario.points() if (SLUG, x) in table}
    return {
        (method, x): row if (exact := known.get(x)) is None else _over(row, exact)
        for (method, x), row in table.items()
    }


def _over(row: Measurement, exact: float) -> Measurement:
    if row.method == SLUG:
        return replace(row, mean=exact, standard_error=0.0)
    if row.price is None or not exact > 0:
        return row
    value, width = row.mean / exact, row.half / row.mean
    price = Ratio(value=value, low=value * math.exp(-width), high=value * math.exp(width))
    return replace(row, price=price)
