"""Geometry: its figures hold the numbers of the core, its address restores it, its words fit."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.figure.render import plotly
from dpsco_app.figure.theme import COMPACT, Theme
from dpsco_app.figure.values import Figure, Line
from dpsco_app.front.links import BASE
from dpsco_app.pages.geometry.figures import (
    NOISE_COLOURS,
    growth_figure,
    noise_table,
    set_figure,
    sweep_figure,
    width_table_frame,
)
from dpsco_app.pages.geometry.state import PARTS, STATE, UNUSED_FIELDS, View, shape_of
from dpsco_app.pages.geometry.words import (
    NOISE_NAMES,
    QUESTIONS,
    SETS,
    noise_answer,
    point_sentence,
    sentences,
    set_answer,
)
from dpsco_app.parts import controls
from dpsco_app.parts.options import rounded
from dpsco_app.parts.problem_words import geometry_name
from dpsco_app.shell import visit
from dpsco_core.explain.geometry import (
    NOISES,
    Shape,
    curve,
    dual_square,
    nearest,
    outline,
    sweep,
    width_table,
)
from dpsco_core.fields import NAMES as FIELDS
from dpsco_core.geometry import GEOMETRIES
from tests.app.pages import check_page, drawn_html, headline_text, written_text
from tests.app.places.test_one_run import open_at
from tests.golden_sentences import GOLDEN

NAMES = {kind: geometry_name(kind) for kind in GEOMETRIES}


def open_geometry(**query: str) -> AppTest:
    """Return the page of geometries at a query."""
    return open_at("geometry", **query)


def address_of(kind: str) -> dict[str, str]:
    """Return the parameters of the address that chooses a kind of set; an lq ball gets q = 1.5."""
    return {"geometry": kind} | ({"q": "1.5"} if kind == "lq" else {})


def touch_component(page: AppTest) -> dict[str, Any]:
    """Return the data that the page sends to the component with which a point is moved."""
    [component] = [c for c in page.get("bidi_component") if "dpsco_touch_point" in str(c.proto)]
    return dict(json.loads(component.proto.json))


def set_field(page: AppTest, name: str, value: object) -> AppTest:
    """Set a field of the page's state, and run the page again."""
    page.session_state[STATE.key(name)] = value
    return check_page(page.run())


def lines(figure: Figure) -> dict[str, Line]:
    """Return the lines of a figure by their names; the figure may be drawn in any look."""
    for theme in (Theme(), Theme(dark=True, size=COMPACT)):
        assert plotly(figure, theme)["data"]
    return {line.name: line for line in figure.panels[0].lines}


def points(line: Line) -> list[tuple[float, float]]:
    """Return the points of a line as pairs."""
    return list(zip(line.x, line.y, strict=True))


@pytest.mark.parametrize("kind", GEOMETRIES)
def test_every_set_has_a_figure_and_a_sentence(kind: str) -> None:
    page = open_geometry(**address_of(kind))
    assert not page.warning
    (chart,) = page.get("plotly_chart")
    assert headline_text(page) == chart.proto.alt == set_answer(Shape(kind=kind))
    assert SETS[kind].description in written_text(page) and QUESTIONS["set"] in drawn_html(page)


def test_a_set_does_what_its_sentence_says() -> None:
    """Corners and boxes give exact zeros and ones; round sets do not."""

    def projection(kind: str, x: tuple[float, float], q: float = 1.5) -> tuple[float, float]:
        """Return the projection of x on a set of a kind."""
        a, b = nearest(Shape(kind=kind, q=q), x).nearest
        return a, b

    x = (1.4, 0.2)
    assert projection("l1", x) == (1, 0) and projection("linf", x) == (1, 0.2)
    assert projection("l2", x) == pytest.approx(np.array(x) / math.hypot(*x))
    assert 0 < projection("lq", x)[1] < 0.2 and projection("simplex", x) == (1, 0)
    assert projection("solid-simplex", (-0.5, 0.4)) == (0, 0.4)
    assert projection("group-l1", x) == pytest.approx(projection("l2", x))
    assert projection("sparse", x) == pytest.approx(projection("l1", x))
    for q, same in ((1.0, "l1"), (2.0, "l2"), (math.inf, "linf")):
        assert set_answer(Shape(kind="lq", q=q)) == SETS[same].does


def test_the_picture_holds_the_boundary_the_point_and_its_projection() -> None:
    shape = Shape(kind="l1")
    outer = lines(set_figure(shape, nearest(shape, (1.4, 0.2)), ""))
    assert np.array(points(outer["the set"])) == pytest.approx(curve(shape))
    assert points(outer["residual"]) == [(1.4, 0.2), (1.0, 0.0)]
    assert points(outer["point"]) == [(1.4, 0.2)] and points(outer["nearest"]) == [(1, 0)]
    assert points(outer["farthest"]) == [(1, 0)]
    assert points(outer["reach"])[0] == (0, 0)
    assert points(outer["reach"])[1] == pytest.approx((0.98, 0.14))
    inner = lines(set_figure(shape, nearest(shape, (0.1, 0.1)), ""))
    assert points(inner["residual"]) == points(inner["touching"]) == []
    assert points(inner["point"]) == [(0.1, 0.1)]
    assert sorted(points(inner["farthest"])) == [(0, 1), (1, 0)]


