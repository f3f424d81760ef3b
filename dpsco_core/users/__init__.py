"""User-level privacy: a neighbour differs in all items of one user."""

from dpsco_core.users.accelerated import UserAccelerated
from dpsco_core.users.accelerated_nonsmooth import UserAcceleratedNonsmooth
from dpsco_core.users.accelerated_strong import UserAcceleratedStrong
from dpsco_core.users.clipped_means import UserClippedMeans
from dpsco_core.users.group_privacy import UserGroupPrivacy
from dpsco_core.users.phased_sgd import UserPhasedSgd

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

__all__ = [
    "USER_OPTIMISERS",
    "UserAccelerated",
    "UserAcceleratedNonsmooth",
    "UserAcceleratedStrong",
    "UserClippedMeans",
    "UserGroupPrivacy",
    "UserMethod",
    "UserPhasedSgd",
]
