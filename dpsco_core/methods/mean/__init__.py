"""Mean estimators, private and not."""

from dpsco_core.methods.mean.base import MeanEstimator, Release
from dpsco_core.methods.mean.clipped import SimpleClipping
from dpsco_core.methods.mean.coordinatewise import CoordinatewiseCDP, CoordinatewisePure
from dpsco_core.methods.mean.iterative import IterativeUpdating
from dpsco_core.methods.mean.median_of_means import MedianOfMeans
from dpsco_core.methods.mean.sample_mean import SampleMean
from dpsco_core.methods.mean.smoothed import NoiseSmoothing

__all__ = [
    "CoordinatewiseCDP",
    "CoordinatewisePure",
    "IterativeUpdating",
    "MeanEstimator",
    "MedianOfMeans",
    "NoiseSmoothing",
    "Release",
    "SampleMean",
    "SimpleClipping",
]
