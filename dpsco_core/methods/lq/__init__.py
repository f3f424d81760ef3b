"""Optimisers for sets measured in an l_q norm."""

from dpsco_core.methods.lq.frank_wolfe import FrankWolfe
from dpsco_core.methods.lq.noisy import NoisyMirrorDescent
from dpsco_core.methods.lq.phased import UnconstrainedPhasedSgd
from dpsco_core.methods.lq.regularized import RegularizedMirrorDescent
from dpsco_core.methods.lq.truncated import (
    BatchedMirrorDescent,
    EuclideanReduction,
    ShuffledMirrorDescent,
)

__all__ = [
    "BatchedMirrorDescent",
    "EuclideanReduction",
    "FrankWolfe",
    "NoisyMirrorDescent",
    "RegularizedMirrorDescent",
    "ShuffledMirrorDescent",
    "UnconstrainedPhasedSgd",
]
