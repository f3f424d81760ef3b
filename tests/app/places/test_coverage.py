"""The coverage of a mean's intervals, below the table of numbers."""

from __future__ import annotations

import pytest

from dpsco_app.pages.explore.tables import ABOUT_COVERAGE, coverage_text
from dpsco_core.results.coverage import coverages
from dpsco_core.scenario import Scenario
from tests.app.pages import open_page, texts
from tests.app.results import run

POINT = Scenario(methods=("mean.sample", "mean.clipped"), n=500, d=3, trials=5)


def test_the_shares_are_counted_with_their_intervals() -> None:
    outcomes = run(POINT).outcomes
    (row,) = coverages(POINT, outcomes)
    low, high = round(100 * row.low), round(100 * row.high)
    said = coverage_text(POINT, outcomes)
    assert said.endswith(f": Simple clipping {row.inside} of 5 runs ({low} to {high} %).")


@pytest.mark.parametrize(
    ("problem", "methods", "told"),
    [
        ("mean", "mean.clipped,mean.sample", True),
        ("mean", "mean.adaptive,mean.sample", False),
        ("quadratic", "sco.clipped,sco.erm", False),
    ],
)
def test_it_stands_below_the_table_of_a_mean_with_intervals_alone(
    problem: str, methods: str, told: bool
) -> None:
    page = open_page(problem=problem, methods=methods, n="500", d="3", axis="", trials="3")
    assert (ABOUT_COVERAGE in texts(page)) == told
