"""Expected errors of methods without privacy on two-point data, in place of measured ones."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from dpsco_core.methods.euclidean import Erm
from dpsco_core.methods.mean import SampleMean
from dpsco_core.results.measured import Measurement, Table
from dpsco_core.scenario import Scenario

# Expected errors by method and value on the axis; None stands for an unknown one.
Exact = Mapping[tuple[str, float | None], float | None]

PUBLIC = (SampleMean.card.slug, Erm.card.slug)


def expected_error(point: Scenario, method: str) -> float | None:
    r"""Return the exact expected error of a method at a point; None if no formula gives it.

    On two-point data, B of the n records are a spike of length L and the rest are 0. The average
    has the direction of the mean and the length BL/n, which decides the error of the sample mean
    and, on the l2 ball, of the risk minimiser for linear losses and squared distances.

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
    n, q = point.n * point.m, law.spike_probability  # Methods without privacy pool all items.
    # The number B of spikes is almost surely within this range.
    middle, half_range = n * q, 60 + 12 * math.sqrt(n * q * (1 - q))
    counts = np.arange(max(0, int(middle - half_range)), min(n, int(middle + half_range)) + 1)
    logs = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    logs += xlogy(counts, q) + xlog1py(n - counts, -q)
    errors = problem.errors_along_the_mean(counts / n * problem.law.mean_norm / q)
    return None if errors is None else float(np.exp(logs) @ errors)


def with_exact_errors(table: Table, scenario: Scenario) -> Table:
    """Return the measurements with expected errors, where known, for methods without privacy.

    On two-point data a few records decide the error, so the average of ten trials says little
    about it. Prices of privacy are then relative to the expected error. The sample mean of records
    without a variance has no standard error.
    """
    points = dict(scenario.points())
    measured_keys = [
        key for key, row in table.items() if key[0] in PUBLIC and row.trials and key[1] in points
    ]
    expected = {(m, x): expected_error(points[x], m) for m, x in measured_keys}
    return {
        key: _without_standard_error(_with_exact(row, expected), points.get(key[1]))
        for key, row in table.items()
    }


def _without_standard_error(row: Measurement, point: Scenario | None) -> Measurement:
    """Return a measurement, with a standard error of NaN if its error has no finite variance.

    The error of the sample mean has the tail index of the records. If that is at most 2, averages
    over trials have no standard error (theory/infinite-variance.md, 1).
    """
    if row.method != SampleMean.card.slug or row.exact or point is None:
        return row
    if point.geometry != "l2" or point.instance.law.tail_index > 2:
        return row
    return replace(row, standard_error=math.nan)


def _with_exact(row: Measurement, expected: Exact) -> Measurement:
    """Return a measurement with exact expected errors in place of averages, where known.

    A method without privacy gets its expected error as its mean; a private one gets a price that is
    relative to the expected error of its reference.
    """
    expected_mean = expected.get((row.method, row.x))
    if expected_mean is not None:
        return replace(row, mean=expected_mean, standard_error=0.0, exact=True)
    reference_error = None if row.price is None else expected.get((row.price.reference, row.x))
    if row.price is None or reference_error is None or not reference_error > 0:
        return row
    value, width = row.mean / reference_error, row.half / row.mean if row.trials > 1 else math.nan
    low, high = value * math.exp(-width), value * math.exp(width)
    return replace(row, price=replace(row.price, value=value, low=low, high=high))
