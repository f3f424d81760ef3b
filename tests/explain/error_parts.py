"""The four parts of an error at once, as the page One run gathers them cell by cell."""

from collections.abc import Sequence

from dpsco_core.explain.anatomy import FACTORS, ErrorParts, error_split, gather
from dpsco_core.scenario import Scenario


def error_parts(point: Scenario, trials: int = 5, factors: Sequence[float] = FACTORS) -> ErrorParts:
    """Return the four parts of the error of `sco.clipped` as its clip radius moves."""
    splits = [[error_split(point, factor, trial) for factor in factors] for trial in range(trials)]
    return gather(point, factors, splits)
