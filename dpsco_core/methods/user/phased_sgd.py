"""User-level phased SGD with outlier iterate removal: Lowy, Liu and Asi (2024), Algorithm 1."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import LOWY_2024, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT, Losses, lipschitz_losses
from dpsco_core.methods.phases import PhasedMethod, PhaseRun, PhasesPlan
from dpsco_core.methods.stage import SmallRun, Split
from dpsco_core.methods.user.base import (
    FILTER_STAGE,
    approximate_budget,
    bounded_users,
    check_smooth,
    check_users,
    user_level,
)
from dpsco_core.methods.user.calibrated import plain_sensitivity
from dpsco_core.methods.user.chains import Pass, batch_size, chain_averages, records_of
from dpsco_core.methods.user.level import UserLevel, gaussian_multiplier, group_spread
from dpsco_core.methods.user.phased_shapes import (
    TYPICAL_RADIUS,
    Shape,
    practical_shape,
    printed_count,
    printed_plan,
    recommended_shape,
    theorem_shape,
    tight_plan,
)
from dpsco_core.methods.user.printed_schedules import best_decay, least_users, phase_users
from dpsco_core.methods.user.release import release_mean
from dpsco_core.privacy.filter.plan import FilteredRelease, recommended_count
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.users import UserSample

SPREAD_FAILURE = 0.01  # the probability per phase that the proven radius fails


@dataclass(frozen=True, kw_only=True)
class GroupPhase:
    """One phase of Algorithm 1."""

    start: int  # the index of the first user; the C groups are consecutive
    members: int  # N_i, the number of users per group
    step_size: float  # η_i, the step size for one item
    filter: FilteredRelease  # the test, the filter with its radius τ_i, and the noise


@dataclass(frozen=True, kw_only=True)
class FilteredGroups(PhasesPlan):
    """Phases in which groups of users run SGD and a filtered mean of their averages is released."""

    losses: Losses
    case: UserLevel
    groups: int  # C, the number of groups in every phase
    batch: int  # the number of items per step
    phases: tuple[GroupPhase, ...]

    @property
    def halts(self) -> bool:
        """Whether a run may end early: yes, at a test that does not pass."""
        return True

    @property
    def steps(self) -> int:
        """The number of steps of a chain over all phases."""
        return sum(math.ceil(phase.members * self.case.m / self.batch) for phase in self.phases)

    @property
    def moves(self) -> float:
        """How often a run moves points and projects them; on a ball all groups count as one."""
        is_ball = isinstance(self.setting.body, Ball)
        return self.steps if is_ball else self.steps * self.groups

    @property
    def pieces(self) -> float:
        """The number of steps, which all groups take side by side."""
        return self.steps

    @property
    def gradients(self) -> int:
        """The number of item gradients of a whole run."""
        return self.groups * self.case.m * sum(phase.members for phase in self.phases)

    def open(self, sample: UserSample, rng: np.random.Generator) -> tuple[Vector, PhaseRun]:
        """Return the set's centre and the function that runs a phase of the groups."""
        check_users(sample, self.setting)
        records = records_of(bounded_users(sample, self.losses), self.batch)
        per_user, items = self.setting.m // records.each, records.each

        def run(w: Vector, phase: GroupPhase, block: Ledger, i: int) -> tuple[Vector, int] | None:
            """Return the noisy filtered mean of the groups' averages; None if the test fails."""
            chains = Pass(
                first=phase.start * per_user,
                groups=self.groups,
                length=phase.members * per_user,
                step_size=phase.step_size * items,
                batch=self.batch // items,
            )
            averages = chain_averages(records.sample, w, chains, self.losses)
            mean = release_mean(
                averages, phase.filter, block, rng, fallback=w, label=f"mean of phase {i}"
            )
            if mean.halted:
                return None
            end = phase.start + self.groups * phase.members
            return sample.constraint.project(mean.value), end

        return sample.constraint.centre, run

    def result(self, completed: int) -> tuple[Mapping[str, float], tuple[str, ...]]:
        """Return the diagnostics and notes of a run with `completed` phases."""
        halted = completed + 1 if completed < len(self.phases) else 0
        run_phases, inputs = self.phases[: halted or len(self.phases)], self.case
        final_phase = run_phases[-1]
        plain = plain_sensitivity(inputs, final_phase.step_size, self.groups)
        return self.losses.diagnostics | {
            "noise_std": final_phase.filter.release.noise_std,
            "plain_noise_std": plain * gaussian_multiplier(inputs.epsilon, inputs.delta),
            "steps": float(sum(math.ceil(p.members * inputs.m / self.batch) for p in run_phases)),
            "step_size": self.phases[0].step_size,
            "phases": float(len(self.phases)),
            "halted_phase": float(halted),  # This is 0 if no phase has halted.
            "groups": float(self.groups),
            "batch_size": float(self.batch),
            "filter_radius": final_phase.filter.keep.filter_radius,
            "score_threshold": final_phase.filter.release.test.threshold,
            "gradient_calls": float(self.groups * sum(p.members for p in run_phases) * inputs.m),
        }, _plan_notes(self, halted)


