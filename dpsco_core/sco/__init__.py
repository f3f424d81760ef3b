"""Optimisers at item level."""

from dpsco_core.sco.base import Optimiser
from dpsco_core.sco.clipped import ClippedDescent
from dpsco_core.sco.cwme import CoordinatewiseDescent
from dpsco_core.sco.cwme_strong import StrongCoordinatewiseDescent
from dpsco_core.sco.erm import Erm
from dpsco_core.sco.iterative import IterativeDescent
from dpsco_core.sco.lp_batched import BatchedMirrorDescent
from dpsco_core.sco.lp_noisy import NoisyMirrorDescent
from dpsco_core.sco.lp_phased import UnconstrainedPhasedSgd
from dpsco_core.sco.lp_reduction import EuclideanReduction
from dpsco_core.sco.lp_regularized import RegularizedMirrorDescent
from dpsco_core.sco.lp_shuffled import ShuffledMirrorDescent
from dpsco_core.sco.noisy_gd import NoisyGradientDescent
from dpsco_core.sco.objective_perturbation import ObjectivePerturbation, ObjectivePerturbationStrong
from dpsco_core.sco.phased_sgd import PhasedSgd
from dpsco_core.sco.private_sgd import PrivateSgd
from dpsco_core.sco.sgd import Sgd
from dpsco_core.sco.smoothed import SmoothedDescent

__all__ = [
    "BatchedMirrorDescent",
    "ClippedDescent",
    "CoordinatewiseDescent",
    "Erm",
    "EuclideanReduction",
    "IterativeDescent",
    "NoisyGradientDescent",
    "NoisyMirrorDescent",
    "ObjectivePerturbation",
    "ObjectivePerturbationStrong",
    "Optimiser",
    "PhasedSgd",
    "PrivateSgd",
    "RegularizedMirrorDescent",
    "Sgd",
    "ShuffledMirrorDescent",
    "SmoothedDescent",
    "StrongCoordinatewiseDescent",
    "UnconstrainedPhasedSgd",
]
