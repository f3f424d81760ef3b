"""Every explicit bound in l_q and at user level against a second, plain implementation.

The implementation follows docs/theory alone. It calls the package only for the catalogue's bounds,
their settings, and the schedules at which user-level bounds state that they are smallest.
"""

import math
import random

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from dpsco_core.bounds.euclidean.rows import SCO_BOUNDS
from dpsco_core.bounds.user import explicit
from dpsco_core.bounds.user.rows import USER_BOUNDS
from dpsco_core.geometry import Ball, Box, L1Ball
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Constants, LinearModel, Setting
from tests.bound_marks import second_implementation_of

ROWS = {b.card.slug: b for b in (*SCO_BOUNDS, *USER_BOUNDS)}
INF = math.inf


def catalogue_bound(slug):
    """Return the bound of the catalogue on an lq method, by the end of its slug."""
    return ROWS[f"upper.lp.{slug}"]


def gaussian_ratio(epsilon, delta):
    """Return the largest ratio of sensitivity to sigma at which Gaussian noise is (epsilon,
    delta)-private (Balle and Wang, 2018).
    """

    def excess(log):
        """Return the logarithm of delta at the ratio exp(log), less that of the allowed delta."""
        r = math.exp(log)
        tail = math.exp(epsilon + norm.logcdf(-r / 2 - epsilon / r))
        return math.log(max(norm.cdf(r / 2 - epsilon / r) - tail, 1e-300) / delta)

    return math.exp(brentq(excess, -12, 4, xtol=1e-13))


def gaussian_rho(epsilon, delta):
    """Return the rho of the Gaussian mechanism that is (epsilon, delta)-private."""
    return gaussian_ratio(epsilon, delta) ** 2 / 2


ORDERS = 1 + np.exp(np.linspace(-6, 14, 20_001))


def concentrated_rho(epsilon, delta):
    """Return the largest rho whose best conversion from zCDP satisfies (epsilon, delta)."""
    fixed = ORDERS * np.log1p(-1 / ORDERS) - np.log(ORDERS - 1)

    def excess(log):
        """Return the logarithm of delta at rho = exp(log), less that of the allowed delta."""
        grown = (ORDERS - 1) * (ORDERS * math.exp(log) - epsilon)
        return float(np.min(grown + fixed)) - math.log(delta)

    return math.exp(brentq(excess, -40, 6, xtol=1e-12))


def clones_divergence(local, n, epsilon):
    """Return the divergence H of theory/arora-marinov-ullah.md, 2.5, steps 2 and 3."""
    if epsilon >= local:
        return 0.0
    a = 1 / (1 + math.exp(-local))
    first_value, second_value = a - math.exp(epsilon) * (1 - a), math.exp(epsilon) * a - (1 - a)
    c = np.arange(n)
    start = np.floor((c + 1) * second_value / (first_value + second_value)) + 1
    inner = first_value * binom.sf(start - 2, c, 0.5) - second_value * binom.sf(start - 1, c, 0.5)
    return float(binom.pmf(c, n - 1, math.exp(-local)) @ np.maximum(inner, 0))


def record_rho(n, epsilon, delta, allowed):
    """Return the rho of one record's noise if n records are visited in secret order: amplified by
    clones, or else `allowed`.
    """
    if clones_divergence(epsilon * (1 + 1e-9), n, epsilon) > 0.9 * delta:
        return allowed(epsilon, delta)
    low, high = epsilon, epsilon + 30
    for _ in range(45):
        middle = (low + high) / 2
        fits = clones_divergence(middle, n, epsilon) <= 0.9 * delta
        low, high = (middle, high) if fits else (low, middle)
    left = 0.1 * delta / (1 + math.exp(epsilon)) / (2 * (n - 1) * math.exp(-low) + 1)
    return max(allowed(epsilon, delta), allowed(low, left))


