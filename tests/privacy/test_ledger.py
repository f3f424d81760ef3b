"""The ledger: it equals the budget to the last bit, refuses before it draws, and records."""

from __future__ import annotations

import copy
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_core.base.errors import InvalidInput
from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    Budget,
    BudgetExceeded,
    Entry,
    GaussianNoise,
    LaplaceNoise,
    Ledger,
    PureDP,
    ShuffleAmplification,
    ShuffledGaussian,
    amplify,
    compose,
    gaussian_allowance,
    gaussian_epsilon,
    laplace_rho,
    zcdp_epsilon,
)
from dpsco_core.privacy.concentration import laplace_epsilon
from tests.folded import each

BUDGETS: list[Budget] = [
    PureDP(epsilon=1.0),
    ZCDP(rho=0.5),
    ApproxDP(epsilon=1.0, delta=1e-6),
]
SPLITS = (1, 2, 3, 7, 10, 49, 333, 1000)
ZERO = np.zeros(3)


def spend(
    ledger: Ledger,
    rho: float = 0.0,
    epsilon: float = 0.0,
    rng: np.random.Generator | None = None,
) -> None:
    """Make a Gaussian release at `rho` and a Laplace release at `epsilon`, each of sensitivity 1
    and only if its share is positive.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    if rho:
        ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=rho), ZERO, rng)
    if epsilon:
        ledger.release(LaplaceNoise(l1_sensitivity=1.0, epsilon=epsilon), ZERO, rng)


def amplified(
    groups: int = 2400, epsilon: float = 1.0, delta: float = 1e-6
) -> ShuffleAmplification:
    """Return the numerical amplification by shuffling, which must exist."""
    shares = amplify(groups, epsilon, delta, "numerical")
    assert shares is not None
    return shares


@each("splits", SPLITS)
@each("rho", [0.1, 0.3, 0.5, 1 / 3, 7e-5, 1e6])
def test_equal_shares_of_rho_spend_the_budget_to_the_last_bit(rho: float, splits: int) -> None:
    ledger = Ledger(ZCDP(rho=rho))
    for _ in range(splits):
        spend(ledger, rho=rho / splits)
    assert ledger.spent() == ZCDP(rho=rho)


@each("splits", SPLITS)
@each("epsilon", [0.1, 0.3, 1 / 3, 7e-5, 1e5, 1e6])
def test_equal_shares_of_a_pure_budget_spend_it_to_the_last_bit(
    epsilon: float, splits: int
) -> None:
    for budget in (PureDP(epsilon=epsilon), ApproxDP(epsilon=epsilon, delta=1e-6)):
        ledger = Ledger(budget)
        for _ in range(splits):
            spend(ledger, epsilon=epsilon / splits)
        assert ledger.spent() == PureDP(epsilon=epsilon), "no delta is spent of either"


@each("splits", [1, 3, 49])
@each("delta", [1e-15, 1e-6, 0.5, 0.999])
@each("epsilon", [1e-5, 1e-2, 1.0, 30.0, 1e3, 1e5])
def test_equal_gaussian_shares_spend_an_approximate_budget_to_the_last_bit(
    epsilon: float, delta: float, splits: int
) -> None:
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    ledger = Ledger(budget)
    for _ in range(splits):
        spend(ledger, rho=gaussian_allowance(budget) / splits)
    assert ledger.spent() == budget


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_an_unused_ledger_has_spent_nothing(budget: Budget) -> None:
    ledger = Ledger(budget)
    assert ledger.spent() is None
    assert ledger.entries == ()
    assert ledger.flaws == ()


def generator_state(rng: np.random.Generator) -> object:
    """Return a copy of the state of a generator."""
    return copy.deepcopy(rng.bit_generator.state)


@pytest.mark.parametrize(
    ("budget", "accepted", "refused"),
    [
        (ZCDP(rho=0.5), {"rho": 0.5}, {"rho": 1e-9}),
        (ZCDP(rho=0.5), {"rho": 0.3}, {"rho": 0.2 * (1 + 1e-9)}),
        (ZCDP(rho=0.5), {}, {"rho": 0.5 * (1 + 1e-11)}),
        (ZCDP(rho=0.5), {"rho": 0.3}, {"epsilon": laplace_epsilon(0.2) * 1.001}),
        (ZCDP(rho=0.5), {"epsilon": 0.75}, {"epsilon": 0.86}),
        (PureDP(epsilon=1.0), {"epsilon": 1.0}, {"epsilon": 1e-9}),
        (PureDP(epsilon=1.0), {}, {"rho": 1e-12}),
        (PureDP(epsilon=1.0), {"epsilon": 0.5}, {"rho": 1e-300}),
        (ApproxDP(epsilon=1.0, delta=1e-6), {"rho": 0.028014}, {"rho": 5e-7}),
        (ApproxDP(epsilon=1.0, delta=1e-6), {"rho": 0.02}, {"epsilon": 0.5}),
        (ApproxDP(epsilon=1.0, delta=1e-6), {"epsilon": 1.0}, {"rho": 1e-6}),
        (ApproxDP(epsilon=6e5, delta=1e-6), {"epsilon": 6e5}, {"epsilon": 6e5}),
    ],
    ids=str,
)
def test_overspending_is_refused_before_anything_is_drawn(
    budget: Budget, accepted: dict[str, float], refused: dict[str, float]
) -> None:
    ledger = Ledger(budget)
    if accepted:
        spend(ledger, **accepted)
    entries_before, spent = ledger.entries, ledger.spent()
    rng = np.random.default_rng(3)
    untouched = generator_state(rng)
    with pytest.raises(BudgetExceeded, match="does not fit into what is left of"):
        spend(ledger, **refused, rng=rng)
    assert generator_state(rng) == untouched
    assert ledger.entries == entries_before
    assert ledger.spent() == spent


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    shares=st.lists(st.floats(1e-14, 0.6), min_size=1, max_size=60),
    kinds=st.lists(st.booleans(), min_size=60, max_size=60),
)
def test_no_sequence_of_shares_overspends_a_zcdp_budget(
    shares: list[float], kinds: list[bool]
) -> None:
    ledger = Ledger(ZCDP(rho=0.5))
    rho = Fraction(0)
    for share, gaussian in zip(shares, kinds, strict=False):
        try:
            spend(ledger, rho=share if gaussian else 0.0, epsilon=0.0 if gaussian else share)
        except BudgetExceeded:
            continue
        rho += Fraction(share if gaussian else laplace_rho(share))
    assert rho <= Fraction(1, 2) * (1 + Fraction(2, 10**12))


@pytest.mark.parametrize("piece", [1e-13, 1e-15, 1e-18, 1e-30])
def test_tiny_pieces_do_not_add_up_beyond_rounding(piece: float) -> None:
    """After the whole budget is spent every further piece counts; together they stay within
    1e-12.
    """
    ledger = Ledger(ZCDP(rho=1.0))
    spend(ledger, rho=1.0)
    for _ in range(50):
        try:
            spend(ledger, rho=piece)
        except BudgetExceeded:
            break
    total = sum((Fraction(e.rho) for e in ledger.entries), Fraction(0))
    assert total <= 1 + Fraction(2, 10**12)
    with pytest.raises(BudgetExceeded):
        spend(ledger, rho=2e-12)


def test_a_zcdp_budget_counts_pure_releases_one_by_one() -> None:
    """The costs of pure releases add up, so four releases at a quarter of epsilon leave most of the
    budget.
    """
    budget = ZCDP(rho=0.5)
    ledger = Ledger(budget)
    for _ in range(4):
        spend(ledger, epsilon=laplace_epsilon(0.125))
    assert ledger.spent() == budget
    small = Ledger(budget)
    for _ in range(4):
        spend(small, epsilon=laplace_epsilon(0.5) / 4)
    assert small.spent() == ZCDP(rho=4 * laplace_rho(laplace_epsilon(0.5) / 4))
    mixed = Ledger(budget)
    spend(mixed, rho=0.3)
    spend(mixed, epsilon=laplace_epsilon(0.2))
    assert mixed.spent() == budget


def test_a_mixed_approximate_run_composes_by_the_better_of_two_proven_ways() -> None:
    for rho, epsilon in ((0.01, 0.1), (0.02, 0.02), (1e-4, 0.9), (0.001, 0.5)):
        ledger = Ledger(ApproxDP(epsilon=2.0, delta=1e-6))
        spend(ledger, rho=rho)
        spend(ledger, epsilon=epsilon)
        basic = gaussian_epsilon(rho, 1e-6) + epsilon
        concentrated = zcdp_epsilon(rho + laplace_rho(epsilon), 1e-6)
        spent = ledger.spent()
        assert isinstance(spent, ApproxDP)
        assert spent.epsilon == pytest.approx(min(basic, concentrated), rel=1e-12)
        assert spent.delta == 1e-6


def test_shuffled_releases_add_by_basic_composition_and_leave_the_rest_of_delta() -> None:
    shuffle = amplified(delta=4e-7)
    ledger = Ledger(ApproxDP(epsilon=3.0, delta=1e-6))
    rng = np.random.default_rng(0)
    for _ in range(2):
        ledger.release(
            ShuffledGaussian(l2_sensitivity=0.1, amplification=shuffle), np.zeros((2400, 2)), rng
        )
    spent = ledger.spent()
    assert isinstance(spent, ApproxDP)
    assert (spent.epsilon, spent.delta) == (2.0, pytest.approx(8e-7, rel=1e-12))
    spend(ledger, rho=0.01)
    spent = ledger.spent()
    assert isinstance(spent, ApproxDP)
    epsilon = gaussian_epsilon(0.01, 1e-6 - 8e-7)
    assert spent.epsilon == pytest.approx(2 + epsilon, rel=1e-9)
    assert spent.delta == 1e-6
    with pytest.raises(BudgetExceeded):
        ledger.release(
            ShuffledGaussian(l2_sensitivity=0.1, amplification=shuffle), np.zeros((2400, 2)), rng
        )


def test_shuffled_releases_may_not_exceed_delta() -> None:
    ledger = Ledger(ApproxDP(epsilon=5.0, delta=1e-6))
    rng, shuffle = np.random.default_rng(0), amplified(delta=6e-7)
    value = np.zeros((2400, 1))
    ledger.release(ShuffledGaussian(l2_sensitivity=1.0, amplification=shuffle), value, rng)
    untouched = generator_state(rng)
    with pytest.raises(BudgetExceeded):
        ledger.release(ShuffledGaussian(l2_sensitivity=1.0, amplification=shuffle), value, rng)
    assert generator_state(rng) == untouched


def test_nothing_gaussian_fits_once_shuffling_has_used_up_delta() -> None:
    ledger = Ledger(ApproxDP(epsilon=5.0, delta=1e-6))
    ledger.release(
        ShuffledGaussian(l2_sensitivity=1.0, amplification=amplified()),
        np.zeros((2400, 1)),
        np.random.default_rng(0),
    )
    with pytest.raises(BudgetExceeded):
        spend(ledger, rho=1e-9)


@pytest.mark.parametrize("budget", BUDGETS[:2], ids=str)
def test_a_shuffled_release_is_refused_where_it_has_no_guarantee(budget: Budget) -> None:
    ledger = Ledger(budget)
    rng = np.random.default_rng(0)
    untouched = generator_state(rng)
    with pytest.raises(BudgetExceeded):
        ledger.release(
            ShuffledGaussian(l2_sensitivity=1.0, amplification=amplified()),
            np.zeros((2400, 1)),
            rng,
        )
    assert generator_state(rng) == untouched
    assert ledger.entries == ()


def test_a_shuffled_release_needs_one_row_for_each_group() -> None:
    ledger = Ledger(ApproxDP(epsilon=1.0, delta=1e-6))
    with pytest.raises(InvalidInput, match="one row for each of the 2400 groups"):
        ledger.release(
            ShuffledGaussian(l2_sensitivity=1.0, amplification=amplified()),
            np.zeros((2399, 1)),
            np.random.default_rng(0),
        )


def test_every_release_is_recorded_with_its_sensitivity_noise_and_share() -> None:
    ledger = Ledger(ApproxDP(epsilon=3.0, delta=1e-6))
    rng = np.random.default_rng(0)
    ledger.release(
        GaussianNoise(l2_sensitivity=0.2, rho=0.02, disjoint_blocks=4),
        np.zeros((4, 2)),
        rng,
        label="means",
    )
    ledger.release(LaplaceNoise(l1_sensitivity=0.3, epsilon=0.1), np.zeros(5), rng, label="median")
    shuffle = amplified(delta=4e-7)
    ledger.release(
        ShuffledGaussian(l2_sensitivity=0.1, amplification=shuffle),
        np.zeros((2400, 2)),
        rng,
        label="groups",
    )
    first_entry, second_entry, third_entry = ledger.entries
    assert first_entry == Entry(
        mechanism="gaussian",
        label="means",
        sensitivity=0.2,
        proven_sensitivity=0.2,
        noise=0.2 / math.sqrt(2 * 0.02),
        size=8,
        rho=0.02,
        disjoint_blocks=4,
    )
    assert (second_entry.mechanism, second_entry.noise, second_entry.size) == (
        "laplace",
        0.3 / 0.1,
        5,
    )
    assert second_entry.epsilon == 0.1
    assert (third_entry.mechanism, third_entry.epsilon, third_entry.delta) == (
        "shuffled gaussian",
        1.0,
        4e-7,
    )
    assert third_entry.noise == 0.1 / math.sqrt(2 * shuffle.rho_group)
    assert third_entry.disjoint_blocks == 2400


def test_a_ledgers_entries_cannot_be_changed_from_outside() -> None:
    ledger = Ledger(ZCDP(rho=1.0))
    spend(ledger, rho=0.5)
    assert isinstance(ledger.entries, tuple)
    with pytest.raises(AttributeError):
        ledger.entries[0].rho = 0.0  # type: ignore[misc]


def test_noise_below_the_proven_scale_is_reported_and_removes_all_lower_bounds() -> None:
    ledger = Ledger(ZCDP(rho=1.0))
    rng = np.random.default_rng(0)
    ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=0.5), ZERO, rng)
    assert ledger.bound_by() == ("zcdp",)
    ledger.release(
        GaussianNoise(l2_sensitivity=1.0, proven_l2_sensitivity=2.0, rho=0.5),
        ZERO,
        rng,
        label="paper",
    )
    assert [e.flawed for e in ledger.entries] == [False, True]
    (sentence,) = ledger.flaws
    assert sentence.startswith("paper: calibrated to sensitivity 1, but 2 is proven")
    assert "4 times less private" in sentence
    assert ledger.bound_by() == ()


def test_lower_bounds_apply_to_a_run_only_if_it_is_in_their_class() -> None:
    pure = Ledger(PureDP(epsilon=1.0))
    spend(pure, epsilon=1.0)
    assert set(pure.bound_by()) == {"pure", "zcdp", "approx"}
    concentrated = Ledger(ZCDP(rho=0.5))
    spend(concentrated, rho=0.1)
    spend(concentrated, epsilon=0.1)
    assert concentrated.bound_by() == ("zcdp",)
    approximate = Ledger(ApproxDP(epsilon=1.0, delta=1e-6))
    spend(approximate, epsilon=1.0)
    assert approximate.bound_by() == ("pure", "approx")
    shuffled = Ledger(ApproxDP(epsilon=1.0, delta=1e-6))
    shuffled.release(
        ShuffledGaussian(l2_sensitivity=1.0, amplification=amplified()),
        np.zeros((2400, 1)),
        np.random.default_rng(0),
    )
    assert shuffled.bound_by() == ("approx",)
    assert Ledger(PureDP(epsilon=1.0)).bound_by() == ()


BAD_NUMBERS = (math.nan, math.inf, -math.inf, 0.0, -1.0)


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize("name", ["l2_sensitivity", "rho", "proven_l2_sensitivity"])
def test_a_gaussian_release_refuses_a_number_that_is_not_positive(name: str, bad: float) -> None:
    ledger = Ledger(ZCDP(rho=1.0))
    arguments = {"l2_sensitivity": 1.0, "rho": 0.1, name: bad}
    rng = np.random.default_rng(0)
    untouched = generator_state(rng)
    with pytest.raises(InvalidInput, match=f"^{name} must be a positive number, got {name}="):
        ledger.release(GaussianNoise(**arguments), ZERO, rng)
    assert generator_state(rng) == untouched
    assert ledger.entries == ()


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize("name", ["l1_sensitivity", "epsilon"])
def test_a_laplace_release_refuses_a_number_that_is_not_positive(name: str, bad: float) -> None:
    ledger = Ledger(PureDP(epsilon=1.0))
    arguments = {"l1_sensitivity": 1.0, "epsilon": 0.1, name: bad}
    with pytest.raises(InvalidInput, match=f"^{name} must be a positive number, got {name}="):
        ledger.release(LaplaceNoise(**arguments), ZERO, np.random.default_rng(0))
    assert ledger.entries == ()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_no_release_accepts_a_value_that_is_not_finite(bad: float) -> None:
    """NaN plus noise is NaN, which no noise hides, so a ledger must refuse it."""
    value = np.array([0.0, bad, 1.0])
    rng = np.random.default_rng(0)
    concentrated, pure = Ledger(ZCDP(rho=1.0)), Ledger(PureDP(epsilon=1.0))
    with pytest.raises(InvalidInput, match="value must be finite"):
        concentrated.release(GaussianNoise(l2_sensitivity=1.0, rho=1.0), value, rng)
    with pytest.raises(InvalidInput, match="value must be finite"):
        pure.release(LaplaceNoise(l1_sensitivity=1.0, epsilon=1.0), value, rng)
    assert concentrated.entries == pure.entries == ()


@pytest.mark.parametrize(("sensitivity", "rho"), [(5e-324, 8.0), (1e308, 1e-30)])
def test_noise_that_is_not_a_positive_number_is_refused(sensitivity: float, rho: float) -> None:
    """A standard deviation that rounds to 0 or to infinity would release the value bare."""
    ledger = Ledger(ZCDP(rho=10.0))
    with pytest.raises(InvalidInput, match="noise must be"):
        ledger.release(
            GaussianNoise(l2_sensitivity=sensitivity, rho=rho), ZERO, np.random.default_rng(0)
        )
    assert ledger.entries == ()


def test_composition_gives_no_cost_in_a_notion_that_an_entry_lacks() -> None:
    gaussian = Ledger(ZCDP(rho=1.0))
    spend(gaussian, rho=1.0)
    with pytest.raises(InvalidInput, match="entries must be pure"):
        compose(gaussian.entries, PureDP(epsilon=1.0))
    shuffled = Ledger(ApproxDP(epsilon=1.0, delta=1e-6))
    shuffled.release(
        ShuffledGaussian(l2_sensitivity=1.0, amplification=amplified()),
        np.zeros((2400, 1)),
        np.random.default_rng(0),
    )
    for budget in BUDGETS[:2]:
        with pytest.raises(InvalidInput, match="entries must be"):
            compose(shuffled.entries, budget)
