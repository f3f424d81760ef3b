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

from dpsco_app.pages.geometry.charts import cloud_figure, reach_figure, set_figure, space_figure
from dpsco_app.pages.geometry.measures import (
    NOISE_COLOURS,
    SET_COLOURS,
    growth_figure,
    noise_table,
    running_figure,
    sweep_figure,
    width_frame,
)
from dpsco_app.pages.geometry.state import DEFAULT, SCENES, STATE, View, on_this_set
from dpsco_app.pages.geometry.words import (
    NOISE_NAMES,
    SETS,
    clouds_sentence,
    plane_note,
    projection_sentence,
    projection_title,
    set_name,
    sweep_title,
    width_title,
)
from dpsco_app.parts.look import Look
from dpsco_app.shell import visit
from dpsco_core.explain.geometry import (
    COMPARED,
    KINDS,
    NOISES,
    Shape,
    cloud,
    contour,
    curve,
    dual_square,
    few_directions,
    mesh,
    nearest,
    outline,
    plane_or_space_width,
    running_mean,
    sweep,
    width_table,
)
from dpsco_core.geometry import Width
from dpsco_core.geometry.geometries import GEOMETRIES
from tests.app.pages import checked, press, texts
from tests.app.places.test_one_run import named, open_at, values

NAMES = {kind: SETS[kind].name for kind in COMPARED}
FIGURES = ("set", "reach", "running", "growth", "cloud_0", "cloud_1", "sweep")


def open_geometry(**query: str) -> AppTest:
    return open_at("geometry", **query)


def specs(page: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]


def hand(page: AppTest) -> dict[str, Any]:
    """Return what the browser moves the point with."""
    [found] = [c for c in page.get("bidi_component") if "dpsco_touch_point" in str(c.proto)]
    return dict(json.loads(found.proto.json))


def set_field(page: AppTest, name: str, value: object) -> AppTest:
    page.session_state[STATE.key(name)] = value
    return checked(page.run())


