"""User-level privacy: a neighbour differs in all items of one user."""

from dpsco_core.users.accelerated_sgd import (
    Objective,
    accelerated_descent,
    accelerated_gap,
    stage_lengths,
    staged_descent,
    staged_gap,
)
from dpsco_core.users.dispersion import gradient_dispersion, group_spread, iterate_dispersion
from dpsco_core.users.filter import Examined, RobustFilter
from dpsco_core.users.release import (
    FilteredMeans,
    FilterPlan,
    Released,
    Tuning,
    open_releases,
    phase_plan,
    recommended_count,
    release_mean,
    single_test_plan,
)

__all__ = [
    "Examined",
    "FilterPlan",
    "FilteredMeans",
    "Objective",
    "Released",
    "RobustFilter",
    "Tuning",
    "accelerated_descent",
    "accelerated_gap",
    "gradient_dispersion",
    "group_spread",
    "iterate_dispersion",
    "open_releases",
    "phase_plan",
    "recommended_count",
    "release_mean",
    "single_test_plan",
    "stage_lengths",
    "staged_descent",
    "staged_gap",
]
