"""The run of user-level accelerated descent: phases on disjoint users with tested releases."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.methods.departure import WHOLE_PHASES
from dpsco_core.methods.euclidean.lipschitz import Losses
from dpsco_core.methods.phases import PhasedMethod, PhasesPlan
from dpsco_core.methods.run import Descended, Path
from dpsco_core.methods.stage import Split
from dpsco_core.methods.user.accelerated.batches import BatchGaussian
from dpsco_core.methods.user.accelerated.schedule import AcceleratedPhase
from dpsco_core.methods.user.accelerated.sgd import Accelerated, Curvature, staged_descent
from dpsco_core.methods.user.accelerated.smoothing import smoothed_user_gradients
from dpsco_core.methods.user.base import FILTER_STAGE, bounded_means, check_users
from dpsco_core.methods.user.release import open_releases
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.users import UserSample


@dataclass(frozen=True, kw_only=True)
class AcceleratedPhases(PhasesPlan):
    """Phases of accelerated descent, each protected by tests: Algorithm 3.

    The class has its own `run`, because the path includes the points inside a phase.
    """

    # L and the smoothness of the losses, and the norm to which features are shrunk
    losses: Losses
    smoothness: float  # the smoothness of the risk that AC-SA assumes, without the regulariser
    # The strong convexity of the risk that AC-SA assumes, without the regulariser.
    strong_convexity: float
    phases: tuple[AcceleratedPhase, ...]
    # The risk that the model of the practical tuning predicts; NaN for other tunings.
    modelled_risk: float = math.nan
    notes: tuple[str, ...] = ()
    # r, the radius of the ball over which losses are averaged; 0 if losses are not averaged.
    radius: float = 0.0

    @property
    def halts(self) -> bool:
        """Whether a run may end early: yes, at a test that does not pass."""
        return True

    @property
    def steps(self) -> int:
        """The total number of steps of all phases."""
        return sum(phase.steps for phase in self.phases)

    @property
    def passes(self) -> float:
        """How often a run reads all users; a step on a part of them counts as that part."""
        last_user = max(phase.stop for phase in self.phases)
        return sum(phase.steps * phase.users for phase in self.phases) / last_user

    @property
    def moves(self) -> float:
        """How often a run moves a point and projects it: its steps."""
        return self.steps

    @property
    def gradients(self) -> int:
        """The number of item gradients of a whole run."""
        return sum(phase.steps * phase.users for phase in self.phases) * self.setting.m

    def objective(self, phase: AcceleratedPhase) -> Curvature:
        """Return the constants of the regularised risk of a phase that AC-SA uses."""
        mu = phase.regulariser + self.strong_convexity
        smoothness = phase.regulariser + max(self.smoothness, self.strong_convexity)
        return Curvature(strong_convexity=mu, smoothness=smoothness)

    def run(
        self, sample: UserSample, ledger: Ledger, rng: np.random.Generator
    ) -> tuple[Descended, Mapping[str, float], tuple[str, ...]]:
        """Run the phases from the centre of the set, on the smoothed losses if there is a radius.

        A failed test ends the whole run, at the last private point. All points at which gradients
        are asked for are functions of what was released, and so private.
        """
        check_users(sample, self.setting)
        users = bounded_means(sample, self.losses)
        w = users.constraint.centre
        path = Path(w, self.steps)
        blocks = ledger.disjoint(len(self.phases))
        steps, calls, halted = 0, 0, 0
        for i, (phase, block) in enumerate(zip(self.phases, blocks, strict=True), start=1):
            part = users.part(phase.start, phase.stop)
            end = run_phase(self, phase, part, w, block, rng, path, steps, f"phase {i}")
            w, steps = end.value, steps + end.steps
            # The step that halts a phase has also computed its gradients.
            calls += (end.steps + end.halted) * phase.users * self.setting.m
            if end.halted:
                halted = i
                break
        path.add(self.steps, w)
        first_phase = self.phases[0]
        stopped = (
            f"The users' gradients were too far apart for the test of phase {halted} of "
            f"{len(self.phases)}: the run ended there, and its result is the last private point.",
        )
        diagnostics = (
            self.losses.diagnostics
            | {
                "phases": float(len(self.phases)),
                "filter_radius": first_phase.filter.keep.filter_radius,
                "score_threshold": first_phase.filter.release.test.threshold,
                "noise_std": first_phase.noise_std,
                "regulariser": first_phase.regulariser,
                "batch_size": float(first_phase.filter.count),
                "steps": float(steps),
                "gradient_calls": float(calls),
                "halted_phase": float(halted),
            }
            | ({"modelled_risk": risk} if math.isfinite(risk := self.modelled_risk) else {})
            | ({"smoothing_radius": self.radius} if self.radius else {})
        )
        notes = self.notes + (stopped if halted else ())
        return Descended(value=w, path=path), diagnostics, notes


def in_two_phases(method: Any, setting: Setting) -> AcceleratedPhases:
    """Return a plan of two equal phases, one for each half of the users, as tests need it."""
    plan: AcceleratedPhases = method.plan(replace(setting, n=setting.n // 2))
    first_phase, half = plan.phases[0], plan.phases[0].stop
    phases = (first_phase, replace(first_phase, start=half, stop=2 * half))
    return replace(plan, setting=setting, phases=phases)


class FilteredGradients(PhasedMethod):
    """A user-level method whose plan is `AcceleratedPhases`."""

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


def run_phase(
    plan: AcceleratedPhases,
    phase: AcceleratedPhase,
    users: UserSample,
    start: Vector,
    ledger: Ledger,
    rng: np.random.Generator,
    path: Path,
    steps_before: int,
    label: str,
) -> Accelerated:
    r"""Run Algorithm 2 on one phase's users from `start`, which must not depend on them.

    A step asks for the users' gradients at :math:`x^{md}_t`, tests and filters them (or those of a
    fresh batch), and adds the gradient of the regulariser to the noisy mean.
    """
    means = open_releases(phase.filter, users.d, ledger, rng, f"{label}: mean gradients")
    release = phase.filter.release
    batch = release.drawn if isinstance(release, BatchGaussian) else phase.users

    def oracle(query: Vector, step: int) -> Vector | None:
        """Return the noisy filtered mean gradient at a query; None if the test fails."""
        if steps_before + step:
            path.add(steps_before + step, query)
        rows = mean_gradients(plan, users, query, rng)
        if batch < phase.users:
            chosen = rng.choice(phase.users, size=batch, replace=False)
            rows = rows[chosen.astype(np.intp, copy=False)]
        mean = means.next(rows)
        return None if mean is None else mean + phase.regulariser * (query - start)

    objective = plan.objective(phase)
    return staged_descent(start, phase.stages, objective, users.constraint, oracle)


def mean_gradients(
    plan: AcceleratedPhases, users: UserSample, w: Vector, rng: np.random.Generator
) -> Vector:
    """Return the users' mean gradients at `w`, shape (users, d), of smoothed losses if required."""
    if plan.radius:
        return smoothed_user_gradients(users, w, plan.radius, rng)
    return users.user_gradients(w)
