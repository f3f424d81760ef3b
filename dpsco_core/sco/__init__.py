"""Optimisers at item level."""

from dpsco_core.sco.base import Optimiser
from dpsco_core.sco.clipped import ClippedDescent
from dpsco_core.sco.cwme import CoordinatewiseDescent
from dpsco_core.sco.cwme_strong import StrongCoordinatewiseDescent
from dpsco_core.sco.erm import Erm
from dpsco_core.sco.iterative import IterativeDescent
from dpsco_core.sco.noisy_gd import NoisyGradientDescent
from dpsco_core.sco.objective_perturbation import ObjectivePerturbation, ObjectivePerturbationStrong
from dpsco_core.sco.phased_sgd import PhasedSgd
from dpsco_core.sco.private_sgd import PrivateSgd
from dpsco_core.sco.sgd import Sgd
from dpsco_core.sco.smoothed import SmoothedDescent

__all__ = [
    "ClippedDescent",
    "CoordinatewiseDescent",
    "Erm",
    "IterativeDescent",
    "NoisyGradientDescent",
    "ObjectivePerturbation",
    "ObjectivePerturbationStrong",
    "Optimiser",
    "PhasedSgd",
    "PrivateSgd",
    "Sgd",
    "SmoothedDescent",
    "StrongCoordinatewiseDescent",
]
