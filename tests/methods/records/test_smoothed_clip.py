"""The smooth truncation psi: values, shape, and the bound that its privacy needs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy import integrate, stats

from dpsco_core.methods.mean import NoiseSmoothing
from dpsco_core.methods.records import smooth_clip as module
from dpsco_core.methods.records.smooth_clip import smooth_table, smoothed_clip, smoothed_supremum
from tests.methods.mean.checks import change_of_statistic, make_setting, run, worst_neighbours

VARIANCES = (1e-4, 0.01, 0.1, 0.25, 0.5, 1.0, 2.0)
SUPREMUM = 2 * math.sqrt(2) / 3
LARGE_ENTRIES = np.array([1e3, 1e6, 1e9, 1e15, 1e100, 1e300, 1.7e308, math.inf])


def truncate(x: float) -> float:
    """Return Catoni's influence function at x, constant beyond the square root of 2."""
    return x - x**3 / 6 if abs(x) <= math.sqrt(2) else math.copysign(SUPREMUM, x)


def by_quadrature(u: float, variance: float) -> float:
    """Return E phi(u(1 + sqrt(c) Z)) by quadrature, split at the kinks of phi, with phi Catoni's
    influence function and c the variance.
    """
    s = math.sqrt(variance)
    kinks = [(sign * math.sqrt(2) / u - 1) / s for sign in (-1, 1)]
    ends = [-12.0, *sorted(k for k in kinks if -12 < k < 12), 12.0]
    return sum(
        integrate.quad(
            lambda z: truncate(u * (1 + s * z)) * math.exp(-z * z / 2),
            low,
            high,
            epsabs=1e-13,
            limit=200,
        )[0]
        for low, high in itertools.pairwise(ends)
    ) / math.sqrt(2 * math.pi)


def closed_form(u: float, variance: float) -> float:
    """Return the closed form of theory/kamath-liu-zhang.md, 2.3, with extra digits, as its terms
    cancel.
    """
    with mp.workdps(40):
        c, u, root, one_third = mp.mpf(variance), mp.mpf(u), mp.sqrt(2), mp.mpf(1) / 3
        s = mp.sqrt(c)
        low, high = (-root / u - 1) / s, (root / u - 1) / s
        value = u * (1 - u**2 * (one_third + c) / 2) * (mp.ncdf(high) - mp.ncdf(low))
        even = 2 * one_third - u**2 * (0.5 + c) * one_third
        odd = root * u / 6 * (mp.npdf(low) + mp.npdf(high))
        value += u * s * (even * (mp.npdf(low) - mp.npdf(high)) + odd)
        return float(value + 2 * root * one_third * (mp.ncdf(-high) - mp.ncdf(low)))


