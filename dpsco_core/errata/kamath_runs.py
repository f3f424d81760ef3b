"""Experiments on Kamath, Liu and Zhang (2022)."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erf

from dpsco_core.bounds.best import best_spike_probability
from dpsco_core.bounds.gaussian import gaussian_scale
from dpsco_core.bounds.hypercube import best_cdp
from dpsco_core.bounds.sco_rates import coordinatewise, coordinatewise_printed, smoothed_printed
from dpsco_core.bounds.sco_uniform import uniform_blocks
from dpsco_core.bounds.spikes import spike_fano_cdp
from dpsco_core.bounds.upper_coordinatewise import PRINTED_BIAS
from dpsco_core.data.rows import DenseRows
from dpsco_core.errata.base import Finding
from dpsco_core.mean.base import clipped_block_means, hinge_constant
from dpsco_core.mean.coordinatewise import median_sensitivity, printed_sensitivity
from dpsco_core.mean.smooth_clip import smoothed_clip, smoothed_supremum
from dpsco_core.privacy.budget import gaussian_delta, gaussian_epsilon

RHO, DELTA = 0.5, 1e-6


def smoothing_noise() -> Finding:
    """The printed noise of Algorithm 4: what it really gives, and its exact delta."""
    claimed = gaussian_epsilon(RHO, DELTA)
    rows = []
    for c in (0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 2.0):
        factor = 2 * smoothed_supremum(c) ** 2
        rows.append((c, factor, factor * RHO, gaussian_delta(factor * RHO, claimed) / DELTA))
    worst = rows[0]
    return Finding(
        sentence=f"With smoothing variance c = {worst[0]:g} the release that is said to spend "
        f"ρ = {RHO:g} spends {worst[2]:.3g}: at ε = {claimed:.3g} its δ is {worst[3]:.3g} times "
        f"the {DELTA:g} that it claims.",
        columns=("c", "ρ spent / claimed", "ρ spent", "δ / claimed δ"),
        rows=tuple(rows),
        shows=worst[1] > 1 and worst[3] > 1,
    )


def median_moves() -> Finding:
    """The median of clipped block means on its worst neighbours, against both sensitivities."""
    threshold, size, rows = 1.0, 5, []
    for blocks in (1, 2, 3, 4, 5, 8, 9):
        moved = _moved(threshold, blocks, size)
        printed = printed_sensitivity(threshold, blocks, blocks * size)
        rows.append((blocks, printed, median_sensitivity(threshold, blocks, size), moved))
    ratios = [printed / moved for _, printed, _, moved in rows]
    return Finding(
        sentence=f"The estimate moves at most {1 / min(ratios):.2g} (odd m) or "
        f"{1 / max(ratios):.2g} (even m) of what the printed noise hides; the tight calibration is "
        "attained.",
        columns=("blocks m", "printed 12τm/n", "tight", "worst neighbours"),
        rows=tuple(rows),
        shows=min(ratios) > 1.9
        and all(math.isclose(tight, moved, rel_tol=1e-9) for _, _, tight, moved in rows),
    )


def _moved(threshold: float, blocks: int, size: int) -> float:
    """Return how far one record moves the median, the other block means as far out as they go."""
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
    """Lemma B.1 as stated, on a law of two points at the edge of the window; moment order 4."""
    rows = []
    for tau in (10.0, 30.0, 100.0, 1000.0):
        points = np.array([3 * tau - 1, 3 * tau + 1])
        bias = float(abs(points.mean() - np.clip(points, -3 * tau, 3 * tau).mean()))
        rows.append((tau, 3 * (PRINTED_BIAS / tau) ** 3, bias))
    return Finding(
        sentence=f"A law whose every central moment is 1 has bias {rows[-1][2]:g} at τ = "
        f"{rows[-1][0]:g}, where the lemma promises at most {rows[-1][1]:.2g}.",
        columns=("τ", "printed bound", "bias"),
        rows=tuple(rows),
        shows=rows[-1][2] > rows[-1][1],
    )


def bias_constant() -> Finding:
    """The printed bias of clipping against the sharp one, at tau = 10 and a mean of norm 1."""
    tau, rows = 10.0, []
    for order in (2, 3, 4, 6, 10, 20):
        sharp = hinge_constant(order) * (3 * tau - 1) ** (1 - order)
        rows.append((order, 3 * (PRINTED_BIAS / tau) ** (order - 1), sharp))
    return Finding(
        sentence="At τ = 10 the printed bias is above 3 and grows with the moment order k, to "
        f"{rows[-1][1]:.3g} at k = {rows[-1][0]}; the sharp bias falls to {rows[-1][2]:.2g}.",
        columns=("k", "printed 3(14/τ)^(k−1)", "sharp"),
        rows=tuple(rows),
        shows=rows[-1][1] > rows[0][1] > 3 > rows[0][2] > rows[-1][2],
    )


def void_packing() -> Finding:
    """Fano's bound at the spike probability of the proof, and at the best one."""
    n, order, rows = 10_000, 4.0, []
    for d in (32, 64, 200, 1000):
        printed = min(1.0, math.sqrt(d / RHO) / n)
        best, value = best_spike_probability("fano-cdp", n, d, order, RHO, math.inf)
        rows.append((d, printed, spike_fano_cdp(printed, n, d, order, RHO), best, value))
    return Finding(
        sentence="At the printed p = √d/(n√ρ) the bound is "
        f"{max(row[2] for row in rows):g} in every dimension; at the best p it is "
        f"{rows[-1][4]:.3g} for d = {rows[-1][0]}.",
        columns=("d", "printed p", "bound there", "best p", "bound there, best"),
        rows=tuple(rows),
        shows=all(row[2] == 0 for row in rows) and rows[-1][4] > 0,
    )


