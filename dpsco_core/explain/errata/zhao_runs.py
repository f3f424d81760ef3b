"""Experiments on Zhao, Wu, Liu, Wang, Fan and Li (2024)."""

import math
from dataclasses import replace

import numpy as np

from dpsco_core.bounds.euclidean.lower_other import QUOTED
from dpsco_core.bounds.mean.clipped import (
    covering_log,
    directional_bias,
    printed_bias,
    printed_radius,
)
from dpsco_core.bounds.mean.iterative import printed
from dpsco_core.explain.errata.base import Finding, unit_setting
from dpsco_core.methods.mean.iterative import theory_groups
from dpsco_core.methods.records.base import clip_to_ball
from dpsco_core.privacy.amplification import ShuffleAmplification, amplify
from dpsco_core.privacy.budget import ZCDP, ApproxDP, gaussian_delta, zcdp_epsilon
from dpsco_core.statements.zhao import equation_15_rho, lemma_6_groups

DELTA = 1e-6


def _by_15(epsilon: float) -> float:
    """Return the rho that (15) allows a whole run at (epsilon, `DELTA`), epsilon at most 1."""
    return equation_15_rho(epsilon, DELTA)


def _by_24(groups: int, epsilon: float) -> ShuffleAmplification:
    """Return the certificate by (24) for shuffled groups at (epsilon, `DELTA`).

    The groups must meet the conditions of Theorem 6 and of its source [24].
    """
    share = amplify(groups, epsilon, DELTA, "printed")
    assert share is not None
    return share


def _largest_epsilon(groups: int) -> float:
    """Return the largest epsilon for which Theorem 6 holds with a number of groups."""
    return 8 * math.e**2 * math.sqrt(math.log(4 / DELTA) / groups)


def _conditions_of_6(shares: list[ShuffleAmplification]) -> tuple[tuple[str, bool], ...]:
    """Return the conditions of Theorem 6, each with whether all rows meet it."""
    return (
        ("ε ≤ 8e²√(ln(4/δ)/k)", all(s.epsilon <= _largest_epsilon(s.groups) for s in shares)),
        (
            "k ≥ 16 exp(ε₀) ln(4/δ)",
            all(s.groups >= 16 * math.exp(s.epsilon_group) * math.log(4 / DELTA) for s in shares),
        ),
    )


def group_shuffle() -> Finding:
    r"""Compute the exact delta of the largest group mean on a fixed split, by the share (24).

    In one dimension the records of group 1 are R and all others -R. The maximum of the k noisy
    means is symmetric in them. For a group size m with :math:`m\sqrt{2\rho}\gg\sqrt{2\ln k}` it is
    the first mean, and one record of group 1 moves it as far as the noise is made for.
    """
    cases = ((100_000, 0.2), (200_000, 0.2), (300_000, 0.2), (10**6, 0.05))
    shares = [_by_24(groups, epsilon) for groups, epsilon in cases]
    rows = []
    for s in shares:
        spent = gaussian_delta(s.rho_group, s.epsilon)
        limit = _largest_epsilon(s.groups)
        rows.append((s.groups, s.epsilon, limit, s.rho_group, spent, spent / DELTA))
    worst = rows[-1]
    return Finding(
        sentence="Group 1 holds the largest mean whatever the noise, so that the maximum shows it: "
        f"at k = {worst[0]:,} and ε = {worst[1]:g} its δ is {worst[4]:.2g}, {worst[5]:.3g} times "
        f"the claimed {DELTA:g}. Up to k = {rows[1][0]:,} the claim is true for every split.",
        columns=("groups k", "ε", "largest ε", "ρ by (24)", "δ on a fixed split", "over claim"),
        rows=tuple(rows),
        shows=[row[5] > 1 for row in rows] == [False, False, True, True],
        conditions=_conditions_of_6(shares),
    )


def plain_share() -> Finding:
    """Compare the share of a group by (24) with the one by (15), which needs no shuffling."""
    epsilon = 0.1
    plain = _by_15(epsilon)
    shares = [_by_24(groups, epsilon) for groups in (2397, 10_000, 30_000, 100_000, 1_000_000)]
    rows = [(s.groups, s.rho_group, plain, s.rho_group / plain) for s in shares]
    return Finding(
        sentence=f"With the k = {rows[0][0]} groups of Lemma 6 at β = 0.05, (24) leaves a group "
        f"{rows[0][3]:.2g} of what (15) lets it spend without any shuffling.",
        columns=("groups k", "ρ by (24)", "ρ by (15)", "ratio"),
        rows=tuple(rows),
        shows=rows[-2][3] < 1 < rows[-1][3],
        conditions=_conditions_of_6(shares),
    )


