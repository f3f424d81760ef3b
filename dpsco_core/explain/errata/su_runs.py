"""Experiments on Su, Zhao and Wang (2023)."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from dpsco_core.bounds.euclidean.objective import Objective, accuracy, rate, rate_strong
from dpsco_core.bounds.lq.rates import HEAVY_EUCLIDEAN
from dpsco_core.explain.errata.base import Finding, unit_setting
from dpsco_core.geometry.norms import lq_norm
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.mechanisms.shaped import lemma_3_steps
from dpsco_core.statements.su import algorithm_1_noise, theorem_2_ridge


def accuracy_cap() -> Finding:
    r"""Compare the bound of Remark 1 at both caps on alpha with the rate of Theorem 2.

    :math:`\|\hat\theta-\theta_2\|_2^2\le\sqrt{\alpha\ln(1/\delta)/\lambda}\,G_C/\varepsilon` at
    :math:`\lambda=L/(\sqrt n\|C\|_2)`, times the Lipschitz constant, with constants 1.
    """
    rows = []
    for n in (10**3, 10**4, 10**5, 10**6):
        objective = Objective(n=n, lipschitz=1.0, diameter=2.0, width=3.26, epsilon=0.5, delta=1e-6)
        rate_here = sum(rate(objective))
        errors = [
            _projected(objective, accuracy(objective, printed=printed)) for printed in (True, False)
        ]
        rows.append((n, *(error / rate_here for error in errors)))
    return Finding(
        sentence=f"At the printed accuracy the projected noise is {rows[0][1]:.3g} times the "
        f"theorem's rate at n = {rows[0][0]:,} and {rows[-1][1]:.3g} times at n = {rows[-1][0]:,}, "
        f"by Remark 1's inequality: another rate. At n^(5/2) it stays below {rows[-1][2]:.3g} "
        "times.",
        columns=("n", "noise / rate, n^(3/2)", "noise / rate, n^(5/2)"),
        rows=tuple(rows),
        shows=rows[-1][1] > 2 * rows[0][1] and all(row[2] <= 1 for row in rows),
    )


def _projected(objective: Objective, alpha: float) -> float:
    r"""Return the bound of Remark 1 on the projected noise, times L, at an accuracy of `alpha`.

    .. math:: L(\sqrt{\alpha\ell/\lambda}\,G/\varepsilon)^{1/2}
    """
    ridge = theorem_2_ridge(objective.n, objective.lipschitz, objective.diameter)
    square = math.sqrt(alpha * objective.log_delta / ridge) * objective.width / objective.epsilon
    return objective.lipschitz * math.sqrt(square)


def stray_epsilon() -> Finding:
    """Compare the rate of Theorem 4 with and without the epsilon of its first denominator."""
    rows = []
    for epsilon in (0.9, 0.1, 0.01, 0.001):
        objective = Objective(
            n=10**9, lipschitz=1.0, diameter=2.0, width=2.0, epsilon=epsilon, delta=1e-6
        )
        printed, corrected = rate_strong(objective, 1.0, printed=True), rate_strong(objective, 1.0)
        rows.append((epsilon, printed[0], corrected[0], corrected[1]))
    return Finding(
        sentence=f"The sampling term has no privacy in it. As printed it is {rows[-1][1]:.3g} at "
        f"ε = {rows[-1][0]:g}, {rows[-1][1] / rows[-1][2]:,.0f} times the error of learning "
        "without privacy.",
        columns=("ε", "first term as printed", "without the ε", "private term"),
        rows=tuple(rows),
        shows=rows[-1][1] > 100 * rows[-1][2],
    )


def mirror_index() -> Finding:
    """Compute twice the potential of the all-ones vector over its squared l_q norm.

    A potential that is 1-strongly convex has at least 1 here.
    """
    q, rows = 1.5, []
    for d in (5, 20, 100, 1000):
        space = RegularSpace(d=d, exponent=q)
        kappa, all_ones = 1 / (q - 1), np.ones(d)
        printed = kappa * (lq_norm(all_ones, kappa / (kappa - 1)) / lq_norm(all_ones, q)) ** 2
        index = space.mirror_exponent
        constant = space.kappa * (lq_norm(all_ones, index) / lq_norm(all_ones, q)) ** 2
        rows.append((d, kappa / (kappa - 1), printed, index, constant))
    return Finding(
        sentence=f"In d = {rows[-1][0]} with q = {q:g} the printed potential, of index "
        f"{rows[-1][1]:.3g}, has {rows[-1][2]:.2g} of the growth that 1-strong convexity needs; "
        f"with the index {rows[-1][3]:.3g} it has {rows[-1][4]:.3g}.",
        columns=("d", "printed index", "growth", "corrected index", "growth, corrected"),
        rows=tuple(rows),
        shows=rows[-1][2] < 1 <= min(row[4] for row in rows),
    )


def kappa_without_e() -> Finding:
    """Compare the printed regularity constant with the exact one, in its logarithmic branch."""
    spaces = [RegularSpace(d=d, exponent=1.01) for d in (10, 100, 1000, 10_000)]
    rows = [(space.d, space.printed_kappa, space.kappa) for space in spaces]
    ratios = [exact / printed for _, printed, exact in rows]
    return Finding(
        sentence=f"The constant of the smooth norm is {min(ratios):.3g} to {max(ratios):.3g} times "
        "the printed min{1/(q−1), 2 ln d}; Lemma 3's noise at the printed one is short by the "
        "root.",
        columns=("d", "printed κ", "exact κ"),
        rows=tuple(rows),
        shows=min(ratios) > 1,
    )


def surface_area() -> Finding:
    """Compare the normalising integral by quadrature with both readings of Area.

    It is for d = 2 and r = 4.
    """
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
    """Compare the noise of Algorithm 4 with its printed expression, which has no constant."""
    rows = []
    for n, epsilon, delta in ((10**3, 0.05, 1e-5), (10**4, 0.01, 1e-6), (10**6, 0.005, 1e-8)):
        shuffled = lemma_3_steps(n, epsilon, delta)
        assert shuffled is not None
        printed = math.log(n / delta) * -math.log(delta) / (n * epsilon**2)
        rows.append((n, epsilon, 2 / shuffled.rho_step, printed, 2 / shuffled.rho_step / printed))
    return Finding(
        sentence=f"The constant that σ₁² hides behind O(·) is {min(row[4] for row in rows):.0f} to "
        f"{max(row[4] for row in rows):.0f} by the closed form of the shuffle and Lemma 3.",
        columns=("n", "ε", "σ₁² over κ(βM+λ)²", "printed expression", "constant"),
        rows=tuple(rows),
        shows=min(row[4] for row in rows) > 100,
    )


def table_without_n() -> Finding:
    """Evaluate the first term of Table 2 for q of at least 2, as n grows."""
    rows = []
    over_root = replace(HEAVY_EUCLIDEAN, unit="")
    in_table = over_root.drop("/sqrt(n)")
    for n in (10**3, 10**5, 10**7):
        budget = ApproxDP(epsilon=0.5, delta=1e-6)
        setting = replace(unit_setting(100, 2.0, budget=budget, n=n), exponent=4.0)
        printed, corrected = (rate(setting)["sampling"] for rate in (in_table, over_root))
        rows.append((n, printed, corrected))
    return Finding(
        sentence=f"As printed the first term is {rows[-1][1]:.3g} for every n: learning would be "
        f"impossible. Over √n it is {rows[-1][2]:.3g} at n = {rows[-1][0]:,}.",
        columns=("n", "as printed", "over √n"),
        rows=tuple(rows),
        shows=rows[0][1] == rows[-1][1] and rows[-1][2] < rows[0][2],
    )


@dataclass(frozen=True, kw_only=True)
class Curved:
    r"""Two neighbouring data sets of losses on [-R, R], all with L = 1, for Algorithm 2.

    Every record has the loss :math:`\frac\mu2\theta^2` with :math:`\mu R^2=\Delta=
    \beta/(\varepsilon n)`, so that :math:`\lambda=0`. To one record a convex function is added,
    whose slope rises from -s to s on [-w, w] in the one data set and is s everywhere in the
    other; :math:`s=1-\mu R`. (Its two kinks can be rounded off without a change of what is
    computed.)
    """

    radius: float  # the radius R, which is the l2 norm of the set's boundary points
    n: int = 1000
    epsilon: float = 0.5
    delta: float = 1e-6
    smoothness: float = 10.0  # the smoothness beta, which the curved record attains

    @property
    def modulus(self) -> float:
        r"""The modulus of strong convexity :math:`\Delta` of Theorem 3, in the norm of the set."""
        return self.smoothness / (self.epsilon * self.n)

    @property
    def curvature(self) -> float:
        r"""The curvature :math:`\mu=\Delta/R^2` of every record."""
        return self.modulus / self.radius**2

    @property
    def slope(self) -> float:
        """The slope s that a record's curvature leaves of the Lipschitz constant L = 1."""
        return 1 - self.curvature * self.radius

    @property
    def half_width(self) -> float:
        """The half-width w of the interval on which the slope grows as fast as beta allows."""
        return self.slope / (self.smoothness - self.curvature)

    @property
    def ridge(self) -> float:
        """The weight lambda of the ridge that the paper prints, for records of rank r = 1."""
        return max(self.smoothness / (self.epsilon * self.n) - self.modulus, 0.0)

    def chances(self) -> tuple[float, float]:
        r"""Return the probabilities of a minimiser in [-w, w], with and without the curved record.

        The objective is minimised exactly (:math:`\alpha=0`), so that H is 0. The minimiser lies in
        the interval if -G lies between the slopes at -w and at w of n times the rest of the
        objective. These slopes differ by :math:`2(n\mu+2n\lambda)w`, and by 2s more with the curved
        record.
        """
        std = algorithm_1_noise(1.0, self.epsilon, self.delta)
        stiff = self.n * (self.curvature + 2 * self.ridge) * self.half_width
        curved = ndtr((stiff + self.slope) / std) - ndtr(-(stiff + self.slope) / std)
        straight = ndtr((stiff - self.slope) / std) - ndtr((-stiff - self.slope) / std)
        return float(curved), float(straight)


def modulus_units() -> Finding:
    """Compute how likely the minimisers on two neighbouring data sets of Theorem 3 are near 0."""
    rows = []
    for radius in (1.0, 1.25, 2.0, 5.0):
        curved_loss = Curved(radius=radius)
        curved, straight = curved_loss.chances()
        excess = max(0.0, curved - math.exp(curved_loss.epsilon) * straight)
        rows.append(
            (
                radius,
                curved_loss.modulus / radius**2,
                curved,
                straight,
                excess,
                excess / curved_loss.delta,
            )
        )
    row = rows[2]
    return Finding(
        sentence=f"On [−{row[0]:g}, {row[0]:g}] the exact minimiser is near 0 with probability "
        f"{row[2]:.3g}, and with another record in place of one of {curved_loss.n} with "
        f"{row[3]:.3g}: at ε = {curved_loss.epsilon:g} that needs a δ of {row[4]:.2g}, and "
        f"{curved_loss.delta:g} is claimed.",
        columns=("R", "l2 modulus", "chance", "chance, neighbour", "δ at least", "over claim"),
        rows=tuple(rows),
        shows=all(row[5] > 100 for row in rows[1:]) and rows[0][5] <= 1,
    )
