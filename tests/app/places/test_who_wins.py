"""Who wins: its maps hold the values of the core, and lead to Explore."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.pages.who_wins.charts import NO_BOUND, TIED, terms_figure, winners_figure
from dpsco_app.pages.who_wins.state import (
    COARSE,
    PLANES,
    SIZES,
    STATE,
    explore_query,
    plane,
    planes_for,
)
from dpsco_app.pages.who_wins.words import nearest_cell, terms_title, winner_title
from dpsco_app.parts.look import Look
from dpsco_app.shell import visit
from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import METHOD_SLUGS, PROBLEM_SLUGS, method_card, methods_for
from dpsco_core.explain.contest import Contest, bounds_contest
from dpsco_core.explain.regimes import regimes
from dpsco_core.scenario import Scenario
from tests.app.pages import BASES, annotations, open_page, result, texts
from tests.app.places.test_one_run import open_at

BASE = BASES["who_wins"]


def open_regimes(**query: str) -> AppTest:
    return open_at("who_wins", **({"reading": "rates"} | query))


def specs(page: AppTest) -> list[dict[str, Any]]:
    """Return the two maps as they are at the end: that of the winners, that of the terms."""
    last: dict[str, Any] = {}
    for chart in page.get("plotly_chart"):
        figure = json.loads(chart.proto.spec)
        last["terms" if "largest term" in json.dumps(figure) else "winners"] = figure
    return [last[name] for name in ("winners", "terms") if name in last]


def found(scenario: Scenario = BASE, name: str = "n-epsilon", reading: Any = "rates") -> Contest:
    size = SIZES["rates"] if reading == "rates" else COARSE
    return bounds_contest(scenario, plane(name, scenario, size), reading)


def said(points: Any, index: int) -> str:
    """Return what a point's hover says."""
    data = points.customdata[index]
    text = re.sub(r"%\{customdata\[(\d+)\]\}", lambda m: data[int(m[1])], points.hovertemplate)
    return str(text).removesuffix("<extra></extra>")


@pytest.mark.parametrize("name", PLANES)
def test_the_left_map_holds_the_winners_of_the_core(name: str) -> None:
    expected = found(BASE, name)
    figure = winners_figure(expected, BASE, Look())
    drawn = np.where(np.isnan(np.array(figure.data[0].z, dtype=float)), -1, figure.data[0].z)
    assert (drawn == expected.smallest).all()
    (points,) = [t for t in figure.data if t.name == "values"]
    assert drawn.size == len(points.customdata)
    row, column = 3, 5
    text = said(points, row * drawn.shape[1] + column)
    for k, method in enumerate(expected.methods):
        line = f"{method_card(method).name}: {expected.values[k, row, column]:.2g}"
        assert line in text
    x, y = points.customdata[row * drawn.shape[1] + column][:2]
    assert (x, y) == (expected.plane.x[column], expected.plane.y[row])


@pytest.mark.parametrize("name", PLANES)
def test_every_region_has_its_name_inside_it_and_inside_the_map(name: str) -> None:
    expected = found(BASE, name)
    figure = winners_figure(expected, BASE, Look())
    low, high = figure.layout.xaxis.range
    named = 0
    for annotation in figure.layout.annotations:
        text = annotation.text.replace("<br>", "").replace("<b>", "").replace("</b>", "")
        if "√" in text:
            continue
        inwards = {"left": 1e-3, "right": -1e-3, "center": 0.0}[annotation.xanchor]
        column = int(np.abs(np.log10(expected.plane.x) - annotation.x - inwards).argmin())
        row = int(np.abs(np.log10(expected.plane.y) - annotation.y).argmin())
        best = int(expected.smallest[row, column])
        assert text == (NO_BOUND if best < 0 else method_card(expected.methods[best]).name)
        share = (annotation.x - low) / (high - low)
        assert {"left": share < 0.25, "right": share > 0.75}.get(annotation.xanchor, True)
        named += 1
    assert named >= 2


