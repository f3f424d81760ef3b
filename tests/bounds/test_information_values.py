"""Fano by distance and two-sided information: printed values and second evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from mpmath import findroot, mp, mpf, tanh
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import wrightomega
from scipy.stats import binom

from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances import distance, hypercube, rate_distortion, two_sided
from dpsco_core.bounds.instances.distance import best_one, fano_distance, one_distance
from dpsco_core.bounds.instances.two_sided import conjugate, curve
from dpsco_core.catalogue import bound
from dpsco_core.privacy.budget import ZCDP, ApproxDP, concentrated_rho
from tests.bound_marks import second_implementation_of
from tests.bounds.euclidean.helpers import make_setting as risk_setting
from tests.bounds.helpers import make_setting

Floats = NDArray[np.float64]
Point = tuple[int, int, float, float]
LOG_2 = math.log(2)
RHO = concentrated_rho(ApproxDP(epsilon=1.0, delta=1e-6))
S1, S2, S3 = (10_000, 20, 2.0, RHO), (10_000, 200, 4.0, 0.5), (2000, 30, 2.2, 0.2)
SMALL = (10_000, 8, 2.0, RHO)
FORMS: tuple[Form, ...] = ("l2", "squared", "linear")


def distance_value(point: Point, form: Form = "l2", kind: distance.Chance = "all orders") -> float:
    """Return the bound of Fano's distance argument at its best spike probability."""
    return fano_distance(distance.best(*point, 1.0, form, kind), *point, form, kind)


def two_sided_value(point: Point, form: Form = "l2") -> float:
    """Return the two-sided bound at its best spike probability."""
    return two_sided.two_sided(two_sided.best(*point, 1.0, form), *point, form)


@pytest.mark.parametrize(
    ("point", "form", "kind", "value"),
    [
        (S1, "l2", "all orders", 0.0975),
        (S1, "l2", "both ways", 0.0855),
        (S1, "l2", "fano", 0.0769),
        (S1, "squared", "all orders", 0.01053),
        (S1, "linear", "all orders", 0.0575),
        (SMALL, "l2", "all orders", 0.0409),
        (SMALL, "l2", "fano", 0.0321),
        (S2, "l2", "both ways", 0.0364),
        (S3, "l2", "all orders", 0.1380),
        (S3, "l2", "both ways", 0.1183),
        (S3, "l2", "fano", 0.1089),
        (S3, "squared", "all orders", 0.02186),
        (S3, "linear", "all orders", 0.0834),
    ],
    ids=str,
)
def test_fano_by_distance_has_the_values_of_its_note(
    point: Point, form: Form, kind: distance.Chance, value: float
) -> None:
    digit = 10.0 ** (math.floor(math.log10(value)) - 2)
    assert distance_value(point, form, kind) == pytest.approx(value, abs=0.6 * digit)


@pytest.mark.parametrize(
    ("point", "value"), [(S1, 0.0353), (SMALL, 0.0177), (S3, 0.0466), (S2, 0.0137)], ids=str
)
def test_a_single_distance_has_the_values_of_its_note(point: Point, value: float) -> None:
    assert one_distance(best_one(*point, 1.0), *point) == pytest.approx(value, abs=6e-5)


# With one constant c for all answers the values would be at most .1139, .01735 and .1546, up to 3 %
# less.
@pytest.mark.parametrize(
    ("point", "form", "smallest", "largest"),
    [
        (S1, "l2", 0.1154, 0.1156),
        (S1, "squared", 0.01786, 0.01791),
        (S1, "linear", 0.08607, 0.0861),
        (SMALL, "l2", 0.0589, 0.0591),
        (S2, "l2", 0.0504, 0.0507),
        (S2, "squared", 0.00357, 0.0036),
        (S2, "linear", 0.0340, 0.03403),
        (S3, "l2", 0.1566, 0.1570),
        (S3, "squared", 0.0341, 0.0343),
        (S3, "linear", 0.11803, 0.1181),
    ],
    ids=str,
)
def test_two_sided_information_has_the_values_of_its_note(
    point: Point, form: Form, smallest: float, largest: float
) -> None:
    assert smallest <= two_sided_value(point, form) <= largest


