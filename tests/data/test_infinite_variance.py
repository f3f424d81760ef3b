"""Laws and spikes whose tail index is below 2: their p-th moment is 1, or at most 1, exactly."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import beta, gamma
from scipy.stats import kstest, pareto, t

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import DISTRIBUTIONS
from dpsco_core.data import EllipticalT, Gaussian, LogNormal, Pareto, SkewedPareto, StudentT
from dpsco_core.data.directions import centred_direction_bound, symmetric_direction_bound
from dpsco_core.data.hard import Hypercube, Spike
from dpsco_core.data.pareto import log_centred_pareto_moment
from dpsco_core.data.spike_scale import central_spike_moment, centring_shrink, spike_shrink
from dpsco_core.data.student_t import log_student_moment
from dpsco_core.data.tracing import Tracing

POLYNOMIAL = (StudentT, Pareto, SkewedPareto, EllipticalT)
ORDERS = (1.1, 1.2, 1.35, 1.5, 1.8, 1.95)


def student_moment(nu: float, p: float) -> float:
    """Return E|t|^p for Student's t with nu degrees of freedom, by gamma functions
    (theory/infinite-variance.md, 5).
    """
    tail = gamma((p + 1) / 2) * gamma((nu - p) / 2) / (math.sqrt(math.pi) * gamma(nu / 2))
    return float(nu ** (p / 2) * tail)


def pareto_moment(alpha: float, p: float) -> float:
    """Return E|X - m|^p of a Pareto variable with index alpha and mean m; the part below m is
    integrated over the uniform variable.
    """
    mean = alpha / (alpha - 1)
    upper_part = alpha * mean ** (p - alpha) * beta(alpha - p, p + 1)
    lower_part, _ = quad(lambda u: (mean - u ** (-1 / alpha)) ** p, mean**-alpha, 1, epsabs=1e-13)
    return float(upper_part + lower_part)


@pytest.mark.parametrize(
    ("alpha", "p", "student", "one_sided", "symmetric"),
    [
        (1.6, 1.5, 12.1665, 13.8869, 16.0),
        (1.8, 1.2, 2.13797, 1.72886, 3.0),
        (1.95, 1.8, 11.5370, 10.0028, 13.0),
    ],
)
def test_moments_have_the_values_of_the_table(alpha, p, student, one_sided, symmetric):
    assert math.exp(log_student_moment(alpha, p)) == pytest.approx(student, rel=5e-6)
    assert math.exp(log_centred_pareto_moment(alpha, p)) == pytest.approx(one_sided, rel=5e-6)
    law = Pareto(d=1, moment_order=p, margin=alpha - p)
    assert (1 / law.scale) ** p == pytest.approx(symmetric, rel=1e-12)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("margin", [0.05, 0.1, 0.5])
def test_moments_agree_with_a_second_way_to_compute_them(p, margin):
    alpha = p + margin
    moments = student_moment(alpha, p), pareto_moment(alpha, p), alpha / margin
    for law, moment in zip((StudentT, SkewedPareto, Pareto), moments, strict=True):
        scaled = law(d=3, moment_order=p, margin=margin)
        assert scaled.scale == pytest.approx(moment ** (-1 / p), rel=1e-7), law
        assert scaled.moment(p) == pytest.approx(1, rel=1e-9)
        assert scaled.moment(alpha) == math.inf


@pytest.mark.parametrize("alpha", [1.1, 1.15, 1.5, 1.9, 2.5])
def test_moments_of_low_order_have_all_terms_of_their_series(alpha):
    assert log_centred_pareto_moment(alpha, 0.0) == pytest.approx(0.0, abs=1e-12)
    half = math.exp(log_centred_pareto_moment(alpha, 0.5))
    assert half == pytest.approx(pareto_moment(alpha, 0.5), rel=1e-8)


def test_the_log_normal_moment_of_low_order_is_known():
    law = LogNormal(d=1, moment_order=1.5)
    assert (1 / law.scale) ** 1.5 == pytest.approx(2.05688, rel=5e-6)
    assert law.tail_index == math.inf
    assert math.isfinite(law.variance_trace)


@pytest.mark.parametrize("kind", POLYNOMIAL)
def test_a_tail_index_of_at_most_two_has_no_variance(kind):
    law = kind(d=4, moment_order=1.4, margin=0.5)
    assert law.variance_trace == law.moment(2) == law.largest_second_moment == math.inf
    assert math.isfinite(law.record_moment(1.4))
    assert math.isfinite(law.central_direction(1.4))


def test_records_follow_their_law_far_out_in_the_tail():
    # The seeds are fixed, and each of two tests gives a false alarm once in a million.
    rng = np.random.default_rng(5)
    law = StudentT(d=1, moment_order=1.1, margin=0.1)
    standard = law.sample(200_000, rng).x[:, 0] / law.scale
    assert kstest(standard, t(1.2).cdf).pvalue > 1e-6
    one_sided = SkewedPareto(d=1, moment_order=1.1, margin=0.1)
    standard = one_sided.sample(200_000, rng).x[:, 0] / one_sided.scale + 1.2 / 0.2
    assert kstest(standard, pareto(1.2).cdf).pvalue > 1e-6


@pytest.mark.parametrize("order", [1.05, 1.2, 1.5, 1.9])
def test_spikes_below_two_are_shrunk_into_the_class(order):
    for q in map(float, np.geomspace(1e-9, 1, 60)):
        for law in (
            Spike(d=4, moment_order=order, spike_probability=q),
            Hypercube(d=3, moment_order=order, spike_probability=q),
        ):
            assert law.moment(order) <= 1 + 1e-12, (law, q)
            assert law.raw_coordinate(order) == pytest.approx(law.shrink**order, rel=1e-12)
        biased = Tracing(d=3, moment_order=order, spike_probability=q)
        assert biased.moment(order) <= 1 + 1e-12
        size = q ** (1 - 1 / order) * biased.shrink
        assert biased.mean_norm == pytest.approx(size * math.sqrt(3))


def test_without_shrinking_the_central_moment_of_a_spike_exceeds_one():
    moment = float(central_spike_moment(np.array(0.001), 1.5))
    assert moment == pytest.approx(1.03, abs=1e-3)
    assert float(spike_shrink(np.array(0.001), 1.5)) < 1
    # For moment orders from 2 on nothing is shrunk, to the last bit.
    assert (spike_shrink(np.geomspace(1e-9, 1, 30), 2.0) == 1).all()
    assert centring_shrink(2.0) == centring_shrink(7.0) == 1


@pytest.mark.parametrize("order", [1.1, 1.5, 1.9])
def test_centring_costs_at_most_the_universal_factor(order):
    # The ratio is E|X - EX|^p over E|X|^p, for two-point laws on a grid that contains the worst of
    # all laws.
    worst = 0.0
    for q in np.linspace(0.002, 0.998, 250):
        for x in np.linspace(-3, 3, 121):
            raw = q + (1 - q) * abs(x) ** order
            mean = q + (1 - q) * x
            central = q * abs(1 - mean) ** order + (1 - q) * abs(x - mean) ** order
            worst = max(worst, central / raw)
    factor = centring_shrink(order) ** -order
    assert 1 < worst <= factor
    assert factor == pytest.approx(2 ** (2 - order), rel=1e-12)


@pytest.mark.parametrize("order", [1.2, 1.5, 1.9])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_directional_bounds_hold_for_spikes_of_independent_coordinates(order, d):
    # Each coordinate has rare spikes of its own, and all patterns of spikes are enumerated.
    q = 0.05
    words = np.array(np.meshgrid(*[[-1, 0, 1]] * d)).reshape(d, -1).T
    weights = np.prod(np.where(words == 0, 1 - q, q / 2), axis=1)
    size = q ** (-1 / order)
    for u in (np.ones(d) / math.sqrt(d), np.arange(1, d + 1) / np.linalg.norm(np.arange(1, d + 1))):
        exact = float(weights @ np.abs(size * words @ u) ** order) ** (1 / order)
        assert exact <= symmetric_direction_bound(d, order) * (1 + 1e-12)
        assert exact <= centred_direction_bound(d, order) * (1 + 1e-12)


def test_the_sum_of_moments_bounds_the_norm_and_the_power_mean_does_not():
    # For disjoint spikes, one coordinate at a time, E|X|^p is d, which exceeds d^(p/2).
    d, order = 20, 1.5
    law = StudentT(d=d, moment_order=order)
    assert law.record_moment(order) ** order == pytest.approx(d, rel=1e-9)
    disjoint = d  # With probability 1/d per coordinate and size d^(1/p), the moment E|X|_2^p is d.
    assert law.record_moment(order) ** order >= disjoint * (1 - 1e-9) > d ** (order / 2)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"margin": 0.04}, "margin must be at least 0.05 for p below 2"),
        ({"unit": "variance"}, "scale must be moment for p below 2"),
        ({"moment_order": 1.0}, "p must be a finite number above 1, got p=1.0."),
    ],
    ids=str,
)
def test_a_law_that_cannot_be_scaled_below_two_is_refused_with_the_reason(values, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        StudentT(**({"d": 2, "moment_order": 1.5} | values))
    if "moment_order" not in values:
        assert StudentT(**({"d": 2, "moment_order": 2.0} | values)).d == 2


@pytest.mark.parametrize("margin", [1e-300, 1e-6, 0.04])
def test_laws_without_a_tail_index_ignore_the_margin_below_two_as_well(margin):
    for kind in (Gaussian, LogNormal):
        law = kind(d=2, moment_order=1.5, margin=margin)
        assert law.scale == kind(d=2, moment_order=1.5).scale > 0


@pytest.mark.parametrize("kind", [law for law in DISTRIBUTIONS if not law.card.infinite_variance])
def test_laws_of_other_problems_need_a_variance(kind: Any):
    fields = {"spike_probability": 0.1} if kind.has_prior else {}
    with pytest.raises(InvalidInput, match="p must be a finite number of at least 2"):
        kind(d=max(3, kind.smallest_d), moment_order=1.5, **fields)


def test_a_centred_law_of_low_order_keeps_its_moments():
    law = Gaussian(d=2, moment_order=1.5, offset=1.0)
    assert replace(law, offset=0.0).moment(1.5) == pytest.approx(law.moment(1.5))
