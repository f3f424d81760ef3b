"""Studies whose records are drawn as they are read: the same numbers, in little memory."""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
from dataclasses import replace

import pytest

from dpsco_core.base import limits
from dpsco_core.base.limits import DASHBOARD, LIBRARY, streamed
from dpsco_core.catalogue import METHODS, method_class, methods_for
from dpsco_core.runs.cost import cost
from dpsco_core.runs.memory import bytes_held
from dpsco_core.runs.study import Outcome, require_held, study
from dpsco_core.scenario import Scenario
from tests.accepted_problems import first_accepted

MODULE = importlib.import_module("dpsco_core.runs.study")

# The records fill three blocks, the last one only partly.
MEAN = Scenario(n=12_001, d=20, trials=1, seed=3)
IN_ORDER_SLUGS = {m.card.slug for m in METHODS if m.reads != "whole"}
LOGISTIC = replace(MEAN, problem="logistic")
QUADRATIC = replace(MEAN, problem="quadratic")
# These are further runs of a method, or another one where the scenario of `usual` would have too
# many records.
LARGE_STUDIES = {
    "sco.sgd": (LOGISTIC, QUADRATIC),
    "sco.automatic": (LOGISTIC, QUADRATIC),
    "sco.ftrl": (LOGISTIC, replace(MEAN, problem="huber")),
    "sco.noisy-gd": (LOGISTIC, replace(QUADRATIC, distribution="hypercube")),
    "sco.phased-sgd": (replace(MEAN, problem="huber", distribution="hypercube"),),
    "sco.cwme-strong": (replace(QUADRATIC, n=60_001, delta=1e-3),),
}


def usual(slug: str) -> Scenario:
    """Return a scenario in which a method can run: the mean, or a convex loss, in the method's
    geometry.
    """
    family = method_class(slug)
    start = replace(MEAN, problem=first_accepted(slug, "mean", "logistic", "quadratic"))
    if family.card.geometry == "lq":
        return replace(start, geometry="lq", q=family.stage.exponent)
    return start


RUNS = {slug: LARGE_STUDIES.get(slug) or (usual(slug),) for slug in sorted(IN_ORDER_SLUGS)}


def run(scenario: Scenario) -> Outcome:
    """Run a scenario with a single cell, and with nothing cached; return its outcome."""
    MODULE._cached_dataset.cache_clear()
    (outcome,) = study(scenario)
    return outcome


def hold_at_most(monkeypatch: pytest.MonkeyPatch, elements: int) -> None:
    """Let the library hold at most this many elements in memory."""
    small = replace(LIBRARY, elements=elements)
    monkeypatch.setattr(limits, "LIBRARY", small)
    monkeypatch.setattr(MODULE, "LIBRARY", small)


def test_the_tests_of_streaming_cover_every_method_that_reads_in_order() -> None:
    assert set(LARGE_STUDIES) <= set(RUNS)
    assert {m.reads for m in METHODS} == {"summed", "grouped", "ordered", "whole"}


@pytest.mark.parametrize(
    ("slug", "scenario"), [(slug, scenario) for slug, some in RUNS.items() for scenario in some]
)
def test_streaming_equals_in_memory_to_rounding(
    slug: str, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = replace(scenario, methods=(slug,))
    in_memory = run(scenario)
    assert in_memory.not_applicable is None
    hold_at_most(monkeypatch, 1000)
    for name, owner in (  # No array of records may be held.
        ("dpsco_core.problems.mean", "MeanEstimation"),
        ("dpsco_core.problems.points", "PointProblem"),
        ("dpsco_core.problems.linear_models", "LinearModelProblem"),
    ):
        monkeypatch.delattr(getattr(importlib.import_module(name), owner), "sample")
    outcome = run(scenario)
    assert outcome.not_applicable is None
    assert outcome.error == pytest.approx(in_memory.error, rel=1e-9)
    assert outcome.spent == in_memory.spent
    assert outcome.diagnostics == pytest.approx(in_memory.diagnostics)


@pytest.mark.parametrize("slug", sorted({m.card.slug for m in METHODS} - IN_ORDER_SLUGS))
def test_methods_that_cannot_stream_refuse_in_one_sentence_and_name_the_nearest_n(
    slug: str,
) -> None:
    problem = next(p for p in ("mean", "logistic", "quadratic") if slug in methods_for(p))
    scenario = Scenario(problem=problem, n=10**8, d=30, trials=1, methods=(slug,))
    (outcome,) = study(scenario)
    assert outcome.not_applicable is not None
    assert "n times d must be at most 400,000,000" in outcome.not_applicable
    changes = dict(outcome.changes)
    assert changes == {"n": 13_333_333}
    assert not streamed(13_333_333, 1, 30)
    assert streamed(13_333_334, 1, 30)
    require_held(replace(scenario, n=13_333_333), slug)


def test_cost_and_memory_account_for_records_that_are_drawn_again() -> None:
    single = Scenario(n=10**8, d=20, trials=1, methods=("mean.clipped",))
    both = replace(single, methods=("mean.clipped", "mean.cwme-cdp"))
    assert 4 < cost(single).seconds < 2000
    assert cost(both).seconds > 1.7 * cost(single).seconds
    logistic = replace(single, problem="logistic", methods=("sco.sgd",))
    refused = replace(logistic, methods=("sco.sgd", "sco.private-sgd"))
    assert cost(refused).seconds == pytest.approx(cost(logistic).seconds, rel=0.01)
    assert bytes_held(single) < 1e8
    groups = bytes_held(replace(single, methods=("mean.clipped", "mean.iterative")))
    assert groups == bytes_held(single) + 4 * single.n
    in_memory = replace(single, n=LIBRARY.elements // 20)
    assert bytes_held(in_memory) > 8 * LIBRARY.elements


def test_the_dashboard_streams_nothing() -> None:
    assert DASHBOARD.most_elements == DASHBOARD.elements < LIBRARY.elements
    assert LIBRARY.most_elements == LIBRARY.streamed


LARGE = """
import json, re, sys
from pathlib import Path
from dpsco_core.scenario import Scenario
from dpsco_core.runs.study import study
scenario = Scenario.from_dict(json.loads(sys.argv[1]))
(outcome,) = study(scenario.validate())
# Of this program alone: what getrusage says includes the process that it was forked from.
peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(json.dumps([outcome.error, outcome.not_applicable, peak]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a program")
@pytest.mark.parametrize(
    ("slug", "problem"),
    [
        ("mean.clipped", "mean"),
        ("mean.cwme-cdp", "mean"),
        ("mean.cwme-pure", "mean"),
        ("mean.iterative", "mean"),
        ("sco.sgd", "logistic"),
        ("sco.clipped", "quadratic"),
        ("sco.phased-sgd", "logistic"),
    ],
)
def test_a_hundred_million_records_run_in_a_gigabyte(slug: str, problem: str) -> None:
    scenario = Scenario(problem=problem, n=10**8, d=20, trials=1, methods=(slug,))
    process = subprocess.run(
        [sys.executable, "-c", LARGE, scenario.to_json()],
        capture_output=True,
        text=True,
        check=True,
    )
    error, refusal, peak = json.loads(process.stdout)
    assert refusal is None
    assert peak < 1e9
    assert 0 <= error < 0.05
    assert math.isfinite(error)
