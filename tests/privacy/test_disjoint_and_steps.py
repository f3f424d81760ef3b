"""Ledgers of disjoint blocks, sequences of steps, and the linear term of objective perturbation.

Faults that these tests would catch: blocks that are added up or not counted, a block that spends
without its parent's ledger, steps that can be taken twice, and noise smaller than what is charged.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.base.errors import InvalidInput
from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    Budget,
    BudgetExceeded,
    GaussianNoise,
    GaussianSteps,
    LaplaceNoise,
    Ledger,
    ObjectiveGaussian,
    PureDP,
    ShuffledGaussian,
    ShuffledGaussianSteps,
    Steps,
    amplify,
    gaussian_allowance,
    gaussian_delta,
    pure_epsilon,
    shuffle_steps,
)
from dpsco_core.privacy.mechanisms import objective_noise_std

FALSE_ALARM = 1e-6
ZERO = np.zeros(3)
CONCENTRATED, PURE = ZCDP(rho=0.5), PureDP(epsilon=1.0)
APPROXIMATE = ApproxDP(epsilon=1.0, delta=1e-6)
BUDGETS: tuple[Budget, ...] = (CONCENTRATED, PURE, APPROXIMATE)
GAUSSIAN_BUDGETS: tuple[Budget, ...] = (CONCENTRATED, APPROXIMATE)


def make_generator() -> np.random.Generator:
    """Return a generator with a fixed seed."""
    return np.random.default_rng(0)


def generator_state(rng: np.random.Generator) -> object:
    """Return a copy of the state of a generator."""
    return copy.deepcopy(rng.bit_generator.state)


def spend(ledger: Ledger, fraction: float, rng: np.random.Generator | None = None) -> None:
    """Release 0 for a fraction of the budget, with Laplace noise for pure DP and Gaussian noise
    otherwise.
    """
    rng = make_generator() if rng is None else rng
    budget = ledger.budget
    if isinstance(budget, PureDP):
        share = fraction * pure_epsilon(budget)
        ledger.release(LaplaceNoise(l1_sensitivity=1.0, epsilon=share), ZERO, rng)
    else:
        share = fraction * gaussian_allowance(budget)
        ledger.release(GaussianNoise(l2_sensitivity=1.0, rho=share), ZERO, rng)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("blocks", [1, 3, 50])
def test_every_block_may_spend_the_whole_budget(budget: Budget, blocks: int) -> None:
    ledger = Ledger(budget)
    for block in ledger.disjoint(blocks):
        spend(block, 1.0)
        assert block.spent() == budget
    assert ledger.spent() == budget
    assert len(ledger.entries) == blocks


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("shares", [1, 3, 7, 49])
def test_a_block_spends_in_shares_to_the_last_bit(budget: Budget, shares: int) -> None:
    ledger = Ledger(budget)
    block_a, block_b = ledger.disjoint(2)
    for _ in range(shares):
        spend(block_a, 1 / shares)
        spend(block_b, 0.5 / shares)
    assert ledger.spent() == budget
    with pytest.raises(BudgetExceeded):
        spend(block_a, 1e-6)
    for _ in range(shares):
        spend(block_b, 0.5 / shares)
    with pytest.raises(BudgetExceeded):
        spend(block_b, 1e-6)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_block_of_a_full_ledger_gets_nothing_and_nothing_is_drawn(budget: Budget) -> None:
    ledger = Ledger(budget)
    blocks, rng = ledger.disjoint(3), make_generator()
    spend(ledger, 1.0)
    untouched = generator_state(rng)
    for block in blocks:
        with pytest.raises(BudgetExceeded):
            spend(block, 1e-6, rng)
        assert block.entries == ()
        assert block.spent() is None
    assert generator_state(rng) == untouched
    assert len(ledger.entries) == 1
    assert ledger.spent() == budget


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_blocks_share_the_budget_left_by_releases_of_all_records(budget: Budget) -> None:
    ledger = Ledger(budget)
    block_a, block_b = ledger.disjoint(2)
    spend(block_a, 0.25)
    spend(ledger, 0.5)
    spend(block_b, 0.5)
    assert ledger.spent() == budget
    spend(block_a, 0.25)
    for full in (block_a, block_b, ledger):
        with pytest.raises(BudgetExceeded):
            spend(full, 1e-6)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_two_partitions_add_up(budget: Budget) -> None:
    """A neighbour changes one block of each partition, so the costs of both count."""
    ledger = Ledger(budget)
    for fraction in (0.75, 0.25):
        for block in ledger.disjoint(4):
            spend(block, fraction)
    assert ledger.spent() == budget
    (block,) = ledger.disjoint(1)
    with pytest.raises(BudgetExceeded):
        spend(block, 1e-6)


def test_blocks_of_a_block_are_refused() -> None:
    (block,) = Ledger(CONCENTRATED).disjoint(1)
    with pytest.raises(InvalidInput, match="ledger must be that of all records"):
        block.disjoint(2)


@pytest.mark.parametrize("blocks", [0, -1, 2.0, math.nan, math.inf])
def test_a_number_of_blocks_that_is_not_a_count_is_refused(blocks: Any) -> None:
    with pytest.raises(InvalidInput, match="^blocks must be a positive integer"):
        Ledger(CONCENTRATED).disjoint(blocks)


def test_the_entries_of_blocks_name_block_and_partition() -> None:
    ledger = Ledger(CONCENTRATED)
    spend(ledger, 0.1)
    for number in range(2):
        for block in reversed(ledger.disjoint(2)):
            spend(block, 0.1)
            assert block.entries == (ledger.entries[-1],), number
    assert [e.part for e in ledger.entries] == [None, (1, 1), (1, 0), (2, 1), (2, 0)]


def test_a_flaw_of_a_block_is_a_flaw_of_the_run() -> None:
    ledger = Ledger(CONCENTRATED)
    block = ledger.disjoint(2)[1]
    block.release(
        GaussianNoise(l2_sensitivity=1, proven_l2_sensitivity=2, rho=0.5), ZERO, make_generator()
    )
    assert len(ledger.flaws) == 1
    assert ledger.bound_by() == ()


def test_approximate_releases_of_blocks_count_epsilon_and_delta_at_their_largest() -> None:
    ledger = Ledger(APPROXIMATE)
    block_a, block_b = ledger.disjoint(2)
    rng, split = make_generator(), amplify(2400, 0.5, 1e-7, "numerical")
    assert split is not None
    block_a.release(
        ShuffledGaussian(l2_sensitivity=1, amplification=split), np.zeros((2400, 1)), rng
    )
    block_b.release(
        ObjectiveGaussian(l2_sensitivity=1, epsilon=0.3, jacobian_epsilon=0.1, delta=9e-7),
        np.zeros(2),
        rng,
    )
    assert ledger.spent() == ApproxDP(epsilon=0.5, delta=9e-7)
    with pytest.raises(BudgetExceeded):  # The total delta would be 1.8e-6.
        block_b.release(
            ObjectiveGaussian(l2_sensitivity=1, epsilon=0.1, jacobian_epsilon=0, delta=9e-7),
            np.zeros(2),
            rng,
        )
    with pytest.raises(BudgetExceeded):  # The total epsilon would be 1.1.
        block_b.release(
            ObjectiveGaussian(l2_sensitivity=1, epsilon=0.7, jacobian_epsilon=0, delta=1e-9),
            np.zeros(2),
            rng,
        )


def test_a_mixed_partition_is_never_cheaper_than_any_of_its_blocks() -> None:
    ledger = Ledger(ApproxDP(epsilon=2.0, delta=1e-6))
    block_a, block_b = ledger.disjoint(2)
    block_a.release(GaussianNoise(l2_sensitivity=1, rho=0.02), ZERO, make_generator())
    block_b.release(LaplaceNoise(l1_sensitivity=1, epsilon=0.9), ZERO, make_generator())
    whole, spent = ledger.spent(), (block_a.spent(), block_b.spent())
    assert isinstance(whole, ApproxDP)
    assert isinstance(spent[0], ApproxDP) and spent[0].epsilon <= whole.epsilon
    assert spent[1] == PureDP(epsilon=0.9) and whole.epsilon >= 0.9


@pytest.mark.parametrize("budget", GAUSSIAN_BUDGETS, ids=str)
def test_steps_on_disjoint_records_cost_as_much_as_one_step(budget: Budget) -> None:
    ledger, rho = Ledger(budget), gaussian_allowance(budget)
    steps = ledger.open(GaussianSteps(steps=1000, size=4, l2_sensitivity=0.3, rho=rho))
    assert ledger.spent() == budget
    (entry,) = ledger.entries
    assert (entry.disjoint_blocks, entry.size, entry.rho) == (1000, 4, rho)
    assert entry.noise == steps.noise_std == pytest.approx(0.3 / math.sqrt(2 * rho), rel=1e-15)
    with pytest.raises(BudgetExceeded):
        ledger.open(GaussianSteps(steps=1, size=4, l2_sensitivity=0.3, rho=rho / 100))


def make_steps(steps: int = 10, size: int = 3, l2_sensitivity: float = 2.0) -> Steps:
    """Open Gaussian steps on a new ledger."""
    return Ledger(CONCENTRATED).open(
        GaussianSteps(steps=steps, size=size, l2_sensitivity=l2_sensitivity, rho=0.5)
    )


def test_noise_of_steps_has_the_scale_that_was_paid_for() -> None:
    """In the chi-square test 5 per cent too little noise is 7 standard deviations."""
    steps, rng = make_steps(steps=2000, size=5), make_generator()
    noise = np.concatenate([steps.noise(count, 5, rng) for count in (1, 499, 1500)])
    assert noise.shape == (2000, 5)
    law, total = stats.chi2(noise.size), float(np.square(noise / 2.0).sum())
    assert 2 * min(law.cdf(total), law.sf(total)) > FALSE_ALARM
    too_small = float(np.square(0.95 * noise / 2.0).sum())
    assert law.cdf(too_small) < FALSE_ALARM
    assert len(np.unique(noise)) == noise.size


@pytest.mark.parametrize("parts", [(10,), (3, 3, 4), (1,) * 10, (0, 10, 0)])
def test_a_sequence_grants_exactly_the_steps_that_were_charged(parts: tuple[int, ...]) -> None:
    steps, rng = make_steps(steps=10), make_generator()
    for count in parts:
        assert steps.noise(count, 3, rng).shape == (count, 3)
    untouched = generator_state(rng)
    for count in (1, 2, 1000):
        with pytest.raises(BudgetExceeded, match="10 were accounted for"):
            steps.noise(count, 3, rng)
    assert generator_state(rng) == untouched


@pytest.mark.parametrize("count", [-1, -10, 0.5, math.nan])
def test_no_request_gives_steps_back(count: Any) -> None:
    """A negative number of releases once made room for as many more."""
    steps, rng = make_steps(steps=10), make_generator()
    steps.noise(10, 3, rng)
    with pytest.raises(InvalidInput, match="^count must be a whole number"):
        steps.noise(count, 3, rng)
    with pytest.raises(BudgetExceeded):
        steps.noise(1, 3, rng)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_noise_of_another_size_is_refused(d: int) -> None:
    """A single column would be broadcast over all coordinates, whose differences would have no
    noise.
    """
    steps = make_steps(size=3)
    for draw in (steps.noise, steps.idle_noise):
        with pytest.raises(InvalidInput, match="^d must be the 3 coordinates"):
            draw(2, d, make_generator())
    assert steps.noise(10, 3, make_generator()).shape == (10, 3)


def test_noise_that_is_not_used_counts_no_step() -> None:
    steps, rng = make_steps(steps=4), make_generator()
    assert steps.idle_noise(100, 3, rng).shape == (100, 3)
    assert steps.noise(4, 3, rng).shape == (4, 3)


@pytest.mark.parametrize("name", ["steps", "size"])
@pytest.mark.parametrize("bad", [0, -1, 2.5, math.inf])
def test_a_number_of_steps_that_is_not_a_count_is_refused(name: str, bad: Any) -> None:
    ledger, arguments = Ledger(CONCENTRATED), {"steps": 3, "size": 3, name: bad}
    with pytest.raises(InvalidInput, match=f"^{name} must be a positive integer"):
        ledger.open(GaussianSteps(l2_sensitivity=1.0, rho=0.5, **arguments))
    assert ledger.entries == ()


@pytest.mark.parametrize(("sensitivity", "rho"), [(5e-324, 8.0), (1e308, 1e-30)])
def test_steps_with_noise_that_is_not_a_number_are_refused(sensitivity: float, rho: float) -> None:
    """A NaN would otherwise give steps without noise."""
    ledger = Ledger(ZCDP(rho=10.0))
    with pytest.raises(InvalidInput, match="noise must be"):
        ledger.open(GaussianSteps(steps=2, size=1, l2_sensitivity=sensitivity, rho=rho))
    assert ledger.entries == ()


def test_gaussian_steps_are_refused_under_a_pure_budget() -> None:
    with pytest.raises(BudgetExceeded):
        Ledger(PURE).open(GaussianSteps(steps=2, size=1, l2_sensitivity=1.0, rho=1e-9))


def test_shuffled_steps_spend_their_certificate_and_draw_its_noise() -> None:
    certificate = shuffle_steps(1000, 1.0, 1e-6)
    assert certificate.amplified
    ledger = Ledger(APPROXIMATE)
    steps = ledger.open(ShuffledGaussianSteps(certificate=certificate, size=2, l2_sensitivity=3.0))
    (entry,) = ledger.entries
    assert ledger.spent() == APPROXIMATE
    assert (entry.mechanism, entry.disjoint_blocks) == ("shuffled gaussian", 1000)
    assert entry.noise == steps.noise_std == 3 * certificate.noise_multiplier
    assert entry.noise < 3 / math.sqrt(2 * gaussian_allowance(APPROXIMATE))
    assert ledger.bound_by() == ("approx",)
    with pytest.raises(BudgetExceeded):
        steps.noise(1001, 2, make_generator())
    with pytest.raises(BudgetExceeded):
        ledger.open(ShuffledGaussianSteps(certificate=certificate, size=2, l2_sensitivity=3.0))


@pytest.mark.parametrize("budget", [CONCENTRATED, PURE], ids=str)
def test_amplified_steps_are_refused_where_they_have_no_guarantee(budget: Budget) -> None:
    ledger = Ledger(budget)
    with pytest.raises(BudgetExceeded):
        ledger.open(
            ShuffledGaussianSteps(
                certificate=shuffle_steps(1000, 0.1, 1e-6), size=2, l2_sensitivity=3.0
            )
        )
    assert ledger.entries == ()


def test_a_certificate_without_amplification_is_that_of_a_single_step() -> None:
    certificate = shuffle_steps(1, 1.0, 1e-6)
    assert not certificate.amplified
    shuffled, plain = Ledger(APPROXIMATE), Ledger(APPROXIMATE)
    options: dict[str, Any] = {"size": 2, "l2_sensitivity": 3.0}
    sequence = ShuffledGaussianSteps(certificate=certificate, **options)
    single_step = GaussianSteps(steps=1, rho=certificate.rho_step, **options)
    shuffled_steps, plain_steps = (
        shuffled.open(sequence, label="steps"),
        plain.open(single_step, label="steps"),
    )
    assert shuffled.entries == plain.entries
    assert shuffled_steps.noise_std == plain_steps.noise_std
    assert gaussian_delta(certificate.rho_step, 1.0) <= 1e-6
    assert Ledger(ZCDP(rho=1.0)).open(sequence).steps == 1


LOSSES = [(e, d) for e in (1e-3, 0.1, 1.0, 20.0) for d in (1e-12, 1e-6, 0.3)]


@pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
def test_the_loss_exceeds_epsilon_with_probability_delta_at_the_worst_shift(
    epsilon: float, delta: float
) -> None:
    """The noise is planar and the shift is parallel to it, so the loss is known exactly."""
    sensitivity = 2.0
    std = objective_noise_std(sensitivity, epsilon, delta)
    shift = sensitivity / std
    # Noise beyond this point, in units of its deviation, loses more than epsilon.
    reach = (epsilon - shift**2 / 2) / shift
    assert math.exp(-(reach**2) / 2) == pytest.approx(delta, rel=1e-9)
    # A Gaussian mechanism with that shift in one direction only loses less.
    assert gaussian_delta(shift**2 / 2, epsilon) < delta


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.5), (0.5, 1e-2), (0.99, 1e-6)])
def test_the_printed_noise_of_objective_perturbation_is_enough(
    epsilon: float, delta: float
) -> None:
    """The paper has sigma_1^2 = 128 L^2 ln(2.5/delta)/epsilon^2 at (epsilon/4, delta/2) and
    sensitivity 2L.
    """
    printed = math.sqrt(128 * math.log(2.5 / delta)) / epsilon
    noise_std = objective_noise_std(2.0, epsilon / 4, delta / 2)
    assert 0.9 < noise_std / printed < 1


def release_linear_term(
    ledger: Ledger, size: int = 400, noise_std: float | None = None, **changes: Any
) -> np.ndarray:
    """Release the zero vector as the linear term of objective perturbation."""
    options: dict[str, Any] = {
        "l2_sensitivity": 2.0,
        "epsilon": 0.75,
        "jacobian_epsilon": 0.25,
        "delta": 1e-6,
    }
    mechanism = ObjectiveGaussian(**(options | changes), own_noise_std=noise_std)
    return ledger.release(mechanism, np.zeros(size), make_generator())


def test_objective_noise_spends_both_parts_and_has_the_needed_scale() -> None:
    ledger = Ledger(APPROXIMATE)
    noise = release_linear_term(ledger, size=10_000)
    (entry,) = ledger.entries
    assert ledger.spent() == APPROXIMATE
    assert entry.noise == objective_noise_std(2.0, 0.75, 1e-6)
    law, total = stats.chi2(noise.size), float(np.square(noise / entry.noise).sum())
    assert 2 * min(law.cdf(total), law.sf(total)) > FALSE_ALARM
    assert law.cdf(0.95**2 * total) < FALSE_ALARM
    assert ledger.bound_by() == ("approx",)


def test_a_papers_own_noise_may_be_larger_and_not_smaller() -> None:
    noise_std = objective_noise_std(2.0, 0.75, 1e-6)
    ledger = Ledger(APPROXIMATE)
    with pytest.raises(InvalidInput, match="noise_std must be at least"):
        release_linear_term(ledger, noise_std=0.99 * noise_std)
    assert ledger.entries == ()
    release_linear_term(ledger, noise_std=2 * noise_std)
    assert ledger.entries[0].noise == 2 * noise_std


@pytest.mark.parametrize("budget", [CONCENTRATED, PURE, ApproxDP(epsilon=0.99, delta=1e-6)])
def test_objective_noise_is_refused_where_it_has_no_guarantee_or_no_room(budget: Budget) -> None:
    ledger, rng = Ledger(budget), make_generator()
    untouched = generator_state(rng)
    with pytest.raises(BudgetExceeded):
        release_linear_term(ledger)
    assert ledger.entries == ()
    assert generator_state(rng) == untouched


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("l2_sensitivity", 0.0),
        ("l2_sensitivity", math.nan),
        ("epsilon", 0.0),
        ("epsilon", math.inf),
        ("jacobian_epsilon", -0.1),
        ("jacobian_epsilon", math.nan),
        ("delta", 0.0),
        ("delta", 1.0),
        ("delta", math.nan),
        ("size", 0),
        ("noise_std", math.nan),
        ("noise_std", 0.0),
    ],
)
def test_objective_noise_refuses_numbers_out_of_range(name: str, bad: float) -> None:
    ledger = Ledger(APPROXIMATE)
    with pytest.raises(InvalidInput, match=f"^{name} must be"):
        release_linear_term(ledger, **{name: bad})
    assert ledger.entries == ()


def test_objective_noise_that_is_not_a_number_is_refused() -> None:
    for changes in ({"l2_sensitivity": 5e-324, "epsilon": 0.75}, {"noise_std": math.inf}):
        with pytest.raises(InvalidInput, match="noise must be"):
            release_linear_term(Ledger(APPROXIMATE), **changes)