@dataclass(frozen=True, kw_only=True)
class UserPhasedSgd(PhasedMethod):
    r"""Phases of one-pass SGD by C groups of users, and a private mean of the groups' averages.

    The sensitivity of the filtered mean is that of `dpsco_core.privacy.filter.sensitivity`.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"tight"``: the single-test release with C of `recommended_count`, equal radii, weights
        and the sharper of their proven sensitivities. ``"paper"``: what is printed,
        :math:`\tau_i = 1000\eta_iL\sqrt{T_i}\log(ndm)` and
        :math:`\sigma_i = 100\tau_i\log^2(n/\delta)/(\varepsilon C)`, coins, the filter's radius
        twice the score's, with C repaired (theory/lowy-liu-asi.md, 2.1 and 8, item 3); it leaves
        more than half of epsilon unspent.
    tuning : {"practical", "theory"}
        ``"theory"``: p, q and :math:`\eta` of Theorem B.1 in the phases that fill all groups, and
        the proven radius of Lemma 2.3 (`group_spread`). ``"practical"``: halving users from the
        full step size on, :math:`\tau_i = 2.5\,\eta_i s\sqrt{T_i}` with s the root of the
        gradients' variance, at most L, and the phases, p and :math:`\eta \le 1/\beta` with the
        least `phased_terms`. With the printed noise, at which that minimum would be not to move at
        all, there are up to three phases, p = 5/4, and the printed :math:`\eta`.
    """

    reads = "whole"
    cost = MethodCost(fixed=2e6, per_row=8, per_element=3, per_piece=1e5)
    card = MethodCard(
        slug="user.phased-sgd",
        name="Filtered SGD",
        paper=LOWY_2024,
        statement="Algorithm 1, Theorem 2.1",
        summary="Groups of users run SGD; a test and a filter make sure that their averages agree, "
        "and noise hides one user's pull on the mean.",
        privacy="approx",
        level="user",
        problems=SCO_PROBLEMS,
        rate="upper.user.phased-sgd",
        caveat="Its filter pays only from thousands of items per user on. " + BOUNDED_CAVEAT,
    )
    stage = replace(
        FILTER_STAGE,
        splits=(Split(function="dpsco_core.methods.user.chains.chain_averages", told="phase"),),
        # With this many users and this epsilon there are several phases.
        small=SmallRun(scenario={"n": 2000, "epsilon": 8.0}),
    )
    colour = "green"
    symbol = "cross"

    def plan(self, setting: Setting) -> FilteredGroups:
        """Return the plan with the phases, the filters and the noise of the tuning."""
        budget = approximate_budget(setting)
        losses = lipschitz_losses(setting, self.tuning, setting.gaussian_rho)
        check_smooth(losses, "SGD of groups")
        case = user_level(setting, budget, losses)
        paper = self.calibration == "paper"
        groups = printed_count(case) if paper else recommended_count(case.epsilon, case.delta)
        if self.tuning == "theory":
            shape = theorem_shape(case, groups)
        elif paper:
            shape = recommended_shape(case, groups)
        else:
            shape = practical_shape(case, groups, _noise_scale(setting, losses))
        _check_shape(case, groups, shape, self)
        total = sum(members for _, members, _ in shape) * case.m
        step_size = shape[0][2]
        batch = batch_size(case.n, case.m, case.d, total, step_size, losses.smoothness)

        def filter_of(step: float, steps: int) -> FilteredRelease:
            """Return the test, filter and noise of a phase of `steps` steps of size `step`."""
            if paper:
                return printed_plan(case, groups, step, steps)
            if self.tuning == "theory":
                radius = group_spread(step, case.lipschitz, steps, groups, SPREAD_FAILURE)
            else:
                radius = TYPICAL_RADIUS * step * _noise_scale(setting, losses) * math.sqrt(steps)
            return tight_plan(case, groups, radius)

        phases = tuple(
            GroupPhase(start=i, members=k, step_size=step, filter=filter_of(step, k * case.m))
            for i, k, step in shape
        )
        return FilteredGroups(
            setting=setting, losses=losses, case=case, groups=groups, batch=batch, phases=phases
        )


def _check_shape(case: UserLevel, groups: int, shape: Shape, method: UserPhasedSgd) -> None:
    """Raise `NotApplicable` for a run without a phase, with a number of users that is enough."""
    if shape:
        return

    def works(n: int) -> bool:
        """Return whether n users are enough for a phase."""
        part = case.with_users(n)
        count = printed_count(part) if method.calibration == "paper" else groups
        if method.tuning == "theory":
            return phase_users(n, 1, best_decay(n)) >= count
        return n >= (2 * count if method.calibration == "paper" else count)

    fewest_users = least_users(works)
    reason = (
        f"Algorithm 1 as printed makes C={groups} groups (its C, repaired for delta)"
        if method.calibration == "paper"
        else f"The test needs C={groups} groups"
    )
    alternative = "" if method.calibration == "tight" else ", or calibration=tight"
    raise NotApplicable(
        f"{reason}, and the first phase of {case.n} users does not fill them: it takes "
        f"n={fewest_users:.0f}.",
        nearest=f"set n={fewest_users:.0f}{alternative}",
        changes=(("n", int(fewest_users)),),
    )


def _noise_scale(setting: Setting, losses: Losses) -> float:
    """Return the certified root mean square distance of a gradient from its mean."""
    variance = setting.constants.variance_trace
    return min(losses.lipschitz, math.sqrt(variance)) if variance > 0 else losses.lipschitz


def _plan_notes(plan: FilteredGroups, halted: int) -> tuple[str, ...]:
    """Return notes on where the run halted and where a plain mean of the groups has less noise."""
    notes = []
    if halted:
        notes.append(
            f"The groups' averages of phase {halted} failed the test: the run ended with the point "
            "of the phase before."
        )
    inputs, first_phase = plan.case, plan.phases[0]
    plain = plain_sensitivity(inputs, first_phase.step_size, plan.groups)
    ratio = (
        first_phase.filter.release.noise_std
        / plain
        / gaussian_multiplier(inputs.epsilon, inputs.delta)
    )
    if ratio > 1:
        notes.append(
            f"A plain mean of the groups, without test and filter, would need {ratio:.3g} times "
            "less noise here: a user owns too few of a group's steps for the filter to pay."
        )
    return tuple(notes)
