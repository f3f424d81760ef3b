"""The plans of user-level accelerated descent under each calibration and tuning."""

import math
from dataclasses import replace
from functools import lru_cache

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import least_count
from dpsco_core.methods.base import Calibration
from dpsco_core.methods.euclidean.lipschitz import Losses
from dpsco_core.methods.user.accelerated.model import STEP_COUNTS, Choice, Landscape, Layout, choose
from dpsco_core.methods.user.accelerated.printed import capped_note, printed_filter, printed_phases
from dpsco_core.methods.user.accelerated.schedule import (
    MOST_PHASES,
    MOST_USERS,
    AcceleratedPhase,
    AcceleratedPlan,
    calibrated_filter,
    chosen_phases,
    least_users,
    practical_tau,
    recommended_phases,
    too_few,
)
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.privacy.filter.plan import FilterPlan
from dpsco_core.problems.base import Setting


def filter_of(
    calibration: Calibration, at: UserLevel, tau: float, users: int, steps: int
) -> FilterPlan | None:
    """Return the test, filter and noise of a phase; None where there is none."""
    make = calibrated_filter if calibration == "tight" else printed_filter
    return make(at, tau, users, steps)


def practical_plan(
    setting: Setting,
    at: UserLevel,
    land: Landscape,
    losses: Losses,
    calibration: Calibration,
    layouts: tuple[Layout, ...],
) -> AcceleratedPlan:
    """Return the plan of the least modelled risk over some layouts.

    Raises `NotApplicable` where no phase can have a test, with the number of users that it needs.
    """
    tau = practical_tau(at)
    choice = practical_choice(at, land, calibration, layouts)
    if choice is None:
        needed = least_users(lambda users, steps: filter_of(calibration, at, tau, users, steps), 1)
        raise too_few(at.n, needed)
    phases = chosen_phases(
        choice, lambda users, steps: filter_of(calibration, at, tau, users, steps)
    )
    return AcceleratedPlan(
        setting=setting,
        losses=losses,
        smoothness=land.smoothness,
        strong_convexity=land.strong_convexity,
        phases=phases,
        modelled_risk=choice.risk,
        notes=(capped_note(at, phases[0]),) if calibration == "paper" else (),
    )


@lru_cache(maxsize=1024)
def practical_choice(
    at: UserLevel, land: Landscape, calibration: Calibration, layouts: tuple[Layout, ...]
) -> Choice | None:
    """Return the practical layout, steps and regulariser; None without any test."""
    tau = practical_tau(at)

    def noise(users: int, steps: int) -> float:
        found = filter_of(calibration, at, tau, users, steps)
        return math.inf if found is None else found.release.noise_std

    if at.n < 2 or math.isinf(noise(at.n, STEP_COUNTS[0])):
        return None
    return choose(land, layouts, noise)


def theory_plan(
    setting: Setting, at: UserLevel, losses: Losses, calibration: Calibration
) -> AcceleratedPlan:
    """Return the recommended schedule, or the printed one with ``calibration="paper"``.

    Raises `NotApplicable` where two phases cannot have tests, or the printed constants cannot run.
    """
    if calibration == "paper":
        return planned(setting, at, losses, calibration, printed_phases(at))
    convex = replace(at, strong_convexity=0.0)
    for count in range(min(MOST_PHASES, at.n.bit_length() - 1), 1, -1):
        found = recommended_phases(convex, lambda *a: calibrated_filter(at, *a), count)
        if found is not None:
            return planned(setting, at, losses, calibration, found)
    raise _no_theory(at)


def planned(
    setting: Setting,
    at: UserLevel,
    losses: Losses,
    calibration: Calibration,
    phases: tuple[AcceleratedPhase, ...],
) -> AcceleratedPlan:
    """Return the plan of the theory's phases, where AC-SA knows of the regulariser alone."""
    return AcceleratedPlan(
        setting=setting,
        losses=losses,
        smoothness=at.smoothness,
        strong_convexity=0.0,
        phases=phases,
        notes=(capped_note(at, phases[0]),) if calibration == "paper" else (),
    )


def _no_theory(at: UserLevel) -> NotApplicable:
    """Return the refusal of the recommended schedule, with the users that it needs."""

    def runs(n: int) -> bool:
        where = replace(at.with_users(n), strong_convexity=0.0)
        return (
            n >= 4
            and recommended_phases(where, lambda *a: calibrated_filter(where, *a), 2) is not None
        )

    needed = least_count(runs, at.n, max(8, 2 * at.n), MOST_USERS)
    if needed is None:
        return too_few(at.n, None)
    return NotApplicable(
        f"The recommended schedule has two phases at least, and the tests that hide one of their "
        f"users need {needed} users; n={at.n}.",
        n=needed,
        otherwise="tuning=practical",
    )
