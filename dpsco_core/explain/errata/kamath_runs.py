"""Experiments on Kamath, Liu and Zhang (2022)."""

import math
from typing import NamedTuple

import numpy as np

from dpsco_core.bounds.euclidean import coordinatewise
from dpsco_core.bounds.euclidean.smoothed import printed_rate
from dpsco_core.bounds.instances.gaussian import gaussian_scale
from dpsco_core.bounds.instances.hardest import best_spike_probability
from dpsco_core.data.rows import DenseRows
from dpsco_core.explain.errata.base import Finding, unit_setting
from dpsco_core.explain.errata.kamath_lower import sampling_constant as sampling_constant
from dpsco_core.methods.records.base import (
    clipped_block_means,
    hinge_constant,
    median_sensitivity,
)
from dpsco_core.methods.records.smooth_clip import smoothed_clip
from dpsco_core.privacy.budget import ZCDP, gaussian_delta, gaussian_epsilon
from dpsco_core.statements import kamath

RHO, DELTA = 0.5, 1e-6
LARGEST_MEAN, LARGEST_SMOOTHNESS = 10.0, 10.0  # the R and the L of Theorems 4.1, 5.2 and 5.5


def smoothing_noise() -> Finding:
    """Compute the exact delta of the printed noise of Algorithm 4 on two records far apart."""
    claimed, tau, n = gaussian_epsilon(RHO, DELTA), kamath.SMALLEST_THRESHOLD, 100
    outliers = np.array([-1e9, 1e9]) * tau
    rows = []
    for c in (0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 2.0):
        low, high = (float(v) for v in tau / n * smoothed_clip(outliers / tau, c))
        noise = tau / (n * math.sqrt(RHO))  # the standard deviation that Algorithm 4 prints
        spent = (high - low) ** 2 / (2 * noise**2)
        rows.append((c, spent / RHO, spent, gaussian_delta(spent, claimed) / DELTA))
    worst = rows[0]
    return Finding(
        sentence=f"With smoothing variance c = {worst[0]:g} the release that is said to spend "
        f"ρ = {RHO:g} spends {worst[2]:.3g}: at ε = {claimed:.3g} its δ is {worst[3]:.3g} times "
        f"the {DELTA:g} that it claims. At c = 1 it keeps its claim.",
        columns=("c", "ρ spent / claimed", "ρ spent", "δ / claimed δ"),
        rows=tuple(rows),
        shows=worst[1] > 1 and worst[3] > 1,
        conditions=(
            ("τ ≥ 10", tau >= kamath.SMALLEST_THRESHOLD),
            ("c > 0", all(row[0] > 0 for row in rows)),
        ),
    )


def median_moves() -> Finding:
    """Compare the move of the median on worst neighbours with the printed and tight bounds."""
    threshold, size, d, rows = kamath.SMALLEST_THRESHOLD, 5, 1, []
    for blocks in (3, 4, 5, 8, 9, 24, 25):
        beta = 2 * d * math.exp(-blocks / 4)  # At this beta the number 4 log(2d/beta) is whole.
        move = _median_move(threshold, blocks, size)
        printed = kamath.algorithm_3_sensitivity(threshold, blocks, blocks * size)
        tight = median_sensitivity(threshold, blocks, size)
        rows.append((blocks, beta, printed, tight, move))
    ratios = [printed / moved for _, _, printed, _, moved in rows]
    return Finding(
        sentence=f"The estimate moves at most {1 / min(ratios):.2g} (odd m) or "
        f"{1 / max(ratios):.2g} (even m) of what the printed noise hides; the tight calibration is "
        "attained.",
        columns=("blocks m", "β", "printed 12τm/n", "tight", "worst neighbours"),
        rows=tuple(rows),
        shows=min(ratios) > 1.9
        and all(math.isclose(tight, moved, rel_tol=1e-9) for _, _, _, tight, moved in rows),
        conditions=(
            ("τ ≥ 10", threshold >= kamath.SMALLEST_THRESHOLD),
            ("0 < β < 1", all(0 < row[1] < 1 for row in rows)),
            (
                "m = 4 log(2d/β)",
                all(math.isclose(row[0], kamath.algorithm_3_blocks(d, row[1])) for row in rows),
            ),
        ),
    )


