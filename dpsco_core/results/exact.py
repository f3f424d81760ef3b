"""What needs no trials: the expected errors without privacy on two-point data."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from dpsco_core.methods.euclidean import Erm
from dpsco_core.methods.mean import SampleMean
from dpsco_core.results.measured import Measurement, Table
from dpsco_core.scenario import Scenario

Exact = Mapping[tuple[str, float | None], float | None]  # expected errors, by method and point

PUBLIC = (SampleMean.card.slug, Erm.card.slug)


def expected_error(point: Scenario, method: str) -> float | None:
    r"""Return the expected error of a method at a point; None where no formula gives it.

    On two-point data B of n records are the spike, of length L, and all others are 0: the average
    has the direction of the mean and the length BL/n, which decides the error of the sample mean
    and, on the l2 ball, that of the risk minimiser for linear losses and squared distances.

    Examples
    --------
    >>> point = Scenario(distribution="hypercube", n=10_000, p=2.0)
    >>> round(expected_error(point, "mean.sample"), 4)
    0.0357
    >>> expected_error(Scenario(n=10_000), "mean.sample") is None
    True
    """
    problem = point.instance.problem
    law = problem.law.two_point
    if method not in PUBLIC or law is None or point.geometry != "l2":
        return None
    n, q = point.n * point.m, law.spike_probability  # without privacy all items are pooled
    middle, reach = n * q, 60 + 12 * math.sqrt(n * q * (1 - q))  # almost surely no further
    counts = np.arange(max(0, int(middle - reach)), min(n, int(middle + reach)) + 1)
    logs = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    logs += xlogy(counts, q) + xlog1py(n - counts, -q)
    errors = problem.errors_along_the_mean(counts / n * problem.law.mean_norm / q)
    return None if errors is None else float(np.exp(logs) @ errors)


def with_exact_errors(table: Table, scenario: Scenario) -> Table:
    """Return measurements in which a method without privacy has its expected error, where known.

    On two-point data a few records decide it, so that ten trials say little of it, nor of the
    prices over it. These are over the expected error then.
    """
    points = dict(scenario.points())
    ran = [at for at, row in table.items() if at[0] in PUBLIC and row.trials and at[1] in points]
    known = {(m, x): expected_error(points[x], m) for m, x in ran}
    return {at: _with_exact(row, known) for at, row in table.items()}


def _with_exact(row: Measurement, known: Exact) -> Measurement:
    """Return a row with the expected error of its method, or its price over that of another."""
    own = known.get((row.method, row.x))
    if own is not None:
        return replace(row, mean=own, standard_error=0.0, exact=True)
    exact = None if row.price is None else known.get((row.price.reference, row.x))
    if row.price is None or exact is None or not exact > 0:
        return row
    value, width = row.mean / exact, row.half / row.mean if row.trials > 1 else math.nan
    low, high = value * math.exp(-width), value * math.exp(width)
    return replace(row, price=replace(row.price, value=value, low=low, high=high))
