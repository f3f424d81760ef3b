"""Pure releases under zCDP, against quadrature, Renyi divergences and Google's accountant."""

import itertools
import math

import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant
from scipy.integrate import quad

from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    BudgetExceeded,
    Exponential,
    GaussianNoise,
    LaplaceNoise,
    Ledger,
    ObjectiveLaplace,
    PureDP,
    SphericalLaplaceNoise,
    concentrated_rho,
    laplace_allowance,
    laplace_rho,
    pure_epsilon,
    pure_rho,
)
from dpsco_core.privacy.concentration import (
    choice_epsilon_of,
    choice_rho,
    laplace_epsilon,
    pure_epsilon_of,
)
from dpsco_core.privacy.entries import Entry

ORDERS = np.concatenate([1 + np.geomspace(1e-3, 1, 40), np.geomspace(2, 1e4, 60)])
EPSILONS = (1e-9, 0.01, 0.1, 0.4999, 0.5, 1.0, 3.0, 20.0)
ZERO = np.zeros(2)


def random_response_divergence(epsilon: float, order: float) -> float:
    """Return the Renyi divergence of a coin with log-odds epsilon against its mirror image."""
    likely = -math.log1p(math.exp(-epsilon))
    rare = likely - epsilon
    logs = (
        order * likely + (1 - order) * rare,
        order * rare + (1 - order) * likely,
    )
    return float(np.logaddexp(*logs)) / (order - 1)


def laplace_divergence(epsilon: float, order: float) -> float:
    """Return the Renyi divergence of Laplace noise of scale 1 from a shifted copy, in closed
    form.
    """
    gain = math.log(order / (2 * order - 1)) + (order - 1) * epsilon
    loss = math.log((order - 1) / (2 * order - 1)) - order * epsilon
    return float(np.logaddexp(gain, loss)) / (order - 1)


def test_the_costs_have_the_values_of_the_note() -> None:
    table = {
        0.1: (0.00483742, 0.00499584, 0.00125),
        1.0: (0.367879, 0.462117, 0.125),
        3.0: (2.04979, 2.71544, 1.125),
    }
    for epsilon, expected in table.items():
        costs = laplace_rho(epsilon), pure_rho(epsilon), choice_rho(epsilon)
        assert costs == pytest.approx(expected, rel=2e-6)


def test_the_rho_of_laplace_noise_is_its_divergence_by_quadrature() -> None:
    """The rho of Laplace noise is the Kullback-Leibler divergence, the limit of the ratio at order
    1.
    """
    for epsilon in (0.05, 0.3, 1.0, 4.0):
        divergence, _ = quad(
            lambda x, e=epsilon: math.exp(-abs(x)) / 2 * (abs(x - e) - abs(x)),
            -40,
            45,
            points=[0, epsilon],
            epsabs=1e-13,
        )
        assert laplace_rho(epsilon) == pytest.approx(divergence, rel=1e-9)


def test_no_order_exceeds_either_rho_and_order_one_attains_it() -> None:
    for epsilon in EPSILONS[1:]:
        for cost, divergence in (
            (laplace_rho, laplace_divergence),
            (pure_rho, random_response_divergence),
        ):
            ratios = [divergence(epsilon, float(order)) / order for order in ORDERS]
            rounding = 1e-12
            assert max(ratios) <= cost(epsilon) + rounding
            assert ratios[0] == pytest.approx(cost(epsilon), rel=1e-3 * max(1, epsilon))
            falls = np.diff(ratios) <= rounding
            assert falls.all(), "the ratio does not increase with the order"


def test_the_accountant_of_google_agrees_on_laplace_noise() -> None:
    from dp_accounting import LaplaceDpEvent

    orders = [1.5, 2.0, 4.0, 16.0]
    for epsilon in (0.1, 1.0, 3.0):
        accountant = rdp_privacy_accountant.RdpAccountant(orders)
        accountant.compose(LaplaceDpEvent(1 / epsilon))
        # The library has no public access to the curve.
        ratios = accountant._rdp / np.array(orders)
        expected = [laplace_divergence(epsilon, order) / order for order in orders]
        assert ratios == pytest.approx(expected, rel=1e-9)
        assert (ratios <= laplace_rho(epsilon)).all()