def test_the_colours_are_those_of_the_methods_in_every_reading() -> None:
    colours = []
    for reading in ("rates", "proven"):
        expected = found(reading=reading)
        scale = winners_figure(expected, BASE, Look()).data[0].colorscale
        colours.append({m: scale[2 * k][1] for k, m in enumerate(expected.methods)})
    shared = set(colours[0]) & set(colours[1])
    assert shared and all(colours[0][m] == colours[1][m] for m in shared)


def test_ties_are_hatched_and_cells_without_a_theorem_have_no_colour() -> None:
    expected = found()
    assert (expected.smallest < 0).any()
    figure = winners_figure(expected, BASE, Look())
    assert np.isnan(np.array(figure.data[0].z, dtype=float)).sum() == (expected.smallest < 0).sum()
    assert TIED not in [t.name for t in figure.data]
    ties = np.zeros_like(expected.ties)
    ties[2, 3] = True
    hatched = winners_figure(replace(expected, ties=ties), BASE, Look())
    (lines,) = [t for t in hatched.data if t.name == TIED]
    x = [v for v in lines.x if v is not None]
    middle = np.log10(expected.plane.x[3])
    assert min(x) < middle < max(x) and max(x) - min(x) < 0.3


def test_the_right_map_holds_the_largest_term_of_its_bound() -> None:
    scenario = Scenario(methods=("mean.clipped",), p=2.0)
    expected = regimes(scenario, plane("d-epsilon", scenario), ("upper.mean.clipped",))
    figure = terms_figure(expected, scenario, Look(dark=True))
    assert (np.array(figure.data[0].z) == expected.dominant).all()
    names = {a.text.strip("</b>").replace("<br>", "") for a in figure.layout.annotations}
    assert {"privacy", "sampling tail"} <= names
    (points,) = [t for t in figure.data if t.name == "values"]
    assert "largest term: " in said(points, 0)
    row, column = nearest_cell(expected.plane, scenario)
    assert expected.terms[expected.dominant[row, column]] in terms_title(expected, scenario)


def test_where_simple_clipping_is_optimal_and_the_point_are_marked_and_inside() -> None:
    for name in ("n-epsilon", "d-epsilon", "n-p"):
        slug = method_card("sco.clipped").rate
        terms = regimes(BASE, plane(name, BASE), (slug,))
        figure = terms_figure(terms, BASE, Look())
        lines = [t for t in figure.data if t.name == "ε = 1/√d"]
        assert len(lines) == (name != "n-p")
        for line in lines:
            d = 10 ** np.array(line.x) if name == "d-epsilon" else BASE.d
            assert 10 ** np.array(line.y) == pytest.approx(1 / np.sqrt(d) * np.ones(len(line.y)))
        (mark,) = [t for t in figure.data if t.name == "chosen point"]
        x, y = (getattr(BASE, axis) for axis in name.split("-"))
        assert (10 ** mark.x[0], 10 ** mark.y[0]) == pytest.approx((x, y))
        low, high = figure.layout.yaxis.range
        assert low < mark.y[0] < high and mark.cliponaxis is False  # whole at p = 2 too
        assert x in terms.plane.x and y in terms.plane.y


def test_titles_say_who_wins_at_the_point_and_in_how_much_of_the_map() -> None:
    expected = found()
    best = expected.smallest[nearest_cell(expected.plane, BASE)]
    name = method_card(expected.methods[best]).name
    title = winner_title(expected, BASE, "rates")
    assert title.startswith(f"{name}: smallest rate that holds at n = 10,000, ε = 1")
    assert f"{100 * (expected.smallest == best).mean():.0f} % of the map" in title
    tied = replace(expected, ties=np.ones_like(expected.ties))
    assert "is tied for the smallest measured error" in winner_title(tied, BASE, "measured")
    pure = replace(BASE, delta=0.0)
    assert winner_title(found(pure), pure, "rates").startswith("No theorem of the methods holds")


