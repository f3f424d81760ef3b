"""Bounds for particular losses: printed values, second evaluations and wrong implementations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom

from dpsco_core.bounds.losses.one_hot import OneHotBounds
from dpsco_core.bounds.losses.signs import Level, unknown_sign
from dpsco_core.catalogue import bound
from dpsco_core.data.hidden.one_hot import Corner, hidden_corner
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP, concentrated_rho
from dpsco_core.problems import Absolute, Hinge, Huber, Logistic
from tests.bound_marks import second_implementation_of
from tests.bounds.euclidean.helpers import make_setting as risk_setting
from tests.folded import one_in

RHO = concentrated_rho(ApproxDP(epsilon=1.0, delta=1e-6))
Sizes = tuple[int, int, float]
S1, S2, S3 = (10_000, 20, 2.0), (10_000, 200, 4.0), (2000, 30, 2.2)
RHOS = {S1: RHO, S2: 0.5, S3: 0.2}
LEVELS = {S1: (1.0, 1e-6), S2: (1.0, 1e-6), S3: (math.sqrt(0.4), 1e-5)}
PROBLEMS: dict[str, Any] = {
    "absolute": Absolute,
    "huber": Huber,
    "hinge": Hinge,
    "logistic": Logistic,
}


def bounds_on_ball(
    sizes: Sizes, problem: str, level: Level | None = None, radius: float = 1.0, **changes: Any
) -> OneHotBounds:
    """Return the bounds of one-hot features on a ball, with some fields changed."""
    n, d, order = sizes
    guess = PROBLEMS[problem].guess
    assert guess is not None
    corner = Corner(signs=d, half=radius / math.sqrt(d), paired=False)
    level = RHOS[sizes] if level is None else level
    bounds = OneHotBounds(n=n, moment_order=order, corner=corner, guess=guess, level=level)
    return replace(bounds, **changes)


def largest_value(bounds: OneHotBounds) -> float:
    """Return the value of a bound at its best parameters."""
    return bounds.value(*bounds.best())


# For Huber's loss the note has .0482, .0019 and .0542, since it subtracts s/2 instead of its share.
@pytest.mark.parametrize(
    ("sizes", "problem", "value"),
    [
        (S1, "absolute", 0.0512),
        (S2, "absolute", 0.00857),
        (S3, "absolute", 0.0633),
        (S1, "huber", 0.0492),
        (S2, "huber", 0.00297),
        (S3, "huber", 0.0571),
        (S1, "hinge", 0.00465),
        (S2, "hinge", 0.00442),
        (S3, "hinge", 0.01433),
        (S1, "logistic", 0.00322),
        (S2, "logistic", 0.00147),
        (S3, "logistic", 0.00900),
    ],
    ids=str,
)
def test_bounds_of_a_loss_have_the_values_of_their_note(
    sizes: Sizes, problem: str, value: float
) -> None:
    digit = 10.0 ** (math.floor(math.log10(value)) - 2)
    assert largest_value(bounds_on_ball(sizes, problem)) == pytest.approx(value, abs=0.6 * digit)


@pytest.mark.parametrize(
    ("sizes", "problem", "value"),
    [
        (S1, "absolute", 0.0292),
        (S1, "huber", 0.0285),
        (S1, "hinge", 0.00177),
        (S1, "logistic", 0.00123),
        (S3, "absolute", 0.0719),
        (S3, "hinge", 0.0199),
    ],
    ids=str,
)
def test_bounds_of_a_loss_for_every_algorithm_have_the_values_of_their_note(
    sizes: Sizes, problem: str, value: float
) -> None:
    digit = 10.0 ** (math.floor(math.log10(value)) - 2)
    assert largest_value(bounds_on_ball(sizes, problem, LEVELS[sizes])) == pytest.approx(
        value, abs=0.6 * digit
    )


def plain_unknown(level: Level, b: int) -> float:
    """Return what b spikes leave unknown of a sign, 1 - E|m|: by Brent's method, or under (epsilon,
    delta) on the group curve.
    """
    if isinstance(level, tuple):
        return plain_overlap(level[0], level[1], b)
    kappa = level * b * b
    if kappa == 0:
        return 1.0
    if kappa > 33:
        return 0.0
    return 1 - float(brentq(lambda t: 2 * t * math.atanh(t) - kappa, 0, 1 - 1e-15, xtol=1e-15))


def plain_overlap(epsilon: float, delta: float, b: int) -> float:
    """Return the least sum of both errors of a test between groups of b records, on a grid, with
    the trade-off curve composed b times.
    """
    x = np.concatenate([[0.0], np.geomspace(1e-7, 1, 2_001)])
    y = x.copy()
    for _ in range(b):
        y = np.minimum.reduce(
            [
                np.ones_like(y),
                math.exp(epsilon) * y + delta,
                1 - math.exp(-epsilon) * (1 - delta - y),
            ]
        )
    return float(np.min(1 - y + x))


def plain_price(problem: str, z: float) -> tuple[float, float]:
    """Return the least mean loss above the truth's over a grid of answers at margin z, and the
    share of records that inform on the sign.
    """
    answers = np.linspace(-z, z, 4001)
    if problem == "absolute":
        return float(np.min(abs(answers - z) + abs(answers + z)) / 2), 1.0
    if problem == "huber":

        def loss(u: np.ndarray) -> np.ndarray:
            """Return the Huber loss."""
            return np.where(abs(u) < 1, u * u / 2, abs(u) - 0.5)

        return float(np.min(loss(answers - z) + loss(answers + z)) / 2), 1.0
    if problem == "hinge":
        hinge = (np.maximum(1 - answers, 0) + np.maximum(1 + answers, 0)) / 2
        return float(hinge.min()) if z >= 1 else 0.0, 1.0
    right = 1 / (1 + math.exp(-z))
    truth = -right * math.log(right) - (1 - right) * math.log(1 - right)
    coins = (np.log1p(np.exp(answers)) + np.log1p(np.exp(-answers))) / 2
    return float(coins.min()) - truth, 2 * right - 1


def plain_value(sizes: Sizes, problem: str, level: Level, s: float, z: float) -> float:
    """Return the bound at spike probability s and margin z, as a sum over all counts of spikes."""
    n, d, _ = sizes
    price, share = plain_price(problem, z)
    chance = s * share / d
    counts = range(min(n, int(20 + 20 * n * chance)) + 1)
    left = math.fsum(binom.pmf(b, n, chance) * plain_unknown(level, b) for b in counts)
    return price * s * left


def plain_largest(sizes: Sizes, problem: str, level: Level) -> float:
    """Return the largest bound over spike probabilities by a bounded search, and over margins on a
    grid for the logistic loss.
    """
    _, d, order = sizes
    t = 1 / math.sqrt(d)

    def value(log_s: float, z: float | None) -> float:
        """Return the bound at spike probability exp(log_s) and margin z; None is the largest
        margin.
        """
        s = math.exp(log_s)
        largest_margin = t * (d / s) ** (1 / order)
        if z is not None and z > largest_margin * (1 + 1e-12):
            return 0.0
        return plain_value(sizes, problem, level, s, largest_margin if z is None else z)

    margins: list[float | None] = [None]
    if problem == "hinge":
        margins = [1.0]
    elif problem == "logistic":
        margins = [2.2, 2.35, 2.5, 2.75, 3.0]
    best = 0.0
    for z in margins:
        top = 0.0 if z is None else min(0.0, math.log(d * (t / z) ** order))
        found_at = minimize_scalar(
            lambda x, z=z: -value(x, z), bounds=(top - 7, top), method="bounded"
        )
        best = max(best, -float(found_at.fun), value(top, z))
    return best


SMALL: Sizes = (200, 6, 2.5)


@second_implementation_of(
    "lower.sco.absolute-cdp",
    "lower.sco.absolute-approx",
    "lower.sco.huber-cdp",
    "lower.sco.huber-approx",
    "lower.sco.hinge-cdp",
    "lower.sco.hinge-approx",
    "lower.sco.logistic-cdp",
    "lower.sco.logistic-approx",
)
@pytest.mark.parametrize(
    ("problem", "level"),
    [
        *((problem, 0.3) for problem in PROBLEMS),
        *one_in(3, [(problem, (0.8, 1e-4)) for problem in ("huber", "absolute", "hinge")]),
        pytest.param("logistic", (0.8, 1e-4), marks=pytest.mark.slow),
    ],
)
def test_the_bounds_of_a_loss_agree_with_sums_over_every_count(problem: str, level: Level) -> None:
    """The test fails for kappa = rho b^2/2, for (E B)^2, for s in place of s/d, and for half the
    price.
    """
    n, d, order = SMALL
    plain = plain_largest(SMALL, problem, level)
    bound_value = largest_value(bounds_on_ball(SMALL, problem, level))
    # The grids of the plain evaluation err: that of false alarms overestimates, and that of margins
    # underestimates.
    tolerance = (1e-4 if problem == "logistic" else 1e-6) if isinstance(level, float) else 2e-3
    assert (
        plain * (1 - tolerance)
        <= bound_value
        <= plain * (1.01 if problem == "logistic" else 1 + 1e-4)
    )
    s, z = 0.3, 1.1
    at_point = bounds_on_ball(SMALL, problem, level).value(s, z)
    assert at_point == pytest.approx(plain_value(SMALL, problem, level, s, z), rel=tolerance + 1e-5)
    budget = ZCDP(rho=level) if isinstance(level, float) else ApproxDP(epsilon=0.8, delta=1e-4)
    setting = risk_setting(n=n, d=d, order=order, budget=budget, mean_gradient_bound=math.inf)
    row = bound(f"lower.sco.{problem}-{'cdp' if isinstance(level, float) else 'approx'}")
    assert row.value(setting) == pytest.approx(bound_value, rel=1e-9)
    assert row.failures(setting) == ()


@second_implementation_of(
    "lower.sco.absolute-any-labels-cdp",
    "lower.sco.absolute-any-labels-packing",
    "lower.sco.absolute-any-labels-assouad",
    "lower.sco.huber-any-labels-cdp",
    "lower.sco.huber-any-labels-packing",
    "lower.sco.huber-any-labels-assouad",
)
@pytest.mark.parametrize("problem", ["absolute", "huber"])
def test_uninformative_labels_give_the_bound_of_the_linear_loss(problem: str) -> None:
    """The linear bounds have a second evaluation in their own tests."""
    for ending, form, budget in (
        ("cdp", "two-sided-cdp", ZCDP(rho=RHO)),
        ("packing", "approx-packing", ApproxDP(epsilon=1.0, delta=1e-6)),
        ("assouad", "approx-assouad", PureDP(epsilon=0.5)),
    ):
        setting = risk_setting(order=2.0, budget=budget, mean_gradient_bound=4.0)
        row = bound(f"lower.sco.{problem}-any-labels-{ending}")
        assert row.value(setting) == bound(f"lower.sco.{form}").value(setting) > 0.01
        assert row.failures(setting) == ()


def test_the_uncertainty_of_a_sign_is_the_root_of_the_two_sided_divergence() -> None:
    kappas = np.concatenate([[0.0], np.geomspace(1e-8, 600, 200)])
    unknown = unknown_sign(kappas)
    assert unknown[0] == 1.0
    assert np.all(np.diff(unknown) < 0)
    for kappa, left in zip(kappas[1:150], unknown[1:150], strict=True):
        root = brentq(lambda t, k=kappa: 2 * t * math.atanh(t) - k, 0, 1 - 1e-15, xtol=1e-16)
        assert left == pytest.approx(1 - root, rel=1e-6, abs=1e-12)
        assert left <= 1 - root + 1e-12


@pytest.mark.parametrize("problem", ["absolute", "huber", "hinge", "logistic"])
def test_an_answer_to_an_uncertain_sign_loses_its_share_of_the_price(problem: str) -> None:
    """With posterior mean m the least excess is at least (1 - |m|) V, with equality at 0 and at
    1.
    """
    guess, loss = PROBLEMS[problem].guess, PROBLEMS[problem].link
    for z in (1.0, 1.3, 3.0):
        price = float(guess.price(np.array([z]))[0])
        share = float(guess.telling(np.array([z]))[0])
        answers = np.linspace(-2 * z - 2, 2 * z + 2, 8001)
        for m in np.linspace(0, 1, 21):
            # This is the chance of label 1, for classification losses.
            chance = (1 + share * m) / 2
            if problem in ("absolute", "huber"):
                chance, labels = (1 + m) / 2, (np.full(8001, z), np.full(8001, -z))
            else:
                low = 0.0 if problem == "logistic" else -1.0
                labels = (np.ones(8001), np.full(8001, low))
            risks = chance * loss.value(answers, labels[0])
            risks += (1 - chance) * loss.value(answers, labels[1])
            truth = 0.0
            if problem == "logistic":
                right = (1 + share) / 2
                truth = -right * math.log(right) - (1 - right) * math.log1p(-right)
            least_excess = float(risks.min()) - truth
            assert least_excess >= (1 - m) * price - 1e-9
            if m == 0:
                assert least_excess == pytest.approx(price, rel=1e-5)


def faulty_hinge_bound(change: Callable[[int, float, int], tuple[float, float]]) -> float:
    """Return the hinge bound at point S1 with a faulty information and chance, which `change`
    returns for (b, rho, d).
    """
    n, d, _ = S1
    s = 0.010245
    total = 0.0
    for b in range(60):
        kappa, chance = change(b, RHO, d)
        total += binom.pmf(b, n, s * chance) * float(unknown_sign(np.array([kappa]))[0])
    return s * total


def test_wrong_information_and_wrong_counts_give_other_values() -> None:
    right = largest_value(bounds_on_ball(S1, "hinge"))
    assert faulty_hinge_bound(lambda b, rho, d: (rho * b * b, 1 / d)) == pytest.approx(
        right, rel=1e-4
    )
    mean = 0.010245 * S1[0] / S1[1]
    for wrong in (
        faulty_hinge_bound(lambda b, rho, d: (rho * b * b / 2, 1 / d)),
        faulty_hinge_bound(lambda b, rho, d: (2 * rho * b * b, 1 / d)),
        faulty_hinge_bound(lambda b, rho, d: (rho * mean**2, 1 / d)),
        faulty_hinge_bound(lambda b, rho, d: (rho * b * b, 1.0)),
    ):
        assert abs(wrong / right - 1) > 0.01


def test_margins_beyond_1_do_not_raise_the_hinge_bound() -> None:
    """One-hot features with c t > 1 in the formula would give (c t) s E[1 - T], which is not
    proven.
    """
    bounds = bounds_on_ball(S1, "hinge")
    s, _ = bounds.best()
    assert bounds.value(s, 2.0) == bounds.value(s, 1.0 + 1e-9)
    assert bounds.value(s, 0.999) == 0.0


def test_the_class_caps_the_margins_by_moments_and_by_the_mean_gradient() -> None:
    """At the cap an instance has the moment g^p, or a mean gradient of norm R."""
    for problem in PROBLEMS:
        free = bounds_on_ball(S2, problem, scale=0.7, diameter=2.0)
        s = np.array([0.01, 0.3, 1.0])
        size = free.largest_margins(s) / free.corner.half
        assert s / 200 * size**4 == pytest.approx(0.7**4)
        tight = replace(free, mean_bound=1e-3)
        size = tight.largest_margins(s) / free.corner.half
        guess = PROBLEMS[problem].guess
        steep = guess.curvature * s / 200 * size**2 * 2.0
        assert np.minimum(s * size / math.sqrt(200), steep) == pytest.approx(1e-3)
        assert largest_value(tight) < largest_value(free)


@pytest.mark.parametrize(
    "kind", ["l2", "l1", "linf", "lq", "group-l1", "sparse", "simplex", "solid-simplex"]
)
def test_the_true_parameters_lie_in_the_set(kind: str) -> None:
    geometry = Geometry(kind=kind, q=1.5 if kind == "lq" else None)
    body = geometry.constraint(10, 0.7)
    corner = hidden_corner(body)
    assert corner is not None
    assert corner.paired == kind.endswith("simplex")
    if not corner.paired:
        assert corner.half == pytest.approx(geometry.diagonal(10, 0.7)[1])


@pytest.mark.parametrize(
    ("problem", "budget"),
    [(p, b) for p in PROBLEMS for b in (ZCDP(rho=0.1), PureDP(epsilon=0.7))],
    ids=str,
)
def test_a_pure_budget_has_the_larger_of_both_classes(problem: str, budget: Any) -> None:
    setting = risk_setting(order=3.0, budget=budget, mean_gradient_bound=2.0)
    cdp, approx = (bound(f"lower.sco.{problem}-{x}") for x in ("cdp", "approx"))
    assert cdp.value(setting) > 0
    if isinstance(budget, PureDP):
        assert approx.value(setting) > cdp.value(setting)
        assert approx.failures(setting) == ()
    else:
        assert approx.value(setting) == 0
        assert len(approx.failures(setting)) == 1


@pytest.mark.parametrize("problem", ["absolute", "huber", "logistic"])
@pytest.mark.parametrize(
    ("sizes", "level", "scale", "caps", "half"),
    [
        # Two caps on the margins meet between two points of a grid.
        ((19, 2, 2.0), 0.2017924662499567, 1.0, (0.042447572, 0.2937096982), 0.1038420596),
        ((76, 2, 2.0), 0.6053773987498701, 1.0, (0.042447572, 0.2937096982), 0.1038420596),
        ((5, 40, 3.0), 5.055194748290765e-06, 1.0, (0.05, 0.3), 0.02),
        ((97, 40, 3.0), 0.07135919496049603, 0.3, (0.4, 4.0), 0.3),
        # The best margins of Huber's loss are 1.
        ((917, 200, 2.0), 0.019742559, 0.3, (0.17876, 1.8), 0.025),
    ],
    ids=str,
)
def test_no_margin_or_probability_of_a_fine_grid_gives_a_larger_bound(
    problem: str,
    sizes: Sizes,
    level: float,
    scale: float,
    caps: tuple[float, float],
    half: float,
) -> None:
    mean_bound, diameter = caps
    bounds = bounds_on_ball(
        sizes,
        problem,
        level,
        scale=scale,
        mean_bound=mean_bound,
        diameter=diameter,
        corner=Corner(signs=sizes[1], half=half, paired=False),
    )
    best = largest_value(bounds)
    for z in np.geomspace(1e-3, 20, 600):
        top = bounds.largest_probability(float(z))
        s = np.geomspace(1e-3 * top, top, 60)
        values = bounds.values(s, np.full_like(s, z), fine=True)
        assert float(values.max()) <= best * (1 + 2e-4), (z, float(values.max()) / best)
