"""Orderings, limits, monotonicity and maxima of the lower bounds."""

import math
import random

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.instances import hypercube, spikes
from dpsco_core.bounds.instances.gaussian import (
    best_separation,
    bounded_signs,
    gaussian_minimax,
    gaussian_scale,
    normal_norm,
)
from dpsco_core.bounds.instances.hardest import (
    FORMS,
    SPIKE_BOUNDS,
    best_spike_probability,
    largest_spike_probability,
)
from tests.bounds.helpers import hypercube_cdp_pinsker
from tests.folded import each, one_in

VALUES = {kind: at for kind, (at, _) in FORMS.items()}


def random_settings(count, seed):
    """Yield random records n, dimensions d, moment orders and privacy levels."""
    source = random.Random(seed)
    for _ in range(count):
        yield (
            int(10 ** source.uniform(0, 6)),
            source.choice([1, 2, 9, 20, 100, 1000]),
            source.choice([2, 2.5, 4, 30, 100]),
            10 ** source.uniform(-5, 2),
        )


@each("point", list(random_settings(40, 2)))
def test_the_forms_of_a_lower_bound_are_ordered(point):
    n, d, k, rho = point

    def fano(p):
        """Return the Fano bound at spike probability p."""
        return spikes.spike_fano_cdp(p, n, d, k, rho)

    best = fano(spikes.best_cdp(n, d, k, rho, 1.0))
    # The closed form E2 is at most E3.
    assert spikes.spike_closed_form_cdp(n, d, k, rho) <= best * (1 + 1e-12)
    gilbert = spikes.best_cdp_gilbert(n, d, k, rho, 1.0)
    assert best <= spikes.spike_fano_cdp_gilbert(gilbert, n, d, k, rho) * (1 + 1e-12)
    p = hypercube.best_cdp_closed(n, d, k, rho, 1.0)
    closed = hypercube.hypercube_cdp_closed(p, n, d, k, rho)
    pinsker = hypercube_cdp_pinsker(p, n, d, k, rho)
    entropy = hypercube.hypercube_cdp(p, n, d, k, rho)
    assert closed <= pinsker * (1 + 1e-9)  # The closed form E5 is at most E8.
    assert pinsker <= entropy * (1 + 1e-9)  # Pinsker's form E8 is at most the entropy form E6.
    for q in (1e-3, 0.1, 1.0):
        conditioned = spikes.spike_conditioned_cdp(q / n, n, d, k, rho)
        assert conditioned >= fano(q / n) * (1 - 1e-9)
        markov = spikes.spike_markov_pure(q / n, n, d, k, rho)
        assert spikes.spike_pure(q / n, n, d, k, rho) >= markov * (1 - 1e-9)


def test_on_the_example_pure_dp_costs_more_than_concentrated_dp():
    pure = best_spike_probability("hypercube-pure", 10_000, 200, 4, 1.0)[1]
    assert pure > best_spike_probability("hypercube-cdp", 10_000, 200, 4, 0.5)[1]


@pytest.mark.parametrize("part", one_in(3, range(3)))
@pytest.mark.parametrize("kind", SPIKE_BOUNDS)
def test_more_records_or_budget_never_raise_a_bound(kind, part):
    for point in list(random_settings(30, 3))[part::3]:
        assert_never_raised(kind, *point)


def assert_never_raised(kind, n, d, k, level):
    """Assert that more records, a larger budget or a smaller cap do not raise a bound."""
    value = best_spike_probability(kind, n, d, k, level)[1]
    assert best_spike_probability(kind, 2 * n, d, k, level)[1] <= value * (1 + 1e-6)
    assert best_spike_probability(kind, n, d, k, 1.5 * level)[1] <= value * (1 + 1e-6)
    assert best_spike_probability(kind, n, d, k, level, 0.1)[1] <= value * (1 + 1e-6)


@pytest.mark.parametrize("d", [1, 7, 300])
def test_without_information_the_hypercube_bound_is_the_largest_norm_of_the_mean(d):
    for kind, level in (("hypercube-cdp", 1e-16), ("hypercube-pure", 1e-9)):
        p, value = best_spike_probability(kind, 10, d, 3, level)
        assert p == 1 and value == pytest.approx(math.sqrt(d), rel=1e-5)
        capped = best_spike_probability(kind, 10, d, 3, level, 0.25)[1]
        assert capped == pytest.approx(0.25, rel=1e-5)


def test_the_hypercube_bound_has_the_explicit_constant_everywhere():
    for n, d, k, rho in random_settings(60, 4):
        rate = math.sqrt(d) * min(1.0, (math.sqrt(d) / (math.sqrt(rho) * n)) ** (1 - 1 / k))
        p = hypercube.best_cdp_closed(n, d, k, rho, 1.0)
        assert hypercube.hypercube_cdp_closed(p, n, d, k, rho) >= 0.1767 * rate


def dense_grid(low, high):
    """Return 60 points between two ends, evenly spaced on a log scale."""
    return np.geomspace(low, high, 60)


