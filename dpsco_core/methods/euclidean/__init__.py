"""Optimisers at item level."""

from dpsco_core.methods.base import Method
from dpsco_core.methods.euclidean.adaptive import AdaptiveDescent
from dpsco_core.methods.euclidean.automatic import AutomaticDescent
from dpsco_core.methods.euclidean.clipped import ClippedDescent
from dpsco_core.methods.euclidean.cwme import CoordinatewiseDescent
from dpsco_core.methods.euclidean.cwme_strong import StrongCoordinatewiseDescent
from dpsco_core.methods.euclidean.erm import Erm
from dpsco_core.methods.euclidean.fresh_batches import FreshBatches
from dpsco_core.methods.euclidean.ftrl import CorrelatedDescent
from dpsco_core.methods.euclidean.iterative import IterativeDescent
from dpsco_core.methods.euclidean.noisy_gd import NoisyGradientDescent
from dpsco_core.methods.euclidean.perturbation.objective import (
    ObjectivePerturbation,
    ObjectivePerturbationStrong,
)
from dpsco_core.methods.euclidean.perturbation.output import OutputPerturbation
from dpsco_core.methods.euclidean.perturbation.pure_objective import PureObjectivePerturbation
from dpsco_core.methods.euclidean.phased_sgd import PhasedSgd
from dpsco_core.methods.euclidean.private_sgd import PrivateSgd
from dpsco_core.methods.euclidean.quantile import QuantileDescent
from dpsco_core.methods.euclidean.sampling.dp_sgd import MinibatchDescent
from dpsco_core.methods.euclidean.sampling.iterative_allocated import IterativeDescentAllocated
from dpsco_core.methods.euclidean.sampling.one_random_step import PrivateSgdAllocated
from dpsco_core.methods.euclidean.sgd import Sgd
from dpsco_core.methods.euclidean.smoothed import SmoothedDescent

# The order of methods in lists and figures; a new method is added at the end.
EUCLIDEAN_OPTIMISERS: tuple[type[Method], ...] = (
    Sgd,
    Erm,
    NoisyGradientDescent,
    PhasedSgd,
    CoordinatewiseDescent,
    SmoothedDescent,
    StrongCoordinatewiseDescent,
    ClippedDescent,
    AdaptiveDescent,
    AutomaticDescent,
    QuantileDescent,
    IterativeDescent,
    PrivateSgd,
    CorrelatedDescent,
    ObjectivePerturbation,
    ObjectivePerturbationStrong,
    OutputPerturbation,
    PureObjectivePerturbation,
    FreshBatches,
    MinibatchDescent,
    PrivateSgdAllocated,
    IterativeDescentAllocated,
)

__all__ = [
    "EUCLIDEAN_OPTIMISERS",
    "AdaptiveDescent",
    "AutomaticDescent",
    "ClippedDescent",
    "CoordinatewiseDescent",
    "CorrelatedDescent",
    "Erm",
    "FreshBatches",
    "IterativeDescent",
    "IterativeDescentAllocated",
    "MinibatchDescent",
    "NoisyGradientDescent",
    "ObjectivePerturbation",
    "ObjectivePerturbationStrong",
    "OutputPerturbation",
    "PhasedSgd",
    "PrivateSgd",
    "PrivateSgdAllocated",
    "PureObjectivePerturbation",
    "QuantileDescent",
    "Sgd",
    "SmoothedDescent",
    "StrongCoordinatewiseDescent",
]
