"""User-level accelerated ERM for strongly convex losses: Lowy, Liu and Asi (2024), Remark 3.6."""

import math
from dataclasses import dataclass, replace

from dpsco_core.base.cards import LOWY_2024, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import least_count, smallest
from dpsco_core.methods.base import Calibration, MethodCost
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT, Losses, lipschitz_losses
from dpsco_core.methods.user.accelerated.model import Layout, model_landscape
from dpsco_core.methods.user.accelerated.plans import plan_phases, practical_plan, printed_phases
from dpsco_core.methods.user.accelerated.run import AcceleratedPhases, FilteredGradients
from dpsco_core.methods.user.accelerated.schedule import (
    MOST_USERS,
    AcceleratedPhase,
    calibrated_filter,
    halving_layouts,
    recommended_phases,
    theory_radius,
    too_few_users_error,
)
from dpsco_core.methods.user.base import approximate_budget, user_level
from dpsco_core.methods.user.calibrated import halving_users
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.problems.base import Setting

STAGE_PHASES = 2  # the number of phases in each stage of the theory tuning
MOST_STAGES = 3  # the largest number of stages in the practical tuning


@dataclass(frozen=True, kw_only=True)
class UserAcceleratedStrong(FilteredGradients):
    r"""Filtered gradients in stages, for losses that are strongly convex.

    Stage j runs Algorithm 3 on n/k users of its own, from where the last one ended, with
    :math:`D_j` in the place of R in the choice of :math:`\lambda`:
    :math:`D_1 = \min(R, 2L/\mu)`, :math:`D_{j+1} = \min\{D_j, \sqrt{D_*D_j}\}` and
    :math:`D_* = 4L\rho/\mu`, where :math:`\rho LR` is the error of a stage (theory/lowy-liu-asi.md,
    2.6, after Feldman, Koren and Talwar 2020, section 5.1). The final error is of the order of
    :math:`L^2\rho^2/\mu`. The set is not shrunk: :math:`D_j` bounds a mean square only.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        As for `UserAccelerated`.
    tuning : {"practical", "theory"}
        ``"theory"``: :math:`k = \max(1, \lceil\log_2\log_2\frac{D_1}{D_*}\rceil+1)` stages of two
        phases, with the rho that the actual noise gives. ``"practical"``: the stages, phases, steps
        and regulariser of the least modelled risk, whether AC-SA knows :math:`\mu` or not (its
        larger steps let more noise in).
    """

    reads = "whole"
    cost = MethodCost(
        fixed=0, per_row=14, per_element=1.5, per_piece=1.1e6, unit="step", rough_steps=(70, 64)
    )
    card = MethodCard(
        slug="user.accelerated-strong",
        name="Filtered gradients, strongly convex",
        paper=LOWY_2024,
        statement="Remark 3.6, Algorithms 2 to 4",
        summary="Filtered gradients in stages that trust their start more and more, for "
        "strongly convex losses.",
        privacy="approx",
        level="user",
        problems=("quadratic",),
        rate="upper.user.accelerated-strong",
        caveat="A phase needs some thousand users at epsilon = 1 for its test. " + BOUNDED_CAVEAT,
    )
    stage = replace(FilteredGradients.stage, problem="quadratic")
    colour = "teal"
    symbol = "diamond"

    def plan(self, setting: Setting) -> AcceleratedPhases:
        """Return the plan of the tuning; raise `NotApplicable` without strong convexity."""
        budget = approximate_budget(setting)
        if not setting.constants.sample_strong_convexity > 0:
            raise NotApplicable(
                "The stages need a strongly convex loss for every item, and this one is not.",
                nearest="choose user.accelerated, or the problem quadratic",
                changes=(("problem", "quadratic"),),
            )
        losses = lipschitz_losses(setting, self.tuning, setting.gaussian_rho)
        case = user_level(setting, budget, losses)
        if self.tuning == "practical":
            layouts = staged_layouts(setting.n)
            lands = [
                model_landscape(setting, losses.lipschitz, losses.smoothness, strongly=strongly)
                for strongly in (True, False)
            ]
            plans = [
                practical_plan(setting, case, land, losses, self.calibration, layouts)
                for land in lands
            ]
            return smallest(plans, lambda plan: plan.modelled_risk, what="schedule")
        try:
            return strong_plan(setting, case, losses, self.calibration)
        except NotApplicable as refusal:
            if self.calibration == "tight":
                raise
            # A stage has only a part of the users, so its error message must not name their number.
            raise NotApplicable(
                f"Of one of the stages: {refusal.reason}", calibration="tight"
            ) from refusal


def staged_layouts(n: int) -> tuple[Layout, ...]:
    """Return layouts of one to three stages; regularisers double from stage to stage."""
    layouts = list(halving_layouts(n))
    for stages in range(2, MOST_STAGES + 1):
        users = n // stages
        for inner in halving_layouts(users):
            exponents = [j + e for j in range(stages) for e in inner.exponents]
            layouts.append(Layout(users=inner.users * stages, exponents=tuple(exponents)))
    return tuple(layouts)