@each(
    ("n", "d", "k", "level", "mean_bound"),
    [
        (10_000, 200, 4, 0.5, math.inf),
        (1000, 1, 2, 0.5, math.inf),
        (50, 9, 2, 3.0, 0.05),
        (300, 40, 100, 1e-3, math.inf),
        (10**6, 1000, 3, 1e-4, 10.0),
        (10**9, 50, 2.2, 1e-8, math.inf),
        (10**6, 100, 4, 1e4, math.inf),
        (2, 400, 5, 20.0, 1.0),
    ],
)
@each("kind", SPIKE_BOUNDS)
def test_the_best_spike_probability_beats_a_fine_grid(kind, n, d, k, level, mean_bound):
    p, value = best_spike_probability(kind, n, d, k, level, mean_bound)
    instance = "spike" if kind.startswith("fano") else "hypercube"
    largest = largest_spike_probability(instance, d, k, mean_bound)
    assert 0 < p <= largest
    assert value == VALUES[kind](p, n, d, k, level)
    grid = [*dense_grid(min(1e-3 / n, largest / 2), largest), *dense_grid(p / 1.02, p * 1.02)]
    best = max(VALUES[kind](float(q), n, d, k, level) for q in grid if q <= largest)
    assert value >= best * (1 - 1e-7)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(("n", "d", "k", "level"), [(1000, 50, 3, 0.1), (10**5, 500, 2, 2.0)])
def test_the_other_maxima_beat_a_fine_grid(n, d, k, level, squared):
    if squared:
        cases = [
            (
                spikes.best_cdp(n, d, k, level, 1.0, True),
                lambda p: spikes.spike_fano_cdp(p, n, d, k, level, squared=True),
            ),
            (
                hypercube.best_cdp(n, d, k, level, 1.0, True),
                lambda p: hypercube.hypercube_cdp(p, n, d, k, level, squared=True),
            ),
            (
                hypercube.best_pure(n, d, k, level, 1.0, "squared"),
                lambda p: hypercube.hypercube_pure(p, n, d, k, level, form="squared"),
            ),
        ]
    else:
        cases = [
            (
                spikes.best_cdp_gilbert(n, d, k, level, 1.0),
                lambda p: spikes.spike_fano_cdp_gilbert(p, n, d, k, level),
            ),
            (
                hypercube.best_cdp_closed(n, d, k, level, 1.0),
                lambda p: hypercube.hypercube_cdp_closed(p, n, d, k, level),
            ),
            (
                spikes.best_markov_pure(n, d, k, level, 1.0),
                lambda p: spikes.spike_markov_pure(p, n, d, k, level),
            ),
        ]
    for p, value_at in cases:
        grid = [*dense_grid(1e-3 / n, 1.0), *dense_grid(p / 1.02, min(1.0, p * 1.02))]
        assert value_at(p) >= max(value_at(float(q)) for q in grid) * (1 - 1e-7)


def test_the_largest_probability_keeps_the_prior_within_the_mean_bound():
    p = largest_spike_probability("spike", 21, 3, 0.7)
    assert p ** (2 / 3) * math.sqrt(10) == pytest.approx(0.7)
    p = largest_spike_probability("hypercube", 21, 3, 0.7)
    assert p ** (2 / 3) * math.sqrt(21) == pytest.approx(0.7)
    # At a cap of 0 no coordinate has a spike, so the probability is not limited.
    assert largest_spike_probability("spike", 1, 3, 0.0) == 1.0
    assert best_spike_probability("hypercube-cdp", 10, 5, 3, 1.0, 0.0) == (0.0, 0.0)


def test_an_unknown_kind_or_budget_is_named():
    with pytest.raises(InvalidInput, match="kind must be one of fano-cdp"):
        best_spike_probability("fano", 10, 10, 2, 1.0)
    with pytest.raises(InvalidInput, match="epsilon must be positive, got epsilon=0"):
        best_spike_probability("fano-pure", 10, 10, 2, 0)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000, 10**5, 10**9])
def test_bounded_signs_keep_a_constant_fraction_of_the_statistical_rate(n):
    delta = best_separation(n, 7)
    value = bounded_signs(delta, n, 7) / math.sqrt(7 / n)
    assert 0.17 <= value <= 0.345
    grid = np.linspace(1e-3, min(1.0, 4 / math.sqrt(n)), 3000)
    assert bounded_signs(delta, n, 7) >= max(bounded_signs(float(x), n, 7) for x in grid) - 1e-9


def test_the_mean_bound_caps_the_separation_of_the_signs():
    delta = best_separation(4, 25, 0.1)
    assert delta / (1 + delta) * 5 == pytest.approx(0.1)


def test_a_wide_normal_prior_tends_to_the_minimax_risk_from_below():
    minimax = gaussian_minimax(100, 5, 3)

    def bayes(prior_std):
        """Return the Bayes risk of a normal prior with this standard deviation."""
        precision = 100 / gaussian_scale(3) ** 2 + prior_std**-2
        return normal_norm(5) / math.sqrt(precision)

    assert bayes(0.1) < bayes(1.0) < minimax
    assert bayes(1e4) == pytest.approx(minimax, rel=1e-8)


@each("n", [1, 1000, 10**9])
@each("d", [1, 8, 1000, 10**5])
@each("k", [2, 100])
@each("level", [1e-8, 1.0, 1e4])
def test_the_whole_range_of_settings_gives_finite_values_without_warnings(n, d, k, level):
    for kind in SPIKE_BOUNDS:
        p, value = best_spike_probability(kind, n, d, k, level)
        largest = d if kind.endswith("squared") else math.sqrt(d)
        assert 0 < p <= 1 and 0 <= value <= largest * (1 + 1e-9)
