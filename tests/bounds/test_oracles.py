"""The bounds against second, slow evaluations: best mechanisms, exact codes and plain grids.

A lower bound must not exceed the least error that any private algorithm attains. On tiny instances
linear programming over all epsilon-DP mechanisms with outputs on a grid finds that error (a grid
can only raise it); on larger ones the posterior mean after a Gaussian release bounds it from above.
"""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from dpsco_core.bounds.instances import gaussian, hypercube, spikes
from dpsco_core.bounds.mean.coordinatewise import even_blocks
from dpsco_core.bounds.mean.rows import MEAN_BOUNDS
from dpsco_core.privacy.budget import ZCDP
from tests.bounds import helpers
from tests.folded import each

BY_SLUG = {bound.card.slug: bound for bound in MEAN_BOUNDS}


def least_error(n, patterns, outputs, p, k, epsilon):
    """Return the least expected l2 error of an epsilon-DP mechanism on the spike prior
    `patterns`.
    """
    symbols = range(len(patterns) + 1)  # Symbol 0 is the record without a spike.
    # The order of records carries no information, so data sets are multisets.
    data = list(itertools.combinations_with_replacement(symbols, n))
    index = {records: i for i, records in enumerate(data)}
    count = len(outputs)
    cost = np.zeros((len(data), count))
    for j, pattern in enumerate(patterns, start=1):
        loss = np.linalg.norm(outputs - p ** (1 - 1 / k) * np.array(pattern), axis=1)
        for b, weight in enumerate(helpers.exact_binomial_pmf(n, p)):
            cost[index[(0,) * (n - b) + (j,) * b]] += weight / len(patterns) * loss
    pairs = {
        (index[records], index[tuple(sorted((*records[:i], *records[i + 1 :], s)))])
        for records in data
        for i in range(n)
        for s in symbols
    }
    left, right = np.array([pair for pair in pairs if pair[0] != pair[1]]).T
    rows = np.arange(len(left) * count)
    columns = [(side[:, None] * count + np.arange(count)).ravel() for side in (left, right)]
    values = np.concatenate([np.ones(len(rows)), np.full(len(rows), -math.exp(epsilon))])
    shape = (len(rows), cost.size)
    ratio = coo_matrix((values, (np.tile(rows, 2), np.concatenate(columns))), shape).tocsr()
    total = np.kron(np.eye(len(data)), np.ones(count))
    solution = linprog(
        cost.ravel(), A_ub=ratio, b_ub=np.zeros(len(rows)), A_eq=total, b_eq=np.ones(len(data))
    )
    return float(solution.fun)


@each(("d", "n"), [(1, 1), (1, 2), (1, 5), (2, 1), (2, 2)])
@each("p", [0.05, 0.4, 1.0])
@each(("k", "epsilon"), [(2, 0.2), (4, 1.5)])
def test_no_pure_mechanism_beats_the_hypercube_bounds(d, n, p, k, epsilon):
    signs = list(itertools.product((-1, 1), repeat=d))
    size = p ** (1 - 1 / k)
    outputs = np.array(
        list(itertools.product(np.linspace(-size, size, 2 if d == 1 else 5), repeat=d))
    )
    smallest = least_error(n, signs, outputs, p, k, epsilon)
    assert hypercube.hypercube_pure(p, n, d, k, epsilon) <= smallest * (1 + 1e-7)
    assert hypercube.hypercube_cdp(p, n, d, k, epsilon**2 / 2) <= smallest * (1 + 1e-7)
    if d == n == 1:  # In this case randomised response attains the bound.
        assert hypercube.hypercube_pure(p, 1, 1, k, epsilon) == pytest.approx(smallest, rel=1e-7)


@pytest.mark.parametrize("p", [0.1, 1.0])
@pytest.mark.parametrize("n", [1, 2])
def test_no_pure_mechanism_beats_fano_on_a_small_packing(n, p):
    patterns = [word for word in itertools.product((0, 1), repeat=4) if sum(word) == 2]
    size = math.sqrt(p)
    outputs = size * np.array([*patterns, (0.5,) * 4, (0.0,) * 4])
    for epsilon in (0.05, 0.5):
        smallest = least_error(n, patterns, outputs, p, 2, epsilon)
        assert 0 <= spikes.spike_fano_cdp_gilbert(p, n, 4, 2, epsilon**2 / 2) <= smallest
        # The pure form with this code, which has six words at distance 2.
        mean = helpers.mean_over(n, p, lambda b, e=epsilon: 5 / (5 + math.exp(e * b)))
        assert size * math.sqrt(2) / 2 * mean <= smallest * (1 + 1e-7)


