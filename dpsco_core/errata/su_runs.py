"""Experiments on Su, Zhao and Wang (2023)."""

from __future__ import annotations

import math

import numpy as np

from dpsco_core.bounds import lq_rates
from dpsco_core.bounds.sco_objective import Objective, explicit, rate, rate_strong
from dpsco_core.errata.base import Finding
from dpsco_core.geometry.norms import lq_norm, norm_ratio
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.privacy.generalized_gaussian import lemma_3_steps
from dpsco_core.sco.objective_plan import least_ridge, printed_linear_std


def jacobian_budget() -> Finding:
    """The change of variables' share of epsilon at the printed regulariser; 1/4 is allowed."""
    epsilon, rows = 0.5, []
    for d, rank in ((1, 1), (10, 1), (10, 5), (10, 8), (10, 10), (100, 100)):
        printed, repaired = min(d, 2 * rank), 2 * rank
        rows.append((d, rank, *(_jacobian(rank, r, epsilon) for r in (printed, repaired))))
    return Finding(
        sentence=f"With full rank in d = {rows[-1][0]} the change of variables costs "
        f"{rows[-1][2]:.3g} of ε where the proof has 0.25 for it; with r = 2·rank it costs "
        f"{rows[-1][3]:.3g}.",
        columns=("d", "rank", "share of ε, r = min(d, 2 rank)", "share of ε, r = 2 rank"),
        rows=tuple(rows),
        shows=max(row[2] for row in rows) > 0.25 >= max(row[3] for row in rows),
    )


def _jacobian(rank: int, factor: int, epsilon: float) -> float:
    """Return rank ln(1 + beta/(2 n lambda))/epsilon at lambda = factor beta/(epsilon n)."""
    return rank * math.log1p(epsilon / (2 * factor)) / epsilon


def objective_share() -> Finding:
    """Exact delta of the objective's noise in one dimension; three records, epsilon = 0.5.

    Two records with loss 0 and a third of slope clip(theta - c, -1, 1) against slope 1, at the
    worst c of a grid.
    """
    epsilon, delta = 0.5, 1e-6
    std = printed_linear_std(1.0, epsilon, delta)
    rows = []
    for name, ridge in (
        ("as printed, r = 1", 1 / (epsilon * 3)),
        ("r = 2 rank", 2 / (epsilon * 3)),
        ("least proven", least_ridge(3, 1.0, epsilon / 4)),
    ):
        spent, centre = max(
            (_curved_excess(c, 6 * ridge, std, epsilon / 2), c) for c in np.arange(0.0, 200.0, 0.5)
        )
        rows.append((name, ridge, float(centre), spent, spent / (delta / 2)))
    return Finding(
        sentence=f"The objective's noise is given δ/2 = {delta / 2:g}; at the printed λ it spends "
        f"{rows[0][3]:.3g}, {rows[0][4]:.3g} times its share, and with r = 2·rank "
        f"{rows[1][3]:.2g}.",
        columns=("regulariser", "λ", "worst c", "δ spent at ε/2", "over its share"),
        rows=tuple(rows),
        shows=rows[0][4] > 1 > max(row[4] for row in rows[1:]),
    )


def _curved_excess(centre: float, slope: float, std: float, epsilon: float) -> float:
    """Return the hockey-stick divergence where the third loss is curved; slope is 2 n lambda."""
    theta = np.linspace(centre - 1, centre + 1, 8001)
    curved = _normal_density((theta - centre) + slope * theta, std) * (slope + 1)
    straight = _normal_density(1 + slope * theta, std) * slope
    excess = np.maximum(curved - math.exp(epsilon) * straight, 0.0)
    return float(np.sum((excess[1:] + excess[:-1]) / 2) * (theta[1] - theta[0]))


def _normal_density(x: np.ndarray, std: float) -> np.ndarray:
    density: np.ndarray = np.exp(-((x / std) ** 2) / 2) / (std * math.sqrt(2 * math.pi))
    return density