@pytest.mark.parametrize("dimensions", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_set_is_drawn_and_said_in_the_plane_and_in_space(kind: str, dimensions: int) -> None:
    page = open_geometry(geometry=kind, dimensions=str(dimensions))
    assert not page.warning
    drawn = specs(page)
    assert len(drawn) == (7 if dimensions == 2 else 8)  # in space, the polar stands beside
    solid = [s for s in drawn if any(t["type"] == "mesh3d" for t in s["data"])]
    assert len(solid) == (0 if dimensions == 2 else 3)
    text = texts(page)
    view = View(geometry=kind, dimensions=dimensions)
    title = projection_title(nearest(view.shape, view.point))
    alternatives = [chart.proto.alt for chart in page.get("plotly_chart")]
    assert title in alternatives and all(len(alt) > 20 for alt in alternatives)
    assert SETS[kind].what in text and "Look for:" in text
    assert ("cut off" in text) == ("simplex" in kind)


def test_the_plane_picture_holds_the_boundary_the_point_and_its_projection() -> None:
    shape = Shape(kind="l1")
    figure = json.loads(set_figure(shape, nearest(shape, (1.4, 0.2)), Look()).to_json())
    assert values(named(figure, "the set")) == pytest.approx(curve(shape)[:, 1])
    box = values(named(figure, "its polar set"))
    assert max(box) == 1 and min(box) == -1
    assert values(named(figure, "residual x − P(x)")) == pytest.approx([0.2, 0.0])
    assert values(named(figure, "dual point y")) == pytest.approx([0.5])
    assert values(named(figure, "farthest point")) == pytest.approx([0.0])
    assert values(named(figure, "reach in the direction of x")) == pytest.approx([0, 0.14])
    inside = json.loads(set_figure(shape, nearest(shape, (0.1, 0.1)), Look()).to_json())
    for name in ("residual x − P(x)", "supporting line at P(x)", "dual point y"):
        assert values(named(inside, name)) == []
    assert values(named(inside, "point x")) == [0.1]
    assert sorted(values(named(inside, "farthest edge"))) == [0, 1]


def test_what_the_hand_moves_is_what_depends_on_the_point() -> None:
    def drawn(x: tuple[float, float]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        shape = Shape(kind="capped")
        figure = json.loads(set_figure(shape, nearest(shape, x), Look()).to_json())
        return {t["name"]: t for t in figure["data"]}, figure["layout"]["annotations"]

    (before, names), (after, moved) = drawn((1.4, 0.2)), drawn((-0.3, 1.3))
    for name, trace in before.items():
        same = (trace["x"], trace["y"]) == (after[name]["x"], after[name]["y"])
        assert same == ("meta" not in trace), name
    roles = {trace.get("meta") for trace in before.values()}
    for one, other in zip(names, moved, strict=True):
        same = (one["x"], one["y"]) == (other["x"], other["y"])
        assert same == ("name" not in one) and one.get("name") in roles


def test_the_picture_in_space_holds_the_mesh_and_is_seen_from_where_one_turns_it() -> None:
    shape = Shape(kind="group-l1", d=3)
    found = nearest(shape, (0.3, 0.2, 1.6))
    figure = space_figure(shape, found, 90, Look())
    solid = next(t for t in figure.data if t.type == "mesh3d")
    assert np.asarray(solid.x) == pytest.approx(mesh(shape).points[:, 0])
    assert len(solid.i) == len(mesh(shape).faces)
    eye = figure.layout.scene.camera.eye
    assert eye.x == pytest.approx(0) and eye.y > 1
    other = space_figure(shape, found, 0, Look())
    assert other.layout.uirevision != figure.layout.uirevision
    assert figure.layout.scene.dragmode == "turntable"
    assert space_figure(shape, found, 0, Look(compact=True)).layout.scene.dragmode is False


def test_supporting_lines_stand_on_their_directions() -> None:
    shape = Shape(kind="linf")
    found = few_directions(shape, 1)
    figure = reach_figure(shape, found, Look())
    lines = [t for t in figure.data if t.name == "supporting lines"]
    assert len(lines) == len(found.heights) and sum(t.showlegend for t in lines) == 1
    for line, xi, height in zip(lines, found.directions, found.heights, strict=True):
        ends = np.stack([line.x, line.y], axis=1)
        assert ends @ xi == pytest.approx([height, height])
    needles = reach_figure(Shape(kind="l2", d=3), few_directions(Shape(d=3), 1), Look())
    assert [t.name for t in needles.data].count("as far as the set reaches") == 6


def test_the_running_mean_is_drawn_against_the_width_or_its_bounds() -> None:
    for shape, name in (
        (Shape(kind="l1"), "the width, exact"),
        (Shape(kind="sparse", d=3), "proven bounds of the width"),
    ):
        running, width = running_mean(shape, 100, 0), plane_or_space_width(shape)
        figure = json.loads(running_figure(running, width, Look()).to_json())
        assert values(named(figure, "mean of the draws so far")) == pytest.approx(running.means)
        levels = [values(t)[0] for t in figure["data"] if t["name"] == name]
        assert sorted(levels) == pytest.approx(sorted({width.lower, width.upper}))


def test_the_widths_are_drawn_with_the_chosen_set_thick() -> None:
    rows = width_table(1.5)
    assert set(SET_COLOURS) == set(COMPARED)
    figure = json.loads(growth_figure(rows, NAMES, "linf", Look()).to_json())
    for kind in COMPARED:
        line = named(figure, NAMES[kind])
        expected = [row.width.value for row in rows if row.kind == kind]
        assert values(line) == pytest.approx(expected)
        assert (line["line"]["width"] > 4) == (kind == "linf")
    assert values(named(figure, "√d, a guide"))[-1] == pytest.approx(math.sqrt(1000))
    bands = [t for t in figure["data"] if t.get("fill") == "toself"]
    assert len(bands) == len({row.kind for row in rows if not row.width.exact})


def test_the_sweep_holds_what_is_measured_and_what_is_proven() -> None:
    assert set(NOISE_NAMES) == set(NOISE_COLOURS) == set(NOISES)
    rows = sweep(10, 0)
    figure = json.loads(sweep_figure(rows, 1.25, Look()).to_json())
    for noise, name in NOISE_NAMES.items():
        mine = [row for row in rows if row.noise == noise]
        assert values(named(figure, f"{name}: measured")) == pytest.approx([r.mean for r in mine])
        assert values(named(figure, f"{name}: proven bound")) == pytest.approx(
            [r.bound for r in mine]
        )


def test_a_cloud_is_drawn_with_both_contours() -> None:
    found = cloud(2, 1.25, "gaussian", 50, 0)
    curves = [("own", contour(found), NOISE_COLOURS["gaussian"])]
    figure = json.loads(
        cloud_figure(found.draws, curves, NOISE_COLOURS["gaussian"], 4.0, Look()).to_json()
    )
    assert values(named(figure, "one draw of the noise")) == pytest.approx(found.draws[:, 1])
    assert len(values(named(figure, "own"))) == len(contour(found))


# -- the page -----------------------------------------------------------------------------------


def test_a_link_restores_the_whole_page() -> None:
    query = {
        "geometry": "lq",
        "q": "inf",
        "dimensions": "3",
        "x1": "-0.5",
        "turn": "120",
        "draws": "50",
        "seed": "3",
        "noise_q": "1.1",
        "noise_d": "10",
        "noise_seed": "4",
        "half_axis": "0.4",
        "hull": "2",
    }
    page = open_geometry(**query)
    assert dict(page.query_params.items()) == query and not page.warning
    again = open_geometry(**query)
    assert texts(again) == texts(page)
    assert set(query) | {"x2", "x3"} == set(View.__dataclass_fields__)


def test_values_between_the_options_are_kept() -> None:
    page = open_geometry(geometry="lq", q="1.33", draws="77", noise_q="1.234", noise_d="33")
    assert page.query_params["q"] == "1.33" and not page.warning
    assert "ℓ_q ball, q = 1.33" in texts(page)
    assert "After 77 draws" in " ".join(c.proto.alt for c in page.get("plotly_chart"))
    assert "At q = 1.234 in 33 dimensions" in page.get("plotly_chart")[-1].proto.alt


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"geometry": "l3"}, "geometry must be one of l2, l1"),
        ({"q": "0.5"}, "q must be between 1 and 100, or inf, got q=0.5."),
        ({"q": "nan"}, "q must be between 1 and 100, or inf"),
        ({"q": "-inf"}, "q must be between 1 and 100, or inf"),
        ({"dimensions": "4"}, "dimensions must be 2 or 3, got dimensions=4."),
        ({"dimensions": "two"}, "dimensions must be an integer"),
        ({"x1": "5"}, "x1 must be at least -2 and at most 2"),
        ({"draws": "1e9"}, "draws must be at least 10 and at most 5000"),
        ({"draws": "10.5"}, "draws must be an integer"),
        ({"noise_q": "1"}, "noise_q must be at least 1.01 and at most 2"),
        ({"noise_d": "0"}, "noise_d must be at least 2 and at most 1000"),
        ({"seed": "-1"}, "seed must be at least 0"),
        ({"half_axis": "0"}, "half_axis must be at least 0.3"),
    ],
)
def test_a_bad_value_costs_one_sentence_and_leaves_the_others(
    query: dict[str, str], words: str
) -> None:
    view, problems = STATE.from_query(query | {"turn": "50"})
    assert len(problems) == 1 and words in problems[0]
    assert view.turn == 50 and STATE.to_query(view) == {"turn": "50"}


