"""The common part of the user-level optimisers: losses, samples and budgets that they accept."""

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import LOWY_2024
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.methods.access import Access, StepRecords
from dpsco_core.methods.euclidean.lipschitz import Losses
from dpsco_core.methods.records.base import check_kind, refuse_pure
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.users import UserSample, average_users

__all__ = [
    "FILTER_STAGE",
    "LOWY_2024",
    "AllUsers",
    "Boundable",
    "approximate_budget",
    "bounded_means",
    "bounded_users",
    "check_smooth",
    "check_users",
    "user_level",
]

FILTER_STAGE = Stage(
    unseen="The worst neighbours of a robust filter have a crowd at the edge of its radius, and "
    "what they give away is too rare to be seen in runs; their privacy profile is computed exactly "
    "in the tests.",
    instead="user.clipped-means",
    # With this many users and this epsilon the test of a filter passes.
    small=SmallRun(scenario={"n": 400, "epsilon": 8.0}),
)


@dataclass(frozen=True)
class AllUsers(Access):
    """Every step reads the mean gradient of every user, so the steps share the budget."""

    def rows(self, setting: Setting, steps: int) -> int:
        """Return n: a step reads all users."""
        return setting.n

    def gradients(self, setting: Setting, steps: int) -> int:
        """Return the number of item gradients of all steps."""
        return steps * setting.n * setting.m

    def passes(self, steps: int) -> float:
        """Return the number of steps: each reads all users."""
        return steps

    def checked(self, sample: Any, setting: Setting, losses: Any) -> UserSample:
        """Return the users with bounded losses; raise an error unless the sizes fit."""
        check_users(sample, setting)
        return bounded_means(sample, losses)

    def open(
        self, sample: Any, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Return a function of point and step that gives all users' mean gradients."""

        def step_records(w: Vector, t: int) -> tuple[Any, Ledger]:
            """Return the users' mean gradients at w, shape (n, d), and the ledger."""
            # Records may hold any doubles, so overflow and NaN are expected.
            with np.errstate(over="ignore", invalid="ignore"):
                return sample.user_gradients(w), ledger

        return step_records


@runtime_checkable
class Boundable(Protocol):
    """Users whose items can be shrunk into a ball, one user at a time."""

    def bounded(self, radius: float) -> UserSample:
        """Return the sample with every item (or every user's mean) shrunk to norm `radius`."""
        ...


def check_users(sample: UserSample, setting: Setting) -> None:
    """Raise `InvalidInput` unless a sample has the n, m and d for which the plan is private."""
    check_kind("sample", sample, "user_gradients", "ItemSample or MeanSample")
    require(sample.users == setting.n, "n", f"the number of users, {sample.users}", setting.n)
    require(sample.items == setting.m, "m", f"the items of a user, {sample.items}", setting.m)
    require(sample.d == setting.d, "d", f"the dimension of the sample, {sample.d}", setting.d)


def bounded_users(sample: UserSample, losses: Losses) -> UserSample:
    """Return the users with their items shrunk until the constants of `losses` hold for them."""
    if math.isinf(losses.feature_bound):
        return sample
    require(isinstance(sample, Boundable), "sample", "one whose items can be shrunk", type(sample))
    assert isinstance(sample, Boundable)
    return sample.bounded(losses.feature_bound)


def bounded_means(sample: UserSample, losses: Losses) -> UserSample:
    """Return `bounded_users` for a method that needs only the mean of each user's gradients.

    If gradients are linear in the items, a user's items are replaced by their mean before anything
    is shrunk. That mean is usually much nearer to the true mean than an item, and inside the ball.
    """
    return bounded_users(average_users(sample), losses)


def approximate_budget(setting: Setting) -> ApproxDP:
    """Return the (epsilon, delta) budget that a method with a noisy test needs.

    Raises `NotApplicable` under a pure or a zCDP budget: the test fails with a small probability,
    which only delta covers.
    """
    refuse_pure(setting)
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        raise NotApplicable(
            "The test before each release is private up to a small failure, which a zCDP budget "
            "does not allow.",
            nearest="set epsilon=1, delta=1e-06, or choose user.clipped-means",
            changes=(("rho", None), ("epsilon", 1.0), ("delta", 1e-6)),
        )
    return budget


def user_level(setting: Setting, budget: ApproxDP, losses: Losses) -> UserLevel:
    """Return the inputs of the schedules' formulas: sizes, budget and the losses' constants."""
    return UserLevel(
        n=setting.n,
        m=setting.m,
        d=setting.d,
        epsilon=budget.epsilon,
        delta=budget.delta,
        lipschitz=losses.lipschitz,
        diameter=setting.constants.diameter,
        smoothness=losses.smoothness,
        strong_convexity=setting.constants.sample_strong_convexity,
    )


def check_smooth(losses: Losses, name: str) -> None:
    """Raise `NotApplicable` if some record's loss has kinks or no certified smoothness."""
    if math.isinf(losses.smoothness):
        raise NotApplicable(
            f"{name} is private for smooth losses only, and this one has kinks.",
            nearest="choose user.clipped-means, which allows them, or the problem huber",
            changes=(("problem", "huber"),),
        )
