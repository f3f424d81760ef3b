r"""Laws of privacy losses on a lattice, and their composition.

The loss of a pair of laws P and R is :math:`L=\ln\frac{dP}{dR}` under P. A pair that dominates each
of several releases has a law of losses; the law of their adaptive composition is that of the sum of
independent losses. Every step here can only raise the curve
:math:`\delta(\varepsilon)=E(1-e^{\varepsilon-L})_+`, so that what is read off is proven.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy  # `scipy.optimize` and `scipy.signal` are imported on first use.
from scipy.special import log_ndtr, ndtr

from dpsco_core.base.arrays import Vector

# Exponential mechanisms in order, as pairs: an epsilon, and the number of mechanisms in a row that
# have this epsilon.
Choices = tuple[tuple[float, int], ...]

CELLS = 24
# The largest number of points of a distribution of privacy losses before its lattice is coarsened.
MOST_POINTS = 1024
TAIL = 1e-40  # the probability that is cut off and counted as a total loss of privacy
# Above this size distributions are convolved by Fourier transforms. The error in an entry is at
# most a few units of rounding, times the norms of both factors and the logarithm of their length.
# Entries that may be pure rounding error are dropped, and the whole error is counted as a total
# loss of privacy.
DIRECT_POINTS = 1100
ROUNDING = 4e-16
LARGEST_RATE = 200.0  # the largest tilting rate, in units of one over the largest loss
LONGEST = 1 << 20  # the largest number of points of a Fourier transform
COARSEST = 8  # A distribution with at most this many points keeps its lattice.
LARGEST_EXPONENT = 700.0  # the largest exponent whose exponential is a double
DEVIATIONS = 10.0  # A Gaussian loss beyond this many standard deviations counts as total.


@dataclass(frozen=True, eq=False, kw_only=True)
class LossLaw:
    """A distribution of privacy losses on multiples of `spacing`, and a mass of total loss.

    Mass is only moved to the two ends of the cell around it, so that the probability and the mean
    of the likelihood ratio stay: the curve, a mean of convex functions of it, can only grow.
    """

    spacing: float
    first_index: int
    weights: Vector
    lost_mass: float = 0.0
    most_points: int = MOST_POINTS
    tail: float = TAIL

    @classmethod
    def of_choices(cls, choices: Choices) -> LossLaw:
        """Return the distribution of the total loss of exponential mechanisms, by fixed pairs.

        Each of them is dominated by the pair of laws of `of_choice`.
        """
        laws = [cls.of_choice(epsilon).repeated(count) for epsilon, count in choices]
        spacing = min((law.spacing for law in laws), default=1.0)
        total = cls(spacing=spacing, first_index=0, weights=np.ones(1))
        for law in laws:
            total = total.plus(law.on_lattice(spacing))
        return total

    @classmethod
    def of_choice(cls, epsilon: float, half: int = CELLS // 2) -> LossLaw:
        r"""Return the distribution of one exponential mechanism.

        The dominating pair has the density :math:`e^{x/2}/(4\sinh(\varepsilon_1/2))` on
        :math:`|x|\le\varepsilon_1` (Dong, Durfee and Rogers 2020); a cell of width w puts
        :math:`e^{x/2}\tanh(w/4)/(2\sinh(\varepsilon_1/2))` on each of its ends x.

        Parameters
        ----------
        half : int
            The number of cells on either side of 0.
        """
        width = epsilon / half
        places = np.arange(-half, half + 1)
        cells = np.full(2 * half + 1, 2.0)
        cells[[0, -1]] = 1.0
        # This equals e^(x/2) / (2 sinh(epsilon/2)), without overflow.
        size = np.exp((places * width - epsilon) / 2) / -math.expm1(-epsilon)
        return cls(spacing=width, first_index=-half, weights=cells * size * math.tanh(width / 4))

    @classmethod
    def of_atoms(cls, losses: Vector, weights: Vector, spacing: float, lost_mass: float) -> LossLaw:
        """Return a lattice distribution whose curve is at least that of the given losses.

        `losses` increase, and `weights` are their probabilities under P, both of shape (k,).
        """
        first_index, spread = _move_to_lattice(losses, weights, spacing)
        return cls(spacing=spacing, first_index=first_index, weights=spread, lost_mass=lost_mass)

    @classmethod
    def of_randomised_response(cls, epsilon: float, delta: float, spacing: float) -> LossLaw:
        """Return the distribution of the pair that dominates every (epsilon, delta)-DP release.

        It is the randomised response of Kairouz, Oh and Viswanath (2015), Theorem 3.1.
        """
        likely = 1 / (1 + math.exp(-epsilon))
        weights = (1 - delta) * np.array([1 - likely, likely])
        return cls.of_atoms(np.array([-epsilon, epsilon]), weights, spacing, delta)

    @classmethod
    def of_laplace(cls, epsilon: float, spacing: float) -> LossLaw:
        r"""Return the distribution of Laplace noise on one number shifted by epsilon scales.

        The loss is :math:`\varepsilon-2x` at a distance x from the centre, up to the shift.
        """
        cells = max(2, math.ceil(2 * epsilon / spacing))
        places = np.linspace(0.0, epsilon, cells + 1)  # the distances from the centre of the noise
        starts, stops = places[:-1], places[1:]
        likely = (np.exp(-starts) - np.exp(-stops)) / 2
        rare = (np.exp(stops - epsilon) - np.exp(starts - epsilon)) / 2
        losses = epsilon - 2 * places[::-1]
        weights = _move_to_ends(losses, likely[::-1], rare[::-1])
        weights[-1] += 0.5
        weights[0] += math.exp(-epsilon) / 2
        return cls.of_atoms(losses, weights, spacing, 0.0)

    @classmethod
    def of_gaussian(cls, rho: float, spacing: float) -> LossLaw:
        """Return the law of the privacy loss of Gaussian noise that is rho-zCDP."""
        deviation = math.sqrt(2 * rho)
        low = math.floor((rho - DEVIATIONS * deviation) / spacing)
        high = math.ceil((rho + DEVIATIONS * deviation) / spacing)
        ends = spacing * np.arange(low, high + 1, dtype=np.float64)
        likely = normal_masses((ends - rho) / deviation)
        rare = normal_masses((ends + rho) / deviation)
        return cls.of_cells(
            ends,
            low,
            likely,
            rare,
            bottom=float(ndtr((ends[0] - rho) / deviation)),
            lost_mass=float(ndtr((rho - ends[-1]) / deviation)),
        )

    @classmethod
    def of_cells(
        cls,
        ends: Vector,
        first_index: int,
        likely: Vector,
        rare: Vector,
        *,
        bottom: float,
        lost_mass: float,
        most_points: int = MOST_POINTS,
        tail: float = TAIL,
    ) -> LossLaw:
        """Return the distribution of a pair P, R whose masses in cells of the loss are given.

        Parameters
        ----------
        ends : array
            The points of the lattice, shape (k + 1,), from `first_index` on.
        likely, rare : array
            The masses of the cells under P and under R, shape (k,).
        bottom, lost_mass : float
            The masses under P below the first end, and above the last one.
        """
        weights = _move_to_ends(ends, likely, rare)
        weights[0] += bottom
        return cls(
            spacing=float(ends[1] - ends[0]),
            first_index=first_index,
            weights=weights,
            lost_mass=lost_mass,
            most_points=most_points,
            tail=tail,
        )

    @classmethod
    def of_curve(cls, deltas: Vector, first_index: int, spacing: float) -> LossLaw:
        r"""Return the distribution whose curve joins points of another curve by chords.

        A curve is convex in :math:`e^\varepsilon`, so that chords in it are above the curve.
        `deltas` are its values on the lattice, from `first_index` on, or values above them: what
        the bend of their lower hull proves is kept.
        """
        ratios = np.exp(spacing * (first_index + np.arange(len(deltas), dtype=np.float64)))
        deltas = convex_minorant(ratios, deltas)
        slopes = np.append(np.diff(deltas) / np.diff(ratios), 0.0)
        weights = np.zeros(len(deltas))
        weights[1:] = np.maximum(np.diff(slopes), 0.0) * ratios[1:]
        lost_mass = float(max(deltas[-1], 0.0))
        weights[0] = max(0.0, 1 - lost_mass - float(weights[1:].sum()))
        return cls(spacing=spacing, first_index=first_index, weights=weights, lost_mass=lost_mass)

    def deltas(self, epsilons: Vector) -> Vector:
        """Return the delta that this distribution proves at each epsilon, shape (k,)."""
        values = self.values
        places = np.searchsorted(values, epsilons, side="right")
        likely_above = np.append(np.cumsum(self.weights[::-1])[::-1], 0.0)
        # A smaller probability under R raises the curve, so this cap is safe.
        rare = self.weights * np.exp(np.minimum(-values, LARGEST_EXPONENT))
        rare_above = np.append(np.cumsum(rare[::-1])[::-1], 0.0)
        curve = likely_above[places] - np.exp(epsilons) * rare_above[places]
        return np.asarray(np.clip(self.lost_mass + np.maximum(curve, 0.0), 0.0, 1.0))

    @property
    def values(self) -> Vector:
        """The values that the privacy loss can have, shape (points,)."""
        return self.spacing * (self.first_index + np.arange(len(self.weights), dtype=np.float64))

    def repeated(self, count: int) -> LossLaw:
        """Return the distribution of the sum of `count` independent copies."""
        square, total = self, None
        while count:
            if count % 2:
                total = square if total is None else total.plus(square)
            count //= 2
            square = square.plus(square) if count else square
        assert total is not None
        return total

    def plus(self, addend: LossLaw) -> LossLaw:
        """Return the distribution of the sum with an independent `addend`."""
        spacing = max(self.spacing, addend.spacing)
        left, right = self.on_lattice(spacing), addend.on_lattice(spacing)
        weights, rounding = _convolve(left.weights, right.weights)
        total = replace(
            self,
            spacing=spacing,
            first_index=left.first_index + right.first_index,
            weights=weights,
            lost_mass=min(1.0, left.lost_mass + right.lost_mass + rounding),
        ).trimmed()
        return total.on_lattice(2 * spacing) if len(total.weights) > self.most_points else total

    def trimmed(self) -> LossLaw:
        """Return the distribution without tails of mass up to `tail`.

        The upper tail becomes a total loss, and the lower one moves up to the lowest point left.
        """
        upper_mass = np.cumsum(self.weights[::-1])[::-1]
        lower_mass = np.cumsum(self.weights)
        low = int(np.searchsorted(lower_mass, self.tail, side="right"))
        high = int(np.count_nonzero(upper_mass > self.tail))
        if (low == 0 and high == len(self.weights)) or low >= high:
            return self
        weights = self.weights[low:high].copy()
        weights[0] += lower_mass[low - 1] if low else 0.0
        lost_mass = self.lost_mass + (float(upper_mass[high]) if high < len(upper_mass) else 0.0)
        return replace(
            self, first_index=self.first_index + low, weights=weights, lost_mass=lost_mass
        )

    def on_lattice(self, spacing: float) -> LossLaw:
        """Return a distribution on a lattice of this spacing, whose curve is nowhere lower."""
        if spacing == self.spacing:
            return self
        first_index, weights = _move_to_lattice(self.values, self.weights, spacing)
        return replace(self, spacing=spacing, first_index=first_index, weights=weights)


def repeated_delta(law: LossLaw, count: int, epsilon: float) -> float:
    r"""Return the delta at epsilon of `count` independent copies of a loss distribution.

    It is computed by one power of a Fourier transform, under the tilt :math:`e^{\theta L}/M` whose
    mean is near epsilon: :math:`\delta=M^kE_\theta[e^{-\theta L}(1-e^{\varepsilon-L})_+]`. What
    rounding loses is then relative to the answer. What wraps around from below only adds; what
    wraps around from above is bounded by Chernoff's inequality, and added.
    """
    losses, weights = law.values, law.weights
    with np.errstate(divide="ignore"):
        logs = np.log(weights)

    def log_moment(rate: float) -> float:
        """Return the logarithm of the loss' moment generating function at this rate."""
        exponents = logs + rate * losses
        peak = float(exponents.max())
        return peak + math.log(float(np.exp(exponents - peak).sum()))

    largest = LARGEST_RATE / max(float(np.abs(losses).max()), 1e-300)
    rate = float(
        scipy.optimize.minimize_scalar(
            lambda x: count * log_moment(x) - x * epsilon,
            bounds=(0.0, largest),
            method="bounded",
            options={"xatol": 1e-6 * largest},
        ).x
    )
    level = log_moment(rate)
    tilted = np.exp(logs + rate * losses - level)
    mean = float(tilted @ losses)
    deviation = math.sqrt(max(float(tilted @ (losses - mean) ** 2), 0.0) * count)
    room = 14 * deviation + float(np.ptp(losses)) + abs(count * mean - epsilon)
    size = 1 << math.ceil(math.log2(2 * room / law.spacing + len(weights)))
    if size > LONGEST:
        if len(law.weights) <= COARSEST:
            return 1.0  # A coarser lattice would prove nothing better.
        return repeated_delta(law.on_lattice(2 * law.spacing), count, epsilon)
    power = np.fft.irfft(np.fft.rfft(tilted, size) ** count, size)
    low = math.floor(count * mean / law.spacing) - size // 2
    places = np.arange(low, low + size)
    masses = np.maximum(power[(places - count * law.first_index) % size], 0.0)
    values = law.spacing * places
    beyond_epsilon = values > epsilon
    gaps = values[beyond_epsilon] - epsilon
    excess_mass = float(masses[beyond_epsilon] @ (np.exp(-rate * gaps) * -np.expm1(-gaps)))
    top = float(values[-1])
    wrapped = min(
        count * (log_moment(rate + extra) - level) - extra * top
        for extra in np.geomspace(1e-8, 1.0, 80) * max(largest - rate, 1e-2 * largest)
    )
    cut = math.exp(min(wrapped, 0.0) - rate * (top - epsilon))
    entries = min(float(size), 1 + 1 / max(rate * law.spacing, 1e-300))
    rounding = ROUNDING * (count + math.log2(size)) * entries
    # If epsilon is below the mean loss, tilting increases this factor above 1.
    scale = math.exp(min(count * level - rate * epsilon, 700.0))
    total_loss = -math.expm1(count * math.log1p(-law.lost_mass)) if law.lost_mass < 1 else 1.0
    return min(1.0, scale * (excess_mass + cut + rounding) + total_loss)