def test_the_page_says_what_is_wrong_in_its_address() -> None:
    page = open_geometry(geometry="l3", seed="2")
    assert "geometry must be one of" in page.warning[0].value and len(page.warning) == 1
    assert len(specs(page)) == 7 and dict(page.query_params.items()) == {"seed": "2"}


def test_controls_move_the_figures_and_the_address() -> None:
    page = open_geometry(geometry="l1")
    assert "(1.40, 0.20) goes to **P(x) = (1.00, 0.00)**" in hand(page)["said"]
    page = set_field(page, "x2", 1.4)
    assert "(1.40, 1.40) goes to **P(x) = (0.50, 0.50)**" in hand(page)["said"]
    assert hand(page)["at"] == [1.4, 1.4] and hand(page)["set"] == outline(Shape(kind="l1"))
    assert page.query_params["x2"] == "1.4"
    page = set_field(page, "geometry", "linf")
    assert "goes to **P(x) = (1.00, 1.00)**" in hand(page)["said"]
    page = set_field(page, "dimensions", 3)
    assert "(1.40, 1.40, 0.60) goes to **P(x) = (1.00, 1.00, 0.60)**" in hand(page)["said"]
    assert hand(page)["set"] is None  # the hand moves it in the plane alone
    page = set_field(page, "noise_q", 2)
    assert "the two are the same noise" in texts(page)


def test_what_a_hidden_control_holds_is_kept() -> None:
    page = set_field(open_geometry(geometry="lq", q="3"), "geometry", "l2")
    assert not any(s.label == "Exponent q of the norm" for s in page.select_slider)
    assert "ℓ_q ball, q = 3" in texts(set_field(page, "geometry", "lq"))


def test_draw_again_takes_another_seed() -> None:
    page = open_geometry()
    first, second = [b for b in page.button if b.label == "Draw again"]
    checked(first.click().run())
    assert page.query_params["seed"] == "1" and "noise_seed" not in page.query_params
    checked(second.click().run())
    assert page.query_params["noise_seed"] == "1"


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_scene_shows_what_it_promises(scene: Any) -> None:
    page = press(open_geometry(), scene.name)
    view = View(**{f: page.session_state[STATE.key(f)] for f in View.__dataclass_fields__})
    assert set(scene.changes.items()) <= set(vars(view).items())
    found = nearest(view.shape, view.point)
    promised = {"Corners make zeros": 1, "Groups vanish together": 2}
    assert found.zeros >= promised.get(scene.name, 0)
    assert scene.name in promised or found.zeros == 0
    if scene.name == "The cube clips":
        assert found.nearest == pytest.approx([1, 0.2, 1])


