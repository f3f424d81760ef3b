"""Lower bounds for linear losses on other sets: printed values and second evaluations.

The second evaluations use nothing of the code under test: exact binomial sums by scipy, channels
tilted by the loss, whose information and risk are plain sums (two-sided information), bisection
(Fano), and the formulas of theory/bounds-everywhere.md, 2.6, written out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import wrightomega
from scipy.stats import binom

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.instances import two_sided
from dpsco_core.bounds.instances.blocks import BlockWords
from dpsco_core.bounds.instances.corners import CornerWords
from dpsco_core.bounds.instances.level import Level
from dpsco_core.bounds.instances.lq_signs import SignWords
from dpsco_core.bounds.instances.words import (
    Argument,
    WordPrior,
    best,
    cached_remaining_loss,
    words_bound,
)
from dpsco_core.privacy.budget import ApproxDP, concentrated_rho
from tests.bound_marks import second_implementation_of

Floats = NDArray[np.float64]
# A point is a tuple of n, d, p, rho, epsilon and delta.
Point = tuple[int, int, float, float, float, float]
RHO = concentrated_rho(ApproxDP(epsilon=1.0, delta=1e-6))
S1: Point = (10_000, 20, 2.0, RHO, 1.0, 1e-6)
S2: Point = (10_000, 200, 4.0, 0.5, 1.0, 1e-6)
S3: Point = (2000, 30, 2.2, 0.2, math.sqrt(0.4), 1e-5)
SETTINGS = {"S1": S1, "S2": S2, "S3": S3}


def words_on(kind: str, d: int) -> WordPrior:
    """Return the words of a set, given by its name or by the exponent of a ball."""
    if kind == "blocks":
        return BlockWords(groups=d // 5)
    if kind in ("l1", "simplex", "solid"):
        return CornerWords(d=d, signed=kind == "l1", solid=kind == "solid")
    return SignWords(d=d, exponent=float(kind))


def level_of(point: Point, argument: Argument) -> Level:
    """Return the privacy level of a point, as an argument needs it."""
    return point[4:] if argument == "approx" else point[3]


def bound_value(kind: str, argument: Argument, point: Point) -> float:
    """Return the bound of an argument at a point, with the best spike probability."""
    words, level = words_on(kind, point[1]), level_of(point, argument)
    q = best(words, argument, point[0], point[2], level, 1.0)
    return words_bound(words, argument, q, point[0], point[2], level)


@pytest.mark.parametrize(
    ("kind", "argument", "values"),
    [
        ("l1", "two-sided", (0.01614, 0.001025, 0.01644)),
        ("simplex", "two-sided", (0.02914, 0.001951, 0.03027)),
        ("blocks", "two-sided", (0.03767, 0.002426, 0.03857)),
        ("l1", "fano", (0.01601, 0.001070, 0.01649)),
        ("simplex", "fano", (0.02915, 0.002012, 0.03038)),
        ("1.25", "two-sided", (0.0202, 0.00383, 0.0258)),
        ("1.5", "two-sided", (0.0419, 0.0110, 0.0544)),
        ("1.75", "two-sided", (0.0642, 0.0213, 0.0859)),
        ("l1", "approx", (0.01139, 0.002220, 0.02644)),
        ("simplex", "approx", (0.01912, 0.003950, 0.04495)),
        ("solid", "approx", (0.01327, 0.002537, 0.03116)),
        ("blocks", "approx", (0.02432, 0.004704, 0.05524)),
    ],
    ids=str,
)
def test_the_bounds_have_the_values_of_their_note(
    kind: str, argument: Argument, values: tuple[float, ...]
) -> None:
    for point, printed in zip(SETTINGS.values(), values, strict=True):
        digits = 3 if kind[0] == "1" and argument == "two-sided" else 4
        digit = 10.0 ** (math.floor(math.log10(printed)) - digits + 1)
        assert bound_value(kind, argument, point) == pytest.approx(printed, abs=1.05 * digit)


@pytest.mark.parametrize(
    ("point", "low", "high"),
    [(S1, 0.0193, 0.0194), (S2, 0.001163, 0.00117), (S3, 0.0191, 0.0192)],
    ids=str,
)
def test_a_separate_level_for_each_answer_raises_the_bound_on_the_solid_simplex(
    point: Point, low: float, high: float
) -> None:
    """With one level for all answers the values are .01887, .001131 and .01867."""
    assert low < bound_value("solid", "two-sided", point) < high


def test_packing_carried_over_from_the_ball_beats_pairs_of_neighbours() -> None:
    """The bound by packing is that of the l2 ball; pairs of neighbours alone would give .01507,
    .00328 and .03189.
    """
    for point, printed in ((S1, 0.0280), (S2, 0.01775), (S3, 0.0760)):
        assert bound_value("1.5", "approx", point) == pytest.approx(printed, rel=2e-3)


def largest_over_spikes(left: Callable[[int], float], n: int, p: float, top: int) -> float:
    """Return the largest q^(1-1/p) E left(B) over spike probabilities q, where `left` is the loss
    that B spikes leave, for B up to `top`.
    """
    counts = np.arange(min(n, top) + 1)
    values = np.array([left(int(b)) for b in counts])

    def value_at(log_q: float) -> float:
        """Return q^(1-1/p) E left(B) at q = exp(log_q)."""
        q = math.exp(log_q)
        return float(q ** (1 - 1 / p) * (binom.pmf(counts, n, q) @ values))

    grid = np.linspace(math.log(1e-2 / n), math.log(min(1.0, 4 * top / n)), 120)
    i = int(np.argmax([value_at(x) for x in grid]))
    optimum = minimize_scalar(
        lambda x: -value_at(x),
        bounds=(grid[max(i - 1, 0)], grid[min(i + 1, 119)]),
        method="bounded",
    )
    return max(-float(optimum.fun), value_at(grid[i]))


def tilted_channel_risk(losses: Floats, weights: Floats, start: float) -> Callable[[float], float]:
    """Return the least risk of channels tilted by one answer's loss, as a function of the
    information that they reveal.

    Every point is a channel or a mixture of two, so the true minimum is slightly below.
    """
    points = [(0.0, start)]
    for slope in np.geomspace(2e-3, 200, 700) / start:

        def mean(c: float, slope: float = slope) -> float:
            """Return the mean density of the tilted channel at centre c, less 1."""
            return float(weights @ np.real(1 / wrightomega(1 - c + slope * losses))) - 1

        x = np.real(1 / wrightomega(1 - brentq(mean, -60, 500, xtol=1e-12) + slope * losses))
        x /= weights @ x
        points.append((float(weights @ ((x - 1) * np.log(x))), float(weights @ (x * losses))))
    hull: list[tuple[float, float]] = []
    for k, risk in sorted(points):
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (k - hull[-2][0]) >= (
            risk - hull[-2][1]
        ) * (hull[-1][0] - hull[-2][0]):
            hull.pop()
        hull.append((k, risk))
    information, risks = np.array(hull).T
    return lambda kappa: float(np.interp(kappa, information, risks))


def sums_of_signs(d: int) -> tuple[Floats, Floats]:
    """Return the values of a normalised sum of d signs, and their probabilities."""
    return (2 * np.arange(d + 1) - d) / math.sqrt(d), binom.pmf(np.arange(d + 1), d, 0.5)


def channel(kind: str, d: int) -> tuple[Callable[[float], float], int]:
    """Return the risk of tilted channels on a kind of set as a function of information, and the
    number of words.
    """
    if kind == "l1":
        return tilted_channel_risk(
            np.array([0.0, 1.0, 2.0]), np.array([1, 2 * d - 2, 1]) / (2 * d), 1.0
        ), 2 * d
    if kind in ("simplex", "solid"):
        start = 1.0 if kind == "solid" else 2 * (1 - 1 / d)
        return tilted_channel_risk(np.array([0.0, 2.0]), np.array([1, d - 1]) / d, start), d
    sums, weights = sums_of_signs(5 if kind == "blocks" else d)
    if kind != "blocks":
        return tilted_channel_risk(math.sqrt(d) - sums, weights, math.sqrt(d)), 2**d
    groups = d // 5
    losses = np.append(math.sqrt(5) - sums, math.sqrt(5))
    chances = np.append(weights / groups, 1 - 1 / groups)
    return tilted_channel_risk(losses, chances, math.sqrt(5)), 32 * groups


@pytest.mark.parametrize("name", SETTINGS)
@second_implementation_of(
    "lower.sco.two-sided-corners-cdp",
    "lower.sco.two-sided-blocks-cdp",
    "lower.sco.two-sided-lq-cdp",
)
def test_two_sided_information_is_what_tilted_channels_attain(name: str) -> None:
    n, d, p, rho, *_ = SETTINGS[name]
    for kind in ("l1", "simplex", "solid", "blocks", "1.5"):
        risk, count = channel(kind, d)
        information = rho * (1 - 1 / count)

        def left(b: int, kind: str = kind, risk=risk, information: float = information) -> float:
            """Return the risk that b spikes leave on a kind of set."""
            loss = risk(information * b * b)
            if kind != "1.5":
                return max(0.0, loss)
            root = 1 - (2 * rho * b * b / d) ** (1 / 3)
            return d ** (1 / 3) * max(root, 1 - ((math.sqrt(d) - loss) / math.sqrt(d)) ** (2 / 3))

        expected = largest_over_spikes(left, n, p, math.ceil(math.sqrt(2 * d / rho)))
        proven = bound_value(kind, "two-sided", SETTINGS[name])
        assert proven <= expected * (1 + 1e-5)
        assert proven == pytest.approx(expected, rel=4e-3), kind


def naming_chance(kappa: float, share: float, count: float) -> float:
    """Return the largest chance that an output names a word whose prior chance is `share`, at
    information kappa, by bisection (section 4).
    """
    if share >= 1:
        return 1.0
    if kappa == 0:
        return share
    length = math.log(1 / share)
    orders = math.exp(-(max(0.0, math.sqrt(length) - math.sqrt(kappa)) ** 2))

    def gap(x: float) -> float:
        """Return the divergence of a chance x from the prior chance, less what the information
        allows.
        """
        odds = math.log(x / share) + math.log1p(-share) - math.log1p(-x)
        return (x - share) * odds - kappa * (1 - 1 / count)

    return min(orders, brentq(gap, share, 1 - 1e-15) if gap(1 - 1e-15) > 0 else 1.0)


def cubic_tail(d: int, x: float, smallest: float) -> float:
    """Return the least cubic bound on the probability that a sum of signs is at least x."""
    sums, weights = sums_of_signs(d)
    levels = np.linspace(smallest, x, 4000, endpoint=False)
    return min(float(weights @ np.maximum(sums - s, 0) ** 3) / (x - s) ** 3 for s in levels)


@pytest.mark.parametrize("name", ["S1", "S3"])
@second_implementation_of(
    "lower.sco.fano-corners-cdp", "lower.sco.fano-blocks-cdp", "lower.sco.fano-lq-cdp"
)
def test_fano_on_other_sets_agrees_with_plain_loops(name: str) -> None:
    n, d, p, rho, *_ = SETTINGS[name]
    point, groups = SETTINGS[name], d // 5
    top = math.ceil(math.sqrt(1.6 * d / rho))
    shares = np.linspace(0, 1, 401)
    steps = np.linspace(0, math.sqrt(5), 61)[1:-1]
    tails = [cubic_tail(5, math.sqrt(5) - t, 0.0) / groups for t in steps]
    long = np.linspace(0, math.sqrt(d), 61)[1:-1]
    signs = [cubic_tail(d, math.sqrt(d) - t, -math.sqrt(d)) for t in long]

    def corner(b: int, kind: str) -> float:
        """Return the risk of naming a corner of a kind of set with b spikes."""
        kappa = rho * b * b
        if kind == "l1":
            return 1 - naming_chance(kappa, 1 / (2 * d), 2 * d) if b else 1.0
        if kind == "simplex":
            return 2 * (1 - naming_chance(kappa, 1 / d, d))
        gains = [2 * naming_chance(kappa, z / d, d) - z if z > 0 else 0.0 for z in shares]
        return max(0.0, 1 - max(gains))

    for kind, room in (("l1", 1e-5), ("simplex", 1e-5), ("solid", 0.04)):
        expected = largest_over_spikes(lambda b, kind=kind: corner(b, kind), n, p, min(top, 60))
        proven = bound_value(kind, "fano", point)
        assert expected * (1 - room) <= proven <= expected * (1 + 1e-6), kind

    def summed(b: int, tails: list[float], count: float, size: int) -> float:
        """Return the mean norm that b spikes leave, as a sum over 60 tail probabilities."""
        hits = [naming_chance(rho * b * b, min(1.0, max(g, 1 / count)), count) for g in tails]
        return math.sqrt(size) if b == 0 else math.fsum(1 - x for x in hits) * math.sqrt(size) / 60

    block = largest_over_spikes(lambda b: summed(b, tails, 32 * groups, 5), n, p, min(top, 60))
    assert bound_value("blocks", "fano", point) == pytest.approx(block, rel=0.03)

    def carried(b: int) -> float:
        """Return the risk on the l1.5 ball that follows from that of signs."""
        left = math.sqrt(d) - summed(b, signs, 2.0**d, d)
        return d ** (1 / 3) - left ** (2 / 3)

    assert bound_value("1.5", "fano", point) == pytest.approx(
        largest_over_spikes(carried, n, p, top), rel=0.03
    )


@pytest.mark.parametrize("delta", ["of the setting", "pure"])
@pytest.mark.parametrize("name", SETTINGS)
@second_implementation_of("lower.sco.approx-corners", "lower.sco.approx-blocks")
def test_the_bounds_for_every_epsilon_and_delta_agree_with_their_formulas(
    name: str, delta: str
) -> None:
    n, d, p, rho, epsilon, failure = SETTINGS[name]
    failure = 0.0 if delta == "pure" else failure
    point = (n, d, p, rho, epsilon, failure)
    groups, tilts = d // 5, np.linspace(0, math.sqrt(5), 900, endpoint=False)[1:]
    sums, weights = sums_of_signs(5)
    levels = np.linspace(0, math.sqrt(5), 300, endpoint=False)
    cubes = [float(weights @ np.maximum(sums - s, 0) ** 3) / groups for s in levels]
    excess = []
    for e in tilts:
        cubic = [4 / 27 * c / (e - s) ** 2 for s, c in zip(levels, cubes, strict=True) if s < e]
        excess.append(min((math.sqrt(1 / groups + e * e) - e) / 2, *cubic))

    def left(b: int, kind: str) -> float:
        """Return the risk that b spikes leave on a kind of set under (epsilon, delta)-DP."""
        growth = math.exp(min(600.0, epsilon * b))
        loss_share = failure * (growth - 1) / math.expm1(epsilon)
        if kind == "blocks":
            fits = [e for e, v in zip(tilts, excess, strict=True) if (growth - 1) * v <= e]
            remaining = [
                (math.sqrt(5) - e) * (1 - loss_share * (1 + math.sqrt(5) / e)) for e in fits
            ]
            return math.sqrt(5) if b == 0 else max(0.0, *remaining, 0.0)
        count = 2 * d if kind == "l1" else d
        hit = min(1.0, (growth + (count - 1) * loss_share) / (growth + count - 1))
        if kind == "l1":
            return max(0.0, 1 - hit * (1 - 1 / growth) - loss_share / growth)
        if kind == "simplex":
            return 2 * (1 - hit)
        gain = max(0.0, 2 * growth / (growth + count - 1) - 1)
        return max(0.0, 1 - gain - 2 * (count - 1) * loss_share / (growth + count - 1))

    top = math.ceil((math.log(64 * d) + 25) / epsilon)
    for kind in ("l1", "simplex", "solid", "blocks"):
        expected = largest_over_spikes(lambda b, kind=kind: left(b, kind), n, p, top)
        assert bound_value(kind, "approx", point) == pytest.approx(expected, rel=3e-3), kind


@pytest.mark.parametrize("exponent", [1.2, 1.5, 1.9])
@second_implementation_of("lower.sco.approx-lq")
def test_bounds_on_lq_balls_are_carried_over_from_exact_excesses(
    exponent: float,
) -> None:
    """In d = 4 the mean excess of every direction is a sum over all sign vectors."""
    n, d, p, epsilon, delta = 300, 4, 2.5, 0.7, 1e-4
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((4000, d)) * rng.exponential(size=(4000, 1)) ** 0
    directions = np.concatenate([directions, np.eye(d), signs, rng.standard_normal((4000, d)) ** 3])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    products = directions @ signs.T
    tilts = np.linspace(0, 2, 500)[1:-1]
    worst = np.array([np.maximum(products - e, 0).mean(axis=1).max() for e in tilts])

    def left(b: int) -> float:
        """Return the largest loss with b spikes that Lemma E allows at the exact excess of the
        directions.
        """
        growth = math.exp(min(epsilon * b, 600.0))
        loss_share = delta * (growth - 1) / math.expm1(epsilon)
        allowed = (growth - 1) * worst <= tilts
        remaining = np.where(
            allowed, (2 - tilts) * np.maximum(0, 1 - loss_share * (1 + 2 / tilts)), 0.0
        )
        loss = 2.0 if b == 0 else float(remaining.max())
        return d ** (1 - 1 / exponent) - (2 - loss) ** (2 - 2 / exponent)

    words, level = SignWords(d=d, exponent=exponent), (epsilon, delta)
    q = best(words, "approx", n, p, level, 1.0)
    proven = words_bound(words, "approx", q, n, p, level)
    expected = largest_over_spikes(left, n, p, 60)
    # Caps and pairs may add up to a quarter, and a cubic bound may cost a tenth.
    assert 0.9 * expected < proven < expected * 1.25


def test_at_exponent_2_the_bound_is_that_of_the_l2_ball() -> None:
    n, d, p, rho, *_ = S1
    words = SignWords(d=d, exponent=2 - 1e-9)
    ball = two_sided.two_sided(two_sided.best(n, d, p, rho, 1.0, "linear"), n, d, p, rho, "linear")
    q = best(words, "two-sided", n, p, rho, 1.0)
    assert words_bound(words, "two-sided", q, n, p, rho) == pytest.approx(ball, rel=1e-3)


def test_one_block_alone_is_the_l2_ball_of_its_coordinates() -> None:
    left = cached_remaining_loss(BlockWords(groups=1), "two-sided", 0.1)
    counts = np.arange(10.0)
    ball = two_sided.curve(5, "linear").value_at(0.1 * (1 - 2**-5) * counts**2)
    assert left(counts) == pytest.approx(ball, abs=2e-4)


@pytest.mark.parametrize("kind", ["l1", "simplex", "solid", "blocks", "1.5"])
def test_without_spikes_nothing_is_known_and_more_spikes_reveal_more(kind: str) -> None:
    start = {"l1": 1.0, "simplex": 1.9, "solid": 1.0, "blocks": math.sqrt(5), "1.5": 20 ** (1 / 3)}
    for argument in ("two-sided", "fano", "approx"):
        left = cached_remaining_loss(words_on(kind, 20), argument, level_of(S1, argument))
        values = left(np.arange(60.0))
        assert values[0] == pytest.approx(start[kind], rel=1e-9)
        assert np.all(np.diff(values) <= 0) and values[-1] < 0.5 * values[0]


def test_half_the_information_and_other_words_would_be_beaten_by_real_channels() -> None:
    """Only those wrong implementations are tried that give too large a value."""
    d, kappa = 20, 1.5
    risk, count = channel("simplex", d)
    real = risk(kappa * (1 - 1 / count))
    # The faulty form has half the information, as if by Lemma J.
    assert risk(kappa / 2) > 1.1 * real
    doubled, _ = channel("l1", d)
    # The faulty form takes the words 2e_J - 1 for 2d words.
    assert 2 * doubled(kappa) > 1.05 * real
    solid, _ = channel("solid", d)
    # The faulty form omits the corner 0 of the solid simplex.
    assert real > 1.2 * solid(kappa * (1 - 1 / count))
    rho = 0.3
    for kind in ("l1", "simplex", "solid", "blocks", "1.5"):
        left = cached_remaining_loss(words_on(kind, d), "two-sided", rho)
        risk, count = channel(kind, d)
        for b in range(1, 5):
            loss = risk(rho * (1 - 1 / count) * b * b)
            if kind == "1.5":
                continue
            assert float(left(np.array([float(b)]))[0]) <= loss * (1 + 1e-6)
    # On an l_q ball with q < 2 the factor for q >= 2 is wrong: d^(1/2 - 1/q) < 1 is no
    # circumradius.
    words = SignWords(d=d, exponent=1.5)
    assert words.start < math.sqrt(d)
    left = cached_remaining_loss(words_on("simplex", d), "two-sided", rho)
    counts = np.arange(201)
    whole = float(binom.pmf(counts, 200, 0.025) @ left(counts.astype(float)))
    # The faulty form takes the mean number of spikes in place of B.
    assert float(left(np.array([5.0]))[0]) < 0.3 * whole


def test_an_argument_refuses_the_level_of_other_algorithms() -> None:
    words = CornerWords(d=5, signed=True)
    for argument, level in (("fano", (1.0, 0.0)), ("two-sided", 0.0), ("fano", math.nan)):
        with pytest.raises(InvalidInput, match="level must be a positive rho, got level="):
            cached_remaining_loss(words, argument, level)  # type: ignore[arg-type]
    for level in (0.5, (0.0, 1e-6), (1.0, 1.0), (1.0, -0.1)):
        with pytest.raises(InvalidInput, match="level must be a positive epsilon and a delta"):
            cached_remaining_loss(words, "approx", level)  # type: ignore[arg-type]
