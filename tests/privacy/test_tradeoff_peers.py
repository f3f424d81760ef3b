"""Trade-off curves against two public libraries, riskcal and gdpnum.

Both take the law of the privacy loss from Google's accountant and get the trade-off from it by the
test of Neyman and Pearson: an error of ours in that step, which `test_tradeoff.py` cannot see where
it compares curves of (epsilon, delta) alone, would show here.
"""

import math

import gdpnum
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from riskcal import analysis
from riskcal.accountants import CTDAccountant
from riskcal.calibration.blackbox import find_noise_multiplier_for_epsilon_delta

from dpsco_core.privacy import ZCDP, ApproxDP, Budget, PureDP, gaussian_allowance
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.tradeoff import budget_curve, gaussian_curve, ledger_curve, odds
from tests.privacy.test_tradeoff import approximate, booked, gaussian, laplace, spherical

GRID = np.linspace(0.0005, 0.9995, 401)
# Of the losses of Google's accountant. A power of two, and so are the epsilons below of releases of
# which no more is known: their two losses lie on the lattice, and are not rounded up.
SPACING = 2**-13
# What the two lattices of losses may differ by, both pessimistic: ours is the coarser one.
LATTICES = 1e-5

LossLaw = pld.PrivacyLossDistribution


def gaussian_law(rho: float) -> LossLaw:
    """Return Google's law of the losses of Gaussian noise of this rho."""
    noise_std = 1 / math.sqrt(2 * rho)
    return pld.from_gaussian_mechanism(noise_std, value_discretization_interval=SPACING)


def laplace_law(epsilon: float) -> LossLaw:
    """Return Google's law of the losses of Laplace noise on a number."""
    return pld.from_laplace_mechanism(1 / epsilon, value_discretization_interval=SPACING)


def approximate_law(epsilon: float, delta: float) -> LossLaw:
    """Return Google's law of the losses of the worst release that is (epsilon, delta)-DP."""
    return pld.from_privacy_parameters(
        DifferentialPrivacyParameters(epsilon, delta), value_discretization_interval=SPACING
    )


def sum_of(*laws: LossLaw) -> LossLaw:
    """Return the law of the sum of independent losses."""
    total, *rest = laws
    for law in rest:
        total = total.compose(law)
    return total


LEDGERS = {
    "one Laplace release": (booked(laplace(1.25)), sum_of(laplace_law(1.25))),
    "Laplace releases of three sizes": (
        booked(laplace(0.2), laplace(0.2), laplace(0.5)),
        sum_of(laplace_law(0.2), laplace_law(0.2), laplace_law(0.5)),
    ),
    "ten Laplace releases": (
        booked(*[laplace(0.1)] * 10),
        sum_of(*[laplace_law(0.1)] * 10),
    ),
    "Gaussian and Laplace": (
        booked(gaussian(0.05), laplace(0.3), laplace(0.7)),
        sum_of(gaussian_law(0.05), laplace_law(0.3), laplace_law(0.7)),
    ),
    "any pure release and Gaussian": (
        booked(spherical(0.5), gaussian(0.1)),
        sum_of(approximate_law(0.5, 0.0), gaussian_law(0.1)),
    ),
    "all kinds": (
        (*booked(gaussian(0.02), spherical(0.25), laplace(0.2)), approximate(0.125, 1e-4)),
        sum_of(
            gaussian_law(0.02),
            approximate_law(0.25, 0.0),
            laplace_law(0.2),
            approximate_law(0.125, 1e-4),
        ),
    ),
}


@pytest.mark.parametrize(("entries", "law"), LEDGERS.values(), ids=LEDGERS)
def test_ledgers_have_the_misses_of_both_libraries(
    entries: tuple[Entry, ...], law: LossLaw
) -> None:
    curve = ledger_curve(entries)
    peers = (
        analysis.get_beta_from_pld(law, alpha=GRID),
        gdpnum.PLDConverter(law).get_beta(GRID),
    )
    for misses in peers:
        assert curve.misses(GRID) == pytest.approx(misses, abs=LATTICES)
    assert curve.advantage == pytest.approx(analysis.get_advantage_from_pld(law), abs=LATTICES)


