"""Budgets, the ledger, the mechanisms and amplification."""

from dpsco_core.privacy.amplification import (
    ShuffleAmplification,
    amplify,
    clones_delta,
    clones_epsilon,
)
from dpsco_core.privacy.budget import (
    ZCDP,
    ApproxDP,
    Budget,
    PureDP,
    concentrated_rho,
    gaussian_allowance,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_rho,
    pure_epsilon,
    zcdp_epsilon,
    zcdp_rho,
)
from dpsco_core.privacy.choices import ExponentialChoice
from dpsco_core.privacy.composition import compose
from dpsco_core.privacy.correlated import CorrelatedSteps, Encoding
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.filter.noisy_test import NoisyTest, TestedGaussian, TestedSteps
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.selection import choice_epsilon, selection_rho
from dpsco_core.privacy.shuffled_steps import ShuffledSteps, shuffle_steps, shuffled_steps_delta
from dpsco_core.privacy.steps import BudgetExceeded, Steps
from dpsco_core.privacy.subsampling import subsample

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Budget",
    "BudgetExceeded",
    "CorrelatedSteps",
    "Encoding",
    "Entry",
    "ExponentialChoice",
    "Ledger",
    "NoisyTest",
    "PureDP",
    "ShuffleAmplification",
    "ShuffledSteps",
    "Steps",
    "TestedGaussian",
    "TestedSteps",
    "amplify",
    "choice_epsilon",
    "clones_delta",
    "clones_epsilon",
    "compose",
    "concentrated_rho",
    "gaussian_allowance",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_rho",
    "pure_epsilon",
    "selection_rho",
    "shuffle_steps",
    "shuffled_steps_delta",
    "subsample",
    "zcdp_epsilon",
    "zcdp_rho",
]
