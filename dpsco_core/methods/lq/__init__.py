"""Optimisers for sets measured in an l_q norm."""

from dpsco_core.methods.base import Method
from dpsco_core.methods.lq.allocated import (
    MirrorDescentAllocated,
    NoisyMirrorDescentAllocated,
)
from dpsco_core.methods.lq.frank_wolfe import FrankWolfe
from dpsco_core.methods.lq.noisy import NoisyMirrorDescent
from dpsco_core.methods.lq.phased import UnconstrainedPhasedSgd
from dpsco_core.methods.lq.regularized import RegularizedMirrorDescent
from dpsco_core.methods.lq.truncated import (
    BatchedMirrorDescent,
    EuclideanReduction,
    ShuffledMirrorDescent,
)

# The order of methods in lists and figures; a new method is added at the end.
LQ_OPTIMISERS: tuple[type[Method], ...] = (
    RegularizedMirrorDescent,
    UnconstrainedPhasedSgd,
    ShuffledMirrorDescent,
    BatchedMirrorDescent,
    EuclideanReduction,
    NoisyMirrorDescent,
    FrankWolfe,
    MirrorDescentAllocated,
    NoisyMirrorDescentAllocated,
)

__all__ = [
    "LQ_OPTIMISERS",
    "BatchedMirrorDescent",
    "EuclideanReduction",
    "FrankWolfe",
    "MirrorDescentAllocated",
    "NoisyMirrorDescent",
    "NoisyMirrorDescentAllocated",
    "RegularizedMirrorDescent",
    "ShuffledMirrorDescent",
    "UnconstrainedPhasedSgd",
]
