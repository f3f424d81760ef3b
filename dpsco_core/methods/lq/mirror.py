r"""Truncated mirror descent in one pass, for heavy-tailed gradients: what its three methods share.

T steps over disjoint batches of :math:`b = \lfloor n/T\rfloor` records, from :math:`w_0 = 0`:

.. math:: w_t = \arg\min_{w \in C} \Big\langle\frac1b\sum_{i \in B_t}\nabla\ell(w_{t-1}, Z_i)
    1\{\|\nabla\ell(w_{t-1}, Z_i)\|_{q'} \le \tau\} + \xi_t, w\Big\rangle
    + \gamma D_\Phi(w, w_{t-1})

and the average of :math:`w_1, \dots, w_T` is released. A gradient beyond tau becomes 0; it is not
shortened. Su, Zhao and Wang (2023), Algorithm 4, and theory/su-zhao-wang.md, 2.5 to 2.7.

A record enters one batch, and replacing it moves the sum of the batch by at most 2 tau in the dual
norm. Two accountings are sound. "public": one draw of noise a batch, whatever the order of the
records (parallel composition). "shuffled": the records are in fresh, secret, uniformly random
order, and each brings a draw of its own (amplification by shuffling).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector, real_array
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import smallest
from dpsco_core.data.rows import Rows, ScaledRows, rows_per_block
from dpsco_core.geometry.mirror import PowerMirror, bregman_point, mirror_step
from dpsco_core.geometry.norms import lq_norm, row_norms
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.access import check_sample
from dpsco_core.methods.base import Calibration, Plan, PrivateMethod, Release, Tuning
from dpsco_core.methods.lq.inputs import Order, release_rho, shape_of, space_of
from dpsco_core.methods.lq.mirror_schedule import (
    descent,
    practical_choice,
    published,
    published_weight,
)
from dpsco_core.methods.mean.base import LARGEST_LEVEL, check_level, refuse_pure
from dpsco_core.methods.run import WholeAverage, walk
from dpsco_core.methods.stage import SmallRun, Split, Stage
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import ShapedSteps
from dpsco_core.privacy.mechanisms.shaped import Noise, Shaped, lemma_3_steps
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.privacy.shuffled_steps import ShuffledSteps, shuffle_steps
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

ACCOUNTINGS = {
    "shuffled": "Accounting: shuffled; the order of the records is secret, and each brings noise "
    "of its own.",
    "public": "Accounting: unshuffled; one draw of noise a batch, because a record enters one "
    "batch only.",
}


@dataclass(frozen=True, kw_only=True)
class MirrorPlan(Plan):
    r"""The parameters of one run; none of them depends on the data.

    Raises `InvalidInput` if the threshold is outside the range of `check_level`.
    """

    space: RegularSpace  # the parameters' space: it knows the dual norm and the mirror map
    # T and b; n - Tb records are left out
    steps: int
    batch_size: int
    threshold: float  # τ, the dual norm beyond which a gradient becomes 0
    step_weight: float  # γ, one over the step size
    draw: Shaped  # one draw of noise: of a record if shuffled, of a batch otherwise
    # what makes the draws of the records private together; None for the other accounting
    certificate: ShuffledSteps | None

    def __post_init__(self) -> None:
        check_level("truncation_level", self.threshold)

    @property
    def accounting(self) -> Order:
        """Which accounting the noise is for."""
        return "public" if self.certificate is None else "shuffled"

    @property
    def draws_a_batch(self) -> int:
        return 1 if self.certificate is None else self.batch_size

    @property
    def moves(self) -> float:
        return self.steps

    @property
    def mirror(self) -> PowerMirror:
        return PowerMirror.for_space(self.space)

    @property
    def gradients(self) -> int:
        return self.steps * self.batch_size

    @property
    def diagnostics(self) -> dict[str, float]:
        return {
            "truncation_level": self.threshold,
            "noise_std": self.draw.noise_scale,
            "shuffled": float(self.certificate is not None),
            "steps": float(self.steps),
            "step_size": 1 / self.step_weight,
            "step_weight": self.step_weight,
            "batch_size": float(self.batch_size),
            "gradient_calls": float(self.gradients),
        }

    def open(self, ledger: Ledger) -> Steps:
        """Account for all noise of the run, before any record is looked at."""
        if self.certificate is None:
            return ledger.open(
                ShapedSteps(release=self.draw, steps=self.steps),
                label="sums of truncated gradients, a batch each",
            )
        return ledger.open(
            ShapedSteps(
                release=self.draw, steps=self.certificate.steps, certificate=self.certificate
            ),
            label="truncated gradients of one record each, in secret random order",
        )


def mirror_plan(
    setting: Setting,
    orders: tuple[Order, ...],
    noise: Noise,
    calibration: Calibration,
    tuning: Tuning,
) -> MirrorPlan:
    """Return the parameters of a run at `setting`, in l_q for q <= 2 and in l2 beyond.

    Those of `practical_choice`, or `published` and `published_weight`, with the noise of the order
    among `orders` that leaves less on a batch's mean. Raises `NotApplicable` where none is private.
    """
    draws = {order: _draw_of(setting, order, noise, calibration) for order in orders}
    inputs = {o: descent(setting, o, noise, calibration) for o, (rho, _) in draws.items() if rho}
    if not inputs:
        raise NotApplicable(
            f"Lemma 3 is proven for epsilon at most 1 and delta at most 0.9, and the budget is "
            f"{setting.budget}.",
            calibration="tight",
        )
    for at in inputs.values():
        check_level("truncation_level", at.gradient_bound + math.sqrt(at.variance))
    if tuning == "practical":
        chosen = {order: practical_choice(at) for order, at in inputs.items()}
        order = smallest(chosen, lambda o: chosen[o].value, what="order of the noise")
        steps, threshold, weight, _ = chosen[order]
    else:
        shuffles = "shuffled" in orders and isinstance(setting.budget, ApproxDP)
        steps, threshold = published(setting, next(iter(inputs.values())), shuffled=shuffles)
        noises = {o: at.errors(steps, threshold)[2] for o, at in inputs.items()}
        order = smallest(noises, lambda o: noises[o], what="order of the noise")
        weight = published_weight(inputs[order], steps, threshold)
    at, (rho, certificate) = inputs[order], draws[order]
    draw = Shaped(at.space, 2 * threshold, rho, noise, shape_of(noise, calibration))
    draw, certificate = _accounted(draw, certificate, setting)
    return MirrorPlan(
        setting=setting,
        space=at.space,
        steps=steps,
        batch_size=setting.n // steps,
        threshold=threshold,
        step_weight=weight,
        draw=draw,
        certificate=certificate,
    )


def _draw_of(
    setting: Setting, order: Order, noise: Noise, calibration: Calibration
) -> tuple[float, ShuffledSteps | None]:
    """Return the rho of one draw, 0 where the accounting proves nothing, and its certificate.

    Without amplification a draw a record is never the better one.
    """
    budget = setting.budget
    if order == "public":
        return release_rho(budget, noise, calibration), None
    if not isinstance(budget, ApproxDP):
        return 0.0, None
    n, epsilon, delta = setting.n, budget.epsilon, budget.delta
    if calibration == "paper":
        proof = lemma_3_steps(n, epsilon, delta)
    else:
        proof = shuffle_steps(n, epsilon, delta, "gaussian" if noise == "gaussian" else "zcdp")
    return (proof.rho_step, proof) if proof is not None and proof.amplified else (0.0, None)


def _accounted(
    draw: Shaped, certificate: ShuffledSteps | None, setting: Setting
) -> tuple[Shaped, ShuffledSteps | None]:
    """Return the same noise with what is proven of it, where the budget has room for that.

    Room for the ratio by which kappa is printed too small: Lemma 3 asks more noise than the best
    conversion from zCDP does, and the clones' closed form more than their exact divergence.
    """
    budget = setting.budget
    if certificate is None:
        return draw.proven(budget.to_zcdp().rho), None
    assert isinstance(budget, ApproxDP)
    sound = shuffle_steps(setting.n, budget.epsilon, budget.delta, "zcdp")
    if draw.calibration == "tight" or not sound.amplified:
        return draw, certificate
    proven = draw.proven(sound.rho_step)
    return proven, certificate if proven is draw else sound


INSIDE = 0.999  # a share of the level beyond which a gradient becomes 0


def inside(plan: MirrorPlan, d: int) -> float:
    """Return the coordinate of a gradient, alike in all, just inside of what becomes 0."""
    return INSIDE * plan.threshold / lq_norm(np.ones(d), plan.space.dual)


def few_steps(plan: MirrorPlan) -> MirrorPlan:
    """Return the plan with its records in four batches."""
    return replace(plan, steps=4, batch_size=plan.gradients // 4)


def in_few_steps(method: Any, setting: Setting) -> MirrorPlan:
    """Return the plan of a small run."""
    return few_steps(method.plan(setting))


def _check_applicable(setting: Setting) -> None:
    """Raise `NotApplicable` where no such method can run, or its parameters are not certified."""
    refuse_pure(setting)
    constants = setting.constants
    if math.isinf(constants.diameter) and setting.constraint is None:
        raise NotApplicable(
            "The steps follow from the diameter of the constraint set, and it is unbounded.",
            diameter=4.0,
        )
    if not setting.body.contains(np.zeros(setting.d)):
        raise NotApplicable(
            "Mirror descent starts at 0, and the constraint set does not contain it.",
            nearest="set geometry=solid-simplex",
            changes=(("geometry", "solid-simplex"), ("q", None)),
        )
    if math.isinf(constants.smoothness):
        raise NotApplicable(
            "The step size follows from the smoothness of the population risk, and the problem "
            "certifies none.",
            problem="huber",
        )
    finite = math.isfinite(constants.variance_trace) or math.isfinite(constants.coordinate_moment)
    if not (finite and math.isfinite(constants.mean_gradient_bound)):
        raise NotApplicable(
            "The truncation level follows from the variance of the gradients and the size of their "
            "mean, and the problem does not certify both.",
            distribution="gaussian",
        )
    # That a step is known on the set.
    bregman_point(PowerMirror.for_space(space_of(setting)), setting.body, np.zeros(setting.d))


class Truncated(PrivateMethod):
    """One pass of truncated mirror descent: a method adds its card and its exponents."""

    orders: ClassVar[tuple[Order, ...]] = ("shuffled", "public")  # accountings that are compared

    reads = "whole"
    stage = Stage(
        place=inside,
        splits=(Split(function=f"{__name__}.truncated_sum", told="positions"),),
        small=SmallRun(plan=in_few_steps),
    )

    def planned(self, setting: Setting, noise: Noise) -> MirrorPlan:
        _check_applicable(setting)
        return mirror_plan(setting, self.orders, noise, self.calibration, self.tuning)

    def release(
        self, sample: Sample, plan: MirrorPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run the pass; nothing but the noisy means of batches depends on the records.

        A method that compares two accountings says which one it has used.
        """
        check_sample(sample, plan.setting)
        noise, n, d = plan.open(ledger), sample.n, sample.d
        mirror, constraint = PowerMirror.for_space(plan.space), sample.constraint
        order = np.arange(n) if plan.certificate is None else rng.permutation(n)
        lengths = base_lengths(sample, plan.space.dual)

        def step(w: Vector, t: int) -> Vector:
            batch = order[t * plan.batch_size : (t + 1) * plan.batch_size]
            pull = truncated_sum(
                sample.gradients(w), batch, plan.threshold, plan.space.dual, lengths
            ) + noise.summed_noise(plan.draws_a_batch, d, rng)
            return mirror_step(mirror, constraint, w, pull / plan.batch_size, plan.step_weight)

        walked = walk(np.zeros(d), WholeAverage(steps=plan.steps), step)
        used = (ACCOUNTINGS[plan.accounting],) if len(self.orders) > 1 else ()
        return walked.released(ledger, plan.diagnostics, (*used, *ledger.flaws))


