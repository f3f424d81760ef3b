r"""Gaussian releases behind a noisy test: what user-level filters release of concentrated points.

A *score* says how concentrated some points are. A noisy test of it comes before every release; the
first that fails ends the sequence. Passing says that the score was above a floor, up to a small
probability, and above that floor the value has a small sensitivity. The ledger accounts for both
parts before anything is drawn, whether or not a test will pass. That the sequence ended, and when,
is part of the private output (theory/lowy-liu-asi.md, 2.0, 2.2 and 2.4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import gaussian_rho
from dpsco_core.privacy.checks import check_count, check_noise, check_positive, check_release
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.mechanisms.noise import (
    add_gaussian_noise,
    add_laplace_noise,
    gaussian_noise_std,
    laplace_noise_scale,
)
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded

TestKind = Literal["single", "sequence"]


@dataclass(frozen=True, kw_only=True)
class NoisyTest:
    r"""One noisy test, or a sequence of tests that ends at the first failure.

    With D the sensitivity of the score, :math:`\varepsilon_1` the share, :math:`\zeta` the failure:

    - ``"single"``: continue iff :math:`s + v \ge \theta`, :math:`v \sim Lap(D/\varepsilon_1)`.
    - ``"sequence"``: AboveThreshold (Dwork and Roth 2014, Algorithm 1) on -s. Continue at step t
      iff :math:`s_t + v_t \ge \theta + \xi`, with **one** :math:`\xi \sim Lap(2D/\varepsilon_1)`
      for all steps and a fresh :math:`v_t \sim Lap(4D/\varepsilon_1)` for each.

    The decisions are :math:`\varepsilon_1`-DP. Off an event of probability :math:`\zeta` every
    step that continues has a score of at least `score_floor`, on both of two neighbours.

    *Proof.* Single: :math:`v' = v + s - s'` gives both neighbours the same decision, at a cost of
    :math:`|s-s'|\varepsilon_1/D`. Sequence: :math:`\xi' = \xi - D` with the same :math:`v_t` keeps
    the neighbour continuing wherever the first does, and a shift of the last :math:`v_t` by at most
    2D makes it stop where the first stops; each costs half of :math:`\varepsilon_1`. The floor:
    :math:`P[v > sl] = \frac12 e^{-sl\,\varepsilon_1/D} = \zeta`; in a sequence the two slacks are
    exceeded with probability :math:`\zeta/2` each. The neighbour's score is lower by at most D.
    """

    kind: TestKind
    steps: int  # the largest number T of tests; 1 for a single test
    threshold: float  # :math:`\theta`, fixed without looking at the data
    epsilon: float  # :math:`\varepsilon_1`, the share of one test or of all tests
    failure: float  # :math:`\zeta`, the failure probability, in (0, 1/2]
    # D, the largest change of any score between neighbours, whatever was released before.
    sensitivity: float = 2.0

    def __post_init__(self) -> None:
        """Refuse parameters outside their ranges, and several steps for a single test."""
        check_count("steps", self.steps)
        require(self.kind == "sequence" or self.steps == 1, "steps", "1 for a test", self.steps)
        require(math.isfinite(self.threshold), "threshold", "finite", self.threshold)
        check_positive("epsilon", self.epsilon)
        check_positive("sensitivity", self.sensitivity)
        require(0 < self.failure <= 0.5, "failure", "above 0 and at most 1/2", self.failure)
        check_noise(self.score_scale)

    @property
    def score_scale(self) -> float:
        """The scale of the Laplace noise on every score."""
        factor = 1 if self.kind == "single" else 4
        return laplace_noise_scale(factor * self.sensitivity, self.epsilon)

    @property
    def threshold_scale(self) -> float:
        """The scale of the Laplace noise on the threshold; 0 for a single test, which has none."""
        return 0.0 if self.kind == "single" else self.score_scale / 2

    @property
    def score_floor(self) -> float:
        r"""The lowest score of a step that continues: :math:`s_{min} = \theta - sl - D`."""
        return self.threshold - self.reach(self.failure) - self.sensitivity

    def reach(self, probability: float) -> float:
        r"""Return a one-sided bound that all noises together exceed at most with `probability`.

        A score that is at least the threshold plus this passes every test but with `probability`,
        which is in (0, 1/2]: raises `InvalidInput` for others.
        """
        require(0 < probability <= 0.5, "probability", "above 0 and at most 1/2", probability)
        if self.kind == "single":
            return -self.score_scale * math.log(2 * probability)
        step = self.score_scale * math.log(self.steps / probability)
        return step - self.threshold_scale * math.log(probability)


@dataclass(frozen=True, kw_only=True)
class TestedGaussian:
    r"""A certificate of Gaussian releases, each of which follows a noisy test.

    Given that every released value has l2 sensitivity :math:`\Delta` between neighbours whose
    scores are both at least ``test.score_floor``, up to couplings that fail with probability
    `failure` in all, the noise :math:`\sigma = \Delta\sqrt T/\sqrt{2\rho}` with the exact
    :math:`\rho(\varepsilon_2, \delta_2)` of the Gaussian curve makes the whole transcript
    :math:`(\varepsilon_1+\varepsilon_2, \zeta+\delta_2+`failure:math:`)`-DP.

    *Proof.* Restrict to the event of the slacks (probability :math:`1-\zeta`) and to good
    couplings. The density of a transcript o is a(o) times a product of Gaussian densities, with a
    the probability of the decisions given the releases. There
    :math:`a \le \min(1, e^{\varepsilon_1}a')`, and a(o) = 0 unless both scores were at the floor at
    every released step. On such transcripts the releases are an adaptive composition of T Gaussian
    mechanisms of sensitivity :math:`\Delta`, which has the curve of one of sensitivity
    :math:`\Delta\sqrt T`:
    :math:`\int a\pi \le \int\min(1, e^{\varepsilon_1}a')\pi
    \le e^{\varepsilon_2}\int\min(1, e^{\varepsilon_1}a')\pi' + \delta_2`.
    """

    __test__ = False  # Pytest would otherwise collect this class, because of its name.

    test: NoisyTest
    l2_sensitivity: float  # :math:`\Delta`, at the lowest score that passes the test
    epsilon: float  # :math:`\varepsilon_2`, the epsilon of all releases together
    delta: float  # :math:`\delta_2`, the delta of all releases together
    # The failure probability of couplings inside the value, summed over the steps; 0 without any.
    failure: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a sensitivity, a failure probability or a noise outside its range."""
        check_positive("l2_sensitivity", self.l2_sensitivity)
        require(0 <= self.failure < 1, "failure", "at least 0 and below 1", self.failure)
        check_noise(self.noise_std)

    @property
    def noise_multiplier(self) -> float:
        r"""The exact Gaussian multiplier :math:`g(\varepsilon_2, \delta_2)` (Balle and Wang)."""
        return gaussian_noise_std(1.0, gaussian_rho(self.epsilon, self.delta))

    @property
    def noise_std(self) -> float:
        r"""Per-coordinate standard deviation :math:`\Delta\sqrt T g` of every release."""
        return self.l2_sensitivity * math.sqrt(self.test.steps) * self.noise_multiplier

    @property
    def total_epsilon(self) -> float:
        """The epsilon of tests and releases together."""
        return self.test.epsilon + self.epsilon

    @property
    def total_delta(self) -> float:
        """The delta of tests and releases together."""
        return math.fsum((self.test.failure, self.delta, self.failure))

    @property
    def shares(self) -> tuple[float, float]:
        """The epsilon that a ledger records for the tests, and that for the releases."""
        return self.test.epsilon, self.epsilon

    def entries(self, size: int, label: str) -> tuple[Entry, Entry]:
        """Return the ledger's entries: the tests, and the releases of `size` coordinates each."""
        test_epsilon, release_epsilon = self.shares
        test = Entry(
            mechanism="noisy test",
            label=f"{label}: test",
            sensitivity=self.test.sensitivity,
            proven_sensitivity=self.test.sensitivity,
            noise=self.test.score_scale,
            size=self.test.steps,
            epsilon=test_epsilon,
        )
        release = Entry(
            mechanism="tested gaussian",
            label=label,
            sensitivity=self.l2_sensitivity,
            proven_sensitivity=self.l2_sensitivity,
            noise=self.noise_std,
            size=size * self.test.steps,
            epsilon=release_epsilon,
            delta=self.total_delta,
        )
        return test, release


