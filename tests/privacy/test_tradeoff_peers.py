"""Trade-off curves against a public library, gdpnum.

The library takes the law of the privacy loss from Google's accountant and derives the trade-off by
the test of Neyman and Pearson. An error in that step shows here; `test_tradeoff.py` cannot see it
where it compares only curves of (epsilon, delta).
"""

import math

import gdpnum
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters

from dpsco_core.privacy import ApproxDP, gaussian_allowance
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.tradeoff import gaussian_curve, ledger_curve
from tests.privacy.test_tradeoff import approximate, book_entries, gaussian, laplace, spherical

GRID = np.linspace(0.0005, 0.9995, 401)
# Google's accountant has this spacing of losses. It is a power of two, as are the epsilons of the
# worst-case releases below, so that their two losses lie on the lattice and are not rounded up.
SPACING = 2**-13
# The two lattices of losses, both pessimistic, differ by at most this; that of this library is
# coarser.
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


def law_of_sum(*laws: LossLaw) -> LossLaw:
    """Return the law of the sum of independent losses."""
    total, *rest = laws
    for law in rest:
        total = total.compose(law)
    return total


LEDGERS = {
    "one Laplace release": (book_entries(laplace(1.25)), law_of_sum(laplace_law(1.25))),
    "Laplace releases of three sizes": (
        book_entries(laplace(0.2), laplace(0.2), laplace(0.5)),
        law_of_sum(laplace_law(0.2), laplace_law(0.2), laplace_law(0.5)),
    ),
    "ten Laplace releases": (
        book_entries(*[laplace(0.1)] * 10),
        law_of_sum(*[laplace_law(0.1)] * 10),
    ),
    "Gaussian and Laplace": (
        book_entries(gaussian(0.05), laplace(0.3), laplace(0.7)),
        law_of_sum(gaussian_law(0.05), laplace_law(0.3), laplace_law(0.7)),
    ),
    "any pure release and Gaussian": (
        book_entries(spherical(0.5), gaussian(0.1)),
        law_of_sum(approximate_law(0.5, 0.0), gaussian_law(0.1)),
    ),
    "all kinds": (
        (*book_entries(gaussian(0.02), spherical(0.25), laplace(0.2)), approximate(0.125, 1e-4)),
        law_of_sum(
            gaussian_law(0.02),
            approximate_law(0.25, 0.0),
            laplace_law(0.2),
            approximate_law(0.125, 1e-4),
        ),
    ),
}


@pytest.mark.parametrize(("entries", "law"), LEDGERS.values(), ids=LEDGERS)
def test_ledgers_have_the_misses_that_gdpnum_finds(
    entries: tuple[Entry, ...], law: LossLaw
) -> None:
    misses = gdpnum.PLDConverter(law).get_beta(GRID)
    assert ledger_curve(entries).misses(GRID) == pytest.approx(misses, abs=LATTICES)


@pytest.mark.parametrize("rho", [0.001, 0.0280144819, 0.5, 4.0])
def test_gaussian_ledgers_have_the_distance_that_gdpnum_finds(rho: float) -> None:
    curve = ledger_curve(book_entries(gaussian(rho / 4), gaussian(3 * rho / 4)))
    mu, regret = gdpnum.PLDConverter(gaussian_law(rho)).get_mu_and_regret()
    assert regret < 1e-5
    assert curve.mu == pytest.approx(mu, rel=1e-5)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-6), (1.0, 1e-2), (4.0, 1e-9)])
def test_the_distance_of_a_budget_has_the_epsilon_of_gdpnum(epsilon: float, delta: float) -> None:
    mu = math.sqrt(2 * gaussian_allowance(ApproxDP(epsilon=epsilon, delta=delta)))
    accountant = gdpnum.CTDAccountant()
    accountant.step(noise_multiplier=1 / mu, sample_rate=1.0)
    assert accountant.get_epsilon(delta=delta) == pytest.approx(epsilon, rel=1e-4)
    assert gaussian_curve(mu**2 / 2).epsilon(delta) == pytest.approx(epsilon, rel=1e-9)
