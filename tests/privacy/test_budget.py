"""Conversions between budgets: known values, order, safe direction, an independent oracle."""

from __future__ import annotations

import itertools
import math

import dp_accounting
import mpmath
import numpy as np
import pytest
from dp_accounting import rdp
from scipy.integrate import quad
from scipy.stats import norm

from dpsco_core.base.errors import InvalidInput
from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    PureDP,
    concentrated_rho,
    gaussian_allowance,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_rho,
    pure_epsilon,
    zcdp_epsilon,
    zcdp_rho,
)
from tests.folded import each

EPSILONS = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e5)
DELTAS = (1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99, 0.999)
RHOS = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.5, 1.0, 5.0, 50.0, 1e3, 1e6)
GRID = list(itertools.product(EPSILONS, DELTAS))


def exact_gaussian_delta(rho: float, epsilon: float) -> mpmath.mpf:
    """Return the delta of Balle and Wang's Gaussian curve at rho and epsilon, in 60 digits."""
    with mpmath.workdps(60):
        nu, e = mpmath.sqrt(2 * mpmath.mpf(rho)), mpmath.mpf(epsilon)
        second_term = mpmath.exp(e) * mpmath.ncdf(-nu / 2 - e / nu)
        return mpmath.ncdf(nu / 2 - e / nu) - second_term


def tight_epsilon(rho: float, delta: float) -> float:
    """Return the least epsilon of a rho by Canonne, Kamath and Steinke, in 30 digits, by
    golden-section search.
    """
    with mpmath.workdps(30):
        r, log_1_delta = mpmath.mpf(rho), -mpmath.log(mpmath.mpf(delta))

        def bound_at(t: mpmath.mpf) -> mpmath.mpf:
            """Return the bound on epsilon at order 1 + exp(t)."""
            x = mpmath.exp(t)
            bracket = log_1_delta + x * mpmath.log(x / (1 + x)) - mpmath.log(1 + x)
            return (1 + x) * r + bracket / x

        coarse = [mpmath.mpf(t) for t in np.linspace(-30, 40, 141)]
        best = min(coarse, key=bound_at)
        low, high = best - 1, best + 1
        for _ in range(90):
            left_point, right_point = low + (high - low) * 0.382, low + (high - low) * 0.618
            low, high = (
                (low, right_point)
                if bound_at(left_point) < bound_at(right_point)
                else (left_point, high)
            )
        return max(0.0, float(bound_at(low)))


def test_the_three_conversions_have_their_known_values() -> None:
    assert zcdp_epsilon(0.5, 1e-6) == pytest.approx(5.221534, abs=5e-7)
    assert zcdp_epsilon(0.5, 1e-6, "paper") == pytest.approx(5.756522, abs=5e-7)
    assert gaussian_epsilon(0.5, 1e-6) == pytest.approx(4.886554, abs=5e-7)


@pytest.mark.parametrize(
    ("epsilon", "inverse", "curve"),
    [(1.0, 0.0174689048, 0.0280144819), (0.1, 1.80304e-4, 3.79354e-4)],
)
def test_the_values_of_section_2_3_of_the_note_are_reproduced(
    epsilon: float, inverse: float, curve: float
) -> None:
    assert zcdp_rho(epsilon, 1e-6, "paper") == pytest.approx(inverse, rel=4e-6)
    assert gaussian_rho(epsilon, 1e-6) == pytest.approx(curve, rel=4e-6)


@each(("epsilon", "delta"), GRID)
def test_the_paper_conversion_spends_at_most_tight_and_tight_at_most_the_exact_curve(
    epsilon: float, delta: float
) -> None:
    paper, tight = zcdp_rho(epsilon, delta, "paper"), zcdp_rho(epsilon, delta)
    assert 0 < paper <= tight * (1 + 1e-9)
    assert tight <= gaussian_rho(epsilon, delta)
    simple = (epsilon / (1 + 2 * math.sqrt(math.log(1 / delta)))) ** 2
    if epsilon <= 1:  # Equation (15) of Zhao et al. holds for epsilon up to 1.
        assert simple <= paper * (1 + 1e-12)
        assert zcdp_epsilon(simple, delta, "paper") <= epsilon * (1 + 1e-12)


def test_equation_16_of_zhao_fails_above_its_range() -> None:
    delta = 1e-6
    edge = 1 + 2 * math.sqrt(math.log(1 / delta))
    for factor, holds in ((0.99, True), (1.01, False)):
        rho = (factor * edge / edge) ** 2
        assert (zcdp_epsilon(rho, delta, "paper") <= factor * edge) is holds


@each(("rho", "delta"), list(itertools.product(RHOS, DELTAS)))
def test_epsilon_is_smallest_on_the_gaussian_curve_then_tight_then_paper(
    rho: float, delta: float
) -> None:
    tight = zcdp_epsilon(rho, delta)
    assert gaussian_epsilon(rho, delta) <= tight * (1 + 1e-9) + 1e-12
    assert tight <= zcdp_epsilon(rho, delta, "paper")