def test_the_page_opens_on_what_is_measured_and_ends_with_the_point_in_the_title() -> None:
    """Rates, whose constants are all 1, may name another winner than the runs do."""
    page = open_at(
        "who_wins", problem="mean", methods="mean.clipped,mean.cwme-cdp", d="2", n="1000"
    )
    left, _ = specs(page)
    packed = left["data"][0]["z"]
    z = np.frombuffer(b64decode(packed["bdata"]), packed["dtype"])
    assert len(z) % SIZES["measured"][1] == 0 and np.isfinite(z).all()
    assert "reading" not in page.query_params
    assert "Hatched: a tie" in texts(page)
    title = left["layout"]["title"]["text"].replace("<br>", "")
    assert "smallest measured error at n = 1,000" in title


# In every run; the other problems in `make test-slow`.
FEW = ("mean", "linear", "logistic")


@pytest.mark.parametrize(
    "problem", [p if p in FEW else pytest.param(p, marks=pytest.mark.slow) for p in PROBLEM_SLUGS]
)
def test_every_problem_has_its_maps(problem: str) -> None:
    page = open_regimes(
        problem=problem, methods=",".join(methods_for(problem, "item")), plane="d-epsilon"
    )
    left, right = specs(page)
    for figure in (left, right):
        assert figure["layout"]["xaxis"]["title"]["text"].startswith("Dimension d")
        assert figure["data"][0]["type"] == "heatmap"
    assert any("√" in text for text in annotations(right))
    assert "constant set to 1" in texts(page)


def test_the_plane_and_the_bound_of_the_terms_are_in_the_address() -> None:
    query = {
        "problem": "mean",
        "methods": "mean.clipped,mean.cwme-cdp",
        "plane": "n-p",
        "terms": "upper.mean.cwme-cdp",
        "d": "5",
    }
    page = open_regimes(**query)
    written = dict(page.query_params.items())
    del query["problem"]  # the one that the address may leave out
    assert query.items() <= written.items()
    assert "Tail index p" in specs(page)[0]["layout"]["yaxis"]["title"]["text"]
    page.get_by_key(STATE.key("plane")).set_value("d-epsilon")
    page.run()
    assert page.query_params["plane"] == "d-epsilon"
    again = open_regimes(**({"problem": "mean"} | written))
    assert dict(again.query_params.items()) == written


@pytest.mark.parametrize("query", [{"plane": "n-n"}, {"terms": "foo"}, {"d": "x"}])
def test_a_bad_address_costs_one_sentence(query: dict[str, str]) -> None:
    page = open_regimes(**query)
    assert len(page.warning) == 1 and len(specs(page)) == 2


def test_a_budget_without_epsilon_has_one_plane_only() -> None:
    zcdp = replace(BASE, epsilon=None, delta=None, rho=0.5)
    assert planes_for(zcdp) == ("n-p",) and planes_for(BASE) == tuple(PLANES)
    page = open_regimes(rho="0.5")
    assert len(specs(page)) == 2 and page.query_params["plane"] == "n-p"


def test_no_private_method_is_said() -> None:
    page = open_regimes(methods="sco.erm")
    assert "choose another one" in page.info[0].value and not page.get("plotly_chart")


def test_the_point_opens_in_explore_with_a_sweep_where_that_is_allowed() -> None:
    query = explore_query(BASE, "n")
    swept = Scenario.from_query(query, visit.BASE)
    assert (swept.problem, swept.axis, swept.methods) == (BASE.problem, "n", BASE.methods)
    large = replace(BASE, n=500_000, d=4)
    assert Scenario.from_query(explore_query(large, "d"), visit.BASE).axis is None
    with pytest.raises(InvalidInput):
        explore_query(replace(BASE, n=1_000_000, d=1000), "n")
    page = open_page(**(query | {"trials": "1", "grid": "500,1000"}))
    assert result(page).scenario.problem == BASE.problem and not page.warning
    assert set(BASE.methods) <= set(METHOD_SLUGS)
