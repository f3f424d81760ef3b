"""The ruler names what is proven, measured and impossible; CDP Fano is on it under any budget."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dpsco_app.figure.values import RulerMark
from dpsco_app.front.bound_lines import LINE, PROOFS, limit_words
from dpsco_app.front.figure import front_figure
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
    assert "zCDP only" in tick.note
    point = replace(scenario, axis=None, grid=())
    assert tick.at == pytest.approx(evaluate(point, bound(tick.key)).value)
    assert not any(rung.is_tick for name, rung in rungs.items() if name != "CDP Fano")


def test_where_both_limits_are_near_one_label_names_them_both() -> None:
    rungs = ruler_of(SMALL)
    assert "CDP Fano" not in rungs
    lines = rungs["Proven limit"].note.splitlines()
    assert " ".join(lines[:-1]) == f"{': '.join(PROOFS['packing'])}"
    assert re.fullmatch(r"CDP Fano, counting bits: ×\d\.\d", lines[-1])


def test_every_limit_says_in_short_lines_how_it_is_proven() -> None:
    cards = [bound(slug).card for slug in BOUND_SLUGS]
    for lines in (limit_words(card).splitlines() for card in cards if card.kind == "lower"):
        assert lines and all(len(line) <= LINE for line in lines), lines
    assert {limit_words(card)[:10] for card in cards if card.is_fano} == {"CDP Fano: "}
    budgets = ({}, {"delta": 0.0}, {"epsilon": None, "delta": None, "rho": 0.1})
    scenarios = (replace(SMALL, d=d, **budget) for d in (2, 20) for budget in budgets)
    edges = [edge.bound.card for scenario in scenarios for _, edge in region(scenario)]
    assert len({card.name for card in edges}) > 1
    assert all(": " in limit_words(card) for card in edges)


def test_under_a_zcdp_budget_fano_is_a_weaker_limit_than_the_edge_of_the_region() -> None:
    scenario = replace(SMALL, d=5, epsilon=None, delta=None, rho=0.1)
    rungs = ruler_of(scenario)
    assert "weaker limit" in rungs["CDP Fano"].note
    assert rungs["CDP Fano"].at < rungs["Proven limit"].at
