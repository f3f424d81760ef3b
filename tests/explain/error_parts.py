"""The four parts of an error in one call, as the page One run computes them cell by cell."""

from collections.abc import Sequence

from dpsco_core.explain.anatomy import FACTORS, ErrorParts, error_split, gather
from dpsco_core.scenario import Scenario


def error_parts(point: Scenario, trials: int = 5, factors: Sequence[float] = FACTORS) -> ErrorParts:
    """Return the four parts of the error of `sco.clipped` at several factors of its clip radius."""
    splits = [[error_split(point, factor, trial) for factor in factors] for trial in range(trials)]
    return gather(point, factors, splits)
