"""Mechanisms: what each release costs, and how its noise is drawn; plain values, a kind a file.

A `Ledger` writes down what one costs before it lets it draw. All draws are those of `noise`.
"""

from dpsco_core.privacy.mechanisms.base import Mechanism, Sequence
from dpsco_core.privacy.mechanisms.correlated import CorrelatedSteps, Encoding
from dpsco_core.privacy.mechanisms.exponential import Exponential, PrivateChoice
from dpsco_core.privacy.mechanisms.gaussian import (
    AllocatedGaussian,
    AllocatedGaussianSteps,
    GaussianNoise,
    GaussianSteps,
    PoissonGaussianSteps,
    ShuffledGaussian,
    ShuffledGaussianSteps,
)
from dpsco_core.privacy.mechanisms.laplace import LaplaceNoise, SphericalLaplaceNoise
from dpsco_core.privacy.mechanisms.noise import (
    gaussian_noise_std,
    laplace_noise_scale,
    objective_noise_std,
    spherical_laplace_reach,
)
from dpsco_core.privacy.mechanisms.objective import ObjectiveGaussian, ObjectiveLaplace
from dpsco_core.privacy.mechanisms.shaped import Shaped, ShapedSteps
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded, Steps
from dpsco_core.privacy.mechanisms.tested import (
    NoisyTest,
    TestedGaussian,
    TestedReleases,
    TestedSteps,
)

__all__ = [
    "AllocatedGaussian",
    "AllocatedGaussianSteps",
    "BudgetExceeded",
    "CorrelatedSteps",
    "Encoding",
    "Exponential",
    "GaussianNoise",
    "GaussianSteps",
    "LaplaceNoise",
    "Mechanism",
    "NoisyTest",
    "ObjectiveGaussian",
    "ObjectiveLaplace",
    "PoissonGaussianSteps",
    "PrivateChoice",
    "Sequence",
    "Shaped",
    "ShapedSteps",
    "ShuffledGaussian",
    "ShuffledGaussianSteps",
    "SphericalLaplaceNoise",
    "Steps",
    "TestedGaussian",
    "TestedReleases",
    "TestedSteps",
    "gaussian_noise_std",
    "laplace_noise_scale",
    "objective_noise_std",
    "spherical_laplace_reach",
]
