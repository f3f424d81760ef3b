r"""Random allocation: each record takes one of T noisy steps, at random and in secret.

Step t releases the sum of what its records contribute, vectors of norm at most C, plus Gaussian
noise of standard deviation :math:`\sigma` in every coordinate. A contribution may depend on what
earlier steps released. Neighbours replace one record.

The step of a record must be uniform, independent of all other records and of the data, and never
released; so must the number of records of a step, and a sum is divided by the public n/T. The
guarantee then depends on T and on :math:`\sigma/C`, and not on n. A shuffle into batches of equal
size is another sampler, and is not covered: there the places of two records depend on each other.

Feldman and Shenfeld (arXiv 2502.08202) introduced the sampler and account for adding or removing a
record. What stands here is for replacing one, and exact up to rounding. That of the grid only ever
adds, by construction, and that of the transform is bounded and added; what else double precision
loses is some 1e-12 of the answer.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import scipy
from scipy.special import ndtr

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest_index
from dpsco_core.privacy.budget import ApproxDP, gaussian_delta, gaussian_rho
from dpsco_core.privacy.checks import check_positive
from dpsco_core.privacy.entries import Entry, approximate_entry

MOST_STEPS = 100_000
# A certificate at a smaller epsilon also holds at a larger one. Above this epsilon the grid would
# have to be so coarse, and the transform's rounding error so large relative to delta, that the
# certified noise would increase.
LARGEST_EPSILON = 12.0
LARGEST_SHIFT = 5.0  # the largest ratio C / sigma that a grid can represent
# The relative error that rounding may add per step to moments of the tilted distribution.
ROUNDING = 1e-12
# The largest error of a value of a Fourier transform in doubles, per doubling of its size and
# relative to the sum of the absolute values that it transforms. The T-th power multiplies it by T.
TRANSFORM_ROUNDING = 4 * float(np.finfo(np.float64).eps)
QUICK_POINTS = 15  # the grid size (base-2 logarithm) for plans that a visitor waits for
TINY = 1e-15  # a delta far below every requested delta


@dataclass(frozen=True, kw_only=True)
class AllocatedSteps:
    """A certificate for `steps` steps to which records are allocated at random.

    Make one with `allocate_steps` or `allocate_passes`, never by hand.
    """

    steps: int  # T, the number of steps of a pass
    # The standard deviation of the noise on a sum, divided by the largest norm of one record's
    # contribution; neighbours change a sum by up to twice that norm.
    noise_multiplier: float
    epsilon: float  # the epsilon of the whole sequence
    delta: float  # the delta of the whole sequence
    passes: int = 1  # the number of passes; in each a record is allocated to a new random step

    def entry(self, *, size: int, largest_norm: float, label: str) -> Entry:
        """Return the ledger entry of steps of `size` coordinates each."""
        check_positive("largest_norm", largest_norm)
        cost = (self.epsilon, self.delta)
        noise_std = self.noise_multiplier * largest_norm
        entry = approximate_entry(
            "allocated gaussian", label, 2 * largest_norm, noise_std, size, cost
        )
        # A replaced record stays in its step, so only one sum of each pass changes.
        return replace(entry, disjoint_blocks=self.steps, releases=self.passes)


def allocation_delta(
    steps: int, noise_multiplier: float, epsilon: float, points: int | None = None
) -> float:
    r"""Return delta at `epsilon` of randomly allocated Gaussian steps, when a record is replaced.

    .. math:: \delta = \frac1T\,E\Big(\sum_{t=1}^T
        \big[e^{s z_t - s^2/2} - e^{\varepsilon - s z_t - s^2/2}\big]\Big)_+,
        \qquad z \sim N(0, I_T),\quad s = C/\sigma,

    which the contributions C e and -C e of the two records attain at every step. The law of a term
    is rounded to a grid so that each cell keeps its mean, which can only raise the expectation; the
    sum of T of them is one power of a transform. What is cut off at the top is added, what lies
    below the grid is moved up to it, what wraps around is bounded by Chernoff's inequality, and
    what the transforms round is added: the value is never too small.

    Parameters
    ----------
    steps : int
        T, from 1 to 100,000.
    noise_multiplier : float
        :math:`\sigma/C`, positive: the noise on a sum over the largest norm of one contribution.
    epsilon : float
        At least 0.
    points : int, optional
        Base-2 logarithm of the number of points of the grid, 18, or 20 for more than 10,000 steps;
        any value is valid, more is sharper.

    Notes
    -----
    theory/random-allocation.md, 2 and 3. Never larger than the delta of a Gaussian pair of
    :math:`\rho = s^2` (of :math:`2s^2` for a single step).

    Examples
    --------
    >>> round(allocation_delta(100, 1.25, 0.5), 8)
    7.563e-05
    """
    check_steps(steps)
    check_positive("noise_multiplier", noise_multiplier)
    require(0 <= epsilon < math.inf, "epsilon", "a number of at least 0", epsilon)
    steps, s = int(steps), 1 / noise_multiplier
    simple = gaussian_delta(simple_rho(steps, s), epsilon)
    if steps == 1 or epsilon > LARGEST_EPSILON or s > LARGEST_SHIFT:
        return simple
    # a bound on the standard deviation of a term
    spread = (1 + math.exp(epsilon)) * math.sqrt(math.expm1(s * s))
    # the size that a single term rarely exceeds
    single = min(10.0, math.exp(epsilon) * math.expm1(8 * s))
    top = steps * math.expm1(epsilon) + 12 * spread * math.sqrt(steps) + single
    width = 4.5 * top / (1 << (points or _grid_points(steps)))
    law = _rounded_law(s, epsilon, top, width)
    total = _positive_part_of_sum(law, steps, width)
    return min(simple, total / steps + law.excess + TINY)


@lru_cache(maxsize=1024)
def allocate_steps(
    steps: int, epsilon: float, delta: float, points: int | None = None
) -> AllocatedSteps:
    r"""Return the certificate of random allocation to `steps` steps, (epsilon, delta)-DP together.

    Its noise is the least at which that is proven, rounded up.

    Parameters
    ----------
    steps : int
        T, from 1 to 100,000; fixed before the data are seen.
    epsilon, delta : float
        The target; epsilon in (0, 1e6], delta in (0, 1).
    points : int, optional
        That of `allocation_delta`. `QUICK_POINTS` take a tenth of the time, for noise that is
        mostly less than 0.1 % larger, and a few per cent for 10,000 steps at a small epsilon.

    Examples
    --------
    >>> round(allocate_steps(1000, 1.0, 1e-6).noise_multiplier, 4)  # 4.4503 by shuffling
    0.6975
    """
    check_steps(steps)
    ApproxDP(epsilon=epsilon, delta=delta)
    certified = _least_noise(
        steps, min(epsilon, LARGEST_EPSILON), delta, points or _grid_points(steps)
    )
    noise = min(certified, _simple_noise(steps, epsilon, delta))
    return AllocatedSteps(steps=steps, noise_multiplier=noise, epsilon=epsilon, delta=delta)


def simple_rho(steps: int, s: float) -> float:
    r"""Return a rho that a pass has without credit for the secret steps; s is :math:`C/\sigma`.

    A single step moves by 2C. If there are several steps, the two records' steps may be paired off
    by a shift, so that the outputs move by C in two steps, :math:`\sqrt2 C` in all.
    """
    return 2 * s * s if steps == 1 else s * s


def _simple_noise(steps: int, epsilon: float, delta: float) -> float:
    """Return the noise multiplier at which `simple_rho` meets the (epsilon, delta) budget."""
    return math.sqrt(simple_rho(steps, 1.0) / gaussian_rho(epsilon, delta))


def _least_noise(steps: int, epsilon: float, delta: float, points: int) -> float:
    """Return a noise multiplier, close to the least, that is enough at `epsilon` and `delta`."""
    largest_noise = _simple_noise(steps, epsilon, delta)
    low, high = math.log(1 / LARGEST_SHIFT), math.log(largest_noise)
    if steps == 1 or low >= high:
        return largest_noise
    least_valid = high

    def excess(log_noise: float, grid_points: int) -> float:
        """Return ln(delta reached / delta wanted) at the noise multiplier e^log_noise."""
        nonlocal least_valid
        reached = allocation_delta(steps, math.exp(log_noise), epsilon, grid_points)
        if grid_points == points and reached <= delta:
            least_valid = min(least_valid, log_noise)
        return math.log(max(reached, 1e-300) / delta)

    if excess(low, points) <= 0:
        return 1 / LARGEST_SHIFT
    coarse = points - 2
    if excess(low, coarse) <= 0 or excess(high, coarse) > 0:
        return largest_noise
    # A coarse grid brackets the root and a fine grid refines it; the returned value is verified.
    rough = scipy.optimize.brentq(excess, low, high, args=(coarse,), xtol=1e-3)
    left, right = max(low, rough - 0.02), min(high, rough + 0.002)
    if excess(right, points) > 0:
        left, right = right, high
    if excess(left, points) > 0 >= excess(right, points):
        scipy.optimize.brentq(excess, left, right, args=(points,), xtol=1e-6)
    return math.exp(least_valid)


@dataclass(frozen=True, eq=False)
class _RoundedLaw:
    """The distribution of one term, rounded to a grid with the mean of every cell unchanged."""

    start: int  # the lowest point is start * width
    mass: Vector  # the probability of each point, shape (K,)
    # the expectation of a term's part above the highest point, which the grid cuts off
    excess: float


def _rounded_law(s: float, epsilon: float, top: float, width: float) -> _RoundedLaw:
    """Return the law of one term of the sum in `allocation_delta`, on a grid from -top to top.

    Each cell of the given width keeps its mass and its mean; s is C over the noise.
    """
    start = math.floor(-top / width)
    count = math.ceil(top / width) - start + 2
    grid = width * (start + np.arange(count))
    # The term e^(-s^2/2) (e^(sz) - e^(epsilon - sz)) increases in z, and these are the z at which
    # the term equals the points of the grid.
    z = (epsilon / 2 + np.arcsinh(grid * (math.exp(s * s / 2 - epsilon / 2) / 2))) / s
    growth = math.exp(epsilon)
    mass_below = ndtr(z)
    mean_below = ndtr(z - s) - growth * ndtr(z + s)
    # Above the median, probabilities are differences of upper tails, which keep their digits.
    mass_above = ndtr(-z)
    mean_above = ndtr(s - z) - growth * ndtr(-z - s)
    upper = z[:-1] > 0
    chance = np.where(upper, mass_above[:-1] - mass_above[1:], mass_below[1:] - mass_below[:-1])
    mean = np.where(upper, mean_above[:-1] - mean_above[1:], mean_below[1:] - mean_below[:-1])
    raised = np.clip((mean - grid[:-1] * chance) / width, 0, chance)
    mass = np.zeros(count)
    mass[:-1] += chance - raised
    mass[1:] += raised
    mass[0] += mass_below[0]
    mass[-1] += mass_above[-1]
    return _RoundedLaw(start, mass, max(float(mean_above[-1] - grid[-1] * mass_above[-1]), 0.0))


def _positive_part_of_sum(law: _RoundedLaw, steps: int, width: float) -> float:
    r"""Return an upper bound on :math:`E\,S_+` for the sum S of `steps` terms.

    A positive sum is rare. The terms are tilted by :math:`e^{\theta D}/M`, with a rate
    :math:`\theta` that moves the mean of the tilted sum to 0:
    :math:`E(S)_+ = M^T E_\theta[S_+ e^{-\theta S}]`. So the rounding of the transforms is relative
    to the answer, not to 1.
    """
    grid = width * np.arange(law.start, law.start + len(law.mass), dtype=np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log(law.mass)
    coarse = _coarse_law(grid, law.mass)
    rate = _tilting_rate(
        *coarse
    )  # Every tilting rate is valid, so a rate from the coarse grid will do.
    tilted, log_moment = _tilt_law(grid, logs, rate)
    mean = float(grid @ tilted)
    deviation = math.sqrt(float(((grid - mean) ** 2) @ tilted))
    room = steps * abs(mean) + grid[-1] + 12 * deviation * math.sqrt(steps) + 4 * width
    size = 1 << math.ceil(math.log2(2 * room / width))
    transform = scipy.fft.rfft(tilted, size)
    sums = scipy.fft.irfft(transform**steps, size)
    # Each value of the probabilities' transform has this error, its T-th power has T times as much,
    # and each sum has the average over all frequencies.
    error = TRANSFORM_ROUNDING * (math.log2(size) + 4)
    error *= (steps + 1) * float(np.mean(np.abs(transform) ** (steps - 1)))
    index = np.arange(1, size // 2)
    values = width * index
    chances = np.maximum(sums[(index - steps * law.start) % size], 0) + error
    exponents = np.minimum(steps * log_moment - rate * values, 700.0)
    grid_part = float(values @ (chances * np.exp(exponents)))
    high = float(values[-1])
    return grid_part * (1 + ROUNDING * steps) + _tail_part(grid, logs, coarse, steps, high)


def _tilt_law(grid: Vector, logs: Vector, rate: float) -> tuple[Vector, float]:
    """Return the law with masses proportional to e^(rate x), and the log of its normalisation M.

    `grid` has the points x, and `logs` the logarithms of their probabilities, both of shape (K,).
    """
    exponents = logs + rate * grid
    peak = float(exponents.max())
    weights = np.exp(exponents - peak)
    total = float(weights.sum())
    return weights / total, peak + math.log(total)


def _tilting_rate(grid: Vector, logs: Vector) -> float:
    """Return the rate at which `_tilt_law` gives a law of mean 0.

    The rate is 0 if the mean is already at least 0 without tilting.
    """

    def mean(rate: float) -> float:
        """Return the mean of the law that is tilted at this rate."""
        return float(grid @ _tilt_law(grid, logs, rate)[0])

    reachable = grid[-1]
    if reachable <= 0 or mean(0.0) >= 0:
        return 0.0
    high = 1e-3 / reachable
    while mean(high) < 0:
        high *= 4
    return float(scipy.optimize.brentq(mean, 0.0, high, xtol=1e-2 * high))


def _coarse_law(grid: Vector, mass: Vector) -> tuple[Vector, Vector]:
    """Return the means of blocks of up to 64 points, and the logarithms of their probabilities.

    A block is narrow beside the law's standard deviation.
    """
    mean = float(grid @ mass)
    deviation = math.sqrt(float((grid - mean) ** 2 @ mass))
    stride = min(64, max(1, int(deviation / (4 * (grid[1] - grid[0])))))
    starts = np.arange(0, len(mass), stride)
    masses = np.add.reduceat(mass, starts)
    means = np.add.reduceat(mass * grid, starts)
    has_mass = masses > 0
    return means[has_mass] / masses[has_mass], np.log(masses[has_mass])


def _tail_part(
    grid: Vector,
    logs: Vector,
    coarse: tuple[Vector, Vector],
    steps: int,
    high: float,
) -> float:
    r"""Return an upper bound on the part :math:`E[S; S > h]` of the mean of a sum S of terms D.

    .. math:: E[S; S > h] \le \max(h, 1/\theta)\, e^{-\theta h} (E e^{\theta D})^T

    T is `steps`, h is `high`, and theta the best rate that a search on the `coarse` law finds.
    """

    def log_bound(rate: float, points: Vector, log_masses: Vector) -> float:
        """Return the logarithm of a Chernoff bound at this rate."""
        log_moment = _tilt_law(points, log_masses, rate)[1]
        return math.log(max(high, 1 / rate)) + steps * log_moment - rate * high

    means, log_masses = coarse
    deviation = math.sqrt(float(means**2 @ np.exp(log_masses)))
    # Every tilting rate is valid, so the best of a grid and of a finer grid around it will do.
    rates = np.geomspace(1e-3 / grid[-1], 50 / deviation + 1 / grid[-1], 60)
    for _ in range(2):
        bounds = np.array([log_bound(float(rate), *coarse) for rate in rates])
        best = max(int(smallest_index(bounds)), 0)
        rates = np.geomspace(rates[max(best - 1, 0)], rates[min(best + 1, 59)], 60)
    middle = float(rates[len(rates) // 2])
    return math.exp(min(log_bound(middle, grid, logs), 700.0))


def _grid_points(steps: int) -> int:
    """Return the default grid size for this many steps, as a base-2 logarithm."""
    return 18 if steps <= 10_000 else 20


def check_steps(steps: int) -> None:
    """Raise `InvalidInput` unless a number of steps is a whole number from 1 to 100,000."""
    ok = isinstance(steps, int | np.integer) and 1 <= steps <= MOST_STEPS
    require(ok, "steps", f"a whole number from 1 to {MOST_STEPS:,}", steps)