def moment_class() -> Finding:
    """Compare the bound (14) with the printed bias (55) and with the sharp one."""
    n, order, beta, epsilon, rows = 10**6, 3.0, 0.05, 1.0, []
    rho = _by_15(epsilon)
    for d in (1, 10, 100, 1000):
        # This is the factor of the radius in the noise term of (14).
        slope = 4 * math.sqrt(covering_log(d, beta) / rho) / n
        values = []
        setting = unit_setting(d, order, budget=ZCDP(rho=rho), n=n)
        for bias in (printed_bias(setting), directional_bias(setting)):
            radius = bias.best_radius(slope)
            values.append(bias.at_radius(radius) + slope * radius)
        rows.append((d, *values, values[0] / values[1], d ** (1 / (2 * order))))
    return Finding(
        sentence="Under the moments in every direction that Theorem 2 assumes, its bias and noise "
        f"are {rows[-1][3]:.3g} times what the sharp bias proves in d = {rows[-1][0]}. The ratio "
        "grows like d^(1/2p): no lower bound for that class can match these two terms.",
        columns=("d", "(14) with (55)", "(14) with the sharp bias", "ratio", "d^(1/2p)"),
        rows=tuple(rows),
        shows=math.isclose(rows[-1][3] / rows[0][3], rows[-1][4], rel_tol=1e-6),
        conditions=(("p ≥ 2", order >= 2), ("ε ≤ 1", epsilon <= 1), ("0 < β < 1", 0 < beta < 1)),
    )


def bias_power() -> Finding:
    """Compare the clipping bias (55) with the sharp one under the directional assumption (4)."""
    order, rows = 4.0, []
    for d in (1, 10, 100, 1000):
        radius = 3 * math.sqrt(d)
        # The bias does not depend on the budget.
        setting = unit_setting(d, order, budget=ZCDP(rho=1.0))
        paper, sharp = (
            printed_bias(setting).at_radius(radius),
            directional_bias(setting).at_radius(radius),
        )
        rows.append((d, radius, paper, sharp, paper / sharp))
    return Finding(
        sentence=f"(55) is {rows[0][4]:.3g} times the sharp bias at d = 1 and {rows[-1][4]:.3g} "
        f"times at d = {rows[-1][0]}: it has a root of d too many.",
        columns=("d", "radius", "bias by (55)", "sharp bias", "ratio"),
        rows=tuple(rows),
        shows=rows[-1][4] > 10 * rows[0][4] > 10,
        conditions=(("p ≥ 2", order >= 2), ("R > 0", all(row[1] > 0 for row in rows))),
    )


def vacuous_constants() -> Finding:
    """Evaluate the bound of iterative updating with its printed constants; M = 1 is trivial."""
    d, order, beta, epsilon, rows = 10, 3.0, 0.05, 1.0, []
    share = _by_24(theory_groups(), epsilon)
    for n in (10**4, 10**6, 10**8, 10**10, 10**12):
        setting = unit_setting(d, order, budget=ZCDP(rho=share.rho_group), n=n)
        rows.append((n, share.groups, sum(printed(setting))))
    useful = [n for n, _, bound in rows if bound < 1]
    summary = f"first at n = {useful[0]:g} of these" if useful else "at none of these n"
    return Finding(
        sentence="‖μ‖ ≤ 1, so that answering 0 has an error of at most 1; the bound with "
        f"k = {rows[0][1]} groups is {rows[0][2]:.3g} at n = {rows[0][0]:g}, "
        f"and below 1 {summary}.",
        columns=("n", "groups k", "bound with the printed constants"),
        rows=tuple(rows),
        shows=rows[0][2] > 1 and rows[1][2] > 1,
        conditions=(
            *_conditions_of_6([share]),
            ("k ≥ 800 ln(1/β)", share.groups >= lemma_6_groups(beta)),
            ("n ≥ k", all(row[0] >= row[1] for row in rows)),
        ),
    )


