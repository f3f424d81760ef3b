"""The ruler names proven, measured and impossible values, and shows CDP Fano under any budget."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from dpsco_app.figure.labels import LETTER
from dpsco_app.figure.render import plotly
from dpsco_app.figure.theme import COMPACT, Theme
from dpsco_app.figure.values import RulerMark
from dpsco_app.front.bound_lines import LINE, limit_words, proof_words
from dpsco_app.front.figure import front_figure
from dpsco_app.front.nested import NO_BETTER, UNAVOIDABLE, UNSETTLED
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.parts.evaluations import region
from dpsco_app.parts.presets import FIRST
from dpsco_core.catalogue import BOUND_SLUGS, bound
from dpsco_core.results.report import evaluate
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

SMALL = replace(FIRST.scenario, trials=2, grid=(1000, 10_000))


def ruler_of(scenario: Scenario) -> dict[str, RulerMark]:
    """Return the marks of the ruler on a scenario's whole study, by name."""
    whole = Study(scenario=scenario, outcomes=tuple(study(scenario)), role="hardest")
    ruler = front_figure([whole], View()).ruler
    assert ruler is not None
    return {rung.name: rung for rung in ruler.rungs}


def test_a_bound_on_zcdp_algorithms_is_a_named_tick_beside_the_limit_of_every_algorithm() -> None:
    scenario = replace(SMALL, d=5)
    rungs = ruler_of(scenario)
    names = {"Proven possible", "Proven limit", "CDP Fano", "With privacy", "Without privacy"}
    assert set(rungs) == names
    tick = rungs["CDP Fano"]
    card = bound(tick.key).card
    assert (card.is_fano, card.privacy) == (True, "zcdp")
    assert tick.is_tick and not tick.text
    assert "a second proof (zCDP)" in tick.note
    point = replace(scenario, axis=None, grid=())
    assert tick.at == pytest.approx(evaluate(point, bound(tick.key)).value)
    assert not any(rung.is_tick for name, rung in rungs.items() if name != "CDP Fano")


def test_where_both_limits_are_near_one_label_names_them_both() -> None:
    rungs = ruler_of(SMALL)
    assert "CDP Fano" not in rungs
    limit = rungs["Proven limit"]
    assert limit.aside.startswith("CDP Fano, a second proof")
    assert re.search(r"^CDP Fano, a second proof \(zCDP\): ×\d\.\d$", limit.aside)
    assert "Fano" not in limit.note
    assert not any("Fano" in r.aside for r in rungs.values() if r is not limit)
    assert rungs["With privacy"].aside == NO_BETTER


def test_each_section_of_the_bar_has_its_name_beside_it() -> None:
    scenario = replace(SMALL, grid=(500, 10_000, 50_000))
    whole = Study(scenario=scenario, outcomes=tuple(study(scenario)), role="hardest")
    figure = front_figure([whole], View())
    assert figure.ruler is not None
    rungs = {rung.name: rung.at for rung in figure.ruler.rungs}
    ends = {part.name: (part.low, part.high) for part in figure.ruler.parts}
    assert ends == {
        UNAVOIDABLE: (rungs["Without privacy"], rungs["Proven limit"]),
        UNSETTLED: (rungs["Proven limit"], rungs["Proven possible"]),
    }
    notes = {n.get("text"): n for n in plotly(figure, Theme())["layout"]["annotations"]}
    low, high = (math.log10(end) for end in ends[UNAVOIDABLE])
    assert low < notes[UNAVOIDABLE]["y"] < high
    # Beside data that a visitor has chosen, a limit on some other data is not unavoidable.
    other = replace(scenario, distribution="student-t")
    textbook = Study(scenario=other, outcomes=tuple(study(other)))
    ruler = front_figure([textbook], View()).ruler
    assert ruler is not None and UNAVOIDABLE not in {part.name for part in ruler.parts}


def test_the_factor_of_the_limit_stands_level_with_its_line_and_the_table_names_its_bound() -> None:
    # Three sizes leave room on both sides of the chosen value.
    scenario = replace(SMALL, grid=(500, 10_000, 50_000))
    whole = Study(scenario=scenario, outcomes=tuple(study(scenario)), role="hardest")
    figure = front_figure([whole], View())
    assert figure.ruler is not None
    limit = next(rung for rung in figure.ruler.rungs if rung.name == "Proven limit")
    layout = plotly(figure, Theme())["layout"]
    note = next(n for n in layout["annotations"] if n["text"] == f"<b>{limit.text}</b>")
    low, high = layout["yaxis"]["range"]
    height = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    apart = abs(note["y"] - math.log10(limit.at)) / (high - low) * height
    assert apart < note["font"]["size"]
    row = next(row for row in figure.ladder.rows if row.key == limit.key)
    assert row.note == dict(region(scenario))[10_000].bound.card.name