@each(("d", "n"), [(1, 50), (3, 2000), (40, 300)])
@each("rho", [1e-3, 0.3, 4.0])
@each("factor", [0.4, 1.0, 2.5])
def test_the_posterior_mean_of_a_gaussian_release_errs_more(d, n, rho, factor):
    k, trials = 3, 4000
    p = min(1.0, factor * hypercube.best_cdp(n, d, k, rho, 1.0))
    rng = np.random.default_rng(9)
    count = rng.binomial(n, p, trials)[:, None]
    size, spike = p ** (1 - 1 / k), p ** (-1 / k)
    std = 2 * spike * math.sqrt(d) / n / math.sqrt(2 * rho)
    # By symmetry all signs may be +1.
    released = count * spike / n + std * rng.normal(size=(trials, d))
    wrong = size * (1 - np.tanh(released * count * spike / n / std**2))
    for error, bound in (
        (np.linalg.norm(wrong, axis=1), hypercube.hypercube_cdp),
        (np.sum(wrong**2, axis=1), partial(hypercube.hypercube_cdp, squared=True)),
    ):
        # Six standard errors: a false alarm has probability below 1e-8.
        slack = 6 * error.std() / math.sqrt(trials)
        assert bound(p, n, d, k, rho) <= error.mean() + slack
    # The right side is the error of the constant answer 0.
    assert hypercube.hypercube_cdp(p, n, d, k, rho) <= size * math.sqrt(d)


def greedy_code(d, distance):
    """Return the size of a greedy code of balanced binary words of length d with this least Hamming
    distance.
    """
    words: list[int] = []
    for support in itertools.combinations(range(d), d // 2):
        word = sum(1 << i for i in support)
        if all((word ^ other).bit_count() >= distance for other in words):
            words.append(word)
    return len(words)


@pytest.mark.parametrize("d", [2, 3, 5, 8, 9, 12])
def test_a_greedy_code_has_gilberts_size(d):
    for distance in range(1, d + 1):
        size = math.exp(helpers.log_packing_size(d, distance))
        assert size <= greedy_code(d, distance) * (1 + 1e-9)


def test_the_papers_packing_exists_for_every_dimension():
    for d in [*range(2, 400), 1999, 10_007, 100_000]:
        assert helpers.log_packing_size(d, d / 8) >= d / 8 * helpers.LOG_2 - 1e-9


@pytest.mark.parametrize("point", [(0.02, 40, 24, 3.0, 0.05), (0.3, 3, 40, 2.0, 0.2)])
def test_the_gilbert_form_is_a_plain_maximum_over_distances(point):
    p, n, d, k, rho = point
    mean_square = helpers.mean_over(n, p, lambda b: b * b)
    w = d // 2
    best = 0.0
    for half in range(1, w + 1):
        ball = sum(math.comb(w, i) * math.comb(d - w, i) for i in range(half))
        words = math.comb(d, w) / ball
        if words > 2:
            error = 1 - (rho * mean_square + helpers.LOG_2) / math.log(words)
            best = max(best, math.sqrt(2 * half) * error)
    assert best > 0
    assert spikes.spike_fano_cdp_gilbert(*point) == pytest.approx(p ** (1 - 1 / k) / 2 * best)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (4, 1), (3, 2), (6, 2)])
