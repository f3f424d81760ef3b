"""Amplification by shuffling: divergences by brute force, tables, conditions, and fixed splits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_core.base.errors import InvalidInput
from dpsco_core.privacy import (
    ApproxDP,
    BudgetExceeded,
    GaussianNoise,
    Ledger,
    amplify,
    clones_delta,
    clones_epsilon,
    gaussian_allowance,
    gaussian_delta,
)
from tests.folded import each

SMALL = list(itertools.product((1, 2, 3, 5, 8, 13), (0.05, 0.3, 1.0, 2.0, 4.0, 8.0)))
EPSILONS = (0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 7.9)


def hockey_stick_divergence(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """Return the hockey-stick divergence of two discrete laws at this epsilon."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def shuffled_randomised_response(groups: int, local: float, epsilon: float) -> float:
    """Return the exact delta at epsilon of shuffled randomised response, from the count of ones in
    the worst case of the other bits.
    """
    true = 1 / (1 + math.exp(-local))
    false = true * math.exp(-local)
    worst = 0.0
    for one_count in range(groups):
        zeros = groups - 1 - one_count
        other_law = np.convolve(
            binom.pmf(np.arange(one_count + 1), one_count, true),
            binom.pmf(np.arange(zeros + 1), zeros, false),
        )
        p, q = np.convolve(other_law, [true, false]), np.convolve(other_law, [false, true])
        worst = max(
            worst, hockey_stick_divergence(p, q, epsilon), hockey_stick_divergence(q, p, epsilon)
        )
    return worst


def clones_divergence(groups: int, local: float, epsilon: float) -> float:
    """Return the divergence of the clones from its definition, over the joint law of both
    counts.
    """
    true = 1 / (1 + math.exp(-local))
    false = true * math.exp(-local)
    p, q = np.zeros((groups + 1, groups + 1)), np.zeros((groups + 1, groups + 1))
    for c in range(groups):
        for i in range(c + 1):
            weight = binom.pmf(c, groups - 1, math.exp(-local)) * binom.pmf(i, c, 0.5)
            p[i + 1, c - i] += weight * true
            p[i, c - i + 1] += weight * false
            q[i + 1, c - i] += weight * false
            q[i, c - i + 1] += weight * true
    return hockey_stick_divergence(p, q, epsilon)


@each(("groups", "local"), SMALL)
def test_the_divergence_is_that_of_the_clones(groups: int, local: float) -> None:
    for epsilon in EPSILONS:
        exact = clones_divergence(groups, local, epsilon)
        assert clones_delta(local, groups, epsilon) == pytest.approx(exact, rel=1e-9, abs=1e-13)


@each(("groups", "local"), SMALL)
def test_the_divergence_is_never_below_shuffled_randomised_response(
    groups: int, local: float
) -> None:
    for epsilon in EPSILONS:
        exact = shuffled_randomised_response(groups, local, epsilon)
        assert clones_delta(local, groups, epsilon) >= exact * (1 - 1e-9) - 1e-14
        if groups == 1:
            assert clones_delta(local, 1, epsilon) == pytest.approx(exact, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("local", [36.5, 45.0, 100.0, 500.0])
def test_the_divergence_survives_where_e_to_the_epsilon_swallows_one(local: float) -> None:
    """For one group, delta is (e^local - e^epsilon)/(1 + e^local), which is 1 - 1/e at an epsilon
    one below the local one.
    """
    assert clones_delta(local, 1, local - 1) == pytest.approx(1 - math.exp(-1), rel=1e-12)
    assert clones_delta(local, 5, local - 1) == pytest.approx(1 - math.exp(-1), rel=1e-9)


def test_the_divergence_falls_with_epsilon_and_with_groups_and_grows_with_the_local_epsilon() -> (
    None
):
    local = [clones_delta(x, 100, 1.0) for x in np.linspace(0.1, 20, 200)]
    assert np.all(np.diff(local) >= -1e-15)
    epsilon = [clones_delta(4.0, 100, x) for x in np.linspace(0, 5, 200)]
    assert np.all(np.diff(epsilon) <= 1e-15)
    groups = [clones_delta(4.0, k, 1.0) for k in range(1, 400)]
    assert np.all(np.diff(groups) <= 1e-12)
    assert clones_delta(1.0, 10, 1.0) == 0.0


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2, 0.3])
@pytest.mark.parametrize("groups", [31, 400, 9064])
def test_the_closed_form_is_above_the_divergence_wherever_its_side_condition_holds(
    groups: int, delta: float
) -> None:
    limit = math.log(groups / (16 * math.log(2 / delta)))
    if limit <= 0:
        with pytest.raises(InvalidInput, match="epsilon_group must be at most"):
            clones_epsilon(1e-3, groups, delta)
        return
    for local in np.linspace(0.02, 1, 12) * limit * (1 - 1e-9):
        epsilon = clones_epsilon(local, groups, delta)
        assert epsilon <= local
        assert clones_delta(local, groups, epsilon) <= delta
    with pytest.raises(InvalidInput, match="epsilon_group must be at most"):
        clones_epsilon(limit + 1e-6, groups, delta)


