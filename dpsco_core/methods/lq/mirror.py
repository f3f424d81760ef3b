r"""The common part of the three methods of truncated mirror descent, for heavy-tailed gradients.

T steps over disjoint batches of :math:`b = \lfloor n/T\rfloor` records, from :math:`w_0 = 0`:

.. math:: w_t = \arg\min_{w \in C} \Big\langle\frac1b\sum_{i \in B_t}\nabla\ell(w_{t-1}, Z_i)
    1\{\|\nabla\ell(w_{t-1}, Z_i)\|_{q'} \le \tau\} + \xi_t, w\Big\rangle
    + \gamma D_\Phi(w, w_{t-1})

and the average of :math:`w_1, \dots, w_T` is released. C is the constraint set, :math:`\xi_t` the
noise, :math:`D_\Phi` the Bregman divergence of the mirror map :math:`\Phi` of the space, whose
constant of regularity is :math:`\kappa`, and :math:`1/\gamma` the step size; q' is the exponent of
the dual norm. A gradient beyond tau, or one that is not finite, becomes 0; it is not shortened.
Where q > 2 the space is l2. Su, Zhao and Wang (2023), Algorithm 4, and theory/su-zhao-wang.md, 2.5
to 2.7.

The three methods, subclasses of `Truncated`, differ in the exponents q that they allow, in the law
of the noise and in the accountings that they compare.

A record enters one batch, and replacing it moves the sum of the batch by at most 2 tau in the dual
norm. One draw of noise is calibrated to that sensitivity (`Shaped`), and the sum of a batch gets
one draw or more. Two accountings are sound, with noise of the proven size. "public": one draw per
batch with the whole rho, valid for any order of the records, because they are in disjoint batches
(parallel composition). "shuffled": the records are in fresh, secret, uniformly random order, a
batch gets one draw for each of its records, and the rho of a draw is the larger one that
amplification by shuffling allows; for (epsilon, delta) budgets only.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector, real_array
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import smallest
from dpsco_core.data.rows import Rows, ScaledRows, rows_per_block
from dpsco_core.geometry.mirror import PowerMirror, bregman_point
from dpsco_core.geometry.norms import lq_norm, row_norms
from dpsco_core.methods.access import BatchesInOrder, Selected
from dpsco_core.methods.base import Calibration, Tuning
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.lq.inputs import Order, release_rho, shape_of, space_of
from dpsco_core.methods.lq.mirror_schedule import (
    descent_inputs,
    practical_choice,
    published_parameters,
    published_weight,
)
from dpsco_core.methods.records.base import LARGEST_LEVEL, check_level, refuse_pure
from dpsco_core.methods.stage import SmallRun, Split, Stage
from dpsco_core.methods.statistics import Measuring, Statistic
from dpsco_core.methods.steps import MirrorSteps
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import ShapedSteps
from dpsco_core.privacy.mechanisms.shaped import Noise, Shaped, lemma_3_steps
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.privacy.shuffled_steps import ShuffledSteps, shuffle_steps
from dpsco_core.problems.base import Setting

ACCOUNTINGS = {
    "shuffled": "Accounting: shuffled; the order of the records is secret, and each brings noise "
    "of its own.",
    "public": "Accounting: unshuffled; one draw of noise a batch, because a record enters one "
    "batch only.",
}


@dataclass(frozen=True, kw_only=True)
class TruncatedMeans(Statistic):
    r"""Means of a batch's gradients, in which gradients longer than the threshold count as 0.

    A record moves the sum of its batch by at most :math:`2\tau` in the dual norm. The ledger
    accounts for the noise of all batches at once. Raises `InvalidInput` if the threshold is outside
    the range of `check_level`.
    """

    threshold: float  # τ: a gradient with a larger dual norm is replaced by 0
    dual: float  # the exponent of the dual norm
    draw: Shaped  # one draw of noise, for a record if shuffled and for a batch otherwise
    # The proof that the noisy records are private together; None for the public-order accounting.
    certificate: ShuffledSteps | None

    def __post_init__(self) -> None:
        """Refuse a truncation level outside its range."""
        check_level("truncation_level", self.threshold)

    @property
    def accounting(self) -> Order:
        """The accounting for which the noise is calibrated."""
        return "public" if self.certificate is None else "shuffled"

    def divisor(self, batch: int) -> float:
        """Return the public number by which a batch's sum is divided."""
        return batch

    def draws(self, batch: int) -> int:
        """Return the number of noise draws that a batch gets."""
        return 1 if self.certificate is None else batch

    def open(self, ledger: Ledger, steps: int) -> Steps:
        """Return the noise of all steps, after the ledger has accounted for it."""
        if self.certificate is None:
            return ledger.open(
                ShapedSteps(release=self.draw, steps=steps),
                label="sums of truncated gradients, a batch each",
            )
        return ledger.open(
            ShapedSteps(
                release=self.draw, steps=self.certificate.steps, certificate=self.certificate
            ),
            label="truncated gradients of one record each, in secret random order",
        )

    def measuring(self, n: int, d: int, rho: float, steps: int) -> Measuring:
        """Return what makes the releases of a run; it opens their noise at the first step."""
        return BatchSums(self, batch=n, steps=steps)


