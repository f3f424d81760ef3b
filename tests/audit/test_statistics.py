"""The statistics of audits: exact limits, false alarms at most as often as allowed, power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_core.audit.statistics import (
    audit,
    best_event,
    checkpoints,
    proportion_high,
    proportion_low,
    proven_epsilon,
    separating_direction,
    shared_confidence,
)
from dpsco_core.base.errors import InvalidInput
from dpsco_core.privacy.budget import gaussian_epsilon

FALSE_ALARM = 1e-6


@pytest.mark.parametrize("runs", [1, 7, 40])
@pytest.mark.parametrize("level", [0.001, 0.05])
def test_the_limits_of_a_probability_err_at_most_as_often_as_said(runs: int, level: float) -> None:
    """The coverage is computed from the exact binomial law, without a simulation."""
    counts = np.arange(runs + 1)
    low, high = proportion_low(counts, runs, level), proportion_high(counts, runs, level)
    assert low[0] == 0 and high[-1] == 1
    assert (np.diff(low) > 0).all() and (np.diff(high) > 0).all()
    for truth in np.linspace(0.01, 0.99, 25):
        weights = binom.pmf(counts, runs, truth)
        assert weights[low > truth].sum() <= level * (1 + 1e-9)
        assert weights[high < truth].sum() <= level * (1 + 1e-9)


def test_the_limits_agree_with_their_closed_forms_at_the_ends() -> None:
    assert proportion_low(20, 20, 0.01) == pytest.approx(0.01 ** (1 / 20))
    assert proportion_high(0, 20, 0.01) == pytest.approx(1 - 0.01 ** (1 / 20))


def test_the_proven_epsilon_is_never_negative_and_falls_with_delta() -> None:
    bounds = [float(proven_epsilon(300, 30, 500, delta, 0.001)) for delta in (0.0, 0.05, 0.2, 0.59)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == 0 and bounds[0] < math.log(10)


def alarms(
    outputs: np.ndarray, neighbour_outputs: np.ndarray, claim: float, delta: float, level: float
) -> int:
    """Return the number of audits that refute a claimed epsilon; each row of the two samples is one
    audit.
    """
    evidence = (
        audit(a[:, None], b[:, None], delta=delta, confidence=1 - level)
        for a, b in zip(outputs, neighbour_outputs, strict=True)
    )
    return sum(e.epsilon_lower_bound > claim for e in evidence)


def most_alarms(audits: int, level: float) -> int:
    """Return the least number of false alarms that has a chance below FALSE_ALARM if each audit
    errs with probability `level`.
    """
    return int(binom.isf(FALSE_ALARM, audits, level)) + 1


LEVEL, AUDITS, RUNS = 0.2, 150, 200  # A large level produces some false alarms.


def test_two_samples_of_one_law_are_rarely_declared_different() -> None:
    rng = np.random.default_rng(1)
    outputs, neighbour_outputs = rng.standard_cauchy((2, AUDITS, RUNS))
    assert alarms(outputs, neighbour_outputs, 0.0, 0.0, LEVEL) <= most_alarms(AUDITS, LEVEL)


def test_an_honest_mechanism_is_hardly_ever_accused() -> None:
    """Every half-line attains the epsilon of Laplace noise, so the claim is exactly true."""
    rng = np.random.default_rng(2)
    outputs, neighbour_outputs = rng.laplace(size=(2, AUDITS, RUNS))
    assert alarms(outputs + 1.0, neighbour_outputs, 1.0, 0.0, LEVEL) <= most_alarms(AUDITS, LEVEL)
    # The audit is able to refute: a quarter of the claim is refuted.
    assert alarms(outputs + 1.0, neighbour_outputs, 0.25, 0.0, LEVEL) > AUDITS / 2


def test_gaussian_noise_agrees_with_its_exact_curve_and_half_the_noise_does_not() -> None:
    rng = np.random.default_rng(3)
    rho, delta = 0.5, 0.1
    claim, shift = gaussian_epsilon(rho, delta), math.sqrt(2 * rho)
    outputs, neighbour_outputs = rng.normal(size=(2, 8000, 1))
    honest = audit(outputs + shift, neighbour_outputs, delta=delta, confidence=1 - FALSE_ALARM)
    assert 0.4 * claim < honest.epsilon_lower_bound <= claim
    halved = audit(outputs + 2 * shift, neighbour_outputs, delta=delta, confidence=1 - FALSE_ALARM)
    assert halved.epsilon_lower_bound > claim


def test_the_half_that_chooses_is_not_the_half_that_counts() -> None:
    """The samples differ in the even runs only, so no event chosen there proves anything on the odd
    runs.
    """
    rng = np.random.default_rng(4)
    outputs, neighbour_outputs = rng.normal(size=(2, 2000, 1))
    outputs[::2] += 10.0
    assert (
        audit(outputs, neighbour_outputs, delta=0.0, confidence=1 - FALSE_ALARM).epsilon_lower_bound
        == 0
    )
    outputs[1::2] += 10.0
    assert (
        audit(outputs, neighbour_outputs, delta=0.0, confidence=1 - FALSE_ALARM).epsilon_lower_bound
        > 3
    )


def test_the_test_is_two_sided_in_the_neighbours_and_in_the_event() -> None:
    rng = np.random.default_rng(5)
    narrow, wide = rng.normal(size=1000), np.abs(rng.normal(size=1000)) * 30 + 8
    for outputs, neighbour_outputs, is_above, likelier in (
        (wide, narrow, True, True),
        (narrow, wide, True, False),
        (-wide, narrow, False, True),
        (narrow, -wide, False, False),
    ):
        cut, side, is_first_likelier = best_event(outputs, neighbour_outputs, 0.0, 0.001)
        rate = [((x > cut) == side).mean() for x in (outputs, neighbour_outputs)]
        assert (rate[0] > rate[1]) == is_first_likelier
        evidence = audit(outputs[:, None], neighbour_outputs[:, None], delta=0.0, confidence=0.999)
        swapped = audit(neighbour_outputs[:, None], outputs[:, None], delta=0.0, confidence=0.999)
        assert evidence.epsilon_lower_bound == pytest.approx(swapped.epsilon_lower_bound)
        assert evidence.epsilon_lower_bound > 3
        assert {(side, is_first_likelier), (not side, not is_first_likelier)} >= {
            (is_above, likelier)
        }


def test_the_direction_finds_a_small_shift_among_loud_and_constant_numbers() -> None:
    rng = np.random.default_rng(6)
    loud = 100 * rng.normal(size=(2, 2000, 1))
    quiet = rng.normal(size=(2, 2000, 1))
    constant = np.full((2, 2000, 1), 7.0)
    outputs, neighbour_outputs = np.concatenate([loud, loud + quiet, constant], axis=2)
    outputs[:, 1] += 3.0
    direction = separating_direction(outputs, neighbour_outputs)
    assert direction[2] == 0
    assert direction[0] == pytest.approx(-direction[1], rel=0.05)
    assert audit(outputs, neighbour_outputs, delta=0.0, confidence=0.999).epsilon_lower_bound > 3


def test_the_looks_of_an_audit_share_its_error_probability() -> None:
    assert 1 - shared_confidence(0.999, 8) == pytest.approx(0.001 / 8)
    assert checkpoints(20_000) == (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
    assert checkpoints(100) == (100,)


def test_invalid_counts_of_an_audit_are_refused() -> None:
    good = np.zeros((40, 1))
    for outputs, neighbour_outputs, delta, confidence in (
        (good, good[:20], 0.0, 0.9),
        (good[:19], good[:19], 0.0, 0.9),
        (good, good, 1.0, 0.9),
        (good, good, 0.0, 1.0),
        (good, np.full((40, 1), np.nan), 0.0, 0.9),
    ):
        with pytest.raises(InvalidInput):
            audit(outputs, neighbour_outputs, delta=delta, confidence=confidence)
