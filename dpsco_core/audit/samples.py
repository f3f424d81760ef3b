"""Histograms of an audit's statistic on two neighbours."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.audit.engine import AuditFindings
from dpsco_core.audit.statistics import statistics

BINS = 60
SHARE_OUTSIDE = 0.002  # the share of runs beyond each end of the window


@dataclass(frozen=True, eq=False, kw_only=True)
class Samples:
    """Counts of the audit's statistic, and the threshold of its event."""

    # Shape (bins + 1,): bin edges about the common mean of both samples, in units of the larger
    # standard deviation.
    edges: NDArray[np.float64]
    # Shape (bins,): counts of runs on the first data set; the end bins include everything beyond.
    counts: NDArray[np.intp]
    neighbour_counts: NDArray[np.intp]  # shape (bins,): counts of runs on the neighbouring data set
    threshold: float  # the threshold of the last look's event, in the units of `edges`
    is_above: bool  # whether the event is that the statistic exceeds the threshold


def samples(result: AuditFindings) -> Samples:
    """Return the histograms of an audit's statistic on the two neighbours."""
    values, neighbour_values = statistics(result.outputs, result.neighbour_outputs)
    centre = float(np.concatenate([values, neighbour_values]).mean())
    unit = max(float(values.std()), float(neighbour_values.std())) or 1.0
    values, neighbour_values = (values - centre) / unit, (neighbour_values - centre) / unit
    pooled = np.concatenate([values, neighbour_values])
    low, high = np.quantile(pooled, [SHARE_OUTSIDE, 1 - SHARE_OUTSIDE])
    if not low < high:
        low, high = low - 1, high + 1
    edges = np.linspace(low, high, BINS + 1)
    histograms = [np.histogram(np.clip(x, low, high), edges)[0] for x in (values, neighbour_values)]
    last_look = result.evidence[-1]
    return Samples(
        edges=edges,
        counts=histograms[0],
        neighbour_counts=histograms[1],
        threshold=(last_look.threshold - centre) / unit,
        is_above=last_look.is_above,
    )