def strong_plan(
    setting: Setting, case: UserLevel, losses: Losses, calibration: Calibration
) -> AcceleratedPhases:
    """Return the plan of the theory tuning.

    Raises `NotApplicable`, with the number of users that all stages need, if a phase of a stage
    cannot have a test.
    """
    stages = stage_count(case)
    part = case.with_users(max(1, case.n // stages))
    phases = _paper_stages(part, stages) if calibration == "paper" else _stages(part, stages)
    if phases is None:
        raise _too_few_users_error(case)
    return plan_phases(setting, case, losses, calibration, phases)


def actual_rate(case: UserLevel) -> float | None:
    r"""Return the error of a run on n users, divided by LR; None if no filter is private.

    .. math:: \rho = \sqrt{\frac1{nm}+\frac{d\sigma_1^2}{L^2T_1}}
    """
    users = halving_users(case.n, STAGE_PHASES)[0] if case.n >= 1 << STAGE_PHASES else 0
    plan = calibrated_filter(case, theory_radius(case, 16), users, 16) if users else None
    if plan is None:
        return None
    private = case.d * plan.release.noise_std**2 / 16 / case.lipschitz**2
    return math.sqrt(1 / case.total + private)


def stage_count(case: UserLevel) -> int:
    r"""Return the number k of stages, with rho of `actual_rate` and D_1 of `first_distance`.

    .. math:: k = \max(1, \lceil\log_2\log_2\frac{\mu D_1}{4L\rho}\rceil+1)
    """
    rate = actual_rate(case)
    if rate is None:
        return 1
    ratio = max(2.0, first_distance(case) / limit_distance(case, rate))
    return max(1, math.ceil(math.log2(math.log2(ratio))) + 1)


def first_distance(case: UserLevel) -> float:
    r"""Return a bound on the first distance to the minimiser, :math:`D_1 = \min(R, 2L/\mu)`."""
    return min(case.diameter, 2 * case.lipschitz / case.strong_convexity)


def limit_distance(case: UserLevel, rate: float) -> float:
    r"""Return the distance :math:`D_* = 4L\rho/\mu` to which the stages' distances converge."""
    return 4 * case.lipschitz * rate / case.strong_convexity


def distances(start_distance: float, limit: float, stages: int) -> tuple[float, ...]:
    r"""Return the distances :math:`D_1, \ldots, D_k`, where :math:`D_{i+1}=\sqrt{D_iD_*}`.

    Examples
    --------
    >>> distances(16.0, 1.0, 4)
    (16.0, 4.0, 2.0, 1.4142135623730951)
    """
    sizes = [start_distance]
    for _ in range(stages - 1):
        sizes.append(min(sizes[-1], math.sqrt(limit * sizes[-1])))
    return tuple(sizes)


def _stages(part: UserLevel, stages: int) -> tuple[AcceleratedPhase, ...] | None:
    """Return the phases of all stages of the theory tuning, each on the users of `part`.

    None if a phase can have no test.
    """
    rate = actual_rate(part)
    if rate is None:
        return None
    convex, phases = replace(part, strong_convexity=0.0), list[AcceleratedPhase]()
    reach = distances(first_distance(part), limit_distance(part, rate), stages)
    for j, distance in enumerate(reach):
        inner = recommended_phases(
            convex,
            lambda *a: calibrated_filter(part, *a),
            STAGE_PHASES,
            distance=distance,
            first_user=j * part.n,
        )
        if inner is None:
            return None
        phases += inner
    return tuple(phases)


def _paper_stages(part: UserLevel, stages: int) -> tuple[AcceleratedPhase, ...]:
    """Return the printed phases of every stage, with regularisers for the distance at its start."""
    inner = printed_phases(part)
    rate = actual_rate(part)
    limit = part.diameter if rate is None else limit_distance(part, rate)
    phases: list[AcceleratedPhase] = []
    for j, distance in enumerate(distances(first_distance(part), limit, stages)):
        scale, shift = part.diameter / distance, j * part.n
        phases += [
            replace(
                phase,
                start=phase.start + shift,
                stop=phase.stop + shift,
                regulariser=phase.regulariser * scale,
            )
            for phase in inner
        ]
    return tuple(phases)


def _too_few_users_error(case: UserLevel) -> NotApplicable:
    """Return the error that n users are too few for the stages, with a number that is enough."""

    def runs(n: int) -> bool:
        """Return whether all stages can have tests with n users."""
        part = case.with_users(n)
        stages = stage_count(part)
        return n >= 4 * stages and _stages(part.with_users(n // stages), stages) is not None

    fewest_users = least_count(runs, case.n, 2 * case.n + 8, MOST_USERS)
    if fewest_users is None:
        return too_few_users_error(case.n, None)
    stages = stage_count(case.with_users(fewest_users))
    return NotApplicable(
        f"{stages} stages of {STAGE_PHASES} phases, each with a test that hides a user, need "
        f"{fewest_users} users, and n={case.n}.",
        n=fewest_users,
        otherwise="tuning=practical",
    )
