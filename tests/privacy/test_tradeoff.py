"""Trade-off curves against closed forms, reference values and Google's accountant."""

import math
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import norm

from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    Exponential,
    GaussianNoise,
    LaplaceNoise,
    Ledger,
    PureDP,
    SphericalLaplaceNoise,
    gaussian_epsilon,
    zcdp_epsilon,
)
from dpsco_core.privacy.entries import Entry, approximate_entry
from dpsco_core.privacy.selection import selection_epsilon
from dpsco_core.privacy.tradeoff import (
    TradeoffCurve,
    budget_curve,
    concentrated_deltas,
    gaussian_curve,
    ledger_curve,
)

ALARMS = np.array([0.001, 0.01, 0.1])
GRID = np.linspace(0, 1, 201)
ZERO = np.zeros(1)


def book_entries(
    *mechanisms: Any, value: np.ndarray = ZERO, blocks: bool = False
) -> tuple[Entry, ...]:
    """Return the entries of these releases, each on a block of its own if `blocks` is set."""
    ledger, rng = Ledger(ApproxDP(epsilon=1e5, delta=0.5)), np.random.default_rng(0)
    places = ledger.disjoint(len(mechanisms)) if blocks else [ledger] * len(mechanisms)
    for place, mechanism in zip(places, mechanisms, strict=True):
        place.release(mechanism, value, rng)
    return ledger.entries


def gaussian(rho: float) -> GaussianNoise:
    """Return Gaussian noise of sensitivity 1."""
    return GaussianNoise(l2_sensitivity=1.0, rho=rho)


def laplace(epsilon: float) -> LaplaceNoise:
    """Return Laplace noise of sensitivity 1."""
    return LaplaceNoise(l1_sensitivity=1.0, epsilon=epsilon)


def spherical(epsilon: float) -> SphericalLaplaceNoise:
    """Return spherical Laplace noise of sensitivity 1."""
    return SphericalLaplaceNoise(l2_sensitivity=1.0, epsilon=epsilon)


def approximate(epsilon: float, delta: float) -> Entry:
    """Return the entry of a release that is (epsilon, delta)-private."""
    return approximate_entry("objective perturbation", "release", 1.0, 1.0, 1, (epsilon, delta))


def lattice_curve(entries: tuple[Entry, ...]) -> TradeoffCurve:
    """Return the curve of entries from the lattice of losses, even where there is a closed form."""
    return ledger_curve((*entries, approximate(1e-9, 1e-15)))


@pytest.mark.parametrize(
    ("rho", "expected"),
    [
        (0.0280144819, (0.997838, 0.981675, 0.851953)),
        (0.1, (0.995891, 0.969887, 0.797955)),
        (0.5, (0.981702, 0.907638, 0.610856)),
    ],
)
def test_gaussian_curves_have_the_reference_values(rho: float, expected: tuple[float, ...]) -> None:
    assert gaussian_curve(rho).misses(ALARMS) == pytest.approx(expected, abs=5e-7)


def test_the_curve_of_gaussian_noise_is_the_neyman_pearson_test() -> None:
    """The reference is the likelihood-ratio test at every threshold, from its two normal laws."""
    rho, std = 0.3, 2.5
    mu = math.sqrt(2 * rho)
    thresholds = np.linspace(-5, 5, 41) * std
    alarms = norm.sf(thresholds, scale=std)
    misses = norm.cdf(thresholds, loc=mu * std, scale=std)
    assert gaussian_curve(rho).misses(alarms) == pytest.approx(misses, abs=1e-12)


def test_rho_adds_up_but_distances_do_not() -> None:
    curve = ledger_curve(book_entries(gaussian(0.02), gaussian(0.06), gaussian(0.1)))
    assert curve.mu == pytest.approx(math.sqrt(2 * 0.18), rel=1e-14)
    partition = ledger_curve(book_entries(gaussian(0.02), gaussian(0.06), blocks=True))
    assert partition.mu == pytest.approx(math.sqrt(2 * 0.06), rel=1e-14)


