"""How near the best private estimator comes to the best lower bound on its hard instance."""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_core.catalogue import bounds_for, make_method
from dpsco_core.privacy import Ledger
from dpsco_core.scenario import Scenario

METHODS = ("mean.clipped", "mean.adaptive", "mean.coinpress", "mean.cwme-cdp")


@pytest.mark.parametrize(
    ("n", "d", "p", "rho"), [(10_000, 200, 4, 0.5), (2000, 30, 2.2, 0.2), (50_000, 10, 3, 1.0)]
)
def test_the_best_error_on_the_hypercube_is_within_twice_the_best_lower_bound(
    n: int, d: int, p: float, rho: float
) -> None:
    scenario = Scenario(distribution="hypercube", n=n, d=d, p=p, rho=rho, epsilon=None, delta=None)
    setting, problem = scenario.setting, scenario.instance.problem
    values = [
        bound.value(setting)
        for bound in bounds_for("mean")
        if (bound.card.kind, bound.card.constant, bound.card.privacy)
        == ("lower", "explicit", "zcdp")
        and not bound.failures(setting)
    ]
    means = []
    for slug in METHODS:
        method, errors = make_method(slug, "tight", "practical"), []
        plan = method.plan(setting)
        for seed in range(10):
            rng = np.random.default_rng(seed)
            sampled_problem = problem.draw(rng)
            release = method.release(
                sampled_problem.sample(n, rng), plan, Ledger(setting.budget), rng
            )
            errors.append(sampled_problem.error(release.value))
        means.append(float(np.mean(errors)))
    assert len(values) >= 3
    assert 1 < min(means) / max(values) <= 2