# The moments and the radius of the ball are 1, and bounds are at the best spike probability.
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lower.mean.fano-distance-cdp", 0.09754),
        ("lower.mean.fano-distance-cdp-squared", 0.010534),
        ("lower.sco.fano-distance-cdp", 0.05748),
        ("lower.sco-strong.fano-distance-cdp", 0.010534 / 2),
        ("lower.mean.two-sided-cdp", 0.11546),
        ("lower.mean.two-sided-cdp-squared", 0.017884),
        ("lower.sco.two-sided-cdp", 0.08608),
        ("lower.sco-strong.two-sided-cdp", 0.017884 / 2),
    ],
)
def test_the_catalogues_bounds_are_in_the_units_of_their_quantity(name: str, value: float) -> None:
    budget = ZCDP(rho=RHO)
    setting = make_setting(order=2.0, budget=budget)
    if ".sco" in name:
        setting = risk_setting(order=2.0, budget=budget, mean_gradient_bound=4.0)
    assert bound(name).value(setting) == pytest.approx(value, rel=5e-4)
    assert bound(name).failures(setting) == ()


@pytest.mark.parametrize(
    "point", [S1, S2, S3, SMALL, (500, 3, 3.0, 0.4), (100, 64, 2.0, 1e-3)], ids=str
)
def test_information_in_both_directions_proves_no_less_than_mutual_information(
    point: Point,
) -> None:
    n, d, order, rho = point
    for squared in (False, True):
        q = rate_distortion.best(*point, 1.0, squared)
        old = rate_distortion.distortion(q, *point, squared=squared)
        form: Form = "squared" if squared else "l2"
        assert two_sided.two_sided(q, *point, form) >= old * (1 - 2e-3)
        assert two_sided_value(point, form) >= old
    q = hypercube.best_cdp(n, d, order, rho, 1.0)
    assert two_sided_value(point, "linear") >= hypercube.hypercube_cdp(q, n, d, order, rho)


def plain_loss(d: int, form: Form, norm: float, wrong: int) -> float:
    """Return the loss of an answer with equal coordinates, `wrong` of which differ in sign."""
    inner = (d - 2 * wrong) / math.sqrt(d)
    square = max(0.0, d + norm * norm - 2 * norm * inner)
    return {"l2": math.sqrt(square), "squared": square, "linear": math.sqrt(d) - inner}[form]


def plain_conjugate(c: Floats) -> Floats:
    """Return the conjugate of the divergence in closed form, by the Wright omega function."""
    t = wrightomega(1 - np.minimum(c, 300.0))
    return np.asarray(1 / t + t - 2 + c)


@lru_cache
def plain_losses(d: int, form: Form) -> tuple[Floats, Floats]:
    """Return the losses for each norm of an answer and each count of wrong signs, and the counts'
    probabilities.
    """
    norms = [0.0] if form == "linear" else np.linspace(0, math.sqrt(d), 61)
    losses = [[plain_loss(d, form, float(r), k) for k in range(d + 1)] for r in norms]
    return np.array(losses), np.array([binom.pmf(k, d, 0.5) for k in range(d + 1)])


def plain_height(d: int, form: Form, slope: float) -> float:
    """Return the height of the line of this slope: the least over answers of the dual value, by
    bisection for its constant c.
    """
    losses, weights = plain_losses(d, form)
    low = np.full(len(losses), -1.0)
    high = np.minimum(slope * losses @ weights, 300.0)
    for _ in range(45):
        c = (low + high) / 2
        mean = 1 / wrightomega(1 - c[:, None] + slope * losses) @ weights
        low, high = np.where(mean < 1, c, low), np.where(mean < 1, high, c)
    return float((low - plain_conjugate(low[:, None] - slope * losses) @ weights).min())


def plain_curve(d: int, form: Form, information: float) -> float:
    """Return the least loss at a given information by Theorem 1 with exact conjugates, searched
    over slopes on a grid.
    """

    def value(log_slope: float) -> float:
        """Return the bound by the tangent of slope exp(log_slope)."""
        slope = math.exp(log_slope)
        return (plain_height(d, form, slope) - information) / slope

    grid = np.linspace(math.log(0.05), math.log(200.0), 16)
    place = int(np.argmax([value(x) for x in grid]))
    ends = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    best = minimize_scalar(
        lambda x: -value(x), bounds=ends, method="bounded", options={"maxiter": 12}
    )
    return max(0.0, value(float(best.x)), value(grid[place]))