@each(("epsilon", "delta"), GRID)
def test_converting_back_never_exceeds_the_budget_and_comes_close(
    epsilon: float, delta: float
) -> None:
    rho = zcdp_rho(epsilon, delta)
    assert epsilon * (1 - 1e-6) <= zcdp_epsilon(rho, delta) <= epsilon
    paper = zcdp_epsilon(zcdp_rho(epsilon, delta, "paper"), delta, "paper")
    assert paper == pytest.approx(epsilon, rel=1e-12)
    curve = gaussian_epsilon(gaussian_rho(epsilon, delta), delta)
    assert curve == pytest.approx(epsilon, rel=1e-9)


@each(("epsilon", "delta"), GRID)
def test_the_rho_of_the_gaussian_curve_is_rounded_to_the_safe_side(
    epsilon: float, delta: float
) -> None:
    rho = gaussian_rho(epsilon, delta)
    assert exact_gaussian_delta(rho, epsilon) <= delta
    assert exact_gaussian_delta(rho * (1 + 1e-9), epsilon) > delta


@each(("rho", "delta"), list(itertools.product(RHOS, DELTAS)))
def test_the_epsilon_of_the_gaussian_curve_is_rounded_to_the_safe_side(
    rho: float, delta: float
) -> None:
    epsilon = gaussian_epsilon(rho, delta)
    assert exact_gaussian_delta(rho, epsilon) <= delta
    if epsilon:
        assert exact_gaussian_delta(rho, epsilon * (1 - 1e-8)) > delta


@pytest.mark.parametrize("rho", RHOS)
def test_the_gaussian_curve_is_exact_to_twelve_digits(rho: float) -> None:
    for multiple in (0, 1e-3, 0.1, 0.5, 1, 2, 5):
        epsilon = rho + (multiple - 1) * math.sqrt(2 * rho)
        if epsilon >= 0:
            exact = exact_gaussian_delta(rho, epsilon)
            assert abs(gaussian_delta(rho, epsilon) / exact - 1) < 1e-12


