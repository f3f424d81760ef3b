"""Phased SGD for smooth losses: Feldman, Koren and Talwar (2020), Algorithm 2."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FELDMAN_2020, MethodCard
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.base.interrupt import between_steps
from dpsco_core.base.search import smallest
from dpsco_core.methods.access import check_sample
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.euclidean.lipschitz import (
    BOUNDED_CAVEAT,
    Losses,
    clipped_block_mean,
    clipped_gradient,
    lipschitz_losses,
)
from dpsco_core.methods.phases import PhasedMethod, PhaseRun, PhasesPlan
from dpsco_core.methods.records.base import gaussian_share
from dpsco_core.methods.stage import Split, Stage
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise, gaussian_noise_std
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

MOST_STEPS = 20_000  # With more steps than this, several records share a step.
RESOLVED = 1e3  # A record's effect is at least this multiple of a phase's rounding error.


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One phase of phased SGD: its records, step size, sensitivity and noise."""

    start: int  # the index of the first record, or user
    stop: int  # one more than the index of the last record, or user
    step_size: float  # η_i, the step size for one record; a step on b records is b times as large
    # the largest change of the phase's average when one record, or user, is replaced
    sensitivity: float
    noise_std: float  # σ_i, the standard deviation of the noise on the phase's average


@dataclass(frozen=True, eq=False, kw_only=True)
class InOrder:
    """Records that the phases read one after the other."""

    sample: Sample
    per_user: int = 1  # the number of records per user; 1 at item level
    each: int = 1  # the number of items that one record stands for