def accuracy_cap() -> Finding:
    """The explicit bound of Algorithm 1 at the printed and at the corrected accuracy."""
    rows = []
    for n in (10**3, 10**4, 10**5, 10**6):
        at = Objective(n=n, lipschitz=1.0, diameter=2.0, width=3.26, epsilon=0.5, delta=1e-6)
        printed, corrected = sum(explicit(at, 1.0, 1, printed=True)), sum(explicit(at, 1.0, 1))
        rate_here = sum(rate(at))
        rows.append((n, printed / rate_here, corrected / rate_here))
    return Finding(
        sentence=f"At the printed accuracy the bound is {rows[0][1]:.3g} times the theorem's rate "
        f"at n = {rows[0][0]:,} and {rows[-1][1]:.3g} times at n = {rows[-1][0]:,}: it has another "
        f"rate. At n^(5/2) it stays at {rows[-1][2]:.3g} times.",
        columns=("n", "bound / rate, n^(3/2)", "bound / rate, n^(5/2)"),
        rows=tuple(rows),
        shows=rows[-1][1] > 2 * rows[0][1] and rows[-1][2] <= 1.01 * rows[0][2],
    )


def stray_epsilon() -> Finding:
    """Theorem 4 with and without the epsilon of its first denominator."""
    rows = []
    for epsilon in (0.9, 0.1, 0.01, 0.001):
        at = Objective(n=10**6, lipschitz=1.0, diameter=2.0, width=2.0, epsilon=epsilon, delta=1e-6)
        printed, corrected = rate_strong(at, 1.0, printed=True), rate_strong(at, 1.0)
        rows.append((epsilon, printed[0], corrected[0], corrected[1]))
    return Finding(
        sentence=f"The sampling term has no privacy in it. As printed it is {rows[-1][1]:.3g} at "
        f"ε = {rows[-1][0]:g}, {rows[-1][1] / rows[-1][2]:.3g} times the error of learning without "
        "privacy.",
        columns=("ε", "first term as printed", "without the ε", "private term"),
        rows=tuple(rows),
        shows=rows[-1][1] > 100 * rows[-1][2],
    )


def mirror_index() -> Finding:
    """Twice Phi(1) over the squared norm of the all-ones vector; strong convexity needs 1."""
    q, rows = 1.5, []
    for d in (5, 20, 100, 1000):
        space = RegularSpace(d=d, exponent=q)
        kappa, ones = 1 / (q - 1), np.ones(d)
        printed = kappa * (lq_norm(ones, kappa / (kappa - 1)) / lq_norm(ones, q)) ** 2
        index = space.mirror_exponent
        used = space.kappa * (lq_norm(ones, index) / lq_norm(ones, q)) ** 2
        rows.append((d, kappa / (kappa - 1), printed, index, used))
    return Finding(
        sentence=f"In d = {rows[-1][0]} with q = {q:g} the printed potential, of index "
        f"{rows[-1][1]:.3g}, has {rows[-1][2]:.2g} of the growth that 1-strong convexity needs; "
        f"with the index {rows[-1][3]:.3g} it has {rows[-1][4]:.3g}.",
        columns=("d", "printed index", "growth", "corrected index", "growth, corrected"),
        rows=tuple(rows),
        shows=rows[-1][2] < 1 <= min(row[4] for row in rows),
    )


def kappa_without_e() -> Finding:
    """The regularity constant as printed and exact, where its logarithmic branch rules."""
    rows = []
    for d in (10, 100, 1000, 10_000):
        space = RegularSpace(d=d, exponent=1.01)
        rows.append((d, lq_rates.printed_kappa(d, 1.01), space.kappa))
    ratios = [exact / printed for _, printed, exact in rows]
    return Finding(
        sentence=f"The exact constant is {min(ratios):.3g} to {max(ratios):.3g} times the printed "
        "min{1/(q−1), 2 ln d}; noise that is calibrated to the printed one is short by the root.",
        columns=("d", "printed κ", "exact κ"),
        rows=tuple(rows),
        shows=min(ratios) > 1,
    )


def surface_area() -> Finding:
    """The normalising integral in d = 2, r = 4, by quadrature and by both readings of Area."""
    r, side = 4.0, np.linspace(-9, 9, 901)
    x, y = np.meshgrid(side, side)
    step = side[1] - side[0]
    integral = float(np.exp(-np.sqrt(x**r + y**r) / 2).sum() * step**2)
    angle = np.linspace(0, math.pi / 2, 200_001)
    radius = (np.cos(angle) ** r + np.sin(angle) ** r) ** (-1 / r)
    points = radius * np.vstack([np.cos(angle), np.sin(angle)])
    perimeter = 4 * float(np.hypot(*np.diff(points, axis=1)).sum())
    volume = math.exp(2 * (math.log(2) + math.lgamma(1 + 1 / r)) - math.lgamma(1 + 2 / r))
    rows = (
        ("quadrature", integral),
        ("Area = d · volume", 2 * volume),
        ("Area = surface measure", perimeter),
    )
    return Finding(
        sentence=f"The integral is {integral:.6f}. With d times the volume it comes out as "
        f"{rows[1][1]:.6f}, with the surface measure that is printed as {rows[2][1]:.6f}.",
        columns=("how", "normalising constant"),
        rows=rows,
        shows=abs(rows[1][1] - integral) < 1e-4 < abs(rows[2][1] - integral),
    )


