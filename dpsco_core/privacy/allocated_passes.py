r"""Random allocation in several passes: each record takes one of T steps anew in every pass.

A pass is what `dpsco_core.privacy.allocation` accounts for. In the next one all records draw again,
independently of what they drew before, of each other and of the data, and contributions may depend
on everything that was released so far. Neighbours replace one record.

The pair of laws that is worst for one pass is worst for each of several, whatever came before, so
that the losses of P independent copies of it add up, exactly (theory/random-allocation.md, 6). A
record that takes a random k of T steps loses at most what it does in k passes of T/k steps.
"""

import math
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.privacy.allocation import (
    LARGEST_EPSILON,
    AllocatedSteps,
    allocate_steps,
    allocation_delta,
    check_steps,
    simple_rho,
)
from dpsco_core.privacy.budget import ApproxDP, gaussian_delta, gaussian_rho
from dpsco_core.privacy.checks import check_count, check_positive
from dpsco_core.privacy.losses import LossLaw, repeated_delta

MOST_PASSES = 1_000_000
POINTS = 14  # base-2 logarithm of the number of grid points of a pass, as for `allocation_delta`
CELLS = 6  # the number of points on a pass's curve per standard deviation of its loss
DENSE = 6.0  # Up to this many deviations the points of the curve are equally spaced.
GROWTH = 1.15  # Beyond `DENSE`, each gap between points is this many times the previous gap.
NEGLIGIBLE = 1e-3  # the share of delta that may be due to losses counted as total
# The rounding error of a value on a pass's curve, which is added to the value.
ROUNDING = 1e-15
ACCURACY = 2e-3  # the largest relative excess of a certificate's noise over the least noise
TRIALS = 8


def passes_delta(
    steps: int,
    passes: int,
    noise_multiplier: float,
    epsilon: float,
    points: int = POINTS,
    negligible: float = 1e-12,
) -> float:
    r"""Return delta at `epsilon` of several passes of randomly allocated Gaussian steps.

    The curve of one pass is `allocation_delta`. It is convex in :math:`e^\varepsilon`, so that
    chords between its points are above it, and are the curve of a law of losses on a lattice, which
    is composed with itself. Only rounding can make the value smaller, by about 1e-9 of it.

    Raises `InvalidInput` if a value is outside its range.

    Parameters
    ----------
    steps, noise_multiplier, epsilon, points
        T of a pass, :math:`\sigma/C`, epsilon and the grid, as for `allocation_delta`.
    passes : int
        P, from 1 to a million; fixed before the data are seen.
    negligible : float
        A chance of losses that are counted as total ones, in all passes together.

    Notes
    -----
    theory/random-allocation.md, 6. Never larger than the delta of a Gaussian pair of
    :math:`\rho=Ps^2`, :math:`s=C/\sigma` (of :math:`2Ps^2` for passes of a single step).

    Examples
    --------
    >>> round(passes_delta(8, 10, 9.5, 1.0), 8)  # 0.031 where they are public
    9.4e-07
    """
    check_steps(steps)
    _check_passes(passes)
    check_positive("noise_multiplier", noise_multiplier)
    require(0 <= epsilon < math.inf, "epsilon", "a number of at least 0", epsilon)
    if passes == 1:
        return allocation_delta(steps, noise_multiplier, epsilon, points)
    simple = gaussian_delta(simple_rho(steps, 1.0) * passes / noise_multiplier**2, epsilon)
    if steps == 1:
        return simple
    law = law_of_a_pass(steps, noise_multiplier, points, negligible / passes)
    return min(simple, repeated_delta(law, passes, epsilon))


