"""Lower bounds at user level, which treat a user's items as one block: values and attacks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpsco_core.bounds.instances import packing, two_sided
from dpsco_core.bounds.instances.cubes import hardest_cube
from dpsco_core.bounds.instances.hardest import largest_spike_probability
from dpsco_core.bounds.instances.leakage import CONCENTRATED, expectile
from dpsco_core.bounds.instances.level import Level
from dpsco_core.bounds.instances.tracing import largest_tracing_probability, tracing_shape
from dpsco_core.bounds.user.lower_spikes import hardest_spikes, user_values
from dpsco_core.bounds.user.lower_tracing import UserTracing, largest_tracing, mean_root
from dpsco_core.catalogue import bound
from dpsco_core.data import Tracing
from dpsco_core.explain.hardest import impossible
from dpsco_core.privacy.budget import ZCDP, ApproxDP, concentrated_rho
from dpsco_core.scenario import Scenario
from tests.bound_marks import second_implementation_of
from tests.bounds.helpers import make_setting

Floats = NDArray[np.float64]
RHO = concentrated_rho(ApproxDP(epsilon=1.0, delta=1e-6))


def tracing_bound(n: int, m: int, d: int, order: float, level: Level, cap: float = 2.0) -> float:
    """Return the tracing bound of users at its best spike probability."""
    bounds = UserTracing(n=n, m=m, d=d, moment_order=order, level=level)
    return largest_tracing(bounds, largest_tracing_probability(d, order, cap))


def spike_bound(n: int, m: int, d: int, order: float, level: Level, cap: float = 2.0) -> float:
    """Return the spike bound of users at its hardest spike probability."""
    largest = largest_spike_probability("hypercube", d, order, cap)
    q = hardest_spikes(n, m, d, order, level, largest)
    return float(user_values(np.array([q]), n, m, d, order, level, fine=True)[0])


@pytest.mark.parametrize(
    ("n", "m", "d", "level", "value"),
    [
        (1000, 64, 10, RHO, 0.01547),
        (1000, 64, 10, (1.0, 1e-6), 0.01041),
        (500, 4096, 50, RHO, 0.01026),
        (500, 4096, 50, (1.0, 1e-6), 0.00687),
        (300, 1000, 200, RHO, 0.0820),
        (300, 1000, 200, (1.0, 1e-6), 0.0524),
    ],
    ids=str,
)
def test_tracing_with_users_has_the_values_of_its_note(
    n: int, m: int, d: int, level: Level, value: float
) -> None:
    digit = 10.0 ** (math.floor(math.log10(value)) - 2)
    assert tracing_bound(n, m, d, 2.0, level) == pytest.approx(value, abs=0.6 * digit)


@pytest.mark.parametrize(
    ("n", "m", "d", "value"),
    [(1000, 64, 10, 0.02752), (500, 4096, 50, 0.01597), (300, 1000, 200, 0.1193)],
)
def test_spikes_with_users_have_the_values_of_their_note(
    n: int, m: int, d: int, value: float
) -> None:
    digit = 10.0 ** (math.floor(math.log10(value)) - 3)
    assert spike_bound(n, m, d, 2.0, RHO) == pytest.approx(value, abs=0.6 * digit)


def test_tracing_is_larger_where_tails_are_light() -> None:
    n, m, d, order = 200, 400, 100, 8.0
    assert tracing_bound(n, m, d, order, RHO, math.inf) == pytest.approx(0.0606, abs=5e-5)
    assert spike_bound(n, m, d, order, RHO, math.inf) == pytest.approx(0.0070, abs=5e-5)


def plain_tracing(n: int, m: int, d: int, order: float, level: Level, q: float, u: float) -> float:
    """Return bound (U) at spike probability q, shape u and spread 1, by the formulas of its note
    and sums over all counts.
    """
    counts = np.arange(m + 1)
    weights = binom.pmf(counts, m, q)
    root = float(weights @ np.sqrt(counts))
    if isinstance(level, tuple):
        epsilon, delta = level
        fresh = math.sqrt(2 * max(epsilon, 0.5)) * root + 2 * delta * math.sqrt(d) * m * q
        blocks = float(weights @ counts**1.5)
        slopes = expectile(epsilon) * np.geomspace(1, 1e4, 400)
        x = n * min(fresh, float(np.min(slopes * root + delta * d / slopes * blocks)))
    else:
        x = n * math.sqrt(2 * level) * root
    excess = d * u / (1 + u) - 1
    variance = 2 * d * u / ((1 + u) ** 2 * (u + 3))
    gain = excess * max(0.0, 1 - variance / (2 * excess**2)) ** 2 if excess > 0 else 0.0
    # The value alpha solves u alpha^2 + x alpha = G.
    alpha = (-x + math.sqrt(x * x + 4 * u * gain)) / (2 * u)
    return q ** (1 - 1 / order) * alpha


@second_implementation_of("lower.user.tracing-cdp", "lower.user.tracing-approx")
@pytest.mark.parametrize("level", [0.1, (1.2, 1e-4)], ids=["cdp", "approx"])
def test_tracing_with_users_agrees_with_a_grid_of_q_and_u(level: Level) -> None:
    """The test fails for sqrt(E M) in place of E sqrt(M), for m q, for n m records, and for half of
    G.
    """
    n, m, d, order = 60, 30, 12, 3.0
    plain = max(
        plain_tracing(n, m, d, order, level, q, u)
        for q in np.geomspace(1e-4, 1, 60)
        for u in np.geomspace(0.5, 60, 40)
    )
    budget = ZCDP(rho=level) if isinstance(level, float) else ApproxDP(epsilon=1.2, delta=1e-4)
    setting = replace(make_setting(n=n, d=d, order=order, budget=budget, mean_bound=math.inf), m=m)
    row = bound(f"lower.user.tracing-{'cdp' if isinstance(level, float) else 'approx'}")
    assert plain * (1 - 3e-3) <= row.value(setting) <= plain * 1.01
    assert row.failures(setting) == ()
    bounds = UserTracing(n=n, m=m, d=d, moment_order=order, level=level)
    exact = plain_tracing(n, m, d, order, level, 0.2, 5.0)
    assert bounds.value_at(0.2, np.array([5.0])) == pytest.approx(exact, rel=2e-3)
    # On given data the bound uses their shape and their spread.
    fixed = row.value(replace(setting, spike_probability=0.2))
    expected = plain_tracing(n, m, d, order, level, 0.2, tracing_shape(d, order))
    assert fixed == pytest.approx(expected * CONCENTRATED, rel=5e-3)


@second_implementation_of("lower.user.spikes-cdp", "lower.user.spikes-approx")
@pytest.mark.parametrize("level", [0.1, (1.2, 1e-4)], ids=["cdp", "approx"])
def test_spikes_with_users_agree_with_the_losses_at_every_count(level: Level) -> None:
    """The losses have a second evaluation in their own tests, and B counts users with a spike."""
    n, m, d, order = 80, 5, 6, 3.0
    budget = ZCDP(rho=level) if isinstance(level, float) else ApproxDP(epsilon=1.2, delta=1e-4)

    def loss(b: int) -> float:
        """Return the loss that the spikes of b users leave."""
        if isinstance(level, tuple):
            return float(packing.losses("l2", d, *level)(np.array([float(b)]))[0])
        return float(
            two_sided.curve(d, "l2").value_at(np.array([level * b * b * (1 - 2.0**-d)]))[0]
        )

    losses = np.array([loss(b) for b in range(n + 1)])

    def plain(q: float) -> float:
        """Return the bound at spike probability q as a sum over users."""
        active = 1 - (1 - q) ** m
        return q ** (1 - 1 / order) * float(binom.pmf(np.arange(n + 1), n, active) @ losses)

    best = max(plain(q) for q in np.geomspace(1e-4, 0.5, 400))
    setting = replace(make_setting(n=n, d=d, order=order, budget=budget, mean_bound=math.inf), m=m)
    row = bound(f"lower.user.spikes-{'cdp' if isinstance(level, float) else 'approx'}")
    assert row.value(setting) == pytest.approx(best, rel=1e-3)
    assert row.failures(setting) == ()
    fixed = row.value(replace(setting, spike_probability=0.03))
    assert fixed == pytest.approx(plain(0.03), rel=1e-6)


@pytest.mark.parametrize(
    ("m", "q"), [(1, 0.3), (7, 1e-6), (50, 0.2), (1000, 0.15), (4000, 0.06), (10**6, 0.5)]
)
def test_the_mean_root_errs_upwards_and_only_a_little(m: int, q: float) -> None:
    counts = np.arange(m + 1)
    exact = float(binom.pmf(counts, m, q) @ np.sqrt(counts))
    root = float(mean_root(m, np.array([q]))[0])
    assert exact * (1 - 1e-12) <= root <= exact * 1.002


def test_the_mean_roots_of_several_probabilities_are_those_of_each() -> None:
    q = np.array([1e-9, 1e-3, 0.19, 0.21, 0.7, 1.0])
    each = [float(mean_root(1000, q[i : i + 1])[0]) for i in range(len(q))]
    assert mean_root(1000, q) == pytest.approx(each, rel=1e-14)


def test_users_of_one_record_have_the_bounds_of_records() -> None:
    for level in (0.1, (1.0, 1e-6)):
        for q in (1e-3, 0.05):
            value = float(user_values(np.array([q]), 500, 1, 8, 3.0, level, fine=True)[0])
            if isinstance(level, float):
                assert value == pytest.approx(two_sided.two_sided(q, 500, 8, 3.0, level))
            else:
                assert value == pytest.approx(packing.packing("l2", q, 500, 8, 3.0, *level))


def test_user_level_bounds_are_no_smaller_than_those_of_pooled_records() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        n, m, d = int(rng.integers(20, 2000)), int(rng.integers(2, 500)), int(rng.integers(1, 20))
        rho, order, q = 10 ** rng.uniform(-3, 0), rng.uniform(2, 8), 10 ** rng.uniform(-6, -1)
        value = float(user_values(np.array([q]), n, m, d, order, rho, fine=True)[0])
        assert value >= two_sided.two_sided(q, n * m, d, order, rho) * (1 - 1e-3) - 1e-12


def attack_tracing(seed: int, draws: int) -> float:
    """Return the least ratio of error to bound (U), of clipped and shrunk noisy averages of users'
    sums.
    """
    rng = np.random.default_rng(seed)
    n, m, d = int(rng.integers(3, 40)), int(rng.integers(1, 30)), int(rng.integers(2, 25))
    order, rho = float(rng.uniform(2, 10)), float(10 ** rng.uniform(-2.5, 0.7))
    bounds = UserTracing(n=n, m=m, d=d, moment_order=order, level=rho, spread=CONCENTRATED)
    shape = tracing_shape(d, order)
    largest = largest_tracing_probability(d, order, math.inf, CONCENTRATED)
    q = bounds.best(largest, np.array([shape])) if rng.random() < 0.5 else largest * rng.random()
    value = bounds.value_at(q, np.array([shape]))
    law = Tracing(d=d, moment_order=order, spike_probability=q, shape=shape, spread=CONCENTRATED)
    size = q ** (-1 / order)
    errors: dict[tuple[float, float], list[float]] = {}
    for _ in range(draws):
        problem_drawn = law.draw(rng)
        sums = problem_drawn.sample(n * m, rng).x.reshape(n, m, d).sum(axis=1) / size
        norms = np.linalg.norm(sums, axis=1)
        for clip in (1.0, 2.0, 4.0):  # The clip levels are in root mean squares of a user's sum.
            radius = clip * math.sqrt(d * m * q)
            total = (sums * np.minimum(1, radius / np.maximum(norms, 1e-12))[:, None]).sum(axis=0)
            total += 2 * radius / math.sqrt(2 * rho) * rng.standard_normal(d)
            for shrink in (0.1, 0.3, 0.6, 0.9):
                answer = shrink * total * size / (n * m)
                errors.setdefault((clip, shrink), []).append(
                    float(np.linalg.norm(answer - problem_drawn.mean))
                )
    means = [np.mean(e) + 6 * np.std(e) / math.sqrt(draws) for e in errors.values()]
    assert min(means) >= value, (n, m, d, order, rho, q)
    return float(min(np.mean(e) for e in errors.values())) / value if value > 0 else math.inf


def test_no_private_mean_of_users_beats_tracing_at_60_settings() -> None:
    assert min(attack_tracing(seed, 40) for seed in range(60)) < 4


@pytest.mark.slow
def test_no_private_mean_of_users_beats_tracing_at_600_settings() -> None:
    assert min(attack_tracing(seed, 60) for seed in range(9000, 9600)) < 3


@pytest.mark.parametrize("law", ["hypercube", "tracing"])
@pytest.mark.parametrize("budget", [{"rho": 0.1, "epsilon": None, "delta": None}, {}], ids=str)
def test_the_instance_of_users_is_where_their_bounds_are_largest(
    law: str, budget: dict[str, Any]
) -> None:
    """The test fails if data are drawn at the probability that is hardest for pooled records."""
    point = Scenario(
        distribution=law, methods=("user.mean-clipped",), n=200, m=400, d=100, p=8.0, diameter=40.0,
        **budget,
    )  # fmt: skip
    q = point.instance.spike_probability
    assert q is not None
    (bound_row,) = impossible(point)
    assert bound_row.bound.card.level == "user" and not bound_row.failures
    if law == "tracing":
        assert q > 0.2  # At this q averages are traced, since spikes are not rare.
    for factor in (0.8, 1.25):
        changed = replace(point.setting, spike_probability=min(1.0, q * factor))
        if factor > 1 and bound_row.bound.failures(
            changed
        ):  # The exception is the largest q whose moments are at most 1.
            assert law == "tracing" and q == largest_tracing_probability(100, 8.0, 20.0)
            continue
        assert not bound_row.bound.failures(changed)
        assert bound_row.bound.value(changed) <= bound_row.value * (1 + 1e-6)


SETS = ("l1", "simplex", "solid-simplex", "group-l1")


@pytest.mark.parametrize("geometry", SETS)
def test_on_another_set_users_have_the_cube_of_their_data(geometry: str) -> None:
    """The data are made for all n m items, and the bound is that of their law, summed count by
    count.
    """
    n, m = 200, 5
    point = Scenario(
        geometry=geometry, distribution="hypercube", n=n, m=m, d=20, p=2.0, methods=(),
        epsilon=None, delta=None, rho=0.2,
    )  # fmt: skip
    law: Any = point.instance.problem.law
    signs = law.support // 2 if law.paired else law.support
    q = law.spike_probability
    b = np.arange(n + 1, dtype=np.float64)
    information = 0.2 * -math.expm1(-signs * math.log(2)) * b**2
    losses = two_sided.curve(signs, "l2").value_at(information)
    mean = float(binom.pmf(b, n, 1 - (1 - q) ** m) @ losses)
    value = bound("lower.user.spikes-cdp").value(point.setting)
    double = math.sqrt(2) if law.paired else 1.0
    assert value == pytest.approx(double * math.sqrt(q) * mean, rel=1e-6)


@pytest.mark.parametrize("geometry", SETS)
def test_on_another_set_user_level_bounds_are_no_smaller_than_those_of_pooled_records(
    geometry: str,
) -> None:
    """The cube for n items would give at most half of what the cube for n m items gives."""
    for budget in ({"epsilon": None, "delta": None, "rho": 0.2}, {"epsilon": 1.0, "delta": 1e-6}):
        pairs = {"lower.user.spikes-approx": "lower.mean.approx-packing"}
        if "rho" in budget:
            pairs = {"lower.user.spikes-cdp": "lower.mean.two-sided-cdp"}
        for n, m in ((300, 64), (200, 5)):
            setting = Scenario(
                geometry=geometry, n=n, m=m, d=20, p=2.0, methods=(), **budget
            ).setting
            for of_users, of_items in pairs.items():
                pooled = bound(of_items).value(setting)
                assert bound(of_users).value(setting) > 0.995 * pooled > 0


USER_SPIKES = ("lower.user.spikes-cdp", "lower.user.spikes-approx")


@pytest.mark.parametrize("slug", USER_SPIKES)
def test_signs_on_a_few_coordinates_stay_within_a_set_that_all_signs_would_leave(
    slug: str,
) -> None:
    """Only 16 of 500 coordinates have a sign; with signs on all of them the means would leave the
    ball.
    """
    point = Scenario(
        geometry="l1", distribution="hypercube", n=100, m=16, d=500, p=2.0, diameter=1.0,
        offset=0.0, methods=(),
    )  # fmt: skip
    law: Any = point.instance.problem.law
    assert law.support == 16
    assert float(np.abs(law.draw(np.random.default_rng(0)).mean).sum()) <= 0.5 * (1 + 1e-9)
    assert bound(slug).failures(point.setting) == ()


@pytest.mark.parametrize("slug", USER_SPIKES)
def test_a_spike_probability_whose_means_leave_the_set_is_refused(slug: str) -> None:
    """The l2 norm of these means, .32, is below .5, the largest norm of a point of the set."""
    point = Scenario(geometry="l1", n=300, m=8, d=20, p=2.0, diameter=1.0, offset=0.0, methods=())
    setting = replace(point.setting, spike_probability=0.005)
    row = bound(slug)
    [failure] = row.failures(setting)
    assert "leave the l1 ball" in failure
    assert failure in bound("lower.mean.approx-packing").failures(setting)


@pytest.mark.parametrize(
    ("n", "m", "d", "epsilon", "of_users", "of_items"),
    [(20, 256, 100, 0.1, 0.4487, 0.2476), (300, 64, 20, 1.0, 0.0538, 0.0696)],
)
def test_users_have_the_better_cube_for_their_number_or_for_that_of_their_items(
    n: int, m: int, d: int, epsilon: float, of_users: float, of_items: float
) -> None:
    """Either cube may be the better one, and the bound on each is evaluated as on a
    ball around it.
    """
    point = Scenario(
        geometry="group-l1", n=n, m=m, d=d, p=2.0, diameter=1.0, offset=0.0, methods=(),
        epsilon=epsilon, delta=0.0,
    )  # fmt: skip
    setting, values = point.setting, []
    for count in (n, n * m):
        cube, _ = hardest_cube("l2", count, 2.0, setting.budget, setting.body)
        largest = largest_spike_probability(
            "hypercube", cube.signs, 2.0, math.sqrt(cube.signs) * cube.side
        )
        level = (epsilon, 0.0)
        q = hardest_spikes(n, m, cube.signs, 2.0, level, largest)
        value = user_values(np.array([q]), n, m, cube.signs, 2.0, level, fine=True)
        values.append(float(value[0]))
    assert values == pytest.approx([of_users, of_items], abs=6e-5)
    assert bound("lower.user.spikes-approx").value(setting) == pytest.approx(max(values), rel=1e-9)
