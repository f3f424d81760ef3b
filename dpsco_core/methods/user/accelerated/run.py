"""The run of user-level accelerated descent: phases on disjoint users, each behind its tests."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.methods.base import PrivateMethod, Release
from dpsco_core.methods.departure import WHOLE_PHASES
from dpsco_core.methods.run import Descended, Path
from dpsco_core.methods.stage import Split
from dpsco_core.methods.user.accelerated.batches import BatchGaussian
from dpsco_core.methods.user.accelerated.schedule import AcceleratedPhase, AcceleratedPlan
from dpsco_core.methods.user.accelerated.sgd import Accelerated, staged_descent
from dpsco_core.methods.user.accelerated.smoothing import smoothed_user_gradients
from dpsco_core.methods.user.base import FILTER_STAGE, bounded_means, check_users
from dpsco_core.methods.user.release import open_releases
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.users import UserSample


def in_two_phases(method: Any, setting: Setting) -> AcceleratedPlan:
    """Return the first phase of the plan of half of the users, for each half of them."""
    plan: AcceleratedPlan = method.plan(replace(setting, n=setting.n // 2))
    first, half = plan.phases[0], plan.phases[0].stop
    phases = (first, replace(first, start=half, stop=2 * half))
    return replace(plan, setting=setting, phases=phases)


class FilteredGradients(PrivateMethod):
    """A user-level method whose release runs the phases of its plan."""

    needs_only_means = True
    stage = replace(
        FILTER_STAGE,
        splits=tuple(
            Split(function=f"dpsco_core.problems.samples.users.{kind}.part", told="range")
            for kind in ("ItemSample", "MeanSample")
        ),
        small=replace(FILTER_STAGE.small, plan=in_two_phases),
    )
    departs = (WHOLE_PHASES,)

    def release(
        self, sample: UserSample, plan: AcceleratedPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run Algorithm 3, on the smoothed losses where the plan has a radius."""
        check_users(sample, plan.setting)
        return run_phases(plan, sample, ledger, rng)


def run_phases(
    plan: AcceleratedPlan,
    sample: UserSample,
    ledger: Ledger,
    rng: np.random.Generator,
) -> Release:
    """Run Algorithm 3 with the phases of `plan`, from the centre of the constraint set.

    A failed test ends the whole run, at the last private point. All points at which gradients are
    asked for are functions of what was released, and so private.
    """
    users = bounded_means(sample, plan.losses)
    w = users.constraint.centre
    path = Path(w, plan.steps)
    blocks = ledger.disjoint(len(plan.phases))
    done, calls, halted = 0, 0, 0
    for i, (phase, block) in enumerate(zip(plan.phases, blocks, strict=True), start=1):
        part = users.part(phase.start, phase.stop)
        end = run_phase(plan, phase, part, w, block, rng, path, done, f"phase {i}")
        w, done = end.value, done + end.steps
        # A step that halts has asked for its gradients too.
        calls += (end.steps + end.halted) * phase.users * plan.setting.m
        if end.halted:
            halted = i
            break
    path.add(plan.steps, w)
    first = plan.phases[0]
    stopped = (
        f"The users' gradients were too far apart for the test of phase {halted} of "
        f"{len(plan.phases)}: the run ended there, and its result is the last private point.",
    )
    return Descended(value=w, path=path).released(
        ledger,
        plan.losses.diagnostics
        | {
            "phases": float(len(plan.phases)),
            "filter_radius": first.filter.keep.filter_radius,
            "score_threshold": first.filter.release.test.threshold,
            "noise_std": first.noise_std,
            "regulariser": first.regulariser,
            "batch_size": float(first.filter.count),
            "steps": float(done),
            "gradient_calls": float(calls),
            "halted_phase": float(halted),
        }
        | ({"modelled_risk": risk} if math.isfinite(risk := plan.modelled_risk) else {})
        | ({"smoothing_radius": plan.radius} if plan.radius else {}),
        notes=plan.notes + (stopped if halted else ()),
    )


def run_phase(
    plan: AcceleratedPlan,
    phase: AcceleratedPhase,
    users: UserSample,
    start: Vector,
    ledger: Ledger,
    rng: np.random.Generator,
    path: Path,
    done: int,
    label: str,
) -> Accelerated:
    r"""Run Algorithm 2 on the users of one phase from `start`, which must not depend on them.

    A step asks for the users' gradients at :math:`x^{md}_t`, tests and filters them (or those of a
    fresh batch), and adds the gradient of the regulariser to the noisy mean.
    """
    means = open_releases(phase.filter, users.d, ledger, rng, f"{label}: mean gradients")
    release = phase.filter.release
    batch = release.drawn if isinstance(release, BatchGaussian) else phase.users

    def oracle(query: Vector, step: int) -> Vector | None:
        if done + step:
            path.add(done + step, query)
        rows = mean_gradients(plan, users, query, rng)
        if batch < phase.users:
            chosen = rng.choice(phase.users, size=batch, replace=False)
            rows = rows[chosen.astype(np.intp, copy=False)]
        mean = means.next(rows)
        return None if mean is None else mean + phase.regulariser * (query - start)

    objective = plan.objective(phase)
    return staged_descent(start, phase.stages, objective, users.constraint, oracle)


def mean_gradients(
    plan: AcceleratedPlan, users: UserSample, w: Vector, rng: np.random.Generator
) -> Vector:
    """Return the users' mean gradients at `w`, shape (users, d), of smoothed losses if need be."""
    if plan.radius:
        return smoothed_user_gradients(users, w, plan.radius, rng)
    return users.user_gradients(w)
