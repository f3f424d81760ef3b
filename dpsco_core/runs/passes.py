"""How methods read their records: what may be drawn as it is read, and summed elsewhere."""

from __future__ import annotations

from dpsco_core.methods.euclidean import (
    ClippedDescent,
    CoordinatewiseDescent,
    IterativeDescent,
    NoisyGradientDescent,
    Optimiser,
    PhasedSgd,
    Sgd,
    SmoothedDescent,
    StrongCoordinatewiseDescent,
)
from dpsco_core.methods.lq import UnconstrainedPhasedSgd
from dpsco_core.methods.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    MeanEstimator,
    MedianOfMeans,
    NoiseSmoothing,
    SampleMean,
    SimpleClipping,
)

# They ask for sums over the records alone: pieces of them can be summed elsewhere.
SUMMED: tuple[type[MeanEstimator] | type[Optimiser], ...] = (
    SampleMean,
    MedianOfMeans,
    SimpleClipping,
    CoordinatewiseCDP,
    CoordinatewisePure,
    NoiseSmoothing,
    NoisyGradientDescent,
    CoordinatewiseDescent,
    SmoothedDescent,
    StrongCoordinatewiseDescent,
    ClippedDescent,
)
# They hold the secret group of every record, 4 bytes each.
GROUPED: tuple[type[MeanEstimator] | type[Optimiser], ...] = (IterativeUpdating, IterativeDescent)
# They read the records in their order at every pass: these may be drawn as they are read.
IN_ORDER: tuple[type[MeanEstimator] | type[Optimiser], ...] = (
    *SUMMED,
    *GROUPED,
    Sgd,
    PhasedSgd,
    UnconstrainedPhasedSgd,
)
GROUPED_SLUGS = frozenset(method.card.slug for method in GROUPED)
IN_ORDER_SLUGS = frozenset(method.card.slug for method in IN_ORDER)
SUMMED_SLUGS = frozenset(method.card.slug for method in SUMMED)
