"""Experiments on Zhao, Wu, Liu, Wang, Fan and Li (2024)."""

from __future__ import annotations

import math

import numpy as np

from dpsco_core.bounds.rates import clipped_rate, directional_rate
from dpsco_core.bounds.sco_rates import quoted_lower
from dpsco_core.bounds.upper_clipped import directional_bias, printed_bias
from dpsco_core.bounds.upper_iterative import printed, printed_groups
from dpsco_core.errata.base import Finding
from dpsco_core.mean.base import clip_to_ball
from dpsco_core.privacy.amplification import amplify
from dpsco_core.privacy.budget import gaussian_delta, gaussian_rho, zcdp_epsilon


def group_shuffle() -> Finding:
    """Exact delta of group sums on a fixed split, at the group's share of the shuffled budget."""
    delta, rows = 1e-6, []
    for route, groups, epsilon in (
        ("printed", 10**6, 0.05),
        ("printed", 300_000, 0.2),
        ("closed", 2400, 0.3),
    ):
        found = amplify(groups, epsilon, delta, "printed" if route == "printed" else "closed")
        assert found is not None
        spent = gaussian_delta(found.rho_group, epsilon)
        rows.append((route, groups, epsilon, found.rho_group, spent, spent / delta))
    worst = max(rows, key=lambda row: row[5])
    return Finding(
        sentence="Group 1 holds the largest sum whatever the noise, so that the maximum of the "
        f"groups shows it: at k = {worst[1]:,} and ε = {worst[2]:g} its δ is {worst[4]:.2g}, "
        f"{worst[5]:.3g} times the claimed {delta:g}.",
        columns=("inversion", "groups k", "ε", "ρ of a group", "δ on a fixed split", "over claim"),
        rows=tuple(rows),
        shows=all(row[5] > 1 for row in rows),
    )


def plain_share() -> Finding:
    """The share of a group by (24) against what parallel composition gives without shuffling."""
    delta, epsilon, rows = 1e-6, 0.1, []
    plain = gaussian_rho(epsilon, delta)
    for groups in (2397, 10_000, 30_000, 100_000, 1_000_000):
        found = amplify(groups, epsilon, delta, "printed")
        share = 0.0 if found is None else found.rho_group
        rows.append((groups, share, plain, share / plain))
    return Finding(
        sentence=f"With the k = {rows[0][0]} groups of the theorem, (24) leaves a group "
        f"{rows[0][3]:.2g} of what it may spend without any shuffling.",
        columns=("groups k", "ρ by (24)", "ρ without shuffling", "ratio"),
        rows=tuple(rows),
        shows=rows[0][3] < 1,
    )


def moment_class() -> Finding:
    """The private term under directional moments: the paper's, and with the sharp bias."""
    n, order, rho, rows = 10**6, 3.0, 0.5, []
    for d in (1, 10, 100, 1000):
        paper = clipped_rate(n, d, order, rho)[1]
        sharp = directional_rate(n, d, order, rho)[1]
        rows.append((d, paper, sharp, paper / sharp, d ** (1 / (2 * order))))
    return Finding(
        sentence="Under the directional moments that the upper bound assumes, its private term is "
        f"{rows[-1][3]:.3g} times what clipping attains in d = {rows[-1][0]}: d^(1/2p). It does "
        "not match any lower bound for that class.",
        columns=("d", "paper's rate", "with the sharp bias", "ratio", "d^(1/2p)"),
        rows=tuple(rows),
        shows=rows[-1][3] > 1.5 and math.isclose(rows[-1][3], rows[-1][4], rel_tol=1e-6),
    )


def bias_power() -> Finding:
    """The clipping bias (55) against the sharp one under the directional assumption (4)."""
    order, rows = 4.0, []
    for d in (1, 10, 100, 1000):
        radius = 3 * math.sqrt(d)
        paper = printed_bias(d, order, 1.0).at(radius)
        sharp = directional_bias(d, order, 1.0).at(radius)
        rows.append((d, radius, paper, sharp, paper / sharp))
    return Finding(
        sentence=f"(55) is {rows[0][4]:.3g} times the sharp bias at d = 1 and {rows[-1][4]:.3g} "
        f"times at d = {rows[-1][0]}: it has a root of d too many.",
        columns=("d", "radius", "bias by (55)", "sharp bias", "ratio"),
        rows=tuple(rows),
        shows=rows[-1][4] > 10 * rows[0][4] > 10,
    )


