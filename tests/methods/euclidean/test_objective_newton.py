"""The solver of objective perturbation against Newton's method in 50 digits, in high dimension.

The reference `tests.methods.euclidean.newton` uses no projection, no certificate and no code of the
solver. Every set is tried on data that are separable, constant, of all scales, repeated or broken.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dpsco_core.geometry import (
    Ball,
    Box,
    ConstraintSet,
    L1Ball,
    LqBall,
    Simplex,
    SolidSimplex,
)
from dpsco_core.methods.euclidean.perturbation import objective as objective_perturbation
from dpsco_core.methods.euclidean.perturbation.objective import ObjectivePerturbation
from dpsco_core.privacy import ApproxDP, Ledger
from dpsco_core.problems.samples.linear import LinearSample
from tests.folded import each, one_in
from tests.methods.euclidean.losses import Array
from tests.methods.euclidean.newton import Objective, distance, find_minimiser
from tests.methods.euclidean.test_objective_sets import sample_on, where_on

SETS = {
    "ball": lambda d, r: Ball(d=d, radius=0.7 * r),
    "l1.5": lambda d, r: LqBall(d=d, exponent=1.5, radius=1.2 * r),
    "l4": lambda d, r: LqBall(d=d, exponent=4.0, radius=0.8 * r),
    "cube": lambda d, r: Box.cube(d, 0.4 * r),
    "l1": lambda d, r: L1Ball(d=d, radius=1.3 * r),
    "simplex": lambda d, r: Simplex(d=d, radius=1.1 * r),
    "solid simplex": lambda d, r: SolidSimplex(d=d, radius=0.9 * r),
}
METHODS = (
    ObjectivePerturbation(),
    ObjectivePerturbation(tuning="theory"),
    ObjectivePerturbation(calibration="paper"),
)
HUGE = 1e6


def data_sets(n: int, d: int, rng: np.random.Generator) -> dict[str, tuple[Array, Array]]:
    """Return hard data sets, by name."""
    x, fair = rng.standard_normal((n, d)), rng.integers(0, 2, n).astype(float)
    broken = x.copy()
    broken[0], broken[n // 2], broken[-1] = 1e300, np.inf, np.nan
    return {
        "fair": (x, fair),
        "all scales": (x * 10.0 ** rng.uniform(-8, 8, (n, 1)), fair),
        "scaled axes": (x * 10.0 ** np.linspace(-8, 3, d), fair),
        "nearly dependent": (np.vander(np.linspace(0, 1, n), d), fair),
        "one record": (np.tile(x[:1], (n, 1)), np.ones(n)),
        "nearly one record": (np.tile(x[:1], (n, 1)) + 1e-9 * x, fair),
        "separable": (1e6 * x, (x @ rng.standard_normal(d) > 0).astype(float)),
        "one class": (np.abs(x), np.zeros(n)),
        "nothing": (np.zeros((n, d)), fair),
        "broken": (broken, fair),
    }


class Runs:
    """Runs of the method, and how far each result of its solver is from the minimiser."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, loosen: float = 1.0) -> None:
        """Let runs keep their linear terms and solutions; the accuracy is `loosen` times the usual
        one.
        """
        self.tilt, self.solved = np.zeros(0), Any
        draw_linear_term = objective_perturbation.draw_linear_term
        solve = objective_perturbation.minimise_strongly_convex

        def keep_tilt(*args: Any) -> Array:
            """Draw a linear term, and keep it."""
            self.tilt = draw_linear_term(*args)
            return self.tilt

        def keep_solved(*args: Any, accuracy: float, **rest: Any) -> Any:
            """Solve a problem to a looser accuracy, and keep its solution."""
            self.solved = solve(*args, accuracy=loosen * accuracy, **rest)
            return self.solved

        monkeypatch.setattr(objective_perturbation, "draw_linear_term", keep_tilt)
        monkeypatch.setattr(objective_perturbation, "minimise_strongly_convex", keep_solved)

    def run(
        self, method: Any, body: ConstraintSet, data: tuple[Array, Array], budget: ApproxDP
    ) -> tuple[float, int]:
        """Run the method; return its distance from the minimiser, in units of what the output noise
        hides, and the number of gradients used.
        """
        setting = where_on(body, "logistic", len(data[0]), budget)
        plan, sample = method.plan(setting), sample_on(body, "logistic", *data)
        losses = plan.losses.of(sample)
        assert isinstance(losses, LinearSample)
        method.release(sample, method.plan(setting), Ledger(budget), np.random.default_rng(3))
        solved = self.solved
        best = find_minimiser(body, Objective(losses, self.tilt, plan.ridge), solved.value)
        hidden = plan.output_sensitivity / 2
        return distance(best, solved.value) / hidden, solved.gradient_calls


