"""The number of records needed for a target error: asked on Explore, computed on a button."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from dpsco_app.front.study import Study
from dpsco_app.pages.explore import records_needed
from tests.app.pages import address_scenario, open_page, shown_result, written_text

SMALL = {"methods": "mean.sample,mean.clipped", "trials": "3", "d": "2", "n": "500"}


def test_the_records_for_a_target_error_are_computed_only_when_the_button_is_pressed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[Any, ...]] = []
    solve = records_needed.need

    def counted(*arguments: Any, **options: Any) -> Any:
        """Record the arguments of a call, and return the result of the original function."""
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
    assert "Simple clipping needs about" in written_text(page)
    assert "standard deviations of a coordinate" in written_text(page)
    assert "95 % interval" in written_text(page)
    page.number_input(key="need_error").set_value(0.3).run()
    assert len(calls) == 1
    assert "needs about" not in written_text(page), "an answer to another question"


def test_the_default_estimator_is_private_and_the_floor_names_the_algorithms_it_binds() -> None:
    page = open_page(**SMALL)
    assert page.selectbox(key="need_method").value == "mean.clipped"
    page.number_input(key="need_error").set_value(0.05).run()
    page.button(key="need_run").click().run()
    page_text = written_text(page)
    assert (
        "no (ε, δ)-DP algorithm can guarantee" in page_text
        or "no algorithm can guarantee" in page_text
    )
    assert (
        "In the worst case over all distributions with these moments in every coordinate"
        in page_text
    )


def test_the_first_question_is_how_the_headlines_method_can_halve_its_error() -> None:
    """A visitor's own choice stays, even if another method leads."""
    query = SMALL | {"methods": "mean.sample,mean.clipped,mean.adaptive", "grid": "500,5000"}
    page = open_page(**query | {"n": "5000"})
    study = Study(scenario=address_scenario(page), outcomes=shown_result(page).outcomes)
    assert study.lead == page.selectbox(key="need_method").value == "mean.adaptive"
    errors_of_lead = [o.error for o in study.outcomes if (o.method, o.x) == (study.lead, 5000)]
    assert page.number_input(key="need_error").value == pytest.approx(
        median(errors_of_lead) / 2, rel=0.3
    )
    page.selectbox(key="need_method").set_value("mean.clipped").run()
    errors_of_clipped = [
        o.error for o in study.outcomes if (o.method, o.x) == ("mean.clipped", 5000)
    ]
    target = page.number_input(key="need_error")
    assert target.value == pytest.approx(median(errors_of_clipped) / 2, rel=0.3)
    target.set_value(0.2).run()
    page.selectbox(key="need_method").set_value("mean.adaptive").run()
    page.run()
    assert not page.exception and page.number_input(key="need_error").value == 0.2
    assert page.selectbox(key="need_method").value == "mean.adaptive"
    page.selectbox(key="need_method").set_value("mean.clipped").run()
    page.run()
    assert page.selectbox(key="need_method").value == "mean.clipped"


def test_a_budget_is_found_in_the_kind_that_the_scenario_has() -> None:
    page = open_page(**SMALL, rho="0.5", epsilon=None)
    choices = page.selectbox(key="need_unknown").options
    assert choices == ["Number of records", "Privacy budget ρ"]