def vacuous_constants() -> Finding:
    """The error bound of iterative updating with its printed constants; M = 1 is trivial."""
    d, order, beta, rho, rows = 10, 3.0, 0.05, gaussian_rho(1.0, 1e-6), []
    for n in (10**4, 10**6, 10**8, 10**10, 10**12):
        rows.append((n, printed_groups(beta), sum(printed(n, d, order, 1.0, rho, beta))))
    useful = [n for n, _, bound in rows if bound < 1]
    least = f"first at n = {useful[0]:g} of these" if useful else "at none of these n"
    return Finding(
        sentence=f"‖μ‖ ≤ 1, so that answering 0 errs by at most 1; the bound with k = {rows[0][1]} "
        f"groups is {rows[0][2]:.3g} at n = {rows[0][0]:g}, and below 1 {least}.",
        columns=("n", "groups k", "bound with the printed constants"),
        rows=tuple(rows),
        shows=rows[0][2] > 1 and rows[1][2] > 1,
    )


def quoted_bound() -> Finding:
    """The quoted lower bound (6) where the error is trivially bounded: on a set of diameter 2."""
    epsilon, delta, order, rows = 0.1, 1e-6, 3.0, []
    for n, d in ((20, 20), (50, 100), (100, 200), (200, 1000)):
        quoted, trivial = sum(quoted_lower(n, d, order, epsilon, delta)), 2 * math.sqrt(d)
        rows.append((n, d, quoted, trivial, quoted / trivial))
    return Finding(
        sentence=f"At n = {rows[-1][0]}, d = {rows[-1][1]} the quoted lower bound is "
        f"{rows[-1][4]:.3g} times the largest excess risk that there is: the source has "
        "min{1, ·} and no factor ln(1/δ).",
        columns=("n", "d", "quoted bound", "largest excess risk", "ratio"),
        rows=tuple(rows),
        shows=all(row[4] > 1 for row in rows),
    )


def clipping_moves_away() -> Finding:
    """E<u, Y - mu>^2 against E<u, X - mu>^2 for a law near a point outside the clipping ball."""
    rows = []
    for distance in (0.5, 1.0, 2.0, 4.0):
        x = np.array([[distance - 0.1], [distance + 0.1]])
        block, weights = clip_to_ball(x, 1.0)
        y = weights[:, None] * block
        before, after = float(np.mean((x - distance) ** 2)), float(np.mean((y - distance) ** 2))
        rows.append((distance, before, after, after / before))
    return Finding(
        sentence=f"With the mean at {rows[-1][0]:g} radii, clipping multiplies the mean square "
        f"around the mean by {rows[-1][3]:.3g}: it contracts towards 0, not towards μ.",
        columns=("μ over R", "E⟨u, X−μ⟩²", "E⟨u, Y−μ⟩²", "ratio"),
        rows=tuple(rows),
        shows=rows[-1][3] > 1,
    )


def conversion() -> Finding:
    """Lemma 1(4) as it is quoted in the proof of Theorem 3, against the lemma."""
    delta, rows = 1e-6, []
    for rho in (1e-4, 1e-2, 0.1, 1.0, 10.0):
        lemma = zcdp_epsilon(rho, delta, "paper")
        rows.append((rho, rho + 2 * math.sqrt(-math.log(delta)), lemma))
    return Finding(
        sentence=f"At ρ = {rows[0][0]:g} the quoted form gives ε = {rows[0][1]:.3g} and the lemma "
        f"{rows[0][2]:.2g}; at ρ = {rows[-1][0]:g} it gives {rows[-1][1]:.3g}, less than the "
        f"lemma's {rows[-1][2]:.3g}.",
        columns=("ρ", "ε as quoted", "ε of the lemma"),
        rows=tuple(rows),
        shows=rows[0][1] > rows[0][2] and rows[-1][1] < rows[-1][2],
    )


def records_needed() -> Finding:
    """Records that Theorem 7's natural number of groups needs: one in every group."""
    rows = []
    for d in (1, 10, 100):
        n = 2
        while n < 800 * d * math.log(n):
            n = math.ceil(n * 1.01)
        rows.append((d, n, 800 * d * math.log(n)))
    return Finding(
        sentence=f"k ≈ 800 d ln n groups need about n = {rows[1][1]:,} records at d = {rows[1][0]} "
        "before every group has one, a condition that the theorem does not state.",
        columns=("d", "least n, about", "groups k there"),
        rows=tuple(rows),
        shows=rows[1][1] > 10_000,
    )
