"""What a move of a control on Explore asks of the session, and how often the page reruns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dpsco_app.front.view import View
from dpsco_app.pages.explore import page as explore
from dpsco_app.runs import turns
from dpsco_app.runs.turns import Turns
from dpsco_app.session import curves, screen
from dpsco_app.session.curves import Curves
from dpsco_app.session.pace import Pace
from dpsco_app.session.result import Growth, Result
from dpsco_app.session.session import Session
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page, is_stale, open_page, shown_result

pytestmark = pytest.mark.folded


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the runs of the page, and the calls of the session's functions."""
    counts = Counter[str]()

    def count(owner: Any, name: str) -> None:
        """Count the calls of a function from now on."""
        original: Callable[..., Any] = getattr(owner, name)

        def counted(*arguments: Any, **keywords: Any) -> Any:
            """Count the call, and make it."""
            counts[name] += 1
            return original(*arguments, **keywords)

        monkeypatch.setattr(owner, name, counted)

    count(explore, "style")  # The page calls this function once in each of its runs.
    for name in ("settle", "companions_of"):
        count(Curves, name)
    for name in ("change", "screen"):
        count(Session, name)
    count(curves, "front_screen")
    monkeypatch.setattr(screen, "LIVE_SECONDS", math.inf)
    monkeypatch.setattr(explore, "QUIET_SECONDS", 0.0)
    return counts


@pytest.mark.parametrize(("at_once", "page_runs"), [(math.inf, 1), (0.0, 2)])
def test_the_page_is_drawn_once_for_known_or_quick_runs_and_twice_for_others(
    calls: Counter[str], monkeypatch: pytest.MonkeyPatch, at_once: float, page_runs: int
) -> None:
    monkeypatch.setattr(curves, "AT_ONCE_SECONDS", at_once)
    page = open_page(against="hardest")
    calls.clear()
    check_page(page.select_slider(key="field_epsilon").set_value(2.0).run())
    assert (
        shown_result(page).scenario.epsilon == 2
        and shown_result(page).complete
        and not is_stale(page)
    )
    assert (calls["style"], calls["change"]) == (page_runs, 1)
    # The session fits its fields to each other once for the move, and once when its runs begin.
    assert calls["settle"] == 2
    calls.clear()
    check_page(page.select_slider(key="field_epsilon").set_value(1.0).run())
    assert (
        shown_result(page).scenario.epsilon == 1
        and shown_result(page).complete
        and not is_stale(page)
    )
    assert calls == {
        "style": 1,
        "change": 1,
        "settle": 1,
        "companions_of": 2,  # The session asks for the scenario, and for the offer of more trials.
        "screen": 1,
        "front_screen": 1,
    }


def test_showing_other_bounds_starts_no_run(calls: Counter[str]) -> None:
    page = open_page()
    calls.clear()
    check_page(page.get_by_key("measure").set_value("price").run())
    assert calls["style"] == calls["screen"] == 1 and not calls["change"]
    assert not is_stale(page)


def test_an_unchanged_view_is_not_validated_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = open_page(show="rates", against="tail")
    checked_views: list[View] = []
    original = View.validate
    monkeypatch.setattr(View, "validate", lambda view: checked_views.append(view) or original(view))
    check_page(page.select_slider(key="field_epsilon").set_value(2.0).run())
    assert checked_views == []
    check_page(page.get_by_key("measure").set_value("price").run())
    assert {view.measure for view in checked_views} == {"price"}


@pytest.mark.parametrize("is_contested", [True, False])
def test_while_others_wait_a_growing_figure_is_drawn_once_with_all_its_lines(
    calls: Counter[str], monkeypatch: pytest.MonkeyPatch, is_contested: bool
) -> None:
    monkeypatch.setattr(Turns, "is_contested", property(lambda _: is_contested))
    monkeypatch.setattr(turns, "SHOW_SECONDS", 0.0)  # A slice is one cell.
    monkeypatch.setattr(curves, "AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr(curves, "figure_pace", lambda delay: Pace(0.0, interval=0.0))
    page = open_page(against="hardest")
    calls.clear()
    check_page(page.select_slider(key="field_epsilon").set_value(2.0).run())
    result = shown_result(page)
    assert result.complete and len(result.parts) == 2
    # Each of the two runs of the page begins with one drawing.
    growing = calls["front_screen"] - calls["style"]
    assert growing == 1 if is_contested else growing > 2


def test_the_first_trial_runs_in_both_panels_before_the_second_in_any() -> None:
    scenario = Scenario(methods=("mean.sample", "mean.clipped"), n=100, d=2, trials=3)
    result = Result(scenario, second_panel=Result(replace(scenario, p=3.0)))
    growth = Growth(result)
    while not result.can_be_drawn:
        growth.work(lambda: True)
    assert result.beside is not None
    assert (result.finished, result.beside.finished) == (4, 2)