def plotkin() -> Finding:
    """Words that the proof asks for at distance d/2, and the most that there can be."""
    rows = tuple((d, 2.0 ** (d / 8), 2 * d) for d in (16, 32, 48, 56, 64, 128, 256))
    first = next(d for d, asked, most in rows if asked > most)
    return Finding(
        sentence=f"From d = {first} on there are not 2^(d/8) words at distance d/2: Plotkin's "
        f"bound allows {2 * first}, and the proof asks for {2 ** (first / 8):.0f}.",
        columns=("d", "words asked for", "most words (Plotkin)"),
        rows=rows,
        shows=rows[-1][1] > rows[-1][2],
    )


def gaussian_moments() -> Finding:
    """The k-th moment of a standard normal variable, which the class bounds by 1."""
    rows = tuple((k, gaussian_scale(k) ** -k, gaussian_scale(k)) for k in (2, 3, 4, 6, 10))
    return Finding(
        sentence=f"E|Z|^k is {rows[2][1]:.3g} at k = {rows[2][0]} and {rows[-1][1]:.3g} at "
        f"k = {rows[-1][0]}: the hard instance is outside its own class for every k above 2.",
        columns=("k", "E|Z|^k", "deviation with moment 1"),
        rows=rows,
        shows=rows[0][1] <= 1 + 1e-12 and all(row[1] > 1 for row in rows[1:]),
    )


def lost_diameter_smoothed() -> Finding:
    """Theorem 5.5 against a proven lower bound, as the diameter grows."""
    n, d, rows = 10_000, 20, []
    unit = best_cdp(n, d, 2.0, RHO, math.inf)
    for diameter in (1.0, 1e2, 1e4, 1e6, 1e8):
        printed, lower = sum(smoothed_printed(n, d, RHO, diameter)), unit * diameter / 2
        rows.append((diameter, printed, lower, lower / printed))
    return Finding(
        sentence="The proven lower bound grows linearly in the diameter M, the printed rate with "
        f"its root: at M = {rows[-1][0]:g} the lower bound is {rows[-1][3]:.3g} times the rate. "
        "No hidden constant can make up for that.",
        columns=("M", "printed rate", "lower bound", "lower / printed"),
        rows=tuple(rows),
        shows=rows[-1][3] > 1 > rows[0][3],
    )


