r"""Poisson-sampled Gaussian steps: what practice calls DP-SGD.

Every step takes each record with probability q, independently, sums what the records contribute,
vectors of norm at most C, and adds Gaussian noise of standard deviation zC to the *sum*. It is then
divided by the public qn, never by the number of records that were taken. z is the *noise
multiplier* of DP-SGD libraries. Shuffled batches and batches of a fixed size are other samplers.

Replacing a record, a step is dominated by the pair of mixtures of N(0, 1) with a share q of
N(s, 1), and with a share q of N(-s, 1), s = 1/z; adding or removing one, by the first mixture and
N(0, 1), in both orders (theory/poisson-sampling.md, 1 and 2). The epsilon for adding or removing a
record is *not* that for replacing it.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.special import ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of
from dpsco_core.base.root import find_root
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.checks import check_count, check_positive
from dpsco_core.privacy.entries import Entry, approximate_entry
from dpsco_core.privacy.losses import LossLaw, normal_masses, repeated_delta

Neighbours = Literal["replace-one", "add-remove"]
Direction = Literal["replace", "remove", "add"]

# The ordered pairs of neighbours for which a step's privacy loss is computed.
DIRECTIONS: dict[Neighbours, tuple[Direction, ...]] = {
    "replace-one": ("replace",),
    "add-remove": ("remove", "add"),
}
MOST_STEPS = 10_000_000
CELLS_PER_DEVIATION = 25
MOST_CELLS = 60_000
# The reach of the lattice, in standard deviations of a step's noise. Outputs beyond it count as a
# total loss at the end of large losses, and as the least loss of the lattice at the other end.
REACH = 9.5
LEAST_NOISE, MOST_NOISE = 0.2, 1e6
NOISE_ACCURACY = 1e-4
EPSILON_ACCURACY = 1e-7
LARGEST_EPSILON = 300.0  # a larger epsilon proves practically nothing


@dataclass(frozen=True, kw_only=True)
class PoissonSteps:
    """A certificate for `steps` steps, each on a Poisson sample of the records.

    Make one with `sample_steps`, never by hand.
    """

    steps: int  # T, the number of steps
    rate: float  # q, the probability that a step includes a given record
    # The standard deviation of the noise on a sum, divided by the largest norm of one record's
    # contribution; neighbours change a sum by up to twice that norm.
    noise_multiplier: float
    epsilon: float  # the epsilon of the whole sequence, when one record is replaced
    delta: float  # the delta of the whole sequence, when one record is replaced

    def entry(self, *, size: int, largest_norm: float, label: str) -> Entry:
        """Return the ledger's entry of steps of `size` coordinates each."""
        check_positive("largest_norm", largest_norm)
        cost = (self.epsilon, self.delta)
        noise_std = self.noise_multiplier * largest_norm
        entry = approximate_entry(
            "poisson gaussian", label, 2 * largest_norm, noise_std, size, cost
        )
        return replace(entry, releases=self.steps)


def sample_steps(rate: float, steps: int, epsilon: float, delta: float) -> PoissonSteps:
    """Return the certificate of steps on Poisson samples that are (epsilon, delta)-DP together.

    Neighbours replace one record; the noise is that of `poisson_noise_multiplier`.

    Parameters
    ----------
    rate : float
        q, in (0, 1); fixed before the data are seen, as T is.
    steps : int
        T.
    epsilon, delta : float
        The target; epsilon in (0, 1e6], delta in (0, 1).

    Examples
    --------
    >>> round(sample_steps(0.1, 200, 1.0, 1e-6).noise_multiplier, 2)
    11.95
    """
    return PoissonSteps(
        steps=steps,
        rate=rate,
        noise_multiplier=poisson_noise_multiplier(rate, steps, epsilon, delta),
        epsilon=epsilon,
        delta=delta,
    )


def poisson_epsilon(
    noise_multiplier: float,
    rate: float,
    steps: int,
    delta: float,
    neighbours: Neighbours = "replace-one",
) -> float:
    """Return an epsilon at `delta` of Poisson-sampled, possibly adaptive Gaussian steps.

    It is infinite where it would exceed 300. Raises `InvalidInput` if a value is outside its range.

    Parameters
    ----------
    noise_multiplier : float
        z, from 0.2 to 1e6: the noise on a sum over the largest norm of one contribution.
    rate : float
        q, in (0, 1): the probability with which a step takes a record.
    steps : int
        T.
    delta : float
        In (0, 1).
    neighbours : {"replace-one", "add-remove"}
        For ``"add-remove"`` the larger of the two directions, each composed by itself.

    Examples
    --------
    >>> round(poisson_epsilon(1.1, 0.01, 1000, 1e-5), 3)
    2.478
    >>> round(poisson_epsilon(1.1, 0.01, 1000, 1e-5, "add-remove"), 3)
    1.516
    """
    _check(rate, steps, delta, neighbours)
    check_positive("noise_multiplier", noise_multiplier)
    in_range = LEAST_NOISE <= noise_multiplier <= MOST_NOISE
    condition = f"from {LEAST_NOISE} to {MOST_NOISE:g}"
    require(in_range, "noise_multiplier", condition, noise_multiplier)
    return max(
        _epsilon(_step_law(1 / noise_multiplier, rate, direction), steps, delta)
        for direction in DIRECTIONS[neighbours]
    )