@dataclass
class BatchSums:
    """The batches of one run, with their noise and with feature norms that are computed once."""

    statistic: TruncatedMeans
    batch: int  # the number of records of a batch
    steps: int  # the number of batches
    noise: Steps | None = None  # the noise of all batches; None before the first one
    # Shape (n,): the norms of all features; None before the first batch, and for losses without.
    lengths: Vector | None = None
    diagnostics: ClassVar[Mapping[str, float]] = {}

    def take(self, rows: Selected, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return the noisy mean of a batch's truncated gradients, shape (d,)."""
        statistic, gradients = self.statistic, rows.rows
        if self.noise is None:
            self.noise = statistic.open(ledger, self.steps)
            self.lengths = base_lengths(gradients, statistic.dual)
        total = truncated_sum(
            gradients, rows.places, statistic.threshold, statistic.dual, self.lengths
        )
        pull = total + self.noise.summed_noise(statistic.draws(self.batch), gradients.d, rng)
        return pull / statistic.divisor(self.batch)


def mirror_plan(
    setting: Setting,
    orders: tuple[Order, ...],
    noise: Noise,
    calibration: Calibration,
    tuning: Tuning,
) -> DescentPlan:
    """Return the parameters of a run at `setting`, in l_q for q <= 2 and in l2 for larger q.

    In the practical tuning T, tau, gamma and the accounting minimise a model of the error. In
    theory T, tau and gamma are the paper's (`published_parameters`), with the accounting of
    `orders` that leaves less noise on the mean of a batch. Raises `NotApplicable` if no accounting
    proves the method private.
    """
    # For each accounting: the rho of one draw of noise, and the certificate of amplification.
    draws = {order: _draw_of(setting, order, noise, calibration) for order in orders}
    inputs = {
        o: descent_inputs(setting, o, noise, calibration) for o, (rho, _) in draws.items() if rho
    }
    if not inputs:
        raise NotApplicable(
            "Lemma 3 of Su, Zhao and Wang (2023) is proven for epsilon at most 1 and delta at most "
            f"0.9, and the budget is {setting.budget}.",
            calibration="tight",
        )
    # The least threshold that the formulas can give is checked before they are evaluated.
    for at in inputs.values():
        check_level("truncation_level", at.gradient_bound + math.sqrt(at.variance))
    if tuning == "practical":
        chosen = {order: practical_choice(at) for order, at in inputs.items()}
        order = smallest(chosen, lambda o: chosen[o].value, what="accounting")
        steps, threshold, weight, _ = chosen[order]
    else:
        # The printed T and tau are those of shuffling even if its accounting proves nothing here;
        # they are the same for the inputs of every accounting.
        shuffles = "shuffled" in orders and isinstance(setting.budget, ApproxDP)
        steps, threshold = published_parameters(
            setting, next(iter(inputs.values())), shuffled=shuffles
        )
        # The third part of the error is the noise on the mean of a batch.
        noises = {o: at.errors(steps, threshold)[2] for o, at in inputs.items()}
        order = smallest(noises, lambda o: noises[o], what="accounting")
        weight = published_weight(inputs[order], steps, threshold)
    chosen_inputs, (rho, certificate) = inputs[order], draws[order]
    draw = Shaped(chosen_inputs.space, 2 * threshold, rho, noise, shape_of(noise, calibration))
    draw, certificate = _accounted(draw, certificate, setting)
    means = TruncatedMeans(
        threshold=threshold, dual=chosen_inputs.space.dual, draw=draw, certificate=certificate
    )
    descent_steps = MirrorSteps(space=chosen_inputs.space, steps=steps, weight=weight)
    # If the method compares two accountings, the note names the one in use.
    notes = (ACCOUNTINGS[means.accounting],) if len(orders) > 1 else ()
    return build_plan(setting, means, descent_steps, setting.n // steps, notes=notes)


def build_plan(
    setting: Setting,
    means: TruncatedMeans,
    steps: MirrorSteps,
    batch: int,
    notes: tuple[str, ...],
) -> DescentPlan:
    """Return the plan of mirror descent with these means, steps and batches."""
    shuffled = means.certificate is not None
    return DescentPlan(
        setting=setting,
        statistic=means,
        access=BatchesInOrder(size=batch, secret=shuffled),
        descent=steps,
        diagnostics={
            "truncation_level": means.threshold,
            "noise_std": means.draw.noise_scale,
            "shuffled": float(shuffled),
            **steps.diagnostics,
            "batch_size": float(batch),
            "gradient_calls": float(steps.steps * batch),
        },
        notes=notes,
    )


def _draw_of(
    setting: Setting, order: Order, noise: Noise, calibration: Calibration
) -> tuple[float, ShuffledSteps | None]:
    """Return the rho of one draw of noise in an accounting, and its certificate of amplification.

    The rho is 0 if the accounting proves nothing, or if shuffling does not amplify: one draw of
    noise per batch is then never worse. In public order the certificate is None.
    """
    budget = setting.budget
    if order == "public":
        return release_rho(budget, noise, calibration), None
    if not isinstance(budget, ApproxDP):
        return 0.0, None
    n, epsilon, delta = setting.n, budget.epsilon, budget.delta
    if calibration == "paper":
        steps = lemma_3_steps(n, epsilon, delta)
    else:
        steps = shuffle_steps(n, epsilon, delta, "gaussian" if noise == "gaussian" else "zcdp")
    return (steps.rho_step, steps) if steps is not None and steps.amplified else (0.0, None)


def _accounted(
    draw: Shaped, certificate: ShuffledSteps | None, setting: Setting
) -> tuple[Shaped, ShuffledSteps | None]:
    """Return the noise and its certificate, with a valid proof of privacy if there is one.

    The paper's generalised Gaussian noise is sized by a kappa that is printed too small, so that
    its own proof fails. The noise may be private all the same, because the paper's Lemma 3 asks for
    more of it than the best accounting does: that accounting is tried here. If it proves nothing
    either, both are returned as they are, and the ledger marks the release as flawed.
    """
    budget = setting.budget
    if certificate is None:
        return draw.proven(budget.to_zcdp().rho), None
    assert isinstance(budget, ApproxDP)
    sound = shuffle_steps(setting.n, budget.epsilon, budget.delta, "zcdp")
    if draw.calibration == "tight" or not sound.amplified:
        return draw, certificate
    proven = draw.proven(sound.rho_step)
    # `Shaped.proven` returns the draw itself where it finds no proof.
    return proven, (certificate if proven is draw else sound)


# The norm of the gradients in audits, as a share of the threshold: they are just kept, whereas
# longer ones become 0 and reveal nothing.
INNER_SHARE = 0.999


def inner_coordinate(plan: DescentPlan, d: int) -> float:
    """Return the coordinate, equal in all places, of a gradient just below the threshold."""
    means = plan.statistic
    assert isinstance(means, TruncatedMeans)
    return INNER_SHARE * means.threshold / lq_norm(np.ones(d), means.dual)


def few_steps(plan: DescentPlan) -> DescentPlan:
    """Return the plan with its records in four batches, for tests."""
    means, steps = plan.statistic, plan.descent
    assert isinstance(means, TruncatedMeans) and isinstance(steps, MirrorSteps)
    four = replace(steps, steps=4)
    return build_plan(plan.setting, means, four, steps.steps * plan.step_rows // 4, plan.notes)


def in_few_steps(method: Any, setting: Setting) -> DescentPlan:
    """Return the plan of a method at a setting with its records in four batches, for tests."""
    return few_steps(method.plan(setting))


def check_applicable(setting: Setting) -> None:
    """Raise `NotApplicable` if the method cannot run, or a constant that its parameters follow from
    is not certified.

    The arguments of the error beside its sentence are the settings that it suggests instead.
    """
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
    # This call raises an error if no mirror step is known on the set.
    bregman_point(PowerMirror.for_space(space_of(setting)), setting.body, np.zeros(setting.d))


class Truncated(DescentMethod):
    """One pass of truncated mirror descent; each subclass adds its card and its exponents."""

    # the accountings that are compared
    orders: ClassVar[tuple[Order, ...]] = ("shuffled", "public")

    reads = "whole"
    stage = Stage(
        place=inner_coordinate,
        splits=(Split(function=f"{__name__}.truncated_sum", told="positions"),),
        small=SmallRun(plan=in_few_steps),
    )

    def plan_with_noise(self, setting: Setting, noise: Noise) -> DescentPlan:
        """Return the plan of truncated mirror descent with a kind of noise."""
        check_applicable(setting)
        return mirror_plan(setting, self.orders, noise, self.calibration, self.tuning)


def base_lengths(rows: Rows, exponent: float) -> Vector | None:
    """Return the feature norms of a generalised linear model, shape (n,); None for other losses.

    The gradients of such a model are multiples of its features, so that norms are computed only
    once in a run.
    """
    if not isinstance(rows, ScaledRows):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        return rows.x.norms() if exponent == 2 else rows.x.norms_in(exponent)


def truncated_sum(
    rows: Rows,
    batch: NDArray[np.intp],  # the indices of the batch's rows, shape (b,)
    threshold: float,
    exponent: float,  # the exponent of the norm
    # Shape (n,): the norms of the features, of which the rows are multiples; given only for
    # `ScaledRows`, which are never formed in full.
    lengths: Vector | None,
) -> Vector:
    """Return the sum of the rows at `batch`, without rows whose norm exceeds `threshold`.

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
                is_short = row_norms(block, exponent) <= threshold  # A NaN counts as too long.
                weights = np.ones(len(part))
            else:
                scaled = cast(ScaledRows, rows)
                block, norms = scaled.x.take(part), lengths[part]
                weights = scaled.coefficients_of(block, part)
                sizes = np.abs(weights)
                is_short = (sizes * norms <= threshold) & (norms <= LARGEST_LEVEL)
                is_short &= sizes <= LARGEST_LEVEL
            if not is_short.all():
                block, weights = block[is_short], weights[is_short]
            total += weights @ block
    return total
