"""Experiments on Lowy, Liu and Asi (2024)."""

from __future__ import annotations

import math

import numpy as np

from dpsco_core.bounds.user_complexity import non_smooth, smooth
from dpsco_core.bounds.user_rates import (
    group_privacy,
    linear_time,
    linear_time_proven,
    optimal,
    smoothed_printed,
    smoothing_gap,
)
from dpsco_core.errata.base import Finding
from dpsco_core.privacy.budget import gaussian_delta
from dpsco_core.privacy.robust_filter import RobustFilter
from dpsco_core.problems.user_level import UserLevel, gaussian_multiplier, printed_multiplier
from dpsco_core.problems.user_requirements import (
    batch_ratio,
    best_decay,
    fills_groups,
    laplace_tail,
    subsampled_noise_room,
    users_condition,
)
from dpsco_core.problems.user_schedules import printed_sgd


def _at(n: int, m: int, *, d: int = 10, epsilon: float = 1.0, delta: float = 1e-6) -> UserLevel:
    return UserLevel(n=n, m=m, d=d, epsilon=epsilon, delta=delta, smoothness=1.0)


def kept_points() -> Finding:
    """Points that the filter keeps: a hub of 40 % and six petals of 10 % just within its radius."""
    rows = []
    for count in (10, 100, 1000):
        petal = 0.99 * np.vstack([np.eye(3), -np.eye(3)])
        points = np.vstack(
            [np.zeros((4 * count // 10, 3)), *(np.tile(p, (count // 10, 1)) for p in petal)]
        )
        keep = RobustFilter(score_radius=1.0, filter_radius=1.0, upper=2 / 3, inclusion="coins")
        found = keep.examine(points)
        kept = float(found.inclusion.sum())
        rows.append((count, found.score / count, kept / count, 2 / 3))
    return Finding(
        sentence=f"With K = {rows[-1][0]} points the score is {rows[-1][1]:.2g} K, so that the "
        f"test's floor of 0.7 K is met, and {rows[-1][2]:.2g} K points are kept; the proof counts "
        "on 2/3 K.",
        columns=("K", "score / K", "kept / K", "claimed at least"),
        rows=tuple(rows),
        shows=all(row[2] < row[3] and row[1] >= 0.7 - 1e-12 for row in rows),
    )


def laplace_excess() -> Finding:
    """Twice the chance that the test's noise leaves its range, against what delta has for it."""
    rows = []
    for n, m, delta in ((10**4, 1, 1e-8), (10**4, 1, 1e-10), (10**5, 1, 1e-10), (10**4, 10, 1e-12)):
        at = _at(n, m, delta=delta)
        allowed = delta / (10 * math.exp(at.epsilon))
        rows.append((n, m, delta, 2 * laplace_tail(at), allowed, 2 * laplace_tail(at) / allowed))
    worst = max(rows, key=lambda row: row[5])
    return Finding(
        sentence=f"At n = {worst[0]:,}, m = {worst[1]}, δ = {worst[2]:g} the noise leaves its "
        f"range with probability {worst[3]:.2g}, {worst[5]:.3g} times what the proof allows; C is "
        "large enough only if (nm)² ≥ 20 e^ε/δ.",
        columns=("n", "m", "δ", "chance", "allowed", "ratio"),
        rows=tuple(rows),
        shows=worst[5] > 1,
    )


def empty_groups() -> Finding:
    """Users where Theorem B.1's condition holds, at its best q, and whether groups have one."""
    rows = []
    for n in (2**17, 2**18, 2**19):
        for m in (1, 10_000, 10**6):
            at, q = _at(n, m), best_decay(n)
            left, right = users_condition(at, q)
            condition = "holds" if left >= right else "fails"
            filled = "yes" if fills_groups(at, q) else "no"
            rows.append((n, m, left, right, condition, filled))
    empty = [row for row in rows if row[4:] == ("holds", "no")]
    first = empty[0] if empty else rows[0]
    return Finding(
        sentence=f"At n = {first[0]:,}, m = {first[1]:,} the condition {first[4]} ({first[2]:.5g} "
        f"against {first[3]:.5g}), and the last phase has fewer users than groups: the logarithm "
        "in the condition is smaller than the one in C.",
        columns=("n", "m", "n^(1−q)", "at least", "condition", "every group has a user"),
        rows=tuple(rows),
        shows=bool(empty),
    )


def gaussian_definition() -> Finding:
    """Exact delta of Definition A.5's Gaussian noise, which is claimed for every epsilon."""
    delta, rows = 1e-6, []
    for epsilon in (0.5, 1.0, 5.0, 9.0, 12.0, 20.0):
        printed = printed_multiplier(epsilon, delta)
        spent = gaussian_delta(1 / (2 * printed**2), epsilon)
        rows.append((epsilon, printed, gaussian_multiplier(epsilon, delta), spent / delta))
    return Finding(
        sentence=f"At ε = {rows[-1][0]:g} the printed noise has {rows[-1][3]:.3g} times the δ that "
        f"it claims; at ε = {rows[1][0]:g} it has {rows[1][3]:.2g} times.",
        columns=("ε", "σ/Δ printed", "σ/Δ exact", "δ over claim"),
        rows=tuple(rows),
        shows=rows[-1][3] > 1 > rows[1][3],
    )


def batch_too_large() -> Finding:
    """Users a step that Algorithm 3 draws, over those that the phase has; the last phase."""
    rows = []
    for n in (10**3, 10**4, 10**6, 10**9):
        at = _at(n, 100)
        rows.append((n, batch_ratio(at, best_decay(n), 1), batch_ratio(at, best_decay(n))))
    return Finding(
        sentence=f"At n = {rows[1][0]:,} the first phase wants {rows[1][1]:.3g} times and the "
        f"worst phase {rows[1][2]:.3g} times the users that it has.",
        columns=("n", "K/n of phase 1", "largest K/n of all phases"),
        rows=tuple(rows),
        shows=all(row[2] > 1 for row in rows),
    )


def missing_logarithm() -> Finding:
    """The printed noise of Algorithm 2 with subsampling, over what its proof needs."""
    n, steps, rows = 10**5, 100, []
    for delta in (1e-3, 1e-6, 1e-12, 1e-20):
        room = []
        for epsilon in (0.5, 5.0):
            at = _at(n, 100, epsilon=epsilon, delta=delta)
            batch = min(n, math.ceil(n * epsilon / math.sqrt(steps)))
            room.append(subsampled_noise_room(at, steps, batch))
        rows.append((delta, *room))
    return Finding(
        sentence=f"With K = nε/√T users a step the printed noise is {rows[0][2]:.2g} times what is "
        f"needed at ε = 5, δ = {rows[0][0]:g} and {rows[-1][2]:.2g} times at δ = "
        f"{rows[-1][0]:g}: it has one logarithm of 1/δ, and the proof needs two.",
        columns=("δ", "printed / needed, ε = 0.5", "printed / needed, ε = 5"),
        rows=tuple(rows),
        shows=rows[0][2] > rows[-1][2] and rows[-1][2] < 1,
    )


def reversed_sandwich() -> Finding:
    """f_r - f at 0 for f(x) = ||x||: the mean distance from the centre of a ball of radius r."""
    rows = []
    for d in (1, 5, 50):
        at, radius = _at(1000, 1, d=d), 0.5
        exact = radius * d / (d + 1)
        printed, proven = smoothing_gap(at, radius, printed=True), smoothing_gap(at, radius)
        rows.append((d, exact, printed[1], proven[1]))
    return Finding(
        sentence=f"Averaging ‖x‖ over a ball of radius 0.5 around 0 gives {rows[0][1]:.3g} in one "
        "dimension, above f(0) = 0; the lemma says that it is at most f.",
        columns=("d", "f_r(0) − f(0)", "at most, as printed", "at most, by Jensen"),
        rows=tuple(rows),
        shows=all(row[2] < row[1] <= row[3] + 1e-12 for row in rows),
    )


def regulariser_without_privacy() -> Finding:
    """Private error at the regulariser of Theorem D.3 over the optimal one."""
    rows = []
    for d, n, epsilon in (
        (10, 10**4, 1.0),
        (1000, 10**4, 1.0),
        (10**5, 10**4, 1.0),
        (10, 100, 0.1),
    ):
        at = _at(n, 100, d=d, epsilon=epsilon)
        best = optimal(at, logs=False)[1]
        rows.append((d, n, epsilon, smoothed_printed(at), best, smoothed_printed(at) / best))
    worst = max(rows, key=lambda row: row[5])
    return Finding(
        sentence=f"At d = {worst[0]}, n = {worst[1]}, ε = {worst[2]:g} the printed λ gives "
        f"{worst[5]:.3g} times the private error that the theorem claims: it is optimal only where "
        "d is at most about ε²n.",
        columns=("d", "n", "ε", "at the printed λ", "claimed", "ratio"),
        rows=tuple(rows),
        shows=worst[5] > 1 > rows[0][5],
    )


def gradient_count() -> Finding:
    """Theorem 4.1's count of item gradients, as printed and with the term that it drops."""
    rows = []
    for n, m, epsilon in (
        (10**4, 100, 1.0),
        (10**4, 100, 0.01),
        (100, 10**6, 1.0),
        (100, 10**8, 0.1),
    ):
        at = _at(n, m, epsilon=epsilon)
        printed, whole = non_smooth(at, printed=True), non_smooth(at)
        rows.append((n, m, epsilon, printed, whole, whole / printed))
    worst = max(rows, key=lambda row: row[5])
    return Finding(
        sentence=f"At n = {worst[0]}, m = {worst[1]:,}, ε = {worst[2]:g} the algorithm takes "
        f"{worst[5]:.3g} times the gradients that are printed; for small ε elsewhere fewer.",
        columns=("n", "m", "ε", "printed", "with the dropped term", "ratio"),
        rows=tuple(rows),
        shows=worst[5] > 1,
    )


def sum_for_minimum() -> Finding:
    """Theorem 3.2's count of item gradients with a sum where either term alone is enough."""
    rows = []
    for n, m, epsilon in ((1000, 1, 1.0), (1000, 1000, 0.1), (100, 10**6, 0.1)):
        at = _at(n, m, epsilon=epsilon)
        printed, least = smooth(at, printed=True), smooth(at)
        rows.append((n, m, epsilon, printed, least, printed / least))
    return Finding(
        sentence=f"The sum is up to {max(row[5] for row in rows):.3g} times the minimum here: "
        "valid, and loose.",
        columns=("n", "m", "ε", "printed sum", "minimum", "ratio"),
        rows=tuple(rows),
        shows=all(row[5] > 1 for row in rows),
    )


def power_of_epsilon() -> Finding:
    """The private term of Theorem 2.1 as stated and as its proof has it."""
    rows = []
    for epsilon in (0.001, 0.01, 0.1, 1.0):
        at = _at(10**5, 100, epsilon=epsilon)
        stated, proven = linear_time(at, logs=False)[1], linear_time_proven(at)[1]
        rows.append((epsilon, stated, proven, stated / proven))
    return Finding(
        sentence=f"At ε = {rows[0][0]:g} the statement is {rows[0][3]:.3g} times what the proof "
        "gives: ε^(−1) where ε^(−1/2) is proven.",
        columns=("ε", "stated", "by the proof", "ratio"),
        rows=tuple(rows),
        shows=rows[0][3] > rows[-1][3] >= 1 - 1e-12,
    )


def trivial_is_better() -> Finding:
    """Group privacy's rate, footnote 3, against the rate of Algorithm 1."""
    rows = []
    for n, m in ((10**4, 1), (10**4, 100), (10**4, 10**4), (10**4, 10**6)):
        at = _at(n, m, epsilon=0.5)
        rows.append((n, m, sum(group_privacy(at)), sum(linear_time(at))))
    return Finding(
        sentence=f"For m ≤ n the trivial method is better, at m = {rows[1][1]} with "
        f"{rows[1][2]:.2g} against {rows[1][3]:.2g}; at m = {rows[-1][1]:,} the paper's is.",
        columns=("n", "m", "group privacy", "Algorithm 1"),
        rows=tuple(rows),
        shows=all(row[2] < row[3] for row in rows[:3]) and rows[-1][2] > rows[-1][3],
    )


def first_phase_noise() -> Finding:
    """Noise of the first phase of Algorithm 1 as printed, in units of the set's diameter."""
    rows = []
    for n, m in ((2 * 10**5, 1), (2 * 10**5, 100), (10**7, 100), (10**9, 100)):
        at = _at(n, m)
        first = printed_sgd(at, best_decay(n)).phases[0]
        rows.append((n, m, math.sqrt(at.d) * first.noise_std / at.diameter))
    return Finding(
        sentence=f"The first answer lies about {rows[0][2]:.3g} diameters away from where it "
        f"should be at n = {rows[0][0]:,}, and {rows[-1][2]:.3g} at n = {rows[-1][0]:,}: its "
        "noise does not fall with n.",
        columns=("n", "m", "noise of phase 1 over R"),
        rows=tuple(rows),
        shows=all(row[2] > 1 for row in rows),
    )


def repeated_users() -> Finding:
    """Slots of one user among K draws with replacement, where sensitivity counts on one slot."""
    rows = []
    for n, batch in ((1000, 100), (1000, 500), (1000, 1000)):
        one = batch * (1 / n) * (1 - 1 / n) ** (batch - 1)
        none = (1 - 1 / n) ** batch
        rows.append((n, batch, 1 - one - none, n * (1 - one - none)))
    return Finding(
        sentence=f"With {rows[-1][1]} of {rows[-1][0]} users drawn with replacement a user has "
        f"several slots with probability {rows[-1][2]:.2g}, about {rows[-1][3]:.0f} users a step.",
        columns=("users", "drawn", "chance of several slots", "such users a step"),
        rows=tuple(rows),
        shows=rows[-1][2] > 0.1,
    )
