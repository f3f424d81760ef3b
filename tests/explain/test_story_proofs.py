"""Stories: the sensitivity that a proof names is the one on the ledger, with the matching noise.

The formulas here are those of the stories' sentences, written down a second time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.catalogue import make_method, method_card
from dpsco_core.explain.methods.stories import example_point
from dpsco_core.privacy import Ledger
from dpsco_core.scenario import Scenario
from tests.folded import each

Formula = Callable[[Mapping[str, float], Scenario], float]


def clipped(run: Mapping[str, float], point: Scenario) -> float:
    """Return the sensitivity of the mean of clipped records."""
    return 2 * run["clip_radius"] / point.n


def one_gradient(run: Mapping[str, float], point: Scenario) -> float:
    """Return the sensitivity of a single clipped gradient."""
    return 2 * run["clip_radius"]


def a_group(run: Mapping[str, float], point: Scenario) -> float:
    """Return the sensitivity of the mean of a group."""
    return 2 * run["clip_radius"] / (point.n // run["groups"])


def an_encoding(run: Mapping[str, float], point: Scenario) -> float:
    """Return the sensitivity of all steps of one phase in the encoding of correlated noise."""
    assert run["phases"] == 1
    squares = [(math.comb(2 * k, k) / 4**k) ** 2 for k in range(int(run["steps"]))]
    return 2 * run["clip_radius"] / run["batch_size"] * math.sqrt(sum(squares))


def a_phase(run: Mapping[str, float], point: Scenario) -> float:
    """Return the sensitivity of the average of a phase."""
    return 2 * run["clip_radius"] * run["step_size"]


def a_coordinate(run: Mapping[str, float], point: Scenario) -> float:
    """Return the sensitivity of one coordinate of the median of block means; an odd number of
    blocks doubles it.
    """
    size = point.n // run.get("disjoint", 1) // run["blocks"]
    return (1 if run["blocks"] % 2 == 0 else 2) * run["clip_limit"] / size


def coordinates(run: Mapping[str, float], point: Scenario) -> float:
    """Return the l2 sensitivity of all coordinates of the median of block means."""
    return math.sqrt(point.d) * a_coordinate(run, point)


def smooth(run: Mapping[str, float], point: Scenario) -> float:
    """Return the l2 sensitivity of a mean of smoothed values."""
    c = run.get("smoothing_variance", 1.0)
    supremum = 2 * math.sqrt(2) / 3 * math.erf(1 / math.sqrt(2 * c))
    return 2 * run["tau"] * supremum * math.sqrt(point.d) / point.n


# The sensitivity of the ledger's first entry. On the l1 ball an l2 sensitivity is the dual one
# times the root of d.
SENSITIVITY: dict[str, Formula] = {
    "mean.clipped": clipped,
    "mean.iterative": a_group,
    "mean.iterative-allocated": a_group,
    "mean.cwme-cdp": coordinates,
    "mean.cwme-pure": lambda run, point: point.d * a_coordinate(run, point),
    "mean.smoothed": smooth,
    "sco.noisy-gd": clipped,
    "sco.phased-sgd": a_phase,
    "sco.cwme": coordinates,
    "sco.smoothed": smooth,
    "sco.cwme-strong": lambda run, point: coordinates({**run, "disjoint": run["steps"]}, point),
    "sco.clipped": clipped,
    "sco.iterative": a_group,
    "sco.iterative-allocated": a_group,
    "sco.private-sgd": one_gradient,
    "sco.ftrl": an_encoding,
    "sco.automatic": clipped,
    "sco.quantile": lambda run, point: 2 * run["first_radius"] / point.n,
    "sco.dp-sgd": one_gradient,
    "sco.private-sgd-allocated": one_gradient,
    "sco.objective-perturbation": one_gradient,
    "sco.objective-perturbation-strong": lambda run, point: 2 * run["feature_bound"] / point.n,
    "lp.regularized-mirror-descent": lambda run, point: math.sqrt(point.d) * clipped(run, point),
    "lp.phased-sgd": a_phase,
    "lp.shuffled-mirror-descent": lambda run, point: (
        math.sqrt(point.d) * 2 * run["truncation_level"]
    ),
    "lp.batched-mirror-descent": lambda run, point: (
        math.sqrt(point.d) * 2 * run["truncation_level"]
    ),
    "lp.euclidean-reduction": lambda run, point: 2 * run["truncation_level"],
    "lp.noisy-mirror-descent": one_gradient,
    "lp.mirror-descent-allocated": lambda run, point: (
        math.sqrt(point.d) * 2 * run["truncation_level"]
    ),
    "lp.noisy-mirror-descent-allocated": one_gradient,
}


def run_through_a_ledger(point: Scenario, slug: str) -> tuple[Mapping[str, float], Ledger]:
    """Run a method; return its diagnostics and the ledger of its releases."""
    rng, ledger = np.random.default_rng(1), Ledger(point.budget)
    problem: Any = point.instance.problem
    problem_drawn = problem.draw(rng)
    method: Any = make_method(slug, point.calibration, point.tuning)
    release = method.release(
        problem_drawn.sample(point.n, rng), method.plan(point.setting), ledger, rng
    )
    return release.diagnostics, ledger


# The optimisers' theorems need more records than run quickly; those of the estimators do not.
CASES = [(slug, example_point(slug).tuning, 2000) for slug in SENSITIVITY] + [
    (slug, "theory", 5000) for slug in SENSITIVITY if method_card(slug).problems == ("mean",)
]


@each(("slug", "tuning", "n"), CASES)
def test_the_ledger_has_the_sensitivity_of_the_proof(slug: str, tuning: Any, n: int) -> None:
    point = replace(example_point(slug), n=n, tuning=tuning)
    run, ledger = run_through_a_ledger(point, slug)
    entry = ledger.entries[0]
    assert entry.sensitivity == pytest.approx(SENSITIVITY[slug](run, point), rel=1e-9)
    if entry.mechanism == "laplace":
        assert entry.noise == pytest.approx(entry.sensitivity / entry.epsilon, rel=1e-9)
    elif entry.mechanism == "gaussian":
        assert entry.noise == pytest.approx(entry.sensitivity / math.sqrt(2 * entry.rho), rel=1e-9)


@pytest.mark.parametrize(
    "slug", ["sco.clipped", "sco.noisy-gd", "sco.cwme", "sco.smoothed", "sco.automatic"]
)
def test_steps_on_the_same_records_share_the_budget(slug: str) -> None:
    point = replace(example_point(slug), n=2000)
    run, ledger = run_through_a_ledger(point, slug)
    assert len(ledger.entries) == run["steps"]
    total = sum(entry.rho for entry in ledger.entries)
    assert all(entry.rho == pytest.approx(total / run["steps"]) for entry in ledger.entries)
    assert total == pytest.approx(point.setting.gaussian_rho, rel=1e-9)


@pytest.mark.parametrize("slug", ["sco.cwme-strong", "sco.phased-sgd", "lp.phased-sgd"])
def test_steps_on_disjoint_records_each_have_the_whole_budget(slug: str) -> None:
    point = replace(example_point(slug), n=2000)
    _, ledger = run_through_a_ledger(point, slug)
    parts = [entry.part for entry in ledger.entries]
    assert len(parts) > 1 and None not in parts and len(set(parts)) == len(parts)
    for entry in ledger.entries:
        assert entry.rho == pytest.approx(point.setting.gaussian_rho, rel=1e-9)
