"""The price of privacy: the ratio of a private error to a non-private one on the same data.

Tails and laws are compared by their prices. The p-th moment is scaled to 1, so that the variance,
and with it every error, falls as p grows: a comparison of raw errors at two tails would compare the
laws rather than the costs of privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from dpsco_core.catalogue import DEFAULT_METHODS, method_card

if TYPE_CHECKING:  # Importing pandas takes a third of a second.
    import pandas as pd

Errors = Mapping[int, float]  # the errors of one method by the number of the trial
BETTER = 0.95  # Below this ratio an error is clearly better than another.


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A ratio of two mean errors over the same trials, with its 95 % interval."""

    value: float
    low: float  # the lower end of the interval; NaN if there is only one trial
    high: float  # the upper end of the interval; NaN if there is only one trial
    reference: str = ""  # the method in the denominator

    @property
    def within_noise(self) -> bool:
        """Whether the interval contains 1."""
        return self.low <= 1 <= self.high


def is_no_better(error: float, blind_error: float) -> bool:
    """Whether an error is no better than that of an answer without data, unless that is 0.

    Examples
    --------
    >>> is_no_better(0.96, 1.0), is_no_better(0.9, 1.0), is_no_better(0.9, 0.0)
    (True, False, False)
    """
    return 0 < BETTER * blind_error <= error


def reference_method(methods: Iterable[str]) -> str:
    """Return the slug of the method without privacy that prices are relative to; or "".

    It is a scenario's default one if that is among `methods`, otherwise the first by name.

    Examples
    --------
    >>> reference_method(("mean.median-of-means", "mean.clipped", "mean.sample"))
    'mean.sample'
    """
    public = (m for m in methods if method_card(m).privacy == "none")
    return next(iter(sorted(public, key=lambda m: (m not in DEFAULT_METHODS, m))), "")


def paired_ratio(errors: Errors, reference: Errors) -> Ratio | None:
    """Return the ratio of two mean errors over their common trials; None if there are none.

    The interval is Student's for the logarithm, by the delta method on the paired trials, so that
    the common effect of a trial's data cancels. The ratio is infinite if only the reference error
    is 0, and None if both are.
    """
    pairs = np.array([(errors[t], reference[t]) for t in sorted(errors.keys() & reference.keys())])
    pairs = pairs[~np.isnan(pairs).any(axis=1)] if len(pairs) else pairs
    means = pairs.mean(axis=0) if len(pairs) else np.zeros(2)
    if not means[0] > 0:
        return None
    if means[1] == 0:
        return Ratio(value=math.inf, low=math.inf, high=math.inf)
    value, width = float(means[0] / means[1]), math.nan
    if len(pairs) > 1:
        relative = pairs[:, 0] / means[0] - pairs[:, 1] / means[1]
        error = float(np.std(relative, ddof=1)) / math.sqrt(len(pairs))
        width = float(stdtrit(len(pairs) - 1, 0.975)) * error
    return Ratio(value=value, low=value * math.exp(-width), high=value * math.exp(width))


def prices(errors: Mapping[str, Errors], reference: str | None = None) -> dict[str, Ratio]:
    """Return the price of privacy of every private method, from its errors at one point.

    A method that did not run has no price, and without a reference no method has one. Each price
    names its denominator: `reference`, or the `reference_method` of the given methods.
    """
    denominator = reference_method(errors) if reference is None else reference
    if denominator not in errors:
        return {}
    private = (m for m in errors if method_card(m).privacy != "none")
    ratios = ((m, paired_ratio(errors[m], errors[denominator])) for m in private)
    return {m: replace(one, reference=denominator) for m, one in ratios if one is not None}


def errors_by_method(cells: pd.DataFrame) -> dict[str, dict[int, float]]:
    """Return the errors in a `frame` at one point, by method and then by trial."""
    groups = cells.groupby("method", sort=False)
    return {str(m): dict(zip(g["trial"], g["error"], strict=True)) for m, g in groups}


def ratio(cells: pd.DataFrame, method: str, reference: str, x: float | None) -> Ratio | None:
    """Return the `paired_ratio` of two methods at a point; None without two paired trials."""
    errors = errors_by_method(cells if x is None else cells[cells["x"] == x])
    if not {method, reference} <= errors.keys():
        return None
    price = paired_ratio(errors[method], errors[reference])
    return None if price is None or math.isnan(price.low) else price