@lru_cache(maxsize=256)
def poisson_noise_multiplier(
    rate: float,
    steps: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours = "replace-one",
) -> float:
    """Return a noise multiplier at which the steps are (epsilon, delta)-DP, rounded up.

    It is at least 0.2. The parameters are those of `poisson_epsilon`. Raises `InvalidInput` if
    more than 1e6 is needed.
    """
    _check(rate, steps, delta, neighbours)
    ApproxDP(epsilon=epsilon, delta=delta)

    def excess(log_noise: float) -> float:
        """Return ln(delta spent / delta allowed) at the noise multiplier e^log_noise."""
        spent = max(
            repeated_delta(_step_law(math.exp(-log_noise), rate, direction), steps, epsilon)
            for direction in DIRECTIONS[neighbours]
        )
        return math.log(max(spent, 1e-300) / delta)

    low = math.log(LEAST_NOISE)
    if excess(low) <= 0:
        return LEAST_NOISE
    high = low + 1.0
    while excess(high) > 0:
        high += 1.0
        require(high <= math.log(MOST_NOISE), "epsilon", "larger at these steps", epsilon)
    root = float(find_root(excess, max(low, high - 1.0), high, xtol=NOISE_ACCURACY))
    while excess(root) > 0:
        root += NOISE_ACCURACY
    return math.exp(root)


def _check(rate: float, steps: int, delta: float, neighbours: Neighbours) -> None:
    """Raise `InvalidInput` unless rate, steps, delta and the kind of neighbours are allowed."""
    require(0 < rate < 1, "rate", "above 0 and below 1", rate)
    check_count("steps", steps)
    require(steps <= MOST_STEPS, "steps", f"at most {MOST_STEPS:,}", steps)
    require(0 < delta < 1, "delta", "above 0 and below 1", delta)
    one_of("neighbours", neighbours, tuple(DIRECTIONS))


def _losses_at(z: Vector, s: float, rate: float, direction: Direction) -> Vector:
    """Return a step's privacy loss at each output z, shape (k,).

    An output is in units of the noise's standard deviation; s is one over the noise multiplier.
    """
    gain = np.log1p(rate * np.expm1(s * z - s * s / 2))
    if direction == "remove":
        return np.asarray(gain)
    if direction == "add":
        return np.asarray(-gain)
    return np.asarray(gain - np.log1p(rate * np.expm1(-s * z - s * s / 2)))


def _outputs_at(losses: Vector, s: float, rate: float, direction: Direction) -> Vector:
    """Return the outputs z at which `_losses_at` has the given values, shape (k,).

    An output is infinite where no finite one has the loss.
    """
    # With q the rate, k = exp(-s^2/2) and e = exp(loss), y = exp(s z) solves the equation
    # q k y^2 + (1-q)(1-e) y - e q k = 0.
    if direction == "replace":
        k, ratio = math.exp(-s * s / 2), np.exp(losses)
        b = (1 - rate) * -np.expm1(losses)
        root = np.abs(b) + np.sqrt(b * b + 4 * (rate * k) ** 2 * ratio)
        y = np.where(b > 0, 2 * rate * k * ratio / root, root / (2 * rate * k))
        return np.asarray(np.log(y) / s)
    signed = losses if direction == "remove" else -losses
    excess = np.expm1(signed) / rate  # the value of exp(s z - s^2/2) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (np.log1p(np.maximum(excess, -1.0)) + s * s / 2) / s
    return np.asarray(np.where(excess > -1, z, -np.inf))


def _step_law(s: float, rate: float, direction: Direction) -> LossLaw:
    """Return the distribution of one step's privacy loss at a noise multiplier of 1/s.

    Rounding to its lattice can only raise delta.
    """
    outputs = np.linspace(-REACH - s, REACH + s, 4001)
    losses = _losses_at(outputs, s, rate, direction)
    mixture = (1 - rate) * np.exp(-(outputs**2) / 2) + rate * np.exp(-((outputs - s) ** 2) / 2)
    density = np.exp(-(outputs**2) / 2) if direction == "add" else mixture
    density /= density.sum()
    deviation = math.sqrt(float(density @ losses**2) - float(density @ losses) ** 2)
    span = float(losses.max() - losses.min())
    spacing = max(deviation / CELLS_PER_DEVIATION, span / MOST_CELLS)
    low, high = math.floor(losses.min() / spacing), math.ceil(losses.max() / spacing)
    ends = spacing * np.arange(low, high + 1, dtype=np.float64)
    z = _outputs_at(ends, s, rate, direction)
    sampled, replaced = normal_masses(z - s), normal_masses(z + s)
    plain = normal_masses(z)
    mixed = (1 - rate) * plain + rate * sampled
    if direction == "add":
        likely, rare, top = -plain, -mixed, float(ndtr(z[-1]))
        bottom = float(ndtr(-z[0]))
    else:
        replaced_mixture = (1 - rate) * plain + rate * replaced
        likely, rare = mixed, plain if direction == "remove" else replaced_mixture
        top = float((1 - rate) * ndtr(-z[-1]) + rate * ndtr(s - z[-1]))
        bottom = float((1 - rate) * ndtr(z[0]) + rate * ndtr(z[0] - s))
    return LossLaw.of_cells(ends, low, likely, rare, bottom=bottom, lost_mass=top)


def _epsilon(law: LossLaw, steps: int, delta: float) -> float:
    """Return the least epsilon of at least 0 at which all steps have a delta of at most `delta`."""

    def excess(epsilon: float) -> float:
        """Return ln(delta of all steps at this epsilon / delta allowed)."""
        return math.log(max(repeated_delta(law, steps, epsilon), 1e-300) / delta)

    if excess(0.0) <= 0:
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
        if high > LARGEST_EPSILON:
            return math.inf
    root = float(find_root(excess, 0.0 if high == 1.0 else high / 2, high, xtol=EPSILON_ACCURACY))
    return root + EPSILON_ACCURACY if excess(root) > 0 else root
