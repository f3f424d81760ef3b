"""One-pass private SGD for non-smooth losses: Arora, Marinov and Ullah (2020), Algorithm 1."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import ARORA_2020, MethodCard
from dpsco_core.base.parsing import one_of, whole
from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.methods.access import allocated_order, check_sample
from dpsco_core.methods.base import MethodCost, Plan, PrivateMethod, Release
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.euclidean.certificates import certified_steps
from dpsco_core.methods.euclidean.lipschitz import (
    BOUNDED_CAVEAT,
    Losses,
    clipped_gradient,
    lipschitz_losses,
)
from dpsco_core.methods.euclidean.sampling.allocated import plan_allocation, run_allocated
from dpsco_core.methods.euclidean.sampling.moving import Move, MovingPotential
from dpsco_core.methods.records.base import refuse_pure, sampled_budget
from dpsco_core.methods.run import Descended, Path
from dpsco_core.methods.stage import AMPLIFIED, SmallRun, Split, Stage
from dpsco_core.privacy import Ledger, Steps
from dpsco_core.privacy.allocation import MOST_STEPS, AllocatedSteps
from dpsco_core.privacy.mechanisms import (
    AllocatedGaussianSteps,
    GaussianSteps,
    ShuffledGaussianSteps,
    gaussian_noise_std,
)
from dpsco_core.privacy.shuffled_steps import ShuffledSteps
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample
from dpsco_core.statements.arora import theorem_4_step

Sampling = Literal["printed", "allocated"]

SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)
NOISE_ELEMENTS = 100_000  # the largest number of noise entries drawn at once
EUCLIDEAN = 2.0


@dataclass(frozen=True, kw_only=True)
class PrivateSgdPlan(Plan):
    """The parameters of one run; none of them depends on the data."""

    losses: Losses
    gradient_calls: int  # floor(n/2) + 1: the number of records that are used, each once
    step_size: float
    idle: bool  # whether Algorithm 1's steps that add noise and read no record are made
    # The proof that `noise_std` gives (epsilon, delta)-DP; None under a zCDP budget.
    certificate: ShuffledSteps | AllocatedSteps | None
    rho_step: float  # the budget that one record's noisy gradient spends
    l2_sensitivity: float
    noise_std: float
    # The number of records whose noisy gradients are averaged into one step. The released values
    # depend on these gradients only through their mean. It is 1 if there are noise-only steps.
    batch: int = 1
    # the mirror map of the steps; None for Euclidean steps with projection
    potential: MovingPotential | None = None
    # T if every record is allocated at random to one of T steps; 0 if a step has one record.
    allocated_steps: int = 0

    @property
    def mirror(self) -> PowerMirror | None:
        """The mirror map of the steps; None for Euclidean steps."""
        mirror = None if self.potential is None else self.potential.mirror
        return None if mirror is None or mirror.exponent == EUCLIDEAN else mirror

    @property
    def moves(self) -> float:
        """The expected number of steps of a run."""
        if self.allocated_steps:
            return self.allocated_steps
        steps, n = -(-self.gradient_calls // self.batch), self.setting.n
        if not self.idle:
            return steps
        # `draws` is the expected number of independent draws until `gradient_calls` different
        # records have been drawn.
        draws = n * float(digamma(n + 1) - digamma(n - self.gradient_calls + 1))
        return steps + draws - self.gradient_calls

    @property
    def pieces(self) -> float:
        """The expected number of records and noise-only steps that a run processes one by one."""
        if self.allocated_steps:
            return self.gradient_calls
        return self.moves + self.gradient_calls - -(-self.gradient_calls // self.batch)

    @property
    def gradients(self) -> int:
        """The number of gradients of a run."""
        return self.gradient_calls

    def open(self, ledger: Ledger, d: int) -> Steps:
        """Return the noise of the steps, after the ledger has accounted for all of them."""
        if isinstance(self.certificate, AllocatedSteps):
            return ledger.open(
                AllocatedGaussianSteps(
                    certificate=self.certificate, size=d, largest_norm=self.losses.lipschitz
                ),
                label="sums of gradients of randomly allocated records",
            )
        if self.certificate is None:
            return ledger.open(
                GaussianSteps(
                    steps=self.gradient_calls,
                    size=d,
                    l2_sensitivity=self.l2_sensitivity,
                    rho=self.rho_step,
                ),
                label="gradients of one record each",
            )
        return ledger.open(
            ShuffledGaussianSteps(
                certificate=self.certificate, size=d, l2_sensitivity=self.l2_sensitivity
            ),
            label="gradients of one record each, in secret random order",
        )


class RecordByRecord(PrivateMethod):
    """A method whose plan is a `PrivateSgdPlan`: its steps use the noisy gradient of one record."""

    def release(
        self, sample: Sample, plan: PrivateSgdPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run Algorithm 1, with the plan's mirror map if it has one."""
        check_sample(sample, plan.setting)
        order, idle = fresh_order(plan.setting.n, plan, rng)
        steps, losses = plan.open(ledger, plan.setting.d), plan.losses.of(sample)
        potential = plan.potential
        start, move = (
            (None, None)
            if potential is None
            else (potential.start, potential.move(sample.constraint))
        )
        if plan.allocated_steps:
            descended = run_allocated(
                losses,
                order,
                idle,
                steps,
                rng,
                plan.step_size,
                plan.losses.lipschitz,
                start=start,
                move=move,
            )
        else:
            descended = run_steps(plan, losses, order, idle, steps, rng, start=start, move=move)
        step_count = plan.allocated_steps or -(-len(order) // plan.batch) + idle.sum()
        diagnostics = {
            "noise_std": plan.noise_std,
            "steps": float(step_count),
            "step_size": plan.step_size,
        }
        batch = {} if potential is None else {"batch_size": float(plan.batch)}
        if plan.allocated_steps:
            batch = {"batch_size": float(plan.setting.n // plan.allocated_steps)}
        calls = {"gradient_calls": float(plan.gradient_calls)}
        exponent = {} if potential is None else {"mirror_exponent": potential.mirror.exponent}
        return descended.released(
            ledger, plan.losses.diagnostics | diagnostics | batch | calls | exponent
        )


@dataclass(frozen=True, kw_only=True)
class PrivateSgd(RecordByRecord):
    r"""Projected SGD over a random half of the records, with one noisy gradient per record.

    As printed, each step draws one of the n records and leaves out the gradient of a record that
    has been drawn before, until floor(n/2) + 1 gradients are taken. The code uses a secret order
    with a geometric number of noise-only steps between the records, which has the same law
    (theory/arora-marinov-ullah.md, 2.1).

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"tight"``: under an (epsilon, delta) budget the least noise of the two sound accountants
        of `shuffle_steps`; under zCDP that of a single step. ``"paper"``: Theorem 6 with Remark 1,
        :math:`\sigma = 64L\ln(3/\delta)/(\sqrt n\varepsilon)`, in its regime, but never less than
        the sound accounting needs.
    tuning : {"practical", "theory"}
        ``"theory"``: :math:`\eta = D/(\sqrt n(L+\sigma\sqrt d))` and the noise-only steps, with D
        the radius of the ball. ``"practical"``: :math:`\eta = D/\sqrt{m(L^2+\sigma^2d)}`, which
        minimises the bound for m gradients, without noise-only steps: in the sound analysis they
        hide nothing.
    sampling : {"printed", "allocated"}
        ``"printed"``: a secret order, one record a step. ``"allocated"``: each record takes one of
        `allocated_steps` steps, at random and in secret, and a step moves along the noisy sum of
        its records' gradients over n/T. It needs an (epsilon, delta) budget, and about an eighth of
        the noise at n = T = 100 and (1, 1e-6); its step size is the practical one.
    allocated_steps : int, optional
        T, from 1 to n. If None it is the smaller of n and 100.
    """

    sampling: Sampling = "printed"
    allocated_steps: int | None = None

    reads = "whole"
    cost = MethodCost(fixed=1e5, per_row=2, per_element=1, per_piece=6e3)
    departs = (
        Departure(
            tag="no noise-only steps",
            text="It leaves out the steps that add noise alone, which hide nothing.",
            practical=True,
        ),
    )
    card = MethodCard(
        slug="sco.private-sgd",
        name="Private SGD",
        paper=ARORA_2020,
        statement="Algorithm 1, Theorem 6, Remark 1",
        summary="One pass over half of the records in secret random order, one noisy gradient "
        "each; kinks are allowed.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        rate="upper.sco.private-sgd",
        caveat="The paper's proof of privacy has gaps; its noise is confirmed by amplification by "
        "shuffling instead. " + BOUNDED_CAVEAT,
    )
    stage = Stage(
        records=1,
        splits=(Split(function=f"{__name__}.fresh_order", told="order"),),
        others={
            "shuffled": SmallRun(scenario=AMPLIFIED),
            "allocated": SmallRun(fields={"sampling": "allocated", "allocated_steps": 4}),
        },
    )
    colour = "magenta"
    symbol = "hexagon"
    dashed = True

    def __post_init__(self) -> None:
        """Refuse an unknown kind of sampling, and a number of steps outside its range."""
        one_of("sampling", self.sampling, SAMPLINGS)
        if self.allocated_steps is not None:
            whole("allocated_steps", self.allocated_steps, 1, MOST_STEPS)

    def plan(self, setting: Setting) -> PrivateSgdPlan:
        """Return the plan of the sampling, the noise and the step size."""
        refuse_pure(setting)
        if self.sampling == "allocated":
            sampled_budget(setting, self.calibration)
            return self._allocated_plan(setting)
        n, d = setting.n, setting.d
        losses = lipschitz_losses(setting, self.tuning, setting.gaussian_rho)
        sensitivity = 2 * losses.lipschitz
        certificate = certified_steps(setting, self.calibration)
        rho_step = setting.gaussian_rho if certificate is None else certificate.rho_step
        noise_std = gaussian_noise_std(sensitivity, rho_step)
        calls, distance = n // 2 + 1, setting.constants.diameter / 2
        theory = self.tuning == "theory"
        if theory:
            step_size = theorem_4_step(n, d, losses.lipschitz, noise_std, distance)
        else:
            step_size = distance / math.sqrt(calls * (losses.lipschitz**2 + d * noise_std**2))
        return PrivateSgdPlan(
            setting=setting,
            losses=losses,
            gradient_calls=calls,
            step_size=step_size,
            idle=theory,
            certificate=certificate,
            rho_step=rho_step,
            l2_sensitivity=sensitivity,
            noise_std=noise_std,
        )

    def _allocated_plan(self, setting: Setting) -> PrivateSgdPlan:
        """Return the plan in which records are allocated to steps at random."""
        losses = lipschitz_losses(setting, self.tuning, setting.gaussian_rho)
        allocation = plan_allocation(setting, self.allocated_steps, losses.lipschitz)
        return PrivateSgdPlan(
            setting=setting,
            losses=losses,
            gradient_calls=setting.n,
            step_size=allocation.step_size,
            idle=False,
            certificate=allocation.certificate,
            rho_step=0.0,
            l2_sensitivity=2 * losses.lipschitz,
            noise_std=allocation.noise_std,
            allocated_steps=allocation.certificate.steps,
        )


def fresh_order(
    n: int, plan: PrivateSgdPlan, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Draw the m records that are used, in secret order, and the noise-only steps before each.

    Both have shape (m,). If k of n records have been drawn, the next draw is a new record with
    probability (n-k)/n. If the plan allocates records to T steps, the result is instead all records
    in the order of their steps, shape (n,), and the number of records of each step, shape (T,).
    """
    if plan.allocated_steps:
        return allocated_order(n, plan.allocated_steps, rng)
    calls = plan.gradient_calls
    order = rng.permutation(n)[:calls]
    if not plan.idle:
        return order, np.zeros(calls, dtype=np.int64)
    return order, rng.geometric((n - np.arange(calls)) / n) - 1


def run_steps(
    plan: PrivateSgdPlan,
    sample: Sample,
    order: NDArray[np.intp],
    idle: NDArray[np.int64],
    steps: Steps,
    rng: np.random.Generator,
    *,
    # Shape (d,): the first point; None stands for the centre of the constraint set.
    start: Vector | None = None,
    # A function of a point w and a pull η(g+ξ) that returns the next point; None stands for the
    # projection of their difference.
    move: Move | None = None,
) -> Descended:
    """Run Algorithm 1 over the records in `order`; return the average of the queried points.

    `idle` has the number of noise-only steps before each record, and `steps` the noise.
    """
    d, size, limit, batch = sample.d, plan.step_size, plan.losses.lipschitz, plan.batch
    project = sample.constraint.project
    move = (lambda w, pull: project(w - pull)) if move is None else move
    w, total, steps_taken = sample.constraint.centre if start is None else start, np.zeros(d), 0
    path = Path(w, -(-len(order) // batch) + int(idle.sum()))
    block = batch * max(1, NOISE_ELEMENTS // (d * batch))
    # Records may hold any doubles, so overflow and NaN are expected.
    with np.errstate(over="ignore", invalid="ignore"):
        for low in range(0, len(order), block):
            records = order[low : low + block].tolist()
            fresh = steps.noise(len(records), d, rng)
            for k in range(0, len(records), batch):
                for _ in range(idle[low + k] if plan.idle else 0):
                    w = move(w, size * steps.idle_noise(1, d, rng)[0])
                    steps_taken += 1
                    path.add(steps_taken, w)
                part = records[k : k + batch]
                pull = fresh[k : k + batch].sum(axis=0) if batch > 1 else fresh[k]
                for record in part:
                    pull += clipped_gradient(sample, w, record, limit)
                pull *= size / len(part)
                total += len(part) * w
                w = move(w, pull)
                steps_taken += 1
                path.add(steps_taken, w)
    return Descended(value=total / len(order), path=path)
