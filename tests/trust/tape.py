"""One run of any private method, seen from outside: what was released, and the noise on it.

A tape watches the ledger, the steps and the tests that a run opens, whatever the method. A run on a
neighbour can be replayed along the first one's releases, so that all its steps are asked for at the
same points: then the exact statistics may differ by what the ledger says, and by nothing more.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.geometry.norms import lq_norm
from dpsco_core.methods import sampled
from dpsco_core.methods.euclidean import private_sgd
from dpsco_core.methods.euclidean.perturbation import objective as objective_perturbation
from dpsco_core.methods.euclidean.sampling import allocated
from dpsco_core.methods.euclidean.sampling.iterative_allocated import NoisyDeepPoints
from dpsco_core.methods.lq import mirror as lp_mirror
from dpsco_core.privacy import (
    Exponential,
    LaplaceNoise,
    Ledger,
    ObjectiveGaussian,
    ObjectiveLaplace,
    Shaped,
    SphericalLaplaceNoise,
)
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.mechanisms.correlated import CorrelatedSteps, root_coefficients
from dpsco_core.privacy.mechanisms.steps import Steps
from dpsco_core.privacy.mechanisms.tested import NoisyTest, TestedSteps

Array = NDArray[np.float64]

LINEAR_TERMS = (ObjectiveGaussian, ObjectiveLaplace)

# The sensitivity of this entry bounds the distance of the solver's point from the minimiser on the
# same records; the linear term hides the neighbours
# (tests/methods/euclidean/test_objective_distance.py).
SOLVER = "what the solver left open"


@dataclass
class Statistic:
    """An exact value that noise hides, the entry that accounts for it, and the norm of its claim.

    `floor` is the least score at which the claim holds, `block` which disjoint part it looks at.
    """

    value: Array
    entry: Entry
    norm: float = 2.0
    floor: float = -math.inf
    score: float = math.inf
    block: Any = None


@dataclass
class NoiseDraw:
    """Noise of one release, in units of the scale that the ledger has recorded for it.

    `law` is the exponent r of its density: 1 for Laplace, 2 for Gaussian, else generalized Gaussian
    with the whole vector's norm as a chi variable; `spherical` is Laplace noise whose length in l2
    has a gamma law of shape d. `entry` is None for the noise of a test, `idle` is noise that hides
    nothing, `steps` that of a sequence which is one entry. `score` is that of a choice, in units of
    its noise, over its mean; and its variance, of the probabilities that the ledger has recorded.
    """

    noise: Array
    law: float
    entry: Entry | None
    idle: bool = False
    steps: bool = False
    spherical: bool = False
    score: tuple[float, float] | None = None

    @property
    def energy(self) -> float:
        """Return the part of the draw's chi-square statistic, with `freedom` degrees of freedom."""
        if self.score is not None:
            return 0.0  # The function `check_noise` explains the value 0.
        if self.spherical:
            return 2 * float(np.linalg.norm(self.noise))
        if self.law == 1:
            return 2 * float(np.abs(self.noise).sum())
        if self.law == 2:
            return float(np.square(self.noise).sum())
        return sum(float(lq_norm(row, self.law)) ** 2 for row in np.atleast_2d(self.noise))

    @property
    def freedom(self) -> int:
        """Return the degrees of freedom of `energy`.

        For Laplace noise |z|/b is exponential, and twice that is chi-square with 2 degrees of
        freedom.
        """
        if self.score is not None:
            return 0
        return self.noise.size * (2 if self.law == 1 else 1)


def norm_of(mechanism: Any) -> float:
    """Return the exponent of the norm in which a mechanism's sensitivity is measured."""
    if isinstance(mechanism, Exponential):
        return math.inf
    if isinstance(mechanism, Shaped) and mechanism.noise != "gaussian":
        return mechanism.norm.dual
    return 1.0 if isinstance(mechanism, LaplaceNoise) else 2.0


def drawn_by(mechanism: Any, noise: Array, entry: Entry) -> NoiseDraw:
    """Return the noise that a mechanism has drawn, in units of its entry's scale."""
    spherical = isinstance(mechanism, SphericalLaplaceNoise | ObjectiveLaplace)
    law = 1.0 if spherical or isinstance(mechanism, LaplaceNoise) else 2.0
    if isinstance(mechanism, Shaped):
        law = mechanism.noise_exponent
    return NoiseDraw(noise / entry.noise, law, entry, spherical=spherical)


