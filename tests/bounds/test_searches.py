"""Searches of the lower bounds over few candidates find the best of all candidates."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances import expectiles, packing, two_sided
from dpsco_core.bounds.instances.cubes import Cube, families, hardest_cube
from dpsco_core.bounds.instances.distance import chance
from dpsco_core.bounds.instances.expectiles import CAPS, omega
from dpsco_core.bounds.instances.groups import group_delta
from dpsco_core.bounds.instances.leakage import approximate_leakage, concentrated_leakage
from dpsco_core.bounds.instances.spikes import largest_probability
from dpsco_core.bounds.instances.tracing import SHAPES, TracingBounds
from dpsco_core.catalogue import bound
from dpsco_core.geometry import L1Ball
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from tests.bounds.helpers import make_setting


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3, 0.05])
def test_a_few_levels_of_a_packing_are_as_good_as_all(delta: float) -> None:
    for d, epsilon in ((2, 0.3), (9, 1.0), (40, 0.7), (500, 2.0)):
        table = packing.products("linear", d, epsilon, delta)
        e, log_excess = packing._log_excess_bounds(d)
        root = math.sqrt(d)
        for count, value in list(zip(table.counts, table.values, strict=True))[1::7]:
            growth = np.exp(np.minimum(log_excess + math.log(math.expm1(epsilon * count)), 700))
            failure = float(group_delta(epsilon, delta, np.array([count]))[0])
            choices = [(e, (e + root) / e)]
            if delta > 0:
                choices += [
                    (e - omega(g), (e + g) / np.maximum(e - omega(g), 1e-300)) for g in CAPS
                ]
            left = [
                np.where(growth <= cap, (root - e) * np.maximum(1 - failure * chi, 0), 0).max()
                for cap, chi in choices
            ]
            assert value == pytest.approx(max(left), rel=1e-12)


def test_the_best_tracing_prior_is_as_good_as_one_searched_shape_by_shape() -> None:
    for d, order in ((2, 2.0), (20, 3.0), (500, 8.0)):
        for leakage in (concentrated_leakage(0.3), approximate_leakage(1.0, 1e-4, d)):
            bounds = TracingBounds(n=3000, d=d, moment_order=order, leakage=leakage)
            for search, value in (
                (bounds.best_linear, bounds.linear_at),
                (bounds.best_squared, bounds.squared_at),
            ):
                pairs = [search(0.5, np.array([u])) for u in SHAPES[::3]]
                best = max(float(value(np.array([q]), np.array([u]))[0]) for q, u in pairs)
                q, u = search(0.5, SHAPES[::3])
                reached = float(value(np.array([q]), np.array([u]))[0])
                assert reached == pytest.approx(best, rel=1e-7)


def test_a_chance_is_the_smaller_of_its_two_bounds() -> None:
    kappa, log_share = np.geomspace(1e-3, 60, 40)[:, None], -np.geomspace(1e-3, 60, 40)
    gap = np.maximum(np.sqrt(-log_share) - np.sqrt(kappa), 0)
    smaller = np.minimum(chance(kappa, log_share, "both ways"), np.exp(-(gap**2)))
    assert chance(kappa, log_share) == pytest.approx(smaller, rel=1e-12)


@pytest.mark.parametrize("kind", ["l1", "group-l1", "simplex", "solid-simplex", "sparse"])
@pytest.mark.parametrize("budget", [PureDP(epsilon=0.8), ApproxDP(epsilon=1.0, delta=1e-6)])
def test_no_cube_is_better_than_the_one_found(kind, budget: PureDP | ApproxDP) -> None:
    n, order, epsilon = 3000, 2.0, budget.epsilon
    delta = budget.delta if isinstance(budget, ApproxDP) else 0.0
    body = Geometry(kind=kind).constraint(20, 0.4)

    def value(cube, q: float) -> float:
        """Return the packing bound of a cube at spike probability q."""
        arguments = "squared", q, n, cube.signs, order, epsilon, delta
        return cube.factor("squared") * packing.packing(*arguments)

    values = []
    for sizes, cube_of in families(body):
        for size in sizes:
            cube = cube_of(size)
            most_spikes = largest_probability(1, order, cube.side)
            search = "squared", n, cube.signs, order, epsilon, delta, most_spikes
            values.append(value(cube, packing.best(*search)))
    cube, most_spikes = hardest_cube("squared", n, order, budget, body)
    search = "squared", n, cube.signs, order, epsilon, delta, most_spikes
    assert value(cube, packing.best(*search)) == pytest.approx(max(values), rel=1e-9)


@pytest.mark.parametrize("kind", ["l1", "group-l1", "sparse", "simplex", "solid-simplex"])
def test_delta_affects_a_cube_of_many_coordinates(kind: str) -> None:
    n, order, level = 10_000, 2.0, (1.0, 1e-6)
    body = Geometry(kind=kind).constraint(1000, 10.0)

    def value(cube) -> float:
        """Return the packing bound of a cube at its best spike probability."""
        most_spikes = largest_probability(1, order, cube.side)
        q = packing.best("squared", n, cube.signs, order, *level, most_spikes)
        return cube.factor("squared") * packing.packing("squared", q, n, cube.signs, order, *level)

    best_cube, _ = hardest_cube("squared", n, order, ApproxDP(epsilon=1.0, delta=1e-6), body)
    other_cubes = [cube_of(size) for sizes, cube_of in families(body) for size in sizes[1::70]]
    assert value(best_cube) > 0.97 * max(map(value, other_cubes))


def test_bounds_that_do_not_choose_the_cube_use_the_better_of_two() -> None:
    """Packing chooses its cube with delta, and Assouad's argument is larger on the cube for epsilon
    alone.
    """
    n, d, epsilon = 1000, 300, 0.1
    body = Geometry(kind="group-l1").constraint(d, 10.0)
    setting = make_setting(
        n, d, 2.0, ApproxDP(epsilon=epsilon, delta=1e-10), mean_bound=2 * body.l2_radius
    )
    row = bound("lower.mean.approx-assouad-squared")
    on_cubes = []
    for budget in (setting.budget, PureDP(epsilon=epsilon)):
        cube, _ = hardest_cube("squared", n, 2.0, budget, body)
        longest = math.sqrt(cube.signs) * cube.side
        constants = replace(setting.constants, mean_gradient_bound=longest)
        on_cubes.append(row.value(replace(setting, d=cube.signs, constants=constants)))
    assert on_cubes[0] != on_cubes[1]
    assert row.value(replace(setting, constraint=body)) == pytest.approx(max(on_cubes), rel=1e-9)


def test_an_unconstrained_cube_is_no_worse_than_any_of_fewer_coordinates() -> None:
    """Where the best probability is not limited, the search skips smaller cubes."""
    for kind, n, budget in (
        ("l1", 200, ZCDP(rho=0.5)),
        ("l1", 2000, PureDP(epsilon=1.0)),
        ("simplex", 300, ZCDP(rho=0.05)),
        ("solid-simplex", 500, ApproxDP(epsilon=0.5, delta=1e-6)),
    ):
        body = Geometry(kind=kind).constraint(18, 1.0)
        for unit in (0.3, 3.0, 30.0):
            cube, q = hardest_cube("squared", n, 2.0, budget, body, unit)
            values = []
            for sizes, cube_of in families(body):
                for candidate in map(cube_of, sizes):
                    limit = largest_probability(1, 2.0, candidate.side_within(unit, math.inf))
                    values.append(_value_of_cube("squared", candidate, n, budget, limit))
            assert _value_of_cube("squared", cube, n, budget, q) >= max(values) * (1 - 1e-6)


def _value_of_cube(form: Form, cube: Cube, n: int, budget: Budget, largest: float) -> float:
    """Return the sharpest bound on a cube of means under a budget, at p = 2."""
    if largest == 0:
        return 0.0
    if isinstance(budget, ZCDP):
        q = two_sided.best(n, cube.signs, 2.0, budget.rho, largest, form)
        value = two_sided.two_sided(q, n, cube.signs, 2.0, budget.rho, form)
    else:
        level = budget.epsilon, budget.delta if isinstance(budget, ApproxDP) else 0.0
        q = packing.best(form, n, cube.signs, 2.0, *level, largest)
        value = packing.packing(form, q, n, cube.signs, 2.0, *level)
    return cube.factor(form) * value


def test_the_conjugate_is_that_of_its_chords_without_a_search() -> None:
    """The conjugate is compared at the nodes, beside them, far out on either side and
    in between.
    """
    nodes, values, _ = two_sided._conjugate_table()
    rng = np.random.default_rng(11)
    c = np.concatenate(
        [
            nodes[::7],
            np.nextafter(nodes[::7], -np.inf),
            rng.uniform(-1500, nodes[-1] + 5, 50_000),
            -np.exp(rng.uniform(0, 25, 1000)),
        ]
    )
    expected = np.interp(c, nodes, values, right=1e306)
    assert np.allclose(two_sided.conjugate(c), expected, rtol=1e-13, atol=0)
    assert np.diff(nodes).min() > two_sided._CELL  # Each cell contains at most one node.


@pytest.mark.parametrize("d", [3, 20, 450])
def test_the_log_ratio_of_a_level_is_the_least_one_over_all_norms_and_cubes_next_to_the_line(
    d: int,
) -> None:
    """The cubes that the quick search leaves out cannot have the least ratio, since here all norms
    are tried.
    """
    table = expectiles._distance_table(d)
    gains = np.log(np.maximum(table.mean - table.levels[:, None], 1e-300))
    log_gains = [
        float(np.min(gains[i] - table.log_missing(i))) for i in range(0, len(table.levels), 5)
    ]
    smallest_ratios = np.logaddexp(0.0, log_gains)
    assert (table.log_ratios[::5] <= smallest_ratios * (1 + 1e-12)).all()
    # Later levels may have smaller ratios, and then earlier ones no longer matter.
    assert np.median(table.log_ratios[::5] / smallest_ratios) == pytest.approx(1, rel=1e-12)


def test_a_large_budget_does_not_mislead_the_search_for_a_cube() -> None:
    """What is left of a bound then comes from data without spikes, which rough values must count.

    Without them a cube of 43 coordinates was chosen from epsilon = 350 on, with a fifth of the
    bound.
    """
    body, unit = L1Ball(d=246, radius=25.4), 0.00236
    sizes = {
        epsilon: hardest_cube("squared", 170, 4.44, PureDP(epsilon=epsilon), body, unit)[0].signs
        for epsilon in (20.0, 100.0, 350.0, 600.0)
    }
    assert set(sizes.values()) == {4}