BUDGETS = ({}, {"delta": 0.0}, {"epsilon": None, "delta": None, "rho": 0.1})
BUDGET_NAMES = ("approximate", "pure", "zCDP")


@pytest.mark.parametrize("budget", BUDGETS, ids=BUDGET_NAMES)
@pytest.mark.parametrize("d", [2, 20])
def test_a_limit_names_the_algorithms_it_binds_and_its_data_in_short_lines(
    d: int, budget: dict[str, float | None]
) -> None:
    scenario = replace(SMALL, d=d, **budget)  # type: ignore[arg-type]
    for _, edge in region(scenario):
        lines = limit_words(scenario, edge).splitlines()
        assert 1 < len(lines) <= 3 and all(len(line) <= LINE for line in lines), lines
        data, *claim = lines
        assert data == "some data with this tail:"
        assert " ".join(claim) == f"no {'zCDP' if scenario.rho else 'private'} algorithm errs less"


def test_every_line_names_the_data_for_which_its_number_holds() -> None:
    rungs = ruler_of(SMALL)
    notes = {rung.name: rung.note for rung in rungs.values()}
    assert notes["Proven possible"].startswith("all data with this tail:")
    assert "on average" in notes["Proven possible"]
    for name in ("With privacy", "Without privacy"):
        assert notes[name].startswith("the hardest data, measured:")
    assert notes["Proven limit"].startswith("some data with this tail:")
    scenario = replace(SMALL, distribution="student-t")
    textbook = Study(scenario=scenario, outcomes=tuple(study(scenario)))
    ruler = front_figure([textbook], View()).ruler
    assert ruler is not None
    notes = {rung.name: rung.note for rung in ruler.rungs}
    for name in ("With privacy", "Without privacy"):
        assert notes[name].startswith("these data, measured:")
    assert "Proven possible" not in notes


def test_the_kind_of_every_proof_has_a_name_and_each_fano_bound_its_own() -> None:
    cards = [bound(slug).card for slug in BOUND_SLUGS]
    assert all(proof_words(card) for card in cards if card.kind == "lower")
    names = {card.privacy: proof_words(card).split(": ")[0] for card in cards if card.is_fano}
    assert names == {"zcdp": "CDP Fano", "pure": "Pure-DP Fano"}
    scenarios = [replace(SMALL, d=d, **budget) for d in (2, 20) for budget in BUDGETS]  # type: ignore[arg-type]
    edges = [edge.bound.card for scenario in scenarios for _, edge in region(scenario)]
    assert len({card.name for card in edges}) > 1
    assert all(": " in proof_words(card) for card in edges)
    # The kind of a proof is a field of its card, so a name that mentions another proof does not
    # mislead.
    packed = next(card for card in cards if card.name == "CDP Fano, paper's packing")
    assert proof_words(packed).startswith("Fano’s inequality: ")
    assert proof_words(replace(packed, proof="assouad")).startswith("an Assouad bound: ")
    assert proof_words(replace(packed, proof="")) == "the CDP Fano bound"


def test_under_a_zcdp_budget_fano_is_a_weaker_limit_than_the_edge_of_the_region() -> None:
    scenario = replace(SMALL, d=5, epsilon=None, delta=None, rho=0.1)
    rungs = ruler_of(scenario)
    assert "weaker limit" in rungs["CDP Fano"].note
    assert rungs["CDP Fano"].at < rungs["Proven limit"].at


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_on_a_phone_the_factors_stand_above_the_panel_in_full_and_cover_no_curve(
    epsilon: float,
) -> None:
    scenario = replace(SMALL, epsilon=epsilon)
    study_run = Study(scenario=scenario, outcomes=tuple(study(scenario)), role="hardest")
    figure = front_figure((study_run,), View(), "")
    assert figure.ruler is not None
    layout = plotly(figure, Theme(size=COMPACT))["layout"]
    factors = [rung.text for rung in figure.ruler.rungs if rung.text]
    assert len(factors) == 4
    (note,) = [part for part in layout["annotations"] if "×" in part["text"]]
    assert (note["yref"], note["y"], note["yanchor"]) == ("paper", 1, "bottom")
    assert all(f"<b>{factor} " in note["text"] for factor in factors)
    lines = note["text"].split("<br>")
    height = 1.3 * note["font"]["size"] * len(lines)
    assert note["yshift"] + height <= layout["margin"]["t"]
    letters = max(len(re.sub("<[^>]+>", "", line)) for line in lines)
    assert letters * note["font"]["size"] * LETTER <= COMPACT.width