def test_small_epsilons_do_not_cancel() -> None:
    for epsilon in (1e-150, 1e-12, 1e-8, 1e-4):
        assert laplace_rho(epsilon) == pytest.approx(epsilon**2 / 2 * (1 - epsilon / 3), rel=1e-8)
        assert laplace_rho(epsilon) > 0
    assert laplace_rho(math.nextafter(0.5, 0.0)) == pytest.approx(laplace_rho(0.5), rel=1e-14)


def test_laplace_noise_costs_less_than_any_pure_release_and_a_choice_less_still() -> None:
    """All three cost at most half of epsilon squared; Laplace noise costs less than that, and a
    choice still less.
    """
    for epsilon in EPSILONS[1:]:
        assert choice_rho(epsilon) <= pure_rho(epsilon)
        assert laplace_rho(epsilon) < pure_rho(epsilon) < epsilon**2 / 2
    assert choice_rho(0.1) < laplace_rho(0.1), "an eighth of the square is too small for Laplace"
    assert choice_rho(10.0) == pure_rho(10.0) < 100 / 8


def test_laplace_noise_on_several_entries_costs_no_more_than_on_one() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        parts = rng.dirichlet(np.ones(5)) * rng.uniform(0.01, 6)
        assert sum(laplace_rho(float(x)) for x in parts) <= laplace_rho(float(parts.sum()))


def test_the_inverse_of_a_cost_is_the_largest_epsilon_within_it() -> None:
    for rho in (1e-300, 1e-20, 1e-6, 0.0280144819, 0.5, 8.0, 100.0, 1e6, 1e12):
        for inverse, cost in (
            (laplace_epsilon, laplace_rho),
            (pure_epsilon_of, pure_rho),
            (choice_epsilon_of, choice_rho),
        ):
            epsilon = inverse(rho)
            assert cost(epsilon) <= rho * (1 + 1e-15)
            assert cost(epsilon * (1 + 1e-12)) >= rho * (1 - 1e-15)
    assert laplace_epsilon(0.5) == pytest.approx(1.19829, rel=1e-6)
    shares = (0.05, 0.95)
    joint = pure_epsilon_of(0.5, shares)
    assert joint > pure_epsilon_of(0.5)
    assert sum(pure_rho(s * joint) for s in shares) == pytest.approx(0.5, rel=1e-12)


def test_budgets_convert_by_the_exact_costs_and_the_papers_by_half_the_square() -> None:
    pure = PureDP(epsilon=1.0)
    assert pure.to_zcdp().rho == concentrated_rho(pure) == pure_rho(1.0)
    assert pure.to_zcdp("paper").rho == 0.5
    assert pure_rho(pure_epsilon(ZCDP(rho=0.5))) == pytest.approx(0.5, rel=1e-14)
    assert laplace_rho(laplace_allowance(ZCDP(rho=0.5))) == pytest.approx(0.5, rel=1e-14)
    assert laplace_allowance(pure) == 1.0 == laplace_allowance(ApproxDP(epsilon=1.0, delta=1e-6))
    assert pure_epsilon(ZCDP(rho=1e12)) == 1e6


def spent_rho(*mechanisms: object, disjoint: bool = False) -> float:
    """Return the rho that a ledger records for releases, each on its own block if they are
    disjoint.
    """
    ledger, rng = Ledger(ZCDP(rho=100.0)), np.random.default_rng(0)
    places = ledger.disjoint(len(mechanisms)) if disjoint else [ledger] * len(mechanisms)
    for place, mechanism in zip(places, mechanisms, strict=True):
        place.release(mechanism, ZERO, rng)  # type: ignore[arg-type]
    spent = ledger.spent()
    assert isinstance(spent, ZCDP)
    return spent.rho