def quoted_bound() -> Finding:
    """Evaluate the quoted lower bound (6) as epsilon or delta falls, for diameter 2 and M = 1."""
    n, d, order, diameter, rows = 1000, 10, 3.0, 2.0, []
    in_moments = replace(QUOTED, unit="")
    largest = diameter * 1.0  # By (4) the gradient of the risk is at most M.
    for epsilon, delta in ((1.0, 1e-6), (1.0, 1e-100), (0.1, 1e-6), (1e-3, 1e-6), (1e-6, 1e-6)):
        budget = ApproxDP(epsilon=epsilon, delta=delta)
        quoted = sum(in_moments(unit_setting(d, order, budget=budget, n=n)).values())
        rows.append((epsilon, delta, quoted, largest, quoted / largest))
    return Finding(
        sentence=f"At n = {n}, d = {d} and ε = {rows[-1][0]:g} the quoted lower bound is "
        f"{rows[-1][4]:.3g} times the largest excess risk that there is, and it grows without "
        "limit as ε or δ falls: the source has min{1, ·} and no factor ln(1/δ).",
        columns=("ε", "δ", "quoted bound", "largest excess risk LM", "ratio"),
        rows=tuple(rows),
        shows=rows[-1][4] > 1000 and rows[1][4] > 1 > rows[0][4],
        conditions=(
            ("p ≥ 2", order >= 2),
            ("ε > 0 and 0 < δ < 1", all(row[0] > 0 and 0 < row[1] < 1 for row in rows)),
        ),
    )


def clipping_moves_away() -> Finding:
    """Compare the second moments of clipped and of whole records about the mean in a direction.

    The second entry of the records is always 1, and the direction is e_2.
    """
    d, order, epsilon, rows, reach = 2, 2.0, 1.0, [], []
    rho = _by_15(epsilon)
    for n in (100, 1000, 10_000):
        setting = unit_setting(d, order, budget=ZCDP(rho=rho), n=n)
        radius = printed_radius(setting)  # the radius R of (19) at M = 1
        distance = 2 * radius
        x = np.array([[-distance, 1.0], [0.0, 1.0], [distance, 1.0]])
        chances = np.array([0.5 / distance**2, 1 - 1 / distance**2, 0.5 / distance**2])
        block, weights = clip_to_ball(x, radius)
        y = weights[:, None] * block
        risk_before = float(chances @ (x[:, 1] - 1) ** 2)
        risk_after = float(chances @ (y[:, 1] - 1) ** 2)
        rows.append((n, radius, risk_before, risk_after))
        reach.append(float(np.linalg.eigvalsh((chances * x.T) @ x)[-1]))  # the bound M^2 at p = 2
    return Finding(
        sentence=f"At R = {rows[-1][1]:.3g}, by (19) for n = {rows[-1][0]}, the second entry does "
        f"not vary before clipping, and {rows[-1][3]:.2g} around its mean after: (47) says that "
        "it cannot grow. Clipping contracts towards 0, not towards μ.",
        columns=("n", "R", "E⟨u, X−μ⟩²", "E⟨u, Y−μ⟩²"),
        rows=tuple(rows),
        shows=all(row[3] > row[2] for row in rows),
        conditions=(
            ("E⟨u, X⟩² ≤ M² for every u", max(reach) <= 1 + 1e-12),
            ("‖μ‖ ≤ R", all(row[1] >= 1 for row in rows)),
            ("ε ≤ 1", epsilon <= 1),
        ),
    )


def conversion() -> Finding:
    """Compare Lemma 1(4) as the proof of Theorem 3 quotes it with the lemma, at rho by (15)."""
    rows = []
    for epsilon in (0.01, 0.1, 0.3, 1.0):
        rho = _by_15(epsilon)
        quoted = rho + 2 * math.sqrt(-math.log(DELTA))
        rows.append((epsilon, rho, quoted, zcdp_epsilon(rho, DELTA, "paper")))
    return Finding(
        sentence=f"At the ρ of (15) for ε = {rows[0][0]:g} the quoted form gives "
        f"{rows[0][2]:.3g} and the lemma {rows[0][3]:.2g}. The quoted form never gets below "
        f"{2 * math.sqrt(-math.log(DELTA)):.3g}, whatever ρ is.",
        columns=("ε", "ρ by (15)", "ε as quoted", "ε of the lemma"),
        rows=tuple(rows),
        shows=all(row[2] > row[0] >= row[3] for row in rows),
        conditions=(
            ("ε ≤ 1", all(row[0] <= 1 for row in rows)),
            ("ρ ≤ 1", all(row[1] <= 1 for row in rows)),
        ),
    )


