"""Pinning a run, comparing it with the next one, and restoring both from a link."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest

from dpsco_app.front.links import BASE
from dpsco_app.front.second import checked_pin, fit_one_panel, in_short, pin_text, pinned
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts.differences import differences
from dpsco_app.parts.evaluations import region
from dpsco_app.parts.options import PIN
from dpsco_app.shell import visit
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.runs.cost import cost
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
    status_line,
    written_text,
)

TWO_METHODS = {"methods": "mean.sample,mean.clipped", "trials": "3"}
PINNED = replace(
    BASE,
    methods=("mean.sample", "mean.clipped"),
    epsilon=0.2,
    grid=(1000, 5000),
    trials=3,
)


def row(page: Any) -> str:
    """Return the line about the pinned run."""
    (caption,) = [c.value for c in page.caption if c.value.startswith("**Pinned")]
    return str(caption)


def lines(page: Any) -> dict[str, dict[str, Any]]:
    """Return the lines of measured errors, by name."""
    return {t["name"]: t for t in first_figure(page)["data"] if t["mode"] == "lines+markers"}


def titles(page: Any) -> list[str]:
    """Return the titles of the panels."""
    words = [a["text"] for a in first_figure(page)["layout"]["annotations"]]
    return [w for w in words if w.endswith(("data</b>", "tail</b>", "pinned</b>"))]


def test_a_pinned_run_is_drawn_dashed_beside_the_next_run_and_can_be_removed() -> None:
    page = open_page(**TWO_METHODS, epsilon="0.2")
    old_errors = [o.error for o in shown_result(page).outcomes]
    press_button(page, "Pin")
    assert not is_stale(page) and "Change a setting and run" in row(page)
    page.get_by_key("field_epsilon").set_value(2)
    page.run()
    assert is_stale(page) and row(page) == "**Pinned**, dashed: ε = 0.2."
    press_button(page, "Run")
    run = shown_result(page)
    assert not is_stale(page) and run.overlay is not None and run.complete
    assert [o.error for o in run.overlay.outcomes] == old_errors
    assert [o.error for o in run.outcomes] != old_errors
    new_line, pinned_line = (lines(page)[f"Simple clipping{end}"] for end in ("", ", pinned"))
    assert new_line["line"]["dash"] == "solid" and pinned_line["line"]["dash"] == "dash"
    assert new_line["line"]["color"] == pinned_line["line"]["color"]
    assert {"Simple clipping", "Simple clipping, pinned"} <= ladder_numbers(page).keys()
    press_button(page, "Unpin")
    assert not is_stale(page) and shown_result(page).overlay is None
    assert not any("pinned" in name for name in lines(page))
    assert PIN not in page.query_params


def test_the_link_restores_the_pinned_run_and_the_present_one() -> None:
    page = open_page(**TWO_METHODS, epsilon="2", pin=pin_text(PINNED))
    run = shown_result(page)
    assert not page.warning and run.complete and run.overlay is not None
    assert run.overlay.scenario == PINNED and run.scenario.epsilon == 2
    written = dict(page.query_params)
    assert written["pin"] == pin_text(PINNED)
    copied = page.code[0].value.split("?")[1]
    assert dict(parse_qsl(copied)) == written
    assert address_scenario(page) == run.scenario


BAD = {
    "abc": "pin must be a query such as epsilon=1&p=3, got pin=abc.",
    "n=0": "n must be an integer between 1 and",
    "n=9000000": "n must be an integer between 1 and 1,000,000",
    "epsilon=nan": "epsilon must be at least",
    "<b>=1": "field must be one of",
    "methods=": "method",
    "x=1&" * 60: "pin must be a query",
    "problem=mean&" * 400: "pin must be at most 2,000 characters",
}


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[:12])
def test_an_invalid_pin_gives_one_error_and_changes_nothing_else(bad: str) -> None:
    view, (complaint,) = STATE.from_query({"pin": bad})
    assert view.pin == ""
    assert complaint.startswith("pin holds no scenario that can be run. ") and BAD[bad] in complaint
    assert len(complaint) < 400


def test_an_invalid_pin_in_the_address_does_not_change_the_run() -> None:
    page = open_page(**TWO_METHODS, pin="n=abc")
    (warning,) = page.warning
    assert "pin holds no scenario that can be run. n must be an integer" in warning.value
    assert shown_result(page).complete and shown_result(page).beside is None
    assert PIN not in page.query_params


def test_a_pinned_run_and_a_second_set_are_drawn_together() -> None:
    page = open_page(**TWO_METHODS, pin=pin_text(PINNED), against="l1")
    second_result, overlay = shown_result(page).beside, shown_result(page).overlay
    assert second_result is not None and second_result.scenario.geometry == "l1"
    assert overlay is not None and overlay.scenario == PINNED


def test_the_pinned_cells_count_against_the_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    present_run, pinned_run = replace(PINNED, trials=50), replace(PINNED, trials=10)
    monkeypatch.setattr("dpsco_core.runs.cost.machine_speed", lambda: 1.0)
    # On this slow machine each run alone is within the limits, but both together are not.
    slow = 1.05 * DASHBOARD.seconds / (cost(present_run).seconds + cost(pinned_run).seconds)
    monkeypatch.setattr("dpsco_core.runs.cost.machine_speed", lambda: slow)
    query = TWO_METHODS | {"epsilon": "0.2", "trials": "50"}
    assert not open_page(**query).error
    page = open_page(**query, pin=pin_text(pinned_run))
    (error,) = page.error
    assert error.value.startswith("This run and the one beside it would take about 126 s")
    button = page.get_by_key("nearest")
    assert button.label.startswith("Use ") and button.label.endswith(" trials")
    button.click().run()
    assert not page.error and 40 < address_scenario(page).trials < 50


@pytest.mark.parametrize(
    "query",
    [
        {"axis": "d", "grid": "5,20"},
        {"axis": "none", "grid": None},
        {"problem": "quadratic", "methods": "sco.erm,sco.clipped"},
    ],
)
def test_a_pinned_run_that_cannot_be_overlaid_has_the_second_panel(
    query: dict[str, str | None],
) -> None:
    page = open_page(**(TWO_METHODS | query), pin=pin_text(PINNED))
    assert "it has the second panel" in row(page)
    assert headline_text(page).endswith("in the pinned run") and shown_result(page).complete
    assert len(titles(page)) == 2 and titles(page)[1].endswith("pinned</b>")


def test_the_stated_work_of_a_change_excludes_known_runs() -> None:
    page = open_page(**(TWO_METHODS | {"trials": "4"}), seed="77")
    page.get_by_key("field_trials").set_value(10)
    page.run()
    # The 24 runs are 2 points times 2 estimators times 6 more trials.
    assert "24 runs" in status_line(page)
    press_button(page, "Run")
    page.get_by_key("field_trials").set_value(5)  # Runs that are known need no press of Run.
    page.run()
    assert not is_stale(page) and shown_result(page).complete
    assert status_line(page).startswith("Measured in 20 runs")


def test_the_hardest_case_is_left_out_where_both_panels_need_too_many_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visit, "DASHBOARD", replace(DASHBOARD, cells=20))
    for trials, panels in (("5", 2), ("6", 1)):
        page = open_page(**TWO_METHODS | {"trials": trials}, grid="500", against="hardest")
        assert not page.error and len(shown_result(page).parts) == panels


def test_the_switch_of_panels_stays_while_one_panel_is_shown_alone() -> None:
    for panel in ("both", "first", "second"):
        page = open_page(against="hardest", panel=panel, **TWO_METHODS)
        assert page.get_by_key("panel_typed").value == panel
    page.get_by_key("panel_typed").set_value("both")
    assert len(titles(page.run())) == 2


def test_the_switch_of_panels_says_what_is_drawn_after_a_change_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visit, "DASHBOARD", replace(DASHBOARD, cells=20))
    page = open_page(against="hardest", grid="500", **TWO_METHODS | {"trials": "10"})
    for trials, panel_choice, panels in ((10, "first", 1), (5, "both", 2), (10, "first", 1)):
        page.get_by_key("field_trials").set_value(trials)
        page = page.run()
        if is_stale(page):
            press_button(page, "Run")
        assert page.get_by_key("panel_typed").value == panel_choice
        assert len(shown_result(page).parts) == panels


def test_the_nearest_value_that_is_allowed_is_one_click_away() -> None:
    page = open_page(**TWO_METHODS | {"grid": "5000,10000"})
    page.get_by_key("field_d").set_value(1000)  # No point of the sweep is allowed with this value.
    page.run()
    (error,) = page.error
    assert "n times d must be at most 2,000,000" in error.value
    button = page.get_by_key("nearest")
    button.click().run()
    assert not page.error and page.get_by_key("field_d").value == 200


def test_a_pinned_scenario_is_read_back_from_its_text() -> None:
    swept = Scenario(problem="quadratic", methods=("sco.erm",))
    for scenario in (
        BASE,
        PINNED,
        replace(PINNED, epsilon=None, delta=None, rho=0.5),
        replace(swept, geometry="lq", q=1.1, axis="q", grid=(1.0, 1.5)),
    ):
        text = checked_pin(pin_text(scenario))
        assert text and pinned(text) == scenario
    assert pinned("") is None


def test_the_differences_of_a_pinned_scenario_are_stated_in_words() -> None:
    assert in_short(PINNED, PINNED) == ""
    assert in_short(PINNED, replace(PINNED, epsilon=1.0, p=4.0)) == "ε = 0.2, p = 2"
    fewer = replace(PINNED, methods=("mean.sample",))
    assert in_short(PINNED, fewer) == "algorithms Sample mean, Simple clipping"
    assert in_short(fewer, PINNED) == "algorithms Sample mean"
    regression = replace(PINNED, problem="quadratic", methods=("sco.erm",))
    assert "problem Mean estimation" in in_short(PINNED, regression)
    assert "trials 10" in in_short(replace(PINNED, trials=10), PINNED)
    swept = replace(PINNED, n=500)
    # The field n is on the axis, so its value is no difference.
    assert differences(PINNED, swept) == ()
    assert fit_one_panel(PINNED, swept) and not fit_one_panel(
        PINNED, replace(PINNED, axis="d", grid=(5,))
    )


def test_every_drawn_curve_has_its_paper_and_its_statement() -> None:
    page = open_page(show="lower bounds,rates,upper bounds")
    page_text = written_text(page)
    # These edges are bounds with their own names.
    areas = {"promise for all data", "proven limit"}
    curve_names = {t["name"] for t in first_figure(page)["data"] if t.get("name")}
    proven = curve_names - areas - lines(page).keys() - {"answer without data"}
    floor, *_ = [e for _, e in region(address_scenario(page))]
    assert len(proven) > 4
    for name in (*proven, floor.bound.card.name):
        assert re.search(
            rf"\*\*{re.escape(name)}\*\* is .* here \(.{{4,}}, .{{4,}}\)", page_text
        ), name
    cards = [method_card(m) for m in address_scenario(page).methods]
    assert all(f"**{c.name}**: {c.paper}, {c.statement}" in page_text for c in cards)
    assert all(f"**{c.paper.key}**: " in page_text for c in (*cards, floor.bound.card))
    bib = next(c.value for c in page.code if "@" in c.value)
    assert bib.count("@") == bib.count("  title = ") >= 2
    assert "  author = {Gautam Kamath and Xingtu Liu and Huanyu Zhang},\n" in bib
    assert bib.count("{") == bib.count("}")


def test_a_formula_stands_with_its_value() -> None:
    page = open_page(**TWO_METHODS)
    assert "**CDP Fano** is **0." in written_text(
        page
    ) and "$\\displaystyle \\max_q" in written_text(page)