def test_the_handle_moves_exactly_the_lines_that_depend_on_the_point() -> None:
    def draw_at(x: tuple[float, float]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the traces and the named notes of the figure of the point x."""
        shape = Shape(kind="l1")
        figure = plotly(set_figure(shape, nearest(shape, x), ""), Theme())
        notes = [note for note in figure["layout"]["annotations"] if "name" in note]
        return {t["meta"]: t for t in figure["data"]}, notes

    (old_traces, labels), (new_traces, new_labels) = draw_at((1.4, 0.2)), draw_at((-0.3, 1.3))
    for key, trace in old_traces.items():
        same = (trace["x"], trace["y"]) == (new_traces[key]["x"], new_traces[key]["y"])
        assert same == (key == "the set"), key
    for old_label, new_label in zip(labels, new_labels, strict=True):
        assert (old_label["x"], old_label["y"]) != (new_label["x"], new_label["y"]) and old_label[
            "name"
        ] in old_traces


def test_a_unit_has_the_same_length_on_both_axes() -> None:
    shape = Shape(kind="l1")
    layout = plotly(set_figure(shape, nearest(shape, (1.4, 0.2)), ""), Theme())["layout"]
    assert layout["yaxis"]["scaleanchor"] == "x" and layout["xaxis"]["constrain"] == "domain"
    assert layout["yaxis"]["type"] == layout["xaxis"]["type"] == "linear"
    assert layout["yaxis"]["range"] == [-1.6, 1.6]
    far_layout = plotly(set_figure(shape, nearest(shape, (-1.9, 0.2)), ""), Theme())["layout"]
    assert far_layout["yaxis"]["range"][1] > 1.9


def test_the_widths_are_drawn_with_the_chosen_set_in_colour() -> None:
    rows = width_table(1.5)
    figure = growth_figure(rows, NAMES, "linf", "")
    lines_by_name = lines(figure)
    for kind in GEOMETRIES:
        line = lines_by_name[NAMES[kind]]
        widths = [row.width for row in rows if row.kind == kind]
        assert line.y == pytest.approx([width.value for width in widths])
        assert line.low == pytest.approx([width.lower for width in widths])
        assert (line.width > 3) == (kind == "linf")
    assert lines_by_name["√d"].y[-1] == pytest.approx(math.sqrt(1000))
    ends = {row.name: row.end for row in figure.ladder.rows}
    assert ends[NAMES["linf"]] == pytest.approx(lines_by_name[NAMES["linf"]].y[-1])


def test_the_sweep_holds_what_is_measured_and_what_is_proven() -> None:
    assert set(NOISE_NAMES) == set(NOISE_COLOURS) == set(NOISES)
    rows = sweep(10, 0)
    q = sorted({row.q for row in rows})[1]
    figure = sweep_figure(rows, q, "")
    lines_by_name = lines(figure)
    values_at_q = {NOISE_NAMES[row.noise]: rounded(row.mean) for row in rows if row.q == q}
    assert {r.name: r.values[0] for r in figure.ladder.rows}.items() >= values_at_q.items()
    for noise, name in NOISE_NAMES.items():
        rows_of_noise = sorted((row for row in rows if row.noise == noise), key=lambda row: -row.q)
        assert lines_by_name[name].y == pytest.approx([r.mean for r in rows_of_noise])
        assert lines_by_name[name].x == pytest.approx([r.q for r in rows_of_noise])
        assert lines_by_name[f"{name}, bound"].y == pytest.approx([r.bound for r in rows_of_noise])
    assert lines_by_name[f"q = {q:g}"].x == [q, q]


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_the_page_asks_one_question_and_has_one_figure(part: str) -> None:
    page = open_geometry(part=part)
    charts = page.get("plotly_chart")
    assert len(charts) == 1 and QUESTIONS[part] in drawn_html(page)
    assert headline_text(page) == charts[0].proto.alt and len(headline_text(page)) > 20
    labels = [b.label for b in page.get("download_button")]
    assert labels.count("HTML") == labels.count("CSV") == len(charts) == len(page.dataframe)


def test_the_page_is_about_the_set_of_the_visits_scenario() -> None:
    page = open_geometry()
    assert headline_text(page) == SETS["l2"].does and dict(page.query_params.items()) == {}
    page.selectbox(key=controls.PREFIX + "geometry").set_value("linf")
    assert headline_text(check_page(page.run())) == SETS["linf"].does
    assert page.session_state[visit.SESSION].visit_scenario == replace(BASE, geometry="linf")
    assert page.query_params["geometry"] == "linf"


def test_the_sidebar_has_the_set_alone() -> None:
    """No other field of a scenario changes a set."""
    page = open_geometry(geometry="lq", q="3")
    assert [box.label for box in page.sidebar.selectbox] == ["Geometry"]
    assert [s.label for s in page.sidebar.select_slider] == ["Exponent q of the norm"]
    assert {*UNUSED_FIELDS, "geometry", "q"} == {*FIELDS}
    assert shape_of(replace(BASE, geometry="lq", q=1e9)).q == 100
    assert shape_of(replace(BASE, geometry="lq", q=math.inf)).q == math.inf


def test_a_link_restores_the_whole_page() -> None:
    query = {
        "part": "noise",
        "geometry": "lq",
        "q": "inf",
        "x1": "-0.5",
        "x2": "0.4",
        "seed": "3",
        "noise_q": "1.1",
        "noise_d": "10",
    }
    page = open_geometry(**query)
    assert dict(page.query_params.items()) == query and not page.warning
    reopened = open_geometry(**query)
    assert (written_text(reopened), drawn_html(reopened)) == (written_text(page), drawn_html(page))
    assert set(query) == {"geometry", "q", *View.__dataclass_fields__}


def test_a_value_of_the_address_between_the_sliders_options_is_kept() -> None:
    page = open_geometry(part="noise", noise_q="1.234", noise_d="33")
    assert page.query_params["noise_q"] == "1.234" and not page.warning
    assert headline_text(page).startswith("At q = 1.234 in 33 dimensions, no: shaped noise has ")
    page = open_geometry(part="width", geometry="lq", q="1.33")
    assert "ℓq ball, q = 1.33" in headline_text(page)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"part": "space"}, "part must be one of set, width"),
        ({"x1": "5"}, "x1 must be at least -2 and at most 2"),
        ({"noise_q": "1"}, "noise_q must be at least 1.01 and at most 2"),
        ({"noise_d": "0"}, "noise_d must be at least 2 and at most 1000"),
        ({"seed": "-1"}, "seed must be at least 0"),
        ({"seed": "1.5"}, "seed must be an integer"),
    ],
)
def test_a_bad_value_costs_one_sentence_and_leaves_the_others(
    query: dict[str, str], words: str
) -> None:
    view, problems = STATE.from_query(query | {"x2": "0.5"})
    assert len(problems) == 1 and words in problems[0]
    assert view.x2 == 0.5 and STATE.to_query(view) == {"x2": "0.5"}


def test_the_page_says_what_is_wrong_in_its_address() -> None:
    page = open_geometry(geometry="l3", seed="2")
    assert "geometry must be one of" in page.warning[0].value and len(page.warning) == 1
    assert dict(page.query_params.items()) == {"seed": "2"}


def test_a_control_changes_the_figure_and_the_address() -> None:
    page = open_geometry(geometry="l1")
    assert "(1.40, 0.20) goes to **P(x) = (1.00, 0.00)**" in touch_component(page)["said"]
    page = set_field(page, "x2", 1.4)
    assert "(1.40, 1.40) goes to **P(x) = (0.50, 0.50)**" in touch_component(page)["said"]
    assert touch_component(page)["at"] == [1.4, 1.4] and touch_component(page)["set"] == outline(
        Shape(kind="l1")
    )
    assert page.query_params["x2"] == "1.4"
    page.selectbox(key=controls.PREFIX + "geometry").set_value("linf")
    page = check_page(page.run())
    assert "goes to **P(x) = (1.00, 1.00)**" in touch_component(page)["said"]
    page = set_field(set_field(page, "part", "noise"), "noise_q", 2)
    assert headline_text(page).endswith("the two are the same noise")


def test_the_sentences_have_the_numbers_of_the_figure() -> None:
    parts = sentences(symmetric=True)
    assert (
        point_sentence(nearest(Shape(kind="l1"), (1.4, 0.2)), parts)
        == (GOLDEN["a projection and its farthest point"])
    )
    edge = point_sentence(nearest(Shape(kind="linf"), (0.5, 0.0)), parts)
    assert "stays where it is" in edge and "a whole edge" in edge
    flat = sentences(symmetric=False)
    assert "norm" not in point_sentence(nearest(Shape(kind="simplex"), (1.4, 0.2)), flat)
    assert point_sentence(nearest(Shape(kind="l2"), (0.0, 0.0)), parts).count("\n") == 0
    gg, gaussian = (dual_square(100, 1.25, noise, 0) for noise in NOISES)
    sentence = noise_answer(gg, gaussian, 100)
    assert f"{gg.mean / gaussian.mean:.2g} times" in sentence


def test_the_exported_files_hold_the_numbers_of_the_figure() -> None:
    rows = width_table(1.5)
    read = pd.read_csv(io.StringIO(width_table_frame(rows).to_csv(index=False)))
    assert len(read) == len(rows)
    assert list(read["At most"]) == pytest.approx([row.width.upper for row in rows])
    noise = noise_table(sweep(3, 0))
    assert (noise["Proven bound"] + 1e-9 >= noise["Exact"]).all()