@pytest.mark.parametrize("delta", [0.1, 0.5, 0.9])
def test_no_estimator_beats_the_bounded_signs(n, d, delta):
    # The data are d counts of positive signs, and a fine grid gives the best answer to each.
    size = delta / (1 + delta)
    signs = np.array(list(itertools.product((-1, 1), repeat=d)))
    answers = np.array(list(itertools.product(np.linspace(-size, size, 41), repeat=d)))
    loss = np.linalg.norm(answers[:, None] - size * signs[None], axis=2)
    law = {s: np.array(helpers.exact_binomial_pmf(n, (1 + s * delta) / 2)) for s in (-1, 1)}
    risk = 0.0
    for counts in itertools.product(range(n + 1), repeat=d):
        weight = [np.prod([law[s][c] for s, c in zip(row, counts, strict=True)]) for row in signs]
        risk += float(np.min(loss @ np.array(weight))) / len(signs)
    value = gaussian.bounded_signs(delta, n, d)
    assert value <= risk * (1 + 1e-9)
    if d == 1:
        assert value == pytest.approx(risk)


def test_the_gaussian_bound_is_the_risk_of_the_sample_mean():
    n, d, k = 7, 3, 4
    z = np.random.default_rng(3).normal(size=(200_000, d))
    scale = np.mean(np.random.default_rng(4).normal(size=10**6) ** 4) ** (-1 / 4)
    risk = scale / math.sqrt(n) * np.linalg.norm(z, axis=1).mean()
    assert gaussian.gaussian_minimax(n, d, k) == pytest.approx(risk, rel=0.01)


GRID = np.geomspace(1e-3, 1e6, 90_001)


def hinge(t, k):
    """Return the largest mean excess over t of a real law whose k-th moment is 1."""
    if k == 2:
        return (np.sqrt(1 + t * t) - t) / 2
    return (k - 1) ** (k - 1) / k**k * t ** (1 - k)


def plain_coordinatewise(setting, noise, form):
    """Return the least error bound of coordinatewise clipping over a grid of thresholds, in the
    bound's form `form`.
    """
    n, d, k, beta = setting.n, setting.d, setting.moment_order, 0.05
    scale = setting.constants.coordinate_moment ** (1 / k)
    bound = setting.constants.mean_gradient_bound / scale
    t = GRID
    tau = (bound + t) / 3
    blocks = 1 if form == "expected" else even_blocks(d, beta)
    sensitivity = (6 if blocks % 2 else 3) * tau / (n // blocks)
    bias = math.sqrt(d) * hinge(t, k)
    if noise == "cdp":
        std = math.sqrt(d) * sensitivity / math.sqrt(2 * setting.rho)
        norm = std * (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta)))
        energy = d * std**2
    else:
        width = d * sensitivity / setting.laplace_epsilon
        norm = width * math.sqrt(d) * math.log(2 * d / beta)
        energy = 2 * d * width**2
    if form == "expected":
        step = 1e-5 * (bound + t)
        rise = (hinge(bound + t - step, k) ** 2 - hinge(bound + t + step, k) ** 2) / (2 * step)
        joint = (d - 1) * hinge(bound + t, k) ** 2 + hinge(t, k) ** 2
        joint += (math.sqrt(d) - 1) * bound * rise
        return scale * float(np.min(np.sqrt(d / n + joint + energy)))
    return scale * float(np.min(10 * math.sqrt(d / (n // blocks)) + bias + norm))


def plain_smoothed(setting, form):
    """Return the least error bound of smoothing over a grid of smoothing scales, in the bound's
    form `form`.
    """
    n, d, beta = setting.n, setting.d, 0.05
    scale = setting.constants.coordinate_moment ** (1 / setting.moment_order)
    bound = setting.constants.mean_gradient_bound / scale
    sum_v, sum_v2 = d + bound**2, d + 2 * bound**2 + bound**4
    top = 2 * math.sqrt(2) / 3 * math.erf(1 / math.sqrt(2))
    tau = GRID
    std = 2 * top * math.sqrt(d) * tau / n / math.sqrt(2 * setting.rho)
    if form == "expected":
        bias = 3 * 2 / (8 * math.sqrt(2)) * math.sqrt(sum_v2) / tau
        return scale * float(np.min(np.sqrt(bias**2 + 2 * sum_v / n + d * std**2)))
    sample = math.sqrt(sum_v2) / tau + math.sqrt(d) * tau * math.log(4 * d / beta) / n
    return scale * float(np.min(sample + std * (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta)))))


def plain_clipped(setting, form):
    """Return the least error bound of clipping to a ball over a grid of radii, in the bound's form
    `form`.
    """
    n, d, k, beta, c = setting.n, setting.d, setting.moment_order, 0.05, setting.constants
    kappa = (k - 1) ** (k - 1) / k**k
    moment, radius = c.directional_moment, GRID
    if form == "probability":
        size = d * math.log(5) + math.log(2 / beta)
        sample = np.maximum(moment * math.sqrt(12 * size / n), 8 * radius * size / n)
        std = 2 * radius / n / math.sqrt(2 * setting.rho)
        noise = std * (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta)))
        bias = kappa * d ** ((k - 1) / 2) * moment**k * radius ** (1 - k)
        return float(np.min(sample + bias + noise))
    energy = d * (2 * radius / n) ** 2 / (2 * setting.rho)
    if form == "expected":
        trace = d * moment**2
        bias = kappa * d ** ((k - 1) / 2) * moment**k * radius ** (1 - k)
    else:
        scale = c.coordinate_moment ** (1 / k)
        trace = d * scale**2
        # There is no proof for radii below R_0.
        room = np.maximum(radius - c.mean_gradient_bound, 1e-9)
        bias = kappa * (math.sqrt(d) * scale) ** k * room ** (1 - k)
    return float(np.min(np.sqrt(trace / n + bias**2 + energy)))