def rounded_blocks() -> Finding:
    """Compare the printed sensitivity, at a real number m, with that of whole blocks."""
    threshold, rows = kamath.SMALLEST_THRESHOLD, []
    for d, beta in ((1, 0.7), (3, 0.1), (5, 0.1)):
        real = kamath.algorithm_3_blocks(d, beta)
        blocks = math.ceil(real)
        n = 2 * blocks - 1
        move = _median_move(threshold, blocks, n // blocks)
        rows.append(
            (d, beta, n, real, blocks, kamath.algorithm_3_sensitivity(threshold, real, n), move)
        )
    worst = max(rows, key=lambda row: row[6] / row[5])
    return Finding(
        sentence=f"At n = {worst[2]}, d = {worst[0]} and β = {worst[1]:g}, m = {worst[3]:.3g} "
        f"becomes {worst[4]} blocks of one record: a coordinate of the estimate moves by "
        f"{worst[6]:g}, and the noise is made for {worst[5]:.3g}.",
        columns=("d", "β", "n", "m", "blocks", "printed 12τm/n", "worst neighbours"),
        rows=tuple(rows),
        shows=all(row[6] > row[5] for row in rows),
        conditions=(
            ("τ ≥ 10", threshold >= kamath.SMALLEST_THRESHOLD),
            ("0 < β < 1", all(0 < row[1] < 1 for row in rows)),
            ("n ≥ m", all(row[2] >= row[4] for row in rows)),
        ),
    )


def _median_move(threshold: float, blocks: int, size: int) -> float:
    """Return how far one record moves the median if all other block means are extreme."""
    limit, half = 3 * threshold, (blocks - 1) // 2
    means = [-limit] * half + [limit] * half + [0.0] * (blocks - 1 - 2 * half)
    medians = []
    for value in (-1e9, 1e9):
        moving = np.zeros(size)
        moving[0] = value
        x = np.concatenate([moving, *(np.full(size, mean) for mean in means)])[:, None]
        medians.append(float(np.median(clipped_block_means(DenseRows(x), limit, blocks))))
    return medians[1] - medians[0]


def truncation_bias() -> Finding:
    """Evaluate Lemma B.1 as stated on a law of two points at the edge of the window.

    The moment order is 4.
    """
    order, rows, deviations, means = 4, [], [], []
    for tau in (10.0, 30.0, 100.0, 1000.0):
        points = np.array([3 * tau - 1, 3 * tau + 1])
        bias = float(abs(points.mean() - np.clip(points, -3 * tau, 3 * tau).mean()))
        rows.append((tau, kamath.lemma_b1_bias(tau, order), bias))
        means.append(float(points.mean()))  # The records are clipped around c e = 0.
        deviations.append(float(np.mean(np.abs(points - points.mean()) ** order)))
    return Finding(
        sentence=f"A law whose absolute central moments are all 1 has bias {rows[-1][2]:g} at τ = "
        f"{rows[-1][0]:g}, where the lemma with C = {kamath.LEMMA_B1_CONSTANT:g} promises at most "
        f"{rows[-1][1]:.2g}. It tends to 0 with 1/τ for every C, and the bias does not.",
        columns=("τ", "printed bound", "bias"),
        rows=tuple(rows),
        shows=rows[-1][2] > rows[-1][1],
        conditions=(
            ("τ ≥ 10", all(row[0] >= kamath.SMALLEST_THRESHOLD for row in rows)),
            ("the 4th central moment is at most 1", max(deviations) <= 1),
            ("μ − ce ≤ 3τ", all(mean <= 3 * row[0] for mean, row in zip(means, rows, strict=True))),
        ),
    )


def bias_constant() -> Finding:
    """Compare the printed bias of clipping with the sharp one, at tau = 10 and a mean of norm 1."""
    tau, mean_norm, rows = kamath.SMALLEST_THRESHOLD, 1.0, []
    for order in (2, 3, 4, 6, 10, 20):
        sharp = hinge_constant(order) * (3 * tau - mean_norm) ** (1 - order)
        rows.append((order, kamath.lemma_b1_bias(tau, order), sharp))
    return Finding(
        sentence="At τ = 10 the printed bias is 4.2 at k = 2 and grows with the moment order k, to "
        f"{rows[-1][1]:.3g} at k = {rows[-1][0]}; the sharp bias falls to {rows[-1][2]:.2g}.",
        columns=("k", "printed 3(14/τ)^(k−1)", "sharp"),
        rows=tuple(rows),
        shows=rows[-1][1] > rows[0][1] > 3 > rows[0][2] > rows[-1][2],
        conditions=(
            ("τ ≥ 10", tau >= kamath.SMALLEST_THRESHOLD),
            ("R ≤ 10", mean_norm <= LARGEST_MEAN),
            ("k ≥ 2", all(row[0] >= 2 for row in rows)),
        ),
    )


def void_packing() -> Finding:
    """Evaluate the lower bound of Theorem 1.4 at the proof's spike probability and at the best."""
    n, order, rows = 10_000, 4.0, []
    for d in (32, 64, 200, 1000):
        printed = min(1.0, math.sqrt(d / RHO) / n)
        information = RHO * (n**2 * printed**2 + n * printed * (1 - printed))
        # The logarithm of the number of all binary words is an upper bound on that of any code.
        largest = d * math.log(2)
        factor = max(0.0, 1 - (information + math.log(2)) / largest)
        best, value = best_spike_probability("fano-cdp", n, d, order, RHO, math.inf)
        rows.append((d, printed, information, largest, factor, best, value))
    return Finding(
        sentence="At the printed p = √d/(n√ρ) the information exceeds the logarithm of any binary "
        f"code's size, and Theorem 1.4 gives {max(row[4] for row in rows):g} in every dimension; "
        f"at the best p the bound is {rows[-1][6]:.3g} for d = {rows[-1][0]}.",
        columns=(
            "d",
            "printed p",
            "information",
            "d ln 2",
            "factor of Theorem 1.4",
            "best p",
            "bound there",
        ),
        rows=tuple(rows),
        shows=all(row[4] == 0 for row in rows) and rows[-1][6] > 0,
        conditions=(
            ("p = √d/(n√ρ) < 1", all(0 < row[1] < 1 for row in rows)),
            ("d/2 whole", all(row[0] % 2 == 0 for row in rows)),
        ),
    )


def plotkin() -> Finding:
    """Compare the number of words that the proof needs at distance d/2 with the most possible."""
    rows = tuple((d, 2.0 ** (d / 8), 2 * d) for d in (16, 32, 48, 56, 64, 128, 256))
    first_d = next(d for d, asked, most in rows if asked > most)
    return Finding(
        sentence=f"From d = {first_d} on there are not 2^(d/8) words at distance d/2: Plotkin's "
        f"bound allows {2 * first_d}, and the proof asks for {2 ** (first_d / 8):.0f}.",
        columns=("d", "words asked for", "most words (Plotkin)"),
        rows=rows,
        shows=rows[-1][1] > rows[-1][2],
        conditions=(("d/2 whole", all(row[0] % 2 == 0 for row in rows)),),
    )


def gaussian_moments() -> Finding:
    """Compute the k-th moment of a standard normal variable, which the class bounds by 1."""
    rows = tuple((k, gaussian_scale(k) ** -k, gaussian_scale(k)) for k in (2, 3, 4, 6, 10))
    return Finding(
        sentence=f"E|Z|^k is {rows[2][1]:.3g} at k = {rows[2][0]} and {rows[-1][1]:.3g} at "
        f"k = {rows[-1][0]}: the hard instance is outside its own class for every k above 2.",
        columns=("k", "E|Z|^k", "deviation with moment 1"),
        rows=rows,
        shows=rows[0][1] <= 1 + 1e-12 and all(row[1] > 1 for row in rows[1:]),
        conditions=(("k ≥ 2", all(row[0] >= 2 for row in rows)),),
    )


def lost_diameter_smoothed() -> Finding:
    """Compare Theorem 5.5 at its best q with a lower bound for its own class, as the set grows."""
    d, rows, levels = 20, [], []
    for diameter in (1.0, 1e2, 1e4, 1e6, 1e8):
        n = math.ceil(2000 * diameter * d**2 / math.sqrt(RHO))
        printed = sum(
            printed_rate(unit_setting(d, 2.0, budget=ZCDP(rho=RHO), n=n, diameter=diameter))
        )
        hard = _lower_bound_in_set(n, d, 2.0, RHO, diameter)
        tau = math.sqrt(math.sqrt(RHO) * n / (diameter * d ** kamath.theorem_5_5_power(d, RHO)))
        steps = LARGEST_MEAN**2 * RHO * n**2 / (tau**2 * d**2)
        rows.append((diameter, n, tau, printed, hard.bound, hard.bound / printed))
        levels.append((tau, steps, hard))
    return Finding(
        sentence="With n in proportion to M the printed rate stays where it is and the proven "
        f"lower bound grows like M's root: at M = {rows[-1][0]:g} it is {rows[-1][5]:.3g} times "
        "the rate. No hidden constant can make up for that.",
        columns=("M", "n", "τ", "printed rate", "lower bound", "lower / printed"),
        rows=tuple(rows),
        shows=rows[-1][5] > 10 > 1 > rows[0][5],
        conditions=_conditions_of_theorems(2.0, levels),
    )


def lost_diameter_coordinatewise() -> Finding:
    """Compare the rate of Theorem 5.2 with a lower bound for its own class, as the set grows.

    The budget rho falls with the squared diameter of the set.
    """
    d, order, rows, levels = 1, 2.0, [], []
    for diameter in (1.0, 1e2, 1e4, 1e6, 1e8):
        rho = RHO / diameter**2  # At this rho the private term is at least Md/sqrt(n).
        n = math.ceil(400 * diameter * d**1.5 / math.sqrt(rho))
        tau = math.pow(math.sqrt(rho) * n / (diameter * d**1.5), 1 / order)
        printed = sum(
            coordinatewise.PRINTED_RATE(
                unit_setting(d, order, budget=ZCDP(rho=rho), n=n, diameter=diameter)
            ).values()
        )
        hard = _lower_bound_in_set(n, d, order, rho, diameter)
        steps = LARGEST_MEAN**2 * rho * n**2 / (tau**2 * d**4)
        rows.append((diameter, rho, n, tau, printed, hard.bound, hard.bound / printed))
        levels.append((tau, steps, hard))
    return Finding(
        sentence="The printed rate stays where it is while the proven lower bound grows with M: "
        f"at M = {rows[-1][0]:g} it is {rows[-1][6]:.3g} times the rate. No hidden constant can "
        "make up for that.",
        columns=("M", "ρ", "n", "τ", "printed rate", "lower bound", "lower / printed"),
        rows=tuple(rows),
        shows=rows[-1][6] > 10 > 1 > rows[0][6],
        conditions=_conditions_of_theorems(order, levels),
    )


class _Instance(NamedTuple):
    """A hard instance inside Assumption 2.12, and the lower bound that it proves."""

    bound: float
    spike: float  # the spike probability p
    norm: float  # the norm of the mean of the records
    smoothness: float
    diameter: float


def _conditions_of_theorems(
    order: float, levels: list[tuple[float, float, _Instance]]
) -> tuple[tuple[str, bool], ...]:
    """Return the conditions of Theorems 5.2 and 5.5 on tau and T, given the rows' instances."""
    instances = [instance for _, _, instance in levels]
    moments = [(1 - i.spike) ** order + (1 - i.spike) * i.spike ** (order - 1) for i in instances]
    minimisers = [2 * i.norm / (i.smoothness * i.diameter) for i in instances]
    return (
        ("τ ≥ 10", all(tau >= kamath.SMALLEST_THRESHOLD for tau, _, _ in levels)),
        ("T ≥ 1", all(steps >= 1 for _, steps, _ in levels)),
        ("L ≤ 10", all(i.smoothness <= LARGEST_SMOOTHNESS for i in instances)),
        ("R ≤ 10", all(2 * i.norm <= LARGEST_MEAN for i in instances)),
        ("the k-th central moments are at most 1", max(moments) <= 1),
        ("the minimiser is in the set, with gradient 0", max(minimisers) <= 1 + 1e-12),
    )


def _lower_bound_in_set(n: int, d: int, order: float, rho: float, diameter: float) -> _Instance:
    r"""Return a lower bound on the excess risk under Assumption 2.12, all of its points included.

    A record is 0, or with probability p :math:`p^{-1/k}\nu` with signs :math:`\nu`; the loss is
    :math:`\frac\lambda2\|w-x/\lambda\|^2` on the centred ball of diameter M, with
    :math:`\lambda=2\|\mu\|/M`, so that the minimiser :math:`\mu/\lambda` is on the sphere and has
    gradient 0. The loss of every record is convex, :math:`\lambda`-smooth and not negative, the
    gradient :math:`\lambda w-x` has the central moments of x, and a mean of norm at most
    :math:`2\|\mu\|`. The excess risk of an output w is
    :math:`\frac1{2\lambda}\|\lambda w-\mu\|^2`, the squared error of an estimate of the mean, which
    the sign hypercube bounds from below (theory/kamath-liu-zhang.md, 4.5).
    """
    instances = []
    # The bound is tried at these shares of the p at which it becomes 0.
    for share in np.linspace(0.01, 0.99, 99):
        p = min(1.0, float(share) * math.sqrt(d / (2 * rho)) / n)
        norm = math.sqrt(d) * p ** (1 - 1 / order)
        unexplained = max(0.0, 1 - 2 * rho / d * (n**2 * p**2 + n * p * (1 - p)))
        curvature = 2 * norm / diameter
        bound = norm**2 * unexplained / (2 * curvature)
        instances.append(_Instance(bound, p, norm, curvature, diameter))
    return max(instances)


def strong_risk() -> Finding:
    """Compare the first bound of Theorem 3.2 with the risk after one exact step on a quadratic."""
    smoothness, steps, rows = LARGEST_SMOOTHNESS, 1, []
    contraction = 1 - 1 / 4  # The contraction 1 - lambda L/(lambda + L)^2 is taken at lambda = L.
    for diameter in (0.1, 0.3, 0.6, 0.8, 1.0):
        w = diameter  # The set is [0, M], every record's loss is (L/2) w^2, and lambda = L.
        for _ in range(steps):
            w -= smoothness * w / (2 * smoothness)
        # The paper's bound is taken at a deviation of G = 0.
        printed = contraction**steps * diameter
        rows.append((diameter, smoothness * diameter, printed, w, smoothness / 2 * w**2))
    return Finding(
        sentence=f"At R = {rows[-1][1]:g} the printed bound on the risk is {rows[-1][2]:.3g} and "
        f"the risk {rows[-1][4]:.3g}. The distance to the minimiser obeys it everywhere.",
        columns=("M", "R", "printed bound", "distance", "excess risk"),
        rows=tuple(rows),
        shows=rows[-1][4] > rows[-1][2] and all(row[3] <= row[2] for row in rows),
        conditions=(
            ("R ≤ 10", all(row[1] <= LARGEST_MEAN for row in rows)),
            ("L ≤ 10", smoothness <= LARGEST_SMOOTHNESS),
        ),
    )


def fano_records() -> Finding:
    """Compare Theorem 1.4's first term, as printed, with the error of a private clipped mean."""
    count, spacing, clip, rho, rows = 8, 0.05, 10.0, 1.0, []
    beta = ((count - 1) * spacing) ** 2 / 2  # The laws are N(i s, 1) for i = 0, ..., 7, and r = s.
    gaps = [spacing * (j - i) for j in range(count) for i in range(j)]
    printed = spacing / 2 * (1 - (beta + math.log(2)) / math.log(count))
    # The bias is at least the mean of (|X| - clip)+.
    bias = 2 * math.exp(-((clip - (count - 1) * spacing) ** 2) / 2)
    for n in (10, 1000, 10**5, 10**7):
        noise = (2 * clip / n) / math.sqrt(2 * rho)
        error = math.sqrt(1 / n + noise**2) + bias
        separation = spacing / 2 * (1 - (n * beta + math.log(2)) / math.log(count))
        rows.append((n, printed, error, max(0.0, separation)))
    return Finding(
        sentence=f"Eight normal laws at distance {spacing:g}: as printed, the average error "
        f"of every {rho:g}-CDP algorithm is at least {printed:.3g}, whatever n is. That of a "
        f"clipped mean with Gaussian noise is at most {rows[-1][2]:.2g} at n = {rows[-1][0]:g}.",
        columns=("n", "printed bound", "error at most", "bound with nβ"),
        rows=tuple(rows),
        shows=rows[-1][2] < rows[-1][1] and all(row[3] <= row[2] for row in rows),
        conditions=(
            ("|θ(p_i) − θ(p_j)| ≥ r", min(gaps) >= spacing),
            ("d_KL(p_i, p_j) ≤ β", max(gap**2 / 2 for gap in gaps) <= beta * (1 + 1e-12)),
        ),
    )


def literal_steps() -> Finding:
    """Compute the number of steps of Theorem 5.2, and the mean squared noise of a step.

    It is for rho = M = R = 1.
    """
    rows, levels = [], []
    for n, d, order in ((10**5, 2, 2), (10**6, 5, 4), (10**7, 10, 4), (10**8, 10, 4)):
        tau = (n / d**1.5) ** (1 / order)
        steps = n**2 / (tau**2 * d**4)
        # The number of blocks is that of Appendix B.4, with alpha = n^-3.
        blocks = 8 * d * math.log(3 * float(n) ** 3)
        energy = 72 * tau**2 * blocks**2 * d**2 * steps / n**2
        rows.append((n, d, steps, blocks, energy))
        levels.append(tau)
    return Finding(
        sentence=f"At n = {rows[1][0]:g}, d = {rows[1][1]} the literal T = {rows[1][2]:.3g} gives "
        f"every gradient noise of energy {rows[1][4]:.3g}, where the choice of T counts on R² = 1 "
        "and leaves the rest to hidden constants and logarithms.",
        columns=("n", "d", "literal T", "blocks m", "E‖noise‖² of a step"),
        rows=tuple(rows),
        shows=all(row[4] > 100 for row in rows),
        conditions=(
            ("τ ≥ 10", min(levels) >= kamath.SMALLEST_THRESHOLD),
            ("T ≥ 1", all(row[2] >= 1 for row in rows)),
            ("n ≥ m", all(row[0] >= row[3] for row in rows)),
        ),
    )