def choice_drawn(
    mechanism: Exponential, scores: Array, place: int, generator_state: Any, entry: Entry
) -> NoiseDraw:
    """Return the noise of a choice: the number that it draws from the generator's state, and its
    score in units of noise.
    """
    unit = mechanism.epsilon / (2 * mechanism.sensitivity)
    log_base = np.zeros(len(scores)) if mechanism.log_base is None else mechanism.log_base
    scaled = (scores - scores.max()) * unit
    weights = np.exp(scaled + log_base - (scaled + log_base).max())
    weights /= weights.sum()
    mean = float(weights @ scaled)
    spread = float(weights @ (scaled - mean) ** 2)
    stream = np.random.Generator(generator_state).random(1)
    return NoiseDraw(stream, 1.0, entry, score=(float(scaled[place]) - mean, spread))


@dataclass
class Tape:
    """The releases of one run, in order."""

    statistics: list[Statistic] = field(default_factory=list)
    draws: list[NoiseDraw] = field(default_factory=list)
    filters: list[tuple[RobustFilter, int, NoisyTest, Entry]] = field(default_factory=list)
    released: list[Any] = field(default_factory=list)
    result: Any = None
    state: Any = None  # The generator's state after the run.

    def noise(self) -> Array:
        """Return all noise of the run in units of its scales."""
        return np.concatenate([d.noise.ravel() for d in self.draws] or [np.empty(0)])


def play(run: Callable[[], Any], replay: Tape | None = None, *, blind: bool = False) -> Tape:
    """Record one run.

    Parameters
    ----------
    replay : Tape, optional
        Let every release come out as it did there.
    blind : bool
        Replace every exact statistic by 0 (every score by the largest) before the noise is added:
        what comes out then depends on the data only if the run has read them past the ledger.
    """
    tape = Tape()
    with _watched(tape, replay, blind):
        tape.result = run()
    return tape


@contextmanager
def _watched(tape: Tape, replay: Tape | None, blind: bool) -> Iterator[None]:
    """Record the releases on a tape, or replay those of another, while the context is open."""
    with pytest.MonkeyPatch.context() as patch:
        watch = _Watch(tape, replay, blind)
        watch.values(patch)
        watch.sequences(patch)
        watch.steps(patch)
        watch.encodings(patch)
        watch.tests(patch)
        yield


