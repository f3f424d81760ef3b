"""The hard instance for users with several items is the hardest one for all their items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.explain.hardest import impossible
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

BUDGETS: tuple[dict[str, Any], ...] = (
    {},
    {"epsilon": 1.0, "delta": 0.0},
    {"epsilon": None, "delta": None, "rho": 0.5},
)


@pytest.mark.parametrize("problem", ["mean", "quadratic", "linear"])
@pytest.mark.parametrize("law", ["hypercube", "tracing", "spike"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_users_with_several_items_get_the_instance_of_all_their_items(
    problem: str, law: str, budget: dict[str, Any]
) -> None:
    """Users must not get the activation probability that is hardest for one item each.

    For a mean on the hypercube the probability is that of the bound on blocks of items, or close to
    it; on the tracing instance it may be another.
    """
    methods = ("user.mean-clipped",) if problem == "mean" else ("user.clipped-means",)
    common = {"problem": problem, "distribution": law, "d": 20, "p": 4.0, **budget}
    users = Scenario(n=1000, m=16, methods=methods, **common)
    items = Scenario(n=16_000, **common)
    probability, pooled = users.instance.spike_probability, items.instance.spike_probability
    assert probability is not None and pooled is not None
    if problem == "mean" and law == "hypercube":
        assert pooled <= probability <= 1.1 * pooled
    elif problem == "mean" and law == "tracing":
        assert probability >= pooled
    else:
        assert probability == pooled


@pytest.mark.parametrize("problem", ["mean", "quadratic"])
@pytest.mark.parametrize("m", [16, 100])
def test_a_wrong_activation_does_not_lose_the_bound_on_the_instance_of_users(
    problem: str, m: int
) -> None:
    methods = ("user.mean-clipped",) if problem == "mean" else ("user.clipped-means",)
    point = Scenario(
        problem=problem, distribution="hypercube", methods=methods, m=m, n=1000, d=10, p=4.0
    )
    (floor,) = impossible(point)
    assert floor.value >= (1e-3 if problem == "mean" else 1e-7)


def test_private_users_do_not_beat_the_bound_on_their_instance() -> None:
    methods = ("user.mean-clipped", "user.mean-group")
    point = Scenario(
        distribution="hypercube", methods=methods, m=16, n=1000, d=10, p=4.0, trials=30
    )
    (floor,) = impossible(point)
    for method in methods:
        outcomes = study(replace(point, methods=(method,)))
        errors = [o.error for o in outcomes if not o.not_applicable]
        noise = np.std(errors, ddof=1) / np.sqrt(len(errors))
        assert len(errors) == 30 and np.mean(errors) >= floor.value - 5 * noise, method