def _move_to_lattice(losses: Vector, weights: Vector, spacing: float) -> tuple[int, Vector]:
    """Return the index of the first lattice point, and the weights of it and all later points.

    Each weight is shared by the points on either side of its loss, so that the masses under P and
    under R both stay: the curve is at least that of the losses, which must increase.
    """
    lattice_below = np.floor(losses / spacing)
    upper = np.expm1(lattice_below * spacing - losses) / math.expm1(-spacing)
    upper_weights = weights * np.clip(upper, 0.0, 1.0)
    first_index = int(lattice_below[0])
    places = (lattice_below - first_index).astype(np.intp)
    spread = np.zeros(int(places[-1]) + 2)
    np.add.at(spread, places, weights - upper_weights)
    np.add.at(spread, places + 1, upper_weights)
    return first_index, spread


def convex_minorant(x: Vector, y: Vector) -> Vector:
    """Return the largest convex function below the points (x, y), evaluated at increasing x.

    A convex function whose values are at most `y` is below it, too.
    """
    hull: list[int] = []
    for i in range(len(x)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            hull.pop()
        hull.append(i)
    return np.asarray(np.interp(x, x[hull], y[hull]))


def _convolve(left: Vector, right: Vector) -> tuple[Vector, float]:
    """Return the weights of the sum of two losses, and the mass that rounding may have hidden."""
    if max(len(left), len(right)) <= DIRECT_POINTS:
        return np.convolve(left, right), 0.0
    weights = scipy.signal.fftconvolve(left, right)
    norms = float(np.linalg.norm(left) * np.linalg.norm(right))
    error = ROUNDING * math.log2(len(weights)) * norms
    return np.where(weights > error, weights, 0.0), 2 * len(weights) * error


def normal_masses(ends: Vector) -> Vector:
    """Return the standard normal probability between each of `ends` and the next one.

    It is negative where the next end is lower. Relative errors are small even in the tails.
    """
    low, high = ends[:-1], ends[1:]
    mirrored = low > 0
    larger = np.where(mirrored, -low, high)
    smaller = np.where(mirrored, -high, low)
    return np.asarray(np.exp(log_ndtr(larger)) - np.exp(log_ndtr(smaller)))


def _move_to_ends(ends: Vector, likely: Vector, rare: Vector) -> Vector:
    """Return the weights at the ends of equal cells after each cell's mass is moved to its ends.

    `likely` and `rare` are the masses of the cells under P and under R; the totals under both stay.
    """
    width = float(ends[1] - ends[0])
    upper = (likely - rare * np.exp(ends[:-1])) / -math.expm1(-width)
    upper = np.clip(upper, 0.0, likely)
    weights = np.zeros(len(ends))
    weights[:-1] += likely - upper
    weights[1:] += upper
    return weights
