"""Who wins: its map holds the values of the core, and leads to Explore."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.figure.colours import PALE
from dpsco_app.figure.marks import cell_edges
from dpsco_app.figure.methods import colour_of, short_names
from dpsco_app.figure.render import plotly
from dpsco_app.figure.theme import COMPACT, Theme
from dpsco_app.figure.values import Cells
from dpsco_app.front.links import BASE as START
from dpsco_app.pages.contest import cell_text, contest_figure, nearest_cell, winner
from dpsco_app.pages.who_wins.state import PLANES, SIZES, STATE, plane, planes_for
from dpsco_app.parts.evaluations import without_data
from dpsco_app.parts.options import rounded
from dpsco_core.catalogue import PROBLEM_SLUGS, method_card, methods_for
from dpsco_core.explain.contest import Contest, bounds_contest
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    BASES,
    drawn_html,
    headline_text,
    ladder_numbers,
    open_page,
    shown_result,
    visitor_session,
)
from tests.app.places.test_one_run import open_at
from tests.golden_sentences import GOLDEN

BASE = BASES["who_wins"]


def open_who_wins(**query: str) -> AppTest:
    """Return the page that compares methods, drawn from rates unless the query says otherwise."""
    return open_at("who_wins", **({"reading": "rates"} | query))


def spec(page: AppTest) -> dict[str, Any]:
    """Return the Plotly specification of the finished map."""
    return dict(json.loads(page.get("plotly_chart")[-1].proto.spec))


def map_of(scenario: Scenario = BASE, name: str = "n-epsilon", reading: Any = "rates") -> Contest:
    """Return the contest of the bounds of a scenario on a plane."""
    size = SIZES["rates" if reading == "rates" else "measured"]
    return bounds_contest(scenario, plane(name, scenario, size), reading)


def cells(expected: Contest, reading: Any = "rates") -> Cells:
    """Return the cells that are drawn of a contest."""
    drawn_cells = contest_figure(expected, BASE, reading).panels[0].cells
    assert drawn_cells is not None
    return drawn_cells


@pytest.mark.parametrize("name", PLANES)
def test_the_map_holds_the_winners_of_the_core(name: str) -> None:
    expected = map_of(BASE, name)
    drawn_cells = cells(expected)
    assert (np.array(drawn_cells.shows) == expected.smallest).all()
    assert (drawn_cells.x, drawn_cells.y) == (list(expected.plane.x), list(expected.plane.y))
    row, column = 3, 5
    text = drawn_cells.hover[row][column]
    assert text.startswith(cell_text(expected.plane, row, column))
    for k, short in enumerate(short_names(expected.methods).values()):
        value = expected.values[k, row, column]
        hover_value = text.split(f"<br>{short} ")[1].split("<br>")[0]
        assert ("(" in hover_value) == (not expected.holds[k, row, column])
        assert float(hover_value.strip("()").replace(",", "")) == pytest.approx(value, rel=0.06)


@pytest.mark.parametrize("theme", [Theme(), Theme(dark=True, size=COMPACT)])
def test_a_cell_is_filled_in_the_colour_of_its_method_and_hatched_where_it_is_tied(
    theme: Theme,
) -> None:
    expected = map_of()
    ties = np.zeros_like(expected.ties)
    ties[tuple(np.argwhere(expected.smallest >= 0)[4])] = True
    traces = plotly(contest_figure(replace(expected, ties=ties), BASE, "rates"), theme)["data"]
    filled = [t for t in traces if t.get("fill") == "toself"]
    assert sum(t["x"].count(None) for t in filled) == (expected.smallest >= 0).sum()
    hatched = [t for t in filled if "fillpattern" in t]
    assert [t["x"].count(None) for t in hatched] == [1]
    edges = cell_edges(list(expected.plane.x))
    assert {x for t in filled for x in t["x"]} <= {None, *edges}
    colours = {theme.colour(colour_of(m)) for m in expected.methods}
    for trace in (t for t in filled if t not in hatched):
        r, g, b = trace["fillcolor"].removeprefix("rgba(").split(",")[:3]
        assert f"#{int(r):02x}{int(g):02x}{int(b):02x}" in colours
    (mark,) = [t for t in traces if t.get("name") == "chosen point"]
    assert (mark["x"], mark["y"]) == ([BASE.n], [BASE.epsilon]) and not mark["cliponaxis"]
    (targets,) = [t for t in traces if t.get("name") == "cells"]
    assert len(targets["customdata"]) == expected.smallest.size


def test_the_colours_are_those_of_the_methods_in_every_reading() -> None:
    for reading in ("rates", "proven"):
        expected = map_of(reading=reading)
        kinds = cells(expected, reading).kinds
        assert [pair for _, pair in kinds] == [*map(colour_of, expected.methods), PALE]


def test_cells_without_a_method_better_than_no_data_show_no_winner() -> None:
    """This holds for measured errors; the values of rates say nothing about it."""
    bounds = map_of()
    start = without_data(BASE)
    best = np.where(bounds.holds, bounds.values, np.inf).min(axis=0)
    useless = (start <= best) & (best < np.inf)
    assert 0 < useless.sum() < useless.size
    assert (bounds.winners == bounds.smallest).all()
    expected = replace(bounds, start=np.full(best.shape, start))
    assert ((expected.winners == len(expected.methods)) == useless).all()
    rows = contest_figure(expected, BASE, "measured").ladder.rows
    assert rows[-1].name == "■ an answer without data"
    assert rows[-1].values == [rounded(start), f"{100 * useless.mean():.0f} %"]


def test_the_answer_says_who_wins_at_the_point_and_in_how_much_of_the_map() -> None:
    expected = map_of()
    cell = nearest_cell(expected.plane, BASE)
    best = expected.smallest[cell]
    name = method_card(expected.methods[best]).name
    sentence = winner(expected, BASE, "rates").replace("\xa0", " ")
    assert sentence.startswith("The smallest rate that holds at n = 10,000, ε = 1: ")
    assert name.lower() in sentence.lower()
    assert f"as on {100 * (expected.smallest == best).mean():.0f} % of the map" in sentence
    start = np.full_like(expected.values[0], expected.values[best][cell])
    tied = replace(expected, ties=np.ones_like(expected.ties), start=start)
    assert "no method of this map beats an answer without data" in winner(tied, BASE, "measured")
    tied = replace(tied, start=2 * start)
    assert "measured error" in winner(tied, BASE, "measured")
    assert "in a tie, best on" in winner(tied, BASE, "measured")
    share = f"{100 * (expected.smallest == best).mean():.0f} %"
    assert winner(tied, BASE, "measured").endswith(f"of the map (tied on {share})")
    assert "tied" not in sentence
    pure = replace(BASE, delta=0.0)
    assert winner(map_of(pure), pure, "rates").startswith("No theorem of the methods holds")


def test_the_ladder_has_every_method_at_the_point_the_best_first() -> None:
    expected = map_of()
    rows = contest_figure(expected, BASE, "rates").ladder.rows
    assert len(rows) == len(expected.methods)
    best = expected.methods[expected.smallest[nearest_cell(expected.plane, BASE)]]
    top = max(rows, key=lambda row: row.end)
    assert top.name == f"■ {short_names(expected.methods)[best]}" and "(" not in top.values[0]
    shares = [float(row.values[1].removesuffix(" %")) for row in rows]
    assert sum(shares) == pytest.approx(100 * (expected.smallest >= 0).mean(), abs=2)


def test_the_page_opens_on_what_is_measured_and_ends_with_the_point_in_the_answer() -> None:
    """Rates, whose constants are all 1, may favour another method than the runs do."""
    page = open_at(
        "who_wins", problem="mean", methods="mean.clipped,mean.cwme-cdp", d="2", n="1000"
    )
    assert "reading" not in page.query_params
    assert "Hatched: a tie" in drawn_html(page)
    assert headline_text(page).startswith("The smallest measured error at n = 1,000, ε = 1: ")
    (targets,) = [t for t in spec(page)["data"] if t.get("name") == "cells"]
    assert len(targets["customdata"]) % SIZES["measured"][1] == 0
    assert "not run yet" not in json.dumps(targets["hovertext"])
    assert set(ladder_numbers(page)) >= {"■ Simple clipping", "■ Coordinate-wise"}


# Every test run covers these problems; `make test-slow` covers the others.
FEW_PROBLEMS = ("mean", "linear", "logistic")


@pytest.mark.parametrize(
    "problem",
    [p if p in FEW_PROBLEMS else pytest.param(p, marks=pytest.mark.slow) for p in PROBLEM_SLUGS],
)
def test_every_problem_has_its_map(problem: str) -> None:
    page = open_who_wins(
        problem=problem, methods=",".join(methods_for(problem, "item")), plane="d-epsilon"
    )
    figure = spec(page)
    assert figure["layout"]["xaxis"]["title"]["text"] == "Dimension d"
    filled = any(t.get("fill") == "toself" for t in figure["data"])
    assert filled or headline_text(page).startswith("No theorem")
    assert "Every constant is 1" in drawn_html(page)


def test_the_plane_is_in_the_address() -> None:
    query = {"problem": "mean", "methods": "mean.clipped,mean.cwme-cdp", "plane": "n-p", "d": "5"}
    page = open_who_wins(**query)
    written = dict(page.query_params.items())
    del query["problem"]  # The address may leave out the default problem.
    assert query.items() <= written.items()
    assert any("Tail index p" in a["text"] for a in spec(page)["layout"]["annotations"])
    page.get_by_key(STATE.key("plane")).set_value("d-epsilon")
    page.run()
    assert page.query_params["plane"] == "d-epsilon"
    reopened = open_who_wins(**({"problem": "mean"} | written))
    assert dict(reopened.query_params.items()) == written


@pytest.mark.parametrize("query", [{"plane": "n-n"}, {"reading": "foo"}, {"d": "x"}])
def test_a_bad_address_costs_one_sentence(query: dict[str, str]) -> None:
    quick = {"reading": "rates", "methods": "sco.clipped,sco.cwme"}
    page = open_who_wins(**(quick | query))
    assert len(page.warning) == 1 and spec(page)["data"]


def test_a_budget_without_epsilon_has_one_plane_only() -> None:
    zcdp = replace(BASE, epsilon=None, delta=None, rho=0.5)
    assert planes_for(zcdp) == ("n-p",) and planes_for(BASE) == tuple(PLANES)
    page = open_who_wins(rho="0.5")
    assert spec(page)["data"] and page.query_params["plane"] == "n-p"


def test_the_page_says_if_no_private_method_is_chosen() -> None:
    page = open_who_wins(methods="sco.erm")
    assert headline_text(page).startswith("No such bound") and not page.get("plotly_chart")
    page = open_who_wins(methods="sco.erm", reading="measured")
    assert headline_text(page) == GOLDEN["no chosen optimiser can run"]


def test_a_method_that_runs_nowhere_on_the_map_is_left_out_with_its_reason() -> None:
    quick = {"problem": "mean", "reading": "measured", "d": "2", "n": "1000", "delta": "0"}
    page = open_who_wins(methods="mean.clipped,mean.cwme-pure", **quick)
    assert "Left out: Simple clipping (Gaussian noise cannot give pure DP)" in drawn_html(page)
    assert set(ladder_numbers(page)) <= {"■ Coordinate-wise", "■ an answer without data"}
    page = open_who_wins(methods="mean.clipped", **quick)
    assert headline_text(page) == GOLDEN["no chosen estimator can run"]
    assert "Left out: Simple clipping" in drawn_html(page) and not page.get("plotly_chart")
    # A method that only lacks records runs elsewhere on the map.
    page = open_who_wins(problem="mean", reading="measured", n="100", d="2", methods="mean.clipped")
    assert "Left out" not in drawn_html(page)


def test_the_point_opens_in_explore_with_a_sweep_where_that_is_allowed() -> None:
    def link(**query: str) -> dict[str, str]:
        """Return the query of the link that opens the point."""
        page = open_who_wins(**query)
        (led,) = [link.proto for link in page.get("page_link") if "Open this" in link.proto.label]
        return dict(parse_qsl(led.query_string.lstrip("?")))

    swept = Scenario.from_query(link(), START)
    assert (swept.problem, swept.axis, swept.methods) == (BASE.problem, "n", BASE.methods)
    large = open_who_wins(n="500000", d="4", plane="d-epsilon")
    assert any("must" in caption.value for caption in large.caption)
    page = open_page(**(link() | {"trials": "1", "grid": "500,1000"}))
    assert shown_result(page).scenario.problem == BASE.problem and not page.warning


def test_a_plane_that_the_scenario_lacks_is_replaced_in_map_address_and_link() -> None:
    (only_plane,) = planes_for(replace(BASE, epsilon=None, delta=None, rho=0.5))
    page = open_who_wins(epsilon="none", delta="none", rho="0.5", plane="n-epsilon")
    assert page.query_params["plane"] == only_plane and f"plane={only_plane}" in page.code[0].value
    assert visitor_session(page).views["who_wins"] == replace(
        STATE.default, plane=only_plane, reading="rates"
    )
