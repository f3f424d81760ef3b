"""The phases of user-level phased SGD: their users and step sizes, chosen or printed."""

import math
from functools import lru_cache

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.user.chains import step_limit
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.phased_risk import best_phases
from dpsco_core.methods.user.printed_schedules import (
    phase_count,
    phase_users,
    printed_decay,
    printed_step,
)
from dpsco_core.methods.user.requirements import best_decay
from dpsco_core.privacy.filter.plan import FilterPlan, single_test_plan
from dpsco_core.privacy.filter.plan import Tuning as TestTuning
from dpsco_core.privacy.filter.robust_mean import RobustFilter

SHARP = TestTuning(sharp=True)
TYPICAL_RADIUS = 2.5  # in step size times gradient noise times root of the steps
FEWEST_PRINTED_PHASES, PRINTED_DECAY = 3, 1.25  # where the printed noise meets practical tuning
# Of each phase its first user, the users of a group, and the step size.
Shape = tuple[tuple[int, int, float], ...]


@lru_cache(maxsize=4096)
def practical_shape(at: UserLevel, groups: int, noise_scale: float) -> Shape:
    """Return the shape with the least `phased_terms`, empty where a group has no user.

    Raises `NotApplicable` where they are finite for none.
    """
    if at.n < groups:
        return ()
    per_radius = tight_plan(at, groups, 1.0).release.noise_std

    def noise(step: float, steps: int) -> float:
        return per_radius * TYPICAL_RADIUS * step * noise_scale * math.sqrt(steps)

    phases = best_phases(
        at.n,
        at.m,
        groups,
        lipschitz=at.lipschitz,
        diameter=at.diameter,
        d=at.d,
        largest_step=step_limit(at.n, at.m, at.d, at.smoothness),
        noise=noise,
    )
    return _placed(groups, [(int(p.group_users), p.step_size) for p in phases])


def recommended_shape(at: UserLevel, groups: int) -> Shape:
    """Return up to three phases of halving users, with the printed step size, at most 1/beta."""
    step = min(printed_step(at), step_limit(at.n, at.m, at.d, at.smoothness))
    found = [
        ((at.n >> i) // groups, step * 2.0 ** (-PRINTED_DECAY * (i - 1)))
        for i in range(1, FEWEST_PRINTED_PHASES + 1)
    ]
    return _placed(groups, [(members, size) for members, size in found if members])


def theorem_shape(at: UserLevel, groups: int) -> Shape:
    r"""Return the phases of Theorem B.1 that fill all groups.

    :math:`p = J + 3/2`, :math:`\eta = R/(L\sqrt{dmn\varepsilon})`, and q with the largest last
    phase; :math:`n_i = (1-2^{-q})n2^{-iq}`, :math:`\eta_i = \eta2^{-pi}`.

    Raises `NotApplicable` if :math:`\eta > 1/\beta`.
    """
    if at.n < 2:
        return ()
    step, limit = printed_step(at), step_limit(at.n, at.m, at.d, at.smoothness)
    if step > limit * (1 + 1e-12):
        enough = math.ceil(at.n * (step / limit) ** 2)
        raise NotApplicable(
            f"The theorem's step size is {step:.3g}, and steps above {limit:.3g} may move points "
            "apart.",
            n=enough,
            otherwise="tuning=practical",
        )
    q, decay = best_decay(at.n), printed_decay(at)
    found = []
    for i in range(1, phase_count(at.n) + 1):
        members = math.floor(phase_users(at.n, i, q)) // groups
        if members < 1:
            break
        found.append((members, step * math.pow(2, -decay * i)))
    return _placed(groups, found)


def _placed(groups: int, found: list[tuple[int, float]]) -> Shape:
    """Return the phases with their first users, one after the other."""
    shape, start = [], 0
    for members, step in found:
        shape.append((start, members, step))
        start += groups * members
    return tuple(shape)


@lru_cache(maxsize=4096)
def tight_plan(at: UserLevel, groups: int, radius: float) -> FilterPlan:
    keep = RobustFilter(score_radius=radius, filter_radius=radius)
    return single_test_plan(groups, at.epsilon, at.delta, keep=keep, tuning=SHARP)
