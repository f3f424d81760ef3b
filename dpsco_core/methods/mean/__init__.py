"""Mean estimators, private and not."""

from dpsco_core.methods.base import Release
from dpsco_core.methods.mean.adaptive import AdaptiveClipping
from dpsco_core.methods.mean.clipped import SimpleClipping
from dpsco_core.methods.mean.coinpress import CoinPress
from dpsco_core.methods.mean.coordinatewise import CoordinatewiseCDP
from dpsco_core.methods.mean.coordinatewise_pure import CoordinatewisePure
from dpsco_core.methods.mean.instance_optimal import InstanceOptimal
from dpsco_core.methods.mean.iterative import IterativeUpdating
from dpsco_core.methods.mean.median_of_means import MedianOfMeans
from dpsco_core.methods.mean.sample_mean import SampleMean
from dpsco_core.methods.mean.smoothed import NoiseSmoothing

__all__ = [
    "AdaptiveClipping",
    "CoinPress",
    "CoordinatewiseCDP",
    "CoordinatewisePure",
    "InstanceOptimal",
    "IterativeUpdating",
    "MedianOfMeans",
    "NoiseSmoothing",
    "Release",
    "SampleMean",
    "SimpleClipping",
]