def test_the_mixed_ledger_has_the_reference_values() -> None:
    entries = book_entries(gaussian(0.02), spherical(0.3), laplace(0.2), laplace(0.2))
    curve = ledger_curve((*entries, approximate(0.1, 1e-7)))
    assert curve.epsilon(1e-6) == pytest.approx(1.51949, abs=1e-4)
    assert curve.misses(ALARMS) == pytest.approx((0.996522, 0.971511, 0.794099), abs=2e-6)


def test_a_mixed_ledger_agrees_with_the_accountant_of_google() -> None:
    spacing = 1e-4
    rho, shares = 0.05, (0.3, 0.7)
    reference = pld.from_gaussian_mechanism(
        1 / math.sqrt(2 * rho), value_discretization_interval=1e-4
    )
    for epsilon in shares:
        law = pld.from_laplace_mechanism(1 / epsilon, value_discretization_interval=spacing)
        reference = reference.compose(law)
    curve = ledger_curve(book_entries(gaussian(rho), *(laplace(e) for e in shares)))
    for delta in (1e-3, 1e-6, 1e-8):
        assert curve.epsilon(delta) == pytest.approx(
            reference.get_epsilon_for_delta(delta), rel=2e-4
        )
    for epsilon in (0.1, 0.5, 1.0, 1.5):
        proven = np.interp(epsilon, curve.epsilons, curve.deltas)
        assert proven == pytest.approx(
            reference.get_delta_for_epsilon(epsilon), rel=1e-3, abs=1e-12
        )


def test_the_lattice_is_never_above_a_closed_form_and_near_it() -> None:
    for rho in (0.001, 0.0280144819, 0.5, 4.0):
        exact = gaussian_curve(rho).misses(GRID)
        lattice = lattice_curve(book_entries(gaussian(rho))).misses(GRID)
        assert (lattice <= exact + 1e-12).all() and (lattice >= exact - 2e-6).all()
    for epsilon in (0.1, 1.0, 5.0):
        exact = budget_curve(PureDP(epsilon=epsilon)).misses(GRID)
        lattice = lattice_curve(book_entries(spherical(epsilon))).misses(GRID)
        assert (lattice <= exact + 1e-12).all() and (lattice >= exact - 2e-4).all()
    exact = budget_curve(ApproxDP(epsilon=1.0, delta=0.01)).misses(GRID)
    lattice = ledger_curve((approximate(1.0, 0.01),)).misses(GRID)
    assert (lattice <= exact + 1e-12).all() and (lattice >= exact - 2e-4).all()


def test_laplace_noise_on_a_number_has_its_own_curve() -> None:
    """The optimal test is a threshold on the number itself, whose likelihood ratio is monotone."""
    epsilon = 1.3
    thresholds = np.linspace(-6, 6, 301)

    def cdf(x: np.ndarray) -> np.ndarray:
        """Return the distribution function of the Laplace law."""
        return np.where(x < 0, np.exp(x) / 2, 1 - np.exp(-x) / 2)

    alarms, misses = 1 - cdf(thresholds), cdf(thresholds - epsilon)
    curve = ledger_curve(book_entries(laplace(epsilon))).misses(alarms)
    assert (curve <= misses + 1e-12).all() and (curve >= misses - 1e-5).all()
    vector = ledger_curve(book_entries(laplace(epsilon), value=np.zeros(3)))
    any_pure = budget_curve(PureDP(epsilon=epsilon)).misses(GRID)
    assert vector.misses(GRID) == pytest.approx(any_pure, abs=1e-5)


def test_zcdp_alone_has_a_lower_curve_than_gaussian_noise() -> None:
    expected = {0.0280144819: (0.997656, 0.980056, 0.838396)}
    for rho, values in expected.items():
        assert budget_curve(ZCDP(rho=rho)).misses(ALARMS) == pytest.approx(values, abs=5e-6)
    assert budget_curve(ZCDP(rho=0.5)).misses(ALARMS)[2] == pytest.approx(0.481396, abs=5e-6)
    for rho in (0.01, 0.5, 3.0):
        assert (budget_curve(ZCDP(rho=rho)).misses(GRID) <= gaussian_curve(rho).misses(GRID)).all()


