"""The information that one record may reveal: certificates, channels and wrong implementations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.bounds.floors.leakage import (
    CERTIFICATES,
    approximate,
    certified,
    concentrated,
    leakage,
    pure,
)
from dpsco_core.catalogue import bound
from dpsco_core.data.shifts import Shifts
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP
from tests.bounds.floors import cases
from tests.bounds.floors.cases import make_setting, shifts


def law_of(slug: str, d: int = 20, p: float = 2.0) -> Shifts:
    """Return the shifts of a distribution that is named by its slug."""
    return shifts(make_setting(slug, 1_000, d, p, ZCDP(rho=0.1)))


def count_uncovered_cells(u: float, b: int, w: float, *, limit: int = 4_000_000) -> int:
    """Return how many cells bisection leaves: 0 proves (2) for all Lambda and q, -1 gives up.

    The bounds on a cell are those of theory/instance-floors.md, 2.
    """
    largest = 2.0
    while largest**2 > w * (largest**b - 1 - b * (largest - 1)):
        largest *= 1.02
    cells = np.array([[u, largest, 0.0, 1.0]])
    seen_cells = 0
    while len(cells):
        seen_cells += len(cells)
        if seen_cells > limit:
            return -1
        low, high, q1, q2 = cells.T
        cut = np.minimum(q2, 1 - u / high)
        # In these cells Lambda (1-q) <= u, and an output reveals nothing.
        reveals_nothing = cut <= q1
        with np.errstate(divide="ignore", over="ignore"):
            rest = high * cut * (high - u / (1 - q1))
            root = np.sqrt(q1)
            g = 0.5 * ((1 + root) ** b + (1 - root) ** b)
            bracket = w * (low**b * g - 1 - b * (low - 1))
        cells = cells[~(reveals_nothing | (rest <= bracket))]
        if len(cells) and float(np.min(cells[:, 1] - cells[:, 0])) < 1e-7:
            return len(cells)
        low, high, q1, q2 = cells.T
        middle, half = 0.5 * (low + high), 0.5 * (q1 + q2)
        cells = np.concatenate(
            [
                np.stack(part, axis=1)
                for part in (
                    (low, middle, q1, half),
                    (low, middle, half, q2),
                    (middle, high, q1, half),
                    (middle, high, half, q2),
                )
            ]
        )
    return 0


@pytest.mark.parametrize(("u", "b", "w"), CERTIFICATES)
def test_bisection_proves_every_certificate(u: float, b: int, w: float) -> None:
    assert count_uncovered_cells(u, b, w) == 0


def test_bisection_rejects_wrong_certificates() -> None:
    for u, b, w in CERTIFICATES[4:9:4]:
        assert count_uncovered_cells(u, b, 0.97 * w) != 0


@pytest.mark.parametrize(("u", "b", "w"), CERTIFICATES)
def test_no_certificate_holds_with_a_weight_three_percent_smaller(
    u: float, b: int, w: float
) -> None:
    size = np.linspace(1, 3, 1_500)[:, None]
    root = np.linspace(0, 0.9995, 1_500)[None, :]
    q = root**2
    with np.errstate(over="ignore"):
        g = 0.5 * ((1 + root) ** b + (1 - root) ** b)
        room = w * (size**b * g - 1 - b * (size - 1))
    left = size**2 * q - u * size * q / (1 - q)
    assert np.all(left <= room + 1e-12)
    assert np.any(left > 0.97 * room)


def test_the_function_c_has_the_printed_values() -> None:
    printed = {1e-6: 0.502803, 1e-4: 0.507214, 1e-3: 0.523209, 0.01: 0.577802, 0.028014: 0.639370,
               0.1: 0.810295, 0.2: 1.015226, 0.5: 2.165377}  # fmt: skip
    for rho, value in printed.items():
        assert certified(rho) / rho == pytest.approx(value, abs=6e-7)


def test_kappa_matches_the_table_of_section_2() -> None:
    student, elliptical, skewed = map(law_of, ("student-t", "elliptical-t", "log-normal"))
    for rho in (1e-4, 0.02, 0.3, 2.0, 9.0):
        c = min(u / 4 * math.expm1(2 * rho) + w * math.expm1(min(b * (b - 1) * rho, 600))
                for u, b, w in CERTIFICATES)  # fmt: skip
        two_sided = (math.exp(2 * rho) - math.exp(-rho)) / 2
        wide = math.expm1(2 * rho)
        assert concentrated(rho, student) ** 2 == pytest.approx(min(c, two_sided, wide, 2 * rho))
        assert concentrated(rho, elliptical) ** 2 == pytest.approx(
            min(c, two_sided, wide, 2 * rho * elliptical.spread)
        )
        assert concentrated(rho, skewed) ** 2 == pytest.approx(min(2 * c, wide))
    for epsilon in (1e-3, 0.5, 1.0, 1.2, 3.0, 8.0):
        z = epsilon / -math.expm1(-epsilon)
        gain = 2 * (z - 1 - math.log(z))
        small_gain = (
            math.tanh(epsilon / 2) ** 2 if epsilon <= math.log(3) else math.expm1(epsilon) / 8
        )
        assert pure(epsilon, student) ** 2 == pytest.approx(min(small_gain, gain), rel=1e-6)
        assert pure(epsilon, skewed) ** 2 == pytest.approx(math.sinh(epsilon / 2) ** 2)
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-6), (4.0, 1e-3)):
        rate = math.expm1(epsilon) / math.sqrt(2 * (math.exp(epsilon) + 1))
        size = student.cuts[0].size
        values = [rate + math.sqrt(2 * delta) * size]
        if epsilon >= 0.5:
            values.append(math.sqrt(2 * epsilon) + math.sqrt(delta) * size)
        assert approximate(epsilon, delta, student) == pytest.approx(min(values))
        plain = min(math.sqrt(2) * rate + 2 * math.sqrt(2 * delta) * cut.size + cut.rest
                    for cut in skewed.cuts)  # fmt: skip
        assert approximate(epsilon, delta, skewed) == pytest.approx(plain)


def mirrored_leak(low: np.ndarray, law: np.ndarray) -> float:
    """Return E omega^2 of a channel whose records are paired with their mirror images: what an
    output tells of a shift.
    """
    mean = law @ low
    density = low / mean
    omega = 0.5 * (density - density[::-1])
    return float(law @ (omega**2 @ mean))


def test_channels_reveal_no_more_than_kappa_under_zcdp_and_pure_dp() -> None:
    # Randomised response, applied with probability w, leaks w tanh^2(eps/2).
    symmetric = law_of("gaussian")
    tightest = 0.0
    for epsilon in np.geomspace(0.01, 4, 24):
        for w in (0.05, 0.2, 0.6, 1.0):
            top = math.exp(epsilon) / (1 + math.exp(epsilon))
            channel = np.array([[w * top, w * (1 - top), 1 - w], [w * (1 - top), w * top, 1 - w]])
            leak = mirrored_leak(channel[:, channel.sum(0) > 0], np.array([0.5, 0.5]))
            assert leak == pytest.approx(w * math.tanh(epsilon / 2) ** 2)
            assert leak <= pure(float(epsilon), symmetric) ** 2 * (1 + 1e-12)
            orders = np.concatenate([np.linspace(1.0001, 3, 60), np.geomspace(3, 1e4, 60)])
            p, q = channel[:, channel[0] > 0]
            top_log = np.log(p / q)
            divergence = [
                float(np.logaddexp.reduce(np.log(q) + a * top_log)) / (a - 1) / a for a in orders
            ]
            kappa = concentrated(max(divergence), symmetric)
            tightest = max(tightest, leak / kappa**2)
            assert leak <= kappa**2
    assert tightest > 0.9  # The constant is nearly attained, so a smaller one would fail.


def test_random_extreme_channels_reveal_no_more_than_kappa_and_some_attain_it() -> None:
    rng = np.random.default_rng(5)
    for epsilon in (0.3, 1.0, 2.5):
        largest = 0.0
        for _ in range(1_200):
            records, outputs = 2 * int(rng.integers(1, 5)), int(rng.integers(2, 6))
            high = rng.random((records, outputs)) < rng.random()
            weights = rng.dirichlet(np.ones(outputs))
            channel = weights * np.where(high, math.exp(epsilon), 1.0)
            # The rows must be laws: the remaining mass goes to an output that reveals at most eps.
            channel /= channel.sum(axis=1).max()
            rest = 1 - channel.sum(axis=1)
            if rest.min() <= 0 < rest.max() or np.ptp(rest) > 0:
                spread = np.maximum(rest, rest.max() * math.exp(-epsilon))
                channel = np.column_stack([channel, spread])
                channel /= channel.sum(axis=1, keepdims=True)
            ratio = float(np.max(channel.max(axis=0) / channel.min(axis=0)))
            law = np.full(records, 1 / records)
            leak = mirrored_leak(channel, law)
            largest_leak = pure(math.log(ratio), law_of("gaussian")) ** 2 if ratio > 1 else 0.0
            assert leak <= largest_leak + 1e-12
            largest = max(largest, leak / largest_leak if largest_leak > 0 else 0.0)
        assert largest > 0.5
    # Two records and two outputs attain the constant for epsilon up to ln 3.
    top = math.e / (1 + math.e)
    channel = np.array([[top, 1 - top], [1 - top, top]])
    attained = mirrored_leak(channel, np.array([0.5, 0.5]))
    assert attained == pytest.approx(pure(1.0, law_of("gaussian")) ** 2)
    assert attained == pytest.approx(0.2136, abs=1e-4)


def test_revealing_with_probability_delta_is_below_the_approximate_kappa() -> None:
    # The record's score is released with probability delta, otherwise randomised response on its
    # sign.
    law = law_of("student-t", d=1)
    kappa = approximate(0.1, 1e-6, law)
    leak = (1 - 1e-6) * math.tanh(0.05) ** 2 + 1e-6
    assert leak <= kappa**2
    assert leak > 0.7 * kappa**2


def test_log_normal_data_are_neither_symmetric_nor_sub_gaussian() -> None:
    law, wrong = law_of("log-normal"), law_of("gaussian")
    assert not law.symmetric and math.isinf(law.spread)
    for rho in (0.01, 0.1, 1.0):
        assert concentrated(rho, law) > concentrated(rho, wrong)
    assert concentrated(3.0, law) ** 2 > 2 * 3.0
    assert pure(1.0, law) > pure(1.0, wrong)


def test_laws_near_the_data_use_the_constants_of_any_law() -> None:
    setting = make_setting("gaussian", 2_000, 20, 2.0, ZCDP(rho=0.05))
    symmetric = cases.plain_near_floor(
        2_000, 20, shifts(setting), lambda _: concentrated(0.05, shifts(setting))
    )
    assert cases.floor_bound(setting, "near-") < 0.97 * symmetric


def test_tanh_is_used_for_pure_privacy_only() -> None:
    law = law_of("student-t")
    assert leakage(ApproxDP(epsilon=1, delta=1e-6), law) > 1.3 * math.tanh(0.5)
    assert leakage(PureDP(epsilon=1), law) == pytest.approx(math.tanh(0.5))


def test_the_elliptical_law_is_not_strictly_sub_gaussian() -> None:
    law = law_of("elliptical-t", d=20)
    assert concentrated(4.0, law) ** 2 == pytest.approx(8 * 1.3629, rel=1e-4)


def test_the_limit_of_half_rho_is_not_used_at_every_rho() -> None:
    assert concentrated(0.028014, law_of("gaussian")) ** 2 > 1.27 * 0.028014 / 2


def test_the_rms_floor_is_not_a_floor_of_the_mean_error() -> None:
    for d in (1, 3, 20):
        setting = make_setting("gaussian", 2_000, d, 2.0, ZCDP(rho=0.05))
        rms = math.sqrt(bound("lower.mean.floor-cdp-squared").value(setting))
        assert cases.floor_bound(setting) < rms
        assert cases.floor_bound(setting) / rms >= (d - 0.5) / d * (1 - 1e-12)


def test_the_floor_is_at_the_scale_of_the_data_and_of_their_dimension() -> None:
    student = law_of("student-t", p=2.0)
    nu = 2.5
    assert student.information > 2 * (nu + 1) / (nu + 3)  # At scale 1.
    low_dimension, high_dimension = law_of("elliptical-t", d=2), law_of("elliptical-t", d=100)
    assert high_dimension.information > 1.2 * low_dimension.information
