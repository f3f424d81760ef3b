"""Mean estimators, private and not."""

from dpsco_core.mean.base import MeanEstimator, Release
from dpsco_core.mean.clipped import SimpleClipping
from dpsco_core.mean.coordinatewise import CoordinatewiseCDP, CoordinatewisePure
from dpsco_core.mean.iterative import IterativeUpdating
from dpsco_core.mean.median_of_means import MedianOfMeans
from dpsco_core.mean.sample_mean import SampleMean
from dpsco_core.mean.smoothed import NoiseSmoothing

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
