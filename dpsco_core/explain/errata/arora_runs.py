"""Experiments on Arora, Marinov and Ullah (2020)."""

import math

from dpsco_core.bounds.euclidean.private_sgd import (
    expected_steps,
    gradient_steps,
    printed_noise,
    printed_step,
    remark,
    sharp,
    sound_noise,
    theorem_parameters,
    utility,
)
from dpsco_core.explain.errata.base import Finding, unit_setting
from dpsco_core.privacy.budget import ApproxDP, Budget, gaussian_delta, gaussian_rho
from dpsco_core.problems.base import Setting

# the epsilon and the delta for which Theorem 6 and Remark 1 are applied
TARGET_EPSILON, TARGET_DELTA = 0.1, 1e-6


def _setting(n: int, d: int, budget: Budget, diameter: float) -> Setting:
    """Return a setting with L = 1, for the formulas of the paper."""
    return unit_setting(d, 2.0, budget=budget, n=n, diameter=diameter, lipschitz=1.0)


def one_step() -> Finding:
    """Compare the delta that Lemma 2 claims for a step with the exact one.

    The loss is f(w, z) = zw, with z = +L in one data set and -L in the other.
    """
    rows = []
    for local, delta, n in ((1.0, 1e-5, 100), (0.5, 1e-8, 10_000), (1.0, 1e-6, 1000)):
        share = 1 / n  # The lemma's share m/|S|, with one record per step.
        # The noise of Lemma 2 has this standard deviation, in units of the Lipschitz constant.
        std = math.sqrt(-3 * math.log(delta)) / local
        claimed = share * math.expm1(local)
        inner = math.log1p(math.expm1(claimed) / share)
        actual = share * gaussian_delta(2 / std**2, inner)  # The two gradients differ by 2L.
        rows.append((local, delta, n, share * delta, actual, actual / (share * delta)))
    return Finding(
        sentence=f"At n = {rows[0][2]}, ε̃ = {rows[0][0]:g} the step claims δ = {rows[0][3]:.2g} "
        f"and has {rows[0][4]:.3g}, {rows[0][5]:.3g} times as much; at n = {rows[1][2]:,} "
        f"{rows[1][5]:.3g} times.",
        columns=("ε̃", "δ", "n", "claimed δ of a step", "exact δ", "over claim"),
        rows=tuple(rows),
        shows=all(row[5] > 1 for row in rows),
    )


def second_order() -> Finding:
    r"""Compare the second-order term of Theorem 5 with bounds on the divergence.

    The proof bounds the divergence of a step by :math:`\epsilon_0(e^{\epsilon_0}-1)`; the least
    bound is :math:`\epsilon_0\tanh(\epsilon_0/2)`, that of randomised response.
    """
    n, rows = 100, []
    for local in (0.25, 0.5, 1.0, 1.256):
        step = math.expm1(local) / n
        unit = (n / local) ** 2
        rows.append(
            (local, step * math.expm1(step) * unit, step * math.tanh(step / 2) * unit, 4.0, 8.0)
        )
    return Finding(
        sentence=f"The proof's two inequalities give 8 τε̃²/n². Its bound on the divergence is "
        f"{rows[-1][1]:.4g} τε̃²/n² at ε̃ = {rows[-1][0]:g}, above the printed 4; the least one is "
        f"{rows[-1][2]:.3g}, below it.",
        columns=("ε̃", "proof's bound, n = 100", "least bound", "printed", "by the inequalities"),
        rows=tuple(rows),
        shows=rows[-1][1] > 4 and all(row[2] < 4 for row in rows),
    )


