"""A number that two pages show is the same on both: the window, and the floor on the chosen
data.
"""

from __future__ import annotations

import re

import pytest

from dpsco_app.parts.options import ranged
from tests.app.pages import headline_text, ladder_numbers, open_page
from tests.app.places.test_one_run import open_at

SCENARIOS = [
    {},
    {"n": "2000"},
    {"d": "100", "n": "20000"},
    {"p": "4"},
    {"epsilon": "0.2", "n": "50000"},
    {"delta": "0"},
]
METHODS = {"approx": "mean.sample,mean.clipped", "pure": "mean.sample,mean.cwme-pure"}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_explore_and_lower_bounds_agree_on_the_window_and_on_the_floor_of_the_data(
    scenario: dict[str, str],
) -> None:
    n = scenario.get("n", "10000")
    methods = METHODS["pure" if "delta" in scenario else "approx"]
    query = {"n": n, "d": "20", "p": "2", "axis": "n", "grid": f"1000,{n}", "methods": methods}
    query |= scenario | {"trials": "2"}
    explore = ladder_numbers(open_page(**query, against="hardest"))
    query_here = {name: query[name] for name in ("n", "d", "p", *scenario)}
    page_headline = headline_text(
        open_at("lower_bounds", **query_here, problem="mean", distribution="student-t")
    )
    floor, ceiling = map(float, re.findall(r"\d+\.\d+|\d+(?= is)", page_headline))
    # One number stands for both panels if their numbers agree.
    window_values = explore["promise for all data"]
    assert (window_values[0] or window_values[1]) == ranged(floor, ceiling)
    proof = open_at(
        "lower_bounds",
        **query_here,
        problem="mean",
        distribution="student-t",
        part="prove",
        hard="data",
    )
    steps = [m.value for m in proof.container(key="lower_steps").markdown]
    numbers = [float(x) for step in steps for x in re.findall(r"\*\*([\d.]+)\*\*", step)]
    (name,) = [row for row in explore if row == "proven limit"]
    # The headline shows two digits.
    assert float(explore[name][0]) == pytest.approx(numbers[-1], rel=0.03)
