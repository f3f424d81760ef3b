"""The smooth truncation psi: values, shape, and the bound that privacy rests on."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpsco_core.mean import NoiseSmoothing
from dpsco_core.mean.smoothed import smoothed_clip, smoothed_supremum
from tests.mean.checks import change, run, setting, worst_neighbours

VARIANCES = (1e-4, 0.01, 0.1, 0.25, 0.5, 1.0, 2.0)
SUPREMUM = 2 * math.sqrt(2) / 3
FAR = np.array([1e3, 1e6, 1e9, 1e15, 1e100, 1e300, 1.7e308, math.inf])


def phi(x: float) -> float:
    return x - x**3 / 6 if abs(x) <= math.sqrt(2) else math.copysign(SUPREMUM, x)


def by_quadrature(u: float, variance: float) -> float:
    """E phi(u(1 + sqrt(c) Z)), split where phi has kinks; beyond 12 deviations lies 1e-33."""
    s = math.sqrt(variance)
    kinks = [(sign * math.sqrt(2) / u - 1) / s for sign in (-1, 1)]
    ends = [-12.0, *sorted(k for k in kinks if -12 < k < 12), 12.0]
    return sum(
        integrate.quad(
            lambda z: phi(u * (1 + s * z)) * math.exp(-z * z / 2),
            low,
            high,
            epsabs=1e-13,
            limit=200,
        )[0]
        for low, high in itertools.pairwise(ends)
    ) / math.sqrt(2 * math.pi)


def test_the_notes_reference_values() -> None:
    u = np.array([0.1, 0.5, 1.0, 2.0, 10.0])
    reference = {
        1.0: [0.099333333333, 0.418529666345, 0.564087272574, 0.621625158869, 0.642734599198],
        0.1: [0.099783333333, 0.472916666670, 0.786146637967, 0.922380820563, 0.940996444608],
    }
    for variance, values in reference.items():
        np.testing.assert_allclose(smoothed_clip(u, variance), values, rtol=0, atol=6e-13)


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_closed_form_is_the_integral(variance: float) -> None:
    near = np.concatenate([np.geomspace(1e-6, 100, 41), np.linspace(0.9, 2.1, 13)])
    values = [by_quadrature(u, variance) for u in near]
    np.testing.assert_allclose(smoothed_clip(near, variance), values, rtol=0, atol=1e-10)
    far = np.geomspace(100, 1e5, 31)
    values = [by_quadrature(u, variance) for u in far]
    np.testing.assert_allclose(smoothed_clip(far, variance), values, rtol=0, atol=2e-9)


@pytest.mark.parametrize("variance", VARIANCES)
def test_psi_is_odd_monotone_and_never_above_its_supremum(variance: float) -> None:
    grid = np.concatenate([np.geomspace(5e-324, 1e6, 20_001), np.linspace(190, 210, 2001), FAR])
    grid = np.sort(grid)
    values = smoothed_clip(grid, variance)
    np.testing.assert_array_equal(smoothed_clip(-grid, variance), -values)
    assert np.all(np.diff(values) >= -4e-9)  # two values of accuracy 2e-9
    assert np.all(values <= smoothed_supremum(variance))
    assert np.all(values >= 0)
    assert values[-1] == pytest.approx(smoothed_supremum(variance), rel=1e-15)


@pytest.mark.parametrize("variance", VARIANCES)
def test_rounding_at_large_entries_cannot_leave_the_clamp(variance: float) -> None:
    """The bare closed form returns -36 at u = 1e6, c = 1, and -4e10 at 1e9."""
    top = smoothed_supremum(variance)
    np.testing.assert_allclose(smoothed_clip(FAR, variance), top, rtol=0, atol=2e-6)
    assert np.all(np.abs(smoothed_clip(np.concatenate([FAR, -FAR]), variance)) <= top)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(u=st.floats(), variance=st.floats(1e-4, 2.0))
def test_every_entry_is_mapped_within_the_supremum(u: float, variance: float) -> None:
    value = float(smoothed_clip(np.array([u]), variance)[0])
    assert abs(value) <= smoothed_supremum(variance)
    assert abs(value) <= abs(u) * (1 + 1e-9) or math.isnan(u)


def test_nan_counts_as_zero_and_small_entries_are_kept() -> None:
    small = np.array([math.nan, 0.0, -0.0, 1e-9, -1e-100, 5e-324])
    np.testing.assert_array_equal(smoothed_clip(small, 0.5), [0, 0, 0, 1e-9, -1e-100, 5e-324])
    u = np.geomspace(1e-12, 1e-3, 200)
    for variance in VARIANCES:  # psi(u) = u - (1 + 3c) u^3 / 6 + ...
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
    where, method = setting(n=7, d=3), NoiseSmoothing(tau=2.0, smoothing_variance=variance)
    moved = change(method, where, *worst_neighbours(method, where))
    np.testing.assert_allclose(moved, 2 * 2.0 * smoothed_supremum(variance) / 7, rtol=1e-9)


def test_an_audit_of_the_printed_noise_at_variance_0_1_sees_4_thirds_of_the_allowed_shift() -> None:
    where = setting(n=7, d=3)
    method = NoiseSmoothing(tau=2.0, smoothing_variance=0.1, calibration="paper")
    moved = float(np.linalg.norm(change(method, where, *worst_neighbours(method, where))))
    noise = method.plan(where).noise_std
    allowed = math.sqrt(2 * where.gaussian_rho)  # of shift over noise
    assert moved / noise / allowed == pytest.approx(math.sqrt(1.7722), rel=1e-4)


def test_the_estimate_is_a_mean_of_truncated_entries() -> None:
    x = np.random.default_rng(0).standard_t(2, size=(5000, 4))
    where, method = setting(n=5000, d=4), NoiseSmoothing(tau=1.5, smoothing_variance=0.5)
    exact = run(method, where, x).exact[0]
    np.testing.assert_allclose(exact, 1.5 * smoothed_clip(x / 1.5, 0.5).mean(axis=0), rtol=1e-12)
    assert np.all(np.abs(exact) <= 1.5 * smoothed_supremum(0.5))