def lost_diameter_coordinatewise() -> Finding:
    """The private term of Theorem 5.2 a unit of diameter, as printed and scaled with it."""
    n, d, order, rows = 10_000, 20, 2.0, []
    for diameter in (1.0, 10.0, 100.0, 1000.0):
        printed = coordinatewise_printed(n, d, order, RHO, diameter)[1] / diameter
        rows.append((diameter, printed, coordinatewise(n, d, order, RHO, diameter)[1] / diameter))
    return Finding(
        sentence="A set that is M times as wide makes every risk M times as large. The printed "
        f"private term divided by M falls from {rows[0][1]:.3g} to {rows[-1][1]:.3g} as M grows to "
        f"{rows[-1][0]:g}; with a threshold free of M it stays at {rows[-1][2]:.3g}.",
        columns=("M", "printed / M", "threshold free of M, / M"),
        rows=tuple(rows),
        shows=rows[-1][1] < 0.1 * rows[0][1] and math.isclose(rows[0][2], rows[-1][2]),
    )


def literal_steps() -> Finding:
    """Theorem 5.2's number of steps, and the noise energy of one of them, at M = R = L = 1."""
    rows = []
    for n, d, order in ((10**5, 2, 2), (10**6, 5, 4), (10**7, 10, 4), (10**8, 10, 4)):
        tau = max(10.0, (n / d**1.5) ** (1 / order))
        steps = max(1.0, n**2 / (tau**2 * d**4))
        blocks = uniform_blocks(n, d)
        energy = 72 * tau**2 * blocks**2 * d**2 * steps / n**2
        rows.append((n, d, steps, blocks, energy))
    return Finding(
        sentence=f"At n = {rows[1][0]:g}, d = {rows[1][1]} the literal T = {rows[1][2]:.3g} gives "
        f"every gradient noise of energy {rows[1][4]:.3g}, where the theorem counts on 1.",
        columns=("n", "d", "literal T", "blocks m", "E‖noise‖² of a step"),
        rows=tuple(rows),
        shows=all(row[4] > 100 for row in rows),
    )


def closed_form() -> Finding:
    """The closed form of the smooth truncation for large entries, raw and as it is run."""
    c = 1.0
    top = smoothed_supremum(c)
    rows = []
    for u in (1.0, 100.0, 1e4, 1e6, 1e9):
        used = float(smoothed_clip(np.array([u]), c)[0])
        rows.append((u, _raw_closed_form(u, c), used, top))
    worst = max(rows, key=lambda row: abs(row[1]))
    return Finding(
        sentence=f"An entry of {worst[0]:g} τ contributes {worst[1]:.3g} by the raw formula, and "
        f"the noise hides at most {top:.3g}: one record would be visible to the eye.",
        columns=("x/τ", "raw closed form", "as it is run", "supremum"),
        rows=tuple(rows),
        shows=abs(worst[1]) > top and all(abs(row[2]) <= top for row in rows),
    )


def _raw_closed_form(a: float, c: float) -> float:
    """Return the closed form of section 2.3 of the note in plain double precision."""
    b, root = a * math.sqrt(c), math.sqrt(2)
    low, high = (-root - a) / b, (root - a) / b
    at_low, at_high = _density(low), _density(high)
    first = _normal(high) - _normal(low)
    moments = (
        first,
        at_low - at_high,
        first + low * at_low - high * at_high,
        (low**2 + 2) * at_low - (high**2 + 2) * at_high,
    )
    factors = (a - a**3 / 6, b - a**2 * b / 2, -a * b**2 / 2, -(b**3) / 6)
    tail = 2 * root / 3 * (1 - _normal(high) - _normal(low))
    return sum(f * m for f, m in zip(factors, moments, strict=True)) + tail


def _normal(x: float) -> float:
    return 0.5 * (1 + float(erf(x / math.sqrt(2))))


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
