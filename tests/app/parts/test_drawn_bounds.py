"""A proven upper bound in a figure is a bound for the very run that the figure measures.

For thousands of random settings of every method with a proven bound, the mean error of a few trials
must be below the bound that `shown` selects and `evaluate` computes. If it is not, 64 further
trials decide, by their mean less 6.5 standard errors. By the normal approximation the false-alarm
probability is 4e-11 for a setting, and so below 1e-6 over all of them; the seeds are fixed.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_app.parts.shown_bounds import shown
from dpsco_core import catalogue
from dpsco_core.base.errors import InvalidInput
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.results.report import Evaluation, evaluate
from dpsco_core.runs.study import Cell, canonical, run_cell
from dpsco_core.scenario import Scenario

SETTINGS = 3_000
BATCH = 100  # The number of settings in one test.
DEFAULT = 1  # The number of tests that are not marked slow.
FIRST_TRIALS, MORE_TRIALS, ERRORS = 3, 64, 6.5
METHODS = tuple(
    method.card
    for method in catalogue.METHODS
    if any(b.parameters == "run" and b.card.method == method.card.slug for b in catalogue.BOUNDS)
)
LAWS = ("student-t", "skewed-pareto", "log-normal", "gaussian", "pareto")


def random_scenario(seed: int) -> Scenario | None:
    """Return a random setting of one of the methods; None where such a setting does not exist."""
    rng = np.random.default_rng([31, seed])
    card = METHODS[seed % len(METHODS)]
    user = card.level == "user"
    problem = str(rng.choice(card.problems))
    laws = [d for d in catalogue.distributions_for(problem) if d in LAWS]
    mean, small = problem == "mean", card.geometry != "l2" or user
    diameter = float(np.exp(rng.uniform(np.log(0.5), np.log(40))))
    geometry = "l2" if mean or rng.random() < (0.2 if card.geometry == "lq" else 0.6) else None
    budget = {"epsilon": float(np.exp(rng.uniform(np.log(0.1), np.log(8)))), "delta": 1e-5}
    if rng.random() < 0.3:
        budget = {"epsilon": None, "delta": None, "rho": float(np.exp(rng.uniform(-6, 2)))}
    elif card.privacy == "pure" and rng.random() < 0.5:
        budget["delta"] = 0.0
    fields = {
        "problem": problem,
        "distribution": str(rng.choice(laws)),
        "methods": (card.slug,),
        "n": int(np.exp(rng.uniform(np.log(10), np.log(600 if small else 1500)))),
        "d": int(np.exp(rng.uniform(0, np.log(12 if small else 40)))),
        "m": int(rng.integers(2, 6)) if user else 1,
        "p": float(rng.choice([2.0, 2.5, 3.0, 4.0, 8.0, 20.0, 50.0])),
        "geometry": geometry or str(rng.choice([g for g in GEOMETRIES if "group" not in g])),
        "diameter": diameter,
        "offset": diameter / 2 * float(rng.uniform(0, 1)),
        "tuning": "theory" if rng.random() < 0.2 else "practical",
        "calibration": "paper" if rng.random() < 0.2 else "tight",
        "seed": seed,
        **budget,
    }
    if fields["geometry"] == "lq":
        fields["q"] = float(rng.choice([1.2, 1.5, 3.0]))
    try:
        return canonical_scenario(Scenario(**fields).validate(), card.slug)
    except InvalidInput:
        return None


def canonical_scenario(scenario: Scenario, method: str) -> Scenario:
    """Return the canonical form of a scenario, with one method."""
    return replace(canonical(scenario), methods=(method,))


def drawn_bound(scenario: Scenario) -> Evaluation | None:
    """Return the proven upper bound that a figure draws beside the scenario's one method."""
    slugs = [
        s for s in shown(scenario, ("upper bounds",)) if catalogue.bound(s).card.kind == "upper"
    ]
    assert len(slugs) <= 1, slugs
    return evaluate(scenario, catalogue.bound(slugs[0])) if slugs else None


