"""Users: its figures hold the numbers of the core, its address restores it, its words fit."""

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

from dpsco_app.pages.users.charts import (
    crossing_figure,
    frontier_figure,
    frontier_table,
    gradients_figure,
    gradients_table,
    law_figure,
    law_table,
)
from dpsco_app.pages.users.state import (
    DEFAULT,
    OTHERS,
    PARTS,
    PROBLEM,
    SCENES,
    STATE,
    View,
    fill,
    fit,
)
from dpsco_app.pages.users.words import (
    NEED_NAMES,
    ROW_COLOURS,
    ROW_NAMES,
    crossing_sentence,
    crossing_title,
    frontier_sentence,
)
from dpsco_app.pages.who_wins.charts import LEAST_SHARE, winners_figure
from dpsco_app.pages.who_wins.words import rest_sentence, winner_title
from dpsco_app.parts import controls
from dpsco_app.parts.look import Look
from dpsco_app.shell import visit
from dpsco_core.bounds.user.complexity import COMPARISON
from dpsco_core.catalogue import method_card, problem_card
from dpsco_core.explain.contest import READINGS, TRIALS, measured_contest
from dpsco_core.explain.users.crossing import (
    FILTERED,
    PLAIN,
    Errors,
    command,
    crossing,
    crossing_scenario,
    errors_of,
    fitted_slope,
)
from dpsco_core.explain.users.frontier import EPSILONS, NEEDS, complexity_curves, frontier
from dpsco_core.explain.users.regions import (
    BOUNDED,
    MEASURED,
    MEASURED_ITEMS,
    MEASURED_PLANE,
    MEASURED_USERS,
    bounds_map,
)
from dpsco_core.runs.study import study
from tests.app.pages import checked, press, texts
from tests.app.places.test_one_run import named, open_at, values

QUICK = {"n": "2000", "d": "2", "trials": "2", "basis": "rates"}


def open_users(**query: str) -> AppTest:
    return open_at("users", **(QUICK | query))


def made(method: str, means: list[float]) -> Errors:
    items = 10.0 ** np.arange(len(means))
    return Errors(method=method, items=items, risks=np.array([[m, 1.2 * m] for m in means]) / 1.1)


FALLING, FLAT = made(FILTERED, [2, 0.2, 0.02, 0.002]), made(PLAIN, [0.05] * 4)


# -- figures ------------------------------------------------------------------------------------


def test_the_map_shows_the_smallest_and_marks_the_point() -> None:
    (found,) = bounds_map("rates", "smooth", 10, 1.0, 1e-6, 1.0)
    figure = winners_figure(found, DEFAULT, Look())
    cells = np.array(figure.data[0].z, dtype=float)
    assert np.array_equal(np.where(np.isnan(cells), -1, cells), found.smallest)
    (mark,) = [t for t in figure.data if t.name == "chosen point"]
    assert (mark.x[0], mark.y[0]) == (2, 4)
    assert figure.layout.yaxis.title.text.startswith("Users n")
    share = 100 * found.share(found.methods.index("user.group-privacy"))
    assert f"{share:.0f} %" in winner_title(found, DEFAULT, "rates")
    few = [k for k in range(len(found.methods)) if 0 < found.share(k) < LEAST_SHARE]
    assert few and all(method_card(found.methods[k]).name in rest_sentence(found) for k in few)


def test_a_map_of_which_nothing_is_known_says_so() -> None:
    found = measured_contest(MEASURED_PLANE, MEASURED, {})
    assert winner_title(found, DEFAULT, "measured").startswith("Measuring, from m = 100")
    winners_figure(found, DEFAULT, Look(compact=True))


def test_the_crossover_is_drawn_with_its_interval() -> None:
    found = crossing(FALLING, FLAT)
    assert found is not None
    figure = json.loads(crossing_figure([FALLING, FLAT], found, Look()).to_json())
    for curve in (FALLING, FLAT):
        line = named(figure, method_card(curve.method).name)
        assert values(line) == pytest.approx(curve.mean)
    shapes = figure["layout"]["shapes"]
    assert shapes[0]["x0"] == pytest.approx(found.items)
    assert (shapes[1]["x0"], shapes[1]["x1"]) == pytest.approx(found.interval)
    without = json.loads(crossing_figure([FLAT, FALLING], None, Look()).to_json())
    assert "shapes" not in without["layout"]
    assert f"{found.items:.2g}" in crossing_title(found)
    assert "stay above" in crossing_title(None)
    assert "does not fall below" in crossing_sentence(None, DEFAULT)


