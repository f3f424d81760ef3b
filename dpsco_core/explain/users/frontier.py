"""How many users an algorithm needs at all, printed and calibrated."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dpsco_core.base.errors import NotApplicable
from dpsco_core.bounds.user.conditions import best_share
from dpsco_core.methods.user.accelerated.plans import printed_phases
from dpsco_core.methods.user.accelerated.schedule import calibrated_filter, practical_tau
from dpsco_core.methods.user.accelerated.schedule import least_users as least_users_of
from dpsco_core.methods.user.calibrated import full_batch_users
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.phased_shapes import printed_count
from dpsco_core.methods.user.printed_schedules import (
    batch_ratio,
    best_decay,
    least_users,
    phase_users,
)
from dpsco_core.privacy.filter.plan import recommended_count

EPSILONS = (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)


@dataclass(frozen=True, kw_only=True)
class UsersNeeded:
    """The number of users that one algorithm, or one theorem, needs."""

    slug: str
    method: str
    printed: bool  # whether the constants are the paper's; otherwise they are calibrated
    # The least n as a function of a `UserLevel`, whose own n is ignored; infinite if there is none.
    least_users: Callable[[UserLevel], float]


def theorem_accelerated(level: UserLevel) -> float:
    r"""Return the least number of users for Lowy, Liu and Asi (2024), Theorem C.1.

    It is the least n with :math:`n^{1-q}(1-2^{-q})>100\ln(20nmde^\varepsilon/\delta)/\varepsilon`
    at the best q. The theorem's condition on delta, below 1/(nm), is not checked here.
    """

    def works(n: int) -> bool:
        """Return whether the condition of Theorem C.1 holds with n users."""
        with_n = level.with_users(n)
        logarithm = math.log(20) + with_n.log_size + level.epsilon + level.log_delta
        return best_share(n) > 100 * logarithm / level.epsilon

    return least_users(works)


def printed_accelerated_run(level: UserLevel) -> float:
    """Return the least number n of users with which Algorithm 3 runs as printed.

    Its condition that delta is below 1/(nm) is included; infinite if no n will do.
    """
    try:
        printed_phases(level.with_users(2))
    except NotApplicable as refused:
        required = dict(refused.changes).get("n")
        return math.inf if required is None else float(required)
    return 2.0


def calibrated_accelerated_users(level: UserLevel) -> float:
    """Return the least n at which calibrated Algorithm 3 has a private test for a single step."""
    tau = practical_tau(level)
    smallest = least_users_of(lambda users, steps: calibrated_filter(level, tau, users, steps), 1)
    return math.inf if smallest is None else float(smallest)


NEEDS = (
    UsersNeeded(
        slug="theorem-c1", method="user.accelerated", printed=True, least_users=theorem_accelerated
    ),
    # Theorem B.1 asks for n^(1-q) (1 - 2^-q) >= 100 ln(n/delta) / epsilon at the best q.
    UsersNeeded(
        slug="theorem-b1",
        method="user.phased-sgd",
        printed=True,
        least_users=lambda level: least_users(
            lambda n: best_share(n) >= 100 * (math.log(n) + level.log_delta) / level.epsilon
        ),
    ),
    # The first phase of Algorithm 1 must fill the groups of the printed size.
    UsersNeeded(
        slug="groups-printed",
        method="user.phased-sgd",
        printed=True,
        least_users=lambda level: least_users(
            lambda n: phase_users(n, 1, best_decay(n)) >= printed_count(level.with_users(n))
        ),
    ),
    UsersNeeded(  # The method has three phases of twenty steps: theory/lowy-liu-asi.md, 2.3.
        slug="recommended-c1",
        method="user.accelerated",
        printed=False,
        least_users=lambda level: float(full_batch_users(level, phases=3, steps=20)),
    ),
    UsersNeeded(
        slug="step-calibrated",
        method="user.accelerated",
        printed=False,
        least_users=calibrated_accelerated_users,
    ),
    UsersNeeded(  # The calibrated test of Algorithm 1 needs this many groups, with a user in each.
        slug="groups-calibrated",
        method="user.phased-sgd",
        printed=False,
        least_users=lambda level: float(recommended_count(level.epsilon, level.delta)),
    ),
)


def frontier(
    level: UserLevel, epsilons: Sequence[float] = EPSILONS
) -> dict[str, tuple[float, ...]]:
    """Return, for each of `NEEDS` by its slug, the least number of users at each epsilon."""
    points = [replace(level, epsilon=epsilon) for epsilon in epsilons]
    return {need.slug: tuple(need.least_users(point) for point in points) for need in NEEDS}


def most_users(level: UserLevel) -> float:
    """Return the number of users, 1/(delta m), that Theorem 3.2 and Algorithm 3 must stay below."""
    return 1 / (level.delta * level.m)


def batch_shortfall(level: UserLevel) -> float:
    """Return the ratio of the users that a step of the printed Algorithm 3 needs to those there
    are.
    """
    return batch_ratio(level, best_decay(level.n))
