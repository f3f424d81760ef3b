"""The cost model against the clock, and the fit of its coefficients.

`make bench` shows the ratios at three sizes. `python -m benchmarks.cost` draws scenarios that the
dashboard allows and says how far their prices are from the clock. `python -m benchmarks.cost fit`
fits new coefficients and says in which file each line goes, when a method or a machine has changed
much; of what a method does once a piece, and of projections, `benchmarks.geometry` says more.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks import drawn
from benchmarks.growth import MEANS
from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import (
    METHOD_SLUGS,
    METHODS,
    bound,
    make_method,
    method_card,
    method_class,
)
from dpsco_core.data import DISTRIBUTIONS
from dpsco_core.privacy import Ledger
from dpsco_core.problems import MeanEstimation
from dpsco_core.runs.cost import cost, machine_speed
from dpsco_core.runs.study import method_setting, study
from dpsco_core.scenario import Scenario

Sizes = Sequence[tuple[int, int]]  # Pairs of n and d.
SIZES: Sizes = (
    (200, 5),
    (200, 100),
    (2000, 50),
    (20_000, 5),
    (20_000, 100),
    (200_000, 5),
    (2000, 1000),
)


def cost_table() -> dict[str, float]:
    """Return measured over predicted seconds of a study with each method, at three sizes."""
    ratios: dict[str, float] = {}
    for slug in METHOD_SLUGS:
        for n, d in ((2000, 20), (50_000, 20), (5000, 200)):
            scenario = timed_scenario(slug, n, d)
            list(study(replace(scenario, trials=1)))  # This run only fills the caches with plans.
            started = time.perf_counter()
            list(study(scenario))
            spent = time.perf_counter() - started
            ratios[f"{slug} {n}x{d}"] = spent / cost(scenario).seconds
    return ratios


def timed_scenario(slug: str, n: int, d: int) -> Scenario:
    """Return a scenario of five trials that a method accepts, to time it at n and d."""
    card = method_card(slug)
    strong = bool(card.rate) and bound(card.rate).card.loss_class.strongly_convex
    problems = (*(("quadratic",) if strong else ("mean", "logistic")), *card.problems)
    return Scenario(
        problem=next(problem for problem in problems if problem in card.problems),
        methods=(slug,),
        n=n,
        d=d,
        m=10 if card.level == "user" else 1,
        trials=5,
        geometry=card.geometry,
        q=method_class(slug).stage.exponent if card.geometry == "lq" else None,
    )


def coefficients(slug: str, sizes: Sizes = SIZES) -> np.ndarray:
    """Return a method's fitted cost in nanoseconds: fixed, per row, per element and per column.

    The cost is that of a release for a mean estimator, and otherwise that of a step or a run.
    """
    return fit(_release_task(slug), sizes) if slug in MEANS else study_fit(slug, sizes)


def fit(work: Callable[[int, int], Callable[[], object]], sizes: Sizes = SIZES) -> np.ndarray:
    """Time the tasks that `work` makes for each n and d; return the fitted nanoseconds.

    They are fixed, per row, per element and per column, and none is negative.
    """
    rows, times = [], []
    for n, d in sizes:
        run_once = work(n, d)
        clock = []
        for _ in range(5):
            # This clock counts only this process, so that a busy machine does not matter.
            started = time.process_time()
            run_once()
            clock.append(time.process_time() - started)
        rows.append([1, n, n * d, d])
        times.append(1e9 * min(clock))
    return _solve_nonnegative(rows, times)


def _solve_nonnegative(rows: Sequence[Sequence[float]], times: Sequence[float]) -> np.ndarray:
    """Return the non-negative coefficients of least relative error, for a machine of speed 1.

    Each row holds what the coefficients multiply, and `times` the measured nanoseconds.
    """
    weights = 1 / np.array(times)  # These weights turn absolute errors into relative ones.
    solution, _ = nnls(np.array(rows) * weights[:, None], np.ones(len(times)))
    return solution / machine_speed()


def _sampling_task(slug: str) -> Callable[[int, int], Callable[[], object]]:
    """Return a function from n and d to the work of drawing a sample of a law."""

    def work(n: int, d: int) -> Callable[[], object]:
        """Return the work of drawing n records in d dimensions."""
        rng = np.random.default_rng(0)
        problem = Scenario(distribution=slug, n=n, d=d).instance.problem.draw(rng)
        return lambda: problem.sample(n, rng)

    return work


def _release_task(slug: str) -> Callable[[int, int], Callable[[], object]]:
    """Return a function from n and d to the work of a release by a mean estimator."""

    def work(n: int, d: int) -> Callable[[], object]:
        """Return the work of a release on n records in d dimensions."""
        scenario = Scenario(distribution="gaussian", n=n, d=d)
        rng, setting = np.random.default_rng(0), scenario.setting
        problem = scenario.instance.problem
        assert isinstance(problem, MeanEstimation)
        rows = problem.sample(n, rng)
        method = make_method(slug, "tight", "practical")
        plan = method.plan(setting)
        return lambda: method.release(rows, plan, Ledger(setting.budget), rng)

    return work


def study_fit(slug: str, sizes: Sizes) -> np.ndarray:
    """Return the nanoseconds of a method's pass, fitted at the sizes that the method accepts.

    They are fixed, per row, per element and per column; a pass is a step or a whole run.
    """
    rows, times = [], []
    for n, d in sizes:
        scenario = replace(timed_scenario(slug, n, d), distribution="gaussian", trials=3)
        setting = method_setting(scenario, slug)
        try:
            plan = make_method(slug, scenario.calibration, scenario.tuning).plan(setting)
        except NotApplicable:
            continue
        clock = [outcome.seconds for outcome in study(scenario)]
        items = setting.n * setting.m
        rows.append([1, items, items * d, d])
        times.append(1e9 * min(clock) / plan.passes)
    return _solve_nonnegative(rows, times)


def coefficient_line(family: type[Any], name: str, kind: str, fitted: np.ndarray) -> str:
    """Return the file and class of a law or method, and the line of code for its coefficients.

    `name` is the attribute that the line sets, and `kind` the class of its value.
    """
    names = ("fixed", "per_row", "per_element", "per_column")
    terms = ", ".join(f"{term}={value:.3g}" for term, value in zip(names, fitted, strict=True))
    path = family.__module__.replace(".", "/")
    return f"{path}.py, {family.__name__}: {name} = {kind}({terms})"


def fit_all(chosen: Sequence[str] = ()) -> None:
    """Print fitted coefficients of the named, or all, distributions and methods."""
    for law in DISTRIBUTIONS:
        if chosen and law.card.slug not in chosen:
            continue
        fitted = fit(_sampling_task(law.card.slug))
        print(coefficient_line(law, "sampling", "Coefficients", fitted), flush=True)
    for method in METHODS:
        slug = method.card.slug
        if chosen and slug not in chosen:
            continue
        print(coefficient_line(method, "cost", "MethodCost", coefficients(slug)), flush=True)


def main(count: int = drawn.COUNT) -> None:
    """Print measured over predicted seconds where they differ threefold, and then a summary.

    The ratios are those of `count` random scenarios.
    """
    ratios = []
    for scenario, ratio in drawn.ratios(count):
        ratios.append(ratio)
        if not 1 / 3 <= ratio <= 3:
            print(f"{ratio:8.2f}  {scenario.to_query()}", flush=True)
    print(drawn.summary_line(ratios))


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        fit_all(sys.argv[2:])
    else:
        main(*map(int, sys.argv[1:2]))
