"""Exponential mechanisms with Gaussian noise: valid and close bounds, and early refusals.

The second evaluations are the recursion on a grid of t that is fifty times finer and, for fixed
pairs, dp-accounting's composition of the finely discretised dominating pair with Gaussian noise.
Faults that these tests would catch: the probability at the wrong end of a cell, a Gaussian release
before a choice that the recursion ignores, and a choice that is not charged.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from numpy.typing import NDArray

from dpsco_core.base.errors import InvalidInput
from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    BudgetExceeded,
    Exponential,
    GaussianNoise,
    Ledger,
    PureDP,
    SphericalLaplaceNoise,
    choice_epsilon,
    gaussian_delta,
    gaussian_rho,
    selection_rho,
    zcdp_rho,
)
from dpsco_core.privacy.mechanisms import PrivateChoice
from dpsco_core.privacy.selection import (
    Choices,
    Shares,
    gaussian_deltas,
    selection_delta,
    selection_epsilon,
)
from tests.folded import crossed

BUDGETS = ((0.1, 1e-6), (1.0, 1e-6), (5.0, 1e-6), (1.0, 1e-3))
GUARDED: Shares = ((0.02, 1), (0.02, 1))
SINGLE: Shares = ((0.03, 1),)
LOOKS: Shares = ((0.05, 3),)
CENTRED: Shares = ((0.05, 20), (0.02, 1), (0.02, 1))


def make_choice(
    scores: NDArray[np.float64],
    epsilon: float,
    sensitivity: float = 1.0,
    log_base: NDArray[np.float64] | None = None,
) -> PrivateChoice:
    """Return a private choice among these scores."""
    mechanism = Exponential(sensitivity=sensitivity, epsilon=epsilon, log_base=log_base)
    return PrivateChoice(mechanism, scores)


def choices_of(rho: float, shares: Shares) -> Choices:
    """Return the epsilon and the count of choices that share rho in these fractions."""
    return tuple((choice_epsilon(f * rho, count), count) for f, count in shares)


@pytest.mark.parametrize("rho", [1e-9, 0.01, 0.49, 0.51, 5.0, 400.0])
def test_many_deltas_are_those_of_the_gaussian_curve(rho: float) -> None:
    epsilons = np.array([0.0, 1e-9, 0.1, 1.0, 3.0, 17.0, 300.0])
    expected = [gaussian_delta(rho, e) for e in epsilons]
    assert gaussian_deltas(rho, epsilons) == pytest.approx(expected, rel=1e-12, abs=1e-300)
    # The other direction of the likelihood ratio is taken at negative epsilons.
    mirrored = [
        1 - math.exp(-e) + math.exp(-e) * d for e, d in zip(epsilons, expected, strict=True)
    ]
    assert gaussian_deltas(rho, -epsilons) == pytest.approx(mirrored, rel=1e-10, abs=1e-300)


def fine_recursion(epsilon: float, rho: float, epsilons: list[float], cells: int) -> float:
    """Return the supremum over a grid of t of the composed delta, a lower bound that tends to the
    exact curve.
    """

    def curve(points: NDArray[np.float64], remaining: list[float]) -> NDArray[np.float64]:
        """Return the largest delta at each epsilon, over the choices that remain."""
        if not remaining:
            return gaussian_deltas(rho, points)
        epsilon = remaining[0]
        best = np.zeros_like(points)
        for t in np.linspace(0.0, epsilon, cells + 1):
            p = (
                math.expm1(epsilon - t) / (math.exp(epsilon - t) - math.exp(-t))
                if t < epsilon
                else 0.0
            )
            mixed = p * curve(points - t, remaining[1:]) + (1 - p) * curve(
                points - t + epsilon, remaining[1:]
            )
            best = np.maximum(best, mixed)
        return best

    return float(curve(np.array([epsilon]), epsilons)[0])


@pytest.mark.parametrize(("shares", "budget"), crossed(2, [SINGLE, GUARDED], BUDGETS))
def test_the_recursion_is_above_a_fine_one_and_close_to_it(
    budget: tuple[float, float], shares: Shares
) -> None:
    epsilon, _ = budget
    rho = gaussian_rho(*budget)
    choices = choices_of(rho, shares)
    rest = rho * (1 - sum(f for f, _ in shares))
    coarse = selection_delta(epsilon, rest, choices, choices_first=True)
    fine = fine_recursion(epsilon, rest, [e for e, _ in choices], 1200 if len(shares) == 1 else 96)
    assert fine <= coarse * (1 + 1e-12)
    assert coarse <= 1.06 * fine


def finely_cut_pair(epsilon: float, cells: int) -> tuple[dict[int, float], dict[int, float]]:
    """Return the log masses of the dominating pair in cells of its privacy loss."""
    x = np.linspace(-epsilon, epsilon, cells + 1)
    above_p = -np.expm1((x - epsilon) / 2) / -math.expm1(-epsilon)
    above_q = (np.exp(-(x + epsilon) / 2) - math.exp(-epsilon)) / -math.expm1(-epsilon)
    mass, neighbour_mass = (np.log(-np.diff(a)) for a in (above_p, above_q))
    return dict(enumerate(mass)), dict(enumerate(neighbour_mass))


@pytest.mark.parametrize(
    ("shares", "budget"), crossed(2, [SINGLE, LOOKS, ((0.05, 40), (0.04, 2))], BUDGETS[1:])
)
def test_fixed_pairs_are_above_another_accountants_composition_and_close_to_it(
    budget: tuple[float, float], shares: Shares
) -> None:
    epsilon, _ = budget
    rho = gaussian_rho(*budget)
    rest = rho * (1 - sum(f for f, _ in shares))
    noise = 1 / math.sqrt(2 * rest)
    step = 5e-5 * epsilon
    composed = pld.from_gaussian_mechanism(
        noise, value_discretization_interval=step, pessimistic_estimate=False
    )
    for choice, count in choices_of(rho, shares):
        q, p = finely_cut_pair(choice, 400)
        single_pld = pld.from_two_probability_mass_functions(
            q, p, value_discretization_interval=step, pessimistic_estimate=False
        )
        composed = composed.compose(single_pld.self_compose(count))
    expected = composed.get_delta_for_epsilon(epsilon)
    exact = selection_delta(epsilon, rest, choices_of(rho, shares), choices_first=False)
    assert expected <= exact * (1 + 1e-9)
    assert exact <= 1.15 * expected


@pytest.mark.parametrize(
    ("shares", "choices_first", "lower_ratio", "upper_ratio"),
    [
        (SINGLE, True, 0.994, 1.0),
        (GUARDED, True, 0.994, 1.0),
        (((0.1, 1),), True, 0.994, 1.0),
        (LOOKS, False, 0.984, 0.9866),
        (CENTRED, False, 0.971, 0.9745),
        (((0.05, 100), (0.02, 1), (0.02, 1)), False, 0.971, 0.9745),
        (GUARDED, False, 0.987, 0.9905),
    ],
)
def test_choices_leave_nearly_all_of_the_gaussian_rho(
    shares: Shares, choices_first: bool, lower_ratio: float, upper_ratio: float
) -> None:
    for epsilon, delta in BUDGETS:
        budget = ApproxDP(epsilon=epsilon, delta=delta)
        exact = gaussian_rho(epsilon, delta)
        ratio = selection_rho(budget, shares, choices_first=choices_first) / exact
        assert lower_ratio <= ratio <= upper_ratio, (epsilon, delta, ratio)
        assert ratio > zcdp_rho(epsilon, delta) / exact + 0.08


def test_any_number_of_choices_is_accounted_for() -> None:
    budget = ApproxDP(epsilon=1.0, delta=1e-6)
    exact = gaussian_rho(1.0, 1e-6)
    budgets = [
        selection_rho(budget, ((0.05, count),), choices_first=False) / exact
        for count in (1, 30, 1000, 100_000)
    ]
    assert min(budgets) > 0.982 and max(budgets) < 0.99


@pytest.mark.parametrize("choices", [((0.3, 1),), ((0.3, 1), (0.2, 2)), ((0.01, 50),)])
@pytest.mark.parametrize("rho", [0.0, 0.03, 2.0])
@pytest.mark.parametrize("choices_first", [True, False])
def test_epsilon_and_delta_are_inverse_and_between_the_simple_bounds(
    choices: Choices, rho: float, choices_first: bool
) -> None:
    delta = 1e-5
    epsilon = selection_epsilon(delta, rho, choices, choices_first=choices_first)
    assert selection_delta(epsilon, rho, choices, choices_first=choices_first) <= delta
    assert selection_delta(
        epsilon * (1 - 1e-9), rho, choices, choices_first=choices_first
    ) > delta * (1 - 1e-6)
    basic = math.fsum(e * count for e, count in choices)
    if rho:
        gaussian_only = next(
            e for e in np.geomspace(1e-3, 100, 4000) if gaussian_delta(rho, e) <= delta
        )
        basic += gaussian_only
        assert epsilon >= gaussian_only * 0.99
    assert epsilon <= basic


@pytest.mark.parametrize(
    "budget", [ZCDP(rho=0.5), *(ApproxDP(epsilon=e, delta=d) for e, d in BUDGETS)]
)
@pytest.mark.parametrize(
    ("shares", "choices_first"), [(SINGLE, True), (GUARDED, True), (CENTRED, False)]
)
def test_a_ledger_has_spent_its_budget_when_the_shares_are_used_up(
    budget: ZCDP | ApproxDP, shares: Shares, choices_first: bool
) -> None:
    rng = np.random.default_rng(0)
    rho = selection_rho(budget, shares, choices_first=choices_first)
    ledger = Ledger(budget)
    for f, count in shares:
        own_epsilon = choice_epsilon(f * rho, count)
        for _ in range(count):
            ledger.release(*make_choice(np.zeros(4), own_epsilon), rng)
    rest = rho * (1 - sum(f for f, _ in shares))
    ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=rest * 0.1), np.zeros(2), rng)
    assert ledger.spent() != budget
    ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=rest * 0.9), np.zeros(2), rng)
    assert ledger.spent() == budget
    assert "zcdp" in ledger.bound_by() and "pure" not in ledger.bound_by()
    with pytest.raises(BudgetExceeded):
        ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=1e-6 * rho), np.zeros(1), rng)
    small = choice_epsilon(1e-3 * rho)
    with pytest.raises(BudgetExceeded):
        ledger.release(*make_choice(np.zeros(2), small), rng)


def test_a_gaussian_before_a_choice_voids_the_recursion() -> None:
    budget = ApproxDP(epsilon=1.0, delta=1e-6)
    rng = np.random.default_rng(0)
    rho = selection_rho(budget, GUARDED, choices_first=True)
    own_epsilon = choice_epsilon(0.02 * rho)
    ledger = Ledger(budget)
    ledger.release(*make_choice(np.zeros(2), own_epsilon), rng)
    ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=0.96 * rho), np.zeros(1), rng)
    with pytest.raises(BudgetExceeded):  # In the other order both releases fit.
        ledger.release(*make_choice(np.zeros(2), own_epsilon), rng)
    other_ledger = Ledger(budget)
    for _ in range(2):
        other_ledger.release(*make_choice(np.zeros(2), own_epsilon), rng)
    other_ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=0.96 * rho), np.zeros(1), rng)
    assert other_ledger.spent() == budget


def test_pure_choices_add_up_and_leave_the_delta_unspent() -> None:
    rng = np.random.default_rng(0)
    for budget in (PureDP(epsilon=1.0), ApproxDP(epsilon=1.0, delta=1e-6)):
        ledger = Ledger(budget)
        ledger.release(*make_choice(np.zeros(2), 0.3), rng)
        ledger.release(SphericalLaplaceNoise(l2_sensitivity=1.0, epsilon=0.7), np.zeros(3), rng)
        assert ledger.spent() == PureDP(epsilon=1.0)
        assert ledger.bound_by() == ("pure", "approx") or isinstance(budget, PureDP)
        with pytest.raises(BudgetExceeded):
            ledger.release(*make_choice(np.zeros(2), 0.1), rng)
    zcdp_ledger = Ledger(ZCDP(rho=0.5))
    zcdp_ledger.release(*make_choice(np.zeros(2), 2.0), rng)
    assert zcdp_ledger.spent() == ZCDP(rho=0.5)
    # 2-DP does not imply the 1-DP that corresponds to a rho of 0.5.
    assert zcdp_ledger.bound_by() == ("zcdp",)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_choice_needs_a_sensitivity_and_an_epsilon(bad: float) -> None:
    ledger = Ledger(ZCDP(rho=1.0))
    rng = np.random.default_rng(0)
    for sensitivity, epsilon in ((bad, 1.0), (1.0, bad)):
        with pytest.raises(InvalidInput):
            ledger.release(*make_choice(np.zeros(2), epsilon, sensitivity), rng)
    with pytest.raises(InvalidInput):
        ledger.release(*make_choice(np.array([0.0, bad]), math.nan), rng)
    assert ledger.entries == ()


def chi_square(counts: NDArray[np.int64], law: NDArray[np.float64]) -> float:
    """Return the chi-square statistic of counts against a law."""
    expected = law * counts.sum()
    return float(((counts - expected) ** 2 / expected).sum())


# These are the quantiles of chi-square laws at 1 - 1e-6 for 3, 6 and 12 degrees of freedom.
CRITICAL = {3: 30.66, 6: 38.26, 12: 51.36}


def test_a_choice_has_the_law_of_the_exponential_mechanism() -> None:
    """A false alarm occurs at one of 1e6 seeds, and twice the noise or a forgotten base is always
    caught.
    """
    scores, base = np.array([0.0, -1.0, 2.5, -4.0]), np.log([1.0, 2.0, 0.5, 3.0])
    epsilon, sensitivity, draws = 1.3, 2.0, 20_000
    law = np.exp(base + epsilon * scores / (2 * sensitivity))
    law /= law.sum()
    rng = np.random.default_rng(1)
    counts = np.zeros(4, dtype=np.int64)
    for _ in range(draws):
        ledger = Ledger(PureDP(epsilon=epsilon))
        place = ledger.release(*make_choice(scores, epsilon, sensitivity, base), rng)
        counts[place] += 1
    assert chi_square(counts, law) < CRITICAL[3]
    assert ledger.entries[0].epsilon == epsilon and ledger.entries[0].rho == epsilon**2 / 8


def test_spherical_noise_has_a_gamma_length_and_a_uniform_direction() -> None:
    """The mean squares are (d + 1) s^2 per entry and d (d + 1) s^2 in length, within 6 standard
    errors.
    """
    d, draws, rng = 3, 20_000, np.random.default_rng(3)
    budget = PureDP(epsilon=0.5)
    noise = np.array(
        [
            Ledger(budget).release(
                SphericalLaplaceNoise(l2_sensitivity=2.0, epsilon=0.5), np.zeros(d), rng
            )
            for _ in range(draws)
        ]
    )
    scale = 4.0
    squares = (noise**2).sum(axis=1)
    for values, mean in ((squares, d * (d + 1) * scale**2), (noise[:, 1] ** 2, (d + 1) * scale**2)):
        assert abs(values.mean() - mean) < 6 * values.std() / math.sqrt(draws)
    lengths = np.sqrt(squares)
    assert abs(lengths.mean() - d * scale) < 6 * lengths.std() / math.sqrt(draws)