def test_the_law_is_drawn_as_distances_with_a_guide() -> None:
    slopes = {c.method: fitted_slope(c, 10.0) for c in (FALLING, FLAT)}
    figure = json.loads(law_figure([FALLING, FLAT], slopes, 10.0, Look()).to_json())
    line = named(figure, method_card(FILTERED).name)
    assert values(line) == pytest.approx(np.sqrt(2 * FALLING.mean))
    guide = values(named(figure, "1/√m, a guide"))
    assert len(guide) == 3  # from m = 10 on
    assert guide == pytest.approx(FALLING.distance[1:])  # made to fall as 1/sqrt(m)
    assert any("−0.50" in a["text"] for a in figure["layout"]["annotations"])


def test_the_frontier_holds_every_need() -> None:
    assert set(NEED_NAMES) == {need.slug for need in NEEDS}
    needs = frontier(DEFAULT.level)
    figure = json.loads(frontier_figure(needs, (1.0, 10_000), 1e4, Look()).to_json())
    for need in NEEDS:
        line = named(figure, NEED_NAMES[need.slug])
        assert values(line) == pytest.approx(needs[need.slug])
        assert values({"y": line["x"]}) == pytest.approx(EPSILONS)
    assert len(frontier_table(needs)) == len(EPSILONS)
    here = {need.slug: need.least(DEFAULT.level) for need in NEEDS}
    said = frontier_sentence(here, math.inf, 1e4, 1200, DEFAULT)
    assert "**no** n" in said and NEED_NAMES["step-calibrated"] in said
    assert "Theorem C.1" not in said
    few = frontier_sentence(here, 256_310, 1e4, 1200, View(n=500, epsilon=0.1))
    assert "256,310" in few


def test_the_gradients_hold_every_row_of_the_comparison() -> None:
    rows = {
        (row.slug, loss)
        for row in COMPARISON
        for loss, count in (("smooth", row.smooth), ("non-smooth", row.non_smooth))
        if count is not None
    }
    assert rows == set(ROW_NAMES)
    assert {slug for slug, _ in rows} == set(ROW_COLOURS)
    curves = complexity_curves(10, 1.0)
    figure = gradients_figure(curves, 10**6, Look())
    names = {trace.name for trace in figure.data}
    for curve in curves:
        finite = all(math.isfinite(g) for g in curve.gradients)
        assert (ROW_NAMES[curve.slug, curve.loss] in names) == finite
    bassily = [t for t in figure.data if t.name == ROW_NAMES["bassily-sun-2023", "smooth"]]
    assert np.isnan(np.array(bassily[1].y, dtype=float)).any()  # faint where it does not apply
    assert not np.isnan(np.array(bassily[0].y, dtype=float)).any()
    assert set(gradients_table(curves)["Method"]) == set(ROW_NAMES.values())


# -- the page -----------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS)
def test_each_part_answers_one_question_with_at_most_two_figures(part: str) -> None:
    page = open_users(part=part)
    assert not page.warning
    charts = page.get("plotly_chart")
    assert len(charts) == (2 if part == "crossing" else 1)
    assert all(len(chart.proto.alt) > 20 for chart in charts)
    assert texts(page).count("Look for:") == 1
    assert len(page.dataframe) == len(charts)


def test_the_page_opens_on_the_measured_crossover() -> None:
    page = open_users()
    charts = page.get("plotly_chart")
    assert charts[0].proto.alt.startswith(("From m", "Filtered gradients stay"))  # the answer
    text = texts(page)

    # The figure, the sentence and the command are those of the core's study.
    scenario = crossing_scenario(n=2000, d=2, trials=2)
    assert page.code[0].value == command(scenario) or command(scenario) in [
        c.value for c in page.code
    ]
    outcomes = list(study(scenario))
    curves = [errors_of(outcomes, m) for m in (FILTERED, PLAIN)]
    found = crossing(*curves)
    assert crossing_title(found) in [chart.proto.alt for chart in charts]
    assert crossing_sentence(found, View(n=2000, d=2, trials=2)) in text
    specs = [json.loads(chart.proto.spec) for chart in charts]
    drawn = next(s for s in specs if any("Clipped" in t.get("name", "") for t in s["data"]))
    assert values(named(drawn, method_card(PLAIN).name)) == pytest.approx(curves[1].mean)


def test_a_link_restores_the_whole_page() -> None:
    query = {
        "part": "map",
        "n": "1000",
        "m": "1000",
        "d": "2",
        "epsilon": "5",
        "delta": "1e-08",
        "condition": "0.1",
        "basis": "rates",
        "loss": "strong",
        "also": "user.phased-sgd",
        "trials": "2",
        "seed": "3",
    }
    assert set(query) == set(View.__dataclass_fields__)
    query |= {"problem": "quadratic", "methods": "sco.erm,user.accelerated"} | {"grid": "500,1000"}
    assert STATE.from_query(query)[1] == []
    page = open_at("users", **query)
    assert not page.warning and "Use it everywhere" not in [b.label for b in page.button]
    assert dict(page.query_params.items()) == query
    names = [chart.proto.spec for chart in open_users(also="user.phased-sgd").get("plotly_chart")]
    assert method_card("user.phased-sgd").name in json.dumps(names)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("condition", "inf"),
        ("basis", "luck"),
        ("loss", "kinked"),
        ("also", "sco.sgd"),
    ],
)
def test_what_an_address_may_not_say_is_said_and_left_out(name: str, text: str) -> None:
    view, problems = STATE.from_query({name: text})
    assert view == DEFAULT
    assert len(problems) == 1 and problems[0].startswith(name) and problems[0].endswith(".")


