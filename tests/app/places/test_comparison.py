"""The panel beside the chosen data: the hardest case, another tail, or a second set."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from dpsco_app.front.second import SECONDS, companions_of
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts import export
from dpsco_app.parts.options import AGAINST, HARDEST, NO_SET, TAIL
from dpsco_app.parts.presets import PRESETS
from dpsco_core.results.notebook import run_script
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    address_scenario,
    first_figure,
    headline_text,
    is_stale,
    ladder_numbers,
    open_page,
    press_button,
    shown_result,
    start_preset,
)

QUERY = {
    "problem": "quadratic",
    "methods": "sco.erm,sco.objective-perturbation",
    "geometry": "l1",
    "axis": "d",
    "grid": "5,20",
    "n": "500",
    "trials": "2",
}


def test_a_second_set_is_run_and_drawn_beside_the_first() -> None:
    page = open_page(**QUERY, against="l2")
    run = shown_result(page)
    assert run.complete and run.beside is not None and run.beside.complete
    assert run.beside.scenario.geometry == "l2" and run.scenario.geometry == "l1"
    assert run.finished == run.cells == 2 * run.scenario.cells
    titles = [a["text"] for a in first_figure(page)["layout"]["annotations"]]
    assert any("ℓ₁ ball" in title for title in titles) and headline_text(page).endswith(
        "on the ℓ₂ ball"
    )
    assert len(ladder_numbers(page)["Objective perturbation"]) == 2
    errors = {(o.x, o.trial): o.error for o in run.outcomes if o.method == "sco.erm"}
    second_errors = {(o.x, o.trial): o.error for o in run.beside.outcomes if o.method == "sco.erm"}
    assert errors.keys() == second_errors.keys() and errors != second_errors


def test_a_second_set_makes_the_figure_outdated_and_can_be_removed() -> None:
    page = open_page(**QUERY)
    assert shown_result(page).beside is None and not is_stale(page)
    page.get_by_key(AGAINST).set_value("linf")
    assert is_stale(page.run())
    press_button(page, "Run")
    assert not is_stale(page) and shown_result(page).beside is not None
    page.get_by_key(AGAINST).set_value("none")
    assert not is_stale(page.run())  # All remaining runs are known.
    assert shown_result(page).beside is None


def test_a_set_that_does_not_exist_in_the_dimension_is_refused_in_a_sentence() -> None:
    page = open_page(**QUERY | {"grid": "5,12"}, against="group-l1")
    complaint = "d must be a multiple of 5 for the geometry group-l1, got d = 12."
    assert [e.value for e in page.error] == [complaint]


def test_a_bad_set_in_the_address_costs_one_sentence() -> None:
    page = open_page(**QUERY, against="lq")
    assert any(
        f"against must be one of {', '.join(SECONDS)}, got against=lq." in w.value
        for w in page.warning
    )
    assert shown_result(page).complete
    assert shown_result(page).beside is None  # The page ignores the set in the address.
    assert STATE.from_query({"against": "l1"})[0].against == "l1"


def test_exported_files_hold_the_results_on_both_sets() -> None:
    run = shown_result(open_page(**QUERY, against="l2"))
    rows = list(csv.DictReader(io.StringIO(export.csv_text(run))))
    assert {r["geometry"] for r in rows} == {"l1", "l2"} and len(rows) == run.cells
    parsed = json.loads(export.json_text(run))
    assert parsed["scenario"]["geometry"] == "l1"
    assert parsed["beside"]["scenario"]["geometry"] == "l2" and parsed["beside"]["results"]
    assert run_script([part.scenario for part in run.parts]).count("Scenario(") == 2


def test_the_second_panel_has_the_chosen_set_data_or_tail() -> None:
    swept = Scenario(problem="quadratic", methods=(), axis="n", grid=(100, 200))
    assert companions_of(swept, "l1", "").second_scenario == replace(swept, geometry="l1")
    for kind in ("l2", NO_SET):
        assert companions_of(swept, kind, "").second_scenario is None
    hardest = companions_of(swept, HARDEST, "").second_scenario
    assert hardest is not None and hardest.distribution == "hypercube"
    tail = companions_of(swept, TAIL, "").second_scenario
    assert tail is not None and tail == replace(swept, p=tail.p) and tail.p > swept.p
    # These data are the hardest case themselves.
    assert companions_of(hardest, HARDEST, "").second_scenario is None


@pytest.mark.slow
def test_the_preset_shows_that_the_width_decides() -> None:
    preset = next(p for p in PRESETS if p.name == "Gaussian width at work")
    page = open_page(**QUERY)
    start_preset(page, preset.name)
    run = shown_result(page)
    assert address_scenario(page) == preset.scenario and run.beside is not None
    method, largest_d = "sco.objective-perturbation", preset.scenario.grid[-1]

    def mean(outcomes: list) -> float:  # type: ignore[type-arg]
        """Return the mean error of the method at the largest dimension."""
        errors = [o.error for o in outcomes if o.method == method and o.x == largest_d]
        return sum(errors) / len(errors)

    assert mean(run.beside.outcomes) > 5 * mean(run.outcomes)