def errors_of(scenario: Scenario, trials: range) -> np.ndarray:
    """Return the errors of a scenario's only method, each at the lower end of its uncertainty."""
    (method,) = scenario.methods
    cells = (Cell(point=canonical(scenario), method=method, x=None, trial=t) for t in trials)
    outcomes = [run_cell(cell) for cell in cells]
    assert all(o.not_applicable is None for o in outcomes), "a bound of a run that there is not"
    # An error averaged over an evaluation sample counts at the lower end of its own interval.
    return np.array([o.error - 6.5 * o.error_uncertainty for o in outcomes])


def excess(scenario: Scenario) -> tuple[float, float] | None:
    """Return the lower end of the measured mean error and the proven bound that it exceeds, or None
    if the bound holds.
    """
    proven = drawn_bound(scenario)
    if proven is None or proven.value == math.inf:
        return None
    if errors_of(scenario, range(FIRST_TRIALS)).mean() <= proven.value:
        return None
    errors = errors_of(scenario, range(FIRST_TRIALS, FIRST_TRIALS + MORE_TRIALS))
    lower_end = float(errors.mean() - ERRORS * errors.std(ddof=1) / math.sqrt(MORE_TRIALS))
    # In one dimension the whole simplex is one point, so both numbers are only rounding errors.
    rounding = 1e-9 * proven.value + 1e-12
    return None if lower_end <= proven.value + rounding else (lower_end, proven.value)


@pytest.mark.parametrize(
    "batch",
    [
        pytest.param(k, marks=[pytest.mark.slow] if k >= DEFAULT else [])
        for k in range(SETTINGS // BATCH)
    ],
)
def test_no_measured_mean_is_above_the_bound_that_is_drawn_for_it(batch: int) -> None:
    violations, count_drawn = {}, 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        scenario = random_scenario(seed)
        if scenario is None:
            continue
        count_drawn += drawn_bound(scenario) is not None
        if (violation := excess(scenario)) is not None:
            violations[seed, scenario.methods] = violation
    assert not violations
    assert count_drawn >= BATCH // 3, (
        "too few of the settings draw a bound for this to say anything"
    )


D1 = Scenario(
    n=1000,
    d=50,
    p=20.0,
    epsilon=0.1,
    delta=1e-3,
    diameter=16.0,
    methods=("mean.clipped",),
)
D2 = Scenario(
    problem="geometric-median",
    distribution="log-normal",
    methods=("sco.sgd",),
    n=5000,
    d=20,
    p=20.0,
    diameter=20.0,
    offset=9.0,
)


@pytest.mark.parametrize("n", [500, 5000])
def test_the_proven_line_of_simple_clipping_is_above_its_measured_line(n: int) -> None:
    """The least bound over all radii is below that line, since the run uses another radius.

    The ball of the means is so large that projection, which the proof ignores, changes no answer.
    """
    point = replace(D1, n=n)
    measured = errors_of(point, range(200))
    line = drawn_bound(point)
    assert line is not None and line.bound.card.slug == "upper.mean.clipped-run-coordinate"
    noise = ERRORS * measured.std(ddof=1) / math.sqrt(len(measured))
    assert measured.mean() - noise < line.value < 1.1 * measured.mean()
    least_bound = evaluate(point, catalogue.bound("upper.mean.clipped-expected-coordinate"))
    assert least_bound.bound.parameters == "own" and least_bound.value < measured.mean()


@pytest.mark.parametrize("geometry", ["l2", "linf"])
def test_the_proven_line_of_sgd_is_above_its_measured_line(geometry: str) -> None:
    """The bound at the best Lipschitz step is below that line, since the run uses the step for
    smooth risks.
    """
    point = replace(D2, geometry=geometry)
    measured = errors_of(point, range(4))
    line = drawn_bound(point)
    assert line is not None and measured.mean() < line.value
    best_step = evaluate(point, catalogue.bound("upper.sco.sgd"))
    assert best_step.bound.parameters == "own" and best_step.value < measured.mean()
