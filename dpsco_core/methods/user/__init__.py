"""User-level privacy: a neighbour differs in all items of one user."""

from dpsco_core.methods.base import Method
from dpsco_core.methods.user.accelerated.nonsmooth import UserAcceleratedNonsmooth
from dpsco_core.methods.user.accelerated.optimiser import UserAccelerated
from dpsco_core.methods.user.accelerated.sgd import accelerated_descent, staged_descent
from dpsco_core.methods.user.accelerated.strong import UserAcceleratedStrong
from dpsco_core.methods.user.clipped_means import UserClippedMeans
from dpsco_core.methods.user.group_privacy import UserGroupPrivacy
from dpsco_core.methods.user.means import UserMeanAdaptive, UserMeanClipped, UserMeanGroup
from dpsco_core.methods.user.phased_sgd import UserPhasedSgd
from dpsco_core.methods.user.release import FilteredMeans, Released, open_releases, release_mean
from dpsco_core.privacy.filter.plan import (
    FilteredRelease,
    Tuning,
    phase_plan,
    recommended_count,
    single_test_plan,
)
from dpsco_core.privacy.filter.robust_mean import Examination, RobustFilter

UserMethod = (
    UserPhasedSgd
    | UserAccelerated
    | UserAcceleratedStrong
    | UserAcceleratedNonsmooth
    | UserGroupPrivacy
    | UserClippedMeans
)
USER_OPTIMISERS: tuple[type[UserMethod], ...] = (
    UserPhasedSgd,
    UserAccelerated,
    UserAcceleratedStrong,
    UserAcceleratedNonsmooth,
    UserGroupPrivacy,
    UserClippedMeans,
)
USER_ESTIMATORS: tuple[type[Method], ...] = (UserMeanGroup, UserMeanClipped, UserMeanAdaptive)

__all__ = [
    "USER_ESTIMATORS",
    "USER_OPTIMISERS",
    "Examination",
    "FilteredMeans",
    "FilteredRelease",
    "Released",
    "RobustFilter",
    "Tuning",
    "UserAccelerated",
    "UserAcceleratedNonsmooth",
    "UserAcceleratedStrong",
    "UserClippedMeans",
    "UserGroupPrivacy",
    "UserMeanAdaptive",
    "UserMeanClipped",
    "UserMeanGroup",
    "UserMethod",
    "UserPhasedSgd",
    "accelerated_descent",
    "open_releases",
    "phase_plan",
    "recommended_count",
    "release_mean",
    "single_test_plan",
    "staged_descent",
]