def test_the_closed_form_has_its_reference_value() -> None:
    local, groups, delta = 1.0, 10_000, 1e-6
    inner = 8 * math.sqrt(math.e * math.log(4 / delta) / groups) + 8 * math.e / groups
    value = math.log(1 + (math.e - 1) / (math.e + 1) * inner)
    assert clones_epsilon(local, groups, delta) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("groups", "route", "local", "delta_group", "rho"),
    [
        (200, "numerical", 1.606459, 6.1106e-10, 0.0396832),
        (800, "numerical", 2.501725, 1.6147e-10, 0.0855010),
        (2400, "numerical", 3.404687, 5.5114e-11, 0.1449470),
        (30000, "numerical", 5.809485, 4.4756e-12, 0.3525683),
        (800, "closed", 1.190572, None, 0.0207071),
        (2400, "closed", 2.289221, None, 0.0684084),
        (30000, "closed", 4.484752, None, 0.2176893),
    ],
)
def test_the_values_of_section_2_6_of_the_note_are_reproduced(
    groups: int, route: str, local: float, delta_group: float | None, rho: float
) -> None:
    amplified = amplify(groups, 1.0, 1e-6, route)
    assert amplified is not None
    # In theory/zhao-et-al.md, 2.6, the closed local epsilon at k=800 is rounded down.
    assert amplified.epsilon_group == pytest.approx(local, abs=5e-5 if groups == 800 else 6e-7)
    assert amplified.rho_group == pytest.approx(rho, abs=6e-8)
    if delta_group is not None:
        assert amplified.delta_group == pytest.approx(delta_group, rel=1e-4)


@each("route", ["closed", "numerical"])
@each("groups", [1, 7, 200, 2400, 30000])
@each("epsilon", [0.01, 0.3, 1.0, 5.0, 40.0])
@each("delta", [1e-12, 1e-6, 0.1])
def test_amplified_shares_add_up_to_their_target(
    groups: int, epsilon: float, delta: float, route: str
) -> None:
    amplified = amplify(groups, epsilon, delta, route)
    if amplified is None:
        assert route == "closed"
        assert groups <= 16 * math.log(4 / delta) * (1 + 1e-5)
        return
    local, delta_group = amplified.epsilon_group, amplified.delta_group
    assert gaussian_delta(amplified.rho_group, local) <= delta_group
    failure = (math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * groups * delta_group
    if route == "closed":
        assert clones_epsilon(local, groups, delta / 2) <= epsilon
    assert clones_delta(local, groups, epsilon) + failure <= delta * (1 + 1e-12)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.9])
@pytest.mark.parametrize("groups", [10, 1000, 10**5, 10**8])
def test_equation_24_follows_from_the_proof_of_theorem_6(groups: int, delta: float) -> None:
    """The terms of the proof are summed (theory/zhao-et-al.md, 7.1, item 6)."""
    limit = 8 * math.e**2 * math.sqrt(math.log(4 / delta) / groups)
    for share in (0.01, 0.3, 1 - 1e-12):
        epsilon = share * limit
        amplified = amplify(groups, epsilon, delta, "printed")
        wide = 1 + 2 * math.sqrt(math.log(12 * groups / delta))
        rho = epsilon**2 * groups / (64 * math.e**4 * math.log(8 / delta) * wide**2)
        local = rho + 2 * math.sqrt(rho * math.log(12 * groups / delta))
        assert rho < 1
        assert local <= 0.93
        # Equation [24] has the last term 8 e^local / k, while (75) prints 8 e^local / sqrt(k).
        for largest in (8 * math.exp(local) / groups, 8 * math.exp(local) / math.sqrt(groups)):
            root = 8 * math.sqrt(math.exp(local) * math.log(8 / delta) / groups)
            joint = min(math.log1p(math.tanh(local / 2) * (root + largest)), local)
            assert joint <= 0.17 * epsilon
            failure = (math.exp(joint) + 1) * (1 + math.exp(-local) / 2) * delta / 12
            assert delta / 2 + failure <= 0.851 * delta
        side_condition = groups >= 16 * math.exp(local) * math.log(4 / delta)
        assert (amplified is not None) is side_condition
        if amplified is not None:
            assert amplified.rho_group == pytest.approx(rho, rel=1e-12)
            assert amplified.epsilon_group == pytest.approx(local, rel=1e-12)
    assert amplify(groups, limit * (1 + 1e-9), delta, "printed") is None


