"""Regimes: its maps hold the values of the core, and lead to Explore."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.pages.who_wins.charts import holding, smallest_figure, terms_figure
from dpsco_app.pages.who_wins.state import PLANES, STATE, explore_query, plane, planes_for
from dpsco_app.pages.who_wins.words import cell, smallest_title, terms_title
from dpsco_app.parts.look import Look
from dpsco_app.parts.shown_bounds import rates
from dpsco_app.shell import visit
from dpsco_app.shell.old_addresses import BASES
from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import METHOD_SLUGS, PROBLEM_SLUGS, method_card, methods_for
from dpsco_core.explain.regimes import Regimes, regimes
from dpsco_core.scenario import Scenario
from tests.app.pages import annotations, open_page, result, texts
from tests.app.places.test_one_run import open_at

BASE = BASES["regimes"]


def open_regimes(**query: str) -> AppTest:
    return open_at("who_wins", **query)


def specs(page: AppTest) -> list[dict[str, Any]]:
    """Return the two maps for wide windows."""
    return [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]


def found(scenario: Scenario = BASE, name: str = "n-epsilon") -> Regimes:
    return regimes(scenario, plane(name), rates(scenario))


def said(points: Any, index: int) -> str:
    """Return what a point's hover says."""
    data = points.customdata[index]
    text = re.sub(r"%\{customdata\[(\d+)\]\}", lambda m: data[int(m[1])], points.hovertemplate)
    return str(text).removesuffix("<extra></extra>")


@pytest.mark.parametrize("name", PLANES)
def test_the_left_map_holds_the_smallest_rates_of_the_core(name: str) -> None:
    expected = found(BASE, name)
    figure = smallest_figure(expected, BASE, Look())
    drawn = np.where(np.isnan(np.array(figure.data[0].z, dtype=float)), -1, figure.data[0].z)
    assert (drawn == expected.smallest).all()
    (points,) = [t for t in figure.data if t.name == "values"]
    assert drawn.size == len(points.customdata)
    row, column = 3, 5
    text = said(points, row * drawn.shape[1] + column)
    for k, which in enumerate(expected.bounds):
        line = f"{method_card(which.card.method).name}: {expected.values[k, row, column]:.2g}"
        assert line in text
    x, y = points.customdata[row * drawn.shape[1] + column][:2]
    assert (x, y) == (expected.plane.x[column], expected.plane.y[row])


def test_every_region_has_its_name_inside_it() -> None:
    expected = found()
    figure = smallest_figure(expected, BASE, Look())
    for annotation in figure.layout.annotations:
        name = annotation.text.replace("<br>", "").replace("<b>", "").replace("</b>", "")
        if "√" in name:
            continue
        column = int(np.abs(np.log10(expected.plane.x) - annotation.x).argmin())
        row = int(np.abs(np.log10(expected.plane.y) - annotation.y).argmin())
        best = expected.bounds[expected.smallest[row, column]]
        assert method_card(best.card.method).name == name


def test_the_right_map_holds_the_largest_term_of_its_bound() -> None:
    scenario = Scenario(methods=("mean.clipped",), p=2.0)
    expected = found(scenario, "d-epsilon")
    figure = terms_figure(expected, scenario, Look(dark=True))
    assert (np.array(figure.data[0].z) == expected.dominant).all()
    names = {a.text.strip("</b>").replace("<br>", "") for a in figure.layout.annotations}
    assert {"privacy", "sampling tail"} <= names
    (points,) = [t for t in figure.data if t.name == "values"]
    assert "largest term: " in said(points, 0)
    row, column = cell(expected, scenario)
    assert expected.terms[expected.dominant[row, column]] in terms_title(expected, scenario)


def test_the_boundary_of_simple_clipping_and_the_point_are_marked() -> None:
    for name in ("n-epsilon", "d-epsilon"):
        figure = smallest_figure(found(BASE, name), BASE, Look())
        (line,) = [t for t in figure.data if t.name == "ε = 1/√d"]
        d = 10 ** np.array(line.x) if name == "d-epsilon" else BASE.d
        assert 10 ** np.array(line.y) == pytest.approx(1 / np.sqrt(d) * np.ones(len(line.y)))
        (mark,) = [t for t in figure.data if t.name == "chosen point"]
        x = BASE.n if name == "n-epsilon" else BASE.d
        assert (10 ** mark.x[0], 10 ** mark.y[0]) == pytest.approx((x, BASE.epsilon))
    without = replace(BASE, methods=("sco.cwme",))
    names = [t.name for t in smallest_figure(found(without), without, Look()).data]
    assert "ε = 1/√d" not in names


def test_cells_are_faded_where_a_condition_fails() -> None:
    expected = found()
    fade = smallest_figure(expected, BASE, Look()).data[1]
    assert (np.isnan(np.array(fade.z, dtype=float)) == holding(expected)).all()
    assert 0 < holding(expected).mean() < 1
    assert "Pale: a condition" in texts(open_regimes())


def test_titles_say_who_wins_at_the_point_and_in_how_much_of_the_map() -> None:
    expected = found()
    row, column = cell(expected, BASE)
    best = expected.smallest[row, column]
    name = method_card(expected.bounds[best].card.method).name
    share = 100 * (expected.smallest == best).mean()
    title = smallest_title(expected, BASE)
    assert title.startswith(f"{name}: smallest rate at n = 10,000, ε = 1")
    assert f"{share:.0f} % of the map" in title
    pure = replace(BASE, delta=0.0)
    assert smallest_title(found(pure), pure).startswith("No rate of the chosen methods applies")


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
    assert any("√" in text for text in annotations(left))
    assert "constants set to 1" in texts(page)


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