def utility_constants() -> Finding:
    """Compare the printed constant of Theorem 4 with the sum over the real steps."""
    d, distance, noise, rows = 5, 1.0, 2.0, []
    for n in (16, 100, 1000, 100_000):
        setting = _setting(n, d, ApproxDP(epsilon=TARGET_EPSILON, delta=TARGET_DELTA), distance)
        # The set's centre has this distance from the minimiser.
        doubled = _setting(n, d, setting.budget, 2 * distance)
        printed = sum(utility(setting, noise))
        exact = sum(sharp(doubled, noise, step=printed_step(setting, noise, distance)))
        rows.append((n, 2.5, 2.5 * exact / printed, gradient_steps(n), expected_steps(n)))
    return Finding(
        sentence=f"The sum over the real steps has constant {rows[-1][2]:.4g} at n = "
        f"{rows[-1][0]:,}, and the theorem prints 2.5: true, and loose. Its own derivation gives "
        "5.",
        columns=("n", "printed constant", "sharp", "gradient steps", "mean number of steps"),
        rows=tuple(rows),
        shows=all(row[2] < 1 + math.log(2) < 2.5 for row in rows),
    )


def noise_of_the_theorem() -> Finding:
    """Compare the noise of Theorem 6 with that of no amplification and of sound shuffling.

    All are deviations over L at one target.
    """
    epsilon, delta, rows = TARGET_EPSILON, TARGET_DELTA, []
    target = ApproxDP(epsilon=epsilon, delta=delta)
    plain = 2 / math.sqrt(2 * gaussian_rho(epsilon, delta))
    for n in (1000, 5000, 10_000, 13_000):
        setting = _setting(n, 1, target, 1.0)
        own_epsilon, own_delta = theorem_parameters(n, target)
        budget = ApproxDP(epsilon=own_epsilon, delta=own_delta)
        rows.append((n, printed_noise(setting, budget), plain, sound_noise(setting)))
    return Finding(
        sentence=f"For ({epsilon:g}, {delta:g})-DP at n = {rows[0][0]:,} the theorem's noise is "
        f"{rows[0][1] / rows[0][2]:.3g} times what is enough without any amplification, and "
        f"{rows[0][1] / rows[0][3]:.3g} times what a sound accountant of the shuffle asks for; at "
        f"n = {rows[-1][0]:,} amplification has begun to pay.",
        columns=("n", "Theorem 6", "no amplification", "sound shuffling"),
        rows=tuple(rows),
        shows=rows[0][1] > rows[0][2] > rows[0][3] and rows[-1][1] < rows[-1][2],
    )


def vacuous_remark() -> Finding:
    """Evaluate the bound of Remark 1 at its own largest epsilon and at that of Theorem 6.

    The bounds are in units of L D, for d = 1.
    """
    delta, rows = TARGET_DELTA, []
    for n in (1000, 5000, 10_000, 30_000, 100_000):
        bound = 8 * math.sqrt(math.log(3 / delta) / n)
        budgets = [ApproxDP(epsilon=cap, delta=delta) for cap in (bound, bound / 2)]
        bounds = [sum(remark(_setting(n, 1, budget, 1.0), budget)) for budget in budgets]
        rows.append((n, bound, *bounds))
    smallest_n = next(n for n, _, bound, _ in rows if bound < 1)
    return Finding(
        sentence=f"The first iterate has an excess risk of at most 1; the remark promises "
        f"{rows[0][2]:.3g} at n = {rows[0][0]:,}, and less than 1 only from about "
        f"n = {smallest_n:,} on, for d = 1.",
        columns=("n", "largest ε", "bound over L D", "at Theorem 6's largest ε"),
        rows=tuple(rows),
        shows=rows[1][2] > 1 > rows[-1][2],
    )


def delta_sums() -> Finding:
    """Compare the printed delta of Theorem 6 with the one that Theorem 5 gives.

    It is for tau = 2n and delta' = delta.
    """
    deltas = (1e-3, 1e-6, 1e-9)
    rows = tuple((delta, 2 * delta, 3 * delta, 2 * delta ** (16 / 3)) for delta in deltas)
    return Finding(
        sentence="The chain gives 2δ + δ′ where δ + δ′ is printed. The noise's constant 8 is more "
        f"than the 2√3 that two gradients need, which leaves {rows[0][3]:.2g} for 2δ at "
        f"δ = {rows[0][0]:g}.",
        columns=("δ", "printed δ + δ′", "by Theorem 5", "2δ at the real noise"),
        rows=rows,
        shows=all(row[2] > row[1] and row[3] < row[0] for row in rows),
    )