def hidden_constant() -> Finding:
    """Algorithm 4's noise, over its printed expression without its constant."""
    rows = []
    for n, epsilon, delta in ((10**3, 0.05, 1e-5), (10**4, 0.05, 1e-6), (10**6, 0.01, 1e-8)):
        found = lemma_3_steps(n, epsilon, delta)
        assert found is not None
        printed = math.log(n / delta) * -math.log(delta) / (n * epsilon**2)
        rows.append((n, epsilon, 2 / found.rho_step, printed, 2 / found.rho_step / printed))
    return Finding(
        sentence=f"The constant that σ₁² hides behind O(·) is {min(row[4] for row in rows):.0f} to "
        f"{max(row[4] for row in rows):.0f} by the theorem's own proof.",
        columns=("n", "ε", "σ₁² over κ(βM+λ)²", "printed expression", "constant"),
        rows=tuple(rows),
        shows=min(row[4] for row in rows) > 100,
    )


def table_without_n() -> Finding:
    """The first term of Table 2 for q of at least 2, as n grows."""
    rows = []
    for n in (10**3, 10**5, 10**7):
        printed = lq_rates.heavy_euclidean(n, 100, 4.0, 0.5, printed=True)
        corrected = lq_rates.heavy_euclidean(n, 100, 4.0, 0.5)
        rows.append((n, printed[0], corrected[0]))
    return Finding(
        sentence=f"As printed the first term is {rows[-1][1]:.3g} for every n: learning would be "
        f"impossible. Over √n it is {rows[-1][2]:.3g} at n = {rows[-1][0]:,}.",
        columns=("n", "as printed", "over √n"),
        rows=tuple(rows),
        shows=rows[0][1] == rows[-1][1] and rows[-1][2] < rows[0][2],
    )


def lost_kappa() -> Finding:
    """Spread of a sum of N generalized Gaussian vectors in the smooth norm, by its Gaussian limit.

    Over N d sigma^2, which Theorem 10's rate takes it to be: coordinate variance times the mean
    square norm of a standard normal vector, from below by Jensen.
    """
    rows = []
    for d, r in ((10, 3.0), (50, 5.0), (200, 11.6)):
        log_second = (
            math.lgamma(3 / r) + math.lgamma(d / r) - math.lgamma(1 / r) - math.lgamma((d + 2) / r)
        )
        coordinate = d * math.exp(log_second)
        log_moment = r / 2 * math.log(2) + math.lgamma((r + 1) / 2) - math.lgamma(0.5)
        norm = math.exp((math.log(d) + log_moment) / r)  # (E ||g||_r^r)^(1/r)
        rows.append((d, r, coordinate, coordinate * norm**2 / d))
    return Finding(
        sentence=f"In d = {rows[-1][0]} at r = {rows[-1][1]:g} the sum is up to {rows[-1][3]:.3g} "
        "times as spread as the rate takes it to be: a sum of generalized Gaussian vectors is not "
        "one of them.",
        columns=("d", "r", "coordinate variance", "spread over N d σ², at most"),
        rows=tuple(rows),
        shows=rows[-1][3] > rows[0][3] > 1,
    )


def modulus_units() -> Finding:
    """The l2 modulus of a loss with modulus Delta = 1 in the norm of the set, by set; d = 20."""
    d, rows = 20, []
    for name, q in (("l2 ball", 2.0), ("cube", math.inf)):
        for radius in (0.5, 1.0, 5.0):
            reach = radius * norm_ratio(d, q, 2.0)
            rows.append((name, radius, 1.0, 1 / reach**2))
    unsafe = [row for row in rows if row[3] < row[2]]
    worst = min(rows, key=lambda row: row[3])
    return Finding(
        sentence=f"On the {worst[0]} of radius {worst[1]:g} the l2 modulus is {worst[3]:.2g}, and "
        f"the algorithm subtracts {worst[2]:g} from its regulariser; it subtracts too much on "
        f"{len(unsafe)} of these {len(rows)} sets.",
        columns=("set", "radius", "Δ that is subtracted", "l2 modulus"),
        rows=tuple(rows),
        shows=bool(unsafe),
    )
