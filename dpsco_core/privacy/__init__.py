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
from dpsco_core.privacy.composition import Entry, compose
from dpsco_core.privacy.ledger import BudgetExceeded, Ledger

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Budget",
    "BudgetExceeded",
    "Entry",
    "Ledger",
    "PureDP",
    "ShuffleAmplification",
    "amplify",
    "clones_delta",
    "clones_epsilon",
    "compose",
    "concentrated_rho",
    "gaussian_allowance",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_rho",
    "pure_epsilon",
    "zcdp_epsilon",
    "zcdp_rho",
]