def test_the_conversion_from_zcdp_is_the_inverse_of_the_ledgers() -> None:
    for rho, delta in ((0.5, 1e-6), (0.01, 1e-3), (3.0, 1e-9)):
        at_epsilon = concentrated_deltas(rho, np.array([zcdp_epsilon(rho, delta)]))
        assert at_epsilon[0] == pytest.approx(delta, rel=1e-3)
        assert at_epsilon[0] >= delta * (1 - 1e-9)


def test_exponential_mechanisms_agree_with_the_curve_of_the_ledger() -> None:
    choice = Exponential(sensitivity=1.0, epsilon=0.4)
    entries = book_entries(gaussian(0.1), choice, choice, choice, value=ZERO)
    curve = ledger_curve(entries)
    coarse = selection_epsilon(1e-6, 0.1, ((0.4, 3),), choices_first=False)
    assert curve.epsilon(1e-6) <= coarse * (1 + 1e-4)
    assert curve.epsilon(1e-6) == pytest.approx(coarse, rel=2e-2)


def test_the_worst_block_counts_at_every_epsilon() -> None:
    blocks = book_entries(gaussian(0.5), spherical(2.0), blocks=True)
    curve = ledger_curve(blocks).misses(GRID)
    for entries in ((blocks[0],), (blocks[1],)):
        assert (curve <= ledger_curve(entries).misses(GRID) + 1e-9).all()
    alike = book_entries(laplace(0.5), laplace(0.5), blocks=True)
    assert (ledger_curve(alike).misses(GRID) == ledger_curve(alike[:1]).misses(GRID)).all()
    mixed = ledger_curve(book_entries(laplace(0.5)) + blocks).misses(GRID)
    assert (mixed <= curve + 1e-9).all()


def test_a_test_and_the_noise_that_depends_on_it_are_one_release() -> None:
    """The noise is private only if the test passes, so the two must not be composed separately."""
    parts = tuple(
        approximate_entry(mechanism, "release", 1.0, 1.0, 1, cost)
        for mechanism, cost in (("noisy test", (0.5, 1e-7)), ("tested gaussian", (0.5, 1e-6)))
    )
    whole = budget_curve(ApproxDP(epsilon=1.0, delta=1.1e-6)).misses(GRID)
    assert ledger_curve(parts).misses(GRID) == pytest.approx(whole, abs=1e-5)


def test_thousands_of_releases_stay_above_their_exact_composition() -> None:
    curve = ledger_curve(book_entries(*[spherical(0.05)] * 2000))
    # This is the mean loss; the curve may exceed it by at most the deviation that zCDP allows.
    exact = 2000 * 0.05 * math.tanh(0.025)
    assert exact < curve.epsilon(1e-6) < zcdp_epsilon(exact, 1e-6)


def test_a_profile_that_is_not_convex_by_rounding_adds_no_mass() -> None:
    """A bend in the wrong direction would be taken for probability mass, and the curve would be too
    low.
    """
    shaped = Entry(
        mechanism="generalized gaussian",
        label="shaped",
        sensitivity=1.0,
        proven_sensitivity=1.0,
        noise=1.0,
        size=1,
        part=None,
        rho=0.5,
    )
    curve = ledger_curve((shaped,))
    promised = budget_curve(ZCDP(rho=0.5)).misses(np.array([0.1]))
    assert curve.misses(np.array([0.1])) == pytest.approx(promised, abs=1e-3)


def test_the_quantities_read_from_one_curve_agree() -> None:
    for rho in (0.02, 0.5):
        curve = gaussian_curve(rho)
        assert curve.epsilon(1e-6) == gaussian_epsilon(rho, 1e-6)
        gain = float(np.max(1 - GRID - curve.misses(GRID)))
        assert curve.advantage == pytest.approx(gain, abs=1e-4)
    assert gaussian_curve(0.5).advantage == pytest.approx(0.383, abs=5e-4)
    pure = budget_curve(PureDP(epsilon=1.0))
    for epsilon in (1.0, 3.0, 8.0):
        largest = budget_curve(PureDP(epsilon=epsilon)).advantage
        assert largest == pytest.approx(math.tanh(epsilon / 2), rel=1e-12)
    assert pure.epsilon(1e-9) == 1.0
    assert budget_curve(ApproxDP(epsilon=1.0, delta=1e-3)).epsilon(1e-6) == math.inf


