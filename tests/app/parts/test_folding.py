"""Folded parts are drawn only when they are opened, and a window gets only one figure."""

from __future__ import annotations

import pytest

from dpsco_app.parts import controls
from dpsco_app.shell.window import SIZE_KEY
from tests.app.pages import (
    address_scenario,
    annotation_texts,
    check_page,
    drawn_html,
    first_figure,
    ladder_numbers,
    open_page,
)


@pytest.mark.folded
def test_a_folded_part_is_drawn_only_when_it_is_opened() -> None:
    page = open_page()
    assert not page.dataframe and not page.get("download_button")
    page.session_state["fold_numbers"] = True
    check_page(page.run())
    assert len(page.dataframe) == 1 and not page.get("download_button")
    page.session_state["explore_export"] = True
    check_page(page.run())
    assert page.get("download_button")
    page.session_state["fold_numbers"] = False
    check_page(page.run())
    assert not page.dataframe


@pytest.mark.folded
def test_folded_controls_keep_their_values() -> None:
    page = open_page(margin="1", tuning="theory")
    assert address_scenario(page).margin == 1 and address_scenario(page).tuning == "theory"
    assert "field_margin" not in {w.key for w in (*page.select_slider, *page.number_input)}
    page.session_state[controls.MORE_KEY] = True
    check_page(page.run())
    page.get_by_key("field_tuning").set_value("practical")
    check_page(page.run())
    page.session_state[controls.MORE_KEY] = False
    check_page(page.run())
    check_page(page.run())
    assert address_scenario(page).margin == 1 and address_scenario(page).tuning == "practical"


def test_a_window_gets_the_figure_for_its_size() -> None:
    page = open_page()
    wide, names, heard = first_figure(page), list(ladder_numbers(page)), drawn_html(page)
    page.session_state[SIZE_KEY] = "compact"
    phone = first_figure(check_page(page.run()))
    assert {t.get("name") for t in phone["data"]} == {t.get("name") for t in wide["data"]}
    for name in ("With privacy", "Without privacy", "Proven limit"):
        assert any(f"<b>{name}</b>" in text for text in annotation_texts(wide))
        assert not any(f"<b>{name}</b>" in text for text in annotation_texts(phone))
    # On a phone the name stands beside its factor, above the panel.
    assert any("private</b></span>" in text for text in annotation_texts(phone))
    assert "class='ladder heard'" not in heard + drawn_html(page)
    # The table below the figure has the same names in every window.
    assert list(ladder_numbers(page)) == names
