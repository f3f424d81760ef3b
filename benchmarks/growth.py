"""Growth: time against n, d, the steps T and the number of cells, each with its fitted exponent."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.timing import Work, best_time, exponent
from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import make_method, method_card, methods_for
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.privacy import Ledger
from dpsco_core.runs.study import cells as cells_of
from dpsco_core.runs.study import run_cell
from dpsco_core.scenario import Scenario

RECORDS = [5_000, 20_000, 80_000, 320_000]
DIMENSIONS = [10, 40, 160, 640]
STEPS = [16, 64, 256]
CELLS = [4, 16, 64]
MEANS = methods_for("mean", "item")  # These estimators read rows of plain records.
OPTIMISERS = ("sco.noisy-gd", "sco.clipped", "sco.phased-sgd", "sco.private-sgd")


@dataclass(frozen=True, kw_only=True)
class Growth:
    """The times of one task at several sizes.

    Parameters
    ----------
    quantity, size_name : str
        What was timed, and what grew.
    sizes : list of int
    times : list of float
        Seconds.
    """

    quantity: str
    size_name: str
    sizes: list[int]
    times: list[float]

    @property
    def exponent(self) -> float:
        """The fitted exponent: 1 if the time is proportional to the size."""
        return exponent(self.sizes, self.times)


def measure() -> list[Growth]:
    """Time every task at its sizes; leave out tasks that can run at fewer than two of them."""
    curves = []
    for slug in (*MEANS, *OPTIMISERS):
        by_n = [make_release(slug, n, 20) for n in RECORDS]
        by_d = [make_release(slug, 10_000, d) for d in DIMENSIONS]
        curves += [
            _growth(slug, "n", RECORDS, by_n),
            _growth(slug, "d", DIMENSIONS, by_d),
        ]
    curves.append(_growth("clipped logistic steps", "T", STEPS, [_steps_task(t) for t in STEPS]))
    curves.append(
        _growth("a study, cells of one point", "cells", CELLS, [_study_task(c) for c in CELLS])
    )
    return [growth for growth in curves if growth is not None]


def _growth(
    quantity: str, size_name: str, sizes: list[int], works: list[Work | None]
) -> Growth | None:
    """Measure the works at their sizes; return how the time grows, or None for fewer than two."""
    measured = [(size, work) for size, work in zip(sizes, works, strict=True) if work is not None]
    if len(measured) < 2:
        return None
    times = [best_time(work) for _, work in measured]
    return Growth(
        quantity=quantity, size_name=size_name, sizes=[size for size, _ in measured], times=times
    )


def make_release(slug: str, n: int, d: int) -> Work | None:
    """Return the work of a release from n records, drawn in advance; None if it is not possible."""
    problem_slug = "mean" if "mean" in method_card(slug).problems else "logistic"
    scenario = Scenario(problem=problem_slug, methods=(slug,), n=n, d=d)
    problem, setting = scenario.instance.problem, scenario.setting
    rng = np.random.default_rng(0)
    method = make_method(slug, "tight", "practical")
    try:
        plan = method.plan(setting)
    except NotApplicable:
        return None
    data = problem.sample(n, rng)
    return lambda: method.release(data, plan, Ledger(setting.budget), rng)


def _steps_task(count: int) -> Work:
    """Return the work of this many clipped means of gradients."""
    scenario = Scenario(problem="logistic", methods=("sco.clipped",), n=20_000, d=50)
    sample = scenario.instance.problem.sample(scenario.n, np.random.default_rng(0))
    w = np.full(scenario.d, 0.1)
    sample.features.norms()

    def work() -> None:
        """Compute the clipped mean of the gradients `count` times."""
        for _ in range(count):
            clipped_mean(sample.gradients(w), 10.0)

    return work


def _study_task(count: int) -> Work:
    """Return the work of a study with this many trials."""
    scenario = Scenario(methods=("mean.clipped",), n=5000, trials=count)

    def work() -> None:
        """Run all cells of the study."""
        for cell in cells_of(replace(scenario, trials=count)):
            run_cell(cell)

    return work
