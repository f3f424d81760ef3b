"""Methods in l_q in which every record takes one step at random, in place of a secret order.

Their noise is Gaussian and has the size that `allocate_steps` certifies for the largest l2 norm
that a record adds to a sum (theory/random-allocation.md, 1 to 3).
"""

import math
from dataclasses import dataclass, replace

from dpsco_core.base.cards import FELDMAN_SHENFELD_2025, MethodCard
from dpsco_core.base.parsing import whole
from dpsco_core.base.search import smallest
from dpsco_core.methods.access import AllocatedRecords
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT
from dpsco_core.methods.euclidean.private_sgd import PrivateSgdPlan, RecordByRecord
from dpsco_core.methods.euclidean.sampling.allocated import COUNTS, modelled_noise
from dpsco_core.methods.euclidean.sampling.one_random_step import (
    PrivateSgdAllocated,
)
from dpsco_core.methods.lq.card import lq_card
from dpsco_core.methods.lq.inputs import smooth_energy
from dpsco_core.methods.lq.mirror import TruncatedMeans, check_applicable, inner_coordinate
from dpsco_core.methods.lq.mirror_schedule import (
    PRACTICAL_FACTORS,
    DescentChoice,
    MirrorInputs,
    descent_inputs,
    modelled_choice,
    published_parameters,
    published_weight,
)
from dpsco_core.methods.lq.noisy import best_potential, own_exponent, potential_of
from dpsco_core.methods.records.base import sampled_budget
from dpsco_core.methods.stage import SmallRun, Split, Stage
from dpsco_core.methods.steps import MirrorSteps
from dpsco_core.privacy.allocation import QUICK_POINTS, AllocatedSteps, allocate_steps
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import AllocatedGaussianSteps
from dpsco_core.privacy.mechanisms.shaped import Shaped
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.problems.base import Setting

RANDOM_STEP = Departure(
    tag="random step",
    text="Each record takes one step at random, where the paper puts them in a secret order.",
)


@dataclass(frozen=True, kw_only=True)
class AllocatedTruncatedMeans(TruncatedMeans):
    """Sums of truncated gradients over a step's allocated records, divided by the public n/T."""

    allocation: AllocatedSteps  # the proof that all steps together are private
    records: int  # n, the number of records

    def divisor(self, batch: int) -> float:
        """Return n/T, the expected number of records of a step."""
        return self.records / self.allocation.steps

    def open(self, ledger: Ledger, steps: int) -> Steps:
        """Return the noise of all steps, after the ledger has accounted for it."""
        space = self.draw.norm
        return ledger.open(
            AllocatedGaussianSteps(
                certificate=self.allocation,
                size=space.d,
                largest_norm=space.l2_ratio * self.threshold,
            ),
            label="sums of truncated gradients of randomly allocated records",
        )


def _allocated_card(
    slug: str, name: str, short: str, statement: str, summary: str, caveat: str
) -> MethodCard:
    """Return the card of a method in l_q whose records are allocated at random."""
    return replace(
        lq_card(slug, name, statement, summary, caveat, paper=FELDMAN_SHENFELD_2025),
        short=short,
        privacy="approx",
        rate="",
    )