def plain_iterative(setting):
    """Return the least error bound of iterative updating over numbers of groups and over radii."""
    n, d, k, moment = (
        setting.n,
        setting.d,
        setting.moment_order,
        setting.constants.directional_moment,
    )
    kappa = (k - 1) ** (k - 1) / k**k
    best = math.inf
    for groups in range(8, min(120, n) + 1):
        records = n // groups * groups
        margin = 0.5 - math.sqrt(math.log(20) / (2 * groups))
        if margin <= 0:
            continue
        spread = np.sqrt(moment**2 / records + 2 * GRID**2 * groups / (setting.rho * records**2))
        r0 = (4 * math.sqrt(d) + math.sqrt(groups)) * spread / margin
        bias = kappa * d ** ((k - 1) / 2) * moment**k * GRID ** (1 - k)
        best = min(best, float(np.min(6 * r0 + bias)))
    return best


PLAIN = {
    "upper.mean.cwme-cdp-expected": lambda setting: plain_coordinatewise(
        setting, "cdp", "expected"
    ),
    "upper.mean.cwme-pure-expected": lambda setting: plain_coordinatewise(
        setting, "pure", "expected"
    ),
    "upper.mean.cwme-cdp-probability": lambda setting: plain_coordinatewise(setting, "cdp", "tail"),
    "upper.mean.cwme-pure-probability": lambda setting: plain_coordinatewise(
        setting, "pure", "tail"
    ),
    "upper.mean.smoothed-expected": lambda setting: plain_smoothed(setting, "expected"),
    "upper.mean.smoothed-probability": lambda setting: plain_smoothed(setting, "tail"),
    "upper.mean.clipped-probability": lambda setting: plain_clipped(setting, "probability"),
    "upper.mean.clipped-expected": lambda setting: plain_clipped(setting, "expected"),
    "upper.mean.clipped-expected-coordinate": lambda setting: plain_clipped(setting, "coordinate"),
    "upper.mean.iterative-probability": plain_iterative,
}
SETTINGS = [
    helpers.make_setting(5000, 7, 2.0, ZCDP(rho=0.05), mean_bound=2.0, directional_moment=3.0),
    helpers.make_setting(300, 1, 3.5, ZCDP(rho=2.0), mean_bound=0.3, directional_moment=1.3),
    helpers.make_setting(
        10**5, 50, 6.0, ZCDP(rho=1e-3), coordinate_moment=5.0, mean_bound=9.0, directional_moment=15
    ),
]


@each("setting", SETTINGS, ids=("second", "one", "sixth"))
@each("slug", PLAIN)
def test_an_explicit_upper_bound_is_the_minimum_of_its_formula_on_a_plain_grid(slug, setting):
    plain = PLAIN[slug](setting)
    # A kink costs the grid up to 1e-4; the bound tries 40 numbers of groups, and the plain loop all
    # of them.
    loose = 1e-2 if PLAIN[slug] is plain_iterative else 1e-6
    assert plain * (1 - 1e-4) <= BY_SLUG[slug].value(setting) <= plain * (1 + loose)