@pytest.mark.parametrize("name", SETS)
def test_the_solver_is_as_near_to_the_minimiser_as_its_noise_assumes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, rng, worst = Runs(monkeypatch), np.random.default_rng(1), 0.0
    for (n, d), epsilon, method in ((12, 2), 0.9, 2), ((30, 7), 8.0, 1), ((40, 5), 60.0, 0):
        body, budget = SETS[name](d, 1.0), ApproxDP(epsilon=epsilon, delta=1e-6)
        for data in data_sets(n, d, rng).values():
            worst = max(worst, runs.run(METHODS[method], body, data, budget)[0])
    assert 0 < worst <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_solver_is_near_enough_in_fifty_dimensions_and_on_sets_of_every_size(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, rng, worst = Runs(monkeypatch), np.random.default_rng(2), 0.0
    for d, size, epsilon in itertools.product((20, 50), (1e-6, 1.0, HUGE), (0.9, 60.0)):
        body, budget = SETS[name](d, size), ApproxDP(epsilon=epsilon, delta=1e-6)
        for method in METHODS if epsilon < 1 else METHODS[:2]:
            for data in data_sets(40, d, rng).values():
                worst = max(worst, runs.run(method, body, data, budget)[0])
    assert 0 < worst <= 1


@pytest.mark.parametrize("name", ["ball", "l4", "simplex"])
def test_a_solver_that_stops_early_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, rng, worst = Runs(monkeypatch, loosen=1e8), np.random.default_rng(1), 0.0
    body, budget = SETS[name](5, 1.0), ApproxDP(epsilon=8.0, delta=1e-6)
    for data in data_sets(40, 5, rng).values():
        worst = max(worst, runs.run(METHODS[0], body, data, budget)[0])
    assert worst > 1


@pytest.mark.parametrize("name", one_in(4, ["simplex", "ball", "l4", "cube"]))
def test_a_run_on_a_huge_set_ends_soon_whatever_the_data_are(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ridge of the practical tuning is large enough that the data do not determine the run
    time.
    """
    budget, rng = ApproxDP(epsilon=500.0, delta=1e-6), np.random.default_rng(4)
    body = SETS[name](7, HUGE)
    setting = where_on(body, "logistic", 300, budget)
    plan = METHODS[0].plan(setting)
    assert plan.losses.smoothness / plan.ridge < 1e7
    runs = Runs(monkeypatch)
    for data in data_sets(300, 7, rng).values():
        sample = sample_on(body, "logistic", *data)
        METHODS[0].release(
            sample, METHODS[0].plan(setting), Ledger(budget), np.random.default_rng(3)
        )
        assert runs.solved.gradient_calls < 20_000


@each("name", SETS)
@each("epsilon", [1.0, 40.0, 500.0])
def test_the_remaining_error_of_the_solver_is_never_most_of_the_error(
    name: str, epsilon: float
) -> None:
    """The noise H and the solver's error, in units of the gradient, are below the ridge's bias and
    the noise of G together.
    """
    for d, size in itertools.product((2, 20), (1.0, 1e3, HUGE)):
        body = SETS[name](d, size)
        setting = where_on(body, "logistic", 1000, ApproxDP(epsilon=epsilon, delta=1e-6))
        plan = METHODS[0].plan(setting)
        output = plan.losses.smoothness * plan.output_std
        bias = 2 * plan.ridge * setting.constants.diameter / 2
        assert output <= bias / np.sqrt(d) + plan.linear_std / setting.n
