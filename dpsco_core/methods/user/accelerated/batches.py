r"""Filtered means of secret random batches of users: Mode B.

Each of T iterations draws K of the n users of a phase without replacement, tests the batch's score
against a fixed threshold, and releases its filtered mean: a single-test release of its own, whose
guarantee the secret batch amplifies. The iterations compose, without AboveThreshold. With K = n
nothing is amplified, but for a few steps this still needs less noise than AboveThreshold.

See theory/lowy-liu-asi.md, 2.2, item 4. The epsilons and the deltas of the steps add up, as in a
ledger. Advanced composition (Lemma A.7) would be possible too, but its sum is larger for
:math:`T \le 2\ln(1/\delta')`.
"""

import math
from dataclasses import dataclass, replace

from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.checks import check_count
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.filter.plan import FilteredRelease, Tuning
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import (
    SCORE_SENSITIVITY,
    sharp_weights_sensitivity,
    weight_floor,
    weights_sensitivity,
)
from dpsco_core.privacy.mechanisms import laplace_noise_scale
from dpsco_core.privacy.mechanisms.tested import NoisyTest, TestedGaussian
from dpsco_core.privacy.subsampling import subsample

# The largest epsilon of an iteration on its batch; above it, amplification gains nothing.
LARGEST_STEP = 20.0


@dataclass(frozen=True, kw_only=True)
class SeparateTests(NoisyTest):
    r"""T single tests, each on a new batch: the run continues iff :math:`s_t + v_t \ge \theta`.

    The noise is :math:`v_t \sim Lap(D/\varepsilon_a)`; the threshold has none. `epsilon` is the
    share :math:`\varepsilon_a` of one test. `failure` is the failure probability of all tests
    together, of which each has a T-th.
    """

    @property
    def score_scale(self) -> float:
        """The scale of the Laplace noise on every score."""
        return laplace_noise_scale(self.sensitivity, self.epsilon)

    @property
    def threshold_scale(self) -> float:
        """The noise scale of the threshold, which is 0."""
        return 0.0

    def reach(self, probability: float) -> float:
        """Return a number that the largest of the T noises exceeds with at most `probability`."""
        require(0 < probability <= 0.5, "probability", "above 0 and at most 1/2", probability)
        return -self.score_scale * math.log(2 * probability / self.steps)


@dataclass(frozen=True, kw_only=True)
class BatchGaussian(TestedGaussian):
    r"""The certificate of T single-test releases, each on a fresh secret batch.

    One iteration is :math:`(\varepsilon_0, \delta_0)`-DP on its batch, with
    :math:`\varepsilon_0=\varepsilon_a+\varepsilon_b` and :math:`\delta_0=\zeta/T+\delta_b`
    (theory/lowy-liu-asi.md, 2.0, the single-test release). Amplification makes it
    :math:`(\ln(1+\frac Kn(e^{\varepsilon_0}-1)), \frac Kn\delta_0)`-DP on the n users, and T
    iterations have T times that. The batch must be uniform without replacement, fresh, and never
    released.

    Parameters
    ----------
    epsilon, delta : float
        :math:`\varepsilon_b` and :math:`\delta_b`, of the Gaussian noise of one iteration.
    drawn, population : int
        K and n.
    """

    drawn: int
    population: int

    @property
    def noise_std(self) -> float:
        r"""The standard deviation :math:`\Delta g(\varepsilon_b,\delta_b)` of the noise."""
        return self.l2_sensitivity * self.noise_multiplier

    @property
    def iteration(self) -> ApproxDP:
        """The guarantee of one iteration, over all users."""
        test = self.test
        base = ApproxDP(
            epsilon=test.epsilon + self.epsilon, delta=test.failure / test.steps + self.delta
        )
        return subsample(base, batch_size=self.drawn, count=self.population)

    @property
    def total_epsilon(self) -> float:
        """The epsilon of all iterations together."""
        return self.test.steps * self.iteration.epsilon

    @property
    def total_delta(self) -> float:
        """The delta of all iterations together."""
        return self.test.steps * self.iteration.delta

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of test and release; amplification puts both in the second entry."""
        return 0.0, self.total_epsilon

    def entries(self, size: int, label: str) -> tuple[Entry, Entry]:
        """Return the ledger's entries, which name the batch if it does not have all users."""
        batch = (self.drawn, self.population) if self.drawn < self.population else None
        test, release = super().entries(size, label)
        return replace(test, batch=batch), replace(release, batch=batch)


def batch_plan(
    population: int,
    drawn: int,
    steps: int,
    epsilon: float,
    delta: float,
    *,
    keep: RobustFilter,
    tuning: Tuning,
) -> FilteredRelease | None:
    r"""Return the plan of T releases on batches, by weights; None if none keeps enough users.

    An iteration has :math:`\varepsilon_0 = \ln(1+\frac nK(e^{\varepsilon/T}-1))` and
    :math:`\delta_0 = \frac nK\frac\delta T`, so that all iterations together cost the budget. Its
    test has the share `test_share` of :math:`\varepsilon_0` and half of :math:`\delta_0`.
    """
    check_count("steps", steps)
    check_count("drawn", drawn)
    require(drawn <= population, "drawn", f"at most {population}", drawn)
    require(keep.inclusion == "weights", "inclusion", "weights", keep.inclusion)
    ratio = population / drawn
    if epsilon / steps > LARGEST_STEP:  # The exponential could exceed the range of a float.
        return None
    step_epsilon = math.log1p(ratio * math.expm1(epsilon / steps))
    step_delta = ratio * delta / steps
    if step_epsilon > LARGEST_STEP or step_delta >= 0.5 or drawn < 2:
        return None
    test = SeparateTests(
        kind="sequence",
        steps=steps,
        threshold=0.0,
        epsilon=tuning.test_share * step_epsilon,
        failure=min(0.5, steps * step_delta / 2),
        sensitivity=SCORE_SENSITIVITY,
    )
    threshold = drawn - test.reach(tuning.false_halt)
    floor = threshold + test.score_floor
    smallest_weight = weight_floor(keep, drawn, floor)
    proven = sharp_weights_sensitivity if tuning.sharp else weights_sensitivity
    sensitivity = proven(keep, drawn, floor)
    if smallest_weight < tuning.least_kept * drawn or math.isinf(sensitivity):
        return None
    release = BatchGaussian(
        test=replace(test, threshold=threshold),
        l2_sensitivity=sensitivity,
        epsilon=step_epsilon - test.epsilon,
        delta=step_delta - test.failure / steps,
        drawn=drawn,
        population=population,
    )
    return FilteredRelease(keep=keep, count=drawn, smallest_weight=smallest_weight, release=release)