@dataclass
class _Watch:
    tape: Tape
    replay: Tape | None
    blind: bool
    statistics_seen: int = 0
    scores: list[float] = field(default_factory=list)
    # The list has the entry of each open sequence of steps, with the exponent of its norm.
    opened: list[tuple[Entry, float]] = field(default_factory=list)

    def release(self, out: Any) -> Any:
        """Return the output of a release in this run or, on a replay, that of the same release in
        the other run.
        """
        place = len(self.tape.released)
        self.tape.released.append(out)
        if self.replay is None:
            return out
        assert place < len(self.replay.released), "as many releases on neighbours"
        return self.replay.released[place]

    def values(self, patch: pytest.MonkeyPatch) -> None:
        """Patch the ledger so that releases of single values go onto the tape."""
        honest = Ledger.release

        def watched(ledger: Ledger, mechanism: Any, value: Array, rng: Any, **label: Any) -> Any:
            """Release a value, and put it and its noise on the tape."""
            if isinstance(mechanism, LINEAR_TERMS):
                out = honest(ledger, mechanism, value, rng, **label)
                self.tape.draws.append(drawn_by(mechanism, out, ledger.entries[-1]))
                return out
            shown_value = np.zeros_like(value) if self.blind else value
            chooses = isinstance(mechanism, Exponential)
            # Copying the generator is slow, so only choices do it.
            generator_state = copy.deepcopy(rng.bit_generator) if chooses else None
            out = honest(ledger, mechanism, shown_value, rng, **label)
            entry = ledger.entries[-1]
            if entry.label != SOLVER:
                norm = norm_of(mechanism)
                self.tape.statistics.append(
                    Statistic(np.array(value), entry, norm, block=entry.part)
                )
            if chooses:
                self.tape.draws.append(
                    choice_drawn(mechanism, shown_value, out, generator_state, entry)
                )
            else:
                self.tape.draws.append(drawn_by(mechanism, np.asarray(out) - shown_value, entry))
            return self.release(out)

        patch.setattr(Ledger, "release", watched)

    def sequences(self, patch: pytest.MonkeyPatch) -> None:
        """Patch the ledger so that entries which account for a sequence of releases go onto the
        tape.
        """
        honest = Ledger.open

        def opened(ledger: Ledger, sequence: Any, **label: Any) -> Any:
            """Open a sequence of steps, and keep its entry for the tape."""
            steps: Any = honest(ledger, sequence, **label)
            steps.tape_entries = ledger.entries[-2:]
            entry = steps.tape_entry = ledger.entries[-1]
            if isinstance(steps, Steps):
                shaped = "generalized" in entry.mechanism
                self.opened.append((entry, sequence.release.norm.dual if shaped else 2.0))
            if isinstance(steps, CorrelatedSteps):
                steps.tape_values = []  # type: ignore[attr-defined]
                size = (sequence.steps, sequence.size)
                self.tape.statistics.append(Statistic(np.zeros(size), entry, block=entry.part))
                steps.tape_statistic = self.tape.statistics[-1]  # type: ignore[attr-defined]
            return steps

        patch.setattr(Ledger, "open", opened)

    def steps(self, patch: pytest.MonkeyPatch) -> None:
        """Patch the steps so that their noise, which the ledger hands out and the method adds, goes
        onto the tape.
        """
        noise_of, summed = Steps._noise_of, Steps.summed_noise
        idle, idling = Steps.idle_noise, [False]

        def one_by_one(steps: Any, shape: Any, rng: Any) -> Array:
            """Draw the noise of a step, and put it on the tape."""
            noise = noise_of(steps, shape, rng)
            entry = steps.tape_entry
            self.tape.draws.append(
                NoiseDraw(noise / entry.noise, steps.exponent, entry, idle=idling[0], steps=True)
            )
            return noise

        def summed_noise(steps: Any, count: int, d: int, rng: Any) -> Array:
            """Draw the noise of several steps at once, and put it on the tape."""
            noise = summed(steps, count, d, rng)
            if steps.exponent == 2:
                scaled = noise / (steps.tape_entry.noise * math.sqrt(count))
                self.tape.draws.append(NoiseDraw(scaled, 2.0, steps.tape_entry, steps=True))
            return noise

        def idle_noise(steps: Any, count: int, d: int, rng: Any) -> Array:
            """Draw the noise of steps that read no records."""
            idling[0] = True
            try:
                return idle(steps, count, d, rng)
            finally:
                idling[0] = False

        patch.setattr(Steps, "_noise_of", one_by_one)
        patch.setattr(Steps, "summed_noise", summed_noise)
        patch.setattr(Steps, "idle_noise", idle_noise)

        def record(exact: Array) -> Array:
            """Put a step's value on the tape; return the value or, on a replay, that of the other
            run.
            """
            entry, norm = self.opened[-1]
            place = len(self.tape.statistics)
            # If a mechanism releases several times, a record may be in several of its steps.
            block = place if entry.releases == 1 else None
            self.tape.statistics.append(Statistic(np.array(exact), entry, norm, block=block))
            if self.blind:
                return np.zeros_like(exact)
            if self.replay is not None:
                assert place < len(self.replay.statistics), "as many steps on neighbours"
                return self.replay.statistics[place].value.copy()
            return exact

        gradient_of_one, sum_of_many = private_sgd.clipped_gradient, lp_mirror.truncated_sum
        step, selected = allocated.step_sum, sampled.selected_sum
        with_noise = NoisyDeepPoints.with_noise
        patch.setattr(
            NoisyDeepPoints, "with_noise", lambda self, sums, *a: with_noise(self, record(sums), *a)
        )
        patch.setattr(sampled, "selected_sum", lambda *a: record(selected(*a)))
        patch.setattr(allocated, "step_sum", lambda *a: record(step(*a)))
        patch.setattr(private_sgd, "clipped_gradient", lambda *a: record(gradient_of_one(*a)))
        patch.setattr(lp_mirror, "truncated_sum", lambda *a: record(sum_of_many(*a)))

        linear = objective_perturbation.draw_linear_term

        def tilted(plan: Any, sample: Any, ledger: Ledger, rng: Any) -> Array:
            """Draw a linear term, and put the gradients that it hides on the tape."""
            tilt = linear(plan, sample, ledger, rng)
            for w in (np.zeros(sample.d), sample.constraint.support_point(np.eye(sample.d)[-1])):
                exact = sample.n * sample.mean_gradient(w)
                self.tape.statistics.append(Statistic(exact, ledger.entries[-1]))
            return self.release(tilt)

        def unsolved(gradient: Any, constraint: Any, **fields: Any) -> Any:
            """Return the centre of the set in place of the minimiser."""
            # The exact minimiser is private by its linear term (and the solver has tests of its
            # own); without clipped records the search for it would not end.
            return SimpleNamespace(value=constraint.centre)

        patch.setattr(objective_perturbation, "minimise_strongly_convex", unsolved)
        patch.setattr(objective_perturbation, "draw_linear_term", tilted)

    def encodings(self, patch: pytest.MonkeyPatch) -> None:
        """Patch steps with correlated noise so that what is hidden, C G for all steps together,
        goes onto the tape.
        """
        fresh, noisy = CorrelatedSteps._fresh, CorrelatedSteps.release

        def fresh_noise(steps: Any, rng: Any) -> Array:
            """Draw the noise of an encoding, and put it on the tape."""
            noise = fresh(steps, rng)
            self.tape.draws.append(NoiseDraw(noise / steps.tape_entry.noise, 2.0, steps.tape_entry))
            return noise

        def released(steps: Any, value: Array, rng: Any) -> Array:
            """Release a step of an encoding, and put the encoded values on the tape."""
            steps.tape_values.append(np.array(value))
            count = len(steps.tape_values)
            roots = root_coefficients(count)[::-1]
            steps.tape_statistic.value[count - 1] = roots @ np.array(steps.tape_values)
            shown_value = np.zeros_like(value) if self.blind else value
            return self.release(noisy(steps, shown_value, rng))

        patch.setattr(CorrelatedSteps, "_fresh", fresh_noise)
        patch.setattr(CorrelatedSteps, "release", released)

    def tests(self, patch: pytest.MonkeyPatch) -> None:
        """Patch noisy tests so that the releases behind them go onto the tape."""
        passes, examine = TestedSteps.passes, RobustFilter.examine
        noisy, number = TestedSteps.noisy, TestedSteps._noisy
        latest: list[tuple[RobustFilter, int]] = []

        def jittered(steps: Any, exact: float, scale: float) -> float:
            """Add noise to a score or a threshold, and put it on the tape."""
            noisy = number(steps, exact, scale)
            claimed = steps.release.test
            unit = claimed.score_scale if steps._tests else claimed.threshold_scale
            if unit:
                self.tape.draws.append(NoiseDraw(np.array([(noisy - exact) / unit]), 1.0, None))
            return noisy

        def passed(steps: Any, score: float) -> bool:
            """Test a score, and put it on the tape; return its outcome, or the replayed one."""
            test, _ = steps.tape_entries
            self.tape.statistics.append(
                Statistic(np.array([score]), test, norm=1.0, block=test.part)
            )
            self.scores.append(score)
            outcome = bool(self.release(passes(steps, 1e12 if self.blind else score)))
            if self.replay is not None:
                steps._passed, steps._halted = outcome, not outcome
            return outcome

        def mean(steps: Any, value: Array) -> Array:
            """Release a filtered mean, and put it and its filter on the tape."""
            _, entry = steps.tape_entries
            claim = steps.release.test
            if latest:
                self.tape.filters.append((*latest[-1], claim, entry))
            self.tape.statistics.append(
                Statistic(
                    np.array(value),
                    entry,
                    floor=claim.score_floor,
                    score=self.scores[-1],
                    block=entry.part,
                )
            )
            shown_value = np.zeros_like(value) if self.blind else value
            out = noisy(steps, shown_value)
            self.tape.draws.append(NoiseDraw((out - shown_value) / entry.noise, 2.0, entry))
            return self.release(out)

        def examined(keep: RobustFilter, points: Array) -> Any:
            """Examine points, and keep the filter and the number of points for the next release."""
            latest.append((keep, len(points)))
            return examine(keep, points)

        patch.setattr(TestedSteps, "_noisy", jittered)
        patch.setattr(TestedSteps, "passes", passed)
        patch.setattr(TestedSteps, "noisy", mean)
        patch.setattr(RobustFilter, "examine", examined)