@dataclass(frozen=True, kw_only=True)
class TestedReleases:
    """The tests and releases of a certificate, of `size` coordinates each, as two entries."""

    __test__ = False
    label: ClassVar[str] = "tested releases"

    release: TestedGaussian
    size: int
    rng: np.random.Generator  # the generator of all noise, the threshold's first

    def __post_init__(self) -> None:
        """Refuse a size that is no positive integer."""
        check_count("size", self.size)

    def entries(self, label: str) -> tuple[Entry, ...]:
        """Return the ledger's entries: the tests and the releases."""
        return self.release.entries(self.size, label)

    def open(self) -> TestedSteps:
        """Return the object that tests and releases; the noise of a threshold is drawn now."""
        return TestedSteps(release=self.release, size=self.size, rng=self.rng)


@dataclass(kw_only=True)
class TestedSteps:
    """The tests and releases that a ledger has accounted for.

    Made by `Ledger.open` of `TestedReleases`. Each release needs a test that has just passed;
    after a test has failed there is neither.
    """

    __test__ = False

    release: TestedGaussian
    size: int
    rng: np.random.Generator
    # the noisy threshold, which is never released
    _threshold: float = field(init=False, repr=False)
    _tests: int = field(init=False, default=0, repr=False)
    _passed: bool = field(init=False, default=False, repr=False)
    _halted: bool = field(init=False, default=False, repr=False)

    def __post_init__(self) -> None:
        """Set the threshold of the tests, with noise for a sequence of tests."""
        test = self.release.test
        self._threshold = test.threshold
        if test.kind == "sequence":
            self._threshold = self._noisy(test.threshold, test.threshold_scale)

    @property
    def halted(self) -> bool:
        """Whether one of the noisy tests has failed, which ends the sequence."""
        return self._halted

    def passes(self, score: float) -> bool:
        """Return whether the next noisy score is at least the threshold.

        Raises `BudgetExceeded` after a failure, or after all tests that were accounted for; nothing
        is drawn.
        """
        require(math.isfinite(score), "score", "finite", score)
        if self._halted:
            raise BudgetExceeded("a test has failed, which ends the sequence")
        if self._tests == self.release.test.steps:
            raise BudgetExceeded(f"{self._tests + 1} tests, and {self._tests} were accounted for")
        self._tests += 1
        self._passed = self._noisy(score, self.release.test.score_scale) >= self._threshold
        self._halted = not self._passed
        return self._passed

    def noisy(self, value: Vector) -> Vector:
        """Return `value`, shape (size,), plus the noise of one release.

        Raises `BudgetExceeded` unless the last test has passed, and nothing was released since;
        nothing is drawn.
        """
        size = self.size
        require(value.shape == (size,), "value", f"of {size} coordinates", value.shape)
        check_release(value, self.release.noise_std)
        if not self._passed:
            raise BudgetExceeded("a release needs a test of its own that has passed")
        self._passed = False
        return add_gaussian_noise(value, self.release.noise_std, self.rng)

    def _noisy(self, number: float, scale: float) -> float:
        """Return a number plus fresh Laplace noise of the given scale."""
        return float(add_laplace_noise(np.array([number]), scale, self.rng)[0])