def closed_record_rho(n, epsilon, delta):
    """Return the rho of Lemma 3 from the closed form of amplification by clones; 0 where that form
    is undefined.
    """
    cap = math.log(n / (16 * math.log(4 / delta)))
    if cap <= 0:
        return 0.0

    def shuffled(e):
        """Return the epsilon after shuffling records with local epsilon e, less the allowed
        epsilon.
        """
        grown = math.exp(e)
        inner = 8 * math.sqrt(grown * math.log(8 / delta) / n) + 8 * grown / n
        return min(e, math.log(1 + (grown - 1) / (grown + 1) * inner)) - epsilon

    local = cap if shuffled(cap) <= 0 else brentq(shuffled, 1e-12, cap, xtol=1e-14)
    if local > 1:
        return 0.0
    left = delta / 2 / ((math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * n)
    return local**2 / (4 * math.log(1 / left))


class Case:
    """A problem on a set whose constants in l_q are known in closed form."""

    def __init__(self, seed, exponents, lipschitz=True):
        """Draw the sizes, the budget and the constants of a case."""
        source = random.Random(seed)
        self.n, self.d = source.randint(60, 300), source.choice([2, 5, 30, 200])
        self.q = source.choice(exponents)
        self.epsilon, self.delta = 10 ** source.uniform(-2, -0.01), 10 ** source.uniform(-8, -4)
        slope, beta, size = (10 ** source.uniform(-0.7, 0.7) for _ in range(3))
        moment, order = 10 ** source.uniform(-1, 1), source.choice([2.0, 3.0, 8.0])
        d, trace = self.d, self.d * moment ** (2 / order) * source.uniform(0.3, 1)
        bound = slope * source.uniform(0.1, 1)
        kind = source.choice([L1Ball, Box, Ball])
        body = Box(half_widths=(size,) * d) if kind is Box else kind(d=d, radius=size)
        self.reach = size * math.sqrt(d) if kind is Box else size
        self.setting = Setting(
            n=self.n,
            d=d,
            moment_order=order,
            budget=ApproxDP(epsilon=self.epsilon, delta=self.delta),
            constants=Constants(
                coordinate_moment=moment,
                directional_moment=1.0,
                variance_trace=trace,
                mean_gradient_bound=bound,
                diameter=2 * self.reach,
                smoothness=beta,
                sample_smoothness=3 * beta,
                lipschitz=slope if lipschitz else INF,
                minimum_interior=True,
                structure="linear-model",
                linear_model=LinearModel(slope=slope, curvature=1.0, feature_norm=1.0),
            ),
            constraint=body,
            exponent=self.q,
        )
        q = self.q = min(self.q, 2.0)  # For exponents above 2 the methods work in l2.
        self.dual = INF if q == 1 else q / (q - 1)
        k = min(self.dual, order)
        self.L = slope if lipschitz else INF
        self.beta, self.sample_beta = beta, 3 * beta
        self.radius = size * {L1Ball: 1.0, Box: d ** (1 / q), Ball: d ** (1 / q - 0.5)}[kind]
        self.M = 2 * self.radius
        self.G = min(bound, beta * self.M)
        self.variance = min(trace, 4 * self.L**2, d ** (2 / k) * moment ** (2 / order))
        self.r = min(self.dual, 2 * math.log(d) + 1)
        self.plus = self.r - 1
        self.kappa = self.plus * d ** (2 * (1 / self.r - 1 / self.dual))
        self.printed = min(self.dual - 1, 2 * math.log(d))
        self.size = d * math.log(1 / self.delta)

    def root_moment(self, k):
        """Return the square of the k-th root of E|g|^k for standard normal g."""
        log = k / 2 * math.log(2) + math.lgamma((k + 1) / 2) - math.log(math.pi) / 2
        return math.exp(2 / k * log)

    def energy(self, noise, smooth):
        """Return the mean squared norm of noise at sensitivity 1 and rho 1, in the dual norm or, if
        `smooth`, in the smooth one.
        """
        d = self.d
        if noise != "gaussian":
            return d / 2 * (self.kappa if noise == "shaped" else self.printed)
        embedded = d ** (2 * (1 / self.r - 1 / self.dual)) * self.root_moment(self.r)
        direct = self.root_moment(self.dual) if self.dual < INF and not smooth else INF
        return d / 2 * min(embedded, direct)

    def b3(self, steps, weight, energy):
        """Return bound B3 of theory/su-zhao-wang.md, 3.4, at a number of steps, a weight of the
        regulariser and an energy of one step's noise.
        """
        noise, start = steps * energy, self.kappa / 2 * self.radius**2
        slope = (self.L / weight) ** 2
        mean = np.minimum(slope / (2 * self.plus), start + 2 * slope / self.n)
        grown = 1 + weight / (2 * self.sample_beta)
        rest = 1 / np.expm1(np.minimum(steps * np.log(grown), 700))
        drift = mean * np.minimum(1, steps * (grown - 1) / grown) * rest
        inner = noise / (2 * weight * self.sample_beta) + drift
        distance = 2 * np.sqrt(2 * inner) + 2 * self.L / (self.n * weight)
        return weight * start * (1 + rest) + noise / (2 * self.sample_beta) + self.L * distance

    def b4(self, steps, room, batch_energy, record_energy, weight=None):
        """Return bound B4 at the truncation threshold G + room, for arrays or numbers."""
        batch, root = self.n // steps, math.sqrt(self.variance)
        clipped = self.G + room < self.L
        ratio = np.maximum(1, self.G / room)
        spread = np.where(clipped, root * ratio, root)
        bias = self.variance / room * (1 + self.G / room)
        bias = np.where(clipped, np.minimum(bias, root * ratio), 0.0)
        spread_and_bias = spread if self.q == 2 else spread + bias
        noise = np.minimum(batch_energy / batch**2, record_energy / batch)
        total = (
            self.kappa / batch * spread_and_bias**2
            + 4 * np.minimum(self.G + room, self.L) ** 2 * noise
        )
        reach = self.kappa / 2 * self.radius**2
        if weight is None:
            weight = self.beta + np.sqrt(steps * total / (2 * reach))
        else:
            weight = weight(total)
        return weight * reach / steps + total / (2 * (weight - self.beta)) + self.M * bias

    def least_b4(self, noise, orders):
        """Return the least value of bound B4 over steps, batches and truncation thresholds."""
        allowed = gaussian_rho if noise == "gaussian" else concentrated_rho
        energy = self.energy(noise, smooth=True)
        grown = energy * (1 if noise == "gaussian" else self.plus)
        steps = np.arange(1, self.n + 1)[:, None]
        scale = max(self.G, math.sqrt(self.variance))
        rooms = scale * np.exp(np.linspace(-5, 15, 120))
        rooms = np.append(rooms, [self.G, *([self.L - self.G] if self.L < INF else [])])
        values = []
        for order in orders:
            batch = energy / allowed(self.epsilon, self.delta) if order == "batch" else INF
            single = INF
            if order == "record":
                single = grown / record_rho(self.n, self.epsilon, self.delta, allowed)
            values.append(float(np.min(self.b4(steps, rooms, batch, single))))
        return min(values)

    def printed_b4(self, orders):
        """Return bound B4 at the parameters that the paper prints."""
        energy, values = self.energy("printed", smooth=True), []
        x = self.n * self.epsilon
        if "record" in orders:
            level = math.sqrt(x) / (self.printed**2 * self.size) ** 0.25
            steps = x * self.printed / math.sqrt(self.size)
        else:
            level = x ** (1 / 3) / (self.printed ** (2 / 3) * self.size ** (1 / 6))
            steps = (x * self.printed / math.sqrt(self.size)) ** (2 / 3)
        steps = min(self.n, max(1, round(steps)))
        room = max(self.G, math.sqrt(self.variance) * level)

        def weight(total):
            """Return the printed weight of a step for this noise."""
            return max(2 * self.beta, math.sqrt(2 * steps * total / self.kappa) / self.M)

        for order in orders:
            rho = self.epsilon**2 / (4 * math.log(1 / self.delta))
            batch, single = energy / rho if order == "batch" else INF, INF
            if order == "record":
                rho = closed_record_rho(self.n, self.epsilon, self.delta)
                single = energy * self.plus / rho if rho > 0 else INF
            if min(batch, single) < INF:
                values.append(float(self.b4(steps, room, batch, single, weight)))
        return min(values, default=INF)


SMALL = [1.0, 1.05, 1.2, 1.5, 1.8, 2.0]
LARGE = [2.0, 3.0, INF]
SEEDS = range(5)


@second_implementation_of(
    "upper.lp.regularized-mirror-descent-explicit",
    "upper.lp.regularized-mirror-descent-generalized",
    "upper.lp.regularized-mirror-descent-paper",
)
@pytest.mark.parametrize("seed", SEEDS)
def test_regularised_mirror_descent_agrees_with_its_formulas(seed):
    scenario = Case(seed, SMALL)
    steps = np.unique(np.round(np.exp(np.linspace(0, math.log(2000), 80))))[:, None]
    weights = scenario.L / scenario.radius * np.exp(np.linspace(-math.log(scenario.n), 5, 500))
    for slug, noise, allowed in (
        ("explicit", "gaussian", gaussian_rho),
        ("generalized", "shaped", concentrated_rho),
    ):
        energy = scenario.energy(noise, smooth=False) / allowed(scenario.epsilon, scenario.delta)
        smallest = np.min(scenario.b3(steps, weights, energy * (2 * scenario.L / scenario.n) ** 2))
        value = catalogue_bound(f"regularized-mirror-descent-{slug}").value(scenario.setting)
        assert smallest * 0.998 < value < smallest * 1.0005
    x = scenario.n * scenario.epsilon * math.sqrt(scenario.printed / scenario.size)
    count = max(1, round(x**0.4))
    weight = 4 * scenario.sample_beta / count * math.log2(scenario.n / count)
    energy = (
        64 * scenario.L**2 * scenario.printed * scenario.size / (scenario.n * scenario.epsilon) ** 2
    )
    value = catalogue_bound("regularized-mirror-descent-paper").value(scenario.setting)
    assert value == pytest.approx(float(scenario.b3(count, weight, energy)), rel=1e-9)


@second_implementation_of(
    "upper.lp.shuffled-mirror-descent-explicit",
    "upper.lp.shuffled-mirror-descent-generalized",
    "upper.lp.shuffled-mirror-descent-paper",
    "upper.lp.batched-mirror-descent-explicit",
    "upper.lp.batched-mirror-descent-generalized",
    "upper.lp.batched-mirror-descent-paper",
)
@pytest.mark.parametrize("seed", SEEDS)
def test_truncated_mirror_descent_agrees_with_its_formulas(seed):
    scenario = Case(100 + seed, SMALL, lipschitz=seed % 2 == 0)
    for method, orders in (("batched", ("batch",)), ("shuffled", ("batch", "record"))):
        for slug, noise in (("explicit", "gaussian"), ("generalized", "shaped")):
            value = catalogue_bound(f"{method}-mirror-descent-{slug}").value(scenario.setting)
            smallest = scenario.least_b4(noise, orders)
            # Where the bound exceeds the trivial G M, it has many local minima, none of which
            # matters.
            assert (
                smallest * 0.97
                < value
                < smallest * (1.001 if smallest < scenario.G * scenario.M else 1.05)
            ), slug
        value = catalogue_bound(f"{method}-mirror-descent-paper").value(scenario.setting)
        assert value == pytest.approx(scenario.printed_b4(orders), rel=1e-6)


@second_implementation_of(
    "upper.lp.phased-sgd-explicit",
    "upper.lp.phased-sgd-free",
    "upper.lp.euclidean-reduction-explicit",
)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_methods_for_q_from_two_on_agree_with_their_formulas(seed):
    scenario = Case(200 + seed, LARGE)
    smallest = scenario.least_b4("gaussian", ("batch", "record"))
    value = catalogue_bound("euclidean-reduction-explicit").value(scenario.setting)
    assert (
        smallest * 0.97 < value < smallest * (1.001 if smallest < scenario.G * scenario.M else 1.05)
    )
    factor = 2 / gaussian_ratio(scenario.epsilon, scenario.delta)
    count = int(math.log2(scenario.n))

    def b3_prime(step):
        """Return bound B3', on phased SGD, at a step size."""
        total = scenario.reach**2 / (2 * step / 4 * (scenario.n // 2))
        for i in range(1, count + 1):
            total += 4.0**-i * step * scenario.L**2 / 2
            if i > 1:
                noise = factor * scenario.L * 4.0 ** (1 - i) * step
                total += scenario.d * noise**2 / (2 * 4.0**-i * step * (scenario.n // 2**i))
        return total + scenario.L * math.sqrt(scenario.d) * factor * scenario.L * 4.0**-count * step

    largest = 8 / scenario.sample_beta
    smallest = np.min(b3_prime(np.minimum(np.exp(np.linspace(-25, 5, 10_001)), largest)))
    value = catalogue_bound("phased-sgd-explicit").value(scenario.setting)
    assert value == pytest.approx(float(smallest), rel=1e-5)
    free = min(1 / math.sqrt(scenario.n), 1 / (factor * math.sqrt(scenario.d))) / scenario.L
    bound = catalogue_bound("phased-sgd-free")
    if free <= largest:
        assert bound.value(scenario.setting) == pytest.approx(b3_prime(free), rel=1e-9)
        assert bound.failures(scenario.setting) == ()
    else:
        assert math.isinf(bound.value(scenario.setting))
        assert "at most 2/beta" in " ".join(bound.failures(scenario.setting))


@second_implementation_of("upper.lp.noisy-mirror-descent-explicit")
@pytest.mark.parametrize("seed", SEEDS)
def test_noisy_mirror_descent_agrees_with_its_formulas(seed):
    scenario = Case(300 + seed, SMALL + LARGE)
    rho = record_rho(scenario.n, scenario.epsilon, scenario.delta, gaussian_rho)
    noise = scenario.energy("gaussian", smooth=True) * 4 * scenario.L**2 / rho
    square = min(scenario.kappa * scenario.L**2 + noise, (scenario.L + math.sqrt(noise)) ** 2)
    expected = scenario.radius * math.sqrt(scenario.kappa * square / (scenario.n // 2 + 1))
    value = catalogue_bound("noisy-mirror-descent-explicit").value(scenario.setting)
    assert value == pytest.approx(expected, rel=1e-5)


def filter_sensitivity(score, count):
    """Return the sensitivity F6 of theory/lowy-liu-asi.md, 2.0, at a = 1/2 and b = 1, in units of
    the radius of scores.
    """
    weight, changes = 2 * (score - count / 2), 2 + 2 * (count - 1) / count
    return 2 * changes / weight if weight > changes / 2 else INF


def sgd_terms(case, steps, counts, noises, failure):
    """Return the five terms of the risk bound of phased one-pass SGD from the centre; `steps`,
    `counts` and `noises` are per phase.
    """
    wide, unit = case.diameter, case.lipschitz
    pairs = zip(noises, steps[1:], counts[1:], strict=False)
    return (
        (wide / 2) ** 2 / (2 * steps[0] * counts[0]),
        sum(step * unit**2 / 2 for step in steps),
        sum(min(case.d * s**2, wide**2) / (2 * step * count) for s, step, count in pairs),
        unit * min(math.sqrt(case.d) * noises[-1], wide),
        failure * unit * wide,
    )


def optimisation_gap(case, weight, noise, total):
    """Return the bound on the optimisation gap after `total` steps of AC-SA, in one stage or in
    stages that halve the gap.
    """
    reach, smooth = min(case.diameter, case.lipschitz / weight), case.smoothness + weight
    variance, lengths, left = case.d * noise**2, [], total
    start = case.lipschitz * reach - weight * reach**2 / 2
    while left > 0:
        loud = 32 * variance * 2 ** len(lengths) / (weight * start)
        expected = math.ceil(max(4 * math.sqrt(smooth / weight), loud))
        if expected > left:
            lengths[-1:] = [left + sum(lengths[-1:])]
            break
        lengths.append(expected)
        left -= expected
    values = []
    for stages in (lengths, [total]):
        square = reach**2
        for n in stages:
            value = 2 * smooth * square / (n * (n + 1)) + 8 * variance / (weight * (n + 1))
            square = 2 * value / weight
        values.append(value)
    return min(values)


def erm_terms(case, users, weights, totals, noises, failure):
    """Return the terms of the risk bound of phased regularised ERM from the centre."""
    wide, unit = case.diameter, case.lipschitz
    triples = zip(weights, noises, totals, strict=True)
    squares = [min(2 * optimisation_gap(case, w, s, t) / w, wide**2) for w, s, t in triples]
    return (
        weights[0] * (wide / 2) ** 2 / 2,
        sum(2 * unit**2 / (w * n * case.m) for w, n in zip(weights, users, strict=True)),
        sum(w / 2 * square for w, square in zip(weights[1:], squares, strict=False)),
        unit * math.sqrt(squares[-1]),
        failure * unit * wide,
    )


def user_case(seed):
    """Return random sizes, constants and a budget at user level."""
    source = random.Random(seed)
    return UserLevel(
        n=int(10 ** source.uniform(3.7, 6)),
        m=int(10 ** source.uniform(0, 4)),
        d=source.choice([1, 3, 20]),
        epsilon=10 ** source.uniform(-0.3, 0.9),
        delta=10 ** source.uniform(-9, -4),
        lipschitz=10 ** source.uniform(-1, 1),
        diameter=10 ** source.uniform(-1, 1),
        smoothness=source.choice([0.0, 10 ** source.uniform(-2, 3)]),
    )


def plan_phases(bound, case):
    """Return the phases of a bound's schedule, and their numbers of users, which halve from phase
    to phase.
    """
    phases = bound.schedule.phases
    users = [case.n >> i for i in range(1, len(phases))]
    users.append(case.n - sum(users))
    assert [p.users for p in phases] == users
    return phases, users


@second_implementation_of("upper.user.group-privacy-explicit", "upper.user.phased-sgd-explicit")
@pytest.mark.parametrize("seed", range(4))
def test_phased_sgd_of_users_agrees_with_its_formulas(seed):
    case = user_case(seed)
    m, unit, epsilon, delta = case.m, case.lipschitz, case.epsilon, case.delta
    bound = explicit.one_chain_risk(case, distance=case.diameter / 2)
    phases, users = plan_phases(bound, case)
    steps = [p.step_size for p in phases]
    ratio = gaussian_ratio(epsilon, delta)
    noises = [min(case.diameter, 2 * step * unit * m) / ratio for step in steps]
    expected = sgd_terms(case, steps, [n * m for n in users], noises, 0.0)
    assert bound.terms == pytest.approx(expected, rel=1e-6)

    bound = explicit.calibrated_sgd_risk(case, distance=case.diameter / 2)
    phases, users = plan_phases(bound, case)
    steps = [p.step_size for p in phases]
    assert max(steps) * case.smoothness <= 2 * (1 + 1e-8)
    failure = 0.1 / math.sqrt(case.n * m)
    part, scale = failure / (2 * len(phases)), 2 / (0.4 * epsilon)
    slack, room = scale * math.log(1 / delta), scale * math.log(1 / (2 * part))
    count = math.ceil(3.2 * (slack + room + 2))
    counts = [n // count * m for n in users]
    tail = 1 + math.sqrt(2 * math.log(count / part))
    spread = filter_sensitivity(count - room - slack - 2, count)
    spread /= gaussian_ratio(0.6 * epsilon, delta / 2)
    radii = [2 * s * unit * math.sqrt(t / 3) * tail for s, t in zip(steps, counts, strict=True)]
    expected = sgd_terms(case, steps, counts, [r * spread for r in radii], failure)
    assert bound.terms == pytest.approx(expected, rel=1e-6)


@second_implementation_of("upper.user.clipped-means-explicit", "upper.user.accelerated-explicit")
@pytest.mark.parametrize("seed", range(4))
def test_phased_erm_of_users_agrees_with_its_formulas(seed):
    case = user_case(50 + seed)
    m, unit, epsilon, delta = case.m, case.lipschitz, case.epsilon, case.delta
    bound = explicit.full_batch_risk(case, distance=case.diameter / 2)
    phases, users = plan_phases(bound, case)
    weights, totals = [p.regulariser for p in phases], [int(p.steps) for p in phases]
    ratio = gaussian_ratio(epsilon, delta)
    noises = [2 * unit / n * math.sqrt(t) / ratio for n, t in zip(users, totals, strict=True)]
    expected = erm_terms(case, users, weights, totals, noises, 0.0)
    assert bound.terms == pytest.approx(expected, rel=1e-6)

    bound = explicit.mode_a_risk(case, distance=case.diameter / 2)
    if bound.schedule is None:
        assert bound.value == INF
        return
    phases, users = plan_phases(bound, case)
    weights, totals = [p.regulariser for p in phases], [int(p.steps) for p in phases]
    failure, share = 0.1 / math.sqrt(case.n * m), 0.3 * epsilon
    halt, spread = failure / (2 * len(phases)), failure / 2
    scale = unit / math.sqrt(m)
    cover = case.d * math.log(1 + 4 * math.sqrt(2) * case.smoothness * case.diameter / scale)
    tau = scale * (1 + math.sqrt(2 * (math.log(case.n / spread) + cover)))
    tau += scale / 2 if case.smoothness > 0 else 0.0
    noises = []
    for n, t in zip(users, totals, strict=True):
        margin = sum(4 * math.log(1 / f) + 8 * math.log(t / f) for f in (halt, delta / 2)) / share
        sensitivity = filter_sensitivity(n - margin - 2, n) / gaussian_ratio(
            0.7 * epsilon, delta / 2
        )
        noises.append(2 * tau * sensitivity * math.sqrt(t))
    expected = erm_terms(case, users, weights, totals, noises, failure)
    assert bound.terms == pytest.approx(expected, rel=1e-6)
