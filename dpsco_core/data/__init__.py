"""Heavy-tailed distributions with exact moments, the hard instances, and rows in blocks."""

from dpsco_core.data.base import Distribution
from dpsco_core.data.elliptical_t import EllipticalT
from dpsco_core.data.gaussian import Gaussian
from dpsco_core.data.generated import GeneratedRows
from dpsco_core.data.hard import Hypercube, Spike
from dpsco_core.data.hidden import (
    AnyLabels,
    CornerLabels,
    Corners,
    FarPoints,
    OneHot,
    SignBlocks,
)
from dpsco_core.data.log_normal import LogNormal
from dpsco_core.data.pareto import Pareto, SkewedPareto
from dpsco_core.data.rows import DenseRows, Rows
from dpsco_core.data.student_t import StudentT
from dpsco_core.data.tracing import Tracing

DISTRIBUTIONS: tuple[type[Distribution], ...] = (
    StudentT,
    Pareto,
    SkewedPareto,
    LogNormal,
    Gaussian,
    EllipticalT,
    Spike,
    Hypercube,
    Tracing,
    OneHot,
    AnyLabels,
    FarPoints,
    CornerLabels,
    Corners,
    SignBlocks,
)

__all__ = [
    "DISTRIBUTIONS",
    "AnyLabels",
    "CornerLabels",
    "Corners",
    "DenseRows",
    "Distribution",
    "EllipticalT",
    "FarPoints",
    "Gaussian",
    "GeneratedRows",
    "Hypercube",
    "LogNormal",
    "OneHot",
    "Pareto",
    "Rows",
    "SignBlocks",
    "SkewedPareto",
    "Spike",
    "StudentT",
    "Tracing",
]