def test_psi_has_the_reference_values_of_the_note() -> None:
    u = np.array([0.1, 0.5, 1.0, 2.0, 10.0])
    reference = {
        1.0: [0.099333333333, 0.418529666345, 0.564087272574, 0.621625158869, 0.642734599198],
        0.1: [0.099783333333, 0.472916666670, 0.786146637967, 0.922380820563, 0.940996444608],
    }
    for variance, values in reference.items():
        np.testing.assert_allclose(smoothed_clip(u, variance), values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("variance", VARIANCES)
def test_psi_is_the_expectation_over_the_smoothing_noise(variance: float) -> None:
    entries = np.concatenate([np.geomspace(1e-6, 100, 41), np.linspace(0.9, 2.1, 13)])
    values = [by_quadrature(u, variance) for u in entries]
    np.testing.assert_allclose(smoothed_clip(entries, variance), values, rtol=0, atol=1e-10)


def random_entries(variance: float, count: int) -> np.ndarray:
    """Return entries inside and outside the range of the table, at its kink and at the ends of
    cells.
    """
    table, rng = smooth_table(variance), np.random.default_rng(5)
    ends = np.arange(1, 12) / table.cells_per_unit
    kink = table.bulk * (1 + np.array([-1e-9, 0, 1e-15, 1e-9]))
    parts = [np.exp(rng.uniform(-3, 9, count)), table.bulk / rng.random(count), [1e15, 1e100]]
    return np.concatenate([*parts, kink, 1 / ends, 1 / (ends * (1 + 1e-12))])


def check_accuracy(variance: float, count: int) -> None:
    """Assert that the smoothed clip agrees with its closed form to the proven error."""
    u = random_entries(variance, count)
    exact = [closed_form(x, variance) if x < 1e9 else smoothed_supremum(variance) for x in u]
    worst = np.abs(smoothed_clip(u, variance) - exact).max()
    # The tolerance is the proven error of the table, plus rounding.
    assert worst < module.CELL_ERROR + 4e-15
    assert 1e-12 * smoothed_supremum(variance) > module.CELL_ERROR


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_table_has_its_proven_accuracy(variance: float) -> None:
    check_accuracy(variance, 150)


@pytest.mark.slow
@pytest.mark.parametrize("variance", [*VARIANCES, 3e-3, 0.6])
def test_the_table_has_its_proven_accuracy_at_ten_thousand_entries(variance: float) -> None:
    check_accuracy(variance, 5000)


def test_the_fourth_derivative_is_bounded_as_the_table_assumes() -> None:
    """Each factor is bounded; the table assumes their product, which is nearly attained."""
    x = np.linspace(-4, 4, 80_001)
    largest = np.abs((x**3 - 3 * x) * stats.norm.pdf(x)).max()
    integral = integrate.quad(lambda t: (1 - t * t / 2) * t**4, 0, math.sqrt(2))[0]
    assert 0.999 * module.FOURTH_DERIVATIVE < 2 * largest * integral < module.FOURTH_DERIVATIVE


@pytest.mark.parametrize("variance", VARIANCES)
def test_psi_is_odd_monotone_and_never_above_its_supremum(variance: float) -> None:
    table = smooth_table(variance)
    kink = table.bulk * (1 + np.linspace(-1e-9, 1e-9, 2001))
    grid = np.sort(np.concatenate([np.geomspace(5e-324, 1e6, 20_001), kink, LARGE_ENTRIES]))
    values = smoothed_clip(grid, variance)
    np.testing.assert_array_equal(smoothed_clip(-grid, variance), -values)
    assert np.all(np.diff(values) >= -2 * module.CELL_ERROR)  # Both values have this accuracy.
    assert np.all(values <= smoothed_supremum(variance))
    assert np.all(values >= 0)
    assert values[-1] == pytest.approx(smoothed_supremum(variance), rel=3e-15)


@pytest.mark.parametrize("variance", VARIANCES)
def test_entries_of_the_cubic_are_below_the_supremum_without_a_clamp(variance: float) -> None:
    table = smooth_table(variance)
    values = smoothed_clip(np.linspace(0, table.bulk, 100_001), variance)
    assert np.all(np.diff(values) > 0)
    assert values.max() < smoothed_supremum(variance) - 0.005


@pytest.mark.parametrize("wrong", [0.0, 3.0, -2.0, 1e300])
def test_privacy_does_not_depend_on_the_table(
    wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever numbers a broken table contains, the clip of the result limits every entry."""
    table = smooth_table(0.25)
    broken = replace(table, coefficients=tuple(a * wrong for a in table.coefficients))
    monkeypatch.setattr(module, "smooth_table", lambda c: broken)
    u = np.concatenate([np.geomspace(1e-6, 1e6, 1001), LARGE_ENTRIES, [math.nan]])
    with np.errstate(all="ignore"):
        values = smoothed_clip(np.concatenate([u, -u]), 0.25)
    assert np.all(np.abs(values) <= smoothed_supremum(0.25))


@pytest.mark.parametrize("variance", VARIANCES)
def test_rounding_at_large_entries_cannot_leave_the_clamp(variance: float) -> None:
    """The bare closed form returns -36 at u = 1e6, c = 1, and -4e10 at 1e9."""
    top = smoothed_supremum(variance)
    np.testing.assert_allclose(smoothed_clip(LARGE_ENTRIES[1:], variance), top, rtol=0, atol=1e-11)
    assert np.all(
        np.abs(smoothed_clip(np.concatenate([LARGE_ENTRIES, -LARGE_ENTRIES]), variance)) <= top
    )


@settings(max_examples=300, deadline=None, derandomize=True)
@given(u=st.floats(), variance=st.floats(1e-4, 2.0))
def test_every_entry_is_mapped_within_the_supremum(u: float, variance: float) -> None:
    value = float(smoothed_clip(np.array([u]), variance)[0])
    assert abs(value) <= smoothed_supremum(variance)
    assert abs(value) <= abs(u) * (1 + 1e-9) or math.isnan(u)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_entries_of_other_types_are_converted(kind: type[np.number]) -> None:
    u = np.array([0, 1, 2, 70_000]).astype(kind)
    assert np.array_equal(smoothed_clip(u, 0.5), smoothed_clip(u.astype(float), 0.5))
    (limit,) = smoothed_clip(np.array([np.inf], np.float32), 0.5)
    assert smoothed_supremum(0.5) - 1e-12 < limit <= smoothed_supremum(0.5)


def test_nan_becomes_zero_and_small_entries_are_kept() -> None:
    small = np.array([math.nan, 0.0, -0.0, 1e-9, -1e-100, 5e-324])
    np.testing.assert_array_equal(smoothed_clip(small, 0.5), [0, 0, 0, 1e-9, -1e-100, 5e-324])
    u = np.geomspace(1e-12, 1e-3, 200)
    for variance in VARIANCES:  # The expansion is psi(u) = u - (1 + 3c) u^3 / 6 + ...
        expected = u - (1 + 3 * variance) * u**3 / 6
        np.testing.assert_allclose(smoothed_clip(u, variance), expected, rtol=1e-12)


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_supremum_is_the_probability_of_no_change_of_sign(variance: float) -> None:
    expected = SUPREMUM * (2 * stats.norm.cdf(1 / math.sqrt(variance)) - 1)
    assert smoothed_supremum(variance) == pytest.approx(expected, rel=1e-14)


def test_the_printed_noise_is_enough_from_variance_0_75568_on() -> None:
    threshold = 1 / stats.norm.ppf(7 / 8) ** 2
    assert threshold == pytest.approx(0.75568, abs=5e-6)
    assert 2 * smoothed_supremum(threshold) ** 2 == pytest.approx(1, rel=1e-12)
    table = {0.01: 1.7778, 0.1: 1.7722, 0.25: 1.6197, 0.5: 1.2625, 1: 0.8286, 2: 0.4816}
    for variance, factor in table.items():
        assert 2 * smoothed_supremum(variance) ** 2 == pytest.approx(factor, abs=5e-5)


@pytest.mark.parametrize("variance", [0.1, 0.25, 1.0])
def test_a_coordinate_moves_by_2_tau_supremum_over_n(variance: float) -> None:
    setting, method = make_setting(n=7, d=3), NoiseSmoothing(tau=2.0, smoothing_variance=variance)
    distances = change_of_statistic(method, setting, *worst_neighbours(method, setting))
    np.testing.assert_allclose(distances, 2 * 2.0 * smoothed_supremum(variance) / 7, rtol=1e-9)


def test_an_audit_of_the_printed_noise_at_variance_0_1_finds_4_thirds_of_the_allowed_shift() -> (
    None
):
    setting = make_setting(n=7, d=3)
    method = NoiseSmoothing(tau=2.0, smoothing_variance=0.1, calibration="paper")
    distance = float(
        np.linalg.norm(change_of_statistic(method, setting, *worst_neighbours(method, setting)))
    )
    noise = method.plan(setting).noise.noise_std
    allowed = math.sqrt(2 * setting.gaussian_rho)  # The largest allowed ratio of shift to noise.
    assert distance / noise / allowed == pytest.approx(math.sqrt(1.7722), rel=1e-4)


def test_the_estimate_is_a_mean_of_truncated_entries() -> None:
    x = np.random.default_rng(0).standard_t(2, size=(5000, 4))
    setting, method = make_setting(n=5000, d=4), NoiseSmoothing(tau=1.5, smoothing_variance=0.5)
    exact = run(method, setting, x).exact[0]
    np.testing.assert_allclose(exact, 1.5 * smoothed_clip(x / 1.5, 0.5).mean(axis=0), rtol=1e-12)
    assert np.all(np.abs(exact) <= 1.5 * smoothed_supremum(0.5))