@second_implementation_of(
    "lower.mean.two-sided-cdp",
    "lower.mean.two-sided-cdp-squared",
    "lower.sco.two-sided-cdp",
    "lower.sco-strong.two-sided-cdp",
)
@pytest.mark.parametrize("form", FORMS)
def test_two_sided_information_agrees_with_bisection_and_grids(form: Form) -> None:
    """The test fails for half the information, for a line through too few answers, and
    for (E B)^2.
    """
    n, d, order, rho, q = 50, 5, 3.0, 0.3, 0.04
    start = float(d) if form == "squared" else math.sqrt(d)
    total = (1 - q) ** n * start
    for b in range(1, 6):
        information = rho * b * b * (1 - 2.0**-d)
        plain = plain_curve(d, form, information)
        computed = float(curve(d, form).value_at(np.array([information]))[0])
        assert plain * (1 - 3e-3) - 2e-3 * start <= computed <= plain * (1 + 1e-4) + 1e-6
        total += binom.pmf(b, n, q) * computed
    theta = q ** ((2 if form == "squared" else 1) * (1 - 1 / order))
    value = two_sided.two_sided(q, n, d, order, rho, form)
    rest = [
        float(curve(d, form).value_at(np.array([rho * b * b * (1 - 2.0**-d)]))[0]) for b in (6, 7)
    ]
    total += sum(binom.pmf(b, n, q) * x for b, x in zip((6, 7), rest, strict=True))
    assert value == pytest.approx(theta * total, rel=1e-6)


def test_the_conjugate_errs_upwards_and_only_a_little() -> None:
    c = np.concatenate([np.linspace(-400, 200, 4001), [-1e6]])
    computed, exact = conjugate(c), plain_conjugate(c)
    assert np.all(computed >= exact - 1e-12 * np.maximum(1, abs(exact)))
    assert np.all(computed - exact <= 1e-5 * np.maximum(1, abs(exact)))


def test_in_one_dimension_the_bound_is_the_posterior_mean_of_a_sign() -> None:
    """The exact relation is 2 T artanh T = rho B^2; without the factor 1/2 of Lemma J the bound is
    lower.
    """
    n, order, rho, q = 40, 2.0, 0.7, 0.05
    total = mpf(0)
    for b in range(12):
        kappa = rho * b * b
        ends = (mpf(0), mpf(kappa) + 1)
        z = findroot(lambda z, k=kappa: 2 * z * tanh(z) - k, ends, solver="anderson")
        root = tanh(z)
        total += mp.binomial(n, b) * mpf(q) ** b * (1 - mpf(q)) ** (n - b) * (1 - root)
    for form in ("l2", "linear"):
        computed = two_sided.two_sided(q, n, 1, order, rho, form)
        assert computed == pytest.approx(float(total) * q**0.5, rel=2e-4)
        assert computed <= float(total) * q**0.5 * (1 + 1e-5)


def plain_share(d: int, edge: float) -> float:
    """Return the cubic bound on the chance that a normalised sum of d signs is at least `edge`,
    from its definition.
    """
    if edge <= 0:
        return 1.0
    root = math.sqrt(d)
    sums = [((2 * k - d) / root, math.comb(d, k) / 2**d) for k in range(d + 1)]
    levels = [-root + 2 * root * i / 400 for i in range(400)]
    bounds = [
        sum(w * max(0.0, x - level) ** 3 for x, w in sums) / (edge - level) ** 3
        for level in levels
        if edge - level > 1e-9
    ]
    return max(min(1.0, *bounds), 2.0**-d)


def plain_chance(kappa: float, g: float, words: int) -> float:
    """Return the smaller of two bounds on the chance of a right guess.

    One is by the symmetric divergence, solved with Brent's method, the other by Rényi divergences
    over a grid of orders. `g` is the chance without data.
    """
    if g >= 1:
        return 1.0
    if kappa == 0:
        return g

    def excess(x: float) -> float:
        """Return the divergence of a chance x of a right guess from g, less what the information
        kappa allows.
        """
        ratio = math.log(x / g) + math.log1p(-g) - math.log1p(-x)
        return (x - g) * ratio - kappa * (1 - 1 / words)

    top = 1 - 1e-15
    root = 1.0 if excess(top) < 0 else float(brentq(excess, g, top, xtol=1e-15))
    orders = 1 + np.geomspace(1e-4, 1e3, 4000)
    exponents = (orders - 1) * kappa + (orders - 1) / orders * math.log(g)
    return min(root, math.exp(min(0.0, float(exponents.min()))))