@pytest.mark.parametrize("rho", [0.001, 0.0280144819, 0.5, 4.0])
def test_gaussian_ledgers_have_the_distance_that_gdpnum_finds(rho: float) -> None:
    curve = ledger_curve(booked(gaussian(rho / 4), gaussian(3 * rho / 4)))
    mu, regret = gdpnum.PLDConverter(gaussian_law(rho)).get_mu_and_regret()
    assert regret < 1e-5
    assert curve.mu == pytest.approx(mu, rel=1e-5)
    assert curve.misses(GRID) == pytest.approx(analysis.get_beta_from_gdp(mu, GRID), abs=1e-5)
    assert curve.advantage == pytest.approx(analysis.get_advantage_from_gdp(mu), rel=1e-5)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-6), (1.0, 1e-2), (4.0, 1e-9)])
def test_the_distance_of_a_budget_is_the_one_that_riskcal_calibrates_to(
    epsilon: float, delta: float
) -> None:
    """From (epsilon, delta) to mu by riskcal's search, and back by gdpnum's accountant."""
    mu = math.sqrt(2 * gaussian_allowance(ApproxDP(epsilon=epsilon, delta=delta)))
    noise_multiplier = find_noise_multiplier_for_epsilon_delta(
        CTDAccountant,
        sample_rate=1.0,
        num_steps=1,
        epsilon=epsilon,
        delta=delta,
        eps_error=1e-4,
        mu_min=0.5,
        grid_step=1e-3,
    )
    assert mu == pytest.approx(1 / noise_multiplier, rel=1e-3)
    accountant = gdpnum.CTDAccountant()
    accountant.step(noise_multiplier=1 / mu, sample_rate=1.0)
    assert accountant.get_epsilon(delta=delta) == pytest.approx(epsilon, rel=1e-4)
    assert gaussian_curve(mu**2 / 2).epsilon(delta) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize(
    "budget",
    [
        PureDP(epsilon=0.1),
        PureDP(epsilon=3.0),
        ApproxDP(epsilon=1.0, delta=1e-6),
        ApproxDP(epsilon=0.5, delta=0.1),
    ],
    ids=str,
)
def test_what_every_private_algorithm_leaves_is_what_riskcal_says(
    budget: PureDP | ApproxDP,
) -> None:
    cost = (budget.epsilon, budget.delta if isinstance(budget, ApproxDP) else 0.0)
    curve = budget_curve(budget)
    assert curve.misses(GRID) == pytest.approx(analysis.get_beta_from_adp(*cost, GRID), rel=1e-12)
    assert curve.advantage == pytest.approx(analysis.get_advantage_from_adp(*cost), rel=1e-12)
    # The same curve, read the other way: the epsilon that the two shares of errors refute.
    for alarms in (0.01, 0.3):
        misses = float(curve.misses(np.array([alarms]))[0])
        refuted = analysis.get_epsilon_from_err_rates(cost[1], alarms, misses)
        assert refuted == pytest.approx(budget.epsilon, rel=1e-9)


@pytest.mark.parametrize("rho", [0.5, 2.0])
def test_what_zcdp_leaves_is_no_more_than_riskcal_proves(rho: float) -> None:
    """riskcal's conversion is the best for each order: its curve lies between ours and Gaussian's.

    Below a rho of about 0.1 its search loses digits, and its curve rises above that of Gaussian
    noise, which is zCDP: it cannot be a judge there.
    """
    proven = budget_curve(ZCDP(rho=rho)).misses(GRID)
    best_proven = analysis.get_beta_from_zcdp(rho, GRID)
    assert (proven <= best_proven + 1e-6).all()
    assert (proven >= best_proven - 0.1).all()
    assert (best_proven <= gaussian_curve(rho).misses(GRID) + 1e-6).all()


@pytest.mark.parametrize(
    "budget", [ApproxDP(epsilon=1.0, delta=1e-6), ZCDP(rho=0.1), PureDP(epsilon=1.0)], ids=str
)
def test_the_odds_on_screen_are_those_of_both_libraries(budget: Budget) -> None:
    rho = gaussian_allowance(budget)
    for row in odds(budget):
        if rho:
            mu, _ = gdpnum.PLDConverter(gaussian_law(rho)).get_mu_and_regret()
            expected = analysis.get_beta_from_gdp(mu, row.false_alarms)
            assert row.gaussian_least_misses == pytest.approx(expected, abs=1e-5)
            assert row.least_misses < expected
        else:
            assert row.gaussian_least_misses is None
            expected = analysis.get_beta_from_adp(1.0, 0.0, row.false_alarms)
            assert row.least_misses == pytest.approx(expected, rel=1e-12)
