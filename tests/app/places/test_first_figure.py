"""The first figure proves the title: a light tail beside, and a headline that follows p."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.pages.explore import page as explore
from dpsco_app.pages.explore.finding import LIGHT_DATA
from dpsco_core.results.findings import times_to_halve
from tests.app.pages import (
    checked,
    figure,
    is_stale,
    open_page,
    result,
    sentence,
    status,
    texts,
    trace_names,
)

GRID = "1000,2000,5000,20000"


def headline_numbers(title: str) -> list[float]:
    return [float(v) for v in re.findall(r"([\d.]+) times", title)]


@pytest.mark.parametrize(("p", "other"), [("2", 8), ("8", 2)])
def test_the_headline_compares_the_tails_with_the_slopes_of_the_table(p: str, other: int) -> None:
    page = open_page(p=p, grid=GRID, against=None)
    found = result(page)
    assert found.beside is not None and found.beside.scenario.p == other
    title = figure(page)["layout"]["title"]["text"].replace("<br>", " ").replace("  ", " ")
    own = found.slopes().set_index("method").loc["mean.cwme-cdp", "fitted"]
    beside = found.beside.slopes().set_index("method").loc["mean.cwme-cdp", "fitted"]
    expected = [float(f"{times_to_halve(s):.1f}") for s in (own, beside)]
    assert headline_numbers(title) == expected
    assert f"at p = {p}, and" in title and f"times at p = {other}" in title
    heavy, light = expected if p == "2" else reversed(expected)
    assert heavy > 3 and light < 2.6  # what heavy tails cost under privacy
    assert f"Coordinate-wise, Gaussian at p = {other}" in trace_names(figure(page))
    for factor in expected:
        assert f"{factor} times the records" in texts(page)  # the table of slopes


def test_the_companion_comes_off_and_light_data_are_explained() -> None:
    page = open_page(distribution="gaussian", against="none")
    assert result(page).beside is None
    assert LIGHT_DATA.strip() in sentence(page)
    assert LIGHT_DATA.strip() not in sentence(open_page())


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"axis": "d", "grid": "5,10,20"}, "Ten times the dimension: "),
        ({"axis": "epsilon", "grid": "0.2,1,5"}, "Privacy multiplies the error of "),
        ({"axis": "p", "grid": "2,3,6"}, "From p = 2 to p = 6 the error of "),
        (
            {"axis": "diameter", "grid": "2,20,200"},
            "100 times the diameter costs adaptive clipping ",
        ),
        ({"grid": GRID}, "Halving the error of adaptive clipping takes "),
    ],
)
def test_each_axis_has_its_own_headline(query: dict[str, str], words: str) -> None:
    title = figure(open_page(**query))["layout"]["title"]["text"].replace("<br>", " ")
    assert words in title.replace("  ", " ")


def test_a_quick_change_runs_by_itself_and_a_stopped_run_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = open_page()
    change(page, "field_d", 10)
    assert is_stale(page) and "**Previous settings.**" in sentence(page)
    monkeypatch.setattr(explore, "LIVE_SECONDS", 1.5)
    change(page, "field_d", 5)
    assert not is_stale(page) and result(page).scenario.d == 5 and result(page).complete
    own = result(page).own()
    own.outcomes, own.done = own.outcomes[:3], False
    page.session_state["result"] = own  # as Cancel leaves it
    assert not result(checked(page.run())).complete and "Stopped at 3 of" in status(page)
    monkeypatch.setattr(explore, "LIVE_SECONDS", 0.0)
    change(page, "field_trials", 100)
    assert is_stale(page)


def change(page: AppTest, key: str, value: object) -> None:
    checked(page.select_slider(key=key).set_value(value).run())
