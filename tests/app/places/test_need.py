"""How many records do I need: asked on Explore, worked out on the button only."""

from __future__ import annotations

from typing import Any

import pytest

from dpsco_app.pages.explore import records_needed
from tests.app.pages import open_page, texts

SMALL = {"methods": "mean.sample,mean.clipped", "trials": "3", "d": "2", "n": "500"}


def test_a_target_is_answered_in_sentences_on_the_button_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[Any, ...]] = []
    solve = records_needed.need

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return solve(*arguments, **options)

    monkeypatch.setattr(records_needed, "need", counted)
    page = open_page(**SMALL)
    assert not calls
    page.selectbox(key="need_method").set_value("mean.clipped").run()
    page.number_input(key="need_error").set_value(0.2).run()
    assert not calls
    page.button(key="need_run").click().run()
    assert not page.exception
    assert len(calls) == 1
    assert "Simple clipping needs about" in texts(page)
    assert "95 % interval" in texts(page)
    page.number_input(key="need_error").set_value(0.3).run()
    assert len(calls) == 1
    assert "needs about" not in texts(page), "an answer to another question"


def test_the_estimator_that_is_asked_for_first_is_private_and_the_floor_names_whom_it_binds() -> (
    None
):
    page = open_page(**SMALL)
    assert page.selectbox(key="need_method").value == "mean.clipped"
    page.number_input(key="need_error").set_value(0.05).run()
    page.button(key="need_run").click().run()
    said = texts(page)
    assert "no (ε, δ)-DP algorithm can guarantee" in said or "no algorithm can guarantee" in said
    assert "In the worst case over all distributions with these moments in every coordinate" in said


def test_a_budget_is_found_in_the_kind_that_the_scenario_has() -> None:
    page = open_page(**SMALL, rho="0.5", epsilon=None)
    choices = page.selectbox(key="need_unknown").options
    assert choices == ["Number of records", "Privacy budget ρ"]