@dataclass(frozen=True, kw_only=True)
class PhasedAverages(PhasesPlan):
    """Phases of SGD; each ends by adding noise to the average of its points."""

    losses: Losses
    rho: float
    batch: int
    phases: tuple[Phase, ...]
    # Whether points are projected on the set; plans that differ only in this field are equal.
    projected: bool = field(default=True, compare=False)

    @property
    def moves(self) -> float:
        """How often a run moves a point and projects it; 0 without projection."""
        return self.pieces if self.projected else 0

    @property
    def pieces(self) -> float:
        """The number of batches that a run processes one after the other."""
        m = self.setting.m
        return sum(-((p.start - p.stop) * m // self.batch) for p in self.phases)

    @property
    def gradients(self) -> int:
        """The number of item gradients of a run."""
        return self.phases[-1].stop * self.setting.m

    def in_order(self, sample: Any) -> InOrder:
        """Return the records with the losses of the plan; raise an error unless the size fits."""
        check_sample(sample, self.setting)
        return InOrder(sample=self.losses.of(sample))

    def open(self, sample: Any, rng: np.random.Generator) -> tuple[Vector, PhaseRun]:
        """Return the first point, which is the set's centre or 0, and the run of a phase."""
        records = self.in_order(sample)
        constraint, per_user, items = records.sample.constraint, records.per_user, records.each

        def run(w: Vector, phase: Phase, block: Ledger, i: int) -> tuple[Vector, int]:
            """Return the noisy average of a phase, and the number of records read so far."""
            span = replace(
                phase,
                start=phase.start * per_user,
                stop=phase.stop * per_user,
                step_size=phase.step_size * items,
            )
            batch = self.batch // items
            noisy = block.release(
                GaussianNoise(l2_sensitivity=phase.sensitivity, rho=self.rho),
                phase_average(
                    records.sample, w, span, batch, self.losses, projected=self.projected
                ),
                rng,
                label=f"average of phase {i}",
            )
            return constraint.project(noisy) if self.projected else noisy, phase.stop

        return constraint.centre if self.projected else np.zeros(records.sample.d), run

    def result(self, completed: int) -> tuple[Mapping[str, float], tuple[str, ...]]:
        """Return the diagnostics of the first and the last phase, and the notes."""
        opening, final = self.phases[0], self.phases[-1]
        return self.losses.diagnostics | {
            "noise_std": final.noise_std,
            "steps": float(self.pieces),
            "step_size": opening.step_size,
            "phases": float(len(self.phases)),
            "batch_size": float(self.batch),
            "gradient_calls": float(self.gradients),
        }, ()


@dataclass(frozen=True, kw_only=True)
class PhasedSgd(PhasedMethod):
    r"""One pass of SGD in phases; each adds noise at its end and starts where the last one ended.

    A step on b records of size :math:`b\eta_i \le 2/\beta` has the sensitivity of b steps.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from Bun and
        Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: :math:`\lceil\log_2 n\rceil` phases (those that doubles resolve) at
        :math:`\eta = \frac DL\min\{4/\sqrt n, \sqrt{2\rho}/(2\sqrt d)\}`, D the diameter
        (Theorem 4.4), refused where :math:`\eta_1 > 2/\beta`. ``"practical"``: the eta and the
        number of phases that minimise `bounded_risk`, at most :math:`\eta_1 = 2/\beta`.
    """

    reads = "ordered"
    cost = MethodCost(fixed=2.2e5, per_row=5, per_element=0.5, per_piece=1e4)
    card = MethodCard(
        slug="sco.phased-sgd",
        name="Phased SGD",
        paper=FELDMAN_2020,
        statement="Algorithm 2, Theorem 4.4",
        summary="One pass of SGD in phases of halving length and quartering step size; the average "
        "of each gets noise that hides one record's pull.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        rate="upper.sco.phased-sgd",
        caveat="Privacy needs smooth losses and small steps. " + BOUNDED_CAVEAT,
    )
    stage = Stage(records=16, splits=(Split(function=f"{__name__}.phase_average", told="phase"),))
    colour = "green"
    symbol = "cross"
    dashed = True

    def plan(self, setting: Setting) -> PhasedAverages:
        """Return the plan with the step size and the phases of the tuning; smooth losses only."""
        rho = gaussian_share(setting, self.calibration)
        losses = lipschitz_losses(setting, self.tuning, rho)
        if math.isinf(losses.smoothness):
            raise NotApplicable(
                "Phased SGD is private for smooth losses only, and this one has kinks.",
                nearest="choose sco.private-sgd, which allows them, or the problem huber",
                changes=(("problem", "huber"),),
            )
        check_two_records(setting)
        if self.tuning == "theory":
            count = math.ceil(math.log2(setting.n))
            step_size = theorem_step_size(setting, rho, losses)
        else:
            count, step_size = practical_phases(setting, rho, losses)
        return phased_plan(setting, rho, losses, count, step_size)


def check_two_records(setting: Setting) -> None:
    """Raise `NotApplicable` if there are fewer than two records, so no first half."""
    if setting.n < 2:
        raise NotApplicable("The first phase takes n/2 records, and there is only one.", n=2)


def phased_plan(
    setting: Setting,
    rho: float,
    losses: Losses,
    count: int,
    step_size: float,  # η, which is four times the step size of the first phase
    # the largest norm of a point if there is no constraint set; None if points are projected
    reach: float | None = None,
) -> PhasedAverages:
    """Return the plan of the first `count` phases, up to one with no record or too small an effect.

    Phase i has n/2^i records and a quarter of the step size of the phase before; `is_resolved`
    tells whether the effect of a record exceeds rounding errors.
    """
    projected = reach is None
    reach = setting.constants.diameter / 2 if reach is None else reach
    phases: list[Phase] = []
    start = 0
    for i in range(1, count + 1):
        stop = start + setting.n // 2**i
        size = step_size * 4.0**-i
        if stop == start or (phases and not is_resolved(reach, losses, stop - start, size)):
            break
        pull = 2 * losses.lipschitz * size
        noise_std = gaussian_noise_std(pull, rho)
        phases.append(
            Phase(start=start, stop=stop, step_size=size, sensitivity=pull, noise_std=noise_std)
        )
        start = stop
    batch = math.ceil(start / MOST_STEPS)
    if losses.smoothness > 0:
        room = 2 / (losses.smoothness * phases[0].step_size)
        batch = min(batch, max(1, math.floor(room)))
    return PhasedAverages(
        setting=setting,
        losses=losses,
        rho=rho,
        batch=batch,
        phases=tuple(phases),
        projected=projected,
    )


def phase_average(
    sample: Sample,
    start: Vector,
    phase: Phase,
    batch: int,
    losses: Losses,
    *,
    projected: bool = True,
) -> Vector:
    r"""Run one phase of SGD and return the average of the queried points, shape (d,).

    The average moves by at most :math:`2L\eta_i` if one record of the phase is replaced. Raises
    `InvalidInput` if the step size is too large for that, given the smoothness of every possible
    loss.
    """
    largest = batch * phase.step_size
    small = largest * losses.smoothness <= 2 * (1 + 1e-12)
    require(small, "step_size", f"at most {2 / batch}/smoothness", phase.step_size)
    project, limit = sample.constraint.project, losses.lipschitz
    w, total = start, np.zeros(sample.d)
    # Records may hold any doubles, so overflow and NaN are expected.
    with np.errstate(over="ignore", invalid="ignore"):
        for low in range(phase.start, phase.stop, batch):
            between_steps()
            high = min(low + batch, phase.stop)
            total += (high - low) * w
            if batch == 1:
                g = clipped_gradient(sample, w, low, limit)
            else:
                g = clipped_block_mean(sample.gradients(w), low, high, limit)
            w = w - (high - low) * phase.step_size * g
            if projected:
                w = project(w)
    average: Vector = total / (phase.stop - phase.start)
    return average


def is_resolved(reach: float, losses: Losses, records: int, step_size: float) -> bool:
    r"""Return whether a record's effect :math:`2L\eta_i` exceeds the rounding of a phase's points.

    If it does not, the true sensitivity is that of the rounding, and the phase would hardly move
    the point. `reach` is the largest norm of a point.
    """
    rounding = (records + 1) * reach * 2.0**-53
    return 2 * losses.lipschitz * step_size >= RESOLVED * rounding


def theorem_step_size(setting: Setting, rho: float, losses: Losses) -> float:
    r"""Return the step size of Theorem 4.4.

    .. math:: \eta = \frac DL\min\{4/\sqrt n, \sqrt{2\rho}/(2\sqrt d)\}

    Raises `NotApplicable` if the first phase's step, a quarter of it, exceeds 2/beta.
    """
    n, d = setting.n, setting.d
    scale = setting.constants.diameter / losses.lipschitz
    step_size = scale * min(4 / math.sqrt(n), math.sqrt(2 * rho / d) / 2)
    if step_size / 4 * losses.smoothness > 2:
        # The first entry of the minimum meets the condition once sqrt(n) >= D beta / (2 L).
        records_needed = math.ceil((scale * losses.smoothness / 2) ** 2)
        raise NotApplicable(
            f"The theorem's step size is {step_size / 4:.3g}, above 2/beta = "
            f"{2 / losses.smoothness:.3g}, beyond which steps may move points apart.",
            n=records_needed,
            otherwise="tuning=practical",
        )
    return step_size


def bounded_risk(
    setting: Setting, rho: float, lipschitz: float, count: int, step_size: float
) -> float:
    r"""Return the theorem's bound on the excess risk for any number of phases and any eta.

    .. math:: \frac{R^2}{2\eta_1n_1} + \frac{\eta_1L^2}2 + \sum_{i=2}^k\Big[
        \frac{d\sigma_{i-1}^2}{2\eta_in_i} + \frac{\eta_iL^2}2\Big] + L\sqrt d\,\sigma_k

    with R the radius of the ball. The summands are the excess of each phase over the end of the one
    before, and the last term is due to the last noise (the proof of Theorem 4.4 without its choice
    of eta).
    """
    n, d = setting.n, setting.d
    energy = (setting.constants.diameter / 2) ** 2
    total = noise = 0.0
    for i in range(1, count + 1):
        size, records = step_size * 4.0**-i, n // 2**i
        total += energy / (2 * size * records) + size * lipschitz**2 / 2
        noise = math.sqrt(d) * gaussian_noise_std(2 * lipschitz * size, rho)
        energy = noise**2
    return total + lipschitz * noise


@lru_cache(maxsize=4096)
def practical_phases(setting: Setting, rho: float, losses: Losses) -> tuple[int, float]:
    """Return the number of phases and the eta, at most 8/beta, that minimise `bounded_risk`.

    Raises `NotApplicable` if the bound is infinite for all of them.
    """
    n = setting.n
    unit = setting.constants.diameter / losses.lipschitz
    limit = 8 / losses.smoothness if losses.smoothness > 0 else math.inf
    sizes = [min(limit, unit * 2.0 ** (-k / 2)) for k in range(-8, 60)]
    counts = range(1, math.floor(math.log2(n)) + 1)
    start = (setting.constants.diameter / 2) ** 2 / (2 * (n // 2))

    def first_phase(candidate: tuple[int, float]) -> float:
        """Return a lower bound on the risk of a candidate, from its first phase alone."""
        size = candidate[1] / 4
        # The factor leaves room for rounding errors.
        return (1 - 1e-12) * (start / size + size * losses.lipschitz**2 / 2)

    return smallest(
        ((count, size) for count in counts for size in sizes),
        lambda candidate: bounded_risk(setting, rho, losses.lipschitz, *candidate),
        what="step size",
        floor=first_phase,
    )