@pytest.mark.parametrize("rho", [0.02, 0.5, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_the_gaussian_curve_is_the_divergence_of_two_shifted_normals(
    rho: float, epsilon: float
) -> None:
    nu = math.sqrt(2 * rho)
    start = epsilon / nu + nu / 2  # The privacy loss reaches epsilon at this point.

    def excess(x: float) -> float:
        """Return the integrand of the hockey-stick divergence at x."""
        return float(norm.pdf(x, nu) - math.exp(epsilon) * norm.pdf(x))

    value, _ = quad(excess, start, start + 40, epsabs=0, epsrel=1e-10, limit=400)
    assert gaussian_delta(rho, epsilon) == pytest.approx(value, rel=1e-7)


@each("rho", [1e-12, 1e-8, 1e-4, 1e-2, 0.5, 10.0, 1e3, 1e6])
@each("delta", [1e-15, 1e-6, 1e-2, 0.5, 0.999])
def test_tight_is_the_optimum_over_all_orders(rho: float, delta: float) -> None:
    assert zcdp_epsilon(rho, delta) == pytest.approx(tight_epsilon(rho, delta), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("rho", [1e-4, 1e-2, 0.5, 5.0, 50.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2, 0.5])
def test_dp_accounting_agrees_on_every_zcdp_algorithm(rho: float, delta: float) -> None:
    orders = list(1 + np.geomspace(1e-3, 1e5, 4000))
    accountant = rdp.RdpAccountant(orders)
    for share in (0.25, 0.75):
        accountant.compose(dp_accounting.ZCDpEvent(share * rho))
    library_epsilon = accountant.get_epsilon(delta)
    own_epsilon = zcdp_epsilon(rho, delta)
    # The library's grid of orders can only be worse than the optimum.
    assert library_epsilon * (1 - 1e-5) <= own_epsilon <= library_epsilon * (1 + 1e-12)


@pytest.mark.parametrize("rho", [1e-4, 1e-2, 0.5, 5.0, 50.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
def test_dp_accounting_agrees_on_the_gaussian_mechanism(rho: float, delta: float) -> None:
    library_epsilon = dp_accounting.get_epsilon_gaussian(1 / math.sqrt(2 * rho), delta)
    assert gaussian_epsilon(rho, delta) == pytest.approx(library_epsilon, rel=1e-6, abs=1e-8)


def test_every_conversion_is_monotone() -> None:
    for delta in DELTAS:
        for convert in (zcdp_rho, gaussian_rho):
            values = [convert(epsilon, delta) for epsilon in EPSILONS]
            assert values == sorted(values)
        for convert in (zcdp_epsilon, gaussian_epsilon):
            values = [convert(rho, delta) for rho in RHOS]
            assert values == sorted(values)
    for epsilon in EPSILONS:
        for convert in (zcdp_rho, gaussian_rho):
            values = [convert(epsilon, delta) for delta in DELTAS]
            assert values == sorted(values)


def test_both_forms_of_lemma_2_3_of_kamath_agree() -> None:
    for epsilon in (0.01, 1.0, 30.0):
        rho = PureDP(epsilon=epsilon).to_zcdp("paper").rho
        printed = rho + epsilon * math.sqrt(2 * math.log(1e6))
        assert zcdp_epsilon(rho, 1e-6, "paper") == pytest.approx(printed, rel=1e-14)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0])
def test_randomised_response_keeps_within_half_epsilon_squared(epsilon: float) -> None:
    """The extreme epsilon-DP algorithm has Renyi divergence at most (epsilon^2/2) alpha."""
    p, q = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    rho = PureDP(epsilon=epsilon).to_zcdp().rho
    for alpha in (1.1, 1.5, 2.0, 10.0, 100.0):
        logs = np.array([alpha * math.log(p / q) + math.log(q), alpha * math.log(q / p)])
        logs[1] += math.log(p)
        divergence = np.logaddexp(*logs) / (alpha - 1)
        assert divergence <= rho * alpha * (1 + 1e-8)


def test_budgets_at_the_ends_of_every_range_can_be_converted() -> None:
    for epsilon in (1e-300, 1e-5, 1e6):
        assert PureDP(epsilon=max(epsilon, 1e-150)).to_zcdp().rho > 0
        for delta in (1e-300, 1e-15, 0.999):
            budget = ApproxDP(epsilon=max(epsilon, 1e-100), delta=delta)
            assert 0 < gaussian_allowance(budget) < math.inf
    assert concentrated_rho(PureDP(epsilon=1e6)) == 1e6
    assert pure_epsilon(ZCDP(rho=1e6)) == pytest.approx(1e6, rel=1e-15)
    assert gaussian_allowance(PureDP(epsilon=1.0)) == 0.0
    assert ZCDP(rho=0.5).to_approx(1e-6).epsilon == zcdp_epsilon(0.5, 1e-6)
    assert ApproxDP(epsilon=1.0, delta=1e-6).to_zcdp("paper").rho == zcdp_rho(1.0, 1e-6, "paper")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 0, -1.0, "1", None, 1e300])
def test_a_budget_refuses_every_value_but_a_positive_number(bad: float) -> None:
    with pytest.raises(InvalidInput, match=r"epsilon must be .*, got epsilon="):
        PureDP(epsilon=bad)
    with pytest.raises(InvalidInput, match=r"rho must be .*, got rho="):
        ZCDP(rho=bad)
    with pytest.raises(InvalidInput, match=r"epsilon must be .*, got epsilon="):
        ApproxDP(epsilon=bad, delta=1e-6)
    with pytest.raises(InvalidInput, match=r"delta must be .*, got delta="):
        ApproxDP(epsilon=1.0, delta=bad)
    with pytest.raises(InvalidInput):
        zcdp_epsilon(bad, 1e-6)
    with pytest.raises(InvalidInput):
        gaussian_rho(1.0, bad)


@pytest.mark.parametrize("epsilon", [-1.0, math.nan, math.inf])
def test_the_gaussian_curve_refuses_an_epsilon_below_zero(epsilon: float) -> None:
    with pytest.raises(InvalidInput, match="epsilon must be"):
        gaussian_delta(0.5, epsilon)


@pytest.mark.parametrize(
    ("rho", "delta"),
    [(1.5013282601355793e-08, 6.650261124524024e-05), (1e-10, 1e-3), (1e-9, 1e-5), (0.5, 1e-6)],
)
def test_rounding_leaves_the_tight_epsilon_on_the_safe_side(rho: float, delta: float) -> None:
    """Any order gives a valid epsilon, and the best order of a fine grid gives the smallest, to
    1e-6.
    """
    with mpmath.workdps(60):
        guess = 0.5 * (math.log(-math.log(delta)) - math.log(rho))

        def exact(log_order: float) -> mpmath.mpf:
            """Return the bound on epsilon at order 1 + exp(log_order), to many digits."""
            x = mpmath.exp(log_order)
            log_alpha = mpmath.log1p(x)
            bracket = -mpmath.log(delta) + x * (log_order - log_alpha) - log_alpha
            return (1 + x) * mpmath.mpf(rho) + bracket / x

        low, high = mpmath.mpf(guess - 6), mpmath.mpf(guess + 6)
        # The function falls and then rises, so thirds of the interval can be left out.
        for _ in range(200):
            left_third, right_third = low + (high - low) / 3, high - (high - low) / 3
            low, high = (
                (low, right_third) if exact(left_third) < exact(right_third) else (left_third, high)
            )
        minimum = max(mpmath.mpf(0), exact((low + high) / 2))
        assert minimum <= zcdp_epsilon(rho, delta) <= minimum * (1 + 1e-6)