def records_needed() -> Finding:
    """Compute the number of records for which each of the groups of Theorem 7 has one."""
    rows = []
    for d in (1, 10, 100):
        n = 2
        while n < 800 * d * math.log(n):
            n = math.ceil(n * 1.01)
        rows.append((d, n, 800 * d * math.log(n)))
    return Finding(
        sentence=f"k ≈ 800 d ln n groups need about n = {rows[1][1]:,} records at d = {rows[1][0]} "
        "before every group has one, a condition that Theorem 7 does not state.",
        columns=("d", "least n, about", "groups k there"),
        rows=tuple(rows),
        shows=rows[1][1] > 10_000,
        conditions=(("β = n^−d < 1", all(row[0] * math.log(row[1]) > 0 for row in rows)),),
    )


def bias_of_expectations() -> Finding:
    r"""Test Lemma 3 on gradients without bias on average, at random points.

    Records are signs, the loss is :math:`\frac12(w-z)^2` on [-1, 1], and the gradient estimate is
    the average :math:`w-\bar z`: :math:`E[g(w_t)]=E[\nabla F(w_t)]=0` at every step, and
    :math:`G^2=\frac1n`. From :math:`w_1=0` the average of the iterates is a multiple of
    :math:`\bar z`, whose excess risk is exact.
    """
    rows = []
    for n, size, steps in ((10, 1e-3, 10**6), (100, 1e-4, 10**8), (1000, 1e-5, 10**10)):
        share = 1 + math.expm1(steps * math.log1p(-size)) / (size * steps)
        risk = share**2 / (2 * n)
        # The bound (11) is evaluated at L = 2, lambda = 1 and B = 0.
        claimed = 4 / (2 * size * steps) + size * (4 + 1 / n)
        rows.append((n, size, steps, risk, claimed, risk / claimed))
    return Finding(
        sentence=f"With n = {rows[1][0]} signs and B = 0 the excess risk is {rows[1][3]:.3g}, and "
        f"(11) claims at most {rows[1][4]:.3g}: iterates that reuse the records lean towards them.",
        columns=("n", "η", "T", "excess risk", "(11) with B = 0", "ratio"),
        rows=tuple(rows),
        shows=all(row[5] > 1 for row in rows),
        conditions=(
            ("0 < η < 1, so that w_t stays in the set", all(0 < row[1] < 1 for row in rows)),
            ("T ≥ 1", all(row[2] >= 1 for row in rows)),
        ),
    )


def lost_factors() -> Finding:
    """Compute both sides of (37), (50) and (115) as printed."""
    n, t = 100, 0.5
    edge = 0.5  # The paper takes the infimum up to 1/(2R), and here M = R = 1.
    best = min(2 * n * t / 3, edge)
    infimum = math.exp(-best * t + 3 * best**2 / (4 * n))
    tail = math.exp(-n * t**2 / 3) if t <= 3 / 4 else math.exp(-n * t / 4)
    signs = [first + second for first in (-1, 1) for second in (-1, 1)]
    # The function f is 0 or 1 at both records.
    supremum = sum(max(0, total) for total in signs) / len(signs)
    # These are the step size, point, gradient and target of one step in the set [-1, 1].
    step, point, gradient, target = 1.0, 1.0, -1.0, 0.5
    projected = (min(1.0, point - step * gradient) - target) ** 2
    free = (point - step * gradient - target) ** 2
    rows = (
        ("(37): squared distance, = its expansion", projected, free),
        ("(50): infimum over λ ≤ 1/(2R), ≤ the tail", infimum, tail),
        ("(115): without 1/n, ≤ with 1/n, n = 2", supremum, supremum / 2),
    )
    return Finding(
        sentence=f"The printed infimum of (50) is {infimum:.3g} where its bound is {tail:.3g}; "
        f"(115) says {supremum:g} ≤ {supremum / 2:g}; (37) says {projected:g} = {free:g} where the "
        "step leaves the set.",
        columns=("equation", "left", "right"),
        rows=rows,
        shows=all(left != right for _, left, right in rows) and infimum > tail,
        conditions=(("0 ≤ λ", best >= 0), ("w_t in the set", abs(point) <= 1)),
    )
