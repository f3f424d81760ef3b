"""The hard instances are exactly the two-point laws of the lower bounds.

Statistical checks have a false-alarm rate of at most 1e-6 and fixed seeds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import Hypercube, Spike
from tests.folded import each

HARD = (Spike, Hypercube)
FALSE_ALARM = 1e-6
CASES = [(d, p, q) for d in (2, 5, 12) for p in (2.0, 2.7, 6.0) for q in (1e-4, 0.1, 0.5, 0.93)]


def draw_instance(kind: Any, d: int = 6, p: float = 3.0, q: float = 0.1, seed: int = 0) -> Any:
    """Return a member of a hard instance of a kind, drawn with a seed."""
    law = kind(d=d, moment_order=p, spike_probability=q)
    return law.draw(np.random.default_rng(seed))


def atoms(law: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the two atoms of a two-point law, shape (2, d), and their probabilities,
    shape (2,).
    """
    q = law.spike_probability
    spike = q ** (-1 / law.moment_order) * np.array(law.pattern, dtype=float)
    return np.vstack([np.zeros(law.d), spike]), np.array([1 - q, q])


@each("kind", HARD)
@each(("d", "p", "q"), CASES)
def test_moments_are_those_of_the_two_atoms(kind: Any, d: int, p: float, q: float) -> None:
    law = draw_instance(kind, d, p, q)
    points, mass = atoms(law)
    mean = mass @ points
    np.testing.assert_allclose(law.mean, mean, rtol=1e-12)
    assert law.mean_norm == pytest.approx(np.linalg.norm(mean), rel=1e-12)
    central = np.abs(points - mean)
    spiked = np.array(law.pattern) != 0
    assert spiked.sum() == law.weight == (d // 2 if kind is Spike else d)
    for k in (0.0, 0.4, 1.0, 2.0, p, p + 1.3, 20.0):
        exact = mass @ central**k
        np.testing.assert_allclose(exact[spiked], law.moment(k), rtol=1e-10)
    assert law.variance_trace == pytest.approx(float((mass @ central**2).sum()), rel=1e-12)


@each("kind", HARD)
@each(("d", "p", "q"), CASES)
def test_the_stated_moment_is_the_closed_form_and_at_most_one(
    kind: Any, d: int, p: float, q: float
) -> None:
    moment = draw_instance(kind, d, p, q).moment(p)
    assert moment == pytest.approx((1 - q) ** p + (1 - q) * q ** (p - 1), rel=1e-12)
    assert moment <= (1 - q) * (1 + 1e-15)


@each("kind", HARD)
@each(("d", "p", "q"), CASES)
def test_the_directional_moment_is_attained_and_never_exceeded(
    kind: Any, d: int, p: float, q: float
) -> None:
    law = draw_instance(kind, d, p, q)
    points, mass = atoms(law)
    rng = np.random.default_rng(1)
    worst = np.array(law.pattern, dtype=float)
    directions = np.vstack([worst, np.ones(d), rng.standard_normal((200, d))])
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    exact = (mass @ np.abs((points - law.mean) @ directions.T) ** p) ** (1 / p)
    assert exact.max() <= law.directional_moment * (1 + 1e-12)
    assert exact[0] == pytest.approx(law.directional_moment, rel=1e-12)


@pytest.mark.parametrize("kind", HARD)
def test_certain_spikes_are_a_point_mass(kind: Any) -> None:
    law = draw_instance(kind, q=1.0)
    assert law.moment(0) == 1.0
    assert law.moment(2) == law.variance_trace == law.directional_moment == 0.0
    x = law.sample(5, np.random.default_rng(0)).x
    assert (x == np.array(law.pattern)).all()
    assert (law.mean == np.array(law.pattern)).all()


@pytest.mark.parametrize("kind", HARD)
def test_moments_of_rare_spikes_do_not_overflow(kind: Any) -> None:
    law = draw_instance(kind, d=4, p=2.0, q=1e-300)
    assert law.moment(2) == pytest.approx(1.0, abs=1e-12)
    assert law.moment(3) == pytest.approx(1e150, rel=1e-9)
    assert law.moment(9) == math.inf
    assert law.tail_index == law.moment(math.inf) == math.inf
    assert not law.sample(10, np.random.default_rng(0)).x.any()


@pytest.mark.parametrize("kind", HARD)
def test_two_patterns_are_at_total_variation_of_the_spike_probability(kind: Any) -> None:
    first_law, other_law = draw_instance(kind, seed=0), draw_instance(kind, seed=1)
    assert first_law.pattern != other_law.pattern
    masses: list[dict[tuple[float, ...], float]] = []
    for law in (first_law, other_law):
        points, mass = atoms(law)
        masses.append({tuple(a): float(m) for a, m in zip(points + 0.0, mass, strict=True)})
    union = masses[0].keys() | masses[1].keys()
    distance = 0.5 * sum(abs(masses[0].get(a, 0.0) - masses[1].get(a, 0.0)) for a in union)
    assert distance == pytest.approx(first_law.spike_probability, rel=1e-12)
    hamming = sum(a != b for a, b in zip(first_law.pattern, other_law.pattern, strict=True))
    gap = float(np.linalg.norm(first_law.mean - other_law.mean))
    step = 1.0 if kind is Spike else 2.0
    assert gap == pytest.approx(step * 0.1 ** (2 / 3) * math.sqrt(hamming), rel=1e-12)


@pytest.mark.parametrize("d", [2, 3, 8, 9])
def test_patterns_of_the_packing_have_half_the_weight(d: int) -> None:
    for seed in range(20):
        pattern = draw_instance(Spike, d=d, seed=seed).pattern
        assert len(pattern) == d
        assert set(pattern) <= {0, 1}
        assert sum(pattern) == d // 2


@pytest.mark.parametrize(("kind", "patterns"), [(Spike, 10), (Hypercube, 32)])
def test_patterns_are_uniform_over_the_prior(kind: Any, patterns: int) -> None:
    rng = np.random.default_rng(2)
    law = kind(d=5, spike_probability=0.1)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(4000):
        pattern = law.draw(rng).pattern
        counts[pattern] = counts.get(pattern, 0) + 1
    assert len(counts) == patterns
    assert stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM


@pytest.mark.parametrize("kind", HARD)
def test_draw_gives_a_fresh_pattern_and_keeps_the_rest(kind: Any) -> None:
    rng = np.random.default_rng(3)
    law = kind(d=40, moment_order=4.0, spike_probability=0.02)
    law_a, law_b = law.draw(rng), law.draw(rng)
    assert law.pattern is None
    assert law_a.pattern != law_b.pattern
    assert law_a.draw(rng).pattern not in (law_a.pattern, law_b.pattern)
    assert (law_a.d, law_a.moment_order, law_a.spike_probability) == (40, 4.0, 0.02)
    assert all(type(v) is int for v in law_a.pattern)
    rebuilt = kind(d=40, moment_order=4.0, spike_probability=0.02, pattern=law_a.pattern)
    assert rebuilt == law_a
    assert hash(rebuilt) == hash(law_a)


@pytest.mark.parametrize("kind", HARD)
def test_rows_are_zero_or_the_spike_and_their_number_is_binomial(kind: Any) -> None:
    law = draw_instance(kind, d=4, p=3.0, q=0.3)
    rng = np.random.default_rng(4)
    n, trials = 12, 5000
    spike = atoms(law)[0][1]
    counts = np.zeros(n + 1)
    positions = np.zeros(n)
    for _ in range(trials):
        x = law.sample(n, rng).x
        contaminated = x.any(axis=1)
        np.testing.assert_allclose(x[contaminated], np.tile(spike, (contaminated.sum(), 1)), 1e-14)
        counts[contaminated.sum()] += 1
        positions += contaminated
    expected = stats.binom.pmf(np.arange(n + 1), n, 0.3) * trials
    counts[8] += counts[9:].sum()  # Cells with fewer than 5 expected records are joined.
    expected[8] += expected[9:].sum()
    assert stats.chisquare(counts[:9], expected[:9]).pvalue > FALSE_ALARM
    # The positions are exchangeable, with n - 1 degrees of freedom once the total is removed.
    variance = trials * 0.3 * 0.7
    statistic = float(((positions - positions.mean()) ** 2).sum()) / variance
    assert stats.chi2.sf(statistic, n - 1) > FALSE_ALARM


@pytest.mark.parametrize("kind", HARD)
def test_contaminated_rows_of_a_large_sample_are_spread_evenly(kind: Any) -> None:
    law = draw_instance(kind, d=3, p=2.0, q=0.01)
    n = 200_000
    x = law.sample(n, np.random.default_rng(5)).x
    assert x.shape == (n, 3)
    contaminated = x.any(axis=1)
    assert stats.binomtest(int(contaminated.sum()), n, 0.01).pvalue > FALSE_ALARM
    cells = contaminated.reshape(20, -1).sum(axis=1)
    assert stats.chisquare(cells).pvalue > FALSE_ALARM
    redrawn = law.sample(n, np.random.default_rng(5)).x
    assert np.array_equal(x, redrawn)


@pytest.mark.parametrize("kind", HARD)
def test_an_undrawn_instance_has_no_mean_and_no_sample(kind: Any) -> None:
    law = kind(d=4, spike_probability=0.1)
    sentence = "^pattern must be drawn first, with draw\\(rng\\), got pattern=None.$"
    with pytest.raises(InvalidInput, match=sentence):
        _ = law.mean
    with pytest.raises(InvalidInput, match=sentence):
        law.sample(3, np.random.default_rng(0))
    assert law.mean_norm > 0
    assert law.directional_moment > 0


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("q", [0.0, -0.1, 1.5, math.nan])
def test_a_spike_probability_out_of_range_is_named(kind: Any, q: float) -> None:
    with pytest.raises(InvalidInput) as caught:
        kind(spike_probability=q)
    sentence = f"spike_probability must be in (0, 1], got spike_probability={q}."
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("kind", "d", "pattern", "sentence"),
    [
        (Spike, 1, None, "d must be an integer of at least 2, got d=1."),
        (Hypercube, 0, None, "d must be an integer of at least 1, got d=0."),
        (
            Spike,
            4,
            (1, 1, 1, 0),
            "pattern must be 4 zeros and ones, 2 ones, got pattern=(1, 1, 1, 0).",
        ),
        (Spike, 4, (1, 1), "pattern must be 4 zeros and ones, 2 ones, got pattern=(1, 1)."),
        (Spike, 2, (2, -1), "pattern must be 2 zeros and ones, 1 ones, got pattern=(2, -1)."),
        (Hypercube, 2, (1, 0), "pattern must be 2 signs -1 or +1, got pattern=(1, 0)."),
        (Hypercube, 2, (1,), "pattern must be 2 signs -1 or +1, got pattern=(1,)."),
    ],
)
def test_a_pattern_outside_the_prior_is_refused_by_name(
    kind: Any, d: int, pattern: tuple[int, ...] | None, sentence: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        kind(d=d, spike_probability=0.1, pattern=pattern)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("kind", HARD)
def test_an_order_or_a_sample_size_out_of_range_is_named(kind: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^p must be a finite number above 1, got p="):
        kind(moment_order=1.0, spike_probability=0.1)
    with pytest.raises(InvalidInput, match=r"^n must be a positive integer, got n=0.$"):
        draw_instance(kind).sample(0, np.random.default_rng(0))
    with pytest.raises(InvalidInput, match=r"^k must be a number of at least 0, got k=-1.$"):
        draw_instance(kind).moment(-1)