def test_the_visits_scenario_takes_the_set_where_a_scenario_knows_it() -> None:
    for kind in KINDS:
        scenario = on_this_set(View(geometry=kind, q=1.25), visit.BASE)
        assert (scenario is not None) == (kind in GEOMETRIES)
        if scenario is not None:
            assert (scenario.geometry, scenario.q) == (kind, 1.25 if kind == "lq" else None)
            kept = {"geometry": "l2", "q": None, "d": visit.BASE.d}
            assert replace(scenario, **kept) == visit.BASE


def test_the_page_opens_on_the_visits_set_and_says_what_it_changes() -> None:
    page = open_geometry()
    page.session_state[visit.MINE] = replace(visit.BASE, geometry="lq", q=1.5)
    checked(page.run())
    assert "**Here:**" not in texts(page)
    assert page.query_params["geometry"] == "lq"
    press(page, "Corners make zeros")
    assert "**Here:** ℓ₁ ball (yours: ℓ_q ball, q = 1.5)." in texts(page)
    press(page, "Back to mine")
    assert page.query_params["geometry"] == "lq" and "**Here:**" not in texts(page)
    press(page, "The cube clips")
    press(page, "Use it everywhere")
    assert page.session_state[visit.MINE].geometry == "linf"
    assert "**Here:**" not in texts(page)


def test_a_unit_set_fills_its_picture_and_has_its_name_beside_it() -> None:
    shape = Shape(kind="l2")
    figure = set_figure(shape, nearest(shape, (1.4, 0.2)), Look())
    assert figure.layout.xaxis.range[1] <= 1.6 and figure.layout.xaxis.constrain == "domain"
    names = [a.text for a in figure.layout.annotations if a.visible]
    shown = ("x", "the set", "its polar set", "farthest", "y", "P(x)")
    assert names == [f"<b>{n}</b>" for n in shown]
    assert figure.layout.showlegend is False


# -- words and files ----------------------------------------------------------------------------


def test_words_follow_the_numbers() -> None:
    assert set(SETS) == set(KINDS)
    assert set_name(View(geometry="lq", q=math.inf)) == "ℓ_q ball, q = ∞"
    assert "look in space" in plane_note(View(geometry="group-l1"))
    assert plane_note(View(geometry="group-l1", dimensions=3)) == ""
    shape = Shape(kind="l1")
    assert projection_title(nearest(shape, (0.0, 0.0))).startswith("The point lies in the set")
    assert "a whole edge" in projection_sentence(nearest(shape, (0.3, -0.3)))
    flat = projection_sentence(nearest(Shape(kind="simplex"), (0.3, -2.0)))
    assert flat.endswith("the largest ⟨x, w⟩ in the set is **0.3**.")
    assert "P(x) = (0.80, 0.21)" in projection_sentence(nearest(shape, (1.18, 0.59)))
    nowhere = projection_sentence(nearest(shape, (0.0, 0.0)))
    assert nowhere == "x = (0.00, 0.00) lies in the set and stays where it is."
    assert projection_title(nearest(shape, (1.4, 0.2))).endswith("1 of 2 coordinates exactly 0")
    running = running_mean(shape, 100, 0)
    assert f"the mean is {running.sample.mean:.3f}" in width_title(running, Width.known(1.0))
    assert "between 1 and 2" in width_title(running, Width.between(1.0, 2.0))
    gg, gaussian = (dual_square(2, 1.25, noise, 0) for noise in NOISES)
    shown = cloud(2, 1.25, "generalized gaussian", 2, 0)
    said = clouds_sentence(shown, gg, gaussian)
    assert f"**{gg.exact / gaussian.exact:.2g} times**" in said and "2 ln d + 1 = 2.39" in said
    rows = (*sweep(100, 0), dual_square(100, 1.25, "gaussian", 0))
    assert sweep_title(rows, 2.0, 100).endswith("the same: 1 unit")


def test_files_parse_to_what_is_shown() -> None:
    rows = width_table(1.5)
    read = pd.read_csv(io.StringIO(width_frame(rows, NAMES).to_csv(index=False)))
    assert len(read) == len(rows)
    assert list(read["At most"]) == pytest.approx([row.width.upper for row in rows])
    noise = noise_table(sweep(3, 0))
    assert (noise["Proven bound"] + 1e-9 >= noise["Exact"]).all()


def test_every_figure_offers_its_page_and_its_numbers() -> None:
    page = open_geometry()
    labels = [b.label for b in page.get("download_button")]
    charts = len(page.get("plotly_chart"))
    assert labels.count("HTML") == labels.count("CSV") == charts == 7
    assert len(page.dataframe) == charts + 1  # and the short one under the clouds


def test_defaults_need_no_address() -> None:
    assert STATE.to_query(DEFAULT) == {} and STATE.from_query({}) == (DEFAULT, [])
    assert dict(open_geometry().query_params.items()) == {}