def test_ten_laplace_releases_cost_ten_times_one() -> None:
    noise = LaplaceNoise(l1_sensitivity=1.0, epsilon=0.1)
    assert spent_rho(*[noise] * 10) == pytest.approx(0.0483742, rel=1e-6)
    assert spent_rho(*[noise] * 10) < laplace_rho(1.0), "not the cost of their sum"
    assert spent_rho(*[noise] * 10, disjoint=True) == pytest.approx(laplace_rho(0.1), rel=1e-15)


def test_each_mechanism_is_booked_at_its_own_proven_cost() -> None:
    spherical = SphericalLaplaceNoise(l2_sensitivity=1.0, epsilon=0.7)
    objective = ObjectiveLaplace(l2_sensitivity=1.0, epsilon=0.5, jacobian_epsilon=0.2)
    assert spent_rho(spherical) == spent_rho(objective) == pytest.approx(pure_rho(0.7), rel=1e-15)
    assert spent_rho(Exponential(sensitivity=1.0, epsilon=0.7)) == 0.7**2 / 8
    assert spent_rho(Exponential(sensitivity=1.0, epsilon=12.0)) == pure_rho(12.0) < 18
    total = spent_rho(
        spherical,
        LaplaceNoise(l1_sensitivity=1.0, epsilon=0.3),
        GaussianNoise(l2_sensitivity=1.0, rho=0.02),
    )
    assert total == pytest.approx(pure_rho(0.7) + laplace_rho(0.3) + 0.02, rel=1e-14)


def test_an_entry_shows_the_rho_that_is_booked() -> None:
    mechanisms = (
        LaplaceNoise(l1_sensitivity=1.0, epsilon=0.3),
        SphericalLaplaceNoise(l2_sensitivity=1.0, epsilon=0.3),
        ObjectiveLaplace(l2_sensitivity=1.0, epsilon=0.2, jacobian_epsilon=0.1),
        Exponential(sensitivity=1.0, epsilon=0.3),
    )
    for mechanism in mechanisms:
        assert mechanism.entry(ZERO, "value").rho == pytest.approx(spent_rho(mechanism), rel=1e-14)


def test_a_pure_entry_without_a_rho_is_charged_the_general_cost() -> None:
    """A plugin's mechanism may omit the field; its release is still not free under zCDP."""

    class Careless(LaplaceNoise):
        def entry(self, value: np.ndarray, label: str) -> Entry:
            """Return the entry without its rho."""
            return Entry(**vars(super().entry(value, label)) | {"rho": 0.0})

    assert spent_rho(Careless(l1_sensitivity=1.0, epsilon=0.7)) == laplace_rho(0.7)


def test_a_ledger_takes_laplace_noise_up_to_its_exact_cost_and_no_more() -> None:
    budget, rng = ZCDP(rho=0.5), np.random.default_rng(0)
    largest = laplace_allowance(budget)
    ledger = Ledger(budget)
    ledger.release(LaplaceNoise(l1_sensitivity=1.0, epsilon=largest), ZERO, rng)
    assert ledger.spent() == budget
    assert ledger.bound_by() == ("zcdp",), "its epsilon is above what any pure algorithm may have"
    for mechanism in (
        LaplaceNoise(l1_sensitivity=1.0, epsilon=largest * (1 + 1e-9)),
        SphericalLaplaceNoise(l2_sensitivity=1.0, epsilon=largest),
    ):
        with pytest.raises(BudgetExceeded):
            Ledger(budget).release(mechanism, ZERO, rng)


def test_composition_of_pure_releases_covers_their_exact_divergence() -> None:
    """Products of randomised responses at many orders, compared with the sum of their rho."""
    for epsilons in itertools.product((0.2, 1.0, 4.0), repeat=2):
        booked = spent_rho(
            *(SphericalLaplaceNoise(l2_sensitivity=1.0, epsilon=epsilon) for epsilon in epsilons)
        )
        for order in ORDERS:
            divergence = sum(random_response_divergence(e, float(order)) for e in epsilons)
            assert divergence <= booked * order + 1e-12