def test_the_curve_of_a_huge_budget_is_nearly_zero() -> None:
    assert (ledger_curve(book_entries(spherical(1e4), gaussian(1e3))).misses(GRID)[1:] == 0).all()
    assert (budget_curve(PureDP(epsilon=1e6)).misses(GRID)[1:] < 1e-200).all()


@pytest.mark.parametrize("epsilon", [700.5, 1e3, 1e6])
def test_a_budget_beyond_the_range_of_exponentials_proves_no_smaller_epsilon(
    epsilon: float,
) -> None:
    for budget in (PureDP(epsilon=epsilon), ApproxDP(epsilon=epsilon, delta=1e-6)):
        curve = budget_curve(budget)
        assert curve.epsilon(1e-6) == epsilon
        # An alarm that is never false still misses all members but a share of delta.
        assert curve.misses(np.array([0.0]))[0] == pytest.approx(1.0, abs=2e-6)
        assert curve.misses(np.array([1e-300, 0.5]))[1] <= math.exp(-epsilon)
        assert curve.advantage == pytest.approx(1.0)


def test_releases_that_together_have_no_finite_ratio_of_laws_promise_nothing() -> None:
    """The exponential of a total epsilon of 750 is no double; each release alone has a curve."""
    curve = ledger_curve(book_entries(*[spherical(250.0)] * 3))
    assert np.isfinite(curve.deltas).all() and np.isfinite(curve.epsilons).all()
    assert (np.abs(curve.misses(GRID)) <= 1e-200).all()
    assert curve.epsilon(1e-6) == math.inf


def rounded_down(mechanism: str, cost: float, spacing: float) -> tuple[int, np.ndarray]:
    """Return the first multiple of the spacing, and the probabilities of the losses rounded down to
    multiples.

    The laws are written out by their distribution functions, and rounding down keeps below the true
    curve.
    """
    deviation = math.sqrt(2 * cost)
    reach = cost + 9 * deviation if mechanism == "gaussian" else cost
    low, high = math.floor(-reach / spacing) - 1, math.ceil(reach / spacing) + 1
    ends = spacing * np.arange(low, high + 1)
    if mechanism == "gaussian":
        masses = norm.cdf((ends - cost) / deviation)
    elif mechanism == "laplace":
        masses = np.where(ends > cost, 1.0, np.exp(-(cost - ends) / 2) / 2) * (ends > -cost)
    else:
        unlikely = 1 / (1 + math.exp(cost))
        masses = unlikely * (ends > -cost) + (1 - unlikely) * (ends > cost)
    return low, np.diff(masses)


@pytest.mark.parametrize("seed", range(8))
def test_no_mixed_ledger_is_below_its_losses_rounded_down(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = 10 ** rng.uniform(-2.5, 0.5)
    kinds = [str(kind) for kind in rng.choice(["gaussian", "laplace", "pure"], 3)]
    costs = [float(scale * x) for x in rng.uniform(0.1, 1, 3)]
    costs = [c * c / 4 if k == "gaussian" else c for k, c in zip(kinds, costs, strict=True)]
    make: dict[str, Any] = {"gaussian": gaussian, "laplace": laplace, "pure": spherical}
    entries = book_entries(*(make[k](c) for k, c in zip(kinds, costs, strict=True)))
    spacing, lowest, weights = scale / 400, 0, np.ones(1)
    for kind, cost in zip(kinds, costs, strict=True):
        low, law = rounded_down(kind, cost, spacing)
        lowest, weights = lowest + low, np.convolve(weights, law)
    losses = spacing * (lowest + np.arange(len(weights)))
    curve = lattice_curve(entries)
    for epsilon in np.linspace(0, 0.95 * curve.epsilons[-1], 30):
        least_delta = float(weights @ np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 0.0))))
        proven = float(np.interp(math.exp(epsilon), np.exp(curve.epsilons), curve.deltas))
        assert proven >= least_delta * (1 - 1e-9) - 1e-14
        assert proven <= least_delta + 4 * spacing  # The lattice is not wasteful, either.