def test_a_wrong_address_is_said_on_the_page() -> None:
    page = open_users(loss="kinked")
    assert [w.value for w in page.warning] and "loss must be" in page.warning[0].value
    assert "loss" not in page.query_params


def test_values_between_the_options_are_kept() -> None:
    page = open_users(n="1234", epsilon="1.7", delta="3e-07")
    assert not page.warning
    assert page.query_params["n"] == "1234" and page.query_params["epsilon"] == "1.7"
    assert "At n = 1,234, d = 2, ε = 1.7" in texts(page)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_every_scene_is_allowed(scene: Any) -> None:
    there = fit(replace(visit.BASE, **scene.scenario))
    assert fill(View(**scene.changes), there).validate()
    changed = {name: getattr(there, name) for name in scene.scenario}
    assert changed == scene.scenario  # what a scene asks for is shown
    assert len(scene.look_for) > 40


def test_a_scene_changes_the_controls_and_the_address() -> None:
    page = press(open_users(d="10", n="5000"), "Few users")
    assert page.session_state[controls.PREFIX + "n"] == 2000
    assert page.query_params["n"] == "2000"
    assert "Theorem C.1 needs" in " ".join(c.proto.alt for c in page.get("plotly_chart"))


def test_a_slider_moves_the_figure() -> None:
    page = open_users(part="gradients")
    before = [c.proto.alt for c in page.get("plotly_chart")]
    page.select_slider(key=controls.PREFIX + "m").set_value(10_000)
    after = [c.proto.alt for c in checked(page.run()).get("plotly_chart")]
    assert page.query_params["m"] == "10000"
    assert len(before) == len(after) == 1 and before != after


@pytest.mark.slow
def test_the_measured_map_is_drawn_from_five_runs_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpsco_app.pages.users import sections as users_sections
    from dpsco_core.runs.study import Outcome

    asked = []

    def quick(cell: Any) -> Outcome:
        asked.append(cell)
        rank = BOUNDED.index(cell.method)
        error = 1 + rank + 0.01 * cell.trial  # the first is best everywhere, by far
        return Outcome(
            method=cell.method, x=cell.x, trial=cell.trial, error=error, seconds=0.0, spent=None
        )

    monkeypatch.setattr(users_sections, "cached_cell", quick)
    where = {"problem": "geometric-median", "m": "1000"}
    page = open_users(part="map", basis="measured", also="user.group-privacy", **where)
    cells = len(MEASURED_USERS) * len(MEASURED_ITEMS) * len(MEASURED) * TRIALS
    of_map = [c for c in asked if c.x is None]
    assert len(of_map) == cells and (of_map[0].point.m, of_map[0].point.n) == (1000, 3000)
    alternatives = [chart.proto.alt for chart in page.get("plotly_chart")]
    title = "Clipped user gradients: smallest measured error at m = 1,000, n = 2,000, and on 100 %"
    assert any(alt.startswith(title) for alt in alternatives)


def test_the_sidebar_names_the_loss_of_which_the_text_speaks() -> None:
    page = open_users()
    (problem,) = [box for box in page.sidebar.selectbox if box.label == "Estimate"]
    assert problem.value == PROBLEM == crossing_scenario().problem
    assert "half the squared distance" in texts(page)
    assert problem.options == [problem_card(PROBLEM).name]


def test_the_map_opens_on_what_the_title_above_it_is_about() -> None:
    """Measured errors both: the theorems' rates may name another method."""
    assert DEFAULT.basis == "measured" == READINGS[-1]
    assert "measured errors may name another method" in texts(open_users(part="map"))


def test_a_method_that_cannot_run_says_why() -> None:
    page = open_users(n="500", epsilon="0.1", d="2")
    assert any("cannot run" in info.value for info in page.info)


def test_tables_are_csv_that_parses() -> None:
    for table in (
        law_table([FALLING, FLAT]),
        gradients_table(complexity_curves(10, 1.0)),
    ):
        again = pd.read_csv(io.StringIO(table.to_csv(index=False)))
        assert list(again.columns) == list(table.columns) and len(again) == len(table)
    assert OTHERS and law_table([FLAT])["m"].tolist() == [1, 10, 100, 1000]
