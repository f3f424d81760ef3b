"""Results made without a page: small, and kept for all the tests of a session."""

from __future__ import annotations

from functools import lru_cache

import pandas as pd

from dpsco_app.session.result import Result
from dpsco_core.results.report import Evaluation, evaluate_all
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

SWEEP = Scenario(
    p=2,
    methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"),
    axis="n",
    grid=(1000, 10_000, 50_000),
    trials=5,
)
FLOORS = ("lower.mean.fano-cdp", "lower.mean.hypercube-cdp")


@lru_cache
def run(scenario: Scenario) -> Result:
    """Return the finished result of a scenario."""
    return Result(scenario, list(study(scenario)))


def table(scenario: Scenario) -> pd.DataFrame:
    """Return the summary of a scenario's result."""
    return summary(frame(run(scenario).outcomes))


def bounds(scenario: Scenario, *slugs: str) -> list[Evaluation]:
    """Return the chosen bounds at every point of a scenario."""
    return evaluate_all(scenario, slugs)