def base_lengths(sample: Sample, exponent: float) -> Vector | None:
    """Return the norms of the features of a generalised linear model, shape (n,); else None.

    Its gradients are multiples of them, so that they are measured once a run.
    """
    rows = sample.gradients(np.zeros(sample.d))
    if not isinstance(rows, ScaledRows):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        return rows.x.norms() if exponent == 2 else rows.x.norms_in(exponent)


def truncated_sum(
    rows: Rows,
    batch: NDArray[np.intp],  # shape (b,)
    threshold: float,
    exponent: float,  # the exponent of the norm
    # shape (n,): the norms of the base rows; given for `ScaledRows`, which are then not formed
    lengths: Vector | None,
) -> Vector:
    """Return the sum of the rows at `batch`, those with a norm above `threshold` left out.

    A row that is not finite, or whose factors are beyond the range in which products of doubles are
    safe, is left out too: what a record adds is in the ball of radius `threshold` for every record.

    The result has shape (d,).
    """
    total, size = np.zeros(rows.d), rows_per_block(rows.d)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for low in range(0, len(batch), size):
            part = batch[low : low + size]
            if lengths is None:
                block = real_array("rows", rows.take(part))
                kept = row_norms(block, exponent) <= threshold  # a NaN is not
                weights = np.ones(len(part))
            else:
                scaled = cast(ScaledRows, rows)
                block, norms = scaled.x.take(part), lengths[part]
                weights = scaled.coefficients_of(block, part)
                sizes = np.abs(weights)
                kept = (sizes * norms <= threshold) & (norms <= LARGEST_LEVEL)
                kept &= sizes <= LARGEST_LEVEL
            if not kept.all():
                block, weights = block[kept], weights[kept]
            total += weights @ block
    return total
