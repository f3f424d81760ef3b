"""Trade-off curves against another public library, riskcal.

It is installed from source, which takes a compiler: `make test-slow` does that, `make test`
does not need it. Without it these tests fail.
"""

import math
from types import ModuleType

import numpy as np
import pytest

from dpsco_core.privacy import ZCDP, ApproxDP, Budget, PureDP, gaussian_allowance
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.tradeoff import budget_curve, gaussian_curve, ledger_curve, odds
from tests.privacy.test_tradeoff import book_entries, gaussian
from tests.privacy.test_tradeoff_peers import GRID, LATTICES, LEDGERS, LossLaw

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def analysis() -> ModuleType:
    """Return riskcal's module that analyses privacy losses."""
    from riskcal import analysis

    return analysis


@pytest.mark.parametrize(("entries", "law"), LEDGERS.values(), ids=LEDGERS)
def test_ledgers_have_the_misses_that_riskcal_finds(
    entries: tuple[Entry, ...], law: LossLaw, analysis: ModuleType
) -> None:
    curve = ledger_curve(entries)
    misses = analysis.get_beta_from_pld(law, alpha=GRID)
    assert curve.misses(GRID) == pytest.approx(misses, abs=LATTICES)
    assert curve.advantage == pytest.approx(analysis.get_advantage_from_pld(law), abs=LATTICES)


@pytest.mark.parametrize("rho", [0.001, 0.0280144819, 0.5, 4.0])
def test_gaussian_ledgers_have_the_curve_of_their_distance(
    rho: float, analysis: ModuleType
) -> None:
    curve, mu = (
        ledger_curve(book_entries(gaussian(rho / 4), gaussian(3 * rho / 4))),
        math.sqrt(2 * rho),
    )
    assert curve.misses(GRID) == pytest.approx(analysis.get_beta_from_gdp(mu, GRID), abs=1e-5)
    assert curve.advantage == pytest.approx(analysis.get_advantage_from_gdp(mu), rel=1e-5)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-6), (1.0, 1e-2), (4.0, 1e-9)])
def test_the_distance_of_a_budget_is_the_one_that_riskcal_calibrates_to(
    epsilon: float, delta: float
) -> None:
    from riskcal.accountants import CTDAccountant
    from riskcal.calibration.blackbox import find_noise_multiplier_for_epsilon_delta

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
def test_the_curve_of_every_private_algorithm_is_that_of_riskcal(
    budget: PureDP | ApproxDP,
    analysis: ModuleType,
) -> None:
    cost = (budget.epsilon, budget.delta if isinstance(budget, ApproxDP) else 0.0)
    curve = budget_curve(budget)
    assert curve.misses(GRID) == pytest.approx(analysis.get_beta_from_adp(*cost, GRID), rel=1e-12)
    assert curve.advantage == pytest.approx(analysis.get_advantage_from_adp(*cost), rel=1e-12)
    # The curve is also read in the other direction: the epsilon that two error rates refute.
    for alarms in (0.01, 0.3):
        misses = float(curve.misses(np.array([alarms]))[0])
        refuted = analysis.get_epsilon_from_err_rates(cost[1], alarms, misses)
        assert refuted == pytest.approx(budget.epsilon, rel=1e-9)


@pytest.mark.parametrize("rho", [0.5, 2.0])
def test_the_curve_under_zcdp_is_at_most_the_one_that_riskcal_proves(
    rho: float, analysis: ModuleType
) -> None:
    """riskcal's conversion is optimal for each order, so its curve lies between this library's and
    the Gaussian one.

    Below a rho of about 0.1 its search loses digits and its curve rises above that of Gaussian
    noise, although that noise is zCDP; such budgets are left out.
    """
    proven = budget_curve(ZCDP(rho=rho)).misses(GRID)
    best_proven = analysis.get_beta_from_zcdp(rho, GRID)
    assert (proven <= best_proven + 1e-6).all()
    assert (proven >= best_proven - 0.1).all()
    assert (best_proven <= gaussian_curve(rho).misses(GRID) + 1e-6).all()


@pytest.mark.parametrize(
    "budget", [ApproxDP(epsilon=1.0, delta=1e-6), ZCDP(rho=0.1), PureDP(epsilon=1.0)], ids=str
)
def test_the_odds_on_screen_are_those_of_riskcal(budget: Budget, analysis: ModuleType) -> None:
    rho = gaussian_allowance(budget)
    for row in odds(budget):
        if rho:
            expected = analysis.get_beta_from_gdp(math.sqrt(2 * rho), row.false_alarms)
            assert row.gaussian_least_misses == pytest.approx(expected, abs=1e-5)
            assert row.least_misses < expected
        else:
            assert row.gaussian_least_misses is None
            expected = analysis.get_beta_from_adp(1.0, 0.0, row.false_alarms)
            assert row.least_misses == pytest.approx(expected, rel=1e-12)
