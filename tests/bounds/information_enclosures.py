"""Bounds by two-sided information and by packing, in interval arithmetic; see `test_enclosures`.

A search in floating point chooses the parameters: spike probability, lines, levels and caps. Every
choice is valid, and the bound that is proven at it is enclosed in an interval.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.special import wrightomega
from scipy.stats import binom

from dpsco_core.problems.base import Setting

Floats = NDArray[np.float64]
# These are caps on a normalised sum of signs, in its standard deviations.
CAPS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 7.0)
NORMS = 500  # Number of intervals into which the norm of an answer is divided.
LEVELS = 60  # Number of levels below the highest one that are tried where delta is not 0.


def conjugate(c: arb) -> arb:
    """Return the convex conjugate f*(c) = 1/t + t - 2 + c with t + ln t = 1 - c; t is W(e^(1 -
    c)).
    """
    t = (1 - c).exp().lambertw()
    return 1 / t + t - 2 + c


def star(c: Floats) -> Floats:
    """Return `conjugate` in floating point, or about e^600 where it is larger."""
    t = np.real(wrightomega(np.maximum(1 - c, -600.0)))
    return np.asarray(1 / t + t - 2 + c)


def best_centre(losses: Floats, weights: Floats) -> Floats:
    """Return nearly the centre c with E f*'(c - loss) = 1, by Newton's method from above; losses
    have shape (..., k).

    A step from far above is cut short where its square would overflow.
    """
    c = losses @ weights
    for _ in range(60):
        x = 1 / np.real(wrightomega(np.maximum(1 - c[..., None] + losses, -300.0)))
        mean, curvature = x @ weights, (x * x / (1 + x)) @ weights
        c = np.minimum(c, c - np.log(mean) * mean / curvature)
    return np.asarray(c)


def chance(n: int, count: int, q: arb) -> arb:
    """Return an enclosure of the binomial probability of `count` spikes among n records."""
    return arb(math.comb(n, count)) * q**count * (1 - q) ** (n - count)


def atoms_of(d: int) -> tuple[Floats, Floats]:
    """Return the values of a normalised sum of d signs, and their probabilities."""
    counts = np.arange(d + 1)
    return (2 * counts - d) / math.sqrt(d), binom.pmf(counts, d, 0.5)


def exact_weights(d: int) -> list[arb]:
    """Return enclosures of the probabilities of 0 to d positive signs."""
    return [arb(math.comb(d, k)) / arb(2) ** d for k in range(d + 1)]


def best_probability(
    setting: Setting, last_count: float, value: Callable[[Floats, Floats], float]
) -> float:
    """Return the spike probability at which a bound is nearly largest; `value` takes counts of
    spikes and their probabilities.
    """
    n, d, a = setting.n, setting.d, 1 - 1 / setting.moment_order

    def at_probability(q: float) -> float:
        """Return the bound at spike probability q."""
        counts = np.arange(min(n, int(last_count)) + 1.0)
        return q**a * value(counts, binom.pmf(counts, n, q))

    largest = min(1.0, d ** (-0.5 / a))  # The mean of the records is in the unit ball.
    grid = np.geomspace(0.02 / n, min(largest, 4 * (last_count + 1) / n), 200)
    best = max(grid, key=at_probability)
    fine = [min(largest, q) for q in best * np.geomspace(0.96, 1.04, 81)]
    return float(max(fine, key=at_probability))


@dataclass(frozen=True)
class Stretch:
    """The answers with a norm within `half` of `norm`, and the constant c used for all of them."""

    norm: float
    half: float
    c: float


def distance_and_slope(d: int, norm: Floats | float) -> tuple[Floats, Floats]:
    """Return the distance from points of some norms to the sign vectors, shape (..., d + 1), and
    its derivative in the norm.
    """
    sums, _ = atoms_of(d)
    norm = np.asarray(norm)[..., None]
    loss = np.sqrt(np.maximum(d + norm**2 - 2 * norm * sums, 1e-18))
    return loss, (norm - sums) / loss


def approximate_height(d: int, slope: float) -> float:
    """Return an approximate height of the line with this slope: the least dual value over a grid of
    norms.
    """
    _, weights = atoms_of(d)
    losses = slope * distance_and_slope(d, np.linspace(0, math.sqrt(d) * (1 - 1e-6), 49))[0]
    c = best_centre(losses, weights)
    return float((c - star(c[:, None] - losses) @ weights).min())


def yield_stretches(d: int, slope: float, bottom: float) -> list[Stretch]:
    """Yield intervals of the norm that cover all answers, short where the height is near the
    least.
    """
    _, weights = atoms_of(d)
    edges = np.linspace(0, math.sqrt(d), 17)
    todo, settled = list(itertools.pairwise(edges)), []
    while todo:
        low, high = todo.pop()
        middle, half = (low + high) / 2, (high - low) / 2
        loss, derivative = distance_and_slope(d, middle)
        c = float(best_centre(slope * loss[None], weights)[0])
        ends = [
            c - float(star(c - slope * (loss + s * half * derivative)) @ weights) for s in (1, -1)
        ]
        if min(ends) > bottom - 2e-4 * slope or half < 1e-3:
            settled.append(Stretch(float(middle), float(half), c))
        else:
            todo += [(low, middle), (middle, high)]
    return settled


def enclosed_height(d: int, slope: float) -> arb:
    """Return a proven lower bound on the height of the line with this slope, by a tangent below the
    loss.
    """
    weights, root, x = exact_weights(d), arb(d).sqrt(), arb(slope)
    lowest: arb | None = None
    for part in yield_stretches(d, slope, approximate_height(d, slope)):
        c, norm = arb(part.c), arb(part.norm)
        totals = [arb(0), arb(0)]
        for k, w in enumerate(weights):
            product = (2 * k - d) / root
            loss = (arb(d) + norm**2 - 2 * norm * product).sqrt()
            bend = (norm - product) / loss * part.half
            for i, end in enumerate((loss + bend, loss - bend)):
                totals[i] += w * conjugate(c - x * end)
        for total in totals:
            lowest = c - total if lowest is None else lowest.min(c - total)
    assert lowest is not None
    return lowest


def two_sided_distance(setting: Setting) -> arb:
    """Return an enclosure of the two-sided bound on the mean error, by the best line at each number
    of spikes.
    """
    n, d, rho = setting.n, setting.d, setting.rho
    share = 1 - 2.0**-d
    slopes = [float(x) for x in np.geomspace(0.03, max(60, 8 * d), 48) / math.sqrt(d)]
    tall = {x: approximate_height(d, x) for x in slopes}

    def lines(counts: Floats) -> tuple[Floats, Floats]:
        """Return the slopes of the lines, and the bounds that they give at each number
        of spikes.
        """
        steep = np.array(sorted(tall))
        high = np.array([tall[x] for x in sorted(tall)])
        return steep, (high[:, None] - rho * share * counts**2) / steep[:, None]

    longest = math.sqrt(300 * d / rho)
    for _ in range(6):
        counts = np.arange(longest)
        steep, values = lines(counts)
        winning = np.unique(values.argmax(axis=0)[values.max(axis=0) > 0])
        places = {i + k for i in winning.tolist() for k in (-1, 0) if 0 <= i + k < len(steep) - 1}
        for i in places:
            middle = math.sqrt(steep[i] * steep[i + 1])
            tall[middle] = approximate_height(d, middle)

    def value(counts: Floats, chances: Floats) -> float:
        """Return the mean bound on the distance over numbers of spikes with these probabilities."""
        left = np.maximum(lines(counts)[1].max(axis=0), 0)
        left[0] = math.sqrt(d)
        return float(chances @ left)

    q = best_probability(setting, longest, value)
    steep, values = lines(np.arange(longest))
    exact: dict[float, arb] = {}
    point = arb(q)
    total = chance(n, 0, point) * arb(d).sqrt()  # Without a spike the data reveal nothing.
    for count in range(1, len(values[0])):
        slope = float(steep[values[:, count].argmax()])
        if values[:, count].max() <= 0 or binom.pmf(count, n, q) < 1e-12:
            continue
        if slope not in exact:
            exact[slope] = enclosed_height(d, slope)
        kappa = arb(rho) * count**2 * (1 - arb(2) ** (-d))
        total += chance(n, count, point) * (exact[slope] - kappa) / arb(slope)
    return point ** (1 - 1 / arb(setting.moment_order)) * total


def spread(g: arb) -> arb:
    """Return an enclosure of (sqrt(1 + g^2) - g)/2."""
    return ((1 + g * g).sqrt() - g) / 2


def mean_cube_above(d: int, threshold: arb) -> arb:
    """Return an enclosure of E(W - threshold)_+^3 for a normalised sum W of d signs; doubtful
    values of W count.
    """
    root, total = arb(d).sqrt(), arb(0)
    for k, w in enumerate(exact_weights(d)):
        gap = (2 * k - d) / root - threshold
        if not gap < 0:
            total += w * gap**3
    return total


def level_of(setting: Setting) -> tuple[float, float]:
    """Return the epsilon and delta of the budget."""
    budget = setting.budget
    return setting.pure_epsilon or budget.epsilon, getattr(budget, "delta", 0.0)


def group_failure(epsilon: float, delta: float, count: int) -> arb:
    """Return an enclosure of the delta of (epsilon, delta)-DP for a group of `count` records."""
    e = arb(epsilon)
    return arb(delta) * ((e * count).exp() - 1) / (e.exp() - 1)


def averaged_losses(setting: Setting, losses: list[arb]) -> arb:
    """Return q^a times the mean of the losses at the best spike probability q; losses[b] is for b
    spikes, and beyond the last it is 0.
    """
    floats = np.array([float(x.mid()) for x in losses])
    q = best_probability(setting, len(losses) - 1, lambda b, w: float(w @ floats[: len(b)]))
    point, total = arb(q), arb(0)
    for count, loss in enumerate(losses):
        total += chance(setting.n, count, point) * loss
    return point ** (1 - 1 / arb(setting.moment_order)) * total


def excess_bound(d: int, e: float) -> float:
    """Return the level tau below e that nearly minimises 4/27 (e - tau)^-2 E(W - tau)_+^3 for a sum
    W of d signs.
    """
    sums, weights = atoms_of(d)
    taus = e - np.geomspace(1e-3, 3, 200) * max(e, 1.0)
    cubes = (np.maximum(sums - taus[:, None], 0) ** 3) @ weights
    return float(taus[np.argmin(cubes / (e - taus) ** 2)])


def product_losses(setting: Setting) -> list[arb]:
    """Return the losses R_b of bound P3 for b = 0, 1, ... spikes, at the best excess e and proven
    in intervals.
    """
    d = setting.d
    epsilon, delta = level_of(setting)
    root, losses = arb(d).sqrt(), [arb(d).sqrt()]
    grid = math.sqrt(d) * np.geomspace(1e-3, 1 - 1e-6, 4000)
    sums, weights = atoms_of(d)
    excesses = np.empty(len(grid))
    for i, e in enumerate(grid):
        tau = excess_bound(d, float(e))
        by_cube = 4 / 27 * float(np.maximum(sums - tau, 0) ** 3 @ weights) / (e - tau) ** 2
        excesses[i] = min((math.sqrt(1 + e * e) - e) / 2, by_cube)
    while True:
        count = len(losses)
        failure, growth = group_failure(epsilon, delta, count), math.expm1(epsilon * count)
        best = arb(0)
        for g in (None, *CAPS) if delta else (None,):
            margin = 0.0 if g is None else (math.sqrt(1 + g * g) - g) / 2
            allowed = grid[growth * excesses <= (grid - margin) * (1 - 1e-12)]
            if not len(allowed):
                continue
            e = arb(float(allowed[0]))
            w = arb(0) if g is None else spread(arb(g))
            tau = arb(excess_bound(d, float(allowed[0])))
            by_cube = arb(4) / 27 * mean_cube_above(d, tau) / (e - tau) ** 2
            assert ((arb(epsilon) * count).exp() - 1) * spread(e).min(by_cube) <= e - w
            chi = (e + root) / e if g is None else (e + g) / (e - w)
            value = (root - e) * (1 - failure * chi)
            best = value if value > best else best
        if not best > 0:
            return losses
        losses.append(best)


class Distances:
    """Enclosures of the distance to a sign vector from points on a grid of norms."""

    def __init__(self, d: int) -> None:
        """Compute the mean distances of answers from the signs in d dimensions."""
        self.d, self.root = d, math.sqrt(d)
        self.norms = self.root * np.arange(NORMS + 1) / NORMS
        self.half_step = arb(d).sqrt() / (2 * NORMS)
        sums, weights = atoms_of(d)
        square = d + self.norms**2
        losses = np.sqrt(np.maximum(square[:, None] - 2 * self.norms[:, None] * sums, 0))
        self.mean = np.maximum.accumulate(np.maximum(losses @ weights, self.root))
        self.powers = np.geomspace(2e-3 * d, 4.2 * d, 240)
        gaps = self.powers[None, :, None] - losses[:, None, :] ** 2
        self.cubes = np.maximum(gaps, 0) ** 3 @ weights
        self.weights = exact_weights(d)
        self.exact_norms = [arb(d).sqrt() * i / NORMS for i in range(NORMS + 1)]
        self.exact_means = self.enclosed_means()
        self.exact_cubes: dict[tuple[int, int], arb] = {}

    def square(self, i: int, k: int) -> arb:
        """Return an enclosure of the squared distance of the answer at the i-th norm from a sign
        vector with which k signs agree.
        """
        if i == NORMS:  # The answer is a corner of the cube.
            return arb(4 * (self.d - k))
        root, norm = arb(self.d).sqrt(), self.exact_norms[i]
        return arb(self.d) + norm**2 - 2 * norm * (2 * k - self.d) / root

    def enclosed_means(self) -> list[arb]:
        """Return enclosures of the largest mean distance up to each norm."""
        means, best = [], arb(self.d).sqrt()
        for i in range(NORMS + 1):
            total = sum((w * self.square(i, k).sqrt() for k, w in enumerate(self.weights)), arb(0))
            best = best.max(total)
            means.append(best)
        return means

    def enclosed_cube(self, i: int, j: int) -> arb:
        """Return an enclosure of the mean cubed gap between the j-th power and the squared distance
        at the i-th norm.
        """
        if (i, j) not in self.exact_cubes:
            total = arb(0)
            for k, w in enumerate(self.weights):
                gap = arb(float(self.powers[j])) - self.square(i, k)
                if not gap < 0:
                    total += w * gap**3
            self.exact_cubes[i, j] = total
        return self.exact_cubes[i, j]

    def factors(self, level: float) -> Floats:
        """Return C(t, K), the largest (t - r)/(K - r^2)^3 over r, at level t for every power K."""
        usable = self.powers > level**2 * (1 + 1e-9)
        k = np.where(usable, self.powers, level**2 + 1)
        best = level / k**3
        left = 36 * level**2 - 20 * k
        for sign in (1, -1):
            r = (6 * level + sign * np.sqrt(np.maximum(left, 0))) / 10
            turns = (left >= 0) & (r > 0) & (r < level)
            r = np.where(turns, r, 0.0)
            best = np.maximum(best, (level - r) / (k - r * r) ** 3)
        return np.asarray(np.where(usable, best, np.inf))

    def missing(self, level: float) -> tuple[Floats, NDArray[np.intp]]:
        """Return a bound on E(t - distance)_+ at every norm, and the index of the power K that
        attains it.
        """
        with np.errstate(invalid="ignore"):
            values = self.factors(level) * np.where(self.cubes > 0, self.cubes, 0)
        values = np.where(np.isnan(values), np.inf, values)
        choice = values.argmin(axis=1)
        return values[np.arange(len(choice)), choice], choice

    def highest(self, growth: float) -> float:
        """Return nearly the highest level at which the mean distance is proven without a cap;
        `growth` is e^(epsilon b) - 1.
        """
        low, high = 0.0, self.root * (1 - 1e-9)
        for _ in range(44):
            middle = (low + high) / 2
            is_proven = (growth * self.missing(middle)[0] <= self.mean - middle).all()
            low, high = (middle, high) if is_proven else (low, middle)
        return low

    def loss(self, epsilon: float, delta: float, count: int) -> arb:
        """Return the loss T_b of bound P1 for b = `count` spikes at the best level, proven in
        intervals.
        """
        growth = math.expm1(epsilon * count)
        failure = group_failure(epsilon, delta, count)
        top = self.highest(growth) * (1 - 1e-10)
        if top < 1e-3 * self.root:
            return arb(0)
        if not delta:
            return self.enclosed(top, [None] * (NORMS + 1), epsilon, failure, count)
        best_value, best = 0.0, (top, [None] * (NORMS + 1))
        for level in top * (1 - np.append(0.0, np.geomspace(1e-4, 0.9, LEVELS))):
            factor, caps = self.price_of_delta(float(level), growth)
            value = level - float(self.half_step.mid()) - float(failure.mid()) * factor
            if value > best_value:
                best_value, best = value, (float(level), caps)
        if best_value <= 0:
            return arb(0)
        return self.enclosed(*best, epsilon, failure, count)

    def price_of_delta(self, level: float, growth: float) -> tuple[float, list[float | None]]:
        """Return the factor of delta at a level, and for every norm the cap that attains it, or
        None.
        """
        lead = np.maximum(level - self.root + self.norms, 0)
        eta = float(self.half_step.mid())
        prices = (self.root + self.norms + 2 * eta - level) / (self.mean - level)
        caps: list[float | None] = [None] * (NORMS + 1)
        missing = self.missing(level)[0]
        for g in CAPS:
            v = np.sqrt(self.d + self.norms**2 + 2 * self.norms * g)
            left = self.mean - level - self.norms / v * (math.sqrt(1 + g * g) - g) / 2
            usable = (v > level * (1 + 1e-12)) & (growth * missing <= left * (1 - 1e-10))
            price_of_delta = np.where(usable, (v - level) / np.where(usable, left, 1.0), np.inf)
            caps = [g if price_of_delta[i] < prices[i] else caps[i] for i in range(NORMS + 1)]
            prices = np.minimum(prices, price_of_delta)
        return float((lead * prices).max()), caps

    def enclosed(
        self,
        level: float,
        caps: list[float | None],
        epsilon: float,
        failure: arb,
        count: int,
    ) -> arb:
        """Return the level less half a step of the grid and less the price of delta; assert that P1
        holds at this level.
        """
        t, root, growth = arb(level), arb(self.d).sqrt(), (arb(epsilon) * count).exp() - 1
        choice, worst = self.missing(level)[1], arb(0)
        for i, (norm, mean) in enumerate(zip(self.exact_norms, self.exact_means, strict=True)):
            j = int(choice[i])
            k, g = arb(float(self.powers[j])), caps[i]
            factor = largest_ratio(t, k)
            share = arb(0)
            reach = root + norm + 2 * self.half_step - t
            if g is not None:
                v = (self.d + norm**2 + 2 * norm * g).sqrt()
                share, reach = norm / v * spread(arb(g)), v - t
                assert v > t
            left = mean - t - share
            assert growth * factor * self.enclosed_cube(i, j) <= left
            lead = t - root + norm
            if not lead < 0:
                worst = worst.max(lead * reach / left)
        return t - self.half_step - failure * worst


def largest_ratio(t: arb, k: arb) -> arb:
    """Return C(t, K), the largest (t - r)/(K - r^2)^3 over r in [0, t]."""
    assert k > t * t
    best = t / k**3
    left = 36 * t * t - 20 * k
    if left < 0:
        return best
    root = left.max(arb(0)).sqrt()
    for r in ((6 * t + root) / 10, (6 * t - root) / 10):
        if r > 0 and r < t:
            best = best.max((t - r) / (k - r * r) ** 3)
    return best


def distance_losses(setting: Setting) -> list[arb]:
    """Return the losses T_b of bound P1 for b = 0, 1, ... up to the first that is 0."""
    epsilon, delta = level_of(setting)
    table, losses = Distances(setting.d), [arb(setting.d).sqrt()]
    while True:
        loss = table.loss(epsilon, delta, len(losses))
        if not loss > 1e-6:
            return losses
        losses.append(loss)


def packing_distance(setting: Setting) -> arb:
    """Return an enclosure of the packing bound on the mean distance from a sign vector."""
    return averaged_losses(setting, distance_losses(setting))


def packing_linear(setting: Setting) -> arb:
    """Return the packing bound for linear losses on the unit ball."""
    return averaged_losses(setting, product_losses(setting))
