"""Mean estimators, private and not."""

from dpsco_core.methods.base import Method, Release
from dpsco_core.methods.mean.adaptive import AdaptiveClipping
from dpsco_core.methods.mean.clipped import SimpleClipping
from dpsco_core.methods.mean.coinpress import CoinPress
from dpsco_core.methods.mean.coordinatewise import CoordinatewiseCDP, CoordinatewisePure
from dpsco_core.methods.mean.instance_optimal import InstanceOptimal
from dpsco_core.methods.mean.iterative import IterativeUpdating
from dpsco_core.methods.mean.iterative_allocated import IterativeUpdatingAllocated
from dpsco_core.methods.mean.not_private import MedianOfMeans, SampleMean
from dpsco_core.methods.mean.plan import RescaledClipping
from dpsco_core.methods.mean.smoothed import NoiseSmoothing

# The order of methods in lists and figures; a new method is added at the end.
ESTIMATORS: tuple[type[Method], ...] = (
    SampleMean,
    MedianOfMeans,
    SimpleClipping,
    IterativeUpdating,
    CoordinatewiseCDP,
    CoordinatewisePure,
    NoiseSmoothing,
    AdaptiveClipping,
    InstanceOptimal,
    CoinPress,
    RescaledClipping,
    IterativeUpdatingAllocated,
)

__all__ = [
    "ESTIMATORS",
    "AdaptiveClipping",
    "CoinPress",
    "CoordinatewiseCDP",
    "CoordinatewisePure",
    "InstanceOptimal",
    "IterativeUpdating",
    "IterativeUpdatingAllocated",
    "MedianOfMeans",
    "NoiseSmoothing",
    "Release",
    "RescaledClipping",
    "SampleMean",
    "SimpleClipping",
]
