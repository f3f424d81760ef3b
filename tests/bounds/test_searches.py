"""Searches of the lower bounds that look at few candidates find the best of all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_core.bounds.instances import packing
from dpsco_core.bounds.instances.cubes import families, hardest_cube
from dpsco_core.bounds.instances.distance import chance
from dpsco_core.bounds.instances.expectiles import CAPS, omega
from dpsco_core.bounds.instances.groups import group_delta
from dpsco_core.bounds.instances.leakage import approximate_leakage, concentrated_leakage
from dpsco_core.bounds.instances.spikes import largest_probability
from dpsco_core.bounds.instances.tracing import SHAPES, TracingBounds
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.privacy.budget import ApproxDP, PureDP


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3, 0.05])
def test_a_few_levels_of_a_packing_are_worth_all_of_them(delta: float) -> None:
    for d, epsilon in ((2, 0.3), (9, 1.0), (40, 0.7), (500, 2.0)):
        table = packing.products("linear", d, epsilon, delta)
        e, log_excess = packing._excesses(d)
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
def test_no_cube_is_better_than_the_one_that_is_found(kind, budget: PureDP | ApproxDP) -> None:
    n, order, epsilon = 3000, 2.0, budget.epsilon
    delta = budget.delta if isinstance(budget, ApproxDP) else 0.0
    body = Geometry(kind=kind).constraint(20, 0.4)

    def value(cube, q: float) -> float:
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
