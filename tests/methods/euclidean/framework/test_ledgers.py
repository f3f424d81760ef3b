"""Ledgers of gradient-descent methods: the budget spent, the noise of steps, and the reports.

That the budget is spent, and nothing else is read, is checked for every method in `tests/trust`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.euclidean import StrongCoordinatewiseDescent
from dpsco_core.privacy import ZCDP, Budget
from tests.folded import each
from tests.methods.euclidean.framework.helpers import (
    APPROXIMATE,
    CALIBRATIONS,
    CONCENTRATED,
    PURE,
    VARIANTS,
    problems_for,
    quadratic_problem,
    record_count,
    run,
    step_noise,
    without_the_walk,
)

CASES = [(method, problem) for method in VARIANTS for problem in problems_for(method)]
IDS = [f"{method}-{type(problem).__name__}" for method, problem in CASES]
BUDGETS: tuple[Budget, ...] = (CONCENTRATED, APPROXIMATE)


@pytest.fixture(autouse=True)
def no_walk() -> Iterator[None]:
    """Run each test without the random walk."""
    with without_the_walk():
        yield


@pytest.mark.parametrize("method", VARIANTS, ids=str)
def test_a_pure_budget_is_refused_with_a_change_that_works(method: Any) -> None:
    problem, n = quadratic_problem(), record_count(method)
    with pytest.raises(NotApplicable, match="Gaussian noise cannot give pure DP") as refusal:
        method.plan(problem.setting(n, PURE))
    assert refusal.value.changes == (("delta", 1e-6),)
    assert "mean." not in refusal.value.nearest, "an estimator does not optimise"
    method.plan(problem.setting(n, APPROXIMATE))


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("steps", [1, 4, 9])
def test_disjoint_blocks_cost_their_maximum_and_not_their_sum(calibration: Any, steps: int) -> None:
    """A tight step has all of rho on its own block, while of the printed steps, with rho/T each,
    only one counts.
    """
    problem = quadratic_problem()
    setting, sample = (
        problem.setting(100, CONCENTRATED),
        problem.sample(100, np.random.default_rng(0)),
    )
    method = StrongCoordinatewiseDescent(steps=steps, calibration=calibration)
    _, ledger = run(method, setting, sample)
    share = 0.5 if calibration == "tight" else 0.5 / steps
    assert [e.rho for e in ledger.entries] == [share] * steps
    assert [e.part for e in ledger.entries] == [(1, t) for t in range(steps)]
    assert ledger.spent() == ZCDP(rho=share)


@each("budget", BUDGETS, ids=str)
@each(("method", "problem"), CASES, ids=IDS)
def test_every_entry_has_the_noise_of_the_formula_in_the_note(
    method: Any, problem: Any, budget: Budget
) -> None:
    n = record_count(method)
    setting, sample = problem.setting(n, budget), problem.sample(n, np.random.default_rng(0))
    _, ledger = run(method, setting, sample)
    expected = step_noise(method, setting)
    assert {e.noise for e in ledger.entries} == {ledger.entries[0].noise}
    assert ledger.entries[0].noise == pytest.approx(expected, rel=1e-9)
    assert method.plan(setting).diagnostics["noise_std"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("method", VARIANTS, ids=str)
def test_the_report_agrees_with_the_run(method: Any) -> None:
    problem, n = quadratic_problem(), record_count(method)
    setting, sample = problem.setting(n, CONCENTRATED), problem.sample(n, np.random.default_rng(0))
    result, ledger = run(method, setting, sample)
    plan = method.plan(setting)
    steps = plan.descent.steps
    diagnostics = result.diagnostics
    assert diagnostics["steps"] == steps == len(ledger.entries)
    assert diagnostics["step_size"] == plan.descent.step_size
    assert diagnostics["rho_step"] == ledger.entries[0].rho == plan.rho_step
    rows = plan.step_rows
    assert diagnostics["gradient_calls"] == steps * rows
    assert diagnostics["averaged"] == (steps if plan.descent.queried else plan.descent.averaged)
    assert result.iterate_steps is not None and result.iterate_steps[-1] == steps
    assert not ledger.flaws
