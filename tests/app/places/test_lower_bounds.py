"""Lower bounds: figures show the core's numbers, the address restores the page, the words fit."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.figure.colours import IMPOSSIBLE, INK
from dpsco_app.figure.values import Figure, Line
from dpsco_app.front import links
from dpsco_app.front.links import BASE
from dpsco_app.pages.first_screen import numbers_of
from dpsco_app.pages.lower_bounds.figures import (
    curve_figure,
    sweep_figure,
)
from dpsco_app.pages.lower_bounds.page import mean_point
from dpsco_app.pages.lower_bounds.proof import (
    distance_steps,
    expectile_steps,
    forms_table,
    packing_steps,
)
from dpsco_app.pages.lower_bounds.prove import numbers
from dpsco_app.pages.lower_bounds.state import SCENES, STATE, View, instance_of
from dpsco_app.pages.lower_bounds.words import (
    BOUND_LINE,
    LINE_NAMES,
    bites_sentence,
    brief,
    floors_sentence,
    proof_small,
    proof_title,
    standing_words,
    sweep_title,
    zcdp_sentence,
)
from dpsco_app.parts import controls
from dpsco_app.parts.options import short_text
from dpsco_app.shell import visit
from dpsco_core.bounds.classes import of_class
from dpsco_core.catalogue import bound
from dpsco_core.explain.fano.builder import PackingProof
from dpsco_core.explain.fano.forms import ladder
from dpsco_core.explain.fano.instance import curves, floors, largest, mean_instance
from dpsco_core.explain.window import grid, notions_of, standing, swept
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page, headline_text, line_below, press_button, written_text
from tests.app.pages import ladder_numbers as numbers_in_ladder
from tests.app.places.test_one_run import open_at
from tests.app.places.test_privacy import alternative_texts
from tests.golden_sentences import GOLDEN

QUICK = {"trials": "5", "methods": "mean.sample,mean.clipped", "d": "200", "p": "4"}
SCENE_STATES = {
    scene.name: (replace(View(), **scene.changes), replace(BASE, **scene.scenario))
    for scene in SCENES
}
START = replace(BASE, axis=None, grid=())  # The scenario with which a visit begins.
HARD = Scenario(n=10_000, d=200, p=4.0, epsilon=None, delta=None, rho=0.01, diameter=4.0)


TABLE = """
import pandas as pd
from dpsco_app.parts.export import show_table
show_table(pd.DataFrame({"q": [8e-6, 0.5], "n": [1000.0, 50_000.0]}))
"""


def open_lower(**query: str) -> AppTest:
    """Return the page of lower bounds at a quick setting."""
    return open_at("lower_bounds", **(QUICK | {"rho": "0.01"} | query))


def small_text(page: AppTest) -> str:
    """Return the small print of the page."""
    return page.container(key="lower_said").markdown[0].value


def line_of(figure: Figure, name: str, width: float = 1.0) -> Line:
    """Return a figure's only line with a given name: by default one that is drawn as a line, or, at
    width 0, the one that is only a mark.
    """
    (line,) = [e for e in figure.panels[0].lines if e.name == name and bool(e.width) == bool(width)]
    return line


def ladder_of(figure: Figure) -> dict[str, list[str]]:
    """Return the values of each rung of a figure's ladder, by the rung's name."""
    return {row.name: list(row.values) for row in figure.ladder.rows}


def test_the_curves_are_drawn_with_their_best_marked_and_the_floors_of_the_window_in_red() -> None:
    for scenario, notion in ((HARD, "zcdp"), (START, "approx")):
        fano_curves = curves(instance_of(View(), scenario))
        best = largest(fano_curves, notion)
        figure = curve_figure(fano_curves, "fano-cdp", best, 0.05, 0.003, "alt")
        for curve in fano_curves:
            mark = line_of(figure, curve.name, width=0)
            assert (mark.x, mark.y) == ([curve.best_q], [curve.best])
            assert ladder_of(figure)[curve.name] == [brief(curve.best)]
            is_red = line_of(figure, curve.name).colour == IMPOSSIBLE.edge
            assert is_red == (curve in best.values())
        assert [row.name for row in figure.ladder.rows if row.bold] == ["CDP Fano, paper's packing"]
        assert line_of(figure, "CDP Fano, paper's packing").colour == INK
        (upright,) = [e for e in figure.panels[0].lines if e.label == "the proof's q"]
        assert set(upright.x) == {0.003}
        windows = standing(mean_point(scenario)).windows
        assert {k: c.best for k, c in best.items()} == pytest.approx(
            {k: w.floor for k, w in windows.items()}
        )
    assert [c.name for c in fano_curves][:2] == [
        "CDP two-sided information",
        "CDP Fano by distance",
    ]
    table = numbers_of(figure)
    assert set(table.columns[1:]) == {*(c.name for c in fano_curves), "Sampling alone"}
    wide_axis = curve_figure(fano_curves, "fano-cdp", best, 0.05, 1e-9, "alt").panels[0].x
    assert wide_axis.low <= 1e-9


def test_every_scene_shows_what_its_button_promises() -> None:
    """The test fails if a bound changes and the words on the buttons do not."""

    def bites(name: str) -> str:
        """Return the sentence of a scene that says from where on privacy raises the lower bound."""
        view, scenario = SCENE_STATES[name]
        instance = instance_of(view, scenario)
        return bites_sentence(largest(curves(instance), notions_of(scenario)[0]), floors(instance))

    text = bites("Privacy bites")
    assert "is 0.32, and" in text and "**Privacy bites**" in text and "anyone 0.127" in text
    instance = instance_of(*SCENE_STATES["Privacy bites"])
    (curve,) = largest(curves(instance), "zcdp").values()
    assert short_text(curve.best / floors(instance).sampling, 2) == "2.5"
    text = bites("Statistics bites")
    assert "0.0297" in text and "**Statistics bites**" in text and "0.127" in text
    view, scenario = SCENE_STATES["The constant is 15 times too small"]
    assert view.hard == "spike"
    fano_curves = curves(instance_of(view, scenario))
    packing = next(c for c in fano_curves if c.slug == "fano-cdp")
    assert "for a mean can promise less than 0.00354" in proof_title(packing, packing.best)
    assert "0.0538, 15 times this one, is that of" in floors_sentence(fano_curves, packing)
    assert "0.227" in bites("Pure costs more")
    assert brief(floors(instance_of(*SCENE_STATES["Pure costs more"])).concentrated) == "0.0561"


def test_the_sentences_are_right_at_extreme_values_of_the_fields() -> None:
    curve = curves(instance_of(View(), HARD))[0]
    assert "nothing is proven" in proof_title(curve, 0.0)
    small = proof_small(curve, 0.01, curve.best / 2, curve.best)
    assert f"At q = 0.01: 50 % of {brief(curve.best)}, the error if" in small
    assert small.endswith(f"The best q proves {brief(curve.best)}.")
    assert "best q" not in proof_small(curve, 0.01, curve.best, 2 * curve.best)


@pytest.mark.parametrize("name", list(SCENE_STATES))
def test_every_proof_ends_with_its_bound(name: str) -> None:
    view, scenario = SCENE_STATES[name]
    instance, pure = instance_of(view, scenario), scenario.delta == 0
    q = instance.own_probability
    if pure and (expectiles := instance.expectiles(q)):
        steps, value = expectile_steps(expectiles), expectiles.bound
    else:
        proof = instance.proof(q)
        if isinstance(proof, PackingProof):
            steps, value = packing_steps(proof, pure=pure), proof.bound
        else:
            steps, value = distance_steps(instance.by_distance(q)), instance.by_distance(q).bound
    assert steps[-1].name == "The bound"
    assert steps[-1].number == brief(value)
    assert steps[0].name == ("A packing" if view.hard == "spike" else "All sign patterns")
    assert [s.name for s in steps][3] in (
        "Coupling",
        "The best conceivable posterior",
        "What the output reveals",
    )
    assert all("nan" not in s.number for s in steps)


def test_the_proof_follows_the_budget_and_leads_to_runs_on_its_instance() -> None:
    page = open_lower(part="prove")
    assert "**Privacy bites**" in small_text(page)
    (link,) = [x.proto for x in page.get("page_link") if "on this instance" in x.proto.label]
    assert "distribution=hypercube" in link.query_string and "grid=500" in link.query_string
    old_numbers = numbers_in_ladder(page)
    page.select_slider(key=controls.PREFIX + "rho").set_value(2)
    check_page(page.run())
    assert numbers_in_ladder(page)["CDP hypercube"] != old_numbers["CDP hypercube"]
    assert "**Statistics bites**" in small_text(page) and page.query_params["rho"] == "2"


def test_every_scene_opens_its_view_and_its_address_restores_the_scene() -> None:
    page = open_lower(part="prove")
    visit_scenario = scene_scenario = page.session_state[visit.SESSION].visit_scenario
    scene_view = View()
    for scene in SCENES[2:]:
        press_button(page, scene.name)
        scene_view = replace(scene_view, **scene.changes)
        scene_scenario = replace(scene_scenario, **scene.scenario)
        query = dict(page.query_params)
        assert STATE.from_query(query) == (scene_view, [])
        address_scenario = links.read(query, sampling=False)[0]
        assert address_scenario is not None
        assert (
            address_scenario.n,
            address_scenario.d,
            address_scenario.p,
            address_scenario.budget,
        ) == (
            scene_scenario.n,
            scene_scenario.d,
            scene_scenario.p,
            scene_scenario.budget,
        )
        assert page.session_state[visit.SESSION].visit_scenario == visit_scenario
        assert "(yours: " in page.container(key="lower_apart").markdown[0].value
    press_button(page, "Back to mine")
    assert links.read(dict(page.query_params), sampling=False)[0] == visit_scenario


def test_the_proof_follows_the_slider_and_the_theorem_for_any_packing_is_stated() -> None:
    page = open_lower(part="prove", rho="0.5", hard="spike", shift="10")
    steps = [m.value for m in page.container(key="lower_steps").markdown]
    assert any("**27.1**  \nrecords differ on average" in text for text in steps)
    # The output of an algorithm may reveal 374 nats, of which 17 are needed.
    assert steps[-1] == "**0**  \nleast expected error"
    assert "nothing is proven" in headline_text(
        page
    ) and "The best q proves 0.00354." in line_below(page)
    assert r"\frac r2\max\{1-\frac{n\beta+\ln2}{\ln N}" in written_text(
        page
    ) and "dpsco fano" in written_text(page)


def test_the_floor_on_the_data_of_the_visit_is_proven_in_six_lines_with_numbers() -> None:
    page = open_lower(part="prove", hard="data", p="2", d="20", n="10000", whom="zcdp",
                      epsilon="1", delta="1e-6", offset="1")  # fmt: skip
    steps = [m.value for m in page.container(key="lower_steps").markdown]
    assert len(steps) == 12
    numbers = [text for text in steps if text.startswith("**") and "  \n" in text]
    assert "**0.134**" in numbers[1] and "**0.0258**" in numbers[5]
    page = open_lower(part="prove", hard="data", distribution="pareto", p="2")
    assert "finds its edge rather than its mean" in line_below(page)


def test_the_proof_on_all_signs_is_about_whom_the_budget_is_about() -> None:
    """The proof by expectiles binds every (ε, δ) and every pure algorithm, and that by Fano's
    inequality binds zCDP algorithms.
    """
    last_of_all = "**0.0939**  \nleast expected error"
    for budget, last_step, step in (
        ({}, last_of_all, "The best conceivable posterior"),
        ({"delta": "0"}, "**0.0957**  \nleast expected error", "The best conceivable posterior"),
        (
            {"whom": "zcdp"},
            "**0.0975**  \nleast expected error",
            "A ball around an answer holds few patterns",
        ),
    ):
        page = open_at("lower_bounds", **WINDOW, part="prove", hard="hypercube", **budget)
        steps = [m.value for m in page.container(key="lower_steps").markdown]
        assert steps[-1] == last_step
        assert any(step in text for text in steps)


def test_an_invalid_address_of_lower_bounds_is_reported() -> None:
    written = written_text(open_lower(rho="-1", hard="cube")) + written_text(
        open_lower(methods="nothing")
    )
    for name in ("\n- rho", "\n- hard", " method"):
        assert f"{name} must be" in written
    refused = open_lower(part="prove", hard="spike", d="1")
    assert "d must be at least 2" in line_below(refused)


WINDOW = {"p": "2", "n": "10000", "d": "20"}


def test_the_page_states_the_window_and_draws_it_over_the_chosen_field() -> None:
    page = open_at("lower_bounds", **WINDOW)
    standing_here = standing(Scenario(p=2.0, diameter=4.0))
    windows = standing_here.windows
    floor, ceiling = brief(windows["approx"].floor), brief(windows["zcdp"].ceiling)
    assert headline_text(page) == (
        f"No (ε, δ)-private algorithm for a mean can promise less than {floor}; "
        f"{ceiling} is proven possible"
    )
    assert f", guarantees {ceiling}, 2.2 times the proven limit. " in line_below(page)
    assert line_below(page).endswith(
        "Without data the error is at most 2, in the worst case over all data."
    )
    assert "zCDP" not in headline_text(page) + line_below(page)
    possible = f"and {ceiling} is proven possible: 1.8 times that limit"
    assert f"the proven limit is {brief(windows['zcdp'].floor)}, {possible}" in written_text(page)
    assert "**privacy noise** and **clipping bias** make the window wide" in written_text(page)
    page = open_at("lower_bounds", **WINDOW, over="strength")
    assert "from ε = 0.05 to 20" in alternative_texts(page)[0]


def test_the_window_s_figures_hold_the_numbers_of_the_core() -> None:
    point = mean_point(Scenario(p=2.0, diameter=4.0))
    standing_here, sizes = standing(point), grid(point, "d", 4)
    standings = swept(point, "d", sizes)
    figure_made = sweep_figure(sizes, standings, standing_here, "d")
    for notion in ("zcdp", "approx"):
        (floor_line,) = [e for e in figure_made.panels[0].lines if e.name == LINE_NAMES[notion]]
        assert floor_line.y == [s.windows[notion].floor for s in standings]
        (row,) = [row for row in figure_made.ladder.rows if row.name == LINE_NAMES[notion]]
        assert row.values == [brief(standing_here.windows[notion].floor)]
        # The strong line is the floor of the headline.
        is_own_notion = notion == next(iter(standing_here.windows))
        assert (floor_line.dash == "solid") is is_own_notion and (
            floor_line.width > 2
        ) is is_own_notion
    (area,) = figure_made.panels[0].regions
    assert area.lower == [s.windows["approx"].floor for s in standings]
    assert area.upper == [min(s.windows["approx"].ceiling, s.start) for s in standings]
    assert len(numbers_of(figure_made)) == len(sizes)
    # If no lower bound is proven at offset 0, no line looks like a bound.
    (proven,) = [e for e in figure_made.panels[0].lines if e.name == BOUND_LINE]
    assert {y < s.start for y, s in zip(proven.y, standings, strict=True)} == {True, False}
    for y, s in zip(proven.y, standings, strict=True):
        vacuous = s.windows["approx"].ceiling >= s.start
        assert math.isnan(y) if vacuous else y == s.windows["approx"].ceiling
    hopeless = standing(replace(point, n=100, d=500))
    assert "nothing is proven below the answer 0" in standing_words(hopeless)[1]
    line = standing(replace(point, d=1))
    approx, zcdp = (line.windows[notion] for notion in ("approx", "zcdp"))
    assert approx.ceiling < zcdp.ceiling
    assert f"; {brief(approx.ceiling)} is proven" in standing_words(line)[0]
    possible = f"{brief(zcdp.floor)}, and {brief(zcdp.ceiling)} is proven possible: "
    assert f"the proven limit is {possible}" in zcdp_sentence(line)
    assert zcdp_sentence(standing(replace(point, epsilon=None, delta=None, rho=0.1))) == ""


@pytest.mark.parametrize("about_whom", ["every", "zcdp"])
def test_the_proof_by_tracing_ends_with_its_row_and_the_spy_is_shown(about_whom: str) -> None:
    page = open_at("lower_bounds", **WINDOW, part="prove", hard="tracing", whom=about_whom)
    steps = [m.value for m in page.container(key="lower_steps").markdown]
    row = bound("lower.mean.approx-tracing" if about_whom == "every" else "lower.mean.tracing-cdp")
    value = row.value(of_class(Scenario(p=2.0, diameter=4.0).setting))
    assert steps[-1].startswith(f"**{brief(value)}**")
    assert GOLDEN["the question about a spy"] in written_text(page)
    assert "from sample mean" in line_below(page) and "allows at most 13.6 %" in line_below(page)
    assert brief(value) in headline_text(page)
    assert "Sample mean lets the spy do better" in alternative_texts(page)[0]


def test_the_spy_of_too_many_records_and_of_one_coordinate_is_refused() -> None:
    page = open_at("lower_bounds", n="1000000", d="20", part="prove", hard="tracing")
    assert "The spy is put to work where" in line_below(page)
    page = open_at("lower_bounds", d="1", part="prove", hard="tracing")
    assert "d must be at least 2" in line_below(page)


def test_the_forms_are_ordered_from_the_packing_to_two_sided_information() -> None:
    instance = mean_instance(hard="hypercube", d=20, p=2.0, rho=None, epsilon=1.0, delta=1e-6)
    table = forms_table(ladder(instance))
    values = [float(row.split("|")[2]) for row in table.splitlines()[2:]]
    assert values == sorted(values)
    assert values[0] == pytest.approx(0.00573) and values[-2:] == pytest.approx([0.0975, 0.115])
    small = forms_table(ladder(mean_instance(d=8, p=2.0, rho=0.028014)))
    assert "| 0 |" in small and "| 0.0409 |" in small


def test_a_small_probability_is_not_written_as_zero() -> None:
    page = check_page(AppTest.from_string(TABLE).run())
    columns = json.loads(page.dataframe[0].proto.columns)
    formats = {name: columns[name]["type_config"]["format"] for name in ("q", "n")}
    assert formats == {"q": "%.3g", "n": "localized"}


def test_each_smaller_floor_explains_why_it_is_smaller() -> None:
    instance = instance_of(View(), START)
    fano_curves, own_floors = numbers(instance)
    cube = next(c for c in fano_curves if c.slug == "hypercube-cdp")
    reason = floors_sentence(fano_curves, cube)
    assert brief(own_floors.concentrated) in reason and "CDP two-sided information" in reason
    largest_one = max((c for c in fano_curves if c.binds == "zcdp"), key=lambda c: c.best)
    assert floors_sentence(fano_curves, largest_one) == ""
    assert f"{short_text(own_floors.concentrated / cube.best, 2)} times this one" in reason


def test_a_proof_on_all_sign_patterns_does_not_begin_with_a_packing() -> None:
    instance = instance_of(View(), HARD)
    first_step = distance_steps(instance.by_distance(instance.own_probability))[0]
    assert first_step.name == "All sign patterns" and "no packing" in first_step.reason


def test_the_figure_of_the_window_names_its_algorithms() -> None:
    standing_here = standing(mean_point(START))
    title = sweep_title((standing_here, standing_here), "n")
    for notion, algorithms in (("zcdp", "every zCDP"), ("approx", "every (ε, δ)")):
        assert short_text(standing_here.ratio(notion), 2) in title and algorithms in title
    assert title.startswith("The window’s upper edge is ") and "times its lower edge for " in title
