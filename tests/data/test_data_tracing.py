"""The instance of the bounds by tracing is the law of theory/approx-lower-bounds.md, 1 (a).

Statistical checks have a false-alarm rate of at most 1e-6 and fixed seeds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.instances.tracing import largest_tracing_probability
from dpsco_core.data import Tracing

FALSE_ALARM = 1e-6
CASES = [(2.0, 0.3, 2.0, 1.0), (2.0, 1.0, 5.0, 0.9), (4.0, 0.6, 7.0, 0.998), (3.0, 0.01, 0.7, 1.0)]


def draw_instance(
    p: float = 3.0, q: float = 0.1, u: float = 3.0, r: float = 0.9, d: int = 6
) -> Any:
    """Return a member of the instance of tracing, drawn with a fixed seed."""
    law = Tracing(d=d, moment_order=p, spike_probability=q, shape=u, spread=r)
    return law.draw(np.random.default_rng(1))


def atoms(law: Tracing) -> tuple[np.ndarray, np.ndarray]:
    """Return the three values of every coordinate and their probabilities, shape (3, d)."""
    assert law.biases is not None
    q, bias = law.spike_probability, np.array(law.biases)
    size = q ** (-1 / law.moment_order) * np.ones(law.d)
    values = np.stack([0 * size, size, -size])
    return values, np.stack([1 - q + 0 * bias, q * (1 + bias) / 2, q * (1 - bias) / 2])


@pytest.mark.parametrize(("p", "q", "u", "r"), CASES)
def test_moments_are_at_least_those_of_the_atoms_and_attained_in_the_prior(p, q, u, r):
    law = draw_instance(p, q, u, r)
    values, mass = atoms(law)
    mean = (values * mass).sum(axis=0)
    np.testing.assert_allclose(law.mean, mean, rtol=1e-12)
    assert np.linalg.norm(mean) <= law.mean_norm * (1 + 1e-12)
    assert law.mean_norm == pytest.approx(q ** (1 - 1 / p) * r * math.sqrt(6))
    for k in (0.5, 1.0, 2.0, p, p + 2):
        exact = (mass * np.abs(values - mean) ** k).sum(axis=0)
        assert (exact <= law.moment(k) * (1 + 1e-12)).all()
    # If all biases are 0, the moment of order k is q^(1 - k/p).
    assert law.moment(p) == pytest.approx(1.0, rel=1e-12)
    assert law.moment(2.0) == pytest.approx(q ** (1 - 2 / p), rel=1e-12)
    variance = float((mass * (values - mean) ** 2).sum())
    assert variance <= law.variance_trace * (1 + 1e-12)
    assert law.class_moment == 1.0
    assert law.moment(math.inf) == law.tail_index == math.inf
    assert law.second_moment_trace == pytest.approx(float((mass * values**2).sum()), rel=1e-12)


@pytest.mark.parametrize("p", [2.0, 3.0, 4.0, 9.0])
def test_the_central_moment_is_at_most_one_up_to_the_cap_and_more_beyond(p):
    cap = largest_tracing_probability(5, p, math.inf)
    for q in (cap, cap / 10):
        assert Tracing(moment_order=p, spike_probability=q).moment(p) <= 1 + 1e-12
    if p > 3:
        assert Tracing(moment_order=p, spike_probability=1.2 * cap).moment(p) > 1 + 1e-9


@pytest.mark.parametrize(("p", "q", "u", "r"), CASES)
@pytest.mark.parametrize("k", [1.0, 2.0, 2.7])
def test_directional_bounds_hold_in_every_direction(p, q, u, r, k):
    law = draw_instance(p, q, u, r, d=4)
    if k > p:
        return
    signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
    bias = np.array(law.biases)
    mass = q * ((1 + signs * bias) / 2).prod(axis=1)
    points = np.vstack([np.zeros(4), signs * q ** (-1 / p)])
    mass = np.concatenate([[1 - q], mass])
    np.testing.assert_allclose(mass @ points, law.mean, rtol=1e-10)
    rng = np.random.default_rng(2)
    for way in [*rng.standard_normal((200, 4)), np.ones(4), np.eye(4)[0], np.sign(bias)]:
        unit = way / np.linalg.norm(way)
        central = (mass @ np.abs((points - law.mean) @ unit) ** k) ** (1 / k)
        assert central <= law.central_direction(k) * (1 + 1e-12)
        assert (mass @ np.abs(points @ unit) ** k) ** (1 / k) <= law.raw_direction(k) * (1 + 1e-12)
        if k == p:
            assert central <= law.directional_moment
    assert np.linalg.norm(points, axis=1).max() == pytest.approx(law.record_norm)


def test_biases_are_those_of_the_beta_law_drawn_anew():
    law = Tracing(d=2000, spike_probability=0.1, shape=5.0, spread=0.7)
    rng = np.random.default_rng(3)
    law_a, law_b = law.draw(rng), law.draw(rng)
    assert law.biases is None
    assert law_a.biases != law_b.biases
    spread = stats.beta(2.5, 2.5, loc=-0.7, scale=1.4)
    for member in (law_a, law_b):
        assert stats.kstest(member.biases, spread.cdf).pvalue > FALSE_ALARM
    assert (law_a.d, law_a.shape, law_a.spread) == (2000, 5.0, 0.7)
    assert hash(law_a) != hash(law_b)


def test_rows_are_zero_or_signs_and_their_numbers_are_binomial():
    law = draw_instance(p=3.0, q=0.3, u=2.0, r=1.0, d=3)
    n = 60_000
    x = law.sample(n, np.random.default_rng(4)).x
    spiked = x.any(axis=1)
    assert stats.binomtest(int(spiked.sum()), n, 0.3).pvalue > FALSE_ALARM
    np.testing.assert_allclose(np.abs(x[spiked]), 0.3 ** (-1 / 3), rtol=1e-14)
    for j, bias in enumerate(law.biases):
        positive_count = int((x[spiked, j] > 0).sum())
        assert (
            stats.binomtest(positive_count, int(spiked.sum()), (1 + bias) / 2).pvalue > FALSE_ALARM
        )
    # The signs of one record are independent given the biases.
    signs = np.sign(x[spiked]) - np.array(law.biases)
    product = signs[:, 0] * signs[:, 1]
    assert abs(product.mean()) < 5 * product.std() / math.sqrt(len(product))


def test_an_undrawn_instance_has_no_mean_and_no_sample():
    law = Tracing(d=4, spike_probability=0.1)
    sentence = "^biases must be drawn first, with draw\\(rng\\), got biases=None.$"
    with pytest.raises(InvalidInput, match=sentence):
        _ = law.mean
    with pytest.raises(InvalidInput, match=sentence):
        law.sample(3, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"spike_probability": 0.0}, r"spike_probability must be in \(0, 1\]"),
        ({"shape": 0.0}, "shape must be positive and finite"),
        ({"spread": 1.1}, r"spread must be in \(0, 1\]"),
        ({"d": 2, "biases": (0.1,)}, "biases must be 2 numbers of size at most 1"),
        ({"d": 1, "spread": 0.5, "biases": (0.6,)}, "biases must be 1 numbers of size"),
        ({"moment_order": 1.0}, "p must be a finite number above 1"),
    ],
)
def test_a_parameter_out_of_range_is_named(values, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Tracing(**({"spike_probability": 0.1} | values))