@dataclass(frozen=True, kw_only=True)
class MirrorDescentAllocated(DescentMethod):
    r"""One pass of truncated mirror descent; each record takes one of T steps at random.

    For q of at most 2 the steps are those of `ShuffledMirrorDescent`, beyond those of
    `EuclideanReduction`. A gradient beyond :math:`\tau` in the dual norm becomes 0, so that what a
    record adds has an l2 norm of at most :math:`C=d^{1/2-1/q'}\tau`.

    Parameters
    ----------
    steps : int, optional
        T, from 1 to n. If None it is chosen from the setting.
    calibration : {"tight", "paper"}
        ``"paper"`` is refused: its noise is for another sampler.
    tuning : {"practical", "theory"}
        ``"practical"``: the one of 1, 2, 5, ... 2000 steps with the least risk in the model of
        `dpsco_core.methods.lq.mirror_schedule`. ``"theory"``:
        theory/su-zhao-wang.md, 2.6.
    """

    steps: int | None = None

    reads = "whole"
    cost = MethodCost(fixed=3e5, per_row=9, per_element=1, per_piece=3e4)
    source = "reconstructed"
    departs = (RANDOM_STEP,)
    card = _allocated_card(
        "mirror-descent-allocated",
        "Mirror descent, one random step per record",
        "Mirror, one random step",
        "Random allocation; the steps of Su et al., Algorithm 4",
        "One pass of mirror descent: each record takes one of T noisy steps, at random and in "
        "secret; gradients beyond a level become 0.",
        "Its noise is proven for replacing a record, by a proof of this library.",
    )
    stage = Stage(
        place=inner_coordinate,
        splits=(Split(function="dpsco_core.methods.access.allocated_order", told="order"),),
        small=SmallRun(fields={"steps": 4}),
    )
    colour = "teal"
    symbol = "hourglass"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given number of steps, or with that of the tuning."""
        budget = sampled_budget(setting, self.calibration)
        check_applicable(setting)
        inputs = replace(
            descent_inputs(setting, "public", "gaussian", "tight"),
            # The number of records in a step is random, so a step's sum varies by the mean gradient
            # as well.
            variance=squared_gradient_norm(setting),
        )
        steps = self.steps
        if steps is None and self.tuning == "theory":
            steps = published_parameters(setting, inputs, shuffled=False)[0]
        if steps is None:
            counts = [count for count in COUNTS if count <= setting.n]
            steps = smallest(
                counts,
                lambda t: best_choice(with_multiplier(inputs, modelled_noise(setting, t)), t).value,
                what="number of steps",
            )
        whole("steps", steps, 1, setting.n)
        certificate = allocate_steps(steps, budget.epsilon, budget.delta, QUICK_POINTS)
        multiplier = certificate.noise_multiplier
        inputs = with_multiplier(inputs, multiplier)
        if self.tuning == "theory":
            threshold = published_parameters(setting, inputs, shuffled=False)[1]
            weight = published_weight(inputs, steps, threshold)
        else:
            _, threshold, weight, _ = best_choice(inputs, steps)
        means = AllocatedTruncatedMeans(
            threshold=threshold,
            dual=inputs.space.dual,
            draw=Shaped(inputs.space, 2 * threshold, equal_rho(multiplier), "gaussian", "tight"),
            certificate=None,
            allocation=certificate,
            records=setting.n,
        )
        moves = MirrorSteps(space=inputs.space, steps=steps, weight=weight)
        access = AllocatedRecords()
        return DescentPlan(
            setting=setting,
            statistic=means,
            access=access,
            descent=moves,
            diagnostics={
                "truncation_level": threshold,
                "noise_std": means.draw.noise_scale,
                "noise_multiplier": multiplier,
                **moves.diagnostics,
                "batch_size": float(access.rows(setting, steps)),
                "gradient_calls": float(setting.n),
            },
        )


def squared_gradient_norm(setting: Setting) -> float:
    """Return a bound on the mean squared dual norm of a gradient."""
    inputs = descent_inputs(setting, "public", "gaussian", "tight")
    return inputs.variance + inputs.gradient_bound**2


def equal_rho(multiplier: float) -> float:
    """Return the rho of one Gaussian release with this noise multiplier, for replaced records."""
    return 2 / multiplier**2


def with_multiplier(inputs: MirrorInputs, multiplier: float) -> MirrorInputs:
    """Return the inputs of the error model with the noise that random allocation needs."""
    return replace(inputs, energy=smooth_energy(inputs.space, "gaussian") / equal_rho(multiplier))


def best_choice(inputs: MirrorInputs, steps: int) -> DescentChoice:
    """Return the threshold and the weight with the least modelled risk at a number of steps."""
    inputs.check_finite()
    tried = [modelled_choice(inputs, steps, factor) for factor in PRACTICAL_FACTORS]
    return smallest(tried, lambda choice: choice.value, what="truncation level")


@dataclass(frozen=True, kw_only=True)
class NoisyMirrorDescentAllocated(RecordByRecord):
    r"""`NoisyMirrorDescent` in which each record is allocated at random to one of T steps.

    Parameters
    ----------
    steps, calibration
        As for `PrivateSgdAllocated`.
    tuning : {"practical", "theory"}
        ``"theory"``: the potential of q. ``"practical"``: that of the exponent in [q, 2] whose
        bound is least. With :math:`G^2` that of `Potential.energy` for a sum over n/T,
        :math:`\eta=\sqrt{2D_\Phi/(TG^2)}`.
    """

    steps: int | None = None

    reads = "whole"
    cost = MethodCost(fixed=1e6, per_row=400, per_element=3, per_column=1e4, per_piece=100)
    source = "reconstructed"
    departs = (RANDOM_STEP,)
    card = _allocated_card(
        "noisy-mirror-descent-allocated",
        "Noisy mirror descent, one random step per record",
        "Noisy mirror, one random step",
        "Random allocation; the steps of Arora et al., equation (2)",
        "One pass of mirror descent: each record takes one of T noisy steps, at random and in "
        "secret; kinks are allowed.",
        "Its noise is proven for replacing a record, by a proof of this library. " + BOUNDED_CAVEAT,
    )
    stage = PrivateSgdAllocated.stage
    colour = "teal"
    symbol = "hexagon-open"

    def plan(self, setting: Setting) -> PrivateSgdPlan:
        """Return the plan of `PrivateSgdAllocated` with the potential of the tuning."""
        sgd = PrivateSgdAllocated(
            steps=self.steps, calibration=self.calibration, tuning=self.tuning
        ).plan(setting)
        steps, share = sgd.allocated_steps, sgd.allocated_steps / setting.n
        # `size` and `noise` bound the root mean square of a step's sum, over a random number of
        # records, and of its noise, both divided by n/T.
        size, noise = sgd.losses.lipschitz * math.sqrt(1 + share), sgd.noise_std * share
        if self.tuning == "theory":
            potential = potential_of(setting.body, own_exponent(setting))
        else:
            potential = best_potential(setting, size, noise, is_batched=True)
        step_size = math.sqrt(2 * potential.divergence / (steps * potential.energy(size, noise)))
        return replace(sgd, step_size=step_size, potential=potential)
