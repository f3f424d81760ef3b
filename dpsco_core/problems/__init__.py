"""Problems: what is estimated, with certified constants."""

from dpsco_core.problems.absolute import Absolute
from dpsco_core.problems.base import Constants, ExcessRisk, Setting
from dpsco_core.problems.geometric_median import GeometricMedian
from dpsco_core.problems.hinge import Hinge
from dpsco_core.problems.huber import Huber
from dpsco_core.problems.least_squares import LeastSquares
from dpsco_core.problems.linear import Linear
from dpsco_core.problems.logistic import Logistic
from dpsco_core.problems.mean import MeanEstimation
from dpsco_core.problems.posed import OptimisationProblem, Problem
from dpsco_core.problems.quadratic import Quadratic
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.protocol import Sample

OPTIMISATION_PROBLEMS: tuple[type[OptimisationProblem], ...] = (
    Quadratic,
    Linear,
    LeastSquares,
    Logistic,
    Huber,
    Hinge,
    Absolute,
    GeometricMedian,
)
SCO_PROBLEMS = tuple(problem.card.slug for problem in OPTIMISATION_PROBLEMS)
STRONG_PROBLEMS = tuple(
    problem.card.slug
    for problem in OPTIMISATION_PROBLEMS
    if problem.card.loss_class.strongly_convex
)

__all__ = [
    "OPTIMISATION_PROBLEMS",
    "SCO_PROBLEMS",
    "STRONG_PROBLEMS",
    "Absolute",
    "Constants",
    "ExcessRisk",
    "GeometricMedian",
    "Hinge",
    "Huber",
    "LeastSquares",
    "Linear",
    "LinearSample",
    "Logistic",
    "MeanEstimation",
    "OptimisationProblem",
    "PointSample",
    "Problem",
    "Quadratic",
    "Sample",
    "Setting",
]