@lru_cache(maxsize=1024)
def allocate_passes(
    steps: int, passes: int, epsilon: float, delta: float, points: int = POINTS
) -> AllocatedSteps:
    r"""Return the certificate of all passes of random allocation, (epsilon, delta)-DP together.

    Its noise is the least up to some thousandths, and rounded up, where delta is far above P times
    1e-15; nearer to that, it may be what a Gaussian pair needs, up to :math:`\sqrt{T/2}` times the
    least.

    Parameters
    ----------
    steps, passes, points
        As for `passes_delta`.
    epsilon, delta : float
        The target; epsilon in (0, 1e6], delta in (0, 1).

    Examples
    --------
    >>> round(allocate_passes(8, 10, 1.0, 1e-6).noise_multiplier, 1)  # 26.7 where they are public
    9.5
    """
    check_steps(steps)
    _check_passes(passes)
    if passes == 1:
        return allocate_steps(steps, epsilon, delta, points)
    ApproxDP(epsilon=epsilon, delta=delta)
    rho = gaussian_rho(epsilon, delta)
    noise = math.sqrt(simple_rho(steps, 1.0) * passes / rho)
    if steps > 1:
        noise = min(
            noise, _least_noise(steps, passes, min(epsilon, LARGEST_EPSILON), delta, points)
        )
    return AllocatedSteps(
        steps=steps, noise_multiplier=noise, epsilon=epsilon, delta=delta, passes=passes
    )


def _least_noise(steps: int, passes: int, epsilon: float, delta: float, points: int) -> float:
    """Return a noise multiplier at which all passes are verified to be (epsilon, delta)-DP.

    It is near the least one, and infinite if none of the multipliers that were tried is enough.
    """
    rho, best, lowest = gaussian_rho(epsilon, delta), math.inf, 0.0
    # The sum of many small losses is nearly normal, with rho = (2P/T) sinh(s^2).
    guess = 1 / math.sqrt(math.asinh(rho * steps / (2 * passes)))
    for _ in range(TRIALS):
        reached = passes_delta(steps, passes, guess, epsilon, points, NEGLIGIBLE * delta)
        if reached <= delta:
            best = min(best, guess)
        else:
            lowest = max(lowest, guess)
        if best <= lowest * (1 + ACCURACY):
            break
        # For a normal loss the ratio of noises is the square root of the ratio of rhos.
        spent = gaussian_rho(epsilon, min(max(reached, 1e-300), 0.99))
        aim = guess * math.sqrt(spent / rho) * (1 + ACCURACY / 2)
        if reached <= delta and aim >= guess / (1 + ACCURACY):
            break
        if lowest < aim < best:
            guess = aim
        else:
            guess = (lowest + min(best, 2 * lowest)) / 2 if lowest else guess / 1.5
    return best


def law_of_a_pass(steps: int, noise_multiplier: float, points: int, negligible: float) -> LossLaw:
    """Return a distribution of privacy losses whose delta is, at every epsilon, at least a pass's.

    A loss above the first one at which a pass has a delta of at most `negligible` counts as total.
    """
    square = noise_multiplier**-2
    deviation = min(2 * math.sqrt(math.sinh(min(square, 30.0)) / steps), math.sqrt(2 * square))
    spacing = deviation / CELLS
    places, deltas, place, width = [], [], 0, 1.0
    while True:
        loss = spacing * place
        places.append(place)
        deltas.append(allocation_delta(steps, noise_multiplier, loss, points))
        if deltas[-1] <= negligible or loss >= LARGEST_EPSILON:
            break
        if loss >= DENSE * deviation:
            width *= GROWTH
        place += math.floor(width)
    lattice = np.arange(places[-1] + 1)
    ratios = np.exp(spacing * lattice)
    upper = np.interp(ratios, ratios[places], deltas)
    # Exchanging the records mirrors the pair of distributions: the curve at -x follows from the
    # curve at x.
    lower = -np.expm1(-spacing * lattice[:0:-1]) + upper[:0:-1] / ratios[:0:-1]
    curve = np.concatenate((lower, upper)) + ROUNDING
    return LossLaw.of_curve(curve, -places[-1], spacing)


def _check_passes(passes: int) -> None:
    """Raise an error unless a number of passes is a positive integer within the limit."""
    check_count("passes", passes)
    require(passes <= MOST_PASSES, "passes", f"at most {MOST_PASSES:,}", passes)