def test_equation_24_has_its_regression_values_and_is_refused_outside_its_condition() -> None:
    for groups, rho in ((800, 1.28469675921e-4), (2397, 3.68991991789e-4)):
        amplified = amplify(groups, 1.0, 1e-6, "printed")
        assert amplified is not None
        assert amplified.rho_group == pytest.approx(rho, rel=1e-11)
    assert amplify(10**5, 1.0, 1e-6, "printed") is None


def test_equation_24_grows_with_epsilon_groups_and_delta() -> None:
    def rho(groups: int, epsilon: float, delta: float) -> float:
        """Return the rho of a group by the printed amplification."""
        amplified = amplify(groups, epsilon, delta, "printed")
        assert amplified is not None
        return amplified.rho_group

    assert rho(2000, 0.1, 1e-6) < rho(2000, 0.2, 1e-6)
    assert rho(2000, 0.1, 1e-6) < rho(4000, 0.1, 1e-6) < 2 * rho(2000, 0.1, 1e-6)
    assert rho(2000, 0.1, 1e-6) < rho(2000, 0.1, 1e-5)


@pytest.mark.parametrize(("delta", "crossing"), [(1e-5, 96400), (1e-6, 104300), (1e-8, 120300)])
def test_equation_24_beats_the_unamplified_rho_only_beyond_its_crossing(
    delta: float, crossing: int
) -> None:
    epsilon = 0.1
    simple = (epsilon / (1 + 2 * math.sqrt(math.log(1 / delta)))) ** 2
    for groups, is_amplified in ((9 * 10**4, False), (int(crossing * 1.01), True)):
        amplified = amplify(groups, epsilon, delta, "printed")
        assert amplified is not None
        assert (amplified.rho_group > simple) is is_amplified


@pytest.mark.parametrize(
    ("groups", "epsilon", "route", "attained"),
    [
        (10**6, 0.05, "printed", 2.2e-4),
        (3 * 10**5, 0.2, "printed", 2.7e-6),
        (2400, 0.3, "closed", 5.5e-4),
    ],
)
def test_a_fixed_split_attains_more_delta_than_the_theorem_claims(
    groups: int, epsilon: float, route: str, attained: float
) -> None:
    """On a fixed split the largest mean max_j Q_j has a Gaussian's curve (theory/zhao-et-al.md,
    7.3, item 27).

    The share that a fresh secret split may spend must therefore be refused as a plain release.
    """
    delta = 1e-6
    amplified = amplify(groups, epsilon, delta, route)
    assert amplified is not None
    true_delta = gaussian_delta(amplified.rho_group, epsilon)
    assert true_delta == pytest.approx(attained, rel=0.05)
    assert true_delta > delta
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    assert amplified.rho_group > gaussian_allowance(budget)
    ledger = Ledger(budget)
    with pytest.raises(BudgetExceeded):
        ledger.release(
            GaussianNoise(l2_sensitivity=1.0, rho=amplified.rho_group, disjoint_blocks=groups),
            np.zeros((groups, 1)),
            np.random.default_rng(0),
        )


def test_no_amplification_is_computed_beyond_the_range_of_doubles() -> None:
    for route in ("printed", "closed", "numerical"):
        assert amplify(100, 1e5, 1e-6, route) is None
    amplified = amplify(100, 500.0, 1e-6, "numerical")
    assert amplified is None or 0 < amplified.rho_group < math.inf
    assert clones_delta(1e5, 10, 1e4) <= 1


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 1.0, 1e-6, "closed"), "groups"),
        ((2.5, 1.0, 1e-6, "closed"), "groups"),
        ((math.nan, 1.0, 1e-6, "closed"), "groups"),
        ((10, -1.0, 1e-6, "closed"), "epsilon"),
        ((10, math.nan, 1e-6, "numerical"), "epsilon"),
        ((10, 1.0, 0.0, "numerical"), "delta"),
        ((10, 1.0, 1.0, "numerical"), "delta"),
        ((10, 1.0, 1e-6, "Closed"), "route"),
    ],
)
def test_invalid_input_is_refused_by_name(
    arguments: tuple[int, float, float, str], name: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{name} must be .* got {name}="):
        amplify(*arguments)


@pytest.mark.parametrize("local", [-1.0, 0.0, math.nan, math.inf])
def test_a_local_epsilon_must_be_positive(local: float) -> None:
    with pytest.raises(InvalidInput, match="epsilon_group must be"):
        clones_delta(local, 10, 0.5)
    with pytest.raises(InvalidInput, match="epsilon_group must be"):
        clones_epsilon(local, 10**6, 1e-6)