@second_implementation_of(
    "lower.mean.fano-distance-cdp",
    "lower.mean.fano-distance-cdp-squared",
    "lower.sco.fano-distance-cdp",
    "lower.sco-strong.fano-distance-cdp",
)
@pytest.mark.parametrize("form", FORMS)
def test_fano_by_distance_agrees_with_plain_loops(form: Form) -> None:
    """The test fails for a sum over the left ends of the intervals, for E[B^2] in place of the law
    of B, and for a wrong level or exponent in the tail bound.
    """
    n, d, order, rho, q = 60, 6, 2.5, 0.4, 0.03
    ends = [math.sqrt(d) * i / distance.DISTANCES for i in range(distance.DISTANCES + 1)]
    edges = [math.sqrt(d) - t if form == "linear" else math.sqrt(max(0.0, d - t * t)) for t in ends]
    shares = [plain_share(d, edge) for edge in edges]
    power = 2 if form == "squared" else 1
    total = 0.0
    for b in range(6):
        left = sum(
            (ends[i] ** power - ends[i - 1] ** power)
            * (1 - plain_chance(rho * b * b, shares[i], 2**d))
            for i in range(1, len(ends))
        )
        total += binom.pmf(b, n, q) * left
    theta = q ** (power * (1 - 1 / order))
    assert fano_distance(q, n, d, order, rho, form) == pytest.approx(theta * total, rel=1e-5)


def bound_from_deflated_loss(point: Point, q: float, value_of: Callable[[float], float]) -> float:
    """Return q^(1-1/p) E[value_of(B)] at spike probability q, over the number B of spikes."""
    n, _, order, _ = point
    counts = range(1 + int(n * q + 12 * math.sqrt(n * q) + 12))
    return float(q ** (1 - 1 / order) * sum(binom.pmf(b, n, q) * value_of(b) for b in counts))


def test_the_bound_at_the_mean_number_of_spikes_differs() -> None:
    q = two_sided.best(*S1, 1.0)
    at_mean = float(curve(20, "l2").value_at(np.array([RHO * (10_000 * q) ** 2]))[0]) * q**0.5
    value = two_sided.two_sided(q, *S1)
    assert abs(at_mean / value - 1) > 0.02
    honest = bound_from_deflated_loss(
        S1, q, lambda b: float(curve(20, "l2").value_at(np.array([RHO * b * b]))[0])
    )
    assert value == pytest.approx(honest, rel=1e-5)


def test_half_the_information_would_prove_too_much() -> None:
    """The bound would exceed the value that the exact channel of one sign attains."""
    kappa, root = 0.5, math.sqrt(1.0)
    t = float(brentq(lambda x: x * math.atanh(x) - kappa, 1e-9, 1 - 1e-12))
    attained = root - t
    assert float(curve(1, "linear").value_at(np.array([kappa]))[0]) <= attained * (1 + 1e-5)
    assert float(curve(1, "linear").value_at(np.array([kappa / 2]))[0]) > attained * 1.2


def test_shares_at_the_left_ends_would_prove_more() -> None:
    log_share, widths = distance._log_shares_of_balls(20, "l2")
    kappa = 5.0
    right = (1 - distance.chance(np.array(kappa), log_share)) @ widths
    left = (1 - distance.chance(np.array(kappa), np.append(-20 * LOG_2, log_share[:-1]))) @ widths
    assert distance.remaining(np.array([kappa]), 20)[0] == pytest.approx(right)
    fine = distance.log_ball(20, np.linspace(0, math.sqrt(20), 20_001)[1:])
    exact = (1 - distance.chance(np.array(kappa), fine)).mean() * math.sqrt(20)
    assert right < exact < left


def test_divergences_of_all_orders_are_needed_for_the_second_bound_on_a_chance() -> None:
    """A channel with a small KL divergence alone exceeds the bound by divergences of all orders."""
    # With probability x the output names the word, and otherwise it is uninformative.
    words, x = 2**20, 0.2
    informed = x + (1 - x) / words
    # This is the divergence to the output's law at another word, in either direction.
    kl = x * math.log(1 + x * words / (1 - x))
    share = np.array(-math.log(words))
    assert informed <= float(distance.chance(np.array(kl), share, "both ways")) * (1 + 1e-6)
    assert informed > 10 * float(distance.chance(np.array(kl), share))
