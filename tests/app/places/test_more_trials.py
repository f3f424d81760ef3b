"""Explore offers more trials beside wide bars, and adds them to those that have run."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.pages.explore import more_trials
from tests.app.pages import address_scenario, open_page, press_button, shown_result

KEY = "more_trials"


def offers(page: AppTest) -> list[str]:
    """Return the label of the button that adds trials."""
    return [button.label for button in page.button if button.key == KEY]


def test_wide_bars_come_with_an_offer_of_more_trials_which_adds_to_those_that_ran() -> None:
    page = open_page(d="1", trials=None)
    assert address_scenario(page).trials == 10 and "trials" not in page.query_params
    old_errors = {(o.method, o.x, o.trial): o.error for o in shown_result(page).outcomes}
    (label,) = offers(page)
    assert label.startswith("30 trials: ")
    press_button(page, label)
    assert page.query_params["trials"] == "30" and address_scenario(page).trials == 30
    new_errors = {(o.method, o.x, o.trial): o.error for o in shown_result(page).outcomes}
    assert len(new_errors) == 3 * len(old_errors) and old_errors.items() <= new_errors.items()
    assert not offers(page)


def test_a_link_without_trials_still_means_ten() -> None:
    assert shown_result(open_page(d="1", trials=None)).scenario.trials == 10


def test_no_more_trials_are_offered_where_intervals_are_short_or_trials_are_slow() -> None:
    assert not offers(open_page(d="1", trials="30"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(more_trials, "WIDE", 1e9)
        assert not offers(open_page(d="1", trials=None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(more_trials, "MOST_SECONDS", -1.0)
        assert not offers(open_page(d="1", trials=None))
