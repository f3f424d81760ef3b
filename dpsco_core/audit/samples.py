"""What an audit's mechanism let out on two neighbours, in bins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.audit.engine import Found
from dpsco_core.audit.statistics import statistics

BINS = 60
OUTSIDE = 0.002  # share of the runs left out at each end, where the window is


@dataclass(frozen=True, eq=False, kw_only=True)
class Samples:
    """Counts of the audit's statistic, and where its event begins."""

    # shape (bins + 1,): in units of the larger standard deviation of the two samples, about their
    # common mean
    edges: NDArray[np.float64]
    # shape (bins,): runs on the two neighbours; what is further out is in the bins at the ends
    one: NDArray[np.intp]
    two: NDArray[np.intp]
    threshold: float  # the edge of the last look's event, in the same units
    above: bool  # whether the event lies above it


def samples(result: Found) -> Samples:
    """Return the two samples of an audit's statistic in bins."""
    first, second = statistics(result.one, result.two)
    centre = float(np.concatenate([first, second]).mean())
    unit = max(float(first.std()), float(second.std())) or 1.0
    first, second = (first - centre) / unit, (second - centre) / unit
    both = np.concatenate([first, second])
    low, high = np.quantile(both, [OUTSIDE, 1 - OUTSIDE])
    if not low < high:
        low, high = low - 1, high + 1
    edges = np.linspace(low, high, BINS + 1)
    counts = [np.histogram(np.clip(x, low, high), edges)[0] for x in (first, second)]
    last = result.evidence[-1]
    return Samples(
        edges=edges,
        one=counts[0],
        two=counts[1],
        threshold=(last.threshold - centre) / unit,
        above=last.above,
    )
