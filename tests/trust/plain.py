"""A second, plain accounting: exact sums of shares, and the Gaussian curve with 40 digits."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

import numpy as np
from mpmath import erfc, exp, mp, mpf, sqrt
from numpy.typing import NDArray
from scipy.special import ndtr

from dpsco_core.privacy import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.privacy.entries import Entry

PURE = ("laplace", "spherical laplace", "pure objective perturbation")
CHOICE = "exponential"
CURVED = ("gaussian",)
CONCENTRATED = ("generalized gaussian",)
TOLERANCE = 1e-12
Array = NDArray[np.float64]
SPARE = 1.015  # A budget with choices must not allow this factor more rho.


@dataclass(frozen=True)
class Spent:
    """Sums of shares: of Gaussian rho, other rho, pure epsilon, and whole (epsilon, delta)."""

    gaussian: Fraction
    other_rho: Fraction
    pure: Fraction
    epsilon: Fraction
    delta: Fraction
    choices: tuple[float, ...] = ()  # The epsilons of exponential mechanisms, in their order.
    choices_first: bool = True  # Whether all choices come before all noise.
    concentrated: Fraction = Fraction(0)  # The rho of the pure shares, each at its own cost.


def plain_shares(entries: tuple[Entry, ...]) -> Spent:
    """Return the sums of what entries spend: all entries outside partitions, and the most expensive
    part of each partition.
    """
    parts: dict[object, list[Fraction]] = defaultdict(lambda: [Fraction(0)] * 6)
    choices: list[float] = []
    chosen: dict[object, dict[object, list[float]]] = defaultdict(lambda: defaultdict(list))
    choices_are_first = True
    for entry in entries:
        kind = entry.mechanism
        if kind == CHOICE:
            assert entry.size == 1
            assert math.isclose(entry.rho, plain_rho(kind, entry.epsilon), rel_tol=1e-14)
            choices_are_first = choices_are_first and not parts
            if entry.part is None:
                choices.append(entry.epsilon)
            else:
                chosen[entry.part[0]][entry.part].append(entry.epsilon)
            continue
        rho, epsilon, delta = map(Fraction, (entry.rho, entry.epsilon, entry.delta))
        zero = Fraction(0)
        share = [zero, zero, zero, epsilon, delta, zero]
        if kind in CURVED:
            share = [rho, zero, zero, zero, zero, zero]
        elif kind in CONCENTRATED:
            share = [zero, rho, zero, zero, zero, zero]
        elif kind in PURE:
            cost = Fraction(plain_rho(kind, entry.epsilon))
            share = [zero, zero, epsilon, zero, zero, cost]
        parts[entry.part] = [x + y for x, y in zip(parts[entry.part], share, strict=True)]
    # Of each position in the blocks the most expensive choice counts.
    for blocks_of in chosen.values():
        choices += [max(place) for place in zip_longest(*blocks_of.values(), fillvalue=0.0)]
    partitions: dict[object, list[list[Fraction]]] = defaultdict(list)
    for part, share in parts.items():
        partitions[part if part is None else part[0]].append(share)  # type: ignore[index]
    total = [Fraction(0)] * 6
    for blocks in partitions.values():
        total = [
            t + max(column) for t, column in zip(total, zip(*blocks, strict=True), strict=True)
        ]
    *sums, concentrated = total
    return Spent(
        *sums, choices=tuple(choices), choices_first=choices_are_first, concentrated=concentrated
    )


def plain_rho(kind: str, epsilon: float) -> float:
    """Return the least rho of a pure release, with 40 digits (theory/pure-releases.md, 1 and 2)."""
    with mp.workdps(40):
        size = mpf(epsilon)
        if kind == "laplace":
            return float(size + exp(-size) - 1)
        gaussian_cost = size * mp.tanh(size / 2)
        return float(min(size**2 / 8, gaussian_cost) if kind == CHOICE else gaussian_cost)


def spends(spent: Spent, budget: Budget, *, whole: bool = True) -> bool:
    """Whether the shares are the budget to 1e-12 or, if not `whole`, fit into the budget."""
    if spent.choices:
        return _with_choices(spent, budget, whole)
    match budget:
        case PureDP(epsilon=epsilon):
            has_other_costs = spent.gaussian or spent.other_rho or spent.epsilon or spent.delta
            return not has_other_costs and _is_close(spent.pure, epsilon, whole)
        case ZCDP(rho=rho):
            spent_part = spent.gaussian + spent.other_rho + spent.concentrated
            return not spent.epsilon and not spent.delta and _is_close(spent_part, rho, whole)
        case ApproxDP(epsilon=epsilon, delta=delta):
            if spent.epsilon:
                # The costs of both kinds are added by basic composition.
                if spent.gaussian or spent.other_rho or spent.pure:
                    rest = delta - float(spent.delta)
                    spent_part = gaussian_delta(
                        float(spent.gaussian), epsilon - float(spent.epsilon)
                    )
                    return spent_part <= rest * (1 + 1e-9)
                return _is_close(spent.epsilon, epsilon, whole) and _is_close(
                    spent.delta, delta, whole
                )
            if spent.pure and not spent.gaussian:
                return _is_close(spent.pure, epsilon, whole)
            if spent.other_rho:
                spent_part = zcdp_delta(float(spent.gaussian + spent.other_rho), epsilon)
            else:
                spent_part = gaussian_delta(float(spent.gaussian), epsilon)
            # The curve is steep, so a relative 1e-12 of rho is at most 1e-9 of delta here.
            return spent_part <= delta * (1 + 1e-9) and (
                not whole or spent_part >= delta * (1 - 1e-9)
            )
    raise AssertionError(budget)


def _with_choices(spent: Spent, budget: Budget, whole: bool) -> bool:
    """Return whether exponential mechanisms, and then noise of one kind, spend the budget or, if
    not `whole`, at most the budget.
    """
    chosen = sum(map(Fraction, spent.choices))
    has_others = spent.other_rho or spent.epsilon or spent.delta
    match budget:
        case PureDP(epsilon=epsilon):
            pure = not has_others and not spent.gaussian
            return pure and _is_close(spent.pure + chosen, epsilon, whole)
        case ZCDP(rho=rho):
            costs = sum(Fraction(plain_rho(CHOICE, e)) for e in spent.choices)
            return (
                not has_others and not spent.pure and _is_close(spent.gaussian + costs, rho, whole)
            )
        case ApproxDP(epsilon=epsilon, delta=delta):
            if (
                not spent.gaussian
                and not has_others
                and _is_close(spent.pure + chosen, epsilon, whole)
            ):
                return True  # Choices alone add up their epsilons.
            # The recursion holds only where all choices come before all noise.
            rule = choices_delta if spent.choices_first else pairs_delta
            target = np.array([epsilon])
            spent_delta = float(rule(float(spent.gaussian), spent.choices, target)[0])

            def exceeds_with_more() -> bool:
                """Return whether 1.5 % more rho would exceed delta, which is steep where epsilon is
                small.
                """
                enlarged_choices = tuple(math.sqrt(SPARE) * e for e in spent.choices)
                return (
                    float(rule(SPARE * float(spent.gaussian), enlarged_choices, target)[0]) > delta
                )

            # A fine grid gives the exact delta from below; the ledger's coarser cells lose a
            # little.
            ledgers = delta * (1 + 1e-9)
            return (
                not has_others
                and not spent.pure
                and spent_delta <= ledgers
                and (not whole or spent_delta >= 0.9 * delta or exceeds_with_more())
            )
    raise AssertionError(budget)


def choices_delta(rho: float, choices: tuple[float, ...], epsilons: Array) -> Array:
    """Return delta at each epsilon of choices before Gaussian noise, the supremum over a fine grid
    of t.
    """
    if not choices:
        if rho == 0:
            return np.maximum(-np.expm1(epsilons), 0.0)
        mu = math.sqrt(2 * rho)
        return ndtr(mu / 2 - epsilons / mu) - np.exp(epsilons) * ndtr(-mu / 2 - epsilons / mu)
    choice, best = choices[0], np.zeros_like(epsilons)
    for t in np.linspace(0.0, choice, 101):
        p = math.expm1(choice - t) / (math.exp(choice - t) - math.exp(-t))
        upper, lower = (choices_delta(rho, choices[1:], epsilons - t + up) for up in (0.0, choice))
        best = np.maximum(best, p * upper + (1 - p) * lower)
    return best


def pairs_delta(rho: float, choices: tuple[float, ...], epsilons: Array) -> Array:
    """Return delta of choices and Gaussian noise in any order, from their dominating pairs.

    A pair's loss has the density :math:`e^{x/2}/(4\\sinh(\\varepsilon_1/2))` on
    :math:`|x|\\le\\varepsilon_1`; sums of losses by Gauss's quadrature.
    """
    nodes, weights = np.polynomial.legendre.leggauss(16)
    losses, masses = np.zeros(1), np.ones(1)
    for choice in choices:
        mass = choice * weights * np.exp(choice * nodes / 2) / (4 * math.sinh(choice / 2))
        losses = np.add.outer(losses, choice * nodes).ravel()
        masses = np.multiply.outer(masses, mass).ravel()
    curves = [masses @ choices_delta(rho, (), x - losses) for x in epsilons]
    return np.array(curves)


def _is_close(spent: Fraction, allowed: float, whole: bool) -> bool:
    """Return whether at most what is allowed was spent and, if `whole`, all of it."""
    ratio = spent / Fraction(allowed)
    return ratio <= 1 + TOLERANCE and (not whole or ratio >= 1 - TOLERANCE)


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Return delta at epsilon of Gaussian noise that is rho-zCDP (Balle and Wang 2018)."""
    with mp.workdps(40):
        mu = sqrt(2 * mpf(rho))
        low, high = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        return float(erfc(low / sqrt(2)) / 2 - exp(epsilon) * erfc(high / sqrt(2)) / 2)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return the least delta at epsilon that rho-zCDP implies (Canonne et al. 2020), by search."""
    with mp.workdps(40):
        best = mpf(1)
        low, high = mpf("1e-9"), mpf("1e6")

        def delta(shift: mpf) -> mpf:
            """Return the delta of rho-zCDP at order 1 + shift."""
            alpha = 1 + shift
            log = (alpha - 1) * (alpha * rho - epsilon) - mp.log(alpha)
            return exp(log + (alpha - 1) * mp.log(1 - 1 / alpha)) if alpha > 1 else mpf(1)

        for _ in range(200):  # Golden-section search on the logarithm; the function is unimodal.
            left, right = low * (high / low) ** mpf("0.382"), low * (high / low) ** mpf("0.618")
            low, high = (low, right) if delta(left) < delta(right) else (left, high)
            best = min(best, delta(left), delta(right))
        return float(best)
